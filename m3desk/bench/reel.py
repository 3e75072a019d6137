"""Compares perception's results on the reel with its exact timeline; checks that nothing is invented in silent or faceless files."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from m3desk.bench.material import data, timed

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def words(text: str) -> list[str]:
    """Return the words of a GRID sentence as said: lower case, digits spelled, letters apart ("F2" = "f two").

    Letter names that a recogniser spells as words count as the letter ("are" is not one of them: only what GRID says).
    """
    spaced = re.sub(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])|(?<=\d)(?=\d)", " ", text.lower())
    plain = re.sub(r"[^a-z0-9 ]", " ", spaced)
    return [DIGITS[int(w)] if w.isdigit() and len(w) == 1 else w for w in plain.split()]


def edits(said: Sequence[str], heard: Sequence[str]) -> int:
    """Return the word edit distance (substitutions, insertions, deletions)."""
    row = list(range(len(heard) + 1))
    for i, a in enumerate(said, 1):
        previous, row[0] = row[0], i
        for j, b in enumerate(heard, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (a != b))
    return row[-1]


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Memorize the reel and the silent files; an argument names a memory of the reel to take instead."""
    folder = Path(tempfile.mkdtemp(prefix="m3desk-reel-"))
    try:
        given = next((a for a in args if not a.startswith("--")), None)
        reel = _export(data("video", "reel", "reel_shared.mp4"), folder, given)
        timeline = json.loads(data("video", "reel", "reel_shared.timeline.json").read_text())["timeline"]
        speech, faces = _speech(reel, timeline), _faces(reel, timeline)
        silent = [_silent(video, folder) for video in _silent_files()]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    found = len(reel["clips"]) == 6 and speech["word_error_rate"] <= 0.25 and faces["share"] >= 0.95
    ok = found and all(s["utterances"] == 0 and s["faces"] in (0, None) for s in silent)
    return {"ok": ok, "clips": len(reel["clips"]), "speech": speech, "faces": faces, "silent": silent}


def _silent_files() -> list[Path]:
    return [data("video", "intel", "one-by-one-person-detection.mp4"), data("video", "tos", "tears_of_steel_16s.webm")]


def _export(video: Path, folder: Path, given: str | None) -> dict[str, Any]:
    memory = given or str(folder / (video.stem + ".m3desk"))
    if given is None:
        timed(["memorize", str(video), "-m", memory, "--no-semantic", "-q"])
    target = folder / (video.stem + ".json")
    timed(["export", "-m", memory, "-o", str(target), "-q"])
    document: dict[str, Any] = json.loads(target.read_text())
    return document


def _speech(reel: dict[str, Any], timeline: list[dict[str, Any]]) -> dict[str, Any]:
    rows, wrong, total = [], 0, 0
    for scene in timeline:
        if not scene["transcript"]:
            continue
        heard_words = [w for u in reel["utterances"] for w in u["words"] if scene["start"] <= (w[0] + w[1]) / 2 < scene["end"]]
        heard = words(" ".join(w[2] for w in sorted(heard_words)))
        said = words(scene["transcript"])
        errors = edits(said, heard)
        wrong, total = wrong + errors, total + len(said)
        rows.append({"start": scene["start"], "said": " ".join(said), "heard": " ".join(heard), "errors": errors})
    return {"word_error_rate": round(wrong / total, 3), "words": total, "sentences": rows}


def _faces(reel: dict[str, Any], timeline: list[dict[str, Any]]) -> dict[str, Any]:
    shown = found = people = together = 0
    missed = []
    for scene in timeline:
        wanted = len(scene["persons"])
        if not wanted:
            continue
        inside = [
            t for t in reel["face_tracks"] if not t["set_aside"] and t["start"] < scene["end"] - 0.2 and t["end"] > scene["start"] + 0.2
        ]
        shown += 1
        found += bool(inside)
        people += wanted
        seen = len({t["person"] for t in inside})
        together += min(seen, wanted)
        if seen < wanted:
            missed.append({"start": scene["start"], "wanted": scene["persons"], "found": seen})
    return {
        "scenes": shown,
        "with_tracks": found,
        "share": round(found / shown, 3),
        "people_wanted": people,
        "people_found": together,
        "missed": missed,
    }


def _silent(video: Path, folder: Path) -> dict[str, Any]:
    document = _export(video, folder, None)
    faceless = video.parent.name == "intel"
    return {"file": video.name, "utterances": len(document["utterances"]), "faces": len(document["face_tracks"]) if faceless else None}
