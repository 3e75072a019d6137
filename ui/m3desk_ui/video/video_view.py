"""The video view: plays a source, synchronizes boxes and subtitles, and follows the selection.

The player (`m3desk.media.player`, created by the engine's `make_player`) decodes in its own threads and offers the newest frame; this
view takes it when it can, so a slow window drops pictures, never sound.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from m3desk.domain.sample_files import is_import
from m3desk_ui.hub.following import Following, Read
from m3desk_ui.look import plain
from m3desk_ui.video import face_boxes
from m3desk_ui.video.face_chip import FaceChip
from m3desk_ui.video.picture_canvas import PictureCanvas
from m3desk_ui.video.transport import Transport
from m3desk_ui.window import files

if TYPE_CHECKING:
    from m3desk import events
    from m3desk.domain.changed import Changed
    from m3desk.domain.clip import Source
    from m3desk.ports import Reader
    from m3desk_ui.hub.bridge import Hub
    from m3desk_ui.video.face_boxes import Shown, Window

AHEAD, BEHIND = 45_000_000, 20_000_000
"""Microseconds of evidence kept around the picture; read again when the picture nears the end of what was read."""
WATCH_MS = 100
HELD = 20_000_000
"""Microseconds that the player may still hold of what lies before the picture: the segment of a recording that it reads, and pictures."""
GROWN = 2_000_000
"""Microseconds that a recording must have grown before it is played on from where it ended."""


class VideoView(QWidget):
    """One player on one source of the open memory."""

    _frame_came = Signal()
    _state_came = Signal()
    full_screen = Signal()
    edge_reached = Signal()
    """What was played of a recording that still grows reached its end."""

    def __init__(
        self, hub: Hub, make_player: Callable[[Callable[[Any], None], Callable[[Any], None]], Any], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._hub, self._make_player = hub, make_player
        self.canvas = PictureCanvas()
        self.transport = Transport()
        self.locate = QPushButton(self.tr("Locate the video…"), self.canvas)
        plain.tip(self.locate, self.tr("Choose the video file that these memories are of"))
        self.locate.hide()
        self.canvas.resized.connect(lambda *_: self._place_locate())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.canvas, 1)
        column.addWidget(self.transport)
        self._player: Any = None
        self._making = False
        self._todo: list[Callable[[Any], None]] = []
        self._lock = threading.Lock()
        self._frame: Any = None
        self._keep: Any = None
        self._state: Any = None
        self._told_frame = self._told_state = False
        self._seeking = False
        self._sources: dict[str, Source] = {}
        self.source = ""
        self.path = ""
        self.duration = 0
        self._known = 0
        self._there = False
        self._loaded: tuple[str, int, int] = ("", 0, 0)
        self._resume = False
        self._begin: tuple[str, int, bool] | None = None
        self._last_error = ""
        self._restore = ("", 0)
        self._wanted_path: tuple[str, int, bool] | None = None
        self._gone: list[tuple[int, int]] = []
        """Spans of the source on show that were erased while it is open: a picture of them that still comes is not shown."""
        self._frame_came.connect(self._show_frame, Qt.ConnectionType.QueuedConnection)
        self._state_came.connect(self._show_state, Qt.ConnectionType.QueuedConnection)
        self._watch = QTimer(self)
        self._watch.setInterval(WATCH_MS)
        self._watch.timeout.connect(self._tell_where)
        self._last_told = -1
        self._connect()

    def _connect(self) -> None:
        t, hub = self.transport, self._hub
        t.play_pause.connect(self.toggle)
        t.step.connect(self.step)
        t.scrubbed.connect(self._scrub)
        t.released.connect(self.seek)
        t.skipped.connect(lambda by: self.seek(max(0, self.canvas.at + by)))
        t.speed.connect(lambda x: self._do(lambda p: p.set_speed(x)))
        t.volume.connect(self._set_volume)
        self.canvas.resized.connect(self._fit)
        self.canvas.face_clicked.connect(self._face_clicked)
        self.canvas.background_clicked.connect(self.toggle)
        self.canvas.double_clicked.connect(self.toggle)  # takes back what its first click did
        self.canvas.double_clicked.connect(self.full_screen)
        hub.selection.seek.connect(self.go)
        hub.selection.selected.connect(self._selected)
        hub.opened.connect(lambda _p: self.reset())
        hub.erased.connect(self._erased)
        self.following = Following(
            hub, "video.sources", load=lambda: _read_sources, show=self._take_sources, patch=self._sources_changed,
            apply=self._take_sources, parent=self,
        )  # fmt: skip
        self.around = Following(
            hub, "video.window", load=self._load_around, show=self._take_window, patch=self._around_changed, apply=self._patch_window,
            parent=self,
        )  # fmt: skip
        hub.evidence_seen.connect(self._early)
        hub.clip_committed.connect(self._committed)

    # ------------------------------------------------------------ what is played

    def reset(self) -> None:
        """Clear the view when another memory opens."""
        self.close_player()
        self._sources, self.source, self.path, self._loaded, self._wanted_path = {}, "", "", ("", 0, 0), None
        self._begin, self._restore, self.duration, self._known = None, ("", 0), 0, 0
        self._gone = []
        self.locate.hide()
        self.canvas.clear(self.tr("Drop a video here, or choose File → Open a video.") if self._hub.desk is None else "")
        self.transport.set_duration(0)
        self.around.stop()
        self.following.restart()

    @staticmethod
    def _sources_changed(changed: Changed) -> Read[list[Source]] | None:
        return _read_sources if changed.sources else None

    def _take_sources(self, sources: list[Source]) -> None:
        self._sources = {s.id: s for s in sources}
        if self.path and not self.source:
            self.source = next((s.id for s in sources if _same(s.uri, self.path)), "")
            if self.source:
                self._load_window(force=True)
        if self._is_removed():
            self._leave()
        if self._wanted_path is None and not self.path:
            wanted, at = self._restore
            first = self._sources.get(wanted) or next((s for s in sources if s.state not in ("failed", "live")), None)
            if first is not None:
                self.go(first.id, at if first.id == wanted else 0, False)
            elif not sources and self._hub.desk is not None:
                self.canvas.clear(self.tr("No video is in this memory yet. Drop one here, or press Ctrl+Shift+A."))
                self.transport.setEnabled(False)
        if self.source in self._sources:
            s = self._sources[self.source]
            if self.locate.isVisibleTo(self) and self._wanted_path is not None and s.uri != self._wanted_path[0]:  # it was located
                self._open(s.uri, self.canvas.at, False)
            self.canvas.set_frame_size(s.width, s.height)
            if s.duration and not self.duration:
                self._set_duration(s.duration)

    def open_path(self, path: str, at: int = 0, play: bool = True) -> None:
        """Play a file at once, even before the engine has given it an id."""
        self.source = next((s.id for s in self._sources.values() if _same(s.uri, path)), "")
        self._open(path, at, play)

    def start_at(self, source: str, at: int) -> None:
        """Show this time, paused, once the sources are read (instead of the start of the first one)."""
        self._restore = (source, at)

    def go(self, source: str, at: int, play: bool) -> None:
        """Go to a time of a source, and play (or stay paused)."""
        s = self._sources.get(source)
        if s is None:
            return
        if source == self.source and self.path == s.uri and self._there:
            self.seek(at)
            if play:
                self.play()
            return
        if source != self.source:
            self._gone = []
        self.source = source
        self.canvas.set_frame_size(s.width, s.height)
        self._set_duration(s.duration or 0)
        self._open(s.uri, at, play)

    def _open(self, path: str, at: int, play: bool) -> None:
        self.path, self._wanted_path, self._known, self._there = path, (path, at, play), 0, True
        self.canvas.clear("")
        self.locate.hide()
        self.transport.setEnabled(True)
        self._loaded = ("", 0, 0)
        self.canvas.at = at
        self._hub.work(lambda: files.is_playable(path), lambda there: self._open_file(path, at, play, there))
        self._load_window(force=True)

    def _open_file(self, path: str, at: int, play: bool, there: bool) -> None:
        if path != self.path:
            return
        if is_import(path):
            self._lack(self.tr("This memory was imported without its video. Everything else is here."))
            self.close_player()
            self.transport.setEnabled(False)
            self.path = ""
            self._hub.selection.watching.emit(self.source, at)
            return
        self._there = there
        if self._is_removed():
            self._leave()
            self._take_sources(list(self._sources.values()))
            return
        if not there:
            name = plain.line(Path(path).name, plain.ENTRY)
            self._lack(self.tr("The file %1 is missing, but its memories are still here.").replace("%1", name))
            self.close_player()
            return

        # Where to begin waits for the file to be open: until then the player knows the length of the one before.
        self._begin = (path, at, play)
        self._do(lambda player: player.open(path))

    def _erased(self, gone: events.Erased) -> None:
        """Take a picture of what was erased off the screen, and have the player drop what it holds of it.

        A picture elsewhere stays, and what plays goes on. The player opens the recording again, unless what is gone lies far behind.
        """
        if not gone.recording or gone.source != self.source or not self.path:
            return
        start, end = gone.start, gone.end
        if self._gone and self._gone[-1][0] <= start <= self._gone[-1][1]:  # a recording that is not kept goes piece by piece
            last = self._gone.pop()
            start, end = last[0], max(last[1], end)
        self._gone.append((start, end))
        at = self.canvas.at
        if gone.start <= at < gone.end:
            with self._lock:
                self._frame = None
            self._open(self.path, gone.end, False)
            self._keep = None  # no picture looks into it any more
        elif gone.end + HELD > at:
            self._reopen(at, self.transport.playing)

    def _is_removed(self) -> bool:
        """Return whether the source on show was removed from the memory, and its recording with it."""
        return bool(self.source) and self.source not in self._sources and not self._there

    def _leave(self) -> None:
        """Show nothing of a source any more: it was removed."""
        self.close_player()
        self.source, self.path, self._wanted_path, self._gone = "", "", None, []
        self.locate.hide()
        self.canvas.clear("")

    def _lack(self, text: str) -> None:
        """Say why there is no picture, and offer to choose the file."""
        self.canvas.clear(text)
        self.locate.setVisible(bool(self.source))
        self._place_locate()

    def _place_locate(self) -> None:
        """Put the button below the text, which stands in the middle of the picture."""
        size = self.locate.sizeHint()
        lines = self.canvas.fontMetrics().lineSpacing() * 2
        self.locate.setGeometry(
            (self.canvas.width() - size.width()) // 2, min(self.canvas.height() // 2 + lines, self.canvas.height() - size.height() - 4),
            size.width(), size.height(),
        )  # fmt: skip

    def grow(self, source: str, until: int) -> None:
        """Let positions reach `until`: the recording of a live source grows while it is played."""
        if source == self.source and until > self.duration:
            self._set_duration(until)

    def _grows(self) -> bool:
        """Return whether the source is a live one that still runs."""
        return self.source in self._sources and self._sources[self.source].duration is None

    def _set_duration(self, duration: int) -> None:
        self.duration = duration
        self.transport.set_duration(duration)

    # ------------------------------------------------------------ the player

    def _do(self, command: Callable[[Any], None]) -> None:
        """Send the player a command; the first one creates it, in a thread (it imports decoders)."""
        if self._player is not None:
            try:
                command(self._player)
            except Exception as error:
                self._hub.tell(error)
            return
        self._todo.append(command)
        if not self._making:
            self._making = True
            self._hub.work(lambda: self._make_player(self._take_frame, self._take_state), self._made, self._not_made)

    def _made(self, player: Any) -> None:
        self._making, self._player = False, player
        todo, self._todo = self._todo, []
        self._watch.start()
        self._set_volume(self.transport.volume_now(), self.transport.muted())
        if self.transport.speed_now() != 1.0:
            self._do(lambda p: p.set_speed(self.transport.speed_now()))
        self._fit()
        for command in todo:
            self._do(command)

    def _not_made(self, error: Exception) -> None:
        self._making, self._todo = False, []
        self._hub.tell(error)

    def close_player(self) -> None:
        """Stop playing and free the decoder."""
        self._watch.stop()
        player, self._player, self._todo = self._player, None, []
        if player is not None:
            threading.Thread(target=player.close, name="closing-player", daemon=True).start()

    def _take_frame(self, frame: Any) -> None:
        """Receive a picture on the player's thread: wrap it in a QImage and notify the GUI thread once; only the newest is shown."""
        picture = frame.picture
        height, width = picture.shape[:2]
        image = QImage(picture.data, width, height, int(picture.strides[0]), QImage.Format.Format_RGB32)
        with self._lock:
            self._frame = (image, picture, frame.at)
            ring, self._told_frame = not self._told_frame, True
        if ring:
            self._frame_came.emit()

    def _take_state(self, state: Any) -> None:
        with self._lock:
            self._state = state
            ring, self._told_state = not self._told_state, True
        if ring:
            self._state_came.emit()

    def _show_frame(self) -> None:
        with self._lock:
            frame, self._told_frame = self._frame, False
        if frame is None or self._player is None or any(start <= frame[2] < end for start, end in self._gone):
            return
        image, self._keep, at = frame  # the array must outlive the QImage that looks into it
        self.canvas.show_frame(image, at)
        self.transport.set_position(at)
        self._load_window()

    def _show_state(self) -> None:
        with self._lock:
            state, self._told_state = self._state, False
        if state is None:
            return
        self.transport.set_playing(state.playing)
        self.transport.set_seeking(state.seeking)
        self._seeking = state.seeking is not None
        self.transport.set_silent(state.silent_reason if state.has_sound else None)
        if state.path != self.path:
            return
        if state.duration and state.duration != self._known:
            self._known = state.duration
            self._set_duration(max(state.duration, self.duration) if self._grows() else state.duration)
        if state.width and self.source not in self._sources:
            self.canvas.set_frame_size(state.width, state.height)
        if self._begin is not None and state.duration and self._begin[0] == state.path:
            (_, at, play), self._begin = self._begin, None
            if at:
                self._do(lambda p: p.seek(min(at, self.duration)))
            if play:
                self.play()
        if state.error and state.error != self._last_error:
            self.canvas.clear(plain.line(state.error))
            self._hub.notice.emit("warning", state.error, "", "")
        elif state.duration and not state.has_picture and self.canvas.image is None:
            self.canvas.clear(self.tr("Sound only: %1").replace("%1", plain.line(Path(self.path).name, plain.ENTRY)))
        self._last_error = state.error or ""
        if state.ended and self._grows():
            if self.duration - state.position > GROWN:
                self._reopen(state.position, True)
            else:
                self.edge_reached.emit()

    # ------------------------------------------------------------ commands

    def playing(self) -> bool:
        return self.transport.playing

    def toggle(self) -> None:
        """Play or pause; on the way to a distant picture, stay at the one that was reached."""
        if self._seeking:
            self._do(lambda p: p.stop_seeking())
            return
        self.pause() if self.transport.playing else self.play()

    def play(self) -> None:
        if self.path:
            self._do(lambda p: p.play())

    def pause(self) -> None:
        if self._player is not None:
            self._do(lambda p: p.pause())

    def seek(self, at: int) -> None:
        """Show the frame at a time of the source that is open."""
        if self.path:
            at = max(0, min(at, self.duration or at))
            if self._known and at > self._known and self._grows():
                self._reopen(at, self.transport.playing)
            else:
                self._do(lambda p: p.seek(at))

    def _reopen(self, at: int, play: bool) -> None:
        """Open the recording again: the player knows only what was there when it opened it."""
        self._known = 0
        self._begin = (self.path, at, play)
        path = self.path
        self._do(lambda p: p.open(path))

    def _scrub(self, at: int) -> None:
        if self.path:
            self.transport.set_position(at)
            self._do(lambda p: p.scrub(at))

    def _set_volume(self, volume: float, muted: bool) -> None:
        if self._player is not None:
            self._do(lambda p: p.set_volume(volume))
            self._do(lambda p: p.set_muted(muted))

    def _fit(self) -> None:
        """Request pictures no larger than they are painted, so that painting never scales down."""
        if self._player is not None:
            ratio = self.canvas.devicePixelRatioF() * self.canvas.zoomed
            size = (round(self.canvas.width() * ratio), round(self.canvas.height() * ratio))
            self._do(lambda p: p.set_target_size(*size))

    def step(self, frames: int) -> None:
        """Pause and step by whole frames."""
        if self.path:
            self._do(lambda p: p.step(frames))

    # ------------------------------------------------------------ evidence around the picture

    def _load_window(self, force: bool = False) -> None:
        at, source = self.canvas.at, self.source
        if not source:
            return
        loaded, start, end = self._loaded
        inside = loaded == source and (start == 0 or start + BEHIND // 4 <= at) and start <= at <= end - AHEAD // 3
        if inside and not force:
            return
        self._loaded = (source, max(0, at - BEHIND), at + AHEAD)
        self.around.restart()

    def _load_around(self) -> Read[Window]:
        source, start, end = self._loaded
        return lambda reader: face_boxes.load(reader, source, start, end)

    def _around_changed(self, changed: Changed) -> Read[Window | None]:
        """Read the boxes and words around the current time again if they changed: always the same few seconds."""
        (source, start, end), now = self._loaded, self.canvas.window_read

        def read(reader: Any) -> Window | None:
            whole = now is None or face_boxes.concerned(reader, now, changed)
            return face_boxes.load(reader, source, start, end) if whole else None

        return read

    def _patch_window(self, window: Window | None) -> None:
        if window is not None:
            self._take_window(window)

    def _take_window(self, window: Window) -> None:
        if window.source == self.source:
            self.canvas.set_window(window)

    def _early(self, event: events.EvidenceSeen) -> None:
        if event.source == self.source and event.faces:
            self.canvas.early.add(event.clip, event.faces)
            self.canvas.update()

    def _committed(self, event: events.ClipCommitted) -> None:
        # The named boxes replace the early ones once `changed` has made us read them; keep the early ones until then.
        QTimer.singleShot(1500, self, lambda: self.canvas.early.drop(event.clip))

    def _tell_where(self) -> None:
        if self.canvas.image is None and self._player is not None and self.duration:  # sound only: no frames tell the time
            self.canvas.at = self._player.position
            self.transport.set_position(self.canvas.at)
            self._load_window()
            self.canvas.update()
        at = self.canvas.at
        if self.source and at != self._last_told:
            self._last_told = at
            self._hub.selection.watching.emit(self.source, at)

    # ------------------------------------------------------------ faces

    def _selected(self, kind: str, id_: str) -> None:
        self.canvas.chosen = id_ if kind == "observation" else ""
        self.canvas.update()

    def _face_clicked(self, shown: Shown, where: QPointF) -> None:
        self._resume = self.transport.playing
        self.pause()
        self._hub.selection.select("observation", shown.track)
        chip = FaceChip(self._hub, shown.track, shown.person, shown.name, parent=self)
        chip.closed.connect(self._chip_closed)
        chip.open_at(QPoint(round(where.x()), round(where.y())))
        self.chip = chip

    def _chip_closed(self) -> None:
        self.canvas.release_hold()
        if self._resume:
            self._resume = False
            self.play()


def _read_sources(reader: Reader) -> list[Source]:
    return reader.sources()


def _same(uri: str, path: str) -> bool:
    return uri == path or Path(uri) == Path(path)
