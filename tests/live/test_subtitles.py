"""Subtitles before a clip ends: names of voices first, words at the end of an utterance."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from m3desk import events
from m3desk.domain.identity import Gallery, KnownPeople
from m3desk.live import subtitles
from m3desk.live.subtitles import Subtitles
from m3desk.ports import Models, QuickTranscript, Sound, Transcript
from tests.perception.invented_speech import RATE, Ear, Line, Loudness, Octaves, speech

S = 1_000_000
LOWER = ("we", "meet", "on", "monday", "at", "noon", "and", "then", "eat", "cake")
WORDS = (*LOWER, *(w.upper() for w in LOWER))
LOW = Gallery("voice_1", "person_1", np.array([[1.0, 0.0]] * 3, np.float32), 20 * S, 1.0, 4)
HIGH = Gallery("voice_2", "person_2", np.array([[0.0, 1.0]] * 3, np.float32), 20 * S, 1.0, 4)
BOTH = KnownPeople((LOW, HIGH), {"person_1": "Ann", "person_2": "Bob"})


@dataclass
class Listener:
    """Subtitles of invented speech, and what they told."""

    known: KnownPeople = BOTH
    words: bool = True
    told: list[events.LiveWords] = field(default_factory=list)

    def hear(
        self, seconds: float, lines: Sequence[Line], *, speech_model: object | None = None, after: int = 0, paced: bool = True
    ) -> list[events.LiveWords]:
        models = Models(speech_activity=Loudness(), voice_vectors=Octaves(), speech=speech_model or Ear(WORDS))  # type: ignore[arg-type]
        listening = Subtitles("s1", models, lambda: self.known, self.told.append, words=self.words)
        for at, piece in pieces(speech(seconds, lines), after):
            listening.feed(at, piece)
            for writing in list(listening._pending) if paced else ():
                writing.result()  # sound comes faster than it is said; what it waits for must not depend on the machine
        listening.finish()
        listening.close()
        return self.told

    @property
    def final(self) -> list[events.LiveWords]:
        return [t for t in self.told if t.final]


def pieces(sound: Sound, after: int = 0) -> Iterator[tuple[int, Sound]]:
    for first in range(0, len(sound), 2000):
        yield after + first * S // RATE, sound[first : first + 2000]


def test_a_known_voice_is_named_before_its_utterance_ends_and_words_follow() -> None:
    listener = Listener()
    told = listener.hear(5, [(1.0, "we meet on monday at noon")], after=60 * S)
    assert (told[0].name, told[0].text, told[0].final) == ("Ann", "", False)
    assert told[0].end - told[0].start < 1.6 * S
    (last,) = listener.final
    assert (last.person, last.name, last.text) == ("person_1", "Ann", "we meet on monday at noon")
    assert abs(last.start - 61 * S) < 0.1 * S and abs(last.end - 62.8 * S) < 0.2 * S
    assert {t.start for t in told} == {last.start}


def test_a_pause_parts_two_speakers() -> None:
    listener = Listener()
    listener.hear(8, [(0.5, "we meet on monday at noon"), (3.5, "AND THEN WE EAT CAKE")])
    assert [(t.name, t.text) for t in listener.final] == [("Ann", "we meet on monday at noon"), ("Bob", "AND THEN WE EAT CAKE")]


def test_an_unknown_voice_gets_words_and_no_name() -> None:
    listener = Listener(KnownPeople((LOW,), {"person_1": "Ann"}))
    listener.hear(5, [(1.0, "WE MEET ON MONDAY AT NOON")])
    assert [(t.person, t.name, t.text) for t in listener.final] == [(None, "", "WE MEET ON MONDAY AT NOON")]


def test_speech_without_a_pause_is_cut_after_six_seconds() -> None:
    listener = Listener()
    listener.hear(14, [(0.5, " ".join(LOWER * 4))])
    assert len(listener.final) >= 2
    assert all(t.end - t.start <= 6.1 * S for t in listener.final)
    assert all(b.start >= a.end for a, b in zip(listener.final, listener.final[1:], strict=False))
    assert {t.name for t in listener.final} == {"Ann"}


def test_another_voice_without_a_pause_gets_its_own_subtitle() -> None:
    listener = Listener()
    listener.hear(9, [(0.5, "we meet on monday at noon and then"), (3.0, "WE MEET ON MONDAY AT NOON AND THEN")])
    assert [t.name for t in listener.final][:1] == ["Ann"] and [t.name for t in listener.final][-1:] == ["Bob"]


def test_the_name_of_an_utterance_changes_at_most_once() -> None:
    listener = Listener()
    listener.hear(8, [(0.5, "we meet on monday AT NOON AND THEN WE MEET on monday at")])
    for start in {t.start for t in listener.told}:
        names = [t.name for t in listener.told if t.start == start and t.name]
        assert sum(a != b for a, b in itertools.pairwise(names)) <= 1


def test_without_words_names_are_still_told() -> None:
    listener = Listener(words=False)
    ear = Ear(WORDS)
    listener.hear(5, [(1.0, "we meet on monday at noon")], speech_model=ear)
    assert [(t.name, t.text) for t in listener.final] == [("Ann", "")] and ear.passes == []


def test_silence_tells_nothing() -> None:
    ear = Ear(WORDS)
    assert Listener().hear(6, [], speech_model=ear) == [] and ear.passes == []


def test_a_gap_of_the_recording_ends_an_utterance() -> None:
    told: list[events.LiveWords] = []
    models = Models(speech_activity=Loudness(), voice_vectors=Octaves(), speech=Ear(WORDS))
    listening = Subtitles("s1", models, lambda: BOTH, told.append)
    sound = speech(2.5, [(0.0, "we meet on monday at noon and then")])
    for at, piece in [*pieces(sound), *pieces(sound, 30 * S)]:
        listening.feed(at, piece)
    listening.finish()
    listening.close()
    assert [(t.start // S, t.end // S) for t in told if t.final] == [(0, 2), (30, 32)]


@dataclass
class QuickEar(Ear):
    """An ear with a cheaper pass."""

    quick: int = 0

    def transcribe_quickly(self, sound: Sound, language: str | None = None) -> QuickTranscript:
        self.quick += 1
        words = Ear.transcribe(self, sound, language)
        self.passes.clear()
        return QuickTranscript("".join(w.text for w in words.words).strip(), "en", 0.9, 0.05)


def test_words_that_would_come_too_late_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass
    class Slow(Ear):
        """Takes its time."""

        def transcribe(self, sound: Sound, language: str | None = None) -> Transcript:
            time.sleep(2.5)
            return Ear.transcribe(self, sound, language)

    monkeypatch.setattr(subtitles, "LATE", 1.0)
    listener = Listener()
    listener.hear(7, [(1.0, "we meet on monday"), (3.5, "AND THEN WE EAT")], speech_model=Slow(WORDS), paced=False)
    assert [(t.name, t.text) for t in listener.final] == [("Ann", "we meet on monday"), ("Bob", "")]


def test_the_cheaper_pass_is_used_where_the_recogniser_has_one() -> None:
    ear = QuickEar(WORDS)
    listener = Listener()
    listener.hear(5, [(1.0, "we meet on monday at noon")], speech_model=ear)
    assert ear.quick == 1 and ear.passes == [] and [t.text for t in listener.final] == ["we meet on monday at noon"]


def test_what_noise_becomes_is_not_shown() -> None:
    listener = Listener(KnownPeople())
    listener.hear(5, [(1.0, "we meet on monday at noon")], speech_model=Ear(WORDS, confidence=0.1))
    assert listener.told == []


def test_its_thread_ends_with_the_sound() -> None:
    told: list[events.LiveWords] = []
    models = Models(speech_activity=Loudness(), voice_vectors=Octaves(), speech=Ear(WORDS))
    listening = Subtitles("s1", models, lambda: BOTH, told.append)
    listening.start(pieces(speech(4, [(1.0, "we meet on monday at noon")])))
    assert listening._thread is not None
    listening._thread.join(30)
    assert not listening._thread.is_alive() and told[-1].final
    listening.close()


@pytest.mark.slow
@pytest.mark.models
def test_the_quick_pass_of_whisper_understands_silence_as_nothing_sure() -> None:
    from m3desk import models
    from m3desk.backends import Backends
    from m3desk.errors import ModelError

    try:
        ear = Backends(models.weights).get("speech")
    except ModelError:
        ear = None
    if ear is None:
        pytest.skip("the weights of the speech recogniser are not here: m3desk models pull")
    found = ear.transcribe_quickly(np.zeros(2 * RATE, np.float32))
    assert found.no_speech > 0.3 or found.confidence < 0.5
