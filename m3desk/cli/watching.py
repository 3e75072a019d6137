"""`watch` and `people consent`: what the user notes in a memory beside corrections."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from m3desk.cli.opening import App
from m3desk.cli.output import Out, table
from m3desk.cli.work import existing
from m3desk.errors import UsageError


def watch(options: Any, out: Out) -> int:
    """Add, list or remove rules of *watch for*."""
    existing(options.memory)
    if options.action == "list":
        with App(options.memory, write=False) as app:
            rules = app.watches()
        rows = [(str(r.id), r.kind, r.label, r.value) for r in rules]
        out.result([asdict(r) for r in rules], table(rows, ("rule", "kind", "called", "watches for")) if rows else ["No rules yet."])
        return 0
    with App(options.memory) as app:
        if options.action == "remove":
            app.remove_watch(options.rule)
            out.result({"removed": options.rule}, [f"rule {options.rule} is removed."])
            return 0
        rule = app.add_watch(options.kind, options.value, options.label)
    out.result(asdict(rule), [f"rule {rule.id} watches for the {rule.kind} {rule.label}."])
    return 0


def people(options: Any, out: Out) -> int:
    """Show, keep or remove the note on a person's consent."""
    existing(options.memory)
    if options.remove and options.note is not None:
        raise UsageError("a note is given and --remove, too.", "Give one of them.")
    change = options.remove or options.note is not None
    with App(options.memory, write=change) as app:
        if change:
            app.set_consent(options.person, options.note or "")
        with app.reader() as reader:
            person = reader.person(options.person)
            note = reader.consents().get(person.id)
    out.result({"person": person.id, "consent": note}, [f"{person.shown}: {note}" if note else f"{person.shown}: no note on consent."])
    return 0
