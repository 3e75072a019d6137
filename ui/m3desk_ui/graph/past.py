"""Shows the graph of an earlier state, read-only: as known up to a clip, or as believed at a date; with a banner that leads back to now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale, Qt, Signal
from PySide6.QtWidgets import (
    QDateTimeEdit,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from m3desk_ui.look import plain

if TYPE_CHECKING:
    from m3desk.domain.correction import Step
    from m3desk.ports import Desk
    from m3desk_ui.graph.whole import Whole
    from m3desk_ui.hub.bridge import Hub

STEPS_MOST = 200
ISO = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class Past:
    """An earlier state: `before`: source and clip up to which it is known; `believed_at`: an ISO date. `text`: what the banner says."""

    text: str
    before: tuple[str, int] | None = None
    believed_at: str | None = None


def read(desk: Desk, past: Past, whole_of: Callable[[Any], Whole]) -> Whole:
    """Return the graph of an earlier state; slow, for a thread of its own."""
    reader = desk.reader(before=past.before, believed_at=past.believed_at)
    try:
        return whole_of(reader)
    finally:
        reader.close()


class PastBar(QFrame):
    """The banner above the graph while an earlier state is on show."""

    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("banner", True)
        self.words = plain.Label()
        self.words.setWordWrap(True)
        self.back = QPushButton()
        self.back.clicked.connect(self.left)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 4)
        row.addWidget(self.words, 1)
        row.addWidget(self.back)
        self.dress()
        self.hide()

    def dress(self) -> None:
        self.setAccessibleName(self.tr("Earlier state"))
        self.back.setText(self.tr("Return to now"))

    def say(self, text: str) -> None:
        self.words.setText(self.tr("%1 Read-only.").replace("%1", text))
        self.show()


class DateDialog(QDialog):
    """Chooses a date, or the moment before a correction. `chosen` carries an ISO date."""

    chosen = Signal(str)

    def __init__(self, hub: Hub, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("As believed on a date"))
        self.resize(520, 420)
        hub.opened.connect(self.reject)
        self.when = QDateTimeEdit(QDateTime.currentDateTime())
        self.when.setCalendarPopup(True)
        self.when.setDisplayFormat("yyyy-MM-dd HH:mm:ss")
        self.when.setAccessibleName(self.tr("Date and time"))
        self.steps = QListWidget()
        self.steps.setAccessibleName(self.tr("Corrections"))
        self.steps.itemActivated.connect(lambda _item: self._take())
        self.steps.currentItemChanged.connect(lambda item, _old: self._show(item))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        show = QPushButton(self.tr("Show"))
        show.setDefault(True)
        show.clicked.connect(self._take)
        buttons.addButton(show, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(plain.Label(self.tr("Show what was believed at this time:")))
        column.addWidget(self.when)
        column.addWidget(plain.Label(self.tr("or before one of these corrections:")))
        column.addWidget(self.steps, 1)
        column.addWidget(buttons)
        hub.read("graph steps", lambda reader: reader.journal(), self._fill)

    def _fill(self, steps: list[Step]) -> None:
        for step in list(reversed(steps))[:STEPS_MOST]:
            try:
                before = datetime.fromisoformat(step.at) - timedelta(milliseconds=1)
            except ValueError:  # of an import
                continue
            at = QLocale().toString(
                QDateTime.fromString(step.at, Qt.DateFormat.ISODateWithMs).toLocalTime(), QLocale.FormatType.ShortFormat
            )
            item = QListWidgetItem(f"{at}  {plain.line(step.text or step.kind)}")
            item.setData(ISO, before.isoformat())
            self.steps.addItem(item)

    def _show(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.when.setDateTime(QDateTime.fromString(item.data(ISO), Qt.DateFormat.ISODateWithMs).toLocalTime())

    def _take(self) -> None:
        item = self.steps.currentItem()
        iso = self.when.dateTime().toUTC().toString(Qt.DateFormat.ISODateWithMs)
        if item is not None:
            theirs = QDateTime.fromString(item.data(ISO), Qt.DateFormat.ISODateWithMs).toLocalTime()
            if abs(theirs.secsTo(self.when.dateTime())) < 1:
                iso = item.data(ISO)
        self.chosen.emit(iso)
        self.accept()


def date_text(iso: str) -> str:
    """Return what the banner says of a date."""
    at = QDateTime.fromString(iso, Qt.DateFormat.ISODateWithMs).toLocalTime()
    shown = QLocale().toString(at, QLocale.FormatType.ShortFormat)
    return QCoreApplication.translate("GraphPast", "As believed on %1.").replace("%1", shown)
