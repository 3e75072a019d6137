"""Manages the work on sources: the queue, the source being memorized, and pausing, cancelling, retrying and removing.

One thread calls `run` and `conclude`; the other methods may be called from any thread. Must not know: windows, commands, questions,
how a memory is stored (it gets a `SourceStore`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from m3desk import events, memory_writer, outgoing
from m3desk.backends import Backends
from m3desk.config import Settings
from m3desk.domain.clip import MICROSECOND, Clip, Source, SourceState, clock
from m3desk.domain.correction import Effect
from m3desk.domain.ids import clip_id
from m3desk.errors import Cancelled, FileLeft, M3DeskError, ModelMissing, SourceChanged, SourceError, UsageError
from m3desk.media import cutter, file
from m3desk.media.capture.planning import lacking
from m3desk.media.capture.recording import Recording, is_recording
from m3desk.media.trial import tried
from m3desk.media.unchanged import HashedFile
from m3desk.memorization.compose import ComposedWriter
from m3desk.memorization.knowledge import LlmKnowledgeWriter
from m3desk.memorization.ruled import RuledKnowledgeWriter
from m3desk.pipeline import Brake, ClipStore, Memorizer, RunTotals
from m3desk.ports import ClipMedia, MemoryWriter, Models
from m3desk.samples import reembedding

PERCEPTION = (
    "faces",
    "face_vectors",
    "speech_activity",
    "speech_segmentation",
    "voice_vectors",
    "speech",
    "objects",
    "screen_text",
    "text_vectors",
)
"""The ports that an episodic commit needs; the language model is opened later and apart."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to memorize. Times are microseconds of each source; None = as in the memory or the settings. `writer`: see `memory_writer`."""

    clip_seconds: float | None = None
    fps: float | None = None
    start: int = 0
    end: int | None = None
    semantic: bool = True
    rebuild: bool = False
    language: str | None = None
    writer: str | None = None


class Queue:
    """The waiting sources in the user's order; thread-safe."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._lock = threading.Lock()

    def put(self, source: str, at: int | None = None) -> None:
        """Add a source at the end or at a position (0 = next)."""
        with self._lock:
            if source in self._ids:
                self._ids.remove(source)
            self._ids.insert(len(self._ids) if at is None else at, source)

    def drop(self, source: str) -> None:
        """Remove a source, if it is queued."""
        with self._lock:
            if source in self._ids:
                self._ids.remove(source)

    def next(self) -> str | None:
        """Remove and return the next source; None if the queue is empty."""
        with self._lock:
            return self._ids.pop(0) if self._ids else None

    def ids(self) -> list[str]:
        """Return the waiting sources in order."""
        with self._lock:
            return list(self._ids)


class LiveSource(Protocol):
    """A source that is recorded while it is memorized (`live.session`)."""

    def clips(self, stop: Callable[[], bool]) -> Iterator[ClipMedia]:
        """Yield the clips that are not memorized yet, each when it begins; ends with the source, or when `stop` says so."""
        ...

    @property
    def running(self) -> bool:
        """Whether it is still recorded."""
        ...

    def heard(self, event: events.ClipCommitted) -> None:
        """Take the news that one of its clips was committed or lost."""
        ...

    def over(self) -> None:
        """Take the news that nothing of it is memorized any more."""
        ...


class SourceStore(ClipStore, Protocol):
    """What the work on sources needs from a memory, beyond `ClipStore`; every call runs as a whole on the writer's thread."""

    def sources(self) -> Sequence[Source]: ...
    def source(self, id_: str) -> Source: ...
    def clips(self, source: str) -> Sequence[Clip]: ...
    def add_source(self, source: Source, *, rebuild: bool) -> Source:
        """Add a source, or return the one with the same content; with `rebuild`, first remove that one and the one with this path."""
        ...

    def describe_source(self, source: Source) -> None:
        """Replace what is known of a source, its id apart: a live one is added before anything of it is known."""
        ...

    def plan_clips(self, source: str, clips: Sequence[Clip], *, fps: float) -> None: ...
    def requeue(self, source: str, readable: int) -> None:
        """Queue failed clips again, and skipped ones that start before `readable`."""
        ...

    def fail_queued(self, source: str, why: str) -> None:
        """Mark the clips that were not memorized as failed; adding the same file again retries them."""
        ...

    def note(self, source: str, state: SourceState, error: str | None) -> bool:
        """Record the state of the work on a source; return whether the source exists."""
        ...

    def tidy_recordings(self) -> None:
        """Finish deleting recordings where a process was killed in between."""
        ...

    def relink(self, source: str, uri: str) -> None: ...
    def remove_source(self, source: str, *, dry_run: bool) -> Effect: ...
    def fps_of(self, source: str) -> float | None: ...
    def settings(self) -> Mapping[str, str]: ...
    def set_setting(self, key: str, value: str) -> None: ...


