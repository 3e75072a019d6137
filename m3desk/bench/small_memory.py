"""A small memory made without models, for benchmarks that kill: people in two films, with pictures, sounds, names and searchable words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from m3desk.domain.clip import Clip, Source
from m3desk.domain.evidence import FaceTrack, Floats, ObjectSeen, Perceived, TextOnScreen, TimedBox, Utterance, Word, media_id
from m3desk.domain.ids import clip_id, face_id, utterance_id
from m3desk.domain.memory import Draft, HeardName, Sentence, Span, Vote
from m3desk.perception.voices import flac
from m3desk.store.memory import Memory

S = 1_000_000
AT = "2026-11-21T08:00:00.000+00:00"
MODELS = {"face_vectors": "sface 2021dec", "voice_vectors": "campplus 1", "text_vectors": "none"}
CLIPS = 6
NAMES = ("Grace Hopper", "Ada Lovelace", "Edith Clarke", "Joan Clarke")
SAYS = (
    "My grandmother kept her bees behind the old lighthouse.",
    "The engine weaves patterns as a loom weaves flowers.",
    "A calculator for the lines was my first patent of all.",
    "We worked in hut eight and never spoke about it after.",
)


def make(folder: Path) -> Path:
    """Make the memory: two sources of six clips, four people of whom two show and speak in each clip, named and spoken of in a chat."""
    with Memory.create(folder) as memory:
        for film in ("a", "b"):
            source = memory.add_source(Source("", f"/videos/{film}.mp4", CLIPS * 30 * S, 640, 360, 25.0, True, film * 64, None, 1000)).id
            clips = [Clip(clip_id(source, i), source, i, i * 30 * S, (i + 1) * 30 * S) for i in range(CLIPS)]
            memory.plan_clips(source, clips, fps=5.0)
            for i, clip in enumerate(clips):
                perceived, draft = _seen(clip, (i % 4, (i + 1 + (film == "b")) % 4))
                memory.commit_episodic(clip, perceived, draft, models=MODELS, at=AT)
            memory.set_source(source, state="done")
        people = {NAMES[_first(memory, p.id)]: p.id for p in memory.people()}
        for name, person in people.items():
            memory.correct("name", {"person": person, "name": name}, at=AT)
        memory.correct("add", {"text": f"<{people[NAMES[0]]}> likes <{people[NAMES[1]]}>."}, at=AT)
        chat = {"ask": "1", "question": f"Where is {NAMES[0]}?", "answer": "Here.", "found": True, "at": AT, "rounds": [], "citations": []}
        memory.add_chat(chat)
    return folder


def _first(memory: Memory, person: str) -> int:
    """Return which of the invented people a person is, by what they say first."""
    return SAYS.index(next(r.utterance.text for s in memory.sources() for r in memory.speech(s.id) if r.person == person))


def _seen(clip: Clip, people: Sequence[int]) -> tuple[Perceived, Draft]:
    faces, speech, told, votes, names = [], [], [], [], []
    vectors: dict[str, Floats] = {}
    media: dict[str, bytes] = {}
    for k, who in enumerate(people):
        t = clip.start + 8 * k * S
        f, u, said = face_id(clip.id, k), utterance_id(clip.id, k), SAYS[who]
        crop = _picture(f, 96)
        sound = flac(_noise(u).normal(0, 0.05, 16000).astype(np.float32))
        media |= {media_id(crop, ".jpg"): crop, media_id(sound, ".flac"): sound}
        boxes = tuple(TimedBox(t + i * S // 5, 10.0 + 200 * k, 20.0, 40.5, 50.0) for i in range(30))
        faces.append(FaceTrack(f, clip.id, t, t + 6 * S, boxes, 0.9, 0.8, (media_id(crop, ".jpg"),), (((40.0, 40.0),) * 5,), k))
        words = tuple(Word(t + S + i * S // 4, t + S + (i + 1) * S // 4, w) for i, w in enumerate(said.split()))
        speech.append(Utterance(u, clip.id, t + S, t + 5 * S, said, words, "en", 0.9, media_id(sound, ".flac"), k))
        vectors[f], vectors[u] = _direction(who, f, 128, 1), _direction(who, u, 192, 2)
        votes.append(Vote(f, u, "alone in view", 1.0))
        told.append(Sentence("someone appears", "episodic", t, t + S, (Span(0, 7, (f,)),), (f,), ("cup",), event="appears"))
        text = f"someone says: “{said}”"
        told.append(Sentence(text, "episodic", t + S, t + 5 * S, (Span(0, 7, (u, f)),), (u,), (), ((14, len(text)),), event="says"))
        if clip.index == 0:
            names.append(HeardName(f, NAMES[who], 0.7, "introduced", u, f"I'm {NAMES[who]}", t))
    thumb = _picture(f"{clip.id} thumbnail", 160)
    media[media_id(thumb, ".jpg")] = thumb
    perceived = Perceived(
        clip.id, tuple(faces), tuple(speech), (ObjectSeen(clip.id, clip.start, clip.end, "cup", 0.7, (1.0, 2.0, 3.0, 4.0)),),
        (TextOnScreen(clip.id, clip.start, clip.end, f"Host: {NAMES[people[0]]}", 0.9, (5.0, 6.0, 7.0, 8.0)),), vectors, media,
        frozenset({(faces[0].id, faces[1].id)}), media_id(thumb, ".jpg"), (), {"motion": 0.25},
    )  # fmt: skip
    return perceived, Draft(tuple(sorted(told, key=lambda s: s.start)), tuple(votes), tuple(names), "rules 1")


def _noise(name: str) -> np.random.Generator:
    return np.random.default_rng(list(name.encode()))


def _picture(name: str, size: int) -> bytes:
    import cv2

    done, data = cv2.imencode(".jpg", _noise(name).integers(0, 255, (size, size, 3), np.uint8))
    assert done
    return data.tobytes()


def _direction(who: int, observation: str, d: int, modality: int) -> Floats:
    """Return three unit rows close to somebody's own direction, far from everybody else's."""
    own = np.random.default_rng(1000 * modality + who).normal(size=d)
    rows = own / np.linalg.norm(own) + 0.1 * _noise(observation).normal(size=(3, d)) / np.sqrt(d)
    unit: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


__all__ = ["NAMES", "SAYS", "make"]
