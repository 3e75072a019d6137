"""The built-in memory writer: composes a clip's episodic sentences from its evidence by rules, and adds nothing that is not in it.

Must not know: the store, any model. The same evidence gives the same sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from m3desk.domain.clip import MICROSECOND, clock
from m3desk.domain.evidence import FaceTrack
from m3desk.domain.memory import Draft, Sentence
from m3desk.memorization import captions, names, presence, scenery, speaking
from m3desk.memorization.phrases import FilledPhrase, Who, say, word, writing_language
from m3desk.memorization.presence import Shot, Stay
from m3desk.memorization.telling import QuotedSpeech, told
from m3desk.memorization.things import number
from m3desk.ports import ClipView, Cluster

MOST = 20
"""Most sentences of a clip; above that the least important are left out."""

REMARK = 10
"""Letters of a remark ("Yeah, okay.") that a full clip can do without."""

LONG_SILENCE = 12 * MICROSECOND

_ORDER = {"scene": 0, "present": 0, "appears": 1, "returns": 1, "text": 2, "object": 3, "says": 4, "moves": 5, "leaves": 6, "silence": 7}


@dataclass(frozen=True, slots=True)
class CandidateSentence:
    """A candidate sentence. `rank`: 0 is the most important; above the clip's limit the highest ranks are left out."""

    start: int
    end: int
    line: FilledPhrase
    event: str
    rank: int
    citations: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass
class ComposedWriter:
    """Writes what the evidence says: who appears, stays, returns and leaves, who says what, what is in view and on screen.

    `only`: the events to tell of ("says", "text"), where a model tells the rest; None: all.
    """

    only: frozenset[str] | None = None
    name: str = field(default="composed-1", init=False)

    def write(self, view: ClipView, cancelled: Callable[[], bool] = lambda: False) -> Draft:
        """Compose a clip's sentences, votes and names; in milliseconds, so `cancelled` is not asked."""
        p = view.perceived
        language = writing_language(
            view.language, [(u.language, u.text) for u in p.utterances or (view.previous.utterances if view.previous else ())]
        )
        items = [*_people(view, language), *_speech(view, language), *_texts(view, language)]
        items += [
            CandidateSentence(t.start, t.end, t.line, "object", t.rank, t.citations, t.entities) for t in scenery.things(view, language)
        ]
        items += _quiet(view, language, items)
        if self.only is not None:
            items = [i for i in items if i.event in self.only]
        sentences = tuple(_sentence(i, language) for i in _chosen(items))
        votes, heard = speaking.votes(p, view.clip.end), names.heard(p)
        return Draft(sentences, (*votes, *speaking.same_name(votes, heard, p)), heard, model=self.name)


def _sentence(item: CandidateSentence, language: str) -> Sentence:
    mentioned = (o for s in item.line.spans for o in s.observations)
    return Sentence(
        text=item.line.text,
        kind="episodic",
        start=item.start,
        end=max(item.end, item.start),
        spans=item.line.spans,
        citations=tuple(dict.fromkeys([*mentioned, *item.citations])),
        entities=item.entities,
        quoted=item.line.quoted,
        language=language,
        event=item.event,
    )


def _chosen(items: Sequence[CandidateSentence]) -> list[CandidateSentence]:
    """Return the most important sentences in time order; of much speech, short remarks are left out first."""
    kept = sorted(
        items, key=lambda i: (i.rank, -sum(b - a for a, b in i.line.quoted) if i.event == "says" else -1000, i.start, i.line.text)
    )
    kept = kept[:MOST]
    return sorted(kept, key=lambda i: (i.start, _ORDER.get(i.event, 8), i.line.text))


# ---------------------------------------------------------------- who is in view


def _people(view: ClipView, language: str) -> list[CandidateSentence]:
    p = view.perceived
    shots = presence.shots(view.clip, p.cuts)
    edges = [s.start for s in shots]
    stays = presence.stays(p, edges)
    width, height = presence.picture_size(view.source, p)
    items: list[CandidateSentence] = []
    gone: dict[int, int] = {}
    for shot in shots:
        came = [s for s in stays if shot.start <= s.start < shot.end]
        at_once = [s for s in came if s.start <= shot.start + presence.NEAR]
        items += _arrivals(view, shot, at_once, gone, width, height, language)
        for stay in came:
            if stay not in at_once:
                items.append(_enters(view, stay, stays, gone, width, height, language))
            gone[stay.cluster] = max(gone.get(stay.cluster, 0), stay.end)
    items += _departures(view, stays, edges, width, language)
    items += _movements(p.faces, width, height, language)
    return items


