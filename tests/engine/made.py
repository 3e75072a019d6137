"""Small videos made by the tests: moving pictures with words to read, and a tone."""

from __future__ import annotations

from pathlib import Path

import av
import cv2
import numpy as np

SHIPPED = """profile = "shipped"
[profiles.shipped]
faces = "yunet"
face_vectors = "sface"
speech_activity = "silero"
voice_vectors = "campplus"
screen_text = "rapidocr"
text_vectors = "e5-small"
"""
"""Settings whose profile needs no fetched weights: faces, voices and text on screen, no words and no things."""

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
