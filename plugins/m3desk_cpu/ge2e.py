"""Voice embeddings by the GE2E encoder of Resemblyzer, by ONNX Runtime: an alternative model for `m3desk reembed` or a user's profile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from m3desk.domain.evidence import Floats
from m3desk.errors import ModelFailed
from m3desk.ports import SAMPLE_RATE, Sound
from m3desk_cpu.runtimes import INSTALL, need, onnx_session

FRAME, STEP, MELS = 400, 160, 40
"""25 ms windows every 10 ms at 16 kHz, as Resemblyzer has them from librosa (`feature.melspectrogram`); the power, not its logarithm."""

LOUDNESS = 10 ** (-30 / 20)
"""Root mean square that sound is brought to: the model hears levels, since powers are no logarithms, and was trained at −30 dBFS."""

PART, HOP = 160, 80
"""Frames of a part (1.6 s, what the model was trained on), and about how far parts are apart. A sound up to SHORT is one part."""

SHORT = 170
BATCH = 32


def mel_bands() -> Floats:
    """Return (201, 40) float32 triangles of equal area on Slaney's mel scale (linear below 1 kHz), 0 to 8 kHz: librosa's default."""
    linear, step = 200 / 3, np.log(6.4) / 27
    top = 15 + np.log(SAMPLE_RATE / 2 / 1000) / step
    mels = np.linspace(0, top, MELS + 2)
    edges = np.where(mels >= 15, 1000 * np.exp(step * (mels - 15)), mels * linear)
    bins = np.arange(FRAME // 2 + 1)[:, None] * (SAMPLE_RATE / FRAME)
    left, centre, right = edges[:-2], edges[1:-1], edges[2:]
    bands = np.maximum(0, np.minimum((bins - left) / (centre - left), (right - bins) / (right - centre)))
    return np.asarray(bands * 2 / (right - left), np.float32)


_BANDS = mel_bands()
_HANN = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FRAME) / FRAME)).astype(np.float32)


def mel_power(sound: Sound) -> Floats:
    """Return (frames, 40) float32 powers, a frame every 10 ms, the first around the first sample (outside of the sound is silence)."""
    padded = np.pad(np.asarray(sound, np.float32), FRAME // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, FRAME)[::STEP]
    return np.asarray((np.abs(np.fft.rfft(frames * _HANN, FRAME)) ** 2).astype(np.float32) @ _BANDS, np.float32)


def _parts(sound: Sound) -> list[Floats]:
    """Return the parts that a sound is embedded in: at least one, overlapping by about half, the last one at the end."""
    sound = np.asarray(sound, np.float32)
    level = float(np.sqrt(np.mean(np.square(sound, dtype=np.float64)))) if len(sound) else 0.0
    mels = mel_power(sound * np.float32(LOUDNESS / max(level, 1e-9)))
    spare = len(mels) - PART
    if len(mels) <= SHORT:
        return [mels[:PART]]
    return [mels[at : at + PART] for at in np.linspace(0, spare, max(2, 1 + round(spare / HOP))).round().astype(int)]


class Ge2e:
    """Voice embeddings: three LSTM layers trained with the generalized end-to-end loss (Resemblyzer), 16-bit weights."""

    name = "ge2e-resemblyzer-w16"
    dimension = 256

    def __init__(self, path: Path, threads: int = 1) -> None:
        self._session: Any = onnx_session(need(Path(path), self.name, INSTALL), threads, arena=False)

    def embed(self, sounds: Sequence[Sound]) -> Floats:
        rows = np.zeros((len(sounds), self.dimension), np.float32)
        lengths: dict[int, list[tuple[int, Floats]]] = {}
        for i, sound in enumerate(sounds):
            for part in _parts(sound):
                lengths.setdefault(len(part), []).append((i, part))
        for same_length in lengths.values():
            for at in range(0, len(same_length), BATCH):
                these = same_length[at : at + BATCH]
                try:
                    found = self._session.run(None, {"mels": np.stack([part for _, part in these])})[0]
                except Exception as e:
                    raise ModelFailed(f"Making a voice vector failed: {e}") from e
                for (i, _), row in zip(these, _unit(found), strict=True):
                    rows[i] += row
        return _unit(rows)


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), np.float32)
