"""What a check found, in words: in the window's language, and without ids."""

from __future__ import annotations

import re

import pytest
from m3desk_ui.launch import use_language
from m3desk_ui.look import findings
from PySide6.QtWidgets import QApplication

LINES = (
    (
        "Person 3 has 9 faces and 12 voices; the weakest link is face_3–voice_9 (2)",
        "Person 3 has 9 faces and 12 voices; one face and one voice are joined by little evidence (2)",
    ),
    (
        "Ann has 9 faces and 12 voices",
        "Ann has 9 faces and 12 voices",
    ),
    (
        "face_2 and voice_9 are one person by votes of 3, but in 7 clips sentences speak of them as two",
        "A face and a voice are taken for one person, but sentences of 7 clips speak of two",
    ),
    (
        "Person 4 is known from s1.c11 alone",
        "Person 4 is known from clip 12 alone",
    ),
    (
        "nothing speaks of voice_9",
        "Nothing speaks of this voice",
    ),
    (
        "semantic_4 names <face_9>, which refers to nobody",
        "A memory names <face_9>, which refers to nobody",
    ),
    (
        "s1.c2 was memorized after s1.c10: its 4 conclusions may rest on later clips",
        "clip 3 was memorized after clip 11: its conclusions (4) may rest on later clips",
    ),
    (
        "episodic_4 speaks of a face that is nobody's",
        "A memory speaks of a face that is nobody's",
    ),
    (
        "forgetting was begun and is not finished: traces of what was forgotten may be left in this folder's files",
        "Forgetting was begun and is not finished: traces of what was forgotten may be left in this memory's files",
    ),
)


@pytest.mark.parametrize(("line", "said"), LINES)
def test_a_finding_is_told_in_words(qapp: QApplication, line: str, said: str) -> None:
    assert findings.found(line) == said


def test_a_line_of_another_form_and_a_waiting_correction_are_told_too(qapp: QApplication) -> None:
    assert findings.found("the index lacks 3 rows") == "the index lacks 3 rows"
    assert findings.found("names Person 11 “Ann”") == "Named Person 11 “Ann”"


def test_in_a_chinese_window_findings_are_chinese(qapp: QApplication) -> None:
    use_language(qapp, "zh")
    try:
        told = {line: findings.found(line) for line, _ in LINES}
    finally:
        use_language(qapp, "en")
    words = re.compile("[A-Za-z]+")
    assert {line: said for line, said in told.items() if words.search(said.replace("Ann", "").replace("face_9", ""))} == {}
