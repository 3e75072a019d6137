"""The kinds of text on the screen that a question asks for: a date, a time, a number, a price, an address, or what a sign says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

TextKind = Literal["date", "time", "price", "phone", "web", "email", "number", "sign"]

_THE = r"(?:the|this|that|these|those|his|her|their|its|a|an)"
_SIGN = (
    r"(?:road ?|street ?|name ?)?(?:signs?|signboards?|banners?|boards?|posters?|labels?|placards?|billboards?"
    r"|notices?|plaques?|badges?|plates?|headlines?|slides?|logos?|displays?)"
)
_SIGN_ZH = r"(?:牌子|招牌|标牌|路牌|名牌|车牌|标志牌|指示牌|广告牌|横幅|条幅|标语|海报|黑板|白板|标签|告示|标志|标题)"
_IS = r"(?:'s| is| was| are| were)"

_KINDS: Sequence[tuple[TextKind, str]] = (
    ("date", rf"\bwhat{_IS} (?:{_THE} |today'?s )?(?:date|day|month|year)\b|\b(?:what|which) (?:date|day|month|year) (?:is|was|can)\b"),
    ("date", r"日期(?:是|为)?(?:什么|几|哪|多少)|什么日期|(?:几月)?几[号日](?!人)|哪一?[天年]|哪个?(?:日期|年份)|星期几"),
    ("time", r"(?<!at )\bwhat time (?:(?:is|was) it\W*$|is (?:shown|on)\b)"),
    ("time", rf"\bwhat (?:does|do|did) {_THE} (?:clock|watch|timer)s? (?:say|show|read)"),
    ("time", r"(?:现在|当时)(?:是)?几点|(?:钟|表|计时器)上?(?:显示|是)(?:的是)?(?:几点|什么|多少)"),
    (
        "price",
        rf"\bwhat{_IS} (?:{_THE} )?(?:price|cost)s?\b|\b(?:what|which) prices?\b|\bhow much (?:does|do|is|are) (?:it|this|that|they)\b",
    ),
    ("price", r"多少钱|价格(?:是|为)?(?:什么|多少)|什么价"),
    ("phone", rf"\b(?:what|which){_IS}? ?(?:{_THE} )?(?:tele)?phone (?:number)?s?\b"),
    ("phone", r"(?:电话|手机)(?:号码?)?(?:是|为)?(?:多少|什么|几)|什么电话"),
    ("email", rf"\b(?:what|which){_IS}? ?(?:{_THE} )?e-?mail(?: address(?:es)?)?\b|邮箱(?:地址)?(?:是|为)?什么|什么邮箱"),
    ("web", rf"\b(?:what|which){_IS}? ?(?:{_THE} )?(?:web ?(?:site|page|address)?|site|url|internet address)s?\b"),
    ("web", r"(?:网址|网站)(?:是|为)?(?:什么|哪)|(?:什么|哪个)(?:网址|网站)"),
    ("number", rf"\bwhat{_IS} (?:{_THE} )?numbers?\b(?! of\b)|\b(?:what|which) numbers? (?:is|are|was|were|can|appears?|do)\b"),
    ("number", r"(?:什么|哪些|哪个)(?:数字|号码|编号)|(?:数字|号码|编号)(?:是|为)(?:多少|什么|几)"),
    ("sign", rf"\bwhat (?:does|do|did) {_THE} {_SIGN} (?:say|read|show)\b|\bwhat{_IS} (?:written |printed |shown )?on {_THE} {_SIGN}\b"),
    ("sign", rf"\b(?:what|which) {_SIGN} (?:is|are|was|were|can)\b"),
    ("sign", rf"{_SIGN_ZH}上?(?:面)?(?:写|印|显示|是|有|说)?(?:着|了|的是|的)?(?:什么|哪些|啥|内容)"),
)
_SPOKEN = r"^(?!.*(?:\b(?:mention(?:s|ed)?|say|says|said|spoken|told)\b|说(?!明)|提到|讲|谈))"
"""Before what is no question for words that somebody says."""
_PATTERNS = tuple((kind, pattern if kind in ("sign", "time") else rf"{_SPOKEN}.*(?:{pattern})") for kind, pattern in _KINDS)
_ASKED = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _PATTERNS)
QUESTION = "|".join(f"(?:{pattern})" for _, pattern in _PATTERNS)
"""A pattern of all questions for a kind of text."""

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|星期[一二三四五六日天]|周[一二三四五六日]"
_HELD: Mapping[TextKind, Sequence[str]] = {
    "date": (
        rf"\b{_MONTH}\.? ?\d{{1,2}}(?!\d)|\b\d{{1,2}}(?:st|nd|rd|th)? ?(?:of )?{_MONTH}\b|\b{_MONTH}\.?,? ?(?:19|20)\d\d\b"
        r"|\b\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})\b|\b(?:19|20)\d\d[./-]\d{1,2}[./-]\d{1,2}|\d{4} ?年|\d{1,2} ?月 ?\d{1,2} ?[日号]",
        rf"(?<!\d)(?:19|20)\d\d(?!\d)|{_DAY}",
    ),
    "time": (r"(?<!\d)\d{1,2}[:：]\d{2}(?!\d)|\b\d{1,2} ?[ap]\.?m\b|\d{1,2} ?点",),
    "price": (r"[$€£¥￥] ?\d|\d ?(?:[$€£¥￥元]|dollars?\b|euros?\b|USD\b|EUR\b|RMB\b|块)",),
    "phone": (r"(?:\d[ ()+./-]{0,2}){7,}",),
    "web": (r"https?://|\bwww\.|\b[\w-]+\.(?:com|org|net|edu|gov|info|io|cn|de|uk|fr|eu|tv|co)\b",),
    "email": (r"[\w.+-]+@[\w-]+\.\w+",),
    "number": (r"\d",),
}
"""What a text of a kind holds; the first pattern that any text holds decides."""
_COMPILED = {kind: tuple(re.compile(p, re.IGNORECASE) for p in patterns) for kind, patterns in _HELD.items()}


def kind_asked(question: str) -> TextKind | None:
    """Return the kind of text that a question asks for, None if any."""
    return next((kind for kind, pattern in _ASKED if pattern.search(question)), None)


def of_kind(kind: TextKind, texts: Sequence[str]) -> list[bool]:
    """Return which of some texts are of a kind; which text is on a sign is not known, so all may be."""
    if kind == "sign":
        return [True] * len(texts)
    for pattern in _COMPILED[kind]:
        if any(held := [pattern.search(t) is not None for t in texts]):
            return held
    return [False] * len(texts)
