"""The doctor says what looks wrong in a memory, and what helps."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from m3desk import cli
from m3desk.bench.hostile.made_graphs import graph, node, pickled
from m3desk.cli.parser import parser
from m3desk.interop import doctor, m3agent
from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, source


def test_a_sound_memory_has_nothing_wrong_and_a_crowd_is_found(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m.m3desk") as memory:
        memory.plan_clips(memory.add_source(source()).id, clips("s1"), fps=5.0)
        for clip in memory.next_clips("s1"):
            remember(memory, clip, (2 * clip.index + 1, 2 * clip.index + 2))
        report = doctor.check(memory)
        assert report == {
            "ok": True, "integrity": [], "index": [], "waiting": [], "findings": [],
            "constraints": {"kept": 0, "overridden": 0, "waiting": 0, "broken": 0},
        }  # fmt: skip
        people = [p.id for p in memory.people()]
        memory.correct("merge", {"keep": people[0], "others": people[1:5]})
        memory.correct("add", {"text": "<face_99> runs away"})
        report = doctor.check(memory)
        assert [f["kind"] for f in report["findings"]] == ["crowd", "dangling tag"]
        assert report["constraints"]["kept"] == 4 and report["ok"]
        assert report["findings"][0]["fix"] == "m3desk people assign s1.c0.u0 --new"
        for finding in report["findings"]:  # a command that exists
            assert parser().parse_args([*shlex.split(finding["fix"])[1:], "-m", memory.path])
        (memory.folder / "media").rename(memory.folder / "lost")
        assert not doctor.check(memory)["ok"]


def tangled() -> Any:
    """A graph with every fault: a crowd, a link that sentences deny, people of one clip, a lone voice, a tag of nobody, no order."""
    rows = [node(0, "img", []), node(1, "img", []), *(node(n, "voice", []) for n in range(2, 8)), node(8, "voice", [])]
    texts = [
        (0, "semantic", "Equivalence: <face_0>, <voice_2>"), (0, "semantic", "Equivalence: <face_0>, <voice_3>"),
        (1, "semantic", "Equivalence: <face_1>, <voice_4>"), (1, "semantic", "Equivalence: <face_1>, <voice_5>"),
        (2, "semantic", "Equivalence: <voice_3>, <voice_4>"), (2, "semantic", "Equivalence: <voice_5>, <voice_6>"),
        *((k, "episodic", f"<face_0> gives <face_1> cup {k}.") for k in range(3, 8)),
        *((k, "episodic", f"<face_1> answers <voice_6> and <voice_4> says {k}.") for k in range(3, 8)),
        (9, "episodic", "<voice_7> sings."), (10, "episodic", "<voice_121> hums to <face_0>."),
        (8, "episodic", "<face_0> waits."), (8, "semantic", "<face_0> is patient."),
    ]  # fmt: skip
    rows += [node(20 + i, kind, [text], clip) for i, (clip, kind, text) in enumerate(texts)]
    return graph(rows)


def test_each_finding_of_a_foreign_graph_comes_with_a_correction_that_undo_takes_back(tmp_path: Path) -> None:
    path = tmp_path / "graph.pkl"
    path.write_bytes(pickled(tangled()))
    folder = tmp_path / "m.m3desk"
    with Memory.create(folder) as memory:
        memory.adopt(m3agent.load(path).graph)
        report = doctor.check(memory)
    assert report["ok"]
    kinds = {f["kind"]: f for f in report["findings"]}
    assert sorted(kinds) == ["contradicted", "crowd", "dangling tag", "one clip", "orphan", "out of order"]
    assert kinds["out of order"]["text"] == "s1.c8 was memorized after s1.c10: its 1 conclusions may rest on later clips"
    before = state_of(folder)
    for kind, finding in kinds.items():
        fix = shlex.split(finding["fix"])
        assert fix[0] == "m3desk" and cli.main([*fix[1:], "-m", str(folder), "--why", "the doctor said so"]) == 0, finding
        assert state_of(folder) != before, kind
        with Memory.open(folder) as memory:
            assert finding not in doctor.findings(memory), kind
        assert cli.main(["undo", "-m", str(folder)]) == 0
        assert state_of(folder) == before, kind
    assert cli.main(["check", "-m", str(folder)]) == 0  # advice is no failure


def state_of(folder: Path) -> Any:
    with Memory.open(folder) as memory:
        return memory.people(), [(s.id, s.tagged) for s in memory.memories()], memory.graph().edges, memory.graph().nodes
