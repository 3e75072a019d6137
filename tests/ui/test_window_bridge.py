"""Events, reads and futures arrive on the GUI thread in order, a few at a time; only the newest read counts."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from functools import partial

import pytest
import shiboken6
from m3desk_ui.hub import bridge
from m3desk_ui.hub.bridge import EVENTS_PER_TICK, Hub
from PySide6.QtCore import QObject, Signal

from m3desk import events
from m3desk.domain.changed import Changed
from m3desk.errors import CorrectionError, MemoryMissing
from tests.ui.fakes import FakeDesk


@pytest.fixture
def hub(qtbot):
    hub = Hub()
    yield hub
    hub.close()


def test_events_from_another_thread_arrive_in_order_on_the_gui_thread(hub, qtbot):
    desk, seen = FakeDesk(), []
    hub.open(desk, "/m")
    hub.progress.connect(lambda e: seen.append((e.done, threading.current_thread() is threading.main_thread())))
    desk.emit(*[events.Progress("s1", "s1.c0", "watching", i, 300, 1.0, None) for i in range(300)])
    qtbot.waitUntil(lambda: len(seen) == 300, timeout=30_000)
    assert seen == [(i, True) for i in range(300)]


def test_no_tick_passes_on_more_than_its_share(hub, qtbot):
    desk, seen = FakeDesk(), []
    hub.open(desk, "/m")
    qtbot.wait(20)
    hub.progress.connect(seen.append)
    desk.emit(*[events.Progress("s1", "s1.c0", "watching", i, 300, 1.0, None) for i in range(200)])
    hub._tick()
    assert 0 < len(seen) <= EVENTS_PER_TICK


def test_a_burst_of_commits_says_changed_a_few_times_only(hub, qtbot):
    desk, changes = FakeDesk(), []
    hub.open(desk, "/m")
    hub.changed.connect(lambda: changes.append(1))
    desk.emit(*[events.ClipCommitted(f"s1.c{i}", "episodic") for i in range(100)])
    qtbot.wait(600)
    assert 1 <= len(changes) <= 3


def test_the_newest_read_of_a_key_wins(hub, qtbot):
    hub.open(FakeDesk(), "/m")
    hold, got = threading.Event(), []
    hub.read("x", lambda r: hold.wait(30), lambda _v: got.append("old"))
    qtbot.wait(30)
    hub.read("x", lambda r: "newer", got.append)
    hub.read("x", lambda r: len(r.people()), got.append)
    hold.set()
    qtbot.waitUntil(lambda: bool(got), timeout=30_000)
    qtbot.wait(50)
    assert got == [8]


def test_answers_that_take_long_to_show_have_a_turn_of_the_event_loop_each(hub, qtbot, monkeypatch):
    """So a commit that changes every view does not hold up the video, the pointer and the chat until all of them are done."""
    monkeypatch.setattr(bridge, "BUDGET", 0.0)
    hub.open(FakeDesk(), "/m")
    hold, turns = threading.Event(), []

    def shown(name):
        turns.append(name)
        hub.later(lambda: turns.append("something else"))

    hub.read("hold", lambda r: hold.wait(30), lambda _v: None)
    for name in ("one", "two", "three"):
        hub.read(name, lambda r, name=name: name, shown)
    hold.set()
    qtbot.waitUntil(lambda: len(turns) == 6, timeout=30_000)
    assert turns == ["one", "something else", "two", "something else", "three", "something else"]


def test_a_view_that_fails_to_show_its_answer_keeps_no_other_from_theirs(hub, qtbot):
    hub.open(FakeDesk(), "/m")
    hold, got = threading.Event(), []
    hub.read("hold", lambda r: hold.wait(30), lambda _v: None)
    hub.read("bad", lambda r: 0, lambda v: 1 / v)
    hub.read("good", lambda r: 7, got.append)
    with qtbot.captureExceptions() as faults:
        hold.set()
        qtbot.waitUntil(lambda: got == [7], timeout=30_000)
    assert [type(f[1]) for f in faults] == [ZeroDivisionError]


def test_reads_of_a_closed_memory_are_dropped(hub, qtbot):
    hub.open(FakeDesk(), "/m")
    hold, got = threading.Event(), []
    hub.read("x", lambda r: hold.wait(30), got.append)
    qtbot.wait(30)
    hub.open(None)
    hold.set()
    qtbot.wait(80)
    assert got == []


def test_a_read_waits_for_a_memory_that_is_being_made(hub, qtbot):
    desk, tries = FakeDesk(), []
    real = desk.reader

    def late():
        tries.append(1)
        if len(tries) < 3:
            raise MemoryMissing("not yet")
        return real()

    desk.reader = late  # type: ignore[method-assign]
    got, told = [], []
    hub.notice.connect(lambda *a: told.append(a))
    hub.open(desk, "/m")
    hub.read("x", lambda r: len(r.people()), got.append)
    qtbot.waitUntil(lambda: got == [8], timeout=30_000)
    assert told == []


def test_an_error_of_a_future_becomes_a_notice_with_its_hint(hub, qtbot):
    future: Future[None] = Future()
    with qtbot.waitSignal(hub.notice, timeout=30_000) as told:
        hub.when(future)
        future.set_exception(CorrectionError("Nobody is called Zed.", "See the people list."))
    level, text, hint, report = told.args
    assert (level, text, hint) == ("error", "Nobody is called Zed.", "See the people list.")
    assert report == "", "what was typed can't be: there is nothing to report"


def test_a_picture_is_decoded_once_and_kept(hub, qtbot):
    hub.open(FakeDesk(), "/m")
    with qtbot.waitSignal(hub.pictures.ready, timeout=30_000) as told:
        assert hub.pictures.get("crop.p0.0", 48) is None
    assert told.args == ["crop.p0.0"]
    pixmap = hub.pictures.get("crop.p0.0", 48)
    assert (pixmap.width(), pixmap.height()) == (48, 48)


def test_a_missing_picture_is_asked_for_once(hub, qtbot):
    hub.open(FakeDesk(), "/m")
    hub.pictures.get("nothing", 48)
    qtbot.waitUntil(lambda: ("nothing", 48, 48) in hub.pictures._kept, timeout=30_000)
    assert hub.pictures.get("nothing", 48) is None


def test_twenty_thousand_signals_do_not_end_the_interpreter(qtbot):
    # PySide6 6.12.0 on Python 3.11 lost a reference to True and None on each signal and aborted within some hundreds.
    class Bell(QObject):
        rung = Signal(bool)

    bell, heard = Bell(), []
    bell.rung.connect(heard.append)
    for _ in range(20_000):
        bell.rung.emit(True)
    assert len(heard) == 20_000


def test_garbage_is_collected_on_the_gui_thread_only(hub, qtbot):
    # A Qt object collected by a worker thread leaves its timers in the event loop, which then crashes.
    import gc

    assert not gc.isenabled()
    rings: list[object] = []
    for _ in range(4_000):
        ring: list[object] = []
        ring.append(ring)
    rings.clear()
    before = gc.get_stats()[0]["collections"] + gc.get_stats()[1]["collections"] + gc.get_stats()[2]["collections"]
    qtbot.wait(700)
    assert gc.get_stats()[0]["collections"] + gc.get_stats()[1]["collections"] + gc.get_stats()[2]["collections"] > before


def test_a_stored_picture_is_read_as_what_it_says_it_is_and_nothing_is_guessed() -> None:
    from m3desk_ui.look.pictures import whole

    from tests.ui.fakes import _picture

    assert whole(_picture(1, 64, 48)).width() == 64
    for wrong in (None, b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"\xff\xd8 broken", b"hello"):
        assert whole(wrong).isNull()


def test_what_takes_long_in_a_large_memory_is_read_after_all_else(hub, qtbot):
    hub.open(FakeDesk(), "/m")
    hold, order = threading.Event(), []
    hub.read("first", lambda r: hold.wait(30), lambda _v: None)
    qtbot.wait(30)
    for key in ("memories", "small", "graph", "status"):
        hub.read(key, lambda r, key=key: order.append(key), lambda _v: None)
    hold.set()
    qtbot.waitUntil(lambda: len(order) == 4, timeout=30_000)
    assert order == ["small", "status", "graph", "memories"]


def test_what_an_engine_that_died_committed_untold_is_read_when_the_next_one_is_ready(hub, qtbot):
    desk, changes = FakeDesk(), []
    hub.open(desk, "/m")
    hub.changed.connect(changes.append)
    qtbot.waitUntil(lambda: hub._version is not None, timeout=30_000)
    began = hub._version
    desk.emit(events.EngineReady("/m", "CPU", "embedded", {}, began))
    desk.emit(events.MemoryChanged(Changed(began, began + 1, people=frozenset({"person_1"}))))
    qtbot.waitUntil(lambda: len(changes) == 1, timeout=30_000)
    assert not changes[0].whole
    desk.emit(events.EngineLost("it died", "", True), events.EngineReady("/m", "CPU", "embedded", {}, began + 2))
    qtbot.waitUntil(lambda: len(changes) == 2, timeout=30_000)
    assert changes[1].whole
    desk.emit(events.MemoryChanged(Changed(began + 2, began + 3, people=frozenset({"person_1"}))))
    qtbot.waitUntil(lambda: len(changes) == 3, timeout=30_000)
    assert not changes[2].whole


class Asker(QObject):
    """Stands for a dialog."""

    def take(self, _answer):
        self.objectName()  # fails once it is deleted

    def ways(self):
        """Return functions that hold it: a method, one that calls it, one that calls another, and partials of and with it."""
        inner = lambda answer: self.take(answer)  # noqa: E731
        given, named = partial(Asker.take, self), partial(lambda answer, to: to.take(answer), to=self)
        return self.take, inner, lambda answer: inner(answer), partial(self.take), given, named


@pytest.mark.parametrize("way", range(6))
def test_the_answer_to_a_dialog_that_was_closed_meanwhile_is_dropped(hub, qtbot, way):
    hub.open(FakeDesk(), "/m")
    asker, go, done = Asker(), threading.Event(), []
    answered = Future()
    hub.read("asker", lambda _reader: go.wait(30), asker.ways()[way])
    hub.when(answered, asker.ways()[way])
    shiboken6.delete(asker)
    with qtbot.captureExceptions() as errors:
        go.set()
        answered.set_result(1)
        hub.read("after", lambda _reader: 1, done.append)
        qtbot.waitUntil(lambda: done == [1], timeout=30_000)
        hub.when(answered, lambda _: done.append(2))
        qtbot.waitUntil(lambda: done == [1, 2], timeout=30_000)
    assert errors == []


@pytest.mark.parametrize("way", [lambda method: method, partial])
def test_what_a_closed_dialog_wanted_to_read_does_nothing_more_and_what_it_had_done_is_still_told(hub, qtbot, way):
    class Dialog(QObject):
        def __init__(self):
            super().__init__()
            self.called = []

        def take(self, answer):
            self.called.append(answer)  # without a word to Qt nothing fails

    hub.open(FakeDesk(), "/m")
    dialog, go, answered, done = Dialog(), threading.Event(), Future(), []
    hub.read("dialog", lambda _reader: go.wait(30), way(dialog.take))
    hub.when(answered, way(dialog.take))
    shiboken6.delete(dialog)
    go.set()
    answered.set_result("outcome")
    hub.read("after", lambda _reader: 1, done.append)
    qtbot.waitUntil(lambda: done == [1] and bool(dialog.called), timeout=30_000)
    assert dialog.called == ["outcome"]


def test_a_fault_of_a_view_that_is_there_is_not_dropped(hub, qtbot):
    asker, done = Asker(), Future()

    def fails(_answer):
        asker.take(0)
        raise RuntimeError("a fault of ours")

    done.set_result(1)
    with qtbot.captureExceptions() as errors:
        hub.when(done, fails)
        qtbot.waitUntil(lambda: bool(errors), timeout=30_000)
    assert "a fault of ours" in str(errors[0][1])
