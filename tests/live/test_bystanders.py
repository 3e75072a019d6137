"""Bystander mode: nobody who was not approved can be seen in a picture that is recorded or shown, nor is anything of them stored."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from m3desk.app import App
from m3desk.domain.evidence import ObjectSeen
from m3desk.domain.identity import Gallery, KnownPeople
from m3desk.errors import CorrectionError
from m3desk.live import bystanders
from m3desk.live.approving import Bystanders
from m3desk.live.bystanders import Veil
from m3desk.live.mailbox import Mailbox, packed, unpacked
from m3desk.ports import DetectedFace, Picture
from tests.live.test_recognizer import ROWS
from tests.perception.invented import PEOPLE, ColourEmbedder, Square, draw
from tests.store.invented import MODELS, clips, seen, source

PICTURE = 40_000
"""Microseconds between two pictures of a camera."""


class FaceDetector:
    """Finds squares that have a mouth, as a face detector finds faces, not skin. `blind`: finds nothing."""

    name = "squares with a mouth"
    blind = False

    def detect(self, picture: Picture) -> list[DetectedFace]:
        found = []
        for colour in PEOPLE.values() if not self.blind else ():
            near = [max(0, c - 12) for c in colour], [min(255, c + 12) for c in colour]
            x, y, w, h = cv2.boundingRect(cv2.inRange(picture, np.array(near[0]), np.array(near[1])))
            if w and (picture[y : y + h, x : x + w].max(2) < 20).any():
                marks = np.array([[0.3, 0.35], [0.7, 0.35], [0.5, 0.55], [0.35, 0.75], [0.65, 0.75]], np.float32) * (w, h) + (x, y)
                found.append(DetectedFace((float(x), float(y), float(w), float(h)), 0.95, np.asarray(marks, np.float32)))
        return found


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bystanders, "POLL", 0.0)
    monkeypatch.setattr(bystanders, "SHARE", 0.0)  # however busy the machine is


class Camera:
    """A veil over drawn pictures, and what came out."""

    def __init__(self, folder: Path, **approved: str) -> None:
        self.mail = Mailbox(folder)
        self.approve(**approved)
        self.detector = FaceDetector()
        self.veil = Veil(str(folder), self.detector, ColourEmbedder())
        self.out: list[tuple[int, Picture]] = []
        self.at = 0

    def approve(self, **people: str) -> None:
        rows = np.array([ROWS[who] for who in people for _ in range(3)], np.float32).reshape(-1, 3)
        owner = np.repeat(np.arange(len(people)), 3)
        self.mail.put("approved.npz", packed(people=np.array(list(people.values()), dtype=str), owner=owner, rows=rows))

    def show(self, *squares: Square, times: int = 1, background: int = 90) -> None:
        for _ in range(times):
            self.out += self.veil.put(self.at, draw(squares, background))
            self.at += PICTURE

    def end(self) -> list[list[str]]:
        """Return whose faces can be found in each picture that came out."""
        self.out += self.veil.finish()
        return [faces_in(p) for _, p in self.out]


def faces_in(picture: Picture) -> list[str]:
    seer, names = FaceDetector(), list(ROWS)
    found = seer.detect(picture)
    rows = ColourEmbedder().embed(picture, found)
    return sorted(names[int(np.argmax(r))] for r in rows)


def moving(who: str, n: int, x: int = 60) -> Square:
    return who, x + 2 * n, 80, 60


def test_an_unknown_face_is_in_no_picture(tmp_path: Path) -> None:
    camera = Camera(tmp_path)
    for n in range(60):
        camera.show(moving("ann", n))
    found = camera.end()
    assert len(found) == 60 and not any(found)
    assert [at for at, _ in camera.out] == [n * PICTURE for n in range(60)]
    assert all(p.shape == (240, 320, 3) for _, p in camera.out)


def test_the_rest_of_the_picture_stays_as_it_is(tmp_path: Path) -> None:
    camera = Camera(tmp_path)
    camera.show(("ann", 60, 80, 60), times=40)
    camera.end()
    picture = camera.out[20][1]
    assert (picture[:, 220:] == 90).all() and not (picture[90:130, 70:110] == 90).all()


def test_a_picture_without_faces_is_not_touched(tmp_path: Path) -> None:
    camera = Camera(tmp_path)
    camera.show(times=30)
    camera.end()
    assert all((p == 90).all() for _, p in camera.out)


def test_an_approved_face_is_shown_and_others_beside_it_are_not(tmp_path: Path) -> None:
    camera = Camera(tmp_path, ann="person_1")
    for n in range(50):
        camera.show(("ann", 30 + n // 2, 80, 60), ("bob", 200 - n // 4, 90, 60))
    found = camera.end()
    assert all("bob" not in f for f in found)
    assert sum("ann" in f for f in found) >= 45


def test_a_face_that_the_detector_loses_for_a_moment_stays_blurred(tmp_path: Path) -> None:
    camera = Camera(tmp_path)
    for n in range(80):
        camera.detector.blind = 20 <= n < 38 or n < 8  # 0.7 s, and the first 0.3 s
        camera.show(("ann", 60 + n // 4, 80, 60))
    assert not any(camera.end())


@pytest.mark.slow
def test_who_takes_an_approved_persons_place_is_blurred(tmp_path: Path) -> None:
    camera = Camera(tmp_path, ann="person_1")
    camera.show(("ann", 60, 80, 60), times=40)
    camera.show(("bob", 60, 80, 60), times=40)
    found = camera.end()
    assert all("bob" not in f for f in found)
    assert sum("ann" in f for f in found) >= 20


def test_where_faces_were_not_looked_for_closely_the_whole_picture_is_blurred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bystanders, "SHARE", 2.0)
    camera = Camera(tmp_path)
    camera.veil._cost = 5.0  # a look takes so long that the next is 10 s away
    pattern = np.random.default_rng(1).integers(0, 255, (240, 320, 3), dtype=np.uint8)
    camera.out += camera.veil.put(0, pattern)
    camera.veil._cost = 5.0
    for n in range(1, 40):
        camera.out += camera.veil.put(n * PICTURE, pattern)
    middle = [p for at, p in camera.out if 400_000 <= at <= 900_000]
    assert middle and all(np.abs(np.diff(p.astype(int), axis=1)).mean() < 3 for p in middle)


@pytest.mark.slow
def test_an_approval_that_was_taken_back_hides_the_face_again(tmp_path: Path) -> None:
    camera = Camera(tmp_path, ann="person_1")
    camera.show(("ann", 60, 80, 60), times=40)
    camera.approve()
    camera.show(("ann", 60, 80, 60), times=60)
    found = camera.end()
    assert any(found[:20]) and not any(found[45:])


def test_a_face_in_view_is_told_and_handed_out_when_it_is_approved(tmp_path: Path) -> None:
    camera = Camera(tmp_path)
    camera.show(("ann", 60, 80, 60), times=10)
    told = json.loads((tmp_path / "seen.json").read_text())
    (face,) = told["faces"]
    assert face["hidden"] and face["box"] == [60, 80, 60, 60]
    assert not list(tmp_path.glob("track-*"))  # nothing of them leaves the process before
    camera.mail.put("wanted.json", json.dumps([face["track"], "hidden99"]).encode())
    camera.show(("ann", 60, 80, 60), times=50)
    found = unpacked((tmp_path / f"track-{face['track']}.npz").read_bytes())
    assert found["rows"].shape[1] == 3 and found["crop0"].size and str(found["model"]) == "colours"
    assert unpacked((tmp_path / "track-hidden99.npz").read_bytes()) == {}
    assert camera.end()[-10:] == [["ann"]] * 10


# ---------------------------------------------------------------- an approved person goes on being shown


class TurningEmbedder(ColourEmbedder):
    """Turns each person's direction by `angle` towards one of their own: how they look now."""

    angle = 0.0

    def embed(self, picture: Picture, faces: Sequence[DetectedFace]) -> Any:
        rows = super().embed(picture, faces)
        return np.concatenate([rows * np.cos(self.angle), rows * np.sin(self.angle)], axis=1).astype(np.float32)


