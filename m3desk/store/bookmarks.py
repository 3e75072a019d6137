"""Reads the bookmarks of a memory from its journal, and removes those of a forgotten span."""

from __future__ import annotations

import sqlite3

from m3desk.domain.bookmark import Bookmark, in_place
from m3desk.domain.correction import Step
from m3desk.domain.log import Log, Mark, in_force
from m3desk.store import rows
from m3desk.store.corrections.anchors import places
from m3desk.store.forgetting.scrubbing import SCRUBBED

DB = sqlite3.Connection

_STEPS = "SELECT * FROM journal WHERE kind IN ('bookmark', 'unbookmark', 'revert') ORDER BY step"


def bookmarks(db: DB) -> list[Bookmark]:
    """Return the bookmarks, by source and time."""
    log = Log()
    log.add(rows.step(r) for r in db.execute(_STEPS))
    if not any(s.kind == "bookmark" for s in log.steps):
        return []
    marks = "SELECT m.* FROM journal_mark m JOIN journal j ON j.step = m.step WHERE j.kind IN ('bookmark', 'unbookmark', 'revert')"
    log.add(Mark(r["step"], bool(r["undone"]), r["sequence"]) for r in db.execute(f"{marks} ORDER BY m.id"))
    sources = _sources(db)
    found = []
    for id_, (added, last) in in_place(in_force(log)).items():
        start, end = last.args["start"], last.args["end"]
        found.append(Bookmark(id_, _source(db, last, sources), start, end, str(last.args.get("text") or ""), added.at, added.by))
    order = {source: place for place, source in enumerate(sources)}
    return sorted(found, key=lambda b: (order.get(b.source or "", len(order)), b.start, b.end, b.id))


def _sources(db: DB) -> list[str]:
    return [r[0] for r in db.execute("SELECT id FROM source WHERE state != 'enrolled' ORDER BY length(id), id")]


def _source(db: DB, step: Step, sources: list[str]) -> str | None:
    """Return the source that a step marks now: the one it names, else what has the same content or replaced it; None for none."""
    named = step.args["source"]
    if named in sources:
        return str(named)
    return next((s for s in places(db, step.anchor.get("place", {}).get("sha256")) if s in sources), None)


def _in_span(db: DB, source: str, start: int, end: int) -> tuple[list[Step], set[str]]:
    """Return all steps about bookmarks, and the bookmarks that ever reached into [start, end) of a source, undone ones too."""
    steps = [rows.step(r) for r in db.execute(_STEPS)]
    sources, found = _sources(db), set()
    for step in steps:
        if step.kind != "bookmark" or not step.args.keys() >= {"bookmark", "source", "start", "end"}:
            continue
        first, last = step.args["start"], step.args["end"]
        if first < end and (start < last or start <= first) and _source(db, step, sources) == source:
            found.add(step.args["bookmark"])
    return steps, found


def notes_in_span(db: DB, source: str, start: int, end: int) -> tuple[int, list[str]]:
    """Return how many bookmarks are in [start, end) of a source, and their notes, of any time, that no other bookmark has."""
    steps, gone = _in_span(db, source, start, end)
    told: dict[bool, set[str]] = {True: set(), False: set()}
    for step in steps:
        told[step.args.get("bookmark") in gone].add(str(step.args.get("text") or ""))
    there = sum(b.id in gone for b in bookmarks(db))
    return there, sorted(told[True] - told[False] - {""})


def forget_span(db: DB, source: str, start: int, end: int) -> None:
    """Empty every step that adds, changes or removes a bookmark which ever reached into [start, end) of a source."""
    steps, gone = _in_span(db, source, start, end)
    for step in steps:
        if step.args.get("bookmark") in gone:
            query = "UPDATE journal SET kind = 'forget', args = ?, anchor = '{}', why = NULL, text = ? WHERE step = ?"
            db.execute(query, (rows.dump({"scrubbed": True}), SCRUBBED, step.step))
