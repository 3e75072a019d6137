"""Invalid and extreme values on the command line: each is refused in one clear line with the right exit status; nothing hangs."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from m3desk import cli, config
from m3desk.bench.hostile.invented import make
from m3desk.control.query import LONGEST
from m3desk.errors import MemoryProblem
from m3desk.store.index import scratch
from m3desk.store.memory import Memory

DIGITS = "9" * 400
NOT_TEXT = os.fsdecode(b"\xff\xfe")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A settings file of this test's own, whose profile opens no model."""
    file = tmp_path / "config.toml"
    file.write_text('profile = "none"\n[profiles.none]\n')
    monkeypatch.setenv("M3DESK_CONFIG", str(file))
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "data"))
    return file


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("made") / "m.m3desk")


@pytest.fixture
def memory(tmp_path: Path, settings: Path, made: Path) -> Path:
    """A copy of the memory for each test."""
    return Path(shutil.copytree(made, tmp_path / "m.m3desk"))


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """Run a command; return its exit status and its errors, which are lines of ours and no fault."""
    try:
        code = cli.main(words)
    except SystemExit as error:
        code = int(error.code or 0)
    said = capsys.readouterr().err
    assert "fault of M3Desk" not in said and "Traceback" not in said, said
    assert all(line.startswith(("m3desk: ", "  searched")) for line in said.splitlines()), said
    return code, said


WRONG = [
    ["people", "accept", DIGITS],
    ["people", "accept", "-1"],
    ["revert", DIGITS],
    ["revert", "٣"],
    ["undo", "1" * 5000],
    ["search", "nodes", "x", "-k", "nan"],
    ["people", "split", "1", "--suggestion", DIGITS],
    ["observations", "add-face", "s1.c0", "1", "nan", "0", "inf", "1e400"],
    ["observations", "add-face", "s1.c0", "1", DIGITS, "0", "1", "1"],
    ["observations", "split-at", "s1.c0.f0", DIGITS],
    ["ask", "who?", "--before", DIGITS],
    ["observations", "bounds", "s1.c0.u0", "٣", "4"],
    ["ask", "who?", "--before", f"clip:s1.c{DIGITS}"],
    ["ask", "who?", "--believed-at", "0001-01-01T00:00"],
    ["ask", ""],
    ["ask", "?" * (LONGEST + 1)],
    ["search", "nodes", "x" * 5000],
    ["search", "clips", "x" * 5000],
    ["ask", NOT_TEXT],
    ["people", "name", "1", NOT_TEXT],
    ["search", "nodes", "x", "--image", NOT_TEXT],
    ["people", "list", "-m", NOT_TEXT],
    ["people", "list", "-m", ""],
    ["people", "list", "-m", "a" * 5000],
    ["search", "nodes", "--image", "a" * 300],
    ["export", "-o", "."],
    ["export", "-o", ""],
    ["export", "-o", "a" * 5000],
    ["nonsense"],
    ["people"],
    ["bench", "nonsense"],
    ["bench", "speed", "nonsense"],
    ["bench", "kills", "nonsense"],
    ["bench", "fused", "x"],
    ["bench", "constraints", "x"],
    ["bench", "importing", "x"],
    ["bench", "questions", "x"],
    ["bench", "window", "x"],
    ["bench", "profile", "x"],
    ["bench", "reel", "x"],
    ["bench", "identity", "x"],
    ["bench", "hostile", "x"],
    ["bench", "hostile", "nan"],
    ["bench", "hostile", "--seed", "x"],
    ["bench", "privacy", "x"],
    ["bench", "speed", "/dev/zero"],
    ["config", "set", "profile", "anything"],
    ["config", "set", "fps", DIGITS],
    ["config", "set", "threads", DIGITS],
    ["config", "set", "clip_seconds", "nan"],
]


