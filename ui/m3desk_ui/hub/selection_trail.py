"""Remembers what was selected, so that Back and Forward step through it in all views."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from m3desk_ui.hub.selection import Selection

MOST = 100


class SelectionTrail(QObject):
    """The things that were selected before and after the present one. `moved`: what `can_go` tells has changed."""

    moved = Signal()

    def __init__(self, selection: Selection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self._stops: list[tuple[str, str]] = []
        self._at = -1
        selection.selected.connect(self._keep)

    @property
    def can_go(self) -> tuple[bool, bool]:
        """Return whether there is something to go back to, something to go forward to."""
        return self._before() >= 0, self._at + 1 < len(self._stops)

    def _before(self) -> int:
        """Return the place to go back to: the last one, where nothing is selected."""
        here = self._at >= 0 and self._selection.current == self._stops[self._at]
        return self._at - 1 if here else self._at

    def go(self, *, back: bool) -> None:
        """Select what was selected before (or after that)."""
        place = self._before() if back else self._at + 1
        if 0 <= place < len(self._stops):
            self._at = place
            self._selection.select(*self._stops[place])
            self.moved.emit()

    def clear(self) -> None:
        """Forget everything: another memory opens."""
        self._stops, self._at = [], -1
        self.moved.emit()

    def _keep(self, kind: str, id_: str) -> None:
        if id_ and not (self._at >= 0 and self._stops[self._at] == (kind, id_)):
            self._stops = [*self._stops[: self._at + 1], (kind, id_)][-MOST:]
            self._at = len(self._stops) - 1
        self.moved.emit()
