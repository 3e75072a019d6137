"""Anchors: what a correction was about, told so that it can be found again after a re-run with other ids, models or cuts."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from m3desk.domain.sentences import State

DB = sqlite3.Connection


def anchor(db: DB, state: State, args: dict[str, Any]) -> dict[str, Any]:
    """Return the source hash, interval and boxes of the observations, people and sentences that a step names."""
    found: dict[str, Any] = {}
    if observations := list(dict.fromkeys([*args.get("observations", ()), *args.get("bindings", {})])):
        found["observations"] = [_observation(db, o) for o in observations]
    people = [args[k] for k in ("person", "keep", "a", "b", "of", "not") if isinstance(args.get(k), str)] + list(args.get("others", ()))
    nodes = [args[k] for k in ("face", "voice") if k in args]
    named = {p: _owned(state, p) for p in people if p in state.who.people} | {n: _bound(state, n) for n in nodes}
    if named:
        found["people"] = {id_: [_observation(db, o) for o in mine] for id_, mine in named.items()}
    if (memory := args.get("memory")) and memory in state.nodes:
        found["memories"] = [_memory(db, state, memory)]
    return found


def _owned(state: State, person: str, limit: int = 5) -> list[str]:
    """Return the observations that tell a person best: the longest-lasting few of theirs are as good as any, in a fixed order."""
    return [o for o, h in state.who.held.items() if h.person == person][:limit]


def _bound(state: State, node: str, limit: int = 5) -> list[str]:
    return [o for o, h in state.who.held.items() if h.node == node][:limit]


def _observation(db: DB, id_: str) -> dict[str, Any]:
    for table in ("face_track", "utterance"):
        for r in db.execute(f"SELECT t.*, s.sha256 FROM {table} t JOIN source s ON s.id = t.source WHERE t.id = ?", (id_,)):
            where: dict[str, Any] = {"id": id_, "sha256": r["sha256"], "start": r["start"], "end": r["end"]}
            if table == "face_track":
                boxes = json.loads(r["boxes"])
                where["boxes"] = [boxes[i] for i in sorted({0, len(boxes) // 2, len(boxes) - 1})] if boxes else []
            else:
                where["words"] = r["text"]
            return where
    return {"id": id_}


def _memory(db: DB, state: State, id_: str) -> dict[str, Any]:
    r = db.execute("SELECT n.*, s.sha256 FROM node n LEFT JOIN source s ON s.id = n.source WHERE n.id = ?", (id_,)).fetchone()
    cited = [_observation(db, o) for o in state.nodes[id_].citations[:5]]
    return {
        "id": id_,
        "kind": r["type"],
        "text": r["content"],
        "sha256": r["sha256"],
        "start": r["start"],
        "end": r["end"],
        "citations": cited,
    }
