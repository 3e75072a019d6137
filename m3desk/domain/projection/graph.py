"""The text of sentences, the nodes and the edges of the memory graph, updated only for what changed."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from m3desk.domain.log import Linked, Log, Reinforced, SentenceRow
from m3desk.domain.projection.decisions import Decisions
from m3desk.domain.projection.evidence import Evidence
from m3desk.domain.projection.joining import Joining
from m3desk.domain.projection.tables import SetsByKey, Table, Tables
from m3desk.domain.sentences import NodeNow, State, ends, one_person, owner_node, sentence, spans_of, stands, weighed
from m3desk.domain.tally import Tally, joined

Edge = tuple[str, str, str]


class Graph:
    """The sentences of a log, and the memory graph."""

    def __init__(self, tables: Tables, log: Log, state: State, evidence: Evidence, joining: Joining) -> None:
        self._log, self._state, self._evidence, self._joining = log, state, evidence, joining
        self.about: SetsByKey[str, str] = tables.index()  # original observation → sentences that cite it
        self.speaking_of: SetsByKey[str, str] = tables.index()  # person → sentences
        self.naming: SetsByKey[str, str] = tables.index()  # entity → sentences written about it
        self.by_step: SetsByKey[int, str] = tables.index()
        self._raw: Table[str, NodeNow] = tables.table()  # semantic sentences before they are weighed
        self._reinforced: Table[str, tuple[Reinforced, ...]] = tables.table()
        self._grounds: Table[str, tuple[str, ...]] = tables.table()
        self._grounding: SetsByKey[str, str] = tables.index()
        self._clips: SetsByKey[str, tuple[str, str]] = tables.index()  # entity → (clip, sentence there that mentions it)
        self._spoken: SetsByKey[str, str] = tables.index()  # entity → sentences that mention it
        self._spoken_in: Table[str, tuple[str, ...]] = tables.table()  # entity → clips in order
        self._clip_counts: Table[tuple[str, str], int] = tables.table()
        self._ends: Table[str, tuple[str, ...]] = tables.table()
        self._mentions: Table[Edge, float] = tables.table()
        self._same: Table[Edge, float] = tables.table()
        self._same_of: Table[str, dict[tuple[str, str], float]] = tables.table()
        self._typed: Table[Edge, Linked] = tables.table()
        self._typed_of: SetsByKey[str, Edge] = tables.index()

    def add(self, told: Iterable[SentenceRow], reinforced: Iterable[Reinforced], links: Iterable[Linked]) -> tuple[set[str], set[Edge]]:
        """Add new rows; return the sentences and the typed links that they affect."""
        touched: set[str] = set()
        for t in told:
            touched.add(t.id)
            self.rest(t.id, {*t.citations, *(o for s in t.spans for o in s.observations)})
            for thing in t.entities:
                self.naming.add(thing, t.id)
            if t.step is not None:
                self.by_step.add(t.step, t.id)
        for r in reinforced:
            self._reinforced.put(r.node, (*self._reinforced.get(r.node, ()), r))
            touched.add(r.node)
        edges: set[Edge] = set()
        for link in links:
            edge = (link.a, link.b, link.kind)
            self._typed.put(edge, link)
            edges.add(edge)
            for end in (link.a, link.b):
                self._typed_of.add(end, edge)
            if link.kind == "derived_from":
                self._grounds.put(link.a, (*self._grounds.get(link.a, ()), link.b))
                self._grounding.add(link.b, link.a)
                touched.add(link.a)
        return touched, edges

    def rest(self, id_: str, observations: Iterable[str]) -> None:
        """Note that a sentence cites observations."""
        for o in observations:
            self.about.add(self._evidence.root(o), id_)

    def edit(self, id_: str, spans: Iterable[object]) -> None:
        """Note that an edited sentence cites the observations of the edit."""
        self.rest(id_, (o for s in spans_of(spans) for o in s.observations))

    # ------------------------------------------------------------------ sentences

    def render(self, touched: set[str], decisions: Decisions) -> tuple[set[str], set[str]]:
        """Render the affected sentences again, and those derived from them.

        Return the entities whose mentions changed, and the sentences that came, went, or changed their weight or their spans.
        """
        log, state = self._log, self._state
        queue = [(log.sentences[s].number, s) for s in touched if s in log.sentences]
        heapify(queue)
        waiting = {s for _, s in queue}
        things: set[str] = set()
        said: set[str] = set()
        rebuilt: set[str] = set()
        while queue:
            _, id_ = heappop(queue)
            if id_ not in waiting:
                continue
            waiting.discard(id_)
            told = log.sentences[id_]
            old = state.nodes.get(id_)
            was_raw, first = self._raw.get(id_, old), id_ not in said
            node = raw = None
            if told.step is None or told.step in decisions.active:
                node = raw = sentence(told, log, state.who, decisions.changes)
                if node.type == "semantic":
                    self._raw.put(id_, node)
                    groundless = id_ not in decisions.changes.edited and any(
                        self._changed(g, told, decisions) for g in self._grounds.get(id_, ())
                    )
                    node = weighed(node, self._reinforced.get(id_, ()), groundless)
            else:
                self._raw.drop(id_)
            _ = state.nodes.put(id_, node) if node is not None else state.nodes.drop(id_)  # type: ignore[attr-defined]
            said.add(id_)
            for g in self._grounding[id_]:
                if g in log.sentences and (_ground(old, was_raw) != _ground(node, raw) or (first and id_ in touched)):
                    waiting.add(g)
                    heappush(queue, (log.sentences[g].number, g))
            if node is not old:
                things |= self._speak(told, old, node)
                if old is None or node is None or (old.weight, old.deleted, old.spans) != (node.weight, node.deleted, node.spans):
                    rebuilt.add(id_)
        return things, rebuilt

    def _changed(self, ground: str, told: SentenceRow, decisions: Decisions) -> bool:
        """Return whether a sentence that another one was derived from has changed. Later ones (of an import) count as written."""
        if ground in decisions.changes.edited or ground in decisions.changes.deleted:
            return True
        there = self._log.sentences.get(ground)
        later = there is not None and there.number >= told.number
        node = self._raw.get(ground, self._state.nodes.get(ground)) if later else self._state.nodes.get(ground)
        return node is not None and node.stale

    def _speak(self, told: SentenceRow, old: NodeNow | None, node: NodeNow | None) -> set[str]:
        """Update the indexes of a sentence; return the entities whose mentions changed."""
        if old is None or node is None or old.people != node.people:
            for person in old.people if old else ():
                if node is None or person not in node.people:
                    self.speaking_of.remove(person, told.id)
            for person in node.people if node else ():
                self.speaking_of.add(person, told.id)
        was = old.clips if old and not old.deleted else None
        now = node.clips if node and not node.deleted else None
        if was == now:
            return set()
        for thing in set(told.entities):
            _ = self._spoken.add(thing, told.id) if now is not None else self._spoken.remove(thing, told.id)
            for clip in {*(was or ())} ^ {*(now or ())}:
                self._count(thing, clip, 1 if clip in (now or ()) else -1)
        return set(told.entities)

    def _count(self, thing: str, clip: str, by: int) -> None:
        count = self._clip_counts.get((thing, clip), 0) + by
        _ = self._clip_counts.put((thing, clip), count) if count else self._clip_counts.drop((thing, clip))
        if count == 0 or (count == 1 and by == 1):
            known = self._spoken_in.get(thing, ())
            self._spoken_in.put(thing, joined(known, (clip,)) if count else tuple(c for c in known if c != clip))

    # ------------------------------------------------------------------ faces, voices, things

    def render_owners(self, nodes: Iterable[str]) -> set[str]:
        """Compute face, voice, object and place nodes again; return those that came or went."""
        state, moved = self._state, set()
        for id_ in nodes:
            birth = state.who.nodes.get(id_)
            if birth is None:
                if self._log.nodes.get(id_) is not None and state.nodes.drop(id_):  # type: ignore[attr-defined]
                    moved.add(id_)
                continue
            if id_ not in state.nodes:
                moved.add(id_)
            tally = self._evidence.tally.get(id_, Tally())
            node = owner_node(birth, state.who, tally, len(self._spoken[id_]), self._spoken_in.get(id_, ()))
            state.nodes.put(id_, node)  # type: ignore[attr-defined]
        return moved

    # ------------------------------------------------------------------ edges

    def _together(self, person: str) -> dict[tuple[str, str], float]:
        who = self._state.who
        members = who.members.get(person, ())
        pairs = {p for n in members for p in self._joining.pairs_of[n]}
        return one_person(members, [e for p in pairs if (e := who.equivalences[p]).accepted], who)

    def draw_edges(self, sentences: set[str], people: set[str], moved: set[str], edges: set[Edge]) -> None:
        """Compute edges again: of sentences, within persons, and typed ones. `moved`: nodes that came or went."""
        state, log = self._state, self._log
        altered = set(edges)
        for node in (*moved, *sentences):
            altered |= set(self._typed_of[node])
        for id_ in sentences | {s for n in moved for s in self.naming[n]}:
            told, old = state.nodes.get(id_), self._ends.get(id_, ())
            now = ends(log.sentences[id_], told, state) if told is not None else ()
            for end in (e for e in old if e not in now):
                self._mentions.drop((id_, end, "mentions"))
                altered.add((id_, end, "mentions"))
            for end in now:
                if told is not None and self._mentions.put((id_, end, "mentions"), told.weight):
                    altered.add((id_, end, "mentions"))
            _ = self._ends.put(id_, now) if now else self._ends.drop(id_)
        together = {p: self._together(p) for p in people}
        for person in together:
            for a, b in self._same_of.get(person, {}):
                self._same.drop((a, b, "equivalence"))
                altered.add((a, b, "equivalence"))
        for person, same in together.items():
            for (a, b), weight in same.items():
                self._same.put((a, b, "equivalence"), weight)
                altered.add((a, b, "equivalence"))
            _ = self._same_of.put(person, same) if same else self._same_of.drop(person)
        for edge in altered:
            link = self._typed.get(edge)
            there = 1.0 if link is not None and stands(link, state) else self._mentions.get(edge, self._same.get(edge))
            _ = state.edges.put(edge, there) if there is not None else state.edges.drop(edge)  # type: ignore[attr-defined]


def _ground(node: NodeNow | None, raw: NodeNow | None) -> tuple[bool, bool, bool]:
    """Return the part of a sentence that those derived from it depend on."""
    return node is not None, node is not None and node.stale, raw is not None and raw.stale
