"""Measures what filtering the memories table costs: the real view, from a changed filter until it is painted. For the benchmark."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt

from m3desk.domain.memory import StoredSentence
from m3desk_ui import launch
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.memory.memory_view import MemoryView

SIZE = 900, 700


def measure(rows: Sequence[StoredSentence], names: Mapping[str, str], words: Sequence[str]) -> dict[str, Any]:
    """Type each of `words`, letter by letter, take it away, paste it, choose every kind and person; return milliseconds of the processor.

    A row: what was done, rows then shown, milliseconds of filtering, and with painting.
    """
    app = launch.make_app()
    hub = Hub()
    view = MemoryView(hub)
    view.resize(*SIZE)
    view.show()
    view.model.show(list(rows), dict(names), {})
    view._fill_people()
    view._filter()
    app.processEvents()
    found = []
    for what in _filters(view, words):
        view._wait.stop()  # it waits for the next letter
        busy = time.thread_time()
        view._filter()
        filtered = time.thread_time()
        app.processEvents()
        found.append((what, view.proxy.rowCount(), round(1000 * (filtered - busy), 1), round(1000 * (time.thread_time() - busy), 1)))
    return {"rows": len(rows), "filters": found}


def _filters(view: MemoryView, words: Sequence[str]) -> Iterator[str]:
    """Change the filter and yield its description; the view updates after each."""
    for word in words:
        for length in range(1, len(word) + 1):
            view.words.setText(word[:length])
            yield "typed"
        view.words.setText("")
        yield "cleared"
        view.words.setText(word)
        yield "pasted"
        view.words.setText("")
        yield "cleared"
    for what, box in (("kind", view.kind), ("person", view.person)):
        for place in [*range(1, min(9, box.count())), 0]:
            box.blockSignals(True)  # what the signal does is measured
            box.setCurrentIndex(place)
            box.blockSignals(False)
            yield what
    for column in range(view.model.columnCount()):
        view.table.sortByColumn(column, Qt.SortOrder.DescendingOrder)
        view.words.setText(words[0])
        yield "sorted by another column, pasted"
        view.words.setText("")
        yield "sorted by another column, cleared"
