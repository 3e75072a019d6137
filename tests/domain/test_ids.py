"""Every kind of id is written and read by one function."""

from __future__ import annotations

import pytest

from m3desk.domain import ids


def test_an_observations_id_tells_its_source_clip_and_type() -> None:
    face = ids.face_id(ids.clip_id(ids.source_id(3), 12), 7)
    assert face == "s3.c12.f7"
    assert (ids.source_of(face), ids.source_number(face)) == ("s3", 3)
    assert (ids.clip_of(face), ids.clip_index(face), ids.clip_order(face)) == ("s3.c12", 12, (3, 12))
    assert ids.observation_type(face) == "face" and ids.observation_type(ids.utterance_id("s3.c12", 0)) == "voice"


def test_clips_sort_by_source_and_time() -> None:
    assert sorted(["s10.c0", "s2.c11", "s2.c9"], key=ids.clip_order) == ["s2.c9", "s2.c11", "s10.c0"]
    assert ids.clip_before("s2.c9") == "s2.c8" and ids.clip_before("s2.c0") is None


def test_what_a_correction_makes_is_named_after_it_and_its_step() -> None:
    made = ids.made_id("s1.c0.u3", 12, 1)
    assert made == "s1.c0.u3_12b" and ids.step_of(made) == 12 and ids.observation_type(made) == "voice"
    assert ids.made_id(made, 13, 0) == "s1.c0.u3_13a" and ids.step_of("s1.c0.u3") is None
    assert ids.observation_type(ids.made_id(ids.face_id("s1.c0"), 13, 0)) == "face"
    assert len({ids.made_id("s1.c0.u3", 1, n) for n in range(60)}) == 60


def test_the_number_in_the_id_of_a_person_node_or_sentence_is_read() -> None:
    assert ids.person_id(3) == "person_3" and ids.numbered("person_3") == ids.numbered("face_3") == 3
    assert ids.node_type("voice_12") == "voice" and ids.is_person("person_3") and not ids.is_person("person_x") and not ids.is_person("Ann")


@pytest.mark.parametrize("wrong", ["", "x", "s1", "s1.c", "s1.x3.f", "person_3"])
def test_what_is_no_id_of_a_clip_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError):
        ids.clip_order(wrong)


@pytest.mark.parametrize("wrong", ["", "s1", "s1.c3", "s1.c3.x0", "person_3"])
def test_what_is_no_id_of_an_observation_has_no_type(wrong: str) -> None:
    with pytest.raises(ValueError):
        ids.observation_type(wrong)
