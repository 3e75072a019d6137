"""Parses a question: the people, clips and times it names, and the kind of answer it wants. Pure: no search, no model.

English and Chinese; a question in another language is searched as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from m3desk.control.text_kinds import QUESTION
from m3desk.control.times import FOREVER, TimeSpan, read_times
from m3desk.control.wording import say
from m3desk.domain.clip import Clip, Source, clock
from m3desk.domain.ids import clip_id
from m3desk.domain.memory import PLACEHOLDER
from m3desk.domain.people import Person
from m3desk.errors import UsageError

LONGEST = 2_000
"""Characters of a question or of words to search for. The text model reads 512 tokens, about 2,000 letters: more would be cut unseen."""

Intent = Literal[
    "who", "count", "who_speaks", "who_says", "who_is", "says", "when", "on_screen", "objects", "summary", "most", "how_long", "asks", "job"
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence for the user about something assumed or missing. `no_clip`: the memory has no clip of this number.

    `meant`: what words of a follow-up are taken for. `newest_clip`, `newest_time`: a clip number or time without a source is taken to be of
    the newest source. `around`: which seconds a named time is taken for.
    `negated`: that what does not happen was not searched for. `sexed`: that men and women are not told apart.
    """

    kind: Literal["no_clip", "newest_clip", "newest_time", "meant", "around", "negated", "sexed"]
    text: str


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A parsed question. `plain`: the words to search for, with people replaced by a neutral placeholder, without times and clips.

    `people`: persons it names, in order. `spans`: time spans of sources it names (clips included). `order`: it asks for the first or last
    match. `follows`: it asks for what comes next in its time span. `without`: persons that it leaves out ("who else"). `about`: those of
    `people` that something is said about; `to`: whom it is said to. `beside`: it asks for what comes right before or after these people.
    `relative`: it asks of the time before or after these people first appear (False) or speak (True). `negated`: it asks for what does not
    happen. `sexed`: it asks of men or women, whom the evidence does not tell apart.
    """

    text: str
    language: str
    plain: str
    people: tuple[str, ...] = ()
    spans: tuple[TimeSpan, ...] = ()
    clips: tuple[str, ...] = ()
    intent: Intent | None = None
    order: Literal["first", "last"] | None = None
    notes: tuple[Note, ...] = ()
    follows: bool = False
    without: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    to: tuple[str, ...] = ()
    beside: Literal["before", "after"] | None = None
    relative: tuple[Literal["before", "after"], bool, tuple[str, ...]] | None = None
    negated: bool = False
    sexed: bool = False

    @property
    def speakers(self) -> tuple[str, ...]:
        """Return the people whose own words a question is about."""
        return tuple(p for p in self.people if p not in self.about and p not in self.to)


# Chinese has no spaces: a word border is where Latin letters and digits end ("Person 7说").
_L, _R = r"(?<![A-Za-z0-9À-ɏ])", r"(?![A-Za-z0-9À-ɏ])"
_PERSON = re.compile(rf"<?{_L}(?:person|character)[ _]?(\d+){_R}>?|人物 ?(\d+)|第 ?(\d+) ?个人", re.IGNORECASE)
_CLIP = re.compile(rf"{_L}(s\d+)\.c(\d+){_R}|{_L}clip(?:[ _#]|:(?:(s\d+)\.c)?)?(\d+){_R}|片段 ?(\d+)|第 ?(\d+) ?个?片段", re.IGNORECASE)
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")

_SPEAK = (
    r"(?:say|says|said|saying|talk(?:s|ed|ing)?|speak|speaks|speaking|spoke|mention(?:s|ed)?|tell|tells|told|discuss(?:es|ed)?"
    r"|ask|asks|asked|asking)"
)
_ASK = r"(?:ask|asks|asked|asking)"
_COME = (
    r"(?:appear|appears|appeared|seen|visible|shown|shows? up|come|comes|came|enter|enters|entered|arrive|arrives|arrived)"  # first seen
)
_SHOW = rf"(?:{_COME}|leave|leaves|left|return|returns)"

_WHO = r"(?:who|which (?:people|person|man|woman|speaker))"
_BE = r"(?:'s| is| are| was| were| else| can be| could be)?"

# The first that fits decides, so what is asked most narrowly comes first.
_INTENTS: tuple[tuple[Intent, str], ...] = (
    (
        "most",
        rf"\b{_WHO}\b.*\b(?:most|longest)(?: (?:often|frequently|time|words|of (?:all|the time)))?"
        r"(?: (?:in|on|of|during|at|from|between|after|before|here)\b.*)?\W*$|\bwho (?:has|gets|takes) the most\b",
    ),
    (
        "most",
        r"\b(?:main|principal|central|leading|most important|chief) (?:person|people|character|speaker|figure|actor|protagonist|voice)s?\b"
        r"|\bprotagonists?\b"
        r"|\b(?:person|people|speaker|face|voice)s? (?:is |are )?(?:seen|heard|shown|who \w+) (?:the )?(?:most|longest)\b",
    ),
    (
        "most",
        r"谁.*(?:最多|最长|最久|最常)|主角|主人公|主要(?:的)?(?:人物|角色|说话人|讲话人|人)|(?:最多|最长|最久|最常)的(?:人|是谁|那个人)",
    ),
    (
        "on_screen",
        r"\b(?:texts?|captions?|subtitles?|titles?|writing|written|words? on)\b.*"
        r"\b(?:screen|picture|video|frame|shown|read|say|says|appears?|visible|there)\b",
    ),
    ("on_screen", r"\b(?:on|across) (?:the |his |her )?screen\b|\bwhat(?:'s| is| was) written\b|\bwhat (?:can|could) be read\b"),
    ("on_screen", r"\b(?:what|which) (?:texts?|captions?)\b|\bscreen (?:say|says|show|shows|read|reads)\b"),
    ("on_screen", r"屏幕上|画面上.*(?:字|写)|什么字|哪些字|文字|字幕|写着什么|写了什么"),
    (
        "count",
        r"\bhow many (?:\w+ )?(?:people|persons|faces|men|women|humans|speakers|voices|characters|individuals)\b"
        r"|\bnumber of (?:\w+ )?(?:people|speakers|faces)\b",
    ),
    ("count", r"(?:几|多少)(?:个|位|名)?(?:不同的)?(?:人|说话人|讲话人|面孔)"),
    ("on_screen", QUESTION),
    ("asks", rf"\b(?:{_WHO}|what|which|how many)\b.*\bquestions?\b.*\b(?:{_ASK}|poses?|posed|raises?|raised|there|heard)\b"),
    ("asks", rf"\b{_WHO}\b.*\b(?:{_ASK}|poses?|posed|raises?|raised|has|have|had)\b.*\bquestions?\b"),
    (
        "asks",
        rf"\bwhat (?:do|does|did|is|are|was|were|else|has|have)\b.*\b{_ASK}(?: (?:by )?{PLACEHOLDER['en']})?\W*$"
        rf"|\bwho {_ASK}(?: what)?\W*$",
    ),
    ("asks", rf"\b(?:do|does|did|has|have)\b.*\b{_ASK} (?:anything|something|(?:a|any|some) questions?)\W*$"),
    ("asks", r"\b(?:what|which) (?:is|was) the (?:very )?(?:first|last|next) question\b"),
    (
        "asks",
        r"(?:谁|有人|有没有人).*(?:提问|发问|问问题)|谁[^谁]*(?:提(?![到及起])|问).*问题"
        r"|(?:提|问)(?:了|过|的)*(?:些|几个|多少个?|哪些|什么|第一个|最后一个).*问题",
    ),
    ("asks", r"(?<![访学提疑])问(?:了|过|的是|的)?(?:些)?(?:什么|啥|哪些)|(?:第一个|最后一个|几个|多少个?)问题"),
    ("asks", r"(?:什么|哪些)问题.*[提问]|听[到见](?:了|过)?(?:什么|哪些)问题"),  # else 问题 may be a problem
    ("who_says", rf"\b{_WHO}\b.*\b{_SPEAK}\b.{{4,}}[\w”\"'’]"),
    ("who_says", r"谁.*?(?:说|提到|讲|谈)(?:过|了|到|起)?(?!话)[^？?。了过话]{2,}"),
    ("who_speaks", rf"\b(?:{_WHO}|whose voice)\b.*\b(?:{_SPEAK}|heard|hear)\b|\bspeakers\b"),
    ("who_speaks", r"谁.*(?:说话|讲话|发言|在说|在讲|开口)|(?:说话|讲话|发言|开口)的(?:人|声音)?(?:是|有|都是)?(?:谁|哪些|哪个|哪几个)"),
    (
        "how_long",
        r"\bhow (?:long|many (?:seconds|minutes|hours)|much (?:time|of the time)|much screen time)\b(?! (?:ago|into|until|till)\b)"
        r"|\bduration\b",
    ),
    (
        "how_long",
        r"(?:多久|多长(?:时间)?|多少(?:秒|分钟|小时|时间)|(?<![第前后近去这那头初])几(?:秒钟?|分钟|个?小时))(?!钟|[之以]?[前后])|时长",
    ),
    (
        "when",
        r"\b(?:when|what time|at what (?:time|point|moment)|how (?:early|late|soon|often|many times))\b"
        r"|\bhow (?:far|many (?:seconds|minutes|hours)) into\b",
    ),
    ("when", r"\bwhere\b.*\b(?:first|last)\b"),  # of a film: at which moment
    ("when", r"什么时候|何时|几点|几次|多少次|第几(?:秒|分)|几分几秒|哪个时间|多久|(?:在哪里?|哪儿).*(?:第一次|最先|最后)"),
    ("says", rf"\bwhat (?:do|does|did|is|are|was|were|else|has|have)\b.*\b{_SPEAK}\b|\bquote\b"),
    ("says", rf"\b(?:do|does|did|has|have)\b.*\b{_SPEAK}\b (?:any|some)thing\b"),
    ("says", r"(?:说|讲|谈|聊|提到)(?:了|过|的是|的)?(?:些)?(?:什么|啥|哪些)|怎么(?:说|评价)(?:了|过)?某人"),
    (
        "objects",
        r"\b(?:what|which) (?:objects?|things?|items?)\b|\bobjects?\b.*\b(?:seen|visible|in view|there)\b"
        r"|\bwhat (?:can (?:be|you|we|i) see|is (?:visible|seen|in view))\b",
    ),
    ("objects", r"什么(?:东西|物品|物体)|哪些(?:东西|物品|物体)|看到(?:了)?(?:什么|些什么)"),
    (
        "summary",
        r"\bwhat(?:'s| is| was)? (?:happen|going on|this video|the video|it) ?(?:s|ed|ing)?\b"
        r"|\bsummar|\bwhat (?:happens|happened)\b|\bdescribe\b|\boverview\b",
    ),
    ("summary", r"发生了?什么|总结|概括|概述|讲的是什么|内容是什么"),
    (
        "who",
        rf"\b{_WHO}{_BE}\b(?: \w+)? ?\b(?:{_SHOW}|in (?:the |this |it|view|here)|on (?:camera|screen)|there|here|present)\b"
        r"|^who\??$|\bwho (?:do|can|could|did) (?:we|you|i) see\b",
    ),
    (
        "who",
        r"\b(?:list|name|show)(?: me)?(?: all)?(?: the)? (?:people|persons|characters|faces)\b"
        r"|\b(?:which|what) (?:people|persons|characters)\b",
    ),
    (
        "who",
        r"(?:有|是|都有|看到|出现)(?:了)?(?:谁|哪些人|哪几个人)|谁(?:是.*|最?先|最早|最后|第一个|都)?(?:出现|在画面|在里面|在视频|在场)|哪些人",
    ),
)
_SOMEONE = rf"(?:{'|'.join(PLACEHOLDER.values())})"
_OF_NAMED: tuple[tuple[Intent, str], ...] = (
    (
        "job",
        rf"\bwhat(?:'s| is| was) {_SOMEONE}(?: ?['’]s?)? (?:current )?"
        r"(?:job|profession|occupation|role|job title|title|position|work)\W*$"
        rf"|\bwhat(?:'s| is| was) the (?:job|profession|occupation|role|title|position) of {_SOMEONE}\W*$"
        rf"|\bwhat (?:does|did) {_SOMEONE} do (?:for (?:a living|work)|professionally|at work)\W*$"
        rf"|{_SOMEONE}的?(?:工作|职业|职位|职务|头衔|身份)(?:是|叫)?(?:什么|啥)|{_SOMEONE}是?[做干](?:什么|啥)(?:工作|的)"
        rf"|{_SOMEONE}是(?:什么|啥)(?:工作|职业|职位|职务|头衔|身份)",
    ),
    (
        "most",
        rf"\bwho\b.*\b(?:more|longer|most|longest)\b(?!.*\b(?:about|of|with|to|by|near|beside|behind) {_SOMEONE}).*{_SOMEONE}.*{_SOMEONE}"
        rf"|\b(?:do|does|did|is|was) {_SOMEONE}\b.*\b(?:more|longer)\b.*\bthan {_SOMEONE}"
        rf"|{_SOMEONE}.*{_SOMEONE}.*谁.*[多久长]|谁.*[多久长].*{_SOMEONE}.*{_SOMEONE}|{_SOMEONE}比{_SOMEONE}.*[多久长]",
    ),
)
"""Kinds of question that are certain only of people named."""
_BIDDING = re.compile(
    r"^(?:please )?(?:find|list|show|search for|look for)(?: me)?(?: (?:all|every|each)(?: of)?)?(?: the)?"
    r" (?:moments?|times?|places?|scenes?|clips?) (?:where|when|in which|at which|that)\b *",
    re.IGNORECASE,
)
"""A beginning such as "Find every moment where": it says what to do, not what to search for."""
_COMPILED_OF_NAMED = tuple((intent, re.compile(pattern, re.IGNORECASE)) for intent, pattern in _OF_NAMED)
_COMPILED = tuple((intent, re.compile(pattern, re.IGNORECASE)) for intent, pattern in _INTENTS)


_NOT_ASKING = re.compile(
    r"\b(?:answer|repl(?:y|ies|ied)|respon[ds])"
    r"|\b(?:who|which \w+) (?:is|are|was|were|gets?|got|(?:has|have|had) been) (?:\w+ )?asked\b|回答|答[案复]|谁被",
    re.IGNORECASE,
)
"""Of whom or what a question that speaks of questions asks, if not of who asks: "who answers the question that Ann asks"."""
_COURTESY = re.compile(r"^(?:请问|我?想问(?:一?下)?|问一?下|我?想知道|请?告诉我)(?:一?下)?[，,：: ]*(?=[^\W_])")
"""A beginning that only says that something is asked."""
_NOW = re.compile(r"\b(?:just|right) now\b|刚刚|刚才|现在", re.IGNORECASE)
"""Words that name a time only while a source is live, when `read_times` takes them; else nothing is searched for by them."""


def fitting(question: str) -> str:
    """Return the question. Raises UsageError if it is too long to search for."""
    if len(question) > LONGEST:
        raise UsageError(f"the question is too long ({len(question):,} characters).", f"Ask with at most {LONGEST:,} characters.")
    return question


def read(
    question: str,
    people: Sequence[Person],
    sources: Sequence[Source],
    clips: Sequence[Clip] | Mapping[str, Clip] = (),
    span: TimeSpan | None = None,
    names: NameFinder | None = None,
) -> ParsedQuestion:
    """Parse a question with the people, sources and clips of a memory. `span`: the time span to which the user limited the question.

    `names`: the people's names, if already computed.
    """
    text = " ".join(fitting(question).split())
    language = "zh" if _HAN.search(text) else "en"
    named, rest, mentions = _people(_COURTESY.sub("", text), names or NameFinder.of(people), PLACEHOLDER[language])
    about, to = _at_places(_ABOUT, rest, mentions), _at_places(_TO, rest, mentions)
    beside, rest = _beside(rest, mentions)
    relative: tuple[Literal["before", "after"], bool, tuple[str, ...]] | None = None
    if beside is None and (when := _RELATIVE.search(rest)) is not None and (whom := _within(when, mentions)):
        relative = (_side(when), bool(when["said"] or when["said_zh"]), whom)
        elsewhere = {who for at, who in mentions if not when.start() <= at < when.end()}
        named, rest = [p for p in named if p in elsewhere], f"{rest[: when.start()]} {rest[when.end() :]}"
    known = clips if isinstance(clips, Mapping) else {c.id: c for c in clips}
    clip_ids, rest, notes = _clips(rest, sources, known)
    source = span.source if span else sources[-1].id if sources else None
    times, rest = read_times(rest, next((s for s in sources if s.id == source), None))
    if times and len(sources) > 1 and span is None:
        newest = f"The time is read in {source}, the newest source." if language == "en" else f"时间按最新的来源 {source} 理解。"
        notes.append(Note("newest_time", newest))
    notes += [_around(t, sources, language) for t in times if t.around]
    spans = [TimeSpan(known[c].source, known[c].start, known[c].end) for c in clip_ids if c in known] + times
    if span is not None:
        within = [s for s in (overlap(t, span) for t in spans) if s is not None]
        spans = within or [span]
    rest = _NOW.sub(" ", rest)
    text, whole = _COURTESY.sub("", text), text
    intent = _intent(text, rest, bool(named) and beside is None)
    negated = _negated(rest, intent)
    if negated and (other := _intent(text, bare := _NOT.sub("", rest), bool(named) and beside is None)) in ("who", "who_speaks", "count"):
        intent, rest = other, bare
    order, rest = _order(rest, intent)
    return ParsedQuestion(
        text=whole,
        language=language,
        plain=_BIDDING.sub("", " ".join(rest.split())) or text,
        people=tuple(named),
        spans=tuple(spans),
        clips=tuple(clip_ids),
        intent=intent,
        order=order,
        notes=tuple(notes),
        about=about,
        to=tuple(p for p in to if p not in about),
        beside=beside,
        relative=relative,
        negated=negated,
        sexed=_SEXED.search(_OF_A_SEX.sub(" ", QUOTED.sub("", rest))) is not None,
    )


def _around(time: TimeSpan, sources: Sequence[Source], language: str) -> Note:
    """Return a note on which seconds a named time is taken for."""
    end = min(time.end, max((s.duration or FOREVER for s in sources if s.id == time.source), default=FOREVER))
    words = f"“{time.around}”" if language == "zh" else f"“{time.around[:1].upper()}{time.around[1:]}”"
    return Note("around", say("around", language, word=words, start=clock(time.start), end=clock(max(time.start, end))))


_SEXED = re.compile(
    r"\b(?:man|men|woman|women|guys?|lady|ladies|girls?|boys?|gentlem[ae]n|males?|females?)\b|[男女](?:人|的|士|生|孩|性|子|主)",
    re.IGNORECASE,
)
_OF_A_SEX = re.compile(
    rf"\b(?:about|regarding|{_SPEAK}) (?:(?:the|a|an|any|some|those|these|this|that) )?(?:{_SEXED.pattern})"
    rf"|[到起及论](?:了|过)?(?:{_SEXED.pattern})",
    re.IGNORECASE,
)
"""Men or women of whom something is said: they do not limit who says it."""
_EITHER = re.compile(
    r",\s*(?:is|are|was|were|do|does|did|has|have|can|could|wo|would)n['’]t \w+\W*$"
    r"|^\W*(?:is|are|was|were|do|does|did|has|have|can|could|wo|would)n['’]t\b|([\u3400-\u9fff])[不没]\1|有没有|\bnot only\b"
    r"|\bor not\b|\bi (?:do|did|ca|can|could)(?: ?not|n['’]t) \w+|[了过到]没有?(?:呢|啊|呀)?\W*$|^我?没(?:听|看)(?:清|到|见|懂)楚?",
    re.IGNORECASE,
)
"""Words of a negation that ask for what does happen: "isn't there a dog", "whether or not", "有没有", "来了没有"."""
_NOT = re.compile(
    r"\b(?:not|never|cannot)\b|\b\w+n['’]t\b|没有?(?![错事]|关系)|从[不未]|从来不|(?<![要是才好差])不(?=[说讲谈问出露在会能喜想看听提笑动])",
    re.IGNORECASE,
)


def _negated(text: str, intent: Intent | None) -> bool:
    """Return whether a question asks for what does not happen; a "not" among the words that are said is one of them."""
    plain = _EITHER.sub("", QUOTED.sub("", text))
    word = _NOT.search(plain)
    spoken = re.search(rf"\b{_SPEAK}\b|[说讲谈提]", plain, re.IGNORECASE) if intent in ("who_says", "says") else None
    return word is not None and (spoken is None or word.start() <= spoken.start())


def named_in(text: str, names: NameFinder) -> list[str]:
    """Return the persons that a text names, in order."""
    return _people(text, names, "")[0]


_MANY = rf"{_SOMEONE}(?:(?:, ?| and |, and |、|和){_SOMEONE})*"
_PASSIVE = r"(?:is|are|was|were|gets?|got|(?:has|have|had) been)"
_SPOKEN_OF = r"(?:mentioned|talked about|spoken of|discussed)\b"
_ABOUT = re.compile(
    rf"\b(?:about|regarding|concerning|{_SPEAK} of|mention(?:s|ed|ing)?) (?P<a>{_MANY})(?!['’]s\b)"
    rf"|\b(?:{_PASSIVE}|hear|heard) (?P<b>{_MANY}) (?:\w+ )?{_SPOKEN_OF}|(?P<f>{_MANY}) {_PASSIVE} (?:\w+ )?{_SPOKEN_OF}"
    rf"|\b(?:has|have|had) (?P<g>{_MANY}) (?:\w+ )?been (?:\w+ )?{_SPOKEN_OF}"
    rf"|(?:关于|[谈说提讲][到起及]|谈论|讨论|评价|怎么(?:说|评价|看待?))(?:了|过)?(?P<c>{_MANY})(?!的)"
    rf"|[说讲谈聊](?:了|过)?(?P<d>{_MANY})(?:的)?(?:什么|啥|哪些|坏话|好话)|(?P<e>{_MANY})被[谈说提讲][到起及]",
    re.IGNORECASE,
)
"""Whom something is said about."""
_TO = re.compile(
    rf"\b{_SPEAK} (?:\w+ ){{0,2}}?(?:to|with) (?P<a>{_MANY})(?!['’]s\b)|\b(?:tell|tells|told|ask|asks|asked) (?P<b>{_MANY})(?!['’]s\b)"
    rf"|[对跟向同](?P<c>{_MANY})(?:都|也)?(?:说|讲|谈|聊|问|提问)|(?<![访学慰])问(?:了|过)?(?P<d>{_MANY})(?!的)"
    rf"|\b{_PASSIVE} (?P<e>{_MANY}) (?:\w+ )?(?:asked|told)\b|(?P<f>{_MANY}) {_PASSIVE} (?:\w+ )?(?:asked|told)\b"
    rf"|(?P<g>{_MANY})被(?:[^\W，,。]{{1,6}})?问",
    re.IGNORECASE,
)
"""Whom something is said to."""


def _within(match: re.Match[str], mentions: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """Return the people whom a matched text names."""
    return tuple(dict.fromkeys(who for at, who in mentions if match.start() <= at < match.end()))


def _at_places(pattern: re.Pattern[str], rest: str, mentions: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """Return the people who stand where a pattern has a group."""
    spans = [m.span(name) for m in pattern.finditer(rest) for name in m.groupdict() if m[name]]
    return tuple(dict.fromkeys(who for at, who in mentions if any(a <= at < b for a, b in spans)))


_BESIDE = re.compile(
    rf"\b(?:(?:right|just|directly|immediately|shortly) )*(?P<en>before|after) {_MANY}"
    rf"(?: (?:(?:does|did|do|has|had|starts?|stops?|finish(?:es|ed)?)|(?P<said>{_SPEAK})|(?P<seen>{_COME})))*(?=\W*$)"
    rf"|[在紧接着]*{_MANY}(?:(?P<said_zh>说话|讲话|发言|说完(?:话)?|开口)|(?P<seen_zh>出现|进来))?[之以]?(?P<zh>[前后])(?![夫妻任台辈代妈爸卫])"
    r"(?P<place>面|边)?(?:马上|紧接着|接着|的(?:那个)?人?)?",
    re.IGNORECASE,
)
"""Who comes right before or after somebody."""


_RELATIVE = re.compile(
    rf"\b(?:(?:right|just|directly|immediately|shortly) )*(?P<en>before|after) {_MANY} "
    rf"(?:(?:first|starts?|started|begins?|began|has|had) (?:to )?)?"
    rf"(?:(?P<said>{_SPEAK})|(?:is (?:first )?)?{_COME})(?: (?:into view|in|up|for the first time))?(?=\W*$|\s*,)"
    rf"|在?{_MANY}(?:第一次)?(?:(?P<said_zh>说完?话|讲完?话|发言|开口|说完)|出现|进来|露面)(?:了)?[之以]?(?P<zh>[前后])",
    re.IGNORECASE,
)
"""A time before or after somebody comes or speaks."""


def _beside(rest: str, mentions: Sequence[tuple[int, str]]) -> tuple[Literal["before", "after"] | None, str]:
    """Return whether a question is about who speaks or comes right before or after somebody, and the question without that."""
    match = _BESIDE.search(rest)
    if match is None or not _within(match, mentions):
        return None, rest
    without = f"{rest[: match.start()]} {rest[match.end() :]}"
    bare = _order(without, None)[1]
    intent = next((intent for intent, pattern in _COMPILED if pattern.search(bare)), None)
    other = {"who": match["said"] or match["said_zh"] or match["place"], "who_speaks": match["seen"] or match["seen_zh"]}
    if (
        intent not in other or other[intent]
    ):  # who speaks after somebody comes is a question of a time, who stands behind them one of a place
        return None, rest
    return _side(match), without


def _side(match: re.Match[str]) -> Literal["before", "after"]:
    """Return which side of somebody a match names."""
    return "before" if (match["en"] or "").lower() == "before" or match["zh"] == "前" else "after"


def names_of(person: Person) -> list[str]:
    """Return all names of a person: name, aliases, suggested names; longest first."""
    found = [person.name or "", *person.aliases, *(s.name for s in person.suggested_names)]
    return sorted({n.strip(" ?？") for n in found if n.strip(" ?？")}, key=len, reverse=True)


@dataclass(frozen=True, slots=True, eq=False)
class NameFinder:
    """Finds people's names in a text: patterns of full names, unambiguous name parts, person numbers.

    `spelled`: what a text with the name holds for certain (`_folded`; tested first, since most names are not in it), pattern, person.
    """

    spelled: tuple[tuple[str, re.Pattern[str], str], ...]
    parts: Mapping[str, str]
    numbers: Mapping[int, str]

    @staticmethod
    def of(people: Sequence[Person]) -> NameFinder:
        """Build the patterns for these people."""
        spelled = tuple((_folded(name.split()[0]) if name.isascii() else "", _spelled(name), p.id) for p in people for name in names_of(p))
        return NameFinder(spelled, _parts(people), {p.number: p.id for p in people})


def _people(text: str, names: NameFinder, placeholder: str) -> tuple[list[str], str, list[tuple[int, str]]]:
    """Return the people that a text names, in order, the text with a neutral placeholder for each, and who stands where in it."""
    hits: list[tuple[int, int, str]] = []
    for match in _PERSON.finditer(text):
        number = int(next(g for g in match.groups() if g))
        if number in names.numbers:
            hits.append((match.start(), match.end(), names.numbers[number]))
    folded = _folded(text)
    for held, pattern, person in names.spelled:
        if held in folded:
            hits += [(m.start(), m.end(), person) for m in pattern.finditer(text)]
    for match in re.finditer(r"[^\W\d_\u3400-\u9fff]{3,}", text):
        word = match.group()
        if (owner := names.parts.get(word.casefold())) is not None and (len(word) > 3 or word[0].isupper()):
            hits.append((match.start(), match.end(), owner))
    taken: list[tuple[int, int, str]] = []
    for start, end, who in sorted(hits, key=lambda h: (h[0], -(h[1] - h[0]))):
        if all(end <= a or b <= start for a, b, _ in taken) or any((start, end) == (a, b) and who != w for a, b, w in taken):
            taken.append((start, end, who))
    rest, at = "", 0
    mentions: list[tuple[int, str]] = []
    for start, end, who in taken:
        if start >= at:
            rest += text[at:start] + placeholder
            at = end
        mentions.append((len(rest) - len(placeholder), who))
    return list(dict.fromkeys(w for _, _, w in taken)), rest + text[at:], mentions


def _folded(text: str) -> str:
    """Return a text in which characters are equal where `re.IGNORECASE` takes one for an ASCII letter."""
    return text.casefold().replace("ı", "i").replace("i\u0307", "i")  # the second is what casefold makes of "İ"


@lru_cache(maxsize=10_000)
def _spelled(name: str) -> re.Pattern[str]:
    """Return a pattern for a full name, including a question mark after a suggested one; Chinese has no word boundaries."""
    body = r"\s+".join(re.escape(part) for part in name.split())
    return re.compile(body if _HAN.search(name) else rf"{_L}{body}{_R}\??", re.IGNORECASE)


def _parts(people: Sequence[Person]) -> dict[str, str]:
    """Return first and last names that only one person has ("obama" of "Barack Obama")."""
    owners: dict[str, set[str]] = {}
    for person in people:
        for name in names_of(person):
            for part in name.split():
                if len(part) >= 3 and part.isalpha() and part.casefold() not in _COMMON and len(name.split()) > 1:
                    owners.setdefault(part.casefold(), set()).add(person.id)
    return {part: next(iter(ids)) for part, ids in owners.items() if len(ids) == 1}


_TITLES = (
    "will mark rich grace hope rose page field white black brown green young long person april june may art guy max day president doctor"
)
_COMMON = frozenset(_TITLES.split())
"""Parts of names that are also common words or titles: alone they name nobody."""


def _clips(text: str, sources: Sequence[Source], there: Mapping[str, Clip]) -> tuple[list[str], str, list[Note]]:
    found: list[str] = []
    notes: list[Note] = []
    for match in _CLIP.finditer(text):
        groups = match.groups()
        number = int(next(g for g in (groups[1], groups[3], groups[4], groups[5]) if g is not None))
        source = (groups[0] or groups[2] or (sources[-1].id if sources else "")).lower()
        id_ = clip_id(source, number)
        if id_ not in there:
            notes.append(
                Note("no_clip", f"There is no clip {id_} in this memory." if not _HAN.search(text) else f"这段记忆里没有片段 {id_}。")
            )
            continue
        found.append(id_)
        if not (groups[0] or groups[2]) and len(sources) > 1:
            notes.append(Note("newest_clip", f"Clip {number} is read as {id_}, of the newest source."))
    return list(dict.fromkeys(found)), _CLIP.sub(" ", text), notes


def overlap(a: TimeSpan, b: TimeSpan) -> TimeSpan | None:
    """Return what two time spans share, None if nothing."""
    start, end = max(a.start, b.start), min(a.end, b.end)
    return TimeSpan(a.source, start, end) if a.source == b.source and start < end else None


_WHO_IS = re.compile(
    r"^\s*(?:who(?:'s| is| was)(?! (?:next|beside|with|behind|near|before|after|in|on|at|to|opposite|left|right"
    r"|seen|heard|shown|visible|together|there|also|\w+ing)\b)"
    r"|tell me about|what (?:do (?:you|we) know|is known) about)\b"
    r"|是谁|^谁是|关于.*(?:知道|了解)什么",
    re.IGNORECASE,
)


_ONLY_WHO = re.compile(
    rf"^\W*(?:and |so )?who(?:'re| are| were) {_SOMEONE}(?:(?:, ?| and |, and ){_SOMEONE})*\W*$"
    rf"|\bwhat(?:'s| is| was| are| were) (?:the )?(?:(?:full|real|first|last|family) )*names? of {_SOMEONE}\W*$"
    rf"|\bwhat(?:'s| is| was| are| were) {_SOMEONE}(?:(?:, ?| and |, and ){_SOMEONE})*(?: ?['’]s?)?"
    rf"(?: (?:full|real|first|last|family))*(?: names?| called)\W*$"
    rf"|^\W*(?:那么?|请问)?{_SOMEONE}(?:[、和]{_SOMEONE})*(?:的名字(?:都|各自)?(?:是|叫)|(?:都|各自)?叫)(?:什么|啥)",
    re.IGNORECASE,
)
"""A question for persons and nothing of theirs: "what is Ann's name", not "what is Ann's dog's name"."""


_PLACE = re.compile(rf"{_SOMEONE}的?(?:[前后旁左右对][面边侧]|身[前后旁边])")
"""A place beside somebody: who is there is not who they are."""


def _others(rest: str) -> int:
    """Return how many words beside people a question has."""
    return sum(word.strip(",.;:!?") not in ("and", *PLACEHOLDER.values()) for word in rest.split())


def _intent(text: str, rest: str, named: bool) -> Intent | None:
    if (
        named
        and (_WHO_IS.search(text) or _ONLY_WHO.search(" ".join(rest.split())))
        and not re.search(rf"\b{_SPEAK}\b", text, re.IGNORECASE)
        and _others(rest) <= 7
        and not _PLACE.search(rest)
    ):
        return "who_is"
    if named and (found := next((intent for intent, pattern in _COMPILED_OF_NAMED if pattern.search(rest)), None)) is not None:
        return found
    found = next((intent for intent, pattern in _COMPILED if pattern.search(rest)), None)
    return None if found == "asks" and _NOT_ASKING.search(rest) else found


_NO_ORDER = r"(?![ -](?:names?|lady|floor|class|aid|nights?|weeks?|months?|years?|amendment|minister)\b)"
"""After which "first" and "last" are part of a name."""
_ORDERS: dict[Literal["first", "last"], re.Pattern[str]] = {
    "first": re.compile(
        rf"\b(?:for |at )?(?:the )?(?:very )?(?:first|earliest)\b{_NO_ORDER}(?: of all\b| time\b)?|\binitially\b"
        r"|最先|最早|第一个|首先|第一次|第一句|(?<=谁)先(?!生)",
        re.IGNORECASE,
    ),
    "last": re.compile(
        rf"\b(?:for |at )?(?:the )?(?:very )?(?:last|latest|final)\b{_NO_ORDER}(?: of all\b| time\b)?|\bfinally\b"
        r"|最后一次|最后一个|最后一句|最后",
        re.IGNORECASE,
    ),
}
"""The words of an order; they are not searched for."""


QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|「[^」]*」|(?<!\w)'[^']*'(?!\w)")
"""What stands in quotation marks."""
_AFTER_SPEAKING = re.compile(rf"\b{_SPEAK}\b(?P<between>.*)$", re.IGNORECASE)


def _order(text: str, intent: Intent | None) -> tuple[Literal["first", "last"] | None, str]:
    """Return the order that a question asks for, and the question without the words of it; of what is said they are words as others are."""
    plain = QUOTED.sub(lambda m: "\0" * len(m.group()), text)
    for order, words in _ORDERS.items():
        found = [m for m in words.finditer(plain) if not (intent in ("who_says", "says") and _of_what_is_said(plain, m))]
        if found:
            for m in reversed(found):
                text = f"{text[: m.start()]} {text[m.end() :]}"
            return order, text
    return None, text


def _of_what_is_said(text: str, word: re.Match[str]) -> bool:
    """Return whether "first" or "last" belongs to what is said: "who mentions the last day", not "who speaks first about work"."""
    spoken = _AFTER_SPEAKING.search(text[: word.start()])
    if spoken is None or re.match(r"\W*\w", text[word.end() :]) is None or word.group().lower().endswith("time"):
        return False
    return bool(spoken["between"].strip()) or word.group().lower().startswith("the ")
