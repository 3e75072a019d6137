"""Identity questions: their numbers and their order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from m3desk.domain.calibration import Space, calibration
from m3desk.domain.consolidation import similar_pairs
from m3desk.domain.correction import Step
from m3desk.domain.identities import Held, Identities
from m3desk.domain.identity import Gallery
from m3desk.domain.ids import numbered
from m3desk.domain.log import Birth, Log, ObservationRow, ObservationType, Renamed, in_force
from m3desk.domain.people import Person, SuggestedName
from m3desk.domain.questions.facts import Known
from m3desk.domain.questions.ranking import SHORT, ask, numbers, settled_keys, suggest
from m3desk.domain.sentences import State

S = 1_000_000


def known(people: dict[str, list[tuple[str, str, int]]], alike: dict[str, np.ndarray], names: dict[str, str] | None = None) -> Known:
    """Return a memory: person → (observation, node, seconds), node → (n, d) rows; `names`: confirmed ones."""
    who, log = Identities(), Log()
    for person, mine in people.items():
        for o, node, seconds in mine:
            type_ = "face" if node.startswith("face") else "voice"
            who.held[o] = Held(node, person)
            log.observations[o] = ObservationRow(o, type_, o.rsplit(".", 1)[0], 0, seconds * S, 0.5, None, None, 1)  # type: ignore[arg-type]
            who.nodes[node] = log.nodes[node] = Birth(node, numbered(node), type_, "", person, None, 0, 0, 1)
            who.person_of[node] = person
        nodes = list(dict.fromkeys(n for _, n, _ in mine))
        who.members[person] = nodes
        who.canonical[person] = person
        name = (names or {}).get(person)
        who.people[person] = Person(
            person, numbered(person), name, "confirmed" if name else "none", name or person,
            faces=tuple(n for n in nodes if n.startswith("face")), voices=tuple(n for n in nodes if n.startswith("voice")),
            clips=tuple(dict.fromkeys(o.rsplit(".", 1)[0] for o, _, _ in mine)),
        )  # fmt: skip
    galleries = {t: [Gallery(n, who.person_of[n], rows, 9 * S) for n, rows in alike.items() if n.startswith(t)] for t in ("face", "voice")}
    rules = {"face": calibration("sface", "face"), "voice": calibration("campplus", "voice")}
    return Known(State(who), log, galleries, rules, {})  # type: ignore[arg-type]


def rows(*cosines: float) -> list[np.ndarray]:
    """Return galleries of one row: the first is (1, 0, 0 …), the others have these cosines to it and little to each other."""
    found = [np.eye(1, 16, dtype=np.float32)]
    for i, c in enumerate(cosines, 1):
        row = np.zeros((1, 16), np.float32)
        row[0, 0], row[0, i] = c, np.sqrt(1 - c * c)
        found.append(row)
    return found


def faces(*cosines: float, seconds: tuple[int, ...] = (), names: dict[str, str] | None = None) -> Known:
    people = {f"person_{i}": [(f"s1.c{i}.f0", f"face_{i}", seconds[i - 1] if seconds else 5)] for i in range(1, len(cosines) + 2)}
    return known(people, {f"face_{i}": r for i, r in enumerate(rows(*cosines), 1)}, names)


def test_persons_who_are_similar_but_not_enough_are_asked_about() -> None:
    (question,) = suggest(faces(0.45, 0.1))
    assert (question.kind, question.people, question.key) == ("same", ("person_1", "person_2"), "same:face_1:face_2")
    assert question.accept == ("merge", {"keep": "person_1", "others": ["person_2"]})
    assert question.reject == ("distinct", {"a": "person_1", "b": "person_2"})
    assert question.effect == "joins 1 face" and question.groups == (("s1.c1.f0",), ("s1.c2.f0",))


def test_a_dark_profile_that_is_doubtfully_like_somebody_is_asked_about_and_two_blurred_faces_are_not() -> None:
    """As in the reel: a man from the front and, 40 s later, in profile in a dark hall, .45; its most similar strangers have .34."""
    case = faces(0.453, 0.1)

    def seen(*qualities: float) -> Known:
        found = [replace(g, quality=q) for g, q in zip(case.galleries["face"], qualities, strict=True)]
        return replace(case, galleries={**case.galleries, "face": found})

    (question,) = suggest(seen(0.87, 0.06, 1.0))
    assert question.kind == "same" and question.people == ("person_1", "person_2") and 0.5 < question.score < 0.75
    assert suggest(seen(0.3, 0.06, 1.0)) == []


def test_whom_a_user_or_one_frame_keeps_apart_nobody_asks_about() -> None:
    case = faces(0.45)
    case.state.who.distinct = frozenset({("person_1", "person_2"), ("person_2", "person_1")})
    assert suggest(case) == []


@pytest.mark.parametrize(("cosine", "shared", "asked"), [(0.5, 1.0, True), (0.69, 0.1, False)])
def test_voices_are_asked_about_by_evidence_where_they_are_compared_by_it(cosine: float, shared: float, asked: bool) -> None:
    people = {f"person_{i}": [(f"s1.c{i}.u0", f"voice_{i}", 5)] for i in (1, 2)}
    case = known(people, dict(zip(("voice_1", "voice_2"), rows(cosine), strict=True)))
    assert bool(suggest(case)) is not asked  # by their similarity
    # What they share counts much, or hardly, in the space of the evidence.
    space = Space(np.zeros(16, np.float32), np.diag([shared, *[0.3 if asked else 1.0] * 15]).astype(np.float32))
    rules = {**case.rules, "voice": replace(case.rules["voice"], space=space)}
    assert bool(suggest(replace(case, rules=rules))) is asked  # type: ignore[arg-type]


def test_similar_voices_are_hardly_asked_about_if_the_faces_are_dissimilar() -> None:
    people = {f"person_{i}": [(f"s1.c{i}.f0", f"face_{i}", 5), (f"s1.c{i}.u0", f"voice_{i + 2}", 5)] for i in (1, 2)}
    voices = dict(zip(("voice_3", "voice_4"), rows(0.69), strict=True))
    alone = suggest(known(people, voices))
    assert [q.kind for q in alone] == ["same"]
    assert suggest(known(people, {**voices, **dict(zip(("face_1", "face_2"), rows(0.1), strict=True))})) == []


def test_what_changes_more_is_asked_first() -> None:
    first, second = suggest(faces(0.45, 0.45, seconds=(90, 2, 60)))
    assert first.people == ("person_1", "person_3") and first.worth > second.worth and first.score == second.score


def test_a_confirmed_name_at_stake_weighs_more() -> None:
    plain, named = suggest(faces(0.45))[0], suggest(faces(0.45, names={"person_2": "Ann"}))[0]
    assert named.worth > plain.worth
    assert named.people == ("person_2", "person_1")  # whose name is known stays


def test_two_persons_are_asked_about_once_though_both_face_and_voice_are_similar() -> None:
    people = {f"person_{i}": [(f"s1.c{i}.f0", f"face_{i}", 5), (f"s1.c{i}.u0", f"voice_{i + 2}", 5)] for i in (1, 2)}
    case = known(
        people, {**dict(zip(("voice_3", "voice_4"), rows(0.69), strict=True)), **dict(zip(("face_1", "face_2"), rows(0.45), strict=True))}
    )
    assert len(ask(case)) == 2 and len(suggest(case)) == 1


def test_a_name_is_asked_about_until_one_is_confirmed() -> None:
    case = faces(0.1)
    for name in (None, "Ann"):
        heard = (SuggestedName("Jeff", 0.7, ("s1.c1.u0",)), SuggestedName("Ann", 0.2, ()))
        case.state.who.people["person_1"] = Person("person_1", 1, name, "none", "Jeff?", heard, faces=("face_1",), clips=("s1.c1",))
        found = suggest(case)
        assert [(q.kind, q.name) for q in found] == ([("name", "Jeff")] if name is None else [])


def test_the_one_utterance_that_is_hardly_like_the_rest_is_asked_about() -> None:
    base = rows(0.4, 0.95, 0.95)
    mine = [(f"s1.c{i}.u0", "voice_1", 5) for i in range(4)]
    case = known({"person_1": mine}, {})
    case = replace(case, vectors=dict(zip([o for o, _, _ in mine], (base[1], base[0], base[2], base[3]), strict=True)))
    (question,) = suggest(case)
    assert question.kind == "two_people" and question.groups[1] == ("s1.c0.u0",) and set(question.groups[0]) == {m[0] for m in mine[1:]}
    assert suggest(replace(case, vectors={**case.vectors, "s1.c0.u0": rows(0.8)[1]})) == []


def test_an_answer_is_known_again_after_its_source_was_memorized_anew() -> None:
    log = Log()
    log.steps.append(Step(1, 5, "reject", {"n": 7, "key": ["two_people", "face_3", "s1.c0.f1"], "as": "merge"}, {}, "", "user"))
    log.renamed += [Renamed("face_3", "face_9", 6), Renamed("s1.c0.f1", "s2.c0.f0", 6)]
    assert settled_keys(in_force(log)) == {"two_people:face_9:s2.c0.f0"}


def test_a_question_keeps_its_number_when_others_come_and_go() -> None:
    keys = [f"same:face_{i}:face_{i + 1}" for i in range(40)]
    everything = numbers(keys)
    assert len(set(everything.values())) == 40 and all(n >= 1 for n in everything.values())
    kept = [k for k in keys if numbers([k])[k] == everything[k]]
    assert len(kept) >= 38  # but for those that share one with another of them


def test_two_open_questions_with_one_number_both_get_a_longer_one() -> None:
    many = [f"name:person_{i}:ann" for i in range(3000)]
    given = numbers(many)
    assert len(set(given.values())) == 3000
    alone = {k: numbers([k])[k] for k in many}
    assert all(1 <= n <= SHORT for n in alone.values())
    # A number that is shared never means one of them: it means neither.
    assert all(given[k] == alone[k] or given[k] > SHORT for k in many)


@pytest.mark.parametrize("type_", ["face", "voice"])
def test_the_fast_search_for_similar_nodes_finds_what_comparing_all_pairs_finds(type_: ObservationType) -> None:
    rng = np.random.default_rng(5)
    own, nodes = rng.normal(size=(8, 64)), []
    for i in range(40):
        near = own[i % 8] + rng.choice([0.6, 1.2]) * rng.normal(size=(int(rng.integers(1, 9)), 64))
        nodes.append(Gallery(f"{type_}_{i}", f"person_{i}", (near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float32), 9 * S))
    rule = calibration("sface" if type_ == "face" else "campplus", type_)
    found = similar_pairs(nodes, rule)
    assert len(found) > 20 and found == similar_pairs(nodes, rule, touched={n.node for n in nodes})
