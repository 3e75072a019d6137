"""Measures the recorder by itself: offset of sound and picture, share of a core, what kills lose, how soon a stream comes back.

`offset` records a film with a flash and a click every 2 s, over HTTP and (where GStreamer's server is installed) RTSP on loopback, for
`--minutes M` (default 1), and clicks of a microphone against the clock (`recording_microphone`). `cpu` records MJPEG as webcams send
it, moving and still. `kills` kills the recorder or its parent N times (default 5) at random moments. `faults` has an HTTP server close,
hang, send garbage and stay away, each N times. `machine` lets the machine sleep, the disk go and the sound server die, each N times
(`recording_machine`).
"""

from __future__ import annotations

import contextlib
import http.server
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import av
import numpy as np
import psutil

from m3desk.bench import recording_machine, recording_microphone
from m3desk.bench.material import data
from m3desk.bench.measured_recorder import after_faults, recording, started
from m3desk.bench.recording_microphone import clicks_of
from m3desk.errors import UsageError
from m3desk.media.capture import clock, reports
from m3desk.media.capture.preview import Preview
from m3desk.media.capture.recorder import Recorder
from m3desk.media.capture.recording import Recording
from m3desk.media.capture.transport import ZERO
from m3desk.media.streams import open_media

ROWS = ("offset", "cpu", "kills", "faults", "machine")
GOALS = {"offset_ms": 40.0, "kill_lost_s": 2.0, "back_s": 15.0}
SEED = 20261122
EVERY = 2.0

_RTSP = """
import sys, gi
gi.require_version("Gst", "1.0"); gi.require_version("GstRtspServer", "1.0")
from gi.repository import Gst, GstRtspServer, GLib
Gst.init(None)
server = GstRtspServer.RTSPServer(); server.set_address("127.0.0.1"); server.set_service(sys.argv[1])
factory = GstRtspServer.RTSPMediaFactory(); factory.set_shared(True)
factory.set_launch(
    "( filesrc location=" + sys.argv[2] + " ! qtdemux name=d d. ! queue ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=1 "
    "d. ! queue ! aacparse ! rtpmp4gpay name=pay1 pt=97 )")
server.get_mount_points().add_factory("/cam", factory); server.attach(None)
print("ready", flush=True)
GLib.MainLoop().run()
"""

