"""Everything seen and heard in one clip, put together: pictures and sound are perceived at once, each on a thread of its own."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace

from m3desk.domain.clip import Clip, source_of
from m3desk.domain.evidence import FaceTrack, Perceived, Utterance
from m3desk.events import EvidenceSeen
from m3desk.perception.faces import Seen, Stopwatch, see
from m3desk.perception.tracks import LIKE
from m3desk.perception.voices import Heard, hear
from m3desk.ports import ClipMedia, Models

BORDER = 600_000
"""Microseconds between the last box in one clip and the first in the next that may still be one movement."""


@dataclass(frozen=True, slots=True)
class PerceptionTimes:
    """Seconds of wall clock that a clip took: in all, by stage of the pictures, and the sound. Never stored with the evidence."""

    clip: str
    total: float
    seeing: float
    hearing: float
    stages: Mapping[str, float] = field(default_factory=dict)


def merge(clip: Clip, seen: Seen, heard: Heard) -> Perceived:
    """Return the clip's evidence: face tracks `s1.c12.f0…` and utterances `s1.c12.u0…`, each numbered in order of (start, id)."""
    names = {u.id: f"{clip.id}.u{n}" for n, u in enumerate(sorted(heard.utterances, key=lambda u: (u.start, u.id)))}
    by_start = sorted(seen.faces, key=lambda t: (t.start, int(t.id.rsplit("f", 1)[1])))
    names |= {t.id: f"{clip.id}.f{n}" for n, t in enumerate(by_start)}
    utterances = sorted((replace(u, id=names[u.id], clip=clip.id) for u in heard.utterances), key=lambda u: int(u.id.rsplit("u", 1)[1]))
    pairs = ((names[a], names[b]) for a, b in {*seen.apart, *heard.apart})
    return Perceived(
        clip=clip.id,
        faces=tuple(replace(t, id=names[t.id], clip=clip.id) for t in by_start),
        utterances=tuple(utterances),
        objects=seen.objects,
        texts=seen.texts,
        vectors={names[i]: rows for i, rows in {**seen.vectors, **heard.vectors}.items()},
        media={**seen.media, **heard.media},
        apart=frozenset((min(p), max(p)) for p in pairs),
        thumbnail=seen.thumbnail,
        cuts=seen.cuts,
        scene=seen.scene,
    )


def continued(previous: Perceived | None, now: Perceived) -> Perceived:
    """Return `now` with each track that goes on from the clip before (of the same source) saying so in `continues`.

    The first box must follow the last within BORDER microseconds, near it and of its size, and the two must look alike if both have
    vectors. Each track is continued once; the nearest pair first.
    """
    if previous is None or source_of(previous.clip) != source_of(now.clip):
        return now
    pairs = sorted((far, a.id, b.id) for a in previous.faces for b in now.faces if (far := _across(previous, a, now, b)) is not None)
    follows: dict[str, str] = {}
    for _, before, after in pairs:
        if after not in follows and before not in follows.values():
            follows[after] = before
    return replace(now, faces=tuple(replace(t, continues=follows.get(t.id)) for t in now.faces))


def _across(previous: Perceived, a: FaceTrack, now: Perceived, b: FaceTrack) -> float | None:
    """Return how many face sizes a face moved over the border; None if it is another."""
    last, first = a.boxes[-1], b.boxes[0]
    if not 0 < first.at - last.at <= BORDER:
        return None
    size, other = math.sqrt(last.width * last.height), math.sqrt(first.width * first.height)
    x, y = first.x - last.x + (first.width - last.width) / 2, first.y - last.y + (first.height - last.height) / 2
    far = math.hypot(x, y) / max(1.0, (size + other) / 2)
    if not 0.5 < other / max(size, 1e-6) < 2 or far > 0.9:
        return None
    rows, others = previous.vectors.get(a.id), now.vectors.get(b.id)
    # The best pair of crops: the same head turned by the border may be unlike on average.
    if rows is not None and others is not None and rows.size and others.size and float((rows @ others.T).max()) < LIKE:
        return None
    return far


def perceive(
    media: ClipMedia,
    models: Models,
    *,
    heard_until: int | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    on_news: Callable[[EvidenceSeen], None] | None = None,
    on_times: Callable[[PerceptionTimes], None] | None = None,
) -> Perceived:
    """Return all evidence of a clip. `heard_until`: end of the last utterance of the clip before, which this one skips.

    `on_news` is called from both threads. What has no model is left out.
    Raises Cancelled, ModelError, SourceError; an error in one half stops the other.
    """
    began, watch, broken = time.perf_counter(), Stopwatch(), False
    took = {"seeing": 0.0, "hearing": 0.0}

    def stop() -> bool:
        return broken or cancelled()

    def tell(utterance: Utterance) -> None:
        if on_news is not None:
            on_news(EvidenceSeen(media.source.id, media.clip.id, words=utterance.text))

    def timed_see() -> Seen:
        watch.restart()
        seen = see(media, models, cancelled=stop, on_news=on_news, watch=watch)
        took["seeing"] = time.perf_counter() - began
        return seen

    def timed_hear() -> Heard:
        heard: Heard = hear(media, models, heard_until=heard_until, cancelled=stop, on_words=tell)
        took["hearing"] = time.perf_counter() - began
        return heard

    with ThreadPoolExecutor(2, "m3desk-perception") as pool:
        eyes, ears = pool.submit(timed_see), pool.submit(timed_hear)
        try:
            for half in as_completed((eyes, ears)):
                half.result()
        except BaseException:
            broken = True
            raise
    if on_times is not None:
        on_times(PerceptionTimes(media.clip.id, time.perf_counter() - began, took["seeing"], took["hearing"], dict(watch.seconds)))
    return merge(media.clip, eyes.result(), ears.result())
