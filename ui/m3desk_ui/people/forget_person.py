"""Forgets a person for good: first what would be deleted, then the proof that nothing of them is left. Cancel is the default."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QCloseEvent, QPixmap, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QProgressBar,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from m3desk.errors import sentence_of
from m3desk_ui.look import links, plain, texts
from m3desk_ui.look.danger_button import DangerButton
from m3desk_ui.people.people_list import fallback_head, initial

if TYPE_CHECKING:
    from m3desk.domain.forgetting import PersonForgotten, Way
    from m3desk.domain.people import Person
    from m3desk.ports import Desk, Reader
    from m3desk_ui.hub.bridge import Hub

FACE = 72
MOST_NAMED = 6
"""Files, findings and look-alikes that are listed; of more, how many they are is told."""


class ForgetPerson(QDialog):
    """Asks how to forget one person, shows what goes, forgets, and then shows the proof in the same place."""

    def __init__(self, hub: Hub, person: Person, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.hub, self.person = hub, person
        self._asked = 0
        self._working = False
        self._memory = hub.path
        self.setWindowTitle(self.tr("Forget a person"))
        self.resize(520, 480)
        shown = plain.line(person.shown, plain.ENTRY)
        self.question = plain.Label(self.tr("Forget %1 for good?").replace("%1", shown))
        self.question.setProperty("heading", True)
        self.question.setWordWrap(True)
        head = QHBoxLayout()
        head.setSpacing(12)
        self._portrait = self._face(shown)
        head.addWidget(self._portrait)
        head.addWidget(self.question, 1)
        self.choices = QWidget()
        ways = QVBoxLayout(self.choices)
        ways.setContentsMargins(0, 0, 0, 0)
        ways.setSpacing(6)
        self.ways: dict[Way, QRadioButton] = {}
        self._group = QButtonGroup(self)
        self._way("forget", self.tr("Forget. Seen again, they are somebody new."), ways)
        self._way("never", self.tr("Forget, and never remember them again. One template of face and voice is kept for that."), ways)
        self._way("spans", self.tr("Forget, with everything else that was remembered while they were there."), ways)
        self.ways["forget"].setChecked(True)
        self._group.buttonToggled.connect(lambda _button, on: self.preview() if on else None)
        self.sources = QCheckBox(self.tr("Also remove the sources that show them from this memory"))
        self.sources.toggled.connect(lambda _on: self.preview())
        ways.addWidget(self.sources)
        self.effect = plain.Page()
        self.effect.setAccessibleName(self.tr("What is deleted"))
        self.effect.setFrameShape(QFrame.Shape.NoFrame)
        self.effect.viewport().setAutoFillBackground(False)
        self.effect.anchorClicked.connect(lambda url: links.follow(self.hub, url))
        self.final = plain.Label(self.tr("This can't be undone. Afterwards every file of the memory is searched for traces of them."))
        self.final.setWordWrap(True)
        self.final.setProperty("muted", True)
        self.busy = QProgressBar()
        self.busy.setRange(0, 0)
        self.busy.setTextVisible(False)
        self.busy.setAccessibleName(self.tr("Forgetting, and searching for traces"))
        self.busy.hide()
        self.buttons = QDialogButtonBox(self)
        self.go = DangerButton(self.tr("Forget"))
        self.go.setEnabled(False)
        self.go.clicked.connect(self.forget)
        self.buttons.addButton(self.go, QDialogButtonBox.ButtonRole.DestructiveRole)
        self.cancel = self.buttons.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        self.cancel.setDefault(True)
        self.buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 14)
        column.setSpacing(12)
        column.addLayout(head)
        column.addWidget(self.choices)
        column.addWidget(self.effect, 1)
        column.addWidget(self.busy)
        column.addWidget(self.final)
        column.addWidget(self.buttons)
        hub.opened.connect(self._another_memory)
        self.cancel.setFocus()
        self.preview()

    def showEvent(self, event: QShowEvent) -> None:
        """Put the buttons into the order of Tab; the box orders them by itself when it is laid out, and leaves one out."""
        super().showEvent(event)
        for before, after in ((self.effect, self.cancel), (self.cancel, self.go)):
            self.setTabOrder(before, after)

    def _way(self, way: Way, text: str, column: QVBoxLayout) -> None:
        """Add a choice whose words wrap: Qt's radio button does not."""
        button = QRadioButton()
        button.setAccessibleName(text)
        label = plain.Label(text)
        label.setWordWrap(True)
        label.mousePressEvent = lambda _event: button.setChecked(True)  # type: ignore[method-assign]
        row = QHBoxLayout()
        row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(label, 1)
        column.addLayout(row)
        self.ways[way] = button
        self._group.addButton(button)

    def _face(self, shown: str) -> plain.Label:
        label = plain.Label()
        label.setAccessibleName(shown)
        ratio = self.devicePixelRatioF()

        def put(picture: QPixmap) -> None:
            if isValid(label):
                picture.setDevicePixelRatio(ratio)
                label.setPixmap(picture)

        label.setPixmap(fallback_head(self.person.id, initial(self.person), FACE, ratio))
        here = self.hub.pictures.get(self.person.portrait, round(FACE * ratio), then=put)
        if here is not None:
            put(here)
        return label

    # ------------------------------------------------------------ before

    def way(self) -> Way:
        """Return the chosen way."""
        return next(way for way, button in self.ways.items() if button.isChecked())

    def preview(self) -> None:
        """Ask the engine what would go."""
        desk = self.hub.desk
        if desk is None:
            return
        self._asked += 1
        asked = self._asked
        self.go.setEnabled(False)
        self._show([self.tr("Checking what would be deleted …")])

        def found(plan: PersonForgotten) -> None:
            if isValid(self) and asked == self._asked and not self._working:
                self._show(self._would(plan))
                self.go.setEnabled(True)

        def failed(error: Exception) -> None:
            if isValid(self) and asked == self._asked:
                self._show([sentence_of(error)])

        plan = desk.forget_person(self.person.id, self.way(), sources=self.sources.isChecked(), dry_run=True)
        self.hub.when(plan, found, failed)

    def _would(self, plan: PersonForgotten) -> list[str]:
        lines = [self.tr("This would be deleted:"), *(f"• {text}" for text in counted(plan))]
        if self.sources.isChecked():
            lines += [f"• {text}" for text in plan.removed]
        if plan.sources:
            files = listed([Path(uri).name for uri in plan.sources])
            stays = self.tr("The files themselves stay where they are, and still show or let hear them: %1")
            lines += ["", stays.replace("%1", files)]
        return lines

    def _show(self, lines: Sequence[str]) -> None:
        self.effect.show_html("<br>".join(plain.html(line) for line in lines))

    # ------------------------------------------------------------ forgetting, and the proof

    def forget(self) -> None:
        """Forget, search for traces, and show the proof."""
        desk = self.hub.desk
        if desk is None or not self.go.isEnabled():
            return
        self._working = True
        self._asked += 1
        self.go.setEnabled(False)
        self.cancel.setEnabled(False)
        self.choices.setEnabled(False)
        self.busy.show()
        self.final.setText(self.tr("Forgetting, and searching every file of the memory for traces …"))
        future = desk.forget_person(self.person.id, self.way(), sources=self.sources.isChecked())
        self.hub.when(future, lambda done: self._proven(desk, done), self._failed)

    def _failed(self, error: Exception) -> None:
        if not isValid(self):
            self.hub.tell(error)
            return
        self._working = False
        self._ended()
        self._show([sentence_of(error)])

    def _ended(self) -> None:
        self.busy.hide()
        self.choices.hide()
        self.go.hide()
        self.cancel.setText(self.tr("Close"))
        self.cancel.setEnabled(True)
        self.cancel.setFocus()

    def _proven(self, desk: Desk, done: PersonForgotten) -> None:
        if not isValid(self):
            return
        self._working = False
        self._portrait.hide()
        self._ended()
        clean = not done.found
        self.question.setText(self.tr("Forgotten.") if clean else self.tr("Forgotten, but something is left."))
        self.final.setText(self.tr("Your own backups and exports, and the files themselves, are not reached."))
        if not done.alike or self.hub.desk is not desk:
            self._show_proof(done, {})
            return
        who = [p for _, p in done.alike if p is not None]
        self.hub.read("forget.alike", lambda reader: _names(reader, who), lambda names: self._show_proof(done, names))

    def _show_proof(self, done: PersonForgotten, names: dict[str, str]) -> None:
        if not isValid(self):
            return
        parts = [self.tr("Deleted:"), *(f"• {text}" for text in counted(done)), "", self._searched(done)]
        parts += [f"• {text}" for text in first(done.found)]
        if done.sources:
            parts += ["", self.tr("Still shown or heard in: %1").replace("%1", listed([Path(uri).name for uri in done.sources]))]
        rows = [plain.html(text) for text in parts]
        if done.alike:
            alike = self.tr("These look or sound alike. If they are the same person, forget that person, too:")
            rows += ["", plain.html(alike)]
            for observation, person in done.alike[:MOST_NAMED]:
                name = plain.line(names.get(person or "", self.tr("nobody's")), plain.ENTRY)
                target = links.link(name, "person", person) if person else plain.html(name)
                rows.append(f"• {target} {links.link(plain.line(observation, plain.ENTRY), 'observation', observation)}")
        self.effect.show_html("<br>".join(rows))

    def _searched(self, done: PersonForgotten) -> str:
        s = done.searched
        text = self.tr("Searched %1 tables, %2 files (%3), %4 pictures and %5 sounds:")
        for mark, value in (
            ("%1", str(s.get("tables", 0))), ("%2", str(s.get("files", 0))), ("%3", texts.megabytes(s.get("bytes", 0))),
            ("%4", str(s.get("pictures", 0))), ("%5", str(s.get("sounds", 0))),
        ):  # fmt: skip
            text = text.replace(mark, value)
        return f"{text} {self.tr('nothing of them is left.') if not done.found else self.tr('this is left:')}"

    # ------------------------------------------------------------ closing

    def _another_memory(self, path: str) -> None:
        if path != self._memory and not self._working:
            self.reject()

    def reject(self) -> None:
        """Close; not while it forgets, whose proof is shown here."""
        if not self._working:
            super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._working:
            event.ignore()
        else:
            super().closeEvent(event)


