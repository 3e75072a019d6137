"""Views updated by the changes of each commit show the same as a view that reads everything."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from m3desk_ui.chat.view import ChatView
from m3desk_ui.graph import scene as scenes
from m3desk_ui.graph.view import GraphView
from m3desk_ui.graph.whole import FACE, VOICE, Whole, whole
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.hub.following import Following
from m3desk_ui.memory import memory_model, sources_view
from m3desk_ui.memory.inspector import Inspector
from m3desk_ui.memory.inspector_words import read_thing
from m3desk_ui.memory.memory_view import MemoryView
from m3desk_ui.memory.sources_view import SourcesView
from m3desk_ui.people.page_reading import read_page
from m3desk_ui.people.people_list import most_present
from m3desk_ui.people.people_view import PeopleView
from m3desk_ui.timeline import rows as timeline_rows
from m3desk_ui.timeline.view import TimelineView
from m3desk_ui.video import face_boxes, transcript_view
from m3desk_ui.video.transcript_view import TranscriptView
from m3desk_ui.video.video_view import VideoView
from m3desk_ui.window import status
from m3desk_ui.window.status import Status
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow
from pytestqt.qtbot import QtBot

from m3desk.bench import scale, scale_window
from m3desk.domain.changed import Changed
from m3desk.domain.people import SpeechRow, TrackRow
from m3desk.errors import CorrectionError, M3DeskError, MemoryBusy
from m3desk.store import derived, rows
from m3desk.store.memory import Memory
from m3desk.store.reader import Reader
from tests.store import random_corrections as lives
from tests.ui.fakes import FakeDesk, FakePlayer, World


class Counting:
    """A reader that notes what it is asked for, and how many rows that are."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self.rows: dict[str, int] = {}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._reader, name)
        if not callable(found):
            return found

        def ask(*args: Any, **how: Any) -> Any:
            answer = found(*args, **how)
            size = len(answer.nodes) + len(answer.edges) if name == "graph" else len(answer) if isinstance(answer, (list, dict)) else 1
            self.rows[name] = self.rows.get(name, 0) + size
            return answer

        return ask


