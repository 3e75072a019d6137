"""Precision and recall of a memory's identities, estimated from a few pairs that a user labels. Pure.

Precision: of all pairs of observations of one kind (two face tracks, two utterances) that the memory assigns to one person, the share that
is one person. Recall: of all pairs that are one person, the share that the memory assigns to one.

**Which pairs are asked.** Both sides (assigned to one person, assigned to two) are divided into strata by the probability that the memory
is wrong, with bounds at equal sums of the standard deviation √(p(1−p)) (Dalenius and Hodges 1959). Half of the questions go to each side,
within it to strata by the same sum (Neyman's allocation), at least one each; within a stratum pairs are drawn at random, with a fixed seed.

**How the answers are used.** The share of wrong pairs of a stratum is estimated from its answers with a prior from the similarities:
Beta(½, ½/expected), which has the expected mean and the width of Jeffreys' prior, mixed with 1 % of Jeffreys' prior itself, so that an
answer that the similarities make almost impossible counts in full. Pairs that were not asked are drawn from the posterior (a finite
population: when all pairs are answered the interval is a point). The 2.5 %, 50 % and 97.5 % quantiles of DRAWS such draws are the interval
and the value. tests/domain/test_scorecard.py measures how often the interval holds the true value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.calibration import Calibration
from m3desk.domain.evidence import Floats
from m3desk.domain.insight import Belonging
from m3desk.domain.log import ObservationType

STRATA = 3
DRAWS = 4000
DOUBT = 0.01
"""Prior weight of the case that the similarities are misleading."""

LEAST = 0.01
"""Least expected share of wrong pairs among those assigned to one person."""

MISSED = 0.05
"""Least expected number of missed pairs, as a share of those assigned to one person."""

WIDTH, LIFT = 0.75, 1.9
"""In margins of the model (`Calibration.margin`): similarity per unit of log odds, and how much less (more) similarity two observations
assigned to one person (two persons) need to be one person: a binding rests on more than these two embeddings."""

MOST = 1200
"""Most observations of one kind that are used; of more, so many are drawn at random."""

LEAST_SHOWN = 6
"""Observations of a person that are named because they fit the others least."""

Interval = tuple[float, float, float]
Answers = Mapping[tuple[str, str], bool]
"""(a, b) in the order of their ids → one person?"""


@dataclass(frozen=True, slots=True)
class OwnedObservation:
    """An observation that belongs to somebody. `mean`: (d,) unit row, None where it has no vector."""

    id: str
    type: ObservationType
    person: str
    mean: Floats | None


@dataclass(frozen=True, slots=True)
class Score:
    """Precision and recall as (low, value, high) with 95 %; None if unknown. `answered`: the number of labelled pairs."""

    precision: Interval | None
    recall: Interval | None
    answered: int


@dataclass(frozen=True, slots=True)
class Card:
    """All pairs of a memory. `a`, `b`: places in `ids`; `same`: assigned to one person; `likely`: probability of one person; (n,) each."""

    ids: tuple[str, ...]
    a: NDArray[np.intp]
    b: NDArray[np.intp]
    same: NDArray[np.bool_]
    likely: NDArray[np.float64]

    def pair(self, i: int) -> tuple[str, str]:
        first, second = sorted((self.ids[self.a[i]], self.ids[self.b[i]]))
        return first, second


def card(items: Sequence[OwnedObservation], rules: Mapping[ObservationType, Calibration], seed: int = 0) -> Card:
    """Return the pairs of a memory's observations, kind by kind, with how likely each is one person."""
    ids: list[str] = []
    parts: list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_], NDArray[np.float64]]] = []
    for type_ in ("face", "voice"):
        mine = sorted((i for i in items if i.type == type_), key=lambda i: i.id)
        if len(mine) > MOST:
            mine = [mine[i] for i in sorted(np.random.default_rng(seed).choice(len(mine), MOST, replace=False))]
        a, b = np.triu_indices(len(mine), 1)
        people = np.array([i.person for i in mine])
        same = people[a] == people[b] if len(mine) else np.zeros(0, np.bool_)
        parts.append((a + len(ids), b + len(ids), same, _likely(mine, a, b, same, rules.get(type_))))
        ids += [i.id for i in mine]
    whole = [np.concatenate([p[i] for p in parts]) for i in range(4)]
    return Card(tuple(ids), whole[0], whole[1], whole[2], whole[3])


