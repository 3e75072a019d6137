"""Memorizes recordings with the engine in this process, their pictures' cuts only, and compares the voices with the truth."""

from __future__ import annotations

import functools
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from m3desk.bench.voices.material import Recording
from m3desk.domain.clip import MICROSECOND, Clip, Source
from m3desk.domain.evidence import Perceived, Utterance
from m3desk.domain.geometry import overlap, without
from m3desk.domain.ids import source_of
from m3desk.domain.people import SpeechRow
from m3desk.evaluation import labelling
from m3desk.evaluation.diarization import Diarization, error_rates
from m3desk.evaluation.grouping import LabelledObservation, pairwise
from m3desk.evaluation.labelling import Local
from m3desk.media.cutter import OVERRUN, FileClip, plan
from m3desk.media.file import probe
from m3desk.memorization.compose import ComposedWriter
from m3desk.perception.scenes import cuts, look
from m3desk.perception.voices import hear
from m3desk.pipeline import RECENT
from m3desk.ports import SAMPLE_RATE, ClipMedia, ClipView, Frame, Models, Sound
from m3desk.store.memory import Memory

AT = "2026-11-22T06:00:00+00:00"
JUDGED = MICROSECOND
"""Utterances from this length on are judged by themselves; shorter ones only by whether they were given to a wrong person."""


@dataclass
class MadeClip:
    """A clip of a sound that was made here; answers `ports.ClipMedia`."""

    clip: Clip
    source: Source
    whole: Sound
    cuts: tuple[int, ...] = ()
    path: str = ""
    problems: tuple[str, ...] = ()
    unreadable: str | None = None

    def frames(self) -> Iterator[Frame]:
        return iter(())

    def sound(self) -> Sound:
        return self.whole[_samples(self.clip.start) : _samples(self.clip.end + OVERRUN)].copy()


def _samples(at: int) -> int:
    return round(at * SAMPLE_RATE / MICROSECOND)


def clips_of(recording: Recording) -> list[ClipMedia]:
    """Cut a recording into clips, as a file is cut."""
    if recording.sound is None:
        source = replace(probe(recording.path), id="s1", sha256=recording.name, uri=str(recording.path))
        return [FileClip(source, clip, str(recording.path)) for clip in plan(source)]
    length = round(len(recording.sound) / SAMPLE_RATE * MICROSECOND)
    source = Source("s1", str(recording.path), length, None, None, None, True, recording.name)
    return [MadeClip(clip, source, recording.sound, recording.cuts) for clip in plan(source)]


@contextmanager
def remembered(folder: Path, recordings: Sequence[Recording], models: Models) -> Iterator[Memory]:
    """Hear recordings one after the other and remember them in a new memory, which goes when it is left."""
    shutil.rmtree(folder, ignore_errors=True)
    with Memory.create(folder) as memory:
        for recording in recordings:
            remember(memory, recording, models)
        yield memory
    shutil.rmtree(folder, ignore_errors=True)


def remember(memory: Memory, recording: Recording, models: Models) -> None:
    """Hear one recording, clip by clip as the pipeline does, and commit its clips."""
    clips = clips_of(recording)
    names = {"voice_vectors": models.voice_vectors.name if models.voice_vectors else ""}
    writer = ComposedWriter()
    source = memory.add_source(replace(clips[0].source, id=""))
    planned = plan(source)
    memory.plan_clips(source.id, planned)
    until: int | None = None
    before: Perceived | None = None
    for media, clip in zip(clips, planned, strict=True):
        found = hear(_of(media, source, clip), models, heard_until=until, cuts=lambda media=media: _cuts(media))  # type: ignore[misc]
        until = max((u.end for u in found.utterances), default=None)
        perceived = Perceived(
            clip=clip.id, utterances=found.utterances, vectors=found.vectors, media=found.media,
            cannot_link=frozenset((min(p), max(p)) for p in found.cannot_link),
        )  # fmt: skip
        view = ClipView(
            clip=clip, source=source, perceived=perceived, clusters=memory.match(perceived, names), recent=memory.recent(clip, RECENT),
            previous=before, language=None, media=None,
        )  # fmt: skip
        memory.commit_episodic(clip, perceived, writer.write(view, lambda: False), models=names, at=AT)
        before = perceived


