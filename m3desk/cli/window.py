"""`m3desk`, `m3desk open`, `m3desk play`: starts the window, or says what to do if none can be opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from m3desk.cli.output import Out
from m3desk.errors import M3DeskError, MemoryMissing
from m3desk.media.capture.address import is_live


def open_(options: Any, out: Out) -> int:
    if options.memory and not Path(options.memory).is_dir():
        raise MemoryMissing(f"there is no memory at {options.memory}.", "Make one: m3desk play VIDEO, or m3desk memorize VIDEO -m MEMORY.")
    return _launch(memory=options.memory, source=None)


def play(options: Any, out: Out) -> int:
    from m3desk.app import default_memory
    from m3desk.media.trial import tried

    if is_live(options.source):
        from m3desk.cli.live import address

        source = address(options.source, options.no_audio)
        return _launch(memory=options.memory or str(default_memory(source)), source=source)
    tried(options.source)  # a clear error before any window opens
    return _launch(memory=options.memory or str(default_memory(options.source)), source=str(Path(options.source).resolve()))


def _launch(memory: str | None, source: str | None) -> int:
    from m3desk.machine import display_problem

    if (problem := display_problem()) is not None:
        raise M3DeskError(
            f"no window can be opened here: {problem}.",
            "Work in the terminal: m3desk memorize VIDEO -m MEMORY, then m3desk ask -m MEMORY “question”.",
        )
    from m3desk_ui.launch import run

    return run(memory=memory, source=source)