def _likely(
    items: Sequence[OwnedObservation], a: NDArray[np.intp], b: NDArray[np.intp], same: NDArray[np.bool_], rule: Calibration | None
) -> NDArray[np.float64]:
    """Return the probability that each pair is one person. If a vector is missing: the mean of pairs (not) assigned to one person."""
    known = [i.mean for i in items if i.mean is not None]
    if rule is None or not known:
        return np.where(same, 0.9, 0.02)
    d = len(known[0])
    rows = np.stack([i.mean if i.mean is not None and len(i.mean) == d else np.zeros(d, np.float32) for i in items])
    present = np.array([i.mean is not None and len(i.mean) == d for i in items])
    like = np.round((rows @ rows.T)[a, b].astype(np.float64), 6)
    people, place = np.unique([i.person for i in items], return_inverse=True)
    if len(people) > 1:  # two persons may be one although these two observations are dissimilar
        totals = np.stack([rows[place == k].sum(0) for k in range(len(people))])
        totals /= np.maximum(np.linalg.norm(totals, axis=1, keepdims=True), 1e-9)
        like = np.where(same, like, np.maximum(like, np.round((totals @ totals.T)[place[a], place[b]], 6)))
    p = 1.0 / (1.0 + np.exp(np.clip((rule.accept - like + rule.margin * np.where(same, -LIFT, LIFT)) / (rule.margin * WIDTH), -50, 50)))
    return np.where(present[a] & present[b], p, np.where(same, 0.9, 0.02))


# ---------------------------------------------------------------- which pairs to ask


def strata(of: Card) -> list[NDArray[np.intp]]:
    """Return the strata, as places of pairs: first those held for one person, then the others, each from sure to doubtful."""
    found = []
    for held in (True, False):
        places = np.flatnonzero(of.same == held)
        spread = np.sqrt(of.likely[places] * (1 - of.likely[places])) + 1e-6
        wrong = 1 - of.likely[places] if held else of.likely[places]
        order = np.lexsort((places, wrong))
        level = np.minimum((np.cumsum(spread[order]) / max(float(spread.sum()), 1e-9) * STRATA).astype(int), STRATA - 1)
        found += [np.sort(places[order[level == k]]) for k in range(STRATA)]
    return found