@pytest.fixture
def turning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Camera:
    """A camera with ann in view, approved in this session; `poor`: its faces are turned away."""
    camera = Camera(tmp_path)
    camera.veil = Veil(str(tmp_path), camera.detector, TurningEmbedder())
    found = bystanders.sightings
    camera.poor = False  # type: ignore[attr-defined]
    monkeypatch.setattr(
        bystanders,
        "sightings",
        lambda *args: [replace(s, quality=0.05) if camera.poor else s for s in found(*args)],  # type: ignore[attr-defined]
    )
    camera.show(("ann", 60, 80, 60), times=10)
    (face,) = json.loads((tmp_path / "seen.json").read_text())["faces"]
    camera.mail.put("wanted.json", json.dumps([face["track"]]).encode())
    camera.show(("ann", 60, 80, 60), times=2)
    rows = unpacked((tmp_path / f"track-{face['track']}.npz").read_bytes())["rows"]
    known = np.array([[face["track"], "person_1"]])
    camera.mail.put("approved.npz", packed(people=np.array(["person_1"]), owner=np.zeros(len(rows), int), rows=rows, tracks=known))
    return camera


def turn(camera: Camera, *angles: float, times: int = 25) -> None:
    for angle in angles:
        camera.veil._embedder.angle = angle  # type: ignore[union-attr]
        camera.show(("ann", 60, 80, 60), times=times)


