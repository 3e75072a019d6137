"""The memory writer that has a model watch the clip (`ports.MemoryWriter` with any `ports.WatchingModel`).

What is said and what is written in the picture is told by rule, as ever, so that nothing heard is lost to a summary; the model adds what
happens, and knowledge. A reply that can't be read goes back once with the fault named; then the clip has failed, and is tried again with
the next run. It never becomes an empty memory.
Must not know: the store, which model it is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from m3desk.children.at_once import Places, at_once
from m3desk.domain.memory import WATCHED, Draft
from m3desk.errors import Cancelled, ModelFailed
from m3desk.memorization.compose import ComposedWriter
from m3desk.memorization.watched import reply as replies
from m3desk.memorization.watched.prompts import Prompt, prompt
from m3desk.memorization.watched.reply import Reply, Unreadable
from m3desk.memorization.watched.request import Request, again, request, style_of
from m3desk.ports import ClipView, Turn, WatchingModel

log = logging.getLogger(__name__)

TOLD_BY_RULE = frozenset({"says", "text"})
"""Events of the rule-based writer that are told whoever watches: what is said, and what is written in the picture."""

MOST_TOKENS = 4_096
"""Of a reply, as of M3-Agent; twelve events and eight sentences of knowledge take some 900."""

LEAST_TOKENS = 512
"""Of a reply of a model with a small context; less is no room for an answer."""

_WATCHING = Places()
"""Taken while a model watches: a backend answers as many requests at once as it says, and rewriting may run beside memorizing."""


class WatchedWriter:
    """Writes the memories of a clip with a model that watches it. `name`: writer, model and prompt, stored with each sentence."""

    def __init__(self, model: WatchingModel, writer: str, prompts: Path | None = None) -> None:
        """`writer`: the name of the backend. `prompts`: the user's folder of prompts, ours by default. Raises UsageError for a bad one."""
        self._model, self._writer = model, writer
        self._prompt: Prompt = prompt(style_of(model), prompts)
        self.name = named(writer, model.name, self._prompt.version)

    @property
    def at_once(self) -> int:
        """Return how many clips it may be asked about at the same time."""
        return at_once(self._model)

    def write(self, view: ClipView, cancelled: Callable[[], bool] = lambda: False) -> Draft:
        """Return the sentences, votes and heard names of a clip. Raises Cancelled; ModelFailed if no reply of two can be read."""
        if (prepare := getattr(self._model, "prepare", None)) is not None:
            prepare(cancelled)  # a server that loads for minutes; what is asked of the model below can't be stopped
        by_rule = ComposedWriter(only=TOLD_BY_RULE).write(view)
        asked = request(view, self._model, self._prompt)
        seen = self._watched(view, asked, cancelled)
        rules = tuple(replace(s, model=by_rule.model) for s in by_rule.sentences)
        episodic = sorted((*rules, *(s for s in seen.sentences if s.kind == "episodic")), key=lambda s: (s.start, s.end))
        semantic = (s for s in seen.sentences if s.kind == "semantic")
        notes = dict(by_rule.notes) | {f"left out, {why}": str(n) for why, n in seen.left_out.items()}
        if seen.wrong_language:
            notes["language"] = f"not {asked.language}"
        return Draft((*episodic, *semantic), (*by_rule.votes, *seen.votes), by_rule.names, model=self.name, notes=notes)

    def _watched(self, view: ClipView, asked: Request, cancelled: Callable[[], bool]) -> Reply:
        text = self._ask(asked.turns, asked, cancelled)
        first: Reply | None = None
        try:
            first = replies.read(text, asked, view.clip, view.perceived, self.name)
            if not first.wrong_language:
                return self._noted(view, first)
            fault = f"it is not written in {'Chinese' if asked.language == 'zh' else 'English'}."
        except Unreadable as error:
            fault = str(error)
        log.info("%s: the reply of %s goes back: %s", view.clip.id, self._model.name, fault)
        text = self._ask(again(asked, text, fault), asked, cancelled)
        try:
            return self._noted(view, replies.read(text, asked, view.clip, view.perceived, self.name))
        except Unreadable as error:
            if first is not None:  # in another language, but read: better than nothing
                return self._noted(view, first)
            raise ModelFailed(
                f"the model {self._model.name} gave no usable reply about this clip, twice: {error}",
                "It is tried again with the next run; or use another writer: m3desk memorize --writer rules.",
            ) from error

    def _ask(self, turns: Sequence[Turn], asked: Request, cancelled: Callable[[], bool]) -> str:
        """Return the model's reply, at most MOST_LETTERS of it. Raises Cancelled, ModelError."""
        room = max(LEAST_TOKENS, min(MOST_TOKENS, self._model.context // 4))
        pieces: list[str] = []
        length = 0
        with _WATCHING.taken(self._model, lambda: self.at_once, cancelled):
            stream = iter(self._model.watch(turns, schema=asked.schema, max_tokens=room, cancelled=cancelled))
            try:
                for piece in stream:
                    _check(cancelled)
                    pieces.append(piece)
                    length += len(piece)
                    if length > replies.MOST_LETTERS:
                        break
            finally:
                if (close := getattr(stream, "close", None)) is not None:
                    close()
        _check(cancelled)
        self.name = named(self._writer, self._model.name, self._prompt.version)  # a server says which model it has when it is asked
        return "".join(pieces)[: replies.MOST_LETTERS]

    def _noted(self, view: ClipView, found: Reply) -> Reply:
        if found.left_out:
            log.info("%s: left out of the reply of %s: %s", view.clip.id, self._model.name, found.left_out)
        return found


def _check(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise Cancelled("stopped.", "What was committed is kept; run the same command to continue.")


def named(writer: str, model: str, version: str) -> str:
    """Return what is stored with the sentences of a model that watches: writer, model and prompt."""
    return f"{WATCHED}{writer}: {model}, prompt {version}"
