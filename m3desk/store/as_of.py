"""Reads an earlier state of a memory: as known by a clip of a source (`before`), or as believed at a date (`believed_at`). Read-only.

The log is append-only and every row carries the sequence of its commit, every commit its date. So the state as believed at a date is the
fold of the log up to the last commit by then, with the corrections made by then; the state as known by a clip is the fold without later
clips, with all corrections of today. Both can be combined (bitemporal). Rows of removed sources and forgotten persons are in neither.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from m3desk.domain.ids import clip_order, source_number
from m3desk.domain.log import Log
from m3desk.domain.sentences import fold
from m3desk.errors import UsageError
from m3desk.store import derived, rows, schema

DB = sqlite3.Connection

DATED = (*schema.EVIDENCE, "commits", "apart", "node", "binding", "vote", "heard_name", "reinforcement", "link", "journal", "journal_mark",
         "renamed")  # fmt: skip
"""The log's tables whose rows carry a sequence. Embeddings are not among them: their owners follow from the rest."""

ORDERED = ("face_track", "utterance")
"""Tables that are read in order of their rowid; a view needs an explicit rowid column for that."""


@dataclass(frozen=True, slots=True)
class AsOf:
    """What a reader sees: the log up to commit `sequence` (None: all of it). `began`: the date of the first commit, None without one."""

    sequence: int | None
    began: str | None

    @property
    def empty(self) -> bool:
        """Return whether the memory was still empty then."""
        return self.sequence == 0


def moment(text: str) -> datetime:
    """Read a date: ISO 8601; without a zone it is local time, without a time the end of that day. Raises UsageError."""
    given = text.strip()
    try:
        if re.fullmatch(r"\d{4}-?\d\d-?\d\d", given):
            return datetime.combine(date.fromisoformat(given), time.max).astimezone()
        read = datetime.fromisoformat(given)
        return read.astimezone() if read.tzinfo is None else read
    except (ValueError, OverflowError, OSError) as error:  # OSError: a year that the system's clock does not know
        raise UsageError(f"“{text}” is not a date.", "Write 2026-11-21, 2026-11-21T13:00 or 2026-11-21T13:00:00Z.") from error


def last_commit(db: DB, at: datetime) -> int:
    """Return the sequence of the last commit by a date; 0 where there is none."""
    found = 0
    for sequence, text in db.execute("SELECT sequence, at FROM commits ORDER BY sequence"):
        try:
            when = datetime.fromisoformat(text)
        except ValueError:  # an import may carry anything; such a commit happened between its neighbours
            continue
        if (when if when.tzinfo else when.replace(tzinfo=UTC)) <= at:
            found = int(sequence)
    return found


def read_as_of(db: DB, before: tuple[str, int] | None = None, believed_at: str | None = None) -> AsOf:
    """Make this (reading) connection see the state as known by a clip, or as believed at a date: temporary tables shadow the real ones.

    `before`: corrections of today stay; of other sources, those memorized earlier (a smaller number) are known, later ones not.
    """
    db.execute("BEGIN")
    try:
        first = db.execute("SELECT at FROM commits ORDER BY sequence LIMIT 1").fetchone()
        cut = None if believed_at is None else last_commit(db, moment(believed_at))
        if cut is not None:
            _cut(db, cut)
        if before is not None or cut is not None:
            _fold_again(db, before, cut)
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    return AsOf(cut, first[0] if first else None)


def _cut(db: DB, cut: int) -> None:
    """Hide the log's rows after a commit, and set the models that were in use then."""
    clips = "SELECT clip, max(kind = 'clip-semantic') AS done FROM main.commits WHERE sequence <= {} AND clip IS NOT NULL GROUP BY clip"
    db.execute("CREATE TEMP TABLE committed_clip (id TEXT PRIMARY KEY, done INTEGER)")
    db.execute(f"INSERT INTO temp.committed_clip {clips.format(cut)}")
    for name in (n for n in DATED if n not in schema.EVIDENCE):
        db.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM main.{name} WHERE sequence <= {cut}")
    db.execute("CREATE TEMP TABLE meta AS SELECT * FROM main.meta")
    for port in ("face_vectors", "voice_vectors"):
        used = None
        for (models,) in db.execute("SELECT models FROM main.commits WHERE sequence <= ? ORDER BY sequence", (cut,)):
            used = json.loads(models or "{}").get(port) or used
        if used:
            db.execute("UPDATE temp.meta SET value = ? WHERE key = ?", (used, port))


