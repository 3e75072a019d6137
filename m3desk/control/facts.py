"""Answers questions of fact without a language model: who appears, who speaks and how long, who says what, when, and what is on the screen.

The answers are read from the evidence, in English or Chinese, and every part cites its moment. If a question contains a significant
word that these kinds of answer don't cover, they return None, and search and the language model answer.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from m3desk.control.citing import CitedSpan, Part, listed, moment_of
from m3desk.control.query import NameFinder, Note, ParsedQuestion, named_in, names_of, overlap
from m3desk.control.search import Before, Hit, Search
from m3desk.control.text_kinds import kind_asked, of_kind
from m3desk.control.times import FOREVER, TimeSpan
from m3desk.control.wording import ASKING, NUMBERS, say
from m3desk.domain.appearance import of_a_person
from m3desk.domain.clip import MICROSECOND, clock
from m3desk.domain.evidence import ObjectSeen
from m3desk.domain.ids import clip_index
from m3desk.domain.memory import StoredSentence
from m3desk.domain.people import Observed, Person
from m3desk.domain.things import ANIMALS, clear, disputed, name_of, with_face

MOST_PEOPLE = 30
MOST_SAYINGS = 6
MOST_NAMED = 3
MOST_BESIDE = 3
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
    if asked.negated:
        return _lacking(asked, search, before)
    return answer_it(asked, search, before)


def resolved(asked: ParsedQuestion, search: Search, before: Before | None) -> ParsedQuestion:
    """Return a question about the time before or after somebody comes or speaks with that time, and a note on it."""
    if asked.relative is None:
        return asked
    side, spoken, whom = asked.relative
    there = presences(replace(asked, spans=(), people=()), search, before)
    mine = [t for p, t in there.items() if p in whom]
    stays = _stays(sorted((m for t in mine for m in ([m for m, _ in t.heard] if spoken else t.seen)), key=lambda m: (m.source, m.start)))
    names = _joining(_names(replace(asked, people=whom), search), asked.language)
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


def beyond(asked: ParsedQuestion, search: Search) -> list[str]:
    """Return the significant words of a question that its kind of answer doesn't cover."""
    extra = ASKING.get(asked.intent or "", frozenset())
    return [w for w in search.telling(asked.plain) if w not in extra]


# ---------------------------------------------------------------- who


def presences(asked: ParsedQuestion, search: Search, before: Before | None) -> dict[str, PersonPresence]:
    """Return when each person is seen and heard within the times asked for, in order of first appearance."""
    evidence = search.evidence
    if asked.spans or before is not None:
        kept: dict[str, PersonPresence] = _presences(asked, search, before)
    else:
        if evidence.presences is None:
            evidence.presences = _presences(asked, search, before)
        kept = evidence.presences
    return {p: there for p, there in kept.items() if p not in asked.without} if asked.without else kept


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
    if beyond(asked, search):
        return None
    if asked.beside:
        return _seen_beside(asked, search, before)
    if asked.people and not (asked.order and len(_names(asked, search)) > 1):
        return None
    return people_answer(asked, search, before, spoken=False)


