"""Bitemporal reading: known by a clip and believed at a date, separately and combined."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from m3desk.domain.memory import Decision, Draft, Sentence, Span
from m3desk.errors import UsageError
from m3desk.store import as_of
from m3desk.store.memory import Memory
from tests.store.invented import MODELS, clips, seen, source, text_vectors

SUNDAY, MONDAY, TUESDAY, WEDNESDAY, THURSDAY = (f"2026-11-{d}T12:00:00.000+00:00" for d in (15, 16, 17, 18, 19))


@pytest.fixture
def memory(tmp_path: Path):
    """Monday: persons 1 (heard to be Ann) and 2 in clip 0, 1 and 5 in clip 1."""
    with Memory.create(tmp_path / "m.m3desk") as made:
        kept = made.add_source(source())
        made.plan_clips(kept.id, clips(kept.id, 4), fps=5.0)
        for people in ((1, 2), (1, 3)):
            remember_at(made, MONDAY, people)
        yield made


def remember_at(memory: Memory, at: str, people: tuple[int, ...]) -> None:
    clip = memory.next_clips("s1")[0]
    perceived, draft = seen(clip, people)
    memory.commit_episodic(clip, perceived, draft, text_vectors=text_vectors(draft), text_model="e5 1", models=MODELS, at=at)


def conclude_at(memory: Memory, at: str, text: str, kind: str, target: str | None = None) -> str:
    clip = memory.to_conclude()[0]
    span = Span(0, 7, (f"{clip.id}.f0",))
    draft = Draft((Sentence(text, "semantic", clip.start, clip.end, (span,), (f"{clip.id}.f0",), topic="habit"),), model="words 1")
    return memory.commit_semantic(clip, draft, [Decision(kind, target)], at=at).sentences[0]  # type: ignore[arg-type]


def believed(memory: Memory, at: str, before: tuple[str, int] | None = None) -> Memory:
    return Memory.open(memory.path, believed_at=at, before=before)


def who(memory: Memory) -> list[str]:
    return [p.shown for p in memory.people()]


def test_a_merge_made_on_tuesday_and_undone_on_wednesday_is_seen_on_tuesday_only(memory: Memory) -> None:
    memory.correct("merge", {"keep": "person_2", "others": ["person_5"]}, at=TUESDAY)
    memory.undo(at=WEDNESDAY)
    apart, joined = ["Ann?", "Person 2", "Person 5"], ["Ann?", "Person 2"]
    for date, expected in ((MONDAY, apart), (TUESDAY, joined), (WEDNESDAY, apart), (THURSDAY, apart)):
        with believed(memory, date) as then:
            assert who(then) == expected, date
            assert then.person("person_5").id == ("person_2" if expected == joined else "person_5")
    with believed(memory, TUESDAY) as then:
        assert then.journal()[0].undone is False and [c.state for c in then.constraints()] == ["kept"]
    with believed(memory, MONDAY) as then:
        assert then.journal() == [] and then.constraints() == []


def test_a_date_before_the_memory_began_shows_nothing_and_says_when_it_began(memory: Memory) -> None:
    with believed(memory, SUNDAY) as then:
        assert (then.people(), then.memories(), then.sources(), then.clips(), then.graph().nodes) == ([], [], [], [], ())
        assert then.as_of == as_of.AsOf(0, MONDAY) and then.as_of.empty


def test_a_name_is_what_it_was_called_then_and_its_evidence_is_as_old_as_its_clip(memory: Memory) -> None:
    memory.correct("name", {"person": "person_1", "name": "Grace"}, at=TUESDAY)
    memory.correct("name", {"person": "person_1", "name": "Hedy"}, at=WEDNESDAY)
    assert who(memory)[0] == "Hedy"
    for date, name, state in ((MONDAY, "Ann?", "suggested"), (TUESDAY, "Grace", "confirmed"), (WEDNESDAY, "Hedy", "confirmed")):
        with believed(memory, date) as then:
            person = then.people()[0]
            assert (person.shown, person.name_state) == (name, state)
            assert then.memories(clip="s1.c0")[0].shown.startswith(name)
    with believed(memory, TUESDAY, before=("s1", 0)) as then:  # both: Tuesday's belief about what clip 0 showed
        assert who(then) == ["Grace", "Person 2"] and {s.clip for s in then.memories()} == {"s1.c0"}
    with Memory.open(memory.path, before=("s1", 0)) as early:
        assert who(early) == ["Hedy", "Person 2"]


def test_weights_and_links_grow_with_the_dates_on_which_they_were_learned(memory: Memory) -> None:
    remember_at(memory, MONDAY, (1,))
    tea = conclude_at(memory, MONDAY, "someone likes tea", "add")
    conclude_at(memory, TUESDAY, "someone likes tea", "reinforce", tea)
    coffee = conclude_at(memory, WEDNESDAY, "someone hates tea", "contradict", tea)
    for date, weight, clips_, until in (
        (MONDAY, 1.0, ["s1.c0"], None), (TUESDAY, 2.0, ["s1.c0", "s1.c1"], None), (WEDNESDAY, 1.0, ["s1.c0", "s1.c1"], "s1.c2"),
    ):  # fmt: skip
        with believed(memory, date) as then:
            sentence = then.sentence(tea)
            assert (sentence.weight, then.node(tea).extra["clips"], sentence.valid_until) == (weight, clips_, until)
            assert (coffee in {s.id for s in then.memories()}) == (date == WEDNESDAY)
            assert any(e.kind == "contradicts" for e in then.neighbours(tea)) == (date == WEDNESDAY)
            assert [c.state for c in then.clips()].count("done") == {MONDAY: 1, TUESDAY: 2, WEDNESDAY: 3}[date]
    with Memory.open(memory.path, before=("s1", 1)) as early:
        assert early.sentence(tea).weight == 2.0 and early.sentence(tea).valid_until is None
    with believed(memory, MONDAY, before=("s1", 1)) as then:
        assert then.sentence(tea).weight == 1.0


def test_a_face_and_a_voice_are_linked_from_the_day_on_which_a_clip_or_a_user_said_so(memory: Memory) -> None:
    remember_at(memory, TUESDAY, (4,))
    memory.correct("unlink", {"face": "face_1", "voice": memory.person("person_1").voices[0]}, at=WEDNESDAY)
    assert memory.person("person_1").voices == ()
    with believed(memory, TUESDAY) as then:
        assert len(then.person("person_1").voices) == 1 and {"s1.c2"} < {c.id for c in then.clips()}
        assert any(e.kind == "equivalence" for e in then.neighbours("face_1"))
    with believed(memory, MONDAY) as then:
        assert {e.b for e in then.equivalences()} <= {v for p in then.people() for v in p.voices}
        assert [c.id for c in then.clips()] == ["s1.c0", "s1.c1"]


def test_bindings_edits_and_deletions_are_those_of_the_day(memory: Memory) -> None:
    told = memory.memories(clip="s1.c1")
    memory.correct("assign", {"observations": ["s1.c1.f1"], "person": "person_2"}, at=TUESDAY)
    memory.correct("edit", {"memory": told[0].id, "text": "Person 2 enters"}, at=TUESDAY)
    memory.correct("delete", {"memory": told[1].id}, at=WEDNESDAY)
    with believed(memory, MONDAY) as then:
        assert [b.superseded for b in then.bindings("s1.c1.f1")] == [None] and then.tracks("s1")[3].person == "person_5"
        assert then.sentence(told[0].id).text == told[0].text and len(then.memories(clip="s1.c1")) == len(told)
    with believed(memory, TUESDAY) as then:
        assert [b.at for b in then.bindings("s1.c1.f1")] == [MONDAY, TUESDAY] and then.tracks("s1")[3].person == "person_2"
        assert then.sentence(told[0].id).shown == "Person 2 enters" and len(then.memories(clip="s1.c1")) == len(told)
    with believed(memory, THURSDAY) as then:
        assert len(then.memories(clip="s1.c1")) == len(told) - 1


def test_belief_now_is_what_the_tables_hold(memory: Memory) -> None:
    memory.correct("merge", {"keep": "person_2", "others": ["person_5"]}, at=TUESDAY)
    with Memory.open(memory.path) as today, believed(memory, THURSDAY) as then:
        assert (then.people(), then.memories(), then.bindings(), then.graph()) == (
            today.people(), today.memories(), today.bindings(), today.graph(),
        )  # fmt: skip
        assert then.perceived("s1.c0").faces == today.perceived("s1.c0").faces and then.evidence() == today.evidence()  # type: ignore[union-attr]
        with pytest.raises(UsageError):
            then.correct("name", {"person": "person_1", "name": "Ann"})


def test_dates_are_read_as_people_write_them() -> None:
    assert as_of.moment("2026-11-21T13:00Z") == datetime(2026, 11, 21, 13, tzinfo=UTC)
    assert as_of.moment("2026-11-21T13:00") == datetime(2026, 11, 21, 13).astimezone()
    assert as_of.moment(" 2026-11-21 ") == datetime(2026, 11, 21, 23, 59, 59, 999999).astimezone()
    for wrong in ("yesterday", "2026-13-01", "2026-11", "13:00", ""):
        with pytest.raises(UsageError, match="is not a date"):
            as_of.moment(wrong)


def test_a_clock_that_was_set_back_hides_nothing_that_came_before(memory: Memory) -> None:
    memory.correct("name", {"person": "person_1", "name": "Grace"}, at="2031-01-01T00:00:00+00:00")
    memory.correct("name", {"person": "person_2", "name": "Bob"}, at=TUESDAY)
    with believed(memory, TUESDAY) as then:
        assert who(then)[:2] == ["Grace", "Bob"]
