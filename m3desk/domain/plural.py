"""A number of things in words: "1 clip", "3 memories"."""

from __future__ import annotations


def many(count: int, one: str, more: str = "") -> str:
    """Return the number with the noun in its right form. `more`: an irregular plural ("people")."""
    if count == 1:
        return f"1 {one}"
    return f"{count} {more or (one[:-1] + 'ies' if one.endswith('y') else one + 's')}"
