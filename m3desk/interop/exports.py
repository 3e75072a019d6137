"""Exports a memory: .json (everything, documented in contract.md), .rttm .vtt .srt .graphml .csv .html."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TextIO
from xml.sax.saxutils import escape, quoteattr

from m3desk.domain.bookmark import Bookmark
from m3desk.domain.clip import MICROSECOND, Clip, Source, seconds
from m3desk.domain.evidence import FaceTrack, Floats, ObjectSeen, TextOnScreen, Utterance
from m3desk.domain.identities import Constraint, Equivalence
from m3desk.domain.people import Person, SpeechRow
from m3desk.domain.visible import as_json, plain, shortened
from m3desk.errors import UsageError
from m3desk.interop import placing, report
from m3desk.interop.learned import Learned
from m3desk.interop.placing import EMBEDDINGS, media_folder
from m3desk.ports import Reader

VERSION = 1

IGNORED = frozenset({"at", "started_at", "uri", "seconds", "bytes"})
"""Keys that may differ between two memories of the same input: dates, paths and work times."""


class Taught(Protocol):
    """A photo or recording from which a person was enrolled."""

    @property
    def observation(self) -> str: ...
    @property
    def person(self) -> str: ...
    @property
    def uri(self) -> str: ...
    @property
    def sha256(self) -> str | None: ...


class Exportable(Reader, Protocol):
    """What an export reads of a memory beyond `ports.Reader`."""

    def snapshot(self) -> AbstractContextManager[Any]: ...
    def everybody(self) -> list[Person]: ...
    def equivalences(self) -> list[Equivalence]: ...
    def constraints(self) -> list[Constraint]: ...
    def enrolments(self) -> Sequence[Taught]: ...
    def evidence(self) -> tuple[list[FaceTrack], list[Utterance], list[ObjectSeen], list[TextOnScreen]]: ...
    def raw_log(self) -> dict[str, Any]: ...
    def embeddings(self) -> Iterator[tuple[str, str, str, int, Floats]]: ...


def export(
    reader: Exportable,
    output: str | Path,
    *,
    format_: str | None = None,
    source: str | None = None,
    with_media: bool = False,
    overwrite: bool = False,
    stdout: TextIO | None = None,
) -> bool:
    """Write a memory to a file, or to `stdout` for `-`; the file is written atomically, an existing one stays until then.

    Return whether there was anything to write: subtitles of a silent film are empty.
    Raises UsageError for an invalid format, source or path, and without `overwrite` for an existing file.
    """
    path = None if str(output) == "-" else Path(output)
    name = (format_ or (path.suffix.lstrip(".") if path else "json")).lower()
    taken = placing.in_the_way(output, with_media=with_media)
    if name not in WRITERS:
        raise UsageError(f"“{shortened(name or str(output))}” is not a format this version writes.", f"Known: {', '.join(WRITERS)}.")
    if with_media and (path is None or name != "json"):
        raise UsageError("--with-media goes with a .json file.", "For example: m3desk export -m M -o memory.json --with-media.")
    if taken and not overwrite:
        raise UsageError(f"{' and '.join(map(str, taken))} would be overwritten.", "Give another name with -o, or --force.")
    with reader.snapshot():
        text = WRITERS[name](reader, source)
        if path is None:
            (stdout or sys.stdout).write(text)
            return _holds(name, text)
        place = placing.target(path)
        with placing.beside(place) as folder:
            placing.write_text(folder / "text", text)
            if taken and place in taken:
                shutil.copymode(place, folder / "text")
            if with_media:
                write_media(reader, folder / "media")
                placing.put(folder / "media", media_folder(place), folder / "old")
            placing.put(folder / "text", place, folder / "old text")
    return _holds(name, text)


def _holds(name: str, text: str) -> bool:
    """Return whether a file of speech holds any."""
    return name not in ("srt", "vtt", "rttm") or bool(text.removeprefix("WEBVTT\n").strip())


# ---------------------------------------------------------------- json


def bookmark_json(b: Bookmark) -> dict[str, Any]:
    """Return a bookmark as `bookmarks list --json` and exports write it."""
    return {"id": b.id, "source": b.source, "start": seconds(b.start), "end": seconds(b.end), "note": b.note, "at": b.at, "by": b.by}


def export_json(reader: Exportable, source: str | None = None) -> dict[str, Any]:
    """Return the whole memory as contract.md describes it; `log` holds what a later import needs to recreate the memory."""
    if source is not None:
        raise UsageError("a .json holds the whole memory.", "Leave --source out.")
    with reader.snapshot():
        faces, utterances, objects, texts = reader.evidence()
        held = {r.track.id: (r.node, r.person, r.set_aside) for s in reader.sources() for r in reader.tracks(s.id)}
        held |= {r.utterance.id: (r.node, r.person, r.set_aside) for s in reader.sources() for r in reader.speech(s.id)}
        log = reader.raw_log()
        learned = Learned(log)
        return {
            "format": "m3desk",
            "version": VERSION,
            "sources": [_source(s) for s in reader.sources()],
            "clips": [
                {"id": c.id, "source": c.source, "index": c.index, "start": seconds(c.start), "end": seconds(c.end), "state": c.state,
                "error": c.error, **_limit(c)}
                for c in reader.clips()
            ],
            "face_tracks": [_face(t, *held.get(t.id, (None, None, False))) for t in faces],
            "utterances": [_utterance(u, *held.get(u.id, (None, None, False))) for u in utterances],
            "objects": [
                {"clip": o.clip, "start": seconds(o.start), "end": seconds(o.end), "label": o.label, "score": o.score, "box": list(o.box)}
                for o in objects
            ],
            "texts_on_screen": [
                {"clip": t.clip, "start": seconds(t.start), "end": seconds(t.end), "text": t.text, "score": t.score, "box": list(t.box)}
                for t in texts
            ],
            "nodes": [{**n, **learned.node(n["id"])} for n in _nodes(reader, held)],
            "edges": [{"a": e.a, "b": e.b, "weight": e.weight, "kind": e.kind} for e in reader.graph().edges],
            "people": [_person(p, learned) for p in reader.everybody()],
            "equivalences": [
                {
                    "a": e.a, "b": e.b, "face": e.face, "voice": e.voice, "weight": e.weight, "accepted": e.accepted,
                    "votes": [{"clip": c, "by": by, "weight": w, **learned.clip(c)} for c, by, w in e.votes],
                }
                for e in reader.equivalences()
            ],
            "bindings": [
                {
                    "observation": b.observation, "node": b.node, "score": b.score, "runner_up": b.runner_up, "margin": b.margin,
                    "by": b.by,
                    "at": b.at, "sequence": b.sequence, "superseded": b.superseded,
                }
                for b in reader.bindings()
            ],
            "constraints": [{"kind": c.kind, "a": c.a, "b": c.b, "by": c.by, "state": c.state,
            "step": c.step} for c in reader.constraints()],
            "enrolments": [
                {"observation": e.observation, "person": e.person, "uri": e.uri, "sha256": e.sha256} for e in reader.enrolments()
            ],
            "bookmarks": [bookmark_json(b) for b in reader.bookmarks()],
            "chats": reader.chats(),
            "journal": [
                {
                    "step": s.step, "sequence": s.sequence, "kind": s.kind, "args": s.args, "anchor": s.anchor, "at": s.at, "by": s.by,
                    "why": s.why, "undone": s.undone, "text": s.text,
                }
                for s in reader.journal()
            ],
            "log": log,
        }  # fmt: skip


def _limit(clip: Clip) -> dict[str, Any]:
    """Return what a live clip was perceived without, if anything."""
    if not clip.given_up and clip.overrun is None:
        return {}
    return {"given_up": list(clip.given_up), "overrun": None if clip.overrun is None else seconds(clip.overrun)}


def _source(s: Source) -> dict[str, Any]:
    return {
        "id": s.id, "uri": s.uri, "duration": None if s.duration is None else seconds(s.duration), "width": s.width, "height": s.height,
        "fps": s.fps, "started_at": s.started_at, "sha256": s.sha256, "has_audio": s.has_audio, "bytes": s.bytes, "state": s.state,
        "error": s.error,
    }  # fmt: skip


def _face(t: FaceTrack, node: str | None, person: str | None, set_aside: bool) -> dict[str, Any]:
    return {
        "id": t.id, "clip": t.clip, "start": seconds(t.start), "end": seconds(t.end),
        "boxes": [[seconds(b.at), b.x, b.y, b.width, b.height] for b in t.boxes], "score": t.score, "quality": t.quality, "node": node,
        "person": person, "set_aside": set_aside, "replaces": t.replaces, "continues": t.continues, "crops": list(t.crops),
        "landmarks": [[list(p) for p in five] for five in t.landmarks], "cluster": t.cluster, "motion": list(t.motion),
    }  # fmt: skip


def _utterance(u: Utterance, node: str | None, person: str | None, set_aside: bool) -> dict[str, Any]:
    return {
        "id": u.id, "clip": u.clip, "start": seconds(u.start), "end": seconds(u.end), "text": u.text,
        "words": [[seconds(w.start), seconds(w.end), w.text] for w in u.words], "language": u.language, "confidence": u.confidence,
        "node": node, "person": person, "set_aside": set_aside, "replaces": u.replaces, "audio": u.audio, "cluster": u.cluster,
        "overlapped": u.overlapped, "embeddable": u.embeddable,
    }  # fmt: skip


BindingSummary = dict[str, tuple[str | None, str | None, bool]]


def _nodes(reader: Exportable, held: BindingSummary) -> list[dict[str, Any]]:
    told = {s.id: s for s in reader.memories()}
    found = []
    for n in reader.graph().nodes:
        s = told.get(n.id)
        spans = [
            {"start": x.start, "end": x.end, "observations": list(x.observations), **_owner(x.observations, held)}
            for x in (s.spans if s else ())
        ]
        extra = dict(n.extra or {})
        found.append({
            "id": n.id, "type": n.type, "content": s.text if s else n.content, "shown": n.content, "weight": n.weight, "clip": n.clip,
            "start": None if n.start is None else seconds(n.start), "end": None if n.end is None else seconds(n.end),
            "people": list(n.people),
            "spans": spans, "citations": list(s.citations) if s else [], "topic": s.topic if s else None,
            "valid_until": s.valid_until if s else None, "pinned": bool(s and s.pinned), "quoted": [list(q) for q in s.quoted] if s else [],
            "model": (s.model if s else extra.get("model")) or None, "extra_data": extra,
        })  # fmt: skip
    return found


def _owner(observations: tuple[str, ...], held: BindingSummary) -> dict[str, str | None]:
    node, person, _ = next((held[o] for o in observations if held.get(o, (None,))[0]), (None, None, False))
    return {"node": node, "person": person}


def _person(p: Person, learned: Learned) -> dict[str, Any]:
    return {
        "id": p.id, "name": p.name, "name_state": p.name_state, "shown": p.shown,
        "suggested_names": [
            {"name": s.name, "score": s.score, "evidence": list(s.evidence), **learned.name(s.name, s.evidence)} for s in p.suggested_names
        ],
        "aliases": list(p.aliases), "faces": list(p.faces), "voices": list(p.voices), "ignored": p.ignored,
    }  # fmt: skip


def write_media(reader: Exportable, folder: Path) -> None:
    """Put crops, speech and thumbnails into a new folder under their own names, and the embeddings as raw float32 with an index."""
    folder.mkdir(parents=True)
    faces, utterances, _, _ = reader.evidence()
    ids = (
        {c for t in faces for c in t.crops}
        | {u.audio for u in utterances if u.audio}
        | {t for c in reader.clips() if (t := reader.thumbnail(c.id))}
        | unlisted_media(reader.raw_log())
    )
    for id_ in sorted(ids):
        if (content := reader.media(id_)) is not None:
            (folder / id_).write_bytes(content)
    index, at = [], 0
    with (folder / EMBEDDINGS).open("wb") as file:
        for owner, kind, model, sequence, vectors in reader.embeddings():
            index.append({"owner": owner, "kind": kind, "model": model, "sequence": sequence, "shape": list(vectors.shape), "offset": at})
            at += file.write(vectors.astype("<f4").tobytes())
    (folder / "embeddings.json").write_text(json.dumps(index, ensure_ascii=False, indent=0), "utf-8")


def unlisted_media(log: Mapping[str, Any]) -> set[str]:
    """Return the crops and sounds of observations that an export's lists leave out (`store.transfer.unlisted`)."""
    found: set[str] = set()
    for table, column in (("face_track", "crops"), ("utterance", "audio")):
        part = log.get("unlisted", {}).get(table, {"columns": [column], "rows": []})
        values = [row[part["columns"].index(column)] for row in part["rows"]]
        found |= {c for v in values for c in json.loads(v)} if column == "crops" else {v for v in values if v}
    return found


