"""What is heard in one clip: utterances with words, times, language and voice. Knows no model by name, and nobody of another clip."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import av
import numpy as np

from m3desk.domain.calibration import UNKNOWN_MODEL, Evidence, calibration
from m3desk.domain.clip import Clip
from m3desk.domain.evidence import Floats, Utterance, Word, media_id
from m3desk.domain.ids import utterance_id
from m3desk.errors import Cancelled, ModelFailed
from m3desk.perception.embedding import AROUND, voice_rows
from m3desk.perception.lines import Line, clean, common, compose, murmurs, overlaps, owned, placed, samples, time
from m3desk.perception.speakers import Run, Segmented, gathered, segmented, who_speaks
from m3desk.perception.turns import Stretch, Turn, faint, stretches, with_faint
from m3desk.perception.words import Said, joined, language_of, phantom, recognise, simplified
from m3desk.ports import SAMPLE_RATE, ClipMedia, Models, Sound, VoiceEmbedder

log = logging.getLogger(__name__)

SURE = 0.50
"""Where the segmentation hears nobody, voice activity must be as sure (mean over a stretch): music gives 0.1 to 0.4."""


@dataclass(frozen=True, slots=True)
class Heard:
    """The audible half of a clip's evidence (see `Perceived`). Utterances are in start order, ids `s1.c3.u0…` in that order."""

    utterances: tuple[Utterance, ...] = ()
    vectors: Mapping[str, Floats] = field(default_factory=dict)
    media: Mapping[str, bytes] = field(default_factory=dict)
    cannot_link: frozenset[tuple[str, str]] = frozenset()


def hear(
    media: ClipMedia,
    models: Models,
    *,
    heard_until: int | None = None,
    cuts: Callable[[], Sequence[int]] = tuple,
    cancelled: Callable[[], bool] = lambda: False,
    on_words: Callable[[Utterance], None] | None = None,
) -> Heard:
    """Return the utterances that start in a clip. `heard_until`: microseconds of the source; the clip before has heard what lies before it.

    `cuts`: gives the first pictures of new shots (microseconds of the source); asked when the words are known, since whoever sees them may
    take as long. Without a voice activity or speech model nothing is heard; without a voice model nobody is told apart.
    Raises Cancelled, ModelError.
    """
    if models.speech_activity is None or models.speech is None:
        return Heard()

    def check() -> None:
        if cancelled():
            raise Cancelled("Stopped while listening.")

    check()
    clip = media.clip
    border = samples(clip.end, clip)
    sound = skip(media.sound(), clip, heard_until)
    first = 0 if heard_until is None else max(0, samples(heard_until, clip))
    activity, hop = active(sound, models), models.speech_activity.hop
    spoken = [s for s in _from(stretches(sound, activity, hop), first) if s.start < border]
    tracks: Segmented | None = None
    if models.speech_segmentation is not None and models.voice_vectors is not None:
        maybe = [s for s in _from(faint(sound, activity, hop), first) if s.start < border]
        check()
        tracks = segmented(sound, maybe, models.speech_segmentation)
        heard_too = [(max(a, first), b) for a, b in tracks.heard if b > first]
        spoken = [s for s in with_faint(sound, spoken, heard_too, activity, hop) if s.start < border]
        spoken = [s for s in spoken if s.sureness >= SURE or common([(s.start, s.end)], heard_too)]
    if not spoken:
        return Heard()
    check()
    said = recognise(sound, spoken, models.speech, check=check)
    if models.voice_vectors is not None:
        # Pictures are taken 5 times a second: the shot changed within 0.2 s before the first of the new one.
        shots = [samples(c, clip) - SAMPLE_RATE // 10 for c in cuts()]
        # The segmentation may find nobody where voice activity does.
        heard_by = models.speech_segmentation if tracks is not None and tracks.heard else None
        found = who_speaks(sound, spoken, heard_by, models.voice_vectors, _evidence(models.voice_vectors), shots, tracks)
        parts = [replace(t, start=max(t.start, first)) for t in found if t.end > first]
        mine = _heard_apart(sound, said, spoken, parts, clip, models.voice_vectors)
    else:
        lines = compose(said, spoken, [Turn(s.start, s.end, -1) for s in spoken])
        mine = owned([line for line in lines if _believable(line, clip)], sound, clip)
    check()
    heard = _observe(sound, mine, clip)
    for utterance in heard.utterances if on_words else ():
        assert on_words is not None
        on_words(utterance)
    return heard


def _evidence(voices: VoiceEmbedder) -> Evidence:
    return calibration(voices.name, "voice").evidence or UNKNOWN_MODEL


def listen(sound: Sound, models: Models) -> list[Stretch]:
    """Return the stretches of speech in a sound; none where all of it is silence."""
    return stretches(sound, active(sound, models), models.speech_activity.hop) if models.speech_activity is not None else []


def active(sound: Sound, models: Models) -> Floats:
    """Return the probabilities of speech in a sound; none where all of it is silence."""
    if models.speech_activity is None or not len(sound) or float(np.max(np.abs(sound))) < 1e-3:
        return np.zeros(0, np.float32)
    return models.speech_activity.probabilities(sound)


def _from(spoken: Sequence[Stretch], first: int) -> list[Stretch]:
    return [replace(s, start=max(s.start, first)) for s in spoken if s.end > first]


def skip(sound: Sound, clip: Clip, heard_until: int | None) -> Sound:
    """Return the sound with what the clip before has heard made silent."""
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


def _heard_apart(
    sound: Sound, said: Sequence[Said], spoken: Sequence[Stretch], parts: Sequence[Turn], clip: Clip, voices: VoiceEmbedder
) -> list[Line]:
    """Return the clip's lines where it is known who speaks when: each word belongs to who speaks then, two lines may overlap."""
    lines = placed([line for line in compose(said, spoken, parts) if _believable(line, clip)], parts)
    mine = owned(lines, sound, clip)
    border = samples(clip.end, clip)
    heard = max((line.end for line in mine), default=0)
    for line in murmurs(lines, parts, spoken):
        # One that goes on over the border ends where the next clip begins to listen.
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


def _observe(sound: Sound, lines: Sequence[Line], clip: Clip) -> Heard:
    """Make evidence of lines."""
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
    apart = frozenset((utterances[n].id, utterances[m].id) for n, m in pairs)
    return Heard(tuple(utterances), vectors, media, apart)


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
