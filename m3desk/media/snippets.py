"""Plays stored speech snippets with one shared player, created on first use."""

from __future__ import annotations

import hashlib
from pathlib import Path

from m3desk import paths
from m3desk.media.player import Player


class _Snippets:
    """A player for short sounds: a new sound stops the previous one."""

    def __init__(self) -> None:
        self._folder = paths.temporary("sound")
        self._player = Player(lambda _frame: None, lambda _state: None)

    def play(self, sound: bytes) -> None:
        place = Path(self._folder.name) / f"{hashlib.sha256(sound).hexdigest()[:16]}.flac"
        place.write_bytes(sound)
        self._player.open(place)
        self._player.play()


_snippets: list[_Snippets] = []


def play_sound(sound: bytes) -> None:
    """Play a stored speech snippet; return at once. Silent if there is no sound device or the snippet is not FLAC."""
    if not sound.startswith(b"fLaC"):  # a memory may come from somebody else
        return
    if not _snippets:
        _snippets.append(_Snippets())
    _snippets[0].play(sound)
