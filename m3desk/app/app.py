"""Assembles the engine for one memory: every call that the command line and the window's engine process make.

One thread makes all writes, one memorizes (`work`); each question runs on its own thread with its own reader.
Must not know: Qt, how commands or windows look.
"""

from __future__ import annotations

import contextlib
import logging
import shlex
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

from m3desk import events, memory_writer, models
from m3desk.app import correcting, embedding, forgetting, long_work, rewriting
from m3desk.app.answering import Answering, Before
from m3desk.app.importing import Importing
from m3desk.app.on_disk import VectorsOnDisk
from m3desk.app.open_questions import OpenQuestions
from m3desk.backends import Backends, profile, profile_or_why
from m3desk.children import loading
from m3desk.config import Settings
from m3desk.control.searching import Searching
from m3desk.domain.changed import Changed
from m3desk.domain.clip import clock
from m3desk.domain.correction import Effect
from m3desk.domain.editing import Lesson
from m3desk.domain.identity import KnownPeople
from m3desk.domain.live import SpanForgotten, WatchKind, WatchRule
from m3desk.domain.log import ObservationType
from m3desk.errors import M3DeskError, MemoryMissing, MemoryProblem, SourceMissing, UsageError
from m3desk.interop import doctor, exports, imports, m3agent, placing
from m3desk.live.recognition import Recognition
from m3desk.live.sessions import Live
from m3desk.live.watching import Watching
from m3desk.media import excerpt, waveform
from m3desk.media.file import is_there
from m3desk.outgoing import Leaving, leaving
from m3desk.perception import heap
from m3desk.ports import Models
from m3desk.samples import lookup
from m3desk.store import opening
from m3desk.store.cells import WRONG
from m3desk.store.forgetting import pending
from m3desk.store.forgetting.removing import Forgotten, How
from m3desk.store.index.words import words
from m3desk.store.memory import Memory, now
from m3desk.store.place import FILE
from m3desk.store.rebinding import Reembedded
from m3desk.store.records import Records
from m3desk.work import Work
from m3desk.writer import SourcesAndClips, Writer

log = logging.getLogger(__name__)
T = TypeVar("T")
TOLD = 10_000
"""Maximum number of changed ids in an event; above that the window reads everything again."""


