"""Answers of fact about people: who appears, how many, who longest and for how long, next to whom, and what is known of somebody."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice

from m3desk.control.citing import CitedSpan, Part, listed, moment_of
from m3desk.control.presence import (
    MOST_SAYINGS,
    NOBODY,
    Answer,
    PersonPresence,
    Spoken,
    beyond,
    ended,
    is_known,
    joined_speech,
    joining,
    names_asked,
    presences,
    quote,
    senses,
    so_far_of,
    spoken_by,
    stays_of,
    unattributed,
    wordless,
)
from m3desk.control.query import ParsedQuestion
from m3desk.control.search import Before, Search
from m3desk.control.times import FOREVER
from m3desk.control.wording import NUMBERS, say
from m3desk.domain.clip import MICROSECOND, clock
from m3desk.domain.people import Person

MOST_PEOPLE = 30
MOST_NAMED = 3

_HAVING_NAMES = re.compile(
    r"\b(?:is|are|was|were|get|gets|be) (?:named|mentioned by name|known by name|called by name)\b"
    r"|\b(?:have|has|with)(?: an?| known)? names?\b|有名字|知道名字|叫得出名字",
    re.IGNORECASE,
)
"""A question for people whose names are known."""


def people_answer(asked: ParsedQuestion, search: Search, before: Before | None, spoken: bool) -> Answer:
    """Answer who appears or speaks: all of them, or the first, last or next if that is asked for."""
    language, shown = asked.language, {p.id: p.shown for p in search.people}
    there = presences(asked, search, before)
    if asked.people:  # who of these
        there = {p: t for p, t in there.items() if p in asked.people}
    if _HAVING_NAMES.search(asked.plain):
        nameless = {p.id for p in search.people if p.name_state == "none"}
        there = {p: t for p, t in there.items() if p not in nameless}
        if not there:
            return Answer((Part(say("nobody_named", language)),), found=False)
    seen = {p: t.seen[0] for p, t in there.items() if t.seen}
    heard = {p: t.heard[0].moment for p, t in there.items() if t.heard}
    # A face and a voice that are not linked yet, but bear one name, are not told twice.
    named = {shown[p] for p in seen}
    so_far = so_far_of(asked, search, before)
    main, rest = (heard, {}) if spoken else (seen, {p: m for p, m in heard.items() if p not in seen and shown[p] not in named})
    if not spoken and wordless(search):
        rest |= _voices_told(asked, search, before, {p for p in shown if shown[p] in named})
    if asked.without and not main and not rest:
        return Answer((Part(say("nobody_else_heard" if spoken else "nobody_else_seen", language, so_far=so_far)),), found=False)
    if spoken and not main and (words := list(unattributed(asked, search, before))):
        return Answer(tuple(quote("unknown_voice", words[-1 if asked.order == "last" else 0], language, so_far=so_far)))
    if not main and not rest:
        return Answer((Part(say("nobody_heard" if spoken else "nobody_seen", language, so_far=so_far)),), found=False)
    if asked.follows and main:
        return _next(asked, search, there, spoken, so_far)
    if asked.order and main:
        return _one_of(asked, search, there, main, spoken, so_far)
    parts: list[Part] = []
    if main:
        parts += _named(main, shown, language, "speak" if spoken else "appear", so_far)
    if rest:
        parts += _named(rest, shown, language, "only_heard" if main else "heard_alone", so_far)
    return Answer(tuple(parts))


_WHILE = re.compile(r"\b(?:when|while|whenever|if|as long as|during)\b|时候?(?!间|常)|期间", re.IGNORECASE)


def who_lacks(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer who is seen but not heard, or heard but not seen; other questions for what does not happen are not certain."""
    if asked.intent not in ("who", "who_speaks", "count") or asked.people or asked.order or asked.follows or beyond(asked, search):
        return None
    if _WHILE.search(asked.text):  # what does not happen names a time
        return None
    spoken = asked.intent == "who_speaks" or senses(asked)[0]
    if wordless(search):
        return None
    language, shown, there = asked.language, {p.id: p.shown for p in search.people}, presences(asked, search, before)
    seen = {p: t.seen[0] for p, t in there.items() if t.seen}
    heard = {p: t.heard[0].moment for p, t in there.items() if t.heard}
    having, other = (heard, seen) if spoken else (seen, heard)
    names = {shown[p] for p in having}
    so_far = so_far_of(asked, search, before)
    lacking = {p: m for p, m in other.items() if shown[p] not in names}
    if not lacking:
        return Answer((Part(say("all_heard" if spoken else "all_seen", language, so_far=so_far)),), found=bool(other))
    parts = _named(lacking, shown, language, "silent" if spoken else "unseen", so_far)
    faceless = {p: m for p, m in heard.items() if shown[p] not in {shown[p] for p in seen}}
    if spoken and faceless:
        parts += _named(faceless, shown, language, "may_be_theirs", so_far)
    return Answer(tuple(parts))


