"""`people suggestions`, `accept`, `reject`, `why` and `scorecard`: exit status, JSON of the contract, plain lines, errors."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from m3desk.cli import main
from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, source


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """Ann? (person 1) in two clips, somebody else in the second."""
    with Memory.create(tmp_path / "m.m3desk") as made:
        kept = made.add_source(source())
        made.plan_clips(kept.id, clips(kept.id), fps=5.0)
        for people in ((1, 2), (1, 3)):
            remember(made, made.next_clips("s1")[0], people)
    return tmp_path / "m.m3desk"


def run(memory: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any, str]:
    """Return exit status, the JSON document or text of stdout, and stderr."""
    status = main(["people", *words, "-m", str(memory)])
    out, err = capsys.readouterr()
    return status, json.loads(out) if "--json" in words and out else out, err


def test_suggestions_have_the_keys_of_the_contract(memory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, found, _ = run(memory, capsys, "suggestions", "--json")
    assert status == 0 and [(s["kind"], s["people"], s["name"]) for s in found] == [("name", ["person_1"], "Ann")]
    assert {"n", "kind", "people", "observations", "score", "effect"} <= found[0].keys()
    assert found[0]["effect"] == "names 2 faces and 2 utterances, 4 memories read differently"
    status, text, _ = run(memory, capsys, "suggestions")
    assert status == 0 and "Is Person 1 called Ann?" in text and f"{found[0]['n']}" in text
    assert run(memory, capsys, "suggestions", "-k", "1")[1].count("Is Person 1") == 1


def test_accept_by_number_with_a_rehearsal_first(memory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    n = str(run(memory, capsys, "suggestions", "--json")[1][0]["n"])
    status, text, _ = run(memory, capsys, "accept", n, "--dry-run")
    assert status == 0 and text.startswith("Would: names")
    status, document, _ = run(memory, capsys, "accept", n, "--why", "she says so", "--json")
    assert status == 0 and document["step"] == 1 and not document["dry_run"]
    with Memory.open(memory) as reader:
        assert reader.person("Ann").name_state == "confirmed" and reader.journal()[0].why == "she says so"
    status, _, err = run(memory, capsys, "accept", n)
    assert status == 1 and f"suggestion {n} was answered by step 1" in err


def test_reject_by_number(memory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    n = str(run(memory, capsys, "suggestions", "--json")[1][0]["n"])
    assert run(memory, capsys, "reject", n)[0] == 0
    assert run(memory, capsys, "suggestions", "--json")[1] == []


def test_why_has_the_keys_of_the_contract(memory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, verdict, _ = run(memory, capsys, "why", "s1.c1.f0", "--json")
    assert status == 0 and {"observation", "node", "person", "score", "runner_up", "margin", "votes", "flips"} <= verdict.keys()
    assert verdict["person"] == "person_1" and verdict["votes"][0]["kind"] == "likeness"
    status, text, _ = run(memory, capsys, "why", "s1.c1.f0")
    assert status == 0 and text.startswith("s1.c1.f0 is Ann? (face_1)") and "looks like s1.c0.f0" in text
    status, _, err = run(memory, capsys, "why", "s7.c0.f0")
    assert status == 1 and "no observation s7.c0.f0" in err


def test_a_scorecard_without_answers_prints_the_pairs_and_never_waits(memory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, document, err = run(memory, capsys, "scorecard", "--pairs", "5", "--json")
    assert status == 2 and len(document["pairs"]) == 5 and {p["same"] for p in document["pairs"]} == {None}
    assert "5 pairs wait for an answer" in err
    status, out, _ = run(memory, capsys, "scorecard")
    assert status == 2 and out == ""


def test_a_scorecard_takes_its_own_pairs_back_with_answers(memory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = run(memory, capsys, "scorecard", "--json")[1]
    for pair in document["pairs"]:
        pair["same"] = {pair["a"][-2:], pair["b"][-2:]} in ({"f0"}, {"u0"})
    file = tmp_path / "answers.json"
    for answers in (document, document["pairs"]):
        file.write_text(json.dumps(answers))
        status, card, _ = run(memory, capsys, "scorecard", "--answers", str(file), "--json")
        assert status == 0 and card["precision"] == [1.0, 1.0, 1.0] and card["recall"] == [1.0, 1.0, 1.0]  # every pair was asked
        assert card["pairs"] == document["pairs"] and card["answered"] == 12
    status, text, _ = run(memory, capsys, "scorecard", "--answers", str(file))
    assert (
        status == 0 and text.splitlines()[0] == "Precision: of the pairs assigned to one person, 100.0% (100.0% to 100.0%) are one person."
    )


def test_a_scorecard_takes_a_truth(memory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "truth.rttm"
    spoken = [(1, "ann"), (8, "bob"), (31, "ann"), (38, "ann")]
    file.write_text("".join(f"SPEAKER a 1 {start} 4 <NA> <NA> {who} <NA> <NA>\n" for start, who in spoken))
    status, card, _ = run(memory, capsys, "scorecard", "--answers", str(file), "--json")
    assert status == 0 and len(card["pairs"]) == 6 and card["precision"] == [1.0, 1.0, 1.0]
    assert card["recall"] == pytest.approx([1 / 3] * 3, abs=1e-4)


def test_a_scorecard_is_answered_on_a_terminal(memory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    typed = io.StringIO("y\n?\nn\n")
    typed.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr("sys.stdin", typed)
    status, out, err = run(memory, capsys, "scorecard", "--pairs", "4")
    assert status == 0 and "(2 pairs answered" in out
    assert "1/4 one person? [y/n/?]" in err and ".jpg" in err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[{]", "broken JSON"),
        ('[{"a": 1}]', "no list of pairs"),
        ("[]", "answers no pair"),
        ("who knows", "not a truth file"),
        (None, "There is no file"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_answers_that_are_none_are_a_clear_error(
    memory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, said: str
) -> None:
    file = tmp_path / "answers"
    if content is not None:
        file.write_text(content)
    status, out, err = run(memory, capsys, "scorecard", "--answers", str(file))
    assert status in (1, 2) and out == "" and said in err and err.count("\n") == 1


def test_an_empty_memory_has_nothing_to_ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Memory.create(tmp_path / "e.m3desk").close()
    assert run(tmp_path / "e.m3desk", capsys, "suggestions", "--json")[:2] == (0, [])
    status, _, err = run(tmp_path / "e.m3desk", capsys, "scorecard")
    assert status == 2 and "nothing to compare" in err