def _who_speaks(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    if beyond(asked, search):
        return None
    if asked.beside:
        return _quoted_beside(asked, search, before) if _wordless(search) else _heard_beside(asked, search, before)
    if asked.people and not (asked.order and len(_names(asked, search)) > 1):
        return None
    if _wordless(search):
        return _quoting_speech(asked, search, before)
    return people_answer(asked, search, before, spoken=True)


def _count(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    spoken = any(w in asked.plain.lower() for w in ("speak", "voice", "talk", "说话", "讲话", "发言"))
    if beyond(asked, search) or (spoken and _wordless(search)):
        return None
    return people_answer(asked, search, before, spoken)


def _wordless(search: Search) -> bool:
    """Return whether there are voices, but no words of any: an imported graph tells who speaks in its sentences alone."""
    return any(p.voices for p in search.people) and not any(search.evidence.heard.values())


_SPEECH = re.compile(r"<person_\d+>(?!.{0,40}\b(?:writes?|wrote|types?|thinks?)\b)(?:[：:]|[^'\"“‘]*[,，:：]) ?['\"“‘]\w")
"""How a sentence begins that quotes the person it begins with."""


_ASKED = re.compile(r"[?？] ?['\"”’」]|['\"“‘「][^'\"”’」]*[?？]$")
"""A question among the words that a sentence quotes."""


def _quoting_speech(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer who speaks first, last or next, or what is said, where only sentences tell who speaks."""
    if not asked.order and not asked.follows and asked.intent not in ("says", "asks"):
        return None
    if asked.about:
        return None
    most = MOST_SAYINGS if asked.intent in ("says", "asks") and not asked.order else 1
    spoken = search.in_time(replace(asked, people=asked.speakers), before, quoting=True)
    questions = asked.intent == "asks"
    told = list(islice((s for s in spoken if _by_one_of(asked.speakers, s) and (not questions or _ASKED.search(s.tagged))), most))
    return Answer(tuple(Part(_ended(s.shown, asked.language), (moment_of(s),)) for s in told)) if told else None


def _by_one_of(people: Sequence[str], s: StoredSentence) -> bool:
    """Return whether a sentence quotes one of these people, or anybody if there are none."""
    said = _SPEECH.match(s.tagged)
    return said is not None and (not people or any(s.tagged.startswith(f"<{p}>") for p in people))


_HAVING_NAMES = re.compile(
    r"\b(?:is|are|was|were|get|gets|be) (?:named|mentioned by name|known by name|called by name)\b"
    r"|\b(?:have|has|with)(?: an?| known)? names?\b|有名字|知道名字|叫得出名字",
    re.IGNORECASE,
)
"""A question for people whose names are known."""


def people_answer(asked: ParsedQuestion, search: Search, before: Before | None, spoken: bool) -> Answer:
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
    heard = {p: t.heard[0][0] for p, t in there.items() if t.heard}
    # A face and a voice that are not linked yet, but bear one name, are not told twice.
    named = {shown[p] for p in seen}
    so_far = so_far_of(asked, search, before)
    main, rest = (heard, {}) if spoken else (seen, {p: m for p, m in heard.items() if p not in seen and shown[p] not in named})
    if not spoken and _wordless(search):
        rest |= _voices_told(asked, search, before, {p for p in shown if shown[p] in named})
    if asked.without and not main and not rest:
        return Answer((Part(say("nobody_else_heard" if spoken else "nobody_else_seen", language, so_far=so_far)),), found=False)
    if spoken and not main and (words := list(_unattributed(asked, search, before))):
        moment, said, _ = words[-1 if asked.order == "last" else 0]
        return Answer((Part(say("unknown_voice", language, words=said, so_far=so_far), (moment,)),))
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


def _lacking(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer who is seen but not heard, or heard but not seen; other questions for what does not happen are not certain."""
    if asked.intent not in ("who", "who_speaks", "count") or asked.people or asked.order or asked.follows or beyond(asked, search):
        return None
    if _WHILE.search(asked.text):  # what does not happen names a time
        return None
    spoken = asked.intent == "who_speaks" or _senses(asked)[0]
    if _wordless(search):
        return None
    language, shown, there = asked.language, {p.id: p.shown for p in search.people}, presences(asked, search, before)
    seen = {p: t.seen[0] for p, t in there.items() if t.seen}
    heard = {p: t.heard[0][0] for p, t in there.items() if t.heard}
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


def _may_be_theirs(asked: ParsedQuestion, search: Search, before: Before | None) -> list[Part]:
    """Return the voices without a face that are heard while people of whom no voice is known are in view: they may be theirs."""
    mine = {p.id for p in search.people if p.id in asked.speakers and not p.voices}
    names = {p.shown for p in search.people if p.id in asked.people and p.voices}
    there = presences(asked, search, before)
    views = _Times(m for p, t in there.items() if p in mine for m in t.seen)
    alone = {p.id: p.shown for p in search.people if p.voices and not p.faces and p.shown not in names}
    found: dict[str, CitedSpan] = {}
    for p, t in there.items():
        heard = (m for m, _ in t.heard if views.overlap(m))
        if p in alone and (first := next(heard, None)) is not None:
            found[p] = first
    if not found:
        return []
    return [Part("" if asked.language == "zh" else " "), *_named(found, alone, asked.language, "may_be_theirs", "")]


def so_far_of(asked: ParsedQuestion, search: Search, before: Before | None) -> str:
    """Return "so far" if some of what was asked about is not memorized yet, otherwise ""."""
    if seconds_lacking(asked, search):
        return say("so_far", asked.language)
    waiting = [c for c in search.waiting_clips() if _known(c.id, before)]
    scopes = _scopes(asked, search)
    asked_about = any(c.source == s and (a is None or c.end > a) and (b is None or c.start < b) for s, a, b in scopes for c in waiting)
    return say("so_far", asked.language) if asked_about else ""


def seconds_lacking(asked: ParsedQuestion, search: Search) -> int:
    """Return how many of the last seconds of a live source are not memorized, 0 if the question is not about them."""
    lacks = search.unmemorized
    scopes = _scopes(asked, search)
    if lacks is None or not any(s == lacks.source and (a or 0) < lacks.end and (b is None or b > lacks.start) for s, a, b in scopes):
        return 0
    return round((lacks.end - lacks.start) / MICROSECOND)


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


def _most(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer who is seen or heard longest; of a main person both is told, because the memory knows no other measure."""
    compared = _names(asked, search)
    if beyond(asked, search) or len(compared) == 1:
        return None
    speaking, seeing = _senses(asked)
    there, parts = presences(asked, search, before), []
    for key, wanted, seen in (("seen_most", seeing, True), ("heard_most", speaking, False)):
        if not wanted and speaking != seeing:
            continue
        most = [told for told in _longest(asked, search, there, seen) if not compared or told[0] in compared]
        items = [
            Part(say("so_long", asked.language, who=name, time=_lasting(time, asked.language)), _longest_stay(name, moments, asked, search))
            for name, time, moments in most[:MOST_NAMED]
        ]
        if items:
            lead = say(key if len(items) > 1 else f"{key}_one", asked.language, so_far=so_far_of(asked, search, before))
            parts += [Part(lead), *listed(items, asked.language), Part("。" if asked.language == "zh" else ". ")]
        if lacking := [name for name in compared if name not in {told[0] for told in most}]:
            so_far = so_far_of(asked, search, before)
            parts.append(
                Part(say("never_seen" if seen else "never_heard", asked.language, who=_joining(lacking, asked.language), so_far=so_far))
            )
            if not seen:
                theirs = tuple(p.id for p in search.people if p.shown in lacking)
                parts += _may_be_theirs(replace(asked, people=theirs), search, before)
    if not parts:
        return people_answer(replace(asked, order=None), search, before, spoken=speaking and not seeing)
    return Answer(tuple(parts))


def _longest(asked: ParsedQuestion, search: Search, there: dict[str, PersonPresence], seen: bool) -> list[tuple[str, int, list[CitedSpan]]]:
    """Return who is seen, or heard, for how many microseconds, and when; the longest first. One name is one person."""
    moments: dict[str, list[CitedSpan]] = defaultdict(list)
    counted: dict[str, int] = defaultdict(int)
    for p in search.people:
        presence = there.get(p.id, PersonPresence())
        moments[p.shown] += presence.seen if seen else [m for m, _ in presence.heard]
        if not asked.spans and not p.ignored:
            counted[p.shown] += p.screen_time if seen else p.speech_time
    times = ((name, _length_of(mine, asked) or counted[name], mine) for name, mine in moments.items())
    return sorted((told for told in times if told[1]), key=lambda x: -x[1])


def _longest_stay(name: str, moments: Sequence[CitedSpan], asked: ParsedQuestion, search: Search) -> tuple[CitedSpan, ...]:
    """Return somebody's longest stay, the first of equals; where none is known the first sentence that tells of them."""
    if moments:
        return (min(_stays(sorted(moments, key=lambda m: (m.source, m.start))), key=lambda m: m.start - m.end),)
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


def _lasting(time: int, language: str) -> str:
    """Return "12 s" or "2 min 5 s"; what is there lasts for at least a second."""
    whole = max(1, round(time / MICROSECOND))
    minutes, rest = divmod(whole, 60)
    return say("time_minutes", language, m=minutes, n=rest) if whole >= 120 else say("time", language, n=whole)


def _how_long(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer for how long the people of a question are seen and heard, or how long the sources are."""
    language, so_far = asked.language, so_far_of(asked, search, before)
    if beyond(asked, search):
        return _when(asked, search, before)
    if not asked.people and any(_senses(asked)):
        return _most(asked, search, before)
    if not asked.people:
        ends = [(s, clip) for s in search.sources if (clip := search.clip_at(s.id, 0)) is not None and s.duration]
        if asked.spans or before is not None or not ends:
            return None
        film = say("film", language)
        told = [
            (say("lasts", language, what=s.id if len(ends) > 1 else film, time=_lasting(d, language), so_far=so_far), clip, d)
            for s, clip in ends
            if (d := s.duration or 0)
        ]
        return Answer(tuple(Part(text, (CitedSpan(clip.id, clip.source, 0, d),)) for text, clip, d in told))
    there, (speaking, seeing) = presences(asked, search, before), _senses(asked)
    parts = []
    for key, wanted, seen in (("is_seen_for", seeing, True), ("speaks_for", speaking, False)):
        if wanted or speaking == seeing:
            times = {name: (time, moments) for name, time, moments in _longest(asked, search, there, seen)}
            for name in _names(asked, search):
                if name in times:
                    text = say(key, language, who=name, time=_lasting(times[name][0], language), so_far=so_far)
                    parts.append(Part(text, _longest_stay(name, times[name][1], asked, search)))
    return Answer(tuple(parts)) if parts else Answer((Part(say("absent", language)),), found=False)


def _senses(asked: ParsedQuestion) -> tuple[bool, bool]:
    """Return whether a question is about speaking, and whether about being seen."""
    plain = asked.plain.lower()
    speaking = any(w in plain for w in ("speak", "talk", "say", "said", "spoke", "heard", "voice", "说", "讲", "话", "发言", "声音", "听"))
    seeing = any(
        w in plain for w in ("seen", "appear", "visible", "view", "shown", "screen", "camera", "face", "出现", "出镜", "镜头", "画面")
    )
    return speaking, seeing


def _next(asked: ParsedQuestion, search: Search, there: dict[str, PersonPresence], spoken: bool, so_far: str) -> Answer:
    """Answer who speaks or comes into view next: rather somebody else than who spoke just before."""
    shown, after = {p.id: p.shown for p in search.people}, asked.spans[0].start if asked.spans else 0
    if spoken:
        said = sorted(((m, w, p) for p, t in there.items() for m, w in t.heard if m.end > after), key=lambda x: (x[0].source, x[0].start))
        until = [(o.end, o.person) for t in asked.spans for o in search.evidence.heard.get(t.source, ()) if o.start < after]
        last = max(until)[1] if until else NOBODY
        moment, words, person = next((x for x in said if x[2] != last), said[0])
        return Answer((Part(say("speaks_next", asked.language, who=shown[person], words=words, so_far=so_far), (moment,)),))
    stays = [(m, p) for p, t in presences(replace(asked, spans=()), search, None).items() for m in _stays(t.seen) if p in there]
    come = [(m, p) for m, p in stays if m.start >= after and (not asked.spans or m.source == asked.spans[0].source)]
    if not come:
        return Answer((Part(say("nobody_new", asked.language, so_far=so_far)),), found=False)
    moment, person = min(come, key=lambda x: (x[0].source, x[0].start))
    return Answer((Part(say("seen_next", asked.language, who=shown[person], so_far=so_far), (moment,)),))


def _heard_beside(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer:
    """Answer who speaks right before or after each time that somebody speaks; a voice of nobody known is somebody, too."""
    shown = {p.id: p.shown for p in search.people} | {NOBODY: say("somebody", asked.language).lower()}
    whose = set(_names(asked, search))
    whom, so_far = _joining(_names(asked, search), asked.language), so_far_of(asked, search, before)
    said = [(m, w, p) for p, t in presences(asked, search, before).items() for m, w in t.heard] + list(_unattributed(asked, search, before))
    said.sort(key=lambda x: (x[0].source, x[0].start))
    step = -1 if asked.beside == "before" else 1
    parts: list[Part] = []
    alone: CitedSpan | None = None
    for at, (moment, _, person) in enumerate(said):
        if shown[person] not in whose:
            continue
        other = said[at + step] if 0 <= at + step < len(said) and said[at + step][0].source == moment.source else None
        if other is not None and shown[other[2]] in whose:
            continue
        if other is None:
            alone = moment
            continue
        key, when = f"speaks_{asked.beside}", clock(moment.start)
        parts.append(Part(say(key, asked.language, whom=whom, at=when, who=shown[other[2]], words=other[1], so_far=so_far), (other[0],)))
    if parts:
        if asked.order:
            parts = parts[:1] if asked.order == "first" else parts[-1:]
        more = [Part(say("more_said", asked.language, n=len(parts) - MOST_BESIDE))] if len(parts) > MOST_BESIDE else []
        return Answer((*parts[:MOST_BESIDE], *more))
    if alone is not None:
        return Answer((Part(say(f"nobody_speaks_{asked.beside}", asked.language, whom=whom, at=clock(alone.start)), (alone,)),))
    return Answer((Part(say("says_nothing", asked.language, who=whom, so_far=so_far)),), found=False)


def _quoted_beside(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
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
        whom = _joining(_names(asked, search), asked.language)
        text = say(f"nobody_speaks_{asked.beside}", asked.language, whom=whom, at=clock(own.start))
        return Answer((Part(text, (moment_of(own),)),))
    return Answer((Part(_ended(near.shown, asked.language), (moment_of(near),)),))


def _seen_beside(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer:
    """Answer who comes into view right before or after somebody does for the first time, or the last if that is asked for."""
    language, shown = asked.language, {p.id: p.shown for p in search.people}
    whose, whom = set(_names(asked, search)), _joining(_names(asked, search), asked.language)
    stays = [(m, shown[p]) for p, t in presences(asked, search, before).items() for m in _stays(t.seen)]
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


def _joining(names: Sequence[str], language: str) -> str:
    return "".join(p.text for p in listed([Part(name) for name in names], language))


def _who_is(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer what is known of each person whom the question names (a face and a voice of one name are one)."""
    people = {name: [p for p in search.people if p.id in asked.people and p.shown == name] for name in _names(asked, search)}
    parts = [part for same in list(people.values())[:MOST_SAYINGS] for part in _about(same, asked, search, before)]
    if not people:
        return None
    return Answer(tuple(parts)) if parts else Answer((Part(say("absent", asked.language)),), found=False)


def _names(asked: ParsedQuestion, search: Search) -> list[str]:
    """Return the names of the people whom a question names, in its order, each once."""
    shown = {p.id: p.shown for p in search.people}
    return list(dict.fromkeys(shown[p] for p in asked.people if p in shown))


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
        stays = _stays(there.seen)
        parts.append(Part(say("is_seen" if len(stays) > 1 else "is_seen_one", language, who=person.shown, n=len(stays)), tuple(stays[:3])))
    for moment, words, _ in _joined([(m, w, person.id) for m, w in there.heard])[:1]:
        parts.append(Part(say("says", language, who=person.shown, words=words), (moment,)))
    ids, captions = {p.id for p in people}, [name.words for p in people for name in p.suggested_names if name.words]
    known = [s for s in search.known_of(ids, before, 3) if not any(f"“{words}”" in s.shown for words in captions)]  # that is told
    return [*parts, *(Part(_ended(s.shown, language), (moment_of(s),)) for s in known)]


_NAME_SHOWN = re.compile(r"\bnames?\b|\bcaptions?\b|名字|字幕", re.IGNORECASE)


def _job(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer what somebody does by how they are introduced: a caption often says it."""
    there = presences(asked, search, before)
    people = [p for p in search.people if p.id in asked.people]
    parts = [part for p in people for part in _introduced([p], search, there.get(p.id, PersonPresence()), asked.language, before)]
    return Answer(tuple(parts)) if parts else None


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
    if _wordless(search):
        return None if beyond(asked, search) else _quoting_speech(asked, search, before)
    if beyond(asked, search):
        people = in_role(asked, search, before)
        if not people:
            who = " / ".join(_names(replace(asked, people=asked.speakers), search))
            if not who or _said(asked, search, before):
                return None
            text = say("says_nothing", asked.language, who=who, so_far=so_far_of(asked, search, before))
            return Answer((Part(text), *_may_be_theirs(asked, search, before)), found=False)
        asked = replace(asked, people=people)
    language, shown = asked.language, _shown(asked, search)
    said = _said(asked, search, before)
    if not said:
        who, so_far = " / ".join(shown[p] for p in asked.speakers), so_far_of(asked, search, before)
        text = say("says_nothing" if who else "nobody_heard", language, who=who, so_far=so_far)
        return Answer((Part(text), *_may_be_theirs(asked, search, before)), found=False)
    parts: list[Part] = []
    if asked.about:
        if any(map(_known_names, _people_of(asked.about, search))):
            return _told_of(asked, search, before, _naming(asked.about, said, search))
        parts.append(Part(say("nameless", language, whom=_joining([shown[p] for p in asked.about], language))))
    if asked.to:
        parts.append(Part(say("to_whom", language)))
    if asked.order:
        said = said[:1] if asked.order == "first" else said[-1:]
    return Answer((*parts, *_sayings(_joined(said), shown, language)))


def _shown(asked: ParsedQuestion, search: Search) -> dict[str, str]:
    """Return what people are called, whoever is not known included."""
    return {p.id: p.shown for p in search.people} | {NOBODY: say("somebody", asked.language)}


def _said(asked: ParsedQuestion, search: Search, before: Before | None) -> list[Spoken]:
    """Return in order what is said by those whose words a question is about, by everybody if it names none."""
    speakers, there = asked.speakers, presences(asked, search, before)
    said = [(m, w, p) for p, t in there.items() if not speakers or p in speakers for m, w in t.heard]
    if not speakers:
        said += _unattributed(asked, search, before)
        said = [x for x in said if x[2] not in asked.to] or said  # nobody speaks to themselves
    return sorted(said, key=lambda x: (x[0].source, x[0].start))


def _people_of(ids: Sequence[str], search: Search) -> list[Person]:
    return [p for p in search.people if p.id in ids]


def _known_names(person: Person) -> list[str]:
    """Return the names by which others may speak of somebody: no ids of who was merged with them."""
    return [n for n in names_of(person) if not n.startswith("person_")]


def _naming(about: Sequence[str], said: Sequence[Spoken], search: Search) -> list[Spoken]:
    """Return of what is said that in which one of some people is named."""
    finder = NameFinder.of(_people_of(about, search))
    return [x for x in said if named_in(x[1], finder)]


def _told_of(asked: ParsedQuestion, search: Search, before: Before | None, said: Sequence[Spoken]) -> Answer:
    """Return what is said about people whom a question names; that nobody names them if nobody does."""
    language, shown = asked.language, _shown(asked, search)
    if said:
        if asked.order:
            said = said[:1] if asked.order == "first" else said[-1:]
        return Answer(tuple(_sayings(_joined(said), shown, language)))
    who, whom = " / ".join(shown[p] for p in asked.speakers), _joining([shown[p] for p in asked.about], language)
    key, so_far = "names_nobody" if who else "nobody_names", so_far_of(asked, search, before)
    return Answer((Part(say(key, language, who=who, whom=whom, so_far=so_far)),), found=False)


def _asks(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    """Answer who asks a question, and which: speech that the transcript ends with a question mark."""
    if beyond(asked, search):
        return None
    if _wordless(search):
        return _quoting_speech(asked, search, before)
    language, shown = asked.language, _shown(asked, search)
    questions = [x for x in _said(asked, search, before) if "?" in x[1] or "？" in x[1]]
    if asked.follows:
        questions = [x for x in questions if not any(x[0].source == t.source and x[0].start < t.start for t in asked.spans)]
    so_far = so_far_of(asked, search, before)
    if not questions:
        who = " / ".join(shown[p] for p in asked.speakers)
        text = say("no_question" if who else "no_question_at_all", language, who=who, so_far=so_far)
        return Answer((Part(text), *_may_be_theirs(asked, search, before)), found=False)
    parts: list[Part] = []
    if asked.to:
        parts.append(Part(say("to_whom", language)))
    if asked.order or asked.follows:
        questions = questions[-1:] if asked.order == "last" else questions[:1]
    else:
        count = sum(len(re.findall(r"[?？]+", words)) for _, words, _ in questions)
        n = NUMBERS[language].get(count, str(count))
        parts.append(Part(say("questions" if count > 1 else "questions_one", language, n=n, so_far=so_far)))
    parts += [Part(say("asks", language, who=shown[p], words=words), (m,)) for m, words, p in questions[:MOST_SAYINGS]]
    if len(questions) > MOST_SAYINGS:
        parts.append(Part(say("more_said", language, n=len(questions) - MOST_SAYINGS)))
    return Answer(tuple(parts))


def _sayings(said: Sequence[Spoken], shown: dict[str, str], language: str) -> list[Part]:
    """Return what is said as parts of an answer."""
    parts, last = [], NOBODY
    for moment, words, person in said[:MOST_SAYINGS]:
        key = "goes_on" if person == last != NOBODY else "says"
        parts.append(Part(say(key, language, who=shown[person], words=words), (moment,)))
        last = person
    if len(said) > MOST_SAYINGS:
        parts.append(Part(say("more_said", language, n=len(said) - MOST_SAYINGS)))
    return parts


Spoken = tuple[CitedSpan, str, str]
"""When, the words, the person."""


def _unattributed(asked: ParsedQuestion, search: Search, before: Before | None) -> Iterable[Spoken]:
    """Return what is said of which nobody knows who says it."""
    told = (s for s in search.unattributed(asked.spans, before) if s.quoted)
    return [(moment_of(s), " ".join(s.text[a:b] for a, b in s.quoted), NOBODY) for s in told]


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
        if asked.about and not _wordless(search) and any(map(_known_names, _people_of(asked.about, search))):
            return _told_of(asked, search, before, _naming(asked.about, _said(asked, search, before), search))
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
    if asked.about and not _wordless(search) and any(map(_known_names, _people_of(asked.about, search))):
        return _told_of(asked, search, before, _naming(asked.about, _said(asked, search, before), search))
    if _NAME_SHOWN.search(asked.plain):
        return _job(asked, search, before)  # by what introduces them
    there, parts = presences(asked, search, before), []
    shown = {p.id: p.shown for p in search.people}
    speaking = any(w in asked.plain.lower() for w in ("speak", "say", "talk", "说", "讲"))
    if speaking and _wordless(search):
        return _quoting_speech(asked, search, before)
    for person in asked.people:
        presence = there.get(person, PersonPresence())
        moments = _stays([m for m, _ in presence.heard] if speaking or not presence.seen else presence.seen)
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
    return Answer(tuple(Part(_ended(h.sentence.shown, language), (moment_of(h.sentence),)) for h in hits))


# ---------------------------------------------------------------- what is on the screen


def _on_screen(asked: ParsedQuestion, search: Search, before: Before | None) -> Answer | None:
    if beyond(asked, search):
        return None
    told, kind = search.known.texts, kind_asked(asked.plain)
    found: dict[str, Part] = {}
    for source, start, end in _scopes(asked, search):
        for t in search.reader.texts(source, start, end):
            key = "".join(c for c in t.text.casefold() if c.isalnum())
            if key and _known(t.clip, before):
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
    for source, start, end in _scopes(asked, search):
        seen = search.reader.objects(source, start, end)
        kept = [o for o in seen if o.label != "person" and not of_a_person(o.label) and _known(o.clip, before)]
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
    if text.endswith((".", "!", "?", "。", "！", "？", "”", "…", ".'", "!'", "?'", '."', '!"', '?"')):
        return text + ("" if language == "zh" else " ")
    return text + ("。" if language == "zh" else ". ")


_KINDS: dict[str, Callable[[ParsedQuestion, Search, Before | None], Answer | None]] = {
    "who": _who,
    "who_speaks": _who_speaks,
    "who_says": _who_says,
    "who_is": _who_is,
    "asks": _asks,
    "job": _job,
    "count": _count,
    "says": _says,
    "when": _when,
    "on_screen": _on_screen,
    "objects": _objects,
    "most": _most,
    "how_long": _how_long,
}
