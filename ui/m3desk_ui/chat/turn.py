"""The chat widget of one question with its rounds and answer; turns answers into text with links."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCursor, QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from m3desk import events
from m3desk.domain.basis import renamed, said_by
from m3desk.domain.clip import clock
from m3desk.errors import CorrectionError, as_sentence
from m3desk_ui.look import links, plain, texts, theme

if TYPE_CHECKING:
    from m3desk.domain.people import Person

SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.!?。！？]+[”\"’')\]]*|\n|$)(?:\s*\[[^\]\n]{1,40}\][.。]?)*\s*")
"""A sentence with the marks that follow it: "Ann drinks tea. [00:10] [00:20]"."""
_LEFT_OUT = r"(?:\d\ds?|em|tis|twas|til|till|cause|bout|round|n)\b"
"""What stands after an apostrophe where something is left out in front: "the '90s", "rock 'n' roll"."""
OPENED, CLOSED = re.compile(rf"(?<![^\s,:(])['‘](?=\S)(?!{_LEFT_OUT})", re.IGNORECASE), re.compile(r"(?<=\S)['’](?!\w)")
STREAM_MS = 60
ASKED = 2000
"""Code points of a question that are shown."""
LONGEST = 2**53 // 1_000_000
"""Seconds that a time of a stored chat is at most: what a JSON number holds in microseconds."""


def quotes(text: str) -> bool:
    """Return whether a text ends within a quotation; models quote with straight marks, too, of which one inside a word is an apostrophe."""
    if text.count("“") > text.count("”") or text.count('"') % 2:
        return True
    return len(OPENED.findall(text)) > len(CLOSED.findall(text))


def named(before: str, piece: str) -> bool:
    """Return whether the question mark before a piece is that of a suggested name ("Ann? drinks tea") and ends no sentence."""
    return before.rstrip(" ").endswith("?") and (piece[:1].islower() or (before[-1] == "?" and not piece[:1].isspace()))


def sentences(answer: str) -> list[str]:
    """Return an answer in sentences, each with its citation marks; joined they are the answer. What is quoted stays in one piece."""
    found: list[str] = []
    for piece in SENTENCE.findall(answer):
        before = found[-1] if found else ""
        if (quotes(before) and not before.endswith("\n")) or named(before, piece):
            found[-1] += piece
        else:
            found.append(piece)
    return found


def marked(text: str, citations: Sequence[events.Citation]) -> tuple[str, bool]:
    """Return text as HTML with its citation marks as links, and whether it had any."""
    by_mark = {c.mark: c for c in citations if c.mark}
    if not by_mark:
        return plain.html(text), False
    pattern = re.compile("|".join(re.escape(m) for m in sorted(by_mark, key=len, reverse=True)))
    parts, last, any_ = [], 0, False
    for hit in pattern.finditer(text):
        c = by_mark[hit.group()]
        shown = f"[{texts.moment(plain.line(c.source), c.start)}]" if hit.group() == f"[{c.source} {clock(c.start)}]" else hit.group()
        parts += [plain.html(text[last : hit.start()]), links.link(shown, "play", c.source, c.start)]
        last, any_ = hit.end(), True
    parts.append(plain.html(text[last:]))
    return "".join(parts), any_


def answer_html(answer: str, citations: Sequence[events.Citation], faint: str) -> str:
    """Return an answer with links; sentences that cite nothing are set apart where others cite."""
    if not any(c.mark and c.mark in answer for c in citations):
        shown, _ = marked(answer, citations)
        moments = " ".join(links.moment(c.source, c.start) for c in citations)
        return f"{shown} {moments}".strip()
    parts = []
    for sentence in sentences(answer):
        html, cited = marked(sentence, citations)
        parts.append(html if cited or not sentence.strip() else f'<i style="color:{faint}">{html}</i>')
    return "".join(parts)


def from_chat(chat: dict[str, Any]) -> tuple[str, list[events.AskRound], events.AskDone]:
    """Return question, rounds and end of a stored chat (the keys of `ask --json`, times in microseconds or seconds).

    A field that is damaged (one of an imported file may be anything) counts as absent.
    """
    cited = []
    marks, said = _list(chat.get("marks")), _list(chat.get("said"))
    for number, c in enumerate(_list(chat.get("citations"))):
        if not isinstance(c, dict):
            continue
        start, node = _moment(c.get("start")), _text(c.get("node")) or None
        mark = _text(marks[number]) if number < len(marks) else _text(c.get("mark")) or f"[{clock(start)}]"
        words = _text(said[number]) if number < len(said) else ""
        cited.append(events.Citation(_text(c.get("clip")), _text(c.get("source")), start, _moment(c.get("end")), node, mark, words))
    rounds = []
    for number, r in enumerate((r for r in _list(chat.get("rounds")) if isinstance(r, dict)), 1):
        results, shown = tuple(map(_text, _list(r.get("results")))), tuple(map(_text, _list(r.get("shown"))))
        action = _text(r.get("action")) or "search"
        rounds.append(events.AskRound("", number, action, _text(r.get("query")), results, shown, _seconds(r.get("seconds"))))
    called = chat.get("called")
    done = events.AskDone(
        "", _text(chat.get("answer")), bool(chat.get("found", True)), tuple(cited), _text(chat.get("model")),
        _seconds(chat.get("seconds")), bool(chat.get("quoted", False)), _text(chat.get("error")) or None, _text(chat.get("problem")),
        tuple((id_, _text(name)) for id_, name in called.items()) if isinstance(called, dict) else (),
    )  # fmt: skip
    return _text(chat.get("question")), rounds, done


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _seconds(value: Any) -> float:
    """Return a number from 0 to `LONGEST` seconds; 0 for anything else."""
    return float(value) if isinstance(value, (int, float)) and 0 <= value <= LONGEST else 0.0


def _moment(value: Any) -> int:
    """Return a time in microseconds (whole numbers) or seconds (others) as microseconds; 0 for anything else."""
    if isinstance(value, float):
        return round(_seconds(value) * 1_000_000)
    return int(value) if isinstance(value, int) and 0 <= value <= LONGEST * 1_000_000 else 0


@dataclass(frozen=True, slots=True)
class Standing:
    """What answers rest on as the memory has it now.

    `people`: person → (who that is now, what they are called in the memory); who is gone is missing. `called`: the same in the window's
    language; `said`: node → what it says.
    """

    people: Mapping[str, tuple[str, str]]
    called: Mapping[str, str]
    said: Mapping[str, str]

    def outdated(self, done: events.AskDone) -> bool:
        """Return whether an answer names somebody who is gone, two who are one now, or cites what says something else now."""
        then = dict(done.called)
        now = [self.people[id_][0] for id_ in then if id_ in self.people]
        if len(set(now)) < len(then):
            return True
        names = {id_: name for id_, (_, name) in self.people.items()}
        return any(c.said and renamed(c.said, then, names) != self.said.get(c.node or "") for c in done.citations)


def read_standing(reader: Any, people: Collection[str], nodes: Collection[str]) -> Standing:
    """Read what answers rest on. Runs in the reading thread."""
    found, called = {}, {}
    for id_ in people:
        try:
            person = reader.person(id_)
        except CorrectionError:
            continue
        called[id_] = person.shown
        found[id_] = (person.id, _stored(person))
    rows = reader.nodes_of(nodes)
    holders = {p.id: _stored(p) for p in reader.people_of({r.person for r in rows if r.person})}
    return Standing(found, called, said_by(reader.memories_of(nodes), rows, holders))


def _stored(person: Person) -> str:
    """Return what somebody is called in the memory, whatever the window's language."""
    numbered = f"Person {person.number}"
    return numbered if person.shown == texts.person(numbered) else person.shown


