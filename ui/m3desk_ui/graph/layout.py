"""The graph's layout: a force-directed layout in numpy that keeps existing positions stable. Independent of Qt.

LinLog attraction along links; repulsion by balanced cells (exact inside a cell, by the cells' centres elsewhere), of many nodes on a mesh.
The window runs it in a process of its own (`layout_process`).
"""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float32]
"""(n, 2) float32 world units; linked nodes come to rest about `LENGTH` apart."""

LENGTH = 60.0
ATTRACTION = 250.0
REPULSION = 2400.0
GRAVITY = 0.07
GAP = 34.0
"""World units within which a link no longer pulls: room for a face picture with its leaves around it."""
DISC = 52.0
"""World units that the centres of two large nodes keep between them: their size at zoom 1."""
LARGE_MOST = 400
FRICTION = 0.6
COOLING = 0.0228
"""300 ticks take the heat from 1 to 0.001 (1 − 0.001^(1/300)), as d3-force has it."""
COLD = 0.004
SETTLED = 0.06
"""How far a node that has settled follows a push, as a share of what a new one does: old nodes hardly move."""
MESH_FROM = 1_500
"""Nodes from which the push is computed on a mesh: 10,000 nodes take 10 ms a tick there, 75 ms by cells."""
CELL = 16
"""Nodes a cell. Median error of the push, of its mean size, at 2,000 nodes: 3 % with 12, 5 % with 24, 7 % with 48."""


def scatter(ids: Sequence[str], spread: float) -> Points:
    """Return a first place for each id, the same every time (by its checksum)."""
    numbers = np.array([zlib.crc32(i.encode()) for i in ids], dtype=np.uint64)
    angle = (numbers & 0xFFFF) / 65536.0 * 2 * np.pi
    radius = np.sqrt(((numbers >> np.uint64(16)) & 0xFFFF) / 65536.0) * spread
    return np.stack([np.cos(angle) * radius, np.sin(angle) * radius], axis=1).astype(np.float32)


def push_apart(at: Points, mass: NDArray[np.float32], flip: bool) -> Points:
    """Return (n, 2) float32: the sum of mass·d/|d|² over all other nodes, from balanced cells.

    Strips along x (or y, by `flip`) of equal count, cells along the other axis of equal count: no cell is crowded however dense
    the graph is. A far cell counts as its centre, softened by its radius, so a node beside a border feels no jump.
    """
    n = len(at)
    padded, real = _cells(at, flip)
    place = at[padded]
    weight = np.where(real, mass[padded], 0).astype(np.float32)
    heavy = np.maximum(weight.sum(axis=1), 1e-9)
    centre = (place * weight[..., None]).sum(axis=1) / heavy[:, None]
    radius2 = (((place - centre[:, None]) ** 2).sum(axis=2) * weight).sum(axis=1) / heavy
    out = np.zeros((n, 2), dtype=np.float32)
    # against every cell's centre (its own is taken out below by giving it weight 0)
    dx = at[:, 0:1] - centre[None, :, 0]
    dy = at[:, 1:2] - centre[None, :, 1]
    force = heavy[None, :] / (dx * dx + dy * dy + radius2[None, :] + 1.0)
    cell_of = np.empty(n, dtype=np.intp)
    cell_of[padded[real]] = np.nonzero(real)[0]
    force[np.arange(n), cell_of] = 0
    out[:, 0] = np.einsum("ij,ij->i", force, dx)
    out[:, 1] = np.einsum("ij,ij->i", force, dy)
    # exactly, inside its own cell
    near = place[:, :, None, :] - place[:, None, :, :]
    pair = weight[:, None, :] / ((near**2).sum(axis=3) + 1.0)
    inside = np.einsum("cij,cijk->cik", pair, near)
    out[padded[real]] += inside[real]
    return out


