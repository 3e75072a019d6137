"""What happens to one clip, and the order in which clips happen.

Pictures and sound of a clip are perceived by two threads that may run up to two clips ahead; everything after that happens here, in clip
order: match, write, embed, commit. Nothing but the commit changes a memory, and a clip that was interrupted leaves no trace.
Must not know: Qt, any model by name, how a memory is stored (it is handed a `Ledger`).
"""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from m3desk import events
from m3desk.domain.clip import Clip, Source, clip_id
from m3desk.domain.evidence import Floats, Perceived, Utterance
from m3desk.domain.memory import Decision, Draft, Sentence, StoredSentence
from m3desk.errors import Cancelled, M3DeskError, ModelFailed, SourceUnreadable
from m3desk.media.cutter import FileClip
from m3desk.memorization.consolidate import decide
from m3desk.perception.faces import see
from m3desk.perception.perceive import continued, merge
from m3desk.perception.voices import hear
from m3desk.ports import ClipMedia, ClipView, Cluster, KnowledgeWriter, MemoryWriter, Models, TextEmbedder

log = logging.getLogger(__name__)

AHEAD = 2
"""Clips that perception may be ahead of the commit: enough to keep both threads busy, little enough for constant memory."""

RECENT = 6
"""Sentences of the clip before that a memory writer is shown."""


class Ledger(Protocol):
    """What the pipeline asks of the one writer of a memory; every call is one short transaction or one consistent read."""

    def next_clips(self, source: str) -> Sequence[Clip]: ...
    def heard_until(self, clip: str) -> int | None: ...
    def perceived(self, clip: str) -> Perceived | None: ...
    def match(self, perceived: Perceived) -> tuple[Cluster, ...]: ...
    def recent(self, clip: Clip, count: int) -> tuple[StoredSentence, ...]: ...
    def commit_episodic(
        self,
        clip: Clip,
        perceived: Perceived,
        draft: Draft,
        *,
        text_vectors: Floats | None,
        text_model: str,
        models: dict[str, str],
        at: str,
        **beside: Any,
    ) -> events.ClipCommitted: ...
    def commit_semantic(
        self, clip: Clip, draft: Draft, decisions: Sequence[Decision], *, text_vectors: Floats | None, text_model: str, at: str
    ) -> events.ClipCommitted: ...
    def mark_clip(self, clip: str, state: str, error: str | None) -> None: ...
    def withheld(self, clip: Clip, perceived: Perceived) -> Perceived: ...
    def to_conclude(self) -> Sequence[Clip]: ...
    def episodic(self, clip: str) -> Sequence[StoredSentence]: ...
    def candidates(self, sentence: Sentence, source: str) -> Sequence[tuple[StoredSentence, Floats]]: ...


class Embedded(Protocol):
    """A clip with the vectors of the models that a memory uses (see `reembedding.Beside`)."""

    @property
    def perceived(self) -> Perceived: ...
    @property
    def names(self) -> Mapping[str, str]: ...
    @property
    def rows(self) -> Mapping[str, Mapping[str, Floats]]: ...


Also = Callable[[Perceived], Embedded]


@dataclass(frozen=True, slots=True)
class Tally:
    """What a run over one source came to. `seconds`: of work; `covered`: seconds of source that it covered."""

    committed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    covered: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.committed + other.committed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            self.seconds + other.seconds,
            self.covered + other.covered,
        )


Emit = Callable[[Any], None]
Stop = Callable[[], bool]


