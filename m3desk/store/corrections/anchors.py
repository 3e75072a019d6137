"""Anchors: describe what a correction was about, to find it again when a source is memorized again with other ids, models or cuts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from m3desk.domain.correction import Step
from m3desk.domain.evidence import Box
from m3desk.domain.fold import born_in
from m3desk.domain.geometry import iou, span_iou
from m3desk.domain.ids import MADE, numbered
from m3desk.domain.log import Log, undone_steps
from m3desk.domain.sentences import State
from m3desk.store.rows import dump

DB = sqlite3.Connection


def anchor(db: DB, state: State, args: dict[str, Any]) -> dict[str, Any]:
    """Return the source hash, interval and boxes of the observations, people and sentences that a step names."""
    found: dict[str, Any] = {}
    if observations := list(dict.fromkeys([*args.get("observations", ()), *args.get("bindings", {}), *_spoken_of(args)])):
        found["observations"] = _observations(db, observations)
    people = [args[k] for k in ("person", "keep", "a", "b", "of", "not") if isinstance(args.get(k), str)] + list(args.get("others", ()))
    nodes = [args[k] for k in ("face", "voice") if k in args] + [
        n for n in args.get("bindings", {}).values() if n not in args.get("nodes", ())
    ]
    named = {p: _owned(state, p) for p in people if p in state.who.people} | {n: _bound(state, n) for n in nodes}
    for born in sorted({*people, *(p for kind in ("cannot", "must") for pair in args.get(kind, ()) for p in pair)} - named.keys()):
        if mine := _born(state, born):  # persons that votes had joined: each stands for the nodes created in it
            named[born] = mine
    if named:
        found["people"] = {id_: _observations(db, mine) for id_, mine in named.items()}
    if args.get("made") and "files" not in args:
        found["made"] = _observations(db, args["made"])
        if args.get("clip"):
            found["clip"] = _clip(db, args["clip"], args["at"])
    if (memory := args.get("memory")) and memory in state.nodes:
        found["memories"] = [_memory(db, state, memory)]
    if "bookmark" in args and "source" in args:
        r = db.execute("SELECT sha256 FROM source WHERE id = ?", (args["source"],)).fetchone()
        found["place"] = {"id": args["source"], "sha256": r["sha256"] if r else None, "start": args["start"], "end": args["end"]}
    return found


def _spoken_of(args: dict[str, Any]) -> list[str]:
    return [o for _, _, observations in args.get("spans", ()) for o in observations]


def _owned(state: State, person: str, limit: int = 5) -> list[str]:
    """Return observations that identify a person: first those of nodes created in it, which stay even if votes change."""
    born = _born(state, person, limit)
    return [*born, *(o for o in state.who.of_person(person) if o not in born)][:limit]


def _born(state: State, person: str, limit: int = 5) -> list[str]:
    nodes = sorted((n.id for n in state.who.nodes.values() if n.person == person), key=numbered)
    return [o for n in nodes for o in state.who.of_node(n)][:limit]


def _bound(state: State, node: str, limit: int = 5) -> list[str]:
    return state.who.of_node(node)[:limit]


_LIES: tuple[str, ...] = (
    """SELECT t.id, s.sha256, t.start, t."end", NULL AS words, CASE WHEN json_valid(t.boxes) THEN json_array_length(t.boxes) END AS n,
    CASE WHEN NOT json_valid(t.boxes) THEN t.boxes ELSE json_array(json_extract(t.boxes, '$[0]'),
    json_extract(t.boxes, '$[' || (json_array_length(t.boxes) / 2) || ']'), json_extract(t.boxes, '$[#-1]')) END AS boxes
    FROM face_track t JOIN source s ON s.id = t.source WHERE t.id IN (SELECT value FROM json_each(?))""",
    """SELECT t.id, s.sha256, t.start, t."end", t.text AS words, NULL AS n, NULL AS boxes
    FROM utterance t JOIN source s ON s.id = t.source WHERE t.id IN (SELECT value FROM json_each(?))""",
)
"""Queries for the places of faces (first, middle and last box, of `n`) and of utterances."""


def _observations(db: DB, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the places of observations, in the order given; of missing ones only the id."""
    found: dict[str, dict[str, Any]] = {}
    asked = dump(list(dict.fromkeys(ids)))
    for query in _LIES if ids else ():
        for r in db.execute(query, (asked,)):
            where: dict[str, Any] = {"id": r["id"], "sha256": r["sha256"], "start": r["start"], "end": r["end"]}
            if r["boxes"] is not None:
                by_place = dict(zip((0, (r["n"] or 0) // 2, (r["n"] or 0) - 1), json.loads(r["boxes"]), strict=False))
                where["boxes"] = [by_place[i] for i in sorted(by_place)] if r["n"] else []
            else:
                where["words"] = r["words"]
            found.setdefault(r["id"], where)
    return [found.get(id_, {"id": id_}) for id_ in ids]


def _clip(db: DB, id_: str, at: int) -> dict[str, Any]:
    r = db.execute("SELECT s.sha256 FROM clip c JOIN source s ON s.id = c.source WHERE c.id = ?", (id_,)).fetchone()
    return {"id": id_, "sha256": r["sha256"] if r else None, "at": at}


def _memory(db: DB, state: State, id_: str) -> dict[str, Any]:
    r = db.execute("SELECT n.*, s.sha256 FROM node n LEFT JOIN source s ON s.id = n.source WHERE n.id = ?", (id_,)).fetchone()
    cited = _observations(db, state.nodes[id_].citations[:5])
    return {
        "id": id_,
        "kind": r["type"],
        "text": r["content"],
        "sha256": r["sha256"],
        "start": r["start"],
        "end": r["end"],
        "citations": cited,
    }


# ---------------------------------------------------------------- resolving anchors


def places(db: DB, sha256: str | None) -> list[str]:
    """Return the sources with this content, or, if it was removed, those that replaced it."""
    if sha256 is None:
        return []
    query = "SELECT id FROM source WHERE sha256 = ?1 OR uri = (SELECT value FROM meta WHERE key = 'removed_' || ?1) ORDER BY id"
    return [r[0] for r in db.execute(query, (sha256,))]


Again = Callable[[str, dict[str, Any], int], list[str] | None]
"""Applies a step (kind, args, number) to new evidence; returns the ids it made, None if it is not possible."""


def found_again(db: DB, now: Callable[[], State], log: Log, again: Again, there: set[int]) -> list[tuple[str, str]]:
    """Return (old, new) ids for what steps in force name and no longer exists, but is found by their anchors.

    Observations are matched by overlap in time and space, people and nodes by their observations, sentences by words and time. What a
    step had put in an observation's place is put there again; where the re-run leaves nothing to do, it is matched like the rest.
    `now`: gives the state, what `again` wrote included (as `log` does). `there`: the steps of which nothing is missing, as found before
    (clips take nothing away); those found now are added.
    """
    state = now()
    if len(there) == len(log.steps):
        return []
    undone = undone_steps(log)
    names = {r.old: r.new for r in log.renamed}
    found: dict[str, str] = {}
    # Persons that a step made don't come from any source: they keep their ids.
    made = {s.args["person"] for s in log.steps if s.args.get("nodes") and s.args["person"] not in s.anchor.get("people", {})}
    rooted = {n.person for n in state.who.nodes.values() if n.step is None}

    def missing(id_: str) -> bool:
        known = names.get(id_, id_)
        if id_ in remade:
            return False
        if id_.startswith("person"):
            if known in rooted or id_ in made:
                return False
            there.discard(step.step)
            return id_ not in found
        gone = known not in log.observations if "." in id_ else known not in state.nodes and known not in state.who.canonical
        if gone:
            there.discard(step.step)
        return gone and id_ not in found

    # What steps in force made comes from them, not from a similarity to something found (till that fails).
    remade = {o for s in log.steps if s.step not in undone and s.kind != "enroll" for o in s.args.get("made", ())}
    for step in log.steps:
        if step.step in there:
            continue
        there.add(step.step)  # until something of it is missing
        if step.step in undone:
            continue
        if remade & set(step.args.get("made", ())):
            if any(names.get(o, o) not in log.observations for o in step.args["made"]):
                there.discard(step.step)
            found |= _made_again(db, step, log, names | found, remade, again)
            state = now()
        people: dict[str, list[dict[str, Any]]] = step.anchor.get("people", {})
        for where in [*step.anchor.get("observations", ()), *(o for rows in people.values() for o in rows)]:
            if missing(where["id"]) and (match := _match(db, where)):
                found[where["id"]] = match
        for id_, rows in people.items():
            if missing(id_):
                held = [state.who.held.get(found.get(o["id"], names.get(o["id"], o["id"]))) for o in rows]
                if node := next((h.node for h in held if h is not None and h.node), None):
                    # Not the person by votes: a cannot-link with that person would become a must-link.
                    found[id_] = born_in(log, state.who.nodes)[node] if id_.startswith("person") else node
        for told in step.anchor.get("memories", ()):
            if step.kind != "delete" and missing(told["id"]) and (memory := _match_memory(db, told)):
                found[told["id"]] = memory
    return list(found.items())


def _made_again(db: DB, step: Step, log: Log, called: dict[str, str], remade: set[str], again: Again) -> dict[str, str]:
    """Return what a step made → what it makes on the new evidence; {} if that is not there (yet)."""
    made: list[str] = step.args["made"]
    if all(called.get(o, o) in log.observations for o in made):
        return {}
    args, moved = dict(step.args), {}
    if step.kind == "add-face":
        if match := _match(db, step.anchor["made"][0]):  # this time it was not missed
            remade.difference_update(made)
            return {made[0]: match}
        args["clip"] = _clip_at(db, step.anchor["clip"])
    else:
        (old,) = step.args["observations"]
        new = called.get(old, old)
        if new not in log.observations and old not in remade:
            new = _match(db, step.anchor["observations"][0]) or new
        args["observations"] = [new]
        moved = {old: new}
    if args.get("clip", "") is None or any(o not in log.observations for o in moved.values()):
        return {}
    if (parts := again(step.kind, args, step.step)) is None:
        remade.difference_update(made)
        return moved | {w["id"]: match for w in step.anchor.get("made", ()) if (match := _match(db, w))}
    return moved | dict(zip(made, parts, strict=True))


def _clip_at(db: DB, where: dict[str, Any]) -> str | None:
    """Return the memorized clip that contains a moment, of a file or of the one that replaced it."""
    for source in places(db, where["sha256"]):
        query = "SELECT id FROM clip WHERE source = ? AND start <= ?2 AND \"end\" > ?2 AND state IN ('episodic', 'done')"
        for r in db.execute(query, (source, where["at"])):
            return str(r[0])
    return None


def _match(db: DB, where: dict[str, Any]) -> str | None:
    """Return the observation that overlaps an anchor best: half of the time together and, for faces, a third of the box."""
    if "start" not in where:
        return None
    table = "face_track" if "boxes" in where else "utterance"
    best: tuple[float, str] | None = None
    for source in places(db, where["sha256"]):
        query = f"SELECT * FROM {table} WHERE source = ? AND start < ? AND \"end\" > ? AND id NOT GLOB '{MADE}' ORDER BY id"
        for r in db.execute(query, (source, where["end"], where["start"])):
            share = span_iou((where["start"], where["end"]), (r["start"], r["end"]))
            if table == "face_track":
                boxes = json.loads(r["boxes"])
                near = [iou(_box(b), _box(_nearest(boxes, b[0]))) for b in where["boxes"]] if boxes else []
                share = share * (sum(near) / len(near)) if near and share >= 0.5 and sum(near) / len(near) >= 0.33 else 0.0
            if share >= (0.16 if table == "face_track" else 0.5) and (best is None or share > best[0]):
                best = share, r["id"]
    return best[1] if best else None


def _match_memory(db: DB, told: dict[str, Any]) -> str | None:
    for source in places(db, told["sha256"]):
        query = 'SELECT id FROM node WHERE source = ? AND type = ? AND content = ? AND start < ? AND "end" > ? ORDER BY number'
        for r in db.execute(query, (source, told["kind"], told["text"], told["end"], told["start"])):
            return str(r[0])
    return None


def _nearest(boxes: list[list[float]], at: float) -> list[float]:
    return min(boxes, key=lambda b: abs(b[0] - at))


def _box(row: list[float]) -> Box:
    _, x, y, width, height = row
    return x, y, width, height
