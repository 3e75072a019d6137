"""Paints time from left to right: clips with pictures and states, memories as ticks, a lane per person, hits and the play head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QCoreApplication, QPoint, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QContextMenuEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
    QRegion,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QWidget,
)

from m3desk.domain.clip import clock
from m3desk_ui.look import plain, texts, theme
from m3desk_ui.timeline import flags, in_view, wave
from m3desk_ui.timeline import rows as timeline_rows
from m3desk_ui.timeline.damage import changed_times, moved_lanes
from m3desk_ui.timeline.rows import Lane, MemoryRow, Plan, Rows
from m3desk_ui.timeline.strip import Moment, Strip
from m3desk_ui.timeline.wave import Wave

if TYPE_CHECKING:
    from m3desk.domain.bookmark import Bookmark
    from m3desk.domain.clip import Clip
    from m3desk_ui.hub.bridge import Hub

GUTTER = 112
"""Pixels at the left for names."""
RULER, CLIPS, WAVE, MEMORIES, LANE = 20, 50, 22, 18, 20
"""Heights of the rows, in pixels."""
ROOM_FOR_WAVE = RULER + CLIPS + WAVE + MEMORIES + 2 * LANE
"""Height from which the waveform is shown: people come first."""
STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200)
"""Seconds between marks of the ruler."""
SECOND = 1_000_000
FRAME = CLIPS - 14
"""Height of a clip's picture among many, in pixels."""
PICTURE = CLIPS - 10
"""Height of a clip's picture among few, in pixels."""
LEFT, RIGHT = 16, FRAME * 16 // 9 + 16
"""Pixels that what is at a time reaches to its left and right, at most: a tick or the mark of the chosen one, a picture."""
BESIDE = 24
"""Pixels beside a part that is painted again whose data is painted too: ticks and bars that reach into it."""

SCROLLS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -5, Qt.Key.Key_PageDown: 5}
"""Lanes that a key scrolls by."""

TOLD = 8
"""People whom a screen reader is told of, at most."""

REST_MS = 200
"""Milliseconds after which a view that moved counts as at rest: only then lanes change places."""

VISIBLE_STEP = 0.4
"""Pixels that the play head moves at least before it is painted again."""


def file_name(uri: str) -> str:
    """Return what a source is called on the ruler."""
    return plain.line(uri.replace("\\", "/").rsplit("/", 1)[-1], plain.ENTRY)


def state_in(metrics: QFontMetricsF, state: str, width: float) -> str:
    """Return the state of a clip in the longest words that are no wider than this; "" if there is room for none."""
    words = (texts.source_state(state), QCoreApplication.translate("TimelineCanvas", "memorizing") if state == "working" else "", "…")
    return next((w for w in words if w and metrics.horizontalAdvance(w) <= width), "")


