"""A memory of any size with invented contents: named people who speak and are seen, hours of sentences, one unit vector a sentence.

No model runs. The log is written in bulk and folded by the store, so that the result is an ordinary memory; only for very many sentences
the rows that search reads are written directly (`FOLDED`), since one fold of a million sentences takes minutes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from m3desk.domain.clip import MICROSECOND, Clip, Source
from m3desk.domain.evidence import FaceTrack, Floats, Perceived, TimedBox, Utterance
from m3desk.domain.ids import clip_id, face_id, source_id, utterance_id
from m3desk.domain.memory import Draft, Sentence, Span, Vote
from m3desk.store.memory import Memory
from m3desk.store.rows import dump

DIMENSION = 384
MODEL = "invented text vectors 1"
MODELS = {"face_vectors": "invented faces 1", "voice_vectors": "invented voices 1", "text_vectors": MODEL}
AT = "2026-11-21T08:00:00.000+00:00"
FOLDED = 100_000
"""Up to so many sentences the store folds the log; above, the derived rows of sentences and observations are written as they would be."""

CLIP = 30 * MICROSECOND
CLIPS = 120
"""Clips of a source: an hour."""
EACH = 10
"""Sentences of a clip."""

_NAMES = (
    "Ann Bea Cleo Dora Eva Finn Gus Hana Ida Jon Kai Lea Milo Nora Otto Pia Quinn Rosa Sven Tess Uma Vera Walt Xena Yara Zeno Abel Bram "
    "Cora Dirk Elsa Fred Gina Hugo Ines Jule Karl Lena Maya Nils"
)
NAMES = tuple(_NAMES.split())
THINGS = ("dog", "cup", "chair", "kitchen", "laptop", "car", "bottle", "tv")
_VOCABULARY = 20_000


def word(number: int) -> str:
    """Return the invented word of this rank; words of low rank are frequent (Zipf)."""
    syllables = ("ba", "do", "ke", "lu", "mi", "no", "pa", "ru", "so", "ti", "va", "wo", "za", "fe", "gu", "hi")
    found = ""
    number += 16
    while number:
        number, rest = divmod(number, 16)
        found += syllables[rest]
    return found


class Invention:
    """Sentences and vectors of one memory, from one seed."""

    def __init__(self, seed: int = 8) -> None:
        self.random = np.random.default_rng(seed)
        self.words = [word(n) for n in range(_VOCABULARY)]
        share = 1 / (np.arange(_VOCABULARY) + 20.0)
        self._cumulated = np.cumsum(share / share.sum())
        spectrum = 1 / np.sqrt(1 + np.arange(DIMENSION))
        self._turn = np.linalg.qr(self.random.normal(size=(DIMENSION, DIMENSION)))[0] * spectrum[:, None]
        self._mean = self._turn[0] / np.linalg.norm(self._turn[0]) * 5.0
        self._topics = self.random.normal(size=(500, DIMENSION)) @ self._turn

    def said(self, length: int) -> list[str]:
        """Return words as somebody might say them."""
        ranks = np.searchsorted(self._cumulated, self.random.random(length))
        return [self.words[min(int(r), _VOCABULARY - 1)] for r in ranks]

    def vectors(self, count: int) -> Floats:
        """Return (count, 384) float32 unit rows around topics, all in one cone, as those of small text models are (cosines 0.7 to 0.95)."""
        own = self.random.normal(size=(count, DIMENSION)) @ self._turn
        rows = self._mean + self._topics[self.random.integers(0, len(self._topics), count)] + 0.8 * own
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows, np.float32)


def make(folder: Path, sentences: int, *, people: int = 40, seed: int = 8) -> Memory:
    """Make a memory of so many sentences about so many people (up to 40) at `folder`; return it, open for writing."""
    invention = Invention(seed)
    memory = Memory.create(folder)
    clips = max(1, sentences // EACH)
    sources = [
        memory.add_source(Source("", f"/videos/{n}.mp4", CLIPS * CLIP, 640, 360, 25.0, True, f"{n:064d}", None, 1000))
        for n in range(1, -(-clips // CLIPS) + 1)
    ]
    for n, source in enumerate(sources):
        count = min(CLIPS, clips - n * CLIPS)
        memory.plan_clips(source.id, [Clip(clip_id(source.id, i), source.id, i, i * CLIP, (i + 1) * CLIP) for i in range(count)], fps=5.0)
    _meet(memory, people)
    with memory.writing(folds=False) as db:
        _tell(db, invention, people, sentences, fold=sentences <= FOLDED)
        memory.forget_fold()
    if sentences <= FOLDED:
        with memory.writing():
            memory.forget_fold()
    return memory


def _meet(memory: Memory, people: int) -> None:
    """Let everybody be seen and heard once, in the first clip, and name them."""
    clip = memory.clips("s1")[0]
    faces, speech, vectors, votes, told = [], [], {}, [], []
    apart = set()
    for n in range(people):
        f, u = face_id(clip.id, n), utterance_id(clip.id, n)
        start = clip.start + n * 700_000
        end = start + 600_000
        faces.append(FaceTrack(f, clip.id, start, end, (TimedBox(start, 1.0, 1.0, 50.0, 50.0),), 0.9, 0.8, (), (), n))
        speech.append(Utterance(u, clip.id, start, end, f"I am number {n}.", (), "en", 0.9, None, n))
        vectors[f], vectors[u] = _axis(n, 128), _axis(n, 192)
        votes += [Vote(f, u, "alone in view", 3.0), Vote(f, u, "lips", 3.0)]
        told.append(Sentence("someone appears.", "episodic", start, end, (Span(0, 7, (f,)),), (f,), event="appears"))
        apart |= {(face_id(clip.id, m), f) for m in range(n)} | {(utterance_id(clip.id, m), u) for m in range(n)}
    perceived = Perceived(clip.id, tuple(faces), tuple(speech), (), (), vectors, {}, frozenset(apart), None, (), {})
    draft = Draft(tuple(told), tuple(votes), (), "invented")
    rows = Invention(1).vectors(len(told))
    memory.commit_episodic(clip, perceived, draft, text_vectors=rows, text_model=MODEL, models=MODELS, at=AT)
    owners = {t.track.id: t.person for t in memory.tracks("s1")}
    for n, name in enumerate(NAMES[:people]):
        memory.correct("name", {"person": owners[face_id(clip.id, n)], "name": name}, at=AT)


def _axis(number: int, dimension: int) -> Floats:
    row = np.zeros((1, dimension), np.float32)
    row[0, number] = 1.0
    return row


def _tell(db: sqlite3.Connection, invention: Invention, people: int, sentences: int, *, fold: bool) -> None:
    """Write the log's rows of all further clips, a batch at a time; without `fold` also the derived rows that search reads."""
    db.execute("INSERT INTO commits (kind, clip, at, models) VALUES ('clip-episodic', NULL, ?, '{}')", (AT,))
    sequence = int(db.execute("SELECT max(sequence) FROM commits").fetchone()[0])
    number = int(db.execute("SELECT max(number) FROM node").fetchone()[0])
    nodes = {(r[0].split(".")[-1], r[1]): r[2] for r in db.execute("SELECT observation, node, person FROM now_observation")}
    who = {
        (kind, n): next((node, person) for (o, node), person in nodes.items() if o == f"{kind}{n}") for kind in "fu" for n in range(people)
    }
    things = {}
    for label in THINGS:
        number += 1
        kind = "place" if label == "kitchen" else "object"
        things[label] = f"{kind}_{number}"
        db.execute(
            'INSERT INTO node (id, number, type, content, clip, source, start, "end", sequence) VALUES (?, ?, ?, ?, ?, ?, 0, 1, ?)',
            (things[label], number, kind, label, "s1.c0", "s1", sequence),
        )
        if not fold:
            shown = (label, label, label, "[]", "[]", '["s1.c0"]', "[]")
            db.execute(
                "INSERT INTO now_node VALUES (?, 1.0, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, 0, 0, 0, ?, NULL)",
                (things[label], *shown, things[label]),
            )
    for clip, *_ in db.execute("SELECT id, source FROM clip WHERE id != 's1.c0'").fetchall():
        db.execute("INSERT INTO commits (kind, clip, at, models) VALUES ('clip-episodic', ?, ?, '{}')", (clip, AT))
    db.execute("UPDATE clip SET state = 'episodic'")
    left = sentences - people
    for rows in _batches(invention, left, number, sequence, who, things):
        for table, values in rows.items():
            if table == "node" and values:
                db.execute("UPDATE meta SET value = ? WHERE key = 'last_node'", (str(values[-1][1]),))
            if values and (fold or table != "vote"):
                marks = ", ".join("?" * len(values[0]))
                if not table.startswith("now_") or not fold:
                    db.executemany(f"INSERT INTO {table} VALUES ({marks})", values)


