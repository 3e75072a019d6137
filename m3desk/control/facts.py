"""Answers questions of fact without a language model: who appears, who speaks and how long, who says what, when, and what is on the screen.

The answers are read from the evidence, in English or Chinese, and every part cites its moment. If a question contains a significant
word that these kinds of answer don't cover, they return None, and search and the language model answer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from m3desk.control.citing import CitedSpan, Part, listed, moment_of
from m3desk.control.facts_people import (
    job_of,
    lasting,
    longest_stay,
    people_answer,
    seen_beside,
    times_there,
    who_is,
    who_lacks,
    who_most,
)
from m3desk.control.facts_speech import (
    heard_beside,
    in_role,
    known_names,
    naming,
    people_of,
    questions_asked,
    quoted_beside,
    quoting_speech,
    told_of,
    what_is_said,
    what_they_say,
)
from m3desk.control.presence import (
    MOST_SAYINGS,
    Answer,
    PersonPresence,
    beyond,
    ended,
    is_known,
    joining,
    names_asked,
    presences,
    scopes_of,
    senses,
    so_far_of,
    stays_of,
    wordless,
)
from m3desk.control.query import Note, ParsedQuestion, overlap
from m3desk.control.search import Before, Hit, Search
from m3desk.control.text_kinds import kind_asked, of_kind
from m3desk.control.times import FOREVER, TimeSpan
from m3desk.control.wording import say
from m3desk.domain.appearance import of_a_person
from m3desk.domain.clip import clock
from m3desk.domain.evidence import ObjectSeen
from m3desk.domain.things import ANIMALS, clear, disputed, name_of, with_face

MOST_TEXTS = 12

ENOUGH = 0.6
"""Share of a question's significant words that a sentence must hold to be its answer by words alone."""


def read_facts(asked: ParsedQuestion, search: Search, before: Before | None = None) -> Answer | None:
    """Return the answer from the evidence, None unless the kind of question is certain."""
    answer_it = _KINDS.get(asked.intent or "")
    if answer_it is None or (asked.people and asked.intent in ("count", "on_screen", "objects", "summary")):
        return None
    if asked.negated:
        return who_lacks(asked, search, before)
    return answer_it(asked, search, before)


def resolved(asked: ParsedQuestion, search: Search, before: Before | None) -> ParsedQuestion:
    """Return a question about the time before or after somebody comes or speaks with that time, and a note on it."""
    if asked.relative is None:
        return asked
    side, spoken, whom = asked.relative
    there = presences(replace(asked, spans=(), people=()), search, before)
    mine = [t for p, t in there.items() if p in whom]
    stays = stays_of(
        sorted((m for t in mine for m in ([h.moment for h in t.heard] if spoken else t.seen)), key=lambda m: (m.source, m.start))
    )
    names = joining(names_asked(replace(asked, people=whom), search), asked.language)
    word = say("relative_heard" if spoken else "relative_seen", asked.language, who=names)
    for first in stays:  # the first that leaves something of the times that a question is limited to
        at = first.end if spoken and side == "after" else first.start
        span = TimeSpan(first.source, 0, at) if side == "before" else TimeSpan(first.source, at, FOREVER)
        within = tuple(both for s in asked.spans if (both := overlap(s, span)) is not None)
        if within or not asked.spans:
            note = Note("around", say(f"relative_{side}", asked.language, word=word, at=clock(at)))
            follows = asked.follows or (side == "after" and asked.intent in (None, "summary"))
            return replace(asked, spans=within or (span,), follows=follows, notes=(*asked.notes, note))
    return replace(asked, notes=(*asked.notes, Note("around", say("relative_unknown", asked.language, word=word))))


