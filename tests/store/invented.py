"""Clips invented for tests of the store: faces and voices are directions in space, so that who is who is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from m3desk.domain.clip import Clip, Source
from m3desk.domain.evidence import FaceTrack, ObjectSeen, Perceived, TextOnScreen, TimedBox, Utterance, Word, media_id
from m3desk.domain.memory import Draft, HeardName, Sentence, Span, Vote

MODELS = {"face_vectors": "sface 2021dec", "voice_vectors": "campplus 1", "text_vectors": "e5 1"}
AT = "2026-11-21T08:00:00.000+00:00"
S = 1_000_000


def source(name: str = "a", seconds: int = 90) -> Source:
    return Source("", f"/videos/{name}.mp4", seconds * S, 640, 360, 25.0, True, (name * 64)[:64], None, 1000)


def clips(source_id: str, count: int = 3) -> list[Clip]:
    return [Clip(f"{source_id}.c{i}", source_id, i, i * 30 * S, (i + 1) * 30 * S) for i in range(count)]


def direction(who: int, noise: float, seed: int, d: int, modality: int) -> np.ndarray:
    """Return (3, d) unit rows around somebody's own direction; `noise` 0.2 gives cosines near 0.96 to itself, ~0 to others."""
    own = np.random.default_rng(1000 * modality + who).normal(size=d)
    own /= np.linalg.norm(own)
    rows = own + noise * np.random.default_rng(seed).normal(size=(3, d)) / np.sqrt(d)
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def seen(clip: Clip, people: Sequence[int], *, noise: float = 0.2, talks: bool = True) -> tuple[Perceived, Draft]:
    """Return a clip in which these people show their face for 6 s each and then say something, with the draft about it."""
    faces, speech, vectors, media, votes, told = [], [], {}, {}, [], []
    for k, who in enumerate(people):
        t0 = clip.start + k * 7 * S
        crop = f"face {who} {clip.id}".encode()
        name = media_id(crop, ".jpg")
        media[name] = crop
        boxes = tuple(TimedBox(t, 10.0 * who, 20.0, 40.5, 50.0) for t in range(t0, t0 + 6 * S, S // 5))
        f, u = f"{clip.id}.f{k}", f"{clip.id}.u{k}"
        faces.append(FaceTrack(f, clip.id, t0, t0 + 6 * S, boxes, 0.9, 0.8, (name,), (((1.0, 2.0),) * 5,), k, (0.1,) * len(boxes)))
        vectors[f] = direction(who, noise, seed=hash_of(f), d=128, modality=1)
        told.append(
            Sentence("someone appears", "episodic", t0, t0 + S, (Span(0, 7, (f,)),), (f,), ("cup",) if k == 0 else (), event="appears")
        )
        if talks:
            words = tuple(Word(t0 + S + i * S, t0 + 2 * S + i * S, w) for i, w in enumerate(["We", "drink", "<person_9>", "tea."]))
            speech.append(Utterance(u, clip.id, t0 + S, t0 + 5 * S, "We drink <person_9> tea.", words, "en", 0.9, None, k))
            vectors[u] = direction(who, noise, seed=hash_of(u), d=192, modality=2)
            votes.append(Vote(f, u, "alone in view", 1.0))
            text = "someone says: “We drink <person_9> tea.”"
            told.append(Sentence(text, "episodic", t0 + S, t0 + 5 * S, (Span(0, 7, (u, f)),), (u,), (), ((14, len(text)),), event="says"))
    thumb = f"thumbnail {clip.id}".encode()
    media[media_id(thumb, ".jpg")] = thumb
    names = (
        (HeardName(faces[0].id, "Ann", 0.7, "introduced", speech[0].id, "I'm Ann", clip.start),)
        if clip.index == 0 and talks and people
        else ()
    )
    apart = frozenset({(faces[0].id, faces[1].id)}) if len(faces) > 1 else frozenset()
    perceived = Perceived(
        clip.id, tuple(faces), tuple(speech), (ObjectSeen(clip.id, clip.start, clip.end, "cup", 0.7, (1.0, 2.0, 3.0, 4.0)),),
        (TextOnScreen(clip.id, clip.start, clip.end, "Host ANN", 0.9, (5.0, 6.0, 7.0, 8.0)),), vectors, media, apart,
        media_id(thumb, ".jpg"), (clip.start + 7 * S,), {"motion": 0.25},
    )  # fmt: skip
    return perceived, Draft(tuple(sorted(told, key=lambda s: s.start)), tuple(votes), names, "rules 1")


def hash_of(text: str) -> int:
    return sum(ord(c) * 31**i for i, c in enumerate(text)) % 2**31


def text_vectors(draft: Draft) -> np.ndarray:
    return (
        np.stack([direction(hash_of(s.text) % 1000, 0.0, 0, 16, 3)[0] for s in draft.sentences])
        if draft.sentences
        else np.zeros((0, 16), np.float32)
    )


def remember(memory: object, clip: Clip, people: Sequence[int], **how: object) -> object:
    """Commit an invented clip."""
    perceived, draft = seen(clip, people, **how)  # type: ignore[arg-type]
    vectors = text_vectors(draft)
    return memory.commit_episodic(clip, perceived, draft, text_vectors=vectors, text_model="e5 1", models=MODELS, at=AT)  # type: ignore[attr-defined]
