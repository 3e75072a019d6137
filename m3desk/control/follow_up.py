"""Reads a follow-up: "then" is what follows the moment that the last answer cites, "she" whom it names, "they" these or things asked of.

Pure text: whoever is meant is put into the question as `person_3`, which `control.query` reads. What was read so is told with the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from m3desk.control.query import LONGEST, QUOTED, NameFinder, Note, ParsedQuestion, named_in, read
from m3desk.control.times import FOREVER, TimeSpan, read_times
from m3desk.control.wording import say
from m3desk.domain.basis import names
from m3desk.domain.clip import MICROSECOND, Source, clock
from m3desk.domain.ids import person_id
from m3desk.domain.people import Person

Chat = Mapping[str, Any]
"""A question with its answer, as a memory stores it (`loop.as_chat`)."""

_AFTER = re.compile(
    r"\b(?<!by )(?<!since )(?<!until )(?<!till )(?<!back )(?<!even )(?<!now and )(?:then|afterwards?|thereafter)\b"
    r"|(?<!looks )(?<!look )(?<!looked )(?<!looking )(?<!runs )(?<!run )(?<!ran )(?<!running )(?<!named )(?<!called )"
    r"\bafter (?:that|this|him|her|them)\b(?! \w*ing\b)|\bnext(?=\W*$)"
    r"|\b(?:happens?|happened|comes?|came|speaks?|spoke|says?|said) (?P<next>next)\b(?! (?:to|after|before)\b)"
    r"|然后|接着|接下来|随后|后来|在?[那这此]之?后(?![面方边])|[那这]以后|(?<![^\s，,。；;她他们谁])之后",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\bbefore (?:that|this|then|him|her|them)\b|在?[那这此]之?前(?![面方边])|(?<![^\s，,。；;她他们谁])之前", re.IGNORECASE
)
_MEANWHILE = re.compile(
    r"\bat (?:that|the (?P<same>same)) (?:moment|time|point)\b(?! as\b)|[那当]时候?(?!间)|那个时候|与此同时|(?P<also>同时)",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:how many|two|three|both|several|people|persons|anybody|anyone|together)\b|[两三]个|几个|多少|[和跟与]", re.IGNORECASE
)
"""Of whom, "at the same time" is at one time."""
_SOMEBODY = re.compile(
    r"\b(?:she|he|they|her|him|them|his|their|hers|theirs|(?:this|that|the same) (?:person|man|woman|speaker)|these people|those people)\b"
    r"|(?<=\bwho is )(?:that|this)(?=\W*$)|(?<=\bwho's )(?:that|this)(?=\W*$)"
    r"|[这那]个?(?:人(?![们工])|男人|女人)|(?<![其吉])[她他]们?|(?<![A-Za-z])TA(?=[\u4e00-\u9fff])",
    re.IGNORECASE,
)
_OBJECT = re.compile(
    r"\b(?:about|of|to|with|at|for|from|by|against|tell|tells|told|ask|asks|asked|mentions?|mentioned|meets?|met|sees?|saw|knows?|knew) "
    r"(?P<a>him|them|her(?!,? (?!(?:at|in|on|after|before|then|to|when|while|during|first|last|and|or|again|now|here|there)\b)\w))\b"
    r"|(?:[对跟向同和与]|关于|[谈说提讲问][到起及了]?|评价)(?P<b>[她他]们?)(?!的)",
    re.IGNORECASE,
)
"""Who is somebody else than the person named before it: "what does Ann say about her", not "about her mug"."""
_SUBJECT = re.compile(r"\b(?:do|does|did|has|have|is|was|are|were) (?P<a>she|he|they)\b|^\W*(?P<b>[她他]们?)", re.IGNORECASE)
"""Who is somebody else than a person named after it."""
_CLAUSE = r"\b(?:who|that|which|when|while|after|before|until|because|if|as)\b"
"""What begins a clause, which has a subject of its own."""
_OWN = re.compile(r"\b(?:brings?|brought|takes?|took|carry|carries|carried|has|have|had|keeps?|kept)\b.* with $", re.IGNORECASE)
"""After which "her" is the subject itself: "what does Ann bring with her"."""
_OF_SUBJECT = re.compile(
    rf"^\W*(?:(?:and|so) )?(?:who|which)\b.*\b(?:and|or|but|then)\b|^[^\w]*谁|(?<=\w )(?<!\band )(?<!\bso ){_CLAUSE}|的时候|[，,]",
    re.IGNORECASE,
)
"""Where somebody is named and is not the subject of what follows, which may speak of them: "who sits by Ann and talks to her"."""
_NO_THINGS = r"(?!(?:people|persons|men|women|children|guys|girls|boys|speakers|voices|faces|others?)\b)"
_AFTER_THINGS = r"(?:are|were|do|did|have|in|on|at|of|from|to|with|near|beside|under|behind|lie|stand|come|go|there|left|kept|seen|shown)"
_THING = re.compile(
    r"\b(?:where|what|which|how|when|why|are there|is there|who|do|does|did|can)\b.*?"
    r"\b(?:the|any|some|those|these|many|which|what|his|her|their)"
    rf" (?P<things>(?:(?!{_CLAUSE})\w+[ -]){{0,2}}?{_NO_THINGS}\w{{2,}}[^s\W]s)\b(?= ?(?:$|\W|{_AFTER_THINGS}\b))",
    re.IGNORECASE,
)
"""Things of which a question asks: "where are the boxes"; plurals without an s are not found."""
_THEY = frozenset(("they", "them", "their", "theirs"))
_ORDER = re.compile(r"\b(?:first|earliest|initially|last|latest|finally)\b|最先|最早|首先|第一次|最后", re.IGNORECASE)
_ELSE = re.compile(
    r"(?<=\bwho )else\b|(?<=\bwhich )other(?= (?:people|persons|speakers|voices|faces)\b)|还(?=有(?:谁|哪些人|什么人)|看到了?谁)",
    re.IGNORECASE,
)
_THEMSELVES = re.compile(
    r"\b(?:the|an?|any|some|every|each|which|other) (?:\w+ )?(?:(?P<he>man|boy|guy|gentleman)|(?P<she>woman|girl|lady))\b"
    r"|\b(?P<any>(?<!this )(?<!that )(?<!same )(?:person|speaker|child))\b"
    r"|\b(?P<they>(?<!these )(?<!those )people|(?<!these )(?<!those )persons|men|women|children|everybody|everyone)\b"
    r"|^(?P<who>who|whose)\b(?=.* (?:his|her|their) (?:own|hands?|arms?|head|eyes|hair|hat|coat|jacket|glasses|legs?|mouth)\b)",
    re.IGNORECASE,
)
"""Whom "his" and "she" mean if they stand before it in the same question."""
_THEIRS = {
    "he": frozenset(("he", "his")),
    "she": frozenset(("she", "her")),
    "any": frozenset(("he", "she", "his", "her", "they", "their")),
    "they": frozenset(("they", "their")),
    "who": frozenset(("his", "her", "their")),
}
_JOINED = re.compile(r"\w\W+and\W+$|先(?!生)[^，,。；;]*$", re.IGNORECASE)
"""What stands before a "then" that joins two deeds of one question: "comes in and then sits down"."""
_TOLD = re.compile(r"(?:\n\([^\n]*\))+\s*$")
"""What an answer tells of how its question was read (`loop.answer`)."""
_OWNING = frozenset(("his", "their", "hers", "theirs"))
_EVERYBODY = frozenset(("they", "them", "their", "theirs", "他们", "她们"))
"""Who, if nobody is named before, are everybody anyway."""
_FILLING = re.compile(r"^(?:\W|\b(?:and|so|but|ok|okay|well|what)\b|[那还有又再呢吗吧后])*$", re.IGNORECASE)
_LEADING = re.compile(r"^\W*(?:and\W+|but\W+|so\W+)?(?:then|afterwards?|after (?:that|this)|然后|接着|之后)", re.IGNORECASE)
_OF_PEOPLE = ("says", "asks", "who", "who_is", "who_speaks", "who_says", "most", "count")
"""Kinds of question in which "they" are people."""
_GOES_ON = ("says", "who_speaks", "who", "summary", "on_screen", "objects")
"""Kinds of question that a bare "and then?" asks again, for what follows."""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A follow-up put so that it stands alone. `span`: the time it is about. `follows`: what comes first in that time is asked for.

    `without`: persons that it leaves out. `instead`: what to ask of that time if the question, which repeats an earlier one, finds nothing.
    """

    question: str
    span: TimeSpan | None = None
    follows: bool = False
    notes: tuple[Note, ...] = ()
    instead: FollowUp | None = None
    without: tuple[str, ...] = ()


