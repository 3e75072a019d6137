"""Memorizing with a fake store on one thread: what is stored, and what is not, when a step fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from m3desk import events
from m3desk.domain.memory import Draft, Sentence
from m3desk.errors import Cancelled, M3DeskError, MemoryProblem, ModelFailed, SourceChanged
from m3desk.memorization.compose import ComposedWriter
from m3desk.pipeline import Memorizer, RunTotals
from m3desk.ports import Models
from m3desk.store.memory import Memory
from m3desk.writer import SourcesAndClips
from tests.control.made import BagOfWords
from tests.engine.fakes import FakeBackends, FakeStore, Faulty, Film, RecordedEvents, fail
from tests.store.invented import clips, remember, source


class Run:
    """A memorizer of one source of three clips; `stop` is asked as the user's stop."""

    def __init__(self, *, clips: int = 3, writer: Any = None, **models: Any) -> None:
        self.store, self.told = FakeStore(), RecordedEvents()
        self.source = self.store.source(self.store.add("/film.mkv", clips))
        self.stopping = False
        self.memorizer = Memorizer(
            self.store, FakeBackends(**models).models(), writer or ComposedWriter(), self.told, stop=lambda: self.stopping
        )

    def go(self, film: Callable[..., Any] = Film, unchanged: Callable[[], None] = lambda: None) -> RunTotals:
        return self.memorizer.memorize(self.source, lambda clip: film(self.source, clip), total=6_000_000, unchanged=unchanged)

    def states(self) -> list[str]:
        return self.store.states("s1")


def test_a_clip_crosses_into_the_store_twice_in_clip_order() -> None:
    run = Run()
    assert replace(run.go(), seconds=0.0) == RunTotals(committed=3, covered=6.0)
    assert run.states() == ["episodic"] * 3
    assert run.store.calls == [f"{what} s1.c{i}" for i in range(3) for what in ("prepare", "commit")]


def test_a_model_that_fails_in_the_middle_costs_its_clip_alone() -> None:
    run = Run(faces=Faulty(1, fail(ModelFailed("Finding faces failed."))))
    tally = run.go()
    assert (tally.committed, tally.failed) == (2, 1)
    assert run.states() == ["episodic", "failed", "episodic"]
    assert run.store.planned["s1.c1"].error == "Finding faces failed."
    assert [(e.clip, e.state) for e in run.told.of(events.ClipCommitted)][1] == ("s1.c1", "failed")


def test_a_fault_of_the_program_is_reported_and_the_next_clip_goes_on() -> None:
    run = Run(faces=Faulty(0, fail(ZeroDivisionError("nobody thought of this"))))
    assert run.go().committed == 2
    assert run.states() == ["failed", "episodic", "episodic"]
    (notice,) = run.told.of(events.Notice)
    assert "nobody thought of this" in notice.text
    assert "ZeroDivisionError" in notice.report


def test_a_failed_clip_is_another_try_for_the_next_run() -> None:
    run = Run(faces=Faulty(1, fail(ModelFailed("Finding faces failed."))))
    run.go()
    run.store.requeue("s1", 6_000_000)
    assert run.go().committed == 1
    assert run.states() == ["episodic"] * 3


def test_a_clip_without_readable_pictures_is_skipped() -> None:
    def torn(source: Any, clip: Any) -> Film:
        return Film(source, clip, unreadable="the picture cannot be read" if clip.index == 1 else None)

    run = Run()
    assert run.go(torn).skipped == 1
    assert run.states() == ["episodic", "skipped", "episodic"]
    assert "the picture cannot be read" in (run.store.planned["s1.c1"].error or "")


def test_a_stop_in_the_middle_of_a_clip_leaves_nothing_of_it_and_the_next_run_goes_on() -> None:
    class Stopping(ComposedWriter):
        def write(self, view: Any, cancelled: Any = lambda: False) -> Draft:
            run.stopping = view.clip.index == 1
            return super().write(view)

    run = Run(writer=Stopping())
    with pytest.raises(Cancelled):
        run.go()
    assert run.states() == ["episodic", "queued", "queued"]
    assert "commit s1.c1" not in run.store.calls
    run.memorizer = Memorizer(run.store, FakeBackends().models(), ComposedWriter(), run.told)
    assert run.go().committed == 2
    assert run.states() == ["episodic"] * 3


