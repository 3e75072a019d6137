"""Test material of `bench identity`: memories made by the installed program, talks joined from utterances, manual labels."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
import wave
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from m3desk.bench.material import data, output, ran
from m3desk.media.streams import open_media

RATE = 16_000
SEED = 3
GAP = 0.5
"""Seconds of silence between two of the joined utterances, as the issue says."""

LabelledBox = tuple[float, str, tuple[int, int, int, int]]
"""Seconds, person, box in pixels."""

BY_EYE: dict[str, tuple[LabelledBox, ...]] = {
    "reel_shared.mp4": (
        (55.0, "biden", (180, 75, 51, 70)), (55.0, "obama", (364, 34, 62, 82)), (61.0, "biden", (184, 80, 52, 73)),
        (61.0, "obama", (351, 39, 69, 90)), (63.0, "debate1_left", (124, 53, 74, 99)), (63.0, "debate1_right", (423, 72, 81, 117)),
        (96.2, "alex_lacamoire", (53, 187, 24, 35)), (96.2, "lin-manuel-miranda", (524, 48, 37, 48)),
        (97.0, "alex_lacamoire", (297, 121, 155, 236)), (98.0, "audience_1", (454, 149, 59, 104)),
        (100.0, "lin-manuel-miranda", (202, 33, 82, 115)), (103.2, "audience_4", (30, 21, 45, 69)),
        (104.5, "michelle_obama", (388, 84, 71, 105)), (104.5, "audience_3", (37, 65, 66, 85)),
        (104.5, "audience_2", (173, 80, 61, 103)), (104.5, "obama", (323, 40, 68, 102)),
    ),
    "obama_speech.mp4": ((4.0, "biden", (67, 51, 33, 46)), (4.0, "obama", (179, 26, 44, 59))),
    "short_hamilton_clip.mp4": (
        (1.2, "alex_lacamoire", (54, 185, 25, 36)), (1.2, "lin-manuel-miranda", (526, 46, 44, 54)),
        (2.5, "alex_lacamoire", (294, 110, 157, 248)), (5.0, "lin-manuel-miranda", (205, 36, 84, 115)),
        (8.6, "audience_4", (31, 22, 44, 63)), (9.0, "audience_3", (47, 56, 59, 80)), (9.0, "audience_2", (169, 77, 66, 105)),
        (9.0, "obama", (322, 43, 66, 94)), (9.0, "michelle_obama", (388, 83, 71, 106)),
    ),
}  # fmt: skip
"""Faces that the shared labels name without saying where: found by the detector, named by eye from `video/labels.json`."""


@dataclass
class Workshop:
    """The folder in which a run's memories and truths lie, and what was already measured of them. `kept`: it stays."""

    kept: Path | None = None
    folder: Path = field(default_factory=Path)
    _reports: dict[tuple[str, ...], dict[str, Any]] = field(default_factory=dict)
    _made: set[Path] = field(default_factory=set)

    def __enter__(self) -> Workshop:
        self.folder = self.kept or Path(tempfile.mkdtemp(prefix="m3desk-identity-"))
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.kept is None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def memory(self, name: str, *sources: Path, semantic: bool = False) -> Path:
        """Return the memory of these files, made unless it is there whole; with semantic memories only if asked."""
        memory = self.folder / f"{name}.m3desk"
        if memory not in self._made and not self._whole(memory, sources):
            ran("memorize", *map(str, sources), "-m", str(memory), "-q", *([] if semantic else ["--no-semantic"]))
        self._made.add(memory)  # a look costs a run of the program, and most rows share their memories
        return memory

    def _whole(self, memory: Path, sources: Sequence[Path]) -> bool:
        if not (memory / "memory.sqlite").is_file():
            return False
        done = {Path(s["uri"]).name for s in output("sources", "list", "-m", str(memory)) if s["state"] == "done"}
        return {s.name for s in sources} <= done

    def report(self, memory: Path, *truths: Path, uem: Path | None = None) -> dict[str, Any]:
        """Return what `evaluate identity` says."""
        asked = tuple(part for t in truths for part in ("--truth", str(t))) + (("--uem", str(uem)) if uem else ())
        key = (*asked, "-m", str(memory))
        if key not in self._reports:
            self._reports[key] = output("evaluate", "identity", *key)
        return self._reports[key]

    def write(self, name: str, text: str) -> Path:
        """Write a truth; return where it lies."""
        path = self.folder / name
        path.write_text(text, "utf-8")
        return path

    def made(self, name: str, make: Callable[[Path], None]) -> Path:
        """Return a file of this run, made unless it is there."""
        path = self.folder / name
        if not path.is_file():
            part = path.with_name("part-" + path.name)
            make(part)
            part.replace(path)
        return path


