"""Sentences about who is in view: who comes, stays, returns and goes, how they look, who listens, how they move.

A cut by itself is not told: who comes into view is told with what they do there (speak, wear, stand beside somebody), and people of
whom nothing but their face is known share a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from m3desk.domain.appearance import GLASSES, RAISED_HAND, beside_head, chest_below, clothing_colour
from m3desk.domain.clip import MICROSECOND, clock
from m3desk.domain.equivalence import SUFFICIENT
from m3desk.domain.evidence import FaceTrack, ObjectSeen, Utterance
from m3desk.domain.geometry import share_of_smaller
from m3desk.domain.memory import Vote
from m3desk.memorization import mouths, presence
from m3desk.memorization.candidates import CandidateSentence
from m3desk.memorization.phrases import Who, clothes, say, word
from m3desk.memorization.presence import Shot, Stay
from m3desk.memorization.things import number
from m3desk.ports import ClipView, Cluster

AWAY = 8 * MICROSECOND
"""Somebody out of view for less than this within a clip is shown alternately, which is told once, not at every cut."""

LASTING = 8 * MICROSECOND
"""Somebody who goes on from the clip before is told as still there from this length on, or if they stay to the end."""

LISTENING = 2.0
"""Seconds that one speaks while another one in view, or shown instead, keeps silent."""


@dataclass(slots=True)
class _Scene:
    """What is told of a clip's people, and what is needed for it. `voice`: cluster of a face → that of its voice, where it is sure."""

    view: ClipView
    language: str
    width: float
    height: float
    stays: Sequence[Stay]
    voice: Mapping[int, int]
    wears: Mapping[int, str]
    gone: dict[int, int] = field(default_factory=dict)
    dressed: set[int] = field(default_factory=set)
    bare: list[Stay] = field(default_factory=list)
    alternating: list[Stay] = field(default_factory=list)


def people(view: ClipView, language: str, votes: Sequence[Vote]) -> list[CandidateSentence]:
    """Return the candidate sentences about a clip's people. `votes`: of the clip, who may be linked by them (`speaking.votes`)."""
    p = view.perceived
    shots = presence.shots(view.clip, p.cuts)
    edges = [s.start for s in shots]
    stays = presence.stays(p, edges)
    width, height = presence.picture_size(view.source, p)
    scene = _Scene(view, language, width, height, stays, _voices(view, votes), _clothes(view))
    items: list[CandidateSentence] = []
    for shot in shots:
        came = [s for s in stays if shot.start <= s.start < shot.end]
        at_once = [s for s in came if s.start <= shot.start + presence.NEAR]
        items += _arrivals(scene, shot, at_once)
        for stay in came:
            if stay not in at_once:
                items += _enters(scene, stay)
            scene.gone[stay.cluster] = max(scene.gone.get(stay.cluster, 0), stay.end)
    items += _in_turn(scene)
    items += _bare(scene)
    items += _alternates(scene)
    items += _dressed(scene)
    items += _glasses(scene)
    items += _listeners(scene, votes)
    items += _gestures(scene)
    moved = [(s, m) for s in stays for part in presence.within_shots(s, edges) for m in presence.moves(part, width, height)]
    items += _departures(scene, edges, moved)
    items += _movements(scene, moved)
    return items


def _voices(view: ClipView, votes: Sequence[Vote]) -> dict[int, int]:
    """Return the voice of each face that one clip's evidence links by itself."""
    clusters = {f.id: f.cluster for f in view.perceived.faces} | {u.id: u.cluster for u in view.perceived.utterances}
    return {clusters[v.a]: clusters[v.b] for v in votes if v.weight >= SUFFICIENT and v.a in clusters and v.b in clusters}


def _clothes(view: ClipView) -> dict[int, str]:
    """Return the plain colour that each face's owner wears in all of the clip; none where looks contradict each other."""
    found: dict[int, set[str]] = {}
    for thing in view.perceived.objects:
        colour = clothing_colour(thing.label)
        face = _owner(thing, view.perceived.faces) if colour else None
        if colour and face:
            found.setdefault(face.cluster, set()).add(colour)
    return {cluster: colours.pop() for cluster, colours in found.items() if len(colours) == 1}


