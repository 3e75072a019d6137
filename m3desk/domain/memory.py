"""Sentences of a memory: episodic (what happened in a clip), semantic (general facts), and drafts of both.

A sentence never holds a person's name or number. Where it speaks of somebody, its text holds a neutral placeholder (the
language's word for "someone", such as `someone` or `某人`) covered by a span, which lists the observations that show
or speak as this person; the bindings in force give the name whenever the sentence is shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Topic = Literal["attribute", "relationship", "habit", "plot", "general"]

PLACEHOLDER: dict[str, str] = {"en": "someone", "zh": "某人"}
"""The word that stands for a person in a stored sentence, by language; other languages use English."""


WATCHED = "watched by "
"""What `model` of a sentence begins with if a model watched the clip; backend, model and prompt follow."""


@dataclass(frozen=True, slots=True)
class Span:
    """Code points [start, end) of a sentence that stand for the person these observations belong to (one person per span)."""

    start: int
    end: int
    observations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as a memory writer drafts it.

    `start`, `end`: microseconds of the source. `citations`: ids of the observations it rests on (spans' included); never
    empty unless it rests on the whole clip (objects, text on screen), then () = the span start–end.
    `entities`: labels of objects and places it speaks of ("dog", "kitchen"). `quoted`: code-point ranges [start, end) of the text that were
    said or read on screen: they may hold tags or instructions and never mean anything.
    `event`: what kind of happening the rule-based writer saw ("appears", "returns", "leaves", "says", "text", "object", "scene", …).
    `rests_on`: for a semantic sentence, indexes into the draft's sentences or ids of stored nodes it was concluded from.
    `model`: who wrote it, where that is not the draft's model.
    """

    text: str
    kind: Literal["episodic", "semantic"]
    start: int
    end: int
    spans: tuple[Span, ...] = ()
    citations: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    quoted: tuple[tuple[int, int], ...] = ()
    language: str = "en"
    event: str | None = None
    topic: Topic | None = None
    rests_on: tuple[str, ...] = ()
    model: str = ""


@dataclass(frozen=True, slots=True)
class Vote:
    """One vote that the owners of two observations (a face track and an utterance) are one person."""

    a: str
    b: str
    by: str
    weight: float


@dataclass(frozen=True, slots=True)
class HeardName:
    """A name that may belong to the person of `observation`. `evidence`: observation id, or `screen:START-END`, with the words.

    `by`: "introduced" (I'm Ann), "addressed" (Thanks, Ann), "caption" (Host JEFF STEEN).
    """

    observation: str
    name: str
    score: float
    by: str
    evidence: str
    words: str
    at: int


@dataclass(frozen=True, slots=True)
class Draft:
    """What a memory writer returns for one clip: sentences in time order, votes and names heard. Nothing is bound yet."""

    sentences: tuple[Sentence, ...] = ()
    votes: tuple[Vote, ...] = ()
    names: tuple[HeardName, ...] = ()
    model: str = ""
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Version:
    """The sentences of another writer for a clip, which are not in force. `shown`: each with the people's names of now."""

    clip: str
    writer: str
    at: str
    sentences: tuple[Sentence, ...]
    shown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredSentence:
    """A memory as the store gives it back, with everything resolved for showing.

    `text`: stored text with placeholders; `shown`: with names and numbers in force ("Ann", "Jeff Steen?", "Person 3").
    `people`: person ids in order of mention. `tagged`: with `<person_3>` in place of each placeholder (for models).
    """

    id: str
    kind: str
    text: str
    shown: str
    tagged: str
    clip: str
    source: str
    start: int
    end: int
    weight: float
    people: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    topic: str | None = None
    valid_until: str | None = None
    pinned: bool = False
    stale: bool = False
    quoted: tuple[tuple[int, int], ...] = ()
    event: str | None = None
    model: str = ""
    language: str = "en"
    entities: tuple[str, ...] = ()


class Outline(NamedTuple):
    """What search keeps of a sentence in force: what ranks it, nothing that is only shown.

    `people`: person ids in order of mention. `ended`: it has an end of validity. `cites`: observations that a spoken sentence rests on,
    () of others.
    """

    id: str
    kind: str
    text: str
    clip: str
    source: str
    start: int
    end: int
    weight: float = 1.0
    people: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    event: str | None = None
    ended: bool = False
    stale: bool = False
    pinned: bool = False
    cites: tuple[str, ...] = ()


class TimelineSentence(NamedTuple):
    """A sentence in force as the timeline shows it. Times: microseconds of the clip's source."""

    clip: str
    start: int
    end: int
    node: str
    kind: str
    shown: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a drafted semantic sentence: added, or it reinforces (`target` gets +1)
    or contradicts (`target` is weakened) a stored one.

    Of `contradict`, the new sentence is added and linked `contradicts` to the target, which gets an end of validity.
    """

    kind: Literal["add", "reinforce", "contradict"]
    target: str | None = None
    similarity: float | None = None
