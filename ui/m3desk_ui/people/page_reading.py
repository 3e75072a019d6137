"""Reads a person's page: everything once, then what each commit changed of it. Runs in the reading thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from m3desk.domain.ids import source_of
from m3desk_ui.memory.order import in_time, sentences, when

if TYPE_CHECKING:
    from m3desk.domain.changed import Changed
    from m3desk.domain.clip import Source
    from m3desk.domain.memory import StoredSentence
    from m3desk.domain.people import Person, SpeechRow, TrackRow

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PersonDetails:
    """Everything that the page shows, read in one go."""

    person: Person
    memories: tuple[StoredSentence, ...]
    tracks: tuple[TrackRow, ...]
    speech: tuple[SpeechRow, ...]
    durations: tuple[tuple[str, str, int], ...]
    """(source, file name, microseconds)."""
    consent: str = ""
    """The user's note on what this person agreed to."""


@dataclass(frozen=True, slots=True)
class Part:
    """What changed of a page. `nodes`, `observations`: all ids that changed. `person`, `durations`: None where they did not."""

    person: Person | None
    nodes: frozenset[str]
    memories: tuple[StoredSentence, ...]
    observations: frozenset[str]
    tracks: tuple[TrackRow, ...]
    speech: tuple[SpeechRow, ...]
    durations: tuple[tuple[str, str, int], ...] | None
    consent: str | None = None


def read_page(reader: Any, ref: str) -> PersonDetails:
    """Read a person's page (in the reading thread)."""
    person = reader.person(ref)
    sources = reader.sources()
    tracks = tuple(r for s in sources for r in reader.tracks(s.id) if r.person == person.id)
    speech = tuple(r for s in sources for r in reader.speech(s.id) if r.person == person.id)
    consent = reader.consents().get(person.id, "")
    return PersonDetails(person, tuple(reader.memories(person=person.id)), tracks, speech, _durations(sources), consent)


def _durations(sources: Sequence[Source]) -> tuple[tuple[str, str, int], ...]:
    return tuple((s.id, s.uri.rsplit("/", 1)[-1], s.duration) for s in sources if s.duration)


def read_part(reader: Any, id_: str, changed: Changed) -> Part:
    """Read what a commit changed of a person's page."""
    nodes, sources = sentences(changed), reader.sources()
    videos = {s.id for s in sources}  # what somebody is taught from is no moment of theirs
    observations = [o for o in changed.observations if source_of(o) in videos]
    return Part(
        reader.person(id_) if id_ in changed.people else None,
        nodes,
        tuple(m for m in reader.memories_of(nodes) if id_ in m.people) if nodes else (),
        changed.observations,
        tuple(r for r in reader.tracks_of(observations) if r.person == id_) if observations else (),
        tuple(r for r in reader.speech_of(observations) if r.person == id_) if observations else (),
        _durations(sources) if changed.sources else None,
        reader.consents().get(id_, "") if id_ in changed.people else None,
    )


def patched(page: PersonDetails, part: Part) -> PersonDetails:
    """Return the page with the changes applied; the same object if nothing changed."""
    person = part.person or page.person
    memories = _put(page.memories, part.memories, part.nodes, lambda m: m.id, in_time)
    tracks = _put(page.tracks, part.tracks, part.observations, lambda r: r.track.id, lambda r: when(r.track.id, r.track.start))
    speech = _put(page.speech, part.speech, part.observations, lambda r: r.utterance.id, lambda r: when(r.utterance.id, r.utterance.start))
    if person.shown != page.person.shown:
        tracks = tuple(replace(r, shown=person.shown) for r in tracks)
        speech = tuple(replace(r, shown=person.shown) for r in speech)
    durations = page.durations if part.durations is None else part.durations
    now = PersonDetails(person, memories, tracks, speech, durations, page.consent if part.consent is None else part.consent)
    return page if now == page else now


def _put(
    rows: tuple[T, ...], new: Sequence[T], ids: Collection[str], name: Callable[[T], str], place: Callable[[T], tuple[Any, ...]]
) -> tuple[T, ...]:
    """Return rows in order with those of `ids` replaced by the new ones; the same object where none of them is here."""
    if not new and not any(name(r) in ids for r in rows):
        return rows
    return tuple(sorted((*(r for r in rows if name(r) not in ids), *new), key=place))
