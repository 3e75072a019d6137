"""The diarization error rate (who spoke when), computed by pyannote.metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from m3desk.domain.clip import MICROSECOND
from m3desk.errors import BackendMissing

COLLAR = 0.25
"""Seconds left out on either side of each border of the truth, as NIST and `models.md` do (pyannote.metrics takes the whole width)."""

SpeakerTurn = tuple[int, int, str]
"""Start, end (microseconds), who."""


@dataclass(frozen=True, slots=True)
class Diarization:
    """One source: true and found speech turns, and the scored time spans. Microseconds.

    `nobody`: names in `found` for speech assigned to nobody; they are not counted as speakers.
    """

    source: str
    true: tuple[SpeakerTurn, ...]
    found: tuple[SpeakerTurn, ...]
    scored: tuple[tuple[int, int], ...]
    nobody: frozenset[str] = frozenset()


def error_rates(heard: Sequence[Diarization]) -> dict[str, Any]:
    """Return the error rate over sources (overlap counted): with the collar and without, by part, by source, and with one naming for all.

    People are matched to the truth's source by source, as everywhere in the field; in `der_one_naming` a person must be the same true
    person in every source. Shares of the true speech; null where nothing counts. Raises BackendMissing without pyannote.metrics.
    """
    pyannote = _pyannote()
    ways = {"collar": 2 * COLLAR, "no_collar": 0.0}
    rates = {name: pyannote.rate(collar=width, skip_overlap=False) for name, width in ways.items()}
    rows = []
    for h in heard:
        row = {name: _score(pyannote, rate, h) for name, rate in rates.items()}
        rows.append({
            "source": h.source, "der": _share(row["collar"]), "der_no_collar": _share(row["no_collar"]),
            "speakers": len(_within(h.true, h.scored)), "speakers_found": len(_within(h.found, h.scored) - h.nobody),
        })  # fmt: skip
    sums = {name: _sum(rate) for name, rate in rates.items()}
    return {
        "der": _share(sums["collar"]),
        "der_no_collar": _share(sums["no_collar"]),
        "der_one_naming": _share(_score(pyannote, pyannote.rate(collar=2 * COLLAR, skip_overlap=False), _one_after_another(heard))),
        "der_parts": _parts(sums["collar"]),
        "der_parts_no_collar": _parts(sums["no_collar"]),
        "der_files": rows,
    }


@dataclass(frozen=True, slots=True)
class _Pyannote:
    annotation: Any
    segment: Any
    timeline: Any
    rate: Any


def _pyannote() -> _Pyannote:
    try:
        from pyannote.core import Annotation, Segment, Timeline
        from pyannote.metrics.diarization import DiarizationErrorRate
    except ImportError as error:
        raise BackendMissing(
            "the diarization error rate needs pyannote.metrics, which is not installed.", "Install it: pip install 'm3desk[evaluate]'."
        ) from error
    return _Pyannote(Annotation, Segment, Timeline, DiarizationErrorRate)


def _score(p: _Pyannote, rate: Any, h: Diarization) -> dict[str, float]:
    spans = p.timeline([_segment(p, a, b) for a, b in h.scored])
    detail: dict[str, float] = rate(_annotation(p, h.true), _annotation(p, h.found), uem=spans, detailed=True)
    return detail


def _annotation(p: _Pyannote, turns: Sequence[SpeakerTurn]) -> Any:
    made = p.annotation()
    for number, (start, end, who) in enumerate(sorted(turns)):
        if end > start:
            made[_segment(p, start, end), number] = who
    return made.support()  # a person who is written twice at one moment speaks once


def _segment(p: _Pyannote, start: int, end: int) -> Any:
    return p.segment(start / MICROSECOND, end / MICROSECOND)


def _within(turns: Sequence[SpeakerTurn], scored: Sequence[tuple[int, int]]) -> set[str]:
    """Return the speech turns within the scored spans."""
    return {who for start, end, who in turns if any(min(end, b) > max(start, a) for a, b in scored)}


def _sum(rate: Any) -> dict[str, float]:
    return {name: float(rate[name]) for name in ("total", *_PARTS)}


_PARTS = ("false alarm", "missed detection", "confusion")


def _share(detail: dict[str, float]) -> float | None:
    return round(sum(detail[p] for p in _PARTS) / detail["total"], 4) if detail["total"] else None


def _parts(detail: dict[str, float]) -> dict[str, float | None]:
    total = detail["total"]
    shares = {name.replace(" ", "_").removesuffix("_detection"): round(detail[name] / total, 4) if total else None for name in _PARTS}
    return {**shares, "seconds": round(total, 3)}


def _one_after_another(heard: Sequence[Diarization]) -> Diarization:
    """Return all sources on one time line with gaps between, so that a person has one name in all of them."""
    true: list[SpeakerTurn] = []
    found: list[SpeakerTurn] = []
    scored: list[tuple[int, int]] = []
    begin = 0
    for h in heard:
        true += [(begin + a, begin + b, p) for a, b, p in h.true]
        found += [(begin + a, begin + b, p) for a, b, p in h.found]
        scored += [(begin + a, begin + b) for a, b in h.scored]
        begin += max([*(s[1] for s in (*h.true, *h.found)), *(b for _, b in h.scored)], default=0) + 60 * MICROSECOND
    return Diarization("all", tuple(true), tuple(found), tuple(scored))
