"""How sure it is that all of a person's faces and utterances are one person: a small bar, words, and what fits least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QProgressBar, QWidget
from shiboken6 import isValid

from m3desk.domain.clip import clock
from m3desk_ui.look import links, plain, theme

if TYPE_CHECKING:
    from m3desk.domain.insight import Belonging
    from m3desk.domain.people import SpeechRow, TrackRow
    from m3desk_ui.hub.bridge import Hub

WIDTH, HEIGHT = 64, 6
LEVELS = (0.95, 0.85, 0.7)
"""Mean probabilities from which it is very sure, sure, fairly sure."""
FITS = 0.85
"""An observation that fits the others with less is named."""
NAMED = 2
NARROW = 300
"""Pixels of width below which the words stand below the bar."""


class Sureness(QWidget):
    """One line on the page of a person; hidden while there is nothing to compare."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._asked = 0
        self._times: dict[str, int] = {}
        self.belonging: Belonging | None = None
        self.bar = QProgressBar()
        self.bar.setRange(0, 100)
        self.bar.setTextVisible(False)
        self.bar.setFixedSize(WIDTH, HEIGHT)
        self.text = plain.RichLabel(self)
        self.text.setWordWrap(True)
        self.text.linkActivated.connect(self._follow)
        self._row = row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.bar, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.text, 1)
        self.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the words below the bar where they would be broken after every other word beside it."""
        super().resizeEvent(event)
        below = self.width() < NARROW
        self._row.setDirection(QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(3 if below else 8)

    def read(self, person: str, tracks: tuple[TrackRow, ...], speech: tuple[SpeechRow, ...]) -> None:
        """Ask the engine how sure it is of a person."""
        desk = self._hub.desk
        if desk is None:
            return
        self._asked += 1
        asked = self._asked
        self._times = {r.track.id: r.track.start for r in tracks} | {r.utterance.id: r.utterance.start for r in speech}

        def known(found: Belonging) -> None:
            if isValid(self) and asked == self._asked:
                self.show_belonging(found)

        def unknown(_error: Exception) -> None:  # merged into somebody, or forgotten, meanwhile
            if isValid(self) and asked == self._asked:
                self.forget()

        self._hub.when(desk.belonging(person), known, unknown)

    def forget(self) -> None:
        """Show nothing."""
        self._asked += 1
        self.belonging = None
        self.hide()

    def dress(self) -> None:
        """Set texts and colours again."""
        if self.belonging is not None:
            self.show_belonging(self.belonging)

    def show_belonging(self, found: Belonging) -> None:
        """Show what was found."""
        self.belonging = found
        self.setVisible(found.probability is not None)
        if found.probability is None:
            return
        c = theme.colours()
        share = found.probability
        colour = c.good if share >= LEVELS[1] else c.warn
        self.bar.setStyleSheet(
            f"QProgressBar {{ background: {c.raised}; border: none; border-radius: 3px; }}"
            f"QProgressBar::chunk {{ background: {colour}; border-radius: 3px; }}"
        )
        self.bar.setValue(round(100 * share))
        words = self.tr("%1 that all of this is one person").replace("%1", level(share))
        self.bar.setAccessibleName(self.tr("How sure it is that this is one person"))
        self.bar.setAccessibleDescription(plain.line(f"{words}, {round(100 * share)} %"))
        html = f"<span style='color:{c.muted}'>{plain.html(words)} ({round(100 * share)} %)</span>"
        if low := [(o, p) for o, p in found.least if p < FITS and o in self._times][:NAMED]:
            fits = self.tr("fits least:")
            shown = [links.link(f"{clock(self._times[o])} ({round(100 * p)} %)", "observation", o) for o, p in low]
            html += f" <span style='color:{c.muted}'>· {plain.html(fits)}</span> {', '.join(shown)}"
        self.text.setText(html)
        compared = self.tr("%1 pairs compared. A click on a time shows it with why it was taken for this person.")
        plain.tip(
            self.text,
            self.tr("The mean probability that two of these faces, or two of these utterances, are of one person, by how alike they are.")
            + "\n"
            + compared.replace("%1", str(found.pairs)),
        )

    def _follow(self, url: str) -> None:
        links.follow(self._hub, url)
        self._hub.selection.wanted.emit("inspector")


def level(share: float) -> str:
    """Return a probability in words."""
    translate = QCoreApplication.translate
    words = (
        translate("Sureness", "Very sure"), translate("Sureness", "Sure"), translate("Sureness", "Fairly sure"),
        translate("Sureness", "Not sure"),
    )  # fmt: skip
    return words[next((i for i, least in enumerate(LEVELS) if share >= least), len(LEVELS))]
