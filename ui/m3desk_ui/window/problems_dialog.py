"""The problems dialog: what `m3desk check` finds in the open memory, each with its evidence and, where one is known, its fix."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHeaderView, QPushButton, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget
from shiboken6 import isValid

from m3desk.errors import sentence_of
from m3desk_ui.look import deeds, findings, plain

if TYPE_CHECKING:
    from m3desk.domain.correction import Effect
    from m3desk.ports import Desk
    from m3desk_ui.hub.bridge import Hub

PROBLEM = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class Mend:
    """What mends a problem: a correction by its kind and arguments, "accept" of a question, or "revert" of a step."""

    kind: str
    args: Mapping[str, Any]

    def preview(self, desk: Desk) -> Future[Effect]:
        """Ask what it would change."""
        if self.kind == "accept":
            return desk.accept(self.args["n"], dry_run=True)
        args = {**self.args, "also": False} if self.kind == "revert" else self.args
        return desk.correct(self.kind, args, dry_run=True)

    def apply(self, desk: Desk) -> Future[Effect]:
        if self.kind == "accept":
            return desk.accept(self.args["n"])
        return desk.revert(self.args["step"]) if self.kind == "revert" else desk.correct(self.kind, self.args)


@dataclass(frozen=True, slots=True)
class Problem:
    """One row. `fix`: the command that mends it, as `m3desk check` tells it."""

    kind: str
    text: str
    people: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    fix: str = ""


def problems(report: Mapping[str, Any]) -> list[Problem]:
    """Return the rows of a report of `m3desk check`, the serious ones first."""
    found = [Problem("damage", str(text)) for text in (*report.get("integrity", ()), *report.get("index", ()))]
    for f in report.get("findings", ()):
        found.append(Problem(f["kind"], f["text"], tuple(f.get("people", ())), tuple(f.get("nodes", ())), f.get("fix", "")))
    found += [Problem("waiting", w["text"], fix=w["fix"]) for w in report.get("waiting", ())]
    return sorted(found, key=lambda p: p.kind not in ("damage", "forgetting"))


def mend(fix: str) -> Mend | None:
    """Return what the window does in place of a command; None for one that it can't do."""
    try:
        words = shlex.split(fix)
    except ValueError:
        return None
    match words[1:]:
        case ["people", "split", _, "--suggestion", n] | ["people", "accept", n]:
            return Mend("accept", {"n": int(n)}) if n.isdecimal() else None
        case ["people", "assign", *observations, "--new"] if observations:
            return Mend("assign", {"observations": observations, "person": None, "name": None})
        case ["people", "unlink", face, voice]:
            return Mend("unlink", {"face": face, "voice": voice})
        case ["people", "ignore", person]:
            return Mend("ignore", {"person": person, "ignored": True})
        case ["people", "set-aside", observation]:
            return Mend("set-aside", {"observations": [observation]})
        case ["memories", "edit", node, text]:
            return Mend("edit", {"node": node, "text": text})
        case ["memories", "delete", node]:
            return Mend("delete", {"node": node})
        case ["revert", step] if step.isdecimal():
            return Mend("revert", {"step": int(step)})
    return None


