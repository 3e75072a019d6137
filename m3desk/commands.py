"""The commands that the window sends to the engine: one frozen dataclass per command.

The fields travel over the pipe; `run` is executed in the engine's process. `desk.EngineDesk` creates the commands, so mypy checks
their arguments and results on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from m3desk.domain.sample_files import is_picture
from m3desk.errors import CorrectionError

if TYPE_CHECKING:
    from m3desk.app import App
    from m3desk.domain.correction import Effect
    from m3desk.domain.forgetting import PersonForgotten, Way
    from m3desk.domain.insight import Belonging, VoiceLink, Wall
    from m3desk.domain.live import Device, Keep, Outdated, SpanForgotten, WatchKind, WatchRule
    from m3desk.domain.memory import StoredSentence, Version
    from m3desk.domain.questions.scorecard import Score
    from m3desk.domain.questions.types import Suggestion, Verdict
    from m3desk.ports import FoundNode

R_co = TypeVar("R_co", covariant=True)


class Engine(Protocol):
    """What a command may use: an open memory, and the threads that work on it."""

    corrections: int
    """How many corrections of this session can be undone."""

    @property
    def app(self) -> App:
        """The open memory. Raises M3DeskError if it could not be opened."""
        ...

    def emit(self, event: Any) -> None:
        """Send an event to the window."""
        ...

    def wake(self) -> None:
        """Wake the memorizing thread to check for work."""
        ...

    def pull(self, names: tuple[str, ...], *, llm: bool) -> None:
        """Download models and use them from then on."""
        ...

    def stop_pulling(self) -> None:
        """Stop downloading; partial downloads are kept."""
        ...


class Command(Protocol[R_co]):
    """Any of the classes below."""

    def run(self, engine: Engine) -> R_co:
        """Execute the command in the engine's process. Raises M3DeskError, which is passed on to the caller."""
        ...


# ---------------------------------------------------------------- sources


@dataclass(frozen=True, slots=True)
class Memorize:
    paths: tuple[str, ...]

    def run(self, engine: Engine) -> list[str]:
        from m3desk.config import Settings

        engine.app.work.settings = Settings.load()  # what was changed since counts for what is added now
        ids = engine.app.work.add(self.paths)
        engine.wake()
        return ids


@dataclass(frozen=True, slots=True)
class Pause:
    paused: bool

    def run(self, engine: Engine) -> None:
        engine.app.work.pause(self.paused)


@dataclass(frozen=True, slots=True)
class Cancel:
    source: str

    def run(self, engine: Engine) -> None:
        engine.app.work.cancel(self.source)


@dataclass(frozen=True, slots=True)
class Retry:
    source: str

    def run(self, engine: Engine) -> None:
        engine.app.work.retry(self.source)
        engine.wake()


@dataclass(frozen=True, slots=True)
class Move:
    source: str
    to: int

    def run(self, engine: Engine) -> None:
        engine.app.work.queue.put(self.source, self.to)


@dataclass(frozen=True, slots=True)
class ReadQueue:
    def run(self, engine: Engine) -> list[str]:
        return engine.app.work.queue.ids()


@dataclass(frozen=True, slots=True)
class RemoveSource:
    source: str
    dry_run: bool

    def run(self, engine: Engine) -> Effect:
        return engine.app.work.remove(self.source, dry_run=self.dry_run)


@dataclass(frozen=True, slots=True)
class Relink:
    source: str
    path: str

    def run(self, engine: Engine) -> None:
        engine.app.work.relink(self.source, self.path)


# ---------------------------------------------------------------- live


@dataclass(frozen=True, slots=True)
class FindDevices:
    test: bool

    def run(self, engine: Engine) -> list[Device]:
        from m3desk.media.capture.devices import devices

        return devices(self.test)


@dataclass(frozen=True, slots=True)
class StartLive:
    address: str
    keep: Keep
    bystanders: bool
    budget_bytes: int | None

    def run(self, engine: Engine) -> str:
        from m3desk.config import Settings

        engine.app.work.settings = Settings.load()
        return engine.app.live.start(self.address, keep=self.keep, bystanders=self.bystanders, budget=self.budget_bytes)


