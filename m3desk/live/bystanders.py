"""Bystander mode: blurs the faces of everybody who was not approved, before a picture is recorded or shown.

A `Veil` runs inside the recorder's process. It holds pictures back for half a second, so that a face is also blurred in the pictures just
before it was found. What it can't judge is blurred: an unknown face, a face that has not been compared again, and the whole picture where
faces were not looked for closely enough. Embeddings of those who are not approved exist in this process only, and end with it.

It talks with its parent (`live.approving`) by files in a private temporary folder: `how.json` (models), `approved.npz` (embeddings of
approved people), `seen.json` (faces in view), `wanted.json` (tracks that the user approves), `track-ID.npz` (what is known of a track).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import secrets
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from m3desk import models
from m3desk.backends import Backends, profile
from m3desk.calibrated import thresholds
from m3desk.domain.evidence import Box, Floats
from m3desk.domain.geometry import iou
from m3desk.domain.identity import GALLERY, Candidate, Gallery, gallery_rows, match, top_similarity
from m3desk.domain.ids import numbered_id
from m3desk.errors import ModelMissing
from m3desk.live.blurring import blur, blurred_whole, union, widened
from m3desk.live.mailbox import Mailbox, packed, unpacked
from m3desk.perception.scenes import FrameSummary, change, crop_file, cut_between, look
from m3desk.perception.sightings import NEAR, Sighting, sightings, vector
from m3desk.perception.tracks import KEPT, Linking, OpenTrack
from m3desk.ports import FaceDetector, FaceEmbedder, Frame, Picture

log = logging.getLogger(__name__)

DELAY = 500_000
"""Microseconds that pictures are held back: what is found until then counts for them, too."""

HOLD = 1_000_000
"""Microseconds that a face's place stays blurred after it was last found: detectors lose a face that turns or is covered."""

BLIND = 300_000
"""A picture with no look for faces within this many microseconds before and after it is blurred as a whole."""

SOONEST, SHARE = 0.066, 2.0
"""Seconds between two looks for faces at least, and at least this many times what a look takes: the recorder must keep up."""

QUICK = (640, 320)
"""Longest sides of the picture in the quicker looks."""

MARGIN, GROWING = 0.40, 0.60
"""Of a face's size, what is blurred around it; and how much more a second away from when it was found."""

AGAIN = 400_000
"""Microseconds after which an approved face is compared again: another may have taken its place."""

TRUSTED = 1_000_000
"""Microseconds for which a comparison that went well counts."""

UNKNOWN = 1_500_000
"""The same for a face that is nobody's who was approved, once it was compared FIRST times: somebody may be approved meanwhile."""

LEAST, CLEAR = 0.15, 0.20
"""Quality of a face from which it is embedded, and from which an unlike embedding says that it is another's."""

FIRST = 2
"""Pictures that must be like an approved person before a face is shown."""

KEPT_FOR = 60_000_000
"""Microseconds for which a face that left can still be approved, and an approved person who left is looked for more often (AGAIN)."""

FOLLOWED = 10_000_000
"""Microseconds since the last comparison of a good picture for which poor ones of the same track are compared with those just before."""

HIDDEN = "hidden"
"""How the ids of a veil's face tracks begin."""

POLL = 0.25
"""Seconds between two looks for news from the parent, and between two reports to it."""


# ---------------------------------------------------------------- faces


@dataclass(slots=True, eq=False)
class Hidden:
    """A face track. `places`: (time, box) where it was found; `checks`: (time, whether it was like the approved person)."""

    id: str
    track: OpenTrack
    places: deque[tuple[int, Box]] = field(default_factory=deque)
    checks: deque[tuple[int, bool]] = field(default_factory=deque)
    best: list[tuple[Sighting, Floats]] = field(default_factory=list)
    recent: deque[tuple[int, float, Floats]] = field(default_factory=deque)
    """(time, quality, embedding) of pictures in which it was like the approved person, those of the last TRUSTED microseconds."""
    embedded: int = -10 * UNKNOWN
    followed: int = -10 * UNKNOWN
    sure: int = -10 * FOLLOWED
    looks: int = 0
    person: str | None = None

    def shown(self, at: int) -> bool:
        """Return whether the face is known to be an approved person's at a time."""
        before = next((c for c in reversed(self.checks) if c[0] <= at), None)
        after = next((c for c in self.checks if c[0] > at), None)
        if (before is not None and not before[1]) or (after is not None and not after[1]):
            return False
        return (before is not None and at - before[0] <= TRUSTED) or (after is not None and after[0] - at <= DELAY)

    def box_at(self, at: int, size: tuple[int, ...]) -> tuple[int, int, int, int] | None:
        """Return what to blur at a time; None if the face is not near it in time."""
        before = next((p for p in reversed(self.places) if p[0] <= at and at - p[0] <= HOLD), None)
        after = next((p for p in self.places if p[0] >= at and p[0] - at <= HOLD), None)
        if before is not None and after is not None:
            near = min(at - before[0], after[0] - at)
            return widened(union(before[1], after[1]), MARGIN + GROWING * near / 1e6, size)
        one = before or after
        return None if one is None else widened(one[1], MARGIN + GROWING * abs(at - one[0]) / 1e6, size)


