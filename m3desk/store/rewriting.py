"""What another writer needs to write a stored clip again: the evidence that is in force, with its stored pictures."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace

from m3desk.domain.clip import Clip
from m3desk.domain.ids import clip_before
from m3desk.domain.log import ObservationType
from m3desk.domain.memory import StoredSentence
from m3desk.errors import UsageError
from m3desk.ports import Cluster, Prepared
from m3desk.store import commits, reading

DB = sqlite3.Connection


def prepared(db: DB, clip: Clip, recent: Sequence[StoredSentence], media: Callable[[str], bytes | None]) -> Prepared:
    """Return a clip's evidence without what a user set aside, its crops, and its clusters as perceived. Raises UsageError."""
    perceived = reading.perceived(db, clip.id)
    if perceived is None:
        raise UsageError(f"{clip.id} is not memorized yet.", "Memorize it first: m3desk memorize.")
    aside = {r[0] for r in db.execute("SELECT observation FROM now_observation WHERE set_aside = 1")}
    faces = tuple(t for t in perceived.faces if t.id not in aside)
    said = tuple(u for u in perceived.utterances if u.id not in aside)
    found = {c: data for t in faces for c in t.crops if (data := media(c)) is not None}
    kept = replace(perceived, faces=faces, utterances=said, media=found)
    types: tuple[ObservationType, ...] = ("face", "voice")
    clusters = tuple(
        Cluster(f"<{type_}_{n}>", group.observations) for type_ in types for n, group in enumerate(commits.candidates(kept, type_), 1)
    )
    before = clip_before(clip.id)
    return Prepared(kept, clusters, tuple(recent), reading.perceived(db, before) if before else None)
