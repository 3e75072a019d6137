"""How word lists are written down here: a block of words between quotes, one set."""

from __future__ import annotations


def words_of(text: str) -> frozenset[str]:
    """Return the words of a block of text as a set."""
    return frozenset(text.split())
