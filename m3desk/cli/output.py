"""How commands speak: one JSON document with `--json`, else plain lines; progress on a terminal, plain lines elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from m3desk import events
from m3desk.domain.clip import clock
from m3desk.errors import UsageError


@dataclass(frozen=True, slots=True)
class Out:
    """`json`: print one document on stdout and nothing else there."""

    json: bool = False
    quiet: bool = False

    def line(self, text: str = "") -> None:
        """Print a plain line (not with `--json` or `-q`)."""
        if not self.json and not self.quiet:
            print(text, flush=True)

    def result(self, document: Any, lines: Iterable[str]) -> None:
        """Print the command's result: the document with `--json`, else the lines (also with `-q`)."""
        if self.json:
            print(json.dumps(document, ensure_ascii=False, indent=1))
        else:
            for line in lines:
                print(line)

    def warn(self, text: str) -> None:
        """Print one warning line on stderr."""
        print(f"m3desk: warning: {text}", file=sys.stderr, flush=True)


def table(rows: Sequence[Sequence[str]], head: Sequence[str]) -> list[str]:
    """Return rows as aligned lines under a head; the last column is not padded."""
    widths = [max(len(str(r[i])) for r in (head, *rows)) for i in range(len(head))]
    shape = [[str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)] for row in (head, *rows)]
    return ["  ".join(row).rstrip() for row in shape]


def confirm(question: str, yes: bool, *, lost: bool = True) -> None:
    """Ask before what can't be undone (or, unless `lost`, what is merely large).

    Raises UsageError without a terminal and without `--yes`, or when the answer is no.
    """
    if yes:
        return
    question += " This can't be undone." if lost else ""
    if not sys.stdin.isatty():
        raise UsageError(question, "Without a terminal it needs --yes.")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was changed.")


class Follower:
    """Shows the events of long work: a progress bar on a terminal, a plain line a clip elsewhere, nothing with `--json`."""

    def __init__(self, out: Out) -> None:
        self._out = out
        self._bar: Any = None
        self._task: Any = None
        if sys.stderr.isatty() and not out.quiet and not out.json:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f}%"),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}"),
            )
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("opening models", total=None, left="")

    def __call__(self, event: Any) -> None:
        match event:
            case events.Progress():
                self._progress(event)
            case events.ClipCommitted(clip=clip, state=state, sentences=sentences):
                if not self._bar:
                    self._out.line(f"{clip}: {state}" + (f", {len(sentences)} memories" if sentences else ""))
            case events.Notice(level="error", report=""):
                pass  # the error of a source, which the command ends with
            case events.Notice(level=level, text=text, hint=hint) if level != "info":
                self._out.warn(f"{text} {hint}".strip())
            case events.ModelLoading(name=name, done=False) if self._bar:
                self._bar.update(self._task, description=f"opening {name}")

    def _progress(self, event: events.Progress) -> None:
        if self._bar:
            left = f"{event.left:.0f} s left" if event.left is not None else ""
            rate = f" · {event.rate:.1f}× real time" if event.rate and event.stage != "knowledge" else ""
            self._bar.update(
                self._task, description=f"{event.clip} {event.stage}{rate}", completed=event.done, total=event.total, left=left
            )

    def __enter__(self) -> Follower:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()


def span(start: int | None, end: int | None) -> str:
    """Return a stretch of time as people read it: `[00:04–00:09]`; empty where there is none."""
    if start is None:
        return ""
    return f"[{clock(start)}–{clock(end)}]" if end is not None else f"[{clock(start)}]"
