"""Embeds single faces and voices: from enrolment photos and recordings, of missed faces that a user adds, of split observations.

Stands above `reembedding`: reads files, runs models, and writes nothing itself.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from m3desk.domain.clip import MICROSECOND, Clip, Source
from m3desk.domain.editing import Lesson, Sample
from m3desk.domain.evidence import Box, FaceTrack, Floats, Observation, TimedBox, Utterance, media_id
from m3desk.domain.geometry import iou
from m3desk.errors import ModelMissing, SourceMissing, SourceUnreadable
from m3desk.media import cutter, file
from m3desk.media.file import is_there
from m3desk.media.streams import check_file
from m3desk.media.trial import tried
from m3desk.perception import scenes, sightings, speakers, turns, voices
from m3desk.perception.embedding import AROUND, utterance_in, voice_rows
from m3desk.ports import SAMPLE_RATE, DetectedFace, Models, Picture, Sound, VoiceEmbedder
from m3desk.samples import given
from m3desk.samples.reembedding import decode

PICTURES = frozenset((".jpg", ".jpeg", ".jpe", ".png", ".webp", ".bmp", ".tif", ".tiff", ".ppm", ".pgm"))
"""File name endings of photos; whatever else is given is taken for a recording, and where it has no sound for a photo."""

KEPT, PIECE = 20 * SAMPLE_RATE, 4 * SAMPLE_RATE
"""Samples of speech that are kept of it, and of each of the pieces they are kept in: as long as utterances are."""

OTHER_VOICE = 0.15
"""Share of the speech from which a second voice counts as another person, not as noise."""

SAME_PLACE = 0.3
"""Overlap (intersection over union) from which a found face is the one whose box was given: people draw boxes by hand."""

LOOKS = 3
"""Boxes of a split track that are embedded again, the largest of each third of it."""

# Where eyes, nose and mouth lie in a face's box (YuNet's, upright), for a face that no detector finds.
_TYPICAL = np.array([[0.31, 0.40], [0.69, 0.40], [0.50, 0.60], [0.35, 0.78], [0.65, 0.78]], np.float32)


# ---------------------------------------------------------------- photos and recordings that teach a person


def ports(paths: Sequence[Path]) -> tuple[str, ...]:
    """Return the ports of the models that these photos and recordings need. Raises SourceMissing, SourceUnreadable."""
    for path in paths:
        check_file(path)
    seen = any(p.suffix.lower() in PICTURES or not tried(p).has_audio for p in paths)
    heard = any(p.suffix.lower() not in PICTURES for p in paths)
    faces, speech = ("faces", "face_vectors"), ("speech_activity", "speech_segmentation", "voice_vectors")
    return (*(faces if seen else ()), *(speech if heard else ()))


def learn(path: Path, models: Models) -> Lesson:
    """Return the samples of a photo (exactly one face) or a recording (one voice). Raises SourceError, NoFace, ModelMissing."""
    if path.suffix.lower() in PICTURES:
        return _photo(path, models)
    source = tried(path)
    if not source.has_audio:
        return _photo(path, models)
    return _recording(path, source, models)


def _photo(path: Path, models: Models) -> Lesson:
    picture, found = given.faces(path, models)
    assert models.face_vectors is not None  # as it found faces
    if len(found) > 1:
        raise SourceUnreadable(f"there are {len(found)} faces in {path.name}.", "Give a picture of nobody else, or cut it to the one face.")
    (seen, row) = found[0]
    height, width = picture.shape[:2]
    about = Source("", str(path.absolute()), None, width, height, None, False, file.fingerprint(path), bytes=path.stat().st_size)
    return Lesson(about, _of_sightings([(seen, row)], models.face_vectors.name), face=seen.box)


def _recording(path: Path, source: Source, models: Models) -> Lesson:
    heard = given.speech(path, models, source)
    assert models.voice_vectors is not None  # as it heard somebody
    if (several := _voices(heard.sound, heard.segments, models)) > 1:
        raise SourceUnreadable(f"{several} voices are heard in {path.name}.", "Give a recording in which one person speaks.")
    kept = heard.said[:KEPT]
    pieces = [_piece(p, models.voice_vectors) for p in np.array_split(kept, max(1, len(kept) // PIECE))]
    (first, duration), *more = pieces
    return Lesson(replace(source, sha256=file.fingerprint(path)), first, duration=duration, more=tuple(more))


def _piece(sound: Sound, embedder: VoiceEmbedder) -> tuple[Sample, int]:
    rows = voice_rows(sound, embedder)
    assert rows is not None  # a piece is as long as what was asked for above
    kept = voices.flac(sound)
    audio = media_id(kept, ".flac")
    return Sample(embedder.name, rows, audio=audio, media={audio: kept}), len(sound) * MICROSECOND // SAMPLE_RATE


def _voices(sound: Sound, spoken: Sequence[turns.SpeechSegment], models: Models) -> int:
    """Return how many people speak for more than a moment."""
    assert models.voice_vectors is not None
    parts = speakers.who_speaks(sound, spoken, models.speech_segmentation, models.voice_vectors)
    length: dict[int, int] = {}
    for turn in parts:
        length[turn.voice] = length.get(turn.voice, 0) + turn.end - turn.start
    whole = sum(length.values())
    # A piece too short for a voice counts as a voice of its own there.
    return sum(n >= max(OTHER_VOICE * whole, 2 * speakers.CORE) for n in length.values())


# ---------------------------------------------------------------- what corrections made


def there(source: Source) -> None:
    """Raises SourceMissing where the file of a source is not in its place."""
    if not is_there(source.uri):
        raise SourceMissing(
            f"{source.uri} is not there, and a face is looked at in its picture.",
            f"Say where it is: m3desk sources relink {shlex.quote(source.id)} FILE.",
        )


def missed_face(uri: str, source: Source, at: int, box: Box, models: Models) -> Sample:
    """Return the sample of the face in a box of a file's picture. Raises SourceMissing, SourceUnreadable, ModelMissing."""
    if models.faces is None or models.face_vectors is None:
        raise ModelMissing("the face models are not here.", "Download them: m3desk models pull.")
    there(source)
    found = _looked_at(uri, source, [TimedBox(at, *box)], models, sure=True)
    if not found:
        raise SourceUnreadable(f"{Path(uri).name} has no picture at {at / MICROSECOND:.2f} s.", "Choose another time.")
    return _of_sightings(found, models.face_vectors.name)


