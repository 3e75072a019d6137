"""A union-find with cannot-link constraints: which persons are one."""

from __future__ import annotations

from collections import defaultdict

from m3desk.domain.ids import numbered


class Partition:
    """Which persons are one: a union-find with cannot-link constraints."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}
        self._cannot_links: dict[str, set[str]] = defaultdict(set)  # roots

    def copy(self) -> Partition:
        """Return an independent copy."""
        made = Partition()
        made._parent = dict(self._parent)
        made._cannot_links = defaultdict(set, {person: set(others) for person, others in self._cannot_links.items()})
        return made

    def root(self, person: str) -> str:
        parent = self._parent.setdefault(person, person)
        while parent != self._parent[parent]:
            parent = self._parent[parent]
        self._parent[person] = parent
        return parent

    def one(self, a: str, b: str) -> bool:
        return self.root(a) == self.root(b)

    def cannot_join(self, a: str, b: str) -> bool:
        return self.root(b) in self._cannot_links[self.root(a)]

    def join(self, a: str, b: str) -> bool:
        """Join two persons; return False if a cannot-link forbids it."""
        a, b = self.root(a), self.root(b)
        if a == b:
            return True
        if self.cannot_join(a, b):
            return False
        keep, gone = sorted((a, b), key=numbered)
        self._parent[gone] = keep
        theirs = self._cannot_links.pop(gone, set())
        for other in theirs:
            self._cannot_links[other].discard(gone)
            self._cannot_links[other].add(keep)
        self._cannot_links[keep] |= theirs
        return True

    def add_cannot_link(self, a: str, b: str) -> bool:
        """Forbid joining two persons from now on; return False if they are one already."""
        if self.one(a, b):
            return False
        self._cannot_links[self.root(a)].add(self.root(b))
        self._cannot_links[self.root(b)].add(self.root(a))
        return True

    def cannot_links(self) -> list[tuple[str, str]]:
        """Return the pairs of roots with a cannot-link, in both orders."""
        return [(a, b) for a, others in self._cannot_links.items() for b in others]

    def classes(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for person in sorted(self._parent, key=numbered):
            found[self.root(person)].append(person)
        return found
