"""Corrections of the evidence itself: each writes new observations that replace an old one, which stays in the log.

    split-at  observation, at (microseconds)             = observations [old], made [2 ids], reworded [old] where a quote is affected
    bounds    observation, start, end                    = observations [old], made [id]
    words     observation, text                          = observations [old], made [id], reworded [old]; where the words are as they were
                                                           (they are right) plain [memories that quote nothing unclear any more]
    add-face  clip, at, x, y, width, height (or box)     = made [id], cannot-links with who is in view beside it
    rewrite   memory (that quotes what is no longer said) = an edit
    enroll    name                                       = person, bindings, nodes, made, files

Embeddings come from models, which the store doesn't know: `Context.sample` and `Context.lessons` carry them. Without a sample the new
observations keep the embeddings of the old one, until `complete` is called with better ones.
"""

from __future__ import annotations

import math
import shlex
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from m3desk.calibrated import thresholds
from m3desk.domain import editing
from m3desk.domain.clear_speech import is_unclear, unmarked
from m3desk.domain.clip import MICROSECOND, clock
from m3desk.domain.editing import Sample
from m3desk.domain.evidence import FaceTrack, Observation, TimedBox, Utterance
from m3desk.domain.geometry import iou
from m3desk.domain.identity import Candidate, match
from m3desk.domain.ids import face_id, made_id
from m3desk.domain.sentences import State, moved
from m3desk.errors import CorrectionError
from m3desk.store import reading, rows
from m3desk.store.corrections.resolving import Args, Context
from m3desk.store.galleries import galleries as galleries_of

DB = sqlite3.Connection

LOOK = MICROSECOND // 5
"""Duration of a face that a user marked in one picture: one picture at five a second."""

SAME_FACE = 0.3
"""Intersection over union from which a box is a face that is known already (as in `samples.teaching`)."""


def observation(db: DB, id_: str) -> Observation | None:
    """Return an observation as it was written, None where there is none."""
    for r in db.execute("SELECT * FROM face_track WHERE id = ?", (id_,)):
        return rows.face_track(r)
    for r in db.execute("SELECT * FROM utterance WHERE id = ?", (id_,)):
        return rows.utterance(r)
    return None


def whole(value: Any, what: str) -> int:
    """Return a number of microseconds. Raises CorrectionError."""
    return round(number(value, what))


