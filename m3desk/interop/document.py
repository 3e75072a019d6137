"""Validates an export's `.json`: the type and size of every value, and the target of every reference.

Everything is checked before anything is written; the error names the path of the first wrong value (`face_tracks[3].quality`). The
schema is `domain.shape`; lists that an import recomputes (nodes, edges, people …) are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from pydantic import TypeAdapter, ValidationError

from m3desk.domain import shape
from m3desk.domain.ids import clip_id, numbered
from m3desk.domain.shape import (
    Boolean,
    Box,
    ClipId,
    ClipStates,
    Count,
    FaceId,
    Key,
    MediaId,
    Number,
    Object,
    Point,
    Seconds,
    Short,
    SourceId,
    SourceStates,
    Text,
    TimedBox,
    VoiceId,
    kind_of,
)
from m3desk.errors import ImportProblem

LISTS: Mapping[str, Mapping[str, Any]] = {
    "sources": {
        "id": SourceId, "uri": Short, "duration": Seconds | None, "width": shape.Pixels | None, "height": shape.Pixels | None,
        "fps": Number | None, "has_audio": Boolean, "sha256": Key | None, "started_at": Key | None, "bytes": Count | None,
        "state": SourceStates, "error": Text | None,
    },
    "clips": {
        "id": ClipId, "source": SourceId, "index": Count, "start": Seconds, "end": Seconds, "state": ClipStates, "error": Text | None,
    },
    "face_tracks": {
        "id": FaceId, "clip": ClipId, "start": Seconds, "end": Seconds, "boxes": shape.list_of(TimedBox), "score": Number,
        "quality": Number, "crops": shape.list_of(MediaId), "landmarks": shape.list_of(shape.list_of(Point)), "cluster": shape.Cluster,
        "motion": shape.list_of(Number), "continues": FaceId | None, "replaces": FaceId | None,
    },
    "utterances": {
        "id": VoiceId, "clip": ClipId, "start": Seconds, "end": Seconds, "text": Text,
        "words": shape.list_of(shape.tuple_of(Seconds, Seconds, Text)), "language": Key | None, "confidence": Number,
        "audio": MediaId | None, "cluster": shape.Cluster, "overlapped": Boolean, "embeddable": Boolean, "replaces": VoiceId | None,
    },
    "objects": {"clip": ClipId, "start": Seconds, "end": Seconds, "label": Short, "score": Number, "box": Box},
    "texts_on_screen": {"clip": ClipId, "start": Seconds, "end": Seconds, "text": Text, "score": Number, "box": Box},
}  # fmt: skip
"""The lists that evidence is made of again: list → key → what it may hold. Other keys are not looked at."""

LIMITS: Mapping[str, Any] = {"given_up": shape.list_of(Short), "overrun": Seconds | None}
"""Keys that only clips of live sources have."""

LOG = (
    "commits", "node", "span", "citation", "mention", "binding", "vote", "heard_name", "apart", "reinforcement", "link", "journal",
    "journal_mark", "renamed", "tombstone", "unwanted",
)  # fmt: skip
NEWER = frozenset({"renamed", "tombstone", "unwanted"})
"""Tables that exports of older versions lack."""

MAPS: Mapping[str, Any] = {
    "meta": shape.dict_of(Key, Short), "face_track_sequence": shape.dict_of(FaceId, shape.Order),
    "utterance_sequence": shape.dict_of(VoiceId, shape.Order), "fps": shape.dict_of(SourceId, Number | None),
    "clip": shape.dict_of(ClipId, shape.tuple_of(*(shape.TABLES["clip"][c] for c in ("thumbnail", "cuts", "scene")))),
}  # fmt: skip

Rows = list[dict[str, Any]]


def check(document: Mapping[str, Any]) -> None:
    """Raise ImportProblem at the first invalid value."""
    for name, types in LISTS.items():
        _list(name, document[name], types)
    for i, clip in enumerate(document["clips"]):
        for name in LIMITS.keys() & clip.keys():
            _valid(f"clips[{i}].{name}", LIMITS[name], clip[name])
    _valid("chats", shape.list_of(Object), document["chats"])
    log = document["log"]
    if type(log) is not dict:
        _no("log", f"an object was expected, not {kind_of(log)}")
    for table in LOG:
        if table in log or table not in NEWER:
            _table(f"log.{table}", table, log.get(table))
    for name, type_ in MAPS.items():
        _valid(f"log.{name}", type_, log.get(name))
    _unlisted(log.get("unlisted", {}))
    _together(document)


def _no(path: str, text: str) -> NoReturn:
    raise ImportProblem(f"{path}: {text}.", "This is not what `m3desk export` wrote: export the memory again. Nothing was written.")


def _valid(path: str, type_: Any, value: Any) -> None:
    try:
        TypeAdapter(type_).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"] if p != "[key]")
        _no(path + shape.printable(where), shape.said(first))


def _list(name: str, rows: Any, types: Mapping[str, Any]) -> None:
    if type(rows) is not list:
        _no(name, f"a list was expected, not {kind_of(rows)}")
    columns = tuple(types)
    for at in range(0, len(rows), CHUNK):
        part = rows[at : at + CHUNK]
        for i, row in enumerate(part, at):
            if type(row) is not dict:
                _no(f"{name}[{i}]", f"an object was expected, not {kind_of(row)}")
            if (lacking := next((c for c in columns if c not in row), None)) is not None:
                _no(f"{name}[{i}]", f"{lacking} is missing")
        if (wrong := shape.wrong(types, columns, [tuple(row[c] for c in columns) for row in part])) is not None:
            _no(f"{name}[{at + wrong.row}].{wrong.column}", wrong.text)


CHUNK = 2_000


def _table(path: str, table: str, value: Any, extra: Mapping[str, Any] = {}) -> None:
    """Check rows that are written as {"columns": […], "rows": [[…], …]}."""
    types = {**shape.TABLES[table], **extra}
    if type(value) is not dict:
        _no(path, f"an object was expected, not {kind_of(value) if value is not None else 'nothing'}")
    columns, rows = value.get("columns"), value.get("rows")
    if type(columns) is not list or any(type(c) is not str for c in columns) or len(set(columns)) < len(columns):
        _no(f"{path}.columns", "names of columns were expected, each once")
    if unknown := [c for c in columns if c not in types]:
        raise ImportProblem(
            f"{path}.columns: {shape.printable(unknown[0])[:80]} is a column that this version does not know.",
            "Update M3Desk. Nothing was written.",
        )
    if lacking := [c for c in shape.TABLES[table] if c not in columns]:
        _no(f"{path}.columns", f"{lacking[0]} is missing")
    if type(rows) is not list:
        _no(f"{path}.rows", f"a list was expected, not {kind_of(rows)}")
    for at in range(0, len(rows), CHUNK):
        part = rows[at : at + CHUNK]
        if (wrong := shape.wrong(types, tuple(columns), part)) is not None:
            _no(f"{path}.rows[{at + wrong.row}]" + (f".{wrong.column}" if wrong.column else ""), wrong.text)


def _unlisted(value: Any) -> None:
    """Check the rows that no list contains: enrolments, and observations of corrections that were undone."""
    if type(value) is not dict:
        _no("log.unlisted", f"an object was expected, not {kind_of(value)}")
    for table in ("source", "clip", "face_track", "utterance") if value else ():
        _table(f"log.unlisted.{table}", table, value.get(table), {"rowid": shape.Order})
    for table in ("face_track", "utterance"):
        if f"{table}_rowid" in value:
            _valid(f"log.unlisted.{table}_rowid", shape.dict_of(Key, shape.Order), value[f"{table}_rowid"])


# ---------------------------------------------------------------- what belongs together


class _Table:
    """Rows of the log by name."""

    def __init__(self, log: Mapping[str, Any], table: str, path: str = "") -> None:
        part = log.get(table) or {"columns": list(shape.TABLES[table]), "rows": []}
        self.path = path or f"log.{table}"
        self._at = {c: i for i, c in enumerate(part["columns"])}
        self.rows: list[Sequence[Any]] = part["rows"]

    def column(self, name: str) -> list[Any]:
        at = self._at[name]
        return [row[at] for row in self.rows]

    def once(self, name: str) -> set[Any]:
        """Return a column's values. Raises ImportProblem if one occurs twice."""
        return _once(self.column(name), f"{self.path}.rows", name)

    def refers(self, name: str, known: Container[Any], what: str) -> None:
        """Raise ImportProblem if a value of a column is not among the known ones; None is no reference."""
        for i, value in enumerate(self.column(name)):
            if value is not None and value not in known:
                _no(f"{self.path}.rows[{i}].{name}", f"there is no {what} {value}")


