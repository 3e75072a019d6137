"""The second half of the fold: the present text of every sentence and the memory graph, from the log and the identities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from m3desk.domain.clear_speech import unmarked
from m3desk.domain.correction import Step
from m3desk.domain.fold import identities
from m3desk.domain.identities import Equivalence, Identities
from m3desk.domain.ids import clip_order, numbered
from m3desk.domain.log import Birth, Linked, Log, Reinforced, SentenceRow, in_force
from m3desk.domain.memory import Span
from m3desk.domain.tags import render
from m3desk.domain.tally import Tally, joined

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
    """Everything folded: who is who, the nodes and the edges ((a, b, kind) → weight)."""

    who: Identities
    nodes: dict[str, NodeNow] = field(default_factory=dict)
    edges: dict[tuple[str, str, str], float] = field(default_factory=dict)


def fold(log: Log) -> State:
    """Return the present state of a log."""
    state = State(identities(log))
    changes = changes_of(in_force(log))
    for told in log.sentences.values():
        if told.step is None or told.step in changes.active:
            state.nodes[told.id] = sentence(told, log, state.who, changes)
    _knowledge(log, state, changes)
    _owners(log, state)
    _edges(log, state)
    return state


# ---------------------------------------------------------------- sentences


@dataclass(slots=True)
class Changes:
    """The effects of the steps in force on sentences: `active`: their numbers; `edited`: sentence → its last edit.

    `plain`: sentences whose quotes were confirmed, so that they no longer say that these were not heard clearly.
    """

    active: set[int] = field(default_factory=set)
    edited: dict[str, Step] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    pinned: dict[str, bool] = field(default_factory=dict)
    plain: set[str] = field(default_factory=set)


def changes_of(steps: list[Step]) -> Changes:
    """Return the effects of the steps in force on sentences."""
    changes = Changes({s.step for s in steps})
    for step in steps:
        if step.kind == "edit":
            changes.edited[step.args["memory"]] = step
        elif step.kind == "delete":
            changes.deleted.add(step.args["memory"])
        elif step.kind == "choose":  # another writer's sentences, which carry this step, are in the place of these
            changes.deleted |= {*step.args.get("hidden", ())}
        elif step.kind == "words":
            changes.plain |= {*step.args.get("plain", ())}
        elif step.kind == "pin":
            changes.pinned[step.args["memory"]] = bool(step.args.get("pinned", True))
    return changes


def owner(span: Span, who: Identities, log: Log) -> str | None:
    """Return the person that a span refers to now: the one who owns most of its observations' time, the first on a tie."""
    if len(span.observations) == 1:
        held = who.held.get(who.evidence.follow(span.observations[0]))
        return held.person if held else None
    observations = [who.evidence.follow(o) for o in span.observations]
    time: dict[str, int] = {}
    for observation in observations:
        held, seen = who.held.get(observation), log.observations.get(observation)
        if held and seen and held.person:
            time[held.person] = time.get(held.person, 0) + max(1, seen.end - seen.start)
    return max(time, key=lambda p: time[p]) if time else None


def spans_of(rows: Iterable[Any]) -> tuple[Span, ...]:
    """Read spans from a journal's `[[start, end, [observations]], …]`."""
    return tuple(Span(int(s), int(e), tuple(o)) for s, e, o in rows)


def moved(spans: Iterable[Span], at: int, by: int) -> tuple[Span, ...]:
    """Return spans, those from a code point on moved by so many."""
    return tuple(replace(s, start=s.start + by, end=s.end + by) if s.start >= at else s for s in spans)


def sentence(told: SentenceRow, log: Log, who: Identities, changes: Changes) -> NodeNow:
    """Return the present form of a sentence, before it is weighted."""
    text, spans, embedded, citations = told.text, told.spans, told.id, told.citations
    if (edit := changes.edited.get(told.id)) is not None:
        text, spans, embedded = edit.args["text"], spans_of(edit.args["spans"]), f"{told.id}@{edit.step}"
        citations = tuple(dict.fromkeys((*citations, *(o for s in spans for o in s.observations))))
    elif told.id in changes.plain:
        text, at, shorter = unmarked(text)
        spans = moved(spans, at, -shorter)
    stale = bool(who.evidence.reworded) and told.id not in changes.edited and any(who.evidence.was_reworded(o) for o in citations)
    superseded = who.evidence.successors
    if superseded and any(o in superseded for many in (citations, *(s.observations for s in spans)) for o in many):
        # A superseded observation is replaced by the part that overlaps the sentence.

        def now(observation: str) -> str:
            return who.evidence.follow(observation, told.start, told.end)

        spans = tuple(Span(s.start, s.end, tuple(dict.fromkeys(now(o) for o in s.observations))) for s in spans)
        citations = tuple(dict.fromkeys(now(o) for o in citations))
    owners = {(s.start, s.end): owner(s, who, log) for s in spans}
    in_order = sorted(spans, key=lambda s: s.start) if len(spans) > 1 else spans
    people = tuple(dict.fromkeys(p for s in in_order if (p := owners[s.start, s.end])))

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


