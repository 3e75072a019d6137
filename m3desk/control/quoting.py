"""Answers without a language model: the best-supported memories, quoted with their citations; or that this is not in the memory."""

from __future__ import annotations

import re
from collections.abc import Sequence

from m3desk.control.citing import Part, moment_of
from m3desk.control.facts import Reading
from m3desk.control.query import Asked
from m3desk.control.search import Hit, Search
from m3desk.control.wording import say
from m3desk.domain.memory import StoredSentence

MOST = 4
MOST_OF_A_SCENE = 8

COVER = 0.5
"""Share of a question's telling words (weighted by rarity) that the best sentence must hold to be quoted."""

COVER_TO_ASK = 0.2
"""The same, for a language model to be asked at all."""

FOREIGN = 0.06
"""How much less near a sentence of another language than the question's may be."""

MARGIN = 0.25
"""A quoted sentence scores at most this much less than the best."""


def supported(hits: Sequence[Hit], asked: Asked, search: Search, *, worth_asking: bool = False) -> list[Hit]:
    """Return the hits that are near enough to answer from, best first; [] means: not in this memory.

    `worth_asking`: near enough for a language model to look at, which decides by itself.
    """
    cover = COVER_TO_ASK if worth_asking else COVER
    near = search.near[1 if worth_asking else 0]
    if asked.stretches and not search.telling(asked.plain):
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


def wants_all(asked: Asked, search: Search) -> bool:
    """Say whether a question asks for all that happens (in a span, or at all), not for something in it."""
    return (asked.intent == "summary" or (asked.intent is None and bool(asked.stretches))) and not search.telling(asked.plain)


def quote(asked: Asked, hits: Sequence[Hit], search: Search) -> Reading:
    """Quote the best-supported of some hits; not found where none is near enough."""
    if wants_all(asked, search):
        return scene(asked, search)
    good = supported(hits, asked, search)
    if not good:
        return absent(asked, search, hits)
    best = good[0].score
    chosen = [h.sentence for h in good if h.score >= best - MARGIN][:MOST]
    return Reading((Part(say("quoting", asked.language)), *quoted(chosen, asked.language)))


def quoted(sentences: Sequence[StoredSentence], language: str) -> list[Part]:
    """Return sentences as parts of an answer, a line each."""
    return [Part(("\n" if n else "") + s.shown.strip(), (moment_of(s),)) for n, s in enumerate(sentences)]


def scene(asked: Asked, search: Search) -> Reading:
    """Tell what happens, in order: the sentences of the span asked for, evenly chosen where there are many."""
    told = search.story(asked.stretches, ("says", "appears", "text"))
    step = max(1.0, len(told) / MOST_OF_A_SCENE)
    chosen = [s for n in range(min(MOST_OF_A_SCENE, len(told))) if (s := search.sentence(told[int(n * step)])) is not None]
    if not chosen:
        return Reading((Part(say("absent" if asked.stretches else "empty", asked.language)),), found=False)
    lead = say("quoting", asked.language) + say("scene", asked.language) + "\n"
    return Reading((Part(lead), *quoted(chosen, asked.language)))


def absent(asked: Asked, search: Search, hits: Sequence[Hit]) -> Reading:
    """Say that this is not in the memory, and which of its words nothing that was found holds."""
    held = {w for h in hits for w in h.words}
    words = re.findall(r"[^\W_]+", asked.plain)
    missing = [w for w in words if (telling := search.telling(w)) and not held & set(telling)]
    if asked.language == "zh" or not missing:
        return Reading((Part(say("absent", asked.language)),), found=False)
    return Reading((Part(say("absent_words", asked.language, words=" ".join(missing[:8]))),), found=False)
