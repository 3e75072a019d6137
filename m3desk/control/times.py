"""Finds times in a question ("at 0:53", "after 14:30", "in the last minute", "第10秒", "最后一分钟") and returns them as time spans."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from m3desk.domain.clip import MICROSECOND, Source


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """[start, end) microseconds of a source. `around`: the words of a question that name a moment in it, "" where they name both ends."""

    source: str
    start: int
    end: int
    around: str = field(default="", compare=False)


FOREVER = 2**53
"""A time after the end of every source, in microseconds."""

AROUND = (3 * MICROSECOND, 5 * MICROSECOND)
"""Tolerance before and after a time that is named roughly ("a minute ago", "around 0:30"): people read a clock with a delay of seconds."""

ABOUT = (MICROSECOND, 2 * MICROSECOND)
"""The same for a time named to the second: that second, the one before and the one after."""

EDGE = 15 * MICROSECOND
"""The length meant by "at the beginning" and "at the end"."""

_NUMBERS = {
    "a": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "five": 5,
    "ten": 10,
    "half a": 0.5,
    "一": 1,
    "两": 2,
    "二": 2,
    "三": 3,
    "五": 5,
    "十": 10,
    "半": 0.5,
}
_UNITS = {"s": 1, "m": 60, "h": 3600, "秒": 1, "分": 60, "小": 3600}

_UNIT = r"(?:s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?)\b"
_NUMBER = r"\d{1,9}(?:\.\d{1,9})?"
"""Maximum digits: else the regular expression would scan to the end from each digit of a long run."""
_TIME = (
    rf"(?:(?<!\d)\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:\.\d{{1,9}})?|(?<!\d){_NUMBER}[ -]?{_UNIT}"
    rf"|\b(?:the )?(?<!\d)\d{{1,9}}(?:st|nd|rd|th) (?:second|minute)\b|\b(?:second|minute) {_NUMBER}(?![\d:.]*\d| ?{_UNIT})"
    rf"|(?:第 ?)?(?<!\d)\d{{1,9}} ?分(?:钟)?(?: ?\d{{1,9}} ?秒)?|(?:第 ?)?(?<!\d){_NUMBER} ?秒(?:钟)?)"
)
_OF_VIDEO = r"(?: of (?:the|this) (?:video|clip|film|recording))?"
_LENGTH = rf"(?:(?P<n>(?<!\d){_NUMBER}|half a|a|one|two|three|five|ten)[ -]?)?(?P<u>{_UNIT})"
_LENGTH_ZH = rf"(?P<n>(?<!\d){_NUMBER}|[一两二三五十半])? ?(?:个)?(?P<u>秒|分|小时)(?:钟)?"

TextRange = tuple[int, int]


def read_times(text: str, source: Source | None) -> tuple[list[TimeSpan], str]:
    """Return the time spans that a text names, and the text without them; [] if it names none or there is no source."""
    if source is None:
        return [], text
    duration = source.duration if source.duration is not None else FOREVER
    found: list[TimeSpan] = []

    for pattern, means in (*_LIVE_RULES, *_RULES) if source.state == "live" else _RULES:
        while (match := pattern.search(text)) is not None:
            try:
                start, end = means(match, duration, lambda t: _moment(t, source))
            except (ValueError, OverflowError):  # 25:99, or more digits than any time has
                break
            around = match.group().strip() if means in (_at, _ago) else ""
            found.append(TimeSpan(source.id, min(FOREVER, max(0, start)), max(0, min(FOREVER, end)), around))
            text = f"{text[: match.start()]} {text[match.end() :]}"
    return found, text


def _moment(text: str, source: Source) -> int:
    """Return a time as microseconds since the source's start, or, if it is past the end and the start's date is known, as clock time."""
    at = _since_start(text)
    if (
        source.duration is not None
        and at > source.duration
        and source.started_at
        and re.fullmatch(r"\d{1,2}:\d{2}(?::\d{2})?", text.strip())
    ):
        begun = datetime.fromisoformat(source.started_at)
        hours, minutes, *more = (int(p) for p in text.strip().split(":"))
        then = begun.replace(hour=hours, minute=minutes, second=more[0] if more else 0, microsecond=0)
        return int((then - begun).total_seconds() * MICROSECOND)
    return at


def _since_start(text: str) -> int:
    text = text.strip().removeprefix("第").strip()
    if ":" in text:
        parts = [float(p) for p in text.split(":")]
        total = sum(p * 60**i for i, p in enumerate(reversed(parts)))
    elif match := re.fullmatch(r"(\d+) ?分(?:钟)?(?: ?(\d+) ?秒)?", text):
        total = int(match[1]) * 60 + int(match[2] or 0)
    elif match := re.fullmatch(r"(?:the )?(\d+)(?:st|nd|rd|th) (second|minute)|(second|minute) (\d+(?:\.\d+)?)", text, re.IGNORECASE):
        total = float(match[1] or match[4]) * _UNITS[(match[2] or match[3])[0].lower()]
    else:
        match = re.fullmatch(r"(\d+(?:\.\d+)?)[ -]?(\D)\D*", text)
        if match is None:
            raise ValueError(text)
        total = float(match[1]) * _UNITS[match[2].lower()]
    return int(total * MICROSECOND)


def _length(match: re.Match[str]) -> int:
    number = (match["n"] or "1").lower()
    count = _NUMBERS[number] if number in _NUMBERS else float(number)
    return int(count * _UNITS[match["u"][0].lower()] * MICROSECOND)


Means = Callable[[re.Match[str], int, Callable[[str], int]], TextRange]

_ROUGHLY = re.compile(r"around|about|near|roughly|大约|大概|左右", re.IGNORECASE)
_WHOLE = re.compile(r"(?:\d[ -]?(?:m|min|mins|minutes?|h|hours?)|分钟?|minute \d+)$", re.IGNORECASE)
"""How a time ends that is named to the minute or hour."""
_NTH_MINUTE = re.compile(r"(?:the )?\d+(?:st|nd|rd|th) minute", re.IGNORECASE)


def _at(match: re.Match[str], _duration: int, moment: Callable[[str], int]) -> TextRange:
    """Return the time around a named moment: a few seconds, or one before and after it where it is named to the second.

    "The 2nd minute" is a minute, and ends at 2:00.
    """
    at = moment(match[1])
    if _NTH_MINUTE.fullmatch(match[1].strip()):
        return at - 60 * MICROSECOND, at
    before, after = AROUND if _ROUGHLY.search(match.group()) or _WHOLE.search(match[1].strip()) else ABOUT
    return at - before, at + after


def _ago(match: re.Match[str], duration: int, _moment: Callable[[str], int]) -> TextRange:
    at = duration - _length(match)
    return at - AROUND[0], at + AROUND[1]


def _rule(pattern: str, means: Means) -> tuple[re.Pattern[str], Means]:
    return re.compile(pattern.replace("TIME", f"({_TIME})"), re.IGNORECASE), means


_RULES: tuple[tuple[re.Pattern[str], Means], ...] = (
    _rule(r"\b(?:between|from) TIME (?:and|to|until|till|-|–) ?TIME", lambda m, d, t: (t(m[1]), t(m[2]))),
    _rule(r"TIME ?(?:-|–|—) ?TIME", lambda m, d, t: (t(m[1]), t(m[2]))),
    _rule(r"(?:从|在)? ?TIME ?(?:到|至) ?TIME(?:之间)?", lambda m, d, t: (t(m[1]), t(m[2]))),
    _rule(rf"\b(?:in|during|for|within)? ?the first {_LENGTH}", lambda m, d, t: (0, _length(m))),
    _rule(rf"\b(?:in|during|for|within)? ?the (?:last|final) {_LENGTH}", lambda m, d, t: (d - _length(m), d)),
    _rule(rf"(?:前|开头|最初){_LENGTH_ZH}", lambda m, d, t: (0, _length(m))),
    _rule(rf"(?:最后|末尾){_LENGTH_ZH}", lambda m, d, t: (d - _length(m), d)),
    _rule(r"\b(?:after|since|from) TIME(?: on| onwards?)?", lambda m, d, t: (t(m[1]), d)),
    _rule(r"TIME ?(?:之后|以后|后)", lambda m, d, t: (t(m[1]), d)),
    _rule(r"\b(?:before|until|till|up to|by) TIME", lambda m, d, t: (0, t(m[1]))),
    _rule(r"TIME ?(?:之前|以前|前)", lambda m, d, t: (0, t(m[1]))),
    _rule(
        r"(?:\b(?:at )?(?:at|in|around|about|near|roughly|@)|在?(?:大约|大概)|在)? ?(?:minute |second )?"
        r"TIME(?: ?(?:左右)?(?:的时候|时|左右|处))?",
        _at,
    ),
    _rule(rf"\b(?:at|in|near) the (?:very )?(?:beginning|start|opening){_OF_VIDEO}", lambda m, d, t: (0, EDGE)),
    _rule(rf"\b(?:at|near|towards?) the (?:very )?end{_OF_VIDEO}", lambda m, d, t: (d - EDGE, d)),
    _rule(r"在?(?:视频|录像|影片)?(?:的)?(?:一开始|开头|开始时|刚开始)(?:的时候)?", lambda m, d, t: (0, EDGE)),
    _rule(r"在?(?:视频|录像|影片)?(?:的)?(?:结尾|末尾|快结束时|结束时)(?:的时候)?", lambda m, d, t: (d - EDGE, d)),
)  # fmt: skip

JUST = 20 * MICROSECOND
"""Microseconds before now that "just" means."""

_LIVE_RULES: tuple[tuple[re.Pattern[str], Means], ...] = (
    _rule(rf"{_LENGTH} ago\b", _ago),
    _rule(rf"{_LENGTH_ZH}(?:之前|以前|前)", _ago),
    _rule(r"\bjust(?: now)?\b|\bright now\b|刚刚|刚才|现在", lambda m, d, t: (d - JUST, d)),
)
"""Times that have a meaning only while a source is live: its newest moment is now."""
