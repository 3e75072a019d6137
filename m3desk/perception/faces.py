"""The visual evidence of one clip, in one pass over its pictures: face tracks, objects, texts, cuts, and a thumbnail."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from m3desk.domain.clip import Clip
from m3desk.domain.evidence import Box, FaceTrack, Floats, ObjectSeen, TextOnScreen, TimedBox, media_id
from m3desk.domain.ids import face_id
from m3desk.errors import Cancelled
from m3desk.events import EvidenceSeen
from m3desk.perception import closer, glasses
from m3desk.perception.bodies import bodies_seen, worn_by
from m3desk.perception.clothing import clothing_seen
from m3desk.perception.gestures import hands_raised
from m3desk.perception.lips import LipSeries, followed, series
from m3desk.perception.objects import Glance, objects_seen
from m3desk.perception.scenes import (
    THUMBNAIL,
    FrameSummary,
    crop_file,
    cut_between,
    cuts,
    empty_wait,
    facts,
    jpeg,
    look,
    shrink,
    still,
    worth,
)
from m3desk.perception.scenes import change as change_of
from m3desk.perception.sightings import Sighting, lip_movement, sightings, vector
from m3desk.perception.texts import FrameText, Grey, changed, grey, texts_on_screen
from m3desk.perception.tracks import Track, cannot_links, remembering, tracks
from m3desk.ports import ClipMedia, DetectedObject, Frame, Models, Picture, ReadText

OBJECTS_EVERY = 3_000_000
"""Microseconds between two looks for objects within a shot; one costs 80 ms of one core, and as much for each closer look (`closer`)."""

BODIES_EVERY = 1_000_000
"""The same between two looks for people where no face is in view and something moves; one costs 60 ms of one core."""

TEXTS_EVERY = 2_000_000
"""Microseconds between two text recognitions within a shot; one costs 100–250 ms of one core, and 10 ms more per line."""

BLANK_FOR = 3_000_000
"""The same after a recognition without text: captions stay for three seconds and more."""

SECOND_LOOK = 1_600_000
"""The same after the first recognition of a shot, without text: a caption fades in within the shot's first second."""

READ_AT = 1280
"""Longest side of the picture that text is read from, pixels."""

NEWS_EVERY = 1_000_000
"""Microseconds of the clip between two `EvidenceSeen` events."""


@dataclass(frozen=True, slots=True)
class VisualEvidence:
    """The visual half of a clip's evidence; the fields are those of `domain.evidence.Perceived`."""

    faces: tuple[FaceTrack, ...] = ()
    objects: tuple[ObjectSeen, ...] = ()
    texts: tuple[TextOnScreen, ...] = ()
    vectors: Mapping[str, Floats] = field(default_factory=dict)
    media: Mapping[str, bytes] = field(default_factory=dict)
    cannot_link: frozenset[tuple[str, str]] = frozenset()
    thumbnail: str | None = None
    cuts: tuple[int, ...] = ()
    scene: Mapping[str, float] = field(default_factory=dict)
    lips: Mapping[str, LipSeries] = field(default_factory=dict)
    """Face track → its mouth at 25 pictures a second; compared with the sound, then dropped."""


@dataclass(slots=True)
class _Pass:
    """The results of one pass over the pictures."""

    looks: list[FrameSummary] = field(default_factory=list)
    sighted: list[list[Sighting]] = field(default_factory=list)
    glances: list[Glance] = field(default_factory=list)
    bodies: list[Glance] = field(default_factory=list)
    worn: dict[int, Mapping[Box, str]] = field(default_factory=dict)
    width: float = 1.0
    readings: list[FrameText] = field(default_factory=list)
    greys: list[tuple[int, Grey]] = field(default_factory=list)
    grey_scale: float = 1.0
    searched: FrameSummary | None = None
    fruitless: int = 0
    glanced: FrameSummary | None = None
    embodied: FrameSummary | None = None
    first_read: int | None = None
    standing: Picture | None = None
    best: float = -1.0


