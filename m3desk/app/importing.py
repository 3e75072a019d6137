"""Imports a file into an open, empty memory for the window: with progress, and stopped at any time before it is committed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from m3desk import events
from m3desk.app import long_work
from m3desk.domain.sample_files import is_graph, is_import
from m3desk.errors import Cancelled, ImportProblem, WrongFile
from m3desk.interop import imports, m3agent
from m3desk.regular import check_name, check_regular
from m3desk.store.records import Records
from m3desk.writer import Write

READS = "M3Desk imports .json of File > Export or `m3desk export`, and .pkl or .pkl.gz of M3-Agent."


class ImportingMemory(Protocol):
    """An open memory."""

    emit: Callable[[Any], None]

    @property
    def write(self) -> Write: ...
    def reader(self) -> Records: ...
    def closing(self) -> bool: ...


class Importing:
    """The import of one file into one memory."""

    def __init__(self, memory: ImportingMemory) -> None:
        self._memory = memory
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Stop at the next safe moment: the import raises Cancelled, and nothing is written. Too late once it is committed."""
        self._stopped.set()

    def run(self, path: Path) -> dict[str, Any]:
        """Read a file, check all of it, and write it; return the counts. Raises ImportProblem or Cancelled, and then writes nothing."""
        try:
            check(path)
            return self._graph(path) if is_graph(path.name) else self._export(path)
        finally:
            self._stopped.clear()

    def _export(self, path: Path) -> dict[str, Any]:
        self._going("reading")(0, 0)  # one call of a parser, which tells nothing meanwhile
        export = imports.load(path)
        tell = self._going("importing")
        tell(0, 0)
        return self._memory.write(lambda m: imports.write(export, m, lambda: tell(0, 0)))

    def _graph(self, path: Path) -> dict[str, Any]:
        found = m3agent.load(path, going=self._going("reading"))
        tell, total, done = self._going("importing"), len(found.graph.clips), -1

        def clip() -> None:
            nonlocal done
            found.going()
            done = min(done + 1, total)
            tell(done, total)

        self._memory.write(lambda m: m.adopt(found.graph, going=clip))
        return found.report

    def _going(self, stage: events.Stage) -> Callable[[int, int], None]:
        """Return what tells the progress of a stage; it raises Cancelled once `stop` was called."""
        tell = long_work.going(self._memory, stage)

        def going(done: int, total: int) -> None:
            if self._stopped.is_set():
                raise Cancelled("the import was stopped.", "Nothing was written.")
            tell(done, total)

        return going


def check(path: Path) -> None:
    """Raise ImportProblem if a path is not a regular file, or is not called as one that can be imported."""
    check_name(path, ImportProblem)
    check_regular(path, ImportProblem, ImportProblem)
    if not is_import(path.name):
        raise WrongFile(f"{path.name} can't be imported.", READS)