_PARENT = """
import json, sys, time
from m3desk.media.capture import clock
from m3desk.media.capture.address import LiveAddress
from m3desk.media.capture.recorder import Recorder
told = lambda r: print(json.dumps([recorder.process, type(r).__name__, getattr(r, "origin", None)]), flush=True)
recorder = Recorder(sys.argv[1], LiveAddress.parse(sys.argv[2]), told)
recorder.start()
time.sleep(120)
"""


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Run the rows (default all)."""
    given = list(args)
    minutes = float(given.pop(given.index("--minutes") + 1)) if "--minutes" in given else 1.0
    given = [a for a in given if a != "--minutes"]
    count = next((int(a) for a in given if a.isdigit()), 5)
    if unknown := [a for a in given if not a.isdigit() and a not in ROWS]:
        raise UsageError(
            f"“{unknown[0]}” is no argument of the benchmark recording.", f"It takes a number, --minutes M and {', '.join(ROWS)}."
        )
    run: dict[str, Callable[[Path], dict[str, Any]]] = {
        "offset": lambda place: _offset(place, minutes * 60),
        "cpu": _cpu,
        "kills": lambda place: _kills(place, count),
        "faults": lambda place: _faults(place, count),
        "machine": lambda place: _machine(place, count),
    }
    found: dict[str, Any] = {}
    for row in [r for r in ROWS if r in given] or list(ROWS):
        folder = Path(tempfile.mkdtemp(prefix="m3desk-recording-"))
        try:
            found[row] = {**run[row](folder), "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None}
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return {"ok": all(r["ok"] for r in found.values()), "rows": found}


# ---------------------------------------------------------------- material


def _film(path: Path, seconds: float, codec: str = "libx264", size: tuple[int, int] = (320, 240)) -> Path:
    """Write a film with a flash of 0.12 s and a click every 2 s."""
    width, height = size
    scene = np.random.default_rng(SEED).integers(0, 90, (height // 10, width // 10), np.uint8).repeat(10, 0).repeat(10, 1)
    click = (0.8 * np.sin(2 * np.pi * 1000 * np.arange(2400) / 48_000)).astype(np.float32)
    with av.open(str(path), "w") as out:
        video: Any = out.add_stream(codec, rate=25, options={"preset": "ultrafast", "tune": "zerolatency"} if codec == "libx264" else {})
        video.width, video.height, video.pix_fmt, video.codec_context.gop_size = width, height, "yuv420p", 25
        sound: Any = out.add_stream("aac", rate=48_000, layout="mono")
        made = 0
        for k in range(round(seconds * 25)):
            flash = k >= 50 and k % 50 < 3
            planes = np.full((height * 3 // 2, width), 128, np.uint8)
            planes[:height] = 235 if flash else np.roll(scene, k % width, 1)
            frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            frame.pts, frame.time_base = k, Fraction(1, 25)
            out.mux(video.encode(frame))
            while (made + 1) * 1024 <= (k + 1) * 1920:
                piece = np.zeros(1024, np.float32)
                within = made * 1024 % 96_000
                if made * 1024 >= 96_000 and within < 2400:
                    part = click[within : within + 1024]
                    piece[: len(part)] = part
                elif made * 1024 >= 95_000 and within > 96_000 - 1024:
                    part = click[: within + 1024 - 96_000]
                    piece[96_000 - within :] = part
                block = av.AudioFrame.from_ndarray(piece[None], format="fltp", layout="mono")
                block.sample_rate, block.pts, block.time_base = 48_000, made * 1024, Fraction(1, 48_000)
                out.mux(sound.encode(block))
                made += 1
        out.mux(video.encode(None))
        out.mux(sound.encode(None))
    return path


class _Server:
    """An HTTP camera on loopback: sends a film at real time, again and again. `fault`: what it does wrong."""

    def __init__(self, film: Path, seconds: float) -> None:
        self.fault = ""
        content, server = film.read_bytes(), self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                with contextlib.suppress(OSError):
                    server.send(self, content, seconds)
                self.close_connection = True

            def log_message(self, *_: object) -> None: ...

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/cam"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def send(self, handler: Any, content: bytes, seconds: float) -> None:
        """Answer one request."""
        if self.fault in ("away", "close"):
            return
        handler.send_response(200)
        handler.end_headers()
        step = len(content) // round(seconds * 50) // 188 * 188 + 188
        began = time.monotonic()
        for number, at in enumerate(range(0, len(content), step)):
            if self.fault in ("away", "close"):
                return
            while self.fault == "hang":
                time.sleep(0.05)
            part = content[at : at + step]
            handler.wfile.write(os.urandom(len(part)) if self.fault == "garbage" else part)
            time.sleep(max(0.0, began + (number + 1) * seconds * step / len(content) - time.monotonic()))

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


# ---------------------------------------------------------------- rows


def _offset(place: Path, seconds: float) -> dict[str, Any]:
    found: dict[str, Any] = {}
    server = _Server(_film(place / "film.ts", seconds + 10), seconds + 10)
    found["http"] = _one_offset(place / "http", server.url, seconds)
    server.close()
    film, port = _film(place / "film.mp4", seconds + 10), _free_port()
    with (
        contextlib.suppress(OSError),
        subprocess.Popen(
            ["/usr/bin/python3", "-c", _RTSP, str(port), str(film)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as rtsp,
    ):
        assert rtsp.stdout is not None
        if rtsp.stdout.readline() == b"ready\n":
            found["rtsp"] = _one_offset(place / "rtsp", f"rtsp://127.0.0.1:{port}/cam", seconds)
        rtsp.kill()
    found["microphone"] = recording_microphone.measure(place / "microphone", seconds)
    worst = max(abs(f["last_ms"]) for f in found.values() if "last_ms" in f)
    return {"ok": worst <= GOALS["offset_ms"], "goal_ms": GOALS["offset_ms"], **found}


def _one_offset(folder: Path, url: str, seconds: float) -> dict[str, Any]:
    with recording(folder, url) as (recorder, told):
        started(told)
        process = psutil.Process(recorder.process)
        before, began = process.cpu_times(), time.monotonic()
        time.sleep(seconds)
        after, passed = process.cpu_times(), time.monotonic() - began
    flashes, clicks = _flashes(folder), clicks_of(folder)
    offsets = [(c - f) * 1000 for f in flashes if (c := min(clicks, key=lambda c: abs(c - f), default=99.0)) - f < EVERY / 2]
    dropped = max((r.dropped for _, r in told if isinstance(r, reports.Recorded)), default=0)
    return {
        "seconds": round(Recording.open(folder).end / 1e6, 1),
        "pairs": len(offsets),
        "first_ms": round(float(np.median(offsets[:5])), 1),
        "last_ms": round(float(np.median(offsets[-5:])), 1),
        "worst_ms": round(max(map(abs, offsets)), 1),
        "core": round((after.user + after.system - before.user - before.system) / passed, 3),
        "pictures_dropped": dropped,
    }


def _flashes(folder: Path) -> list[float]:
    found: list[float] = []
    before = False
    with open_media(folder) as opened:
        for packet in opened.packets("picture"):
            for frame in packet.decode():
                bright = bool(np.frombuffer(frame.planes[0], np.uint8)[::97].mean() > 180)
                if bright and not before:
                    found.append(float(frame.pts * frame.time_base) - ZERO)
                before = bright
    return found


def _cpu(place: Path) -> dict[str, Any]:
    """The recorder's share of a core with a webcam's pictures, while somebody looks at the preview."""
    found: dict[str, Any] = {}
    for width, height in ((640, 480), (1280, 720)):
        for kind in ("moving", "still"):
            film = _webcam(place / f"{kind}_{width}.mkv", (width, height), kind == "still")
            with recording(place / f"r_{kind}_{width}", f"file:{film}?live&loop") as (recorder, told):
                started(told)
                preview = Preview.attach(recorder.preview)
                _look(preview, 3.0)
                process = psutil.Process(recorder.process)
                before, began = process.cpu_times(), time.monotonic()
                _look(preview, 12.0)
                after, passed = process.cpu_times(), time.monotonic() - began
                preview.close()
            made = Recording.open(place / f"r_{kind}_{width}")
            found[f"{kind} {width}×{height}"] = {
                "core": round((after.user + after.system - before.user - before.system) / passed, 3),
                "mbit_s": round(made.bytes * 8 / made.end, 2),
            }
    return {"ok": True, **found}


def _look(preview: Preview, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        preview.newest()
        time.sleep(0.04)


def _webcam(path: Path, size: tuple[int, int], still: bool) -> Path:
    """Write 10 s of MJPEG from the reel, as a webcam sends it; `still`: its first picture with a sensor's noise."""
    chance = np.random.default_rng(SEED)
    with av.open(str(data("video", "reel", "reel_shared.mp4"))) as film, av.open(str(path), "w") as out:
        video: Any = out.add_stream("mjpeg", rate=25, options={"qmin": "4", "qmax": "4"})
        video.width, video.height, video.pix_fmt = *size, "yuvj420p"
        first: Any = None
        for k, frame in enumerate(film.decode(video=0)):
            if k == 250:
                break
            scaled = frame.reformat(*size, format="yuvj420p")
            if still:
                first = scaled.to_ndarray().astype(np.float32) if first is None else first
                noisy = first + chance.normal(0, 1.5, first.shape).astype(np.float32)
                scaled = av.VideoFrame.from_ndarray(np.clip(noisy, 0, 255).astype(np.uint8), format="yuvj420p")
            scaled.pts, scaled.time_base = k, Fraction(1, 25)
            out.mux(video.encode(scaled))
        out.mux(video.encode(None))
    return path


