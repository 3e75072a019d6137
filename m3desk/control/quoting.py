"""Answers without a language model: quotes the best-supported memories with citations, or says that the memory does not hold it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from m3desk.control.citing import CitedSpan, Part, moment_of
from m3desk.control.facts_people import people_answer
from m3desk.control.presence import Answer, beyond, presences, seconds_lacking, so_far_of
from m3desk.control.query import ParsedQuestion
from m3desk.control.search import Hit, Search
from m3desk.control.text_kinds import kind_asked, of_kind
from m3desk.control.times import TimeSpan
from m3desk.control.wording import ASKING, say
from m3desk.domain.clip import clock
from m3desk.domain.memory import StoredSentence
from m3desk.domain.stemming import stems

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
        return [h for h in hits if not asked.people or set(asked.people) & set(h.sentence.people)]
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
    good = [h for h in supported(hits, asked, search) if not _of_others(h.sentence, asked)]
    if asked.intent == "on_screen" and (kind := kind_asked(asked.plain)) not in (None, "sign") and not beyond(asked, search):
        held = of_kind(kind, [h.sentence.shown for h in good])
        good = [h for h, fits in zip(good, held, strict=True) if fits]
        if not good:
            name = say(f"kind_{kind}", asked.language)
            return Answer((Part(say("no_kind", asked.language, kind=name, so_far=so_far_of(asked, search, None))),), found=False)
    if not good:
        return absent(asked, search, hits)
    best = good[0].score
    chosen = [h.sentence for h in good if h.score >= best - MARGIN][:MOST]
    if asked.order is not None:
        chosen.sort(key=lambda s: (s.source, s.start), reverse=asked.order == "last")
    return Answer((Part(lead), *quoted(chosen)))


def _of_others(sentence: StoredSentence, asked: ParsedQuestion) -> bool:
    """Return whether a sentence tells what others than the people of a question do; what others say may be of them."""
    return bool(asked.people and sentence.people) and set(asked.people).isdisjoint(sentence.people) and not sentence.quoted


def quoted(sentences: Sequence[StoredSentence]) -> list[Part]:
    """Return sentences as parts of an answer, one line each."""
    return [Part(("\n" if n else "") + s.shown.strip(), (moment_of(s),)) for n, s in enumerate(sentences)]


def scene(asked: ParsedQuestion, search: Search, lead: str = "") -> Answer:
    """Answer what happens, in order: all sentences of the time span; of many those that tell most, evenly sampled.

    Of what follows a moment, or happens first or last, those next to it.
    """
    told = search.story(asked, ("says", "appears", "text"))
    if asked.spans and len(everything := search.story(asked, ())) <= MOST_OF_A_SCENE:
        told = everything  # of a short or quiet time
    if asked.order == "last":
        told = told[-MOST_OF_A_SCENE:]
    step = 1.0 if asked.follows or asked.order else max(1.0, len(told) / MOST_OF_A_SCENE)
    chosen = [s for n in range(min(MOST_OF_A_SCENE, len(told))) if (s := search.sentence(told[int(n * step)])) is not None]
    if not chosen:
        return uneventful(asked, search)
    lead = lead or say("quoting", asked.language)
    if len(chosen) > 1:
        lead += say("scene", asked.language) + "\n"
    return Answer((Part(lead), *quoted(chosen)))


def uneventful(asked: ParsedQuestion, search: Search) -> Answer:
    """Answer who is there in a time without sentences, or that nobody is; not found if the memory does not know that time."""
    known = [replace(t, end=min(t.end, search.known_until(t.source))) for t in asked.spans[:MOST]]
    spans = [(t, clip) for t in known if t.start < t.end and (clip := search.clip_at(t.source, t.start)) is not None]
    if asked.spans and not seconds_lacking(asked, search) and all(0 < search.end_of(t.source) <= t.start for t in asked.spans):
        end = max(search.end_of(t.source) for t in asked.spans)
        return Answer((Part(say("over", asked.language, end=clock(end))),), found=False)
    if not spans or any(search.unwatched(t) for t, _ in spans):
        return Answer((Part(say("absent" if asked.spans else "empty", asked.language)),), found=False)
    if presences(asked, search, None):
        return people_answer(asked, search, None, spoken=False)
    so_far = so_far_of(asked, search, None)
    return Answer(tuple(
        Part(
            say(_without_faces(search, t), asked.language, start=clock(t.start), end=clock(t.end), so_far=so_far),
            (CitedSpan(clip.id, t.source, t.start, t.end),),
        )
        for t, clip in spans
    ))  # fmt: skip


def _without_faces(search: Search, span: TimeSpan) -> str:
    """Return which sentence tells of a time in which no face is recognised: whether people are in view is not always known."""
    if search.waits(span):
        return "waits"
    if any(o.label == "person" for o in search.reader.objects(span.source, span.start, span.end)):
        return "faceless"
    return "no_face" if search.bodies_left_out(span) else "uneventful"


_HOW = stems("many much often long far")
"""What stands after "how": none of these words is looked for."""


def absent(asked: ParsedQuestion, search: Search, hits: Sequence[Hit]) -> Answer:
    """Answer that this is not in the memory, and which of the question's words were not found."""
    if asked.intent == "says" and asked.speakers:
        who = " / ".join(p.shown for p in search.people if p.id in asked.speakers)
        return Answer((Part(say("says_not_that", asked.language, who=who, so_far=so_far_of(asked, search, None))),), found=False)
    held = {w for h in hits for w in h.words}
    words = re.findall(r"[^\W_]+", asked.plain)
    asking = ASKING.get(asked.intent or "", frozenset()) | _HOW
    missing = [w for w in words if (telling := search.telling(w)) and not (held | asking) & set(telling)]
    if asked.language == "zh" or not missing:
        return Answer((Part(say("absent", asked.language)),), found=False)
    return Answer((Part(say("absent_words", asked.language, words="”, “".join(missing[:8]))),), found=False)
