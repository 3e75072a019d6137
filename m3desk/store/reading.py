"""SQL queries over the log and the derived tables of a memory. Every function takes a connection inside one snapshot."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from m3desk.domain.changed import Edge
from m3desk.domain.clear_speech import unmarked
from m3desk.domain.clip import Clip, Source
from m3desk.domain.correction import Step
from m3desk.domain.evidence import Floats, ObjectSeen, Perceived, TextOnScreen
from m3desk.domain.graph import EdgeRow, GraphSnapshot, NodeRow
from m3desk.domain.identities import Constraint, Equivalence
from m3desk.domain.ids import MADE, clip_order, numbered, person_id, source_number
from m3desk.domain.log import undone_steps
from m3desk.domain.memory import Span, StoredSentence, TimelineSentence
from m3desk.domain.people import Binding, Person, PresenceSpan, SpeechRow, TrackRow
from m3desk.domain.sentences import LABEL
from m3desk.errors import CorrectionError, UsageError
from m3desk.store import rows

DB = sqlite3.Connection


def sources(db: DB) -> list[Source]:
    """Return the videos and recordings that are memorized, not enrolment files (`store.corrections.enrolling`)."""
    return sorted((rows.source(r) for r in db.execute("SELECT * FROM source WHERE state != 'enrolled'")), key=lambda s: source_number(s.id))


def source(db: DB, id_: str) -> Source:
    row = db.execute("SELECT * FROM source WHERE id = ?", (id_,)).fetchone()
    if row is None:
        raise UsageError(f"there is no source {id_} in this memory.", "See: m3desk sources list.")
    return rows.source(row)


def clips(db: DB, source_: str | None = None) -> list[Clip]:
    query = f"{rows.CLIPS} WHERE " + ("source = ?" if source_ else "state != 'enrolled'")
    return sorted((rows.clip(r) for r in db.execute(query, (source_,) if source_ else ())), key=lambda c: clip_order(c.id))


def clip(db: DB, id_: str) -> Clip:
    row = db.execute(f"{rows.CLIPS} WHERE id = ?", (id_,)).fetchone()
    if row is None:
        raise UsageError(f"there is no clip {id_} in this memory.")
    return rows.clip(row)


def clips_of(db: DB, ids: Iterable[str]) -> list[Clip]:
    """Return those of these clips that exist, without clips of enrolment files."""
    query = f"{rows.CLIPS} WHERE id IN (SELECT value FROM json_each(?)) AND state != 'enrolled'"
    return sorted((rows.clip(r) for r in db.execute(query, (listed(ids),))), key=lambda c: clip_order(c.id))


def clips_between(db: DB, source_: str, start: int, end: int) -> list[Clip]:
    """Return the clips of a source that reach into [start, end)."""
    query = f'{rows.CLIPS} WHERE source = ? AND "end" > ? AND start < ? ORDER BY number'
    return [rows.clip(r) for r in db.execute(query, (source_, start, end))]


def thumbnails(db: DB, clips_: Iterable[str]) -> dict[str, str]:
    """Return clip → media id of its picture, of those that have one."""
    query = "SELECT id, thumbnail FROM clip WHERE thumbnail IS NOT NULL AND id IN (SELECT value FROM json_each(?))"
    return {r[0]: r[1] for r in db.execute(query, (listed(clips_),))}


def thumbnail(db: DB, clip_: str) -> str | None:
    row = db.execute("SELECT thumbnail FROM clip WHERE id = ?", (clip_,)).fetchone()
    return row[0] if row else None


def listed(ids: Iterable[str]) -> str:
    """Return ids as `json_each` takes them: one value of a query, however many they are."""
    return json.dumps(list(ids))


_HELD = """SELECT {t}.*, o.node, o.person, o.set_aside, p.number AS p_number, p.body AS p_body FROM {t}
JOIN now_observation o ON o.observation = {t}.id LEFT JOIN now_person p ON p.id = o.person WHERE """


_NAMED = " {t}.id IN (SELECT value FROM json_each(?)) ORDER BY {t}.start, {t}.id"


def _between(db: DB, table: str, source_: str, start: int | None, end: int | None) -> tuple[str, list[Any]]:
    """Return the condition for the rows of a source that reach into [start, end), and its values. None: without that limit.

    The index by start needs a lower limit too: `start`, less the length of the longest row of the source.
    """
    where = "{t}.source = ?"
    values: list[Any] = [source_]
    if start is not None:
        query = f'SELECT "end" - start FROM {table} WHERE source = ? ORDER BY "end" - start DESC LIMIT 1'
        longest = db.execute(query, (source_,)).fetchone()
        where += ' AND {t}."end" > ? AND {t}.start > ?'
        values += [start, start - (longest[0] if longest else 0)]
    if end is not None:
        where += " AND {t}.start < ?"
        values.append(end)
    return where.format(t=table), values


class _Names(dict[str, str]):
    """The shown names of persons; each is read once, since their rows are large."""

    def of(self, row: sqlite3.Row) -> str:
        if not row["p_body"]:
            return ""
        if row["person"] not in self:
            self[row["person"]] = rows.person((row["person"], row["p_number"], row["p_body"])).shown
        return self[row["person"]]


def tracks(db: DB, source_: str, start: int | None = None, end: int | None = None) -> list[TrackRow]:
    where, values = _between(db, "face_track", source_, start, end)
    return _tracks(db.execute((_HELD + where + " ORDER BY {t}.start, {t}.id").format(t="face_track"), values))


def tracks_of(db: DB, ids: Iterable[str]) -> list[TrackRow]:
    """Return those of these face tracks that are in force."""
    return _tracks(db.execute((_HELD + _NAMED).format(t="face_track"), (listed(ids),)))


def _tracks(found: Iterable[sqlite3.Row]) -> list[TrackRow]:
    names = _Names()
    return [TrackRow(rows.face_track(r), r["node"], r["person"], names.of(r), bool(r["set_aside"])) for r in found]


def speech(db: DB, source_: str, start: int | None = None, end: int | None = None) -> list[SpeechRow]:
    where, values = _between(db, "utterance", source_, start, end)
    return _speech(db.execute((_HELD + where + " ORDER BY {t}.start, {t}.id").format(t="utterance"), values))


def speech_of(db: DB, ids: Iterable[str]) -> list[SpeechRow]:
    """Return those of these utterances that are in force."""
    return _speech(db.execute((_HELD + _NAMED).format(t="utterance"), (listed(ids),)))


def _speech(found: Iterable[sqlite3.Row]) -> list[SpeechRow]:
    names = _Names()
    return [SpeechRow(rows.utterance(r), r["node"], r["person"], names.of(r), bool(r["set_aside"])) for r in found]


def presence(db: DB, clips_: Iterable[str]) -> list[PresenceSpan]:
    """Return who is seen and heard when in these clips, in order of time."""
    of = listed(clips_)
    found = []
    for table, heard in (("face_track", False), ("utterance", True)):
        query = f"""SELECT t.clip, o.person, t.start, t."end" FROM {table} t JOIN now_observation o ON o.observation = t.id
            WHERE t.clip IN (SELECT value FROM json_each(?)) AND o.person != '' AND NOT o.set_aside ORDER BY t.start, t.id"""
        found += [PresenceSpan(r[0], r[1], r[2], r[3], heard) for r in db.execute(query, (of,))]
    return found


def objects(db: DB, source_: str, start: int | None = None, end: int | None = None) -> list[ObjectSeen]:
    where, values = _between(db, "object_seen", source_, start, end)
    return [rows.object_seen(r) for r in db.execute(f"SELECT * FROM object_seen WHERE {where} ORDER BY start, id", values)]


def texts(db: DB, source_: str, start: int | None = None, end: int | None = None) -> list[TextOnScreen]:
    where, values = _between(db, "text_on_screen", source_, start, end)
    return [rows.text_on_screen(r) for r in db.execute(f"SELECT * FROM text_on_screen WHERE {where} ORDER BY start, id", values)]


def perceived(db: DB, clip_: str) -> Perceived | None:
    """Return a clip's evidence as it was committed (without the media files), None where none was."""
    row = db.execute("SELECT * FROM clip WHERE id = ? AND state IN ('episodic', 'done')", (clip_,)).fetchone()
    if row is None:
        return None
    of = (clip_,)
    found = f"SELECT * FROM {{}} WHERE clip = ? AND id NOT GLOB '{MADE}' ORDER BY rowid"
    faces = tuple(rows.face_track(r) for r in db.execute(found.format("face_track"), of))
    heard = tuple(rows.utterance(r) for r in db.execute(found.format("utterance"), of))
    ids = [t.id for t in faces] + [u.id for u in heard]
    vectors: dict[str, Floats] = {}
    for id_ in ids:
        for r in db.execute("SELECT * FROM embedding WHERE owner = ? ORDER BY sequence, rowid LIMIT 1", (id_,)):
            vectors[id_] = rows.vectors(r)
    known = set(ids)
    pairs = db.execute(
        "SELECT a, b FROM apart WHERE sequence = (SELECT max(sequence) FROM commits WHERE clip = ? AND kind = 'clip-episodic')", of
    )
    return Perceived(
        clip=clip_,
        faces=faces,
        utterances=heard,
        objects=tuple(rows.object_seen(r) for r in db.execute("SELECT * FROM object_seen WHERE clip = ? ORDER BY id", of)),
        texts=tuple(rows.text_on_screen(r) for r in db.execute("SELECT * FROM text_on_screen WHERE clip = ? ORDER BY id", of)),
        vectors=vectors,
        cannot_link=frozenset((r["a"], r["b"]) for r in pairs if r["a"] in known and r["b"] in known),
        thumbnail=row["thumbnail"],
        cuts=tuple(json.loads(row["cuts"] or "[]")),
        scene=json.loads(row["scene"] or "{}"),
    )