def _who(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    if beyond(asked, search):
        return None
    if asked.beside:
        return seen_beside(asked, search, before)
    if asked.people and not (asked.order and len(names_asked(asked, search)) > 1):
        return None
    return people_answer(asked, search, before, spoken=False)


def _who_speaks(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    if beyond(asked, search):
        return None
    if asked.beside:
        return quoted_beside(asked, search, before) if wordless(search) else heard_beside(asked, search, before)
    if asked.people and not (asked.order and len(names_asked(asked, search)) > 1):
        return None
    if wordless(search):
        return quoting_speech(asked, search, before)
    return people_answer(asked, search, before, spoken=True)


def _count(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    spoken = any(w in asked.plain.lower() for w in ("speak", "voice", "talk", "说话", "讲话", "发言"))
    if beyond(asked, search) or (spoken and wordless(search)):
        return None
    return people_answer(asked, search, before, spoken)


def _how_long(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer for how long the people of a question are seen and heard, or how long the sources are."""
    language, so_far = asked.language, so_far_of(asked, search, before)
    if beyond(asked, search):
        return _when(asked, search, before)
    if not asked.people and any(senses(asked)):
        return who_most(asked, search, before)
    if not asked.people:
        ends = [(s, clip) for s in search.sources if (clip := search.clip_at(s.id, 0)) is not None and s.duration]
        if asked.spans or before is not None or not ends:
            return None
        film = say("film", language)
        told = [
            (say("lasts", language, what=s.id if len(ends) > 1 else film, time=lasting(d, language), so_far=so_far), clip, d)
            for s, clip in ends
            if (d := s.duration or 0)
        ]
        return Answer(tuple(Part(text, (CitedSpan(clip.id, clip.source, 0, d),)) for text, clip, d in told))
    there, (speaking, seeing) = presences(asked, search, before), senses(asked)
    parts = []
    for key, wanted, seen in (("is_seen_for", seeing, True), ("speaks_for", speaking, False)):
        if wanted or speaking == seeing:
            times = {name: (time, moments) for name, time, moments in times_there(asked, search, there, seen)}
            for name in names_asked(asked, search):
                if name in times:
                    text = say(key, language, who=name, time=lasting(times[name][0], language), so_far=so_far)
                    parts.append(Part(text, longest_stay(name, times[name][1], asked, search)))
    return Answer(tuple(parts)) if parts else Answer((Part(say("absent", language)),), found=False)


_NAME_SHOWN = re.compile(r"\bnames?\b|\bcaptions?\b|名字|字幕", re.IGNORECASE)


def _who_says(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer who says certain words, from the spoken sentences that contain most of them."""
    if not beyond(asked, search):
        if asked.about and not wordless(search) and any(map(known_names, people_of(asked.about, search))):
            return told_of(asked, search, before, naming(asked.about, what_is_said(asked, search, before), search))
        return _who_speaks(asked, search, before)
    spoken = [h for h in search.hits(asked, 20, kinds=("episodic",), before=before) if h.sentence.event == "says"]
    best = _in_order(_holding(spoken), asked)
    return _told(best, asked.language) if best else None


def _when(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer when a person is seen or heard, or when something is said or shown."""
    if role := in_role(asked, search, before):
        asked = replace(asked, people=role)
    elif beyond(asked, search):
        hits = search.hits(asked, 20, kinds=("episodic",), before=before)
        best = _holding([h for h in hits if not asked.people or set(asked.people) & set(h.sentence.people)])
        best = sorted(best, key=lambda h: (h.sentence.source, h.sentence.start))
        return _told(_in_order(best, asked), asked.language) if best else None
    if not asked.people:
        return None
    if asked.about and not wordless(search) and any(map(known_names, people_of(asked.about, search))):
        return told_of(asked, search, before, naming(asked.about, what_is_said(asked, search, before), search))
    if _NAME_SHOWN.search(asked.plain):
        return job_of(asked, search, before)  # by what introduces them
    there, parts = presences(asked, search, before), []
    shown = {p.id: p.shown for p in search.people}
    speaking = any(w in asked.plain.lower() for w in ("speak", "say", "talk", "说", "讲"))
    if speaking and wordless(search):
        return quoting_speech(asked, search, before)
    for person in asked.people:
        presence = there.get(person, PersonPresence())
        moments = stays_of([h.moment for h in presence.heard] if speaking or not presence.seen else presence.seen)
        if (asked.order or asked.follows) and moments:
            moments = moments[-1:] if asked.order == "last" else moments[:1]
        if moments:
            key = "speaks_at" if speaking or not presence.seen else "seen_at"
            items = [Part(f"{clock(m.start)}–{clock(m.end)}", (m,)) for m in moments[:MOST_SAYINGS]]
            if len(moments) > MOST_SAYINGS:
                items.append(Part(say("more_times", asked.language, n=len(moments) - MOST_SAYINGS)))
            parts += [
                Part(say(key, asked.language, who=shown[person])),
                *listed(items, asked.language),
                Part("。" if asked.language == "zh" else ". "),
            ]
    return Answer(tuple(parts)) if parts else Answer((Part(say("absent", asked.language)),), found=False)


def _holding(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits that contain the most of the question's words, if they contain enough."""
    most = max((h.cover for h in hits), default=0.0)
    return [h for h in hits if h.cover >= max(ENOUGH, most - 0.01)][:MOST_SAYINGS] if most >= ENOUGH else []


def _in_order(hits: Sequence[Hit], asked: ParsedQuestion) -> list[Hit]:
    """Return the first or last hit in time if the question asks for it, else all as they are."""
    by_time = sorted(hits, key=lambda h: (h.sentence.source, h.sentence.start))
    return list(hits) if asked.order is None else by_time[:1] if asked.order == "first" else by_time[-1:]


def _told(hits: Sequence[Hit], language: str) -> Answer:
    return Answer(tuple(Part(ended(h.sentence.shown, language), (moment_of(h.sentence),)) for h in hits))


def _on_screen(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    if beyond(asked, search):
        return None
    told, kind = search.known.texts, kind_asked(asked.plain)
    found: dict[str, Part] = {}
    for source, start, end in scopes_of(asked, search):
        for t in search.reader.texts(source, start, end):
            key = "".join(c for c in t.text.casefold() if c.isalnum())
            if key and is_known(t.clip, before):
                found.setdefault(
                    key, Part(f"“{' '.join(t.text.split())}”", (CitedSpan(t.clip, source, t.start, t.end, told.get((source, t.start))),))
                )
    if kind is not None and kind != "sign":
        held = of_kind(kind, [p.text for p in found.values()])
        found = {key: part for (key, part), fits in zip(found.items(), held, strict=True) if fits}
        if not found:
            return None  # it may be said
    if not found:
        things = _objects(asked, search, before)
        none_found = Part(say("no_text", asked.language))
        return Answer((none_found,), found=False) if things is None or not things.found else Answer((none_found, *things.parts))
    items = list(found.values())[:MOST_TEXTS]
    if len(found) > MOST_TEXTS:
        items.append(Part(say("more_texts", asked.language, n=len(found) - MOST_TEXTS)))
    lead = say("any_surface", asked.language) if kind == "sign" else ""
    return Answer(
        (Part(lead + say("on_screen", asked.language)), *listed(items, asked.language), Part("。" if asked.language == "zh" else "."))
    )


def _objects(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    if beyond(asked, search):
        return None
    found: dict[str, Part] = {}
    for source, start, end in scopes_of(asked, search):
        seen = search.reader.objects(source, start, end)
        kept = [o for o in seen if o.label != "person" and not of_a_person(o.label) and is_known(o.clip, before)]
        animals = any(o.label in ANIMALS for o in kept)
        faces = [r.track for r in search.reader.tracks(source, start, end) if not r.set_aside] if animals else []
        near: dict[str, list[ObjectSeen]] = defaultdict(list)
        for o in kept:
            near[o.clip].append(o)
        for o in kept:
            if clear(o) and not disputed(o, near[o.clip]) and not with_face(o, faces):
                found.setdefault(name_of(o), Part(name_of(o), (CitedSpan(o.clip, source, o.start, o.end),)))
    if not found:
        return Answer((Part(say("no_things", asked.language)),), found=False)
    return Answer(
        (Part(say("things", asked.language)), *listed(list(found.values()), asked.language), Part("。" if asked.language == "zh" else "."))
    )


_KINDS: dict[str, Callable[[ParsedQuestion, Search, Before | None], Answer | None]] = {
    "who": _who,
    "who_speaks": _who_speaks,
    "who_says": _who_says,
    "who_is": who_is,
    "asks": questions_asked,
    "job": job_of,
    "count": _count,
    "says": what_they_say,
    "when": _when,
    "on_screen": _on_screen,
    "objects": _objects,
    "most": who_most,
    "how_long": _how_long,
}