def _once(values: Sequence[Any], path: str, name: str) -> set[Any]:
    found: set[Any] = set()
    for i, value in enumerate(values):
        if value in found:
            _no(f"{path}[{i}].{name}", f"{value} is there twice")
        found.add(value)
    return found


def _together(document: Mapping[str, Any]) -> None:
    log = document["log"]
    apart = log.get("unlisted") or {}
    sources = _once([s["id"] for s in document["sources"]], "sources", "id")
    clips = _once([c["id"] for c in document["clips"]], "clips", "id")
    for i, c in enumerate(document["clips"]):
        if c["source"] not in sources:
            _no(f"clips[{i}].source", f"there is no source {c['source']}")
        if c["id"] != clip_id(c["source"], c["index"]):
            _no(f"clips[{i}].id", f"{c['id']} is not clip {c['index']} of {c['source']}")
    for name, known, known_as in (("fps", sources, "sources"), ("clip", clips, "clips")):
        if lacking := known - log[name].keys():
            _no(f"log.{name}", f"{min(lacking)}, which is among the {known_as}, is missing")
    commits = _Table(log, "commits")
    sequences = commits.once("sequence")
    memorized = {c for c, kind in zip(commits.column("clip"), commits.column("kind"), strict=True) if kind == "clip-episodic"}
    hidden = _Table(apart, "clip", "log.unlisted.clip")
    all_clips = clips | hidden.once("id")
    all_sources = sources | _Table(apart, "source", "log.unlisted.source").once("id")
    hidden.refers("source", all_sources, "source")
    observations = _observations(document, log, apart, clips, all_clips, sequences)
    for name in ("objects", "texts_on_screen"):
        for i, o in enumerate(document[name]):
            _times(f"{name}[{i}]", o)
            if o["clip"] not in clips or o["clip"] not in memorized:
                _no(f"{name}[{i}].clip", f"there is no memorized clip {o['clip']}")
    for i, c in enumerate(document["clips"]):
        _times(f"clips[{i}]", c)
        if c["state"] in ("episodic", "done") and c["id"] not in memorized:
            _no(f"clips[{i}].state", f"{c['id']} counts as memorized, but the log has no commit of it")
    _nodes(log, sequences, observations)
    _journal(log)