# ---------------------------------------------------------------- people


def everybody(db: DB) -> list[Person]:
    """Return every person, also those without observations."""
    before = rows.earlier(db, "person_*")
    return [rows.person(r, before.get(r["id"], ())) for r in db.execute("SELECT * FROM now_person ORDER BY number")]


def people(db: DB) -> list[Person]:
    """Return the persons with observations or a name, in number order."""
    return [p for p in everybody(db) if p.clips or p.name]


def people_of(db: DB, ids: Iterable[str]) -> list[Person]:
    """Return those of these persons that `people` returns."""
    query = "SELECT * FROM now_person WHERE id IN (SELECT value FROM json_each(?)) ORDER BY number"
    before = rows.earlier_of(db, listed(ids))
    found = [rows.person(r, before.get(r["id"], ())) for r in db.execute(query, (listed(ids),))]
    return [p for p in found if p.clips or p.name]


def person(db: DB, ref: str) -> Person:
    """Find a person by id, number, "Person 3", name or alias. Raises CorrectionError if none or several match."""
    wanted = ref.strip()
    bare = wanted.strip("<>").casefold().replace("character_", "person_").removeprefix("person").strip(" _")
    if bare.isdecimal() and len(bare) < 19:
        row = db.execute("SELECT person FROM now_alias WHERE id = ?", (person_id(int(bare)),)).fetchone()
        if row:
            there = db.execute("SELECT * FROM now_person WHERE id = ?", (row[0],)).fetchone()
            return rows.person(there, rows.earlier(db, row[0]).get(row[0], ()))
    all_ = everybody(db)
    key = wanted.casefold()
    found = [p for p in all_ if p.name and p.name.casefold() == key]
    found = found or [p for p in all_ if key in (a.casefold() for a in p.aliases)]
    found = found or [p for p in all_ if p.shown.casefold() in (key, key + "?")]
    if len(found) > 1:
        raise CorrectionError(f"several people are called {ref}: {', '.join(p.id for p in found)}.", "Say which by its id.")
    if not found:
        raise CorrectionError(f"nobody here is called {ref}.", "See: m3desk people list.")
    return found[0]


