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
from m3desk.domain.linkage import average_linkage
from m3desk.errors import Cancelled, ModelFailed
from m3desk.perception.embedding import AROUND, voice_rows
from m3desk.perception.lines import SHORT_PAUSE, Line, clean, common, compose, ends, murmurs, overlaps, owned, placed, samples, time
from m3desk.perception.speakers import Run, gathered, who_speaks
from m3desk.perception.turns import SpeechSegment, Turn, speech_segments, turns
from m3desk.perception.words import TimedWord, ends_sentence, joined, language_of, phantom, recognise, simplified
from m3desk.ports import SAMPLE_RATE, ClipMedia, Models, Sound, VoiceEmbedder

log = logging.getLogger(__name__)

SAME_SPEAKER = 0.57
"""Mean cosine above which utterances of one clip are one voice; whole utterances are more similar than windows (see turns.SAME_VOICE)."""

STRANGE = 0.46
"""A line belongs to somebody else if its mean cosine to the (two or more) other lines of its voice is below this; see speakers.TWO."""

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
    cancelled: Callable[[], bool] = lambda: False,
    on_words: Callable[[Utterance], None] | None = None,
) -> SpeechEvidence:
    """Return the utterances that start in a clip. `heard_until`: microseconds of the source; sound before it belongs to the previous clip.

    Without a voice activity or speech model there are no utterances; without a voice model, one voice. Raises Cancelled, ModelError.
    """
    if models.speech_activity is None or models.speech is None:
        return SpeechEvidence()

    def check() -> None:
        if cancelled():
            raise Cancelled("Stopped while listening.")

    check()
    sound = media.sound()
    clip = media.clip  # after its sound: only then the end of a clip that is being recorded is known
    sound = skip(sound, clip, heard_until)
    first = 0 if heard_until is None else max(0, samples(heard_until, clip))
    spoken = [replace(s, start=max(s.start, first)) for s in listen(sound, models) if s.start < samples(clip.end, clip) and s.end > first]
    if not spoken:
        return SpeechEvidence()
    check()
    parts: list[Turn] = []
    if models.speech_segmentation is not None and models.voice_vectors is not None:
        found = who_speaks(sound, spoken, models.speech_segmentation, models.voice_vectors)
        parts = [replace(t, start=max(t.start, first)) for t in found if t.end > first]
        heard_too = [(t.start, t.end) for t in parts]
        spoken = [s for s in spoken if s.sureness >= SURE or common([(s.start, s.end)], heard_too)]
        if not spoken:
            return SpeechEvidence()
        check()
    said = recognise(sound, spoken, models.speech, check=check)
    if parts:
        mine = _diarized(sound, said, spoken, parts, clip, models.voice_vectors)
    else:
        # No segmentation model, or it finds nobody where voice activity does.
        lines = compose(said, spoken, turns(sound, spoken, models.voice_vectors))
        mine = cluster_lines(sound, owned([line for line in lines if _believable(line, clip)], sound, clip), spoken, models.voice_vectors)
    check()
    heard = _observe(sound, mine, clip)
    for utterance in heard.utterances if on_words else ():
        assert on_words is not None
        on_words(utterance)
    return heard


def listen(sound: Sound, models: Models) -> list[SpeechSegment]:
    """Return the speech segments of a sound; none where all of it is silence."""
    if models.speech_activity is None or not len(sound) or float(np.max(np.abs(sound))) < 1e-3:
        return []
    activity = models.speech_activity.probabilities(sound)
    return speech_segments(sound, activity, models.speech_activity.hop)


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
    voices: VoiceEmbedder | None,
) -> list[Line]:
    """Return the clip's lines by the turns of the segmentation model: each word belongs to who speaks then; two lines may overlap."""
    lines = placed([line for line in compose(said, spoken, parts) if _believable(line, clip)], parts)
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
    if voices is not None:
        clear = [gathered(sound, clean(line, parts)) for line in mine]
        mine = reassign_outliers([replace(line, vectors=voice_rows(piece, voices)) for line, piece in zip(mine, clear, strict=True)])
        mine = embed_short_voices(mine, clear, voices)
    order = {k: i for i, k in enumerate(dict.fromkeys(line.voice for line in mine))}
    return [replace(line, cluster=order[line.voice]) for line in mine]


