"""The database schema of a memory, and the upgrades from older versions.

The upper half is the log: rows are only ever added (but for states of work, and `sources remove`). The lower half, `now_*`, is what
`domain.sentences.fold` makes of it, rewritten in the same transaction so that readers need nothing but SQL. Times: microseconds.
"""

from __future__ import annotations

import shlex
import sqlite3
from pathlib import Path

from m3desk.errors import MemoryDamaged, MemoryTooNew

_V1 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE commits (sequence INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, clip TEXT, at TEXT NOT NULL, models TEXT);
CREATE TABLE source (
  id TEXT PRIMARY KEY, uri TEXT NOT NULL, duration INTEGER, width INTEGER, height INTEGER, fps REAL, has_audio INTEGER NOT NULL,
  sha256 TEXT, started_at TEXT, bytes INTEGER, state TEXT NOT NULL, error TEXT, sampled_fps REAL);
CREATE TABLE clip (
  id TEXT PRIMARY KEY, source TEXT NOT NULL REFERENCES source, number INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
  state TEXT NOT NULL, error TEXT, thumbnail TEXT, cuts TEXT, scene TEXT, UNIQUE (source, number));
CREATE TABLE face_track (
  id TEXT PRIMARY KEY, sequence INTEGER NOT NULL REFERENCES commits, source TEXT NOT NULL, clip TEXT NOT NULL REFERENCES clip,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, boxes TEXT NOT NULL, score REAL NOT NULL, quality REAL NOT NULL, crops TEXT NOT NULL,
  landmarks TEXT NOT NULL, cluster INTEGER NOT NULL, motion TEXT NOT NULL, continues TEXT, replaces TEXT);
CREATE INDEX face_track_time ON face_track (source, start);
CREATE INDEX face_track_clip ON face_track (clip);
CREATE TABLE utterance (
  id TEXT PRIMARY KEY, sequence INTEGER NOT NULL REFERENCES commits, source TEXT NOT NULL, clip TEXT NOT NULL REFERENCES clip,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, text TEXT NOT NULL, words TEXT NOT NULL, language TEXT, confidence REAL NOT NULL,
  audio TEXT, cluster INTEGER NOT NULL, overlapped INTEGER NOT NULL, embeddable INTEGER NOT NULL, replaces TEXT);
CREATE INDEX utterance_time ON utterance (source, start);
CREATE INDEX utterance_clip ON utterance (clip);
CREATE TABLE object_seen (
  id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL REFERENCES commits, source TEXT NOT NULL, clip TEXT NOT NULL REFERENCES clip,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, label TEXT NOT NULL, score REAL NOT NULL, box TEXT NOT NULL);
CREATE INDEX object_seen_clip ON object_seen (clip);
CREATE TABLE text_on_screen (
  id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL REFERENCES commits, source TEXT NOT NULL, clip TEXT NOT NULL REFERENCES clip,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, text TEXT NOT NULL, score REAL NOT NULL, box TEXT NOT NULL);
CREATE INDEX text_on_screen_clip ON text_on_screen (clip);
-- n rows of d little-endian float32, unit length, best first; kind: face, voice (owner = observation), text (owner = node, or
-- node@step of an edit).
CREATE TABLE embedding (
  owner TEXT NOT NULL, kind TEXT NOT NULL, model TEXT NOT NULL, n INTEGER NOT NULL, d INTEGER NOT NULL, vectors BLOB NOT NULL,
  sequence INTEGER NOT NULL, PRIMARY KEY (owner, model));
