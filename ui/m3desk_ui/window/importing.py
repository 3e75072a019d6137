"""Imports a file into a new memory beside the open one, which stays open until the new one is whole; shows how far it is."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QObject, Qt
from PySide6.QtWidgets import QHBoxLayout, QMessageBox, QProgressBar, QToolButton, QWidget

from m3desk import events
from m3desk.domain.sample_files import is_graph, is_import
from m3desk.errors import Cancelled
from m3desk_ui.look import plain, texts
from m3desk_ui.memory.sources_view import is_there
from m3desk_ui.window import files

if TYPE_CHECKING:
    from collections.abc import Callable

    from m3desk.ports import Desk, Reader
    from m3desk_ui.window.main_window import MainWindow

NAMES = 1000
"""Names that are tried for a memory of a file that was imported before."""


class ImportStrip(QWidget):
    """What is imported, how far it is, and a button that stops it: stands in the status bar meanwhile."""

    def __init__(self, name: str, stop: Callable[[], object], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = plain.line(name, plain.ENTRY)
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(140)
        self.bar.setAccessibleName(self.tr("Progress of the import"))
        self.text = plain.Count()
        self.cancel = QToolButton()
        self.cancel.setText(self.tr("Cancel"))
        self.cancel.setAutoRaise(True)
        self.cancel.setAccessibleName(self.tr("Cancel the import"))
        plain.tip(self.cancel, self.tr("Stop the import; nothing of it is kept"))
        self.cancel.clicked.connect(lambda: stop())
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 0, 0, 0)
        for widget in (self.bar, self.text, self.cancel):
            row.addWidget(widget)
        self.text.setText(self.tr("Importing %1 …").replace("%1", self._name))

    def show_progress(self, event: events.Progress) -> None:
        """Show a stage with what is done of it, and the time left where it is known."""
        parts = [self.tr("Importing %1").replace("%1", self._name), texts.stage(event.stage)]
        if event.total:
            self.bar.setRange(0, 1000)
            self.bar.setValue(round(1000 * event.done / event.total))
            parts.append(f"{100 * event.done // event.total} %")
            if event.left is not None and event.left >= 1:
                parts.append(self.tr("%1 left").replace("%1", texts.duration(round(event.left * 1e6))))
        else:
            self.bar.setRange(0, 0)
        self.text.setText(" · ".join(parts))


class Importing(QObject):
    """The import that runs, if any. `start` begins one."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window, self._hub = window, window.hub
        self.strip: ImportStrip | None = None
        self._desk: Desk | None = None
        self._ready: list[Any] = []
        self._unsubscribe: Callable[[], None] | None = None
        self._stopped = False

    @property
    def running(self) -> bool:
        return self.strip is not None

    def start(self, file: str, video: str = "") -> None:
        """Import a file into a memory of its default name; ask where it was imported before. `video`: then it is played with this video."""
        if self._refused():
            return

        def named(memory: str) -> None:
            if files.is_memory(memory):
                self._ask(file, memory, video)
            else:
                self._begin(file, memory, video)

        self._hub.work(lambda: self._window.services.default_memory(file), named)

    def _refused(self) -> bool:
        """Return whether another import runs, and say so."""
        if self.running:
            self._hub.notice.emit("info", self.tr("Another file is being imported; try again when it is whole."), "", "")
        return self.running

    def _ask(self, file: str, memory: str, video: str) -> None:
        question = self.tr("%1 was imported before.").replace("%1", plain.line(Path(file).name, plain.ENTRY))
        more = self.tr("Open that memory, with everything that was corrected in it, or import the file once more as a new memory?")
        box = plain.box(self._window, QMessageBox.Icon.Question, self.tr("Import a memory"), question, more)
        open_ = box.addButton(self.tr("Open that memory"), QMessageBox.ButtonRole.AcceptRole)
        again = box.addButton(self.tr("Import once more"), QMessageBox.ButtonRole.ActionRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(open_)
        open_.clicked.connect(lambda: self._window.open_memory(memory))
        again.clicked.connect(lambda: self._begin(file, free(memory), video))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _begin(self, file: str, memory: str, video: str) -> None:
        if self._refused():  # it began since this one was asked for
            return
        self.strip = ImportStrip(Path(file).name, self.stop)
        self._window.statusBar().insertWidget(0, self.strip)
        self.strip.show()
        self._stopped = False

        def opened(desk: Desk) -> None:
            if self._stopped or self.strip is None:
                _close(desk)
                self._end()
                return
            self._desk, self._ready = desk, []
            self._unsubscribe = desk.subscribe(lambda event: self._hub.later(lambda: self._heard(desk, event)))
            done = desk.import_file(file)
            self._hub.when(done, lambda report: self._whole(desk, file, memory, video, report), lambda error: self._failed(desk, error))

        self._hub.work(lambda: self._window.services.open_desk(memory), opened, lambda error: self._failed(None, error))

    def _heard(self, desk: Desk, event: Any) -> None:
        """Follow the progress; keep what the engine tells once, for the views that are shown later."""
        if desk is not self._desk:
            return
        if isinstance(event, events.Progress) and self.strip is not None:
            self.strip.show_progress(event)
        elif isinstance(event, events.EngineReady):
            self._ready.append(event)

    def stop(self) -> None:
        """Stop the import; what it wrote is removed with its memory."""
        self._stopped = True
        if self._desk is not None:
            self._desk.stop_import()
        if self.strip is not None:
            self.strip.cancel.setEnabled(False)
            self.strip.text.setText(self.tr("Stopping …"))

    def shut_down(self) -> None:
        """End with the window: an import that is not whole is removed with its memory."""
        if self.running:
            self.stop()
            desk = self._desk
            self._end()
            if desk is not None:
                desk.close()

    def _whole(self, desk: Desk, file: str, memory: str, video: str, report: dict[str, Any]) -> None:
        if desk is not self._desk:
            return
        ready, stopped = self._ready, self._stopped
        self._end()
        if stopped:
            self._too_late(desk, file, memory)
            return
        self._window.show_imported(desk, memory, ready)
        counts = self.tr("Imported %1 clips, %2 people and %3 memories.")
        for mark, key in (("%1", "clips"), ("%2", "people"), ("%3", "memories")):
            counts = counts.replace(mark, str(report.get(key, 0)))
        lost = "; ".join(map(str, report.get("warnings", ())))
        if video:
            self._hub.read("importing.lacking", lacking, lambda sources: self._give(desk, video, sources, counts, lost))
        elif is_graph(file):
            self._offer(counts, lost)
        else:
            self._hub.notice.emit("info", counts, lost, "")

    def _too_late(self, desk: Desk, file: str, memory: str) -> None:
        """Leave the window as it is, as somebody wanted who stopped the import of a memory that was whole already."""
        _close(desk)
        text = self.tr("%1 was imported before it could be stopped.").replace("%1", plain.line(Path(file).name, plain.ENTRY))
        self._hub.offer.emit(text, self.tr("Open that memory"), lambda: self._window.open_memory(memory))

    def _give(self, desk: Desk, video: str, sources: list[str], counts: str, lost: str) -> None:
        """Give a video to the one source that lacks its file; let the user say which of several it belongs to."""
        if len(sources) > 1:
            self._offer(counts, lost)
            return
        self._hub.notice.emit("info", counts, lost, "")
        for source in sources:
            self._hub.when(desk.relink(source, video))

    def _offer(self, counts: str, lost: str) -> None:
        text = " ".join((counts, self.tr("Its video is not part of the file."), lost)).strip()
        self._hub.offer.emit(text, self.tr("Locate the video…"), self._window.locate_video)

    def _failed(self, desk: Desk | None, error: Exception) -> None:
        if desk is not self._desk or not self.running:
            return
        self._end()
        if desk is not None:
            _close(desk)  # its engine deletes a memory that it made and that holds nothing
        if isinstance(error, Cancelled):
            self._hub.notice.emit("info", self.tr("The import was stopped; nothing of it is kept."), "", "")
        else:
            self._hub.tell(error)

    def _end(self) -> None:
        if self._unsubscribe is not None:
            self._unsubscribe()
        if self.strip is not None:
            self._window.statusBar().removeWidget(self.strip)
            self.strip.deleteLater()
        self.strip = self._desk = self._unsubscribe = None
        self._ready = []


def lacking(reader: Reader) -> list[str]:
    """Return the sources whose video is not there (in the reading thread: it looks at files). A graph names itself in its place."""
    return [s.id for s in reader.sources() if is_import(s.uri) or not is_there(s)]


def filter_of_files() -> str:
    """Return the filter of the dialog that chooses what to import."""
    translate = QCoreApplication.translate
    kinds = translate("Importing", "Memories to import") + " (*.json *.pkl *.pkl.gz *.pickle *.pickle.gz)"
    return f"{kinds};;{translate('Importing', 'All files')} (*)"


def free(memory: str) -> str:
    """Return a path beside a memory that nothing has: “NAME 2.m3desk”."""
    path = Path(memory)
    return next(str(p) for n in range(2, NAMES) if not (p := path.with_name(f"{path.stem} {n}{path.suffix}")).exists())


def _close(desk: Desk) -> None:
    threading.Thread(target=desk.close, name="closing", daemon=True).start()
