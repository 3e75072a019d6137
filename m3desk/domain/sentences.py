"""What the sentences of a memory say now, and the graph they make with people and things: folded from the log and who is who."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from m3desk.domain.correction import Step
from m3desk.domain.fold import Identities, clip_order, identities
from m3desk.domain.graph import EdgeRow
from m3desk.domain.log import Log, Told, in_force, numbered
from m3desk.domain.memory import Span
from m3desk.domain.tags import render

LABEL = 60
"""Code points of a sentence that fit on a node of the graph."""


@dataclass(frozen=True, slots=True)
class NodeNow:
    """A node as it stands. `text`, `spans`: stored form after edits; `embedded`: owner of the text's vector (an edit has its own).

    `clips`: where it was seen or supported, in order. `people`: in order of mention; of faces and voices, their person.
    """

    id: str
    type: str
    weight: float
    text: str
    shown: str
    tagged: str
    spans: tuple[Span, ...]
    people: tuple[str, ...]
    clips: tuple[str, ...]
    citations: tuple[str, ...]
    topic: str | None
    valid_until: str | None
    pinned: bool
    deleted: bool
    stale: bool
    embedded: str
    picture: str | None


@dataclass(slots=True)
class State:
    """Everything folded: who is who, the nodes and the edges."""

    who: Identities
    nodes: dict[str, NodeNow] = field(default_factory=dict)
    edges: list[EdgeRow] = field(default_factory=list)


def fold(log: Log) -> State:
    """Return the present state of a log."""
    state = State(identities(log))
    changes = _changes(in_force(log))
    for told in log.sentences.values():
        if told.step is None or told.step in changes.active:
            state.nodes[told.id] = _sentence(told, log, state.who, changes)
    _knowledge(log, state, changes)
    _owners(log, state)
    _edges(log, state)
    return state


# ---------------------------------------------------------------- sentences


@dataclass(slots=True)
class _Changes:
    active: set[int] = field(default_factory=set)
    edited: dict[str, Step] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    pinned: dict[str, bool] = field(default_factory=dict)


def _changes(steps: list[Step]) -> _Changes:
    changes = _Changes({s.step for s in steps})
    for step in steps:
        if step.kind == "edit":
            changes.edited[step.args["memory"]] = step
        elif step.kind == "delete":
            changes.deleted.add(step.args["memory"])
        elif step.kind == "pin":
            changes.pinned[step.args["memory"]] = bool(step.args.get("pinned", True))
    return changes


def owner(span: Span, who: Identities, log: Log) -> str | None:
    """Return whom a span speaks of now: the person who owns most of its observations' time, the first of them on a tie."""
    observations = [who.evidence.follow(o) for o in span.observations]
    if len(observations) == 1:
        held = who.held.get(observations[0])
        return held.person if held else None
    time: dict[str, int] = {}
    for observation in observations:
        held, seen = who.held.get(observation), log.observations.get(observation)
        if held and seen and held.person:
            time[held.person] = time.get(held.person, 0) + max(1, seen.end - seen.start)
    return max(time, key=lambda p: time[p]) if time else None


def spans_of(rows: Iterable[Any]) -> tuple[Span, ...]:
    """Read spans from a journal's `[[start, end, [observations]], …]`."""
    return tuple(Span(int(s), int(e), tuple(o)) for s, e, o in rows)


def _sentence(told: Told, log: Log, who: Identities, changes: _Changes) -> NodeNow:
    text, spans, embedded, citations = told.text, told.spans, told.id, told.citations
    if (edit := changes.edited.get(told.id)) is not None:
        text, spans, embedded = edit.args["text"], spans_of(edit.args["spans"]), f"{told.id}@{edit.step}"
        citations = tuple(dict.fromkeys((*citations, *(o for s in spans for o in s.observations))))
    stale = told.id not in changes.edited and any(who.evidence.was_reworded(o) for o in citations)
    if who.evidence.successors:  # what was superseded is spoken of by the part that was there then

        def now(observation: str) -> str:
            return who.evidence.follow(observation, told.start, told.end)

        spans = tuple(Span(s.start, s.end, tuple(dict.fromkeys(now(o) for o in s.observations))) for s in spans)
        citations = tuple(dict.fromkeys(now(o) for o in citations))
    owners = {(s.start, s.end): owner(s, who, log) for s in spans}
    people = tuple(dict.fromkeys(p for s in sorted(spans, key=lambda s: s.start) if (p := owners[s.start, s.end])))

    def name(span: Span) -> str | None:
        person = owners[span.start, span.end]
        return who.people[person].shown if person else None

    def tag(span: Span) -> str | None:
        person = owners[span.start, span.end]
        return f"<{person}>" if person else None

    return NodeNow(
        id=told.id,
        type=told.kind,
        weight=1.0,
        text=text,
        shown=render(text, spans, name),
        tagged=render(text, spans, tag),
        spans=spans,
        people=people,
        clips=(told.clip,) if told.clip else (),
        citations=citations,
        topic=told.topic,
        valid_until=None,
        pinned=changes.pinned.get(told.id, False),
        deleted=told.id in changes.deleted,
        stale=stale,
        embedded=embedded,
        picture=None,
    )