def track_again(uri: str, source: Source, made: FaceTrack, models: Models) -> Sample | None:
    """Return the sample of a split track (or a missed face) from the file's pictures; None without file, models or a clear face."""
    if models.faces is None or models.face_vectors is None or not Path(uri).is_file() or not made.boxes:
        return None
    thirds = [t for t in np.array_split(np.arange(len(made.boxes)), min(LOOKS, len(made.boxes))) if len(t)]
    largest = [max((made.boxes[i] for i in t), key=lambda b: (b.width * b.height, -b.at)) for t in thirds]
    found = _looked_at(uri, source, largest, models, sure=made.replaces is None)
    found.sort(key=lambda f: (-f[0].quality, f[0].at))
    return _of_sightings(found, models.face_vectors.name) if found else None


def _looked_at(
    uri: str, source: Source, boxes: Sequence[TimedBox], models: Models, *, sure: bool
) -> list[tuple[sightings.Sighting, Floats]]:
    """Return the faces in these boxes with their vectors; with `sure` also one that no detector finds."""
    assert models.faces is not None and models.face_vectors is not None
    found = []
    for box in boxes:
        picture = _picture(uri, source, box.at)
        if picture is None:
            continue
        near = sightings.sightings(models.faces, picture, 0, box.at)
        best = max(near, key=lambda s: iou(s.box, box.box), default=None)
        if best is None or iou(best.box, box.box) < SAME_PLACE:
            best = _typical(picture, box) if sure else None
        if best is not None:
            found.append((best, sightings.vector(models.face_vectors, best)))
    return found


