"""Takes a voice apart that two people in view speak with: two mouths, seen at once, each in step with what it says.

Voices that sound alike become one by their sound. Lips tell more where both faces are in one picture, so are surely two people: an
utterance that one of them plainly says and an utterance that the other one plainly says are two voices, which cannot be linked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from m3desk.domain.evidence import IN_STEP, IN_STEP_LEAD, FaceTrack, Floats, Utterance
from m3desk.perception.in_step import AROUND, correlations, evidence, together
from m3desk.perception.lips import RATE, LipSeries

NOBODY = -1

Pairs = Collection[tuple[str, str]]


def told_apart(
    faces: Sequence[FaceTrack],
    lips: Mapping[str, LipSeries],
    two: Pairs,
    utterances: Sequence[Utterance],
    vectors: Mapping[str, Floats],
    sound: Floats,
    from_row: int,
    end: int,
) -> tuple[tuple[Utterance, ...], frozenset[tuple[str, str]]]:
    """Return a clip's utterances, with voices taken apart that two people speak with, and pairs of utterances that are two people's.

    `two`: ids of tracks that cannot be one person's. `sound`, `from_row`: of `in_step.bands`. `end`: the clip's, in microseconds.
    What no lips tell goes to the one of them that its vector is more like.
    """
    number = {t.id: t.cluster for t in faces}
    people = {frozenset((number[a], number[b])) for a, b in two if a in number and b in number and number[a] != number[b]}
    spare = max((u.cluster for u in utterances), default=0) + 1
    voice = {u.id: u.cluster for u in utterances}
    pairs: set[tuple[str, str]] = set()
    for cluster in sorted({u.cluster for u in utterances} - {NOBODY}) if people else ():
        said = [u for u in utterances if u.cluster == cluster]
        sayer = {u.id: f for u in said if not u.overlapped and (f := _sayer(u, faces, lips, sound, from_row, end)) is not None}
        seconds: dict[int, int] = defaultdict(int)
        for u in said:
            if u.id in sayer:
                seconds[sayer[u.id]] += u.end - u.start
        order = sorted(seconds, key=lambda f, seconds=seconds: (-seconds[f], f))  # type: ignore[misc]
        parts = [f for n, f in enumerate(order) if all(frozenset((f, g)) in people for g in order[:n])]
        if len(parts) < 2:
            continue
        groups = {f: [u.id for u in said if sayer.get(u.id) == f] for f in parts}
        means = {f: _mean([vectors[u][0] for u in mine if len(vectors.get(u, ()))]) for f, mine in groups.items()}
        for u in said:
            owner = sayer.get(u.id)
            owner = owner if owner in groups else _most_like(vectors.get(u.id), means, parts[0])
            voice[u.id] = cluster if owner == parts[0] else spare + parts.index(owner) - 1
        spare += len(parts) - 1
        for n, f in enumerate(parts):
            pairs |= {(min(a, b), max(a, b)) for g in parts[:n] for a in groups[f] for b in groups[g]}
    return tuple(u if u.cluster == voice[u.id] else replace(u, cluster=voice[u.id]) for u in utterances), frozenset(pairs)


def _sayer(
    said: Utterance, faces: Sequence[FaceTrack], lips: Mapping[str, LipSeries], sound: Floats, from_row: int, end: int
) -> int | None:
    """Return the face whose lips are in step with one utterance, well ahead of every other face in view."""
    span = (said.start - AROUND, min(said.end, end) + AROUND)
    found: list[tuple[float, int]] = []
    for face in sorted({t.cluster for t in faces if t.id in lips}):
        pair = together([lips[t.id] for t in faces if t.cluster == face and t.id in lips], sound, from_row, [span])
        if pair is not None:
            found.append((round(evidence(correlations(pair), len(pair.mouth) / RATE), 3), face))
    found.sort(key=lambda one: (-one[0], one[1]))
    if not found or found[0][0] < IN_STEP or (len(found) > 1 and found[0][0] - found[1][0] < IN_STEP_LEAD):
        return None
    return found[0][1]


def _mean(rows: Sequence[Floats]) -> Floats | None:
    if not rows:
        return None
    total = np.sum(rows, axis=0)
    return np.asarray(total / max(1e-9, float(np.linalg.norm(total))), np.float32)


def _most_like(rows: Floats | None, means: Mapping[int, Floats | None], otherwise: int) -> int:
    """Return the person whose speech an utterance's vector is most like; `otherwise` where it has none or their speech has none."""
    known = (
        [(round(float(rows[0] @ mean), 6), f) for f, mean in means.items() if mean is not None] if rows is not None and len(rows) else []
    )
    return max(known, key=lambda one: (one[0], -one[1]))[1] if len(known) == len(means) and known else otherwise