@dataclass(slots=True)
class Looks:
    """How an approved person looked in this session, never stored: embeddings much like what is known and not unlike what was approved."""

    rows: list[Floats] = field(default_factory=list)
    quality: list[float] = field(default_factory=list)

    def add(self, row: Floats, quality: float) -> None:
        """Add a picture's embedding; of many the most useful are kept."""
        self.rows.append(row)
        self.quality.append(quality)
        if len(self.rows) > GALLERY:
            kept = gallery_rows(np.stack(self.rows), np.array(self.quality, np.float32))
            self.rows, self.quality = [self.rows[i] for i in kept], [self.quality[i] for i in kept]


class Veil:
    """Blurs the faces of those who are not approved, in one live source's pictures, in time order. Not thread-safe."""

    delay = DELAY

    def __init__(self, folder: str, detector: FaceDetector | None = None, embedder: FaceEmbedder | None = None) -> None:
        """`folder`: see the module. Without a detector the models named in `how.json` are opened. Raises ModelMissing."""
        self._mail = Mailbox(Path(folder))
        if detector is None:
            detector, embedder = _models(self._mail.news("how.json"))
        self._detector, self._embedder = detector, embedder
        self._rule = thresholds(embedder.name, "face") if embedder is not None else None
        embed = partial(vector, embedder) if embedder is not None else None
        self._embed = embed
        self._linking = Linking(embed)
        self._held: deque[tuple[int, Picture]] = deque()
        self._faces: dict[int, Hidden] = {}
        self._gone: dict[str, Hidden] = {}
        self._looked: deque[int] = deque()
        self._approved: list[Gallery] = []
        self._session: dict[str, Gallery] = {}
        """Of faces that were approved here, by their tracks."""
        self._learned: dict[str, Looks] = {}
        self._person_of: dict[str, str] = {}
        """The persons of the memory that these tracks became."""
        self._last_seen: dict[str, int] = {}
        self._names = (f"{HIDDEN}-{secrets.token_hex(3)}-{n}" for n in itertools.count(1))  # never those of a recorder that died
        self._cost = 0.02
        self._frame = self._shot = 0
        self._brief: FrameSummary | None = None
        self._step = 0.0
        self._polled = self._reported = -POLL
        self._poll()

    # ------------------------------------------------------------------ pictures

    def put(self, at: int, picture: Picture) -> list[tuple[int, Picture]]:
        """Take the next picture; return the pictures that are ready, in order, with those not approved blurred.

        If looking at it fails, it is left out, and the error is raised.
        """
        self._poll()
        if not self._looked or at - self._looked[-1] >= max(SOONEST, SHARE * self._cost) * 1e6:
            self._look(at, picture)
        self._held.append((at, picture))
        return self._ready(at - DELAY)

    def finish(self) -> list[tuple[int, Picture]]:
        """Return all pictures that are still held back: recording pauses or ends."""
        if not self._held:
            return []
        at, picture = self._held[-1]
        if not self._looked or self._looked[-1] < at:
            self._look(at, picture)
        return self._ready(at)

    def _ready(self, until: int) -> list[tuple[int, Picture]]:
        ready = []
        while self._held and self._held[0][0] <= until:
            at, picture = self._held.popleft()
            ready.append((at, self._veiled(at, picture)))
        while len(self._looked) > 2 and self._looked[1] < until - HOLD:
            self._looked.popleft()
        return ready

    def _veiled(self, at: int, picture: Picture) -> Picture:
        before = any(0 <= at - p <= BLIND for p in self._looked)
        after = any(0 <= p - at <= BLIND for p in self._looked)
        if not (before and after):
            return blurred_whole(picture)
        hidden = [
            box
            for face in (*self._faces.values(), *self._gone.values())
            if not face.shown(at) and (box := face.box_at(at, picture.shape)) is not None
        ]
        if not hidden:
            return picture
        picture = picture.copy()
        for box in hidden:
            blur(picture, box)
        return picture

    # ------------------------------------------------------------------ faces

    def _look(self, at: int, picture: Picture) -> None:
        """Find the faces of a picture, follow them, and compare those whose turn it is."""
        began = time.perf_counter()
        brief = look(Frame(at, picture))
        if self._brief is not None:
            self._shot += cut_between(self._brief, brief, self._step)
            self._step = change(self._brief, brief)[0]
        self._brief = brief
        self._frame += 1
        seen = self._found(picture, at)
        faces: list[Hidden] = []
        if seen:
            for sighting, track in zip(seen, self._linking.add(seen, self._shot), strict=True):
                face = self._faces.get(id(track)) or self._faces.setdefault(id(track), Hidden(next(self._names), track))
                del track.seen[:-KEPT]
                face.places.append((at, sighting.box))
                faces.append(face)
            self._compare(at, list(zip(faces, seen, strict=True)))
        self._end_tracks(at)
        self._looked.append(at)
        self._report(at, faces)
        self._cost += 0.2 * (time.perf_counter() - began - self._cost)

    def _found(self, picture: Picture, at: int) -> list[Sighting]:
        """Return the faces of the picture: every second time all that perception could find, in both sizes that it looks at.

        In between faces of half the smallest size are passed over, for half the work: they stay blurred for HOLD.
        """
        assert self._detector is not None
        if self._frame % 2 and self._looked and at - self._looked[-1] < BLIND:
            return sightings(self._detector, picture, self._frame, at, QUICK)
        found = sightings(self._detector, picture, self._frame, at)
        if max(picture.shape[:2]) > NEAR and found:  # it looks at the smaller picture only if the larger one shows nobody
            small, scale = _shrunk(picture)
            for s in sightings(self._detector, small, self._frame, at):
                box = (s.box[0] / scale, s.box[1] / scale, s.box[2] / scale, s.box[3] / scale)
                if all(iou(box, f.box) < 0.3 for f in found):
                    found += sightings_at(self._detector, picture, box, self._frame, at) or [replace(s, box=box)]
        return found

    def _end_tracks(self, at: int) -> None:
        going_on = {id(t) for t in self._linking.open}
        self._linking.done.clear()
        for key in [k for k in self._faces if k not in going_on]:
            face = self._faces.pop(key)
            self._gone[face.id] = face
        self._gone = {i: f for i, f in self._gone.items() if at - f.places[-1][0] <= KEPT_FOR}
        for face in (*self._faces.values(), *self._gone.values()):
            for kept in (face.places, face.checks):
                while len(kept) > 2 and kept[1][0] < at - HOLD - 2 * DELAY:
                    kept.popleft()

    def _compare(self, at: int, faces: Sequence[tuple[Hidden, Sighting]]) -> None:
        """Embed faces whose turn it is; approve those that match, and hide those that no longer do."""
        if self._embed is None or self._rule is None:
            return
        asking = []
        missing = self._missing(at, [f for f, _ in faces])
        for face, sighting in faces:
            contested = any(o is not sighting and iou(_grown(o.box), _grown(sighting.box)) > 0 for _, o in faces)
            known, new = face.person is not None, face.looks < FIRST
            if known and sighting.quality < LEAST:
                self._follow_turned(at, face, sighting, contested=contested)
            due = at - face.embedded >= (AGAIN if known or missing else UNKNOWN) or new or (known and contested)
            if sighting.quality < LEAST or not due:
                continue
            row = self._embed(sighting)
            face.embedded = at
            face.looks += 1
            if face.person is not None and sighting.quality >= CLEAR:
                like = self._like(face.person, row)
                face.checks.append((at, like >= (self._rule.carried or self._rule.accept)))
                if not face.checks[-1][1]:
                    face.person, face.best, face.looks = None, [], 0
                    face.recent.clear()
                else:
                    face.sure = at
                    face.recent.append((at, sighting.quality, row))
                    if not contested:
                        self._learn(face.person, row, sighting.quality)
            face.best.append((sighting, row))
            face.best.sort(key=lambda b: -b[0].quality)
            del face.best[KEPT:]
            if face.person is None and len(face.best) >= FIRST:
                asking.append(face)
        self._approve(at, asking, [f for f, _ in faces])

    def _missing(self, at: int, in_view: Sequence[Hidden]) -> bool:
        """Return whether an approved person was in view within the last KEPT_FOR microseconds and is not known to be now."""
        for face in in_view:
            if face.person is not None:
                self._last_seen[face.person] = at
        return any(seen < at and at - seen <= KEPT_FOR for seen in self._last_seen.values())

    def _like(self, person: str, row: Floats) -> float:
        """Return how much a face is like an approved person."""
        return max((top_similarity(row[None], g.vectors) for g in self._all() if g.person == person), default=-1.0)

    def _follow_turned(self, at: int, face: Hidden, sighting: Sighting, *, contested: bool) -> None:
        """Go on showing an approved face that turns away: it must be as like the pictures just before as two poor ones must be at a match.

        Nobody may be near it, and the last good picture that was compared not long ago. One that is unlike all of them is hidden until a
        good picture says who it is.
        """
        assert self._embed is not None and self._rule is not None
        while face.recent and at - face.recent[0][0] > TRUSTED:
            face.recent.popleft()
        if contested or not face.recent or at - face.followed < AGAIN or at - face.sure > FOLLOWED:
            return
        row = self._embed(sighting)
        face.followed = at
        likes = [(float(row @ before), *sorted((quality, sighting.quality))) for _, quality, before in face.recent]
        if any(like >= self._rule.threshold(TRUSTED, low, better) for like, low, better in likes):
            face.checks.append((at, True))
            face.recent.append((at, sighting.quality, row))
        elif max(like for like, _, _ in likes) < (self._rule.split_below or self._rule.accept):  # another may have taken their place
            face.checks.append((at, False))
            face.recent.clear()

    def _learn(self, person: str, row: Floats, quality: float) -> None:
        """Keep how an approved person looks now, for this session: clear pictures, much like them and not unlike what was approved."""
        assert self._rule is not None
        approved = max((top_similarity(row[None], g.vectors) for g in self._given() if g.person == person), default=-1.0)
        enough = self._rule.threshold(TRUSTED, quality, 1.0)
        if quality >= CLEAR and approved >= (self._rule.carried or self._rule.accept) and self._like(person, row) >= enough:
            self._learned.setdefault(person, Looks()).add(row, quality)

    def _approve(self, at: int, asking: Sequence[Hidden], in_view: Sequence[Hidden]) -> None:
        known = self._all()
        if not asking or not known or self._rule is None:
            return
        candidates = [
            Candidate((f.id,), np.stack([r for _, r in f.best]), at - f.places[0][0], max(s.quality for s, _ in f.best)) for f in asking
        ]
        taken = {f.person for f in in_view if f.person is not None}
        owner = {g.node: g.person for g in known}
        for face, found in zip(asking, match(candidates, known, combinations([f.id for f in asking], 2), self._rule), strict=True):
            person = owner.get(found.node or "")
            if person is not None and person not in taken:
                face.person = person
                face.checks.append((at, True))
                face.sure = at
                taken.add(person)
                for sighting, row in face.best:
                    self._learn(person, row, sighting.quality)

    def _given(self) -> list[Gallery]:
        """Return what was approved."""
        return [*self._approved, *(replace(g, person=self._person_of.get(t, t)) for t, g in self._session.items())]

    def _all(self) -> list[Gallery]:
        """Return what was approved, and what was learned of it since."""
        learned = [
            Gallery(numbered_id("face", 2 * 10**6 + n), person, np.stack(looks.rows), 1, max(looks.quality), len(looks.rows))
            for n, (person, looks) in enumerate(self._learned.items())
        ]
        return [*self._given(), *learned]

    # ------------------------------------------------------------------ the parent

    def _poll(self) -> None:
        """Read whom the parent approves now."""
        if time.monotonic() - self._polled < POLL:
            return
        self._polled = time.monotonic()
        if (content := self._mail.news("approved.npz")) is not None:
            told = unpacked(content)
            self._approved = _galleries(told)
            self._name_approved(dict(told["tracks"].tolist()) if "tracks" in told else {})
            for face in self._faces.values():
                face.embedded -= 0 if face.person is not None else UNKNOWN  # compared again at once
            there = {g.person for g in self._given()}
            for face in self._faces.values():
                if face.person is not None and face.person not in there:  # an approval was taken back
                    face.person, face.best, face.looks = None, [], 0
                    face.recent.clear()
                    face.checks.append((face.places[-1][0], False))
            self._learned = {p: looks for p, looks in self._learned.items() if p in there}
            self._last_seen = {p: at for p, at in self._last_seen.items() if p in there}
        if (content := self._mail.news("wanted.json")) is not None:
            for track in json.loads(content):
                self._hand_out(str(track))

    def _name_approved(self, tracks: dict[str, str]) -> None:
        """Give faces that were approved here the id that they have in the memory; forget those whose approval was taken back."""
        for track in self._person_of.keys() - tracks.keys():
            self._session.pop(track, None)
        for track, person in tracks.items():
            before = self._person_of.get(track, track)
            for face in (*self._faces.values(), *self._gone.values()):
                face.person = person if face.person == before else face.person
            if before != person and before in self._learned:
                self._learned[person] = self._learned.pop(before)
            if before != person and before in self._last_seen:
                self._last_seen[person] = self._last_seen.pop(before)
        self._person_of = tracks

    def _hand_out(self, id_: str) -> None:
        """Give the embeddings and crops of a face that the user approves to the parent, and show it from now on."""
        everybody = {f.id: f for f in (*self._faces.values(), *self._gone.values())}
        face = everybody.get(id_)
        if face is None or not face.best:
            self._mail.put(f"track-{id_}.npz", packed())
            return
        rows = np.stack([r for _, r in face.best])
        crops = [np.frombuffer(crop_file(s.crop), np.uint8) for s, _ in face.best]
        marks = np.stack([s.marks for s, _ in face.best])
        quality = np.array([s.quality for s, _ in face.best], np.float32)
        box = np.array(face.best[0][0].box, np.float32)
        model = np.array(self._embedder.name if self._embedder else "")
        self._session[id_] = Gallery(numbered_id("face", 10**6 + len(self._session)), id_, rows, 1, float(quality.max()), 1)
        face.person = self._person_of.get(id_, id_)
        face.checks.append((face.places[-1][0], True))
        face.sure = face.places[-1][0]
        named = {f"crop{n}": crop for n, crop in enumerate(crops)}
        self._mail.put(f"track-{id_}.npz", packed(rows=rows, marks=marks, quality=quality, box=box, model=model, **named))

    def _report(self, at: int, faces: Sequence[Hidden]) -> None:
        """Tell the parent which faces are in view, and who is hidden."""
        if time.monotonic() - self._reported < POLL:
            return
        self._reported = time.monotonic()
        seen = [{"track": f.id, "box": [round(v, 1) for v in f.places[-1][1]], "hidden": f.person is None} for f in faces]
        with contextlib.suppress(OSError):  # no room for it: faces are blurred all the same
            self._mail.put("seen.json", json.dumps({"at": at, "faces": seen}).encode())


