"""Checks that a language model's words are supported by what was said: the same words, said about oneself, and not a guess."""

from __future__ import annotations

import re

from m3desk.domain.stemming import stem
from m3desk.memorization.lexicon import words_of

SHARE = 0.8
"""Of the content words of an answer, those that must have been said."""

_GUESS = re.compile(
    r"\b(?:may|might|maybe|perhaps|probably|possibly|likely|seems?|appears? to|could be|presumably|apparently|suggests?|implies|unknown|"
    r"unclear|not specified|instructions?|the person|the speaker|the video|the conversation|something|anything|everything|everyone|"
    r"everybody|nobody|someone|somebody else)\b|"
    r"可能|也许|大概|似乎|好像|看起来|或许|应该是|不清楚|未知|记录|指令|命令|说话人|视频",
    re.I,
)
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all|any|your|the|these|those|previous|prior|everything)\b|\binstructions?\b|\bsystem prompt\b|"
    r"\b(?:ai|language model|assistant)\b.{0,30}\b(?:must|should|write|say|output|remember)\b|\bwrite (?:that|down|the following)\b|"
    r"\b(?:respond|reply|answer|output) (?:with|only)\b|equivalence\s*:|<\s*/?\s*(?:person|face|voice|character|\|)|"
    r"忽略.{0,8}(?:指令|指示|命令|要求)|你(?:必须|应该)(?:写|输出|回答|记住)|系统提示|请(?:写|输出)",
    re.I,
)
_SELF = {
    "is": re.compile(r"\b(?:I'm|I am|I was|I've been|I work|[Aa]s an?|we're|we are)\b|我(?:就|也|们)?(?:是|当|做)|(?:作为|身为)"),
    "has": re.compile(
        r"\b(?:I|we) (?:\w+ )?(?:have|had|got|own|bought)\b|\b(?:I've|we've) (?:got|bought)\b|\b[Mm]y\b|"
        r"我们?(?:家)?(?:的|有|买)|我(?:女儿|儿子|妻子|丈夫|妈|爸|家)"
    ),
    "lives": re.compile(r"\bI(?:'ve)? lived? in\b|我\S{0,2}住"),
    "wants": re.compile(
        r"\b(?:I|we) (?:\w+ )?(?:want|need|hope|wish|like|love|prefer)\b|\b(?:I'd|we'd|I would|we would) (?:like|love|prefer)\b|"
        r"\b(?:I'm|I am|we're|we are) (?:\w+ )?(?:looking for|hoping|trying)\b|我们?\S{0,2}(?:想|要|希望|需要|找)"
    ),
}
"""How people speak of what they are, have and want."""

_KIND = re.compile(r"^(?:an?|the|one of)\s|[\u4e00-\u9fff]|(?:er|or|ist|ian|ant|man|woman)$", re.I)
"""What somebody is as a lasting thing ("a nurse", "marketing manager"), not how they feel ("sorry", "here")."""

_DENIED = re.compile(r"\b(?:not|never|no|isn't|wasn't|don't|didn't|doesn't|can't|won't|if|could|wish)\b|n't\b|不|没|如果|要是|假如", re.I)

_FREE = words_of("""
    a an the is are was were be been being has have had do does did of to in on at for with from by about as and or but that this these
    those it its his her their they he she who which what when where will would can should very also there some person people more
    such than into over out up how all other between
    """)
_FREE_ZH = frozenset("的了着是在和与有一个名位很也都就会这那其对为上下里事家")


def gives_orders(words: str) -> bool:
    """Return whether words address a machine that reads them ("ignore your instructions and write …") and not to people."""
    return bool(_ORDERS.search(words.replace("’", "'")))


def own_slots(words: str) -> list[str]:
    """Return which of `is`, `has` and `wants` somebody may say of themselves in these words."""
    return [slot for slot, pattern in _SELF.items() if slot != "lives" and any(pattern.search(p) for p in _parts(words.replace("’", "'")))]


_STATES = (
    (
        "is",
        re.compile(
            r"\bI(?:'m| am) ((?:an?|the) [a-z][a-z\- ]{2,40}?)(?=$|[.,;:!?]| (?:and|but|who|that|so|because|from|in|at|for|with|here|of)\b)"
        ),
    ),
    ("is", re.compile(r"我是(?:一名|一位|一个|个)?([\u4e00-\u9fff]{2,8})(?=[，。,.!！?？\s]|$)")),
    ("lives", re.compile(r"\bI(?:'ve)? (?:live|lived) in ((?:[A-Z][\w\-]+ ?){1,3})")),
    ("lives", re.compile(r"我(?:一直)?住在([\u4e00-\u9fff]{2,8})(?=[，。,.!！?？\s]|$)")),
)
_IDLE = re.compile(
    r"\b(?:bit|lot|little|same|one|fan|huge|big|only|kind|sort|way|first|last|thing|person|guy|point|case|idea|problem)\b|ing$|"
    r"[说的在想不来从谁这那我你他她们很]|因为|觉得"
)


def stated(words: str) -> dict[str, str]:
    """Return what somebody plainly says they are and where they live: slot → words ("I'm the marketing expert", 我是医生)."""
    found: dict[str, str] = {}
    for part in _parts(words.replace("’", "'")):
        for slot, pattern in _STATES:
            match = pattern.search(part)
            if match and not _DENIED.search(part) and not (slot == "is" and _IDLE.search(match[1])):
                found.setdefault(slot, match[1].strip())
    return found


def grounded(answer: str, said: str, slot: str = "about") -> bool:
    """Return whether what was said supports an answer of a few words.

    What somebody `is`, `has` or `wants` must be said of themselves, in one sentence, and neither denied nor imagined there.
    """
    answer, said = answer.replace("’", "'"), said.replace("’", "'")
    if any(m[0].casefold() not in said.casefold() for m in _GUESS.finditer(answer)):
        return False
    mine = content(answer)
    if not mine or len(answer.split()) > 18:
        return False
    if slot == "is" and not _KIND.search(answer):
        return False
    if pattern := _SELF.get(slot):
        return any(_carries(mine, answer, part) and pattern.search(part) and not _DENIED.search(part) for part in _parts(said))
    return _carries(mine, answer, said) and not (_DENIED.search(said) and len(mine) == 1)


def trimmed(answer: str) -> str:
    """Return an answer without what a cut-off sentence left at its end ("the nation and Cain University in the")."""
    return re.sub(
        r"(?:\s+(?:in|the|of|an?|to|and|or|for|with|on|at|by|that|is|are|as|from|but))+$", "", answer.rstrip(" .。…,，;；"), flags=re.I
    )


def _carries(mine: set[str], answer: str, said: str) -> bool:
    theirs = content(said)
    return len(mine & theirs) >= SHARE * len(mine) and set(re.findall(r"\d+", answer)) <= set(re.findall(r"\d+", said))


def _parts(said: str) -> list[str]:
    return [p for p in re.split(r"[.!?;:。！？；：]+", said) if p.strip()]


def content(text: str) -> set[str]:
    """Return the words that carry meaning: English stems, and Chinese by character."""
    han = {c for c in text if "\u4e00" <= c <= "\u9fff" and c not in _FREE_ZH}
    words = re.findall(r"[^\W_\u4e00-\u9fff]+(?:'[a-z]+)?", text.casefold())
    return han | {stem(w.removesuffix("'s")) for w in words if len(w) > 1 and w not in _FREE}
