"""Groups of memories that nobody appears in: they hang on their clip or topic, which opens on demand. Pure: no Qt, no IO.

Clips of a long source are gathered in tens, hundreds and thousands, so that a memory of any length opens on a few groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from m3desk.domain.ids import clip_id, clip_order, source_id
from m3desk_ui.graph.whole import PERSON, SEMANTIC, SceneNode, Whole
from m3desk_ui.memory.order import number

MOST = 24
"""Groups of clips shown at first, about."""
PEOPLE_MOST = 3
"""People that a group of clips is linked to: those in most of its clips."""
STEPS = (1, 10, 100, 1000, 10_000)


def no_words(kind: str, node: SceneNode, first: int, last: int) -> str:
    """Return the label of a group where nobody reads it: `kind`, and its clips' indexes."""
    return f"{kind} {node.topic or ''} {first}–{last}"


Words = Callable[[str, SceneNode, int, int], str]
"""What labels a group: its kind ("clip", "clips", "topic"), its node without a label, and the indexes of its first and last clip."""


@dataclass(slots=True)
class Groups:
    """`nodes` of the groups; `of` (n,): the group of each row of the graph, −1 for none; links between groups and to rows of people."""

    nodes: list[SceneNode]
    of: NDArray[np.int32]
    opened: list[bool] = field(default_factory=list)
    spine: list[tuple[int, int]] = field(default_factory=list)
    people: list[tuple[int, int, float]] = field(default_factory=list)


def grouped(graph: Whole, orphans: NDArray[np.bool_], unfolded: Collection[str], words: Words, *, flat: bool) -> Groups:
    """Return the groups of `orphans` (n,), marked rows of sentences. `flat`: every clip and topic by itself, all open."""
    found = Groups([], np.full(len(orphans), -1, np.int32))
    rows = np.flatnonzero(orphans)
    seen = _people_in(graph) if len(rows) else {}
    by_topic = rows[(graph.topics[rows] >= 0) & (graph.kinds[rows] == SEMANTIC)]
    codes = np.unique(graph.topics[by_topic]).tolist()
    topics = {graph.names[code]: by_topic[graph.topics[by_topic] == code] for code in codes}
    for name, members in sorted(topics.items()):
        node = SceneNode(f"topic:{name}", "topic", "", "", float(len(members)), topic=name)
        here = _add(found, node, members, flat or node.id in unfolded, words, (0, 0))
        _link_people(found, graph, here, seen, (c for c in graph.clips[members].tolist() if c >= 0))
    rest = rows[(graph.clips[rows] >= 0) & (found.of[rows] < 0)]
    if not len(rest):
        return found
    order = np.argsort(graph.clips[rest], kind="stable")
    codes, first = np.unique(graph.clips[rest[order]], return_index=True)
    clips = {_order(graph.names[code]): part for code, part in zip(codes.tolist(), np.split(rest[order], first[1:]), strict=True)}
    _add_clips(found, graph, clips, seen, unfolded, words, flat=flat)
    return found


def _add_clips(
    found: Groups,
    graph: Whole,
    clips: dict[tuple[int, int], NDArray[np.intp]],
    seen: dict[int, list[int]],
    unfolded: Collection[str],
    words: Words,
    *,
    flat: bool,
) -> None:
    def size_for(step: int) -> int:
        return len({(source, index // step) for source, index in clips})

    step = 1 if flat else next((s for s in STEPS if size_for(s) <= MOST), STEPS[-1])
    last_of: dict[tuple[int, int], int] = {}

    def place(keys: list[tuple[int, int]], step: int, parent: int) -> None:
        """Add the groups of these clips in steps of so many, and of open ones what they hold."""
        parts: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for source, index in sorted(keys):
            parts.setdefault((source, index // step), []).append((source, index))
        for (source, part), inside in parts.items():
            members = np.concatenate([clips[key] for key in inside])
            name = source_id(source)
            id_ = f"clip:{clip_id(name, part)}" if step == 1 else f"clips:{name}:{step}:{part}"
            times = graph.times[members]
            times = times[times[:, 0] >= 0]
            start, end = (int(times[:, 0].min()), int(times[:, 1].max())) if len(times) else (None, None)
            clip = graph.node(int(members[0])).clip if step == 1 else None
            node = SceneNode(id_, "clip", "", "", float(len(members)), name, start, end, clip=clip)
            opened = flat or id_ in unfolded
            here = _add(found, node, members, opened, words, (inside[0][1], inside[-1][1]))
            if parent >= 0:
                found.spine.append((parent, here))
            if (source, step) in last_of:
                found.spine.append((last_of[source, step], here))
            last_of[source, step] = here
            _link_people(found, graph, here, seen, (graph.code(clip_id(name, index)) for _, index in inside))
            for _, index in inside:
                where[graph.code(clip_id(name, index))] = here
            if opened and step > 1:
                place(inside, step // 10, here)

    where: dict[int, int] = {}
    place(list(clips), step, -1)
    _link_the_rest(found, graph, where)


def _add(found: Groups, node: SceneNode, members: NDArray[np.intp], opened: bool, words: Words, clips: tuple[int, int]) -> int:
    here = len(found.nodes)
    kind = "clips" if node.id.startswith("clips:") else node.kind
    label = words(kind, node, *clips)
    found.nodes.append(
        SceneNode(node.id, node.kind, label, label, node.weight, node.source, node.start, node.end, clip=node.clip, topic=node.topic)
    )
    found.opened.append(opened)
    found.of[members] = here
    return here


def _link_people(found: Groups, graph: Whole, group: int, seen: dict[int, list[int]], clips: Iterable[int]) -> None:
    """Link a group to the people who are in most of these clips (codes)."""
    known: Counter[int] = Counter()
    for clip in clips:
        known.update(seen.get(clip, ()))
    most = sorted(known.items(), key=lambda x: (-x[1], number(graph.node(x[0]).id)))[:PEOPLE_MOST]
    found.people += [(group, row, float(count)) for row, count in most]


def _link_the_rest(found: Groups, graph: Whole, where: dict[int, int]) -> None:
    """Link people who are in no link so far to the group that most of their clips are in (`where`: clip code → group)."""
    linked = {row for _, row, _ in found.people}
    for row in np.flatnonzero(graph.kinds == PERSON).tolist():
        if row not in linked:
            known = Counter(where[code] for clip in graph.seen_in(graph.node(row).id) if (code := graph.code(clip)) in where)
            if known:
                group, count = min(known.items(), key=lambda x: (-x[1], found.nodes[x[0]].id))
                found.people.append((group, row, float(count)))


def _people_in(graph: Whole) -> dict[int, list[int]]:
    """Return the rows of the people in each clip, by its code."""
    seen: dict[int, list[int]] = {}
    for row in np.flatnonzero(graph.kinds == PERSON).tolist():
        for clip in graph.seen_in(graph.node(row).id):
            seen.setdefault(graph.code(clip), []).append(row)
    return seen


def _order(clip: str) -> tuple[int, int]:
    """Return what sorts clips; ids of another tool come first."""
    try:
        return clip_order(clip)
    except ValueError:
        return 0, number(clip)