class Stopwatch:
    """Adds up wall-clock seconds by stage; they are never stored with evidence."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Add the time since the last lap to `stage`."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now


def see(
    media: ClipMedia,
    models: Models,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    on_news: Callable[[EvidenceSeen], None] | None = None,
    on_cuts: Callable[[tuple[int, ...]], None] = lambda _: None,
    watch: Stopwatch | None = None,
) -> VisualEvidence:
    """Return the visual evidence of a clip, without what has no model. `on_cuts` is called once, as soon as all pictures were seen.

    Raises Cancelled if `cancelled()` is true between two pictures.
    """
    watch = watch or Stopwatch()
    gathered = _watch_through(media, models, cancelled, on_news, watch)
    clip = media.clip
    cut_times = cuts(gathered.looks)
    on_cuts(cut_times)
    embedder = models.face_vectors
    make = None if embedder is None else remembering(lambda s: vector(embedder, s))
    found = tracks(gathered.sighted, cut_times, make, lambda: _stop(cancelled))
    watch.lap("face vectors")
    faces, vectors, stored, cannot_link_pairs = _evidence(clip.id, found)
    picture = None if gathered.standing is None else jpeg(gathered.standing, 80)
    if picture is not None:
        stored[media_id(picture, ".jpg")] = picture
    seen = VisualEvidence(
        faces=faces,
        objects=(
            *_objects(clip, gathered, cut_times),
            *_appearance(clip.id, found),
            *bodies_seen(clip.id, gathered.bodies, gathered.worn, cut_times, (clip.start, clip.end), gathered.width),
        ),
        texts=texts_on_screen(clip.id, gathered.readings, gathered.greys, gathered.grey_scale, clip.end),
        vectors=vectors,
        media=stored,
        cannot_link=cannot_link_pairs,
        thumbnail=None if picture is None else media_id(picture, ".jpg"),
        cuts=cut_times,
        scene=facts(gathered.looks, cut_times),
        lips={face.id: s for face, track in zip(faces, found, strict=True) if (s := series(track.seen)) is not None},
    )
    watch.lap("joining")
    return seen


def _stop(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise Cancelled("Stopped.")


# ---------------------------------------------------------------- one pass over the pictures


def _watch_through(
    media: ClipMedia,
    models: Models,
    cancelled: Callable[[], bool],
    on_news: Callable[[EvidenceSeen], None] | None,
    watch: Stopwatch,
) -> _Pass:
    gathered = _Pass()
    step = 0.0
    shot_from = 0
    news: list[tuple[int, float, float, float, float]] = []
    told: int | None = None
    last: Frame | None = None
    for number, frame in enumerate(media.frames()):
        watch.lap("decoding")
        _stop(cancelled)
        brief = look(frame)
        if gathered.looks:
            if cut_between(gathered.looks[-1], brief, step):
                shot_from = number
            step = change_of(gathered.looks[-1], brief)[0]
        gathered.looks.append(brief)
        watch.lap("scenes")
        if last is not None and frame.picture is last.picture:
            # A slide show or a slow stream repeats one picture many times.
            faces = [replace(s, frame=number, at=frame.at) for s in gathered.sighted[-1]]
        elif _nobody_came(gathered, brief):
            faces = []
        else:
            faces = [] if models.faces is None else sightings(models.faces, frame.picture, number, frame.at)
            empty_before = gathered.searched is not None and not gathered.sighted[-1] and still(gathered.searched, brief)
            gathered.fruitless = gathered.fruitless + 1 if empty_before and not faces else 0
            gathered.searched = brief
            if faces and gathered.sighted and gathered.sighted[-1]:
                watch.lap("faces")
                faces = followed(gathered.sighted[-1], faces, frame.between())
                watch.lap("lips")
        gathered.sighted.append(faces)
        watch.lap("faces")
        # The first picture of a shot may still be blended with the previous shot: use the second.
        fresh = number == shot_from + 1
        _look_for_things(gathered, models, frame, fresh)
        watch.lap("objects")
        _look_for_texts(gathered, models, frame, fresh)
        watch.lap("texts")
        _consider(gathered, frame, brief)
        news += [(frame.at, *s.box) for s in faces]
        if on_news is not None and news and (told is None or frame.at - told >= NEWS_EVERY):
            on_news(EvidenceSeen(media.source.id, media.clip.id, faces=tuple(news)))
            news, told = [], frame.at
        last = frame
        watch.lap("scenes")
    watch.lap("decoding")
    if last is not None and len(gathered.looks) == 1:
        _look_for_things(gathered, models, last, True)
        _look_for_texts(gathered, models, last, True)
    if on_news is not None and news:
        on_news(EvidenceSeen(media.source.id, media.clip.id, faces=tuple(news)))
    return gathered


def _nobody_came(gathered: _Pass, brief: FrameSummary) -> bool:
    """Return whether no face is looked for: none was in view, and nothing has moved since faces were looked for, a moment ago."""
    searched = gathered.searched
    if searched is None or gathered.sighted[-1]:
        return False
    return brief.at - searched.at < empty_wait(gathered.fruitless) and still(searched, brief)


def _look_for_things(gathered: _Pass, models: Models, frame: Frame, fresh: bool) -> None:
    if models.objects is None:
        return
    brief = gathered.looks[-1]
    if fresh or (gathered.glances and frame.at - gathered.glances[-1].at >= OBJECTS_EVERY):
        if not fresh and gathered.glanced is not None and still(gathered.glanced, brief):
            gathered.glances.append(Glance(frame.at, gathered.glances[-1].objects))
            _see_bodies(gathered, frame, gathered.glances[-1].objects)  # not the last bodies: somebody may have passed since
            return
        seen = [s.box for s in gathered.sighted[-1]]
        gathered.glances.append(Glance(frame.at, closer.objects(models.objects, frame.picture, seen)))
        gathered.glanced = brief
        _see_bodies(gathered, frame, gathered.glances[-1].objects)
    elif gathered.bodies and not gathered.sighted[-1] and frame.at - gathered.bodies[-1].at >= BODIES_EVERY:
        moved = gathered.embodied is None or not still(gathered.embodied, brief)
        _see_bodies(gathered, frame, models.objects.detect(frame.picture) if moved else None)


def _see_bodies(gathered: _Pass, frame: Frame, objects: Sequence[DetectedObject] | None) -> None:
    """Keep the people of a picture and what they wear; `objects` None: the same as before."""
    before = gathered.bodies[-1] if gathered.bodies else None
    if objects is None and before is not None:
        gathered.bodies.append(Glance(frame.at, before.objects))
        gathered.worn[frame.at] = gathered.worn[before.at]
        return
    people = tuple(o for o in objects or () if o.label == "person")
    gathered.embodied = gathered.looks[-1]
    gathered.bodies.append(Glance(frame.at, people))
    gathered.worn[frame.at] = worn_by(frame.picture, people)
    gathered.width = float(frame.picture.shape[1])


def _look_for_texts(gathered: _Pass, models: Models, frame: Frame, fresh: bool) -> None:
    """Recognise text after a cut, and every TEXTS_EVERY if more than faces changed; else the texts are still shown."""
    if models.screen_text is None:
        return
    now = grey(frame.picture)
    gathered.grey_scale = now.shape[1] / frame.picture.shape[1]
    gathered.greys.append((frame.at, now))
    due = bool(gathered.readings) and frame.at - gathered.readings[-1].at >= _pause(gathered)
    if not (fresh or due):
        return
    if due and not fresh:
        before = next((g for at, g in reversed(gathered.greys) if at == gathered.readings[-1].at), None)
        if not changed(before, now, [s.box for s in gathered.sighted[-1]], gathered.grey_scale):
            gathered.readings.append(FrameText(frame.at, gathered.readings[-1].texts))
            return
    if fresh:
        gathered.first_read = frame.at
    small, scale = shrink(frame.picture, READ_AT)
    texts = tuple(ReadText(t.text, t.score, _scaled(t.box, 1 / scale)) for t in models.screen_text.read(small))
    gathered.readings.append(FrameText(frame.at, texts))


def _pause(gathered: _Pass) -> int:
    """Return how long the last recognition of text holds."""
    last = gathered.readings[-1]
    if last.texts:
        return TEXTS_EVERY
    return SECOND_LOOK if last.at == gathered.first_read else BLANK_FOR


def _scaled(box: tuple[float, float, float, float], by: float) -> tuple[float, float, float, float]:
    return box[0] * by, box[1] * by, box[2] * by, box[3] * by


def _consider(gathered: _Pass, frame: Frame, brief: FrameSummary) -> None:
    """Keep the picture if it is a better thumbnail than the best so far."""
    height, width = frame.picture.shape[:2]
    area = sum(s.box[2] * s.box[3] for s in gathered.sighted[-1]) / (width * height)
    value = round(worth(brief, area), 3)
    if value > gathered.best:
        gathered.best, gathered.standing = value, np.array(shrink(frame.picture, THUMBNAIL)[0])


# ---------------------------------------------------------------- as evidence


def _objects(clip: Clip, gathered: _Pass, cut_times: Sequence[int]) -> list[ObjectSeen]:
    """Return the objects of a clip, in order of start; people, who move, from more looks than things."""
    things = [Glance(g.at, tuple(o for o in g.objects if o.label != "person")) for g in gathered.glances]
    found = [*objects_seen(clip.id, things, cut_times, clip.start, clip.end)]
    found += objects_seen(clip.id, gathered.bodies, cut_times, clip.start, clip.end)
    return sorted(found, key=lambda o: (o.start, o.label, -o.score, o.box))


def _appearance(clip: str, found: list[Track]) -> list[ObjectSeen]:
    """Return what the faces' owners wear, glasses too, and when they raise a hand, in order of start."""
    faces: dict[int, list[Box]] = {}
    for track in found:
        for s in track.seen:
            faces.setdefault(s.at, []).append(s.box)
    seen: list[ObjectSeen] = []
    for track in found:
        if worn := clothing_seen(clip, [(s.at, s.box, s.wears) for s in track.seen]):
            seen.append(worn)
        sure = track.best if track.score >= glasses.SURE_FACE else []
        bridges = [b for s in sure if s.quality >= glasses.QUALITY and (b := glasses.bridge(s.crop, s.marks)) is not None]
        if worn := glasses.glasses_seen(clip, track.seen[0].at, track.seen[-1].at, track.seen[0].box, bridges):
            seen.append(worn)
        seen += hands_raised(clip, [(s.at, s.box, s.beside) for s in track.seen], faces)
    return sorted(seen, key=lambda o: (o.start, o.label, o.box))


