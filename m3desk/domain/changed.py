"""What a commit changed of what readers keep between questions: ids, so that only what they name is read again."""

from __future__ import annotations

from dataclasses import dataclass

MANY = 50_000
"""Ids of one change above which reading everything again is cheaper than keeping count."""


@dataclass(frozen=True, slots=True)
class Changed:
    """The difference between two versions of a memory (`Reader.version`), by the rows that were written or removed.

    `sentences`: ids of episodic and semantic nodes whose row, words or things changed (other nodes may be among them); `vectors`: those
    whose embedding was written or removed. `observations`: ids of face tracks and utterances that are new, gone, or belong to somebody
    else. `people`, `clips`: whether a person, or a source or clip, changed. `whole`: too much to list, read everything again.
    """

    before: int
    version: int
    sentences: frozenset[str] = frozenset()
    vectors: frozenset[str] = frozenset()
    observations: frozenset[str] = frozenset()
    people: bool = False
    clips: bool = False
    whole: bool = False

    @property
    def nothing(self) -> bool:
        """Say whether nothing that is listed here changed: a chat was kept, a setting was written."""
        return not (self.sentences or self.vectors or self.observations or self.people or self.clips or self.whole)

    def then(self, later: Changed) -> Changed:
        """Return this change and the one that follows it as one. Raises ValueError when a version lies between them."""
        if later.before != self.version:
            raise ValueError(f"version {later.before} does not follow {self.version}")
        sentences, vectors = self.sentences | later.sentences, self.vectors | later.vectors
        observations = self.observations | later.observations
        whole = self.whole or later.whole or len(sentences) + len(vectors) + len(observations) > MANY
        people, clips = self.people or later.people, self.clips or later.clips
        if whole:
            return Changed(self.before, later.version, whole=True)
        return Changed(self.before, later.version, sentences, vectors, observations, people, clips)
