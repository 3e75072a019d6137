"""packaging/setup.sh waits for apt's lock and says so, fails with apt's own words, and shows how far a download is."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SETUP = Path(__file__).resolve().parent.parent / "packaging" / "setup.sh"
HELD = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 4711 (unattended-upgr)"

pytestmark = pytest.mark.skipif(not shutil.which("bash") or os.name != "posix", reason="there is no bash")


def run(tmp_path: Path, apt: str, words: str) -> subprocess.CompletedProcess[str]:
    """Run a line of setup.sh's functions with an apt-get of our own, whose calls are counted in `calls`, and a sleep that takes no time."""
    for name, body in {"apt-get": f"echo x >>{tmp_path}/calls\n{apt}", "sleep": "true"}.items():
        file = tmp_path / name
        file.write_text(f"#!/bin/bash\n{body}\n")
        file.chmod(0o755)
    script = f"set -euo pipefail; . '{SETUP}'; as_root=(); {words}"
    env = {**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin"}
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=env, timeout=60)


def calls(tmp_path: Path) -> int:
    return len((tmp_path / "calls").read_text().split())


def test_a_lock_that_is_held_is_waited_for_and_said_once(tmp_path: Path) -> None:
    done = run(tmp_path, f'[ "$(wc -l <{tmp_path}/calls)" -ge 4 ] || {{ echo "{HELD}" >&2; exit 100; }}', "apt_get update && echo ready")
    assert done.returncode == 0 and calls(tmp_path) == 4
    assert done.stdout.count("Another program is using apt") == 1 and "process 4711 (unattended-upgr)" in done.stdout
    assert done.stdout.endswith("ready\n") and done.stderr == ""


def test_a_lock_that_is_never_given_back_ends_in_apts_own_words(tmp_path: Path) -> None:
    done = run(tmp_path, f'echo "{HELD}" >&2; exit 100', "apt_wait=0; apt_get update")
    assert done.returncode == 1 and HELD in done.stderr


def test_what_is_no_lock_fails_at_once(tmp_path: Path) -> None:
    done = run(tmp_path, 'echo "E: Unable to locate package nothing" >&2; exit 100', "apt_get install nothing")
    assert done.returncode == 1 and calls(tmp_path) == 1 and "Unable to locate package" in done.stderr


def test_a_warning_of_apt_is_shown_though_it_succeeds(tmp_path: Path) -> None:
    done = run(tmp_path, 'echo "Reading"; echo "W: Failed to fetch x" >&2', "apt_get update")
    assert done.returncode == 0 and done.stderr == "W: Failed to fetch x\n" and done.stdout == ""


def test_a_download_is_shown_as_it_goes(tmp_path: Path) -> None:
    said = """Collecting numpy
  Downloading numpy-2.4.6-cp311-cp311-x.whl.metadata (60 kB)
  Downloading numpy-2.4.6-cp311-cp311-x.whl (16.9 MB)
  Downloading https://host/six-1.17.0-py2.py3-none-any.whl (512 kB)
  Using cached PySide6_Essentials-6.11.3-cp39-abi3-x.whl (96 MB)
Installing collected packages: six, numpy
"""
    (tmp_path / "said").write_text(said)
    done = run(tmp_path, "", f"show_downloads <'{tmp_path}/said'")
    assert [line.strip() for line in done.stdout.splitlines()] == [
        "16 MB so far: numpy, 16 MB",
        "113 MB so far: PySide6_Essentials, 96 MB",
        "113 MB in all; unpacking them (a minute or two)",
    ]


def test_a_pip_that_fails_is_not_taken_for_success(tmp_path: Path) -> None:
    done = run(tmp_path, "", "(false | show_downloads) || fail told")
    assert done.returncode == 1 and "told" in done.stderr
