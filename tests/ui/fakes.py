"""A desk, a reader and a player with an invented memory, for testing the window without engine, models or files.

Everything is deterministic. Source s1 has six clips of 30 s (0–3 done, 4 episodic, 5 queued), s2 waits in the queue.
Use: `desk = FakeDesk(); desk.emit(events.…); desk.calls` holds each command as (name, arguments).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np

from m3desk import events
from m3desk.domain.bookmark import Bookmark, bookmark_id, in_place
from m3desk.domain.changed import Changed
from m3desk.domain.clip import MICROSECOND, Clip, Source
from m3desk.domain.correction import Effect, Step
from m3desk.domain.evidence import FaceTrack, ObjectSeen, TextOnScreen, TimedBox, Utterance, Word
from m3desk.domain.forgetting import PersonForgotten, Way
from m3desk.domain.graph import EdgeRow, GraphSnapshot, NodeRow
from m3desk.domain.insight import Belonging, VoiceLink, Wall
from m3desk.domain.live import WatchRule
from m3desk.domain.memory import Sentence, Span, StoredSentence, TimelineSentence, Version
from m3desk.domain.people import Binding, Person, PresenceSpan, SpeechRow, SuggestedName, TrackRow
from m3desk.domain.questions.scorecard import Score
from m3desk.domain.questions.types import Reason, Suggestion, Verdict
from m3desk.errors import CorrectionError
from m3desk.ports import FoundNode
from tests.ui.live_fakes import LiveCalls, LiveWorld

WIDTH, HEIGHT = 960, 540
CLIP = 30 * MICROSECOND
NAMES = ("Ann", "Bob", None, "李梅", None, None, "Grace Hopper", None)
LINES = (
    "I'm Ann and this is the first time that we meet here.",
    "Thanks, Ann. I would like a green tea, please.",
    "We leave on Friday at nine if the weather holds.",
    "你好，我叫李梅，很高兴认识你。",
    "Nobody has seen the report since Tuesday.",
    "Place blue at F two now.",
    "That is not what the chart on the wall says.",
    "See you tomorrow then.",
)


def _picture(seed: int, width: int, height: int, face: bool = True) -> bytes:
    """Return a JPEG of a simple face (or a landscape) whose colours depend on the seed."""
    rng = np.random.default_rng(seed)
    image = np.empty((height, width, 3), np.uint8)
    image[:] = rng.integers(60, 160, 3)
    if face:
        centre, size = (width // 2, height // 2), (width // 4, height // 3)
        cv2.ellipse(image, centre, size, 0, 0, 360, tuple(int(c) for c in rng.integers(140, 230, 3)), -1, cv2.LINE_AA)
        for dx in (-1, 1):
            cv2.circle(image, (width // 2 + dx * width // 10, height * 9 // 20), max(2, width // 30), (40, 40, 40), -1, cv2.LINE_AA)
        cv2.ellipse(image, (width // 2, height * 5 // 8), (width // 10, height // 24), 0, 0, 180, (60, 60, 160), 2, cv2.LINE_AA)
    else:
        cv2.rectangle(image, (0, height * 2 // 3), (width, height), tuple(int(c) for c in rng.integers(30, 120, 3)), -1)
        cv2.circle(image, (int(rng.integers(width)), height // 4), height // 8, (80, 200, 240), -1, cv2.LINE_AA)
    return bytes(cv2.imencode(".jpg", image)[1])


def _boxes(person: int, start: int, end: int) -> tuple[TimedBox, ...]:
    """Return boxes every 0.2 s of a face that sways slowly."""
    size = 90 + 12 * (person % 3)
    left = 60 + (person % 4) * 220
    top = 90 + (person // 4) * 170
    step = MICROSECOND // 5
    return tuple(
        TimedBox(t, left + 40 * math.sin(t / 3e6 + person), top + 12 * math.cos(t / 2e6), float(size), size * 1.25)
        for t in range(start, end + 1, step)
    )


def _shown(person: int) -> str:
    if person == 2:
        return "Jeff Steen?"
    return NAMES[person] or f"Person {person + 1}"


class World(LiveWorld):
    """The invented memory: lists of rows, mutable so that corrections in tests can be seen."""

    def __init__(self, extra_nodes: int = 230) -> None:
        super().__init__()
        self.sequence = 10
        self.sources = [
            Source("s1", "/videos/meeting in the kitchen.mp4", 6 * CLIP, WIDTH, HEIGHT, 25.0, True, "ab" * 32, None, 48_000_000, "working"),
            Source("s2", "/videos/旅行 Ålesund.mkv", 95 * MICROSECOND, 1280, 720, 30.0, True, "cd" * 32, None, 21_000_000, "queued"),
            Source("s3", "/videos/broken.mp4", None, None, None, None, False, None, None, 0, "failed", "This file is not a video."),
        ]
        states = ("done", "done", "done", "done", "episodic", "queued")
        self.clips = [Clip(f"s1.c{i}", "s1", i, i * CLIP, (i + 1) * CLIP, states[i]) for i in range(6)]  # type: ignore[arg-type]
        self.clips += [Clip(f"s2.c{i}", "s2", i, i * CLIP, min((i + 1) * CLIP, 95 * MICROSECOND)) for i in range(4)]
        self.tracks: list[TrackRow] = []
        self.speech: list[SpeechRow] = []
        self.sentences: list[StoredSentence] = []
        self.objects: list[ObjectSeen] = []
        self.texts: list[TextOnScreen] = []
        self.media = {f"thumb.c{i}": _picture(900 + i, 160, 90, face=False) for i in range(6)}
        for i in range(5):
            self._fill_clip(self.clips[i])
        self._add_semantic()
        self.people = [self._person(i) for i in range(8)]
        self.extra = extra_nodes
        self.steps = [
            Step(
                1,
                4,
                "name",
                {"person": "person_1", "name": "Ann"},
                {},
                "2026-11-20T10:00:00+00:00",
                "user",
                None,
                False,
                "named Person 1 Ann",
            )
        ]
        self.chats: list[dict[str, Any]] = []
        self.waveforms: dict[str, bytes] = {}
        self.forgotten: list[tuple[str, int, int]] = []
        self.report: dict[str, Any] = {}
        self.questions = self._questions()

    def _questions(self) -> list[Suggestion]:
        """Return one question of each kind."""

        def ask(n: int, kind: Any, people: tuple[str, ...], groups: tuple[tuple[str, ...], ...], **more: Any) -> Suggestion:
            answers = ("merge", {"keep": people[0], "others": list(people[1:])}), ("distinct", {"a": people[0], "b": people[-1]})
            key = f"{kind}:{':'.join(people)}"
            return Suggestion(
                n, kind, key, people, groups, 0.6, 9.0 - n, "joins 12 faces, 9 memories read differently", "?", *answers, **more
            )

        return [
            ask(4711, "same", ("person_1", "person_5"), (("s1.c0.f0", "s1.c1.f0"), ("s1.c4.f0",))),
            ask(12, "two_people", ("person_2",), (("s1.c0.f1", "s1.c1.f0"), ("s1.c2.f0",))),
            ask(77, "link", ("person_1", "person_2"), (("s1.c0.f0",), ("s1.c0.u1",))),
            ask(78, "name", ("person_3",), (("s1.c1.f1", "s1.c2.f0"),), name="Jeff Steen"),
        ]

    def _fill_clip(self, clip: Clip) -> None:
        present = [(clip.index + k) % 8 for k in range(3)]
        for k, p in enumerate(present):
            start, end = clip.start + k * 2 * MICROSECOND, clip.end - (3 - k) * MICROSECOND
            crop = f"crop.p{p}.{clip.index}"
            self.media[crop] = _picture(p, 160, 160)
            track = FaceTrack(f"{clip.id}.f{k}", clip.id, start, end, _boxes(p, start, end), 0.93, 0.8, (crop,), (), k)
            self.tracks.append(TrackRow(track, f"n{p * 2 + 1}", f"person_{p + 1}", _shown(p)))
        for k in range(4):
            p, text = present[k % 2], LINES[(clip.index * 3 + k) % len(LINES)]
            start = clip.start + (2 + 7 * k) * MICROSECOND
            parts = text.split() if " " in text else list(text)
            step = 5 * MICROSECOND // len(parts)
            words = tuple(Word(start + i * step, start + (i + 1) * step, w) for i, w in enumerate(parts))
            said = Utterance(
                f"{clip.id}.u{k}", clip.id, start, words[-1].end, text, words, "zh" if "你" in text else "en", 0.86, None, k % 2
            )
            self.speech.append(SpeechRow(said, f"n{p * 2 + 2}", f"person_{p + 1}", _shown(p)))
            self._sentence(clip, start, words[-1].end, f"someone says “{text}”", p, said.id, "says")
        self._sentence(
            clip, clip.start, clip.end - MICROSECOND, "someone sits at the table and looks around", present[2], f"{clip.id}.f2", "appears"
        )
        self.objects.append(ObjectSeen(clip.id, clip.start, clip.end, "cup", 0.8, (400.0, 380.0, 60.0, 70.0)))
        self.texts.append(
            TextOnScreen(clip.id, clip.start, clip.start + 6 * MICROSECOND, "Host JEFF STEEN", 0.95, (60.0, 470.0, 300.0, 40.0))
        )

    def _sentence(self, clip: Clip, start: int, end: int, text: str, person: int, citation: str, event: str) -> None:
        n = len(self.sentences)
        name = f"person_{person + 1}"
        self.sentences.append(
            StoredSentence(
                f"m{n + 1}",
                "episodic",
                text,
                text.replace("someone", _shown(person), 1),
                text.replace("someone", f"<{name}>", 1),
                clip.id,
                clip.source,
                start,
                end,
                1.0,
                (name,),
                (citation,),
                (Span(0, 7, (citation,)),),
                event=event,
                model="rules 1",
            )
        )

    def _add_semantic(self) -> None:
        knowledge = (
            ("someone drinks green tea", 1, "habit"),
            ("someone leads the meeting", 0, "attribute"),
            ("someone and Ann are colleagues", 1, "relationship"),
            ("someone is from Chengdu", 3, "attribute"),
            ("the report has been missing since Tuesday", 4, "plot"),
            ("someone is tall", 2, "attribute"),
        )
        for k, (text, p, topic) in enumerate(knowledge):
            clip, name = self.clips[k % 4], f"person_{p + 1}"
            has = text.startswith("someone")
            self.sentences.append(
                StoredSentence(
                    f"k{k + 1}",
                    "semantic",
                    text,
                    text.replace("someone", _shown(p), 1),
                    text.replace("someone", f"<{name}>", 1),
                    clip.id,
                    "s1",
                    clip.start,
                    clip.end,
                    1.0 + k % 4,
                    (name,) if has else (),
                    (f"{clip.id}.u1",),
                    (),
                    topic,
                    model="qwen2.5-coder 1.5b",
                    pinned=k == 0,
                )
            )

    def _person(self, i: int) -> Person:
        mine = [r for r in self.tracks if r.person == f"person_{i + 1}"]
        said = [r for r in self.speech if r.person == f"person_{i + 1}"]
        times = sorted([r.track.start for r in mine] + [r.utterance.start for r in said])
        suggested = (SuggestedName("Jeff Steen", 0.8, ("screen:0-6",), "Host JEFF STEEN"),) if i == 2 else ()
        return Person(
            f"person_{i + 1}",
            i + 1,
            NAMES[i],
            "confirmed" if NAMES[i] else ("suggested" if suggested else "none"),
            _shown(i),
            suggested,
            (),
            (f"n{i * 2 + 1}",),
            (f"n{i * 2 + 2}",),
            ("s1", times[0]) if times else None,
            ("s1", times[-1]) if times else None,
            sum(r.track.end - r.track.start for r in mine),
            sum(r.utterance.end - r.utterance.start for r in said),
            tuple(dict.fromkeys(r.track.clip for r in mine)),
            False,
            mine[0].track.crops[0] if mine else None,
        )

    def graph(self) -> GraphSnapshot:
        nodes, edges = [], []
        for i, p in enumerate(self.people):
            nodes.append(
                NodeRow(f"n{i * 2 + 1}", "face", p.shown, "", float(p.screen_time) / 1e7, "s1.c0", "s1", 0, CLIP, p.id, (p.id,), p.portrait)
            )
            nodes.append(NodeRow(f"n{i * 2 + 2}", "voice", p.shown, "", float(p.speech_time) / 1e7, "s1.c0", "s1", 0, CLIP, p.id, (p.id,)))
            edges.append(EdgeRow(f"n{i * 2 + 1}", f"n{i * 2 + 2}", 1.0, "equivalence"))
        for s in self.sentences:
            nodes.append(NodeRow(s.id, s.kind, s.shown[:40], s.shown, s.weight, s.clip, s.source, s.start, s.end, None, s.people))  # type: ignore[arg-type]
            edges += [EdgeRow(s.id, f"n{int(p.split('_')[1]) * 2 - 1}", 1.0, "mentions") for p in s.people]
        nodes.append(NodeRow("o1", "object", "cup", "cup", 5.0, "s1.c0", "s1", 0, CLIP))
        nodes.append(NodeRow("o2", "place", "kitchen", "kitchen", 5.0, "s1.c0", "s1", 0, CLIP))
        rng = np.random.default_rng(7)
        for k in range(self.extra):
            clip = self.clips[k % 5]
            nodes.append(
                NodeRow(f"x{k}", "episodic", f"small event {k}", f"small event number {k}", 1.0, clip.id, "s1", clip.start, clip.end)
            )
            edges.append(EdgeRow(f"x{k}", f"n{int(rng.integers(8)) * 2 + 1}", 1.0, "mentions"))
            if k % 3 == 0:
                edges.append(EdgeRow(f"x{k}", ("o1", "o2")[k % 2], 1.0, "mentions"))
        return GraphSnapshot(tuple(nodes), tuple(edges), self.sequence)


class FakeReader:
    """Answers `ports.Reader` from a World."""

    def __init__(self, world: World, path: str = "/memories/kitchen.m3desk") -> None:
        self.world, self.path = world, path

    def version(self) -> int:
        return self.world.sequence

    def sources(self) -> list[Source]:
        return list(self.world.sources)

    def clips(self, source: str | None = None) -> list[Clip]:
        return [c for c in self.world.clips if source in (None, c.source)]

    def clips_of(self, ids: Collection[str]) -> list[Clip]:
        return [c for c in self.world.clips if c.id in ids]

    def clips_between(self, source: str, start: int, end: int) -> list[Clip]:
        return [c for c in self.clips(source) if c.end > start and c.start < end]

    def thumbnails(self, clips: Collection[str]) -> dict[str, str]:
        return {c: media for c in clips if (media := self.thumbnail(c)) is not None}

    def thumbnail(self, clip: str) -> str | None:
        media = f"thumb.{clip.split('.')[1]}" if clip.startswith("s1.") else None
        return media if media in self.world.media else None

    def tracks(self, source: str, start: int | None = None, end: int | None = None) -> list[TrackRow]:
        return [
            r
            for r in self.world.tracks
            if r.track.id.startswith(source + ".") and (end is None or r.track.start < end) and (start is None or r.track.end > start)
        ]

    def speech(self, source: str, start: int | None = None, end: int | None = None) -> list[SpeechRow]:
        return [
            r
            for r in self.world.speech
            if r.utterance.id.startswith(source + ".")
            and (end is None or r.utterance.start < end)
            and (start is None or r.utterance.end > start)
        ]

    def tracks_of(self, ids: Collection[str]) -> list[TrackRow]:
        return [r for r in self.world.tracks if r.track.id in ids]

    def speech_of(self, ids: Collection[str]) -> list[SpeechRow]:
        return [r for r in self.world.speech if r.utterance.id in ids]

    def objects(self, source: str, start: int | None = None, end: int | None = None) -> list[ObjectSeen]:
        return [o for o in self.world.objects if o.clip.startswith(source + ".")]

    def texts(self, source: str, start: int | None = None, end: int | None = None) -> list[TextOnScreen]:
        return [t for t in self.world.texts if t.clip.startswith(source + ".")]

    def people(self) -> list[Person]:
        return list(self.world.people)

    def people_of(self, ids: Collection[str]) -> list[Person]:
        return [p for p in self.world.people if p.id in ids]

    def person(self, ref: str) -> Person:
        for p in self.world.people:
            if ref in (p.id, str(p.number), f"Person {p.number}", p.name, *p.aliases):
                return p
        raise CorrectionError(f"Nobody here is called {ref}.", "See `m3desk people list`.")

    def memories(
        self, *, kind: str | None = None, person: str | None = None, source: str | None = None, clip: str | None = None
    ) -> list[StoredSentence]:
        rows = [
            s
            for s in self.world.sentences
            if kind in (None, s.kind) and (person is None or person in s.people) and source in (None, s.source) and clip in (None, s.clip)
        ]
        return sorted(rows, key=lambda s: (s.source, s.start, s.id))

    def memories_of(self, ids: Collection[str]) -> list[StoredSentence]:
        return [s for s in self.world.sentences if s.id in ids]

    def presence(self, clips: Collection[str]) -> list[PresenceSpan]:
        tracks = [(r, r.track, False) for r in self.world.tracks]
        speech = [(r, r.utterance, True) for r in self.world.speech]
        return [
            PresenceSpan(t.clip, r.person, t.start, t.end, heard)
            for r, t, heard in (*tracks, *speech)
            if r.person and not r.set_aside and t.clip in clips
        ]

    def moments(self, clips: Collection[str]) -> list[TimelineSentence]:
        return [TimelineSentence(s.clip, s.start, s.end, s.id, s.kind, s.shown) for s in self.memories() if s.clip in clips]

    def sentence(self, node: str) -> StoredSentence:
        for s in self.world.sentences:
            if s.id == node:
                return s
        raise KeyError(node)

    def node(self, id_: str) -> NodeRow:
        for n in self.world.graph().nodes:
            if n.id == id_:
                return n
        raise KeyError(id_)

    def neighbours(self, id_: str) -> list[EdgeRow]:
        return [e for e in self.world.graph().edges if id_ in (e.a, e.b)]

    def graph(self) -> GraphSnapshot:
        return self.world.graph()

    def nodes_of(self, ids: Collection[str]) -> list[NodeRow]:
        return [n for n in self.world.graph().nodes if n.id in ids]

    def edges_of(self, keys: Collection[tuple[str, str, str]]) -> list[EdgeRow]:
        return [e for e in self.world.graph().edges if (e.a, e.b, e.kind) in keys]

    def bindings(self, observation: str | None = None, node: str | None = None) -> list[Binding]:
        rows = [
            Binding(r.track.id, r.node or "", 0.71, "n3", 0.2, "sface 2021dec", "2026-11-20T10:00:00+00:00", 3) for r in self.world.tracks
        ]
        return [b for b in rows if observation in (None, b.observation) and node in (None, b.node)]

    def journal(self) -> list[Step]:
        return list(self.world.steps)

    def suggestions(self) -> list[Suggestion]:
        return list(self.world.questions)

    def why(self, observation: str) -> Verdict:
        votes = (Reason("likeness", "s1.c1.f0", 0.82, "looks like s1.c1.f0 (0.82)"),)
        return Verdict(observation, "n1", "person_1", 0.71, "person_2", 0.2, "sface 2021dec", votes, flips="s1.c1.f0")

    def chats(self, newest: int | None = None) -> list[dict[str, Any]]:
        return list(self.world.chats)[-(newest or len(self.world.chats)) :]

    def bookmarks(self) -> list[Bookmark]:
        steps = [s for s in self.world.steps if not s.undone]
        found = [
            Bookmark(id_, last.args["source"], last.args["start"], last.args["end"], last.args["text"], added.at, added.by)
            for id_, (added, last) in in_place(steps).items()
        ]
        return sorted(found, key=lambda b: (b.source or "", b.start))

    def waveform(self, source: str) -> bytes | None:
        return self.world.waveforms.get(source)

    def forgotten_spans(self) -> list[tuple[str, int, int]]:
        return list(self.world.forgotten)

    def watches(self) -> list[WatchRule]:
        return list(self.world.rules)

    def consents(self) -> dict[str, str]:
        return dict(self.world.notes)

    def media(self, id_: str) -> bytes | None:
        return self.world.media.get(id_)

    def close(self) -> None:
        pass


def _done(value: Any) -> Future[Any]:
    future: Future[Any] = Future()
    if isinstance(value, Exception):
        future.set_exception(value)
    else:
        future.set_result(value)
    return future


COMMITS = (events.ClipCommitted, events.Corrected, events.SourceQueued, events.SourceChanged)


class FakeDesk(LiveCalls):
    """Answers `ports.Desk`: notes each command in `calls`, applies the simplest effect to its World and tells it by events."""

    def __init__(self, world: World | None = None, *, memory: str = "/memories/kitchen.m3desk") -> None:
        super().__init__()
        self.world = world or World()
        self.memory = memory
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.fail: dict[str, Exception] = {}
        self.versions: dict[str, Version] = {}
        self.forgotten = PersonForgotten(
            {}, (), searched={"tables": 30, "cells": 1200, "index_rows": 40, "files": 20, "bytes": 4_200_000, "pictures": 80, "sounds": 12}
        )
        self.kept_apart = [Wall(1, "2026-11-20T11:00:00+00:00", "keeps Ann and Bob apart", "twins", "person_1", "person_2", "kept")]
        joined = VoiceLink("n1", "n2", 3.0, (("lips", 2.0), ("alone in view", 1.0)), True)
        self.linked = [joined, VoiceLink("n1", "n4", 0.5, (("in turn", 0.5),), False)]
        self.sure = Belonging(0.97, 66, (("s1.c1.f0", 0.62), ("s1.c0.f0", 0.9)))
        self.report_of_truth: dict[str, Any] = {}
        self.importing: Future[dict[str, Any]] | None = None
        self._heard: list[Callable[[Any], None]] = []
        self._lock = threading.Lock()
        self._asks = 0
        self._version = 0

    def _note(self, name: str, *args: Any, **kw: Any) -> None:
        self.calls.append((name, args, kw))

    def called(self, name: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Return the arguments of each call of a command so far."""
        return [(a, k) for n, a, k in self.calls if n == name]

    def emit(self, *happened: Any) -> None:
        """Send events from another thread, as the engine does; return once they were handed over.

        Tests change the world by hand, so what is told with an event of a commit is that anything may have changed.
        """
        if any(isinstance(e, COMMITS) for e in happened) and not any(isinstance(e, events.MemoryChanged) for e in happened):
            self._version += 1
            changed = events.MemoryChanged(Changed(self._version - 1, self._version, whole=True))
            happened = (*happened, changed, events.Suggested(self._version, len(self.world.questions)))

        def send() -> None:
            for event in happened:
                for heard in list(self._heard):
                    heard(event)

        thread = threading.Thread(target=send)
        thread.start()
        thread.join()

    def subscribe(self, on_event: Callable[[Any], None]) -> Callable[[], None]:
        self._heard.append(on_event)
        self.emit(
            events.EngineReady(self.memory, "CPU, 2 threads", "embedded", {"language": "m3desk models pull --llm"}),
            events.Suggested(self._version, len(self.world.questions)),
        )
        return lambda: self._heard.remove(on_event) if on_event in self._heard else None

    def reader(self, *, before: tuple[str, int] | None = None, believed_at: str | None = None) -> FakeReader:
        if before is not None or believed_at is not None:
            self._note("earlier", before, believed_at)
        return FakeReader(self.world, self.memory)

    def memorize(self, paths: Sequence[str]) -> Future[list[str]]:
        self._note("memorize", list(paths))
        ids = []
        for path in paths:
            id_ = f"s{len(self.world.sources) + 1}"
            self.world.sources.append(Source(id_, path, 60 * MICROSECOND, WIDTH, HEIGHT, 25.0, True, None))
            ids.append(id_)
            self.emit(events.SourceQueued(id_, path))
        return _done(ids)

    def _state(self, source: str, state: str) -> None:
        self.world.sources = [replace(s, state=state) if s.id == source else s for s in self.world.sources]  # type: ignore[arg-type]
        self.emit(events.SourceChanged(source, state))

    def pause(self, paused: bool) -> None:
        self._note("pause", paused)
        self._state("s1", "paused" if paused else "working")

    def cancel(self, source: str) -> None:
        self._note("cancel", source)
        self._state(source, "cancelled")

    def retry(self, source: str) -> None:
        self._note("retry", source)
        self._state(source, "queued")

    def move(self, source: str, to: int) -> None:
        self._note("move", source, to)

    def remove_source(self, source: str, *, dry_run: bool = False) -> Future[Effect]:
        self._note("remove_source", source, dry_run=dry_run)
        if not dry_run:
            self.world.sources = [s for s in self.world.sources if s.id != source]
            self.emit(events.SourceChanged(source, "removed"))
        return _done(Effect("removes 6 clips, 22 memories and 3 people who appear nowhere else"))

    def relink(self, source: str, path: str) -> Future[None]:
        self._note("relink", source, path)
        return _done(self.fail.get("relink"))

    def queue(self) -> Future[list[str]]:
        return _done([s.id for s in self.world.sources if s.state == "queued"])

    def ask(self, question: str, *, source: str | None = None, start: int | None = None, end: int | None = None) -> str:
        self._note("ask", question, source=source, start=start, end=end)
        self._asks += 1
        ask = f"a{self._asks}"
        cited = events.Citation("s1.c1", "s1", 37 * MICROSECOND, 42 * MICROSECOND, "m2", "[00:37]")
        self.emit(
            events.AskStarted(ask, question),
            events.AskRound(
                ask,
                1,
                "search",
                "what does Bob drink",
                ("m2", "k1"),
                ("[00:37] Bob says “…green tea, please.”", "Bob drinks green tea"),
                0.8,
            ),
            events.AskText(ask, "Bob asked for "),
            events.AskText(ask, "green tea [00:37]."),
            events.AskDone(ask, "Bob asked for green tea [00:37].", True, (cited,), "qwen2.5-coder 1.5b", 2.1),
        )
        return ask

    def stop_asking(self, ask: str) -> None:
        self._note("stop_asking", ask)

    def search(self, text: str, k: int = 20) -> Future[list[FoundNode]]:
        self._note("search", text, k)
        hits = [s for s in self.world.sentences if text.lower() in s.shown.lower()][:k]
        return _done([FoundNode(s.id, s.kind, s.shown, 0.9, f"words: {text}", s.clip, s.source, s.start, s.end, s.people) for s in hits])

    def search_sample(self, path: str, k: int = 20) -> Future[list[FoundNode]]:
        self._note("search_sample", path, k)
        if "search_sample" in self.fail:
            return _done(self.fail["search_sample"])
        return _done([FoundNode("n1", "face", "Ann", 0.8, "face alike 0.80", None, None, None, None, ("person_1",))])

    def correct(self, kind: str, args: Mapping[str, Any], *, why: str | None = None, dry_run: bool = False) -> Future[Effect]:
        self._note("correct", kind, dict(args), why=why, dry_run=dry_run)
        if kind in self.fail:
            return _done(self.fail[kind])
        text = f"{kind}: changes 3 memories"
        if dry_run:
            return _done(Effect(text, memories=("m1", "m2", "m3")))
        self._apply(kind, dict(args))
        step = len(self.world.steps) + 1
        if kind == "bookmark":
            old = next((b for b in self.reader().bookmarks() if b.id == args.get("bookmark")), None)
            args = {"bookmark": bookmark_id(step), "source": "s1", "text": "", "end": args.get("start", 0), **args}
            args = args if old is None else {**args, "source": old.source, "start": old.start, "end": old.end}
        self.world.sequence += 1
        self.world.steps.append(
            Step(step, self.world.sequence, kind, dict(args), {}, "2026-11-20T11:00:00+00:00", "user", why, False, text)
        )
        self.emit(events.Corrected(step, kind, text, True, False))
        return _done(Effect(text, memories=("m1", "m2", "m3"), step=step))

    def _answer(self, verb: str, n: int) -> Future[Effect]:
        self._note(verb, n)
        self.world.questions = [q for q in self.world.questions if q.n != n]
        self.world.sequence += 1
        self.emit(events.Corrected(9, verb, f"{verb} {n}", True, False))
        return _done(Effect(f"{verb}s {n}", step=9))

    def picture(self, source: str, at: int, width: int = 480) -> Future[bytes | None]:
        self._note("picture", source, at)
        return _done(_picture(7, 160, 90, face=False))

    def suggestions(self) -> Future[list[Suggestion]]:
        self._note("suggestions")
        return _done(list(self.world.questions))

    def why(self, observation: str) -> Future[Verdict]:
        self._note("why", observation)
        return _done(self.reader().why(observation))

    def make_waveform(self, source: str) -> Future[bool]:
        self._note("make_waveform", source)
        self.world.waveforms[source] = bytes([40, 200]) * 9_000
        return _done(True)

    def writers(self) -> Future[list[str]]:
        return _done(["rules", "server"])

    def compare(self, clip: str) -> Future[Any]:
        self._note("compare", clip)
        return _done(([s for s in self.world.sentences if s.clip == clip], self.versions.get(clip)))

    def rewrite(self, clips: Sequence[str], writer: str) -> Future[dict[str, str]]:
        self._note("rewrite", tuple(clips), writer)
        if writer in self.fail:
            return _done({clips[0]: str(self.fail[writer])})
        told = Sentence("someone plays the violin.", "episodic", 0, 5_000_000)
        self.versions[clips[0]] = Version(clips[0], f"watched by {writer}: m, prompt watch-1", "", (told,), ("Ann plays the violin.",))
        return _done({})

    def drop_version(self, clip: str) -> Future[bool]:
        self._note("drop_version", clip)
        return _done(self.versions.pop(clip, None) is not None)

    def accept(self, n: int, *, dry_run: bool = False) -> Future[Effect]:
        return self._answer("accept", n)

    def reject(self, n: int, *, dry_run: bool = False) -> Future[Effect]:
        return self._answer("reject", n)

    def _apply(self, kind: str, args: dict[str, Any]) -> None:
        if kind == "name":
            self.world.people = [
                replace(p, name=args["name"], shown=args["name"], name_state="confirmed") if p.id == args["person"] else p
                for p in self.world.people
            ]
        elif kind == "assign":
            who = args.get("person")
            shown = next((p.shown for p in self.world.people if p.id == who), args.get("name") or "Person 9")
            chosen = set(args["observations"])
            self.world.tracks = [
                replace(r, person=who or "person_9", shown=shown) if r.track.id in chosen else r for r in self.world.tracks
            ]
            self.world.speech = [
                replace(r, person=who or "person_9", shown=shown) if r.utterance.id in chosen else r for r in self.world.speech
            ]
        elif kind == "set-aside":
            chosen = set(args["observations"])
            self.world.tracks = [replace(r, set_aside=True) if r.track.id in chosen else r for r in self.world.tracks]

    def _undo_step(self, undone: bool) -> Future[Effect]:
        for i in reversed(range(len(self.world.steps))):
            step = self.world.steps[i]
            if step.undone is not undone:
                self.world.steps[i] = replace(step, undone=undone)
                self.world.sequence += 1
                self.emit(events.Corrected(step.step, "undo" if undone else "redo", step.text, i > 0 or not undone, undone))
                return _done(Effect(step.text, step=step.step))
        return _done(CorrectionError("There is nothing to undo." if undone else "There is nothing to redo."))

    def undo(self) -> Future[Effect]:
        self._note("undo")
        return self._undo_step(True)

    def redo(self) -> Future[Effect]:
        self._note("redo")
        return self._undo_step(False)

    def revert(self, step: int) -> Future[Effect]:
        self._note("revert", step)
        return _done(Effect(f"takes back step {step}", step=len(self.world.steps) + 1))

    def models(self) -> Future[list[dict[str, Any]]]:
        rows = [
            ("yunet", 232_589, "MIT", "ready", ""),
            ("sface", 9_700_000, "Apache-2.0", "ready", ""),
            ("whisper-base", 145_000_000, "MIT", "ready", ""),
            ("ssd-mobilenet-v2", 69_000_000, "Apache-2.0", "missing", ""),
            ("qwen2.5-coder-1.5b", 1_120_000_000, "Apache-2.0", "missing", "llm"),
            ("demo", 9_000_000, "public domain", "ready", "demo"),
        ]
        return _done(
            [
                {
                    "name": n,
                    "version": "1",
                    "profile": g or "embedded",
                    "bytes": b,
                    "licence": lic,
                    "sha256": "0" * 64,
                    "state": st,
                    "path": f"/models/{n}" if st == "ready" else None,
                }
                for n, b, lic, st, g in rows
            ]
        )

    def stop_pulling(self) -> None:
        self._note("stop_pulling")

    def remove_model(self, name: str) -> Future[None]:
        self._note("remove_model", name)
        return _done(None)

    def check(self) -> Future[dict[str, Any]]:
        self._note("check")
        return _done({"ok": True, **self.world.report})

    def pull(self, *, llm: bool = False, names: Sequence[str] = ()) -> Future[None]:
        self._note("pull", llm=llm, names=tuple(names))
        if "pull" in self.fail:
            return _done(self.fail["pull"])
        for name in names or ("ssd-mobilenet-v2",):
            self.emit(events.Downloading(name, 5, 10, "working"), events.Downloading(name, 10, 10, "done"))
        return _done(None)

    def doctor(self) -> Future[dict[str, Any]]:
        return _done(
            {
                "python": "3.11.7",
                "platform": "Linux",
                "cpu": "2 cores",
                "memory_bytes": 8 << 30,
                "gpus": [],
                "display": True,
                "profiles": [{"name": "embedded", "ready": True, "reason": "about 2× real time"}],
                "cameras": [],
                "microphones": [],
            }
        )

    def walls(self) -> Future[list[Wall]]:
        self._note("walls")
        return _done(list(self.kept_apart))

    def links_of(self, person: str) -> Future[list[VoiceLink]]:
        self._note("links_of", person)
        return _done(list(self.linked))

    def belonging(self, person: str) -> Future[Belonging]:
        self._note("belonging", person)
        return _done(self.fail.get("belonging", self.sure))

    def scorecard_pairs(self, count: int = 20) -> Future[list[tuple[str, str]]]:
        self._note("scorecard_pairs", count)
        seen, heard = [r.track.id for r in self.world.tracks], [r.utterance.id for r in self.world.speech]
        return _done([(seen[0], seen[1]), (seen[0], seen[2]), (heard[0], heard[1])][:count])

    def score(self, answers: Mapping[tuple[str, str], bool]) -> Future[Score]:
        self._note("score", dict(answers))
        return _done(Score((0.88, 0.97, 1.0), (0.7, 0.85, 0.93), len(answers)))

    def evaluate(self, files: Sequence[str]) -> Future[dict[str, Any]]:
        self._note("evaluate", tuple(files))
        return _done(self.fail.get("evaluate", self.report_of_truth))

    def forget_person(self, person: str, way: Way = "forget", *, sources: bool = False, dry_run: bool = False) -> Future[PersonForgotten]:
        self._note("forget_person", person, way, sources=sources, dry_run=dry_run)
        if "forget_person" in self.fail:
            return _done(self.fail["forget_person"])
        counts = {"observations": 12, "memories": 9, "pictures_and_sounds": 15, "names": 1, "steps": 2}
        shown = tuple(s.uri for s in self.world.sources)
        if dry_run:
            return _done(PersonForgotten(counts, shown, ("removes 6 clips and 22 memories",) if sources else ()))
        self.world.people = [p for p in self.world.people if p.id != person]
        self.emit(events.Corrected(0, "forget", f"forgets {person}", False, False))
        return _done(replace(self.forgotten, counts=counts, sources=() if sources else shown))

    def import_file(self, path: str) -> Future[dict[str, Any]]:
        self._note("import_file", path)
        if self.importing is not None:  # a test ends it
            return self.importing
        return _done(self.fail.get("import_file", {"clips": 74, "people": 13, "memories": 2430}))

    def stop_import(self) -> None:
        self._note("stop_import")

    def export(self, path: str, format_: str | None = None, source: str | None = None) -> Future[bool]:
        self._note("export", path, format_, source)
        return _done(bool(self.world.speech))

    def export_clip(self, path: str, source: str, start: int, end: int) -> Future[bool]:
        self._note("export_clip", path, source, start, end)
        return _done(True)

    def close(self) -> None:
        self._note("close")


