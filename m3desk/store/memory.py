"""A memory on disk: one SQLite file as the only truth, media files beside it, one writer and any number of readers.

Writes go through the ledger (`store.ledger`). Readers see one consistent snapshot per call. Must not know: models, video, windows, the
search index.
"""

from __future__ import annotations

import contextlib
import errno
import shlex
import sqlite3
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from m3desk import private
from m3desk.domain.changed import Changed
from m3desk.domain.clip import Clip, Source
from m3desk.domain.correction import Effect, Step
from m3desk.domain.editing import Lesson, Likeness
from m3desk.domain.evidence import FaceTrack, Floats, ObjectSeen, Perceived, TextOnScreen, Utterance
from m3desk.domain.fold import Constraint, Equivalence
from m3desk.domain.graph import EdgeRow, GraphView, NodeRow
from m3desk.domain.imported import ForeignGraph
from m3desk.domain.log import Log, ObservationType, can_redo, can_undo
from m3desk.domain.memory import Decision, Draft, Outline, Sentence, StoredSentence
from m3desk.domain.people import Binding, Observed, Person, SpeechRow, TrackRow
from m3desk.domain.questions.scorecard import Card
from m3desk.domain.questions.types import Suggestion, Verdict
from m3desk.domain.sentences import State, fold
from m3desk.errors import CorrectionError, ImportProblem, MemoryBusy, MemoryDamaged, MemoryMissing, MemoryProblem, UsageError
from m3desk.events import ClipCommitted
from m3desk.ports import Cluster, Prepared
from m3desk.store import (
    as_of,
    backups,
    cells,
    checking,
    commits,
    consolidation,
    files,
    imported,
    place,
    questions,
    reading,
    rebinding,
    rows,
    schema,
    sources,
    transfer,
)
from m3desk.store.corrections import anchors, enrolling, steps, superseding
from m3desk.store.forgetting import pending, proving, removing, withholding
from m3desk.store.index import outlines
from m3desk.store.ledger import FAULTS, Ledger, no_room, unusable
from m3desk.store.lock import WriterLock

T = TypeVar("T")
FILE = place.FILE
WAIT = 10.0
"""Seconds to wait for a lock that somebody else holds."""