@dataclass(frozen=True, slots=True)
class PauseLive:
    paused: bool

    def run(self, engine: Engine) -> None:
        engine.app.live.pause(self.paused)


@dataclass(frozen=True, slots=True)
class StopLive:
    def run(self, engine: Engine) -> None:
        engine.app.live.stop()


@dataclass(frozen=True, slots=True)
class Approve:
    who: str
    name: str

    def run(self, engine: Engine) -> str:
        return engine.app.live.approve(self.who, self.name)


@dataclass(frozen=True, slots=True)
class Retention:
    hours: float | None
    dry_run: bool

    def run(self, engine: Engine) -> list[Outdated]:
        return engine.app.live.retention(hours=self.hours, dry_run=self.dry_run)


@dataclass(frozen=True, slots=True)
class ForgetSpan:
    source: str
    start: int
    end: int
    dry_run: bool

    def run(self, engine: Engine) -> SpanForgotten:
        forget = engine.app.may_forget_span if self.dry_run else engine.app.forget_span
        return forget(self.source, self.start, self.end)


@dataclass(frozen=True, slots=True)
class ForgetRecent:
    seconds: float
    dry_run: bool

    def run(self, engine: Engine) -> SpanForgotten:
        return ForgetSpan(*engine.app.recent(self.seconds), self.dry_run).run(engine)


# ---------------------------------------------------------------- questions


@dataclass(frozen=True, slots=True)
class Ask:
    question: str
    ask: str
    span: tuple[str, int, int] | None

    def run(self, engine: Engine) -> None:
        for event in engine.app.answering.ask(self.question, ask=self.ask, span=self.span):
            engine.emit(event)


@dataclass(frozen=True, slots=True)
class StopAsking:
    ask: str

    def run(self, engine: Engine) -> None:
        engine.app.answering.stop_asking(self.ask)


@dataclass(frozen=True, slots=True)
class SearchNodes:
    text: str
    k: int

    def run(self, engine: Engine) -> list[FoundNode]:
        return engine.app.answering.search_nodes(self.text, k=self.k)


@dataclass(frozen=True, slots=True)
class SearchSample:
    path: str
    k: int

    def run(self, engine: Engine) -> list[FoundNode]:
        search = engine.app.answering.search_image if is_picture(self.path) else engine.app.answering.search_audio
        return search(Path(self.path), k=self.k)


@dataclass(frozen=True, slots=True)
class ReadSuggestions:
    def run(self, engine: Engine) -> list[Suggestion]:
        return engine.app.questions.now()


@dataclass(frozen=True, slots=True)
class Why:
    observation: str

    def run(self, engine: Engine) -> Verdict:
        return engine.app.questions.why(self.observation)


@dataclass(frozen=True, slots=True)
class ReadWalls:
    def run(self, engine: Engine) -> list[Wall]:
        from m3desk.app import judging

        with engine.app.reader() as reader:
            return judging.walls(reader)


@dataclass(frozen=True, slots=True)
class ReadLinks:
    person: str

    def run(self, engine: Engine) -> list[VoiceLink]:
        from m3desk.app import judging

        with engine.app.reader() as reader:
            return judging.links_of(reader, self.person)


@dataclass(frozen=True, slots=True)
class ReadBelonging:
    person: str

    def run(self, engine: Engine) -> Belonging:
        from m3desk.app import judging

        with engine.app.reader() as reader:
            return judging.belonging_of(reader, self.person)


@dataclass(frozen=True, slots=True)
class DrawPairs:
    count: int

    def run(self, engine: Engine) -> list[tuple[str, str]]:
        from m3desk.app import judging

        with engine.app.reader() as reader:
            return judging.pairs(reader, self.count)


