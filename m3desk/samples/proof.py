"""The proof of forgetting for media: the models search every picture and sound left in a memory for the forgotten face or voice.

Stands beside `pipeline` and `lookup`: it joins stored media, models and the rules of identity, and writes nothing but our own logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from m3desk.calibrated import thresholds
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import Floats
from m3desk.domain.identity import gallery_rows, top_similarity
from m3desk.errors import SourceUnreadable
from m3desk.media import photo
from m3desk.media.streams import stored_sound
from m3desk.perception import scenes
from m3desk.perception.embedding import voice_rows
from m3desk.perception.sightings import faces_of
from m3desk.ports import SAMPLE_RATE, Models
from m3desk.store.forgetting.pending import Pending
from m3desk.store.forgetting.proving import ProofResult

Landmarks = tuple[tuple[float, float], ...]

CUT = 0.2
"""Of a crop's width and height, what `tighten` takes from each side: the face itself is the middle half."""


@dataclass(frozen=True, slots=True)
class Looked:
    """The number of pictures and sounds that were searched, and the media ids in which the person was recognised."""

    pictures: int
    sounds: int
    found: tuple[str, ...]
    without: tuple[str, ...] = ()
    """What could not be searched because a model is missing."""


def tighten(content: bytes, landmarks: Landmarks) -> tuple[bytes, Landmarks]:
    """Cut the margin off a crop, with its landmarks; an unreadable picture gives empty bytes."""
    picture = photo.stored(content)
    if picture is None:
        return b"", ()
    height, width = picture.shape[:2]
    if landmarks:  # around the five points, which lie well inside of a face
        xs, ys = [p[0] for p in landmarks], [p[1] for p in landmarks]
        span = max(max(xs) - min(xs), max(ys) - min(ys), 4.0)
        left, right = max(0, round(min(xs) - 0.55 * span)), min(width, round(max(xs) + 0.55 * span))
        top, bottom = max(0, round(min(ys) - 0.8 * span)), min(height, round(max(ys) + 0.55 * span))
    else:
        left, right, top, bottom = round(CUT * width), round((1 - CUT) * width), round(CUT * height), round((1 - CUT) * height)
    cut = picture[top : max(bottom, top + 1), left : max(right, left + 1)]
    return scenes.crop_file(cut) if cut.size else b"", tuple((x - left, y - top) for x, y in landmarks)


def look(media: Iterable[tuple[str, bytes]], vectors: Mapping[tuple[str, str], Floats], models: Models) -> Looked:
    """Search pictures (media ids that end in .jpg) and sounds for a person's face and voice. `vectors`: (kind, model) → their rows."""
    pictures, sounds, found = 0, 0, []
    face, voice = _template(vectors, "face", models.face_vectors), _template(vectors, "voice", models.voice_vectors)
    can_see = face is not None and models.faces is not None
    can_hear = voice is not None
    asked = (("pictures", "face", can_see), ("sounds", "voice", can_hear))
    without = [what for what, kind, can in asked if any(k[0] == kind for k in vectors) and not can]
    for id_, content in media:
        if id_.endswith(".jpg") and face is not None and models.faces is not None:
            pictures += 1
            if _shows(content, face, models):
                found.append(id_)
        elif id_.endswith(".flac") and voice is not None:
            sounds += 1
            if _lets_hear(content, voice, models):
                found.append(id_)
    return Looked(pictures, sounds, tuple(found), tuple(without))


def _template(vectors: Mapping[tuple[str, str], Floats], kind: str, model: object) -> Floats | None:
    rows = vectors.get((kind, getattr(model, "name", "")))
    return None if rows is None else rows[gallery_rows(rows, np.ones(len(rows), np.float32))]


def _shows(content: bytes, template: Floats, models: Models) -> bool:
    picture = photo.stored(content)
    if picture is None or models.faces is None or models.face_vectors is None:
        return False
    rule = thresholds(models.face_vectors.name, "face")
    return any(top_similarity(row[None], template) >= rule.accept for _, row in faces_of(picture, models.faces, models.face_vectors))


def _lets_hear(content: bytes, template: Floats, models: Models) -> bool:
    try:
        sound = stored_sound(content)
    except SourceUnreadable:  # what does not read lets nobody be heard
        return False
    rows = None if models.voice_vectors is None else voice_rows(sound, models.voice_vectors)
    if models.voice_vectors is None or rows is None:
        return False
    rule = thresholds(models.voice_vectors.name, "voice")
    return top_similarity(rows, template) >= rule.threshold(len(sound) * MICROSECOND // SAMPLE_RATE)


Owners = Mapping[str, tuple[str, str | None]]
"""Media id → (its observation, the person of that)."""


def report(
    gone: Pending,
    searched: ProofResult,
    similar_ones: Sequence[tuple[str, float]],
    looked: Looked,
    outside: Mapping[str, int],
    owners: Owners,
    rewritten: bool = True,
) -> dict[str, Any]:
    """Return the report of `people forget`: what was removed, searched and found, and what can't be reached.

    `outside`: what was removed outside of the memory's folder. `rewritten`: whether the file was, without what was deleted.
    A picture or sound that is evidence of somebody else is no finding but a look-alike: the same person under another number, or not.
    """
    similar = dict(similar_ones)
    for id_ in looked.found:
        if id_ in owners:
            similar.setdefault(owners[id_][0], float("nan"))
    of = dict(owners.values())
    findings = [
        *searched.findings,
        *(f"media {id_}: the models know their face or voice in it" for id_ in looked.found if id_ not in owners),
    ]
    unseen = [f"stored {what} were not searched: the model is not here" for what in looked.without]
    if not rewritten:  # vectors are no words: the search could not tell them in what is left of the old file
        unseen.append("the old file is still read by another program: close that, then this memory once more, and it is overwritten")
    return {
        "effect": gone.text,
        "removed": {**gone.counts, **outside},
        "still_shown_by": list(gone.sources),
        "searched": {
            "tables": searched.tables, "cells": searched.cells, "index_rows": searched.index_rows, "files": searched.files,
            "bytes": searched.bytes, "pictures": looked.pictures, "sounds": looked.sounds,
        },
        "findings": findings,
        "not_searched": unseen,
        "look_alikes": [
            {"observation": o, "person": of.get(o), "top_similarity": None if s != s else round(s, 3)} for o, s in sorted(similar.items())
        ],
        "clean": not findings and not unseen,
        "rewritten": rewritten,
        "scope": "this memory, and what M3Desk keeps of it elsewhere; your own backups and exports, and the source files, are not reached",
    }  # fmt: skip
