"""Teaches the memory a person from photos of their face and recordings of their voice: chosen, or dropped onto the dialog."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from m3desk.domain.sample_files import PICTURES, is_picture
from m3desk.errors import sentence_of
from m3desk_ui.look import deeds, plain, theme

if TYPE_CHECKING:
    from m3desk.domain.correction import Effect
    from m3desk.domain.people import Person
    from m3desk_ui.hub.bridge import Hub

SOUNDS = ("*.wav", "*.mp3", "*.flac", "*.ogg", "*.opus", "*.m4a", "*.aac", "*.mp4", "*.mkv", "*.mov", "*.webm")
FILE = Qt.ItemDataRole.UserRole


class TeachPerson(QDialog):
    """Takes a name and files; `person`: who is taught more, whose name stands there already."""

    def __init__(self, hub: Hub, person: Person | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAcceptDrops(True)
        self.hub = hub
        self._working = False
        self.setWindowTitle(self.tr("Teach a person"))
        self.resize(480, 420)
        about = plain.Label(
            self.tr("From a photo (one face) or a recording (one voice), somebody is recognised from now on.")
            + " "
            + self.tr("To teach a face or words of this video, click them there and choose “This is…”.")
        )
        about.setWordWrap(True)
        about.setProperty("muted", True)
        self.name = QLineEdit(person.name or "" if person is not None else "")
        self.name.setPlaceholderText(self.tr("Name"))
        self.name.setAccessibleName(self.tr("Name of the person"))
        self.name.textChanged.connect(lambda _text: self._enable())
        self.files = QListWidget()
        self.files.setAccessibleName(self.tr("Photos and recordings"))
        self.files.setSelectionMode(QListWidget.SelectionMode.ExtendedSelection)
        self.files.itemSelectionChanged.connect(self._enable)
        self.drop = plain.Label(self.tr("Drop photos and recordings here."))
        self.drop.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.drop.setProperty("muted", True)
        self.add = QPushButton(self.tr("Add files…"))
        self.add.setAutoDefault(False)
        self.add.clicked.connect(self.choose)
        self.remove = QPushButton(self.tr("Remove"))
        plain.tip(self.remove, self.tr("Take the selected files from this list (Delete)"))
        self.remove.setAutoDefault(False)
        self.remove.clicked.connect(self.take_out)
        self.said = plain.Label()
        self.said.setWordWrap(True)
        self.said.setAccessibleName(self.tr("What went wrong"))
        self.said.hide()
        self.busy = QProgressBar()
        self.busy.setRange(0, 0)
        self.busy.setTextVisible(False)
        self.busy.setAccessibleName(self.tr("Looking at the files"))
        self.busy.hide()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self.teach = QPushButton(self.tr("Teach"))
        self.teach.clicked.connect(self.apply)
        buttons.addButton(self.teach, QDialogButtonBox.ButtonRole.AcceptRole)
        self.teach.setDefault(True)
        buttons.rejected.connect(self.reject)
        row = QHBoxLayout()
        row.addWidget(self.add)
        row.addWidget(self.remove)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setSpacing(10)
        for widget in (about, self.name, self.files, self.drop):
            column.addWidget(widget, 1 if widget in (self.files, self.drop) else 0)
        column.addLayout(row)
        column.addWidget(self.busy)
        column.addWidget(self.said)
        column.addWidget(buttons)
        hub.opened.connect(self.reject)
        self._enable()
        self.name.setFocus()

    def paths(self) -> list[str]:
        """Return the chosen files."""
        return [self.files.item(i).data(FILE) for i in range(self.files.count())]

    def put(self, paths: Sequence[str]) -> None:
        """Add files; one that is there already is not added again."""
        there = set(self.paths())
        for path in dict.fromkeys(paths):
            if path not in there:
                icon = theme.icon("mdi6.image-outline" if is_picture(path) else "mdi6.waveform")
                item = QListWidgetItem(icon, plain.line(Path(path).name, plain.ENTRY))
                item.setData(FILE, path)
                plain.tip(item, path)
                self.files.addItem(item)
        self.said.hide()
        self._enable()

    def take_out(self) -> None:
        """Remove the selected files from the list."""
        for item in self.files.selectedItems():
            self.files.takeItem(self.files.row(item))
        self._enable()

    def choose(self) -> None:
        endings = " ".join([*(f"*{e}" for e in PICTURES), *SOUNDS])
        kinds = f"{self.tr('Pictures and recordings')} ({endings});;{self.tr('All files')} (*)"
        chosen, _ = QFileDialog.getOpenFileNames(self, self.tr("Photos and recordings of the person"), "", kinds)
        self.put(chosen)

    def _enable(self) -> None:
        some = self.files.count() > 0
        self.files.setVisible(some)
        self.drop.setVisible(not some)
        self.teach.setEnabled(bool(self.name.text().strip()) and some and not self._working)
        self.remove.setEnabled(bool(self.files.selectedItems()) and not self._working)
        self.add.setEnabled(not self._working)

    def _work(self, working: bool) -> None:
        self._working = working
        self.busy.setVisible(working)
        self._enable()

    def apply(self) -> None:
        """Teach; what went wrong is said here, and the files stay."""
        desk = self.hub.desk
        if desk is None or not self.teach.isEnabled():
            return
        self.said.hide()
        self._work(True)

        def done(effect: Effect) -> None:
            self.hub.offer.emit(deeds.done(effect.text), "undo", self.hub.undo)
            if isValid(self):
                self._work(False)
                self.accept()

        def failed(error: Exception) -> None:
            if isValid(self):
                self._work(False)
                self.said.setText(sentence_of(error))
                self.said.show()
            else:
                self.hub.tell(error)

        self.hub.when(desk.correct("enroll", {"name": self.name.text().strip(), "files": self.paths()}), done, failed)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.focusWidget() is self.files:
            self.take_out()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self.put([u.toLocalFile() for u in event.mimeData().urls() if u.isLocalFile()])


def ask(hub: Hub, person: str, parent: QWidget) -> None:
    """Open the dialog, about a person or, for "", about somebody whose name is typed."""
    if not person:
        TeachPerson(hub, None, parent).open()
        return

    def read(found: list[Person]) -> None:
        TeachPerson(hub, found[0] if found else None, parent).open()

    hub.read("teach", lambda reader: reader.people_of((person,)), read)
