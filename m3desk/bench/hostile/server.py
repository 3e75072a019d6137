"""A process that has imported the program and forks for each case, so that 2,000 cases are affordable.

One JSON object a line comes in (`arguments`, `output`, `errors`, `folder`, `environment`, `seconds`, `memory`) and one goes out (`code`,
`seconds`, `peak` in bytes, `late`). Not on Windows, which can't fork (`running` then starts a process for each try).
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from importlib import import_module
from typing import Any, NoReturn

MODULES = ("work", "asking", "mending", "suggesting", "forgetting", "setup", "reembedding", "evaluating", "window")
HEAVY = ("lancedb", "pyarrow", "onnxruntime", "jieba", "rich.progress", "m3desk.bench", "m3desk_cpu.entry")


def main() -> None:
    """Serve tries until standard input ends."""
    warnings.filterwarnings("ignore", message="lancedb fork support")
    for module in (*(f"m3desk.cli.{m}" for m in MODULES), *HEAVY):
        import_module(module)
    gc.freeze()  # a collection in a child would copy every page
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    requests = sys.stdin.buffer
    unit = 1 if sys.platform == "darwin" else 1024
    while line := requests.readline():
        request = json.loads(line)
        began = time.monotonic()
        if (child := os.fork()) == 0:
            replies.close()
            _leave(_become(request))
        status, used, late = _wait(child, began + request["seconds"])
        code = os.waitstatus_to_exitcode(status)
        reply = {"code": code, "seconds": time.monotonic() - began, "peak": used.ru_maxrss * unit, "late": late}
        print(json.dumps(reply), file=replies, flush=True)


def _become(request: dict[str, Any]) -> int:
    """Run the command of a request in this forked child, as a program of its own would; return its exit status."""
    import faulthandler
    import resource

    os.setsid()
    for number, place, how in (
        (0, os.devnull, os.O_RDONLY),
        (1, request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        (2, request["errors"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        opened = os.open(place, how, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    if not request["arguments"]:  # how much memory the idle program takes
        return 0
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # elsewhere it either does nothing or counts what is shared
        resource.setrlimit(resource.RLIMIT_DATA, (request["memory"], request["memory"]))
    faulthandler.enable()
    faulthandler.dump_traceback_later(max(0.5, request["seconds"] - 1))
    sys.argv = ["m3desk", *request["arguments"]]
    try:
        return int(import_module("m3desk.cli").main())
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 1
    except BaseException:
        traceback.print_exc()
        return 1


def _leave(code: int) -> NoReturn:
    """End this child as the interpreter does, less the taking apart of every imported module, which takes longer than most tries."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads that are left, as the interpreter does
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _wait(child: int, until: float) -> tuple[int, Any, bool]:
    """Wait for a child until a moment, then end it; in both cases end what it started. Return its status, its use, whether it was late."""
    late = False
    pause = 0.001
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > until and not late:
            late = True
            _end(child)
        time.sleep(pause)
        pause = min(0.02, pause * 1.5)
    _end(child)
    return status, used, late


def _end(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


if __name__ == "__main__":
    main()