CLIP_OF_IMPORT = 30 * MICROSECOND
"""Microseconds of a clip of M3-Agent, whose graphs tell times by whole clips."""


class Work:
    """The queue and the running work on the sources of one memory."""

    def __init__(self, store: SourceStore, backends: Backends, settings: Settings, emit: Callable[[Any], None]) -> None:
        self.settings = settings
        self.queue = Queue()
        self._store, self._backends, self._emit = store, backends, emit
        self._options: dict[str, Options] = {}
        self._watched: dict[str, HashedFile] = {}
        self._brake = Brake()
        self._live: dict[str, LiveSource] = {}
        self.between: Callable[[], None] = lambda: None
        """Called after each clip of a live source, on the thread that memorizes: for what else waits to be done there."""

    # ------------------------------------------------------------------ putting sources in

    def add(self, sources: Sequence[str | Path], options: Options | None = None) -> list[str]:
        """Queue files (and folders' media files, in name order); return their source ids.

        Raises SourceError or UsageError before anything is written; SourceChanged if a file differs from the one memorized under its path.
        """
        options = options or Options()
        if options.writer is not None:
            memory_writer.check(options.writer, self._backends)
        probed = [(p, _within(s, options)) for p, s in readable(sources, self._emit)]
        known = self._store.sources()
        ready = []
        for path, source in probed:
            watched = HashedFile(path.absolute(), cancelled=self._brake.stopping.is_set)
            source = replace(source, sha256=watched.sha256)
            _check_unchanged(path, source, known, options)
            ready.append((path, source, watched))
        return [self._add_one(path, source, options, watched) for path, source, watched in ready]

    def _add_one(self, path: Path, source: Source, options: Options, watched: HashedFile) -> str:
        old = [c for s in self._store.sources() if s.uri == source.uri for c in self._store.clips(s.id)] if is_recording(path) else []
        stored = self._store.add_source(source, rebuild=options.rebuild)
        clip_seconds = self.clip_seconds(options.clip_seconds)
        readable = file.readable_until(path, stored.duration or 0)
        if is_recording(path):
            clips = _recorded(path, stored.id, old, clip_seconds)
        else:
            clips = cutter.plan(stored, clip_seconds, options.start, options.end, readable)
        self._store.plan_clips(stored.id, clips, fps=options.fps or self.settings.fps)
        self._store.requeue(stored.id, readable)
        if options.writer is not None:  # a run that goes on after a kill writes on with the same one
            self._store.set_setting(memory_writer.KEPT + stored.id, options.writer)
        self._options[stored.id] = options
        self._watched[stored.id] = watched
        self._brake.cancel(stored.id, cancelled=False)
        self.queue.put(stored.id)
        self._emit(events.SourceQueued(stored.id, stored.uri))
        return stored.id

    def clip_seconds(self, wanted: float | None = None) -> float:
        """Return the clip length: the requested one, else the one that this memory began with."""
        kept = self._store.settings().get("clip_seconds")
        chosen = wanted or (float(kept) if kept else self.settings.clip_seconds)
        if not kept:
            self._store.set_setting("clip_seconds", repr(chosen))
        return chosen

    def resume(self) -> list[str]:
        """Queue the unfinished sources of earlier runs whose files still exist; return their ids."""
        unfinished = [s for s in self._store.sources() if s.state in ("queued", "working")]
        for source in unfinished:
            if file.is_there(source.uri):
                self.queue.put(source.id)
            else:
                self._set_state(source.id, "failed", f"{source.uri} no longer exists; use “Locate file”.")
        return [s.id for s in unfinished]

    # ------------------------------------------------------------------ doing it

    def run(self) -> RunTotals:
        """Memorize until the queue is empty. Raises Cancelled if stopped, ModelMissing if a perception model is missing."""
        total = RunTotals()
        while (source := self.queue.next()) is not None:
            total = total + self._one(source)
        return total

    def _one(self, source_id: str) -> RunTotals:
        source = self._known(source_id)
        if source is None:  # removed while it waited
            return RunTotals()
        if source_id in self._live:
            return self._one_live(source)
        options = self._options.get(source_id, Options())
        try:
            self._set_state(source_id, "working")
            self.check_file(source)
            memorizer = self._memorizer(source_id, options, partial(self._brake.ends, source_id))
            clips = self._store.clips(source_id)
            watched = self._watched[source_id]
            tally = memorizer.memorize(source, self.decoder(source), total=clips[-1].end if clips else 0, unchanged=watched.look)
            if tally != RunTotals():
                watched.prove()
        except Cancelled:
            interrupted = self._brake.gives_way(source_id)
            self._set_state(source_id, "queued" if interrupted or self._brake.stopping.is_set() else "cancelled")
            if self._brake.stopping.is_set():
                raise
            if interrupted:
                self.queue.put(source_id, 1)  # behind the live source
            return RunTotals()
        except SourceError as error:
            self._store.fail_queued(source_id, error.line())
            self._set_state(source_id, "failed", error.line())
            self._emit(events.Notice("error", str(error), error.hint))
            return RunTotals()
        except ModelMissing:
            self._set_state(source_id, "queued")  # it goes on once the weights are here
            self.queue.put(source_id, 0)
            raise
        except M3DeskError as error:
            if not self._known(source_id):  # removed in the middle of a clip, which its memory does not know any more
                return RunTotals()
            self._set_state(source_id, "failed", error.line())
            raise
        self._finish(source_id)
        return tally

    def decoder(self, source: Source) -> Callable[[Clip], cutter.FileClip]:
        """Return what decodes a clip of a source as it was planned."""
        return partial(cutter.FileClip, source, path=source.uri, fps=self._store.fps_of(source.id) or self.settings.fps)

    # ------------------------------------------------------------------ live sources

    def follow(self, source: str, live: LiveSource) -> None:
        """Memorize a live source as it is recorded, before all others; what is being memorized is interrupted and goes on afterwards."""
        self._live[source] = live
        self.queue.put(source, 0)
        self._brake.prefer(source)

    def _one_live(self, source: Source) -> RunTotals:
        """Memorize a live source until it has ended and nothing of it waits. It stays in the queue if that fails."""
        live, stop = self._live[source.id], partial(self._brake.ends, source.id)

        def emit(event: Any) -> None:
            self._emit(event)
            if isinstance(event, events.ClipCommitted):
                live.heard(event)

        try:
            tally = self._memorizer(source.id, Options(), stop, emit).follow(source, live.clips(stop), lambda: self.between())
        except Cancelled:
            if self._brake.stopping.is_set():
                raise
            tally = RunTotals()
        except M3DeskError:
            self.queue.put(source.id, 0)  # it is still recorded, and tried again when its next clip is closed
            raise
        self._live.pop(source.id, None)
        self._brake.prefer(None)
        if self._known(source.id) is not None:
            self._finish_live(source.id)
        live.over()
        return tally

    def _finish_live(self, source: str) -> None:
        """Set the state of a live source that has ended; one of which nothing was recorded is removed."""
        if self._store.clips(source):
            self._finish(source)
        else:
            self._store.remove_source(source, dry_run=False)
            self._emit(events.SourceChanged(source, "removed"))

    def _known(self, source: str) -> Source | None:
        return next((s for s in self._store.sources() if s.id == source), None)

    def check_file(self, source: Source) -> None:
        """Raise SourceMissing or SourceChanged if the file is not the one that this source was added with."""
        watched = self._watched.get(source.id)
        if watched is None or str(watched.path) != source.uri:
            watched = self._watched[source.id] = HashedFile(source.uri, source.sha256, self._brake.stopping.is_set)
        watched.look()

    def _finish(self, source_id: str) -> None:
        states = [c.state for c in self._store.clips(source_id)]
        if "queued" in states:  # a live source that was cancelled
            self._set_state(source_id, "cancelled")
            return
        lost = sum(s in ("failed", "skipped") for s in states)
        if not lost:
            self._set_state(source_id, "done")
        elif lost == len(states):
            self._set_state(source_id, "failed", "no clip of it could be memorized.")  # each clip has its own reason
        else:
            self._set_state(source_id, "partial", f"{lost} of {len(states)} clips could not be memorized.")

    def conclude(self, language: str | None = None, *, enough: Callable[[int], bool] = lambda _count: False) -> int:
        """Write missing semantic memories; return how many clips got all of theirs.

        First by rule, then those of the language model and what the memory writer concluded. Without a language model only clips whose
        writer concluded something (`memory_writer`) are done then, the others wait for one.

        Stops between two clips when a source is queued, to go on later: episodic memories come before semantic ones. Also stops when
        `enough`, called with the number of clips so far, says so.
        """
        if not self.settings.semantic or not self._store.to_conclude():
            return 0
        ruled = not self._store.to_rule()
        language_model = self._backends.get("language")
        nothing_to_ask = language_model is None and not self._store.to_conclude(drafted=True)
        if ruled and nothing_to_ask:
            return 0
        memorizer = Memorizer(
            self._store,
            self._opened(("text_vectors",)),
            ComposedWriter(),
            self._emit,
            language=language or self.settings.memory_language,
            stop=self._brake.ends,
        )
        memorizer.rule(RuledKnowledgeWriter())
        if nothing_to_ask:
            return 0
        began_with = self.queue.ids()
        return memorizer.conclude(
            LlmKnowledgeWriter(language_model) if language_model is not None else None,
            flagged=self._brake.touched,  # never waits: it is asked while the model is held
            enough=lambda count: self.queue.ids() != began_with or enough(count),
        )

    def _memorizer(self, source: str, options: Options, stop: Callable[[], bool], emit: Callable[[Any], None] | None = None) -> Memorizer:
        language = options.language or self.settings.memory_language
        models = self._opened(PERCEPTION)
        kept = self._store.settings()
        name = self._writer(options.writer or kept.get(memory_writer.KEPT + source))
        writer = ComposedWriter() if name == memory_writer.RULES else self._watching(name)
        other = self._backends.instead(models, kept)
        also = reembedding.Also(models, other) if other else None
        return Memorizer(self._store, models, writer, emit or self._emit, language=language, stop=stop, also=also)

    def _watching(self, name: str) -> MemoryWriter:
        """Open a writer that watches; tell what leaves this machine."""
        if (leaving := outgoing.leaving({}, name)) is not None:
            self._emit(events.Leaves(leaving))
        return memory_writer.opened(name, self._backends, self._brake.stopping.is_set)

    def _writer(self, asked: str | None) -> str:
        """Return the writer that a run asks for, else that of the user's settings, else the profile's."""
        mine = self.settings.writer
        return asked or (mine if mine != memory_writer.RULES else self._backends.chosen("watcher") or memory_writer.RULES)

    def _opened(self, ports: Sequence[str]) -> Models:
        """Open models of perception. Raises ModelMissing: a clip perceived without one of them would stay incomplete."""
        with ThreadPoolExecutor(2, "m3desk-load") as pool:  # two at once: loading is half disk, half CPU
            list(pool.map(self._backends.get, ports))
        opened = self._backends.models(*ports)
        lacking = [why for port, why in opened.missing.items() if port in ports]
        if lacking:
            self._backends.forget_missing()
            raise ModelMissing("; ".join(lacking))
        return opened

    # ------------------------------------------------------------------ what the user may do meanwhile

    def stop(self) -> None:
        """Stop permanently at the next safe point."""
        self._brake.stop()

    def pause(self, paused: bool) -> None:
        """Pause perception and writing; questions and corrections still work."""
        self._brake.pause(paused)

    def cancel(self, source: str) -> None:
        """Stop work on one source; what was committed stays. Raises UsageError while it is recorded."""
        self._check_not_recorded(source)
        self._brake.cancel(source)
        self.queue.drop(source)
        self._set_state(source, "cancelled")

    def retry(self, source: str) -> None:
        """Queue a source again, with its failed clips and those that have become readable."""
        stored = self._store.source(source)
        self.check_file(stored)
        self._brake.cancel(source, cancelled=False)
        self._store.requeue(source, file.readable_until(stored.uri, stored.duration or 0))
        self._set_state(source, "queued")
        self.queue.put(source)

    def remove(self, source: str, *, dry_run: bool = False) -> Effect:
        """Remove a source and everything that depends only on it (call it with `dry_run` first to see what that is).

        Raises UsageError while it is recorded.
        """
        if dry_run:
            return self._store.remove_source(source, dry_run=True)
        self._check_not_recorded(source)
        self.queue.drop(source)
        self._brake.cancel(source)
        known = self._known(source)
        recorded = known is not None and is_recording(known.uri)
        try:
            effect = self._store.remove_source(source, dry_run=False)
        except FileLeft:
            self._removed(known, recorded=recorded)
            raise
        self._removed(known, recorded=recorded)
        return effect

    def _removed(self, source: Source | None, *, recorded: bool) -> None:
        """Tell that a source was removed: its recording is gone with it, a file of the user is not."""
        if source is not None:
            gone = recorded and not is_recording(source.uri)
            self._emit(events.Erased(source.id, 0, max(source.duration or 0, 1), recording=gone, memory=True))
            self._emit(events.SourceChanged(source.id, "removed"))

    def _check_not_recorded(self, source: str) -> None:
        live = self._live.get(source)
        if live is not None and live.running:
            raise UsageError(f"{source} is being recorded.", "Stop recording first; what is recorded is then memorized.")

    def relink(self, source: str, path: str) -> None:
        """Set the path of a moved file, or of the video of an imported graph. Raises SourceChanged if it is another file.

        An imported graph names no file: a video is accepted if its length fits to within CLIP_OF_IMPORT microseconds.
        """
        old = self._store.source(source)
        found = tried(path)
        if old.sha256 is None:
            if abs((found.duration or 0) - (old.duration or 0)) > CLIP_OF_IMPORT:
                raise SourceChanged(
                    f"{path} is {clock(found.duration or 0)} long, but the imported graph covers {clock(old.duration or 0)}.",
                    "Choose the video that the graph was made of.",
                )
        elif file.fingerprint(path, self._brake.stopping.is_set) != old.sha256:
            raise SourceChanged(f"{path} is not the file that was memorized as {source}.", "Choose the same file at its new path.")
        self._store.relink(source, str(Path(path).resolve()))
        self._emit(events.SourceChanged(source, old.state))

    def _set_state(self, source: str, state: SourceState, error: str | None = None) -> None:
        if self._store.note(source, state, error):
            self._emit(events.SourceChanged(source, state, error))


