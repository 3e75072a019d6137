"""Counts the corrections needed to split wrongly fused characters of real M3-Agent graphs, made by a scripted user.

The graphs name almost nobody, so the truth is what their questions tell: where a sentence that a node says is what a question's
reasoning tells of somebody by name, the node is labelled, by hand, with question and sentence beside it (11 of the 29 nodes of
living_room_06's first character; of kitchen_03's only that its two faces are two people, which 66 sentences say: the questions' two names
fit no face for sure). The user answers suggestions where the labelled nodes of both sides tell, and assigns by hand where they don't.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from m3desk.bench.material import data
from m3desk.interop import m3agent
from m3desk.store.memory import Memory

LABELS: Mapping[str, Sequence[tuple[str, str, str, int]]] = {
    "living_room_06": (
        ("face_377", "Jack", "Q07: allergic to mango", 852),
        ("voice_520", "Jack", "Q10: has the robot bring the umbrellas", 1161),
        ("voice_994", "Jack", "Q11: laptop; speaks of Sophie and Lily by name", 1212),
        ("face_417", "Sophie", "Q13: wants to try yoga", 572),
        ("voice_299", "Sophie", "Q05: a project to do all by herself", 497),
        ("face_378", "Lily", "Q04: asks Jack why he can't eat mango", 853),
        ("voice_416", "Lily", "Q06: yoga relaxes her body", 526),
        ("voice_37", "Lily", "Q09: has the mat put into the storage room", 347),
        ("voice_604", "Lily", "Q13: will teach yoga", 1013),
        ("voice_255", "Lily", "Q06: says what yoga is good for", 1054),
        ("voice_147", "Lily", "likes broccoli; sentence 1246: Lily wants broccoli", 1112),
    ),
    "kitchen_03": (
        ("face_2", "one", "named beside face_3 as another person in 66 sentences", 9),
        ("face_3", "the other", "named beside face_2 as another person in 66 sentences", 11),
    ),
}
"""Graph → node, who it is, which question tells, the sentence that the node says."""

ROUNDS = 60
"""Decisions after which the user gives up."""


def measure(args: Sequence[str] = ()) -> dict[str, Any]:
    """Return per graph what the user had to do, with suggestions and without. `args`: names of graphs (default: both)."""
    return {name: {how: work(name, how == "with suggestions") for how in ("with suggestions", "by hand")} for name in args or LABELS}


def work(name: str, suggestions: bool) -> dict[str, Any]:
    """Import a graph and let the user separate its people; return what was done."""
    loaded = m3agent.load(data() / "pickles" / f"{name}.rebuilt.pkl.gz")
    with tempfile.TemporaryDirectory(prefix="m3desk-fused-") as folder, Memory.create(Path(folder) / "m.m3desk") as memory:
        memory.adopt(loaded.graph)
        user = User(memory, {node: who for node, who, _, _ in LABELS[name]})
        return user.separate(suggestions)


class User:
    """Knows who some nodes are, and that is all. Each deed is one command of `m3desk people`."""

    def __init__(self, memory: Memory, labels: Mapping[str, str]) -> None:
        self._memory = memory
        node_of = {b.observation: b.node for b in memory.bindings()}
        self._who = {o: labels[n] for o, n in node_of.items() if n in labels}
        self._labels = labels

    def separate(self, suggestions: bool) -> dict[str, Any]:
        """Work until nobody holds two people; return what was done."""
        done: Counter[str] = Counter()
        skipped: set[int] = set()
        for _ in range(ROUNDS):
            mixed = self._mixed()
            if not mixed:
                break
            asked = (
                next((s for s in self._memory.suggestions() if self._about(s, mixed) and s.n not in skipped), None) if suggestions else None
            )
            if asked is None:
                self._by_hand(mixed)
                done["assigned by hand"] += 1
                continue
            verdict = self._two(asked.groups)
            if verdict is None:
                skipped.add(asked.n)
                done["left open"] += 1
            else:
                self._memory.correct("accept" if verdict else "reject", {"n": asked.n})
                done["accepted" if verdict else "rejected"] += 1
        merges = self._gather()
        separated = not self._mixed()
        corrections = sum(done.values()) - done["left open"]
        return {
            "corrections_to_separate": corrections, "merges_to_gather": merges, "separated": separated, **dict(done),
            "labelled_nodes": len(self._labels), "nodes_with_their_person": self._carried(),
        }  # fmt: skip

    def _names(self, observations: Iterable[str]) -> Counter[str]:
        return Counter(self._who[o] for o in observations if o in self._who)

    def _held(self) -> dict[str, list[str]]:
        held: dict[str, list[str]] = defaultdict(list)
        for o, h in self._memory.state().who.held.items():
            if h.person:
                held[h.person].append(o)
        return held

    def _mixed(self) -> dict[str, Counter[str]]:
        return {p: names for p, mine in self._held().items() if len(names := self._names(mine)) > 1}

    @staticmethod
    def _about(suggestion: Any, mixed: Mapping[str, Any]) -> bool:
        return suggestion.kind == "two_people" and suggestion.people[0] in mixed

    def _two(self, groups: Sequence[Sequence[str]]) -> bool | None:
        """Return whether two sides are two people: their commonest names differ; None where a side has no name."""
        first, second = (self._names(g) for g in groups)
        if not first or not second:
            return None
        return first.most_common(1)[0][0] != second.most_common(1)[0][0]

    def _by_hand(self, mixed: Mapping[str, Counter[str]]) -> None:
        """Take the fewest observations of one name out of a person, to whom already has that name, else to somebody new."""
        person, names = max(mixed.items(), key=lambda m: (sum(m[1].values()), m[0]))
        name = min(names, key=lambda n: (names[n], n))
        held = self._held()
        mine = [o for o in held[person] if self._who.get(o) == name]
        homes = [p for p, seen in held.items() if p != person and set(self._names(seen)) == {name}]
        if homes:
            self._memory.correct("assign", {"observations": mine, "person": homes[0], "name": None})
        else:
            self._memory.correct("split", {"person": person, "observations": mine})

    def _gather(self) -> int:
        """Merge the persons of one name; return how many commands that took (one a name)."""
        homes: dict[str, list[str]] = defaultdict(list)
        for person, mine in sorted(self._held().items()):
            for name in self._names(mine):
                homes[name].append(person)
        several = [p for p in homes.values() if len(p) > 1]
        for keep, *others in several:
            self._memory.correct("merge", {"keep": keep, "others": others})
        return len(several)

    def _carried(self) -> dict[str, int]:
        """Return name → how many nodes without a label are with that person in the end: what nobody had to look at."""
        found: Counter[str] = Counter()
        state = self._memory.state()
        for mine in self._held().values():
            names = self._names(mine)
            nodes = {state.who.held[o].node for o in mine if o not in self._who}
            if names:
                found[names.most_common(1)[0][0]] += len(nodes)
        return dict(sorted(found.items()))
