"""Turns of text, pictures and sound as the messages of a chat completion: pictures, videos and sound as data, never as an address."""

from __future__ import annotations

import base64
import io
import wave
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import av
import cv2
import numpy as np

from m3desk.domain.visible import without_chat_tokens
from m3desk.errors import ModelFailed
from m3desk.ports import SAMPLE_RATE, Pictures, Sound, Turn
from m3desk.ports.models import Picture

LONGEST_SIDE = 1_280
"""Pixels; larger pictures are made smaller: models see little more in them, and a request of many must stay small."""

QUALITY = 90


def messages(turns: Sequence[Turn], *, video: bool = False, hears: bool = False) -> list[dict[str, Any]]:
    """Return turns as messages. `video`: pictures with a rate go as one video, with its sound inside."""
    return [{"role": t.role, "content": _content(t, video, hears)} for t in turns]


def _content(turn: Turn, video: bool, hears: bool) -> str | list[dict[str, Any]]:
    if all(isinstance(p, str) for p in turn.parts):
        return "\n".join(without_chat_tokens(p) for p in turn.parts if isinstance(p, str))
    parts: list[dict[str, Any]] = []
    for part in turn.parts:
        if isinstance(part, str):
            parts.append({"type": "text", "text": without_chat_tokens(part)})
        elif video and part.rate is not None:
            film = mp4(part.pictures, part.rate, part.sound if hears else None)
            parts.append({"type": "video_url", "video_url": {"url": _data("video/mp4", film)}})
        else:
            parts += [{"type": "image_url", "image_url": {"url": _data("image/jpeg", jpeg(p))}} for p in part.pictures]
            if hears and part.sound is not None and part.sound.size:
                parts.append({"type": "input_audio", "input_audio": {"data": _base64(wav(part.sound)), "format": "wav"}})
    return parts


def with_sound(turns: Sequence[Turn]) -> bool:
    """Return whether a video among these turns has its sound."""
    return any(isinstance(p, Pictures) and p.rate is not None and p.sound is not None for t in turns for p in t.parts)


def rates(turns: Sequence[Turn]) -> set[float]:
    """Return the rates of the videos among these turns."""
    return {p.rate for t in turns for p in t.parts if isinstance(p, Pictures) and p.rate is not None}


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _data(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{_base64(content)}"


def jpeg(picture: Picture) -> bytes:
    height, width = picture.shape[:2]
    if (longest := max(height, width)) > LONGEST_SIDE:
        size = (max(1, width * LONGEST_SIDE // longest), max(1, height * LONGEST_SIDE // longest))
        picture = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)
    done, written = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    if not done:
        raise ModelFailed("a picture could not be written as JPEG.")
    return written.tobytes()


def wav(sound: Sound) -> bytes:
    """Return sound as a WAV file of 16 bits."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(SAMPLE_RATE)
        out.writeframes((np.clip(sound, -1, 1) * 32_767).astype("<i2").tobytes())
    return file.getvalue()


def mp4(pictures: Sequence[Picture], rate: float, sound: Sound | None) -> bytes:
    """Return pictures, `rate` a second, as a video file, with its sound as the second track."""
    file = io.BytesIO()
    height, width = (n - n % 2 for n in pictures[0].shape[:2])
    speed = Fraction(rate).limit_denominator(1_000)
    try:
        with av.open(file, "w", format="mp4") as out:
            shown: Any = out.add_stream("libx264", rate=speed, options={"crf": "18", "preset": "veryfast"})
            shown.width, shown.height, shown.pix_fmt = width, height, "yuv420p"
            heard: Any = out.add_stream("aac", rate=SAMPLE_RATE, layout="mono") if sound is not None and sound.size else None
            for picture in pictures:
                frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture[:height, :width]), format="bgr24")
                out.mux(shown.encode(frame))
            if heard is not None and sound is not None:
                samples = av.AudioFrame.from_ndarray(np.ascontiguousarray(sound[None], np.float32), format="fltp", layout="mono")
                samples.sample_rate, samples.time_base, samples.pts = SAMPLE_RATE, Fraction(1, SAMPLE_RATE), 0
                out.mux(heard.encode(samples))
            for stream in (shown, heard):
                if stream is not None:
                    out.mux(stream.encode(None))
    except (av.FFmpegError, ValueError) as error:
        raise ModelFailed(f"the clip could not be written as a video for the model ({error}).") from error
    return file.getvalue()
