"""Embedded backends: models that run on a CPU without torch."""
