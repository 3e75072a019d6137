"""Measures cost against memory size: a commit at clip 5,000 and at clip 10, a correction at 60,000 memories, opening; synthetic clips.

A clip: three people of forty show their face and talk; twelve sentences speak of them. Vectors are directions in space with noise, so
that everybody is recognised. Times are of the call, the disk's part included.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from m3desk.domain.clip import MICROSECOND, Clip, Source
from m3desk.domain.evidence import FaceTrack, Floats, Perceived, TimedBox, Utterance, Word, media_id
from m3desk.domain.ids import clip_id, face_id, utterance_id
from m3desk.domain.memory import Draft, HeardName, Sentence, Span, Vote
from m3desk.store.memory import Memory

MODELS = {"face_vectors": "sface 2021dec", "voice_vectors": "campplus 1"}
TEXTS = "e5 1"
PEOPLE = 40
AT_ONCE = 3
CLIPS = 5_000
FIRST = 10
"""The clip that the last one is compared with."""

RATIO, COMMIT, CORRECTION = 1.3, 40.0, 150.0
"""Goals: how many times a commit at the first clip one at the last takes at most; its milliseconds; a correction's milliseconds. All of the
processor: the clock shows what else a machine does."""

AROUND, ROUNDS = 11, 5
"""Commits in a row, and rounds of them: the first and the last clips take turns, so that both are measured on a machine that does the same
besides. A figure is the median of all 55."""

TURN = 9 * MICROSECOND
SECONDS = 30 * MICROSECOND
THINGS = ("cup", "table", "book", "chair", "phone", "kitchen", "garden", "laptop")


def measure(args: Sequence[str] = ()) -> dict[str, Any]:
    """Grow a memory and return what its commits and corrections took, in milliseconds. `args`: how many clips; a folder to keep it in."""
    count = int(args[0]) if args else CLIPS
    with tempfile.TemporaryDirectory(prefix="m3desk-scale-") as folder:
        place = Path(args[1]) if len(args) > 1 else Path(folder)
        with ExitStack() as opened:
            memory = opened.enter_context(Memory.create(place / "m.m3desk"))
            few = [opened.enter_context(Memory.create(place / f"few-{n}.m3desk")) for n in range(ROUNDS)]
            for each in (memory, *few):
                each.watch(lambda _changed: None)  # as the app does: a commit also records which rows it changed
            report = grow(memory, few, count)
        return report | {"opening_ms": opening(place / "m.m3desk", count)}


def grow(memory: Memory, few: Sequence[Memory], count: int) -> dict[str, Any]:
    """Commit `count` clips to a memory, then correct; return the figures.

    `few`: one new memory a round. Its clips around the tenth are measured, those after everybody was seen, then the large one's last.
    """
    big, dice = _clips(memory, count), random.Random(7)
    begin = min(max(0, FIRST - AROUND // 2 - 1), count)
    took = {name: (Times(), Times(), Times()) for name in ("match", "commit")}
    rounds = []
    for n, small in enumerate(few):
        early, drawn = _clips(small, count), random.Random(7 + n)
        for clip in early[:begin]:
            _commit(small, clip, drawn, Times(), Times())
        rounds.append((small, early[begin:], drawn))
    last = max(0, len(big) - AROUND * len(few))
    for clip in big[:last]:
        _commit(memory, clip, dice, Times(), Times())
    for n, (small, early, drawn) in enumerate(rounds):
        for clip in early[:AROUND]:
            _commit(small, clip, drawn, took["match"][0], took["commit"][0])
        seen = AROUND
        while seen < len(early) and len(small.people()) < PEOPLE:
            _commit(small, early[seen], drawn, Times(), Times())
            seen += 1
        for clip in early[seen : seen + AROUND]:
            _commit(small, clip, drawn, took["match"][1], took["commit"][1])
        for clip in big[last + n * AROUND : last + (n + 1) * AROUND]:
            _commit(memory, clip, dice, took["match"][2], took["commit"][2])
    return {
        "clips": count,
        "memories": len(memory.memories()),
        "people": len(memory.people()),
        **{f"{name}_ms": compared(first, last) for name, (first, _, last) in took.items()},
        **{f"{name}_all_seen_ms": compared(seen, last) for name, (_, seen, last) in took.items() if seen.cpu},
        "correction_ms": corrections(memory),
    }


def _clips(memory: Memory, count: int) -> list[Clip]:
    memory.set_setting("imported_without_media", "1")
    source = memory.add_source(Source("", "/invented.mp4", count * SECONDS, 640, 360, 25.0, True, "0" * 64, None, 1000)).id
    clips = [Clip(clip_id(source, i), source, i, i * SECONDS, (i + 1) * SECONDS) for i in range(count)]
    memory.plan_clips(source, clips, fps=5.0)
    return clips


def _commit(memory: Memory, clip: Clip, dice: random.Random, match: Times, commit: Times) -> None:
    perceived, draft, vectors = invented(clip, dice)
    match.take(memory.match, perceived, MODELS)
    commit.take(memory.commit_episodic, clip, perceived, draft, text_vectors=vectors, text_model=TEXTS, models=MODELS)


def lines(report: dict[str, Any]) -> list[str]:
    """Return the figures as people read them, each with its goal."""
    told = [f"{report['clips']} clips, {report['memories']} memories, {report['people']} people; milliseconds (of them the processor's)"]
    for name in ("commit", "match"):
        f = report[f"{name}_ms"]
        first, last = f"{f['first']} ({f['first_cpu']}) at clip {FIRST}", f"{f['last']} ({f['last_cpu']}) at clip {report['clips']}"
        line = f"{name}: {first}, {last}: {f['ratio']} × as much ({f['ratio_cpu']} ×)"
        if name == "commit":
            line += _against(f["ratio_cpu"], RATIO, "×") + _against(f["last_cpu"], COMMIT, "ms")
            line += f"; rounds: {', '.join(map(str, f['ratio_rounds']))} ×"
        told.append(line)
        if (f := report.get(f"{name}_all_seen_ms")) is not None:
            line = f"{name}: {f['first']} ({f['first_cpu']}) once all {PEOPLE} people were seen, {f['last']} ({f['last_cpu']})"
            told.append(f"{line} at clip {report['clips']}: {f['ratio']} × as much ({f['ratio_cpu']} ×)")
    for name, f in report["correction_ms"].items():
        told.append(f"{name}: {f['median']} ({f['cpu']})" + _against(f["cpu"], CORRECTION, "ms"))
    return [*told, *(f"{name}: {f['median']} ({f['cpu']})" for name, f in report["opening_ms"].items())]


def _against(found: float, goal: float, unit: str) -> str:
    return f"; goal ≤ {goal:g} {unit}: {'met' if found <= goal else 'NOT met'}"


def corrections(memory: Memory) -> dict[str, dict[str, float]]:
    """Return what each correction took from command to committed; undo takes it back. `revert`: of a step with another after it."""
    one, two, three = sorted(memory.people(), key=lambda p: (-len(p.clips), p.number))[:3]
    tracks = memory.state().who.of_person(two.id)
    said: list[tuple[str, dict[str, Any]]] = [
        ("name", {"person": one.id, "name": "Ann"}),
        ("assign", {"observations": tracks[:1], "person": one.id}),
        ("merge", {"keep": one.id, "others": [two.id]}),
        ("split", {"person": two.id, "observations": tracks[: len(tracks) // 2]}),
    ]
    took: dict[str, Times] = {}
    for _ in range(3):
        for kind, given in said:
            took.setdefault(f"{kind}, rehearsed", Times()).take(memory.correct, kind, given, dry_run=True)
            took.setdefault(kind, Times()).take(memory.correct, kind, given)
            took.setdefault(f"undo {kind}", Times()).take(memory.undo)
        step = memory.correct("merge", {"keep": one.id, "others": [two.id]}).step
        memory.correct("name", {"person": three.id, "name": "Bob"})
        took.setdefault("revert merge", Times()).take(memory.revert, step)
        memory.undo(3)
    return {name: {"median": _median(t.wall), "cpu": _median(t.cpu)} for name, t in took.items()}


def opening(path: Path, count: int) -> dict[str, dict[str, float]]:
    """Return what a writer's opening takes: the file, all people, the state that the first correction needs, what the first clip needs too.

    A window reads meanwhile, and the state is computed beside what doesn't need it (`Memory.read_ahead`).
    """
    took = {name: Times() for name in ("open as a writer", "everybody read", "state computed", "galleries read")}
    with _opened(path, took["open as a writer"]) as memory:
        took["everybody read"].take(memory.people)
        took["state computed"].take(memory.state)
        perceived, _, _ = invented(Clip(clip_id("s1", count), "s1", count, count * SECONDS, (count + 1) * SECONDS), random.Random(8))
        took["galleries read"].take(memory.match, perceived, MODELS)
    return {name: {"median": _median(t.wall), "cpu": _median(t.cpu)} for name, t in took.items()}


def _opened(path: Path, took: Times) -> Memory:
    found: list[Memory] = []
    took.take(lambda: found.append(Memory.open(path, write=True)))
    return found[0]


@dataclass(slots=True)
class Times:
    """What calls took, in milliseconds: by the clock, and of the processor, by all threads of this process."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def take(self, call: Callable[..., Any], *args: Any, **how: Any) -> None:
        """Call, and note what it took."""
        began, busy = time.perf_counter(), time.process_time()
        call(*args, **how)
        self.wall.append((time.perf_counter() - began) * 1000)
        self.cpu.append((time.process_time() - busy) * 1000)


