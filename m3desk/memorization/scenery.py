"""What is in view besides faces: objects that appear, disappear, are held or worn, and people without a recognisable face."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from m3desk.domain.appearance import clothing_colour, going_way, of_a_person
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import FaceTrack, ObjectSeen, Perceived, TimedBox
from m3desk.domain.things import LASTING, PICTURED, SURE, WORN, clear, disputed, name_of, with_face, within
from m3desk.memorization import presence
from m3desk.memorization.candidates import CandidateSentence
from m3desk.memorization.phrases import FilledPhrase, Who, dressed, say, word
from m3desk.memorization.things import HELD, counted, named, number
from m3desk.ports import ClipView

MANY = 4
"""People at once from which their least number is told where they are small."""

BODY = 0.6
"""Score of a body that counts as a person in view."""

SHOT_NEAR = 2 * MICROSECOND
"""Objects are detected about every second: this near a cut counts as at the cut."""

STIRRING = HELD | {"bird", "cat", "dog", "horse", "cow", "elephant", "bear", "zebra", "giraffe", "backpack", "bicycle", "motorcycle"}
"""What comes and goes. A chair or a parked car that comes into view was only found late."""


DIM = 0.08
"""Brightness of a picture, 0–1, below which no things are told: detectors learnt from pictures with light."""

SMALL = 0.35
"""Of the picture's height: where the tallest body is smaller, there are more people than are found, so they are not counted."""

OUTDOORS = frozenset({"car", "bus", "truck", "train", "motorcycle", "traffic light", "stop sign", "fire hydrant", "parking meter"})
INDOORS = frozenset({"tv", "keyboard", "microwave", "oven", "refrigerator", "bed", "sink", "toilet", "couch", "laptop"})
"""Things that say where a scene is."""

PASSING = 8 * MICROSECOND
"""Somebody in view for longer may have moved: the box is of one moment, so their place is not told."""


def things(view: ClipView, language: str) -> list[CandidateSentence]:
    """Return candidate sentences about objects and about people without a readable face."""
    p = view.perceived
    shots = presence.shots(view.clip, p.cuts)
    seen, told = _seen(p), _still_there(view)
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


def _seen(p: Perceived) -> list[ObjectSeen]:
    """Return the things of a clip that are sure enough to be told, in order of start."""
    kept = [] if p.scene.get("brightness", 1.0) < DIM else [o for o in p.objects if o.label != "person" and not of_a_person(o.label)]
    sure = (o for o in kept if clear(o) and not disputed(o, kept) and not with_face(o, p.faces))
    return sorted(sure, key=lambda o: (o.start, o.label, o.box))


def _still_there(view: ClipView) -> set[str]:
    """Return what was told of the shot that the clip before ended with: what somebody stands before now is there again later."""
    if view.previous is None or _begins_with_cut(view):
        return set()
    shot = _last_shot(view.previous, view.clip.start)
    return {name_of(o) for o in _seen(view.previous) if o.end > shot + presence.NEAR}