def _fold_again(db: DB, before: tuple[str, int] | None, cut: int | None) -> None:
    """Fold what is visible into temporary tables, and hide the evidence, clips and sources that are not."""
    known = _by(before)
    log = rows.full_log(db)
    if before is not None:
        log = _known(log, known)
    if cut is not None:
        # The log was read through the views above but for evidence, whose views need the clips.
        log.observations = {o: s for o, s in log.observations.items() if s.sequence <= cut}
    tables = derived.tables(fold(log))
    for name in schema.DERIVED:
        made = db.execute("SELECT sql FROM main.sqlite_master WHERE name = ?", (name,)).fetchone()[0]
        db.execute(made.replace("CREATE TABLE", "CREATE TEMP TABLE", 1))  # with its key: rows come in the same order
        if tables[name]:
            width = len(next(iter(tables[name].values())))
            db.executemany(f"INSERT INTO temp.{name} VALUES ({', '.join('?' * width)})", list(tables[name].values()))
    committed = " WHERE id IN (SELECT id FROM temp.committed_clip)" if cut is not None else ""
    visible = [(r[0],) for r in db.execute("SELECT id FROM main.clip" + committed) if known(r[0])]
    db.execute("CREATE TEMP TABLE visible_clip (id TEXT PRIMARY KEY)")
    db.executemany("INSERT INTO temp.visible_clip VALUES (?)", visible)
    for name in schema.EVIDENCE:
        by_then = f" AND sequence <= {cut}" if cut is not None else ""
        columns = "rowid, *" if name in ORDERED else "*"
        db.execute(
            f"CREATE TEMP VIEW {name} AS SELECT {columns} FROM main.{name} WHERE clip IN (SELECT id FROM temp.visible_clip){by_then}"
        )
    _clips(db, cut)


def _clips(db: DB, cut: int | None) -> None:
    if cut is None:
        db.execute("CREATE TEMP VIEW clip AS SELECT * FROM main.clip WHERE id IN (SELECT id FROM temp.visible_clip)")
        return
    db.execute("""CREATE TEMP VIEW clip AS SELECT c.id, c.source, c.number, c.start, c."end",
        CASE WHEN k.done THEN 'done' ELSE 'episodic' END AS state, c.error, c.thumbnail, c.cuts, c.scene
        FROM main.clip c JOIN temp.committed_clip k ON k.id = c.id WHERE c.id IN (SELECT id FROM temp.visible_clip)""")
    db.execute(
        "CREATE TEMP VIEW source AS SELECT * FROM main.source "
        "WHERE id IN (SELECT substr(id, 1, instr(id, '.') - 1) FROM temp.committed_clip)"
    )


def _by(before: tuple[str, int] | None) -> Callable[[str | None], bool]:
    """Return whether something of a clip was known by a clip of a source."""
    if before is None:
        return lambda _clip: True
    source, index = source_number(before[0]), before[1]

    def known(clip: str | None) -> bool:
        return clip is None or clip_order(clip)[0] < source or (clip_order(clip)[0] == source and clip_order(clip)[1] <= index)

    return known


def _known(log: Log, known: Callable[[str | None], bool]) -> Log:
    """Return a log without the clips that were not known; corrections stay."""
    part = Log()
    part.observations = {o: s for o, s in log.observations.items() if known(s.clip)}
    part.nodes = {n: b for n, b in log.nodes.items() if known(b.clip)}
    part.sentences = {n: t for n, t in log.sentences.items() if known(t.clip)}
    part.bindings = [b for b in log.bindings if b.observation in part.observations and b.node in part.nodes]
    part.votes = [v for v in log.votes if known(v.clip)]
    part.names = [n for n in log.names if n.observation in part.observations]
    part.cannot_links = [(a, b) for a, b in log.cannot_links if a in part.observations and b in part.observations]
    part.reinforcements = [r for r in log.reinforcements if known(r.clip) and r.node in part.sentences]
    part.links = [k for k in log.links if k.a in part.sentences and k.b in part.sentences]
    part.steps, part.marks, part.renamed = log.steps, log.marks, log.renamed
    return part
