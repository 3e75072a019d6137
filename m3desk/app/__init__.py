"""The engine of one open memory: everything that the command line and the window's engine process do with it."""

from m3desk.app.app import App, make_player, play_sound
from m3desk.backends import profile
from m3desk.memory_path import default_memory

__all__ = ["App", "default_memory", "make_player", "play_sound", "profile"]
