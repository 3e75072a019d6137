"""What a user notes in a memory that is no evidence and no correction: rules of *watch for*, consent of people, bystander mode of a source.

Kept as rows of `meta` (`watch:3`, `consent:person_2`, `bystanders:s1`): exports carry them, forgetting a person removes theirs.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from typing import get_args

from m3desk.domain.clip import Source
from m3desk.domain.live import WatchKind, WatchRule
from m3desk.errors import UsageError
from m3desk.store import commits, reading
from m3desk.store.forgetting.scrubbing import Traces
from m3desk.store.rows import dump

DB = sqlite3.Connection

WATCH, CONSENT, BYSTANDERS = "watch:", "consent:", "bystanders:"

LONGEST = 200
"""Code points of what a rule watches for."""

LONGEST_NOTE = 2_000


def watches(db: DB) -> list[WatchRule]:
    """Return the rules of *watch for*, oldest first. Rows that are no rules (of a damaged or foreign export) are left out."""
    found = []
    for key, value in db.execute("SELECT key, value FROM meta WHERE key GLOB ?", (WATCH + "*",)).fetchall():
        rule = _rule(key, value)
        if rule is not None:
            found.append(rule)
    return sorted(found, key=lambda r: r.id)


def _rule(key: str, value: str) -> WatchRule | None:
    try:
        kind, wanted, label = json.loads(value)
    except ValueError:
        return None
    number = key.removeprefix(WATCH)
    if kind not in get_args(WatchKind) or not (number.isascii() and number.isdecimal()):
        return None
    return WatchRule(int(number), kind, wanted, label) if isinstance(wanted, str) and isinstance(label, str) else None


def add_watch(db: DB, kind: WatchKind, value: str, label: str) -> WatchRule:
    """Add a rule, or return the one that watches for the same already. Without a label, a person is called by their present name.

    Raises UsageError for an empty or long value.
    """
    value, label = value.strip(), label.strip()
    if not value or len(value) > LONGEST or len(label) > LONGEST:
        raise UsageError(f"what is watched for needs 1 to {LONGEST} characters.", "Name a person, a word or two, or an object.")
    for rule in watches(db):
        if (rule.kind, rule.value.casefold()) == (kind, value.casefold()):
            return rule
    number = commits.number(db, "watch")
    db.execute("INSERT INTO meta VALUES (?, ?)", (f"{WATCH}{number}", dump([kind, value, label])))
    return WatchRule(number, kind, value, label)


def remove_watch(db: DB, id_: int) -> None:
    """Remove a rule. Raises UsageError if there is none."""
    if not db.execute("DELETE FROM meta WHERE key = ?", (f"{WATCH}{int(id_)}",)).rowcount:
        raise UsageError(f"there is no rule {id_}.", "See which there are: m3desk watch list.")


def consents(db: DB) -> dict[str, str]:
    """Return person id → the note on their consent. Of people who were merged, the notes of each are put together."""
    of = dict(db.execute("SELECT id, person FROM now_alias").fetchall())
    found: dict[str, list[str]] = {}
    for key, note in db.execute("SELECT key, value FROM meta WHERE key GLOB ? ORDER BY key", (CONSENT + "*",)).fetchall():
        person = key.removeprefix(CONSENT)
        found.setdefault(of.get(person, person), []).append(note)
    return {person: "\n".join(dict.fromkeys(notes)) for person, notes in found.items()}


def set_consent(db: DB, person: str, note: str) -> None:
    """Keep a note on a person's consent in place of the present one; an empty note removes it. Raises UsageError for a long one."""
    if len(note) > LONGEST_NOTE:
        raise UsageError(f"the note is longer than {LONGEST_NOTE} characters.", "Write a shorter one.")
    aliases = {r[0] for r in db.execute("SELECT id FROM now_alias WHERE person = ?", (person,))} | {person}
    db.executemany("DELETE FROM meta WHERE key = ?", [(CONSENT + p,) for p in sorted(aliases)])
    if note.strip():
        db.execute("INSERT INTO meta VALUES (?, ?)", (CONSENT + person, note.strip()))


def remove_of(db: DB, found: Traces) -> int:
    """Remove the notes about a forgotten person, and the rules that watch for them or for their name; return how many.

    Their name is masked in notes about others.
    """
    gone = [CONSENT + p for p in found.persons]
    pattern = found.mention()
    for rule in watches(db):
        named = pattern is not None and (pattern.search(rule.value) or pattern.search(rule.label))
        if named or (rule.kind == "person" and rule.value in found.ids):
            gone.append(f"{WATCH}{rule.id}")
    count = sum(db.execute("DELETE FROM meta WHERE key = ?", (key,)).rowcount for key in gone)
    if pattern is not None:
        for key, note in db.execute("SELECT key, value FROM meta WHERE key GLOB ?", (CONSENT + "*",)).fetchall():
            db.execute("UPDATE meta SET value = ? WHERE key = ?", (pattern.blot(note), key))
    return count


def is_note(key: str) -> bool:
    """Return whether a key of `meta` is such a note and no setting."""
    return key.startswith((WATCH, CONSENT, BYSTANDERS))


def hides_bystanders(db: DB, source: str) -> bool:
    """Return whether a source was recorded in bystander mode: only faces of people with a note on consent are stored of it."""
    return db.execute("SELECT 1 FROM meta WHERE key = ?", (BYSTANDERS + source,)).fetchone() is not None


def hide_bystanders(db: DB, source: str) -> None:
    """Have only approved faces stored of a source, from now on and when it is re-memorized."""
    db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (BYSTANDERS + source, "1"))


def watches_now(db: DB) -> list[WatchRule]:
    """Return the rules with the ids that persons have now (of two who were merged, the one in force), and their names as labels."""
    aliases = dict(db.execute("SELECT id, person FROM now_alias").fetchall())
    found = [replace(r, value=aliases.get(r.value, r.value)) if r.kind == "person" else r for r in watches(db)]
    names = {p.id: p.shown for p in reading.people_of(db, [r.value for r in found if r.kind == "person"])}
    return [replace(r, label=r.label or names.get(r.value, r.value)) for r in found]


def show_bystanders(db: DB, source: str) -> None:
    """Forget that a source was recorded in bystander mode: it is removed."""
    db.execute("DELETE FROM meta WHERE key = ?", (BYSTANDERS + source,))


def keep_hiding(db: DB, source: Source) -> None:
    """Note by its content that a source was recorded in bystander mode: it is removed, its recording stays and may be memorized again."""
    if source.sha256 and hides_bystanders(db, source.id):
        hide_bystanders(db, source.sha256)


def hide_again(db: DB, source: Source) -> None:
    """Have only approved faces stored of a source whose content was recorded in bystander mode; see `keep_hiding`."""
    if source.sha256 and hides_bystanders(db, source.sha256):
        hide_bystanders(db, source.id)
