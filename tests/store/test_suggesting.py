"""Identity questions of a memory, answers as steps of the journal, and the reasons of a binding."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from m3desk.domain.memory import Vote
from m3desk.domain.questions.scorecard import draw, estimate
from m3desk.domain.questions.types import Suggestion
from m3desk.domain.sentences import fold
from m3desk.errors import CorrectionError
from m3desk.store.memory import Memory
from tests.store.invented import AT, MODELS, clips, remember, seen, source, text_vectors

BLURRED = 2.0
"""Noise that gives two clusters of one face a cosine near .44: similar, but not enough to be bound."""


@pytest.fixture
def memory(tmp_path: Path):
    """Five clips planned; nothing is remembered yet."""
    with Memory.create(tmp_path / "m.m3desk") as made:
        kept = made.add_source(source(seconds=150))
        made.plan_clips(kept.id, clips(kept.id, 5), fps=5.0)
        yield made


def vary(
    memory: Memory, people: Sequence[int], *, weight: float = 1.0, as_one: bool = False, talks: bool = True, noise: float = 0.2
) -> None:
    """Remember the next clip; `weight` of its face–voice votes; `as_one`: its first two people were clustered as one."""
    clip = memory.next_clips("s1")[0]
    perceived, draft = seen(clip, people, talks=talks, noise=noise)
    draft = replace(draft, votes=tuple(replace(v, weight=weight) for v in draft.votes))
    if as_one:
        faces = tuple(replace(f, cluster=0) if f.cluster == 1 else f for f in perceived.faces)
        spoken = tuple(replace(u, cluster=0) if u.cluster == 1 else u for u in perceived.utterances)
        perceived = replace(perceived, faces=faces, utterances=spoken, cannot_link=frozenset())
    memory.commit_episodic(clip, perceived, draft, text_vectors=text_vectors(draft), text_model="e5 1", models=MODELS, at=AT)


def of(memory: Memory, kind: str) -> list[Suggestion]:
    return [s for s in memory.suggestions() if s.kind == kind]


def people(memory: Memory) -> list[tuple[str, str, tuple[str, ...], tuple[str, ...]]]:
    return [(p.id, p.shown, p.faces, p.voices) for p in memory.people()]


def blurred(memory: Memory) -> Suggestion:
    """Remember person 1 twice, the second time too blurred to be known again; return the question about that."""
    remember(memory, memory.next_clips("s1")[0], (1,))
    vary(memory, (1,), noise=BLURRED, talks=False)
    (question,) = of(memory, "same")
    return question


def test_a_near_miss_becomes_a_question_and_yes_makes_one_person(memory: Memory) -> None:
    question = blurred(memory)
    assert question.people == ("person_1", "person_3") and question.groups == (("s1.c0.f0",), ("s1.c1.f0",))
    assert question.effect == "joins 1 face, 1 memory reads differently" and 0.15 <= question.score < 1
    rehearsed = memory.correct("accept", {"n": question.n}, dry_run=True)
    assert rehearsed.step is None and len(people(memory)) == 2 and memory.journal() == []
    effect = memory.correct("accept", {"n": question.n}, why="same scarf")
    assert effect.text.startswith("merges Person 3 into Ann?") and effect.text.replace("Person 3", "") == rehearsed.text.replace(
        "Person 3", ""
    )
    assert len(people(memory)) == 1 and of(memory, "same") == []
    (step,) = memory.journal()
    assert (step.kind, step.args["as"], step.args["n"], step.why) == ("accept", "merge", question.n, "same scarf")
    assert {c.state for c in memory.constraints()} == {"kept"} and memory.integrity() == []


def test_no_keeps_two_persons_apart_and_is_never_asked_again(memory: Memory) -> None:
    question = blurred(memory)
    memory.correct("reject", {"n": question.n})
    assert of(memory, "same") == [] and ("person_1", "person_3") in memory.state().who.distinct
    vary(memory, (1,), noise=BLURRED, talks=False)
    assert not any(s.people == question.people for s in of(memory, "same"))


def test_an_answer_is_one_step_that_undo_redo_and_revert_take_back(memory: Memory) -> None:
    question = blurred(memory)
    before = people(memory)
    for verb in ("accept", "reject"):
        memory.correct(verb, {"n": question.n})
        after = people(memory)
        memory.undo()
        assert people(memory) == before and question in memory.suggestions()
        memory.redo()
        assert people(memory) == after and question not in memory.suggestions()
        memory.revert(memory.journal()[-1].step)
        assert people(memory) == before and question in memory.suggestions()
    assert memory.integrity() == []


def test_a_number_means_the_same_question_while_clips_arrive(memory: Memory) -> None:
    question = blurred(memory)
    for _ in range(2):
        vary(memory, (4, 5))
        assert next(s for s in of(memory, "same") if s.key == question.key).n == question.n
    memory.correct("accept", {"n": question.n})
    assert memory.person("person_3").id == "person_1"


def test_a_number_that_is_gone_is_refused_with_the_step_that_answered_it(memory: Memory) -> None:
    question = blurred(memory)
    memory.correct("reject", {"n": question.n})
    with pytest.raises(CorrectionError, match=f"suggestion {question.n} was answered by step 1"):
        memory.correct("accept", {"n": question.n})
    with pytest.raises(CorrectionError, match="not open"):
        memory.correct("accept", {"n": 123456})
    with pytest.raises(CorrectionError, match="number of a suggestion is missing"):
        memory.correct("accept", {})


def test_weak_votes_become_a_question_and_yes_links(memory: Memory) -> None:
    vary(memory, (2,), weight=0.5)
    (question,) = of(memory, "link")
    assert question.people == ("person_1", "person_2") and question.score == pytest.approx(0.5)
    memory.correct("accept", {"n": question.n})
    assert memory.person("person_1").voices == ("voice_2",) and of(memory, "link") == []


def test_no_to_a_link_holds_against_later_votes(memory: Memory) -> None:
    vary(memory, (2,), weight=0.5)
    (question,) = of(memory, "link")
    memory.correct("reject", {"n": question.n})
    vary(memory, (2,), weight=1.5)
    assert memory.person("person_1").voices == () and of(memory, "link") == []
    assert [c.state for c in memory.constraints()] == ["kept"]
    memory.undo()
    assert memory.person("person_1").voices == ("voice_2",)


def test_a_heard_name_is_confirmed_or_turned_down(memory: Memory) -> None:
    remember(memory, memory.next_clips("s1")[0], (1,))
    (question,) = of(memory, "name")
    assert (question.name, question.score) == ("Ann", 0.7) and question.question == "Is Person 1 called Ann?"
    memory.correct("accept", {"n": question.n})
    assert memory.person("Ann").name_state == "confirmed" and of(memory, "name") == []
    memory.undo()
    memory.correct("reject", {"n": question.n})
    assert memory.person("person_1").name_state == "none" and of(memory, "name") == []


def test_of_a_hidden_person_nobody_asks(memory: Memory) -> None:
    question = blurred(memory)
    assert len(memory.suggestions()) == 2
    memory.correct("ignore", {"person": "person_1"})
    assert memory.suggestions() == []
    with pytest.raises(CorrectionError, match="not open"):
        memory.correct("accept", {"n": question.n})


def test_the_form_of_reject_that_names_person_and_name_still_works(memory: Memory) -> None:
    remember(memory, memory.next_clips("s1")[0], (1,))
    memory.correct("reject", {"person": "person_1", "name": "Ann"})
    assert memory.person("person_1").suggested_names == ()


def test_a_person_in_two_groups_is_asked_about_and_yes_parts_them(memory: Memory) -> None:
    vary(memory, (1, 2), as_one=True, talks=False)
    vary(memory, (1,), talks=False)
    (question,) = of(memory, "two_people")
    assert question.groups[1] == ("s1.c0.f1",) and set(question.groups[0]) == {"s1.c0.f0", "s1.c1.f0"}
    assert question.effect == "gives 1 face to somebody new, 1 memory reads differently"
    memory.correct("accept", {"n": question.n})
    assert [r.person for r in memory.tracks("s1")] == ["person_1", "person_2", "person_1"]
    vary(memory, (2,), talks=False)
    assert memory.tracks("s1")[-1].person == "person_2"  # the gallery went along
    assert {c.state for c in memory.constraints()} == {"kept"} and of(memory, "two_people") == []


def test_no_to_two_people_binds_all_of_it_for_good(memory: Memory) -> None:
    vary(memory, (1, 2), as_one=True, talks=False)
    vary(memory, (1,), talks=False)
    (question,) = of(memory, "two_people")
    effect = memory.correct("reject", {"n": question.n})
    assert effect.text == "says that all of this is Person 1" and effect.observations == ()
    assert {memory.state().who.held[o].step for o in question.observations} == {1}
    vary(memory, (2,), talks=False)
    assert of(memory, "two_people") == []
    memory.undo()
    assert [s.key for s in of(memory, "two_people")] == [question.key]


def test_replay_of_answers_gives_the_same_memory(memory: Memory) -> None:
    vary(memory, (1, 2), as_one=True, weight=0.5)
    vary(memory, (1,), noise=BLURRED, talks=False)
    for verb in ("accept", "reject", "accept"):
        if questions := memory.suggestions():
            memory.correct(verb, {"n": questions[0].n})
    assert memory.integrity() == []
    assert fold(memory.log()).who.canonical == memory.state().who.canonical


def test_a_reader_sees_questions_of_what_was_written_since(memory: Memory) -> None:
    with Memory.open(memory.folder) as reader:
        assert reader.suggestions() == []
        blurred(memory)
        assert reader.suggestions() == memory.suggestions() != []


# ---------------------------------------------------------------- reasons


def test_why_lists_similarities_votes_names_and_the_runner_up(memory: Memory) -> None:
    for people_ in ((1, 2), (1,)):
        remember(memory, memory.next_clips("s1")[0], people_)
    verdict = memory.why("s1.c1.f0")
    assert (verdict.person, verdict.node, verdict.by, verdict.runner_up) == ("person_1", "face_1", MODELS["face_vectors"], "person_2")
    assert verdict.score and verdict.margin and verdict.score > 0.9 and verdict.margin > 0.5
    assert [(r.kind, r.observation) for r in verdict.votes][:2] == [("likeness", "s1.c0.f0"), ("alone", "s1.c0.u0")]
    assert "name" in {r.kind for r in verdict.votes}


def test_without_its_only_similarity_an_observation_would_be_nobodys(memory: Memory) -> None:
    for _ in range(2):
        remember(memory, memory.next_clips("s1")[0], (1,), talks=False)
    assert memory.why("s1.c1.f0").flips == "s1.c0.f0"
    remember(memory, memory.next_clips("s1")[0], (1,), talks=False)
    assert memory.why("s1.c1.f0").flips is None  # two others say so


def test_the_one_vote_that_links_decides(memory: Memory) -> None:
    vary(memory, (1,))
    assert memory.why("s1.c0.u0").flips == "s1.c0.f0"
    memory.correct("set-aside", {"observation": "s1.c0.f0"})
    assert memory.why("s1.c0.u0").person == "person_2"  # as it said: without that face the voice is somebody else's


def test_a_users_word_is_the_reason_and_nothing_flips_it(memory: Memory) -> None:
    for _ in range(2):
        remember(memory, memory.next_clips("s1")[0], (1,), talks=False)
    memory.correct("assign", {"observations": ["s1.c1.f0"], "person": "person_1"}, why="her coat")
    verdict = memory.why("s1.c1.f0")
    assert verdict.by == "user" and verdict.flips is None
    assert verdict.votes[0].kind == "user" and "her coat" in verdict.votes[0].text


def test_why_of_what_is_not_there_is_a_clear_error(memory: Memory) -> None:
    with pytest.raises(CorrectionError, match="no observation s9"):
        memory.why("s9.c0.f0")


def test_why_follows_what_stands_in_the_place_of_a_vote(memory: Memory) -> None:
    vary(memory, (1,))
    before = [r.kind for r in memory.why("s1.c0.f0").votes]
    memory.correct("split-at", {"observation": "s1.c0.u0", "at": 3_000_000})
    assert [r.kind for r in memory.why("s1.c0.f0").votes] == before and "alone" in before
    with pytest.raises(CorrectionError, match="was superseded"):
        memory.why("s1.c0.u0")


# ---------------------------------------------------------------- the scorecard


def test_the_scorecard_finds_what_is_wrong(memory: Memory) -> None:
    vary(memory, (1, 2), as_one=True, talks=False)
    vary(memory, (1, 2), talks=False)
    card = memory.scorecard()
    truth = {"s1.c0.f0": 1, "s1.c0.f1": 2, "s1.c1.f0": 1, "s1.c1.f1": 2}
    pairs = draw(card, 20)
    assert len(pairs) == 6
    score = estimate(card, {(a, b): truth[a] == truth[b] for a, b in pairs})
    held = {o: h.person for o, h in memory.state().who.held.items()}
    together = [p for p in pairs if held[p[0]] == held[p[1]]]
    right = sum(1 for a, b in together if truth[a] == truth[b])
    assert score.precision == pytest.approx((right / len(together),) * 3, abs=1e-4)
    assert draw(memory.scorecard({"s1.c0.f0", "s1.c1.f0"}), 20) == [("s1.c0.f0", "s1.c1.f0")]


def test_votes_of_another_face_make_a_link_less_likely(memory: Memory) -> None:
    clip = memory.next_clips("s1")[0]
    perceived, draft = seen(clip, (1, 2))
    votes = (Vote("s1.c0.f0", "s1.c0.u0", "alone in view", 0.6), Vote("s1.c0.f1", "s1.c0.u0", "alone in view", 0.5))
    draft = replace(draft, votes=votes)
    memory.commit_episodic(clip, perceived, draft, text_vectors=text_vectors(draft), text_model="e5 1", models=MODELS, at=AT)
    first, second = sorted(of(memory, "link"), key=lambda s: -s.score)
    assert first.groups[0] == ("s1.c0.f0",) and np.all(np.array([first.score, second.score]) < 0.5)


def tangled(memory: Memory) -> Suggestion:
    """Remember four faces that cannot be compared, which votes put together: 1 and 2, 3 and 4, and, hardly, 2 and 3."""
    clip = memory.next_clips("s1")[0]
    perceived, draft = seen(clip, (1, 2, 3, 4), talks=False)
    votes = [(0, 1, 3.0), (2, 3, 3.0), (1, 2, 1.0)]
    draft = replace(draft, votes=tuple(Vote(f"{clip.id}.f{a}", f"{clip.id}.f{b}", "m3-agent semantic_9", w) for a, b, w in votes))
    bare = replace(perceived, vectors={}, cannot_link=frozenset())
    memory.commit_episodic(clip, bare, draft, text_vectors=text_vectors(draft), text_model="e5 1", models=MODELS, at=AT)
    assert len(people(memory)) == 1
    (question,) = of(memory, "two_people")
    return question


def test_a_person_whom_votes_put_together_is_cut_where_they_hardly_hold(memory: Memory) -> None:
    question = tangled(memory)
    assert sorted(question.groups[0]) == ["s1.c0.f0", "s1.c0.f1"] and sorted(question.groups[1]) == ["s1.c0.f2", "s1.c0.f3"]
    memory.correct("accept", {"n": question.n})
    assert [len(faces) for _, _, faces, _ in people(memory)] == [2, 2]  # nodes stay nodes
    assert {n.id for n in memory.state().who.nodes.values() if n.step is not None} == set()
    memory.undo()
    assert [len(faces) for _, _, faces, _ in people(memory)] == [4]
    memory.redo()
    assert {c.state for c in memory.constraints()} == {"kept"} and memory.integrity() == []


def test_sides_of_a_cut_stay_whole_and_can_be_cut_again(memory: Memory) -> None:
    question = tangled(memory)
    memory.correct("accept", {"n": question.n})
    memory.correct("split", {"person": memory.tracks("s1")[2].person, "observations": ["s1.c0.f3"]})
    first, second, third, fourth = (r.person for r in memory.tracks("s1"))
    assert first == second and len({first, third, fourth}) == 3 and {c.state for c in memory.constraints()} == {"kept"}


def test_no_to_a_cut_makes_one_person_of_all_its_nodes(memory: Memory) -> None:
    question = tangled(memory)
    memory.correct("reject", {"n": question.n})
    assert of(memory, "two_people") == [] and {c.state for c in memory.constraints()} == {"kept"}
    (step,) = memory.journal()
    assert (step.kind, step.args["as"]) == ("reject", "merge") and len(step.args["others"]) == 3


@pytest.mark.parametrize("seed", range(12))
def test_random_answers_with_clips_in_between_break_nothing(memory: Memory, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(5):
        weight, as_one, noise = rng.choice((0.4, 0.5, 1.0)), rng.random() < 0.4, rng.choice((0.2, BLURRED))
        vary(memory, rng.sample((1, 2, 3), 2), weight=weight, as_one=as_one, noise=noise)
        for _ in range(rng.randrange(3)):
            questions = memory.suggestions()
            if questions and rng.random() < 0.8:
                asked, before = rng.choice(questions), people(memory)
                memory.correct(rng.choice(("accept", "reject")), {"n": asked.n})
                assert asked.key not in {s.key for s in memory.suggestions()}
                if rng.random() < 0.3:
                    memory.undo()
                    assert people(memory) == before and memory.suggestions() == questions
            elif memory.can_undo():
                memory.undo()
    assert memory.integrity() == [] and not any(c.state == "broken" for c in memory.constraints())
    assert len({s.n for s in memory.suggestions()}) == len(memory.suggestions())
    while memory.can_undo():
        memory.undo()
    assert memory.integrity() == [] and not any(h.step for h in memory.state().who.held.values())