def _evidence(
    clip: str, found: list[Track]
) -> tuple[tuple[FaceTrack, ...], dict[str, Floats], dict[str, bytes], frozenset[tuple[str, str]]]:
    """Return face tracks with final ids in order of start, their vectors, their crops and the cannot-link pairs."""
    names = [face_id(clip, n) for n in range(len(found))]
    faces = []
    stored: dict[str, bytes] = {}
    for name, track in zip(names, found, strict=True):
        crops = [crop_file(s.crop) for s in track.best]
        ids = tuple(media_id(data, ".jpg") for data in crops)
        stored.update(zip(ids, crops, strict=True))
        faces.append(
            FaceTrack(
                id=name,
                clip=clip,
                start=track.seen[0].at,
                end=track.seen[-1].at,
                boxes=tuple(TimedBox(s.at, *(round(v, 1) for v in s.box)) for s in track.seen),
                score=round(track.score, 4),
                quality=track.quality,
                crops=ids,
                landmarks=tuple(tuple((round(float(x), 1), round(float(y), 1)) for x, y in s.marks) for s in track.best),
                cluster=track.cluster,
                motion=lip_movement(track.seen),
            )
        )
    vectors = {name: t.rows for name, t in zip(names, found, strict=True) if t.rows.size}
    return tuple(faces), vectors, stored, frozenset((names[i], names[k]) for i, k in cannot_links(found))
