"""A live source from its first picture to the commit of its last clip, with a recorder in this process and drawn people."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from m3desk import events
from m3desk.app import App
from m3desk.domain.clip import Clip, Source
from m3desk.domain.live import HALF_OF_PICTURES, MOST_PICTURES, OBJECTS_AND_TEXTS
from m3desk.errors import M3DeskError, UsageError
from m3desk.live import session
from m3desk.live.session import OpenClip
from m3desk.media.capture import reports
from m3desk.media.capture.planning import holding
from m3desk.media.capture.recording import Recording
from m3desk.samples import proof
from m3desk.work import Options
from tests.engine.fakes import FakeBackends, RecordedEvents
from tests.live.recorded import DrawnRecorder, S

PATIENCE = 30.0
ADDRESS = "rtsp://ann:secret@camera.example/door"


class Desk:
    """An open memory whose live sources are drawn; `play` memorizes in a thread, as the engine does."""

    def __init__(self, folder: Path, **recorder: Any) -> None:
        self.told = RecordedEvents()
        self.path = folder / "live.m3desk"
        self.app = App(self.path, emit=self.told, backends=FakeBackends())  # type: ignore[arg-type]
        self.app.work._store.set_setting("clip_seconds", "2.0")
        self.app.live._make = partial(DrawnRecorder, **recorder)
        self.thread: threading.Thread | None = None

    def play(self, **how: Any) -> str:
        source = self.app.live.start(ADDRESS, **how)
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()
        return source

    def _work(self) -> None:
        from m3desk.errors import Cancelled

        try:
            self.app.work.run()
        except Cancelled:
            return

    def until(self, there: Callable[[], Any]) -> Any:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if found := there():
                return found
            time.sleep(0.02)
        raise AssertionError([e for e in self.told.all if not isinstance(e, events.Progress | events.LiveStatus)][-20:])

    def clips(self, source: str) -> list[tuple[int, int, str]]:
        return [(c.start, c.end, c.state) for c in self.app.work._store.clips(source)]

    def source(self, source: str) -> Source:
        return self.app.work._store.source(source)

    def recorder(self) -> DrawnRecorder:
        return DrawnRecorder.made[-1]

    def over(self) -> None:
        assert self.thread is not None
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()

    def status(self) -> events.LiveStatus:
        found: events.LiveStatus = self.told.of(events.LiveStatus)[-1]
        return found


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Callable[..., Desk]]:
    made: list[Desk] = []

    def make(**recorder: Any) -> Desk:
        made.append(Desk(tmp_path, **recorder))
        return made[-1]

    yield make
    for one in made:
        one.app.close()


def test_a_live_source_is_memorized_clip_by_clip_and_is_then_a_source_like_any_other(desk: Callable[..., Desk]) -> None:
    d = desk(seconds=5.0)
    source = d.play()
    d.over()
    assert d.clips(source) == [(0, 2 * S, "episodic"), (2 * S, 4 * S, "episodic"), (4 * S, d.source(source).duration, "episodic")]
    known = d.source(source)
    assert known.state == "done" and known.has_audio and (known.width, known.height) == (320, 240)
    assert 4.8 * S < (known.duration or 0) < 5.3 * S
    assert known.sha256 == Recording.open(known.uri).fingerprint()
    with d.app.reader() as reader:
        assert reader.people() and any("drink" in m.shown for m in reader.memories(kind="episodic"))
    assert [type(e) for e in d.told.all if isinstance(e, events.LiveStarted | events.LiveEnded)] == [events.LiveStarted, events.LiveEnded]
    last = d.status()
    assert (last.waits, last.behind, last.skipped) == (0, 0.0, 0) and last.remembered == known.duration and last.camera == "off"


def test_a_clip_is_memorized_while_the_next_is_recorded(desk: Callable[..., Desk]) -> None:
    d = desk(goes_on=True, speed=2.0)
    source = d.play()
    d.until(lambda: [c for c in d.clips(source) if c[2] == "episodic"])
    assert d.app.live.session is not None and d.app.live.session.running
    d.app.live.stop()
    d.over()
    assert all(c[2] == "episodic" for c in d.clips(source))


def test_credentials_of_an_address_are_neither_told_nor_kept(desk: Callable[..., Desk]) -> None:
    d = desk(seconds=1.0)
    source = d.play()
    d.over()
    assert "secret" not in repr(d.told.all) and "secret" not in d.source(source).uri
    d.app.close()
    assert not any(b"secret" in f.read_bytes() for f in d.path.rglob("*") if f.is_file())


def test_only_one_live_source_is_recorded_at_a_time(desk: Callable[..., Desk]) -> None:
    d = desk(goes_on=True)
    d.play()
    with pytest.raises(UsageError):
        d.app.live.start(ADDRESS)
    d.app.live.stop()
    d.over()
    with pytest.raises(UsageError):
        d.app.live.stop()


def test_a_source_that_cannot_be_started_leaves_nothing_behind_and_another_can_be(desk: Callable[..., Desk]) -> None:
    d = desk(seconds=1.0)

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    make, d.app.live._make = d.app.live._make, full
    with pytest.raises(M3DeskError, match="No space left") as refused:
        d.app.live.start(ADDRESS)
    assert refused.value.hint and d.app.work._store.sources() == []
    d.app.live._make = make
    d.play()
    d.over()


def test_a_recorder_that_does_not_answer_is_killed_before_its_recording_is_closed(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("m3desk.live.sessions.ENDING", 0.2)
    d = desk(goes_on=True)
    d.app.live.start(ADDRESS)
    recorder = d.recorder()
    monkeypatch.setattr(recorder, "stop", lambda: None)
    d.until(lambda: d.status().recorded > S)
    d.app.live.close()
    assert recorder.killed


def test_a_pause_closes_the_open_clip_and_no_clip_reaches_over_it(desk: Callable[..., Desk]) -> None:
    d = desk(goes_on=True, speed=4.0)
    source = d.play()
    d.until(lambda: d.status().recorded > S)
    d.app.live.pause(True)
    d.until(lambda: d.clips(source) and d.clips(source)[-1][2] == "episodic")
    d.until(lambda: d.status().state == "paused")
    d.app.live.pause(False)
    d.until(lambda: d.status().state == "recording" and d.clips(source)[-1][0] > 8 * S)
    d.app.live.stop()
    d.over()
    gaps = [b[0] - a[1] for a, b in itertools.pairwise(d.clips(source)) if b[0] > a[1]]
    assert len(gaps) == 1 and 7.5 * S < gaps[0] < 8.5 * S


def test_a_question_closes_the_open_clip_and_is_answered_from_the_last_seconds(desk: Callable[..., Desk]) -> None:
    d = desk(goes_on=True, speed=1.5)
    d.app.work._store.set_setting("clip_seconds", "60.0")
    source = d.play()
    d.until(lambda: d.status().recorded > 2.6 * S)
    asked = list(d.app.answering.ask("Who says “we drink tea”?"))
    assert any(isinstance(e, events.AskWaits) and e.known and e.seconds >= 2 for e in asked)
    first = d.clips(source)[0]
    assert first[2] == "episodic" and 2.6 * S < first[1] < 50 * S
    assert asked[-1].citations and asked[-1].found
    d.app.live.stop()
    d.over()
    assert d.app.work._store.clips(source)[0].overrun == 0


def test_while_clips_wait_a_question_about_the_last_seconds_is_answered_from_the_subtitles(desk: Callable[..., Desk]) -> None:
    d = desk(goes_on=True, speed=6.0)
    source = d.app.live.start(ADDRESS)  # nobody memorizes
    d.until(lambda: d.status().recorded > 5 * S and d.clips(source))
    at = d.status().recorded - S
    d.app.emit(events.LiveWords(source, at, at + S, "the train leaves", final=False))
    d.app.emit(events.LiveWords(source, at, at + S, "the train leaves at nine", final=True))
    asked = list(d.app.answering.ask("What was just said?"))
    done = asked[-1]
    assert done.found and "Somebody says: “the train leaves at nine”" in done.answer
    assert (source, at, None) in [(c.source, c.start, c.node) for c in done.citations]
    assert any(isinstance(e, events.AskWaits) and not e.known for e in asked)
    assert all("live" not in r for e in asked if isinstance(e, events.AskRound) for r in e.results)
    assert not list(d.app.answering.ask("Where do they swim?"))[-1].found
    d.app.live.forgot(source)  # a span of it
    assert "train" not in list(d.app.answering.ask("What was just said?"))[-1].answer
    d.app.live.stop()


def test_a_recording_whose_process_was_killed_is_closed_and_memorized_at_the_next_opening(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    d = desk(goes_on=True, speed=6.0)
    source = d.app.live.start(ADDRESS)  # nobody memorizes
    d.until(lambda: d.status().recorded > 5 * S)
    recorder = d.recorder()
    session = d.app.live.session
    assert session is not None
    monkeypatch.setattr(session, "_report", lambda _report: None)
    recorder.report = lambda _report: None  # nobody hears of its end
    recorder.stopping.set()
    recorder.thread.join()
    session.finished()
    d.app.live._session = None
    d.app.close()
    told = RecordedEvents()
    with App(d.path, emit=told, backends=FakeBackends()) as app:  # type: ignore[arg-type]
        assert app.live.recover() == [source]
        app.work.resume()
        app.work.run()
        clips = app.work._store.clips(source)
        assert {c.state for c in clips} == {"episodic"} and clips[-1].end == app.work._store.source(source).duration
        assert Recording.open(app.work._store.source(source).uri).ended and app.check()["ok"]
        assert [n.level for n in told.of(events.Notice)] == ["info"]


def test_a_live_source_of_which_nothing_was_recorded_leaves_nothing_behind(desk: Callable[..., Desk]) -> None:
    d = desk()
    source = d.app.work._store.add_source(Source("", "rtsp://x", None, None, None, None, False, None, state="live"), rebuild=False)
    assert d.app.live.recover() == [source.id]
    assert d.app.work._store.sources() == []


def test_a_live_source_that_cannot_be_opened_leaves_no_empty_source_behind(desk: Callable[..., Desk], caplog: Any) -> None:
    d = desk()
    d.app.live._make = NoCamera  # type: ignore[assignment]
    source = d.play()
    d.over()
    assert d.app.work._store.sources() == []
    assert not list((d.path / "recordings").iterdir())
    assert ("removed", source) in [(e.state, e.source) for e in d.told.of(events.SourceChanged)]
    assert [n.text for n in d.told.of(events.Notice)] == ["There is no camera '0': none is connected."]
    assert "was not closed" not in caplog.text  # the notice says why


class NoCamera(DrawnRecorder):
    """A recorder that cannot open its device: it makes nothing in the folder."""

    def __init__(self, _folder: Path, _address: Any, report: Callable[[reports.Report], None], **_how: Any) -> None:
        self.report = report

    def start(self) -> None:
        self.report(reports.Ended("failed", "There is no camera '0': none is connected.", "List the cameras with: m3desk devices."))

    def stop(self) -> None: ...


def test_the_last_seconds_of_a_live_source_are_forgotten_with_their_recording(desk: Callable[..., Desk]) -> None:
    d = desk(goes_on=True, speed=3.0)
    source = d.play()
    d.until(lambda: d.status().remembered >= 6 * S)
    start, end = 3 * S, d.status().recorded
    plan = d.app.may_forget_span(source, start, end)
    assert plan.recording and plan.observations and not plan.found
    gone = d.app.forget_span(source, start, end)
    assert gone.found == () and gone.searched["files"] > 0
    d.app.live.stop()
    d.over()
    left = Recording.open(d.source(source).uri)
    assert holding(left, start, end) == [] != holding(left, end, left.end)
    with d.app.reader() as reader:
        assert not any(m.start < end and start < m.end for m in reader.memories(kind="episodic"))
        assert not any(o.start < end and start < o.end for o in reader.log().observations.values())
        assert any(m.start < start for m in reader.memories(kind="episodic"))
    assert d.app.check()["ok"] and d.source(source).state == "done"


def test_forgetting_the_last_seconds_waits_for_the_moment_up_to_which_it_reaches(desk: Callable[..., Desk]) -> None:
    """It reaches a second beyond what is recorded; on a quick machine the proof was done before that second was recorded."""
    d = desk(goes_on=True)
    source = d.play()
    d.until(lambda: d.status().recorded >= 4 * S)
    span = d.app.recent(2)
    assert span[2] > d.status().recorded
    assert d.app.forget_span(*span).found == ()
    d.app.live.stop()
    d.over()
    left = Recording.open(d.source(source).uri)
    assert holding(left, *span[1:]) == [] and left.end > span[2]
    assert d.app.check()["ok"]


def test_the_last_second_of_the_open_clip_is_forgotten_when_a_clip_was_closed_before_it(desk: Callable[..., Desk]) -> None:
    """It was refused: “s1 has nothing from …”, since what is known of a live source ends with its last closed clip."""
    d = desk(goes_on=True)
    d.app.work._store.set_setting("clip_seconds", "4.0")
    source = d.play()

    def behind_the_last_closed_clip() -> tuple[str, int, int] | None:
        span, known = d.app.recent(1), d.source(source).duration
        return span if known is not None and span[1] >= known else None

    span: tuple[str, int, int] = d.until(behind_the_last_closed_clip)
    assert d.app.forget_span(*span).found == ()
    d.app.live.stop()
    d.over()
    assert holding(Recording.open(d.source(source).uri), *span[1:]) == []


def test_the_last_seconds_reach_to_the_end_also_while_the_recording_is_closed(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    d = desk(goes_on=True)
    source = d.play()
    d.until(lambda: d.source(source).duration is not None)
    closing, go, close = threading.Event(), threading.Event(), session.close_source

    def held(*args: Any) -> Any:
        closing.set()
        assert go.wait(PATIENCE)
        return close(*args)

    monkeypatch.setattr(session, "close_source", held)
    d.app.live.stop()
    assert closing.wait(PATIENCE)
    spans: list[tuple[str, int, int]] = []
    asking = threading.Thread(target=lambda: spans.append(d.app.recent(600)))
    asking.start()
    asking.join(0.5)  # it waits; where it did not, it has an answer by now
    go.set()
    asking.join(PATIENCE)
    d.over()
    assert spans == [(source, 0, d.source(source).duration)]


def test_a_forgetting_of_a_span_that_was_cut_off_is_finished_at_the_next_opening(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    d = desk(seconds=8.0)
    source = d.play()
    d.over()
    monkeypatch.setattr(Recording, "erase", lambda *_: (_ for _ in ()).throw(OSError("killed here")))
    with pytest.raises(OSError, match="killed here"):
        d.app.forget_span(source, 0, 4 * S)
    monkeypatch.undo()
    d.app.close()
    with App(d.path, backends=FakeBackends()) as app:  # type: ignore[arg-type]
        assert [(r["findings"], r["not_searched"]) for r in app.finished] == [([], [])]
        recording = Recording.open(app.work._store.source(source).uri)
        assert holding(recording, 0, 4 * S) == [] and recording.fingerprint() == app.work._store.source(source).sha256


def test_a_forgetting_that_was_cut_off_before_the_old_files_were_deleted_deletes_them_at_the_next_opening(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    d = desk(seconds=4.0)
    source = d.play()
    d.over()
    folder = Path(d.source(source).uri)
    monkeypatch.setattr(Recording, "_delete", lambda *_: (_ for _ in ()).throw(OSError("killed here")))
    with pytest.raises(OSError, match="killed here"):
        d.app.forget_span(source, 0, 3 * S)
    monkeypatch.undo()
    d.app.close()
    assert (folder / "000001.ts").exists()
    with App(d.path, backends=FakeBackends()) as app:  # type: ignore[arg-type]
        assert [(r["findings"], r["not_searched"]) for r in app.finished] == [([], [])]
    assert [f.name for f in folder.glob("*.ts")] == [s.name for s in Recording.open(folder).segments()]
    assert not (folder / "000001.ts").exists()


def test_what_a_killed_process_had_not_deleted_of_a_recording_is_deleted_at_the_next_opening(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    d = desk(seconds=2.0)
    source = d.play()
    d.over()
    recording = Recording.open(d.source(source).uri)
    with monkeypatch.context() as patched:
        patched.setattr(Recording, "_delete", lambda *_: None)
        recording.drop_before(recording.end + S)
    assert list(recording.folder.glob("*.ts"))
    d.app.live.close()
    d.app.live.recover()
    assert not list(recording.folder.glob("*.ts"))


def erasures(d: Desk) -> list[tuple[str, bool, bool]]:
    return [(e.source, e.recording, e.memory) for e in d.told.of(events.Erased)]


@pytest.mark.parametrize("how", ["forget a span", "retention", "remove", "forget a person", "forget a person and the source"])
def test_whatever_erases_recorded_material_tells_the_same_event(desk: Callable[..., Desk], how: str) -> None:
    d = desk(seconds=3.0)
    source = d.play()
    d.over()
    assert erasures(d) == []
    with d.app.reader() as reader:
        person = reader.people()[0].id
    d.app.may_forget_span(source, 0, S)
    d.app.live.retention(hours=-1.0, dry_run=True)
    d.app.work.remove(source, dry_run=True)
    assert erasures(d) == [], "a look at what would go erases nothing"
    if how == "forget a span":
        d.app.forget_span(source, S, 2 * S)
        assert [(e.start, e.end) for e in d.told.of(events.Erased)] == [(S, 2 * S)]
        assert erasures(d) == [(source, True, True)]
    elif how == "retention":
        d.app.live.retention(hours=-1.0)
        d.app.live.retention(hours=-1.0)  # nothing is left
        assert erasures(d) == [(source, True, False)]
    elif how == "remove":
        d.app.work.remove(source)
        assert erasures(d) == [(source, True, True)]
    elif how == "forget a person":
        d.app.forget(person)
        assert erasures(d) == [(source, False, True)], "the recording still shows them"
    else:
        d.app.forget(person, sources=True)
        assert erasures(d) == [(source, False, True), (source, True, True)]


@pytest.mark.parametrize("what", ["the models", "the look", "the recording"])
def test_what_a_forgetting_deleted_is_told_although_it_can_not_be_finished(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    d = desk(seconds=3.0)
    source = d.play()
    d.over()
    with d.app.reader() as reader:
        person = reader.people()[0].id

    def fails(*_: object) -> None:
        raise OSError("the disk is full")

    kept = d.app.searching.cache
    dropped: list[bool] = []
    monkeypatch.setattr(kept, "drop", lambda: dropped.append(True))
    of: tuple[Any, str] = {
        "the models": (d.app.answering, "models_in_use"),
        "the look": (proof, "look"),
        "the recording": (Recording, "erase"),
    }[what]
    monkeypatch.setattr(*of, fails)
    with pytest.raises(OSError, match="disk"):
        if what == "the recording":
            d.app.forget_span(source, S, 2 * S)
        else:
            d.app.forget(person)
    assert erasures(d) == [(source, what == "the recording", True)] and dropped


def test_what_is_dropped_once_it_is_remembered_is_told(desk: Callable[..., Desk]) -> None:
    d = desk(seconds=3.0)
    source = d.play(keep="until remembered")
    d.over()
    d.until(lambda: erasures(d))
    assert erasures(d) == [(source, True, False)] and not Recording.open(d.source(source).uri).segments()


def evidence(app: App, source: str) -> list[Any]:
    with app.reader() as reader:
        faces, said, things, texts = reader.evidence()
    return [[x for x in kind if x.clip.startswith(source + ".")] for kind in (faces, said, things, texts)]


def anonymous(found: list[Any], source: str) -> str:
    return repr(found).replace(f"{source}.", "s.")


def test_a_live_source_that_is_memorized_again_gives_the_same_evidence_and_keeps_its_cut(desk: Callable[..., Desk]) -> None:
    d = desk(seconds=5.0)
    source = d.play()
    # Between two sentences (1.4 to 2.5 s): how much of a sentence was heard when its clip is closed depends on the machine.
    d.until(lambda: d.app.live.session is not None and d.app.live.session.close_clip(least=S * 8 // 5))
    d.over()
    live, cut = evidence(d.app, source), [(c.start, c.end, c.overrun) for c in d.app.work._store.clips(source)]
    assert any(overrun == 0 for *_, overrun in cut) and live[0] and live[1]
    (again,) = d.app.work.add([d.source(source).uri], Options(rebuild=True))
    d.app.work.run()
    assert [(c.start, c.end, c.overrun) for c in d.app.work._store.clips(again)] == cut
    assert anonymous(evidence(d.app, again), again) == anonymous(live, source)
    assert d.app.work._store.source(again).state == "done"


def test_a_recording_of_bystander_mode_stores_nobody_either_when_it_is_memorized_again(desk: Callable[..., Desk]) -> None:
    d = desk(seconds=3.0)
    source = d.play()
    d.over()
    assert evidence(d.app, source)[0], "nothing was blurred here, as where the veil missed a face"
    d.app.hide_bystanders(source)
    (again,) = d.app.work.add([d.source(source).uri], Options(rebuild=True))
    d.app.work.run()
    assert again != source and evidence(d.app, again)[0] == [] and evidence(d.app, again)[1]
    (third,) = d.app.work.add([d.source(again).uri], Options(rebuild=True))
    d.app.work.run()
    assert evidence(d.app, third)[0] == []


def test_a_removed_live_source_takes_its_recording_with_it_and_a_file_stays(desk: Callable[..., Desk], tmp_path: Path) -> None:
    d = desk(seconds=1.0)
    source = d.play()
    d.over()
    folder = Path(d.source(source).uri)
    told = d.app.work.remove(source, dry_run=True)
    assert folder.is_dir() and told.text.endswith(f" of {source}, and its recording")
    d.app.work.remove(source)
    assert list((d.path / "recordings").iterdir()) == []


def test_a_recording_put_aside_by_a_killed_process_is_put_back_or_deleted(desk: Callable[..., Desk]) -> None:
    d = desk(seconds=1.0)
    source = d.play()
    d.over()
    folder = Path(d.source(source).uri)
    folder.rename(folder.with_name(folder.name + ".removed"))
    (folder.parent / "s9-gone.removed").mkdir()
    d.app.live.recover()
    assert [f.name for f in folder.parent.iterdir()] == [folder.name]


def test_a_source_that_starts_is_not_taken_for_one_that_a_killed_process_left(
    desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    live = desk()
    describe, recovering = live.app.work._store.describe_source, []

    def described(source: Source) -> None:
        if not recovering:  # the row is there, the session is not yet
            recovering.append(threading.Thread(target=live.app.live.recover, daemon=True))
            recovering[0].start()
            recovering[0].join(0.3)
        describe(source)

    monkeypatch.setattr(live.app.work._store, "describe_source", described)
    source = live.play()
    recovering[0].join(30)
    assert live.source(source).state == "live"
    live.app.live.stop()
    live.over()


def test_a_recording_may_be_dropped_once_it_is_remembered(desk: Callable[..., Desk]) -> None:
    d = desk(seconds=3.0)
    source = d.play(keep="until remembered")
    d.over()
    folder = Path(d.source(source).uri)
    assert list(folder.glob("*.ts")) == [] and d.source(source).state == "done"
    with d.app.reader() as reader:
        assert reader.memories(kind="episodic")
    assert d.app.check()["ok"]


def test_a_question_that_cannot_wait_for_the_last_seconds_says_so(desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("m3desk.live.sessions.ANSWER_AFTER", 0.2)
    d = desk(goes_on=True)
    d.app.work._store.set_setting("clip_seconds", "60.0")
    d.app.live.start(ADDRESS)  # nobody memorizes
    d.until(lambda: d.status().recorded > 2.6 * S)
    first = [(e.known, e.seconds >= 2) for e in d.app.live.before_answer("a", lambda: False)]
    assert first == [(True, True), (False, True)]
    assert [e.known for e in d.app.live.before_answer("b", lambda: False)] == [False]


def test_the_recorder_is_started_with_the_priority_that_the_engine_gave_up(desk: Callable[..., Desk]) -> None:
    d, where = desk(seconds=0.5), []
    d.app.live.in_front = lambda start: (where.append("front"), start())[1]  # type: ignore[func-returns-value]
    d.play()
    d.over()
    assert where == ["front"]


def test_a_live_source_can_neither_be_removed_nor_cancelled_while_it_is_recorded(desk: Callable[..., Desk]) -> None:
    d = desk(goes_on=True)
    source = d.play()
    for refused in (d.app.work.cancel, d.app.work.remove):
        with pytest.raises(UsageError):
            refused(source)
    assert d.app.work.remove(source, dry_run=True).text
    d.until(lambda: d.clips(source))
    d.app.live.stop()
    d.over()
    d.app.work.remove(source)
    assert d.app.work._store.sources() == []


def test_an_open_clip_ends_only_when_it_was_closed_though_the_recording_has_ended(desk: Callable[..., Desk]) -> None:
    d = desk(seconds=3.0)
    source = d.play()
    d.over()
    known = d.source(source)
    clip = OpenClip(replace(known, duration=None), Clip("s1.c0", "s1", 0, 0, 20 * S), known.uri, 5.0)
    heard: list[int] = []
    ears = threading.Thread(target=lambda: heard.append(len(clip.sound())), daemon=True)
    ears.start()
    ears.join(1.0)
    assert ears.is_alive() and not heard  # its row is not planned yet
    assert clip.closed(known.duration or 0, 0) == known.duration
    ears.join(30)
    assert heard and clip.clip.end == known.duration


def test_an_open_clip_that_was_closed_and_forgotten_before_its_perception_began_is_left_out(desk: Callable[..., Desk]) -> None:
    d = desk(goes_on=True)
    d.app.live.start(ADDRESS)
    session = d.app.live.session
    assert session is not None
    open_ = d.until(lambda: session._course.open)
    clip = d.until(lambda: session.close_clip(least=100_000))
    assert clip.id == open_.clip.id
    del session._course.waiting[clip.id]  # as `synchronize` does after the forgetting
    assert session._open_clip(open_) is None
    d.app.live.stop()


def test_forgetting_the_last_minutes_long_after_a_recording_says_when_it_ended(desk: Callable[..., Desk]) -> None:
    d = desk(seconds=2.0)
    source = d.play()
    d.over()
    stored = d.source(source)
    d.app.work._store.describe_source(replace(stored, started_at="2026-11-01T10:00:00.000+00:00"))
    with pytest.raises(UsageError, match=rf"last recording, {source}, ended .* ago, at \d\d:00 on 2026-11-01"):
        d.app.recent(60)


@pytest.mark.parametrize(
    ("given_up", "words"), [((OBJECTS_AND_TEXTS, HALF_OF_PICTURES), True), ((OBJECTS_AND_TEXTS, MOST_PICTURES), False)]
)
def test_subtitles_lose_their_words_last_since_questions_are_answered_from_them(
    desk: Callable[..., Desk], given_up: tuple[str, ...], words: bool
) -> None:
    d = desk()
    told = SimpleNamespace(words=True)
    d.app.live._recognition = told  # type: ignore[assignment]
    status = events.LiveStatus("s1", "recording", S, 0, 130.0, 0, given_up, None, "on", "on", None, 10**9, None)  # type: ignore[arg-type]
    d.app.live._heard(status)
    assert told.words == words
