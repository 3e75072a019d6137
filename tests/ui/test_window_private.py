"""Files that the window writes outside of memories are readable by their user only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from m3desk_ui.window.window_state import WindowState


@pytest.mark.skipif(os.name != "posix", reason="modes mean nothing here")
def test_the_windows_own_settings_are_its_users_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "new" / "config.toml"))
    old = os.umask(0)
    try:
        for text in ("first", "second"):
            state = WindowState()
            state.put("layout", text)
            state.save()
            assert [p.name for p in (tmp_path / "new").iterdir() if p.stat().st_mode & 0o077] == []
    finally:
        os.umask(old)
    assert WindowState().text("layout") == "second" and not (tmp_path / "new").stat().st_mode & 0o077
