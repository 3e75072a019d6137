"""The backends of the models dialog: what each adds, its size and licences; installs and removes them by the command, with progress."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMessageBox, QProgressBar, QPushButton, QVBoxLayout, QWidget

from m3desk import events
from m3desk.errors import M3DeskError, sentence_of
from m3desk_ui.hub.services import command_line
from m3desk_ui.look import plain, texts, theme

if TYPE_CHECKING:
    from m3desk_ui.hub.bridge import Hub

READY = ("ready", "outdated", "own")
_PROGRESS = re.compile(r"[\w.-]+: (\d+) %, (.*)")


def command(*words: str) -> list[str]:
    """Return the command line of `m3desk backends …`."""
    return command_line("backends", *words)


def listed() -> list[dict[str, Any]]:
    """Return `m3desk backends list --json` (blocking). Raises M3DeskError."""
    done = subprocess.run(command("list", "--json"), capture_output=True, text=True, check=False)
    try:
        rows = json.loads(done.stdout)
    except ValueError:
        raise M3DeskError((done.stderr.strip().splitlines() or ["no answer"])[-1]) from None
    return rows if isinstance(rows, list) else []


class Running:
    """A command that installs or removes, in its own process; `stop` ends it, and what it had downloaded is kept."""

    def __init__(self, *words: str) -> None:
        self._process = subprocess.Popen(
            command(*words), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def follow(self, tell: Any) -> None:
        """Call `tell(percent, step)` until it ends (blocking). Raises M3DeskError with its message if it failed."""
        last = ""
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if found := _PROGRESS.fullmatch(line.strip()):
                tell(int(found[1]), found[2])
            elif line.strip():
                last = line.strip()
        if self._process.wait():
            raise M3DeskError(last.removeprefix("m3desk: ") or f"exit {self._process.returncode}")

    def stop(self) -> None:
        """End it as Ctrl-C does."""
        if self._process.poll() is None:
            if sys.platform == "win32":
                self._process.terminate()
            else:
                self._process.send_signal(signal.SIGINT)


_running: dict[str, Running] = {}
"""What is installed or removed now, by backend: it goes on while the dialog is closed, and ends with the window."""


def _stop_all() -> None:
    for running in list(_running.values()):
        running.stop()


class BackendRow(QFrame):
    """One backend: what it adds, its size and state, and what can be done."""

    def __init__(self, row: dict[str, Any], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self.name = str(row["name"])
        self.row = row
        title = plain.Label(self.name, self)
        title.setProperty("heading", True)
        sizes = self.tr("%1 to download, %2 on disk")
        sizes = sizes.replace("%1", texts.megabytes(int(row.get("download_bytes") or 0)))
        sizes = sizes.replace("%2", texts.megabytes(int(row.get("installed_bytes") or 0)))
        what = plain.Label(f"{row.get('adds') or row.get('title') or ''} · {sizes}", self)
        what.setProperty("muted", True)
        what.setWordWrap(True)
        self.state = plain.Label(parent=self)
        self.bar = QProgressBar(self)
        self.bar.setRange(0, 100)
        self.bar.setTextVisible(False)
        self.bar.hide()
        self.action = QPushButton(self)
        self.remove = QPushButton(self.tr("Remove"), self)
        self.remove.setAccessibleName(plain.line(f"{self.remove.text()}: {self.name}"))
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(title)
        words.addWidget(what)
        words.addWidget(self.bar)
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 8, 10, 8)
        line.addLayout(words, 1)
        line.addWidget(self.state)
        line.addWidget(self.remove)
        line.addWidget(self.action)
        plain.tip(self, "\n".join(map(str, (*(row.get("licences") or ()), *(row.get("packages") or ()), row.get("path") or ""))))
        self.show_state(str(row.get("state") or "missing"))

    def show_state(self, state: str, text: str = "") -> None:
        """Show a state of `backends list`, or "working" with what is done."""
        c = theme.colours()
        self.now = state
        names = {
            "missing": self.tr("not installed"),
            "busy": self.tr("in work"),
            "working": self.tr("in work"),
            "interrupted": self.tr("interrupted"),
            "ready": self.tr("ready"),
            "outdated": self.tr("ready, other versions"),
            "damaged": self.tr("damaged"),
            "own": self.tr("in the app's own environment"),
        }
        self.state.setText(text or names.get(state, state))
        self.state.setStyleSheet(f"color: {c.good if state in READY else c.bad if state == 'damaged' else c.muted};")
        self.bar.setVisible(state == "working")
        labels = {"working": self.tr("Stop"), "interrupted": self.tr("Continue …")}
        self.action.setText(labels.get(state, self.tr("Install …")))
        self.action.setAccessibleName(plain.line(f"{self.action.text()}: {self.name}"))
        self.action.setVisible(state not in ("ready", "own", "busy"))
        self.remove.setVisible(state in ("ready", "outdated", "damaged", "interrupted"))

    def progress(self, percent: int, step: str) -> None:
        """Show how far it is."""
        self.show_state("working", f"{percent} %")
        self.bar.setValue(percent)
        plain.tip(self.bar, step)


class BackendsList(QWidget):
    """All backends; asks before it installs or removes one. Progress is also told to the status bar."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self.rows: dict[str, BackendRow] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 8, 0, 0)
        self._column.setSpacing(6)
        head = plain.Label(self.tr("Backends with an environment of their own"), self)
        head.setProperty("heading", True)
        self.error = plain.Label(parent=self)
        self.error.setWordWrap(True)
        self.error.hide()
        self._column.addWidget(head)
        self._column.addWidget(self.error)
        self.hide()
        self.refresh()

    def refresh(self) -> None:
        """Ask which backends there are."""
        self.hub.work(lambda: listed(), self._show, self._failed)

    def _show(self, rows: list[dict[str, Any]]) -> None:
        for old in self.rows.values():
            self._column.removeWidget(old)
            old.deleteLater()
        self.rows = {}
        for data in rows:
            row = BackendRow(data, self)
            row.action.clicked.connect(lambda _on=False, name=row.name: self._act(name))
            row.remove.clicked.connect(lambda _on=False, name=row.name: self._ask_remove(name))
            self._column.addWidget(row)
            self.rows[row.name] = row
            if row.name in _running:
                row.show_state("working")
        self.setVisible(bool(rows))

    def _failed(self, error: Exception) -> None:
        self.error.setText(sentence_of(error))
        self.error.show()
        self.show()

    def _act(self, name: str) -> None:
        if name in _running:
            _running[name].stop()
        else:
            self._ask_install(name)

    def _ask_install(self, name: str) -> None:
        row = self.rows[name].row
        more = self.tr("%1 to download, %2 on disk, in an environment of its own.\nLicences: %3")
        more = more.replace("%1", texts.megabytes(int(row.get("download_bytes") or 0)))
        more = more.replace("%2", texts.megabytes(int(row.get("installed_bytes") or 0))).replace("%3", "; ".join(row.get("licences") or ()))
        self._ask(self.tr("Install %1?").replace("%1", name), more, self.tr("Install"), lambda: self.run(name, "install"))

    def _ask_remove(self, name: str) -> None:
        more = self.tr("It can be installed again. Memories are not changed.")
        text = self.tr("Remove %1 from this machine?").replace("%1", name)
        self._ask(text, more, self.tr("Remove"), lambda: self.run(name, "remove"), QMessageBox.ButtonRole.DestructiveRole)

    def _ask(self, text: str, more: str, word: str, then: Any, role: Any = QMessageBox.ButtonRole.AcceptRole) -> None:
        box = plain.box(self, QMessageBox.Icon.Question, self.tr("Backends"), text, more)
        go = box.addButton(word, role)
        box.addButton(QMessageBox.StandardButton.Cancel)
        go.clicked.connect(then)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def run(self, name: str, action: str) -> None:
        """Install or remove a backend; its row and the status bar show how far it is."""
        self.error.hide()
        row = self.rows[name].row
        total = int(row.get("download_bytes") or 0) + int(row.get("installed_bytes") or 0)
        running = Running(action, name, "--yes")
        if not _running and (app := QCoreApplication.instance()) is not None:
            app.aboutToQuit.connect(_stop_all)
        _running[name] = running
        self.rows[name].progress(0, "")
        hub = self.hub

        def told(percent: int, step: str) -> None:
            def show() -> None:
                hub.downloading.emit(events.Downloading(name, total * percent // 100, total, "working"))
                if (here := self._row(name)) is not None:
                    here.progress(percent, step)

            hub.later(show)

        def ended(error: Exception | None) -> None:
            _running.pop(name, None)
            hub.downloading.emit(events.Downloading(name, 0, 0, "failed" if error else "done", sentence_of(error) if error else None))
            if self._row(name) is not None:
                self.refresh()
                if error is not None:
                    self._failed(error)

        hub.work(lambda: running.follow(told), lambda _none: ended(None), ended)

    def _row(self, name: str) -> BackendRow | None:
        """Return a row; None if the dialog is gone."""
        try:
            self.isVisible()
        except RuntimeError:  # deleted by Qt
            return None
        return self.rows.get(name)


__all__ = ["BackendRow", "BackendsList", "Running", "command", "listed"]
