"""The hand-written facts of `bench telling` can be read, and are matched with a memory's sentences as they say."""

from __future__ import annotations

import pytest

from m3desk.bench.told_facts import FACTS, PARTS, keyed, read_facts, read_judgments, sentences, telling

TEXT = """
file video/a/film.mp4 calibration
who ann = 0-10 <.5; 2-4 voice
who bob = 0-10 >.5
0-5 | action | Ann speaks. | @ann says|goes_on
0-5 | said | Ann says that it rains. | @ann rain
6-9 | action | Bob leaves. | @bob leaves
"""


def document():
    def box(x):
        return [[t / 5, x, 50, 40, 40] for t in range(50)]

    def node(text, start, end, observation, person, kind="episodic"):
        span = {"start": 0, "end": 7, "observations": [observation], "person": person}
        return {"type": kind, "content": text, "start": start, "end": end, "spans": [span]}

    return {
        "sources": [{"width": 640}],
        "face_tracks": [
            {"id": "f0", "start": 0, "end": 10, "boxes": box(100), "person": "person_1"},
            {"id": "f1", "start": 0, "end": 10, "boxes": box(500), "person": "person_2"},
        ],
        "utterances": [{"id": "u0", "start": 2.1, "end": 3.9, "person": "person_1"}],
        "nodes": [
            node("Someone says: “It rains again.”", 2.1, 3.9, "u0", "person_1"),
            node("Someone rises.", 8, 9, "f1", "person_2"),
            {"type": "face", "content": "Person 1"},
        ],
    }


def test_facts_are_told_by_sentences_of_their_time_that_hold_their_words_and_people():
    (film,) = read_facts(TEXT)
    told = sentences(document(), film)
    assert [t.shown for t in told] == ["«ann» says: “It rains again.”", "«bob» rises."]
    assert [telling(f, told) is not None for f in film.facts] == [True, True, False]


def test_a_repeated_sentence_has_a_judgment_of_its_own():
    (film,) = read_facts(TEXT)
    (one, _) = told = sentences(document(), film)
    assert [k for k, _ in keyed([*told, one])] == ["«ann» says: “It rains again.”", "«bob» rises.", "«ann» says: “It rains again.” #2"]


def test_a_line_that_is_no_fact_is_refused_with_its_number():
    with pytest.raises(ValueError, match="line 3"):
        read_facts("file a.mp4 validation\nwho ann = 0-3\n0-3 | action | Ann.\n")


def test_the_facts_are_many_and_each_names_only_people_of_its_film():
    films = read_facts((FACTS / "told.txt").read_text("utf-8"))
    assert sum(len(f.facts) for f in films) >= 150 and {f.part for f in films} == set(PARTS)
    for film in films:
        named = {w[1:] for fact in film.facts for group in fact.needs for w in group if w.startswith("@")}
        assert named <= film.people.keys(), film.path
    assert set(read_judgments((FACTS / "judged.txt").read_text("utf-8")).values()) <= {"true", "false", "empty"}