def test_a_full_disk_ends_the_run_and_loses_nothing() -> None:
    run = Run()
    commit = run.store.commit_episodic

    def full_at_the_second(clip: Any, *args: Any, **how: Any) -> Any:
        run.store.full = clip.index == 1
        return commit(clip, *args, **how)

    run.store.commit_episodic = full_at_the_second  # type: ignore[method-assign]
    with pytest.raises(MemoryProblem, match="full"):
        run.go()
    assert run.states() == ["episodic", "queued", "queued"]
    run.store.full = False
    run.store.commit_episodic = commit  # type: ignore[method-assign]
    assert run.go().committed == 2


def test_that_the_file_is_another_is_told_even_where_a_model_failed_of_it() -> None:
    run = Run(faces=Faulty(0, fail(ModelFailed("Finding faces failed."))))
    with pytest.raises(SourceChanged):
        run.go(unchanged=fail(SourceChanged("the file was replaced.")))
    assert run.states() == ["queued"] * 3


def test_a_file_that_changed_while_it_was_read_is_not_committed() -> None:
    run = Run()
    with pytest.raises(SourceChanged):
        run.go(unchanged=fail(SourceChanged("the file was replaced.")))
    assert run.states() == ["queued"] * 3
    assert run.store.calls == []


def test_a_writer_that_fails_costs_its_clip_alone() -> None:
    class Unreadable(ComposedWriter):
        def write(self, view: Any, cancelled: Any = lambda: False) -> Draft:
            if view.clip.index == 2:
                raise ModelFailed("the reply can't be read.")
            return super().write(view)

    run = Run(writer=Unreadable())
    run.go()
    assert run.states() == ["episodic", "episodic", "failed"]


# ---------------------------------------------------------------- conclusions


class Thinker:
    """Concludes one sentence a clip; `then` is called with the number of the call, before it answers."""

    name = "thinker 1"

    def __init__(self, then: Callable[[int], object] = lambda _n: None) -> None:
        self.asked = 0
        self._then = then

    def conclude(self, sentences: Sequence[Any], *, known: Any = (), language: Any = None, cancelled: Any = lambda: False) -> Draft:
        self.asked += 1
        self._then(self.asked)
        if cancelled():
            raise Cancelled("stopped.")
        return Draft((Sentence(f"of {sentences[0].clip}", "semantic", 0, 1),), model=self.name)


@pytest.fixture
def remembered() -> Run:
    run = Run()
    run.go()
    return run


def test_every_clip_gets_its_knowledge_in_order(remembered: Run) -> None:
    assert remembered.memorizer.conclude(Thinker()) == 3
    assert remembered.store.concluded == {f"s1.c{i}": [f"of s1.c{i}"] for i in range(3)}


def test_a_clip_whose_knowledge_fails_is_tried_again_and_later_ones_wait(remembered: Run) -> None:
    broken = Thinker(lambda n: fail(ModelFailed("no reply."))() if n == 2 else None)
    assert remembered.memorizer.conclude(broken) == 1
    assert remembered.states() == ["done", "episodic", "episodic"]
    assert remembered.memorizer.conclude(Thinker()) == 2
    assert remembered.states() == ["done"] * 3


def test_a_pause_interrupts_the_model_and_the_clip_is_begun_anew(remembered: Run) -> None:
    paused: list[bool] = []
    thinker = Thinker(lambda n: paused.append(True) if n == 2 else None)
    assert remembered.memorizer.conclude(thinker, flagged=lambda: bool(paused) and paused.pop()) == 3
    assert thinker.asked == 4
    assert remembered.states() == ["done"] * 3


def test_a_stop_interrupts_the_model_and_what_was_concluded_stays(remembered: Run) -> None:
    def stop(n: int) -> None:
        remembered.stopping = n == 2

    with pytest.raises(Cancelled):
        remembered.memorizer.conclude(Thinker(stop), flagged=lambda: remembered.stopping)
    assert remembered.states() == ["done", "episodic", "episodic"]
    remembered.stopping = False
    assert remembered.memorizer.conclude(Thinker()) == 2


def test_what_is_to_be_seen_comes_before_what_is_to_be_concluded(remembered: Run) -> None:
    thinker = Thinker()
    assert remembered.memorizer.conclude(thinker, enough=lambda _count: thinker.asked == 1) == 1
    assert remembered.states() == ["done", "episodic", "episodic"]


