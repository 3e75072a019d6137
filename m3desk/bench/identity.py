"""Measures identity accuracy, each figure against its goal: faces, voices, links, sentences, photos, enrolment."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from m3desk.app import App
from m3desk.bench.identity_material import Workshop, boxes, joined, webrtc_on_the_reel
from m3desk.bench.material import data, output, ran
from m3desk.domain.geometry import overlap
from m3desk.errors import UsageError
from m3desk.evaluation.grouping import LabelledObservation, pairwise
from m3desk.evaluation.truth import TrueTurn, read_truth
from m3desk.samples.given import NoFace

Row = Callable[[Workshop], dict[str, Any]]
Goal = tuple[str, float | None, str, float]
"""What is measured, the figure, ">=", "<=" or "==", the goal."""


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Measure rows (all without a name; `reel` stands for every row of the reel).

    `--keep DIR`: memories stay there and are used again. Raises UsageError for an unknown row.
    """
    words = list(args)
    kept = Path(words.pop(at + 1)) if (at := words.index("--keep") if "--keep" in words else -1) >= 0 else None
    asked = [w.replace("_", "-") for w in words if not w.startswith("--")]
    if unknown := [w for w in asked if not _rows(w)]:
        raise UsageError(f"there is no row “{unknown[0]}”.", f"There are: {', '.join(ROWS)}.")
    names = [n for w in asked for n in _rows(w)] or list(ROWS)
    with Workshop(kept) as work:
        rows = {name: _timed(ROWS[name], work) for name in names}
    return {"ok": all(r["ok"] for r in rows.values()), "rows": rows}


def lines(report: dict[str, Any]) -> list[str]:
    """Return the goals row by row, reached or not."""
    told = []
    for name, row in report["rows"].items():
        told.append(
            f"{name}: {'reached' if row['ok'] else 'not reached'} ({row['seconds']:.0f} s)" + (f" {row['error']}" if "error" in row else "")
        )
        told += [f"  {'✓' if g['reached'] else '✗'} {g['what']}: {g['figure']} (goal {g['goal']})" for g in row["goals"]]
    return told


def _rows(name: str) -> list[str]:
    return [row for row in ROWS if row == name or row.startswith(name + "-")]


def _timed(row: Row, work: Workshop) -> dict[str, Any]:
    began = time.perf_counter()
    try:
        found = row(work)
    except RuntimeError as error:  # a command of the program failed: that row isn't reached, the others are still measured
        found = {"goals": [], "error": str(error)}
    goals = [_judged(*g) for g in found.pop("goals")]
    return {
        "ok": bool(goals) and all(g["reached"] for g in goals),
        "goals": goals,
        **found,
        "seconds": round(time.perf_counter() - began, 1),
    }


def _judged(what: str, figure: float | None, way: str, goal: float) -> dict[str, Any]:
    reached = figure is not None and {">=": figure >= goal, "<=": figure <= goal, "==": figure == goal}[way]
    return {"what": what, "figure": figure, "goal": f"{way} {goal:g}", "reached": reached}


def _pairwise(what: str, figures: dict[str, Any], precision: float, recall: float) -> list[Goal]:
    found = figures["pairwise"]
    return [
        (f"{what}: pairwise precision", found["precision"], ">=", precision),
        (f"{what}: pairwise recall", found["recall"], ">=", recall),
    ]


# ---------------------------------------------------------------- the reel


def _reel_memory(work: Workshop) -> Path:
    return work.memory("reel", data("video", "reel", "reel_shared.mp4"))


def _reel_truths(work: Workshop, everybody: bool = True) -> tuple[Path, Path]:
    """Return the timeline and timed boxes; unless `everybody`, without boxes where the timeline says that unlabelled faces are in view too
    (the two men's boxes are the shared data's own and stay)."""
    timeline = data("video", "reel", "reel_shared.timeline.json")
    scenes = json.loads(timeline.read_text("utf-8"))["timeline"]
    crowds = () if everybody else tuple((s["start"], s["end"]) for s in scenes if s["others"])
    return timeline, boxes(work, "reel_shared.mp4", webrtc_on_the_reel(), leave_out=crowds)


