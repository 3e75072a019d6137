"""Reads for the window how the memory decided about people, and how right that is: walls, links, confidence, scorecard, evaluation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from m3desk.domain.ids import is_person
from m3desk.domain.insight import Belonging, VoiceLink, Wall
from m3desk.domain.questions.scorecard import Answers, Score, belonging, draw, estimate
from m3desk.errors import CorrectionError
from m3desk.store.records import Records


def walls(reader: Records) -> list[Wall]:
    """Return whom corrections keep apart, the newest first."""
    steps = {s.step: s for s in reader.journal()}
    found: dict[tuple[int, str, str], Wall] = {}
    for c in reader.constraints():
        if c.kind != "cannot" or not is_person(c.a) or not is_person(c.b) or c.step not in steps:
            continue
        try:
            a, b = sorted((reader.person(c.a).id, reader.person(c.b).id))
        except CorrectionError:  # gone, with the source that they were in
            continue
        step = steps[c.step]
        found.setdefault((c.step, a, b), Wall(c.step, step.at, step.text, step.why, a, b, c.state))
    return sorted(found.values(), key=lambda w: -w.step)


def links_of(reader: Records, person: str) -> list[VoiceLink]:
    """Return the pairs of a face and a voice with votes of which this person has at least one, joined ones first."""
    p = reader.person(person)
    mine = {*p.faces, *p.voices}
    found = []
    for e in reader.equivalences():
        if e.face and e.voice and mine & {e.face, e.voice}:
            by: dict[str, float] = defaultdict(float)
            for _, who, weight in e.votes:
                by[who] += weight
            found.append(VoiceLink(e.face, e.voice, e.weight, tuple(sorted(by.items(), key=lambda v: -v[1])), e.accepted))
    return sorted(found, key=lambda link: (not link.joined, -link.weight))


def belonging_of(reader: Records, person: str) -> Belonging:
    """Return how sure it is that a person's faces and utterances belong together. Raises CorrectionError if there is nobody of this id."""
    return belonging(reader.own_pairs(person))


def pairs(reader: Records, count: int) -> list[tuple[str, str]]:
    """Return the pairs of observations that a scorecard asks about."""
    return draw(reader.scorecard(), count)


def score(reader: Records, answers: Answers) -> Score:
    """Return precision and recall of this memory's identities by these answers."""
    return estimate(reader.scorecard(), answers)


def evaluate(reader: Records, files: Sequence[str]) -> dict[str, Any]:
    """Return the report of `m3desk evaluate identity`. Raises M3DeskError for a file that is no truth, or not of this memory."""
    from m3desk.evaluation import identity
    from m3desk.evaluation.truth import read_truths

    with reader.snapshot():
        return identity.evaluate(reader, read_truths(files))