def _owner(thing: ObjectSeen, faces: Sequence[FaceTrack]) -> FaceTrack | None:
    """Return the face under which clothes were seen: the track of the same time whose column they stand in."""
    for face in faces:
        if face.start == thing.start and face.end == thing.end:
            for b in face.boxes:
                if share_of_smaller(chest_below(b.box), thing.box) >= 0.9:
                    return face
    return None


# ---------------------------------------------------------------- who comes


def _arrivals(scene: _Scene, shot: Shot, came: Sequence[Stay]) -> Iterable[CandidateSentence]:
    """Describe who is in view when a shot begins: those who stayed over the clip's border, those who are back, those who are new."""
    view, language = scene.view, scene.language
    groups: dict[tuple[str, int | None], list[Stay]] = {}
    for stay in came:
        groups.setdefault(_past(scene, stay), []).append(stay)
    for (past, last), stays in groups.items():
        whole = all(s.end - s.start >= 0.9 * (view.clip.end - view.clip.start) for s in stays)
        who = _who(stays, scene.width)
        start, end = min(s.start for s in stays), max(s.end for s in stays)
        if past == "stays":
            if end - start < LASTING and end < view.clip.end - MICROSECOND:
                continue  # the end of a scene that the clip before has told
            line = say("throughout_still" if whole else "still", language, who=who)
            yield CandidateSentence(start, end, line, "present", 2, filler=True)
        elif past == "back" and last is not None and any(_in_clip(scene, s) for s in stays) and start - last < AWAY:
            scene.alternating += stays
        elif past in ("back", "known"):
            how = _how(scene, stays, came)
            line = say("returns" if past == "back" else "known", language, who=who, when=clock(last or 0), how=how)
            yield CandidateSentence(start, end, line, "returns", 0)
        elif len(stays) > 3:
            key = "crowd" if len(stays) > MOST_NAMED else "many"
            line = say(key, language, who=who[:MOST_NAMED], count=number(len(stays), language))
            yield CandidateSentence(start, end, line, "appears", 0)
        elif len(stays) > 1:
            line = say("throughout" if whole else "together", language, who=who)
            yield CandidateSentence(start, end, line, "appears", 0)
        elif (how := _how(scene, stays, came)) and (whole or _opens(scene, shot) or not _framed_only(scene, stays[0], how)):
            key = "throughout" if whole else "from_start" if _opens(scene, shot) else "seen"
            yield CandidateSentence(start, end, say(key, language, who=who, how=how), "appears", 0)
        elif whole:
            yield CandidateSentence(start, end, say("throughout", language, who=who, how=""), "appears", 0)
        else:
            scene.bare += stays


def _in_clip(scene: _Scene, stay: Stay) -> bool:
    return stay.cluster in scene.gone


def _past(scene: _Scene, stay: Stay) -> tuple[str, int | None]:
    """Return whether a stay is somebody who "stays" over the clip's start, is "back" (and since when), "known" or "new"."""
    view = scene.view
    if stay.cluster in scene.gone:
        return "back", scene.gone[stay.cluster]
    cluster = _cluster(view, stay.observations)
    last = cluster.last_seen if cluster else None
    at_border = stay.start <= view.clip.start + presence.NEAR
    if at_border and (any(t.continues for t in stay.tracks) or (last is not None and last >= view.clip.start - presence.CUT_GAP)):
        return "stays", None
    if last is not None:
        return "back", last
    return ("known" if cluster and cluster.seen_before else "new"), None


def _cluster(view: ClipView, observations: Sequence[str]) -> Cluster | None:
    return next((c for c in view.clusters if any(o in c.observations for o in observations)), None)


def _told_of(scene: _Scene, stay: Stay, label: str) -> bool:
    """Return whether somebody was in view before, so that what they wear was told then.

    Who was in view right before: only if it was seen there, or if they were in view for longer than that clip.
    """
    if on := {t.continues for t in stay.tracks if t.continues}:
        before = scene.view.previous
        if before is None:
            return False
        return any(o.label == label for o in before.objects) or any(f.continues for f in before.faces if f.id in on)
    cluster = _cluster(scene.view, stay.observations)
    return cluster is not None and cluster.seen_before


