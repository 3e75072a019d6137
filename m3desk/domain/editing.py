"""Edits of single observations: a track or an utterance split at a time, new bounds, new words. Pure: the old observation is not changed.

The new observations have no id of their own yet, name the one they replace in `replaces`, and keep its crops, sound and cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from m3desk.domain.clear_speech import is_unclear
from m3desk.domain.clip import MICROSECOND, Source, clock
from m3desk.domain.evidence import FaceTrack, Floats, Observation, Utterance, Word
from m3desk.errors import CorrectionError

EMBEDDABLE = MICROSECOND
"""Shorter speech says too little to know a voice by (as `perception.voices` has it)."""

LONGEST_TEXT = 5_000
"""Code points of an utterance's words; a clip's whole speech is less than a tenth of that."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A face or voice sample: the embeddings of an observation by one model. `vectors`: (n, d) float32 unit rows, best first; n may be 0.

    `crops`, `landmarks`: of a face, as in `FaceTrack`. `audio`: of speech, as in `Utterance`. `media`: media id → bytes of those.
    """

    model: str
    vectors: Floats = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    crops: tuple[str, ...] = ()
    landmarks: tuple[tuple[tuple[float, float], ...], ...] = ()
    quality: float = 0.5
    audio: str | None = None
    media: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lesson:
    """A photo or a recording that a person is enrolled from: the file (its id not given yet) and the sample in it.

    `face`: where the one face of a photo is, at time 0; else `duration` microseconds of one voice, and `more` pieces of the same recording
    with theirs: several utterances tell a voice better than one long one, since luck evens out (`Calibration.several`).
    """

    file: Source
    sample: Sample
    face: tuple[float, float, float, float] | None = None
    duration: int = 0
    more: tuple[tuple[Sample, int], ...] = ()

    @property
    def pieces(self) -> tuple[tuple[Sample, int], ...]:
        """Return all that is in the file, with lengths in microseconds."""
        return ((self.sample, self.duration), *self.more)


def split(old: Observation, at: int) -> tuple[Observation, Observation]:
    """Split an observation at a time (microseconds of its source). Raises CorrectionError when that leaves nothing on one side."""
    if not old.start < at < old.end:
        raise CorrectionError(
            f"{old.id} can't be split at {_time(at)}: it lasts from {_time(old.start)} to {_time(old.end)}.",
            "Give a time between the two, in the source's own time.",
        )
    return _split_track(old, at) if isinstance(old, FaceTrack) else _split_speech(old, at)


def _split_track(old: FaceTrack, at: int) -> tuple[FaceTrack, FaceTrack]:
    first = sum(b.at < at for b in old.boxes)
    if not 0 < first < len(old.boxes):
        raise CorrectionError(f"{old.id} has no boxes both before and after {_time(at)}.", "Give a time between two of its boxes.")
    measured = len(old.motion) == len(old.boxes)
    return (
        replace(old, end=at, boxes=old.boxes[:first], motion=old.motion[:first] if measured else (), replaces=old.id),
        replace(
            old, start=at, boxes=old.boxes[first:], motion=old.motion[first:] if measured else (), continues=None, replaces=old.id
        ),
    )  # fmt: skip


def _split_speech(old: Utterance, at: int) -> tuple[Utterance, Utterance]:
    words = old.words or spread(old.text.split(), old.start, old.end)
    first = sum((w.start + w.end) // 2 < at for w in words)
    cut = _begins(old.text, words, first)
    before = tuple(replace(w, end=min(w.end, at)) for w in words[:first])
    after = tuple(replace(w, start=max(w.start, at)) for w in words[first:])
    return (
        _lasting(replace(old, end=at, text=old.text[:cut].rstrip(), words=before, replaces=old.id)),
        _lasting(replace(old, start=at, text=old.text[cut:].lstrip(), words=after, replaces=old.id)),
    )


def _begins(text: str, words: Sequence[Word], n: int) -> int:
    """Return where word `n` begins in a text that these words were made of."""
    place = 0
    for i, word in enumerate(words):
        found = text.find(word.text, place)
        if i == n:
            return found if found >= 0 else place
        place = found + len(word.text) if found >= 0 else place
    return len(text)


def bounded(old: Utterance, start: int, end: int, *, earliest: int, before: int, latest: int | None) -> Utterance:
    """Give speech other bounds; it must go on starting in its clip [earliest, before) and end by `latest`, where the source does."""
    if not earliest <= start < before:
        raise CorrectionError(
            f"{old.id} can't start at {_time(start)}: its clip goes from {_time(earliest)} to {_time(before)}.",
            "Speech belongs to the clip in which it starts.",
        )
    if end <= start or (latest is not None and end > latest):
        whole = f" and by {_time(latest)}, where the source ends" if latest is not None else ""
        raise CorrectionError(f"{old.id} can't end at {_time(end)}: it must end after {_time(start)}{whole}.")
    if (start, end) == (old.start, old.end):
        raise CorrectionError(f"{old.id} has these bounds already.")
    words = tuple(Word(min(max(w.start, start), end), min(max(w.end, start), end), w.text) for w in old.words)
    return _lasting(replace(old, start=start, end=end, words=words, replaces=old.id))


def reworded(old: Utterance, text: str) -> Utterance:
    """Give speech other words. Their times: the old ones where there are as many words, else by their length.

    The same words of speech that is not heard clearly are right then.
    """
    clean = " ".join(text.split())
    if not clean:
        raise CorrectionError("an utterance needs words.", "If it is not speech, set it aside: m3desk people set-aside OBS.")
    if len(clean) > LONGEST_TEXT:
        raise CorrectionError(f"that is too long for one utterance ({len(clean)} characters).", f"Use at most {LONGEST_TEXT:,}.")
    if clean == " ".join(old.text.split()):
        if not is_unclear(old):
            raise CorrectionError(f"{old.id} says that already.")
        return replace(old, confidence=1.0, replaces=old.id)
    said = clean.split()
    same = len(said) == len(old.words)
    words = tuple(replace(w, text=t) for w, t in zip(old.words, said, strict=True)) if same else spread(said, old.start, old.end)
    return replace(old, text=clean, words=words, confidence=1.0, replaces=old.id)


def spread(words: Sequence[str], start: int, end: int) -> tuple[Word, ...]:
    """Return words with times by their length, one after another."""
    letters = [max(1, len(w)) for w in words]
    ends = [sum(letters[: i + 1]) for i in range(len(letters))]
    whole = max(1, sum(letters))
    at = [start + (end - start) * e // whole for e in (0, *ends)]
    return tuple(Word(at[i], at[i + 1], w) for i, w in enumerate(words))


def _lasting(u: Utterance) -> Utterance:
    return replace(u, embeddable=u.embeddable and u.end - u.start >= EMBEDDABLE)


def _time(at: int) -> str:
    return f"{clock(at)}.{max(0, at) % MICROSECOND // 10_000:02d}"
