"""The type and range of every database column: imports must satisfy them, and `m3desk check` tests them.

Columns are those of `store.schema`; a cell that holds JSON is checked within too. Types are pydantic's, which is loaded with this module
only: import it where an import or a check begins.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, Strict, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from m3desk.domain.correction import KINDS
from m3desk.domain.ids import CLIP, MADE_PART, SOURCE

DEEP = 40
"""Levels of nested lists and objects in what has no other form (chats, notes of models); ours have 5."""
LONG = 1_000_000
"""Characters of a text; a clip's whole speech has some hundreds, a long answer some thousands."""


def _text(pattern: str = "", long: int = LONG) -> Any:
    return Annotated[str, Strict(), Field(max_length=long, pattern=pattern or None)]


def text_of(long: int) -> Any:
    """Return the type of a text of at most so many characters."""
    return _text(long=long)


def list_of(of: Any, least: int = 0, most: int = 1_000_000) -> Any:
    """Return the type of a list."""
    return Annotated[list[of], Strict(), Field(min_length=least, max_length=most, fail_fast=True)]


def dict_of(key: Any, value: Any) -> Any:
    """Return the type of an object whose keys are not known before."""
    return Annotated[dict[key, value], Strict()]


def _whole(least: int, most: int) -> Any:
    return Annotated[int, Strict(), Field(ge=least, le=most)]


Number = Annotated[float, Strict(), Field(ge=-1e15, le=1e15, allow_inf_nan=False)]
Time = _whole(-(10**10), 10**16)
"""Microseconds of a source, up to 300 years."""
Seconds = Annotated[float, Strict(), Field(ge=-1e4, le=1e10, allow_inf_nan=False)]
Count = _whole(0, 2**53)
Order = _whole(1, 2**53)
Yes = _whole(0, 1)
Boolean = Annotated[bool, Strict()]
Pixels = _whole(0, 10**6)
Size = _whole(1, 10**6)
"""Rows of an embedding, or numbers a row."""
Cluster = _whole(-(2**53), 2**53)
Text = _text()
Short = _text(long=10_000)
Key = _text(long=1_000)

SourceId = _text(f"^{SOURCE}$", 100)
ClipId = _text(f"^{CLIP}$", 100)
FaceId = _text(rf"^{CLIP}\.f{MADE_PART}$", 100)
VoiceId = _text(rf"^{CLIP}\.u{MADE_PART}$", 100)
ObservationId = _text(rf"^{CLIP}\.[fu]{MADE_PART}$", 100)
PersonId = _text(r"^person_\d{1,13}$", 100)
NodeId = _text(r"^(face|voice|object|place|episodic|semantic)_\d{1,13}$", 100)
OwnerId = _text(r"^(face|voice)_\d{1,13}$", 100)
TextId = _text(r"^(episodic|semantic)_\d{1,13}$", 100)
MediaId = _text(r"^[0-9A-Za-z][0-9A-Za-z_-]*(\.[0-9A-Za-z]+)?$", 100)

Box = list_of(Number, 4, 4)
TimedBox = list_of(Number, 5, 5)
Point = list_of(Number, 2, 2)


def _free(value: Any) -> Any:
    """Check what may be any JSON: finite numbers, readable text, not nested without end."""
    todo = [(value, 0)]
    while todo:
        v, depth = todo.pop()
        if depth > DEEP:
            raise PydanticCustomError("deep", "is nested too deeply")
        if isinstance(v, str):
            if len(v) > LONG:
                raise PydanticCustomError("long", "holds a text without end")
            if not v.isascii() and v.encode("utf-8", "replace").decode() != v:
                raise PydanticCustomError("half", "holds half a letter (a lone surrogate)")
        elif isinstance(v, (list, tuple)):
            todo += [(x, depth + 1) for x in v]
        elif isinstance(v, dict):
            if any(not isinstance(k, str) for k in v):
                raise PydanticCustomError("key", "has keys that are no text")
            todo += [(x, depth + 1) for pair in v.items() for x in pair]
        elif isinstance(v, float) and not math.isfinite(v):
            raise PydanticCustomError("finite", "holds a number that is not finite")
        elif isinstance(v, int) and abs(v) > 2**63 - 1:
            raise PydanticCustomError("large", "holds a number that is too large")
        elif v is not None and not isinstance(v, (bool, int, float)):
            raise PydanticCustomError("json", "holds what JSON can't say")
    return value


Object = Annotated[dict[str, Any], Strict(), AfterValidator(_free)]


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number")