@dataclass(frozen=True, slots=True)
class ScorePairs:
    answers: Mapping[tuple[str, str], bool]

    def run(self, engine: Engine) -> Score:
        from m3desk.app import judging

        with engine.app.reader() as reader:
            return judging.score(reader, self.answers)


@dataclass(frozen=True, slots=True)
class Evaluate:
    files: tuple[str, ...]

    def run(self, engine: Engine) -> dict[str, Any]:
        from m3desk.app import judging

        with engine.app.reader() as reader:
            return judging.evaluate(reader, self.files)


# ---------------------------------------------------------------- corrections


@dataclass(frozen=True, slots=True)
class Correct:
    kind: str
    args: Mapping[str, Any]
    why: str | None = None
    dry_run: bool = False

    def run(self, engine: Engine) -> Effect:
        effect = engine.app.correct(self.kind, self.args, why=self.why, dry_run=self.dry_run)
        if not self.dry_run:
            engine.corrections += 1
            engine.wake()  # an edited sentence wants a new vector
        return effect


@dataclass(frozen=True, slots=True)
class Undo:
    """Undo within this session (memory.md: older steps are reverted from History)."""

    def run(self, engine: Engine) -> Effect:
        if not engine.corrections:
            raise CorrectionError(
                "nothing was corrected in this session.", "Take back an older correction by Edit → History of corrections."
            )
        effect = engine.app.undo()
        engine.corrections -= 1
        return effect


@dataclass(frozen=True, slots=True)
class Redo:
    def run(self, engine: Engine) -> Effect:
        effect = engine.app.redo()
        engine.corrections += 1
        return effect


@dataclass(frozen=True, slots=True)
class Revert:
    step: int

    def run(self, engine: Engine) -> Effect:
        effect = engine.app.revert(self.step)
        engine.corrections += 1
        engine.wake()  # a sentence that is as it was before an edit may want a vector
        return effect


@dataclass(frozen=True, slots=True)
class ForgetPerson:
    person: str
    way: Way
    sources: bool
    dry_run: bool

    def run(self, engine: Engine) -> PersonForgotten:
        from m3desk.domain.forgetting import PersonForgotten

        app = engine.app
        if self.dry_run:
            plan = app.may_forget(self.person, self.way)
            return PersonForgotten(dict(plan.counts), plan.sources, tuple(app.sources_of(plan)) if self.sources else ())
        report = app.forget(self.person, self.way, sources=self.sources)
        engine.wake()  # sentences that were masked want new vectors
        return PersonForgotten(
            report["removed"],
            tuple(report["still_shown_by"]),
            searched=report["searched"],
            found=(*report["findings"], *report["not_searched"]),
            alike=tuple((a["observation"], a["person"]) for a in report["look_alikes"]),
        )


# ---------------------------------------------------------------- other writers


@dataclass(frozen=True, slots=True)
class ReadWriters:
    def run(self, engine: Engine) -> list[str]:
        return engine.app.writers()


@dataclass(frozen=True, slots=True)
class CompareVersions:
    clip: str

    def run(self, engine: Engine) -> tuple[list[StoredSentence], Version | None]:
        with engine.app.reader() as reader:
            waiting = reader.versions(self.clip)
            return reader.memories(clip=self.clip), waiting[0] if waiting else None


@dataclass(frozen=True, slots=True)
class Rewrite:
    clips: tuple[str, ...]
    writer: str

    def run(self, engine: Engine) -> dict[str, str]:
        return dict(engine.app.rewrite(self.clips, self.writer).failed)


@dataclass(frozen=True, slots=True)
class DropVersion:
    clip: str

    def run(self, engine: Engine) -> bool:
        return engine.app.drop_version(self.clip)


# ---------------------------------------------------------------- notes of the user: watch rules, consent


@dataclass(frozen=True, slots=True)
class AddWatch:
    kind: WatchKind
    value: str
    label: str

    def run(self, engine: Engine) -> WatchRule:
        return engine.app.add_watch(self.kind, self.value, self.label)


