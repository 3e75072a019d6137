"""Perceives clips in two threads, one for pictures and one for sound, up to two clips ahead of the commit; merges both into evidence.

Sound is heard up to its words by itself; who speaks is found once its pictures were seen: voices change with shots.

Clips may come from an iterator that blocks: a live source gives its next clip when that starts, and meanwhile the clip that is being
recorded is perceived.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import SimpleQueue

from m3desk.domain.clip import Clip
from m3desk.domain.evidence import LipMatch, Perceived, Utterance
from m3desk.domain.ids import face_id, utterance_id
from m3desk.domain.live import OBJECTS_AND_TEXTS
from m3desk.errors import Cancelled
from m3desk.events import EvidenceSeen
from m3desk.perception import heap, in_step, two_speakers
from m3desk.perception.faces import VisualEvidence, see
from m3desk.perception.voices import SpeechEvidence, hear
from m3desk.ports import ClipMedia, Models

AHEAD = 2
"""Clips that perception may be ahead of the commit: enough to keep both threads busy, little enough for constant memory."""


@dataclass(frozen=True, slots=True)
class PendingClip:
    """A clip that is being perceived."""

    media: ClipMedia
    seen: Future[VisualEvidence]
    heard: Future[SpeechEvidence]

    def result(self) -> Perceived:
        """Wait for the evidence. Raises Cancelled, ModelError, SourceError."""
        return merge(self.media.clip, self.seen.result(), self.heard.result())


class Watcher:
    """Perceives clips: one thread for pictures, one for sound. Close it."""

    def __init__(self, models: Models, heard_until: int | None, stop: Callable[[], bool], emit: Callable[[EvidenceSeen], None]) -> None:
        """`heard_until`: end of the previous clip's last utterance; sound before it is skipped.

        `stop` and `emit` are called from both threads. Evidence without a model is left out.
        """
        self._models, self._heard_until, self._emit = models, heard_until, emit
        self._stopped = threading.Event()
        self._stop: Callable[[], bool] = lambda: self._stopped.is_set() or stop()
        self._eyes = ThreadPoolExecutor(1, "m3desk-eyes")
        self._ears = ThreadPoolExecutor(1, "m3desk-ears")

    def watch(self, clips: Iterable[ClipMedia]) -> Iterator[PendingClip]:
        """Yield the clips in their order, each as soon as it is started; up to `AHEAD` more clips are started, too.

        A separate thread iterates over the clips, so an iterator that blocks does not delay earlier clips.
        """
        begun: SimpleQueue[PendingClip | BaseException | None] = SimpleQueue()
        room = threading.Semaphore(AHEAD + 1)
        threading.Thread(target=self._begin, args=(clips, room, begun), name="m3desk-clips", daemon=True).start()
        while (watched := begun.get()) is not None:
            if isinstance(watched, BaseException):
                raise watched
            yield watched
            room.release()

    def _begin(self, clips: Iterable[ClipMedia], room: threading.Semaphore, begun: SimpleQueue[PendingClip | BaseException | None]) -> None:
        """Start to perceive each clip as soon as there is room for it; ends with None, or with the error of the iterable."""
        try:
            todo = iter(clips)
            while True:
                while not room.acquire(timeout=0.5):
                    if self._stopped.is_set():
                        return
                media = next(todo, None)
                if media is None or self._stopped.is_set():
                    break
                cuts: Future[tuple[int, ...]] = Future()
                begun.put(PendingClip(media, self._eyes.submit(self._see, media, cuts), self._ears.submit(self._hear, media, cuts)))
            begun.put(None)
        except BaseException as error:
            begun.put(error)

    def _see(self, media: ClipMedia, cuts: Future[tuple[int, ...]]) -> VisualEvidence:
        models = without(self._models, media.clip.given_up)
        try:
            seen = see(media, models, cancelled=self._stop, on_news=self._emit, on_cuts=cuts.set_result)
        finally:
            if not cuts.done():  # it failed: who listens must not wait
                cuts.set_result(())
        heap.give_back()
        return seen

    def _cuts(self, cuts: Future[tuple[int, ...]]) -> tuple[int, ...]:
        """Wait until the pictures were seen. Raises Cancelled: pictures that wait are not seen any more once it is closed."""
        while True:
            try:
                return cuts.result(timeout=0.2)
            except TimeoutError:
                if self._stop():
                    raise Cancelled("Stopped while listening.") from None

    def _hear(self, media: ClipMedia, cuts: Future[tuple[int, ...]]) -> SpeechEvidence:
        def tell(utterance: Utterance) -> None:
            self._emit(EvidenceSeen(media.source.id, utterance.clip, words=utterance.text))

        heard = hear(media, self._models, heard_until=self._heard_until, cuts=lambda: self._cuts(cuts), cancelled=self._stop, on_words=tell)
        # The same value as the store returns after the commit, so that a resumed run gives the same words.
        self._heard_until = max((u.end for u in heard.utterances), default=None)
        heap.give_back()
        return heard

    def close(self) -> None:
        """Stop both threads and wait for them."""
        self._stopped.set()
        self._eyes.shutdown(wait=True, cancel_futures=True)
        self._ears.shutdown(wait=True, cancel_futures=True)


def without(models: Models, given_up: Collection[str]) -> Models:
    """Return the models that perceive a clip of which this is given up (`domain.live.GivenUp`)."""
    return replace(models, objects=None, screen_text=None) if OBJECTS_AND_TEXTS in given_up else models


def merge(clip: Clip, seen: VisualEvidence, heard: SpeechEvidence) -> Perceived:
    """Return the clip's evidence: face tracks `s1.c12.f0…` and utterances `s1.c12.u0…`, each numbered in order of (start, id)."""
    heard = _told_apart(clip, seen, heard)
    names = {u.id: utterance_id(clip.id, n) for n, u in enumerate(sorted(heard.utterances, key=lambda u: (u.start, u.id)))}
    by_start = sorted(seen.faces, key=lambda t: (t.start, int(t.id.rsplit("f", 1)[1])))
    names |= {t.id: face_id(clip.id, n) for n, t in enumerate(by_start)}
    utterances = sorted((replace(u, id=names[u.id], clip=clip.id) for u in heard.utterances), key=lambda u: int(u.id.rsplit("u", 1)[1]))
    pairs = ((names[a], names[b]) for a, b in {*seen.cannot_link, *heard.cannot_link})
    return Perceived(
        clip=clip.id,
        faces=tuple(replace(t, id=names[t.id], clip=clip.id) for t in by_start),
        utterances=tuple(utterances),
        objects=seen.objects,
        texts=seen.texts,
        vectors={names[i]: rows for i, rows in {**seen.vectors, **heard.vectors}.items()},
        media={**seen.media, **heard.media},
        cannot_link=frozenset((min(p), max(p)) for p in pairs),
        thumbnail=seen.thumbnail,
        cuts=seen.cuts,
        scene=seen.scene,
        lips=_lips(clip, seen, heard),
    )


def _told_apart(clip: Clip, seen: VisualEvidence, heard: SpeechEvidence) -> SpeechEvidence:
    if heard.bands is None or not seen.lips or not seen.cannot_link:
        return heard
    utterances, pairs = two_speakers.told_apart(
        seen.faces, seen.lips, seen.cannot_link, heard.utterances, heard.vectors, heard.bands, in_step.first(clip.start), clip.end
    )
    return replace(heard, utterances=utterances, cannot_link=heard.cannot_link | pairs)


def _lips(clip: Clip, seen: VisualEvidence, heard: SpeechEvidence) -> tuple[LipMatch, ...]:
    if heard.bands is None or not seen.lips:
        return ()
    return in_step.matches(seen.faces, seen.lips, heard.utterances, heard.bands, in_step.first(clip.start), clip.end)
