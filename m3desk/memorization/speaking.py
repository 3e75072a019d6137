"""Who is speaking: votes that a voice and a face of one clip are one person, and no vote where that would be a guess.

Five kinds of evidence. *In step*: lips at 25 pictures a second move as the sound says (perception.in_step); where that was measured it
also says whether the other kinds hold: a voice over somebody who says something else (a dub, a translator, a narrator) is not theirs,
whoever is in view. *Alone in view*: while a voice speaks, one face and no other is in view. *Lips*: several faces are in view, one
mouth moves while the voice speaks and all others are still. *Lips in turn*: of several that all move, one moves more under this voice
and none of the others does. *In turn*: the picture changes between faces, and one is shown when this voice speaks and not when others do;
a weak vote, which needs a second clip. A film shows listeners too (an audience, the other side of a debate, the picture under a
narrator), so the face must be there for most of what the voice says in the clip, a mouth known to be still votes against, a face
claimed by two voices gets neither unless one clearly leads, and if two kinds of evidence name two faces there is no vote.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from m3desk.domain.clip import MICROSECOND, Clip
from m3desk.domain.equivalence import SAME_NAME
from m3desk.domain.evidence import IN_STEP, IN_STEP_LEAD, FaceTrack, LipMatch, ObjectSeen, Perceived, Utterance
from m3desk.domain.memory import HeardName, Vote
from m3desk.memorization import mouths

AnyObservation = TypeVar("AnyObservation", FaceTrack, Utterance)
Faces = Mapping[int, Sequence[FaceTrack]]

STRONG = 3.0
"""Seconds alone with the voice that make a vote of weight 1: enough on its own to link (domain.equivalence.SUFFICIENT)."""

MUTUAL = 2.0
"""How many times more a second counts where the voice is never heard without the face, nor the face seen under another voice, and
the mouth moves."""

LIPS_STRONG = 5.0
"""Seconds in which one mouth moves and the others are still, for a vote of weight 1."""

AWAY = 1.0
"""How much a second of the voice without the face, or with others, takes off those alone with it. Measured by moving the reel's sound
against its pictures (73 shifts, 1,415 voices, nearly all of the faces talking): a strong wrong vote for 6.9 %, without this 7.6 %; half of
what is left are voices that by chance begin and end with the shot, as a dub does, which mouths at five looks a second can't disprove."""

LEAST = 1.0
"""Seconds under which there is no vote."""

SHARE = 0.8
"""Of the seconds in which a voice speaks and any face is in view, those with this face alone."""

PRESENT = 0.5
"""Of all the seconds in which a voice speaks, those with this face in view: a narrator is mostly heard over something else."""

LESS_SHARE, LESS_PRESENT, PLAINLY, LESS = 0.5, 0.4, 0.6, 0.45
"""Where a mouth moves in most looks (PLAINLY) for STRONG seconds, less of the above will do for a vote of weight LESS, which
links only together with another clip's: a singer whom the picture leaves for the audience now and then."""

LEAD = 3.0
"""How many times longer than any other voice one must be alone with a face that several claim."""

SURE, LIKELY, UNSURE = 3.0, 2.0, 0.5
"""Standard errors (mouths.contrast) by which the speaker's mouth must move more under its voice than under the others (LIKELY where all
other mouths are still), and the others' mouths at most. Measured with made-up turns of two voices over the two silent men of
webrtc_two_men (1,200 voices): 0.4 % wrong strong votes in turn, 1.4 % of lips (without LIKELY 2.4 %)."""

TURN_SHOWN, TURN_HIDDEN = 0.7, 0.3
"""Of a voice's seconds, those with its face in view, at least; of the other voices' seconds, at most."""

TURN_LEAST = 2.0
"""Seconds that a voice, and the others together, must speak for turns to be told."""

OUT_OF_STEP = -1.0
"""Ratio under which they are not: 75 % of those with somebody else's sound, 7 % of those with their own. In between a link needs a
second clip, unless the clip's sound is plainly that of its pictures."""

OWN_SOUND = 2
"""Voices with lips in step that show that a clip's sound is that of its pictures: one may be a presenter's, before a translated guest."""

LIKELY_IN_STEP = 1.5
"""IN_STEP where that is shown: 58 % of the pieces with their own sound reach it, 1.6 % of the others."""

AGAINST = 0.5
"""Most that a still mouth, alone in view for STRONG seconds, counts against a face."""

