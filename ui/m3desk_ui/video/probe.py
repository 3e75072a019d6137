"""Measures the real video view and player on films: any seek, scrubbing, single steps, how late a due picture is. For the benchmark."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtGui import QImage, QPaintEvent

from m3desk_ui import launch
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.hub.services import real
from m3desk_ui.hub.stall_probe import PERIOD_MS, StallProbe
from m3desk_ui.look import theme
from m3desk_ui.video.face_boxes import Track, Window
from m3desk_ui.video.video_view import VideoView

SIZE = (1500, 920)
SMALL = (280, 160)
"""Pixels of the pictures that are kept for comparison."""
PATIENCE = 60.0
"""Seconds that a picture is waited for."""
GIVEN_UP = 0.5
"""Seconds after a player has nothing to do any more in which its last picture comes to the screen."""
DRAG_MS = 16
"""Milliseconds between two positions of a slider that is dragged."""
NEAR = 1_000_000
"""Microseconds of the film: how near to the slider a picture is useful."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A picture that was painted. `clock`: seconds, once it is on the screen; `cpu`: seconds of all threads' processor by then."""

    at: int
    clock: float
    cpu: float


@dataclass(frozen=True, slots=True)
class _Late:
    """Milliseconds after a picture was due: given to the window, painted, on the screen; and processor: player's thread, GUI thread."""

    given: float
    painted: float
    on_screen: float
    player: float
    gui: float


class _Stage:
    """A video view in a window, what it painted, and the intervals of its event loop."""

    def __init__(self) -> None:
        sys.setswitchinterval(0.001)  # as the window does
        theme.apply(launch.make_app(), "light")
        self.shown: list[_Shown] = []
        self.late: list[_Late] = []
        self._given: dict[int, tuple[float, float]] = {}
        self._began = 0.0
        self._spent = 0.0
        self.view = VideoView(Hub(), self._make)
        self.view.resize(*SIZE)
        self.canvas = self.view.canvas
        self._paint = self.canvas.paintEvent
        self.canvas.paintEvent = self._painted  # type: ignore[method-assign]
        self._show = self.view._show_frame
        self.view._frame_came.disconnect()
        self.view._frame_came.connect(self._take, Qt.ConnectionType.QueuedConnection)
        self.view.show()
        self.loop = StallProbe(Path(), self.view)

    # ------------------------------------------------------------ between player and screen

    def _make(self, on_frame: Callable[[Any], None], on_state: Callable[[Any], None]) -> Any:
        def give(frame: Any) -> None:
            self._given[frame.at] = ((player.position - frame.at) / 1e3, (time.thread_time() - self._began) * 1e3)
            on_frame(frame)

        player = real().make_player(give, on_state)
        catch_up = player._catch_up

        def timed(*args: Any) -> None:
            self._began = time.thread_time()
            catch_up(*args)

        player._catch_up = timed
        return player

    def _take(self) -> None:
        own = time.thread_time()
        self._show()
        self._spent = time.thread_time() - own

    def _painted(self, event: QPaintEvent) -> None:
        own = time.thread_time()
        self._paint(event)
        at = self.canvas.at
        if self.canvas.image is None or (self.shown and self.shown[-1].at == at):
            return
        painted, spent = self._behind(at), self._spent + time.thread_time() - own
        QTimer.singleShot(0, self.canvas, lambda: self._flushed(at, painted, spent))  # by then Qt has given the picture to the screen

    def _flushed(self, at: int, painted: float, spent: float) -> None:
        self.shown.append(_Shown(at, time.perf_counter(), time.process_time()))
        if (given := self._given.pop(at, None)) is not None:
            self.late.append(_Late(given[0], painted, self._behind(at), given[1], spent * 1e3))

    def _behind(self, at: int) -> float:
        player = self.view._player
        return (player.position - at) / 1e3 if player is not None else 0.0

    # ------------------------------------------------------------ steps

    def open(self, path: str) -> None:
        """Open a film, paused at its first picture."""
        self.shown.clear()
        self.view.open_path(path, 0, False)
        until(lambda: bool(self.shown) and self.view._known > 0, PATIENCE)

    def idle(self) -> bool:
        player = self.view._player
        return player is None or (player._target is None and not player._steps and not player._running)

    def until_shown(self, at: int) -> bool:
        """Wait until this picture is on the screen; return whether it came."""
        still = [time.perf_counter()]

        def done() -> bool:
            if self.shown and self.shown[-1].at == at and self.idle():
                return True
            now = time.perf_counter()
            if not self.idle():
                still[0] = now
            return now - still[0] > GIVEN_UP

        until(done, PATIENCE)
        return bool(self.shown) and self.shown[-1].at == at

    def small(self) -> Any:
        """Return the shown picture, (160, 280) uint8."""
        image = self.canvas.image
        assert image is not None
        shrunk = image.scaled(*SMALL, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation)
        return grey(shrunk)

    def since(self, tick: int) -> dict[str, float]:
        """Return the longest interval of the event loop since a tick: see `intervals`."""
        return intervals(self.loop, tick)

    def close(self) -> None:
        player = self.view._player
        self.view.close_player()
        if player is not None:
            player._thread.join(5)
        self.view.close()