def refers_back(question: str) -> bool:
    """Return whether a question speaks of what an earlier answer told."""
    text = _unquoted(question)
    return any(p.search(text) for p in (_AFTER, _BEFORE, _MEANWHILE, _ELSE)) or _somebody(text) is not None


def _somebody(text: str) -> re.Match[str] | None:
    """Return the first word that means a person of the last answer, not one of the same question: "a man with his dog" means none."""
    return next((m for m in _SOMEBODY.finditer(text) if not _means_own(text, m)), None)


def _means_own(text: str, word: re.Match[str]) -> bool:
    owners = (m.lastgroup for m in _THEMSELVES.finditer(text) if m.start() < word.start())
    return any(word.group().lower() in _THEIRS[owner] for owner in owners if owner) and re.match(r" \w", text[word.end() :]) is not None


def follow_up(question: str, chats: Sequence[Chat], people: Sequence[Person], sources: Sequence[Source], finder: NameFinder) -> FollowUp:
    """Put a question that refers back so that it stands alone. `chats`: what was asked before, the oldest first."""
    text = " ".join(question.split())
    asked = read(text, people, sources, names=finder)
    language, notes = asked.language, []
    span, follows = None, False
    found = None if asked.spans or asked.clips else _time(text, len(asked.people))
    if found is not None and not _LEADING.match(text) and read(found[2], people, sources, names=finder).intent == "who_says":
        found = None  # the word may be one of those that were said
    named = _put_in(found[2], [person_id(people[0].number)], language) if found is not None and people else text
    if found is not None and found[0].lower() == "then" and read(named, people, sources, names=finder).intent == "who_is":
        text, found = found[2], None  # "then who is Bob?" asks of no time
    bare = found is not None and bool(_FILLING.match(found[2]))
    if found is not None:
        word, kind, rest = found
        moment = _moment(chats, sources)
        follows = kind == "after"
        if moment is None:
            notes.append(say("no_moment", language, word=_quoting(word, language)))
        else:
            span = _around(moment, kind)
            at = clock(moment.end if follows else moment.start) + (f" ({moment.source})" if len(sources) > 1 else "")
            notes.append(say(f"meant_{kind}", language, word=_quoting(word, language), at=at))
        text = _again(chats, people, sources, finder, language) if bare else rest
    whom = _somebody(_unquoted(text))
    things = _things(chats) if whom is not None and whom.group().lower() in _THEY and asked.intent not in _OF_PEOPLE else ""
    if asked.people:
        text, piece = _other(text, asked, chats, people, finder, language)
        notes += piece
    elif whom is not None and things:
        text = _put_things(text, things)
        notes.append(say("meant_things", language, word=_quoting(whom.group(), language), what=things))
    elif whom is not None and asked.intent != "who_says":
        meant = _people(chats, people, finder)
        if meant:
            called = list(dict.fromkeys(p.shown for p in meant))
            text = _put_in(text, [person_id(p.number) for p in meant], language)
            notes.append(say("meant", language, word=_quoting(whom.group(), language), who=_and(called, language)))
        elif asked.intent in ("says", "when") and whom.group().lower() not in _EVERYBODY:
            notes.append(say("nobody_meant", language, word=_quoting(whom.group(), language)))
    without: tuple[str, ...] = ()
    other = _ELSE.search(_unquoted(text))
    if other is not None and asked.intent in ("who", "who_speaks", "who_says") and (told := _people(chats, people, finder)):
        without = tuple(p.id for p in told)
        called = list(dict.fromkeys(p.shown for p in told))
        notes.append(say("leaving_out", language, word=_quoting(other.group(), language), who=_and(called, language)))
        text = " ".join(f"{text[: other.start()]}{text[other.end() :]}".split())
    if len(text) > LONGEST:
        return FollowUp(question)
    instead = FollowUp(say("what_happens", language), span, follows, _note(notes[:1], language)) if bare else None
    return FollowUp(text, span, follows, _note(notes, language), instead, without)


