"""A client of one OpenAI-compatible server: which model, how long its context, and replies as streams; one retry, and its waits."""

from __future__ import annotations

import contextlib
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from m3desk import __version__
from m3desk.children.waiting import held
from m3desk.domain.visible import shortened, visible
from m3desk.errors import Cancelled, ModelError, ModelFailed, ModelMissing
from m3desk_server.connection import CutOff, Head, Request, Unreachable
from m3desk_server.door import Door
from m3desk_server.pace import Pace
from m3desk_server.refusals import Refused, refusal
from m3desk_server.streams import Counts, Told, pieces, without_thinking

log = logging.getLogger(__name__)

Cancelling = Callable[[], bool]

UNKNOWN_CONTEXT = 4_096
"""Tokens, where neither the server nor the settings say: Ollama's default, and what every model today has."""

LONGEST_WAIT = 120.0
"""Seconds that a request waits altogether where the server asks for patience (Retry-After)."""

MOST_AT_ONCE = 4
"""Requests sent at the same time where the settings don't say: a server may have other users."""

PAUSE = 0.5
"""Seconds before the one other try."""

_ADJUSTABLE = (
    "chat_template_kwargs",
    "stream_options",
    "seed",
    "top_k",
    "temperature",
    "reasoning_effort",
    "mm_processor_kwargs",
    "media_io_kwargs",
)
"""Fields that some servers don't know: where one is refused by name, the request goes again without it."""


@dataclass(frozen=True, slots=True)
class Introduction:
    """What a server says of itself. `sees`, `hears`: None where it doesn't say. `kind`: "llama.cpp", "vllm", "ollama", … or "".

    `slots`: requests that it answers at the same time, as far as it says so; others would wait for each other and count as late.
    """

    model: str
    context: int
    sees: bool | None = None
    hears: bool | None = None
    kind: str = ""
    slots: int = 1