def _knowledge(log: Log, state: State, changes: Changes) -> None:
    """Weigh semantic sentences by their evidence, end those that were contradicted, mark those whose ground has changed."""
    by_node: dict[str, list[Reinforced]] = defaultdict(list)
    for r in log.reinforcements:
        by_node[r.node].append(r)
    grounds: dict[str, list[str]] = defaultdict(list)
    for link in log.links:
        if link.kind == "derived_from":
            grounds[link.a].append(link.b)
    for id_, node in state.nodes.items():
        if node.type == "semantic":
            changed = any(g in changes.edited or g in changes.deleted or (g in state.nodes and state.nodes[g].stale) for g in grounds[id_])
            state.nodes[id_] = weighed(node, by_node[id_], changed and id_ not in changes.edited)


def weighed(node: NodeNow, reinforcements: Sequence[Reinforced], groundless: bool) -> NodeNow:
    """Return a semantic sentence with what clips said for and against it. `groundless`: what it was concluded from has changed."""
    weight = 0.0
    for r in reinforcements:
        weight += r.amount
    backing = [r for r in reinforcements if r.amount > 0]
    return _replace(
        node,
        weight=max(0.0, 1.0 + weight),
        clips=tuple(sorted({*node.clips, *(r.clip for r in backing)}, key=clip_order)),
        citations=tuple(dict.fromkeys((*node.citations, *(c for r in backing for c in r.citations)))),
        valid_until=next((r.clip for r in reversed(reinforcements) if not r.amount > 0), None),
        stale=groundless or node.stale,
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
            for entity in dict.fromkeys(told.entities):
                spoken[entity].append(told.id)
    for id_, birth in who.nodes.items():
        tally = Tally.of((log.observations[o] for o in seen[id_]), who.evidence.enrolled)
        clips = {c for s in spoken[id_] for c in state.nodes[s].clips}
        state.nodes[id_] = owner_node(birth, who, tally, len(spoken[id_]), joined((), clips))


def owner_node(birth: Birth, who: Identities, tally: Tally, spoken: int, clips: tuple[str, ...]) -> NodeNow:
    """Return a face, voice, object or place node. `tally`: of its observations; `spoken`: how many sentences name it, `clips`: where."""
    person = who.person_of.get(birth.id)
    rest = {c for c in (*tally.clips, birth.clip) if c} if clips else {birth.clip} if birth.clip else set()
    return NodeNow(
        id=birth.id,
        type=birth.type,
        weight=float(tally.count or spoken),
        text=birth.content,
        shown=who.people[person].shown if person else birth.content,
        tagged=f"<{person}>" if person else birth.content,
        spans=(),
        people=(person,) if person else (),
        clips=joined(clips or tally.clips, rest),
        citations=(),
        topic=None,
        valid_until=None,
        pinned=False,
        deleted=False,
        stale=False,
        embedded=birth.id,
        picture=tally.picture,
    )


def _edges(log: Log, state: State) -> None:
    """Add edges from text nodes to what they mention, accepted equivalences, and typed links; one edge for each pair and kind."""
    weights: dict[tuple[str, str, str], float] = {}
    for told in log.sentences.values():
        node = state.nodes.get(told.id)
        if node is not None:
            weights |= {(told.id, end, "mentions"): node.weight for end in ends(told, node, state)}
    accepted: dict[str, list[Equivalence]] = defaultdict(list)
    for e in state.who.equivalences.values():
        if e.accepted:
            accepted[state.who.person_of[e.a]].append(e)
    for id_, members in state.who.members.items():
        weights |= {(a, b, "equivalence"): w for (a, b), w in one_person(members, accepted[id_], state.who).items()}
    for link in log.links:
        if stands(link, state):
            weights[link.a, link.b, link.kind] = 1.0
    state.edges = weights


def ends(told: SentenceRow, node: NodeNow, state: State) -> tuple[str, ...]:
    """Return the nodes that a sentence mentions, none if it is deleted."""
    if node.deleted:
        return ()
    whom = [h.node for s in node.spans for o in s.observations if (h := state.who.held.get(o)) and h.node]
    return tuple(dict.fromkeys((*whom, *(e for e in told.entities if e in state.nodes))))


def stands(link: Linked, state: State) -> bool:
    """Return whether both ends of a typed link exist."""
    a, b = state.nodes.get(link.a), state.nodes.get(link.b)
    return a is not None and b is not None and not a.deleted and not b.deleted


def one_person(members: Sequence[str], accepted: Iterable[Equivalence], who: Identities) -> dict[tuple[str, str], float]:
    """Return the weights of the edges between the nodes of one person: by votes, and each voice that no vote joined (a user did) to the
    person's first face.
    """
    weights = {(e.a, e.b): e.weight for e in accepted}
    faces = {m: None for m in members if who.nodes[m].type == "face"}
    linked = {a for pair in weights for a, b in (pair, pair[::-1]) if b in faces}
    first = next(iter(faces), None)
    for voice in (m for m in members if who.nodes[m].type == "voice" and m not in linked):
        if first is None:
            break
        weights[min(first, voice, key=numbered), max(first, voice, key=numbered)] = 1.0
    return weights
