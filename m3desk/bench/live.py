"""Measures a live source, fed by a film at real time in a loop: seconds behind, memory, clips lost, questions, kills, a still scene, and
the proof that its last minutes are forgotten.

`course` records and memorizes a reel, meetings and silence in a loop (`live_material`) for some minutes and asks about the last 20
seconds once a minute; what it saw is kept as JSON with `--keep`. `kills` kills the engine, with its recorder or without, at random
moments. `still` is a scene in which nothing moves or sounds. `forget` forgets the last half minute. `perceive` is the processor time of a
clip of 20 and of 30 seconds: what is seen and what is heard. The limits are those of the goals; load by other programs is reported, not
corrected.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil

from m3desk import events
from m3desk.app import App
from m3desk.bench.live_material import mixture
from m3desk.bench.material import data, output, tree_pss
from m3desk.desk import EngineDesk
from m3desk.errors import UsageError
from m3desk.media.capture.recording import Recording

ROWS = ("course", "kills", "still", "forget", "perceive")
SEED = 20261122
QUESTION = "What happened in the last 20 seconds?"
ASK_EVERY = 60.0
WARM = 600.0
"""Seconds after which the memory of the processes should stay what it is; a fifth of shorter runs."""

GOALS = {"behind": 60.0, "lost": 0, "growth_mb": 50.0, "question": 5.0, "still": 0.15, "kill_lost": 2.0}


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Run the rows (default all) for `--minutes N` (default 3). A file given takes the place of the reel, and of the course's own film."""
    given = list(args)
    keep = Path(given.pop(given.index("--keep") + 1)) if "--keep" in given else None
    minutes = float(given.pop(given.index("--minutes") + 1)) if "--minutes" in given else 3.0
    seed = int(given.pop(given.index("--seed") + 1)) if "--seed" in given else SEED
    count = next((int(a) for a in given if a.isdigit()), 4)
    own = next((Path(a) for a in given if Path(a).is_file()), None)
    film = own or data("video", "reel", "reel_shared.mp4")
    if unknown := [a for a in given if not a.startswith("--") and not a.isdigit() and a not in ROWS and not Path(a).is_file()]:
        raise UsageError(
            f"“{unknown[0]}” is no argument of the benchmark live.", f"It takes a file, a number of kills and {', '.join(ROWS)}."
        )
    rows = [r for r in ROWS if r in given] or list(ROWS)
    folder = Path(tempfile.mkdtemp(prefix="m3desk-live-"))
    run: dict[str, Callable[[Path], dict[str, Any]]] = {
        "course": lambda place: _course(place, own or _mixed(place, film), minutes * 60),
        "kills": lambda place: _kills(place, film, count, seed),
        "still": lambda place: _still(place, minutes * 60),
        "forget": lambda place: _forget(place, film),
        "perceive": lambda _place: _perceive(film),
    }
    found: dict[str, Any] = {}
    try:
        for row in rows:
            (folder / row).mkdir()
            found[row] = {**run[row](folder / row), "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report = {"ok": all(r["ok"] for r in found.values()), "film": film.name, "rows": found}
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / "live.json").write_text(json.dumps(report, indent=1))
        if "course" in found:
            (keep / "live.svg").write_text(_plot(found["course"]["series"]))
    return report


def lines(report: dict[str, Any]) -> list[str]:
    """Return the report as people read it."""
    out = []
    for name, row in report["rows"].items():
        told = {k: v for k, v in row.items() if k not in ("series", "ok", "each")}
        out.append(f"{name:<7} {'ok' if row['ok'] else 'MISSED'}: " + ", ".join(f"{k} {v}" for k, v in told.items()))
    return out


# ---------------------------------------------------------------- an engine with a live source


