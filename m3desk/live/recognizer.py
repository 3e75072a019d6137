"""Names the faces on the newest live picture: provisional, never stored.

Looks at the preview, not at the clip that is being perceived: names come at once even while perception is behind. Faces are found, linked,
embedded and compared by the functions and thresholds of perception and binding, so a name here is nearly always the one that is committed.
Must not know: windows, how a memory is stored.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations

import numpy as np

from m3desk import events
from m3desk.calibrated import thresholds
from m3desk.domain.evidence import Box, Floats
from m3desk.domain.geometry import iou
from m3desk.domain.identity import Candidate, KnownPeople, Match, match
from m3desk.domain.live import LiveFace
from m3desk.perception.scenes import FrameSummary, change, cut_between, empty_wait, look, still
from m3desk.perception.sightings import Sighting, sightings, vector
from m3desk.perception.tracks import KEPT, STRANGE, Linking, OpenTrack
from m3desk.ports import FaceDetector, FaceEmbedder, Frame, Picture

log = logging.getLogger(__name__)

LEAST = 0.15
"""Quality below which a face is not compared: too small, dark, or turned away."""

FIRST, ENOUGH = 2, 4
"""Pictures of a face that a first name rests on (one that is clear and much like is enough), and those after which a name is kept."""

REFRESH = 1_000_000
"""Microseconds between two embeddings of a face that was embedded ENOUGH times: another may have taken its place."""

UNSEEN = 1_000_000
"""Microseconds after which faces are looked for even in a still scene; where nobody is in view, see `scenes.empty_wait`."""

SIDES = (640, 320)
"""Longest sides of the picture that faces are looked for in: a third of the work of perception's; smaller faces are named at the commit."""

PAUSE, SHARE = 0.10, 3.0
"""Seconds between two looks at least; and at least this many times the processor time of a look, so that perception keeps the processor.
While a face is new, none of both."""


@dataclass(slots=True, eq=False)
class _Face:
    """A face track of the live picture. `rows`, `quality`: of its best pictures. `asked`: what it was last compared with."""

    id: str
    track: OpenTrack
    rows: list[Floats] = field(default_factory=list)
    quality: list[float] = field(default_factory=list)
    since: int = 0
    embedded: int = 0
    looks: int = 0
    tries: int = 0
    asked: tuple[int, int] = (0, 0)
    person: str | None = None
    name: str = ""
    changes: int = 0
    sure: bool = False


