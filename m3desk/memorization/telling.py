"""Groups utterances for quoting: neighbouring utterances of one voice are joined, long speech is split at pauses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from m3desk.domain.clear_speech import SHORT, is_unclear
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import Utterance
from m3desk.memorization.speaking import NOBODY

MOST_SPOKEN = 12
"""Most sentences about speech in a clip; above that neighbouring utterances of one speaker share a sentence."""

LENGTHS = (160, 320, 640)
"""Most letters of joined utterances, tried in this order."""

LONGEST = 320
"""Letters of speech in one sentence; longer speech is split at its full stops, commas or spaces."""


CLEAR = 0.45
"""Confidence of the words of an utterance from which they are quoted. Two of calibration are below it: one misheard, one of two words."""


@dataclass(frozen=True, slots=True)
class QuotedSpeech:
    """Words of one speaker for one sentence: a few utterances, or a part of a long one. `unclear`: as heard, they may well be wrong."""

    start: int
    end: int
    text: str
    cluster: int
    utterances: tuple[str, ...]
    language: str | None
    unclear: bool = False


def told(utterances: Sequence[Utterance]) -> list[QuotedSpeech]:
    """Return the pieces of a clip's speech to quote, in time order, as few pieces as MOST_SPOKEN where joining allows."""
    spoken = _whole(sorted((u for u in utterances if u.text.strip()), key=lambda u: (u.start, u.end, u.id)))
    joined: list[QuotedSpeech] = []
    for length in LENGTHS:
        joined = _join(spoken, length)
        if len(joined) <= MOST_SPOKEN:
            break
    return [part for one in joined for part in _split(one, spoken)]


def _whole(utterances: Sequence[Utterance]) -> list[Utterance]:
    """Assign a single word, too short to recognise the voice, to the voice that speaks right before and after it."""
    whole = list(utterances)
    for i, (before, u, after) in enumerate(zip(whole, whole[1:], whole[2:], strict=False), 1):
        stray = u.end - u.start < 0.8 * MICROSECOND and len(u.text) < 12 and not u.embeddable
        goes_on = before.cluster == after.cluster and u.start - before.end < MICROSECOND > after.start - u.end
        if stray and goes_on:
            whole[i] = replace(u, cluster=before.cluster)
    return whole


def _join(utterances: Sequence[Utterance], length: int) -> list[QuotedSpeech]:
    """Join an utterance to the one before when the same voice goes on within a second and a half and the whole stays short.

    Clear words are not joined with unclear ones, but for a few that say nothing by themselves.
    """
    told: list[QuotedSpeech] = []
    for u in utterances:
        text = " ".join(u.text.split())
        last = told[-1] if told else None
        gap = "" if u.language in ("zh", "ja") else " "
        fits = last is not None and len(last.text) + len(text) < length * _density(u.language)
        unclear = is_unclear(u) and u.cluster != NOBODY  # of several at once only clear words are quoted
        few = SHORT * _density(u.language)
        alike = last is not None and (last.unclear == unclear or min(len(last.text), len(text)) < few)
        if last and fits and alike and (last.cluster, last.language) == (u.cluster, u.language) and u.start - last.end < 1.5 * MICROSECOND:
            told[-1] = QuotedSpeech(
                last.start, max(last.end, u.end), last.text + gap + text, u.cluster, (*last.utterances, u.id), u.language,
                last.unclear or unclear,
            )  # fmt: skip
        else:
            told.append(QuotedSpeech(u.start, u.end, text, u.cluster, (u.id,), u.language, unclear))
    return told


def _split(told: QuotedSpeech, utterances: Sequence[Utterance]) -> list[QuotedSpeech]:
    """Cut long speech into pieces at the best places; a piece's times come from its utterance's words where there are any."""
    longest = int(LONGEST * _density(told.language))
    if len(told.text) <= longest:
        return [told]
    pieces: list[QuotedSpeech] = []
    rest, done = told.text, 0
    while rest:
        piece = rest if len(rest) <= longest else rest[: _break(rest, longest)]
        start, end = (_moment(told, at, utterances) for at in (done, done + len(piece)))
        pieces.append(replace(told, start=start, end=max(end, start), text=piece.strip()))
        done += len(piece)
        rest = rest[len(piece) :]
    return pieces


def _density(language: str | None) -> float:
    """Return how many characters of a language say what one letter of English says."""
    return 0.35 if language in ("zh", "ja", "ko") else 1.0


def _break(text: str, longest: int) -> int:
    """Return where to cut: after the last full stop in the second half of the piece, else comma, else space, else anywhere."""
    for marks in (".!?。！？…", ",;:，；：、", " "):
        at = max(text.rfind(m, longest // 2, longest) for m in marks)
        if at > 0:
            return at + 1
    return longest


def _moment(told: QuotedSpeech, at: int, utterances: Sequence[Utterance]) -> int:
    """Return the time at a letter of the told text, by the share of letters of its words that come before."""
    words = [w for u in utterances if u.id in told.utterances for w in u.words]
    letters = sum(len(w.text.strip()) for w in words)
    goal = at / len(told.text) * letters
    passed = 0.0
    for w in words:
        if passed >= goal:
            return w.start
        passed += len(w.text.strip())
    if words and at >= len(told.text):
        return told.end
    return told.start + (told.end - told.start) * at // len(told.text)
