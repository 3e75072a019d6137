"""The two commits of a clip: first its evidence, bindings and episodic sentences, later its semantic memories; each is one transaction.

These functions run inside a transaction that `store.memory` opened; they add rows to the log and change nothing else.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from m3desk.calibrated import calibrated, thresholds
from m3desk.domain import misplaced
from m3desk.domain.clip import Clip
from m3desk.domain.equivalence import IN_FULL, WRITER
from m3desk.domain.evidence import Floats, Perceived
from m3desk.domain.galleries import many
from m3desk.domain.graph import PLACES
from m3desk.domain.identity import Candidate, Match, match
from m3desk.domain.ids import clip_before, numbered, person_id, source_of
from m3desk.domain.log import ObservationType, undone_steps
from m3desk.domain.memory import Decision, Draft, Sentence
from m3desk.domain.sentences import State
from m3desk.errors import ModelFailed
from m3desk.events import ClipCommitted
from m3desk.store import rows
from m3desk.store.corrections import anchors
from m3desk.store.galleries import GalleryLookup
from m3desk.store.rows import dump, insert

DB = sqlite3.Connection

BREATH = 700_000
"""Longest pause of one speaker, microseconds (as `perception.lines.LONG_PAUSE`)."""


def begin(db: DB, kind: str, at: str, clip: str | None = None, models: Mapping[str, str] | None = None) -> int:
    """Add a commit to the sequence; return its number."""
    return insert(db, "commits", kind=kind, clip=clip, at=at, models=dump(dict(sorted((models or {}).items()))))


def number(db: DB, counter: str) -> int:
    """Return the next number of a counter (`node`, `person`, `source`); numbers are never used twice."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (f"last_{counter}",)).fetchone()
    value = int(row[0]) + 1 if row else 1
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"last_{counter}", str(value)))
    return value


def new_node(db: DB, type_: str, sequence: int, **values: Any) -> str:
    """Add a node of any type; return its id, such as `face_7`."""
    n = number(db, "node")
    id_ = f"{type_}_{n}"
    insert(db, "node", id=id_, number=n, type=type_, sequence=sequence, **{"content": "", **values})
    return id_


def new_person(db: DB) -> str:
    return person_id(number(db, "person"))


# ---------------------------------------------------------------- binding


def candidates(perceived: Perceived, type_: ObservationType, alone: Container[str] = frozenset()) -> list[Candidate]:
    """Return the clip's clusters of one kind, in order of their first observation; those in `alone` as clusters of their own."""
    groups: dict[tuple[int, str], list[Any]] = {}
    for o in perceived.faces if type_ == "face" else perceived.utterances:
        groups.setdefault((o.cluster, o.id if o.id in alone else ""), []).append(o)
    found = []
    for group in groups.values():
        # Single words say little about a voice: they belong to their cluster but don't decide its binding. Overlapped speech has vectors
        # of its clear part, if that was long enough.
        with_vectors = [o for o in group if len(perceived.vectors.get(o.id, ()))]
        first = next((perceived.vectors[o.id] for o in with_vectors), np.zeros((0, 0), np.float32))
        vectors = np.concatenate([perceived.vectors[o.id] for o in with_vectors]) if with_vectors else first
        duration = sum(_clear(o) for o in with_vectors)
        quality = max((o.quality for o in with_vectors), default=1.0) if type_ == "face" else 1.0
        before = tuple(o.continues for o in group if type_ == "face" and o.continues)
        found.append(Candidate(tuple(o.id for o in group), vectors, duration, quality, before, many(len(with_vectors), duration)))
    return found


def _clear(o: Any) -> int:
    """Return the informative microseconds of an observation: overlapped speech counts about half."""
    length = int(o.end - o.start)
    return length // 2 if getattr(o, "overlapped", False) else length


def recognise(
    db: DB, state: State, perceived: Perceived, type_: ObservationType, model: str, look: GalleryLookup
) -> tuple[list[Candidate], list[Match]]:
    """Match each cluster of a clip with the nodes, by the present state and its galleries."""
    found = candidates(perceived, type_)
    if not found:
        return [], []
    known = look(type_, model)
    rule = thresholds(model, type_)
    if type_ == "voice":
        alone = misplaced.utterances(perceived, known, rule)
    else:
        alone = misplaced.tracks(perceived, known, rule, state.who)
    if alone:
        found = candidates(perceived, type_, alone)
    held = [_held(state, c) for c in found] if type_ == "face" else _goes_on(db, state, perceived, found)
    return found, match(found, known, perceived.cannot_link, calibrated(model, type_), state.who.distinct, held)


