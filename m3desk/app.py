"""The engine put together: all that a command, or the window's process behind `desk`, may ask of one memory.

One thread owns every write (`_write`), one memorizes (`work`), questions run on threads of their own with readers of their own.
Must not know: Qt, how commands or windows look.
"""

from __future__ import annotations

import logging
import os
import shutil
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from m3desk import config, events, lookup, models, paths
from m3desk.backends import PROFILES, Backends
from m3desk.config import Settings
from m3desk.control import loop
from m3desk.control.search import Search
from m3desk.domain.clip import Clip, Source
from m3desk.domain.correction import Effect
from m3desk.errors import Cancelled, M3DeskError, MemoryMissing, SourceChanged, SourceError, SourceMissing, UsageError
from m3desk.interop import doctor, exports, imports
from m3desk.media import cutter, file
from m3desk.memorization.compose import ComposedWriter
from m3desk.memorization.knowledge import LlmKnowledgeWriter
from m3desk.pipeline import Memorizer, Tally, now
from m3desk.ports import Found, FoundClip
from m3desk.store.sqlite import Memory
from m3desk.store.vectors import VectorIndex

log = logging.getLogger(__name__)
T = TypeVar("T")

PERCEPTION = ("faces", "face_vectors", "speech_activity", "voice_vectors", "speech", "objects", "screen_text", "text_vectors")
"""The ports that an episodic commit needs; the language model is opened later and apart."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to memorize. Times are microseconds of each source; None = the memory's or the settings' own."""

    clip_seconds: float | None = None
    fps: float | None = None
    start: int = 0
    end: int | None = None
    semantic: bool = True
    rebuild: bool = False
    language: str | None = None


