"""Network streams over loopback: HTTP by a server of this test, RTSP by GStreamer, a microphone by PulseAudio (if they are here)."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest

from m3desk.media.capture import feeders, network, reports
from m3desk.media.capture.inputs import CaptureError, Taking
from m3desk.media.capture.microphone import MicrophoneInput
from m3desk.media.capture.network import StreamInput
from m3desk.media.capture.recording import Recording

from ..conftest import number_of, numbered
from .test_recorder_process import Course, gaps

Video = Callable[..., Path]
SECOND = 1_000_000

pytestmark = pytest.mark.slow


class Server:
    """An HTTP server on loopback. `answers`: path → what is done with the request."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: dict[str, Callable[[Any], None]] = {}
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    server.answers[self.path](self)
                self.close_connection = True

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{path}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def head(handler: Any, status: int = 200, **fields: str) -> None:
    handler.send_response(status)
    for name, value in fields.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


def paced(file: Path, seconds: float) -> Callable[[Any], None]:
    """Return an answer that sends a file within so many seconds, as a camera does."""

    def send(handler: Any) -> None:
        head(handler, Content_Type="video/mp2t")
        data = file.read_bytes()
        step = len(data) // round(seconds * 50) // 188 * 188 + 188
        for at in range(0, len(data), step):
            handler.wfile.write(data[at : at + step])
            time.sleep(0.02)

    return send


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Course]]:
    monkeypatch.setattr(feeders, "AGAIN_SECONDS", 0.3)
    made: list[Course] = []

    def start(*sources: Any) -> Course:
        made.append(Course(tmp_path / "r1", *sources))
        return made[-1]

    yield start
    for one in made:
        one.close()


def test_a_stream_over_http_that_ends_is_opened_again(server: Server, course: Callable[..., Course], video: Video) -> None:
    server.answers["/cam"] = paced(video("film.ts", frames=75, sound=3.0, gop=12), 3.0)
    running = course(StreamInput(server.url("/cam")))
    running.until(lambda r: isinstance(r, reports.DeviceChanged) and r.state == "lost" and "ended" in r.message, 60)
    running.until(lambda r: isinstance(r, reports.DeviceChanged) and r.message == "The camera is back.", 60)
    running.end()
    assert server.asked[:2] == ["/cam", "/cam"]
    with av.open(str(running.folder / "000001.ts")) as container:
        numbers = [number_of(f.to_ndarray(format="bgr24")) for f in container.decode(video=0)]
    assert numbers[:20] == list(range(numbers[0], numbers[0] + 20))


def taken(url: str, seconds: float) -> list[tuple[float, int]]:
    """Return (seconds, number) of the pictures that a stream delivers in so many seconds."""
    found: list[tuple[float, int]] = []
    began = time.monotonic()
    take = Taking(
        lambda: round((time.monotonic() - began) * 1e6),
        lambda at, frame: found.append((at / 1e6, number_of(frame.to_ndarray(format="bgr24")))),
        lambda *_: None,
    )
    source = StreamInput(url)
    try:
        source.open()
        threading.Timer(seconds, take.stopped.set).start()
        with contextlib.suppress(CaptureError):
            source.run(take)
    finally:
        source.close()
    return found


def test_a_webcam_that_sends_jpegs_without_times_is_recorded_at_its_own_rate(server: Server) -> None:
    def send(handler: Any) -> None:
        head(handler, Content_Type="multipart/x-mixed-replace;boundary=frame")
        for k in range(40):
            _, jpeg = cv2.imencode(".jpg", numbered(k))
            handler.wfile.write(b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(jpeg) + jpeg.tobytes() + b"\r\n")
            time.sleep(0.1)

    server.answers["/cam"] = send
    found = taken(server.url("/cam"), 3.0)[-10:]
    rate = (found[-1][1] - found[0][1]) / (found[-1][0] - found[0][0])
    assert 2 < rate < 15, "pictures a second: about 10, not the 25 of FFmpeg"


def test_a_film_over_http_is_delivered_at_real_time(server: Server, video: Video, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "_AHEAD", 200_000)
    server.answers["/film.mp4"] = paced(video("film.mp4", frames=100, faststart=True), 0.1)
    found = taken(server.url("/film.mp4"), 2.0)
    assert 10 < len(found) < 70
    assert all((at - found[0][0]) - (number - found[0][1]) / 25 > -0.5 for at, number in found), "none comes before its time"


def refused(url: str) -> CaptureError:
    """Return what opening or reading a stream says is wrong."""
    source = StreamInput(url)
    try:
        with pytest.raises(CaptureError) as error:
            source.open()
            source.run(Taking(lambda: round(time.monotonic() * 1e6), lambda *_: None, lambda *_: None))
        return error.value
    finally:
        source.close()


