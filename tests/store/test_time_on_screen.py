"""Seconds on screen and of speech are the union of spans: what two tracks of one person show at once counts once."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from m3desk.domain import tally
from m3desk.domain.evidence import Perceived
from m3desk.store.memory import FILE, Memory
from tests.store.invented import AT, MODELS, S, clips, seen, source, text_vectors
from tests.store.random_corrections import check


def overlapping(perceived: Perceived, by: int) -> Perceived:
    """Return a clip in which each face and utterance begins `by` after the one before, and the next ones overlap it."""

    def moved(o, start):  # type: ignore[no-untyped-def]
        shift = start - o.start
        more = (
            {"boxes": tuple(replace(b, at=b.at + shift) for b in o.boxes)}
            if hasattr(o, "boxes")
            else {"words": tuple(replace(w, start=w.start + shift, end=w.end + shift) for w in o.words)}
        )
        return replace(o, start=start, end=o.end + shift, **more)

    faces = tuple(moved(f, perceived.faces[0].start + n * by) for n, f in enumerate(perceived.faces))
    speech = tuple(moved(u, perceived.utterances[0].start + n * by) for n, u in enumerate(perceived.utterances))
    return replace(perceived, faces=faces, utterances=speech)


@pytest.fixture
def memory(tmp_path: Path):
    """Two clips of persons 1, 2 and 3: each is seen 6 s and speaks 4 s, 2 s after the one before."""
    with Memory.create(tmp_path / "m.m3desk") as made:
        made.plan_clips(made.add_source(source(seconds=180)).id, clips("s1", 6), fps=5.0)
        for _ in range(2):
            commit(made, (1, 2, 3))
        yield made


def commit(memory: Memory, people: tuple[int, ...]) -> None:
    clip = memory.next_clips("s1")[0]
    perceived, draft = seen(clip, people)
    perceived = replace(overlapping(perceived, 2 * S), cannot_link=frozenset())
    memory.commit_episodic(clip, perceived, draft, text_vectors=text_vectors(draft), text_model="e5 1", models=MODELS, at=AT)


def times(memory: Memory, person: str = "person_1") -> tuple[float, float]:
    found = memory.person(person)
    return found.screen_time / S, found.speech_time / S


def test_merged_people_are_on_screen_for_the_union_of_their_spans(memory: Memory) -> None:
    assert times(memory) == (12, 8)
    memory.correct("merge", {"keep": "person_1", "others": ["person_2"]})
    assert times(memory) == (16, 12), "8 and 6 s in each clip"
    check(memory)
    memory.correct("merge", {"keep": "person_1", "others": ["person_3"]})
    assert times(memory) == (20, 16)
    commit(memory, (1, 3))  # two nodes of one person in one clip
    assert times(memory) == (28, 22)
    check(memory)
    memory.correct("assign", {"observations": ["s1.c2.f1"], "person": None, "name": "Bob"})
    assert times(memory) == (26, 22)
    check(memory)
    memory.undo(2)
    check(memory)


def test_a_commit_asks_for_no_clips_but_its_own(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.correct("merge", {"keep": "person_1", "others": ["person_2"]})
    asked: list[int] = []
    plain = tally.covered

    def covered(observations):  # type: ignore[no-untyped-def]
        found = list(observations)
        asked.extend(round(o.start / S) // 30 for o in found)
        return plain(found)

    monkeypatch.setattr(tally, "covered", covered)
    commit(memory, (1, 2))
    assert set(asked) == {2}
    check(memory)


def test_a_memory_of_an_older_format_counts_as_a_new_one(memory: Memory) -> None:
    memory.correct("merge", {"keep": "person_1", "others": ["person_2"]})
    memory.correct("name", {"person": "person_1", "name": "Zoë “Z” 李"})
    where = Path(memory.path)
    memory.close()
    db = sqlite3.connect(where / FILE)
    db.execute("UPDATE now_person SET body = json_set(body, '$[9]', 24000000, '$[10]', 16000000) WHERE id = 'person_1'")
    db.execute("PRAGMA user_version = 7")
    db.commit()
    db.close()
    with Memory.open(where, write=True) as again:
        assert times(again) == (16, 12) and again.integrity() == []


def test_the_union_of_random_spans_is_their_length_counted_by_hand() -> None:
    dice = random.Random(1)
    for _ in range(200):
        spans = [(a, a + dice.randint(0, 9)) for a in (dice.randint(0, 30) for _ in range(dice.randint(0, 6)))]
        rows = [type("Row", (), {"start": a, "end": b})() for a, b in spans]
        assert tally.covered(rows) == len({t for a, b in spans for t in range(a, b)})  # type: ignore[arg-type]
