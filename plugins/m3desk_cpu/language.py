"""A small language model in this process, by llama.cpp (xllamacpp): streams replies, constrained by a grammar or a JSON schema."""

from __future__ import annotations

import queue
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from m3desk import config
from m3desk.children.waiting import held
from m3desk.domain.visible import without_chat_tokens
from m3desk.errors import BackendMissing, Cancelled, ModelFailed, ModelMissing
from m3desk.ports import Message

DEFAULT = "qwen2.5-coder-1.5b"

_WAIT = 0.05
"""Seconds between looks at `cancelled` while the model reads the prompt (it says nothing until then)."""


class LlamaCpp:
    """Qwen2.5-Coder-1.5B-Instruct or another chat model as GGUF. Temperature 0: the same messages give the same reply.

    The prompt cache stays on: with equal thread counts it changed no log-probability of any reply (tests/plugins/test_language.py
    compares cold with cached), and it saves a third of the wait.
    """

    def __init__(self, path: Path, threads: int, context: int = 4096, projector: Path | None = None, **more: Any) -> None:
        """`projector`: the eyes of a model that sees; `more`: further parameters of llama.cpp.

        Raises ModelMissing, ModelFailed, BackendMissing.
        """
        if not Path(path).is_file():
            raise ModelMissing(f"the language model is not here ({path}).", "Download it: m3desk models pull --llm")
        try:
            import xllamacpp
        except ImportError as error:
            raise BackendMissing(f"the language model needs xllamacpp ({error}).", "pip install xllamacpp") from error
        self.name = f"{named(Path(path))} xllamacpp {version('xllamacpp')}"
        self.context = context
        self._lock = threading.Lock()
        try:
            parameters = _parameters(xllamacpp, Path(path), threads, context)
            for name, value in more.items():
                setattr(parameters, name, value)
            if projector is not None:
                parameters.mmproj.path = str(projector)
            self._key = str(parameters.api_keys[0])
            self._server: Any = xllamacpp.Server(parameters)
        except (RuntimeError, OSError, ValueError) as error:
            raise ModelFailed(f"the language model did not load: {error}.", "Check it: m3desk models verify") from error

    def reply(
        self,
        messages: Sequence[Message],
        *,
        grammar: str | None = None,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 256,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        """Yield the reply in pieces. Raises Cancelled when `cancelled` becomes true, ModelFailed if the model fails."""
        return self._said(
            [{"role": m.role, "content": without_chat_tokens(m.text)} for m in messages], grammar, schema, max_tokens, cancelled
        )

    def _said(
        self,
        messages: list[dict[str, Any]],
        grammar: str | None,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        cancelled: Callable[[], bool],
    ) -> Iterator[str]:
        # Progress is told while the prompt is read, too: so that it can be stopped then.
        request: dict[str, Any] = {"messages": messages, "max_tokens": max_tokens, "temperature": 0, "seed": 0, "stream": True}
        request["return_progress"] = True
        if grammar is not None:
            request["grammar"] = grammar
        elif schema is not None:
            request["response_format"] = {"type": "json_schema", "json_schema": {"schema": dict(schema)}}
        with held(self._lock, cancelled):
            yield from self._stream(request, cancelled)

    def _stream(self, request: dict[str, Any], cancelled: Callable[[], bool]) -> Iterator[str]:
        """Run the request on its own thread and yield its pieces as they come.

        The server calls a callback for each piece; returning True ends the generation (raising does not).
        """
        pieces: queue.SimpleQueue[str | Exception | None] = queue.SimpleQueue()
        stop = threading.Event()

        def heard(chunk: Mapping[str, Any]) -> bool:
            if "error" in chunk:
                pieces.put(ModelFailed(f"the language model refused: {chunk['error'].get('message', chunk['error'])}."))
                return True
            for choice in chunk.get("choices", ()):
                text = choice.get("delta", {}).get("content")
                if text:
                    pieces.put(text)
            return stop.is_set()

        def work() -> None:
            try:
                self._server.handle_chat_completions(request, heard)
            except Exception as error:  # The C++ side raises RuntimeError and others of its own.
                pieces.put(ModelFailed(f"the language model failed: {error}."))
            finally:
                pieces.put(None)

        worker = threading.Thread(target=work, name="llama", daemon=True)
        worker.start()
        try:
            yield from _pieces(pieces, cancelled)
        finally:
            stop.set()
            worker.join()


def opened(weights: Callable[[str], Path], threads: int) -> LlamaCpp:
    """Return the language model that `[backends.llama-cpp]` names: `model`, of models.toml or a GGUF file; `context`, its tokens.

    Raises ModelError, UsageError.
    """
    options = config.backend_options("llama-cpp")
    named, context = str(options.get("model", "")).strip() or DEFAULT, options.get("context", 4096)
    if isinstance(context, bool) or not isinstance(context, int) or not 1024 <= context <= 262_144:
        raise ModelMissing(
            "the setting backends.llama-cpp.context must be a whole number from 1024 to 262144.",
            "m3desk config set backends.llama-cpp.context NUMBER",
        )
    path = Path(named).expanduser() if named.endswith(".gguf") else weights(named) / "model.gguf"
    return LlamaCpp(path, threads, context)


def devices() -> list[dict[str, Any]]:
    """Return the devices that this build of llama.cpp sees (CUDA, ROCm, Metal, Vulkan, CPU): name, bytes in all and free now.

    Raises BackendMissing.
    """
    try:
        import xllamacpp
    except ImportError as error:
        raise BackendMissing(f"xllamacpp is not here ({error}).", "pip install xllamacpp") from error
    return [
        {
            "name": f"{d['name']} ({d['description']})",
            "memory_bytes": int(d["memory_total"]),
            "memory_free_bytes": int(d["memory_free"]),
            "graphics": d["type"].name.endswith("GPU"),
        }
        for d in xllamacpp.get_device_info()
    ]


def named(path: Path) -> str:
    """Return the name of a model: its folder's in the catalogue, which has files of the same name, else its file's."""
    return path.parent.name if path.name == "model.gguf" else path.stem


def _pieces(pieces: queue.SimpleQueue[str | Exception | None], cancelled: Callable[[], bool]) -> Iterator[str]:
    while True:
        if cancelled():
            raise Cancelled("stopped.")
        try:
            piece = pieces.get(timeout=_WAIT)
        except queue.Empty:
            continue
        if piece is None:
            return
        if isinstance(piece, Exception):
            raise piece
        yield piece


def _parameters(xllamacpp: Any, path: Path, threads: int, context: int) -> Any:
    p = xllamacpp.CommonParams()
    p.model.path = str(path)
    p.n_ctx = context
    p.n_parallel = 1
    # Both counts: left alone, the second is the number of cores, and two pools on two cores starve each other.
    p.cpuparams.n_threads = threads
    p.cpuparams_batch.n_threads = threads
    p.verbosity = -1
    p.warmup = False
    # The cache of finished prompts in RAM (8 GB by default) would only grow; the one slot keeps its last prompt anyway.
    p.cache_ram_mib = 0
    # The server also listens on a port of 127.0.0.1; with a key that nobody is told, nobody else on this machine can use it.
    p.api_keys = [secrets.token_urlsafe(32)]
    return p
