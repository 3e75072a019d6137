"""A memory made of lines for tests of evaluation: who was seen where, who was heard when, and whom the memory took them for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from m3desk.domain.clip import Clip, Source, microseconds
from m3desk.domain.evidence import FaceTrack, TimedBox, Utterance
from m3desk.domain.memory import Span, StoredSentence
from m3desk.domain.people import Person, SpeechRow, TrackRow


@dataclass
class Made:
    """A memory that answers what evaluation asks of one."""

    files: tuple[str, ...] = ("talk.mp4",)
    seconds: float = 100.0
    rows: list[TrackRow] = field(default_factory=list)
    said: list[SpeechRow] = field(default_factory=list)
    told: list[StoredSentence] = field(default_factory=list)

    def sees(
        self, start: float, end: float, node: int | None, person: int | None, *, x: float = 0.0, source: str = "s1", aside: bool = False
    ) -> str:
        """Add a face track whose box (50 × 50, five a second) stays at `x`; return its id."""
        id_ = f"{source}.c0.f{len(self.rows)}"
        times = range(microseconds(start), microseconds(end) + 1, 200_000)
        track = FaceTrack(
            id_, f"{source}.c0", microseconds(start), microseconds(end), tuple(TimedBox(t, x, 10.0, 50.0, 50.0) for t in times), 0.9, 0.8
        )
        self.rows.append(TrackRow(track, _id("face", node), _id("person", person), "", aside))
        return id_

    def hears(self, start: float, end: float, node: int | None, person: int | None, source: str = "s1") -> str:
        """Add an utterance; return its id."""
        id_ = f"{source}.c0.u{len(self.said)}"
        u = Utterance(id_, f"{source}.c0", microseconds(start), microseconds(end), "", (), None, 0.9)
        self.said.append(SpeechRow(u, _id("voice", node), _id("person", person), "", False))
        return id_

    def tells(self, *spans: Sequence[str], event: str = "appears", citations: Sequence[str] = ()) -> str:
        """Add a sentence of these spans (each the observations it rests on); return its id."""
        id_ = f"episodic_{len(self.told)}"
        parts = tuple(Span(i, i + 1, tuple(o)) for i, o in enumerate(spans))
        self.told.append(
            StoredSentence(id_, "episodic", "", "", "", "s1.c0", "s1", 0, 1, 1.0, spans=parts, event=event, citations=tuple(citations))
        )
        return id_

    # what evaluation asks

    def sources(self) -> list[Source]:
        return [
            Source(f"s{i}", f"/videos/{name}", microseconds(self.seconds), 640, 360, 25.0, True, None)
            for i, name in enumerate(self.files, 1)
        ]

    def clips(self, source: str | None = None) -> list[Clip]:
        return [Clip(f"{source}.c0", source or "", 0, 0, microseconds(self.seconds), "done")]

    def tracks(self, source: str, start: int | None = None, end: int | None = None) -> list[TrackRow]:
        return [r for r in self.rows if r.track.id.startswith(source + ".")]

    def speech(self, source: str, start: int | None = None, end: int | None = None) -> list[SpeechRow]:
        return [r for r in self.said if r.utterance.id.startswith(source + ".")]

    def people(self) -> list[Person]:
        held = sorted({(r.person, r.node) for r in (*self.rows, *self.said) if r.person and r.node})
        found = []
        for p in sorted({person for person, _ in held}):
            nodes = [n for q, n in held if q == p]
            faces, voices = (tuple(n for n in nodes if n.startswith(kind)) for kind in ("face", "voice"))
            found.append(Person(p, int(p[7:]), None, "none", p, faces=faces, voices=voices))
        return found

    def memories(
        self, *, kind: str | None = None, person: str | None = None, source: str | None = None, clip: str | None = None
    ) -> list[StoredSentence]:
        return self.told


def _id(kind: str, number: int | None) -> str | None:
    return None if number is None else f"{kind}_{number}"
