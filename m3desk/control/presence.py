"""When people are seen and heard, in the times that a question is about, and what else the answers of fact share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from m3desk.control.citing import CitedSpan, Part, listed, moment_of
from m3desk.control.query import ParsedQuestion
from m3desk.control.search import Before, Search
from m3desk.control.times import FOREVER
from m3desk.control.wording import ASKING, say
from m3desk.domain.clear_speech import is_marked
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.ids import clip_index
from m3desk.domain.people import Observed

MOST_SAYINGS = 6

NOBODY = ""
"""Stands for the person where nobody knows who spoke."""

LONGEST = 400
"""Letters of one quoted speech."""

GAP = 2 * MICROSECOND
"""Views of a person closer than this are one stay (a face is lost for a moment when a head turns)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A composed answer. `found`: False if the memory holds nothing of what was asked for."""

    parts: tuple[Part, ...]
    found: bool = True


class Heard(NamedTuple):
    """When something is said, the words, and whether they are not heard clearly."""

    moment: CitedSpan
    words: str
    unclear: bool = False


@dataclass(slots=True)
class PersonPresence:
    """When a person is seen and heard, in time order, and what they say."""

    seen: list[CitedSpan] = field(default_factory=list)
    heard: list[Heard] = field(default_factory=list)


def beyond(asked: ParsedQuestion, search: Search) -> list[str]:
    """Return the significant words of a question that its kind of answer doesn't cover."""
    extra = ASKING.get(asked.intent or "", frozenset())
    return [w for w in search.telling(asked.plain) if w not in extra]


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
    for source, start, end in scopes_of(asked, search):
        for o in _touching(evidence.seen.get(source, ()), start, end):
            if o.person in known and is_known(o.clip, before):
                found.setdefault(o.person, PersonPresence()).seen.append(CitedSpan(o.clip, source, o.start, o.end, o.node))
        for o in _touching(evidence.heard.get(source, ()), start, end):
            if o.person in known and is_known(o.clip, before):
                moment = CitedSpan(o.clip, source, o.start, o.end, told.get(o.id, o.node))
                found.setdefault(o.person, PersonPresence()).heard.append(Heard(moment, (o.words or "").strip(), o.unclear))
    for presence in found.values():
        presence.seen.sort(key=lambda m: (m.source, m.start))
        presence.heard.sort(key=lambda h: (h.moment.source, h.moment.start))
    return dict(sorted(found.items(), key=lambda item: _first(item[1])))


def _touching(observed: Sequence[Observed], start: int | None, end: int | None) -> Iterable[Observed]:
    """Return the items that overlap [start, end), in microseconds; None: unbounded."""
    if start is None and end is None:
        return observed
    return [o for o in observed if (start is None or o.end > start) and (end is None or o.start < end)]


def wordless(search: Search) -> bool:
    """Return whether there are voices, but no words of any: an imported graph tells who speaks in its sentences alone."""
    return any(p.voices for p in search.people) and not any(search.evidence.heard.values())


def so_far_of(asked: ParsedQuestion, search: Search, before: Before | None) -> str:
    """Return "so far" if some of what was asked about is not memorized yet, otherwise ""."""
    if seconds_lacking(asked, search):
        return say("so_far", asked.language)
    waiting = [c for c in search.waiting_clips() if is_known(c.id, before)]
    scopes = scopes_of(asked, search)
    asked_about = any(c.source == s and (a is None or c.end > a) and (b is None or c.start < b) for s, a, b in scopes for c in waiting)
    return say("so_far", asked.language) if asked_about else ""


def seconds_lacking(asked: ParsedQuestion, search: Search) -> int:
    """Return how many of the last seconds of a live source are not memorized, 0 if the question is not about them."""
    lacks = search.unmemorized
    scopes = scopes_of(asked, search)
    if lacks is None or not any(s == lacks.source and (a or 0) < lacks.end and (b is None or b > lacks.start) for s, a, b in scopes):
        return 0
    return round((lacks.end - lacks.start) / MICROSECOND)


def senses(asked: ParsedQuestion) -> tuple[bool, bool]:
    """Return whether a question is about speaking, and whether about being seen."""
    plain = asked.plain.lower()
    speaking = any(w in plain for w in ("speak", "talk", "say", "said", "spoke", "heard", "voice", "说", "讲", "话", "发言", "声音", "听"))
    seeing = any(
        w in plain for w in ("seen", "appear", "visible", "view", "shown", "screen", "camera", "face", "出现", "出镜", "镜头", "画面")
    )
    return speaking, seeing


