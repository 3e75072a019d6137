"""A memory whose database is damaged: what is wrong, and the offer to put its last good copy in its place. Never without being asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QMessageBox

from m3desk_ui.look import plain

if TYPE_CHECKING:
    from m3desk.events import Damaged
    from m3desk_ui.window.main_window import MainWindow


def offer(window: MainWindow, wrong: Damaged, then: Callable[[], None]) -> QMessageBox:
    """Say what is wrong and, where there is a copy, ask whether to put it in place; then go on with `then`."""
    head = QCoreApplication.translate("Restoring", "This memory is damaged")
    if wrong.copy:
        more = QCoreApplication.translate(
            "Restoring",
            "The last good copy is of %1. What was memorized or corrected later is not in it. The damaged file is kept.",
        ).replace("%1", wrong.copy)
    else:
        more = QCoreApplication.translate("Restoring", "There is no copy of it here. Put memory.sqlite back from a backup of your own.")
    box = plain.box(window, QMessageBox.Icon.Warning, head, wrong.text, more)
    if wrong.copy:
        put = box.addButton(QCoreApplication.translate("Restoring", "Put the copy in place"), QMessageBox.ButtonRole.AcceptRole)
        put.clicked.connect(lambda: _restore(window, wrong.path, then))
        box.addButton(QMessageBox.StandardButton.Cancel)
    else:
        box.addButton(QMessageBox.StandardButton.Close)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
    return box


def _restore(window: MainWindow, path: str, then: Callable[[], None]) -> None:
    def done(copy: str) -> None:
        text = QCoreApplication.translate("Restoring", "The copy of %1 is in place.").replace("%1", copy)
        window.hub.notice.emit("info", text, "", "")
        then()

    window.hub.work(lambda: window.services.restore(path), done)
