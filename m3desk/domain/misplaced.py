"""Finds what a clip's clusters hold that is clearly another known person's, which the clip alone could not show. Pure and deterministic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby, permutations
from operator import attrgetter

import numpy as np

from m3desk.domain.calibration import Calibration
from m3desk.domain.evidence import FaceTrack, Perceived
from m3desk.domain.identities import Identities
from m3desk.domain.identity import Candidate, Gallery, match, mean_of, top_similarity

MISPLACED = 2.5
"""How much more similar an utterance must be to a known voice than to its cluster to be taken out of it, in leads of the model
(`Calibration.margin`). Measured with the rectified CAM++, whose lead is .06, on 330 utterances of librispeech (three orders), the reel, AMI
and katie_steve: all but one at most .01 more like any other voice, the wrong one .28."""


def utterances(perceived: Perceived, known: Sequence[Gallery], rule: Calibration) -> set[str]:
    """Return the utterances that match another known voice than the rest of their cluster."""
    clusters: dict[int, list[str]] = {}
    for u in perceived.utterances:
        if len(perceived.vectors.get(u.id, ())):
            clusters.setdefault(u.cluster, []).append(u.id)
    found: set[str] = set()
    for mine in clusters.values():
        for o in mine if len(mine) > 1 else ():
            row = perceived.vectors[o][0]
            there = [g.direction for g in known if len(g.vectors) and g.vectors.shape[1] == len(row)]
            own = round(float(row @ mean_of(np.stack([perceived.vectors[p][0] for p in mine if p != o]))), 6)
            best = max((round(float(row @ m), 6) for m in there), default=-1.0)
            if best >= rule.accept and best >= own + MISPLACED * rule.margin:
                found.add(o)
    return found


def tracks(perceived: Perceived, known: Sequence[Gallery], rule: Calibration, who: Identities) -> set[str]:
    """Return the face tracks that match another person than most of their cluster, and that do not match the rest of it.

    Within a clip, less similarity joins two tracks than joins a track with a person, since pose and light change from shot to shot. So
    a brother and a sister may become one cluster. Each track goes to its own person where these are known to be two: a user named them
    differently, or a cannot-link keeps them apart. All others stay together: that a clip joins them is evidence that they are one
    (`domain.consolidation`).
    """
    with_rows = [t for t in perceived.faces if len(perceived.vectors.get(t.id, ()))]
    rows = perceived.vectors
    groups = []
    for _, group in groupby(sorted(with_rows, key=attrgetter("cluster")), key=attrgetter("cluster")):
        mine = list(group)
        if any(top_similarity(rows[a.id], rows[b.id]) < rule.accept for a, b in permutations(mine, 2)):  # else all match each other
            groups.append(mine)
    person_of = {g.node: g.person for g in known}
    asking = [Candidate((t.id,), rows[t.id], t.end - t.start, t.quality) for mine in groups for t in mine]
    found_as = match(asking, known, (), rule, who.distinct) if asking else []
    owner = {c.observations[0]: person_of[m.node] for c, m in zip(asking, found_as, strict=True) if m.node is not None}
    found: set[str] = set()
    for mine in groups:
        owned = {t.id: owner[t.id] for t in mine if t.id in owner}
        if len(set(owned.values())) < 2:
            continue
        most = max(sorted(set(owned.values())), key=lambda p: _seconds(t for t in mine if owner.get(t.id) == p))
        rest = np.concatenate([rows[t] for t, p in owned.items() if p == most])
        two = {p for p in set(owned.values()) if (p, most) in who.distinct or who.named_apart(p, most)}
        found |= {t for t, p in owned.items() if p in two and top_similarity(rows[t], rest) < rule.accept}
    return found


def regrouped(perceived: Perceived, groups: Iterable[Sequence[str]]) -> Perceived:
    """Return a clip's evidence with the clusters that were taken apart as clusters of their own: what its sentences are written from.

    `groups`: the observations of each cluster, faces and voices; the first group of a cluster keeps its number.
    """
    number = {t.id: t.cluster for t in perceived.faces} | {u.id: u.cluster for u in perceived.utterances}
    taken: dict[str, set[int]] = {"face": set(), "voice": set()}
    free = max(number.values(), default=0) + 1
    faces = {t.id for t in perceived.faces}
    for group in groups:
        mine = [o for o in group if o in number]
        if not mine:
            continue
        cluster = number[mine[0]]
        used = taken["face" if mine[0] in faces else "voice"]
        if cluster in used:
            number.update(dict.fromkeys(mine, free))
            free += 1
        used.add(cluster)
    return replace(
        perceived,
        faces=tuple(t if t.cluster == number[t.id] else replace(t, cluster=number[t.id]) for t in perceived.faces),
        utterances=tuple(u if u.cluster == number[u.id] else replace(u, cluster=number[u.id]) for u in perceived.utterances),
    )


def _seconds(tracks: Iterable[FaceTrack]) -> int:
    return sum(t.end - t.start for t in tracks)
