"""Corrections of the user, written as steps of the journal; the fold applies them at once and to every later clip.

`store.corrections.resolving` and `store.corrections.superseding` list the kinds and their args; `store.questions` answers suggestions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from m3desk.domain.correction import KINDS, Effect
from m3desk.domain.editing import Lesson, Sample
from m3desk.domain.log import can_redo, can_undo
from m3desk.errors import CorrectionError, UsageError
from m3desk.store import commits, questions
from m3desk.store.corrections import bookmarking, choosing, effects, enrolling, resolving, superseding
from m3desk.store.corrections.anchors import anchor
from m3desk.store.corrections.resolving import Context
from m3desk.store.ledger import Ledger
from m3desk.store.rows import dump, insert

RESOLVE = {**resolving.RESOLVE, **questions.RESOLVE, **superseding.RESOLVE, **enrolling.RESOLVE, **choosing.RESOLVE, **bookmarking.RESOLVE}


class _Rehearsed(Exception):
    """Ends a dry run: the transaction is rolled back and nothing remains."""


def correct(
    ledger: Ledger,
    kind: str,
    args: Mapping[str, Any],
    *,
    by: str,
    why: str | None,
    dry_run: bool,
    at: str,
    sample: Sample | None = None,
    lessons: Sequence[Lesson] = (),
) -> Effect:
    """Resolve a correction, write it to the journal, fold, and return what changed; a dry run does the same and rolls back."""
    if kind not in RESOLVE:
        if kind in KINDS:
            raise CorrectionError(f"“{kind}” comes with the identity work.", "It is not in this version.")
        raise UsageError(f"there is no correction “{kind}”.", f"Known: {', '.join(RESOLVE)}.")
    if why is not None and not resolving.plain(why):
        raise CorrectionError("the note can't be read.", "Use plain text of at most 100,000 characters.")
    given = resolving.checked(kind, args)
    effect: Effect | None = None
    try:
        with ledger.writing() as db:
            before = ledger.state()
            sequence = commits.begin(db, "revert" if kind == "revert" else "correction", at)
            step = int(db.execute("SELECT coalesce(max(step), 0) + 1 FROM journal").fetchone()[0])
            kept = RESOLVE[kind](Context(db, before, ledger.born_in(), sequence, step, at, sample, tuple(lessons)), given)
            insert(
                db, "journal", step=step, sequence=sequence, kind=kind, args=dump(kept), anchor=dump(anchor(db, before, kept)), at=at,
                by=by, why=why, text="",
            )  # fmt: skip
            effect = effects.effect(ledger.changes(db), kept.get("as", kind), kept, step, ledger.log())
            db.execute("UPDATE journal SET text = ? WHERE step = ?", (effect.text, step))
            ledger.log().steps[-1] = replace(ledger.log().steps[-1], text=effect.text)
            if dry_run:
                raise _Rehearsed
    except _Rehearsed:
        assert effect is not None
        return replace(effect, step=None)
    assert effect is not None
    return effect


def mark(ledger: Ledger, count: int, *, undone: bool, at: str) -> Effect:
    """Undo or redo the next `count` steps of their stack, whole or not at all."""
    log = ledger.log()
    stack = can_undo(log) if undone else can_redo(log)
    verb = "undo" if undone else "redo"
    if count < 1 or len(stack) < count:
        has = f"only {len(stack)} can be" if stack else "there is nothing to"
        raise CorrectionError(f"{has} {verb}{'ne' if stack else ''}.", "See: m3desk journal.")
    texts = {s.step: s.text for s in log.steps}
    with ledger.writing() as db:
        for step in stack[:count]:
            sequence = commits.begin(db, verb, at)
            insert(db, "journal_mark", sequence=sequence, step=step, undone=int(undone))
        changed = effects.effect(ledger.changes(db), verb, {}, stack[count - 1], ledger.log())
    return replace(changed, text=f"{verb}: " + "; ".join(texts[n] for n in stack[:count]))
