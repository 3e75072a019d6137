"""Voices on the CPU: Silero (voice activity), pyannote segmentation (who of a few speaks), CAM++ (embeddings), by ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from m3desk.domain.evidence import Floats
from m3desk.errors import BackendMissing, ModelFailed
from m3desk.ports import SAMPLE_RATE, Sound
from m3desk_cpu.runtimes import INSTALL, need, onnx_session


def _session(path: Path, threads: int, name: str) -> Any:
    return onnx_session(need(path, name, INSTALL), threads, arena=False)


class Silero:
    """Voice activity detection: Silero VAD v6, the file that comes inside faster-whisper."""

    name = "silero-v6"
    hop = 512

    def __init__(self, threads: int = 1) -> None:
        # find_spec, not importlib.resources: that would import faster_whisper and with it CTranslate2.
        found = find_spec("faster_whisper")
        if found is None or found.origin is None:
            raise BackendMissing(
                "faster-whisper, which carries Silero VAD, is not installed.", "Install it: pip install faster-whisper==1.2.1"
            )
        self._session = _session(Path(found.origin).parent / "assets" / "silero_vad_v6.onnx", threads, self.name)

    def probabilities(self, sound: Sound) -> Floats:
        if not len(sound):
            return np.zeros(0, np.float32)
        steps = -(-len(sound) // self.hop)
        chunks = np.zeros((steps, 64 + self.hop), np.float32)
        chunks[:, 64:] = np.pad(np.asarray(sound, np.float32), (0, steps * self.hop - len(sound))).reshape(steps, self.hop)
        # Each chunk is preceded by the last 64 samples of the one before; the state starts at zero in every call.
        chunks[1:, :64] = chunks[:-1, -64:]
        state = np.zeros((1, 1, 128), np.float32)
        try:
            result = self._session.run(None, {"input": chunks, "h": state, "c": state})[0]
        except Exception as e:
            raise ModelFailed(f"Finding speech failed: {e}") from e
        return np.asarray(result, np.float32).reshape(steps)


class Segmentation:
    """Separates up to three speakers in 10 s, two at once: segmentation-3.0 of pyannote.audio, exported to ONNX."""

    name = "pyannote-segmentation-3.0"
    window = 160_000
    hop = 270
    lead = 360
    """A row is the middle 270 of the 991 samples that it is made from."""
    rows = 589
    classes: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2))

    def __init__(self, path: Path, threads: int = 1) -> None:
        self._session = _session(Path(path), threads, self.name)

    def segment(self, sound: Sound) -> Floats:
        padded = np.zeros((1, self.window), np.float32)
        padded[0, : len(sound)] = sound[: self.window]
        try:
            logs = self._session.run(None, {"wav": padded})[0][0]
        except Exception as e:
            raise ModelFailed(f"Telling speakers apart failed: {e}") from e
        return np.asarray(np.exp(logs), np.float32)


FRAME, STEP, FFT, MELS = 400, 160, 512, 80
"""25 ms windows every 10 ms at 16 kHz, as Kaldi's compute-fbank-feats has them by default; CAM++ was trained on 80 bands."""


def mel_bands(low: float = 20.0, high: float = 8000.0) -> Floats:
    """Return (257, 80) float32 triangles on the mel scale 1127 ln(1 + f / 700), Kaldi's."""
    edges = np.linspace(1127 * np.log1p(low / 700), 1127 * np.log1p(high / 700), MELS + 2)
    bins = 1127 * np.log1p(np.arange(FFT // 2 + 1) * (SAMPLE_RATE / FFT) / 700)[:, None]
    left, centre, right = edges[:-2], edges[1:-1], edges[2:]
    bands = np.maximum(0, np.minimum((bins - left) / (centre - left), (right - bins) / (right - centre)))
    bands[-1] = 0  # Kaldi leaves the Nyquist bin out
    return np.asarray(bands, np.float32)


_BANDS = mel_bands()
_POVEY = (np.hanning(FRAME) ** 0.85).astype(np.float32)


def fbank(sound: Sound) -> Floats:
    """Return (frames, 80) float32 log mel energies, mean-free over time, of at least 25 ms of sound (shorter is padded)."""
    if len(sound) < FRAME:
        sound = np.pad(sound, (0, FRAME - len(sound)))
    frames = np.lib.stride_tricks.sliding_window_view(np.asarray(sound, np.float32), FRAME)[::STEP]
    frames = frames - frames.mean(1, keepdims=True)
    # Pre-emphasis 0.97 within each window, its first sample against itself.
    frames = frames - 0.97 * np.concatenate([frames[:, :1], frames[:, :-1]], axis=1)
    power = np.abs(np.fft.rfft(frames * _POVEY, FFT)) ** 2
    logs = np.log(np.maximum(power.astype(np.float32) @ _BANDS, np.finfo(np.float32).eps))
    return np.asarray(logs - logs.mean(0), np.float32)


class CamPlus:
    """Voice embeddings: CAM++ (3D-Speaker, zh-en common), 16-bit weights. As it was trained, its last layer has no activation function.

    `usual`, in samples: a shorter sound is repeated, always as a whole, until it is as long or longer. 3D-Speaker trained the model with
    3 s of speech (its configuration), and of less it makes poorer vectors. Cost of the ratios on calibration
    (`tests/perception/calibrate_voices.py`): inside a recording .336 → .294 bits, across recordings .293 → .235; with 6 s .290 and .227,
    for twice the time. Cut off at 3 s exactly it gains a third of that. Vectors that were made with and without repeating can be compared
    with each other (docs/measured.md).

    `same`: a cosine that few pairs of two speakers reach with 3 s of clean speech, `different`: that few of one speaker do not.
    """

    name = "campplus-zh-en-linear-w16"
    dimension = 192
    same = 0.40
    different = 0.20
    batch = 16
    usual = 3 * SAMPLE_RATE

    def __init__(self, path: Path, threads: int = 1) -> None:
        self._session = _session(Path(path), threads, self.name)

    def embed(self, sounds: Sequence[Sound]) -> Floats:
        rows = np.zeros((len(sounds), self.dimension), np.float32)
        lengths: dict[int, list[int]] = {}
        sounds = [repeated(sound, self.usual) for sound in sounds]
        for i, sound in enumerate(sounds):
            lengths.setdefault(len(sound), []).append(i)
        for same_length in lengths.values():
            for at in range(0, len(same_length), self.batch):
                these = same_length[at : at + self.batch]
                features = np.stack([fbank(sounds[i]) for i in these])
                try:
                    rows[these] = self._session.run(None, {"feats": features})[0]
                except Exception as e:
                    raise ModelFailed(f"Making a voice vector failed: {e}") from e
        return self._unit(rows)

    def _unit(self, rows: Floats) -> Floats:
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), np.float32)


def repeated(sound: Sound, length: int) -> Sound:
    """Return a sound of fewer than `length` samples as often as it takes to be as long, the last time whole, too; a longer one as it is."""
    return np.tile(sound, -(-length // len(sound))) if 0 < len(sound) < length else sound


class CamPlusRectified(CamPlus):
    """CAM++ as M3Desk used it first, for memories made then: its export had a ReLU too many, which sets every negative number to 0.

    About half of the numbers of a vector are negative, so half of what the model says was lost.
    """

    name = "campplus-zh-en-w16"
    same = 0.55
    different = 0.35
    usual = 0  # nothing is repeated, as before

    def _unit(self, rows: Floats) -> Floats:
        return super()._unit(np.maximum(rows, 0.0))
