"""Reading a `.json` that `m3desk export` wrote into an empty memory: the same log, so the same memory. Nothing in the file is run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from m3desk.domain.clip import Clip, Source, microseconds
from m3desk.domain.evidence import FaceTrack, Floats, ObjectSeen, TextOnScreen, TimedBox, Utterance, Word
from m3desk.errors import ImportProblem
from m3desk.interop.exports import VERSION, unlisted_media
from m3desk.interop.placing import media_folder

KEYS = ("sources", "clips", "face_tracks", "utterances", "objects", "texts_on_screen", "chats", "log")


class Restorable(Protocol):
    """What an import asks of a memory opened for writing."""

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
        media: Iterable[tuple[str, bytes]],
    ) -> None:
        """Write everything in one transaction. Raises ImportProblem where the memory is not empty or the rows don't fit."""
        ...


def import_json(path: Path | str, memory: Restorable) -> dict[str, Any]:
    """Read an export into an empty memory; return how much that was. Raises ImportProblem, and then nothing is written."""
    path = Path(path)
    document = read(path)
    try:
        faces = [_face(t) for t in document["face_tracks"]]
        utterances = [_utterance(u) for u in document["utterances"]]
        sources = [_source(s) for s in document["sources"]]
        clips = [
            Clip(c["id"], c["source"], int(c["index"]), microseconds(c["start"]), microseconds(c["end"]), c["state"], c["error"])
            for c in document["clips"]
        ]
        objects = [ObjectSeen(o["clip"], *_span(o), o["label"], float(o["score"]), _box(o["box"])) for o in document["objects"]]
        texts = [TextOnScreen(t["clip"], *_span(t), t["text"], float(t["score"]), _box(t["box"])) for t in document["texts_on_screen"]]
        _fits(document["log"], faces, utterances)
        embeddings = _embeddings(media_folder(path))
        memory.restore(
            sources=sources, clips=clips, faces=faces, utterances=utterances, objects=objects, texts=texts, chats=document["chats"],
            log=document["log"], embeddings=embeddings, media=_media(media_folder(path), faces, utterances, document["log"]),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ImportProblem(f"{path.name} is not a whole export: {type(error).__name__} {error}.", "Export the memory again.") from error
    return {
        "sources": len(sources),
        "clips": len(clips),
        "people": len(document.get("people", ())),
        "memories": sum(n.get("type") in ("episodic", "semantic") for n in document.get("nodes", ())),
        "embeddings": len(embeddings),
    }


def read(path: Path) -> dict[str, Any]:
    """Return the document of an export. Raises ImportProblem when it is not one."""
    try:
        document = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ImportProblem(f"{path} can't be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise ImportProblem(f"{path.name} is not JSON: {str(error)[:120]}.", "Give the .json that `m3desk export` wrote.") from error
    if not isinstance(document, dict) or document.get("format") != "m3desk":
        raise ImportProblem(f"{path.name} is not an export of M3Desk.", "Give the .json that `m3desk export` wrote.")
    if document.get("version") != VERSION:
        raise ImportProblem(f"{path.name} is of format version {document.get('version')}, this one reads {VERSION}.", "Update M3Desk.")
    if missing := [k for k in KEYS if k not in document]:
        raise ImportProblem(f"{path.name} lacks {', '.join(missing)}.", "Export the memory again.")
    return document


_MEDIA = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]*(\.[0-9A-Za-z]+)?")


def _fits(log: Mapping[str, Any], faces: Sequence[FaceTrack], utterances: Sequence[Utterance]) -> None:
    """Raise ValueError where evidence and log don't tell of the same observations, or a media id is a path."""
    for name, found in (("face_track", faces), ("utterance", utterances)):
        if {o.id for o in found} != log[f"{name}_sequence"].keys() or len(found) != len(log[f"{name}_sequence"]):
            raise ValueError(f"{name}s and log differ")
    if wrong := next((id_ for id_ in _named(faces, utterances, log) if not _MEDIA.fullmatch(id_)), None):
        raise ValueError(f"{wrong!r} is no media id")


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


def _embeddings(folder: Path) -> list[tuple[str, str, str, int, Floats]]:
    index = folder / "embeddings.json"
    if not index.is_file():
        return []
    flat = np.fromfile(folder / "embeddings.f32", dtype="<f4")
    found = []
    for e in json.loads(index.read_text("utf-8")):
        n, d = (int(v) for v in e["shape"])
        at = int(e["offset"]) // 4
        rows = flat[at : at + n * d]
        if n < 1 or d < 1 or at < 0 or len(rows) != n * d:
            raise ImportProblem(f"{folder.name}/embeddings.f32 is shorter than its index says.", "Export the memory again.")
        found.append((str(e["owner"]), str(e["kind"]), str(e["model"]), int(e["sequence"]), rows.reshape(n, d).astype(np.float32)))
    return found


def _media(
    folder: Path, faces: Sequence[FaceTrack], utterances: Sequence[Utterance], log: Mapping[str, Any]
) -> Iterable[tuple[str, bytes]]:
    """Yield the media files that the export names and its folder has; other files are left alone."""
    for id_ in _named(faces, utterances, log):
        path = folder / Path(id_).name
        if path.name == id_ and path.is_file():
            yield id_, path.read_bytes()