def intervals(probe: StallProbe, since: int = 0) -> dict[str, float]:
    """Return milliseconds between two ticks, from tick number `since` on: 99th percentile and longest.

    `clock`; `ready`: without the time in which the thread waited for a core; `own`: its own processor time.
    """
    clock, own, queued = (np.array(row[since:]) for row in (probe.intervals, probe.busy, probe.queued))
    found = {"clock": clock, "ready": np.maximum(clock - queued, np.minimum(clock, PERIOD_MS)), "own": own}
    return {
        f"{name}_{q}": round(float(np.percentile(row, percent)), 1) if len(row) else 0.0
        for name, row in found.items()
        for q, percent in (("p99", 99), ("longest", 100))
    }


def grey(image: QImage) -> Any:
    """Return (h, w) uint8."""
    plain = image.convertToFormat(QImage.Format.Format_Grayscale8)
    rows = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), plain.bytesPerLine())
    return rows[:, : plain.width()].copy()


def until(done: Callable[[], bool], seconds: float) -> None:
    """Run the event loop until it is so, or give up."""
    loop, end = QEventLoop(), time.monotonic() + seconds
    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.timeout.connect(lambda: loop.quit() if done() or time.monotonic() > end else None)
    timer.start(3)
    loop.exec()
    timer.stop()


def load() -> float:
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else 0.0


# ---------------------------------------------------------------- seeking


def seek(folder: str) -> dict[str, Any]:
    """Go to each target of the films in `films.json` there; keep the pictures reached as NUMBER.npy; return what each seek took.

    A film: path, what, targets; a target: at, expected (microseconds). Seconds by the clock and of the processor, all threads together.
    """
    place = Path(folder)
    stage = _Stage()
    rows: list[dict[str, Any]] = []
    for film in json.loads((place / "films.json").read_text()):
        tick = len(stage.loop.intervals)
        began = time.perf_counter()
        stage.open(film["path"])
        opened = time.perf_counter() - began
        found = []
        for target in film["targets"]:
            found.append(_one_seek(stage, target["at"], target["expected"]))
            np.save(place / f"{len(rows)}-{len(found) - 1}.npy", stage.small())
        stopped = _stop_on_the_way(stage, film["targets"]) if film["stop"] else None
        rows.append({"what": film["what"], "opened_s": round(opened, 2), "seeks": found, "stopped_s": stopped, "loop": stage.since(tick)})
    report = {"films": rows, "loop": stage.since(0), "load": load()}
    stage.close()
    return report


def _one_seek(stage: _Stage, at: int, expected: int) -> dict[str, Any]:
    """Go to a time as a click does, and wait for the exact picture."""
    before, count = stage.canvas.at, len(stage.shown)
    began, spent = time.perf_counter(), time.process_time()
    stage.view.seek(at)
    came = stage.until_shown(expected)
    new = stage.shown[count:]
    if not new:  # it was on the screen before
        return {"at": at, "came": came, "got": stage.canvas.at, "first_s": 0.0, "first_cpu_s": 0.0, "exact_s": 0.0, "exact_cpu_s": 0.0}
    first = next((s for s in new if abs(s.at - expected) < abs(before - expected) or s.at == expected), new[-1])
    return {
        "at": at, "came": came, "got": stage.canvas.at,
        "first_s": round(first.clock - began, 3), "first_cpu_s": round(first.cpu - spent, 3),
        "exact_s": round(new[-1].clock - began, 3), "exact_cpu_s": round(new[-1].cpu - spent, 3),
    }  # fmt: skip


