"""Names that were heard or read: which words can be a name, and which person it belongs to if several are called by it. Pure.

A name found here is only ever a suggestion; these rules drop the useless ones and those that are unsafe to show.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping

LONGEST = 80
"""Letters of a name; longer ones are texts."""

LEAD = 1.5
"""How much more often (by summed scores) one of several must be addressed by a name for it to be theirs."""

SELF_SPOKEN = frozenset({"introduced", "caption"})
"""Evidence on the bearer: they say their name themselves, or it stands under their face. Being addressed is hearsay beside it."""

_SYSTEM = frozenset({
    "person", "people", "character", "face", "voice", "node", "entity", "speaker", "someone", "somebody", "nobody", "unknown",
    "某人", "人物",
})  # fmt: skip
"""Words of this program's own ids and placeholders: "Person 3" is nobody's name."""


def plausible(name: str) -> str | None:
    """Return a heard name fit to be shown and compared (no invisible characters, single spaces), None for what can't be a name.

    Refused: more than LONGEST letters, digits or signs of markup, words of ids, fewer than two letters.
    """
    if len(name) > 4 * LONGEST:
        return None
    plain = unicodedata.normalize("NFC", name)
    # Cf and Cc: zero-width characters, marks that turn the direction of writing, line breaks.
    visible = "".join(c if c.isspace() or unicodedata.category(c) not in ("Cf", "Cc", "Co", "Cn", "Cs") else "" for c in plain)
    clean = " ".join(visible.split())
    if not 2 <= len(clean) <= LONGEST or not all(c.isalpha() or unicodedata.category(c) == "Mn" or c in " .'’-·•" for c in clean):
        return None
    words = [w.casefold() for w in re.split(r"[^\w]+", clean) if w]
    if sum(c.isalpha() for c in clean) < 2 or any(w in _SYSTEM for w in words):
        return None
    return clean


def one_name(a: str, b: str) -> bool:
    """Return whether two names may be one person's: the same but for case, or a first or last name alone beside the full one."""
    x, y = a.casefold().split(), b.casefold().split()
    if x == y:
        return True
    short, long = sorted((x, y), key=len)
    return len(short) == 1 and len(long) > 1 and short[0] in (long[0], long[-1])


def whose(heard: Mapping[tuple[str, str], Iterable[tuple[str, float]]], confirmed: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return which (person, name) suggestions stand, where several people are called by one name.

    heard: (person, name) → its evidence (kind, score). confirmed: person → the name a user gave them. Somebody who is only addressed by
    a name yields to anybody who bears it by SELF_SPOKEN evidence or a user's word; where all are only addressed, the one who leads by
    LEAD keeps it, else nobody does. Two who both introduce themselves as Ann are both called Ann.
    """
    score: dict[tuple[str, str], float] = {}
    bears: set[tuple[str, str]] = set()
    by_word: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for key, rows in heard.items():
        evidence = list(rows)
        score[key] = round(sum(s for _, s in evidence), 6)
        if any(kind in SELF_SPOKEN for kind, _ in evidence):
            bears.add(key)
        for word in ends(key[1]):
            by_word[word].append(key)
    given: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for key in confirmed.items():
        for word in ends(key[1]):
            given[word].append(key)

    def theirs(key: tuple[str, str]) -> bool:
        person, name = key
        rivals = [k for word in ends(name) for k in by_word[word] if k[0] != person and one_name(k[1], name)]
        taken = any(p != person and one_name(n, name) for word in ends(name) for p, n in given.get(word, ()))
        return not taken and not any(k in bears for k in rivals) and all(score[key] >= LEAD * score[k] for k in rivals)

    return {key for key in score if key in bears or theirs(key)}


def ends(name: str) -> set[str]:
    """Return the first and the last word of a name: names that may be one person's share one of them."""
    words = name.casefold().split()
    return {words[0], words[-1]} if words else set()