def _knowledge(log: Log, state: State, changes: _Changes) -> None:
    """Weigh semantic sentences by their evidence, end those that were contradicted, mark those whose ground has changed."""
    weight: Counter[str] = Counter()
    clips: dict[str, list[str]] = defaultdict(list)
    cited: dict[str, list[str]] = defaultdict(list)
    until: dict[str, str] = {}
    for r in log.reinforcements:
        weight[r.node] += r.amount  # type: ignore[assignment]
        if r.amount > 0:
            clips[r.node].append(r.clip)
            cited[r.node] += r.citations
        else:
            until[r.node] = r.clip
    grounds: dict[str, list[str]] = defaultdict(list)
    for link in log.links:
        if link.kind == "derived_from":
            grounds[link.a].append(link.b)
    for id_, node in state.nodes.items():
        if node.type != "semantic":
            continue
        changed = [g for g in grounds[id_] if g in changes.edited or g in changes.deleted or (g in state.nodes and state.nodes[g].stale)]
        state.nodes[id_] = _replace(
            node,
            weight=max(0.0, 1.0 + weight[id_]),
            clips=tuple(sorted({*node.clips, *clips[id_]}, key=clip_order)),
            citations=tuple(dict.fromkeys((*node.citations, *cited[id_]))),
            valid_until=until.get(id_),
            stale=(bool(changed) or node.stale) and id_ not in changes.edited,
        )


def _replace(node: NodeNow, **changes: Any) -> NodeNow:
    values = {name: getattr(node, name) for name in NodeNow.__slots__}
    return NodeNow(**(values | changes))


# ---------------------------------------------------------------- faces, voices, things


def _owners(log: Log, state: State) -> None:
    """Add face, voice, object and place nodes, weighted by what is bound to them or speaks of them."""
    who = state.who
    seen: dict[str, list[str]] = defaultdict(list)
    for observation, held in who.held.items():
        if held.node:
            seen[held.node].append(observation)
    spoken: dict[str, list[str]] = defaultdict(list)
    for told in log.sentences.values():
        if told.id in state.nodes and not state.nodes[told.id].deleted:
            for entity in told.entities:
                spoken[entity].append(told.id)
    for id_, birth in who.nodes.items():
        observed = [log.observations[o] for o in seen[id_]]
        best = max((o for o in observed if o.picture), key=lambda o: (o.quality, o.id), default=None)
        person = who.person_of.get(id_)
        shown = who.people[person].shown if person else birth.content
        clips = (
            {o.clip for o in observed if o.id not in who.evidence.enrolled}
            | {c for s in spoken[id_] for c in state.nodes[s].clips}
            | ({birth.clip} if birth.clip else set())
        )
        state.nodes[id_] = NodeNow(
            id=id_,
            type=birth.type,
            weight=float(len(observed) or len(spoken[id_])),
            text=birth.content,
            shown=shown,
            tagged=f"<{person}>" if person else birth.content,
            spans=(),
            people=(person,) if person else (),
            clips=tuple(sorted(clips, key=clip_order)),
            citations=(),
            topic=None,
            valid_until=None,
            pinned=False,
            deleted=False,
            stale=False,
            embedded=id_,
            picture=best.picture if best else None,
        )


def _edges(log: Log, state: State) -> None:
    """Join text nodes with whom and what they speak of, accepted equivalences, and typed links; one edge a pair and kind."""
    weights: dict[tuple[str, str, str], float] = {}
    for told in log.sentences.values():
        node = state.nodes.get(told.id)
        if node is None or node.deleted:
            continue
        ends = [h.node for s in node.spans for o in s.observations if (h := state.who.held.get(o)) and h.node]
        for end in (*ends, *(e for e in told.entities if e in state.nodes)):
            weights[told.id, end, "mentions"] = node.weight
    for e in state.who.equivalences:
        if e.accepted:
            weights[e.a, e.b, "equivalence"] = e.weight
    linked: dict[str, set[str]] = defaultdict(set)
    for one, other, kind in weights:
        if kind == "equivalence":
            linked[one].add(other)
            linked[other].add(one)
    for members in state.who.members.values():
        _joined_by_user(members, state, linked, weights)
    for link in log.links:
        a, b = state.nodes.get(link.a), state.nodes.get(link.b)
        if a and b and not a.deleted and not b.deleted:
            weights[link.a, link.b, link.kind] = 1.0
    rows = [EdgeRow(a, b, w, kind) for (a, b, kind), w in weights.items()]
    state.edges = sorted(rows, key=lambda e: (numbered(e.a), numbered(e.b), e.kind))


def _joined_by_user(members: list[str], state: State, linked: dict[str, set[str]], weights: dict[tuple[str, str, str], float]) -> None:
    """Join the voices of a person that no vote joined (a user did) to the person's first face. `linked`: node → by votes one with it."""
    faces = [m for m in members if state.nodes[m].type == "face"]
    own = set(faces)
    for voice in (m for m in members if state.nodes[m].type == "voice"):
        if faces and not own & linked.get(voice, set()):
            a, b = sorted((faces[0], voice), key=numbered)
            weights[a, b, "equivalence"] = 1.0
