"""The models dialog: lists installed and missing models with their sizes; downloads, checks and removes them."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from m3desk import events
from m3desk.errors import M3DeskError, as_sentence, sentence_of
from m3desk_ui.hub.services import command_line
from m3desk_ui.look import plain, texts, theme
from m3desk_ui.window import profile_card
from m3desk_ui.window.backends_list import BackendsList

if TYPE_CHECKING:
    from m3desk_ui.hub.bridge import Hub

HERE = ("ready", "shipped")
"""States of `models list` in which a model can be used; the others are incomplete, damaged and missing."""
SHIPPED = ("shipped",)


def purpose(name: str) -> str:
    """Return the purpose of a model by its name; "" for an unknown one."""
    say = (
        ("yunet", QCoreApplication.translate("ModelsDialog", "finds faces")),
        ("sface", QCoreApplication.translate("ModelsDialog", "recognises faces")),
        ("silero", QCoreApplication.translate("ModelsDialog", "detects speech")),
        ("campplus", QCoreApplication.translate("ModelsDialog", "recognises voices")),
        ("pyannote", QCoreApplication.translate("ModelsDialog", "detects overlapping speech")),
        ("dlib", QCoreApplication.translate("ModelsDialog", "another model that recognises faces (optional)")),
        ("auraface", QCoreApplication.translate("ModelsDialog", "another model that recognises faces (optional)")),
        ("buffalo", QCoreApplication.translate("ModelsDialog", "another model that recognises faces (optional, for research only)")),
        ("ge2e", QCoreApplication.translate("ModelsDialog", "another model that recognises voices (optional)")),
        ("ecapa", QCoreApplication.translate("ModelsDialog", "another model that recognises voices (optional)")),
        ("whisper", QCoreApplication.translate("ModelsDialog", "transcribes speech")),
        ("ssd", QCoreApplication.translate("ModelsDialog", "detects objects")),
        ("rapidocr", QCoreApplication.translate("ModelsDialog", "reads text on the screen")),
        ("e5", QCoreApplication.translate("ModelsDialog", "finds memories by meaning")),
        ("qwen3-vl", QCoreApplication.translate("ModelsDialog", "sees clips and tells what happens in them (optional)")),
        ("smolvlm", QCoreApplication.translate("ModelsDialog", "sees clips and tells what happens in them (optional)")),
        ("omni", QCoreApplication.translate("ModelsDialog", "sees and hears clips and tells what happens in them (optional)")),
        ("memorization", QCoreApplication.translate("ModelsDialog", "sees and hears clips and tells what happens in them (optional)")),
        ("qwen3", QCoreApplication.translate("ModelsDialog", "a larger model that answers in its own words (optional)")),
        ("control", QCoreApplication.translate("ModelsDialog", "a larger model that answers in its own words (optional)")),
        ("qwen", QCoreApplication.translate("ModelsDialog", "writes knowledge and answers in its own words")),
        ("demo", QCoreApplication.translate("ModelsDialog", "the demo clip, public domain")),
    )
    return next((text for key, text in say if key in name.lower()), "")


def is_llm(row: dict[str, Any]) -> bool:
    """Return whether a row of `models list` is the language model."""
    return row.get("profile") == "llm"


def is_needed(row: dict[str, Any]) -> bool:
    """Return whether the app needs a model for its main function: not the language model, the demo clip, nor what is offered besides."""
    return row.get("profile") not in ("llm", "demo", "extra", "own")


def ask_engine(*words: str) -> str:
    """Run `m3desk models …` and return its output (blocking). Raises M3DeskError with the command's message if it fails."""
    done = subprocess.run(command_line("models", *words), capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise M3DeskError(lines[-1] if lines else f"exit {done.returncode}")
    return done.stdout


class ModelRow(QFrame):
    """One model: purpose, size, licence, state, and available actions."""

    download = Signal(str)
    verify = Signal(str)
    remove = Signal(str)

    def __init__(self, row: dict[str, Any], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self.name = str(row["name"])
        title = plain.Label(f"{self.name}", self)
        title.setProperty("heading", True)
        about = [
            purpose(self.name) or str(row.get("title") or ""),
            texts.megabytes(int(row.get("bytes") or 0)) if row.get("bytes") else "",
            str(row.get("licence") or ""),
            "" if row.get("verified", True) else self.tr("not verified by us"),
        ]
        what = plain.Label(" · ".join(a for a in about if a), self)
        what.setProperty("muted", True)
        what.setWordWrap(True)
        self.state = plain.Label(parent=self)
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.hide()
        self.action = QPushButton(self)
        self.check = QPushButton(self.tr("Check"), self)
        plain.tip(self.check, self.tr("Compare the files with their checksums"))
        self.check.clicked.connect(lambda: self.verify.emit(self.name))
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(title)
        words.addWidget(what)
        if measured := row.get("calibrated"):
            words.addWidget(self._measured(measured))
        words.addWidget(self.bar)
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 8, 10, 8)
        line.addLayout(words, 1)
        line.addWidget(self.state)
        line.addWidget(self.check)
        line.addWidget(self.action)
        self.action.clicked.connect(self._act)
        lines = (row.get("title"), row.get("origin"), f"sha256 {row.get('sha256') or '?'}", row.get("path"))
        plain.tip(self, "\n".join(str(line) for line in lines if line))
        self.show_state(str(row.get("state") or "missing"))

    def _measured(self, found: dict[str, Any]) -> plain.Label:
        """Return the line that says what the user measured its thresholds on (m3desk calibrate)."""
        text = self.tr("Thresholds measured by you: %1 people, %2 files, %3")
        for place, value in (("%1", int(found.get("people") or 0)), ("%2", int(found.get("files") or 0)), ("%3", str(found["at"])[:10])):
            text = text.replace(place, str(value))
        label = plain.Label(text, self)
        label.setProperty("muted", True)
        label.setWordWrap(True)
        return label

    def show_state(self, state: str) -> None:
        """Show a state: one of `models list`, "working" or "failed"."""
        c = theme.colours()
        self.now = state
        here = state in HERE
        names = {
            "working": self.tr("downloading …"),
            "failed": self.tr("failed"),
            "missing": self.tr("not installed"),
            "incomplete": self.tr("partly downloaded"),
            "damaged": self.tr("damaged"),
            "shipped": self.tr("comes with the app"),
        }
        self.state.setText(names.get(state, self.tr("ready") if here else state))
        colour = c.good if here else c.bad if state in ("failed", "damaged") else c.muted
        self.state.setStyleSheet(f"color: {colour};")
        self.action.setVisible(state not in SHIPPED)
        self.action.setEnabled(state != "working")
        download = self.tr("Download again") if state in ("damaged", "failed") else self.tr("Download")
        self.action.setText(self.tr("Remove") if here else download)
        self.action.setAccessibleName(plain.line(f"{self.action.text()}: {self.name}"))
        self.check.setVisible(here)
        self.bar.setVisible(state == "working")

    def progress(self, done: int, total: int) -> None:
        """Show a download's progress; total 0 = unknown."""
        if self.now != "working":
            self.show_state("working")
        self.bar.setRange(0, 1000 if total else 0)
        if total:
            self.bar.setValue(done * 1000 // total)
            self.state.setText(f"{texts.megabytes(done)} / {texts.megabytes(total)}")

    def _act(self) -> None:
        (self.remove if self.now in HERE else self.download).emit(self.name)


class ModelsDialog(QDialog):
    """Shows `models list`; uses the open desk, or runs the command if no memory is open."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self.rows: dict[str, ModelRow] = {}
        self._all: list[dict[str, Any]] = []
        self.setWindowTitle(self.tr("Models"))
        self.resize(640, 560)
        lead = plain.Label(
            self.tr("All models run on this machine. They are downloaded only when you ask for them, and verified afterwards."), self
        )
        lead.setWordWrap(True)
        lead.setProperty("muted", True)
        self.device = plain.Label(parent=self)
        self.device.setWordWrap(True)
        self.device.setProperty("muted", True)
        self.device.hide()
        self.offer = QFrame(self)
        self.offer.setProperty("card", True)
        self.offer_text = plain.RichLabel(self.offer)
        self.offer_text.setWordWrap(True)
        self.offer_go = QPushButton(self.tr("Download"), self.offer)
        self.offer_go.setProperty("primary", True)
        self.offer_go.clicked.connect(self._download_llm)
        line = QHBoxLayout(self.offer)
        line.setContentsMargins(12, 10, 12, 10)
        line.addWidget(self.offer_text, 1)
        line.addWidget(self.offer_go)
        self.offer.hide()
        self._list = QWidget(self)
        self._column = QVBoxLayout(self._list)
        self._column.setContentsMargins(0, 0, 6, 0)
        self._column.setSpacing(6)
        self.backends = BackendsList(hub, self._list)
        self._column.addWidget(self.backends)
        self._column.addStretch(1)
        scroll = QScrollArea(self)
        scroll.setAccessibleName(self.tr("Models"))
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setWidget(self._list)
        self.state = plain.Label(self.tr("Checking …"), self)
        self.state.setWordWrap(True)
        self.state.setProperty("muted", True)
        self.missing = QPushButton(self.tr("Download missing models"), self)
        self.missing.clicked.connect(self._download_missing)
        self.missing.hide()
        close = QPushButton(self.tr("Close"), self)
        close.clicked.connect(self.accept)
        close.setDefault(True)
        close.setFocus()  # else Enter downloads a gigabyte
        foot = QHBoxLayout()
        foot.addWidget(self.state, 1)
        foot.addWidget(self.missing)
        foot.addWidget(close)
        column = QVBoxLayout(self)
        column.setSpacing(10)
        column.addWidget(lead)
        column.addWidget(self.device)
        column.addWidget(self.offer)
        column.addWidget(scroll, 1)
        column.addLayout(foot)
        hub.downloading.connect(self.on_event)
        hub.work(lambda: profile_card.facts(), self._show_devices, lambda _error: None)
        self.refresh()

    # ------------------------------------------------------------ reading

    def refresh(self) -> None:
        """Ask which models there are."""
        if self.hub.desk is not None:
            self.hub.when(self.hub.desk.models(), self._show, self._failed)
        else:
            self.hub.work(lambda: json.loads(ask_engine("list", "--json")), self._show, self._failed)

    def _show_devices(self, told: dict[str, Any]) -> None:
        """Say which graphics cards there are, with what is free on them now, and what the engines of models see."""
        if isValid(self) and told:
            self.device.setText(profile_card.devices(told))
            self.device.show()

    def _show(self, rows: list[dict[str, Any]]) -> None:
        self._all = rows
        for row in self.rows.values():
            self._column.removeWidget(row)
            row.deleteLater()
        self.rows = {}
        order = sorted(rows, key=lambda r: (r.get("state") in HERE, not is_llm(r)))
        for number, data in enumerate(order):
            row = ModelRow(data, self._list)
            row.download.connect(lambda name: self.download([name]))
            row.verify.connect(self._verify)
            row.remove.connect(self._ask_remove)
            self._column.insertWidget(number, row)
            self.rows[row.name] = row
        here = sum(int(r.get("bytes") or 0) for r in rows if r.get("state") in HERE)
        lacking = [r for r in rows if r.get("state") not in HERE and is_needed(r)]
        self.missing.setVisible(bool(lacking))
        self.state.setText(self.tr("%1 on this machine").replace("%1", texts.megabytes(here)))
        llm = next((r for r in rows if is_llm(r)), None)
        self.offer.setVisible(llm is not None and llm.get("state") not in HERE)
        if llm is not None:
            size = texts.megabytes(int(llm.get("bytes") or 0))
            head = self.tr("Answers in its own words, and general knowledge in addition to events")
            text = self.tr(
                "The language model %1 (%2, %3) does this on this machine. Without it, answers quote the best matching memories."
            )
            text = text.replace("%1", str(llm["name"])).replace("%2", size).replace("%3", str(llm.get("licence") or ""))
            self.offer_text.setText(f"<b>{plain.html(head)}</b><br>{plain.html(text)}")
            self.offer_go.setText(self.tr("Download %1").replace("%1", size))
            self.offer_go.setEnabled(True)

    def _failed(self, error: Exception) -> None:
        self.state.setText(sentence_of(error))
        for row in self.rows.values():
            if row.now == "working":
                row.show_state("failed")
        self.offer_go.setEnabled(True)

    # ------------------------------------------------------------ downloading

    def _download_llm(self) -> None:
        names = [str(r["name"]) for r in self._all if is_llm(r)]
        self.offer_go.setEnabled(False)
        self.download(names, llm=True)

    def _download_missing(self) -> None:
        self.download([str(r["name"]) for r in self._all if r.get("state") not in HERE and is_needed(r)])

    def download(self, names: list[str], *, llm: bool = False) -> None:
        """Download models; progress arrives as Downloading events (only the end if no memory is open)."""
        llm = llm or any(is_llm(r) for r in self._all if r["name"] in names)
        if terms := [r for r in self._all if r["name"] in names and r.get("terms") and not r.get("accepted")]:
            self._ask_terms(terms[0])
            return
        for name in names:
            if name in self.rows:
                self.rows[name].progress(0, 0)
        if self.hub.desk is not None:
            self.hub.when(self.hub.desk.pull(llm=llm, names=names), lambda _none: self.refresh(), self._failed)
        else:
            self.hub.work(
                lambda: ask_engine("pull", *names, *(["--llm"] if llm else []), "--yes"), lambda _out: self.refresh(), self._failed
            )

    def _ask_terms(self, row: dict[str, Any]) -> None:
        """Show a model's terms; download it once they are accepted, which is kept on file."""
        name = str(row["name"])
        text = self.tr("%1 has terms that you must accept.").replace("%1", name)
        box = plain.box(self, QMessageBox.Icon.Warning, self.tr("Terms"), text, str(row["terms"]))
        go = box.addButton(self.tr("Accept and download"), QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)

        def accepted() -> None:
            self.rows[name].progress(0, 0)
            self.hub.work(lambda: ask_engine("pull", name, "--yes", "--accept-licence"), lambda _out: self.refresh(), self._failed)

        go.clicked.connect(accepted)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def on_event(self, event: object) -> None:
        """Take Downloading events."""
        if not isinstance(event, events.Downloading):
            return
        row = self.rows.get(event.name)
        if row is None:
            return
        if event.state == "working":
            row.progress(event.done, event.total)
        elif event.state == "failed":
            row.show_state("failed")
            self.state.setText(as_sentence(event.error or "") or self.tr("%1 could not be downloaded.").replace("%1", event.name))
        else:
            row.show_state("ready")

    def _verify(self, name: str) -> None:
        self.state.setText(self.tr("Checking %1 …").replace("%1", name))
        good = self.tr("%1 is complete and undamaged.").replace("%1", name)
        self.hub.work(lambda: ask_engine("verify", name), lambda _out: self.state.setText(good), self._failed)

    def _ask_remove(self, name: str) -> None:
        text, more = (
            self.tr("Remove %1 from this machine?").replace("%1", name),
            self.tr("It can be downloaded again. Memories are not changed."),
        )
        box = plain.box(self, QMessageBox.Icon.Question, self.tr("Remove model"), text, more)
        go = box.addButton(self.tr("Remove"), QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        go.clicked.connect(lambda: self._remove(name))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _remove(self, name: str) -> None:
        if self.hub.desk is not None:
            self.hub.when(self.hub.desk.remove_model(name), lambda _none: self.refresh(), self._failed)
        else:
            self.hub.work(lambda: ask_engine("remove", name, "--yes"), lambda _out: self.refresh(), self._failed)