def counted(what: PersonForgotten) -> list[str]:
    """Return what is deleted, a line for each kind."""
    translate = QCoreApplication.translate
    rows = (
        ("observations", translate("ForgetPerson", "faces and utterances: %1")),
        ("memories", translate("ForgetPerson", "memories that rest on them: %1")),
        ("pictures_and_sounds", translate("ForgetPerson", "pictures and sounds: %1")),
        ("names", translate("ForgetPerson", "names: %1")),
        ("steps", translate("ForgetPerson", "corrections that name them, emptied and final from then on: %1")),
        ("chats", translate("ForgetPerson", "questions and answers about them: %1")),
    )
    return [text.replace("%1", str(what.counts[key])) for key, text in rows if what.counts.get(key)]


def first(found: Sequence[str]) -> list[str]:
    """Return the first lines, and how many more there are."""
    more = QCoreApplication.translate("ForgetPerson", "and %1 more").replace("%1", str(len(found) - MOST_NAMED))
    return [plain.line(text) for text in found[:MOST_NAMED]] + ([more] if len(found) > MOST_NAMED else [])


def listed(names: Sequence[str]) -> str:
    """Return file names in one line."""
    return ", ".join(plain.line(text, plain.ENTRY) for text in first(list(dict.fromkeys(names))))


def _names(reader: Reader, people: Sequence[str]) -> dict[str, str]:
    return {p.id: texts.person(p.shown) for p in reader.people_of(people)}


def ask(hub: Hub, person: str, parent: QWidget) -> None:
    """Open the question about a person."""

    def read(found: list[Person]) -> None:
        if found:
            ForgetPerson(hub, found[0], parent).open()

    hub.read("forget.person", lambda reader: reader.people_of((person,)), read)