NAMED = 0.5
"""Weight of the opinion that somebody is called by one name on screen and in speech; how far it counts: domain.equivalence.OPINIONS."""

ASIDE, HALF = 1 / 3, 1 / 2
"""Of an utterance, what others may speak over and its words and its voice are still one person's: for sure, and at most."""

TOUCHED = MICROSECOND
"""What of an utterance lies in another shot for less is no more than a few words, or a time that is not exact."""

NOBODY = -1
"""The cluster of speech with an uncertain voice."""

BODY = 0.6
"""Score of somebody seen whose face is not: with them in view nobody is alone unless their own mouth moves."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """Evidence that a voice and a face are one person. `seconds` together; `track`, `utterance`: the two that overlap longest."""

    voice: int
    face: int
    seconds: float
    weight: float
    by: str
    track: str
    utterance: str


@dataclass(frozen=True, slots=True)
class _Clip:
    """A clip's voices (overlapped speech, and what is said after its end, left out), faces and people, by cluster."""

    voices: dict[int, list[Utterance]]
    faces: dict[int, list[FaceTrack]]
    bodies: tuple[ObjectSeen, ...]
    lips: dict[tuple[int, int], LipMatch]
    """(voice, face) → whether the lips are in step."""

    def others(self, voice: int) -> list[Utterance]:
        return [u for v, said in self.voices.items() if v != voice for u in said]

    def under(self, voice: int) -> dict[int, float]:
        """Return the seconds that each face is in view while a voice speaks, if more than a look."""
        said = mouths.spans(self.voices[voice])
        found = {f: _shared(said, _times(tracks)) for f, tracks in self.faces.items()}
        return {f: s for f, s in found.items() if s > 0.2}


def votes(perceived: Perceived, end: int) -> tuple[Vote, ...]:
    """Return the votes of one clip: for each voice at most one for a face, in order of the voices, then negative votes.

    `end`: the clip's, microseconds; what is said after it is heard without the picture, so it counts for nothing here.
    """
    clip = _clip(perceived, end)
    sure = {v: c for v in clip.voices if (c := _in_step(v, clip, IN_STEP))}
    own_sound = len(sure) >= OWN_SOUND
    if own_sound:
        sure |= {v: c for v in clip.voices if v not in sure and (c := _in_step(v, clip, LIKELY_IN_STEP))}
    claims = [c for v in clip.voices if (c := sure.get(v) or _claim(v, clip, own_sound=own_sound))]
    believed = [c for c in claims if all(c.seconds >= LEAD * o.seconds for o in claims if o is not c and o.face == c.face)]
    against = [c for v in clip.voices for c in _against(v, clip)]
    return tuple(Vote(c.track, c.utterance, c.by, c.weight) for c in (*believed, *against))


def same_name(cast: Sequence[Vote], heard: Sequence[HeardName], perceived: Perceived) -> tuple[Vote, ...]:
    """Return an opinion for each pair that a clip's votes speak for, where the voice introduces itself as whom a caption names the face.

    Words alone make no vote here, and opinions alone no link (domain.equivalence): a text can say anything.
    """
    cluster = {t.id: t.cluster for t in perceived.faces} | {u.id: u.cluster for u in perceived.utterances}
    said = {(h.name.casefold(), cluster[h.observation]) for h in heard if h.by == "introduced" and h.observation in cluster}
    read = {(h.name.casefold(), cluster[h.observation]) for h in heard if h.by == "caption" and h.observation in cluster}
    found = []
    for v in cast:
        if v.weight > 0:
            names = {n for n, c in read if c == cluster[v.a]} & {n for n, c in said if c == cluster[v.b]}
            if any(sum(1 for n, _ in said if n == name) == sum(1 for n, _ in read if n == name) == 1 for name in names):
                found.append(Vote(v.a, v.b, SAME_NAME, NAMED))
    return tuple(found)