class _Live:
    """An engine process with a memory, and what it told. Close it."""

    def __init__(self, memory: Path) -> None:
        self.status: list[tuple[float, events.LiveStatus]] = []
        self.told: list[tuple[float, Any]] = []
        self._ready, self.over = threading.Event(), threading.Event()
        self._asked: dict[str, dict[str, float]] = {}
        self.answers: list[dict[str, Any]] = []
        self.desk = EngineDesk(str(memory))
        self.desk.subscribe(self._hear)
        if not self._ready.wait(60):
            raise RuntimeError("the engine did not open the memory")

    def _hear(self, event: Any) -> None:
        now = time.monotonic()
        if isinstance(event, events.EngineReady):
            self._ready.set()
        elif isinstance(event, events.LiveStatus):
            self.status.append((now, event))
        elif isinstance(event, events.SourceChanged) and event.state in ("done", "partial", "failed", "cancelled"):
            self.over.set()
        elif isinstance(event, events.AskText) and event.ask in self._asked:
            self._asked[event.ask].setdefault("first", now)
        elif isinstance(event, events.AskDone) and event.ask in self._asked:
            asked = self._asked.pop(event.ask)
            first = asked.get("first", now) - asked["at"]
            self.answers.append({
                "first_word": round(first, 2), "whole": round(now - asked["at"], 2), "found": event.found, "cited": bool(event.citations),
                "newest_cited": max((c.end for c in event.citations), default=0) / 1e6, "at": asked["source"],
            })  # fmt: skip
        elif isinstance(event, events.Notice) and event.level != "info":
            self.told.append((now, event))

    def start(self, address: str) -> str:
        source: str = self.desk.start_live(address).result(60)
        return source

    def ask(self, question: str) -> None:
        at = time.monotonic()
        ask = self.desk.ask(question)
        self._asked[ask] = {"at": at, "source": self.last.recorded / 1e6}

    @property
    def last(self) -> events.LiveStatus:
        return self.status[-1][1]

    def until(self, there: Callable[[], bool], seconds: float) -> bool:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.status and there():
                return True
            time.sleep(0.1)
        return False

    def close(self) -> None:
        self.desk.close()


def _course(place: Path, film: Path, seconds: float) -> dict[str, Any]:
    """Record and memorize for some time, with a question a minute."""
    live = _Live(place / "m")
    try:
        source = live.start(f"file:{film}?live&loop")
        if not live.until(lambda: live.last.recorded > 0, 60):
            raise RuntimeError("nothing was recorded")
        began = time.monotonic()
        cpu, asked = _cpu(live.desk.pid()), began
        series: list[dict[str, Any]] = []
        while (now := time.monotonic()) < began + seconds:
            time.sleep(2)
            s = live.last
            series.append({
                "at": round(now - began, 1), "behind": s.behind, "waits": s.waits, "recorded": s.recorded / 1e6,
                "remembered": s.remembered / 1e6, "given_up": list(s.given_up), "pss_mb": round(tree_pss(live.desk.pid() or 0) / 1e6),
            })  # fmt: skip
            if now - asked > ASK_EVERY and s.remembered:
                asked = now
                live.ask(QUESTION)
        used = (_cpu(live.desk.pid()) - cpu) / seconds
        behind = live.last.behind
        live.desk.stop_live().result(60)
        drained = live.over.wait(600)
        lost = live.last.skipped
        whole = (_cpu(live.desk.pid()) - cpu) / max(1.0, live.last.recorded / 1e6)
    finally:
        live.close()
    settled = [x for x in series if x["at"] >= min(WARM, seconds / 5)]
    growth = _growth([x["pss_mb"] for x in settled])
    first = [a["first_word"] for a in live.answers]
    recent = [a for a in live.answers if a["newest_cited"] >= a["at"] - 20]
    check = _checked(place / "m")
    return {
        "ok": behind <= GOALS["behind"] and lost == 0 and growth <= GOALS["growth_mb"] and max(first, default=0) <= GOALS["question"]
        and len(recent) == len(live.answers) and drained and check,
        "minutes": round(seconds / 60, 1), "behind_at_end_s": behind, "most_behind_s": max(x["behind"] for x in series),
        "clips_lost": lost, "check_clean": check, "given_up_share": round(sum(bool(x["given_up"]) for x in series) / len(series), 2),
        "pss_mb": [min(x["pss_mb"] for x in series), max(x["pss_mb"] for x in series)], "pss_growth_mb": growth, "cores": round(used, 2),
        "processor_s_per_s": round(whole, 2),
        "questions": len(first), "first_word_median_s": statistics.median(first) if first else None,
        "first_word_worst_s": max(first, default=None), "cited_the_last_20_s": f"{len(recent)} of {len(live.answers)}",
        "problems": [str(e.text) for _, e in live.told][:5], "source": source, "each": live.answers, "series": series,
    }  # fmt: skip


def _mixed(place: Path, reel: Path) -> Path:
    film = place / "mixture.mp4"
    mixture(film, reel, data("speech", "ami_30s"))
    return film


