"""The ledger: the state is extended by new rows, and restored when a write is rolled back."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from m3desk.errors import CorrectionError
from m3desk.store.memory import Memory
from tests.store.invented import MODELS, clips, remember, source
from tests.store.random_corrections import state_tables, unlike_galleries


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.create(tmp_path / "m.m3desk") as made:
        made.set_setting("imported_without_media", "1")
        made.plan_clips(made.add_source(source(seconds=180)).id, clips("s1", 6), fps=5.0)
        for people in ((1, 2), (1, 3), (2, 3)):
            remember(made, made.next_clips("s1")[0], people)
        yield made


def test_clips_and_corrections_and_their_undo_never_compute_the_state_as_a_whole(memory: Memory) -> None:
    memory._ledger.counts.clear()
    memory.correct("name", {"person": "1", "name": "Ann"})
    memory.correct("merge", {"keep": "Ann", "others": ["2"]})
    remember(memory, memory.next_clips("s1")[0], (1, 2, 3))
    memory.correct("split-at", {"observation": "s1.c0.u0", "at": 3_000_000})
    memory.undo(2)
    memory.redo()
    remember(memory, memory.next_clips("s1")[0], (1, 4))
    state_tables(memory)
    assert memory._ledger.counts["whole"] == 0 and memory._ledger.counts["extended"] >= 7


def test_a_rehearsed_and_a_refused_correction_leave_the_state_as_it_was(memory: Memory) -> None:
    before = state_tables(memory)
    steps, held = list(memory.log().steps), dict(memory.state().who.held)
    memory.correct("split", {"person": "1", "observations": ["s1.c0.f0"], "name": "Bob"}, dry_run=True)
    assert memory.log().steps == steps and memory.state().who.held == held and state_tables(memory) == before
    with pytest.raises(CorrectionError):
        memory.correct("merge", {"keep": "1", "others": ["1"]})
    assert state_tables(memory) == before and memory._ledger.counts["whole"] == 1


def test_a_write_that_fails_leaves_the_state_as_it_was(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    before = state_tables(memory)
    monkeypatch.setattr("m3desk.store.derived.write_changes", lambda *_: (_ for _ in ()).throw(RuntimeError("a fault")))
    with pytest.raises(RuntimeError):
        remember(memory, memory.next_clips("s1")[0], (1, 2))
    monkeypatch.undo()
    assert state_tables(memory) == before
    remember(memory, memory.next_clips("s1")[0], (1, 2))
    state_tables(memory)


def test_a_write_that_fails_after_the_whole_log_was_read_anew_leaves_the_galleries_as_they_were(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.correct("name", {"person": "1", "name": "Ann"})
    memory.remove_source("s1")
    memory.plan_clips(memory.add_source(source()).id, clips("s2"), fps=5.0)  # the same file: what the correction names is found again
    monkeypatch.setattr("m3desk.store.derived.write", lambda *_: (_ for _ in ()).throw(OSError("a full disk")))
    with pytest.raises(OSError, match="a full disk"):
        remember(memory, memory.next_clips("s2")[0], (1, 2))
    monkeypatch.undo()
    assert list(unlike_galleries(memory)) == []
    remember(memory, memory.next_clips("s2")[0], (1, 2))
    assert list(unlike_galleries(memory)) == []
    state_tables(memory)


def test_kept_galleries_are_those_read_anew_after_clips_corrections_and_rehearsals(memory: Memory) -> None:
    def check() -> None:
        assert list(unlike_galleries(memory)) == [] and len(memory._ledger.galleries("face", MODELS["face_vectors"])) >= 3

    check()
    remember(memory, memory.next_clips("s1")[0], (1, 2, 3))
    check()
    memory.correct("assign", {"observations": ["s1.c0.f0", "s1.c1.u0"], "person": "3"}, dry_run=True)
    check()
    memory.correct("assign", {"observations": ["s1.c0.f0", "s1.c1.u0"], "person": "3"})
    memory.correct("set-aside", {"observation": "s1.c2.f0"})
    check()
    memory.undo(2)
    check()
    memory.remove_source("s1")
    assert memory._ledger.galleries("face", MODELS["face_vectors"]) == []


def test_the_state_that_is_computed_ahead_is_the_one_that_a_call_would_compute(memory: Memory) -> None:
    memory.correct("name", {"person": "1", "name": "Ann"})
    memory.close()
    with Memory.open(memory.path, write=True) as again:
        again.read_ahead()
        again.read_ahead()  # once is enough
        assert [p.name for p in again.people()][:1] == ["Ann"]  # needs no state, and waits for none
        again.set_setting("anything", "1")
        remember(again, again.next_clips("s1")[0], (1, 4))
        state_tables(again)
        assert (again._ledger.counts["ahead"], again._ledger.counts["whole"]) == (1, 0)
        again.undo()
        state_tables(again)


def test_what_cannot_be_computed_ahead_is_told_by_the_call_that_needs_it(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.close()
    with Memory.open(memory.path, write=True) as again:
        monkeypatch.setattr("m3desk.store.opening.connect", lambda *_, **__: (_ for _ in ()).throw(OSError("no")))
        again.read_ahead()
        state_tables(again)
        assert (again._ledger.counts["ahead"], again._ledger.counts["whole"]) == (0, 1)


def test_where_no_thread_can_be_started_nobody_waits_for_what_is_computed_ahead(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.close()

    class NoThread(threading.Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    with Memory.open(memory.path, write=True) as again:
        monkeypatch.setattr(threading, "Thread", NoThread)
        again.read_ahead()
        assert again._ledger._ahead is None
        remember(again, again.next_clips("s1")[0], (1, 2))
        state_tables(again)