def push_on_mesh(at: Points, mass: NDArray[np.float32], flip: bool) -> Points:
    """Return the same sum for many nodes: far ones by a mesh and its Fourier transform, those of the same small cell one by one.

    Particle–particle particle–mesh (Hockney and Eastwood, 1988): masses are spread over the four corners of a mesh's cell, convolved with
    the push of a point, and read back the same way, so that no node pushes itself.
    """
    n = len(at)
    side = 128 if n < 30_000 else 256
    low, high = at.min(axis=0), at.max(axis=0)
    h = float(max((high - low).max() / (side - 3), 1e-3))
    where = (at - low) / h + 1
    corner = where.astype(np.int32)
    part = where - corner
    kernel_x, kernel_y = _kernels(side)
    wide = 2 * side
    spread = np.zeros(wide * wide)
    shares = []
    for dx in (0, 1):
        for dy in (0, 1):
            share = (part[:, 0] if dx else 1 - part[:, 0]) * (part[:, 1] if dy else 1 - part[:, 1])
            flat = (corner[:, 0] + dx) * wide + corner[:, 1] + dy
            shares.append((share, flat))
            spread += np.bincount(flat, share * mass, wide * wide)
    field = np.fft.rfft2(spread.reshape(wide, wide))
    out = np.zeros((n, 2), dtype=np.float32)
    for axis, kernel in ((0, kernel_x), (1, kernel_y)):
        push = np.fft.irfft2(field * kernel, s=(wide, wide)).ravel() / h
        for share, flat in shares:
            out[:, axis] += share * push[flat]
    return out + _push_nearby(at, mass, flip, 1.5 * h)


@lru_cache(maxsize=2)
def _kernels(side: int) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Return the transformed push d/|d|² of a mesh's points, softened within a cell."""
    wide = 2 * side
    steps = np.fft.fftfreq(wide, 1 / wide)
    x, y = np.meshgrid(steps, steps, indexing="ij")
    r2 = x * x + y * y + 0.5
    return np.fft.rfft2(x / r2), np.fft.rfft2(y / r2)


def _push_nearby(at: Points, mass: NDArray[np.float32], flip: bool, reach: float) -> Points:
    """Return what the mesh is too coarse for: the push between nodes of one balanced cell, fading out at `reach`."""
    padded, real = _cells(at, flip)
    place = at[padded]
    weight = np.where(real, mass[padded], 0).astype(np.float32)
    d = place[:, :, None, :] - place[:, None, :, :]
    r2 = (d * d).sum(axis=3)
    pair = weight[:, None, :] * np.maximum(1 - np.sqrt(r2) / np.float32(reach), 0) / (r2 + 1)
    out = np.zeros((len(at), 2), dtype=np.float32)
    out[padded[real]] = np.einsum("cij,cijk->cik", pair, d)[real]
    return out