def _of(media: ClipMedia, source: Source, clip: Clip) -> ClipMedia:
    if isinstance(media, MadeClip):
        return MadeClip(clip, source, media.whole, media.cuts)
    return FileClip(source, clip, media.path)


def _cuts(media: ClipMedia) -> tuple[int, ...]:
    """Return the cuts of a clip, as its pictures show them."""
    if isinstance(media, MadeClip):
        return tuple(c for c in media.cuts if media.clip.start <= c < media.clip.end)
    return _seen(media.path, media.clip.start, media.clip.end)


@functools.cache
def _seen(path: str, start: int, end: int) -> tuple[int, ...]:
    source = probe(Path(path))
    return cuts([look(frame) for frame in FileClip(source, Clip("s1.c0", "s1", 0, start, end), path).frames()])


# ---------------------------------------------------------------- figures


@dataclass(frozen=True, slots=True)
class Judged:
    """An utterance with who truly speaks, and whom the memory gives it to (None: nobody). `foreign`: microseconds that are others'."""

    utterance: Utterance
    true: str
    person: str | None
    foreign: int

    @property
    def item(self) -> LabelledObservation:
        u = self.utterance
        return LabelledObservation(self.true, self.person or u.id, (u.end - u.start) / MICROSECOND, source_of(u.id))


@dataclass(slots=True)
class HearingResult:
    """What a memory says beside what is true. `der`: each source as the diarization error rate takes it."""

    judged: list[Judged] = field(default_factory=list)
    der: list[Diarization] = field(default_factory=list)
    speakers: list[tuple[int, int]] = field(default_factory=list)
    """Speakers, and speakers found, source by source."""

    @property
    def long(self) -> list[Judged]:
        return [j for j in self.judged if j.utterance.end - j.utterance.start >= JUDGED]

    @property
    def short(self) -> list[Judged]:
        return [j for j in self.judged if j.utterance.end - j.utterance.start < JUDGED]


def found(memory: Memory, recordings: Sequence[Recording]) -> HearingResult:
    """Read what a memory of these recordings says of their voices."""
    result = HearingResult()
    sources = memory.sources()
    for source, recording in zip(sources, recordings, strict=True):
        local = labelling.by_source(recording.truth, sources, source.id)[source.id]
        speech = [r for r in memory.speech(source.id) if not r.set_aside]
        mine = []
        for r in speech:
            who = labelling.speaker(r.utterance, local)
            if who is not None and not _outside(r.utterance, recording):
                mine.append(Judged(r.utterance, who, r.person, _foreign(r.utterance, who, local)))
        result.judged += mine
        result.der.append(_heard(source, recording, local, speech))
        result.speakers.append(_counted(local, mine))
    return result


def _outside(u: Utterance, recording: Recording) -> bool:
    """Return whether most of an utterance lies where the truth is silent about who speaks."""
    if not recording.uem:
        return False
    return 2 * sum(overlap((u.start, u.end), span) for span in recording.uem) < u.end - u.start


def _foreign(u: Utterance, who: str, local: Local) -> int:
    """Return how long somebody else speaks, and not the speaker, in an utterance."""
    own = [(t.start, t.end) for t in local.turns if t.person == who]
    others = [(max(t.start, u.start), min(t.end, u.end)) for t in local.turns if t.person != who]
    return sum(b - a for a, b in without(others, own) if b > a)


def _heard(source: Source, recording: Recording, local: Local, speech: Sequence[SpeechRow]) -> Diarization:
    spans = without(recording.uem or [(0, source.duration or 0)], local.unclear)
    given = tuple((r.utterance.start, r.utterance.end, r.person or r.utterance.id) for r in speech)
    nobody = frozenset(r.utterance.id for r in speech if r.person is None)
    return Diarization(recording.name, tuple((t.start, t.end, t.person) for t in local.turns), given, tuple(sorted(spans)), nobody)


def _counted(local: Local, judged: Sequence[Judged]) -> tuple[int, int]:
    """Count speakers of whom an utterance of a second or more was to be found, and those found."""
    spoken: dict[str, int] = defaultdict(int)
    for t in local.turns:
        spoken[t.person] += t.end - t.start
    return sum(1 for n in spoken.values() if n >= JUDGED), len({j.person for j in judged if j.person})


