"""Shows the graph of an earlier state, read-only: as known up to a clip, or as believed at a date; with a banner that leads back to now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale, QObject, Qt, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import (
    QDateTimeEdit,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from m3desk_ui.graph import style
from m3desk_ui.hub.called import called
from m3desk_ui.look import plain, texts, theme

if TYPE_CHECKING:
    from m3desk.domain.clip import Clip
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
    reader = called(desk.reader(before=past.before, believed_at=past.believed_at))
    try:
        return whole_of(reader)
    finally:
        reader.close()


class PastBar(QFrame):
    """The banner above the graph while an earlier state is on show."""

    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAutoFillBackground(True)
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
        """Set every text and the colour, which says that this is not now."""
        c = theme.colours()
        colours = self.palette()
        colours.setColor(QPalette.ColorRole.Window, style.mixed(QColor(c.warn), style.look().ground, 0.25))
        self.setPalette(colours)
        self.setAccessibleName(self.tr("Earlier state"))
        self.back.setText(self.tr("Return to now"))

    def say(self, text: str) -> None:
        self.words.setText(self.tr("%1 Read-only.").replace("%1", text))
        self.show()


class Earlier(QObject):
    """Chooses an earlier state by a menu and reads it. `changed` carries its graph, None when the user returns to now."""

    changed = Signal(object)

    def __init__(self, hub: Hub, whole_of: Callable[[Any], Whole], menu: QMenu, parent: QWidget) -> None:
        super().__init__(parent)
        self.hub, self._whole_of, self._menu, self._parent = hub, whole_of, menu, parent
        self.state: Past | None = None
        """What is on show, None for now."""
        self.bar = PastBar(parent)
        self.bar.left.connect(self.return_to_now)
        menu.aboutToShow.connect(self._fill)

    def forget(self) -> None:
        """Another memory opens."""
        self.state = None
        self.bar.hide()

    def _fill(self) -> None:
        self._menu.clear()
        here = self._menu.addAction(self.tr("Known up to here"), self.show_known)
        plain.tip(here, self.tr("Hide what was learned after the moment that the video shows"))
        here.setEnabled(bool(self.hub.selection.at[0]))
        self._menu.addAction(self.tr("As believed on a date…"), self.choose_date)
        self._menu.addSeparator()
        self._menu.addAction(self.tr("Return to now"), self.return_to_now).setEnabled(self.state is not None)

    def show_known(self) -> None:
        """Show what was known up to the clip that the video is in now; it does not follow the video."""
        source, at = self.hub.selection.at
        if not source:
            return

        def found(clips: list[Clip]) -> None:
            if clips:
                text = self.tr("As known up to %1.").replace("%1", texts.clock(clips[0].end))
                self.show_past(Past(text, before=(source, clips[0].index)))

        self.hub.read("graph past", lambda reader: reader.clips_between(source, at, at + 1), found)

    def choose_date(self) -> None:
        """Let the user choose a date or a correction, and show what was believed then."""
        dialog = DateDialog(self.hub, self._parent)
        dialog.chosen.connect(lambda iso: self.show_past(Past(date_text(iso), believed_at=iso)))
        dialog.open()

    def show_past(self, state: Past) -> None:
        """Show an earlier state, read-only, until the user returns to now."""
        desk = self.hub.desk
        if desk is None:
            return

        def show(whole: Whole) -> None:
            if self.hub.desk is not desk:
                return
            self.state = state
            self.bar.say(state.text if len(whole) else self.tr("%1 Nothing was in the memory yet.").replace("%1", state.text))
            self.changed.emit(whole)

        self.hub.work(lambda: read(desk, state, self._whole_of), show)

    def return_to_now(self) -> None:
        """Leave the earlier state."""
        if self.state is not None:
            self.forget()
            self.changed.emit(None)


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
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        show = QPushButton(self.tr("Show"))
        show.clicked.connect(self._take)
        buttons.addButton(show, QDialogButtonBox.ButtonRole.AcceptRole)
        show.setDefault(True)
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