def draw(of: Card, count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Return the pairs to ask, in random order; all of them where there are no more."""
    rng = np.random.default_rng(seed)
    parts = strata(of)
    chosen: list[int] = []
    for side, number in zip((parts[:STRATA], parts[STRATA:]), _halves(parts, count), strict=True):
        for places, n in zip(side, _allocate(of, side, number), strict=True):
            chosen += [int(i) for i in rng.choice(places, n, replace=False)] if n else []
    return [of.pair(chosen[i]) for i in rng.permutation(len(chosen))]


def _halves(parts: Sequence[NDArray[np.intp]], count: int) -> tuple[int, int]:
    one, two = (sum(len(p) for p in side) for side in (parts[:STRATA], parts[STRATA:]))
    first = min(one, max(count // 2, count - two))
    return first, min(two, count - first)


def _allocate(of: Card, side: Sequence[NDArray[np.intp]], count: int) -> list[int]:
    """Share out questions: one to each stratum as far as they go, then to where a question takes most of the spread away."""
    spread = [float(np.sqrt(of.likely[p] * (1 - of.likely[p])).sum()) for p in side]
    given = [0] * len(side)
    for _ in range(count):
        open_ = [k for k, p in enumerate(side) if given[k] < len(p)]
        if not open_:
            break
        empty = [k for k in open_ if given[k] == 0]
        best = max(empty or open_, key=lambda k: (spread[k] / (given[k] + 0.5), k))
        given[best] += 1
    return given


# ---------------------------------------------------------------- one person


def belonging(of: Card) -> Belonging:
    """Return how sure it is that the observations of one person, of whom all pairs of `of` are, belong together."""
    if not len(of.likely):
        return Belonging(None, 0)
    total, count = np.zeros(len(of.ids)), np.zeros(len(of.ids), np.intp)
    for end in (of.a, of.b):
        np.add.at(total, end, of.likely)
        np.add.at(count, end, 1)
    mean = np.divide(total, count, out=np.ones(len(of.ids)), where=count > 0)
    worst = [i for i in np.argsort(mean, kind="stable") if count[i]][:LEAST_SHOWN]
    return Belonging(float(of.likely.mean()), len(of.likely), tuple((of.ids[i], float(mean[i])) for i in worst))


# ---------------------------------------------------------------- the estimate


def estimate(of: Card, answers: Answers, seed: int = 0) -> Score:
    """Return precision and recall by the answers; pairs without an answer count as not drawn."""
    rng = np.random.default_rng(seed)
    parts = strata(of)
    held = sum(len(p) for p in parts[:STRATA])
    place = {of.pair(i): i for i in _answered(of, answers)}
    replies = {i: answers[pair] for pair, i in place.items()}
    right, missed = np.full(DRAWS, float(held)), np.zeros(DRAWS)
    for k, places in enumerate(parts):
        one = k < STRATA
        known = [replies[i] for i in places.tolist() if i in replies] if replies else []
        wrong = sum(1 for same in known if same != one)
        expected = float((1 - of.likely[places] if one else of.likely[places]).mean()) if len(places) else 0.0
        least = LEAST if one else MISSED * held / max(1, sum(len(p) for p in parts[STRATA:]))
        bad = wrong + _unasked(rng, len(places) - len(known), len(known), wrong, min(0.9, max(expected, least, 1e-9)))
        if one:
            right -= bad
        else:
            missed += bad
    true = right + missed
    precision = _interval(right / held) if held else None
    recall = _interval(np.divide(right, true, out=np.ones(DRAWS), where=true > 0)) if len(of.same) else None
    return Score(precision, recall, len(replies))


def _answered(of: Card, answers: Answers) -> list[int]:
    """Return the places of the pairs that were answered."""
    at = {id_: i for i, id_ in enumerate(of.ids)}
    wanted = {tuple(sorted((at[a], at[b]))) for a, b in answers if a in at and b in at}
    if not wanted:
        return []
    n = len(of.ids)
    codes = np.minimum(of.a, of.b) * n + np.maximum(of.a, of.b)
    return np.flatnonzero(np.isin(codes, [a * n + b for a, b in wanted])).tolist()


def _unasked(rng: np.random.Generator, rest: int, asked: int, wrong: int, expected: float) -> NDArray[np.float64]:
    """Draw how many of the pairs that were not asked are wrong."""
    if rest <= 0:
        return np.zeros(DRAWS)
    first, second = (0.5, 0.5 / expected), (0.5, 0.5)
    odds = math.log(DOUBT / (1 - DOUBT)) + _evidence(*second, asked, wrong) - _evidence(*first, asked, wrong)
    misled = rng.random(DRAWS) < 1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, odds))))
    shares = np.where(
        misled, rng.beta(second[0] + wrong, second[1] + asked - wrong, DRAWS), rng.beta(first[0] + wrong, first[1] + asked - wrong, DRAWS)
    )
    return rng.binomial(rest, shares).astype(np.float64)


def _evidence(a: float, b: float, asked: int, wrong: int) -> float:
    """Return the log probability of the answers under a Beta prior."""

    def beta(x: float, y: float) -> float:
        return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)

    return beta(a + wrong, b + asked - wrong) - beta(a, b)


def _interval(values: NDArray[np.float64]) -> Interval:
    low, middle, high = (round(float(q), 4) for q in np.quantile(values, (0.025, 0.5, 0.975)))
    return low, middle, high