# ---------------------------------------------------------------- labels


def boxes(work: Workshop, video: str, more: Sequence[dict[str, Any]] = (), *, leave_out: Sequence[tuple[float, float]] = ()) -> Path:
    """Write the timed boxes of a video that were named by eye (and `more`) as a truth; return where it lies.

    `leave_out`: spans (seconds) whose boxes named by eye are not written.
    """
    named = [(t, who, box) for t, who, box in BY_EYE.get(video, ()) if not any(start <= t < end for start, end in leave_out)]
    rows = [{"file": video, "t": t, "box": list(box), "person": who} for t, who, box in named]
    name = f"{Path(video).stem}.{'some-' if leave_out else ''}boxes.json"
    return work.write(name, json.dumps({"boxes": [*rows, *more]}, indent=1))


def webrtc_on_the_reel() -> list[dict[str, Any]]:
    """Return the boxes of the two men where their clips lie on the reel (640 × 360 from 1280 × 720)."""
    timeline = json.loads(data("video", "reel", "reel_shared.timeline.json").read_text("utf-8"))["timeline"]
    rows = []
    for b in json.loads(data("video", "webrtc_two_men", "boxes.json").read_text("utf-8"))["boxes"]:
        for scene in timeline:
            at = scene["start"] + b["t"] - scene["source_from"]
            if scene["source"].endswith("/" + b["file"]) and scene["start"] <= at < scene["end"]:
                rows.append({"file": "reel_shared.mp4", "t": round(at, 3), "box": [v / 2 for v in b["box"]], "person": b["person"]})
    return rows


# ---------------------------------------------------------------- sound


def read_sound(path: Path) -> NDArray[np.int16]:
    """Return a file's sound as 16 kHz mono."""
    parts = []
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    with open_media(path) as opened:
        for frame in opened.container.decode(audio=0):
            parts += [f.to_ndarray().reshape(-1) for f in resampler.resample(frame)]
        parts += [f.to_ndarray().reshape(-1) for f in resampler.resample(None)]
    return np.concatenate(parts).astype(np.int16)


def joined(work: Workshop, name: str, utterances: Sequence[tuple[Path, str]]) -> tuple[Path, Path]:
    """Join utterances (file, speaker) in a seeded order with gaps; return the talk and its RTTM."""
    order = sorted(utterances)
    random.Random(SEED).shuffle(order)
    lines: list[str] = []
    parts: list[NDArray[np.int16]] = []
    at = 0
    for file, who in order:
        sound = read_sound(file)
        lines.append(f"SPEAKER {name} 1 {at / RATE:.3f} {len(sound) / RATE:.3f} <NA> <NA> {who} <NA> <NA>\n")
        parts += [sound, np.zeros(round(GAP * RATE), np.int16)]
        at += len(parts[-2]) + len(parts[-1])
    talk = work.made(f"{name}.wav", lambda path: _write_wave(path, np.concatenate(parts)))
    return talk, work.write(f"{name}.rttm", "".join(lines))


def _write_wave(path: Path, sound: NDArray[np.int16]) -> None:
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(sound.astype("<i2").tobytes())