def _times(path: str, row: Mapping[str, Any]) -> None:
    if row["end"] < row["start"]:
        _no(f"{path}.end", f"it is before the start ({row['end']:g} < {row['start']:g})")


def _observations(
    document: Mapping[str, Any], log: Mapping[str, Any], apart: Mapping[str, Any], clips: set[str], all_clips: set[str], sequences: set[int]
) -> set[str]:
    """Check the face tracks and utterances; return their ids."""
    found: set[str] = set()
    for name, table in (("face_tracks", "face_track"), ("utterances", "utterance")):
        rows: Rows = document[name]
        hidden = _Table(apart, table, f"log.unlisted.{table}")
        hidden.refers("clip", all_clips, "clip")
        hidden.refers("sequence", sequences, "commit")
        listed = _once([o["id"] for o in rows], name, "id")
        ids = listed | hidden.once("id")
        _once([*listed, *hidden.column("id")], name, "id")
        replaces = {o["id"]: o["replaces"] for o in rows} | dict(zip(hidden.column("id"), hidden.column("replaces"), strict=True))
        order = log[f"{table}_sequence"]
        for i, o in enumerate(rows):
            _times(f"{name}[{i}]", o)
            if o["clip"] not in clips:
                _no(f"{name}[{i}].clip", f"there is no clip {o['clip']}")
            if not o["id"].startswith(o["clip"] + "."):
                _no(f"{name}[{i}].id", f"{o['id']} is not of {o['clip']}")
            if o["id"] not in order:
                _no(f"log.{table}_sequence", f"{o['id']} is missing")
            if order[o["id"]] not in sequences:
                _no(f"log.{table}_sequence.{o['id']}", f"there is no commit {order[o['id']]}")
            if o["replaces"] is not None and o["replaces"] not in ids:
                _no(f"{name}[{i}].replaces", f"there is no {o['replaces']}")
        if extra := order.keys() - listed:
            _no(f"log.{table}_sequence.{min(extra)}", f"it is not among the {name}")
        hidden.refers("replaces", ids, "observation")
        if (turning := shape.loops(replaces)) is not None:
            _no(name, f"{turning} stands, over others, in its own place")
        found |= ids
    return found


