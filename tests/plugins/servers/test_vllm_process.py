"""vLLM as a process of ours, with a stand-in for its server: started at the first request, its failures translated, ended with it."""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from m3desk_server import entry
from m3desk_server.options import Options
from m3desk_server.thinker import header, wrapped
from m3desk_server.vllm_process import VllmProcess, arguments, cache_tokens, number_after, share, short

from m3desk.children import cards, loading, turns
from m3desk.children.configs import sees
from m3desk.errors import BackendMissing, Cancelled, ModelError, ModelFailed, ModelMissing
from m3desk.ports import Message

ROOT = Path(__file__).resolve().parents[3]
QWEN3 = {"model_type": "qwen3", "max_position_embeddings": 40_960}
OMNI = {"model_type": "qwen2_5_omni_thinker", "vision_config": {}, "text_config": {"max_position_embeddings": 32_768}}

pytestmark = pytest.mark.skipif(os.name == "nt", reason="vLLM does not run on Windows")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a model's folder, an interpreter whose vLLM is the stand-in, and the settings that name both."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text(json.dumps(QWEN3))
    package = tmp_path / "modules" / "vllm" / "entrypoints" / "openai"
    package.mkdir(parents=True)
    (package / "api_server.py").write_text(Path(__file__).with_name("stand_in_vllm.py").read_text("utf-8"))
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexport STAND_IN={ROOT} PYTHONPATH={tmp_path / "modules"}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    settings = tmp_path / "config.toml"
    settings.write_text(f'[backends.vllm]\nmodel = "{tmp_path / "model"}"\npython = "{python}"\n')
    monkeypatch.setenv("M3DESK_CONFIG", str(settings))
    return tmp_path


def opened() -> Any:
    return entry.vllm_language(Path, 2)


def ask(model: Any, text: str = "hi", **how: Any) -> str:
    return "".join(model.reply([Message("user", text)], **how))


def test_it_starts_at_the_first_request_and_answers_with_a_key_that_nobody_sees(place: Path) -> None:
    heard: list[tuple[str, bool, str]] = []
    end = loading.listen(lambda *told: heard.append(told))
    (place / "model" / "loads slowly").touch()
    model = opened()
    try:
        assert not (place / "model" / "pid").exists()
        assert ask(model) == "the answer is four" and model.name == "model (vLLM)" and model.context == 32_768
        assert ask(model, grammar='root ::= "bdfg"') == "bdfg"
        assert heard[0] == ("vllm", False, "") and heard[-1] == ("vllm", True, "")
        assert ("vllm", False, "Loading weights took 0.02 seconds") in heard
        given = (place / "model" / "arguments").read_text().split("\n")
        assert given[given.index("--host") + 1] == "127.0.0.1" and not any("key" in word for word in given)
        assert sum(done for _, done, _ in heard) == 1, "it is started once"
    finally:
        end()
        model.server._process.stop()


def test_it_takes_as_many_requests_at_once_as_the_cache_that_it_measured_holds(place: Path) -> None:
    model = opened()
    try:
        assert model.at_once == 1, "nothing is known before it runs"
        ask(model, max_tokens=256)
        assert model.at_once == 8, "the largest request so far, 266 tokens, fits many times"
        ask(model, max_tokens=32_000)
        assert model.at_once == 131_072 // 32_010
    finally:
        model.server._process.stop()
    settings = place / "config.toml"
    settings.write_text(settings.read_text() + 'arguments = "--max-num-seqs=3"\nat_once = 6\n')
    model = opened()
    try:
        ask(model)
        assert model.at_once == 6, "the settings say so; its scheduler lets the others wait"
    finally:
        model.server._process.stop()


def test_the_size_of_the_cache_is_read_from_the_log() -> None:
    log = ["INFO [kv_cache_utils.py:1287] GPU KV cache size: 43,296 tokens", "INFO Maximum concurrency for 8,192 tokens per request: 5.29x"]
    assert cache_tokens(log) == 43_296 and cache_tokens([]) == 0
    assert cache_tokens([*log, "(Worker_TP1) GPU KV cache size: 43,280 tokens, Maximum concurrency for 8,192 tokens"]) == 43_280
    assert number_after(("--max-num-seqs", "4", "--max_num_seqs=2"), "--max-num-seqs") == 2
    assert number_after(("--max-num-seqs", "many"), "--max-num-seqs") == number_after((), "--max-num-seqs") == 0