def _growth(values: list[int]) -> float:
    """Return how much the last fifth of some values is above the first fifth, in their mean."""
    fifth = max(1, len(values) // 5)
    return round(statistics.mean(values[-fifth:]) - statistics.mean(values[:fifth]), 1) if values else 0.0


def _cpu(pid: int | None) -> float:
    """Return the processor seconds of a process and its children, those that have ended included."""
    total = 0.0
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        ended = process.cpu_times()
        total += getattr(ended, "children_user", 0.0) + getattr(ended, "children_system", 0.0)
        for one in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                used = one.cpu_times()
                total += used.user + used.system
    return total


def _checked(memory: Path) -> bool:
    return bool(output("check", "-m", str(memory))["ok"])


# ---------------------------------------------------------------- kills

_RUN = """
import sys
sys.path[:0] = {path!r}
from m3desk.app import App
app = App({memory!r})
app.work.clip_seconds(10.0)
app.live.start({address!r})
print("started", flush=True)
app.work.run()
"""


def _kills(place: Path, film: Path, count: int, seed: int) -> dict[str, Any]:
    """Kill the process that records and memorizes, together with its recorder, at random moments; then open the memory and resume."""
    rng = random.Random(seed)
    lost, problems, unfinished = [], [], 0
    for number in range(count):
        memory = place / f"m{number}"
        script = _RUN.format(path=[p for p in sys.path if p], memory=str(memory), address=f"file:{film}?live&loop")
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
            assert child.stdout is not None
            if child.stdout.readline() != b"started\n":
                problems.append(f"{number}: it did not start")
                continue
            folder = next((memory / "recordings").iterdir())
            end = time.monotonic() + 30
            while not list(folder.glob("*.ts")) and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(rng.uniform(2.0, 30.0))
            tree = [p.pid for p in psutil.Process(child.pid).children(recursive=True)]
            before = Recording.open(folder).end
            all_ = number % 2 == 0
            os.kill(child.pid, signal.SIGKILL)
            for pid in tree if all_ else ():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        with App(memory) as app:
            sources = app.live.recover()
            if len(sources) != 1:
                problems.append(f"{number}: {len(sources)} live sources were found")
                continue
            known = app.work._store.source(sources[0])
            lost.append(round(max(0.0, (before - (known.duration or 0)) / 1e6), 2))
            if not _plays(folder, known.duration or 0):
                problems.append(f"{number}: the recording does not play to its end")
            app.work.resume()
            app.work.run()
            left = [c for c in app.work._store.clips(sources[0]) if c.state != "episodic"]
            unfinished += bool(left)
            if not app.check()["ok"]:
                problems.append(f"{number}: check is not clean")
    return {
        "ok": not problems and not unfinished and max(lost, default=0) <= GOALS["kill_lost"], "kills": count,
        "most_lost_s": max(lost, default=None), "not_resumed": unfinished, "problems": problems[:5],
    }  # fmt: skip


def _plays(folder: Path, duration: int) -> bool:
    """Return whether the pictures of a recording can be decoded to 2 seconds before its end."""
    from m3desk.domain.clip import Clip
    from m3desk.media import file as media_file
    from m3desk.media.cutter import FileClip

    source = media_file.probe(folder)
    clip = Clip("s1.c0", "s1", 0, max(0, duration - 6_000_000), duration)
    frames = [f.at for f in FileClip(source, clip, str(folder)).frames()]
    return bool(frames) and frames[-1] >= duration - 2_000_000


# ---------------------------------------------------------------- a still scene, and forgetting


def _still(place: Path, seconds: float) -> dict[str, Any]:
    """Record a scene in which nothing moves and nobody speaks, until all of it is memorized; return the processor time by its length.

    The time to open the models is left out; so the figure does not depend on what else runs on the machine.
    """
    film = place / "still.mp4"
    _still_film(film)
    live = _Live(place / "m")
    try:
        live.start(f"file:{film}?live&loop")
        if not live.until(lambda: live.last.remembered > 0, 300):
            raise RuntimeError("nothing was memorized")
        used, at = _cpu(live.desk.pid()), live.last.remembered
        time.sleep(seconds)
        live.desk.stop_live().result(60)
        if not live.over.wait(600):
            raise RuntimeError("the scene was not memorized to its end")
        covered = (live.last.remembered - at) / 1e6
        cores = (_cpu(live.desk.pid()) - used) / covered
    finally:
        live.close()
    return {"ok": cores <= GOALS["still"], "cores": round(cores, 3), "seconds": round(covered, 1)}


def _still_film(path: Path) -> None:
    """Write ten seconds of a room without anybody: one picture with faint noise of the camera, and silence with faint noise.

    The room is a wall, a floor, a door and a table: in spots of random colours a detector found a face.
    """
    import av
    import cv2
    import numpy as np

    rng = np.random.default_rng(SEED)
    room = np.full((360, 640, 3), (150, 165, 170), np.uint8)
    room[250:] = (80, 100, 120)
    for (x, y, right, bottom), colour in (((60, 60, 170, 250), (70, 90, 130)), ((330, 200, 560, 215), (60, 70, 90))):
        cv2.rectangle(room, (x, y), (right, bottom), colour, -1)
    for x in (345, 530):
        cv2.rectangle(room, (x, 215), (x + 15, 300), (60, 70, 90), -1)
    with av.open(str(path), "w") as out:
        video, audio = out.add_stream("libx264", rate=25, options={"crf": "18"}), out.add_stream("aac", rate=48_000, layout="mono")
        video.width, video.height, video.pix_fmt = 640, 360, "yuv420p"
        for k in range(250):
            picture = np.clip(room.astype(np.int16) + rng.integers(-2, 3, room.shape), 0, 255).astype(np.uint8)
            for packet in video.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")):
                out.mux(packet)
            frame = av.AudioFrame.from_ndarray((rng.standard_normal((1, 1920)) * 1e-4).astype(np.float32), format="fltp", layout="mono")
            frame.sample_rate, frame.pts = 48_000, k * 1920
            for packet in audio.encode(frame):
                out.mux(packet)
        for packet in (*video.encode(None), *audio.encode(None)):
            out.mux(packet)


def _forget(place: Path, film: Path) -> dict[str, Any]:
    """Forget the last half minute of a live source, while it goes on; return what the search found."""
    live = _Live(place / "m")
    try:
        live.start(f"file:{film}?live&loop")
        if not live.until(lambda: live.last.remembered >= 60e6, 900):
            raise RuntimeError("the first minute was not memorized")
        began = time.monotonic()
        gone = live.desk.forget_recent(30).result(120)
        seconds = time.monotonic() - began
        live.desk.stop_live().result(30)
        live.over.wait(900)
    finally:
        live.close()
    check = _checked(place / "m")
    return {
        "ok": not gone.found and check, "hits": len(gone.found), "found": list(gone.found)[:5], "observations": gone.observations,
        "sentences": gone.sentences, "files": gone.searched.get("files"), "seconds": round(seconds, 1), "check_clean": check,
    }  # fmt: skip


def _perceive(film: Path) -> dict[str, Any]:
    """Return the processor seconds that perceiving the first 20 and 30 seconds of a film takes, without other programs' share."""
    from dataclasses import replace

    from m3desk import models
    from m3desk.backends import Backends, profile_or_why
    from m3desk.config import Settings
    from m3desk.domain.clip import Clip
    from m3desk.media import file as media_file
    from m3desk.media.cutter import FileClip
    from m3desk.perception.faces import see
    from m3desk.perception.voices import hear
    from m3desk.work import PERCEPTION

    settings = Settings.load()
    opened = Backends(models.weights, profile=profile_or_why(settings.profile), threads=settings.threads).models(*PERCEPTION)
    source = replace(media_file.probe(film), id="s1")
    found: dict[str, Any] = {"ok": True}
    for seconds in (10, 20, 30):  # the first one opens what is opened on first use
        clip = FileClip(source, Clip("s1.c0", "s1", 0, 0, seconds * 1_000_000), str(film))
        for what, perceive in (("hear", hear), ("see", see)):
            began = time.process_time()
            perceive(clip, opened)
            found[f"{what}_{seconds}_s"] = round(time.process_time() - began, 1)
    return {k: v for k, v in found.items() if not k.endswith("_10_s")}


def _plot(series: list[dict[str, Any]]) -> str:
    """Return seconds behind (solid) and memory (dashed, its own scale) over time as an SVG picture."""
    width, height, pad = 800, 300, 40
    last = max(x["at"] for x in series) or 1
    most, memory = max(60.0, *(x["behind"] for x in series)), max(x["pss_mb"] for x in series) or 1

    def line(key: str, top: float) -> str:
        return " ".join(
            f"{pad + x['at'] / last * (width - 2 * pad):.1f},{height - pad - x[key] / top * (height - 2 * pad):.1f}" for x in series
        )

    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">'
        f'<rect width="{width}" height="{height}" fill="white"/>'
        f'<polyline fill="none" stroke="black" points="{line("behind", most)}"/>'
        f'<polyline fill="none" stroke="gray" stroke-dasharray="4 3" points="{line("pss_mb", memory)}"/>'
        f'<text x="{pad}" y="20">seconds behind (solid, to {most:.0f}), memory (dashed, to {memory} MB), over {last:.0f} s</text></svg>'
    )
