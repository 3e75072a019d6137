"""Drafts that are not in force: what a writer concluded, until the second commit; sentences of another writer beside a clip's own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Literal

from m3desk.domain.ids import clip_order
from m3desk.domain.memory import Sentence, Span, Version
from m3desk.domain.tags import render
from m3desk.store.rows import dump, insert, person

DB = sqlite3.Connection
Kind = Literal["knowledge", "version"]


def put(db: DB, clip: str, kind: Kind, writer: str, sentences: Sequence[Sentence], at: str) -> int:
    """Keep a clip's draft of a kind, in place of an older one; return its number."""
    drop(db, clip, kind)
    return insert(db, "draft", clip=clip, kind=kind, writer=writer, at=at, body=dump([asdict(s) for s in sentences]))


def drop(db: DB, clip: str, kind: Kind) -> int:
    """Remove a clip's draft of a kind; return how many there were."""
    return db.execute("DELETE FROM draft WHERE clip = ? AND kind = ?", (clip, kind)).rowcount


def drop_all(db: DB) -> int:
    """Remove every draft: what a writer wrote may repeat words and name people in ways that no reference shows. Return how many."""
    return db.execute("DELETE FROM draft").rowcount


def sentences(db: DB, clip: str, kind: Kind) -> tuple[Sentence, ...]:
    """Return the sentences of a clip's draft, () without one."""
    row = db.execute("SELECT body FROM draft WHERE clip = ? AND kind = ?", (clip, kind)).fetchone()
    return tuple(_sentence(s) for s in json.loads(row[0])) if row else ()


def versions(db: DB, clip: str | None = None) -> list[Version]:
    """Return the versions that wait for a choice, in order of their clips; of one clip if given."""
    found = db.execute("SELECT * FROM draft WHERE kind = 'version' AND (?1 IS NULL OR clip = ?1)", (clip,)).fetchall()
    return [
        Version(r["clip"], r["writer"], r["at"], told, tuple(_shown(db, s) for s in told))
        for r in sorted(found, key=lambda r: clip_order(r["clip"]))
        for told in [tuple(_sentence(s) for s in json.loads(r["body"]))]
    ]


def _shown(db: DB, sentence: Sentence) -> str:
    """Return a sentence with the names in force."""

    def name(span: Span) -> str | None:
        query = """SELECT p.* FROM now_observation o JOIN now_person p ON p.id = o.person
            WHERE o.observation IN (SELECT value FROM json_each(?)) GROUP BY p.id ORDER BY count(*) DESC, p.number LIMIT 1"""
        row = db.execute(query, (dump(span.observations),)).fetchone()
        return person(row).shown if row is not None else None

    return render(sentence.text, sentence.spans, name)


def _sentence(kept: dict[str, Any]) -> Sentence:
    lists = {k: tuple(kept[k]) for k in ("citations", "entities", "rests_on")}
    spans = tuple(Span(s["start"], s["end"], tuple(s["observations"])) for s in kept["spans"])
    return Sentence(**(kept | lists | {"spans": spans, "quoted": tuple((a, b) for a, b in kept["quoted"])}))