@pytest.mark.parametrize(
    ("last", "says", "kind"),
    [
        ("RuntimeError: Failed to infer device type, please set VLLM_LOGGING_LEVEL=DEBUG", "no usable GPU driver", ModelFailed),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4 GiB", "not enough memory on the GPU", ModelFailed),
        ("ModuleNotFoundError: No module named 'vllm'", "a library is missing", BackendMissing),
        ("OSError: [Errno 98] Address already in use", "port is taken", ModelFailed),
    ],
)
def test_a_start_that_fails_says_why_with_the_last_lines(place: Path, last: str, says: str, kind: type[ModelError]) -> None:
    (place / "model" / "ends").write_text(last)
    model = opened()
    with pytest.raises(kind, match=says) as caught:
        ask(model)
    assert last[:40] in str(caught.value) and "\n" not in caught.value.line()
    assert not model.server._process.child.alive


def test_killed_in_mid_answer_it_is_said_and_started_again(place: Path) -> None:
    (place / "model" / "slow").touch()
    model = opened()
    pieces = model.reply([Message("user", "hi")], max_tokens=4000)
    next(pieces)
    (place / "model" / "slow").unlink()
    os.kill(int((place / "model" / "pid").read_text()), signal.SIGKILL)
    with pytest.raises(ModelFailed, match="ended while it answered"):
        for _ in pieces:
            pass
    assert ask(model) == "the answer is four"
    pid = int((place / "model" / "pid").read_text())
    model.server._process.stop()
    until = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists() or sys.platform != "linux"


def test_a_start_can_be_stopped(place: Path) -> None:
    (place / "model" / "loads slowly").touch()
    model = opened()
    with pytest.raises(Cancelled):
        ask(model, cancelled=lambda: model.server._process.child is not None)
    assert not model.server._process.child.alive
    (place / "model" / "loads slowly").unlink()
    assert ask(model) == "the answer is four", "the next question starts it"
    model.server._process.stop()


def test_waiting_for_a_start_of_somebody_else_can_be_stopped(place: Path) -> None:
    process = opened().server._process
    with process._lock, pytest.raises(Cancelled):
        process.door(lambda: True)


def test_what_lacks_is_said_when_it_is_opened(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "model" / "config.json").unlink()
    with pytest.raises(ModelMissing, match=r"no config\.json"):
        opened()
    (place / "config.toml").write_text("")
    with pytest.raises(ModelMissing, match="no model is chosen") as caught:
        opened()
    assert "backends.vllm.model" in caught.value.hint


def test_a_model_of_text_is_found_out_as_a_writer_without_a_start_and_a_thinker_gets_its_own_form_of_request(place: Path) -> None:
    with pytest.raises(ModelMissing, match="does not see pictures") as caught:
        entry.vllm_watcher(Path, 2).check()
    assert "m3desk config set backends.vllm.model" in caught.value.hint
    (place / "model" / "config.json").write_text(json.dumps(OMNI))
    watcher = entry.vllm_watcher(Path, 2)
    watcher.check()
    assert watcher.style == "m3-agent" and not (place / "model" / "pid").exists()
    with (place / "config.toml").open("a") as settings:
        settings.write('style = ""\n')
    assert entry.vllm_watcher(Path, 2).style == ""