def same_memory(a: Any, b: Any) -> list[str]:
    """Return the differences of two exports, ignoring dates, paths and work times; [] = the same memory."""
    return list(_differences(a, b, ""))


def _differences(a: Any, b: Any, where: str) -> Iterator[str]:
    if isinstance(a, dict) and isinstance(b, dict):
        dated = _dated(a)
        for key in sorted(a.keys() | b.keys(), key=str):
            if key in IGNORED or key in dated or str(key).startswith("removed_"):  # where a removed source's file lay: a path
                continue
            if key not in a or key not in b:
                yield f"{where}/{key}: only in the {'first' if key in a else 'second'}"
            elif key == "rows" and "columns" in a and a["columns"] == b.get("columns"):
                yield from _row_differences(a, b, where)
            else:
                yield from _differences(a[key], b[key], f"{where}/{key}")
    elif isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            yield f"{where}: {len(a)} against {len(b)} entries"
        for i, (x, y) in enumerate(zip(a, b, strict=False)):
            yield from _differences(x, y, f"{where}/{i}")
    elif a != b:
        yield f"{where}: {str(a)[:80]!r} against {str(b)[:80]!r}"


def _dated(row: dict[str, Any]) -> frozenset[str]:
    return frozenset({"chats"}) if row.get("format") == "m3desk" else frozenset()  # questions are not part of what was memorized


