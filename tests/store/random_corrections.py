"""Random sequences of corrections, undo, redo, revert and clips; the invariants that must hold after each step.

`python tests/store/random_corrections.py 10000 [SEED]` runs 10,000 of them (about ten minutes on one core) and prints one JSON line.

What "the state of the same clips without corrections" is: the fold of the log without its journal and marks, and without every row that a
correction's commit wrote (nodes, sentences, superseding observations), save for the nodes that a later clip bound something to: what a
clip bound stays on the node it chose (memory.md), so such a node stays too, as one without a step. Names found again after a re-run stay:
they say in whom such a node was born. Where no clip came after the first correction, it is also the very state from before that.
"""

from __future__ import annotations

import contextlib
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from m3desk.domain.clip import Clip
from m3desk.domain.editing import Lesson, Sample
from m3desk.domain.fold import born_in
from m3desk.domain.identities import Identities
from m3desk.domain.log import Log, ObservationType, can_redo, can_undo
from m3desk.domain.memory import Decision, Draft, HeardName, Sentence, Span, Vote
from m3desk.domain.people import Person
from m3desk.domain.sentences import fold
from m3desk.errors import CorrectionError
from m3desk.interop import exports, imports
from m3desk.store import as_of, derived, galleries, rows
from m3desk.store.memory import Memory
from tests.store.invented import MODELS, clips, direction, seen, source, text_vectors

CLIPS = 5
CASTS = ((1, 2), (1, 3), (2, 3), (1,), (3, 4), (4, 1), (5, 6), (6, 2, 5))
NAMES = ("Ann", "Bob", "Carol", "Dan")
HEARD = ("Ann", "ann", "Ann Smith", "Smith", "Bob", "Bob Smith", "Person 3", "Zoe")


class Wrong(AssertionError):
    """Something that must hold does not; says what, and after which steps."""


@dataclass
class Life:
    """One memory and what was done to it."""

    memory: Memory
    dice: random.Random
    done: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    now: int = 0
    snapshots: list[tuple[str, derived.DerivedTables]] = field(default_factory=list)
    source: str = "s1"
    casts: list[tuple[int, ...]] = field(default_factory=list)
    pristine: derived.DerivedTables | None = None

    def date(self) -> str:
        """Return a later date each time."""
        self.now += 1
        return f"2026-11-{1 + self.now // 1440:02d}T{self.now // 60 % 24:02d}:{self.now % 60:02d}:00+00:00"

    def pick(self, options: Any) -> Any:
        options = list(options)
        if not options:
            raise CorrectionError("nothing to choose from.")
        return self.dice.choice(options)

    def people(self) -> list[Person]:
        return [p for p in self.memory.everybody() if p.clips] or self.memory.everybody()

    def person(self) -> str:
        """Return a person as somebody would write it: id, alias or name."""
        found = self.pick(self.people())
        return str(self.pick([found.id, found.id, found.name or found.id, *found.aliases]))

    def observations(self, person: str | None = None) -> list[str]:
        held = self.memory.state().who.held
        return sorted(o for o, h in held.items() if (h.person == person if person else True) and (h.node or h.set_aside))

    def told(self) -> str:
        return str(self.pick(s.id for s in self.memory.memories()))

    def nodes(self, type_: str) -> list[str]:
        return sorted(n.id for n in self.memory.state().who.nodes.values() if n.type == type_)


# ---------------------------------------------------------------- what may happen


def _correct(life: Life, kind: str, args: dict[str, Any]) -> None:
    if life.dice.random() < 0.2:  # a rehearsal leaves nothing behind
        life.memory.correct(kind, args, dry_run=True, at=life.date())
        life.counts["rehearsed"] += 1
        if life.dice.random() < 0.5:
            state_tables(life.memory)
    life.memory.correct(kind, args, at=life.date())
    step = life.memory.journal()[-1]
    against = [c for c in life.memory.constraints() if c.step == step.step and c.state != "kept"]
    if against:
        raise Wrong(f"the latest decision does not hold: {against}")


def _name(life: Life) -> None:
    _correct(life, "name", {"person": life.person(), "name": life.pick((*NAMES, None))})


def _assign(life: Life) -> None:
    some = life.dice.sample(life.observations(), k=min(len(life.observations()), life.dice.randint(1, 3)))
    if life.dice.random() < 0.4:
        _correct(life, "assign", {"observations": some, "person": None, "name": life.pick((*NAMES, None))})
    else:
        _correct(life, "assign", {"observations": some, "person": life.person()})


