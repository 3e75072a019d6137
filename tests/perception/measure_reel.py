"""Measure how many scenes of a labelled video have the face tracks they should: python tests/perception/measure_reel.py [--until 60]."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from m3desk.domain.clip import seconds
from m3desk.domain.evidence import FaceTrack
from m3desk.media.cutter import FileClip, plan
from m3desk.media.file import probe
from m3desk.paths import models_dir, resources
from m3desk.perception.faces import Stopwatch, VisualEvidence, see
from m3desk.ports import Models

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "video"


@dataclass(frozen=True, slots=True)
class Scene:
    """A labelled scene, and the most faces that tracks show in it at once, and what share of its pictures shows each of that many."""

    start: float
    end: float
    source: str
    people: int
    others: bool
    faces: int
    shares: tuple[float, ...]

    @property
    def found(self) -> bool:
        return self.faces >= self.people


def visual_models() -> Models:
    """Open the embedded profile's visual models, one thread each."""
    from m3desk_cpu.faces import SFace, YuNet
    from m3desk_cpu.objects import SsdMobileNet
    from m3desk_cpu.screen_text import RapidOcr

    shipped = resources() / "models"
    folder = models_dir() / "ssd-mobilenet-v2"
    return Models(
        faces=YuNet(shipped / "face_detection_yunet_2023mar.onnx", 1),
        face_vectors=SFace(shipped / "sface_w16.onnx", 1),
        objects=SsdMobileNet(folder, 1) if folder.is_dir() else None,
        screen_text=RapidOcr(1),
    )


def watch(
    path: Path, models: Models, *, start: float = 0, until: float | None = None, clock: Stopwatch | None = None
) -> list[VisualEvidence]:
    """Return what is seen in each clip of a file."""
    source = probe(path)
    clips = plan(source, start=round(start * 1e6), end=None if until is None else round(until * 1e6))
    return [see(FileClip(source, c, str(path), threads=1), models, watch=clock) for c in clips]


def scenes(seen: list[VisualEvidence], timeline: list[dict[str, object]], until: float | None = None) -> list[Scene]:
    """Compare tracks with the labelled scenes that lie before `until` seconds."""
    rows = []
    for row in timeline:
        start, end = float(row["start"]), float(row["end"])  # type: ignore[arg-type]
        if until is not None and end > until + 0.05:
            continue
        tracks = [t for s in seen for t in s.faces]
        moments = sorted({b.at for t in tracks for b in t.boxes if start <= seconds(b.at) < end})
        at_once = [sum(any(b.at == m for b in t.boxes) for t in tracks) for m in moments]
        count = max(at_once, default=0)
        pictures = max(1, round((end - start) * 5))
        people = len(row["persons"])  # type: ignore[arg-type]
        shares = tuple(round(sum(n > k for n in at_once) / pictures, 2) for k in range(max(people, count)))
        rows.append(Scene(start, end, str(row["source"]), people, bool(row["others"]), count, shares))
    return rows


def within(track: FaceTrack, start: float, end: float) -> bool:
    return any(start <= seconds(b.at) < end for b in track.boxes)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("video", nargs="?", type=Path, default=DATA / "reel" / "reel_shared.mp4")
    parser.add_argument("--until", type=float)
    options = parser.parse_args()
    models, clock = visual_models(), Stopwatch()
    before, wall = time.process_time(), time.perf_counter()
    clock.lap("models")
    seen = watch(options.video, models, until=options.until, clock=clock)
    spent, wall = time.process_time() - before, time.perf_counter() - wall
    for clip in seen:
        for t in clip.faces:
            size = max(b.width for b in t.boxes)
            span = f"{seconds(t.start):.1f}–{seconds(t.end):.1f}"
            print(f"{t.id} {span} {len(t.boxes)} boxes, {size:.0f} px, cluster {t.cluster}, q {t.quality:.2f}, s {t.score:.2f}")
        print("  cuts", [round(seconds(c), 1) for c in clip.cuts], dict(clip.scene))
        print("  things", [(o.label, round(o.score, 2), seconds(o.start), seconds(o.end)) for o in clip.objects])
        print("  texts", [(t.text, round(t.score, 2), seconds(t.start), seconds(t.end)) for t in clip.texts])
    labels = options.video.with_suffix(".timeline.json")
    if labels.is_file():
        rows = scenes(seen, json.loads(labels.read_text("utf-8"))["timeline"], options.until)
        for s in rows:
            verdict = "ok  " if s.found else "MISS"
            print(f"{verdict} {s.start:.1f}–{s.end:.1f} {s.source}: {s.people} people, {s.faces} faces at once, in view {s.shares}")
        print(f"{sum(s.found for s in rows)} of {len(rows)} scenes show every labelled face")
    print("seconds by stage", {k: round(v, 1) for k, v in sorted(clock.seconds.items(), key=lambda kv: -kv[1])})
    print(f"{spent:.1f} core-seconds, {wall:.1f} s of wall clock")
    return 0


if __name__ == "__main__":
    sys.exit(main())
