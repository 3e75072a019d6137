"""Bookmarks: steps of the journal, so that they are undone, exported and forgotten as all steps are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from m3desk.errors import CorrectionError, MemoryTooNew
from m3desk.interop import exports, imports
from m3desk.store import schema
from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, source
from tests.store.test_forgetting import narrower

S = 1_000_000


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.create(tmp_path / "m.m3desk") as made:
        kept = made.add_source(source())
        made.plan_clips(kept.id, clips(kept.id), fps=5.0)
        remember(made, made.next_clips("s1")[0], (1,))
        yield made


def mark(memory: Memory, start: int, end: int | None = None, text: str = "") -> str:
    at = {"start": start * S} | ({} if end is None else {"end": end * S})
    step = memory.correct("bookmark", {"source": "s1", "text": text, **at}).step
    return f"bookmark_{step}"


def told(memory: Memory) -> list[tuple[str, int, int, str]]:
    return [(b.id, b.start // S, b.end // S, b.note) for b in memory.bookmarks()]


def test_bookmarks_are_moments_and_spans_in_order_of_time(memory: Memory) -> None:
    later, first = mark(memory, 40, 44, "the  vase\nfalls"), mark(memory, 7)
    assert told(memory) == [(first, 7, 7, ""), (later, 40, 44, "the vase falls")]
    assert [s.text for s in memory.journal()] == ["adds a bookmark at 00:40: “the vase falls”", "adds a bookmark at 00:07"]
    assert memory.integrity() == []


def test_a_change_and_a_removal_are_steps_of_their_own_and_each_is_undone(memory: Memory) -> None:
    one = mark(memory, 7, text="a")
    memory.correct("bookmark", {"bookmark": one, "text": "b"})
    memory.correct("bookmark", {"bookmark": one.removeprefix("bookmark_"), "start": 9 * S})
    assert told(memory) == [(one, 9, 9, "b")]
    assert memory.correct("unbookmark", {"bookmark": one}).text == "removes a bookmark at 00:09"
    assert told(memory) == []
    for expected in ([(one, 9, 9, "b")], [(one, 7, 7, "b")], [(one, 7, 7, "a")], []):
        memory.undo()
        assert told(memory) == expected
    memory.redo(2)
    assert told(memory) == [(one, 7, 7, "b")]


def test_taking_back_the_step_that_added_a_bookmark_names_what_changed_it(memory: Memory) -> None:
    one = mark(memory, 7)
    memory.correct("bookmark", {"bookmark": one, "text": "b"})
    assert memory.correct("revert", {"step": 1}).text.endswith("step 2 rested on it")
    assert told(memory) == []


@pytest.mark.parametrize(
    "args",
    [
        {"source": "s1"}, {"source": "s1", "start": -1}, {"source": "s1", "start": 9 * S, "end": 8 * S}, {"source": "s1", "start": 10**13},
        {"source": "s1", "start": 1.5}, {"source": "s1", "start": True}, {"source": "s1", "start": S, "text": "x" * 2001},
        {"bookmark": "7", "text": "x"}, {"source": ["s1"], "start": S},
    ],
)  # fmt: skip
def test_a_bookmark_that_means_nothing_is_refused(memory: Memory, args: dict) -> None:
    with pytest.raises(CorrectionError):
        memory.correct("bookmark", args)
    assert memory.journal() == []


def test_what_a_live_source_has_recorded_since_its_last_closed_clip_is_marked(memory: Memory) -> None:
    memory.set_source("s1", state="live")
    beyond = (memory.source("s1").duration or 0) // S + 20
    live = mark(memory, beyond)
    assert told(memory) == [(live, beyond, beyond, "")] and memory.integrity() == []


def test_the_same_bookmark_is_not_added_twice(memory: Memory) -> None:
    mark(memory, 7)
    with pytest.raises(CorrectionError, match="already"):
        mark(memory, 7)
    mark(memory, 7, text="another note")


def test_bookmarks_come_through_an_export_and_a_rebuild_of_the_source(memory: Memory, tmp_path: Path) -> None:
    one = mark(memory, 7, text="the vase")
    memory.correct("unbookmark", {"bookmark": mark(memory, 8)})
    exports.export(memory, tmp_path / "x.json")
    document = json.loads((tmp_path / "x.json").read_text("utf-8"))
    assert [(b["id"], b["start"], b["note"]) for b in document["bookmarks"]] == [(one, 7.0, "the vase")]
    with Memory.create(tmp_path / "copy.m3desk") as copy:
        imports.write(imports.load(tmp_path / "x.json"), copy)
        assert copy.bookmarks() == memory.bookmarks() and copy.integrity() == []
    memory.remove_source("s1")
    assert [b.source for b in memory.bookmarks()] == [None]
    assert memory.add_source(replace(source(), uri="/elsewhere.mp4")).id == "s2"
    assert [(b.source, b.start, b.note) for b in memory.bookmarks()] == [("s2", 7 * S, "the vase")]


def test_what_was_bookmarked_on_a_date_is_read_as_of_it(memory: Memory) -> None:
    mark(memory, 7)
    then = memory.journal()[0].at
    mark(memory, 9)
    with Memory.open(memory.folder, believed_at=then) as past:
        assert [b.start for b in past.bookmarks()] == [7 * S]


def test_forgetting_a_span_takes_its_bookmarks_away_with_every_word_they_ever_had(memory: Memory) -> None:
    secret = "the long secret of the blue vase"
    moved = mark(memory, 3, text=secret)
    memory.correct("bookmark", {"bookmark": moved, "start": 70 * S, "text": "harmless"})  # it was in the span once
    undone = mark(memory, 4, text="undone " + secret)
    memory.undo()
    removed = mark(memory, 5, 20, "removed " + secret)
    memory.correct("unbookmark", {"bookmark": removed})
    mark(memory, 0, 3, "reaches in")
    kept = mark(memory, 10, text="after")
    plan = memory.may_forget_span("s1", 2 * S, 10 * S)
    assert plan.counts["bookmarks"] == 2 and "2 bookmarks" in plan.text
    gone = memory.forget_span("s1", 2 * S, 10 * S)
    assert told(memory) == [(kept, 10, 10, "after")]
    assert secret not in json.dumps([(s.args, s.anchor, s.text) for s in memory.journal()])
    assert memory.prove_forgotten(gone.known)[0].findings == ()
    assert secret not in (memory.folder / "memory.sqlite").read_bytes().decode("latin-1")
    assert memory.integrity() == [] and undone


def test_a_forgotten_persons_name_is_masked_in_notes_and_their_words_go(memory: Memory) -> None:
    memory.correct("name", {"person": "1", "name": "Grace"})
    said = next(r.utterance.text for r in memory.speech("s1"))
    mark(memory, 70, text="Grace comes in")
    mark(memory, 71, text=f"quote: {said} and {said} and {said}")
    gone = memory.forget("person_1", "forget", narrower)
    assert [b.note for b in memory.bookmarks()][:1] == ["█████ comes in"]
    assert memory.prove_forgotten(gone.known)[0].findings == () and memory.integrity() == []


def test_an_older_version_refuses_a_memory_that_may_hold_bookmarks(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    mark(memory, 7)
    monkeypatch.setattr(schema, "VERSION", 9)
    with pytest.raises(MemoryTooNew):
        Memory.open(memory.folder)
