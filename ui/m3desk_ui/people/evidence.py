"""Reads what shows or tells who somebody is: faces, spoken words, and sentences where there is neither. Runs in the reading thread."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from m3desk.domain.ids import clip_of, source_of
from m3desk.domain.tags import render

if TYPE_CHECKING:
    from m3desk.domain.memory import Span, StoredSentence
    from m3desk.domain.people import SpeechRow, TrackRow

MEANT = "◆"
"""Stands in a sentence for the face or voice that the sentence is shown for: all others are called by name."""

JOINED = re.compile(r"Equivalence: ")
"""How a sentence of an imported graph begins that only joins a face and a voice: whether they are one is what is asked."""

TOLD = 12
"""Sentences that are read for one face or voice at most."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A face track or utterance; or, of an imported graph, all of a face's or voice's clips together (`observations`).

    `crop`: media id of a face, None for a voice; `words`: what is said; `told`: sentences that rest on it, with MEANT in place of its
    person. `at`: microseconds of `source`, where it begins. `bare`: only that somebody is in the clip is known.
    """

    observations: tuple[str, ...]
    source: str
    at: int
    crop: str | None = None
    words: str = ""
    told: tuple[str, ...] = ()
    kind: str = "face"
    node: str | None = None
    bare: bool = False

    @property
    def observation(self) -> str:
        return self.observations[0]

    @property
    def clips(self) -> int:
        return len({clip_of(o) for o in self.observations})


def read_evidence(reader: Any, observations: Sequence[str]) -> tuple[Evidence, ...]:
    """Return the evidence of these observations, in their order."""
    tracks: dict[str, TrackRow] = {r.track.id: r for r in reader.tracks_of(observations)}
    speech: dict[str, SpeechRow] = {r.utterance.id: r for r in reader.speech_of(observations)}
    there = [o for o in observations if o in tracks or o in speech]
    bare = {o: _node(tracks, speech, o) for o in there if _is_bare(tracks, speech, o)}
    by_node: dict[str, list[str]] = defaultdict(list)
    for o, node in bare.items():
        by_node[node or o].append(o)
    told = sentences_on(reader, by_node) if by_node else {}
    found: list[Evidence] = []
    for o in there:
        mine = by_node[bare[o] or o] if o in bare else [o]
        if mine[0] == o:
            found.append(_evidence(tracks, speech, tuple(mine), told.get(bare[o] or o, ()) if o in bare else (), o in bare))
    return tuple(found)


def _is_bare(tracks: dict[str, TrackRow], speech: dict[str, SpeechRow], o: str) -> bool:
    """Return whether an observation only says that somebody is in a clip, as those of an imported graph do."""
    if o in tracks:
        return not tracks[o].track.boxes
    return not speech[o].utterance.text and speech[o].utterance.audio is None


def _node(tracks: dict[str, TrackRow], speech: dict[str, SpeechRow], o: str) -> str | None:
    return tracks[o].node if o in tracks else speech[o].node


def _evidence(
    tracks: dict[str, TrackRow], speech: dict[str, SpeechRow], mine: tuple[str, ...], told: tuple[str, ...], bare: bool
) -> Evidence:
    first = mine[0]
    if first in tracks:
        crop = next((c for o in mine for c in tracks[o].track.crops), None)
        return Evidence(mine, source_of(first), tracks[first].track.start, crop, told=told, node=tracks[first].node, bare=bare)
    said = speech[first].utterance
    return Evidence(mine, source_of(first), said.start, None, said.text, told, "voice", speech[first].node, bare)


def sentences_on(reader: Any, groups: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    """Return for each group of observations the sentences that speak of it, those that tell most of one person first."""
    group_of = {o: name for name, mine in groups.items() for o in mine}
    found: dict[str, list[tuple[tuple[Any, ...], str]]] = defaultdict(list)
    for clip in sorted({clip_of(o) for o in group_of}):
        rows = [row for row in reader.memories(clip=clip) if not JOINED.match(row.text)]
        names = _names(reader, rows)
        for row in rows:
            for name in {group_of[o] for span in row.spans for o in span.observations if o in group_of}:
                found[name].append((_usefulness(row), meant(row, set(groups[name]), names)))
    return {name: tuple(dict.fromkeys(text for _, text in sorted(rows)))[:TOLD] for name, rows in found.items()}


def _names(reader: Any, rows: Iterable[StoredSentence]) -> dict[str, str]:
    """Return observation → what its person is called, of all that these sentences speak of."""
    observations = {o for row in rows for span in row.spans for o in span.observations}
    tracks, speech = reader.tracks_of(observations), reader.speech_of(observations)
    return {r.track.id: r.shown for r in tracks} | {r.utterance.id: r.shown for r in speech}


def _usefulness(row: StoredSentence) -> tuple[Any, ...]:
    """Return a sort key: what somebody says, does or wears first, then what was concluded; sentences about one person first."""
    about = len({span.observations for span in row.spans})
    return row.kind != "episodic", about > 1, row.source, row.start, row.id


def meant(row: StoredSentence, observations: set[str], names: dict[str, str]) -> str:
    """Return a sentence with MEANT in place of whom these observations show, and the names of all others."""

    def word(span: Span) -> str | None:
        return MEANT if observations.intersection(span.observations) else names.get(span.observations[0])

    return render(row.text, row.spans, word)
