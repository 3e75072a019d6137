"""Forgetting a span: nothing of that time is left, what was before and after stays, and nothing is stored there again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from m3desk.domain.evidence import ObjectSeen, TextOnScreen
from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, seen, source

S = 1_000_000


@pytest.fixture
def memory(tmp_path: Path):
    """Person 1 in clip 0, person 1 and somebody else in clip 1, which is from 30 s to 60 s; clip 2 is still to come."""
    with Memory.create(tmp_path / "m.m3desk") as made:
        kept = made.add_source(source())
        made.plan_clips(kept.id, clips(kept.id), fps=5.0)
        for clip, people in zip(made.next_clips("s1")[:2], [(1,), (1, 2)], strict=True):
            remember(made, clip, people)
        yield made


def test_a_dry_run_tells_what_would_go_and_changes_nothing(memory: Memory) -> None:
    before = memory.version()
    plan = memory.may_forget_span("s1", 30 * S, 60 * S)
    assert plan.counts["clips"] == 1 and plan.counts["observations"] == 4 and len(plan.people) == 1 and plan.counts["memories"] > 0
    assert memory.version() == before and len(memory.people()) == 2


def test_nothing_of_a_span_is_left_and_the_rest_stays(memory: Memory) -> None:
    kept = {m.id for m in memory.memories() if m.clip == "s1.c0"}
    memory.add_chat({"question": "Who came?", "answer": "x", "citations": [{"source": "s1", "start": 31.0, "end": 33.0, "node": None}]})
    memory.add_chat({"question": "Before?", "answer": "y", "citations": [{"source": "s1", "start": 1.0, "end": 3.0, "node": None}]})
    gone = memory.forget_span("s1", 30 * S, 60 * S)
    assert memory.prove_forgotten(gone.known)[0].findings == ()
    assert {m.id for m in memory.memories()} == kept
    assert [p.id for p in memory.people()] == ["person_1"]
    assert [c["question"] for c in memory.chats()] == ["Before?"] and gone.counts["chats"] == 1
    assert not any(o.clip == "s1.c1" for o in memory.log().observations.values())
    assert memory.integrity() == []
    memory.forgotten(gone)
    assert memory.begun() == []


def test_the_proof_finds_what_would_be_left_of_a_span(memory: Memory) -> None:
    crop = next(t.track.crops[0] for t in memory.tracks("s1") if t.track.clip == "s1.c1")
    gone = memory.forget_span("s1", 30 * S, 60 * S)
    (memory.folder / "note.txt").write_text(f"see {crop}", "utf-8")
    assert memory.prove_forgotten(gone.known)[0].findings == ("file note.txt: the name of a picture or sound of them",)


def test_what_reaches_into_a_span_goes_whole_and_corrections_of_the_rest_stay(memory: Memory) -> None:
    memory.correct("name", {"person": "1", "name": "Ann"})
    memory.forget_span("s1", 29 * S, 31 * S)
    assert memory.person("Ann").id == "person_1"
    assert all(not (o.start < 31 * S and o.end > 29 * S) for o in memory.log().observations.values())


def test_nothing_is_stored_again_where_a_span_was_forgotten(memory: Memory) -> None:
    memory.forget_span("s1", 60 * S, 90 * S)
    assert [c.state for c in memory.clips("s1")][2] == "skipped"  # it was still queued
    memory.mark_clip("s1.c2", "queued")
    clip = memory.next_clips("s1")[0]
    perceived, _ = seen(clip, (1, 2))
    thing = ObjectSeen(clip.id, 61 * S, 62 * S, "cup", 0.9, (0.0, 0.0, 9.0, 9.0))
    text = TextOnScreen(clip.id, 61 * S, 62 * S, "SECRET", 0.9, (0.0, 0.0, 9.0, 9.0))
    kept = memory.prepare(clip, replace(perceived, objects=(thing,), texts=(text,)), {}, 0).perceived
    assert (kept.faces, kept.utterances, kept.objects, kept.texts) == ((), (), (), ())
    remember(memory, clip, (1, 2))
    assert not any(m.clip == clip.id for m in memory.memories())


def test_a_recording_that_was_partly_erased_is_still_found_by_corrections(memory: Memory) -> None:
    old = memory.source("s1").sha256
    assert old is not None
    memory.rename_content("s1", "f" * 64)
    from m3desk.store.corrections import anchors

    with memory.snapshot() as db:
        assert anchors.places(db, old) == ["s1"] and memory.source("s1").sha256 == "f" * 64
