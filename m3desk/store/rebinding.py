"""Switching to another face or voice model: stores its embeddings beside the old ones, previews what it binds differently, and switches.

The clips are bound again in the order in which they were memorized, by the new model's vectors and thresholds, under everything a person
decided. What is bound otherwise becomes new binding rows (`by` the new model; the old ones are superseded, never overwritten), in one
transaction; a preview does the same and rolls back. So that names and corrections stay with whom they were given:

- An observation that a person put somewhere stays there and stands for that node.
- A cluster that matches no node gets back the node it created before: one that the same model gave it once, else the latest, unless it
  is taken.
- A cluster of somebody whom a correction speaks of stays where it is unless the new model is sure that it is somebody else; and it
  always stays where a user's cannot-link separates the two, or where it is among what that person was decided by (the correction's anchor).
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from m3desk.calibrated import thresholds
from m3desk.domain.correction import Step
from m3desk.domain.evidence import FaceTrack, Floats, Perceived, Utterance
from m3desk.domain.identities import Constraint, Held, Identities
from m3desk.domain.identity import Gallery
from m3desk.domain.ids import source_of
from m3desk.domain.log import Log, ObservationType, in_force
from m3desk.domain.sentences import State
from m3desk.store import commits, consolidation, reading, rows
from m3desk.store.galleries import Galleries, galleries
from m3desk.store.recomputing import Extended, Going, Recomputed

DB = sqlite3.Connection

KEPT_FOR = ("person", "keep", "a", "b", "of", "not")
"""Args of a step that name a person it speaks of."""


@dataclass(frozen=True, slots=True)
class MovedObservation:
    """An observation that belongs to another node or person by the new model."""

    observation: str
    node: tuple[str | None, str | None]
    person: tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class Reembedded:
    """What a model change does. Pairs are of observations of this kind: `joined` were two persons' and are one's, `parted` the reverse.

    `people`: persons who own an observation of this kind, before and after. `touched`: constraints whose state changes: (before, after).
    `unknown`: templates of people never to be remembered again that this model can't compare with: they are another model's.
    """

    kind: ObservationType
    model: str
    moved: tuple[MovedObservation, ...]
    joined: int
    parted: int
    kept: int
    people: tuple[int, int]
    constraints: Mapping[str, int]
    touched: tuple[tuple[Constraint, str], ...]
    unknown: int = 0


def lacking(db: DB, kind: ObservationType, model: str) -> list[FaceTrack | Utterance]:
    """Return the observations that have stored crops or sound, and vectors by some model, but none by this one."""
    table, stored = ("face_track", "crops != '[]'") if kind == "face" else ("utterance", "audio IS NOT NULL")
    query = f"""SELECT * FROM {table} t WHERE {stored} AND EXISTS (SELECT 1 FROM embedding e WHERE e.owner = t.id AND e.kind = ?)
        AND NOT EXISTS (SELECT 1 FROM embedding e WHERE e.owner = t.id AND e.model = ?) ORDER BY t.rowid"""
    read = rows.face_track if kind == "face" else rows.utterance
    return [read(r) for r in db.execute(query, (kind, model))]


def beside(db: DB, perceived: Perceived, found: Mapping[str, Mapping[str, Floats]], sequence: int) -> None:
    """Store vectors of models that are not in use (model → observation → rows) beside a clip's own, for a later switch."""
    faces, heard = {t.id for t in perceived.faces}, {u.id for u in perceived.utterances}
    for model, vectors in found.items():
        for o, many in vectors.items():
            if (o in faces or o in heard) and len(many):
                rows.insert_vectors(db, o, "face" if o in faces else "voice", model, many, sequence)


def rebound(db: DB, kind: ObservationType, model: str, at: str, going: Going) -> tuple[Reembedded, Recomputed]:
    """Bind everything of a kind again by `model`, whose vectors are stored; return what changes, and the state to commit.

    `db`: inside a read transaction; nothing of it is written. `going` is called after each clip (see `store.recomputing`).
    """
    work = Extended(db)
    sequence = commits.begin(db, "reembed", at, None, {f"{kind}_vectors": model})
    clips = committed_clips(db)
    parts = len(clips) + 3
    _Again(db, work.before, work.log, kind, model, sequence, at).bind(clips, lambda done: going(done, parts))
    _consolidate(db, work.after(), kind, model, at)
    going(parts - 2, parts)
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"{kind}_vectors", model))
    found = _compare(work.before, work.after(), work.log, kind, model)
    going(parts - 1, parts)
    blind = db.execute("SELECT count(*) FROM unwanted WHERE kind = ? AND model != ?", (kind, model)).fetchone()[0]
    return replace(found, unknown=int(blind)), work.recomputed()


