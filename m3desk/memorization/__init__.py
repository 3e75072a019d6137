"""What is remembered of a clip: sentences and knowledge composed from evidence."""
