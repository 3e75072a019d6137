"""The window: shows the engine's events and sends it commands; contains no decisions about the memory."""
