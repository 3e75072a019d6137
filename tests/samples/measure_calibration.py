"""Check `m3desk calibrate`: thresholds that it finds on calibration material, beside the shipped ones, and on people who were not in it.

    python tests/samples/measure_calibration.py

Calibration material: speech/librispeech_speakers and speech/speechbrain_asr (8 people, a folder each). Validation: the 42 people of
speech2 (other languages, rooms and microphones; looked at twice before: `domain/measuring.py`). GE2E is measured beside CAM++, as the
command does; and CAM++ beside GE2E, which the command refuses. Each recording of a validation person but the first is asked for among all
first ones: found, taken for another, or new; and again with its person left out: whoever is found then is wrong. Faces (azure_family and
knn, 13 people): SFace beside itself with all vectors moved into one direction, as of models whose strangers lie close together: the right
answers are SFace's.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from m3desk_cpu.entry import ge2e

from m3desk import models as weights
from m3desk.backends import EMBEDDED, Backends
from m3desk.calibrated import calibrated, thresholds
from m3desk.domain.calibration import Calibration
from m3desk.domain.identity import Candidate, Gallery, match
from m3desk.errors import SourceError
from m3desk.perception.embedding import voice_rows
from m3desk.samples import given, measuring

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
HELD_OUT = ("acted_english", "acted_german", "mandarin", "talkshow_urdu", "vctk", "libri_chapters")
NAMES = ("accept", "margin", "several", "several_margin", "carried", "similar", "equal_odds", "sure", "split_below")


class Moved:
    """SFace with all vectors moved into one direction."""

    def __init__(self, inner: Any, by: float) -> None:
        self.inner, self.by, self.name, self.dimension = inner, by, f"moved-{by}", inner.dimension
        self.direction = np.random.default_rng(5).normal(size=inner.dimension)
        self.direction *= by / np.linalg.norm(self.direction)

    def embed(self, picture: Any, faces: Any) -> Any:
        rows = self.inner.embed(picture, faces) + self.direction
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def told(name: str, rule: Calibration) -> None:
    print(f"  {name:9}", "  ".join(f"{n} {v:.3f}" for n in NAMES if (v := getattr(rule, n)) is not None), flush=True)


def people_of_speech(folder: Path) -> Path:
    for one in sorted((DATA / "speech" / "librispeech_speakers").glob("[0-9]*")):
        (folder / one.name).symlink_to(one)
    for who in ("spk1", "spk2"):
        (folder / who).mkdir()
        for file in sorted((DATA / "speech" / "speechbrain_asr").glob(f"{who}_*.wav")):
            (folder / who / file.name).symlink_to(file)
    return folder


def people_of_faces(folder: Path) -> Path:
    photos = sorted((DATA / "faces" / "azure_family").glob("Family*"))
    files = [(f.stem.rstrip("0123456789"), f) for f in photos]
    files += [(f.parent.name, f) for f in sorted((DATA / "faces/knn/train").glob("*/*.jp*g"))]
    for who, file in files:
        (folder / who).mkdir(exist_ok=True)
        (folder / who / file.name).symlink_to(file)
    return folder


def held_out(shipped: Any, voices: Sequence[Any]) -> list[tuple[str, list[list[Any]], list[float]]]:
    """Return the validation people: for each recording its rows by each model, and its seconds."""
    found = []
    for name in HELD_OUT:
        for one in sorted(p for p in (DATA / "speech2" / name).iterdir() if p.is_dir()):
            rows, seconds = [], []
            for file in sorted(one.iterdir()):
                try:
                    said = given.speech(file, shipped).said[: 6 * 16_000]
                except SourceError:
                    continue
                rows.append([voice_rows(said, v) for v in voices])
                seconds.append(len(said) / 16_000)
            if len(rows) > 1:
                found.append((f"{name}/{one.name}", rows, seconds))
    return found


def asked(people: Any, model: int, rule: Calibration) -> str:
    galleries = [Gallery(f"voice_{i}", who, rows[0][model], round(seconds[0] * 1e6)) for i, (who, rows, seconds) in enumerate(people)]
    right = wrong = new = stranger = count = 0
    for who, rows, seconds in people:
        for r, s in zip(rows[1:], seconds[1:], strict=True):
            candidate = Candidate((), r[model], round(s * 1e6))
            node = match([candidate], galleries, (), rule)[0].node
            person = next((g.person for g in galleries if g.node == node), None)
            right, wrong, new = right + (person == who), wrong + (person not in (who, None)), new + (person is None)
            stranger += match([candidate], [g for g in galleries if g.person != who], (), rule)[0].node is not None
            count += 1
    shares = f"found {right / count:.3f}, another {wrong / count:.3f}, new {new / count:.3f}; precision {right / max(1, right + wrong):.3f}"
    return f"{shares}; left out: taken for somebody {stranger / count:.3f} ({count} recordings)"


def agree(samples: Sequence[Any], one: Calibration, two: Calibration) -> tuple[float, int]:
    """Return the share of faces that get the same answer among all other photos, by SFace and by the measured thresholds; their number."""
    same = []
    for s in samples:
        others = [o for o in samples if o.of != s.of]
        found = []
        for rule, rows in ((one, "reference"), (two, "model")):
            galleries = [Gallery(f"face_{n}", str(o.person), getattr(o, rows)) for n, o in enumerate(others)]
            node = match([Candidate((), getattr(s, rows), 1_000_000)], galleries, (), rule)[0].node
            found.append(None if node is None else others[int(node.rpartition("_")[2])].person)
        same.append(found[0] == found[1])
    return sum(same) / len(same), len(same)


def main() -> None:
    backends = Backends(weights.weights, profile=EMBEDDED, threads=2)
    shipped = backends.models("faces", "face_vectors", "speech_activity", "speech_segmentation", "voice_vectors")
    other = ge2e(weights.weights, 2)
    campplus = shipped.voice_vectors
    assert campplus is not None and shipped.face_vectors is not None
    with tempfile.TemporaryDirectory() as folder:
        material = measuring.Material()
        measuring.from_folder(people_of_speech(Path(folder)), "voice", shipped, other, material)
    turned = [measuring.Sample(s.person, s.of, s.model, s.reference) for s in material.samples]
    rules = {}
    for model, name, reference, samples in (
        (1, other.name, campplus.name, material.samples),
        (0, campplus.name, other.name, turned),
    ):
        found = measuring.measured(measuring.Material(samples), "voice", reference, name)
        print(f"{name} beside {reference}:", dict(found.material))
        rules[model] = found.rule
        told("measured", found.rule)
        told("shipped", calibrated(name, "voice"))
    people = held_out(shipped, (campplus, other))
    print(f"{len(people)} people who were not in it")
    for model, name in ((1, other.name), (0, campplus.name)):
        shipped_rule = calibrated(name, "voice")
        print(f"  {name}, measured:           ", asked(people, model, rules[model]))
        print(f"  {name}, shipped, cosines:   ", asked(people, model, replace(shipped_rule, across=None)))
        print(f"  {name}, shipped, and ratios:", asked(people, model, shipped_rule))
    with tempfile.TemporaryDirectory() as folder:
        place = people_of_faces(Path(folder))
        for by in (0.0, 0.8, 2.0):
            faces = Moved(shipped.face_vectors, by)
            material = measuring.Material()
            measuring.from_folder(place, "face", shipped, faces, material)
            found = measuring.measured(material, "face", shipped.face_vectors.name, faces.name)
            print(f"faces, moved by {by}:", dict(found.material), dict(material.left_out))
            told("measured", found.rule)
            share, count = agree(material.samples, thresholds(shipped.face_vectors.name, "face"), found.rule)
            print(f"  the same answer by both about {share:.3f} of {count} faces")
        told("shipped", thresholds(shipped.face_vectors.name, "face"))


if __name__ == "__main__":
    main()
