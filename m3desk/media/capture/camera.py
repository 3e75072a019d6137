"""Cameras of this machine: Video4Linux, AVFoundation or DirectShow, read by FFmpeg."""

from __future__ import annotations

import errno
import sys
from pathlib import Path
from typing import Literal

import av

from m3desk.domain.live import DeviceKind
from m3desk.media.capture.inputs import STALL_SECONDS, CaptureError, Form
from m3desk.media.capture.network import OPEN_SECONDS, StreamInput


class CameraInput(StreamInput):
    """A camera of this machine: Video4Linux, AVFoundation or DirectShow, through FFmpeg."""

    kinds: tuple[DeviceKind, ...] = ("camera",)

    def __init__(self, name: str) -> None:
        super().__init__(f"camera:{name}")
        self._name = name

    def open(self) -> Form:
        format_, place = device_of(self._name)
        found: Exception | None = None
        for options in _CAMERA_OPTIONS[format_]:
            try:
                self._container = av.open(place, format=format_, options=options, timeout=(OPEN_SECONDS, STALL_SECONDS))
                return self.chosen()
            except (av.FFmpegError, OSError, ValueError) as error:
                found = error
                if getattr(error, "errno", None) in (errno.EBUSY, errno.ENOENT, errno.EACCES, errno.ENODEV):
                    break
        assert found is not None
        raise _camera_failed(self._name, found) from None


DeviceFormat = Literal["v4l2", "avfoundation", "dshow"]

# Tried in turn: MJPEG because USB carries little else at this size and rate, then whatever the camera prefers.
_CAMERA_OPTIONS: dict[str, tuple[dict[str, str], ...]] = {
    "v4l2": (
        {"input_format": "mjpeg", "video_size": "1280x720", "framerate": "25", "timestamps": "abs"},
        {"input_format": "mjpeg"},
        {"video_size": "640x480"},
        {},
    ),
    "avfoundation": (
        {"video_size": "1280x720", "framerate": "30", "pixel_format": "nv12"},
        {"video_size": "640x480", "framerate": "30"},
        {"framerate": "30"},
        {},
    ),
    "dshow": (
        {"vcodec": "mjpeg", "video_size": "1280x720", "framerate": "30", "rtbufsize": "67108864"},
        {"video_size": "640x480"},
        {},
    ),
}


def device_format() -> DeviceFormat:
    """Return FFmpeg's name for the cameras of this operating system."""
    if sys.platform == "darwin":
        return "avfoundation"
    return "dshow" if sys.platform == "win32" else "v4l2"


def device_of(name: str) -> tuple[DeviceFormat, str]:
    """Return FFmpeg's format and name of a camera: a number, a device path or a name. Raises CaptureError if there is none."""
    from m3desk.media.capture.devices import cameras

    format_ = device_format()
    if format_ == "v4l2" and name.startswith("/dev/"):
        if not Path(name).exists():
            raise CaptureError(f"There is no camera {name}.", hint="List the cameras with: m3desk devices.")
        return format_, name
    found = cameras()
    if name.isdigit():
        chosen = next((c for c in found if c.number == int(name)), None)
    else:
        low = name.casefold()
        chosen = next((c for c in found if c.name.casefold() == low), None) or next((c for c in found if low in c.name.casefold()), None)
    if chosen is None:
        there = ", ".join(f"camera:{c.number} ({c.name})" for c in found) or "none is connected"
        raise CaptureError(f"There is no camera {name!r}: {there}.", hint="List the cameras with: m3desk devices.")
    return format_, chosen.place


def _camera_failed(name: str, error: Exception) -> CaptureError:
    number = getattr(error, "errno", None)
    if number == errno.EBUSY:
        return CaptureError(f"The camera {name} is used by another program.", "busy", "Close the other program.")
    if number in (errno.EACCES, errno.EPERM):
        return CaptureError(
            f"You may not use the camera {name}.", "lost", "Allow it in the system's settings (Linux: join the group video).", True
        )
    if number in (errno.ENOENT, errno.ENODEV, errno.ENXIO):
        return CaptureError(f"There is no camera {name}.", "lost", "List the cameras with: m3desk devices.")
    return CaptureError(
        f"The camera {name} cannot be opened: {getattr(error, 'strerror', None) or type(error).__name__}.",
        "lost",
        "Unplug it and plug it in again.",
    )
