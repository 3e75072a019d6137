"""What is in view besides faces: objects that appear, disappear, are held or worn, and people without a recognisable face."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import FaceTrack, ObjectSeen, TimedBox
from m3desk.memorization import presence
from m3desk.memorization.phrases import FilledPhrase, Who, say
from m3desk.memorization.things import HELD, WORN, counted, named, number
from m3desk.ports import ClipView

SURE = 0.55
VERY_SURE = 0.75
LASTING = 3 * MICROSECOND // 2

SHOT_NEAR = 2 * MICROSECOND
"""Objects are detected about every second: this near a cut counts as at the cut."""

STIRRING = HELD | {"bird", "cat", "dog", "horse", "cow", "elephant", "bear", "zebra", "giraffe", "backpack", "bicycle", "motorcycle"}
"""What comes and goes. A chair or a parked car that comes into view was only found late."""


@dataclass(frozen=True, slots=True)
class ObjectSentence:
    """A candidate sentence about objects in view (see compose.Item)."""

    start: int
    end: int
    line: FilledPhrase
    rank: int
    entities: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()


def things(view: ClipView, language: str) -> list[ObjectSentence]:
    """Return candidate sentences about objects and about people without a readable face."""
    p = view.perceived
    shots = presence.shots(view.clip, p.cuts)
    seen = sorted((o for o in p.objects if o.label != "person" and _clear(o)), key=lambda o: (o.start, o.label, o.box))
    told = _still_there(view) if not any(abs(c - view.clip.start) < MICROSECOND // 5 for c in p.cuts) else set()
    found: list[ObjectSentence] = []
    used: set[str] = set()
    for handled in _handled(seen, p.faces, told, view.clip.start, language):
        used.update(handled.entities)
        found.append(handled)
    for shot in shots:
        here = [o for o in seen if shot.start <= o.start < shot.end]
        found += _shown(shot, here, told, used, view, language)
        found += _comings_and_goings(shot, here, told, used, language)
    return found + _faceless(view, language)


def _clear(thing: ObjectSeen) -> bool:
    return thing.score >= VERY_SURE or (thing.score >= SURE and thing.end - thing.start >= LASTING)


def _still_there(view: ClipView) -> set[str]:
    """Return the labels that the clip before ended with."""
    if view.previous is None:
        return set()
    return {o.label for o in view.previous.objects if o.end >= view.clip.start - 3 * MICROSECOND and _clear(o)}


def _shown(
    shot: presence.Shot, here: Sequence[ObjectSeen], told: set[str], used: set[str], view: ClipView, language: str
) -> Iterable[ObjectSentence]:
    """List the objects of a shot, once; say so if it has no face."""
    listed = [o for o in here if o.start <= shot.start + SHOT_NEAR or o.label not in STIRRING]
    counts = {
        label: presence.most_at_once([o for o in listed if o.label == label])
        for label in dict.fromkeys(o.label for o in listed)
        if label not in told and label not in used
    }
    told.update(counts)
    end = shot.end
    faces = any(f.start < shot.end - presence.SHORTEST and f.end > shot.start + presence.SHORTEST for f in view.perceived.faces)
    people = any(o.label == "person" and o.start < shot.end and o.end > shot.start for o in view.perceived.objects)
    bare = not shot.first and not faces and not people and shot.end - shot.start >= 2 * MICROSECOND
    if counts:
        key = "cut_things" if bare else "things"
        yield ObjectSentence(shot.start, end, say(key, language, what=counted(counts, language)), 2, tuple(counts))
    elif bare:
        yield ObjectSentence(shot.start, end, say("cut_nobody", language), 2)


def _comings_and_goings(
    shot: presence.Shot, here: Sequence[ObjectSeen], told: set[str], used: set[str], language: str
) -> Iterable[ObjectSentence]:
    for thing in here:
        if thing.label not in STIRRING or thing.label in used:
            continue
        what = named(thing.label, 1, language)
        if thing.start > shot.start + SHOT_NEAR and thing.label not in told:
            told.add(thing.label)
            yield ObjectSentence(thing.start, thing.end, say("thing_enters", language, what=what), 2, (thing.label,))
        again = any(o.label == thing.label and o.start >= thing.end - MICROSECOND for o in here)
        if thing.end < shot.end - 3 * MICROSECOND and thing.end - thing.start >= 4 * MICROSECOND and not again:
            yield ObjectSentence(thing.end, thing.end, say("thing_leaves", language, what=what), 3, (thing.label,))


def _handled(
    seen: Sequence[ObjectSeen], faces: Sequence[FaceTrack], before: set[str], start: int, language: str
) -> Iterable[ObjectSentence]:
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
        yield ObjectSentence(thing.start, thing.end, line, 2, (thing.label,))


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


def _faceless(view: ClipView, language: str) -> list[ObjectSentence]:
    """Count the people in view whose faces can't be read: bodies without a face in them."""
    p = view.perceived
    bodies = [o for o in p.objects if o.label == "person" and o.score >= SURE and o.end - o.start >= LASTING]
    alone = [o for o in bodies if not any(_within(f, o) for f in p.faces)]
    if p.faces:  # a body is a coarse box: next to read faces only what stays for long counts
        alone = [o for o in alone if o.end - o.start >= 4 * MICROSECOND and o.score >= 0.65]
    if not alone:
        return []
    count = presence.most_at_once(alone)
    key = ("another" if p.faces else "faceless") + ("_one" if count == 1 else "")
    start, end = min(o.start for o in alone), max(o.end for o in alone)
    if not p.faces and all(start > at + SHOT_NEAR or start < at for at in (view.clip.start, *p.cuts)):
        key += "_enters"
    return [ObjectSentence(start, end, say(key, language, count=number(count, language)), 2 if p.faces else 0, ("person",))]


def _within(face: FaceTrack, body: ObjectSeen) -> bool:
    """Return whether a face is ever inside a body (a fifth wider and higher: its box is where it was clearest, and people move)."""
    x, y, width, height = body.box
    return any(
        x - 0.2 * width <= b.x + b.width / 2 <= x + 1.2 * width and y - 0.2 * height <= b.y + b.height / 2 <= y + height
        for b in face.boxes
        if body.start <= b.at <= body.end
    )
