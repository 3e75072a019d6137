"""vLLM as a process of this program: started at the first request, on loopback with a random key, under its guard; ended with it."""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from m3desk import paths
from m3desk.children import cards, loading, turns
from m3desk.children.child import Child, free_port
from m3desk.children.configs import sees
from m3desk.children.waiting import held
from m3desk.errors import ModelError, ModelFailed, ModelMissing
from m3desk.keys import Key
from m3desk.outgoing import Address
from m3desk_server.client import Server
from m3desk_server.connection import CutOff, Request, Unreachable
from m3desk_server.door import Door
from m3desk_server.options import Options
from m3desk_server.thinker import is_thinker, wrapped

NAME = "vllm"
LONGEST_CONTEXT = 32_768
"""Tokens asked for where the settings don't say: a long video's clip; the whole context of a model may not fit into the card."""

START_SECONDS = 1_800.0
"""Until it must answer: 65 GB of weights from a slow disk take many minutes."""

TRIES = 2
"""Starts, if its port is taken by another program in between."""

VIDEO = frozenset({
    "qwen2_5_omni", "qwen3_omni_moe", "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe",
})  # fmt: skip
HEARS = frozenset({"qwen2_5_omni", "qwen3_omni_moe"})
"""Values of `model_type` whose models take videos, and their sound."""

_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_CONFIGURE_LOGGING": "1",
}  # fmt: skip
_ON_CPU = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}


class VllmProcess:
    """The process of one set of settings. Thread-safe. `folder`: returns the model's folder; `python`: the interpreter that has vLLM.

    `threads`: of the CPU build. `card`: what it shares with other models.
    """

    def __init__(
        self, chosen: Options, folder: Callable[[], Path], python: Callable[[], Path], threads: int, card: turns.Card = turns.CARD
    ) -> None:
        self._chosen, self._folder, self._python, self._threads = chosen, folder, python, threads
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._door: Door | None = None
        self._card = card
        self._on_card = turns.Loaded(NAME, 0, self.stop)
        self._measured = False
        self.cache = 0
        """Tokens that its key-value cache holds, as it measured at its start; 0 if it did not say."""

    @property
    def child(self) -> Child | None:
        """Return the process, None before its first start."""
        return self._child

    def door(self, cancelled: Callable[[], bool]) -> Door:
        """Return where it listens; start it first if it does not run. Raises Cancelled, ModelError with the cause and its last lines."""
        with self.at_work(cancelled, part=True), held(self._lock, cancelled):
            if self._child is not None and self._child.alive and self._door is not None:
                return self._door
            with loading.told(NAME) as told:
                folder = self._prepared(told, cancelled)
                for number in range(TRIES):
                    try:
                        return self._start(folder, told, cancelled)
                    except ModelFailed as error:
                        if "port is taken" not in str(error) or number == TRIES - 1:
                            raise
            raise AssertionError

    @contextlib.contextmanager
    def at_work(self, cancelled: Callable[[], bool], *, part: bool = False) -> Iterator[None]:
        """Keep its place on the graphics card while the block runs; wait for it first. `part`: see `Card.at_work`. Raises Cancelled."""
        if not self._measured:
            card = None if is_cpu_build(self._python()) else cards.largest()
            self._on_card.need = round(share(self._chosen.arguments) * int(card["memory_bytes"])) if card is not None else 0
            self._measured = True
        with self._card.at_work(self._on_card, cancelled, part=part):
            yield

    def stop(self) -> None:
        """End the process."""
        with self._lock:
            if self._child is not None:
                self._child.stop()

    def _prepared(self, told: Callable[[str], None], cancelled: Callable[[], bool]) -> Path:
        folder = self._folder()
        config = read_config(folder)
        if is_thinker(config):
            return wrapped(folder, paths.data_dir() / "cache" / "wrapped", told=told, cancelled=cancelled)
        return folder

    def _start(self, folder: Path, told: Callable[[str], None], cancelled: Callable[[], bool]) -> Door:
        python, port, key = self._python(), free_port(), Key(secrets.token_urlsafe(32))
        on_cpu = is_cpu_build(python)
        env = {
            **_ENVIRONMENT,
            **(_ON_CPU if on_cpu else {}),
            "VLLM_API_KEY": key.value(),
        }  # an argument would stand in the list of processes
        if on_cpu:
            env["OMP_NUM_THREADS"] = str(self._threads)
        command = arguments(folder, read_config(folder), self._chosen, port, on_cpu=on_cpu)
        self._child = child = Child(NAME, [python, "-m", "vllm.entrypoints.openai.api_server", *command], env=env, port=port)
        address = Address.parse(f"http://127.0.0.1:{port}/v1")
        door = Door(address, key, NAME, first=float(self._chosen.seconds))
        child.wait_ready(lambda: answers(door), seconds=START_SECONDS, every=0.5, cancelled=cancelled, told=lambda line: told(short(line)))
        self._door = door
        self.cache = cache_tokens(child.log_tail(LOG_LINES))
        return door

    @property
    def sequences(self) -> int:
        """Return how many requests its scheduler takes at the same time, at most MOST_SEQUENCES."""
        own = number_after(self._chosen.arguments, "--max-num-seqs")
        return min(own or (CPU_SEQUENCES if is_cpu_build(self._python()) else MOST_SEQUENCES), MOST_SEQUENCES)

    def server(self) -> Server:
        """Return the client of this process."""
        return VllmServer(self.door, Path(self._chosen.model).name, process=self)


MOST_SEQUENCES = 8
"""Requests at the same time: the pictures of so many clips are decoded and sent meanwhile, by the processor."""

CPU_SEQUENCES = 2
LOG_LINES = 2_000

