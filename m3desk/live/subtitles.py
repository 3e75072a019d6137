"""Subtitles of a live source before its clip ends: who speaks, and what they say. Provisional, never stored.

Follows the recorded sound in small steps. A voice is compared after a second of speech, by the same embedding and thresholds as at the
commit; the words of an utterance follow at its end, by a pass that costs a fifth of the one that perception makes of the whole clip.
Must not know: windows, how a memory is stored.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from m3desk import events
from m3desk.calibrated import calibrated
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import Floats
from m3desk.domain.galleries import many
from m3desk.domain.identity import Candidate, KnownPeople, match
from m3desk.errors import M3DeskError
from m3desk.perception.embedding import EMBEDDABLE, voice_rows
from m3desk.perception.turns import QUIETEST, SHORTEST, SPEECH_OFF, SPEECH_ON, WINDOW, quietest
from m3desk.perception.words import MARGIN, TimedWord, phantom, simplified
from m3desk.ports import SAMPLE_RATE, Models, QuickSpeechRecogniser, QuickTranscript, Sound, SpeechRecogniser

log = logging.getLogger(__name__)

PAUSE = round(0.40 * SAMPLE_RATE)
"""Silence that ends an utterance."""

LONGEST = round(6.0 * SAMPLE_RATE)
"""An utterance that goes on for longer is cut at a quiet moment of its last WINDOW."""

STEP = round(0.75 * SAMPLE_RATE)
"""Speech between two comparisons of a voice; the first is after EMBEDDABLE samples."""

INTERIM = round(2.5 * SAMPLE_RATE)
"""An utterance that goes on is written down once after as much of it, if nothing else waits to be written down."""

SURE = 2 * MICROSECOND
"""Microseconds of speech by which a name that was found twice is kept."""

HOPS = 8
"""Steps of voice activity that are computed at once (of 32 ms)."""

CONTEXT = 31
"""Steps before these that the voice activity model hears again: it starts from a fresh state at each call."""

LATE = 8.0
"""Seconds that an utterance waits to be written down at most: later words are no subtitle, they are in the transcript with the clip."""

GAP = MICROSECOND // 10
"""A piece of sound that begins this far from the end of the last one starts a new utterance."""

WAITING = 2
"""Utterances that may wait to be written down; further ones get no words, so that subtitles never lag behind."""


@dataclass(slots=True, eq=False)
class _Utterance:
    """Speech without a pause: samples [start, end) of the run. `looked`: its length when its voice was last compared."""

    start: int
    end: int
    looked: int = 0
    first: Floats | None = None
    person: str | None = None
    name: str = ""
    agreed: int = 0
    changes: int = 0
    sure: bool = False
    text: str = ""
    told: bool = False
    interim: bool = False
    over: bool = False
    sureness: list[float] = field(default_factory=list)


class Subtitles:
    """Listens to one live source. `feed` is for one thread; `start` runs it in one of its own. Close it.

    The name of an utterance changes at most once.
    """

    def __init__(
        self,
        source: str,
        models: Models,
        known: Callable[[], KnownPeople],
        emit: Callable[[events.LiveWords], None],
        *,
        words: bool = True,
        speech: Callable[[], SpeechRecogniser | None] = lambda: None,
    ) -> None:
        """`known`: returns the newest galleries of voices at once. `words`: see the attribute. Without voice activity nothing is told.

        `speech`: opens the speech recogniser, if `models` has none; called when there is something to write down, in the thread that does.
        """
        self.words = words
        """Whether utterances are written down. May be set from any thread: words are given up while memorizing is behind, names never."""
        self._source, self._models, self._known, self._emit = source, models, known, emit
        self._speech_model = (lambda: models.speech) if models.speech is not None else speech
        self._rule = calibrated(models.voice_vectors.name, "voice") if models.voice_vectors else None
        self._origin: int | None = None
        self._sound: Sound = np.zeros(0, np.float32)
        self._first = 0  # sample of the run at the buffer's start
        self._done = 0  # samples of the run whose activity is known
        self._speech: _Utterance | None = None
        self._language: str | None = None
        self._scribe = ThreadPoolExecutor(1, "m3desk-subtitles")
        self._pending: list[Future[None]] = []
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    # ------------------------------------------------------------------ in a thread of its own

    def start(self, pieces: Iterable[tuple[int, Sound]]) -> None:
        """Listen to pieces of sound (their time in microseconds of the source, 16 kHz mono), as they come; blocks on them, not here."""
        self._thread = threading.Thread(target=self._run, args=(pieces,), name="m3desk-listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening; what is being said is not written down any more. The pieces must end, or come on, for the thread to end."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
        self._scribe.shutdown(wait=False, cancel_futures=True)  # one that is being written down is told to nobody

    def _run(self, pieces: Iterable[tuple[int, Sound]]) -> None:
        for at, sound in pieces:
            if self._closed.is_set():
                return
            try:
                self.feed(at, sound)
            except Exception as error:  # a model failed on this piece
                log.warning("a piece of the live sound could not be understood: %s: %s", type(error).__name__, error)
                self._speech = None
        if not self._closed.is_set():
            self.finish()

    # ------------------------------------------------------------------ sound

    def feed(self, at: int, sound: Sound) -> None:
        """Take in the next piece of sound: its time in microseconds of the source, and (n,) samples at 16 kHz."""
        if self._models.speech_activity is None or not len(sound):
            return
        if self._origin is None or abs(at - self._time(self._first + len(self._sound))) > GAP:
            self._end()
            self._origin, self._sound, self._first, self._done = at, np.zeros(0, np.float32), 0, 0
        self._sound = np.concatenate([self._sound, sound])
        block = HOPS * self._models.speech_activity.hop
        while self._first + len(self._sound) - self._done >= block:
            self._listen(block)
        self._trim()

    def finish(self) -> None:
        """End the utterance that is being said, and wait until all are written down."""
        self._end()
        for waiting in list(self._pending):
            waiting.result()

    def _time(self, sample: int) -> int:
        return (self._origin or 0) + round(sample * MICROSECOND / SAMPLE_RATE)

    def _piece(self, start: int, end: int) -> Sound:
        """Return samples [start, end) of the run, as far as the buffer goes."""
        return self._sound[max(0, start - self._first) : max(0, end - self._first)]

    def _trim(self) -> None:
        hop = self._models.speech_activity.hop if self._models.speech_activity else 512
        keep = self._done - CONTEXT * hop if self._speech is None else min(self._speech.start - MARGIN, self._done - CONTEXT * hop)
        if (spare := keep - self._first) > SAMPLE_RATE:
            self._sound, self._first = self._sound[spare:].copy(), keep

    def _listen(self, block: int) -> None:
        """Compute voice activity of the next block, and follow the utterance through it."""
        assert self._models.speech_activity is not None
        hop = self._models.speech_activity.hop
        begin = max(self._first, self._done - CONTEXT * hop)
        now = self._piece(self._done, self._done + block)
        if float(np.sqrt(np.mean(np.square(now, dtype=np.float64)))) < QUIETEST:
            chances = np.zeros(HOPS, np.float32)
        else:
            chances = self._models.speech_activity.probabilities(self._piece(begin, self._done + block))[-HOPS:]
        for chance in chances.tolist():
            self._step(self._done, self._done + hop, chance)
            self._done += hop
        if self._speech is not None:
            self._look(self._speech)

    def _step(self, start: int, end: int, chance: float) -> None:
        said = self._speech
        if said is None:
            if chance >= SPEECH_ON:
                self._speech = _Utterance(start, end, sureness=[chance])
            return
        if chance >= SPEECH_OFF:
            said.end = end
            said.sureness.append(chance)
        if end - said.end >= PAUSE:
            self._end()
        elif end - said.start >= LONGEST:
            self._cut(quietest(self._piece(end - WINDOW, end), 0, WINDOW) + end - WINDOW)

    # ------------------------------------------------------------------ who speaks

    def _look(self, said: _Utterance) -> None:
        """Compare the voice with those known where enough more was said; end the utterance where another voice has begun."""
        length = said.end - said.start
        if self._models.voice_vectors is None or length < max(EMBEDDABLE, said.looked + STEP if said.looked else 0):
            return
        said.looked = length
        if said.first is not None and length >= 2 * WINDOW:
            last = self._models.voice_vectors.embed([self._piece(said.end - WINDOW, said.end)])[0]
            if self._rule is not None and float(said.first @ last) < self._rule.stray:
                self._cut(quietest(self._piece(said.end - WINDOW - STEP, said.end - STEP), 0, WINDOW) + said.end - WINDOW - STEP)
                return
        self._compare(said)
        if length >= WINDOW and said.first is None:
            said.first = self._models.voice_vectors.embed([self._piece(said.start, said.start + WINDOW)])[0]
        if self.words and length >= INTERIM and not said.interim and not self._waiting():
            said.interim = True
            self._write(said, final=False)

    def _compare(self, said: _Utterance) -> None:
        if said.sure or self._models.voice_vectors is None or self._rule is None:
            return
        rows = voice_rows(self._piece(said.start, said.end), self._models.voice_vectors)
        if rows is None:
            return
        known = self._known()
        duration = (said.end - said.start) * MICROSECOND // SAMPLE_RATE
        candidate = Candidate(("live",), rows, duration, count=many(1, duration))
        found = match([candidate], known.galleries, (), self._rule, known.distinct)[0]
        person = next((g.person for g in known.galleries if g.node == found.node), None)
        if person is None:
            return
        if person != said.person:
            said.changes += said.person is not None
            said.person, said.name, said.agreed = person, known.names.get(person, ""), 0
            said.sure = said.changes > 0
            self._tell(said)
        else:
            said.agreed += 1
            said.sure = duration >= SURE

    # ------------------------------------------------------------------ what they say

    def _cut(self, at: int) -> None:
        """End the utterance at a sample; what follows is the next one's."""
        said = self._speech
        assert said is not None
        end, at = said.end, min(max(at, said.start + SHORTEST), said.end)
        said.end = at
        self._end()
        if end - at >= SHORTEST:
            self._speech = _Utterance(at, end, sureness=said.sureness[-1:])

    def _end(self) -> None:
        """End the utterance, if somebody speaks: compare all of it once more, and have it written down."""
        said, self._speech = self._speech, None
        if said is None or said.end - said.start < SHORTEST:
            return
        self._compare(said)
        if self.words and self._waiting() < WAITING:
            self._write(said, final=True)
        elif said.told or said.person:
            said.over = True
            self._tell(said)

    def _waiting(self) -> int:
        self._pending = [f for f in self._pending if not f.done()]
        return len(self._pending)

    def _write(self, said: _Utterance, *, final: bool) -> None:
        sound = self._piece(said.start - MARGIN, said.end + MARGIN).copy()
        span, sureness, since = self._span(said), float(np.mean(said.sureness)), time.monotonic()

        def write() -> None:
            try:
                text = self._text(sound, sureness) if time.monotonic() - since <= LATE else ""
            except M3DeskError as error:
                log.warning("live speech could not be written down: %s", error)
                text = ""
            if said.over or self._closed.is_set():  # it ended without words meanwhile, or nobody listens any more
                return
            said.text, said.over = text or said.text, final
            if text or (final and (said.told or said.person)):
                self._tell(said, span)

        self._pending.append(self._scribe.submit(write))

    def _text(self, sound: Sound, sureness: float) -> str:
        """Return the words of a sound, none where they were hardly said."""
        speech = self._speech_model()
        if speech is None or self._closed.is_set():
            return ""
        language = self._language if len(sound) < WINDOW + 2 * MARGIN else None
        if isinstance(speech, QuickSpeechRecogniser):
            found = speech.transcribe_quickly(sound, language)
        else:
            slow = speech.transcribe(sound, language)
            certain = float(np.mean([w.probability for w in slow.words])) if slow.words else 0.0
            found = QuickTranscript("".join(w.text for w in slow.words).strip(), slow.language, certain, slow.no_speech)
        said = TimedWord(0, len(sound), found.text, found.confidence, 0, found.language, 1.0, found.no_speech)
        if phantom([said], sureness) is not None:
            return ""
        self._language = found.language
        return simplified(found.text, found.language)

    def _span(self, said: _Utterance) -> tuple[int, int]:
        return self._time(said.start), self._time(said.end)

    def _tell(self, said: _Utterance, span: tuple[int, int] | None = None) -> None:
        said.told = True
        start, end = span or self._span(said)
        self._emit(events.LiveWords(self._source, start, end, said.text, said.person, said.name, said.sure, said.over))
