"""Semantic memories that need no language model: what captions and people themselves plainly state, and who is and talks with whom.

They are written for every clip as soon as it has its episodic sentences, so that a memory without a language model has knowledge, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, pairwise

from m3desk.domain.clear_speech import is_marked
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.ids import numbered
from m3desk.domain.memory import Draft, Sentence, StoredSentence
from m3desk.memorization import names
from m3desk.memorization.grounds import gives_orders, stated
from m3desk.memorization.knowledge import (
    SLOTS,
    bears_out,
    observations_of,
    quote,
    semantic,
    speakers,
    speeches,
    writing_language,
)
from m3desk.memorization.phrases import Who, say


class RuledKnowledgeWriter:
    """Answers ports.KnowledgeWriter by rules; in milliseconds."""

    name = "ruled-1"

    def conclude(
        self,
        sentences: Sequence[StoredSentence],
        *,
        known: Sequence[StoredSentence] = (),
        language: str | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Draft:
        """Return the semantic sentences that follow from those of one clip, each with `rests_on`."""
        usable = [s for s in sentences if s.kind == "episodic" and not s.stale]
        written = writing_language(usable, language)
        rules = (captioned, introduced, plain, together, talking)
        drafts = [s for rule in rules for s in rule(usable, written)]
        return Draft(tuple(sorted(drafts, key=lambda s: (s.start, s.end, s.text))), model=self.name)


def introduced(sentences: Sequence[StoredSentence], language: str) -> Iterable[Sentence]:
    """Conclude from words with which somebody introduces themselves ("I'm Ann Lee") how; not where a caption spells the name."""
    read = [quote(s) for s in sentences if s.event == "text" and s.quoted]
    told: set[tuple[str, str]] = set()
    for s in sentences:
        tags = speakers(s)
        if s.event != "says" or len(tags) != 1 or gives_orders(quote(s)) or is_marked(s.text, s.quoted):
            continue
        for name, score in names.introduced(quote(s)):
            spelled = any((found := names.in_caption(r)) and names.sounds_like(found.name, name) for r in read)
            if score >= SURE_NAME and not spelled and (tags[0], name) not in told:
                told.add((tags[0], name))
                line = say("knows_introduced", language, who=[Who(observations_of([s], tags[0]))], said=[name])
                yield semantic(line, "attribute", [s], language)


SURE_NAME = 0.7
"""Score (names.introduced) from which a name that somebody gives is written down."""


COMPANY = 20 * MICROSECOND
"""People seen together for less than this pass by, or share a shot; the episodic sentence says so."""


def plain(sentences: Sequence[StoredSentence], language: str) -> Iterable[Sentence]:
    """Conclude what people plainly state of themselves: "I'm the chef", "I live in Berlin"."""
    for speech in speeches(sentences):
        for slot, what in stated(speech.words).items():
            if rests_on := bears_out(slot, what, speech):
                line = say(f"knows_{slot}", language, who=[Who(speech.observations)], what=what)
                yield semantic(line, SLOTS[slot], rests_on, language)


def captioned(sentences: Sequence[StoredSentence], language: str) -> Iterable[Sentence]:
    """Conclude from a caption that introduces one person how; other texts are told of nobody."""
    for s in sentences:
        tags = speakers(s)
        if s.event == "text" and len(tags) == 1 and s.quoted:
            line = say("knows_caption", language, who=[Who(observations_of([s], tags[0]))], said=[quote(s)])
            yield semantic(line, "attribute", [s], language)


def together(sentences: Sequence[StoredSentence], language: str) -> Iterable[Sentence]:
    """Conclude from two or three people told in one sentence for a while that they are seen together, pair by pair, each once."""
    pairs: dict[tuple[str, str], list[StoredSentence]] = {}
    for s in sentences:
        people = sorted(speakers(s), key=_number)
        if s.event in ("present", "appears", "returns") and 2 <= len(people) <= 3 and s.end - s.start >= COMPANY:
            for a, b in combinations(people, 2):
                pairs.setdefault((a, b), []).append(s)
    for (a, b), seen in pairs.items():
        line = say("knows_together", language, who=[Who(observations_of(seen, a)), Who(observations_of(seen, b))])
        yield semantic(line, "relationship", seen, language)


TURN = 3 * MICROSECOND // 2
"""A shorter turn does not tell whose voice it is: in quick succession of people it is taken for another's."""


def talking(sentences: Sequence[StoredSentence], language: str) -> Iterable[Sentence]:
    """Conclude from two voices that take turns, at least there and back within four seconds each, that they talk with each other."""
    said = [(s, tags[0]) for s in sentences if s.event == "says" and len(tags := speakers(s)) == 1 and s.end - s.start >= TURN]
    turns: dict[tuple[str, str], set[tuple[str, str]]] = {}
    rests_on: dict[tuple[str, str], list[StoredSentence]] = {}
    for (one, a), (other, b) in pairwise(said):
        if a != b and other.start - one.end < 4 * MICROSECOND:
            pair = (a, b) if _number(a) < _number(b) else (b, a)
            turns.setdefault(pair, set()).add((a, b))
            rests_on.setdefault(pair, []).extend([one, other])
    for pair, ways in turns.items():
        if len(ways) == 2:
            seen = list(dict.fromkeys(rests_on[pair]))[:6]
            line = say("knows_talk", language, who=[Who(observations_of(seen, t)) for t in pair])
            yield semantic(line, "relationship", seen, language)


def _number(tag: str) -> int:
    return numbered(tag.strip("<>"))
