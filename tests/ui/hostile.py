"""A hostile memory for the window's tests, a record of opened files, and a check of all text on the screen."""

from __future__ import annotations

import ctypes
import os
import re
import struct
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import QAction, QImage, QTextDocument
from PySide6.QtGui import Qt as QtText
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QGroupBox,
    QLabel,
    QLineEdit,
    QMenu,
    QMessageBox,
    QTabBar,
    QTextEdit,
    QWidget,
)

from m3desk.domain.correction import Effect
from m3desk.domain.graph import GraphSnapshot
from m3desk.domain.people import SuggestedName
from m3desk.domain.questions.types import Reason, Verdict
from m3desk.errors import CorrectionError
from tests.ui.fakes import FakeDesk, FakeReader, World

ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffc\ufffe\uffff\ud800-\udfff]")
"""What must not reach the screen as it is. (The object replacement character stands for a picture in a QTextDocument.)"""
TEXT_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.EditRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.StatusTipRole,
    Qt.ItemDataRole.WhatsThisRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.AccessibleDescriptionRole,
)
LONGEST = 25_000
MARK = "<img src="


class Baits:
    """An existing file, a FIFO and a folder that nothing may open. A FIFO has a writer here, so that a fault fails and does not hang."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "baits"
        self.folder.mkdir()
        self.file = self.folder / "x.png"
        self.file.write_bytes(b"not a picture")
        self.fifo = self.folder / "f"
        os.mkfifo(self.fifo)
        self._writer = os.open(self.fifo, os.O_RDWR | os.O_NONBLOCK)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._watch = self._libc.inotify_init1(os.O_NONBLOCK)
        opened, accessed = 0x20, 0x1
        assert self._watch >= 0
        assert self._libc.inotify_add_watch(self._watch, str(self.folder).encode(), opened | accessed) >= 0

    def opened(self) -> list[str]:
        """Return the names of what was opened since the last call."""
        try:
            data = os.read(self._watch, 1 << 16)
        except BlockingIOError:
            return []
        names, at = [], 0
        while at < len(data):
            _, _, _, length = struct.unpack_from("iIII", data, at)
            names.append(data[at + 16 : at + 16 + length].rstrip(b"\0").decode())
            at += 16 + length
        return names

    def close(self) -> None:
        os.close(self._watch)
        os.close(self._writer)

    def evil(self, number: int | str = "") -> str:
        """Return a text with everything in it that a widget could take for more than text."""
        return (
            f"Ann{number} <img src='file://{self.file}'><img src=\"{self.fifo}\"> <a href='file://{self.file}'>here</a> &file "
            f"<style>@import url('file://{self.file}'); p {{ background-image: url({self.fifo}) }}</style> <table background='{self.file}'>"
            f"&lt;b&gt; \u202etxet\u202c \u2067x\u2069 \0 \x1b[31mred \ufdd0\ufffc\u2028 \U0001f469\u200d\U0001f680 [*] \tend"
        )


def can_watch() -> bool:
    return sys.platform == "linux"


def hostile_world(baits: Baits) -> World:
    """Return the invented memory with every text in it hostile, some of 5,000 characters."""
    world = World(extra_nodes=0)
    evil = baits.evil
    long_ = "W" * 5000

    def name(person: str | None) -> str:
        number = int((person or "person_0").split("_")[1])
        return evil(number) + (long_ if number == 3 else "") + ("?" if number == 3 else "")

    world.sources = [replace(s, uri=f"/videos/{evil(s.id)}.mp4", error=evil("error") if s.error else None) for s in world.sources]
    world.tracks = [replace(r, shown=name(r.person)) for r in world.tracks]
    world.speech = [
        replace(r, shown=name(r.person), utterance=replace(r.utterance, text=evil(i) + (long_ if i == 2 else "")))
        for i, r in enumerate(world.speech)
    ]
    world.sentences = [
        replace(s, shown=evil(s.id) + (long_ if s.id == "m2" else ""), text=evil(s.id), tagged=evil(s.id), model=evil("model"),
                topic=evil("topic") if s.id == "k1" else s.topic, valid_until=evil("until") if s.id == "k2" else None)
        for s in world.sentences
    ]  # fmt: skip
    world.objects = [replace(o, label=evil("cup")) for o in world.objects]
    world.texts = [replace(t, text=evil("screen")) for t in world.texts]
    suggested = (SuggestedName(evil("maybe"), 0.8, ("screen:0-6",), evil("heard") + long_), SuggestedName(evil("or"), 0.2, (), evil()))
    world.people = [
        replace(p, shown=name(p.id), name=name(p.id) if p.name else None, aliases=(evil("alias"), long_),
                suggested_names=suggested if p.name is None else ())
        for p in world.people
    ]  # fmt: skip
    world.people = [replace(p, name_state="suggested") if p.name is None else p for p in world.people]
    world.questions = [replace(q, effect=evil("effect"), question=evil(), name=evil("name") if q.name else None) for q in world.questions]
    world.steps = [replace(s, text=evil("step"), why=evil("why"), args={"name": evil()}) for s in world.steps]
    world.chats = [chat(evil, found) for found in (True, False)] + [{**chat(evil, True), "error": evil("error")}]
    world.chats.append({**chat(evil, True), "quoted": True, "question": long_})
    plain_graph = world.graph

    def graph() -> GraphSnapshot:
        found = plain_graph()
        nodes = tuple(replace(n, label=evil(n.id), content=evil(n.id) + (long_ if n.id == "o1" else "")) for n in found.nodes)
        return replace(found, nodes=nodes)

    world.graph = graph  # type: ignore[method-assign]
    return world


def chat(evil: Any, found: bool) -> dict[str, Any]:
    """Return a stored question with its rounds and answer."""
    mark = f"[{evil('mark')[:30]}]"
    return {
        "question": evil("question"),
        "answer": f"{evil('answer')} [00:37] {mark}. {evil()}",
        "found": found,
        "citations": [
            {"clip": "s1.c1", "source": "s1", "start": 37_000_000, "end": 42_000_000, "node": "m2"},
            {"clip": "s1.c1", "source": "s1", "start": 38_000_000, "end": 42_000_000, "node": "m2"},
        ],
        "marks": ["[00:37]", mark],
        "rounds": [
            {"action": "search", "query": evil("query"), "results": ["m2", "s1.c1", evil("id")], "shown": [evil(), evil(), evil()]},
            {"action": evil("action"), "query": "", "results": [], "shown": []},
        ],
        "model": evil("model"),
        "seconds": 1.0,
    }


class HostileReader(FakeReader):
    evil = ""

    def why(self, observation: str) -> Verdict:
        votes = (Reason("likeness", "s1.c1.f0", 0.82, self.evil),)
        return Verdict(observation, "n1", "person_1", 0.71, "person_2", 0.2, self.evil, votes, flips="s1.c1.f0")


class HostileDesk(FakeDesk):
    """Effects, errors and model names hold what comes from the memory, too."""

    def __init__(self, world: World, evil: str, *, memory: str) -> None:
        super().__init__(world, memory=memory)
        self.evil = evil

    def reader(self) -> FakeReader:
        reader = HostileReader(self.world, self.memory)
        reader.evil = self.evil
        return reader

    def correct(self, kind: str, args: Any, *, why: str | None = None, dry_run: bool = False) -> Any:
        future = super().correct(kind, args, why=why, dry_run=dry_run)
        effect: Effect = future.result()
        effect_ = replace(effect, text=self.evil, memories=tuple(f"m{i}" for i in range(60)))
        future._result = effect_
        return future

    def remove_source(self, source: str, *, dry_run: bool = False) -> Any:
        future = super().remove_source(source, dry_run=True)
        future._result = Effect(self.evil)
        return future

    def undo(self) -> Any:
        future = super().undo()
        future._result, future._exception = None, CorrectionError(self.evil, self.evil)
        return future

    def models(self) -> Any:
        future = super().models()
        for row in future.result():
            row |= {"name": row["name"] + self.evil, "title": self.evil, "licence": self.evil, "origin": self.evil, "path": self.evil}
        return future


# ---------------------------------------------------------------- what is on the screen


class _Blind(QTextDocument):
    """A document of the tests' own, which must not be what opens a file."""

    def loadResource(self, type_: int, name: object) -> object:
        return QImage(1, 1, QImage.Format.Format_ARGB32)