ENDING = 5.0
"""Seconds that a process which cut a connection may take to end; on a busy machine one is not enough."""


class VllmServer(Server):
    """A client that says why the process ended, where it ended."""

    def __init__(self, open_door: Any, model: str, *, process: VllmProcess) -> None:
        super().__init__(open_door, model)
        self._process = process

    def several(self) -> tuple[int, int | None]:
        """Return how many requests its scheduler takes, and the tokens of the cache that they share, as it measured; one while unknown."""
        cache = self._process.cache
        return (self._process.sequences, cache) if cache and self.met is not None else (1, None)

    def reply(self, messages: Sequence[Mapping[str, Any]], **how: Any) -> Any:
        try:
            with self._process.at_work(how.get("cancelled", lambda: False)):
                yield from super().reply(messages, **how)
        except ModelFailed as error:
            child = self._process.child
            patience = ENDING if isinstance(error, CutOff | Unreachable) else 0.0
            if child is not None and child.ended.wait(patience) and not isinstance(error, ModelMissing):
                raise child.failure("while it answered") from error
            raise


SHARE = 0.92
"""Of the card's memory, that vLLM takes if it is told nothing else."""


def share(arguments: Sequence[str]) -> float:
    """Return the share of a card's memory that vLLM takes with these arguments."""
    found = _last(arguments, "--gpu-memory-utilization")
    with contextlib.suppress(ValueError):
        return min(1.0, max(0.0, float(found)))
    return SHARE


def number_after(arguments: Sequence[str], option: str) -> int:
    """Return the whole number given for an option, the last one counts; 0 if there is none."""
    found = _last(arguments, option)
    return int(found) if found.isdecimal() else 0


def _last(arguments: Sequence[str], option: str) -> str:
    found = ""
    for word, then in pairwise([*arguments, ""]):
        name, _, value = word.partition("=")
        if name.replace("_", "-") == option:
            found = value or then
    return found


_CACHE = re.compile(r"KV cache size: ([\d,]+) tokens")


def cache_tokens(log: Sequence[str]) -> int:
    """Return the tokens that vLLM's key-value cache holds, by the lines of its log (“GPU KV cache size: 123,456 tokens”); 0 if not told.

    With several workers the smallest.
    """
    return min((int(found[1].replace(",", "")) for line in log if (found := _CACHE.search(line))), default=0)


def answers(door: Door) -> bool:
    """Return whether our server answers there: it is healthy, and knows the key, which another program's on this port would not."""
    for path, status in (("/health", 200), (f"{door.address.path}/models", 200)):
        try:
            with Request(door, "GET", path, {"Authorization": f"Bearer {door.key.value() if door.key else ''}"}) as request:
                if request.head(2.0, lambda: False).status != status:
                    return False
        except ModelError:
            return False
    return True


def arguments(folder: Path, config: Mapping[str, Any], chosen: Options, port: int, *, on_cpu: bool) -> list[str]:
    """Return the arguments of vLLM's server; the user's own come last and win.

    No reasoning parser: it takes for thoughts what a model says that was told not to think (seen with a small Qwen3); the client leaves
    thoughts out itself, and without the parser a constraint holds from the first token.
    """
    kind = str(config.get("model_type", ""))
    longest = _positions(config)
    context = chosen.context or min(longest or LONGEST_CONTEXT, LONGEST_CONTEXT)
    words = ["--model", str(folder), "--served-model-name", Path(chosen.model).name, "--host", "127.0.0.1", "--port", str(port)]
    words += ["--max-model-len", str(context)]
    words += ["--structured-outputs-config", json.dumps({"backend": "xgrammar", "disable_any_whitespace": True})]
    if sees(config):
        limits = {"image": 32, **({"video": 1} if kind in VIDEO else {}), **({"audio": 2} if kind in HEARS else {})}
        words += ["--limit-mm-per-prompt", json.dumps(limits), "--trust-request-mm-kwargs"]
    if on_cpu:
        words += ["--enforce-eager", "--dtype", "bfloat16", "--max-num-seqs", str(CPU_SEQUENCES)]
    return [*words, *chosen.arguments]


def read_config(folder: Path) -> dict[str, Any]:
    """Return a model's config.json. Raises ModelMissing where there is none: vLLM would take the folder for a name in a hub."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except OSError as error:
        raise ModelMissing(
            f"there is no model for vLLM in {folder}: it has no config.json.",
            "Set its folder: m3desk config set backends.vllm.model FOLDER",
        ) from error
    except ValueError as error:
        raise ModelMissing(f"{folder / 'config.json'} can't be read.", "Check the model: m3desk models verify.") from error
    if not isinstance(config, dict):
        raise ModelMissing(f"{folder / 'config.json'} is no model's.", "Check the model: m3desk models verify.")
    return config


def _positions(config: Mapping[str, Any]) -> int:
    for inner in (config, config.get("text_config"), config.get("thinker_config", {}).get("text_config")):
        if isinstance(inner, dict) and isinstance(found := inner.get("max_position_embeddings"), int):
            return found
    return 0


def is_cpu_build(python: Path) -> bool:
    """Return whether an interpreter's vLLM is its CPU build."""
    return any(python.parent.parent.glob("lib/python*/site-packages/vllm_cpu-*.dist-info"))


_PREFIX = re.compile(r"^(?:\(\w+ pid=\d+\)\s*)?(?:(?:INFO|WARNING|ERROR|DEBUG)\s+[\d-]+ [\d:,.]+\s*)?(?:\[[^\]]*\]\s*)?")


def short(line: str) -> str:
    """Return a line of vLLM's log without its process, time and module, at most 120 characters."""
    text = " ".join(_PREFIX.sub("", line).split())
    return text if len(text) <= 120 else f"{text[:120]}…"