def committed_clips(db: DB) -> list[str]:
    """Return the clips that are memorized, in the order in which they were."""
    query = """SELECT c.clip FROM commits c JOIN clip k ON k.id = c.clip WHERE c.kind = 'clip-episodic' AND k.state IN ('episodic', 'done')
        GROUP BY c.clip ORDER BY max(c.sequence)"""
    return [r[0] for r in db.execute(query)]


# ---------------------------------------------------------------- binding again


@dataclass(slots=True)
class _Again:
    """Binds the clips again, one after the other, into a new state."""

    db: DB
    before: State
    log: Log
    kind: ObservationType
    model: str
    sequence: int
    at: str
    who: Identities = field(default_factory=Identities)
    claimed: set[str] = field(default_factory=set)
    owned: dict[str, list[str]] = field(default_factory=dict)
    galleries: Galleries = field(default_factory=Galleries)

    def bind(self, clips: list[str], done: Callable[[int], None]) -> None:
        old = self.before.who
        steps = in_force(self.log)
        vectors = _vectors(self.db, self.kind, self.model)
        self.who = Identities(
            nodes=dict(old.nodes), person_of=dict(old.person_of), canonical=old.canonical, people=old.people, distinct=old.distinct,
            owned=self.owned,
        )  # fmt: skip
        self.claimed = {n for n, birth in old.nodes.items() if birth.step is not None}
        spoken_of, anchored, cannot = _spoken_of(steps, self.before), _anchored(steps), _cannot_links(self.before)
        history = self._history()
        of_clip = self._by_clip()
        memorized = set(clips)
        for clip in (c for c in of_clip if c not in memorized):
            self._take(of_clip[clip])  # photos and speech of `enroll`, which belong to no clip of a source
        for n, clip in enumerate(clips):
            done(n)
            perceived = reading.perceived(self.db, clip)
            if perceived is not None:
                self._one(self._untold(perceived, vectors), spoken_of, anchored, cannot, history)
            self._take(of_clip.get(clip, []))

    def _history(self) -> dict[str, list[str]]:
        """Return observation → the nodes that models bound it to: this model's first, then the others' from the latest on."""
        found: dict[str, list[str]] = defaultdict(list)
        for own in (True, False):
            for b in reversed(self.log.bindings):
                if (b.by == self.model) == own and b.node not in found[b.observation]:
                    found[b.observation].append(b.node)
        return found

    def _by_clip(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for o in self.before.who.held:
            if self.log.observations[o].type == self.kind:
                found[self.log.observations[o].clip].append(o)
        return found

    def _take(self, observations: list[str]) -> None:
        """Keep the bindings of a clip that a user decided, and those that no model made."""
        for o in observations:
            held = self.before.who.held[o]
            if held.step is not None or o not in self.who.held:
                self._hold(o, held)

    def _hold(self, observation: str, held: Held) -> None:
        self.who.held[observation] = held
        if held.node is not None:
            self.owned.setdefault(held.node, []).append(observation)
            self.galleries.move({held.node: [observation]}, ())

    def _untold(self, perceived: Perceived, vectors: Mapping[str, Floats]) -> Perceived:
        """Return a clip with this model's vectors; in a cluster from which a user removed observations, the rest decides."""
        mine = perceived.faces if self.kind == "face" else perceived.utterances
        told = {o.id for o in mine if (h := self.before.who.held.get(o.id)) is not None and (h.step is not None or h.set_aside)}
        told |= {o.id for o in mine if o.id not in self.before.who.held}
        open_ = {o.cluster for o in mine if o.id not in told and len(vectors.get(o.id, ()))}
        kept = {o.id: vectors[o.id] for o in mine if o.id in vectors and not (o.id in told and o.cluster in open_)}
        return replace(perceived, vectors=kept)

    def _one(
        self, perceived: Perceived, spoken_of: set[str], anchored: set[str], cannot: set[tuple[str, str]], history: Mapping[str, list[str]]
    ) -> None:
        found, verdicts = commits.recognise(self.db, State(self.who), perceived, self.kind, self.model, self._look)
        least = thresholds(self.model, self.kind).least
        for cluster, verdict in zip(found, verdicts, strict=True):
            past = history.get(cluster.observations[0], [])
            latest = next((b.node for b in reversed(self.log.bindings) if b.observation == cluster.observations[0]), None)
            if not past and (verdict.node is None and (self.kind == "voice" and cluster.duration < least)):
                continue
            person = self.before.who.person_of.get(latest or "")
            node = verdict.node
            if latest is not None and person in spoken_of:
                to = self.who.person_of.get(node or "")
                if node is None or (to != person and ((person, to) in cannot or anchored.intersection(cluster.observations))):
                    node = latest
            if node is None:
                node = next((n for n in past if n not in self.claimed), None) or self._new(perceived, cluster.observations[0])
            self.claimed.add(node)
            for o in cluster.observations:
                rows.insert(
                    self.db, "binding", sequence=self.sequence, observation=o, node=node, score=verdict.score, runner_up=verdict.runner_up,
                    margin=verdict.margin, by=self.model, at=self.at,
                )  # fmt: skip
                for leaf in self.before.who.evidence.leaves(o):  # the observations that replace it go with it
                    if (held := self.before.who.held.get(leaf)) is not None:
                        told = held.step is not None or held.set_aside
                        self._hold(leaf, held if told else Held(node, self.who.person_of.get(node)))

    def _look(self, kind: ObservationType, model: str) -> list[Gallery]:
        return self.galleries.of(self.db, self.who, kind, model)

    def _new(self, perceived: Perceived, first: str) -> str:
        seen, person = perceived.observation(first), commits.new_person(self.db)
        node = commits.new_node(
            self.db, self.kind, self.sequence, person=person, clip=perceived.clip, source=source_of(perceived.clip), start=seen.start,
            end=seen.end, model=self.model,
        )  # fmt: skip
        self.who.person_of[node] = person
        return node


def _vectors(db: DB, kind: ObservationType, model: str) -> dict[str, Floats]:
    return {r["owner"]: rows.vectors(r) for r in db.execute("SELECT * FROM embedding WHERE kind = ? AND model = ?", (kind, model))}


def _spoken_of(steps: list[Step], state: State) -> set[str]:
    """Return the persons, by their present ids, that a correction in force names."""
    who, found = state.who, set()
    for step in steps:
        named = [step.args.get(k) for k in KEPT_FOR] + list(step.args.get("others", ()))
        found |= {who.canonical[p] for p in named if isinstance(p, str) and p in who.canonical}
        found |= {who.person_of[n] for k in ("face", "voice") if (n := step.args.get(k)) in who.person_of}
    return found


def _anchored(steps: list[Step]) -> set[str]:
    """Return the observations that identify the persons of corrections (their anchors)."""
    return {o["id"] for s in steps for many in s.anchor.get("people", {}).values() for o in many}


def _cannot_links(state: State) -> set[tuple[str, str]]:
    """Return the pairs of persons, in both orders, with a cannot-link of a user."""
    canonical = state.who.canonical
    pairs = [
        (canonical[c.a], canonical[c.b])
        for c in state.who.every_constraint()
        if c.kind == "cannot" and c.state == "kept" and c.a in canonical and c.b in canonical
    ]
    return {p for a, b in pairs for p in ((a, b), (b, a))}


def _consolidate(db: DB, state: State, kind: ObservationType, model: str, at: str) -> None:
    """Cast this model's votes between nodes that are one person; the old model's votes no longer count (domain.fold)."""
    seen: set[tuple[str, str]] = set()
    known = galleries(db, state, kind, model)
    for clip in committed_clips(db):
        for v in consolidation.votes(db, state, reading.clip(db, clip), {f"{kind}_vectors": model}, lambda *_: known):
            if (v.a, v.b) not in seen:
                seen.add((v.a, v.b))
                sequence = commits.begin(db, "consolidation", at, clip, {f"{kind}_vectors": model})
                rows.insert(db, "vote", sequence=sequence, a=v.a, b=v.b, by=v.by, weight=v.weight, clip=v.clip)


# ---------------------------------------------------------------- what changes


def _compare(before: State, after: State, log: Log, kind: ObservationType, model: str) -> Reembedded:
    mine = [o for o in before.who.held if log.observations[o].type == kind]
    moved = []
    for o in mine:
        a, b = before.who.held[o], after.who.held[o]
        if (a.node, a.person) != (b.node, b.person):
            moved.append(MovedObservation(o, (a.node, b.node), (a.person, b.person)))
    both = [(p, q) for o in mine if (p := before.who.held[o].person) and (q := after.who.held[o].person)]
    was, now, same = _pairs(p for p, _ in both), _pairs(q for _, q in both), _pairs(both)
    touched = tuple((c, s) for c, s in _states(before, after) if c.state != s)
    people = (len({p for p, _ in both}), len({q for _, q in both}))
    counts = Counter(c.state for c in after.who.every_constraint())
    return Reembedded(
        kind, model, tuple(moved), now - same, was - same, same, people,
        {s: counts[s] for s in ("kept", "overridden", "waiting", "broken")}, touched,
    )  # fmt: skip


def _pairs(groups: Iterator[Any] | list[Any]) -> int:
    return sum(n * (n - 1) // 2 for n in Counter(groups).values())


def _states(before: State, after: State) -> Iterator[tuple[Constraint, str]]:
    now = {(c.step, c.kind, c.a, c.b): c.state for c in after.who.every_constraint()}
    for c in before.who.every_constraint():
        yield c, now.get((c.step, c.kind, c.a, c.b), "gone")
