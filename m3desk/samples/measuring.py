"""Measures a face or voice model on labelled material of the user: folders of photos or recordings, and the named people of a memory.

Beside it the shipped model of the same kind embeds the same, whose thresholds are known: `domain.measuring` moves them. What is kept are
thresholds and counts; vectors and names are dropped with the process.
Must not know: how a memory is stored, any model by name.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import cv2
import numpy as np

from m3desk.calibrated import Measured, thresholds
from m3desk.domain.calibration import calibration
from m3desk.domain.evidence import FaceTrack, Floats, Utterance
from m3desk.domain.identity import Candidate, Gallery, mean_of, similarities
from m3desk.domain.log import ObservationType
from m3desk.domain.measuring import DIFFERENT, PEOPLE, SAMED, Pairs, moved
from m3desk.domain.people import Person, SpeechRow, TrackRow
from m3desk.domain.plural import many
from m3desk.errors import ModelFailed, SourceError, UsageError
from m3desk.perception.embedding import EMBEDDABLE, face_row, voice_rows
from m3desk.perception.sightings import Sighting
from m3desk.ports import SAMPLE_RATE, Models, Picture, Sound
from m3desk.samples import given
from m3desk.samples.reembedding import rows_of

MOST_FILES, MOST_SAMPLES = 40, 1_500
"""Most files of a person, and most samples altogether, that are used: more make nothing more certain."""

PIECES = (1.5, 3.0, 8.0)
"""Seconds of the pieces of a recording, as long as utterances are; those that add less than a fifth to the one before are left out."""

SMALL, DARK, BLUR = 24, 0.25, 0.06
"""Poor copies of a face: its width in pixels, its brightness, and the blur as a share of its width."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """What a person looks or sounds like once. `person`: a number; `of`: its file or clip: two samples of one are never compared.

    `reference`, `model`: (n, d) unit rows by both models.
    """

    person: int
    of: str
    reference: Floats
    model: Floats


@dataclass(slots=True)
class Material:
    """Labelled samples. `left_out`: why files were, with how many. `numbers`: of the people so far, by their names."""

    samples: list[Sample] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    numbers: dict[str, int] = field(default_factory=dict)

    def person(self, name: str) -> int:
        """Return the number of a person: folders and people of a memory that have one name are one, or they would count as strangers."""
        return self.numbers.setdefault(unicodedata.normalize("NFC", name).casefold().strip(), len(self.numbers) + 1)

    def left_out_in_words(self) -> str:
        return ", ".join(f"{many(count, 'file')} ({why})" for why, count in sorted(self.left_out.items()))

    def used(self) -> list[Sample]:
        """Return the samples that are compared: where there are too many, always the same choice, of all kinds of copies and pieces."""
        if len(self.samples) <= MOST_SAMPLES:
            return self.samples
        chosen = np.random.default_rng(len(self.samples)).choice(len(self.samples), MOST_SAMPLES, replace=False)
        return [self.samples[i] for i in sorted(chosen)]


class Labelled(Protocol):
    """The part of a memory's reader that has its people."""

    def people(self) -> list[Person]: ...
    def sources(self) -> list[Any]: ...
    def tracks(self, source: str) -> list[TrackRow]: ...
    def speech(self, source: str) -> list[SpeechRow]: ...
    def media(self, id_: str) -> bytes | None: ...


def from_folder(
    folder: Path,
    kind: ObservationType,
    models: Models,
    model: Any,
    into: Material,
    told: Callable[[int, int], None] = lambda _done, _all: None,
) -> None:
    """Add the photos or recordings of a folder that has one folder for each person.

    `models`: the shipped ones. Of photos those with one face are used. `told(done, all)`: called before each file.
    Raises UsageError if there is no such folder, OSError if one of them can't be read (before anything is embedded), ModelError.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder.", "Give a folder that has one folder for each person.")
    shown = sorted(p for p in folder.iterdir() if not p.name.startswith("."))
    if loose := sum(not p.is_dir() for p in shown):
        into.left_out["in no person's folder"] += loose
    listed = [(p.name, _files(p)[:MOST_FILES]) for p in shown if p.is_dir()]
    done = itertools.count()
    total = sum(len(files) for _, files in listed)
    for name, files in listed:
        person = into.person(name)
        for file in files:
            told(next(done), total)
            try:
                rows = list(_of_photo(file, models, model) if kind == "face" else _of_recording(file, models, model))
            except SourceError as error:
                into.left_out["no face" if isinstance(error, given.NoFace) else "can't be used"] += 1
                continue
            if not rows:
                into.left_out["several faces"] += 1
            into.samples += [Sample(person, str(file), a, b) for a, b in rows]


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))


def from_memory(reader: Labelled, kind: ObservationType, models: Models, model: Any, into: Material) -> None:
    """Add the people of a memory whom a user named, by their stored crops or speech. Raises ModelError."""
    reference = models.face_vectors if kind == "face" else models.voice_vectors
    named = {p.id: p.name or p.id for p in reader.people() if p.name_state == "confirmed" and not p.ignored}
    found: dict[str, list[FaceTrack | Utterance]] = {}
    for source in reader.sources():
        if kind == "face":
            for t in reader.tracks(source.id):
                if t.person in named and not t.set_aside:
                    found.setdefault(str(t.person), []).append(t.track)
        else:
            for s in reader.speech(source.id):
                if s.person in named and s.utterance.end - s.utterance.start >= 1_000_000:
                    found.setdefault(str(s.person), []).append(s.utterance)
    for person in sorted(found):
        number = into.person(named[person])
        mine = sorted(found[person], key=lambda o: o.id)
        for o in mine[:: max(1, len(mine) // MOST_FILES)][:MOST_FILES]:
            rows = [rows_of(o, reader.media, m) for m in (reference, model)]
            if rows[0] is None or rows[1] is None:
                into.left_out["nothing is stored of it"] += 1
            else:
                into.samples.append(Sample(number, o.id.rpartition(".")[0], rows[0], rows[1]))


def _of_photo(file: Path, models: Models, model: Any) -> Iterator[tuple[Floats, Floats]]:
    """Yield the rows of a photo's only face, as it is and in poor copies."""
    _, faces = given.faces(file, models)
    if len(faces) != 1:
        return
    sight, _ = faces[0]
    for crop in _copies(sight):
        yield tuple(face_row(crop, sight.marks, sight.score, m)[None] for m in (models.face_vectors, model))  # type: ignore[misc,arg-type]


