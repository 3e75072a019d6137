"""Small videos made by the tests: moving pictures with words to read, and a tone."""

from __future__ import annotations

from pathlib import Path

import av
import cv2
import numpy as np

from tests.perception.invented import draw
from tests.perception.invented_speech import speech

SHIPPED = """profile = "shipped"
[profiles.shipped]
faces = "yunet"
face_vectors = "sface"
speech_activity = "silero"
voice_vectors = "campplus"
screen_text = "rapidocr"
text_vectors = "e5-small"
"""
"""Settings whose profile needs no downloaded weights: faces, voices and text on screen, no words and no things."""

LINES = ("GATE 12", "PLATFORM 7", "EXIT NORTH", "ROOM 104", "HALL B", "FLOOR 3")


def shipped_models(folder: Path) -> Path:
    """Write settings that use the shipped models alone; return their file."""
    file = folder / "shipped.toml"
    file.write_text(SHIPPED, encoding="utf-8")
    return file


def talking_signs(
    path: Path, seconds: int = 12, *, width: int = 320, height: int = 180, rate: int = 10, sound: bool = True, faststart: bool = False
) -> Path:
    """Write a video that shows another sign every two seconds."""
    with av.open(str(path), "w", options={"movflags": "faststart"} if faststart else {}) as out:
        video = out.add_stream("mpeg4", rate=rate)
        video.width, video.height, video.pix_fmt = width, height, "yuv420p"
        audio = out.add_stream("aac", rate=16000) if sound else None
        for i in range(seconds * rate):
            picture = np.full((height, width, 3), 235, np.uint8)
            cv2.putText(picture, LINES[i // (2 * rate) % len(LINES)], (20, height // 2), cv2.FONT_HERSHEY_SIMPLEX, 1.2, (20, 20, 20), 3)
            cv2.circle(picture, (20 + 5 * (i % 50), height - 20), 8, (0, 0, 200), -1)
            for packet in video.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")):
                out.mux(packet)
        for packet in video.encode():
            out.mux(packet)
        if audio is not None:
            _tone(out, audio, seconds)
    return path


def _tone(out: av.container.OutputContainer, audio: av.AudioStream, seconds: int) -> None:
    time = np.arange(seconds * 16000) / 16000
    wave = (0.05 * np.sin(2 * np.pi * 220 * time)).astype(np.float32)
    for at in range(0, len(wave), 1024):
        frame = av.AudioFrame.from_ndarray(wave[None, at : at + 1024], format="fltp", layout="mono")
        frame.sample_rate, frame.pts = 16000, at
        for packet in audio.encode(frame):
            out.mux(packet)
    for packet in audio.encode():
        out.mux(packet)


def drawn_talk(path: Path, seconds: int = 6) -> Path:
    """Write a film, without loss, of two drawn people of whom one says “we drink tea”: the models of tests/perception understand it."""
    path = path.with_suffix(".mkv")
    sound = speech(seconds, [(1.0, "we drink tea"), (3.0, "tea we drink")])
    with av.open(str(path), "w") as out:
        video = out.add_stream("ffv1", rate=10)
        video.width, video.height, video.pix_fmt = 320, 240, "bgr0"
        audio = out.add_stream("pcm_s16le", rate=16000, layout="mono")
        for i in range(seconds * 10):
            picture = draw([("ann", 20 + i, 60, 60), ("bob", 200, 60, 60)])
            for packet in video.encode(av.VideoFrame.from_ndarray(picture, format="bgr24").reformat(format="bgr0")):
                out.mux(packet)
        frame = av.AudioFrame.from_ndarray(np.asarray(sound * 32767, np.int16)[None, :], format="s16", layout="mono")
        frame.sample_rate, frame.pts = 16000, 0
        for packet in (*audio.encode(frame), *audio.encode(None), *video.encode()):
            out.mux(packet)
    return path
