"""What can be captured: a file at real time, a network stream, a camera. Each opens, delivers pictures and sound with times, and closes.

FFmpeg reads all of them (PyAV). Nothing is looked up or reached but what the address names: playlists, redirections and proxies are not
followed. The microphone is in `microphone.py`.
"""

from __future__ import annotations

import errno
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import av
from av.container import InputContainer

from m3desk.domain.live import DeviceKind, DeviceState
from m3desk.errors import SourceError
from m3desk.media.capture.address import LiveAddress, shown
from m3desk.media.capture.clock import Alignment
from m3desk.media.streams import MOST_PIXELS, UPRIGHT, Showing, audible, open_media, orientation

OPEN_SECONDS = 10.0
"""Seconds that a network stream may take to open."""

STALL_SECONDS = 10.0
"""Seconds without anything after which a source is given up and opened again."""

BAD_SECONDS = 10.0
"""Seconds in which everything that comes is damaged after which a source is opened again."""

# Formats of one continuous stream; those that name other addresses (HLS, DASH, ASX, SDP) are not among them.
_STREAMS = "mjpeg,mpjpeg,mpegts,mpeg,flv,matroska,webm,ogg,mov,mp4,m4a,aac,mp3,wav,flac,h264,hevc,m4v,mpegvideo,asf,nut"
_BEHIND = 2_000_000

# Codecs in which no picture needs another: of a still scene only some are decoded, so often that a motion is noticed at once.
_ALONE = frozenset({"mjpeg", "rawvideo"})
_STILL_STEP = 90_000

# Formats without time stamps: FFmpeg counts 25 pictures a second, whatever comes.
_UNTIMED = frozenset({"mjpeg", "mpjpeg", "h264", "hevc", "m4v", "mpegvideo"})

# Microseconds that time stamps may be ahead of the clock: live servers send what they hold of the last seconds at once.
_AHEAD = 5_000_000

# Microseconds for which the first packets are held.
_HELD = 300_000


class CaptureError(Exception):
    """A source could not be opened, or ended. `state`: of its devices. `lasting`: opening it again will not help."""

    def __init__(self, message: str, state: DeviceState = "lost", hint: str = "", lasting: bool = False) -> None:
        super().__init__(message)
        self.state, self.hint, self.lasting = state, hint, lasting


@dataclass(frozen=True, slots=True)
class Form:
    """What a source delivers. `fps`: nominal pictures a second."""

    pictures: bool
    sound: bool
    fps: float | None = None
    name: str = ""


@dataclass(slots=True)
class Taking:
    """Where an input delivers, and how it knows the time. `clock`: microseconds of the session; `stopped`: end as soon as possible.

    `still`: the scene is still, so that a few pictures a second are enough. The functions return at once.
    """

    clock: Callable[[], int]
    picture: Callable[[int, Any], None]
    sound: Callable[[int, Any], None]
    stopped: threading.Event = field(default_factory=threading.Event)
    still: Callable[[], bool] = lambda: False


class Input(Protocol):
    """One source. `open` and `run` are called in a thread of its own, again and again while it is lost."""

    kinds: tuple[DeviceKind, ...]
    ends: bool
    """Whether its end is the end of the session; else it is opened again."""

    def open(self) -> Form:
        """Open it. Raises CaptureError."""
        ...

    def run(self, taking: Taking) -> None:
        """Deliver until told to stop or the source ends. Raises CaptureError where it fails."""
        ...

    def close(self) -> None:
        """Release the device; safe to call twice."""
        ...


