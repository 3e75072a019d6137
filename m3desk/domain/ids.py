"""Ids: how each kind is written and read. No other module parses an id.

| what | id |
|---|---|
| source, clip | `s1`, `s1.c12` |
| face track, utterance | `s1.c12.f3`, `s1.c12.u3` |
| an observation that correction step 12 made | `s1.c12.u3_12a`; a face that was missed: `s1.c12.f_12a` |
| person, node, sentence | `person_3`, `face_7`, `voice_2`, `episodic_41`, `semantic_5` |

Functions that read an id raise ValueError where it has another form; what comes from outside is checked first (`domain/shape.py`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

SOURCE = r"s\d{1,9}"
CLIP = SOURCE + r"\.c\d{1,9}"
MADE_PART = r"\d{0,13}(_\d{1,9}[a-z]+)?"
"""Patterns of ids: of a source, of a clip, and of what follows the letter in the id of an observation."""

MADE = "*_*"
"""What the ids of observations that a correction made look like to SQL's GLOB; no other observation has that sign in its id."""

_MADE = re.compile(r"_(\d+)[a-z]+$")
_PERSON = re.compile(r"person_\d+")
_LETTERS: dict[str, Literal["face", "voice"]] = {"f": "face", "u": "voice"}


# ---------------------------------------------------------------- sources and clips


def source_id(number: int) -> str:
    """Return the id of a source: `s1`."""
    return f"s{number}"


def source_of(some_id: str) -> str:
    """Return the source in a clip's or an observation's id: `s1` of `s1.c12.f3`; of a source's id itself."""
    return some_id.split(".", 1)[0]


def source_number(some_id: str) -> int:
    """Return the number of the source in a source's, clip's or observation's id: 1 of `s1.c12`. Raises ValueError."""
    return _number(source_of(some_id), "s")


def clip_id(source: str, index: int) -> str:
    """Return the id of a clip: `s1.c12`."""
    return f"{source}.c{index}"


def clip_of(observation: str) -> str:
    """Return the clip in an observation's id: `s1.c12` of `s1.c12.f3`."""
    return observation.rsplit(".", 1)[0]


def clip_index(some_id: str) -> int:
    """Return the number of the clip in a clip's or observation's id: 12 of `s1.c12`. Raises ValueError."""
    return clip_order(some_id)[1]


def clip_order(some_id: str) -> tuple[int, int]:
    """Return (source, clip) numbers of a clip's or observation's id, which sort by source and time. Raises ValueError."""
    source, clip, *_ = (*some_id.split(".", 2), "")
    return _number(source, "s"), _number(clip, "c")


def _number(part: str, letter: str) -> int:
    if part[:1] != letter:
        raise ValueError(f"“{part}” is not {letter} and a number")
    return int(part[1:])


def clip_before(clip: str) -> str | None:
    """Return the id of the clip before, None for a source's first. Raises ValueError."""
    index = clip_index(clip)
    return clip_id(source_of(clip), index - 1) if index else None


# ---------------------------------------------------------------- observations


def face_id(clip: str, number: int | None = None) -> str:
    """Return the id of a face track: `s1.c12.f3`; without a number what `made_id` makes the id of a face from that was not perceived."""
    return f"{clip}.f{'' if number is None else number}"


def utterance_id(clip: str, number: int | None = None) -> str:
    """Return the id of an utterance: `s1.c12.u3`; without a number what `made_id` makes the id of an utterance from."""
    return f"{clip}.u{'' if number is None else number}"


def observation_type(observation: str) -> Literal["face", "voice"]:
    """Return what an observation shows: `face` of `s1.c12.f3`, `voice` of `s1.c12.u3`. Raises ValueError."""
    found = _LETTERS.get(observation.rpartition(".")[2][:1])
    if found is None:
        raise ValueError(f"{observation} is no id of a face track or an utterance")
    return found


def made_id(original: str, step: int, place: int) -> str:
    """Return the id of observation number `place` (from 0) that a correction step puts in the place of another (or, `s1.c0.f`, adds)."""
    return f"{_MADE.sub('', original)}_{step}{chr(ord('a') + place % 26)}{'z' * (place // 26)}"


def step_of(observation: str) -> int | None:
    """Return the correction step that made an observation, None where it was perceived."""
    found = _MADE.search(observation)
    return int(found[1]) if found else None


# ---------------------------------------------------------------- persons, nodes, sentences


def numbered_id(kind: str, number: int) -> str:
    """Return the id of a person, node or sentence: `person_3`."""
    return f"{kind}_{number}"


def person_id(number: int) -> str:
    """Return the id of a person: `person_3`."""
    return numbered_id("person", number)


@lru_cache(maxsize=1 << 14)  # a commit asks for the same few hundred again and again
def numbered(some_id: str) -> int:
    """Return the number in the id of a person, node or sentence: 3 of `person_3`. Raises ValueError."""
    return int(some_id.rpartition("_")[2])


def node_type(some_id: str) -> str:
    """Return what a person's, node's or sentence's id says that it is: `face` of `face_7`."""
    return some_id.rpartition("_")[0]


def is_person(text: str) -> bool:
    """Return whether a text is the id of a person."""
    return _PERSON.fullmatch(text) is not None
