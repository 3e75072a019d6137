"""Separates a fused person in the real window, as somebody with a mouse would, and counts the clicks. For the benchmark."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QListWidgetItem, QWidget

from m3desk_ui import launch
from m3desk_ui.hub.services import real
from m3desk_ui.look import theme
from m3desk_ui.people.evidence import Evidence
from m3desk_ui.people.evidence_list import ITEM
from m3desk_ui.people.people_view import PeopleView
from m3desk_ui.window.main_window import MainWindow
from m3desk_ui.window.window_state import WindowState

SIZE = 1500, 920
PATIENCE = 120.0
MOST = 40
"""Answers after which the user gives up."""


def _held(reader: Any) -> list[tuple[str, str | None, str | None]]:
    """Return each observation with its node and person (in the reading thread)."""
    sources = [s.id for s in reader.sources()]
    faces = [(r.track.id, r.node, r.person) for s in sources for r in reader.tracks(s)]
    return faces + [(r.utterance.id, r.node, r.person) for s in sources for r in reader.speech(s)]


class Hand:
    """Clicks in a window. `clicks`: all but those that choose what belongs together (`choosing`)."""

    def __init__(self, memory: str, labels: Mapping[str, str]) -> None:
        self.app = launch.make_app()
        theme.apply(self.app, "light")
        self.labels = labels
        self.who: dict[str, str] = {}
        self.clicks = self.choosing = 0
        self.window = MainWindow(real(), WindowState())
        self.window.resize(*SIZE)
        self.window.show()
        self.window.dock_area.load_rest()
        self._until(lambda: len(self.window.dock_area.views) == len(self.window.docks), ": its views did not load")
        self.window.open_memory(memory)
        view = self.window.dock_area.views["people"]
        assert isinstance(view, PeopleView)
        self.people = view
        self._until(lambda: view.model.rowCount() > 0 and view.ask.isVisible(), ": it asked no question")
        self.began = time.monotonic()

    def _until(self, so: Callable[[], bool], what: str = "") -> None:
        end = time.monotonic() + PATIENCE
        while not so():
            if time.monotonic() > end:
                raise TimeoutError(f"the window did not get there{what}")
            self.app.processEvents()
            time.sleep(0.01)

    def _click(self, widget: QWidget) -> None:
        assert widget.isVisible() and widget.isEnabled(), f"{type(widget).__name__} “{widget.accessibleName()}” can't be clicked"
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
        self.clicks += 1

    def _choose(self, row: QListWidgetItem) -> None:
        view = row.listWidget()
        view.scrollToItem(row)
        self.app.processEvents()
        where = view.visualItemRect(row).topLeft() + QPoint(6, 6)
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, where)
        assert row.isSelected(), f"a click did not select “{row.text()}”"
        self.choosing += 1

    def mixed(self) -> dict[str, set[str]]:
        """Return person → the names of the labelled faces and voices, of those who are several people."""
        found: list[list[tuple[str, str | None, str | None]]] = []
        self.window.hub.read("probe", _held, found.append)
        self._until(lambda: bool(found))
        if not self.who:  # a correction gives what it moves another node
            self.who = {o: self.labels[node] for o, node, _ in found[0] if node is not None and node in self.labels}
        names: dict[str, set[str]] = defaultdict(set)
        for observation, _, person in found[0]:
            if person is not None and observation in self.who:
                names[person].add(self.who[observation])
        return {person: mine for person, mine in names.items() if len(mine) > 1}

    def _names(self, item: Evidence) -> set[str]:
        return {self.who[o] for o in item.observations if o in self.who}

    def by_cards(self) -> dict[str, Any]:
        """Answer the questions as long as the user knows the answer; what is left then is sorted on the board."""
        self._click(self.people.ask)
        view, answers = self.people.questions, 0
        while (mixed := self.mixed()) and answers < MOST:
            try:
                self._until(lambda: view.card.shown is not None and view.card.isVisible(), ": no more questions")
            except TimeoutError:
                break
            shown = view.card.shown
            assert shown is not None
            sides = [{name for item in side.items for name in self._names(item)} for side in shown.sides]
            about = shown.question.kind == "two_people" and shown.question.people[0] in mixed
            known = about and all(sides)
            if not known:
                break
            self._click(view.card.buttons["yes" if sides[0] != sides[1] else "no"])
            answers += 1
            self._until(lambda old=shown: view.card.shown is not old or not view.questions, ": after an answer")  # type: ignore[misc]
        self._click(view.to_list)
        return {"answers": answers, **self.by_board()}

    def by_board(self) -> dict[str, Any]:
        """Sort the labelled faces and voices of each person who is several on the board."""
        while mixed := self.mixed():
            self._sort(*next(iter(mixed.items())))
        return self._told()

    def _sort(self, person: str, names: set[str]) -> None:
        """Open a person's page and the board, and give each name a group."""
        view, page = self.people.list, self.people.page
        row = self.people.model.index(self.people.model.row_of(person))
        view.scrollTo(row, QAbstractItemView.ScrollHint.PositionAtCenter)
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(row).center())
        QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(row).center())
        self.clicks += 2
        self._until(lambda: page.page is not None and page.split.isEnabled(), ": no page")
        self._click(page.split)
        board = page.board
        self._until(lambda: board.groups[0].list.count() > 0, ": an empty board")
        while len(board.groups) < len(names):
            self._click(board.add)
        for number, name in enumerate(sorted(names)[1:], 1):
            for item in board.groups[0].list.rows():
                if self._names(item.data(ITEM)) == {name}:
                    self._choose(item)
            self._click(board.groups[number].take)
        closed: list[int] = []
        board.finished.connect(closed.append)
        self._click(board.apply)
        self._until(lambda: bool(closed), ": the board stayed open")
        self._click(page.to_list)

    def _told(self) -> dict[str, Any]:
        seconds = round(time.monotonic() - self.began, 1)
        found = {"clicks": self.clicks, "choosing": self.choosing, "separated": not self.mixed(), "seconds": seconds}
        self.window.close()
        return found


def measure(memory: str, labels: Mapping[str, str], road: str) -> dict[str, Any]:
    """Separate the fused people of a memory by "cards" or by the "board"; return the clicks, and seconds without a user's thinking."""
    hand = Hand(memory, labels)
    return hand.by_cards() if road == "cards" else hand.by_board()
