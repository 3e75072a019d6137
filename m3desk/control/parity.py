"""Parity mode: the control protocol of M3-Agent, for models trained for it. Nothing is checked or quoted; see `loop` for that.

At most five rounds. The model gets `Searched knowledge: {"CLIP_3": ["…"]}` and replies, after thinking, `Action: [Search]` or
`Action: [Answer]` with `Content: …`. A query with “character id” searches single memories (20); any other searches clips (2, none twice). A
reply that can't be read is an empty search. The last round must answer.
"""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Protocol

from m3desk.control.citing import CitedSpan, Part, citations
from m3desk.control.query import names_of
from m3desk.control.reply import line_of, named, question_of
from m3desk.control.search import Before, Hit, Search
from m3desk.control.wording import say
from m3desk.domain.ids import person_id
from m3desk.domain.memory import StoredSentence
from m3desk.errors import BackendMissing, Cancelled
from m3desk.events import AskDone, AskRound, AskText
from m3desk.paths import resources
from m3desk.ports import LanguageModel, Message, Sampling, SamplingModel

ROUNDS = 5
CLIPS = 2
MEMORIES = 20
LEAST_COSINE = 0.5
"""Of a sentence, for its clip to be found."""

MEMORY_WISE = "character id"
"""Words of a query that asks for single memories."""

SAMPLING = Sampling(temperature=0.6, top_p=0.95, top_k=20)
TOKENS = 1_024
POOL = 200
LONGEST = 2_000
"""Code points of one memory that the model is shown."""

_ACTION, _CONTENT = "Action: [", "Content: "
"""Of the original's form, `Action: \\[(.*)\\].*Content: (.*)`; that expression holds the program up where a reply is full of brackets."""

Found = dict[str, list[StoredSentence]]


class MemoryReader(Protocol):
    def memories(
        self, *, kind: str | None = None, person: str | None = None, source: str | None = None, clip: str | None = None
    ) -> list[StoredSentence]: ...


@cache
def prompts() -> Mapping[str, Any]:
    """Return the shipped prompts of parity mode."""
    return tomllib.loads((resources() / "prompts" / "parity.toml").read_text("utf-8"))


def answer(
    question: str,
    search: Search,
    reader: MemoryReader,
    language: LanguageModel | None,
    *,
    ask: str = "",
    before: Before | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[AskRound | AskText | AskDone]:
    """Answer a question by the original's protocol; the last step is AskDone, whose citations are the clips that the model was shown.

    Raises Cancelled, ModelError, BackendMissing without a language model.
    """
    if language is None:
        raise BackendMissing(
            "parity mode needs a language model.", "Install one (m3desk models pull --llm), or choose a profile that has one."
        )
    begun = time.monotonic()
    asked = search.read(question)
    names = {n: p.number for p in search.people for n in (p.shown, *names_of(p))} | {person_id(p.number): p.number for p in search.people}
    texts = prompts()
    messages = [
        Message("system", texts["system"].replace("{question}", question_of(asked.text, names))),
        Message("user", "Searched knowledge: {}"),
    ]
    shown: list[str] = []
    cited: list[CitedSpan] = []
    for number in range(1, ROUNDS + 1):
        started = time.monotonic()
        told = texts["form"] + (texts["last"] if number == ROUNDS else "")
        messages[-1] = Message("user", messages[-1].text + told)
        written = _reply(language, messages, cancelled)
        messages.append(Message("assistant", written))
        action, content = read_reply(written)
        if action == "Answer":
            text = named(" ".join((content or "").split()), search.people, asked.language)
            yield AskRound(ask, number, "answer", "", (), (), time.monotonic() - started)
            yield AskText(ask, text)
            moments = tuple(dict.fromkeys(cited))
            yield AskDone(
                ask, text, bool(text), citations([Part("", (m,)) for m in moments], len(search.sources) > 1), language.name,
                time.monotonic() - begun,
            )  # fmt: skip
            return
        found = _found(content, search, reader, before, shown)
        rows = [s for sentences in found.values() for s in sentences]
        cited += [CitedSpan(s.clip, s.source, s.start, s.end, s.id) for sentences in found.values() for s in sentences[:1]]
        query = named(content or "", search.people, asked.language)
        yield AskRound(ask, number, "search", query, tuple(s.id for s in rows), tuple(s.shown for s in rows), time.monotonic() - started)
        messages.append(Message("user", knowledge(found) + ("" if found else texts["empty"])))
        if cancelled():
            raise Cancelled("stopped.")
    text = say("absent", asked.language)
    yield AskText(ask, text)
    yield AskDone(ask, text, False, (), language.name, time.monotonic() - begun)


def _reply(language: LanguageModel, messages: Sequence[Message], cancelled: Callable[[], bool]) -> str:
    if isinstance(language, SamplingModel):
        return "".join(language.sampled(messages, SAMPLING, max_tokens=TOKENS, cancelled=cancelled))
    return "".join(language.reply(messages, max_tokens=TOKENS, cancelled=cancelled))


def read_reply(text: str) -> tuple[str, str | None]:
    """Return action and content of a reply; an empty search if it can't be read."""
    said = text.split("</think>")[-1]
    begins, content = said.find(_ACTION), said.rfind(_CONTENT)
    closes = said.rfind("]", 0, max(content, 0))
    if not 0 <= begins <= closes - len(_ACTION):
        return "Search", None
    return said[begins + len(_ACTION) : closes], said[content + len(_CONTENT) :]


def knowledge(found: Found) -> str:
    """Return found memories as the model gets them: clip → sentences with `<character_N>`; words of the scene are neutralized."""
    document = {clip: [line_of(s, LONGEST) for s in sentences] for clip, sentences in found.items()}
    return f"Searched knowledge: {json.dumps(document, ensure_ascii=False)}"


def _found(content: str | None, search: Search, reader: MemoryReader, before: Before | None, shown: list[str]) -> Found:
    """Return what a query finds, by clip; clips that are found by their meaning are added to `shown`."""
    if not content or not content.strip():
        return {}
    asked = search.read(content[:1_900])
    several = len(search.sources) > 1
    if MEMORY_WISE in content:
        found: Found = {}
        for hit in search.hits(asked, MEMORIES, before=before):
            found.setdefault(clip_name(hit.sentence.clip, several), []).append(hit.sentence)
        return found
    clips = list(dict.fromkeys(h.sentence.clip for h in search.hits(asked, POOL, before=before) if _near(h)))
    chosen = [c for c in clips if c not in shown][:CLIPS]
    shown += chosen
    return {clip_name(c, several): _told(c, search, reader, before) for c in chosen}


def _near(hit: Hit) -> bool:
    """Return whether a sentence is near enough in meaning; one that was found without vectors is."""
    return hit.similarity is None or hit.similarity >= LEAST_COSINE


def _told(clip: str, search: Search, reader: MemoryReader, before: Before | None) -> list[StoredSentence]:
    """Return what is remembered of a clip."""
    return [s for s in reader.memories(clip=clip) if s.clip == clip and search.visible(s, before)]


def clip_name(clip: str, several: bool) -> str:
    """Return `CLIP_3`; in a memory of several sources `CLIP_s2.c3`."""
    return f"CLIP_{clip}" if several else f"CLIP_{clip.rpartition('c')[2]}"
