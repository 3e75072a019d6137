"""The labelled reel: faces of real people by the embedded models. The whole of it: python tests/perception/measure_reel.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from m3desk.ports import Models
from tests.perception.measure_reel import scenes, visual_models, watch

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def eyes() -> Models:
    return visual_models()


def test_two_scenes_of_the_reel_show_their_people_and_its_caption(shared_data: Path, eyes: Models) -> None:
    reel = shared_data / "video" / "reel" / "reel_shared.mp4"
    seen = watch(reel, eyes, until=13)
    timeline = json.loads(reel.with_suffix(".timeline.json").read_text("utf-8"))["timeline"]
    assert [s.found for s in scenes(seen, timeline, 13)] == [True, True]
    assert any(abs(c - 9.04e6) <= 200_000 for c in seen[0].cuts)
    assert [t.cluster for t in seen[0].faces][:2] == [0, 1]
    texts = {t.text: t.start / 1e6 for t in seen[0].texts}
    assert 1.5 < texts["JEFF STEEN"] < 3.5


def test_nobody_is_invented_where_no_face_can_be_read(shared_data: Path, eyes: Models) -> None:
    walkers = shared_data / "video" / "intel" / "one-by-one-person-detection.mp4"
    assert all(not s.faces for s in watch(walkers, eyes, start=68, until=80))


def test_two_people_in_one_picture_are_two(shared_data: Path, eyes: Models) -> None:
    (seen,) = watch(shared_data / "video" / "obama" / "obama_speech.mp4", eyes)
    assert [t.cluster for t in seen.faces] == [0, 1]
    assert len(seen.cannot_link) == 1
