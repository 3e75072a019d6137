"""Notes with an answer what it rests on (`domain.basis`), so that a later correction can be told of."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Protocol

from m3desk.domain.basis import names, said_by
from m3desk.domain.graph import NodeRow
from m3desk.domain.memory import StoredSentence
from m3desk.domain.people import Person
from m3desk.events import AskDone


class Cited(Protocol):
    """What is read of a memory."""

    def memories_of(self, ids: Collection[str]) -> list[StoredSentence]: ...
    def nodes_of(self, ids: Collection[str]) -> list[NodeRow]: ...


def with_basis(done: AskDone, people: Iterable[Person], reader: Cited) -> AskDone:
    """Return an answer with what its citations say, and what the people in it are called."""
    nodes = {c.node for c in done.citations if c.node}
    called = {p.id: p.shown for p in people}
    said = said_by(reader.memories_of(nodes), reader.nodes_of(nodes), called) if nodes else {}
    text = "\n".join((done.answer, *said.values()))
    return replace(
        done,
        citations=tuple(replace(c, said=said.get(c.node or "", "")) for c in done.citations),
        called=tuple((id_, name) for id_, name in called.items() if names(text, name)),
    )
