"""Removes a span of a source: what was seen, heard and written of it, whoever it is about; nothing is stored of it again.

Works with the traces, the deletion and the proof of forgetting a person (`removing`, `proving`): here they are those of a time, not of
somebody. People of whom nothing else is known go with it. The user's own file is not touched; a recording is erased by the caller.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace

from m3desk.domain.clip import clock
from m3desk.domain.ids import source_of
from m3desk.domain.log import Log
from m3desk.domain.plural import many
from m3desk.domain.sentences import State
from m3desk.store import bookmarks, commits, reading, rows
from m3desk.store.forgetting import removing, tracing
from m3desk.store.forgetting.scrubbing import TELLING, Traces, chats, scrub

DB = sqlite3.Connection


@dataclass(frozen=True, slots=True)
class SpanPlan:
    """What forgetting a span removes, in numbers; `people`: of whom nothing else is known; `known`: for the proof."""

    text: str
    people: tuple[str, ...]
    counts: Mapping[str, int]
    known: Traces


def preview(db: DB, state: State, log: Log, source: str, start: int, end: int) -> SpanPlan:
    """Return what forgetting [start, end) microseconds of a source would remove; change nothing. Raises UsageError for no such source."""
    reading.source(db, source)
    found = known(db, state, log, source, start, end)
    people = tuple(sorted(p for p in found.persons if p in state.who.people))
    clips = [c for c in reading.clips_between(db, source, start, end) if c.state not in ("failed", "skipped")]
    counts = {
        "clips": len(clips), "observations": len(found.observations), "memories": len(found.told),
        "pictures_and_sounds": len(found.media), "people": len(people), "chats": len(_chats(db, source, start, end)),
        "bookmarks": bookmarks.notes_in_span(db, source, start, end)[0],
    }  # fmt: skip
    text = (
        f"forgets {clock(start)}–{clock(end)} of {source} for good: {counts['observations']} observations, {counts['memories']} memories, "
        f"{counts['pictures_and_sounds']} pictures and sounds, {counts['chats']} chats"
    )
    if counts["bookmarks"]:
        text += f", {many(counts['bookmarks'], 'bookmark')}"
    if people:
        text += f", and {len(people)} people of whom nothing else is known"
    return SpanPlan(text, people, counts, found)


def known(db: DB, state: State, log: Log, source: str, start: int, end: int) -> Traces:
    """Collect everything that a memory holds of a span."""
    who = state.who
    found = Traces(intervals=[(source, start, end)])
    found.observations = {
        o for o, s in log.observations.items() if source_of(o) == source and s.start < end and start < s.end + (s.end == s.start)
    }
    above = {s.id: s.replaces for s in log.observations.values() if s.replaces}
    while extra := ({above[o] for o in found.observations if o in above} | {o for o, old in above.items() if old in found.observations}) - (
        found.observations
    ):
        found.observations |= extra
    bound: dict[str, set[str]] = {}
    for b in log.bindings:
        bound.setdefault(b.node, set()).add(b.observation)
    found.nodes = {n for n, all_ in bound.items() if all_ <= found.observations}
    for person, nodes in who.members.items():
        if nodes and set(nodes) <= found.nodes:
            found.persons |= {p for p, c in who.canonical.items() if c == person} | {person}
    query = 'SELECT id FROM node WHERE source = ? AND type = \'episodic\' AND start < ? AND ("end" > ? OR (start = "end" AND start >= ?))'
    found.told = {r[0] for r in db.execute(query, (source, end, start, start))}
    found.told |= {n.id for n in state.nodes.values() if n.type in ("episodic", "semantic") and tracing.rests_on(n, found, log)}
    found.told |= tracing.resting_on(found.told, log)
    called = {r.old: r.new for r in log.renamed}
    found.former = {old for old, new in called.items() if new in found.ids} - found.ids
    _of_the_span(db, found, source, start, end)
    return found


def _of_the_span(db: DB, found: Traces, source: str, start: int, end: int) -> None:
    """Note the pictures, sounds and words of the span."""
    tracing.note_media_and_words(db, found)
    for r in db.execute(
        'SELECT thumbnail FROM clip WHERE source = ? AND start < ? AND "end" > ? AND thumbnail IS NOT NULL', (source, end, start)
    ):
        found.media.add(r[0])
    mine = 'source = ? AND start < ? AND "end" >= ?'
    found.words += [r[0] for r in db.execute(f"SELECT text FROM text_on_screen WHERE {mine}", (source, end, start)) if r[0].strip()]
    others = "\n".join(
        [
            *(r["text"] for r in db.execute("SELECT id, text FROM utterance") if r["id"] not in found.observations),
            *(r[0] for r in db.execute(f"SELECT text FROM text_on_screen WHERE NOT ({mine})", (source, end, start))),
        ]
    )
    found.words = [w for w in dict.fromkeys(found.words) if w not in others]
    found.words += [n for n in bookmarks.notes_in_span(db, source, start, end)[1] if len(n) >= TELLING and n not in others]
    found.telling = [w for w in found.words if len(w) >= TELLING]
    still = {c for r in db.execute("SELECT id, crops FROM face_track") if r["id"] not in found.observations for c in json.loads(r["crops"])}
    still |= {r["audio"] for r in db.execute("SELECT id, audio FROM utterance") if r["id"] not in found.observations}
    found.media -= still  # the same picture or sound may stand for two moments


def _chats(db: DB, source: str, start: int, end: int) -> list[int]:
    """Return the chats whose answer cites a moment of the span."""
    gone = []
    for r in db.execute("SELECT id, body FROM chat"):
        cited = json.loads(r["body"]).get("citations", ())
        if any(c.get("source") == source and c["start"] * 1e6 < end and start < c["end"] * 1e6 for c in cited if isinstance(c, dict)):
            gone.append(r["id"])
    return gone


def forget(db: DB, state: State, log: Log, source: str, start: int, end: int, at: str) -> SpanPlan:
    """Remove a span of a source; return what that was. Runs in a transaction; afterwards as `removing.forget`."""
    plan = preview(db, state, log, source, start, end)
    found = plan.known
    sequence = commits.begin(db, "forget", at)
    sha256 = reading.source(db, source).sha256
    rows.insert(db, "tombstone", sequence=sequence, source=source, sha256=sha256, kind="span", start=start, end=end, boxes="[]")
    cited = _chats(db, source, start, end)
    db.executemany("DELETE FROM chat WHERE id = ?", [(c,) for c in cited])
    gone_chats = len(cited) + chats(db, found)
    db.execute(
        'UPDATE clip SET thumbnail = NULL, cuts = NULL, scene = NULL WHERE source = ? AND start < ? AND "end" > ?', (source, end, start)
    )
    db.execute(
        "UPDATE clip SET state = 'skipped', error = 'forgotten' WHERE source = ? AND start >= ? AND \"end\" <= ? AND state = 'queued'",
        (source, start, end),
    )
    removing.delete(db, found)
    scrub(db, found)
    bookmarks.forget_span(db, source, start, end)
    step = int(db.execute("SELECT coalesce(max(step), 0) + 1 FROM journal").fetchone()[0])
    rows.insert(
        db, "journal", step=step, sequence=sequence, kind="forget", args=rows.dump({"how": "span", "scrubbed": True}), anchor="{}", at=at,
        by="user", why=None, text=f"forgets {clock(end - start)} of {source} for good",
    )  # fmt: skip
    return replace(plan, counts={**plan.counts, "chats": gone_chats})


def renamed(db: DB, source: str, sha256: str) -> None:
    """Give a source whose recording was partly erased its new fingerprint; corrections and tombstones that name the old one stay valid."""
    old = reading.source(db, source)
    if old.sha256 == sha256:
        return
    if old.sha256:
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"removed_{old.sha256}", old.uri))
        db.execute("UPDATE tombstone SET sha256 = ? WHERE sha256 = ?", (sha256, old.sha256))
    db.execute("UPDATE source SET sha256 = ? WHERE id = ?", (sha256, source))
