"""`m3desk`, `m3desk open`, `m3desk play`: starts the window, or says what to do if none can be opened."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from m3desk.cli.output import Out
from m3desk.errors import M3DeskError, MemoryMissing
from m3desk.media.capture.address import check_spelling, is_live


def open_(options: Any, out: Out) -> int:
    if options.memory and not Path(options.memory).is_dir():
        raise MemoryMissing(
            f"there is no memory at {options.memory}.",
            "Check the path; a new memory is made by m3desk play VIDEO, or m3desk memorize VIDEO -m MEMORY.",
        )
    return _launch(memory=options.memory, source=None)


def play(options: Any, out: Out) -> int:
    from m3desk.app import default_memory
    from m3desk.media.trial import tried

    if is_live(options.source):
        from m3desk.cli.live import address

        source = address(options.source, options.no_audio)
        return _launch(memory=options.memory or str(default_memory(source)), source=source)
    check_spelling(options.source)
    tried(options.source)  # a clear error before any window opens
    return _launch(memory=options.memory or str(default_memory(options.source)), source=str(Path(options.source).resolve()))


def _launch(memory: str | None, source: str | None) -> int:
    return int(window_module().run(memory=memory, source=source))


def window_module() -> Any:
    """Return `m3desk_ui.launch`. Raises M3DeskError where no window can be opened."""
    from m3desk.machine import display_problem

    gc.disable()  # the window collects by a timer (m3desk_ui.hub.collector); loading its modules leaves little garbage
    failed: ImportError | None = None
    with ThreadPoolExecutor(1) as pool:  # a child process looks at the display meanwhile
        asked = pool.submit(display_problem)
        try:
            from m3desk_ui import launch
        except ImportError as error:
            failed = error
        problem = asked.result()
    if problem is not None:
        raise M3DeskError(
            f"no window can be opened here: {problem}.",
            'Work in the terminal: m3desk memorize VIDEO -m MEMORY, then m3desk ask -m MEMORY "question".',
        )
    if failed is not None:
        raise failed
    return launch