def _held(state: State, candidate: Candidate) -> str | None:
    """Return the node of the tracks that a cluster continues, if that is a single one."""
    nodes = {h.node for o in candidate.continues if (h := state.who.held.get(o)) is not None}
    return nodes.pop() if len(nodes) == 1 else None


def _goes_on(db: DB, state: State, perceived: Perceived, found: list[Candidate]) -> list[str | None]:
    """Return the node of the last speaker of the previous clip, for a voice that starts right at the border; else None."""
    first = min(perceived.utterances, key=lambda u: (u.start, u.id))
    query = 'SELECT id, "end" FROM utterance WHERE clip = ? AND replaces IS NULL ORDER BY "end" DESC, id LIMIT 1'
    row = db.execute(query, (clip_before(perceived.clip),)).fetchone()
    if row is None or first.overlapped or not 0 <= first.start - row["end"] < BREATH:
        return [None] * len(found)
    last = state.who.held.get(row["id"])
    return [last.node if last and first.id in c.observations else None for c in found]


def _bind(
    db: DB,
    state: State,
    perceived: Perceived,
    type_: ObservationType,
    model: str,
    draft: Draft,
    sequence: int,
    at: str,
    look: GalleryLookup,
) -> list[str]:
    """Bind a clip's clusters to known or new nodes; return the nodes."""
    found, verdicts = recognise(db, state, perceived, type_, model, look)
    voted = {o for v in draft.votes if not v.by.startswith(WRITER) for o in (v.a, v.b)} | {n.observation for n in draft.names}
    touched = []
    born = max(thresholds(model, type_).least, thresholds(model, type_).born)
    for cluster, verdict in zip(found, verdicts, strict=True):
        node = verdict.node
        mine = [o for o in cluster.observations if type_ == "face" or _tells(perceived, o)]
        if not mine:
            continue
        if node is None:
            if type_ == "voice" and cluster.duration < born and not voted.intersection(cluster.observations):
                continue  # too little to be anybody's: who says it stays open, which is better than a voice node a word
            first = perceived.observation(mine[0])
            node = new_node(
                db, type_, sequence, person=new_person(db), clip=perceived.clip, source=source_of(perceived.clip), start=first.start,
                end=first.end, model=model,
            )  # fmt: skip
        touched.append(node)
        for o in mine:
            insert(
                db, "binding", sequence=sequence, observation=o, node=node, score=verdict.score, runner_up=verdict.runner_up,
                margin=verdict.margin, by=model, at=at,
            )  # fmt: skip
    return touched


def _tells(perceived: Perceived, utterance: str) -> bool:
    """Return whether an utterance has words or enough clear speech to recognise the speaker.

    The rest is murmur under somebody else's voice: on AMI 7 of 9 such were another's than their cluster's, so who it is stays open.
    """
    said = next(u for u in perceived.utterances if u.id == utterance)
    return bool(said.text.strip()) or len(perceived.vectors.get(utterance, ())) > 0


# ---------------------------------------------------------------- evidence


def evidence(db: DB, clip: Clip, perceived: Perceived, models: Mapping[str, str], sequence: int) -> None:
    """Write the evidence of a clip."""
    for track in perceived.faces:
        rows.insert_face(db, track, sequence)
    for said in perceived.utterances:
        rows.insert_utterance(db, said, sequence)
    for thing in perceived.objects:
        rows.insert_object(db, thing, sequence)
    for text in perceived.texts:
        rows.insert_text(db, text, sequence)
    faces = {t.id for t in perceived.faces}
    for id_, vectors in perceived.vectors.items():
        if len(vectors):
            kind = "face" if id_ in faces else "voice"
            rows.insert_vectors(db, id_, kind, models.get(f"{kind}_vectors", ""), vectors, sequence)
    for a, b in sorted(perceived.cannot_link):
        db.execute("INSERT OR IGNORE INTO apart VALUES (?, ?, ?)", (*sorted((a, b)), sequence))
    db.execute(
        "UPDATE clip SET thumbnail = ?, cuts = ?, scene = ? WHERE id = ?",
        (perceived.thumbnail, dump(perceived.cuts), dump(dict(perceived.scene)), clip.id),
    )


