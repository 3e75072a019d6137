"""Is this memory sound? Its integrity, its index, what corrections demand, and people who look wrong (the graph doctor)."""

from __future__ import annotations

from collections import Counter
from typing import Any, Protocol

from m3desk.domain.fold import Constraint, Equivalence, clip_order
from m3desk.domain.tags import TAG
from m3desk.ports import Reader

MANY = 4
"""Faces, or voices, from which one person is worth a look: a gallery of one is the goal, three happen with clothes and rooms."""

STATES = ("kept", "overridden", "waiting", "broken")


class Checkable(Reader, Protocol):
    """What a check asks of a memory beyond what windows read."""

    def constraints(self) -> list[Constraint]: ...
    def equivalences(self) -> list[Equivalence]: ...
    def integrity(self) -> list[str]: ...
    def index_problems(self) -> list[str]: ...
    def repair(self) -> None: ...


def check(memory: Checkable, *, repair: bool = False) -> dict[str, Any]:
    """Return the report of contract.md. `repair` (needs a memory opened for writing) first rebuilds what can be rebuilt.

    `ok`: the truth reads and says what its log says, the index agrees and no constraint is broken; findings are advice.
    """
    if repair:
        memory.repair()
    integrity, index = memory.integrity(), memory.index_problems()
    counts = Counter(c.state for c in memory.constraints())
    return {
        "ok": not integrity and not index and not counts["broken"],
        "integrity": integrity,
        "index": index,
        "constraints": {state: counts[state] for state in STATES},
        "findings": findings(memory),
    }


def findings(memory: Checkable) -> list[dict[str, Any]]:
    """Return what looks wrong with people and sentences, each with a command that helps."""
    return [*_crowds(memory), *_dangling(memory), *_disorder(memory), *_orphans(memory)]


def _finding(kind: str, text: str, people: list[str], nodes: list[str], fix: str) -> dict[str, Any]:
    return {"kind": kind, "people": people, "nodes": nodes, "text": text, "fix": fix}


def _crowds(memory: Checkable) -> list[dict[str, Any]]:
    """Find persons of many faces and voices, and the weakest link to cut first."""
    found = []
    weakest = {(e.face, e.voice): e.weight for e in memory.equivalences() if e.accepted and e.face and e.voice}
    for p in memory.people():
        if len(p.faces) < MANY and len(p.voices) < MANY:
            continue
        links = [(w, f, v) for (f, v), w in weakest.items() if f in p.faces and v in p.voices]
        weight, face, voice = min(links, default=(0.0, "", ""))
        heard = [b.observation for b in memory.bindings() if b.superseded is None and b.node == voice]
        fix = f"m3desk people assign {' '.join(heard)} --new" if heard else f"m3desk people show {p.id}"
        text = f"{p.shown} has {len(p.faces)} faces and {len(p.voices)} voices" + (
            f"; the weakest link is {face}–{voice} ({weight:g})" if links else ""
        )
        found.append(_finding("crowd", text, [p.id], [*p.faces, *p.voices], fix))
    return found


def _dangling(memory: Checkable) -> list[dict[str, Any]]:
    """Find tags that stand in a sentence as text, outside of what was said or read."""
    found = []
    for s in memory.memories():
        for tag in TAG.finditer(s.text):
            if not any(a <= tag.start() and tag.end() <= b for a, b in s.quoted):
                fix = f"m3desk memories edit {s.id} TEXT"
                found.append(_finding("dangling tag", f"{s.id} names {tag.group(0)}, which refers to nobody", [], [s.id], fix))
    return found


def _disorder(memory: Checkable) -> list[dict[str, Any]]:
    """Find episodic memories numbered against the order of their clips (graphs of other tools grow out of order)."""
    found, last = [], {"": (-1, -1)}
    for s in sorted(memory.memories(kind="episodic"), key=lambda s: int(s.id.rsplit("_", 1)[1])):
        if not s.clip:
            continue
        order = clip_order(s.clip)
        if order < last.get(s.source, (-1, -1)):
            found.append(
                _finding(
                    "out of order",
                    f"{s.id} of {s.clip} came after memories of later clips",
                    [],
                    [s.id],
                    "m3desk memories list",
                )
            )
        last[s.source] = max(order, last.get(s.source, (-1, -1)))
    return found


def _orphans(memory: Checkable) -> list[dict[str, Any]]:
    """Find sentences that should speak of somebody (they cite an observation in a span) but speak of nobody."""
    found = []
    for s in memory.memories():
        if s.spans and not s.people:
            speaks = [o for span in s.spans for o in span.observations]
            if any(".f" in o for o in speaks):  # speech of nobody in particular is no fault: too short to tell a voice by
                found.append(
                    _finding("orphan", f"{s.id} speaks of a face that is nobody's", [], [s.id], f"m3desk people assign {speaks[0]} --new")
                )
    return found