def joining(names: Sequence[str], language: str) -> str:
    """Return names as a list in words: “Ann, Bob and Carl”."""
    return "".join(p.text for p in listed([Part(name) for name in names], language))


def names_asked(asked: ParsedQuestion, search: Search) -> list[str]:
    """Return the names of the people whom a question names, in its order, each once."""
    shown = {p.id: p.shown for p in search.people}
    return list(dict.fromkeys(shown[p] for p in asked.people if p in shown))


def names_shown(asked: ParsedQuestion, search: Search) -> dict[str, str]:
    """Return what people are called, whoever is not known included."""
    return {p.id: p.shown for p in search.people} | {NOBODY: say("somebody", asked.language)}


class Spoken(NamedTuple):
    """When something is said, the words, the person, and whether the words are not heard clearly."""

    moment: CitedSpan
    words: str
    person: str
    unclear: bool = False


def spoken_by(there: Mapping[str, PersonPresence], people: Collection[str] = ()) -> list[Spoken]:
    """Return what is said by some people, by all without any; in no order."""
    return [Spoken(h.moment, h.words, p, h.unclear) for p, t in there.items() if not people or p in people for h in t.heard]


def quote(key: str, spoken: Spoken, language: str, **words: str) -> list[Part]:
    """Return the parts of an answer that quote somebody by the text `key`; that it is not heard clearly, too."""
    told = [Part(say(key, language, words=spoken.words, **words), (spoken.moment,))]
    return [*told, Part(say("unclear", language))] if spoken.unclear else told


def unattributed(asked: ParsedQuestion, search: Search, before: Before | None) -> Iterable[Spoken]:
    """Return what is said of which nobody knows who says it."""
    told = (s for s in search.unattributed(asked.spans, before) if s.quoted)
    return [Spoken(moment_of(s), " ".join(s.text[a:b] for a, b in s.quoted), NOBODY, is_marked(s.text, s.quoted)) for s in told]


def joined_speech(said: Sequence[Spoken]) -> list[Spoken]:
    """Merge utterances of one person that follow each other closely, all heard clearly or none."""
    joined: list[Spoken] = []
    for moment, words, person, unclear in said:
        if joined:
            before, said_before, who, unclear_before = joined[-1]
            near = before.source == moment.source and moment.start - before.end < GAP and len(said_before) + len(words) <= LONGEST
            if who == person != NOBODY and near and unclear == unclear_before:
                gap = "" if said_before[-1:] > "\u2e80" else " "
                whole = CitedSpan(before.clip, before.source, before.start, max(before.end, moment.end), before.node)
                joined[-1] = Spoken(whole, f"{said_before}{gap}{words}", person, unclear)
                continue
        joined.append(Spoken(moment, words, person, unclear))
    return joined


def scopes_of(asked: ParsedQuestion, search: Search) -> Iterable[tuple[str, int | None, int | None]]:
    """Return (source, start, end) of the times asked for; None: unbounded."""
    if asked.spans:
        return [(s.source, s.start, min(s.end, FOREVER)) for s in asked.spans]
    return [(s.id, None, None) for s in search.sources]


def is_known(clip: str, before: Before | None) -> bool:
    """Return whether a clip lies within what was known by another clip (`before`; None: all)."""
    if before is None or not clip.startswith(before[0] + "."):
        return True
    return clip_index(clip) <= before[1]


def _first(presence: PersonPresence) -> tuple[str, int]:
    moments = [*presence.seen[:1], *(h.moment for h in presence.heard[:1])]
    return min((m.source, m.start) for m in moments)


def stays_of(moments: Sequence[CitedSpan]) -> list[CitedSpan]:
    """Merge moments that follow each other within GAP, also across clip borders."""
    stays: list[CitedSpan] = []
    for m in moments:
        last = stays[-1] if stays else None
        if last and last.source == m.source and m.start - last.end <= GAP:
            stays[-1] = CitedSpan(last.clip, last.source, last.start, max(last.end, m.end), last.node)
        else:
            stays.append(m)
    return stays


def ended(text: str, language: str) -> str:
    """Return a sentence with a full stop, unless it ends with a mark, and a space where the language has one."""
    text = text.strip()
    if text.endswith((".", "!", "?", "。", "！", "？", "”", "…", ".'", "!'", "?'", '."', '!"', '?"')):
        return text + ("" if language == "zh" else " ")
    return text + ("。" if language == "zh" else ". ")
