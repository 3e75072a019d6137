"""Leaves out evidence that must not be stored: where a person was forgotten, of a person who must not be stored, and of bystanders."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from m3desk.calibrated import thresholds
from m3desk.domain.appearance import of_a_person, read_at
from m3desk.domain.clip import Clip
from m3desk.domain.evidence import FaceTrack, ObjectSeen, Perceived, TimedBox
from m3desk.domain.geometry import iou, overlap
from m3desk.domain.identity import match, top_similarity
from m3desk.domain.log import ObservationType
from m3desk.domain.memory import Draft
from m3desk.store import commits, galleries, notes, reading
from m3desk.store.corrections import anchors

DB = sqlite3.Connection


def withhold(db: DB, clip: Clip, perceived: Perceived) -> Perceived:
    """Return a clip's evidence without what tombstones, unwanted templates and bystander mode forbid to store."""
    gone = _buried(db, clip, perceived) | _unwanted(db, perceived) | _bystanders(db, clip, perceived)
    nothing = spans(db, clip)
    hidden = notes.hides_bystanders(db, clip.source)
    if not gone and not nothing and not hidden:
        return perceived

    def free(start: int, end: int) -> bool:
        return not any(a < end and start < b for a, b in nothing)

    def theirs(thing: ObjectSeen) -> bool:
        """Return whether clothes, a gesture or a way may be of somebody whose face is left out or blurred; whose a body is nobody knows."""
        if not of_a_person(thing.label):
            return False
        kept = any(t.id not in gone and read_at((t.start, t.end), thing.label, thing.start, thing.end) for t in perceived.faces)
        left_out = [t for t in perceived.faces if t.id in gone]
        return ((hidden or bool(left_out)) and not kept) or any(t.start <= thing.end and thing.start <= t.end for t in left_out)

    faces = tuple(replace(t, continues=None) if t.continues in gone else t for t in perceived.faces if t.id not in gone)
    said = tuple(u for u in perceived.utterances if u.id not in gone)
    named = {c for t in faces for c in t.crops} | {u.audio for u in said if u.audio}
    mine = {c for t in perceived.faces for c in t.crops} | {u.audio for u in perceived.utterances if u.audio}
    seen = any(t.id in gone for t in perceived.faces) or nothing
    media = {k: v for k, v in perceived.media.items() if k in named or k not in mine}
    if seen and perceived.thumbnail:
        media.pop(perceived.thumbnail, None)
    return replace(
        perceived,
        faces=faces,
        utterances=said,
        objects=tuple(o for o in perceived.objects if free(o.start, o.end) and not theirs(o)),
        texts=tuple(t for t in perceived.texts if free(t.start, t.end)),
        vectors={k: v for k, v in perceived.vectors.items() if k not in gone},
        media=media,
        cannot_link=frozenset((a, b) for a, b in perceived.cannot_link if a not in gone and b not in gone),
        thumbnail=None if seen else perceived.thumbnail,
    )


def spans(db: DB, clip: Clip) -> list[tuple[int, int]]:
    """Return the spans of which nothing may be stored, of those near a clip."""
    return [(t["start"], t["end"]) for t in _tombstones(db, clip) if t["kind"] == "span"]


def allowed(draft: Draft, perceived: Perceived, gone: Sequence[tuple[int, int]] = ()) -> Draft:
    """Return a draft without sentences, votes and names that refer to withheld evidence, or to one of the spans that are `gone`."""
    there = {t.id for t in perceived.faces} | {u.id for u in perceived.utterances}

    def rests(observations: Iterable[str]) -> bool:
        return all(o in there for o in observations)

    return replace(
        draft,
        sentences=tuple(
            s
            for s in draft.sentences
            if rests((*s.citations, *(o for p in s.spans for o in p.observations))) and not any(a < s.end and s.start < b for a, b in gone)
        ),
        votes=tuple(v for v in draft.votes if rests((v.a, v.b))),
        names=tuple(n for n in draft.names if rests((n.observation,))),
    )


def _tombstones(db: DB, clip: Clip) -> list[sqlite3.Row]:
    if db.execute("SELECT 1 FROM tombstone LIMIT 1").fetchone() is None:
        return []
    query = 'SELECT * FROM tombstone WHERE start < ? AND "end" > ?'
    return [
        t for t in db.execute(query, (clip.end + 5_000_000, clip.start)).fetchall()
        if t["source"] == clip.source or clip.source in anchors.places(db, t["sha256"])
    ]  # fmt: skip


def _buried(db: DB, clip: Clip, perceived: Perceived) -> set[str]:
    gone: set[str] = set()
    for t in _tombstones(db, clip):
        if t["kind"] in ("face", "span"):
            gone |= {f.id for f in perceived.faces if f.start < t["end"] and t["start"] < f.end and (t["kind"] == "span" or _there(f, t))}
        if t["kind"] in ("voice", "span"):
            for u in perceived.utterances:
                both = overlap((u.start, u.end), (t["start"], t["end"]))
                if both > 0 and (t["kind"] == "span" or both >= 0.5 * min(u.end - u.start, t["end"] - t["start"])):
                    gone.add(u.id)
    return gone


def _there(track: FaceTrack, tombstone: sqlite3.Row) -> bool:
    """Return whether a track is where a forgotten face was: a third of the boxes shared in one picture."""
    for at, x, y, w, h in json.loads(tombstone["boxes"]):
        near: TimedBox = min(track.boxes, key=lambda b: abs(b.at - at))
        if abs(near.at - at) <= 500_000 and iou((x, y, w, h), near.box) >= 0.33:
            return True
    return False


def _unwanted(db: DB, perceived: Perceived) -> set[str]:
    """Return the observations of clusters that are similar to a person who must never be stored.

    A template belongs to the model that made it: after a switch to another it knows nobody (`reembed` says so).
    """
    gone: set[str] = set()
    for r in db.execute("SELECT * FROM unwanted"):
        if r["model"] != reading.setting(db, f"{r['kind']}_vectors"):
            continue
        template = np.array(json.loads(r["vectors"]), np.float32)
        type_: ObservationType = r["kind"]
        for cluster in commits.candidates(perceived, type_):
            fits = len(cluster.vectors) and cluster.vectors.shape[1] == template.shape[1]
            if fits and top_similarity(cluster.vectors, template) >= thresholds(r["model"], type_).threshold(cluster.duration):
                gone |= set(cluster.observations)
    return gone


def _bystanders(db: DB, clip: Clip, perceived: Perceived) -> set[str]:
    """Return the faces of a source recorded in bystander mode that match nobody with a note on consent: what the blur missed."""
    if not perceived.faces or not notes.hides_bystanders(db, clip.source):
        return set()
    model, approved = reading.setting(db, "face_vectors") or "", notes.consents(db)
    known = [g for g in galleries.shown(db, "face", model) if g.person in approved]
    found = commits.candidates(perceived, "face")
    matched = match(found, known, perceived.cannot_link, thresholds(model, "face"))
    return {o for cluster, its in zip(found, matched, strict=True) if its.node is None for o in cluster.observations}
