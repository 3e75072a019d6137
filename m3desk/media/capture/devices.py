"""Lists the cameras and microphones of this machine, and tries them for a moment.

The list is made in a process of its own: a driver may hang, and sound libraries write to the terminal.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import struct
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np

from m3desk.domain.live import Device
from m3desk.media.capture import clock
from m3desk.media.capture.camera import CameraInput, device_format
from m3desk.media.capture.inputs import CaptureError, Input, Taking
from m3desk.media.capture.microphone import MicrophoneInput

VERB = "--list-devices"
"""What a frozen program, which has no Python to start, is started with to list devices (see `m3desk.__main__`)."""

START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from m3desk.media.capture.devices import main; sys.exit(main(sys.argv[2:]))"
)

LIST_SECONDS = 15.0
TEST_SECONDS = 2.0

# Video4Linux (linux/videodev2.h).
_QUERYCAP, _ENUM_FMT, _ENUM_SIZES = 0x80685600, 0xC0405602, 0xC02C564A
_CAPTURE, _DEVICE_CAPS = 0x1, 0x80000000


@dataclass(frozen=True, slots=True)
class Camera:
    """A camera. `number`: what `camera:N` takes; `place`: FFmpeg's name of it."""

    number: int
    name: str
    place: str
    formats: tuple[str, ...] = ()


def devices(test: bool = False) -> list[Device]:
    """Return the cameras, then the microphones; with `test`, each is opened for 2 s (its light goes on). [] if none can be listed."""
    own = [VERB] if getattr(sys, "frozen", False) else ["-c", START, json.dumps([p for p in sys.path if p])]
    try:
        child = subprocess.run(
            [sys.executable, *own, *(["--test"] if test else [])],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=LIST_SECONDS + (60 if test else 0),
        )
        return [Device(**{**found, "formats": tuple(found["formats"])}) for found in json.loads(child.stdout)]
    except (OSError, ValueError, TypeError, subprocess.SubprocessError):
        return []


def cameras() -> list[Camera]:
    """Return the cameras, by number."""
    format_ = device_format()
    if format_ == "v4l2":
        return _linux_cameras(Path("/sys/class/video4linux"), Path("/dev"))
    try:
        found = [d for d in av.device.enumerate_input_devices(format_) if "video" in d.media_types]
    except (av.FFmpegError, OSError, ValueError):
        return []
    prefix = "video=" if format_ == "dshow" else ""
    return [Camera(n, d.description or d.name, f"{prefix}{d.name}") for n, d in enumerate(found)]


def _linux_cameras(classes: Path, nodes: Path) -> list[Camera]:
    found = []
    for place in sorted(classes.glob("video*"), key=lambda p: (len(p.name), p.name)):
        node = nodes / place.name
        formats = _formats(node)
        if formats is None:  # it takes no pictures: a node of metadata, an encoder
            continue
        with contextlib.suppress(OSError, ValueError):
            name = (place / "name").read_text(errors="replace").strip()
            found.append(Camera(int(place.name.removeprefix("video")), name, str(node), formats))
    return found


def _formats(node: Path) -> tuple[str, ...] | None:
    """Return a Linux camera's formats, such as "MJPG 1280×720"; None if the node is no camera. () if it can't be asked."""
    import fcntl
    import os

    try:
        handle = os.open(node, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ()
    try:
        told = bytearray(104)
        fcntl.ioctl(handle, _QUERYCAP, told)
        everything, own = struct.unpack_from("=II", told, 84)
        if not (own if everything & _DEVICE_CAPS else everything) & _CAPTURE:
            return None
        return tuple(_sizes(fcntl.ioctl, handle))
    except OSError:
        return ()
    finally:
        os.close(handle)


def _sizes(ioctl: Any, handle: int) -> list[str]:
    found = []
    for index in range(32):
        told = bytearray(64)
        struct.pack_into("=II", told, 0, index, 1)
        try:
            ioctl(handle, _ENUM_FMT, told)
        except OSError:
            break
        code = struct.unpack_from("=I", told, 44)[0]
        name = struct.pack("=I", code).decode("ascii", "replace").strip()
        for number in range(32):
            size = bytearray(44)
            struct.pack_into("=II", size, 0, number, code)
            try:
                ioctl(handle, _ENUM_SIZES, size)
            except OSError:
                break
            kind, width, height = struct.unpack_from("=III", size, 8)
            found.append(f"{name} {width}×{height}" if kind == 1 else name)
            if kind != 1:
                break
    return list(dict.fromkeys(found))


def microphones(library: Any = None) -> list[Device]:
    """Return the microphones, the system's own choice first."""
    try:
        if library is None:
            library = importlib.import_module("sounddevice")
        found = [d for d in library.query_devices() if d["max_input_channels"] > 0]
    except Exception:  # ImportError, OSError, PortAudioError: no library, no sound system
        return []
    listed = [Device("microphone", f"mic:{d['name']}", str(d["name"]), (_spelled(d),)) for d in found]
    with contextlib.suppress(Exception):
        chosen = library.query_devices(None, "input")
        listed = [d for d in listed if d.id != "mic:default"]
        listed.insert(0, Device("microphone", "mic:default", f"{chosen['name']} (the system's choice)", (_spelled(chosen),)))
    return listed


def _spelled(device: Any) -> str:
    return f"{device['default_samplerate']:,.0f} Hz, {'mono' if device['max_input_channels'] == 1 else 'stereo'}"


def tried(device: Device) -> Device:
    """Return a device with the result of a short test."""
    name = device.id.partition(":")[2]
    source: Input = CameraInput(name) if device.kind == "camera" else MicrophoneInput(name)
    ok, text = _tried(source)
    return Device(device.kind, device.id, device.name, device.formats, ok, text)


def _tried(source: Input) -> tuple[bool, str]:
    began = clock.now()
    sizes: list[str] = []
    squares: list[float] = []

    def picture(_at: int, frame: Any) -> None:
        sizes.append(f"{frame.width}×{frame.height}")

    def sound(_at: int, frame: Any) -> None:
        squares.append(float(np.mean(np.square(frame.to_ndarray().astype(np.float64)))))

    taking = Taking(lambda: round((clock.now() - began) * 1e6), picture, sound)
    timer = threading.Timer(TEST_SECONDS, taking.stopped.set)
    try:
        source.open()
        timer.start()
        opened = time.monotonic()
        source.run(taking)
        passed = max(time.monotonic() - opened, 0.1)
    except CaptureError as error:
        return False, str(error)
    finally:
        timer.cancel()
        source.close()
    if sizes:
        return True, f"{sizes[-1]}, {len(sizes) / passed:.1f} pictures per second"
    if squares:
        level = 10 * np.log10(np.mean(squares) + 1e-12)
        return True, f"{max(-99.0, level):.0f} dBFS"
    return False, "Nothing came from it."


def main(arguments: list[str]) -> int:
    """Run as the child: prints the devices as JSON."""
    av.logging.set_level(None)
    found = [Device("camera", f"camera:{c.number}", c.name, c.formats) for c in cameras()] + microphones()
    if "--test" in arguments:
        found = [tried(device) for device in found]
    sys.stdout.write(json.dumps([asdict(device) for device in found]))
    sys.stdout.flush()
    return 0
