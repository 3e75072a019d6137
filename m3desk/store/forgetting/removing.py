"""Removes a forgotten person: deletes everything derived from them, and keeps only the times and places where nothing may be stored again.

With `spans`, `scrubbing` and the removal of a whole source (`store.sources`) the only code that deletes and changes rows of the log.
Names that others say or that are visible in pictures are masked, steps of the journal about the person are emptied and can't be undone,
and `withhold` keeps a second memorizing from storing them again.
Follows memory.md, "Forget a person".
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from m3desk.calibrated import thresholds
from m3desk.domain.appearance import of_a_person, read_at
from m3desk.domain.correction import Effect
from m3desk.domain.evidence import media_id
from m3desk.domain.fold import born_in, cannot_link_pairs
from m3desk.domain.identity import gallery_rows, top_similarity
from m3desk.domain.ids import source_of
from m3desk.domain.log import Log, ObservationType
from m3desk.domain.people import Person
from m3desk.domain.plural import many
from m3desk.domain.sentences import State
from m3desk.store import bookmarks, commits, notes, rows, versions
from m3desk.store.forgetting.pending import How
from m3desk.store.forgetting.scrubbing import Traces, blot, chats, scrub, touches
from m3desk.store.forgetting.tracing import clips_in_view, known

DB = sqlite3.Connection
TEMPLATE = 8
"""Embeddings of a face or a voice that are kept for `never`: enough to recognise the person, and no more."""

MARGIN = 0.5
"""A crop shows this much of its face's size on every side (perception.sightings), and so perhaps a neighbour."""

NEAR = 300_000
"""Microseconds within which two pictures count as one moment."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was removed, in numbers; `sources`: uris of files that still show or let hear the person; `known`: for the proof."""

    effect: Effect
    counts: Mapping[str, int]
    sources: tuple[str, ...]
    known: Traces


Tighten = Callable[[bytes, tuple[tuple[float, float], ...]], tuple[bytes, tuple[tuple[float, float], ...]]]
"""Cuts the margin off a crop (JPEG, its five landmarks), so that it shows one face only."""


def preview(db: DB, state: State, log: Log, person: Person, how: How) -> Forgotten:
    """Return what forgetting would remove; change nothing."""
    found = known(db, state, log, person, spans=how == "spans")
    taught = {r[0] for r in db.execute("SELECT id FROM source WHERE state = 'enrolled'")}
    places = sorted({s for s, _, _ in found.intervals} - taught)
    uris = tuple(r[0] for s in places for r in db.execute("SELECT uri FROM source WHERE id = ?", (s,)))
    steps = sum(touches(json.loads(r["args"]), json.loads(r["anchor"]), r["text"], found) for r in db.execute("SELECT * FROM journal"))
    counts = {
        "observations": len(found.observations), "memories": len(found.told), "pictures_and_sounds": len(found.media),
        "names": len(found.names), "steps": steps,
    }  # fmt: skip
    text = (
        f"forgets {person.shown} for good: {many(counts['observations'], 'observation')}, {many(counts['memories'], 'memory')}, "
        f"{many(counts['pictures_and_sounds'], 'picture or sound', 'pictures and sounds')}, {many(steps, 'journal step')} scrubbed"
    )
    if how == "spans":
        text += "; nothing is stored any more where they were, whoever else is there"
    if how == "never":
        text += "; keeps one template of their face and voice, to leave them out from now on"
    return Forgotten(Effect(text, (person.id,), tuple(sorted(found.observations)), tuple(sorted(found.told))), counts, uris, found)


# ---------------------------------------------------------------- removing


def forget(
    db: DB, state: State, log: Log, person: Person, how: How, at: str, media: Callable[[str], bytes | None], tighten: Tighten
) -> tuple[Forgotten, dict[str, bytes]]:
    """Remove a person; return what that was and pictures to keep in place of wider ones (media id → bytes).

    Runs in a transaction; the caller drops the kept fold, sweeps media, rebuilds the index and cleans the file afterwards.
    """
    plan = preview(db, state, log, person, how)
    found = plan.known
    sequence = commits.begin(db, "forget", at)
    for node, born in born_in(log, state.who.nodes).items():
        if node not in found.nodes:  # the correction that took it out of one of theirs may be emptied
            db.execute(
                "UPDATE node SET person = ? WHERE id = ? AND person IN (SELECT value FROM json_each(?))",
                (born, node, rows.dump(sorted(found.ids))),
            )
    _bury(db, log, found, how, sequence)
    narrowed = _narrow(db, found, media, tighten)
    _pictures_of_clips(db, found)
    gone_chats = chats(db, found)
    blotted = blot(db, found)
    _part(db, state, log, found, sequence, at)
    delete(db, found)
    notes.remove_of(db, found)
    scrub(db, found)
    for span in found.intervals if how == "spans" else ():
        bookmarks.forget_span(db, *span)
    _journal(db, plan.effect, how, sequence, at)
    counts = {**plan.counts, "chats": gone_chats, "blotted": blotted, "narrowed": len(narrowed)}
    return replace(plan, counts=counts, effect=replace(plan.effect, people=(), observations=(), memories=())), narrowed


