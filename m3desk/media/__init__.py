"""Where clips come from: files decoded with PyAV, cut into clips, and played."""
