"""Thresholds for a face or voice model that nobody has calibrated: those of a calibrated one, moved to cosines that are as strict. Pure.

Both models compare the same labelled material. A threshold of the reference becomes the cosine that as many pairs of different people
reach. Beyond what so few pairs can show, it lies as many spreads above them as with the reference. So a user's material, which is easier
than a film, does not loosen anything: it is as easy for both. A lead is multiplied by the ratio of the spreads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.calibration import STEEP, Calibration, Evidence
from m3desk.domain.log import ObservationType

PEOPLE, SAMED, DIFFERENT = 8, 10, 400
"""Least people, pairs of files of one person (to see that it is found), and pairs of samples of two (from which the thresholds come).

With 8 of 42 people, drawn 30 times, `accept` of GE2E varied by .038 (standard deviation), with 20 by .014. These are people of validation
material (`speech2`), and an early run on it is why the map beyond the data (`Move.level`) is one of arctanh: it is not untouched.
"""

LEAST_RATIO = 0.01
"""Least ratio of the spreads of two models' similarities: leads are rounded to .0001, so that less leaves none of them."""

REFERENCE_STEEP = 0.69 * STEEP
"""Log-likelihood ratio per unit of cosine of the voice model that is compared with. Its cosines of strangers vary by .133, those of the
rectified CAM++ that STEEP was chosen for by .092 (`tests/perception/calibrate_voices.py`, means of pieces of two recordings)."""

TAIL = 20
"""Pairs that must lie above a quantile for it to be taken from them."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The similarities of n pairs by both models, (n,) float64 each; `one`: (n,) whether a pair is one person."""

    reference: NDArray[np.float64]
    model: NDArray[np.float64]
    one: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Move:
    """The map of one kind of similarity from the reference to the model, from pairs of different people.

    `reference`, `model`: their sorted similarities; `ratio`: of the spreads of the upper halves.
    """

    reference: NDArray[np.float64]
    model: NDArray[np.float64]

    @classmethod
    def of(cls, pairs: Pairs) -> Move:
        return cls(*(np.clip(np.sort(s[~pairs.one]), -0.999, 0.999) for s in (pairs.reference, pairs.model)))

    @property
    def ratio(self) -> float:
        return _spread(self.model) / max(_spread(self.reference), 1e-6)

    def level(self, cosine: float) -> float:
        """Return the similarity of the model that is as strict as one of the reference."""
        count = len(self.reference)
        above = count - int(np.searchsorted(self.reference, cosine))
        if above >= TAIL:
            return float(np.quantile(self.model, 1 - above / count))
        last = 1 - TAIL / count
        anchor, mine = (np.arctanh(np.quantile(s, last)) for s in (self.reference, self.model))
        ratio = _spread(np.arctanh(self.model)) / max(_spread(np.arctanh(self.reference)), 1e-6)
        return float(np.tanh(mine + (np.arctanh(cosine) - anchor) * ratio))


def _spread(similarities: NDArray[np.float64]) -> float:
    """Return the spread of the upper half: the root mean square distance from the median."""
    middle = float(np.median(similarities))
    above = similarities[similarities > middle]
    return float(np.sqrt(np.mean((above - middle) ** 2))) if len(above) else 0.0


LEVELS = ("accept", "accept_long", "several", "carried", "asked")
OF_NODES = ("similar", "equal_odds", "sure", "split_below")
LEADS = ("margin", "several_margin", "carried_margin", "asked_margin", "blurred", "faint")


def moved(rule: Calibration, type_: ObservationType, clusters: Pairs, nodes: Pairs) -> Calibration:
    """Return the calibration of a model from that of the reference. `clusters`: similarities as binding compares; `nodes`: of unit means.

    Faces are compared by their best rows in both. Without statistics of its own (`within`, `across`) a voice model is compared by the
    cosine alone. Raises ValueError for a model that does not tell these people apart.
    """
    by_cluster, by_node = Move.of(clusters), Move.of(clusters if type_ == "face" else nodes)
    if not all(move.ratio >= LEAST_RATIO for move in (by_cluster, by_node)):  # also of what is no number
        raise ValueError("all of its similarities are the same")
    changed: dict[str, Any] = {}
    for names, move in ((LEVELS, by_cluster), (OF_NODES, by_node)):
        changed |= {n: round(move.level(t), 3) for n in names if (t := getattr(rule, n)) is not None}
    changed |= {n: round(getattr(rule, n) * by_cluster.ratio, 4) for n in LEADS}
    if type_ == "voice":
        changed["stray"] = round(by_cluster.level(rule.stray), 3)
    if rule.doubt is not None:
        changed["doubt"] = (round(by_node.level(rule.doubt[0]), 3), round(rule.doubt[1] * by_node.ratio, 4))
    if not 0 < changed["accept"] < 1:
        raise ValueError("its similarities leave no room for a threshold")
    steep = REFERENCE_STEEP / by_node.ratio
    evidence = Evidence((round(-steep * changed["equal_odds"], 3), round(steep, 3), 0.0, 0.0, 0.0, 0.0)) if type_ == "voice" else None
    return replace(rule, **changed, measured=True, evidence=evidence, within=None, across=None, space=None)


__all__ = ["DIFFERENT", "PEOPLE", "SAMED", "Move", "Pairs", "moved"]
