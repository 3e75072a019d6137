"""Reads a chat completion: server-sent events, or one JSON document; bounded, and told from garbage."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from m3desk.errors import ModelFailed
from m3desk_server.connection import CutOff, Head, Request
from m3desk_server.door import Door
from m3desk_server.refusals import message_of, refusal

LETTERS = 24
"""Most letters that a token has on average in a reply: more of them than this many for each token asked for is a stream without an end."""

SLACK = 2_000


@dataclass(slots=True)
class Counts:
    """Tokens of a reply as the server counts them; 0 where it doesn't say."""

    prompt: int = 0
    reply: int = 0


@dataclass(slots=True)
class Told:
    """What a reply said besides its text. `finish`: why it ended ("stop", "length"); `thought`: letters of thinking."""

    finish: str = ""
    thought: int = 0
    counts: Counts = field(default_factory=Counts)


def pieces(
    door: Door, request: Request, head: Head, model: str, max_tokens: int, told: Told, cancelled: Callable[[], bool]
) -> Iterator[str]:
    """Yield a reply's text as it comes. Raises Cancelled, CutOff, ModelFailed."""
    if head.kind == "text/event-stream":
        yield from _events(door, request, model, max_tokens, told, cancelled)
        return
    body = request.body(door.first, cancelled)
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        kind = head.kind or "no type"
        raise ModelFailed(f"what {door.shown} sends is not a chat completion ({kind}).", door.another)
    yield from _chunk(door, document, model, told)


def _events(door: Door, request: Request, model: str, max_tokens: int, told: Told, cancelled: Callable[[], bool]) -> Iterator[str]:
    newest = time.monotonic()
    letters, most, done = 0, max_tokens * LETTERS + SLACK, False

    def idle() -> float:  # Comments that keep a connection open are not an answer.
        return newest + (door.idle if letters or told.thought else door.first) - time.monotonic()

    for line in request.lines(idle, cancelled):
        text = line.strip()
        name, _, value = text.partition(b":")
        if name == b"error":
            raise _failed(door, value, model)
        if name != b"data":
            if name and name not in (b"event", b"id", b"retry"):
                raise _garbage(door)
            continue
        value = value.strip()
        if value == b"[DONE]":
            done = True
            break
        try:
            document = json.loads(value)
        except (ValueError, RecursionError):
            raise _garbage(door) from None
        if not isinstance(document, dict):
            raise _garbage(door)
        newest = time.monotonic()
        for piece in _chunk(door, document, model, told, letters):
            letters += len(piece)
            yield piece
        if letters + told.thought > most:
            raise ModelFailed(f"the answer of {door.shown} does not end: more than {max_tokens} tokens came.", "Is it a model server?")
    if not done and not told.finish:
        raise CutOff(
            f"{door.shown} closed the connection in the middle of its answer.",
            "Is the server still running? See its log; what was committed is kept.",
        )


_CUT_SHORT = re.compile(r"does not match the expected [\w-]+ format")
"""llama.cpp's word, after it has streamed a reply, for one that its limit of tokens cut short: whoever asked judges the reply."""


def _chunk(door: Door, document: dict[str, Any], model: str, told: Told, said: int = 0) -> Iterator[str]:
    """Yield the text of a part of a reply, or of a whole one, and note what else it says."""
    if _CUT_SHORT.search(message_of(document)) and (told.finish or said):
        told.finish = "length"
        return
    if document.get("error"):
        raise _failed(door, json.dumps(document).encode(), model)
    usage = document.get("usage")
    if isinstance(usage, dict):
        told.counts = Counts(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))
    choices = document.get("choices")
    if not isinstance(choices, list):
        if usage is None and message_of(document) == "" and "object" not in document:
            raise _garbage(door)
        return
    for choice in choices[:1]:
        if not isinstance(choice, dict):
            raise _garbage(door)
        part = choice.get("delta") or choice.get("message") or {}
        if not isinstance(part, dict):
            raise _garbage(door)
        told.finish = str(choice.get("finish_reason") or told.finish)
        thought = part.get("reasoning") or part.get("reasoning_content")
        told.thought += len(thought) if isinstance(thought, str) else 0
        content = part.get("content")
        if isinstance(content, str) and content:
            yield content


def _count(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 40 else 0


def _garbage(door: Door) -> ModelFailed:
    return ModelFailed(f"the answer of {door.shown} can't be read: it is not a stream of chat completions.", door.another)


def _failed(door: Door, body: bytes, model: str) -> ModelFailed:
    """Return what an error inside of a stream means; its own code says more than the status, which was 200."""
    try:
        code = json.loads(body).get("error", {}).get("code")
    except (ValueError, RecursionError, AttributeError):
        code = None
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    found = refusal(door, Head(status, {}), body, model)
    return ModelFailed(str(found), found.hint)


def without_thinking(given: Iterable[str]) -> Iterator[str]:
    """Yield a reply without the thoughts that some servers leave at its start (`<think>…</think>`)."""
    held, begun = "", False
    for piece in given:
        if begun:
            yield piece
            continue
        held += piece
        text = held.lstrip()
        if "<think>".startswith(text[:7]) and len(text) < 7:
            continue
        if not text.startswith("<think>"):
            begun = True
            yield held
        elif "</think>" in text:
            begun = True
            rest = text.partition("</think>")[2].lstrip()
            if rest:
                yield rest
    if not begun and held.strip() and not held.lstrip().startswith("<think>"):
        yield held
