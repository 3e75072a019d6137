"""The loudness of a source's sound over time, for drawing: the peak of each hundredth of a second."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from m3desk.domain.clip import MICROSECOND
from m3desk.domain.waveform import LONGEST, STEP, peaks_of
from m3desk.errors import Cancelled
from m3desk.media.streams import audible, open_media

_SAMPLES = 8_000
"""Samples a second that are looked at: enough for a peak of speech and music as one sees it."""
_AT_ONCE = 500
"""Pieces of sound that are put together."""

Peaks = NDArray[np.uint8]


def peaks(path: str | Path, silent: Sequence[tuple[int, int]] = (), go_on: Callable[[], bool] = lambda: True) -> Peaks:
    """Return the peaks of a file or recording: 255 is full scale; the square root of the amplitude, so that speech is seen beside a shout.

    `silent`: spans (microseconds) of which nothing may be told: 0. Empty without sound. Raises SourceMissing, SourceUnreadable,
    Cancelled once `go_on` returns False.
    """
    found = np.zeros(0, np.uint8)
    with open_media(path) as opened:
        if opened.sound is None:
            return found
        mixer = av.AudioResampler("s16", "mono", _SAMPLES)
        waiting: list[tuple[int, Any]] = []
        for packet in opened.packets("sound"):
            try:
                frames = packet.decode()
            except (av.FFmpegError, OSError):
                continue
            for frame in frames:
                if frame.pts is None or not audible(frame.sample_rate):
                    continue
                at = opened.time(opened.sound, frame.pts)
                frame.pts = None
                waiting += [(at, piece.to_ndarray()[0]) for piece in mixer.resample(frame)]
            if len(waiting) >= _AT_ONCE:
                if not go_on():
                    raise Cancelled("stopped.", "Nothing was changed.")
                found = _with(found, waiting)
                waiting = []
        found = _with(found, waiting)
    for start, end in silent:
        found[peaks_of(start, end)] = 0
    return found


def _with(found: Peaks, pieces: Sequence[tuple[int, Any]]) -> Peaks:
    """Return the peaks with those of more sound: (time of its first sample, samples) each."""
    if not pieces:
        return found
    lengths = np.array([len(samples) for _, samples in pieces])
    starts = np.array([at for at, _ in pieces], np.int64)
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    places = (np.repeat(starts, lengths) + within * (MICROSECOND // _SAMPLES)) // STEP
    loud = np.abs(np.concatenate([samples for _, samples in pieces]).astype(np.int32))
    there = (places >= 0) & (places < LONGEST)
    places, loud = places[there], loud[there]
    if not len(places):
        return found
    first = np.flatnonzero(np.concatenate([[True], places[1:] != places[:-1]]))
    values = np.minimum(255, np.sqrt(np.maximum.reduceat(loud, first) / 32_768) * 255).astype(np.uint8)
    longer = np.zeros(max(len(found), int(places.max()) + 1), np.uint8)
    longer[: len(found)] = found
    np.maximum.at(longer, places[first], values)
    return longer
