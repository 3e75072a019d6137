"""The commands of `contract.md`: words in, calls to the engine, one document or plain lines out.

Must not know: Qt (the window is imported only by `open` and `play`), how a memory is stored.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import signal
import sys
from collections.abc import Sequence

from m3desk import leftovers, paths
from m3desk.cli.output import Out
from m3desk.cli.parser import options_last, parser
from m3desk.errors import Cancelled, M3DeskError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status (0 success, 1 failure or findings, 2 wrong use, 130 Ctrl-C)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # JSON and Chinese are UTF-8 everywhere, also into a file on Windows
            stream.reconfigure(encoding="utf-8", errors="replace")
    arguments = list(sys.argv[1:] if argv is None else argv)
    grammar = parser()
    options = grammar.parse_args(options_last(grammar, _play_by_default(arguments)))
    _log(options.debug, options.verbose)
    paths.close_own()
    out = Out(json=getattr(options, "json", False), quiet=options.quiet)
    with contextlib.suppress(ValueError, AttributeError):  # not in the main thread, or no such signal here
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        leftovers.remove_once()
        return int(options.run(options, out) or 0)
    except M3DeskError as error:
        if options.debug:
            raise
        print(f"m3desk: {error.line()}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("m3desk: stopped; what was committed stays, the next run resumes.", file=sys.stderr)
        return Cancelled.exit_code
    except BrokenPipeError:
        # The reader of our output went away (`m3desk … | head`): not a failure. Keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if options.debug:
            raise
        logging.getLogger(__name__).debug("bug", exc_info=True)
        print(f"m3desk: a fault of M3Desk: {type(error).__name__}: {error}. Run it again with --debug for a report.", file=sys.stderr)
        return 1


def _play_by_default(arguments: list[str]) -> list[str]:
    """Without a command, open the app on its start page."""
    if any(a in ("-h", "--help", "--version") for a in arguments[:1]):
        return arguments
    return arguments if any(not a.startswith("-") for a in arguments) else [*arguments, "open"]


def _log(debug: bool, verbose: int) -> None:
    level = logging.DEBUG if debug else (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
    for noisy in ("jieba", "faster_whisper", "httpx", "urllib3"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


__all__ = ["main"]
