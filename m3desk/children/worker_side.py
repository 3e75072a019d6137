"""The process's side of a `Worker` (`pipe.py`): reads requests from standard input, answers on standard output.

Run by path in the backend's own environment, `python -I worker_side.py PROGRAM ARGUMENTS…`: imports the standard library only, and numpy
when the first array comes. PROGRAM is a Python file (beside others that it may import) that defines `HANDLERS`, what answers each kind of
request:

    def embed(request, call): …; return {"dimension": 192}, [vectors]
    HANDLERS = {"embed": embed}

A handler gets the request (a dict, with its arrays as the list `arrays`) and a `Call`, and returns a dict, or (dict, arrays). What
libraries print goes to the log.
"""

from __future__ import annotations

import json
import os
import queue
import runpy
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO, NoReturn

Handler = Callable[[dict[str, Any], "Call"], Any]


class Call:
    """One request that is being answered."""

    def __init__(self, number: int, side: _Side) -> None:
        self._number = number
        self._side = side

    @property
    def cancelled(self) -> bool:
        """Whether the caller no longer wants the answer."""
        return self._number in self._side.cancelled

    def piece(self, text: str) -> None:
        """Send a piece of a reply that is streamed."""
        self._side.send({"id": self._number, "kind": "piece", "text": text})

    def progress(self, text: str, share: float | None = None) -> None:
        """Say what is being done; `share`: of the work, 0–1."""
        self._side.send({"id": self._number, "kind": "progress", "text": text, "share": share})

    def refuse(self, text: str, hint: str = "", kind: str = "failed") -> NoReturn:
        """End the request with an error that the user can act on: `missing` (ModelMissing), `failed` (ModelFailed) or `memory`."""
        raise _Refused(text, hint, kind)


class _Refused(Exception):
    def __init__(self, text: str, hint: str, kind: str) -> None:
        super().__init__(text)
        self.hint = hint
        self.kind = kind


class _Side:
    def __init__(self, reads: BinaryIO, writes: BinaryIO) -> None:
        self._reads, self._writes = reads, writes
        self._lock = threading.Lock()
        self.cancelled: set[int] = set()
        self.requests: queue.Queue[dict[str, Any]] = queue.Queue()

    def read(self) -> None:
        """Read requests until the pipe closes, then end the process at once: nobody wants an answer any more."""
        try:
            while (message := read_message(self._reads)) is not None:
                if "cancel" in message:
                    self.cancelled.add(message["cancel"])
                else:
                    self.requests.put(message)
        except Exception:
            traceback.print_exc()
        os._exit(0)

    def send(self, message: dict[str, Any], arrays: Sequence[Any] = ()) -> None:
        with self._lock:
            write_message(self._writes, message, arrays)


def serve(program: str) -> None:
    """Run a program and answer its requests, one after another, in this thread, until the pipe closes."""
    reads = os.fdopen(os.dup(0), "rb", buffering=1 << 16)
    writes = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what a library prints must not come between the messages
    sys.path.append(os.path.dirname(os.path.abspath(program)))  # noqa: PTH100, PTH120 - the program's own neighbours, after all others
    handlers: Mapping[str, Handler] = runpy.run_path(program, run_name="backend")["HANDLERS"]
    side = _Side(reads, writes)
    threading.Thread(target=side.read, daemon=True).start()
    side.send({"id": 0, "kind": "ready", "process": os.getpid()})
    while True:
        request = side.requests.get()
        number = request.pop("id")
        try:
            handler = handlers[request.pop("call")]
            answer = handler(request, Call(number, side))
            body, arrays = answer if isinstance(answer, tuple) else (answer, ())
            side.send({"id": number, "kind": "done", "answer": body}, arrays)
        except BrokenPipeError:
            os._exit(0)
        except _Refused as error:
            side.send({"id": number, "kind": "error", "text": str(error), "hint": error.hint, "error": error.kind})
        except Exception as error:
            traceback.print_exc()
            memory = isinstance(error, MemoryError) or "out of memory" in str(error).lower()
            side.send(
                {
                    "id": number,
                    "kind": "error",
                    "text": f"{type(error).__name__}: {error}",
                    "hint": "",
                    "error": "memory" if memory else "failed",
                }
            )
        side.cancelled.discard(number)


# ---------------------------------------------------------------- messages: one line of JSON, then the bytes of the arrays it announces


def write_message(to: BinaryIO, message: Mapping[str, Any], arrays: Sequence[Any] = ()) -> None:
    """Write a message; `arrays`: numpy arrays, whose types and shapes go into the line."""
    blocks = []
    announced = []
    if arrays:
        import numpy

        for array in arrays:
            block = numpy.asarray(array, order="C")
            announced.append({"dtype": block.dtype.str, "shape": list(block.shape)})
            blocks.append(block)
    _all(to, json.dumps({**message, "arrays": announced}, ensure_ascii=True).encode() + b"\n")
    for block in blocks:
        if block.nbytes:
            _all(to, block.data.cast("B"))


def _all(to: BinaryIO, content: bytes | memoryview) -> None:
    """Write all of it: an unbuffered pipe may take a part."""
    left = memoryview(content)
    while len(left):
        left = left[to.write(left) or 0 :]


def read_message(source: BinaryIO) -> dict[str, Any] | None:
    """Read a message, its `arrays` as numpy arrays; None at the end. Raises ValueError for what is no message."""
    line = source.readline()
    if not line:
        return None
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError("not a message")
    message["arrays"] = [_array(source, one) for one in message.get("arrays", ())]
    return message


def _array(source: BinaryIO, announced: Mapping[str, Any]) -> Any:
    import numpy

    dtype = numpy.dtype(announced["dtype"])
    if dtype.hasobject:
        raise ValueError("arrays of objects are not sent")
    array = numpy.empty(announced["shape"], dtype)
    into = array.data.cast("B") if array.nbytes else memoryview(b"")
    have = 0
    while have < array.nbytes:
        count = source.readinto(into[have:])  # type: ignore[attr-defined]
        if not count:
            raise ValueError("the pipe closed in the middle of a message")
        have += count
    return array


if __name__ == "__main__":
    del sys.argv[0]
    serve(sys.argv[0])

__all__ = ["Call", "Handler", "read_message", "serve", "write_message"]