class Recognizer:
    """Follows the faces of one live source and tells whose they are. `look` is for one thread; `start` runs it in one of its own.

    The name of a track changes at most once: from the first to another, which then stays.
    """

    def __init__(
        self,
        source: str,
        faces: FaceDetector,
        vectors: FaceEmbedder,
        known: Callable[[], KnownPeople],
        emit: Callable[[events.LiveFaces], None],
        hidden: Callable[[], Sequence[LiveFace]] = lambda: (),
    ) -> None:
        """`known`: returns the newest galleries at once (`known.Galleries.of`). `hidden`: faces that are blurred and told of, too."""
        self._source, self._detector, self._embedder = source, faces, vectors
        self._known, self._emit = known, emit
        self._rule = thresholds(vectors.name, "face")
        self._hidden = hidden
        self._embed = partial(vector, vectors)
        self._linking = Linking(self._embed)
        self._faces: dict[int, _Face] = {}
        self._numbers = itertools.count(1)
        self._frame = self._shot = 0
        self._brief: FrameSummary | None = None
        self._searched: FrameSummary | None = None
        self._empty = False
        self._fruitless = 0
        self._step = 0.0
        self._compared_with: KnownPeople | None = None
        self._version = 0
        self._told: tuple[LiveFace, ...] = ()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    # ------------------------------------------------------------------ in a thread of its own

    def start(self, newest: Callable[[], tuple[int, Picture] | None]) -> None:
        """Look at the newest picture again and again. `newest`: returns it with its time (microseconds of the source), at once."""
        self._thread = threading.Thread(target=self._run, args=(newest,), name="m3desk-recognizer", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self, newest: Callable[[], tuple[int, Picture] | None]) -> None:
        last: int | None = None
        while not self._closed.is_set():
            got = newest()
            if got is None or got[0] == last:
                self._closed.wait(0.03)
                continue
            last = got[0]
            began = time.thread_time()
            try:
                self.look(*got)
            except Exception as error:  # a model failed on this picture, or the veil's folder is gone: the next is tried in a moment
                log.warning("faces of the live picture could not be named: %s: %s", type(error).__name__, error)
                self._closed.wait(1.0)
            self._closed.wait(0.02 if self._new_faces() else max(PAUSE, SHARE * (time.thread_time() - began)))

    def _new_faces(self) -> bool:
        return any(f.looks < ENOUGH and f.tries < 2 * ENOUGH for f in self._faces.values())

    # ------------------------------------------------------------------ one picture

    def look(self, at: int, picture: Picture) -> None:
        """Find and name the faces of the next picture; tell of them, unless they are just where they were."""
        brief = look(Frame(at, picture))
        before, self._brief = self._brief, brief
        if before is not None:
            if at <= before.at or cut_between(before, brief, self._step):
                self._shot += 1
            self._step = change(before, brief)[0]
            if self._still(brief):
                return
        self._frame += 1
        seen = sightings(self._detector, picture, self._frame, at, SIDES)
        again = self._empty and not seen and self._searched is not None and still(self._searched, brief)
        self._fruitless = self._fruitless + 1 if again else 0
        self._searched, self._empty = brief, not seen
        shown = self._follow(seen)
        self._name(shown)
        hidden = tuple(self._hidden())
        mine = [_as_told(f) for f in shown]  # a blurred face may still look like one
        told = (*(f for f in mine if f.person or all(iou(_box(f), _box(h)) < 0.1 for h in hidden)), *hidden)
        if told or self._told:
            self._emit(events.LiveFaces(self._source, at, told))
        self._told = told

    def _still(self, now: FrameSummary) -> bool:
        """Return whether nothing has moved since faces were looked for, and no face waits to be looked at again."""
        searched = self._searched
        if searched is None or self._new_faces():
            return False
        return 0 <= now.at - searched.at < (empty_wait(self._fruitless) if self._empty else UNSEEN) and still(searched, now)

    def _follow(self, seen: Sequence[Sighting]) -> list[_Face]:
        """Return the face track of each sighting, embedded where that tells more; forget tracks that ended."""
        if not seen:
            self._faces = {}
            return []
        found = []
        for sighting, track in zip(seen, self._linking.add(seen, self._shot), strict=True):
            face = self._faces.get(id(track))
            if face is None:
                face = self._new(track, sighting)
            del track.seen[:-KEPT]  # linking looks back at no more
            found.append(self._looked_at(face, sighting))
        self._linking.done.clear()
        going_on = {id(t) for t in self._linking.open}
        self._faces = {k: f for k, f in self._faces.items() if k in going_on}
        return found

    def _new(self, track: OpenTrack, sighting: Sighting) -> _Face:
        face = self._faces[id(track)] = _Face(f"live{next(self._numbers)}", track, since=sighting.at)
        return face

    def _looked_at(self, face: _Face, sighting: Sighting) -> _Face:
        """Embed a sighting if its face needs it; return its face, a new one if it is somebody else's."""
        face.tries += 1
        if sighting.quality < LEAST or (face.looks >= ENOUGH and sighting.at - face.embedded < REFRESH):
            return face
        row = self._embed(sighting)
        face.embedded = sighting.at
        if face.looks >= FIRST and sighting.quality >= 0.2 and max(float(row @ r) for r in face.rows) < STRANGE + 0.15:
            face = self._new(face.track, sighting)  # the place stayed, the face did not
            face.embedded = sighting.at
        face.looks += 1
        face.rows.append(row)
        face.quality.append(sighting.quality)
        if len(face.rows) > KEPT:
            worst = min(range(len(face.rows)), key=lambda i: face.quality[i])
            del face.rows[worst], face.quality[worst]
        return face

    # ------------------------------------------------------------------ whose they are

    def _name(self, shown: Sequence[_Face]) -> None:
        """Compare the faces in view that have news with everybody known, all at once: two of one picture are never one person."""
        known = self._known()
        if known is not self._compared_with:
            self._compared_with, self._version = known, self._version + 1
        asking = [f for f in shown if f.rows]
        if not any(not f.sure and f.asked != (f.looks, self._version) for f in asking):
            return
        candidates = [Candidate((f.id,), np.stack(f.rows), f.embedded - f.since, max(f.quality)) for f in asking]
        apart = list(combinations([f.id for f in asking], 2))
        person_of = {g.node: g.person for g in known.galleries}
        taken = {f.person for f in shown if f.sure}
        for face, found in zip(asking, match(candidates, known.galleries, apart, self._rule, known.distinct), strict=True):
            face.asked = face.looks, self._version
            if face.sure or found.node is None:
                continue
            person = person_of[found.node]
            if person in taken or (face.looks < FIRST and not self._clear(face, found)):
                continue
            if person == face.person:
                face.sure = face.looks >= ENOUGH
            else:
                for other in shown:  # had this name from fewer pictures, and is less like it
                    if other.person == person and not other.sure:
                        other.person, other.name, other.changes, other.sure = None, "", 1, True
                face.changes += face.person is not None
                face.person, face.sure = person, face.changes > 0
            if face.sure:
                taken.add(person)
        for face in shown:
            if face.person is not None:
                face.name = known.names.get(face.person, face.name)  # a person who was renamed is shown so at once

    def _clear(self, face: _Face, found: Match) -> bool:
        """Say whether one picture is enough: clear, and as much like the person as two nodes that are one."""
        return max(face.quality) >= self._rule.sound and found.score is not None and found.score >= (self._rule.sure or 1.0)


def _box(face: LiveFace) -> Box:
    return face.x, face.y, face.width, face.height


def _as_told(face: _Face) -> LiveFace:
    x, y, width, height = (round(v, 1) for v in face.track.seen[-1].box)
    return LiveFace(face.id, x, y, width, height, face.person, face.name, face.sure)