def pairs(found: HearingResult, *, across: bool = False) -> dict[str, Any]:
    """Return pairwise precision and recall over utterances of a second or more; an utterance given to nobody is somebody of its own."""
    return {**pairwise([j.item for j in found.long], across=across), "utterances": len(found.long)}


def wrongly_given(judged: Sequence[Judged], short: Sequence[Judged]) -> dict[str, Any]:
    """Return how many short utterances were given to a person who is mostly somebody else."""
    seconds: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for j in judged:
        if j.person:
            seconds[j.person][j.true] += j.utterance.end - j.utterance.start
    owner = {p: min(true, key=lambda t, true=true: (-true[t], t)) for p, true in seconds.items()}  # type: ignore[misc]
    wrong = sum(1 for j in short if j.person and owner[j.person] != j.true)
    open_ = sum(1 for j in short if j.person is None)
    return {"short": len(short), "wrong": wrong, "given to nobody": open_, "share": round(wrong / len(short), 4) if short else None}


def mixed_share(found: HearingResult) -> float | None:
    """Return how much of the utterances' time is another speaker's alone."""
    total = sum(j.utterance.end - j.utterance.start for j in found.judged)
    return round(sum(j.foreign for j in found.judged) / total, 4) if total else None


def rates(found: HearingResult) -> dict[str, Any]:
    """Return the diarization error rates, overlap counted."""
    return error_rates(found.der)


def with_true_voices(found: HearingResult) -> list[Diarization]:
    """Return the same turns with true speakers: about the error that is left if only the times of turns are wrong, not their voices.

    The longest turn first; each goes, as a whole, to the person who speaks most in it where no turn is theirs yet, so that of two turns
    at the same time each has somebody. A turn in which nobody speaks keeps its name.
    """
    result = []
    for d in found.der:
        free = {person: [(a, b) for a, b, p in d.true if p == person] for _, _, person in d.true}
        names: dict[int, str] = {}
        for n in sorted(range(len(d.found)), key=lambda n, d=d: d.found[n][0] - d.found[n][1]):  # type: ignore[misc]
            start, end, name = d.found[n]
            heard = {p: sum(overlap((start, end), span) for span in spans) for p, spans in free.items()}
            names[n] = min(heard, key=lambda p, heard=heard: (-heard[p], p), default=name)  # type: ignore[misc]
            if heard.get(names[n]):
                free[names[n]] = without(free[names[n]], [(start, end)])
            else:
                names[n] = name
        given = tuple((start, end, names[n]) for n, (start, end, _) in enumerate(d.found))
        result.append(replace(d, found=given, nobody=frozenset()))
    return result


STEP, SHORT = MICROSECOND // 100, MICROSECOND // 2


def missed_by_cause(found: HearingResult) -> dict[str, float]:
    """Return which share of speech is missed (no collar): while others speak too, in turns below 0.5 s, and else: too faint or far."""
    seconds = {"speech": 0, "overlap": 0, "too short": 0, "level": 0}
    for d in found.der:
        for at in (t for a, b in d.scored for t in range(a, b, STEP)):
            true = [b - a for a, b, _ in d.true if a <= at < b]
            missed = max(0, len(true) - sum(a <= at < b for a, b, _ in d.found))
            seconds["speech"] += len(true)
            if missed:
                seconds["overlap" if len(true) > 1 else "too short" if true[0] < SHORT else "level"] += missed
    return {cause: round(n / max(1, seconds["speech"]), 4) for cause, n in seconds.items() if cause != "speech"}


def summary(found: HearingResult) -> dict[str, Any]:
    """Return every figure of a memory of one kind of material."""
    der = rates(found)
    parts: Mapping[str, Any] = der["der_parts"]
    return {
        "pairs": pairs(found), "short": wrongly_given(found.judged, found.short), "mixed": mixed_share(found), "der": der["der"],
        "der_no_collar": der["der_no_collar"], "der_parts": parts, "speakers": found.speakers,
        "open": sum(1 for j in found.long if j.person is None),
    }  # fmt: skip
