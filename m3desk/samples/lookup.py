"""Search by picture or sound: which persons of a memory are in a photo or a recording. Accepted matches only.

Stands beside `pipeline`: it joins media, models and the rules of identity for one question, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from m3desk.calibrated import calibrated
from m3desk.domain.clip import MICROSECOND, Clip, Source
from m3desk.domain.identity import Candidate, Gallery, match
from m3desk.domain.log import ObservationType
from m3desk.media import cutter
from m3desk.perception import scenes
from m3desk.perception.embedding import voice_rows
from m3desk.ports import FoundNode, Models, Reader
from m3desk.samples import given


def faces(path: Path, models: Models) -> list[Candidate]:
    """Return each face of a picture as a query, best first. Raises SourceError for no picture, NoFace."""
    _, shown = given.faces(path, models)
    shown.sort(key=lambda f: (-f[0].quality, f[0].box))
    return [Candidate((f"query.f{i}",), row[None], MICROSECOND, seen.quality) for i, (seen, row) in enumerate(shown)]


def voice(path: Path, models: Models) -> list[Candidate]:
    """Return the voice of a recording as a query. Raises SourceError where nothing is said."""
    heard = given.speech(path, models)
    rows = None if models.voice_vectors is None else voice_rows(heard.said, models.voice_vectors)
    assert rows is not None  # a second was said
    return [Candidate(("query.u0",), rows, heard.duration)]


def picture_at(source: Source, at: int, width: int) -> bytes:
    """Return a file's picture at a moment (microseconds) as JPEG no wider than `width`; b"" where none decodes: it may be erased."""
    moment = Clip(f"{source.id}.look", source.id, 0, max(0, at), max(0, at) + MICROSECOND // 5)
    for frame in cutter.FileClip(source, moment, source.uri, fps=5.0).frames():
        return scenes.jpeg(scenes.shrink(frame.picture, width)[0])
    return b""


def found(candidates: Sequence[Candidate], galleries: Sequence[Gallery], model: str, reader: Reader, k: int) -> list[FoundNode]:
    """Return the nodes that the candidates match, best first; a candidate that matches nobody well enough gives nothing.

    `galleries`: of the memory's nodes by this model, as a clip's clusters are matched against.
    """
    kind: ObservationType = "face" if candidates[0].observations[0].startswith("query.f") else "voice"
    names = {p.id: p.shown for p in reader.people()}
    apart = [(a.observations[0], b.observations[0]) for a, b in combinations(candidates, 2)]  # several faces of one photo
    known = [g for g in galleries if g.person in names]
    results = []
    for verdict in match(candidates, known, apart, calibrated(model, kind), asked=True):
        if verdict.node is None or verdict.score is None:
            continue
        row = reader.node(verdict.node)
        person = row.person or ""
        lead = f", {verdict.margin:.2f} ahead of {verdict.runner_up}" if verdict.margin is not None else ""
        why = f"{kind} alike {verdict.score:.2f}{lead}"
        content = names.get(person, person)
        results.append(FoundNode(row.id, row.type, content, verdict.score, why, row.clip, row.source, row.start, row.end, (person,)))
    best = {f.id: f for f in sorted(results, key=lambda f: f.score)}
    return sorted(best.values(), key=lambda f: (-f.score, f.id))[:k]


__all__ = ["faces", "found", "voice"]
