"""A reader whose people are called in the window's language: who has no name is "Person 3" in the memory, whatever the language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from m3desk_ui.look import texts

LISTS = frozenset({"people", "people_of", "tracks", "tracks_of", "speech", "speech_of"})
"""Reads that return rows of people, or of observations with who is seen or heard."""


def called(reader: Any) -> Any:
    """Return a reader that calls people in the window's language; the same one where that is what the memory does."""
    return reader if texts.person("Person 1") == "Person 1" else _Called(reader)


class _Called:
    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def __getattr__(self, name: str) -> Any:
        read = getattr(self._reader, name)
        if name in LISTS:
            return lambda *asked, **how: [_in_words(row) for row in read(*asked, **how)]
        return self._one(read) if name == "person" else read

    @staticmethod
    def _one(read: Callable[..., Any]) -> Callable[..., Any]:
        return lambda ref: _in_words(read(ref))


def _in_words(row: Any) -> Any:
    shown = texts.person(row.shown)
    return row if shown == row.shown else replace(row, shown=shown)