def _other(
    text: str, asked: ParsedQuestion, chats: Sequence[Chat], people: Sequence[Person], finder: NameFinder, language: str
) -> tuple[str, list[str]]:
    """Put in whom "her" means beside the people that a question names, and return how it was read.

    That is whom the newest answer names that names somebody else; where none does, the only other person of the memory.
    """
    plain = _unquoted(text)
    word = _OBJECT.search(plain)
    if word is not None and _may_be_named(plain[: word.start(word.lastgroup or 0)], people, finder):
        word = None
    elif word is None and asked.intent == "says" and (word := _SUBJECT.search(plain)) is not None:
        word = word if not read(plain[: word.start()], people, (), names=finder).people else None
    if word is None:
        return text, []
    called = {p.shown for p in people if p.id in asked.people}
    meant: list[Person] = []
    for last in range(len(chats), 0, -1):
        meant = [p for p in _people(chats[:last], people, finder) if p.shown not in called]
        if meant:
            break
    if not meant:
        others = [p for p in people if not p.ignored and p.shown not in called]
        meant = others if len({p.shown for p in others}) == 1 else []
    group = "a" if word["a"] else "b"
    said = _quoting(word[group], language)
    if not meant:
        return text, [say("not_known_whom", language, word=said)]
    start, end = word.span(group)
    text = f"{text[:start]}{_and([person_id(p.number) for p in meant], language)}{text[end:]}"
    return text, [say("meant", language, word=said, who=_and(list(dict.fromkeys(p.shown for p in meant)), language))]


