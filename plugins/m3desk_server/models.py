"""The ports' models behind a server: one that talks, one that watches. Making them contacts nobody."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from m3desk.children.at_once import Places
from m3desk.domain.visible import shortened, visible, without_chat_tokens
from m3desk.errors import ModelError, ModelFailed, ModelMissing
from m3desk.ports import Message, Pictures, Sampling, Turn
from m3desk_server import media
from m3desk_server.client import UNKNOWN_CONTEXT, Server
from m3desk_server.dialects import UNKNOWN_FORM, Dialect, schema_field
from m3desk_server.options import Options
from m3desk_server.patterns import bare, fault, pattern_of, schema_of, unwrapped
from m3desk_server.refusals import Refused
from m3desk_server.streams import Told

LONGEST_NAME = 120
"""Characters of a model's name, which a server tells, and which is stored with each sentence."""

FORM = "Reply with one JSON document that keeps to this JSON schema, and nothing else:\n"
AGAIN = "That can't be used: {fault}. Reply again, in the form asked for, and nothing else."


class _Behind:
    """What both have in common: the server, its dialect, and how many replies at the same time."""

    def __init__(self, server: Server, dialect: Dialect, options: Options) -> None:
        self.server, self.dialect, self.options = server, dialect, options
        self._places = Places()
        self._largest = 0
        """Tokens of the largest request so far, with the whole reply that it was allowed."""

    @property
    def name(self) -> str:
        """Return the model's name and where it runs; a server whose model was not chosen is asked, because the name is stored."""
        met = self.server.met
        if met is None and not self.server.model:
            with contextlib.suppress(ModelError):
                met = self.server.known()
        model = (met.model if met else self.server.model) or "model"
        if model.endswith(".gguf") or model.startswith(("/", "\\")):  # llama.cpp tells its file with the folders that lead there
            model = model.replace("\\", "/").rpartition("/")[2]
        return f"{shortened(visible(model), LONGEST_NAME)} ({self.options.where})"

    @property
    def context(self) -> int:
        """Return the context, as the server tells it; before it can be asked, as the settings do."""
        try:
            return self.server.known().context
        except ModelError:
            return self.server.context or UNKNOWN_CONTEXT

    @property
    def at_once(self) -> int:
        """Return how many requests it is sent at the same time (ports.SeveralAtOnce).

        As many as the settings or the server say; where they share a cache, as many of the largest request so far as it holds, so one until
        a request was answered. Fewer after it said that they are too many.
        """
        slots, shared = self.server.several()
        most = min(self.options.at_once or slots, self.server.pace.allowed)
        if shared is not None:
            most = min(most, shared // self._largest if self._largest else 1)
        return max(1, most)

    def _placed(self, given: Callable[[Told], Iterator[str]], max_tokens: int, cancelled: Callable[[], bool]) -> Iterator[str]:
        """Yield a reply when it is this request's turn, and note its size."""
        told = Told()
        with self._places.taken(self, lambda: self.at_once, cancelled):
            yield from given(told)
        if told.counts.prompt:
            self._largest = max(self._largest, told.counts.prompt + max_tokens)

    def _formed(
        self,
        messages: list[dict[str, Any]],
        grammar: str | None,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        cancelled: Callable[[], bool],
        **more: Any,
    ) -> Iterator[str]:
        """Yield a reply that keeps to a form: constrained where the server obeys, else checked, and asked for once more."""
        if grammar is None and schema is None:
            yield from self.server.reply(messages, max_tokens=max_tokens, cancelled=cancelled, **more)
            return
        if grammar is not None and (field := self.dialect.grammar(cancelled)) is not None:
            yield from self.server.reply(messages, max_tokens=max_tokens, cancelled=cancelled, **field(grammar), **more)
            return
        pattern = pattern_of(grammar) if grammar is not None else None
        wanted = schema_of(pattern) if pattern is not None else schema
        if wanted is not None and self.dialect.schema(cancelled):
            fields = {**schema_field(wanted), **more}
            try:
                if pattern is None:
                    yield from self.server.reply(messages, max_tokens=max_tokens, cancelled=cancelled, **fields)
                    return
                said = unwrapped("".join(self.server.reply(messages, max_tokens=max_tokens + 16, cancelled=cancelled, **fields)))
            except Refused as error:  # patterns and bounds are more than some servers' schemas can hold
                if error.status not in UNKNOWN_FORM:
                    raise
                said = ""
            if said and not fault(said, pattern, None):
                yield said
                return
        yield from self._loose(messages, pattern, schema if grammar is None else None, max_tokens, cancelled, more)

    def _loose(
        self,
        messages: list[dict[str, Any]],
        pattern: str | None,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        cancelled: Callable[[], bool],
        more: Mapping[str, Any],
    ) -> Iterator[str]:
        """Yield a reply that nothing constrains, if it (or a second) has the form that was asked for. Raises ModelFailed."""
        asked = with_form(messages, schema) if schema is not None else list(messages)
        wrong = ""
        for _ in range(2):
            said = bare("".join(self.server.reply(asked, max_tokens=max_tokens, cancelled=cancelled, **more)))
            wrong = fault(said, pattern, schema)
            if not wrong:
                yield said
                return
            asked = [*asked, {"role": "assistant", "content": said}, {"role": "user", "content": AGAIN.format(fault=wrong)}]
        raise ModelFailed(
            f"{self.name} does not keep to the form that is needed ({wrong}), and its server can't make it.",
            "Choose a larger model, or a server that obeys grammars or schemas: llama.cpp, vLLM, Ollama.",
        )


def with_form(messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return messages that tell the form wanted in words, in the last one: chat templates refuse two turns of the user in a row."""
    *before, last = (dict(m) for m in messages)
    told = FORM + json.dumps(schema, ensure_ascii=False)
    content = last["content"]
    last["content"] = f"{content}\n\n{told}" if isinstance(content, str) else [*content, {"type": "text", "text": told}]
    return [*before, last]


class ServerLanguage(_Behind):
    """Answers ports.LanguageModel."""

    def reply(
        self,
        messages: Sequence[Message],
        *,
        grammar: str | None = None,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 256,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        """Yield the reply in pieces. Raises Cancelled when `cancelled` becomes true, ModelError."""
        asked = [{"role": m.role, "content": without_chat_tokens(m.text)} for m in messages]
        return self._placed(lambda told: self._formed(asked, grammar, schema, max_tokens, cancelled, told=told), max_tokens, cancelled)

    def sampled(
        self, messages: Sequence[Message], sampling: Sampling, *, max_tokens: int, cancelled: Callable[[], bool] = lambda: False
    ) -> Iterator[str]:
        """Yield a reply drawn at random, with thinking: as the original's control runs its model (ports.SamplingModel)."""
        asked = [{"role": m.role, "content": without_chat_tokens(m.text)} for m in messages]
        fields: dict[str, Any] = asdict(sampling)

        def given(told: Told) -> Iterator[str]:
            return self.server.reply(asked, max_tokens=max_tokens, cancelled=cancelled, thinking=True, told=told, **fields)

        return self._placed(given, max_tokens, cancelled)


class ServerWatcher(_Behind):
    """Answers ports.WatchingModel."""

    def __init__(self, server: Server, dialect: Dialect, options: Options) -> None:
        super().__init__(server, dialect, options)
        self._abilities: tuple[bool, bool] | None = None

    @property
    def watches_video(self) -> bool:
        return self.options.video

    @property
    def most_pictures(self) -> int:
        return self.options.pictures

    @property
    def style(self) -> str:
        return self.options.style or ""

    @property
    def hears(self) -> bool:
        """Return whether the model takes sound, tried out once; False while the server can't be asked."""
        try:
            return self._able(lambda: False)[1]
        except ModelError:
            return False

    def check(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Find out, before a clip is looked at, whether it sees; a server that has to be started first is taken by its settings' word.

        Raises Cancelled; ModelMissing if it does not see, or ModelError if the server can't be asked.
        """
        sees = self.options.sees if self.options.sees is not None else self._able(cancelled)[0]
        if not sees:
            raise ModelMissing(f"{self._blind()}, so it can't write memories.", self._sighted())

    def _blind(self) -> str:
        return f"{self.name} does not see pictures: its server refuses them, or leaves them out"

    def _sighted(self) -> str:
        """Return what to do about a model that does not see."""
        return f"Choose a model that does: m3desk config set backends.{self.options.backend}.model NAME"

    def prepare(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Reach the server, started first if it is ours, and find out what it takes. Raises Cancelled, ModelError."""
        self._able(cancelled)

    def watch(
        self,
        turns: Sequence[Turn],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 1024,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        """Yield the reply in pieces. Raises Cancelled, ModelError, as of a model that sees nothing."""

        def given(told: Told) -> Iterator[str]:
            sees, hears = self._able(cancelled)
            if not sees and any(isinstance(p, Pictures) for t in turns for p in t.parts):
                raise ModelFailed(f"{self._blind()}.", self._sighted())
            messages = media.messages(turns, video=self.options.video, hears=hears)
            more: dict[str, Any] = {"told": told}
            if self.options.video and (rates := media.rates(turns)):
                more["media_io_kwargs"] = {"video": {"fps": max(rates), "num_frames": -1}}
                if hears and media.with_sound(turns):
                    more["mm_processor_kwargs"] = {"use_audio_in_video": True}
            return self._formed(messages, None, schema, max_tokens, cancelled, **more)

        return self._placed(given, max_tokens, cancelled)

    def _loose(
        self,
        messages: list[dict[str, Any]],
        pattern: str | None,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        cancelled: Callable[[], bool],
        more: Mapping[str, Any],
    ) -> Iterator[str]:
        """Yield the reply as it comes: the memory writer reads other forms, too, and itself sends back what it can't read."""
        asked = with_form(messages, schema) if schema is not None else messages
        yield from self.server.reply(asked, max_tokens=max_tokens, cancelled=cancelled, **more)

    # ------------------------------------------------------------ what it sees and hears

    def _able(self, cancelled: Callable[[], bool]) -> tuple[bool, bool]:
        """Return whether the model sees and hears: as the settings say, the server says, or a try shows."""
        if self._abilities is None:
            known = self.server.known(cancelled)
            sees = self.options.sees if self.options.sees is not None else known.sees
            hears = self.options.hears if self.options.hears is not None else known.hears
            self._abilities = (
                self._takes(Pictures((_CHEQUERED,)), cancelled) if sees is None else sees,
                self._takes(_BEEP, cancelled) if hears is None else hears,
            )
        return self._abilities

    def _takes(self, part: Pictures, cancelled: Callable[[], bool]) -> bool:
        """Return whether a picture or a sound makes the prompt longer: some servers leave out what their model can't take."""

        def tokens(*parts: str | Pictures) -> int | None:
            told = Told()
            messages = media.messages([Turn("user", parts)], hears=True)
            try:
                for _ in self.server.reply(messages, max_tokens=1, cancelled=cancelled, told=told):
                    pass
            except Refused as error:
                if error.status < 500 and error.status not in (401, 403, 429):
                    return None
                raise
            except ModelFailed:
                if told.counts.prompt:
                    return told.counts.prompt  # it thought; its prompt was read all the same
                raise
            return told.counts.prompt

        without = tokens("Describe it.")
        taken = tokens("Describe it.", part)
        return taken is not None and (not without or taken > without)


_CHEQUERED = np.kron(np.indices((8, 8)).sum(0) % 2, np.ones((28, 28))).astype(np.uint8)[:, :, None].repeat(3, 2) * 255
_BEEP = Pictures((), sound=np.sin(np.arange(16_000) * 2 * np.pi * 440 / 16_000).astype(np.float32) * np.float32(0.5))