def bind(
    db: DB, state: State, perceived: Perceived, draft: Draft, models: Mapping[str, str], sequence: int, at: str, look: GalleryLookup
) -> list[str]:
    """Bind faces, then voices; write votes and names heard. Return the nodes bound to."""
    nodes: list[str] = []
    types: tuple[ObservationType, ...] = ("face", "voice")
    for type_ in types:
        nodes += _bind(db, state, perceived, type_, models.get(f"{type_}_vectors", ""), draft, sequence, at, look)
    for v in draft.votes:
        if v.by.startswith(IN_FULL) or not _named_apart(db, state, v.a, v.b):
            insert(db, "vote", sequence=sequence, a=v.a, b=v.b, by=v.by, weight=v.weight, clip=perceived.clip)
    for n in draft.names:
        insert(
            db, "heard_name", sequence=sequence, observation=n.observation, name=n.name, score=n.score, by=n.by, evidence=n.evidence,
            words=n.words, at=n.at,
        )  # fmt: skip
    return nodes


def _named_apart(db: DB, state: State, a: str, b: str) -> bool:
    """Return whether the persons of two observations have different names now.

    Decided here, and not by the fold: of two names that persons had before they became one, it could not tell which was meant.
    """
    query = "SELECT node FROM binding WHERE observation = ? ORDER BY sequence DESC LIMIT 1"
    nodes = [row["node"] for o in (a, b) if (row := db.execute(query, (o,)).fetchone()) is not None]
    return len(nodes) == 2 and state.who.named_apart(*(state.who.person_of.get(n, "") for n in nodes))


# ---------------------------------------------------------------- sentences


def write_sentence(db: DB, clip: Clip | None, s: Sentence, model: str, sequence: int, step: int | None = None) -> str:
    """Add a text node with its spans, citations and entities; return its id."""
    if not s.text.strip():
        raise ModelFailed(f"{model} wrote an empty sentence.", "Nothing was stored for this clip.")
    id_ = new_node(
        db, s.kind, sequence, content=s.text, clip=clip.id if clip else None, source=clip.source if clip else None, start=s.start,
        end=s.end, step=step, language=s.language, topic=s.topic, event=s.event, model=s.model or model, quoted=dump(s.quoted),
    )  # fmt: skip
    for span in s.spans:
        if not 0 <= span.start < span.end <= len(s.text):
            raise ModelFailed(f"{model} wrote a reference outside of its sentence ({s.text!r}).", "Nothing was stored for this clip.")
        db.execute("INSERT INTO span VALUES (?, ?, ?, ?)", (id_, span.start, span.end, dump(span.observations)))
    cited = dict.fromkeys((*s.citations, *(o for span in s.spans for o in span.observations)))
    db.executemany("INSERT INTO citation VALUES (?, ?, ?)", [(id_, i, o) for i, o in enumerate(cited)])
    for place, label in enumerate(dict.fromkeys(s.entities)):
        db.execute("INSERT INTO mention VALUES (?, ?, ?)", (id_, place, _entity(db, clip, label, s, sequence)))
    return id_


def _entity(db: DB, clip: Clip | None, label: str, s: Sentence, sequence: int) -> str:
    type_ = "place" if label.casefold() in PLACES else "object"
    query = "SELECT id FROM node WHERE type IN ('object', 'place') AND type = ? AND content = ?"  # as its index wants it
    row = db.execute(query, (type_, label)).fetchone()
    if row:
        return str(row[0])
    return new_node(
        db, type_, sequence, content=label, clip=clip.id if clip else None, source=clip.source if clip else None, start=s.start, end=s.end
    )