def wrong_in_html(html: str, where: str) -> list[str]:
    """Return what a text that Qt takes for HTML would do besides being read."""
    return [f"{where}: {fault}" for fault in _wrong_in_html(html)]


@lru_cache(maxsize=5000)
def _wrong_in_html(html: str) -> list[str]:
    document = _Blind()
    document.setHtml(html)
    found = []
    for name in re.findall(r"<img src=\"([^\"]*)\"", document.toHtml()):
        if not name.startswith("picture:"):
            found.append(f"shows the picture {name}")
    for name in re.findall(r"<a href=\"([^\"]*)\"", document.toHtml()):
        if not re.fullmatch(r"m3://.*|[a-z]+", name):
            found.append(f"links to {name}")
    tags = "".join(re.findall(r"<[^<>]*>", document.toHtml()))
    if "background=" in tags or "url(" in tags:
        found.append("has a background")
    return found + wrong_in_text(document.toPlainText().replace("\ufffc", ""), "in it")


def wrong_in_text(text: str, where: str) -> list[str]:
    found = [f"{where}: {hit!r} in {text[:60]!r}" for hit in ACTS.findall(text)[:1]]
    return found + ([f"{where}: {len(text)} characters"] if len(text) > LONGEST else [])


def wrong_in_tip(text: str, where: str) -> list[str]:
    """Look at a text of which Qt guesses whether it is HTML."""
    return wrong_in_html(text, where) if QtText.mightBeRichText(text) else wrong_in_text(text, where)


