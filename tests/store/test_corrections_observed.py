"""Corrections of evidence: new observations supersede old ones everywhere, and can be undone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from m3desk.domain.editing import Sample
from m3desk.domain.evidence import Utterance, media_id
from m3desk.errors import CorrectionError, UsageError
from m3desk.interop import exports, imports
from m3desk.store.memory import Memory
from tests.store.invented import MODELS, S, clips, direction, remember, source


@pytest.fixture
def memory(tmp_path: Path):
    """Two people in clip 0 (s1.c0.f0 and u0 from 0 s, f1 and u1 from 7 s), the first of them alone in clip 1."""
    with Memory.create(tmp_path / "m.m3desk") as made:
        made.plan_clips(made.add_source(source()).id, clips("s1"), fps=5.0)
        for clip, people in zip(made.next_clips("s1")[:2], [(1, 2), (1,)], strict=True):
            remember(made, clip, people)
        yield made


def exported(memory: Memory) -> dict[str, Any]:
    """Return an export without what tells of the corrections themselves."""
    found = exports.export_json(memory)
    return {k: v for k, v in found.items() if k not in ("log", "journal")}


def said(memory: Memory, source_: str = "s1") -> dict[str, str]:
    return {r.utterance.id: r.utterance.text for r in memory.speech(source_)}


SUPERSEDING = [
    ("split-at", {"observation": "s1.c0.u0", "at": 3 * S}),
    ("split-at", {"observation": "s1.c0.f0", "at": 2 * S}),
    ("bounds", {"observation": "s1.c0.u0", "start": 2 * S, "end": 6 * S}),
    ("words", {"observation": "s1.c0.u0", "text": "We think of tea."}),
    ("add-face", {"clip": "s1.c0", "at": 1 * S, "x": 300, "y": 20, "width": 40, "height": 50}),
]


@pytest.mark.parametrize(("kind", "args"), SUPERSEDING)
def test_undo_restores_the_export_exactly_and_redo_brings_it_back(memory: Memory, kind: str, args: dict[str, Any]) -> None:
    before = exported(memory)
    memory.correct(kind, args, dry_run=True)
    assert exported(memory) == before and not memory.can_undo()
    effect = memory.correct(kind, args)
    after = exported(memory)
    assert effect.step == 1 and after != before and memory.integrity() == []
    assert {c.state for c in memory.constraints()} == {"kept"}
    memory.undo()
    assert exported(memory) == before and memory.integrity() == []
    memory.redo()
    assert exported(memory) == after
    memory.revert(1)
    assert {k: v for k, v in exported(memory).items() if k != "constraints"} == {k: v for k, v in before.items() if k != "constraints"}


def test_parts_of_speech_divide_the_words_by_time_and_stay_with_their_person(memory: Memory) -> None:
    memory.correct("split-at", {"observation": "s1.c0.u0", "at": 3 * S})
    first, second, _other = memory.speech("s1")[:3]
    assert (first.utterance.id, second.utterance.id) == ("s1.c0.u0_1a", "s1.c0.u0_1b")
    assert (first.utterance.text, second.utterance.text) == ("We drink", "<person_9> tea.")
    assert first.person == second.person == "person_1" and first.utterance.end == second.utterance.start == 3 * S
    assert {"s1.c0.u0_1a", "s1.c0.u0_1b"} <= set(memory.vectors("voice")[0])
    memory.correct("assign", {"observations": [second.utterance.id], "person": "person_2"})
    assert [r.person for r in memory.speech("s1")[:2]] == ["person_1", "person_2"]
    assert memory.constraints()[-1].state == "kept"


def test_a_track_is_split_between_its_boxes_and_only_simultaneous_faces_get_a_cannot_link(memory: Memory) -> None:
    memory.correct("split-at", {"observation": "s1.c0.f0", "at": 2 * S})
    one, two = memory.tracks("s1")[:2]
    assert [len(one.track.boxes), len(two.track.boxes)] == [10, 20] and len(two.track.motion) == 20
    assert one.person == two.person == "person_1"
    with pytest.raises(CorrectionError, match="superseded"):
        memory.correct("set-aside", {"observation": "s1.c0.f0"})
    memory.correct("split-at", {"observation": "s1.c0.f0_1b", "at": 4 * S})
    assert [r.track.id for r in memory.tracks("s1")[:3]] == ["s1.c0.f0_1a", "s1.c0.f0_2a", "s1.c0.f0_2b"]
    memory.undo(2)
    assert memory.tracks("s1")[0].track.id == "s1.c0.f0" and memory.integrity() == []


def test_sentences_follow_to_what_stands_in_an_observations_place_and_stale_quotes_are_marked(memory: Memory) -> None:
    quote = next(s for s in memory.memories(clip="s1.c0") if "s1.c0.u0" in s.citations)
    effect = memory.correct("words", {"observation": "s1.c0.u0", "text": "We think of tea."})
    stale = [s.id for s in memory.memories() if s.stale]
    assert stale == [quote.id] == list(effect.memories) and "1 memory reads differently and needs rewriting" in effect.text
    now = memory.sentence(quote.id)
    assert now.citations[0] == "s1.c0.u0_1a" and now.spans[0].observations[0] == "s1.c0.u0_1a" and now.people == quote.people
    memory.correct("edit", {"memory": quote.id, "text": "Ann? says that they think of tea"})
    assert not memory.sentence(quote.id).stale
    memory.undo(2)
    assert memory.sentence(quote.id) == quote


def test_words_keep_their_times_where_there_are_as_many_and_share_the_time_where_not(memory: Memory) -> None:
    memory.correct("words", {"observation": "s1.c0.u0", "text": "We drink much tea."})
    same = memory.speech("s1")[0].utterance
    assert [w.text for w in same.words] == ["We", "drink", "much", "tea."] and same.words[0].start == 1 * S
    memory.correct("words", {"observation": same.id, "text": "Tea?"})
    assert [(w.start, w.end, w.text) for w in memory.speech("s1")[0].utterance.words] == [(1 * S, 5 * S, "Tea?")]


def test_votes_and_heard_names_follow_to_the_parts(memory: Memory) -> None:
    memory.correct("split-at", {"observation": "s1.c0.u0", "at": 3 * S})
    memory.correct("split-at", {"observation": "s1.c0.f0", "at": 3 * S})
    assert memory.person("person_1").shown == "Ann?" and len(memory.person("person_1").voices) == 1


def test_a_missed_face_is_nobodys_until_it_is_similar_to_somebody_and_has_cannot_links_to_faces_there(memory: Memory) -> None:
    where = {"clip": "s1.c0", "at": 1 * S, "box": [300, 20, 40, 50]}
    memory.correct("add-face", where)
    added = next(r for r in memory.tracks("s1") if r.track.id == "s1.c0.f_1a")
    assert added.person is None and added.track.boxes[0].x == 300
    memory.undo()
    crop = b"a crop"
    sample = Sample(MODELS["face_vectors"], direction(2, 0.2, 5, 128, 1), (media_id(crop, ".jpg"),), (((1.0, 2.0),) * 5,), 0.7,
                    media={media_id(crop, ".jpg"): crop})  # fmt: skip
    effect = memory.correct("add-face", where, sample=sample)
    added = next(r for r in memory.tracks("s1") if r.track.id == "s1.c0.f_2a")
    assert added.person == memory.tracks("s1")[-2].person == "person_2" and "recognized as Person 2" in effect.text
    assert memory.media(added.track.crops[0]) == crop and memory.integrity() == []
    memory.undo()
    sample_of_the_one_beside = Sample(MODELS["face_vectors"], direction(1, 0.2, 5, 128, 1))
    memory.correct("add-face", where, sample=sample_of_the_one_beside)
    assert next(r for r in memory.tracks("s1") if r.track.id == "s1.c0.f_3a").person is None  # who is seen beside it is somebody else


@pytest.mark.parametrize(
    ("kind", "args"),
    [
        ("split-at", {"observation": "s1.c0.u0", "at": 0}),
        ("split-at", {"observation": "s1.c0.u0", "at": 5 * S}),
        ("split-at", {"observation": "s1.c0.u0", "at": float("nan")}),
        ("split-at", {"observation": "s1.c0.u0", "at": "soon"}),
        ("split-at", {"observation": "s1.c0.u9", "at": 2 * S}),
        ("split-at", {"observations": ["s1.c0.u0", "s1.c0.u1"], "at": 3 * S}),
        ("split-at", {}),
        ("bounds", {"observation": "s1.c0.u0", "start": 31 * S, "end": 33 * S}),
        ("bounds", {"observation": "s1.c0.u0", "start": 3 * S, "end": 3 * S}),
        ("bounds", {"observation": "s1.c0.u0", "start": 3 * S, "end": 900 * S}),
        ("bounds", {"observation": "s1.c0.u0", "start": 1 * S, "end": 5 * S}),
        ("bounds", {"observation": "s1.c0.f0", "start": 1 * S, "end": 5 * S}),
        ("words", {"observation": "s1.c0.u0", "text": "  "}),
        ("words", {"observation": "s1.c0.u0", "text": "We drink <person_9> tea."}),
        ("words", {"observation": "s1.c0.u0", "text": "x" * 6000}),
        ("words", {"observation": "s1.c0.u0", "text": 7}),
        ("words", {"observation": "s1.c0.u0", "text": "\udc80"}),
        ("words", {"observation": "s1.c0.u0"}),
        ("add-face", {"clip": "s9.c0", "at": 0, "box": [1, 1, 5, 5]}),
        ("add-face", {"clip": "s1.c2", "at": 61 * S, "box": [1, 1, 5, 5]}),
        ("add-face", {"clip": "s1.c0", "at": 31 * S, "box": [1, 1, 5, 5]}),
        ("add-face", {"clip": "s1.c0", "at": 1 * S, "box": [10, 20, 40, 50]}),
        ("add-face", {"clip": "s1.c0", "at": 1 * S, "box": [630, 20, 40, 50]}),
        ("add-face", {"clip": "s1.c0", "at": 1 * S, "box": [1, 1, 0, 5]}),
        ("add-face", {"clip": "s1.c0", "at": 1 * S, "box": [1, 1, "wide", 5]}),
        ("add-face", {"clip": "s1.c0", "at": 1 * S}),
        ("enroll", {"name": "Ann"}),
        ("enroll", {"name": ["Ann"]}),
        ("merge", {"keep": {"a": 1}, "others": 3}),
        ("revert", {"step": "one"}),
        ("revert", {}),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(memory: Memory, kind: str, args: dict[str, Any]) -> None:
    log = memory.raw_log()
    with pytest.raises((CorrectionError, UsageError)):
        memory.correct(kind, args)
    assert memory.raw_log() == log


def memorize_anew(memory: Memory, **how: Any) -> None:
    memory.remove_source("s1")
    again = memory.add_source(source())
    memory.plan_clips(again.id, clips(again.id), fps=5.0)
    for clip, people in zip(memory.next_clips(again.id)[:2], [(1, 2), (1,)], strict=True):
        remember(memory, clip, people, **how)


def test_what_was_put_in_an_observations_place_is_put_there_again_after_a_re_run(memory: Memory) -> None:
    for kind, args in (
        ("split-at", {"observation": "s1.c0.u0", "at": 3 * S}),
        ("assign", {"observations": ["s1.c0.u0_1b"], "person": None, "name": "Carol"}),
        ("split-at", {"observation": "s1.c0.u0_1b", "at": 4 * S}),
        ("words", {"observation": "s1.c0.u0_3b", "text": "coffee."}),
        ("split-at", {"observation": "s1.c0.f0", "at": 2 * S}),
        ("bounds", {"observation": "s1.c1.u0", "start": 31 * S, "end": 36 * S}),
        ("add-face", {"clip": "s1.c0", "at": 1 * S, "box": [300, 20, 40, 50]}),
        ("assign", {"observations": ["s1.c0.f_7a"], "person": None, "name": "Dan"}),
    ):
        memory.correct(kind, args)
    before = [(r.utterance.start, r.utterance.end, r.utterance.text, r.shown) for r in memory.speech("s1")]
    faces = sorted((r.track.start, r.track.end, r.shown) for r in memory.tracks("s1"))
    memorize_anew(memory)
    assert [(r.utterance.start, r.utterance.end, r.utterance.text, r.shown) for r in memory.speech("s2")][:3] == before[:3]
    assert memory.speech("s2")[-1].utterance.end == 36 * S
    assert [(a, b) for a, b, _ in sorted((r.track.start, r.track.end, r.shown) for r in memory.tracks("s2"))] == [f[:2] for f in faces]
    assert "Dan" in {r.shown for r in memory.tracks("s2")}
    assert {c.state for c in memory.constraints()} == {"kept"} and memory.integrity() == []
    memory.undo(8)
    assert list(said(memory, "s2")) == ["s2.c0.u0", "s2.c0.u1", "s2.c1.u0"] and memory.integrity() == []


def test_what_a_re_run_leaves_no_place_for_waits(memory: Memory) -> None:
    memory.correct("split-at", {"observation": "s1.c0.u0", "at": 3 * S})
    memorize_anew(memory, talks=False)
    assert {c.state for c in memory.constraints()} == {"waiting"} and memory.integrity() == []


def test_an_export_read_back_has_the_same_steps_in_force_and_out_of_force(memory: Memory, tmp_path: Path) -> None:
    for kind, args in (*SUPERSEDING[1:3], ("words", {"observation": "s1.c0.u1", "text": "Tea?"}), SUPERSEDING[-1]):
        memory.correct(kind, args)
    memory.undo(2)
    path = tmp_path / "out.json"
    exports.export(memory, path, with_media=True)
    with Memory.create(tmp_path / "again.m3desk") as again:
        imports.write(imports.load(path), again)
        assert exports.same_memory(json.loads(path.read_text()), exports.export_json(again)) == []
        assert again.integrity() == []
        again.redo(2)
        memory.redo(2)
        assert exports.same_memory(exported(memory), exported(again)) == []


def test_a_reader_of_what_was_known_or_believed_sees_what_stood_then(memory: Memory) -> None:
    memory.correct("words", {"observation": "s1.c0.u0", "text": "We think of tea."}, at="2026-11-22T08:00:00.000+00:00")
    with Memory.open(memory.folder, before=("s1", 0)) as reader:
        assert said(reader)["s1.c0.u0_1a"] == "We think of tea."
    with Memory.open(memory.folder, believed_at="2026-11-21T12:00:00+00:00") as reader:
        assert "We drink" in said(reader)["s1.c0.u0"]


def test_parts_that_are_heard_again_keep_their_own_sound(memory: Memory) -> None:
    memory.correct("split-at", {"observation": "s1.c0.f0", "at": 2 * S})
    lacking = memory.lacking_sample()
    assert [x.made.id for x in lacking] == ["s1.c0.f0_1a", "s1.c0.f0_1b"] and not isinstance(lacking[0].made, Utterance)
    crop = b"the first half"
    sample = Sample(MODELS["face_vectors"], direction(1, 0.2, 5, 128, 1), (media_id(crop, ".jpg"),), (((1.0, 2.0),) * 5,), 0.7,
                    media={media_id(crop, ".jpg"): crop})  # fmt: skip
    memory.complete("s1.c0.f0_1a", sample)
    assert [x.made.id for x in memory.lacking_sample()] == ["s1.c0.f0_1b"]
    assert memory.tracks("s1")[0].track.crops == sample.crops and memory.integrity() == []
