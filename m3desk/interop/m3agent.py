"""Imports a memory graph of the original M3-Agent (`.pkl`, `.pkl.gz`): its nodes, texts, crops, and characters with their evidence.

Rules of memory.md, "Reading others' files". A face or voice node and a clip that speaks of it give a placeholder observation, which
carries the spans: the original keeps no times within a clip, so it covers the whole of it. Each sentence "Equivalence: <face_2>,
<voice_0>" becomes votes. The original makes characters of them by union-find over all of them (checked: so do the characters that both
real graphs hold; a voice that keeps only its heaviest equivalence would give 20 and 18 characters where the files have 15 and 13).
This memory is stricter: a voice goes to one face, and not by a coin flip. Where its fold of the votes would leave nodes of one
character apart, votes of "m3-agent characters" say what the file holds, so that the persons are the original characters to begin with,
and a user sees what they rest on and can take it apart.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from m3desk.domain.clip import MICROSECOND, Clip, Source
from m3desk.domain.evidence import FaceTrack, Floats, Utterance, media_id
from m3desk.domain.fold import identities
from m3desk.domain.ids import clip_id, clip_index, clip_of, numbered, person_id
from m3desk.domain.imported import ForeignGraph, ForeignNode, ForeignText, ForeignVote
from m3desk.domain.log import Birth, Bound, Log, ObservationRow, ObservationType, Voted
from m3desk.domain.memory import Sentence
from m3desk.domain.questions.graph_cuts import DERIVED
from m3desk.domain.tags import untag
from m3desk.errors import ImportProblem
from m3desk.interop.inert import Refused
from m3desk.interop.quarantine import HINT, Limits, Raw, read

MODEL = "m3-agent"
CHARACTERS = DERIVED
"""Who casts the votes for what the file's own characters say and its equivalences alone would not."""
CLIP = 30 * MICROSECOND
SOURCE = "s1"
TYPES: Mapping[str, ObservationType] = {"img": "face", "voice": "voice"}
TAGS = re.compile(r"<(face|voice)_(\d+)>")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
PICTURE = 8 << 20
"""Bytes of one face's picture at most; the original stores some 100 kB."""
PICTURES = 512 << 20
NAMED = 140
"""Faces and voices that one sentence may name; the most in the two real graphs is 7."""
PAIRS = 500_000
"""Pairs of nodes that sentences name side by side, over all of them: the real graphs have some 600. Questions look at each."""
SHOWN = 20_000
"""Observations: clips that a face or voice is in, over all of them. kitchen_03 has 228."""
VOTES = 10_000
"""Pairs of nodes that are called one person, over all equivalences; kitchen_03 has 84."""
ROUNDS = 12
"""Times that the fold is asked what still is apart, before all that is left is joined at once; the real graphs take 3."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A graph ready to be written. `report`: counts as JSON; its `warnings` name what could not be converted.

    `going`: called between the remaining steps; raises ImportProblem if the whole import takes too long.
    """

    graph: ForeignGraph
    report: dict[str, Any]
    going: Callable[[], None] = lambda: None


class Deadline:
    """The time limit of an import; real graphs take 1 ms per node."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._began = time.monotonic()
        self._seconds = 10.0

    def allow(self, nodes: int) -> None:
        """Set the limit for a graph of this many nodes, starting now."""
        self._began, self._seconds = time.monotonic(), 10.0 + 0.008 * nodes

    def __call__(self) -> None:
        """Raise ImportProblem when the time is up."""
        if time.monotonic() - self._began > self._seconds:
            raise ImportProblem(
                f"{self._name} is not a memory graph that can be read: it takes longer than one needs.", "Nothing was written."
            )


def load(path: Path, limits: Limits | None = None, going: Callable[[int, int], None] = lambda _done, _total: None) -> Loaded:
    """Read a graph's file. Raises ImportProblem. `limits`: limits of reading; default: those for its size.

    `going`: called with the bytes read so far and the file's (`quarantine.read`).
    """
    raw = read(path, limits, going)
    deadline = Deadline(path.name)
    deadline.allow(len(raw.document["nodes"]))
    try:
        return convert(raw, str(path.resolve()), deadline)
    except Refused as refused:
        raise ImportProblem(f"{path.name} is not a memory graph that can be read: {refused}.", HINT) from refused
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise ImportProblem(f"{path.name} does not fit together: {type(error).__name__} {error}.", "Nothing was written.") from error


def convert(raw: Raw, uri: str, going: Callable[[], None] = lambda: None) -> Loaded:
    """Convert a graph to this memory's form. Raises Refused if it is far larger than any memory graph."""
    return _Conversion(raw, uri, going).result()