class FakePlayer:
    """A player of an invented video: a picture with a moving stripe, 25 a second, in its own thread. See `m3desk_ui.video.video_view`."""

    def __init__(self, on_frame: Callable[[Any], None], on_state: Callable[[Any], None]) -> None:
        self.on_frame, self.on_state = on_frame, on_state
        self.calls: list[tuple[Any, ...]] = []
        self.at, self.playing, self.speed = 0, False, 1.0
        self.duration = 6 * CLIP
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def frame(self, at: int) -> np.ndarray:
        """Return the BGRA picture at a time: the same each time."""
        picture = np.full((HEIGHT, WIDTH, 4), (70, 55, 45, 255), np.uint8)
        cv2.rectangle(picture, (0, HEIGHT * 2 // 3), (WIDTH, HEIGHT), (50, 80, 60, 255), -1)
        for p in range(8):
            box = _boxes(p, at, at)[0]
            centre = (int(box.x + box.width / 2), int(box.y + box.height / 2))
            cv2.ellipse(
                picture,
                centre,
                (int(box.width / 2), int(box.height / 2)),
                0,
                0,
                360,
                (150 + p * 10, 190, 220 - p * 8, 255),
                -1,
                cv2.LINE_AA,
            )
        cv2.line(picture, (at // 40_000 % WIDTH, HEIGHT - 10), (at // 40_000 % WIDTH + 40, HEIGHT - 10), (255, 255, 255, 255), 4)
        return picture

    def _show(self) -> None:
        self.on_frame(FakeFrame(self.at, self.frame(self.at)))

    def _tell(self) -> None:
        self.on_state(FakeState(self.path, self.playing, self.at, self.duration))

    def _run(self) -> None:
        while not self._stop.wait(0.04 / max(0.1, self.speed)):
            if self.playing:
                self.at = min(self.duration, self.at + 40_000)
                self._show()

    def open(self, path: str) -> None:
        self.calls.append(("open", path))
        self.path, self.at, self.duration = path, 0, 6 * CLIP
        if not self._thread.is_alive():
            self._thread.start()
        self._show()
        self._tell()

    def play(self) -> None:
        self.calls.append(("play",))
        self.playing = True
        self._tell()

    def pause(self) -> None:
        self.calls.append(("pause",))
        self.playing = False
        self._tell()

    def seek(self, at: int) -> None:
        self.calls.append(("seek", at))
        self.at = at
        self._show()

    def stop_seeking(self) -> None:
        self.calls.append(("stop seeking",))

    def step(self, frames: int = 1) -> None:
        self.calls.append(("step", frames))
        self.at = max(0, self.at + 40_000 * frames)
        self._show()

    def set_speed(self, speed: float) -> None:
        self.calls.append(("speed", speed))
        self.speed = speed

    def set_volume(self, volume: float) -> None:
        self.calls.append(("volume", volume))

    def set_muted(self, muted: bool) -> None:
        self.calls.append(("muted", muted))

    def set_target_size(self, width: int, height: int) -> None:
        self.calls.append(("size", width, height))

    def scrub(self, at: int) -> None:
        self.calls.append(("scrub", at))
        self.at = at
        self._show()

    @property
    def position(self) -> int:
        return self.at

    def close(self) -> None:
        self._stop.set()


@dataclass(frozen=True, slots=True)
class FakeFrame:
    at: int
    picture: np.ndarray


@dataclass(frozen=True, slots=True)
class FakeState:
    path: str
    playing: bool
    position: int
    duration: int
    width: int = WIDTH
    height: int = HEIGHT
    has_picture: bool = True
    has_sound: bool = True
    seeking: float | None = None
    silent_reason: str | None = "no sound device here"
    error: str | None = None
    ended: bool = False