def crosstalk(perceived: Perceived, clip: Clip) -> list[Utterance]:
    """Return a clip's utterances; of those spoken over each other, whose voice is a guess, the cluster is NOBODY.

    It is none where others speak over a third of it at most; nor where they speak over half of it at most, it is enough for an
    embedding, and the voice is heard alone for half a second of the same shot. Measured on the reel: a debate with two voices at once
    went to the next scene's speaker, in all of its three utterances.
    """
    edges = [
        clip.start,
        *(c for c in perceived.cuts if clip.start < c < clip.end),
        max(clip.end, *(u.end for u in perceived.utterances), 0),
    ]
    alone: dict[int, list[tuple[int, int]]] = {}
    for u in perceived.utterances:
        if not u.overlapped:
            alone.setdefault(u.cluster, []).append((u.start, u.end))
    found = []
    for u in perceived.utterances:
        over = _spoken_over(u, perceived.utterances, edges) if u.overlapped else 0.0
        own = over <= ASIDE or (over <= HALF and u.embeddable and _heard_alone(u, alone, edges))
        found.append(u if own else replace(u, cluster=NOBODY))
    return found


def _spoken_over(u: Utterance, spoken: Sequence[Utterance], edges: Sequence[int]) -> float:
    """Return the share of an utterance in which other voices speak, in the shot where it is largest; 1 where nobody knows when they do."""
    others = [(o.start, o.end) for o in spoken if o.cluster != u.cluster]
    if not _shared_micros([(u.start, u.end)], others):
        return 1.0
    parts = [(max(a, u.start), min(b, u.end)) for a, b in pairwise(edges) if a < u.end and b > u.start]
    longest = max(b - a for a, b in parts)
    return max(_shared_micros([(a, b)], others) / (b - a) for a, b in parts if b - a >= min(TOUCHED, longest))


def _heard_alone(u: Utterance, alone: Mapping[int, Sequence[tuple[int, int]]], edges: Sequence[int]) -> bool:
    shots = [(a, b) for a, b in pairwise(edges) if a < u.end and b > u.start]
    return any(_shared(alone.get(u.cluster, ()), [shot]) >= 0.5 for shot in shots if _shared([(u.start, u.end)], [shot]) >= 0.2)


def explain(perceived: Perceived, end: int, voice: int) -> Iterator[str]:
    """Yield a line for each face in view while a voice (its cluster) speaks: the measurements of the two."""
    clip = _clip(perceived, end)
    said = clip.voices.get(voice, [])
    if not said:
        yield "overlapped, or after the picture's end"
        return
    speaking, under = _seconds(said), clip.under(voice)
    if not under:
        yield f"no face in view in {speaking:.1f} s"
    for f, seconds in sorted(under.items(), key=lambda s: (-s[1], s[0])):
        alone, _, _ = _meet(said, f, clip.faces)
        mouth = mouths.state(said, clip.faces[f]) or "not known"
        part, t = mouths.moving_part(said, clip.faces[f]), mouths.contrast(said, clip.others(voice), clip.faces[f])
        yield (
            f"{clip.faces[f][0].id}: in view {seconds:.1f} of {speaking:.1f} s, alone {alone:.1f} s, mouth {mouth} ({part:.0%} of looks, "
            f"contrast {t}), under other voices {_shared(mouths.spans(clip.others(voice)), _times(clip.faces[f])):.1f} s"
        )


def _clip(perceived: Perceived, end: int) -> _Clip:
    voices = _by_cluster(replace(u, end=min(u.end, end)) for u in perceived.utterances if not u.overlapped and u.start < end)
    bodies = tuple(o for o in perceived.objects if o.label == "person" and o.score >= BODY)
    return _Clip(voices, _by_cluster(perceived.faces), bodies, {(m.voice, m.face): m for m in perceived.lips})


def _by_cluster(observations: Iterable[AnyObservation]) -> dict[int, list[AnyObservation]]:
    groups: dict[int, list[AnyObservation]] = {}
    for o in sorted(observations, key=lambda o: (o.start, o.id)):
        groups.setdefault(o.cluster, []).append(o)
    return groups


def _claim(voice: int, clip: _Clip, *, own_sound: bool) -> _Claim | None:
    """Return the best evidence for a voice and a face whose lips are not surely in step; None if kinds of evidence contradict each other.

    `own_sound`: other lips of the clip are in step, so that its sound is that of its pictures.
    """
    found = [c for kind in (_alone, _lips, _lips_in_turn, _in_turn) if (c := kind(voice, clip))]
    if len({c.face for c in found}) != 1:
        return None
    best = max(found, key=lambda c: c.weight)
    match = clip.lips.get((voice, best.face))
    if match is None:
        return best
    if match.evidence <= OUT_OF_STEP:
        return None
    return best if own_sound else replace(best, weight=min(best.weight, LESS))


# ---------------------------------------------------------------- in step


