"""Answers questions of fact without a language model: who appears, who speaks, who says what, when, and what is on the screen.

The answers are read from the evidence, in English or Chinese, and every part cites its moment. If a question contains a significant
word that these kinds of answer don't cover, they return None, and search and the language model answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from m3desk.control.citing import CitedSpan, Part, listed, moment_of
from m3desk.control.query import ParsedQuestion
from m3desk.control.search import Before, Hit, Search
from m3desk.control.times import FOREVER
from m3desk.control.wording import ASKING, NUMBERS, say
from m3desk.domain.clip import MICROSECOND, clock
from m3desk.domain.ids import clip_index
from m3desk.domain.people import Observed, Person

MOST_PEOPLE = 30
MOST_SAYINGS = 6
MOST_TEXTS = 12
NOBODY = ""
"""Stands for the person where nobody knows who spoke."""

LONGEST = 400
"""Letters of one quoted speech."""

GAP = 2 * MICROSECOND
"""Views of a person closer than this are one stay (a face is lost for a moment when a head turns)."""

ENOUGH = 0.6
"""Share of a question's significant words that a sentence must hold to be its answer by words alone."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A composed answer. `found`: False if the memory holds nothing of what was asked for."""

    parts: tuple[Part, ...]
    found: bool = True


@dataclass(slots=True)
class PersonPresence:
    """When a person is seen and heard, in time order, and what they say."""

    seen: list[CitedSpan] = field(default_factory=list)
    heard: list[tuple[CitedSpan, str]] = field(default_factory=list)


def read_facts(asked: ParsedQuestion, search: Search, before: Before | None = None) -> Answer | None:
    """Return the answer from the evidence, None unless the kind of question is certain."""
    answer_it = _KINDS.get(asked.intent or "")
    if answer_it is None or (asked.people and asked.intent in ("count", "on_screen", "objects", "summary")):
        return None
    return answer_it(asked, search, before)


def beyond(asked: ParsedQuestion, search: Search) -> list[str]:
    """Return the significant words of a question that its kind of answer doesn't cover."""
    extra = ASKING.get(asked.intent or "", frozenset())
    return [w for w in search.telling(asked.plain) if w not in extra]


# ---------------------------------------------------------------- who


def presences(asked: ParsedQuestion, search: Search, before: Before | None) -> dict[str, PersonPresence]:
    """Return when each person is seen and heard within the times asked for, in order of first appearance."""
    evidence = search.evidence
    if asked.spans or before is not None:
        return _presences(asked, search, before)
    if evidence.presences is None:
        evidence.presences = _presences(asked, search, before)
    kept: dict[str, PersonPresence] = evidence.presences
    return kept


def _presences(asked: ParsedQuestion, search: Search, before: Before | None) -> dict[str, PersonPresence]:
    known = {p.id for p in search.people if not p.ignored}
    evidence, told = search.evidence, search.tellers
    found: dict[str, PersonPresence] = {}
    for source, start, end in _scopes(asked, search):
        for o in _touching(evidence.seen.get(source, ()), start, end):
            if o.person in known and _known(o.clip, before):
                found.setdefault(o.person, PersonPresence()).seen.append(CitedSpan(o.clip, source, o.start, o.end, o.node))
        for o in _touching(evidence.heard.get(source, ()), start, end):
            if o.person in known and _known(o.clip, before):
                moment = CitedSpan(o.clip, source, o.start, o.end, told.get(o.id, o.node))
                found.setdefault(o.person, PersonPresence()).heard.append((moment, (o.words or "").strip()))
    for presence in found.values():
        presence.seen.sort(key=lambda m: (m.source, m.start))
        presence.heard.sort(key=lambda h: (h[0].source, h[0].start))
    return dict(sorted(found.items(), key=lambda item: _first(item[1])))


def _touching(observed: Sequence[Observed], start: int | None, end: int | None) -> Iterable[Observed]:
    """Return the items that overlap [start, end), in microseconds; None: unbounded."""
    if start is None and end is None:
        return observed
    return [o for o in observed if (start is None or o.end > start) and (end is None or o.start < end)]