def _voices_told(asked: ParsedQuestion, search: Search, before: Before | None, seen: Collection[str]) -> dict[str, CitedSpan]:
    """Return who is heard, of whose voices no words are known, and the first sentence that tells of each."""
    found: dict[str, CitedSpan] = {}
    for p in search.people:
        if p.voices and not p.ignored and p.id not in seen and p.id not in asked.without and (not asked.people or p.id in asked.people):
            told = search.in_time(replace(asked, people=(p.id,), order=None, follows=False), before)
            if (first := next(told, None)) is not None:
                found[p.id] = moment_of(first)
        if len(found) > MOST_PEOPLE:
            break
    return dict(sorted(found.items(), key=lambda item: (item[1].source, item[1].start)))


class _Times:
    """The times that some moments take, to find whether another falls into them without looking at each."""

    def __init__(self, moments: Iterable[CitedSpan]) -> None:
        self._starts: dict[str, list[int]] = defaultdict(list)
        self._ends: dict[str, list[int]] = defaultdict(list)
        for m in sorted(moments, key=lambda m: m.start):
            starts, ends = self._starts[m.source], self._ends[m.source]
            if ends and m.start <= ends[-1]:
                ends[-1] = max(ends[-1], m.end)
            else:
                starts.append(m.start)
                ends.append(m.end)

    def overlap(self, moment: CitedSpan) -> bool:
        """Return whether a moment shares some time with these."""
        at = bisect_left(self._starts.get(moment.source, ()), moment.end) - 1  # the last that begins before the moment ends
        return at >= 0 and self._ends[moment.source][at] > moment.start


def may_be_theirs(asked: ParsedQuestion, search: Search, before: Before | None) -> list[Part]:
    """Return the voices without a face that are heard while people of whom no voice is known are in view: they may be theirs."""
    mine = {p.id for p in search.people if p.id in asked.speakers and not p.voices}
    names = {p.shown for p in search.people if p.id in asked.people and p.voices}
    there = presences(asked, search, before)
    views = _Times(m for p, t in there.items() if p in mine for m in t.seen)
    alone = {p.id: p.shown for p in search.people if p.voices and not p.faces and p.shown not in names}
    found: dict[str, CitedSpan] = {}
    for p, t in there.items():
        heard = (h.moment for h in t.heard if views.overlap(h.moment))
        if p in alone and (first := next(heard, None)) is not None:
            found[p] = first
    if not found:
        return []
    return [Part("" if asked.language == "zh" else " "), *_named(found, alone, asked.language, "may_be_theirs", "")]


def _named(people: dict[str, CitedSpan], shown: dict[str, str], language: str, key: str, so_far: str) -> list[Part]:
    """Return "Three people appear: Ann [..], Person 2 [..] and Person 3 [..]." """
    count = len(people)
    items = [Part(shown[p], (m,)) for p, m in list(people.items())[:MOST_PEOPLE]]
    if count > MOST_PEOPLE:
        items.append(Part(say("others", language, n=count - MOST_PEOPLE)))
    number = NUMBERS[language].get(count, str(count))
    lead = say(f"{key}_one" if count == 1 else key, language, n=number, so_far=so_far)
    ended = [*listed(items, language), Part("。" if language == "zh" else ". ")]
    return [Part(lead), *ended]


def _one_of(
    asked: ParsedQuestion, search: Search, there: dict[str, PersonPresence], main: dict[str, CitedSpan], spoken: bool, so_far: str
) -> Answer:
    """Answer who is first or last."""
    shown = {p.id: p.shown for p in search.people}
    if spoken:
        said = sorted(spoken_by(there), key=lambda x: (x.moment.source, x.moment.start))
        one = said[0] if asked.order == "first" else said[-1]
        return Answer(tuple(quote(f"speaks_{asked.order}", one, asked.language, who=shown[one.person], so_far=so_far)))
    if asked.order == "first":
        person, moment = min(main.items(), key=lambda item: (item[1].source, item[1].start))
    else:
        ends = {p: t.seen[-1] for p, t in there.items() if t.seen}
        person, moment = max(ends.items(), key=lambda item: (item[1].source, item[1].end))
    return Answer((Part(say(f"seen_{asked.order}", asked.language, who=shown[person], so_far=so_far), (moment,)),))


