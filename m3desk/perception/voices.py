"""The speech evidence of one clip: utterances with words, times, language and voice. Independent of particular models and other clips."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import av
import numpy as np

from m3desk.domain.clip import Clip
from m3desk.domain.evidence import Floats, Utterance, Word, media_id
from m3desk.domain.ids import utterance_id
from m3desk.errors import Cancelled, ModelFailed
from m3desk.perception import in_step
from m3desk.perception.embedding import AROUND, voice_rows
from m3desk.perception.lines import Line, clean, common, compose, murmurs, overlaps, owned, placed, samples, time
from m3desk.perception.speakers import gathered, who_speaks
from m3desk.perception.turns import SpeechSegment, Turn, faint, speech_segments, with_faint
from m3desk.perception.voice_tracks import Run, Segmented, segmented
from m3desk.perception.words import TimedWord, joined, language_of, phantom, recognise, simplified
from m3desk.ports import SAMPLE_RATE, ClipMedia, Models, Sound, VoiceEmbedder

log = logging.getLogger(__name__)

SURE = 0.50
"""Mean probability of voice activity that a segment needs if the segmentation model finds no speaker in it: music gives 0.1 to 0.4."""


@dataclass(frozen=True, slots=True)
class SpeechEvidence:
    """The audible half of a clip's evidence (see `Perceived`). Utterances are in start order, ids `s1.c3.u0…` in that order."""

    utterances: tuple[Utterance, ...] = ()
    vectors: Mapping[str, Floats] = field(default_factory=dict)
    media: Mapping[str, bytes] = field(default_factory=dict)
    cannot_link: frozenset[tuple[str, str]] = frozenset()
    bands: Floats | None = None
    """The clip's sound for lips (`in_step.bands`), if anybody speaks."""


def hear(
    media: ClipMedia,
    models: Models,
    *,
    heard_until: int | None = None,
    cuts: Callable[[], Sequence[int]] = tuple,
    cancelled: Callable[[], bool] = lambda: False,
    on_words: Callable[[Utterance], None] | None = None,
) -> SpeechEvidence:
    """Return the utterances that start in a clip. `heard_until`: microseconds of the source; sound before it belongs to the previous clip.

    `cuts`: returns the times of the first pictures of new shots; it is called once the words are known and may wait for the pictures.
    Without a voice activity or speech model there are no utterances; without a voice model, one voice. Raises Cancelled, ModelError.
    """
    if models.speech_activity is None or models.speech is None:
        return SpeechEvidence()

    def check() -> None:
        if cancelled():
            raise Cancelled("Stopped while listening.")

    check()
    whole = media.sound()
    clip = media.clip  # after its sound: only then the end of a clip that is being recorded is known
    sound = skip(whole, clip, heard_until)
    border = samples(clip.end, clip)
    first = 0 if heard_until is None else max(0, samples(heard_until, clip))
    activity, hop = active(sound, models), models.speech_activity.hop
    spoken = [s for s in _from(speech_segments(sound, activity, hop), first) if s.start < border]
    tracks: Segmented | None = None
    if models.speech_segmentation is not None and models.voice_vectors is not None:
        maybe = [s for s in _from(faint(sound, activity, hop), first) if s.start < border]
        check()
        tracks = segmented(sound, maybe, models.speech_segmentation)
        heard_too = [(max(a, first), b) for a, b in tracks.heard if b > first]
        spoken = [s for s in with_faint(sound, spoken, heard_too, activity, hop) if s.start < border]
        spoken = [s for s in spoken if s.sureness >= SURE or common([(s.start, s.end)], heard_too)]
    if not spoken:
        return SpeechEvidence()
    check()
    said = recognise(sound, spoken, models.speech, check=check)
    if models.voice_vectors is not None:
        # The segmentation may find nobody where voice activity does.
        heard_by = models.speech_segmentation if tracks is not None and tracks.heard else None
        shots = tuple(samples(at, clip) for at in cuts())
        found = who_speaks(sound, spoken, heard_by, models.voice_vectors, tracks, shots, border)
        parts = [replace(t, start=max(t.start, first)) for t in found if t.end > first]
        mine = _diarized(sound, said, spoken, parts, clip, models.voice_vectors, shots)
    else:
        lines = compose(said, spoken, [Turn(s.start, s.end, -1) for s in spoken])
        mine = owned([line for line in lines if _believable(line, clip)], sound, clip)
    check()
    heard = _observe(sound, mine, clip)
    for utterance in heard.utterances if on_words else ():
        assert on_words is not None
        on_words(utterance)
    return replace(heard, bands=in_step.bands(whole, clip.start)) if heard.utterances else heard


def listen(sound: Sound, models: Models) -> list[SpeechSegment]:
    """Return the speech segments of a sound; none where all of it is silence."""
    return speech_segments(sound, active(sound, models), models.speech_activity.hop) if models.speech_activity is not None else []


