"""What an answer rests on: what its people were called and what its cited sentences said, to tell later whether both still hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from m3desk.domain.graph import NodeRow
    from m3desk.domain.memory import StoredSentence


def said_by(sentences: Iterable[StoredSentence], nodes: Iterable[NodeRow], called: Mapping[str, str]) -> dict[str, str]:
    """Return node → what it says: a sentence its words, a face or voice what its person is called. `called`: by person."""
    whose = {n.id: called.get(n.person or "", "") for n in nodes if n.type not in ("episodic", "semantic")}
    return whose | {s.id: s.shown for s in sentences}


def names(text: str, name: str) -> bool:
    """Return whether a text has a name, whole."""
    return bool(name) and name in text and re.search(_whole(name), text) is not None


def renamed(text: str, then: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return a text with people called as they are now. `then`, `now`: what each person is called; only whole names are replaced.

    A name that two people had then stays where they are called differently now.
    """
    new: dict[str, set[str]] = {}
    for person, name in then.items():
        new.setdefault(name, set()).add(now.get(person, name))
    certain = {old: next(iter(names)) for old, names in new.items() if old and len(names) == 1}
    if all(old == name for old, name in certain.items()):
        return text
    pattern = re.compile("|".join(map(_whole, sorted(certain, key=lambda n: (-len(n), n)))))
    return pattern.sub(lambda found: certain[found.group()], text)


def _whole(name: str) -> str:
    """Return a pattern of a name that is no part of another word; in a script without spaces any letter may stand beside it."""
    before = r"(?<![A-Za-z0-9_])" if name[0].isascii() else ""
    after = r"(?![A-Za-z0-9_])" if name[-1].isascii() and name[-1].isalnum() else ""
    return f"{before}{re.escape(name)}{after}"
