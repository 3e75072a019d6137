"""Finds where the script changes in what a recogniser wrote of one pass: it takes all of a pass for one language, whatever is said.

What it writes of the other language is then guessed, left out or translated; where the scripts differ, that can be seen.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import groupby

LEAST = {"CJK": 4}
LEAST_WORDS = 3
"""Characters, or words, in a row that are a language of their own; fewer are a name or a borrowed word."""

_SAME = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK", "DEVANAGARI": "ARABIC"}
"""Scripts of one language: Japanese has three beside each other, and Hindi and Urdu are one language that is written in either."""


def script(text: str) -> str:
    """Return the script of most of a text's letters by its Unicode name ("LATIN", "CJK"), "" without letters."""
    found = [_SAME.get(name, name) for c in text if c.isalpha() and (name := unicodedata.name(c, "").split(" ")[0])]
    return max(found, key=found.count) if found else ""


def runs(texts: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return the runs of one script, as (first, last + 1, script), that the words of a pass fall into; [] where all are of one.

    A short run belongs to the one before it, at the start to the next.
    """
    of = [script(t) for t in texts]
    known = ""
    for i, s in enumerate(of):
        of[i] = known = s or known
    of = [s or next((o for o in of if o), "") for s in of]
    found = _grouped(of)
    whole = [r for r in found if _units(texts[r[0] : r[1]], r[2]) >= LEAST.get(r[2], LEAST_WORDS)]
    if len({s for *_, s in whole}) < 2:
        return []
    for n, run in enumerate(whole):
        until = whole[n + 1][0] if n + 1 < len(whole) else len(of)
        of[0 if n == 0 else run[0] : until] = [run[2]] * (until - (0 if n == 0 else run[0]))
    return _grouped(of)


def _grouped(of: Sequence[str]) -> list[tuple[int, int, str]]:
    found, at = [], 0
    for s, same in groupby(of):
        count = len(list(same))
        found.append((at, at + count, s))
        at += count
    return found


def _units(texts: Sequence[str], kind: str) -> int:
    """Return how many characters, of scripts without spaces, or words some texts have."""
    return sum(sum(c.isalpha() for c in t) for t in texts) if kind in LEAST else len(texts)


def continues(before: str, after: str) -> bool:
    """Return whether a recognised piece goes on with the word of the piece before it: "don" and "'t"."""
    return after[:1] in ("'", "’", "-") and after[1:2].isalpha() and script(before[-1:]) == script(after) != "CJK"
