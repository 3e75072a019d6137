"""Forgetting: nothing derived from a person is left, others keep their data, a re-run stores nothing there, and the proof finds leaks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from m3desk.domain.evidence import ObjectSeen, media_id
from m3desk.domain.memory import Decision, Draft, Sentence
from m3desk.errors import CorrectionError
from m3desk.store import rows
from m3desk.store.forgetting.scrubbing import mention
from m3desk.store.memory import Memory
from tests.store.invented import AT, MODELS, clips, remember, seen, source, text_vectors
from tests.store.test_corrections_enrolled import photo

Marks = tuple[tuple[float, float], ...]


def narrower(content: bytes, marks: Marks) -> tuple[bytes, Marks]:
    return b"narrow " + content, marks


@pytest.fixture
def memory(tmp_path: Path):
    """Ann (person_1) and Person 2 in clip 0, Ann and Person 5 in clip 1; clip 2 is still to come."""
    with Memory.create(tmp_path / "m.m3desk") as made:
        kept = made.add_source(source())
        made.plan_clips(kept.id, clips(kept.id), fps=5.0)
        for clip, people in zip(made.next_clips("s1")[:2], [(1, 2), (1, 3)], strict=True):
            remember(made, clip, people)
        yield made


def findings(memory: Memory, gone: object) -> tuple[str, ...]:
    return memory.prove_forgotten(gone.known)[0].findings  # type: ignore[attr-defined]


def test_nothing_of_a_forgotten_person_is_left_and_the_proof_says_so(memory: Memory) -> None:
    memory.correct("name", {"person": "1", "name": "Grace Hopper"})
    memory.correct("add", {"text": "Grace Hopper likes Person 2.", "person": "1"})
    memory.add_chat({"question": "Who is Grace Hopper?", "answer": "Person 1."})
    memory.add_chat({"question": "What is on the table?", "answer": "A cup."})
    plan = memory.may_forget("Grace Hopper", "forget")
    gone = memory.forget("Grace Hopper", "forget", narrower)
    assert plan.counts["observations"] == gone.counts["observations"] == 4
    assert findings(memory, gone) == ()
    assert memory.integrity() == []
    assert {p.id for p in memory.people()} == {"person_2", "person_5"}
    assert [c["question"] for c in memory.chats()] == ["What is on the table?"]
    assert not any("Grace" in s.shown for s in memory.memories())
    with pytest.raises(CorrectionError):
        memory.person("Grace Hopper")


def test_knowledge_that_was_being_written_from_what_was_forgotten_is_not_stored(memory: Memory) -> None:
    """A language model takes seconds for a clip: what it read may have been forgotten, and the proof passed, when it is done."""
    told = {p: next(s for s in memory.episodic("s1.c0") if s.people == (p,)) for p in ("person_1", "person_2")}
    drafted = []
    for person, what in (("person_1", "breeds otters"), ("person_2", "bakes bread")):
        spoken = told[person]
        text = f"<{spoken.citations[0]}> {what}."
        drafted.append(
            Sentence(text, "semantic", spoken.start, spoken.end, citations=spoken.citations, topic="attribute", rests_on=(spoken.id,))
        )
    gone = memory.forget("1", "forget", narrower)
    draft = Draft(tuple(drafted), model="knowledge-1 test")
    memory.commit_semantic(memory.clip("s1.c0"), draft, [Decision("add")] * 2, text_vectors=text_vectors(draft), text_model="e5 1")
    assert [s.text for s in memory.memories(kind="semantic")] == [drafted[1].text]
    assert memory.clip("s1.c0").state == "done" and memory.integrity() == [] and findings(memory, gone) == ()


def test_clothes_and_gestures_go_with_the_person_seen_in_them(memory: Memory) -> None:
    mine = set(memory.person("1").faces)
    face = next(t for t in memory.perceived("s1.c0").faces if memory.bindings(t.id)[-1].node in mine)
    with memory.writing() as db:
        for label in ("red clothing", "raised hand", "cup"):
            rows.insert_object(db, ObjectSeen("s1.c0", face.start, face.end, label, 0.9, (0.0, 0.0, 9.0, 9.0)), 1)
    memory.forget("1", "forget", narrower)
    left = {o.label for o in memory.perceived("s1.c0").objects}
    assert "cup" in left and not left & {"red clothing", "raised hand"}


def test_what_is_told_of_bodies_without_a_face_goes_with_whom_it_may_be_of(memory: Memory) -> None:
    clip = next(iter(memory.next_clips("s1")))
    perceived, draft = seen(clip, (1, 2))
    one, two = perceived.faces
    at, until = max(one.end, two.end) + 1, clip.end
    body = [ObjectSeen(clip.id, at, until, x, 0.9, (0.0, 0.0, 9.0, 9.0)) for x in ("person", "red clothing", "going out left")]
    worn = ObjectSeen(clip.id, two.start, two.end, "blue clothing", 0.9, (0.0, 0.0, 9.0, 9.0))
    told = [
        Sentence("A person in red is in view.", "episodic", at, until, entities=("person",), event="object"),
        Sentence("A person in red leaves.", "episodic", at, until, event="leaves"),
        Sentence("In view: a cup.", "episodic", at, until, entities=("cup",), event="object"),
    ]
    whole = replace(draft, sentences=(*draft.sentences, *told))
    memory.commit_episodic(clip, replace(perceived, objects=(*body, worn)), whole, models=MODELS)
    before = {s.text for s in memory.memories(clip=clip.id)}
    assert {s.text for s in told} <= before
    owner = next(b.node for b in memory.bindings(one.id))
    person = next(p for p in memory.people() if owner in p.faces)
    memory.forget(person.id, "forget", narrower)
    left = {s.text for s in memory.memories(clip=clip.id)}
    assert "In view: a cup." in left and not left & {s.text for s in told[:2]}
    labels = {o.label for o in memory.perceived(clip.id).objects}
    assert labels == {"person", "blue clothing"} and memory.integrity() == []


def test_what_bodies_wear_and_do_in_clips_with_whom_was_forgotten_is_not_stored_again(memory: Memory) -> None:
    memory.forget("1", "forget", narrower)
    memory.remove_source("s1")
    again = memory.add_source(source())
    memory.plan_clips(again.id, clips(again.id), fps=5.0)
    clip = memory.next_clips(again.id)[0]
    perceived, _ = seen(clip, (1, 2))
    one, two = perceived.faces
    at = max(one.end, two.end) + 1
    body = [ObjectSeen(clip.id, at, clip.end, x, 0.9, (0.0, 0.0, 9.0, 9.0)) for x in ("person", "red clothing", "going out left")]
    worn = ObjectSeen(clip.id, two.start, two.end, "blue clothing", 0.9, (0.0, 0.0, 9.0, 9.0))
    kept = memory.prepare(clip, replace(perceived, objects=(*body, worn)), {}, 6).perceived
    assert [t.id for t in kept.faces] == [two.id] and [o.label for o in kept.objects] == ["person", "blue clothing"]


def test_a_forgetting_and_what_it_scrubbed_can_not_be_taken_back(memory: Memory) -> None:
    memory.correct("name", {"person": "1", "name": "Grace Hopper"})
    memory.correct("name", {"person": "2", "name": "Bob"})
    memory.forget("Grace Hopper", "forget", narrower)
    for step in (1, 3):
        with pytest.raises(CorrectionError, match="can't be taken back"):
            memory.revert(step)
    assert memory.revert(2).step == 4


def test_the_proof_finds_what_would_be_left(memory: Memory) -> None:
    memory.correct("name", {"person": "1", "name": "Grace Hopper"})
    gone = memory.forget("1", "forget", narrower)
    memory.add_chat({"question": "Where is grace hopper?", "answer": ""})
    (memory.folder / "note.txt").write_text("Grace Hopper was here", "utf-8")
    found = findings(memory, gone)
    assert "table chat, body: their name" in found
    assert "file note.txt: their name" in found


def test_a_short_name_in_the_noise_of_a_picture_is_no_finding_and_in_words_it_is(memory: Memory) -> None:
    memory.correct("name", {"person": "1", "name": "Ann"})
    gone = memory.forget("1", "forget", narrower)
    noise = np.random.default_rng(1).integers(128, 192, 500, dtype=np.uint8).tobytes()  # three bytes are in any 10 MB of pictures
    (memory.folder / "media" / "ab").mkdir(exist_ok=True)
    (memory.folder / "media" / "ab" / "noise.jpg").write_bytes(noise + b"\0Ann\0" + noise)
    assert findings(memory, gone) == ()
    (memory.folder / "page").write_bytes(noise + "und Ann fährt morgen mit".encode() + noise)
    (memory.folder / "row").write_bytes(noise + b"s1.c0.u12Ann0.75heard" + noise)
    (memory.folder / "short.txt").write_bytes(b"Ann!")
    assert findings(memory, gone) == tuple(f"file {name}: their name" for name in ("page", "row", "short.txt"))


def test_what_a_user_called_a_file_is_no_finding(memory: Memory) -> None:
    film = "/films/Grace Hopper.mp4"
    memory.set_source("s1", uri=film, state="partial", error=f"{film} is not there any more: put Grace Hopper.mp4 back.")
    memory.correct("name", {"person": "1", "name": "Grace Hopper"})
    gone = memory.forget("1", "forget", narrower)
    assert findings(memory, gone) == ()
    memory.set_source("s1", state="partial", error=f"{film} shows Grace Hopper.")
    assert findings(memory, gone)[0] == "table source, error: their name"


def test_others_keep_their_evidence_and_their_sentences(memory: Memory) -> None:
    before = [s.shown for s in memory.memories() if s.people == ("person_2",)]
    memory.forget("1", "forget", narrower)
    assert [s.shown for s in memory.memories() if s.people == ("person_2",)] == before
    assert [r.person for r in memory.speech("s1")] == ["person_2", "person_5"]


def test_a_name_that_others_say_is_blotted_out_and_offsets_stay_true(memory: Memory) -> None:
    memory.correct("name", {"person": "1", "name": "tea"})
    gone = memory.forget("1", "forget", narrower)
    assert [r.utterance.text for r in memory.speech("s1")] == ["We drink <person_9> ███."] * 2
    assert all(s.quoted for s in memory.memories() if "███" in s.shown)
    assert findings(memory, gone) == ()


def test_text_on_screen_that_names_them_is_blotted_out(memory: Memory) -> None:
    memory.correct("name", {"person": "1", "name": "Ann"})
    memory.forget("1", "forget", narrower)
    assert {t.text for t in memory.texts("s1")} == {"Host ███"}


def test_a_crop_of_somebody_beside_them_is_cut_narrower(memory: Memory) -> None:
    clip = memory.next_clips("s1")[0]
    perceived, draft = seen(clip, (1, 2))
    first, second = perceived.faces
    near = replace(second, start=first.start, end=first.end, boxes=tuple(replace(b, x=b.x + 30) for b in first.boxes))
    memory.commit_episodic(clip, replace(perceived, faces=(first, near)), draft, models=MODELS, at=AT)
    wide = near.crops[0]
    gone = memory.forget("1", "forget", narrower)
    crops = [r.track.crops for r in memory.tracks("s1", clip.start)]
    content = memory.media(crops[0][0])
    assert content is not None and content.startswith(b"narrow ") and memory.media(wide) is None
    assert crops == [(media_id(content, ".jpg"),)] and findings(memory, gone) == ()


def test_the_pictures_of_clips_that_show_them_go_too(memory: Memory) -> None:
    remember(memory, memory.next_clips("s1")[0], (2,))
    memory.forget("1", "forget", narrower)
    assert [memory.thumbnail(f"s1.c{i}") is None for i in range(3)] == [True, True, False]


def test_steps_that_touch_them_are_scrubbed_and_can_not_be_undone(memory: Memory) -> None:
    memory.correct("name", {"person": "2", "name": "Carol"})
    memory.correct("exclude", {"observation": "s1.c1.f0", "person": "1"}, why="that is not Grace")
    memory.correct("name", {"person": "1", "name": "Grace"})
    memory.correct("merge", {"keep": "1", "others": ["5"]})
    memory.undo()
    gone = memory.forget("1", "forget", narrower)
    texts = [s.text for s in memory.journal()]
    assert texts[0].startswith("names Person 2 “Carol”") and all(t.startswith("scrubbed") for t in texts[1:4])
    assert [s.why for s in memory.journal()] == [None] * 5
    assert not memory.can_redo()
    assert findings(memory, gone) == ()
    # What the user said is not them stays somebody else's.
    assert memory.tracks("s1", 30_000_000)[0].person not in (None, "person_1")
    memory.undo()  # the only step left that can be: Carol's name
    assert not memory.can_undo() and memory.integrity() == []


def test_memorizing_again_stores_nothing_where_they_were(memory: Memory) -> None:
    memory.forget("1", "forget", narrower)
    memory.remove_source("s1")
    again = memory.add_source(source())
    memory.plan_clips(again.id, clips(again.id), fps=5.0)
    for clip, people in zip(memory.next_clips(again.id)[:2], [(1, 2), (1, 3)], strict=True):
        remember(memory, clip, people)
    assert [r.track.id for r in memory.tracks(again.id)] == ["s2.c0.f1", "s2.c1.f1"]
    assert memory.thumbnail("s2.c0") is None
    assert not any(s.people == () for s in memory.memories() if "appears" in s.shown)
    assert memory.integrity() == []


def test_who_was_only_forgotten_may_reappear_and_who_is_never_wanted_does_not(memory: Memory, tmp_path: Path) -> None:
    memory.forget("1", "forget", narrower)
    clip = memory.next_clips("s1")[0]
    remember(memory, clip, (1, 2))
    assert len(memory.tracks("s1", clip.start)) == 2
    with Memory.create(tmp_path / "n.m3desk") as other:
        kept = other.add_source(source("b"))
        other.plan_clips(kept.id, clips(kept.id), fps=5.0)
        first, second, _ = other.next_clips("s1")
        remember(other, first, (1, 2))
        assert findings(other, other.forget("1", "never", narrower)) == ()
        remember(other, second, (1, 2))
        assert [r.track.id for r in other.tracks("s1", second.start)] == ["s1.c1.f1"]
        assert [r.utterance.id for r in other.speech("s1", second.start)] == ["s1.c1.u1"]
        assert other.integrity() == []


def test_forgetting_spans_takes_everybody_else_there_along(memory: Memory) -> None:
    memory.forget("2", "spans", narrower)
    assert [r.track.id for r in memory.tracks("s1")] == ["s1.c0.f0", "s1.c1.f0", "s1.c1.f1"]  # of clip 0, only who was not there then
    assert memory.objects("s1", 0, 1) == [] and memory.integrity() == []


def test_forgetting_one_of_two_merged_people_forgets_both_and_aliases_too(memory: Memory) -> None:
    memory.correct("name", {"person": "2", "name": "Carol"})
    memory.correct("name", {"person": "1", "name": "Grace"})
    memory.correct("merge", {"keep": "1", "others": ["2"]})
    gone = memory.forget("Carol", "forget", narrower)
    assert gone.known.names == ["Grace", "Carol", "Ann"] and findings(memory, gone) == ()
    assert [p.id for p in memory.people()] == ["person_5"]


def test_a_dry_run_changes_nothing(memory: Memory) -> None:
    before = memory.version()
    plan = memory.may_forget("1", "never")
    assert "template" in plan.effect.text and plan.sources == ("/videos/a.mp4",)
    assert memory.version() == before and len(memory.people()) == 3


def test_a_forgotten_face_is_distinguished_from_similar_faces_that_stay(memory: Memory) -> None:
    memory.correct("exclude", {"observation": "s1.c1.f0", "person": "1"})
    gone = memory.forget("1", "forget", narrower)
    alike = memory.prove_forgotten(gone.known)[1]
    assert [o for o, _ in alike] == ["s1.c1.f0"] and alike[0][1] > 0.9


def test_a_name_is_found_whole_in_any_case_and_its_parts_with_a_capital() -> None:
    pattern = mention(["Jeff Steen", "爱丽丝"])
    assert pattern is not None
    assert [bool(pattern.search(t)) for t in ("JEFF STEEN", "hi Jeff!", "jeff", "Jefferson", "Steens", "我叫爱丽丝。")] == [
        True, True, False, False, False, True,
    ]  # fmt: skip


def test_vectors_of_the_forgotten_are_gone_and_others_stay(memory: Memory) -> None:
    memory.forget("1", "forget", narrower)
    ids, matrix = memory.vectors("face")
    assert set(ids) == {"s1.c0.f1", "s1.c1.f1"} and len(matrix) == 6
    assert memory.lacking_vectors("e5 1") == [] and text_vectors(seen(clips("s1")[0], (2,))[1]).dtype == np.float32


def test_what_they_were_taught_from_goes_too_with_its_path(memory: Memory) -> None:
    memory.correct("enroll", {"name": "Grace Hopper"}, lessons=[photo(1, "grace-hopper.jpg")])
    memory.correct("split-at", {"observation": "s1.c0.u0", "at": 3_000_000})
    gone = memory.forget("Grace Hopper", "forget", narrower)
    assert findings(memory, gone) == () and memory.integrity() == []
    assert memory.enrolments() == [] and not gone.sources[1:]
    assert b"hopper" not in (memory.folder / "memory.sqlite").read_bytes().lower()
    assert [r.utterance.id for r in memory.speech("s1")] == ["s1.c0.u1", "s1.c1.u1"]
