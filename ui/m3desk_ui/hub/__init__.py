"""Connects the views to the engine and to each other: events, reads, the selection, services."""
