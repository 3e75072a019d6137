"""Output of commands: one JSON document with `--json`, else plain lines; a progress bar on a terminal, plain lines elsewhere.

All output passes through one filter (`border`), which escapes control characters (`domain.visible`), including output of libraries and
tracebacks. Only JSON documents (`exact`) and the progress bar's escape sequences (`terminal`) bypass it.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO, cast

from m3desk import events
from m3desk.domain.clip import clock
from m3desk.domain.plural import many
from m3desk.domain.visible import as_json, shortened, visible
from m3desk.errors import UsageError

LONGEST = 600
"""Characters of an error or warning: one that quotes more is shortened in the middle."""


class Border:
    """A text stream that passes newlines and tabs, and escapes every other control character."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text with control characters escaped; return its length."""
        self.stream.write(visible(text, keep="\n\t"))
        return len(text)

    def writelines(self, texts: Iterable[str]) -> None:
        """Write texts with control characters escaped."""
        for text in texts:
            self.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def border() -> Iterator[None]:
    """Install the filter on standard output and standard error. Both are UTF-8 everywhere, even redirected on Windows."""
    before = sys.stdout, sys.stderr
    for stream in before:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    sys.stdout, sys.stderr = (cast(TextIO, s if isinstance(s, Border) or s is None else Border(s)) for s in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def exact() -> TextIO:
    """Return unfiltered standard output for a document; filtered if it is a terminal."""
    return sys.stdout if sys.stdout.isatty() else _beneath(sys.stdout)


def terminal() -> TextIO:
    """Return unfiltered standard error for a progress bar. The caller escapes the texts it shows."""
    return _beneath(sys.stderr)


def _beneath(stream: TextIO) -> TextIO:
    return cast(Border, stream).stream if isinstance(stream, Border) else stream


def error(text: str) -> None:
    """Print one error line on stderr."""
    print(f"m3desk: {visible(shortened(text, LONGEST))}", file=sys.stderr, flush=True)


def told(text: str) -> None:
    """Print one line of progress or a question on stderr."""
    print(visible(text), file=sys.stderr, flush=True)


def prompt(text: str) -> str | None:
    """Ask on the terminal and return the typed line; None at end of input."""
    print(visible(text), end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    return line.strip() if line else None


@dataclass(frozen=True, slots=True)
class Out:
    """`json`: print one document on stdout and nothing else there."""

    json: bool = False
    quiet: bool = False

    def line(self, text: str = "") -> None:
        """Print a plain line (not with `--json` or `-q`)."""
        if not self.json and not self.quiet:
            print(visible(text), flush=True)

    def result(self, document: Any, lines: Iterable[str]) -> None:
        """Print the command's result: the document with `--json`, else the lines (also with `-q`)."""
        if self.json:
            print(as_json(document))
        else:
            for line in lines:
                print(visible(line))

    def warn(self, text: str) -> None:
        """Print one warning line on stderr."""
        error(f"warning: {text}")


def table(rows: Sequence[Sequence[str]], head: Sequence[str]) -> list[str]:
    """Return rows as lines under a head, aligned as a terminal shows them (Chinese is two cells wide); the last column is not padded."""
    from rich.cells import cell_len

    shown = [[visible(str(cell)) for cell in row] for row in (head, *rows)]
    widths = [max(cell_len(r[i]) for r in shown) for i in range(len(head))]
    shape = [[cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)] for row in shown]
    return ["  ".join(row).rstrip() for row in shape]


def confirm(question: str, yes: bool, *, option: str = "--yes", lost: bool = True) -> None:
    """Ask for confirmation of something that can't be undone (or, unless `lost`, that is merely large).

    Raises UsageError if there is neither a terminal nor the option that confirms, or if the answer is no.
    """
    if yes:
        return
    question += " This can't be undone." if lost else ""
    if not sys.stdin.isatty():
        raise UsageError(question, f"Without a terminal it needs {option}.")
    if (prompt(f"{question} [y/N] ") or "").lower() not in ("y", "yes"):
        raise UsageError("nothing was changed.")


class Follower:
    """Shows the events of long work: a progress bar on a terminal, one line per clip elsewhere, nothing with `--json`."""

    def __init__(self, out: Out) -> None:
        self._out = out
        self._bar: Any = None
        self._task: Any = None
        if sys.stderr.isatty() and not out.quiet and not out.json:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f}%", markup=False),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}", markup=False),
            )
            self._bar = Progress(*columns, console=Console(file=terminal()), transient=True)
            self._bar.start()
            sys.stdout, sys.stderr = cast(TextIO, Border(sys.stdout)), cast(TextIO, Border(sys.stderr))  # rich puts its own before ours
            self._task = self._bar.add_task("opening models", total=None, left="")

    def __call__(self, event: Any) -> None:
        match event:
            case events.Progress():
                self._progress(event)
            case events.ClipCommitted(clip=clip, state=state, sentences=sentences):
                if not self._bar:
                    self._out.line(f"{clip}: {state}" + (f", {many(len(sentences), 'memory')}" if sentences else ""))
            case events.WatchHit(source=source, at=at, text=text):
                self._out.line(f"{source} {clock(at)} {text}")
            case events.Notice(level="error", report=""):
                pass  # the error of a source, which the command ends with
            case events.Notice(level=level, text=text, hint=hint) if level != "info":
                self._out.warn(f"{text} {hint}".strip())
            case events.ModelLoading(name=name, done=False, said=said) if self._bar:
                self._bar.update(self._task, description=visible(f"opening {name} {said}".rstrip()))
            case events.Leaves(leaving=leaving):
                for line in leaving.lines():
                    self._out.line(line)

    def _progress(self, event: events.Progress) -> None:
        if self._bar:
            left = f"{event.left:.0f} s left" if event.left is not None else ""
            rate = f" · {event.rate:.1f}× real time" if event.rate and event.stage != "knowledge" else ""
            shown = visible(f"{event.clip} {event.stage}{rate}".strip())
            self._bar.update(self._task, description=shown, completed=event.done, total=event.total, left=left)

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()


def span(start: int | None, end: int | None) -> str:
    """Format a time span: `[00:04–00:09]`; empty if there is none."""
    if start is None:
        return ""
    return f"[{clock(start)}–{clock(end)}]" if end is not None else f"[{clock(start)}]"
