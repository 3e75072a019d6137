"""Measuring a memory against known truth."""