def _row_differences(a: dict[str, Any], b: dict[str, Any], where: str) -> Iterator[str]:
    # heard_name.at is a time of the source, not a date: only text in an `at` column is left out.
    names = a["columns"]

    def kept(row: list[Any]) -> dict[str, Any]:
        return {n: v for n, v in zip(names, row, strict=True) if not (n == "at" and isinstance(v, str))}

    rows_a, rows_b = [kept(r) for r in a["rows"]], [kept(r) for r in b["rows"]]
    if len(rows_a) != len(rows_b):
        yield f"{where}: {len(rows_a)} against {len(rows_b)} rows"
    for i, (x, y) in enumerate(zip(rows_a, rows_b, strict=False)):
        if x != y:
            yield f"{where}/{i}: {str(x)[:120]} against {str(y)[:120]}"


def _json(reader: Exportable, source: str | None) -> str:
    return as_json(export_json(reader, source)) + "\n"


# ---------------------------------------------------------------- speech


def _chosen(reader: Reader, source: str | None) -> list[Source]:
    found = [s for s in reader.sources() if source in (None, s.id)]
    if not found:
        raise UsageError(
            f"there is no source {source} in this memory." if source else "this memory has no source.", "See: m3desk sources list."
        )
    return found


def _only(reader: Reader, source: str | None) -> Source:
    found = _chosen(reader, source)
    if len(found) > 1:
        raise UsageError("this memory has several sources.", f"Say which: --source {found[0].id}.")
    return found[0]


