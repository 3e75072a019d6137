"""Simulated meetings heard from afar, interviews with long turns, films cut fast, montages: what a voice goes through in one recording.

In `simulated` a speaker sounds alike in all turns. Here each turn has its own distance, turn of the head (tilt of the spectrum), level that
drifts while it lasts, and pauses; others murmur meanwhile. Each is a function of a seed. Samples are 16 kHz.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from m3desk.bench.voices.simulated import Conversation, Random, Reals, mixed, noise, worsened
from m3desk.ports import SAMPLE_RATE, Sound

LENGTH = 30.0
"""Seconds of each; a montage may be shorter."""

APART = 0.6
"""Seconds at least between two cuts."""

EARLY = SAMPLE_RATE // 400
"""Samples before which a room answers nothing."""

Maker = Callable[[int, int, Mapping[str, Sequence[Sound]], Mapping[str, str]], Conversation]


def meeting(number: int, seed: int, takes: Mapping[str, Sequence[Sound]], groups: Mapping[str, str]) -> Conversation:
    """Make a meeting of 3 to 5 people around one microphone, with noise of 6 to 22 dB; arguments as of `simulated.conversation`."""
    random = np.random.default_rng((seed, number))
    people = _people(random, groups, int(random.integers(3, 6)))
    slow = random.uniform(0.25, 0.8)
    near = {p: random.uniform(-4, 8) for p in people}
    level = {p: random.uniform(-14, 0) for p in people}
    sound = np.zeros(round((LENGTH + 2) * SAMPLE_RATE))
    turns: list[tuple[float, float, str]] = []
    at, last = random.uniform(0, 0.5), ""
    while at < LENGTH - 1:
        who = str(random.choice([p for p in people if p != last]))
        seconds = float(np.clip(random.lognormal(0.9, 0.9), 0.4, 15))
        said, spans = speech(random, takes[who], min(seconds, LENGTH - 0.2 - at))
        said = drifting(random, tilted(said, random.normal(0, 4)), 2.5)
        said = heard_in(room(random, slow, near[who] + random.normal(0, 2)), said) * 10 ** ((level[who] + random.normal(0, 2)) / 20)
        _lay(sound, at, said)
        turns += [(at + a, at + b, who) for a, b in spans]
        end = at + len(said) / SAMPLE_RATE
        if seconds > 3 and random.random() < 0.4:
            other = str(random.choice([p for p in people if p != who]))
            murmur, spans = speech(random, takes[other], random.uniform(0.3, 0.8))
            when = random.uniform(at + 0.5, max(at + 0.6, end - 1))
            _lay(sound, when, heard_in(room(random, slow, near[other]), murmur) * 10 ** ((level[other] - 3) / 20))
            turns += [(when + a, when + b, other) for a, b in spans]
        at, last = max(at + 0.3, end + float(np.clip(random.normal(0.15, 0.5), -1.0, 1.5))), who
    sound = sound[: round(LENGTH * SAMPLE_RATE)]
    sound = mixed(sound, noise(random, len(sound)), random.uniform(6, 22))
    return _made(random, number, sound, turns, -25, ("meeting",))


def interview(number: int, seed: int, takes: Mapping[str, Sequence[Sound]], groups: Mapping[str, str]) -> Conversation:
    """Make a talk of one to three people in turns of mostly 3 to 18 s with pauses; arguments as of `simulated.conversation`."""
    random = np.random.default_rng((seed, number))
    people = _people(random, groups, int(random.choice([1, 2, 2, 2, 3])))
    parts: list[Reals] = [np.zeros(round(random.uniform(0, 0.5) * SAMPLE_RATE))]
    turns: list[tuple[float, float, str]] = []
    at, n = len(parts[0]) / SAMPLE_RATE, 0
    while at < LENGTH:
        who, n = people[n % len(people)], n + 1
        seconds = float(random.uniform(3, 18)) if random.random() < 0.75 else float(random.uniform(0.5, 2))
        said, spans = speech(random, takes[who], seconds, (0.2, 1.3))
        said = drifting(random, tilted(said, random.normal(0, 3)), 3.5)
        turns += [(at + a, at + b, who) for a, b in spans]
        gap = np.zeros(round(random.uniform(0.0, 0.9) * SAMPLE_RATE))
        parts += [said, gap]
        at += (len(said) + len(gap)) / SAMPLE_RATE
    sound = np.concatenate(parts)[: round(LENGTH * SAMPLE_RATE)]
    told = ["interview"]
    if random.random() < 0.6:
        sound = worsened(random, sound, told)
    return _made(random, number, sound, turns, -20, told, (), 9)


def cuts(number: int, seed: int, takes: Mapping[str, Sequence[Sound]], groups: Mapping[str, str]) -> Conversation:
    """Make a film with a hard cut every 1 to 5 s, from two to five recordings; arguments as of `simulated.conversation`.

    Each recording has one or two people and its own sound, and comes back. A cut is in the middle of a word, without a pause.
    """
    random = np.random.default_rng((seed, number))
    count = int(random.integers(2, 6))
    people = _people(random, groups, min(len(groups), 2 * count))
    told = ["cuts"]
    films: list[tuple[Reals, list[tuple[float, float, str]]]] = []
    while people and len(films) < count:
        mine, people = people[: int(random.integers(1, 3))], people[2:]
        parts: list[Reals] = []
        turns: list[tuple[float, float, str]] = []
        at = 0.0
        for n in range(8):
            said, spans = speech(random, takes[mine[n % len(mine)]], float(random.uniform(1.5, 6)))
            turns += [(at + a, at + b, mine[n % len(mine)]) for a, b in spans]
            parts += [drifting(random, said, 2.0), np.zeros(round(random.uniform(0.0, 0.6) * SAMPLE_RATE))]
            at += (len(parts[-2]) + len(parts[-1])) / SAMPLE_RATE
        films.append((worsened(random, np.concatenate(parts), told) * 10 ** (random.uniform(-6, 3) / 20), turns))
    sounds: list[Reals] = []
    turns, borders = [], []
    at, before, seen = 0.0, -1, [0.0] * len(films)
    while at < LENGTH:
        film = int(random.choice([n for n in range(len(films)) if n != before] or [0]))
        sound, said_there = films[film]
        first = seen[film]
        last = min(len(sound) / SAMPLE_RATE, first + float(random.uniform(1, 5)), first + LENGTH - at)
        seen[film] = last if last < len(sound) / SAMPLE_RATE - 1 else 0.0
        turns += [(at + max(a, first) - first, at + min(b, last) - first, who) for a, b, who in said_there if min(b, last) > max(a, first)]
        sounds.append(sound[round(first * SAMPLE_RATE) : round(last * SAMPLE_RATE)])
        at, before = at + last - first, film
        borders.append(at)
    return _made(
        random, number, np.concatenate(sounds)[: round(LENGTH * SAMPLE_RATE)], turns, -20, tuple(dict.fromkeys(told)), borders, len(borders)
    )


def montage(number: int, seed: int, takes: Mapping[str, Sequence[Sound]], groups: Mapping[str, str]) -> Conversation:
    """Make a film of 5 to 8 people who say one sentence each before the camera, one after the other; arguments as of `cuts`.

    Each shot is one sentence of 0.8 to 3.5 s with silence around it; a quarter of the people come back once. All were recorded alike.
    """
    random = np.random.default_rng((seed, number))
    people = _people(random, groups, int(random.integers(5, 9)))
    order = [str(p) for p in random.permutation([*people, *people[: len(people) // 4]])]
    parts: list[Reals] = []
    turns: list[tuple[float, float, str]] = []
    borders: list[float] = []
    at = 0.0
    for who in order:
        said = whole(random, takes[who], float(random.uniform(0.8, 3.5)))
        before, after = (np.zeros(round(random.uniform(0.1, 0.9) * SAMPLE_RATE)) for _ in range(2))
        turns.append((at + len(before) / SAMPLE_RATE, at + (len(before) + len(said)) / SAMPLE_RATE, who))
        parts += [before, drifting(random, said, 2.0), after]
        at += sum(map(len, parts[-3:])) / SAMPLE_RATE
        borders.append(at)
    told = ["montage"]
    sound = worsened(random, np.concatenate(parts), told)[: round(LENGTH * SAMPLE_RATE)]
    return _made(random, number, sound, turns, -20, told, borders)


MAKERS: Mapping[str, Maker] = {"meeting": meeting, "interview": interview, "cuts": cuts, "montage": montage}


def whole(random: Random, takes: Sequence[Sound], seconds: float) -> Reals:
    """Return a piece of one take, as long as that or the take."""
    take = takes[int(random.integers(len(takes)))]
    length = min(len(take), round(seconds * SAMPLE_RATE))
    start = int(random.integers(len(take) - length + 1))
    piece = np.asarray(take[start : start + length], np.float64).copy()
    fade = len(piece) // 8 if len(piece) < SAMPLE_RATE // 5 else SAMPLE_RATE // 100
    piece[:fade] *= np.linspace(0, 1, fade)
    piece[len(piece) - fade :] *= np.linspace(1, 0, fade)
    return np.asarray(piece * 0.05 / max(1e-4, float(np.sqrt(np.mean(piece**2)))), np.float64)


def speech(
    random: Random, takes: Sequence[Sound], seconds: float, pauses: tuple[float, float] = (0.15, 0.9)
) -> tuple[Reals, list[tuple[float, float]]]:
    """Return what somebody says for about some seconds, of one take or several with pauses, and when (seconds)."""
    parts: list[Reals] = []
    spans: list[tuple[float, float]] = []
    at, wanted = 0, round(seconds * SAMPLE_RATE)
    while at < wanted:
        take = takes[int(random.integers(len(takes)))]
        length = min(len(take), wanted - at)
        if length < SAMPLE_RATE // 4 and parts:
            break
        start = int(random.integers(len(take) - length + 1))
        piece = np.asarray(take[start : start + length], np.float64).copy()
        piece *= 0.05 / max(1e-4, float(np.sqrt(np.mean(piece**2))))
        fade = min(len(piece) // 4, SAMPLE_RATE // 100)
        piece[:fade] *= np.linspace(0, 1, fade)
        piece[len(piece) - fade :] *= np.linspace(1, 0, fade)
        parts.append(piece)
        spans.append((at / SAMPLE_RATE, (at + len(piece)) / SAMPLE_RATE))
        at += len(piece)
        if at < wanted:
            parts.append(np.zeros(round(random.uniform(*pauses) * SAMPLE_RATE)))
            at += len(parts[-1])
    return np.concatenate(parts), spans


def tilted(sound: Reals, rise: float) -> Reals:
    """Return a sound whose spectrum rises by so many dB from 1 to 8 kHz: a head that turns, a voice that is raised."""
    spectrum = np.fft.rfft(sound)
    octaves = np.clip(np.log2(np.maximum(np.fft.rfftfreq(len(sound), 1 / SAMPLE_RATE), 100) / 1000), -2, 3)
    return np.asarray(np.fft.irfft(spectrum * 10 ** (rise * octaves / 60), len(sound)), np.float64)


def drifting(random: Random, sound: Reals, spread: float) -> Reals:
    """Return a sound whose level goes up and down, once a second, by a spread in dB."""
    steps = max(2, len(sound) // SAMPLE_RATE + 2)
    course = np.interp(np.arange(len(sound)), np.linspace(0, len(sound), steps), random.normal(0, spread, steps))
    return np.asarray(sound * 10 ** (course / 20), np.float64)


def room(random: Random, seconds: float, near: float) -> Reals:
    """Return the impulse response of a room: `near` is how much louder (dB) the direct sound is than the echo."""
    length = round(seconds * SAMPLE_RATE)
    answer = random.standard_normal(length) * 10 ** (-3 * np.arange(length) / length)
    answer[:EARLY] = 0
    answer *= 10 ** (-near / 20) / max(1e-9, float(np.sqrt((answer**2).sum())))
    answer[0] = 1.0
    for _ in range(4):
        answer[int(random.integers(SAMPLE_RATE // 500, SAMPLE_RATE // 40))] += random.normal(0, 0.25)
    return np.asarray(answer, np.float64)


def heard_in(response: Reals, sound: Reals) -> Reals:
    """Return a sound as it is heard in a room."""
    size = 1 << (len(sound) + len(response) - 1).bit_length()
    return np.asarray(np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(response, size), size)[: len(sound)], np.float64)


def _people(random: Random, groups: Mapping[str, str], count: int) -> list[str]:
    """Choose people, half of the time all of one set, who were recorded under the same conditions."""
    pool = sorted(groups)
    if random.random() < 0.5:
        names = [n for n in sorted(set(groups.values())) if list(groups.values()).count(n) >= min(count, 4)]
        name = names[int(random.integers(len(names)))]
        pool = [p for p in pool if groups[p] == name]
    return [str(p) for p in random.permutation(pool)[:count]]


def _lay(sound: Reals, at: float, said: Reals) -> None:
    start = int(at * SAMPLE_RATE)
    end = min(len(sound), start + len(said))
    sound[start:end] += said[: end - start]


def _made(
    random: Random, number: int, sound: Reals, turns: Sequence[tuple[float, float, str]], least: float, told: Sequence[str],
    borders: Sequence[float] = (), more: int = 0,
) -> Conversation:  # fmt: skip
    """Return a conversation. `borders`: seconds at which sound and picture are cut; `more`: cuts besides of the picture alone."""
    loud = 10 ** (random.uniform(least, -3) / 20) / max(1e-6, float(np.abs(sound).max()))
    spans = sorted((round(a, 3), round(min(b, LENGTH), 3), who) for a, b, who in turns if a < LENGTH)
    # From numbers of its own: the sounds are the same as before there were pictures.
    alone = np.random.default_rng((number, more)).uniform(0, LENGTH, more).tolist()
    return Conversation(number, np.asarray(sound * loud, np.float32), tuple(spans), tuple(told), _seen(borders, alone))


def _seen(borders: Sequence[float], alone: Sequence[float]) -> tuple[float, ...]:
    """Return when a picture is the first of another shot, of five a second."""
    found: list[float] = []
    for at in sorted([*borders, *(m for m in alone if all(abs(m - b) > APART for b in borders))]):
        first = float(np.ceil(at * 5) / 5)
        if first < LENGTH and (not found or first > found[-1]):
            found.append(round(first, 3))
    return tuple(found)