def _begins_with_cut(view: ClipView) -> bool:
    return any(abs(c - view.clip.start) < MICROSECOND // 5 for c in view.perceived.cuts)


def _last_shot(p: Perceived, end: int) -> int:
    """Return when the shot began that is on show at the end of a clip; 0 for one without cuts."""
    return max((c for c in p.cuts if c < end), default=0)


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
    names = [(name_of(o), o) for o in listed]
    counts = {
        label: presence.most_at_once([o for n, o in names if n == label])
        for label in dict.fromkeys(n for n, _ in names)
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
    """Count, shot by shot, the people in view whose faces can't be read: bodies without a face in them; one at a time with their place.

    What was told of a clip is not told again; that somebody comes into view only of the first in a shot, for they may have been lost.
    """
    p = view.perceived
    size = presence.picture_size(view.source, p)
    known: set[str] = set()
    if view.previous is not None and not _begins_with_cut(view):
        known = set(_at_end(view.previous, view.clip.start, size, language))
    found: list[CandidateSentence] = []
    told: set[str] = set()
    for shot in presence.shots(view.clip, p.cuts):
        faces, alone = _without_face(p, shot)
        if not alone:
            continue
        if faces or presence.most_at_once(alone) > 1:
            here = [_several(alone, faces, shot, p, size, language, known)]
        else:
            here = [*_one_by_one(alone, shot, p, size, language, known)]
        for one in (*here, *(goes for body in alone if not faces for goes in _goes(body, p.objects, language))):
            if one.line.text not in told:
                told |= set() if one.known else {one.line.text}
                found.append(one)
    return found


def _several(
    alone: Sequence[ObjectSeen], faces: bool, shot: presence.Shot, p: Perceived, size: tuple[float, float], language: str, known: set[str]
) -> CandidateSentence:
    """Tell of bodies that are there at once, or beside people with faces. `known`: what was told of the end of the clip before."""
    start, end = min(o.start for o in alone), max(o.end for o in alone)
    line = _counted(alone, faces, p, size, language, enters=not faces and start > shot.start + SHOT_NEAR)
    already = shot.first and line.text in known
    return CandidateSentence(start, end, line, "object", 2 if faces else 1, entities=("person",), known=already)


def _one_by_one(
    alone: Sequence[ObjectSeen], shot: presence.Shot, p: Perceived, size: tuple[float, float], language: str, known: set[str]
) -> Iterable[CandidateSentence]:
    """Tell of bodies of which never two are there at once, visit by visit. `known`: what was told of the end of the clip before."""
    for n, visit in enumerate(_visits(alone)):
        stays = shot.first and visit[0].start <= shot.start + presence.NEAR
        enters = n == 0 and visit[0].start > shot.start + SHOT_NEAR
        already = stays and _one(visit, p, None, language, enters=enters).text in known
        line = _one(visit, p, size, language, enters=enters)
        yield CandidateSentence(visit[0].start, visit[-1].end, line, "object", 1, entities=("person",), known=already)


def _without_face(p: Perceived, shot: presence.Shot) -> tuple[bool, list[ObjectSeen]]:
    """Return whether faces are in view in a shot, and the bodies without one in order of start."""
    faces = any(f.start < shot.end - presence.SHORTEST and f.end > shot.start + presence.SHORTEST for f in p.faces)
    bodies = [o for o in p.objects if o.label == "person" and shot.start <= o.start < shot.end and _is_body(o, shot, beside=faces)]
    return faces, sorted((o for o in bodies if not any(within(f, o) for f in p.faces)), key=lambda o: (o.start, o.end, o.box))


def _at_end(p: Perceived, end: int, size: tuple[float, float], language: str) -> Iterable[str]:
    """Yield what is told of the bodies that are in view at the end of a clip, as it would be told of the start of the next one."""
    shot = presence.Shot(_last_shot(p, end), end, first=True)
    faces, alone = _without_face(p, shot)
    there = [o for o in alone if o.end >= end - presence.CUT_GAP]
    if there and (faces or presence.most_at_once(alone) > 1):
        yield _counted(alone, faces, p, size, language, enters=False).text
    if there and not faces:
        stay = there[-1]
        worn = _dressed(stay, p.objects, language)
        yield from (say("faceless_one", language, how=how).text for how in {"", worn})


def _visits(bodies: Sequence[ObjectSeen]) -> list[list[ObjectSeen]]:
    """Return bodies, of which never two are there at once, as visits: somebody lost for less than BLINK did not leave."""
    visits: list[list[ObjectSeen]] = []
    for body in bodies:
        if visits and body.start - max(o.end for o in visits[-1]) < presence.BLINK:
            visits[-1].append(body)
        else:
            visits.append([body])
    return visits


def _one(visit: Sequence[ObjectSeen], p: Perceived, size: tuple[float, float] | None, language: str, *, enters: bool) -> FilledPhrase:
    """Return the sentence about somebody who is alone in view. `size`: the picture's, to tell where they are; None: that is not told."""
    where = _where(visit[0], *size, language) if size and len(visit) == 1 else ""
    worn = {d for o in visit if (d := _dressed(o, p.objects, language))}
    return say("faceless_one" + "_enters" * enters, language, where=where, how=worn.pop() if len(worn) == 1 else "")


def _counted(
    alone: Sequence[ObjectSeen], faces: bool, p: Perceived, size: tuple[float, float], language: str, *, enters: bool
) -> FilledPhrase:
    """Return the sentence about several people at once, or about one beside people with faces."""
    count = presence.most_at_once(alone)
    key = ("another" if faces else "faceless") + ("_one" if count == 1 else "")
    if count > 1 and not faces and max(o.box[3] for o in alone) < SMALL * size[1]:
        count = presence.most_at_once([o for o in alone if o.score >= SURE])
        key = "faceless_many" if count >= MANY else "faceless_some"
    elif enters:
        key += "_enters"
    single = len(alone) == 1
    where = _where(alone[0], *size, language) if single else ""
    how = _dressed(alone[0], p.objects, language) if single else ""
    return say(key, language, count=number(count, language), where=where, how=how)


def _goes(body: ObjectSeen, objects: Sequence[ObjectSeen], language: str) -> Iterable[CandidateSentence]:
    """Tell where somebody goes who is the only one in view."""
    for thing in objects:
        way = going_way(thing.label)
        if way and (thing.start, thing.end) == (body.start, body.end) and thing.box == body.box:
            line = say("goes_" + way.replace(" ", "_"), language, how=_dressed(body, objects, language))
            start = body.end - MICROSECOND if way.startswith("out") else body.start
            yield CandidateSentence(max(body.start, start), body.end, line, "leaves" if way.startswith("out") else "moves", 2)


def _dressed(body: ObjectSeen, objects: Sequence[ObjectSeen], language: str) -> str:
    """Return in which colour somebody is dressed whose face can't be read, as words for a sentence about them."""
    x, y, w, h = body.box
    for thing in objects:
        colour = clothing_colour(thing.label)
        if colour and (thing.start, thing.end) == (body.start, body.end):
            left, top, width, height = thing.box
            if abs(left + width / 2 - (x + w / 2)) < 0.1 * w and y < top and top + height < y + h:
                return dressed(colour, language)
    return ""


def _where(body: ObjectSeen, width: float, height: float, language: str) -> str:
    """Return where in the picture somebody is who does not stay long, and whether far away."""
    if body.end - body.start > PASSING:
        return ""
    side = word(f"at_{presence.place(TimedBox(body.start, *body.box), width)}", language)
    return side + (word("distant", language) if body.box[3] < SMALL * height else "")


def _is_body(thing: ObjectSeen, shot: presence.Shot, *, beside: bool) -> bool:
    """Return whether a person is surely there: for a while, or all of a short shot; `beside` read faces a coarse box needs more."""
    length = thing.end - thing.start
    if beside:
        return thing.score >= 0.65 and (length >= 4 * MICROSECOND or (thing.score >= 0.75 and length >= 0.9 * (shot.end - shot.start)))
    return thing.score >= BODY and (length >= LASTING or (length >= MICROSECOND and length >= 0.9 * (shot.end - shot.start)))