# ---------------------------------------------------------------- one conversion


class _Conversion:
    """The conversion of one graph, in steps that use the results of earlier ones."""

    def __init__(self, raw: Raw, uri: str, going: Callable[[], None]) -> None:
        self._uri = uri
        self._going = going
        self._peak = raw.peak
        self._edges = _undirected(raw.document["edges"])
        self._entries = len(raw.document["edges"])
        self._rows = _rows(raw)
        self._warnings: list[str] = []
        nodes = [(int(n), str(t), c, list(texts), e) for n, t, c, texts, e in raw.document["nodes"]]
        self._owners = {n: (TYPES[t], texts, e) for n, t, _, texts, e in nodes if t in TYPES}
        self._clip_of = _clips(nodes, raw.document["clips"])
        texts = [(n, t, " ".join(" ".join(texts).split())) for n, t, _, texts, _ in nodes if t in ("episodic", "semantic")]
        self._texts = [t for t in texts if t[2]]
        self._tags = {n: _named(text, self._owners) for n, _, text in self._texts}
        _few(sum(len(t) * (len(t) - 1) // 2 for t in self._tags.values()), PAIRS, "pairs that sentences name")
        self._note(len(nodes) - len(self._owners) - len(texts), "nodes of kinds that M3-Agent's graphs don't have were left out")
        self._note(len(texts) - len(self._texts), "texts without words were left out")
        self._seen = self._observed()
        _few(sum(map(len, self._seen.values())), SHOWN, "faces and voices in clips")
        going()
        self._groups = _groups(raw.document["characters"], self._owners, self._equivalent())

    def _note(self, count: int, what: str) -> None:
        if count:
            self._warnings.append(f"{count} {what}")

    # ------------------------------------------------------------------ who was seen when

    def _observed(self) -> dict[int, list[int]]:
        """Return node → its clips in order: the one that created it, and those whose texts name it."""
        clips: dict[int, set[int]] = {n: {self._clip_of[n]} for n in self._owners}
        for n, tags in self._tags.items():
            for tag in tags:
                clips[tag].add(self._clip_of[n])
        return {n: sorted(found) for n, found in clips.items()}

    def _observation(self, node: int, clip: int) -> str:
        return f"{clip_id(SOURCE, clip)}.{self._owners[node][0][0].replace('v', 'u')}{node}"

    def _id(self, node: int) -> str:
        return f"{self._owners[node][0]}_{node}"

    # ------------------------------------------------------------------ who is whom

    def _equivalent(self) -> list[tuple[int, int, list[int]]]:
        """Return the sentences that equate nodes: their number, clip, and nodes."""
        told = [(n, self._clip_of[n], self._tags[n]) for n, kind, text in self._texts if kind == "semantic" and is_equivalence(text)]
        _few(sum(len(t[2]) for t in told), VOTES, "equivalences")
        return [t for t in told if len(t[2]) > 1]

    def _votes(self) -> list[ForeignVote]:
        """Return a vote between the first node of each equivalence and each other one, with the weight of the sentence's edges."""
        votes = []
        for n, clip, nodes in self._equivalent():
            weight = max([1.0, *(self._edges[e] for t in nodes if (e := (min(t, n), max(t, n))) in self._edges)])
            first = self._observation(nodes[0], clip)
            votes += [
                ForeignVote(first, self._observation(t, clip), f"{MODEL} semantic_{n}", weight, clip_id(SOURCE, clip)) for t in nodes[1:]
            ]
        return votes

    # ------------------------------------------------------------------ all of it

    def result(self) -> Loaded:
        numbers = sorted(set(self._clip_of.values()))
        clips = tuple(Clip(clip_id(SOURCE, k), SOURCE, k, k * CLIP, (k + 1) * CLIP, "done") for k in numbers)
        media, crops = self._crops()
        faces, utterances, bindings = [], [], {}
        for n in sorted(self._owners):
            for k in self._seen[n]:
                id_ = self._observation(n, k)
                bindings[id_] = self._id(n)
                clip = clip_id(SOURCE, k)
                if self._owners[n][0] == "face":
                    mine = crops.get(n, ()) if k == self._seen[n][0] else ()
                    faces.append(FaceTrack(id_, clip, k * CLIP, (k + 1) * CLIP, (), 0.0, 0.0, crops=mine, cluster=n))
                else:
                    utterances.append(Utterance(id_, clip, k * CLIP, (k + 1) * CLIP, "", (), None, 0.0, cluster=n))
        has_voice = any(t == "voice" for t, _, _ in self._owners.values())
        source = Source(SOURCE, self._uri, (numbers[-1] + 1) * CLIP if numbers else None, None, None, None, has_voice, None, state="done")
        votes = self._votes()
        graph = ForeignGraph(
            source=source, clips=clips, faces=tuple(faces), utterances=tuple(utterances), nodes=tuple(self._nodes()),
            texts=tuple(self._sentences()), bindings=bindings, votes=tuple(votes), links=tuple(self._links()),
            vectors=tuple(self._vectors()), media=media, model=MODEL,
        )  # fmt: skip
        self._going()
        graph, differs = completed(graph, self._groups, self._going)
        self._note(differs, "characters of the file could not be made persons")
        return Loaded(graph, {**self._counts(graph, len(votes)), "warnings": self._warnings}, self._going)

    def _counts(self, graph: ForeignGraph, votes: int) -> dict[str, Any]:
        return {
            "sources": 1, "clips": len(graph.clips), "people": len(self._groups), "memories": len(graph.texts),
            "nodes": len(graph.nodes) + len(graph.texts), "faces": sum(n.type == "face" for n in graph.nodes),
            "voices": sum(n.type == "voice" for n in graph.nodes), "edges": len(self._edges), "edge_entries": self._entries,
            "equivalences": len(self._equivalent()), "votes": votes, "votes_of_characters": len(graph.votes) - votes,
            "crops": sum(len(t.crops) for t in graph.faces), "embeddings": len(graph.vectors), "reader_peak_bytes": self._peak,
        }  # fmt: skip

    def _nodes(self) -> Iterator[ForeignNode]:
        person = _persons(self._groups)
        for n, (type_, texts, shape) in sorted(self._owners.items()):
            extra: dict[str, Any] = {"original_id": n, "embeddings": {"rows": shape[0], "numbers": shape[1], "placeholder": not shape[2]}}
            if type_ == "voice" and any(texts):
                extra["contents"] = texts
            yield ForeignNode(n, type_, person[n], clip_id(SOURCE, self._seen[n][0]), extra)

    def _sentences(self) -> Iterator[ForeignText]:
        for n, kind, text in self._texts:
            k = self._clip_of[n]
            given = {f"<{self._id(t)}>": (self._observation(t, k),) for t in self._tags[n]}
            language = "zh" if CHINESE.search(text) else "en"
            stored, spans, _ = untag(text, given, language)
            weights = {t: self._edges.get((min(t, n), max(t, n)), 0.0) for t in self._tags[n]}
            weight = max(weights.values(), default=1.0) if kind == "semantic" else 1.0
            extra: dict[str, Any] = {"original_id": n}
            if odd := {str(t): w for t, w in weights.items() if w != weight}:
                extra["edge_weights"] = odd
            sentence = Sentence(
                stored, "semantic" if kind == "semantic" else "episodic", k * CLIP, (k + 1) * CLIP, spans=spans, language=language,
                event="equivalence" if kind == "semantic" and is_equivalence(text) else None,
            )  # fmt: skip
            yield ForeignText(n, clip_id(SOURCE, k), sentence, max(0.0, weight), extra)

    def _links(self) -> Iterator[tuple[str, str]]:
        """Yield edges between a text and a node that its words don't name; edges of other kinds are not imported."""
        kinds = {n: kind for n, kind, _ in self._texts}
        others = 0
        for a, b in sorted(self._edges):
            text, owner = (a, b) if a in kinds and b in self._owners else (b, a)
            if text not in kinds or owner not in self._owners:
                others += 1
            elif owner not in self._tags[text]:
                yield f"{kinds[text]}_{text}", self._id(owner)
        self._note(others, "edges between nodes that M3-Agent's graphs don't join were left out")

    def _vectors(self) -> Iterator[tuple[str, str, str, Floats]]:
        """Yield real embeddings with their owner: the first observation of a face or voice, the node of a text."""
        kinds = {n: kind for n, kind, _ in self._texts}
        for n, vectors in self._rows.items():
            unit = _unit(vectors)
            if n in self._owners:
                type_ = self._owners[n][0]
                yield self._observation(n, self._seen[n][0]), type_, f"{MODEL}-{type_}-{vectors.shape[1]}", unit
            elif n in kinds:
                yield f"{kinds[n]}_{n}", "text", f"{MODEL}-text-{vectors.shape[1]}", unit

    def _crops(self) -> tuple[dict[str, bytes], dict[int, tuple[str, ...]]]:
        """Return the faces' pictures: media id → bytes, and node → media ids, each once."""
        media: dict[str, bytes] = {}
        crops: dict[int, tuple[str, ...]] = {}
        bad = total = 0
        for n, (type_, texts, _) in sorted(self._owners.items()):
            mine: dict[str, None] = {}
            for text in texts if type_ == "face" else ():
                found = picture(text)
                if found is None or total + len(found[0]) > PICTURES:
                    bad += 1
                    continue
                id_ = media_id(*found)
                total += 0 if id_ in media else len(found[0])
                media[id_] = found[0]
                mine[id_] = None
            crops[n] = tuple(mine)
        self._note(bad, "pictures of faces could not be read and were left out")
        return media, crops


# ---------------------------------------------------------------- the parts, pure


def _few(count: int, most: int, what: str) -> None:
    if count > most:
        raise Refused(f"it has more than {most:,} {what}, which is far more than a memory graph has")


def is_equivalence(text: str) -> bool:
    """Return whether a sentence is an equivalence from which the original forms characters."""
    return text.lower().startswith("equivalence: ")


def _undirected(entries: Iterable[list[Any]]) -> dict[tuple[int, int], float]:
    """Return each edge once, with the greater of its two directions' weights."""
    edges: dict[tuple[int, int], float] = {}
    for a, b, weight in entries:
        pair = min(a, b), max(a, b)
        edges[pair] = max(float(weight), edges.get(pair, float(weight)))
    return edges


def _named(text: str, owners: Mapping[int, Any]) -> list[int]:
    """Return the face and voice nodes a text names, each once; a tag of another type or of no node names nobody."""
    tags = dict.fromkeys((type_, int(n)) for type_, n in TAGS.findall(text) if len(n) < 13)
    _few(len(tags), NAMED, "tags in one sentence")
    return [n for type_, n in tags if n in owners and owners[n][0] == type_]


def _clips(nodes: list[tuple[int, str, Any, list[str], Any]], listed: list[list[Any]]) -> dict[int, int]:
    """Return node → the number of its clip: as it says, or as the clips' lists say, else (faces and voices) that of the text made next."""
    by_list = {int(n): int(clip) for clip, ids in listed for n in ids}
    known = {n: (int(clip) if clip is not None else by_list.get(n)) for n, _, clip, _, _ in nodes}
    order = [n for n, _, _, _, _ in nodes]
    found: dict[int, int] = {}
    next_clip: int | None = None
    for n in reversed(order):
        next_clip = known[n] if known[n] is not None else next_clip
        if next_clip is not None:
            found[n] = next_clip
    last = max((c for c in known.values() if c is not None), default=0)
    return {n: found.get(n, last) for n in order}


def _groups(
    characters: Mapping[str, list[str]], owners: Mapping[int, Any], equivalent: list[tuple[int, int, list[int]]]
) -> list[list[int]]:
    """Return who is one, in order of the characters' numbers: as the file says where it speaks of every node, else by its equivalences."""
    ids = {f"{type_}_{n}": n for n, (type_, _, _) in owners.items()}
    ordered = sorted((numbered(name), tags) for name, tags in characters.items() if re.fullmatch(r"character_\d{1,9}", name))
    groups = [[ids[t] for t in tags if t in ids] for _, tags in ordered]
    if sorted(n for g in groups for n in g) == sorted(owners):
        return [g for g in groups if g]
    parent = {n: n for n in owners}

    def root(n: int) -> int:
        while parent[n] != n:
            parent[n] = parent[parent[n]]
            n = parent[n]
        return n

    for _, _, nodes in equivalent:
        for n in nodes[1:]:
            a, b = sorted((root(nodes[0]), root(n)))
            parent[b] = a
    found: dict[int, list[int]] = defaultdict(list)
    for n in sorted(owners):
        found[root(n)].append(n)
    return sorted(found.values(), key=lambda g: (-len(g), g))


def _persons(groups: list[list[int]]) -> dict[int, int]:
    """Return node → initial person number; a character's person has the number of its oldest node."""
    person = {min(g): number for number, g in enumerate(groups)}
    others = sorted(n for g in groups for n in g if n != min(g))
    return person | {n: len(groups) + i for i, n in enumerate(others)}


def completed(graph: ForeignGraph, groups: list[list[int]], going: Callable[[], None] = lambda: None) -> tuple[ForeignGraph, int]:
    """Add votes where the fold would leave nodes of one character unlinked; return how many characters still differ."""
    of = {n.number: n for n in graph.nodes}
    first: dict[str, str] = {}
    for observation, node in graph.bindings.items():
        first.setdefault(node, observation)
    wanted = {of[n].id: i for i, g in enumerate(groups) for n in g}
    differs = len(groups)
    for round_ in range(ROUNDS + 2):
        going()
        person_of = identities(_log(graph)).person_of
        added: list[ForeignVote] = []
        met = _met(graph)
        for group in groups:
            classes: dict[str, list[ForeignNode]] = defaultdict(list)
            for n in group:
                classes[person_of[of[n].id]].append(of[n])
            parts = sorted(classes.values(), key=lambda c: (-len(c), c[0].number))
            added += _joining(parts, first, met, all_=round_ >= ROUNDS)
        mixed: dict[str, set[int]] = defaultdict(set)
        for node, person in person_of.items():
            mixed[person].add(wanted[node])
        if not added:
            differs = sum(len(characters) > 1 for characters in mixed.values())
            break
        graph = replace(graph, votes=(*graph.votes, *added))
    return graph, differs


def _joining(
    classes: list[list[ForeignNode]], first: Mapping[str, str], met: Mapping[str, set[str]], *, all_: bool
) -> Iterator[ForeignVote]:
    """Yield votes that join the parts of a character: first its faces, then voices by equivalence, at last any two.

    `all_`: join all parts at once instead.
    """
    faces = [nodes[0] for c in classes if (nodes := [n for n in c if n.type == "face"])]
    pairs = [(faces[0], n) for n in faces[1:]]
    if all_:
        pairs = [_alike(classes[0], part) for part in classes[1:]]
    if not pairs:
        mine = {n.id: n for n in classes[0]}
        near = _near(mine, met)
        for part in classes[1:]:
            pairs += [p for n in part if n.type == "voice" and (p := _companion(n, mine, met, near))][:1]
    if not pairs and len(classes) > 1:
        pairs = [_alike(classes[0], classes[1])]
    for a, b in pairs:
        one, other = first[a.id], first[b.id]
        clip = max(clip_of(one), clip_of(other), key=clip_index)
        yield ForeignVote(one, other, CHARACTERS, 1.0, clip)


def _alike(part: list[ForeignNode], other: list[ForeignNode]) -> tuple[ForeignNode, ForeignNode]:
    """Return one node of each part, of the same type if possible."""
    types = {n.type: n for n in reversed(other)}
    a = next((n for n in part if n.type in types), None)
    return (a, types[a.type]) if a is not None else (part[0], other[0])


def _met(graph: ForeignGraph) -> dict[str, set[str]]:
    """Return node → the nodes that votes link with it."""
    met: dict[str, set[str]] = defaultdict(set)
    for v in graph.votes:
        a, b = graph.bindings[v.a], graph.bindings[v.b]
        met[a].add(b)
        met[b].add(a)
    return met


def _near(mine: Mapping[str, ForeignNode], met: Mapping[str, set[str]]) -> dict[str, str]:
    """Return node → the first voice of a part that votes link with it."""
    near: dict[str, str] = {}
    for id_ in sorted((n.id for n in mine.values() if n.type == "voice"), key=numbered):
        for between in met.get(id_, ()):
            near.setdefault(between, id_)
    return near


def _companion(
    voice: ForeignNode, mine: Mapping[str, ForeignNode], met: Mapping[str, set[str]], near: Mapping[str, str]
) -> tuple[ForeignNode, ForeignNode] | None:
    """Return a voice of the largest part that an equivalence links with the same node as this one, and this one."""
    both = [near[between] for between in met.get(voice.id, ()) if between in near]
    return (mine[min(both, key=numbered)], voice) if both else None


def _log(graph: ForeignGraph) -> Log:
    """Return as much of a log as the fold of persons needs."""
    log = Log()
    log.add(ObservationRow(o.id, "face", o.clip, o.start, o.end, 0.0, None, None, 1) for o in graph.faces)
    log.add(ObservationRow(o.id, "voice", o.clip, o.start, o.end, 0.0, None, None, 1) for o in graph.utterances)
    log.add(Birth(n.id, n.number, n.type, "", person_id(n.person), n.clip, None, None, 1) for n in graph.nodes)
    log.add(Bound(o, n, None, None, None, graph.model, "", 1) for o, n in graph.bindings.items())
    log.add(Voted(v.a, v.b, v.by, v.weight, v.clip, 1) for v in graph.votes)
    return log


# ---------------------------------------------------------------- numbers and pictures


def _rows(raw: Raw) -> dict[int, Floats]:
    """Return node → its embeddings, without placeholders."""
    found: dict[int, Floats] = {}
    at = 0
    for n, _, _, _, (count, width, kept) in raw.document["nodes"]:
        if kept:
            rows = raw.vectors[at : at + count * width]
            if len(rows) != count * width:
                raise ValueError("embeddings are missing")
            found[int(n)] = rows.reshape(count, width)
            at += count * width
    return found


def _unit(vectors: Floats) -> Floats:
    """Return rows scaled to length 1; NaN and infinity count as 0."""
    clean = np.nan_to_num(vectors, nan=0.0, posinf=0.0, neginf=0.0).astype(np.float32)
    length = np.linalg.norm(clean, axis=1, keepdims=True)
    return np.asarray(clean / np.where(length > 0, length, 1.0), dtype=np.float32)


def picture(text: str) -> tuple[bytes, str] | None:
    """Return a base64 picture's bytes and file extension; None if it is no JPEG or PNG of a plausible size."""
    body = text.split(",", 1)[1] if text.startswith("data:") and "," in text[:80] else text
    if len(body) > PICTURE * 4 // 3:
        return None
    try:
        data = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        return None
    size = _jpeg(data) or _png(data)
    if size is None or not all(4 <= side <= 8192 for side in size):
        return None
    return data, ".jpg" if data[:2] == b"\xff\xd8" else ".png"


def _png(data: bytes) -> tuple[int, int] | None:
    if data[:8] != b"\x89PNG\r\n\x1a\n" or len(data) < 45:
        return None
    width, height = struct.unpack(">II", data[16:24])
    return int(width), int(height)


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Return width and height from a JPEG's frame header; None without one."""
    at = 2
    while data[:2] == b"\xff\xd8" and at + 9 < len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], struct.unpack(">H", data[at + 2 : at + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return int(width), int(height)
        at += 2 + max(2, length)
    return None


__all__ = ["CHARACTERS", "MODEL", "Loaded", "convert", "is_equivalence", "load"]
