"""A real server, llama.cpp's, in a process of its own with a tiny random model: its dialect, streams, stopping, and being killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from m3desk_server.client import Introduction, Server
from m3desk_server.dialects import Dialect
from m3desk_server.door import Door
from m3desk_server.models import ServerLanguage, ServerWatcher
from m3desk_server.options import Options

from m3desk.errors import ModelFailed
from m3desk.keys import Key
from m3desk.outgoing import Address
from m3desk.ports import Message, Pictures, Sampling, Turn
from tests.plugins.servers import tiny_gguf

pytest.importorskip("xllamacpp")

GRAMMAR = 'root ::= "Action: [" ("Answer" | "Search") "]\\nContent: " [a-z]{3,8}'
LOUD = Sampling(temperature=1.5, top_p=1.0, top_k=250)
"""At random: a random model at temperature 0 may say one unprintable token for ever."""


class Process:
    def __init__(self, folder: Path) -> None:
        program = Path(__file__).with_name("llama_process.py")
        words = [sys.executable, program, folder / "model.gguf", folder / "mmproj.gguf", "k1"]
        self.child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.child.stdout is not None
        self.url = self.child.stdout.readline().strip() + "/v1"

    def kill(self) -> None:
        self.child.send_signal(signal.SIGKILL)
        self.child.wait(30)

    def model(self, kind: type = ServerLanguage, key: str = "k1", **options: Any) -> Any:
        door = Door(Address.parse(self.url), Key(key), first=60, idle=60)
        chosen = Options("server", self.url, where=door.shown, **options)
        server = Server(lambda _cancelled: door)
        return kind(server, Dialect(server), chosen)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("gguf")
    tiny_gguf.make(made)
    return made


@pytest.fixture(scope="module")
def process(folder: Path) -> Iterator[Process]:
    running = Process(folder)
    yield running
    running.kill()


def ask(model: Any, text: str = "hi", **how: Any) -> str:
    return "".join(model.reply([Message("user", text)], **{"max_tokens": 40, **how}))


def test_its_dialect_is_found_by_what_it_obeys(process: Process) -> None:
    model = process.model()
    assert ask(model, grammar=GRAMMAR).startswith(("Action: [Answer]\nContent: ", "Action: [Search]\nContent: "))
    assert model.server.known() == Introduction(model.server.known().model, 4096, True, False, "llama.cpp")
    schema = {"type": "object", "properties": {"k": {"enum": ["yes", "no"]}}, "required": ["k"]}
    assert json.loads(ask(model, schema=schema))["k"] in ("yes", "no")
    assert model.server.counts.prompt > 0
    assert model.name == f"model.gguf ({Address.parse(process.url).shown})", "not the folders of its file"


def test_a_grammar_as_the_pattern_of_a_schema_is_kept_to(process: Process) -> None:
    model = process.model()
    model.dialect.chosen = "schema"
    assert ask(model, grammar='root ::= "Action: [" ("Answer" | "Search") "] " [a-z]{3,8}', max_tokens=80).startswith("Action: [")


def test_stopping_frees_it_at_once(process: Process) -> None:
    model = process.model()
    pieces = model.sampled([Message("user", "hi")], LOUD, max_tokens=3000)
    for _ in range(3):
        next(pieces)
    pieces.close()
    door = model.server.open_door(lambda: False)
    until = time.monotonic() + 20
    while any(slot["is_processing"] for slot in model.server.get(door, "/slots", lambda: False)):
        assert time.monotonic() < until
        time.sleep(0.1)


def test_it_sees_pictures(process: Process) -> None:
    model = process.model(ServerWatcher)
    picture = np.random.default_rng(0).integers(0, 255, (90, 160, 3), dtype=np.uint8)
    schema = {"type": "object", "properties": {"k": {"enum": ["yes", "no"]}}, "required": ["k"]}
    reply = "".join(model.watch([Turn("user", ("What is seen?", Pictures((picture, picture))))], schema=schema, max_tokens=30))
    assert json.loads(reply)["k"] in ("yes", "no") and not model.hears


def test_a_wrong_key_and_a_prompt_too_long_are_said(process: Process) -> None:
    with pytest.raises(ModelFailed, match="does not accept the key"):
        ask(process.model(key="other"))
    with pytest.raises(ModelFailed, match="longer than the model's context"):
        ask(process.model(), "word " * 6000)


@pytest.mark.skipif(os.name == "nt", reason="kills by a signal")
def test_killed_in_mid_answer_is_one_clear_line_and_another_server_goes_on(folder: Path) -> None:
    first = Process(folder)
    model = first.model()
    pieces = model.sampled([Message("user", "hi")], LOUD, max_tokens=3500)
    next(pieces)
    first.kill()
    with pytest.raises(ModelFailed, match="closed the connection") as caught:
        for _ in pieces:
            pass
    assert "See its log" in caught.value.hint
    with pytest.raises(ModelFailed, match="no server answers"):
        ask(model)