def reel_faces(work: Workshop) -> dict[str, Any]:
    """Tracks of scenes with one labelled person and no others; beside it, every track that boxes name."""
    timeline, more = _reel_truths(work)
    faces = work.report(_reel_memory(work), timeline)["faces"]
    return {
        "goals": _pairwise("faces", faces, 0.995, 0.95),
        "faces": faces,
        "with_boxes": work.report(_reel_memory(work), timeline, more)["faces"],
    }


def reel_voices(work: Workshop) -> dict[str, Any]:
    voices = work.report(_reel_memory(work), _reel_truths(work)[0])["voices"]
    return {"goals": _pairwise("voices", voices, 0.99, 0.90), "voices": voices}


def reel_links(work: Workshop) -> dict[str, Any]:
    links = work.report(_reel_memory(work), *_reel_truths(work))["links"]
    return {"goals": [("wrong links", links["wrong"], "==", 0), ("people rightly linked", links["right"], ">=", 9)], "links": links}


def attribution(work: Workshop) -> dict[str, Any]:
    """Sentences of the reel and of the two men; beside it, the reel with the stage and audience of its concert scene named by eye too."""
    of = {
        "reel": work.report(_reel_memory(work), *_reel_truths(work, everybody=False)),
        "webrtc": work.report(_webrtc_memory(work), data("video", "webrtc_two_men", "boxes.json")),
    }
    goals: list[Goal] = [(f"{name}: sentences that name the right person", r["attribution"], ">=", 0.95) for name, r in of.items()]
    everybody = work.report(_reel_memory(work), *_reel_truths(work))["attribution_detail"]
    return {"goals": goals, "reel_everybody": everybody, **{name: r["attribution_detail"] for name, r in of.items()}}


# ---------------------------------------------------------------- two men, two rooms


def _webrtc_memory(work: Workshop) -> Path:
    folder = data("video", "webrtc_two_men")
    return work.memory("webrtc", folder / "vp9_webrtc_2.webm", folder / "vp9_webrtc_4.webm")


def webrtc(work: Workshop) -> dict[str, Any]:
    """Each man one person in both rooms, and nobody else with a track of theirs."""
    report = work.report(_webrtc_memory(work), data("video", "webrtc_two_men", "boxes.json"))
    people = {p["true"]: p["people"] for p in report["people"]}
    taken = [q for who in people.values() for q in who]
    goals: list[Goal] = [
        ("people for each man, at most", max(map(len, people.values()), default=None), "==", 1),
        ("people who hold tracks of both", sum(1 for q in set(taken) if taken.count(q) > 1), "==", 0),
        ("timed boxes without a track", report["faces"]["boxes_missed"], "<=", 2),
        ("pairwise recall across the two files", (report["faces"]["across_sources"] or {}).get("recall"), "==", 1),
    ]
    return {"goals": goals, "people": people, "faces": report["faces"]}


# ---------------------------------------------------------------- photos


def photos(work: Workshop) -> dict[str, Any]:
    """Every photo of `faces/knn` asked of both videos: the right person first, nobody for those who are not there."""
    labels: dict[str, list[str]] = json.loads(data("faces", "knn", "labels.json").read_text("utf-8"))
    rows = []
    for video in ("obama/obama_speech.mp4", "hamilton/short_hamilton_clip.mp4"):
        path = data("video", *video.split("/"))
        memory = work.memory(path.parent.name, path)
        report = work.report(memory, boxes(work, path.name))
        names = {q: p["true"] for p in report["people"] for q in p["people"]}
        with App(memory, write=False) as app:  # as the command `search nodes --image` does, but the models are opened once
            for photo, shown in sorted(labels.items()):
                rows.append({"video": path.parent.name, "photo": photo, **_asked(app, data("faces", *photo.split("/")), names, shown)})
    there = [r for r in rows if r["there"]]
    big = [r for r in there if r["video"] == "obama" and "partial" not in r["photo"]]
    goals: list[Goal] = [
        ("photos that found somebody who is not on them", sum(1 for r in rows if r["strangers"]), "==", 0),
        ("obama and biden: share of whole-face photos with the right person first", _share([r["first"] for r in big]), "==", 1),
    ]
    return {"goals": goals, "photos_of_somebody_there": len(there), "right_first": sum(1 for r in there if r["first"]),
    "missed": [f"{r['video']}: {r['photo']}" for r in there if not r["first"]], "rows": rows}  # fmt: skip