class TimelineCanvas(QWidget):
    """Paints [start, end) of one source. What stands still is painted once into a picture; the play head is drawn over it."""

    asked = Signal(str, QPoint)
    """The menu of a bookmark (its id) is asked for, at a place on the screen."""
    clicked = Signal(object, str, str)
    """microseconds, kind and id of what was hit ("", "" = nothing)."""
    spanned = Signal(object, object)
    scroll_wanted = Signal(int)
    """By how many lanes."""
    rows_changed = Signal()

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumHeight(RULER + CLIPS + MEMORIES + 2 * LANE)
        self.setAccessibleName(self.tr("Timeline"))
        self.plan = Plan(None, (), {}, {})
        self.rows = Rows()
        self.start, self.end = 0, 60 * SECOND
        self.head = 0
        self._head_at = 0.0  # x of the play head as it was painted last
        self.watched: dict[str, int] = {}
        """How far each clip in work is watched: microseconds of the source. Pictures are watched up to two clips ahead of the commits."""
        self.hits: tuple[tuple[str, int, int], ...] = ()
        self.wave: Wave | None = None
        self.strip = Strip(hub, self)
        self.strip.came.connect(self.redraw)
        self.forgotten: tuple[tuple[int, int], ...] = ()
        """Spans of the source on show that were forgotten, in order of time."""
        self.bookmarks: tuple[Bookmark, ...] = ()
        """Of the source on show, in order of time."""
        self.span: tuple[int, int] | None = None
        self.scrolled = 0
        self.selected = ("", "")
        self._picture: QPixmap | None = None
        self._painted: tuple[Plan, Rows] | None = None
        self._strip: list[str] = []
        """What the picture shows; the clips whose pictures are among many clips."""
        self._parts: list[QRect] = []
        self._moves: dict[int, int] = {}
        """The parts of the picture that are to be painted again; before that, rows of lanes (as places on show) that move: to → from."""
        self._in_view: frozenset[str] | None = None
        self._ordered: tuple[Rows, frozenset[str] | None, tuple[Lane, ...]] = (self.rows, None, ())
        self._lanes_painted: list[tuple[str, str]] = []
        """Who is in view (None: all are alike); the lanes in that order; those in the picture."""
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self.arrange)
        self._press: QPointF | None = None
        self._dragging = self._panning = False

    # ------------------------------------------------------------ what is shown

    @property
    def duration(self) -> int:
        source = self.plan.source
        known = source.duration if source is not None and source.duration else 0
        return max(known, self.plan.clips[-1].end if self.plan.clips else 0) or 60 * SECOND

    def redraw(self) -> None:
        """Paint everything again."""
        self._picture = None
        self.update()

    def refresh(self) -> None:
        """Paint again what another plan and other rows changed."""
        self._in_view = in_view.people(self.plan, self.rows, self.start, self.end)
        part = self._changed_part()
        if part is None or self._painted is None:
            self.redraw()
            return
        self._moves, others = self._changed_lanes()
        self._parts = [r for r in (part, *map(self._row_of_lane, others)) if not r.isEmpty()]
        region = QRegion()
        for rect in (*self._parts, *map(self._row_of_lane, self._moves)):
            region += rect
        self.update(region)

    def _changed_part(self) -> QRect | None:
        """Return the part of the picture that shows something else at its time now; None for all of it. Lanes may also have moved."""
        if self._picture is None or self._painted is None or self._painted[0].source is None or self.devicePixelRatioF() % 1:
            return None
        times = changed_times(self._painted, (self.plan, self.rows))
        if times is None or not self._are_many():
            return None
        first, last = (self.x_of(min(max(t, self.start), self.end)) for t in times)
        if times[1] < self.start or times[0] > self.end or times == (0, 0):
            return QRect()
        part = QRect(int(first) - LEFT, 0, int(last) + RIGHT - int(first) + LEFT, self.height()) & self.rect()
        moved = set(self._strip) ^ set(self._pictured_among_many())
        starts = [self.x_of(clip.start) for clip in self.plan.clips if clip.id in moved] if moved else []
        if part.width() > self.room() // 2 or any(not part.left() <= x <= part.right() - FRAME * 16 / 9 for x in starts):
            return None
        return part

    def _are_many(self) -> bool:
        """Say whether the clips are too narrow for pictures."""
        first, last = self.plan.between(self.start, self.end)
        return (last - first) * 4 > self.room()

    def lanes(self) -> tuple[Lane, ...]:
        """Return the lanes from above: first those of people in view."""
        if self._ordered[0] is not self.rows or self._ordered[1] is not self._in_view:
            self._ordered = self.rows, self._in_view, in_view.ordered(self.rows, self._in_view)
        return self._ordered[2]

    def arrange(self) -> None:
        """Put the lanes of people in view first, and tell a screen reader what is on show."""
        self._rest.stop()
        self._in_view = in_view.people(self.plan, self.rows, self.start, self.end)
        if self._lanes_on_show() != self._lanes_painted:
            self.redraw()
        self._want_pictures()
        names = [lane.name for lane in self.lanes()[:TOLD] if self._in_view is None or lane.person in self._in_view]
        told = self.tr("From %1 to %2. People in view: %3").replace("%3", plain.line(", ".join(names) or "–"))
        self.setAccessibleDescription(plain.line(told.replace("%2", clock(self.end)).replace("%1", clock(self.start))))

    def _want_pictures(self) -> None:
        """Ask for the pictures between those of the clips that are on show."""
        if self._are_many() or self.plan.source is None:
            self.strip.want((), self._picture_width())
            return
        first, last = self.plan.between(self.start, self.end)
        moments = [m for clip in self.plan.clips[first:last] for _, m in self._slots(clip)]
        self.strip.want(moments, self._picture_width())

    def _picture_width(self) -> int:
        return round(PICTURE * 16 / 9 * self.devicePixelRatioF())

    def _slots(self, clip: Clip) -> list[tuple[int, Moment]]:
        """Return where pictures of a memorized clip are on show: the place, and the source's own time.

        As many as have room; none where the source has no picture, or where its time was forgotten. The first takes the place of the clip's
        stored picture, which is of its best moment.
        """
        if not timeline_rows.is_kept(clip) or clip.id not in self.plan.pictures:
            return []
        per = (self.end - self.start) / SECOND / self.room()
        step = round(next((s for s in STEPS if s / per >= PICTURE * 16 / 9 + 4), STEPS[-1]) * SECOND)
        begin = (self.plan.axis.start_of(clip.source) or 0) if self.plan.axis is not None else 0
        found = []
        for k in range(max(0, (self.start - clip.start) // step), max(0, min(clip.end, self.end) - clip.start) // step + 1):
            at = clip.start + k * step
            if at < clip.end and not any(a <= at < b for a, b in self.forgotten):
                found.append((at, (clip.source, at - begin)))
        return found

    def _on_show(self) -> tuple[Lane, ...]:
        first, room = self.scrolled // LANE, (self.height() - self.lanes_top()) // LANE + 2
        return self.lanes()[first : first + room]

    def _lanes_on_show(self) -> list[tuple[str, str]]:
        return [(lane.person, lane.name + (" " if self._is_away(lane) else "")) for lane in self._on_show()]

    def _is_away(self, lane: Lane) -> bool:
        """Say whether somebody is neither seen nor heard in what is on show."""
        return self._in_view is not None and lane.person not in self._in_view

    def _changed_lanes(self) -> tuple[dict[int, int], list[int]]:
        """Return the lanes that moved since they were painted (place on show now → place then), and places to paint from left to right."""
        moves, others = moved_lanes(self._lanes_painted, self._lanes_on_show())
        cut = [to for to, place in moves.items() if not (self._is_whole(to) and self._is_whole(place))]
        return {to: place for to, place in moves.items() if to not in cut}, sorted([*others, *cut])

    def _row_of_lane(self, place: int) -> QRect:
        """Return where a lane is in the picture, by its place among the lanes on show."""
        return QRect(0, self.lanes_top() - self.scrolled % LANE + place * LANE, self.width(), LANE) & self._lanes_rect()

    def _lanes_rect(self) -> QRect:
        return QRect(0, self.lanes_top(), self.width(), self.height() - self.lanes_top())

    def _is_whole(self, place: int) -> bool:
        """Say whether no pixel of a lane on show is cut off."""
        return self._row_of_lane(place).height() == LANE

    def _move_lanes(self, picture: QPixmap) -> None:
        """Move rows of the picture: a lane that has another place looks the same there."""
        ratio = int(self.devicePixelRatioF())
        old = picture.copy()
        p = QPainter(picture)
        for to, place in self._moves.items():
            row, source = self._row_of_lane(to), self._row_of_lane(place)
            p.drawPixmap(row, old, QRect(0, source.top() * ratio, row.width() * ratio, row.height() * ratio))
        p.end()

    def fit(self) -> None:
        """Show the whole source."""
        self.start, self.end = 0, self.duration
        self._rest.start()
        self.redraw()

    def zoom(self, factor: float, at: float | None = None) -> None:
        """Show `factor` times as much time, keeping the time at x = `at` (else the play head) in its place."""
        middle = self.time_at(at) if at is not None else min(max(self.head, self.start), self.end)
        span = min(max(int((self.end - self.start) * factor), SECOND // 2), self.duration)
        part = (middle - self.start) / max(1, self.end - self.start)
        self._go(round(middle - part * span), span)

    def pan(self, pixels: float) -> None:
        span = self.end - self.start
        self._go(self.start + round(pixels * span / self.room()), span)

    def _go(self, start: int, span: int) -> None:
        start = max(0, min(start, self.duration - span))
        self.start, self.end = start, start + span
        self._rest.start()
        self.redraw()

    def room(self) -> int:
        return max(50, self.width() - GUTTER - 8)

    def x_of(self, time: float) -> float:
        return GUTTER + (time - self.start) * self.room() / max(1, self.end - self.start)

    def time_at(self, x: float) -> int:
        return round(self.start + (x - GUTTER) * (self.end - self.start) / self.room())

    def set_watched(self, clip: str, at: int) -> None:
        """Show that a clip is in work, and how far it is watched."""
        before = self.watched.get(clip)
        if before is None:
            place_of, clips = self.plan.place_of, self.plan.clips
            self.watched = {c: far for c, far in self.watched.items() if c in place_of and clips[place_of[c]].state == "queued"}
        elif self.x_of(at) - self.x_of(before) < 2:  # less than can be seen, or word of what was watched before
            return
        self.watched[clip] = at
        if not self._are_many():  # where it is not shown
            self.redraw()

    def forget_watched(self) -> None:
        """Show no clip in work: what was watched and not committed is dropped, and watched again later."""
        self.watched = {}
        self.redraw()

    def set_head(self, at: int) -> None:
        """Move the play head, and the view with it when it leaves."""
        self.head = at
        if not self.start <= at < self.end and not self._press:
            self._go(at - (self.end - self.start) // 10, self.end - self.start)
            return
        new = self.x_of(at)
        if abs(new - self._head_at) >= VISIBLE_STEP:  # counted from where it was painted: small steps add up
            for x in (self._head_at, new):
                self.update(QRect(int(x) - 8, 0, 16, self.height()))

    def lanes_height(self) -> int:
        return len(self.rows.lanes) * LANE

    def lanes_top(self) -> int:
        return self.memories_top() + MEMORIES

    def memories_top(self) -> int:
        return RULER + CLIPS + self.wave_height()

    def wave_height(self) -> int:
        """Return the height of the waveform's row: 0 without sound, and in a small window."""
        mine = self.wave is not None and self.plan.source is not None and self.wave.source == self.plan.source.id
        return WAVE if mine and self.height() >= ROOM_FOR_WAVE else 0

    # ------------------------------------------------------------ painting

    def resizeEvent(self, event: Any) -> None:
        self._picture = None
        self._rest.start()
        self.rows_changed.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._picture is None:
            ratio = self.devicePixelRatioF()
            self._picture = QPixmap(round(self.width() * ratio), round(self.height() * ratio))
            self._picture.setDevicePixelRatio(ratio)
            self._paint_still(self._picture, self.rect())
        else:
            if self._moves:
                self._move_lanes(self._picture)
            self._painted, self._lanes_painted = (self.plan, self.rows), self._lanes_on_show()
            for part in self._parts:
                self._paint_still(self._picture, part)
        self._parts, self._moves = [], {}
        c = theme.colours()
        p = QPainter(self)
        p.drawPixmap(0, 0, self._picture)
        if self.span is not None:
            a, b = (self.x_of(t) for t in self.span)
            shade = QColor(c.accent)
            shade.setAlpha(50)
            p.fillRect(QRectF(max(a, GUTTER), 0, b - max(a, GUTTER), self.height()), shade)
            p.setPen(QPen(QColor(c.accent), 1))
            p.drawLine(QPointF(a, 0), QPointF(a, self.height()))
            p.drawLine(QPointF(b, 0), QPointF(b, self.height()))
        x = self._head_at = self.x_of(self.head)
        if GUTTER - 1 <= x <= self.width():
            p.setRenderHint(QPainter.RenderHint.Antialiasing)
            p.setPen(QPen(QColor(c.bad), 1.6))
            p.drawLine(QPointF(x, 8), QPointF(x, self.height()))
            p.setBrush(QColor(c.bad))
            p.setPen(Qt.PenStyle.NoPen)
            p.drawPolygon(QPolygonF([QPointF(x - 6, 2), QPointF(x + 6, 2), QPointF(x, 11)]))
        p.end()

    def _paint_still(self, target: QPixmap, part: QRect) -> None:
        """Paint a part of what stands still."""
        c = theme.colours()
        self._painted, self._lanes_painted = (self.plan, self.rows), self._lanes_on_show()
        if part.top() < self.lanes_top():
            self._strip = []
        p = QPainter(target)
        p.fillRect(part, QColor(c.surface))
        p.setFont(self.font())
        if self.plan.source is not None:
            p.setClipRect(part & QRect(GUTTER - 6, 0, self.width() - GUTTER + 6, self.height()))
            self._paint_ruler(p, part)
            flags.paint(p, self.bookmarks, self.x_of, part.left(), part.right(), RULER, self.height())
            if part.top() >= self.lanes_top():  # a row of a lane
                pass
            elif self._are_many():
                self._paint_many_clips(p, part)
            else:
                first, last = self.plan.between(self.start, self.end)
                for clip in self.plan.clips[first:last]:
                    self._paint_clip(p, clip)
            if part.top() < self.memories_top() and self.wave_height():
                self._paint_wave(p)
            self._paint_forgotten(p)
            self._paint_memories(p, part)
            top = self.lanes_top() - self.scrolled
            p.setClipRect(part & QRect(0, self.lanes_top(), self.width(), self.height()))
            first = self.scrolled // LANE
            for i, lane in enumerate(self._on_show(), first):
                y = top + i * LANE
                if y + LANE > max(self.lanes_top(), part.top()) and y < min(self.height(), part.top() + part.height()):
                    self._paint_lane(p, lane, y, part)
            p.setClipRect(part)
            self._paint_gutter(p)
        p.end()

    def _times_of(self, part: QRect) -> tuple[int, int]:
        """Return the times whose data reaches into a part of the picture, within what is on show."""
        first, end = self.time_at(part.left() - BESIDE), self.time_at(part.right() + 1 + BESIDE)
        return max(self.start, first), min(self.end, end)

    def _segments(self) -> list[tuple[str, int, int]]:
        """Return what is on show: the name of each source ("" where there is one only), and where it begins and ends."""
        axis = self.plan.axis
        if axis is None:
            return [("", 0, max(self.end, self.duration))]
        called = {s.id: s.uri for s in self.plan.sources}
        return [
            (file_name(called.get(source, source)), start, start + length)
            for source, start, length in axis.parts
            if start < self.end and start + length > self.start
        ]

    def _paint_ruler(self, p: QPainter, part: QRect) -> None:
        c = theme.colours()
        per = (self.end - self.start) / SECOND / self.room()
        step = next((s for s in STEPS if s / per >= 74), STEPS[-1])
        for name, begin, finish in self._segments():
            left = self.x_of(begin)
            first = max(0, int((self.start - begin) / SECOND / step))
            for k in range(first, first + int(self.room() * per / step) + 2):
                at = begin + round(k * step * SECOND)
                x = self.x_of(at)
                if not part.left() - 100 < x < part.right() + 2 or at > finish:
                    continue
                p.setPen(QColor(c.line))
                p.drawLine(QPointF(x, 14), QPointF(x, self.height()))
                p.setPen(QColor(c.muted))
                text = texts.precise_clock(at - begin) if step < 1 else clock(at - begin)
                room = min(self.width(), self.x_of(finish)) if name else self.width()
                if x + 4 + p.fontMetrics().horizontalAdvance(text) < room and not (name and k == 0):
                    p.drawText(QPointF(x + 4, 14), text)
            if name:
                wide = min(self.x_of(begin + round(step * SECOND)), self.x_of(finish)) - max(left, GUTTER) - 8
                p.setPen(QPen(QColor(c.muted), 1.4))
                p.drawLine(QPointF(left, 0), QPointF(left, self.height()))
                if wide > 20 and left >= GUTTER - 100:
                    p.setPen(QColor(c.text))
                    p.drawText(
                        QPointF(max(left, GUTTER) + 4, 14), p.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, int(wide))
                    )

    def _paint_many_clips(self, p: QPainter, part: QRect) -> None:
        """Draw clips that are too narrow for pictures as one strip per state."""
        c = theme.colours()
        first, last = self.plan.between(self.start, self.end)
        begin, end = self.x_of(int(self.plan.spans[first, 0])), self.x_of(int(self.plan.spans[last - 1, 1]))
        first, last = self.plan.between(*self._times_of(part))
        spans, states = self.plan.spans[first:last], self.plan.states[first:last]
        p.fillRect(QRectF(begin, RULER + 2, end - begin, CLIPS - 6), QColor(c.raised))
        for state, colour in (("queued", c.line), ("done", c.good), ("episodic", c.accent), ("skipped", c.muted), ("failed", c.bad)):
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(QColor(colour))
            mine = spans[states == timeline_rows.STATES.index(state)]
            columns = timeline_rows.on_pixels(mine, self.start, self.end, self.room()).tolist()
            p.drawRects([QRect(GUTTER + a, RULER + CLIPS - 8, max(1, b - a), 4) for a, b in columns])
        ratio, wide = self.devicePixelRatioF(), FRAME * 16 / 9
        for id_, clip in self._pictured_among_many().items():
            self._strip.append(id_)
            x = self.x_of(clip.start)
            if x > part.right() or x + wide < part.left():
                continue
            pixmap = self._hub.pictures.get(self.plan.pictures[id_], round(wide * ratio), round(FRAME * ratio))
            if pixmap is not None:
                p.drawPixmap(QRectF(x, RULER + 4, wide, FRAME), pixmap, QRectF(pixmap.rect()))

    def _pictured_among_many(self) -> dict[str, Clip]:
        """Return the clips on show whose pictures are drawn: one in every hundred pixels."""
        first, last = self.plan.between(self.start, self.end)
        pictured = np.flatnonzero(self.plan.pictured[first:last]) + first
        starts, at, found = self.plan.spans[pictured, 0], 0, {}
        while at < len(pictured):
            clip = self.plan.clips[int(pictured[at])]
            found[clip.id] = clip
            at = max(at + 1, int(np.searchsorted(starts, self.time_at(self.x_of(clip.start) + 100))))
        return found

    def _paint_clip(self, p: QPainter, clip: Clip) -> None:
        c = theme.colours()
        a, b = self.x_of(clip.start), self.x_of(clip.end)
        r = QRectF(a + 0.5, RULER + 2, max(1.0, b - a - 1), CLIPS - 6)
        p.fillRect(r, QColor(c.raised))
        ratio = self.devicePixelRatioF()
        if r.width() >= 8:
            h = r.height() - 4
            w = h * 16 / 9
            pixmap = self._hub.pictures.get(self.plan.pictures.get(clip.id), round(w * ratio), round(h * ratio))
            if pixmap is not None:
                p.save()
                p.setClipRect(r.intersected(QRectF(GUTTER, 0, self.width(), self.height())))
                p.drawPixmap(QRectF(r.x(), r.y(), w, h), pixmap, QRectF(pixmap.rect()))
                p.restore()
        for at, moment in self._slots(clip) if r.width() > 2 * PICTURE else ():
            if (picture := self.strip.get(moment)) is not None:
                x, wide = self.x_of(at), PICTURE * picture.width() / max(1, picture.height())
                p.save()
                p.setClipRect(r.intersected(QRectF(GUTTER, 0, self.width(), self.height())))
                p.drawPixmap(QRectF(x, r.y(), wide, PICTURE), picture, QRectF(picture.rect()))
                p.restore()
        colour, dense = {
            "done": (c.good, True), "episodic": (c.accent, True), "failed": (c.bad, True), "skipped": (c.muted, True),
        }.get(clip.state, (c.line, False))  # fmt: skip
        strip = QRectF(r.x(), r.bottom() - 4, r.width(), 4)
        p.fillRect(strip, QColor(colour) if dense else QColor(c.line))
        room = r.adjusted(4, 0, -4, -4)
        if clip.state == "queued" and clip.id in self.watched:
            done = max(0.0, min(1.0, (self.watched[clip.id] - clip.start) / max(1, clip.end - clip.start)))
            p.fillRect(QRectF(strip.x(), strip.y(), strip.width() * done, 4), QColor(c.accent))
            p.setPen(QColor(c.accent))
            p.drawText(room, Qt.AlignmentFlag.AlignCenter, state_in(QFontMetricsF(p.font()), "working", room.width()))
        elif clip.state in ("failed", "skipped", "queued"):
            p.setPen(QColor(c.muted if clip.state == "queued" else colour))
            p.drawText(room, Qt.AlignmentFlag.AlignCenter, state_in(QFontMetricsF(p.font()), clip.state, room.width()))

    def _paint_forgotten(self, p: QPainter) -> None:
        """Hatch what was forgotten: nothing is kept of it, and nothing will be."""
        c = theme.colours()
        for start, end in self.forgotten:
            if end <= self.start or start >= self.end:
                continue
            a, b = self.x_of(max(start, self.start)), self.x_of(min(end, self.end))
            r = QRectF(a, RULER + 2, max(2.0, b - a), self.memories_top() - RULER - 6)
            p.fillRect(r, QColor(c.surface))
            p.fillRect(r, QBrush(QColor(c.muted), Qt.BrushStyle.BDiagPattern))
            text, metrics = self.tr("forgotten"), p.fontMetrics()
            box = QRectF(r.center().x() - metrics.horizontalAdvance(text) / 2 - 4, r.center().y() - metrics.height() / 2,
                         metrics.horizontalAdvance(text) + 8, metrics.height())  # fmt: skip
            if box.width() < r.width():
                p.fillRect(box, QColor(c.surface))
                p.setPen(QColor(c.muted))
                p.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_wave(self, p: QPainter) -> None:
        assert self.wave is not None
        ratio, height = self.devicePixelRatioF(), WAVE - 4
        end = min(self.end, self.duration)
        wide = round((self.x_of(end) - GUTTER) * ratio)
        if wide > 0:
            columns = self.wave.columns(self.start, end, wide)
            image = wave.picture(columns, round(height * ratio), QColor(theme.colours().muted))
            p.drawImage(QRectF(GUTTER, RULER + CLIPS - 2, wide / ratio, height), image)

    def _paint_memories(self, p: QPainter, part: QRect) -> None:
        """Draw ticks: events as short lines below, knowledge as diamonds above; hits as filled bars through both."""
        c = theme.colours()
        y = self.memories_top() - 2
        source = self.plan.source.id if self.plan.source else ""
        for s, a, b in self.hits:
            if s == source and b >= self.start and a < self.end:
                x = self.x_of(a)
                mark = QRectF(x, y, max(4.0, self.x_of(b) - x), MEMORIES)
                tint = QColor(c.warn)
                p.setPen(QPen(tint, 1.2))
                tint.setAlpha(80)
                p.setBrush(tint)
                p.drawRect(mark)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        p.setPen(Qt.PenStyle.NoPen)
        first, last = np.searchsorted(self.rows.times, [self.time_at(part.left() - BESIDE), self.time_at(part.right() + 1 + BESIDE)])
        times, semantic = self.rows.times[first:last], self.rows.semantic[first:last]
        events, known = times[~semantic], times[semantic]
        p.setBrush(theme.kind_colour("episodic"))
        p.drawRects([QRectF(GUTTER + x - 1.5, y + 6, 3, 10) for x in timeline_rows.ticks(events, self.start, self.end, self.room(), 4)])
        p.setBrush(theme.kind_colour("semantic"))
        for x in (GUTTER + x for x in timeline_rows.ticks(known, self.start, self.end, self.room(), 8)):
            p.drawPolygon(QPolygonF([QPointF(x, y + 1), QPointF(x + 4.5, y + 5.5), QPointF(x, y + 10), QPointF(x - 4.5, y + 5.5)]))
        chosen = self._memory(self.selected[1]) if self.selected[0] == "node" else None
        if chosen is not None:
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.setPen(QPen(QColor(c.text), 1.5))
            p.drawEllipse(QPointF(self.x_of(chosen[0]), y + 8), 7, 8)
        p.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_lane(self, p: QPainter, lane: Lane, y: int, part: QRect) -> None:
        """Draw when somebody is on screen (a pale bar) and speaks (a solid, narrower one on it)."""
        c = theme.colours()
        colour = theme.person_colour(lane.person)
        if self.selected == ("person", lane.person):
            p.fillRect(QRectF(0, y, self.width(), LANE), QColor(c.raised))
        pale = QColor(colour)
        pale.setAlpha(95)
        begin, end = self._times_of(part)
        for spans, fill, top, height in ((lane.seen, pale, 3, LANE - 6), (lane.heard, colour, 6, LANE - 12)):
            spans = spans[(spans[:, 1] > begin) & (spans[:, 0] < end)]
            columns = timeline_rows.on_pixels(spans, self.start, self.end, self.room()).tolist()
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(fill)
            p.drawRects([QRect(GUTTER + a, y + top, max(1, b - a), height) for a, b in columns])
        p.setPen(QColor(c.line))
        p.drawLine(QPointF(0, y + LANE - 0.5), QPointF(self.width(), y + LANE - 0.5))
        p.fillRect(QRectF(0, y, GUTTER - 1, LANE - 1), QColor(c.raised if self.selected == ("person", lane.person) else c.surface))
        p.fillRect(QRectF(4, y + 5, 4, LANE - 10), colour)
        p.setPen(QColor(c.muted if self._is_away(lane) else c.text))
        name = QFontMetricsF(self.font()).elidedText(plain.line(lane.name), Qt.TextElideMode.ElideRight, GUTTER - 20)
        p.drawText(QRectF(13, y, GUTTER - 18, LANE), Qt.AlignmentFlag.AlignVCenter, name)

    def _paint_gutter(self, p: QPainter) -> None:
        c = theme.colours()
        p.fillRect(QRectF(0, 0, GUTTER - 6, self.lanes_top()), QColor(c.surface))
        p.setPen(QColor(c.muted))
        rows = [(self.tr("clips"), RULER, CLIPS - 6), (self.tr("memories"), self.memories_top() - 2, MEMORIES)]
        if self.wave_height():
            rows.append((self.tr("sound"), RULER + CLIPS - 4, WAVE))
        for text, y, height in rows:
            p.drawText(QRectF(13, y, GUTTER - 18, height), Qt.AlignmentFlag.AlignVCenter, text)
        p.setPen(QColor(c.line))
        p.drawLine(QPointF(GUTTER - 0.5, 0), QPointF(GUTTER - 0.5, self.height()))
        p.drawLine(QPointF(0, self.lanes_top() - 0.5), QPointF(self.width(), self.lanes_top() - 0.5))

    # ------------------------------------------------------------ mouse and keys

    def _memory(self, node: str) -> MemoryRow | None:
        """Return a memory that is on the timeline, found by its clip."""
        piece = self.rows.pieces.get(self.rows.clip_of.get(node, ""))
        return next((m for m in piece.memories if m[2] == node), None) if piece is not None else None

    def told_time(self, at: int) -> str:
        """Return a time on show in words: of its source, and which, where several are shown."""
        if self.plan.axis is None:
            return texts.precise_clock(at)
        source, own = self.plan.axis.at(at)
        called = next((s.uri for s in self.plan.sources if s.id == source), source)
        return f"{texts.precise_clock(own)} {file_name(called)}"

    def hit(self, point: QPointF) -> tuple[str, str, int]:
        """Return kind, id and time of what lies at a point."""
        x, y = point.x(), point.y()
        at = max(0, min(self.time_at(max(x, GUTTER)), self.duration))
        if y < RULER and x >= GUTTER - 6 and (mark := flags.at(self.bookmarks, self.x_of, x)) is not None:
            return "bookmark", mark.id, mark.start
        if self.memories_top() - 4 <= y < self.lanes_top() and x >= GUTTER and self.rows.memories:
            near = np.abs(self.rows.times - at)
            i = int(near.argmin())
            if abs(self.x_of(int(self.rows.times[i])) - x) <= 6:
                lower = y - (self.memories_top() - 2) > 8
                same = [m for m in self.rows.memories if abs(self.x_of(m[0]) - x) <= 6 and (m[3] == "episodic") == lower]
                best = min(same or [self.rows.memories[i]], key=lambda m: abs(m[0] - at))
                return "node", best[2], best[0]
        if y >= self.lanes_top():
            row = int((y - self.lanes_top() + self.scrolled) // LANE)
            if 0 <= row < len(self.lanes()):
                return "person", self.lanes()[row].person, at
        if RULER <= y < RULER + CLIPS and x >= GUTTER:
            first, last = self.plan.between(at, at + 1)
            if first < last:
                return "clip", self.plan.clips[first].id, at
        return "", "", at

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._press = event.position()
        self._dragging = False
        self._panning = event.button() == Qt.MouseButton.MiddleButton
        if event.button() == Qt.MouseButton.RightButton:
            self._press = None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._press is None:
            self._tip(event)
            return
        moved = event.position().x() - self._press.x()
        if self._panning:
            self._press = event.position()
            self.pan(-moved)
            return
        if (
            event.buttons() & Qt.MouseButton.LeftButton
            and (self._dragging or abs(moved) >= QApplication.startDragDistance())
            and self._press.x() >= GUTTER
        ):
            self._dragging = True
            a, b = sorted((self.time_at(self._press.x()), self.time_at(event.position().x())))
            self.span = (max(0, a), min(b, self.duration))
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        press, self._press = self._press, None
        if press is None or self._panning:
            self._panning = False
            return
        if self._dragging and self.span is not None:
            self.spanned.emit(*self.span)
            return
        kind, id_, at = self.hit(event.position())
        if event.position().x() >= GUTTER or kind == "person":
            self.clicked.emit(at if event.position().x() >= GUTTER else None, kind, id_)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        kind, id_, _at = self.hit(QPointF(event.pos()))
        if kind == "bookmark":
            self.asked.emit(id_, event.globalPos())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Take the second of two quick clicks as a click: Qt sends this in place of its press."""
        self.mousePressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        turn = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or abs(turn.x()) > abs(turn.y()):
            self.pan(-(turn.x() or turn.y()) / 2)
        elif not event.modifiers() & Qt.KeyboardModifier.ControlModifier and self._scrolls(event.position()):
            event.ignore()  # the view scrolls the lanes
            return
        else:
            self.zoom(0.999 ** turn.y(), max(event.position().x(), GUTTER))
        event.accept()

    def _scrolls(self, point: QPointF) -> bool:
        """Say whether the wheel scrolls the lanes at a place: over names, and over lanes that don't all fit."""
        hidden = self.lanes_height() > self.height() - self.lanes_top()
        return hidden and (point.x() < GUTTER or point.y() >= self.lanes_top())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(0.7)
        elif event.key() == Qt.Key.Key_Minus:
            self.zoom(1 / 0.7)
        elif event.key() == Qt.Key.Key_0:
            self.fit()
        elif event.key() in (Qt.Key.Key_BracketLeft, Qt.Key.Key_BracketRight):
            first, last = self.span or (0, self.duration)
            first, last = (self.head, last) if event.key() == Qt.Key.Key_BracketLeft else (first, self.head)
            if first < last:
                self.span = first, last
                self.spanned.emit(first, last)
                self.update()
        elif event.key() in SCROLLS:
            self.scroll_wanted.emit(SCROLLS[Qt.Key(event.key())])
        elif event.key() == Qt.Key.Key_Escape and self.span is not None:
            self.span = None
            self.spanned.emit(0, 0)
            self.update()
        else:
            super().keyPressEvent(event)

    def _tip(self, event: QMouseEvent) -> None:
        kind, id_, at = self.hit(event.position())
        text = ""
        if kind == "node":
            told = self._memory(id_)
            text = f"{self.told_time(told[0])} {told[4]}" if told is not None else ""
        elif kind == "bookmark":
            text = next((f"{self.told_time(b.start)} {b.note}" for b in self.bookmarks if b.id == id_), "")
        elif event.position().x() >= GUTTER:
            gone = any(start <= at < end for start, end in self.forgotten)
            text = self.told_time(at) + (" " + self.tr("forgotten") if gone else "")
        elif kind == "person":
            text = self.rows.lane_of[id_].name if id_ in self.rows.lane_of else ""
        if text:
            plain.show_tip(event.globalPosition().toPoint() + QPoint(0, 8), text, self)