def now() -> str:
    """Return the present moment, ISO 8601 with zone."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True)
class _Watched:
    clip: Clip
    media: FileClip
    seen: Future[Any]
    heard: Future[Any]


class _Watcher:
    """Perceives clips ahead of the writer: one thread for pictures, one for sound, both in clip order."""

    def __init__(self, source: Source, path: str, models: Models, fps: float, heard_until: int | None, stop: Stop, emit: Emit) -> None:
        self._source, self._path, self._models, self._fps = source, path, models, fps
        self._heard_until = heard_until
        self._stopped = threading.Event()
        self._stop: Stop = lambda: self._stopped.is_set() or stop()
        self._emit = emit
        self._eyes = ThreadPoolExecutor(1, "m3desk-eyes")
        self._ears = ThreadPoolExecutor(1, "m3desk-ears")

    def watch(self, clips: Sequence[Clip]) -> Iterator[_Watched]:
        waiting: list[_Watched] = []
        todo = iter(clips)
        while True:
            while len(waiting) <= AHEAD and (clip := next(todo, None)) is not None:
                waiting.append(self._begin(clip))
            if not waiting:
                return
            yield waiting.pop(0)

    def _begin(self, clip: Clip) -> _Watched:
        media = FileClip(self._source, clip, self._path, self._fps)
        return _Watched(clip, media, self._eyes.submit(self._see, media), self._ears.submit(self._hear, media))

    def _see(self, media: ClipMedia) -> Any:
        return see(media, self._models, cancelled=self._stop, on_news=self._emit)

    def _hear(self, media: ClipMedia) -> Any:
        heard = hear(media, self._models, heard_until=self._heard_until, cancelled=self._stop, on_words=self._tell)
        ends = [u.end for u in heard.utterances]
        # The same figure that the store would give after the commit, so that a resumed run hears the same words.
        self._heard_until = max(ends) if ends else None
        return heard

    def _tell(self, utterance: Utterance) -> None:
        self._emit(events.EvidenceSeen(self._source.id, utterance.clip, words=utterance.text))

    def close(self) -> None:
        self._stopped.set()
        self._eyes.shutdown(wait=True, cancel_futures=True)
        self._ears.shutdown(wait=True, cancel_futures=True)


class Memorizer:
    """Turns clips into memories, one after the other, on the thread that calls it."""

    def __init__(
        self,
        ledger: Ledger,
        models: Models,
        writer: MemoryWriter,
        emit: Emit,
        *,
        language: str | None = None,
        stop: Stop = lambda: False,
        also: Also | None = None,
    ) -> None:
        """`also`: embeds a clip with the models that this memory uses, where those are not the profile's (`reembedding`)."""
        self._also = also
        self._ledger, self._models, self._writer, self._emit = ledger, models, writer, emit
        self._language, self._stop = language, stop

    def memorize(self, source: Source, path: str, *, fps: float, total: int, unchanged: Callable[[], None] = lambda: None) -> Tally:
        """Bring every queued clip of a source to `episodic`. Raises Cancelled when stopped; what was committed stays.

        `total`: microseconds that the whole run covers, for the progress. `unchanged`: called when a clip was read and before it is
        committed; raises SourceError where the file is another by now, and nothing of the clip is written.
        """
        clips = list(self._ledger.next_clips(source.id))
        if not clips:
            return Tally()
        began = time.monotonic()
        tally = Tally()
        watcher = _Watcher(source, path, self._models, fps, self._ledger.heard_until(clips[0].id), self._stop, self._emit)
        try:
            for watched in watcher.watch(clips):
                self._progress(source, watched.clip, "watching", watched.clip.start, total, began, tally)
                tally = self._one(source, watched, tally, unchanged)
                tally = replace(
                    tally, seconds=time.monotonic() - began, covered=tally.covered + (watched.clip.end - watched.clip.start) / 1e6
                )
                self._progress(source, watched.clip, "written", watched.clip.end, total, began, tally)
        finally:
            watcher.close()
        return tally

    def _one(self, source: Source, watched: _Watched, tally: Tally, unchanged: Callable[[], None]) -> Tally:
        clip = watched.clip
        try:
            try:
                perceived = merge(clip, watched.seen.result(), watched.heard.result())
            except Cancelled:
                raise
            except Exception:
                unchanged()  # whatever went wrong, that the file is another is the reason to tell
                raise
            unchanged()
            if why := watched.media.unreadable:
                raise SourceUnreadable(f"none of its pictures can be read: {why}.")
            if problem := "; ".join(watched.media.problems):
                self._emit(events.Notice("warning", f"{clip.id}: {problem}", "What could be read is memorized."))
            self.remember(source, clip, perceived, watched.media)
        except SourceUnreadable as error:
            self._give_up(clip, "skipped", error.line())
            return replace(tally, skipped=tally.skipped + 1)
        except ModelFailed as error:
            self._give_up(clip, "failed", error.line())
            return replace(tally, failed=tally.failed + 1)
        except M3DeskError:
            raise
        except Exception as error:
            log.exception("clip %s failed", clip.id)
            report = traceback.format_exc()
            self._emit(events.Notice("error", f"{clip.id} could not be memorized: {error}", "It is kept for a retry.", report))
            self._give_up(clip, "failed", f"{type(error).__name__}: {error}")
            return replace(tally, failed=tally.failed + 1)
        return replace(tally, committed=tally.committed + 1)

    def _give_up(self, clip: Clip, state: str, why: str) -> None:
        self._ledger.mark_clip(clip.id, state, why)
        self._emit(events.ClipCommitted(clip.id, state))

    def remember(self, source: Source, clip: Clip, perceived: Perceived, media: ClipMedia | None = None) -> events.ClipCommitted:
        """Write, embed and commit one perceived clip."""
        previous = self._ledger.perceived(clip_id(clip.source, clip.index - 1)) if clip.index else None
        perceived = continued(previous, self._ledger.withheld(clip, perceived))
        also = self._also(perceived) if self._also is not None else None
        perceived = also.perceived if also is not None else perceived
        view = ClipView(
            clip=clip,
            source=source,
            perceived=perceived,
            clusters=self._ledger.match(perceived),
            recent=self._ledger.recent(clip, RECENT),
            previous=previous,
            language=self._language,
            media=media,
        )
        draft = self._writer.write(view, self._stop)
        self._check()
        committed = self._ledger.commit_episodic(
            clip,
            perceived,
            draft,
            text_vectors=_embed(self._models.text_vectors, draft),
            text_model=self._models.text_vectors.name if self._models.text_vectors else "",
            models={**_names(self._models), **(also.names if also is not None else {})},
            **({"beside": also.rows} if also is not None else {}),
            at=now(),
        )
        self._emit(committed)
        return committed

    def conclude(self, knowledge: KnowledgeWriter, *, flagged: Stop = lambda: False, enough: Stop = lambda: False) -> int:
        """Write the semantic memories of every clip that lacks them, in clip order; return how many clips that was.

        A clip whose knowledge the model could not write stays `episodic` and is tried again next time. `flagged`: asked while the model
        is held, so it must not wait; a clip that it interrupts is begun anew. `enough`: asked between clips; ends the pass for now.
        """
        count = 0
        began = time.monotonic()
        clips = list(self._ledger.to_conclude())
        for clip in clips:
            self._check()
            if enough():
                break
            rate, left = _pace(began, count, len(clips))
            self._emit(events.Progress(clip.source, clip.id, "knowledge", count, len(clips), rate, left))
            try:
                draft = self._concluded(clip, knowledge, flagged)
            except ModelFailed as error:
                self._emit(events.Notice("warning", f"{clip.id}: no knowledge written: {error}", "It is tried again the next time."))
                return count  # strictly in clip order: later clips wait for this one
            self._check()
            vectors = _embed(self._models.text_vectors, draft)
            decisions = [self._decide(s, clip.source, vectors, i) for i, s in enumerate(draft.sentences)]
            name = self._models.text_vectors.name if self._models.text_vectors else ""
            self._emit(self._ledger.commit_semantic(clip, draft, decisions, text_vectors=vectors, text_model=name, at=now()))
            count += 1
        return count

    def _concluded(self, clip: Clip, knowledge: KnowledgeWriter, flagged: Stop) -> Draft:
        """Ask for a clip's knowledge until the model was let finish (a pause interrupts it; this waits the pause out)."""
        sentences = self._ledger.episodic(clip.id)
        while sentences:
            try:
                return knowledge.conclude(sentences, language=self._language, cancelled=flagged)
            except Cancelled:
                self._check()
        return Draft()

    def _decide(self, sentence: Sentence, source: str, vectors: Floats | None, row: int) -> Decision:
        if vectors is None:
            return Decision("add")
        return decide(sentence, vectors[row], self._ledger.candidates(sentence, source), model=self._models.text_vectors.name)  # type: ignore[union-attr]

    def _check(self) -> None:
        if self._stop():
            raise Cancelled("stopped.", "What was committed stays; run the same command to go on.")

    def _progress(self, source: Source, clip: Clip, stage: str, done: int, total: int, began: float, tally: Tally) -> None:
        spent = time.monotonic() - began
        rate = tally.covered / spent if tally.covered and spent > 0 else None
        left = (total - done) / 1e6 / rate if rate else None
        self._emit(events.Progress(source.id, clip.id, stage, done, total, rate, left))


def _embed(embedder: TextEmbedder | None, draft: Draft) -> Floats | None:
    if embedder is None or not draft.sentences:
        return None
    return embedder.embed([s.text for s in draft.sentences])


def _names(models: Models) -> dict[str, str]:
    named = {
        port: getattr(models, port)
        for port in ("faces", "face_vectors", "speech_activity", "speech_segmentation", "voice_vectors", "speech", "objects", "screen_text")
    }
    return {port: backend.name for port, backend in named.items() if backend is not None}


def _pace(began: float, done: int, total: int) -> tuple[float | None, float | None]:
    spent = time.monotonic() - began
    return (done / spent, (total - done) * spent / done) if done and spent > 0 else (None, None)
