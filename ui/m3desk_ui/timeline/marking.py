"""What a user does with bookmarks: add one at the picture's time or over the chosen span, change its note, remove it, go to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from m3desk.domain.clip import clock
from m3desk_ui.look import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QWidget

    from m3desk.domain.bookmark import Bookmark
    from m3desk_ui.hub.bridge import Hub

JUST_THERE = 300_000
"""Microseconds around the picture's time within which a bookmark counts as where one is, not as the next one."""


def tr(text: str) -> str:
    return QCoreApplication.translate("Bookmarks", text)


def times(bookmark: Bookmark) -> str:
    """Return when a bookmark is: "01:20", or "01:20 – 01:30"."""
    return clock(bookmark.start) + (f" – {clock(bookmark.end)}" if bookmark.end > bookmark.start else "")


def add(hub: Hub, note: str = "") -> None:
    """Bookmark the chosen span, else the moment that the picture shows."""
    if (place := _place(hub)) is not None:
        source, start, end = place
        hub.correct("bookmark", {"source": source, "start": start, "end": end, "text": note})


def add_with_note(hub: Hub, parent: QWidget) -> None:
    """Ask for a note and add a bookmark with it; without words it has no note. The place is where the picture was when this was chosen."""
    if (place := _place(hub)) is None:
        return
    source, start, end = place
    note = plain.written(parent, tr("Bookmark"), tr("Note at %1:").replace("%1", clock(start)))
    if note is not None:
        hub.correct("bookmark", {"source": source, "start": start, "end": end, "text": note})


def _place(hub: Hub) -> tuple[str, int, int] | None:
    """Return the source, start and end to bookmark; without a picture or span, say why there is none."""
    source, start = hub.selection.at
    place = hub.selection.chosen_span or (source, start, start)
    if place[0] and hub.desk is not None:
        return place
    hub.notice.emit("info", tr("There is no picture to bookmark yet; try again once the video is shown."), "", "")
    return None


def edit(hub: Hub, parent: QWidget, bookmark: Bookmark) -> None:
    """Let the user change the note; without words the bookmark stays."""
    note = plain.edited(parent, tr("Bookmark"), tr("Note at %1:").replace("%1", times(bookmark)), bookmark.note, may_be_empty=True)
    if note is not None:
        hub.correct("bookmark", {"bookmark": bookmark.id, "text": note})


def remove(hub: Hub, bookmark: Bookmark) -> None:
    hub.correct("unbookmark", {"bookmark": bookmark.id})


def go(hub: Hub, bookmark: Bookmark) -> None:
    """Show the moment of a bookmark, or where its span begins."""
    if bookmark.source is not None:
        hub.selection.seek.emit(bookmark.source, bookmark.start, False)


def next_of(bookmarks: Sequence[Bookmark], source: str, at: int, *, back: bool = False) -> Bookmark | None:
    """Return the bookmark of a source that follows a time, or comes before it; None without one."""
    mine = [b for b in bookmarks if b.source == source and (b.start < at - JUST_THERE if back else b.start > at + JUST_THERE)]
    return (max if back else min)(mine, key=lambda b: b.start, default=None)