class Window:
    """All views on one memory, whose reads are done at once, on this thread."""

    def __init__(self, qtbot: QtBot, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
        self.memory = memory
        self.reader = Counting(Reader.open(memory.folder))
        self.told: list[Changed] = []
        memory.watch(self.told.append)
        self.hub = Hub()
        monkeypatch.setattr(self.hub, "read", self._read)
        self.failed: list[Exception] = []
        monkeypatch.setattr(self.hub, "tell", self.failed.append)
        self.hub.open(FakeDesk(World(0)), str(memory.folder))
        self.hub._version = None
        hub = self.hub
        self.memories, self.people, self.graph, self.chat = MemoryView(hub), PeopleView(hub), GraphView(hub), ChatView(hub)
        self.transcript, self.timeline, self.sources, self.status = TranscriptView(hub), TimelineView(hub), SourcesView(hub), Status(hub)
        self.inspector, self.video = Inspector(hub), VideoView(hub, FakePlayer)
        self.views = (
            self.memories, self.people, self.graph, self.chat, self.transcript, self.timeline, self.sources, self.status, self.inspector,
            self.video,
        )  # fmt: skip
        for view in self.views:
            qtbot.addWidget(view)
        self.graph.placing.layout.show = lambda *_: 0  # type: ignore[method-assign]

    def _read(self, _key: str, fn: Callable[[Any], Any], then: Callable[[Any], None], failed: Any = None) -> None:
        if self.closed:  # as the hub: what is delivered later reads nothing any more
            return
        try:
            answer = fn(self.reader)
        except (M3DeskError, LookupError) as error:
            (failed or self.hub.tell)(error)
            return
        then(answer)

    def follow(self) -> None:
        """Tell the views what was committed since the last call."""
        told, self.told[:] = list(self.told), []
        for changed in told:
            self.hub._note_changed(changed.without_vectors())
        if told:
            self.hub._say_changed()

    closed = False

    def close(self) -> None:
        self.closed = True
        self.hub.close()
        self.reader.close()

    # ------------------------------------------------------------ what must hold

    def check(self) -> None:
        """Compare each view with what it would show had it read everything now."""
        assert not self.failed, self.failed
        self._check_tables()
        self._check_times()
        same_graph(self.graph.whole, whole(self.reader.graph(), self.reader.people()))
        kind, id_ = self.inspector._shown
        if id_ and not self.inspector._is_gone:
            found, fresh = self.inspector._found, read_thing(self.reader, kind, id_)
            assert found is not None
            assert (found.title, found.what, found.facts, found.lists, found.pictures) == (
                fresh.title, fresh.what, fresh.facts, fresh.lists, fresh.pictures,
            )  # fmt: skip
        page = self.people.page
        if page.page is not None and self.people.stack.currentWidget() is page:
            fresh_page = read_page(self.reader, page.person_id)
            assert [(r.track.id, r.node, r.person, r.shown, r.set_aside) for r in page.page.tracks] == [
                (r.track.id, r.node, r.person, r.shown, r.set_aside) for r in fresh_page.tracks
            ]
            assert page.page == fresh_page

    def _check_tables(self) -> None:
        read, names, files = memory_model.read_all(self.reader)  # type: ignore[arg-type]
        model = self.memories.model
        assert model.rows == read and model.names == names and model.files == files
        assert model.hay == [model._hay(r) for r in read]
        assert {p for p, n in model.spoken_of.items() if n > 0} == {p for r in read for p in r.people}
        proxy = self.memories.proxy
        shown = [proxy.index(n, 0).data(memory_model.SENTENCE).id for n in range(proxy.rowCount())]
        assert sorted(shown) == sorted(read[n].id for n in model.fitting(proxy.words, proxy.kind, proxy.person, range(len(read))))
        people = self.reader.people()
        assert self.people.model.people == sorted(people, key=most_present)
        assert self.chat._people == {p.id: p for p in people}
        source = self.transcript._source
        assert self.transcript.lines.rows == sorted(transcript_view._lines(self.reader, source)[1], key=transcript_view._place)
        assert self.sources._rows == sources_view.read_rows(self.reader)  # type: ignore[arg-type]
        assert (self.status._clips, self.status._people) == status.read_counts(self.reader)  # type: ignore[arg-type]

    def _check_times(self) -> None:
        plan = timeline_rows.plan(self.reader, self.timeline._source)  # type: ignore[arg-type]
        assert self.timeline.canvas.plan == plan
        rows, fresh = self.timeline.canvas.rows, timeline_rows.Rows()
        pieces = timeline_rows.pieces(self.reader, [c for c in plan.clips if timeline_rows.is_kept(c)])  # type: ignore[arg-type]
        for clip in pieces:
            told = [(m.start, m.end, m.id, m.kind, m.shown) for m in self.reader.memories(clip=clip)]
            assert sorted(pieces[clip].memories) == sorted(told)
        for found, held in ((self.reader.tracks(plan.source.id), "seen"), (self.reader.speech(plan.source.id), "heard")):  # type: ignore[union-attr]
            there = [(r.person, *span_of(r)) for r in found if r.person and not r.set_aside]
            assert sorted(row for piece in pieces.values() for row in getattr(piece, held)) == sorted(there)
        fresh = fresh.changed(pieces, (), plan.names)
        assert rows.pieces == fresh.pieces and rows.memories == fresh.memories and rows.clip_of == fresh.clip_of
        assert rows.times.tolist() == fresh.times.tolist() and rows.semantic.tolist() == fresh.semantic.tolist()
        assert [(x.person, x.name, x.seen.tolist(), x.heard.tolist()) for x in rows.lanes] == [
            (x.person, x.name, x.seen.tolist(), x.heard.tolist()) for x in fresh.lanes
        ]
        if self.video.source:
            window, loaded = self.video.canvas.window_read, self.video._loaded
            assert window is not None
            again = face_boxes.load(self.reader, *loaded)  # type: ignore[arg-type]
            assert (window.said, window.committed) == (again.said, again.committed)
            assert [(t.id, t.person, t.name, t.boxes.tolist()) for t in window.tracks] == [
                (t.id, t.person, t.name, t.boxes.tolist()) for t in again.tracks
            ]


def span_of(row: TrackRow | SpeechRow) -> tuple[int, int]:
    found = row.track if isinstance(row, TrackRow) else row.utterance
    return found.start, found.end


def same_graph(kept: Whole, fresh: Whole) -> None:
    """Compare two graphs whatever their rows are numbered."""
    assert {n.id: n for n in kept} == {n.id: n for n in fresh}
    assert links(kept) == links(fresh)
    assert +kept.present == +fresh.present and kept.people() == fresh.people()
    for graph in (kept, fresh):
        assert [len(near) for near in graph.near] == graph.degree.tolist()
        bodies = np.isin(graph.kinds, (FACE, VOICE))
        assert [int((~bodies[list(near)]).sum()) for near in graph.near] == graph.apart_from_bodies.tolist()
    for wish in (scenes.Wish(), scenes.Wish(everything=True)):
        one, other = scenes.scene(kept, wish), scenes.scene(fresh, wish)
        hidden = [dict(zip((n.id for n in s.nodes), s.hidden.tolist(), strict=True)) for s in (one, other)]
        assert hidden[0] == hidden[1]


def links(graph: Whole) -> dict[tuple[str, str], tuple[float, int]]:
    used = np.flatnonzero(graph.ends[:, 0] >= 0)
    found = {}
    for place in used.tolist():
        ends = tuple(sorted(graph.node(row).id for row in graph.ends[place].tolist()))
        found[ends] = round(float(graph.pull[place]), 4), int(graph.ties[place])
    return found  # type: ignore[return-value]


@pytest.fixture
def life(tmp_path: Path) -> Iterator[lives.Life]:
    with mock.patch.object(rows, "CHUNK", 2), mock.patch.object(derived, "CHUNK", 2), lives.born(tmp_path) as memory:
        yield lives.Life(memory, random.Random())


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
def test_after_random_commits_and_corrections_every_view_shows_what_a_fresh_one_shows(
    qtbot: QtBot, life: lives.Life, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    life.dice = random.Random(seed)
    lives._clip(life)
    with mock.patch.object(scenes, "ALL_AT_ONCE", 5 if seed % 2 else 70):
        window = Window(qtbot, life.memory, monkeypatch)
        window.follow()
        window.check()
        weights = [w for w, _ in lives.ACTIONS.values()]
        for turn in range(12):
            for _ in range(life.dice.randint(1, 2)):  # sometimes two commits are told at once
                with contextlib.suppress(CorrectionError):
                    lives.ACTIONS[life.dice.choices(list(lives.ACTIONS), weights)[0]][1](life)
            if turn == 3:
                window.people.open_page(life.pick(life.people()).id)
            if turn % 4 == 1:
                choices = [("person", life.pick(life.people()).id), ("clip", f"{life.source}.c0"), ("source", life.source)]
                choices += [("node", life.told()), ("observation", life.pick(life.observations()))]
                window.follow()
                window.inspector.inspect(*life.pick(choices))
            if turn == 6:
                window.memories.table.sortByColumn(life.dice.choice([0, 1, 2, 3, 4]), Qt.SortOrder.DescendingOrder)
            window.follow()
            window.check()
        window.close()


def test_what_is_committed_while_a_read_fails_is_read(qtbot: QtBot) -> None:
    hub, shown, reads = Hub(), [], []
    hold = threading.Event()

    def read(_reader: Any) -> int:
        reads.append(1)
        if len(reads) == 1:
            hold.wait(30)
            raise MemoryBusy("it is busy.")
        return len(reads)

    following: Following[int, int] = Following(
        hub, "x", load=lambda: read, show=shown.append, patch=lambda _changed: read, apply=shown.append
    )
    hub.open(FakeDesk(World(0)), "/m")
    following.restart()
    hub.changed.emit(Changed(1, 2, people=frozenset({"person_1"})))
    hold.set()
    qtbot.waitUntil(lambda: shown == [2] and following.at_rest, timeout=30_000)
    hub.close()


def test_what_views_read_after_a_commit_does_not_grow_with_the_memory(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = {}
    for count in (4, 24):
        path = tmp_path / f"{count}.m3desk"
        scale_window.grow(path, count)
        with Memory.open(path, write=True) as memory:
            window = Window(qtbot, memory, monkeypatch)
            window.reader.rows.clear()
            clip = memory.next_clips("s1")[0]
            perceived, draft, vectors = scale.invented(clip, random.Random(1))
            memory.commit_episodic(clip, perceived, draft, text_vectors=vectors, text_model=scale.TEXTS, models=scale.MODELS)
            window.follow()
            read[count] = dict(window.reader.rows)
            window.close()
    assert sum(read[24].values()) <= sum(read[4].values()) + 10, read


def test_what_several_views_read_of_a_change_is_read_once(qtbot: QtBot, life: lives.Life, monkeypatch: pytest.MonkeyPatch) -> None:
    lives._clip(life)
    window = Window(qtbot, life.memory, monkeypatch)
    window.follow()
    for _ in range(2):
        lives._clip(life)
        changed = frozenset().union(*(c.people for c in window.told))
        window.reader.rows.clear()
        window.follow()
        assert 0 < window.reader.rows["people_of"] <= len(changed) + 1
    window.check()
    window.close()


def test_a_view_behind_another_reads_nothing_and_catches_up_when_it_is_shown(
    qtbot: QtBot, life: lives.Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    lives._clip(life)
    window = Window(qtbot, life.memory, monkeypatch)
    main = QMainWindow()
    docks = []
    for view in (window.people, window.memories, window.graph):
        dock = QDockWidget()
        dock.setWidget(view)
        main.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
        if docks:
            main.tabifyDockWidget(docks[-1], dock)
        docks.append(dock)
    docks[0].raise_()
    main.show()
    qtbot.waitExposed(main)
    qtbot.waitUntil(lambda: window.graph.visibleRegion().isEmpty() and window.memories.visibleRegion().isEmpty(), timeout=30_000)
    lives._clip(life)
    window.reader.rows.clear()
    window.follow()
    assert not window.reader.rows.keys() & {"memories", "nodes_of", "graph"}
    assert (window.memories.following.at_rest, window.graph.following.at_rest) == (False, False)
    for dock, behind in ((docks[1], window.memories), (docks[2], window.graph)):
        dock.raise_()
        qtbot.waitUntil(lambda view=behind: view.following.at_rest, timeout=30_000)  # type: ignore[misc]
    window.check()
    window.close()
    for view in (window.people, window.memories, window.graph):  # they are closed one by one
        view.setParent(None)
    main.close()
