"""Memories of a clip by a model that watches it: what the model gets (`request`), what is read from its reply (`reply`), the writer."""
