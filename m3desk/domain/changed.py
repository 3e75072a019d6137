"""Which rows a commit changed, by id: search, the views and the questions read only these rows again."""

from __future__ import annotations

from dataclasses import dataclass, replace

MANY = 50_000
"""Ids of one change above which reading everything again is cheaper than keeping count."""

Edge = tuple[str, str, str]
"""The two nodes of an edge, and its kind."""

_LISTS = ("nodes", "vectors", "observations", "people", "sources", "clips", "edges", "steps")


@dataclass(frozen=True, slots=True)
class Changed:
    """The difference between two versions of a memory (`Reader.version`), by the rows that were written or removed.

    `nodes`: of any type, whose row, words or things changed; `vectors`: those whose embedding was written or removed. `observations`: face
    tracks and utterances that are new, gone, or belong to somebody else. `people`, `sources`, `clips`: their rows. `edges`: of the graph.
    `steps`: of the journal, that were written, undone or redone.
    An id may be listed though its row is what it was. `whole`: too much to list, read everything again.
    """

    before: int
    version: int
    nodes: frozenset[str] = frozenset()
    vectors: frozenset[str] = frozenset()
    observations: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    clips: frozenset[str] = frozenset()
    edges: frozenset[Edge] = frozenset()
    steps: frozenset[str] = frozenset()
    whole: bool = False

    @property
    def nothing(self) -> bool:
        """Return whether nothing that is listed here changed: a chat was kept, a setting was written."""
        return not (self.whole or self.count)

    @property
    def count(self) -> int:
        """Return how many ids are listed."""
        return sum(len(getattr(self, name)) for name in _LISTS)

    def then(self, later: Changed) -> Changed:
        """Return this change and the one that follows it as one. Raises ValueError when a version lies between them."""
        if later.before != self.version:
            raise ValueError(f"version {later.before} does not follow {self.version}")
        if self.whole or later.whole:
            return Changed(self.before, later.version, whole=True)
        both = {name: getattr(self, name) | getattr(later, name) for name in _LISTS}
        return Changed(self.before, later.version, **both).at_most(MANY)

    def at_most(self, most: int) -> Changed:
        """Return this change, or one that says "everything" where it lists more ids than that."""
        return Changed(self.before, self.version, whole=True) if not self.whole and self.count > most else self

    def without_vectors(self) -> Changed:
        """Return what of this change can be seen."""
        return replace(self, vectors=frozenset()) if self.vectors else self