def _picture(uri: str, source: Source, at: int) -> Picture | None:
    """Return the picture that is shown at a moment (of a grid of 50 a second)."""
    moment = Clip(f"{source.id}.look", source.id, 0, max(0, at - MICROSECOND // 50 + 1), at + 1)
    return next((f.picture for f in cutter.FileClip(source, moment, uri, fps=50.0).frames()), None)


def _typical(picture: Picture, box: TimedBox) -> sightings.Sighting:
    """Return a face with the user's box and typical landmarks."""
    marks = _TYPICAL * (box.width, box.height) + (box.x, box.y)
    face = DetectedFace(box.box, 1.0, np.asarray(marks, np.float32))
    crop, inside = sightings.cut_out(picture, face)
    grey = cv2.cvtColor(cv2.warpAffine(crop, sightings.upright(inside), (64, 64)), cv2.COLOR_BGR2GRAY)
    steady = np.asarray(grey, np.uint8)
    return sightings.Sighting(0, box.at, face.box, 1.0, face.landmarks, crop, inside, sightings.quality(face, steady), steady)


def _of_sightings(found: Sequence[tuple[sightings.Sighting, Floats]], model: str) -> Sample:
    crops = [scenes.crop_file(s.crop) for s, _ in found]
    ids = tuple(media_id(c, ".jpg") for c in crops)
    marks = tuple(tuple((round(float(x), 1), round(float(y), 1)) for x, y in s.marks) for s, _ in found)
    quality = max((s.quality for s, _ in found), default=0.0)
    return Sample(model, np.stack([row for _, row in found]), ids, marks, quality, media=dict(zip(ids, crops, strict=True)))


def speech_again(
    uri: str,
    source: Source,
    made: Utterance,
    old: Observation | None,
    clip_start: int,
    media: Callable[[str], bytes | None],
    models: Models,
) -> Sample | None:
    """Return the sound of a part of an utterance: of the old snippet or, where that does not reach, of the file; None without either."""
    sound = _snippet(made, old, clip_start, media)
    if sound is None:
        if not Path(uri).is_file():
            return None
        begin = max(clip_start, made.start - AROUND * MICROSECOND // SAMPLE_RATE)
        clip = Clip(made.clip, source.id, 0, begin, made.end + AROUND * MICROSECOND // SAMPLE_RATE)
        sound = cutter.FileClip(source, clip, uri, overrun=0).sound()
    if not len(sound):
        return None
    kept = voices.flac(sound)
    audio = media_id(kept, ".flac")
    said = utterance_in(sound, made.end - made.start)
    rows = voice_rows(said, models.voice_vectors) if models.voice_vectors and made.embeddable else None
    name = models.voice_vectors.name if models.voice_vectors else ""
    return Sample(name, np.zeros((0, 0), np.float32) if rows is None else rows, audio=audio, media={audio: kept})


def _snippet(made: Utterance, old: Observation | None, clip_start: int, media: Callable[[str], bytes | None]) -> Sound | None:
    """Return the piece of the old snippet that a part covers, with a breath around it; None where it does not reach."""
    content = media(old.audio) if isinstance(old, Utterance) and old.audio else None
    if not isinstance(old, Utterance) or content is None or made.start < old.start or made.end > old.end:
        return None
    whole = decode(content)
    around = AROUND * MICROSECOND // SAMPLE_RATE
    begins = max(clip_start, old.start - around)
    first, last = ((t - begins) * SAMPLE_RATE // MICROSECOND for t in (made.start - around, made.end + around))
    piece: Sound = whole[max(0, first) : max(0, last)].copy()
    return piece if len(piece) else None


__all__ = ["learn", "missed_face", "ports", "speech_again", "there", "track_again"]