def _may_be_named(text: str, people: Sequence[Person], finder: NameFinder) -> bool:
    """Return whether "her" after this text may be somebody named in it, or names nobody because nobody is named before."""
    return _OWN.search(text) is not None or _OF_SUBJECT.search(text) is not None or not read(text, people, (), names=finder).people


def _things(chats: Sequence[Chat]) -> str:
    """Return the things that the newest question asks of, which "they" then means; "" where it asks of people."""
    for chat in reversed(chats):
        question = _unquoted(" ".join(str(chat.get("question", "")).split()))
        if (found := _THING.search(question)) is not None:
            return f"the {found['things']}"
        if not any(m.group().lower() in _THEY for m in _SOMEBODY.finditer(question)):
            break
    return ""


def _put_things(text: str, things: str) -> str:
    """Return the text with these things in place of "they"."""
    plain, made, at = _unquoted(text), "", 0
    for match in (m for m in _SOMEBODY.finditer(plain) if m.group().lower() in _THEY):
        made += text[at : match.start()] + things + ("'" if match.group().lower() in _OWNING else "")
        at = match.end()
    return made + text[at:]


def _note(pieces: Sequence[str], language: str) -> tuple[Note, ...]:
    """Return these pieces as one sentence."""
    told = ("；" if language == "zh" else "; ").join(pieces)
    begun = 1 if told.startswith("“") else 0
    sentence = f"{told[:begun]}{told[begun : begun + 1].upper()}{told[begun + 1 :]}" + ("。" if language == "zh" else ".")
    return (Note("meant", sentence),) if pieces else ()


