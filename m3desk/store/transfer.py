"""A memory's log as plain data, out for an export and back into an empty memory, row by row, so that both fold to the same state."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from m3desk.domain.clip import Clip, Source
from m3desk.domain.evidence import FaceTrack, Floats, ObjectSeen, TextOnScreen, Utterance
from m3desk.errors import ImportProblem
from m3desk.store import rows

DB = sqlite3.Connection

TABLES = (
    "commits", "node", "span", "citation", "mention", "binding", "vote", "heard_name", "apart", "reinforcement", "link", "journal",
    "journal_mark", "renamed", "tombstone", "unwanted",
)  # fmt: skip
"""The log's tables beside the evidence, in an order in which references point backwards."""

_WORK = ("changes", "imported_without_media")
"""Keys of `meta` that tell of work done, not of the memory."""


def raw(db: DB) -> dict[str, Any]:
    """Return the rows of the log's tables as {table: {"columns": […], "rows": [[…], …]}}, and counters and settings as `meta`."""
    found: dict[str, Any] = {}
    for table in TABLES:
        cursor = db.execute(f"SELECT * FROM {table} ORDER BY 1, 2")
        found[table] = {"columns": [d[0] for d in cursor.description], "rows": [list(r) for r in cursor]}
    found["meta"] = {r[0]: r[1] for r in db.execute("SELECT key, value FROM meta ORDER BY key") if r[0] not in _WORK}
    for table in ("face_track", "utterance"):
        found[f"{table}_sequence"] = {r[0]: r[1] for r in db.execute(f"SELECT id, sequence FROM {table} ORDER BY rowid")}
    found["clip"] = {r["id"]: [r["thumbnail"], r["cuts"], r["scene"]] for r in db.execute("SELECT * FROM clip ORDER BY source, number")}
    found["fps"] = {r["id"]: r["sampled_fps"] for r in db.execute("SELECT * FROM source ORDER BY id")}
    return found


def evidence(db: DB) -> tuple[list[FaceTrack], list[Utterance], list[ObjectSeen], list[TextOnScreen]]:
    """Return all evidence, superseded observations included, in the order in which it was written."""
    return (
        [rows.face_track(r) for r in db.execute("SELECT * FROM face_track ORDER BY rowid")],
        [rows.utterance(r) for r in db.execute("SELECT * FROM utterance ORDER BY rowid")],
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
    """Say whether nothing was ever memorized here."""
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
) -> None:
    """Write all parts of an export, in an order in which references point backwards."""
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
    put_log(db, log)
    put_evidence(db, log, faces, utterances, objects, texts)
    put_embeddings(db, embeddings)
    for chat in chats:
        rows.insert(db, "chat", body=rows.dump(dict(chat)))
