"""Network streams: RTSP over TCP, and HTTP, read by FFmpeg. Playlists, redirections and proxies are not followed."""

from __future__ import annotations

import errno
import re
import socket
import ssl
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import av
from av.container import InputContainer

from m3desk.domain.live import DeviceKind
from m3desk.media.capture.address import shown
from m3desk.media.capture.clock import Alignment
from m3desk.media.capture.inputs import STALL_SECONDS, CaptureError, Form, Taking
from m3desk.media.streams import MOST_PIXELS, audible

OPEN_SECONDS = 10.0
"""Seconds that a network stream may take to open."""

BAD_SECONDS = 10.0
"""Seconds in which everything that comes is damaged after which a source is opened again."""

# Codecs in which no picture needs another: of a still scene only some are decoded, so often that a motion is noticed at once.
ALONE = frozenset({"mjpeg", "rawvideo"})
STILL_STEP = 90_000

# Formats of one continuous stream; those that name other addresses (HLS, DASH, ASX, SDP) are not among them.
_STREAMS = "mjpeg,mpjpeg,mpegts,mpeg,flv,matroska,webm,ogg,mov,mp4,m4a,aac,mp3,wav,flac,h264,hevc,m4v,mpegvideo,asf,nut"

# Formats without time stamps: FFmpeg counts 25 pictures a second, whatever comes.
_UNTIMED = frozenset({"mjpeg", "mpjpeg", "h264", "hevc", "m4v", "mpegvideo"})

# Microseconds that time stamps may be ahead of the clock: live servers send what they hold of the last seconds at once.
_AHEAD = 5_000_000

# Microseconds for which the first packets are held.
_HELD = 300_000


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
        if self._url.startswith("rtsp") and _redirects(self._url):
            hint = "If you trust that place, give its address instead."
            raise CaptureError(f"{shown(self._url)} leads to another address, which is not followed.", "lost", hint, lasting=True)
        try:
            self._container = av.open(self._url, options=self._options(), timeout=(OPEN_SECONDS, STALL_SECONDS), metadata_errors="replace")
        except (av.FFmpegError, OSError, ValueError) as error:
            raise _failed(self._url, error, opening=True) from None  # its text names the URL, with its password
        return self.chosen()

    def chosen(self) -> Form:
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
        decoded = -STILL_STEP
        alone = self._picture is not None and self._picture.codec_context.name in ALONE
        timed = not set(self._container.format.name.split(",")) & _UNTIMED
        chosen = [s for s in (self._picture, self._sound) if s is not None]
        try:
            for packet, now in self._arriving(chosen, taking, alignment if timed else None):
                if alone and packet.stream is self._picture:
                    if now - decoded < STILL_STEP and taking.still():
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


def _redirects(url: str) -> bool:
    """Return whether an RTSP server answers with another address, which FFmpeg would follow. False where it does not answer.

    One that redirects later, when it describes the stream, is not found out: asking for that twice makes servers fail.
    """
    parts = urlsplit(url)
    secure = parts.scheme == "rtsps"
    plain = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, parts.query, ""))
    try:
        with socket.create_connection((parts.hostname, parts.port or (322 if secure else 554)), OPEN_SECONDS / 2) as connection:
            talk = _secured(connection) if secure else connection
            talk.sendall(f"OPTIONS {plain} RTSP/1.0\r\nCSeq: 1\r\n\r\n".encode())
            return re.match(rb"RTSP/1\.\d 3\d\d", talk.recv(4096)) is not None
    except (OSError, ValueError):  # opening it says what is wrong
        return False


def _secured(connection: socket.socket) -> socket.socket:
    """Return the connection with TLS; as FFmpeg does, without checking the certificate: cameras sign their own."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(connection)


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
