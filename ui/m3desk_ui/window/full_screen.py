"""Full screen: the picture and its controls alone, or the whole layout for demos; leaving it gives everything back as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QDockWidget

from m3desk_ui.look.on_show import is_on_show

if TYPE_CHECKING:
    from m3desk_ui.window.main_window import MainWindow

SETTLE_MS = 150
"""Milliseconds after the last change of a size until the docks get their shares, or their shares are noted."""


class FullScreen(QObject):
    """Enters and leaves full screen. The layout for demos keeps its docks there; the others show the picture only."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._before: Qt.WindowState | None = None
        self._docks: QByteArray | None = None

    def toggle(self) -> None:
        """Enter or leave full screen."""
        window = self._window
        if window.isFullScreen():
            self.leave()
            return
        self._before = window.windowState() & ~Qt.WindowState.WindowMinimized
        window.setWindowState(self._before | Qt.WindowState.WindowFullScreen)
        self.dress()

    def leave(self) -> None:
        """Leave full screen; a window that was maximized is maximized again."""
        window = self._window
        if window.isFullScreen():
            window.setWindowState(self._before if self._before is not None else Qt.WindowState.WindowNoState)
        self._before = None
        self.dress(False)

    def dress(self, full: bool | None = None) -> None:
        """Hide or show docks, menu and status bar, as the state of the window and its layout have it."""
        window = self._window
        full = window.isFullScreen() if full is None else full
        opened = window.hub.desk is not None
        bare = full and opened
        window.actions_.all["full"].setChecked(full)
        window.actions_.keep_shortcuts(bare)
        window.menuBar().setVisible(not bare)
        window.statusBar().setVisible(not bare)
        alone = bare and window.dock_area.layout != "live"
        if alone and self._docks is None:
            self._docks = window.saveState()
            for dock in window.docks.values():
                dock.hide()
        elif not alone and self._docks is not None:
            docks, self._docks = self._docks, None
            if opened:
                window.restoreState(docks)

    @property
    def hides_docks(self) -> bool:
        """Return whether the docks are hidden for as long as the window fills the screen."""
        return self._docks is not None


class DockShares(QObject):
    """Gives docks their shares of the window back when it grows again: Qt leaves them as small as a small window made them."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._shares: dict[str, tuple[float, float]] = {}
        self._give = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._give.timeout.connect(self.give)
        self._note = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._note.timeout.connect(self.note)
        self._size = window.size()
        window.installEventFilter(self)
        for dock in window.docks.values():
            dock.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            if watched is self._window:
                self._give.start()
            elif not self._give.isActive():
                self._note.start()
        return False

    def _placed(self) -> list[QDockWidget]:
        """Return the docks that take room: neither hidden, floating, nor behind another."""
        docks = self._window.docks.values()
        return [d for d in docks if not d.isFloating() and is_on_show(d)]

    def note(self) -> None:
        """Note the shares of the docks; a change that the window's own size made is none."""
        if self._give.isActive() or self._size != self._window.size():
            return
        wide, high = max(1, self._window.width()), max(1, self._window.height())
        self._shares = {d.objectName(): (d.width() / wide, d.height() / high) for d in self._placed()}

    def give(self) -> None:
        """Give the docks their shares of the window's size of now."""
        window, self._size = self._window, self._window.size()
        docks = [d for d in self._placed() if d.objectName() in self._shares]
        if docks and not window.full.hides_docks:
            shares = [self._shares[d.objectName()] for d in docks]
            window.resizeDocks(docks, [round(w * window.width()) for w, _ in shares], Qt.Orientation.Horizontal)
            window.resizeDocks(docks, [round(h * window.height()) for _, h in shares], Qt.Orientation.Vertical)
        elif not self._shares:
            self._note.start()