def test_a_redirection_and_a_playlist_lead_nowhere(server: Server, video: Video) -> None:
    server.answers["/film"] = paced(video("film.ts", frames=25, sound=1.0), 0.1)
    server.answers["/cam"] = lambda h: head(h, 302, Location=server.url("/film"))
    playlist = f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{server.url('/film')}\n#EXT-X-ENDLIST\n".encode()

    def send(handler: Any) -> None:
        head(handler, Content_Type="application/vnd.apple.mpegurl")
        handler.wfile.write(playlist)

    server.answers["/list.m3u8"] = send
    refused(server.url("/cam"))
    refused(server.url("/list.m3u8"))
    assert "/film" not in server.asked


def test_a_redirection_of_an_rtsp_server_leads_nowhere() -> None:
    asked: list[str] = []
    there = socket.create_server(("127.0.0.1", 0))

    def serve(listening: socket.socket, location: str) -> None:
        while True:
            connection, _ = listening.accept()
            with connection, contextlib.suppress(OSError):
                while text := connection.recv(4096).decode():
                    asked.append(text.splitlines()[0])
                    number = next(line for line in text.splitlines() if line.startswith("CSeq"))
                    connection.sendall(f"RTSP/1.0 302 Moved\r\n{number}\r\nLocation: {location}\r\n\r\n".encode())

    elsewhere = socket.create_server(("127.0.0.1", 0))
    url = f"rtsp://127.0.0.1:{elsewhere.getsockname()[1]}/x"
    threading.Thread(target=serve, args=(there, url), daemon=True).start()
    threading.Thread(target=serve, args=(elsewhere, url), daemon=True).start()
    error = refused(f"rtsp://ann:s3cret@127.0.0.1:{there.getsockname()[1]}/cam")
    assert "another address" in str(error)
    assert not any("/x" in line or "s3cret" in line for line in asked)


def test_a_stream_that_asks_for_a_password_says_so_without_showing_one(server: Server) -> None:
    server.answers["/cam"] = lambda h: head(h, 401, WWW_Authenticate='Basic realm="x"')
    url = server.url("/cam").replace("http://", "http://ann:s3cret@")
    error = refused(url)
    assert "password" in str(error)
    assert "s3cret" not in f"{error} {error.hint} {error.__cause__} {error.__context__ and error.__suppress_context__ and ''}"
    server.answers["/none"] = lambda h: head(h, 404)
    assert "no such stream" in str(refused(server.url("/none")))


