"""Answers of fact about what is said: by whom, to whom, about whom, which questions are asked, before and after whose words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from m3desk.control.citing import CitedSpan, Part, moment_of
from m3desk.control.facts_people import may_be_theirs
from m3desk.control.presence import (
    MOST_SAYINGS,
    NOBODY,
    Answer,
    Spoken,
    beyond,
    ended,
    joined_speech,
    joining,
    names_asked,
    names_shown,
    presences,
    quote,
    so_far_of,
    spoken_by,
    unattributed,
    wordless,
)
from m3desk.control.query import NameFinder, ParsedQuestion, named_in, names_of
from m3desk.control.search import Before, Search
from m3desk.control.wording import NUMBERS, say
from m3desk.domain.clip import clock
from m3desk.domain.memory import StoredSentence
from m3desk.domain.people import Person

MOST_BESIDE = 3

_SPEECH = re.compile(r"<person_\d+>(?!.{0,40}\b(?:writes?|wrote|types?|thinks?)\b)(?:[：:]|[^'\"“‘]*[,，:：]) ?['\"“‘]\w")
"""How a sentence begins that quotes the person it begins with."""

_ASKED = re.compile(r"[?？] ?['\"”’」]|['\"“‘「][^'\"”’」]*[?？]$")
"""A question among the words that a sentence quotes."""


def quoting_speech(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer who speaks first, last or next, or what is said, where only sentences tell who speaks."""
    if not asked.order and not asked.follows and asked.intent not in ("says", "asks"):
        return None
    if asked.about:
        return None
    most = MOST_SAYINGS if asked.intent in ("says", "asks") and not asked.order else 1
    spoken = search.in_time(replace(asked, people=asked.speakers), before, quoting=True)
    questions = asked.intent == "asks"
    told = list(islice((s for s in spoken if _by_one_of(asked.speakers, s) and (not questions or _ASKED.search(s.tagged))), most))
    return Answer(tuple(Part(ended(s.shown, asked.language), (moment_of(s),)) for s in told)) if told else None


def _by_one_of(people: Sequence[str], s: StoredSentence) -> bool:
    """Return whether a sentence quotes one of these people, or anybody if there are none."""
    said = _SPEECH.match(s.tagged)
    return said is not None and (not people or any(s.tagged.startswith(f"<{p}>") for p in people))


