"""How sure it is that a person's parts belong together: in words, as a small bar, with what fits least."""

from __future__ import annotations

from dataclasses import replace

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.people.person_page import PersonPage
from m3desk_ui.people.sureness import level
from pytestqt.qtbot import QtBot

from m3desk.domain.insight import Belonging
from m3desk.errors import CorrectionError
from tests.ui.fakes import FakeDesk


@pytest.fixture
def page(qtbot: QtBot, hub: Hub) -> PersonPage:
    made = PersonPage(hub)
    qtbot.addWidget(made)
    made.dress()
    made.show()
    return made


def test_it_is_told_in_words_and_what_fits_least_leads_to_why(page: PersonPage, hub: Hub, desk: FakeDesk, qtbot: QtBot) -> None:
    mine = [r.utterance.id for r in desk.world.speech if r.person == "person_1"][:2]
    desk.sure = replace(desk.sure, least=((mine[1], 0.62), (mine[0], 0.9)))
    page.show_person("person_1")
    qtbot.waitUntil(lambda: page.sureness.isVisible(), timeout=30_000)
    shown = page.sureness.text.text()
    assert "Very sure that all of this is one person" in shown and "97 %" in shown and "62 %" in shown and "90 %" not in shown
    assert page.sureness.bar.value() == 97 and "97 %" in page.sureness.bar.accessibleDescription()
    page.sureness.text.linkActivated.emit(f"m3://observation/{mine[1]}")
    assert hub.selection.current == ("observation", mine[1])


def test_on_a_narrow_page_the_words_have_its_whole_width(page: PersonPage, qtbot: QtBot) -> None:
    sureness = page.sureness
    page.show_person("person_1")
    qtbot.waitUntil(sureness.isVisible, timeout=30_000)
    sureness.setParent(None)
    qtbot.addWidget(sureness)
    sureness.show()
    sureness.resize(220, 80)
    qtbot.waitUntil(lambda: sureness.text.width() == 220 and sureness.text.y() >= sureness.bar.geometry().bottom(), timeout=30_000)
    sureness.resize(600, 40)
    qtbot.waitUntil(lambda: sureness.text.x() > sureness.bar.geometry().right(), timeout=30_000)


@pytest.mark.parametrize("found", [Belonging(None, 0), CorrectionError("Nobody here is called person_1.")])
def test_without_two_to_compare_nothing_is_claimed(page: PersonPage, desk: FakeDesk, qtbot: QtBot, found: object) -> None:
    desk.fail["belonging"] = found  # type: ignore[assignment]
    page.show_person("person_1")
    qtbot.waitUntil(lambda: bool(desk.called("belonging")), timeout=30_000)
    qtbot.wait(30)
    assert not page.sureness.isVisible()


def test_the_words_follow_the_probability() -> None:
    assert [level(p) for p in (0.99, 0.9, 0.75, 0.4)] == ["Very sure", "Sure", "Fairly sure", "Not sure"]
