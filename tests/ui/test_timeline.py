"""The timeline's picture: after a commit only what changed is painted again, and the picture is the same as one painted as a whole."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.timeline import rows as timeline_rows
from m3desk_ui.timeline.canvas import LANE, TimelineCanvas
from m3desk_ui.timeline.rows import Rows
from m3desk_ui.timeline.view import TimelineView
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage, QPixmap
from pytestqt.qtbot import QtBot

from m3desk.bench import scale, scale_window
from m3desk.store.memory import Memory

CLIPS = 104
"""More than are shown one by one in the canvas below."""


class Painting:
    """A canvas on a memory, which it follows."""

    def __init__(self, qtbot: QtBot, memory: Memory, monkeypatch: pytest.MonkeyPatch, height: int) -> None:
        self.memory = memory
        self.hub = Hub()
        picture = QPixmap(64, 36)
        picture.fill(QColor("#345678"))
        monkeypatch.setattr(self.hub.pictures, "get", lambda *_: picture)
        self.canvas = TimelineCanvas(self.hub)
        qtbot.addWidget(self.canvas)
        self.canvas.resize(520, height)
        self.parts: list[QRect] = []
        still = self.canvas._paint_still

        def noted(target: QPixmap, part: QRect) -> None:
            self.parts.append(part)
            still(target, part)

        monkeypatch.setattr(self.canvas, "_paint_still", noted)
        self.canvas.plan = timeline_rows.plan(memory, "s1")
        self.canvas.rows = Rows().changed(
            timeline_rows.pieces(memory, self.canvas.plan.kept(self.canvas.plan.place_of)), (), self.canvas.plan.names
        )
        self.told: list[Any] = []
        memory.watch(self.told.append)
        self.canvas.fit()
        with qtbot.waitExposed(self.canvas):
            self.canvas.show()

    def follow(self) -> None:
        told, self.told[:] = list(self.told), []
        for changed in told:
            rows, plan = self.canvas.rows, self.canvas.plan
            stale = frozenset(clip for node in changed.nodes if (clip := rows.clip_of.get(node)) is not None)
            part = timeline_rows.read_part(self.memory, "s1", changed, stale)
            plan = self.canvas.plan = timeline_rows.patched(plan, part)
            self.canvas.rows = timeline_rows.read_on(self.memory, plan.kept(part.stale), rows, (), plan.names)[0]
        self.canvas.refresh()

    def image(self) -> QImage:
        self.canvas.repaint()
        assert self.canvas._picture is not None
        return self.canvas._picture.toImage()

    def check(self) -> None:
        image = self.image()
        self.canvas.redraw()
        assert image == self.image()


def commit(memory: Memory, dice: random.Random) -> None:
    clip = memory.next_clips("s1")[0]
    perceived, draft, vectors = scale.invented(clip, dice)
    memory.commit_episodic(clip, perceived, draft, text_vectors=vectors, text_model=scale.TEXTS, models=scale.MODELS)


@pytest.mark.parametrize(("height", "zoom", "scrolled"), [(128, 1.0, 0), (310, 1.0, 33), (900, 0.99, 0)])
def test_the_picture_after_a_commit_is_the_one_painted_as_a_whole(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, height: int, zoom: float, scrolled: int
) -> None:
    scale_window.grow(tmp_path / "m.m3desk", CLIPS)
    with Memory.open(tmp_path / "m.m3desk", write=True) as memory:
        painting = Painting(qtbot, memory, monkeypatch, height)
        canvas = painting.canvas
        canvas.zoom(zoom)
        canvas.scrolled = scrolled
        canvas.hits = (("s1", 40_000_000, 90_000_000),)
        canvas.selected = ("node", canvas.rows.memories[-1][2])
        canvas.redraw()
        painting.image()
        dice, reordered = random.Random(5), False
        for number in range(6):
            commit(memory, dice)
            if number == 1:
                painting.follow()  # and not painted before the next one
                commit(memory, dice)
            if number == 2:
                memory._db.execute("UPDATE clip SET thumbnail = 'ab' WHERE number % 7 = 0")
                canvas.plan = timeline_rows.plan(memory, "s1")
            if number == 4:
                memory.correct("name", {"person": canvas.rows.lanes[0].person, "name": "Ann"})
                memory.correct("set-aside", {"observation": f"s1.c{dice.randrange(CLIPS)}.f0"})
            order = [lane.person for lane in canvas._painted[1].lanes] if canvas._painted is not None else []
            painting.follow()
            painting.parts.clear()
            painting.image()
            if number < 2:  # also where lanes change places
                assert painting.parts
                assert all(part.width() < 200 or part.height() <= LANE for part in painting.parts)
                reordered = reordered or order != [lane.person for lane in canvas.rows.lanes]
            painting.check()
        assert reordered
        canvas.start, canvas.end = 0, memory.clips("s1")[CLIPS].start
        canvas.redraw()
        painting.image()
        painting.parts.clear()
        commit(memory, dice)  # out of sight
        painting.follow()
        painting.image()
        assert all(part.height() <= LANE for part in painting.parts)  # at most lanes that came on show
        painting.check()


def test_moments_of_an_answer_are_not_shown_in_another_memory(qtbot: QtBot) -> None:
    hub = Hub()
    view = TimelineView(hub)
    qtbot.addWidget(view)
    hub.selection.highlighted.emit((("s1", 0, 9_000_000),))
    hub.selection.select("person", "person_1")
    assert view._hits and view.canvas.selected == ("person", "person_1")
    hub.opened.emit("/memories/other.m3desk")
    assert view._hits == () and view.canvas.hits == () and view.canvas.selected == ("", "")