def heard_beside(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer:
    """Answer who speaks right before or after each time that somebody speaks; a voice of nobody known is somebody, too."""
    shown = {p.id: p.shown for p in search.people} | {NOBODY: say("somebody", asked.language).lower()}
    whose = set(names_asked(asked, search))
    whom, so_far = joining(names_asked(asked, search), asked.language), so_far_of(asked, search, before)
    said = [*spoken_by(presences(asked, search, before)), *unattributed(asked, search, before)]
    said.sort(key=lambda x: (x.moment.source, x.moment.start))
    step = -1 if asked.beside == "before" else 1
    parts: list[list[Part]] = []
    alone: CitedSpan | None = None
    for at, one in enumerate(said):
        if shown[one.person] not in whose:
            continue
        other = said[at + step] if 0 <= at + step < len(said) and said[at + step].moment.source == one.moment.source else None
        if other is not None and shown[other.person] in whose:
            continue
        if other is None:
            alone = one.moment
            continue
        key, when = f"speaks_{asked.beside}", clock(one.moment.start)
        parts.append(quote(key, other, asked.language, whom=whom, at=when, who=shown[other.person], so_far=so_far))
    if parts:
        if asked.order:
            parts = parts[:1] if asked.order == "first" else parts[-1:]
        more = [Part(say("more_said", asked.language, n=len(parts) - MOST_BESIDE))] if len(parts) > MOST_BESIDE else []
        return Answer((*(part for told in parts[:MOST_BESIDE] for part in told), *more))
    if alone is not None:
        return Answer((Part(say(f"nobody_speaks_{asked.beside}", asked.language, whom=whom, at=clock(alone.start)), (alone,)),))
    return Answer((Part(say("says_nothing", asked.language, who=whom, so_far=so_far)),), found=False)


def quoted_beside(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer the same where only sentences tell who speaks: of the first time, or the last if that is asked for."""
    passed = "after" if asked.order == "last" else "before"  # what is read before the sentence of theirs
    near: StoredSentence | None = None
    own: StoredSentence | None = None
    for s in search.in_time(replace(asked, people=()), before, quoting=True):
        if not _by_one_of((), s):
            continue
        if _by_one_of(asked.people, s):
            own = s
            if asked.beside == passed:
                break
        elif asked.beside == passed:
            near = s
        elif own is not None:
            near = s
            break
    if own is None:
        return None
    if near is None:
        whom = joining(names_asked(asked, search), asked.language)
        text = say(f"nobody_speaks_{asked.beside}", asked.language, whom=whom, at=clock(own.start))
        return Answer((Part(text, (moment_of(own),)),))
    return Answer((Part(ended(near.shown, asked.language), (moment_of(near),)),))


def what_they_say(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    if wordless(search):
        return None if beyond(asked, search) else quoting_speech(asked, search, before)
    if beyond(asked, search):
        people = in_role(asked, search, before)
        if not people:
            who = " / ".join(names_asked(replace(asked, people=asked.speakers), search))
            if not who or what_is_said(asked, search, before):
                return None
            text = say("says_nothing", asked.language, who=who, so_far=so_far_of(asked, search, before))
            return Answer((Part(text), *may_be_theirs(asked, search, before)), found=False)
        asked = replace(asked, people=people)
    language, shown = asked.language, names_shown(asked, search)
    said = what_is_said(asked, search, before)
    if not said:
        who, so_far = " / ".join(shown[p] for p in asked.speakers), so_far_of(asked, search, before)
        text = say("says_nothing" if who else "nobody_heard", language, who=who, so_far=so_far)
        return Answer((Part(text), *may_be_theirs(asked, search, before)), found=False)
    parts: list[Part] = []
    if asked.about:
        if any(map(known_names, people_of(asked.about, search))):
            return told_of(asked, search, before, naming(asked.about, said, search))
        parts.append(Part(say("nameless", language, whom=joining([shown[p] for p in asked.about], language))))
    if asked.to:
        parts.append(Part(say("to_whom", language)))
    if asked.order:
        said = said[:1] if asked.order == "first" else said[-1:]
    return Answer((*parts, *_sayings(joined_speech(said), shown, language)))


def what_is_said(asked: ParsedQuestion, search: Search, before: Before | None) -> list[Spoken]:
    """Return in order what is said by those whose words a question is about, by everybody if it names none."""
    speakers, there = asked.speakers, presences(asked, search, before)
    said = spoken_by(there, speakers)
    if not speakers:
        said += unattributed(asked, search, before)
        said = [x for x in said if x.person not in asked.to] or said  # nobody speaks to themselves
    return sorted(said, key=lambda x: (x.moment.source, x.moment.start))


def people_of(ids: Sequence[str], search: Search) -> list[Person]:
    """Return the people of these ids."""
    return [p for p in search.people if p.id in ids]


def known_names(person: Person) -> list[str]:
    """Return the names by which others may speak of somebody: no ids of who was merged with them."""
    return [n for n in names_of(person) if not n.startswith("person_")]


def naming(about: Sequence[str], said: Sequence[Spoken], search: Search) -> list[Spoken]:
    """Return of what is said that in which one of some people is named."""
    finder = NameFinder.of(people_of(about, search))
    return [x for x in said if named_in(x.words, finder)]


def told_of(asked: ParsedQuestion, search: Search, before: Before | None, said: Sequence[Spoken]) -> Answer:
    """Return what is said about people whom a question names; that nobody names them if nobody does."""
    language, shown = asked.language, names_shown(asked, search)
    if said:
        if asked.order:
            said = said[:1] if asked.order == "first" else said[-1:]
        return Answer(tuple(_sayings(joined_speech(said), shown, language)))
    who, whom = " / ".join(shown[p] for p in asked.speakers), joining([shown[p] for p in asked.about], language)
    key, so_far = "names_nobody" if who else "nobody_names", so_far_of(asked, search, before)
    return Answer((Part(say(key, language, who=who, whom=whom, so_far=so_far)),), found=False)


def questions_asked(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer who asks a question, and which: speech that the transcript ends with a question mark."""
    if beyond(asked, search):
        return None
    if wordless(search):
        return quoting_speech(asked, search, before)
    language, shown = asked.language, names_shown(asked, search)
    questions = [x for x in what_is_said(asked, search, before) if "?" in x.words or "？" in x.words]
    if asked.follows:
        questions = [x for x in questions if not any(x.moment.source == t.source and x.moment.start < t.start for t in asked.spans)]
    so_far = so_far_of(asked, search, before)
    if not questions:
        who = " / ".join(shown[p] for p in asked.speakers)
        text = say("no_question" if who else "no_question_at_all", language, who=who, so_far=so_far)
        return Answer((Part(text), *may_be_theirs(asked, search, before)), found=False)
    parts: list[Part] = []
    if asked.to:
        parts.append(Part(say("to_whom", language)))
    if asked.order or asked.follows:
        questions = questions[-1:] if asked.order == "last" else questions[:1]
    else:
        count = sum(len(re.findall(r"[?？]+", x.words)) for x in questions)
        n = NUMBERS[language].get(count, str(count))
        parts.append(Part(say("questions" if count > 1 else "questions_one", language, n=n, so_far=so_far)))
    parts += [part for x in questions[:MOST_SAYINGS] for part in quote("asks", x, language, who=shown[x.person])]
    if len(questions) > MOST_SAYINGS:
        parts.append(Part(say("more_said", language, n=len(questions) - MOST_SAYINGS)))
    return Answer(tuple(parts))


def _sayings(said: Sequence[Spoken], shown: dict[str, str], language: str) -> list[Part]:
    """Return what is said as parts of an answer."""
    parts, last = [], NOBODY
    for one in said[:MOST_SAYINGS]:
        parts += quote("goes_on" if one.person == last != NOBODY else "says", one, language, who=shown[one.person])
        last = one.person
    if len(said) > MOST_SAYINGS:
        parts.append(Part(say("more_said", language, n=len(said) - MOST_SAYINGS)))
    return parts


def in_role(asked: ParsedQuestion, search: Search, before: Before | None) -> tuple[str, ...]:
    """Return the people a question names by their role in a caption ("the host"; caption "Host JEFF STEEN" shown with somebody)."""
    wanted = set(beyond(asked, search))
    shown = {p.id: p.shown for p in search.people}
    if asked.people or not wanted:
        return ()
    for s in search.captions(wanted, before):
        names = {shown[p] for p in s.people if p in shown}
        return tuple(p for p in shown if shown[p] in names)
    return ()
