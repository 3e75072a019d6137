"""Writes an imported graph into an empty memory, clip by clip, so that `--before` works for it too."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable

from m3desk.domain.clip import Clip
from m3desk.domain.evidence import FaceTrack, Utterance
from m3desk.domain.ids import person_id
from m3desk.domain.imported import ForeignGraph, ForeignNode, ForeignText, ForeignVote
from m3desk.store import commits, rows
from m3desk.store.rows import dump, insert

DB = sqlite3.Connection


def write(db: DB, graph: ForeignGraph, at: str, going: Callable[[], None] = lambda: None) -> None:
    """Write a graph: per clip one commit of evidence, bindings, votes and episodic sentences, one of semantic ones.

    Runs in the transaction of the caller, which folds the log at its end. `going` is called before each clip, and may raise.
    """
    s = graph.source
    insert(
        db, "source", id=s.id, uri=s.uri, duration=s.duration, width=s.width, height=s.height, fps=s.fps, has_audio=int(s.has_audio),
        sha256=s.sha256, started_at=s.started_at, bytes=s.bytes, state=s.state, error=s.error, sampled_fps=None,
    )  # fmt: skip
    seen: dict[str, list[FaceTrack | Utterance]] = defaultdict(list)
    observations: tuple[FaceTrack | Utterance, ...] = (*graph.faces, *graph.utterances)
    for o in observations:
        seen[o.clip].append(o)
    born: dict[str, list[ForeignNode]] = defaultdict(list)
    told: dict[str, list[ForeignText]] = defaultdict(list)
    cast: dict[str, list[ForeignVote]] = defaultdict(list)
    for node in graph.nodes:
        born[node.clip].append(node)
    for text in graph.texts:
        told[text.clip].append(text)
    for vote in graph.votes:
        cast[vote.clip].append(vote)
    written: dict[str, int] = {}
    for clip in graph.clips:
        going()
        sequence = commits.begin(db, "clip-episodic", at, clip.id, {"import": graph.model})
        _clip(db, clip)
        for node in born[clip.id]:
            _node(db, clip, node, graph.model, sequence)
        for o in seen[clip.id]:
            if isinstance(o, FaceTrack):
                rows.insert_face(db, o, sequence)
            else:
                rows.insert_utterance(db, o, sequence)
            insert(db, "binding", sequence=sequence, observation=o.id, node=graph.bindings[o.id], score=None, runner_up=None, margin=None,
                   by=graph.model, at=at)  # fmt: skip
            written[o.id] = sequence
        for v in cast[clip.id]:
            insert(db, "vote", sequence=sequence, a=v.a, b=v.b, by=v.by, weight=v.weight, clip=v.clip)
        _texts(db, clip, [t for t in told[clip.id] if t.sentence.kind == "episodic"], graph.model, sequence, written)
        if concluded := [t for t in told[clip.id] if t.sentence.kind == "semantic"]:
            sequence = commits.begin(db, "clip-semantic", at, clip.id, {"import": graph.model})
            _texts(db, clip, concluded, graph.model, sequence, written)
    last = max(written.values(), default=1)
    for a, b in graph.links:
        insert(db, "link", sequence=written.get(a, last), a=a, b=b, kind="mentions")
    for owner, kind, model, vectors in graph.vectors:
        rows.insert_vectors(db, owner, kind, model, vectors, written[owner])
    _counters(db, graph)


def _clip(db: DB, c: Clip) -> None:
    insert(
        db, "clip", id=c.id, source=c.source, number=c.index, start=c.start, end=c.end, state=c.state, error=c.error, cuts="[]", scene="{}"
    )


def _node(db: DB, clip: Clip, node: ForeignNode, model: str, sequence: int) -> None:
    insert(
        db, "node", id=node.id, number=node.number, type=node.type, content="", person=person_id(node.person), clip=clip.id,
        source=clip.source, start=clip.start, end=clip.end, sequence=sequence, model=model, extra_data=dump(dict(node.extra)),
    )  # fmt: skip


def _texts(db: DB, clip: Clip, texts: list[ForeignText], model: str, sequence: int, written: dict[str, int]) -> None:
    for text in texts:
        s = text.sentence
        insert(
            db, "node", id=text.id, number=text.number, type=s.kind, content=s.text, clip=clip.id, source=clip.source, start=s.start,
            end=s.end, sequence=sequence, language=s.language, topic=s.topic, event=s.event, model=model, quoted=dump(s.quoted),
            extra_data=dump(dict(text.extra)),
        )  # fmt: skip
        written[text.id] = sequence
        db.executemany("INSERT INTO span VALUES (?, ?, ?, ?)", [(text.id, x.start, x.end, dump(x.observations)) for x in s.spans])
        cited = dict.fromkeys((*s.citations, *(o for span in s.spans for o in span.observations)))
        db.executemany("INSERT INTO citation VALUES (?, ?, ?)", [(text.id, i, o) for i, o in enumerate(cited)])
        if text.weight != 1.0 and s.kind == "semantic":
            insert(db, "reinforcement", sequence=sequence, node=text.id, clip=clip.id, amount=text.weight - 1.0, citations="[]")


def _counters(db: DB, graph: ForeignGraph) -> None:
    """Set the counters to continue after the numbers of the graph."""
    last = {
        "node": max([n.number for n in graph.nodes] + [t.number for t in graph.texts], default=0),
        "person": max((n.person for n in graph.nodes), default=0),
        "source": 1,
    }
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", [(f"last_{name}", str(number)) for name, number in last.items()])
