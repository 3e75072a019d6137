"""Switching the face or voice model: the preview shows what it binds differently, user corrections stay, and one can switch back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from m3desk.store import derived
from m3desk.store.memory import Memory
from tests.store.invented import MODELS, clips, direction, hash_of, remember, seen, source, text_vectors
from tests.store.random_corrections import check

SHARP = "sface another"
"""A model that sees what there is."""


@pytest.fixture
def memory(tmp_path: Path):
    """Three clips: persons 1 and 2, then 1 and 3 (Person 5), then 3 and 2; three more are to come."""
    with Memory.create(tmp_path / "m.m3desk") as made:
        made.plan_clips(made.add_source(source(seconds=180)).id, clips("s1", 6), fps=5.0)
        for people in ((1, 2), (1, 3), (3, 2)):
            remember(made, made.next_clips("s1")[0], people)
        yield made


def embed(memory: Memory, model: str, sees: dict[int, int] | None = None) -> list[str]:
    """Store another model's vectors: of whoever shows their face, or, by `sees`, of somebody else whom it takes them for."""
    found = {}
    for track in memory.lacking_rows("face", model):
        who = round(track.boxes[0].x / 10)  # type: ignore[union-attr]
        found[track.id] = direction((sees or {}).get(who, who), 0.2, seed=hash_of(track.id), d=64, modality=5)
    memory.store_vectors("face", model, list(found), list(found.values()))
    return list(found)


def people(memory: Memory) -> dict[str, str | None]:
    return {r.track.id: r.person for r in memory.tracks("s1")}


def test_a_model_that_sees_the_same_changes_nothing_but_who_decided(memory: Memory) -> None:
    assert len(embed(memory, SHARP)) == 6 and memory.lacking_rows("face", SHARP) == []
    before, names = people(memory), [p.id for p in memory.people()]
    shown = memory.reembed("face", SHARP)
    assert (shown.moved, shown.joined, shown.parted) == ((), 0, 0) and shown.kept == 3 and shown.people == (3, 3)
    version = memory.version()
    assert memory.settings()["face_vectors"] == MODELS["face_vectors"] and memory.version() == version  # only shown
    memory.reembed("face", SHARP, dry_run=False)
    assert people(memory) == before and [p.id for p in memory.people()] == names
    rows = memory.bindings("s1.c1.f0")
    assert [b.by for b in rows] == [MODELS["face_vectors"], SHARP] and rows[0].superseded == rows[1].sequence
    assert memory.settings()["face_vectors"] == SHARP and memory.integrity() == []
    check(memory)


def test_what_a_model_that_confuses_two_would_join_is_shown_and_can_be_switched_back(memory: Memory) -> None:
    embed(memory, SHARP, {3: 2})
    before = people(memory)
    shown = memory.reembed("face", SHARP)
    assert {m.observation for m in shown.moved} >= {"s1.c1.f1"} and shown.joined > 0 and people(memory) == before
    memory.reembed("face", SHARP, dry_run=False)
    assert people(memory)["s1.c1.f1"] == "person_2"
    memory.reembed("face", MODELS["face_vectors"], dry_run=False)
    assert people(memory) == before and memory.settings()["face_vectors"] == MODELS["face_vectors"]
    assert {b.superseded is None for b in memory.bindings("s1.c1.f1")[:2]} == {False}
    check(memory)


def test_no_model_joins_across_a_users_cannot_link_and_assignments_stay(memory: Memory) -> None:
    memory.correct("name", {"person": "person_5", "name": "Carol"})
    memory.correct("distinct", {"a": "person_2", "b": "Carol"})
    memory.correct("assign", {"observations": ["s1.c0.f0"], "person": None, "name": "Dan"})
    memory.correct("set-aside", {"observation": "s1.c2.f1"})
    embed(memory, SHARP, {3: 2, 1: 2})
    before = people(memory)
    shown = memory.reembed("face", SHARP, dry_run=False)
    assert shown.constraints["broken"] == 0 and shown.touched == ()
    after = people(memory)
    assert {o: after[o] for o in ("s1.c1.f1", "s1.c2.f0", "s1.c0.f0", "s1.c2.f1")} == {
        o: before[o] for o in ("s1.c1.f1", "s1.c2.f0", "s1.c0.f0", "s1.c2.f1")
    }
    assert {c.state for c in memory.constraints()} == {"kept"} and memory.person("Carol").id == "person_5"
    assert [b.by for b in memory.bindings("s1.c0.f0") if b.superseded is None] == ["user"]
    assert [b.by for b in memory.bindings("s1.c2.f1") if b.superseded is None] == []
    memory.undo(4)
    assert not memory.can_undo()
    check(memory)