def _who(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    if beyond(asked, search) or asked.people:
        return None
    return _people(asked, search, before, spoken=False)


def _who_speaks(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    if beyond(asked, search) or asked.people:
        return None
    return _people(asked, search, before, spoken=True)


def _count(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    if beyond(asked, search):
        return None
    return _people(asked, search, before, spoken=any(w in asked.plain.lower() for w in ("speak", "voice", "talk", "说话", "讲话", "发言")))


def _people(asked: ParsedQuestion, search: Search, before: Before | None, spoken: bool) -> Answer:
    language, shown = asked.language, {p.id: p.shown for p in search.people}
    there = presences(asked, search, before)
    seen = {p: t.seen[0] for p, t in there.items() if t.seen}
    heard = {p: t.heard[0][0] for p, t in there.items() if t.heard}
    # A face and a voice that are not linked yet, but bear one name, are not told twice.
    named = {shown[p] for p in seen}
    so_far = _so_far(asked, search, before)
    main, rest = (heard, {}) if spoken else (seen, {p: m for p, m in heard.items() if p not in seen and shown[p] not in named})
    if not main and not rest:
        return Answer((Part(say("nobody_heard" if spoken else "nobody_seen", language, so_far=so_far)),), found=False)
    if asked.order and main:
        return _one_of(asked, search, there, main, spoken, so_far)
    parts: list[Part] = []
    if main:
        parts += _named(main, shown, language, "speak" if spoken else "appear", so_far)
    if rest:
        parts += _named(rest, shown, language, "only_heard" if main else "heard_alone", so_far)
    return Answer(tuple(parts))


def _so_far(asked: ParsedQuestion, search: Search, before: Before | None) -> str:
    """Return "so far" if clips of what was asked about are not memorized yet, otherwise ""."""
    waiting = [c for c in search.waiting_clips() if _known(c.id, before)]
    scopes = _scopes(asked, search)
    asked_about = any(c.source == s and (a is None or c.end > a) and (b is None or c.start < b) for s, a, b in scopes for c in waiting)
    return say("so_far", asked.language) if asked_about else ""


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
        said = sorted(((h, p) for p, t in there.items() for h in t.heard), key=lambda x: (x[0][0].source, x[0][0].start))
        (moment, words), person = said[0] if asked.order == "first" else said[-1]
        text = say(f"speaks_{asked.order}", asked.language, who=shown[person], words=words, so_far=so_far)
        return Answer((Part(text, (moment,)),))
    if asked.order == "first":
        person, moment = min(main.items(), key=lambda item: (item[1].source, item[1].start))
    else:
        ends = {p: t.seen[-1] for p, t in there.items() if t.seen}
        person, moment = max(ends.items(), key=lambda item: (item[1].source, item[1].end))
    return Answer((Part(say(f"seen_{asked.order}", asked.language, who=shown[person], so_far=so_far), (moment,)),))


def _who_is(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer what is known of a person (or of a face and a voice of one name): how they are introduced, when they are seen and heard."""
    people = [p for p in search.people if p.id in asked.people]
    if not people or len({p.shown for p in people}) > 1:
        return None
    language, person = asked.language, people[0]
    everybody = presences(asked, search, before)
    there = PersonPresence()
    for p in people:
        there.seen += everybody.get(p.id, PersonPresence()).seen
        there.heard += everybody.get(p.id, PersonPresence()).heard
    parts = _introduced(people, search, there, language, before)
    if there.seen:
        stays = _stays(there.seen)
        parts.append(Part(say("is_seen" if len(stays) > 1 else "is_seen_one", language, who=person.shown, n=len(stays)), tuple(stays[:3])))
    for moment, words, _ in _joined([(m, w, person.id) for m, w in there.heard])[:1]:
        parts.append(Part(say("says", language, who=person.shown, words=words), (moment,)))
    ids = {p.id for p in people}
    parts += [Part(_ended(s.shown, language), (moment_of(s),)) for s in search.known_of(ids, before, 3)]
    return Answer(tuple(parts)) if parts else Answer((Part(say("absent", language)),), found=False)


def _introduced(people: Sequence[Person], search: Search, there: PersonPresence, language: str, before: Before | None) -> list[Part]:
    found: dict[str, Part] = {}
    for person in people:
        for name in person.suggested_names[:2]:
            moments = [m for e in name.evidence if (m := _evidence(e, search, there)) is not None and _known(m.clip, before)]
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


# ---------------------------------------------------------------- who says what, and when


def _says(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    if beyond(asked, search):
        people = in_role(asked, search, before)
        if not people:
            return None
        asked = replace(asked, people=people)
    language, shown = asked.language, {p.id: p.shown for p in search.people}
    there = presences(asked, search, before)
    said = [(m, w, p) for p, t in there.items() if not asked.people or p in asked.people for m, w in t.heard]
    if not asked.people:
        shown[NOBODY] = say("somebody", language)
        said += [(moment_of(s), " ".join(s.text[a:b] for a, b in s.quoted), NOBODY) for s in search.unattributed(asked.spans, before)]
    said.sort(key=lambda x: (x[0].source, x[0].start))
    if not said:
        who = " / ".join(shown[p] for p in asked.people)
        return Answer(
            (Part(say("says_nothing" if who else "nobody_heard", language, who=who, so_far=_so_far(asked, search, before))),), found=False
        )
    if asked.order:
        said = said[:1] if asked.order == "first" else said[-1:]
    said = _joined(said)
    parts, last = [], NOBODY
    for moment, words, person in said[:MOST_SAYINGS]:
        key = "goes_on" if person == last != NOBODY else "says"
        parts.append(Part(say(key, language, who=shown[person], words=words), (moment,)))
        last = person
    if len(said) > MOST_SAYINGS:
        parts.append(Part(say("more_said", language, n=len(said) - MOST_SAYINGS)))
    return Answer(tuple(parts))


Spoken = tuple[CitedSpan, str, str]
"""When, the words, the person."""


def _joined(said: Sequence[Spoken]) -> list[Spoken]:
    """Merge utterances of one person that follow each other closely."""
    joined: list[Spoken] = []
    for moment, words, person in said:
        if joined:
            before, said_before, who = joined[-1]
            near = before.source == moment.source and moment.start - before.end < GAP and len(said_before) + len(words) <= LONGEST
            if who == person != NOBODY and near:
                gap = "" if said_before[-1:] > "\u2e80" else " "
                whole = CitedSpan(before.clip, before.source, before.start, max(before.end, moment.end), before.node)
                joined[-1] = (whole, f"{said_before}{gap}{words}", person)
                continue
        joined.append((moment, words, person))
    return joined


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


def _who_says(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer who says certain words, from the spoken sentences that contain most of them."""
    if not beyond(asked, search):
        return _who_speaks(asked, search, before)
    spoken = [h for h in search.hits(asked, 20, kinds=("episodic",), before=before) if h.sentence.event == "says"]
    best = _holding(spoken)
    return _told(best, asked.language) if best else None


def _when(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer when a person is seen or heard, or when something is said or shown."""
    if role := in_role(asked, search, before):
        asked = replace(asked, people=role)
    elif beyond(asked, search):
        hits = search.hits(asked, 20, kinds=("episodic",), before=before)
        best = _holding([h for h in hits if not asked.people or set(asked.people) & set(h.sentence.people)])
        return _told(sorted(best, key=lambda h: (h.sentence.source, h.sentence.start)), asked.language) if best else None
    if not asked.people:
        return None
    there, parts = presences(asked, search, before), []
    shown = {p.id: p.shown for p in search.people}
    speaking = any(w in asked.plain.lower() for w in ("speak", "say", "talk", "说", "讲"))
    for person in asked.people:
        presence = there.get(person, PersonPresence())
        moments = _stays([m for m, _ in presence.heard] if speaking or not presence.seen else presence.seen)
        if asked.order and moments:
            moments = moments[:1] if asked.order == "first" else moments[-1:]
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


def _told(hits: Sequence[Hit], language: str) -> Answer:
    return Answer(tuple(Part(_ended(h.sentence.shown, language), (moment_of(h.sentence),)) for h in hits))


# ---------------------------------------------------------------- what is on the screen


def _on_screen(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    if beyond(asked, search):
        return None
    told = search.known.texts
    found: dict[str, Part] = {}
    for source, start, end in _scopes(asked, search):
        for t in search.reader.texts(source, start, end):
            key = "".join(c for c in t.text.casefold() if c.isalnum())
            if key and _known(t.clip, before):
                found.setdefault(
                    key, Part(f"“{' '.join(t.text.split())}”", (CitedSpan(t.clip, source, t.start, t.end, told.get((source, t.start))),))
                )
    if not found:
        things = _objects(asked, search, before)
        none_found = Part(say("no_text", asked.language))
        return Answer((none_found,), found=False) if things is None or not things.found else Answer((none_found, *things.parts))
    items = list(found.values())[:MOST_TEXTS]
    if len(found) > MOST_TEXTS:
        items.append(Part(say("more_texts", asked.language, n=len(found) - MOST_TEXTS)))
    return Answer((Part(say("on_screen", asked.language)), *listed(items, asked.language), Part("。" if asked.language == "zh" else ".")))


def _objects(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    if beyond(asked, search):
        return None
    found: dict[str, Part] = {}
    for source, start, end in _scopes(asked, search):
        for o in search.reader.objects(source, start, end):
            if o.label != "person" and _known(o.clip, before):
                found.setdefault(o.label, Part(o.label, (CitedSpan(o.clip, source, o.start, o.end),)))
    if not found:
        return Answer((Part(say("no_things", asked.language)),), found=False)
    return Answer(
        (Part(say("things", asked.language)), *listed(list(found.values()), asked.language), Part("。" if asked.language == "zh" else "."))
    )


# ---------------------------------------------------------------- shared


def _scopes(asked: ParsedQuestion, search: Search) -> Iterable[tuple[str, int | None, int | None]]:
    if asked.spans:
        return [(s.source, s.start, min(s.end, FOREVER)) for s in asked.spans]
    return [(s.id, None, None) for s in search.sources]


def _known(clip: str, before: Before | None) -> bool:
    if before is None or not clip.startswith(before[0] + "."):
        return True
    return clip_index(clip) <= before[1]


def _first(presence: PersonPresence) -> tuple[str, int]:
    moments = [*presence.seen[:1], *(m for m, _ in presence.heard[:1])]
    return min((m.source, m.start) for m in moments)


def _stays(moments: Sequence[CitedSpan]) -> list[CitedSpan]:
    """Merge moments that follow each other within GAP, also across clip borders."""
    stays: list[CitedSpan] = []
    for m in moments:
        last = stays[-1] if stays else None
        if last and last.source == m.source and m.start - last.end <= GAP:
            stays[-1] = CitedSpan(last.clip, last.source, last.start, max(last.end, m.end), last.node)
        else:
            stays.append(m)
    return stays


def _ended(text: str, language: str) -> str:
    text = text.strip()
    if text.endswith((".", "!", "?", "。", "！", "？", "”", "…")):
        return text + ("" if language == "zh" else " ")
    return text + ("。" if language == "zh" else ". ")


_KINDS: dict[str, Callable[[ParsedQuestion, Search, Before | None], Answer | None]] = {
    "who": _who,
    "who_speaks": _who_speaks,
    "who_says": _who_says,
    "who_is": _who_is,
    "count": _count,
    "says": _says,
    "when": _when,
    "on_screen": _on_screen,
    "objects": _objects,
}
