"""Keyword search: rows that ranking skips are not among the best."""

import math
import random
from collections import Counter

import numpy as np
import pytest

from m3desk.control.keywords import K1, B, Keywords
from m3desk.domain.memory import Outline


def _outline(n: int, text: str) -> Outline:
    return Outline(f"episodic_{n}", "episodic", text, "s1.c0", "s1", n, n + 1, 1.0, (), (), None, False, False, False, ())


def _plain(texts: list[list[str]], query: list[str], alive: np.ndarray) -> dict[int, float]:
    """Score every sentence, one by one."""
    size = int(alive.sum())
    mean = sum(len(t) for t, a in zip(texts, alive, strict=True) if a) / size
    found: dict[int, float] = {}
    for word, wanted in Counter(query).items():
        held = [n for n, t in enumerate(texts) if alive[n] and word in t]
        rarity = wanted * math.log(1 + (size - len(held) + 0.5) / (len(held) + 0.5)) * (K1 + 1)
        for n in held:
            times = texts[n].count(word)
            found[n] = found.get(n, 0.0) + rarity * times / (times + K1 * (1 - B + B * len(texts[n]) / mean))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_the_best_by_words_are_the_same_as_when_every_sentence_is_scored(seed: int) -> None:
    dice = random.Random(seed)
    vocabulary = [f"w{n}" for n in range(60)]
    often = [1 / (n + 1) for n in range(60)]
    texts = [["says"] * (n % 2) + dice.choices(vocabulary, often, k=dice.randint(1, 9)) for n in range(600)]
    outlines = [_outline(n, " ".join(t)) for n, t in enumerate(texts)]
    keywords = Keywords.of(outlines[:500], str.split).changed([3, 7], outlines[500:], str.split)  # some are not merged yet
    alive = np.ones(600, np.bool_)
    alive[[3, 7]] = False
    left_out = 0
    for _ in range(40):
        query = dice.choices(["says", *vocabulary], [0.5, *often], k=dice.randint(1, 5))
        only = None if dice.random() < 0.5 else np.array([dice.random() < 0.6 for _ in texts])
        k = dice.choice([1, 5, 20, 100])
        rows, scores = keywords.ranked(query, alive, only, k)
        wanted = {n: score for n, score in _plain(texts, query, alive).items() if only is None or only[n]}
        found = dict(zip(rows.tolist(), scores.tolist(), strict=True))
        least = sorted(wanted.values(), reverse=True)[:k][-1] if wanted else 0.0
        assert {n: s for n, s in wanted.items() if s >= least} == {n: s for n, s in found.items() if s >= least}, query
        assert found.items() <= wanted.items()
        left_out += len(wanted) - len(found)
    assert left_out > 1000  # or nothing was gained


def test_a_sentence_that_holds_a_word_more_often_than_16_bits_count_is_taken_in_and_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    long = _outline(1, "again " * 70_000)
    words = Keywords.of([_outline(0, "again")], str.split).changed([], [long], str.split)
    assert words.holding("again")[1].tolist() == [1, 0xFFFF]
    monkeypatch.setattr("m3desk.control.keywords._MERGE", 0)
    assert words.changed([], [_outline(2, "again")], str.split).holding("again")[1].tolist() == [1, 0xFFFF, 1]
