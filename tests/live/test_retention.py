"""How long recordings are kept, and what is told before they go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import av
import pytest

from m3desk import events
from m3desk.domain.clip import Clip, Source
from m3desk.domain.live import parse_keep
from m3desk.live.retention import NEEDED, delete, kept_from, outdated
from m3desk.media.capture.recording import About, Recording
from m3desk.media.capture.writing import RecordingWriter
from tests.perception.invented import draw

S = 1_000_000
BEGAN = datetime.fromisoformat("2026-11-22T10:00:00+00:00")
Record = Callable[..., tuple[Source, Recording]]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Return a function that makes a recording of 60 s in segments of 10 s, kept as told."""

    def make(keep: object, state: str = "done") -> tuple[Source, Recording]:
        about = About("r", "drawn", BEGAN.isoformat(), 64, 48, 1.0, None, keep=keep)  # type: ignore[arg-type]
        writer = RecordingWriter(tmp_path / "r", about)
        for k in range(60):
            if k % 10 == 0 and k:
                writer.key()
            writer.picture(k * S, av.VideoFrame.from_ndarray(draw([])[:48, :64], format="bgr24"))
        writer.close()
        uri = str(tmp_path / "r")
        return Source("s1", uri, 60 * S, 64, 48, 1.0, False, "x", state=state), Recording.open(uri)  # type: ignore[arg-type]

    return make


def clip(index: int, state: str) -> Clip:
    return Clip(f"s1.c{index}", "s1", index, index * 20 * S, (index + 1) * 20 * S, state)  # type: ignore[arg-type]


ALL = [clip(i, "done") for i in range(3)]


def test_a_recording_that_is_kept_always_loses_nothing(record: Record) -> None:
    source, recording = record("always")
    assert kept_from(source, ALL, recording, BEGAN + timedelta(days=900)) == 0


def test_hours_count_from_the_moment_of_recording_and_a_preview_tells_what_goes(record: Record) -> None:
    source, _ = record(1.0)
    assert outdated([source], ALL, BEGAN + timedelta(hours=1)) == []
    (old,) = outdated([source], ALL, BEGAN + timedelta(hours=1, seconds=32))
    assert (old.source, old.start, round(old.end / S)) == ("s1", 0, 30) and old.bytes > 0


def test_an_age_may_be_asked_for_that_the_recording_does_not_say(record: Record) -> None:
    source, _ = record("always")
    (old,) = outdated([source], ALL, BEGAN + timedelta(hours=2), hours=0.5)
    assert round(old.end / S) == 60


def test_what_is_not_remembered_yet_is_kept_with_what_decoding_it_needs(record: Record) -> None:
    source, recording = record("until remembered")
    clips = [clip(0, "done"), clip(1, "done"), clip(2, "queued")]
    assert kept_from(source, clips, recording, BEGAN) == 40 * S - NEEDED
    assert kept_from(source, ALL, recording, BEGAN) > 60 * S
    assert kept_from(replace(source, state="live"), ALL, recording, BEGAN) == 60 * S - NEEDED  # the open clip begins there
    assert kept_from(source, clips, recording, BEGAN + timedelta(days=9), hours=1.0) == 40 * S - NEEDED


def test_the_setting_says_how_long_and_other_texts_say_nothing() -> None:
    assert [parse_keep(t) for t in ("always", "remembered", "0.5", "100000")] == ["always", "until remembered", 0.5, 100_000.0]
    assert [parse_keep(t) for t in ("", "for ever", "0", "-1", "nan", "inf", "100001")] == [None] * 7


def test_what_is_deleted_is_told_with_its_source_and_span_once(record: Record) -> None:
    source, _ = record(1.0)
    told: list[events.Erased] = []
    delete(source, 32 * S, told.append)
    delete(source, 32 * S, told.append)  # nothing is left before
    assert [(e.source, e.start, round(e.end / S), e.recording, e.memory) for e in told] == [("s1", 0, 30, True, False)]
