"""What is in view besides faces: objects that appear, disappear, are held or worn, and people without a recognisable face."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from m3desk.domain.appearance import of_a_person
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import FaceTrack, ObjectSeen, TimedBox
from m3desk.memorization import presence
from m3desk.memorization.candidates import CandidateSentence
from m3desk.memorization.phrases import Who, say, word
from m3desk.memorization.things import HELD, WORN, counted, named, number
from m3desk.ports import ClipView

SURE, VERY_SURE, SUREST = 0.7, 0.8, 0.9
"""Scores of things that are told: SURE where they last, VERY_SURE in any case; of LOOKALIKES both SUREST and lasting."""

BODY = 0.6
"""Score of a body that counts as a person in view."""

LASTING = 3 * MICROSECOND // 2

SHOT_NEAR = 2 * MICROSECOND
"""Objects are detected about every second: this near a cut counts as at the cut."""

STIRRING = HELD | {"bird", "cat", "dog", "horse", "cow", "elephant", "bear", "zebra", "giraffe", "backpack", "bicycle", "motorcycle"}
"""What comes and goes. A chair or a parked car that comes into view was only found late."""


LOOKALIKES = frozenset({
    "toilet", "bed", "sink", "refrigerator", "oven", "microwave", "toaster", "hair drier", "toothbrush", "teddy bear", "kite", "frisbee",
    "surfboard", "snowboard", "skis", "skateboard", "suitcase", "bench", "remote", "hot dog", "donut", "vase", "clock", "parking meter",
    "train", "airplane", "boat",
})  # fmt: skip
"""What the detector takes other things for (a chair for a toilet, a picture frame for a clock): told only where it is very sure."""


SMALL = 0.35
"""Of the picture's height: where the tallest body is smaller, there are more people than are found, so they are not counted."""

OUTDOORS = frozenset({"car", "bus", "truck", "train", "motorcycle", "traffic light", "stop sign", "fire hydrant", "parking meter"})
INDOORS = frozenset({"tv", "keyboard", "microwave", "oven", "refrigerator", "bed", "sink", "toilet", "couch", "laptop"})
"""Things that say where a scene is."""

