"""Measure the question whether a voice holds another person's utterance (`domain.questions.splits`) on simulated recordings.

    python tests/perception/outlier_voices.py [validation]

Each recording is remembered by itself. For each voice with two utterances or more: the probability that the least likely one is somebody
else's, by log-likelihood ratio and by similarity alone; whether it is; how many are asked about, and how many times the probabilities
promise "yes".
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from m3desk.bench.voices import material, rooms
from m3desk.bench.voices.hearing import Judged, found
from m3desk.bench.voices.rows import Bench, conversations
from m3desk.calibrated import calibrated
from m3desk.domain.calibration import Calibration
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import Floats
from m3desk.domain.ids import source_of
from m3desk.domain.questions.facts import LEAST
from m3desk.domain.questions.splits import outlier

CONVERSATIONS, ROOMS = {False: 30, True: 60}, {False: 10, True: 20}
"""Recordings of each kind, of validation and of calibration."""


def voices(calibrating: bool) -> Iterator[list[tuple[Judged, Floats]]]:
    """Yield the utterances with an embedding of each voice that has two or more."""
    with Bench(calibrating, CONVERSATIONS[calibrating], None) as bench:
        for kind, make in (("simulated", None), *rooms.MAKERS.items()):
            for c in conversations(bench) if make is None else conversations(bench, make, ROOMS[calibrating]):
                recording = material.spoken(f"{kind}_{c.number}", c.sound, c.turns, c.cuts)
                with bench.memory([recording], words=False) as memory:
                    judged = found(memory, [recording]).judged
                    rows = dict(zip(*memory.vectors("voice"), strict=True))
                mine: dict[str, list[tuple[Judged, Floats]]] = defaultdict(list)
                for j in judged:
                    if j.person and j.utterance.id in rows:
                        mine[j.person].append((j, rows[j.utterance.id][None]))
                yield from (v for v in mine.values() if len(v) > 1)


def asked(voice: Sequence[tuple[Judged, Floats]], rule: Calibration) -> Iterator[tuple[float, bool]]:
    """Yield the probability and the truth, by ratio and by similarity alone."""
    true = Counter(j.true for j, _ in voice)
    sources = [source_of(j.utterance.id) for j, _ in voice]
    seconds = [(j.utterance.end - j.utterance.start) / MICROSECOND for j, _ in voice]
    for one in (rule, replace(rule, evidence=None)):
        which, p = outlier([rows for _, rows in voice], sources, seconds, one)
        yield p, voice[which][0].true != max(sorted(true), key=lambda w: true[w])


def main(words: Sequence[str]) -> None:
    rule = calibrated("campplus", "voice")
    every = list(voices("validation" not in words))
    mixed = sum(len({j.true for j, _ in v}) > 1 for v in every)
    print(f"{len(every)} voices, {mixed} of several speakers")
    for name, mine in zip(("by ratio", "by similarity"), zip(*(tuple(asked(v, rule)) for v in every), strict=True), strict=True):
        p, right = np.array([m[0] for m in mine]), np.array([m[1] for m in mine])
        there = p >= LEAST
        print(
            f"{name}: {there.sum()} asked, {right[there].sum()} rightly ({p[there].sum():.1f} promised); "
            f"the least likely is another's in {right.sum()}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