@dataclass(slots=True)
class Server:
    """One server. `open_door`: returns where it is, started first if it is ours. `model`, `context`: the user's; "" and 0: not set.

    `key_refused`: called when the server does not accept the key, so that the door is opened with a newer one.
    """

    open_door: Callable[[Cancelling], Door]
    model: str = ""
    context: int = 0
    key_refused: Callable[[], None] = lambda: None
    counts: Counts = field(default_factory=Counts)
    """Tokens of all replies so far."""
    pace: Pace = field(default_factory=Pace)
    _known: Introduction | None = None
    _dropped: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _counting: threading.Lock = field(default_factory=threading.Lock)

    # ------------------------------------------------------------ who is there

    def known(self, cancelled: Cancelling = lambda: False) -> Introduction:
        """Return what the server says of itself, asked once. Raises Cancelled, ModelError."""
        with held(self._lock, cancelled):
            if self._known is None:
                self._known = self._introduce(self.open_door(cancelled), cancelled)
            return self._known

    @property
    def met(self) -> Introduction | None:
        """Return what is known so far, without asking."""
        return self._known

    def several(self) -> tuple[int, int | None]:
        """Return how many requests it answers at the same time, and the tokens that these share (None: each has its own).

        As far as it is known by now: (1, None) before the first request.
        """
        met = self._known
        if met is None:
            return 1, None
        return met.slots, met.context if met.kind == "llama.cpp" else None  # its slots may share one cache, and it does not say

    def _introduce(self, door: Door, cancelled: Cancelling) -> Introduction:
        listed = self._listed(door, cancelled)
        ids = [str(m.get("id") or m.get("name") or "") for m in listed]
        model = self.model
        if not model:
            if len(ids) != 1 or not ids[0]:
                there = f"It has: {_listed_names(ids)}." if ids else "It lists none."
                raise ModelMissing(f"{door.shown} does not say which model to use.", f"{there} Choose one: {door.setting('model', 'NAME')}")
            model = ids[0]
        entry = next((m for m, id_ in zip(listed, ids, strict=True) if id_ == model), None)
        if entry is None and ids and not _takes_any(listed):
            raise ModelMissing(
                f"{door.shown} has no model “{model}”.", f"It has: {_listed_names(ids)}. Choose: {door.setting('model', 'NAME')}"
            )
        return self._described(door, model, entry or (listed[0] if len(listed) == 1 else {}), cancelled)

    def _listed(self, door: Door, cancelled: Cancelling) -> list[dict[str, Any]]:
        try:
            document = self.get(door, f"{door.address.path}/models", cancelled)
        except Refused as error:
            if error.status in (404, 405, 501) and self.model:
                return []  # a server that lists nothing
            raise
        listed = document.get("data", document.get("models", [])) if isinstance(document, dict) else None
        if not isinstance(listed, list):
            raise ModelFailed(f"what answers at {door.shown} is not a model server.", door.start)
        return [m for m in listed if isinstance(m, dict)]

    def _described(self, door: Door, model: str, entry: Mapping[str, Any], cancelled: Cancelling) -> Introduction:
        """Put together what the known servers tell, each in its own place."""
        owner = str(entry.get("owned_by", "")).casefold()
        kind = {"vllm": "vllm", "llamacpp": "llama.cpp", "library": "ollama", "sglang": "sglang"}.get(owner, "")
        context = _whole(entry.get("max_model_len")) or _whole(entry.get("context_length")) or _whole(entry.get("context_window"))
        abilities = _abilities(entry)
        slots = MOST_AT_ONCE if kind == "vllm" else 1
        if kind in ("", "llama.cpp"):
            props = self._optional(door, "/props", cancelled)
            settings = props.get("default_generation_settings")
            if isinstance(settings, dict):
                kind = "llama.cpp"
                context = _whole(settings.get("n_ctx")) or context
                slots = min(_whole(props.get("total_slots")) or 1, MOST_AT_ONCE)
                modalities = props.get("modalities")
                if isinstance(modalities, dict):
                    abilities = (modalities.get("vision") is True, modalities.get("audio") is True)
        if kind in ("", "ollama") and not context:
            running = self._optional(door, "/api/ps", cancelled).get("models", [])
            if isinstance(running, list) and (kind or running):
                kind = "ollama"
                context = next((_whole(m.get("context_length")) for m in running if isinstance(m, dict) and m.get("name") == model), 0)
        if kind == "" and not context:
            mine = [m for m in _rows(self._optional(door, "/api/v0/models", cancelled)) if m.get("id") == model]
            if mine:
                kind = "lm studio"
                context = _whole(mine[0].get("loaded_context_length"))
                abilities = (mine[0].get("type") == "vlm", None)
        return Introduction(model, self.context or context or UNKNOWN_CONTEXT, abilities[0], abilities[1], kind, slots)

    def _optional(self, door: Door, path: str, cancelled: Cancelling) -> dict[str, Any]:
        """Ask for what only some servers have, beside their /v1."""
        root = door.address.path.removesuffix("/v1")
        with contextlib.suppress(ModelError):
            document = self.get(door, f"{root}{path}", cancelled)
            return document if isinstance(document, dict) else {}
        return {}

    def get(self, door: Door, path: str, cancelled: Cancelling, seconds: float = 20.0) -> Any:
        """Return a JSON document of the server. Raises Cancelled, ModelError."""
        with Request(door, "GET", path, _headers(door)) as request:
            head = request.head(seconds, cancelled)
            body = request.body(seconds, cancelled)
        if head.status != 200:
            raise self._refusal(door, head, body, self.model)
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise ModelFailed(f"what answers at {door.shown} is not a model server.", door.start) from None

    # ------------------------------------------------------------ replies

    def reply(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        max_tokens: int,
        cancelled: Cancelling,
        thinking: bool = False,
        told: Told | None = None,
        **fields: Any,
    ) -> Iterator[str]:
        """Yield a reply in pieces; `fields` go into the request as they are. Raises Cancelled, ModelError.

        Closing the generator, or `cancelled`, closes the connection, and the server stops. `thinking`: let a thinking model think first.
        """
        known = self.known(cancelled)
        door = self.open_door(cancelled)
        told = told if told is not None else Told()
        body = {
            "model": known.model, "messages": list(messages), "max_tokens": max_tokens, "temperature": 0, "seed": 0, "stream": True,
            "stream_options": {"include_usage": True}, "chat_template_kwargs": {"enable_thinking": thinking}, **fields,
        }  # fmt: skip
        if known.kind == "ollama" and not thinking:
            body["reasoning_effort"] = "none"
        began, said, whole = time.monotonic(), 0, _Headed(self._tried(door, body, told, cancelled))
        with self.pace.request():
            for piece in without_thinking(whole):
                said += len(piece)
                yield piece
        with self._counting:
            self.counts = Counts(self.counts.prompt + told.counts.prompt, self.counts.reply + told.counts.reply)
        log.info("%s: %d + %d tokens in %.1f s", door.shown, told.counts.prompt, told.counts.reply, time.monotonic() - began)
        if not said and told.finish == "length" and (told.thought or whole.head.lstrip().startswith("<think>")):
            raise ModelFailed(
                f"{known.model} used all of its {max_tokens} tokens for thinking and said nothing.",
                "Choose a model that does not think, or one whose thinking can be switched off.",
            )

    def _tried(self, door: Door, body: dict[str, Any], told: Told, cancelled: Cancelling) -> Iterator[str]:
        """Send a request, again without what the server doesn't know, after the wait that it asks for, and once after a failure."""
        patience, again = LONGEST_WAIT, True
        while True:
            said = False
            self.pace.wait(cancelled)
            try:
                for piece in self._once(door, body, told, cancelled):
                    said = True
                    yield piece
                return
            except Refused as error:
                if self._adjusted(body, error):
                    continue
                if error.status == 404 and "model" in error.words.casefold():
                    self._known = None  # another model was loaded meanwhile: it introduces itself anew
                wait = error.again
                if error.status == 429:
                    self.pace.too_many(min(wait or 0.0, LONGEST_WAIT))
                if wait is None or (error.status != 429 and not again):
                    raise
                if wait > patience:
                    if error.status == 429:
                        raise ModelFailed(f"{error} It asks to wait {wait:.0f} s.", error.hint) from error
                    raise
                again = again and error.status == 429
                patience -= wait
            except (CutOff, Unreachable):
                if said or not again:
                    raise
                again, wait = False, PAUSE
            _sleep(wait, cancelled)

    def _once(self, door: Door, body: dict[str, Any], told: Told, cancelled: Cancelling) -> Iterator[str]:
        sent = {k: v for k, v in body.items() if k not in self._dropped}
        if "max_tokens" in self._dropped:
            sent["max_completion_tokens"] = body["max_tokens"]
        path = f"{door.address.path}/chat/completions"
        with Request(door, "POST", path, _headers(door), json.dumps(sent).encode()) as request:
            head = request.head(door.first, cancelled)
            if head.status != 200:
                try:
                    words = request.body(10.0, cancelled)
                except ModelFailed:
                    words = b""
                raise self._refusal(door, head, words, str(body["model"]))
            yield from pieces(door, request, head, str(body["model"]), int(body["max_tokens"]), told, cancelled)

    def _refusal(self, door: Door, head: Head, body: bytes, model: str) -> ModelError:
        if head.status in (401, 403):
            self.key_refused()
        return refusal(door, head, body, model)

    def _adjusted(self, body: Mapping[str, Any], error: Refused) -> bool:
        """Leave out of all further requests what a server refuses by name; return whether there was such a thing."""
        if error.status not in (400, 422):
            return False
        if "max_completion_tokens" in error.words and "max_tokens" not in self._dropped:
            self._dropped.add("max_tokens")
            return True
        named = next((f for f in _ADJUSTABLE if f in error.words and f in body and f not in self._dropped), None)
        if named is None:
            return False
        self._dropped.add(named)
        return True


