"""Counts the borders that one clip and one question cross: `python -m tests.engine.borders [--list]`.

A border is a call of a function in one file of `m3desk/` from another, each pair of files once. The caller is the nearest function of
`m3desk/` on the stack, so a call through a library (`sorted(key=…)`) counts for who asked for it; what fakes call counts for nobody.
A border between parts is the same of parts: a part is a package or a module of `m3desk/`, as ARCHITECTURE.md maps them.
Not counted: imports, what dataclasses generate, plugins. Only the models are fakes: a drawn film with spoken words is decoded, perceived,
written and committed, then a question is asked of the memory.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import m3desk
from m3desk.app import App
from m3desk.backends import Backends
from m3desk.config import Settings
from tests.engine.fakes import FakeBackends
from tests.engine.made import drawn_talk

ROOT = str(Path(m3desk.__file__).parent) + "/"
TESTS = str(Path(__file__).resolve().parents[1]) + "/"


class Borders:
    """Notes pairs of files while `counting`; covers threads that are started after it was made."""

    def __init__(self) -> None:
        self.pairs: set[tuple[str, str]] = set()
        self._on = False
        threading.setprofile(self._called)
        sys.setprofile(self._called)

    def close(self) -> None:
        threading.setprofile(None)
        sys.setprofile(None)

    @contextmanager
    def counting(self) -> Iterator[set[tuple[str, str]]]:
        """Give the set to which pairs of files are added inside of the `with`."""
        self.pairs, self._on = set(), True
        try:
            yield self.pairs
        finally:
            self._on = False

    def _called(self, frame: FrameType, event: str, _what: Any) -> None:
        if not self._on or event != "call":
            return
        code = frame.f_code
        if not code.co_filename.startswith(ROOT) or code.co_name == "<module>":
            return
        above = frame.f_back
        while above is not None and not above.f_code.co_filename.startswith((ROOT, TESTS)):
            above = above.f_back
        if above is not None and above.f_code.co_filename.startswith(TESTS):
            return
        if above is not None and above.f_code.co_filename != code.co_filename and above.f_code.co_name != "<module>":
            self.pairs.add((above.f_code.co_filename[len(ROOT) :], code.co_filename[len(ROOT) :]))


def measured(folder: Path) -> dict[str, set[tuple[str, str]]]:
    """Return the borders of the second clip of a film and of the second question."""
    borders = Borders()
    try:
        settings = Settings.defaults()
        with App(folder / "m.m3desk", settings=settings, backends=_backends(), emit=_nobody) as app:
            app.work.add([drawn_talk(folder / "first.mp4")])
            app.work.run()
            app.work.add([drawn_talk(folder / "second.mp4", seconds=5)])
            found = {"clip": _noted(borders, app.work.run)}
            app.embed_lacking()
            list(app.answering.ask("What happens?"))
            found["question"] = _noted(borders, lambda: list(app.answering.ask("Who drinks tea?")))
            return found
    finally:
        borders.close()


def _backends() -> Backends:
    backends = Backends(lambda name: Path(name), profile={})
    for port, model in FakeBackends().all.items():
        backends.replace(port, model)
    return backends


def _nobody(_event: Any) -> None:
    """Hear an event, as a window would."""


def _noted(borders: Borders, do: Callable[[], Any]) -> set[tuple[str, str]]:
    with borders.counting() as pairs:
        do()
    return set(pairs)


def parts(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the pairs of parts (`store`, `domain`, `pipeline`, …) of pairs of files."""
    named = {(a.split("/")[0].removesuffix(".py"), b.split("/")[0].removesuffix(".py")) for a, b in pairs}
    return {(a, b) for a, b in named if a != b}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for name, pairs in measured(Path(folder)).items():
            print(f"one {name}: {len(pairs)} borders between files, {len(parts(pairs))} between parts")
            if "--list" in sys.argv:
                print(*(f"  {a} -> {b}" for a, b in sorted(pairs)), sep="\n")
