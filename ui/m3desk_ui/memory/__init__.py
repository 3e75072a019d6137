"""The memories table, the inspector and the sources."""