def who_most(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer who is seen or heard longest; of a main person both is told, because the memory knows no other measure."""
    compared = names_asked(asked, search)
    if beyond(asked, search) or len(compared) == 1:
        return None
    speaking, seeing = senses(asked)
    there, parts = presences(asked, search, before), []
    for key, wanted, seen in (("seen_most", seeing, True), ("heard_most", speaking, False)):
        if not wanted and speaking != seeing:
            continue
        most = [told for told in times_there(asked, search, there, seen) if not compared or told[0] in compared]
        items = [
            Part(say("so_long", asked.language, who=name, time=lasting(time, asked.language)), longest_stay(name, moments, asked, search))
            for name, time, moments in most[:MOST_NAMED]
        ]
        if items:
            lead = say(key if len(items) > 1 else f"{key}_one", asked.language, so_far=so_far_of(asked, search, before))
            parts += [Part(lead), *listed(items, asked.language), Part("。" if asked.language == "zh" else ". ")]
        if lacking := [name for name in compared if name not in {told[0] for told in most}]:
            so_far = so_far_of(asked, search, before)
            parts.append(
                Part(say("never_seen" if seen else "never_heard", asked.language, who=joining(lacking, asked.language), so_far=so_far))
            )
            if not seen:
                theirs = tuple(p.id for p in search.people if p.shown in lacking)
                parts += may_be_theirs(replace(asked, people=theirs), search, before)
    if not parts:
        return people_answer(replace(asked, order=None), search, before, spoken=speaking and not seeing)
    return Answer(tuple(parts))


def times_there(
    asked: ParsedQuestion, search: Search, there: dict[str, PersonPresence], seen: bool
) -> list[tuple[str, int, list[CitedSpan]]]:
    """Return who is seen, or heard, for how many microseconds, and when; the longest first. One name is one person."""
    moments: dict[str, list[CitedSpan]] = defaultdict(list)
    counted: dict[str, int] = defaultdict(int)
    for p in search.people:
        presence = there.get(p.id, PersonPresence())
        moments[p.shown] += presence.seen if seen else [h.moment for h in presence.heard]
        if not asked.spans and not p.ignored:
            counted[p.shown] += p.screen_time if seen else p.speech_time
    times = ((name, _length_of(mine, asked) or counted[name], mine) for name, mine in moments.items())
    return sorted((told for told in times if told[1]), key=lambda x: -x[1])


def longest_stay(name: str, moments: Sequence[CitedSpan], asked: ParsedQuestion, search: Search) -> tuple[CitedSpan, ...]:
    """Return somebody's longest stay, the first of equals; where none is known the first sentence that tells of them."""
    if moments:
        return (min(stays_of(sorted(moments, key=lambda m: (m.source, m.start))), key=lambda m: m.start - m.end),)
    whose = tuple(p.id for p in search.people if p.shown == name)
    return tuple(moment_of(s) for s in islice(search.in_time(replace(asked, people=whose), None), 1))


def _length_of(moments: Iterable[CitedSpan], asked: ParsedQuestion) -> int:
    """Return how many microseconds of the time asked for some moments cover; what several cover counts once."""
    total, until, source = 0, 0, ""
    for m in sorted(moments, key=lambda m: (m.source, m.start)):
        source, until = (m.source, until) if m.source == source else (m.source, 0)
        for start, end in [(s.start, s.end) for s in asked.spans if s.source == m.source] or ([] if asked.spans else [(0, FOREVER)]):
            total += max(0, min(m.end, end) - max(m.start, start, until))
        until = max(until, m.end)
    return total


def lasting(time: int, language: str) -> str:
    """Return "12 s" or "2 min 5 s"; what is there lasts for at least a second."""
    whole = max(1, round(time / MICROSECOND))
    minutes, rest = divmod(whole, 60)
    return say("time_minutes", language, m=minutes, n=rest) if whole >= 120 else say("time", language, n=whole)


def _next(asked: ParsedQuestion, search: Search, there: dict[str, PersonPresence], spoken: bool, so_far: str) -> Answer:
    """Answer who speaks or comes into view next: rather somebody else than who spoke just before."""
    shown, after = {p.id: p.shown for p in search.people}, asked.spans[0].start if asked.spans else 0
    if spoken:
        said = sorted((x for x in spoken_by(there) if x.moment.end > after), key=lambda x: (x.moment.source, x.moment.start))
        until = [(o.end, o.person) for t in asked.spans for o in search.evidence.heard.get(t.source, ()) if o.start < after]
        last = max(until)[1] if until else NOBODY
        one = next((x for x in said if x.person != last), said[0])
        return Answer(tuple(quote("speaks_next", one, asked.language, who=shown[one.person], so_far=so_far)))
    stays = [(m, p) for p, t in presences(replace(asked, spans=()), search, None).items() for m in stays_of(t.seen) if p in there]
    come = [(m, p) for m, p in stays if m.start >= after and (not asked.spans or m.source == asked.spans[0].source)]
    if not come:
        return Answer((Part(say("nobody_new", asked.language, so_far=so_far)),), found=False)
    moment, person = min(come, key=lambda x: (x[0].source, x[0].start))
    return Answer((Part(say("seen_next", asked.language, who=shown[person], so_far=so_far), (moment,)),))


def seen_beside(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer:
    """Answer who comes into view right before or after somebody does for the first time, or the last if that is asked for."""
    language, shown = asked.language, {p.id: p.shown for p in search.people}
    whose, whom = set(names_asked(asked, search)), joining(names_asked(asked, search), asked.language)
    stays = [(m, shown[p]) for p, t in presences(asked, search, before).items() for m in stays_of(t.seen)]
    stays.sort(key=lambda x: (x[0].source, x[0].start))
    mine = [m for m, name in stays if name in whose]
    if not mine:
        return Answer((Part(say("absent", language)),), found=False)
    own = mine[-1] if asked.order == "last" else mine[0]
    others = [(m, name) for m, name in stays if name not in whose and m.source == own.source]
    beside = [x for x in others if (x[0].start < own.start if asked.beside == "before" else x[0].start > own.start)]
    if not beside:
        return Answer((Part(say(f"nobody_seen_{asked.beside}", language, whom=whom, at=clock(own.start)), (own,)),))
    moment, name = beside[-1] if asked.beside == "before" else beside[0]
    return Answer((Part(say(f"seen_{asked.beside}", language, whom=whom, at=clock(own.start), who=name), (moment,)),))


def who_is(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer what is known of each person whom the question names (a face and a voice of one name are one)."""
    people = {name: [p for p in search.people if p.id in asked.people and p.shown == name] for name in names_asked(asked, search)}
    parts = [part for same in list(people.values())[:MOST_SAYINGS] for part in _about(same, asked, search, before)]
    if not people:
        return None
    return Answer(tuple(parts)) if parts else Answer((Part(say("absent", asked.language)),), found=False)


def _about(people: Sequence[Person], asked: ParsedQuestion, search: Search, before: Before | None) -> list[Part]:
    """Return what is known of a person: how they are introduced, when they are seen and heard, what is true of them."""
    language, person = asked.language, people[0]
    everybody = presences(asked, search, before)
    there = PersonPresence()
    for p in people:
        there.seen += everybody.get(p.id, PersonPresence()).seen
        there.heard += everybody.get(p.id, PersonPresence()).heard
    parts = _introduced(people, search, there, language, before)
    if there.seen:
        stays = stays_of(there.seen)
        parts.append(Part(say("is_seen" if len(stays) > 1 else "is_seen_one", language, who=person.shown, n=len(stays)), tuple(stays[:3])))
    for one in joined_speech([Spoken(h.moment, h.words, person.id, h.unclear) for h in there.heard])[:1]:
        parts += quote("says", one, language, who=person.shown)
    ids, captions = {p.id for p in people}, [name.words for p in people for name in p.suggested_names if name.words]
    known = [s for s in search.known_of(ids, before, 3) if not any(f"“{words}”" in s.shown for words in captions)]  # that is told
    return [*parts, *(Part(ended(s.shown, language), (moment_of(s),)) for s in known)]


def job_of(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer what somebody does by how they are introduced: a caption often says it."""
    there = presences(asked, search, before)
    people = [p for p in search.people if p.id in asked.people]
    parts = [part for p in people for part in _introduced([p], search, there.get(p.id, PersonPresence()), asked.language, before)]
    return Answer(tuple(parts)) if parts else None


def _introduced(people: Sequence[Person], search: Search, there: PersonPresence, language: str, before: Before | None) -> list[Part]:
    found: dict[str, Part] = {}
    for person in people:
        for name in person.suggested_names[:2]:
            moments = [m for e in name.evidence if (m := _evidence(e, search, there)) is not None and is_known(m.clip, before)]
            if moments and name.name not in found:
                text = say("introduced", language, who=f"Person {person.number}", name=name.name, words=name.words)
                found[name.name] = Part(text, tuple(moments[:1]))
    return list(found.values())


def _evidence(evidence: str, search: Search, there: PersonPresence) -> CitedSpan | None:
    """Return the moment of a name's evidence, given as an observation id or `screen:START-END` (microseconds)."""
    if not evidence.startswith("screen:"):
        told = search.tellers.get(evidence)
        sentence = search.sentence(told) if told else None
        return moment_of(sentence) if sentence else None
    start, end = (int(t) for t in evidence.removeprefix("screen:").split("-"))
    source = there.seen[0].source if there.seen else search.sources[0].id
    clip = search.clip_at(source, start)
    return CitedSpan(clip.id, source, start, end) if clip else None
