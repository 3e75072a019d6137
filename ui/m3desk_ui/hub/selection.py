"""The shared selection: views follow each other through it without knowing each other.

Times are microseconds. Signals carry them as `object`: Qt's own int has 32 bits and ends after 36 minutes.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class Selection(QObject):
    """Kinds of things: "person", "node" (any graph node: memory, face, voice, object, place), "observation", "clip", "source"."""

    seek = Signal(str, object, bool)
    """source, microseconds, play: the video view goes there (and plays it)."""
    toggled = Signal()
    """Play or pause, wanted by a view that has the focus."""
    selected = Signal(str, str)
    """kind, id: the inspector shows it and the views mark it. ("", "") = nothing."""
    span = Signal(str, object, object)
    """source, start, end: a span of the timeline was chosen to ask or search in; start == end == 0 takes it back."""
    search_within = Signal(str, object, object)
    """source, start, end: show only the memories of this span."""
    watching = Signal(str, object)
    """source, microseconds: where the video is now; at most ten times a second."""
    highlighted = Signal(object)
    """A tuple of (source, start, end): search hits or citations, to mark on the timeline."""
    found = Signal(object)
    """A tuple of node ids (people, memories): search hits, to mark in the graph; () takes them back."""
    asked_about = Signal(str)
    """A question to put into the chat's box (from a span, a node or a memory)."""
    wanted = Signal(str)
    """The name of a view to bring to the front: "inspector", "chat", "people", "graph", "memories", "transcript", "sources"."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.current: tuple[str, str] = ("", "")
        self.chosen_span: tuple[str, int, int] | None = None
        self.at: tuple[str, int] = ("", 0)
        self.hits: tuple[str, ...] = ()
        """The last `found`, for a view that loads later."""
        self.selected.connect(self._keep)
        self.found.connect(self._keep_found)
        self.span.connect(self._keep_span)
        self.watching.connect(self._keep_at)

    def forget(self) -> None:
        """Point at nothing: another memory opens, in which the same ids are other things."""
        self.selected.emit("", "")
        self.found.emit(())
        self.highlighted.emit(())
        self.chosen_span = None
        self.at = ("", 0)

    def select(self, kind: str, id_: str) -> None:
        """Select a thing; no signal if it is already selected."""
        if (kind, id_) != self.current:
            self.selected.emit(kind, id_)

    def play(self, source: str | None, at: int | None) -> None:
        """Go to a time and play; do nothing without one (knowledge has no time)."""
        if source and at is not None:
            self.seek.emit(source, at, True)

    def _keep(self, kind: str, id_: str) -> None:
        self.current = (kind, id_)

    def _keep_found(self, ids: tuple[str, ...]) -> None:
        self.hits = ids

    def _keep_span(self, source: str, start: int, end: int) -> None:
        self.chosen_span = (source, start, end) if end > start else None

    def _keep_at(self, source: str, at: int) -> None:
        self.at = (source, at)
