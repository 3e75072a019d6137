"""What several views read of the same change is read once: the answers are kept until the next change."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from m3desk.domain.changed import Changed

SHARED = frozenset({"people_of", "memories_of", "nodes_of", "clips_of", "thumbnails", "sources"})
"""Reads whose answer is kept. All of them take ids or nothing."""


class SharedReads:
    """The answers of one change. A row that is changed again later is named by a later change, with answers of its own."""

    def __init__(self, changed: Changed) -> None:
        self.changed = changed
        self._answers: dict[Hashable, Any] = {}

    def of(self, reader: Any) -> Any:
        """Return a reader that answers what was asked before without reading (in the reading thread)."""
        return _Reader(reader, self._answers)


class _Reader:
    def __init__(self, reader: Any, answers: dict[Hashable, Any]) -> None:
        self._reader, self._answers = reader, answers

    def __getattr__(self, name: str) -> Any:
        read = getattr(self._reader, name)
        return self._kept(name, read) if name in SHARED else read

    def _kept(self, name: str, read: Callable[..., Any]) -> Callable[..., Any]:
        def ask(*ids: Any) -> Any:
            key = name, *map(frozenset, ids)
            if key not in self._answers:
                self._answers[key] = read(*ids)
            return self._answers[key].copy()  # a list or dict, which a view may change

        return ask
