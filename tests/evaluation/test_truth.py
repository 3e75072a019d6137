"""Ground truth formats are recognised by content; other files are refused with a hint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from m3desk.errors import M3DeskError
from m3desk.evaluation.truth import Sight, TrueTurn, read_truth, read_truths, read_uem

S = 1_000_000


def file(folder: Path, name: str, content: str | dict[str, object]) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def test_rttm_of_several_files_keeps_them_apart(tmp_path: Path) -> None:
    lines = "SPKR-INFO a 1 <NA> <NA> <NA> unknown Ann\nSPEAKER a 1 1.5 2.0 <NA> <NA> Ann <NA> <NA>\nSPEAKER b 1 0 1 <NA> <NA> Bob <NA>\n"
    truth = read_truth(file(tmp_path, "x.rttm", lines))
    assert truth.turns == (TrueTurn("a", 1_500_000, 3_500_000, "Ann"), TrueTurn("b", 0, S, "Bob"))
    assert truth.spoken == {"a", "b"} and truth.heard == {"Ann", "Bob"} and not truth.seen and not truth.rough


def test_a_timeline_tells_only_what_is_sure(tmp_path: Path) -> None:
    scene = {"source": "x", "source_from": 0, "transcript": None}
    scenes = [
        {"start": 0, "end": 4, "persons": ["Ann"], "speakers": ["Ann"], "others": False, **scene},
        {"start": 4, "end": 8, "persons": ["Ann", "Bob"], "speakers": ["Bob"], "others": False, **scene},
        {"start": 8, "end": 12, "persons": ["Ann"], "speakers": ["Ann", "Bob"], "others": True, **scene},
    ]
    truth = read_truth(file(tmp_path, "t.json", {"video": "v.mp4", "timeline": scenes}))
    assert truth.sights == (Sight("v.mp4", 0, 4 * S, "Ann"),), "two in view, or others: whose face it is isn't told"
    assert [t.person for t in truth.turns] == ["Ann", "Bob"]
    assert truth.unclear == (("v.mp4", 8 * S, 12 * S),), "two speak: who says what isn't told"
    assert truth.seen == truth.heard == {"Ann", "Bob"} and truth.rough


def test_timed_boxes_are_sights_of_a_moment(tmp_path: Path) -> None:
    truth = read_truth(file(tmp_path, "b.json", {"boxes": [{"file": "v.webm", "t": 1.5, "box": [1, 2, 30, 40], "person": "Ann"}]}))
    assert truth.sights == (Sight("v.webm", 1_500_000, 1_500_000, "Ann", (1.0, 2.0, 30.0, 40.0)),) and truth.files() == {"v.webm"}


def test_segments_of_falcon_name_their_file(tmp_path: Path) -> None:
    segments = [{"start_sec": 1.7, "end_sec": 3.9, "speaker_tag": 1}]
    truth = read_truth(file(tmp_path, "s.json", {"tests": {"diarization_tests": [{"audio_file": "t.wav", "segments": segments}]}}))
    assert truth.turns == (TrueTurn("t.wav", 1_700_000, 3_900_000, "speaker1"),)


@pytest.mark.parametrize("gap", ["\t", " ", ",", ", "])
def test_lines_of_start_end_speaker_are_of_the_file_of_their_name(tmp_path: Path, gap: str) -> None:
    truth = read_truth(file(tmp_path, "talk.segments", f"0{gap}6.3{gap}Ann\n6.3{gap}11{gap}Bob\n"))
    assert truth.turns == (TrueTurn("talk", 0, 6_300_000, "Ann"), TrueTurn("talk", 6_300_000, 11 * S, "Bob"))


def test_several_truths_are_read_as_one(tmp_path: Path) -> None:
    boxes = file(tmp_path, "b.json", {"boxes": [{"file": "v.webm", "t": 1, "box": [1, 2, 3, 4], "person": "Ann"}]})
    truth = read_truths([boxes, file(tmp_path, "v.segments", "0 1 Ann\n")])
    assert truth.seen & truth.heard == {"Ann"} and truth.files() == {"v.webm", "v"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.rttm", ""),
        ("words.txt", "to be or not to be\n"),
        ("broken.json", '{"timeline": ['),
        ("other.json", '{"format": "m3desk"}'),
        ("list.json", "[1, 2]"),
        ("noduration.rttm", "SPEAKER a 1 1.5 x <NA> <NA> Ann <NA> <NA>\n"),
        ("short.rttm", "SPEAKER a 1\n"),
        ("negative.rttm", "SPEAKER a 1 -3 1 <NA> <NA> Ann <NA> <NA>\n"),
        ("nan.segments", "0 nan Ann\n"),
        ("backwards.segments", "5 1 Ann\n"),
        ("nospeech.rttm", "SPKR-INFO a 1 <NA> <NA> <NA> unknown Ann <NA> <NA>\n"),
        ("noperson.json", '{"boxes": [{"file": "v", "t": 1, "box": [1, 2, 3, 4]}]}'),
        ("shape.json", '{"boxes": {"a": 1}}'),
    ],
)
def test_what_is_no_truth_is_refused_and_the_known_ones_named(tmp_path: Path, name: str, content: str) -> None:
    with pytest.raises(M3DeskError, match=name) as caught:
        read_truth(file(tmp_path, name, content))
    assert "RTTM" in caught.value.hint


def test_a_picture_or_a_missing_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    with pytest.raises(M3DeskError, match=r"x\.png is not a truth file"):
        read_truth(tmp_path / "x.png")
    with pytest.raises(M3DeskError, match="There is no file"):
        read_truth(tmp_path / "none.rttm")


def test_a_uem_gives_the_spans_that_count(tmp_path: Path) -> None:
    assert read_uem([file(tmp_path, "a.uem", "; comment\na NA 0 30.0\na NA 40 50\n")]) == {"a": [(0, 30 * S), (40 * S, 50 * S)]}
    with pytest.raises(M3DeskError, match=r"b\.uem is no UEM"):
        read_uem([file(tmp_path, "b.uem", "a 0 30\n")])


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 100_000,
        '{"video": 5, "timeline": [{"start": 0, "end": 1, "persons": ["a"]}]}',
        '{"video": "a.mp4", "timeline": [{"start": 0, "end": 1, "persons": [1]}]}',
    ],
)
def test_a_truth_that_is_nonsense_inside_is_a_clear_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.json").write_text(text, "utf-8")
    with pytest.raises(M3DeskError):
        read_truth(tmp_path / "t.json")
