"""The sources and clips of a memory with their states, the models in use, and what the pipeline reads between commits."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from m3desk.domain.clip import Clip, Source, clock
from m3desk.domain.continuing import continued
from m3desk.domain.correction import Effect
from m3desk.domain.evidence import Floats, Perceived
from m3desk.domain.ids import clip_id, clip_order, numbered, source_id
from m3desk.domain.log import Log, ObservationType
from m3desk.domain.memory import Sentence, StoredSentence
from m3desk.domain.misplaced import regrouped
from m3desk.domain.plural import many
from m3desk.domain.sentences import State, owner
from m3desk.errors import UsageError
from m3desk.ports import Cluster, Prepared
from m3desk.store import commits, reading, rows, schema
from m3desk.store.forgetting import withholding
from m3desk.store.galleries import GalleryLookup

DB = sqlite3.Connection


# ---------------------------------------------------------------- sources and clips


def add_source(db: DB, source: Source) -> Source:
    """Add a source, or return the one with the same content (with its path updated)."""
    if source.sha256:
        row = db.execute("SELECT id FROM source WHERE sha256 = ? AND state != 'enrolled'", (source.sha256,)).fetchone()
        if row:
            db.execute("UPDATE source SET uri = ? WHERE id = ?", (source.uri, row[0]))
            return reading.source(db, row[0])
    id_ = source_id(commits.number(db, "source"))
    rows.insert(
        db, "source", id=id_, uri=source.uri, duration=source.duration, width=source.width, height=source.height, fps=source.fps,
        has_audio=int(source.has_audio), sha256=source.sha256, started_at=source.started_at, bytes=source.bytes, state=source.state,
        error=source.error, sampled_fps=None,
    )  # fmt: skip
    return reading.source(db, id_)


def describe(db: DB, s: Source) -> None:
    """Replace the columns of a source by what is known of it now."""
    db.execute(
        """UPDATE source SET uri = ?, duration = ?, width = ?, height = ?, fps = ?, has_audio = ?, sha256 = ?, started_at = ?, bytes = ?,
        state = ?, error = ? WHERE id = ?""",
        (s.uri, s.duration, s.width, s.height, s.fps, int(s.has_audio), s.sha256, s.started_at, s.bytes, s.state, s.error, s.id),
    )


def plan(db: DB, source: str, clips: Sequence[Clip], fps: float | None) -> None:
    """Queue clips; those of another cut may only replace queued ones."""
    reading.source(db, source)
    there = {c.id: c for c in reading.clips(db, source)}
    for c in clips:
        id_ = clip_id(source, c.index)
        old = there.get(id_)
        if old is not None and (old.start, old.end) != (c.start, c.end):
            if old.state in ("episodic", "done"):
                raise UsageError(
                    f"{source} was cut otherwise before (clip {c.index}: {clock(old.start)}–{clock(old.end)}).",
                    "Use the same --clip-seconds, --start and --end, or memorize it again with --rebuild.",
                )
            db.execute('UPDATE clip SET start = ?, "end" = ? WHERE id = ?', (c.start, c.end, id_))
        if old is None:
            rows.insert(db, "clip", id=id_, source=source, number=c.index, start=c.start, end=c.end, state=c.state, error=c.error)
        if old is None or old.state not in ("episodic", "done"):
            rows.put_limit(db, replace(c, id=id_))
    if fps is not None:
        committed = any(c.state in ("episodic", "done") for c in there.values())
        db.execute("UPDATE source SET sampled_fps = ? WHERE id = ? AND (? = 0 OR sampled_fps IS NULL)", (fps, source, int(committed)))


def what_rests_on(db: DB, state: State, id_: str) -> Effect:
    """Return what removing a source would delete: its observations, sentences, and the people seen or heard nowhere else."""
    if reading.source(db, id_).state == "enrolled":
        raise UsageError(f"{id_} is a file that somebody is taught from.", "Take that step back: m3desk journal, m3desk revert STEP.")
    mine = [o for o in state.who.held if o.startswith(id_ + ".")]
    kept = _known_elsewhere(db, id_)
    query = "SELECT id FROM node WHERE source = ? AND type IN ('episodic', 'semantic') ORDER BY number"
    told = [r[0] for r in db.execute(query, (id_,)) if r[0] not in kept]
    only = [p.id for p in state.who.people.values() if p.clips and all(c.startswith(id_ + ".") for c in p.clips)]
    things = (
        (len(reading.clips(db, id_)), "clip", ""),
        (len(mine), "observation", ""),
        (len(told), "memory", ""),
        (len(only), "person", "people"),
    )
    *first, last = (many(*thing) for thing in things)
    text = f"removes {', '.join(first)} and {last} of {id_}"
    return Effect(text, tuple(only), tuple(mine), tuple(told))


def _known_elsewhere(db: DB, id_: str) -> dict[str, sqlite3.Row]:
    """Return semantic sentences first written in a source that another one supports too → the first reinforcement from there."""
    query = """SELECT r.* FROM reinforcement r JOIN node n ON n.id = r.node WHERE n.source = ? AND n.type = 'semantic' AND r.amount > 0
        AND r.clip NOT GLOB ? ORDER BY r.id DESC"""
    return {r["node"]: r for r in db.execute(query, (id_, id_ + ".*"))}


def _move(db: DB, state: State, log: Log, node: str, support: sqlite3.Row) -> None:
    """Move a sentence to the clip that supported it: its clip and times, citations, and observations there of the persons it names."""
    clip, cited = reading.clip(db, support["clip"]), json.loads(support["citations"])
    seen = [log.observations[o] for o in cited if o in log.observations]
    start, end = min((o.start for o in seen), default=clip.start), max((o.end for o in seen), default=clip.end)
    db.execute('UPDATE node SET clip = ?, source = ?, start = ?, "end" = ? WHERE id = ?', (clip.id, clip.source, start, end, node))
    there = [*cited, *(o for o, s in log.observations.items() if s.clip == clip.id and o not in cited)]
    for span in log.sentences[node].spans:
        person = owner(span, state.who, log)
        theirs = [o for o in there if person and o in state.who.held and state.who.held[o].person == person]
        mine = [o for o in theirs if o in cited] or theirs[:1]
        db.execute("UPDATE span SET observations = ? WHERE node = ? AND start = ?", (rows.dump(mine), node, span.start))
        cited += [o for o in mine if o not in cited]
    db.execute("DELETE FROM citation WHERE node = ?", (node,))
    db.executemany("INSERT INTO citation VALUES (?, ?, ?)", [(node, i, o) for i, o in enumerate(cited)])
    db.execute("DELETE FROM reinforcement WHERE id = ?", (support["id"],))


def remove_source(db: DB, state: State, log: Log, id_: str, at: str) -> None:
    """Delete a source and every row that depends on it alone. The journal stays: its anchors describe what it was about.

    What it was the first to tell and others support moves to the first of those.
    """
    commits.begin(db, "remove", at, None, {"source": id_})
    gone_source = reading.source(db, id_)
    if gone_source.sha256:  # to resolve its corrections again in the file that replaces it
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"removed_{gone_source.sha256}", gone_source.uri))
    for node, support in _known_elsewhere(db, id_).items():
        _move(db, state, log, node, support)
    like = (id_ + ".*",)
    db.execute("PRAGMA defer_foreign_keys = ON")
    for table, column in (
        ("binding", "observation"),
        ("heard_name", "observation"),
        ("vote", "clip"),
        ("reinforcement", "clip"),
        ("embedding", "owner"),
    ):
        db.execute(f"DELETE FROM {table} WHERE {column} GLOB ?", like)
    db.execute("DELETE FROM apart WHERE a GLOB ?", like)
    gone = "SELECT id FROM node WHERE source = ? AND type IN ('episodic', 'semantic')"
    for table in ("span", "citation", "mention", "reinforcement"):
        db.execute(f"DELETE FROM {table} WHERE node IN ({gone})", (id_,))
    db.execute(f"DELETE FROM link WHERE a IN ({gone}) OR b IN ({gone})", (id_, id_))
    db.execute(f"DELETE FROM embedding WHERE owner IN ({gone})", (id_,))
    db.execute("DELETE FROM node WHERE source = ? AND type IN ('episodic', 'semantic')", (id_,))
    # Nodes with evidence in other sources stay; nodes that nothing refers to are deleted.
    held = "SELECT node FROM now_observation WHERE node IS NOT NULL AND observation NOT GLOB ?2"
    unbound = f"id NOT IN (SELECT node FROM binding) AND id NOT IN ({held})"
    db.execute(f"DELETE FROM node WHERE source = ?1 AND type IN ('face', 'voice') AND step IS NULL AND {unbound}", (id_, *like))
    db.execute("DELETE FROM node WHERE source = ? AND type IN ('object', 'place') AND id NOT IN (SELECT entity FROM mention)", (id_,))
    db.execute("DELETE FROM clip_limit WHERE clip GLOB ?", like)
    db.execute("DELETE FROM draft WHERE clip GLOB ?", like)
    for table in (*schema.EVIDENCE, "clip"):
        db.execute(f"DELETE FROM {table} WHERE source = ?", (id_,))
    db.execute("DELETE FROM source WHERE id = ?", (id_,))


# ---------------------------------------------------------------- models and vectors


def remember_models(db: DB, models: Mapping[str, str], text_model: str) -> None:
    """Note which models are in use; galleries and thresholds belong to them."""
    for port in ("face_vectors", "voice_vectors"):
        if models.get(port):
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (port, models[port]))
    if text_model:
        db.execute("INSERT OR REPLACE INTO meta VALUES ('text_vectors', ?)", (text_model,))


def prepare(
    db: DB, state: State, clip: Clip, perceived: Perceived, own: Mapping[str, Floats], recent: int, look: GalleryLookup
) -> Prepared:
    """Return what is needed to write a clip.

    `own`: rows of the models that perceived it, where `perceived` has another's; the clip before is kept with those, too.
    """
    before = clip_id(clip.source, clip.index - 1)
    previous = reading.perceived(db, before) if clip.index else None
    kept = withholding.withhold(db, clip, perceived)
    kept = replace(kept, faces=continued(previous, replace(kept, vectors={**kept.vectors, **own})).faces)
    told = reading.memories(db, kind="episodic", clip_=before) if clip.index and recent else []
    clusters = preview(db, state, kept, None, look)
    return Prepared(kept, regrouped(kept, [c.observations for c in clusters]), clusters, tuple(told[-recent:]), previous)


def preview(db: DB, state: State, perceived: Perceived, models: Mapping[str, str] | None, look: GalleryLookup) -> tuple[Cluster, ...]:
    """Return the clip's clusters with provisional tags and their matches before the commit."""
    found: list[Cluster] = []
    types: tuple[ObservationType, ...] = ("face", "voice")
    source, index = clip_order(perceived.clip)
    for type_ in types:
        model = (models or {}).get(f"{type_}_vectors") or reading.setting(db, f"{type_}_vectors") or ""
        clusters, verdicts = commits.recognise(db, state, perceived, type_, model, look)
        for n, (cluster, verdict) in enumerate(zip(clusters, verdicts, strict=True), 1):
            last = _last_seen(state, verdict.node, source, index) if verdict.node else None
            found.append(Cluster(f"<{type_}_{n}>", cluster.observations, verdict.node is not None, last))
    return tuple(found)