class App:
    """One open memory and its operations. Close it, or use it in a `with` block."""

    def __init__(
        self,
        path: str | Path,
        *,
        write: bool = True,
        settings: Settings | None = None,
        emit: Callable[[Any], None] = lambda _event: None,
        backends: Backends | None = None,
    ) -> None:
        """Open the memory at `path`; with `write`, create it if it does not exist. Raises MemoryProblem."""
        self.path = str(path)
        heap.keep_together()
        self.settings, problem = (settings, None) if settings else _settings()
        self._closing = threading.Event()
        self.watching = Watching(self.reader, emit)
        self.emit = self._seen_by_rules(emit)
        self.backends = backends or Backends(
            models.weights,
            profile=problem or profile_or_why(self.settings.profile),
            threads=self.settings.threads,
            on_load=lambda name, done: emit(events.ModelLoading(name, done)),
        )
        self._unheard = loading.listen(lambda name, done, line: emit(events.ModelLoading(name, done, line)))
        self.on_disk = VectorsOnDisk(Path(self.path), self.reader, told=write)
        self.searching = Searching(self.on_disk.cache, words, self.reader, self.on_disk.write)
        self.answering = Answering(self)
        self._untold: Changed | None = None
        self.questions = OpenQuestions(self.reader, emit)
        self.importing = Importing(self)
        self._made = write and not (Path(self.path) / FILE).exists()
        self._writer: Writer | None = None
        self.finished: list[dict[str, Any]] = []
        """Reports of forgettings that were left unfinished by a killed process and that this opening finished."""
        if write:
            try:
                self._writer = Writer(Path(self.path))
            except OSError as error:
                raise MemoryProblem(
                    f"{self.path} can't be used as a memory ({error.strerror or error}).",
                    "Choose another folder, or check its permissions.",
                ) from error
        store = SourcesAndClips(self._writer or self.write)
        self.work = Work(store, self.backends, self.settings, emit)
        self.live = Live(Path(self.path), store, self.work, self.emit, recognise=self._recognition)
        if write:
            try:
                self.write(lambda m: m.watch(self._note))
                self.finished = forgetting.finish(self)
            except BaseException:
                self.close()
                raise
        elif not Path(self.path).is_dir():
            raise MemoryMissing(
                f"there is no memory at {self.path}.", f"Check the path, or make one: m3desk memorize VIDEO -m {shlex.quote(self.path)}"
            )
        elif pending.marks(Path(self.path)):
            text = "Forgetting was started in this memory but is not finished: traces of what was forgotten may be left."
            self.emit(
                events.Notice(
                    "warning", text, f"The next command that writes will finish it: m3desk check --repair -m {shlex.quote(self.path)}"
                )
            )

    # ------------------------------------------------------------------ opening, closing, reading, writing

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _where: object) -> None:
        self.close()
        if isinstance(error, WRONG) and Path(self.path).is_dir():
            with self.reader() as reader:
                damage = reader.damage()
            if damage is not None:
                raise damage from error

    def discard_if_empty(self) -> None:
        """Close, and delete the memory if nothing was ever committed to it: a run in which every file failed leaves nothing behind."""
        empty = self.write(_holds_nothing)
        self.close()
        if empty:
            _delete(Path(self.path))

    def discard_if_unused(self) -> None:
        """Close, and delete the memory if this process made it and nothing was committed to it: its live source failed at once."""
        if self._made:
            self.discard_if_empty()
        else:
            self.close()

    def close(self) -> None:
        """Stop all work at the next safe moment and close; what was committed stays."""
        self._closing.set()
        self._unheard()
        self.work.stop()
        self.live.close()
        self.searching.close()
        self.questions.close()
        self.watching.close()
        self.answering.close()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def closing(self) -> bool:
        """Return whether the memory is being closed, so that long work ends."""
        return self._closing.is_set()

    @staticmethod
    def restore(path: str | Path) -> str:
        """Replace a damaged database with its last good copy; return the copy's date. Raises MemoryProblem, UsageError."""
        return opening.put_copy_back(path)

    def keep_copy(self) -> None:
        """Make a backup copy of the database if one is due (`store.backups`)."""
        if self._writer is not None:
            self.write(lambda m: m.keep_copy())

    def missing(self) -> dict[str, str]:
        """Return the models of the embedded profile that are not on this machine: name → what it is and how to download it.

        Its language model only where the chosen profile uses it.
        """
        language = self.no_language()
        lacking = [r for r in _lacking() if r["profile"] != "llm" or r["name"] == language]
        how = {"llm": "m3desk models pull --llm"}
        return {r["name"]: f"{r['title']} ({r['bytes'] / 1e6:.0f} MB): {how.get(r['profile'], 'm3desk models pull')}" for r in lacking}

    def no_language(self) -> str:
        """Return the language model of the embedded profile if it is not installed and the chosen profile uses it; else ""."""
        mine, embedded = profile_or_why(self.settings.profile), profile("embedded")
        if isinstance(mine, UsageError) or mine.get("language") != embedded.get("language"):
            return ""
        return next((r["name"] for r in _lacking() if r["profile"] == "llm"), "")

    def leaves(self) -> Leaving | None:
        """Return what goes to another machine with the profile and memory writer of the settings; None: nothing, or it can't be told."""
        ports = profile_or_why(self.settings.profile)
        try:
            return None if isinstance(ports, UsageError) else leaving(ports, self.settings.writer)
        except UsageError:  # the address can't be read: nothing is contacted, and the backend says so where it is needed
            return None

    def version(self) -> int:
        """Return the number of writes that the memory has seen (`Reader.version`)."""
        return self.write(lambda m: m.version())

    def can_undo_redo(self) -> tuple[bool, bool]:
        """Return whether there is a correction to undo, and whether there is one to redo."""
        return self.write(lambda m: (m.can_undo(), m.can_redo()))

    def reader(self, before: Before | None = None, believed_at: str | None = None) -> Records:
        """Return a new read-only reader of this memory, for use by one thread.

        `before`: what was known up to and including that clip. `believed_at`: what was believed at that date (ISO). Raises UsageError.
        """
        return Records.open(Path(self.path), before=before, believed_at=believed_at)

    @property
    def writable(self) -> bool:
        """Whether the memory is open for writing."""
        return self._writer is not None

    def write(self, change: Callable[[Memory], T]) -> T:
        """Run `change` on the one thread that writes, and return what it returns."""
        if self._writer is None:
            raise UsageError("this memory is open for reading only.")
        return self._writer(change)

    # ------------------------------------------------------------------ what follows the commits

    def keep_up(self) -> None:
        """Load the search state and the identity questions now and update them after each commit, in threads that end with `close`.

        Questions then need not load anything; one that is asked before an update has finished reads the changes itself. The writer's
        projection is computed ahead in the same way, so the first correction or clip does not wait for it.
        """
        if self._writer is not None:
            self.write(lambda m: m.read_ahead())
        self.searching.start()
        self.questions.start()
        self.watching.start()

    def _note(self, changed: Changed) -> None:
        """Notify every listener of what a commit changed; runs on the writer's thread."""
        self.searching.note(changed)
        self.questions.note(changed)
        self.watching.note(changed)
        self.live.note(changed)
        seen = changed.without_vectors()
        self._untold = seen if self._untold is None else self._untold.then(seen)
        if not self._untold.nothing:
            self.emit(events.MemoryChanged(self._untold.at_most(TOLD)))
            self._untold = None

    # ------------------------------------------------------------------ embeddings

    def embed_lacking(self) -> int:
        """Embed the sentences that have no vector of the active text model; return their number (`app.embedding`)."""
        return embedding.lacking_sentences(self)

    def reembed(self, name: str, *, switch: bool = False) -> tuple[int, Reembedded]:
        """Embed the stored faces or voices with another model; return their number and what would change (`app.embedding`)."""
        return embedding.reembed(self, name, switch=switch)

    def older_models(self) -> dict[ObservationType, str]:
        """Return what is recognised with an older model than new memories use → the command that moves this memory to theirs."""
        return embedding.older_models(self)

    def models_in_use(self, *ports: str) -> Models:
        """Open these ports, with the face and voice models that this memory uses, even if the profile names others. Raises ModelMissing."""
        return self.answering.models_in_use(*ports)

    def picture_at(self, source: str, at: int, width: int = 480) -> bytes | None:
        """Return the picture of a source at a time (microseconds) as JPEG; None if its file is missing, b"" if it has none then."""
        with self.reader() as reader:
            known = next((s for s in reader.sources() if s.id == source), None)
        if known is None or not known.width or not is_there(known.uri):
            return None
        return lookup.picture_at(known, at, width)

    def make_waveform(self, source: str) -> bool:
        """Compute and keep the waveform of a source, unless it is there; return whether it is there now. Takes seconds an hour.

        Raises SourceUnreadable, Cancelled when the memory is being closed.
        """
        with self.reader() as reader:
            known = next((s for s in reader.sources() if s.id == source), None)
            if known is None or not known.has_audio or known.state == "live" or not known.sha256 or not is_there(known.uri):
                return False
            if reader.waveform(source) is not None:
                return True
            silent = [(start, end) for s, start, end in reader.forgotten_spans() if s == source]
            forgettings = reader.forgettings()
        found = waveform.peaks(known.uri, silent, lambda: not self.closing())
        self.write(lambda m: m.keep_waveform(known, found.tobytes(), forgettings=forgettings))
        return True

    # ------------------------------------------------------------------ moving and proving

    @staticmethod
    def read_export(path: Path) -> imports.Export:
        """Read an export and check all of it; needs no open memory. Raises ImportProblem."""
        return imports.load(path)

    @staticmethod
    def read_graph(path: Path) -> m3agent.Loaded:
        """Read an M3-Agent graph in a child process that runs no code from the file; needs no open memory. Raises ImportProblem."""
        return m3agent.load(path)

    def import_read(self, found: imports.Export | m3agent.Loaded) -> dict[str, Any]:
        """Write what was read into this memory, which must be empty; return the counts. Raises ImportProblem, and then writes nothing."""
        if isinstance(found, imports.Export):
            return self.write(lambda m: imports.write(found, m))
        self.write(lambda m: m.adopt(found.graph, going=found.going))
        return found.report

    def import_file(self, path: str | Path) -> dict[str, Any]:
        """Read a file and write it into this memory, which must be empty, with progress; return the counts.

        Raises ImportProblem, and Cancelled after `importing.stop`; then nothing is written.
        """
        return self.importing.run(Path(path))

    def export(self, output: str | Path, **how: Any) -> bool:
        """Write this memory to a file in another format, or to standard output for `-`; see `interop.exports.export`."""
        try:
            with self.reader() as reader:
                return exports.export(reader, output, **how)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise M3DeskError(f"{output} can't be written ({error.strerror or error}).", "Choose another place for the export.") from error

    def export_clip(self, output: str | Path, source: str, start: int, end: int) -> excerpt.Excerpt:
        """Write [start, end) microseconds of a source as a video file: see `media.excerpt.write`. Nothing is written where it fails.

        Raises UsageError also where no file may be written, or the source is not that long.
        """
        with self.reader() as reader:
            known = reader.source(source)
        length = self.live.length(known)
        if length is not None and start >= length:
            raise UsageError(f"{source} is only {clock(length)} long.", "Give --from a time before its end.")
        if "://" in known.uri or known.uri.endswith((".pkl", ".pkl.gz", ".json")):
            raise SourceMissing(f"{source} has no video file.", "It was imported without one: m3desk sources relink names its video.")
        place = placing.target(output)
        try:
            with placing.beside(place) as folder:
                new = folder / place.name
                done = excerpt.write(known.uri, start, min(end, length or end), new)
                placing.put(new, place, folder / "aside")
        except OSError as error:
            raise M3DeskError(f"{output} can't be written ({error.strerror or error}).", "Choose another place for the clip.") from error
        return done

    @staticmethod
    def would_replace(output: str | Path, *, with_media: bool = False) -> list[Path]:
        """Return the files and folders that an export to `output` would replace. Raises UsageError if no export may be written there."""
        return placing.in_the_way(output, with_media=with_media)

    def check(self, *, repair: bool = False) -> dict[str, Any]:
        """Return the report of `m3desk check`; with `repair`, first rebuild what can be rebuilt."""
        if repair:
            long_work.rebuild(self)
        with self.reader() as reader:
            report = doctor.check(reader)
        if not report["integrity"]:
            report["findings"] += embedding.findings(self)
        return report

    # ------------------------------------------------------------------ watch for, consent

    def add_watch(self, kind: WatchKind, value: str, label: str = "") -> WatchRule:
        """Tell from now on when a person comes, a word is said or an object is seen. Raises UsageError, CorrectionError."""
        rule: WatchRule = self.write(lambda m: m.add_watch(kind, value, label))
        self.watching.refresh()
        return rule

    def watches(self) -> list[WatchRule]:
        """Return the rules of *watch for*, oldest first."""
        with self.reader() as reader:
            return reader.watches()

    def remove_watch(self, rule: int) -> None:
        """Remove a rule. Raises UsageError if there is none."""
        self.write(lambda m: m.remove_watch(rule))
        self.watching.refresh()

    def set_consent(self, person: str, note: str) -> None:
        """Keep a note on a person's consent; an empty one removes it. Raises CorrectionError."""
        self.write(lambda m: m.set_consent(person, note))

    def consents(self) -> dict[str, str]:
        """Return person id → the note on their consent, of those who have one."""
        with self.reader() as reader:
            return reader.consents()

    def hide_bystanders(self, source: str) -> None:
        """Store only faces of people with a note on consent of a source (bystander mode)."""
        self.write(lambda m: m.hide_bystanders(source))

    def known(self, type_: ObservationType, model: str) -> KnownPeople:
        """Return everybody whom the memory recognises by this model."""
        return self.write(lambda m: m.known(type_, model))

    def _recognition(self, source: str) -> Recognition:
        return Recognition(self, source, profile=self.settings.profile)

    def _seen_by_rules(self, emit: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return `emit`, which then also has the rules of *watch for* evaluated on live events, and these kept for questions."""

        def tell(event: Any) -> None:
            emit(event)
            self.watching.saw(event)
            self.live.newest.saw(event)

        return tell

    # ------------------------------------------------------------------ correcting

    def correct(self, kind: str, args: Mapping[str, Any], *, why: str | None = None, dry_run: bool = False) -> Effect:
        """Apply a correction (in a dry run, return what it would do). Raises CorrectionError.

        `enroll` takes `files` (paths) here, and `add-face` reads the picture. Observations that a correction creates get crops and vectors
        (`look_again`).
        """
        given = dict(args)
        sample = correcting.missed_face(self, given) if kind == "add-face" else None
        lessons = correcting.lessons(self, given.pop("files", ())) if kind == "enroll" else ()
        effect = self.write(lambda m: m.correct(kind, given, by="user", why=why, dry_run=dry_run, at=now(), sample=sample, lessons=lessons))
        if not dry_run:
            self._corrected(kind, effect)
            if kind in ("split-at", "bounds"):
                self.look_again()
        return effect

    def enroll_seen(self, name: str, lesson: Lesson) -> Effect:
        """Make a person, or add to the one of that name, from a face of a live picture. Raises CorrectionError."""
        return self._corrected("enroll", self.write(lambda m: m.correct("enroll", {"name": name}, by="user", at=now(), lessons=(lesson,))))

    def rewrite(
        self,
        clips: Sequence[str],
        writer: str,
        language: str | None = None,
        told: Callable[[str, int, int], None] = lambda _clip, _done, _all: None,
    ) -> rewriting.Rewritten:
        """Have clips written again by another writer, beside what is in force (`app.rewriting`); `choose` is a correction of its own."""
        return rewriting.rewrite(self, clips, writer, language, self._closing.is_set, told)

    def writers(self) -> list[str]:
        """Return the names of the writers that can be chosen."""
        return memory_writer.names(self.backends)

    def drop_version(self, clip: str) -> bool:
        """Remove what another writer wrote of a clip and nobody chose; return whether there was anything."""
        return self.write(lambda m: m.drop_version(clip))

    def look_again(self) -> int:
        """Make the crops, sound, vectors of observations made by corrections, if the file or stored media allow it; return how many."""
        return correcting.look_again(self)

    def undo(self, count: int = 1) -> Effect:
        """Undo the last corrections."""
        return self._corrected("undo", self.write(lambda m: m.undo(count, at=now())))

    def redo(self, count: int = 1) -> Effect:
        """Apply corrections again that were undone."""
        return self._corrected("redo", self.write(lambda m: m.redo(count, at=now())))

    def revert(self, step: int, *, with_dependents: bool = False) -> Effect:
        """Append the inverse of an older correction, and, on request, of those that depend on it."""
        return self._corrected("revert", self.write(lambda m: m.revert(step, with_dependents=with_dependents, at=now())))

    def may_forget(self, person: str, how: How) -> Forgotten:
        """Return what forgetting a person would remove, and which files still show them."""
        plan: Forgotten = self.write(lambda m: m.may_forget(person, how))
        return plan

    def sources_of(self, plan: Forgotten) -> list[str]:
        """Return, for each source that shows a person, what removing it would delete."""
        return forgetting.sources_of(self, plan)

    def forgot(self, text: str) -> None:
        """Notify listeners that a person was forgotten; the last words of a live source are dropped."""
        self.live.newest.forget()
        self._corrected("forget", Effect(text))

    def drop_search_cache(self) -> None:
        """Drop the search state of the memory; the next question loads it again."""
        self.searching.cache.drop()

    def forget(self, person: str, how: How = "forget", *, sources: bool = False) -> dict[str, Any]:
        """Remove everything derived from a person permanently, then search the rest of the memory for traces; return that report.

        `how`: see `store.forgetting.removing.How`. `sources`: also remove the sources that show them.
        """
        return forgetting.forget(self, person, how, sources=sources)

    def may_forget_span(self, source: str, start: int, end: int) -> SpanForgotten:
        """Return what forgetting [start, end) microseconds of a source would remove. Raises UsageError."""
        return forgetting.may_forget_span(self, source, start, end)

    def forget_span(self, source: str, start: int, end: int) -> SpanForgotten:
        """Remove a span of a source permanently, from its recording too, then search the rest of the memory for traces."""
        return forgetting.forget_span(self, source, start, end)

    def recent(self, seconds: float) -> tuple[str, int, int]:
        """Return what was recorded in the last seconds, as (source, start, end) in microseconds. Raises UsageError if nothing was."""
        return forgetting.recent(self, seconds)

    def _corrected(self, kind: str, effect: Effect) -> Effect:
        self.emit(events.Corrected(effect.step or 0, kind, effect.text, *self.can_undo_redo()))
        return effect


def _settings() -> tuple[Settings, UsageError | None]:
    """Return the settings, or the defaults and what is wrong with the settings file, so that work without models goes on."""
    try:
        return Settings.load(), None
    except UsageError as error:
        return Settings.defaults(), error


def _lacking() -> list[dict[str, Any]]:
    """Return the models of the embedded profile, the language model included, that are not on this machine."""
    return [r for r in models.rows() if r["state"] not in ("shipped", "ready") and r["profile"] in ("embedded", "llm")]


def _delete(memory: Path) -> None:
    """Delete the folder of an empty memory, its database last: one that is cut short leaves an empty memory, never a damaged one."""
    with contextlib.suppress(OSError):
        for part in sorted(memory.iterdir(), key=lambda p: (not p.is_dir(), p.name == FILE)):
            if part.is_dir() and not part.is_symlink():
                shutil.rmtree(part, ignore_errors=True)
            else:
                part.unlink(missing_ok=True)
        memory.rmdir()


def _holds_nothing(memory: Memory) -> bool:
    """Return whether a memory is empty: no correction, no clip and no waiting source was committed."""
    lost = all(s.state == "failed" and all(c.state in ("failed", "skipped") for c in memory.clips(s.id)) for s in memory.sources())
    return lost and not memory.journal()


def make_player(on_frame: Callable[[Any], None], on_state: Callable[[Any], None]) -> Any:
    """Return a player (`media.player.Player`) for the window."""
    from m3desk.media.player import Player

    return Player(on_frame, on_state)


def play_sound(sound: bytes) -> None:
    """Play a stored speech snippet; return at once. Silent if there is no sound device or the snippet is not FLAC."""
    from m3desk.media import snippets

    snippets.play_sound(sound)
