"""The thresholds with the real models on labelled voices and faces: known people are found, strangers match nobody."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from m3desk.domain.calibration import calibration
from m3desk.domain.evidence import Floats
from m3desk.domain.identity import Candidate, Gallery, match

PHOTOS = {  # faces/azure_family and faces/knn: person → one photo to know them by, others to find them on
    "Dad": ("azure_family/Family1-Dad1.jpg", "azure_family/Family1-Dad2.jpg", "azure_family/Family1-Dad3.jpg"),
    "Mom": ("azure_family/Family1-Mom1.jpg", "azure_family/Family1-Mom2.jpg"),
    "Son": ("azure_family/Family1-Son1.jpg", "azure_family/Family1-Son2.jpg"),
    "Lady": ("azure_family/Family2-Lady1.jpg", "azure_family/Family2-Lady2.jpg"),
    "Man": ("azure_family/Family2-Man1.jpg", "azure_family/Family2-Man2.jpg"),
    "biden": ("knn/train/biden/biden.jpg", "knn/train/biden/biden2.jpg"),
    "obama": ("knn/train/obama/obama.jpg", "knn/train/obama/obama2.jpg", "knn/test/obama1.jpg", "knn/other/obama_small.jpg"),
}
STRANGERS = ("azure_family/Family1-Daughter1.jpg", "azure_family/Family3-Lady1.jpg", "azure_family/Family3-Man1.jpg")


@pytest.mark.data
def test_faces_on_other_photos_are_found_and_strangers_are_nobody(shared_data: Path) -> None:
    from m3desk.media.photo import read as picture
    from m3desk.perception.sightings import faces_of
    from tests.perception.measure_reel import visual_models

    models = visual_models()
    assert models.faces is not None and models.face_vectors is not None
    rule = calibration(models.face_vectors.name, "face")

    def seen(photo: str) -> Candidate:
        (sight, row) = faces_of(picture(shared_data / "faces" / photo), models.faces, models.face_vectors)[0]  # type: ignore[arg-type]
        return Candidate((photo,), row[None], 1_000_000, sight.quality)

    known = []
    for i, (who, photos) in enumerate(PHOTOS.items()):
        first = seen(photos[0])
        known.append(Gallery(f"face_{i}", who, first.vectors, quality=first.quality))
    person = {g.node: g.person for g in known}
    for who, photos in PHOTOS.items():
        for photo in photos[1:]:
            found = match([seen(photo)], known, [], rule)[0]
            assert found.node is not None and person[found.node] == who, (photo, found)
            without = match([seen(photo)], [g for g in known if g.person != who], [], rule, asked=True)[0]
            assert without.node is None, (photo, without)
    for photo in STRANGERS:
        assert match([seen(photo)], known, [], rule, asked=True)[0].node is None, photo


@pytest.mark.data
def test_voices_are_found_by_one_more_sentence_and_strangers_are_nobody(shared_data: Path) -> None:
    from m3desk_cpu.voices import CamPlus

    from m3desk.bench.identity_material import read_sound
    from m3desk.paths import resources

    model = CamPlus(resources() / "models" / "campplus_zh_en_linear_w16.onnx", 1)
    rule = calibration(model.name, "voice")
    folders = sorted(f for f in (shared_data / "speech" / "librispeech_speakers").iterdir() if f.name.isdigit())

    def rows(path: Path, longest: int) -> tuple[Floats, int]:
        sound = np.asarray(read_sound(path)[:longest] / 32768, np.float32)
        return model.embed([sound]), len(sound) * 1_000_000 // 16_000

    known, asked = [], []
    for i, folder in enumerate(folders):
        files = sorted(folder.glob("*.flac"))
        parts = [rows(f, 8 * 16_000) for f in files[:3]]
        known.append(Gallery(f"voice_{i}", folder.name, np.concatenate([r for r, _ in parts]), sum(d for _, d in parts), count=3))
        asked += [(folder.name, Candidate((f.name,), *rows(f, 5 * 16_000))) for f in files[3:5]]
    person = {g.node: g.person for g in known}
    assert len(known) == 6
    for who, candidate in asked:
        found = match([candidate], known, [], rule)[0]
        assert found.node is not None and person[found.node] == who, (candidate.observations, found)
        assert match([candidate], [g for g in known if g.person != who], [], rule)[0].node is None, candidate.observations
