"""The timeline dock: the canvas with its tools, what it reads of the memory, and what a click or a chosen span does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollBar,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from m3desk.domain.clip import clock
from m3desk_ui.look import plain, theme
from m3desk_ui.timeline import rows as timeline_rows
from m3desk_ui.timeline.canvas import GUTTER, LANE, TimelineCanvas
from m3desk_ui.timeline.rows import Plan, Rows

if TYPE_CHECKING:
    from m3desk import events
    from m3desk.domain.clip import Clip
    from m3desk_ui.hub.bridge import Hub


class TimelineView(QWidget):
    """The canvas with its tools: choice of source, zoom, and what can be done with a span."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self.canvas = TimelineCanvas(hub)
        self._todo: list[Clip] = []
        self._stale: set[str] = set()
        self._mark = 0
        self._source = ""
        self.sources = QComboBox()
        self.sources.setAccessibleName(self.tr("Source shown"))
        plain.tip(self.sources, self.tr("Source shown"))
        self.sources.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.sources.setMinimumContentsLength(20)
        self.sources.activated.connect(self._choose)
        self.legend = plain.Label(self.tr("pale: on screen · solid: speaks · ◆ knowledge · ❘ event"))
        self.legend.setProperty("muted", True)
        self.legend.setMinimumWidth(0)
        self.legend.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.out, self.fit, self.into = QToolButton(), QToolButton(), QToolButton()
        for button, text, act in (
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
        for button in (self.out, self.fit, self.into):
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

    def _span_bar(self) -> None:
        self.tools = QFrame(self.canvas)
        self.tools.setProperty("card", True)
        self.ask = QPushButton(self.tr("Ask only here"))
        self.ask.setProperty("primary", True)
        self.ask.clicked.connect(lambda: self._hub.selection.wanted.emit("chat"))
        self.search = QPushButton(self.tr("Memories here"))
        self.search.clicked.connect(lambda: self._hub.selection.wanted.emit("memories"))
        self.forget = QToolButton()
        plain.tip(self.forget, self.tr("Take the span back (Esc)"))
        self.forget.setAccessibleName(self.tr("Take the span back (Esc)"))
        self.forget.clicked.connect(self.clear_span)
        self.length = plain.Label()
        row = QHBoxLayout(self.tools)
        row.setContentsMargins(8, 4, 4, 4)
        for widget in (self.length, self.ask, self.search, self.forget):
            row.addWidget(widget)
        self.tools.hide()

    def _connect(self) -> None:
        hub, canvas = self._hub, self.canvas
        canvas.clicked.connect(self._clicked)
        canvas.spanned.connect(self._spanned)
        canvas.rows_changed.connect(self._size_bar)
        hub.opened.connect(lambda _p: self._opened())
        hub.changed.connect(self.refresh)
        hub.clip_committed.connect(lambda e: self._forget_piece(e.clip))
        hub.progress.connect(self._progress)
        hub.evidence_seen.connect(self._evidence)
        hub.corrected.connect(lambda _e: self._forget_pieces())
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
        ):
            button.setIcon(theme.icon(f"mdi6.{name}"))
        self.forget.setIcon(theme.icon("mdi6.close"))
        self.canvas.redraw()

    # ------------------------------------------------------------ reading

    def refresh(self) -> None:
        source, known = self._source, self.canvas.plan.pictures
        self._hub.read("timeline.plan", lambda r: timeline_rows.plan(r, source, known), self._take_plan)

    def _opened(self) -> None:
        self._source = ""
        self.canvas.rows = Rows()
        self.canvas.plan = Plan(None, (), {}, {})
        self._todo = []
        self.sources.clear()
        self.clear_span()
        self.canvas.fit()
        self.refresh()

    def _take_plan(self, plan: Plan) -> None:
        old = self.canvas.plan
        whole = old.source is None or (self.canvas.start == 0 and self.canvas.end >= self.canvas.duration)
        self.canvas.plan = plan
        self._source = plan.source.id if plan.source else ""
        if [s.id for s in plan.sources] != [self.sources.itemData(i) for i in range(self.sources.count())]:
            self.sources.clear()
            for s in plan.sources:
                self.sources.addItem(plain.line(s.uri.replace("\\", "/").rsplit("/", 1)[-1], plain.ENTRY), s.id)
        self.sources.setCurrentIndex(max(0, self.sources.findData(self._source)))
        self.sources.setVisible(len(plan.sources) > 0)
        if old.source is None or plan.source is None or old.source.id != plan.source.id:
            self.canvas.rows = Rows()
            whole = True
        if whole:
            self.canvas.fit()
        known = {c.id for c in plan.clips}
        pieces = self.canvas.rows.pieces
        for gone in [k for k in pieces if k not in known]:
            del pieces[gone]
        self._todo = [c for c in plan.clips if c.state in ("episodic", "done") and (c.id not in pieces or c.id in self._stale)]
        self._size_bar()
        self.canvas.redraw()
        self._read_pieces()

    def _read_pieces(self) -> None:
        """Read the clips that are new or changed; always at least fold again, for names may have changed."""
        todo, pieces, names = self._todo, dict(self.canvas.rows.pieces), self.canvas.plan.names
        mark = self._mark
        self._hub.read(
            "timeline.pieces",
            lambda r: timeline_rows.read_on(r, todo, pieces, names),
            lambda read: self._take_pieces(read[0], read[1], mark),
        )

    def _take_pieces(self, rows: Rows, left: list[Clip], mark: int) -> None:
        if mark == self._mark:  # nothing was corrected while it was read
            self._stale -= {c.id for c in self._todo} - {c.id for c in left}
        self.canvas.rows, self._todo = rows, left
        self._size_bar()
        self.canvas.redraw()
        if left:
            self._read_pieces()

    def _forget_piece(self, clip: str) -> None:
        self._stale = self._stale | {clip}
        self._mark += 1

    def _forget_pieces(self) -> None:
        self._stale = set(self.canvas.rows.pieces)
        self._mark += 1

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
            self.refresh()

    def _choose(self, index: int) -> None:
        source = self.sources.itemData(index)
        if source:
            self._hub.selection.seek.emit(source, 0, False)
            self.show_source(source)

    def _progress(self, event: events.Progress) -> None:
        if event.source == self._source and event.stage != "knowledge":
            self.canvas.set_working(event.clip, event.done)

    def _evidence(self, event: events.EvidenceSeen) -> None:
        if event.source == self._source and event.faces:
            self.canvas.set_working(event.clip, max(face[0] for face in event.faces))

    def _watch(self, source: str, at: int) -> None:
        if source != self._source:
            self.show_source(source)
        self.canvas.set_head(at)

    def _select(self, kind: str, id_: str) -> None:
        self.canvas.selected = (kind, id_)
        self.canvas.redraw()

    def _highlight(self, hits: Any) -> None:
        self.canvas.hits = tuple(hits)
        self.canvas.redraw()

    def _clicked(self, at: int | None, kind: str, id_: str) -> None:
        if kind:
            self._hub.selection.select(kind, id_)
        if at is not None and self._source:
            self.canvas.set_head(at)  # at once: the picture of that time comes a moment later
            self._hub.selection.seek.emit(self._source, at, bool(kind))

    def _spanned(self, start: int, end: int) -> None:
        if not self._source or end <= start:
            self.clear_span()
            return
        self._hub.selection.span.emit(self._source, start, end)
        self.length.setText(f"{clock(start)} – {clock(end)}")
        self.tools.adjustSize()
        x = min(max(GUTTER, int(self.canvas.x_of(start))), max(GUTTER, self.canvas.width() - self.tools.width() - 4))
        self.tools.move(x, self.canvas.lanes_top() + 4)
        self.tools.show()

    def clear_span(self) -> None:
        """Take the chosen span back."""
        self.tools.hide()
        if self.canvas.span is not None or self._hub.selection.chosen_span is not None:
            self.canvas.span = None
            self._hub.selection.span.emit("", 0, 0)
            self.canvas.update()
