"""Exports the log of a memory as plain data and imports it into an empty memory, row by row, so that both give the same state."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from m3desk.domain.clip import Clip, Source
from m3desk.domain.evidence import FaceTrack, Floats, ObjectSeen, TextOnScreen, Utterance
from m3desk.domain.ids import MADE
from m3desk.domain.log import in_force
from m3desk.domain.superseding import standing
from m3desk.errors import ImportProblem
from m3desk.store import rows

DB = sqlite3.Connection

TABLES = (
    "commits", "node", "span", "citation", "mention", "binding", "vote", "heard_name", "apart", "reinforcement", "link", "journal",
    "journal_mark", "renamed", "tombstone", "unwanted",
)  # fmt: skip
"""The log's tables beside the evidence, in an order in which references point backwards."""

_WORK = ("changes", "imported_without_media")
"""Keys of `meta` about work done, not about the memory."""


def raw(db: DB) -> dict[str, Any]:
    """Return the rows of the log's tables as {table: {"columns": […], "rows": [[…], …]}}, and counters and settings as `meta`."""
    found: dict[str, Any] = {}
    for table in TABLES:
        cursor = db.execute(f"SELECT * FROM {table} ORDER BY 1, 2")
        found[table] = {"columns": [d[0] for d in cursor.description], "rows": [list(r) for r in cursor]}
    found["meta"] = {r[0]: r[1] for r in db.execute("SELECT key, value FROM meta ORDER BY key") if r[0] not in _WORK}
    hidden = unlisted(db)
    for table in ("face_track", "utterance"):
        listed = [r for r in db.execute(f"SELECT rowid, id, sequence FROM {table} ORDER BY rowid") if r[1] not in hidden]
        found[f"{table}_sequence"] = {r[1]: r[2] for r in listed}
        if hidden:
            found["unlisted"] = {**found.get("unlisted", {}), f"{table}_rowid": {r[1]: r[0] for r in listed}}
    if hidden:
        found["unlisted"] |= _unlisted_rows(db, hidden)
    found["clip"] = {r["id"]: [r["thumbnail"], r["cuts"], r["scene"]] for r in db.execute("SELECT * FROM clip ORDER BY source, number")}
    found["fps"] = {r["id"]: r["sampled_fps"] for r in db.execute("SELECT * FROM source ORDER BY id")}
    return found


def unlisted(db: DB) -> frozenset[str]:
    """Return the observations that are not evidence of a video: made by corrections that were undone, or from an enrolment file."""
    if not any(db.execute(f"SELECT 1 FROM {t} WHERE id GLOB ? LIMIT 1", (MADE,)).fetchone() for t in ("face_track", "utterance")):
        return frozenset()
    log = rows.full_log(db)
    stands = standing(log, in_force(log))
    return stands.absent | stands.enrolled


def _unlisted_rows(db: DB, hidden: Collection[str]) -> dict[str, Any]:
    """Return those observations, and the sources and clips that are listed nowhere, row by row."""
    found: dict[str, Any] = {}
    for table, wanted in (("source", "state = 'enrolled'"), ("clip", "state = 'enrolled'"), ("face_track", "1"), ("utterance", "1")):
        cursor = db.execute(f"SELECT rowid AS rowid, * FROM {table} WHERE {wanted} ORDER BY rowid")
        columns = [d[0] for d in cursor.description]
        kept = [list(r) for r in cursor if table in ("source", "clip") or r["id"] in hidden]
        found[table] = {"columns": columns, "rows": kept}
    return found


def evidence(db: DB) -> tuple[list[FaceTrack], list[Utterance], list[ObjectSeen], list[TextOnScreen]]:
    """Return all evidence, superseded observations included, in the order in which it was written (see `unlisted`)."""
    hidden = unlisted(db)
    return (
        [rows.face_track(r) for r in db.execute("SELECT * FROM face_track ORDER BY rowid") if r["id"] not in hidden],
        [rows.utterance(r) for r in db.execute("SELECT * FROM utterance ORDER BY rowid") if r["id"] not in hidden],
        [rows.object_seen(r) for r in db.execute("SELECT * FROM object_seen ORDER BY id")],
        [rows.text_on_screen(r) for r in db.execute("SELECT * FROM text_on_screen ORDER BY id")],
    )


def embeddings(db: DB) -> Iterator[tuple[str, str, str, int, Floats]]:
    """Yield every embedding: owner, kind, model, sequence, (n, d) rows."""
    for r in db.execute("SELECT * FROM embedding ORDER BY rowid"):
        yield r["owner"], r["kind"], r["model"], r["sequence"], rows.vectors(r)


def put_embeddings(db: DB, found: Sequence[tuple[str, str, str, int, Floats]]) -> None:
    for owner, kind, model, sequence, vectors in found:
        rows.insert_vectors(db, owner, kind, model, np.asarray(vectors, np.float32), sequence)


