"""Stored crops and speech embedded with another model: for `m3desk reembed`, and for each new clip of a memory that uses another model.

A memory stores which model its galleries and thresholds belong to, and keeps it until `reembed --switch`, whatever the profile says. The
profile's model still perceives, since the clustering within a clip was calibrated for it, and crops and speech are embedded with the
memory's model too; both embeddings are kept, so that one can switch back.
Must not know: how a memory is stored, any model by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from m3desk.domain.evidence import FaceTrack, Floats, Perceived, Utterance
from m3desk.errors import ModelFailed, SourceUnreadable
from m3desk.media import photo
from m3desk.media.streams import stored_sound
from m3desk.perception import embedding
from m3desk.perception.embedding import SCRAP, face_row, utterance_in
from m3desk.ports import FaceEmbedder, Models, Sound, VoiceEmbedder

Media = Callable[[str], bytes | None]
"""What gives the bytes of a stored crop or snippet."""

PORTS = ("face_vectors", "voice_vectors")


def face_rows(track: FaceTrack, media: Media, embedder: FaceEmbedder) -> Floats | None:
    """Return (n, d) rows of a track's stored crops by their stored landmarks, best first; None where nothing is stored."""
    rows = []
    for id_, five in zip(track.crops, track.landmarks, strict=False):
        content = media(id_)
        picture = photo.stored(content)
        if picture is None:
            continue
        rows.append(face_row(picture, np.asarray(five, np.float32), track.score, embedder))
    return np.stack(rows) if rows else None


def voice_rows(said: Utterance, media: Media, embedder: VoiceEmbedder) -> Floats | None:
    """Return (n, d) rows of an utterance's stored sound; None where nothing is stored or it is shorter than 0.5 s."""
    content = media(said.audio) if said.audio else None
    if not content:
        return None
    return embedding.voice_rows(utterance_in(decode(content), said.end - said.start), embedder, least=SCRAP)


def decode(content: bytes) -> Sound:
    """Return the samples of a stored snippet (FLAC, 16 kHz mono). Raises ModelFailed where it does not read."""
    try:
        return stored_sound(content)
    except SourceUnreadable as error:
        raise ModelFailed(f"a stored snippet of speech does not read: {error}", "Check the memory: m3desk check.") from error


def rows_of(observation: FaceTrack | Utterance, media: Media, embedder: Any) -> Floats | None:
    """Return the rows of a face track or an utterance by a model of its kind."""
    if isinstance(observation, FaceTrack):
        return face_rows(observation, media, embedder)
    return voice_rows(observation, media, embedder)


# ---------------------------------------------------------------- new clips of a memory that uses another model


@dataclass(frozen=True, slots=True)
class Beside:
    """A clip as this memory knows it. `names`: port → the model in use, where that is not the profile's. `rows`: model → observation →
    rows of the profile's models, to be kept beside."""

    perceived: Perceived
    names: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, Mapping[str, Floats]] = field(default_factory=dict)


class Also:
    """The models that a memory uses instead of the profile's: each clip is embedded with them too."""

    def __init__(self, models: Models, instead: Mapping[str, Any]) -> None:
        """`instead`: port → the backend that this memory uses."""
        self._models, self._instead = models, dict(instead)

    def __call__(self, perceived: Perceived) -> Beside:
        """Return the clip with the memory's own vectors. Raises ModelFailed."""
        vectors, kept = dict(perceived.vectors), {}
        for port, backend in self._instead.items():
            mine: Sequence[FaceTrack | Utterance] = perceived.faces if port == "face_vectors" else perceived.utterances
            by_profile = getattr(self._models, port)
            kept[by_profile.name if by_profile else ""] = {o.id: vectors[o.id] for o in mine if o.id in vectors}
            for o in mine:
                rows = rows_of(o, perceived.media.get, backend) if o.id in vectors else None
                vectors.pop(o.id, None)
                if rows is not None:
                    vectors[o.id] = rows
        names = {port: backend.name for port, backend in self._instead.items()}
        return Beside(replace(perceived, vectors=vectors), names, kept)


__all__ = ["PORTS", "Also", "Beside", "decode", "face_rows", "rows_of", "voice_rows"]
