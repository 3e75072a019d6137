"""Nothing leaves the machine: the main jobs run where every name and address leads to the test, and touch none."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from m3desk.bench import privacy, watched
from m3desk.errors import UsageError

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="network namespaces are Linux's")

CALLS_HOME = """
import socket, pathlib
name = "telemetry.example.com"
sockets = [(socket.AF_INET, socket.SOCK_STREAM, (name, 443)), (socket.AF_INET, socket.SOCK_STREAM, ("203.0.113.7", 9999)),
           (socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.3", 123)), (socket.AF_INET, socket.SOCK_DGRAM, ("224.0.0.251", 5353))]
if socket.has_ipv6:
    sockets.append((socket.AF_INET6, socket.SOCK_STREAM, ("2001:db8::9", 8443)))
for family, kind, address in sockets:
    with socket.socket(family, kind) as one:
        try:
            one.connect(address)
            one.send(b"x")
        except OSError as error:
            print(address, error)
"""
WRITES_ELSEWHERE = """
import pathlib, tempfile
for place in ("/tmp", "/var/tmp", "/dev/shm", pathlib.Path.home() / ".cache", tempfile.gettempdir()):
    pathlib.Path(place).mkdir(exist_ok=True)
    pathlib.Path(place, "left behind").write_text("x")
pathlib.Path("asked for").write_text("x")
"""


def watch(folder: Path, *codes: str, **env: str) -> watched.SideEffects:
    """Run lines of Python, each in a process of its own, or skip where namespaces can't be made."""
    (folder / "work").mkdir(parents=True, exist_ok=True)
    try:
        return watched.watch([[sys.executable, "-c", code] for code in codes], folder, env=env, own=privacy.OWN)
    except OSError as reason:
        pytest.skip(str(reason))


def test_the_watch_sees_every_kind_of_call(tmp_path: Path) -> None:
    seen = watch(tmp_path, CALLS_HOME)
    assert "telemetry.example.com" in seen.lookups
    expected = {"TCP 198.51.100.7:443", "TCP 203.0.113.7:9999", "UDP 192.0.2.3:123", "UDP 224.0.0.251:5353"}
    assert expected <= set(seen.connections), seen.runs
    assert "TCP 2001:db8::9:8443" in seen.connections or "2001:db8::9" in seen.runs[0]["said"], "or this machine has no IPv6"


@pytest.mark.slow
def test_the_watch_sees_what_is_left_behind_and_nothing_else(tmp_path: Path) -> None:
    seen = watch(tmp_path, WRITES_ELSEWHERE)
    places = [Path(f).parent for f in seen.written if Path(f).name == "left behind"]
    assert {Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), tmp_path / "home/.cache", tmp_path / "tmp"} == set(places)
    assert not [f for f in seen.written if "asked for" in f] and not seen.lookups and not seen.connections


@pytest.mark.slow
def test_the_watch_would_have_caught_onnx_runtime(tmp_path: Path) -> None:
    """Without M3Desk's switch, a version that has the uploader writes its number and queue at once (and calls within half a minute)."""
    if tuple(map(int, version("onnxruntime").split(".")[:2])) < (1, 29):
        pytest.skip("this version of ONNX Runtime has no uploader")
    seen = watch(tmp_path / "off", "import onnxruntime, time; time.sleep(1)")
    assert {Path(f).name for f in seen.written} >= {"deviceid", "onnxruntime.db", ".ses"}
    seen = watch(tmp_path / "on", "import m3desk, onnxruntime, time; time.sleep(1)")
    assert seen.written == []


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.timeout(900)
def test_the_main_jobs_look_nothing_up_connect_to_nothing_and_leave_nothing_elsewhere(tmp_path: Path, weights: Path) -> None:
    left_out = ("list", "suggestions", "doctor", "config", "谁在说话？", "a.html")
    try:
        seen = privacy.tried(None, tmp_path / "watched", 6.0, left_out)
    except OSError as reason:
        pytest.skip(str(reason))
    assert [r for r in seen.runs if r["status"] not in (0, 130)] == []
    assert {"memorize", "ask", "search", "export", "import", "check", "play"} <= {word for r in seen.runs for word in r["words"]}
    assert "none" not in seen.runs[0]["said"].replace("writer: none", "").replace("knowledge: none", "").replace("watcher: none", ""), (
        "a model did not open"
    )
    assert (seen.lookups, seen.connections, seen.written) == ([], [], [])
    assert seen.loopback == [] or "language: opened" in seen.runs[0]["said"], "only the language model's server is talked to"
    left = [p for p in (tmp_path / "watched" / "tmp").iterdir() if not _of_pulseaudio(p)]
    assert left == []


@pytest.mark.parametrize("words", [["/nowhere.mp4"], [__file__, "long"], [__file__, "-1"], [__file__, "nan"]])
def test_a_wrong_argument_of_the_benchmark_is_wrong_use(words: list[str]) -> None:
    with pytest.raises(UsageError):
        privacy.measure(words)


def _of_pulseaudio(path: Path) -> bool:
    """Return whether a path is the empty runtime folder that PulseAudio's client library makes where PortAudio looks for devices."""
    return path.name.startswith("pulse-") and path.is_dir() and not any(path.iterdir())