class _Headed:
    """Passes pieces on, and remembers how the first began."""

    def __init__(self, given: Iterator[str]) -> None:
        self._given, self.head = given, ""

    def __iter__(self) -> Iterator[str]:
        for piece in self._given:
            self.head = self.head or piece
            yield piece


def _headers(door: Door) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "User-Agent": f"m3desk/{__version__}"}
    if door.key is not None:
        headers["Authorization"] = f"Bearer {door.key.value()}"
    return headers


def _sleep(seconds: float, cancelled: Cancelling) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if cancelled():
            raise Cancelled("stopped.")
        time.sleep(min(0.05, left))


def _takes_any(listed: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the server takes any name (llama.cpp's has one model, and lists it by its file)."""
    return len(listed) == 1 and str(listed[0].get("owned_by", "")).casefold() == "llamacpp"


def _listed_names(ids: Sequence[str]) -> str:
    return ", ".join(shortened(visible(name), 80) for name in ids[:12])


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 30 else 0


def _rows(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = document.get("data", [])
    return [r for r in rows if isinstance(r, dict)] if isinstance(rows, list) else []


def _abilities(entry: Mapping[str, Any]) -> tuple[bool | None, bool | None]:
    """Return whether a listed model sees and hears, as OpenRouter, llama.cpp and others tell it."""
    architecture = entry.get("architecture")
    given = architecture.get("input_modalities") if isinstance(architecture, dict) else entry.get("input_modalities")
    if isinstance(given, list) and given:
        return "image" in given, "audio" in given
    return None, None
