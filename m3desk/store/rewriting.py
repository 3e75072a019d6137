"""What another writer needs to write a stored clip again: the evidence that is in force, with its stored pictures."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from m3desk.domain.clip import Clip
from m3desk.domain.ids import clip_before
from m3desk.domain.log import ObservationType
from m3desk.domain.memory import StoredSentence
from m3desk.domain.misplaced import regrouped
from m3desk.errors import UsageError
from m3desk.ports import Cluster, Prepared
from m3desk.store import commits, reading

DB = sqlite3.Connection


def prepared(db: DB, clip: Clip, recent: Sequence[StoredSentence], media: Callable[[str], bytes | None]) -> Prepared:
    """Return a clip's evidence without what a user set aside, its crops, and its clusters as the memory has them now.

    Raises UsageError.
    """
    perceived = reading.perceived(db, clip.id)
    if perceived is None:
        raise UsageError(f"{clip.id} is not memorized yet.", "Memorize it first: m3desk memorize.")
    query = "SELECT observation, node, set_aside, step FROM now_observation WHERE observation > ? AND observation < ?"
    held = db.execute(query, (f"{clip.id}.", f"{clip.id}/")).fetchall()
    aside = {r["observation"] for r in held if r["set_aside"]}
    # "": a user took it from somebody
    node_of = {r["observation"]: "" if r["node"] is None and r["step"] is not None else r["node"] for r in held}
    faces = tuple(t for t in perceived.faces if t.id not in aside)
    said = tuple(u for u in perceived.utterances if u.id not in aside)
    found = {c: data for t in faces for c in t.crops if (data := media(c)) is not None}
    kept = replace(perceived, faces=faces, utterances=said, media=found)
    types: tuple[ObservationType, ...] = ("face", "voice")
    parts = {type_: [p for c in commits.candidates(kept, type_) for p in _by_node(c.observations, node_of)] for type_ in types}
    clusters = tuple(Cluster(f"<{type_}_{n}>", part) for type_ in types for n, part in enumerate(parts[type_], 1))
    before = clip_before(clip.id)
    grouped = regrouped(kept, [c.observations for c in clusters])
    return Prepared(kept, grouped, clusters, tuple(recent), reading.perceived(db, before) if before else None)


def _by_node(observations: Sequence[str], node_of: Mapping[str, str | None]) -> list[tuple[str, ...]]:
    """Return a cluster as perceived in parts, one a node: the memory, or a user, knew better. What is nobody's stays with the first."""
    parts: dict[str, list[str]] = {node: [] for o in observations if (node := node_of.get(o)) is not None}
    first = next(iter(parts), "")
    for o in observations:
        node = node_of.get(o)
        parts.setdefault(first if node is None else node, []).append(o)
    return [tuple(part) for part in parts.values()]
