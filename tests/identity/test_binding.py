"""Binding over several clips of synthetic people: who is recognised, what an uncertain match leaves open, what later clips settle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from m3desk.domain.clip import Clip, Source
from m3desk.domain.evidence import FaceTrack, Floats, Perceived, TimedBox, Utterance
from m3desk.domain.memory import Draft, Vote
from m3desk.store.memory import Memory

S = 1_000_000
MODELS = {"face_vectors": "sface 2021dec", "voice_vectors": "campplus 1"}
AT = "2026-11-21T08:00:00.000+00:00"


def turned(likeness: float, *, other: int = 1, n: int = 3, d: int = 128) -> Floats:
    """Return (n, d) rows, all one direction: this like axis 0, the rest of it on axis `other`."""
    row = np.zeros(d, np.float32)
    row[0], row[other] = likeness, np.sqrt(1 - likeness**2)
    return np.tile(row, (n, 1))


FRONT, SIDE = turned(1.0), turned(0.45)


class Life:
    """A memory that sees one clip of 30 s after the other."""

    def __init__(self, folder: Path) -> None:
        self.memory = Memory.create(folder)
        source = self.memory.add_source(Source("", "/a.mp4", 3600 * S, 640, 360, 25.0, True, "a" * 64, None, 1000))
        self.memory.plan_clips(source.id, [Clip(f"s1.c{i}", "s1", i, i * 30 * S, (i + 1) * 30 * S) for i in range(20)])

    def clip(
        self,
        *faces: Floats | Sequence[Floats],
        voices: Sequence[tuple[Floats, float]] = (),
        apart: bool = False,
        continues: str | None = None,
        quality: float = 0.9,
        murmur: bool = False,
        votes: bool = False,
    ) -> list[str | None]:
        """Commit a clip with these clusters; return the node of each face cluster, then of each voice.

        `voices`: rows and seconds. `murmur`: the first voice is heard once more, without words. `votes`: the first face speaks so.
        """
        clip = self.memory.next_clips("s1")[0]
        tracks: list[FaceTrack] = []
        said: list[Utterance] = []
        vectors: dict[str, Floats] = {}
        for cluster, rows in enumerate(faces):
            for k, part in enumerate([rows] if isinstance(rows, np.ndarray) else rows):
                id_ = f"{clip.id}.f{len(tracks)}"
                start = clip.start + (0 if apart else 10 * k * S)
                boxes = (TimedBox(start, 10, 10, 80, 80), TimedBox(start + 5 * S, 10, 10, 80, 80))
                before = continues if not tracks else None
                tracks.append(FaceTrack(id_, clip.id, start, start + 5 * S, boxes, 0.9, quality, cluster=cluster, continues=before))
                vectors[id_] = part
        for cluster, (rows, seconds) in enumerate(voices):
            id_ = f"{clip.id}.u{cluster}"
            start = clip.start + cluster * S
            long = bool(len(rows))
            said.append(Utterance(id_, clip.id, start, start + round(seconds * S), "Yes.", (), "en", 0.9, cluster=cluster, embeddable=long))
            if long:
                vectors[id_] = rows
        if murmur:
            said.append(Utterance(f"{clip.id}.u{len(said)}", clip.id, clip.start, clip.start + S // 2, "", (), None, 0.0, embeddable=False))
        pairs = {(a.id, b.id) for a in tracks for b in tracks if a.cluster < b.cluster} if apart else set()
        seen = Perceived(clip.id, tuple(tracks), tuple(said), vectors=vectors, cannot_link=frozenset(pairs))
        cast = (Vote(tracks[0].id, said[0].id, "alone in view", 1.5),) if votes else ()
        self.memory.commit_episodic(clip, seen, Draft(votes=cast), models=MODELS, at=AT)
        held = self.memory.state().who.held
        firsts = [next(t.id for t in tracks if t.cluster == c) for c in range(len(faces))] + [u.id for u in said]
        return [held[o].node for o in firsts]

    def person(self, node: str | None) -> str:
        assert node is not None
        return self.memory.state().who.person_of[node]

    def voted(self) -> list[tuple[str, str]]:
        return [(e.a, e.b) for e in self.memory.equivalences() if any(by.startswith("consolidation") for _, by, _ in e.votes)]

    def two_halves(self) -> tuple[str, str]:
        """See somebody from the front, then from the side, as if they were two; return the nodes."""
        (front,), (side,) = self.clip(FRONT), self.clip(SIDE)
        assert front and side and front != side
        return front, side

    def turn_their_head(self, front: str, side: str) -> None:
        """See both nodes in clips that show a little of the other side."""
        assert self.clip([FRONT, SIDE[:1]]) == [front]
        assert self.clip([SIDE, FRONT[:1]]) == [side]


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    made = Life(tmp_path / "m.m3desk")
    yield made
    assert made.memory.integrity() == []
    made.memory.close()


def test_a_doubt_makes_a_new_node_and_leaves_the_near_miss(life: Life) -> None:
    front, side = life.two_halves()
    (binding,) = life.memory.bindings("s1.c1.f0")
    assert (binding.node, binding.runner_up, binding.margin) == (side, front, None) and binding.score == pytest.approx(0.45)
    (again,) = life.clip(FRONT)
    (sure,) = life.memory.bindings("s1.c2.f0")
    assert again == front and sure.runner_up == side and sure.margin == pytest.approx(0.55)


def test_two_halves_of_a_person_are_joined_when_later_clips_show_both(life: Life) -> None:
    front, side = life.two_halves()
    assert life.person(front) != life.person(side) and life.voted() == []
    life.turn_their_head(front, side)
    assert life.voted() == [(front, side)] and life.person(front) == life.person(side) == "person_1"
    (vote,) = next(e.votes for e in life.memory.equivalences())
    assert vote == ("s1.c3", "consolidation sface 2021dec", 1.0)
    assert life.clip(SIDE) == [side]  # still bound to what is most similar: if the join is taken back, this stays right


def test_what_a_person_keeps_apart_is_never_joined(life: Life) -> None:
    front, side = life.two_halves()
    life.memory.correct("distinct", {"a": life.person(front), "b": life.person(side)})
    life.turn_their_head(front, side)
    assert life.voted() == [] and life.person(front) != life.person(side)


def test_a_join_gives_way_to_a_person_who_keeps_them_apart(life: Life) -> None:
    front, side = life.two_halves()
    life.turn_their_head(front, side)
    life.memory.correct("split", {"person": "person_1", "observations": ["s1.c1.f0", "s1.c3.f0", "s1.c3.f1"]})
    now = life.memory.state().who.held
    assert now["s1.c0.f0"].person != now["s1.c1.f0"].person
    life.clip(FRONT, SIDE)
    assert {c.state for c in life.memory.constraints()} == {"kept"}


@pytest.mark.parametrize("other", ["Bea", "Ann"])
def test_two_who_were_given_names_are_not_joined(life: Life, other: str) -> None:
    front, side = life.two_halves()
    life.memory.correct("name", {"person": life.person(front), "name": "Ann"})
    life.memory.correct("name", {"person": life.person(side), "name": other})
    life.turn_their_head(front, side)
    assert life.voted() == [] and life.person(front) != life.person(side)


def test_what_a_person_put_somewhere_is_not_moved_on(life: Life) -> None:
    front, _ = life.two_halves()
    life.memory.correct("assign", {"observations": ["s1.c1.f0"], "new": True})
    mine = life.memory.state().who.held["s1.c1.f0"].node
    assert mine is not None
    life.turn_their_head(front, mine)
    assert life.voted() == [] and life.person(front) != life.person(mine)


def test_two_seen_at_once_are_never_joined(life: Life) -> None:
    front, side = life.clip(FRONT, SIDE, apart=True)
    assert front and side
    life.turn_their_head(front, side)
    assert life.voted() == [] and life.person(front) != life.person(side)


def test_a_head_that_turns_over_the_border_of_a_clip_stays_the_same_person(life: Life) -> None:
    (front,) = life.clip(FRONT)
    assert life.clip(SIDE, continues="s1.c0.f0") == [front]
    assert life.clip(turned(0.2, other=2), continues="s1.c1.f0") != [front]  # somebody else altogether


def test_two_blurred_faces_are_not_taken_for_one(life: Life) -> None:
    (one,) = life.clip(turned(1.0), quality=0.3)
    (other,) = life.clip(turned(0.56), quality=0.3)
    assert one != other
    assert life.clip(turned(0.56, other=3), quality=0.3) != life.clip(turned(1.0), quality=0.9)


def test_a_word_too_short_to_tell_a_voice_stays_open_and_a_voice_is_found_again(life: Life) -> None:
    voice = turned(1.0, d=192)
    nothing = np.zeros((0, 192), np.float32)
    assert life.clip(voices=[(nothing, 0.6)]) == [None]
    (first,) = life.clip(voices=[(voice, 5.0)])
    assert first and life.clip(voices=[(turned(0.8, d=192), 5.0), (turned(0.3, other=5, d=192), 5.0)]) == [first, "voice_2"]
    (binding,) = life.memory.bindings("s1.c2.u1")
    assert binding.runner_up == first and binding.margin is None


def test_who_goes_on_speaking_over_the_border_of_a_clip_needs_less_to_be_the_same(life: Life) -> None:
    voice, hoarse = turned(1.0, d=192), turned(0.35, d=192)
    assert life.clip(voices=[(voice, 29.8)]) == ["voice_1"]
    assert life.clip(voices=[(hoarse, 2.0)]) == ["voice_1"]
    (later,) = life.clip(voices=[(turned(0.4, other=7, d=192), 2.0)])  # after a silence nothing says so
    assert later != "voice_1"
    (binding,) = life.memory.bindings("s1.c2.u0")
    assert binding.runner_up == "voice_1"


def test_a_murmur_without_words_stays_open(life: Life) -> None:
    assert life.clip(voices=[(turned(1.0, d=192), 5.0)], murmur=True) == ["voice_1", None]
    assert life.clip(murmur=True) == [None] and len(life.memory.people()) == 1


def test_the_same_clips_give_the_same_bindings(tmp_path: Path) -> None:
    told = []
    for name in ("a", "b"):
        life = Life(tmp_path / f"{name}.m3desk")
        life.turn_their_head(*life.two_halves())
        told.append((life.memory.bindings(), life.memory.equivalences(), life.memory.people()))
        life.memory.close()
    assert told[0] == told[1]


def test_an_utterance_that_is_clearly_another_known_voice_is_taken_out_of_its_cluster(tmp_path: Path) -> None:
    def said(clip: Clip, *parts: tuple[Floats, float], at: int = 0) -> tuple[tuple[Utterance, ...], dict[str, Floats]]:
        lines, vectors, start = [], {}, clip.start
        for k, (rows, seconds) in enumerate(parts):
            id_ = f"{clip.id}.u{k}"
            lines.append(Utterance(id_, clip.id, start, start + round(seconds * S), "tea", (), "en", 0.9, None, at))
            vectors[id_] = rows
            start += round((seconds + 1) * S)
        return tuple(lines), vectors

    low, high, between = turned(1.0, d=192), turned(0.0, d=192), turned(0.72, other=1, d=192)
    with Life(tmp_path / "m.m3desk").memory as memory:
        owners: list[list[str | None]] = []
        for parts in ([(low, 8.0)], [(high, 8.0)], [(high, 6.0), (high, 4.0), (low, 2.0)], [(low, 6.0), (low, 4.0), (between, 2.0)]):
            clip = memory.next_clips("s1")[0]
            lines, vectors = said(clip, *parts)
            memory.commit_episodic(clip, Perceived(clip.id, utterances=lines, vectors=vectors), Draft(), models=MODELS, at=AT)
            owners.append([r.node for r in memory.speech("s1", clip.start, clip.end)])
    (first,), (second,), mixed, same = owners
    assert first != second and mixed == [second, second, first]
    assert same == [first] * 3, "like both a little: it stays with its own"


def test_tracks_that_a_clip_joins_go_to_their_own_persons_if_those_have_names(life: Life) -> None:
    brother, sister = turned(1.0), turned(0.47)
    (first,), (second,) = life.clip(brother), life.clip(sister)
    life.memory.correct("name", {"person": life.person(first), "name": "Ben"})
    life.memory.correct("name", {"person": life.person(second), "name": "Ann"})
    assert life.clip([brother, brother, sister]) == [first]
    held = life.memory.state().who.held
    assert [held[f"s1.c2.f{k}"].node for k in range(3)] == [first, first, second]
    again = life.memory.rewritable(life.memory.clip("s1.c2"), 0)
    assert [c.observations for c in again.clusters] == [("s1.c2.f0", "s1.c2.f1"), ("s1.c2.f2",)], "another writer is told so, too"
    assert [t.cluster for t in again.grouped.faces] == [0, 0, 1]
    between = turned(0.6, other=2)
    assert life.clip([brother, between]) == [first] and life.memory.state().who.held["s1.c3.f1"].node == first, "like neither: it stays"


@pytest.mark.parametrize("apart", [True, False])
def test_of_persons_without_names_a_clip_s_tracks_are_taken_apart_only_if_they_are_known_to_be_two(life: Life, apart: bool) -> None:
    brother, sister = turned(1.0), turned(0.47)
    (first,), (second,) = life.clip(brother), life.clip(sister)
    if apart:
        life.memory.correct("distinct", {"a": life.person(first), "b": life.person(second)})
    life.clip([brother, brother, sister])
    held = life.memory.state().who.held
    nodes = [held[f"s1.c2.f{k}"].node for k in range(3)]
    assert nodes == [first, first, second] if apart else len(set(nodes)) == 1


@pytest.mark.parametrize(("names", "linked"), [(("Ann", "Bea"), False), (("Ann", None), True), ((None, None), True)])
def test_a_voice_is_not_linked_to_a_face_to_which_the_user_gave_another_name(
    life: Life, names: tuple[str | None, str | None], linked: bool
) -> None:
    low = turned(1.0, d=192)
    (face,) = life.clip(FRONT)
    (voice,) = life.clip(voices=[(low, 9.0)])
    for node, name in zip((face, voice), names, strict=True):
        if name:
            life.memory.correct("name", {"person": life.person(node), "name": name})
    assert life.clip(FRONT, voices=[(low, 9.0)], votes=True) == [face, voice]
    assert (life.person(face) == life.person(voice)) is linked
