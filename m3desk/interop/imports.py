"""Imports a `.json` of `m3desk export` into an empty memory: the same log gives the same memory. Runs nothing from the file."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from m3desk.domain.clip import Clip, Source, microseconds
from m3desk.domain.evidence import FaceTrack, Floats, ObjectSeen, TextOnScreen, TimedBox, Utterance, Word
from m3desk.errors import ImportProblem, WrongFile
from m3desk.interop.exports import VERSION, unlisted_media
from m3desk.interop.placing import EMBEDDINGS, media_folder
from m3desk.regular import check_regular, open_regular, read_regular, read_text

KEYS = ("sources", "clips", "face_tracks", "utterances", "objects", "texts_on_screen", "chats", "log")


class Restorable(Protocol):
    """What an import needs from a memory opened for writing."""

    def restore(
        self,
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
        media: Callable[[], Iterator[tuple[str, bytes]]],
        going: Callable[[], None],
    ) -> None:
        """Write everything in one transaction. Raises ImportProblem if the memory is not empty or the rows don't fit.

        `going` is called between its parts, and may raise; then nothing is written.
        """
        ...


@dataclass(frozen=True, slots=True)
class Export:
    """An export, read and checked. `parts`: the input of `Restorable.restore`; `report`: counts."""

    parts: Mapping[str, Any]
    report: Mapping[str, int]


def write(export: Export, memory: Restorable, going: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """Write a loaded export into an empty memory; return the counts. Raises ImportProblem, and then writes nothing.

    `going` is called between its parts, and may raise; then nothing is written either.
    """
    memory.restore(**export.parts, going=going)
    return dict(export.report)


def load(path: Path | str) -> Export:
    """Read an export and check all of it. Raises ImportProblem with the path of the first invalid value."""
    from m3desk.interop import document as documents  # pydantic is loaded for an import only

    path = Path(path)
    document = read(path)
    documents.check(document)
    log = document["log"]
    faces = [_face(t) for t in document["face_tracks"]]
    utterances = [_utterance(u) for u in document["utterances"]]
    folder = media_folder(path)
    embeddings = _embeddings(folder, documents.check_embeddings)
    media = _media(folder, faces, utterances, log)
    parts = {
        "sources": [_source(s) for s in document["sources"]],
        "clips": [
            Clip(
                c["id"],
                c["source"],
                c["index"],
                microseconds(c["start"]),
                microseconds(c["end"]),
                c["state"],
                c["error"],
                tuple(c.get("given_up", ())),
                None if c.get("overrun") is None else microseconds(c["overrun"]),
            )
            for c in document["clips"]
        ],
        "faces": faces,
        "utterances": utterances,
        "objects": [ObjectSeen(o["clip"], *_span(o), o["label"], float(o["score"]), _box(o["box"])) for o in document["objects"]],
        "texts": [TextOnScreen(t["clip"], *_span(t), t["text"], float(t["score"]), _box(t["box"])) for t in document["texts_on_screen"]],
        "chats": document["chats"],
        "log": log,
        "embeddings": embeddings,
        "media": media,
    }
    at = log["node"]["columns"].index("type")
    people = document.get("people")
    report = {
        "sources": len(parts["sources"]),
        "clips": len(parts["clips"]),
        "people": len(people) if isinstance(people, list) else 0,
        "memories": sum(row[at] in ("episodic", "semantic") for row in log["node"]["rows"]),
        "embeddings": len(embeddings),
    }
    return Export(parts, report)


LARGEST = 1 << 30
"""Bytes of a .json at most. 60,000 memories with three faces in view all the time are some 530 MB (9 kB a memory, most of it boxes);
reading takes about six times a file's size in memory."""
WIDEST = 100_000_000
"""Values (numbers, texts, lists) in it at most: those 530 MB hold 41 million."""

BEGINNING = re.compile(r'\s*\{\s*"format"\s*:\s*"m3desk"')
"""Of each export, damaged ones included."""


def read(path: Path) -> dict[str, Any]:
    """Return the document of an export. Raises ImportProblem when it is not one."""
    text = read_text(path, LARGEST, ImportProblem, ImportProblem)
    hint = "Give a .json that File > Export or `m3desk export` wrote."
    if text.count(",") + text.count("[") + text.count("{") > WIDEST or _dense(text):
        raise ImportProblem(f"{path.name} holds far more values than an export of its size.", hint)
    try:
        document = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        if BEGINNING.match(text):
            raise ImportProblem(
                f"{path.name} is damaged: it was cut off or changed after the export.", "Export the memory again."
            ) from error
        raise WrongFile(f"{path.name} is not an export of M3Desk.", hint) from error
    if not isinstance(document, dict) or document.get("format") != "m3desk":
        raise WrongFile(f"{path.name} is not an export of M3Desk.", hint)
    if (version := document.get("version")) != VERSION or type(version) is not int:
        told = version if isinstance(version, int) and abs(version) < 10**9 else "unknown"
        raise ImportProblem(f"{path.name} is of format version {told}, this one reads {VERSION}.", "Update M3Desk.")
    if missing := [k for k in KEYS if k not in document]:
        raise ImportProblem(f"{path.name} lacks {', '.join(missing)}.", "Export the memory again.")
    return document


def _dense(text: str) -> bool:
    """Return whether a text is mostly brackets, which need 40 times their size when parsed; in an export about 5 % are brackets."""
    return text.count("[") + text.count("{") > 500_000 + len(text) // 8


def _no_number(constant: str) -> Any:
    raise ValueError(f"{constant} is no number")