def _last_seen(state: State, node: str, source: int, index: int) -> int | None:
    """Return when the owner of a node was last seen or heard in earlier clips of a source."""
    who, latest = state.who, None
    person = who.people[who.person_of[node]]
    if person.clips and person.last_seen and clip_order(person.clips[-1]) < (source, index) and person.last_seen[0] == source_id(source):
        return person.last_seen[1]
    for mine in who.members[who.person_of[node]]:
        for o in who.owned.get(mine, ()):
            seen = who.evidence.seen[o]
            if (latest is None or seen.end > latest) and clip_order(seen.clip)[0] == source and clip_order(seen.clip)[1] < index:
                latest = seen.end
    return latest


def vectors(db: DB, kind: str, model: str | None) -> tuple[list[str], Floats]:
    """Return ids and the rows of one model; of sentences, the vector of the text in force."""
    model = model or reading.setting(db, f"{kind}_vectors") or ""
    if kind == "text":
        query = """SELECT e.*, n.id AS id FROM now_node n JOIN embedding e ON e.owner = n.embedded AND e.model = ?
            JOIN node t ON t.id = n.id             WHERE NOT n.deleted AND e.kind = 'text' ORDER BY t.number"""
        found = db.execute(query, (model,))
    else:
        found = db.execute("SELECT *, owner AS id FROM embedding WHERE kind = ? AND model = ? ORDER BY rowid", (kind, model))
    ids: list[str] = []
    blocks: list[Floats] = []
    for r in found:
        blocks.append(rows.vectors(r))
        ids += [r["id"]] * len(blocks[-1])
    return ids, np.concatenate(blocks) if blocks else np.zeros((0, 0), np.float32)


