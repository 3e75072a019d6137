"""The steps that turn one clip into memories, and the order in which clips are processed.

Perception runs up to two clips ahead (`perception.perceive`); the other steps run here in clip order: prepare, write, embed, commit.
Only the commit changes a memory; an interrupted clip leaves nothing behind.
Must not know: Qt, any model by name, how a memory is stored (it is handed a `ClipStore`).
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal, Protocol

from m3desk import events
from m3desk.children.at_once import at_once, in_order
from m3desk.domain.clip import Clip, ClipState, Source
from m3desk.domain.evidence import Floats, Perceived
from m3desk.domain.memory import Decision, Draft, Sentence, StoredSentence
from m3desk.errors import Cancelled, M3DeskError, ModelFailed, SourceUnreadable
from m3desk.memorization.consolidate import decide
from m3desk.perception.perceive import PendingClip, Watcher, without
from m3desk.ports import Candidates, ClipMedia, ClipView, Decide, KnowledgeWriter, MemoryWriter, Models, Prepared, TextEmbedder, Waiting

log = logging.getLogger(__name__)

Drawn = tuple[Sequence[StoredSentence], tuple[Sentence, ...]]
"""What the knowledge of a clip is drawn from: its episodic sentences, and the semantic ones that its writer drafted."""

RECENT = 6
"""Sentences of the clip before that a memory writer is shown."""


class ClipStore(Protocol):
    """What the pipeline needs from a memory; every call is one short transaction or one consistent read on the writer's thread.

    Two calls per clip: `prepare` returns all that the memory writer needs, `commit_episodic` stores the result. Two more for its semantic
    memories: `episodic` returns what they are drawn from, `commit_semantic` stores them.
    """

    def waiting(self, source: str) -> Waiting: ...
    def prepare(self, clip: Clip, perceived: Perceived, own: Mapping[str, Floats], recent: int) -> Prepared:
        """Return what the memory knows about a clip.

        `own`: observation → vectors of the model that perceived it, if `perceived` holds those of the other model that this memory uses.
        `recent`: how many sentences of the previous clip to return.
        """
        ...

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
    ) -> events.ClipCommitted: ...
    def mark_clip(self, clip: str, state: ClipState, error: str | None) -> None: ...
    def to_conclude(self, *, drafted: bool = False) -> Sequence[Clip]:
        """Return the clips that lack semantic memories, in order; `drafted`: only those whose own writer drafted some."""
        ...

    def to_rule(self) -> Sequence[Clip]: ...
    def drawn_from(self, clip: str) -> Drawn:
        """Return the episodic sentences of a clip, and the semantic ones that its writer drafted with them."""
        ...

    def commit_semantic(
        self, clip: Clip, draft: Draft, decide: Decide | None, *, text_vectors: Floats | None, text_model: str, at: str, ruled: bool = False
    ) -> events.ClipCommitted:
        """Store the semantic sentences of a clip. `decide`: says which of them repeat or contradict what is stored; None: none do.

        `ruled`: they were written without a language model, whose sentences are still missing.
        """
        ...


class Embedded(Protocol):
    """A clip with the vectors of the models that the memory uses (see `reembedding.Beside`)."""

    @property
    def perceived(self) -> Perceived: ...
    @property
    def names(self) -> Mapping[str, str]: ...
    @property
    def rows(self) -> Mapping[str, Mapping[str, Floats]]: ...


Also = Callable[[Perceived], Embedded]


@dataclass(frozen=True, slots=True)
class RunTotals:
    """The result counts of a run over one source. `seconds`: of work; `covered`: seconds of the source."""

    committed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    covered: float = 0.0

    def __add__(self, other: RunTotals) -> RunTotals:
        return RunTotals(
            self.committed + other.committed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            self.seconds + other.seconds,
            self.covered + other.covered,
        )


class Brake:
    """Pauses, cancels or stops running work. May be set from any thread."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self._running = threading.Event()
        self._running.set()
        self._cancelled: set[str] = set()
        self._only: str | None = None

    def stop(self) -> None:
        """Stop all work permanently at the next safe point."""
        self.stopping.set()
        self._running.set()

    def pause(self, paused: bool) -> None:
        """Pause all work, or resume it."""
        if paused:
            self._running.clear()
        else:
            self._running.set()

    def cancel(self, source: str, *, cancelled: bool = True) -> None:
        """Cancel the work on a source, or allow it again."""
        (self._cancelled.add if cancelled else self._cancelled.discard)(source)

    def prefer(self, source: str | None) -> None:
        """Interrupt the work on all other sources, until this is called with None."""
        self._only = source

    def gives_way(self, source: str) -> bool:
        """Return whether the work on a source is interrupted for another one."""
        return self._only is not None and self._only != source

    def ends(self, source: str | None = None) -> bool:
        """Wait while paused, then return whether the work (on a source) must end."""
        while not self._running.wait(0.5):
            if self.stopping.is_set() or source in self._cancelled or self._way(source):
                break
        return self.stopping.is_set() or source in self._cancelled or self._way(source)

    def _way(self, source: str | None) -> bool:
        return source is not None and self.gives_way(source)

    def touched(self) -> bool:
        """Return at once whether a stop or a pause interrupts the work; never waits."""
        return self.stopping.is_set() or not self._running.is_set()


