"""A small memory made by hand, in English or Chinese, and the fakes that control's tests need: reader, text vectors, language model."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import numpy as np

from m3desk.control.search import Search
from m3desk.control.snapshots import Snapshot
from m3desk.domain.clear_speech import is_unclear
from m3desk.domain.clip import Clip, Source
from m3desk.domain.evidence import FaceTrack, ObjectSeen, TextOnScreen, Utterance
from m3desk.domain.graph import GraphSnapshot, NodeRow
from m3desk.domain.memory import Outline, Span, StoredSentence
from m3desk.domain.people import Observed, Person, SpeechRow, SuggestedName, TrackRow
from m3desk.ports import Message
from m3desk.store.index.words import words

S = 1_000_000
BOX = (0.0, 0.0, 10.0, 10.0)


def person(
    number: int, name: str | None = None, suggested: str | None = None, seen: bool = True, heard: bool = True, evidence: str = ""
) -> Person:
    names = (SuggestedName(suggested, 0.8, (evidence,), f"Host {suggested.upper()}"),) if suggested else ()
    return Person(
        f"person_{number}",
        number,
        name,
        "confirmed" if name else "suggested" if suggested else "none",
        name or (f"{suggested}?" if suggested else f"Person {number}"),
        names,
        faces=(f"face_{number}",) if seen else (),
        voices=(f"voice_{number}",) if heard else (),
    )


class MadeReader:
    """A memory of one or more sources, told by `see`, `hear`, `text`, `thing` and `know`, each of which writes its sentence too."""

    path = "made"

    def __init__(self, *people: Person, clips: int = 4, sources: int = 1) -> None:
        self._people = list(people)
        self._sources = [Source(f"s{n}", f"v{n}.mp4", clips * 30 * S, 640, 360, 25.0, True, None) for n in range(1, sources + 1)]
        self._clips = [Clip(f"{s.id}.c{i}", s.id, i, i * 30 * S, (i + 1) * 30 * S, "done") for s in self._sources for i in range(clips)]
        self._sentences: list[StoredSentence] = []
        self._tracks: list[TrackRow] = []
        self._speech: list[SpeechRow] = []
        self._objects: list[ObjectSeen] = []
        self._texts: list[TextOnScreen] = []

    # -- telling

    def tell(
        self,
        text: str,
        at: float,
        end: float,
        *,
        who: Sequence[int] = (),
        kind: str = "episodic",
        event: str | None = None,
        language: str = "en",
        source: str = "s1",
        citations: tuple[str, ...] = (),
        entities: tuple[str, ...] = (),
        said: str = "",
        **more: object,
    ) -> StoredSentence:
        """Add a sentence; each `@` stands for the next of `who`, `said` goes in at `~` as quoted words."""
        word = "某人" if language == "zh" else "someone"
        stored, shown, tagged, spans, left = "", "", "", [], list(who)
        names = {p.number: p.shown for p in self._people}
        for ch in text:
            if ch == "@" and left:
                number = left.pop(0)
                spans.append(Span(len(stored), len(stored) + len(word), (f"o{number}",)))
                stored, shown, tagged = stored + word, shown + names[number], f"{tagged}<person_{number}>"
            else:
                add = said if ch == "~" and said else ch
                stored, shown, tagged = stored + add, shown + add, tagged + add
        clip = f"{source}.c{int(at // 30)}"
        s = StoredSentence(
            f"{kind}_{len(self._sentences) + 1}",
            kind,
            stored,
            shown,
            tagged,
            clip,
            source,
            int(at * S),
            int(end * S),
            1.0,
            tuple(dict.fromkeys(f"person_{n}" for n in who)),
            citations,
            tuple(spans),
            event=event,
            language=language,
            entities=entities,
            **more,
        )
        self._sentences.append(s)
        return s

    def see(self, who: int, at: float, end: float, source: str = "s1", language: str = "en") -> None:
        clip = f"{source}.c{int(at // 30)}"
        track = FaceTrack(f"{clip}.f{len(self._tracks)}", clip, int(at * S), int(end * S), (), 0.9, 0.9)
        self._tracks.append(TrackRow(track, f"face_{who}", f"person_{who}", "", False))
        text = "@进入画面。" if language == "zh" else "@ comes into view."
        self.tell(text, at, end, who=[who], event="appears", language=language, source=source, citations=(track.id,))

    def hear(self, who: int, said: str, at: float, end: float, source: str = "s1", language: str = "en", confidence: float = 0.9) -> None:
        clip = f"{source}.c{int(at // 30)}"
        u = Utterance(f"{clip}.u{len(self._speech)}", clip, int(at * S), int(end * S), said, (), language, confidence)
        self._speech.append(SpeechRow(u, f"voice_{who}", f"person_{who}", "", False))
        text = "@说：“~”" if language == "zh" else "@ says: “~”"
        self.tell(text, at, end, who=[who], event="says", language=language, source=source, citations=(u.id,), said=said)

    def text(self, said: str, at: float, end: float, source: str = "s1") -> None:
        self._texts.append(TextOnScreen(f"{source}.c{int(at // 30)}", int(at * S), int(end * S), said, 0.9, BOX))
        self.tell("The text “~” appears on screen.", at, end, event="text", source=source, said=said)

    def thing(self, label: str, at: float, end: float, source: str = "s1") -> None:
        self._objects.append(ObjectSeen(f"{source}.c{int(at // 30)}", int(at * S), int(end * S), label, 0.9, BOX))
        self.tell(f"In view: a {label}.", at, end, event="object", source=source, entities=(label,))

    def know(self, text: str, who: Sequence[int], at: float, **more: object) -> None:
        self.tell(text, at, at + 1, who=who, kind="semantic", **more)

    # -- a Reader

    def version(self) -> int:
        return len(self._sentences)

    def sources(self) -> list[Source]:
        return self._sources

    def clips(self, source: str | None = None) -> list[Clip]:
        return [c for c in self._clips if source in (None, c.source)]

    def people(self) -> list[Person]:
        return self._people

    def memories(self, **only: object) -> list[StoredSentence]:
        return list(self._sentences)

    def tracks(self, source: str, start: int | None = None, end: int | None = None) -> list[TrackRow]:
        return [r for r in self._tracks if _touches(r.track, source, start, end)]

    def speech(self, source: str, start: int | None = None, end: int | None = None) -> list[SpeechRow]:
        return [r for r in self._speech if _touches(r.utterance, source, start, end)]

    def objects(self, source: str, start: int | None = None, end: int | None = None) -> list[ObjectSeen]:
        return [o for o in self._objects if _touches(o, source, start, end)]

    def texts(self, source: str, start: int | None = None, end: int | None = None) -> list[TextOnScreen]:
        return [t for t in self._texts if _touches(t, source, start, end)]

    def node(self, id_: str) -> NodeRow:
        kind, number = id_.split("_")
        row = next((r for r in self._tracks if r.node == id_), None)
        start, clip = (row.track.start, row.track.clip) if row else (0, "s1.c0")
        return NodeRow(id_, kind, id_, id_, 1.0, clip, "s1", start, start + S, f"person_{number}")

    def memories_of(self, ids: Collection[str]) -> list[StoredSentence]:
        return [s for s in self._sentences if s.id in ids]

    def nodes_of(self, ids: Collection[str]) -> list[NodeRow]:
        return [n for n in self.graph().nodes if n.id in ids]

    def graph(self) -> GraphSnapshot:
        things = {o.label: o for o in self._objects}
        rows = [NodeRow(f"object_{n}", "object", t, t, 1.0, o.clip, "s1", o.start, o.end) for n, (t, o) in enumerate(things.items())]
        return GraphSnapshot(tuple(rows), (), self.version())

    def things(self) -> list[NodeRow]:
        return list(self.graph().nodes)

    def sentence(self, node: str) -> StoredSentence:
        return next(s for s in self._sentences if s.id == node)

    def outlines(self, ids: Collection[str] | None = None) -> list[Outline]:
        return [outline(s) for s in self._sentences if ids is None or s.id in ids]

    def text_vectors(self, model: str, ids: Collection[str] | None = None) -> Iterator[tuple[list[str], np.ndarray]]:
        names, rows = self.vectors("text", model)
        held = [n for n, id_ in enumerate(names) if ids is None or id_ in ids]
        yield [names[n] for n in held], rows[held]

    def observed(self, ids: Collection[str] | None = None) -> list[Observed]:
        rows = [(r.track, r, None, False) for r in self._tracks]
        rows += [(r.utterance, r, r.utterance.text, is_unclear(r.utterance)) for r in self._speech]
        return [
            Observed(o.id, o.clip, o.clip.split(".")[0], o.start, o.end, r.node, r.person, words, unclear)
            for o, r, words, unclear in rows
            if r.person and not r.set_aside and (words is None or words.strip()) and (ids is None or o.id in ids)
        ]

    def vectors(self, kind: str, model: str) -> tuple[list[str], np.ndarray]:
        return [s.id for s in self._sentences], BagOfWords().embed([s.text for s in self._sentences])


def _touches(o: object, source: str, start: int | None, end: int | None) -> bool:
    clip, a, b = o.clip, o.start, o.end  # type: ignore[attr-defined]
    return clip.startswith(source + ".") and (start is None or b >= start) and (end is None or a < end)


def outline(s: StoredSentence) -> Outline:
    """Return what search keeps of a sentence."""
    return Outline(
        s.id, s.kind, s.text, s.clip, s.source, s.start, s.end, s.weight, s.people, s.entities, s.event, bool(s.valid_until), s.stale,
        s.pinned, s.citations if s.event == "says" else (),
    )  # fmt: skip


class BagOfWords:
    """Text vectors of hashed words: honest about shared words, ignorant of meaning."""

    name = "bag 1"
    dimension = 64

    def embed(self, texts: Sequence[str], *, query: bool = False) -> np.ndarray:
        rows = np.full((len(texts), self.dimension), 1e-3, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for w in words(text):
                row[zlib.crc32(w.encode()) % self.dimension] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Scripted:
    """A language model that gives set replies in pieces and keeps what it was asked."""

    name = "scripted 1"
    context = 4096

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.asked: list[list[Message]] = []
        self.grammars: list[str | None] = []

    def reply(
        self,
        messages: Sequence[Message],
        *,
        grammar: str | None = None,
        schema: object = None,
        max_tokens: int = 256,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        self.asked.append(list(messages))
        self.grammars.append(grammar)
        text = self.replies.pop(0)
        yield from (text[i : i + 7] for i in range(0, len(text), 7))


def searching(reader: MadeReader, folder: Path, vectors: bool = True) -> Search:
    known = Snapshot.read(reader, words, BagOfWords.name if vectors else "")
    return Search(reader, known, BagOfWords() if vectors else None, known)


def english() -> MadeReader:
    """Ann (named), Jeff Steen? (by a caption), Person 3 (nameless), and a voice off screen, in four clips."""
    r = MadeReader(person(1, "Ann Lee"), person(2, None, "Jeff Steen", evidence="screen:4000000-9000000"), person(3), person(4, seen=False))
    r.see(1, 0, 8)
    r.hear(1, "The red mug is on the shelf in the kitchen.", 1, 4)
    r.see(2, 4, 12)
    r.text("Host JEFF STEEN", 4, 9)
    r.hear(2, "Welcome to the show, we talk about the budget today.", 5, 9)
    r.thing("dining table", 10, 20)
    r.see(3, 33, 50)
    r.hear(3, "My flight to Zurich leaves at nine.", 35, 38)
    r.hear(4, "Please close the door.", 62, 64)
    r.see(1, 92, 99)
    r.hear(1, "Bin blue at F two now.", 93, 96)
    r.text("Room 12", 95, 98)
    r.know("@ keeps the red mug in the kitchen.", [1], 1)
    return r


def chinese() -> MadeReader:
    r = MadeReader(person(1, "李明"), person(2))
    r.see(1, 0, 8, language="zh")
    r.hear(1, "红色的杯子在厨房的架子上。", 1, 4, language="zh")
    r.see(2, 12, 20, language="zh")
    r.hear(2, "我们明天下午去苏黎世。", 13, 16, language="zh")
    return r