class _Queue:
    """Sources waiting for work, in the order the user wants; thread-safe."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._lock = threading.Lock()
        self.changed = threading.Event()

    def put(self, source: str, at: int | None = None) -> None:
        with self._lock:
            if source in self._ids:
                self._ids.remove(source)
            self._ids.insert(len(self._ids) if at is None else at, source)
        self.changed.set()

    def drop(self, source: str) -> None:
        with self._lock:
            if source in self._ids:
                self._ids.remove(source)

    def next(self) -> str | None:
        with self._lock:
            return self._ids.pop(0) if self._ids else None

    def ids(self) -> list[str]:
        with self._lock:
            return list(self._ids)


class _Ledger:
    """The pipeline's side of the one writer thread: every call runs there, whole, between the user's corrections."""

    def __init__(self, write: Callable[[Callable[[Memory], Any]], Any]) -> None:
        self._write = write

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            return self._write(lambda memory: getattr(memory, name)(*args, **kwargs))

        return call


class App:
    """One open memory and what may be done with it. Close it; or use it in a `with`."""

    def __init__(
        self,
        path: str | Path,
        *,
        write: bool = True,
        settings: Settings | None = None,
        emit: Callable[[Any], None] = lambda _event: None,
        backends: Backends | None = None,
    ) -> None:
        """Open the memory at `path`; with `write`, make it where there is none. Raises MemoryProblem."""
        self.path = str(path)
        self.settings = settings or Settings.load()
        self.emit = emit
        self.backends = backends or Backends(
            models.weights,
            profile=profile(self.settings.profile),
            threads=self.settings.threads,
            on_load=lambda name, done: emit(events.ModelLoading(name, done)),
        )
        self.queue = _Queue()
        self._options: dict[str, Options] = {}
        self._stopping = threading.Event()
        self._running = threading.Event()
        self._running.set()
        self._cancelled: set[str] = set()
        self._asks: dict[str, threading.Event] = {}
        self._index: VectorIndex | None = None
        self._index_lock = threading.Lock()
        self._writer = ThreadPoolExecutor(1, "m3desk-writer")
        self._memory: Memory | None = None
        if write:
            try:
                self._memory = self._writer.submit(Memory.open_or_create, Path(self.path)).result()
            except BaseException:
                self._writer.shutdown()
                raise
        elif not Path(self.path).is_dir():
            raise MemoryMissing(f"there is no memory at {self.path}.", "Make one: m3desk memorize VIDEO -m " + self.path)

    # ------------------------------------------------------------------ opening, closing, reading, writing

    def __enter__(self) -> App:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def discard_if_empty(self) -> None:
        """Close, and delete the memory if nothing was ever put into it (a run that failed on its first file leaves no trace)."""
        empty = not self.write(lambda m: m.sources())
        self.close()
        if empty:
            shutil.rmtree(self.path, ignore_errors=True)

    def close(self) -> None:
        """Stop all work at the next safe moment and close; what was committed stays."""
        self._stopping.set()
        self._running.set()
        for stop in self._asks.values():
            stop.set()
        if self._memory is not None:
            self._writer.submit(self._memory.close).result()
            self._memory = None
        self._writer.shutdown()

    def missing(self) -> dict[str, str]:
        """Return the models of the embedded profile that are not on this machine: name → what it is and how to fetch it."""
        lacking = [r for r in models.rows() if r["state"] not in ("shipped", "ready") and r["profile"] != "demo"]
        how = {"llm": "m3desk models pull --llm"}
        return {r["name"]: f"{r['title']} ({r['bytes'] / 1e6:.0f} MB): {how.get(r['profile'], 'm3desk models pull')}" for r in lacking}

    def reader(self) -> Memory:
        """Return a new read-only look at this memory, for one thread."""
        return Memory.open(Path(self.path), write=False)

    def write(self, change: Callable[[Memory], T]) -> T:
        """Run `change` on the one thread that writes, and return what it returns."""
        memory = self._memory
        if memory is None:
            raise UsageError("this memory is open for reading only.")
        return self._writer.submit(change, memory).result()

    # ------------------------------------------------------------------ memorizing

    def add(self, sources: Sequence[str | Path], options: Options | None = None) -> list[str]:
        """Queue files (and folders' media files, in name order); return their source ids.

        Raises SourceError before anything is written; SourceChanged when a file differs from what was memorized under its path.
        """
        options = options or Options()
        found = [p for path in sources for p in expand(path)]
        probed = [(p, file.probe(p)) for p in found]
        ids = []
        for path, source in probed:
            sha256 = file.fingerprint(path, self._stopping.is_set)
            ids.append(self._add_one(path, replace(source, sha256=sha256), options))
        return ids

    def _add_one(self, path: Path, source: Source, options: Options) -> str:
        same_place = [s for s in self.write(lambda m: m.sources()) if s.uri == source.uri and s.sha256 != source.sha256]
        if same_place and not options.rebuild:
            raise SourceChanged(
                f"{path} is not the file that was memorized as {same_place[0].id} (its content changed).",
                "Memorize it anew under your corrections with --rebuild, or keep the old memory and put the new file elsewhere.",
            )
        for old in same_place:
            self._drop(old.id)
        stored = self.write(lambda m: m.add_source(source))
        if options.rebuild and not same_place and stored.state != "queued":
            self._drop(stored.id)
            stored = self.write(lambda m: m.add_source(source))
        clip_seconds = options.clip_seconds or self.settings.clip_seconds
        fps = options.fps or self.settings.fps
        if not self.write(lambda m: m.clips(stored.id)):
            readable = file.readable_until(path, stored.duration or 0)
            clips = cutter.plan(stored, clip_seconds, options.start, options.end, readable)
            self.write(lambda m: m.plan_clips(stored.id, clips, fps=fps))
        self._options[stored.id] = options
        self._cancelled.discard(stored.id)
        self.queue.put(stored.id)
        self.emit(events.SourceQueued(stored.id, stored.uri))
        return stored.id

    def _drop(self, source: str) -> None:
        self.write(lambda m: m.remove_source(source))

    def resume(self) -> list[str]:
        """Queue the sources that an earlier run left unfinished and whose files are still there; return their ids."""
        unfinished = [s for s in self.write(lambda m: m.sources()) if s.state in ("queued", "working")]
        for source in unfinished:
            if Path(source.uri).is_file():
                self.queue.put(source.id)
            else:
                self._set_state(source.id, "failed", f"{source.uri} is not there any more; use “Locate file”.")
        return [s.id for s in unfinished]

    def work(self) -> Tally:
        """Memorize until the queue is empty, then write the knowledge that clips lack. Raises Cancelled when the app is closed."""
        total = Tally()
        while (source := self.queue.next()) is not None:
            total = _add(total, self._work_on(source))
        return total

    def _work_on(self, source_id: str) -> Tally:
        source = self.write(lambda m: m.source(source_id))
        options = self._options.get(source_id, Options())
        path = source.uri
        self._set_state(source_id, "working")
        try:
            if not Path(path).is_file():
                raise SourceMissing(f"{path} is not there any more.", "Put it back, or say where it is now: m3desk sources relink.")
            memorizer = self._memorizer(options, lambda: self._should_stop(source_id))
            clips = self.write(lambda m: m.clips(source_id))
            fps = self.write(lambda m: m.fps_of(source_id)) or self.settings.fps
            tally = memorizer.memorize(source, path, fps=fps, total=clips[-1].end if clips else 0)
        except Cancelled:
            self._set_state(source_id, "queued" if self._stopping.is_set() else "cancelled")
            if self._stopping.is_set():
                raise
            return Tally()
        except SourceError as error:
            self._set_state(source_id, "failed", error.line())
            self.emit(events.Notice("error", str(error), error.hint))
            return Tally()
        except M3DeskError as error:
            self._set_state(source_id, "failed", error.line())
            raise
        states = {c.state for c in self.write(lambda m: m.clips(source_id))}
        incomplete = states & {"failed", "skipped"}
        self._set_state(source_id, "partial" if incomplete else "done", "some clips could not be memorized" if incomplete else None)
        return tally

    def conclude(self, language: str | None = None, stop: Callable[[], bool] | None = None) -> int:
        """Write the semantic memories that clips lack, where there is a language model; return how many clips got theirs."""
        if not self.settings.semantic or not self.write(lambda m: m.to_conclude()):
            return 0
        language_model = self.backends.get("language")
        if language_model is None:
            return 0
        writer = LlmKnowledgeWriter(language_model)
        memorizer = self._memorizer(Options(language=language), stop or (lambda: self._should_stop(None)))
        return memorizer.conclude(writer)

    def _memorizer(self, options: Options, stop: Callable[[], bool]) -> Memorizer:
        language = options.language or self.settings.memory_language
        return Memorizer(_Ledger(self.write), self._perception(), ComposedWriter(), self._committed, language=language, stop=stop)

    def _perception(self) -> Any:
        with ThreadPoolExecutor(2, "m3desk-load") as pool:  # two at once: loading is half disk, half CPU
            list(pool.map(self.backends.get, PERCEPTION))
        opened = self.backends.models(*PERCEPTION)
        for port, why in opened.missing.items():
            if port in PERCEPTION:
                self.emit(events.Notice("warning", f"{port.replace('_', ' ')}: {why}"))
        return opened

    def _committed(self, event: Any) -> None:
        self.emit(event)

    def _should_stop(self, source: str | None) -> bool:
        while not self._running.wait(0.5):
            if self._stopping.is_set():
                break
        return self._stopping.is_set() or source in self._cancelled

    def pause(self, paused: bool) -> None:
        """Hold perception and writing where they are; questions and corrections go on."""
        if paused:
            self._running.clear()
        else:
            self._running.set()

    def cancel(self, source: str) -> None:
        """Stop work on one source; what was committed stays."""
        self._cancelled.add(source)
        self.queue.drop(source)
        self._set_state(source, "cancelled")

    def retry(self, source: str) -> None:
        """Queue a source again, with its failed and skipped clips."""
        self._cancelled.discard(source)
        for clip in self.write(lambda m: m.clips(source)):
            if clip.state in ("failed", "skipped"):
                self.write(partial(Memory.mark_clip, clip=clip.id, state="queued", error=None))
        self._set_state(source, "queued")
        self.queue.put(source)

    def _set_state(self, source: str, state: str, error: str | None = None) -> None:
        self.write(lambda m: m.set_source(source, state=state, error=error))
        self.emit(events.SourceChanged(source, state, error))

    def remove_source(self, source: str, *, dry_run: bool = False) -> Effect:
        """Forget a source and what rests on it alone (first call it with `dry_run` to see what that is)."""
        if not dry_run:
            self.queue.drop(source)
            self._cancelled.add(source)
        effect = self.write(lambda m: m.remove_source(source, dry_run=dry_run))
        if not dry_run:
            self.emit(events.SourceChanged(source, "removed"))
        return effect

    def relink(self, source: str, path: str) -> None:
        """Say where a moved file is now. Raises SourceChanged when it is another file."""
        old = self.write(lambda m: m.source(source))
        file.probe(path)
        if file.fingerprint(path, self._stopping.is_set) != old.sha256:
            raise SourceChanged(f"{path} is not the file that was memorized as {source}.", "Choose the same file, wherever it lies now.")
        self.write(lambda m: m.set_source(source, uri=str(Path(path).resolve())))
        self.emit(events.SourceChanged(source, old.state))

    # ------------------------------------------------------------------ searching and asking

    def search(self, reader: Memory) -> Search:
        """Return a search over this memory, its index brought up to date first."""
        with self._index_lock:
            embedder = self.backends.get("text_vectors")
            if self._index is None:
                self._index = VectorIndex(Path(self.path) / "vectors")
            name = embedder.name if embedder else ""
            self._index.sync(reader, name)
            for notice in self._index.notices:
                self.emit(events.Notice("info", notice))
            self._index.notices.clear()
            return Search(reader, self._index, embedder)

    def embed_lacking(self) -> int:
        """Embed sentences that the active text model has not embedded (edited ones, an import's); return how many."""
        embedder = self.backends.get("text_vectors")
        lacking = self.write(lambda m: m.lacking_vectors(embedder.name)) if embedder else []
        if embedder and lacking:
            rows = embedder.embed([text for _, text in lacking])
            self.write(lambda m: m.store_vectors("text", embedder.name, [node for node, _ in lacking], rows))
        return len(lacking)

    def search_nodes(self, text: str, **how: Any) -> list[Found]:
        """Search single memories; see `control.search`."""
        with self.reader() as reader:
            return self.search(reader).nodes(text, **how)

    def search_clips(self, text: str, **how: Any) -> list[FoundClip]:
        """Search clips over their memories; see `control.search`."""
        with self.reader() as reader:
            return self.search(reader).clips(text, **how)

    def search_image(self, path: Path, *, k: int = 20, before: tuple[str, int] | None = None) -> list[Found]:
        """Return whose faces a picture shows; accepted matches only. Raises NoFace, SourceError, ModelMissing."""
        models = self.backends.models("faces", "face_vectors")
        candidates = lookup.faces(path, models)
        return self._lookup(candidates, "face", models.face_vectors.name if models.face_vectors else "", k, before)

    def search_audio(self, path: Path, *, k: int = 20, before: tuple[str, int] | None = None) -> list[Found]:
        """Return whose voice a recording holds; accepted matches only. Raises SourceError, ModelMissing."""
        models = self.backends.models("speech_activity", "voice_vectors")
        candidates = lookup.voice(path, models)
        return self._lookup(candidates, "voice", models.voice_vectors.name if models.voice_vectors else "", k, before)

    def _lookup(self, candidates: Any, kind: str, model: str, k: int, before: tuple[str, int] | None) -> list[Found]:
        with Memory.open(Path(self.path), before=before) as reader:
            galleries = lookup.known(candidates, reader.vectors(kind, model), reader.bindings(), reader.people())
            return lookup.found(candidates, galleries, model, reader, k)

    def ask(self, question: str, *, ask: str | None = None, before: Any = None, span: tuple[str, int, int] | None = None) -> Iterator[Any]:
        """Answer a question: yield AskStarted, rounds, text and AskDone (see `control.loop`); keep it with the memory's chats."""
        ask = ask or uuid.uuid4().hex[:12]
        stop = self._asks.setdefault(ask, threading.Event())
        done: events.AskDone | None = None
        rounds: list[events.AskRound] = []
        try:
            yield events.AskStarted(ask, question)
            with self.reader() as reader:
                search = self.search(reader)
                language = self.backends.get("language")
                for event in loop.answer(question, search, reader, language, ask=ask, span=span, before=before, cancelled=stop.is_set):
                    if isinstance(event, events.AskRound):
                        rounds.append(event)
                    if isinstance(event, events.AskDone):
                        done = event
                    yield event
        except M3DeskError as error:
            done = events.AskDone(ask, "", False, (), "", 0.0, error=error.line())
            yield done
        finally:
            self._asks.pop(ask, None)
        if done is not None and self._memory is not None and not done.error:
            kept = loop.as_chat(question, rounds, done, now())
            self.write(lambda m: m.add_chat(kept))

    def stop_asking(self, ask: str) -> None:
        """Stop an answer at once."""
        if stop := self._asks.get(ask):
            stop.set()

    # ------------------------------------------------------------------ moving and proving

    def import_json(self, path: Path) -> dict[str, Any]:
        """Read an export into this memory, which must be empty; return how much that was. Raises ImportProblem; then nothing is kept."""
        return self.write(lambda m: imports.import_json(path, m))

    def export(self, output: str | Path, *, format_: str | None = None, source: str | None = None, with_media: bool = False) -> None:
        """Write this memory to a file in another format, or to standard output for `-`."""
        with self.reader() as reader:
            exports.export(reader, output, format_=format_, source=source, with_media=with_media)

    def check(self, *, repair: bool = False) -> dict[str, Any]:
        """Return the report of `m3desk check`; `repair` first rebuilds what can be rebuilt."""
        if self._memory is not None:
            return self.write(lambda m: doctor.check(m, repair=repair))
        with self.reader() as reader:
            return doctor.check(reader)

    # ------------------------------------------------------------------ correcting

    def correct(self, kind: str, args: Mapping[str, Any], *, why: str | None = None, dry_run: bool = False) -> Effect:
        """Apply a correction (or, on a dry run, say what it would do). Raises CorrectionError."""
        effect = self.write(lambda m: m.correct(kind, dict(args), by="user", why=why, dry_run=dry_run, at=now()))
        if not dry_run:
            self._corrected(kind, effect)
        return effect

    def undo(self, count: int = 1) -> Effect:
        """Take back the last corrections."""
        return self._corrected("undo", self.write(lambda m: m.undo(count, at=now())))

    def redo(self, count: int = 1) -> Effect:
        """Apply again what undo took back."""
        return self._corrected("redo", self.write(lambda m: m.redo(count, at=now())))

    def revert(self, step: int) -> Effect:
        """Append the inverse of an older step."""
        return self._corrected("revert", self.write(lambda m: m.revert(step, at=now())))

    def _corrected(self, kind: str, effect: Effect) -> Effect:
        can_undo, can_redo = self.write(lambda m: (m.can_undo(), m.can_redo()))
        self.emit(events.Corrected(effect.step or 0, kind, effect.text, can_undo, can_redo))
        return effect


def profile(name: str) -> dict[str, str]:
    """Return a profile's backends by port: one of ours, or the user's own from the settings. Raises UsageError."""
    known = {**PROFILES, **config.profiles()}
    if name not in known:
        raise UsageError(f"there is no profile “{name}”.", f"There are: {', '.join(known)}.")
    return known[name]


def _add(a: Tally, b: Tally) -> Tally:
    return Tally(a.committed + b.committed, a.failed + b.failed, a.skipped + b.skipped, a.seconds + b.seconds, a.covered + b.covered)


def expand(path: str | Path) -> list[Path]:
    """Return a file as itself, a folder as its media files in name order. Raises SourceError."""
    return file.media_files(path) if Path(path).is_dir() else [Path(path)]


def default_memory(video: str | Path) -> Path:
    """Return where a video's memory lies unless told otherwise: beside it (`VIDEO.m3desk`), or in the data folder if that is read-only."""
    path = Path(video).resolve()
    beside = path.with_name(path.name + ".m3desk")
    if beside.exists() or os.access(path.parent, os.W_OK):
        return beside
    return paths.data_dir() / "memories" / beside.name


def make_player(on_frame: Callable[[Any], None], on_state: Callable[[Any], None]) -> Any:
    """Return a player (`media.player.Player`) for the window."""
    from m3desk.media.player import Player

    return Player(on_frame, on_state)


__all__ = ["App", "Clip", "Options", "default_memory", "make_player"]
