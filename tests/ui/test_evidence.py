"""Evidence on cards: faces and words, and sentences where an observation has neither (imported graphs)."""

from __future__ import annotations

from dataclasses import replace

from m3desk_ui.hub.bridge import Hub
from m3desk_ui.people.evidence import MEANT, read_evidence
from m3desk_ui.people.evidence_list import EvidenceList
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.ui.fakes import FakeReader, World


def without_words(world: World) -> None:
    """Leave of each utterance only that somebody speaks in the clip, as in an imported graph."""
    world.speech = [replace(r, utterance=replace(r.utterance, text="", words=(), audio=None)) for r in world.speech]


def test_a_voice_without_words_is_shown_once_with_the_sentences_that_rest_on_it(world: World) -> None:
    without_words(world)
    mine = [r.utterance.id for r in world.speech if r.person == "person_2"]
    shown = read_evidence(FakeReader(world), mine)
    assert len(shown) == 1 and shown[0].observations == tuple(mine) and shown[0].clips > 1
    assert shown[0].told and all(text.startswith(f"{MEANT} says") for text in shown[0].told)


def test_an_utterance_with_words_and_a_face_with_a_box_stand_for_themselves(world: World) -> None:
    shown = read_evidence(FakeReader(world), ["s1.c0.f1", "s1.c0.u1", "s1.c1.f0"])
    assert [e.observations for e in shown] == [("s1.c0.f1",), ("s1.c0.u1",), ("s1.c1.f0",)]
    assert shown[1].words and not any(e.told for e in shown)


def test_in_a_sentence_others_are_called_by_their_names(world: World) -> None:
    without_words(world)
    one, two = world.sentences[0], world.sentences[1]
    both = replace(
        one, text="someone greets someone", spans=(one.spans[0], replace(two.spans[0], start=15, end=22)), people=("person_1", "person_2")
    )
    world.sentences[0] = both
    (shown,) = read_evidence(FakeReader(world), [one.citations[0]])
    assert f"{MEANT} greets Bob" in shown.told


def test_a_sentence_that_only_joins_a_face_and_a_voice_is_no_evidence_of_who_they_are(hub: Hub, qtbot: QtBot, world: World) -> None:
    without_words(world)
    voice = next(r for r in world.speech if r.person == "person_2")
    mine = [n for n, s in enumerate(world.sentences) if any(voice.utterance.id in span.observations for span in s.spans)]
    world.sentences = [
        replace(s, text="Equivalence: someone", spans=(replace(s.spans[0], start=13, end=20),)) if n in mine else s
        for n, s in enumerate(world.sentences)
    ]
    (shown,) = read_evidence(FakeReader(world), [voice.utterance.id])
    assert shown.told == () and shown.bare
    view = EvidenceList(hub)
    qtbot.addWidget(view)
    view.fill([shown], movable=True)
    assert "(no sentence tells of it)" in view.item(0).text()


def test_space_moves_what_is_selected_and_answers_stay_keys_of_the_card(qtbot: QtBot, hub: Hub, world: World) -> None:
    view = EvidenceList(hub)
    qtbot.addWidget(view)
    view.show()
    view.fill(read_evidence(FakeReader(world), ["s1.c0.f1", "s1.c1.f0"]), movable=True)
    wanted: list[object] = []
    view.other_wanted.connect(wanted.append)
    view.setCurrentRow(1)
    qtbot.keyClick(view, Qt.Key.Key_Space)
    assert wanted == [view.item(1)]
