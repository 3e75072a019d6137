"""What connects the views to the engine and to each other: events, reads, the selection, services."""
