"""The chat dock: questions to the memory; rounds and answers stream in, citations play their moment, the history stays in the memory."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QStringListModel, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QPixmap
from PySide6.QtWidgets import (
    QCompleter,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from m3desk import events
from m3desk.domain.clip import clock
from m3desk_ui.chat.turn import ChatTurn, Peek, Standing, from_chat, read_standing
from m3desk_ui.hub.following import Following, Read
from m3desk_ui.look import links, plain, theme
from m3desk_ui.look.pictures import whole
from m3desk_ui.memory.order import number

if TYPE_CHECKING:
    from m3desk.domain.changed import Changed
    from m3desk.domain.people import Person
    from m3desk_ui.hub.bridge import Hub

HISTORY = 40
"""Turns of the history that are shown at once; earlier ones on demand."""
PEEK = 192
"""Pixels that the picture of a cited moment is wide."""
AT_NAME = re.compile(r"@(\w[^@]{0,60}|)$")


class QuestionBox(QLineEdit):
    """The box to ask in: @ offers people."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.names = QStringListModel(self)
        self.people = QCompleter(self.names, self)
        self.people.setWidget(self)
        self.people.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.people.setFilterMode(Qt.MatchFlag.MatchContains)
        self.people.activated.connect(self._insert)
        self._popup = QListView()
        self.people.setPopup(self._popup)
        self.textEdited.connect(self._offer)

    def _offer(self, _text: str) -> None:
        hit = AT_NAME.search(self.text()[: self.cursorPosition()])
        if hit is None:
            self._popup.hide()
            return
        self.people.setCompletionPrefix(hit.group(1))
        if self.people.completionCount():
            self.people.complete()
            self._popup.setCurrentIndex(self.people.completionModel().index(0, 0))
        else:
            self._popup.hide()

    def _insert(self, name: str) -> None:
        at = self.cursorPosition()
        before = AT_NAME.sub("", self.text()[:at]) + name
        self.setText(before + self.text()[at:])
        self.setCursorPosition(len(before))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._popup.isVisible():
            index = self._popup.currentIndex()
            if index.isValid():
                self._popup.hide()
                self._insert(index.data())
                return
        super().keyPressEvent(event)


def _read_people(reader: Any) -> list[Person]:
    people: list[Person] = reader.people()
    return people


