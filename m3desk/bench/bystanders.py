"""How long an approved person stays blurred in bystander mode, and whether anybody else is ever shown: films through the veil.

Who is who comes from the boxes of webrtc_two_men, named by eye, and from the reel's timeline; faces between are followed. For each person
one run: the face is approved once it was in view for two seconds, and from then on each picture is compared with the film.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from m3desk.backends import Backends, profile
from m3desk.bench.identity_material import webrtc_on_the_reel
from m3desk.bench.material import data
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import Box, Floats
from m3desk.domain.geometry import iou
from m3desk.live import bystanders
from m3desk.live.mailbox import Mailbox, packed, unpacked
from m3desk.media.streams import Showing, open_media
from m3desk.models import weights
from m3desk.perception.sightings import sightings, vector
from m3desk.ports import FaceDetector, FaceEmbedder, Picture

FILMS = {
    "webrtc_2": ("video", "webrtc_two_men", "vp9_webrtc_2.webm"),
    "webrtc_4": ("video", "webrtc_two_men", "vp9_webrtc_4.webm"),
    "reel": ("video", "reel", "reel_shared.mp4"),
}
"""Rules are chosen on webrtc_2 only; the others check them."""

CHOSEN_ON = ("webrtc_2",)
TWICE = ("man_A", "man_B", "Alexandria Ocasio-Cortez", "grid_p3")
"""Who is approved, of those in a film: people who come again."""

EVERY = 3
"""Each which picture of a film is compared."""

PACE = 0.2
"""Seconds between two looks of the veil: as on a machine that is not busy."""

IN_VIEW = 2 * MICROSECOND
"""How long a person is in view before the approval, at least."""

SETTLES = MICROSECOND
"""After the approval, what is not counted as blurred again."""

SHOWN = 0.5
"""Less of a face's pixels than this is changed: it is shown."""

ALIKE, LEAD = 0.45, 0.10
"""Similarity to a person's faces that were named by eye, and the lead over the next, by which a face in between is theirs."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A face of a film. `person`: who it is; "" where it can't be told; "?" somebody else than those who are approved."""

    box: Box
    person: str


