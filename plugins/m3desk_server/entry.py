"""The entry points of this plugin. Cheap to import; nothing is contacted or started here."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

Weights = Callable[[str], Path]

_lock = threading.Lock()
_shared: dict[Any, Any] = {}
"""A server for each set of settings: language model and watcher share what was found out (and the process, where it is ours)."""


def server_language(weights: Weights, threads: int) -> Any:
    from m3desk_server.models import ServerLanguage

    return ServerLanguage(*_server())


def server_watcher(weights: Weights, threads: int) -> Any:
    from m3desk_server.models import ServerWatcher

    return ServerWatcher(*_server())


def _server() -> Any:
    from m3desk.errors import ModelMissing, UsageError
    from m3desk_server.client import Server
    from m3desk_server.dialects import Dialect
    from m3desk_server.door import KeptDoor
    from m3desk_server.options import options

    try:
        chosen = options("server")
        door = KeptDoor(chosen.door)
        door()
        with _lock:
            if chosen not in _shared:
                server = Server(door, chosen.model, chosen.context, door.forget)
                _shared[chosen] = (server, Dialect(server, chosen.dialect), chosen)
            return _shared[chosen]
    except UsageError as error:
        raise ModelMissing(str(error), error.hint) from error


def vllm_language(weights: Weights, threads: int) -> Any:
    from m3desk_server.models import ServerLanguage

    return ServerLanguage(*_vllm(weights, threads))


def vllm_watcher(weights: Weights, threads: int) -> Any:
    from m3desk_server.models import ServerWatcher

    return ServerWatcher(*_vllm(weights, threads))


def _vllm(weights: Weights, threads: int) -> Any:
    """Return vLLM's client; its model and environment are looked for now, so that what lacks is said at once. Raises ModelError."""
    from dataclasses import replace

    from m3desk.children.configs import sees
    from m3desk.children.environments import chosen_python
    from m3desk.errors import ModelMissing, UsageError
    from m3desk_server.dialects import Dialect
    from m3desk_server.options import STYLES, options
    from m3desk_server.thinker import is_thinker
    from m3desk_server.vllm_process import HEARS, NAME, VIDEO, VllmProcess, read_config

    try:
        chosen = options(NAME)
    except UsageError as error:
        raise ModelMissing(str(error), error.hint) from error
    if not chosen.model:
        raise ModelMissing(
            "no model is chosen for vLLM.", "Set it, a folder or a name of m3desk models list: m3desk config set backends.vllm.model FOLDER"
        )

    def folder() -> Path:
        given = Path(chosen.model).expanduser()
        return given if given.is_absolute() else weights(chosen.model)

    config = read_config(folder())
    chosen_python(NAME, chosen.python)
    kind = str(config.get("model_type", "")).removesuffix("_thinker")
    told = replace(
        chosen,
        where="vLLM",
        dialect=chosen.dialect or "vllm",
        sees=sees(config) if chosen.sees is None else chosen.sees,
        hears=kind in HEARS if chosen.hears is None else chosen.hears,
        video=chosen.video or kind in VIDEO,
        style=(STYLES[1] if is_thinker(config) else "") if chosen.style is None else chosen.style,
    )
    with _lock:
        if told not in _shared:
            server = VllmProcess(told, folder, lambda: chosen_python(NAME, told.python), threads).server()
            _shared[told] = (server, Dialect(server, told.dialect), told)
        return _shared[told]
