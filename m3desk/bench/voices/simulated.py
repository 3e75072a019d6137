"""Simulated conversations: turns of labelled speakers joined with overlap, echo, music, noise, levels, codecs and hard cuts.

Each is a function of a seed, so both sides of the division have the same kinds in the same numbers. Rooms, music and noise are made, not
recorded. Samples are 16 kHz.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from m3desk.ports import SAMPLE_RATE, Sound

LEAST, MOST = 2, 8
"""Speakers of a conversation."""

SHORTEST, LONGEST = 0.5, 8.0
"""Seconds of a turn."""

GAPS = (-1.0, 2.0)
"""Seconds from one turn's end to the next one's beginning."""

SPEEDS = (0.88, 1.0, 1.13)
"""Copies of a speaker at these speeds are used as further people: their voices are alike."""

Random = np.random.Generator
Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Conversation:
    """`turns`: start, end (seconds), speaker. `told`: a description of what was changed. `cuts`: seconds at which a picture would be the
    first of another shot.
    """

    number: int
    sound: Sound
    turns: tuple[tuple[float, float, str], ...]
    told: tuple[str, ...]
    cuts: tuple[float, ...] = ()

    @property
    def speakers(self) -> int:
        return len({who for _, _, who in self.turns})


def conversation(number: int, seed: int, takes: Mapping[str, Sequence[Sound]], groups: Mapping[str, str]) -> Conversation:
    """Make one conversation. `takes`: speaker → what they say, without silence around it; `groups`: speaker → the set they are of.

    Half of all are of one set's speakers, who were recorded under the same conditions.
    """
    random = np.random.default_rng((seed, number))
    told: list[str] = []
    people = _people(random, groups, told)
    order = _order(random, people)
    scenes = random.integers(2, 5) if random.random() < 0.3 else 1
    told += ["hard cuts"] if scenes > 1 else []
    borders = sorted(random.choice(np.arange(1, len(order)), min(len(order) - 1, int(scenes) - 1), replace=False).tolist())
    level = {p: 10 ** (random.uniform(-9, 3) / 20) for p in people}
    parts: list[Reals] = []
    turns: list[tuple[float, float, str]] = []
    at = 0.0
    for part in np.split(np.array(order), borders):
        sound, mine = _scene(random, [str(p) for p in part], takes, level, told)
        turns += [(round(at + a, 3), round(at + b, 3), who) for a, b, who in mine]
        parts.append(sound)
        at += len(sound) / SAMPLE_RATE
    whole = np.concatenate(parts)
    whole = whole * (10 ** (random.uniform(-20, -3) / 20) / max(1e-6, float(np.abs(whole).max())))
    return Conversation(number, np.asarray(whole, np.float32), tuple(sorted(turns)), tuple(dict.fromkeys(told)))


def _people(random: Random, groups: Mapping[str, str], told: list[str]) -> list[str]:
    count = int(random.integers(LEAST, MOST + 1))
    everybody = sorted(groups)
    if random.random() < 0.5:
        names = sorted(set(groups.values()))
        sizes = [sum(g == n for g in groups.values()) for n in names]
        able = [n for n, size in zip(names, sizes, strict=True) if size >= min(count, max(sizes))]
        chosen = able[int(random.integers(len(able)))]
        everybody = [p for p in everybody if groups[p] == chosen]
        told.append(f"all of {chosen}")
    return [str(p) for p in random.permutation(everybody)[:count]]


def _order(random: Random, people: Sequence[str]) -> list[str]:
    """Return who speaks, turn by turn: everybody once or more, nobody twice in a row where there is anybody else."""
    turns = max(len(people) + 2, round(len(people) * random.uniform(1.2, 3.0)))
    order = list(people)
    while len(order) < turns:
        others = [p for p in people if p != order[-1]]
        order.append(str(random.choice(others or list(people))))
    return order


def _scene(
    random: Random, order: Sequence[str], takes: Mapping[str, Sequence[Sound]], level: Mapping[str, float], told: list[str]
) -> tuple[Reals, list[tuple[float, float, str]]]:
    laid: list[tuple[int, Reals, str]] = []
    at = round(random.uniform(0.0, 0.5) * SAMPLE_RATE)
    free = 0
    for who in order:
        said = _turn(random, takes[who]) * level[who]
        # Nobody begins before the turn before the last has ended: two at once, not three.
        at = max(at, free)
        laid.append((at, said, who))
        end = at + len(said)
        free, at = (max(s + len(x) for s, x, _ in laid[:-1]) if len(laid) > 1 else 0), end + round(random.uniform(*GAPS) * SAMPLE_RATE)
        at = max(at, laid[-1][0] + SAMPLE_RATE // 4)
    length = max(s + len(x) for s, x, _ in laid) + round(random.uniform(0.0, 0.3) * SAMPLE_RATE)
    sound = np.zeros(length)
    for start, said, _ in laid:
        sound[start : start + len(said)] += said
    turns = [(s / SAMPLE_RATE, (s + len(x)) / SAMPLE_RATE, who) for s, x, who in laid]
    return worsened(random, sound, told), turns


def _turn(random: Random, said: Sequence[Sound]) -> Reals:
    """Return a piece of what somebody says, most often 1 to 4 s long."""
    wanted = round(float(np.clip(random.lognormal(0.75, 0.65), SHORTEST, LONGEST)) * SAMPLE_RATE)
    whole = said[int(random.integers(len(said)))]
    if len(whole) > wanted:
        start = int(random.integers(len(whole) - wanted + 1))
        whole = whole[start : start + wanted]
    piece = np.asarray(whole, np.float64).copy()
    fade = min(len(piece) // 4, SAMPLE_RATE // 100)
    if fade:
        piece[:fade] *= np.linspace(0, 1, fade)
        piece[-fade:] *= np.linspace(1, 0, fade)
    return piece * (0.05 / max(1e-4, float(np.sqrt(np.mean(piece**2)))))


def worsened(random: Random, sound: Reals, told: list[str]) -> Reals:
    if random.random() < 0.4:
        told.append("echo")
        sound = echo(random, sound, random.uniform(0.15, 0.6))
    draw = random.random()
    if draw < 0.35:
        told.append("noise")
        sound = mixed(sound, noise(random, len(sound)), random.uniform(5, 20))
    elif draw < 0.6:
        told.append("music")
        sound = mixed(sound, music(random, len(sound)), random.uniform(5, 20))
    if random.random() < 0.25:
        told.append("telephone")
        sound = telephone(sound)
    elif random.random() < 0.25:
        told.append("low-pass")
        sound = band(sound, 60, random.uniform(3400, 6000))
    return sound


def echo(random: Random, sound: Reals, seconds: float) -> Reals:
    """Return a sound in a room whose echo falls by 60 dB in `seconds`."""
    length = round(seconds * SAMPLE_RATE)
    answer = random.standard_normal(length) * 10 ** (-3 * np.arange(length) / length)
    answer[: SAMPLE_RATE // 200] = 0
    answer *= 10 ** (random.uniform(-12, -3) / 20) / max(1e-9, float(np.sqrt(np.sum(answer**2))))
    answer[0] = 1.0
    size = 1 << (len(sound) + length - 1).bit_length()
    return np.asarray(np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(answer, size), size)[: len(sound)], np.float64)


def mixed(sound: Reals, other: Reals, ratio: float) -> Reals:
    """Return a sound with another, `ratio` dB below the sound where it is not silent."""
    loud = np.abs(sound) > 1e-4
    power = float(np.mean(sound[loud] ** 2)) if loud.any() else 1e-6
    return np.asarray(sound + other * np.sqrt(power / max(1e-12, float(np.mean(other**2))) / 10 ** (ratio / 10)), np.float64)


def noise(random: Random, length: int) -> Reals:
    """Return noise of a random colour, swelling a little."""
    spectrum = np.fft.rfft(random.standard_normal(length))
    frequency = np.maximum(np.fft.rfftfreq(length, 1 / SAMPLE_RATE), 30)
    made = np.fft.irfft(spectrum / frequency ** random.uniform(0.0, 1.0), length)
    return np.asarray(made * (1 + 0.5 * np.sin(2 * np.pi * random.uniform(0.05, 0.5) * np.arange(length) / SAMPLE_RATE)), np.float64)


def music(random: Random, length: int) -> Reals:
    """Return chords, a bass and a beat, in a key and at a pace of their own."""
    t = np.arange(length) / SAMPLE_RATE
    pace, key = random.uniform(1.5, 3.0), 110 * 2 ** (random.integers(0, 12) / 12)
    beat = np.minimum((t * pace).astype(int), 10_000)
    steps = random.choice([0, 2, 3, 5, 7, 8, 10, 12], int(beat.max()) + 1)
    made = np.zeros(length)
    for tone, loud in ((0, 1.0), (4, 0.6), (7, 0.6), (12, 0.4)):
        phase = 2 * np.pi * np.cumsum(key * 2 ** ((steps[beat] + tone) / 12)) / SAMPLE_RATE
        made += loud * sum(np.sin(k * phase) / k**1.5 for k in (1, 2, 3, 4))
    made *= np.exp(-2.0 * ((t * pace) % 1))
    return np.asarray(made + 0.3 * random.standard_normal(length) * np.exp(-25 * ((t * pace) % 1)), np.float64)


def faster(sound: Sound, speed: float) -> Sound:
    """Return a sound that is played faster, so higher, too."""
    if speed == 1:
        return sound
    return np.asarray(np.interp(np.arange(int(len(sound) / speed)) * speed, np.arange(len(sound)), sound), np.float32)


def band(sound: Reals, low: float, high: float) -> Reals:
    """Return a sound without what is below and above two frequencies (Hz)."""
    spectrum = np.fft.rfft(sound)
    frequency = np.fft.rfftfreq(len(sound), 1 / SAMPLE_RATE)
    spectrum *= 1 / (1 + (low / np.maximum(frequency, 1)) ** 4) / (1 + (frequency / high) ** 12)
    return np.asarray(np.fft.irfft(spectrum, len(sound)), np.float64)


def telephone(sound: Reals) -> Reals:
    """Return a sound as a telephone passes it: 300 to 3,400 Hz in 256 steps (µ-law)."""
    narrow = band(sound, 300, 3400)
    peak = max(1e-6, float(np.abs(narrow).max()))
    law = np.sign(narrow) * np.log1p(255 * np.abs(narrow) / peak) / np.log(256)
    law = np.round(law * 127) / 127
    return np.asarray(np.sign(law) * np.expm1(np.abs(law) * np.log(256)) / 255 * peak, np.float64)
