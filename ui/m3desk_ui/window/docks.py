"""The docks around the video: created with the window, filled with views as these load, arranged in three layouts."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget, QTabBar, QWidget

from m3desk_ui.look import plain
from m3desk_ui.window import areas
from m3desk_ui.window.layouts import LAYOUTS, arrange

if TYPE_CHECKING:
    from m3desk_ui.hub.bridge import Hub
    from m3desk_ui.window.main_window import MainWindow
    from m3desk_ui.window.window_state import WindowState

NAMES = ("people", "sources", "timeline", "memories", "graph", "transcript", "chat", "inspector")

LATER = {
    "people": ("people.people_view", "PeopleView"),
    "graph": ("graph.view", "GraphView"),
    "memories": ("memory.memory_view", "MemoryView"),
    "inspector": ("memory.inspector", "Inspector"),
    "chat": ("chat.view", "ChatView"),
}
"""Docks whose modules are imported (in a thread) only once the window is on the screen: they bring numba, tables and the like."""

LAYOUT_VERSION = 2
"""Kept layouts of another version are not restored: raise it when docks or layouts change."""


class Docks(QObject):
    """`all`: the docks by name; `views`: the loaded views."""

    def __init__(self, window: MainWindow, hub: Hub, state: WindowState, views: dict[str, QWidget]) -> None:
        super().__init__(window)
        self.window, self.hub, self.state, self.views = window, hub, state, views
        self.all: dict[str, QDockWidget] = {}
        self.layout = state.text("layout", "explore") if state.text("layout", "explore") in LAYOUTS else "explore"
        self._titles = QTimer(self)
        self._titles.setSingleShot(True)
        self._titles.setInterval(0)
        self._titles.timeout.connect(self._show_titles)
        for name in NAMES:
            self._dock(name)

    def title_of(self, name: str) -> str:
        return {
            "people": self.tr("People"), "sources": self.tr("Sources"), "timeline": self.tr("Timeline"), "memories": self.tr("Memories"),
            "graph": self.tr("Graph"), "transcript": self.tr("Transcript"), "chat": self.tr("Chat"), "inspector": self.tr("Inspector"),
        }[name]  # fmt: skip

    def _dock(self, name: str) -> None:
        dock = QDockWidget(self.title_of(name), self.window)
        dock.setObjectName(name)
        view = self.views.get(name)
        if view is None:
            waiting = plain.Label(self.tr("Loading …"))
            waiting.setProperty("muted", True)
            waiting.setAlignment(Qt.AlignmentFlag.AlignCenter)
            dock.setWidget(waiting)
        else:
            dock.setWidget(view)
        self.all[name] = dock
        for signal in (dock.visibilityChanged, dock.dockLocationChanged, dock.topLevelChanged):
            signal.connect(lambda *_: self._titles.start())
        self.window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)

    def _show_titles(self) -> None:
        """Show a title bar only on docks that are not tabbed: a tab already shows the name (and can be dragged too)."""
        for dock in self.all.values():
            tabbed = any(not d.isHidden() for d in self.window.tabifiedDockWidgets(dock)) and not dock.isFloating()
            bare = dock.titleBarWidget() is not None
            if tabbed and not bare:
                dock.setTitleBarWidget(QWidget(dock))
            elif not tabbed and bare:
                dock.setTitleBarWidget(None)  # type: ignore[arg-type]
        for bar in self.window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
            views = ", ".join(bar.tabText(i) for i in range(bar.count()))
            bar.setAccessibleName(plain.line(self.tr("Views: %1").replace("%1", views)))

    def actions(self) -> list[QAction]:
        return [d.toggleViewAction() for d in self.all.values()]

    def load_rest(self) -> None:
        """Import and create the other views, each in its own turn of the event loop. Call it once the window is shown."""
        waiting = list(LATER)

        def next_one() -> None:
            if not waiting:
                return
            name = waiting.pop(0)
            module, cls = LATER[name]
            self.hub.work(lambda: importlib.import_module(f"m3desk_ui.{module}"), lambda m: make(name, m, cls), failed)

        def failed(error: Exception) -> None:
            self.hub.tell(error)
            QTimer.singleShot(0, self, next_one)

        def make(name: str, module: Any, cls: str) -> None:
            try:
                self._put_view(name, getattr(module, cls)(self.hub, self.all[name]))
            except Exception as error:
                self.hub.tell(error)
            QTimer.singleShot(0, self, next_one)

        next_one()

    def _put_view(self, name: str, view: QWidget) -> None:
        old = self.all[name].widget()
        self.views[name] = view
        self.all[name].setWidget(view)
        if old is not None:
            old.deleteLater()
        self.window.live.fit_texts()

    def bring_forward(self, name: str) -> None:
        """Show a dock; chat and memories get the focus."""
        dock = self.all.get(name)
        if dock is not None and self.hub.desk is not None:
            dock.show()
            dock.raise_()
            view = self.views.get(name)
            if name in ("chat", "memories") and view is not None:
                if isinstance(view, areas.Findable):
                    view.focus_find()
                else:
                    areas.focus(view)

    def show(self, shown: bool) -> None:
        if not shown:
            for dock in self.all.values():
                dock.hide()
            return
        self.window.live.fit_texts()
        kept = self.state.bytes(f"layout/{self.layout}")
        if kept is None or not self.window.restoreState(kept, LAYOUT_VERSION):
            arrange(self.window, self.layout)

    def use_layout(self, name: str, *, chosen: bool = True) -> None:
        """Save the current layout and switch to another. `chosen`: the user asked for it, so that the next start has it too."""
        if self.hub.desk is None:
            return
        self.keep_layout()
        if name != self.layout:
            self.layout = name
            if chosen:
                self.state.put("layout", name)
            self.show(True)
        self.window.dress_full_screen()
        self.window.live.fit_texts()

    def use_chosen(self) -> None:
        """Go back to the layout that the user chose, where a live source had changed it; the docks follow when they are shown next."""
        chosen = self.state.text("layout", "explore")
        self.layout = chosen if chosen in LAYOUTS else "explore"

    def reset_layout(self) -> None:
        if self.hub.desk is not None:
            arrange(self.window, self.layout)

    def keep_layout(self) -> None:
        if self.hub.desk is not None and not self.window.full.hides_docks:
            self.state.put(f"layout/{self.layout}", self.window.saveState(LAYOUT_VERSION))
