"""The view of identity questions, one card at a time, most useful first: answered by one key, applied at once, undone by a click."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QToolButton, QVBoxLayout, QWidget

from m3desk_ui.look import deeds, plain, theme
from m3desk_ui.people.question_card import QuestionCard
from m3desk_ui.people.question_sides import Shown, read_sides

if TYPE_CHECKING:
    from m3desk.domain.correction import Effect
    from m3desk.domain.questions.types import Suggestion
    from m3desk_ui.hub.bridge import Hub


class QuestionsView(QWidget):
    """`counted` tells how many questions are open; `back` asks for the list of people."""

    counted = Signal(int)
    back = Signal()
    by_hand = Signal(str)
    """A person to separate by hand."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self.questions: list[Suggestion] = []
        self._all: list[Suggestion] = []  # with those put off
        self._later: set[str] = set()
        self._last: list[str] = []
        self._busy = self._open = False
        self.to_list = QToolButton(self)
        self.to_list.clicked.connect(self.back)
        self.count = plain.Label(parent=self)
        self.count.setProperty("muted", True)
        bar = QHBoxLayout()
        bar.setContentsMargins(8, 4, 8, 0)
        bar.addWidget(self.to_list)
        bar.addStretch(1)
        bar.addWidget(self.count)
        self.card = QuestionCard(hub, self)
        self.card.yes.connect(self.accept)
        self.card.no.connect(self.reject)
        self.card.unknown.connect(self.skip)
        self.card.later.connect(self.put_off)
        self.card.by_hand.connect(self.by_hand)
        self.none = plain.Label(parent=self)
        self.none.setWordWrap(True)
        self.none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.none.setProperty("muted", True)
        self.none.setMargin(24)
        self.again = QPushButton(self)
        self.again.clicked.connect(self.ask_again)
        inner = QVBoxLayout()
        inner.setContentsMargins(8, 4, 8, 8)
        inner.addWidget(self.card, 1)
        inner.addWidget(self.none, 1)
        inner.addWidget(self.again, 0, Qt.AlignmentFlag.AlignHCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(bar)
        column.addLayout(inner, 1)
        hub.opened.connect(self._forget)
        hub.suggested.connect(lambda _event: self.tell())
        self.dress()
        self._show([])

    def dress(self) -> None:
        """Set texts and icons."""
        tip = self.tr("Back to all people")
        self.to_list.setIcon(theme.icon("mdi6.arrow-left"))
        plain.tip(self.to_list, tip)
        self.to_list.setAccessibleName(tip)
        self.again.setText(self.tr("Ask them now"))
        self._tell_put_off()
        self.card.dress()

    # ------------------------------------------------------------ reading

    def _forget(self, _path: str) -> None:
        self._later.clear()
        self._last.clear()
        self._busy = self._open = False
        self._show([])

    def enter(self) -> None:
        """Fetch the questions when the view is shown."""
        self._open = True
        self.refresh()

    def leave(self) -> None:
        self._open = False

    def tell(self) -> None:
        """Set the number of questions; read them only if the view is shown."""
        if self._open:
            self.refresh()
        else:
            self.counted.emit(self.hub.questions)

    def refresh(self) -> None:
        """Fetch the questions from the engine, which has them ready."""
        desk = self.hub.desk
        if desk is not None:
            self.hub.when(desk.suggestions(), lambda found: self._show(found) if self.hub.desk is desk else None)

    def _show(self, questions: list[Suggestion]) -> None:
        self._busy = False
        self._all = list(questions)
        self._later &= {q.key for q in questions}
        self.questions = [q for q in questions if q.key not in self._later]
        # What was answered with "don't know" waits behind everything else.
        self.questions.sort(key=lambda q: self._last.index(q.key) + 1 if q.key in self._last else 0)
        self.counted.emit(len(self._all))
        self.count.setText(
            self.tr("1 question") if len(self.questions) == 1 else self.tr("%1 questions").replace("%1", str(len(self.questions)))
        )
        self.count.setVisible(bool(self.questions))  # those put off are told where the card was
        now = QApplication.focusWidget()
        answered = now is not None and (now is self.card or self.card.isAncestorOf(now))
        self.none.setVisible(not self.questions)
        self._tell_put_off()
        if answered and not self.questions:  # Qt would give the focus to another view
            (self.to_list if self.again.isHidden() else self.again).setFocus()
        self.card.setVisible(bool(self.questions))
        if not self.questions:
            self.card.shown = None
            return
        first = self.questions[0]
        if self.card.shown is None or self.card.shown.question != first:
            self.hub.read("question", lambda reader: read_sides(reader, first), self._shown)

    def _shown(self, shown: Shown) -> None:
        if self.questions and self.questions[0].key == shown.question.key:
            self.card.show_question(shown)
            if self.isVisible():
                self.card.setFocus()

    # ------------------------------------------------------------ answering

    def accept(self) -> None:
        """Apply the suggestion with the items that the user moved or excluded."""
        shown, desk = self.card.shown, self.hub.desk
        if shown is None or desk is None or self._busy:
            return
        q = shown.question
        first, second = self.card.lists
        if q.kind == "two_people" and set(second.observations()) != {o for i in shown.sides[1].items for o in i.observations}:
            chosen = second.observations()
            if chosen and first.count():
                self._busy = True
                split = desk.correct("split", {"person": q.people[0], "observations": [*chosen, *shown.sides[1].hidden]})
                self.hub.when(split, self._applied, self._failed)
            return
        out = [*first.taken_out(), *second.taken_out()] if q.kind == "same" else []
        self._busy = True

        def done(effect: Effect) -> None:
            if out:  # these stay somebody else
                keep = q.accept[1].get("keep", q.people[0])
                self.hub.correct("exclude", {"observations": out, "person": keep}, then=self._answered)
            self._applied(effect)

        self.hub.when(desk.accept(q.n), done, self._failed)

    def reject(self) -> None:
        """Reject the suggestion; it is not asked again."""
        if self.card.shown is not None and self.hub.desk is not None and not self._busy:
            self._busy = True
            self.hub.when(self.hub.desk.reject(self.card.shown.question.n), self._applied, self._failed)

    def skip(self) -> None:
        """Ask it again after all others."""
        if self.card.shown is not None:
            key = self.card.shown.question.key
            self._last = [*(k for k in self._last if k != key), key]
            self._show(self._all)

    def put_off(self) -> None:
        """Do not ask it again in this session, unless the user wants to answer what was put off."""
        if self.card.shown is not None:
            self._later.add(self.card.shown.question.key)
            self._show(self._all)

    def ask_again(self) -> None:
        """Ask what was put off."""
        self._later.clear()
        self._show(self._all)

    def _tell_put_off(self) -> None:
        """Show what is left when there is no card: nothing, or postponed questions, with a button to ask them."""
        put_off = len(self._later)
        self.again.setVisible(bool(put_off) and not self.questions)
        if put_off:
            self.none.setText(self.tr("Questions put off for later: %1").replace("%1", str(put_off)))
        else:
            self.none.setText(self.tr("No open questions. New ones appear when the memory is unsure who somebody is."))

    def _applied(self, effect: Effect) -> None:
        self.hub.offer.emit(deeds.done(effect.text), "undo", self.hub.undo)
        self._answered(effect)

    def _answered(self, _effect: Effect) -> None:
        self.card.shown = None
        self.refresh()

    def _failed(self, error: Exception) -> None:
        self._busy = False
        self.hub.tell(error)
        self.card.shown = None
        self.refresh()
