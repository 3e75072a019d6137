"""When votes link a voice to a face: how votes are weighted and which sum is enough. Pure.

There are two kinds of votes. *Physical* votes come from where faces are, how mouths move and when voices are heard. *Opinions* come from
text: a vote of the memory writer, a name that is both heard and read. Text on screen or speech in a film can cause an opinion, so
opinions alone never link: they only add a little to physical votes (memory.md: hostile captions and speech never confirm, merge or
link).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

SUFFICIENT = 1.0
"""Summed weight of votes of one clip that links a face and a voice by itself (lips in step, or alone in view, for seconds on end)."""

WEAK = 0.3
"""Summed weight that makes a clip count as one of two independent clips."""

TOGETHER = 0.8
"""Summed weight that two or more such clips must reach."""

LEAD = 1.5
"""How many times the runner-up's votes the best face must have."""

MATE = 3.0
"""A face that has a voice gets a second one (the same voice, split in two by a poor recording) only for votes that come to a third of the
first's: else a narrator, who speaks once over somebody's silent picture, would become them."""

PHYSICAL = frozenset({"lips in step", "alone in view", "lips", "lips in turn", "in turn", "mouth still"})
"""`by` of physical votes, cast by memorization.speaking. Any other name is an opinion."""

SAME_NAME = "named alike"

WRITER = "writer "
"""What `by` of an opinion of a model that watches begins with, whatever the model is called."""

IN_FULL = ("m3-agent", "consolidation")
"""What begins so counts in full too: the equivalences of a foreign graph are that graph's facts, and consolidation (domain.consolidation)
compares how nodes of one kind look or sound."""

OPINIONS = 0.25
"""How much of a clip's physical votes opinions may add: with them 0.8 of what links is enough, without physical votes nothing is."""

HEAVIEST = 2.0
"""Most that one vote counts, for and against."""

COMPANY = 0.25
"""Of all that a voice says, in any clip, while any face is in view: the part with this face in view, at least. A narrator may once
be heard over one person alone, for seconds; over a whole film there are many. A lecture whose pictures are slides loses nothing."""

Cast = tuple[str, str, float]
"""One vote for a pair of nodes: clip, who votes, weight."""


def weigh(cast: Iterable[Cast]) -> dict[str, float]:
    """Return clip → the weighted sum of the votes of a pair, in order of first votes."""
    physical: dict[str, float] = defaultdict(float)
    opinions: dict[str, float] = defaultdict(float)
    for clip, by, weight in cast:
        counts = by in PHYSICAL or by.startswith(IN_FULL)
        physical[clip] += 0.0
        (physical if counts else opinions)[clip] += max(-HEAVIEST, min(HEAVIEST, weight)) if math.isfinite(weight) else 0.0
    return {clip: round(sure + min(max(0.0, opinions[clip]), OPINIONS * max(0.0, sure)), 6) for clip, sure in physical.items()}


ClipSpan = tuple[str, int, int]
"""When somebody speaks or is in view: clip, start, end (microseconds)."""


def company(said: Iterable[ClipSpan], seen: Mapping[str, Sequence[tuple[int, int, bool]]]) -> float:
    """Return the part of a voice's time in company of any face in which it is in that of one; 1 where it never is in company.

    seen: clip → (start, end, whether it is that face) of all that are in view there.
    """
    together = anybody = 0
    for clip, start, end in said:
        faces = seen.get(clip, ())
        anybody += covered(start, end, ((a, b) for a, b, _ in faces))
        together += covered(start, end, ((a, b) for a, b, mine in faces if mine))
    return together / anybody if anybody else 1.0


def covered(start: int, end: int, spans: Iterable[tuple[int, int]]) -> int:
    """Return how much of [start, end) any of the spans covers."""
    total, at = 0, start
    near = [s for s in spans if s[0] < end and s[1] > start]
    if len(near) > 1:
        near.sort()
    for a, b in near:
        total += max(0, min(b, end) - max(a, at))
        at = max(at, min(b, end))
    return total


def enough(by_clip: Mapping[str, float], runner_up: float) -> bool:
    """Return whether the votes for a face–voice pair (summed by clip) link them: strong, or from two clips, and well ahead of the next."""
    return enough_in_all(in_all(by_clip.values()), runner_up)


Sums = tuple[float, float, int]
"""Sums of the votes for a pair: total, the largest clip (0 at least), and the number of supporting clips."""

NO_VOTES: Sums = (0.0, 0.0, 0)


def in_all(weights: Iterable[float], before: Sums = NO_VOTES) -> Sums:
    """Sum up the votes of clips. `before`: of the clips before these, so that those needn't be summed again.

    One by one: `sum` adds floats in ways that differ between Python versions and can't be gone on with.
    """
    total, greatest, supporting = before
    for weight in weights:
        total += weight
        greatest = max(greatest, weight)
        supporting += weight >= WEAK
    return total, greatest, supporting


def in_total(cast: Iterable[Cast], before: float = 0.0) -> float:
    """Return the weights of votes added up as they were cast. `before`: of the votes before these."""
    for _, _, weight in cast:
        before += weight
    return before


def enough_in_all(sums: Sums, runner_up: float) -> bool:
    """The same as `enough`, for sums."""
    total, greatest, supporting = sums
    if total <= 0 or total < LEAD * max(0.0, runner_up):
        return False
    return (total >= SUFFICIENT and greatest >= SUFFICIENT) or (supporting >= 2 and total >= TOGETHER)
