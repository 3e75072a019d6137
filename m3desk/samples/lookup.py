"""Search by picture or sound: which people of a memory does a photo show, or a recording let hear? Accepted matches only.

Stands beside `pipeline`: it joins media, models and the rules of identity for one question, and writes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from m3desk.domain.calibration import calibration
from m3desk.domain.clip import MICROSECOND, Clip, Source
from m3desk.domain.evidence import Floats
from m3desk.domain.identity import Candidate, Gallery, gallery_rows, match, typical_rows
from m3desk.domain.log import ObservationType
from m3desk.domain.people import Binding, Person
from m3desk.errors import ModelMissing, SourceUnreadable
from m3desk.media import cutter, photo
from m3desk.media.trial import tried
from m3desk.perception import scenes
from m3desk.perception.sightings import faces_of
from m3desk.ports import SAMPLE_RATE, Found, Models, Reader, Sound

Vectors = tuple[list[str], Floats]
"""Observation ids and their rows, as the store gives them."""

LONGEST = 30.0
"""Seconds of a recording that are listened to."""


def faces(path: Path, models: Models) -> list[Candidate]:
    """Return each face of a picture as a query, best first. Raises SourceError for no picture, NoFace."""
    if models.faces is None or models.face_vectors is None:
        raise ModelMissing("the face models are not here.", "Fetch them: m3desk models pull.")
    shown = faces_of(photo.read(path), models.faces, models.face_vectors)
    if not shown:
        raise NoFace(f"there is no face in {path.name}.", "Give a picture that shows a face clearly.")
    shown.sort(key=lambda f: (-f[0].quality, f[0].box))
    return [Candidate((f"query.f{i}",), row[None], MICROSECOND, seen.quality) for i, (seen, row) in enumerate(shown)]


class NoFace(SourceUnreadable):
    """The picture is fine and nobody is in it."""


def voice(path: Path, models: Models) -> list[Candidate]:
    """Return the voice of a recording as a query. Raises SourceError where nothing is said."""
    if models.voice_vectors is None or models.speech_activity is None:
        raise ModelMissing("the voice models are not here.", "Fetch them: m3desk models pull.")
    source = replace(tried(path), id="query")
    if not source.has_audio:
        raise SourceUnreadable(f"{path} has no sound.", "Give a recording; for a photo use --image.")
    clip = Clip("query.c0", "query", 0, 0, min(source.duration or 0, round(LONGEST * MICROSECOND)))
    sound = cutter.FileClip(source, clip, str(path)).sound()
    hop = models.speech_activity.hop
    spoken = np.repeat(models.speech_activity.probabilities(sound) > 0.5, hop)[: len(sound)]
    said: Sound = sound[spoken]
    if len(said) < SAMPLE_RATE:
        raise SourceUnreadable(f"too little is said in {path.name} to tell whose voice it is.", "Give a second of speech or more.")
    window = round(1.5 * SAMPLE_RATE)
    pieces = [said[i : i + window] for i in range(0, max(1, len(said) - window + 1), window // 2)]
    return [Candidate(("query.u0",), models.voice_vectors.embed(pieces), len(said) * MICROSECOND // SAMPLE_RATE)]


def picture_at(source: Source, at: int, width: int) -> bytes | None:
    """Return a file's picture at a moment (microseconds) as JPEG no wider than `width`; None where none decodes."""
    moment = Clip(f"{source.id}.look", source.id, 0, max(0, at), max(0, at) + MICROSECOND // 5)
    for frame in cutter.FileClip(source, moment, source.uri, fps=5.0).frames():
        return scenes.jpeg(scenes.shrink(frame.picture, width)[0])
    return None


def known(candidates: Iterable[Candidate], vectors: Vectors, bindings: Iterable[Binding], people: Iterable[Person]) -> list[Gallery]:
    """Return the galleries of a memory's nodes that these candidates may be compared with."""
    node_of = {b.observation: b.node for b in bindings if b.superseded is None}
    person_of = {node: p.id for p in people for node in (*p.faces, *p.voices)}
    grouped: dict[str, list[Floats]] = defaultdict(list)
    for observation, row in zip(*vectors, strict=True):
        if (node := node_of.get(observation)) in person_of and node is not None:
            grouped[node].append(row)
    galleries = []
    for node, rows in sorted(grouped.items()):
        together = np.stack(rows)
        choose = gallery_rows if node.startswith("face_") else typical_rows
        chosen = choose(together, np.ones(len(rows), np.float32))
        galleries.append(Gallery(node, person_of[node], together[chosen]))
    return galleries


def found(candidates: list[Candidate], galleries: list[Gallery], model: str, reader: Reader, k: int) -> list[Found]:
    """Return the nodes that the candidates match, best first; a candidate that matches nobody well enough gives nothing."""
    kind: ObservationType = "face" if candidates[0].observations[0].startswith("query.f") else "voice"
    names = {p.id: p.shown for p in reader.people()}
    apart = [(a.observations[0], b.observations[0]) for a, b in combinations(candidates, 2)]  # several faces of one photo
    results = []
    for verdict in match(candidates, galleries, apart, calibration(model, kind), asked=True):
        if verdict.node is None or verdict.score is None:
            continue
        row = reader.node(verdict.node)
        person = row.person or ""
        lead = f", {verdict.margin:.2f} ahead of {verdict.runner_up}" if verdict.margin is not None else ""
        why = f"{kind} alike {verdict.score:.2f}{lead}"
        content = names.get(person, person)
        results.append(Found(row.id, row.type, content, verdict.score, why, row.clip, row.source, row.start, row.end, (person,)))
    best = {f.id: f for f in sorted(results, key=lambda f: f.score)}
    return sorted(best.values(), key=lambda f: (-f.score, f.id))[:k]


__all__ = ["NoFace", "faces", "found", "known", "voice"]