class Thinkers(Thinker):
    """Thinks about three clips at the same time, and is the sooner ready the later it was asked; `seen`: sentences as it was given them."""

    at_once = 3

    def __init__(self, fails: str = "", then: Callable[[str], object] = lambda _clip: None) -> None:
        super().__init__()
        self.lock, self.now, self.most, self.seen = threading.Lock(), 0, 0, [("", "")]
        self.fails, self.then = fails, then

    def conclude(self, sentences: Sequence[Any], *, known: Any = (), language: Any = None, cancelled: Any = lambda: False) -> Draft:
        clip = sentences[0].clip
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.seen.append((clip, sentences[0].text))
        try:
            self.then(clip)
            time.sleep(0.05 * (3 - int(clip[-1]) % 3))
            if cancelled():
                raise Cancelled("stopped.")
            if clip == self.fails:
                raise ModelFailed("no reply.")
            return Draft((Sentence(f"of {clip}: {sentences[0].text}", "semantic", 0, 1),), model=self.name)
        finally:
            with self.lock:
                self.now -= 1


def test_a_model_that_can_is_asked_about_several_clips_and_they_are_done_in_order() -> None:
    run = Run(clips=7)
    run.go()
    together = threading.Barrier(3)
    thinker = Thinkers(then=lambda clip: together.wait(30) if int(clip[-1]) < 3 else None)
    assert run.memorizer.conclude(thinker) == 7 and thinker.most == 3
    assert [c for c in run.store.calls if c.startswith("conclude")] == [f"conclude s1.c{i}" for i in range(7)]
    told = [e for e in run.told.of(events.Progress) if e.stage == "knowledge"]
    assert [e.clip for e in told] == [f"s1.c{i}" for i in range(7)] and all(e.total == 7 for e in told)
    assert told[0].done == 0 and [e.done for e in told] == sorted(e.done for e in told)


def test_of_several_clips_those_behind_one_that_fails_wait() -> None:
    run = Run(clips=7)
    run.go()
    assert run.memorizer.conclude(Thinkers(fails="s1.c2")) == 2
    assert run.states() == ["done"] * 2 + ["episodic"] * 5
    assert run.memorizer.conclude(Thinkers()) == 5


def test_a_clip_that_changed_while_those_before_it_were_done_is_thought_about_again() -> None:
    run = Run(clips=4)
    run.go()

    def corrected(clip: str) -> None:
        if clip == "s1.c0" and thinker.now:
            while not any(c == "s1.c2" for c, _ in thinker.seen):
                time.sleep(0.01)
            draft = run.store.drafts["s1.c2"]
            run.store.drafts["s1.c2"] = replace(draft, sentences=(replace(draft.sentences[0], text="Put right."), *draft.sentences[1:]))

    thinker = Thinkers(then=corrected)
    assert run.memorizer.conclude(thinker) == 4
    assert run.store.concluded["s1.c2"] == ["of s1.c2: Put right."] and len(thinker.seen) == 1 + 5


def test_a_stop_ends_all_that_think() -> None:
    run = Run(clips=7)
    run.go()

    def stop(clip: str) -> None:
        run.stopping |= clip == "s1.c4"

    thinker = Thinkers(then=stop)
    with pytest.raises(Cancelled):
        run.memorizer.conclude(thinker, flagged=lambda: run.stopping)
    assert thinker.now == 0 and run.states()[3:] == ["episodic"] * 4


def test_one_clip_is_enough_between_two_of_a_live_source() -> None:
    run = Run(clips=7)
    run.go()
    thinker = Thinkers()
    assert run.memorizer.conclude(thinker, enough=lambda count: count > 0) == 1 and len(thinker.seen) == 1 + 1


def test_without_a_text_model_every_conclusion_is_added() -> None:
    run = Run(text_vectors=None)
    run.go()
    assert run.memorizer.conclude(Thinker()) == 3
    assert not [c for c in run.store.calls if c.startswith("candidates")]


def test_an_error_that_the_user_can_mend_ends_the_run() -> None:
    run = Run(faces=Faulty(1, fail(M3DeskError("choose another model."))))
    with pytest.raises(M3DeskError, match="choose another"):
        run.go()
    assert run.states() == ["episodic", "queued", "queued"]


def test_the_semantic_memories_of_a_clip_take_two_calls_on_the_writers_thread(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m.m3desk") as memory:
        memory.plan_clips(memory.add_source(source()).id, clips("s1"), fps=5.0)
        for people in ((1, 2), (1, 3)):
            remember(memory, memory.next_clips("s1")[0], people)
        calls: list[Any] = []

        def write(change: Any) -> Any:
            calls.append(change)
            return change(memory)

        memorizer = Memorizer(SourcesAndClips(write), Models(text_vectors=BagOfWords()), ComposedWriter(), lambda _event: None)
        assert memorizer.conclude(Thinker()) == 2
        assert len(calls) == 1 + 2 * 2, "which clips; then what a clip's are drawn from, and their commit"
        assert [c.state for c in memory.clips("s1")][:2] == ["done", "done"] and memory.memories(kind="semantic")
