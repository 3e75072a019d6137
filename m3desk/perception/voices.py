"""What is heard in one clip: utterances with words, times, language and voice. Knows no model by name, and nobody of another clip."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import av
import numpy as np

from m3desk.domain.clip import MICROSECOND, Clip
from m3desk.domain.evidence import Floats, Utterance, Word, media_id
from m3desk.errors import Cancelled, ModelFailed
from m3desk.perception.turns import Stretch, Turn, agglomerate, quietest, stretches, turns
from m3desk.perception.words import Said, ends_sentence, joined, language_of, phantom, recognise, simplified
from m3desk.ports import SAMPLE_RATE, ClipMedia, Models, Sound, VoiceEmbedder

log = logging.getLogger(__name__)

LONG_PAUSE = round(0.70 * SAMPLE_RATE)
"""Silence that ends an utterance."""

SENTENCE = round(1.50 * SAMPLE_RATE)
"""A full stop ends an utterance that is at least this long: "Yes. No." stays one, long enough to know the voice."""

LONG, SHORT_PAUSE, CLAUSE_ENDS = round(12.0 * SAMPLE_RATE), round(0.25 * SAMPLE_RATE), (",", ";", ":", "，", "；", "：", "、")
"""An utterance that goes on for longer ends at a breath or a comma: nobody reads a subtitle of half a minute."""

SAME_SPEAKER = 0.57
"""Mean cosine above which utterances of one clip are one voice; whole utterances are more alike than windows (see turns.SAME_VOICE)."""

EMBEDDABLE = round(1.00 * SAMPLE_RATE)
VOICE_WINDOW = round(3.0 * SAMPLE_RATE)
LONGEST_VOICE = round(8.0 * SAMPLE_RATE)
KEPT_AROUND = round(0.10 * SAMPLE_RATE)
"""Sound kept before and after an utterance's words in its snippet."""


@dataclass(frozen=True, slots=True)
class Heard:
    """The audible half of a clip's evidence (see `Perceived`). Utterances are in start order, ids `s1.c3.u0…` in that order."""

    utterances: tuple[Utterance, ...] = ()
    vectors: Mapping[str, Floats] = field(default_factory=dict)
    media: Mapping[str, bytes] = field(default_factory=dict)
    apart: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class _Line:
    """An utterance in the making: samples [start, end) of the clip's sound."""

    start: int
    end: int
    words: tuple[Said, ...]
    voice: int
    sureness: float
    vectors: Floats | None = None
    cluster: int = 0


def hear(
    media: ClipMedia,
    models: Models,
    *,
    heard_until: int | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    on_words: Callable[[Utterance], None] | None = None,
) -> Heard:
    """Return the utterances that start in a clip. `heard_until`: microseconds of the source; the clip before has heard what lies before it.

    Without a voice activity or speech model nothing is heard; without a voice model nobody is told apart. Raises Cancelled, ModelError.
    """
    if models.speech_activity is None or models.speech is None:
        return Heard()

    def check() -> None:
        if cancelled():
            raise Cancelled("Stopped while listening.")

    check()
    clip = media.clip
    sound = skip(media.sound(), clip, heard_until)
    first = 0 if heard_until is None else max(0, samples(heard_until, clip))
    spoken = [replace(s, start=max(s.start, first)) for s in listen(sound, models) if s.start < samples(clip.end, clip) and s.end > first]
    if not spoken:
        return Heard()
    check()
    parts = turns(sound, spoken, models.voice_vectors)
    check()
    said = recognise(sound, spoken, models.speech, check=check)
    lines = [line for line in compose(said, spoken, parts) if _believable(line, clip)]
    mine = owned(lines, sound, clip)
    check()
    heard = _observe(sound, tell_apart(sound, mine, spoken, models.voice_vectors), clip)
    for utterance in heard.utterances if on_words else ():
        assert on_words is not None
        on_words(utterance)
    return heard


