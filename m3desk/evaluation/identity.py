"""Measures the accuracy of a memory's people: faces, voices, links and sentences against ground truth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Protocol

from m3desk.domain.clip import Clip, Source, seconds
from m3desk.domain.evidence import FaceTrack, Utterance
from m3desk.domain.geometry import without
from m3desk.domain.ids import source_of
from m3desk.domain.memory import StoredSentence
from m3desk.domain.people import Person, SpeechRow, TrackRow
from m3desk.errors import M3DeskError
from m3desk.evaluation import labelling
from m3desk.evaluation.diarization import Diarization, error_rates
from m3desk.evaluation.grouping import LabelledObservation, bcubed, fragmentation, matching, pairwise, spread
from m3desk.evaluation.labelling import Local
from m3desk.evaluation.truth import Truth

Spans = list[tuple[int, int]]


class Measured(Protocol):
    """What is read of a memory to measure it."""

    def sources(self) -> list[Source]: ...
    def clips(self, source: str | None = None) -> list[Clip]: ...
    def tracks(self, source: str, start: int | None = None, end: int | None = None) -> list[TrackRow]: ...
    def speech(self, source: str, start: int | None = None, end: int | None = None) -> list[SpeechRow]: ...
    def people(self) -> list[Person]: ...
    def memories(
        self, *, kind: str | None = None, person: str | None = None, source: str | None = None, clip: str | None = None
    ) -> list[StoredSentence]: ...


@dataclass(slots=True)
class _Read:
    """A memory with its ground truth: true and found person of each observation, and what could not be judged."""

    faces: list[TrackRow] = field(default_factory=list)
    voices: list[SpeechRow] = field(default_factory=list)
    true: dict[str, str] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    """Utterances where by the truth nobody speaks."""
    boxes_missed: int = 0
    heard: list[Diarization] = field(default_factory=list)


def evaluate(reader: Measured, truth: Truth, uem: Mapping[str, Spans] | None = None, source: str | None = None) -> dict[str, Any]:
    """Return the figures of `evaluate identity` (contract.md, and more keys); `source`: of that one alone.

    Raises M3DeskError when the truth names no source of the memory, or nothing in it can be judged.

    Faces and utterances without a true person, and those set aside, are left out and counted. One that the memory assigns to nobody counts
    as a person of its own: it costs recall, not precision.
    """
    sources = reader.sources()
    read = _read(reader, labelling.by_source(truth, sources, source), sources, uem or {})
    if not read.true and not read.heard:
        raise M3DeskError("nothing in this memory can be judged by this truth.", "Its times and boxes meet no face track or utterance.")
    faces = [_Judged(r.track, r.person, r.node, read.true[r.track.id]) for r in read.faces if r.track.id in read.true]
    voices = [_Judged(r.utterance, r.person, r.node, read.true[r.utterance.id]) for r in read.voices if r.utterance.id in read.true]
    named = matching(_owned([*faces, *voices]))
    told = attribution(reader.memories(kind="episodic"), read.faces, read.voices, read.true, named, read.silent)
    return {
        "faces": {**_figures(faces), "unlabelled": len(read.faces) - len(faces), "boxes_missed": read.boxes_missed},
        "voices": {**_figures(voices), **_rates(read.heard), "rough": truth.rough, "unlabelled": len(read.voices) - len(voices)},
        "links": links(reader.people(), _nodes(faces), _nodes(voices), truth),
        "attribution": told["sentences"]["accuracy"],
        "attribution_detail": told,
        "people": _people(faces, voices, named),
    }


@dataclass(frozen=True, slots=True)
class _Judged:
    """One observation with its true person and the person that the memory assigned it to (None: nobody)."""

    seen: FaceTrack | Utterance
    person: str | None
    node: str | None
    true: str


def _each(judged: Sequence[_Judged]) -> list[LabelledObservation]:
    """Return all items; each one assigned to nobody becomes a person of its own."""
    return [LabelledObservation(j.true, j.person or j.seen.id, _long(j.seen), source_of(j.seen.id)) for j in judged]


def _owned(judged: Sequence[_Judged]) -> list[LabelledObservation]:
    return [LabelledObservation(j.true, j.person, _long(j.seen), source_of(j.seen.id)) for j in judged if j.person]


def _nodes(judged: Sequence[_Judged]) -> list[LabelledObservation]:
    return [LabelledObservation(j.true, j.node, _long(j.seen), source_of(j.seen.id)) for j in judged if j.node]


def _read(reader: Measured, known: Mapping[str, Local], sources: Sequence[Source], uem: Mapping[str, Spans]) -> _Read:
    read = _Read()
    for s in (s for s in sources if s.id in known):
        local = known[s.id]
        tracks = [r for r in reader.tracks(s.id) if not r.set_aside]
        speech = [r for r in reader.speech(s.id) if not r.set_aside]
        if local.sights:
            read.faces += tracks
            read.true |= labelling.faces([r.track for r in tracks], local)
            read.boxes_missed += labelling.boxes_missed([r.track for r in tracks], local)
        if local.spoken:
            read.voices += speech
            for r in speech:
                if who := labelling.speaker(r.utterance, local):
                    read.true[r.utterance.id] = who
                elif labelling.silent(r.utterance, local):
                    read.silent.add(r.utterance.id)
            read.heard.append(_heard(s, local, speech, _scored(s, reader.clips(s.id), local, uem)))
    return read


def _scored(source: Source, clips: Sequence[Clip], local: Local, uem: Mapping[str, Spans]) -> tuple[tuple[int, int], ...]:
    """Return the scored spans of speech: by the UEM, else the memorized part of the source; without spans of unclear speakers."""
    given = [uem[n] for n in labelling.names(source.uri) if n in uem]
    spans = given[0] if given else [(c.start, c.end) for c in clips if c.state in ("episodic", "done")]
    return tuple(sorted(without(spans, local.unclear)))


def _heard(source: Source, local: Local, speech: Sequence[SpeechRow], scored: tuple[tuple[int, int], ...]) -> Diarization:
    found = tuple((r.utterance.start, r.utterance.end, r.person or r.utterance.id) for r in speech)
    nobody = frozenset(r.utterance.id for r in speech if r.person is None)
    return Diarization(labelling.names(source.uri)[1], tuple((t.start, t.end, t.person) for t in local.turns), found, scored, nobody)


def _long(o: FaceTrack | Utterance) -> float:
    return seconds(max(1, o.end - o.start))


def _figures(judged: Sequence[_Judged]) -> dict[str, Any]:
    """Return the figures of one modality: by person, as a user sees it, and by face or voice node."""
    items, nodes = _each(judged), _nodes(judged)
    return {
        "pairwise": pairwise(items),
        "bcubed": bcubed(items),
        "fragmentation": fragmentation(nodes),
        "across_sources": pairwise(items, across=True) if len({i.source for i in items}) > 1 else None,
        "pairwise_by_seconds": pairwise(items, weighted=True),
        "bcubed_by_seconds": bcubed(items, weighted=True),
        "by_node": {"pairwise": pairwise(nodes), "bcubed": bcubed(nodes)},
        "people_per_person": fragmentation(_owned(judged)),
        "true_people": len({i.true for i in items}),
        "nodes": len({n.found for n in nodes}),
        "labelled": len(items),
        "unassigned": sum(1 for j in judged if j.person is None),
    }


def _rates(heard: Sequence[Diarization]) -> dict[str, Any]:
    spoken = [h for h in heard if h.true or h.found]
    return error_rates(spoken) if spoken else {"der": None}


# ---------------------------------------------------------------- links


def links(
    people: Sequence[Person], faces: Sequence[LabelledObservation], voices: Sequence[LabelledObservation], truth: Truth
) -> dict[str, Any]:
    """Return the accuracy of face–voice links. A link is a face node and a voice node of one person.

    A node belongs to the true person of most of its labelled seconds. `precision`: right links among the judged ones. `right`: true people
    with a right link; `recall`: their share of all who, by the truth, are both seen and heard. `wrong`: links that join two people's
    face and voice. `unjudged`: one side is not labelled.
    """
    of_face, of_voice = _owners(faces), _owners(voices)
    right: set[str] = set()
    good, wrong, unjudged = 0, [], 0
    for p in people:
        for face in p.faces:
            for voice in p.voices:
                a, b = of_face.get(face), of_voice.get(voice)
                if a is None or b is None:
                    unjudged += 1
                elif a == b:
                    good, right = good + 1, right | {a}
                else:
                    wrong.append({"person": p.id, "face": face, "voice": voice, "face_of": a, "voice_of": b})
    possible = truth.seen & truth.heard
    return {
        "precision": round(good / (good + len(wrong)), 4) if good or wrong else None,
        "recall": round(len(right & possible) / len(possible), 4) if possible else None,
        "wrong": len(wrong),
        "right": len(right),
        "possible": len(possible),
        "unjudged": unjudged,
        "wrong_links": wrong,
        "missing": sorted(possible - right),
    }


def _owners(nodes: Sequence[LabelledObservation]) -> dict[str, str]:
    """Return node → the true person of most of its labelled seconds; ties go by name."""
    held: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for n in nodes:
        held[n.found][n.true] += n.weight
    return {node: min(people, key=lambda p, people=people: (-round(people[p], 6), p)) for node, people in held.items()}  # type: ignore[misc]


# ---------------------------------------------------------------- sentences


SPOKEN = frozenset({"says", "goes_on"})
"""Events in which a span names the speaker: the cited utterances count, not a face that was linked to the voice."""


def attribution(
    sentences: Sequence[StoredSentence],
    faces: Sequence[TrackRow],
    voices: Sequence[SpeechRow],
    true: Mapping[str, str],
    named: Mapping[str, str],
    silent: Set[str] = frozenset(),
) -> dict[str, Any]:
    """Return the share of sentences that name the right person.

    A span names the memory's person of its observations, who stands for one true person (`named`: one to one, by labelled seconds of
    face and voice). It is right where the observations (in a sentence of speech, the utterances cited) are that person's. Where by the
    truth nobody speaks (`silent`), it is wrong to give the speech to a person with a face. Spans whose truth isn't known are `unjudged`,
    those that the memory gives to nobody `unattributed`: both are left out. A sentence is right if all its judged spans are.
    `by_majority`: the same when each person stands for whoever most of them truly is, so that somebody split in two is no error.
    """
    held = {r.track.id: r.person for r in faces} | {r.utterance.id: r.person for r in voices}
    lengths = {r.track.id: _long(r.track) for r in faces} | {r.utterance.id: _long(r.utterance) for r in voices}
    seen, spoken = {r.person for r in faces if r.person}, {r.utterance.id for r in voices}
    mostly = _owners([LabelledObservation(who, held[o] or "", lengths[o]) for o, who in true.items() if held.get(o)])
    unjudged = unattributed = 0
    spans: list[tuple[str, str, str | None]] = []
    for s in sentences:
        for span in s.spans:
            if not any(o in held for o in span.observations):
                continue  # of a source, or evidence, that the truth doesn't speak of
            said = [o for o in (*span.observations, *s.citations) if o in spoken] if s.event in SPOKEN else []
            person, whose = (
                next((p for o in span.observations if (p := held.get(o))), None),
                _whose(said or span.observations, true, lengths),
            )
            if person is None:
                unattributed += 1
            elif whose is None and not (said and silent >= set(said) and person in seen):
                unjudged += 1
            else:
                spans.append((s.id, person, whose))
    right = [whose is not None and named.get(person) == whose for _, person, whose in spans]
    lenient = [whose is not None and mostly.get(person) == whose for _, person, whose in spans]
    counts = {"right": sum(right), "wrong": len(right) - sum(right), "unjudged": unjudged, "unattributed": unattributed}
    return {
        "sentences": {**_told(spans, right), "by_majority": _told(spans, lenient)["accuracy"]},
        "spans": {"accuracy": _ratio(right), **counts},
        "wrong": [{"node": n, "person": p, "true": w or "nobody"} for (n, p, w), good in zip(spans, right, strict=True) if not good],
    }


def _told(spans: Sequence[tuple[str, str, str | None]], right: Sequence[bool]) -> dict[str, Any]:
    """Return the figures by sentence: one is right if all its judged spans are."""
    whole: dict[str, bool] = {}
    for (node, _, _), good in zip(spans, right, strict=True):
        whole[node] = whole.get(node, True) and good
    sentences = list(whole.values())
    return {"accuracy": _ratio(sentences), "right": sum(sentences), "wrong": len(sentences) - sum(sentences)}


def _ratio(right: Sequence[bool]) -> float | None:
    return round(sum(right) / len(right), 4) if right else None


def _whose(observations: Sequence[str], true: Mapping[str, str], lengths: Mapping[str, float]) -> str | None:
    held: dict[str, float] = defaultdict(float)
    for o in dict.fromkeys(observations):
        if o in true:
            held[true[o]] += lengths[o]
    return min(held, key=lambda p: (-round(held[p], 6), p)) if held else None


# ---------------------------------------------------------------- person by person


def _people(faces: Sequence[_Judged], voices: Sequence[_Judged], named: Mapping[str, str]) -> list[dict[str, Any]]:
    of_face, of_voice, whole = spread(_nodes(faces)), spread(_nodes(voices)), spread(_owned([*faces, *voices]))
    stands = {t: p for p, t in named.items()}
    return [
        {
            "true": t,
            "person": stands.get(t),
            "people": whole.get(t, []),
            "face_nodes": of_face.get(t, []),
            "voice_nodes": of_voice.get(t, []),
            "tracks": sum(1 for j in faces if j.true == t),
            "utterances": sum(1 for j in voices if j.true == t),
        }
        for t in sorted({j.true for j in (*faces, *voices)})
    ]
