"""A clip with two people, and a scripted model that watches it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import cv2
import numpy as np

from m3desk.ports import ClipView, Cluster, Frame, Turn
from tests.memorization.evidence import face, speech, thing, us, view, writing


@dataclass
class ClipOfPictures:
    """A clip whose pictures get lighter: answers ports.ClipMedia."""

    clip: Any
    source: Any
    path: str = "film.mp4"
    fps: float = 5.0
    heard: float = 33.0
    problems: tuple[str, ...] = ()
    unreadable: str | None = None
    size: tuple[int, int] = (36, 64)

    def frames(self) -> Iterator[Frame]:
        length = self.clip.end - self.clip.start
        for i in range(round(length / 1e6 * self.fps)):
            yield Frame(self.clip.start + round(i * 1e6 / self.fps), np.full((*self.size, 3), i, np.uint8))

    def sound(self) -> Any:
        return np.ones(round(self.heard * 16_000), np.float32)


def jpeg(side: int, light: int) -> bytes:
    return bytes(cv2.imencode(".jpg", np.full((side, side, 3), light, np.uint8))[1])


def two_people(*, said: str = "We drink tea now.", shown: str = "KITCHEN", language: str | None = None, **more: Any) -> ClipView:
    """A man (face_1, voice_1) and a woman (face_2, voice_2) in a kitchen, 30 s. `said`: by the woman; `shown`: text on screen."""
    zh = "zh" if any("\u4e00" <= c <= "\u9fff" for c in said) else "en"
    seen = view(
        faces=(face(0, 0, 28, x=100), face(1, 5, 30, x=420)),
        utterances=(speech(0, 2, 6, "Good morning, everybody.", cluster=0), speech(1, 10, 14, said, cluster=1, language=zh)),
        objects=(thing("cup", 3, 20),),
        texts=(writing(shown, 1, 9),) if shown else (),
        clusters=(
            Cluster("<face_1>", ("s1.c0.f0",)),
            Cluster("<face_2>", ("s1.c0.f1",)),
            Cluster("<voice_1>", ("s1.c0.u0",)),
            Cluster("<voice_2>", ("s1.c0.u1",)),
        ),
        language=language,
        **more,
    )
    crops = tuple(replace(t, crops=(f"{t.id}.jpg",)) for t in seen.perceived.faces)
    media = {f"{t.id}.jpg": jpeg(80, 60 * i + 60) for i, t in enumerate(crops)}
    perceived = replace(seen.perceived, faces=crops, media=media)
    return replace(seen, perceived=perceived, media=ClipOfPictures(seen.clip, seen.source))


@dataclass
class ScriptedWatcher:
    """A model that gives the replies of a script, one after the other (the last one for ever), in pieces, and keeps what it was asked."""

    replies: Sequence[str]
    name: str = "scripted-1"
    context: int = 32_768
    hears: bool = True
    watches_video: bool = True
    most_pictures: int = 60
    style: str = ""
    piece: int = 50
    asked: list[tuple[Turn, ...]] = field(default_factory=list)
    schemas: list[Mapping[str, Any] | None] = field(default_factory=list)
    given: int = 0
    before: Callable[[], None] = lambda: None

    def watch(
        self,
        turns: Sequence[Turn],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 1024,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        self.asked.append(tuple(turns))
        self.schemas.append(schema)
        self.before()
        text = self.replies[min(len(self.asked), len(self.replies)) - 1]
        for at in range(0, len(text), self.piece):
            self.given = at + self.piece
            yield text[at : at + self.piece]


def texts(turns: Sequence[Turn]) -> str:
    """Return all text of a request."""
    return "\n".join(p for t in turns for p in t.parts if isinstance(p, str))


def reply(*events: Any, knowledge: Sequence[Any] = (), same: Sequence[Any] = (), **more: Any) -> str:
    """Return a reply in our form; events are sentences, or (from, to, sentence)."""
    told = [{"from": e[0], "to": e[1], "text": e[2]} if isinstance(e, tuple) else e for e in events]
    known = [{"text": k, "topic": "general"} if isinstance(k, str) else k for k in knowledge]
    return json.dumps({"events": told, "knowledge": known, "same_person": list(same), **more}, ensure_ascii=False)


GOOD = reply(
    (2, 6, "<face_1> greets <face_2> and puts a cup on the table."),
    (10, 14, "<face_2> sits down and drinks."),
    knowledge=[{"text": "<face_1> and <face_2> live together.", "topic": "relationship"}],
    same=[{"face": "<face_2>", "voice": "<voice_2>"}],
)

__all__ = ["GOOD", "ClipOfPictures", "ScriptedWatcher", "reply", "texts", "two_people", "us"]
