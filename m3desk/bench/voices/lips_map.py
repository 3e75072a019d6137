"""Fits again what the sound tells of a mouth (`perception.in_step.MAP`), and measures it with each speaker of calibration left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from m3desk.bench.voices.division import LIPS
from m3desk.bench.voices.dubbing import SAME, Half, media_of, perceived
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import Floats
from m3desk.perception import in_step
from m3desk.perception.in_step import AROUND, MAP, Together, correlations, evidence, together
from m3desk.perception.lips import RATE
from m3desk.perception.voices import listen
from m3desk.ports import SAMPLE_RATE, Models

RIDGE = 1.0
Spans = Sequence[tuple[int, int]]


def measured(hearing: Models) -> dict[str, Any]:
    """Return how mouths follow their own sound and that of others, the speaker left out, and how far the fit of all is from MAP."""
    halves: dict[str, Half] = {}
    sounds: dict[str, Floats] = {}
    spans: dict[str, Spans] = {}
    for path in LIPS["calibration"]:
        halves[path] = perceived(path, hearing, silent=True)
        sound = media_of(path).sound()
        sounds[path] = in_step.bands(sound, 0)
        spans[path] = [(_us(s.start) - AROUND, _us(s.end) + AROUND) for s in listen(sound, hearing)]

    def pair(mouth: str, voice: str) -> Together | None:
        longest = max(halves[mouth].seen.lips.values(), key=lambda s: len(s.values))
        return together([longest], sounds[voice], 0, spans[voice])

    own_pairs = {p: one for p in halves if (one := pair(p, p)) is not None}
    own, others = {}, {}
    for mouth in own_pairs:
        weights = fit(one for m, one in own_pairs.items() if not same(m, mouth))
        for voice in own_pairs:
            if (both := pair(mouth, voice)) is not None:
                found, seconds = correlations(both, weights), len(both.mouth) / RATE
                row = {"correlation": round(float(found.max()), 3), "evidence": round(evidence(found, seconds), 2), "seconds": seconds}
                if mouth == voice:
                    own[mouth] = row
                elif not same(mouth, voice):
                    others[f"{mouth} with {voice}"] = row
    return {"own": own, "others": others, "off": round(float(np.abs(fit(own_pairs.values()) - MAP).max()), 4)}


def fit(pairs: Iterable[Together]) -> NDArray[np.float64]:
    """Return (24, 5): the ridge regression of mouths on the sound one picture later."""
    made = list(pairs)
    heard, mouth = np.concatenate([p.heard[1] for p in made]), np.concatenate([p.mouth for p in made])
    return np.linalg.solve(heard.T @ heard + RIDGE * len(heard) * np.eye(heard.shape[1]), heard.T @ mouth)


def same(one: str, other: str) -> bool:
    """Return whether two clips are of one person."""
    return one == other or {one, other} in SAME


def _us(samples: int) -> int:
    return round(samples * MICROSECOND / SAMPLE_RATE)