def _parsed(value: Any) -> Any:
    if type(value) is not str:
        raise PydanticCustomError("json_text", "JSON as text was expected, not {kind}", {"kind": kind_of(value)})
    try:
        return json.loads(value, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise PydanticCustomError("json", "broken JSON") from error


def _json(of: Any) -> Any:
    """Return the type of a cell that holds JSON as text."""
    return Annotated[of, BeforeValidator(_parsed)]


def tuple_of(*of: Any) -> Any:
    """Return the type of a list of so many values, each of its own kind."""
    return Annotated[tuple[of], Strict(False)]  # type: ignore[valid-type]


# ---------------------------------------------------------------- steps of the journal

STEPS = (*KINDS, "revert")
StepKind = Literal[STEPS]  # type: ignore[valid-type]
_Name = _text(long=1_000)
_People = list_of(PersonId)
_Observations = list_of(ObservationId)
_Renamed = _text(long=1_000)

ARGS: Mapping[str, Any] = {
    "person": PersonId | None, "name": _Name | None, "keep": PersonId, "others": _People, "a": PersonId, "b": PersonId, "of": PersonId,
    "not": PersonId, "observations": _Observations, "bindings": dict_of(ObservationId, OwnerId), "nodes": list_of(OwnerId),
    "births": dict_of(OwnerId, PersonId), "must": list_of(list_of(PersonId, 2, 2)), "cannot": list_of(list_of(PersonId, 2, 2)),
    "face": OwnerId,
    "voice": OwnerId, "ignored": Boolean, "memory": TextId, "text": Text, "clip": ClipId | None,
    "spans": list_of(tuple_of(Count, Count, _Observations)), "pinned": Boolean, "made": _Observations, "reworded": _Observations,
    "plain": list_of(TextId),
    "at": Time, "told": list_of(TextId), "hidden": list_of(TextId), "writer": Text,
    "start": Time, "end": Time, "box": Box, "files": list_of(Text), "known": Boolean, "notes": list_of(Text), "step": Order,
    "also": list_of(Order), "leaves": list_of(Order), "n": Count, "key": list_of(Key), "bookmark": Key,
    "as": StepKind, "says": Text, "scrubbed": Boolean,
}  # fmt: skip
"""What a step may say, whatever its kind; other words are kept as they are."""

NEEDED: Mapping[str, tuple[str, ...]] = {
    "name": ("person", "name"), "merge": ("keep", "others"), "distinct": ("a", "b"), "set-aside": ("observations",),
    "link": ("face", "voice"), "unlink": ("face", "voice"), "ignore": ("person",), "edit": ("memory", "text", "spans"),
    "delete": ("memory",), "pin": ("memory",), "revert": ("step",), "add": ("memory",), "split-at": ("observations", "at", "made"),
    "bounds": ("observations", "start", "end", "made"), "words": ("observations", "text", "made"),
    "add-face": ("clip", "at", "box", "made"),
    "enroll": ("person", "name", "made"), "choose": ("clip", "told", "hidden"),
    "bookmark": ("bookmark", "source", "start", "end"), "unbookmark": ("bookmark",),
}  # fmt: skip
"""What the fold assumes about a step of a kind. An accepted question stands for the kind in `as`."""

_EACH = {name: TypeAdapter(type_) for name, type_ in ARGS.items()}


def _args(value: dict[str, Any]) -> dict[str, Any]:
    for name, given in value.items():
        if name in _EACH:
            try:
                _EACH[name].validate_python(given)
            except ValidationError as error:
                raise PydanticCustomError("args", "{what}", {"what": f"{name}: {words(error)}"}) from error
    if value.get("name") and "person" in value and value["person"] is None:
        raise PydanticCustomError("args", "person: a person's id was expected, not nothing")
    return value


Args = Annotated[Object, AfterValidator(_args)]
_Seen = Annotated[Object, AfterValidator(lambda v: _place(v))]


def _place(value: dict[str, Any]) -> dict[str, Any]:
    """Check a place by which an observation, sentence or clip is found again."""
    for name, type_ in _PLACE.items():
        if name in value:
            try:
                type_.validate_python(value[name])
            except ValidationError as error:
                raise PydanticCustomError("anchor", "{what}", {"what": f"{name}: {words(error)}"}) from error
    if not isinstance(value.get("id"), str) or ("start" in value and not {"end", "sha256"} <= value.keys()):
        raise PydanticCustomError("anchor", "what is found again by it is not said")
    return value


_PLACE = {
    "sha256": TypeAdapter(_text(long=1_000) | None), "start": TypeAdapter(Time | None), "end": TypeAdapter(Time | None),
    "boxes": TypeAdapter(list_of(TimedBox)), "at": TypeAdapter(Time), "citations": TypeAdapter(list_of(_Seen)),
}  # fmt: skip


def _anchor(value: dict[str, Any]) -> dict[str, Any]:
    for name, type_ in _ANCHOR.items():
        if name in value:
            try:
                type_.validate_python(value[name])
            except ValidationError as error:
                raise PydanticCustomError("anchor", "{what}", {"what": f"{name}: {words(error)}"}) from error
    return value


_ANCHOR = {
    "observations": TypeAdapter(list_of(_Seen)), "people": TypeAdapter(dict_of(Key, list_of(_Seen))), "made": TypeAdapter(list_of(_Seen)),
    "memories": TypeAdapter(list_of(_Seen)), "clip": TypeAdapter(_Seen), "place": TypeAdapter(_Seen),
}  # fmt: skip
Anchor = Annotated[Object, AfterValidator(_anchor)]


# ---------------------------------------------------------------- the tables

ClipStates = Literal["queued", "episodic", "done", "failed", "skipped", "enrolled"]
SourceStates = Literal["queued", "working", "paused", "done", "partial", "failed", "cancelled", "enrolled", "live"]
NodeTypes = Literal["face", "voice", "object", "place", "episodic", "semantic"]
Quoted = list_of(list_of(Count, 2, 2))

TABLES: Mapping[str, Mapping[str, Any]] = {
    "commits": {"sequence": Order, "kind": Key, "clip": ClipId | None, "at": Key, "models": _json(Object) | None},
    "source": {
        "id": SourceId, "uri": Short, "duration": Time | None, "width": Pixels | None, "height": Pixels | None,
        "fps": Number | None, "has_audio": Yes, "sha256": Key | None, "started_at": Key | None, "bytes": Count | None,
        "state": SourceStates, "error": Text | None, "sampled_fps": Number | None,
    },
    "clip": {
        "id": ClipId, "source": SourceId, "number": _whole(0, 10**9), "start": Time, "end": Time, "state": ClipStates,
        "error": Text | None, "thumbnail": MediaId | None, "cuts": _json(list_of(Time)) | None, "scene": _json(Object) | None,
    },
    "clip_limit": {"clip": ClipId, "given_up": _json(list_of(Short)), "overrun": Time | None},
    "face_track": {
        "id": FaceId, "sequence": Order, "source": SourceId, "clip": ClipId, "start": Time, "end": Time,
        "boxes": _json(list_of(TimedBox)), "score": Number, "quality": Number, "crops": _json(list_of(MediaId)),
        "landmarks": _json(list_of(list_of(Point))), "cluster": Cluster, "motion": _json(list_of(Number)),
        "continues": FaceId | None, "replaces": FaceId | None,
    },
    "utterance": {
        "id": VoiceId, "sequence": Order, "source": SourceId, "clip": ClipId, "start": Time, "end": Time, "text": Text,
        "words": _json(list_of(tuple_of(Time, Time, Text))), "language": Key | None, "confidence": Number, "audio": MediaId | None,
        "cluster": Cluster, "overlapped": Yes, "embeddable": Yes, "replaces": VoiceId | None,
    },
    "object_seen": {
        "id": Count, "sequence": Order, "source": SourceId, "clip": ClipId, "start": Time, "end": Time, "label": Short, "score": Number,
        "box": _json(Box),
    },
    "text_on_screen": {
        "id": Count, "sequence": Order, "source": SourceId, "clip": ClipId, "start": Time, "end": Time, "text": Text, "score": Number,
        "box": _json(Box),
    },
    "embedding": {
        "owner": _text(long=200), "kind": Literal["face", "voice", "text"], "model": Key, "n": Size, "d": Size,
        "vectors": Annotated[bytes, Strict()], "sequence": Count,
    },
    "apart": {"a": ObservationId, "b": ObservationId, "sequence": Order},
    "node": {
        "id": NodeId, "number": Count, "type": NodeTypes, "content": Text, "person": PersonId | None, "clip": ClipId | None,
        "source": SourceId | None, "start": Time | None, "end": Time | None, "sequence": Order, "step": Order | None,
        "language": Key | None, "topic": Key | None, "event": Key | None, "model": Key | None, "quoted": _json(Quoted) | None,
        "extra_data": _json(Object) | None,
    },
    "span": {"node": TextId, "start": Count, "end": Count, "observations": _json(_Observations)},
    "citation": {"node": TextId, "place": Count, "observation": _text(long=200)},
    "mention": {"node": TextId, "place": Count, "entity": NodeId},
    "binding": {
        "id": Count, "sequence": Order, "observation": ObservationId, "node": OwnerId, "score": Number | None,
        "runner_up": OwnerId | None, "margin": Number | None, "by": Key, "at": Key,
    },
    "vote": {
        "id": Count, "sequence": Order, "a": ObservationId, "b": ObservationId, "by": Key, "weight": Number, "clip": ClipId,
    },
    "heard_name": {
        "id": Count, "sequence": Order, "observation": ObservationId, "name": Short, "score": Number, "by": Key, "evidence": Short,
        "words": Text, "at": Time,
    },
    "reinforcement": {
        "id": Count, "sequence": Order, "node": TextId, "clip": ClipId, "amount": Number, "citations": _json(list_of(_text(long=200))),
    },
    "link": {"id": Count, "sequence": Order, "a": NodeId, "b": NodeId, "kind": Key},
    "journal": {
        "step": Order, "sequence": Order, "kind": StepKind, "args": _json(Args), "anchor": _json(Anchor), "at": Key, "by": Key,
        "why": Text | None, "text": Text,
    },
    "journal_mark": {"id": Count, "sequence": Order, "step": Order, "undone": Yes},
    "renamed": {"id": Count, "sequence": Order, "old": _Renamed, "new": _Renamed},
    "tombstone": {
        "id": Count, "sequence": Order, "source": SourceId, "sha256": Key | None, "kind": Literal["face", "voice", "span"],
        "start": Time, "end": Time, "boxes": _json(list_of(TimedBox)),
    },
    "unwanted": {
        "id": Count, "sequence": Order, "kind": Literal["face", "voice"], "model": Key, "vectors": _json(list_of(list_of(Number))),
    },
    "draft": {
        "id": Count, "clip": ClipId, "kind": Literal["knowledge", "version"], "writer": Key, "at": Key, "body": _json(list_of(Object)),
    },
    "meta": {"key": Key, "value": Short},
    "chat": {"id": Count, "body": _json(Object)},
}  # fmt: skip
"""Table → column → what it may hold."""

_Moment = tuple_of(SourceId, Time)
_Person = tuple_of(
    _Name | None, Literal["none", "suggested", "confirmed"], Short, list_of(tuple_of(Short, Number, list_of(Short), Text)), list_of(_Name),
    list_of(OwnerId), list_of(OwnerId), _Moment | None, _Moment | None,
    _whole(0, 2**62), _whole(0, 2**62), list_of(ClipId), Boolean, MediaId | None,
)  # fmt: skip
_Cast = tuple_of(ClipId, Key, Number)
DERIVED: Mapping[str, Mapping[str, Any]] = {
    "now_observation": {"observation": ObservationId, "node": OwnerId | None, "person": PersonId | None, "set_aside": Yes,
        "step": Order | None},
    "now_binding": {"observation": ObservationId, "sequence": Order, "node": OwnerId, "score": Number | None,
        "runner_up": OwnerId | None, "margin": Number | None, "by": Key, "at": Key, "superseded": Order | None},
    "now_node": {
        "id": NodeId, "weight": Number, "text": Text, "shown": Text, "tagged": Text,
        "spans": _json(list_of(tuple_of(Count, Count, _Observations))), "people": _json(_People), "clips": _json(list_of(ClipId)),
        "citations": _json(list_of(_text(long=200))), "topic": Key | None, "valid_until": Key | None, "pinned": Yes, "deleted": Yes,
        "stale": Yes, "embedded": _text(long=200), "picture": MediaId | None,
    },
    "now_person": {"id": PersonId, "number": Count, "body": _json(_Person)},
    "now_alias": {"id": PersonId, "person": PersonId},
    "now_edge": {"a": NodeId, "b": NodeId, "kind": Key, "weight": Number},
    "now_equivalence": {"a": OwnerId, "b": OwnerId, "face": OwnerId | None, "voice": OwnerId | None, "weight": Number,
        "votes": _json(list_of(_Cast)), "accepted": Yes},
    "now_constraint": {"step": Order, "place": Count, "kind": Literal["must", "cannot", "stands"], "a": Short, "b": Short, "by": Key,
        "state": Literal["kept", "overridden", "waiting", "broken"]},
    "now_chunk": {"owner": Short, "place": Count, "items": _json(list_of(ClipId) | list_of(_Cast))},
}  # fmt: skip
"""The same of the folded tables, which can be rebuilt."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """A value that can't be: in which row (from 0), of which column ("boxes[2][1]"), and what is wrong with it."""

    row: int
    column: str
    text: str


@lru_cache(maxsize=128)
def _adapter(types: tuple[Any, ...]) -> TypeAdapter[Any]:
    rows: Any = list[tuple_of(*types)]  # type: ignore[misc]
    return TypeAdapter(Annotated[rows, Field(fail_fast=True)])


def wrong(types: Mapping[str, Any], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Wrong | None:
    """Return the first value of these rows that can't be; None where all are fine. Every column must be one of `types`."""
    adapter = _adapter(tuple(types[c] for c in columns))
    try:
        adapter.validate_python(rows)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = first["loc"]
        if len(where) < 2 or not isinstance(where[1], int) or where[1] >= len(columns):
            return Wrong(int(where[0]) if where else 0, "", f"a row of {len(columns)} values was expected")
        row, column = int(where[0]), columns[where[1]]
        return Wrong(row, column + path(where[2:]), said(first))
    return None


def path(where: Iterable[int | str]) -> str:
    """Return where in a value something is: "[2][1]", "[3].name". Names of alternatives, which pydantic puts in, are left out."""
    return "".join(f"[{p}]" if isinstance(p, int) else "" for p in where)


def words(error: ValidationError) -> str:
    """Say in words what is wrong first."""
    first = error.errors(include_url=False)[0]
    where = path(first["loc"])
    return f"{where + ' ' if where else ''}{said(first)}"


def kind_of(value: Any) -> str:
    """Return what JSON calls a value."""
    if value is None:
        return "nothing"
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "text", bytes: "bytes", list: "a list", tuple: "a list"}
    return kinds.get(type(value), "an object")


_EXPECTED = {
    "string_type": "text was expected, not {kind}", "int_type": "a whole number was expected, not {kind}",
    "int_from_float": "a whole number was expected, not {shown}", "float_type": "a number was expected, not {kind}",
    "bool_type": "true or false was expected, not {kind}", "list_type": "a list was expected, not {kind}",
    "tuple_type": "a list was expected, not {kind}", "dict_type": "an object was expected, not {kind}",
    "bytes_type": "bytes were expected, not {kind}", "finite_number": "a finite number was expected, not {shown}",
    "greater_than_equal": "a number from {ge:g} was expected, not {shown}",
    "less_than_equal": "a number up to {le:g} was expected, not {shown}",
    "string_pattern_mismatch": "{shown} is no id of this kind",
    "string_too_long": "a text of at most {max_length:,} characters was expected",
    "string_unicode": "it holds half a letter (a lone surrogate)", "literal_error": "{shown} is none of {expected}",
    "too_short": "{min_length:,} values were expected, not {actual_length}", "too_long": "at most {max_length:,} values were expected",
    "missing": "a value is missing",
}  # fmt: skip


def said(error: Any) -> str:
    """Return one line about an error of pydantic."""
    value = error["input"]
    shown = f"“{value[:60]}”" if isinstance(value, str) else str(value)[:60] if isinstance(value, (int, float)) else kind_of(value)
    if isinstance(value, int) and abs(value) > 10**18:
        shown = "a number of many digits"
    template = _EXPECTED.get(error["type"])
    if template is None:
        return str(error["msg"])[:200]
    kind = kind_of(value) if not (isinstance(value, int) and abs(value) > 10**18) else shown
    return template.format_map({"kind": kind, "shown": printable(shown), **error.get("ctx", {})})


def printable(text: str) -> str:
    """Return a text as one line can show it."""
    return "".join(c if c.isprintable() else "?" for c in text)


# ---------------------------------------------------------------- what belongs together


def needed(kind: str, args: Mapping[str, Any]) -> str | None:
    """Return what a step lacks, None where it says all that its kind needs."""
    if args.get("scrubbed"):  # who was forgotten is taken out of it; what is left was looked at then (store.forgetting.scrubbing)
        kind = "name" if kind == "name" else ""
    kind = str(args.get("as", kind))
    if kind == "reject":
        return "person" if "name" in args and "person" not in args else None
    named = kind in ("assign", "split", "enroll") and args.get("name") and not args.get("person")
    return "person" if named else next((n for n in NEEDED.get(kind, ()) if n not in args), None)


def loops(replaces: Mapping[str, str | None], most: int = 400) -> str | None:
    """Return an observation that stands, over others, in its own place (or over more than anybody would make); None without one."""
    fine: set[str] = set()
    for start in replaces:
        seen: list[str] = []
        at: str | None = start
        while at is not None and at not in fine:
            seen.append(at)
            if len(seen) > most:
                return start
            at = replaces.get(at)
        fine.update(seen)
    return None
