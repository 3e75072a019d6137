"""Cameras and microphones are listed by name, tried for a moment, and told in a line where there is none."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from m3desk.cli import main
from m3desk.domain.live import Device
from m3desk.media.capture import camera, devices, microphone
from m3desk.media.capture.inputs import CaptureError, Form, Taking
from m3desk.media.capture.microphone import MicrophoneInput


class Sounds:
    """sounddevice, as far as it is used: one microphone at 44,100 samples a second, in stereo."""

    def __init__(self, fails: Exception | None = None, stops_after: float = 99.0) -> None:
        self.fails, self.stops_after = fails, stops_after
        self.restarted = 0
        self.about = {"name": "USB Mic", "max_input_channels": 2, "default_samplerate": 44_100.0}

    def _terminate(self) -> None: ...

    def _initialize(self) -> None:
        self.restarted += 1

    def query_devices(self, _device: object = None, kind: str | None = None) -> Any:
        speaker = {"name": "Speaker", "max_input_channels": 0, "default_samplerate": 48_000.0}
        return self.about if kind == "input" else [speaker, self.about]

    def InputStream(self, **asked: Any) -> Any:
        if self.fails is not None:
            raise self.fails
        return Stream(asked, self.stops_after)


class Stream:
    def __init__(self, asked: dict[str, Any], seconds: float) -> None:
        self._asked, self._end = asked, time.monotonic() + seconds
        self._closed = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._play, daemon=True).start()

    def _play(self) -> None:
        when = type("when", (), {"currentTime": 5.02, "inputBufferAdcTime": 5.0})()
        while not self._closed.wait(0.02) and time.monotonic() < self._end:
            self._asked["callback"](np.full((882, 2), 0.1, np.float32), 882, when, None)

    def abort(self) -> None:
        self._closed.set()

    def close(self) -> None:
        self._closed.set()


def taking(found: list[tuple[int, Any]]) -> Taking:
    return Taking(lambda: round(time.monotonic() * 1e6), lambda *_: None, lambda at, frame: found.append((at, frame)))


def test_a_microphone_delivers_one_channel_at_its_own_rate_with_the_times_of_its_samples() -> None:
    source = MicrophoneInput("USB Mic", Sounds())
    assert source.open() == Form(False, True, name="USB Mic")
    found: list[tuple[int, Any]] = []
    take = taking(found)
    threading.Timer(1.0, take.stopped.set).start()
    source.run(take)
    source.close()
    assert len(found) > 20
    assert {(f.sample_rate, f.layout.name, f.samples) for _, f in found} == {(44_100, "mono", 882)}
    assert float(found[0][1].to_ndarray().mean()) == pytest.approx(0.1)
    steps = np.diff([at for at, _ in found])
    assert steps.min() > 15_000
    assert steps.max() < 25_000, "the callbacks' jitter is gone"


def test_a_microphone_that_is_unplugged_or_taken_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(microphone, "LOST_SECONDS", 0.3)
    source = MicrophoneInput("USB Mic", Sounds(stops_after=0.2))
    source.open()
    with pytest.raises(CaptureError) as lost:
        source.run(taking([]))
    source.close()
    assert lost.value.state == "lost"
    with pytest.raises(CaptureError) as busy:
        MicrophoneInput("USB Mic", Sounds(OSError("Error opening InputStream", -9985))).open()
    assert busy.value.state == "busy"
    sounds = Sounds(ValueError("No input device matching 'x'"))
    with pytest.raises(CaptureError, match="No input device") as none:
        MicrophoneInput("x", sounds).open()
    assert none.value.state == "lost"
    assert sounds.restarted == 1, "the list of devices is read anew, or a microphone that is back would not be found"


def test_microphones_are_listed_the_systems_choice_first() -> None:
    assert [(d.id, d.formats) for d in devices.microphones(Sounds())] == [
        ("mic:default", ("44,100 Hz, stereo",)),
        ("mic:USB Mic", ("44,100 Hz, stereo",)),
    ]


def test_cameras_of_linux_are_listed_by_name_and_number(tmp_path: Path) -> None:
    for number in (0, 2, 10):
        (tmp_path / f"video{number}").mkdir()
        (tmp_path / f"video{number}" / "name").write_text(f"Camera {number}\n")
    found = devices._linux_cameras(tmp_path, tmp_path / "dev")
    assert [(c.number, c.name) for c in found] == [(0, "Camera 0"), (2, "Camera 2"), (10, "Camera 10")]


def test_a_camera_is_found_by_number_name_or_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    there = [devices.Camera(0, "Integrated Camera", "/dev/video0"), devices.Camera(2, "Logitech C920", "/dev/video2")]
    monkeypatch.setattr(devices, "cameras", lambda: there)
    monkeypatch.setattr(camera, "device_format", lambda: "v4l2")
    assert camera.device_of("2") == ("v4l2", "/dev/video2")
    assert camera.device_of("c920") == ("v4l2", "/dev/video2")
    with pytest.raises(CaptureError, match=r"camera:0 \(Integrated Camera\), camera:2 \(Logitech C920\)"):
        camera.device_of("1")
    with pytest.raises(CaptureError, match="There is no camera /dev/video77"):
        camera.device_of("/dev/video77")


def test_a_device_is_tried_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "TEST_SECONDS", 0.5)
    monkeypatch.setattr(devices, "MicrophoneInput", lambda name: MicrophoneInput(name, Sounds()))
    tried = devices.tried(Device("microphone", "mic:USB Mic", "USB Mic"))
    assert (tried.ok, tried.test) == (True, "-20 dBFS")
    monkeypatch.setattr(devices, "MicrophoneInput", lambda name: MicrophoneInput(name, Sounds(OSError("x", -9985))))
    assert devices.tried(Device("microphone", "mic:USB Mic", "USB Mic")).ok is False


def test_no_device_is_no_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(devices, "devices", lambda _test=False: [])
    assert main(["devices"]) == 0
    assert "No camera and no microphone was found" in capsys.readouterr().out
    assert main(["devices", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_devices_are_printed_as_the_contract_says(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    there = [Device("camera", "camera:0", "Integrated Camera", ("MJPG 1280×720",), True, "1280×720, 29.9 pictures per second")]
    monkeypatch.setattr(devices, "devices", lambda _test=False: there)
    assert main(["devices", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert list(row) == ["kind", "id", "name", "formats", "ok"]
    assert main(["devices", "--test"]) == 0
    assert "works 1280×720, 29.9 pictures per second" in capsys.readouterr().out


def test_the_list_is_made_by_a_process_of_its_own() -> None:
    assert isinstance(devices.devices(), list)