def _cells(at: Points, flip: bool) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return (cells, rows) node rows of balanced cells, and which of them are real: the last cells of a strip are padded."""
    n = len(at)
    side = max(1, round(np.sqrt(n / CELL)))
    rows = -(-n // (side * side))
    axis = 1 if flip else 0
    order = np.argsort(at[:, axis], kind="stable")
    padded = np.concatenate([order, np.full(side * side * rows - n, -1, dtype=order.dtype)]).reshape(side, -1)
    key = np.where(padded >= 0, at[padded, 1 - axis], np.inf)
    padded = np.take_along_axis(padded, np.argsort(key, axis=1, kind="stable"), axis=1).reshape(side * side, rows)
    return padded, padded >= 0


@dataclass(slots=True)
class Forces:
    """The state of a layout. Rows of all arrays belong to `ids`; `links` (m, 2) are row numbers, `pull` their strengths."""

    ids: list[str]
    at: Points
    speed: Points
    freedom: NDArray[np.float32]
    pinned: NDArray[np.bool_]
    links: NDArray[np.int32]
    pull: NDArray[np.float32]
    mass: NDArray[np.float32]
    gravity: NDArray[np.float32]
    large: NDArray[np.intp]
    heat: float = 0.0
    ticks: int = 0

    def tick(self) -> float:
        """Move everything one step; return the largest move in world units."""
        n = len(self.ids)
        self.heat *= 1 - COOLING
        self.ticks += 1
        if n == 0:
            return 0.0
        push = push_on_mesh if n > MESH_FROM else push_apart
        self.speed += push(self.at, self.mass, bool(self.ticks % 2)) * (REPULSION / LENGTH * self.heat)
        if len(self.links):
            a, b = self.links[:, 0], self.links[:, 1]
            d = self.at[b] - self.at[a]
            far = np.sqrt((d**2).sum(axis=1)) + 1e-6
            beyond = np.maximum(far - GAP, 0)
            force = (ATTRACTION * self.heat * self.pull * np.log1p(beyond / LENGTH) / far)[:, None] * d
            for column in (0, 1):
                self.speed[:, column] += np.bincount(a, force[:, column] / self.mass[a], n)
                self.speed[:, column] -= np.bincount(b, force[:, column] / self.mass[b], n)
        self.speed -= self.at * (self.gravity * self.heat)[:, None]
        self.speed *= FRICTION
        step = self.speed * self.freedom[:, None]
        length = np.sqrt((step**2).sum(axis=1))
        step *= np.minimum(1.0, LENGTH * 1.5 / np.maximum(length, 1e-6))[:, None]
        step[self.pinned] = 0
        self.at += step
        self._keep_apart()
        return float(length.max())

    def _keep_apart(self) -> None:
        """Move large nodes that overlap (rows `large`, up to a few hundred: all pairs) half way out of each other."""
        if not 1 < len(self.large) <= LARGE_MOST:
            return
        d = self.at[self.large][:, None] - self.at[self.large][None]
        away = np.sqrt((d**2).sum(axis=2))
        np.fill_diagonal(away, np.inf)
        short = np.clip(DISC - away, 0, None) / np.maximum(away, 1e-3)
        if not short.any():
            return
        # two at the very same place part along the axis that their order gives them
        same = (away < 1e-3)[..., None] * np.sign(np.arange(len(self.large))[:, None] - np.arange(len(self.large))[None])[..., None]
        move = (short[..., None] * (d + same * 1e-3)).sum(axis=1) * 0.25
        move[self.pinned[self.large]] = 0
        self.at[self.large] += move.astype(np.float32)


def regrown(
    old: Forces | None,
    ids: Sequence[str],
    links: NDArray[np.int32],
    pull: NDArray[np.float32],
    room: NDArray[np.float32] | None = None,
    start: Points | None = None,
) -> Forces:
    """Return forces for this graph in which known nodes keep their place and new ones start beside their neighbours.

    `room` (n,): how much harder than a plain node each pushes others away (large pictures need space); 1 by default. `start` (n, 2): where
    nodes stood before that `old` does not know, NaN for new ones.
    """
    n = len(ids)
    at = scatter(ids, LENGTH * max(1.0, np.sqrt(n)) * 0.6)
    freedom = np.ones(n, dtype=np.float32)
    pinned = np.zeros(n, dtype=bool)
    speed = np.zeros((n, 2), dtype=np.float32)
    degree: NDArray[np.float32] = np.bincount(links.ravel(), minlength=n).astype(np.float32)
    known = np.zeros(n, dtype=bool)
    if old is not None:
        row_of = {id_: row for row, id_ in enumerate(old.ids)}
        rows = np.array([row_of.get(i, -1) for i in ids], dtype=np.intp)
        known = rows >= 0
        at[known] = old.at[rows[known]]
        pinned[known] = old.pinned[rows[known]]
        freedom[known] = np.minimum(old.freedom[rows[known]], SETTLED)
    if start is not None:
        stood = ~known & ~np.isnan(start[:, 0])
        at[stood] = start[stood]
        freedom[stood] = SETTLED
        known |= stood
    if known.any():
        _beside_neighbours(at, known, links)
    w = np.ones(len(links))
    if len(links):
        low = np.minimum(degree[links[:, 0]], degree[links[:, 1]])
        high = np.maximum(degree[links[:, 0]], degree[links[:, 1]])
        # the more unequal its ends, the weaker a link: a hub's many leaves would else pull hubs that share some into one heap
        w = (low / high) ** 0.5 * pull
    mass: NDArray[np.float32] = np.maximum(np.float32(1), np.sqrt(degree)).astype(np.float32)
    large = np.zeros(0, np.intp)
    if room is not None:
        large = np.flatnonzero(room > 1)
        mass = (mass * room).astype(np.float32)
    # what is linked to nothing would drift off and make the rest small
    gravity = np.where(degree > 0, GRAVITY, 8 * GRAVITY).astype(np.float32)
    fresh = n - int(known.sum())
    share = fresh / n if n else 0.0
    heat = 1.0 if not known.any() else (max(0.35, min(1.0, 2 * share)) if fresh else 0.08)
    if share > 0.5:
        freedom[:] = 1.0
    return Forces(list(ids), at, speed, freedom, pinned, links, w.astype(np.float32), mass, gravity, large, heat)


def _beside_neighbours(at: Points, known: NDArray[np.bool_], links: NDArray[np.int32]) -> None:
    """Place new nodes near the mean of their placed neighbours, in up to four rounds (for chains of new nodes)."""
    n = len(at)
    placed = known.copy()
    centre = at[known].mean(axis=0)
    jitter = at / max(1.0, float(np.abs(at).max()) / LENGTH)
    for _ in range(4):
        if placed.all() or not len(links):
            break
        total = np.zeros((n, 2))
        count = np.zeros(n)
        for a, b in ((links[:, 0], links[:, 1]), (links[:, 1], links[:, 0])):
            good = placed[b]
            np.add.at(total, a[good], at[b[good]])
            np.add.at(count, a[good], 1)
        new = ~placed & (count > 0)
        # outward from the middle of the graph: there is room there
        mean = total[new] / count[new, None]
        away = mean - centre
        away /= np.maximum(np.sqrt((away**2).sum(axis=1)), 1e-6)[:, None]
        at[new] = mean + away * LENGTH * 0.8 + jitter[new] * 0.6
        placed |= new


class LayoutThread:
    """Runs one layout in a thread of its own; numpy lets go of the GIL in every large step. All methods return at once."""

    def __init__(self) -> None:
        self._forces: Forces | None = None
        self._waiting: tuple[Any, ...] | None = None
        self._serial = 0
        self._pins: dict[str, tuple[float, float] | None] = {}
        self._heat: tuple[float, bool] | None = None
        self._news: tuple[int, Points, bool] | None = None
        self._wake = threading.Condition()
        self._stopped = False
        self._thread: threading.Thread | None = None

    def show(
        self,
        ids: Sequence[str],
        links: NDArray[np.int32],
        pull: NDArray[np.float32],
        room: NDArray[np.float32] | None = None,
        start: Points | None = None,
        serial: int = 0,
    ) -> None:
        """Lay out this graph from now on, growing from where the nodes stand. See `regrown`. `serial` comes back with the places."""
        with self._wake:
            edges = np.ascontiguousarray(links, dtype=np.int32).reshape(-1, 2)
            self._waiting = (serial, list(ids), edges, np.asarray(pull, dtype=np.float32), room, start)
            self._start()

    def pin(self, id_: str, x: float, y: float) -> None:
        """Hold a node at a place and let its neighbours follow a little."""
        with self._wake:
            self._pins[id_] = (x, y)
            self._heat = (0.12, False)
            self._start()

    def release(self, ids: Iterable[str]) -> None:
        with self._wake:
            self._pins.update(dict.fromkeys(ids))
            self._heat = (0.25, False)
            self._start()

    def arrange(self) -> None:
        """Compute the layout again, except for pinned nodes."""
        with self._wake:
            self._heat = (1.0, True)
            self._start()

    def take(self) -> tuple[int, Points, bool] | None:
        """Return the number given to `show`, places and whether they are final, if there is news since the last call."""
        with self._wake:
            news, self._news = self._news, None
            return news

    def stop(self) -> None:
        with self._wake:
            self._stopped = True
            self._wake.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(2.0)

    def _start(self) -> None:
        if self._thread is None and not self._stopped:
            self._thread = threading.Thread(target=self._run, name="graph layout", daemon=True)
            self._thread.start()
        self._wake.notify_all()

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._stopped and not self._work_waits():
                    self._wake.wait()
                if self._stopped:
                    return
                self._take_orders()
                forces = self._forces
            if forces is None:
                continue
            began = time.perf_counter()
            move = 0.0
            # a few ticks a publication: small graphs would otherwise wake the window 500 times a second
            while time.perf_counter() - began < 0.012 and forces.heat >= COLD:
                move = forces.tick()
            if move < 0.05 and forces.heat < 0.05:
                forces.heat = 0.0
            cold = forces.heat < COLD
            if cold:
                forces.freedom[:] = SETTLED
                forces.heat = 0.0
                forces.speed[:] = 0
            with self._wake:
                self._news = (self._serial, forces.at.copy(), cold)
            time.sleep(0.004)

    def _work_waits(self) -> bool:
        hot = self._forces is not None and self._forces.heat >= COLD
        return hot or self._waiting is not None or bool(self._pins) or self._heat is not None

    def _take_orders(self) -> None:
        """Apply what the view requested since the last tick; the lock is held."""
        if self._waiting is not None:
            self._serial, *graph = self._waiting
            self._forces = regrown(self._forces, *graph)
            self._waiting = None
        forces = self._forces
        if forces is None:
            self._pins.clear()
            self._heat = None
            return
        if self._pins:
            row_of = {id_: row for row, id_ in enumerate(forces.ids)}
            for id_, place in self._pins.items():
                row = row_of.get(id_)
                if row is None:
                    continue
                forces.pinned[row] = place is not None
                if place is not None:
                    forces.at[row] = place
                    beside = np.concatenate([forces.links[forces.links[:, 0] == row, 1], forces.links[forces.links[:, 1] == row, 0]])
                    forces.freedom[beside] = np.maximum(forces.freedom[beside], 0.35)
            self._pins.clear()
        if self._heat is not None:
            heat, free = self._heat
            forces.heat = max(forces.heat, heat)
            if free:
                forces.freedom[:] = 1.0
            self._heat = None
