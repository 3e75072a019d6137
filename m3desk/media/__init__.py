"""Media files: decoded with PyAV, cut into clips, and played."""