CREATE TABLE apart (a TEXT NOT NULL, b TEXT NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID;
-- Nodes of every type share one running number. content: a sentence as written, or the label of a thing.
CREATE TABLE node (
  id TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, type TEXT NOT NULL, content TEXT NOT NULL, person TEXT, clip TEXT, source TEXT,
  start INTEGER, "end" INTEGER, sequence INTEGER NOT NULL REFERENCES commits, step INTEGER, language TEXT, topic TEXT, event TEXT,
  model TEXT, quoted TEXT, extra_data TEXT);
CREATE INDEX node_clip ON node (clip);
CREATE TABLE span (
  node TEXT NOT NULL REFERENCES node, start INTEGER NOT NULL, "end" INTEGER NOT NULL, observations TEXT NOT NULL, PRIMARY KEY (node, start))
  WITHOUT ROWID;
CREATE TABLE citation (
  node TEXT NOT NULL REFERENCES node, place INTEGER NOT NULL, observation TEXT NOT NULL, PRIMARY KEY (node, place)) WITHOUT ROWID;
CREATE TABLE mention (node TEXT NOT NULL REFERENCES node, place INTEGER NOT NULL, entity TEXT NOT NULL REFERENCES node,
  PRIMARY KEY (node, place)) WITHOUT ROWID;
CREATE TABLE binding (
  id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL REFERENCES commits, observation TEXT NOT NULL, node TEXT NOT NULL REFERENCES node,
  score REAL, runner_up TEXT, margin REAL, by TEXT NOT NULL, at TEXT NOT NULL);
CREATE TABLE vote (
  id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL REFERENCES commits, a TEXT NOT NULL, b TEXT NOT NULL, by TEXT NOT NULL,
  weight REAL NOT NULL, clip TEXT NOT NULL);
CREATE TABLE heard_name (
  id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL REFERENCES commits, observation TEXT NOT NULL, name TEXT NOT NULL, score REAL NOT NULL,
  by TEXT NOT NULL, evidence TEXT NOT NULL, words TEXT NOT NULL, at INTEGER NOT NULL);
CREATE TABLE reinforcement (
  id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL REFERENCES commits, node TEXT NOT NULL REFERENCES node, clip TEXT NOT NULL,
  amount REAL NOT NULL, citations TEXT NOT NULL);
CREATE TABLE link (
  id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL REFERENCES commits, a TEXT NOT NULL REFERENCES node, b TEXT NOT NULL REFERENCES node,
  kind TEXT NOT NULL);
CREATE TABLE journal (
  step INTEGER PRIMARY KEY, sequence INTEGER NOT NULL REFERENCES commits, kind TEXT NOT NULL, args TEXT NOT NULL, anchor TEXT NOT NULL,
  at TEXT NOT NULL, by TEXT NOT NULL, why TEXT, text TEXT NOT NULL);
CREATE TABLE journal_mark (
  id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL REFERENCES commits, step INTEGER NOT NULL REFERENCES journal, undone INTEGER NOT NULL);
CREATE TABLE chat (id INTEGER PRIMARY KEY, body TEXT NOT NULL);

CREATE TABLE now_observation (observation TEXT PRIMARY KEY, node TEXT, person TEXT, set_aside INTEGER NOT NULL, step INTEGER) WITHOUT ROWID;
CREATE TABLE now_binding (
  observation TEXT NOT NULL, sequence INTEGER NOT NULL, node TEXT NOT NULL, score REAL, runner_up TEXT, margin REAL, by TEXT NOT NULL,
  at TEXT NOT NULL, superseded INTEGER, PRIMARY KEY (observation, sequence)) WITHOUT ROWID;
CREATE TABLE now_node (
  id TEXT PRIMARY KEY, weight REAL NOT NULL, text TEXT NOT NULL, shown TEXT NOT NULL, tagged TEXT NOT NULL, spans TEXT NOT NULL,
  people TEXT NOT NULL, clips TEXT NOT NULL, citations TEXT NOT NULL, topic TEXT, valid_until TEXT, pinned INTEGER NOT NULL,
  deleted INTEGER NOT NULL, stale INTEGER NOT NULL, embedded TEXT NOT NULL, picture TEXT) WITHOUT ROWID;
CREATE TABLE now_person (id TEXT PRIMARY KEY, number INTEGER NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE now_alias (id TEXT PRIMARY KEY, person TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE now_edge (a TEXT NOT NULL, b TEXT NOT NULL, kind TEXT NOT NULL, weight REAL NOT NULL, PRIMARY KEY (a, b, kind)) WITHOUT ROWID;
CREATE INDEX now_edge_b ON now_edge (b);
CREATE TABLE now_equivalence (
  a TEXT NOT NULL, b TEXT NOT NULL, face TEXT, voice TEXT, weight REAL NOT NULL, votes TEXT NOT NULL, accepted INTEGER NOT NULL,
  PRIMARY KEY (a, b)) WITHOUT ROWID;
CREATE TABLE now_constraint (
  step INTEGER NOT NULL, place INTEGER NOT NULL, kind TEXT NOT NULL, a TEXT NOT NULL, b TEXT NOT NULL, by TEXT NOT NULL,
  state TEXT NOT NULL, PRIMARY KEY (step, place)) WITHOUT ROWID;
"""

_V2 = """
-- What a journal calls `old` was found again as `new` after its source was re-memorized (see store.corrections.anchors).
CREATE TABLE renamed (id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL REFERENCES commits, old TEXT NOT NULL, new TEXT NOT NULL);
"""

_V3 = """
-- Where nothing may be stored any more (see store.forgetting): no word and no vector of whom it protects.
-- kind: face, voice, span (anything). boxes: [[at, x, y, width, height], …] of a face at its first, middle and last look, else [].
CREATE TABLE tombstone (
  id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL REFERENCES commits, source TEXT NOT NULL, sha256 TEXT, kind TEXT NOT NULL,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, boxes TEXT NOT NULL);
-- Whom a user asked never to remember again: a few rows of their face and voice, kept for nothing but to leave them out. vectors: JSON.
CREATE TABLE unwanted (
  id INTEGER PRIMARY KEY, sequence INTEGER NOT NULL REFERENCES commits, kind TEXT NOT NULL, model TEXT NOT NULL, vectors TEXT NOT NULL);
"""

_LOG = ("face_track", "utterance", "node", "binding", "vote", "heard_name", "apart", "reinforcement", "link", "journal", "journal_mark",
        "renamed")  # fmt: skip
_V4 = """
-- What a commit added, and a thing by its label, are found without reading everything.
""" + "\n".join(
    [
        *(f"CREATE INDEX {name}_sequence ON {name} (sequence);" for name in _LOG),
        "CREATE INDEX node_thing ON node (type, content) WHERE type IN ('object', 'place');",
    ]
)

CHUNK = 64
"""Items of a list that grows with every clip which one row of `now_chunk` holds."""

_V5 = f"""
-- Lists that grow with every clip (clips of a node or person, votes of a pair "a b"), all but their last items, {CHUNK} a row: no commit
-- rewrites a whole list. The last items are where the whole list was: in now_node.clips, now_person.body, now_equivalence.votes.
CREATE TABLE now_chunk (owner TEXT NOT NULL, place INTEGER NOT NULL, items TEXT NOT NULL, PRIMARY KEY (owner, place)) WITHOUT ROWID;
""" + "".join(
    f"""
INSERT INTO now_chunk WITH RECURSIVE list (owner, items) AS MATERIALIZED (SELECT {owner}, {items} FROM {table}
    WHERE CASE WHEN json_valid({column}) THEN json_array_length({items}) >= {CHUNK} END),
  chunk (owner, items, place) AS (SELECT owner, items, 0 FROM list
    UNION ALL SELECT owner, items, place + 1 FROM chunk WHERE (place + 2) * {CHUNK} <= json_array_length(items))
  SELECT owner, place, (SELECT json_group_array({item}) FROM
    (SELECT value FROM json_each(items) WHERE key >= place * {CHUNK} AND key < (place + 1) * {CHUNK} ORDER BY key)) FROM chunk;
UPDATE {table} SET {column} = {
        whole.format(f'''(SELECT json_group_array({item}) FROM (SELECT value FROM json_each({items})
    WHERE key >= json_array_length({items}) / {CHUNK} * {CHUNK} ORDER BY key))''')
    }
  WHERE CASE WHEN json_valid({column}) THEN json_array_length({items}) >= {CHUNK} END;
"""
    for table, owner, column, items, item, whole in (
        ("now_node", "id", "clips", "clips", "value", "{}"),
        ("now_person", "id", "body", "json_extract(body, '$[11]')", "value", "json_set(body, '$[11]', json({}))"),
        ("now_equivalence", "a || ' ' || b", "votes", "votes", "json(value)", "{}"),
    )
)

_V6 = """
-- Clips of live sources that were not perceived with everything: what was left out (JSON list), and how far past its end sound was heard.
CREATE TABLE clip_limit (clip TEXT PRIMARY KEY REFERENCES clip, given_up TEXT NOT NULL, overrun INTEGER) WITHOUT ROWID;
"""

_V7 = """
-- What reaches into a span of time is found by its start: after the span's start, less the longest of the source, and before its end.
CREATE INDEX IF NOT EXISTS object_seen_time ON object_seen (source, start);
CREATE INDEX IF NOT EXISTS text_on_screen_time ON text_on_screen (source, start);
""" + "".join(
    f'CREATE INDEX IF NOT EXISTS {table}_length ON {table} (source, "end" - start);\n'
    for table in ("face_track", "utterance", "object_seen", "text_on_screen")
)

_V8 = """
-- What two observations of a person show at once counts once: seconds on screen and of speech are the union of spans.
WITH seen (person, voice, clip, start, "end") AS MATERIALIZED (
    SELECT o.person, 0, t.clip, t.start, t."end" FROM now_observation o JOIN face_track t ON t.id = o.observation WHERE o.node IS NOT NULL
    UNION ALL
    SELECT o.person, 1, t.clip, t.start, t."end" FROM now_observation o JOIN utterance t ON t.id = o.observation WHERE o.node IS NOT NULL),
  placed AS (SELECT seen.*, max(seen."end") OVER (PARTITION BY person, voice, clip ORDER BY seen.start, seen."end"
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until FROM seen JOIN clip c ON c.id = seen.clip WHERE c.state != 'enrolled'),
  longer AS (SELECT person, voice, max(0, "end" - max(start, coalesce(until, start))) AS time FROM placed),
  total AS (SELECT person, coalesce(sum(time) FILTER (WHERE NOT voice), 0) AS screen, coalesce(sum(time) FILTER (WHERE voice), 0) AS speech
    FROM longer GROUP BY person)
UPDATE now_person SET body = json_set(body, '$[9]', total.screen, '$[10]', total.speech) FROM total
  WHERE total.person = now_person.id AND CASE WHEN json_valid(body)
  THEN json_extract(body, '$[9]') != total.screen OR json_extract(body, '$[10]') != total.speech END;
"""

_V9 = """
-- What a writer drafted and is not, or not yet, in force; no part of the log. kind: knowledge (semantic sentences of a clip until its
-- second commit), version (the sentences of another writer, beside those in force, until the user chooses). body: a list of sentences.
CREATE TABLE IF NOT EXISTS draft (
  id INTEGER PRIMARY KEY, clip TEXT NOT NULL REFERENCES clip, kind TEXT NOT NULL, writer TEXT NOT NULL, at TEXT NOT NULL,
  body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS draft_clip ON draft (clip, kind);
"""

_V10 = """
-- Bookmarks are steps of the journal: read without reading all others. (An older version takes them for damage, so it must not open this.)
CREATE INDEX IF NOT EXISTS journal_kind ON journal (kind);
"""

MIGRATIONS: tuple[str, ...] = (_V1, _V2, _V3, _V4, _V5, _V6, _V7, _V8, _V9, _V10)
"""The script that leads from version n to n + 1, each whole or absent."""

VERSION = len(MIGRATIONS)

DERIVED: dict[str, int] = {
    "now_observation": 1, "now_binding": 2, "now_node": 1, "now_person": 1, "now_alias": 1, "now_edge": 3,
    "now_equivalence": 2, "now_constraint": 2, "now_chunk": 2,
}  # fmt: skip
"""The derived tables and how many leading columns are their key."""

UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""Errors of an unreadable database; the second one if SQLite's message quotes a damaged name that Python can't decode."""

EVIDENCE = ("face_track", "utterance", "object_seen", "text_on_screen")


def code(error: sqlite3.Error | UnicodeDecodeError) -> int:
    """Return SQLite's primary result code of an error, such as `sqlite3.SQLITE_FULL`; 0 where SQLite did not raise it."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def is_busy(error: sqlite3.Error | UnicodeDecodeError) -> bool:
    """Return whether another process has locked the file."""
    return code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


WRITE_FAILURES = (
    sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC, sqlite3.SQLITE_IOERR_TRUNCATE,
    sqlite3.SQLITE_IOERR_SHMSIZE,
)  # fmt: skip
"""What SQLite calls I/O errors, though nothing is wrong with what is there: something could not be written."""


def is_write_failure(error: sqlite3.Error | UnicodeDecodeError) -> bool:
    """Return whether the disk took no more, for want of room or by a limit."""
    return code(error) == sqlite3.SQLITE_FULL or getattr(error, "sqlite_errorcode", 0) in WRITE_FAILURES


def version_of(db: sqlite3.Connection, path: str) -> int:
    """Return the schema version. Raises MemoryTooNew, MemoryDamaged when the file is no memory, or SQLite's error of a full disk."""
    try:
        version = int(db.execute("PRAGMA user_version").fetchone()[0])
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except UNREADABLE as error:
        if is_write_failure(error):
            raise
        raise MemoryDamaged(
            f"the database of {path} does not read: {error}.",
            f"See whether a copy of it can be put in place: m3desk check --restore -m {shlex.quote(path)}",
        ) from error
    if version > VERSION:
        raise MemoryTooNew(f"{path} was written by a newer M3Desk (its format is {version}, this one knows {VERSION}).", "Update M3Desk.")
    return version


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Bring a memory of an older version (0 = empty) up to date."""
    for number in range(version, VERSION):
        db.executescript(f"BEGIN IMMEDIATE; {MIGRATIONS[number]} PRAGMA user_version = {number + 1}; COMMIT;")


def make(new: Path, final: Path) -> None:
    """Create an empty memory under the name `new` and rename it when it is complete, so that a partial database is never used."""
    new.write_bytes(b"")
    db = sqlite3.connect(new, isolation_level=None)
    try:
        migrate(db, 0)
    finally:
        db.close()
    new.replace(final)