def _arrivals(
    view: ClipView, shot: Shot, came: Sequence[Stay], gone: dict[int, int], width: float, height: float, language: str
) -> Iterable[CandidateSentence]:
    """Describe who is in view when a shot begins: those who stayed over the clip's border, those who are back, those who are new."""
    groups: dict[tuple[str, int | None], list[Stay]] = {}
    for stay in came:
        groups.setdefault(_past(view, stay, gone), []).append(stay)
    for (past, last), stays in groups.items():
        how = _how(stays, height, language) if len(came) == 1 else ""
        whole = all(s.end - s.start >= 0.9 * (view.clip.end - view.clip.start) for s in stays)
        if past == "stays":
            key = "throughout" if whole else "still"
        elif past == "back":
            key = "returns" if shot.first else "cut_back"
        elif past == "known":
            key = "known"
        elif shot.first:
            key = "throughout" if whole else "from_start"
        else:
            key = "cut_to"
        event = {"stays": "present", "back": "returns", "known": "returns"}.get(past, "appears")
        start, end = min(s.start for s in stays), max(s.end for s in stays)
        people = _who(stays, width)
        if len(people) > 3 and past == "new":
            key = "crowd" if len(people) > 6 else "many" if shot.first else "cut_to_many"
            line = say(key, language, who=people[:6], count=number(len(people), language))
        else:
            line = say(key, language, who=people, how=how, when=clock(last or 0))
        yield CandidateSentence(start, end, line, event, 1 if past == "stays" else 0)


def _past(view: ClipView, stay: Stay, gone: dict[int, int]) -> tuple[str, int | None]:
    """Return whether a stay is somebody who "stays" over the clip's start, is "back" (and since when), "known" or "new"."""
    if stay.cluster in gone:
        return "back", gone[stay.cluster]
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


def _who(stays: Sequence[Stay], width: float) -> list[Who]:
    """Return the people of some stays from left to right, with their places where these tell them apart."""
    ordered = sorted(stays, key=lambda s: s.boxes[0].x + s.boxes[0].width / 2)
    places = [presence.place(s.boxes[0], width) for s in ordered]
    told = 1 < len(set(places)) == len(places)
    return [Who(s.observations, where if told else None) for s, where in zip(ordered, places, strict=True)]


def _how(stays: Sequence[Stay], height: float, language: str) -> str:
    distance = presence.distance(stays[0], height) if len(stays) == 1 else None
    return word(distance, language) if distance else ""


def _enters(
    view: ClipView, stay: Stay, stays: Sequence[Stay], gone: dict[int, int], width: float, height: float, language: str
) -> CandidateSentence:
    """Describe a person who comes into view in the middle of a shot, and whom they join."""
    past, last = _past(view, stay, gone)
    who = [Who(stay.observations)]
    there = [s for s in stays if s.cluster != stay.cluster and s.start < stay.start - presence.NEAR and s.end > stay.start + presence.NEAR]
    if past == "back":
        line = say("returns", language, who=who, when=clock(last or 0))
    elif past == "known":
        line = say("known", language, who=who, how="")
    elif there and len(there) <= 3:
        line = say("joins", language, who=who, others=[Who(s.observations) for s in there])
    else:
        line = say("appears", language, who=who, how=_how([stay], height, language))
    return CandidateSentence(stay.start, stay.end, line, "returns" if past in ("back", "known") else "appears", 0 if past != "back" else 1)


def _departures(view: ClipView, stays: Sequence[Stay], edges: Sequence[int], width: float, language: str) -> Iterable[CandidateSentence]:
    """Describe who goes out of view within a shot (a cut away, or the clip's end, is no departure)."""
    for stay in stays:
        cut = any(stay.end - presence.NEAR < e <= stay.end + presence.NEAR for e in edges)
        if cut or stay.end > view.clip.end - MICROSECOND or stay.end - stay.start < 2 * MICROSECOND:
            continue
        side = presence.exit_side(stay, width)
        line = say(f"leaves_{side}" if side else "leaves", language, who=[Who((stay.tracks[-1].id,))])
        yield CandidateSentence(stay.end - MICROSECOND, stay.end, line, "leaves", 2)


def _movements(faces: Sequence[FaceTrack], width: float, height: float, language: str) -> list[CandidateSentence]:
    """Describe movements; people who stand up together share a sentence."""
    found = sorted((m for t in faces for m in presence.moves(t, width, height)), key=lambda m: (m.start, m.track.id))
    groups: list[list[presence.FaceMovement]] = []
    for move in found:
        home = next((g for g in groups if _at_once(g, move)), None)
        if home is None:
            groups.append([move])
        else:
            home.append(move)
    items = []
    for group in groups[:6]:
        one = group[0]
        origin, goal = (word(w, language) if w else "" for w in (one.origin, one.goal))
        who = [Who((m.track.id,)) for m in group]
        line = say(one.kind, language, who=who, origin=origin, goal=goal)
        items.append(CandidateSentence(one.start, max(m.end for m in group), line, "moves", 3))
    return items


