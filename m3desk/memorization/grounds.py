"""Whether a fact is borne out by the sentences it cites: its words are theirs, and it neither copies nor guesses."""

from __future__ import annotations

import re
from collections.abc import Sequence

from m3desk.domain.tags import TAG
from m3desk.memorization.lexicon import words_of

SHARE = 0.6
"""Of a fact's content words, those that must stand in what it cites."""

_GUESS = re.compile(
    r"\b(?:may|might|maybe|perhaps|probably|possibly|likely|seems?|appears? to|could be|presumably|apparently|suggests?|implies|unknown|"
    r"unclear|not specified|"
    r"instructions?|notes?|the speaker|the video)\b|可能|也许|大概|似乎|好像|看起来|或许|应该是|不清楚|未知|记录|指令",
    re.I,
)
_FREE = words_of("""
    a an the is are was were be been being has have had do does did of to in on at for with from by about as and or but that this
    these those it its his her their they he she who which what when where will would can should not no very also there some someone
    something person people man woman says said say speaks speak talks talk talking speaking told tells discusses discussing
    mentions mentioned thinks believes wants likes knows states asks introduces named called name topic conversation subject
    importance important need needs believe belief fact issue issues
    """)
_FREE_ZH = frozenset("的了着是在和与有一个名位很也都就会说讲谈到关于认为觉得希望想要他她它们这那人其对为中上下里")


def grounded(fact: str, cited: Sequence[str], language: str) -> bool:
    """Return whether the cited sentences (tagged text) carry a fact (tagged text)."""
    if _GUESS.search(fact):
        return False
    said = " ".join(cited)
    if _copies(fact, said, language):
        return False
    mine, theirs = _content(fact, language), _content(said, language)
    if not mine:
        return False
    return len(mine & theirs) >= SHARE * len(mine) and _numbers(fact) <= _numbers(said)


def _content(text: str, language: str) -> set[str]:
    text = TAG.sub(" ", text)
    if language == "zh":
        han = [c for c in text if "\u4e00" <= c <= "\u9fff" and c not in _FREE_ZH]
        return {*han, *(w.casefold() for w in re.findall(r"[A-Za-z]{3,}", text))}
    words = re.findall(r"[^\W\d_]+", text.casefold().replace("’", "'"))
    return {_stem(w) for w in words if len(w) > 1 and w not in _FREE}


def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "es", "ed", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", TAG.sub(" ", text)))


def _copies(fact: str, said: str, language: str) -> bool:
    """Return whether a fact only repeats: "X says: …", or eight words (12 Chinese characters) in a row."""
    if re.search(r"\bsays?\b\s*[:,“\"]|说[：:，“]", fact):
        return True
    unit = r"[\u4e00-\u9fff]|[A-Za-z']+" if language == "zh" else r"[^\W_]+"
    mine, theirs = (re.findall(unit, TAG.sub(" ", t).casefold()) for t in (fact, said))
    run = 12 if language == "zh" else 8
    joined = " ".join(theirs)
    return any(" ".join(mine[i : i + run]) in joined for i in range(len(mine) - run + 1))
