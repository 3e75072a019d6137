"""What the pipeline and the work on sources need, made plainly: a memory in dictionaries, films in lists, models that know drawn people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from m3desk import events
from m3desk.domain.clip import Clip, ClipState, Source, SourceState
from m3desk.domain.correction import Effect
from m3desk.domain.evidence import Perceived
from m3desk.domain.memory import Draft, Sentence, StoredSentence
from m3desk.errors import MemoryProblem
from m3desk.ports import Decide, Frame, Models, Prepared, Sound, Waiting
from tests.control.made import BagOfWords
from tests.perception.invented import CaptionReader, ColourEmbedder, LaptopEverywhere, SquareDetector, draw
from tests.perception.invented_speech import Ear, Loudness, Octaves

S = 1_000_000
LENGTH = 2 * S
"""Microseconds of a clip of these tests."""


class FakeStore:
    """Answers `work.SourceStore` and `pipeline.ClipStore`. `calls`: what was asked, in order. `full`: every write is refused."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.full = False
        self.known: dict[str, Source] = {}
        self.planned: dict[str, Clip] = {}
        self.drafts: dict[str, Draft] = {}
        self.concluded: dict[str, list[str]] = {}
        self.ruled: dict[str, list[str]] = {}
        self._settings: dict[str, str] = {}

    def add(self, uri: str, clips: int, *, state: SourceState = "queued") -> str:
        """Put a source with some queued clips in; return its id."""
        id_ = f"s{len(self.known) + 1}"
        self.known[id_] = Source(id_, uri, clips * LENGTH, 320, 240, 5.0, False, None, state=state)
        self.planned |= {f"{id_}.c{i}": Clip(f"{id_}.c{i}", id_, i, i * LENGTH, (i + 1) * LENGTH) for i in range(clips)}
        return id_

    def states(self, source: str) -> list[str]:
        """Return the states of a source's clips."""
        return [c.state for c in self.clips(source)]

    def _written(self, what: str) -> None:
        if self.full:
            raise MemoryProblem("the disk is full.", "Make room, then go on.")
        self.calls.append(what)

    # -- sources

    def sources(self) -> list[Source]:
        return list(self.known.values())

    def source(self, id_: str) -> Source:
        return self.known[id_]

    def clips(self, source: str) -> list[Clip]:
        return [c for c in self.planned.values() if c.source == source]

    def add_source(self, source: Source, *, rebuild: bool) -> Source:
        self._written("add_source")
        self.known[f"s{len(self.known) + 1}"] = stored = replace(source, id=f"s{len(self.known) + 1}")
        return stored

    def describe_source(self, source: Source) -> None:
        self._written(f"describe {source.id}")
        self.known[source.id] = source

    def plan_clips(self, source: str, clips: Sequence[Clip], *, fps: float) -> None:
        self._written("plan_clips")
        self.planned |= {c.id: c for c in clips}

    def requeue(self, source: str, readable: int) -> None:
        self._written(f"requeue {source}")
        for c in self.clips(source):
            if c.state == "failed" or (c.state == "skipped" and c.start < readable):
                self.planned[c.id] = replace(c, state="queued", error=None)

    def fail_queued(self, source: str, why: str) -> None:
        self._written(f"fail_queued {source}")
        for c in self.clips(source):
            if c.state == "queued":
                self.planned[c.id] = replace(c, state="failed", error=why)

    def note(self, source: str, state: SourceState, error: str | None) -> bool:
        self._written(f"{source} {state}")
        if source in self.known:
            self.known[source] = replace(self.known[source], state=state, error=error)
        return source in self.known

    def tidy_recordings(self) -> None: ...

    def relink(self, source: str, uri: str) -> None:
        self._written(f"relink {source}")
        self.known[source] = replace(self.known[source], uri=uri)

    def remove_source(self, source: str, *, dry_run: bool) -> Effect:
        if not dry_run:
            self._written(f"remove {source}")
            del self.known[source]
        return Effect("removed")

    def fps_of(self, source: str) -> float | None:
        return None

    def settings(self) -> Mapping[str, str]:
        return self._settings

    def set_setting(self, key: str, value: str) -> None:
        self._written(f"setting {key}")
        self._settings[key] = value

    # -- clips

    def waiting(self, source: str) -> Waiting:
        return Waiting(tuple(c for c in self.clips(source) if c.state == "queued"), None)

    def prepare(self, clip: Clip, perceived: Perceived, own: Mapping[str, Any], recent: int) -> Prepared:
        self.calls.append(f"prepare {clip.id}")
        return Prepared(perceived, perceived, (), (), None)

    def commit_episodic(
        self,
        clip: Clip,
        perceived: Perceived,
        draft: Draft,
        *,
        text_vectors: Any,
        text_model: str,
        models: Mapping[str, str],
        beside: Mapping[str, Mapping[str, Any]],
        at: str,
    ) -> events.ClipCommitted:
        self._written(f"commit {clip.id}")
        self.planned[clip.id] = replace(clip, state="episodic")
        self.drafts[clip.id] = draft
        return events.ClipCommitted(clip.id, "episodic")

    def mark_clip(self, clip: str, state: ClipState, error: str | None) -> None:
        self._written(f"{clip} {state}")
        self.planned[clip] = replace(self.planned[clip], state=state, error=error)

    def to_rule(self) -> list[Clip]:
        return [c for c in self.to_conclude() if c.id not in self.ruled]

    def to_conclude(self, *, drafted: bool = False) -> list[Clip]:
        found = [c for c in self.planned.values() if c.state == "episodic"]
        return [c for c in found if self.drawn_from(c.id)[1]] if drafted else found

    def drawn_from(self, clip: str) -> tuple[list[StoredSentence], tuple[Sentence, ...]]:
        drafted = self.drafts.get(clip, Draft()).sentences
        return self.episodic(clip), tuple(s for s in drafted if s.kind == "semantic")

    def episodic(self, clip: str) -> list[StoredSentence]:
        c = self.planned[clip]
        drafted = self.drafts.get(clip, Draft()).sentences
        return [StoredSentence(f"n{i}", s.kind, s.text, s.text, s.text, clip, c.source, s.start, s.end, 1.0) for i, s in enumerate(drafted)]

    def commit_semantic(
        self, clip: Clip, draft: Draft, decide: Decide | None, *, text_vectors: Any, text_model: str, at: str, ruled: bool = False
    ) -> events.ClipCommitted:
        if ruled:
            self.ruled[clip.id] = [s.text for s in draft.sentences]
            return events.ClipCommitted(clip.id, "episodic")
        if decide is not None:
            self.calls.append(f"candidates of {len(draft.sentences)}")
            assert len(decide([[] for _ in draft.sentences])) == len(draft.sentences)
        self._written(f"conclude {clip.id}")
        self.planned[clip.id] = replace(clip, state="done")
        self.concluded[clip.id] = [s.text for s in draft.sentences]
        return events.ClipCommitted(clip.id, "done")