PICTURED = frozenset({"bird", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe", "teddy bear"})
"""What stands on walls and shelves as a picture or a figure: beside a face nobody can tell it from the real thing here."""

PASSING = 8 * MICROSECOND
"""Somebody in view for longer may have moved: the box is of one moment, so their place is not told."""


def things(view: ClipView, language: str) -> list[CandidateSentence]:
    """Return candidate sentences about objects and about people without a readable face."""
    p = view.perceived
    shots = presence.shots(view.clip, p.cuts)
    seen = sorted(
        (o for o in p.objects if o.label != "person" and not of_a_person(o.label) and _clear(o)),
        key=lambda o: (o.start, o.label, o.box),
    )
    told = _still_there(view) if not any(abs(c - view.clip.start) < MICROSECOND // 5 for c in p.cuts) else set()
    found: list[CandidateSentence] = []
    used: set[str] = set()
    for handled in _handled(seen, p.faces, told, view.clip.start, language):
        used.update(handled.entities)
        found.append(handled)
    for shot in shots:
        here = [o for o in seen if shot.start <= o.start < shot.end]
        found += _shown(shot, here, told, used, p.faces, language)
        found += _comings(shot, here, told, used, language)
    return found + _faceless(view, language)


def _clear(thing: ObjectSeen) -> bool:
    if thing.label in WORN:
        return thing.score >= SURE  # it must hang below a face to be told
    lasts = thing.end - thing.start >= LASTING
    if thing.label in LOOKALIKES:
        return thing.score >= SUREST and lasts
    return thing.score >= VERY_SURE or (thing.score >= SURE and lasts)


def _still_there(view: ClipView) -> set[str]:
    """Return the labels of the shot that the clip before ended with: what somebody stands before now is there again later."""
    if view.previous is None:
        return set()
    shot = max((c for c in view.previous.cuts if c < view.clip.start), default=0)
    return {o.label for o in view.previous.objects if o.end > shot + presence.NEAR and _clear(o)}


def _shown(
    shot: presence.Shot, here: Sequence[ObjectSeen], told: set[str], used: set[str], faces: Sequence[FaceTrack], language: str
) -> Iterable[CandidateSentence]:
    """List the objects of a shot, once."""
    listed = [o for o in here if o.start <= shot.start + SHOT_NEAR or o.label not in STIRRING]
    if pictured := [o for o in listed if o.label in PICTURED and any(f.start < o.end and f.end > o.start for f in faces)]:
        listed = [o for o in listed if o not in pictured]
        if fresh := [o for o in pictured if o.label not in told]:
            what = named(fresh[0].label, 1, language)
            told.update(o.label for o in pictured)
            yield CandidateSentence(shot.start, shot.end, say("pictured", language, what=what), "object", 2, entities=(fresh[0].label,))
    counts = {
        label: presence.most_at_once([o for o in listed if o.label == label])
        for label in dict.fromkeys(o.label for o in listed)
        if label not in told and label not in used and label not in WORN
    }
    told.update(counts)
    if counts:
        where = "_outdoors" if OUTDOORS & counts.keys() else "_indoors" if INDOORS & counts.keys() else ""
        line = say("things" + where, language, what=counted(counts, language))
        yield CandidateSentence(shot.start, shot.end, line, "object", 2, entities=tuple(counts))


def _comings(shot: presence.Shot, here: Sequence[ObjectSeen], told: set[str], used: set[str], language: str) -> Iterable[CandidateSentence]:
    for thing in here:
        if thing.label not in STIRRING or thing.label in used or thing.label in WORN:
            continue
        what = named(thing.label, 1, language)
        if thing.start > shot.start + SHOT_NEAR and thing.label not in told:
            told.add(thing.label)
            line = say("thing_enters", language, what=what)
            yield CandidateSentence(thing.start, thing.end, line, "object", 2, entities=(thing.label,))


def _handled(
    seen: Sequence[ObjectSeen], faces: Sequence[FaceTrack], before: set[str], start: int, language: str
) -> Iterable[CandidateSentence]:
    """Describe what somebody holds or wears: an object right below exactly one face."""
    done: set[tuple[str, int]] = set()
    for thing in seen:
        if thing.label not in HELD | WORN or (thing.label in before and thing.start <= start + presence.NEAR):
            continue
        near = {f.cluster: f for f in faces if f.start < thing.end and f.end > thing.start and _below(thing, _box_at(f, thing))}
        if len(near) != 1:
            continue
        face = next(iter(near.values()))
        if (thing.label, face.cluster) in done:
            continue
        done.add((thing.label, face.cluster))
        who = [Who((face.id,))]
        if thing.label in WORN:
            line = say(f"wears_{thing.label}", language, who=who)
        else:
            line = say("with", language, who=who, what=named(thing.label, 1, language))
        yield CandidateSentence(thing.start, thing.end, line, "object", 2, entities=(thing.label,))


def _box_at(face: FaceTrack, thing: ObjectSeen) -> TimedBox:
    middle = (max(face.start, thing.start) + min(face.end, thing.end)) // 2
    return min(face.boxes, key=lambda b: (abs(b.at - middle), b.at))


def _below(thing: ObjectSeen, face: TimedBox) -> bool:
    """Return whether a thing lies in reach below a face: within one face width beside it and three face heights below the chin.

    A tie's top is at the collar, so closer: half a width beside and one height below.
    """
    x, y, width, height = thing.box
    reach, depth = (0.5, 1.0) if thing.label in WORN else (1.0, 3.0)
    middle_x, middle_y = x + width / 2, y + height / 2
    beside = face.x - reach * face.width < middle_x < face.x + (1 + reach) * face.width
    if thing.label in WORN:
        return beside and face.y + 0.7 * face.height < y < face.y + (1 + depth) * face.height
    small = width < 3.5 * face.width and height < 3.5 * face.height
    return beside and small and face.y + 0.6 * face.height < middle_y < face.y + (1 + depth) * face.height


def _faceless(view: ClipView, language: str) -> list[CandidateSentence]:
    """Count, shot by shot, the people in view whose faces can't be read: bodies without a face in them; a single one with their place.

    What was told of a clip is not told again.
    """
    p = view.perceived
    width, height = presence.picture_size(view.source, p)
    found: list[CandidateSentence] = []
    told: set[str] = set()
    for shot in presence.shots(view.clip, p.cuts):
        faces = any(f.start < shot.end - presence.SHORTEST and f.end > shot.start + presence.SHORTEST for f in p.faces)
        bodies = [o for o in p.objects if o.label == "person" and shot.start <= o.start < shot.end and _is_body(o, shot, beside=faces)]
        alone = [o for o in bodies if not any(_within(f, o) for f in p.faces)]
        if not alone:
            continue
        count = presence.most_at_once(alone)
        key = ("another" if faces else "faceless") + ("_one" if count == 1 else "")
        if count > 1 and not faces and max(o.box[3] for o in alone) < SMALL * height:
            key = "faceless_some"
        start, end = min(o.start for o in alone), max(o.end for o in alone)
        if not faces and key != "faceless_some" and start > shot.start + SHOT_NEAR:
            key += "_enters"
        where = _where(alone[0], width, height, language) if len(alone) == 1 else ""
        line = say(key, language, count=number(count, language), where=where)
        if line.text not in told:
            told.add(line.text)
            found.append(CandidateSentence(start, end, line, "object", 2 if faces else 1, entities=("person",)))
    return found


def _where(body: ObjectSeen, width: float, height: float, language: str) -> str:
    """Return where in the picture somebody is who does not stay long, and whether far away."""
    if body.end - body.start > PASSING:
        return ""
    x, _, wide, high = body.box
    middle = (x + wide / 2) / width
    side = word("at_left" if middle < 0.4 else "at_right" if middle > 0.6 else "at_middle", language)
    return side + (word("distant", language) if high < SMALL * height else "")


def _is_body(thing: ObjectSeen, shot: presence.Shot, *, beside: bool) -> bool:
    """Return whether a person is surely there: for a while, or all of a short shot; `beside` read faces a coarse box needs more."""
    length = thing.end - thing.start
    if beside:
        return thing.score >= 0.65 and (length >= 4 * MICROSECOND or (thing.score >= 0.75 and length >= 0.9 * (shot.end - shot.start)))
    return thing.score >= BODY and (length >= LASTING or (length >= MICROSECOND and length >= 0.9 * (shot.end - shot.start)))


def _within(face: FaceTrack, body: ObjectSeen) -> bool:
    """Return whether a face is ever inside a body (a fifth wider and higher: its box is where it was clearest, and people move)."""
    x, y, width, height = body.box
    return any(
        x - 0.2 * width <= b.x + b.width / 2 <= x + 1.2 * width and y - 0.2 * height <= b.y + b.height / 2 <= y + height
        for b in face.boxes
        if body.start <= b.at <= body.end
    )
