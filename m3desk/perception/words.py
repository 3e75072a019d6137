"""Speech recognition in few passes: packs speech, maps the words back to their times, and removes hallucinated words.

A pass costs the same for 3 seconds as for 30 (Whisper pads), so pieces of speech are put one after another with silence between them.
Measured on the reel's GRID sentences (7 sentences, beam 5): packed 14 % word errors in 5 passes; one pass a sentence 17 to 19 % in 25.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from m3desk.paths import resources
from m3desk.perception import scripts
from m3desk.perception.turns import SpeechSegment, quietest
from m3desk.ports import SAMPLE_RATE, RecognisedWord, Sound, SpeechRecogniser

LONGEST_PASS = round(29.0 * SAMPLE_RATE)
"""Whisper takes 30 s at a time; the rest is silence after the last word."""

BETWEEN = round(0.60 * SAMPLE_RATE)
MARGIN = round(0.15 * SAMPLE_RATE)
"""Sound around a segment that is passed to the recogniser too: consonants start before the voice."""

LEFT_OUT = round(1.5 * SAMPLE_RATE)
"""Speech without words that is worth another pass. Word times extend over pauses, so shorter gaps are mostly not speech."""

SHORTEST_PART = round(0.40 * SAMPLE_RATE)
"""A shorter part of a language is no word worth a pass."""

TRIES = 3
"""Maximum number of passes over the same speech: a clip in three languages needs three."""

SENTENCE_ENDS = (".", "?", "!", "。", "？", "！", "…")


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A recognised word: samples [start, end) of the clip's sound; `text` as written, with the space before it where it has one.

    `no_speech`, `language`: of the whole pass of the recogniser.
    """

    start: int
    end: int
    text: str
    probability: float
    segment: int
    language: str | None
    language_probability: float
    no_speech: float


@dataclass(frozen=True, slots=True)
class _Piece:
    """Samples [start, end) of the clip, which start at sample `at` of a pass."""

    at: int
    start: int
    end: int
    segment: int


SampleSpan = tuple[int, int, int]
"""Samples [start, end) of the clip, and the number of their speech segment."""


def recognise(
    sound: Sound,
    spoken: Sequence[SpeechSegment],
    recogniser: SpeechRecogniser,
    *,
    language: str | None = None,
    check: Callable[[], None] = lambda: None,
) -> list[TimedWord]:
    """Return the words of all segments in time order. `check` is called before each pass and may raise.

    A recogniser writes one language per pass and stops where another begins: speech that it left out is transcribed again separately, as
    long as that gives words. Where it writes two scripts, the parts of each are transcribed again, apart from the other's.
    """
    found: list[TimedWord] = []
    spans = list(_with_margins(spoken, len(sound)))
    for _ in range(TRIES):
        left_out: list[SampleSpan] = []
        for group in passes(sound, spans):
            check()
            words = _transcribed(sound, group, recogniser, language)
            for part in _languages(sound, group, words) if language is None else ():
                check()
                words = _in_place(words, _transcribed(sound, part, recogniser, language), part)
            found += words
            if words:
                left_out += [rest for span in group for rest in _without_words(span, words)]
        if not left_out:
            break
        spans = left_out
    return sorted(found, key=lambda w: (w.start, w.end))


def _transcribed(sound: Sound, spans: Sequence[SampleSpan], recogniser: SpeechRecogniser, language: str | None) -> list[TimedWord]:
    """Return the words of one pass: the spans, concatenated with silence between them."""
    pieces: list[_Piece] = []
    at = 0
    for start, end, segment in spans:
        pieces.append(_Piece(at, start, end, segment))
        at += end - start + BETWEEN
    packed = np.zeros(at - BETWEEN + MARGIN, np.float32)
    for p in pieces:
        packed[p.at : p.at + p.end - p.start] = sound[p.start : p.end]
    heard = recogniser.transcribe(packed, language)
    return [
        TimedWord(
            *_in_clip(word, pieces), word.text, word.probability, segment, heard.language, heard.language_probability, heard.no_speech
        )
        for word in heard.words
        for segment in (_piece_of(word, pieces).segment,)
    ]