@dataclass
class Film:
    """One clip of a drawn film: Ann walks through it. Answers ports.ClipMedia."""

    source: Source
    clip: Clip
    path: str = "drawn"
    fps: float = 5.0
    problems: tuple[str, ...] = ()
    unreadable: str | None = None
    overrun: int = 0

    def frames(self) -> Iterator[Frame]:
        for i in range(10):
            yield Frame(self.clip.start + i * LENGTH // 10, draw([("ann", 40 + 5 * i, 80, 48)], background=90 + self.clip.index))

    def sound(self) -> Sound:
        return np.zeros(0, np.float32)


class FakeBackends:
    """Backends whose models know drawn faces and tones; `more` replaces or adds some."""

    problem = None

    def __init__(self, **more: Any) -> None:
        self.missing: dict[str, str] = {}
        self.all: dict[str, Any] = {
            "faces": SquareDetector(),
            "face_vectors": ColourEmbedder(),
            "speech_activity": Loudness(),
            "voice_vectors": Octaves(),
            "speech": Ear(["we", "drink", "tea"]),
            "objects": LaptopEverywhere(),
            "screen_text": CaptionReader(),
            "text_vectors": BagOfWords(),
            **more,
        }

    def get(self, port: str) -> Any:
        return self.all.get(port)

    def chosen(self, port: str) -> str | None:
        return "scripted" if port in self.all else None

    def named(self, port: str, _name: str) -> Any:
        return self.all[port]

    def models(self, *ports: str) -> Models:
        return Models(**{p: self.all.get(p) for p in ports or ("faces", "face_vectors", "text_vectors")}, missing=self.missing)

    def of_model(self, port: str, _model: str) -> Any:
        return self.all[port]

    def instead(self, _models: Models, _settings: Mapping[str, str]) -> dict[str, Any]:
        return {}

    def replacing(self, _settings: Mapping[str, str]) -> dict[str, str]:
        return {}

    def forget_missing(self) -> None: ...


@dataclass
class RecordedEvents:
    """Events as they came."""

    all: list[Any] = field(default_factory=list)

    def __call__(self, event: Any) -> None:
        self.all.append(event)

    def of(self, kind: type) -> list[Any]:
        return [e for e in self.all if isinstance(e, kind)]


@dataclass
class Faulty:
    """A face detector that finds Ann, and at the first picture of a clip (by index) does something else, once."""

    clip: int
    then: Callable[[], object]
    name: str = "faulty"
    done: bool = False

    def detect(self, picture: Any) -> list[Any]:
        if not self.done and int(picture[0, 0, 0]) == 90 + self.clip:
            self.done = True
            self.then()
        return SquareDetector().detect(picture)


def fail(error: Exception) -> Callable[[], None]:
    """Return a function that raises an error."""

    def raising() -> None:
        raise error

    return raising
