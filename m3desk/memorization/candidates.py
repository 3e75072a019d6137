"""What the parts of the built-in writer hand to it: a candidate sentence with its rank."""

from __future__ import annotations

from dataclasses import dataclass

from m3desk.memorization.phrases import FilledPhrase


@dataclass(frozen=True, slots=True)
class CandidateSentence:
    """A candidate sentence. `rank`: 0 is the most important; above the clip's limit the highest ranks are left out.

    `filler`: told only where no other sentence of the clip speaks of its people; `known`: only where the clip has no other sentence, for
    it was so already when the clip before ended.
    """

    start: int
    end: int
    line: FilledPhrase
    event: str
    rank: int
    citations: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    filler: bool = False
    known: bool = False