def _languages(sound: Sound, group: Sequence[SampleSpan], words: Sequence[TimedWord]) -> list[list[SampleSpan]]:
    """Return the parts of a pass that hold each language, where it wrote two scripts; [] where it wrote one."""
    found = scripts.runs([w.text for w in words])
    margin = SAMPLE_RATE // 10
    seams = [(words[a - 1].end, words[a].start) for a, _, _ in found[1:]]
    cuts = [quietest(sound, max(0, min(a, b) - margin), max(a, b) + margin) for a, b in seams]
    parts: dict[str, list[SampleSpan]] = {}
    for (*_, script), low, high in zip(found, [0, *cuts], [*cuts, len(sound)], strict=True) if found else ():
        spans = [(max(start, low), min(end, high), segment) for start, end, segment in group]
        parts.setdefault(script, []).extend(span for span in spans if span[1] - span[0] >= SHORTEST_PART)
    return [part for part in parts.values() if part]


def _in_place(words: Sequence[TimedWord], again: Sequence[TimedWord], part: Sequence[SampleSpan]) -> list[TimedWord]:
    """Return the words of a pass with those of a part of it replaced; where that gave none, as they were."""
    if not again:
        return list(words)
    middles = [(w, (w.start + w.end) // 2) for w in words]
    kept = [w for w, at in middles if w not in again and not any(start <= at < end for start, end, _ in part)]
    return sorted([*kept, *again], key=lambda w: (w.start, w.end))


def _without_words(span: SampleSpan, words: Sequence[TimedWord]) -> Iterator[SampleSpan]:
    """Yield the parts of a span without words that are long enough for a sentence."""
    start, end, segment = span
    covered = start
    inside = sorted((w.start, w.end) for w in words if w.end > start and w.start < end)
    for a, b in [*inside, (end, end)]:
        if a - covered >= LEFT_OUT:
            yield covered, a, segment
        covered = max(covered, b)


def passes(sound: Sound, spans: Sequence[SampleSpan]) -> Iterator[list[SampleSpan]]:
    """Group spans into passes of at most LONGEST_PASS; longer spans are cut at a quiet moment."""
    group: list[SampleSpan] = []
    length = 0
    for start, end, segment in (part for span in spans for part in _short_enough(sound, span)):
        if group and length + end - start > LONGEST_PASS:
            yield group
            group, length = [], 0
        group.append((start, end, segment))
        length += end - start + BETWEEN
    if group:
        yield group


def _short_enough(sound: Sound, span: SampleSpan) -> Iterator[SampleSpan]:
    start, end, segment = span
    while end - start > LONGEST_PASS:
        cut = quietest(sound, start + LONGEST_PASS * 2 // 3, start + LONGEST_PASS)
        yield start, cut, segment
        start = cut
    yield start, end, segment


def _with_margins(spoken: Sequence[SpeechSegment], length: int) -> Iterator[SampleSpan]:
    for i, s in enumerate(spoken):
        before = (spoken[i - 1].end + s.start) // 2 if i else 0
        after = (s.end + spoken[i + 1].start) // 2 if i + 1 < len(spoken) else length
        yield max(before, s.start - MARGIN), min(after, s.end + MARGIN), i


def _piece_of(word: RecognisedWord, pieces: Sequence[_Piece]) -> _Piece:
    """Return the piece in which a word's middle lies, or the nearest."""
    middle = round((word.start + word.end) / 2 * SAMPLE_RATE)
    return min(pieces, key=lambda p: max(p.at - middle, middle - (p.at + p.end - p.start), 0))


def _in_clip(word: RecognisedWord, pieces: Sequence[_Piece]) -> tuple[int, int]:
    """Return a word's samples in the clip, within its piece."""
    piece = _piece_of(word, pieces)
    first = min(max(round(word.start * SAMPLE_RATE) - piece.at + piece.start, piece.start), piece.end)
    last = min(max(round(word.end * SAMPLE_RATE) - piece.at + piece.start, piece.start), piece.end)
    return first, max(last, first)


def joined(words: Sequence[TimedWord]) -> str:
    """Return words as a line of text. Whisper's words include their spaces; Chinese has none."""
    return " ".join("".join(w.text for w in words).split())


ABBREVIATIONS = frozenset(
    {"mr", "mrs", "ms", "dr", "st", "v", "vs", "no", "jr", "sr", "prof", "gen", "gov", "sen", "rep", "etc", "e.g", "i.e"}
)


def ends_sentence(word: str) -> bool:
    """Return whether a word ends a sentence: it ends with a full stop or the like, and is no abbreviation ("U.S.", "Roe v.", "Dr.")."""
    bare = word.strip().rstrip("\"'”’»）)")
    if not bare.endswith(SENTENCE_ENDS):
        return False
    stem = bare[:-1].lstrip("\"'“‘«（(").lower()
    return not (
        bare.endswith(".")
        and (stem in ABBREVIATIONS or (len(stem) == 1 and stem.isalpha()) or (stem and all(len(p) == 1 for p in stem.split("."))))
    )


def language_of(words: Sequence[TimedWord]) -> str | None:
    """Return an utterance's language: the recogniser's for the pass, corrected if the script shows another (speakers switch)."""
    text = joined(words)
    code = words[0].language
    letters = [c for c in text if c.isalpha()]
    if not letters:
        return code
    kana = any("\u3040" <= c <= "\u30ff" for c in letters)
    han = sum("\u4e00" <= c <= "\u9fff" for c in letters)
    hangul = sum("\uac00" <= c <= "\ud7a3" for c in letters)
    if kana:
        return "ja"
    if hangul * 2 > len(letters):
        return "ko"
    if han * 2 > len(letters):
        return code if code in ("zh", "yue", "ja") else "zh"
    if code in ("zh", "yue", "ja", "ko") and all(c.isascii() for c in letters):
        return "en"
    return code


@cache
def _simpler() -> dict[int, str]:
    lines = (resources() / "chinese" / "simplified.txt").read_text(encoding="utf-8").splitlines()
    return {ord(pair[0]): pair[1] for line in lines if not line.startswith("#") for pair in line.split()}


def simplified(text: str, language: str | None) -> str:
    """Return Chinese in simplified characters: Whisper changes between the two scripts within one sentence. Other text as it is."""
    return text.translate(_simpler()) if language == "zh" else text


_PHANTOM_LINES = """
you|thank you|thank you very much|thanks for watching|thank you for watching|thank you so much for watching|please subscribe|bye|bye bye
the end|so|oh|hmm|okay|i'm sorry|subtitles by the amara org community|谢谢观看|谢谢大家|谢谢|感谢观看|感谢收看|字幕由amara org社区提供
请不吝点赞 订阅 转发 打赏支持明镜与点点栏目|untertitel der amara org community|untertitelung des zdf 2020|vielen dank
ご視聴ありがとうございました
sous titres réalisés para la communauté d'amara org
"""
PHANTOMS = frozenset(_PHANTOM_LINES.strip().replace("\n", "|").split("|"))
"""What Whisper writes for noise (it was trained on subtitles). People say these too, so they are removed only if the evidence is weak."""


def plain(text: str) -> str:
    """Return text in lower case without punctuation."""
    kept = "".join(c if c.isalnum() or c == "'" else " " for c in text.lower())
    return " ".join(kept.split())


def phantom(words: Sequence[TimedWord], sureness: float) -> str | None:
    """Return why one utterance's words are probably hallucinated, or None. `sureness`: mean probability of speech in its segments."""
    text = joined(words)
    if not plain(text):
        return "no words"
    confidence = float(np.mean([w.probability for w in words]))
    no_speech = max(w.no_speech for w in words)
    if confidence < 0.30:
        return "improbable words"
    if no_speech > 0.6 and confidence < 0.6:
        return "recogniser hears no speech"
    if plain(text) in PHANTOMS and (sureness < 0.6 or confidence < 0.5 or no_speech > 0.6):
        return "a phrase that noise becomes"
    if sureness < 0.45 and confidence < 0.5:
        return "weak speech and improbable words"
    raw = text.encode()
    # Whisper's own measure of repetition, at its own threshold.
    if len(raw) > 60 and len(raw) / len(zlib.compress(raw)) > 2.4:
        return "repetition"
    return None