def listen(sound: Sound, models: Models) -> list[Stretch]:
    """Return the stretches of speech in a sound; none where all of it is silence."""
    if models.speech_activity is None or not len(sound) or float(np.max(np.abs(sound))) < 1e-3:
        return []
    activity = models.speech_activity.probabilities(sound)
    return stretches(sound, activity, models.speech_activity.hop)


def samples(at: int, clip: Clip) -> int:
    """Return a time of the source as samples of the clip's sound."""
    return round((at - clip.start) * SAMPLE_RATE / MICROSECOND)


def time(sample: int, clip: Clip) -> int:
    """Return a sample of the clip's sound as microseconds of the source."""
    return clip.start + round(sample * MICROSECOND / SAMPLE_RATE)


def skip(sound: Sound, clip: Clip, heard_until: int | None) -> Sound:
    """Return the sound with what the clip before has heard made silent."""
    if heard_until is None or heard_until <= clip.start:
        return sound
    rest = sound.copy()
    rest[: samples(heard_until, clip)] = 0
    return rest


# ---------------------------------------------------------------- words to utterances


def compose(said: Sequence[Said], spoken: Sequence[Stretch], parts: Sequence[Turn]) -> list[_Line]:
    """Put words together into utterances: one voice, no pause above 0.7 s, one sentence or a few short ones."""
    words = [w for w in said if w.text.strip()]
    if not words:
        return []
    voices = _speakers(words, parts)
    groups: list[list[int]] = [[0]]
    for i in range(1, len(words)):
        if _ends(words[groups[-1][0]], words[i - 1], words[i], spoken) or voices[i] != voices[i - 1]:
            groups.append([])
        groups[-1].append(i)
    lines = []
    for group in groups:
        mine = tuple(words[i] for i in group)
        touched = spoken[mine[0].stretch : mine[-1].stretch + 1]
        lines.append(_Line(mine[0].start, mine[-1].end, mine, voices[group[0]], float(np.mean([s.sureness for s in touched]))))
    return _bounded(lines, spoken)


def _ends(first: Said, before: Said, after: Said, spoken: Sequence[Stretch]) -> bool:
    """Return whether an utterance that began with `first` ends between two words."""
    silence = after.start - before.end
    if after.stretch != before.stretch:
        # Whisper stretches words into silence; the stretches of speech know better.
        silence = max(silence, sum(b.start - a.end for a, b in pairwise(spoken[before.stretch : after.stretch + 1])))
    long = before.end - first.start >= LONG
    if silence > (SHORT_PAUSE if long else LONG_PAUSE) or (long and before.text.rstrip().endswith(CLAUSE_ENDS)):
        return True
    return ends_sentence(before.text) and before.end - first.start >= SENTENCE


