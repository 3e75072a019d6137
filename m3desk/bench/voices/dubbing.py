"""Pictures with somebody else's sound: every talking clip with the sound of every other, and speech over people who keep silent.

Pictures and sound are perceived once each, in this process, and put together as a clip's are; votes are those of the memory writer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from m3desk import backends, models
from m3desk.bench.material import data
from m3desk.bench.voices.division import LIPS as TALKING
from m3desk.domain.clip import MICROSECOND, Clip
from m3desk.domain.equivalence import SUFFICIENT
from m3desk.domain.evidence import Perceived
from m3desk.media.cutter import FileClip
from m3desk.media.file import probe
from m3desk.memorization.speaking import votes
from m3desk.perception.faces import VisualEvidence, see
from m3desk.perception.perceive import merge
from m3desk.perception.voices import SpeechEvidence, hear
from m3desk.ports import Models

LONGEST = 30 * MICROSECOND

SAME = ({"video/grid/id2_vcd_swwp2s.mpg", "video/grid/pwij3p.mpg"},)
"""Clips of one person: not exchanged."""

SEVERAL = ("googlework", "talkshow", "debate_split", "hyland_careers")
"""Clips of several people, of which one person's own link is not counted here (the row `links` does)."""

SILENT = {
    "calibration": ("video/webrtc_two_men/vp9_webrtc_2.webm",),
    "validation": ("video/webrtc_two_men/vp9_webrtc_4.webm", "video/tos/tears_of_steel_16s.webm"),
}
"""Clips without sound, over which somebody speaks here."""


@dataclass(frozen=True)
class Half:
    """A clip with what was seen or heard of it."""

    clip: Clip
    seen: VisualEvidence
    heard: SpeechEvidence


def media_of(path: str) -> FileClip:
    """Return the first 30 s of a file of the shared data, as a clip."""
    file = data(*path.split("/"))
    source = replace(probe(Path(file)), id="s1", sha256=path, uri=str(file))
    return FileClip(source, Clip("s1.c0", "s1", 0, 0, min(source.duration or LONGEST, LONGEST), "queued", None), str(file))


def perceived(path: str, hearing: Models, *, silent: bool = False) -> Half:
    """Perceive the first 30 s of a file of the shared data. `silent`: its pictures only."""
    media = media_of(path)
    loaded = backends.Backends(models.weights)
    seeing = Models(faces=loaded.get("faces"), face_vectors=loaded.get("face_vectors"), objects=loaded.get("objects"))
    return Half(media.clip, see(media, seeing), SpeechEvidence() if silent else hear(media, hearing))


def joined(pictures: Half, sound: Half) -> Perceived:
    """Return a clip's evidence with the pictures of one and the sound of another."""
    clip = pictures.clip
    said = tuple(u for u in sound.heard.utterances if u.start < clip.end)
    heard = SpeechEvidence(said, bands=sound.heard.bands)
    return merge(clip, replace(pictures.seen, vectors={}, media={}), heard)


def strongest(pictures: Half, sound: Half) -> float:
    """Return the weight of the strongest vote that a face and a voice are one person, 0 without any; 1 links them."""
    cast = votes(joined(pictures, sound), pictures.clip.end)
    return max((v.weight for v in cast), default=0.0)


def exchanged(talking: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (pictures, sound) for all pairs of clips of different people."""
    for one in talking:
        for other in talking:
            if one != other and {one, other} not in SAME:
                yield one, other


def measured(side: str, hearing: Models) -> dict[str, Any]:
    """Return how many of a side's own, exchanged and narrated clips link a face and a voice at once, or would with a second such clip."""
    talking = {path: perceived(path, hearing) for path in TALKING[side]}
    silent = {path: perceived(path, hearing, silent=True) for path in SILENT[side]}
    own = {p: strongest(h, h) for p, h in talking.items() if not any(name in p for name in SEVERAL)}
    dubbed = {f"{a} with {b}": strongest(talking[a], talking[b]) for a, b in exchanged(TALKING[side])}
    narrated = {f"{a} with {b}": strongest(silent[a], talking[b]) for a in silent for b in talking}
    return {
        name: {
            "clips": len(rows), "linked": sum(w >= SUFFICIENT for w in rows.values()),
            "weak": sum(0 < w < SUFFICIENT for w in rows.values()), "which": {p: w for p, w in rows.items() if w > 0},
        }
        for name, rows in (("own", own), ("dubbed", dubbed), ("narrated", narrated))
    }  # fmt: skip
