"""Tests of what needs torch: one process that has it, for all of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from m3desk.children.pipe import Worker


@pytest.fixture(scope="session")
def torch_python() -> Path:
    """Return an interpreter with torch and transformers, or skip."""
    named = os.environ.get("M3DESK_TEST_TORCH")
    if not named:
        pytest.skip(
            "torch is not here; set M3DESK_TEST_TORCH=PYTHON of an environment with torch and transformers (m3desk backends install)"
        )
    subprocess.run([named, "-c", "import torch, transformers, xgrammar"], check=True, capture_output=True)
    return Path(named)


@pytest.fixture(scope="session")
def process(torch_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """Return the model's process with what the tests try besides (`trials.py`); it imports torch once."""
    before = os.environ.get("M3DESK_DATA")
    os.environ["M3DESK_DATA"] = str(tmp_path_factory.mktemp("data"))
    worker = Worker("transformers", torch_python, Path(__file__).with_name("trials.py"))
    yield worker
    worker.stop()
    if before is not None:
        os.environ["M3DESK_DATA"] = before
