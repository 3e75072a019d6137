"""A memory that was made for a live source which could not begin is deleted; one that holds anything stays."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from m3desk.domain.clip import Source
from m3desk.store import discarding
from m3desk.store.memory import Memory


def made(folder: Path) -> Memory:
    return Memory.open_or_create(folder)


def test_a_memory_whose_only_source_was_removed_again_goes(tmp_path: Path) -> None:
    folder = tmp_path / "camera 0.m3desk"
    with contextlib.closing(made(folder)) as memory:
        source = memory.add_source(Source("", "camera:0", None, None, None, None, False, None, state="live"))
        memory.remove_source(source.id, dry_run=False)
        memory.add_source(Source("", "camera:0", None, None, None, None, False, None, state="live"))  # the engine ended before
    (folder / "recordings").mkdir(exist_ok=True)
    assert discarding.discard(folder) and not folder.exists()


def test_a_memory_that_holds_a_source_a_file_or_is_open_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "film.m3desk"
    with contextlib.closing(made(folder)) as memory:
        memory.add_source(Source("", "/films/film.mp4", None, None, None, None, False, None, state="queued"))
    assert not discarding.discard(folder) and folder.exists()
    recorded = tmp_path / "recorded.m3desk"
    made(recorded).close()
    (recorded / "recordings" / "s1").mkdir(parents=True)
    (recorded / "recordings" / "s1" / "0.ts").write_bytes(b"x")
    assert not discarding.discard(recorded) and recorded.exists()
    monkeypatch.setattr(discarding, "WAIT", 0.0)
    busy = tmp_path / "busy.m3desk"
    with contextlib.closing(made(busy)):
        assert not discarding.discard(busy) and busy.exists()
    assert not discarding.discard(tmp_path), "what is no memory stays"
