"""Corrections: a person's word, kept as steps of the journal; the fold makes them true at once and for every later clip.

`store.resolving` and `store.superseding` list the kinds and their args; `store.suggesting` answers suggestions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from m3desk.domain.correction import KINDS, Effect
from m3desk.domain.editing import Lesson, Likeness
from m3desk.domain.log import can_redo, can_undo
from m3desk.errors import CorrectionError, UsageError
from m3desk.store import commits, effects, enrolling, resolving, suggesting, superseding
from m3desk.store.anchors import anchor
from m3desk.store.resolving import Desk
from m3desk.store.rows import dump, insert

if TYPE_CHECKING:
    from m3desk.store.sqlite import Memory

RESOLVE = {**resolving.RESOLVE, **suggesting.RESOLVE, **superseding.RESOLVE, **enrolling.RESOLVE}


class _Rehearsed(Exception):
    """Ends a dry run: the transaction is rolled back and nothing remains."""


def correct(
    memory: Memory,
    kind: str,
    args: Mapping[str, Any],
    *,
    by: str,
    why: str | None,
    dry_run: bool,
    at: str,
    likeness: Likeness | None = None,
    lessons: Sequence[Lesson] = (),
) -> Effect:
    """Resolve a correction, write it to the journal, fold, and say what changed; a dry run does all of it and rolls back."""
    if kind not in RESOLVE:
        if kind in KINDS:
            raise CorrectionError(f"“{kind}” comes with the identity work.", "It is not in this version.")
        raise UsageError(f"there is no correction “{kind}”.", f"Known: {', '.join(RESOLVE)}.")
    if why is not None and not resolving.plain(why):
        raise CorrectionError("the note can't be read.", "Use plain text of at most 100,000 characters.")
    given = resolving.checked(kind, args)
    before = memory.state()
    effect: Effect | None = None
    try:
        with memory.writing() as db:
            sequence = commits.begin(db, "revert" if kind == "revert" else "correction", at)
            step = int(db.execute("SELECT coalesce(max(step), 0) + 1 FROM journal").fetchone()[0])
            kept = RESOLVE[kind](Desk(db, before, sequence, step, at, likeness, tuple(lessons)), given)
            insert(
                db, "journal", step=step, sequence=sequence, kind=kind, args=dump(kept), anchor=dump(anchor(db, before, kept)), at=at,
                by=by, why=why, text="",
            )  # fmt: skip
            effect = effects.effect(before, memory.state_with(db), kept.get("as", kind), kept, step, memory.log())
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
    changed = effects.effect(before, memory.state(), verb, {}, stack[count - 1], memory.log())
    return replace(changed, text=f"{verb}: " + "; ".join(texts[n] for n in stack[:count]))
