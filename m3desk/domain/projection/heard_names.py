"""The names suggested for each person, updated only for the names that changed and those that share a word with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from m3desk.domain.identities import Identities
from m3desk.domain.log import Log
from m3desk.domain.naming import ends, plausible, whose
from m3desk.domain.people import SuggestedName
from m3desk.domain.projection.decisions import Decisions
from m3desk.domain.projection.evidence import Evidence
from m3desk.domain.projection.tables import SetsByKey, Table, Tables
from m3desk.domain.shown_people import confirmed_names, rejected_names, suggested_name

Key = tuple[str, str]
"""A person, and a name in lower case."""


class HeardNames:
    """The names that were heard or read, and for whom they are suggested."""

    def __init__(self, tables: Tables, log: Log, who: Identities, evidence: Evidence) -> None:
        self._log, self._who, self._evidence = log, who, evidence
        self._of: SetsByKey[str, int] = tables.index()  # original observation → places in the log's names
        self._key_at: Table[int, Key] = tables.table()
        self._places: Table[Key, tuple[int, ...]] = tables.table()
        self._sharing_word: SetsByKey[str, Key] = tables.index()  # first or last word → names
        self._suggested: SetsByKey[str, Key] = tables.index()  # person → suggested names
        self._said: Table[str, Mapping[str, str] | frozenset[Key]] = tables.table()
        self._said.put("given", {})
        self._said.put("rejected", frozenset())
        self._plain: dict[str, str | None] = {}

    def add(self, places: range) -> None:
        """Add names that were heard, by their places in the log."""
        for i in places:
            self._of.add(self._evidence.root(self._log.names[i].observation), i)

    def weigh(self, families: Iterable[str], new: range, decisions: Decisions, renamed: bool) -> set[str]:
        """Update the suggested names of affected families and new names; return the persons whose names changed.

        `renamed`: ids of persons changed, or users' decisions on names.
        """
        touched = self._place({*new, *(i for f in families for i in self._of[f])})
        if renamed:
            touched |= self._hear(decisions)
        if not touched:
            return set()
        near = touched | self._like(touched)
        confirmed, rejected = self._said["given"], self._said["rejected"]
        assert isinstance(confirmed, dict) and isinstance(rejected, frozenset)
        around = {k for k in near | self._like(near) if k in self._places and k not in rejected}
        rows = {k: [(self._log.names[i].by, self._log.names[i].score) for i in self._places[k]] for k in around}
        theirs = whose(rows, confirmed)
        people = {person for person, _ in touched}
        for key in near:
            if self._suggested.add(key[0], key) if key in theirs else self._suggested.remove(key[0], key):
                people.add(key[0])
        return people

    def of(self, person: str) -> list[SuggestedName]:
        """Return the suggested names of a person, best first."""
        found = [suggested_name([(self._plain_name(i), self._log.names[i]) for i in self._places[k]]) for k in self._suggested[person]]
        return sorted(found, key=lambda n: (-n.score, n.name))

    def _plain_name(self, place: int) -> str:
        heard = self._log.names[place].name
        if heard not in self._plain:
            self._plain[heard] = plausible(heard)
        return self._plain[heard] or ""

    def _place(self, places: Iterable[int]) -> set[Key]:
        added: dict[Key, set[int]] = defaultdict(set)
        removed: dict[Key, set[int]] = defaultdict(set)
        for i in places:
            h = self._log.names[i]
            held = self._who.held.get(self._who.evidence.follow(h.observation, h.at, h.at + 1))
            name = self._plain_name(i)
            key = (held.person, name.casefold()) if held and held.person and name else None
            old = self._key_at.get(i)
            if key == old:
                continue
            if old is not None:
                removed[old].add(i)
                self._key_at.drop(i)
            if key is not None:
                added[key].add(i)
                self._key_at.put(i, key)
        for key in added.keys() | removed.keys():
            now = tuple(sorted({*self._places.get(key, ()), *added.get(key, ())} - removed.get(key, set())))
            for word in ends(key[1]):
                _ = self._sharing_word.add(word, key) if now else self._sharing_word.remove(word, key)
            _ = self._places.put(key, now) if now else self._places.drop(key)
        return set(added.keys() | removed.keys())

    def _hear(self, decisions: Decisions) -> set[Key]:
        """Update users' decisions on names; return the names that this may change."""
        confirmed, rejected = (
            confirmed_names(decisions.names, self._who.canonical),
            frozenset(rejected_names(decisions.refusing, self._who.canonical)),
        )
        old, refused = self._said["given"], self._said["rejected"]
        assert isinstance(old, dict) and isinstance(refused, frozenset)
        self._said.put("given", confirmed)
        self._said.put("rejected", rejected)
        found = {k for k in refused ^ rejected if k in self._places}
        for person, name in old.items() ^ confirmed.items():
            for word in ends(name):
                found |= set(self._sharing_word[word])
            found |= set(self._suggested[person])
        return found

    def _like(self, keys: Iterable[Key]) -> set[Key]:
        """Return the names that share their first or last word with some of these."""
        return {k for word in {w for _, name in keys for w in ends(name)} for k in self._sharing_word[word]}
