"""A bar under the menu for errors and messages: what happened, what to do, a report to copy, and optionally one action (Undo)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton, QWidget

from m3desk.errors import as_sentence
from m3desk_ui.look import plain, theme

if TYPE_CHECKING:
    from m3desk import events
    from m3desk_ui.hub.bridge import Hub

SECONDS = {"info": 7, "warning": 20, "error": 0}
"""How long a notice stays; an error stays until it is closed or replaced by another error."""
MOST_WAITING = 20
ICONS = {"info": "mdi6.information-outline", "warning": "mdi6.alert-outline", "error": "mdi6.alert-circle-outline"}


@dataclass(frozen=True, slots=True)
class _Notice:
    level: str
    text: str
    hint: str = ""
    report: str = ""
    label: str = ""
    action: Callable[[], None] | None = None
    undo: bool = False
    key: str = ""
    """Of a trouble that lasts until it is over."""


class NoticeBar(QFrame):
    """Shows one notice at a time; behind an error others wait, and how many is told; a message replaces a message.

    A trouble stays until it is over or the user closes it; other notices are shown in its place for their time.
    """

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._waiting: deque[_Notice] = deque(maxlen=MOST_WAITING)
        self._shown: _Notice | None = None
        self._troubles: dict[str, _Notice] = {}
        self.setAccessibleName(self.tr("Notices"))
        self._icon = plain.Label()
        self._text = plain.RichLabel()
        self._text.setWordWrap(True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._act = QPushButton()
        self._act.clicked.connect(self._do)
        self._copy = QPushButton(self.tr("Copy report"))
        plain.tip(self._copy, self.tr("Copy the details of this error, to send them to the developers"))
        self._copy.clicked.connect(self._copy_report)
        self._more = plain.Count()
        self._more.setProperty("muted", True)
        plain.tip(self._more, self.tr("Further notices wait; close this one to see the next"))
        self._more.hide()
        self._close = QToolButton()
        plain.tip(self._close, self.tr("Close this notice"))
        self._close.setAccessibleName(self.tr("Close this notice"))
        self._close.clicked.connect(self._closed)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 5, 6, 5)
        row.addWidget(self._icon)
        row.addWidget(self._text, 1)
        for widget in (self._act, self._copy, self._more, self._close):
            row.addWidget(widget)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.dismiss)
        self.hide()
        hub.notice.connect(self.add)
        hub.trouble.connect(self.set_trouble)
        hub.opened.connect(lambda _path: self._forget_troubles())
        hub.offer.connect(self.offer)
        hub.corrected.connect(self._corrected)
        hub.engine_lost.connect(self._engine_lost)
        hub.themed.connect(self._paint)

    def add(self, level: str, text: str, hint: str = "", report: str = "") -> None:
        """Show a notice, or queue it behind the error that is shown."""
        self._take(_Notice(level if level in SECONDS else "info", text, hint, report))

    def offer(self, text: str, label: str, action: Callable[[], None] | None) -> None:
        """Show a message with a button; the label "undo" is translated."""
        undo = label == "undo"
        self._take(_Notice("info", text, label=self.tr("Undo") if undo else label, action=action, undo=undo))

    def set_trouble(self, key: str, text: str, hint: str = "") -> None:
        """Show a notice that stays until the trouble is over, which an empty text says."""
        if not text:
            self._troubles.pop(key, None)
            if self._shown is not None and self._shown.key == key:
                self.dismiss()
            return
        notice = _Notice("warning", text, hint, key=key)
        if self._troubles.get(key) != notice:
            self._troubles[key] = notice
            if self._shown is None or (self._shown.level != "error" and self._shown.action is None):
                self._show(notice)

    def _forget_troubles(self) -> None:
        for key in list(self._troubles):
            self.set_trouble(key, "")

    def _closed(self) -> None:
        if self._shown is not None:
            self._troubles.pop(self._shown.key, None)
        self.dismiss()

    def withdraw(self, text: str) -> None:
        """Remove a notice that no longer holds."""
        self._wait(n for n in self._waiting if n.text != text)
        if self._shown is not None and self._shown.text == text:
            self.dismiss()

    def dismiss(self) -> None:
        """Close the current notice and show the next in the queue, or a trouble that lasts."""
        self._timer.stop()
        self._shown = None
        if self._waiting:
            self._show(self._waiting.popleft())
        elif self._troubles:
            self._show(next(reversed(self._troubles.values())))
        else:
            self.hide()

    def _corrected(self, event: events.Corrected) -> None:
        """Remove an undo button once its correction is undone, redone or followed by another one.

        A correction's own offer has its text and stays: event and offer may come in either order.
        """

        def over(notice: _Notice) -> bool:
            return notice.undo and (event.kind in ("undo", "redo", "revert") or notice.text != event.text)

        self._wait(n for n in self._waiting if not over(n))
        if self._shown is not None and over(self._shown):
            self.dismiss()

    def _engine_lost(self, event: events.EngineLost) -> None:
        hint = event.hint or self.tr("Everything saved so far is safe. Close the memory and open it again to continue.")
        self._take(_Notice("warning" if event.restarting else "error", event.message, hint))

    def _take(self, notice: _Notice) -> None:
        if self._shown is not None and self._shown.level == "error":
            same = (notice.level, notice.text) == (self._shown.level, self._shown.text)
            if not same and notice not in self._waiting:
                self._wait([*self._waiting, notice])
            return
        self._show(notice)

    def _wait(self, notices: Iterable[_Notice]) -> None:
        """Let these notices wait, of too many the last; tell how many."""
        self._waiting = deque(notices, maxlen=MOST_WAITING)
        self._more.setText(self.tr("%1 more").replace("%1", str(len(self._waiting))))
        self._more.setVisible(bool(self._waiting))

    def _show(self, notice: _Notice) -> None:
        self._shown = notice
        self._wait(self._waiting)
        text, hint = plain.html(as_sentence(notice.text), 2 * plain.LINE), plain.html(notice.hint, 2 * plain.LINE)
        self._text.setText(f"<b>{text}</b> {hint}" if hint else text)
        self._act.setVisible(notice.action is not None)
        self._act.setText(plain.entry(notice.label))
        self._copy.setVisible(bool(notice.report))
        self._paint()
        self.show()
        if SECONDS[notice.level] and not notice.key:
            self._timer.start(SECONDS[notice.level] * 1000)
        else:
            self._timer.stop()

    def _paint(self) -> None:
        if self._shown is None:
            return
        c = theme.colours()
        colour = {"info": c.accent, "warning": c.warn, "error": c.bad}[self._shown.level]
        self._icon.setPixmap(theme.icon(ICONS[self._shown.level], colour).pixmap(20, 20))
        self._close.setIcon(theme.icon("mdi6.close", c.muted))
        self.setStyleSheet(
            f"NoticeBar {{ background: {c.surface}; border: none; border-left: 4px solid {colour}; border-bottom: 1px solid {c.line}; }}"
        )

    def _do(self) -> None:
        action = self._shown.action if self._shown is not None else None
        self.dismiss()
        if action is not None:
            action()

    def _copy_report(self) -> None:
        if self._shown is not None:
            QGuiApplication.clipboard().setText(f"{self._shown.text}\n{self._shown.hint}\n\n{self._shown.report}")
            self._copy.setText(self.tr("Copied"))
            QTimer.singleShot(1500, self._copy, lambda: self._copy.setText(self.tr("Copy report")))
