"""Answers without a language model: quotes the best-supported memories with citations, or says that the memory does not hold it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from m3desk.control.citing import Part, moment_of
from m3desk.control.facts import Answer
from m3desk.control.query import ParsedQuestion
from m3desk.control.search import Hit, Search
from m3desk.control.wording import say
from m3desk.domain.memory import StoredSentence

MOST = 4
MOST_OF_A_SCENE = 8

COVER = 0.5
"""Share of a question's significant words (weighted by rarity) that the best sentence must hold to be quoted."""

COVER_TO_ASK = 0.2
"""The same, for a language model to be asked at all."""

FOREIGN = 0.06
"""By how much the threshold is lowered for a sentence in another language than the question."""

MARGIN = 0.25
"""A quoted sentence scores at most this much less than the best."""


def supported(hits: Sequence[Hit], asked: ParsedQuestion, search: Search, *, worth_asking: bool = False) -> list[Hit]:
    """Return the hits similar enough to answer from, best first; [] means: not in this memory.

    `worth_asking`: use the lower threshold for hits that a language model then judges.
    """
    cover = COVER_TO_ASK if worth_asking else COVER
    near = search.near[1 if worth_asking else 0]
    if asked.spans and not search.telling(asked.plain):
        return list(hits)
    telling = search.telling(asked.plain)
    good = []
    for hit in hits:
        by_words = hit.cover >= cover and bool(hit.words)
        by_meaning = hit.similarity is not None and hit.similarity >= near
        # Words can't match across languages, and e5 gives such pairs less (measured: evidence 0.81–0.84, the rest below 0.8).
        if (hit.sentence.language == "zh") != (asked.language == "zh"):
            by_meaning = hit.similarity is not None and (worth_asking or hit.similarity >= near - FOREIGN)
        by_words = by_words or (worth_asking and not telling)
        by_person = (worth_asking or not telling) and bool(set(asked.people) & set(hit.sentence.people))
        if by_words or by_meaning or by_person:
            good.append(hit)
    return good


def wants_all(asked: ParsedQuestion, search: Search) -> bool:
    """Return whether a question asks for everything that happens (in a time span or overall), not for something specific."""
    return (asked.intent == "summary" or (asked.intent is None and bool(asked.spans))) and not search.telling(asked.plain)


def quote(asked: ParsedQuestion, hits: Sequence[Hit], search: Search, *, instead: bool = False) -> Answer:
    """Quote the best-supported of some hits; not found where none is near enough. `instead`: of a language model that failed."""
    lead = say("quoting_instead" if instead else "quoting", asked.language)
    if wants_all(asked, search):
        return scene(asked, search, lead)
    good = supported(hits, asked, search)
    if not good:
        return absent(asked, search, hits)
    best = good[0].score
    chosen = [h.sentence for h in good if h.score >= best - MARGIN][:MOST]
    return Answer((Part(lead), *quoted(chosen)))


def quoted(sentences: Sequence[StoredSentence]) -> list[Part]:
    """Return sentences as parts of an answer, one line each."""
    return [Part(("\n" if n else "") + s.shown.strip(), (moment_of(s),)) for n, s in enumerate(sentences)]


def scene(asked: ParsedQuestion, search: Search, lead: str = "") -> Answer:
    """Answer what happens, in order: the sentences of the time span, evenly sampled if there are many."""
    told = search.story(asked.spans, ("says", "appears", "text"))
    step = max(1.0, len(told) / MOST_OF_A_SCENE)
    chosen = [s for n in range(min(MOST_OF_A_SCENE, len(told))) if (s := search.sentence(told[int(n * step)])) is not None]
    if not chosen:
        return Answer((Part(say("absent" if asked.spans else "empty", asked.language)),), found=False)
    lead = (lead or say("quoting", asked.language)) + say("scene", asked.language) + "\n"
    return Answer((Part(lead), *quoted(chosen)))


def absent(asked: ParsedQuestion, search: Search, hits: Sequence[Hit]) -> Answer:
    """Answer that this is not in the memory, and which of the question's words were not found."""
    held = {w for h in hits for w in h.words}
    words = re.findall(r"[^\W_]+", asked.plain)
    missing = [w for w in words if (telling := search.telling(w)) and not held & set(telling)]
    if asked.language == "zh" or not missing:
        return Answer((Part(say("absent", asked.language)),), found=False)
    return Answer((Part(say("absent_words", asked.language, words="”, “".join(missing[:8]))),), found=False)