def reassign_outliers(lines: Sequence[Line]) -> list[Line]:
    """Assign a line that is dissimilar to the (two or more) others of its voice to the most similar other voice, or to a new one."""
    rows = {n: v[0] for n, line in enumerate(lines) if (v := line.vectors) is not None}
    voice = {n: lines[n].voice for n in rows}

    def similarity(n: int, k: int) -> float:
        theirs = [float(rows[n] @ rows[m]) for m in rows if voice[m] == k and m != n]
        return round(sum(theirs) / len(theirs), 5) if theirs else -1.0

    spare = max((line.voice for line in lines), default=0) + 1
    moved: set[int] = set()
    while many := [n for n in rows if n not in moved and list(voice.values()).count(voice[n]) > 2]:
        worst = min(many, key=lambda n: (similarity(n, voice[n]), n))
        if similarity(worst, voice[worst]) >= STRANGE:
            break
        best = max(sorted({*voice.values()} - {voice[worst]}), key=lambda k: similarity(worst, k), default=spare)
        voice[worst] = best if similarity(worst, best) >= SAME_SPEAKER else spare
        spare += voice[worst] == spare
        moved.add(worst)
    return [replace(line, voice=voice.get(n, line.voice)) for n, line in enumerate(lines)]


def embed_short_voices(lines: Sequence[Line], clear: Sequence[Sound], voices: VoiceEmbedder) -> list[Line]:
    """Embed all lines of a voice together if each is too short for an embedding; the longest line gets the vectors."""
    result = list(lines)
    for k in sorted({line.voice for line in lines} - {line.voice for line in lines if line.vectors is not None}):
        mine = [n for n, line in enumerate(lines) if line.voice == k]
        longest = max(mine, key=lambda n: (bool(lines[n].words), len(clear[n]), -n))
        result[longest] = replace(lines[longest], vectors=voice_rows(np.concatenate([clear[n] for n in mine]), voices))
    return result


def _within(line: Line) -> tuple[Run, ...]:
    return tuple((max(a, line.start), min(b, line.end)) for a, b in line.active if a < line.end and b > line.start)


# ---------------------------------------------------------------- utterances to evidence


def cluster_lines(sound: Sound, lines: Sequence[Line], spoken: Sequence[SpeechSegment], voices: VoiceEmbedder | None) -> list[Line]:
    """Compute the vectors and clusters of lines; join neighbours that were split at a change of voice but belong to one cluster."""
    if voices is None:
        return list(lines)
    known = _clustered([replace(line, vectors=voice_rows(sound[line.start : line.end], voices)) for line in lines])
    joint: list[Line] = []
    for line in known:
        last = joint[-1] if joint else None
        if last and last.cluster == line.cluster and not ends(last.words[0], last.words[-1], line.words[0], spoken):
            both = replace(last, end=line.end, words=(*last.words, *line.words), sureness=(last.sureness + line.sureness) / 2)
            joint[-1] = replace(both, vectors=voice_rows(sound[both.start : both.end], voices))
        else:
            joint.append(line)
    return joint


def _clustered(lines: Sequence[Line]) -> list[Line]:
    """Number the voices of a clip from 0 in order of appearance: lines are clustered by vectors; short ones follow their turn's voice."""
    known = [n for n, line in enumerate(lines) if line.vectors is not None]
    found: list[int] = [-1] * len(lines)
    if known:
        rows = np.stack([v[0] for line in lines if (v := line.vectors) is not None])
        for n, k in zip(known, average_linkage(rows @ rows.T, SAME_SPEAKER).tolist(), strict=True):
            found[n] = k
    spare = max(found, default=-1) + 1
    for n in (n for n in range(len(lines)) if found[n] < 0):
        kin = [m for m in range(len(lines)) if found[m] >= 0 and (lines[m].voice == lines[n].voice or _goes_on(lines, n, m))]
        nearest = min(kin, key=lambda m: (abs(lines[m].start - lines[n].start), m), default=None)
        found[n] = spare if nearest is None else found[nearest]
        spare += nearest is None
    order = {k: i for i, k in enumerate(dict.fromkeys(found))}
    return [replace(line, cluster=order[k]) for line, k in zip(lines, found, strict=True)]


def _goes_on(lines: Sequence[Line], n: int, m: int) -> bool:
    """Return whether the next line continues the sentence of a line that is too short for an embedding."""
    return m == n + 1 and not ends_sentence(lines[n].words[-1].text) and lines[m].start - lines[n].end < SHORT_PAUSE


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
