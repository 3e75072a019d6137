"""Reads ground truth of who was seen and heard when: RTTM, timelines, timed boxes and segment lists, recognised by content."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from m3desk.domain.clip import microseconds
from m3desk.domain.evidence import Box
from m3desk.errors import M3DeskError
from m3desk.regular import read_regular

MOST_BYTES = 64_000_000
"""Bytes of the largest truth or list of answers that is read."""

KNOWN = "Known: RTTM, the timeline and boxes .json of the shared data, Falcon's segments .json, lines of “start end speaker”."


@dataclass(frozen=True, slots=True)
class TrueTurn:
    """One speech turn of one person, microseconds; `file` is the source's file name, with or without extension."""

    file: str
    start: int
    end: int
    person: str


@dataclass(frozen=True, slots=True)
class Sight:
    """A person in view: with a box at one time (`start` = `end`), or without one for a span in which no other face is in view."""

    file: str
    start: int
    end: int
    person: str
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class Truth:
    """The ground truth of some files. Times are microseconds.

    `unclear`: spans (file, start, end) with an unknown speaker among several: left out of all figures on voices.
    `spoken`: the files whose speech is labelled (a silent file counts). `seen`, `heard`: everybody known to be in view, to speak.
    `rough`: the turns are whole scenes, pauses included; a diarization error rate against them is no measure of timing.
    """

    turns: tuple[TrueTurn, ...] = ()
    sights: tuple[Sight, ...] = ()
    unclear: tuple[tuple[str, int, int], ...] = ()
    spoken: frozenset[str] = frozenset()
    seen: frozenset[str] = frozenset()
    heard: frozenset[str] = frozenset()
    rough: bool = False

    def files(self) -> set[str]:
        """Return every file that the truth names."""
        return {t.file for t in self.turns} | {s.file for s in self.sights} | set(self.spoken)


def read_truths(paths: Sequence[str | Path]) -> Truth:
    """Read several truth files as one. Raises M3DeskError for a missing file or an unknown format."""
    parts = [read_truth(p) for p in paths]
    return Truth(
        turns=tuple(t for p in parts for t in p.turns),
        sights=tuple(s for p in parts for s in p.sights),
        unclear=tuple(u for p in parts for u in p.unclear),
        spoken=frozenset().union(*(p.spoken for p in parts)),
        seen=frozenset().union(*(p.seen for p in parts)),
        heard=frozenset().union(*(p.heard for p in parts)),
        rough=any(p.rough for p in parts),
    )


def read_truth(path: str | Path) -> Truth:
    """Read one truth file of any known format. Raises M3DeskError."""
    path = Path(path)
    text = _text(path)
    try:
        if text.lstrip().startswith("{"):
            return _named(_json_truth(path, json.loads(text)))
        rows = [line.split() for line in text.splitlines() if line.strip() and not line.lstrip().startswith((";", "#"))]
        if rows and rows[0][0].upper() in _RTTM_TYPES:
            return _rttm(rows)
        if rows and len(re.split(r"[\s,;]+", " ".join(rows[0]))) == 3:
            return _segment_lines(path.stem, text)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise M3DeskError(f"{path.name} can't be read as the truth of a memory ({_said(error)}).", KNOWN) from error
    raise M3DeskError(f"{path.name} is not a truth file in a known format.", KNOWN)


def _named(truth: Truth) -> Truth:
    """Return the truth unchanged. Raises TypeError if a file's or person's name is not a string."""
    names = [n for t in truth.turns for n in (t.file, t.person)] + [n for s in truth.sights for n in (s.file, s.person)]
    names += [u[0] for u in truth.unclear]
    if any(not isinstance(n, str | None) for n in (*names, *truth.spoken, *truth.seen, *truth.heard)):
        raise TypeError("a file or a person has no name")
    return truth


def read_uem(paths: Iterable[str | Path]) -> dict[str, list[tuple[int, int]]]:
    """Read UEM files: file → spans (microseconds) in which diarization is scored. Raises M3DeskError."""
    found: dict[str, list[tuple[int, int]]] = {}
    for path in map(Path, paths):
        for line in _text(path).splitlines():
            columns = line.split()
            if not columns or columns[0].startswith(";"):
                continue
            try:
                file, _, start, end = columns
                found.setdefault(file, []).append(_span(float(start), float(end)))
            except ValueError as error:
                raise M3DeskError(f"{path.name} is no UEM file: “{line[:60]}”.", "Each line is: file channel start end.") from error
    return found


