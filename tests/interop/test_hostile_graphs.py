"""Graphs of absurd size or shape are refused in one line or imported in seconds."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from m3desk.bench.hostile import graphs
from m3desk.bench.hostile.graphs import ABSURD
from m3desk.bench.hostile.made_graphs import kitchen, node, pickled
from m3desk.domain.identities import Equivalence
from m3desk.domain.questions.graph_cuts import cuts, one_person_evidence
from m3desk.errors import ImportProblem
from m3desk.interop import doctor, m3agent
from m3desk.interop.quarantine import Limits
from m3desk.store.memory import Memory

REFUSED = {
    "two million tags in a sentence": "more than 5,000 characters",
    "a character of 3,000 voices": "more than 2,000 faces and voices",
    "300 equivalences of 2,000 tags": "more than 5,000 characters",
    "70 equivalences of 130 tags": "more than 500,000 pairs",
    "5,000 clips": "more than 2,000 clips",
    "a clip beyond all time": "no whole number|not a whole number",
    "a negative clip": "not a whole number",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", REFUSED)
def test_too_much_of_anything_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / "graph.pkl.gz"
    path.write_bytes(ABSURD[name]())
    with pytest.raises(ImportProblem, match=REFUSED[name]) as told:
        m3agent.load(path)
    assert "\n" not in told.value.line() and "Nothing was written" in told.value.line()


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("size", [600])
def test_a_character_of_hundreds_of_faces_and_voices_is_imported_and_checked_in_seconds(tmp_path: Path, size: int) -> None:
    path = tmp_path / "graph.pkl.gz"
    path.write_bytes(graphs._character(size, mixed=True))
    loaded = m3agent.load(path)
    with Memory.create(tmp_path / "m.m3desk") as memory:
        memory.adopt(loaded.graph, going=loaded.going)
        assert [len(p.faces) + len(p.voices) for p in memory.people()] == [size]
        assert doctor.check(memory)["ok"]


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_long_row_of_equivalences_is_checked_in_seconds(tmp_path: Path) -> None:
    path = tmp_path / "graph.pkl.gz"
    path.write_bytes(graphs._chain(700))
    loaded = m3agent.load(path)
    with Memory.create(tmp_path / "m.m3desk") as memory:
        memory.adopt(loaded.graph)
        assert doctor.check(memory)["ok"]


def test_groups_are_joined_the_strongest_first_as_ever() -> None:
    chance = random.Random(3)
    for _ in range(40):
        nodes = [f"voice_{n}" for n in range(9)]
        votes = {(a, b): chance.choice([0.5, 1.0, 1.0, 2.5]) for a in nodes for b in nodes if a < b and chance.random() < 0.4}
        against = {p: chance.choice([0.5, 1.0, 3.0]) for p in votes if chance.random() < 0.5}
        rows = [Equivalence(a, b, None, None, w, (("s1.c0", "m3-agent semantic_1", w),), True) for (a, b), w in votes.items()]
        assert one_person_evidence(rows) == votes
        assert all(set(c.part) | set(c.rest) == set(nodes) for c in cuts(votes, nodes, against))


def test_other_letters_than_ascii_arrive_whole_whatever_they_are(tmp_path: Path) -> None:
    """JSON of the child is UTF-8: six bytes a letter was more than it may take, and the parent said only “status 1”."""
    path = tmp_path / "graph.pkl"
    made = kitchen()
    made.nodes[60] = node(60, "voice", ["客厅" * 4_000_000])
    path.write_bytes(pickled(made))
    limits = Limits(memory=220 << 20, kept=60 << 20)
    loaded = m3agent.load(path, limits)
    assert len(next(n for n in loaded.graph.nodes if n.number == 60).extra["contents"][0]) == 8_000_000


def test_an_import_that_takes_too_long_is_ended_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "graph.pkl"
    path.write_bytes(pickled(kitchen()))
    loaded = m3agent.load(path)
    deadline = m3agent.Deadline("graph.pkl")
    deadline.allow(0)
    deadline._began -= 11.0
    with Memory.create(tmp_path / "m.m3desk") as memory:
        with pytest.raises(ImportProblem, match="takes longer"):
            memory.adopt(loaded.graph, going=deadline)
        assert not memory.sources() and not memory.graph().nodes
        memory.adopt(loaded.graph, going=loaded.going)


def test_a_gzip_file_of_thousands_of_parts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.pkl.gz"
    path.write_bytes(gzip.compress(b"") * 5_000)
    with pytest.raises(ImportProblem, match="more than 100 parts"):
        m3agent.load(path)


@pytest.mark.slow
def test_the_generator_gives_every_attack_and_then_goes_on(tmp_path: Path) -> None:
    made = graphs.cases(tmp_path, random.Random(1))
    names = {next(made).name.split(": ", 1)[1] for _ in range(8)}
    assert len(names) == 8 and len(list(tmp_path.iterdir())) == 8
