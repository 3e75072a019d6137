"""The writer of a memory on disk: one SQLite file, which is authoritative, and media files; one writer and any number of readers.

`store.reader` has the calls that read. Writes go through the ledger (`store.ledger`). Must not know: models, video, windows, the search
index.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from m3desk.domain.changed import Changed
from m3desk.domain.clip import Clip, Source
from m3desk.domain.correction import Effect
from m3desk.domain.editing import Lesson, Sample
from m3desk.domain.evidence import Floats, Perceived
from m3desk.domain.identity import KnownPeople
from m3desk.domain.imported import ForeignGraph
from m3desk.domain.live import WatchKind, WatchRule
from m3desk.domain.log import ObservationType
from m3desk.domain.memory import Decision, Draft
from m3desk.errors import FileLeft, ImportProblem, MemoryBusy
from m3desk.events import ClipCommitted
from m3desk.store import (
    backups,
    cells,
    checking,
    commits,
    consolidation,
    files,
    imported,
    notes,
    opening,
    place,
    reading,
    rebinding,
    recordings,
    rows,
    sources,
    transfer,
    versions,
    waveforms,
)
from m3desk.store.corrections import anchors, steps, superseding
from m3desk.store.forgetting import pending, removing, spans, withholding
from m3desk.store.ledger import FAULTS, unusable
from m3desk.store.recomputing import Recomputed
from m3desk.store.records import Records

FILE = place.FILE


class Memory(Records):
    """A memory open for writing. Make it with `create` or `open_or_create`; close it, or use it in a `with`."""

    @staticmethod
    def create(path: Path | str) -> Memory:
        """Create an empty memory. Raises MemoryBusy if there is one already or another process creates it."""
        folder = Path(path)
        if (folder / FILE).exists():
            raise MemoryBusy(f"there is a memory at {folder} already.", "Open it, or choose another name.")
        return Memory.open_or_create(folder)

    @staticmethod
    def open_or_create(path: Path | str) -> Memory:
        """Open a memory for writing; create it if there is none. Raises MemoryDamaged if there is a memory without its database."""
        return Memory(Path(path), *opening.for_writing(Path(path)))

    @classmethod
    def open(cls, path: Path | str, write: bool = False, *, before: tuple[str, int] | None = None, believed_at: str | None = None) -> Self:
        """Open an existing memory: for reading as `Reader.open`, or as its only writer. Raises MemoryMissing, MemoryBusy."""
        if not write:
            return super().open(path, before=before, believed_at=believed_at)
        place.check_file(Path(path))
        if not (Path(path) / FILE).is_file():
            raise opening.missing(Path(path))
        return cls(Path(path), *opening.for_writing(Path(path)))

    def close(self) -> None:
        with self._guard:
            if not self._closed and self._lock is not None:
                self.keep_copy()
            super().close()
            if self._lock is not None:
                self._lock.release()

    def keep_copy(self) -> None:
        """Make a copy of the database if one is due (`store.backups`)."""
        with self._guard, contextlib.suppress(sqlite3.Error, ValueError):  # ValueError: the counter of changes is damaged
            if not pending.marks(self.folder) and backups.due(self._db, self.folder):
                backups.keep(self._db, self.folder)

    def writing(self, *, folds: bool = True) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """Give a connection inside one write transaction (`Ledger.writing`)."""
        return self._ledger.writing(folds=folds)

    def watch(self, tell: Callable[[Changed], None]) -> None:
        """Call `tell` after every commit with what it changed (`Ledger.watch`)."""
        self._ledger.watch(tell)

    def read_ahead(self) -> None:
        """Start to compute the writer's state in the background (`Ledger.read_ahead`); returns at once."""
        self._ledger.read_ahead(lambda: opening.connect(self.folder, write=False))

    def forget_fold(self) -> None:
        """Drop the kept state; the next call reads the log again."""
        self._ledger.forget()

    # ------------------------------------------------------------------ sources and clips

    def add_source(self, source: Source) -> Source:
        """Add a source and give it an id; if one has the same content, return that one."""
        with self.writing() as db:
            added = sources.add_source(db, source)
            notes.hide_again(db, added)
            return added

    def set_source(self, id_: str, *, state: str | None = None, error: str | None = None, uri: str | None = None) -> None:
        """Set the state of a source (with `error`), or the place of its file."""
        with self.writing(folds=False) as db:
            reading.source(db, id_)
            if state is not None:
                db.execute("UPDATE source SET state = ?, error = ? WHERE id = ?", (state, error, id_))
            if uri is not None:
                db.execute("UPDATE source SET uri = ? WHERE id = ?", (uri, id_))

    def describe_source(self, source: Source) -> None:
        """Replace what is known of a source, its id apart."""
        with self.writing(folds=False) as db:
            reading.source(db, source.id)
            sources.describe(db, source)

    def plan_clips(self, source: str, clips: Sequence[Clip], *, fps: float | None = None) -> None:
        """Queue a source's clips; existing ones stay. Raises UsageError if these were cut differently."""
        with self.writing(folds=False) as db:
            sources.plan(db, source, clips, fps)

    def remove_source(self, id_: str, *, dry_run: bool = False, recording: bool = True) -> Effect:
        """Remove a source and all that depends on it alone; on a dry run only return what that is.

        A recording of this memory is deleted too, unless `recording` is False; a file of the user is not.
        Raises FileLeft when the source is removed, but its waveform can't be deleted.
        """
        with self.snapshot() as db:
            effect = sources.what_rests_on(db, self.state(), id_)
            uri = reading.source(db, id_).uri
        if recording and recordings.is_ours(self.folder, uri):
            effect = replace(effect, text=f"{effect.text}, and its recording")
        if not dry_run:
            with recordings.deleting(self.folder, uri if recording else "") as delete:
                with self.writing() as db:
                    if not recording:
                        notes.keep_hiding(db, reading.source(db, id_))
                    sources.remove_source(db, self.state(), self.log(), id_, now())
                    notes.show_bystanders(db, id_)
                    self.forget_fold()
                delete()
            left = waveforms.drop(self.folder, id_)
            checking.drop_index(self.folder / place.INDEX)  # it holds what was removed
            if left:
                raise FileLeft(f"{id_} is removed, but {', '.join(left)} in {self.folder} can't be deleted.", "Delete it by hand.")
        return effect

    def tidy_recordings(self) -> None:
        """Finish deleting recordings where a process was killed in between."""
        recordings.tidy(self.folder, [s.uri for s in self.sources()])

    def mark_clip(self, clip: str, state: str, error: str | None = None) -> None:
        """Set a clip to failed, skipped, or queued again."""
        with self.writing(folds=False) as db:
            if reading.clip(db, clip).state not in ("episodic", "done"):
                db.execute("UPDATE clip SET state = ?, error = ? WHERE id = ?", (state, error, clip))

    def set_setting(self, key: str, value: str) -> None:
        with self.writing(folds=False) as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def add_watch(self, kind: WatchKind, value: str, label: str = "") -> WatchRule:
        """Add a rule of *watch for*, or return the same one that is there. Raises UsageError, or CorrectionError for an unknown person."""
        value = self.person(value).id if kind == "person" else value
        with self.writing(folds=False) as db:
            added = notes.add_watch(db, kind, value, label)
            return next(r for r in notes.watches_now(db) if r.id == added.id)

    def remove_watch(self, id_: int) -> None:
        """Remove a rule of *watch for*. Raises UsageError if there is none."""
        with self.writing(folds=False) as db:
            notes.remove_watch(db, id_)

    def hide_bystanders(self, source: str) -> None:
        """Have only the faces of people with a note on consent stored of a source (bystander mode)."""
        with self.writing(folds=False) as db:
            reading.source(db, source)
            notes.hide_bystanders(db, source)

    def set_consent(self, ref: str, note: str) -> None:
        """Keep a note on a person's consent; an empty one removes it. Raises CorrectionError if nobody, or more than one, is meant."""
        person = self.person(ref).id
        with self.writing(folds=False) as db:
            notes.set_consent(db, person, note)

    def keep_waveform(self, source: Source, content: bytes, *, forgettings: int) -> None:
        """Keep the waveform of a source. `forgettings`: how many there were when it was computed; after more, nothing is kept."""
        if forgettings == self.forgettings() and any(s.id == source.id for s in self.sources()):
            waveforms.keep(self.folder, source, content)

    def add_chat(self, chat: Mapping[str, Any], *, forgettings: int | None = None) -> None:
        """Keep a question with its answer. `forgettings`: how many there were when it was asked; after more, nothing is kept."""
        if forgettings is not None and forgettings != self.forgettings():
            return
        with self.writing(folds=False) as db:
            rows.insert(db, "chat", body=rows.dump(dict(chat)))

    def known(self, type_: ObservationType, model: str) -> KnownPeople:
        """Return the galleries that a clip's faces or voices would be compared with now, and the names of their persons."""
        who = self.state().who
        found = tuple(self._ledger.galleries(type_, model))
        names = {g.person: who.people[g.person].shown for g in found if g.person in who.people}
        return KnownPeople(found, names, who.distinct)

    # ------------------------------------------------------------------ one clip

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
        """Commit a clip's evidence and episodic sentences in one transaction. A clip that is committed already is not changed.

        Semantic sentences of the draft are kept for the second commit (`drafted`).

        `text_vectors`: (n, d) unit rows, one a sentence of the draft. `models`: port → name of the model that perceived. `beside`: model →
        observation → rows by a model that is not in use here, kept for a later switch.
        """
        models, at = models or {}, at or now()
        if self.clip(clip.id).state in ("episodic", "done"):
            return self._read(commits.committed, clip.id, "episodic")
        perceived = self._read(withholding.withhold, clip, perceived)
        episodic = [i for i, s in enumerate(draft.sentences) if s.kind == "episodic"]
        ahead = tuple(s for s in draft.sentences if s.kind == "semantic")
        draft = replace(draft, sentences=tuple(draft.sentences[i] for i in episodic))
        text_vectors = text_vectors[episodic] if text_vectors is not None else None
        if (kept := withholding.allowed(draft, perceived, self._read(withholding.spans, clip))) != draft and text_vectors is not None:
            text_vectors = text_vectors[[i for i, s in enumerate(draft.sentences) if s in kept.sentences]]
        draft = kept
        ahead = withholding.allowed(Draft(ahead), perceived, self._read(withholding.spans, clip)).sentences
        files.keep(self.folder, perceived.media)
        with self.writing() as db:
            sequence = commits.begin(db, "clip-episodic", at, clip.id, models)
            rebinding.beside(db, perceived, beside or {}, sequence)  # first: `perceived` gives back the rows of what perceived it
            commits.evidence(db, clip, perceived, models, sequence)
            commits.bind(db, self.state(), perceived, draft, models, sequence, at, self._ledger.galleries)
            commits.write_sentences(db, clip, draft.sentences, draft.model, text_vectors, text_model, sequence)
            if ahead:
                versions.put(db, clip.id, "knowledge", draft.model, ahead, at)
            sources.remember_models(db, models, text_model)
            db.execute("UPDATE clip SET state = 'episodic', error = NULL WHERE id = ?", (clip.id,))
            if self.log().steps:
                self._find_again(db, at)
            consolidation.consolidate(db, self._ledger, clip, models, at)
        return self._read(commits.committed, clip.id, "episodic")

    def commit_semantic(
        self,
        clip: Clip,
        draft: Draft,
        decisions: Sequence[Decision],
        *,
        text_vectors: Floats | None = None,
        text_model: str = "",
        at: str | None = None,
        ruled: bool = False,
    ) -> ClipCommitted:
        """Commit the semantic sentences of a clip, with one decision for each. A clip that is done already is not changed.

        `ruled`: they were written without a language model, so the clip still waits for the model's.
        """
        if self.clip(clip.id).state != "episodic":
            return self._read(commits.committed, clip.id, "done")
        at = at or now()
        with self.writing() as db:
            kind = "clip-ruled" if ruled else "clip-semantic"
            sequence = commits.begin(db, kind, at, clip.id, {"knowledge": draft.model} if draft.model else {})
            touched = commits.knowledge(db, clip, draft, decisions, text_vectors, text_model, sequence)
            if not ruled:
                versions.drop(db, clip.id, "knowledge")
                db.execute("UPDATE clip SET state = 'done' WHERE id = ?", (clip.id,))
            if self.log().steps:
                self._find_again(db, at)
        state = "episodic" if ruled else "done"
        return replace(self._read(commits.committed, clip.id, state), sentences=tuple(dict.fromkeys(touched)))

    def offer(self, clip: Clip, draft: Draft, *, forgettings: int, at: str | None = None) -> bool:
        """Keep another writer's sentences of a stored clip beside those in force, in place of an older version; False if it is refused.

        `forgettings`: how many there were when the writer was given the evidence; after more, nothing is kept.
        """
        perceived = self._read(reading.perceived, clip.id)
        if perceived is None or forgettings != self.forgettings():
            return False
        kept = withholding.allowed(draft, perceived, self._read(withholding.spans, clip))
        sentences = tuple(replace(s, model=s.model or draft.model) for s in kept.sentences)
        with self.writing(folds=False) as db:
            versions.put(db, clip.id, "version", draft.model, sentences, at or now())
        return True

    def drop_version(self, clip: str) -> bool:
        """Remove another writer's sentences of a clip that nobody chose; return whether there were any."""
        with self.writing(folds=False) as db:
            return bool(versions.drop(db, clip, "version"))

    def _find_again(self, db: sqlite3.Connection, at: str) -> None:
        """Resolve again the things that corrections name, after their source was re-memorized."""

        def again(kind: str, args: dict[str, Any], step: int) -> list[str] | None:
            state = self._ledger.state_with(db)
            sequence = commits.begin(db, "renamed", at)
            made = superseding.make_again(db, state, kind, args, step, sequence)
            if made is None:
                db.execute("DELETE FROM commits WHERE sequence = ?", (sequence,))
            return made

        self._ledger.state_with(db)
        if found := anchors.found_again(db, lambda: self._ledger.state_with(db), self.log(), again, self._ledger.found_steps()):
            sequence = commits.begin(db, "renamed", at)
            for old, new in found:
                rows.insert(db, "renamed", sequence=sequence, old=old, new=new)

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
        sample: Sample | None = None,
        lessons: Sequence[Lesson] = (),
    ) -> Effect:
        """Apply a correction (`store.corrections.steps` says where kinds and args are listed); on a dry run only return what it would do.

        `sample` goes with `add-face`, `lessons` with `enroll`. Raises CorrectionError.
        """
        if not dry_run:
            looks = (sample, *(piece for x in lessons for piece, _ in x.pieces))
            files.keep(self.folder, {k: v for part in looks if part for k, v in part.media.items()})
        return steps.correct(self._ledger, kind, args, by=by, why=why, dry_run=dry_run, at=at or now(), sample=sample, lessons=lessons)

    def undo(self, n: int = 1, *, at: str | None = None) -> Effect:
        """Take the last `n` corrections out of the fold. Raises CorrectionError when there are fewer."""
        return steps.mark(self._ledger, n, undone=True, at=at or now())

    def redo(self, n: int = 1, *, at: str | None = None) -> Effect:
        """Bring back what undo took out; possible until a new step is made."""
        return steps.mark(self._ledger, n, undone=False, at=at or now())

    def revert(self, step: int, *, with_dependents: bool = False, at: str | None = None) -> Effect:
        """Append a step that reverts an older one, and on request the steps that depend on it."""
        return self.correct("revert", {"step": step, "also": with_dependents}, at=at)

    def complete(self, observation: str, sample: Sample) -> None:
        """Store the sample of an observation that a correction made."""
        files.keep(self.folder, sample.media)
        with self.writing() as db:
            at = now()
            sequence = commits.begin(db, "likeness", at)
            superseding.complete(db, self.state(), observation, sample, sequence, at)
            self.forget_fold()

    # ------------------------------------------------------------------ another model's vectors

    def store_vectors(self, kind: str, model: str, ids: Sequence[str], matrix: Floats | Sequence[Floats]) -> None:
        """Store vectors of another model or of edited sentences: one or more rows for each id."""
        with self.writing(folds=False) as db:
            sources.store_vectors(db, kind, model, ids, matrix)
            if kind != "text":
                self._ledger.forget_galleries()

    def reembed(self, kind: ObservationType, model: str, *, dry_run: bool = True, at: str | None = None) -> rebinding.Reembedded:
        """Bind all faces (or voices) again by a model with stored vectors, and use it from now on; a dry run only returns the changes.

        All of it runs here; to let other writes go on meanwhile: `rebound` of a reader, then `take`.
        """
        found, state = self.rebound(kind, model, at or now())
        if not dry_run:
            self.take(state)
        return found

    def take(self, found: Recomputed) -> bool:
        """Commit a state that was computed beside the writer; False if it no longer fits, and nothing is written (`Ledger.take`)."""
        return self._ledger.take(found)

    # ------------------------------------------------------------------ forgetting

    def forget(
        self, ref: str, how: removing.How, tighten: removing.Tighten, *, at: str | None = None, sources: bool = False
    ) -> pending.Pending:
        """Remove a person for good, then overwrite what the file and its journal still held (`scrub`).

        What is returned is kept in the folder, too, from before the commit on; call `forgotten` when the proof has passed.
        `sources`: the caller is going to remove the sources that show them, also after a kill.
        """
        person, at = self.person(ref), at or now()

        def remove(db: sqlite3.Connection) -> pending.Pending:
            gone, narrowed = removing.forget(db, self.state(), self.log(), person, how, at, self.media, tighten)
            files.keep(self.folder, narrowed)
            return pending.Pending(person.id, how, at, sources, gone.effect.text, gone.counts, gone.sources, gone.known)

        return self._forget(remove)

    def may_forget_span(self, source: str, start: int, end: int) -> spans.SpanPlan:
        """Return what forgetting [start, end) microseconds of a source would remove. Raises UsageError."""
        with self.snapshot() as db:
            return spans.preview(db, self.state(), self.log(), source, start, end)

    def forget_span(self, source: str, start: int, end: int, *, at: str | None = None) -> pending.Pending:
        """Remove a span of a source for good, as `forget` removes a person; call `forgotten` when the proof has passed."""
        at = at or now()

        def remove(db: sqlite3.Connection) -> pending.Pending:
            gone = spans.forget(db, self.state(), self.log(), source, start, end, at)
            return pending.Pending("", "span", at, False, gone.text, gone.counts, (), gone.known)

        return self._forget(remove)

    def _forget(self, remove: Callable[[sqlite3.Connection], pending.Pending]) -> pending.Pending:
        """Remove rows in one transaction, whose mark is in the folder from before its commit on; then `scrub`. Return the mark."""
        mark: pending.Pending | None = None
        try:
            with self.writing() as db:
                mark = remove(db)
                pending.keep(self.folder, mark)
                self.forget_fold()
        except BaseException:
            if mark is not None and not self._read(pending.committed, mark):
                pending.remove(self.folder, mark)  # all was rolled back
            raise
        self.scrub()
        return mark

    def rename_content(self, source: str, sha256: str) -> None:
        """Give a source whose recording was partly erased its new fingerprint."""
        with self.writing(folds=False) as db:
            spans.renamed(db, source, sha256)

    def scrub(self) -> None:
        """Delete what may still contain data of a forgotten person: copies, the search index, unused media, freed pages, the journal."""
        backups.drop(self.folder)
        checking.drop_index(self.folder / "vectors")
        waveforms.drop(self.folder)
        with self.snapshot() as db:
            files.sweep(self.folder / "media", checking.named_media(db))
        self.clean()

    def drop_waveforms(self) -> list[str]:
        """Delete all waveforms, which are computed again when needed; return the files that can't be deleted."""
        return waveforms.drop(self.folder)

    def forgotten(self, mark: pending.Pending) -> None:
        """Remove the mark of a forgetting that is proven, and make a new copy of the database in place of the deleted ones."""
        pending.remove(self.folder, mark)
        self.keep_copy()

    def drop_thumbnails(self, ids: Container[str]) -> int:
        """Remove pictures of clips; return how many."""
        with self.writing() as db:
            clips = [r["id"] for r in db.execute("SELECT id, thumbnail FROM clip WHERE thumbnail IS NOT NULL") if r["thumbnail"] in ids]
            db.executemany("UPDATE clip SET thumbnail = NULL WHERE id = ?", [(c,) for c in clips])
        with self.snapshot() as db:
            files.sweep(self.folder / "media", checking.named_media(db))
        return len(clips)

    def clean(self) -> bool:
        """Rewrite the file without freed pages and empty its write-ahead log; False if another reader prevented that."""
        with self._guard:
            try:
                self._db.execute("VACUUM")
                return not self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            except sqlite3.DatabaseError as error:
                raise unusable(self.path, error) from error

    # ------------------------------------------------------------------ importing and repairing

    def restore(self, *, media: Callable[[], Iterable[tuple[str, bytes]]], going: Callable[[], None] = lambda: None, **parts: Any) -> None:
        """Write an export's parts into this empty memory, in one transaction (`interop.imports.Restorable`). Raises ImportProblem."""
        if not self._read(transfer.empty):
            raise ImportProblem(f"{self.path} is not empty.", "Import into a new memory: -m NEW.m3desk.")
        folder = self.folder / "media"
        before = {p.name for p in files.stored(folder)}
        try:
            count = 0
            for count, (id_, content) in enumerate(media(), 1):  # noqa: B007 (how many there were)
                going()
                files.keep(self.folder, {id_: content})
            with self.writing() as db:
                transfer.restore(db, going=going, **parts)
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
                imported.write(db, graph, at or now(), going)
                files.keep(self.folder, graph.media)
                going()
        except (*FAULTS, sqlite3.InterfaceError, *cells.WRONG) as error:
            raise ImportProblem(f"the graph does not fit together: {error}.", "Nothing was written.") from error

    def repair(self) -> None:
        """Rebuild the derived tables from the log, remove unused media and freed pages, and drop the search index (rebuilt on use).

        Media are swept only by a database that is whole and theirs (`checking.holds_its_media`).
        """
        self.take(self.recomputed())
        self.sweep()

    def sweep(self) -> None:
        """Remove unused media and freed pages, and drop the search index."""
        with self.snapshot() as db:
            whole = checking.holds_its_media(db, self.folder)
        if whole:
            with self.snapshot() as db:
                files.sweep(self.folder / "media", checking.named_media(db))
        checking.drop_index(self.folder / "vectors")
        self.clean()  # a forgetting that was cut off left its pages here


def now() -> str:
    """Return the present moment, ISO 8601 with zone."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


__all__ = ["FILE", "Memory", "now"]
