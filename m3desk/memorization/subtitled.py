"""Subtitles as the spelling of what is said: where the words on screen are those that are spoken, they are quoted as they are written.

Speech recognition mishears, above all homophones in Chinese; a subtitle is exact. Which voice says a word stays what was heard.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import Utterance
from m3desk.memorization.captions import Caption

MISHEARD, MISHEARD_HAN = 0.35, 0.5
"""Of a subtitle's letters, those that may be heard differently; words by chance differ in more (letters repeat more than characters)."""

BESIDE = 3 * MICROSECOND // 2
"""A subtitle comes and goes this much beside its words at most."""

SKIPPED = 1.15
"""Letters heard for each one written, at most: a subtitle that leaves out words is no spelling of them."""

REST = 2
"""Letters at the end of a word that a subtitle may lack: a longer rest is another word."""

BETWEEN_HAN = re.compile(r"(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])")
"""A pause in a Chinese subtitle."""

FEWEST, FEWEST_HAN = 8, 3
"""Letters of a subtitle that is taken: fewer fit anything."""

MARKS = ".,;:!?…。，；：！？"
"""Where a subtitle ends with one, those that were heard there are left out; CLOSING may stand behind it."""

CLOSING = "\"'”’»」』)）"


@dataclass(frozen=True, slots=True)
class _Letter:
    """A letter of what is heard: the number of its utterance, and its index in that one's text."""

    utterance: int
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class _Piece:
    """What a subtitle writes in the place of letters `first` to `last` of an utterance's text."""

    utterance: int
    first: int
    last: int
    words: str


def corrected(utterances: Sequence[Utterance], subtitles: Sequence[Caption]) -> tuple[Utterance, ...]:
    """Return the utterances in their order, spelled as the subtitles that are shown with them write their words."""
    pieces: list[_Piece] = []
    for subtitle in sorted(subtitles, key=lambda c: (c.start, c.end, c.text)):
        heard = [
            _Letter(n, i, c.casefold())
            for n, u in sorted(enumerate(utterances), key=lambda nu: (nu[1].start, nu[0]))
            if u.start < subtitle.end + BESIDE and u.end > subtitle.start - BESIDE
            for i, c in enumerate(u.text)
            if c.isalnum()
        ]
        cut = _pieces(subtitle.text, heard)
        found = [whole for p in cut if (whole := _whole_words(utterances[p.utterance].text, p))]
        if len(found) == len(cut) and not any(_overlap(a, b) for a in found for b in pieces):
            pieces += found
    texts = [u.text for u in utterances]
    for p in sorted(pieces, key=lambda p: -p.first):
        before, after = texts[p.utterance][: p.first], texts[p.utterance][p.last + 1 :]
        marked = p.words.rstrip(CLOSING).endswith(tuple(MARKS))
        texts[p.utterance] = before + p.words + (after.lstrip(MARKS) if marked else after)
    return tuple(u if t == u.text else replace(u, text=t) for u, t in zip(utterances, texts, strict=True))


def _overlap(a: _Piece, b: _Piece) -> bool:
    return a.utterance == b.utterance and a.first <= b.last and b.first <= a.last


def _whole_words(text: str, piece: _Piece) -> _Piece | None:
    """Return a piece in the place of the rest of a word, too, that it covers in part; None where that is more than a letter or two."""
    first, last = piece.first, piece.last
    while first > 0 and text[first - 1].isalnum() and text[first - 1].isascii():
        first -= 1
    while last + 1 < len(text) and text[last + 1].isalnum() and text[last + 1].isascii():
        last += 1
    rest = max(piece.first - first, last - piece.last)
    return replace(piece, first=first, last=last) if rest <= REST else None


def _pieces(text: str, heard: Sequence[_Letter]) -> list[_Piece]:
    """Return what a subtitle writes in the place of which letters that are heard; [] where it says something else.

    A voice to which no letter of it belongs for sure (one that is heard as it is written) keeps its own.
    """
    letters = [(i, c.casefold()) for i, c in enumerate(text) if c.isalnum()]
    han = any("\u4e00" <= c <= "\u9fff" for _, c in letters)
    if len(letters) < (FEWEST_HAN if han else FEWEST):
        return []
    cost, places = _aligned([c for _, c in letters], heard)
    if cost > (MISHEARD_HAN if han else MISHEARD) * len(letters):
        return []
    sure = {heard[p].utterance for (_, c), p in zip(letters, places, strict=True) if p is not None and heard[p].text == c}
    owners: list[int | None] = [heard[p].utterance if p is not None and heard[p].utterance in sure else None for p in places]
    for i, owner in enumerate(owners):
        owners[i] = owner if owner is not None else owners[i - 1] if i else next((o for o in owners if o is not None), None)
    begins = [i for i in range(len(owners)) if i == 0 or owners[i] != owners[i - 1]]
    found = []
    for a, b in zip(begins, [*begins[1:], len(owners)], strict=True):
        owner = owners[a]
        mine = [heard[p].index for p in places[a:b] if p is not None and heard[p].utterance == owner]
        start, end = letters[a][0] if a else 0, letters[b][0] if b < len(letters) else len(text)
        if owner is None or not mine:
            return []
        covered = sum(h.utterance == owner and min(mine) <= h.index <= max(mine) for h in heard)
        if covered > SKIPPED * (b - a) + 1:
            return []
        found.append(_Piece(owner, min(mine), max(mine), re.sub(BETWEEN_HAN, "，", text[start:end].strip())))
    return found


def _aligned(written: Sequence[str], heard: Sequence[_Letter]) -> tuple[int, list[int | None]]:
    """Return the fewest letters by which a text differs from a part of what is heard, and for each letter where it is heard, if it is."""
    rows = [[0] * (len(heard) + 1)]
    for i, c in enumerate(written, 1):
        row = [i]
        for k, h in enumerate(heard, 1):
            row.append(min(rows[-1][k - 1] + (h.text != c), rows[-1][k] + 1, row[-1] + 1))
        rows.append(row)
    cost = min(rows[-1])
    k = rows[-1].index(cost)
    while 0 < k < len(heard) and rows[-1][k + 1] == cost and heard[k].utterance == heard[k - 1].utterance:
        k += 1
    places: list[int | None] = [None] * len(written)
    i = len(written)
    while i > 0:
        if k > 0 and rows[i][k] == rows[i - 1][k - 1] + (heard[k - 1].text != written[i - 1]):
            i, k = i - 1, k - 1
            places[i] = k
        elif rows[i][k] == rows[i - 1][k] + 1:
            i -= 1
        else:
            k -= 1
    return cost, places
