"""The dialog that has a clip written again by another writer, shows the sentences of both side by side, and takes or drops the new ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QHBoxLayout, QListWidget, QPushButton, QVBoxLayout, QWidget
from shiboken6 import isValid

from m3desk.domain.clip import clock
from m3desk_ui.look import deeds, plain

if TYPE_CHECKING:
    from m3desk.domain.correction import Effect
    from m3desk.domain.memory import StoredSentence, Version
    from m3desk_ui.hub.bridge import Hub


class VersionsDialog(QDialog):
    """The sentences of a clip: those in force on the left, those of another writer on the right. Does not block the window."""

    def __init__(self, hub: Hub, clip: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub, self.clip = hub, clip
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Two writers of one clip"))
        self.resize(820, 460)
        self.writer = QComboBox(self)
        self.writer.setAccessibleName(self.tr("Writer"))
        self.again = QPushButton(self.tr("Write again"), self)
        self.again.clicked.connect(self.rewrite)
        self.state = plain.Label(parent=self)
        self.state.setWordWrap(True)
        top = QHBoxLayout()
        top.addWidget(plain.Label(self.tr("Have this clip written by"), self))
        top.addWidget(self.writer)
        top.addWidget(self.again)
        top.addStretch(1)
        self.heads = (plain.Label(parent=self), plain.Label(parent=self))
        self.sides = (QListWidget(self), QListWidget(self))
        both = QHBoxLayout()
        for head, side, name in zip(
            self.heads, self.sides, (self.tr("Sentences now"), self.tr("Sentences of the other writer")), strict=True
        ):
            head.setWordWrap(True)
            side.setWordWrap(True)
            side.setAccessibleName(name)
            column = QVBoxLayout()
            column.addWidget(head)
            column.addWidget(side, 1)
            both.addLayout(column, 1)
        ends = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        self.take = QPushButton(self.tr("Use the new sentences…"), self)
        self.drop = QPushButton(self.tr("Drop them"), self)
        self.take.clicked.connect(self.choose)
        self.drop.clicked.connect(self.dropped)
        for button in (self.take, self.drop):
            ends.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        ends.rejected.connect(self.reject)
        whole = QVBoxLayout(self)
        whole.addLayout(top)
        whole.addWidget(self.state)
        whole.addLayout(both, 1)
        whole.addWidget(ends)
        hub.opened.connect(self.reject)
        self._busy(False)
        if (desk := hub.desk) is not None:
            hub.when(desk.writers(), self._writers)
            self.read()

    def _writers(self, names: list[str]) -> None:
        if isValid(self):
            for name in names:
                self.writer.addItem(self.tr("Rules, without a model") if name == "rules" else plain.line(name, plain.ENTRY), name)
            self.writer.setCurrentIndex(self.writer.count() - 1)

    def read(self) -> None:
        """Show both sides as they are now."""
        if (desk := self.hub.desk) is not None:
            self.hub.when(desk.compare(self.clip), self._show)

    def _show(self, found: tuple[list[StoredSentence], Version | None]) -> None:
        if not isValid(self):
            return
        now, version = found
        writers = ", ".join(dict.fromkeys(s.model for s in now if s.model))
        self.heads[0].setText(self.tr("Now: %1").replace("%1", writers))
        self._fill(self.sides[0], ((s.start, s.shown) for s in now))
        self.heads[1].setText(
            self.tr("New: %1").replace("%1", version.writer) if version else self.tr("This clip was not written again yet.")
        )
        self._fill(self.sides[1], zip((s.start for s in version.sentences), version.shown, strict=True) if version else ())
        self.take.setEnabled(version is not None)
        self.drop.setEnabled(version is not None)

    @staticmethod
    def _fill(side: QListWidget, told: Iterable[tuple[int, str]]) -> None:
        side.clear()
        for start, text in told:
            side.addItem(plain.line(f"{clock(start)}  {text}", plain.PARAGRAPH))

    def _busy(self, busy: bool) -> None:
        self.again.setEnabled(not busy)
        self.take.setEnabled(not busy and self.sides[1].count() > 0)
        self.drop.setEnabled(not busy and self.sides[1].count() > 0)

    def rewrite(self) -> None:
        """Have the clip written by the chosen writer."""
        desk, name = self.hub.desk, self.writer.currentData()
        if desk is None or name is None:
            return
        self._busy(True)
        self.state.setText(self.tr("The clip is being written again; this can take minutes. What is in force does not change."))
        self.hub.when(desk.rewrite([self.clip], name), self._rewritten, self._failed)

    def _rewritten(self, failed: dict[str, str]) -> None:
        if isValid(self):
            self._busy(False)
            self.state.setText(next(iter(failed.values()), ""))
            self.read()

    def _failed(self, error: Exception) -> None:
        if isValid(self):
            self._busy(False)
            self.state.setText("")
        self.hub.tell(error)

    def choose(self) -> None:
        """Say what using the new sentences changes, and do it if the user confirms."""
        desk = self.hub.desk
        if desk is None:
            return

        def previewed(effect: Effect) -> None:
            if not isValid(self) or not self.isVisible():
                return
            question = self.tr("Use the new sentences in place of those of now?")
            more = self.tr("Sentences that you edited, pinned or added stay, and those that knowledge rests on. You can undo this.")
            if plain.sure(
                self, self.tr("Two writers of one clip"), question, f"{deeds.would(effect.text, {})}\n{more}", self.tr("Use them")
            ):
                self.hub.correct("choose", {"clip": self.clip}, then=lambda _effect: self.read() if isValid(self) else None)

        self.hub.when(desk.correct("choose", {"clip": self.clip}, dry_run=True), previewed)

    def dropped(self) -> None:
        """Remove the new sentences."""
        if (desk := self.hub.desk) is not None:
            self.hub.when(desk.drop_version(self.clip), lambda _done: self.read() if isValid(self) else None)
