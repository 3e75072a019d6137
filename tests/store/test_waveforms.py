"""Waveforms beside the database: kept for one content, and deleted with what they tell of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from m3desk.errors import FileLeft
from m3desk.store import place
from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, source

S = 1_000_000


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.create(tmp_path / "m.m3desk") as made:
        made.plan_clips(made.add_source(source()).id, clips("s1"), fps=5.0)
        remember(made, made.next_clips("s1")[0], (1,))
        yield made


def test_a_waveform_is_read_as_it_was_kept_and_not_for_another_content(memory: Memory) -> None:
    assert memory.waveform("s1") is None and memory.waveform("s9") is None
    memory.keep_waveform(memory.source("s1"), b"\x05\x06", forgettings=0)
    assert memory.waveform("s1") == b"\x05\x06" and memory.integrity() == []
    memory.rename_content("s1", "f" * 64)
    assert memory.waveform("s1") is None
    memory.keep_waveform(memory.source("s1"), b"\x07", forgettings=0)
    assert [p.read_bytes() for p in (memory.folder / "waveforms").iterdir()] == [b"\x07"]
    assert memory.waveform("s1") == b"\x07"
    assert place.remains(memory.folder)  # and the folder is still taken for a memory's


def test_forgetting_deletes_it_and_one_that_was_being_computed_is_not_kept(memory: Memory) -> None:
    memory.keep_waveform(memory.source("s1"), b"\x05", forgettings=0)
    memory.forget_span("s1", 1 * S, 3 * S)
    assert memory.waveform("s1") is None
    memory.keep_waveform(memory.source("s1"), b"\x05", forgettings=0)
    assert memory.waveform("s1") is None
    assert memory.forgotten_spans() == [("s1", 1 * S, 3 * S)]


def test_a_window_that_reads_before_the_file_is_deleted_gets_nothing_of_what_was_forgotten(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.keep_waveform(memory.source("s1"), b"\x05" * 400, forgettings=0)
    monkeypatch.setattr("m3desk.store.waveforms.drop", lambda *_: [])
    memory.forget_span("s1", 1 * S, 3 * S + 1)
    memory.forget_span("s1", 9 * S, 10 * S)
    assert memory.waveform("s1") == b"\x05" * 100 + bytes(201) + b"\x05" * 99


def test_removing_a_source_deletes_it_and_its_forgotten_spans_are_those_of_the_same_content(memory: Memory) -> None:
    memory.forget_span("s1", 1 * S, 3 * S)
    memory.keep_waveform(memory.source("s1"), b"\x05", forgettings=1)
    memory.remove_source("s1")
    assert list((memory.folder / "waveforms").iterdir()) == [] and memory.forgotten_spans() == []
    again = memory.add_source(replace(source(), uri="/elsewhere.mp4"))
    assert memory.forgotten_spans() == [(again.id, 1 * S, 3 * S)]


def stuck(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let some files be such as can't be deleted (on Windows: those that another program reads)."""
    unlink = Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path.name.startswith(names):
            raise PermissionError(13, "Permission denied", str(path))
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)


def test_one_file_that_cannot_be_deleted_keeps_no_other_and_is_named(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = memory.folder / "waveforms"
    folder.mkdir(exist_ok=True)
    for name in ("s1-a.peaks", "s2-b.peaks", "s2-b.new", "s3-c.peaks"):
        (folder / name).write_bytes(b"x")
    stuck(monkeypatch, "s1", "s3")
    assert memory.drop_waveforms() == ["waveforms/s1-a.peaks", "waveforms/s3-c.peaks"]
    assert sorted(p.name for p in folder.iterdir()) == ["s1-a.peaks", "s3-c.peaks"]


def test_removing_a_source_says_which_file_is_left_and_deletes_what_a_killed_writer_left(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.keep_waveform(memory.source("s1"), b"\x05", forgettings=0)
    kept = next((memory.folder / "waveforms").iterdir())
    kept.with_suffix(".new").write_bytes(b"part")
    (memory.folder / "waveforms" / "s10-a.new").write_bytes(b"of another source")
    stuck(monkeypatch, kept.name)
    with pytest.raises(FileLeft, match=kept.name):
        memory.remove_source("s1")
    assert memory.sources() == []
    assert sorted(p.name for p in kept.parent.iterdir()) == [kept.name, "s10-a.new"]
