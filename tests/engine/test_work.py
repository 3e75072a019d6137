"""The queue of sources with a fake store: what waits, what is memorized, and what the user may do meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from m3desk import events
from m3desk.config import Settings
from m3desk.domain.memory import Draft
from m3desk.errors import Cancelled, MemoryProblem, ModelFailed, ModelMissing, SourceChanged, SourceMissing, UsageError
from m3desk.media import cutter
from m3desk.work import Work
from tests.engine.fakes import FakeBackends, FakeStore, Faulty, Film, RecordedEvents, fail

PATIENCE = 20.0


class Desk:
    """Work on files of a folder; `source` puts one in, of some clips."""

    def __init__(self, folder: Path, **models: Any) -> None:
        self.folder, self.store, self.told = folder, FakeStore(), RecordedEvents()
        self.backends = FakeBackends(**models)
        self.work = Work(self.store, self.backends, Settings.defaults(), self.told)  # type: ignore[arg-type]

    def source(self, name: str, clips: int = 2, *, state: Any = "queued") -> str:
        file = self.folder / f"{name}.mkv"
        file.write_bytes(name.encode())
        id_ = self.store.add(str(file), clips, state=state)
        self.store.known[id_] = replace(self.store.known[id_], sha256=name)  # a file's content is its name here
        self.work.queue.put(id_)
        return id_

    def file(self, source: str) -> Path:
        return Path(self.store.known[source].uri)

    def state(self, source: str) -> str:
        return self.store.known[source].state

    def in_a_thread(self, do: Callable[[], Any]) -> threading.Thread:
        thread = threading.Thread(target=do, daemon=True)
        thread.start()
        return thread


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(cutter, "FileClip", Film)
    monkeypatch.setattr("m3desk.media.unchanged.fingerprint", lambda path, _cancelled: Path(path).read_text())
    return Desk(tmp_path)


def with_faces(desk: Desk, detector: Any) -> None:
    desk.backends.all["faces"] = detector


def test_sources_are_memorized_in_the_order_of_the_queue(desk: Desk) -> None:
    first, second, third = (desk.source(name, 1) for name in "abc")
    desk.work.queue.put(third, 0)
    assert desk.work.run().committed == 3
    assert [e.source for e in desk.told.of(events.SourceChanged) if e.state == "working"] == [third, first, second]
    assert {desk.state(s) for s in (first, second, third)} == {"done"}


def test_a_source_that_lost_clips_is_partial_and_one_that_lost_all_has_failed(desk: Desk) -> None:
    some, all_ = desk.source("some", 3), desk.source("all", 1)
    with_faces(desk, Faulty(1, fail(ModelFailed("Finding faces failed."))))
    desk.work.queue.drop(all_)
    desk.work.run()
    assert (desk.state(some), desk.store.states(some)) == ("partial", ["episodic", "failed", "episodic"])
    with_faces(desk, Faulty(0, fail(ModelFailed("Finding faces failed."))))
    desk.work.queue.put(all_)
    desk.work.run()
    assert desk.state(all_) == "failed"


def test_retry_gives_failed_clips_another_try(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("m3desk.media.file.readable_until", lambda _path, length: length)
    source = desk.source("a", 2)
    with_faces(desk, Faulty(0, fail(ModelFailed("Finding faces failed."))))
    desk.work.run()
    assert desk.state(source) == "partial"
    desk.work.retry(source)
    assert desk.state(source) == "queued"
    assert desk.work.run().committed == 1
    assert desk.state(source) == "done"


def test_a_cancelled_source_keeps_what_was_committed_and_the_next_goes_on(desk: Desk) -> None:
    first, second = desk.source("a", 3), desk.source("b", 1)
    prepare = desk.store.prepare

    def cancelling(clip: Any, *given: Any) -> Any:
        if clip.id == f"{first}.c1":
            desk.work.cancel(first)
        return prepare(clip, *given)

    desk.store.prepare = cancelling  # type: ignore[method-assign]
    desk.work.run()
    assert (desk.state(first), desk.store.states(first)) == ("cancelled", ["episodic", "queued", "queued"])
    assert desk.state(second) == "done"


def test_a_pause_holds_the_work_where_it_is(desk: Desk) -> None:
    source = desk.source("a", 3)
    reached = threading.Event()
    prepare = desk.store.prepare

    def pausing(clip: Any, *given: Any) -> Any:
        if clip.index == 1:
            desk.work.pause(True)
            reached.set()
        return prepare(clip, *given)

    desk.store.prepare = pausing  # type: ignore[method-assign]
    running = desk.in_a_thread(desk.work.run)
    assert reached.wait(PATIENCE)
    running.join(0.7)
    assert running.is_alive()
    assert desk.store.states(source) == ["episodic", "queued", "queued"]
    desk.work.pause(False)
    running.join(PATIENCE)
    assert desk.store.states(source) == ["episodic"] * 3


def test_a_stop_ends_a_paused_run_and_the_source_waits_for_the_next(desk: Desk) -> None:
    source = desk.source("a", 2)
    ended: list[BaseException] = []

    def run() -> None:
        try:
            desk.work.run()
        except Cancelled as error:
            ended.append(error)

    desk.work.pause(True)
    running = desk.in_a_thread(run)
    running.join(0.2)
    desk.work.stop()
    running.join(PATIENCE)
    assert len(ended) == 1
    assert desk.state(source) == "queued"
    assert desk.store.states(source) == ["queued"] * 2
    again = Work(desk.store, desk.backends, Settings.defaults(), desk.told)  # type: ignore[arg-type]
    assert again.resume() == [source]
    assert again.run().committed == 2


def test_a_file_that_vanished_fails_with_what_to_do_and_the_next_goes_on(desk: Desk) -> None:
    gone, there = desk.source("a"), desk.source("b")
    desk.file(gone).unlink()
    desk.work.run()
    assert (desk.state(gone), desk.store.states(gone)) == ("failed", ["failed"] * 2)
    assert "no longer exists" in (desk.store.known[gone].error or "")
    assert desk.told.of(events.Notice)[0].hint
    assert desk.state(there) == "done"


def test_a_file_that_vanishes_in_the_middle_keeps_what_was_committed(desk: Desk) -> None:
    source = desk.source("a", 3)
    commit = desk.store.commit_episodic

    def vanishing(clip: Any, *given: Any, **how: Any) -> Any:
        if clip.index == 0:
            desk.file(source).unlink()
        return commit(clip, *given, **how)

    desk.store.commit_episodic = vanishing  # type: ignore[method-assign]
    desk.work.run()
    assert (desk.state(source), desk.store.states(source)) == ("failed", ["episodic", "failed", "failed"])


def test_a_file_that_is_another_by_now_is_refused(desk: Desk) -> None:
    source = desk.source("a")
    desk.file(source).write_text("something else")
    desk.work.run()
    assert desk.state(source) == "failed"
    assert desk.store.states(source) == ["failed"] * 2
    with pytest.raises(SourceChanged):
        desk.work.retry(source)
    desk.file(source).unlink()
    with pytest.raises(SourceMissing):
        desk.work.retry(source)


def test_a_full_disk_ends_the_run_and_the_next_one_goes_on_where_it_was(desk: Desk) -> None:
    source = desk.source("a", 3)
    commit = desk.store.commit_episodic

    def filling(clip: Any, *given: Any, **how: Any) -> Any:
        desk.store.full = clip.index == 1
        return commit(clip, *given, **how)

    desk.store.commit_episodic = filling  # type: ignore[method-assign]
    with pytest.raises(MemoryProblem, match="full"):
        desk.work.run()
    assert desk.store.states(source) == ["episodic", "queued", "queued"]
    desk.store.full = False
    desk.store.commit_episodic = commit  # type: ignore[method-assign]
    again = Work(desk.store, desk.backends, Settings.defaults(), desk.told)  # type: ignore[arg-type]
    assert again.resume() == [source], "not even that it failed could be noted"
    assert again.run().committed == 2
    assert desk.state(source) == "done"


def test_a_model_that_is_missing_leaves_its_source_next_in_the_queue(desk: Desk) -> None:
    first, second = desk.source("a"), desk.source("b")
    desk.backends.missing["speech"] = "whisper-base is not here. m3desk models pull"
    with pytest.raises(ModelMissing):
        desk.work.run()
    assert desk.work.queue.ids() == [first, second]
    assert desk.state(first) == "queued"
    desk.backends.missing.clear()
    assert desk.work.run().committed == 4


def test_an_imported_graph_takes_a_video_of_its_length_and_no_other(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    first = desk.source("a")
    stored = desk.store.known[first]
    length = stored.duration or 0
    monkeypatch.setattr("m3desk.work.tried", lambda _path: stored)
    desk.store.known[first] = replace(stored, uri="graph.pkl.gz", sha256=None, duration=length + 20_000_000)
    desk.work.relink(first, stored.uri)
    assert desk.store.known[first].uri == stored.uri
    desk.store.known[first] = replace(stored, uri="graph.pkl.gz", sha256=None, duration=length + 40_000_000)
    with pytest.raises(SourceChanged, match="covers"):
        desk.work.relink(first, stored.uri)


def test_a_source_that_was_removed_while_it_waited_is_passed_over(desk: Desk) -> None:
    first, second = desk.source("a"), desk.source("b")
    desk.store.remove_source(first, dry_run=False)
    assert desk.work.run().committed == 2
    assert desk.state(second) == "done"


@pytest.mark.parametrize("moment", ["prepare", "commit_episodic"])
def test_a_source_that_is_removed_in_the_middle_of_a_clip_leaves_the_rest_of_the_queue_going(desk: Desk, moment: str) -> None:
    first, second = desk.source("a"), desk.source("b")
    real = getattr(desk.store, moment)

    def removing(clip: Any, *given: Any, **how: Any) -> Any:
        if clip.source == first:
            desk.work.remove(first)
            raise UsageError(f"there is no clip {clip.id}.")  # as a memory says
        return real(clip, *given, **how)

    setattr(desk.store, moment, removing)
    assert desk.work.run().committed == 2
    assert desk.state(second) == "done"
    assert not desk.told.of(events.Notice)


def test_a_source_that_is_queued_again_is_worked_on_once(desk: Desk) -> None:
    source = desk.source("a", 1)
    desk.work.queue.put(source)
    desk.work.run()
    assert desk.store.calls.count(f"commit {source}.c0") == 1


def test_conclusions_wait_when_a_source_is_queued_meanwhile(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    source = desk.source("a", 3)
    desk.work.run()

    class Thinker:
        name = "thinker 1"

        def __init__(self, _language: object) -> None: ...

        def conclude(self, sentences: Any, **_how: Any) -> Any:
            if sentences[0].clip == f"{source}.c1":
                desk.source("b", 1)
            return Draft(model=self.name)

    monkeypatch.setattr("m3desk.work.LlmKnowledgeWriter", Thinker)
    desk.backends.all["language"] = object()
    assert desk.work.conclude() == 2
    assert desk.store.states(source) == ["done", "done", "episodic"]
    desk.work.run()
    assert desk.work.conclude() == 2
    assert desk.store.states(source) == ["done"] * 3


def test_without_a_language_model_only_knowledge_by_rule_is_written_and_the_clip_waits_for_the_rest(desk: Desk) -> None:
    source = desk.source("a", 2)
    desk.work.run()
    assert desk.work.conclude() == 0
    assert desk.store.states(source) == ["episodic"] * 2 and set(desk.store.ruled) == {f"{source}.c0", f"{source}.c1"}
    assert desk.store.concluded == {} and desk.store.to_rule() == []
