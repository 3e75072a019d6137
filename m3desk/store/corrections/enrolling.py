"""Enrolment: photos and recordings become observations of a named person, in an unlisted source of their own."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from m3desk.calibrated import calibrated
from m3desk.domain.editing import Lesson
from m3desk.domain.evidence import FaceTrack, TimedBox, Utterance
from m3desk.domain.identity import Candidate, Match, match
from m3desk.domain.ids import face_id, made_id, source_id, source_number, utterance_id
from m3desk.domain.log import ObservationType
from m3desk.domain.people import Person
from m3desk.errors import CorrectionError
from m3desk.store import commits, rows
from m3desk.store.corrections.resolving import Args, Context, bind_to, clean
from m3desk.store.corrections.superseding import LOOK
from m3desk.store.galleries import galleries as galleries_of

DB = sqlite3.Connection
ENROLLED = "enrolled"
"""The state of an enrolment source and of its one clip."""


def enroll(context: Context, args: Args) -> Args:
    """Enrol a person: the one with that name, else an unnamed person who clearly matches the files, else a new person."""
    name = clean(args.get("name"))
    if not name:
        raise CorrectionError("enroll needs a name.", "For example: m3desk people enroll Ann ann.jpg.")
    if not context.lessons:
        raise CorrectionError(f"there is nothing to know {name} by.", "Give photos or recordings: m3desk people enroll Ann ann.jpg.")
    _fresh(context, name)
    verdicts = [(type_, v) for type_ in ("face", "voice") if (v := _like(context, type_, context.lessons)) is not None and v.node]
    person, notes = _whom(context, name, verdicts)
    made = [o for lesson in context.lessons for o in _learn(context, lesson)]
    id_ = person.id if person else commits.new_person(context.db)
    bound = bind_to(context, made, id_)
    # They belong to no moment of a video: `--before` still shows them.
    nowhere = 'UPDATE node SET clip = NULL, source = NULL, start = NULL, "end" = NULL WHERE id = ?'
    context.db.executemany(nowhere, [(n,) for n in bound["nodes"]])
    kept: Args = {"person": id_, "name": name, "made": made, "files": [x.file.uri for x in context.lessons], **bound}
    return kept | {"known": person is not None} | ({"notes": notes} if notes else {})


def _fresh(context: Context, name: str) -> None:
    """Raises CorrectionError if a file is enrolled for this person already."""
    for lesson in context.lessons:
        for r in context.db.execute("SELECT id FROM source WHERE state = ? AND sha256 = ?", (ENROLLED, lesson.file.sha256)):
            mine = [h.person for o, h in context.state.who.held.items() if o.startswith(f"{r[0]}.") and h.person]
            if any((context.state.who.people[p].name or "").casefold() == name.casefold() for p in mine):
                raise CorrectionError(f"{name} is taught from {lesson.file.uri} already.")


def _like(context: Context, type_: ObservationType, lessons: Sequence[Lesson]) -> Match | None:
    """Match the faces or voices of these files with known persons; None if they contain none."""
    mine = [x for x in lessons if (x.face is not None) == (type_ == "face") and len(x.sample.vectors)]
    if not mine:
        return None
    model = mine[0].sample.model
    pieces = [p for x in mine for p in x.pieces]
    candidate = Candidate(("taught",), np.concatenate([sample.vectors for sample, _ in pieces]), sum(n or LOOK for _, n in pieces))
    known = galleries_of(context.db, context.state, type_, model)
    return match([candidate], known, (), calibrated(model, type_), context.state.who.distinct)[0]


def _whom(context: Context, name: str, verdicts: Sequence[tuple[str, Match]]) -> tuple[Person | None, list[str]]:
    """Return the person that is meant (None: a new one), and notes for the user."""
    people = context.state.who.people
    key = name.casefold()
    called = [p for p in people.values() if (p.name or "").casefold() == key]
    called = called or [p for p in people.values() if key in (a.casefold() for a in p.aliases)]
    if len(called) > 1:
        raise CorrectionError(f"several people are called {name}: {', '.join(p.id for p in called)}.", "Merge them, or use another name.")
    similar = [(people[context.state.who.person_of[str(v.node)]], type_, v.score or 0.0) for type_, v in verdicts]
    free = [p for p, _, _ in similar if p.name is None]
    meant = called[0] if called else free[0] if free else None
    notes = []
    for p, type_, score in similar:
        if meant is None or p.id != meant.id:
            notes.append(f"the {type_} is like {p.shown}’s ({score:.2f}): if they are one person, merge them")
    return meant, notes


def _learn(context: Context, lesson: Lesson) -> list[str]:
    """Write a file and its samples; return the ids of the observations."""
    file = lesson.file
    source = source_id(commits.number(context.db, "source"))
    length = max(LOOK, sum(n for _, n in lesson.pieces))
    rows.insert(
        context.db, "source", id=source, uri=file.uri, duration=file.duration, width=file.width, height=file.height, fps=file.fps,
        has_audio=int(file.has_audio), sha256=file.sha256, started_at=None, bytes=file.bytes, state=ENROLLED, error=None, sampled_fps=None,
    )  # fmt: skip
    clip = f"{source}.c0"
    rows.insert(context.db, "clip", id=clip, source=source, number=0, start=0, end=length, state=ENROLLED, error=None)
    made, at = [], 0
    type_: ObservationType = "face" if lesson.face is not None else "voice"
    for place, (sample, duration) in enumerate(lesson.pieces):
        id_ = made_id((face_id if type_ == "face" else utterance_id)(clip), context.step, place)
        end = at + max(LOOK, duration)
        if lesson.face is not None:
            boxes = (TimedBox(at, *(round(v, 1) for v in lesson.face)),)
            rows.insert_face(
                context.db, FaceTrack(id_, clip, at, end, boxes, 1.0, sample.quality, sample.crops, sample.landmarks), context.sequence
            )
        else:
            rows.insert_utterance(context.db, Utterance(id_, clip, at, end, "", (), None, 1.0, sample.audio), context.sequence)
        rows.insert_vectors(context.db, id_, type_, sample.model, sample.vectors, context.sequence)
        context.db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (f"{type_}_vectors", sample.model))
        made.append(id_)
        at = end
    return made


@dataclass(frozen=True, slots=True)
class Enrolment:
    """An enrolment file."""

    observation: str
    person: str
    uri: str
    sha256: str | None


def enrolments(db: DB) -> list[Enrolment]:
    """Return the enrolment files of people, in order of time."""
    query = """SELECT o.observation, o.person, s.uri, s.sha256 FROM source s JOIN now_observation o ON o.observation GLOB s.id || '.*'
        WHERE s.state = ? AND o.person IS NOT NULL"""
    found = [Enrolment(*r) for r in db.execute(query, (ENROLLED,))]
    return sorted(found, key=lambda e: source_number(e.observation))


RESOLVE = {"enroll": enroll}
__all__ = ["ENROLLED", "RESOLVE", "Enrolment", "enroll", "enrolments"]
