"""What is done with nodes of the graph by a key, the menu, or the strip over the canvas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import QMenu

from m3desk_ui.graph import scene as scenes
from m3desk_ui.look import plain
from m3desk_ui.people import merging

if TYPE_CHECKING:
    from m3desk_ui.graph.view import GraphView


class NodeCommands(QObject):
    """The commands of one view."""

    def __init__(self, view: GraphView) -> None:
        super().__init__(view)
        self._view, self._canvas, self._hub = view, view.canvas, view.hub

    def key(self, key: str, id_: str) -> None:
        """Do what a key, or a button of the strip over the graph, stands for."""
        selected = [i for i in self._canvas.marked if i in self._canvas.scene.row_of] or ([id_] if id_ else [])
        if key in ("back", "forward"):
            self._view.go(back=key == "back")
        elif key == "o":
            self._view.bar.map.toggle()
        elif key == "m":
            self.merge(selected)
        elif key == "t":
            self.show_path(selected)
        elif key == "clear":
            self._canvas.choose("")
            self._canvas.setFocus()
        elif key == "e" and selected:
            self._view.want(unfolded=self._view.wish.unfolded | set(selected), closed=self._view.wish.closed - set(selected))
        elif key == "c" and selected:
            for one in selected:
                self.collapse(one)
        elif key == "p":
            for one in selected:
                self.toggle_pin(one)

    def merge(self, ids: list[str]) -> None:
        """Ask whether the people among these nodes are one person."""
        people = [id_ for id_ in ids if (node := self._view.node(id_)) is not None and node.kind == "person"]
        if self._view.is_past:
            self._hub.notice.emit("info", self.tr("This is an earlier state: return to now to correct it."), "", "")
        elif len(people) < 2:
            hint = self.tr("Shift+click people, walk to them with Shift and the arrow keys, or drag a box with Shift held; then press M.")
            self._hub.notice.emit("info", self.tr("Select two or more people to merge."), hint, "")
        else:
            merging.ask(self._hub, self._view, people)

    def show_path(self, ids: list[str]) -> None:
        """Show a shortest path between two nodes, and light it."""
        if len(ids) != 2:
            self._hub.notice.emit(
                "info", self.tr("Select two nodes to see a path between them."), self.tr("Shift+click the second one."), ""
            )
            return
        way = scenes.path(self._view.whole, *ids)
        if not way:
            self._hub.notice.emit("info", self.tr("There is no path between these two."), "", "")
            return
        self._view.want(extra=self._view.wish.extra | set(way))
        self._canvas.light_path(way)
        self._canvas.fit()

    def expand(self, id_: str) -> None:
        """Show all that a node is linked to."""
        self._view.want(unfolded=self._view.wish.unfolded | {id_}, closed=self._view.wish.closed - {id_})

    def collapse(self, id_: str) -> None:
        """Hide what hangs on this node alone; close a group."""
        group = id_ not in self._view.whole.row_of
        self._view.want(unfolded=self._view.wish.unfolded - {id_}, closed=self._view.wish.closed | (frozenset() if group else {id_}))

    def toggle_pin(self, id_: str) -> None:
        """Hold a node where it is, or let it go."""
        row = self._canvas.scene.row_of.get(id_)
        if row is None:
            return
        if id_ in self._canvas.pinned:
            self._canvas.pinned.discard(id_)
            self._view.placing.release([id_])
        else:
            self._canvas.pinned.add(id_)
            self._view.placing.pin(id_, *map(float, self._canvas.at[row]))
        self._canvas.update()

    def open_menu(self, id_: str, where: QPoint) -> None:
        """Open the menu of a node, or of the ground where `id_` is empty."""
        menu = QMenu(self._view)
        if id_:
            node = self._canvas.scene.nodes[self._canvas.scene.row_of[id_]]
            if node.source is not None and node.start is not None:
                menu.addAction(self.tr("Play this moment"), lambda: self._view.play(id_))
            menu.addAction(self.tr("Show in the inspector"), lambda: self._view.inspect(id_))
            if node.kind not in ("clip", "topic"):
                menu.addAction(self.tr("Ask about this"), lambda: self._hub.selection.asked_about.emit(self._question(node)))
            menu.addSeparator()
            menu.addAction(self.tr("Expand (E)"), lambda: self.expand(id_))
            menu.addAction(self.tr("Collapse (C)"), lambda: self.collapse(id_))
            pinned = id_ in self._canvas.pinned
            menu.addAction(self.tr("Unpin (P)") if pinned else self.tr("Pin here (P)"), lambda: self.toggle_pin(id_))
            if node.kind == "person":
                menu.addAction(plain.entry(self.tr("Only what is linked to %1").replace("%1", node.label)), lambda: self.only(id_))
            menu.addSeparator()
        if len(self._canvas.marked) > 1:
            menu.addAction(self.tr("Merge the selected people… (M)"), lambda: self.key("m", id_))
            menu.addAction(self.tr("Path between the two (T)"), lambda: self.key("t", id_)).setEnabled(len(self._canvas.marked) == 2)
            menu.addSeparator()
        menu.addAction(self.tr("Fit to view"), self._canvas.fit)
        menu.addAction(self.tr("Reset view"), self._view.reset)
        if self._canvas.pinned:
            menu.addAction(self.tr("Unpin all"), self.release_all)
        self._view.exports.add_to(menu)
        menu.popup(where)

    def _question(self, node: scenes.SceneNode) -> str:
        if node.kind == "person":
            return self.tr("What is known about %1?").replace("%1", node.label)
        return self.tr("What led to this: “%1”?").replace("%1", node.content or node.label)

    def only(self, id_: str) -> None:
        """Show only what is linked to a person."""
        self._view.bar.person.setCurrentIndex(max(0, self._view.bar.person.findData(id_)))
        self._canvas.camera.own = False

    def release_all(self) -> None:
        """Let the layout move all nodes again."""
        self._view.placing.release(list(self._canvas.pinned))
        self._canvas.pinned.clear()
        self._canvas.update()
