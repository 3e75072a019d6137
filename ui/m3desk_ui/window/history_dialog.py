"""The history dialog: every correction of the memory, newest first; each can be taken back, with a preview of what that changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime, QLocale, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from m3desk_ui.hub.following import Following, Read
from m3desk_ui.look import deeds, plain, theme

if TYPE_CHECKING:
    from m3desk.domain.changed import Changed
    from m3desk.domain.correction import Effect, Step
    from m3desk.ports import Reader
    from m3desk_ui.hub.bridge import Hub

STEP = Qt.ItemDataRole.UserRole
REVERTS = ("undo", "redo", "revert")
"""Kinds of steps that only take others back: they are no corrections of their own and are not listed."""

FINAL = ("forget",)
"""Kinds of steps that can't be taken back."""


class HistoryDialog(QDialog):
    """Lists the corrections of the open memory and takes one of them back. Does not block the window."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self.steps: list[Step] = []
        self.setWindowTitle(self.tr("History of corrections"))
        self.resize(760, 460)
        self.rows = QTreeWidget()
        self.rows.setRootIsDecorated(False)
        self.rows.setHeaderLabels([self.tr("When"), self.tr("Correction"), self.tr("By")])
        self.rows.setAccessibleName(self.tr("Corrections, newest first"))
        self.rows.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.rows.header().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.rows.header().setStretchLastSection(False)
        self.rows.currentItemChanged.connect(lambda *_: self._enable())
        self.rows.itemActivated.connect(lambda *_: self.take_back())
        self.also_undone = QCheckBox(self.tr("Show corrections that were taken back"))
        self.also_undone.toggled.connect(lambda _on: self._fill())
        self.none = plain.Label(self.tr("No corrections yet. Names, merges, splits and edits appear here."))
        self.none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.none.setProperty("muted", True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.back = QPushButton(self.tr("Take back…"))
        plain.tip(self.back, self.tr("Take back this correction alone; later ones stay (Enter)"))
        self.back.clicked.connect(self.take_back)
        buttons.addButton(self.back, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        for widget in (self.rows, self.none, self.also_undone, buttons):
            column.addWidget(widget, 1 if widget in (self.rows, self.none) else 0)
        self.following = Following(
            hub, "history", load=lambda: read_steps, show=self._take, patch=self._patch, apply=self._take, parent=self
        )
        hub.opened.connect(self.reject)
        hub.corrected.connect(self._corrected)
        self.following.restart()
        self._enable()

    def _corrected(self, _event: object) -> None:
        self.following.restart()

    def done(self, result: int) -> None:
        """Close; what is still being read is dropped."""
        self.following.stop()
        super().done(result)

    @staticmethod
    def _patch(changed: Changed) -> Read[list[Step]] | None:
        return read_steps if changed.whole else None  # a correction restarts the reading by its own event

    def _take(self, steps: list[Step]) -> None:
        self.steps = steps
        self._fill()

    def _fill(self) -> None:
        kept = self._current()
        self.rows.clear()
        told = {s.step: s.text for s in self.steps}
        shown = [s for s in reversed(self.steps) if s.kind not in REVERTS and (self.also_undone.isChecked() or not s.undone)]
        for step in shown:
            at = QDateTime.fromString(step.at, Qt.DateFormat.ISODateWithMs).toLocalTime()
            text = plain.line(deeds.done(step.text or step.kind, told))
            if step.undone:
                text = self.tr("(taken back) %1").replace("%1", text)
            by = self.tr("you") if step.by == "user" else plain.line(step.by, plain.ENTRY)
            item = QTreeWidgetItem([QLocale().toString(at, QLocale.FormatType.ShortFormat), text, by])
            item.setData(0, STEP, step.step)
            details = self.tr("Step %1").replace("%1", str(step.step)) + (f": {step.why}" if step.why else "")
            item.setData(1, Qt.ItemDataRole.ToolTipRole, plain.tip_text(details))
            if step.undone:
                for column in range(3):
                    item.setForeground(column, QColor(theme.colours().muted))
            self.rows.addTopLevelItem(item)
            if step.step == kept:
                self.rows.setCurrentItem(item)
        first = self.rows.topLevelItem(0)
        if self.rows.currentItem() is None and first is not None:
            self.rows.setCurrentItem(first)
        self.rows.setVisible(bool(shown))
        self.none.setVisible(not shown)
        self._enable()

    def _current(self) -> int | None:
        item = self.rows.currentItem()
        return None if item is None else int(item.data(0, STEP))

    def _enable(self) -> None:
        number = self._current()
        self.back.setEnabled(any(s.step == number and not s.undone and s.kind not in FINAL for s in self.steps))

    def take_back(self) -> None:
        """Show what taking back the chosen step would change, and do it if the user confirms."""
        number, desk = self._current(), self.hub.desk
        if number is None or desk is None or not self.back.isEnabled():
            return
        told = {s.step: s.text for s in self.steps}
        text = deeds.done(next(s.text or s.kind for s in self.steps if s.step == number), told)

        def previewed(effect: Effect) -> None:
            if not isValid(self) or not self.isVisible():  # closed meanwhile
                return
            question = self.tr("Take back “%1”?").replace("%1", plain.line(text, plain.ENTRY))
            more = deeds.would(effect.text, told)
            if plain.sure(self, self.tr("Take back a correction"), question, more, self.tr("Take back")):
                self.hub.when(desk.revert(number), lambda done: self.hub.offer.emit(deeds.done(done.text, told), "undo", self.hub.undo))

        self.hub.when(desk.correct("revert", {"step": number, "also": False}, dry_run=True), previewed)


def read_steps(reader: Reader) -> list[Step]:
    """Return the journal, oldest first (in the reading thread)."""
    return reader.journal()
