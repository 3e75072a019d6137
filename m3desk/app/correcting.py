"""Corrections that need models: adding a missed face, enrolling from photos and recordings, making crops and vectors of split parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from m3desk import events
from m3desk.domain.editing import Lesson, Sample
from m3desk.domain.evidence import FaceTrack
from m3desk.domain.ids import source_of
from m3desk.errors import ModelMissing
from m3desk.media.file import is_there
from m3desk.ports import Models
from m3desk.samples import teaching
from m3desk.store.records import Records
from m3desk.writer import Write


class MemoryWithModels(Protocol):
    """An open memory with the models it uses."""

    emit: Callable[[Any], None]

    @property
    def write(self) -> Write: ...
    def reader(self) -> Records: ...
    def models_in_use(self, *ports: str) -> Models: ...


def missed_face(memory: MemoryWithModels, args: Mapping[str, Any]) -> Sample:
    """Return the face inside the box of an `add-face`, after the store has accepted the correction."""
    memory.write(lambda m: m.correct("add-face", args, dry_run=True))
    with memory.reader() as reader:
        source = reader.source(source_of(str(args["clip"])))
    teaching.there(source)
    box = args.get("box") or [args[k] for k in ("x", "y", "width", "height")]
    return teaching.missed_face(source.uri, source, round(args["at"]), tuple(box), memory.models_in_use("faces", "face_vectors"))


def lessons(memory: MemoryWithModels, files: Sequence[str]) -> tuple[Lesson, ...]:
    """Return the face and voice samples of photos and recordings. Raises SourceError, NoFace, ModelMissing."""
    if not files:
        return ()
    models = memory.models_in_use(*teaching.ports([Path(f) for f in files]))
    return tuple(teaching.learn(Path(f), models) for f in files)


def look_again(memory: MemoryWithModels) -> int:
    """Make crops, sound and vectors for observations that corrections created, if the file or stored media allow it; return how many."""
    lacking = [x for x in memory.write(lambda m: m.lacking_sample()) if is_there(x.uri) or not isinstance(x.made, FaceTrack)]
    if not lacking:
        return 0
    try:
        models = memory.models_in_use("faces", "face_vectors", "voice_vectors")
    except ModelMissing as error:  # the step is done; its parts keep what they were like before
        memory.emit(events.Notice("warning", str(error), error.hint))
        return 0
    done = 0
    for x in lacking:
        with memory.reader() as reader:
            source = reader.source(source_of(x.made.id))
            if isinstance(x.made, FaceTrack):
                found = teaching.track_again(x.uri, source, x.made, models)
            else:
                found = teaching.speech_again(x.uri, source, x.made, x.old, x.clip_start, reader.media, models)
        if found is not None:
            memory.write(lambda m, x=x, found=found: m.complete(x.made.id, found))  # type: ignore[misc]
            done += 1
    return done
