"""A camera or microphone, memorized while it is recorded: what is known before a clip ends, and what must not be kept."""
