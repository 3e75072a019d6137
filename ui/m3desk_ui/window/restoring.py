"""The dialog for a damaged memory: says what is wrong and offers to restore the last good copy; never restores unasked."""

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
    """Show what is wrong and, if there is a copy, ask whether to restore it; then call `then`."""
    head = QCoreApplication.translate("Restoring", "This memory is damaged")
    if wrong.copy:
        more = QCoreApplication.translate(
            "Restoring",
            "The last good copy is from %1. What was memorized or corrected later is not in it. The damaged file is kept.",
        ).replace("%1", wrong.copy)
    else:
        more = QCoreApplication.translate("Restoring", "There is no copy of it. Restore memory.sqlite from your own backup.")
    box = plain.box(window, QMessageBox.Icon.Warning, head, wrong.text, more)
    if wrong.copy:
        put = box.addButton(QCoreApplication.translate("Restoring", "Restore the copy"), QMessageBox.ButtonRole.AcceptRole)
        put.clicked.connect(lambda: _restore(window, wrong.path, then))
        box.addButton(QMessageBox.StandardButton.Cancel)
    else:
        box.addButton(QMessageBox.StandardButton.Close)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
    return box


def _restore(window: MainWindow, path: str, then: Callable[[], None]) -> None:
    def done(copy: str) -> None:
        text = QCoreApplication.translate("Restoring", "The copy from %1 was restored.").replace("%1", copy)
        window.hub.notice.emit("info", text, "", "")
        then()

    window.hub.work(lambda: window.services.restore(path), done)