def file_id(source: Source) -> str:
    """Return the name by which RTTM calls a source: its file's, without ending, spaces as `_`."""
    return _field(Path(source.uri).stem) or source.id


def _speaker(row: SpeechRow, people: dict[str, Person]) -> str:
    person = people.get(row.person or "")
    return "unknown" if person is None else _field(person.name or "") or _field(person.id)


def _field(text: str) -> str:
    """Return a text as one field of RTTM, where spaces separate fields and newlines end lines."""
    return "_".join(plain(text).split())


def _cue(text: str) -> str:
    """Return a text as one line of a subtitle; an empty line would end the subtitle."""
    return " ".join(plain(text).split())


def _srt_line(text: str) -> str:
    """Return a line of SRT, which has no escapes: texts that players would read as arrow, markup or ASS command are altered."""
    text = _cue(text).replace("-->", "→").replace("{\\", "{ \\")
    return re.sub(r"<(?=/?(?:b|i|u|s|font|ruby|rt|c|v|lang)\b)|<(?=!)", "‹", text, flags=re.IGNORECASE)


def _rttm(reader: Exportable, source: str | None) -> str:
    people = {p.id: p for p in reader.everybody()}
    lines = []
    for s in _chosen(reader, source):
        for row in (r for r in reader.speech(s.id) if not r.set_aside):
            u = row.utterance
            start, length = seconds(u.start), seconds(u.end - u.start)
            lines.append(f"SPEAKER {file_id(s)} 1 {start:.3f} {length:.3f} <NA> <NA> {_speaker(row, people)} <NA> <NA>\n")
    return "".join(lines)


def _stamp(at: int, mark: str) -> str:
    total = at // 1000
    return f"{total // 3_600_000:02d}:{total // 60_000 % 60:02d}:{total // 1000 % 60:02d}{mark}{total % 1000:03d}"