def bindings(db: DB, observation: str | None = None, node_: str | None = None) -> list[Binding]:
    named = [(column, value) for column, value in (("observation", observation), ("node", node_)) if value is not None]
    query = "SELECT * FROM now_binding" + (" WHERE " + " AND ".join(f"{column} = ?" for column, _ in named) if named else "")
    return [
        Binding(r["observation"], r["node"], r["score"], r["runner_up"], r["margin"], r["by"], r["at"], r["sequence"], r["superseded"])
        for r in db.execute(query + " ORDER BY sequence, observation", [value for _, value in named])
    ]


# ---------------------------------------------------------------- sentences


_SENTENCES = """SELECT node.id, node.type, n.text, n.shown, n.tagged, node.clip, node.source, node.start, node."end", n.weight, n.people,
n.citations, n.spans, n.topic, n.valid_until, n.pinned, n.stale, node.quoted, node.content, node.event, node.model, node.language
FROM node JOIN now_node n ON n.id = node.id WHERE node.type IN ('episodic', 'semantic')"""


@lru_cache(maxsize=10_000)
def _ids(text: str) -> tuple[str, ...]:
    """Return a JSON list of ids; cached, since the same few people and clips repeat."""
    return tuple(json.loads(text))


def _list(text: str) -> list[Any]:
    """Return a JSON list; most are empty."""
    found: list[Any] = [] if text == "[]" else json.loads(text)
    return found


