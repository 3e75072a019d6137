"""Writes a span of a source as a video file of its own: its packets are copied where the borders allow, else encoded again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from m3desk.domain.clip import MICROSECOND, clock
from m3desk.errors import Cancelled, SourceUnreadable, UsageError
from m3desk.media.length import measured
from m3desk.media.pictures import Pictures, TimedFrame
from m3desk.media.streams import UPRIGHT, Kind, OpenContainer, Showing, audible, open_media, orientation

CONTAINERS = {".mp4": "mp4", ".mov": "mov", ".mkv": "matroska"}
"""The files that can be written, by their ending."""

# What every player of an .mp4 reads, and so what is copied into any of the containers.
_COPIED = {"picture": ("h264", "hevc"), "sound": ("aac", "mp3")}

# The border of a span may lie this far from a key frame: half of a picture of 25 a second, less than anybody sees.
_NEAR = 20_000

# Time stamps of the encoded pictures.
_TICKS = 90_000
_SOUND_RATE = 48_000

# Sound that is decoded before the border, because a decoder needs a past.
_SETTLE = MICROSECOND


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What was written. `copied`: whether packets were copied, so that nothing was lost; `length`: microseconds."""

    copied: bool
    length: int


def write(source: str | Path, start: int, end: int, place: Path, go_on: Callable[[], bool] = lambda: True) -> Excerpt:
    """Write [start, end) microseconds of a file or recording to a new file; its ending says the kind: .mp4, .mov or .mkv.

    Raises UsageError for a span or an ending that can't be, SourceMissing, SourceUnreadable, Cancelled once `go_on` returns False, OSError.
    """
    check(start, end, place)
    nothing = SourceUnreadable(
        f"There is nothing between {clock(start)} and {clock(end)}.", "Choose a span in which something was recorded."
    )
    with open_media(source) as opened:
        if start >= measured(opened).there:
            raise nothing
    with open_media(source) as opened:
        can_be_copied = _can_be_copied(opened, start, end)
    try:
        with av.open(str(place), "w", format=CONTAINERS[place.suffix.lower()], options={"movflags": "faststart"}) as out:
            written = (_copy if can_be_copied else _encode)(source, start, end, out, go_on)
    except av.FFmpegError as error:
        raise SourceUnreadable(f"The part {clock(start)}–{clock(end)} can't be written: {error}.", "Choose another span.") from error
    if not written:
        raise SourceUnreadable(
            f"There is nothing between {clock(start)} and {clock(end)}.", "Choose a span in which something was recorded."
        )
    return Excerpt(can_be_copied, end - start)


def check(start: int, end: int, place: Path) -> None:
    """Raise UsageError for a span or a file's ending that can't be written."""
    if end <= start or start < 0:
        raise UsageError("the span is empty: its end is not after its start.", "Give --from a time before --to.")
    if place.suffix.lower() not in CONTAINERS:
        raise UsageError(f"{place.name} is no kind of video file that can be written.", f"Give -o an ending: {' '.join(CONTAINERS)}.")


def _kinds(opened: OpenContainer) -> list[Kind]:
    kinds: list[Kind] = ["picture", "sound"]
    return [k for k in kinds if opened.stream(k) is not None]


def _can_be_copied(opened: OpenContainer, start: int, end: int) -> bool:
    """Return whether the span begins with a key frame, and no picture after its end is needed to decode one before it."""
    if opened.recording is not None or any(opened.stream(k).codec_context.name not in _COPIED[k] for k in _kinds(opened)):  # type: ignore[union-attr]
        return False
    if opened.picture is None:
        return True
    opened.seek("picture", start + _NEAR)
    first, after = True, False
    for packet in opened.packets("picture"):
        if packet.pts is None or packet.dts is None:
            return packet.size == 0 and not first
        at = opened.time(opened.picture, packet.pts)
        if first and not (packet.is_keyframe and abs(at - start) <= _NEAR and _is_upright(packet)):
            return False
        if not first and at < start - _NEAR:
            return False  # pictures before the key frame that are decoded after it
        if opened.time(opened.picture, packet.dts) >= end:
            return True
        if after and at < end:
            return False
        first, after = False, after or at >= end
    return not first


def _is_upright(packet: Any) -> bool:
    """Decode one key frame, to see how it is turned."""
    frames = packet.decode() or packet.stream.codec_context.decode(None)
    packet.stream.codec_context.flush_buffers()
    return all(orientation(frame) == UPRIGHT for frame in frames)