def _merge(life: Life) -> None:
    _correct(life, "merge", {"keep": life.person(), "others": [life.person() for _ in range(life.dice.randint(1, 2))]})


def _distinct(life: Life) -> None:
    _correct(life, "distinct", {"a": life.person(), "b": life.person()})


def _distinct_of_merged(life: Life) -> None:
    """Say that two who were merged are two after all."""
    merged = [p for p in life.people() if any(a.startswith("person_") for a in p.aliases)]
    person = life.pick(merged)
    _correct(life, "distinct", {"a": person.id, "b": life.pick(a for a in person.aliases if a.startswith("person_"))})


def _split(life: Life) -> None:
    person = life.pick(p for p in life.people() if len(life.observations(p.id)) > 1)
    if life.dice.random() < 0.4:
        _correct(life, "split", {"person": person.id, "clip": life.pick(person.clips)})
        return
    mine = life.observations(person.id)
    some = life.dice.sample(mine, k=life.dice.randint(1, len(mine) - 1))
    _correct(life, "split", {"person": person.id, "observations": some, "name": life.pick((*NAMES, None, None))})


def _exclude(life: Life) -> None:
    person = life.pick(life.people())
    _correct(life, "exclude", {"observation": life.pick(life.observations(person.id)), "person": person.id})


def _set_aside(life: Life) -> None:
    _correct(life, "set-aside", {"observation": life.pick(life.observations())})


def _link(life: Life) -> None:
    _correct(life, "link", {"face": life.pick(life.nodes("face")), "voice": life.pick(life.nodes("voice"))})


def _unlink(life: Life) -> None:
    person = life.pick(p for p in life.people() if p.faces and p.voices)
    _correct(life, "unlink", {"face": life.pick(person.faces), "voice": life.pick(person.voices)})


def _ignore(life: Life) -> None:
    _correct(life, "ignore", {"person": life.person(), "ignored": life.dice.random() < 0.7})


def _reject_name(life: Life) -> None:
    person = life.pick(p for p in life.people() if p.suggested_names)
    _correct(life, "reject", {"person": person.id, "name": person.suggested_names[0].name})


def _add(life: Life) -> None:
    who = life.pick(life.people())
    _correct(life, "add", {"text": f"{who.shown} likes {life.pick(('tea', 'cake'))}", "topic": "habit"})


def _edit(life: Life) -> None:
    _correct(life, "edit", {"memory": life.told(), "text": f"{life.pick(life.people()).shown} waves {life.dice.randint(1, 3)} times"})


def _delete(life: Life) -> None:
    _correct(life, "delete", {"memory": life.told()})


def _pin(life: Life) -> None:
    _correct(life, "pin", {"memory": life.told(), "pinned": life.dice.random() < 0.7})


def _choose(life: Life) -> None:
    """Take another writer's sentences for a clip: some that it has already, and new ones."""
    clip = life.pick(c for c in life.memory.clips(life.source) if c.state in ("episodic", "done"))
    seen_in = sorted(o for o in life.observations() if o.startswith(f"{clip.id}."))
    kept = [
        Sentence(s.text, "episodic", s.start, s.end, s.spans, s.citations, s.entities, s.quoted)
        for s in life.memory.memories(clip=clip.id, kind="episodic")
        if life.dice.random() < 0.5
    ]
    for _ in range(life.dice.randint(1, 2)):
        who = life.pick(seen_in)
        told = f"someone {life.pick(('draws a diamond', 'opens a door'))}"
        kept.append(Sentence(told, "episodic", clip.start, clip.end, (Span(0, 7, (who,)),), (who,)))
    draft = Draft(tuple(kept), model="watched by lives: 1, prompt 1")
    if not life.memory.offer(clip, draft, forgettings=life.memory.forgettings(), at=life.date()):
        raise CorrectionError("the version was refused.")
    if life.dice.random() < 0.8:
        _correct(life, "choose", {"clip": clip.id})


def _suggested(life: Life) -> None:
    """Answer a suggestion, as the window does: by the correction that either answer is."""
    chosen = life.pick(life.memory.suggestions())
    kind, args = chosen.accept if life.dice.random() < 0.5 else chosen.reject
    _correct(life, kind, dict(args))


def _undo(life: Life) -> None:
    life.memory.undo(life.dice.randint(1, 3), at=life.date())