def _unquoted(text: str) -> str:
    """Return a text of the same length without what stands in quotation marks."""
    return QUOTED.sub(lambda m: "\0" * len(m.group()), text)


def _time(text: str, named: int = 0) -> tuple[str, str, str] | None:
    """Return the word that names a time by the last answer, what it says of it, and the text without the word.

    `named`: how many people the text names.
    """
    plain = _unquoted(text)
    for kind, pattern in (("before", _BEFORE), ("during", _MEANWHILE), ("after", _AFTER)):
        if (match := pattern.search(plain)) is not None:
            start, end = match.span("next") if match.groupdict().get("next") else match.span()
            if kind == "after" and _JOINED.search(plain[:start]) and re.match(r"\W*\w", plain[end:]):
                continue
            if kind == "during" and match.lastgroup and (named > 1 or _SEVERAL.search(plain)):
                continue
            return text[start:end], kind, " ".join(f"{text[:start]} {text[end:]}".split()).lstrip(" ,，")
    return None


def _moment(chats: Sequence[Chat], sources: Sequence[Source]) -> TimeSpan | None:
    """Return the last moment that the newest answer with citations cites."""
    there = {s.id for s in sources}
    for chat in reversed(chats):
        cited = [c for c in chat.get("citations", ()) if c.get("source") in there]
        if cited:
            last = cited[-1]
            return TimeSpan(last["source"], round(last["start"] * MICROSECOND), round(last["end"] * MICROSECOND))
    return None


def _around(moment: TimeSpan, kind: str) -> TimeSpan:
    if kind == "during":
        return moment
    return TimeSpan(moment.source, moment.end, FOREVER) if kind == "after" else TimeSpan(moment.source, 0, moment.start)


def _people(chats: Sequence[Chat], people: Sequence[Person], finder: NameFinder) -> list[Person]:
    """Return whom the newest answer that names somebody names, outside of quotations; else whom its question names.

    Nobody if all of them are hidden or gone: whom an older answer names is not meant. Who was merged is who they are now.
    """
    known = {a: p for p in people if not p.ignored for a in (*p.aliases, p.id)}
    for chat in reversed(chats):
        told = _unquoted(_TOLD.sub("", str(chat.get("answer", ""))))
        called = chat.get("called") or {}
        named = [who for _, who in sorted((told.index(name), who) for who, name in called.items() if names(told, name))]
        found = [known[w] for w in named or named_in(str(chat.get("question", "")), finder) if w in known]
        if found or named:
            return list({p.id: p for p in found}.values())
    return []


def _again(chats: Sequence[Chat], people: Sequence[Person], sources: Sequence[Source], finder: NameFinder, language: str) -> str:
    """Return the question that a bare "and then?" asks again for a later time; "what happens" where none can be."""
    for chat in reversed(chats):
        before = str(chat.get("question", ""))
        word = _time(before)
        rest = before if word is None else word[2]
        if word is not None and _FILLING.match(rest):
            continue
        rest = _ORDER.sub("", rest)
        earlier = read(rest[:LONGEST], people, sources, names=finder)
        if earlier.intent in _GOES_ON and earlier.language == language:
            return read_times(rest, sources[-1] if sources else None)[1]
        break
    return say("what_happens", language)


def _put_in(text: str, ids: Sequence[str], language: str) -> str:
    """Return the text with these people in place of "she", "he" and "they"."""
    plain, made, at = _unquoted(text), "", 0
    for match in (m for m in _SOMEBODY.finditer(plain) if not _means_own(plain, m)):
        owner = "'s" if match.group().lower() in _OWNING else ""
        made += text[at : match.start()] + _and(ids, language) + owner
        at = match.end()
    return made + text[at:]


def _and(words: Sequence[str], language: str) -> str:
    comma, last = ("、", "和") if language == "zh" else (", ", " and ")
    return last.join((comma.join(words[:-1]), words[-1])) if len(words) > 1 else words[0]


def _quoting(word: str, language: str) -> str:
    return f"“{word}”" if language == "zh" else f"“{word.lower()}”"
