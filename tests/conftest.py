"""Fixtures for all tests: the shared test material and the downloaded weights, if they are on this machine."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import pytest

import m3desk.cli  # before any test: it switches off what the model libraries would send
from m3desk.cli.parser import parser

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

# Forgetting somebody reaches caches and logs: never those of whoever runs the tests, nor those of a test in another process (pytest -n).
if "M3DESK_DATA" not in os.environ or "PYTEST_XDIST_WORKER" in os.environ:
    from m3desk import paths

    os.environ["M3DESK_MODELS"] = str(paths.models_dir())
    os.environ["M3DESK_DATA"] = tempfile.mkdtemp(prefix="m3desk-tests-")
    atexit.register(shutil.rmtree, os.environ["M3DESK_DATA"], ignore_errors=True)

# Building the parser of all commands takes 10 ms, and some tests run many commands: it is built once per process and $M3DESK_MEMORY.
_parser = cache(lambda _memory: parser())
m3desk.cli.parser = lambda: _parser(os.environ.get("M3DESK_MEMORY"))  # type: ignore[attr-defined]

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return `../shared/data` beside the checkout, or skip."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("../shared/data is not here")
    return folder


@pytest.fixture(scope="session")
def weights() -> Path:
    """Return the folder of downloaded weights, or skip where `m3desk models pull` has not run."""
    from m3desk.paths import models_dir

    if not (models_dir() / "whisper-base" / "model.bin").is_file():
        pytest.skip("weights are not here; run: m3desk models pull")
    return models_dir()