def _asked(app: App, photo: Path, names: dict[str, str], shown: list[str]) -> dict[str, Any]:
    there = sorted(set(shown) & set(names.values()))
    try:
        found = app.answering.search_image(photo)
    except NoFace:
        return {"there": there, "first": False, "strangers": [], "found": [], "note": "no face seen in the photo"}
    people = [(names.get(q, q), round(f.score, 3)) for f in found for q in f.people[:1]]
    strangers = [who for who, _ in people if who not in shown]
    return {"there": there, "first": bool(people) and people[0][0] in there, "strangers": strangers, "found": people}


def _share(right: Sequence[bool]) -> float | None:
    return round(sum(right) / len(right), 4) if right else None


# ---------------------------------------------------------------- voices


def _librispeech(work: Workshop) -> tuple[Path, Path]:
    folder = data("speech", "librispeech_speakers")
    talk, truth = joined(work, "librispeech", [(f, f.parent.name) for f in folder.glob("*/*.flac")])
    return work.memory("librispeech", talk), truth


def librispeech(work: Workshop) -> dict[str, Any]:
    """The 60 utterances, each assigned to the person with most of its time; beside them the memory's own utterances."""
    memory, truth = _librispeech(work)
    heard = _heard(work, memory)
    sixty = pairwise([LabelledObservation(t.person, _holder(t, heard)) for t in read_truth(truth).turns])
    report = work.report(memory, truth)["voices"]
    return {"goals": _pairwise("60 utterances", {"pairwise": sixty}, 0.995, 0.97), "sixty": sixty, "voices": report}


def _heard(work: Workshop, memory: Path, source: str | None = None) -> tuple[TrueTurn, ...]:
    """Return who speaks when, as the memory exports it ("unknown": given to nobody)."""
    path = work.folder / f"{memory.stem}{source or ''}.heard.rttm"
    ran("export", "-m", str(memory), "-o", str(path), "-q", "--force", *(["--source", source] if source else []))
    return read_truth(path).turns if path.stat().st_size else ()


def _holder(turn: TrueTurn, heard: Sequence[TrueTurn]) -> str:
    """Return who holds most of a turn; "unknown" (given to nobody) and nothing at all are somebody of their own."""
    held: dict[str, int] = {}
    for h in heard:
        if (both := overlap((turn.start, turn.end), (h.start, h.end))) > 0:
            held[h.person] = held.get(h.person, 0) + both
    best = max(sorted(held), key=lambda p: held[p], default="unknown")
    return f"nobody at {turn.start}" if best == "unknown" else best


AMI = ("trn00", "trn01", "trn02", "trn03", "trn05", "dev00", "tst00")


def _ami(work: Workshop) -> dict[str, Any]:
    folder = data("speech", "ami_30s")
    memory = work.memory("ami", *(folder / f"{name}.wav" for name in AMI))
    return work.report(memory, folder / "ami.rttm", uem=folder / "ami.uem")


def ami(work: Workshop) -> dict[str, Any]:
    voices = _ami(work)["voices"]
    across = (voices["across_sources"] or {}).get("precision")
    goals: list[Goal] = [
        ("diarization error rate, 0.25 s collar", voices["der"], "<=", 0.24),
        ("pairwise precision across files", across, ">=", 0.97),
    ]
    return {"goals": goals, "der_no_collar": voices["der_no_collar"], "voices": voices}


SMALL = {
    "falcon": ("falcon/test.wav", "falcon/segments.json"),
    "pyaudioanalysis": ("pyaudioanalysis/diarizationExample.wav", "pyaudioanalysis/diarizationExample.segments"),
    "pyannote_sample": ("pyannote_sample/sample.wav", "pyannote_sample/sample.rttm"),
}


