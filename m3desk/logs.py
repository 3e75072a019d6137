"""Formats log records, in the terminal and in files, as single lines without control characters."""

from __future__ import annotations

import logging

from m3desk.domain.visible import visible


class OneLine(logging.Formatter):
    """Writes a record as one line with control characters escaped; a traceback follows it, escaped too."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the record's line."""
        return visible(super().formatMessage(record))

    def formatException(self, ei: object) -> str:
        """Return a traceback, whose own newlines stay."""
        return visible(super().formatException(ei), keep="\n")  # type: ignore[arg-type]


def one_line() -> None:
    """Make every log handler of this process write such lines and keep its format."""
    for handler in logging.getLogger().handlers:
        handler.setFormatter(OneLine(handler.formatter._fmt if handler.formatter else None))
