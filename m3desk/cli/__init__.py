"""The command line of `contract.md`: parses arguments, calls the engine, prints one JSON document or plain lines.

Must not know: Qt (the window is imported only by `open` and `play`), how a memory is stored.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import signal
import sys
import traceback
from collections.abc import Sequence

from m3desk import leftovers, logs, paths
from m3desk.cli import output
from m3desk.cli.parser import options_last, parser
from m3desk.domain.visible import shortened
from m3desk.errors import Cancelled, M3DeskError, UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status (0 success, 1 failure or findings, 2 wrong usage, 130 Ctrl-C)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    with output.border():
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    debug = "--debug" in arguments
    try:
        _readable(arguments)
        grammar = parser()
        options = grammar.parse_args(options_last(grammar, _play_by_default(arguments)))
        _log(options.debug, options.verbose)
        with contextlib.suppress(ValueError, AttributeError):  # not in the main thread, or no such signal here
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        paths.close_own()
        leftovers.remove_once()
        return int(options.run(options, output.Out(json=getattr(options, "json", False), quiet=options.quiet)) or 0)
    except KeyboardInterrupt:
        output.error("stopped; what was committed is kept, the next run resumes.")
        return Cancelled.exit_code
    except BrokenPipeError:
        # The reader of our output went away (`m3desk … | head`): not a failure. Keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if debug:
            traceback.print_exc()
        return _failed(error)


def _failed(error: Exception) -> int:
    """Print the error as one line; return the exit status."""
    match error:
        case M3DeskError():
            output.error(error.line())
            return error.exit_code
        case MemoryError():
            output.error("not enough memory (RAM). Close other programs, or work on a smaller file.")
        case OSError(errno=number) if number in _OF_THE_MACHINE:
            output.error(f"{error.filename or 'a file'}: {error.strerror}. What was committed is kept; {_OF_THE_MACHINE[number]}.")
        case _:
            logging.getLogger(__name__).debug("bug", exc_info=True)
            told = shortened(f"{type(error).__name__}: {error}")
            output.error(f"a fault of M3Desk: {told}. Run it again with --debug for a report.")
    return 1


_OF_THE_MACHINE = {
    errno.ENOSPC: "free disk space and run it again",
    errno.EDQUOT: "free disk space and run it again",
    errno.EFBIG: "choose another disk",
    errno.EROFS: "choose a place that can be written to",
    errno.EACCES: "check its permissions",
    errno.EPERM: "check its permissions",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EMFILE: "close other programs and run it again",
    errno.ENFILE: "close other programs and run it again",
    errno.EIO: "check the disk",
}
"""What a system may refuse at any moment, and what to do about it: no fault of the program."""


def _readable(arguments: Sequence[str]) -> None:
    """Raise UsageError for an argument that is not UTF-8: it can be neither stored nor printed."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise UsageError(f"“{shortened(argument)}” is not UTF-8.", "Type it again; if it is a file, rename it first.") from None
        if "\x00" in argument:
            raise UsageError(f"“{shortened(argument)}” holds a zero byte.", "Type it again.")


def _play_by_default(arguments: list[str]) -> list[str]:
    """Without a command, open the app on its start page."""
    if any(a in ("-h", "--help", "--version") for a in arguments[:1]):
        return arguments
    return arguments if any(not a.startswith("-") for a in arguments) else [*arguments, "open"]


def _log(debug: bool, verbose: int) -> None:
    level = logging.DEBUG if debug else (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbose, 2)]
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
    logs.one_line()
    for noisy in ("jieba", "faster_whisper", "httpx", "urllib3"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


__all__ = ["main"]
