"""The material of `bench voices`: single speakers without silence, talks joined from them, recordings with ground truth."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from m3desk.bench.identity_material import read_sound
from m3desk.bench.material import data
from m3desk.bench.voices import division
from m3desk.domain.clip import microseconds
from m3desk.evaluation.truth import TrueTurn, Truth, read_truth
from m3desk.perception.turns import quietest, speech_segments
from m3desk.ports import SAMPLE_RATE, Models, Sound

SEED = 3
GAP = 0.5
"""Seconds of silence between two joined utterances."""

LONGEST = round(9.0 * SAMPLE_RATE)
Spans = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Recording:
    """A file to be heard, with what is true of it. `sound`: made here; None = the file's own. `uem`: spans that count; none = all.

    `cuts`: of a made sound, when a picture would be the first of a new shot (microseconds).
    """

    name: str
    path: Path
    truth: Truth
    sound: Sound | None = None
    uem: tuple[tuple[int, int], ...] = ()
    cuts: tuple[int, ...] = ()


def sound_of(path: Path) -> Sound:
    """Return a file's sound, 16 kHz mono, −1 to 1."""
    return np.asarray(read_sound(path).astype(np.float32) / 32768, np.float32)


# ---------------------------------------------------------------- single speakers


def calibration_files() -> dict[str, list[Path]]:
    """Return speaker → files of the calibration side."""
    found: dict[str, list[Path]] = defaultdict(list)
    for folder, speakers in division.SPEAKERS.items():
        for file in sorted(data(*folder.split("/")).rglob("*")):
            for who in speakers:
                if file.suffix in (".flac", ".wav") and (file.parent.name == who or file.stem.split("_snt")[0] == who):
                    found[f"{Path(folder).name}/{who}"].append(file)
    return dict(found)


def validation_files(name: str) -> dict[str, list[Path]]:
    """Return speaker → files of a set of `speech2`."""
    folder = data("speech2", name)
    files = json.loads((folder / "labels.json").read_text("utf-8"))["files"]
    found: dict[str, list[Path]] = defaultdict(list)
    for file, row in sorted(files.items()):
        found[f"{name}/{row['speaker']}"].append(folder / file)
    return dict(found)


def takes(files: Mapping[str, Sequence[Path]], models: Models) -> dict[str, list[Sound]]:
    """Return speaker → what they say, without the silence around it, in pieces of at most 9 s."""
    assert models.speech_activity is not None
    found: dict[str, list[Sound]] = defaultdict(list)
    for who, paths in files.items():
        for path in paths:
            sound = sound_of(path)
            spoken = speech_segments(sound, models.speech_activity.probabilities(sound), models.speech_activity.hop)
            if spoken:
                found[who] += _pieces(sound, spoken[0].start, spoken[-1].end)
    return dict(found)


def _pieces(sound: Sound, start: int, end: int) -> list[Sound]:
    found = []
    while end - start > LONGEST:
        cut = quietest(sound, start + LONGEST // 2, start + LONGEST)
        found.append(sound[start:cut])
        start = cut
    return [*found, sound[start:end]]


# ---------------------------------------------------------------- joined talks


def talk(name: str, files: Mapping[str, Sequence[Path]], part: int | None = None) -> Recording:
    """Join a set's utterances in a seeded order with gaps. `part`: 0 or 1, every second utterance of each speaker."""
    order = sorted((f, who) for who, paths in files.items() for n, f in enumerate(paths) if part is None or n % 2 == part)
    random.Random(SEED).shuffle(order)
    name = name if part is None else f"{name}_{'ab'[part]}"
    pieces: list[Sound] = []
    turns: list[TrueTurn] = []
    at = 0
    for path, who in order:
        sound = sound_of(path)
        turns.append(TrueTurn(name, _us(at), _us(at + len(sound)), who))
        pieces += [sound, np.zeros(round(GAP * SAMPLE_RATE), np.float32)]
        at += len(sound) + len(pieces[-1])
    return Recording(name, Path(f"{name}.wav"), _speech(name, turns), np.concatenate(pieces))


def spoken(name: str, sound: Sound, turns: Sequence[tuple[float, float, str]], cuts: Sequence[float] = ()) -> Recording:
    """Return a made sound with its turns and cuts (seconds)."""
    true = [TrueTurn(name, microseconds(a), microseconds(b), who) for a, b, who in turns]
    return Recording(name, Path(f"{name}.wav"), _speech(name, true), sound, cuts=tuple(map(microseconds, cuts)))


def _us(samples: int) -> int:
    return round(samples * 1_000_000 / SAMPLE_RATE)


def _speech(name: str, turns: Sequence[TrueTurn], unclear: Sequence[tuple[str, int, int]] = ()) -> Truth:
    return Truth(tuple(turns), (), tuple(unclear), frozenset({name}), frozenset(), frozenset(t.person for t in turns))


# ---------------------------------------------------------------- recordings


def recording(path: str) -> Recording:
    """Return a recording of the shared data with its truth. Raises FileNotFoundError."""
    file = data(*path.split("/"))
    folder, name = file.parent, file.stem
    if folder.name == "ami_30s":
        return Recording(name, file, _only(read_truth(folder / "ami.rttm"), name), uem=tuple(read_uem(folder / "ami.uem")[name]))
    if folder.name == "conversations":
        return Recording(name, file, read_truth(file.with_suffix(".rttm")), uem=tuple(read_uem(file.with_suffix(".uem"))[name]))
    if folder.name == "falcon":
        return Recording(name, file, read_truth(folder / "segments.json"))
    if folder.name in ("reel", "collage"):
        return Recording(name, file, read_truth(folder / f"{name}.timeline.json"))
    if folder.name == "pyaudioanalysis":
        return Recording(name, file, read_truth(file.with_suffix(".segments")))
    if (truth := file.with_suffix(".rttm")).is_file():
        return Recording(name, file, read_truth(truth))
    return Recording(name, file, _turns(name, json.loads((folder / "truth.json").read_text("utf-8"))))


def drama() -> list[Recording]:
    """Return the seven clips of one speaker each."""
    folder = data("video2", "drama_zh")
    clips = json.loads((folder / "truth.json").read_text("utf-8"))["clips"]
    found = []
    for file, row in sorted(clips.items()):
        name = Path(file).stem
        turns = [TrueTurn(name, microseconds(a), microseconds(b), row["speaker"]) for a, b in row["speech"]]
        found.append(Recording(name, folder / file, _speech(name, turns)))
    return found


def _turns(name: str, document: dict[str, object]) -> Truth:
    """Read a dialogue's turns; those that nobody is sure of count for nothing."""
    turns, unclear = [], []
    rows: list[dict[str, object]] = document["turns"]  # type: ignore[assignment]
    for t in rows:
        start, end = microseconds(float(str(t["start"]))), microseconds(float(str(t["end"])))
        if t.get("sure", True):
            turns.append(TrueTurn(name, start, end, str(t["speaker"])))
        else:
            unclear.append((name, start, end))
    return _speech(name, turns, unclear)


def _only(truth: Truth, name: str) -> Truth:
    return _speech(name, [t for t in truth.turns if t.file == name])


def read_uem(path: Path) -> dict[str, Spans]:
    """Return file → spans (microseconds) that count."""
    found: dict[str, Spans] = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        if line.strip():
            file, _, start, end = line.split()
            found[file].append((microseconds(float(start)), microseconds(float(end))))
    return dict(found)
