"""The Chinese dictionary's cache is never taken from the shared temporary folder, where anybody can put one (it is read with `marshal`)."""

from __future__ import annotations

import marshal
import tempfile
from pathlib import Path

import pytest

from m3desk.store.index import words


@pytest.mark.parametrize("place", ["a file", pytest.param("a new folder", marks=pytest.mark.slow)])
def test_a_cache_that_somebody_else_left_in_the_temporary_folder_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], place: str
) -> None:
    shared = tmp_path / "tmp"
    shared.mkdir()
    (shared / "jieba.cache").write_bytes(marshal.dumps(({"色的": 10**9}, 10**9)))
    data = tmp_path / "data"
    if place == "a file":
        data.write_text("")
    monkeypatch.setenv("M3DESK_DATA", str(data))
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    monkeypatch.setattr(words, "_jieba", None)
    assert len(words._chinese().FREQ) > 100_000 and words._chinese().lcut("红色的杯子") == ["红色", "的", "杯子"]
    assert [f.name for f in shared.iterdir()] == ["jieba.cache"]
    assert "Traceback" not in capfd.readouterr().err
