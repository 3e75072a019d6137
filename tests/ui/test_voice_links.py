"""What joins a person's face and voice is shown, and separated or joined; another voice is chosen by its person."""

from __future__ import annotations

import pytest
from m3desk_ui import launch
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.people.person_picker import PersonPicker
from m3desk_ui.people.voice_links import VoiceLinks, evidence
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from m3desk.domain import equivalence
from m3desk.domain.insight import VoiceLink
from tests.ui.fakes import FakeDesk, World


@pytest.fixture
def dialog(qtbot: QtBot, hub: Hub, world: World) -> VoiceLinks:
    parent = QWidget()
    qtbot.addWidget(parent)
    made = VoiceLinks(hub, next(p for p in world.people if p.id == "person_1"), parent)
    made.keep = parent  # type: ignore[attr-defined]
    made.show()
    qtbot.waitUntil(lambda: made.rows.topLevelItemCount() == 2, timeout=30_000)
    return made


def test_each_pair_tells_what_speaks_for_it(dialog: VoiceLinks) -> None:
    first, second = (dialog.rows.topLevelItem(i) for i in range(2))
    assert first is not None and second is not None
    assert first.text(0) == "Ann" and first.text(1).startswith("Ann") and first.text(3) == "one person"
    assert first.text(2) == "the lips move with the voice (2.0); alone in view while the voice speaks (1.0)"
    assert second.text(1).startswith("Bob") and second.text(3) == "not joined"


def test_every_kind_of_vote_is_told_in_words_in_both_languages(qapp: QApplication) -> None:
    kinds = ("lips in step", "lips", "lips in turn", "in turn", "alone in view", "mouth still", equivalence.SAME_NAME)
    kinds += (f"{equivalence.WRITER}qwen3-vl-2b", "m3-agent characters", "consolidation sface")
    assert set(kinds) >= equivalence.PHYSICAL
    for language in ("en", "zh"):
        launch.use_language(qapp, language)
        try:
            told = [evidence(VoiceLink("n1", "n2", 1.0, ((by, 1.0),), True)).removesuffix(" (1.0)") for by in kinds]
        finally:
            launch.use_language(qapp, "en")
        assert not set(told) & set(kinds)
        assert language == "en" or not any(letter.isascii() and letter.isalpha() for letter in "".join(told))


def test_a_pair_is_separated_or_joined(dialog: VoiceLinks, desk: FakeDesk, qtbot: QtBot) -> None:
    assert dialog.toggle.text() == "Not their voice"
    dialog.toggle.click()
    dialog.rows.setCurrentItem(dialog.rows.topLevelItem(1))
    assert dialog.toggle.text() == "This is their voice"
    dialog.toggle.click()
    done = [args for args, kw in desk.called("correct")]
    assert done == [("unlink", {"face": "n1", "voice": "n2"}), ("link", {"face": "n1", "voice": "n4"})]


def test_another_persons_voice_is_chosen_for_the_face(dialog: VoiceLinks, desk: FakeDesk, world: World, qtbot: QtBot) -> None:
    dialog.other.click()

    def picker() -> PersonPicker | None:
        return next((w for w in dialog.findChildren(PersonPicker) if w.isVisible()), None)

    qtbot.waitUntil(lambda: picker() is not None, timeout=30_000)
    chosen = picker()
    assert chosen is not None
    chosen.search.setText("Bob")
    chosen.accept()
    bob = next(p for p in world.people if p.shown == "Bob")
    ann = next(p for p in world.people if p.id == "person_1")
    assert desk.called("correct")[-1][0] == ("link", {"face": ann.faces[0], "voice": bob.voices[0]})


def test_a_correction_after_it_was_closed_is_no_fault(dialog: VoiceLinks, hub: Hub, qtbot: QtBot) -> None:
    dialog.close()
    qtbot.waitUntil(lambda: not isValid(dialog), timeout=30_000)
    with qtbot.waitSignal(hub.corrected):
        hub.correct("name", {"person": "person_1", "name": "Anne"})


def test_two_people_can_be_looked_at_side_by_side(qtbot: QtBot, hub: Hub, world: World) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    both = [VoiceLinks(hub, person, parent) for person in world.people[:2]]
    for made in both:
        made.show()
    qtbot.waitUntil(lambda: all(made.rows.topLevelItemCount() for made in both), timeout=30_000)