class StreamInput:
    """A network stream: RTSP over TCP, or HTTP."""

    kinds: tuple[DeviceKind, ...] = ("camera", "microphone")
    ends = False

    def __init__(self, url: str) -> None:
        self._url = url
        self._container: InputContainer | None = None
        self._picture: Any = None
        self._sound: Any = None

    def _options(self) -> dict[str, str]:
        micro = str(round(STALL_SECONDS * 1e6))
        if self._url.startswith("rtsp"):
            return {
                "rtsp_transport": "tcp",
                "timeout": micro,
                "protocol_whitelist": "rtsp,rtsps,tcp,tls,rtp,crypto",
                "max_pixels": str(MOST_PIXELS),
                "analyzeduration": "2000000",
            }
        return {
            "protocol_whitelist": "http,https,tcp,tls",
            "format_whitelist": _STREAMS,
            "rw_timeout": micro,
            "max_redirects": "0",
            "max_pixels": str(MOST_PIXELS),
            "analyzeduration": "2000000",
        }

    def open(self) -> Form:
        try:
            self._container = av.open(self._url, options=self._options(), timeout=(OPEN_SECONDS, STALL_SECONDS), metadata_errors="replace")
        except (av.FFmpegError, OSError, ValueError) as error:
            raise _failed(self._url, error, opening=True) from None  # its text names the URL, with its password
        return self._chosen()

    def _chosen(self) -> Form:
        assert self._container is not None
        streams = self._container.streams
        self._picture = next((s for s in streams.video if s.codec_context is not None), None)
        self._sound = next((s for s in streams.audio if s.codec_context is not None and audible(s.codec_context.sample_rate)), None)
        if self._picture is None and self._sound is None:
            self.close()
            raise CaptureError(f"{shown(self._url)} delivers neither pictures nor sound.", hint="Check the address.")
        rate = None
        if self._picture is not None:
            self._picture.codec_context.thread_count = 1
            self._picture.codec_context.thread_type = "SLICE"
            rate = self._picture.average_rate or self._picture.guessed_rate
        return Form(self._picture is not None, self._sound is not None, float(rate) if rate and 1 <= rate <= 120 else None)

    def run(self, taking: Taking) -> None:
        assert self._container is not None
        alignment = Alignment()
        good = time.monotonic()
        decoded = -_STILL_STEP
        alone = self._picture is not None and self._picture.codec_context.name in _ALONE
        timed = not set(self._container.format.name.split(",")) & _UNTIMED
        chosen = [s for s in (self._picture, self._sound) if s is not None]
        try:
            for packet, now in self._arriving(chosen, taking, alignment if timed else None):
                if alone and packet.stream is self._picture:
                    if now - decoded < _STILL_STEP and taking.still():
                        continue
                    decoded = now
                try:
                    frames = packet.decode()
                except (av.FFmpegError, OSError):
                    frames = []
                if frames:
                    good = time.monotonic()
                elif time.monotonic() - good > BAD_SECONDS:
                    raise CaptureError(f"{shown(self._url)} sends nothing that can be decoded.", "stalled")
                for frame in frames:
                    at = alignment.at(_us(frame)) if timed and frame.pts is not None else now
                    self._deliver(taking, packet.stream is self._picture, at, frame)
        except (av.FFmpegError, OSError, IndexError) as error:
            raise _failed(self._url, error) from None
        raise CaptureError(f"{shown(self._url)} has ended.", "lost")

    def _arriving(self, chosen: list[Any], taking: Taking, alignment: Alignment | None) -> Iterator[tuple[Any, int]]:
        """Yield packets and when they arrived, until told to stop; `alignment` knows their time stamps then.

        What was read while the stream was opened, and what a server had kept, comes at once: the first packets are held for a moment, and
        the newest of them tells the time. Only a file comes further ahead of the clock: it is read at real time.
        """
        assert self._container is not None
        held: list[tuple[Any, int]] = []
        holding = alignment is not None
        first: int | None = None  # arrival of the first packet, less its stamp
        for packet in self._container.demux(*chosen):
            if taking.stopped.is_set():
                return
            now, stamp = taking.clock(), _stamp(packet)
            if alignment is None:
                yield packet, now
                continue
            ahead = 0
            if stamp is not None:
                first = now - stamp if first is None else first
                ahead = stamp + first - now
            if holding and ahead <= _AHEAD and (not held or now - held[0][1] < _HELD):
                held.append((packet, now))
                continue
            if holding:
                _begin(alignment, held, live=ahead <= _AHEAD)
                yield from held
                holding, held = False, []
            if ahead > _AHEAD:
                if taking.stopped.wait(ahead / 1e6):
                    return
                now = taking.clock()
            if stamp is not None:
                alignment.note(stamp, now)
            yield packet, now
        if holding and alignment is not None:
            _begin(alignment, held, live=False)
            yield from held

    def _deliver(self, taking: Taking, picture: bool, at: int, frame: Any) -> None:
        if picture:
            taking.picture(at, frame)
        elif audible(frame.sample_rate):
            taking.sound(at, frame)

    def close(self) -> None:
        container, self._container = self._container, None
        if container is not None:
            container.close()


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
                return self._chosen()
            except (av.FFmpegError, OSError, ValueError) as error:
                found = error
                if getattr(error, "errno", None) in (errno.EBUSY, errno.ENOENT, errno.EACCES, errno.ENODEV):
                    break
        assert found is not None
        raise _camera_failed(self._name, found) from None


