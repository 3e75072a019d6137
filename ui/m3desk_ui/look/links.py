"""Links inside texts, such as `m3://play/s1/374000000` and `m3://node/ID`: creates them and handles clicks (some apply corrections)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from PySide6.QtCore import QUrl

from m3desk.domain.clip import clock
from m3desk_ui.look import plain, theme

if TYPE_CHECKING:
    from m3desk_ui.hub.bridge import Hub

SELECTABLE = ("person", "node", "observation", "clip", "source")


def href(kind: str, *parts: object) -> str:
    """Return the address of a thing or a time."""
    return "m3://" + "/".join([kind, *(quote(str(p), safe="", errors="replace") for p in parts)])


def link(text: str, kind: str, *parts: object) -> str:
    """Return an HTML link around plain text, in the theme's colour: Qt keeps the colour of links that were made in another theme."""
    return f'<a style="color:{theme.colours().link};text-decoration:none" href="{href(kind, *parts)}">{plain.html(text)}</a>'


def quiet(text: str, kind: str, *parts: object) -> str:
    """Return a link that looks like the text around it: a row of which every word may be clicked."""
    return f'<a style="color:{theme.colours().text};text-decoration:none" href="{href(kind, *parts)}">{plain.html(text)}</a>'


def chip(text: str, kind: str, *parts: object) -> str:
    """Return a short link on a coloured ground: a person, a time, something to do."""
    c = theme.colours()
    style = f"color:{c.link};background-color:{c.raised};text-decoration:none"
    return f'<a style="{style}" href="{href(kind, *parts)}">&nbsp;{plain.html(text)}&nbsp;</a>'


def moment(source: str | None, at: int | None, end: int | None = None) -> str:
    """Return a link that plays from a time, shown as that time; "" without a time."""
    if not source or at is None:
        return ""
    shown = clock(at) if end is None or clock(end) == clock(at) else f"{clock(at)}–{clock(end)}"
    return chip(shown, "play", source, at)


def parts(url: QUrl | str) -> list[str]:
    """Return the parts of an m3:// address; nothing for any other address."""
    text = url.toString(QUrl.ComponentFormattingOption.FullyEncoded) if isinstance(url, QUrl) else url
    return [unquote(p) for p in text[5:].split("/")] if text.startswith("m3://") else []


def follow(hub: Hub, url: QUrl | str) -> bool:
    """Follow a link: seek and play, or select. False if it is not an m3:// link."""
    match parts(url):
        case ["play", source, at] if at.isdecimal():
            hub.selection.play(source, int(at))
        case [kind, id_] if kind in SELECTABLE:
            hub.selection.select(kind, id_)
        case ["exclude", observation, person]:
            hub.correct("exclude", {"observation": observation, "person": person})
        case ["aside", observation]:
            hub.correct("set-aside", {"observation": observation})
        case ["ask", question]:
            hub.selection.asked_about.emit(question)
        case _:
            return False
    return True
