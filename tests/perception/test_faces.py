"""What is seen in a clip, from drawn pictures."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from m3desk.domain.appearance import of_a_person
from m3desk.domain.evidence import media_id
from m3desk.errors import Cancelled
from m3desk.events import EvidenceSeen
from m3desk.perception.faces import VisualEvidence, see
from m3desk.ports import Models, Picture
from tests.perception.invented import CaptionReader, ColourEmbedder, DrawnClip, LaptopEverywhere, SquareDetector, draw


def models() -> Models:
    return Models(faces=SquareDetector(), face_vectors=ColourEmbedder(), objects=LaptopEverywhere(), screen_text=CaptionReader())


def seen(pictures: list[Picture], given: Models | None = None) -> VisualEvidence:
    return see(DrawnClip(pictures), given or models())


def walking(count: int, who: str = "ann") -> list[Picture]:
    return [draw([(who, 40 + 5 * i, 80, 48)]) for i in range(count)]


def test_a_face_that_moves_is_one_track_with_a_box_a_picture() -> None:
    (track,) = seen(walking(12)).faces
    assert (track.id, track.clip, len(track.boxes)) == ("s1.c2.f0", "s1.c2", 12)
    assert (track.start, track.end) == (60_000_000, 62_200_000)
    assert abs(track.boxes[4].x - 60) < 2
    assert len(track.motion) == 12


def test_a_face_lost_for_a_moment_is_the_same_track() -> None:
    pictures = [draw([("ann", 80, 80, 48)])] * 5 + [draw([])] * 4 + [draw([("ann", 84, 80, 48)])] * 5
    assert [len(t.boxes) for t in seen(pictures).faces] == [10]


def test_a_face_lost_for_long_is_another_track_of_the_same_cluster() -> None:
    pictures = [draw([("ann", 80, 80, 48)])] * 5 + [draw([])] * 8 + [draw([("ann", 84, 80, 48)])] * 5
    found = seen(pictures).faces
    assert [len(t.boxes) for t in found] == [5, 5]
    assert [t.cluster for t in found] == [0, 0]


def test_tracks_end_at_shot_cuts() -> None:
    pictures = [draw([("ann", 80, 80, 48)], 90)] * 6 + [draw([("ann", 80, 80, 48)], 220)] * 6
    result = seen(pictures)
    assert result.cuts == (61_200_000,)
    assert [len(t.boxes) for t in result.faces] == [6, 6]


def test_a_track_is_cut_where_the_face_becomes_another() -> None:
    pictures = [draw([("ann", 80, 80, 48)])] * 13 + [draw([("bob", 80, 80, 48)])] * 12
    found = seen(pictures).faces
    assert [len(t.boxes) for t in found] == [13, 12]
    assert [t.cluster for t in found] == [0, 1]


def test_two_who_cross_keep_their_tracks() -> None:
    pictures = [draw([("ann", 40 + 12 * i, 80, 40), ("bob", 220 - 12 * i, 121, 40)]) for i in range(14)]
    result = seen(pictures)
    first = {t.boxes[0].x < 130 for t in result.faces}
    assert len({t.cluster for t in result.faces}) == 2
    assert first == {True, False}
    assert all(len(t.boxes) >= 12 for t in result.faces)


def test_faces_in_one_picture_are_apart_and_never_one_cluster() -> None:
    pictures = [draw([("ann", 40, 80, 48), ("bob", 200, 80, 48)])] * 6
    result = seen(pictures)
    assert result.cannot_link == {("s1.c2.f0", "s1.c2.f1")}
    assert [t.cluster for t in result.faces] == [0, 1]


def test_a_face_seen_once_only_or_doubtfully_is_no_track() -> None:
    assert seen([draw([])] * 4 + [draw([("ann", 80, 80, 48)])] + [draw([])] * 4).faces == ()
    assert seen(walking(8), Models(faces=SquareDetector(0.62), face_vectors=ColourEmbedder())).faces == ()


def test_every_track_keeps_crops_with_a_margin_landmarks_and_unit_vectors() -> None:
    result = seen(walking(12))
    (track,) = result.faces
    rows = result.vectors[track.id]
    assert len(track.crops) == len(track.landmarks) == len(rows) <= 5
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    data = result.media[track.crops[0]]
    assert track.crops[0] == media_id(data, ".jpg")
    crop = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert 90 <= crop.shape[0] <= 100
    assert all(0 < x < crop.shape[1] and 0 < y < crop.shape[0] for x, y in track.landmarks[0])


def test_a_caption_that_comes_in_the_middle_is_read_with_its_times() -> None:
    plain, captioned = draw([]), draw([])
    captioned[210:230, 40:240] = 255
    captioned[215:225, 60:220:6] = 0
    (text,) = seen([plain] * 15 + [captioned] * 20).texts
    assert (text.text, text.start, text.end) == ("Host ANN LEE", 63_000_000, 90_000_000)


def test_things_and_a_thumbnail_and_facts_come_along() -> None:
    result = seen(walking(10))
    things = [(o.label, o.start, o.end) for o in result.objects if not of_a_person(o.label)]  # a drawn face has lines across it
    assert things == [("laptop", 60_000_000, 90_000_000)]
    assert result.thumbnail in result.media
    assert result.scene["cuts"] == 0


def test_what_has_no_model_is_left_out() -> None:
    result = seen(walking(10), Models())
    assert (result.faces, result.objects, result.texts) == ((), (), ())
    assert result.thumbnail


def test_without_face_vectors_tracks_are_linked_by_place() -> None:
    result = seen(walking(10), Models(faces=SquareDetector()))
    assert len(result.faces) == 1
    assert result.vectors == {}


def test_a_clip_without_pictures_shows_nothing() -> None:
    assert seen([]) == VisualEvidence()


def test_a_single_picture_is_looked_at() -> None:
    assert len(seen([draw([])]).objects) == 1


def test_the_same_picture_again_is_not_searched_again() -> None:
    detector = SquareDetector()
    still = draw([("ann", 80, 80, 48)])
    (track,) = seen([still] * 10, Models(faces=detector, face_vectors=ColourEmbedder())).faces
    assert (detector.calls, len(track.boxes)) == (1, 10)


def test_the_same_clip_gives_the_same_evidence() -> None:
    pictures = [draw([("ann", 40 + 6 * i, 80, 40), ("bob", 220 - 6 * i, 100, 40)]) for i in range(14)]
    a, b = seen(pictures), seen(pictures)
    assert (a.faces, a.objects, a.texts, a.media, a.cannot_link, a.scene) == (b.faces, b.objects, b.texts, b.media, b.cannot_link, b.scene)
    assert all((a.vectors[k] == b.vectors[k]).all() for k in a.vectors)


def test_early_news_tells_of_the_first_face_at_once() -> None:
    news: list[EvidenceSeen] = []
    see(DrawnClip(walking(12)), models(), on_news=news.append)
    assert (news[0].clip, news[0].source, len(news[0].faces)) == ("s1.c2", "s1", 1)
    assert sum(len(n.faces) for n in news) == 12


def test_it_stops_when_cancelled() -> None:
    with pytest.raises(Cancelled):
        see(DrawnClip(walking(12)), models(), cancelled=lambda: True)


def room(count: int, seed: int = 1) -> list[Picture]:
    """Return pictures of a room in which nothing moves, with a camera's noise."""
    rng = np.random.default_rng(seed)
    empty = draw([]).astype(np.int16)
    return [np.clip(empty + rng.integers(-3, 4, empty.shape), 0, 255).astype(np.uint8) for _ in range(count)]


