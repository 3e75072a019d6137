"""Names on the live picture, before a clip ends."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace
from itertools import pairwise

import numpy as np

from m3desk import events
from m3desk.domain.changed import Changed
from m3desk.domain.identity import Gallery, KnownPeople
from m3desk.domain.live import LiveFace
from m3desk.domain.log import ObservationType
from m3desk.live.known import Galleries
from m3desk.live.recognizer import Recognizer
from m3desk.perception.faces import see
from m3desk.ports import Models
from tests.perception.invented import STEP, ColourEmbedder, DrawnClip, Square, SquareDetector, draw

ROWS = {"ann": (1.0, 0.0, 0.0), "bob": (0.0, 1.0, 0.0), "cy": (0.0, 0.0, 1.0)}


def knowing(**names: str) -> KnownPeople:
    """Return somebody's acquaintances: face → name."""
    found = [Gallery(f"face_{n}", f"person_{n}", np.array([ROWS[who]] * 3, np.float32), 1, 1.0, 3) for n, who in enumerate(names, 1)]
    return KnownPeople(tuple(found), {f"person_{n}": name for n, name in enumerate(names.values(), 1)})


class Camera:
    """A recognizer, and what it told: (names in view, left to right) a picture."""

    def __init__(self, known: KnownPeople) -> None:
        self.known = known
        self.detector, self.embedder = SquareDetector(), ColourEmbedder()
        self.told: list[events.LiveFaces] = []
        self.recognizer = Recognizer("s1", self.detector, self.embedder, lambda: self.known, self.told.append)
        self.at = 0

    def show(self, *squares: Square, times: int = 1) -> list[str]:
        for _ in range(times):
            self.recognizer.look(self.at, draw(squares))
            self.at += STEP
        return [f.name for f in sorted(self.told[-1].faces, key=lambda f: f.x)] if self.told else []


def test_a_clear_face_is_named_at_once_and_kept_after_four_pictures() -> None:
    camera = Camera(knowing(ann="Ann"))
    assert camera.show(("ann", 40, 80, 60)) == ["Ann"]
    assert not camera.told[-1].faces[0].sure
    for n in range(1, 4):
        camera.show(("ann", 40 + 4 * n, 80, 60))
    face = camera.told[-1].faces[0]
    assert (face.person, face.name, face.sure, camera.told[-1].at) == ("person_1", "Ann", True, 3 * STEP)
    assert (face.x, face.y, face.width, face.height) == (52, 80, 60, 60)


def test_a_face_that_is_less_like_is_named_after_two_pictures() -> None:
    camera = Camera(knowing(ann="Ann"))
    camera.embedder.embed = lambda picture, faces: np.array([(0.58, 0.0, 0.8)] * len(faces), np.float32)  # type: ignore[method-assign]
    assert camera.show(("ann", 40, 80, 60)) == [""]
    assert camera.show(("ann", 44, 80, 60)) == ["Ann"]


def test_a_stranger_gets_no_name_until_the_memory_knows_them() -> None:
    camera = Camera(knowing(ann="Ann"))
    assert camera.show(("bob", 40, 80, 60), times=6) == [""]
    camera.known = knowing(ann="Ann", bob="Bob")
    assert camera.show(("bob", 44, 80, 60)) == ["Bob"]


def test_two_faces_of_one_picture_are_never_one_person() -> None:
    camera = Camera(knowing(ann="Ann"))
    camera.embedder.embed = lambda picture, faces: np.array([ROWS["ann"]] * len(faces), np.float32)  # type: ignore[method-assign]
    names = [camera.show(("ann", 30 + i, 80, 60), ("bob", 200 + i, 80, 60)) for i in range(8)][-1]
    assert sorted(names) == ["", "Ann"]


