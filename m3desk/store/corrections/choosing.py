"""The correction that takes another writer's sentences for a clip (`versions`): its args, and what they keep after `=`.

    choose    clip   = writer, told [the sentences that came], hidden [those in whose place they are]

Sentences that are the same stay as they are. What somebody's decision or knowledge rests on stays, too: sentences that a user added,
edited, pinned or named in any other step, and those that a semantic memory was concluded from. Who is who does not change: opinions of a
writer who was asked later cast no votes, since a vote can't be undone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from m3desk.domain.log import in_force
from m3desk.domain.memory import WATCHED
from m3desk.domain.sentences import NodeNow
from m3desk.errors import CorrectionError
from m3desk.store import commits, reading, rows, versions
from m3desk.store.corrections.resolving import Args, Context


def _choose(context: Context, args: Args) -> Args:
    clip = reading.clip(context.db, str(args.get("clip", "")))
    found = versions.versions(context.db, clip.id)
    if not found:
        raise CorrectionError(f"there are no other sentences for {clip.id}.", "Have them written: m3desk rewrite MEMORY --writer NAME.")
    (version,) = found
    written = {r["id"]: r for r in context.db.execute("SELECT id, model, start FROM node WHERE clip = ?", (clip.id,))}
    nodes = {id_: n for id_ in written if (n := context.state.nodes.get(id_)) is not None}
    old = {id_: n for id_, n in nodes.items() if n.type in ("episodic", "semantic") and not n.deleted}
    there = {_key(n.type, n.text, written[id_]["start"], n.spans): id_ for id_, n in old.items()}
    again = {there[k] for s in version.sentences if (k := _key(s.kind, s.text, s.start, s.spans)) in there}
    fixed = _decided(context) | again | {id_ for id_ in old if written[id_]["model"] == "user"}
    hidden = {id_ for id_, n in old.items() if id_ not in fixed and _replaceable(context, n, str(written[id_]["model"]))}
    rests = context.db.execute("SELECT a, b FROM link WHERE kind = 'derived_from'").fetchall()
    hidden -= {b for a, b in rests if a not in hidden and (n := context.state.nodes.get(a)) is not None and not n.deleted}
    told = [
        commits.write_sentence(context.db, clip, s, version.writer, context.sequence, context.step)
        for s in version.sentences
        if _key(s.kind, s.text, s.start, s.spans) not in there
    ]
    if not told and not hidden:
        raise CorrectionError(f"both writers say the same of {clip.id}.", "Drop this version: m3desk rewrite MEMORY --drop.")
    versions.drop(context.db, clip.id, "version")
    says = f"takes the version “{version.writer}” of {clip.id}"
    return {"clip": clip.id, "writer": version.writer, "told": told, "hidden": sorted(hidden), "says": says}


def _key(kind: str, text: str, start: int, spans: object) -> tuple[object, ...]:
    return kind, text, start, spans


def _decided(context: Context) -> set[str]:
    """Return the sentences that steps in force name, but for those that a choice brought or took away."""
    steps = in_force(rows.full_log_of_steps(context.db))
    return {str(s.args["memory"]) for s in steps if isinstance(s.args.get("memory"), str)}


def _replaceable(context: Context, node: NodeNow, model: str) -> bool:
    """Return whether a writer's sentence goes: every episodic one; knowledge only of a writer who watched, and of this clip alone."""
    if node.type == "episodic":
        return True
    supported = context.db.execute("SELECT 1 FROM reinforcement WHERE node = ? LIMIT 1", (node.id,)).fetchone()
    return model.startswith(WATCHED) and supported is None


RESOLVE: Mapping[str, Callable[[Context, Args], Args]] = {"choose": _choose}
