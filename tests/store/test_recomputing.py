"""The state of a whole memory is computed beside its writer: what is committed meanwhile counts, and equals the full fold."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest

from m3desk.domain.memory import Draft
from m3desk.errors import CorrectionError
from m3desk.store.memory import Memory
from m3desk.store.records import Records
from tests.store.invented import AT, MODELS, clips, remember, source
from tests.store.random_corrections import check
from tests.store.test_reembedding import SHARP, embed


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.create(tmp_path / "m.m3desk") as made:
        made.plan_clips(made.add_source(source(seconds=240)).id, clips("s1", 8), fps=5.0)
        for people in ((1, 2), (1, 3), (3, 2)):
            remember(made, made.next_clips("s1")[0], people)
        yield made


def spoil(memory: Memory, dice: random.Random) -> None:
    """Put derived tables wrong, as a fault of an older version would."""
    tables = dice.sample(["now_edge", "now_node", "now_binding", "now_equivalence", "now_constraint"], 2)
    with memory.writing(folds=False) as db:
        for table in tables:
            db.execute(f"DELETE FROM {table}")
        db.execute("UPDATE now_person SET body = json_set(body, '$.shown', 'nobody') WHERE number = 1")


def meanwhile(memory: Memory, dice: random.Random) -> None:
    """Commit a few things of any kind that adds to the log."""
    for _ in range(dice.randint(1, 4)):
        if dice.random() < 0.5 and (waiting := memory.next_clips("s1")):
            remember(memory, waiting[0], dice.sample([1, 2, 3, 4], dice.randint(1, 3)))
        elif dice.random() < 0.3 and memory.can_undo():
            memory.undo()
        else:
            people = list(memory.state().who.people)
            kind = dice.choice(["name", "distinct", "assign"])
            args = {
                "name": {"person": people[0], "name": dice.choice(["Ann", "Bob"])},
                "distinct": {"a": people[0], "b": people[-1]},
                "assign": {"observations": ["s1.c1.f1"], "person": people[0]},
            }[kind]
            with contextlib.suppress(CorrectionError):  # it was said before
                memory.correct(kind, args)


@pytest.mark.parametrize("seed", range(12))
def test_a_rebuild_takes_in_what_was_committed_meanwhile_and_equals_the_full_fold(memory: Memory, seed: int) -> None:
    dice = random.Random(seed)
    whole = memory.recomputed()
    assert not any(gone or rows for gone, rows in whole.changes.values()), "nothing is wrong yet"
    spoil(memory, dice)
    assert memory.integrity()
    with Records.open(memory.path) as reader:
        found = reader.recomputed()
    meanwhile(memory, dice)
    assert memory.take(found)
    check(memory)
    meanwhile(memory, dice)
    check(memory)


def test_what_was_computed_before_rows_were_taken_away_is_refused(memory: Memory) -> None:
    found = memory.recomputed()
    memory.remove_source("s1")
    version = memory.version()
    assert not memory.take(found) and memory.version() == version
    check(memory)


@pytest.mark.parametrize("seed", range(6))
def test_clips_bound_again_are_refused_after_a_commit_and_fit_when_computed_again(memory: Memory, seed: int) -> None:
    dice = random.Random(seed)
    embed(memory, SHARP, {3: 2})
    with Records.open(memory.path) as reader:
        _, early = reader.rebound("face", SHARP, AT)
    meanwhile(memory, dice)
    before = memory.settings()["face_vectors"]
    assert before == MODELS["face_vectors"] and not memory.take(early) and memory.settings()["face_vectors"] == before
    check(memory)
    embed(memory, SHARP, {3: 2})
    with Records.open(memory.path) as reader:
        shown, again = reader.rebound("face", SHARP, AT)
        assert reader.settings()["face_vectors"] == before, "what is computed is not written"
    assert memory.take(again) and memory.settings()["face_vectors"] == SHARP
    assert {b.by for b in memory.bindings("s1.c0.f0")} >= {SHARP} and shown.kind == "face"
    check(memory)
    meanwhile(memory, dice)
    check(memory)


def test_clips_bound_again_are_refused_after_a_clip_without_semantic_memories(memory: Memory) -> None:
    """Its commit has no rows, but it takes the number that the first commit of the new state was to get."""
    embed(memory, SHARP, {3: 2})
    with Records.open(memory.path) as reader:
        _, early = reader.rebound("face", SHARP, AT)
    memory.commit_semantic(memory.clip("s1.c0"), Draft(), ())
    assert memory.clip("s1.c0").state == "done"
    assert not memory.take(early) and memory.settings()["face_vectors"] == MODELS["face_vectors"]
    check(memory)
    assert memory.take(memory.rebound("face", SHARP, AT)[1])
    check(memory)


def test_a_computation_that_ends_early_leaves_the_memory_as_it_was(memory: Memory) -> None:
    embed(memory, SHARP)
    version, calls = memory.version(), 0

    def stop(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if done == 1:
            raise KeyboardInterrupt

    with Records.open(memory.path) as reader, pytest.raises(KeyboardInterrupt):
        reader.rebound("face", SHARP, AT, stop)
    with pytest.raises(KeyboardInterrupt):
        memory.recomputed(stop)
    assert calls == 4 and memory.version() == version and memory.lacking_rows("face", SHARP) == []
    remember(memory, memory.next_clips("s1")[0], (1, 2))
    check(memory)


def test_a_full_disk_while_a_state_is_committed_leaves_the_memory_as_it_was(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    embed(memory, SHARP, {3: 2})
    _, found = memory.rebound("face", SHARP, AT)
    monkeypatch.setattr("m3desk.store.derived.apply", lambda *_: (_ for _ in ()).throw(OSError("a full disk")))
    with pytest.raises(OSError, match="a full disk"):
        memory.take(found)
    monkeypatch.undo()
    assert memory.settings()["face_vectors"] == MODELS["face_vectors"]
    check(memory)