def _redo(life: Life) -> None:
    life.memory.redo(life.dice.randint(1, 3), at=life.date())


def _revert(life: Life) -> None:
    chosen = life.pick(s.step for s in life.memory.journal())
    life.memory.revert(chosen, with_dependents=life.dice.random() < 0.5, at=life.date())


def _answer(life: Life) -> None:
    """Answer a suggestion by its number."""
    chosen = life.pick(life.memory.suggestions())
    _correct(life, life.pick(("accept", "reject")), {"n": chosen.n})


def _spoken(life: Life) -> Any:
    return life.pick(r.utterance for r in life.memory.speech(life.source))


def _split_at(life: Life) -> None:
    shown = [r.track for r in life.memory.tracks(life.source)] + [r.utterance for r in life.memory.speech(life.source)]
    chosen = life.pick(shown)
    _correct(life, "split-at", {"observation": chosen.id, "at": (chosen.start + chosen.end) // 2})


def _bounds(life: Life) -> None:
    said = _spoken(life)
    _correct(life, "bounds", {"observation": said.id, "start": said.start + 100_000 * life.dice.randint(0, 3), "end": said.end - 200_000})


def _words(life: Life) -> None:
    _correct(life, "words", {"observation": _spoken(life).id, "text": life.pick(("We drink tea.", "We drink tea with Ann.", "No."))})


def _sample() -> Sample:
    return Sample(MODELS["face_vectors"], direction(2, 0.2, seed=5, d=128, modality=1), quality=0.8)


def _add_face(life: Life) -> None:
    clip = life.pick(c for c in life.memory.clips(life.source) if c.state in ("episodic", "done"))
    at = clip.start + life.dice.randint(0, 25) * 1_000_000
    args = {"clip": clip.id, "at": at, "x": 300, "y": 200, "width": 50, "height": 60}
    sample = _sample() if life.dice.random() < 0.6 else None
    life.memory.correct("add-face", args, sample=sample, at=life.date())


def _enroll(life: Life) -> None:
    photo = replace(source(f"photo{life.now}"), has_audio=False)
    lesson = Lesson(photo, _sample(), face=(10.0, 10.0, 90.0, 90.0))
    life.memory.correct("enroll", {"name": life.pick(NAMES)}, lessons=[lesson], at=life.date())


def _reembed(life: Life) -> None:
    """Use another face model from now on, or the first one again; it sees a little otherwise."""
    model = life.pick((MODELS["face_vectors"], "sface another"))
    lacking = life.memory.lacking_rows("face", model)
    found = {t.id: direction(round(t.boxes[0].x / 10) % 4, 0.3, seed=len(t.id), d=128, modality=4) for t in lacking}  # type: ignore[union-attr]
    life.memory.store_vectors("face", model, list(found), list(found.values()))
    change = life.memory.reembed("face", model, dry_run=life.dice.random() < 0.3, at=life.date())
    if change.constraints["broken"]:
        raise Wrong(f"a model change breaks {change.touched}")


@cache
def _seen(clip: Clip, cast: tuple[int, ...]) -> Any:
    """Return a clip in which it is less clear than in most who is who: the same for the same clip and cast."""
    dice = random.Random(f"{clip.id} {cast}")
    perceived, draft = seen(clip, cast, noise=dice.choice((0.2, 0.2, 0.9)))
    faces = tuple(replace(f, end=f.end + dice.choice((0, 0, 8_000_000))) for f in perceived.faces)
    said = perceived.utterances
    votes = [v for v in draft.votes if dice.random() < 0.7]
    for _ in range(dice.randint(0, 4)):
        by, weight = dice.choice(("lips", "in turn", "named alike", "mouth still")), dice.choice((-0.5, 0.3, 0.35, 0.5, 0.9))
        votes.append(Vote(dice.choice(faces).id, dice.choice(said).id, by, weight))
    names = [
        HeardName(dice.choice((*faces, *said)).id, dice.choice(HEARD), dice.choice((0.3, 0.5, 0.9)), by, said[0].id, "words", clip.start)
        for by in dice.choices(("introduced", "addressed", "addressed", "caption"), k=dice.randint(0, 3))
    ]
    apart = perceived.cannot_link | ({(said[0].id, said[1].id)} if len(said) > 1 and dice.random() < 0.5 else set())
    perceived = replace(perceived, media={}, faces=faces, cannot_link=frozenset(apart))
    draft = replace(draft, votes=tuple(votes), names=(*draft.names, *names))
    return perceived, draft, text_vectors(draft)


def _clip(life: Life) -> None:
    clip = life.pick(life.memory.next_clips(life.source)[:1])
    life.casts.append(life.pick(CASTS))
    _remember(life, clip, life.casts[-1])


def _remember(life: Life, clip: Clip, cast: tuple[int, ...]) -> None:
    perceived, draft, vectors = _seen(clip, cast)
    life.memory.commit_episodic(clip, perceived, draft, text_vectors=vectors, text_model="e5 1", models=MODELS, at=life.date())


def _conclude(life: Life) -> None:
    clip = life.pick(life.memory.to_conclude()[:1])
    span = Span(0, 7, (f"{clip.id}.f0",))
    rests = tuple(s.id for s in life.memory.episodic(clip.id)[:2])
    told = Sentence("someone likes tea", "semantic", clip.start, clip.end, (span,), (f"{clip.id}.f0",), topic="habit", rests_on=rests)
    there = life.memory.candidates(told, life.source)
    kind = life.pick(("reinforce", "contradict", "add")) if there else "add"
    decision = Decision(kind, there[0][0].id) if there and kind != "add" else Decision("add")
    life.memory.commit_semantic(clip, Draft((told,), model="words 1"), [decision], at=life.date())


def _rebuild(life: Life) -> None:
    """Re-memorize the same file, as `memorize --rebuild` does: other ids, corrections found again by their anchors."""
    life.memory.remove_source(life.source)
    life.source = life.memory.add_source(source(seconds=30 * CLIPS)).id
    life.memory.plan_clips(life.source, clips(life.source, CLIPS), fps=5.0)
    for clip, cast in zip(life.memory.next_clips(life.source), life.casts, strict=False):
        _remember(life, clip, cast)
    life.snapshots.clear()  # what was removed is gone from every date


ACTIONS: dict[str, tuple[int, Callable[[Life], None]]] = {
    "name": (6, _name), "assign": (8, _assign), "merge": (10, _merge), "distinct": (5, _distinct),
    "distinct-merged": (4, _distinct_of_merged), "split": (7, _split), "exclude": (6, _exclude), "set-aside": (3, _set_aside),
    "link": (4, _link), "unlink": (4, _unlink), "ignore": (2, _ignore), "reject-name": (2, _reject_name), "add": (2, _add),
    "answer": (3, _answer), "split-at": (4, _split_at), "bounds": (2, _bounds), "words": (2, _words), "add-face": (2, _add_face),
    "enroll": (2, _enroll), "reembed": (2, _reembed), "edit": (3, _edit), "delete": (3, _delete), "pin": (2, _pin), "choose": (3, _choose),
    "suggested": (4, _suggested), "undo": (10, _undo), "redo": (6, _redo), "revert": (6, _revert), "clip": (12, _clip),
    "conclude": (5, _conclude), "rebuild": (1, _rebuild),
}  # fmt: skip
"""What may happen, and how often beside the rest."""


# ---------------------------------------------------------------- what must hold


def state_tables(memory: Memory) -> derived.DerivedTables:
    """Return the rows that the folded tables hold, after checking that they are what was kept and what the log, read again, folds to."""
    with memory.snapshot() as db:
        whole = fold(rows.full_log(db))
        held, folded = derived.stored(db), derived.tables(whole)
    if wrong := derived.differences(held, folded):
        raise Wrong(f"the tables are not the log's: {wrong[:3]}")
    if wrong := derived.differences(derived.tables(memory.state()), folded):
        raise Wrong(f"the kept state is not the log's: {wrong[:3]}")
    if dict(memory._ledger.born_in()) != born_in(memory.log(), whole.who.nodes):
        raise Wrong("in whom nodes are born is not the log's")
    if wrong := list(unlike(memory.state().who, whole.who)):
        raise Wrong(f"the kept state is not the log's: {wrong[:3]}")
    return held


def unlike(kept: Identities, folded: Identities) -> Iterator[str]:
    """Yield what two states that make the same rows differ in."""
    for name in ("nodes", "person_of", "members"):
        if dict(getattr(kept, name)) != getattr(folded, name):
            yield name
    for o in folded.evidence.seen:
        if kept.evidence.counts(o) != folded.evidence.counts(o) or kept.evidence.leaves(o) != folded.evidence.leaves(o):
            yield f"how {o} stands"
    for node in folded.nodes:
        if kept.of_node(node) != folded.of_node(node) or (node in kept.told) != (node in folded.told):
            yield f"what {node} holds"
    for a in folded.people:
        if kept.of_person(a) != folded.of_person(a):
            yield f"what {a} owns"
        for b in folded.people:
            if ((a, b) in kept.distinct) != ((a, b) in folded.distinct):
                yield f"whether {a} and {b} are kept apart"


def unlike_galleries(memory: Memory) -> Iterator[str]:
    """Yield the nodes whose kept gallery, or that of a reader, is not the one read from the database."""
    types: tuple[ObservationType, ...] = ("face", "voice")
    for type_ in types:
        model = memory.settings().get(f"{type_}_vectors", "")
        with memory.snapshot() as db:
            kept = {g.node: g for g in memory._ledger.galleries(type_, model)}
            anew = {g.node: g for g in galleries.galleries(db, memory.state(), type_, model)}
        read = {g.node: g for g in memory.galleries(type_, model)}
        for node in kept.keys() | anew.keys() | read.keys():
            a, b, c = (replace(g, vectors=g.vectors.tobytes()) if (g := many.get(node)) else None for many in (kept, anew, read))
            if not a == b == c:
                yield node


def check(memory: Memory) -> derived.DerivedTables:
    """Raise Wrong where the state is not the replay of the log, a constraint is broken, or somebody is not exactly one person."""
    tables = state_tables(memory)
    if wrong := list(unlike_galleries(memory)):
        raise Wrong(f"the kept galleries are not the rows': {wrong[:3]}")
    if broken := [c for c in memory.constraints() if c.state == "broken"]:
        raise Wrong(f"broken: {broken}")
    who = memory.state().who
    for b in (b for many in who.bindings.values() for b in many):
        if b.superseded is None and (held := who.held.get(b.observation)) is not None and held.node != b.node:
            raise Wrong(f"{b.observation} belongs to {held.node}, but its binding to {b.node} is said to be in force")
    owners = Counter(n for members in who.members.values() for n in members)
    nodes = {n.id for n in who.nodes.values() if n.type in ("face", "voice")}
    if set(owners) != nodes or max(owners.values(), default=1) > 1:
        raise Wrong(f"not in exactly one person: {sorted(set(owners) ^ nodes)} {[n for n, c in owners.items() if c > 1]}")
    for alias, id_ in who.canonical.items():
        if who.canonical.get(id_) != id_ or id_ not in who.people:
            raise Wrong(f"{alias} goes by {id_}, who is nobody")
    return tables


def without_corrections(log: Log, corrections: set[int]) -> Log:
    """Return the same clips without corrections (see the module); `corrections`: the sequences of commits that a user made."""
    bare = Log()
    bound = {b.node for b in log.bindings if log.observations[b.observation].sequence not in corrections}
    bare.nodes = {
        id_: replace(n, step=None) for id_, n in log.nodes.items() if n.sequence not in corrections or id_ in bound
    }  # fmt: skip
    bare.observations = {id_: o for id_, o in log.observations.items() if o.sequence not in corrections}
    bare.sentences = {id_: t for id_, t in log.sentences.items() if t.sequence not in corrections}
    for name in ("bindings", "votes", "names", "reinforcements", "links"):
        setattr(bare, name, [r for r in getattr(log, name) if r.sequence not in corrections])
    bare.cannot_links, bare.renamed = list(log.cannot_links), list(log.renamed)
    return bare


def check_undo_of_all(memory: Memory, life: Life) -> None:
    """Undo everything: the state of the same clips without corrections; redo as much: the state from before."""
    before = state_tables(memory)
    count = len(can_undo(memory.log()))
    if count:
        memory.undo(count, at=life.date())
    now = check(memory)
    with memory.snapshot() as db:
        corrections = {r[0] for r in db.execute("SELECT sequence FROM commits WHERE kind IN ('correction', 'revert')")}
        bare = derived.tables(fold(without_corrections(rows.full_log(db), corrections)))
    if wrong := derived.differences(now, bare):
        raise Wrong(f"undo of all is not the same clips without corrections: {wrong[:5]}")
    if life.pristine is not None and (wrong := derived.differences(now, life.pristine)):
        raise Wrong(f"undo of all is not the state from before the first correction: {wrong[:5]}")
    if count:
        if can_redo(memory.log())[:count] != list(reversed(can_undo_before(memory, count))):
            raise Wrong("redo would not bring back what undo took")
        memory.redo(count, at=life.date())
    if wrong := derived.differences(state_tables(memory), before):
        raise Wrong(f"redo of all is not the state from before: {wrong[:5]}")


def can_undo_before(memory: Memory, count: int) -> list[int]:
    """Return the last `count` steps that were undone, in the order of their undoing."""
    with memory.snapshot() as db:
        return [r[0] for r in db.execute("SELECT step FROM journal_mark ORDER BY id DESC LIMIT ?", (count,))][::-1]


def check_beliefs(life: Life) -> None:
    """Read the memory as of a random date: what was believed then is what the tables held then."""
    if not life.snapshots:
        return
    at, then = life.dice.choice(life.snapshots)
    with Memory.open(life.memory.path, believed_at=at) as past, past.snapshot() as db:
        if wrong := derived.differences(derived.stored(db), then):
            raise Wrong(f"belief at {at} is not what was believed: {wrong[:5]}")
        if not isinstance(past.as_of, as_of.AsOf):
            raise Wrong("an earlier state does not say that it is one")


def check_export(life: Life, folder: Path) -> None:
    """Export, import, export again: the same memory."""
    first = exports.export_json(life.memory)
    path = folder / "x.json"
    path.write_text(json.dumps(first), "utf-8")
    with Memory.create(folder / "again.m3desk") as again:
        imports.write(imports.load(path), again)
        check(again)
        if wrong := exports.same_memory(first, exports.export_json(again)):
            raise Wrong(f"an import of the export differs: {wrong[:5]}")


# ---------------------------------------------------------------- a life


@contextlib.contextmanager
def born(folder: Path) -> Iterator[Memory]:
    """Make a memory with two clips remembered and more to come, that a power cut may destroy."""
    with Memory.create(folder / "m.m3desk") as memory:
        memory._db.execute("PRAGMA synchronous = OFF")
        memory.set_setting("imported_without_media", "1")
        memory.plan_clips(memory.add_source(source(seconds=30 * CLIPS)).id, clips("s1", CLIPS), fps=5.0)
        yield memory


def live(seed: int, *, steps: int = 14, deep: bool = False) -> Counter[str]:
    """Live one random life and return how often each thing happened. Raises Wrong. `deep`: export and import too."""
    fast = Path("/dev/shm")
    with (
        mock.patch.object(rows, "CHUNK", 2),  # lists that grow with the clips are kept in chunks, in short lives too
        mock.patch.object(derived, "CHUNK", 2),
        tempfile.TemporaryDirectory(dir=fast if fast.is_dir() else None, prefix="m3desk-life-") as name,
        born(Path(name)) as memory,
    ):
        life = Life(memory, random.Random(seed))
        weights = [w for w, _ in ACTIONS.values()]
        try:
            _clip(life)
            _clip(life)
            for _ in range(steps):
                action = life.dice.choices(list(ACTIONS), weights)[0]
                if life.done and life.done[-1] == "undo" and life.dice.random() < 0.4:
                    action = "redo"
                if not memory.journal():
                    life.pristine = state_tables(memory)
                elif action in ("clip", "conclude", "rebuild", "reembed"):
                    life.pristine = None
                try:
                    life.done.append(action)
                    ACTIONS[action][1](life)
                    life.counts[action] += 1
                except CorrectionError:
                    life.done.pop()
                    life.counts["refused"] += 1
                life.snapshots.append((life.date(), check(memory)))
            life.counts.update(memory._ledger.counts)  # how often the state was extended, and computed as a whole
            check_beliefs(life)
            check_undo_of_all(memory, life)
            if deep:
                check_export(life, Path(name))
                if wrong := memory.integrity():
                    raise Wrong(f"check: {wrong[:3]}")
        except Exception as error:
            raise Wrong(f"seed {seed}, after {life.done}: {type(error).__name__}: {error}") from error
        return life.counts


def main() -> int:
    count, first = int(sys.argv[1]) if len(sys.argv) > 1 else 100, int(sys.argv[2]) if len(sys.argv) > 2 else 0
    began, total, failures = time.monotonic(), Counter[str](), []
    for seed in range(first, first + count):
        try:
            total += live(seed, deep=seed % 100 == 0)
        except Wrong as error:
            failures.append(str(error))
            print(error, file=sys.stderr, flush=True)
            if len(failures) >= 20:
                break
    print(json.dumps({"sequences": count, "differences": len(failures), "seconds": round(time.monotonic() - began), "steps": dict(total)}))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
