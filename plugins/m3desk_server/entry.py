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
    from m3desk_server.options import options

    try:
        chosen = options("server")
        chosen.door()
        with _lock:
            if chosen not in _shared:
                server = Server(lambda _cancelled: chosen.door(), chosen.model, chosen.context)
                _shared[chosen] = (server, Dialect(server, chosen.dialect), chosen)
            return _shared[chosen]
    except UsageError as error:
        raise ModelMissing(str(error), error.hint) from error
