"""Over several clips a voice is linked to its face, and a narrator's voice loses a wrong face."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from m3desk.domain.evidence import Perceived
from m3desk.memorization.compose import ComposedWriter
from m3desk.ports import ClipView
from m3desk.store.memory import Memory
from tests.memorization.evidence import face, speech
from tests.store.invented import AT, MODELS, clips, direction, source


@dataclass(frozen=True)
class Scene:
    """Who (a number) is in view and who is heard, from and to seconds of the clip. `still`: those whose mouths don't move."""

    seen: tuple[tuple[int, float, float], ...]
    heard: tuple[tuple[int, float, float], ...]
    still: tuple[int, ...] = ()


@pytest.fixture
def remember(tmp_path):
    memory = Memory.create(tmp_path / "film.m3desk")
    planned = clips(memory.add_source(source()).id, 8)
    memory.plan_clips("s1", planned)
    todo = iter(planned)

    def commit(scene: Scene) -> dict[int, set[int]]:
        """Remember a scene as the next clip; return who is heard → whose faces are theirs."""
        clip = next(todo)
        t0 = clip.start / 1e6
        talks = lambda t: 0.09 if int(t * 5) % 2 else 0.03  # noqa: E731
        faces = [
            face(n, t0 + a, t0 + b, cluster=who, x=20.0 + 90 * who, clip=clip.id, motion=(lambda t: 0.004) if who in scene.still else talks)
            for n, (who, a, b) in enumerate(scene.seen)
        ]
        said = [speech(n, t0 + a, t0 + b, "a b c d", cluster=who, clip=clip.id) for n, (who, a, b) in enumerate(scene.heard)]
        vectors = {f.id: direction(f.cluster, 0.2, n, 128, 1) for n, f in enumerate(faces)}
        vectors |= {u.id: direction(u.cluster, 0.2, n, 192, 2) for n, u in enumerate(said)}
        perceived = Perceived(clip.id, tuple(faces), tuple(said), vectors=vectors)
        view = ClipView(clip=clip, source=memory.source("s1"), perceived=perceived, clusters=memory.match(perceived, MODELS))
        memory.commit_episodic(clip, perceived, ComposedWriter().write(view), models=MODELS, at=AT)
        numbers_face.update({f.id: f.cluster for f in faces})
        numbers_voice.update({u.id: u.cluster for u in said})
        faces_of: dict[str, set[int]] = {}
        for row in memory.tracks("s1"):
            faces_of.setdefault(row.person or "", set()).add(numbers_face[row.track.id])
        return {numbers_voice[r.utterance.id]: faces_of.get(r.person or "-", set()) for r in memory.speech("s1")}

    numbers_face: dict[str, int] = {}
    numbers_voice: dict[str, int] = {}
    with memory:
        yield commit


NARRATOR = 9


def test_a_narrator_who_is_heard_over_one_person_and_then_over_many_is_nobody(remember):
    assert remember(Scene(seen=((1, 0, 10),), heard=((NARRATOR, 0, 9),))) == {NARRATOR: {1}}, "so far they may be one"
    assert remember(Scene(seen=((2, 0, 12), (3, 0, 12)), heard=((NARRATOR, 0, 12),))) == {NARRATOR: {1}}
    for _ in range(2):
        last = remember(Scene(seen=((2, 0, 12), (3, 0, 12)), heard=((NARRATOR, 0, 12),)))
    assert last == {NARRATOR: set()}


def test_a_voice_dubbed_over_two_people_belongs_to_neither(remember):
    remember(Scene(seen=((1, 0, 10),), heard=((NARRATOR, 0, 9),)))
    assert remember(Scene(seen=((2, 0, 10),), heard=((NARRATOR, 0, 9),))) == {NARRATOR: set()}


def test_a_narrator_over_somebody_who_has_a_voice_does_not_become_them(remember):
    for _ in range(4):
        remember(Scene(seen=((1, 0, 20),), heard=((1, 0, 20),)))
    found = remember(Scene(seen=((1, 0, 10),), heard=((NARRATOR, 0, 9),)))
    assert found == {1: {1}, NARRATOR: set()}


def test_an_audience_that_listens_and_a_speaker_out_of_view_are_not_linked(remember):
    audience = tuple((who, 3.0 * who, 3.0 * who + 2.8) for who in range(1, 8))
    assert remember(Scene(seen=audience, heard=((NARRATOR, 0, 28),))) == {NARRATOR: set()}
    assert remember(Scene(seen=((1, 0, 20), (2, 0, 20)), heard=((NARRATOR, 0, 20),), still=(1, 2))) == {NARRATOR: set()}
    assert remember(Scene(seen=((1, 0, 20),), heard=((NARRATOR, 0, 20),), still=(1,))) == {NARRATOR: set()}


def test_a_conversation_shown_by_turns_links_both_in_two_clips(remember):
    turns = [(i % 2 + 1, 6.0 * i, 6.0 * i + 5) for i in range(4)]
    scene = Scene(seen=(*turns, (3, 0.0, 24.0)), heard=tuple(turns))
    assert remember(scene) == {1: set(), 2: set()}
    assert remember(scene) == {1: {1}, 2: {2}}


def test_two_short_meetings_in_two_clips_are_a_link_and_one_is_none(remember):
    scene = Scene(seen=((1, 0, 8), (2, 8, 16)), heard=((1, 2, 3.3), (2, 9, 10.3)))
    assert remember(scene) == {1: set(), 2: set()}
    assert remember(scene) == {1: {1}, 2: {2}}