def _named(faces: Sequence[FaceTrack], utterances: Sequence[Utterance], log: Mapping[str, Any]) -> list[str]:
    ids = {c for t in faces for c in t.crops} | {u.audio for u in utterances if u.audio} | {v[0] for v in log["clip"].values() if v[0]}
    return sorted(ids | unlisted_media(log))


def _span(row: Mapping[str, Any]) -> tuple[int, int]:
    return microseconds(row["start"]), microseconds(row["end"])


def _box(values: Sequence[float]) -> tuple[float, float, float, float]:
    x, y, width, height = values
    return x, y, width, height


def _source(s: Mapping[str, Any]) -> Source:
    duration = None if s["duration"] is None else microseconds(s["duration"])
    return Source(
        s["id"], s["uri"], duration, s["width"], s["height"], s["fps"], bool(s["has_audio"]), s["sha256"], s["started_at"], s["bytes"],
        s["state"], s["error"],
    )  # fmt: skip


def _face(t: Mapping[str, Any]) -> FaceTrack:
    return FaceTrack(
        id=t["id"], clip=t["clip"], start=microseconds(t["start"]), end=microseconds(t["end"]),
        boxes=tuple(TimedBox(microseconds(at), x, y, w, h) for at, x, y, w, h in t["boxes"]), score=t["score"], quality=t["quality"],
        crops=tuple(t["crops"]), landmarks=tuple(tuple((p[0], p[1]) for p in five) for five in t["landmarks"]), cluster=t["cluster"],
        motion=tuple(t["motion"]), continues=t["continues"], replaces=t["replaces"],
    )  # fmt: skip


def _utterance(u: Mapping[str, Any]) -> Utterance:
    return Utterance(
        id=u["id"], clip=u["clip"], start=microseconds(u["start"]), end=microseconds(u["end"]), text=u["text"],
        words=tuple(Word(microseconds(a), microseconds(b), w) for a, b, w in u["words"]), language=u["language"],
        confidence=u["confidence"],
        audio=u["audio"], cluster=u["cluster"], overlapped=u["overlapped"], embeddable=u["embeddable"], replaces=u["replaces"],
    )  # fmt: skip


def _embeddings(folder: Path, check: Callable[[str, Any], None]) -> list[tuple[str, str, str, int, Floats]]:
    """Return the embeddings stored beside an export. Raises ImportProblem if their list or numbers are invalid."""
    index, numbers = folder / "embeddings.json", folder / EMBEDDINGS
    if not index.exists() and not index.is_symlink():
        return []
    text = read_text(index, LARGEST, ImportProblem, ImportProblem)
    try:
        rows = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ImportProblem(f"{folder.name}/{index.name} is damaged.", "Export the memory again.") from error
    check(f"{folder.name}/{index.name} ", rows)
    with open_regular(numbers, ImportProblem, ImportProblem) as file:
        size = os.fstat(file.fileno()).st_size
        if size > LARGEST_EMBEDDINGS or sum(e["shape"][0] * e["shape"][1] for e in rows) * 4 > size:
            raise ImportProblem(f"{folder.name}/{EMBEDDINGS} is shorter or longer than its index says.", "Export the memory again.")
        flat = np.fromfile(file, dtype="<f4")
    found = []
    for i, e in enumerate(rows):
        (n, d), offset = e["shape"], e["offset"]
        rows_ = flat[offset // 4 : offset // 4 + n * d]
        where = f"{folder.name}/{index.name} [{i}]"
        if offset % 4 or len(rows_) != n * d:
            raise ImportProblem(f"{folder.name}/{EMBEDDINGS} is shorter than its index says.", "Export the memory again.")
        if not np.isfinite(rows_).all() or np.abs(rows_).max() > 1e6:
            raise ImportProblem(f"{where}: its numbers are not finite.", "Export the memory again. Nothing was written.")
        found.append((e["owner"], e["kind"], e["model"], e["sequence"], rows_.reshape(n, d).astype(np.float32)))
    return found


LARGEST_EMBEDDINGS = 4 << 30
LARGEST_MEDIA = 256 << 20
"""Bytes of one crop or sound: speech of a whole clip is 1 MB."""


def _media(
    folder: Path, faces: Sequence[FaceTrack], utterances: Sequence[Utterance], log: Mapping[str, Any]
) -> Callable[[], Iterator[tuple[str, bytes]]]:
    """Return an iterable of the media files that the export names and its folder contains; other files are ignored.

    Raises ImportProblem if one is a link, not a regular file, or its content does not match its name.
    """
    there = []
    for id_ in _named(faces, utterances, log):
        path = folder / id_
        if path.is_symlink():
            raise ImportProblem(f"{folder.name}/{id_} is a link, not a file.", "Export the memory again. Nothing was written.")
        if path.exists():
            check_regular(path, ImportProblem, ImportProblem)
            there.append(path)

    def contents() -> Iterator[tuple[str, bytes]]:
        for path in there:
            content = read_regular(path, LARGEST_MEDIA, ImportProblem, ImportProblem)
            if SHA256.fullmatch(path.name) and hashlib.sha256(content).hexdigest() != path.name[:64]:
                raise ImportProblem(
                    f"{folder.name}/{path.name} is not what its name says.", "Export the memory again. Nothing was written."
                )
            yield path.name, content

    for _ in contents():  # all of them are looked at before any is written
        pass
    return contents


SHA256 = re.compile(r"[0-9a-f]{64}(\.[0-9A-Za-z]+)?")
