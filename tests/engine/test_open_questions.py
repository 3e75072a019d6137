"""The identity questions of an open memory: computed once per version, equal to those computed from everything."""

from __future__ import annotations

import contextlib
import random
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from m3desk import events
from m3desk.app import open_questions
from m3desk.app.open_questions import OpenQuestions
from m3desk.domain.memory import Vote
from m3desk.errors import CorrectionError
from m3desk.store import derived, rows
from m3desk.store.galleries import Galleries
from m3desk.store.memory import Memory
from m3desk.store.records import Records
from tests.store import invented
from tests.store import random_corrections as lives


@pytest.mark.parametrize("seed", range(4))
def test_what_is_kept_gives_the_questions_and_reasons_that_everything_gives(tmp_path: Path, seed: int) -> None:
    told: list[Any] = []
    with mock.patch.object(rows, "CHUNK", 2), mock.patch.object(derived, "CHUNK", 2), lives.born(tmp_path) as memory:
        life = lives.Life(memory, random.Random(seed))
        lives._clip(life)
        found = OpenQuestions(lambda: Records.open(memory.folder), told.append)
        memory.watch(found.note)
        weights = [w for w, _ in lives.ACTIONS.values()]
        for _ in range(14):
            with contextlib.suppress(CorrectionError):
                lives.ACTIONS[life.dice.choices(list(lives.ACTIONS), weights)[0]][1](life)
            asked = life.pick(life.observations())
            with Records.open(memory.folder) as reader:
                if life.dice.random() < 0.5:  # reasons are asked for before or after the questions
                    assert found.why(asked) == reader.why(asked)
                assert found.now() == reader.suggestions()
                assert found.why(asked) == reader.why(asked)
        assert isinstance(told[-1], events.Suggested) and told[-1].count == len(found.now())


def test_a_no_that_changes_no_row_takes_the_question_away(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m.m3desk") as memory:
        source = memory.add_source(invented.source(seconds=60)).id
        memory.plan_clips(source, invented.clips(source, 2), fps=5.0)
        clip = memory.next_clips(source)[0]
        perceived, draft = invented.seen(clip, (1, 2))
        face, other, voice = (f"{clip.id}.{o}" for o in ("f0", "f1", "u0"))
        draft = replace(draft, votes=(Vote(face, voice, "alone in view", 0.6), Vote(other, voice, "alone in view", 0.5)))
        vectors = invented.text_vectors(draft)
        memory.commit_episodic(clip, perceived, draft, text_vectors=vectors, text_model="e5 1", models=invented.MODELS, at=invented.AT)
        found = OpenQuestions(lambda: Records.open(memory.folder), lambda _event: None)
        memory.watch(found.note)
        asked = next(q for q in found.now() if q.kind == "link")
        memory.correct("reject", {"n": asked.n})
        assert asked.n not in {q.n for q in found.now()}
        memory.undo()
        assert asked.n in {q.n for q in found.now()}


def test_a_question_why_that_fails_half_way_leaves_nothing_half_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with lives.born(tmp_path) as memory:
        life = lives.Life(memory, random.Random(3))
        for _ in range(3):
            lives._clip(life)
        found = OpenQuestions(lambda: Records.open(memory.folder), lambda _event: None)
        memory.watch(found.note)
        found.now()
        lives._clip(life)
        with monkeypatch.context() as broken:
            broken.setattr(Galleries, "settle", mock.Mock(side_effect=MemoryError))
            with pytest.raises(MemoryError):
                found.why("s1.c0.f0")
        assert found.why("s1.c0.f0") == memory.why("s1.c0.f0")
        assert found.now() == memory.suggestions()
        kept = found._kept()._questions
        assert kept is not None and len(kept._projection.log.bindings) == len(memory.log().bindings)


def test_they_are_computed_once_for_commits_that_follow_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_questions, "QUIET", 0.2)
    with lives.born(tmp_path) as memory:
        life = lives.Life(memory, random.Random(1))
        lives._clip(life)
        found = OpenQuestions(lambda: Records.open(memory.folder), lambda _event: None)
        memory.watch(found.note)
        found.now()
        assert found.now() is not None and found.computed == 1
        for name in ("Ann", "Bob", "Carol"):
            memory.correct("name", {"person": "person_1", "name": name})
        memory.add_chat({"question": "?"})  # changes nothing that a question rests on
        found.now()
        found.now()
        assert found.computed == 2
