"""Converts between database rows and the types of the domain, both ways."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from m3desk.domain.clip import Clip, Source
from m3desk.domain.correction import Step
from m3desk.domain.evidence import FaceTrack, Floats, ObjectSeen, TextOnScreen, TimedBox, Utterance, Word
from m3desk.domain.ids import source_of
from m3desk.domain.log import Birth, Bound, Linked, Log, Mark, NameHeard, ObservationRow, Reinforced, Renamed, SentenceRow, Voted
from m3desk.domain.memory import Span
from m3desk.domain.people import Person, SuggestedName
from m3desk.store.schema import CHUNK

Row = sqlite3.Row

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))  # json.dumps makes one a call: a third of its time on short rows


def dump(value: Any) -> str:
    """Return compact JSON, the same for the same value."""
    return _ENCODER.encode(value)


@lru_cache(maxsize=4096)
def dump_ids(ids: tuple[str, ...]) -> str:
    """Return what `dump` returns of a few ids that are written again and again: of people, clips, observations."""
    return dump(ids)


def last_items(items: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the part of a growing list that is not in full chunks (`schema.CHUNK`)."""
    return items if len(items) < CHUNK else items[len(items) // CHUNK * CHUNK :]


def earlier(db: sqlite3.Connection, like: str = "*") -> dict[str, list[Any]]:
    """Return owner → the items of its list that are in full chunks. `like`: of owners of this GLOB pattern."""
    return _together(db.execute("SELECT owner, items FROM now_chunk WHERE owner GLOB ? ORDER BY owner, place", (like,)))


def earlier_of(db: sqlite3.Connection, owners: str) -> dict[str, list[Any]]:
    """Return owner → the items of its list that are in full chunks, of these owners (a JSON list)."""
    query = "SELECT owner, items FROM now_chunk WHERE owner IN (SELECT value FROM json_each(?)) ORDER BY owner, place"
    return _together(db.execute(query, (owners,)))


def _together(chunks: Iterable[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for owner, items in chunks:
        found.setdefault(owner, []).extend(json.loads(items))
    return found


def insert(db: sqlite3.Connection, table: str, **values: Any) -> int:
    """Insert one row; return its rowid."""
    columns = ", ".join(f'"{name}"' for name in values)
    marks = ", ".join("?" * len(values))
    return int(db.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", tuple(values.values())).lastrowid or 0)


# ---------------------------------------------------------------- sources, clips, evidence


def source(row: Row) -> Source:
    return Source(
        id=row["id"], uri=row["uri"], duration=row["duration"], width=row["width"], height=row["height"], fps=row["fps"],
        has_audio=bool(row["has_audio"]), sha256=row["sha256"], started_at=row["started_at"], bytes=row["bytes"], state=row["state"],
        error=row["error"],
    )  # fmt: skip


def clip(row: Row) -> Clip:
    """Return a clip; a row of `CLIPS` brings its limits."""
    limited = "given_up" in row.keys() and row["given_up"] is not None  # noqa: SIM118  (a sqlite3.Row iterates over values)
    given_up, overrun = (tuple(json.loads(row["given_up"])), row["overrun"]) if limited else ((), None)
    return Clip(row["id"], row["source"], row["number"], row["start"], row["end"], row["state"], row["error"], given_up, overrun)


def put_limit(db: sqlite3.Connection, c: Clip) -> None:
    """Record what is left out of a clip, and how far past its end sound is heard, if that differs from other clips."""
    db.execute("DELETE FROM clip_limit WHERE clip = ?", (c.id,))
    if c.given_up or c.overrun is not None:
        insert(db, "clip_limit", clip=c.id, given_up=dump(c.given_up), overrun=c.overrun)


CLIPS = "SELECT clip.*, given_up, overrun FROM clip LEFT JOIN clip_limit ON clip_limit.clip = clip.id"
"""Reads clips with their limits."""


def face_track(row: Row) -> FaceTrack:
    return FaceTrack(
        id=row["id"], clip=row["clip"], start=row["start"], end=row["end"],
        boxes=tuple(TimedBox(*b) for b in json.loads(row["boxes"])), score=row["score"], quality=row["quality"],
        crops=tuple(json.loads(row["crops"])),
        landmarks=tuple(tuple((p[0], p[1]) for p in five) for five in json.loads(row["landmarks"])),
        cluster=row["cluster"], motion=tuple(json.loads(row["motion"])), continues=row["continues"], replaces=row["replaces"],
    )  # fmt: skip


def insert_face(db: sqlite3.Connection, t: FaceTrack, sequence: int) -> None:
    insert(
        db, "face_track", id=t.id, sequence=sequence, source=source_of(t.id), clip=t.clip, start=t.start, end=t.end,
        boxes=dump([[b.at, b.x, b.y, b.width, b.height] for b in t.boxes]), score=t.score, quality=t.quality, crops=dump(t.crops),
        landmarks=dump(t.landmarks), cluster=t.cluster, motion=dump(t.motion), continues=t.continues, replaces=t.replaces,
    )  # fmt: skip


def utterance(row: Row) -> Utterance:
    return Utterance(
        id=row["id"], clip=row["clip"], start=row["start"], end=row["end"], text=row["text"],
        words=tuple(Word(*w) for w in json.loads(row["words"])), language=row["language"], confidence=row["confidence"],
        audio=row["audio"], cluster=row["cluster"], overlapped=bool(row["overlapped"]), embeddable=bool(row["embeddable"]),
        replaces=row["replaces"],
    )  # fmt: skip


def insert_utterance(db: sqlite3.Connection, u: Utterance, sequence: int) -> None:
    insert(
        db, "utterance", id=u.id, sequence=sequence, source=source_of(u.id), clip=u.clip, start=u.start, end=u.end, text=u.text,
        words=dump([[w.start, w.end, w.text] for w in u.words]), language=u.language, confidence=u.confidence, audio=u.audio,
        cluster=u.cluster, overlapped=u.overlapped, embeddable=u.embeddable, replaces=u.replaces,
    )  # fmt: skip


def object_seen(row: Row) -> ObjectSeen:
    return ObjectSeen(row["clip"], row["start"], row["end"], row["label"], row["score"], _box(row["box"]))


def text_on_screen(row: Row) -> TextOnScreen:
    return TextOnScreen(row["clip"], row["start"], row["end"], row["text"], row["score"], _box(row["box"]))


def insert_object(db: sqlite3.Connection, o: ObjectSeen, sequence: int) -> None:
    insert(db, "object_seen", sequence=sequence, source=source_of(o.clip), clip=o.clip, start=o.start, end=o.end, label=o.label,
    score=o.score,
           box=dump(o.box))  # fmt: skip


def insert_text(db: sqlite3.Connection, t: TextOnScreen, sequence: int) -> None:
    insert(db, "text_on_screen", sequence=sequence, source=source_of(t.clip), clip=t.clip, start=t.start, end=t.end, text=t.text,
    score=t.score,
           box=dump(t.box))  # fmt: skip


def _box(text: str) -> tuple[float, float, float, float]:
    x, y, width, height = json.loads(text)
    return x, y, width, height


# ---------------------------------------------------------------- vectors


def insert_vectors(db: sqlite3.Connection, owner: str, kind: str, model: str, vectors: Floats, sequence: int) -> None:
    """Store the (n, d) rows of an owner; rows of the same model are replaced."""
    rows = np.ascontiguousarray(np.atleast_2d(vectors), dtype="<f4")
    db.execute("INSERT OR REPLACE INTO embedding VALUES (?, ?, ?, ?, ?, ?, ?)", (owner, kind, model, *rows.shape, rows.tobytes(), sequence))


def vectors(row: Row) -> Floats:
    """Return the (n, d) float32 rows of an embedding."""
    return np.frombuffer(row["vectors"], dtype="<f4").reshape(row["n"], row["d"]).astype(np.float32)


# ---------------------------------------------------------------- the log


def load(db: sqlite3.Connection, since: int = 0) -> Iterator[Any]:
    """Yield the log's rows of commits after `since`, in the order in which they happened."""
    after = (since,)
    # A few new rows are found by their sequence, then sorted (the sign forbids SQLite the other way); all rows are read in their order.
    by = "+" if since else ""
    for r in db.execute("SELECT * FROM face_track WHERE sequence > ? ORDER BY sequence, start, id", after):
        crops = json.loads(r["crops"])
        yield ObservationRow(
            r["id"], "face", r["clip"], r["start"], r["end"], r["quality"], crops[0] if crops else None, r["replaces"], r["sequence"]
        )
    for r in db.execute("SELECT * FROM utterance WHERE sequence > ? ORDER BY sequence, start, id", after):
        yield ObservationRow(r["id"], "voice", r["clip"], r["start"], r["end"], r["confidence"], None, r["replaces"], r["sequence"])
    yield from _load_nodes(db, after, by)
    for r in db.execute(f"SELECT * FROM binding WHERE sequence > ? ORDER BY {by}id", after):
        yield Bound(r["observation"], r["node"], r["score"], r["runner_up"], r["margin"], r["by"], r["at"], r["sequence"])
    for r in db.execute(f"SELECT * FROM vote WHERE sequence > ? ORDER BY {by}id", after):
        yield Voted(r["a"], r["b"], r["by"], r["weight"], r["clip"], r["sequence"])
    for r in db.execute(f"SELECT * FROM heard_name WHERE sequence > ? ORDER BY {by}id", after):
        yield NameHeard(r["observation"], r["name"], r["score"], r["by"], r["evidence"], r["words"], r["at"], r["sequence"])
    for r in db.execute(f"SELECT * FROM apart WHERE sequence > ? ORDER BY {by}a, {by}b", after):
        yield r["a"], r["b"]
    for r in db.execute(f"SELECT * FROM reinforcement WHERE sequence > ? ORDER BY {by}id", after):
        yield Reinforced(r["node"], r["clip"], r["amount"], tuple(json.loads(r["citations"])), r["sequence"])
    for r in db.execute(f"SELECT * FROM link WHERE sequence > ? ORDER BY {by}id", after):
        yield Linked(r["a"], r["b"], r["kind"], r["sequence"])
    for r in db.execute(f"SELECT * FROM journal WHERE sequence > ? ORDER BY {by}step", after):
        yield step(r)
    for r in db.execute(f"SELECT * FROM journal_mark WHERE sequence > ? ORDER BY {by}id", after):
        yield Mark(r["step"], bool(r["undone"]), r["sequence"])
    for r in db.execute(f"SELECT * FROM renamed WHERE sequence > ? ORDER BY {by}id", after):
        yield Renamed(r["old"], r["new"], r["sequence"])


def _load_nodes(db: sqlite3.Connection, after: tuple[int], by: str) -> Iterator[Any]:
    texts = "FROM node CROSS JOIN {} t ON t.node = node.id WHERE node.sequence > ? ORDER BY 1, 2"  # the new nodes first, then theirs
    spans: dict[str, list[Span]] = {}
    for r in db.execute(f'SELECT t.node, t.start, t."end", t.observations {texts.format("span")}', after):
        spans.setdefault(r["node"], []).append(Span(r["start"], r["end"], tuple(json.loads(r["observations"]))))
    cited = _lists(db.execute(f"SELECT t.node, t.place, t.observation {texts.format('citation')}", after))
    mentioned = _lists(db.execute(f"SELECT t.node, t.place, t.entity {texts.format('mention')}", after))
    for r in db.execute(f"SELECT * FROM node WHERE sequence > ? ORDER BY {by}number", after):
        if r["type"] in ("episodic", "semantic"):
            yield SentenceRow(
                r["id"], r["number"], r["type"], r["content"], r["language"], tuple(spans.get(r["id"], ())), tuple(cited.get(r["id"], ())),
                tuple(mentioned.get(r["id"], ())), r["clip"], r["start"], r["end"], r["topic"], r["sequence"], r["step"],
            )  # fmt: skip
        else:
            yield Birth(
                r["id"], r["number"], r["type"], r["content"], r["person"], r["clip"], r["start"], r["end"], r["sequence"], r["step"]
            )


def _lists(rows: Iterable[Row]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node, _place, value in rows:
        found.setdefault(node, []).append(value)
    return found


def step(row: Row) -> Step:
    return Step(row["step"], row["sequence"], row["kind"], json.loads(row["args"]), json.loads(row["anchor"]), row["at"], row["by"],
    row["why"],
                False, row["text"])  # fmt: skip


def full_log(db: sqlite3.Connection) -> Log:
    """Return the whole log."""
    log = Log()
    log.add(load(db))
    return log


def full_log_of_steps(db: sqlite3.Connection) -> Log:
    """Return a log with the journal only (and the new ids of what it names)."""
    log = Log()
    log.add(step(r) for r in db.execute("SELECT * FROM journal ORDER BY step"))
    log.add(Mark(r["step"], bool(r["undone"]), r["sequence"]) for r in db.execute("SELECT * FROM journal_mark ORDER BY id"))
    log.add(Renamed(r["old"], r["new"], r["sequence"]) for r in db.execute("SELECT * FROM renamed ORDER BY id"))
    return log


# ---------------------------------------------------------------- people


def person_body(p: Person) -> str:
    names = [[n.name, n.score, n.evidence, n.words] for n in p.suggested_names]
    return dump([
        p.name, p.name_state, p.shown, names, p.aliases, p.faces, p.voices, p.first_seen, p.last_seen, p.screen_time, p.speech_time,
        last_items(p.clips), p.ignored, p.portrait,
    ])  # fmt: skip


def person(row: Row | Sequence[Any], before: Sequence[str] = ()) -> Person:
    """Return a person from a row of `now_person`. `before`: the clips that are not in it (`earlier`)."""
    name, state, shown, names, aliases, faces, voices, first, last, screen, speech, clips, ignored, portrait = json.loads(row[2])
    return Person(
        id=row[0], number=row[1], name=name, name_state=state, shown=shown,
        suggested_names=tuple(SuggestedName(n, s, tuple(e), w) for n, s, e, w in names), aliases=tuple(aliases), faces=tuple(faces),
        voices=tuple(voices), first_seen=(first[0], first[1]) if first else None, last_seen=(last[0], last[1]) if last else None,
        screen_time=screen, speech_time=speech, clips=(*before, *clips), ignored=ignored, portrait=portrait,
    )  # fmt: skip