def test_somebody_whom_a_model_no_longer_knows_again_keeps_the_name_a_person_gave(memory: Memory) -> None:
    memory.correct("name", {"person": "person_1", "name": "Ann"})
    embed(memory, SHARP)
    lost = direction(77, 0.2, seed=1, d=64, modality=5)
    memory.store_vectors("face", SHARP, ["s1.c1.f0", "s1.c2.f1"], [lost, direction(78, 0.2, seed=2, d=64, modality=5)])
    shown = memory.reembed("face", SHARP, dry_run=False)
    assert people(memory)["s1.c1.f0"] == "person_1"  # Ann: a doubt does not take her away
    assert [m.observation for m in shown.moved] == ["s1.c2.f1"] and shown.parted == 1  # nobody spoke of Person 2
    check(memory)


def test_the_next_clip_is_bound_by_the_model_in_use_and_both_models_rows_are_kept(memory: Memory) -> None:
    embed(memory, SHARP)
    memory.reembed("face", SHARP, dry_run=False)
    clip = memory.next_clips("s1")[0]
    perceived, draft = seen(clip, (3, 1))
    old = {t.id: perceived.vectors[t.id] for t in perceived.faces}
    new = {t.id: direction(w, 0.2, seed=hash_of(t.id), d=64, modality=5) for t, w in zip(perceived.faces, (3, 1), strict=True)}
    memory.commit_episodic(
        clip, replace(perceived, vectors={**perceived.vectors, **new}), draft, text_vectors=text_vectors(draft), text_model="e5 1",
        models={**MODELS, "face_vectors": SHARP}, beside={MODELS["face_vectors"]: old},
    )  # fmt: skip
    assert [r.person for r in memory.tracks("s1", clip.start)] == ["person_5", "person_1"]
    assert [b.by for b in memory.bindings("s1.c3.f0")] == [SHARP]
    kept = memory.perceived("s1.c3")
    assert kept is not None and np.allclose(kept.vectors["s1.c3.f0"], old["s1.c3.f0"])  # as it was perceived
    memory.reembed("face", MODELS["face_vectors"], dry_run=False)
    assert [r.person for r in memory.tracks("s1", clip.start)] == ["person_5", "person_1"] and memory.integrity() == []


def test_a_belief_from_before_the_switch_is_the_old_models(memory: Memory) -> None:
    embed(memory, SHARP, {3: 2})
    before = people(memory)
    memory.reembed("face", SHARP, dry_run=False, at="2026-11-23T08:00:00+00:00")
    with Memory.open(memory.path, believed_at="2026-11-22") as then, then.snapshot() as db:
        assert people(then) == before and then.settings()["face_vectors"] == MODELS["face_vectors"]
        assert derived.stored(db)["now_binding"] != {}
    with Memory.open(memory.path, believed_at="2026-11-24") as then:
        assert people(then) == people(memory) != before and then.settings()["face_vectors"] == SHARP


ECAPA = "ecapa 1"


def embed_voices(memory: Memory, hears: dict[int, int] | None = None) -> int:
    """Store a second voice model's vectors: of whoever speaks, or, by `hears`, of somebody else whom it takes them for."""
    found = {}
    for said in (row.utterance for row in memory.speech("s1")):
        who = ((1, 2), (1, 3), (3, 2))[int(said.clip.rsplit("c", 1)[1])][said.cluster]
        found[said.id] = direction((hears or {}).get(who, who), 0.2, seed=hash_of(said.id), d=32, modality=6)
    memory.store_vectors("voice", ECAPA, list(found), list(found.values()))
    return len(found)


def speakers(memory: Memory) -> dict[str, str | None]:
    return {s.utterance.id: s.person for s in memory.speech("s1")}


def test_a_second_voice_model_binds_the_voices_again_and_faces_stay(memory: Memory) -> None:
    assert embed_voices(memory) == 6
    spoke, seen = speakers(memory), people(memory)
    shown = memory.reembed("voice", ECAPA)
    assert (shown.moved, shown.joined, shown.parted) == ((), 0, 0) and shown.people == (3, 3)
    memory.reembed("voice", ECAPA, dry_run=False)
    assert speakers(memory) == spoke and people(memory) == seen
    assert [b.by for b in memory.bindings("s1.c1.u0")] == [MODELS["voice_vectors"], ECAPA]
    assert memory.settings()["voice_vectors"] == ECAPA and memory.settings()["face_vectors"] == MODELS["face_vectors"]
    check(memory)


def test_a_second_voice_model_that_confuses_two_is_shown_before_it_is_used_and_can_be_switched_back(memory: Memory) -> None:
    embed_voices(memory, {3: 2})
    before = speakers(memory)
    assert memory.reembed("voice", ECAPA).moved and speakers(memory) == before
    memory.reembed("voice", ECAPA, dry_run=False)
    memory.reembed("voice", MODELS["voice_vectors"], dry_run=False)
    assert speakers(memory) == before and memory.settings()["voice_vectors"] == MODELS["voice_vectors"]
    check(memory)
