"""What corrections did, in the words of a person, from the lines that the engine writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from m3desk_ui.hub.called import called
from m3desk_ui.launch import use_language
from m3desk_ui.look import deeds
from PySide6.QtWidgets import QApplication

from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, source
from tests.ui.fakes import FakeReader, World

WORDS = re.compile(r"\b(?!Ann\b|Bob\b|Cy\b|Hello\b|s\b)[A-Za-z]+")
"""English words; not the names and words of the test's own people, nor seconds."""


@pytest.fixture
def chinese(qapp: QApplication) -> Iterator[None]:
    use_language(qapp, "zh")
    yield
    use_language(qapp, "en")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("names Person 11 “Ann”", "Named Person 11 “Ann”"),
        ("names Jeff Steen? “Jeff Steen” (5 memories read differently)", "Confirmed the name “Jeff Steen” (5 memories read differently)"),
        ("names Jeff? “Jeff Steen”", "Named Jeff? “Jeff Steen”"),
        (
            "takes 14 faces and 75 utterances from Person 0 (14 faces and 75 utterances are reassigned, 474 memories read differently)",
            "Gave 14 faces and 75 utterances of Person 0 to somebody new (474 memories read differently)",
        ),
        ("gives 2 faces to Ann (2 faces are reassigned)", "Gave 2 faces to Ann"),
        ("merges Person 3, Person 4 into Ann (2 faces are reassigned)", "Merged Person 3 and Person 4 into Ann (2 faces reassigned)"),
        ("takes back step 1 (1 memory reads differently)", "Taken back: Named Person 1 “Ann” (1 memory read differently)"),
        ("takes back step 9; step 1 rested on it", "Taken back: a correction; it was the basis of: Named Person 1 “Ann”"),
        (
            "confirms the words of the utterance at 00:01 (1 memory reads differently)",
            "Confirmed the words of the utterance at 00:01 (1 memory read differently)",
        ),
        ("says that the face at 00:33 are not Ann", "Noted that the face at 00:33 is not Ann"),
        ("says that 1 face and 3 utterances are not Ann", "Noted that 1 face and 3 utterances are not Ann"),
        (
            "takes 5 faces and 19 utterances from Person 15 (5 faces are reassigned); overrides step 1 (takes 1 face from Person 0)",
            "Gave 5 faces and 19 utterances of Person 15 to somebody new (5 faces reassigned); "
            "this changes an earlier correction: Gave 1 face of Person 0 to somebody new",
        ),
        ("an unknown line (of another kind); with more", "an unknown line (of another kind); with more"),
    ],
)
def test_a_correction_is_told_as_a_person_would(qapp: QApplication, line: str, said: str) -> None:
    assert deeds.done(line, {1: "names Person 1 “Ann” (3 memories read differently)"}) == said


def test_a_preview_says_what_would_change_and_no_number_of_a_step(qapp: QApplication) -> None:
    line = "takes back step 9; step 1 rested on it (1 face is reassigned, 2 memories read differently and need rewriting)"
    said = deeds.would(line, {1: "names Person 1 “Ann”"})
    assert said == "1 face reassigned, 2 memories read differently and need rewriting; it was the basis of: Named Person 1 “Ann”"


STEPS: list[tuple[str, dict[str, Any]]] = [
    ("name", {"person": "person_1", "name": "Ann"}),
    ("assign", {"observations": ["s1.c0.f1"], "person": "person_1"}),
    ("merge", {"keep": "person_1", "others": ["person_2"]}),
    ("distinct", {"a": "person_1", "b": "person_2"}),
    ("split", {"person": "person_1", "observations": ["s1.c0.f0"], "name": "Cy"}),
    ("exclude", {"observations": ["s1.c0.u0"], "person": "person_1"}),
    ("set-aside", {"observation": "s1.c0.f0"}),
    ("words", {"observation": "s1.c0.u0", "text": "Hello."}),
    ("bookmark", {"source": "s1", "start": 5_000_000}),
    ("bookmark", {"source": "s1", "start": 6_000_000, "text": "Ann; (Bob)"}),
    ("bounds", {"observation": "s1.c0.u0", "start": 1_000_000, "end": 2_000_000}),
    ("ignore", {"person": "person_2", "ignored": True}),
    ("ignore", {"person": "person_2", "ignored": False}),
    ("name", {"person": "person_1", "name": None}),
]


def test_in_a_chinese_window_the_engines_lines_are_chinese(chinese: None, tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m.m3desk") as memory:
        memory.plan_clips(memory.add_source(source()).id, clips("s1"), fps=5.0)
        for people in ((1, 2), (1, 3)):
            remember(memory, memory.next_clips("s1")[0], people)
        memory.correct("name", {"person": "person_1", "name": "Ann"})
        lines = {}
        for kind, args in STEPS[1:]:
            line = memory.correct(kind, args).text
            lines[line] = deeds.done(line)
            if kind != "name":
                memory.undo()
        step = memory.journal()[0].step
        back = memory.correct("revert", {"step": step, "also": True}, dry_run=True).text
        lines[back] = deeds.done(back, {s.step: s.text for s in memory.journal()})
        for suggestion in memory.suggestions():
            lines[suggestion.effect] = deeds.change(suggestion.effect)
    assert {line: said for line, said in lines.items() if WORDS.search(said)} == {}


@pytest.mark.parametrize(
    "line", ["changes a bookmark at 00:05", "changes a bookmark at 00:05: “Ann; (Bob)”", "removes a bookmark at 01:00:05"]
)
def test_what_was_done_to_a_bookmark_is_told_in_chinese_too(chinese: None, line: str) -> None:
    assert "书签" in deeds.done(line) and WORDS.search(deeds.done(line)) is None


def test_who_has_no_name_is_called_by_number_in_the_windows_language(chinese: None, world: World) -> None:
    reader = called(FakeReader(world))
    assert [p.shown for p in reader.people()][4] == "人物 5" and reader.person("person_1").shown == "Ann"
    assert reader.people_of(["person_5"])[0].shown == "人物 5"
    assert {r.shown for r in reader.tracks("s1") if r.person == "person_5"} == {"人物 5"}
    assert reader.path == "/memories/kitchen.m3desk"


def test_in_an_english_window_a_reader_is_left_as_it_is(qapp: QApplication, world: World) -> None:
    use_language(qapp, "en")
    reader = FakeReader(world)
    assert called(reader) is reader