def _copies(sight: Sighting) -> Iterator[Picture]:
    """Yield a crop as it is, small, dark and blurred."""
    crop = sight.crop
    height, width = crop.shape[:2]
    yield crop
    face = max(8.0, float(np.ptp(sight.marks[:, 0])) * 2.2)  # the eyes are less than half a face apart
    if face > SMALL:
        size = (max(1, round(width * SMALL / face)), max(1, round(height * SMALL / face)))
        yield np.asarray(cv2.resize(cv2.resize(crop, size, interpolation=cv2.INTER_AREA), (width, height)), np.uint8)
    yield (crop * DARK).astype(np.uint8)
    yield np.asarray(cv2.GaussianBlur(crop, (0, 0), face * BLUR), np.uint8)


def _of_recording(file: Path, models: Models, model: Any) -> Iterator[tuple[Floats, Floats]]:
    """Yield the rows of pieces of a recording of one person."""
    said = given.speech(file, models).said
    for piece in pieces(said):
        rows = [voice_rows(piece, m) for m in (models.voice_vectors, model) if m is not None]
        if len(rows) == 2 and rows[0] is not None and rows[1] is not None:
            yield rows[0], rows[1]


def pieces(said: Sound) -> list[Sound]:
    """Return pieces of speech of several lengths: the beginning, the end, and as much as is embedded at once."""
    found: list[Sound] = []
    for seconds in PIECES:
        count = min(len(said), round(seconds * SAMPLE_RATE))
        if count >= EMBEDDABLE and (not found or count > 1.2 * len(found[-1])):
            found.append(said[-count:] if len(found) == 1 else said[:count])
    return found


def measured(material: Material, kind: ObservationType, reference: str, model: str) -> Measured:
    """Return the calibration of a model by its full name, from that of the reference.

    Raises UsageError where there is too little, ModelFailed for a model that does not tell these people apart.
    """
    rule = calibration(reference, kind)
    samples = material.used()
    clusters, nodes = compared(samples, kind, reference) if samples else (_NO_PAIRS, _NO_PAIRS)
    same = len({(a.of, b.of) for a, b in itertools.combinations(samples, 2) if a.person == b.person and a.of != b.of})
    people = len({s.person for s in samples})
    different = int((~clusters.one).sum())
    if people < PEOPLE or same < SAMED or different < DIFFERENT:
        what = "photos with one face" if kind == "face" else "recordings with a second of speech or more"
        raise UsageError(
            f"there is too little to measure {model} on: {people} people, {same} pairs of files of one person, {different} pairs of two.",
            f"Needed: {PEOPLE} people, {SAMED} and {DIFFERENT} pairs: three or more {what} of each of {PEOPLE} people; better are 20."
            + (f" Left out: {material.left_out_in_words()}." if material.left_out else ""),
        )
    try:
        found = moved(rule, kind, clusters, nodes)
    except ValueError as error:
        raise ModelFailed(
            f"{model} does not tell these people apart: {error}.", "Choose another model, or download its weights again."
        ) from error
    material_ = {
        "people": people,
        "files": len({s.of for s in samples}),
        "same_pairs": int(clusters.one.sum()),
        "different_pairs": different,
        "same_accepted": _share(clusters.model[clusters.one], found.accept),
        "different_accepted": _share(clusters.model[~clusters.one], found.accept),
        "same_accepted_by_reference": _share(clusters.reference[clusters.one], rule.accept),
        "different_accepted_by_reference": _share(clusters.reference[~clusters.one], rule.accept),
    }
    return Measured(model, kind, found, reference, material_, datetime.now(UTC).isoformat(timespec="seconds"))


_NO_PAIRS = Pairs(np.zeros(0), np.zeros(0), np.zeros(0, np.bool_))


def _share(similarities_: Any, least: float) -> float:
    return round(float(np.mean(similarities_ >= least)), 5) if len(similarities_) else 0.0


def compared(samples: Sequence[Sample], kind: ObservationType, reference: str) -> tuple[Pairs, Pairs]:
    """Return the similarities of all pairs of samples from different files: as binding compares clusters, and of their unit means."""
    person = np.array([s.person for s in samples])
    of = np.array([s.of for s in samples])
    first, second = np.triu_indices(len(samples), 1)
    kept = of[first] != of[second]
    first, second = first[kept], second[kept]
    one = person[first] == person[second]
    rule = thresholds(reference, kind)
    by_cluster, by_node = [], []
    for rows in ([s.reference for s in samples], [s.model for s in samples]):
        candidates = [Candidate((), r, 0) for r in rows]
        table = similarities(candidates, [Gallery("", "", r) for r in rows], rule)
        by_cluster.append(table[first, second])
        means = np.stack([mean_of(r) for r in rows]).astype(np.float64)
        by_node.append(np.einsum("nd,nd->n", means[first], means[second]))
    return Pairs(by_cluster[0], by_cluster[1], one), Pairs(by_node[0], by_node[1], one)


__all__ = ["Labelled", "Material", "Sample", "compared", "from_folder", "from_memory", "measured", "pieces"]