@dataclass
class Result:
    """Pictures (each EVERY-th) with the approved person's face after the approval, those where it is blurred, in order of time."""

    times: list[int] = field(default_factory=list)
    blurred: list[int] = field(default_factory=list)
    others: int = 0
    shown: list[int] = field(default_factory=list)
    approved_at: int | None = None

    def report(self) -> dict[str, Any]:
        step = EVERY / 25
        runs, hidden = [0], set(self.blurred)
        for at in self.times:
            runs = [*runs[:-1], runs[-1] + 1] if at in hidden else [*runs, 0]
        return {
            "approved_at": None if self.approved_at is None else round(self.approved_at / MICROSECOND, 1),
            "in_view_s": round(len(self.times) * step, 1),
            "blurred_s": round(len(self.blurred) * step, 1),
            "longest_blurred_s": round(max(runs) * step, 1),
            "faces_of_others": self.others,
            "others_shown": len(self.shown),
            "others_shown_at": [round(at / MICROSECOND, 2) for at in self.shown[:10]],
        }


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Run the films named (default: all). Raises FileNotFoundError without the material."""
    names = [a for a in args if a in FILMS] or list(FILMS)
    backends = Backends(weights, profile=profile("embedded"), threads=1)
    detector, embedder = backends.get("faces"), backends.get("face_vectors")
    assert detector is not None and embedder is not None, "they come with the program"
    report: dict[str, Any] = {"rules_chosen_on": list(CHOSEN_ON)}
    for name in names:
        film = data(*FILMS[name])
        truth = _truth(name, film, detector, embedder)
        people = sorted({s.person for seen in truth.values() for s in seen} & set(TWICE))
        report[name] = {person: _run(film, person, truth, detector, embedder).report() for person in people}
    return report


def lines(report: dict[str, Any]) -> list[str]:
    """Return a line a person and film."""
    told = [f"rules chosen on: {', '.join(report['rules_chosen_on'])}; the others only checked"]
    for film, people in report.items():
        for person, r in people.items() if isinstance(people, dict) else ():
            told.append(
                f"{film}, {person} approved at {r['approved_at']} s: blurred {r['blurred_s']} of {r['in_view_s']} s afterwards, "
                f"{r['longest_blurred_s']} s at most at a time; others shown in {r['others_shown']} of {r['faces_of_others']} faces"
            )
    return told


# ---------------------------------------------------------------- the veil


def _run(film: Path, person: str, truth: dict[int, list[Seen]], detector: FaceDetector, embedder: FaceEmbedder) -> Result:
    """Send a film through the veil, approve one person, and look at each picture that comes out."""
    result = Result()
    kept = bystanders.SHARE, bystanders.SOONEST, bystanders.POLL
    bystanders.SHARE, bystanders.SOONEST, bystanders.POLL = 0.0, PACE, 0.0
    try:
        with tempfile.TemporaryDirectory(prefix="m3desk-bench-veil-") as place:
            mail = Mailbox(Path(place))
            veil = bystanders.Veil(place, detector, embedder)
            held: deque[tuple[int, Picture]] = deque()
            first: int | None = None
            wanted = ""
            for at, picture in _pictures(film):
                held.append((at, picture))
                ready = veil.put(at, picture)
                for moment, veiled in ready:
                    _look(result, person, truth.get(moment, ()), moment, held.popleft()[1], veiled)
                mine = next((s for s in truth.get(at, ()) if s.person == person), None)
                if mine is not None and first is None:
                    first = at
                if not wanted and first is not None and mine is not None and at - first >= IN_VIEW:
                    wanted = _track(mail, mine.box)
                    if wanted:
                        mail.put("wanted.json", json.dumps([wanted]).encode())
                if wanted and result.approved_at is None and (content := mail.news(f"track-{wanted}.npz")) is not None:
                    rows = unpacked(content).get("rows")
                    if rows is None:
                        wanted = ""
                        continue
                    result.approved_at = at
                    approved(mail, wanted, rows)
            for moment, veiled in veil.finish():
                _look(result, person, truth.get(moment, ()), moment, held.popleft()[1], veiled)
    finally:
        bystanders.SHARE, bystanders.SOONEST, bystanders.POLL = kept
    return result


def approved(mail: Mailbox, track: str, rows: Floats) -> None:
    """Tell the veil what the engine tells it when a face was approved: a person of the memory, known by the faces that it handed out."""
    mail.put(
        "approved.npz",
        packed(people=np.array(["person_1"]), owner=np.zeros(len(rows), int), rows=rows, tracks=np.array([[track, "person_1"]])),
    )


def _track(mail: Mailbox, box: Box) -> str:
    told = mail.news("seen.json")
    faces = json.loads(told)["faces"] if told else []
    best = max(faces, key=lambda f: iou(tuple(f["box"]), box), default=None)
    return str(best["track"]) if best and best["hidden"] and iou(tuple(best["box"]), box) > 0.3 else ""


def _look(result: Result, person: str, seen: Sequence[Seen], at: int, before: Picture, after: Picture) -> None:
    for face in seen:
        shown = _changed(face.box, before, after) < SHOWN
        if face.person == person:
            if result.approved_at is not None and at >= result.approved_at + SETTLES:
                result.times.append(at)
                if not shown:
                    result.blurred.append(at)
        elif face.person:
            result.others += 1
            if shown:
                result.shown.append(at)


def _changed(box: Box, before: Picture, after: Picture) -> float:
    x, y, w, h = (max(0, round(v)) for v in box)
    one, other = before[y : y + h, x : x + w], after[y : y + h, x : x + w]
    return float((one != other).any(2).mean()) if one.size else 1.0


def _pictures(film: Path) -> Iterator[tuple[int, Picture]]:
    with open_media(film) as opened:
        showing = Showing(opened)
        for packet in opened.packets("picture"):
            for frame in packet.decode():
                yield opened.time(packet.stream, frame.pts), showing.bgr(frame)


# ---------------------------------------------------------------- who is who


def _truth(name: str, film: Path, detector: FaceDetector, embedder: FaceEmbedder) -> dict[int, list[Seen]]:
    """Return the faces of each EVERY-th picture, by its time."""
    named = _named(name, film)
    faces: dict[int, list[tuple[Box, Floats, float]]] = {}
    examples: dict[str, list[Floats]] = {}
    for n, (at, picture) in enumerate(_pictures(film)):
        close = [b for b in named if abs(b["t"] * MICROSECOND - at) <= 20_000]
        if n % EVERY and not close:
            continue
        found = [(s.box, vector(embedder, s), s.quality) for s in sightings(detector, picture, n, at)]
        for b in close:
            best = max(found, key=lambda f: iou(f[0], tuple(b["box"])), default=None)
            if best is not None and iou(best[0], tuple(b["box"])) > 0.4:
                examples.setdefault(b["person"], []).append(best[1])
        if n % EVERY == 0:
            faces[at] = found
    known = {person: np.stack(rows) for person, rows in examples.items()}
    scenes = _scenes() if name == "reel" else []
    return {at: _told(found, known, next((s for s in scenes if s["start"] <= at / 1e6 < s["end"]), None)) for at, found in faces.items()}


def _told(found: Sequence[tuple[Box, Floats, float]], known: dict[str, Floats], scene: dict[str, Any] | None) -> list[Seen]:
    """Say whose the faces of a picture are. In a scene of the reel nobody is seen but those in its timeline."""
    alone = scene["persons"][0] if scene is not None and len(scene["persons"]) == 1 and not scene["others"] else ""
    if alone:
        return [Seen(box, alone if len(found) == 1 else "") for box, _, _ in found]
    if scene is not None and not set(scene["persons"]) & set(known):
        return [Seen(box, "" if set(scene["persons"]) & set(TWICE) or scene["others"] else "?") for box, _, _ in found]
    told = []
    for box, row, _ in found:
        like = Counter({person: round(float((rows @ row).max()), 3) for person, rows in known.items()}).most_common(2)
        clear = bool(like) and like[0][1] >= ALIKE and (len(like) < 2 or like[0][1] - like[1][1] >= LEAD)
        told.append(Seen(box, like[0][0] if clear else ""))
    people = [s.person for s in told]
    return [s if people.count(s.person) == 1 else Seen(s.box, "") for s in told]


def _named(name: str, film: Path) -> list[dict[str, Any]]:
    if name == "reel":
        return webrtc_on_the_reel()
    everything = json.loads(data("video", "webrtc_two_men", "boxes.json").read_text("utf-8"))["boxes"]
    return [b for b in everything if b["file"] == film.name]


def _scenes() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(data("video", "reel", "reel_shared.timeline.json").read_text("utf-8"))["timeline"]
    return found
