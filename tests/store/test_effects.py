"""The effect of each correction is said in words: names, kinds and times, never an id."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from m3desk.domain.memory import Draft
from m3desk.store.memory import Memory
from tests.store.invented import AT, MODELS, S, clips, remember, seen, source
from tests.store.random_corrections import check
from tests.store.test_corrections_enrolled import photo

ID = re.compile(r"\b(person|face|voice|episodic|semantic|s\d+\.c)_?\d+")


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.create(tmp_path / "m.m3desk") as made:
        made.plan_clips(made.add_source(source()).id, clips("s1"), fps=5.0)
        for people in ((1, 2), (1, 3)):
            remember(made, made.next_clips("s1")[0], people)
        made.correct("name", {"person": "person_1", "name": "Ann"})
        yield made


@pytest.mark.parametrize(
    ("kind", "args", "says"),
    [
        ("name", {"person": "person_2", "name": "Bob"}, "names Person 2 “Bob”"),
        ("name", {"person": "person_1", "name": None}, "removes the name of Ann"),
        ("assign", {"observations": ["s1.c0.f1"], "person": "person_1"}, "gives the face at 00:07 to Ann (1 face and 1 utt"),
        ("assign", {"observations": ["s1.c0.f1", "s1.c0.u1"], "person": "person_1"}, "gives 1 face and 1 utterance to Ann"),
        ("merge", {"keep": "Ann", "others": ["person_2"]}, "merges Person 2 into Ann"),
        ("split", {"person": "person_1", "observations": ["s1.c0.f0"], "name": "Cy"}, "moves the face at 00:00 from Ann to Cy"),
        ("exclude", {"observations": ["s1.c0.u0"], "person": "person_1"}, "says that the utterance at 00:01 is not Ann"),
        ("set-aside", {"observation": "s1.c0.f0"}, "sets the face at 00:00 aside"),
        ("words", {"observation": "s1.c0.u0", "text": "Hello."}, "corrects the words of the utterance at 00:01 to “Hello.”"),
        (
            "bounds",
            {"observation": "s1.c0.u0", "start": 1_500_000, "end": 4_000_000},
            "lets the utterance at 00:01 last from 1.50 to 4.00 s",
        ),
        ("split-at", {"observation": "s1.c0.u0", "at": 3_000_000}, "splits the utterance at 00:01 in two at 00:03"),
        ("pin", {"memory": "episodic_1"}, "pins a memory"),
        ("unlink", {"face": "FACE", "voice": "VOICE"}, "unlinks a face of Ann and a voice of Ann"),
    ],
)
def test_a_correction_is_said_in_words(memory: Memory, kind: str, args: dict[str, Any], says: str) -> None:
    nodes = {"FACE": memory.state().who.held["s1.c0.f0"].node, "VOICE": memory.state().who.held["s1.c0.u0"].node}
    given = {k: nodes.get(v, v) if isinstance(v, str) else v for k, v in args.items()}
    if kind == "pin":
        given = {"memory": memory.memories(kind="episodic")[0].id}
    text = memory.correct(kind, given, dry_run=True).text
    assert text.startswith(says) and not ID.search(text)


def test_whom_a_photo_teaches_is_said_by_name(memory: Memory) -> None:
    text = memory.correct("enroll", {"name": "Grace"}, lessons=[photo(9, "grace.jpg")], dry_run=True).text
    assert text.startswith("teaches Grace, somebody new, from 1 file") and not ID.search(text)


@pytest.mark.parametrize(
    ("at_once", "says"), [(True, "they speak at the same time"), (False, "the lips of two people move with their speech")]
)
def test_joining_two_voices_that_cannot_be_one_says_why(tmp_path: Path, at_once: bool, says: str) -> None:
    with Memory.create(tmp_path / "m.m3desk") as memory:
        memory.plan_clips(memory.add_source(source()).id, clips("s1"))
        perceived, _ = seen(clip := memory.next_clips("s1")[0], (1, 2))
        one, two = perceived.utterances
        if at_once:
            two = replace(two, start=one.start + S, end=one.end + S, words=())
        heard = replace(perceived, faces=(), utterances=(one, two), cannot_link=frozenset({(one.id, two.id)}))
        memory.commit_episodic(clip, heard, Draft((), model="r"), models=MODELS, at=AT)
        keep, other = (p.id for p in memory.people())
        joined = memory.correct("merge", {"keep": keep, "others": [other]}, dry_run=True)
        assert f"; {says} at 00:0" in joined.text
        memory.correct("words", {"observation": one.id, "text": "Other words."})
        joined = memory.correct("merge", {"keep": keep, "others": [other]}, dry_run=True)
        assert f"; {says} at 00:0" in joined.text, "other words change nothing in that"
        check(memory)


def test_two_voices_that_lips_told_apart_stay_apart_with_the_longer_part_of_what_is_split(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m.m3desk") as memory:
        memory.plan_clips(memory.add_source(source()).id, clips("s1"))
        perceived, _ = seen(clip := memory.next_clips("s1")[0], (1, 2))
        one, two = perceived.utterances
        heard = replace(perceived, faces=(), utterances=(one, two), cannot_link=frozenset({(one.id, two.id)}))
        memory.commit_episodic(clip, heard, Draft((), model="r"), models=MODELS, at=AT)
        keep, other = (p.id for p in memory.people())
        memory.correct("split-at", {"observation": one.id, "at": one.start + (one.end - one.start) * 2 // 3})
        _longer, second = sorted(o for o in memory.state().who.held if o.startswith(f"{one.id}_"))
        says = "; the lips of two people move with their speech at 00:0"
        assert says in memory.correct("merge", {"keep": keep, "others": [other]}, dry_run=True).text
        check(memory)
        memory.correct("assign", {"observations": [second], "person": other})
        assert {p.id for p in memory.people()} == {keep, other}, "the rest may be what the other one says"
        assert says in memory.correct("merge", {"keep": keep, "others": [other]}, dry_run=True).text
        check(memory)
        memory.correct("assign", {"observations": [second], "new": "Carl"})
        carl = memory.state().who.held[second].person
        assert says not in memory.correct("merge", {"keep": other, "others": [carl]}, dry_run=True).text
        check(memory)