def _nodes(log: Mapping[str, Any], sequences: set[int], observations: set[str]) -> None:
    nodes = _Table(log, "node")
    ids = nodes.once("id")
    numbers = nodes.once("number")
    for i, (id_, type_, number, person, start, end, language) in enumerate(
        zip(*(nodes.column(c) for c in ("id", "type", "number", "person", "start", "end", "language")), strict=True)
    ):
        if id_ != f"{type_}_{number}":
            _no(f"log.node.rows[{i}].id", f"{id_} is not {type_} {number}")
        if type_ in ("face", "voice") and person is None:
            _no(f"log.node.rows[{i}].person", f"{id_} is of no person")
        if type_ in ("episodic", "semantic") and (start is None or end is None or language is None):
            _no(f"log.node.rows[{i}]", f"{id_} lacks its times or language")
    for counter, least in (("last_node", max(numbers, default=0)), ("last_person", _last(nodes.column("person")))):
        value = log["meta"].get(counter, "0")
        if not value.isdecimal() or len(value) > 15 or int(value) < least:
            _no(f"log.meta.{counter}", f"a number from {least} was expected, not “{shape.printable(value[:60])}”")
    for table in LOG:
        if "sequence" in shape.TABLES[table] and table not in ("commits", "apart"):
            _Table(log, table).refers("sequence", sequences, "commit")
    for table, names in (("span", ("node",)), ("citation", ("node",)), ("mention", ("node", "entity")), ("binding", ("node",)),
                         ("reinforcement", ("node",)), ("link", ("a", "b"))):  # fmt: skip
        for name in names:
            _Table(log, table).refers(name, ids, "node")
    _Table(log, "binding").refers("observation", observations, "observation")
    spans = _Table(log, "span")
    for i, (start, end) in enumerate(zip(spans.column("start"), spans.column("end"), strict=True)):
        if end < start:
            _no(f"log.span.rows[{i}].end", "it is before the start")


def _last(people: Iterable[str | None]) -> int:
    return max((numbered(p) for p in people if p), default=0)


def _journal(log: Mapping[str, Any]) -> None:
    journal = _Table(log, "journal")
    steps = journal.once("step")
    for i, (kind, args) in enumerate(zip(journal.column("kind"), journal.column("args"), strict=True)):
        if (lacks := shape.needed(kind, json.loads(args))) is not None:
            _no(f"log.journal.rows[{i}].args", f"the step “{kind}” lacks {lacks}")
    _Table(log, "journal_mark").refers("step", steps, "step")


# ---------------------------------------------------------------- the media folder's list

EMBEDDING: Mapping[str, Any] = {
    "owner": shape.text_of(200), "kind": shape.TABLES["embedding"]["kind"], "model": Key, "sequence": Count,
    "shape": shape.list_of(shape.Size, 2, 2), "offset": Count,
}  # fmt: skip


def check_embeddings(name: str, index: Any) -> None:
    """Raise ImportProblem if the list of embeddings is invalid."""
    _list(name, index, EMBEDDING)
