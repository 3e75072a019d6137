"""Further reads of a memory for the engine only: for search, the pipeline, exports, checks and proofs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from m3desk.domain.clip import Clip, Source
from m3desk.domain.evidence import FaceTrack, Floats, ObjectSeen, Perceived, TextOnScreen, Utterance
from m3desk.domain.graph import NodeRow
from m3desk.domain.identities import Constraint, Equivalence
from m3desk.domain.identity import Gallery
from m3desk.domain.ids import clip_before, clip_id
from m3desk.domain.log import Log, ObservationType, can_redo, can_undo
from m3desk.domain.memory import Outline, Sentence, StoredSentence, Version
from m3desk.domain.people import Observed, Person
from m3desk.domain.questions.scorecard import Card
from m3desk.domain.questions.types import Suggestion, Verdict
from m3desk.domain.sentences import State
from m3desk.errors import CorrectionError
from m3desk.ports import Cluster, Prepared
from m3desk.store import (
    checking,
    files,
    galleries,
    notes,
    questions,
    reading,
    rebinding,
    recomputing,
    rewriting,
    rows,
    sources,
    transfer,
    versions,
)
from m3desk.store.corrections import enrolling, superseding
from m3desk.store.forgetting import pending, proving, removing
from m3desk.store.index import outlines
from m3desk.store.index.vectors import IndexState, VectorIndex
from m3desk.store.reader import Reader
from m3desk.store.recomputing import Going, Recomputed


class Records(Reader):
    """A reader of everything. It adds methods only: whoever gets a `Reader` or `ports.Reader` need not know of them."""

    _questions: questions.QuestionCache | None = None

    # ------------------------------------------------------------------ one source, one clip, settings, open questions

    def source(self, id_: str) -> Source:
        return self._read(reading.source, id_)

    def clip(self, id_: str) -> Clip:
        return self._read(reading.clip, id_)

    def settings(self) -> dict[str, str]:
        """Return this memory's own settings and the models in use."""
        with self.snapshot() as db:
            found = db.execute("SELECT key, value FROM meta WHERE key != 'changes' ORDER BY key")
            return {r[0]: r[1] for r in found if not r[0].startswith(("last_", "removed_")) and not notes.is_note(r[0])}

    def questions_since(self, *, altered: bool = False) -> tuple[int, list[Suggestion]]:
        """Return the version, and `suggestions` for a reader that asks after every commit: only rows added since are read.

        `altered`: rows of the log were taken away or altered since; then everything is read again.
        """
        with self.snapshot() as db:
            if altered or self._questions is None:
                self._questions = questions.QuestionCache()
            return reading.version(db), self._questions.suggestions(db)

    def why_since(self, observation: str, *, altered: bool = False) -> Verdict:
        """Return the same as `why`, from what `questions_since` keeps; `altered` as there."""
        with self.snapshot() as db:
            if altered or self._questions is None:
                self._questions = questions.QuestionCache()
            return self._questions.why(db, observation)

    # ------------------------------------------------------------------ the log and its state

    def state(self) -> State:
        """Return the state of the derived tables (a writer updates it in place, so copy what must last)."""
        return self._ledger.state()

    def log(self) -> Log:
        """Return the log, up to the last commit."""
        return self._ledger.log()

    def can_undo(self) -> bool:
        return bool(can_undo(self._steps()))

    def can_redo(self) -> bool:
        return bool(can_redo(self._steps()))

    def _steps(self) -> Log:
        return self._read(rows.full_log_of_steps)

    def equivalences(self) -> list[Equivalence]:
        """Return the pairs of nodes with votes that they are one person."""
        return self._read(reading.equivalences)

    def constraints(self) -> list[Constraint]:
        """Return the constraints of corrections, each with its state."""
        return self._read(reading.constraints)

    def scorecard(self, only: Container[str] | None = None) -> Card:
        """Return the pairs of observations of which a few are asked (`domain.questions.scorecard`). `only`: of these observations."""
        with self.snapshot() as db:
            return questions.scorecard(db, self._present(db)[0], only)

    def own_pairs(self, person: str) -> Card:
        """Return the pairs of one person's observations that have an embedding. Raises CorrectionError if there is nobody of this id."""
        id_ = self.person(person).id
        with self.snapshot() as db:
            return questions.own_pairs(db, self._present(db)[0], id_)

    # ------------------------------------------------------------------ search

    def outlines(self, ids: Collection[str] | None = None) -> Iterator[Outline]:
        """Yield the outlines (what search needs) of all sentences in force, or of those in `ids`."""
        with self.snapshot() as db:
            yield from outlines.outlines(db, ids)

    def text_vectors(self, model: str, ids: Collection[str] | None = None) -> Iterator[tuple[list[str], Floats]]:
        """Yield ids of sentences in force and their (n, d) rows by a text model, some thousands at a time; of all, or of `ids`."""
        with self.snapshot() as db:
            yield from outlines.text_vectors(db, model, ids)

    def text_vectors_since(self, model: str, row: int) -> Iterator[tuple[list[str], Floats]]:
        """Yield, of sentences that were embedded after a row of the table of embeddings, what `text_vectors` does."""
        with self.snapshot() as db:
            if ids := outlines.embedded_since(db, model, row):
                yield from outlines.text_vectors(db, model, ids)

    def index_vectors(self, index: VectorIndex, model: str, stopped: Callable[[], bool]) -> bool:
        """Write the vectors that an index lacks; return whether it is complete then."""
        with self.snapshot() as db:
            return index.sync(db, model, stopped) is not None

    def indexed(self, index: VectorIndex) -> IndexState | None:
        """Return what an index of vectors holds; None where it is not of the embeddings that there are now (`VectorIndex.state_for`)."""
        return self._read(index.state_for)

    def observed(self, ids: Collection[str] | None = None) -> list[Observed]:
        """Return who is seen and heard when, of all evidence or of these observations."""
        return self._read(outlines.observed, ids)

    def visible_nodes(self, before: tuple[str, int] | None) -> set[str]:
        """Return the nodes known by a clip (source, index; inclusive, −1 = nothing of that source); all where it is None."""
        if before is None:
            return {n.id for n in self.graph().nodes}
        return self._read(reading.visible_nodes, before)

    def things(self) -> list[NodeRow]:
        """Return the nodes of objects and places."""
        return self._read(reading.things)

    def everybody(self) -> list[Person]:
        """Return all persons, also those without observations."""
        return self._read(reading.everybody)

    # ------------------------------------------------------------------ computing all of it again

    def recomputed(self, going: Going = lambda _done, _total: None) -> Recomputed:
        """Return the state computed from the log as a whole, for `Memory.take`."""
        with self.snapshot() as db:
            return recomputing.whole(db, going)

    def rebound(
        self, kind: ObservationType, model: str, at: str, going: Going = lambda _done, _total: None
    ) -> tuple[rebinding.Reembedded, Recomputed]:
        """Bind all faces (or voices) again by a model with stored vectors; return what changes, and the state for `Memory.take`."""
        with self.snapshot() as db:
            return rebinding.rebound(db, kind, model, at, going)

    # ------------------------------------------------------------------ the pipeline

    def prepare(self, clip: Clip, perceived: Perceived, own: Mapping[str, Floats], recent: int) -> Prepared:
        """Return what this memory knows of a clip before it is written, of one moment (`pipeline.ClipStore`)."""
        with self.snapshot() as db:
            return sources.prepare(db, self.state(), clip, perceived, own, recent, self._ledger.galleries)

    def heard_until(self, clip: str) -> int | None:
        """Return where the last utterance of the clip before ends (this clip skips what is before that); None without one."""
        with self.snapshot() as db:
            query = 'SELECT max("end") FROM utterance WHERE clip = ? AND replaces IS NULL'
            row = db.execute(query, (clip_before(clip),)).fetchone()
            return row[0] if row else None

    def perceived(self, clip: str) -> Perceived | None:
        """Return a committed clip's evidence, without media bytes; None where it has none."""
        return self._read(reading.perceived, clip)

    def match(self, perceived: Perceived, models: Mapping[str, str] | None = None) -> tuple[Cluster, ...]:
        """Match the clusters of a clip with known nodes, as a preview for the memory writer; the commit decides again."""
        with self.snapshot() as db:
            return sources.preview(db, self.state(), perceived, models, self._ledger.galleries)

    def next_clips(self, source: str) -> list[Clip]:
        """Return the queued clips of a source, in time order."""
        return [c for c in self.clips(source) if c.state == "queued"]

    def fps_of(self, source: str) -> float | None:
        """Return the pictures a second that are analysed of this source."""
        with self.snapshot() as db:
            row = db.execute("SELECT sampled_fps FROM source WHERE id = ?", (source,)).fetchone()
            return row[0] if row else None

    def to_conclude(self, *, drafted: bool = False) -> list[Clip]:
        """Return the clips that lack semantic memories, in order; those behind an unfinished clip of their source wait for it.

        `drafted`: only those whose own writer drafted some.
        """
        found: list[Clip] = []
        blocked: set[str] = set()
        for c in self.clips():
            if c.state == "queued":
                blocked.add(c.source)
            if c.state == "episodic" and c.source not in blocked:
                found.append(c)
        return [c for c in found if self.drafted(c.id)] if drafted else found

    def to_rule(self) -> list[Clip]:
        """Return the clips whose knowledge by rule is not written yet, in order; those that have a model's have it already."""
        query = """SELECT clip FROM commits WHERE clip IS NOT NULL GROUP BY clip
            HAVING max(CASE WHEN kind = 'clip-ruled' THEN sequence END) > max(CASE WHEN kind = 'clip-episodic' THEN sequence END)"""
        waiting = self.to_conclude()
        ruled = {r[0] for r in self._read(lambda db: db.execute(query).fetchall())} if waiting else set()
        return [c for c in waiting if c.id not in ruled]

    def recent(self, clip: Clip, count: int) -> tuple[StoredSentence, ...]:
        """Return the last sentences of the clip before (same source), oldest first (what `prepare` gives, for who replays evidence)."""
        before = self.memories(kind="episodic", clip=clip_id(clip.source, clip.index - 1))
        return tuple(before[-count:]) if count > 0 else ()

    def episodic(self, clip: str) -> list[StoredSentence]:
        """Return a clip's episodic sentences in time order."""
        return self.memories(kind="episodic", clip=clip)

    def drafted(self, clip: str) -> tuple[Sentence, ...]:
        """Return the semantic sentences that a clip's writer drafted and that are not committed yet."""
        return self._read(versions.sentences, clip, "knowledge")

    def versions(self, clip: str | None = None) -> list[Version]:
        """Return what other writers wrote of clips (of one, if given) and nobody has chosen or dropped yet."""
        return self._read(versions.versions, clip)

    def rewritable(self, clip: Clip, recent: int) -> Prepared:
        """Return what a writer needs to write a stored clip again: its evidence in force with its pictures, and its clusters."""
        with self.snapshot() as db:
            return rewriting.prepared(db, clip, self.recent(clip, recent), self.media)

    def candidates(self, sentence: Sentence, source: str) -> list[tuple[StoredSentence, Floats]]:
        """Return stored semantic sentences that a new one could repeat or contradict, with their (d,) vectors.

        They speak of the same people and things; a sentence that speaks of none is compared within its source only. Deleted ones are
        among them, so that what a user deleted does not come back in other words.
        """
        with self.snapshot() as db:
            return sources.candidates(db, self.state(), self.log(), sentence, source)

    # ------------------------------------------------------------------ vectors and models

    def galleries(self, type_: ObservationType, model: str) -> list[Gallery]:
        """Return the gallery of each face or voice node for a model."""
        return self._read(galleries.shown, type_, model)

    def vectors(self, kind: str = "text", model: str | None = None) -> tuple[list[str], Floats]:
        """Return owner ids (observations for faces and voices, an id a row; nodes for text) and their (n, d) rows, by one model.

        `model` None = the one in use.
        """
        return self._read(sources.vectors, kind, model)

    def lacking_vectors(self, model: str) -> list[tuple[str, str]]:
        """Return (node id, text) of sentences in force that this text model has not embedded."""
        return self._read(sources.lacking_vectors, model)

    def lacking_rows(self, kind: ObservationType, model: str) -> list[FaceTrack | Utterance]:
        """Return the observations whose stored crops or sound this face or voice model has not embedded."""
        return self._read(rebinding.lacking, kind, model)

    def lacking_sample(self) -> list[superseding.Lacking]:
        """Return observations made by corrections that lack a sample of their own."""
        return self._read(superseding.lacking, self.state())

    def enrolments(self) -> list[enrolling.Enrolment]:
        """Return the enrolment files of people."""
        return self._read(enrolling.enrolments)

    # ------------------------------------------------------------------ forgetting

    def may_forget(self, ref: str, how: removing.How) -> removing.Forgotten:
        """Return what forgetting a person would remove, and which files still show them."""
        with self.snapshot() as db:
            return removing.preview(db, self.state(), self.log(), reading.person(db, ref), how)

    def begun(self) -> list[pending.Pending]:
        """Return the forgettings that have begun and are not proven yet."""
        return pending.read(self.folder)

    def forgettings(self) -> int:
        """Return how often a person or a span was forgotten."""
        return self._read(reading.forgettings)

    def was_forgotten(self, mark: pending.Pending) -> bool:
        """Return whether nothing in the tables is of a person whose forgetting has begun: its commit was made, or they were forgotten again
        since. If not, it is to be done again.

        Raises CorrectionError where their number is somebody else's by now (a copy of the database was put back).
        """
        if self._read(pending.committed, mark):
            return True
        who = self.state().who
        owners = {h.person for o in mark.known.observations if (h := who.held.get(o)) is not None}
        if owners and who.canonical.get(mark.person, mark.person) not in owners:
            raise CorrectionError("it is not sure any more who was to be forgotten.", "Forget them again: m3desk people forget PERSON.")
        return not owners and bool(mark.known.observations)

    def prove_forgotten(
        self, known: removing.Traces, elsewhere: Sequence[Path] = ()
    ) -> tuple[proving.ProofResult, list[tuple[str, float]]]:
        """Search everything for a forgotten person; return that and stored observations that are still similar enough to be them."""
        with self.snapshot() as db:
            return proving.search(db, self.folder, known, elsewhere), removing.still_similar(db, known)

    def unwanted(self) -> list[tuple[str, str]]:
        """Return (kind, model) of each template of a person who must never be stored."""
        with self.snapshot() as db:
            return [(r[0], r[1]) for r in db.execute("SELECT kind, model FROM unwanted ORDER BY id")]

    def whose_media(self) -> dict[str, tuple[str, str | None]]:
        """Return media id → (its observation, the person of that)."""
        return self._read(removing.whose)

    def stored_media(self) -> Iterator[tuple[str, bytes]]:
        """Yield every stored picture and sound."""
        for path in files.stored(self.folder / "media"):
            yield path.name, path.read_bytes()

    # ------------------------------------------------------------------ exporting and checking

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

    def integrity(self) -> list[str]:
        """Return the faults of the database and its media; [] if there are none."""
        with self.snapshot() as db:
            return checking.integrity(db, self.folder / "media")

    def index_problems(self) -> list[str]:
        """Return how the index of vectors differs from the embeddings that it was made of; none, or one that is behind, is no fault."""
        with self.snapshot() as db:
            return checking.index_problems(db, self.folder / "vectors")
