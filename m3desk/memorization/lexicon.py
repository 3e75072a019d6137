"""Reads a word list: a string of words separated by spaces becomes a set."""

from __future__ import annotations


def words_of(text: str) -> frozenset[str]:
    """Return the words of a block of text as a set."""
    return frozenset(text.split())