_THINGS = "SELECT m.node, e.content FROM mention m JOIN node e ON e.id = m.entity"


def _sentences(db: DB, query: str, values: Sequence[Any] = ()) -> list[StoredSentence]:
    """Return the sentences of a query, with their entities, which are read in one query if there are many sentences."""
    found = db.execute(query, values).fetchall()
    things: dict[str, list[str]] = {}
    if len(found) > _FEW:
        for node_, label in db.execute(f"{_THINGS} ORDER BY m.node, m.place"):
            things.setdefault(node_, []).append(label)
    else:
        ids = listed(r["id"] for r in found)
        for node_, label in db.execute(f"{_THINGS} WHERE m.node IN (SELECT value FROM json_each(?)) ORDER BY m.node, m.place", (ids,)):
            things.setdefault(node_, []).append(label)
    return [_sentence(r, things.get(r["id"], ())) for r in found]


_FEW = 500


def _sentence(row: Iterable[Any], entities: Sequence[str]) -> StoredSentence:
    """Return a row of `_SENTENCES` as a sentence. By place: columns by name take half as long again, and tables of 100,000 are read."""
    (
        id_, kind, text, shown, tagged, clip_, source_, start, end, weight, people_, citations, spans, topic, valid_until, pinned, stale,
        quoted, content, event, model, language,
    ) = row  # fmt: skip
    return StoredSentence(
        id=id_, kind=kind, text=text, shown=shown, tagged=tagged, clip=clip_ or "", source=source_ or "",
        start=start or 0, end=end or 0, weight=weight, people=_ids(people_),
        citations=tuple(_list(citations)), spans=tuple(Span(s, e, tuple(o)) for s, e, o in _list(spans)),
        topic=topic, valid_until=valid_until, pinned=bool(pinned), stale=bool(stale),
        quoted=_quoted(text, content, _list(quoted or "[]")), event=event,
        model=model or "", language=language or "en", entities=tuple(entities),
    )  # fmt: skip