def mnemonics(text: str) -> int:
    return text.replace("&&", "").count("&")


def wrong_in_model(model: QAbstractItemModel | None, where: str) -> Iterator[str]:
    if model is None:
        return
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount()
    for row in range(min(model.rowCount(), 8)):
        for column in range(columns):
            index = model.index(row, column, QModelIndex())
            for role in TEXT_ROLES:
                value = index.data(role)
                if isinstance(value, str):
                    place = f"{where}[{row},{column}] {role.name}"
                    yield from (wrong_in_tip if role == Qt.ItemDataRole.ToolTipRole else wrong_in_text)(value, place)
    for column in range(columns):
        yield from wrong_in_text(str(model.headerData(column, Qt.Orientation.Horizontal) or ""), f"{where} header {column}")


def wrong_in_action(action: QAction, where: str) -> Iterator[str]:
    text = action.text()
    yield from wrong_in_text(text, f"{where} action")
    yield from wrong_in_tip(action.toolTip(), f"{where} action's tip")
    if mnemonics(text) > 1 or (MARK in text and mnemonics(text)) or "\t" in text:
        yield f"{where}: the action {text[:60]!r} has a mnemonic or a shortcut in it"


def wrong_in_widget(widget: QWidget) -> Iterator[str]:
    """Return what foreign text does in one widget besides being read."""
    where = f"{type(widget).__name__} {widget.objectName()}"
    yield from wrong_in_tip(widget.toolTip(), f"{where} tooltip")
    for text in (widget.windowTitle(), widget.accessibleName(), widget.accessibleDescription(), widget.statusTip(), widget.whatsThis()):
        yield from wrong_in_text(text, where)
    for action in widget.actions():
        yield from wrong_in_action(action, where)
    if isinstance(widget, QLabel):
        rich = widget.textFormat() == Qt.TextFormat.RichText or (
            widget.textFormat() == Qt.TextFormat.AutoText and QtText.mightBeRichText(widget.text())
        )
        yield from (wrong_in_html if rich else wrong_in_text)(widget.text(), where)
        if widget.buddy() is not None and MARK in widget.text():
            yield f"{where}: a buddy makes & a mnemonic"
    elif isinstance(widget, QAbstractButton | QGroupBox):
        text = widget.text() if isinstance(widget, QAbstractButton) else widget.title()
        yield from wrong_in_text(text, where)
        if MARK in text and mnemonics(text):
            yield f"{where}: {text[:60]!r} has a mnemonic"
    elif isinstance(widget, QTextEdit):
        yield from wrong_in_html(widget.toHtml(), where)
    elif isinstance(widget, QLineEdit):
        yield from wrong_in_text(widget.text(), where)
        yield from wrong_in_text(widget.placeholderText(), where)
    elif isinstance(widget, QComboBox):
        yield from wrong_in_model(widget.model(), where)
    elif isinstance(widget, QTabBar):
        for tab in range(widget.count()):
            yield from wrong_in_text(widget.tabText(tab), where)
            yield from wrong_in_tip(widget.tabToolTip(tab), where)
    elif isinstance(widget, QMenu):
        for action in widget.actions():
            yield from wrong_in_action(action, where)
    elif isinstance(widget, QMessageBox):
        if widget.textFormat() != Qt.TextFormat.PlainText:
            yield f"{where}: guesses"
        yield from wrong_in_text(widget.informativeText(), where)
    if isinstance(widget, QAbstractItemView):
        yield from wrong_in_model(widget.model(), where)


def wrong_on_screen() -> list[str]:
    """Return what foreign text does anywhere in the program besides being read."""
    return [fault for widget in QApplication.allWidgets() for fault in wrong_in_widget(widget)]
