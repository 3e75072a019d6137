"""The doctor says what looks wrong in a memory, and what helps."""

from __future__ import annotations

import shlex
from pathlib import Path

from m3desk.cli.parser import parser
from m3desk.interop import doctor
from m3desk.store.sqlite import Memory
from tests.store.invented import clips, remember, source


def test_a_sound_memory_has_nothing_wrong_and_a_crowd_is_found(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m.m3desk") as memory:
        memory.plan_clips(memory.add_source(source()).id, clips("s1"), fps=5.0)
        for clip in memory.next_clips("s1"):
            remember(memory, clip, (2 * clip.index + 1, 2 * clip.index + 2))
        report = doctor.check(memory)
        assert report == {
            "ok": True, "integrity": [], "index": [], "findings": [],
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