def _speakers(words: Sequence[Said], parts: Sequence[Turn]) -> list[int]:
    """Return each word's voice, by where its middle lies; a change moves to the pause or the end of a sentence close by."""
    voices = [_voice_at((w.start + w.end) // 2, parts) for w in words]
    known = next((v for v in voices if v >= 0), 0)
    for i, v in enumerate(voices):
        # Speech too short to have a voice of its own goes with the voice before it, at first with the one after.
        voices[i] = known = v if v >= 0 else known
    changes = [i for i in range(1, len(words)) if voices[i] != voices[i - 1]]
    for at in changes:
        best = max(_near(words, at), key=lambda i: (_seam(words[i - 1], words[i]), -abs(i - at)))
        for i in range(best, at):
            voices[i] = voices[at]
        for i in range(at, best):
            voices[i] = voices[at - 1]
    return voices


def _near(words: Sequence[Said], at: int) -> list[int]:
    """Return places within 0.7 s of a change before word `at` where it could be instead."""
    when = (words[at - 1].end + words[at].start) // 2
    return [i for i in range(max(1, at - 4), min(len(words), at + 5)) if abs((words[i - 1].end + words[i].start) // 2 - when) < LONG_PAUSE]


def _seam(before: Said, after: Said) -> float:
    """Return how likely a change of speaker is between two words: seconds of silence, half a second for the end of a sentence."""
    pause = max(0, after.start - before.end) / SAMPLE_RATE
    return round(pause + 0.5 * ends_sentence(before.text) + 0.5 * (before.stretch != after.stretch), 3)


def _voice_at(sample: int, parts: Sequence[Turn]) -> int:
    return min(parts, key=lambda t: max(t.start - sample, sample - t.end, 0)).voice


def _bounded(lines: Sequence[_Line], spoken: Sequence[Stretch]) -> list[_Line]:
    """Set the bounds where speech begins and ends rather than where Whisper thinks its words do, and never let two lines overlap."""
    result: list[_Line] = []
    for n, line in enumerate(lines):
        first, last = spoken[line.words[0].stretch], spoken[line.words[-1].stretch]
        opens = n == 0 or lines[n - 1].words[-1].stretch < line.words[0].stretch
        closes = n + 1 == len(lines) or lines[n + 1].words[0].stretch > line.words[-1].stretch
        start = first.start if opens else max(line.start, first.start)
        end = last.end if closes else min(line.end, last.end)
        # A stretch may hold seconds that no word was made of: music before the voice, applause after it.
        start = max(start, line.start - LONG_PAUSE)
        end = min(max(end, start + 1), line.end + LONG_PAUSE)
        if result and start < result[-1].end:
            middle = (start + result[-1].end) // 2
            result[-1] = replace(result[-1], end=max(middle, result[-1].start + 1))
            start = max(middle, result[-1].end)
        result.append(replace(line, start=start, end=max(end, start + 1)))
    return result


def _believable(line: _Line, clip: Clip) -> bool:
    why = phantom(line.words, line.sureness)
    if why is not None:
        log.debug("%s: “%s” at %d is not speech: %s", clip.id, joined(line.words), time(line.start, clip), why)
    return why is None


def owned(lines: Sequence[_Line], sound: Sound, clip: Clip) -> list[_Line]:
    """Return the lines that start in the clip, the last one with what the same voice goes on to say without a pause.

    The next clip begins to listen where the last line ends, so that must be a place where a recogniser can begin. Where speech goes on
    past the overrun, that is the end of a sentence or, failing that, of the last whole word.
    """
    border, edge = samples(clip.end, clip), len(sound) - SAMPLE_RATE // 10
    mine = [line for line in lines if line.start < border]
    cut = len(sound) > border
    if not mine or not cut:
        return mine
    for line in lines[len(mine) :]:
        last = mine[-1]
        going_on = line.words[0].stretch == last.words[-1].stretch and line.voice == last.voice and line.start - last.end < LONG_PAUSE
        if not going_on or line.words[-1].end >= edge or last.end <= border - LONG_PAUSE:
            break
        mine[-1] = replace(last, end=line.end, words=(*last.words, *line.words))
    return [*mine[:-1], *_cut_off(mine[-1], sound, border, edge)]


def _cut_off(line: _Line, sound: Sound, border: int, edge: int) -> list[_Line]:
    """End a line that goes on to the end of the overrun at the quietest place between its words of the last two seconds."""
    if line.words[-1].end < edge:
        return [line]
    seams = [(a.end, b.start) for a, b in pairwise(line.words) if max(border, edge - 2 * SAMPLE_RATE) < a.end < edge]
    if not seams:
        whole = tuple(w for w in line.words if w.end < edge)
        return [replace(line, words=whole, end=min(line.end, whole[-1].end))] if whole else []
    # Whisper's times are good to about 0.1 s.
    around = [(quietest(sound, a - SAMPLE_RATE // 10, max(a, b) + SAMPLE_RATE // 10), a) for a, b in seams]
    cut, last = min(around, key=lambda c: (float(np.mean(np.square(sound[c[0] - SAMPLE_RATE // 20 : c[0] + SAMPLE_RATE // 20]))), -c[0]))
    words = tuple(replace(w, end=min(w.end, cut)) for w in line.words if w.end <= last)
    return [replace(line, words=words, end=cut)]


# ---------------------------------------------------------------- utterances to evidence


def tell_apart(sound: Sound, lines: Sequence[_Line], spoken: Sequence[Stretch], voices: VoiceEmbedder | None) -> list[_Line]:
    """Give lines their voice vectors and clusters, and join neighbours that a change of voice parted which whole lines don't show."""
    if voices is None:
        return list(lines)
    known = _clustered([replace(line, vectors=_vectors(sound, line, voices)) for line in lines])
    joint: list[_Line] = []
    for line in known:
        last = joint[-1] if joint else None
        if last and last.cluster == line.cluster and not _ends(last.words[0], last.words[-1], line.words[0], spoken):
            both = replace(last, end=line.end, words=(*last.words, *line.words), sureness=(last.sureness + line.sureness) / 2)
            joint[-1] = replace(both, vectors=_vectors(sound, both, voices))
        else:
            joint.append(line)
    return joint


def _vectors(sound: Sound, line: _Line, voices: VoiceEmbedder) -> Floats | None:
    """Return (n, d) unit rows: the whole line (its first 8 s), then windows of 3 s or more where it has two; None if it is too short."""
    whole = sound[line.start : line.end]
    if len(whole) < EMBEDDABLE:
        return None
    rows = [whole[:LONGEST_VOICE]]
    count = min(4, len(whole) // VOICE_WINDOW)
    if count >= 2:
        edges = np.linspace(0, len(whole), count + 1).astype(int)
        rows += [whole[a:b][:LONGEST_VOICE] for a, b in pairwise(edges.tolist())]
    return voices.embed(rows)


def _clustered(lines: Sequence[_Line]) -> list[_Line]:
    """Number the voices of a clip from 0 in order of appearance: lines by their vectors, short ones with the voice of their turn."""
    known = [n for n, line in enumerate(lines) if line.vectors is not None]
    found: list[int] = [-1] * len(lines)
    if known:
        rows = np.stack([v[0] for line in lines if (v := line.vectors) is not None])
        for n, k in zip(known, agglomerate(rows @ rows.T, SAME_SPEAKER).tolist(), strict=True):
            found[n] = k
    spare = max(found, default=-1) + 1
    for n in (n for n in range(len(lines)) if found[n] < 0):
        kin = [m for m in range(len(lines)) if found[m] >= 0 and (lines[m].voice == lines[n].voice or _goes_on(lines, n, m))]
        nearest = min(kin, key=lambda m: (abs(lines[m].start - lines[n].start), m), default=None)
        found[n] = spare if nearest is None else found[nearest]
        spare += nearest is None
    order = {k: i for i, k in enumerate(dict.fromkeys(found))}
    return [replace(line, cluster=order[k]) for line, k in zip(lines, found, strict=True)]


def _goes_on(lines: Sequence[_Line], n: int, m: int) -> bool:
    """Return whether the next line finishes the sentence of a line too short to have a voice of its own."""
    return m == n + 1 and not ends_sentence(lines[n].words[-1].text) and lines[m].start - lines[n].end < SHORT_PAUSE


def _observe(sound: Sound, lines: Sequence[_Line], clip: Clip) -> Heard:
    """Make evidence of lines."""
    media: dict[str, bytes] = {}
    vectors: dict[str, Floats] = {}
    utterances = []
    for n, line in enumerate(lines):
        id_ = f"{clip.id}.u{n}"
        snippet = flac(sound[max(0, line.start - KEPT_AROUND) : line.end + KEPT_AROUND])
        name = media_id(snippet, ".flac")
        media[name] = snippet
        if line.vectors is not None:
            vectors[id_] = line.vectors
        language = language_of(line.words)
        utterances.append(
            Utterance(
                id=id_,
                clip=clip.id,
                start=time(line.start, clip),
                end=time(line.end, clip),
                text=simplified(joined(line.words), language),
                words=tuple(Word(time(w.start, clip), time(w.end, clip), simplified(w.text.strip(), language)) for w in line.words),
                language=language,
                confidence=round(float(np.mean([w.probability for w in line.words])), 4),
                audio=name,
                cluster=line.cluster,
                embeddable=line.vectors is not None,
            )
        )
    return Heard(tuple(utterances), vectors, media)


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