def _kills(place: Path, count: int) -> dict[str, Any]:
    chance = random.Random(SEED)
    film = _film(place / "film.mp4", 30)
    lost: dict[str, list[float]] = {"recorder": [], "parent": []}
    left = 0
    for number in range(count):
        for whom in ("recorder", "parent"):
            folder = place / f"{whom}{number}"
            seconds, left_behind = _one_kill(folder, f"file:{film}?live&loop", whom, chance.uniform(1.0, 6.0))
            lost[whom].append(round(seconds, 2))
            left += left_behind
    worst = max(s for values in lost.values() for s in values)
    return {
        "ok": worst <= GOALS["kill_lost_s"] and not left,
        "goal_s": GOALS["kill_lost_s"],
        "worst_s": worst,
        "lost_s": lost,
        "processes_left": left,
    }


def _one_kill(folder: Path, address: str, whom: str, after: float) -> tuple[float, bool]:
    """Kill the recorder or its parent; return the seconds that the recording lacks, and whether a process was left."""
    import json

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    with subprocess.Popen([sys.executable, "-c", _PARENT, str(folder), address], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        origin, number = None, 0
        while origin is None:
            number, _, origin = json.loads(parent.stdout.readline())
        time.sleep(max(0.0, origin + after - clock.now()))
        child = psutil.Process(number)
        killed = clock.now()
        if whom == "recorder":
            child.kill()
            parent.kill()
        else:
            parent.kill()
    left = False
    try:
        child.wait(8)
    except psutil.TimeoutExpired:
        left = True
        child.kill()
    return killed - origin - Recording.open(folder).end / 1e6, left


def _faults(place: Path, count: int) -> dict[str, Any]:
    """What a stream does wrong, and how long after it is right again its pictures are recorded."""
    chance = random.Random(SEED)
    film = _film(place / "film.ts", 60)
    found: dict[str, Any] = {}
    for fault, lasts in (("close", 0.2), ("away", 3.0), ("garbage", 1.0), ("hang", 12.0)):
        server = _Server(film, 60)
        found[fault] = after_faults(place / fault, server.url, count, chance, partial(_goes_wrong, server, fault, lasts), _source_lost)
        server.close()
    worst = max(b for f in found.values() for b in f["back_s"])
    return {"ok": worst <= GOALS["back_s"] and not any(f["recorded_lost_s"] for f in found.values()), "worst_back_s": worst, **found}


def _goes_wrong(server: _Server, fault: str, lasts: float, _recorder: Recorder) -> None:
    server.fault = fault
    time.sleep(lasts)
    server.fault = ""


def _source_lost(report: reports.Report) -> bool:
    return isinstance(report, reports.DeviceChanged) and report.state in ("lost", "stalled")


def _machine(place: Path, count: int) -> dict[str, Any]:
    found = recording_machine.measure(place, _film(place / "film.mp4", 30), count, random.Random(SEED))
    back, lost = recording_machine.worst(found)
    return {"ok": back <= GOALS["back_s"] and not lost, "worst_back_s": back, "most_lost_s": lost, **found}


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
