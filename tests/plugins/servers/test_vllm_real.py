"""vLLM itself with a tiny random Qwen3: started, obeyed, stopped, killed in mid-answer. For an interpreter that has vLLM; a start is slow.

M3DESK_TEST_VLLM=PYTHON pytest tests/plugins/servers/test_vllm_real.py
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from m3desk_server import entry

from m3desk.errors import ModelFailed
from m3desk.ports import Message, Sampling

PYTHON = os.environ.get("M3DESK_TEST_VLLM", "")
ROOT = Path(__file__).resolve().parents[3]
LOUD = Sampling(temperature=1.5, top_p=1.0, top_k=300)
"""At random: a random model at temperature 0 may say one unprintable token for ever."""

pytestmark = [
    pytest.mark.skipif(not PYTHON, reason="M3DESK_TEST_VLLM names no interpreter that has vLLM"),
    pytest.mark.slow,
    pytest.mark.timeout(1800),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    place = tmp_path_factory.mktemp("vllm")
    subprocess.run([PYTHON, ROOT / "packaging" / "backends" / "tiny_qwen3.py", place / "control"], check=True, capture_output=True)
    settings = place / "config.toml"
    settings.write_text(f'[backends.vllm]\nmodel = "{place / "control"}"\npython = "{PYTHON}"\ncontext = 4096\n')
    before = os.environ.get("M3DESK_CONFIG")
    os.environ["M3DESK_CONFIG"] = str(settings)
    made = entry.vllm_language(Path, 2)
    yield made
    made.server._process.stop()
    os.environ.pop("M3DESK_CONFIG")
    if before is not None:
        os.environ["M3DESK_CONFIG"] = before


def processes(model: Any) -> list[psutil.Process]:
    guard = psutil.Process(model.server._process.child._guard.pid)
    return guard.children(recursive=True)


def test_it_answers_obeys_and_stops(model: Any) -> None:
    said = "".join(model.reply([Message("user", "hi")], grammar='root ::= "Action: [" ("Answer" | "Search") "]"', max_tokens=40))
    assert said in ("Action: [Answer]", "Action: [Search]")
    schema = {"type": "object", "properties": {"k": {"enum": ["yes", "no"]}}, "required": ["k"], "additionalProperties": False}
    assert json.loads("".join(model.reply([Message("user", "hi")], schema=schema, max_tokens=60)))["k"] in ("yes", "no")
    pieces = model.sampled([Message("user", "hi")], LOUD, max_tokens=3000)
    next(pieces)
    pieces.close()
    with pytest.raises(ModelFailed, match="longer than the model's context"):
        "".join(model.reply([Message("user", "x" * 9000)], max_tokens=10))
    keys = [word for p in processes(model) for word in p.cmdline() if "key" in word.lower()]
    assert keys == [], "the key stands in no list of processes"


def test_killed_in_mid_answer_it_leaves_no_process(model: Any) -> None:
    pieces = model.sampled([Message("user", "hi")], LOUD, max_tokens=3000)
    next(pieces)
    there = processes(model)
    next(p for p in there if "api_server" in " ".join(p.cmdline())).kill()
    with pytest.raises(ModelFailed, match=r"ended while it answered|closed the connection"):
        for _ in pieces:
            pass
    until = time.monotonic() + 30
    while any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in there) and time.monotonic() < until:
        time.sleep(0.2)
    assert not [p for p in there if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