def test_an_approved_person_whose_track_broke_is_known_by_how_they_looked_meanwhile(turning: Camera) -> None:
    turn(turning, 0.5, 0.9)
    turning.show(times=60)  # away; the angle is then too unlike what was approved
    turning.veil._embedder.angle = 1.2  # type: ignore[union-attr]
    before = turning.at
    turning.show(("ann", 200, 20, 60), ("bob", 40, 150, 60), times=50)
    found = dict(zip([at for at, _ in turning.out] + [-1] * 99, turning.end(), strict=False))
    again = [f for at, f in found.items() if at >= before]
    assert sum("ann" in f for f in again) >= 30 and not any("bob" in f for f in found.values())


def test_what_was_never_like_the_approved_face_is_not_learned(turning: Camera) -> None:
    turn(turning, 0.5, 0.9, 1.5)  # like what was learned, unlike what was approved: shown, but not learned
    shown = turning.out[-1][1]
    turning.show(times=60)
    turning.veil._embedder.angle = 2.2  # type: ignore[union-attr]
    turning.show(("ann", 200, 20, 60), times=50)
    assert turning.end()[-40:] == [[]] * 40 and faces_in(shown) == ["ann"]


def test_an_approved_person_who_left_is_looked_for_more_often_than_a_stranger_is(turning: Camera) -> None:
    turning.show(times=60)
    turning.veil._embedder.angle = 1.5  # type: ignore[union-attr]
    turning.show(("ann", 200, 20, 60), times=10)  # the first looks tell nothing: from aside
    turning.veil._embedder.angle = 0.0  # type: ignore[union-attr]
    before = turning.at
    turning.show(("ann", 200, 20, 60), times=60)
    turning.end()
    shown = [at for at, p in turning.out if at >= before and faces_in(p) == ["ann"]]
    assert shown and shown[0] - before < bystanders.UNKNOWN - PICTURE


def test_an_approved_face_that_turns_away_goes_on_being_shown_and_another_in_its_place_does_not(turning: Camera) -> None:
    turning.show(("ann", 60, 80, 60), times=25)
    turning.poor = True  # type: ignore[attr-defined]
    before = turning.at
    turning.show(("ann", 60, 80, 60), times=100)
    swapped = turning.at
    turning.show(("bob", 60, 80, 60), times=100)
    turning.end()
    found = [(at, faces_in(p)) for at, p in turning.out]
    assert all(f == ["ann"] for at, f in found if before <= at < swapped - bystanders.AGAIN)
    assert not any("bob" in f for _, f in found)