def test_its_place_on_the_card_is_the_share_that_it_is_told_to_take(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (share([]), share(["--gpu-memory-utilization", "0.5"]), share(["--gpu_memory_utilization=0.3"])) == (0.92, 0.5, 0.3)
    monkeypatch.setattr(cards, "largest", lambda: {"memory_bytes": 100, "memory_free_bytes": 100})
    card, log = turns.Card(lambda: 100), []
    other = turns.Loaded("other", 50, lambda: log.append("other is unloaded"))
    process = VllmProcess(Options("vllm", model=str(place / "model")), lambda: place / "model", lambda: place / "python", 2, card)
    try:
        with card.at_work(other):
            pass
        assert process.door(lambda: False) and log == ["other is unloaded"]
        assert process.child is not None and process.child.alive
        with card.at_work(other):
            assert not process.child.alive
    finally:
        process.stop()


def test_the_arguments_fit_the_model_and_the_users_own_win() -> None:
    chosen = Options("vllm", model="/m/control", arguments=("--max-model-len", "2048"))
    plain = arguments(Path("/m/control"), QWEN3, chosen, 5, on_cpu=True)
    assert plain[-2:] == ["--max-model-len", "2048"] and plain[plain.index("--max-model-len") + 1] == "32768"
    assert "--enforce-eager" in plain and "--limit-mm-per-prompt" not in plain
    whole = {"model_type": "qwen2_5_omni", "thinker_config": OMNI}
    seeing = arguments(Path("/m/x"), whole, Options("vllm", model="/m/x"), 5, on_cpu=False)
    assert json.loads(seeing[seeing.index("--limit-mm-per-prompt") + 1]) == {"image": 32, "video": 1, "audio": 2}
    assert "--trust-request-mm-kwargs" in seeing and "--enforce-eager" not in seeing
    assert sees(whole) and sees(OMNI) and not sees(QWEN3)


def test_lines_of_its_log_are_shortened() -> None:
    line = "(EngineCore pid=123) INFO 11-22 13:46:37 [kv_cache_utils.py:2327] CPU KV cache size: 4,194,304 tokens"
    assert short(line) == "CPU KV cache size: 4,194,304 tokens"


# ---------------------------------------------------------------- thinkers


def a_thinker(folder: Path, keys: tuple[str, ...] = ("model.embed.weight", "lm_head.weight")) -> dict[str, bytes]:
    folder.mkdir()
    tensors = {key: np.random.default_rng(n).bytes(64) for n, key in enumerate(keys)}
    spans = {key: {"dtype": "F32", "shape": [16], "data_offsets": [64 * n, 64 * n + 64]} for n, key in enumerate(tensors)}
    text = json.dumps({"__metadata__": {"format": "pt"}, **spans}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"".join(tensors.values()))
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": dict.fromkeys(keys, "model.safetensors")}))
    (folder / "config.json").write_text(json.dumps(OMNI))
    (folder / "code.py").write_text("never copied")
    return tensors


def read(path: Path) -> dict[str, bytes]:
    content = path.read_bytes()
    with path.open("rb") as stream:
        spans = header(stream, len(content))
    begin = 8 + struct.unpack("<Q", content[:8])[0]
    return {k: content[begin + v["data_offsets"][0] : begin + v["data_offsets"][1]] for k, v in spans.items() if k != "__metadata__"}


def test_a_thinker_is_wrapped_once_with_the_same_tensors(tmp_path: Path) -> None:
    tensors = a_thinker(tmp_path / "thinker")
    told: list[str] = []
    made = wrapped(tmp_path / "thinker", tmp_path / "cache", told=told.append, cancelled=lambda: False)
    assert read(made / "model.safetensors") == {f"thinker.{k}": v for k, v in tensors.items()}
    config = json.loads((made / "config.json").read_text())
    assert config["model_type"] == "qwen2_5_omni" and config["thinker_config"] == OMNI and config["enable_audio_output"] is False
    assert set(json.loads((made / "model.safetensors.index.json").read_text())["weight_map"]) == {f"thinker.{k}" for k in tensors}
    assert not (made / "code.py").exists() and told
    told.clear()
    assert wrapped(tmp_path / "thinker", tmp_path / "cache", told=told.append, cancelled=lambda: False) == made and not told


def test_a_damaged_thinker_leaves_no_half_copy(tmp_path: Path) -> None:
    a_thinker(tmp_path / "thinker")
    file = tmp_path / "thinker" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(ModelFailed, match="cut short"):
        wrapped(tmp_path / "thinker", tmp_path / "cache", told=lambda _line: None, cancelled=lambda: False)
    assert list((tmp_path / "cache").iterdir()) == []