def write_sentences(
    db: DB, clip: Clip, sentences: Sequence[Sentence], model: str, vectors: Floats | None, text_model: str, sequence: int
) -> list[str]:
    """Add sentences with their vectors, rows in the same order; those a user deleted are not added again. Return the ids."""
    if vectors is not None and len(vectors) != len(sentences):
        raise ModelFailed(f"{text_model} gave {len(vectors)} vectors for {len(sentences)} sentences.")
    ids = []
    deleted = _tombstones(db, clip)
    for i, s in enumerate(sentences):
        if any(t["text"] == s.text and t["kind"] == s.kind and t["start"] < s.end and s.start < t["end"] for t in deleted):
            continue
        ids.append(write_sentence(db, clip, s, model, sequence))
        if vectors is not None:
            rows.insert_vectors(db, ids[-1], "text", text_model, vectors[i], sequence)
    return ids


def _tombstones(db: DB, clip: Clip) -> list[dict[str, Any]]:
    """Return the sentences of this clip's source that a user deleted, from the journal's anchors, which outlive the nodes."""
    deletes = db.execute("SELECT step, anchor FROM journal WHERE kind = 'delete' ORDER BY step").fetchall()
    undone = undone_steps(rows.full_log_of_steps(db)) if deletes else {}
    told = [m for r in deletes if r["step"] not in undone for m in json.loads(r["anchor"]).get("memories", ())]
    return [m for m in told if clip.source in anchors.places(db, m["sha256"])]


def knowledge(
    db: DB, clip: Clip, draft: Draft, decisions: Sequence[Decision], vectors: Floats | None, text_model: str, sequence: int
) -> list[str]:
    """Add, reinforce or contradict semantic sentences; return the nodes touched.

    What they rest on may have been forgotten while they were written, which takes a language model seconds: those are left out.
    """
    if len(decisions) != len(draft.sentences):
        raise ValueError(f"{len(decisions)} decisions for {len(draft.sentences)} sentences")
    touched: list[str] = []
    for i, (s, d) in enumerate(zip(draft.sentences, decisions, strict=True)):
        if not _is_grounded(db, s):
            continue
        if d.kind == "reinforce" and d.target:
            insert(db, "reinforcement", sequence=sequence, node=d.target, clip=clip.id, amount=1.0, citations=dump(s.citations))
            touched.append(d.target)
            continue
        added = write_sentences(db, clip, [s], draft.model, None if vectors is None else vectors[i : i + 1], text_model, sequence)
        touched += added
        for id_ in added:
            for ground in s.rests_on:
                if db.execute("SELECT 1 FROM node WHERE id = ?", (ground,)).fetchone():
                    insert(db, "link", sequence=sequence, a=id_, b=ground, kind="derived_from")
            if d.kind == "contradict" and d.target:
                insert(db, "link", sequence=sequence, a=id_, b=d.target, kind="contradicts")
                insert(db, "reinforcement", sequence=sequence, node=d.target, clip=clip.id, amount=-1.0, citations=dump(s.citations))
                touched.append(d.target)
    return touched


def _is_grounded(db: DB, s: Sentence) -> bool:
    """Return whether every observation and stored sentence that a sentence rests on is still in the log."""
    observations = {*s.citations, *(o for span in s.spans for o in span.observations)}
    stored = {ground for ground in s.rests_on if not ground.isdecimal()}  # the others are places in its draft
    return all(
        db.execute("SELECT 1 FROM face_track WHERE id = ?1 UNION ALL SELECT 1 FROM utterance WHERE id = ?1", (o,)).fetchone()
        for o in observations
    ) and all(db.execute("SELECT 1 FROM node WHERE id = ?", (ground,)).fetchone() for ground in stored)


def committed(db: DB, clip: str, state: str) -> ClipCommitted:
    """Return the event data of a clip's commit."""
    nodes = tuple(r[0] for r in db.execute("SELECT id FROM node WHERE clip = ? ORDER BY number", (clip,)))
    people = db.execute(
        "SELECT DISTINCT person FROM now_observation WHERE observation > ? AND observation < ? AND person IS NOT NULL",
        (clip + ".", clip + "/"),  # the sign after the point
    )
    found = tuple(sorted((r[0] for r in people), key=numbered))
    return ClipCommitted(clip, state, nodes, found, tuple(n for n in nodes if n.startswith(("episodic", "semantic"))))
