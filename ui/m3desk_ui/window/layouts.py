"""The three default layouts: Explore (everything), Live (for demos: large picture, graph, chat), People (who is who)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

if TYPE_CHECKING:
    from m3desk_ui.window.main_window import MainWindow

LEFT, RIGHT, BOTTOM = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea, Qt.DockWidgetArea.BottomDockWidgetArea

LAYOUTS: dict[str, dict[str, list[list[str]]]] = {
    "explore": {
        "left": [["people", "sources"]],
        "bottom": [["timeline", "memories"]],
        "right": [["graph", "inspector"], ["chat", "transcript"]],
    },
    "live": {"left": [], "bottom": [["chat"]], "right": [["graph"]]},
    "people": {"left": [["inspector", "sources"]], "bottom": [["timeline"]], "right": [["people", "graph", "memories"]]},
}
"""For each side, groups of tabs from top to bottom; the first of a group is in front. Docks not named are hidden."""
WIDTHS = {"explore": (0.18, 0.33), "live": (0.0, 0.34), "people": (0.2, 0.46)}
"""Parts of the window's width for left and right."""
BOTTOM_HEIGHT = 0.27


def arrange(window: MainWindow, name: str) -> None:
    """Place the docks of a layout, with sizes relative to the window."""
    sides = LAYOUTS[name]
    for dock in window.docks.values():
        window.removeDockWidget(dock)
        dock.setFloating(False)
    # The bottom runs under the picture only: people and graph keep their full height.
    window.setCorner(Qt.Corner.BottomLeftCorner, LEFT)
    window.setCorner(Qt.Corner.BottomRightCorner, RIGHT)
    fronts = []
    for side, area in (("left", LEFT), ("right", RIGHT), ("bottom", BOTTOM)):
        # First the front of each group, one below the other; tabs only then: a dock beside a tabbed one would join its tabs.
        above = None
        for group in sides[side]:
            first = window.docks[group[0]]
            window.addDockWidget(area, first)
            if above is not None:
                window.splitDockWidget(above, first, Qt.Orientation.Vertical)
            first.show()
            above = first
            fronts.append(first)
        for group in sides[side]:
            for other in group[1:]:
                window.tabifyDockWidget(window.docks[group[0]], window.docks[other])
                window.docks[other].show()
    named = {name for groups in sides.values() for group in groups for name in group}
    for spare in [d for n, d in window.docks.items() if n not in named]:
        # In the window though hidden: a dock outside it would not be in the state that is kept, and so not be hidden by it.
        window.addDockWidget(RIGHT if sides["right"] else LEFT, spare)
        spare.hide()
    for dock in fronts:
        dock.raise_()
    left, right = WIDTHS[name]
    for side, part in (("left", left), ("right", right)):
        firsts = [window.docks[g[0]] for g in sides[side]]
        if firsts:
            window.resizeDocks([firsts[0]], [round(window.width() * part)], Qt.Orientation.Horizontal)
            window.resizeDocks(firsts, [window.height() // len(firsts)] * len(firsts), Qt.Orientation.Vertical)
    below = [window.docks[g[0]] for g in sides["bottom"]]
    if below:
        window.resizeDocks(below, [round(window.height() * BOTTOM_HEIGHT)] * len(below), Qt.Orientation.Vertical)