def test_garbage_is_told(server: Server, monkeypatch: pytest.MonkeyPatch, video: Video) -> None:
    chance = np.random.default_rng(1)

    def garbage(handler: Any) -> None:
        head(handler)
        handler.wfile.write(chance.bytes(200_000))

    server.answers["/cam"] = garbage
    assert "nothing that can be decoded" in str(refused(server.url("/cam")))
    monkeypatch.setattr(network, "BAD_SECONDS", 0.5)
    good = video("film.ts", frames=25, sound=1.0).read_bytes()

    def then_garbage(handler: Any) -> None:
        head(handler)
        handler.wfile.write(good)
        damaged = np.frombuffer(good * 40, np.uint8)[: len(good) * 40 // 188 * 188].reshape(-1, 188).copy()
        damaged[:, 12:] = chance.integers(0, 255, damaged[:, 12:].shape, np.uint8)
        for part in np.array_split(damaged, 100):
            handler.wfile.write(part.tobytes())
            time.sleep(0.02)

    server.answers["/cam"] = then_garbage
    refused(server.url("/cam"))


def test_a_stream_that_sends_nothing_any_more_is_stalled(server: Server, monkeypatch: pytest.MonkeyPatch, video: Video) -> None:
    monkeypatch.setattr(network, "STALL_SECONDS", 1.0)
    content = video("film.ts", frames=50, sound=2.0).read_bytes()

    def hang(handler: Any) -> None:
        head(handler)
        handler.wfile.write(content)
        time.sleep(60)

    server.answers["/cam"] = hang
    began = time.monotonic()
    assert refused(server.url("/cam")).state == "stalled"
    assert time.monotonic() - began < 40


def test_proxies_of_the_environment_are_not_used() -> None:
    code = "import os; from m3desk.media.capture import process; process.main(); print(os.environ.get('http_proxy'))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "http_proxy": "http://127.0.0.1:9"}
    told = subprocess.run([sys.executable, "-c", code], input=b"", stdout=subprocess.PIPE, env=environment, timeout=30)
    assert told.stdout.split() == [b"None"]


# ---------------------------------------------------------------- RTSP

RTSP = """
import sys, gi
gi.require_version("Gst", "1.0"); gi.require_version("GstRtspServer", "1.0")
from gi.repository import Gst, GstRtspServer, GLib
Gst.init(None)
server = GstRtspServer.RTSPServer(); server.set_address("127.0.0.1"); server.set_service(sys.argv[1])
factory = GstRtspServer.RTSPMediaFactory(); factory.set_launch(sys.argv[2]); factory.set_shared(True)
server.get_mount_points().add_factory("/cam", factory); server.attach(None)
print("ready", flush=True)
GLib.MainLoop().run()
"""
FILM = (
    "( filesrc location={} ! qtdemux name=d d. ! queue ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=1 "
    "d. ! queue ! aacparse ! rtpmp4gpay name=pay1 pt=97 )"
)


@cache
def lacks_rtsp() -> str:
    """Return why no RTSP server can be run here, "" if one can."""
    if sys.platform != "linux":
        return "Linux only"
    python = "/usr/bin/python3"
    elements = "('qtdemux', 'h264parse', 'rtph264pay', 'aacparse')"
    test = (
        "import gi; gi.require_version('GstRtspServer', '1.0'); from gi.repository import Gst, GstRtspServer; "
        f"Gst.init(None); assert all(map(Gst.ElementFactory.find, {elements}))"
    )
    if not Path(python).exists() or subprocess.run([python, "-c", test], stderr=subprocess.DEVNULL).returncode:
        return "apt-get install python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-good gstreamer1.0-plugins-bad"
    return ""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Rtsp:
    """An RTSP server that plays a file at real time."""

    def __init__(self, file: Path) -> None:
        self.port = free_port()
        self._file = file
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"rtsp://127.0.0.1:{self.port}/cam"

    def start(self) -> None:
        self._process = subprocess.Popen(
            ["/usr/bin/python3", "-c", RTSP, str(self.port), FILM.format(self._file)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


@pytest.fixture
def rtsp(video: Video) -> Iterator[Rtsp]:
    if reason := lacks_rtsp():
        pytest.skip(f"there is no RTSP server: {reason}")
    made = Rtsp(video("film.mp4", frames=500, sound=20.0, gop=25))
    yield made
    made.kill()


def test_a_camera_over_rtsp_whose_server_dies_comes_back(rtsp: Rtsp, course: Callable[..., Course]) -> None:
    running = course(StreamInput(rtsp.url))
    running.recorded(2)
    rtsp.kill()
    running.state("camera", "lost")
    rtsp.start()
    running.until(lambda r: isinstance(r, reports.DeviceChanged) and r.message == "The camera is back.", 60)
    before = Recording.open(running.folder).end
    running.until(lambda r: isinstance(r, reports.Recorded) and r.until > before + SECOND)
    running.recorded(Recording.open(running.folder).end / SECOND + 1)
    assert running.end().error is None
    recording = Recording.open(running.folder)
    assert (recording.about.width, recording.about.height) == (160, 96)
    times = running.times("picture")
    longest = max(gaps(times), key=lambda gap: gap[1] - gap[0])
    assert times == sorted(times) and times[0] < longest[0] and longest[1] < times[-1]


# ---------------------------------------------------------------- PulseAudio


@pytest.fixture
def pulse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Start a PulseAudio of this test, whose microphone is what is played; return its address."""
    programs = ("pulseaudio", "pactl", "paplay")
    if sys.platform != "linux" or not all(map(shutil.which, programs)) or not list(Path("/usr/lib").glob("*/alsa-lib/*pulse.so")):
        pytest.skip("there is no PulseAudio: apt-get install pulseaudio pulseaudio-utils libasound2-plugins libportaudio2")
    address = f"unix:{tmp_path}/socket"
    monkeypatch.setenv("PULSE_SERVER", address)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    load = ["module-null-sink sink_name=null", f"module-native-protocol-unix socket={tmp_path}/socket auth-anonymous=1"]
    command = ["pulseaudio", "-n", "--exit-idle-time=-1", "--use-pid-file=no", *(f"-L{one}" for one in load)]
    process_ = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 10
    while subprocess.run(["pactl", "info"], capture_output=True).returncode:
        assert time.monotonic() < end
        time.sleep(0.1)
    yield address
    process_.kill()
    process_.wait()


def test_what_is_played_is_heard_by_the_microphone(pulse: str, course: Callable[..., Course], tmp_path: Path) -> None:
    wave = tmp_path / "tone.wav"
    samples = (0.5 * np.sin(2 * np.pi * 440 * np.arange(48_000 * 4) / 48_000) * 32_767).astype("<i2")
    import wave as waves

    with waves.open(str(wave), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(48_000)
        file.writeframes(samples.tobytes())
    running = course(MicrophoneInput("default"))
    running.until(lambda r: isinstance(r, reports.Started), 15)
    with subprocess.Popen(["paplay", str(wave)]) as player:
        running.until(lambda r: isinstance(r, reports.Level) and -12 < r.dbfs < -6, 15)
        player.wait(30)
    assert running.end().error is None
    heard = running.times("sound")
    assert 3.5 < heard[-1] - heard[0] < 4.5
    assert gaps(heard, 0.1) == []
