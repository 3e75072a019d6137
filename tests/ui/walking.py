"""Walks what a window shows: its widgets, its actions, what a screen reader is told of them, and texts that are cut."""

from __future__ import annotations

from collections.abc import Iterator

from m3desk_ui.look import plain
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QMenuBar,
    QTabBar,
    QTabWidget,
    QWidget,
)

MOST_PARTS = 8
"""Parts of a date and a time, which Tab goes through before it leaves them."""

OWN_PARTS = (QComboBox, QAbstractSpinBox)
"""Widgets that speak for the parts that Qt puts into them."""


def told(widget: QWidget) -> str:
    """Return the name that a screen reader is given."""
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name).strip() if interface is not None else ""


def where(widget: QWidget) -> str:
    """Return a name of a widget for messages: its class and those of the widgets it is in."""
    path = [widget]
    while (parent := path[-1].parentWidget()) is not None and not path[-1].isWindow():
        path.append(parent)
    return " < ".join(f"{type(w).__name__}{'#' + w.objectName() if w.objectName() else ''}" for w in path[:4])


def widgets(top: QWidget) -> list[QWidget]:
    """Return the widgets of a window that the user can meet: Qt's own inner parts of views and boxes left out."""
    return [w for w in top.findChildren(QWidget) if not _inner(w)]


def _inner(widget: QWidget) -> bool:
    if widget.objectName().startswith("qt_") or isinstance(widget, QMenu | QMenuBar):
        return True
    at = widget.parentWidget()
    while at is not None:
        if isinstance(at, OWN_PARTS):
            return True
        at = at.parentWidget()
    return False


def nameless(top: QWidget) -> list[str]:
    """Return the widgets that take the focus by keyboard without a name that a screen reader could say."""
    faults = []
    for widget in widgets(top):
        waits = widget.isHidden() and isinstance(widget, QAbstractButton)  # it gets its words when it is shown
        empty = isinstance(widget, QTabBar) and not widget.count()
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and not waits and not empty and not told(widget):
            faults.append(where(widget))
    return sorted(set(faults))


def bare_icons(top: QWidget) -> list[str]:
    """Return buttons that show an icon or a sign only, and lack a tooltip or a name in words."""
    faults = []
    for button in top.findChildren(QAbstractButton):
        waits = button.isHidden() and not button.text() and not told(button)  # it gets its words when it is shown
        if waits or _inner(button):
            continue
        shown = button.text().replace("&", "").strip()
        wordless = not any(letter.isalpha() for letter in shown)
        if wordless and (not button.icon().isNull() or shown) and not (button.toolTip() and any(c.isalpha() for c in told(button))):
            faults.append(f"{where(button)} “{shown}” tip={button.toolTip()!r} name={told(button)!r}")
    return sorted(set(faults))


def in_menus(menus: list[QMenu]) -> Iterator[QAction]:
    """Yield the actions of menus and of the menus in them."""
    for menu in menus:
        for action in menu.actions():
            if (inner := action.menu()) is not None:
                yield from in_menus([inner])  # type: ignore[list-item]
            elif not action.isSeparator():
                yield action


def cut(top: QWidget) -> list[str]:
    """Return visible labels and buttons whose text needs more room than they have, and nothing says the whole of it."""
    faults = []
    for widget in widgets(top):
        if not widget.isVisible() or widget.visibleRegion().isEmpty():
            continue
        if isinstance(widget, QLabel):
            text = widget.text()
            if (
                not text
                or isinstance(widget, plain.Brief)
                or widget.wordWrap()
                or widget.textFormat() == Qt.TextFormat.RichText
                or widget.toolTip()
            ):
                continue
            need = max(widget.fontMetrics().horizontalAdvance(line) for line in text.replace("\N{ZERO WIDTH SPACE}", "").split("\n"))
            room = widget.contentsRect().width() - 2 * max(0, widget.margin())
            if need > room:
                faults.append(f"{where(widget)} “{text[:60]}” needs {need}, has {room}")
        elif isinstance(widget, QAbstractButton):
            if not widget.text() or widget.toolTip():
                continue
            need, room = widget.minimumSizeHint().width(), widget.width()
            if need > room:
                faults.append(f"{where(widget)} “{widget.text()}” needs {need}, has {room}")
        elif isinstance(widget, QComboBox):
            need, room = widget.fontMetrics().horizontalAdvance(widget.currentText()), widget.width() - 30
            if need > room and not widget.toolTip():
                faults.append(f"{where(widget)} “{widget.currentText()}” needs {need}, has {room}")
        elif isinstance(widget, QLineEdit) and not widget.toolTip():
            need, room = widget.fontMetrics().horizontalAdvance(widget.placeholderText()), widget.width() - 18
            if need > room:
                faults.append(f"{where(widget)} “{widget.placeholderText()}” needs {need}, has {room}")
    return faults


def tabbed(most: int = 150) -> list[QWidget]:
    """Press Tab from the widget that has the focus until it has it again, and return the stops. Raises AssertionError for a trap."""
    first = QApplication.focusWidget()
    assert first is not None
    stops = [first]
    for _ in range(most):
        at = QApplication.focusWidget()
        QTest.keyClick(at, Qt.Key.Key_Tab)  # type: ignore[call-overload]
        now = QApplication.focusWidget()
        for _ in range(MOST_PARTS):  # of a time: its hours, its minutes
            if now is at and isinstance(at, QAbstractSpinBox):
                QTest.keyClick(at, Qt.Key.Key_Tab)
                now = QApplication.focusWidget()
        if now is first:
            return stops
        assert now is not None and now is not at, f"Tab leads nowhere from {where(stops[-1])}"
        assert now not in stops, f"Tab never comes back to {where(first)}: it goes round from {where(now)}"
        stops.append(now)
    raise AssertionError(f"more than {most} stops")


def unreached(top: QWidget, stops: list[QWidget]) -> list[str]:
    """Return what is on the screen and takes the focus by Tab, but is none of these stops."""
    found = []
    for widget in widgets(top):
        seen = widget.isVisible() and widget.isEnabled() and not widget.visibleRegion().isEmpty()
        inner = isinstance(widget.parentWidget(), QTabWidget | QAbstractScrollArea)  # the tabs and the view of a stop
        if seen and widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.focusProxy() is None and widget not in stops and not inner:
            found.append(where(widget))
    return found