def compared(first: Times, last: Times) -> dict[str, Any]:
    """Return the medians of calls on a small and on a large memory, and how many times the first the last is: also of each round."""
    a, b, c, d = (_median(t) for t in (first.wall, last.wall, first.cpu, last.cpu))
    halves = [[statistics.median(t.cpu[at : at + AROUND]) for at in range(0, len(t.cpu), AROUND)] for t in (first, last)]
    rounds = sorted(round(y / x, 2) for x, y in zip(*halves, strict=False))
    wall = {"first": a, "last": b, "ratio": round(b / a, 2)}
    return wall | {"first_cpu": c, "last_cpu": d, "ratio_cpu": round(d / c, 2), "ratio_rounds": rounds}


def _median(times: Sequence[float]) -> float:
    return round(statistics.median(times), 2)


# ---------------------------------------------------------------- clips


def invented(clip: Clip, dice: random.Random) -> tuple[Perceived, Draft, Floats]:
    """Return a clip with its draft and the vectors of its sentences."""
    faces, speech, votes, told = [], [], [], []
    vectors: dict[str, Floats] = {}
    media: dict[str, bytes] = {}
    cast = dice.sample(range(PEOPLE), AT_ONCE)
    for k, who in enumerate(cast):
        at = clip.start + k * TURN
        crop = f"{who} in {clip.id}".encode()
        picture = media_id(crop, ".jpg")
        media[picture] = crop
        f, u = face_id(clip.id, k), utterance_id(clip.id, k)
        boxes = tuple(TimedBox(t, 10.0 * who, 20.0, 40.5, 50.0) for t in range(at, at + TURN - MICROSECOND, MICROSECOND // 5))
        marks = (((1.0, 2.0),) * 5,)
        faces.append(FaceTrack(f, clip.id, at, at + TURN - MICROSECOND, boxes, 0.9, dice.uniform(0.6, 0.95), (picture,), marks, k))
        words = tuple(Word(at + i * MICROSECOND, at + (i + 1) * MICROSECOND, w) for i, w in enumerate(["We", "drink", "some", "tea."], 1))
        speech.append(Utterance(u, clip.id, at + MICROSECOND, at + TURN - 2 * MICROSECOND, "We drink some tea.", words, "en", 0.9, None, k))
        vectors[f] = around(who, 128, 1, dice)
        vectors[u] = around(who, 192, 2, dice)
        votes.append(Vote(f, u, "lips", 1.0))
        for n, (text, cites) in enumerate(
            (
                ("someone appears", (f,)),
                ("someone says: “We drink some tea.”", (u, f)),
                ("someone sits down", (f,)),
                ("someone leaves", (f,)),
            )
        ):
            thing = (dice.choice(THINGS),) if n == 2 else ()
            told.append(Sentence(text, "episodic", at, at + TURN, (Span(0, 7, cites),), cites[:1], thing, event="says" if n == 1 else None))
    names = (HeardName(faces[0].id, f"Name{'abcdefgh'[cast[0] % 8]}", 0.4, "addressed", speech[1].id, "Thanks", clip.start),)
    perceived = Perceived(
        clip.id, tuple(faces), tuple(speech), (), (), vectors, media,
        frozenset((a.id, b.id) for a in faces for b in faces if a.id < b.id), None, (), {"motion": 0.25},
    )  # fmt: skip
    draft = Draft(tuple(sorted(told, key=lambda s: s.start)), tuple(votes), names if clip.index % 10 == 0 else (), "rules 1")
    return perceived, draft, np.full((len(told), 16), 0.25, np.float32)


def around(who: int, d: int, modality: int, dice: random.Random) -> Floats:
    """Return (3, d) unit rows around somebody's own direction."""
    own = np.random.default_rng(1000 * modality + who).normal(size=d)
    rows = own / np.linalg.norm(own) + 0.2 * np.random.default_rng(dice.randrange(2**31)).normal(size=(3, d)) / np.sqrt(d)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)
