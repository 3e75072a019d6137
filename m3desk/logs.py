"""How log lines look, in the terminal and in files: one line each, whatever they quote."""

from __future__ import annotations

import logging

from m3desk.domain.visible import visible


class OneLine(logging.Formatter):
    """A record is one line in which nothing steers a terminal; a traceback follows it, made visible too."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the record's line."""
        return visible(super().formatMessage(record))

    def formatException(self, ei: object) -> str:
        """Return a traceback, whose own newlines stay."""
        return visible(super().formatException(ei), keep="\n")  # type: ignore[arg-type]


def one_line() -> None:
    """Let every handler of this process write such lines, in the format that it has."""
    for handler in logging.getLogger().handlers:
        handler.setFormatter(OneLine(handler.formatter._fmt if handler.formatter else None))
