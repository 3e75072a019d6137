"""The graph dock: the canvas with search, filters, legend, menu, and the same graph as a list."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QHideEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import (
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from m3desk.domain import graph
from m3desk_ui.graph import past, style
from m3desk_ui.graph import scene as scenes
from m3desk_ui.graph.canvas import PICTURE_SIZE, GraphCanvas
from m3desk_ui.graph.controls import GraphBar, Legend
from m3desk_ui.graph.exports import Exports
from m3desk_ui.graph.mini_map import MiniMap
from m3desk_ui.graph.node_commands import NodeCommands
from m3desk_ui.graph.node_list import MOST as LIST_MOST
from m3desk_ui.graph.node_list import NodeList
from m3desk_ui.graph.placing import Placing
from m3desk_ui.graph.selection_bar import SelectionBar
from m3desk_ui.graph.trail import Stop, Trail
from m3desk_ui.graph.whole import Part, Whole, read_part
from m3desk_ui.hub.following import Following, Read
from m3desk_ui.hub.turns import turns
from m3desk_ui.look import plain, texts
from m3desk_ui.memory.order import number

if TYPE_CHECKING:
    from m3desk.domain.changed import Changed
    from m3desk.domain.clip import Source
    from m3desk_ui.hub.bridge import Hub

MANY = 1000
"""Appearances of people in clips from which the people are shown before the rest is read."""


class GraphView(QWidget):
    """Shows the open memory's graph; grows as clips commit. Reads and lays out off the GUI thread."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self.whole = Whole()
        self.wish = scenes.Wish()
        self._kinds_there: set[str] | None = None
        self._people_there: list[tuple[str, str]] | None = None
        self.trail = Trail()
        self._found: frozenset[str] = frozenset()
        self.canvas = GraphCanvas(self)
        self.placing = Placing(self.canvas, self)
        self.commands = NodeCommands(self)
        self.map = MiniMap(self.canvas)
        self._growing: Generator[None, None, scenes.Scene] | None = None
        self._grow = QTimer(self, singleShot=True, interval=0)
        self._grow.timeout.connect(self._grow_on)
        self._build(hub)
        self.canvas.chosen.connect(self._choose)
        self.canvas.opened.connect(self.play)
        self.canvas.dragged.connect(self.placing.pin)
        self.canvas.menu_wanted.connect(self.commands.open_menu)
        self.canvas.key_wanted.connect(self.commands.key)
        self.canvas.many.connect(self._marked)
        self.following = Following(
            hub,
            "graph",
            load=lambda: _read_whole,
            show=self._show_whole,
            patch=self._changed,
            apply=self._patch,
            idle=self,
            parent=self,
        )
        hub.opened.connect(self._forget)
        hub.themed.connect(self._themed)
        hub.selection.selected.connect(self._follow)
        hub.selection.found.connect(self._mark_found)
        self._themed()
        self._enable_trail()
        if hub.desk is not None:
            self._read()

    # ------------------------------------------------------------ building

    def _build(self, hub: Hub) -> None:
        self.bar = GraphBar(self)
        self.bar.wished.connect(self._rewish)
        self.bar.typed.connect(self._offer)
        self.bar.hit.connect(self._go)
        self.bar.fit.clicked.connect(self.canvas.fit)
        self.bar.arrange.clicked.connect(self.arrange)
        self.bar.as_list.toggled.connect(self._show_list)
        self.bar.back.clicked.connect(lambda: self.go(back=True))
        self.bar.forward.clicked.connect(lambda: self.go(back=False))
        self.bar.map.toggled.connect(lambda on: self.map.want(on))
        self.bar.filter.menu().aboutToShow.connect(self._read_sources)
        self.exports = Exports(hub, self.canvas, self)
        self.exports.add_to(self.bar.export.menu())
        self.strip = SelectionBar(self.canvas)
        self.strip.wanted.connect(lambda key: self.commands.key(key, self.canvas.selected))
        self.earlier = past.Earlier(hub, _read_whole, self.bar.past.menu(), self)
        self.earlier.changed.connect(self.show_earlier)
        self.legend = Legend(self)
        self.legend.wished.connect(self._rewish)
        self.list = NodeList(self)
        self.list.marked.connect(self._chosen_in_list)
        self.list.opened.connect(self.play)
        self.list.key_wanted.connect(lambda key: self.commands.key(key, self.canvas.selected))
        self.list.hide()
        split = QSplitter(self)
        split.addWidget(self.canvas)
        split.addWidget(self.list)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 1)
        split.setSizes([600, 260])
        fit = QAction(self)
        fit.setShortcut(QKeySequence("Ctrl+0"))
        fit.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        fit.triggered.connect(self.canvas.fit)
        self.addAction(fit)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addWidget(self.earlier.bar)
        column.addWidget(split, 1)
        column.addWidget(self.legend)

    def _themed(self) -> None:
        """Set every text, icon and colour."""
        self.bar.dress()
        self.legend.dress()
        self.list.setAccessibleName(self.tr("Graph as a list"))
        self.map.dress()
        self.strip.dress()
        self.earlier.bar.dress()
        self._kinds_there = self._people_there = None
        self.canvas.hint = self.tr("People and memories appear here as the video is memorized.")
        self.canvas.dress()
        self._fill_controls()

    # ------------------------------------------------------------ reading

    def _changed(self, changed: Changed) -> Read[Part] | None:
        known = self.whole.row_of
        return (lambda reader: read_part(reader, changed, known)) if changed.nodes or changed.people or changed.edges else None

    def _patch(self, part: Part) -> None:
        """Take what a commit changed; what is on show follows in the next turns of the event loop."""
        self.whole.change(part)
        self._growing = None
        self._grow.start()

    def _grow_on(self) -> None:
        """Select what is on show now and show it, each step in a turn of its own, because in a large memory it takes milliseconds."""
        if turns().put_off(self._grow):
            return
        if self._growing is None:
            self._growing = self._grown()
        try:
            next(self._growing)
            self._grow.start()
        except StopIteration as end:
            self._show(end.value)

    def _grown(self) -> Generator[None, None, scenes.Scene]:
        """Return what is on show now, with what drawing needs of it, in steps."""
        shown = yield from scenes.in_steps(self.whole, self.wish, self._group_words, self.canvas.scene.row_of)
        yield
        yield from self.canvas.painting.prepare(shown)
        yield
        return shown

    def catch_up(self) -> None:
        """Show the last commit now, if that is still to come."""
        if self._grow.isActive():
            self._rescene()

    def _forget(self, _path: str) -> None:
        self.whole = Whole()
        self.placing.forget()
        self.canvas.pinned.clear()
        self.earlier.forget()
        self.reset()
        self.trail.clear()
        self._enable_trail()
        self._read()

    def _read(self) -> None:
        """Read the graph; of a large memory the people first."""
        self.hub.read("graph people", _read_people, self._show_people)
        self.following.restart()

    def _show_people(self, people: Whole | None) -> None:
        if people is not None and not self.whole.nodes:
            self._show_whole(people)

    def _show_whole(self, whole: Whole) -> None:
        self.whole = whole
        self._rescene()
        self._mark_found(self.hub.selection.hits)
        self._follow(*self.hub.selection.current)

    def _fill_controls(self) -> None:
        """Update the person filter and the legend to the kinds and people in the graph."""
        kinds = {kind for kind, count in self.whole.present.items() if count}
        kinds |= {scenes.CODES[code] for code in np.unique(self.canvas.scene.codes).tolist()} & {"clip", "topic"}
        if kinds != self._kinds_there:
            self._kinds_there = kinds
            self.legend.show_kinds(kinds)
        people = self.whole.people()
        if people != self._people_there:
            self._people_there = people
            self.bar.show_people(people)

    def _read_sources(self) -> None:
        """Offer the sources of now to filter by."""

        def show(sources: list[Source]) -> None:
            self.bar.show_sources([(s.id, Path(s.uri).name, s.duration or 0) for s in sources])

        self.hub.read("graph sources", lambda reader: reader.sources(), show)

    # ------------------------------------------------------------ what is on show

    def _rewish(self) -> None:
        self.want(
            everything=self.bar.everything.isChecked(),
            kinds=self.legend.kinds(),
            person=self.bar.person.currentData(),
            least_weight=float(self.bar.weight.value()),
            source=self.bar.source.currentData(),
            span=self.bar.span(),
        )

    def want(self, **changes: Any) -> None:
        wish = replace(self.wish, **changes)
        if wish != self.wish:
            self._leave()
            self.wish = wish
            self._rescene()

    def _rescene(self) -> None:
        self._show(self._scene())

    def _scene(self) -> scenes.Scene:
        return scenes.scene(self.whole, self.wish, self._group_words, self.canvas.scene.row_of)

    def _show(self, shown: scenes.Scene) -> None:
        self._grow.stop()
        self._growing = None
        is_new = not shown.same(self.canvas.scene)
        if is_new:
            self.placing.show(shown)
            for media in self.canvas.wanted_pictures():
                self._want_picture(media)
        self._fill_controls()
        if is_new and self.list.isVisible():
            self._fill_list()

    def _group_words(self, kind: str, node: scenes.SceneNode, first: int, last: int) -> str:
        """Return what a group of clips or a topic is called."""
        if kind == "topic":
            return texts.topic(node.topic)
        text = self.tr("Clip %1 · %3") if kind == "clip" else self.tr("Clips %1–%2 · %3")
        text = text.replace("%3", texts.clock(node.start or 0)).replace("%2", str(last + 1)).replace("%1", str(first + 1))
        several = any(not name.startswith("s1.") for name in self.whole.names if ".c" in name)
        return self.tr("%1 (video %2)").replace("%2", str(number(node.source or ""))).replace("%1", text) if several else text

    def _want_picture(self, media: str) -> None:
        here = self.hub.pictures.get(media, PICTURE_SIZE, then=lambda pixmap: self.canvas.set_picture(media, pixmap))
        if here is not None:
            self.canvas.set_picture(media, here)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.placing.clock.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.placing.clock.stop()

    # ------------------------------------------------------------ pointing

    def _choose(self, id_: str) -> None:
        self._describe(id_)
        if not id_:
            self.hub.selection.select("", "")
            return
        node = self.canvas.scene.nodes[self.canvas.scene.row_of[id_]]
        if node.kind not in ("clip", "topic"):
            self.hub.selection.select("person" if node.kind == "person" else "node", id_)
        elif node.clip:
            self.hub.selection.select("clip", node.clip)

    def _describe(self, id_: str) -> None:
        """Tell a screen reader what is selected, and how many nodes it is linked to."""
        node, row = self.node(id_), self.canvas.scene.row_of.get(id_, -1)
        if node is None or row < 0:
            self.canvas.setAccessibleDescription("")
            return
        text = f"{style.kind_singular(node.kind)}: {node.content or node.label}"
        count = len(self.canvas.painting.neighbours(row))
        self.canvas.setAccessibleDescription(plain.line(self.tr("%1; links: %2").replace("%2", str(count)).replace("%1", text)))

    def _pick(self, id_: str) -> None:
        self.canvas.choose(id_)
        self.canvas.fly_to_node(id_)

    def inspect(self, id_: str) -> None:
        self._pick(id_)
        self.hub.selection.wanted.emit("inspector")

    def _follow(self, kind: str, id_: str) -> None:
        """Highlight what another view selected; move the camera only if it is not visible."""
        if kind not in ("person", "node", "") or id_ == self.canvas.selected:
            return
        self.catch_up()
        if id_ and id_ in self.whole.row_of and id_ not in self.canvas.scene.row_of:
            self.want(extra=self.wish.extra | {id_})
        self.canvas.choose(id_ if id_ in self.canvas.scene.row_of else "", tell=False)
        row = self.canvas.scene.row_of.get(id_, -1)
        if row >= 0 and not self.canvas.camera.shows(self.canvas.at[row]):
            self.canvas.fly_to(self.canvas.at[row], self.canvas.camera.zoom)

    def _mark_found(self, ids: tuple[str, ...]) -> None:
        """Mark what a search over the window found; what is not on show is added for as long as it is marked."""
        self.canvas.found = tuple(id_ for id_ in ids if id_ in self.whole.row_of)
        kept = self.wish.extra - self._found
        self._found = frozenset(self.canvas.found) - kept
        if self.wish.extra != kept | self._found:
            self.wish = replace(self.wish, extra=kept | self._found)
            self._rescene()
        self.canvas.update()

    def play(self, id_: str) -> None:
        """Play the moment of a node, a person's first; open or close a group."""
        node = self.node(id_)
        if node is not None and node.kind in ("clip", "topic"):
            (self.commands.collapse if id_ in self.wish.unfolded else self.commands.expand)(id_)
        elif node is not None:
            self.hub.selection.play(node.source, node.start)

    def node(self, id_: str) -> scenes.SceneNode | None:
        """Return a node of the graph, or a group on show."""
        row = self.canvas.scene.row_of.get(id_)
        return self.whole.get(id_) if row is None else self.canvas.scene.nodes[row]

    def arrange(self) -> None:
        """Lay everything out anew, and show all of it."""
        self.canvas.camera.own = False
        self.placing.arrange()

    def _marked(self, ids: list[str]) -> None:
        people = sum(1 for id_ in ids if (node := self.node(id_)) is not None and node.kind == "person")
        self.strip.tell(len(ids), 0 if self.is_past else people)
        if self.list.isVisible():
            self.list.mark(ids)

    # ------------------------------------------------------------ back and forward

    def _now(self) -> Stop:
        camera = self.canvas.camera
        return Stop(self.wish, (float(camera.centre[0]), float(camera.centre[1])), camera.zoom, camera.own, tuple(self.canvas.marked))

    def _leave(self) -> None:
        """Remember what is on show, before the user goes on to something else."""
        self.trail.leave(self._now())
        self._enable_trail()

    def _enable_trail(self) -> None:
        back, forward = self.trail.can_go
        self.bar.back.setEnabled(back)
        self.bar.forward.setEnabled(forward)

    def go(self, *, back: bool) -> None:
        """Show again what was on show before (or after that)."""
        stop = self.trail.go(self._now(), back=back)
        self._enable_trail()
        if stop is None:
            return
        self.wish = stop.wish
        self.bar.put(stop.wish.everything, stop.wish.person, stop.wish.least_weight, stop.wish.source, stop.wish.span)
        self.legend.put(stop.wish.kinds)
        self.canvas.light_path([])
        self._rescene()
        self.canvas.mark([id_ for id_ in stop.selected if id_ in self.canvas.scene.row_of])
        if stop.own:
            self.canvas.fly_to(np.array(stop.centre), stop.zoom)
        else:
            self.canvas.fit()

    # ------------------------------------------------------------ earlier states

    @property
    def is_past(self) -> bool:
        """Return whether an earlier state is on show, which is read-only."""
        return self.earlier.state is not None

    def show_earlier(self, whole: Whole | None) -> None:
        """Show the graph of an earlier state, None: of now."""
        if whole is None:
            self.following.restart()
            self.canvas.setFocus()
        else:
            self.following.stop()
            self._show_whole(whole)
        self._marked(self.canvas.marked)

    def reset(self) -> None:
        """Reset the view: all filters off, nothing expanded, everything in view."""
        self.bar.reset()
        self.legend.reset()
        self._leave()
        self.wish = scenes.Wish()
        self.canvas.light_path([])
        self.canvas.camera.own = False
        self._rescene()

    # ------------------------------------------------------------ find as you type

    def _offer(self, text: str) -> None:
        hits = scenes.found(self.whole, text)
        self.bar.show_hits([(n.id, n.content or n.label) for n in hits])
        if hits:
            self.fly_to(hits[0].id)

    def _go(self, id_: str) -> None:
        self._leave()
        self.fly_to(id_)
        self.canvas.choose(id_)

    def fly_to(self, id_: str) -> None:
        """Bring a node into view, showing it first where it was hidden."""
        self.catch_up()
        if id_ not in self.canvas.scene.row_of:
            self.want(extra=self.wish.extra | {id_})
        self.canvas.hovered = id_ if id_ in self.canvas.scene.row_of else ""
        self.canvas.fly_to_node(id_)

    # ------------------------------------------------------------ list and export

    def _show_list(self, on: bool) -> None:
        self.list.setVisible(on)
        if on:
            self._fill_list()

    def _fill_list(self) -> None:
        nodes = self.canvas.scene.nodes
        self.list.fill([nodes[row] for row in self.canvas.painting.order[:LIST_MOST].tolist()])
        self.list.mark(self.canvas.marked)

    def _chosen_in_list(self, ids: list[str]) -> None:
        """Select in the graph what is selected in the list, and bring it into view."""
        self.canvas.mark(ids)
        row = self.canvas.scene.row_of.get(self.canvas.selected, -1)
        if row >= 0 and not self.canvas.camera.shows(self.canvas.at[row], 20):
            self.canvas.fly_to(self.canvas.at[row], self.canvas.camera.zoom)


def _read_people(reader: Any) -> Whole | None:
    """Read the people of a large memory, whose whole graph takes seconds; None for a small one."""
    people = reader.people()
    if sum(len(p.clips) for p in people) < MANY:
        return None
    nodes = tuple(reader.nodes_of([id_ for p in people for id_ in (*p.faces, *p.voices)]))
    return scenes.whole(graph.GraphSnapshot(nodes, (), 0), people)


def _read_whole(reader: Any) -> Whole:
    return scenes.whole(reader.graph(), reader.people())
