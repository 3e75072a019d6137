"""Deletes old recordings of live sources: shows first which, and how much room that gives; Cancel is the default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QHBoxLayout, QListWidget, QVBoxLayout, QWidget

from m3desk.domain.clip import clock
from m3desk.errors import sentence_of
from m3desk_ui.look import plain, texts
from m3desk_ui.look.danger_button import DangerButton
from m3desk_ui.look.numbers import WholeNumber

if TYPE_CHECKING:
    from m3desk.domain.live import Outdated
    from m3desk_ui.hub.bridge import Hub

SETTLE_MS = 250
DAYS = 30


class RetentionDialog(QDialog):
    """Recordings older than some hours or days, or older than each was to be kept."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self._number = 0
        self.setWindowTitle(self.tr("Delete old recordings"))
        self.setMinimumWidth(520)
        lead = plain.Label(
            self.tr("Only recordings of live sources are deleted. What is memorized of them stays; your own files are never touched.")
        )
        lead.setWordWrap(True)
        lead.setProperty("muted", True)
        self.kind = QComboBox()
        self.kind.setAccessibleName(self.tr("Which recordings"))
        for text, unit in (
            (self.tr("kept longer than was chosen for each"), 0),
            (self.tr("older than so many hours"), 1),
            (self.tr("older than so many days"), 24),
        ):
            self.kind.addItem(text, unit)
        self.count = WholeNumber()
        self.count.setRange(1, 9999)
        self.count.setValue(DAYS)
        self.count.setAccessibleName(self.tr("Age"))
        row = QHBoxLayout()
        row.addWidget(self.kind, 1)
        row.addWidget(self.count)
        self.effect = plain.Label()
        self.effect.setWordWrap(True)
        self.effect.setProperty("heading", True)
        self.found = QListWidget()
        self.found.setAccessibleName(self.tr("What would be deleted"))
        self.found.setMinimumHeight(140)
        self.go = DangerButton(self.tr("Delete"))
        self.go.setEnabled(False)
        self.go.clicked.connect(self.delete)
        ends = QDialogButtonBox(self)
        ends.addButton(self.go, QDialogButtonBox.ButtonRole.DestructiveRole)
        self.cancel = ends.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        self.cancel.setDefault(True)
        ends.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 14)
        column.setSpacing(10)
        column.addWidget(lead)
        column.addLayout(row)
        column.addWidget(self.effect)
        column.addWidget(self.found, 1)
        column.addWidget(ends)
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(self.preview)
        self.kind.currentIndexChanged.connect(lambda _i: self._changed())
        self.count.valueChanged.connect(lambda _v: self._changed())
        self._changed()

    def hours(self) -> float | None:
        """Return the age in hours; None: each as it was to be kept."""
        unit = self.kind.currentData()
        return float(self.count.value() * unit) if unit else None

    def _changed(self) -> None:
        self.count.setEnabled(bool(self.kind.currentData()))
        self.go.setEnabled(False)
        self._settle.start()

    def preview(self) -> None:
        """Ask the engine what would go."""
        if self.hub.desk is None:
            return
        self._number += 1
        number = self._number
        self.effect.setText(self.tr("Checking what would be deleted …"))
        self.found.clear()
        self.hub.when(
            self.hub.desk.retention(hours=self.hours(), dry_run=True),
            lambda found: self._show(found) if number == self._number else None,
            lambda error: self._failed(error) if number == self._number else None,
        )

    def _show(self, found: list[Outdated]) -> None:
        if not found:
            self.effect.setText(self.tr("Nothing would be deleted."))
            return
        room = texts.megabytes(sum(o.bytes for o in found))
        self.effect.setText(self.tr("This would be deleted, and gives %1 of room:").replace("%1", room))
        for old in found:
            span = f"{clock(old.start)} – {clock(old.end)}"
            self.found.addItem(plain.line(f"{plain.line(old.name, plain.ENTRY)} · {span} · {texts.megabytes(old.bytes)}"))
        self.go.setEnabled(True)

    def _failed(self, error: Exception) -> None:
        self.effect.setText(sentence_of(error))

    def delete(self) -> None:
        """Delete what was shown."""
        hub, told = self.hub, self.tr("Deleted old recordings: %1.")
        if hub.desk is None:
            return

        def done(found: list[Outdated]) -> None:
            hub.notice.emit("info", told.replace("%1", texts.megabytes(sum(o.bytes for o in found))), "", "")

        hub.when(hub.desk.retention(hours=self.hours()), done)
        self.accept()
