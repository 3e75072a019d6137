"""The single thread that writes to a memory, and the calls that memorizing makes on it.

Each call runs on that thread as a whole, never mixed with a correction. Must not know: models, the order of clips.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeVar

from m3desk.domain.clip import Clip, ClipState, Source, SourceState
from m3desk.domain.correction import Effect
from m3desk.domain.evidence import Floats, Perceived
from m3desk.domain.memory import Decision, Draft, Sentence, StoredSentence
from m3desk.errors import UsageError
from m3desk.events import ClipCommitted
from m3desk.ports import Decide, Prepared, Waiting
from m3desk.store.memory import Memory

T = TypeVar("T")


class Write(Protocol):
    """Runs a function on the writer's thread and returns its result."""

    def __call__(self, change: Callable[[Memory], T], /) -> T: ...


class Writer:
    """A memory that is open for writing, with its thread. Call it with a function to run there."""

    def __init__(self, path: Path) -> None:
        """Open the memory at `path`; create it if missing. Raises MemoryProblem, OSError."""
        self._thread = ThreadPoolExecutor(1, "m3desk-writer")
        try:
            self._memory = self._thread.submit(Memory.open_or_create, path).result()
        except BaseException:
            self._thread.shutdown()
            raise

    def __call__(self, change: Callable[[Memory], T], /) -> T:
        try:
            done = self._thread.submit(change, self._memory)
        except RuntimeError as error:  # the thread was shut down
            raise UsageError("this memory was closed.", "Open it again.") from error
        return done.result()

    def close(self) -> None:
        """Finish the current write and close the memory; safe to call twice."""
        try:
            self._thread.submit(self._memory.close).result()
        except RuntimeError:  # the thread was shut down
            return
        self._thread.shutdown()


class SourcesAndClips:
    """Implements `work.SourceStore` and `pipeline.ClipStore`; each call runs as a whole on the writer's thread."""

    def __init__(self, write: Write) -> None:
        self._write = write

    # ------------------------------------------------------------------ sources

    def sources(self) -> list[Source]:
        return self._write(lambda m: m.sources())

    def source(self, id_: str) -> Source:
        return self._write(lambda m: m.source(id_))

    def clips(self, source: str) -> list[Clip]:
        return self._write(lambda m: m.clips(source))

    def add_source(self, source: Source, *, rebuild: bool) -> Source:
        def add(memory: Memory) -> Source:
            for old in memory.sources() if rebuild else ():
                if old.uri == source.uri or old.sha256 == source.sha256:
                    memory.remove_source(old.id, recording=False)
            return memory.add_source(source)

        return self._write(add)

    def describe_source(self, source: Source) -> None:
        self._write(lambda m: m.describe_source(source))

    def plan_clips(self, source: str, clips: Sequence[Clip], *, fps: float) -> None:
        self._write(lambda m: m.plan_clips(source, clips, fps=fps))

    def requeue(self, source: str, readable: int) -> None:
        def requeue(memory: Memory) -> None:
            for clip in memory.clips(source):
                if clip.state == "failed" or (clip.state == "skipped" and clip.start < readable):
                    memory.mark_clip(clip.id, "queued")

        self._write(requeue)

    def fail_queued(self, source: str, why: str) -> None:
        def fail(memory: Memory) -> None:
            for clip in memory.clips(source):
                if clip.state == "queued":
                    memory.mark_clip(clip.id, "failed", why)

        self._write(fail)

    def note(self, source: str, state: SourceState, error: str | None) -> bool:
        def note(memory: Memory) -> bool:
            there = any(s.id == source for s in memory.sources())
            if there:
                memory.set_source(source, state=state, error=error)
            return there

        return self._write(note)

    def tidy_recordings(self) -> None:
        self._write(lambda m: m.tidy_recordings())

    def relink(self, source: str, uri: str) -> None:
        self._write(lambda m: m.set_source(source, uri=uri))

    def remove_source(self, source: str, *, dry_run: bool) -> Effect:
        return self._write(lambda m: m.remove_source(source, dry_run=dry_run))

    def fps_of(self, source: str) -> float | None:
        return self._write(lambda m: m.fps_of(source))

    def settings(self) -> dict[str, str]:
        return self._write(lambda m: m.settings())

    def set_setting(self, key: str, value: str) -> None:
        self._write(lambda m: m.set_setting(key, value))

    # ------------------------------------------------------------------ clips

    def waiting(self, source: str) -> Waiting:
        def waiting(memory: Memory) -> Waiting:
            clips = tuple(memory.next_clips(source))
            return Waiting(clips, memory.heard_until(clips[0].id) if clips else None)

        return self._write(waiting)

    def prepare(self, clip: Clip, perceived: Perceived, own: Mapping[str, Floats], recent: int) -> Prepared:
        return self._write(lambda m: m.prepare(clip, perceived, own, recent))

    def commit_episodic(
        self,
        clip: Clip,
        perceived: Perceived,
        draft: Draft,
        *,
        text_vectors: Floats | None,
        text_model: str,
        models: Mapping[str, str],
        beside: Mapping[str, Mapping[str, Floats]],
        at: str,
    ) -> ClipCommitted:
        return self._write(
            lambda m: m.commit_episodic(
                clip, perceived, draft, text_vectors=text_vectors, text_model=text_model, models=models, beside=beside, at=at
            )
        )

    def mark_clip(self, clip: str, state: ClipState, error: str | None) -> None:
        self._write(lambda m: m.mark_clip(clip, state, error))

    def to_conclude(self, *, drafted: bool = False) -> list[Clip]:
        return self._write(lambda m: m.to_conclude(drafted=drafted))

    def to_rule(self) -> list[Clip]:
        return self._write(lambda m: m.to_rule())

    def drawn_from(self, clip: str) -> tuple[list[StoredSentence], tuple[Sentence, ...]]:
        return self._write(lambda m: (m.episodic(clip), m.drafted(clip)))

    def commit_semantic(
        self, clip: Clip, draft: Draft, decide: Decide | None, *, text_vectors: Floats | None, text_model: str, at: str, ruled: bool = False
    ) -> ClipCommitted:
        def commit(memory: Memory) -> ClipCommitted:
            add = [Decision("add") for _ in draft.sentences]
            decisions = add if decide is None else decide([memory.candidates(s, clip.source) for s in draft.sentences])
            return memory.commit_semantic(clip, draft, decisions, text_vectors=text_vectors, text_model=text_model, at=at, ruled=ruled)

        return self._write(commit)
