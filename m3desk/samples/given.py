"""Photos and recordings given by a user, to search for a person or to enrol one: finds the faces in a photo, the speech in a recording."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from m3desk.domain.clip import MICROSECOND, Clip, Source
from m3desk.domain.evidence import Floats
from m3desk.errors import ModelMissing, SourceUnreadable
from m3desk.media import cutter, photo
from m3desk.media.trial import tried
from m3desk.perception import voices
from m3desk.perception.embedding import EMBEDDABLE
from m3desk.perception.sightings import Sighting, faces_of
from m3desk.perception.turns import SpeechSegment
from m3desk.ports import SAMPLE_RATE, Models, Picture, Sound

LONGEST = 60
"""Most seconds of a recording that are used."""


class NoFace(SourceUnreadable):
    """Raised for a readable picture without a face."""


@dataclass(frozen=True, slots=True)
class RecordedSpeech:
    """The speech of a recording. `sound`: its first LONGEST seconds; `segments`: where there is speech; `said`: these end to end."""

    source: Source
    sound: Sound
    segments: tuple[SpeechSegment, ...]
    said: Sound

    @property
    def duration(self) -> int:
        """Return the length of the speech, microseconds."""
        return len(self.said) * MICROSECOND // SAMPLE_RATE


def faces(path: Path, models: Models) -> tuple[Picture, list[tuple[Sighting, Floats]]]:
    """Return a photo and its faces with their (d,) unit vectors, left to right. Raises SourceError, NoFace, ModelMissing."""
    if models.faces is None or models.face_vectors is None:
        raise ModelMissing("the face models are not here.", "Download them: m3desk models pull.")
    picture = photo.read(path)
    found = faces_of(picture, models.faces, models.face_vectors)
    if not found:
        raise NoFace(f"there is no face in {path.name}.", "Give a picture that shows a face clearly.")
    return picture, found


def speech(path: Path, models: Models, source: Source | None = None) -> RecordedSpeech:
    """Return what is said in a recording. `source`: what `media.trial.tried` says of it, where that is known.

    Raises SourceError where it can't be read or less than a second is said, ModelMissing.
    """
    if models.voice_vectors is None or models.speech_activity is None:
        raise ModelMissing("the voice models are not here.", "Download them: m3desk models pull.")
    source = source or tried(path)
    if not source.has_audio:
        raise SourceUnreadable(f"{path} has no sound.", "Give a recording; for a photo use --image.")
    clip = Clip("given.c0", "given", 0, 0, min(source.duration or 0, LONGEST * MICROSECOND))
    sound = cutter.FileClip(replace(source, id="given"), clip, str(path), overrun=0).sound()
    segments = voices.listen(sound, models)
    said = np.concatenate([sound[s.start : s.end] for s in segments]) if segments else sound[:0]
    if len(said) < EMBEDDABLE:
        raise SourceUnreadable(f"too little is said in {path.name} to tell whose voice it is.", "Give a second of speech or more.")
    return RecordedSpeech(source, sound, tuple(segments), said)
