"""Every correction command: a dry run changes nothing, undo restores the export, invalid input is a clear error."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from m3desk import cli
from m3desk.domain.clear_speech import is_unclear
from m3desk.domain.correction import Effect
from m3desk.errors import CorrectionError
from m3desk.interop import exports
from m3desk.store.memory import Memory
from m3desk.store.reader import Reader
from tests.store.invented import clips, remember, source
from tests.store.random_corrections import check


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory of two people: persons 1 and 2 in clip 0, person 1 and somebody new in clip 1."""
    folder = tmp_path_factory.mktemp("made") / "m.m3desk"
    with Memory.create(folder) as made:
        made.plan_clips(made.add_source(source()).id, clips("s1"), fps=5.0)
        for clip, people in zip(made.next_clips("s1")[:2], [(1, 2), (1, 3)], strict=True):
            remember(made, clip, people)
    return folder


@pytest.fixture
def place(tmp_path: Path, made_once: Path) -> str:
    """A copy of the memory for each test."""
    return str(shutil.copytree(made_once, tmp_path / "m.m3desk"))


def exported(place: str) -> dict[str, Any]:
    with Memory.open(place) as memory:
        return {k: v for k, v in exports.export_json(memory).items() if k not in ("log", "journal")}


VERBS = [
    "people name person_1 Ann",
    "people assign s1.c1.f1 person_1",
    "people assign s1.c1.f1 --new Carol",
    "people merge person_1 person_5",
    "people distinct person_1 person_2",
    "people split person_1 --clip s1.c1 --name Zoe",
    "people split person_1 --observations s1.c0.f0",
    "people exclude s1.c1.f0 person_1",
    "people set-aside s1.c0.f1",
    "people unlink face_1 voice_3",
    "people ignore person_2",
    "observations split-at s1.c0.f0 0:02.5",
    "observations split-at s1.c0.u0 3",
    "observations bounds s1.c0.u0 2 6",
    "observations words s1.c0.u0 Tea?",
    "memories delete episodic_8",
    "memories pin episodic_8",
    "bookmarks add 0:05 here",
]