def test_a_face_that_is_turned_away_for_long_is_blurred_until_it_is_seen_well(turning: Camera) -> None:
    turning.poor = True  # type: ignore[attr-defined]
    turning.show(("ann", 60, 80, 60), times=round((bystanders.FOLLOWED + 3 * bystanders.TRUSTED) / PICTURE))
    assert turning.end()[-1] == []


def test_an_approval_of_this_session_that_was_taken_back_hides_the_face_again(turning: Camera) -> None:
    turn(turning, 0.5)
    turning.approve()
    turning.veil._embedder.angle = 0.0  # type: ignore[union-attr]
    turning.show(("ann", 60, 80, 60), times=60)
    found = turning.end()
    assert any(found) and not any(found[-40:])


def test_nothing_is_written_of_an_unapproved_face_but_its_place(tmp_path: Path) -> None:
    camera = Camera(tmp_path)
    camera.show(("ann", 60, 80, 60), times=30)
    camera.end()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["approved.npz", "seen.json"]
    assert set(json.loads((tmp_path / "seen.json").read_text())["faces"][0]) == {"track", "box", "hidden"}


# ---------------------------------------------------------------- approving


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    with App(tmp_path / "m.m3desk") as opened:
        yield opened


def approvals(app: App, known: KnownPeople | None = None) -> Bystanders:
    def consents() -> dict[str, str]:
        with app.reader() as reader:
            return reader.consents()

    def people() -> KnownPeople:
        return known or app.write(lambda m: m.known("face", "colours"))

    return Bystanders("s1", people, consents, app.enroll_seen, app.set_consent)


def test_only_people_with_consent_are_approved(app: App) -> None:
    found = tuple(Gallery(f"face_{n}", f"person_{n}", np.array([row], np.float32)) for n, row in enumerate(ROWS.values(), 1))
    app.write(lambda m: remembered(m, (1, 2)))
    kept = approvals(app, KnownPeople(found, {}))
    try:
        assert unpacked((kept.folder / "approved.npz").read_bytes())["people"].tolist() == []
        app.set_consent("person_2", "agreed by mail")
        kept.refresh()
        arrays = unpacked((kept.folder / "approved.npz").read_bytes())
        assert arrays["people"].tolist() == ["person_2"] and arrays["rows"].tolist() == [list(ROWS["bob"])]
        assert kept.approve("person_1") == "person_1"
        assert unpacked((kept.folder / "approved.npz").read_bytes())["people"].tolist() == ["person_1", "person_2"]
        with app.reader() as reader:
            assert reader.consents()["person_1"].startswith("Approved in bystander mode on ")
    finally:
        kept.close()
    assert not kept.folder.exists()


def test_a_hidden_face_becomes_a_person_when_it_is_approved(app: App) -> None:
    kept = approvals(app)
    try:
        veil = Veil(str(kept.folder), FaceDetector(), ColourEmbedder())
        over, out = threading.Event(), []

        def record() -> None:
            at = 0
            while not over.wait(0.002):
                out.extend(veil.put(at, draw([("ann", 60, 80, 60)])))
                at += PICTURE

        recorder = threading.Thread(target=record)
        recorder.start()
        try:
            while not kept.hidden() or not out:
                time.sleep(0.01)
            (face,) = kept.hidden()
            person = kept.approve(face.track, "Ann")
            assert unpacked((kept.folder / "approved.npz").read_bytes())["tracks"].tolist() == [[face.track, person]]
            with pytest.raises(CorrectionError):
                kept.approve("hidden99")
            until = len(out) + 60
            while len(out) < until:
                time.sleep(0.01)
        finally:
            over.set()
            recorder.join()
    finally:
        kept.close()
    with app.reader() as reader:
        assert reader.person("Ann").id == person and reader.person("Ann").portrait
        assert person in reader.consents()
        assert [g.person for g in reader.galleries("face", "colours")] == [person]
    assert faces_in(out[-1][1]) == ["ann"] and faces_in(out[0][1]) == []
    assert app.check()["ok"]