def _vtt(reader: Exportable, source: str | None) -> str:
    cues = ["WEBVTT\n"]
    for row in reader.speech(_only(reader, source).id):
        if not row.set_aside and row.utterance.text:
            u = row.utterance
            voice = f"<v {escape(_cue(row.shown))}>" if row.shown else ""
            cues.append(f"{escape(_cue(u.id))}\n{_stamp(u.start, '.')} --> {_stamp(u.end, '.')}\n{voice}{escape(_cue(u.text))}\n")
    return "\n".join(cues)


def _srt(reader: Exportable, source: str | None) -> str:
    cues: list[str] = []
    for row in reader.speech(_only(reader, source).id):
        if not row.set_aside and row.utterance.text:
            u = row.utterance
            who = f"{row.shown}: " if row.shown else ""
            cues.append(f"{len(cues) + 1}\n{_stamp(u.start, ',')} --> {_stamp(u.end, ',')}\n{_srt_line(who + u.text)}\n")
    return "\n".join(cues)


# ---------------------------------------------------------------- the graph, tables, a page


def _graphml(reader: Exportable, source: str | None) -> str:
    graph = reader.graph()
    nodes = [n for n in graph.nodes if source in (None, n.source)]
    known = {n.id for n in nodes}
    keys = (
        ("type", "string"),
        ("label", "string"),
        ("weight", "double"),
        ("clip", "string"),
        ("start", "double"),
        ("end", "double"),
        ("person", "string"),
    )
    out = ['<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n']
    out += [f'<key id="{k}" for="node" attr.name="{k}" attr.type="{t}"/>\n' for k, t in keys]
    out.append(
        '<key id="kind" for="edge" attr.name="kind" attr.type="string"/>\n<key id="w" for="edge" attr.name="weight" attr.type="double"/>\n'
    )
    out.append('<graph id="memory" edgedefault="undirected">\n')
    for n in nodes:
        values = {"type": n.type, "label": n.content, "weight": n.weight, "clip": n.clip, "person": n.person}
        values |= {"start": None if n.start is None else n.start / MICROSECOND, "end": None if n.end is None else n.end / MICROSECOND}
        data = "".join(f'<data key="{k}">{escape(_printable(str(v)))}</data>' for k, v in values.items() if v is not None)
        out.append(f"<node id={_attribute(n.id)}>{data}</node>\n")
    for e in graph.edges:
        if e.a in known and e.b in known:
            ends = f"source={_attribute(e.a)} target={_attribute(e.b)}"
            out.append(f'<edge {ends}><data key="kind">{escape(_printable(e.kind))}</data><data key="w">{e.weight}</data></edge>\n')
    return "".join([*out, "</graph>\n</graphml>\n"])


_NOT_XML = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 can't hold, or would rather not (section 2.2): control characters, halves of surrogate pairs."""


def _printable(text: str) -> str:
    """Remove characters that XML can't hold (control characters from screen text or a model)."""
    return _NOT_XML.sub("", text)


def _attribute(text: str) -> str:
    return quoteattr(_printable(text))


def _csv(reader: Exportable, source: str | None) -> str:
    people = {p.id: p for p in reader.everybody()}
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(["id", "type", "source", "clip", "start", "end", "text", "people", "weight", "topic", "pinned", "valid_until"])
    for s in reader.memories(source=source):
        who = "; ".join(people[p].shown for p in s.people if p in people)
        row = (s.id, s.kind, s.source, s.clip, seconds(s.start), seconds(s.end), s.shown, who, s.weight, s.topic or "", int(s.pinned),
        s.valid_until or "")  # fmt: skip
        table.writerow([_cell(v) if isinstance(v, str) else v for v in row])
    return out.getvalue()


def _cell(text: str) -> str:
    """Return a text that spreadsheets don't execute: one that starts like a formula gets an apostrophe (OWASP, CSV injection)."""
    begins = text.lstrip(" \n")[:1] in ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
    return "'" * begins + plain(text)


def _html(reader: Exportable, source: str | None) -> str:
    return report.page(reader, _chosen(reader, source))


WRITERS: dict[str, Callable[[Exportable, str | None], str]] = {
    "json": _json,
    "graphml": _graphml,
    "rttm": _rttm,
    "vtt": _vtt,
    "srt": _srt,
    "csv": _csv,
    "html": _html,
}