def test_a_still_empty_scene_is_searched_ever_more_rarely() -> None:
    detector = SquareDetector()
    things: list[int] = []

    class CountingThings(LaptopEverywhere):
        def detect(self, picture: Picture):
            things.append(1)
            return super().detect(picture)

    found = seen(room(50), Models(faces=detector, objects=CountingThings()))
    assert found.faces == () and detector.calls == 4 and len(things) == 3  # after 0, 1, 3, 7 s; the whole picture and its halves
    assert found.objects and found.objects[0].end >= 69_000_000  # still there, though it was looked for only once


def test_who_enters_a_still_scene_is_seen_at_once_and_then_on_every_picture() -> None:
    detector = SquareDetector()
    pictures = [*room(12), *(draw([("ann", 80 + i, 80, 48)]) for i in range(8))]
    (track,) = seen(pictures, Models(faces=detector, face_vectors=ColourEmbedder())).faces
    assert len(track.boxes) == 8 and detector.calls == 2 + 8


def test_a_face_that_is_missed_in_a_still_scene_is_looked_for_after_a_second() -> None:
    class MissesOne(SquareDetector):
        def detect(self, picture: Picture):
            found = super().detect(picture)
            return [] if self.calls == 3 else found

    detector = MissesOne()
    ann = draw([("ann", 80, 80, 48)]).astype(np.int16)
    pictures = [np.clip(ann + n % 3, 0, 255).astype(np.uint8) for n in range(20)]
    seen(pictures, Models(faces=detector, face_vectors=ColourEmbedder()))
    assert detector.calls == 20 - 4  # missed after 0.4 s and found again after 1.4 s: the look before it found a face