def test_a_name_changes_at_most_once() -> None:
    camera = Camera(knowing(ann="Ann", bob="Bob"))
    doubtful = [(0.8, 0.6, 0.0), (0.6, 0.8, 0.0)]  # each picture says another
    looks = iter(range(1000))
    camera.embedder.embed = lambda picture, faces: np.array([doubtful[next(looks) // 2 % 2]] * len(faces), np.float32)  # type: ignore[method-assign]
    names = [n for i in range(40) for n in camera.show(("cy", 40 + i, 80, 60))]
    changes = [a for a, b in pairwise(names) if a and a != b]
    assert len({f.track for told in camera.told for f in told.faces}) == 1
    assert len(changes) <= 1 and set(names) > {""}


def test_somebody_else_in_the_same_place_after_a_cut_is_another_track() -> None:
    camera = Camera(knowing(ann="Ann", bob="Bob"))
    assert camera.show(("ann", 40, 80, 60), times=4) == ["Ann"]
    names = [camera.show(("bob", 40 + i, 80, 60)) for i in range(1, 9)]
    assert names[-1] == ["Bob"]
    tracks = {f.name: f.track for told in camera.told for f in told.faces if f.name}
    assert tracks["Ann"] != tracks["Bob"]


def test_who_left_is_told_once() -> None:
    camera = Camera(knowing(ann="Ann"))
    camera.show(("ann", 40, 80, 60), times=3)
    camera.show(times=3)
    assert [len(t.faces) for t in camera.told] == [1, 1, 1, 0]


def test_a_still_scene_is_looked_at_once_a_second() -> None:
    camera = Camera(knowing(ann="Ann"))
    camera.show(("ann", 40, 80, 60), times=30)  # 6 s
    assert camera.detector.calls <= 4 + 6


def test_a_still_empty_scene_is_looked_at_ever_more_rarely_and_who_comes_in_is_named_at_once() -> None:
    camera = Camera(knowing(ann="Ann"))
    camera.show(times=round(23_000_000 / STEP))
    assert camera.detector.calls == 7  # after 0, 1, 3, 7, 11, 15, 19 s
    assert camera.show(("ann", 40, 80, 60)) == ["Ann"]
    calls = camera.detector.calls
    camera.show(times=5)  # gone: looked for at once, and again after a second
    assert camera.detector.calls > calls and camera.told[-1].faces == ()


def test_what_changes_slowly_is_looked_at_when_it_has_changed() -> None:
    camera = Camera(knowing(ann="Ann"))
    for n in range(40):  # each picture is still against the one before
        camera.recognizer.look(camera.at, draw([], 90 + n))
        camera.at += STEP
    assert camera.detector.calls >= 40 * STEP // 4_000_000 + 3


def test_the_evidence_of_a_clip_is_the_same_with_names_beside_it() -> None:
    pictures = [draw([("ann", 40 + 3 * i, 80, 48), ("bob", 200 - 3 * i, 90, 48)]) for i in range(20)]
    alone = see(DrawnClip(pictures), Models(faces=SquareDetector(), face_vectors=ColourEmbedder()))
    camera = Camera(knowing(ann="Ann"))
    models = Models(faces=camera.detector, face_vectors=camera.embedder)
    stop = threading.Event()

    def look_on() -> None:
        while not stop.is_set():
            camera.show(("ann", 40, 80, 48))

    beside = threading.Thread(target=look_on)
    beside.start()
    try:
        both = see(DrawnClip(pictures), models)
    finally:
        stop.set()
        beside.join()
    assert replace(both, vectors={}) == replace(alone, vectors={})
    assert all(np.array_equal(both.vectors[k], alone.vectors[k]) for k in alone.vectors)


def test_its_thread_takes_each_picture_once() -> None:
    camera = Camera(knowing(ann="Ann"))
    seen = threading.Event()
    asked = 0

    def newest() -> tuple[int, np.ndarray]:
        nonlocal asked
        asked += 1
        if asked > 5:
            seen.set()
        return 0, draw([("ann", 40, 80, 60)])

    camera.recognizer.start(newest)
    assert seen.wait(30)
    camera.recognizer.close()
    assert len(camera.told) == 1


def test_its_thread_goes_on_after_a_failure() -> None:
    told = threading.Event()
    pictures = itertools.count()
    failing = [OSError(2, "the folder of the veil is gone")]

    def hidden() -> tuple[LiveFace, ...]:
        if failing:
            raise failing.pop()
        return ()

    recognizer = Recognizer("s1", SquareDetector(), ColourEmbedder(), KnownPeople, lambda _: told.set(), hidden)
    recognizer.start(lambda: (next(pictures) * STEP, draw([("ann", 40, 80, 60)])))
    assert told.wait(30)
    recognizer.close()


def test_galleries_are_read_again_when_a_commit_changed_who_somebody_is() -> None:
    answers = [knowing(ann="Ann"), knowing(ann="Ann", bob="Bob")]
    again = threading.Event()
    asked: list[tuple[str, str]] = []

    def read(type_: ObservationType, model: str) -> KnownPeople:
        asked.append((type_, model))
        if len(asked) == 2:
            again.set()
        return answers[min(len(asked), 2) - 1]

    galleries = Galleries(read, {"face": "colours"})
    try:
        assert galleries.wait(30)
        assert galleries.of("face").names == {"person_1": "Ann"} and galleries.of("voice").names == {}
        galleries.note(Changed(1, 2))  # a chat was stored
        galleries.note(Changed(2, 3, observations=frozenset({"s1.c0.f0"})))
        assert again.wait(30)
    finally:
        galleries.close()
    assert asked == [("face", "colours")] * 2
    assert galleries.of("face").names == {"person_1": "Ann", "person_2": "Bob"}


def test_blurred_faces_are_told_with_the_tracks_by_which_they_can_be_approved() -> None:
    told: list[events.LiveFaces] = []
    blurred = LiveFace("hidden3", 42, 82, 60, 60)
    recognizer = Recognizer("s1", SquareDetector(), ColourEmbedder(), KnownPeople, told.append, lambda: (blurred,))
    recognizer.look(0, draw([("ann", 40, 80, 60), ("bob", 200, 80, 60)]))
    other, last = told[0].faces
    assert other.x == 200 and last == blurred