def lacking_vectors(db: DB, model: str) -> list[tuple[str, str]]:
    query = """SELECT n.id, n.text FROM now_node n JOIN node t ON t.id = n.id WHERE t.type IN ('episodic', 'semantic') AND NOT n.deleted
        AND NOT EXISTS (SELECT 1 FROM embedding e WHERE e.owner = n.embedded AND e.model = ?) ORDER BY t.number"""
    return [(r[0], r[1]) for r in db.execute(query, (model,))]


def store_vectors(db: DB, kind: str, model: str, ids: Sequence[str], matrix: Floats | Sequence[Floats]) -> None:
    sequence = int(db.execute("SELECT max(sequence) FROM commits").fetchone()[0] or 0)
    for id_, row in zip(ids, matrix, strict=True):
        embedded = db.execute("SELECT embedded FROM now_node WHERE id = ?", (id_,)).fetchone() if kind == "text" else None
        rows.insert_vectors(db, embedded[0] if embedded else id_, kind, model, row, sequence)
    if kind == "text":
        db.execute("INSERT OR REPLACE INTO meta VALUES ('text_vectors', ?)", (model,))


def candidates(db: DB, state: State, log: Log, sentence: Sentence, source: str) -> list[tuple[StoredSentence, Floats]]:
    """Return semantic sentences about the same people and things, oldest first, with vectors of the text model in use."""
    people = {p for s in sentence.spans if (p := owner(s, state.who, log))}
    things = set(sentence.entities)
    model = reading.setting(db, "text_vectors") or ""
    found = []
    for s in reading.told_of(db, people, things):
        if set(s.people) != people or set(s.entities) != things or (not people and not things and s.source != source):
            continue
        row = db.execute(
            "SELECT e.* FROM embedding e JOIN now_node n ON n.embedded = e.owner WHERE n.id = ? AND e.model = ?", (s.id, model)
        ).fetchone()
        found.append((s, rows.vectors(row)[0] if row else np.zeros(0, np.float32)))
    return sorted(found, key=lambda f: numbered(f[0].id))