class FileInput:
    """A file delivered at real time, once or in a loop."""

    kinds: tuple[DeviceKind, ...] = ("camera", "microphone")
    ends = True

    def __init__(self, path: Path, loop: bool) -> None:
        self._path, self._loop = path, loop
        self._opened: Any = None

    def open(self) -> Form:
        try:
            self._opened = open_media(self._path)
        except SourceError as error:
            raise CaptureError(str(error), hint=error.hint, lasting=True) from error
        picture = self._opened.picture
        rate = (picture.average_rate or picture.guessed_rate) if picture is not None else None
        return Form(picture is not None, self._opened.sound is not None, float(rate) if rate and 1 <= rate <= 120 else None)

    def run(self, taking: Taking) -> None:
        began = taking.clock()
        decoded = -_STILL_STEP
        alone = self._opened.picture is not None and self._opened.picture.codec_context.name in _ALONE
        showing = Showing(self._opened)
        while not taking.stopped.is_set():
            last = began
            for packet in self._opened.packets("both"):
                if alone and packet.stream is self._opened.picture and packet.pts is not None:
                    at = began + self._opened.time(packet.stream, packet.pts)
                    if at - decoded < _STILL_STEP and taking.still():
                        continue
                    decoded = at
                try:
                    frames = packet.decode()
                except (av.FFmpegError, OSError):
                    continue
                for frame in frames:
                    if frame.pts is None:
                        continue
                    at = began + self._opened.time(packet.stream, round(frame.pts * frame.time_base / packet.stream.time_base))
                    if taking.stopped.wait(max(0.0, (at - taking.clock()) / 1e6)):
                        return
                    if taking.clock() - at > _BEHIND:  # the machine slept, or can't keep up: time goes on without it
                        began += taking.clock() - at
                        at = taking.clock()
                    if packet.stream is self._opened.picture:
                        taking.picture(at, upright(frame, showing))
                        last = max(last, at + 40_000)
                    else:
                        taking.sound(at, frame)
                        last = max(last, at + round(frame.samples * 1_000_000 / frame.sample_rate))
            if not self._loop:
                return
            began = last
            self._opened.rewind()

    def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()


def upright(frame: Any, showing: Showing) -> Any:
    """Return a picture as it is displayed, with square pixels."""
    if showing.size(frame) == (frame.width, frame.height) and orientation(frame) == UPRIGHT:
        return frame
    return av.VideoFrame.from_ndarray(showing.bgr(frame), format="bgr24")


def inputs(address: LiveAddress) -> list[Input]:
    """Return the inputs of an address, not opened."""
    if address.kind == "file":
        assert address.path is not None
        return [FileInput(address.path, address.loop)]
    if address.kind == "stream":
        return [StreamInput(str(address))]
    found: list[Input] = []
    if address.camera is not None:
        found.append(CameraInput(address.camera))
    if address.microphone is not None:
        from m3desk.media.capture.microphone import MicrophoneInput

        found.append(MicrophoneInput(address.microphone))
    return found


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


def _stamp(packet: Any) -> int | None:
    """Return when a packet is due for decoding, in microseconds of the source's own clock."""
    stamp = packet.dts if packet.dts is not None else packet.pts
    return None if stamp is None or packet.time_base is None or not packet.size else round(stamp * packet.time_base * 1_000_000)


def _begin(alignment: Alignment, held: list[tuple[Any, int]], live: bool) -> None:
    """Note when the first packets, (packet, arrival), were due: by the one that waited least if the source is live, else by the first."""
    known = [(arrival, stamp) for packet, arrival in held if (stamp := _stamp(packet)) is not None]
    if known:
        arrival, stamp = min(known, key=lambda k: k[0] - k[1]) if live else known[0]
        alignment.note(stamp, arrival)


def _us(frame: Any) -> int:
    at: int = round(frame.pts * frame.time_base * 1_000_000)
    return at


_WRONG = {
    401: ("asks for a user and a password, or refuses these", "Write them into the address: rtsp://USER:PASSWORD@HOST/PATH."),
    403: ("refuses access", "Check the user and the password."),
    404: ("has no such stream", "Check the path in the address."),
}


def _failed(url: str, error: Exception, opening: bool = False) -> CaptureError:
    """Return what went wrong with a stream, without its credentials."""
    where = shown(url)
    name = type(error).__name__
    status = next((code for code in _WRONG if str(code) in name or f"{code}" in _status(name)), None)
    if status is not None:
        what, hint = _WRONG[status]
        return CaptureError(f"{where} {what}.", "lost", hint, lasting=status != 404)
    number = getattr(error, "errno", None)
    if isinstance(error, av.ExitError | TimeoutError) or number == errno.ETIMEDOUT:
        return CaptureError(f"{where} has sent nothing for {STALL_SECONDS:.0f} s.", "stalled", "Check the camera and the network.")
    if number == errno.ECONNREFUSED:
        return CaptureError(f"{where} refuses the connection.", "lost", "Check the host and the port, and that the camera is on.")
    if number in (errno.EHOSTUNREACH, errno.ENETUNREACH):
        return CaptureError(f"{where} cannot be reached.", "lost", "Check the network.")
    ended = isinstance(error, av.EOFError) or number in (errno.EIO, errno.ECONNRESET, errno.EPIPE)
    if ended and not opening:
        return CaptureError(f"{where} has ended.", "lost")
    if ended or isinstance(error, av.InvalidDataError):
        return CaptureError(f"{where} sends nothing that can be decoded.", "stalled", "Check that the address is that of a video stream.")
    reason = getattr(error, "strerror", None) or name
    return CaptureError(f"{where} cannot be read: {reason}.", "lost", "Check the address and the network.")


def _status(name: str) -> str:
    return {"HTTPUnauthorizedError": "401", "HTTPForbiddenError": "403", "HTTPNotFoundError": "404"}.get(name, "")


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
