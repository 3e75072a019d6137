"""`--believed-at` and `--before` on the command line, alone and combined."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from m3desk.cli import main
from m3desk.store.memory import Memory
from tests.store.invented import clips, seen, source, text_vectors

MONDAY, TUESDAY, WEDNESDAY = (f"2026-11-{d}T12:00:00+00:00" for d in (16, 17, 18))


@pytest.fixture
def memory(tmp_path: Path) -> str:
    folder = tmp_path / "m.m3desk"
    with Memory.create(folder) as made:
        made.plan_clips(made.add_source(source()).id, clips("s1"), fps=5.0)
        for clip, people in zip(made.next_clips("s1")[:2], [(1, 2), (1, 3)], strict=True):
            perceived, draft = seen(clip, people)
            models = {"face_vectors": "sface 1", "voice_vectors": "campplus 1"}
            made.commit_episodic(clip, perceived, draft, text_vectors=text_vectors(draft), text_model="e5 1", models=models, at=MONDAY)
        made.correct("merge", {"keep": "person_2", "others": ["person_5"]}, at=TUESDAY)
        made.correct("name", {"person": "person_2", "name": "Bob"}, at=TUESDAY)
        made.undo(2, at=WEDNESDAY)
    return str(folder)


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[Any, str]:
    assert main([*words, "--json"]) == 0
    out, err = capsys.readouterr()
    return json.loads(out), err


def test_people_are_listed_and_shown_as_they_were_believed(memory: str, capsys: pytest.CaptureFixture[str]) -> None:
    def names(*more: str) -> list[str | None]:
        return [p["name"] or p["id"] for p in said(capsys, "people", "list", "-m", memory, *more)[0]]

    assert names() == ["person_1", "person_2", "person_5"] == names("--believed-at", MONDAY)
    assert names("--believed-at", TUESDAY) == ["person_1", "Bob"]
    assert names("--believed-at", TUESDAY, "--before", "clip:0") == ["person_1", "Bob"]
    assert names("--before", "clip:0") == ["person_1", "person_2"]
    shown, _ = said(capsys, "people", "show", "Bob", "-m", memory, "--believed-at", TUESDAY)
    assert "person_5" in shown["aliases"] and shown["clips"] == ["s1.c0", "s1.c1"]
    with pytest.raises(AssertionError):
        said(capsys, "people", "show", "Bob", "-m", memory)


def test_words_are_found_as_they_were_shown_then(memory: str, capsys: pytest.CaptureFixture[str]) -> None:
    found, _ = said(capsys, "search", "nodes", "Bob", "-m", memory, "--kind", "episodic", "--believed-at", TUESDAY)
    assert found and all(n["people"] == ["person_2"] for n in found) and found[0]["content"].startswith("Bob")
    found, _ = said(capsys, "search", "clips", "tea", "-m", memory, "--believed-at", MONDAY)
    assert found and not any("Bob" in m["content"] for c in found for m in c["memories"])


def test_a_date_before_everything_says_so_and_a_wrong_one_is_wrong_use(memory: str, capsys: pytest.CaptureFixture[str]) -> None:
    found, err = said(capsys, "people", "list", "-m", memory, "--believed-at", "2026-11-01")
    assert found == [] and "nothing was believed yet" in err and "2026-11-16" in err
    answer, _ = said(capsys, "ask", "Who appears?", "-m", memory, "--believed-at", "2026-11-01")
    assert answer["found"] is False
    assert main(["people", "list", "-m", memory, "--believed-at", "yesterday"]) == 2
    assert "is not a date" in capsys.readouterr().err


def test_a_question_to_the_past_is_kept_with_no_chat(memory: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer, _ = said(capsys, "ask", "Who appears?", "-m", memory, "--believed-at", TUESDAY)
    assert "Bob" in answer["answer"]
    with Memory.open(memory) as reader:
        assert reader.chats() == []


def test_an_empty_word_is_wrong_use_and_no_look_at_today(memory: str, capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--before", "--believed-at"):
        for line in (["people", "list"], ["ask", "Who appears?"], ["search", "nodes", "tea"]):
            assert main([*line, "-m", memory, option, ""]) == 2
    capsys.readouterr()


@pytest.mark.parametrize("ref", ["", " ", "²", "9" * 30])
def test_nobody_is_meant_by_what_is_no_reference(memory: str, ref: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Memory.open(memory, write=True) as made:
        for person in made.people()[1:]:  # of one without a name, an empty word must not be the name
            made.correct("name", {"person": person.id, "name": f"Somebody {person.number} else"})
    assert main(["people", "forget", ref, "-m", memory, "--yes"]) == 1
    assert "nobody here is called" in capsys.readouterr().err or not ref.strip()
