"""Terminal output: text from outside controls no terminal, and copied hints do what they say."""

from __future__ import annotations

import csv
import io
import json
import logging
import shlex
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from m3desk import cli, events, logs
from m3desk.app.answering import Answering
from m3desk.bench.hostile.invented import make
from m3desk.bench.hostile.running import RAW
from m3desk.cli.output import table
from m3desk.domain.visible import as_json, plain, shortened, visible

EVIL = "Ann\x1b[31m\u202eeve\x9b\x07\n=1\u2028"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("evil") / "m.m3desk", lambda place: EVIL)


def test_steering_characters_become_visible_and_the_rest_stays() -> None:
    assert visible("a\x1b[31m\x9b\u202e\u2069\u200f\u061c\u2028\udcff\n\t\r") == (
        "a\\x1b[31m\\x9b\\u202e\\u2069\\u200f\\u061c\\u2028\\udcff\\n\\t\\r"
    )
    assert visible("Zoë 语 🏳️‍🌈 [red]") == "Zoë 语 🏳️‍🌈 [red]"
    assert visible(visible(EVIL)) == visible(EVIL)
    assert plain("a\tb\x1b\u202e") == "a b\\x1b\u202e"
    assert len(shortened("x" * 5000)) < 250


def test_a_table_is_aligned_as_a_terminal_shows_it() -> None:
    rows = table(
        [["person_1", "王小明", "1.0 s"], ["person_2", "Zoë", "2.0 s"], ["person_3", "e\u0301va", "3.0 s"]], ["id", "name", "seen"]
    )
    assert rows[1:] == ["person_1  王小明  1.0 s", "person_2  Zoë     2.0 s", "person_3  e\u0301va     3.0 s"]


def test_json_stays_the_same_document_without_a_raw_character() -> None:
    document = {"name": EVIL, "list": ["\x7f", "\udcff", "语", 1.5, None]}
    assert json.loads(as_json(document)) == document
    assert not RAW.search(as_json(document)) and "语" in as_json(document)


@pytest.mark.parametrize(
    "line",
    ["people list", "people show person_1", "people suggestions", "sources list", "memories list", "journal", "search nodes tea", "check",
     "ask who?", "people forget person_1 --dry-run", "people merge person_1 person_2 --dry-run", "people show Nobody\x1b"],
)  # fmt: skip
def test_no_command_prints_a_raw_control_character(memory: Path, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    for extra in ([], ["--json"]):
        cli.main([*line.split(" "), "-m", str(memory), *extra])
        printed = capsys.readouterr()
        assert not RAW.search(printed.out + printed.err), ascii(RAW.findall(printed.out + printed.err))
        assert "fault of M3Desk" not in printed.err


@pytest.mark.parametrize(
    "words",
    [["\x1b[31m"], ["people", "\x1b[31mlist"], ["search", "nodes", "x", "-k", "\x1b]0;t\x07"], ["check", "-m", "no\x1b\nm3desk: Fine."],
     ["import", "\u202e4pm.json", "-m", "x"], ["memorize", "a\x1b.mp4", "-m", "x"], ["bench", "\x1b[2J"], ["config", "get", "\x1b"]],
)  # fmt: skip
def test_no_error_prints_one_either_and_each_is_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = cli.main(words)
    except SystemExit as error:
        code = error.code
    printed = capsys.readouterr().err
    assert code in (1, 2) and printed.startswith("m3desk: ") and printed.count("\n") == 1 and not RAW.search(printed), ascii(printed)


def test_a_log_line_is_one_line_also_with_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise ValueError("a\x1b")
    except ValueError:
        record = logging.LogRecord("x", logging.INFO, "f", 1, "read %s", ("\x1b[31m\nERROR fake",), sys.exc_info())
    line, trace = logs.OneLine("%(message)s").format(record).split("\n", 1)
    assert line == "read \\x1b[31m\\nERROR fake" and "\x1b" not in trace and "Traceback" in trace


def test_a_command_in_a_hint_can_be_copied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(tmp_path / "a b; touch pwned")
    assert cli.main(["check", "-m", place]) == 1
    hint = capsys.readouterr().err.split("make one: ")[1]
    assert shlex.split(hint)[-1] == place


# ---------------------------------------------------------------- files of other formats


def exported(memory: Path, folder: Path, ending: str) -> str:
    target = folder / f"x.{ending}"
    assert cli.main(["export", "-m", str(memory), "-o", str(target), "-q"]) == 0
    return target.read_text("utf-8")


@pytest.mark.slow
def test_a_table_runs_no_formula_in_any_column(tmp_path: Path) -> None:
    for number, begins in enumerate(("=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "＝1")):
        memory = make(tmp_path / f"{number}.m3desk", lambda place, b=begins: b if place in ("said", "name") else "tea")  # type: ignore[misc]
        (tmp_path / f"{number}").mkdir()
        rows = list(csv.reader(io.StringIO(exported(memory, tmp_path / f"{number}", "csv"), newline="")))
        cells = [c for row in rows[1:] for c in (row[0], row[1], row[6], row[7], row[9])]
        assert any(begins.strip() in c for c in cells)
        assert not any(c.lstrip()[:1] in tuple("=+-@＝") for c in cells), cells


def test_subtitles_and_other_formats_cannot_be_broken_out_of(memory: Path, tmp_path: Path) -> None:
    words = "a --> b\n\n00:00:01.000 --> 00:00:02.000\n<b>evil</b> {\\an8}"
    evil = make(tmp_path / "m.m3desk", lambda place: words if place in ("said", "name") else "film one\nSPEAKER x 1 0 1")
    vtt, srt = exported(evil, tmp_path, "vtt"), exported(evil, tmp_path, "srt")
    assert vtt.count("-->") == 4 and "<b>" not in vtt
    assert srt.count("-->") == 4 and "<b>" not in srt and "{\\" not in srt
    assert all(len(cue.splitlines()) == 3 for cue in srt.strip().split("\n\n"))
    rttm = exported(evil, tmp_path, "rttm").splitlines()
    assert len(rttm) == 4 and all(len(line.split()) == 10 for line in rttm)
    ElementTree.fromstring(exported(memory, tmp_path, "graphml"))
    page = exported(evil, tmp_path, "html")
    assert "<b>" not in page and "&lt;b&gt;evil" in page
    document = json.loads(exported(memory, tmp_path, "json"))
    assert any(u["text"] == EVIL for u in document["utterances"])


def test_an_answer_of_several_lines_is_printed_as_such(
    memory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = events.AskDone("1", "Two people:\n- Ann\x1b\n- Bob", True, (), "", 0.1)
    monkeypatch.setattr(Answering, "ask", lambda *_args, **_how: iter([done]))
    assert cli.main(["ask", "who?", "-m", str(memory)]) == 0
    assert capsys.readouterr().out == "Two people:\n- Ann\\x1b\n- Bob\n"