def _in_step(voice: int, clip: _Clip, least: float) -> _Claim | None:
    """Return the evidence for the one face whose lips move as the voice says, well ahead of every other face and every other voice."""
    said = clip.voices[voice]
    here = {f: m.evidence for f in clip.under(voice) if (m := clip.lips.get((voice, f)))}
    if not here:
        return None
    face = max(sorted(here), key=lambda f: here[f])
    rivals = [e for f, e in here.items() if f != face]
    rivals += [m.evidence for (v, f), m in clip.lips.items() if f == face and v != voice and v in clip.voices]
    if here[face] < least or any(here[face] < IN_STEP_LEAD + e for e in rivals):
        return None
    seconds = _shared(mouths.spans(said), _times(clip.faces[face]))
    if seconds < PRESENT * _seconds(said):
        return None
    return _Claim(voice, face, seconds, 1.0, "lips in step", *_longest(said, clip.faces[face]))


# ---------------------------------------------------------------- nobody else


def _alone(voice: int, clip: _Clip) -> _Claim | None:
    """Return the evidence for the one face that is in view, alone, for most of what a voice says."""
    said = clip.voices[voice]
    speaking = _seconds(said)
    seen = _shared(mouths.spans(said), [(t.start, t.end) for tracks in clip.faces.values() for t in tracks])
    meetings = sorted(((_meet(said, f, clip.faces), f) for f in clip.faces), key=lambda m: (-m[0][0], m[1]))
    if not meetings:
        return None
    (alone, track, utterance), face = meetings[0]
    tracks = clip.faces[face]
    mouth = mouths.state(said, tracks)
    if alone < LEAST or mouth == "still" or (mouth != "moving" and _bodies_too(said, tracks, clip.bodies)):
        return None
    if alone < SHARE * seen or alone < PRESENT * speaking:
        less = alone >= STRONG and mouths.moving_part(said, tracks) >= PLAINLY
        if not less or alone < LESS_SHARE * seen or alone < LESS_PRESENT * speaking:
            return None
        return _Claim(voice, face, alone, LESS, "alone in view", track, utterance)
    mutual = mouth == "moving" and alone >= 0.9 * speaking and _shared(mouths.spans(clip.others(voice)), _times(tracks)) < 0.5
    weight = min(1.0, max(0.0, alone - AWAY * (speaking - alone)) * (MUTUAL if mutual else 1.0) / STRONG)
    return _Claim(voice, face, alone, round(weight, 3), "alone in view", track, utterance) if weight >= 0.05 else None


def _against(voice: int, clip: _Clip) -> Iterator[_Claim]:
    """Yield negative votes for a face with a still mouth that is alone in view for seconds while a voice speaks."""
    for face, tracks in clip.faces.items():
        alone, track, utterance = _meet(clip.voices[voice], face, clip.faces)
        if alone >= STRONG and mouths.state(clip.voices[voice], tracks) == "still":
            yield _Claim(voice, face, alone, -AGAINST, "mouth still", track, utterance)


def _meet(said: Sequence[Utterance], face: int, faces: Faces) -> tuple[float, str, str]:
    """Return the seconds that a voice and a face are alone together, and the track and utterance that are so longest."""
    others = [(t.start, t.end) for f, tracks in faces.items() if f != face for t in tracks]
    total, best, pair = 0, 0, ("", "")
    for u in said:
        for track in faces[face]:
            start, end = max(u.start, track.start), min(u.end, track.end)
            if end <= start:
                continue
            free = end - start - _shared_micros([(start, end)], others)
            total += free
            if free > best:
                best, pair = free, (track.id, u.id)
    return total / MICROSECOND, *pair