class ChatView(QWidget):
    """Questions and answers, oldest first."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self.asking = ""
        self._turns: dict[str, ChatTurn] = {}
        self._past: list[dict[str, Any]] = []
        self._named = ""
        self._live = False
        """Whether a live source is recorded."""
        self._offered = False
        """Whether an answer of this session has offered the language model."""
        self._span: tuple[str, int, int] | None = None
        self._build()
        self._peek = Peek(self)
        self._peeks = 0
        """Raised when another picture is asked for, and when the one that still comes is not to be shown."""
        hub.erased.connect(lambda _gone: self._end_peek())
        hub.opened.connect(self._opened)
        hub.asking.connect(self.on_event)
        hub.live.connect(self._live_changed)
        self._people: dict[str, Person] = {}
        self._names: dict[str, str] = {}
        """What is offered for @, by person."""
        self.following = Following(
            hub, "chat people", load=lambda: _read_people, show=self._take_people, patch=self._changed, apply=self._patch, parent=self
        )
        self.standing = Following(
            hub, "chat standing", load=self._read_standing, show=self._stand, patch=self._corrected, apply=self._stand, parent=self
        )
        hub.themed.connect(self._themed)
        hub.engine_lost.connect(self._lost)
        hub.selection.asked_about.connect(self.propose)
        hub.selection.span.connect(self._take_span)
        self._themed()
        if hub.desk is not None:
            self._opened("")

    def _build(self) -> None:
        self._list = QWidget(self)
        self._list.setObjectName("turns")
        self._column = QVBoxLayout(self._list)
        self._column.setContentsMargins(2, 2, 2, 2)
        self._column.setSpacing(2)
        self.earlier = QPushButton(self._list)
        self.earlier.setProperty("flat", True)
        self.earlier.clicked.connect(self._show_earlier)
        self.earlier.hide()
        self.hint = plain.RichLabel(self._list)
        self.hint.setWordWrap(True)
        self.hint.setMargin(18)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.hint.linkActivated.connect(lambda url: links.follow(self.hub, url))
        self._column.addWidget(self.earlier)
        self._column.addWidget(self.hint, 1)
        self._column.addStretch(0)
        self.area = QScrollArea(self)
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QScrollArea.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(self._list)
        self._at_end = True
        bar = self.area.verticalScrollBar()
        bar.rangeChanged.connect(lambda _low, high: bar.setValue(high) if self._at_end else None)
        bar.valueChanged.connect(self._scrolled)
        self.about = QToolButton(self)
        self.about.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.about.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.about.clicked.connect(self._drop_span)
        self.about.hide()
        self.question = QuestionBox(self)
        self.question.returnPressed.connect(self.send)
        self.go = QPushButton(self)
        self.go.clicked.connect(self._go)
        row = QHBoxLayout()
        row.setContentsMargins(8, 4, 8, 8)
        row.addWidget(self.question, 1)
        row.addWidget(self.go)
        chips = QHBoxLayout()
        chips.setContentsMargins(8, 4, 8, 0)
        chips.addWidget(self.about)
        chips.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.area, 1)
        column.addLayout(chips)
        column.addLayout(row)

    def _themed(self) -> None:
        c = theme.colours()
        self._list.setStyleSheet(f"#turns {{ background: {c.surface}; }}")
        self.question.setPlaceholderText(self.tr("Ask this memory … (@ names a person)"))
        self.question.setAccessibleName(self.tr("Question"))
        plain.tip(self.question, self.question.placeholderText())  # a narrow line cuts it
        self.area.setAccessibleName(self.tr("Questions and answers"))
        self.earlier.setText(self.tr("Show earlier questions"))
        self._show_hint()
        self._show_go()
        self._show_span()
        for turn in self._list.findChildren(ChatTurn):
            turn.dress()

    def _show_hint(self) -> None:
        """Offer questions that fit any video, and one about a named person of this memory."""
        about = (
            self.tr("What does %1 say?").replace("%1", plain.line(self._named, plain.ENTRY))
            if self._named
            else self.tr("What is talked about?")
        )
        last = (
            self.tr("What happened in the last minute?") if self._live else self.tr("What happens at the end?")
        )  # live: nothing has ended
        examples = (self.tr("Who appears?"), about, last)
        tries = "<br>".join(links.link(e, "ask", e) for e in examples)
        lead = self.tr("Ask what happened, who said what, and when. Answers cite the moments that support them.")
        self.hint.setText(f'<span style="color:{theme.colours().muted}">{lead}</span><br><br>{tries}')

    def _live_changed(self, event: object) -> None:
        if isinstance(event, (events.LiveStarted, events.LiveEnded)):
            self._live = isinstance(event, events.LiveStarted)
            self._show_hint()

    def _show_go(self) -> None:
        busy = bool(self.asking)
        self.go.setText(self.tr("Stop") if busy else self.tr("Ask"))
        self.go.setProperty("primary", not busy)
        self.go.style().unpolish(self.go)
        self.go.style().polish(self.go)
        plain.tip(self.go, self.tr("Stop this answer") if busy else self.tr("Ask (Enter)"))

    # ------------------------------------------------------------ history

    def _opened(self, _path: str) -> None:
        for turn in self._list.findChildren(ChatTurn):
            self._column.removeWidget(turn)
            turn.deleteLater()
        self._turns.clear()
        self._past = []
        self._live = False
        self.asking = ""
        self._show_go()
        self._drop_span()
        self.hint.show()
        self.earlier.hide()
        self.refresh()

    def refresh(self) -> None:
        """Read the history and the people (for @)."""
        self.hub.read("chats", lambda reader: reader.chats(), self._show_history)
        self.following.restart()

    @staticmethod
    def _changed(changed: Changed) -> Read[tuple[frozenset[str], list[Person]]] | None:
        ids = changed.people
        return (lambda reader: (ids, reader.people_of(ids))) if ids else None

    def _take_people(self, people: list[Person]) -> None:
        self._people, self._names = {}, {}
        self._patch((frozenset(), people))

    def _patch(self, part: tuple[frozenset[str], list[Person]]) -> None:
        """Update the names offered for @, and the question about the named person who speaks most."""
        ids, people = part
        for id_ in ids:
            self._people.pop(id_, None)
            self._names.pop(id_, None)
        self._people |= {p.id: p for p in people}
        self._names |= {p.id: plain.line(p.called, 2 * plain.ENTRY) for p in people}
        known = [p for p in self._people.values() if p.name_state != "none" and not p.ignored]
        most = max(known, key=lambda p: (p.speech_time, p.name_state == "confirmed", p.screen_time, -p.number), default=None)
        self._named = most.called if most is not None else ""
        names = [self._names[id_] for id_ in sorted(self._names, key=number)]
        if names != self.question.names.stringList():
            self.question.names.setStringList(names)
        self._show_hint()

    def _show_history(self, chats: list[dict[str, Any]]) -> None:
        if self._turns or self._list.findChildren(ChatTurn):
            return
        self._past = list(chats)
        self._show_earlier()

    # ------------------------------------------------------------ what answers rest on

    def _rests(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the people that the shown answers name, and the nodes that they cite."""
        done = [turn.done for turn in self._list.findChildren(ChatTurn) if turn.done is not None]
        return frozenset(id_ for d in done for id_, _ in d.called), frozenset(c.node for d in done for c in d.citations if c.node)

    def _read_standing(self) -> Read[Standing]:
        people, nodes = self._rests()
        return lambda reader: read_standing(reader, people, nodes)

    def _corrected(self, changed: Changed) -> Read[Standing] | None:
        people, nodes = self._rests()
        if not people & changed.people and not nodes & changed.nodes:
            return None
        return lambda reader: read_standing(reader, people, nodes)

    def _stand(self, now: Standing) -> None:
        for turn in self._list.findChildren(ChatTurn):
            turn.follow(now)

    def _show_earlier(self) -> None:
        """Show the newest part of the hidden history above the shown one."""
        now, self._past = self._past[-HISTORY:], self._past[:-HISTORY]
        for chat in reversed(now):
            question, rounds, done = from_chat(chat)
            turn = self._new_turn(question, 1)
            for happened in (*rounds, done):
                turn.take(happened)
        self.earlier.setVisible(bool(self._past))
        self.standing.restart()

    def _new_turn(self, question: str, at: int | None = None) -> ChatTurn:
        self.hint.hide()
        turn = ChatTurn(question, self._list)
        turn.followed.connect(lambda url: links.follow(self.hub, url))
        turn.hovered.connect(self._hover)
        turn.download_wanted.connect(self.download_model)
        turn.again_wanted.connect(self.ask)
        self._column.insertWidget(self._column.count() - 1 if at is None else at, turn)
        turn.stops_changed.connect(self._order_stops)
        self._order_stops()
        return turn

    def _order_stops(self) -> None:
        """Let Tab go through the answers in the order in which they stand: Qt puts what is made later behind the whole window."""
        places = (self._column.itemAt(i) for i in range(self._column.count()))
        turns = [w for place in places if place is not None and isinstance(w := place.widget(), ChatTurn)]
        stops = [self.area, self.earlier, *(stop for turn in turns for stop in turn.stops())]
        able = [stop for stop in stops if stop.focusPolicy() & Qt.FocusPolicy.TabFocus]  # Qt orders no others: a foot without a link
        for before, after in pairwise(able):
            self.setTabOrder(before, after)

    # ------------------------------------------------------------ asking

    def _go(self) -> None:
        if self.asking:
            self.stop()
        else:
            self.send()

    def send(self) -> None:
        """Ask what stands in the box."""
        question = self.question.text().strip()
        if question:
            self.ask(question)

    def ask(self, question: str) -> None:
        """Ask a question, within the chosen span if there is one."""
        if self.hub.desk is None or self.asking:
            return
        source, start, end = self._span or (None, None, None)
        try:
            id_ = self.hub.desk.ask(question, source=source, start=start, end=end)
        except Exception as error:
            self.hub.tell(error)
            return
        self._at_end = True
        self._turns[id_] = self._new_turn(question)
        self.asking = id_
        self.question.clear()
        self._show_go()

    def stop(self) -> None:
        """Stop the answer that is being written; at once here, and in the engine."""
        if self.asking and self.hub.desk is not None:
            self.hub.desk.stop_asking(self.asking)
            turn = self._turns.pop(self.asking, None)
            if turn is not None:
                turn.stopped()
            self.asking = ""
            self._show_go()

    def on_event(self, event: object) -> None:
        """Take AskStarted, AskWaits, AskRound, AskText or AskDone."""
        turn = self._turns.get(getattr(event, "ask", ""))
        if turn is None:
            return
        if isinstance(event, events.AskDone) and event.quoted and not event.problem and not self._offered:
            self._offered = turn.offers = True
        turn.take(event)
        if isinstance(event, events.AskDone):
            self._turns.pop(event.ask, None)
            if self.asking == event.ask:
                self.asking = ""
                self._show_go()
                if event.error and not self.question.text():
                    self.question.setText(turn.question)  # to be put in another way
            self.standing.restart()
            self.hub.selection.highlighted.emit(tuple((c.source, c.start, c.end) for c in event.citations))

    def _lost(self, _event: object) -> None:
        """The engine ended: mark unfinished answers as failed."""
        for turn in self._turns.values():
            turn.stopped()
        self._turns.clear()
        self.asking = ""
        self._show_go()

    def propose(self, question: str) -> None:
        """Put a question into the box, ready to be changed or sent."""
        self.question.setText(plain.line(question, plain.PARAGRAPH))
        self.question.setFocus()
        self.hub.selection.wanted.emit("chat")

    def focus_input(self) -> None:
        """Put the cursor into the box."""
        self.question.setFocus()
        self.question.selectAll()

    def download_model(self) -> None:
        """Offer the language model."""
        from m3desk_ui.window.models_dialog import ModelsDialog

        dialog = ModelsDialog(self.hub, self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    # ------------------------------------------------------------ span, pointing

    def _take_span(self, source: str, start: int, end: int) -> None:
        self._span = (source, start, end) if end > start else None
        self._show_span()

    def _drop_span(self) -> None:
        had, self._span = self._span, None
        self._show_span()
        if had:
            self.hub.selection.span.emit(had[0], 0, 0)

    def _show_span(self) -> None:
        self.about.setVisible(self._span is not None)
        if self._span is not None:
            _, start, end = self._span
            self.about.setText(self.tr("Only in %1–%2").replace("%1", clock(start)).replace("%2", clock(end)))
            plain.tip(self.about, self.tr("Ask about the whole memory again"))
            self.about.setIcon(theme.icon("mdi6.close"))
            c = theme.colours()
            self.about.setStyleSheet(f"QToolButton {{ background: {c.raised}; border-radius: 9px; padding: 2px 8px; }}")

    def _scrolled(self, value: int) -> None:
        self._at_end = value >= self.area.verticalScrollBar().maximum() - 24

    def _hover(self, _url: str, citation: events.Citation | None) -> None:
        """Show the picture of a citation under the pointer."""
        self._peeks += 1
        if citation is None:
            self._peek.hide()
            return
        turn = self._peeks
        desk = self.hub.desk
        if desk is not None:
            self.hub.when(desk.picture(citation.source, citation.start, PEEK), lambda jpeg: self._take_peek(turn, citation.clip, jpeg))

    def _take_peek(self, turn: int, clip: str, jpeg: bytes | None) -> None:
        """Show the picture of the cited moment; where its video is missing, the stored picture of its clip."""
        moment = whole(jpeg)
        if not moment.isNull():
            self._show_peek(turn, QPixmap.fromImage(moment))
            return

        def put(media: str | None) -> None:
            here = self.hub.pictures.get(media, PEEK, 108, then=lambda pixmap: self._show_peek(turn, pixmap))
            if here is not None:
                self._show_peek(turn, here)

        self.hub.read("peek", lambda reader: reader.thumbnail(clip), put)

    def _show_peek(self, turn: int, pixmap: QPixmap) -> None:
        if turn == self._peeks:
            self._peek.setPixmap(pixmap)
            self._peek.pop()
            # a label tells that the pointer left a link, but not when the whole widget went away
            QTimer.singleShot(6000, self._peek.hide)

    def _end_peek(self) -> None:
        """Show no picture; one that still comes is not shown."""
        self._peeks += 1
        self._peek.hide()
        self._peek.clear()

    def leaveEvent(self, event: QEvent) -> None:
        self._end_peek()
        super().leaveEvent(event)
