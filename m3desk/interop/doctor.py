"""Checks a memory: integrity, search index, constraints of corrections, and people who look wrong (the graph doctor)."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, Protocol

from m3desk.domain.identities import Constraint, Equivalence
from m3desk.domain.ids import clip_order, numbered, observation_type, source_of
from m3desk.domain.log import Log
from m3desk.domain.memory import StoredSentence
from m3desk.domain.questions.graph_cuts import WORD, two_people_evidence
from m3desk.domain.questions.types import Suggestion
from m3desk.domain.sentences import State
from m3desk.domain.tags import TAG, placeholder
from m3desk.errors import M3DeskError
from m3desk.ports import Reader

MANY = 4
"""Faces, or voices, from which one person is worth a look: a gallery of one is the goal, three happen with clothes and rooms."""

LONG = 10
"""Clips from which a memory is long enough that somebody of a single clip is worth a look: over-splitting makes such people."""

STATES = ("kept", "overridden", "waiting", "broken")


class Checkable(Reader, Protocol):
    """What a check reads of a memory beyond `ports.Reader`."""

    def constraints(self) -> list[Constraint]: ...
    def equivalences(self) -> list[Equivalence]: ...
    def suggestions(self) -> list[Suggestion]: ...
    def state(self) -> State: ...
    def log(self) -> Log: ...
    def integrity(self) -> list[str]: ...
    def damage(self) -> M3DeskError | None: ...
    def index_problems(self) -> list[str]: ...
    def begun(self) -> Sequence[object]: ...


def check(memory: Checkable) -> dict[str, Any]:
    """Return the report of contract.md.

    `ok`: the database is readable and its derived tables match the log, the index agrees, no constraint is broken and no forgetting was
    interrupted; other findings are advice.
    """
    integrity = memory.integrity()
    if integrity and memory.damage() is not None:  # what can't be read is told of; nothing else can be said
        return {"ok": False, "integrity": integrity, "index": [], "constraints": dict.fromkeys(STATES, 0), "waiting": [], "findings": []}
    index = memory.index_problems()
    counts = Counter(c.state for c in memory.constraints())
    begun = _forgetting(memory)
    return {
        "ok": not integrity and not index and not counts["broken"] and not begun,
        "integrity": integrity,
        "index": index,
        "constraints": {state: counts[state] for state in STATES},
        "waiting": waiting(memory),
        "findings": [*begun, *findings(memory)],
    }


def waiting(memory: Checkable) -> list[dict[str, Any]]:
    """Return the corrections whose evidence is missing, for instance after a re-run with other results; they wait until it returns."""
    steps = dict.fromkeys(c.step for c in memory.constraints() if c.state == "waiting")
    told = {s.step: s for s in memory.journal()}
    return [{"step": n, "kind": told[n].kind, "text": told[n].text, "fix": f"m3desk revert {n}"} for n in steps if n in told]


def findings(memory: Checkable) -> list[dict[str, Any]]:
    """Return what looks wrong with people, nodes and sentences, each with a command that helps (and that `undo` takes back)."""
    return [
        *_crowds(memory),
        *_contradicted(memory),
        *_one_clip(memory),
        *_alone(memory),
        *_dangling(memory),
        *_disorder(memory),
        *_orphans(memory),
    ]


def _finding(kind: str, text: str, people: list[str], nodes: list[str], fix: str) -> dict[str, Any]:
    return {"kind": kind, "people": people, "nodes": nodes, "text": text, "fix": fix}


def _forgetting(memory: Checkable) -> list[dict[str, Any]]:
    """Find a forgetting that was interrupted before its proof: traces of a person may be left in files."""
    if not memory.begun():
        return []
    text = "forgetting was begun and is not finished: traces of what was forgotten may be left in this folder's files"
    return [_finding("forgetting", text, [], [], "m3desk check --repair")]


def _crowds(memory: Checkable) -> list[dict[str, Any]]:
    """Find persons with many faces or voices: suggest the split, else the weakest link to remove first."""
    crowds = [p for p in memory.people() if len(p.faces) >= MANY or len(p.voices) >= MANY]
    if not crowds:
        return []
    split_question = {s.people[0]: s.n for s in reversed(memory.suggestions()) if s.kind == "two_people"}
    weight = {(e.face, e.voice): e.weight for e in memory.equivalences() if e.accepted and e.face and e.voice}
    found = []
    for p in crowds:
        text = f"{p.shown} has {len(p.faces)} faces and {len(p.voices)} voices"
        if p.id in split_question:
            found.append(
                _finding(
                    "crowd",
                    text,
                    [p.id],
                    [*p.faces, *p.voices],
                    f"m3desk people split {shlex.quote(p.id)} --suggestion {split_question[p.id]}",
                )
            )
            continue
        links = [(w, f, v) for (f, v), w in weight.items() if f in p.faces and v in p.voices]
        least, face, voice = min(links, default=(0.0, "", ""))
        heard = [b.observation for b in memory.bindings() if b.superseded is None and b.node == voice]
        fix = shlex.join(["m3desk", "people", *(("assign", *heard, "--new") if heard else ("show", p.id))])
        text += f"; the weakest link is {face}–{voice} ({least:g})" if links else ""
        found.append(_finding("crowd", text, [p.id], [*p.faces, *p.voices], fix))
    return found


def _contradicted(memory: Checkable) -> list[dict[str, Any]]:
    """Find faces and voices that votes link although more clips mention them as two people ("<face_2> asks <voice_9>")."""
    linked = [e for e in memory.equivalences() if e.accepted and e.face and e.voice]
    against = two_people_evidence(memory.log(), memory.state()) if linked else {}
    found = []
    for e in linked:
        clips = round(against.get((e.a, e.b), 0.0) / WORD)
        person = memory.state().who.person_of[e.a]
        if clips > max(1.0, e.weight):
            text = f"{e.face} and {e.voice} are one person by votes of {e.weight:g}, but in {clips} clips sentences speak of them as two"
            found.append(
                _finding(
                    "contradicted", text, [person], [e.a, e.b], shlex.join(["m3desk", "people", "unlink", e.face or "", e.voice or ""])
                )
            )
    return found


def _one_clip(memory: Checkable) -> list[dict[str, Any]]:
    """Find unnamed persons of a single clip in a long memory: passers-by, or fragments of another person."""
    if len(memory.clips()) < LONG:
        return []
    same = {p: s.n for s in reversed(memory.suggestions()) if s.kind in ("same", "link") for p in s.people}
    found = []
    for p in memory.people():
        if len(p.clips) == 1 and not p.name and not p.ignored:
            fix = f"m3desk people accept {same[p.id]}" if p.id in same else f"m3desk people ignore {shlex.quote(p.id)}"
            found.append(_finding("one clip", f"{p.shown} is known from {p.clips[0]} alone", [p.id], [*p.faces, *p.voices], fix))
    return found


def _alone(memory: Checkable) -> list[dict[str, Any]]:
    """Find isolated faces and voices of an imported graph: no sentence mentions them and no link joins them."""
    state = memory.state()
    ends = {n for a, b, _ in state.edges for n in (a, b)}
    found = []
    for n in state.nodes.values():
        if n.type in ("face", "voice") and n.id not in ends and n.weight and "original_id" in (memory.node(n.id).extra or {}):
            seen = state.who.of_node(n.id)
            fix = f"m3desk people set-aside {shlex.quote(seen[0])}"
            found.append(_finding("orphan", f"nothing speaks of {n.id}", list(n.people), [n.id], fix))
    return found


def _dangling(memory: Checkable) -> list[dict[str, Any]]:
    """Find tags left as plain text in a sentence, outside of quoted words."""
    found = []
    for s in memory.memories():
        for tag in TAG.finditer(s.text):
            if not any(a <= tag.start() and tag.end() <= b for a, b in s.quoted):
                fix = f"m3desk memories edit {shlex.quote(s.id)} {shlex.quote(_without(s, tag.group(0)))}"
                found.append(_finding("dangling tag", f"{s.id} names {tag.group(0)}, which refers to nobody", [], [s.id], fix))
    return found


def _without(s: StoredSentence, tag: str) -> str:
    """Return a sentence with one tag replaced by a neutral word; other people stay as tags (`<person_3>`)."""
    return s.tagged.replace(tag, placeholder(s.language))


def _disorder(memory: Checkable) -> list[dict[str, Any]]:
    """Find clips that were memorized after later ones (graphs of other tools grow in the order of file names).

    Their episodic memories are in order again by time; their semantic memories may depend on later clips.
    """
    first: dict[str, int] = {}
    concluded: dict[str, list[str]] = defaultdict(list)
    for s in memory.memories():
        if s.clip and s.model != "user":
            first[s.clip] = min(numbered(s.id), first.get(s.clip, numbered(s.id)))
            if s.kind == "semantic":
                concluded[s.clip].append(s.id)
    found, last = [], {"": ""}
    for clip in sorted(first, key=lambda c: first[c]):
        source = source_of(clip)
        before = last.get(source, "")
        if before and clip_order(clip) < clip_order(before):
            nodes = concluded[clip]
            text = f"{clip} was memorized after {before}: its {len(nodes)} conclusions may rest on later clips"
            fix = f"m3desk memories delete {shlex.quote(nodes[0])}" if nodes else "m3desk memories list"
            found.append(_finding("out of order", text, [], nodes, fix))
        else:
            last[source] = clip
    return found


def _orphans(memory: Checkable) -> list[dict[str, Any]]:
    """Find sentences that cite an observation in a span but are linked to no person."""
    found = []
    for s in memory.memories():
        if s.spans and not s.people:
            speaks = [o for span in s.spans for o in span.observations]
            if any(observation_type(o) == "face" for o in speaks):  # speech of nobody in particular is no fault: it is too short
                found.append(
                    _finding(
                        "orphan",
                        f"{s.id} speaks of a face that is nobody's",
                        [],
                        [s.id],
                        f"m3desk people assign {shlex.quote(speaks[0])} --new",
                    )
                )
    return found