class Memory:
    """One open memory. Make it with `create`, `open` or `open_or_create`; close it, or use it in a `with`.

    Calls may come from any one thread at a time; a lock inside keeps accidents apart.
    """

    def __init__(self, folder: Path, *, write: bool, lock: WriterLock | None = None) -> None:
        self.path = str(folder)
        self.folder = folder
        self._lock = lock
        self._db = _connect(folder, write=write)
        self._ledger = Ledger(self._db, self.path, write=lock is not None, damage=self.damage)
        self._guard = self._ledger.guard
        self._closed = False
        self._folded: tuple[int, State, Log] | None = None
        self.looks_back: as_of.LookBack | None = None

    # ------------------------------------------------------------------ making, opening, closing

    @staticmethod
    def create(path: Path | str) -> Memory:
        """Make an empty memory where there is none. Raises MemoryBusy when there is one or somebody else makes it."""
        folder = Path(path)
        if (folder / FILE).exists():
            raise MemoryBusy(f"there is a memory at {folder} already.", "Open it, or choose another name.")
        return Memory.open_or_create(folder)

    @staticmethod
    def open(path: Path | str, write: bool = False, before: tuple[str, int] | None = None, believed_at: str | None = None) -> Memory:
        """Open a memory. Raises MemoryMissing, MemoryBusy (a second writer), MemoryTooNew, MemoryDamaged.

        `before`: (source, clip index): show only what was known by then (inclusive; −1 = nothing of that source); reading only.
        `believed_at`: an ISO date: show what was believed then, corrections included (`store.as_of`); reading only. Raises UsageError.
        """
        folder = Path(path)
        place.check_file(folder)
        if not (folder / FILE).is_file():
            raise MemoryMissing(f"there is no memory at {folder}.", f"Make one: m3desk memorize VIDEO -m {shlex.quote(str(folder))}")
        if write:
            return Memory._writer(folder)
        place.close(folder)
        memory = Memory(folder, write=False)
        try:
            version = schema.version_of(memory._db, memory.path)
            place.check_tables(memory._db, folder)
            if version < schema.VERSION:
                memory.close()
                Memory._writer(folder).close()  # brings it up to date
                memory = Memory(folder, write=False)
            if before is not None or believed_at is not None:
                memory.looks_back = as_of.look_back(memory._db, before, believed_at)
        except BaseException:
            memory.close()
            raise
        return memory

    @staticmethod
    def open_or_create(path: Path | str) -> Memory:
        """Open a memory for writing, made where there is none. Raises MemoryDamaged where what is left of one has no database."""
        folder = Path(path)
        if not folder.is_dir():
            private.folder(folder)
        return Memory._writer(folder)

    @staticmethod
    def _writer(folder: Path) -> Memory:
        lock = WriterLock(folder)
        memory: Memory | None = None
        try:
            place.check_file(folder)
            if not (folder / FILE).exists():
                schema.make(private.file(folder / f"{FILE}.new"), folder / FILE)
            place.close(folder)
            pending.sweep(folder)
            memory = Memory(folder, write=True, lock=lock)
            version = schema.version_of(memory._db, memory.path)
            place.check_tables(memory._db, folder)
            if version < schema.VERSION:
                backups.keep(memory._db, folder)
                schema.migrate(memory._db, version)
        except BaseException as error:
            if memory is not None:
                memory._db.close()
            lock.release()
            if isinstance(error, schema.UNREADABLE):
                raise unusable(str(folder), error) from error
            raise
        return memory

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _where: object) -> None:
        try:
            if isinstance(error, cells.WRONG) and (damage := self.damage()) is not None:
                raise damage from error
        finally:
            self.close()

    def damage(self) -> MemoryDamaged | None:
        """Return what to say where a value could not be worked with because its cell is damaged; None where no cell is."""
        with self._guard, contextlib.suppress(sqlite3.Error):
            if (what := cells.first_of_truth(self._db)) is not None:
                return place.damaged(self.folder, what)
            if (what := cells.first_of_projection(self._db)) is not None:
                text = f"the memory at {self.folder} is damaged: {what}."
                return MemoryDamaged(text, f"Make it anew: m3desk check --repair -m {self.folder}")
        return None

    def close(self) -> None:
        """Close; safe to call twice."""
        with self._guard:
            if not self._closed:
                self._closed = True
                if self._lock is not None:
                    self.keep_copy()
                self._db.close()
                self._ledger.forget()
                if self._lock is not None:
                    self._lock.release()

    def keep_copy(self) -> None:
        """Keep a copy of the database where one is due (`store.backups`)."""
        with self._guard, contextlib.suppress(sqlite3.Error, ValueError):  # ValueError: the counter of changes is damaged
            if not pending.marks(self.folder) and backups.due(self._db, self.folder):
                backups.keep(self._db, self.folder)

    @staticmethod
    def put_copy_back(path: Path | str) -> str:
        """Put the last good copy in the place of a damaged database, which is kept aside; return the copy's date.

        Raises UsageError when nothing is damaged, MemoryDamaged when there is no good copy, MemoryBusy, MemoryProblem.
        """
        folder = Path(path)
        lock = WriterLock(folder)
        try:
            if place.damage(folder) is None:
                raise UsageError(f"nothing is wrong with the database of {folder}.", "So nothing was replaced.")
            copy = backups.restore(folder, FILE)
        except LookupError:
            raise place.damaged(folder, "its database does not read, and there is no good copy of it") from None
        except OSError as error:
            raise MemoryProblem(
                f"the copy could not be put back ({error.strerror or error}).", "Nothing was deleted; try again."
            ) from error
        finally:
            lock.release()
        checking.drop_index(folder / "vectors")
        return backups.shown(copy)

    # ------------------------------------------------------------------ transactions

    def snapshot(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """Give a connection inside one read transaction (or inside the write that is going on)."""
        return self._ledger.snapshot()

    def _read(self, query: Callable[..., T], *args: Any) -> T:
        return self._ledger.read(query, *args)

    def writing(self, *, folds: bool = True) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """Give a connection inside one write transaction (`Ledger.writing`)."""
        return self._ledger.writing(folds=folds)

    def watch(self, tell: Callable[[Changed], None]) -> None:
        """Call `tell` after every commit with what it changed (`Ledger.watch`)."""
        self._ledger.watch(tell)

    def state(self) -> State:
        """Return the state that the tables hold now (a writer's; it is kept up to date, so take from it what must last)."""
        return self._ledger.state()

    def log(self) -> Log:
        """Return the log, up to the last commit."""
        return self._ledger.log()

    def forget_fold(self) -> None:
        """Drop the kept state; the next call reads the log anew."""
        self._ledger.forget()

    # ------------------------------------------------------------------ sources and clips

    def add_source(self, source: Source) -> Source:
        """Add a source (its id is given here); one with the same content is not added twice but returned."""
        with self.writing() as db:
            return sources.add_source(db, source)

    def set_source(self, id_: str, *, state: str | None = None, error: str | None = None, uri: str | None = None) -> None:
        """Note how work on a source stands (`error` goes with `state`), or where its file is now."""
        with self.writing(folds=False) as db:
            reading.source(db, id_)
            if state is not None:
                db.execute("UPDATE source SET state = ?, error = ? WHERE id = ?", (state, error, id_))
            if uri is not None:
                db.execute("UPDATE source SET uri = ? WHERE id = ?", (uri, id_))

    def plan_clips(self, source: str, clips: Sequence[Clip], *, fps: float | None = None) -> None:
        """Queue a source's clips. Those that are there stay. Raises UsageError when they were cut otherwise."""
        with self.writing(folds=False) as db:
            sources.plan(db, source, clips, fps)

    def remove_source(self, id_: str, *, dry_run: bool = False) -> Effect:
        """Remove a source with all that rests on it alone; on a dry run only say what that is."""
        with self.snapshot() as db:
            effect = sources.what_rests_on(db, self.state(), id_)
        if not dry_run:
            with self.writing() as db:
                sources.remove_source(db, self.state(), self.log(), id_, _now())
                self.forget_fold()
        return effect

    def next_clips(self, source: str) -> list[Clip]:
        """Return the queued clips of a source, in time order."""
        return [c for c in self.clips(source) if c.state == "queued"]

    def mark_clip(self, clip: str, state: str, error: str | None = None) -> None:
        """Note that a clip failed, was skipped, or is queued again."""
        with self.writing(folds=False) as db:
            if reading.clip(db, clip).state not in ("episodic", "done"):
                db.execute("UPDATE clip SET state = ?, error = ? WHERE id = ?", (state, error, clip))

    def fps_of(self, source: str) -> float | None:
        """Return how many pictures a second this source is looked at."""
        with self.snapshot() as db:
            row = db.execute("SELECT sampled_fps FROM source WHERE id = ?", (source,)).fetchone()
            return row[0] if row else None

    # ------------------------------------------------------------------ one clip

    def prepare(self, clip: Clip, perceived: Perceived, own: Mapping[str, Floats], recent: int) -> Prepared:
        """Return what this memory knows of a clip before it is written, of one moment (`pipeline.ClipStore`)."""
        with self.snapshot() as db:
            return sources.prepare(db, self.state(), clip, perceived, own, recent, self._ledger.galleries)

    def heard_until(self, clip: str) -> int | None:
        """Return where the last utterance of the clip before ends (this clip skips what is before that); None without one."""
        source, index = clip.split(".c")
        with self.snapshot() as db:
            query = 'SELECT max("end") FROM utterance WHERE clip = ? AND replaces IS NULL'
            row = db.execute(query, (f"{source}.c{int(index) - 1}",)).fetchone()
            return row[0] if row else None

    def perceived(self, clip: str) -> Perceived | None:
        """Return a committed clip's evidence, without media bytes; None where it has none."""
        return self._read(reading.perceived, clip)

    def match(self, perceived: Perceived, models: Mapping[str, str] | None = None) -> tuple[Cluster, ...]:
        """Say which in-clip clusters are somebody this memory knows, as a preview for the writer; the commit decides again."""
        with self.snapshot() as db:
            return sources.preview(db, self.state(), perceived, models, self._ledger.galleries)

    def commit_episodic(
        self,
        clip: Clip,
        perceived: Perceived,
        draft: Draft,
        *,
        text_vectors: Floats | None = None,
        text_model: str = "",
        models: Mapping[str, str] | None = None,
        beside: Mapping[str, Mapping[str, Floats]] | None = None,
        at: str | None = None,
    ) -> ClipCommitted:
        """Keep a clip's evidence and episodic sentences, whole. A clip that is there already is left as it is.

        `text_vectors`: (n, d) unit rows, one a sentence of the draft. `models`: port → name of the model that perceived. `beside`: model →
        observation → rows by a model that is not in use here, kept for a later switch.
        """
        models, at = models or {}, at or _now()
        if self.clip(clip.id).state in ("episodic", "done"):
            return self._committed(clip.id, "episodic")
        perceived = self.withheld(clip, perceived)
        if (kept := withholding.allowed(draft, perceived)) != draft and text_vectors is not None:
            text_vectors = text_vectors[[i for i, s in enumerate(draft.sentences) if s in kept.sentences]]
        draft = kept
        self._keep_media(perceived.media)
        with self.writing() as db:
            sequence = commits.begin(db, "clip-episodic", at, clip.id, models)
            rebinding.beside(db, perceived, beside or {}, sequence)  # first: `perceived` gives back the rows of what perceived it
            commits.evidence(db, clip, perceived, models, sequence)
            commits.bind(db, self.state(), perceived, draft, models, sequence, at, self._ledger.galleries)
            commits.write_sentences(db, clip, draft.sentences, draft.model, text_vectors, text_model, sequence)
            sources.remember_models(db, models, text_model)
            db.execute("UPDATE clip SET state = 'episodic', error = NULL WHERE id = ?", (clip.id,))
            if self.log().steps:
                self._find_again(db, at)
            self._look_back(db, clip, models, at)
        return self._committed(clip.id, "episodic")

    def _look_back(self, db: sqlite3.Connection, clip: Clip, models: Mapping[str, str], at: str) -> None:
        """Note which nodes turn out to be one person, now that a clip adds to them."""
        if found := consolidation.votes(db, self._ledger.state_with(db), clip, models, self._ledger.galleries):
            sequence = commits.begin(db, "consolidation", at, clip.id, models)
            for v in found:
                rows.insert(db, "vote", sequence=sequence, a=v.a, b=v.b, by=v.by, weight=v.weight, clip=v.clip)

    def _keep_media(self, media: Mapping[str, bytes]) -> None:
        try:
            files.write(self.folder / "media", media)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise no_room(self.path) from error
            raise MemoryProblem(
                f"{self.folder / 'media'} can't be written: {error.strerror}.", "What was memorized is kept. Mend it, then go on."
            ) from error

    def commit_semantic(
        self,
        clip: Clip,
        draft: Draft,
        decisions: Sequence[Decision],
        *,
        text_vectors: Floats | None = None,
        text_model: str = "",
        at: str | None = None,
    ) -> ClipCommitted:
        """Keep what was concluded from a clip, one decision a sentence. A clip that is done already is left as it is."""
        if self.clip(clip.id).state != "episodic":
            return self._committed(clip.id, "done")
        at = at or _now()
        with self.writing() as db:
            sequence = commits.begin(db, "clip-semantic", at, clip.id, {"knowledge": draft.model} if draft.model else {})
            touched = commits.knowledge(db, clip, draft, decisions, text_vectors, text_model, sequence)
            db.execute("UPDATE clip SET state = 'done' WHERE id = ?", (clip.id,))
            if self.log().steps:
                self._find_again(db, at)
        return replace(self._committed(clip.id, "done"), sentences=tuple(dict.fromkeys(touched)))

    def _find_again(self, db: sqlite3.Connection, at: str) -> None:
        """Note where things that corrections name lie now, after their source was memorized anew."""

        def again(kind: str, args: dict[str, Any], step: int) -> list[str] | None:
            state = self._ledger.state_with(db)
            sequence = commits.begin(db, "renamed", at)
            made = superseding.make_again(db, state, kind, args, step, sequence)
            if made is None:
                db.execute("DELETE FROM commits WHERE sequence = ?", (sequence,))
            return made

        if found := anchors.found_again(db, lambda: self._ledger.state_with(db), self.log(), again):
            sequence = commits.begin(db, "renamed", at)
            for old, new in found:
                rows.insert(db, "renamed", sequence=sequence, old=old, new=new)

    def _committed(self, clip: str, state: str) -> ClipCommitted:
        with self.snapshot() as db:
            nodes = tuple(r[0] for r in db.execute("SELECT id FROM node WHERE clip = ? ORDER BY number", (clip,)))
            people = db.execute(
                "SELECT DISTINCT person FROM now_observation WHERE observation > ? AND observation < ? AND person IS NOT NULL",
                (clip + ".", clip + "/"),  # the sign after the point
            )
            found = tuple(sorted((r[0] for r in people), key=lambda p: int(p.rsplit("_", 1)[1])))
        return ClipCommitted(clip, state, nodes, found, tuple(n for n in nodes if n.startswith(("episodic", "semantic"))))

    def to_conclude(self) -> list[Clip]:
        """Return the clips that lack semantic memories, in order; those behind an unfinished clip of their source wait for it."""
        found: list[Clip] = []
        blocked: set[str] = set()
        for c in self.clips():
            if c.state == "queued":
                blocked.add(c.source)
            if c.state == "episodic" and c.source not in blocked:
                found.append(c)
        return found

    def recent(self, clip: Clip, count: int) -> tuple[StoredSentence, ...]:
        """Return the last sentences of the clip before (same source), oldest first."""
        before = self.memories(kind="episodic", clip=f"{clip.source}.c{clip.index - 1}")
        return tuple(before[-count:]) if count > 0 else ()

    def episodic(self, clip: str) -> list[StoredSentence]:
        """Return a clip's episodic sentences in time order."""
        return self.memories(kind="episodic", clip=clip)

    def candidates(self, sentence: Sentence, source: str) -> list[tuple[StoredSentence, Floats]]:
        """Return stored semantic sentences that a new one could repeat or contradict, with their (d,) vectors.

        They speak of the same people and things; a sentence that speaks of none is compared within its source only. Deleted ones are
        among them, so that what a user deleted does not come back in other words.
        """
        with self.snapshot() as db:
            return sources.candidates(db, self.state(), self.log(), sentence, source)

    # ------------------------------------------------------------------ forgetting

    def withheld(self, clip: Clip, perceived: Perceived) -> Perceived:
        """Return a clip's evidence without what may not be stored: where somebody was forgotten, or who is never to be remembered."""
        return self._read(withholding.withhold, clip, perceived)

    def may_forget(self, ref: str, how: removing.How) -> removing.Forgotten:
        """Say what forgetting a person would remove, and which files still show them."""
        with self.snapshot() as db:
            return removing.preview(db, self.state(), self.log(), reading.person(db, ref), how)

    def forget(
        self, ref: str, how: removing.How, tighten: removing.Tighten, *, at: str | None = None, sources: bool = False
    ) -> pending.Pending:
        """Remove a person for good, then overwrite what the file and its journal still held (`scrub`).

        What is returned is kept in the folder, too, from before the commit on; call `forgotten` when the proof has passed.
        `sources`: the caller is going to remove the sources that show them, also after a kill.
        """
        person, at = self.person(ref), at or _now()
        mark: pending.Pending | None = None
        try:
            with self.writing() as db:
                gone, narrowed = removing.forget(db, self.state(), self.log(), person, how, at, self.media, tighten)
                self._keep_media(narrowed)
                mark = pending.Pending(person.id, how, at, sources, gone.effect.text, gone.counts, gone.sources, gone.known)
                self._mark(mark)
                self.forget_fold()
        except BaseException:
            if mark is not None and not self._read(pending.committed, mark):
                pending.remove(self.folder, mark)  # all was rolled back
            raise
        self.scrub()
        return mark

    def _mark(self, mark: pending.Pending) -> None:
        try:
            pending.write(self.folder, mark)
        except OSError as error:
            raise (
                no_room(self.path)
                if error.errno in (errno.ENOSPC, errno.EDQUOT)
                else MemoryProblem(f"{self.folder} can't be written to: {error.strerror}.", "Nobody was forgotten.")
            ) from error

    def scrub(self) -> None:
        """Delete what may still hold somebody forgotten: copies, the search index, media that nothing names, freed pages, the journal."""
        backups.drop(self.folder)
        checking.drop_index(self.folder / "vectors")
        with self.snapshot() as db:
            files.sweep(self.folder / "media", checking.named_media(db))
        self.clean()

    def begun(self) -> list[pending.Pending]:
        """Return the forgettings that have begun and are not proven yet."""
        return pending.read(self.folder)

    def was_forgotten(self, mark: pending.Pending) -> bool:
        """Say whether nothing in the tables is of a person whose forgetting has begun: its commit was made, or they were forgotten anew
        since. If not, it is to be done again.

        Raises CorrectionError where their number is somebody else's by now (a copy of the database was put back).
        """
        if self._read(pending.committed, mark):
            return True
        who = self.state().who
        owners = {h.person for o in mark.known.observations if (h := who.held.get(o)) is not None}
        if owners and who.canonical.get(mark.person, mark.person) not in owners:
            raise CorrectionError("it is not sure any more who was to be forgotten.", "Forget them anew: m3desk people forget PERSON.")
        return not owners and bool(mark.known.observations)

    def forgotten(self, mark: pending.Pending) -> None:
        """Take away the mark of a forgetting: it is proven. A copy of what is left is kept in place of those that were deleted."""
        pending.remove(self.folder, mark)
        self.keep_copy()

    def drop_thumbnails(self, ids: Container[str]) -> int:
        """Take away pictures of clips; return how many that were."""
        with self.writing() as db:
            clips = [r["id"] for r in db.execute("SELECT id, thumbnail FROM clip WHERE thumbnail IS NOT NULL") if r["thumbnail"] in ids]
            db.executemany("UPDATE clip SET thumbnail = NULL WHERE id = ?", [(c,) for c in clips])
        with self.snapshot() as db:
            files.sweep(self.folder / "media", checking.named_media(db))
        return len(clips)

    def clean(self) -> bool:
        """Rewrite the file without freed pages and empty its write-ahead log; False where another reader kept that from ending."""
        with self._guard:
            try:
                self._db.execute("VACUUM")
                return not self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            except sqlite3.DatabaseError as error:
                raise unusable(self.path, error) from error

    def prove_forgotten(self, known: removing.Known, elsewhere: Sequence[Path] = ()) -> tuple[proving.Searched, list[tuple[str, float]]]:
        """Search everything for a forgotten person; return that and stored observations that are still as like them as one person is."""
        with self.snapshot() as db:
            return proving.search(db, self.folder, known, elsewhere), removing.still_alike(db, known)

    def unwanted(self) -> list[tuple[str, str]]:
        """Return (kind, model) of each template of somebody who is never to be remembered."""
        with self.snapshot() as db:
            return [(r[0], r[1]) for r in db.execute("SELECT kind, model FROM unwanted ORDER BY id")]

    def whose_media(self) -> dict[str, tuple[str, str | None]]:
        """Return media id → (the observation it belongs to, whose that is now)."""
        return self._read(removing.whose)

    def stored_media(self) -> Iterator[tuple[str, bytes]]:
        """Yield every stored picture and sound."""
        for path in files.stored(self.folder / "media"):
            yield path.name, path.read_bytes()

    # ------------------------------------------------------------------ vectors, settings, chats

    def lacking_rows(self, kind: ObservationType, model: str) -> list[FaceTrack | Utterance]:
        """Return the observations whose stored crops or sound this face or voice model has not embedded."""
        return self._read(rebinding.lacking, kind, model)

    def reembed(self, kind: ObservationType, model: str, *, dry_run: bool = True, at: str | None = None) -> rebinding.Reembedded:
        """Bind all faces (or voices) again by a model whose vectors are stored, and use it from now on; else say what would change."""
        return rebinding.reembed(self._ledger, kind, model, dry_run=dry_run, at=at or _now())

    def vectors(self, kind: str = "text", model: str | None = None) -> tuple[list[str], Floats]:
        """Return owner ids (observations for faces and voices, an id a row; nodes for text) and their (n, d) rows, by one model.

        `model` None = the one in use.
        """
        return self._read(sources.vectors, kind, model)

    def lacking_vectors(self, model: str) -> list[tuple[str, str]]:
        """Return (node id, text) of sentences in force that this text model has not embedded."""
        return self._read(sources.lacking_vectors, model)

    def store_vectors(self, kind: str, model: str, ids: Sequence[str], matrix: Floats | Sequence[Floats]) -> None:
        """Keep vectors of another model or of edited sentences: one row (or rows) an id."""
        with self.writing(folds=False) as db:
            sources.store_vectors(db, kind, model, ids, matrix)
            if kind != "text":
                self._ledger.forget_galleries()

    def settings(self) -> dict[str, str]:
        """Return this memory's own settings and the models in use."""
        with self.snapshot() as db:
            found = db.execute("SELECT key, value FROM meta WHERE key != 'changes' ORDER BY key")
            return {r[0]: r[1] for r in found if not r[0].startswith(("last_", "removed_"))}

    def set_setting(self, key: str, value: str) -> None:
        with self.writing(folds=False) as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def add_chat(self, chat: Mapping[str, Any]) -> None:
        with self.writing(folds=False) as db:
            rows.insert(db, "chat", body=rows.dump(dict(chat)))

    # ------------------------------------------------------------------ corrections

    def correct(
        self,
        kind: str,
        args: Mapping[str, Any],
        *,
        by: str = "user",
        why: str | None = None,
        dry_run: bool = False,
        at: str | None = None,
        likeness: Likeness | None = None,
        lessons: Sequence[Lesson] = (),
    ) -> Effect:
        """Apply a correction (`store.corrections.steps` says where kinds and args are listed); on a dry run say what it would do.

        `likeness` goes with `add-face`, `lessons` with `enroll`. Raises CorrectionError.
        """
        if not dry_run:
            looks = (likeness, *(like for x in lessons for like, _ in x.pieces))
            self._keep_media({k: v for part in looks if part for k, v in part.media.items()})
        return steps.correct(self._ledger, kind, args, by=by, why=why, dry_run=dry_run, at=at or _now(), likeness=likeness, lessons=lessons)

    def undo(self, n: int = 1, *, at: str | None = None) -> Effect:
        """Take the last `n` corrections out of the fold. Raises CorrectionError when there are fewer."""
        return steps.mark(self._ledger, n, undone=True, at=at or _now())

    def redo(self, n: int = 1, *, at: str | None = None) -> Effect:
        """Bring back what undo took out, until a new step is made."""
        return steps.mark(self._ledger, n, undone=False, at=at or _now())

    def revert(self, step: int, *, with_dependents: bool = False, at: str | None = None) -> Effect:
        """Append a step that takes an older one back, and those that rest on it too if told so."""
        return self.correct("revert", {"step": step, "also": with_dependents}, at=at)

    def lacking_likeness(self) -> list[superseding.Lacking]:
        """Return observations made by corrections that could be looked at, or listened to, again."""
        return self._read(superseding.lacking, self.state())

    def complete(self, observation: str, likeness: Likeness) -> None:
        """Keep what a made observation looks or sounds like."""
        self._keep_media(likeness.media)
        with self.writing() as db:
            at = _now()
            sequence = commits.begin(db, "likeness", at)
            superseding.complete(db, self.state(), observation, likeness, sequence, at)
            self.forget_fold()

    def enrolments(self) -> list[enrolling.Enrolment]:
        """Return what people are taught from."""
        return self._read(enrolling.enrolments)

    def can_undo(self) -> bool:
        return bool(can_undo(self._steps()))

    def can_redo(self) -> bool:
        return bool(can_redo(self._steps()))

    def _steps(self) -> Log:
        return self._read(rows.full_log_of_steps)

    # ------------------------------------------------------------------ ports.Reader

    def version(self) -> int:
        return self._read(reading.version)

    def sources(self) -> list[Source]:
        return self._read(reading.sources)

    def source(self, id_: str) -> Source:
        return self._read(reading.source, id_)

    def clips(self, source: str | None = None) -> list[Clip]:
        return self._read(reading.clips, source)

    def clip(self, id_: str) -> Clip:
        return self._read(reading.clip, id_)

    def thumbnail(self, clip: str) -> str | None:
        return self._read(reading.thumbnail, clip)

    def tracks(self, source: str, start: int | None = None, end: int | None = None) -> list[TrackRow]:
        return self._read(reading.tracks, source, start, end)

    def speech(self, source: str, start: int | None = None, end: int | None = None) -> list[SpeechRow]:
        return self._read(reading.speech, source, start, end)

    def objects(self, source: str, start: int | None = None, end: int | None = None) -> list[ObjectSeen]:
        return self._read(reading.objects, source, start, end)

    def texts(self, source: str, start: int | None = None, end: int | None = None) -> list[TextOnScreen]:
        return self._read(reading.texts, source, start, end)

    def people(self) -> list[Person]:
        return self._read(reading.people)

    def everybody(self) -> list[Person]:
        """Return all persons, also those who own nothing any more."""
        return self._read(reading.everybody)

    def person(self, ref: str) -> Person:
        return self._read(reading.person, ref)

    def memories(
        self,
        *,
        kind: str | None = None,
        person: str | None = None,
        source: str | None = None,
        clip: str | None = None,
        before: tuple[str, int] | None = None,
    ) -> list[StoredSentence]:
        """Return sentences in time order; with `before` only those known by then (see `visible_nodes`)."""
        with self.snapshot() as db:
            found = reading.memories(db, kind, person, source, clip)
            known = reading.visible_nodes(db, before) if before is not None else None
        return found if known is None else [s for s in found if s.id in known]

    def outlines(self, ids: Collection[str] | None = None) -> Iterator[Outline]:
        """Yield what search keeps of all sentences in force, or of those of `ids`."""
        with self.snapshot() as db:
            yield from outlines.outlines(db, ids)

    def text_vectors(self, model: str, ids: Collection[str] | None = None) -> Iterator[tuple[list[str], Floats]]:
        """Yield ids of sentences in force and their (n, d) rows by a text model, some thousands at a time; of all, or of `ids`."""
        with self.snapshot() as db:
            yield from outlines.text_vectors(db, model, ids)

    def observed(self, ids: Collection[str] | None = None) -> list[Observed]:
        """Return who is seen and heard when, of all evidence or of these observations."""
        return self._read(outlines.observed, ids)

    def visible_nodes(self, before: tuple[str, int] | None) -> set[str]:
        """Return the nodes known by a clip (source, index; inclusive, −1 = nothing of that source); all where it is None."""
        if before is None:
            return {n.id for n in self.graph().nodes}
        return self._read(reading.visible_nodes, before)

    def sentence(self, node: str) -> StoredSentence:
        return self._read(reading.sentence, node)

    def node(self, id_: str) -> NodeRow:
        return self._read(reading.node, id_)

    def things(self) -> list[NodeRow]:
        """Return the nodes of objects and places."""
        return self._read(reading.things)

    def neighbours(self, id_: str) -> list[EdgeRow]:
        return self._read(reading.neighbours, id_)

    def graph(self) -> GraphView:
        return self._read(reading.graph)

    def bindings(self, observation: str | None = None) -> list[Binding]:
        return self._read(reading.bindings, observation)

    def journal(self) -> list[Step]:
        return self._read(reading.journal)

    def chats(self) -> list[dict[str, Any]]:
        return self._read(reading.chats)

    def equivalences(self) -> list[Equivalence]:
        """Return the pairs of nodes that votes call one person."""
        return self._read(reading.equivalences)

    def constraints(self) -> list[Constraint]:
        """Return what corrections demand and whether it is kept."""
        return self._read(reading.constraints)

    def suggestions(self) -> list[Suggestion]:
        """Return what a person could decide, most useful first (`domain.questions.ranking`)."""
        with self.snapshot() as db:
            return questions.suggestions(db, *self._present(db))

    def why(self, observation: str) -> Verdict:
        """Return why an observation is taken for somebody's. Raises CorrectionError when there is none of that id."""
        with self.snapshot() as db:
            return questions.why(db, *self._present(db), observation)

    def scorecard(self, only: Container[str] | None = None) -> Card:
        """Return the pairs of observations of which a few are asked (`domain.questions.scorecard`). `only`: of these observations."""
        with self.snapshot() as db:
            return questions.scorecard(db, self._present(db)[0], only)

    def _present(self, db: sqlite3.Connection) -> tuple[State, Log]:
        """Return state and log as this snapshot has them; a reader's are kept until something was written."""
        if self._lock is not None:
            return self._ledger.state_with(db), self.log()
        version = reading.version(db)
        if self._folded is None or self._folded[0] != version:
            log = rows.full_log(db)
            self._folded = version, fold(log), log
        return self._folded[1:]

    # ------------------------------------------------------------------ exporting, importing, checking

    def evidence(self) -> tuple[list[FaceTrack], list[Utterance], list[ObjectSeen], list[TextOnScreen]]:
        """Return all evidence, superseded observations included."""
        return self._read(transfer.evidence)

    def raw_log(self) -> dict[str, Any]:
        """Return the log's rows beside the evidence, for an export (`store.transfer`)."""
        return self._read(transfer.raw)

    def embeddings(self) -> Iterator[tuple[str, str, str, int, Floats]]:
        """Yield every embedding: owner, kind, model, sequence, (n, d) rows."""
        with self.snapshot() as db:
            yield from transfer.embeddings(db)

    def restore(self, *, media: Callable[[], Iterable[tuple[str, bytes]]], **parts: Any) -> None:
        """Write an export's parts into this empty memory, in one transaction (`interop.imports.Restorable`). Raises ImportProblem."""
        if not self._read(transfer.empty):
            raise ImportProblem(f"{self.path} is not empty.", "Import into a new memory: -m NEW.m3desk.")
        folder = self.folder / "media"
        before = {p.name for p in files.stored(folder)}
        try:
            count = 0
            for count, (id_, content) in enumerate(media(), 1):  # noqa: B007 (how many there were)
                self._keep_media({id_: content})
            with self.writing() as db:
                transfer.restore(db, **parts)
                if not count:
                    db.execute("INSERT OR REPLACE INTO meta VALUES ('imported_without_media', '1')")
                self.forget_fold()
        except BaseException as error:
            files.sweep(folder, before)
            if isinstance(error, (*FAULTS, sqlite3.InterfaceError, *cells.WRONG)):  # what the fold can't make sense of comes from outside
                told = " ".join(str(error).split())[:120]
                raise ImportProblem(
                    f"the export does not fit together: {type(error).__name__} {told}.", "Export the memory again. Nothing was written."
                ) from error
            raise

    def adopt(self, graph: ForeignGraph, *, at: str | None = None, going: Callable[[], None] = lambda: None) -> None:
        """Write another tool's graph into this empty memory, in one transaction. Raises ImportProblem.

        `going` is called between its parts and may raise, when it takes too long; then nothing is written.
        """
        if not self._read(transfer.empty):
            raise ImportProblem(f"{self.path} is not empty.", "Import into a new memory: -m NEW.m3desk.")
        try:
            with self.writing() as db:
                imported.write(db, graph, at or _now(), going)
                self._keep_media(graph.media)
        except (*FAULTS, sqlite3.InterfaceError, *cells.WRONG) as error:
            raise ImportProblem(f"the graph does not fit together: {error}.", "Nothing was written.") from error

    def integrity(self) -> list[str]:
        """Return what is wrong with the truth and its media; [] when all is well."""
        with self.snapshot() as db:
            return checking.integrity(db, self.folder / "media")

    def index_problems(self) -> list[str]:
        """Return how the search index differs from the truth it was made of; one that is behind is brought up by the next search."""
        return checking.index_problems(self, self.folder / "vectors")

    def repair(self) -> None:
        """Fold the log anew into the folded tables, sweep media and freed pages, and drop the search index (made anew on use).

        Media are swept only by a database that is whole and theirs (`checking.holds_its_media`).
        """
        with self.snapshot() as db:
            whole = checking.holds_its_media(db, self.folder)
        with self.writing():
            self.forget_fold()
        if whole:
            with self.snapshot() as db:
                files.sweep(self.folder / "media", checking.named_media(db))
        checking.drop_index(self.folder / "vectors")
        self.clean()  # a forgetting that was cut off left its pages here

    def media(self, id_: str) -> bytes | None:
        return files.read(self.folder / "media", id_)


def _connect(folder: Path, *, write: bool) -> sqlite3.Connection:
    try:
        if write:
            db = sqlite3.connect(folder / FILE, isolation_level=None, check_same_thread=False, timeout=WAIT)
            db.row_factory = sqlite3.Row
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")  # a commit that was told of outlives a power cut, not only a kill
            db.execute("PRAGMA foreign_keys = ON")
            return db
        uri = (folder / FILE).resolve().as_uri()
        db = sqlite3.connect(uri + "?mode=ro", uri=True, isolation_level=None, check_same_thread=False, timeout=WAIT)
        db.row_factory = sqlite3.Row
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            db.close()
            if schema.is_busy(error):
                raise
            # A folder we may not write to: nobody else can either, so the file stands still.
            db = sqlite3.connect(uri + "?mode=ro&immutable=1", uri=True, isolation_level=None, check_same_thread=False)
            db.row_factory = sqlite3.Row
        return db
    except schema.UNREADABLE as error:
        raise unusable(str(folder), error) from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


__all__ = ["FILE", "Memory"]
