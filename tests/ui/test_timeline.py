"""The timeline's picture: after a commit only what changed is painted again, and the picture is the same as one painted as a whole."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.timeline import rows as timeline_rows
from m3desk_ui.timeline.canvas import TimelineCanvas
from m3desk_ui.timeline.rows import Rows
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


@pytest.mark.parametrize(("height", "zoom"), [(128, 1.0), (900, 0.99)])
def test_the_picture_after_a_commit_is_the_one_painted_as_a_whole(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, height: int, zoom: float
) -> None:
    scale_window.grow(tmp_path / "m.m3desk", CLIPS)
    with Memory.open(tmp_path / "m.m3desk", write=True) as memory:
        painting = Painting(qtbot, memory, monkeypatch, height)
        canvas = painting.canvas
        canvas.zoom(zoom)
        canvas.hits = (("s1", 40_000_000, 90_000_000),)
        canvas.selected = ("node", canvas.rows.memories[-1][2])
        canvas.redraw()
        painting.image()
        dice = random.Random(5)
        for number in range(6):
            commit(memory, dice)
            if number == 2:
                memory._db.execute("UPDATE clip SET thumbnail = 'ab' WHERE number % 7 = 0")
                canvas.plan = timeline_rows.plan(memory, "s1")
            if number == 4:
                memory.correct("name", {"person": canvas.rows.lanes[0].person, "name": "Ann"})
                memory.correct("set-aside", {"observation": f"s1.c{dice.randrange(CLIPS)}.f0"})
            painting.follow()
            painting.check()
        painted_in_part = [part for part in painting.parts if part.width() < 200]
        assert painted_in_part or height == 900  # there all lanes are on show, and change places with each commit
        canvas.start, canvas.end = 0, memory.clips("s1")[CLIPS].start
        canvas.redraw()
        painting.image()
        for _ in range(2):  # out of sight
            shown = canvas._lanes_on_show(canvas.rows)
            painting.parts.clear()
            commit(memory, dice)
            painting.follow()
            painting.image()
            assert bool(painting.parts) == (shown != canvas._lanes_on_show(canvas.rows))
            painting.check()
