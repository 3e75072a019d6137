"""What a server's refusal means: from its status and its own words to one line with what to do. The key never appears in it."""

from __future__ import annotations

import email.utils
import json
import re
import time
from typing import Any

from m3desk import keys
from m3desk.domain.visible import visible
from m3desk.errors import ModelFailed, ModelMissing
from m3desk.keys import Key
from m3desk_server.connection import Head
from m3desk_server.door import Door

LONGEST = 240
"""Characters of a server's own words that are shown."""

UNSAID_WAIT, LEAST_WAIT = 5.0, 1.0
"""Seconds to wait after too many requests where the server does not say how long; and at least, also where it says none: else it would
get a hundred more at once."""

_MEMORY = re.compile(
    r"out of memory|outofmemory|cuda error: out|oom\b|not enough (?:gpu )?memory|failed to allocate|insufficient memory", re.I
)
_TOO_LONG = re.compile(
    r"exceed_context_size|context (?:length|size|window)|maximum context|max_model_len|input_tokens|too many tokens|prompt is too long",
    re.I,
)
_PICTURES = re.compile(r"image|picture|vision|multimodal|multi-modal|mmproj|video|audio|input_audio", re.I)


class Refused(ModelFailed):
    """A refusal. `again`: seconds to wait before another try, None if another would be refused, too. `words`: the server's own."""

    def __init__(self, message: str, hint: str, *, status: int, words: str, again: float | None = None) -> None:
        super().__init__(message, hint)
        self.status, self.words, self.again = status, words, again


def refusal(door: Door, head: Head, body: bytes, model: str) -> ModelFailed | ModelMissing:
    """Return what to raise for a response that is not a success."""
    words = said(body, door.key)
    quoted = f" ({words})" if words else ""
    where, address, key = door.shown, door.address, door.key

    def made(message: str, hint: str, again: float | None = None) -> Refused:
        return Refused(message, hint, status=head.status, words=words, again=again)

    match head.status:
        case 300 | 301 | 302 | 303 | 307 | 308:
            to = visible(head.headers.get("location", "another address"))[:LONGEST]
            return made(
                f"{where} sends requests on to {to}, which is not followed.",
                f"Set that address if you trust it: {door.setting('url', 'URL')}",
            )
        case 401 | 403:
            if key is None:
                return made(f"{where} wants a key.", "Set it: m3desk backends key server")
            return made(f"{where} does not accept the key{quoted}.", _another_key())
        case 402:
            return made(f"{where} wants to be paid first{quoted}.", "Look at your account there.")
        case 404 if "model" in words.casefold():
            return made(f"{where} has no model “{model}”{quoted}.", f"Choose one it has: {door.setting('model', 'NAME')}")
        case 404 | 405 | 501:
            return made(f"{where} has no chat completions under {address.path}{quoted}.", "Check the address: it mostly ends in /v1.")
        case 413:
            return made(
                f"{where} does not take a request of this size{quoted}.", f"Give it fewer pictures: {door.setting('pictures', '4')}"
            )
        case 429:
            wait = _wait(head)
            again = UNSAID_WAIT if wait is None else max(LEAST_WAIT, wait)
            return made(f"{where} has had too many requests{quoted}.", "Wait, or raise your limit there.", again)
        case status if _MEMORY.search(words):
            return made(
                f"the server at {where} ran out of memory{quoted}.",
                f"Give it fewer pictures ({door.setting('pictures', '4')}), or a smaller model or context.",
            )
        case status if status < 500 and _TOO_LONG.search(words):
            return made(
                f"the request is longer than the model's context{quoted}.", "Start the server with a longer context, or ask for less."
            )
        case status if status < 500 and _PICTURES.search(words):
            return made(
                f"the model at {where} does not take these pictures or this sound{quoted}.",
                f"Choose a model that sees, or fewer pictures: {door.setting('pictures', '4')}",
            )
        case status if status >= 500:
            return made(
                f"the server at {where} failed with {status}{quoted}.", "See its log; what was committed is kept.", _wait(head) or 1.0
            )
        case status:
            return made(f"{where} refuses the request with {status}{quoted}.", "See its log.")


def _another_key() -> str:
    if keys.of_variable():
        return f"It is the one of the variable {keys.VARIABLE}, which goes before the keyring: set another there."
    return "Set another: m3desk backends key server"


def _wait(head: Head) -> float | None:
    """Return the seconds that Retry-After asks for (a number or a date), None without it."""
    text = head.headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,6}(\.\d{1,3})?", text):
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def said(body: bytes, key: Key | None) -> str:
    """Return a server's own words about what is wrong: one short line without control characters and without the key; "" for none."""
    text = body[:20_000].decode("utf-8", "replace")
    try:
        text = message_of(json.loads(text))
    except (ValueError, RecursionError):
        if "<html" in text.casefold() or "<!doctype" in text.casefold():
            text = " ".join(re.findall(r"<title>(.*?)</title>", text, re.I | re.S)[:1])
    if key is not None:
        text = key.hidden(text)
    line = visible(" ".join(text.split())).strip(" .")
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def message_of(document: Any) -> str:
    """Return the message of an error document, in the forms of the servers known; "" if it holds none."""
    found = document
    for name in ("error", "message", "detail"):
        while isinstance(found, list) and found:
            found = found[0]
        if isinstance(found, dict) and name in found:
            found = found[name]
    if isinstance(found, dict):
        found = found.get("msg") or found.get("type") or ""
    kind = document.get("error", {}).get("type", "") if isinstance(document, dict) and isinstance(document.get("error"), dict) else ""
    text = found if isinstance(found, str) else ""
    return f"{text} [{kind}]" if kind and isinstance(kind, str) and kind not in text else text