def active(sound: Sound, models: Models) -> Floats:
    """Return the probabilities of speech in a sound; none where all of it is silence."""
    if models.speech_activity is None or not len(sound) or float(np.max(np.abs(sound))) < 1e-3:
        return np.zeros(0, np.float32)
    return models.speech_activity.probabilities(sound)


def _from(spoken: Sequence[SpeechSegment], first: int) -> list[SpeechSegment]:
    return [replace(s, start=max(s.start, first)) for s in spoken if s.end > first]


def skip(sound: Sound, clip: Clip, heard_until: int | None) -> Sound:
    """Return the sound with silence in place of what the previous clip has transcribed."""
    if heard_until is None or heard_until <= clip.start:
        return sound
    rest = sound.copy()
    rest[: samples(heard_until, clip)] = 0
    return rest


def _believable(line: Line, clip: Clip) -> bool:
    why = phantom(line.words, line.sureness)
    if why is not None:
        log.debug("%s: “%s” at %d is not speech: %s", clip.id, joined(line.words), time(line.start, clip), why)
    return why is None


def _diarized(
    sound: Sound,
    said: Sequence[TimedWord],
    spoken: Sequence[SpeechSegment],
    parts: Sequence[Turn],
    clip: Clip,
    voices: VoiceEmbedder,
    shots: Sequence[int] = (),
) -> list[Line]:
    """Return the clip's lines by the turns of the segmentation model: each word belongs to who speaks then; two lines may overlap."""
    lines = placed([line for line in compose(said, spoken, parts, shots) if _believable(line, clip)], parts)
    mine = owned(lines, sound, clip)
    border = samples(clip.end, clip)
    heard = max((line.end for line in mine), default=0)
    for line in murmurs(lines, parts, spoken):
        # A line that crosses the border ends where the next clip starts to transcribe.
        end = min(line.end, max(border, heard)) if len(sound) > border else line.end
        if line.start < border and end > line.start:
            mine.append(replace(line, end=end))
    mine.sort(key=lambda line: (line.start, line.end, line.voice))
    mine = [replace(line, active=_within(line)) for line in mine]
    mine = [replace(line, vectors=voice_rows(gathered(sound, clean(line, parts)), voices)) for line in mine]
    order = {k: i for i, k in enumerate(dict.fromkeys(line.voice for line in mine))}
    return [replace(line, cluster=order[line.voice]) for line in mine]


def _within(line: Line) -> tuple[Run, ...]:
    return tuple((max(a, line.start), min(b, line.end)) for a, b in line.active if a < line.end and b > line.start)


# ---------------------------------------------------------------- utterances to evidence


def _observe(sound: Sound, lines: Sequence[Line], clip: Clip) -> SpeechEvidence:
    """Convert lines to evidence."""
    pairs = overlaps(lines)
    together = {n for pair in pairs for n in pair}
    media: dict[str, bytes] = {}
    vectors: dict[str, Floats] = {}
    utterances = []
    for n, line in enumerate(lines):
        id_ = utterance_id(clip.id, n)
        snippet = flac(sound[max(0, line.start - AROUND) : line.end + AROUND])
        name = media_id(snippet, ".flac")
        media[name] = snippet
        if line.vectors is not None:
            vectors[id_] = line.vectors
        language = language_of(line.words) if line.words else None
        utterances.append(
            Utterance(
                id=id_,
                clip=clip.id,
                start=time(line.start, clip),
                end=time(line.end, clip),
                text=simplified(joined(line.words), language),
                words=tuple(Word(time(w.start, clip), time(w.end, clip), simplified(w.text.strip(), language)) for w in line.words),
                language=language,
                confidence=round(float(np.mean([w.probability for w in line.words])), 4) if line.words else 0.0,
                audio=name,
                cluster=line.cluster,
                overlapped=n in together,
                embeddable=line.vectors is not None,
            )
        )
    cannot_link = frozenset((utterances[n].id, utterances[m].id) for n, m in pairs)
    return SpeechEvidence(tuple(utterances), vectors, media, cannot_link)


def flac(sound: Sound) -> bytes:
    """Return sound as 16-bit mono FLAC of 16 kHz. Raises ModelFailed when FFmpeg was built without its encoder."""
    pcm = np.clip(np.round(np.asarray(sound, np.float64) * 32767), -32768, 32767).astype(np.int16)
    target = io.BytesIO()
    try:
        with av.open(target, "w", format="flac") as container:
            stream = container.add_stream("flac", rate=SAMPLE_RATE, layout="mono", format="s16")
            frame = av.AudioFrame.from_ndarray(pcm[None], format="s16", layout="mono")
            frame.sample_rate = SAMPLE_RATE
            frame.pts = 0
            container.mux([*stream.encode(frame), *stream.encode(None)])
    except av.FFmpegError as e:
        raise ModelFailed(f"Speech could not be stored as FLAC: {e}", "Install PyAV again: pip install av") from e
    return target.getvalue()
