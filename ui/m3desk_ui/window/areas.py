"""Going from area to area of the window by keyboard (F6): the picture, and the views that are on show around it, from left to right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from m3desk_ui.look.on_show import is_on_show


@runtime_checkable
class TakesInput(Protocol):
    """A view that says what of it gets the focus."""

    def focus_input(self) -> None:
        """Give the focus to what the view is for."""


@runtime_checkable
class Findable(Protocol):
    """A view with a field that finds in it."""

    def focus_find(self) -> None:
        """Give the focus to that field."""


def next_area(areas: Iterable[QWidget], window: QWidget, *, back: bool) -> QWidget | None:
    """Return the area after (before) the one that has the focus, or the first (last); None if none is on show and can have it."""
    on_show = sorted(
        (a for a in areas if is_on_show(a) and (isinstance(a, TakesInput) or _able(a))),
        key=lambda a: a.mapTo(window, a.rect().topLeft()).toTuple(),
    )
    if not on_show:
        return None
    now = QApplication.focusWidget()
    here = next((n for n, a in enumerate(on_show) if now is not None and (a is now or a.isAncestorOf(now))), None)
    if here is None:
        return on_show[-1 if back else 0]
    return on_show[(here + (-1 if back else 1)) % len(on_show)]


def focus(area: QWidget) -> None:
    """Give the focus to what an area is for: its list, graph, time line or picture, which is the largest; of the chat, its question."""
    if isinstance(area, TakesInput):
        area.focus_input()
    elif able := _able(area):
        max(able, key=lambda w: w.width() * w.height()).setFocus(Qt.FocusReason.ShortcutFocusReason)


def _able(area: QWidget) -> list[QWidget]:
    """Return the widgets of an area that can have the focus; a tab widget passes it on to its tabs, though its page is meant."""
    return [
        w
        for w in [area, *area.findChildren(QWidget)]
        if w.focusPolicy() & Qt.FocusPolicy.TabFocus and w.focusProxy() is None and w.isEnabled() and is_on_show(w)
    ]