def _bodies_too(said: Sequence[Utterance], tracks: Sequence[FaceTrack], bodies: Sequence[ObjectSeen]) -> bool:
    """Return whether somebody else, whose face is turned away, is in view for half a second or more of the speech: they may be the speaker.

    Somebody else: a person who does not hold the face, and stands no lower than twice its height (not far behind).
    """
    for track in tracks:
        face = track.boxes[len(track.boxes) // 2]
        x, y = face.x + face.width / 2, face.y + face.height / 2
        for o in bodies:
            left, top, width, height = o.box
            holds = left <= x <= left + width and top <= y <= top + height
            together = [(max(o.start, track.start), min(o.end, track.end))]
            if not holds and height >= 2 * face.height and _shared(mouths.spans(said), together) >= 0.5:
                return True
    return False


# ---------------------------------------------------------------- several in view


def _lips(voice: int, clip: _Clip) -> _Claim | None:
    """Return the evidence for the only mouth that moves, where every other face in view keeps still while the voice speaks."""
    said, here = clip.voices[voice], clip.under(voice)
    if len(here) < 2:
        return None
    states = {f: mouths.state(said, clip.faces[f]) for f in here}
    moving = [f for f, m in states.items() if m == "moving"]
    if len(moving) != 1 or any(m is None for m in states.values()) or not mouths.in_step(said, clip.faces[moving[0]]):
        return None
    more = mouths.contrast(said, clip.others(voice), clip.faces[moving[0]])
    if more is not None and more < LIKELY:
        return None
    return _of_several(voice, moving[0], here[moving[0]], "lips", clip)


def _lips_in_turn(voice: int, clip: _Clip) -> _Claim | None:
    """Return the evidence for the only mouth that moves more under this voice than under the others, where no other in view does.

    Two people at a table both move; what tells them apart is when.
    """
    said, others, here = clip.voices[voice], clip.others(voice), clip.under(voice)
    if len(here) < 2 or not others:
        return None
    differences = {f: mouths.contrast(said, others, clip.faces[f]) for f in here}
    sure = [f for f, t in differences.items() if t is not None and t >= SURE]
    if len(sure) != 1 or any(t is None or t > UNSURE for f, t in differences.items() if f != sure[0]):
        return None
    return _of_several(voice, sure[0], here[sure[0]], "lips in turn", clip)


def _of_several(voice: int, face: int, seconds: float, by: str, clip: _Clip) -> _Claim | None:
    said = clip.voices[voice]
    if seconds < 2 * LEAST or seconds < SHARE * _seconds(said):
        return None
    return _Claim(voice, face, seconds, round(min(1.0, seconds / LIPS_STRONG), 3), by, *_longest(said, clip.faces[face]))


def _in_turn(voice: int, clip: _Clip) -> _Claim | None:
    """Return the evidence for the only face that is shown when this voice speaks, in two turns or more, and not when others speak."""
    said, others = clip.voices[voice], clip.others(voice)
    speaking, elsewhere = _seconds(said), _seconds(others)
    if speaking < TURN_LEAST or elsewhere < TURN_LEAST:
        return None
    fitting = []
    for face, seconds in clip.under(voice).items():
        tracks = clip.faces[face]
        hidden = _shared(mouths.spans(others), _times(tracks)) <= TURN_HIDDEN * elsewhere
        if seconds >= TURN_SHOWN * speaking and hidden and mouths.state(said, tracks) != "still":
            fitting.append((face, seconds))
    if len(fitting) != 1 or _turns(said, others) < 2:
        return None
    face, seconds = fitting[0]
    return _Claim(voice, face, seconds, LESS, "in turn", *_longest(said, clip.faces[face]))


def _turns(said: Sequence[Utterance], others: Sequence[Utterance]) -> int:
    """Return the number of turns of a voice, with others speaking in between."""
    order = sorted([(u.start, True) for u in said] + [(u.start, False) for u in others])
    return sum(1 for i, (_, mine) in enumerate(order) if mine and (i == 0 or not order[i - 1][1]))


# ---------------------------------------------------------------- times


def _longest(said: Sequence[Utterance], tracks: Sequence[FaceTrack]) -> tuple[str, str]:
    """Return the ids of the track and the utterance that overlap longest."""
    u, t = max(((u, t) for u in said for t in tracks), key=lambda p: (_shared([(p[0].start, p[0].end)], [(p[1].start, p[1].end)]), p[0].id))
    return t.id, u.id


def _times(tracks: Sequence[FaceTrack]) -> list[tuple[int, int]]:
    return [(t.start, t.end) for t in tracks]


def _seconds(said: Sequence[Utterance]) -> float:
    return sum(u.end - u.start for u in said) / MICROSECOND


def _shared(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> float:
    """Return the seconds of the spans `a` that the spans `b` cover."""
    return _shared_micros(a, b) / MICROSECOND


def _shared_micros(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> int:
    total = 0
    for start, end in a:
        at = start
        for x, y in sorted((max(x, start), min(y, end)) for x, y in b if x < end and y > start):
            total += max(0, y - max(x, at))
            at = max(at, y)
    return total