def _who(stays: Sequence[Stay], width: float) -> list[Who]:
    """Return the people of some stays from left to right, with their places where these tell them apart."""
    ordered = sorted(stays, key=lambda s: s.boxes[0].x + s.boxes[0].width / 2)
    places = [presence.place(s.boxes[0], width) for s in ordered]
    told = 1 < len(set(places)) == len(places)
    return [Who(s.observations, where if told else None) for s, where in zip(ordered, places, strict=True)]


def _how(scene: _Scene, stays: Sequence[Stay], came: Sequence[Stay]) -> str:
    """Return how one person is seen, "" for several: alone, near or far, in clothes of which colour, and whether they speak."""
    if len(stays) != 1:
        return ""
    stay, language = stays[0], scene.language
    parts = []
    if len(came) == 1 and _alone(scene, stay):
        parts.append(word("alone", language))
    parts.append(_distance(scene, stay))
    if (colour := scene.wears.get(stay.cluster)) and stay.cluster not in scene.dressed:
        scene.dressed.add(stay.cluster)
        parts.append(clothes(colour, language))
    if _speaks(scene, stay):
        parts.append(word("speaks", language))
    return "".join(parts)


def _distance(scene: _Scene, stay: Stay) -> str:
    distance = presence.distance(stay, scene.height)
    return word(distance, scene.language) if distance else ""


def _opens(scene: _Scene, shot: Shot) -> bool:
    """Return whether a shot is the first of its source."""
    return shot.first and scene.view.clip.index == 0


def _framed_only(scene: _Scene, stay: Stay, how: str) -> bool:
    """Return whether `how` somebody is seen tells of the picture only: alone, near or far. The next cut may say the same of another."""
    return how.removeprefix(word("alone", scene.language)) in ("", _distance(scene, stay))


