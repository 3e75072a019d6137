"""The strip of pictures: as many as the zoom has room for, asked for at rest, one at a time, and never of what was forgotten."""

from __future__ import annotations

from concurrent.futures import Future

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.timeline.canvas import state_in
from m3desk_ui.timeline.strip import Strip
from m3desk_ui.timeline.view import TimelineView
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from m3desk.events import Erased
from tests.ui.fakes import FakeDesk
from tests.ui.live_fakes import done

S = 1_000_000


def asked(desk: FakeDesk) -> list[tuple[str, int]]:
    return [args for args, _ in desk.called("picture")]  # type: ignore[misc]


def test_a_clip_that_is_wide_gets_more_pictures_and_a_narrow_one_none(hub: Hub, desk: FakeDesk, qtbot: QtBot) -> None:
    desk.world.forgotten = [("s1", 20 * S, 25 * S)]
    view = TimelineView(hub)
    qtbot.addWidget(view)
    view.resize(800, 220)
    with qtbot.waitExposed(view):
        view.show()
    canvas = view.canvas
    qtbot.waitUntil(lambda: canvas.plan.source is not None and bool(canvas.forgotten), timeout=30_000)
    canvas.fit()
    canvas.arrange()
    assert canvas._slots(canvas.plan.clips[5]) == []  # it waits
    canvas._go(0, 30 * S)
    canvas.arrange()
    slots = canvas._slots(canvas.plan.clips[0])
    assert slots[0] == (0, ("s1", 0)), "where a clip begins stands the picture of its beginning, not of its best moment"
    gap = canvas.x_of(slots[1][0]) - canvas.x_of(slots[0][0])
    assert 71 <= gap < 200 and all(not 20 * S <= at < 25 * S for at, _ in slots)
    assert [m for _, m in slots] == [("s1", at) for at, _ in slots]
    qtbot.waitUntil(lambda: all(canvas.strip.get(m) is not None for _, m in slots), timeout=30_000)
    count = len(asked(desk))
    canvas.arrange()
    canvas._go(0, 15 * S)  # finer ones share some
    canvas.arrange()
    assert canvas.strip.get(slots[0][1]) is not None and len(asked(desk)) >= count
    assert len(set(asked(desk))) == len(asked(desk))


def test_pictures_of_what_was_erased_are_dropped_and_one_that_still_comes_is_not_kept(
    hub: Hub, desk: FakeDesk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, late = desk.picture("s1", 1).result(), Future[bytes | None]()
    monkeypatch.setattr(desk, "picture", lambda source, at, width=480: late if (source, at) == ("s1", 3) else done(content))
    strip = Strip(hub)
    strip.want([("s1", 1), ("s1", 9), ("s2", 1)], 70)
    qtbot.waitUntil(lambda: all(strip.get(m) is not None for m in [("s1", 1), ("s1", 9), ("s2", 1)]), timeout=30_000)
    strip.want([("s1", 3)], 70)
    desk.emit(Erased("s1", 0, 5, recording=True, memory=False))
    qtbot.waitUntil(lambda: strip.get(("s1", 1)) is None, timeout=30_000)
    late.set_result(content)
    qtbot.wait(50)
    assert strip.get(("s1", 3)) is None and strip.get(("s1", 9)) is not None and strip.get(("s2", 1)) is not None


@pytest.mark.parametrize("how", ["erased", "another memory"])
def test_a_picture_that_was_asked_for_before_is_not_taken_for_one_asked_for_after(
    hub: Hub, desk: FakeDesk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    content, waiting = desk.picture("s1", 1).result(), [Future[bytes | None](), Future[bytes | None]()]
    left = list(waiting)
    monkeypatch.setattr(desk, "picture", lambda source, at, width=480: left.pop(0))
    strip = Strip(hub)
    strip.want([("s1", 3)], 70)
    if how == "erased":
        strip._erased(Erased("s1", 0, 5, recording=True, memory=False))
    else:
        strip.clear()
    strip.want([("s1", 3)], 70)  # painted again
    assert not left
    waiting[0].set_result(content)
    qtbot.wait(50)
    assert strip.get(("s1", 3)) is None
    waiting[1].set_result(content)
    qtbot.waitUntil(lambda: strip.get(("s1", 3)) is not None, timeout=30_000)


def test_a_moment_without_a_picture_is_no_source_without_pictures(
    hub: Hub, desk: FakeDesk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = desk.picture("s1", 1).result()
    monkeypatch.setattr(desk, "picture", lambda source, at, width=480: done(b"" if at < 5 else content))  # its beginning was erased
    strip = Strip(hub)
    strip.want([("s1", 1), ("s1", 9)], 70)
    qtbot.waitUntil(lambda: strip.get(("s1", 9)) is not None, timeout=30_000)
    assert strip.get(("s1", 1)) is None


def test_one_picture_is_asked_for_at_a_time_and_those_no_longer_wanted_are_dropped(
    hub: Hub, desk: FakeDesk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: list[tuple[tuple[str, int], Future[bytes | None]]] = []

    def picture(source: str, at: int, width: int = 480) -> Future[bytes | None]:
        waiting.append(((source, at), Future()))
        return waiting[-1][1]

    monkeypatch.setattr(desk, "picture", picture)
    strip = Strip(hub)
    strip.want([("s1", 1), ("s1", 2), ("s1", 3)], 70)
    strip.want([("s1", 9)], 70)
    assert [m for m, _ in waiting] == [("s1", 1)]
    waiting[0][1].set_result(None)  # the file is not there
    qtbot.wait(50)
    assert len(waiting) == 1
    strip.want([("s1", 5), ("s2", 5)], 70)
    assert [m for m, _ in waiting] == [("s1", 1), ("s2", 5)]


def test_the_state_of_a_clip_is_said_in_words_that_fit(qapp: QApplication) -> None:
    metrics = QFontMetricsF(qapp.font())
    wide = metrics.horizontalAdvance("being memorized")
    assert state_in(metrics, "working", wide) == "being memorized"
    for state in ("working", "queued", "failed", "skipped"):
        said = {state_in(metrics, state, width) for width in range(int(wide) + 20)}
        assert "…" in said and "" in said
        assert all(metrics.horizontalAdvance(state_in(metrics, state, width)) <= width for width in range(int(wide) + 20))
    assert state_in(metrics, "working", wide - 1) == "memorizing"
