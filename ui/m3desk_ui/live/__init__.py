"""Live capture in the window: start, picture with names and subtitles, state of the devices, forgetting, watch rules."""