def _small(work: Workshop, name: str) -> dict[str, Any]:
    sound, truth = (data("speech", *part.split("/")) for part in SMALL[name])
    return work.report(work.memory(name, sound), truth)


def small(work: Workshop) -> dict[str, Any]:
    """Three recordings, each a memory of its own."""
    rows = {name: _small(work, name)["voices"] for name in SMALL}
    rates = [r["der"] for r in rows.values()]
    wrong = sum(1 for r in rows.values() for f in r["der_files"] if f["speakers"] != f["speakers_found"])
    mean = round(sum(rates) / len(rates), 4) if None not in rates else None
    return {"goals": [("mean diarization error rate", mean, "<=", 0.12), ("speaker counts wrong", wrong, "==", 0)],
    "der": {n: r["der"] for n, r in rows.items()}, "speakers": {n: [(f["speakers"], f["speakers_found"]) for f in r["der_files"]]
    for n, r in rows.items()}, "voices": rows}  # fmt: skip


def katie_steve(work: Workshop) -> dict[str, Any]:
    """Enrol both by name, then memorize the two dialogues: who speaks there?"""
    folder = data("speech", "katie_steve")
    memory = work.folder / "katie_steve.m3desk"
    if not (memory / "memory.sqlite").is_file():
        for name in ("Katie", "Steve"):
            ran("people", "enroll", name, str(folder / f"enroll_{name.lower()}.wav"), "-m", str(memory), "-q")
    memory = work.memory("katie_steve", folder / "katiesteve.wav", folder / "katiesteve_mono.wav")
    spoken: dict[str, dict[str, float]] = {}
    for s in output("sources", "list", "-m", str(memory)):
        if Path(s["uri"]).name.startswith("katiesteve"):
            turns = _heard(work, memory, s["id"])
            spoken[Path(s["uri"]).stem] = {
                p: round(sum(t.end - t.start for t in turns if t.person == p) / 1e6, 2) for p in sorted({t.person for t in turns})
            }
    both = sum(1 for heard in spoken.values() if heard.get("Katie", 0) >= 2 and heard.get("Steve", 0) >= 2)
    others = sorted({p for heard in spoken.values() for p in heard} - {"Katie", "Steve", "unknown"})
    return {"goals": [("dialogues in which both were found (2 s or more each)", both, "==", 2), ("others found", len(others), "==", 0)],
    "seconds_spoken": spoken, "others": others}  # fmt: skip


# ---------------------------------------------------------------- over all


def fragmentation(work: Workshop) -> dict[str, Any]:
    """Face and voice nodes for each true person, over every material above."""
    timeline, more = _reel_truths(work)
    memory, truth = _librispeech(work)
    reports = {
        "reel": work.report(_reel_memory(work), timeline, more),
        "webrtc": work.report(_webrtc_memory(work), data("video", "webrtc_two_men", "boxes.json")),
        "librispeech": work.report(memory, truth),
        "ami": _ami(work),
        **{name: _small(work, name) for name in SMALL},
    }
    goals: list[Goal] = []
    parts: dict[str, Any] = {}
    for kind, most in (("faces", 1.2), ("voices", 1.5)):
        rows = {n: (r[kind]["fragmentation"], r[kind]["true_people"]) for n, r in reports.items() if r[kind]["fragmentation"]}
        people = sum(count for _, count in rows.values())
        mean = round(sum(f * count for f, count in rows.values()) / people, 4) if people else None
        goals.append((f"{kind[:-1]} nodes for each true person", mean, "<=", most))
        parts[kind] = {n: f for n, (f, _) in rows.items()}
    return {"goals": goals, **parts}


ROWS: dict[str, Row] = {
    "reel-faces": reel_faces,
    "reel-voices": reel_voices,
    "reel-links": reel_links,
    "attribution": attribution,
    "webrtc": webrtc,
    "photos": photos,
    "librispeech": librispeech,
    "ami": ami,
    "small": small,
    "katie-steve": katie_steve,
    "fragmentation": fragmentation,
}
"""Every row, in the order in which they are shown. A further one is a function from a workshop to its goals and figures."""
