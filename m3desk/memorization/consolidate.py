"""Decides what to do with a new semantic sentence: it reinforces a stored one, contradicts one, or is added. Pure; no store, no model.

Same entities and the same meaning → reinforce; the same statement with the opposite or another value → contradict; else add. In
doubt add: two sentences that say the same can be merged later, but a fact that was merged into another one is lost.
Follows M3-Agent's process_captions update (cosine > 0.85 reinforces, < 0 weakens). Differs: the threshold belongs to the model and
the language, words must agree too, and a contradiction is found by its words: no embedder gives opposites a negative cosine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from m3desk.domain.evidence import Floats
from m3desk.domain.memory import Decision, Sentence, StoredSentence
from m3desk.domain.stemming import stem
from m3desk.memorization.value_words import ANTONYMS, CLASSES, FILLERS, NEGATIONS, SINGLE_VALUED


@dataclass(frozen=True, slots=True)
class Threshold:
    """Cosines from which two sentences mean the same, by their language (see tests/memorization/test_consolidate.py for the pairs)."""

    english: float
    chinese: float


THRESHOLDS: dict[str, Threshold] = {
    # 40 pairs, stored placeholders included: English same ≥ 0.944 (all but one), different ≤ 0.934; Chinese same ≥ 0.973,
    # different ≤ 0.954 (and one at 0.969).
    "multilingual-e5-small": Threshold(0.945, 0.972),
}

UNCALIBRATED = Threshold(2.0, 2.0)
"""For a model nobody measured: only the same words are the same meaning."""


def decide(
    sentence: Sentence,
    vector: Floats,
    candidates: Sequence[tuple[StoredSentence, Floats]],
    *,
    model: str = "multilingual-e5-small",
    people: Sequence[str] | None = None,
    source: str | None = None,
) -> Decision:
    """Decide about a drafted semantic sentence.

    `vector`: (d,) unit row of the sentence's text, by `model`. `candidates`: stored semantic sentences about the same people, with
    their vectors by the same model. `people`: ids of the people whom the sentence speaks of, in order, for a caller whose
    candidates were not chosen by people. `source`: the sentence's; one that speaks of nobody and of no thing merges only within it.
    """
    best: tuple[float, Decision] | None = None
    for stored, row in candidates:
        if not _comparable(sentence, stored, people, source):
            continue
        similarity = float(np.dot(vector, row)) if row.shape == vector.shape else 0.0
        kind = _relation(sentence, stored, similarity, threshold(model, sentence.language))
        if kind is None:
            continue
        # What is confirmed word for word is not contradicted by something else of the same day.
        rank = similarity + (1.0 if kind == "reinforce" else 0.0)
        if best is None or rank > best[0]:
            best = rank, Decision(kind, stored.id, round(similarity, 4))  # type: ignore[arg-type]
    return best[1] if best else Decision("add")


def threshold(model: str, language: str) -> float:
    """Return the cosine from which two sentences of a language mean the same to a model."""
    rule = next((t for name, t in THRESHOLDS.items() if model.startswith(name)), UNCALIBRATED)
    return rule.chinese if language == "zh" else rule.english


def _comparable(sentence: Sentence, stored: StoredSentence, people: Sequence[str] | None, source: str | None) -> bool:
    if stored.kind != "semantic" or stored.valid_until is not None or stored.stale or stored.language != sentence.language:
        return False
    if people is not None and tuple(people) != tuple(stored.people):
        return False
    if len(sentence.spans) != len(stored.spans) and people is None:
        return False
    if sentence.entities and stored.entities and set(sentence.entities) != set(stored.entities):
        return False
    return bool(sentence.spans or sentence.entities or source is None or stored.source == source)


def _relation(sentence: Sentence, stored: StoredSentence, similarity: float, same: float) -> str | None:
    if _quotes(sentence) != _quotes(stored):
        return None
    new, old = _Statement.of(sentence.text, sentence.language), _Statement.of(stored.text, stored.language)
    if new.words == old.words and new.negated == old.negated:
        return "reinforce"
    if contradicts(sentence.text, stored.text, sentence.language):
        return "contradict"
    if new.negated != old.negated or new.numbers != old.numbers or _clash(new, old):
        return None
    return "reinforce" if similarity >= same else None


def _quotes(sentence: Sentence | StoredSentence) -> list[str]:
    """Return the quoted text of a sentence, letters and digits only: captions are compared exactly."""
    return ["".join(c for c in sentence.text[a:b].casefold() if c.isalnum()) for a, b in sentence.quoted]


@dataclass(frozen=True, slots=True)
class _Statement:
    """A parsed sentence: content words (stems), numbers, and whether it is negated."""

    words: frozenset[str]
    numbers: frozenset[str]
    negated: bool

    @staticmethod
    def of(text: str, language: str) -> _Statement:
        words = _words(text, language)
        negated = sum(w in NEGATIONS for w in words) % 2 == 1
        content = [stem(w) for w in words if w not in NEGATIONS and w not in FILLERS]
        return _Statement(frozenset(content), frozenset(w for w in words if w.isdigit()), negated)


_TOKENS = re.compile(r"\d+|[^\W\d_]+(?:'[a-z]+)?|n't")


def _words(text: str, language: str) -> list[str]:
    text = text.casefold().replace("’", "'")
    if language == "zh":
        return _chinese_words(text)
    text = re.sub(r"\b(can|do|does|did|is|are|was|were|has|have|had|would|could|should|wo|ca)n't\b", r"\1 not", text)
    return [_DIGITS.get(t, t) for t in _TOKENS.findall(text)]


_CHINESE = sorted(
    {w for w in (*NEGATIONS, *FILLERS, *(v for c in CLASSES for v in c), *(w for p in ANTONYMS for w in p)) if not w.isascii()},
    key=lambda w: (-len(w), w),
)


def _chinese_words(text: str) -> list[str]:
    """Cut Chinese at the words that matter here (values, negations, fillers); the rest goes character by character."""
    words: list[str] = []
    at = 0
    while at < len(text):
        if match := re.match(r"\d+|[a-z]+", text[at:]):
            words.append(match[0])
            at += len(match[0])
            continue
        word = next((w for w in _CHINESE if text.startswith(w, at)), text[at])
        if word.isalnum():
            words.append(word)
        at += len(word)
    return words


_DIGITS = {w: str(i) for i, w in enumerate(("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"))}


_VALUES = {stem(v): i for i, group in enumerate(CLASSES) for v in group}
_OPPOSITE = {frozenset(stem(w) for w in pair) for pair in ANTONYMS}


def _clash(a: _Statement, b: _Statement) -> bool:
    """Return whether each has a value of one kind that the other has not."""
    mine, theirs = ({_VALUES[w] for w in x.words - y.words if w in _VALUES} for x, y in ((a, b), (b, a)))
    return bool(mine & theirs)


def contradicts(a: str, b: str, language: str = "en") -> bool:
    """Return whether two statements about the same people can't both be true, by rule.

    The same words but one denies; or all words but one the same and the two left over are opposites, two numbers, two values of
    one kind (red, blue), or two values of what one can have only one of ("lives in …").
    """
    x, y = _Statement.of(a, language), _Statement.of(b, language)
    shared = x.words & y.words
    only_x, only_y = x.words - shared, y.words - shared
    if x.negated != y.negated:
        return bool(shared) and len(only_x) + len(only_y) <= (0 if len(shared) < 3 else 1)
    if not shared or not only_x or not only_y or len(only_x) > 2 or len(only_y) > 2:
        return False
    if any(frozenset((p, q)) in _OPPOSITE for p in only_x for q in only_y):
        return len(shared) >= len(only_x) + len(only_y) - 2
    if len(only_x) == len(only_y) == 1:
        p, q = next(iter(only_x)), next(iter(only_y))
        if p.isdigit() and q.isdigit():
            return True
        if p in _VALUES and q in _VALUES and _VALUES[p] == _VALUES[q]:
            return True
    return _single_valued(a, b)


def _single_valued(a: str, b: str) -> bool:
    """Return whether both say what one can have only one of, with different values."""
    for pattern in SINGLE_VALUED:
        p, q = pattern.search(a), pattern.search(b)
        if p and q:
            one, other = _value(p), _value(q)
            return one != other and one not in other and other not in one
    return False


def _value(match: re.Match[str]) -> str:
    return match.group(match.lastindex or 0).casefold().strip(" .。")
