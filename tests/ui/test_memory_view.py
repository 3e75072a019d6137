"""The memories table: filter, play, edit, pin, delete; growing keeps the place."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look.choice import Choice
from m3desk_ui.memory.memory_model import KIND, PEOPLE, SENTENCE, TEXT, TIME, Part
from m3desk_ui.memory.memory_view import MemoryView
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from m3desk import events
from m3desk.bench import invented, scale_filter
from tests.ui.fakes import FakeDesk, World


@pytest.fixture
def view(qtbot: QtBot, hub: Hub) -> MemoryView:
    view = MemoryView(hub)
    qtbot.addWidget(view)
    view.resize(900, 400)
    view.show()
    qtbot.waitUntil(lambda: view.model.rowCount() > 0, timeout=30_000)
    return view


def test_every_sentence_is_a_row_with_time_text_people_kind_and_weight(view: MemoryView, world: World) -> None:
    assert view.proxy.rowCount() == len(world.sentences)
    row = next(r for r in range(view.model.rowCount()) if view.model.rows[r].id == "k1")
    cells = [view.model.index(row, c).data() for c in range(5)]
    assert cells[TEXT] == "Bob drinks green tea"
    assert cells[TIME] == "00:00"
    assert cells[PEOPLE] == "Bob"
    assert cells[KIND] == "habits"


@pytest.mark.parametrize("width", [360, 520, 900])
def test_sentences_have_most_of_the_width_and_nothing_scrolls_sideways(qtbot: QtBot, view: MemoryView, width: int) -> None:
    view.resize(width, 300)
    qtbot.waitUntil(lambda: view.table.columnWidth(TEXT) >= 0.4 * width, timeout=30_000)
    assert sum(view.table.columnWidth(c) for c in range(5)) <= view.table.viewport().width()


def test_typing_filters_by_all_words_and_people(qtbot: QtBot, view: MemoryView) -> None:
    view.words.setText("bob TEA")
    qtbot.waitUntil(lambda: view.proxy.rowCount() < view.model.rowCount(), timeout=30_000)
    found = [view.proxy.index(r, TEXT).data() for r in range(view.proxy.rowCount())]
    assert "Bob drinks green tea" in found
    assert all("tea" in f.lower() for f in found)


def test_kind_and_person_narrow_it_further(view: MemoryView) -> None:
    view.kind.setCurrentIndex(view.kind.findData("semantic"))
    assert view.proxy.rowCount() == 6
    view.person.setCurrentIndex(view.person.findData("person_2"))
    assert view.proxy.rowCount() == 2


def test_a_click_selects_and_plays_the_moment(qtbot: QtBot, view: MemoryView, hub: Hub) -> None:
    index = view.proxy.index(3, TEXT)
    row = index.data(Qt.ItemDataRole.UserRole + 1)
    with qtbot.waitSignals([hub.selection.seek, hub.selection.selected]):
        view.table.clicked.emit(index)
    assert hub.selection.current == ("node", row.id)


def test_edit_pin_and_delete_are_corrections(view: MemoryView, desk: FakeDesk) -> None:
    row = view.model.rows[0]
    number = view.model.rows.index(row)
    view.model.setData(view.model.index(number, TEXT), "better words")
    view.pin(row)
    view.delete(row)
    kinds = [(a[0], a[1]["node"]) for a, _ in desk.called("correct")]
    assert kinds == [("edit", row.id), ("pin", row.id), ("delete", row.id)]


def test_memories_of_a_new_clip_appear_and_the_selected_row_stays(qtbot: QtBot, view: MemoryView, desk: FakeDesk, world: World) -> None:
    view.table.setCurrentIndex(view.proxy.index(4, TEXT))
    chosen = view.table.currentIndex().data(Qt.ItemDataRole.UserRole + 1).id
    before = view.model.rowCount()
    late = replace(world.sentences[0], id="m99", start=149_000_000, end=149_500_000, clip="s1.c4")
    world.sentences.append(late)
    desk.emit(events.ClipCommitted("s1.c4", "episodic", sentences=("m99",)))
    qtbot.waitUntil(lambda: view.model.rowCount() == before + 1, timeout=30_000)
    assert view.table.currentIndex().data(Qt.ItemDataRole.UserRole + 1).id == chosen


def test_the_filter_survives_news(qtbot: QtBot, view: MemoryView, desk: FakeDesk) -> None:
    view.words.setText("tea")
    qtbot.waitUntil(lambda: view.proxy.rowCount() < view.model.rowCount(), timeout=30_000)
    few = view.proxy.rowCount()
    desk.emit(events.Corrected(1, "name", "", True, False))
    qtbot.wait(600)
    assert view.following.at_rest
    assert view.proxy.rowCount() == few


def test_where_the_person_of_the_filter_is_gone_everybody_is_shown_as_the_filter_says(view: MemoryView) -> None:
    rows = [r for r in view.model.rows if "person_2" in r.people]
    view.person.setCurrentIndex(view.person.findData("person_2"))
    assert view.proxy.rowCount() == len(rows)
    merged = [replace(r, people=tuple(dict.fromkeys("person_1" if p == "person_2" else p for p in r.people))) for r in rows]
    view._patch(Part(frozenset(r.id for r in rows), merged, frozenset({"person_2"}), {}, {}))
    assert view.person.currentData() is None
    assert view.proxy.rowCount() == view.model.rowCount()


def test_selecting_elsewhere_marks_the_row(view: MemoryView, hub: Hub) -> None:
    hub.selection.select("node", "m7")
    assert view.table.currentIndex().data(Qt.ItemDataRole.UserRole + 1).id == "m7"


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))])
def test_whatever_was_typed_before_the_rows_are_those_that_fit(qtbot: QtBot, view: MemoryView, seed: int) -> None:
    dice = random.Random(seed)
    rows, names = scale_filter.sentences(300)
    view.model.show(rows, names, {})
    words = ["", "a", "an", "ann", "anne", "says ba", "ba says", "does", "s b", "view", "comes", *invented.NAMES[:3]]
    for _ in range(60):
        if dice.random() < 0.3:
            view.table.sortByColumn(dice.randrange(5), dice.choice([Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder]))
        if dice.random() < 0.1:  # a row says something else now
            rows[dice.randrange(300)] = changed = replace(dice.choice(rows), shown=f"Ann says b{dice.random()}")
            view.model.patch(Part(frozenset({changed.id}), [changed], frozenset(), {}, {}))
        typed, kind, person = dice.choice(words), dice.choice([None, None, "semantic"]), dice.choice([None, None, "person_1", "person_2"])
        view.proxy.wish(typed, kind, person)
        model = view.model
        wanted = model.fitting(typed.casefold().split(), kind, person, range(model.rowCount()))
        found = [view.proxy.mapToSource(view.proxy.index(n, 0)).row() for n in range(view.proxy.rowCount())]
        assert sorted(found) == list(wanted)
        keys = model.keys(view.proxy._column, found) or found
        assert keys == sorted(keys, reverse=view.proxy._descending)


def test_while_a_memory_is_read_the_table_says_so_and_not_that_nothing_is_remembered(qtbot: QtBot, hub: Hub, view: MemoryView) -> None:
    hub.open(FakeDesk(), "/another")
    assert "Reading" in view.empty.text()
    qtbot.waitUntil(lambda: view.model.rowCount() > 0, timeout=30_000)


def test_only_the_memories_of_a_span_are_shown_until_it_is_taken_back(view: MemoryView, hub: Hub) -> None:
    start, end = 30_000_000, 60_000_000
    hub.selection.span.emit("s1", start, end)
    assert view.proxy.rowCount() == view.model.rowCount()  # not before it is wished
    hub.selection.search_within.emit("s1", start, end)
    shown = [view.proxy.index(n, 0).data(SENTENCE) for n in range(view.proxy.rowCount())]
    wanted = [r for r in view.model.rows if r.source == "s1" and r.start < end and r.end > start]
    assert [r.id for r in shown] == [r.id for r in wanted] and 0 < len(wanted) < view.model.rowCount()
    assert view.within.isVisible() and view.within.text() == "00:30 – 01:00" and "00:30" in view.within.accessibleName()
    view.within.click()
    assert view.proxy.rowCount() == view.model.rowCount() and not view.within.isVisible()
    hub.selection.search_within.emit("s1", start, end)
    hub.selection.span.emit("", 0, 0)
    assert view.proxy.rowCount() == view.model.rowCount()


def test_what_holds_the_words_typed_is_marked_on_the_timeline(qtbot: QtBot, view: MemoryView, hub: Hub) -> None:
    told: list[tuple[tuple[str, int, int], ...]] = []
    hub.selection.highlighted.connect(told.append)
    view.words.setText("tea")
    qtbot.waitUntil(lambda: bool(told), timeout=30_000)
    shown = [view.proxy.index(n, 0).data(SENTENCE) for n in range(view.proxy.rowCount())]
    assert told[-1] == tuple((r.source, r.start, r.end) for r in shown) and shown
    view.words.clear()
    qtbot.waitUntil(lambda: told[-1] == (), timeout=30_000)
    assert len(told) == 2


def test_a_choice_without_room_ends_in_an_ellipsis(hub: Hub, qtbot: QtBot) -> None:
    choice = Choice()
    qtbot.addWidget(choice)
    choice.addItem("Everybody")
    choice.show()
    assert choice.shown_text() == "Everybody"
    choice.setFixedWidth(84)
    assert choice.shown_text().endswith("…") and choice.shown_text().startswith("Eve")