def _recorded(path: Path, source: str, old: Sequence[Clip], clip_seconds: float) -> list[Clip]:
    """Return the clips of a recording: cut as they were when it was memorized live, with nothing given up, and what lacks behind them."""
    again = [Clip(clip_id(source, c.index), source, c.index, c.start, c.end, overrun=c.overrun) for c in old]
    return [*again, *lacking(Recording.open(path).segments(), again, source, round(clip_seconds * MICROSECOND))]


def expand(path: str | Path) -> list[Path]:
    """Return a list of one file, or a folder's media files in name order. Raises SourceError."""
    return file.media_files(path) if Path(path).is_dir() and not is_recording(path) else [Path(path)]


def readable(sources: Sequence[str | Path], emit: Callable[[Any], None] = lambda _event: None) -> list[tuple[Path, Source]]:
    """Return each file with its probed facts. Unusable files of a folder are skipped with a notice; a named one raises SourceError.

    Also raises SourceError if no file is left.
    """
    found: list[tuple[Path, Source]] = []
    failed: SourceError | None = None
    for given in sources:
        for path in expand(given):
            try:
                found.append((path, tried(path, lambda text: emit(events.Notice("warning", text, "It is skipped.")))))
            except SourceError as error:
                if not Path(given).is_dir():
                    raise
                failed = error
                emit(events.Notice("warning", f"left out: {error}", error.hint))
    if failed is not None and not found:
        raise failed
    return found


def _within(source: Source, options: Options) -> Source:
    """Return the source. Raises UsageError if --start and --end leave nothing of it."""
    length = source.duration or 0
    end = length if options.end is None else min(options.end, length)
    if options.start >= end:
        raise UsageError(
            f"nothing lies between --start {clock(options.start)} and --end {clock(end)}.", f"The file is {clock(length)} long."
        )
    return source


def _check_unchanged(path: Path, source: Source, known: Sequence[Source], options: Options) -> None:
    changed = [s for s in known if s.uri == source.uri and s.sha256 != source.sha256]
    if changed and not options.rebuild:
        raise SourceChanged(
            f"{path} is not the file that was memorized as {changed[0].id} (its content changed).",
            "Re-memorize it with --rebuild (your corrections are applied again), or keep the old memory and move the new file elsewhere.",
        )
