"""Random sequences of corrections and clips: the state equals the fold of the log, and undo restores it.

The full run (10,000 lives) is a command: `python tests/store/random_corrections.py 10000`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, source
from tests.store.random_corrections import ACTIONS, check, live

LIVES = 120
"""Lives of the run in the test suite: about 15 seconds on one core."""


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, LIVES, 20))
def test_random_lives_keep_their_word(first: int) -> None:
    total: Counter[str] = Counter()
    for seed in range(first, first + 20):
        total += live(seed, deep=seed % 20 == 0)
    assert sum(total[a] for a in ACTIONS) > 100  # not all of it was refused


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.create(tmp_path / "m.m3desk") as made:
        made.plan_clips(made.add_source(source()).id, clips("s1", 4), fps=5.0)
        for people in ((1, 2), (1, 3)):
            remember(made, made.next_clips("s1")[0], people)
        yield made


def test_undo_of_several_is_as_many_single_undos_also_of_a_revert(memory: Memory) -> None:
    for person, name in (("1", "Ann"), ("2", "Bob"), ("5", "Carol")):
        memory.correct("name", {"person": person, "name": name})
    memory.revert(3)
    memory.undo(2)  # the revert, and then the step that it had taken back
    assert [s.undone for s in memory.journal()] == [False, False, True, True]
    memory.redo(2)
    assert [s.undone for s in memory.journal()] == [False, False, True, False] and memory.person("Bob").id == "person_2"
    memory.undo(4)
    assert not memory.can_undo() and all(p.name is None for p in memory.people())
    check(memory)


def test_the_later_of_two_words_on_one_observation_holds_through_a_clip_and_undo(memory: Memory) -> None:
    memory.correct("assign", {"observations": ["s1.c0.f0"], "person": "person_2"})
    memory.correct("exclude", {"observation": "s1.c0.f0", "person": "person_2"})
    new = memory.state().who.held["s1.c0.f0"].person
    assert new not in ("person_1", "person_2")
    assert memory.constraints()[0].state == "overridden" and {c.state for c in memory.constraints()[1:]} == {"kept"}
    remember(memory, memory.next_clips("s1")[0], (1, 2))
    assert memory.state().who.held["s1.c0.f0"].person != "person_2"
    check(memory)
    memory.undo()
    assert memory.state().who.held["s1.c0.f0"].person == memory.person("person_2").id and [c.state for c in memory.constraints()] == [
        "kept"
    ]
    check(memory)


def test_a_split_of_merged_people_and_a_merge_of_the_split_can_be_taken_back_in_turn(memory: Memory) -> None:
    states = [check(memory)]
    memory.correct("name", {"person": "person_2", "name": "Bob"})
    states.append(check(memory))
    memory.correct("merge", {"keep": "person_5", "others": ["Bob"]})
    states.append(check(memory))
    memory.correct("split", {"person": "Bob", "observations": ["s1.c1.f1", "s1.c1.u1"], "name": "Carol"})
    states.append(check(memory))
    memory.correct("merge", {"keep": "Bob", "others": ["Carol"]})
    assert memory.person("Carol").name == "Bob" and "overridden" in {c.state for c in memory.constraints()}
    while memory.can_undo():
        memory.undo()
        assert check(memory) == states.pop()
    assert states == []
