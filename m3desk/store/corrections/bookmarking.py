"""The steps that add, change and remove a bookmark: their args, and what they keep after `=`.

    bookmark    source, start, end, text; bookmark to change one   = bookmark, source, start, end, text
    unbookmark  bookmark

A step keeps the whole bookmark, so that the latest one in force says all of it. Times are microseconds; without `end` it is a moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from m3desk.domain.bookmark import LONGEST_NOTE, Bookmark, bookmark_id
from m3desk.errors import CorrectionError
from m3desk.store import bookmarks, reading
from m3desk.store.corrections.resolving import Args, Context


def _bookmark(context: Context, args: Args) -> Args:
    there = _there(context, args) if args.get("bookmark") else None
    source = there.source if there is not None else str(args.get("source") or "")
    if source is None:
        raise CorrectionError("the source of this bookmark was removed.", "Memorize it again first, or remove the bookmark.")
    start = _time(args.get("start", there.start if there is not None else None))
    end = _time(args.get("end", there.end if there is not None and "start" not in args else start))
    known = reading.source(context.db, source)
    growing = known.duration is None or known.state == "live"  # its stored length is that of its closed clips
    if start > end or (not growing and start > (known.duration or 0)):
        raise CorrectionError("that time is not in the source.", "See how long it is: m3desk sources list.")
    text = " ".join(str(args["text"] or "").split()) if "text" in args else there.note if there is not None else ""
    if len(text) > LONGEST_NOTE:
        raise CorrectionError("that note is too long.", f"Use at most {LONGEST_NOTE:,} characters.")
    if there is not None and (there.start, there.end, there.note) == (start, end, text):
        raise CorrectionError("that is what the bookmark says already.")
    same = [b for b in bookmarks.bookmarks(context.db) if (b.source, b.start, b.end) == (source, start, end)]
    if there is None and any(b.note == text for b in same):
        raise CorrectionError("there is such a bookmark already.")
    return {"bookmark": there.id if there is not None else bookmark_id(context.step), "source": source, "start": start, "end": end,
            "text": text}  # fmt: skip


def _unbookmark(context: Context, args: Args) -> Args:
    there = _there(context, args)
    return {"bookmark": there.id, "at": there.start}


def _there(context: Context, args: Args) -> Bookmark:
    """Return the bookmark that args name, by its id or its number."""
    wanted = str(args.get("bookmark") or "")
    for found in bookmarks.bookmarks(context.db):
        if wanted in (found.id, found.id.removeprefix("bookmark_")):
            return found
    raise CorrectionError(f"there is no bookmark {wanted or '(none given)'}.", "See: m3desk bookmarks list.")


def _time(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise CorrectionError("the time of a bookmark is missing.", "Give a time such as 1:30.")
    return value


RESOLVE: Mapping[str, Callable[[Context, Args], Args]] = {"bookmark": _bookmark, "unbookmark": _unbookmark}
