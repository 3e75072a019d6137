"""Corrections: they take precedence over evidence, survive later clips, and can be undone completely."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from m3desk.domain.clip import Clip
from m3desk.domain.log import Log
from m3desk.domain.memory import Decision, Draft, Sentence, Span
from m3desk.domain.sentences import fold
from m3desk.errors import CorrectionError
from m3desk.store import derived
from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, source, text_vectors


@pytest.fixture
def memory(tmp_path: Path):
    """Person 1 (called Ann in passing) in clips 0 and 1, Person 2 in 0, Person 5 in 1; clip 2 is still to come."""
    with Memory.create(tmp_path / "m.m3desk") as made:
        kept = made.add_source(source())
        made.plan_clips(kept.id, clips(kept.id), fps=5.0)
        for clip, people in zip(made.next_clips("s1")[:2], [(1, 2), (1, 3)], strict=True):
            remember(made, clip, people)
        yield made


def shown(memory: Memory, clip: str) -> list[str]:
    return [s.shown.split(" ")[0] if "Person" not in s.shown else s.shown[:8] for s in memory.memories(clip=clip)]


def test_a_heard_name_is_only_a_suggestion_until_a_user_confirms_it(memory: Memory) -> None:
    ann = memory.person("Ann?")
    assert (ann.id, ann.name, ann.name_state, ann.shown) == ("person_1", None, "suggested", "Ann?")
    effect = memory.correct("name", {"person": "3", "name": "Ann"})
    assert effect.people == ("person_1",) and memory.person("ann").name_state == "confirmed"
    assert shown(memory, "s1.c1") == ["Ann", "Ann", "Person 5", "Person 5"]


def test_naming_re_embeds_nothing(memory: Memory) -> None:
    before = memory.vectors("text")[0]
    memory.correct("name", {"person": "person_1", "name": "Grace"})
    assert memory.lacking_vectors("e5 1") == [] and memory.vectors("text")[0] == before


def test_an_assigned_observation_stays_where_the_user_put_it(memory: Memory) -> None:
    memory.correct("assign", {"observations": ["s1.c1.f1"], "person": None, "name": "Carol"})
    carol = memory.person("Carol")
    assert [r.person for r in memory.tracks("s1", 30_000_000)] == ["person_1", carol.id]
    remember(memory, memory.next_clips("s1")[0], (3,))
    assert memory.tracks("s1", 60_000_000)[0].person == carol.id  # the gallery went with the observation
    assert {c.state for c in memory.constraints()} == {"kept"}


def test_undo_takes_a_correction_out_and_keeps_the_clips(memory: Memory) -> None:
    before = [p for p in memory.people() if p.id != "person_5"]
    memory.correct("assign", {"observations": ["s1.c1.f1"], "person": None, "name": "Carol"})
    remember(memory, memory.next_clips("s1")[0], (3,))
    memory.undo()
    assert memory.tracks("s1", 30_000_000)[1].person == "person_5"
    assert memory.tracks("s1", 60_000_000)[0].person not in (None, "person_5")  # a later binding stays on the node it chose
    assert [p for p in memory.people() if p.id in ("person_1", "person_2")] == before and memory.integrity() == []
    memory.redo()
    assert memory.person("Carol").clips == ("s1.c1", "s1.c2")


def test_a_merge_keeps_the_named_id_and_undo_restores_the_other(memory: Memory) -> None:
    memory.correct("name", {"person": "person_5", "name": "Bob"})
    memory.correct("merge", {"keep": "person_1", "others": ["Bob"]})
    bob = memory.person("person_1")
    assert bob.id == "person_5" and "person_1" in bob.aliases and memory.person("Person 1").id == "person_5"
    assert len([p for p in memory.people() if "s1.c1" in p.clips]) == 1
    memory.undo()
    assert memory.person("person_1").id == "person_1" and memory.person("Bob").clips == ("s1.c1",)


def test_of_two_named_people_the_kept_one_gives_the_name(memory: Memory) -> None:
    memory.correct("name", {"person": "person_1", "name": "Ann"})
    memory.correct("name", {"person": "person_2", "name": "Bob"})
    memory.correct("merge", {"keep": "Bob", "others": ["Ann"]})
    assert memory.person("ann").name == "Bob" and "Ann" in memory.person("Bob").aliases


def test_the_latest_of_two_decisions_holds_and_the_earlier_is_called_overridden(memory: Memory) -> None:
    memory.correct("merge", {"keep": "person_1", "others": ["person_5"]})
    memory.correct("distinct", {"a": "person_1", "b": "person_5"})
    assert memory.person("person_5").id == "person_5"
    assert [c.state for c in memory.constraints()] == ["overridden", "kept"]
    memory.undo()
    assert memory.person("person_5").id == "person_1" and [c.state for c in memory.constraints()] == ["kept"]


def test_a_user_may_join_two_faces_of_one_frame(memory: Memory) -> None:
    memory.correct("merge", {"keep": "person_1", "others": ["person_2"]}, why="a mirror")
    assert len(memory.people()) == 2 and memory.constraints()[0].state == "kept" and memory.journal()[0].why == "a mirror"


def test_excluded_split_and_set_aside_observations_leave_their_person(memory: Memory) -> None:
    memory.correct("exclude", {"observation": "s1.c1.f0", "person": "person_1"})
    assert memory.tracks("s1", 30_000_000)[0].person not in ("person_1", None)
    memory.correct("set-aside", {"observation": "s1.c0.f1"})
    row = memory.tracks("s1")[1]
    assert row.set_aside and row.person is None
    memory.undo(2)
    memory.correct("split", {"person": "person_1", "clip": "s1.c1", "name": "Zoe"})
    assert memory.person("Zoe").clips == ("s1.c1",) and memory.person("person_1").clips == ("s1.c0",)
    assert {c.state for c in memory.constraints()} == {"kept"}


def test_a_voice_is_linked_and_unlinked_by_a_user(memory: Memory) -> None:
    person = memory.person("person_1")
    memory.correct("unlink", {"face": person.faces[0], "voice": person.voices[0]})
    assert memory.person("person_1").voices == ()
    memory.correct("link", {"face": memory.person("person_2").faces[0], "voice": person.voices[0]})
    assert person.voices[0] in memory.person("person_2").voices
    memory.undo(2)
    assert memory.person("person_1") == person


def test_sentences_are_edited_added_pinned_and_deleted(memory: Memory) -> None:
    first = memory.memories()[0].id
    memory.correct("edit", {"node": first, "text": "Person 2 greets Ann?"})
    assert memory.sentence(first).people == ("person_2", "person_1") and memory.sentence(first).text == "someone greets someone"
    memory.correct("add", {"text": "Person 2 is a nurse", "topic": "attribute"})
    added = memory.memories(kind="semantic")[0]
    assert added.shown == "Person 2 is a nurse" and added.people == ("person_2",) and added.model == "user"
    memory.correct("pin", {"node": first})
    memory.correct("delete", {"node": added.id})
    assert memory.sentence(first).pinned and memory.memories(kind="semantic") == []
    memory.correct("name", {"person": "person_2", "name": "Bob"})
    assert memory.sentence(first).shown == "Bob greets Ann?"
    memory.undo(5)
    assert memory.memories(kind="semantic") == [] and memory.sentence(first).shown == "Ann? appears"


def test_a_dry_run_says_what_would_happen_and_does_nothing(memory: Memory) -> None:
    version, log = memory.version(), memory.raw_log()
    effect = memory.correct("merge", {"keep": "1", "others": ["2", "5"]}, dry_run=True)
    assert effect.step is None and "2 faces and 2 utterances are reassigned" in effect.text and len(effect.memories) > 0
    assert memory.version() == version and memory.raw_log() == log and not memory.can_undo()


def test_a_new_step_clears_redo_and_a_revert_is_a_step(memory: Memory) -> None:
    memory.correct("name", {"person": "1", "name": "Ann"})
    memory.correct("name", {"person": "2", "name": "Bob"})
    memory.revert(1)
    assert memory.person("person_1").name is None and memory.person("person_2").name == "Bob"
    assert [s.undone for s in memory.journal()] == [True, False, False]
    memory.undo()
    assert memory.person("person_1").name == "Ann" and memory.can_redo()
    memory.correct("ignore", {"person": "2"})
    assert not memory.can_redo() and memory.person("Bob").ignored
    with pytest.raises(CorrectionError):
        memory.redo()
    memory.undo(3)
    with pytest.raises(CorrectionError):
        memory.undo()


def test_a_revert_names_the_steps_that_rested_on_it(memory: Memory) -> None:
    memory.correct("assign", {"observations": ["s1.c1.f1"], "person": None, "name": "Carol"})
    memory.correct("assign", {"observations": ["s1.c0.f1"], "person": "Carol"})
    assert "step 2 rested on it" in memory.revert(1).text
    assert memory.tracks("s1")[1].person == memory.person("person_7").id  # the later word stands, its person without the name
    assert memory.integrity() == []


def test_corrections_survive_a_restart(memory: Memory) -> None:
    memory.correct("name", {"person": "1", "name": "Ann"})
    memory.correct("name", {"person": "1", "name": "Anne"})
    memory.close()
    with Memory.open(memory.path, write=True) as again:
        assert again.person("Anne").id == "person_1"
        again.undo()
        assert again.person("Ann").id == "person_1" and again.can_redo()


@pytest.mark.parametrize(
    ("kind", "args"),
    [
        ("name", {"person": "Nobody", "name": "X"}),
        ("name", {"person": "1", "name": "Person 7"}),
        ("name", {"person": "1", "name": "<person_2>"}),
        ("assign", {"observations": ["s9.c0.f0"], "person": "1"}),
        ("assign", {"observations": [], "person": "1"}),
        ("merge", {"keep": "1", "others": ["1"]}),
        ("distinct", {"a": "1", "b": "1"}),
        ("exclude", {"observation": "s1.c0.f0", "person": "2"}),
        ("delete", {"node": "face_1"}),
        ("forget", {"person": "1"}),
        ("revert", {"step": 5}),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(memory: Memory, kind: str, args: dict[str, object]) -> None:
    log = memory.raw_log()
    with pytest.raises(CorrectionError):
        memory.correct(kind, args)
    assert memory.raw_log() == log


def test_a_deleted_sentence_does_not_come_back_when_its_source_is_memorized_anew(memory: Memory) -> None:
    memory.correct("delete", {"node": memory.memories(clip="s1.c0")[0].id})
    memory.remove_source("s1")
    again = memory.add_source(source())
    memory.plan_clips(again.id, clips(again.id), fps=5.0)
    remember(memory, memory.next_clips(again.id)[0], (1, 2))
    assert len(memory.memories()) == 3 and memory.integrity() == []


def test_a_sentence_whose_deletion_was_undone_comes_back_when_its_source_is_memorized_anew(memory: Memory) -> None:
    memory.correct("delete", {"node": memory.memories(clip="s1.c0")[0].id})
    memory.undo()
    memory.remove_source("s1")
    again = memory.add_source(source())
    memory.plan_clips(again.id, clips(again.id), fps=5.0)
    remember(memory, memory.next_clips(again.id)[0], (1, 2))
    assert len(memory.memories()) == 4 and memory.integrity() == []


def test_a_correction_of_knowledge_is_found_again_when_its_source_is_memorized_anew(memory: Memory) -> None:
    def conclude(clip: Clip) -> None:
        told = Sentence("someone likes tea", "semantic", clip.start, clip.end, (Span(0, 7, (f"{clip.id}.f0",)),), topic="habit")
        draft = Draft((told,), model="qwen 1")
        memory.commit_semantic(clip, draft, [Decision("add")], text_vectors=text_vectors(draft), text_model="e5 1")

    conclude(memory.clip("s1.c0"))
    memory.correct("pin", {"node": memory.memories(kind="semantic")[0].id})
    memory.correct("edit", {"node": memory.memories(kind="semantic")[0].id, "text": "Ann? likes green tea"})
    memory.remove_source("s1")
    again = memory.add_source(source())
    memory.plan_clips(again.id, clips(again.id), fps=5.0)
    remember(memory, memory.next_clips(again.id)[0], (1, 2))
    conclude(memory.clip("s2.c0"))
    (kept,) = memory.memories(kind="semantic")
    assert kept.pinned and kept.shown == "Ann? likes green tea" and kept.source == "s2" and memory.integrity() == []
    memory.undo(2)
    assert memory.sentence(kept.id).shown == "Ann? likes tea" and not memory.sentence(kept.id).pinned


def test_a_source_memorized_anew_comes_back_under_the_users_corrections(memory: Memory) -> None:
    memory.correct("name", {"person": "person_1", "name": "Ann"})
    memory.correct("assign", {"observations": ["s1.c1.f1"], "person": None, "name": "Carol"})
    memory.correct("assign", {"observations": ["s1.c0.u1"], "person": "Ann"})
    memory.correct("distinct", {"a": "person_1", "b": "person_2"})
    memory.correct("edit", {"node": memory.memories(clip="s1.c0")[2].id, "text": "Ann waves"})
    memory.remove_source("s1")
    assert {c.state for c in memory.constraints()} == {"waiting"} and memory.integrity() == []
    changed = replace(source(), sha256="f" * 64)  # the file was edited: only its place is the same
    again = memory.add_source(changed)
    memory.plan_clips(again.id, clips(again.id), fps=5.0)
    for clip, people in zip(memory.next_clips(again.id)[:2], [(1, 2), (1, 3)], strict=True):
        remember(memory, clip, people)
    assert again.id == "s2" and memory.integrity() == []
    assert memory.person("Ann").clips == ("s2.c0", "s2.c1") and memory.person("Carol").clips == ("s2.c1",)
    assert [r.shown.split(" ")[0] for r in memory.tracks("s2")] == ["Ann", "Person", "Ann", "Carol"]
    assert memory.speech("s2")[1].shown == "Ann" and "Ann waves" in [s.shown for s in memory.memories()]
    assert {c.state for c in memory.constraints()} == {"kept"}
    memory.undo(5)
    assert memory.can_undo() is False and memory.integrity() == [] and all(p.name is None for p in memory.people())


# ---------------------------------------------------------------- any sequence at all

ACTIONS = (
    "name",
    "assign",
    "new",
    "merge",
    "distinct",
    "exclude",
    "set-aside",
    "delete",
    "edit",
    "undo",
    "redo",
    "revert",
    "unlink",
    "link",
    "clip",
)


def act(memory: Memory, action: str, i: int, j: int) -> None:
    people, told = memory.people(), [s for s in memory.memories() if s.kind == "episodic"]
    observations = sorted(memory.state().who.held)
    person, other, o = people[i % len(people)], people[j % len(people)], observations[j % len(observations)]
    match action:
        case "clip":
            waiting = memory.next_clips("s1")
            if waiting:
                remember(memory, waiting[0], ((i % 3) + 1, (j % 2) + 3))
        case "undo" | "redo":
            getattr(memory, action)(1 + i % 2)
        case "revert":
            memory.revert(1 + i % 4)
        case "name":
            memory.correct("name", {"person": person.id, "name": f"Name{j}"})
        case "assign":
            memory.correct("assign", {"observations": [o], "person": person.id})
        case "new":
            memory.correct("assign", {"observations": [o], "person": None, "name": None})
        case "merge":
            memory.correct("merge", {"keep": person.id, "others": [other.id]})
        case "distinct":
            memory.correct("distinct", {"a": person.id, "b": (*person.aliases, other.id)[0]})
        case "exclude":
            memory.correct("exclude", {"observation": o, "person": memory.state().who.held[o].person or "1"})
        case "set-aside":
            memory.correct("set-aside", {"observation": o})
        case "delete" | "edit":
            memory.correct(action, {"node": told[j % len(told)].id, "text": f"{person.shown} and {other.shown} meet {i}"})
        case _:
            faces, voices = person.faces or ("face_1",), other.voices or person.voices or ("voice_3",)
            memory.correct(action, {"face": faces[0], "voice": voices[0]})


def without_corrections(log: Log) -> Log:
    bare = Log()
    for name in Log.__slots__:
        setattr(bare, name, getattr(log, name))
    bare.steps, bare.marks = [], []
    return bare


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 7), st.integers(0, 7)), max_size=14))
def test_any_sequence_of_corrections_undo_redo_and_clips_equals_its_replay(sequence: list[tuple[str, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder, Memory.create(Path(folder) / "m.m3desk") as memory:
        memory.plan_clips(memory.add_source(source()).id, clips("s1"), fps=5.0)
        remember(memory, memory.next_clips("s1")[0], (1, 2))
        for action in sequence:
            try:
                act(memory, *action)
            except CorrectionError:
                continue
            assert not [c for c in memory.constraints() if c.state == "broken"]
        assert memory.integrity() == []
        for p in memory.state().who.members:
            assert memory.person(p).id == p
        while memory.can_undo():
            memory.undo()
        assert memory.integrity() == []
        assert derived.tables(fold(memory.log())) == derived.tables(fold(without_corrections(memory.log())))


def test_what_is_taken_from_somebody_is_not_voted_back_and_the_rest_stays_whole(memory: Memory) -> None:
    """Face and voice, joined by votes: a face that votes for the voice goes, and neither side takes the other back."""
    ann = memory.person("1")
    assert ann.faces and ann.voices
    for kind, args in (
        ("assign", {"observations": ["s1.c1.f0"], "person": None, "name": "Carol"}),
        ("split", {"person": "1", "observations": ["s1.c1.f0"]}),
        ("exclude", {"observation": "s1.c1.f0", "person": "1"}),
    ):
        memory.correct(kind, args)
        new = memory.tracks("s1", 30_000_000)[0].person
        assert new not in (None, "person_1")
        assert memory.person("1").voices == ann.voices and memory.speech("s1", 30_000_000)[0].person == "person_1"
        assert {c.state for c in memory.constraints()} == {"kept"}
        memory.undo()
    assert memory.person("1") == ann


def test_nodes_created_in_one_person_stay_split_through_every_rerun(memory: Memory) -> None:
    """Votes join the face and the voice in each run; the second's person is nobody's id by then, and must be found again by its node."""
    ann = memory.person("1")
    memory.correct("distinct", {"a": ann.faces[0], "b": ann.voices[0]})
    for _ in range(2):
        memory.remove_source(memory.sources()[0].id)
        again = memory.add_source(source())
        memory.plan_clips(again.id, clips(again.id), fps=5.0)
        for clip in memory.next_clips(again.id)[:2]:
            remember(memory, clip, (1,))
        assert {c.state for c in memory.constraints()} == {"kept"}
        assert all(not (p.faces and p.voices) for p in memory.people())


def test_a_person_that_is_split_off_inherits_earlier_cannot_links(memory: Memory) -> None:
    memory.correct("merge", {"keep": "1", "others": ["5"]})
    memory.correct("split", {"person": "1", "observations": ["s1.c0.f0"]})
    first = memory.tracks("s1", 0)[0].person
    memory.correct("split", {"person": "1", "observations": ["s1.c0.u0"]})
    second = memory.speech("s1", 0)[0].person
    assert len({first, second, "person_1"}) == 3, "votes between the two can't take either back"
    assert {c.state for c in memory.constraints()} <= {"kept", "overridden"}
    memory.undo(3)
    assert memory.tracks("s1", 0)[0].person == memory.speech("s1", 0)[0].person == "person_1"


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_an_anchor_keeps_the_first_the_middle_and_the_last_box_of_a_face(memory: Memory, count: int) -> None:
    with memory.writing(folds=False) as db:
        (boxes,) = db.execute("SELECT boxes FROM face_track WHERE id = 's1.c0.f0'").fetchone()
        some = json.loads(boxes)[:count]
        db.execute("UPDATE face_track SET boxes = ? WHERE id = 's1.c0.f0'", (json.dumps(some),))
    memory.correct("assign", {"observations": ["s1.c0.f0", "s1.c0.u1"], "person": "2"})
    face, said = memory.journal()[-1].anchor["observations"]
    assert face["boxes"] == [some[i] for i in sorted({0, count // 2, count - 1})] if count else face["boxes"] == []
    assert said["words"] == "We drink <person_9> tea." and said["id"] == "s1.c0.u1" and "boxes" not in said


def test_clips_look_only_for_what_is_missing_of_corrections(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.correct("assign", {"observation": "s1.c0.f0", "person": "2"})
    memory.correct("name", {"person": "2", "name": "Bob"})
    remember(memory, memory.next_clips("s1")[0], (1, 2))
    assert memory._ledger.found_steps() == {1, 2}
    memory.undo()
    assert memory._ledger.found_steps() == set()  # the journal changed
    memory.remove_source("s1")
    again = memory.add_source(source()).id
    memory.plan_clips(again, clips(again), fps=5.0)
    remember(memory, memory.next_clips(again)[0], (1, 2))
    assert memory.state().who.held[f"{again}.c0.f0"].step == 1
