"""Collects everything by which a memory identifies a person who is to be forgotten; changes nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Container, Iterable
from typing import Any

import numpy as np

from m3desk.domain.evidence import Floats
from m3desk.domain.ids import is_person, source_of
from m3desk.domain.log import Log, in_force
from m3desk.domain.people import Person
from m3desk.domain.sentences import State
from m3desk.domain.shown_people import SHOWN_FROM
from m3desk.store import rows
from m3desk.store.forgetting.scrubbing import TELLING, Traces

DB = sqlite3.Connection


def known(db: DB, state: State, log: Log, person: Person, *, spans: bool = False) -> Traces:
    """Collect everything by which a memory identifies a person; with `spans` all that was observed while they were there."""
    who = state.who
    found = Traces({p for p, c in who.canonical.items() if c == person.id} | {person.id})
    found.nodes = {n for n, p in who.person_of.items() if p == person.id}
    found.observations = {o for o, h in who.held.items() if h.person == person.id}
    found.intervals = sorted({(source_of(o), log.observations[o].start, log.observations[o].end) for o in found.observations})
    _superseded(found, state, log)
    own = set(found.observations)
    if spans:
        found.observations |= {o for o, s in log.observations.items() if _within(found.intervals, source_of(o), s.start, s.end)}
        _superseded(found, state, log)
    found.told = {n.id for n in state.nodes.values() if n.type in ("episodic", "semantic") and rests_on(n, found, log)}
    found.told |= {
        t.id
        for t in log.sentences.values()  # of steps that are undone
        if t.id not in state.nodes and found.observations & {*t.citations, *(o for s in t.spans for o in s.observations)}
    }
    found.told |= _of_bodies(db, found)
    if spans:
        query = "SELECT id, source, start, \"end\" FROM node WHERE type = 'episodic'"
        found.told |= {r[0] for r in db.execute(query) if _within(found.intervals, r[1], r[2], r[3])}
    found.told |= resting_on(found.told, log)
    _names(found, state, log, person)
    called = {r.old: r.new for r in log.renamed}
    while former := {old for old, new in called.items() if new in found.ids} - found.ids:
        found.former |= former
    _of_observations(db, found, own)
    return found


def clips_in_view(db: DB, found: Traces) -> list[str]:
    """Return the clips in which their face was seen."""
    rows_ = (db.execute("SELECT clip FROM face_track WHERE id = ?", (o,)).fetchone() for o in sorted(found.observations))
    return sorted({r["clip"] for r in rows_ if r is not None})


def _of_bodies(db: DB, found: Traces) -> set[str]:
    """Return what is told of bodies without a face in clips in which they were in view: whose body it is nobody knows."""
    query = """SELECT id FROM node n WHERE clip = ? AND type = 'episodic'
        AND NOT EXISTS (SELECT 1 FROM span WHERE node = n.id) AND NOT EXISTS (SELECT 1 FROM citation WHERE node = n.id)
        AND (event IN ('leaves', 'moves') OR (event = 'object' AND EXISTS (
            SELECT 1 FROM mention m JOIN node e ON e.id = m.entity WHERE m.node = n.id AND e.content = 'person')))"""
    return {r["id"] for clip in clips_in_view(db, found) for r in db.execute(query, (clip,))}


def _superseded(found: Traces, state: State, log: Log) -> None:
    """Add the observations that these replace, and those that replace them, unless they belong to another person now."""
    above = {s.id: s.replaces for s in log.observations.values() if s.replaces}
    while extra := {above[o] for o in found.observations if o in above} - found.observations:
        found.observations |= extra
    held = state.who.held
    while extra := {o for o, old in above.items() if old in found.observations} - found.observations - _kept(found):
        theirs = {o for o in extra if o in held and held[o].person not in (None, *found.persons)}
        for o in theirs:
            found.mixed.setdefault(above[o], set()).add(o)
        found.observations |= extra - theirs


def _kept(found: Traces) -> set[str]:
    return {o for parts in found.mixed.values() for o in parts}


def _names(found: Traces, state: State, log: Log, person: Person) -> None:
    """Note what they are called, were called and may be called; and what others are called."""
    suggested = [s.name for s in person.suggested_names if s.score >= SHOWN_FROM]
    aliases = [a for a in person.aliases if not is_person(a)]
    past = [s.args.get("name") for s in in_force(log) if s.kind != "reject" and s.args.get("person") in found.persons]
    found.names = list(dict.fromkeys(n for n in (person.name, *aliases, *past, *suggested) if n))
    others = [p for p in state.who.people.values() if p.id not in found.persons]
    found.spared = sorted({n for p in others for n in (p.name, *p.aliases) if n and not is_person(n)})


def resting_on(told: set[str], log: Log) -> set[str]:
    """Return the sentences derived only from these (a summary of deleted sentences is deleted, too)."""
    grounds: dict[str, set[str]] = {}
    for k in log.links:
        if k.kind == "derived_from":
            grounds.setdefault(k.a, set()).add(k.b)
    gone: set[str] = set()
    while more := {n for n, on in grounds.items() if n not in gone | told and on <= gone | told}:
        gone |= more
    return gone


def rests_on(node: Any, found: Traces, log: Log) -> bool:
    told = log.sentences.get(node.id)
    rests = set(node.citations) | {o for s in node.spans for o in s.observations}
    rests |= {o for s in told.spans for o in s.observations} if told else set()
    return bool(rests & found.observations) or bool(set(node.people) & found.persons)


def _within(intervals: Iterable[tuple[str, int, int]], source: str | None, start: int, end: int) -> bool:
    return any(s == source and a < end and start < b for s, a, b in intervals)


def note_media_and_words(db: DB, found: Traces) -> None:
    """Note the pictures, sounds and words of the observations."""
    for o in sorted(found.observations):
        for r in db.execute("SELECT crops FROM face_track WHERE id = ?", (o,)):
            found.media |= set(json.loads(r[0]))
        for r in db.execute("SELECT text, audio FROM utterance WHERE id = ?", (o,)):
            found.media |= {r["audio"]} - {None}
            found.words += [r["text"]] if r["text"].strip() else []


def _of_observations(db: DB, found: Traces, own: Container[str]) -> None:
    """Note their pictures, sounds and words, and the vectors of those that are their `own`."""
    note_media_and_words(db, found)
    grouped: dict[tuple[str, str], list[Floats]] = {}
    for o in sorted(found.observations):
        for r in db.execute("SELECT * FROM embedding WHERE owner = ?", (o,)) if o in own and o not in found.mixed else ():
            grouped.setdefault((r["kind"], r["model"]), []).append(rows.vectors(r))
    found.vectors = {k: np.concatenate(v) for k, v in grouped.items()}
    others = "\n".join(r["text"] for r in db.execute("SELECT id, text FROM utterance") if r["id"] not in found.observations)
    found.telling = [w for w in dict.fromkeys(found.words) if len(w) >= TELLING and w not in others]