def _text(path: Path) -> str:
    content = read_regular(path, MOST_BYTES, M3DeskError, M3DeskError)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise M3DeskError(f"{path.name} is not a truth file in a known format.", KNOWN) from error


def _said(error: Exception) -> str:
    return f"there is no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__


def _span(start: float, end: float) -> tuple[int, int]:
    if not (math.isfinite(start) and math.isfinite(end) and 0 <= start <= end):
        raise ValueError(f"{start} to {end} is no span of time")
    return microseconds(start), microseconds(end)


# ---------------------------------------------------------------- speech alone


_RTTM_TYPES = frozenset(
    "SPEAKER SPKR-INFO SEGMENT NOSCORE NO_RT_METADATA LEXEME NON-LEX NON-SPEECH FILLER EDIT IP SU CB A/P".split()  # noqa: SIM905
)


def _rttm(rows: Sequence[Sequence[str]]) -> Truth:
    """Take the SPEAKER lines: type, file, channel, start, duration, -, -, speaker."""
    turns = []
    for r in rows:
        if r[0].upper() == "SPEAKER":
            start = float(r[3])
            turns.append(TrueTurn(r[1], *_span(start, start + float(r[4])), r[7]))
    if not turns:
        raise ValueError("it has no SPEAKER line")
    return _speech(turns)


def _segment_lines(file: str, text: str) -> Truth:
    turns = []
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith((";", "#")):
            start, end, speaker = re.split(r"[\s,;]+", line.strip())
            turns.append(TrueTurn(file, *_span(float(start), float(end)), speaker))
    return _speech(turns)


def _falcon(document: dict[str, Any]) -> Truth:
    turns = []
    for test in document["tests"]["diarization_tests"]:
        for s in test["segments"]:
            turns.append(TrueTurn(test["audio_file"], *_span(float(s["start_sec"]), float(s["end_sec"])), f"speaker{s['speaker_tag']}"))
    return _speech(turns)


def _speech(turns: Sequence[TrueTurn]) -> Truth:
    return Truth(turns=tuple(turns), spoken=frozenset(t.file for t in turns), heard=frozenset(t.person for t in turns))


# ---------------------------------------------------------------- pictures


def _json_truth(path: Path, document: dict[str, Any]) -> Truth:
    if "timeline" in document:
        return _timeline(document)
    if "boxes" in document:
        return _boxes(document)
    if "tests" in document:
        return _falcon(document)
    raise M3DeskError(f"{path.name} is not a truth file in a known format.", KNOWN)


@dataclass(slots=True)
class _Scenes:
    turns: list[TrueTurn] = field(default_factory=list)
    sights: list[Sight] = field(default_factory=list)
    unclear: list[tuple[str, int, int]] = field(default_factory=list)


def _timeline(document: dict[str, Any]) -> Truth:
    """Read scenes: a face is labelled if exactly one person is in view and `others` is false, a voice if exactly one person speaks."""
    file, scenes = document["video"], document["timeline"]
    found = _Scenes()
    for s in scenes:
        start, end = _span(float(s["start"]), float(s["end"]))
        if len(s["persons"]) == 1 and not s.get("others"):
            found.sights.append(Sight(file, start, end, s["persons"][0]))
        if len(s["speakers"]) == 1:
            found.turns.append(TrueTurn(file, start, end, s["speakers"][0]))
        elif s["speakers"]:
            found.unclear.append((file, start, end))
    return Truth(
        turns=tuple(found.turns), sights=tuple(found.sights), unclear=tuple(found.unclear), spoken=frozenset({file}), rough=True,
        seen=frozenset(p for s in scenes for p in s["persons"]), heard=frozenset(p for s in scenes for p in s["speakers"]),
    )  # fmt: skip


def _boxes(document: dict[str, Any]) -> Truth:
    """Read timed boxes: {"file", "t" (seconds), "box" [x, y, width, height] in pixels of the frame as displayed, "person"}."""
    sights = []
    for b in document["boxes"]:
        at, _ = _span(float(b["t"]), float(b["t"]))
        x, y, width, height = (float(v) for v in b["box"])
        sights.append(Sight(b["file"], at, at, b["person"], (x, y, width, height)))
    return Truth(sights=tuple(sights), seen=frozenset(s.person for s in sights))