@pytest.mark.parametrize("words", WRONG, ids=lambda words: " ".join(words)[:40].encode("ascii", "replace").decode())
def test_wrong_use_is_one_line_and_exits_2(memory: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    needs = words[0] not in ("bench", "config", "nonsense", "people") or (words[0] == "people" and len(words) > 1 and "-m" not in words)
    code, said = run(capsys, *words, *(["-m", str(memory)] if needs else []))
    assert code == 2 and said.count("\n") == 1 and len(said) < 700, (code, said)


@pytest.mark.parametrize(
    "words",
    [
        ["people", "name", "1", "A" * 5000],
        ["people", "show", DIGITS],
        ["people", "name", "1" * 5000, "Zed"],
        ["people", "why", "s1.c999999999999.f1"],
        ["people", "why", f"s1.c0.f{DIGITS}"],
        ["memories", "edit", "episodic_" + DIGITS, "x"],
        ["memories", "add", "A" * 200_000],
        ["revert", "99"],
        ["people", "assign", "s1..f0", "1"],
        ["people", "show", "'; DROP TABLE node; --"],
        ["sources", "relink", "s1", "/dev/zero"],
        ["people", "scorecard", "--answers", "/dev/zero"],
        ["evaluate", "identity", "--truth", "/dev/zero"],
    ],
    ids=lambda words: " ".join(words)[:40],
)
def test_what_is_not_there_is_one_line_and_exits_1(memory: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, *words, "-m", str(memory))
    assert code in (1, 2) and said.count("\n") == 1 and len(said) < 700, (code, said)
    assert run(capsys, "check", "-m", str(memory))[0] == 0


@pytest.mark.parametrize(
    "question",
    [
        "'; DROP TABLE node; --",
        '" OR NEAR(',
        "a AND NOT (",
        "((a+)+)+$" * 50,
        f"at {'9' * 300}:00",
        f"clip {DIGITS}",
        f"the last {DIGITS} seconds",
        f"第{DIGITS}秒",
        f"person {DIGITS}",
        "between 99:99 and 99:99",
        "1:" * 900,
        "\u0301" * 1000,
        "a" * LONGEST,
        "语" * LONGEST,
        "\ufeff \u200b tea",
        "<" * 900,
    ],
    ids=lambda question: question[:20],
)
def test_any_question_of_ordinary_length_is_answered_in_time(memory: Path, question: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["ask"], ["search", "nodes"], ["search", "clips"]):
        assert run(capsys, *command, "-m", str(memory), "--", question)[0] == 0


def test_an_end_at_the_beginning_is_wrong_use(settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import wave

    with wave.open(str(tmp_path / "a.wav"), "wb") as sound:
        sound.setparams((1, 2, 16000, 0, "NONE", ""))
        sound.writeframes(bytes(64000))
    code, said = run(capsys, "memorize", str(tmp_path / "a.wav"), "-m", str(tmp_path / "new"), "--end", "0")
    assert code == 2 and "--end 00:00" in said and not (tmp_path / "new").exists()


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize(
    "text", ['profile = "x"', "profile = 3", "[", "fps = nan", f"threads = {DIGITS}", "a = " + "[" * 3000, "profiles = 3"]
)
def test_a_wrong_settings_file_stops_only_what_needs_it_and_says_how_to_mend_it(
    memory: Path, settings: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.write_text(text + "\n")
    for words in (["people", "list"], ["journal"], ["check"], ["export", "-o", "-"], ["people", "name", "1", "Zed"], ["undo"]):
        assert run(capsys, *words, "-m", str(memory))[0] == 0, words
    code, said = run(capsys, "search", "nodes", "tea", "-m", str(memory))
    assert code == 2 and ("config set" in said or "Mend it" in said or "[profiles.mine]" in said), said


def test_a_setting_is_mended_by_the_command_that_the_error_names(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings.write_text('fps = "many"\nlanguage = 3\n')
    assert "m3desk config set fps 5.0" in run(capsys, "config", "get")[1]
    assert run(capsys, "config", "set", "fps", "5.0")[0] == 0 and run(capsys, "config", "set", "language", "en")[0] == 0
    assert config.values()["fps"] == 5.0 and config.values()["language"] == "en"
    settings.write_text("profile.x = 1\n")
    assert run(capsys, "config", "set", "profile", "embedded")[0] == 2 and settings.read_text() == "profile.x = 1\n"


# ---------------------------------------------------------------- a full disk


@contextlib.contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No room for vectors in a file, which this memory counts as large enough for; there is no other file that a search writes."""
    with monkeypatch.context() as patch:
        patch.setattr("m3desk.control.nearest.IN_MEMORY", 1)
        patch.setattr(scratch.tempfile, "TemporaryFile", lambda **_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        yield


def test_search_and_questions_are_answered_on_a_full_disk(
    memory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["search", "nodes", "drink tea", "-m", str(memory), "--json"]) == 0
    before = json.loads(capsys.readouterr().out)
    with full_disk(monkeypatch):
        assert cli.main(["search", "nodes", "drink tea", "-m", str(memory), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert {f["id"] for f in found} == {f["id"] for f in before} and found
        for words in (["ask", "who says tea?"], ["search", "nodes", "tea", "--believed-at", "2030-01-01"], ["search", "clips", "tea"]):
            assert run(capsys, *words, "-m", str(memory))[0] == 0
        with monkeypatch.context() as patch:
            full = MemoryProblem("the disk is full.", "Make room.")
            patch.setattr(Memory, "add_chat", lambda *_, **__: (_ for _ in ()).throw(full))
            code, said = run(capsys, "ask", "who says tea?", "-m", str(memory))
            assert code == 0 and "could not be stored" in said
    assert run(capsys, "search", "nodes", "tea", "-m", str(memory))[0] == 0 and run(capsys, "check", "-m", str(memory))[0] == 0
