"""A small memory made without models: three people in three clips, with hostile texts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from m3desk.domain.clip import Clip, Source
from m3desk.domain.evidence import FaceTrack, Floats, ObjectSeen, Perceived, TextOnScreen, TimedBox, Utterance, Word, media_id
from m3desk.domain.ids import clip_id, face_id, utterance_id
from m3desk.domain.memory import Draft, HeardName, Sentence, Span, Vote
from m3desk.errors import CorrectionError
from m3desk.store.memory import Memory

S = 1_000_000
AT = "2026-11-21T08:00:00.000+00:00"
MODELS = {"face_vectors": "sface 2021dec", "voice_vectors": "campplus 1", "text_vectors": "none"}

Say = Callable[[str], str]
"""Gives the words for a place (name, said, screen, thing, uri, topic, why …); the same place may get others each time."""


def plain(place: str) -> str:
    """Give harmless words."""
    return {"name": "Ann", "said": "We drink tea.", "screen": "GATE 12", "thing": "cup", "uri": "film", "error": "no picture"}.get(
        place, "tea"
    )


def make(folder: Path, say: Say = plain, *, named: bool = True) -> Path:
    """Make a memory of one source of 90 s, where `say` gives every word that a film, a file name or a user could bring."""
    with Memory.create(folder) as memory:
        uri = f"/videos/{say('uri')}.mp4"
        source = memory.add_source(Source("", uri, 90 * S, 640, 360, 25.0, True, "a" * 64, None, 1000)).id
        clips = [Clip(clip_id(source, i), source, i, i * 30 * S, (i + 1) * 30 * S) for i in range(3)]
        memory.plan_clips(source, clips, fps=5.0)
        for clip, people in zip(memory.next_clips(source)[:2], [(1, 2), (1, 3)], strict=True):
            perceived, draft = _seen(clip, people, say)
            memory.commit_episodic(clip, perceived, draft, models=MODELS, at=AT)
        memory.mark_clip(f"{source}.c2", "failed", say("error"))
        memory.set_source(source, state="partial", error=say("error"))
        if named:
            for person in ("person_1", "person_2"):
                with contextlib.suppress(CorrectionError):  # a name that the store refuses
                    memory.correct("name", {"person": person, "name": say("name")}, why=say("why"), at=AT)
        with contextlib.suppress(CorrectionError):
            memory.correct("add", {"text": f"{say('said')} <person_1>"}, why=say("why"), at=AT)
        chat = {"ask": "1", "question": say("said"), "answer": say("said"), "found": True, "at": AT, "rounds": [], "citations": []}
        memory.add_chat(chat)
    return folder


def _seen(clip: Clip, people: Sequence[int], say: Say) -> tuple[Perceived, Draft]:
    faces, speech, told, votes, names = [], [], [], [], []
    vectors: dict[str, Floats] = {}
    media: dict[str, bytes] = {}
    for k, who in enumerate(people):
        t = clip.start + 8 * k * S
        crop = f"face {who} {clip.id}".encode()
        media[media_id(crop, ".jpg")] = crop
        f, u, words = face_id(clip.id, k), utterance_id(clip.id, k), say("said")
        boxes = tuple(TimedBox(t + i * S // 5, 10.0 * who, 20.0, 40.5, 50.0) for i in range(30))
        faces.append(FaceTrack(f, clip.id, t, t + 6 * S, boxes, 0.9, 0.8, (media_id(crop, ".jpg"),), (((1.0, 2.0),) * 5,), k))
        speech.append(Utterance(u, clip.id, t + S, t + 5 * S, words, (Word(t + S, t + 5 * S, words),), "en", 0.9, None, k))
        vectors[f], vectors[u] = _direction(who, 128, 1), _direction(who, 192, 2)
        votes.append(Vote(f, u, "alone in view", 1.0))
        told.append(Sentence("someone appears", "episodic", t, t + S, (Span(0, 7, (f,)),), (f,), (say("thing"),), event="appears"))
        text = f"someone says: “{words}”"
        told.append(Sentence(text, "episodic", t + S, t + 5 * S, (Span(0, 7, (u, f)),), (u,), (), ((14, len(text)),), event="says"))
        names.append(HeardName(f, say("name"), 0.7, "introduced", u, words, t))
    thumb = f"thumbnail {clip.id}".encode()
    media[media_id(thumb, ".jpg")] = thumb
    perceived = Perceived(
        clip.id, tuple(faces), tuple(speech), (ObjectSeen(clip.id, clip.start, clip.end, say("thing"), 0.7, (1.0, 2.0, 3.0, 4.0)),),
        (TextOnScreen(clip.id, clip.start, clip.end, say("screen"), 0.9, (5.0, 6.0, 7.0, 8.0)),), vectors, media,
        frozenset({(faces[0].id, faces[1].id)}), media_id(thumb, ".jpg"), (), {"motion": 0.25},
    )  # fmt: skip
    return perceived, Draft(tuple(sorted(told, key=lambda s: s.start)), tuple(votes), tuple(names), "rules 1")


def _direction(who: int, d: int, modality: int) -> Floats:
    """Return three unit rows close to somebody's own direction, far from everybody else's."""
    own = np.random.default_rng(1000 * modality + who).normal(size=d)
    rows = own / np.linalg.norm(own) + 0.02 * np.random.default_rng(who).normal(size=(3, d)) / np.sqrt(d)
    unit: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit
