"""Measures a memory against ground truth."""