def empty(db: DB) -> bool:
    """Return whether nothing was ever memorized here."""
    return all(db.execute(f"SELECT 1 FROM {t} LIMIT 1").fetchone() is None for t in ("source", "commits", "node", "chat"))


def put_log(db: DB, log: Mapping[str, Any]) -> None:
    """Write back what `raw` returned. Raises ImportProblem when columns are not this version's."""
    for table in TABLES:
        if table not in log:  # an export of before this table was
            continue
        known = [r[1] for r in db.execute(f"PRAGMA table_info({table})")]
        columns = log[table]["columns"]
        if not set(columns) <= set(known):
            raise ImportProblem(f"the export's table {table} has columns that this version does not know.", "Update M3Desk.")
        names = ", ".join(f'"{c}"' for c in columns)
        db.executemany(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})", log[table]["rows"])
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", [(str(k), str(v)) for k, v in log["meta"].items() if k not in _WORK])


def _put_unlisted(db: DB, unlisted_: Mapping[str, Any], tables: Sequence[str]) -> None:
    """Write back rows that an export does not list, each in its old place among the others of its table."""
    for table in tables:
        columns = unlisted_[table]["columns"]
        known = {"rowid", *(r[1] for r in db.execute(f"PRAGMA table_info({table})"))}
        if not set(columns) <= known:
            raise ImportProblem(f"the export's table {table} has columns that this version does not know.", "Update M3Desk.")
        if places := unlisted_.get(f"{table}_rowid"):
            db.executemany(f"UPDATE {table} SET rowid = -? WHERE id = ?", [(int(n), id_) for id_, n in places.items()])
            db.execute(f"UPDATE {table} SET rowid = -rowid WHERE rowid < 0")
        at = [i for i, c in enumerate(columns) if c != "rowid" or table in ("face_track", "utterance")]
        names = ", ".join(f'"{columns[i]}"' for i in at)
        values = [[row[i] for i in at] for row in unlisted_[table]["rows"]]
        db.executemany(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(at))})", values)


def put_evidence(
    db: DB,
    log: Mapping[str, Any],
    faces: Sequence[FaceTrack],
    utterances: Sequence[Utterance],
    objects: Sequence[ObjectSeen],
    texts: Sequence[TextOnScreen],
) -> None:
    """Write back evidence, each row under the commit that first wrote it."""
    for track in faces:
        rows.insert_face(db, track, int(log["face_track_sequence"][track.id]))
    for said in utterances:
        rows.insert_utterance(db, said, int(log["utterance_sequence"][said.id]))
    columns = log["commits"]["columns"]
    at, kind, number = columns.index("clip"), columns.index("kind"), columns.index("sequence")
    of_clip = {r[at]: int(r[number]) for r in log["commits"]["rows"] if r[kind] == "clip-episodic"}
    for thing in objects:
        rows.insert_object(db, thing, of_clip[thing.clip])
    for text in texts:
        rows.insert_text(db, text, of_clip[text.clip])


def restore(
    db: DB,
    *,
    sources: Sequence[Source],
    clips: Sequence[Clip],
    faces: Sequence[FaceTrack],
    utterances: Sequence[Utterance],
    objects: Sequence[ObjectSeen],
    texts: Sequence[TextOnScreen],
    chats: Sequence[Mapping[str, Any]],
    log: Mapping[str, Any],
    embeddings: Sequence[tuple[str, str, str, int, Floats]],
    going: Callable[[], None],
) -> None:
    """Write all parts of an export, in an order in which references point backwards. `going` is called between them, and may raise."""
    for s in sources:
        rows.insert(
            db, "source", id=s.id, uri=s.uri, duration=s.duration, width=s.width, height=s.height, fps=s.fps, has_audio=int(s.has_audio),
            sha256=s.sha256, started_at=s.started_at, bytes=s.bytes, state=s.state, error=s.error, sampled_fps=log["fps"][s.id],
        )  # fmt: skip
    for c in clips:
        thumbnail, cuts, scene = log["clip"][c.id]
        rows.insert(
            db, "clip", id=c.id, source=c.source, number=c.index, start=c.start, end=c.end, state=c.state, error=c.error,
            thumbnail=thumbnail,
            cuts=cuts, scene=scene,
        )  # fmt: skip
        rows.put_limit(db, c)
    apart = log.get("unlisted", {})
    if apart:
        _put_unlisted(db, apart, ("source", "clip"))
    going()
    put_log(db, log)
    going()
    put_evidence(db, log, faces, utterances, objects, texts)
    going()
    if apart:
        _put_unlisted(db, apart, ("face_track", "utterance"))
    put_embeddings(db, embeddings)
    for chat in chats:
        rows.insert(db, "chat", body=rows.dump(dict(chat)))
    going()
