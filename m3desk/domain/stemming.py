"""Stems of English words, by Snowball's English stemmer (Porter2): search, knowledge and answers compare words by their stems."""

from __future__ import annotations

from functools import lru_cache

from snowballstemmer import stemmer


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the stem of an English word in small letters: "wave" of "waves", "waved" and "waving". Others are left alone: what is no
    ASCII word, and what has fewer than four letters (names such as "Ina")."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    found: str = stemmer("english").stemWord(word)  # one each time: a stemmer keeps the word that it works on, and threads may ask at once
    return found


def stems(text: str) -> frozenset[str]:
    """Return the stems of a list of words that spaces part."""
    return frozenset(stem(w) for w in text.split())
