"""The inspector: what it shows for each kind of item; every item is a link."""

from __future__ import annotations

from dataclasses import replace

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import links, texts
from m3desk_ui.memory.inspector import Inspector
from m3desk_ui.memory.inspector_words import read_thing
from PySide6.QtCore import QUrl
from pytestqt.qtbot import QtBot

from m3desk.errors import CorrectionError
from tests.ui.fakes import FakeReader, World


@pytest.mark.parametrize(
    ("kind", "id_", "holds"),
    [
        ("node", "m2", ["green tea", "m3://person/person_2", "m3://observation/s1.c0.u1", "m3://source/s1"]),
        ("node", "k1", ["Bob drinks green tea", "qwen"]),
        ("person", "person_3", ["Jeff Steen", "Host JEFF STEEN", "m3://node/n5"]),
        ("observation", "s1.c1.f0", ["93%", "sface", "m3://clip/s1.c1", "m3://node/n3"]),
        ("observation", "s1.c1.u0", ["86%", "m3://person/"]),
        ("clip", "s1.c1", ["cup", "Host JEFF STEEN", "m3://node/m"]),
        ("source", "s1", ["meeting in the kitchen.mp4", "m3://clip/s1.c5"]),
        ("node", "n1", ["Face", "m3://person/person_1"]),
    ],
)
def test_a_thing_is_shown_with_where_it_comes_from(world: World, kind: str, id_: str, holds: list[str]) -> None:
    found = read_thing(FakeReader(world), kind, id_)
    said = " ".join(
        [found.title, found.what, *(h for _, h in (*found.facts, *found.details)), *(r.html for _, rows in found.lists for r in rows)]
    )
    for part in holds:
        assert part in said


def test_a_person_is_told_with_whom_and_each_relation_leads_to_its_evidence(world: World) -> None:
    both = next(m for m in world.sentences if m.id == "k3")
    world.sentences[world.sentences.index(both)] = replace(both, people=("person_2", "person_1"))
    found = read_thing(FakeReader(world), "person", "person_2")
    ((_, (head, phrase)),) = [part for part in found.lists if part[0] == "Together with"]
    assert "m3://person/person_1" in head.html and "1 memory together" in head.html and head.at is None
    assert "colleagues" in phrase.html and "m3://node/k3" in phrase.html and phrase.at == (both.source, both.start)
    known = [row.html for heading, rows in found.lists if heading.startswith("Known") for row in rows]
    assert known and not any("colleagues" in row for row in known)  # told once
    assert "person_1" in found.rests


def test_what_is_gone_raises(world: World) -> None:
    with pytest.raises((KeyError, CorrectionError)):
        read_thing(FakeReader(world), "person", "person_99")


def test_selecting_shows_and_back_returns(qtbot: QtBot, hub: Hub) -> None:
    view = Inspector(hub)
    qtbot.addWidget(view)
    hub.selection.select("node", "m2")
    qtbot.waitUntil(lambda: "green tea" in view.text.toPlainText(), timeout=30_000)
    hub.selection.select("person", "person_1")
    qtbot.waitUntil(lambda: "Ann" in view.text.toPlainText() and "green tea, please" not in view.text.toPlainText(), timeout=30_000)
    view.back.click()
    qtbot.waitUntil(lambda: "green tea, please" in view.text.toPlainText(), timeout=30_000)
    assert hub.selection.current == ("node", "m2")


def test_what_disappeared_is_said_and_not_an_error_box(qtbot: QtBot, hub: Hub) -> None:
    view = Inspector(hub)
    qtbot.addWidget(view)
    hub.selection.select("node", "no such node")
    qtbot.waitUntil(lambda: "no longer" in view.text.toPlainText(), timeout=30_000)


def test_after_a_person_is_forgotten_it_is_cleared_and_names_nobody(qtbot: QtBot, hub: Hub, world: World) -> None:
    view = Inspector(hub)
    qtbot.addWidget(view)
    hub.selection.select("person", "person_1")
    qtbot.waitUntil(lambda: "Ann" in view.text.toPlainText(), timeout=30_000)
    view._gone(CorrectionError("nobody here is called person_1.", "See: m3desk people list."))
    assert "person_1" not in view.text.toPlainText() and "Select a person" in view.text.toPlainText()
    assert not view.ask.isEnabled()


def test_texts_of_a_memory_cannot_make_links_or_markup(world: World) -> None:
    from dataclasses import replace

    row = world.sentences[0]
    world.sentences[0] = replace(row, shown='<a href="m3://play/s1/0">x</a><img src=x>')
    found = read_thing(FakeReader(world), "clip", row.clip)
    assert not any("<img" in row.html for _, rows in found.lists for row in rows)


def test_ids_models_and_scores_are_folded_away_until_wanted(qtbot: QtBot, hub: Hub) -> None:
    view = Inspector(hub)
    qtbot.addWidget(view)
    view.show()
    hub.selection.select("node", "k1")
    qtbot.waitUntil(lambda: "green tea" in view.text.toPlainText(), timeout=30_000)
    assert "qwen" not in view.text.toPlainText() and "k1" not in view.text.toPlainText() and "Based on" in view.text.toPlainText()
    view.text.anchorClicked.emit(QUrl(links.href("details")))
    assert "qwen" in view.text.toPlainText() and "k1" in view.text.toPlainText()
    hub.selection.select("person", "person_2")
    qtbot.waitUntil(lambda: "Known: habits" in view.text.toPlainText(), timeout=30_000)
    assert "n3" in view.text.toPlainText()  # the fold stays open


def test_links_play_moments_and_select_things(qtbot: QtBot, hub: Hub) -> None:
    with qtbot.waitSignal(hub.selection.seek) as told:
        assert links.follow(hub, links.href("play", "s1", 3_000_000_000))
    assert told.args == ["s1", 3_000_000_000, True]
    assert links.follow(hub, links.href("node", "weird/id with space"))
    assert hub.selection.current == ("node", "weird/id with space")
    assert not links.follow(hub, "https://example.org")
    assert not links.follow(hub, "m3://delete/everything")


def test_a_merged_person_is_called_by_number_and_not_by_an_id() -> None:
    assert texts.alias("person_2") == "Person 2"
    assert texts.alias("Jeff") == "Jeff"


def test_who_is_seen_and_heard_shortly_is_not_so_for_0_s(world: World) -> None:
    world.people[0] = replace(world.people[0], screen_time=400_000, speech_time=300_000)
    found = read_thing(FakeReader(world), "person", "person_1")
    assert [value for _, value in found.facts].count("1 s") == 2
    assert texts.presence(0) == "0 s" and texts.presence(2_600_000) == "3 s"


def test_numbers_of_merged_people_are_details_and_names_are_not(world: World) -> None:
    from dataclasses import replace

    world.people[0] = replace(world.people[0], aliases=("person_15", "Annie"))
    found = read_thing(FakeReader(world), "person", "person_1")
    assert any("Annie" in html for _, html in found.facts) and not any("Person 15" in html for _, html in found.facts)
    assert any("Person 15" in html for _, html in found.details)


def test_no_knowledge_is_promised_of_a_clip_that_has_none() -> None:
    assert texts.source_state("episodic") == "memorized, no knowledge yet"  # true without a language model, too
