"""The layout: linked nodes come together, pinned nodes stay, a growing graph moves old nodes little."""

from __future__ import annotations

import multiprocessing
import time

import numpy as np
import pytest
from m3desk_ui.graph.layout import COLD, SETTLED, LayoutThread, push_apart, push_on_mesh, regrown, scatter
from m3desk_ui.graph.layout_process import LayoutProcess


def clusters(count: int, size: int) -> tuple[list[str], np.ndarray]:
    """Return stars of `size` leaves, one hub each."""
    ids, links = [], []
    for c in range(count):
        hub = len(ids)
        ids.append(f"hub{c}")
        for k in range(size):
            links.append((hub, len(ids)))
            ids.append(f"leaf{c}.{k}")
    return ids, np.array(links, np.int32)


def settled(ids: list[str], links: np.ndarray, old=None):
    forces = regrown(old, ids, links, np.ones(len(links), np.float32))
    while forces.heat >= COLD:
        forces.tick()
    return forces


def test_first_places_are_the_same_every_time() -> None:
    assert (scatter(["a", "b", "人"], 100) == scatter(["a", "b", "人"], 100)).all()


@pytest.mark.parametrize("push", [push_apart, push_on_mesh])
def test_the_push_is_close_to_the_exact_sum(push) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(3)
    at = rng.normal(0, 200, (1000, 2)).astype(np.float32)
    mass = np.ones(1000, np.float32)
    d = at[:, None] - at[None]
    exact = (d / ((d**2).sum(2) + 1)[..., None]).sum(1)
    near = push(at, mass, False)
    error = np.hypot(*(near - exact).T) / np.hypot(*exact.T).mean()
    assert np.median(error) < 0.1


def test_leaves_come_to_lie_nearer_their_own_hub_than_any_other() -> None:
    ids, links = clusters(6, 20)
    forces = settled(ids, links)
    hubs = np.array([i for i, id_ in enumerate(ids) if id_.startswith("hub")])
    own = 0
    for hub, leaf in links:
        away = np.hypot(*(forces.at[hubs] - forces.at[leaf]).T)
        own += int(hubs[np.argmin(away)] == hub)
    assert own / len(links) > 0.95


def test_the_same_graph_gives_the_same_layout() -> None:
    ids, links = clusters(4, 9)
    assert np.array_equal(settled(ids, links).at, settled(ids, links).at)


def test_old_nodes_hardly_move_when_new_ones_arrive() -> None:
    ids, links = clusters(6, 20)
    first = settled(ids, links)
    first.freedom[:] = SETTLED
    before = first.at.copy()
    width = float(np.ptp(before, axis=0).max())
    more = [*ids, *(f"new{i}" for i in range(8))]
    grown = settled(more, np.concatenate([links, [(0, len(ids) + i) for i in range(8)]]).astype(np.int32), first)
    drift = np.hypot(*(grown.at[: len(ids)] - before).T)
    assert np.median(drift) / width < 0.02


def test_a_new_node_starts_beside_its_neighbour() -> None:
    ids, links = clusters(6, 20)
    first = settled(ids, links)
    grown = regrown(first, [*ids, "new"], np.concatenate([links, [(21, len(ids))]]).astype(np.int32), np.ones(len(links) + 1, np.float32))
    away = np.hypot(*(grown.at[-1] - grown.at[21]))
    assert away < 0.3 * np.ptp(first.at, axis=0).max()


def test_a_node_without_links_stays_in_view() -> None:
    ids, links = clusters(5, 15)
    forces = settled([*ids, "alone"], links)
    assert np.hypot(*forces.at[-1]) < 1.5 * np.hypot(*forces.at[:-1].T).max()


def test_large_nodes_do_not_overlap() -> None:
    ids = [f"person_{i}" for i in range(6)] + [f"t{i}" for i in range(12)]
    links = np.array([(p, 6 + t) for t in range(12) for p in range(6)], np.int32)
    room = np.array([2.0] * 6 + [1.0] * 12, np.float32)
    forces = regrown(None, ids, links, np.ones(len(links), np.float32), room)
    while forces.heat >= COLD:
        forces.tick()
    d = np.hypot(*(forces.at[:6, None] - forces.at[None, :6]).transpose(2, 0, 1))
    np.fill_diagonal(d, np.inf)
    assert d.min() > 45


def test_layouts_of_no_and_of_one_node_end() -> None:
    nothing = np.zeros((0, 2), np.int32)
    assert len(settled([], nothing).at) == 0
    assert np.isfinite(settled(["a"], nothing).at).all()


def test_the_thread_lays_out_pins_and_stops() -> None:
    ids, links = clusters(3, 8)
    thread = LayoutThread()
    thread.show(ids, links, np.ones(len(links), np.float32), serial=7)
    thread.pin("hub1", 500.0, -300.0)
    places, final = None, False
    until = time.monotonic() + 20
    while not final and time.monotonic() < until:
        news = thread.take()
        if news is not None:
            serial, places, final = news
            assert serial == 7
        time.sleep(0.01)
    thread.stop()
    assert final
    assert places is not None
    assert tuple(places[ids.index("hub1")]) == (500.0, -300.0)


def wait_for(layout: LayoutProcess, serial: int) -> np.ndarray:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        news = layout.take()
        if news is not None and news[0] == serial and news[2]:
            return news[1]
        time.sleep(0.01)
    raise AssertionError("no final places came")


def kill() -> None:
    """Kill the layout's process, and what earlier tests left of theirs."""
    for process in multiprocessing.active_children():
        if process.name == "m3desk-layout":
            process.kill()
            process.join()


def test_the_process_lays_out_and_starts_again_where_the_nodes_stood_after_it_died() -> None:
    ids, links = clusters(3, 8)
    layout = LayoutProcess()
    first = wait_for(layout, layout.show(ids, links, np.ones(len(links), np.float32), None))
    kill()
    second = layout.show([*ids, "new"], links, np.ones(len(links), np.float32), None, np.concatenate([first, [[np.nan, np.nan]]]))
    again = wait_for(layout, second)
    layout.stop()
    drift = np.hypot(*(again[: len(ids)] - first).T)
    assert np.median(drift) < 0.02 * np.ptp(first, axis=0).max()


def test_a_process_that_died_goes_on_from_where_the_nodes_stood_before_anything_new_is_shown() -> None:
    ids, links = clusters(3, 8)
    layout = LayoutProcess()
    first = wait_for(layout, layout.show(ids, links, np.ones(len(links), np.float32), None))
    kill()
    until = time.monotonic() + 30
    places = []
    while time.monotonic() < until and not (places and places[-1][2]):
        if (news := layout.take()) is not None:
            places.append(news)
        time.sleep(0.005)
    layout.stop()
    assert places[-1][2]
    for _, at, _ in places:  # from the first news on
        assert np.median(np.hypot(*(at - first).T)) < 0.02 * np.ptp(first, axis=0).max()
