"""The list of sources removes only from the memory that was shown when its question was asked."""

from __future__ import annotations

import pytest
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.look import plain
from m3desk_ui.memory.sources_view import SourcesView
from pytestqt.qtbot import QtBot

from tests.ui.fakes import FakeDesk


def removed(desk: FakeDesk) -> list[bool]:
    """Return, for each request to remove a source, whether it was a dry run."""
    return [how.get("dry_run", False) for _, how in desk.called("remove_source")]


@pytest.mark.parametrize("another", [False, True])
def test_a_source_is_removed_unless_another_memory_opens_during_the_question(
    qtbot: QtBot, hub: Hub, desk: FakeDesk, monkeypatch: pytest.MonkeyPatch, another: bool
) -> None:
    view = SourcesView(hub)
    qtbot.addWidget(view)
    qtbot.waitUntil(lambda: bool(view.model.rows), timeout=3000)
    other, asked = FakeDesk(), []

    def sure(*question: object) -> bool:
        asked.append(question)
        if another:
            hub.open(other)  # a file that was being opened is open now
        return True

    monkeypatch.setattr(plain, "sure", sure)
    view.remove(view.model.rows[0])
    qtbot.waitUntil(lambda: bool(asked), timeout=3000)
    qtbot.wait(50)
    assert removed(desk) == ([True] if another else [True, False]) and removed(other) == []
