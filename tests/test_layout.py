"""The layout of packages: no `__init__.py` in shelf folders, resources are found after both kinds of installation."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from m3desk import paths

ROOT = Path(__file__).resolve().parent.parent

# With PySide6 6.12.0 on Python 3.11 each signal loses a reference to None or True, and the process aborts after some hundreds.
_SIGNALS = """
from PySide6.QtCore import QCoreApplication, QObject, Signal

class Bell(QObject):
    rung = Signal(int)

app = QCoreApplication([])
bell, heard = Bell(), []
bell.rung.connect(heard.append)
for k in range(20_000):
    bell.rung.emit(k)
    app.processEvents()
print(len(heard))
"""


@pytest.mark.parametrize("shelf", ["ui", "plugins", "resources", "tests", "packaging"])
def test_a_shelf_is_not_a_package(shelf: str) -> None:
    assert not (ROOT / shelf / "__init__.py").exists(), f"{shelf}/__init__.py would hide the packages on it, or PyPI's of that name"


def test_no_module_is_called_utils_or_the_like() -> None:
    shy = {"utils.py", "util.py", "helpers.py", "manager.py", "common.py", "misc.py"}
    assert [p for shelf in ("m3desk", "ui", "plugins") for p in (ROOT / shelf).rglob("*.py") if p.name in shy] == []


def test_twenty_thousand_signals_do_not_kill_the_process() -> None:
    child = subprocess.run([sys.executable, "-c", _SIGNALS], capture_output=True, text=True, timeout=120)
    assert (child.returncode, child.stdout.strip()) == (0, "20000"), child.stderr[-400:]


def test_resources_are_found_in_a_checkout_and_in_an_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (paths.resources() / "models.toml").is_file()
    installed = tmp_path / "site-packages" / "m3desk"
    (installed / "resources").mkdir(parents=True)
    monkeypatch.setattr(paths, "__file__", str(installed / "paths.py"))
    assert paths.resources() == installed / "resources"
    (installed / "resources").rmdir()
    assert paths.resources() == installed.parent / "resources"


def test_scripts_parse_and_the_ones_to_run_are_executable() -> None:
    for script in ("packaging/setup.sh", "packaging/run.sh", "packaging/test.sh", ".ci/run"):
        assert subprocess.run(["bash", "-n", str(ROOT / script)]).returncode == 0
        assert script.endswith("setup.sh") or (ROOT / script).stat().st_mode & 0o100


def test_a_missing_video_is_told_before_anything_is_installed(tmp_path: Path) -> None:
    command = ["bash", str(ROOT / "packaging/run.sh"), str(tmp_path / "nowhere.mp4")]
    child = subprocess.run(command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
    assert child.returncode == 1 and "There is no file" in child.stderr and child.stdout == ""


def test_the_tests_that_the_security_page_names_are_there() -> None:
    named = re.findall(r"`(tests/[\w/.]+)`", (ROOT / "SECURITY.md").read_text("utf-8"))
    assert len(named) > 10 and [name for name in named if not (ROOT / name).exists()] == []
