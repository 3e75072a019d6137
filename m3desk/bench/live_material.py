"""Makes the film that `bench live course` loops: a reel with cuts, meetings over a still picture, a minute of silence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT, FPS, RATE = 640, 360, 25, 48_000
SILENCE = 60
"""Seconds of it at the end."""

MEETINGS = 210
"""Seconds of meetings at most."""


def mixture(path: Path, reel: Path, meetings: Path) -> None:
    """Write the film to `path`: H.264 and AAC. `reel`: a film; `meetings`: a folder of sound files, in the order of their names."""
    sounds = sorted(f for f in meetings.iterdir() if f.suffix in (".wav", ".flac"))
    with av.open(str(path), "w") as out:
        video = out.add_stream("libx264", rate=FPS, options={"crf": "23", "preset": "veryfast", "g": "50"})
        audio = out.add_stream("aac", rate=RATE, layout="mono")
        video.width, video.height, video.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        picture = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        for picture in _pictures(reel):
            out.mux(video.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))
        said = np.concatenate([_sound(reel), *map(_sound, sounds)])
        seconds = _length(reel) + min(MEETINGS, len(said) / RATE - _length(reel)) + SILENCE
        still = np.full_like(picture, 96)
        for _ in range(round((seconds - _length(reel)) * FPS)):
            out.mux(video.encode(av.VideoFrame.from_ndarray(still, format="bgr24")))
        whole = np.zeros(round(seconds * RATE), np.float32)
        heard = said[: len(whole) - SILENCE * RATE]
        whole[: len(heard)] = heard
        for at in range(0, len(whole), RATE):
            frame = av.AudioFrame.from_ndarray(whole[None, at : at + RATE], format="fltp", layout="mono")
            frame.sample_rate, frame.pts = RATE, at
            out.mux(audio.encode(frame))
        for stream in (video, audio):
            out.mux(stream.encode(None))


def _length(path: Path) -> float:
    with av.open(str(path)) as film:
        return (film.duration or 0) / 1e6


def _pictures(path: Path) -> Iterator[NDArray[np.uint8]]:
    """Yield the pictures of a film at FPS."""
    with av.open(str(path)) as film:
        shown = 0
        for frame in film.decode(video=0):
            while shown / FPS <= float(frame.time or 0):
                shown += 1
                yield np.asarray(frame.to_ndarray(format="bgr24", width=WIDTH, height=HEIGHT), np.uint8)


def _sound(path: Path) -> NDArray[np.float32]:
    """Return the sound of a file at RATE, mono."""
    resampler = av.AudioResampler("fltp", "mono", RATE)
    with av.open(str(path)) as file:
        pieces = [r.to_ndarray()[0] for frame in file.decode(audio=0) for r in resampler.resample(frame)]
    return np.concatenate(pieces).astype(np.float32)