def number(value: Any, what: str) -> float:
    """Return a finite number. Raises CorrectionError."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or abs(value) > 2**53:
        raise CorrectionError(f"{what} is missing or no number.", "Times are microseconds of the source, boxes pixels of the frame.")
    return value


# ---------------------------------------------------------------- splitting, new bounds, new words


def _one(context: Context, args: Args) -> Observation:
    ids = context.observations(args)
    found = observation(context.db, ids[0])
    if len(ids) > 1 or found is None:
        raise CorrectionError("this works on one observation at a time.", "Give one id, such as s1.c0.u1.")
    if ids[0] in context.state.who.evidence.enrolled:
        raise CorrectionError(f"{ids[0]} is what somebody was taught from.", "Take the enrolment back and enroll from another file.")
    return found


def _speech(context: Context, args: Args) -> Utterance:
    found = _one(context, args)
    if not isinstance(found, Utterance):
        raise CorrectionError(f"{found.id} is a face track: only speech has bounds and words to change.", "Give speech, such as s1.c0.u1.")
    return found


def _split_at(context: Context, args: Args) -> Args:
    old = _one(context, args)
    at = whole(args.get("at"), "the time to split at")
    made = put(context.db, old, editing.split(old, at), context.step, context.sequence)
    kept: Args = {"observations": [old.id], "at": at, "made": made}
    return kept | ({"reworded": [old.id]} if isinstance(old, Utterance) else {})


def _bounds(context: Context, args: Args) -> Args:
    old = _speech(context, args)
    start, end = whole(args.get("start"), "the start"), whole(args.get("end"), "the end")
    made = put(context.db, old, [_bounded(context.db, old, start, end)], context.step, context.sequence)
    return {"observations": [old.id], "start": start, "end": end, "made": made}


def _bounded(db: DB, old: Utterance, start: int, end: int) -> Utterance:
    clip = reading.clip(db, old.clip)
    latest = reading.source(db, clip.source).duration
    return editing.bounded(old, start, end, earliest=clip.start, before=clip.end, latest=latest)


def _words(context: Context, args: Args) -> Args:
    old = _speech(context, args)
    if not isinstance(args.get("text"), str):
        raise CorrectionError("the words are missing.", "For example: m3desk observations words s1.c0.u1 'What was said.'")
    new = editing.reworded(old, args["text"])
    made = put(context.db, old, [new], context.step, context.sequence)
    kept: Args = {"observations": [old.id], "text": new.text, "made": made}
    return kept | ({"reworded": [old.id]} if new.text != old.text else {"plain": _plain_with(context, old)})


def _plain_with(context: Context, confirmed: Utterance) -> list[str]:
    """Return the sentences that say that their quote was not heard clearly, and quote nothing unclear but one utterance."""
    ids = [r[0] for r in context.db.execute("SELECT id FROM node WHERE clip = ? ORDER BY number", (confirmed.clip,))]
    told = [n for id_ in ids if (n := context.state.nodes.get(id_)) is not None and confirmed.id in n.citations and unmarked(n.text)[2]]
    return [n.id for n in told if {now.id for _, now in _quoted(context, n.id) if is_unclear(now)} == {confirmed.id}]


def put(db: DB, old: Observation, parts: Sequence[Observation], step: int, sequence: int, *, same_vectors: bool = True) -> list[str]:
    """Write the observations that replace an old one, with its vectors if `same_vectors` (the same face or voice); return the new ids."""
    made = []
    for place, part in enumerate(parts):
        id_ = made_id(old.id, step, place)
        _insert(db, replace(part, id=id_), sequence)
        made.append(id_)
        if not same_vectors or (isinstance(part, Utterance) and not part.embeddable):
            continue
        db.execute("INSERT INTO embedding SELECT ?, kind, model, n, d, vectors, ? FROM embedding WHERE owner = ?", (id_, sequence, old.id))
    return made


def _insert(db: DB, made: Observation, sequence: int) -> None:
    if isinstance(made, FaceTrack):
        rows.insert_face(db, made, sequence)
    else:
        rows.insert_utterance(db, made, sequence)


# ---------------------------------------------------------------- a face that was missed


def _add_face(context: Context, args: Args) -> Args:
    clip = reading.clip(context.db, str(args.get("clip")))
    if clip.state not in ("episodic", "done"):
        raise CorrectionError(f"{clip.id} is not memorized.", "Choose a clip that is: m3desk sources list.")
    at = whole(args.get("at"), "the time")
    if not clip.start <= at < clip.end:
        raise CorrectionError(f"{clip.id} goes from {clock(clip.start)} to {clock(clip.end)}; {clock(at)} is not in it.")
    box = _box(context, clip.source, args)
    for o in there(context.db, context.state, clip.id, at):
        if iou(box, nearest(o, at).box) >= SAME_FACE:
            raise CorrectionError(f"there is a face already: {o.id}.", f"Say whose it is: m3desk people assign {shlex.quote(o.id)} PERSON.")
    id_ = add_face(context.db, context.state, clip.id, at, box, context.step, context.sequence)
    kept: Args = {"clip": clip.id, "at": at, "box": list(box), "made": [id_]}
    if context.sample is not None:
        complete(context.db, context.state, id_, context.sample, context.sequence, context.at)
    return kept


def _box(context: Context, source: str, args: Args) -> tuple[float, float, float, float]:
    given = args.get("box") or [args.get(k) for k in ("x", "y", "width", "height")]
    if not isinstance(given, (list, tuple)) or len(given) != 4:
        raise CorrectionError("a box is four numbers: x, y, width and height.", "In pixels of the frame as displayed.")
    x, y, width, height = (round(float(number(v, "the box")), 1) for v in given)
    frame = reading.source(context.db, source)
    if frame.width is None or frame.height is None:
        raise CorrectionError(f"{source} has no picture.")
    if width < 1 or height < 1 or x < 0 or y < 0 or x + width > frame.width or y + height > frame.height:
        raise CorrectionError(f"the box is not within the picture of {frame.width} × {frame.height} pixels.")
    return x, y, width, height


def there(db: DB, state: State, clip: str, at: int) -> list[FaceTrack]:
    """Return the face tracks in force that are seen at a time of a clip."""
    query = 'SELECT * FROM face_track WHERE clip = ? AND start <= ? AND "end" >= ? ORDER BY rowid'
    found = (rows.face_track(r) for r in db.execute(query, (clip, at + LOOK, at - LOOK)))
    return [t for t in found if state.who.evidence.counts(t.id) and abs(nearest(t, at).at - at) <= 2 * LOOK]


def nearest(track: FaceTrack, at: int) -> TimedBox:
    """Return the box of a track that is nearest in time."""
    return min(track.boxes, key=lambda b: abs(b.at - at), default=TimedBox(-(2**53), 0.0, 0.0, 0.0, 0.0))


def add_face(db: DB, state: State, clip: str, at: int, box: tuple[float, float, float, float], step: int, sequence: int) -> str:
    """Write a face that was missed, with cannot-links to the faces beside it. Return its id."""
    id_ = made_id(face_id(clip), step, 0)
    cluster = int(db.execute("SELECT coalesce(max(cluster), -1) + 1 FROM face_track WHERE clip = ?", (clip,)).fetchone()[0])
    beside = [t.id for t in there(db, state, clip, at)]
    rows.insert_face(db, FaceTrack(id_, clip, at, at + LOOK, (TimedBox(at, *box),), 1.0, 0.0, cluster=cluster), sequence)
    for other in beside:
        db.execute("INSERT OR IGNORE INTO apart VALUES (?, ?, ?)", (*sorted((id_, other)), sequence))
    return id_


# ---------------------------------------------------------------- samples of observations that corrections made


@dataclass(frozen=True, slots=True)
class Lacking:
    """An observation in force, made by a correction, that has no sample yet, or only that of what it replaces. `uri`: the source's file."""

    made: Observation
    old: Observation | None
    uri: str
    clip_start: int