def _copy(source: str | Path, start: int, end: int, out: Any, go_on: Callable[[], bool]) -> bool:
    """Copy the packets of a span."""
    written = False
    with open_media(source) as opened:
        kinds = _kinds(opened)
        streams = {k: out.add_stream_from_template(opened.stream(k)) for k in kinds}
        opened.seek(kinds[0], start + _NEAR)
        over: set[Kind] = set()
        for packet in opened.packets("both"):
            _check_going(go_on)
            kind: Kind = "picture" if packet.stream == opened.picture else "sound"
            if packet.pts is None or packet.dts is None or kind in over:
                continue
            at = opened.time(packet.stream, packet.pts)
            if opened.time(packet.stream, packet.dts) >= end:
                over.add(kind)
                if len(over) == len(kinds):
                    break
            if not start - _NEAR <= at < end:
                continue
            shift = round(Fraction(opened.zero + start, MICROSECOND) / packet.stream.time_base)
            packet.pts, packet.dts, packet.stream = packet.pts - shift, packet.dts - shift, streams[kind]
            out.mux(packet)
            written = True
    return written


def _encode(source: str | Path, start: int, end: int, out: Any, go_on: Callable[[], bool]) -> bool:
    """Decode a span and encode it again as H.264 and AAC; pictures are turned upright."""
    with open_media(source) as shown, open_media(source) as heard:
        pictures = _pictures(shown, start, end) if shown.picture is not None else iter(())
        first = next(pictures, None)
        showing, video, voice = Showing(shown), None, None
        if first is not None:
            width, height = showing.size(first.frame)
            video = out.add_stream("libx264", rate=_rate(shown), options={"crf": "20", "preset": "veryfast"})
            video.width, video.height, video.pix_fmt = max(2, width // 2 * 2), max(2, height // 2 * 2), "yuv420p"
            video.codec_context.time_base = Fraction(1, _TICKS)
        sound = heard.sound is not None and audible(heard.sound.codec_context.sample_rate)
        if sound:
            voice = out.add_stream("aac", rate=_SOUND_RATE, layout="stereo")
        shot = first
        while shot is not None and video is not None:
            _check_going(go_on)
            picture = showing.bgr(shot.frame)[: video.height, : video.width]
            if picture.shape[:2] == (video.height, video.width):  # a film may change its size: what does not fit is left out
                frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="bgr24")
                frame.pts, frame.time_base = max(0, shot.at - start) * _TICKS // MICROSECOND, Fraction(1, _TICKS)
                out.mux(video.encode(frame))
            shot = next(pictures, None)
        if video is not None:
            out.mux(video.encode())
        if voice is not None:
            for block in _sound(heard, start, end, go_on):
                out.mux(voice.encode(block))
            out.mux(voice.encode())
        return video is not None or voice is not None


def _rate(opened: OpenContainer) -> Fraction:
    """Return about how many pictures a second there are, for the encoder's plans; their times are exact anyway."""
    rate = opened.picture.average_rate or opened.picture.guessed_rate if opened.picture is not None else None
    return Fraction(rate) if rate and 1 <= rate <= 240 else Fraction(25)


def _pictures(opened: OpenContainer, start: int, end: int) -> Iterator[TimedFrame]:
    """Yield the picture shown at `start`, and the others that begin before `end`."""
    pictures = Pictures(opened)
    try:
        shot = pictures.show(lambda: start)
        while shot is not None and shot.at < end:
            yield shot
            if pictures.following is None:
                return
            pictures.advance()
            shot = pictures.current
    finally:
        pictures.close()


def _sound(opened: OpenContainer, start: int, end: int, go_on: Callable[[], bool]) -> Iterator[Any]:
    """Yield the sound of a span as stereo blocks that follow each other; where there is none, silence."""
    resampler = av.AudioResampler("fltp", "stereo", _SOUND_RATE)
    made, most = 0, (end - start) * _SOUND_RATE // MICROSECOND

    def block(samples: Any) -> Any:
        nonlocal made
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples), format="fltp", layout="stereo")
        frame.sample_rate, frame.pts, frame.time_base = _SOUND_RATE, made, Fraction(1, _SOUND_RATE)
        made += samples.shape[1]
        return frame

    opened.seek("sound", max(0, start - _SETTLE))
    for packet in opened.packets("sound"):
        _check_going(go_on)
        try:
            frames = packet.decode()
        except (av.FFmpegError, OSError):
            continue
        for frame in frames:
            if frame.pts is None:
                continue
            at = round(frame.pts * frame.time_base * MICROSECOND) - opened.zero
            frame.pts = None
            for piece in resampler.resample(frame):
                samples = np.asarray(piece.to_ndarray(), np.float32)
                due = (at - start) * _SOUND_RATE // MICROSECOND
                if due - made > _SOUND_RATE // 50:
                    yield block(np.zeros((2, min(due, most) - made), np.float32))
                twice = made - due  # before the span, or heard already; a few samples are rounding
                samples = samples[:, twice if twice > 0 and (made == 0 or twice > _SOUND_RATE // 50) else 0 :][:, : most - made]
                if samples.shape[1]:
                    yield block(samples)
                at += piece.samples * MICROSECOND // _SOUND_RATE
            if made >= most:
                return


def _check_going(go_on: Callable[[], bool]) -> None:
    if not go_on():
        raise Cancelled("The export was stopped; nothing was written.")