def _stop_on_the_way(stage: _Stage, targets: list[dict[str, int]]) -> float | None:
    """Stop on the way to a distant picture; return the seconds until the player stands. None where it arrives before it can be stopped."""
    stage.view.seek(0)
    stage.until_shown(0)
    stage.view.seek(max(t["at"] for t in targets))
    until(lambda: stage.view._seeking or stage.idle(), PATIENCE)
    if not stage.view._seeking:
        return None
    began = time.perf_counter()
    stage.view.toggle()
    until(lambda: stage.idle() and not stage.view._seeking, PATIENCE)
    return round(time.perf_counter() - began, 3)


# ---------------------------------------------------------------- scrubbing and steps


def scrub(path: str, seconds: float) -> dict[str, Any]:
    """Drag the slider of a film forward, back and to and fro; then go back picture by picture."""
    stage = _Stage()
    stage.open(path)
    end = stage.view.duration
    ways: dict[str, Callable[[float], float]] = {
        "forward": lambda part: 0.05 + 0.9 * part,
        "back": lambda part: 0.95 - 0.9 * part,
        "to and fro": lambda part: 0.5 + 0.4 * float(np.sin(part * 4 * np.pi)),
    }
    tick = len(stage.loop.intervals)
    rows = {name: _drag(stage, lambda part, way=way: round(way(part) * end), seconds) for name, way in ways.items()}  # type: ignore[misc]
    steps = [_steps(stage, round(share * end), 30) for share in (0.9, 0.45)]
    singles = [_steps(stage, round(share * end), 1) for share in (0.3, 0.7, 0.55, 0.15)]
    report = {"drags": rows, "in_a_row": _both(steps), "after_a_seek": _both(singles), "loop": stage.since(tick), "load": load()}
    stage.close()
    return report


def _drag(stage: _Stage, where: Callable[[float], int], seconds: float) -> dict[str, float]:
    """Drag the slider; a picture is useful if it is near to where the slider is when it comes to the screen.

    The slider goes on with the time that the machine gives: at each position by `DRAG_MS`, or by the processor's time since the one before
    if that is more. On a machine that does nothing else that is the clock; on a busy one the drag takes longer.
    """
    stage.view.seek(where(0.0))
    until(stage.idle, PATIENCE)
    wait(0.1)
    began, spent, count = time.perf_counter(), time.process_time(), len(stage.shown)
    asked: list[tuple[float, int]] = []
    passed, last = [0.0], [spent]

    def move() -> None:
        at = where(min(1.0, passed[0] / seconds))
        asked.append((time.perf_counter(), at))
        stage.view.transport.scrubbed.emit(at)
        now = time.process_time()
        passed[0] += max(DRAG_MS / 1000, now - last[0])
        last[0] = now

    drag = QTimer()
    drag.setTimerType(Qt.TimerType.PreciseTimer)
    drag.timeout.connect(move)
    drag.start(DRAG_MS)
    until(lambda: passed[0] >= seconds, PATIENCE)
    drag.stop()
    took, cpu = time.perf_counter() - began, time.process_time() - spent
    moments = np.array([clock for clock, _ in asked])
    useful, before = 0, -1
    for shown in stage.shown[count:]:
        at = asked[max(0, int(np.searchsorted(moments, shown.clock)) - 1)][1]
        if shown.at != before and abs(shown.at - at) <= NEAR:
            useful += 1
        before = shown.at
    pictures, released, busy = len(stage.shown) - count, time.perf_counter(), time.process_time()
    stage.view.transport.released.emit(asked[-1][1])
    until(lambda: stage.idle() and time.perf_counter() - stage.shown[-1].clock > 0.15, PATIENCE)
    stood = stage.shown[-1]
    return {
        "a_second": round(useful / took, 1), "a_free_second": round(useful / max(passed[0], 1e-3), 1), "asked": len(asked),
        "pictures": pictures, "cpu_s": round(cpu, 2), "took_s": round(took, 2),
        "settled_s": round(max(0.0, stood.clock - released), 3), "settled_cpu_s": round(max(0.0, stood.cpu - busy), 3),
    }  # fmt: skip