@pytest.mark.parametrize("line", VERBS)
def test_a_dry_run_changes_nothing_and_undo_restores_the_export(place: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = exported(place)
    assert cli.main([*line.split(), "-m", place, "--dry-run", "--json", "--why", "I know them"]) == 0
    would = json.loads(capsys.readouterr().out)
    assert exported(place) == before and would["step"] is None and would["dry_run"]
    assert cli.main([*line.split(), "-m", place, "--json", "--why", "I know them"]) == 0
    did = json.loads(capsys.readouterr().out)
    assert did == {**would, "step": 1, "dry_run": False}
    after = exported(place)
    assert after != before
    assert cli.main(["journal", "-m", place]) == 0
    told = capsys.readouterr().out
    assert did["text"] in told and "I know them" in told and " user " in told
    assert cli.main(["undo", "-m", place]) == 0 and exported(place) == before
    assert cli.main(["redo", "-m", place]) == 0 and exported(place) == after
    assert cli.main(["revert", "1", "-m", place]) == 0
    assert {**exported(place), "constraints": []} == {**before, "constraints": []}
    assert cli.main(["check", "-m", place]) == 0


WRONG = [
    ("people distinct person_1 person_1", "that is one person"),
    ("people split person_1", "Give one of --observations"),
    ("people split person_1 --clip s1.c0 --observations s1.c0.f0", "Give one of --observations"),
    ("people split person_1 --suggestion 99", "there is no suggestion 99"),
    ("people link face_1 face_2", "there is no voice node face_2"),
    ("people enroll Ann /no/such.jpg", "/no/such.jpg"),
    ("observations split-at s1.c0.f0 2:00", "lasts from"),
    ("observations split-at s1.c0.f0 soon", "is not a time"),
    ("observations bounds s1.c0.f0 1 2", "only speech"),
    ("observations words s1.c0.u0 ", "needs words"),
    ("observations add-face s1.c0 1 10 20 40 50", "there is a face already: s1.c0.f0"),
    ("observations add-face s1.c0 1 300 20 40 50", "/videos/a.mp4 is not there"),
    ("observations add-face s1.c0 1 700 20 40 50", "not within the picture"),
    ("revert 7", "there is no step 7"),
    ("undo", "nothing to undo"),
]


@pytest.mark.parametrize(("line", "says"), WRONG)
def test_what_cannot_be_says_so_and_changes_nothing(place: str, line: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = exported(place)
    assert cli.main([*line.split(" "), "-m", place]) in (1, 2)
    assert says in capsys.readouterr().err and exported(place) == before


def test_a_step_and_what_rests_on_it_go_together(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = exported(place)
    for line in ("observations split-at s1.c0.u0 3", "people assign s1.c0.u0_1b --new Carol", "people name person_2 Bob"):
        assert cli.main([*line.split(), "-m", place]) == 0
    assert cli.main(["revert", "1", "--with-dependents", "-m", place]) == 0
    assert "takes back step 1, and with it step 2" in capsys.readouterr().out
    assert cli.main(["undo", "2", "-m", place]) == 0  # the revert and Bob's name
    with Memory.open(place) as memory:
        assert memory.person("Carol").voices
    assert cli.main(["undo", "2", "-m", place]) == 0 and exported(place) == before


def test_both_names_are_kept_when_two_named_people_are_merged_and_the_kept_one_wins(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    for line in ("people name person_1 Ann", "people name person_2 Bob", "people distinct Ann Bob", "people merge Bob Ann"):
        assert cli.main([*line.split(), "-m", place]) == 0
    told = capsys.readouterr().out
    assert "who stays Bob; Ann becomes an alias" in told and "overrides step 3 of" in told and "seen together in one frame at 00:07" in told
    assert cli.main(["people", "show", "Ann", "-m", place, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "Bob"
    assert cli.main(["undo", "-m", place]) == 0 and cli.main(["people", "show", "Ann", "-m", place, "--json"]) == 0
    assert json.loads(capsys.readouterr().out.split("\n", 1)[1])["name"] == "Ann"


def test_a_split_follows_a_suggestion(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from m3desk.domain.questions.types import Suggestion

    halves = (("s1.c0.f0", "s1.c0.u0"), ("s1.c1.f0", "s1.c1.u0"))
    found = Suggestion(7, "two_people", "face_1", ("person_1",), halves, 0.5, 1.0, "parts them", "Two people?", ("split", {}), ("name", {}))
    monkeypatch.setattr(Reader, "suggestions", lambda _self: [found])
    assert cli.main(["people", "split", "person_1", "--suggestion", "7", "--name", "Bo", "-m", place]) == 0
    with Memory.open(place) as memory:
        assert memory.person("person_1").clips == ("s1.c0",)
    done: list[tuple[str, Any]] = []
    monkeypatch.setattr(Memory, "correct", lambda _self, kind, args, **_: done.append((kind, args)) or Effect("done"))
    assert cli.main(["people", "split", "person_1", "--suggestion", "7", "-m", place]) == 0
    assert done == [("accept", {"n": 7})]  # so that both sides keep their nodes and stay whole
    assert cli.main(["people", "split", "person_2", "--suggestion", "7", "-m", place]) == 2


def test_nothing_remains_of_an_enrolment_that_failed_in_a_new_place(tmp_path: Path) -> None:
    (tmp_path / "no.jpg").write_bytes(b"no picture")
    assert cli.main(["people", "enroll", "Ann", str(tmp_path / "no.jpg"), "-m", str(tmp_path / "new.m3desk")]) == 1
    assert not (tmp_path / "new.m3desk").exists()


def test_a_quote_follows_the_corrected_words_when_it_is_rewritten(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Memory.open(place) as memory:
        (quote,) = [s for s in memory.memories(clip="s1.c0") if "s1.c0.u0" in s.citations]
    assert cli.main(["observations", "words", "s1.c0.u0", "We think of tea, he said.", "-m", place]) == 0
    assert cli.main(["memories", "list", "--stale", "-m", place, "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out.split("\n", 1)[1])
    assert listed["id"] == quote.id and listed["stale"]
    assert cli.main(["memories", "rewrite", "--stale", "-m", place, "--dry-run"]) == 0
    with Memory.open(place, write=True) as memory:
        memory.correct("rewrite", {"memory": quote.id})
        now = memory.sentence(quote.id)
        assert now.text == "someone says: “We think of tea, he said.”" and not now.stale and now.people == quote.people
        assert "We think of tea, he said." in now.shown and memory.journal()[-1].kind == "rewrite"
        memory.undo(2)
        assert memory.sentence(quote.id) == quote


@pytest.mark.parametrize("before", ["", "Yes. "])
def test_a_quote_that_was_not_heard_clearly_is_clear_with_the_corrected_words(place: str, before: str) -> None:
    """`before`: what the sentence quotes of another utterance before the unclear one."""
    with closing(sqlite3.connect(Path(place) / "memory.sqlite")) as db, db:
        unclear = f"replace(content, 'says: “', 'says something like: “{before}')"
        db.execute(f"UPDATE node SET content = {unclear}, quoted = NULL WHERE content LIKE '%“%'")
    with Memory.open(place, write=True) as memory:
        (quote,) = [s for s in memory.memories(clip="s1.c0") if "s1.c0.u0" in s.citations]
        memory.correct("words", {"observation": "s1.c0.u0", "text": "We think of tea, he said."})
        memory.correct("rewrite", {"memory": quote.id})
        now = memory.sentence(quote.id)
        assert now.text == f"someone says: “{before}We think of tea, he said.”" and now.people == quote.people


@pytest.fixture
def unclear(place: str) -> str:
    """The memory, where s1.c0.u0 was not heard clearly, as its sentence says; return that sentence's id."""
    with closing(sqlite3.connect(Path(place) / "memory.sqlite")) as db, db:
        db.execute("UPDATE utterance SET confidence = 0.5 WHERE id = 's1.c0.u0'")
        (id_,) = (r[0] for r in db.execute("SELECT node FROM citation WHERE observation = 's1.c0.u0' AND node LIKE 'episodic%'"))
        (text,) = db.execute("SELECT content FROM node WHERE id = ?", (id_,)).fetchone()
        marked = text.replace("says: “", "says something like: “")
        quoted = json.dumps([[marked.index("“") + 1, len(marked) - 1]])
        db.execute("UPDATE node SET content = ?, quoted = ? WHERE id = ?", (marked, quoted, id_))
        for column in ("text", "shown", "tagged"):
            db.execute(f"UPDATE now_node SET {column} = replace({column}, 'says: “', 'says something like: “') WHERE id = ?", (id_,))
    return str(id_)


def test_words_that_were_not_heard_clearly_are_confirmed_by_the_same_words(
    place: str, unclear: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Memory.open(place) as memory:
        (said,) = [s.utterance for s in memory.speech("s1") if s.utterance.id == "s1.c0.u0"]
        before = memory.sentence(unclear)
    assert is_unclear(said) and "something like" in before.text and before.quoted
    assert cli.main(["observations", "words", "s1.c0.u0", f" {said.text}  ", "-m", place]) == 0
    assert "confirms the words of the utterance at 00:01" in capsys.readouterr().out
    with Memory.open(place, write=True) as memory:
        (now,) = [s.utterance for s in memory.speech("s1") if s.utterance.replaces == "s1.c0.u0"]
        assert (now.text, now.words, now.confidence) == (said.text, said.words, 1.0)
        sentence = memory.sentence(unclear)
        assert sentence.text == before.text.replace(" something like", "") and not sentence.stale and sentence.people == before.people
        assert [sentence.text[a:b] for a, b in sentence.quoted] == [before.text[a:b] for a, b in before.quoted]
        assert [o.unclear for o in memory.observed([now.id])] == [False]
        with pytest.raises(CorrectionError, match="says that already"):
            memory.correct("words", {"observation": now.id, "text": said.text})
        check(memory)
        memory.undo()
        assert memory.sentence(unclear) == before
        check(memory)
    assert cli.main(["check", "-m", place]) == 0


def test_a_quote_of_two_unclear_utterances_is_plain_once_both_are_confirmed(place: str, unclear: str) -> None:
    with closing(sqlite3.connect(Path(place) / "memory.sqlite")) as db, db:
        db.execute("UPDATE utterance SET confidence = 0.5 WHERE id = 's1.c0.u1'")
        db.execute("INSERT INTO citation VALUES (?, 99, 's1.c0.u1')", (unclear,))
    with Memory.open(place, write=True) as memory:
        said = {s.utterance.id: s.utterance.text for s in memory.speech("s1")}
        for id_, marked in (("s1.c0.u0", True), ("s1.c0.u1", False)):
            memory.correct("words", {"observation": id_, "text": said[id_]})
            assert ("something like" in memory.sentence(unclear).text) == marked
        memory.undo()
        assert "something like" in memory.sentence(unclear).text
        memory.correct("words", {"observation": "s1.c0.u1", "text": "Nobody said anything else."})
        memory.correct("rewrite", {"memory": unclear})
        assert "something like" not in memory.sentence(unclear).text


def test_a_correction_that_a_re_run_has_no_place_for_is_listed_as_waiting(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["observations", "split-at", "s1.c0.u0", "3", "-m", place]) == 0
    with Memory.open(place, write=True) as memory:
        memory.remove_source("s1")
    assert cli.main(["check", "-m", place]) == 0
    assert "waiting: step 1, splits the utterance at 00:01 in two at 00:03" in capsys.readouterr().out
