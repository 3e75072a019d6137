"""An open media file: chooses its streams, maps its time stamps to source time, and converts decoded frames for display.

Independent of clips and of playback.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import av
import numpy as np
from av.container import InputContainer
from av.stream import Disposition
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from m3desk.domain.clip import MICROSECOND
from m3desk.errors import SourceUnreadable
from m3desk.media.capture.joined import Joined
from m3desk.media.capture.recording import Recording, is_recording
from m3desk.media.capture.transport import ZERO
from m3desk.ports import SAMPLE_RATE, Sound
from m3desk.regular import check_name, check_regular, open_regular

# FFmpeg reads 370 formats. Among them are playlists and devices that name other files or hosts, still pictures, and rare formats that few
# people ever tested. Only these are opened: FFmpeg asks after it has guessed a format from the content and before it reads the file by it.
_FORMATS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,flv,asf,mpegts,mpeg,mpegvideo,mxf,ogg,rm,nut,dv,gif,ivf,mjpeg,yuv4mpegpipe,"
    "h264,hevc,av1,obu,m4v,wav,w64,aiff,au,caf,flac,mp3,aac,ac3,eac3,dts,dtshd,truehd,amr,ape,wv,tta,dsf"
)

MOST_PIXELS = 8192 * 4352
"""Pixels of the largest picture that is decoded (8K): a frame is held several times, in the decoder and as BGR."""

MOST_PIXELS_GIF = 4096 * 2160
"""Pixels of the largest animated GIF that is decoded: it has 4 bytes a pixel and its decoder keeps two pictures."""

FEWEST_SAMPLES, MOST_SAMPLES = 1_000, 768_000
"""Samples a second of the slowest and the fastest sound that is decoded."""

MOST_STORED = 400 * 48_000
"""Samples of the longest stored snippet: a clip has 300 s at most, at 16 kHz."""

# Only the file itself is read: a container that refers to other files or hosts does not reach them.
_OPTIONS = {"protocol_whitelist": "file", "format_whitelist": _FORMATS, "max_pixels": str(MOST_PIXELS)}

# The first bytes of still pictures, to call them that.
_STILL = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"BM", b"II*\0", b"MM\0*", b"\0\0\1\0", b"qoif", b"\xff\x0a")

_HINT = "Give a video or sound file, such as .mp4, .mkv, .webm, .mov, .avi, .wav or .mp3."

# Reading goes on after damaged packets, but not for ever: a truncated MP4 answers with one error for each lost packet.
MAX_ERRORS_IN_A_ROW = 64


@dataclass(frozen=True, slots=True)
class Orientation:
    """How stored pixels are oriented for display: first transpose, then mirror columns and rows."""

    transposed: bool = False
    mirror_x: bool = False
    mirror_y: bool = False

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Return the displayed (width, height) of a stored picture."""
        return (height, width) if self.transposed else (width, height)

    def apply(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return (h, w, channels) as displayed, C-contiguous."""
        if self.transposed:
            picture = picture.swapaxes(0, 1)
        if self.mirror_x:
            picture = picture[:, ::-1]
        if self.mirror_y:
            picture = picture[::-1]
        return np.ascontiguousarray(picture)


UPRIGHT = Orientation()


def orientation(frame: Any) -> Orientation:
    """Read the display matrix of a decoded frame: x' = a·x + c·y, y' = b·x + d·y, numbers in 16.16 fixed point (ISO 14496-12).

    Not for every frame of a stream (`Showing.orientation` is): PyAV's `side_data` and its frame refer to each other, so that each frame
    once read keeps its picture until Python's garbage collector runs.
    """
    try:
        data = frame.side_data.get("DISPLAYMATRIX")
    except ValueError:  # PyAV 18 stumbles over kinds of side data that are newer than it, such as EXIF
        return UPRIGHT
    if data is None:
        return UPRIGHT
    a, b, _, c, d = struct.unpack_from("=5i", bytes(data))
    if abs(b) + abs(c) > abs(a) + abs(d):
        return Orientation(True, mirror_x=c < 0, mirror_y=b < 0)
    return Orientation(False, mirror_x=a < 0, mirror_y=d < 0)


def square_size(width: int, height: int, aspect: Fraction | None) -> tuple[int, int]:
    """Return the picture's size with square pixels: one axis is stretched, none is shrunk, so no detail is lost.

    An `aspect` (sample aspect ratio) outside 1/4…4, or one that makes more than MOST_PIXELS, is taken as an error of the file and ignored.
    """
    if not aspect or aspect == 1 or not Fraction(1, 4) <= aspect <= 4:
        return width, height
    square = (round(width * aspect), height) if aspect > 1 else (width, round(height / aspect))
    return square if square[0] * square[1] <= MOST_PIXELS else (width, height)


def audible(rate: int | None) -> bool:
    """Return whether a sample rate is plausible; other rates are damage and would need unlimited memory."""
    return rate is not None and FEWEST_SAMPLES <= rate <= MOST_SAMPLES


Kind = Literal["picture", "sound"]


@dataclass(slots=True)
class OpenContainer:
    """An open container. `zero`: microseconds of the container's own clock at which the source's t = 0 lies.

    `picture`, `sound`: the video stream (cover art is none) and the sound stream a player would choose.
    """

    path: str
    container: InputContainer
    picture: Any | None
    sound: Any | None
    zero: int
    threads: int = 1
    recording: Recording | None = None
    _joined: Joined | None = None
    _touched: bool = False

    def close(self) -> None:
        self.container.close()
        if self._joined is not None:
            self._joined.close()

    def __enter__(self) -> OpenContainer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def time(self, stream: Any, pts: int) -> int:
        """Return a time stamp of a stream as microseconds of the source."""
        at: int = round(pts * stream.time_base * MICROSECOND)
        return at - self.zero

    def stream(self, kind: Kind) -> Any | None:
        """Return the stream that is the picture or the sound, None where there is none."""
        return self.picture if kind == "picture" else self.sound

    def use_threads(self, threads: int) -> None:
        """Set the number of decoding threads; call it before the first picture is decoded.

        Several threads decode frames in parallel, which is faster in sequence and slower after each seek (`qt.md` §5).
        """
        self.threads = threads
        if self.picture is not None:
            self.picture.codec_context.thread_count = threads
            self.picture.codec_context.thread_type = "AUTO" if threads > 1 else "SLICE"

    def declared_end(self, kind: Kind) -> int | None:
        """Return a stream's end declared by the container, or None."""
        stream = self.stream(kind)
        if stream is None or self.recording is not None:  # of a recording that grows nothing is declared
            return None
        if stream.duration:
            return self.time(stream, (stream.start_time or 0) + stream.duration)
        # Matroska writes a tag for each stream: 00:00:16.667000000, counted from the container's own zero.
        parts = stream.metadata.get("DURATION", "").split(":")
        try:
            hours, minutes, seconds = (float(p) for p in parts)
            return round((hours * 3600 + minutes * 60 + seconds) * MICROSECOND) - self.zero
        except (ValueError, OverflowError):
            return None

    def seek(self, kind: Kind, at: int) -> None:
        """Go to the last key frame of a stream at or before `at` microseconds, or to the file's start if the format can't seek."""
        stream = self.stream(kind)
        assert stream is not None
        self._touched = True
        if self._joined is not None:
            self._go_to(self._joined.offset(kind, at))
            return
        target = int((max(at, 0) + self.zero) / MICROSECOND / stream.time_base)
        try:
            self.container.seek(target, stream=stream, backward=True)
        except (av.FFmpegError, OSError, OverflowError):
            self.rewind()

    def rewind(self) -> None:
        """Go to the file's start, in any format, by reopening it unless nothing was read yet."""
        if self._joined is not None:
            self._go_to(0)
            return
        if not self._touched:
            return
        self._touched = False
        self.container.close()
        again = open_media(self.path, self.threads)
        self.container, self.picture, self.sound = again.container, again.picture, again.sound

    def _go_to(self, offset: int) -> None:
        """Go to a byte offset of a recording."""
        try:
            self.container.seek(offset, unsupported_byte_offset=True)
        except (av.FFmpegError, OSError) as error:
            raise SourceUnreadable(f"The recording {self.path} cannot be read: {error}.", "Check the disk.") from error

    def end_here(self) -> None:
        """Have a recording end where it was read to: what the decoders hold back comes, and nothing more."""
        if self._joined is not None:
            self._joined.cut = True

    def key_frame(self, at: int) -> int | None:
        """Return the decoding time of the last key frame at or before `at` microseconds, by the container's index; None if unknown."""
        if self._joined is not None:
            return self._joined.key_frame(at)
        stream = self.picture
        assert stream is not None
        entries = stream.index_entries
        index = entries.search_timestamp(int((at + self.zero) / MICROSECOND / stream.time_base), backward=True)
        return self.time(stream, entries[index].timestamp) if index >= 0 else None

    def packets(self, kind: Kind | Literal["both"]) -> Iterator[Any]:
        """Yield the packets of a stream, and at the end an empty one that flushes its decoder.

        Read errors are skipped; reading ends when nothing more can be read.
        """
        errors = 0
        self._touched = True
        while errors < MAX_ERRORS_IN_A_ROW:
            chosen = [s for k, s in (("picture", self.picture), ("sound", self.sound)) if s is not None and kind in (k, "both")]
            try:
                for packet in self.container.demux(*chosen):
                    errors = 0
                    yield packet
                return
            except (av.FFmpegError, OSError, IndexError):  # IndexError: PyAV, of a stream that begins after the header
                errors += 1


def open_media(path: str | Path, threads: int = 1) -> OpenContainer:
    """Open a file, or the folder of a recording, and choose its streams; `threads`: number of decoding threads for pictures.

    Raises SourceMissing when there is no such file, SourceUnreadable when it is no regular file, empty, or not video or sound.
    """
    file = Path(path).absolute()
    if is_recording(file):
        return open_recording(file, threads)
    check_file(file)
    container: InputContainer | None = None
    try:
        container = av.open(str(file), options=_OPTIONS, metadata_errors="replace")
        return _opened(file, container, threads)
    except SourceUnreadable:
        if container is not None:
            container.close()
        raise
    except av.ArgumentError as error:  # FFmpeg's answer for a format that is not in the list
        raise SourceUnreadable(_other_format(file), _HINT) from error
    except (av.FFmpegError, UnicodeError, ValueError) as error:
        raise SourceUnreadable(f"{file.name} is not a video or sound file, or its beginning or index is damaged.", _HINT) from error
    except (OSError, MemoryError) as error:
        raise SourceUnreadable(f"{file.name} cannot be read: {getattr(error, 'strerror', None) or error}.", _HINT) from error


def open_recording(folder: Path, threads: int = 1, waiting: Callable[[], bool] | None = None) -> OpenContainer:
    """Open a recording. With `waiting`, reading waits for more at its end: see `Joined`.

    Raises SourceMissing, SourceUnreadable; the latter also where nothing is recorded yet.
    """
    recording = Recording.open(folder)
    about = recording.about
    joined = Joined(recording, waiting)
    if not recording.segments():
        raise SourceUnreadable(f"Nothing is recorded in {folder.name}.", "Wait until something is, or remove it.")
    options = {"protocol_whitelist": "", "format_whitelist": "mpegts", "max_pixels": str(MOST_PIXELS)}
    try:
        container = av.open(joined, "r", format="mpegts", options=options, metadata_errors="replace")
    except (av.FFmpegError, OSError, ValueError) as error:
        joined.close()
        raise SourceUnreadable(f"The recording {folder.name} cannot be read: {error}.", "Check the disk.") from error
    picture = next(iter(container.streams.video), None) if about.has_pictures else None
    sound = next(iter(container.streams.audio), None) if about.has_sound else None
    opened = OpenContainer(str(folder), container, picture, sound, ZERO * MICROSECOND, threads, recording, joined)
    if picture is not None:
        picture.codec_context.options = {"max_pixels": str(MOST_PIXELS)}
    opened.use_threads(threads)
    joined.follow = True
    opened.rewind()
    return opened


def stored_sound(content: bytes) -> Sound:
    """Return the samples of a snippet of speech that a memory keeps (FLAC), 16 kHz mono, up to the length that a clip has at most.

    The snippet may be untrusted. Raises SourceUnreadable if it is not FLAC or damaged.
    """
    if not content.startswith(b"fLaC"):  # the format is given, so FFmpeg would look for the start of a frame anywhere
        raise SourceUnreadable("a stored snippet of speech is no FLAC file.", "Check the memory: m3desk check.")
    only = {"protocol_whitelist": "", "format_whitelist": "flac"}
    pieces: list[Sound] = []
    left = MOST_STORED
    try:
        with av.open(io.BytesIO(content), "r", format="flac", options=only) as container:
            resampler = av.AudioResampler("flt", "mono", SAMPLE_RATE)
            for frame in container.decode(audio=0):
                left -= frame.samples
                if left < 0 or not audible(frame.sample_rate):
                    break
                pieces += [f.to_ndarray()[0] for f in resampler.resample(frame)]
            pieces += [f.to_ndarray()[0] for f in resampler.resample(None)]
    except av.FFmpegError as error:
        raise SourceUnreadable(f"a stored snippet of speech is damaged: {error}", "Check the memory: m3desk check.") from error
    return np.concatenate(pieces).astype(np.float32) if pieces else np.zeros(0, np.float32)


def _other_format(file: Path) -> str:
    with open_regular(file) as stream:
        first = stream.read(16)
    if first.startswith(_STILL) or (first[:4] == b"RIFF" and first[8:12] == b"WEBP"):
        return f"{file.name} is a still picture, not a video."
    return f"{file.name} is not a video or sound file."


def _opened(file: Path, container: InputContainer, threads: int) -> OpenContainer:
    names = set(container.format.name.split(","))
    streams = container.streams
    pictures = [s for s in streams.video if not s.disposition & Disposition.attached_pic and s.codec_context is not None]
    found = [s for s in streams.audio if s.codec_context is not None]
    sounds = [s for s in found if audible(s.codec_context.sample_rate)]
    if "gif" in names and any(s.codec_context.width * s.codec_context.height > MOST_PIXELS_GIF for s in pictures):
        raise SourceUnreadable(f"{file.name} is too large for an animated GIF.", "Convert it to .mp4.")
    if found and not sounds and not pictures:
        rate = found[0].codec_context.sample_rate or 0
        raise SourceUnreadable(f"{file.name} says that its sound has {rate:,} samples a second: it is damaged.", "Copy it again.")
    if not pictures and not sounds:
        raise SourceUnreadable(f"{file.name} holds neither moving pictures nor sound that can be decoded.", _HINT)
    starts = [s.start_time * s.time_base for s in (*pictures, *sounds) if s.start_time is not None and s.time_base is not None]
    zero = round(min(starts) * MICROSECOND) if starts else 0
    opened = OpenContainer(str(file), container, _default(pictures), _default(sounds), zero)
    if opened.picture is not None:
        opened.picture.codec_context.options = {"max_pixels": str(MOST_PIXELS)}
    opened.use_threads(threads)
    return opened


def _default(streams: list[Any]) -> Any | None:
    """Return the stream a player would choose: the first that is marked as the default, else the first."""
    marked = [s for s in streams if s.disposition & Disposition.default]
    return (marked or streams or [None])[0]


def check_file(file: Path) -> None:
    """Raise SourceMissing or SourceUnreadable if a file or recording cannot be a source, without looking at its content."""
    check_name(file)
    if is_recording(file):
        _ = Recording.open(file).about
        return
    if check_regular(file).st_size == 0:
        raise SourceUnreadable(f"{file.name} is empty (0 bytes).", "Copy or download it again.")


class Showing:
    """Converts decoded frames for display: rotated, with square pixels. Reuses its converter between frames."""

    def __init__(self, opened: OpenContainer) -> None:
        self._aspect = opened.picture.sample_aspect_ratio if opened.picture is not None else None
        self._reformatter = VideoReformatter()
        self._orientations: dict[int, Orientation] = {}

    def orientation(self, frame: Any) -> Orientation:
        """Return a frame's orientation; the display matrix is read once for each angle by which the stream's frames are turned."""
        angle = frame.rotation
        known = self._orientations.get(angle)
        if known is None:
            known = self._orientations[angle] = orientation(frame)
        return known

    def size(self, frame: Any) -> tuple[int, int]:
        """Return the displayed (width, height) of a frame."""
        return self.orientation(frame).size(*square_size(frame.width, frame.height, self._aspect))

    def bgr(self, frame: Any) -> NDArray[np.uint8]:
        """Return (h, w, 3) uint8 BGR as displayed, at full size."""
        width, height = square_size(frame.width, frame.height, self._aspect)
        return self.orientation(frame).apply(self._converted(frame, "bgr24", width, height, "BILINEAR"))

    def grey(self, frame: Any) -> NDArray[np.uint8]:
        """Return (h, w) uint8 as displayed, at full size."""
        width, height = square_size(frame.width, frame.height, self._aspect)
        return self.orientation(frame).apply(self._converted(frame, "gray", width, height, "BILINEAR"))

    def bgra(self, frame: Any, fit: tuple[int, int] | None = None) -> NDArray[np.uint8]:
        """Return (h, w, 4) uint8 BGRA as displayed, shrunk (never enlarged) to fit within `fit` = (width, height)."""
        width, height = square_size(frame.width, frame.height, self._aspect)
        turn = self.orientation(frame)
        if fit:
            shown = turn.size(width, height)
            scale = min(fit[0] / shown[0], fit[1] / shown[1], 1.0)
            width, height = max(1, round(width * scale)), max(1, round(height * scale))
        return turn.apply(self._converted(frame, "bgra", width, height, "FAST_BILINEAR"))

    def _converted(self, frame: Any, format_: str, width: int, height: int, interpolation: str) -> NDArray[np.uint8]:
        converted = self._reformatter.reformat(frame, width, height, format_, interpolation=interpolation)
        return np.asarray(converted.to_ndarray(), np.uint8)


def frame_time(opened: OpenContainer, frame: Any, before: int | None) -> int:
    """Return a frame's presentation time; for raw streams without time stamps, `before` plus one frame."""
    if frame.pts is not None:
        at: int = round(frame.pts * frame.time_base * MICROSECOND)
        return at - opened.zero
    return 0 if before is None else before + frame_step(opened)


def frame_step(opened: OpenContainer) -> int:
    """Return the microseconds from one picture to the next where a stream has no time stamps."""
    stream = opened.picture
    return round(MICROSECOND / (stream.average_rate or stream.guessed_rate or 25)) if stream is not None else 40_000
