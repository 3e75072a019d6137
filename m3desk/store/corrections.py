"""Corrections: a person's word, kept as steps of the journal; the fold makes them true at once and for every later clip.

`store.resolving` lists the kinds and their args.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from m3desk.domain.clip import source_of
from m3desk.domain.correction import KINDS, Effect
from m3desk.domain.log import can_redo, can_undo
from m3desk.domain.sentences import State
from m3desk.errors import CorrectionError, UsageError
from m3desk.store import commits, resolving, suggesting
from m3desk.store.anchors import anchor
from m3desk.store.resolving import Args, Desk
from m3desk.store.rows import dump, insert

if TYPE_CHECKING:
    from m3desk.store.sqlite import Memory

RESOLVE = {**resolving.RESOLVE, **suggesting.RESOLVE}


class _Rehearsed(Exception):
    """Ends a dry run: the transaction is rolled back and nothing remains."""


def correct(memory: Memory, kind: str, args: Mapping[str, Any], *, by: str, why: str | None, dry_run: bool, at: str) -> Effect:
    """Resolve a correction, write it to the journal, fold, and say what changed; a dry run does all of it and rolls back."""
    if kind not in RESOLVE:
        if kind in KINDS:
            raise CorrectionError(f"“{kind}” comes with the identity work.", "It is not in this version.")
        raise UsageError(f"there is no correction “{kind}”.", f"Known: {', '.join(RESOLVE)}.")
    before = memory.state()
    effect: Effect | None = None
    try:
        with memory.writing() as db:
            sequence = commits.begin(db, "revert" if kind == "revert" else "correction", at)
            step = int(db.execute("SELECT coalesce(max(step), 0) + 1 FROM journal").fetchone()[0])
            kept = RESOLVE[kind](Desk(db, before, sequence, step), dict(args))
            insert(
                db, "journal", step=step, sequence=sequence, kind=kind, args=dump(kept), anchor=dump(anchor(db, before, kept)), at=at,
                by=by, why=why, text="",
            )  # fmt: skip
            effect = _effect(before, memory.state_with(db), kept.get("as", kind), kept, step)
            db.execute("UPDATE journal SET text = ? WHERE step = ?", (effect.text, step))
            if dry_run:
                raise _Rehearsed
    except _Rehearsed:
        assert effect is not None
        return replace(effect, step=None)
    assert effect is not None
    return effect


def mark(memory: Memory, count: int, *, undone: bool, at: str) -> Effect:
    """Undo or redo the next `count` steps of their stack, whole or not at all."""
    before, log = memory.state(), memory.log()
    stack = can_undo(log) if undone else can_redo(log)
    verb = "undo" if undone else "redo"
    if count < 1 or len(stack) < count:
        has = f"only {len(stack)} can be" if stack else "there is nothing to"
        raise CorrectionError(f"{has} {verb}{'ne' if stack else ''}.", "See: m3desk journal.")
    with memory.writing() as db:
        for step in stack[:count]:
            sequence = commits.begin(db, verb, at)
            insert(db, "journal_mark", sequence=sequence, step=step, undone=int(undone))
    texts = {s.step: s.text for s in memory.journal()}
    changed = _effect(before, memory.state(), verb, {}, stack[count - 1])
    return replace(changed, text=f"{verb}: " + "; ".join(texts[n] for n in stack[:count]))


def _effect(before: State, after: State, kind: str, args: Args, step: int) -> Effect:
    """Say what a step changes: whose observations, which sentences, which people."""
    moved = [
        o for o in after.who.held.keys() | before.who.held.keys()
        if (before.who.held[o].person, before.who.held[o].set_aside) != (after.who.held[o].person, after.who.held[o].set_aside)
    ]  # fmt: skip
    told = [
        n for n in after.nodes.keys() | before.nodes.keys()
        if n.startswith(("episodic", "semantic")) and _face_of(before, n) != _face_of(after, n)
    ]  # fmt: skip
    people = {h.person for o in moved for h in (before.who.held[o], after.who.held[o]) if h.person}
    people |= {p for p in after.who.people if p in before.who.people and after.who.people[p].shown != before.who.people[p].shown}
    if args.get("person") in after.who.people:
        people.add(args["person"])
    text = _verb(before, after, kind, args) + _counts(len(moved), len(told))
    ordered = tuple(sorted(people, key=lambda p: int(p.rsplit("_", 1)[1])))
    return Effect(text, ordered, tuple(sorted(moved, key=lambda o: (source_of(o), o))), tuple(sorted(told)), step)


def _face_of(state: State, node: str) -> tuple[Any, ...]:
    n = state.nodes.get(node)
    return (None,) if n is None else (n.shown, n.deleted, n.pinned, n.people)


def _counts(moved: int, told: int) -> str:
    parts = []
    if moved:
        parts.append(f"{moved} observation{'s' if moved > 1 else ''} change{'' if moved > 1 else 's'} hands")
    if told:
        parts.append(f"{told} memor{'ies' if told > 1 else 'y'} read{'' if told > 1 else 's'} differently")
    return f" ({', '.join(parts)})" if parts else ""


def _verb(before: State, after: State, kind: str, args: Args) -> str:
    def shown(id_: str) -> str:
        state = before if id_ in before.who.people else after
        return state.who.people[id_].shown if id_ in state.who.people else id_

    ids = ", ".join(args.get("observations", ()))
    if "says" in args:
        return str(args["says"])
    match kind:
        case "name":
            return f"names {shown(args['person'])} {args['name']}" if args["name"] else f"takes the name of {shown(args['person'])} away"
        case "assign":
            return f"gives {ids} to {args['name'] or shown(args['person'])}"
        case "merge":
            text = f"makes {', '.join(shown(o) for o in args['others'])} one with {shown(args['keep'])}"
            against = [shown(o) for o in args["others"] if (o, args["keep"]) in before.who.distinct]
            return text + (f", though {' and '.join(against)} was kept apart from them or seen beside them" if against else "")
        case "distinct":
            return f"keeps {shown(args['a'])} and {shown(args['b'])} apart"
        case "split":
            return f"takes {ids} from {shown(args['of'])} for {args['name'] or shown(args['person'])}"
        case "exclude":
            return f"says that {ids} is not {shown(args['not'])}"
        case "set-aside":
            return f"sets {ids} aside"
        case "link" | "unlink":
            return f"{kind}s {args['face']} and {args['voice']}"
        case "ignore":
            return f"{'hides' if args['ignored'] else 'shows'} {shown(args['person'])}"
        case "reject":
            return f"does not call {shown(args['person'])} {args['name']}"
        case "revert":
            leaves = f"; {', '.join(f'step {n}' for n in args['leaves'])} rested on it" if args["leaves"] else ""
            return f"takes back step {args['step']}{leaves}"
        case "undo" | "redo":
            return kind
        case _:
            return f"{kind}s {args['memory']}"