def _alone(scene: _Scene, stay: Stay) -> bool:
    """Return whether nobody else is in view during a stay: one face, one body, and framed as one is alone, in the middle.

    Who stands at the side mostly has somebody opposite, perhaps from behind, whom no detector finds.
    """
    middles = sorted((b.x + b.width / 2) / scene.width for b in stay.boxes)
    if not 0.35 <= middles[len(middles) // 2] <= 0.65:
        return False
    if any(s is not stay and s.start < stay.end and s.end > stay.start for s in scene.stays):
        return False
    bodies = [o for o in scene.view.perceived.objects if o.label == "person" and o.start < stay.end and o.end > stay.start]
    return len(bodies) == 1


def _speaks(scene: _Scene, stay: Stay) -> bool:
    voice = scene.voice.get(stay.cluster)
    return voice is not None and any(
        u.cluster == voice and min(u.end, stay.end) - max(u.start, stay.start) > MICROSECOND // 2 for u in scene.view.perceived.utterances
    )


def _enters(scene: _Scene, stay: Stay) -> Iterable[CandidateSentence]:
    """Describe a person who comes into view in the middle of a shot, and whom they join."""
    language, who = scene.language, [Who(stay.observations)]
    past, last = _past(scene, stay)
    there = [s for s in scene.stays if s.cluster != stay.cluster and _already_there(s, stay)]
    if past == "back" and last is not None and _in_clip(scene, stay) and stay.start - last < AWAY:
        yield CandidateSentence(stay.start, stay.end, say("turns_back", language, who=who), "returns", 3)
    elif past == "back":
        line = say("returns", language, who=who, when=clock(last or 0), how=_how(scene, [stay], [stay]))
        yield CandidateSentence(stay.start, stay.end, line, "returns", 1)
    elif past == "known":
        line = say("known", language, who=who, how=_how(scene, [stay], [stay]))
        yield CandidateSentence(stay.start, stay.end, line, "returns", 0)
    elif not presence.comes_in(stay, scene.width):
        # Somebody who was there turned to the camera, or was found late; they are told with what they do.
        scene.bare.append(stay)
    elif there and len(there) <= 3:
        line = say("joins", language, who=who, others=[Who(s.observations) for s in there])
        yield CandidateSentence(stay.start, stay.end, line, "appears", 0)
    else:
        line = say("appears", language, who=who, how=_how(scene, [stay], [stay]))
        yield CandidateSentence(stay.start, stay.end, line, "appears", 0)


def _already_there(there: Stay, stay: Stay) -> bool:
    return there.start < stay.start - presence.NEAR and there.end > stay.start + presence.NEAR


IN_TURN = (3, 8)
"""Fewest and most people, each alone in view, of whom is told that they follow one another."""


def _in_turn(scene: _Scene) -> Iterable[CandidateSentence]:
    """Tell of people of whom each is alone in view that they are shown one after another, and whether each of them speaks."""
    runs: list[list[Stay]] = [[]]
    for stay in scene.stays:
        if runs[-1] and not runs[-1][-1].end - presence.NEAR <= stay.start < runs[-1][-1].end + presence.CUT_GAP:
            runs.append([])
        if stay.quality >= presence.CLEAR and not any(presence.together(stay, o) for o in scene.stays if o is not stay):
            runs[-1].append(stay)
        else:
            runs.append([])
    for run in runs:
        clusters = list(dict.fromkeys(s.cluster for s in run))
        if IN_TURN[0] <= len(clusters) <= IN_TURN[1]:
            who = [Who(tuple(o for s in run if s.cluster == c for o in s.observations)) for c in clusters]
            speak = all(any(_speaks(scene, s) for s in run if s.cluster == c) for c in clusters)
            count = number(len(clusters), scene.language)
            line = say("in_turn" if speak else "one_after_another", scene.language, who=who, count=count)
            yield CandidateSentence(run[0].start, run[-1].end, line, "shown", 1)
            scene.bare = [b for b in scene.bare if b not in run]


MOST_NAMED = 6
"""Of more people than this a sentence says how many, and who these first ones are."""


def _bare(scene: _Scene) -> Iterable[CandidateSentence]:
    """Tell together of whom nothing but the face is known; a single one for how long, unless another sentence speaks of them."""
    stays, language = scene.bare, scene.language
    if not stays:
        return
    who = [Who(s.observations) for s in stays[:MOST_NAMED]]
    start, end = min(s.start for s in stays), max(s.end for s in stays)
    if len(stays) == 1:
        seconds = (end - start) // MICROSECOND
        if seconds >= 2:
            how = word("alone", language) if _alone(scene, stays[0]) else ""
            line = say("seen_for", language, who=who, how=how, count=str(seconds))
            yield CandidateSentence(start, end, line, "appears", 1, filler=True)
    else:
        at_once = any(min(a.end, b.end) - max(a.start, b.start) > presence.NEAR for a, b in combinations(stays, 2))
        shown = ("seen_in_all", "many_in_all") if at_once else ("one_after_another", "many_after_another")
        line = say(shown[len(stays) > MOST_NAMED], language, who=who, count=number(len(stays), language))
        yield CandidateSentence(start, end, line, "shown", 0)


def _alternates(scene: _Scene) -> Iterable[CandidateSentence]:
    """Tell once that the picture goes back and forth between people."""
    back = {s.cluster for s in scene.alternating}
    if not back:
        return
    first = min(s.start for s in scene.alternating)
    shown = [s for s in scene.stays if s.start >= first - AWAY]
    between = list(dict.fromkeys(s.cluster for s in shown if s.cluster in back or any(_takes_turns(s, b) for b in scene.alternating)))
    if not 2 <= len(between) <= 4:
        return
    who = [Who(tuple(dict.fromkeys(o for s in shown if s.cluster == c for o in s.observations))) for c in between]
    start, end = min(s.start for s in shown), max(s.end for s in shown)
    yield CandidateSentence(start, end, say("alternates", scene.language, who=who), "shown", 1)


def _takes_turns(stay: Stay, other: Stay) -> bool:
    """Return whether a stay ends where another one, of somebody else, begins."""
    return stay.cluster != other.cluster and abs(stay.end - other.start) < presence.CUT_GAP


# ---------------------------------------------------------------- how they look, and who listens


def _dressed(scene: _Scene) -> Iterable[CandidateSentence]:
    """Tell the plain colour of clothes where no sentence has it yet; people in the same colour share a sentence."""
    told = _told_before(scene)
    groups: list[tuple[str, list[Stay]]] = []
    for stay in scene.stays:
        colour = scene.wears.get(stay.cluster)
        if colour and stay.cluster not in scene.dressed and not (told and any(t.continues for t in stay.tracks)):
            scene.dressed.add(stay.cluster)
            home = next((g for c, g in groups if c == colour and g[0].start <= stay.start < g[0].end), None)
            if home is None:
                groups.append((colour, [stay]))
            else:
                home.append(stay)
    for colour, stays in groups:
        line = say("wears", scene.language, who=[Who(s.observations) for s in stays[:4]], what=clothes(colour, scene.language, bare=True))
        yield CandidateSentence(min(s.start for s in stays), max(s.end for s in stays), line, "object", 1, entities=(f"{colour} clothing",))


def _told_before(scene: _Scene) -> bool:
    """Return whether the clip before has clothes at its end: who goes on from there wears what was told there."""
    before = scene.view.previous
    return before is not None and any(clothing_colour(o.label) and _owner(o, before.faces) for o in before.objects)


def _glasses(scene: _Scene) -> Iterable[CandidateSentence]:
    """Tell who wears glasses, in one sentence; not of those who were seen before."""
    p = scene.view.perceived
    wearing = {
        f.cluster
        for thing in p.objects
        if thing.label == GLASSES
        for f in p.faces
        if f.start == thing.start and f.end == thing.end and share_of_smaller(f.boxes[0].box, thing.box) >= 0.9
    }
    stays: dict[int, Stay] = {}
    for s in scene.stays:
        if s.cluster in wearing and not _told_of(scene, s, GLASSES):
            stays.setdefault(s.cluster, s)
    if stays:
        shown = list(stays.values())[:6]
        line = say("wears_glasses", scene.language, who=[Who(s.observations) for s in shown])
        yield CandidateSentence(min(s.start for s in shown), max(s.end for s in shown), line, "object", 1, entities=(GLASSES,))


def _listeners(scene: _Scene, votes: Sequence[Vote]) -> Iterable[CandidateSentence]:
    """Tell who keeps silent while another speaks: beside the speaker with still lips, or shown alone with still lips."""
    p, language = scene.view.perceived, scene.language
    told: set[tuple[int, int]] = set()
    faces = _by_cluster(p.faces)
    said: dict[int, list[Utterance]] = {}
    for u in p.utterances:
        if not u.overlapped:
            said.setdefault(u.cluster, []).append(u)
    for speaker, voice in sorted(scene.voice.items()):
        for listener, tracks in sorted(faces.items()):
            if listener == speaker or listener in scene.voice or (listener, voice) in told:
                continue
            shared = _overlap(said.get(voice, ()), tracks)
            if shared >= LISTENING and mouths.state(said[voice], tracks) == "still":
                told.add((listener, voice))
                start, end = tracks[0].start, tracks[-1].end
                ids = tuple(t.id for t in tracks)
                line = say("listens", language, who=[Who(ids)], others=[Who(tuple(u.id for u in said[voice]))])
                yield CandidateSentence(start, end, line, "listens", 1)
    clusters = {f.id: f.cluster for f in p.faces} | {u.id: u.cluster for u in p.utterances}
    for vote in votes:
        if vote.weight >= 0 or vote.by != "mouth still" or vote.a not in clusters or vote.b not in clusters:
            continue
        face, voice = clusters[vote.a], clusters[vote.b]
        if (face, voice) not in told and voice not in scene.voice.values():
            told.add((face, voice))
            track = next(t for t in p.faces if t.id == vote.a)
            line = say("listens", language, who=[Who((track.id,))], others=[Who((vote.b,))])
            yield CandidateSentence(track.start, track.end, line, "listens", 1)


def _by_cluster(faces: Iterable[FaceTrack]) -> dict[int, list[FaceTrack]]:
    found: dict[int, list[FaceTrack]] = {}
    for face in sorted(faces, key=lambda f: (f.start, f.id)):
        found.setdefault(face.cluster, []).append(face)
    return found


def _overlap(said: Sequence[Utterance], tracks: Sequence[FaceTrack]) -> float:
    return sum(max(0, min(u.end, t.end) - max(u.start, t.start)) for u in said for t in tracks) / MICROSECOND


# ---------------------------------------------------------------- who goes, and how they move


def _departures(scene: _Scene, edges: Sequence[int], moved: Sequence[tuple[Stay, presence.FaceMovement]]) -> Iterable[CandidateSentence]:
    """Describe who goes out of view within a shot (a cut away, or the clip's end, is no departure), unless they rise out of it."""
    rise = {(s.cluster, s.end) for s, m in moved if m.kind == "rises_out" and s.end - m.end < MICROSECOND}
    for stay in scene.stays:
        if (stay.cluster, stay.end) in rise:
            continue
        cut = any(stay.end - presence.NEAR < e <= stay.end + presence.NEAR for e in edges)
        if cut or stay.end > scene.view.clip.end - MICROSECOND or stay.end - stay.start < 2 * MICROSECOND:
            continue
        side = presence.exit_side(stay, scene.width)
        if side is None:
            continue  # a face that is lost within the picture turned away, or was not found; nobody left
        line = say(f"leaves_{side}", scene.language, who=[Who((stay.tracks[-1].id,))])
        yield CandidateSentence(stay.end - MICROSECOND, stay.end, line, "leaves", 2)


RISING = ("rises", "rises_out")

SAT = 3 * MICROSECOND // 2
"""Who stands up was seen before for this long, level: they sat."""


def _movements(scene: _Scene, moved: Sequence[tuple[Stay, presence.FaceMovement]]) -> list[CandidateSentence]:
    """Describe movements; people who stand up together share a sentence."""
    found = sorted((m for _, m in moved), key=lambda m: (m.start, m.track.id))
    groups: list[list[presence.FaceMovement]] = []
    for move in found:
        home = next((g for g in groups if _at_once(g, move)), None)
        if home is None:
            groups.append([move])
        else:
            home.append(move)
    items = [*_sat(scene, moved)]
    for group in groups[:6]:
        one = group[0]
        origin, goal = (word(w, scene.language) if w else "" for w in (one.origin, one.goal))
        who = [Who((m.track.id,)) for m in group]
        line = say(one.kind, scene.language, who=who, origin=origin, goal=goal)
        items.append(CandidateSentence(one.start, max(m.end for m in group), line, "moves", 2))
    return items


def _sat(scene: _Scene, moved: Sequence[tuple[Stay, presence.FaceMovement]]) -> Iterable[CandidateSentence]:
    """Tell that those sat whose first movement is to stand up."""
    first: dict[int, tuple[Stay, presence.FaceMovement]] = {}
    for stay, move in sorted(moved, key=lambda sm: (sm[1].start, sm[1].track.id)):
        first.setdefault(stay.cluster, (stay, move))
    sat = [(s, m) for s, m in first.values() if m.kind in RISING and m.start - s.start >= SAT]
    for when in sorted({m.start // (2 * MICROSECOND) for _, m in sat}):
        together = [(s, m) for s, m in sat if m.start // (2 * MICROSECOND) == when]
        start, end = min(s.start for s, _ in together), min(m.start for _, m in together)
        who = [Who((s.tracks[0].id,)) for s, _ in together]
        yield CandidateSentence(start, end, say("sat", scene.language, who=who, when=clock(end)), "present", 2)


def _gestures(scene: _Scene) -> Iterable[CandidateSentence]:
    """Tell who raises a hand; several times within a few seconds once."""
    told: dict[int, int] = {}
    for hand in sorted((o for o in scene.view.perceived.objects if o.label == RAISED_HAND), key=lambda o: (o.start, o.box)):
        face = next((f for f in scene.view.perceived.faces if _raises(f, hand)), None)
        if face is None or hand.start < told.get(face.cluster, -AWAY) + AWAY // 2:
            continue
        told[face.cluster] = hand.end
        yield CandidateSentence(hand.start, hand.end, say("raises", scene.language, who=[Who((face.id,))]), "moves", 1)


def _raises(face: FaceTrack, hand: ObjectSeen) -> bool:
    return any(b.at == hand.start and any(share_of_smaller(s, hand.box) >= 0.9 for s in beside_head(b.box)) for b in face.boxes)


def _at_once(group: Sequence[presence.FaceMovement], move: presence.FaceMovement) -> bool:
    same = group[0].kind == move.kind in ("rises", "sinks", "rises_out", "sinks_in") and move.start - group[0].start < 2 * MICROSECOND
    return same and all(m.track.cluster != move.track.cluster for m in group)