def lacking(db: DB, state: State) -> list[Lacking]:
    """Return the observations whose samples can be computed again."""
    found = []
    for table in ("face_track", "utterance"):
        for r in db.execute(f"SELECT * FROM {table} WHERE id GLOB '*_*' ORDER BY rowid"):
            if not state.who.evidence.counts(r["id"]) or r["id"] in state.who.evidence.enrolled:
                continue
            made = rows.face_track(r) if table == "face_track" else rows.utterance(r)
            old = observation(db, made.replaces) if made.replaces else None
            if _has_its_own(made, old):
                continue
            clip = reading.clip(db, made.clip)
            found.append(Lacking(made, old, reading.source(db, clip.source).uri, clip.start))
    return found


def _has_its_own(made: Observation, old: Observation | None) -> bool:
    if isinstance(made, FaceTrack):
        return bool(made.crops) and not (isinstance(old, FaceTrack) and old.crops == made.crops)
    same_bounds = old is not None and (old.start, old.end) == (made.start, made.end)
    return same_bounds or made.audio is None or not (isinstance(old, Utterance) and old.audio == made.audio)


def complete(db: DB, state: State, id_: str, sample: Sample, sequence: int, at: str) -> None:
    """Store the sample of an observation made by a correction; a face that a user marked is then bound to the person it matches, if any."""
    made = observation(db, id_)
    if isinstance(made, FaceTrack):
        db.execute(
            "UPDATE face_track SET crops = ?, landmarks = ?, quality = ? WHERE id = ?",
            (rows.dump(sample.crops), rows.dump(sample.landmarks), sample.quality, id_),
        )
        type_ = "face"
    else:
        db.execute("UPDATE utterance SET audio = ? WHERE id = ?", (sample.audio, id_))
        type_ = "voice"
    if len(sample.vectors):
        db.execute("DELETE FROM embedding WHERE owner = ?", (id_,))
        rows.insert_vectors(db, id_, type_, sample.model, sample.vectors, sequence)
    if made is not None and made.replaces is None and len(sample.vectors):
        _recognise(db, state, made, sample, sequence, at)


