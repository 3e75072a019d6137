"""The waveform on the timeline: read or computed once, drawn from a level that fits the zoom, without gaps."""

from __future__ import annotations

from concurrent.futures import Future

import numpy as np
import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.timeline.canvas import CLIPS, GUTTER, RULER
from m3desk_ui.timeline.view import TimelineView
from m3desk_ui.timeline.wave import Wave, picture
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from m3desk.domain.changed import Changed
from tests.ui.fakes import FakeDesk

HOUR = 3_600_000_000


@pytest.mark.parametrize("width", [1, 37, 900])
@pytest.mark.parametrize("span", [HOUR, HOUR // 7, 60_000_000, 500_000])
def test_no_peak_is_lost_at_any_zoom_and_few_are_looked_at(width: int, span: int) -> None:
    peaks = np.zeros(360_000, np.uint8)
    at = HOUR // 3
    peaks[at // 10_000] = 200
    wave = Wave.of("s1", peaks.tobytes())
    columns = wave.columns(at - span // 3, at - span // 3 + span, width)
    assert columns.max() == 200 and np.count_nonzero(columns) <= max(3, 3 * width * 80_000 // span)
    assert abs(int(columns.argmax()) - width // 3) <= max(2, 2 * width * 10_000 // span)
    assert [len(level) for level in wave.levels][:3] == [360_000, 45_000, 5_625]


def test_outside_of_the_source_there_is_nothing() -> None:
    wave = Wave.of("s1", bytes([255] * 100))
    assert wave.columns(-2_000_000, -1_000_000, 10).max() == 0 and wave.columns(5_000_000, 9_000_000, 10).max() == 0
    assert Wave.of("s1", b"").columns(0, 1_000_000, 10).max() == 0
    image = picture(np.array([0, 255], np.uint8), 9, QColor("#123456"))
    assert image.pixelColor(0, 4).alpha() == 255 and image.pixelColor(0, 3).alpha() == 0 and image.pixelColor(1, 8).alpha() == 255


def test_it_is_computed_by_the_engine_once_and_shown_where_there_is_room(hub: Hub, desk: FakeDesk, qtbot: QtBot) -> None:
    view = TimelineView(hub)
    qtbot.addWidget(view)
    view.resize(700, 260)
    with qtbot.waitExposed(view):
        view.show()
    canvas = view.canvas
    qtbot.waitUntil(lambda: canvas.wave is not None, timeout=30_000)
    assert [args for args, _ in desk.called("make_waveform")] == [("s1",)]
    assert canvas.wave_height() > 0
    before = canvas.lanes_top()
    shown = canvas.grab().toImage().pixelColor(GUTTER + 3, RULER + CLIPS - 2 + 9)
    canvas.wave = None
    canvas.redraw()
    assert canvas.lanes_top() < before and canvas.grab().toImage().pixelColor(GUTTER + 3, RULER + CLIPS - 2 + 9) != shown
    hub.opened.emit("/memories/other.m3desk")
    assert canvas.wave is None
    qtbot.waitUntil(lambda: canvas.wave is not None, timeout=30_000)
    assert len(desk.called("make_waveform")) == 1
    view.resize(700, 150)
    assert canvas.wave_height() == 0


def test_after_something_was_forgotten_the_old_sound_is_not_drawn_any_more(hub: Hub, desk: FakeDesk, qtbot: QtBot) -> None:
    view = TimelineView(hub)
    qtbot.addWidget(view)
    view.resize(700, 260)
    with qtbot.waitExposed(view):
        view.show()
    canvas = view.canvas
    qtbot.waitUntil(lambda: canvas.wave is not None and canvas.wave.levels[0].max() == 200, timeout=30_000)
    desk.world.waveforms["s1"] = bytes(18_000)
    hub.changed.emit(Changed(1, 2, whole=True))
    qtbot.waitUntil(lambda: canvas.wave is not None and canvas.wave.levels[0].max() == 0, timeout=30_000)
    desk.world.waveforms.clear()  # it was deleted and can't be computed: the file is gone
    desk.make_waveform = lambda _source: ended(False)  # type: ignore[method-assign]
    hub.changed.emit(Changed(2, 3, whole=True))
    qtbot.waitUntil(lambda: canvas.wave is None, timeout=30_000)


def ended(value: bool) -> Future[bool]:
    future: Future[bool] = Future()
    future.set_result(value)
    return future