def test_pictures_that_cannot_be_looked_at_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    camera = Camera(tmp_path)
    camera.show(("ann", 60, 80, 60), times=5)

    def fail(_picture: Picture) -> list[DetectedFace]:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(camera.detector, "detect", fail)
    held = len(camera.veil._held)
    for _ in range(40):
        camera.at += PICTURE
        with pytest.raises(RuntimeError):
            camera.veil.put(camera.at, draw([("ann", 60, 80, 60)]))
    assert len(camera.veil._held) == held
    monkeypatch.undo()
    monkeypatch.setattr(bystanders, "POLL", 0.0)
    camera.at += PICTURE
    camera.show(("ann", 60, 80, 60), times=30)
    assert not any(camera.end())


def test_faces_stay_blurred_where_there_is_no_room_to_tell_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    camera = Camera(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(camera.veil._mail, "put", full)
    camera.show(("ann", 60, 80, 60), times=30)
    found = camera.end()
    assert len(found) == 30 and not any(found)


def test_a_face_of_a_recorder_that_died_is_nobody_in_the_next_one(tmp_path: Path) -> None:
    tracks = []
    for who in ("ann", "bob"):
        camera = Camera(tmp_path)
        camera.show((who, 60, 80, 60), times=10)
        (face,) = json.loads((tmp_path / "seen.json").read_bytes())["faces"]
        tracks.append(face["track"])
    assert tracks[0] != tracks[1]


# ---------------------------------------------------------------- what is stored


def remembered(memory: Any, people: Sequence[int]) -> Any:
    if not memory.sources():
        memory.plan_clips(memory.add_source(source()).id, clips("s1"), fps=5.0)
    clip = memory.next_clips("s1")[0]
    perceived, draft = seen(clip, people)
    prepared = memory.prepare(clip, perceived, {}, 6)
    return prepared, memory.commit_episodic(clip, prepared.perceived, draft, models=MODELS)


def test_of_a_source_in_bystander_mode_only_approved_faces_are_stored(app: App) -> None:
    app.write(lambda m: remembered(m, (1, 2)))
    app.set_consent("person_1", "agreed")
    app.write(lambda m: m.hide_bystanders("s1"))
    prepared, _ = app.write(lambda m: remembered(m, (1, 2, 3)))
    with app.reader() as reader:
        stored = [t for t in reader.tracks("s1") if t.track.clip == "s1.c1"]
        assert [t.person for t in stored] == ["person_1"]
        owners, _ = reader.vectors("face", MODELS["face_vectors"])
        assert {o for o in owners if o.startswith("s1.c1")} == {stored[0].track.id}
        assert reader.thumbnail("s1.c1") is None
        crops = {c for t in reader.tracks("s1") for c in t.track.crops}
        assert all(reader.media(c) for c in crops)
        assert "bystanders:s1" not in reader.settings()
    assert [f.id for f in prepared.perceived.faces] == [stored[0].track.id]
    assert set(prepared.perceived.media).isdisjoint({t for f in seen(clips("s1")[1], (2, 3))[0].faces for t in f.crops})
    assert len(list((Path(app.path) / "media").rglob("*.jpg"))) <= len(crops) + 1
    assert app.check()["ok"]


def test_of_a_source_in_bystander_mode_nothing_is_stored_of_what_people_without_an_approved_face_wear_and_do(app: App) -> None:
    app.write(lambda m: remembered(m, (1,)))
    app.set_consent("person_1", "agreed")
    app.write(lambda m: m.hide_bystanders("s1"))

    def told(memory: Any) -> list[str]:
        clip = memory.next_clips("s1")[0]
        perceived, _ = seen(clip, (1,))
        (face,) = perceived.faces
        body = [ObjectSeen(clip.id, clip.start, clip.end, label, 0.9, (9, 9, 9, 9)) for label in ("person", "red clothing", "going left")]
        worn = ObjectSeen(clip.id, face.start, face.end, "blue clothing", 0.9, (9, 9, 9, 9))
        return [o.label for o in memory.prepare(clip, replace(perceived, objects=(*body, worn)), {}, 6).perceived.objects]

    assert app.write(told) == ["person", "blue clothing"]