def _recognise(db: DB, state: State, made: Observation, sample: Sample, sequence: int, at: str) -> None:
    if db.execute("SELECT 1 FROM binding WHERE observation = ?", (made.id,)).fetchone():
        return
    rule = thresholds(sample.model, "face")
    apart = [(r[0], r[1]) for r in db.execute("SELECT a, b FROM apart WHERE a = ?1 OR b = ?1", (made.id,))]
    beside = {state.who.held[o].person for pair in apart for o in pair if o in state.who.held}
    known = [g for g in galleries_of(db, state, "face", sample.model) if g.person not in beside]
    candidate = Candidate((made.id,), sample.vectors, MICROSECOND)
    (verdict,) = match([candidate], known, (), rule, state.who.distinct)
    if verdict.node is not None:
        rows.insert(
            db, "binding", sequence=sequence, observation=made.id, node=verdict.node, score=verdict.score, runner_up=verdict.runner_up,
            margin=verdict.margin, by=sample.model, at=at,
        )  # fmt: skip


# ---------------------------------------------------------------- after a source was re-memorized


def make_again(db: DB, state: State, kind: str, args: Mapping[str, Any], step: int, sequence: int) -> list[str] | None:
    """Apply a step to new evidence; `args` with present ids. None if it is not possible there."""
    if kind == "add-face":
        return [add_face(db, state, args["clip"], args["at"], tuple(args["box"]), step, sequence)]
    old = observation(db, args["observations"][0])
    if old is None or not state.who.evidence.counts(old.id):
        return None
    try:
        if kind == "split-at":
            # Else later clips would match the voice of both parts with either; the engine computes their samples again (`lacking`).
            return put(db, old, editing.split(old, args["at"]), step, sequence, same_vectors=False)
        if not isinstance(old, Utterance):
            return None
        new = _bounded(db, old, args["start"], args["end"]) if kind == "bounds" else editing.reworded(old, args["text"])
        return put(db, old, [new], step, sequence)
    except CorrectionError:  # the new evidence says the same as the user
        return None


# ---------------------------------------------------------------- sentences that quote what is no longer said


def _rewrite(context: Context, args: Args) -> Args:
    """Replace the quoted words of an utterance in a sentence by its present words; the references are kept.

    Where all that it quotes is clear now, it no longer says that it was not heard clearly.
    """
    id_ = context.memory(args)
    node = context.state.nodes[id_]
    text, spans = node.text, node.spans
    said = _quoted(context, id_)
    for old, now in ((old.text, now.text) for old, now in said if old.text != now.text and old.text):
        if (at := text.find(old)) < 0:
            continue
        text = text[:at] + now + text[at + len(old) :]
        spans = moved(spans, at + len(old), len(now) - len(old))
        spans = tuple(s for s in spans if s.end <= at or s.start >= at + len(now))
    if said and not any(is_unclear(now) for _, now in said):
        text, at, shorter = unmarked(text)
        spans = moved(spans, at, -shorter)
    if text == node.text:
        hint = "See it in its place: m3desk memories edit, or delete."
        raise CorrectionError(f"{id_} quotes nothing that was corrected." if not node.stale else f"{id_} can't be rewritten by rule.", hint)
    return {"memory": id_, "text": text, "spans": [[s.start, s.end, list(s.observations)] for s in spans], "as": "edit"}


def _quoted(context: Context, id_: str) -> list[tuple[Utterance, Utterance]]:
    """Return the utterances that a sentence was written from, each as it was and as it is."""
    evidence = context.state.who.evidence
    cited = [r[0] for r in context.db.execute("SELECT observation FROM citation WHERE node = ? ORDER BY place", (id_,))]
    start, end = context.db.execute('SELECT start, "end" FROM node WHERE id = ?', (id_,)).fetchone()
    found = []
    for o in cited:
        old, now = observation(context.db, o), observation(context.db, evidence.follow(o, start, end))
        if isinstance(old, Utterance) and isinstance(now, Utterance):
            found.append((old, now))
    return found


RESOLVE: Mapping[str, Callable[[Context, Args], Args]] = {
    "split-at": _split_at, "bounds": _bounds, "words": _words, "add-face": _add_face, "rewrite": _rewrite,
}  # fmt: skip
