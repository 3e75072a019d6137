"""The command line understands what contract.md writes."""

import subprocess
import sys

import pytest

from m3desk.cli.parser import before, moment, parser
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
