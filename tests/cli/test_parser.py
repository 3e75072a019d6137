"""The argument parser accepts what contract.md documents."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from m3desk import cli
from m3desk.cli.parser import before, moment, options_last, parser
from m3desk.errors import UsageError


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("1:30", 90), ("00:01:30", 90), ("1.5", 1.5), ("1:00:00.25", 3600.25)])
def test_times_are_read_in_every_form(text: str, seconds: float):
    assert moment(text) == round(seconds * 1_000_000)


@pytest.mark.parametrize("text", ["", "abc", "1:2:3:4", "-5", "1:"])
def test_a_wrong_time_is_wrong_use(text: str):
    with pytest.raises(UsageError):
        moment(text)


def test_known_before_names_a_time_or_a_clip():
    assert before("s1@1:30") == ("s1", None, 90_000_000)
    assert before("90") == (None, None, 90_000_000)
    assert before("clip:s2.c12") == ("s2", 12, 0)
    assert before("clip:12") == (None, 12, 0)
    assert before("-1") == (None, -1, 0)


def test_the_memory_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("M3DESK_MEMORY", "/tmp/x.m3desk")
    assert parser().parse_args(["ask", "who?"]).memory == "/tmp/x.m3desk"


def test_help_and_version_need_neither_models_nor_a_screen():
    for flag in ("--help", "--version"):
        done = subprocess.run([sys.executable, "-X", "importtime", "-m", "m3desk", flag], capture_output=True, text=True, check=False)
        assert done.returncode == 0
        for heavy in ("cv2", "onnxruntime", "PySide6", "av", "lancedb"):
            assert f" {heavy}\n" not in done.stderr, heavy


def test_wrong_use_exits_2():
    assert subprocess.run([sys.executable, "-m", "m3desk", "memorize"], capture_output=True, check=False).returncode == 2


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("search nodes -m M words", {"what": "nodes", "memory": "M", "text": "words"}),
        ("search nodes --json -k 3 -m M words", {"text": "words", "k": 3, "json": True}),
        ("undo -m M 2", {"count": 2}),
        ("memories edit -m M episodic_4 text", {"action": "edit", "args": ["episodic_4", "text"]}),
        ("sources relink -m M s1 film.mp4", {"source": "s1", "file": "film.mp4"}),
        ("people assign -m M s1.c0.f1 s1.c0.f2 --new Carol", {"observations": ["s1.c0.f1", "s1.c0.f2"], "new": "Carol"}),
        ("people assign s1.c0.f1 --new -m M", {"observations": ["s1.c0.f1"], "new": ""}),
        ("ask -m M --before -1 who?", {"question": "who?", "before": "-1"}),
        ("-v people list -m M", {"verbose": 1, "action": "list"}),
        ("search nodes -m M -- --x", {"what": "nodes", "memory": "M", "text": "--x"}),
        ("people name -m M -- 1 -Ann", {"action": "name", "person": "1", "name": "-Ann"}),
        ("ask -m M --json -- -v", {"question": "-v", "json": True}),
    ],
)
def test_options_may_stand_before_the_words(line: str, wanted: dict[str, object]):
    grammar = parser()
    found = vars(grammar.parse_args(options_last(grammar, line.split())))
    assert {key: found[key] for key in wanted} == wanted


def test_several_observations_and_wrong_numbers_of_things() -> None:
    top = parser()
    line = ["people", "split", "3", "-m", "M", "--observations", "s1.c0.f0", "s1.c1.f0", "--why", "two", "--observations", "s1.c2.f1"]
    given = top.parse_args(options_last(top, line))
    assert given.person == "3" and given.observations == ["s1.c0.f0", "s1.c1.f0", "s1.c2.f1"] and given.why == "two"
    for wrong in (["undo", "0"], ["undo", "-1"], ["search", "nodes", "tea", "-k", "0"], ["people", "suggestions", "-k", "x"]):
        with pytest.raises(SystemExit):
            top.parse_args(options_last(top, [*wrong, "-m", "M"]))


def test_commands_in_messages_can_be_pasted_into_a_shell():
    folder = Path(cli.__path__[0])
    assert [
        line for file in folder.glob("*.py") for line in file.read_text("utf-8").splitlines() if re.search(r"m3desk [a-z].*[“”]", line)
    ] == []


def test_the_words_of_help_are_printed_without_reading_settings_or_looking_for_backends() -> None:
    code = (
        "import sys; from m3desk.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('m3desk.config', 'm3desk.outgoing', 'm3desk.backends', 'm3desk.children', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
