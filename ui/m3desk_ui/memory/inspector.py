"""The inspector dock: shows the selected thing with its pictures, times, links and evidence; every item is a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from m3desk.errors import CorrectionError, M3DeskError, as_sentence
from m3desk_ui.hub.following import Following, Read
from m3desk_ui.look import links, plain, theme
from m3desk_ui.memory.inspector_words import Inspected, Row, labels, read_thing, reread
from m3desk_ui.memory.reasons import reasons

if TYPE_CHECKING:
    from m3desk.domain.changed import Changed
    from m3desk.domain.questions.types import Verdict
    from m3desk_ui.hub.bridge import Hub

PICTURE, SMALL = 96, 40
"""Pixels of a picture of the thing itself, and of one in a row."""
BACK = 40


class Inspector(QWidget):
    """Shows whatever is selected; its own back button goes through what was shown before."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self._shown: tuple[str, str] = ("", "")
        self._past: list[tuple[str, str]] = []
        self._found: Inspected | None = None
        self._going_back = self._is_gone = False
        self._why: tuple[str, list[Row] | None] = ("", None)
        """The observation of which the engine was asked why it is bound to its person; the reasons, None until it answers."""
        self._why_changed = self._with_details = False
        self._redraw = QTimer(self, singleShot=True, interval=30)
        self._redraw.timeout.connect(self._draw)
        self.text = plain.Page(self)
        self.text.anchorClicked.connect(self._follow_link)
        self.back = QToolButton(self)
        self.back.clicked.connect(self._go_back)
        self.play = QToolButton(self)
        self.play.clicked.connect(self._play)
        self.listen = QToolButton(self)
        self.listen.clicked.connect(self._listen)
        self.ask = QToolButton(self)
        self.ask.clicked.connect(self._ask)
        bar = QHBoxLayout()
        bar.setContentsMargins(6, 4, 6, 2)
        bar.addWidget(self.back)
        bar.addStretch(1)
        for button in (self.listen, self.play, self.ask):
            bar.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.text, 1)
        self.following = Following(
            hub, "inspector", load=self._load, show=self._show, patch=self._changed, apply=self._patch, failed=self._gone, parent=self
        )
        hub.opened.connect(self._forget)
        hub.themed.connect(self._themed)
        hub.selection.selected.connect(self.inspect)
        self._themed()
        self.inspect(*hub.selection.current)

    def _themed(self) -> None:
        self.text.setAccessibleName(self.tr("Inspector"))
        for button, icon, tip in (
            (self.back, "mdi6.arrow-left", self.tr("Back")),
            (self.play, "mdi6.play", self.tr("Play this moment")),
            (self.listen, "mdi6.volume-high", self.tr("Listen to the voice")),
            (self.ask, "mdi6.chat-question-outline", self.tr("Ask about this")),
        ):
            button.setIcon(theme.icon(icon))
            plain.tip(button, tip)
            button.setAccessibleName(tip)
        self._draw()

    # ------------------------------------------------------------ reading

    def inspect(self, kind: str, id_: str) -> None:
        """Show a thing."""
        if (kind, id_) == self._shown:
            return
        if self._shown[1] and not self._going_back:
            self._past = [*self._past, self._shown][-BACK:]
        self._shown = (kind, id_)
        self.refresh()

    def refresh(self) -> None:
        """Read the selected thing."""
        if self._shown[1]:
            self.following.restart()
        else:
            self.following.stop()
            self._found = None
            self._draw()

    def _load(self) -> Read[Inspected]:
        kind, id_ = self._shown
        return lambda reader: read_thing(reader, kind, id_)

    def _changed(self, changed: Changed) -> Read[Inspected | None]:
        """Read the item again if it, or anything shown with it, changed."""
        (kind, id_), found = self._shown, self._found
        self._why_changed |= changed.whole or id_ in changed.observations
        if found is None or self._is_gone:
            return lambda reader: read_thing(reader, kind, id_)
        return lambda reader: reread(reader, kind, id_, found, changed)

    def _forget(self, _path: str) -> None:
        self._shown = ("", "")
        self._past = []
        self._why = ("", None)
        self.refresh()

    def _gone(self, error: Exception) -> None:
        """Say that a thing is gone; clear where a person is, whose name an error would tell (in English)."""
        self._is_gone = True
        if isinstance(error, CorrectionError):
            self._found = None
            self._draw()
            return
        self._found = Inspected(
            self.tr("This is no longer in the memory."), as_sentence(str(error)) if not isinstance(error, KeyError) else ""
        )
        self._draw()

    def _show(self, found: Inspected) -> None:
        self._found, self._is_gone = found, False
        self._ask_why(found.bound)
        self._draw()

    def _patch(self, found: Inspected | None) -> None:
        if found is not None:
            self._show(found)

    @property
    def reasons_of(self) -> str:
        """Return the observation whose reasons are here, else the empty string."""
        return self._why[0] if self._why[1] is not None else ""

    def _ask_why(self, observation: str) -> None:
        """Ask the engine for the reasons of an observation's binding, unless they are here; old ones are shown until it answers."""
        desk, (known, lines) = self.hub.desk, self._why
        if desk is None or (observation == known and not self._why_changed):
            return
        self._why, self._why_changed = (observation, lines if observation == known else None), False

        def show(lines: list[Row]) -> None:
            if self.hub.desk is desk and self._why[0] == observation:
                self._why = observation, lines
                self._draw()

        def failed(error: Exception) -> None:
            if not isinstance(error, M3DeskError):
                self.hub.tell(error)
            show([Row(plain.html(as_sentence(str(error))))])

        def answered(verdict: Verdict) -> None:
            if self.hub.desk is desk and self._why[0] == observation:
                self.hub.read("inspector why", lambda reader: reasons(reader, verdict), show, failed)

        if observation:
            self.hub.when(desk.why(observation), answered, failed)

    # ------------------------------------------------------------ showing

    def _draw(self) -> None:
        found = self._found
        self.back.setEnabled(bool(self._past))
        self.play.setEnabled(found is not None and found.play is not None)
        self.listen.setVisible(found is not None and found.sound is not None)
        self.ask.setEnabled(found is not None)
        c = theme.colours()
        if found is None:
            hint = self.tr("Select a person, a memory, a face or a node of the graph to see where it comes from.")
            self.text.show_html(f"<p style='color:{c.muted}'>{plain.html(hint)}</p>")
            return
        parts = [f"<p style='color:{c.muted};margin-bottom:2px'>{plain.html(found.what)}</p>" if found.what else ""]
        parts.append(f"<p style='font-size:large;font-weight:600;margin-top:0'>{plain.html(found.title)}</p>")
        if found.pictures:
            parts.append("<p>" + " ".join(self._picture(media, address) for media, address in found.pictures[:12]) + "</p>")
        parts.append(self._table(found.facts))
        for heading, rows in (*self._reasons(found), *found.lists):
            if rows:
                parts.append(f"<p style='color:{c.muted};margin-bottom:2px'>{plain.html(heading)}</p>")
                parts.append(self._rows(rows))
        if any(html for _, html in found.details):
            fold = self.tr("▾ Details") if self._with_details else self.tr("▸ Details")
            parts.append(f"<p>{links.chip(fold, 'details')}</p>")
            parts.append(self._table(found.details) if self._with_details else "")
        at = self.text.verticalScrollBar().value()
        self.text.show_html("".join(parts))
        self.text.verticalScrollBar().setValue(at)

    @staticmethod
    def _table(facts: list[tuple[str, str]]) -> str:
        muted = theme.colours().muted
        rows = "".join(
            f"<tr><td style='color:{muted};padding:2px 12px 2px 0'>{plain.html(label)}</td><td style='padding:2px 0'>{html}</td></tr>"
            for label, html in facts
            if html
        )
        return f"<table cellspacing='0'>{rows}</table>" if rows else ""

    def _rows(self, rows: list[Row]) -> str:
        """Return rows of a time, a picture and words; a column that all lack is left out."""
        timed, pictured = any(r.at for r in rows), any(r.picture for r in rows)
        lines = []
        for row in rows:
            cells = [f"<td style='padding:3px 8px 3px 0'>{links.moment(*row.at) if row.at else ''}</td>"] if timed else []
            if pictured:
                picture = self._picture(row.picture, row.address, SMALL) if row.picture else ""
                cells.append(f"<td style='padding:3px 8px 3px 0'>{picture}</td>")
            lines.append(f"<tr>{''.join(cells)}<td style='padding:3px 0'>{row.html}</td></tr>")
        return f"<table cellspacing='0'>{''.join(lines)}</table>"

    def _reasons(self, found: Inspected) -> list[tuple[str, list[Row]]]:
        """Return the heading and the reasons of an observation's binding."""
        observation, lines = self._why
        if not found.bound or found.bound != observation:
            return []
        return [(labels()["why"], [Row(plain.html(self.tr("being computed…")))] if lines is None else lines)]

    def _picture(self, media: str, address: str, side: int = PICTURE) -> str:
        ratio = self.devicePixelRatioF()
        here = self.hub.pictures.get(media, round(PICTURE * ratio), then=lambda _pixmap: self._redraw.start())
        if here is None:
            here = QPixmap(PICTURE, PICTURE)
            here.fill(theme.colours().raised)
        return f'<a href="{address}">{self.text.picture(media, here, side, side)}</a>'

    # ------------------------------------------------------------ acting

    def _follow_link(self, url: QUrl) -> None:
        if links.parts(url) == ["details"]:
            self._with_details = not self._with_details
            self._draw()
        else:
            links.follow(self.hub, url)

    def _go_back(self) -> None:
        if self._past:
            self._going_back = True
            kind, id_ = self._past.pop()
            self.hub.selection.select(kind, id_)
            self._going_back = False

    def _play(self) -> None:
        if self._found is not None and self._found.play is not None:
            self.hub.selection.play(*self._found.play)

    def _ask(self) -> None:
        if self._found is not None:
            self.hub.selection.asked_about.emit(self.tr("What led to this: “%1”?").replace("%1", self._found.title))
            self.hub.selection.wanted.emit("chat")

    def _listen(self) -> None:
        """Play the stored speech; the app plays it where it can, else the video plays the moment."""
        found = self._found
        if found is None or found.sound is None:
            return
        media = found.sound

        def heard(data: bytes | None) -> None:
            from m3desk import app

            if data:
                self.hub.work(lambda: app.play_sound(data))
            else:
                self._play()

        self.hub.read("inspector sound", lambda reader: reader.media(media), heard)
