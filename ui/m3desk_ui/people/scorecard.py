"""How right the memory is: asks 20 well-chosen pairs and states precision and recall; or compares the memory with a truth file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeyEvent, QPixmap
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from m3desk.domain.clip import clock
from m3desk.domain.ids import source_of
from m3desk.errors import sentence_of
from m3desk_ui.look import plain, theme

if TYPE_CHECKING:
    from m3desk.domain.questions.scorecard import Interval, Score
    from m3desk_ui.hub.bridge import Hub

PAIRS = 20
FACE = 150
TRUTH = "*.rttm *.json *.txt"

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Sample:
    """One side of a pair: a face (its crop) or an utterance (its words)."""

    source: str
    at: int
    crop: str | None
    words: str


class _Side(QWidget):
    """Shows one side, and plays its moment."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self.sample: Sample | None = None
        self.picture = plain.Label()
        self.picture.setFixedSize(FACE, FACE)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.words = plain.Label()
        self.words.setWordWrap(True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.words.setMinimumHeight(3 * self.fontMetrics().lineSpacing())
        self.play = QPushButton(self.tr("Play"))
        self.play.setAutoDefault(False)
        self.play.clicked.connect(self._play)
        column = QVBoxLayout(self)
        column.addWidget(self.picture, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.words)
        column.addWidget(self.play, 0, Qt.AlignmentFlag.AlignHCenter)

    def show_sample(self, sample: Sample | None, key: str) -> None:
        self.sample = sample
        self.play.setEnabled(sample is not None)
        if sample is None:
            self.words.setText(self.tr("(no longer there)"))
            self.picture.clear()
            return
        self.words.setText(f"“{plain.line(sample.words)}”" if sample.words else "" if sample.crop else self.tr("(speech not understood)"))
        self.play.setText(self.tr("Play %1 (%2)").replace("%2", key).replace("%1", clock(sample.at)))
        kind = self.tr("Face at %1") if sample.crop is not None else self.tr("Voice at %1")
        self.picture.setAccessibleName(plain.line(kind.replace("%1", clock(sample.at))))
        self.picture.setPixmap(theme.icon("mdi6.face-man-outline" if sample.crop else "mdi6.account-voice").pixmap(FACE // 2, FACE // 2))
        if sample.crop is None:
            return
        ratio = self.devicePixelRatioF()

        def put(picture: QPixmap) -> None:
            if isValid(self) and self.sample is sample:
                picture.setDevicePixelRatio(ratio)
                self.picture.setPixmap(picture)

        here = self._hub.pictures.get(sample.crop, round(FACE * ratio), round(FACE * ratio), then=put)
        if here is not None:
            put(here)

    def _play(self) -> None:
        if self.sample is not None:
            self._hub.selection.play(self.sample.source, self.sample.at)


class Scorecard(QDialog):
    """Asks pair by pair, by keys or buttons; the result stands in the same place. Does not block the window: a moment can be played."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self.pairs: list[Pair] = []
        self.at = 0
        self.answers: dict[Pair, bool] = {}
        self._samples: dict[str, Sample] = {}
        self.setWindowTitle(self.tr("How right is this memory?"))
        self.resize(560, 460)
        self.said = plain.Label(self.tr("Choosing the pairs that tell most …"))
        self.said.setWordWrap(True)
        self.said.setProperty("heading", True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Pairs answered"))
        self.left, self.right = _Side(hub, self), _Side(hub, self)
        sides = QWidget()
        row = QHBoxLayout(sides)
        row.addWidget(self.left, 1)
        row.addWidget(self.right, 1)
        self.table = QTreeWidget()
        self.table.setRootIsDecorated(False)
        self.table.setHeaderLabels([self.tr("Measure"), self.tr("Value"), self.tr("What it means")])
        self.table.setAccessibleName(self.tr("Result"))
        self.table.setWordWrap(True)
        for column in (0, 1):
            self.table.header().setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        self.table.header().setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        self.stack = QStackedWidget()
        self.stack.addWidget(sides)
        self.stack.addWidget(self.table)
        self.yes = self._button(self.tr("One person (Y)"), lambda: self.answer(True))
        self.no = self._button(self.tr("Two (N)"), lambda: self.answer(False))
        self.unknown = self._button(self.tr("Don't know (D)"), lambda: self.answer(None))
        self.before = self._button(self.tr("Back"), self.step_back)
        self.enough = self._button(self.tr("Enough: show the result"), self.finish)
        self.truth = self._button(self.tr("Compare with a truth file…"), self.choose_truth)
        plain.tip(self.truth, self.tr("RTTM, a timeline or boxes .json, or lines of “start end speaker”"))
        self.close_ = self._button(self.tr("Close"), self.reject)
        answers = QHBoxLayout()
        for button in (self.yes, self.no, self.unknown):
            answers.addWidget(button, 1)
        below = QHBoxLayout()
        for button in (self.before, self.enough, self.truth):
            below.addWidget(button)
        below.addStretch(1)
        below.addWidget(self.close_)
        column_ = QVBoxLayout(self)
        column_.addWidget(self.said)
        column_.addWidget(self.bar)
        column_.addWidget(self.stack, 1)
        column_.addLayout(answers)
        column_.addLayout(below)
        hub.opened.connect(self.reject)
        self._enable()
        self.begin()

    def _button(self, text: str, act: Any) -> QPushButton:
        button = QPushButton(text)
        button.setAutoDefault(False)
        button.clicked.connect(lambda: act())
        return button

    def begin(self) -> None:
        """Ask the engine for the pairs, then read what they look like."""
        desk = self.hub.desk
        if desk is None:
            return

        def drawn(pairs: list[Pair]) -> None:
            if isValid(self):
                ids = list(dict.fromkeys(o for pair in pairs for o in pair))
                self.hub.read("scorecard", lambda reader: read_samples(reader, ids), lambda found: self._ready(pairs, found))

        self.hub.when(desk.scorecard_pairs(PAIRS), drawn, self._failed)

    def _failed(self, error: Exception) -> None:
        if isValid(self):
            self.said.setText(sentence_of(error))

    def _ready(self, pairs: list[Pair], samples: dict[str, Sample]) -> None:
        if not isValid(self):
            return
        self.pairs, self._samples = pairs, samples
        self.bar.setRange(0, max(1, len(pairs)))
        if not pairs:
            self.said.setText(self.tr("There is nothing to compare yet: no two faces, and no two utterances, of anybody."))
        self._show()
        if pairs and self.focusWidget() in (None, self.truth, self.close_):  # the only ones that could be reached meanwhile
            self.yes.setFocus()

    def _show(self) -> None:
        self.stack.setCurrentIndex(0)
        if self.at < len(self.pairs):
            a, b = self.pairs[self.at]
            self.left.show_sample(self._samples.get(a), "1")
            self.right.show_sample(self._samples.get(b), "2")
            count = self.tr("Are these one person? %1 of %2")
            self.said.setText(count.replace("%2", str(len(self.pairs))).replace("%1", str(self.at + 1)))
        self.bar.setValue(self.at)
        self._enable()

    def _enable(self) -> None:
        asking = self.stack.currentIndex() == 0 and self.at < len(self.pairs)
        for button in (self.yes, self.no, self.unknown):
            button.setEnabled(asking)
            button.setVisible(self.stack.currentIndex() == 0)
        self.before.setEnabled(bool(self.pairs) and self.at > 0)
        self.enough.setEnabled(asking and bool(self.answers))
        self.enough.setVisible(self.stack.currentIndex() == 0)
        self.left.setVisible(bool(self.pairs))
        self.right.setVisible(bool(self.pairs))

    # ------------------------------------------------------------ answering

    def answer(self, same: bool | None) -> None:
        """Note an answer (None: not known), and go to the next pair."""
        if self.stack.currentIndex() != 0 or self.at >= len(self.pairs):
            return
        pair = self.pairs[self.at]
        if same is None:
            self.answers.pop(pair, None)
        else:
            self.answers[pair] = same
        self.at += 1
        if self.at < len(self.pairs):
            self._show()
        else:
            self.finish()

    def step_back(self) -> None:
        """Go back to the pair before."""
        if self.at > 0:
            self.at -= 1
            self._show()

    def finish(self) -> None:
        """Show precision and recall by the answers so far."""
        desk = self.hub.desk
        if desk is None:
            return
        if not self.answers:
            self.said.setText(self.tr("No pair was answered, so nothing can be said."))
            self._enable()
            return

        def scored(score: Score) -> None:
            if isValid(self):
                rows = [
                    (self.tr("Precision"), interval(score.precision), self.tr("of what is taken for one person, so much is one person")),
                    (self.tr("Recall"), interval(score.recall), self.tr("of what is one person, so much is taken for one person")),
                ]
                answered = self.tr("%1 pairs answered. In brackets: the 95 % interval.").replace("%1", str(score.answered))
                self._tell(answered, rows)

        self.hub.when(desk.score(dict(self.answers)), scored, self._failed)

    def choose_truth(self) -> None:
        """Let the user choose truth files, and show what the comparison says."""
        kinds = f"{self.tr('Truth files')} ({TRUTH});;{self.tr('All files')} (*)"
        chosen, _ = QFileDialog.getOpenFileNames(self, self.tr("Who was really seen and heard when"), "", kinds)
        if chosen:
            self.compare(chosen)

    def compare(self, files: Sequence[str]) -> None:
        """Compare the memory with truth files."""
        desk = self.hub.desk
        if desk is None:
            return
        self.said.setText(self.tr("Comparing …"))
        self.truth.setEnabled(False)

        def done(report: Mapping[str, Any]) -> None:
            if isValid(self):
                self.truth.setEnabled(True)
                self._tell(self.tr("Compared with the truth file."), report_rows(report))

        def failed(error: Exception) -> None:
            if isValid(self):
                self.truth.setEnabled(True)
                self._failed(error)

        self.hub.when(desk.evaluate(files), done, failed)

    def _tell(self, head: str, rows: Sequence[tuple[str, str, str]]) -> None:
        self.said.setText(head)
        self.table.clear()
        for row in rows:
            item = QTreeWidgetItem([plain.line(text) for text in row])
            item.setData(2, Qt.ItemDataRole.ToolTipRole, plain.tip_text(row[2]))
            self.table.addTopLevelItem(item)
        self.stack.setCurrentIndex(1)
        self.bar.setValue(min(self.at, self.bar.maximum()))
        self._enable()
        self.table.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Answer by Y, N and D, play the sides by 1 and 2."""
        act = {
            Qt.Key.Key_Y: lambda: self.answer(True),
            Qt.Key.Key_N: lambda: self.answer(False),
            Qt.Key.Key_D: lambda: self.answer(None),
            Qt.Key.Key_1: self.left.play.click,
            Qt.Key.Key_2: self.right.play.click,
            Qt.Key.Key_Backspace: self.step_back,
        }.get(Qt.Key(event.key()))
        if act is None or event.modifiers():
            super().keyPressEvent(event)
        else:
            act()


def read_samples(reader: Any, ids: Sequence[str]) -> dict[str, Sample]:
    """Read what observations look and sound like (in the reading thread)."""
    found = {r.track.id: Sample(source_of(r.track.id), r.track.start, next(iter(r.track.crops), None), "") for r in reader.tracks_of(ids)}
    return found | {
        r.utterance.id: Sample(source_of(r.utterance.id), r.utterance.start, None, r.utterance.text) for r in reader.speech_of(ids)
    }


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def interval(of: Interval | None) -> str:
    """Return a value with the interval that it lies in."""
    if of is None:
        return "–"
    low, value, high = (f"{100 * x:.0f}" for x in of)
    return f"{value} % ({low}–{high} %)"


def report_rows(report: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return a report of `evaluate identity` as rows: what was measured, its value, and what that means."""
    translate = QCoreApplication.translate
    rows: list[tuple[str, str, str]] = []
    for key, what in (("faces", translate("Scorecard", "Faces")), ("voices", translate("Scorecard", "Voices"))):
        r = report.get(key) or {}
        if not r.get("labelled"):
            rows.append((what, "–", translate("Scorecard", "none has a true person")))
            continue
        pairs = r["pairwise"]
        count = translate("Scorecard", "%1 compared, of %2 people; of what is taken for one person, so much is one person")
        count = count.replace("%1", str(r["labelled"])).replace("%2", str(r["true_people"]))
        rows += [
            (translate("Scorecard", "%1: precision").replace("%1", what), percent(pairs["precision"]), count),
            (
                translate("Scorecard", "%1: recall").replace("%1", what),
                percent(pairs["recall"]),
                translate("Scorecard", "of what is one person, so much is taken for one person"),
            ),
            (
                translate("Scorecard", "%1: people for each").replace("%1", what),
                f"{r['people_per_person']:.2f}" if r.get("people_per_person") is not None else "–",
                translate("Scorecard", "as how many people one true person is listed; best is 1"),
            ),
        ]
        if r.get("der") is not None:
            rows.append(
                (
                    translate("Scorecard", "Speaking time told wrongly"),
                    percent(r["der"]),
                    translate("Scorecard", "missed, invented, or given to somebody else (diarization error rate)"),
                )
            )
    linked = report.get("links") or {}
    if linked.get("possible"):
        text = translate("Scorecard", "right for %1 of %2 people, wrong for %3")
        for mark, name in (("%1", "right"), ("%2", "possible"), ("%3", "wrong")):
            text = text.replace(mark, str(linked[name]))
        rows.append((translate("Scorecard", "Face and voice"), percent(linked["right"] / linked["possible"]), text))
    told = (report.get("attribution_detail") or {}).get("sentences") or {}
    if told.get("accuracy") is not None:
        text = translate("Scorecard", "of %1 sentences, so many name the right person").replace("%1", str(told["right"] + told["wrong"]))
        rows.append((translate("Scorecard", "Sentences"), percent(told["accuracy"]), text))
    for p in report.get("people", ()):
        stands = translate("Scorecard", "not found")
        if p["people"]:
            stands = translate("Scorecard", "listed as %1").replace("%1", ", ".join(p["people"]))
        rows.append((str(p["true"]), str(p["person"] or "–"), stands))
    return rows