def _bury(db: DB, log: Log, found: Traces, how: How, sequence: int) -> None:
    """Write tombstones: intervals and boxes, nothing that identifies the person; for `never` also a few embeddings of face and voice."""
    hashes = dict(db.execute("SELECT id, sha256 FROM source").fetchall())
    enrolled = {r[0] for r in db.execute("SELECT id FROM source WHERE state = 'enrolled'")}
    taught = {o for o in found.observations if source_of(o) in enrolled}
    if how == "spans":
        for source, start, end in found.intervals:
            rows.insert(
                db, "tombstone", sequence=sequence, source=source, sha256=hashes.get(source), kind="span", start=start, end=end, boxes="[]"
            )
    for o in sorted(found.observations):
        seen, source = log.observations[o], source_of(o)
        if o in taught or (o in found.mixed and how != "spans"):  # of no video; or others speak there too, and theirs has its own row
            continue
        boxes: list[Any] = []
        for r in db.execute("SELECT boxes FROM face_track WHERE id = ?", (o,)):
            all_ = json.loads(r[0])
            boxes = [all_[i] for i in sorted({0, len(all_) // 2, len(all_) - 1})] if all_ else []
        rows.insert(
            db, "tombstone", sequence=sequence, source=source, sha256=hashes.get(source), kind=seen.type, start=seen.start, end=seen.end,
            boxes=rows.dump(boxes),
        )  # fmt: skip
    if how == "never":
        for (kind, model), vectors in sorted(found.vectors.items()):
            best = vectors[gallery_rows(vectors, np.ones(len(vectors), np.float32), TEMPLATE)]
            kept = [[round(float(x), 5) for x in row] for row in best]
            rows.insert(db, "unwanted", sequence=sequence, kind=kind, model=model, vectors=rows.dump(kept))


def _narrow(db: DB, found: Traces, media: Callable[[str], bytes | None], tighten: Tighten) -> dict[str, bytes]:
    """Cut the margin off other people's crops that may show the person beside them."""
    theirs: Looks = defaultdict(list)
    for o in found.observations:
        for r in db.execute("SELECT source, boxes FROM face_track WHERE id = ?", (o,)):
            for box in json.loads(r["boxes"]):
                theirs[r["source"], int(box[0]) // NEAR].append(box)
    made: dict[str, bytes] = {}
    for r in db.execute("SELECT * FROM face_track ORDER BY rowid").fetchall():
        if r["id"] in found.observations or not _beside(r["source"], json.loads(r["boxes"]), theirs):
            continue
        crops: list[str] = []
        marks: list[Any] = []
        landmarks = json.loads(r["landmarks"])
        for i, crop in enumerate(json.loads(r["crops"])):
            content = media(crop)
            if content is None:
                continue
            five = tuple((p[0], p[1]) for p in landmarks[i]) if i < len(landmarks) else ()
            narrow, moved = tighten(content, five)
            id_ = media_id(narrow, ".jpg")
            made[id_] = narrow
            crops.append(id_)
            marks.append(moved)
            found.media.add(crop)
        db.execute("UPDATE face_track SET crops = ?, landmarks = ? WHERE id = ?", (rows.dump(crops), rows.dump(marks), r["id"]))
    return made


Looks = dict[tuple[str, int], list[list[float]]]
"""(source, time in steps of NEAR) → boxes then."""


def _beside(source: str, boxes: Iterable[list[float]], theirs: Looks) -> bool:
    """Return whether a face's crop may show another: their boxes, widened by the margin, meet within NEAR."""
    for at, x, y, w, h in boxes:
        place = int(at) // NEAR
        for at2, x2, y2, w2, h2 in (box for i in (place - 1, place, place + 1) for box in theirs.get((source, i), ())):
            apart = x - MARGIN * w > x2 + w2 or x2 > x + w + MARGIN * w or y - MARGIN * h > y2 + h2 or y2 > y + h + MARGIN * h
            if abs(at - at2) <= NEAR and not apart:
                return True
    return False


def _pictures_of_clips(db: DB, found: Traces) -> None:
    """Remove the picture of each clip in which they are seen: it may show them."""
    clips = {r[0] for o in found.observations for r in db.execute("SELECT clip FROM face_track WHERE id = ?", (o,))}
    for clip in sorted(clips):
        found.media |= {r[0] for r in db.execute("SELECT thumbnail FROM clip WHERE id = ? AND thumbnail IS NOT NULL", (clip,))}
        db.execute("UPDATE clip SET thumbnail = NULL WHERE id = ?", (clip,))


def delete(db: DB, found: Traces) -> None:
    """Delete every row that depends on them, and every draft."""
    db.execute("PRAGMA secure_delete = ON")
    versions.drop_all(db)
    db.execute("PRAGMA defer_foreign_keys = ON")
    gone = [(o,) for o in sorted(found.observations)]
    _appearance(db, found)
    nodes = [(n,) for n in sorted(found.nodes)]
    told = [(n,) for n in sorted(found.told)]
    for table, column in (("binding", "observation"), ("heard_name", "observation"), ("heard_name", "evidence"), ("embedding", "owner")):
        db.executemany(f"DELETE FROM {table} WHERE {column} = ?", gone)
    for table in ("vote", "apart"):
        db.executemany(f"DELETE FROM {table} WHERE a = ?1 OR b = ?1", gone)
    db.executemany("DELETE FROM citation WHERE observation = ?", gone)
    for table in ("span", "citation", "mention", "reinforcement"):
        db.executemany(f"DELETE FROM {table} WHERE node = ?", told)
    db.executemany("DELETE FROM link WHERE a = ?1 OR b = ?1", told)
    db.executemany("DELETE FROM embedding WHERE owner = ?1 OR owner GLOB ?1 || '@*'", told)
    db.executemany("DELETE FROM node WHERE id = ?", told)
    db.executemany("DELETE FROM binding WHERE node = ?", nodes)
    db.executemany(
        "UPDATE binding SET runner_up = NULL, margin = NULL WHERE runner_up = ?", [*nodes, *((p,) for p in sorted(found.persons))]
    )
    db.executemany("DELETE FROM node WHERE id = ?", nodes)
    for table in ("face_track", "utterance"):
        db.executemany(f"DELETE FROM {table} WHERE id = ?", gone)
    db.executemany("UPDATE face_track SET continues = NULL WHERE continues = ?", gone)
    taught = (
        "SELECT id FROM source WHERE state = 'enrolled' AND id NOT IN (SELECT source FROM face_track UNION SELECT source FROM utterance)"
    )
    db.execute(f"DELETE FROM clip WHERE source IN ({taught})")  # a photo's or a recording's path may hold their name
    db.execute(f"DELETE FROM source WHERE id IN ({taught})")
    db.execute("DELETE FROM renamed WHERE old IN (SELECT value FROM json_each(?1)) OR new IN (SELECT value FROM json_each(?1))",
               (rows.dump(sorted(found.ids)),))  # fmt: skip
    for r in db.execute("SELECT id, citations FROM reinforcement").fetchall():
        cited = json.loads(r["citations"])
        if set(cited) & found.observations:
            db.execute(
                "UPDATE reinforcement SET citations = ? WHERE id = ?", (rows.dump([c for c in cited if c not in found.ids]), r["id"])
            )
    for r in db.execute("SELECT node, start, observations FROM span").fetchall():
        rests = json.loads(r["observations"])
        if set(rests) & found.observations:
            db.execute("DELETE FROM span WHERE node = ? AND start = ?", (r["node"], r["start"]))
    for t in db.execute("SELECT source, start, \"end\" FROM tombstone WHERE kind = 'span'").fetchall():
        for table in ("object_seen", "text_on_screen"):
            db.execute(f'DELETE FROM {table} WHERE source = ? AND start < ? AND "end" > ?', (t["source"], t["end"], t["start"]))


def _appearance(db: DB, found: Traces) -> None:
    """Delete the clothes and gestures seen while they were in view, and of bodies in those clips: whose they are is not stored."""
    for o in sorted(found.observations):
        for t in db.execute('SELECT clip, start, "end" FROM face_track WHERE id = ?', (o,)).fetchall():
            seen = db.execute(
                'SELECT rowid AS place, label FROM object_seen WHERE clip = ? AND start <= ? AND "end" >= ?',
                (t["clip"], t["end"], t["start"]),
            ).fetchall()
            db.executemany("DELETE FROM object_seen WHERE rowid = ?", [(r["place"],) for r in seen if of_a_person(r["label"])])
    for clip in clips_in_view(db, found):  # bodies, also while their face was not seen
        faces = db.execute('SELECT id, start, "end" FROM face_track WHERE clip = ?', (clip,)).fetchall()
        others = [(f["start"], f["end"]) for f in faces if f["id"] not in found.observations]
        for r in db.execute('SELECT rowid AS place, label, start, "end" FROM object_seen WHERE clip = ?', (clip,)).fetchall():
            if of_a_person(r["label"]) and not any(read_at(face, r["label"], r["start"], r["end"]) for face in others):
                db.execute("DELETE FROM object_seen WHERE rowid = ?", (r["place"],))


def _part(db: DB, state: State, log: Log, found: Traces, sequence: int, at: str) -> None:
    """Make other persons' parts of deleted observations independent: as they are now, without crops, sound and vectors of the whole."""
    for old, parts in found.mixed.items():
        for part in sorted(parts):
            mine = [b for b in state.who.bindings.get(part, ()) if b.superseded is None]
            by = mine[-1].by if mine else "user"
            for r in db.execute("SELECT id, a, b FROM vote WHERE a = ?1 OR b = ?1", (old,)).fetchall():
                column, other = ("a", r["b"]) if r["a"] == old else ("b", r["a"])
                if state.who.evidence.follow_beside(old, other) == part:
                    db.execute(f"UPDATE vote SET {column} = ? WHERE id = ?", (part, r["id"]))
            for a, b in cannot_link_pairs(log, state.who.evidence):
                if part in (a, b):
                    db.execute("INSERT OR IGNORE INTO apart VALUES (?, ?, ?)", (*sorted((a, b)), sequence))
            rows.insert(db, "binding", sequence=sequence, observation=part, node=state.who.held[part].node, by=by, at=at)
            for table in ("face_track", "utterance"):
                db.execute(f"UPDATE {table} SET replaces = NULL WHERE id = ?", (part,))
            for r in db.execute("SELECT crops, landmarks FROM face_track WHERE id = ?", (part,)).fetchall():
                marks = json.loads(r["landmarks"])
                kept = [i for i, crop in enumerate(json.loads(r["crops"])) if crop not in found.media]
                crops = [json.loads(r["crops"])[i] for i in kept]
                left = [marks[i] for i in kept if i < len(marks)]
                db.execute("UPDATE face_track SET crops = ?, landmarks = ? WHERE id = ?", (rows.dump(crops), rows.dump(left), part))
            for r in db.execute("SELECT audio FROM utterance WHERE id = ?", (part,)).fetchall():
                if r["audio"] in found.media:
                    db.execute("UPDATE utterance SET audio = NULL WHERE id = ?", (part,))
            db.execute(
                "DELETE FROM embedding WHERE owner = ?1 AND vectors IN (SELECT e.vectors FROM embedding e WHERE e.owner = ?2)", (part, old)
            )


def _journal(db: DB, effect: Effect, how: How, sequence: int, at: str) -> None:
    step = int(db.execute("SELECT coalesce(max(step), 0) + 1 FROM journal").fetchone()[0])
    rows.insert(
        db, "journal", step=step, sequence=sequence, kind="forget", args=rows.dump({"how": how, "scrubbed": True}), anchor="{}", at=at,
        by="user", why=None,
        text=f"forgets somebody for good ({many(len(effect.observations), 'observation')}, {many(len(effect.memories), 'memory')})",
    )  # fmt: skip


def still_similar(db: DB, found: Traces) -> list[tuple[str, float]]:
    """Return (observation, similarity) of stored faces and voices that are similar enough to be the forgotten person."""
    similar: dict[str, float] = {}
    for (kind, model), template in found.vectors.items():
        type_: ObservationType = "face" if kind == "face" else "voice"
        best = template[gallery_rows(template, np.ones(len(template), np.float32))]
        rule = thresholds(model, type_)
        for r in db.execute("SELECT * FROM embedding WHERE kind = ? AND model = ?", (kind, model)):
            score = top_similarity(rows.vectors(r), best)
            if score >= rule.threshold(rule.long or 10**9):
                similar[r["owner"]] = max(similar.get(r["owner"], -1.0), score)
    return sorted(similar.items(), key=lambda a: (-a[1], a[0]))


def whose(db: DB) -> dict[str, tuple[str, str | None]]:
    """Return media id → (the observation it belongs to, whose that is now)."""
    owners = dict(db.execute("SELECT observation, person FROM now_observation").fetchall())
    found = {
        crop: (r["id"], owners.get(r["id"])) for r in db.execute("SELECT id, crops FROM face_track") for crop in json.loads(r["crops"])
    }
    return found | {
        r["audio"]: (r["id"], owners.get(r["id"])) for r in db.execute("SELECT id, audio FROM utterance WHERE audio IS NOT NULL")
    }


__all__ = ["Forgotten", "How", "Traces", "delete", "forget", "preview", "still_similar", "whose"]
