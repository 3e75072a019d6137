"""Measures stalls of the GUI thread by the intervals of a 16 ms timer. For the benchmark.

Enabled by the environment variable M3DESK_STALL_LOG=FILE; the file is written when the window is closed.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer

PERIOD_MS = 16
START_SECONDS = 5.0
"""The window builds its views in the first seconds; what comes after is told apart as well."""


class StallProbe(QObject):
    """Records each interval between two ticks in milliseconds, with its end time."""

    def __init__(self, place: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.place = place
        self.intervals: list[float] = []
        self.busy: list[float] = []
        self.queued: list[float] = []
        self._spent = time.thread_time()
        self._schedule = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
        self._waited = self._wait()
        self.began = self._last = time.perf_counter()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start(PERIOD_MS)

    def _tick(self) -> None:
        now, spent = time.perf_counter(), time.thread_time()
        self.busy.append((spent - self._spent) * 1000)
        self._spent = spent
        waited = self._wait()
        self.queued.append(waited - self._waited)
        self._waited = waited
        self.intervals.append((now - self._last) * 1000)
        self._last = now

    def _wait(self) -> float:
        """Return the milliseconds this thread has waited, ready to run, for a processor core (Linux; 0 elsewhere)."""
        try:
            return int(self._schedule.read_bytes().split()[1]) / 1e6
        except (OSError, IndexError, ValueError):
            return 0.0

    def summary(self) -> dict[str, object]:
        """Return milliseconds. Stall: an interval minus the period; `worst`: [at_seconds, stall, own time, wait for a core]."""
        at, ends = 0.0, []
        for x, own, queued in zip(self.intervals, self.busy, self.queued, strict=True):
            at += x / 1000
            ends.append((x, at, own, queued))
        ordered = sorted(self.intervals)
        settled = sorted(x for x, end, _, _ in ends if end > START_SECONDS)
        busy = sorted(own for _, end, own, _ in ends if end > START_SECONDS)
        ours = sorted(max(0.0, x - PERIOD_MS - queued) for x, end, _, queued in ends if end > START_SECONDS)

        def part(q: float, of: list[float] | None = None) -> float:
            row = ordered if of is None else of
            return row[min(len(row) - 1, int(q * len(row)))] if row else 0.0

        return {
            "period_ms": PERIOD_MS,
            "ticks": len(ordered),
            "seconds": round(time.perf_counter() - self.began, 1),
            "interval_ms": {
                "median": round(part(0.5), 2),
                "p95": round(part(0.95), 2),
                "p99": round(part(0.99), 2),
                "max": round(part(1.0), 2),
            },
            "stall_ms": {"p99": round(max(0.0, part(0.99) - PERIOD_MS), 2), "longest": round(max(0.0, part(1.0) - PERIOD_MS), 2)},
            "after_start": {
                "from_second": START_SECONDS,
                "stall_p99": round(max(0.0, part(0.99, settled) - PERIOD_MS), 2),
                "stall_longest": round(max(0.0, part(1.0, settled) - PERIOD_MS), 2),
            },
            # The thread's own processor time between two ticks: what remains of a stall without other processes' share.
            "own_ms_after_start": {"p99": round(part(0.99, busy), 2), "longest": round(part(1.0, busy), 2)},
            # What remains without the wait for a core too: waiting for the interpreter (our other threads) or for a device.
            "ours_ms_after_start": {"p99": round(part(0.99, ours), 2), "longest": round(part(1.0, ours), 2)},
            "worst": [
                [round(t, 2), round(x - PERIOD_MS, 1), round(own, 1), round(q, 1)] for x, t, own, q in sorted(ends, reverse=True)[:10]
            ],
        }

    def write(self) -> None:
        """Write the summary as JSON."""
        self.place.write_text(json.dumps(self.summary(), indent=1), encoding="utf-8")