def _batches(
    invention: Invention,
    left: int,
    number: int,
    sequence: int,
    who: dict[tuple[str, int], tuple[str, str]],
    things: dict[str, str],
) -> Iterator[dict[str, list[Sequence[object]]]]:
    random, made = invention.random, 0
    while made < left:
        count = min(5_000, left - made)
        vectors = invention.vectors(count)
        draws = random.random((count, 2))
        rows: dict[str, list[Sequence[object]]] = {
            name: []
            for name in (
                "face_track",
                "utterance",
                "binding",
                "node",
                "span",
                "citation",
                "mention",
                "embedding",
                "now_node",
                "now_observation",
            )
        }
        for k in range(count):
            place, made, number = made + len(who) // 2, made + 1, number + 1
            source = source_id(place // (EACH * CLIPS) + 1)
            index = place // EACH % CLIPS
            clip = clip_id(source, index)
            start = index * CLIP + place % EACH * 2_900_000
            end = start + 2_000_000
            n = int(draws[k, 0] * len(who) / 2)
            row = _sentence(invention, float(draws[k, 1]), n, number, clip, source, start, end, who)
            text, kind, event, observation, label = row
            id_ = f"{kind}_{number}"
            if observation is not None:
                type_, node, person, values = observation
                rows["face_track" if type_ == "f" else "utterance"].append((values[0], sequence, *values[1:]))
                rows["binding"].append((None, sequence, values[0], node, 0.9, None, 0.4, "invented", AT))
                rows["now_observation"].append((values[0], node, person, 0, None))
            spoken = [values[0]] if observation is not None else []
            quoted = dump([[text.index("“") + 1, len(text) - 1]]) if "“" in text else "[]"
            rows["node"].append((
                id_, number, kind, text, None, clip, source, start, end, sequence, None, "en", "habit" if kind == "semantic" else None,
                event, "invented", quoted, None,
            ))  # fmt: skip
            if spoken:
                rows["span"].append((id_, 0, 7, dump(spoken)))
                rows["citation"].append((id_, 0, spoken[0]))
            if label:
                rows["mention"].append((id_, 0, things[label]))
            rows["embedding"].append((id_, "text", MODEL, 1, DIMENSION, vectors[k].tobytes(), sequence))
            shown = NAMES[n] + text[7:] if spoken else text
            tagged = f"<{observation[2]}>" + text[7:] if observation is not None else text
            people = dump([observation[2]]) if observation is not None else "[]"
            spans = dump([[0, 7, spoken]]) if spoken else "[]"
            topic = "habit" if kind == "semantic" else None
            rows["now_node"].append(
                (id_, 1.0, text, shown, tagged, spans, people, dump([clip]), dump(spoken), topic, None, 0, 0, 0, id_, None)
            )
        yield rows


def _sentence(
    invention: Invention,
    draw: float,
    n: int,
    number: int,
    clip: str,
    source: str,
    start: int,
    end: int,
    who: dict[tuple[str, int], tuple[str, str]],
) -> tuple[str, str, str | None, tuple[str, str, str, tuple[object, ...]] | None, str | None]:
    """Return text, kind, event, the observation it rests on and the thing it speaks of: half is speech, a fifth people who appear."""
    said = invention.said(4 + int(draw * 997) % 9)
    if draw < 0.7:
        speaks = draw < 0.5
        node, person = who["u" if speaks else "f", n]
        id_ = f"{clip}.{'u' if speaks else 'f'}{number}"
        if speaks:
            words = " ".join(said)
            values: tuple[object, ...] = (id_, source, clip, start, end, words, "[]", "en", 0.9, None, n, 0, 1, None)
            return f"someone says: “{words}”", "episodic", "says", ("u", node, person, values), None
        boxes = dump([[at, 10.0, 10.0, 60.0, 60.0] for at in range(start, end, 200_000)])
        values = (id_, source, clip, start, end, boxes, 0.9, 0.5, "[]", "[]", n, "[]", None, None)
        return "someone comes into view.", "episodic", "appears", ("f", node, person, values), None
    if draw < 0.8:
        label = THINGS[int(draw * 9973) % len(THINGS)]
        return f"In view: a {label} {said[0]}.", "episodic", "object", None, label
    if draw < 0.88:
        return f"The text “{' '.join(said[:4])}” appears on screen.", "episodic", "text", None, None
    node, person = who["u", n]
    words = " ".join(said)
    values = (utterance_id(clip, number), source, clip, start, end, words, "[]", "en", 0.9, None, n, 0, 1, None)
    return f"someone often speaks of {words}.", "semantic", None, ("u", node, person, values), None