Emit = Callable[[Any], None]
Stop = Callable[[], bool]


def now() -> str:
    """Return the current time, ISO 8601 with zone."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Memorizer:
    """Turns clips into memories, one after the other, on the calling thread."""

    def __init__(
        self,
        store: ClipStore,
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
        self._store, self._models, self._writer, self._emit = store, models, writer, emit
        self._language, self._stop = language, stop

    def memorize(
        self, source: Source, decode: Callable[[Clip], ClipMedia], *, total: int, unchanged: Callable[[], None] = lambda: None
    ) -> RunTotals:
        """Bring every queued clip of a source to `episodic`. Raises Cancelled when stopped; what was committed stays.

        `decode`: returns a clip's pictures and sound. `total`: microseconds of the whole run, for the progress. `unchanged`: called after
        a clip was decoded and before it is committed; raises SourceError if the file has changed, and then nothing of the clip is
        written.
        """
        waiting = self._store.waiting(source.id)
        if not waiting.clips:
            return RunTotals()
        return self._run(source, map(decode, waiting.clips), waiting.heard_until, total, unchanged)

    def follow(self, source: Source, clips: Iterable[ClipMedia], between: Callable[[], None] = lambda: None) -> RunTotals:
        """Bring the clips of a live source to `episodic` as they come, until there are no more. Raises Cancelled when stopped.

        `clips` may block. A clip must be in the store by the time that its pictures and sound end. `between`: called after each clip.
        """
        return self._run(source, clips, self._store.waiting(source.id).heard_until, None, lambda: None, between)

    def _run(
        self,
        source: Source,
        clips: Iterable[ClipMedia],
        heard_until: int | None,
        total: int | None,
        unchanged: Callable[[], None],
        between: Callable[[], None] = lambda: None,
    ) -> RunTotals:
        began = time.monotonic()
        tally = RunTotals()
        watcher = Watcher(self._models, heard_until, self._stop, self._emit)
        try:
            for watched in watcher.watch(clips):
                clip = watched.media.clip
                self._progress(source, clip, "watching", clip.start, total, began, tally)
                tally = self._one(source, watched, tally, unchanged)
                clip = watched.media.clip  # the end of a live clip is known now
                tally = replace(tally, seconds=time.monotonic() - began, covered=tally.covered + (clip.end - clip.start) / 1e6)
                self._progress(source, clip, "written", clip.end, total, began, tally)
                between()
        finally:
            watcher.close()
        return tally

    def _one(self, source: Source, watched: PendingClip, tally: RunTotals, unchanged: Callable[[], None]) -> RunTotals:
        clip = watched.media.clip
        try:
            try:
                perceived = watched.result()
            except Cancelled:
                raise
            except Exception:
                unchanged()  # whatever went wrong, that the file is another is the reason to tell
                raise
            unchanged()
            clip = watched.media.clip
            if why := watched.media.unreadable:
                raise SourceUnreadable(f"none of its pictures can be read: {why}.")
            if problem := "; ".join(watched.media.problems):
                self._emit(events.Notice("warning", f"{clip.id}: {problem}.", "What could be read is memorized."))
            # Of a live source `source` is what was known before it was opened: not its size, nor that it has sound.
            self.remember(watched.media.source, clip, perceived, watched.media)
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
            self._emit(events.Notice("error", f"{clip.id} could not be memorized: {error}", "It can be retried.", report))
            self._give_up(clip, "failed", f"{type(error).__name__}: {error}")
            return replace(tally, failed=tally.failed + 1)
        return replace(tally, committed=tally.committed + 1)

    def _give_up(self, clip: Clip, state: Literal["failed", "skipped"], why: str) -> None:
        self._store.mark_clip(clip.id, state, why)
        self._emit(events.ClipCommitted(clip.id, state))

    def remember(self, source: Source, clip: Clip, perceived: Perceived, media: ClipMedia | None = None) -> events.ClipCommitted:
        """Write, embed and commit one perceived clip."""
        # With the vectors that this memory uses, before it is compared with anything in it.
        also = self._also(perceived) if self._also is not None else None
        own = {o: rows for by_model in also.rows.values() for o, rows in by_model.items()} if also is not None else {}
        known = self._store.prepare(clip, also.perceived if also is not None else perceived, own, RECENT)
        view = ClipView(
            clip=clip,
            source=source,
            perceived=known.grouped,
            clusters=known.clusters,
            recent=known.recent,
            previous=known.previous,
            language=self._language,
            media=media,
        )
        draft = self._writer.write(view, self._stop)
        self._check()
        committed = self._store.commit_episodic(
            clip,
            known.perceived,
            draft,
            text_vectors=_embed(self._models.text_vectors, draft),
            text_model=self._models.text_vectors.name if self._models.text_vectors else "",
            models={
                **_names(without(self._models, clip.given_up)),
                **(also.names if also is not None else {}),
                "writer": draft.model or self._writer.name,
            },
            beside=also.rows if also is not None else {},
            at=now(),
        )
        self._emit(committed)
        return committed

    def rule(self, knowledge: KnowledgeWriter) -> int:
        """Write what follows without a language model, for every clip that lacks it, in clip order; return the number of clips."""
        clips = list(self._store.to_rule())
        for clip in clips:
            self._check()
            sentences, _ = self._store.drawn_from(clip.id)
            self._store_knowledge(clip, knowledge.conclude(sentences, language=self._language), ruled=True)
        return len(clips)

    def conclude(
        self, knowledge: KnowledgeWriter | None, *, flagged: Stop = lambda: False, enough: Callable[[int], bool] = lambda _count: False
    ) -> int:
        """Write the semantic memories of every clip that lacks them, in clip order; return the number of clips.

        What the clip's own writer drafted is committed with them. `knowledge` None: only clips for which it drafted something. One that can
        is asked about several clips at the same time: what it is given of each comes from that clip's stored sentences alone.
        A clip for which the model fails stays `episodic` and is tried again next time. `flagged`: called while the model runs, so it must
        not wait; a clip that it interrupts is started again. `enough`: called between clips with their number so far; ends the
        pass for now.
        """
        count = 0
        began = time.monotonic()
        clips = list(self._store.to_conclude(drafted=knowledge is None))

        def begun() -> Iterator[tuple[Clip, Drawn]]:
            for number, clip in enumerate(clips):
                self._check()
                if enough(number):
                    return
                rate, left = _pace(began, count, len(clips))
                self._emit(events.Progress(clip.source, clip.id, "knowledge", count, len(clips), rate, left))
                yield clip, self._store.drawn_from(clip.id)

        def concluded(asked: tuple[Clip, Drawn], stopped: Stop) -> Draft:
            return self._concluded(asked[1], knowledge, lambda: stopped() or flagged())

        widest = 1

        def most() -> int:
            nonlocal widest
            now_ = at_once(knowledge)
            widest = max(widest, now_)
            return now_

        with closing(in_order(begun(), concluded, most)) as answers:
            for (clip, drawn), answer in answers:
                try:
                    again = partial(self._concluded, knowledge=knowledge, flagged=flagged)
                    draft = self._in_force(clip, drawn, answer.result, again, early=widest > 1)
                except ModelFailed as error:
                    problem = f"{clip.id}: no semantic memories written: {error}"
                    self._emit(events.Notice("warning", problem, "It is tried again next time."))
                    break  # strictly in clip order: later clips wait for this one
                self._check()
                self._store_knowledge(clip, draft)
                count += 1
                if enough(count):
                    break
        return count

    def _in_force(self, clip: Clip, drawn: Drawn, answer: Callable[[], Draft], again: Callable[[Drawn], Draft], *, early: bool) -> Draft:
        """Return what was concluded from a clip; asked again after a pause.

        `early`: it may have been asked before clips in front of it were done; if its sentences changed since then, it is asked again.
        """
        while True:
            with contextlib.suppress(Cancelled):
                draft = answer()
                if not early or (in_force := self._store.drawn_from(clip.id)) == drawn:
                    return draft
                drawn = in_force
            self._check()
            answer = partial(again, drawn)

    def _store_knowledge(self, clip: Clip, draft: Draft, *, ruled: bool = False) -> None:
        vectors = _embed(self._models.text_vectors, draft)
        name = self._models.text_vectors.name if self._models.text_vectors else ""
        compare = partial(_decided, draft, vectors, name) if vectors is not None else None
        self._emit(self._store.commit_semantic(clip, draft, compare, text_vectors=vectors, text_model=name, at=now(), ruled=ruled))

    def _concluded(self, drawn: Drawn, knowledge: KnowledgeWriter | None, flagged: Stop) -> Draft:
        """Ask the model for a clip's semantic memories; what the clip's own writer drafted comes behind them. Raises Cancelled."""
        sentences, drafted = drawn
        found = Draft()
        if sentences and knowledge is not None:
            found = knowledge.conclude(sentences, language=self._language, cancelled=flagged)
        return replace(found, sentences=(*found.sentences, *drafted), model=found.model or drafted[0].model) if drafted else found

    def _check(self) -> None:
        if self._stop():
            raise Cancelled("stopped.", "What was committed is kept; run the same command to continue.")

    def _progress(
        self, source: Source, clip: Clip, stage: events.Stage, done: int, total: int | None, began: float, tally: RunTotals
    ) -> None:
        """Tell how far the work on a source is; of a live source, whose `total` nobody knows, one clip is the whole."""
        total = clip.end if total is None else total
        spent = time.monotonic() - began
        rate = tally.covered / spent if tally.covered and spent > 0 else None
        left = (total - done) / 1e6 / rate if rate else None
        self._emit(events.Progress(source.id, clip.id, stage, done, total, rate, left))


def _embed(embedder: TextEmbedder | None, draft: Draft) -> Floats | None:
    if embedder is None or not draft.sentences:
        return None
    return embedder.embed([s.text for s in draft.sentences])


def _decided(draft: Draft, vectors: Floats, model: str, there: Candidates) -> list[Decision]:
    return [decide(s, row, found, model=model) for s, row, found in zip(draft.sentences, vectors, there, strict=True)]


def _names(models: Models) -> dict[str, str]:
    named = {
        port: getattr(models, port)
        for port in ("faces", "face_vectors", "speech_activity", "speech_segmentation", "voice_vectors", "speech", "objects", "screen_text")
    }
    return {port: backend.name for port, backend in named.items() if backend is not None}


def _pace(began: float, done: int, total: int) -> tuple[float | None, float | None]:
    spent = time.monotonic() - began
    return (done / spent, (total - done) * spent / done) if done and spent > 0 else (None, None)
