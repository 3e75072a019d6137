"""The window's tests: offscreen, with settings and data in a folder of their own."""

from __future__ import annotations

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from PySide6.QtWidgets import QApplication


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    return QApplication


@pytest.fixture(autouse=True)
def _own_places(tmp_path, monkeypatch):  # type: ignore[no-untyped-def]
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "config" / "config.toml"))
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "data"))
