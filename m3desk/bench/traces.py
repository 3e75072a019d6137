"""Searches files byte by byte for traces of a forgotten person, without using any knowledge of the storage format."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from m3desk.domain.evidence import media_hash
from m3desk.store.memory import Memory


@dataclass(frozen=True, slots=True)
class Marks:
    """By what somebody is found: texts (names, words), media ids, rows of vectors as bytes."""

    texts: tuple[str, ...]
    media: frozenset[str]
    vectors: tuple[bytes, ...]


def marks(memory: Memory, person: str, also: Iterable[str] = ()) -> Marks:
    """Gather everything by which files could still tell of a person, while the memory knows them. `also`: more texts."""
    who = memory.person(person)
    tracks = [r.track for s in memory.sources() for r in memory.tracks(s.id) if r.person == who.id]
    speech = [r.utterance for s in memory.sources() for r in memory.speech(s.id) if r.person == who.id]
    ids = {x.id for x in tracks} | {u.id for u in speech} | {s.id for s in memory.memories() if who.id in s.people}
    media = {c for t in tracks for c in t.crops} | {u.audio for u in speech if u.audio}
    media |= {t for clip in {x.clip for x in tracks} if (t := memory.thumbnail(clip))}
    vectors = tuple(
        row.astype("<f4").tobytes() for owner, _, _, _, rows in memory.embeddings() if owner in ids for row in np.atleast_2d(rows)
    )
    texts = [n for n in (who.name, *also) if n] + [u.text for u in speech]
    return Marks(tuple(dict.fromkeys(texts)), frozenset(media), vectors)


def traces(marks_: Marks, folders: Iterable[Path]) -> list[str]:
    """Return every file in these folders that still tells of them, and by what."""
    forms = {form.encode() for t in marks_.texts for form in (t, t.casefold(), t.upper(), json.dumps(t)[1:-1])}
    names = {m.encode() for m in marks_.media}
    hashes = {media_hash(m) for m in marks_.media}
    found = []
    for folder in folders:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            content = path.read_bytes()
            what = [
                *(["their name or words"] if any(f in content for f in forms) else []),
                *(["their face or voice, as vectors"] if any(v in content for v in marks_.vectors) else []),
                *(["the name of their picture or sound"] if path.name in marks_.media or any(n in content for n in names) else []),
                *(["their picture or sound"] if hashlib.sha256(content).hexdigest() in hashes else []),
            ]
            found += [f"{path.relative_to(folder)}: {w}" for w in what]
    return found


__all__ = ["Marks", "marks", "traces"]
