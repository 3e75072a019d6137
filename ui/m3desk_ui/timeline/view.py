"""The timeline dock: the canvas with its tools, what it reads of the memory, and what a click or a chosen span does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QScrollBar,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from m3desk import events
from m3desk.domain.clip import clock
from m3desk_ui.hub.following import Following, Read
from m3desk_ui.look import plain, theme
from m3desk_ui.look.choice import Choice
from m3desk_ui.look.more_button import MoreButton
from m3desk_ui.timeline import marking
from m3desk_ui.timeline import rows as timeline_rows
from m3desk_ui.timeline.axis import ALL
from m3desk_ui.timeline.canvas import GUTTER, LANE, TimelineCanvas
from m3desk_ui.timeline.rows import Part, Plan, Rows
from m3desk_ui.timeline.wave import Wave
from m3desk_ui.window import files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from m3desk.domain.bookmark import Bookmark
    from m3desk.domain.changed import Changed
    from m3desk.domain.clip import Clip, Source
    from m3desk.ports import Reader
    from m3desk_ui.hub.bridge import Hub


Marks = tuple["Sequence[Bookmark]", "Sequence[tuple[str, int, int]]"]
"""Bookmarks, and spans that were forgotten: source, start, end."""


FEWEST = 12
"""Letters of the legend that say something: with room for fewer it is empty."""


class Legend(plain.Label):
    """What the marks mean: cut with an ellipsis where there is no room; all of it is the tip."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._all = text
        self.setProperty("muted", True)
        self.setMinimumWidth(0)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setAccessibleName(text)
        plain.tip(self, text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        shown = self.fontMetrics().elidedText(self._all, Qt.TextElideMode.ElideRight, self.width())
        self.setText(shown if len(shown) > FEWEST else "")


class TimelineView(QWidget):
    """The canvas with its tools: choice of source, zoom, and what can be done with a span."""

    bookmarks_wanted = Signal()
    """The list of bookmarks is asked for."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._waved: tuple[str, str | None] = ("", None)
        """The source whose waveform is shown or was asked for, and its content."""
        self.bookmarks: tuple[Bookmark, ...] = ()
        """Of all sources."""
        self._hits: tuple[tuple[str, int, int], ...] = ()
        self._forgotten: tuple[tuple[str, int, int], ...] = ()
        self.canvas = TimelineCanvas(hub)
        self._stale: set[str] = set()
        """Clips whose pieces are to be read (again)."""
        self._gone: set[str] = set()
        """Clips whose pieces are to be taken out."""
        self._renamed = self._reading = False
        self._source = ""
        self.sources = Choice()
        self.sources.setAccessibleName(self.tr("Source shown"))
        plain.tip(self.sources, self.tr("Source shown"))
        self.sources.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.sources.setMinimumContentsLength(8)
        self.sources.activated.connect(self._choose)
        self.legend = Legend(self.tr("pale: on screen · solid: speaks · ◆ knowledge · ❘ event"))
        self.out, self.fit, self.into = QToolButton(), QToolButton(), QToolButton()
        self.mark, self.marks = QToolButton(), QToolButton()
        for button, text, act in (
            (self.mark, self.tr("Bookmark this moment, or the chosen span (B)"), lambda: marking.add(hub)),
            (self.marks, self.tr("Bookmarks (Ctrl+Shift+B)"), self.bookmarks_wanted.emit),
            (self.out, self.tr("Zoom out (-)"), lambda: self.canvas.zoom(1 / 0.6)),
            (self.fit, self.tr("Show all (0)"), self.canvas.fit),
            (self.into, self.tr("Zoom in (+)"), lambda: self.canvas.zoom(0.6)),
        ):
            plain.tip(button, text)
            button.setAccessibleName(text)
            button.clicked.connect(act)
        row = QHBoxLayout()
        row.setContentsMargins(8, 3, 8, 3)
        row.addWidget(self.sources)
        row.addSpacing(8)
        row.addWidget(self.legend, 1)
        for button in (self.mark, self.marks, self.out, self.fit, self.into):
            row.addWidget(button)
        self.bar = QScrollBar(Qt.Orientation.Vertical)
        self.bar.valueChanged.connect(self._scroll)
        body = QHBoxLayout()
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(0)
        body.addWidget(self.canvas, 1)
        body.addWidget(self.bar)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addLayout(body, 1)
        self._span_bar()
        self._connect()
        self.retheme()
        if hub.desk is not None:
            self.following.restart()
            self.marked.restart()

    def _span_bar(self) -> None:
        self.tools = QFrame(self.canvas)
        self.tools.setProperty("card", True)
        self.ask = QPushButton(self.tr("Ask only here"))
        self.ask.setProperty("primary", True)
        self.ask.clicked.connect(lambda: self._hub.selection.wanted.emit("chat"))
        self.search = QPushButton(self.tr("Memories here"))
        self.search.clicked.connect(self._search_span)
        self.save = QPushButton(self.tr("Save as video…"))
        self.save.clicked.connect(self.save_clip)
        self.forget = QToolButton()
        plain.tip(self.forget, self.tr("Clear the time span (Esc)"))
        self.forget.setAccessibleName(self.tr("Clear the time span (Esc)"))
        self.forget.clicked.connect(self.clear_span)
        self.length = plain.Label()
        row = QHBoxLayout(self.tools)
        row.setContentsMargins(8, 4, 4, 4)
        for button in (self.search, self.save):
            button.setAccessibleName(button.text())
        self.more = MoreButton(self.tools, (self.search, self.save))
        for widget in (self.length, self.ask, self.search, self.save, self.more, self.forget):
            row.addWidget(widget)
        self.tools.hide()

    def _connect(self) -> None:
        hub, canvas = self._hub, self.canvas
        canvas.clicked.connect(self._clicked)
        canvas.spanned.connect(self._spanned)
        canvas.rows_changed.connect(self._size_bar)
        canvas.asked.connect(self._menu)
        canvas.scroll_wanted.connect(lambda lanes: self.bar.setValue(self.bar.value() + lanes * LANE))
        self.marked = Following(
            hub, "timeline.bookmarks", load=lambda: _marks, show=self._take_marks, apply=self._take_marks,
            patch=lambda changed: _marks if changed.steps or changed.sources else None, parent=self,
        )  # fmt: skip
        self.following = Following(
            hub, "timeline.plan", load=self._load, show=self._take_plan, patch=self._changed, apply=self._patch, parent=self
        )
        hub.opened.connect(lambda _p: self._opened())
        hub.progress.connect(self._progress)
        hub.evidence_seen.connect(self._evidence)
        hub.source_changed.connect(self._source_changed)
        hub.pictures.ready.connect(self._picture_ready)
        hub.themed.connect(self.retheme)
        hub.selection.watching.connect(self._watch)
        hub.selection.selected.connect(self._select)
        hub.selection.highlighted.connect(self._highlight)

    def retheme(self) -> None:
        for button, name in (
            (self.out, "magnify-minus-outline"),
            (self.fit, "arrow-expand-horizontal"),
            (self.into, "magnify-plus-outline"),
            (self.mark, "bookmark-plus-outline"),
            (self.marks, "bookmark-multiple-outline"),
        ):
            button.setIcon(theme.icon(f"mdi6.{name}"))
        self.forget.setIcon(theme.icon("mdi6.close"))
        self.more.dress()
        self.canvas.redraw()

    # ------------------------------------------------------------ reading

    def _load(self) -> Read[Plan]:
        source = self._source
        return lambda reader: timeline_rows.plan(reader, source)

    def _changed(self, changed: Changed) -> Read[Part] | None:
        if not self._source:  # no source was there yet
            if changed.sources:
                self.following.restart()
            return None
        if changed.nothing:
            return None
        source, clip_of = self._source, self.canvas.rows.clip_of
        stale = frozenset(clip for node in changed.nodes if (clip := clip_of.get(node)) is not None)
        return lambda reader: timeline_rows.read_part(reader, source, changed, stale)

    def _opened(self) -> None:
        self._source = ""
        self.canvas.rows = Rows()
        self.canvas.plan = Plan(None, (), {}, {})
        self.canvas.watched = {}
        self._hits = ()
        self.canvas.hits, self.canvas.selected = (), ("", "")  # ids mean something else in another memory
        self._begin_anew()
        self.sources.clear()
        self.clear_span()
        self.canvas.fit()
        self._waved, self.canvas.wave = ("", None), None
        self.canvas.strip.clear()
        self._take_marks(((), ()))
        self.following.restart()
        self.marked.restart()

    def _take_marks(self, found: Marks) -> None:
        self.bookmarks, self._forgotten = tuple(found[0]), tuple(found[1])
        self._show_marks()

    def _place(self, source: str, at: int) -> int | None:
        """Return where a time of a source is on the canvas; None if that source is not on show."""
        axis = self.canvas.plan.axis
        start = axis.start_of(source) if axis is not None else 0 if source and source == self._source else None
        return None if start is None else start + at

    def _own(self, at: int) -> tuple[str, int]:
        """Return the source and its own time at a place of the canvas."""
        axis = self.canvas.plan.axis
        return axis.at(at) if axis is not None else (self._source, at)

    def _show_hits(self) -> None:
        source = self.canvas.plan.source
        placed = ((self._place(s, a), self._place(s, b)) for s, a, b in self._hits)
        found = () if source is None else tuple((source.id, a, b) for a, b in placed if a is not None and b is not None)
        if found != self.canvas.hits:
            self.canvas.hits = found
            self.canvas.redraw()

    def _show_marks(self) -> None:
        mine = tuple(
            b if not (at := self._place(b.source or "", 0)) else replace(b, start=b.start + at, end=b.end + at)
            for b in self.bookmarks
            if self._place(b.source or "", 0) is not None
        )
        placed = ((self._place(source, start), self._place(source, end)) for source, start, end in self._forgotten)
        gone = tuple((start, end) for start, end in placed if start is not None and end is not None)
        if (mine, gone) != (self.canvas.bookmarks, self.canvas.forgotten):
            if gone != self.canvas.forgotten:
                self.canvas.strip.clear()
            self.canvas.bookmarks, self.canvas.forgotten = mine, gone
            self.canvas.redraw()

    def _want_wave(self, source: Source | None) -> None:
        """Read the waveform of the source on show; have the engine compute it if it is not there. Of a live source there is none yet."""
        wanted = (source.id, source.sha256) if source is not None and source.has_audio and source.state != "live" else ("", None)
        if wanted == self._waved:
            return
        self._waved, self.canvas.wave = wanted, None
        if wanted[0]:
            self._read_wave(wanted[0], make=True)

    def _read_wave(self, source: str, *, make: bool) -> None:
        def read(reader: Reader) -> Wave | None:
            content = reader.waveform(source)
            return None if content is None else Wave.of(source, content)

        def take(found: Wave | None) -> None:
            desk = self._hub.desk
            if self._waved[0] != source or desk is None:
                return
            self.canvas.wave = found if found is not None and len(found.levels[0]) else None
            self._size_bar()
            self.canvas.redraw()
            if found is None and make:  # a failure is no news here: the file is missing, or has no sound that can be read
                made = lambda there: self._read_wave(source, make=False) if there else None  # noqa: E731
                self._hub.when(desk.make_waveform(source), made, lambda _error: None)

        self._hub.read("timeline.waveform", read, take, lambda _error: None)

    def _menu(self, id_: str, place: QPoint) -> None:
        """Offer what can be done with a bookmark."""
        if (chosen := next((b for b in self.bookmarks if b.id == id_), None)) is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Go there"), lambda: marking.go(self._hub, chosen))
        menu.addAction(self.tr("Note…"), lambda: marking.edit(self._hub, self, chosen))
        menu.addAction(self.tr("Remove this bookmark"), lambda: marking.remove(self._hub, chosen))
        menu.popup(place)

    def to_bookmark(self, *, back: bool = False) -> None:
        """Go to the bookmark of this source that comes next, or to the one before."""
        if (found := marking.next_of(self.bookmarks, *self._own(self.canvas.head), back=back)) is not None:
            marking.go(self._hub, found)

    def _take_plan(self, plan: Plan) -> None:
        """Show a source from the beginning."""
        self._begin_anew()
        waved = self._waved
        other = self.canvas.plan.source is None or plan.source is None or self.canvas.plan.source.id != plan.source.id
        if other:
            self.canvas.rows = Rows()
        self._stale = {c.id for c in plan.clips if timeline_rows.is_kept(c)}
        self._gone = self.canvas.rows.pieces.keys() - self._stale
        self._show_plan(plan, fit=other)
        if waved[0] and waved == self._waved:  # something may have been forgotten
            self._read_wave(waved[0], make=True)

    def _patch(self, part: Part) -> None:
        plan = timeline_rows.patched(self.canvas.plan, part)
        if plan.source is None:  # it was removed, or one of all moved
            self._source = ALL if plan.axis is not None else ""
            self.following.restart()
            return
        kept = {c.id for c in plan.kept(part.stale)}
        self._stale |= part.stale & kept
        self._gone |= (part.gone | part.stale - kept) & self.canvas.rows.pieces.keys()
        self._stale -= self._gone
        self._show_plan(plan, names=part.names)

    def _show_plan(self, plan: Plan, *, fit: bool = False, names: Mapping[str, str] | None = None) -> None:
        old = self.canvas.plan
        whole = fit or old.source is None or (self.canvas.start == 0 and self.canvas.end >= self.canvas.duration)
        before = self.canvas.duration
        self.canvas.plan = plan
        self._source = plan.source.id if plan.source else ""
        self._show_marks()
        self._show_hits()
        self._want_wave(plan.source)
        if old.sources != plan.sources:
            self._show_sources(plan)
        elif fit:  # another one of them, whoever chose it
            self.sources.setCurrentIndex(max(0, self.sources.findData(self._source)))
        if whole and (fit or before != self.canvas.duration):
            self.canvas.fit()
        lanes = self.canvas.rows.lane_of
        self._renamed |= any(p in lanes and lanes[p].name != name for p, name in (names or {}).items())
        if not (self._stale or self._gone or self._renamed) or names is None:  # else it is painted with what is read now
            self._size_bar()
            self.canvas.refresh()
        self._read_pieces()

    def _begin_anew(self) -> None:
        self._stale, self._gone, self._renamed, self._reading = set(), set(), False, False
        self._hub.drop_read("timeline.pieces")

    def _show_sources(self, plan: Plan) -> None:
        self.sources.clear()
        if len(plan.sources) > 1:
            self.sources.addItem(self.tr("All sources"), ALL)
        for s in plan.sources:
            self.sources.addItem(plain.line(s.uri.replace("\\", "/").rsplit("/", 1)[-1], plain.ENTRY), s.id)
        self.sources.setCurrentIndex(max(0, self.sources.findData(self._source)))
        self.sources.setVisible(len(plan.sources) > 0)

    def _read_pieces(self) -> None:
        """Read the clips that are new or changed, a few at a time, and update the names of people."""
        if self._reading or not (self._stale or self._gone or self._renamed):
            return
        plan, rows, gone = self.canvas.plan, self.canvas.rows, frozenset(self._gone)
        todo, axis = plan.kept(self._stale), plan.axis
        self._stale, self._gone, self._renamed, self._reading = set(), set(), False, True
        self._hub.read(
            "timeline.pieces", lambda r: timeline_rows.read_on(r, todo, rows, gone, plan.names, axis), self._take_pieces, self._not_read
        )

    def _take_pieces(self, found: tuple[Rows, list[Clip]]) -> None:
        self._reading = False
        self.canvas.rows = found[0]
        self._stale |= {c.id for c in found[1]}
        self._size_bar()
        self.canvas.refresh()
        self._read_pieces()

    def _not_read(self, error: Exception) -> None:
        """Report the error; all pieces are read again with the next change."""
        self._begin_anew()
        self._stale = {c.id for c in self.canvas.plan.clips if timeline_rows.is_kept(c)}
        self._hub.tell(error)

    def _picture_ready(self, media: str) -> None:
        if media in self.canvas.plan.pictures.values():
            self.canvas.redraw()

    def _size_bar(self) -> None:
        room = self.canvas.height() - self.canvas.lanes_top()
        over = max(0, self.canvas.lanes_height() - room)
        self.bar.setRange(0, over)
        self.bar.setPageStep(max(1, room))
        self.bar.setSingleStep(LANE)
        self.bar.setVisible(over > 0)

    def _scroll(self, value: int) -> None:
        self.canvas.scrolled = value
        self.canvas.redraw()

    # ------------------------------------------------------------ acting

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.bar.setValue(self.bar.value() - event.angleDelta().y() // 3)

    def show_source(self, source: str) -> None:
        if source and source != self._source:
            self._source = source
            self.following.restart()

    def _choose(self, index: int) -> None:
        source = self.sources.itemData(index)
        if source == ALL:
            self.show_source(source)
        elif source:
            self._hub.selection.seek.emit(source, 0, False)
            self.show_source(source)

    def _progress(self, event: events.Progress) -> None:
        at = self._place(event.source, event.done)
        if at is not None and event.stage != "knowledge":
            self.canvas.set_watched(event.clip, at)

    def _evidence(self, event: events.EvidenceSeen) -> None:
        at = self._place(event.source, max((face[0] for face in event.faces), default=0))
        if at is not None and event.faces:
            self.canvas.set_watched(event.clip, at)

    def _source_changed(self, event: events.SourceChanged | events.SourceQueued) -> None:
        if self._place(event.source, 0) is not None and (isinstance(event, events.SourceQueued) or event.state in ("queued", "cancelled")):
            self.canvas.forget_watched()

    def _watch(self, source: str, at: int) -> None:
        if source != self._source and self._source != ALL:
            self.show_source(source)
        place = self._place(source, at)
        self.canvas.set_head(at if place is None else place)

    def _select(self, kind: str, id_: str) -> None:
        self.canvas.selected = (kind, id_)
        self.canvas.redraw()

    def _highlight(self, hits: Any) -> None:
        self._hits = tuple(hits)
        self._show_hits()

    def _clicked(self, at: int | None, kind: str, id_: str) -> None:
        if kind == "bookmark":
            kind = ""
        elif kind:
            self._hub.selection.select(kind, id_)
        if at is not None and self._source:
            self.canvas.set_head(at)  # at once: the picture of that time comes a moment later
            self._hub.selection.seek.emit(*self._own(at), bool(kind))

    def _spanned(self, start: int, end: int) -> None:
        if not self._source or end <= start:
            self.clear_span()
            return
        source, first, last = self._source, start, end
        if (axis := self.canvas.plan.axis) is not None:  # what begins in a source ends with it
            source, first, last = axis.within(start, end)
            self.canvas.span = start, start + last - first
            self.canvas.update()
        self._hub.selection.span.emit(source, first, last)
        self.length.setText(f"{clock(first)} – {clock(last)}")
        self.tools.show()
        self._place_tools(start)

    def _place_tools(self, start: int) -> None:
        """Put the tools of the chosen span at its start, as wide as there is room for."""
        width = min(self.more.whole(), self.canvas.width() - 8)
        x = max(4, min(max(GUTTER, int(self.canvas.x_of(start))), self.canvas.width() - width - 4))
        self.tools.setGeometry(x, self.canvas.lanes_top() + 4, width, self.tools.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        span = self._hub.selection.chosen_span
        if span is not None and not self.tools.isHidden():
            self._place_tools(self._place(span[0], span[1]) or span[1])

    def _search_span(self) -> None:
        """Show the memories of the chosen span, and only these."""
        if self._hub.selection.chosen_span is not None:
            self._hub.selection.search_within.emit(*self._hub.selection.chosen_span)
            self._hub.selection.wanted.emit("memories")

    def save_clip(self) -> None:
        """Ask where to write the chosen span as a video, and have the engine write it."""
        span, desk = self._hub.selection.chosen_span, self._hub.desk
        source = next((s for s in self.canvas.plan.sources if span is not None and s.id == span[0]), None)
        if span is None or source is None or desk is None:
            return
        times = "-".join(clock(t).replace(":", ".") for t in span[1:])
        name = str(Path(self._hub.path).parent / f"{Path(source.uri).stem} {times}.mp4")
        kinds = "MP4 (*.mp4);;Matroska (*.mkv);;QuickTime (*.mov)"
        path = files.where_to_write(self, self.tr("Save the chosen span as a video"), name, kinds)
        if path is not None:
            done = self.tr("Saved %1").replace("%1", plain.line(path, 2 * plain.ENTRY))
            self._hub.when(desk.export_clip(path, *span), lambda _copied: self._hub.notice.emit("info", done, "", ""))

    def clear_span(self) -> None:
        """Take the chosen span back."""
        self.tools.hide()
        if self.canvas.span is not None or self._hub.selection.chosen_span is not None:
            self.canvas.span = None
            self._hub.selection.span.emit("", 0, 0)
            self.canvas.update()


def _marks(reader: Reader) -> Marks:
    return reader.bookmarks(), reader.forgotten_spans()
