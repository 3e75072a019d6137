"""Live sources: recorded first, memorized as they are recorded."""