@dataclass(frozen=True, slots=True)
class RemoveWatch:
    rule: int

    def run(self, engine: Engine) -> None:
        engine.app.remove_watch(self.rule)


@dataclass(frozen=True, slots=True)
class SetConsent:
    person: str
    note: str

    def run(self, engine: Engine) -> None:
        engine.app.set_consent(self.person, self.note)


# ---------------------------------------------------------------- models, export, check


@dataclass(frozen=True, slots=True)
class ListModels:
    def run(self, engine: Engine) -> list[dict[str, Any]]:
        from m3desk import models

        return models.rows()


@dataclass(frozen=True, slots=True)
class Pull:
    names: tuple[str, ...]
    llm: bool

    def run(self, engine: Engine) -> None:
        engine.pull(self.names, llm=self.llm)


@dataclass(frozen=True, slots=True)
class StopPulling:
    def run(self, engine: Engine) -> None:
        engine.stop_pulling()


@dataclass(frozen=True, slots=True)
class RemoveModel:
    name: str

    def run(self, engine: Engine) -> None:
        from m3desk import models

        models.remove(self.name)


@dataclass(frozen=True, slots=True)
class Doctor:
    def run(self, engine: Engine) -> dict[str, Any]:
        from m3desk import machine

        return machine.doctor()


@dataclass(frozen=True, slots=True)
class Export:
    path: str
    format: str | None
    source: str | None

    def run(self, engine: Engine) -> bool:
        return engine.app.export(self.path, format_=self.format, source=self.source, overwrite=True)  # the dialog of files has asked


@dataclass(frozen=True, slots=True)
class ExportClip:
    path: str
    source: str
    start: int
    end: int

    def run(self, engine: Engine) -> bool:
        return engine.app.export_clip(self.path, self.source, self.start, self.end).copied


@dataclass(frozen=True, slots=True)
class Picture:
    source: str
    at: int
    width: int

    def run(self, engine: Engine) -> bytes | None:
        return engine.app.picture_at(self.source, self.at, self.width)


@dataclass(frozen=True, slots=True)
class Import:
    path: str

    def run(self, engine: Engine) -> dict[str, Any]:
        report = engine.app.import_file(self.path)
        engine.wake()  # sentences without a vector
        return report


@dataclass(frozen=True, slots=True)
class StopImport:
    def run(self, engine: Engine) -> None:
        engine.app.importing.stop()


@dataclass(frozen=True, slots=True)
class MakeWaveform:
    source: str

    def run(self, engine: Engine) -> bool:
        return engine.app.make_waveform(self.source)


@dataclass(frozen=True, slots=True)
class Check:
    def run(self, engine: Engine) -> dict[str, Any]:
        return engine.app.check()


@dataclass(frozen=True, slots=True)
class Close:
    """Stop at the next safe point and end the process; there is no reply. A memory made by it that holds nothing is deleted."""

    def run(self, engine: Engine) -> None:
        engine.app.discard_if_unused()


SLOW: frozenset[type] = frozenset({
    Memorize, FindDevices, StartLive, StopLive, PauseLive, Approve, ForgetPerson, ForgetSpan, ForgetRecent, Retention, SearchNodes,
    SearchSample,
    ReadSuggestions, Why, ReadWalls, ReadLinks, ReadBelonging, DrawPairs, ScorePairs, Evaluate,
    ListModels, Pull, RemoveModel, Doctor, Export, ExportClip, Import, Check, Relink, Retry, Ask, RemoveSource,
    Picture, MakeWaveform, ReadWriters, CompareVersions, Rewrite,
})  # fmt: skip
"""Commands that may take longer than a moment: they run on threads of their own, side by side."""

CORRECTIONS: frozenset[type] = frozenset({Correct, Undo, Redo, Revert})
"""Commands that run one after the other, apart from all others: some run models, and what follows them must come after."""

NEED_NO_MEMORY: frozenset[type] = frozenset({FindDevices, ListModels, Pull, StopPulling, RemoveModel, Doctor})
"""Commands that are answered also where the memory did not open."""