class Round(QWidget):
    """One search round as a line that expands to its results."""

    def __init__(self, happened: events.AskRound, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        count = len(happened.results)
        if happened.action == "search":
            found = self.tr("1 memory") if count == 1 else self.tr("%1 memories").replace("%1", str(count))
            line = self.tr("searched “%1” → %2").replace("%1", happened.query).replace("%2", found)
        else:
            line = self.tr("wrote the answer")
        self._said = f"{line} · {happened.seconds:.1f}\N{NO-BREAK SPACE}s"
        self.head = QToolButton(self)
        self.head.setAccessibleName(plain.line(self._said))
        self.head.setAutoRaise(True)
        self.head.setCheckable(bool(happened.shown))
        self.head.toggled.connect(self._unfold)
        self.line = plain.RichLabel(self)  # beside the button, for a button's own text does not wrap
        self.line.setWordWrap(True)
        self.line.linkActivated.connect(lambda _url: self.head.toggle())
        self.body = plain.RichLabel(self)
        self.body.setWordWrap(True)
        self.body.setContentsMargins(26, 0, 0, 4)
        rows = []
        for number, text in enumerate(happened.shown):
            id_ = happened.results[number] if number < len(happened.results) else ""
            kind = "clip" if re.fullmatch(r"s\d+\.c\d+", id_) else "node"
            rows.append(links.link(text, kind, id_) if id_ else plain.html(text))
        self.body.setText("<br>".join(rows))
        self.body.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        row = QHBoxLayout()
        row.setSpacing(2)
        row.addWidget(self.head, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.line, 1)
        column.addLayout(row)
        column.addWidget(self.body)
        self.dress()

    def dress(self) -> None:
        icon = "mdi6.chevron-down" if self.head.isChecked() else "mdi6.chevron-right"
        self.head.setIcon(theme.icon(icon if self.head.isCheckable() else "mdi6.check", theme.colours().muted))
        self.head.setStyleSheet("QToolButton { padding: 1px 4px; }")
        style = f"color:{theme.colours().muted}; text-decoration:none"
        said = plain.html(plain.line(self._said))
        self.line.setText(
            f'<a style="{style}" href="unfold">{said}</a>' if self.head.isCheckable() else f'<span style="{style}">{said}</span>'
        )

    def _unfold(self, on: bool) -> None:
        self.body.setVisible(on)
        self.dress()


class ChatTurn(QFrame):
    """A question with its rounds and answer."""

    followed = Signal(str)
    hovered = Signal(str, object)
    """A link under the pointer ("" = none any more) and the citation it stands for, or None."""
    download_wanted = Signal()
    again_wanted = Signal(str)
    """The question of an answer that is out of date."""
    stops_changed = Signal()

    def __init__(self, question: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.question = question
        self.done: events.AskDone | None = None
        self.offers = False
        """Whether it offers the language model where none answered: once in a session."""
        self._now: Standing | None = None
        self._pieces: list[str] = []
        self.asked = plain.Label(question, self, most=ASKED)
        self.asked.setWordWrap(True)
        self.asked.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.rounds = QVBoxLayout()
        self.rounds.setSpacing(0)
        self.answer = plain.Stream(self)
        self.answer.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self.answer.linkActivated.connect(self.followed)
        self.answer.linkHovered.connect(self._hover)
        self.foot = plain.RichLabel(self)
        self.foot.setWordWrap(True)
        self.foot.linkActivated.connect(lambda url: self.again_wanted.emit(question) if url == "again" else self.download_wanted.emit())
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 8, 10, 10)
        column.setSpacing(5)
        row = QHBoxLayout()
        row.addSpacing(28)
        row.addWidget(self.asked, 1)
        column.addLayout(row)
        column.addLayout(self.rounds)
        column.addWidget(self.answer)
        column.addWidget(self.foot)
        self.foot.hide()
        # the label is set again at most every STREAM_MS, however fast pieces come
        self._stream = QTimer(self, singleShot=True, interval=STREAM_MS)
        self._stream.timeout.connect(self._show_pieces)
        self._since = time.monotonic()
        self._doing = self.tr("Searching …")
        self._clock = QTimer(self, interval=1000)
        self._clock.timeout.connect(self._show_doing)
        self._clock.start()
        self._show_doing()
        self.dress()

    def dress(self) -> None:
        """Read the theme's colours again."""
        c = theme.colours()
        self.asked.setStyleSheet(f"background: {c.raised}; border-radius: 8px; padding: 6px 10px;")
        self.foot.setStyleSheet(f"color: {c.muted};")
        for round_ in self.findChildren(Round):
            round_.dress()
        if self.done is not None:
            self._show_done(self.done)

    def stops(self) -> list[QWidget]:
        """Return what Tab goes through: the rounds, the answer with its citations, and the line below."""
        return [*(part for row in self.findChildren(Round) for part in (row.head, row.body)), self.answer, self.foot]

    def take(self, event: object) -> None:
        """Take the next event of this question."""
        if isinstance(event, events.AskRound):
            row = Round(event, self)
            row.body.linkActivated.connect(self.followed)
            self.rounds.addWidget(row)
            self.stops_changed.emit()
            self._doing = self._next_step(event)
            self._show_doing()
        elif isinstance(event, events.AskWaits):  # for the last seconds of a live source
            self._doing = self._awaited(event)
            line = plain.Label(self._doing, self)
            line.setWordWrap(True)
            line.setProperty("muted", True)
            self.rounds.addWidget(line)
            self._show_doing()
        elif isinstance(event, events.AskText):
            self._pieces.append(event.piece)
            if not self._stream.isActive():
                self._stream.start()
        elif isinstance(event, events.AskDone):
            # As the user felt it: models may have been loaded and a clip awaited before the engine began to answer.
            self.done = replace(event, seconds=max(event.seconds, time.monotonic() - self._since))
            self._stream.stop()
            self._clock.stop()
            self._show_done(self.done)
            self.stops_changed.emit()

    def _awaited(self, event: events.AskWaits) -> str:
        """Return what is said of the last seconds of a live source, which are not memorized."""
        if event.known:
            told = self.tr("Memorizing the last second first.") if event.seconds == 1 else self.tr("Memorizing the last %1 seconds first.")
        elif event.seconds == 1:
            told = self.tr("The last second is not memorized yet: of it only names and subtitles are known.")
        else:
            told = self.tr("The last %1 seconds are not memorized yet: of them only names and subtitles are known.")
        return told.replace("%1", str(event.seconds))

    def _next_step(self, event: events.AskRound) -> str:
        """Show the next step after a round: its results are read; then comes the answer or another search."""
        count = len(event.results)
        if event.action != "search":
            return self.tr("Writing the answer …")
        if not count:
            return self.tr("Nothing found; trying again …")
        return self.tr("Reading 1 memory …") if count == 1 else self.tr("Reading %1 memories …").replace("%1", str(count))

    def _show_doing(self) -> None:
        """Show the current step and its duration until the answer's first words arrive."""
        if self.done is None and not self._pieces:
            seconds = int(time.monotonic() - self._since)
            self.answer.say(f"{self._doing} {seconds} s" if seconds else self._doing)

    def _show_pieces(self) -> None:
        if self.done is None:
            self.answer.grow("".join(self._pieces))

    def follow(self, now: Standing) -> None:
        """Call people as they are called now, and say so where a correction changed what the answer rests on."""
        if self.done is not None and now != self._now:
            self._now = now
            self._show_done(self.done)

    def _show_done(self, done: events.AskDone) -> None:
        c = theme.colours()
        if self._now is not None:
            then = dict(done.called)
            done = replace(done, answer=renamed(done.answer, then, self._now.called))
        if done.error:
            self.answer.setText(f'<span style="color:{c.bad}">{plain.html(as_sentence(done.error))}</span>')
        elif not done.found:
            text = done.answer or self.tr("This is not in the memory.")
            head = self.tr("Not in this memory")
            self.answer.setText(f'<b style="color:{c.warn}">{plain.html(head)}</b><br>{marked(text, done.citations)[0]}')
            self.answer.setStyleSheet(f"border: 1px dashed {c.warn}; border-radius: 8px; padding: 8px 10px;")
        else:
            self.answer.setText(answer_html(done.answer, done.citations, c.muted))
        notes = []
        if self._now is not None and self._now.outdated(done):
            why = self.tr("What this answer rests on was corrected since.")
            notes.append(f'<b style="color:{c.warn}">{plain.html(why)}</b> <a href="again">{plain.html(self.tr("Ask again"))}</a>')
        if done.quoted and done.problem:
            why = self.tr("The language model did not answer, so the best matching memories are quoted: %1")
            notes.append(plain.html(why.replace("%1", done.problem)))
        elif done.quoted and self.offers:
            offer = self.tr("Download the language model")
            why = "" if done.found else self.tr("There is no language model yet.")  # an answer that quotes says so itself
            notes.append(f'{plain.html(why)} <a href="download">{plain.html(offer)}</a>'.strip())
        if done.model and not done.error:
            without_model = {"read from the evidence": self.tr("read from the evidence"), "quoting": self.tr("quoted")}
            notes.append(plain.html(f"{without_model.get(done.model, done.model)} · {done.seconds:.1f} s"))
        self.foot.setText("<br>".join(notes))
        self.foot.setVisible(bool(notes))

    def stopped(self) -> None:
        """Say that the user stopped it."""
        if self.done is None:
            text = "".join(self._pieces)
            self._stream.stop()
            self._clock.stop()
            stopped = self.tr("(stopped)")
            self.answer.say(f"{text} {stopped}".strip())

    def _hover(self, url: str) -> None:
        citation = None
        match links.parts(url):
            case ["play", source, at] if self.done is not None and at.isdecimal():
                citation = next((c for c in self.done.citations if c.source == source and c.start == int(at)), None)
        self.hovered.emit(url, citation)


class Peek(plain.Label):
    """The picture of a cited moment, beside the pointer."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setWindowFlag(Qt.WindowType.ToolTip)
        self.setMargin(3)

    def pop(self) -> None:
        """Show beside the pointer, on the other side of it near an edge of the screen."""
        self.adjustSize()
        at = QCursor.pos()
        screen = QGuiApplication.screenAt(at) or self.screen()
        self.move(beside(at, self.size(), screen.availableGeometry()))
        self.show()


def beside(at: QPoint, size: QSize, room: QRect) -> QPoint:
    """Return where a popup of a size goes beside the pointer so that all of it is within the screen."""
    x = at.x() + 14 if at.x() + 14 + size.width() <= room.right() else at.x() - 14 - size.width()
    y = at.y() + 18 if at.y() + 18 + size.height() <= room.bottom() else at.y() - 18 - size.height()
    return QPoint(max(room.left(), x), max(room.top(), y))
