"""Forgetting one of several people: others keep their names, parts and persons; their earlier ids in the journal are removed too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from m3desk.domain.evidence import Word
from m3desk.domain.memory import HeardName
from m3desk.store.forgetting.scrubbing import mention
from m3desk.store.memory import Memory
from tests.store.invented import AT, MODELS, clips, remember, seen, source
from tests.store.test_forgetting import findings, memory, narrower  # noqa: F401  (a fixture)


def commit(made: Memory, perceived: Any, draft: Any) -> None:
    made.commit_episodic(made.next_clips("s1")[0], perceived, draft, models=MODELS, at=AT)


def test_somebody_else_of_the_same_family_keeps_their_name(memory: Memory) -> None:  # noqa: F811
    memory.correct("name", {"person": "1", "name": "Ann Smith"})
    memory.correct("name", {"person": "2", "name": "John Smith"})
    gone = memory.forget("1", "forget", narrower)
    assert memory.person("2").name == "John Smith" and findings(memory, gone) == ()


def test_a_name_within_somebody_elses_is_theirs() -> None:
    found = mention(["Smith", "Ann"], ["John Smith"])
    assert found is not None
    assert found.blot("Smith met John Smith and Ann.") == "█████ met John Smith and ███."
    assert not found.search("JOHN SMITH, and Anne")


def test_the_part_of_their_speech_that_is_somebody_elses_stays_without_the_sound_of_both(memory: Memory) -> None:  # noqa: F811
    memory.correct("split-at", {"observation": "s1.c0.u0", "at": 3_000_000})
    first, second = memory.journal()[-1].args["made"]
    memory.correct("assign", {"observations": [second], "person": "2"})
    gone = memory.forget("1", "forget", narrower)
    assert {r.utterance.id: r.person for r in memory.speech("s1", 0, 30_000_000)} == {second: "person_2", "s1.c0.u1": "person_2"}
    assert memory.speech("s1")[0].utterance.replaces is None and second not in memory.vectors("voice")[0]
    assert first in gone.known.observations and findings(memory, gone) == () and memory.integrity() == []
    memory.remove_source("s1")
    again = memory.add_source(source())
    memory.plan_clips(again.id, clips(again.id), fps=5.0)
    remember(memory, memory.next_clips(again.id)[0], (1, 2))
    assert memory.integrity() == []


def test_who_was_taken_out_of_somebody_by_a_correction_outlives_them(memory: Memory) -> None:  # noqa: F811
    memory.correct("assign", {"observations": ["s1.c0.f0", "s1.c0.u0"], "person": None, "name": "Carol"})
    face, voice = memory.journal()[-1].args["nodes"]
    memory.correct("unlink", {"face": face, "voice": voice})
    new = memory.journal()[-1].args["births"][voice]
    memory.correct("name", {"person": new, "name": "Bob"})
    gone = memory.forget("Carol", "forget", narrower)
    assert memory.person("Bob").voices == (voice,) and memory.speech("s1")[0].person == memory.person("Bob").id
    assert findings(memory, gone) == () and memory.integrity() == []


def test_what_the_journal_called_them_before_a_rerun_goes_too(memory: Memory) -> None:  # noqa: F811
    memory.correct("name", {"person": "1", "name": "Grace Hopper"})
    memory.correct("assign", {"observations": ["s1.c0.u1"], "person": "1"})
    memory.remove_source("s1")
    again = memory.add_source(source())
    memory.plan_clips(again.id, clips(again.id), fps=5.0)
    for clip, people in zip(memory.next_clips(again.id)[:2], [(1, 2), (1, 3)], strict=True):
        remember(memory, clip, people)
    gone = memory.forget("Grace Hopper", "forget", narrower)
    assert [(s.kind, s.anchor) for s in memory.journal()] == [("forget", {})] * 3
    assert findings(memory, gone) == () and memory.integrity() == []


def test_names_heard_in_their_speech_go_with_it(memory: Memory) -> None:  # noqa: F811
    perceived, draft = seen(memory.next_clips("s1")[0], (1, 2))
    face, speech = perceived.faces[1].id, perceived.utterances[0].id
    heard = HeardName(face, "Bob", 0.7, "introduced", speech, "this here is my good friend Bob from Leeds", 60_000_000)
    commit(memory, perceived, replace(draft, names=(heard,)))
    gone = memory.forget("1", "forget", narrower)
    assert memory.person("2").suggested_names == () and findings(memory, gone) == ()


def test_a_name_they_once_had_is_blotted_out_as_well(memory: Memory) -> None:  # noqa: F811
    memory.correct("name", {"person": "1", "name": "tea"})
    memory.correct("name", {"person": "1", "name": "Grace"})
    memory.forget("1", "forget", narrower)
    assert {r.utterance.text for r in memory.speech("s1")} == {"We drink <person_9> ███."}


def test_a_name_that_is_heard_sign_by_sign_is_blotted_out_of_the_words(memory: Memory) -> None:  # noqa: F811
    perceived, draft = seen(memory.next_clips("s1")[0], (1, 2))
    first, second = perceived.utterances
    words = tuple(Word(second.start + i, second.start + i + 1, w) for i, w in enumerate("你好小明再见"))
    commit(memory, replace(perceived, utterances=(first, replace(second, text="你好小明再见", words=words))), draft)
    memory.correct("name", {"person": "1", "name": "小明"})
    memory.forget("1", "forget", narrower)
    assert "".join(w.text for w in memory.speech("s1", 60_000_000)[0].utterance.words) == "你好██再见"


def test_people_in_the_same_frame_are_no_similar_faces_of_theirs(memory: Memory) -> None:  # noqa: F811
    perceived, draft = seen(memory.next_clips("s1")[0], (1, 2))
    first, second = perceived.faces
    commit(memory, replace(perceived, faces=(first, replace(second, start=first.start))), draft)
    gone = memory.forget("1", "spans", narrower)
    assert second.id in gone.known.observations and memory.person("2").faces
    assert memory.prove_forgotten(gone.known)[1] == []


@pytest.mark.parametrize("how", ["forget", "spans", "never"])
def test_somebody_split_off_can_be_forgotten_in_every_way(memory: Memory, how: Any) -> None:  # noqa: F811
    memory.correct("split", {"person": "1", "observations": ["s1.c0.f0", "s1.c0.u0"], "name": "Grace Hopper"})
    memory.correct("distinct", {"a": "Grace Hopper", "b": "1"})
    gone = memory.forget("Grace Hopper", how, narrower)
    assert findings(memory, gone) == () and memory.integrity() == []


def test_a_merge_of_three_of_whom_one_was_split_again_still_joins_the_other_two(memory: Memory) -> None:  # noqa: F811
    memory.correct("merge", {"keep": "1", "others": ["2", "5"]})
    memory.correct("split", {"person": "1", "observations": ["s1.c1.f1", "s1.c1.u1"], "name": "Carol"})
    memory.correct("distinct", {"a": "person_5", "b": "person_1"})
    one = memory.person("1")
    assert len(one.faces) == 2
    gone = memory.forget("Carol", "forget", narrower)
    assert memory.person("1").faces == one.faces and memory.person("1").voices == one.voices
    assert findings(memory, gone) == () and memory.integrity() == []


def test_a_person_named_when_split_off_keeps_name_and_cannot_links_when_those_observations_go(memory: Memory) -> None:  # noqa: F811
    """Carol's face is given to Ann later, who is forgotten: Carol keeps her name and her voice, and stays somebody else than Person 2."""
    memory.correct("split", {"person": "2", "observations": ["s1.c0.f1"], "name": "Carol"})
    memory.correct("assign", {"observations": ["s1.c0.u1"], "person": "Carol"})
    memory.correct("assign", {"observations": ["s1.c0.f1"], "person": "1"})
    carol = memory.person("Carol")
    gone = memory.forget("1", "forget", narrower)
    assert memory.person("Carol").voices == carol.voices and memory.speech("s1")[0].person == carol.id
    assert findings(memory, gone) == () and memory.integrity() == []


def test_a_part_that_was_never_said_to_be_somebodys_stays_whose_it_was(memory: Memory) -> None:  # noqa: F811
    memory.correct("split-at", {"observation": "s1.c0.u1", "at": 9_500_000})
    first, second = memory.journal()[-1].args["made"]
    memory.correct("exclude", {"observation": first, "person": "2"})
    gone = memory.forget(str(memory.speech("s1", 0, 9_000_000)[-1].person), "forget", narrower)
    assert {r.utterance.id: r.person for r in memory.speech("s1", 0, 30_000_000)} == {"s1.c0.u0": "person_1", second: "person_2"}
    assert first in gone.known.observations and findings(memory, gone) == () and memory.integrity() == []
