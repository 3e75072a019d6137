"""Labels each face track and utterance of a memory with its true person: by overlap in time, and of boxes where the truth has them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath

from m3desk.domain.clip import MICROSECOND, Source
from m3desk.domain.evidence import Box, FaceTrack, Utterance
from m3desk.domain.geometry import iou, overlap
from m3desk.errors import M3DeskError, UsageError
from m3desk.evaluation.truth import Sight, TrueTurn, Truth

NEAR = MICROSECOND * 3 // 10
"""A track's box this near in time stands for the track at a truth's moment (memories look 5 times a second)."""

SAME_BOX = 0.3
"""Intersection over union from which two detectors' boxes are one face (measured on the 40 boxes of webrtc_two_men: the right track .39
or more, half of them .87 or more; any other track 0)."""

MOSTLY = 0.5
"""The share of an observation that must be one person's by the truth."""


@dataclass(frozen=True, slots=True)
class Local:
    """The ground truth of one source of the memory."""

    turns: tuple[TrueTurn, ...]
    sights: tuple[Sight, ...]
    unclear: tuple[tuple[int, int], ...]
    spoken: bool


def by_source(truth: Truth, sources: Sequence[Source], only: str | None = None) -> dict[str, Local]:
    """Return the ground truth of each source it names; with `only`, of that source, which a truth of one file need not name.

    Raises M3DeskError if it names no source or two sources have the same name, UsageError if there is no source `only`.
    """
    if only is not None:
        if not any(s.id == only for s in sources):
            raise UsageError(f"there is no source {only} in this memory.", "See: m3desk sources list.")
        if len(files := truth.files()) == 1:
            return {only: _local(truth, files.pop())}
        sources = [s for s in sources if s.id == only]
    of: dict[str, str] = {}
    for s in sources:
        for name in names(s.uri):
            if of.get(name, s.id) != s.id:
                of[name] = ""
            of.setdefault(name, s.id)
    found: dict[str, Local] = {}
    for file in sorted(truth.files()):
        id_ = of.get(file) if file in of else of.get(_stem(file))
        if id_ == "":
            raise M3DeskError(f"two sources of this memory are called {file}.", "Give files different names, or evaluate two memories.")
        if id_ is not None:
            found[id_] = _join(found.get(id_), _local(truth, file))
    if not found:
        wanted, there = ", ".join(sorted(truth.files())[:5]), ", ".join(_name(s.uri) for s in sources[:5])
        raise M3DeskError(
            f"the truth names no source of this memory: it names {wanted or 'no file'}, the memory holds {there or 'nothing'}.",
            "A truth file must name a source's file, with or without extension.",
        )
    return found


def names(uri: str) -> tuple[str, ...]:
    """Return the names by which a truth may call a source: file name, the same without ending, and that with `_` for spaces (RTTM)."""
    name = _name(uri)
    return tuple(dict.fromkeys((name, _stem(name), "_".join(_stem(name).split()))))


def _name(uri: str) -> str:
    return PureWindowsPath(uri).name if "\\" in uri else PurePosixPath(uri).name


def _stem(name: str) -> str:
    return PurePosixPath(name).stem


def _local(truth: Truth, file: str) -> Local:
    return Local(
        tuple(t for t in truth.turns if t.file == file),
        tuple(s for s in truth.sights if s.file == file),
        tuple((a, b) for f, a, b in truth.unclear if f == file),
        file in truth.spoken,
    )


def _join(a: Local | None, b: Local) -> Local:
    if a is None:
        return b
    return Local(a.turns + b.turns, a.sights + b.sights, a.unclear + b.unclear, a.spoken or b.spoken)


# ---------------------------------------------------------------- voices


def speaker(u: Utterance, local: Local) -> str | None:
    """Return an utterance's true speaker: whose turns cover most of it, and at least half; None if nobody's do or it is unknown."""
    span, length = (u.start, u.end), max(1, u.end - u.start)
    if sum(overlap(span, x) for x in local.unclear) * 2 >= length:
        return None
    spoken: dict[str, int] = defaultdict(int)
    for t in local.turns:
        spoken[t.person] += overlap(span, (t.start, t.end))
    if not spoken:
        return None
    best = max(sorted(spoken), key=lambda p: spoken[p])
    return best if spoken[best] >= MOSTLY * length else None


def silent(u: Utterance, local: Local) -> bool:
    """Return whether by the truth nobody speaks during an utterance."""
    span = (u.start, u.end)
    return (
        local.spoken and not any(overlap(span, (t.start, t.end)) for t in local.turns) and not any(overlap(span, x) for x in local.unclear)
    )


# ---------------------------------------------------------------- faces


def faces(tracks: Sequence[FaceTrack], local: Local) -> dict[str, str]:
    """Return track id → true person. A timed box goes to the track that overlaps it most; a track of several people to most of its boxes.

    Tracks without a box are named by a span in which one person alone is in view, if they lie at least half in it.
    """
    votes: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for s in local.sights:
        if s.box is not None and (hit := _track_at(tracks, s.start, s.box)):
            votes[hit][s.person] += 1
    found = {track: max(sorted(people), key=lambda p, people=people: people[p]) for track, people in votes.items()}  # type: ignore[misc]
    for t in tracks:
        if t.id in found:
            continue
        length = max(1, t.end - t.start)
        for s in local.sights:
            if s.box is None and overlap((t.start, t.end), (s.start, s.end)) >= MOSTLY * length:
                found[t.id] = s.person
                break
    return found


def _track_at(tracks: Iterable[FaceTrack], at: int, box: Box) -> str | None:
    best, best_share = None, SAME_BOX
    for t in tracks:
        near = min(t.boxes, key=lambda b: (abs(b.at - at), b.at), default=None)
        if near is None or abs(near.at - at) > NEAR:
            continue
        share = iou(near.box, box)
        if share > best_share:
            best, best_share = t.id, share
    return best


def boxes_missed(tracks: Sequence[FaceTrack], local: Local) -> int:
    """Return how many timed boxes lie on no track."""
    return sum(1 for s in local.sights if s.box is not None and _track_at(tracks, s.start, s.box) is None)
