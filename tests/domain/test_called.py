"""The mark of a suggested name is put on and taken off in one place."""

import re
from pathlib import Path

from m3desk.domain.people import Person, marked, unmarked

ROOT = Path(__file__).parents[2]


def test_a_suggested_name_has_one_mark_and_is_called_without_it() -> None:
    assert marked("Ann") == "Ann?" and marked("Ann?") == "Ann?" and marked("") == ""
    assert unmarked("Ann?") == "Ann" and unmarked("Ann") == "Ann"
    assert Person("person_1", 1, None, "suggested", "Ann?").called == "Ann"
    assert Person("person_1", 1, None, "none", "Person 1").called == "Person 1"


def test_a_question_mark_of_a_confirmed_name_is_part_of_it() -> None:
    assert Person("person_1", 1, "Guess Who?", "confirmed", "Guess Who?").called == "Guess Who?"


def test_no_other_module_cuts_the_mark() -> None:
    cuts = re.compile(r"""(?:remove|r?strip|ends)\w*\(["']\?["']\)""")
    modules = [p for top in ("m3desk", "ui", "plugins") for p in (ROOT / top).rglob("*.py") if p.name != "people.py"]
    named = ("name", "shown")
    found = [p for p in modules for line in p.read_text("utf-8").splitlines() if cuts.search(line) and any(n in line for n in named)]
    assert found == []