class ProblemsDialog(QDialog):
    """Lists the problems of the open memory, shows the chosen one in all views, and mends it. Does not block the window."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self._asked = 0
        self.setWindowTitle(self.tr("Problems"))
        self.resize(780, 440)
        self.state = plain.Label()
        self.state.setWordWrap(True)
        self.state.setAccessibleName(self.tr("Result of the check"))
        self.rows = QTreeWidget()
        self.rows.setRootIsDecorated(False)
        self.rows.setHeaderLabels([self.tr("Problem"), self.tr("Evidence"), self.tr("What mends it")])
        self.rows.setAccessibleName(self.tr("Problems of this memory"))
        self.rows.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.rows.header().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.rows.header().setSectionResizeMode(2, QHeaderView.ResizeMode.ResizeToContents)
        self.rows.header().setStretchLastSection(False)
        self.rows.currentItemChanged.connect(lambda *_: self._chosen())
        self.rows.itemActivated.connect(lambda *_: self.mend_chosen())
        self.whole = plain.Label()
        self.whole.setWordWrap(True)
        self.whole.setMinimumHeight(3 * self.fontMetrics().height())
        self.whole.setAccessibleName(self.tr("The chosen problem"))
        self.whole.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)  # to copy a command from
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.fix = QPushButton(self.tr("Mend…"))
        plain.tip(self.fix, self.tr("Shows first what it would change; it can be undone (Enter)"))
        self.fix.clicked.connect(self.mend_chosen)
        self.again = QPushButton(self.tr("Check again"))
        self.again.clicked.connect(self.check)
        for button in (self.fix, self.again):
            button.setAutoDefault(False)
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        close = buttons.button(QDialogButtonBox.StandardButton.Close)
        close.setAutoDefault(False)  # Enter in the list mends, and must not close as well
        close.setDefault(False)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        for widget in (self.state, self.rows, self.whole, buttons):
            column.addWidget(widget, 1 if widget is self.rows else 0)
        hub.opened.connect(self.reject)
        hub.corrected.connect(self._corrected)
        self.check()

    def _corrected(self, _event: object) -> None:
        if self.isVisible():
            self.check()

    def check(self) -> None:
        """Check the memory (again)."""
        desk = self.hub.desk
        if desk is None:
            return
        self._asked += 1
        asked = self._asked
        self.state.setText(self.tr("Checking the memory …"))
        self.again.setEnabled(False)
        self._enable()

        def done(report: Mapping[str, Any]) -> None:
            if isValid(self) and asked == self._asked:
                self.again.setEnabled(True)
                self._show(problems(report), sound=bool(report.get("ok")))

        def failed(error: Exception) -> None:
            if isValid(self) and asked == self._asked:
                self.again.setEnabled(True)
                self.state.setText(plain.line(sentence_of(error)))

        self.hub.when(desk.check(), done, failed)

    def _show(self, found: Sequence[Problem], *, sound: bool) -> None:
        kept = self._current()
        self.rows.blockSignals(True)
        self.rows.clear()
        for problem in found:
            texts = [kind(problem.kind), plain.line(findings.found(problem.text)), plain.line(how(problem), plain.ENTRY)]
            item = QTreeWidgetItem(texts)
            item.setData(0, PROBLEM, problem)
            for place, text in ((1, findings.found(problem.text)), (2, problem.fix)):
                item.setData(place, Qt.ItemDataRole.ToolTipRole, plain.tip_text(text))
            self.rows.addTopLevelItem(item)
            if problem == kept:
                self.rows.setCurrentItem(item)
        self.rows.blockSignals(False)
        if not sound:
            self.state.setText(self.tr("Part of this memory is damaged. “m3desk check --repair” rebuilds what can be rebuilt."))
        elif found:
            self.state.setText(self.tr("The memory is whole. Worth a look: %1.").replace("%1", str(len(found))))
        else:
            self.state.setText(self.tr("The memory is whole, and nothing in it looks wrong."))
        self._enable()

    def _current(self) -> Problem | None:
        item = self.rows.currentItem()
        found = None if item is None else item.data(0, PROBLEM)
        return found if isinstance(found, Problem) else None

    def _chosen(self) -> None:
        """Show the chosen problem in all views."""
        self._enable()
        problem = self._current()
        self.whole.setText("" if problem is None else plain.paragraph(f"{findings.found(problem.text)}\n{how(problem)}"))
        if problem is None:
            return
        if problem.people:
            self.hub.selection.select("person", problem.people[0])
        elif problem.nodes:
            self.hub.selection.select("node", problem.nodes[0])
        self.hub.selection.found.emit((*problem.people, *problem.nodes))

    def _enable(self) -> None:
        problem = self._current()
        self.fix.setEnabled(self.again.isEnabled() and problem is not None and mend(problem.fix) is not None)

    def mend_chosen(self) -> None:
        """Show what mending the chosen problem would change, and do it if the user confirms."""
        problem, desk = self._current(), self.hub.desk
        cure = None if problem is None else mend(problem.fix)
        if problem is None or cure is None or desk is None or not self.fix.isEnabled():
            return

        def previewed(effect: Effect) -> None:
            if isValid(self) and self.isVisible():
                question = plain.line(findings.found(problem.text))
                if plain.sure(self, self.tr("Mend a problem"), question, deeds.would(effect.text), self.tr("Mend")):
                    self.hub.when(cure.apply(desk), lambda done: self.hub.offer.emit(deeds.done(done.text), "undo", self.hub.undo))

        self.hub.when(cure.preview(desk), previewed)

    def done(self, result: int) -> None:
        """Close, and take the marks back."""
        self.hub.selection.found.emit(())
        super().done(result)


def kind(name: str) -> str:
    """Return what a kind of problem is called."""
    translate = QCoreApplication.translate
    return {
        "damage": translate("Problems", "Damaged"),
        "forgetting": translate("Problems", "Unfinished forgetting"),
        "crowd": translate("Problems", "Many faces or voices"),
        "contradicted": translate("Problems", "Face and voice of two people"),
        "one clip": translate("Problems", "Known from one clip"),
        "orphan": translate("Problems", "Belongs to nobody"),
        "dangling tag": translate("Problems", "Refers to nobody"),
        "out of order": translate("Problems", "Memorized out of order"),
        "older model": translate("Problems", "Older model"),
        "waiting": translate("Problems", "Correction without its evidence"),
    }.get(name, plain.entry(name))


def how(problem: Problem) -> str:
    """Return what mends a problem, in words; the command where the window can't do it."""
    translate, cure = QCoreApplication.translate, mend(problem.fix)
    if cure is None:
        return problem.fix
    return {
        "accept": translate("Problems", "Split or join, as the question proposes"),
        "assign": translate("Problems", "Make a person of their own"),
        "unlink": translate("Problems", "Separate face and voice"),
        "ignore": translate("Problems", "Hide this person"),
        "set-aside": translate("Problems", "Set it aside"),
        "edit": translate("Problems", "Write “someone” instead"),
        "delete": translate("Problems", "Delete this conclusion"),
        "revert": translate("Problems", "Take the correction back"),
    }[cure.kind]