def _steps(stage: _Stage, at: int, count: int) -> list[tuple[float, float]]:
    """Go to a time, then back picture by picture; return milliseconds of each step by the clock and of the processor."""
    stage.view.seek(at)
    until(stage.idle, PATIENCE)
    wait(0.3)
    took = []
    for _ in range(count):
        number = len(stage.shown)
        began, spent = time.perf_counter(), time.process_time()
        stage.view.step(-1)
        until(lambda number=number: len(stage.shown) > number, 5.0)  # type: ignore[misc]
        shown = stage.shown[-1]
        took.append(((shown.clock - began) * 1e3, (shown.cpu - spent) * 1e3))
        wait(0.03)
    return took


def _both(rounds: list[list[tuple[float, float]]]) -> dict[str, float]:
    """Return median and longest by the clock and of the processor."""
    all_ = np.array([step for steps in rounds for step in steps])
    median, longest = np.median(all_, axis=0).round(1).tolist(), all_.max(axis=0).round(1).tolist()
    return {"count": len(all_), "median": median[0], "longest": longest[0], "median_cpu": median[1], "longest_cpu": longest[1]}


def wait(seconds: float) -> None:
    """Run the event loop for so long."""
    end = time.monotonic() + seconds
    until(lambda: time.monotonic() >= end, seconds + 1)


# ---------------------------------------------------------------- due and shown


def due(path: str, boxes: str, seconds: float) -> dict[str, Any]:
    """Play a film with a box around what moves in it; return how late its pictures are, and how far box and picture are apart.

    `boxes`: a file with rows of [microseconds, x, y, width, height].
    """
    stage = _Stage()
    stage.open(path)
    rows = np.array(json.loads(Path(boxes).read_text()), np.float64)
    track = Track("s1.c0.f0", "person_1", "", 0.9, rows[:, 0].astype(np.int64), rows[:, 1:])
    stage.canvas.set_window(Window("", 0, int(rows[-1, 0]), (track,), (), ((0, int(rows[-1, 0])),)))
    stage.view.play()
    wait(1.0)
    stage.late.clear()
    tick = len(stage.loop.intervals)
    wait(seconds)
    late = np.array([(x.given, x.painted, x.on_screen, x.player, x.gui, x.player + x.gui) for x in stage.late])
    loop = stage.since(tick)
    apart = _apart(stage, seconds / 2)
    stage.close()
    names = ("given", "painted", "on_screen", "player_cpu", "gui_cpu", "cpu")
    return {
        "pictures": len(late), "seconds": seconds, "loop": loop, "load": load(),
        **{name: {"median": round(float(np.median(late[:, i])), 2), "p95": round(float(np.percentile(late[:, i], 95)), 2)}
           for i, name in enumerate(names)},
        "compared": len(apart), "apart": round(max(apart, default=0.0), 1),
    }  # fmt: skip


def _apart(stage: _Stage, seconds: float) -> list[float]:
    """Take what is on the screen after each painting; return how many pixels its box and the square in its picture are apart."""
    found: list[float] = []
    flushed = stage._flushed

    def look(*args: Any) -> None:
        flushed(*args)
        window = stage.view.window()
        taken = window.screen().grabWindow(window.winId()).toImage().convertToFormat(QImage.Format.Format_RGB32)
        pixels = np.frombuffer(taken.constBits(), np.uint8).reshape(taken.height(), -1, 4)[:, :, :3].astype(np.int16)
        area = stage.canvas.picture_rect()
        row = pixels[round(area.y() + area.height() * 0.55)]
        white = np.flatnonzero(row.min(axis=1) > 225)
        coloured = np.flatnonzero(row.max(axis=1) - row.min(axis=1) > 60)
        if len(white) and len(coloured):
            found.append(abs(float(white[0] + white[-1]) / 2 - float(coloured[0] + coloured[-1]) / 2))
        else:
            found.append(float(SIZE[0]))

    stage._flushed = look  # type: ignore[method-assign, assignment]
    wait(seconds)
    return found