def _quoted(text: str, content: str, quoted: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return where a sentence quotes, from where it did as it was written; () for one that was edited."""
    if text == content or not quoted:
        return tuple((a, b) for a, b in quoted)
    plain, at, shorter = unmarked(content)
    return tuple((a - shorter, b - shorter) if a >= at else (a, b) for a, b in quoted) if text == plain else ()


def memories(
    db: DB, kind: str | None = None, person_: str | None = None, source_: str | None = None, clip_: str | None = None, deleted: bool = False
) -> list[StoredSentence]:
    """Return sentences in time order; deleted ones only where asked for."""
    query, values = _SENTENCES, []
    for column, value in (("type", kind), ("source", source_), ("clip", clip_)):
        if value is not None:
            query += f" AND node.{column} = ?"
            values.append(value)
    if not deleted:
        query += " AND NOT n.deleted"
    found = _sentences(db, query + " ORDER BY node.number", values)
    if person_ is not None:
        id_ = person(db, person_).id
        found = [s for s in found if id_ in s.people]
    return sorted(found, key=lambda s: (source_number(s.source) if s.source else 0, s.start, numbered(s.id)))


def memories_of(db: DB, ids: Iterable[str]) -> list[StoredSentence]:
    """Return those of these sentences that are in force."""
    query = _SENTENCES + " AND NOT n.deleted AND node.id IN (SELECT value FROM json_each(?)) ORDER BY node.number"
    return _sentences(db, query, (listed(ids),))


def moments(db: DB, clips_: Iterable[str]) -> list[TimelineSentence]:
    """Return when the sentences in force of these clips are, in order of time."""
    query = """SELECT node.clip, node.start, node."end", node.id, node.type, n.shown FROM node JOIN now_node n ON n.id = node.id
        WHERE node.clip IN (SELECT value FROM json_each(?)) AND node.type IN ('episodic', 'semantic') AND NOT n.deleted
        ORDER BY node.start, node.number"""
    return [TimelineSentence(r[0], r[1] or 0, r[2] or 0, *r[3:]) for r in db.execute(query, (listed(clips_),))]


def told_of(db: DB, people_: set[str], things: set[str]) -> list[StoredSentence]:
    """Return semantic sentences, deleted ones too, that mention all these people and entities (if none are given: that mention none)."""
    query, values = _SENTENCES + " AND node.type = 'semantic'", []
    for id_ in sorted(people_):
        query += " AND instr(n.people, ?) > 0"
        values.append(f'"{id_}"')
    for label in sorted(things):
        query += " AND EXISTS (SELECT 1 FROM mention m JOIN node e ON e.id = m.entity WHERE m.node = node.id AND e.content = ?)"
        values.append(label)
    query += "" if people_ else " AND n.people = '[]'"
    query += "" if things else " AND NOT EXISTS (SELECT 1 FROM mention m WHERE m.node = node.id)"
    return _sentences(db, query + " ORDER BY node.number", values)


def sentence(db: DB, id_: str) -> StoredSentence:
    found = _sentences(db, _SENTENCES + " AND node.id = ?", (id_,))
    if not found:
        raise CorrectionError(f"there is no memory {id_}.", "See: m3desk memories list.")
    return found[0]


# ---------------------------------------------------------------- the graph


_NODES = """SELECT node.*, n.weight, n.shown, n.people, n.picture, n.clips, n.valid_until, n.pinned, n.stale, n.topic AS topic_now FROM node
JOIN now_node n ON n.id = node.id WHERE NOT n.deleted AND (n.weight > 0 OR node.type IN ('episodic', 'semantic'))"""


def _node(r: sqlite3.Row, earlier: Mapping[str, list[Any]]) -> NodeRow:
    named, more = _ids(r["people"]), r["extra_data"]
    extra = (json.loads(more) if more else {}) | {"clips": [*earlier.get(r["id"], ()), *_ids(r["clips"])]}
    for key, value in (("topic", r["topic_now"]), ("event", r["event"]), ("model", r["model"]), ("valid_until", r["valid_until"])):
        if value:
            extra[key] = value
    shown = r["shown"]
    return NodeRow(
        id=r["id"], type=r["type"], label=shown if len(shown) <= LABEL else shown[: LABEL - 1] + "…", content=shown, weight=r["weight"],
        clip=r["clip"], source=r["source"], start=r["start"], end=r["end"],
        person=named[0] if r["type"] in ("face", "voice") and named else None, people=named, picture=r["picture"], extra=extra,
    )  # fmt: skip


def node(db: DB, id_: str) -> NodeRow:
    row = db.execute(
        _NODES.replace("AND (n.weight > 0 OR node.type IN ('episodic', 'semantic'))", "") + " AND node.id = ?", (id_,)
    ).fetchone()
    if row is None:
        raise UsageError(f"there is no node {id_} in this memory.")
    return _node(row, rows.earlier(db, id_))


def things(db: DB) -> list[NodeRow]:
    """Return the nodes of objects and places."""
    before = rows.earlier(db)
    return [_node(r, before) for r in db.execute(_NODES + " AND node.type IN ('object', 'place') ORDER BY node.number")]


def neighbours(db: DB, id_: str) -> list[EdgeRow]:
    return [EdgeRow(r["a"], r["b"], r["weight"], r["kind"]) for r in db.execute("SELECT * FROM now_edge WHERE a = ?1 OR b = ?1", (id_,))]


def nodes_of(db: DB, ids: Iterable[str]) -> list[NodeRow]:
    """Return those of these nodes that are in the graph; of the clips they are in (`extra`) only the latest."""
    query = _NODES + " AND node.id IN (SELECT value FROM json_each(?)) ORDER BY node.number"
    return [_node(r, {}) for r in db.execute(query, (listed(ids),))]


def edges_of(db: DB, keys: Iterable[Edge]) -> list[EdgeRow]:
    """Return those of these edges that there are."""
    query = "SELECT * FROM now_edge WHERE a = ? AND b = ? AND kind = ?"
    return [EdgeRow(r["a"], r["b"], r["weight"], r["kind"]) for key in keys for r in db.execute(query, key)]


def edges(db: DB) -> list[EdgeRow]:
    return [EdgeRow(r["a"], r["b"], r["weight"], r["kind"]) for r in db.execute("SELECT * FROM now_edge")]


def graph(db: DB) -> GraphSnapshot:
    before = rows.earlier(db)
    nodes = tuple(_node(r, before) for r in db.execute(_NODES + " ORDER BY node.number"))
    known = {n.id for n in nodes}
    return GraphSnapshot(nodes, tuple(e for e in edges(db) if e.a in known and e.b in known), version(db))


def visible_nodes(db: DB, before: tuple[str, int]) -> set[str]:
    """Return the nodes known before a clip of a source (inclusive; −1 = nothing of it); of other sources, those memorized earlier."""
    source_, index = before
    limit = source_number(source_)
    visible = set()
    for r in db.execute("SELECT id, clip FROM node"):
        if r["clip"] is None:
            visible.add(r["id"])
            continue
        number, place = clip_order(r["clip"])
        if number < limit or (number == limit and place <= index):
            visible.add(r["id"])
    return visible


# ---------------------------------------------------------------- the rest


def version(db: DB) -> int:
    row = db.execute("SELECT value FROM meta WHERE key = 'changes'").fetchone()
    return int(row[0]) if row else 0


def forgotten_spans(db: DB) -> list[tuple[str, int, int]]:
    """Return the spans that were forgotten, of sources that are there: by id, or by their content where they were memorized again."""
    query = """SELECT DISTINCT s.id, t.start, t."end" FROM tombstone t JOIN source s ON s.id = t.source
        OR (s.sha256 = t.sha256 AND t.source NOT IN (SELECT id FROM source)) WHERE t.kind = 'span' ORDER BY s.id, t.start, t."end" """
    return [(r[0], r[1], r[2]) for r in db.execute(query)]


def journal(db: DB) -> list[Step]:
    log = rows.full_log_of_steps(db)
    undone = undone_steps(log)
    return [Step(s.step, s.sequence, s.kind, s.args, s.anchor, s.at, s.by, s.why, s.step in undone, s.text) for s in log.steps]


def forgettings(db: DB) -> int:
    """Return how often a person or a span was forgotten."""
    return int(db.execute("SELECT count(*) FROM journal WHERE kind = 'forget'").fetchone()[0])


def chats(db: DB, newest: int | None = None) -> list[dict[str, Any]]:
    found = db.execute("SELECT body FROM chat ORDER BY id DESC LIMIT ?", (-1 if newest is None else newest,)).fetchall()
    return [json.loads(r[0]) for r in reversed(found)]


def setting(db: DB, key: str, default: str | None = None) -> str | None:
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else default


def equivalences(db: DB) -> list[Equivalence]:
    before = rows.earlier(db, "* *")
    found = []
    for r in db.execute("SELECT * FROM now_equivalence"):
        votes = [*before.get(f"{r['a']} {r['b']}", ()), *json.loads(r["votes"])]
        found.append(
            Equivalence(r["a"], r["b"], r["face"], r["voice"], r["weight"], tuple((c, b, w) for c, b, w in votes), bool(r["accepted"]))
        )
    return found


def constraints(db: DB) -> list[Constraint]:
    return [
        Constraint(r["step"], r["kind"], r["a"], r["b"], r["by"], r["state"])
        for r in db.execute("SELECT * FROM now_constraint ORDER BY step, place")
    ]
