"""Speech that is not heard clearly: from which confidence on, and how a sentence that quotes it says so.

The recogniser's probability of a single word says too little: of calibration every second word below 0.35 is right, and two of three
misheard words are above. Its mean over an utterance says more: whether the whole is to be relied on.
"""

from __future__ import annotations

from collections.abc import Sequence

from m3desk.domain.evidence import Utterance

CLEARLY = 0.7
"""Confidence of an utterance from which its words are taken as said. Of 165 of calibration 15 are below (93 of 2,028 words); 11 of them are
misheard."""

SHORT, SHORT_HAN = 12, 4
"""Letters, characters under which an utterance says nothing about how well it is heard: its first word is improbable, whatever it is."""

MARKS = {"en": " something like: “", "zh": "好像说：“"}
"""How a sentence introduces such a quote, and PLAIN how it introduces another."""

PLAIN = {"en": ": “", "zh": "说：“"}


def is_unclear(said: Utterance) -> bool:
    """Return whether an utterance's words may well be wrong. Words that a user gave have a confidence of 1."""
    return are_unclear(said.text, said.confidence)


def are_unclear(words: str, confidence: float) -> bool:
    """Return whether an utterance's words of a confidence (0–1) may well be wrong."""
    if confidence >= CLEARLY:
        return False
    text = words.strip()
    return len(text) >= (SHORT_HAN if any("\u4e00" <= c <= "\u9fff" for c in text) else SHORT)


def is_marked(text: str, quoted: Sequence[tuple[int, int]]) -> bool:
    """Return whether a sentence says of its quote that it is not heard clearly."""
    return bool(quoted) and text[: min(a for a, _ in quoted)].endswith(tuple(MARKS.values()))


def unmarked(text: str) -> tuple[str, int, int]:
    """Return a sentence without such a mark, where its first quote began, and by how many code points it is shorter."""
    at = text.find("“") + 1
    for language, mark in MARKS.items():
        if text[:at].endswith(mark):
            return text[: at - len(mark)] + PLAIN[language] + text[at:], at, len(mark) - len(PLAIN[language])
    return text, at, 0
