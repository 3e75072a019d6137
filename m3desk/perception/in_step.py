"""Whether a mouth moves with a voice: lips at 25 pictures a second against what the sound says they do, as a log-likelihood ratio.

From eight bands of the sound a linear map tells how a mouth moves and opens; the correlation with what was seen is compared with that of
other people's sound. Map and figures come from calibration material only: `m3desk bench voices calibration lips`. Where too little is
seen, nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import FaceTrack, Floats, LipMatch, Utterance
from m3desk.perception.lips import DARK, DARKEST, RATE, STEP, LipSeries
from m3desk.ports import SAMPLE_RATE, Sound

BANDS = 8
LOWEST, HIGHEST = 80.0, 7000.0
"""Hertz of the bands, spaced evenly in mel."""

WINDOW, TURN = 400, 512
"""Samples of a window and of its Fourier transform; four windows, 10 ms apart, make a value."""

FLOOR = 5.0
"""How far under the loudest a band counts, in powers of ten."""

SLOW = 75
"""Values of the moving mean that is taken off the mouth: light and pose change slowly."""

AROUND = 400_000
"""Microseconds before and after speech that count: lips that move while the voice is still are evidence, too."""

LATER = (0, 1, 2, 3)
"""How many 1/25 s the sound may be behind the picture; in all of calibration it is 0 to 2."""

LEAST = 1.2
"""Seconds of a mouth under which nothing is said."""


def bands(sound: Sound, start: int) -> Floats:
    """Return (n, 8) log power of a clip's sound at 25 values a second; row i is at first(start) + i."""
    from_row = first(start)
    count = max(0, (start + round(len(sound) * MICROSECOND / SAMPLE_RATE)) // STEP - from_row)
    centres = np.round((np.arange(count) + from_row) * STEP / MICROSECOND * SAMPLE_RATE).astype(np.int64) - round(
        start * SAMPLE_RATE / MICROSECOND
    )
    padded = np.concatenate([np.zeros(WINDOW, np.float32), sound, np.zeros(2 * WINDOW, np.float32)])
    shape = np.hanning(WINDOW).astype(np.float32)
    power = np.zeros((count, TURN // 2 + 1), np.float32)
    within = np.arange(WINDOW) - WINDOW // 2
    for shift in (-160, 0, 160, 320):
        power += np.abs(np.fft.rfft(padded[centres[:, None] + (WINDOW + shift) + within] * shape, TURN)) ** 2
    return np.asarray(np.log10(power @ _mel().T + 1e-7), np.float32)


def first(start: int) -> int:
    """Return the number of the first value of a clip that starts at `start` microseconds."""
    return -(-start // STEP)


def _mel() -> Floats:
    def mel(hertz: float) -> float:
        return 2595 * math.log10(1 + hertz / 700)

    edges = 700 * (10 ** (np.linspace(mel(LOWEST), mel(HIGHEST), BANDS + 2) / 2595) - 1)
    at = np.arange(TURN // 2 + 1) * SAMPLE_RATE / TURN
    rise = (at[None] - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall = (edges[2:, None] - at[None]) / (edges[2:] - edges[1:-1])[:, None]
    bank: Floats = np.clip(np.minimum(rise, fall), 0, None).astype(np.float32)
    return bank


MAP = np.array((
    (0.009, -0.007, -0.024, 0.007, 0.013), (0.021, 0.016, 0.012, -0.018, -0.01),
    (0.034, 0.072, 0.049, -0.034, -0.018), (0.029, 0.04, 0.016, -0.042, -0.034),
    (0.007, 0.003, 0.019, -0.038, -0.03), (0.012, 0.016, 0.047, -0.017, -0.02),
    (-0.005, -0.022, 0.006, -0.002, -0.003), (-0.014, -0.036, -0.034, 0.011, 0.003),
    (-0.009, -0.019, -0.033, 0.029, 0.016), (0.009, 0.006, 0.006, 0.013, 0.001),
    (0.036, 0.064, 0.041, 0.011, 0.005), (0.019, 0.039, 0.023, -0.013, -0.025),
    (-0.003, 0.009, 0.025, -0.012, -0.019), (0.005, 0.019, 0.045, 0.01, 0.005),
    (-0.005, -0.016, 0.007, 0.009, 0.008), (-0.016, -0.029, -0.029, 0.001, 0.001),
    (0.02, -0.031, -0.045, 0.03, 0.026), (0.039, -0.001, 0.002, 0.036, 0.037),
    (0.064, 0.06, 0.042, 0.042, 0.033), (0.023, 0.043, 0.033, 0.01, 0.006),
    (0.007, 0.009, 0.03, -0.005, 0.008), (0.015, 0.007, 0.035, 0.032, 0.047),
    (0.004, -0.026, -0.001, 0.015, 0.029), (0.004, -0.035, -0.028, -0.008, -0.001),
))  # fmt: skip
"""What the bands before, at and after a moment tell of the five measures of a mouth, each of mean 0 and spread 1: ridge regression on 33 s,
eight clips of seven people. With the speaker left out, the own sound correlates by .21 to .58, somebody else's by .39 at most."""

OWN, OWN_SPREAD = 0.38, 0.10
"""Mean correlation of a mouth with its own voice at the best delay, and its spread between people beyond that of chance."""

OTHER, OTHER_LEAST = 0.215, 0.02
"""Spread of the correlation with somebody else's sound, over √seconds, and its least; the mean is 0 (2,100 pieces of 1.2 to 6.5 s)."""

# ---------------------------------------------------------------- a mouth and a voice


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """A mouth and the sound around the same moments, both of mean 0 and spread 1: what the map is fitted to.

    `mouth`: (n, 5). `heard`: for each delay of LATER (n, 24), the bands before, at and after each moment.
    """

    mouth: NDArray[np.float64]
    heard: NDArray[np.float64]


def together(lips: Sequence[LipSeries], sound: Floats, from_row: int, spans: Sequence[tuple[int, int]]) -> Together | None:
    """Return a mouth and the sound at the moments of some spans (microseconds); None where the mouth is hardly seen then."""
    seen: list[NDArray[np.float64]] = []
    rows: list[NDArray[np.int64]] = []
    for one in lips:
        at = np.arange(one.start, one.start + len(one.values))
        mouth = _moving(one.values)
        inside = np.zeros(len(at), bool)
        for a, b in spans:
            inside |= (at * STEP >= a) & (at * STEP < b)
        there = inside & np.isfinite(mouth).all(1) & (at - 1 >= from_row) & (at + 1 + LATER[-1] < from_row + len(sound))
        seen.append(mouth[there])
        rows.append(at[there] - from_row)
    at = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    if len(at) < LEAST * RATE:
        return None
    top = np.percentile(sound[at], 97, axis=0).max() - FLOOR
    loud = np.maximum(sound.astype(np.float64), top)
    loud = (loud - loud[at].mean(0)) / (loud[at].std(0) + 1e-6)
    heard = [np.concatenate([loud[at + later + side] for side in (-1, 0, 1)], 1) for later in LATER]
    return Together(_even(np.concatenate(seen)), np.stack(heard))


def _moving(values: Floats) -> NDArray[np.float64]:
    """Return (n, 5): movement, the two measures of openness, and how these change; without what changes slowly."""
    one = values.astype(np.float64)
    there = np.isfinite(one).all(1)
    if there.sum() < 3:
        return np.full((len(one), 5), np.nan)
    at = np.arange(len(one))
    filled = np.stack([np.interp(at, at[there], one[there, c]) for c in range(one.shape[1])], 1)
    both = np.concatenate([filled, np.gradient(filled[:, [DARK, DARKEST]], axis=0)], 1)
    around = np.pad(both, ((SLOW // 2, SLOW // 2), (0, 0)), "edge")
    sums = np.concatenate([np.zeros((1, 5)), np.cumsum(around, 0)])
    fast = both - (sums[SLOW:] - sums[:-SLOW]) / SLOW
    fast[~there] = np.nan
    return np.asarray(fast, np.float64)


def _even(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((values - values.mean(0)) / (values.std(0) + 1e-9), np.float64)


def correlations(pair: Together, weights: NDArray[np.float64] = MAP) -> NDArray[np.float64]:
    """Return for each delay the mean correlation of the five measures of a mouth with what the sound tells of them."""
    found = []
    for heard in pair.heard:
        told = _even(heard @ weights)
        found.append(float((told * pair.mouth).mean()))
    return np.array(found)


def evidence(found: NDArray[np.float64], seconds: float) -> float:
    """Return the log-likelihood ratio that a mouth and a voice are one person's, against somebody else's sound; any delay is as likely."""
    spread = np.sqrt(OTHER**2 / seconds + OTHER_LEAST**2)
    mine = np.sqrt(spread**2 + OWN_SPREAD**2)
    ratios = -0.5 * ((found - OWN) / mine) ** 2 + 0.5 * ((found) / spread) ** 2 + np.log(spread / mine)
    return float(np.log(np.mean(np.exp(ratios))))


def matches(
    faces: Sequence[FaceTrack], lips: Mapping[str, LipSeries], utterances: Sequence[Utterance], sound: Floats, from_row: int, end: int
) -> tuple[LipMatch, ...]:
    """Return for each face and voice of a clip that are there together whether they are one person's, where enough is seen of the mouth.

    `end`: the clip's, in microseconds. Overlapped speech counts for nothing.
    """
    found: list[LipMatch] = []
    for face in sorted({t.cluster for t in faces if t.id in lips}):
        own = [lips[t.id] for t in faces if t.cluster == face and t.id in lips]
        for voice in sorted({u.cluster for u in utterances if not u.overlapped}):
            spans = [(u.start - AROUND, min(u.end, end) + AROUND) for u in utterances if u.cluster == voice and not u.overlapped]
            pair = together(own, sound, from_row, spans)
            if pair is not None:
                seconds = len(pair.mouth) / RATE
                found.append(LipMatch(face, voice, round(seconds, 2), round(evidence(correlations(pair), seconds), 3)))
    return tuple(found)
