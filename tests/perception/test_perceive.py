"""The visual and the audible evidence of a clip are merged."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from m3desk.domain.clip import Clip
from m3desk.domain.continuing import continued
from m3desk.domain.evidence import FaceTrack, Floats, Perceived, TimedBox, Utterance
from m3desk.errors import Cancelled, ModelFailed
from m3desk.perception.faces import VisualEvidence
from m3desk.perception.perceive import Watcher, merge
from m3desk.perception.voices import SpeechEvidence
from m3desk.ports import DetectedFace, Frame, Models, Picture
from tests.perception.invented import ColourEmbedder, DrawnClip, SquareDetector, draw

CLIP = Clip("s1.c3", "s1", 3, 0, 30_000_000)


def said(id_: str, start: int) -> Utterance:
    return Utterance(id_, "?", start, start + 1_000_000, "yes", (), "en", 0.9)


def track(id_: str, start: int) -> FaceTrack:
    return FaceTrack(id_, "?", start, start + 1_000_000, (TimedBox(start, 0, 0, 10, 10),), 0.9, 0.5)


def test_ids_are_given_in_order_of_start() -> None:
    row = np.ones((1, 2), np.float32)
    heard = SpeechEvidence((said("b", 5), said("a", 2)), {"a": row}, {"x.flac": b"x"}, frozenset({("b", "a")}))
    seen = VisualEvidence(
        (track("s1.c3.f0", 9), track("s1.c3.f1", 1)), vectors={"s1.c3.f0": row}, cannot_link=frozenset({("s1.c3.f0", "s1.c3.f1")})
    )
    merged = merge(CLIP, seen, heard)
    assert [(u.id, u.start, u.clip) for u in merged.utterances] == [("s1.c3.u0", 2, "s1.c3"), ("s1.c3.u1", 5, "s1.c3")]
    assert [(t.id, t.start, t.clip) for t in merged.faces] == [("s1.c3.f0", 1, "s1.c3"), ("s1.c3.f1", 9, "s1.c3")]
    assert set(merged.vectors) == {"s1.c3.u0", "s1.c3.f1"}
    assert merged.cannot_link == {("s1.c3.f0", "s1.c3.f1"), ("s1.c3.u0", "s1.c3.u1")}
    assert merged.media == {"x.flac": b"x"}


def test_more_than_ten_tracks_keep_their_order() -> None:
    merged = merge(CLIP, VisualEvidence(tuple(track(f"s1.c3.f{i}", i) for i in range(12))), SpeechEvidence())
    assert [t.id for t in merged.faces] == [f"s1.c3.f{i}" for i in range(12)]
    assert [t.start for t in merged.faces] == list(range(12))


def at(id_: str, x: float, start: int, end: int, row: tuple[float, float]) -> tuple[FaceTrack, Floats]:
    boxes = tuple(TimedBox(t, x, 40, 50, 60) for t in range(start, end + 1, 200_000))
    return FaceTrack(id_, id_.rsplit(".", 1)[0], start, end, boxes, 0.9, 0.9), np.array([row], np.float32)


def evidence(clip_: str, *found: tuple[FaceTrack, Floats]) -> Perceived:
    return Perceived(clip_, tuple(t for t, _ in found), vectors={t.id: row for t, row in found})


def test_a_face_at_the_border_goes_on_in_the_next_clip() -> None:
    before = evidence("s1.c3", at("s1.c3.f0", 100, 0, 29_800_000, (1, 0)), at("s1.c3.f1", 300, 0, 29_800_000, (0, 1)))
    now = evidence("s1.c4", at("s1.c4.f0", 310, 30_000_000, 31_000_000, (0, 1)), at("s1.c4.f1", 104, 30_000_000, 31_000_000, (1, 0)))
    assert [t.continues for t in continued(before, now).faces] == ["s1.c3.f1", "s1.c3.f0"]


def test_somebody_else_elsewhere_or_later_does_not_go_on() -> None:
    before = evidence("s1.c3", at("s1.c3.f0", 100, 0, 29_800_000, (1, 0)))
    for now in (
        at("s1.c4.f0", 100, 30_000_000, 31_000_000, (0, 1)),
        at("s1.c4.f0", 190, 30_000_000, 31_000_000, (1, 0)),
        at("s1.c4.f0", 100, 31_000_000, 32_000_000, (1, 0)),
    ):
        assert continued(before, evidence("s1.c4", now)).faces[0].continues is None
    assert continued(None, before) is before


def clip() -> DrawnClip:
    return DrawnClip([draw([("ann", 40 + 5 * i, 80, 48)]) for i in range(12)])


def eyes() -> Models:
    return Models(faces=SquareDetector(), face_vectors=ColourEmbedder())


def watched(*clips: DrawnClip, models: Models | None = None, stop: Callable[[], bool] = lambda: False) -> list[Perceived]:
    watcher = Watcher(models or eyes(), None, stop, lambda _news: None)
    try:
        return [w.result() for w in watcher.watch(clips)]
    finally:
        watcher.close()


def test_a_silent_clip_has_faces_and_no_utterances() -> None:
    (found,) = watched(clip())
    assert [t.id for t in found.faces] == ["s1.c2.f0"]
    assert found.utterances == ()


def test_clips_come_in_their_order_however_long_each_takes() -> None:
    many = [replace(clip(), clip=Clip(f"s1.c{i}", "s1", i, i * 2_000_000, (i + 1) * 2_000_000)) for i in range(5)]
    assert [p.clip for p in watched(*many)] == [f"s1.c{i}" for i in range(5)]


def test_no_more_than_two_clips_are_perceived_ahead_of_who_takes_them() -> None:
    begun: list[int] = []

    def decoded() -> Iterator[DrawnClip]:
        for i in range(9):
            begun.append(i)
            yield replace(clip(), clip=Clip(f"s1.c{i}", "s1", i, i * 2_000_000, (i + 1) * 2_000_000))

    watcher = Watcher(eyes(), None, lambda: False, lambda _news: None)
    next(watcher.watch(decoded())).result()
    watcher.close()
    assert begun == [0, 1, 2]


def test_a_broken_model_is_said() -> None:
    class Broken:
        name = "broken"

        def detect(self, picture: Picture) -> list[DetectedFace]:
            raise ModelFailed("Finding faces failed.")

    with pytest.raises(ModelFailed):
        watched(clip(), models=Models(faces=Broken()))


def test_it_stops_when_cancelled() -> None:
    with pytest.raises(Cancelled):
        watched(clip(), stop=lambda: True)


def scenes(*colours: tuple[int, int, int]) -> DrawnClip:
    """Return a clip of three pictures a scene, with sound."""
    return DrawnClip([np.full((240, 320, 3), colour, np.uint8) for colour in colours for _ in range(3)])


def told_cuts(monkeypatch: pytest.MonkeyPatch, models: Models, *clips: DrawnClip) -> list[tuple[int, ...]]:
    """Return the cuts that hearing gets of each clip."""
    found: list[tuple[int, ...]] = []

    def hear(media: DrawnClip, models: Models, *, cuts: Callable[[], tuple[int, ...]], **_: object) -> SpeechEvidence:
        found.append(tuple(cuts()))
        return SpeechEvidence()

    monkeypatch.setattr("m3desk.perception.perceive.hear", hear)
    watcher = Watcher(models, None, lambda: False, lambda _news: None)
    try:
        for pending in watcher.watch(clips):
            pending.heard.result()
    finally:
        watcher.close()
    return found


def test_hearing_gets_the_cuts_of_the_pictures_of_its_clip(monkeypatch: pytest.MonkeyPatch) -> None:
    first = scenes((20, 20, 200), (200, 180, 20), (20, 20, 200))
    second = replace(scenes((9, 9, 9)), clip=Clip("s1.c3", "s1", 3, 90_000_000, 120_000_000))
    assert told_cuts(monkeypatch, eyes(), first, second) == [(60_600_000, 61_200_000), ()]


def test_hearing_waits_for_no_pictures_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        name = "broken"

        def detect(self, picture: Picture) -> list[DetectedFace]:
            raise ModelFailed("Finding faces failed.")

    assert told_cuts(monkeypatch, Models(faces=Broken()), clip()) == [()]


def test_hearing_that_waits_for_pictures_ends_with_the_watcher(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()

    def hear(media: DrawnClip, models: Models, *, cuts: Callable[[], tuple[int, ...]], **_: object) -> SpeechEvidence:
        begun.set()
        cuts()
        return SpeechEvidence()

    def frames(_: DrawnClip) -> Iterator[Frame]:
        begun.wait(30)
        watcher._stopped.set()
        yield Frame(0, np.zeros((240, 320, 3), np.uint8))

    monkeypatch.setattr("m3desk.perception.perceive.hear", hear)
    monkeypatch.setattr(DrawnClip, "frames", frames)
    watcher = Watcher(eyes(), None, lambda: False, lambda _news: None)
    pending = next(watcher.watch([clip()]))
    with pytest.raises(Cancelled):
        pending.result()
    watcher.close()