def sightings_at(detector: FaceDetector, picture: Picture, box: Sequence[float], frame: int, at: int) -> list[Sighting]:
    """Return the faces found in the part of a picture around a box, in pixels of the whole picture."""
    left, top, right, bottom = widened((box[0], box[1], box[2], box[3]), 0.5, picture.shape)
    part = np.ascontiguousarray(picture[top:bottom, left:right])
    if min(part.shape[:2]) < 8:
        return []
    moved = []
    for s in sightings(detector, part, frame, at):
        x, y, w, h = s.box
        moved.append(
            Sighting(frame, at, (x + left, y + top, w, h), s.score, np.add(s.landmarks, (left, top)), s.crop, s.marks, s.quality, s.steady)
        )
    return moved


def _shrunk(picture: Picture) -> tuple[Picture, float]:
    scale = NEAR / max(picture.shape[:2])
    size = (max(1, round(picture.shape[1] * scale)), max(1, round(picture.shape[0] * scale)))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8), scale


def _grown(box: Box) -> Box:
    x, y, w, h = box
    return x - w / 4, y - h / 4, 1.5 * w, 1.5 * h


def _galleries(arrays: dict[str, Any]) -> list[Gallery]:
    """Return the galleries in `approved.npz`: `people` (names), `owner` (row → person), `rows`."""
    found = []
    for n, person in enumerate(arrays["people"].tolist()):
        rows = arrays["rows"][arrays["owner"] == n]
        if len(rows):
            found.append(Gallery(numbered_id("face", n + 1), str(person), np.asarray(rows, np.float32), 1, 1.0, len(rows)))
    return found


def _models(how: bytes | None) -> tuple[FaceDetector, FaceEmbedder]:
    told = json.loads(how or b"{}")
    backends = Backends(models.weights, profile=profile(told.get("profile", "embedded")), threads=1)
    detector = backends.get("faces")
    embedder = backends.of_model("face_vectors", told["model"]) if told.get("model") else backends.get("face_vectors")
    if detector is None or embedder is None:
        raise ModelMissing("bystander mode needs the face models.", "Fetch them: m3desk models pull")
    return detector, embedder