def _at_once(group: Sequence[presence.FaceMovement], move: presence.FaceMovement) -> bool:
    same = group[0].kind == move.kind in ("rises", "sinks") and move.start - group[0].start < 2 * MICROSECOND
    return same and all(m.track.cluster != move.track.cluster for m in group)


# ---------------------------------------------------------------- who says what


def _speech(view: ClipView, language: str) -> list[CandidateSentence]:
    items: list[CandidateSentence] = []
    before: QuotedSpeech | None = None
    for one in told(speaking.crosstalk(view.perceived, view.clip)):
        rank = 0 if len(one.text) > REMARK else 2
        if one.cluster == speaking.NOBODY:
            items.append(CandidateSentence(one.start, one.end, say("at_once", language, said=[one.text]), "says", rank, one.utterances))
            continue
        on = before is not None and before.cluster == one.cluster and one.start - before.end < 10 * MICROSECOND
        line = say("goes_on" if on else "says", language, who=[Who(one.utterances)], said=[one.text])
        items.append(CandidateSentence(one.start, one.end, line, "says", rank))
        before = one
    return items


# ---------------------------------------------------------------- text on screen


def _texts(view: ClipView, language: str) -> list[CandidateSentence]:
    """Mention each text once: as it appears, replaces another, or (first clip) is there from the start; a text that stays is not repeated.

    Texts that appear together, and belong to no face, are told together.
    """
    p = view.perceived
    still = [c.text for c in captions.group(view.previous.texts) if c.end >= view.clip.start - 3 * MICROSECOND] if view.previous else []
    items: list[CandidateSentence] = []
    told: list[captions.Caption] = []
    plain: list[captions.Caption] = []
    for caption in captions.group(p.texts):
        again = next((i for i, t in enumerate(told) if captions.same_text(caption.text, t.text)), None)
        if again is not None:
            told[again] = caption
            continue
        if any(captions.same_text(caption.text, t) for t in still):
            continue
        face = captions.captioned(caption, p.faces) if names.in_caption(caption.text) else None
        if face:
            line = say("caption", language, who=[Who((face.id,))], said=[_short(caption.text)])
            items.append(CandidateSentence(caption.start, caption.end, line, "text", 0))
        elif any(captions.same_place(caption, t) and abs(caption.start - t.end) < 2 * MICROSECOND for t in told):
            line = say("text_changes", language, said=[_short(caption.text)])
            items.append(CandidateSentence(caption.start, caption.end, line, "text", 1))
        else:
            plain.append(caption)
        told.append(caption)
    for _, same in groupby(plain, key=lambda c: c.start // MICROSECOND):
        together = list(same)[:5]
        there = view.clip.index == 0 and together[0].start < view.clip.start + 3 * MICROSECOND
        key = ("has_text" if there else "sees_text") + ("s" if len(together) > 1 else "")
        line = say(key, language, said=[_short(c.text) for c in together])
        items.append(CandidateSentence(together[0].start, max(c.end for c in together), line, "text", 1))
    return items


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:199].rstrip() + "…"


# ---------------------------------------------------------------- what does not happen


def _quiet(view: ClipView, language: str, items: Sequence[CandidateSentence]) -> list[CandidateSentence]:
    """Mention silence (if the clip has sound), a dark picture, and a clip without anything else."""
    clip, p = view.clip, view.perceived
    quiet: list[CandidateSentence] = []
    spoken = sorted((u.start, u.end) for u in p.utterances)
    picture = view.source.width is not None
    if view.source.has_audio and not spoken and items:
        quiet.append(CandidateSentence(clip.start, clip.end, say("silent", language), "silence", 1))
    elif spoken:
        quiet += [
            CandidateSentence(a, b, say("silent_for", language, count=str((b - a) // MICROSECOND)), "silence", 2)
            for a, b in _gaps(spoken, clip.start, clip.end)
            if b - a >= LONG_SILENCE
        ]
    if picture and p.scene.get("brightness", 1.0) < 0.06:
        quiet.append(CandidateSentence(clip.start, clip.end, say("dark", language), "scene", 2))
    if not items:
        key = "nobody" if picture and view.source.has_audio else "nobody_seen" if picture else "no_picture_no_speech"
        quiet.append(CandidateSentence(clip.start, clip.end, say(key, language), "silence", 0))
    return quiet


def _gaps(spans: Sequence[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Return what spans (sorted) leave free of [start, end)."""
    free, at = [], start
    for a, b in spans:
        if a > at:
            free.append((at, a))
        at = max(at, b)
    return [*free, (at, end)] if end > at else free


__all__ = ["ComposedWriter"]
