"""Pictures between those of the clips, as close as the zoom allows: asked of the engine while the view rests, one at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QPixmap

if TYPE_CHECKING:
    from m3desk import events
    from m3desk_ui.hub.bridge import Hub

KEPT = 400
"""Pictures that are kept."""
MOST_WANTED = 40
"""Pictures that are asked for at a time: more than a screen shows."""

Moment = tuple[str, int]
"""A source and its own time, microseconds."""


class Strip(QObject):
    """The pictures at single moments of sources. A view that moved on asks for others; what was not begun is dropped."""

    came = Signal()

    def __init__(self, hub: Hub, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._kept: OrderedDict[Moment, QPixmap | None] = OrderedDict()
        self._wanted: list[Moment] = []
        self._width = 0
        self._asking: Moment | None = None
        self._turn = 0
        """Raised with each picture that is asked for, and when the one that still comes is not to be taken."""
        self._without: set[str] = set()
        """Sources whose file is not there."""
        hub.erased.connect(self._erased)

    def _erased(self, gone: events.Erased) -> None:
        """Drop the pictures of what was erased, and do not take one that still comes."""

        def within(moment: Moment | None) -> bool:
            return moment is not None and moment[0] == gone.source and gone.start <= moment[1] < gone.end

        for moment in [m for m in self._kept if within(m)]:
            del self._kept[moment]
        self._wanted = [m for m in self._wanted if not within(m)]
        if within(self._asking):
            self._let_go()
            self._ask()
        self.came.emit()

    def clear(self) -> None:
        """Forget all pictures: another memory is open, or something was forgotten."""
        self._kept.clear()
        self._wanted = []
        self._let_go()
        self._without.clear()

    def _let_go(self) -> None:
        """Take no picture that was asked for before: it may show what is erased, even if the same moment is asked for again."""
        self._asking = None
        self._turn += 1

    def get(self, moment: Moment) -> QPixmap | None:
        """Return a picture that has come, else None; asks for nothing."""
        found = self._kept.get(moment)
        if found is not None:
            self._kept.move_to_end(moment)
        return found

    def want(self, moments: Sequence[Moment], width: int) -> None:
        """Ask for the pictures at these moments that are not there, in place of those asked for before. `width`: pixels."""
        if width != self._width:  # the window is on another screen
            self._kept.clear()
            self._width = width
        self._wanted = [m for m in moments if m not in self._kept and m != self._asking and m[0] not in self._without][:MOST_WANTED]
        if self._asking is None:
            self._ask()

    def _ask(self) -> None:
        desk = self._hub.desk
        if desk is None or not self._wanted:
            return
        moment = self._asking = self._wanted.pop(0)
        self._turn += 1
        turn = self._turn

        def done(content: bytes | None) -> None:
            if self._turn != turn:  # it was erased meanwhile
                return
            self._asking = None
            picture = QPixmap()
            if content is None:
                self._without.add(moment[0])
                self._wanted = [m for m in self._wanted if m[0] != moment[0]]
            else:
                self._kept[moment] = picture if picture.loadFromData(content) else None
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
                self.came.emit()
            self._ask()

        self._hub.when(desk.picture(*moment, self._width), done, lambda _error: done(None))
