"""The rows of `bench voices`: each measures one kind of material and gives its goals."""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from m3desk import backends
from m3desk.bench.identity import reel_links
from m3desk.bench.identity_material import Workshop
from m3desk.bench.material import data
from m3desk.bench.voices import division, dubbing, lips_map, material, rooms
from m3desk.bench.voices.cached_models import ResultCache, folder, opened
from m3desk.bench.voices.hearing import (
    HearingResult,
    found,
    missed_by_cause,
    mixed_share,
    pairs,
    rates,
    remembered,
    summary,
    with_true_voices,
    wrongly_given,
)
from m3desk.bench.voices.material import Recording
from m3desk.bench.voices.rooms import Maker
from m3desk.bench.voices.simulated import Conversation, conversation
from m3desk.domain.evidence import IN_STEP
from m3desk.domain.geometry import without
from m3desk.domain.questions.types import Suggestion
from m3desk.evaluation.diarization import error_rates
from m3desk.evaluation.grouping import LabelledObservation, pairwise
from m3desk.perception.speakers import voices_of
from m3desk.ports import SAMPLE_RATE, Models, Sound, VoiceEmbedder
from m3desk.store.memory import Memory

Goal = tuple[str, float | None, str, float]
"""What is measured, the figure, ">=", "<=" or "==", the goal."""

SEEDS = {False: 20261122, True: 7}
"""Seeds of the simulated conversations of validation and of calibration."""

FILMS = 8
"""Simulated films with hard cuts in one memory of calibration, with the same people in several; validation has real ones."""

ANSWERS = 10
"""Questions that the scripted user answers."""

REEL = "video/reel/reel_shared.mp4"
COLLAGE = "video2/collage/collage.mp4"
FAST = (REEL, COLLAGE, "video2/hyland_careers/hyland_careers.mp4", "video2/googlework/googlework_short.mp4",
        "video2/talkshow/interview.mp4", "video2/debate_split/debate_split.mp4")  # fmt: skip
TALKS = tuple(r for r in division.VALIDATION_RECORDINGS if "/conversations/" in r)
MEETINGS = tuple(r for r in division.VALIDATION_RECORDINGS if "/ami_30s/" in r)
SMALL = tuple(r for r in division.CALIBRATION_RECORDINGS if "ami" not in r and "katie" not in r)


class Bench:
    """What a run measures with. Figures of a kind of material are computed once."""

    def __init__(self, calibrating: bool, conversations: int, kept: Path | None, voices: str = backends.EMBEDDED["voice_vectors"]) -> None:
        """`voices`: the backend that tells voices apart."""
        self.calibrating, self.conversations, self.kept, self.voices = calibrating, conversations, kept, voices
        self._results = ResultCache(folder() / "kept.sqlite")
        self._models: dict[bool, Models] = {}
        self._found: dict[tuple[str, ...], HearingResult] = {}
        self._place = Path(tempfile.mkdtemp(prefix="m3desk-voices-"))

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._results.close()
        shutil.rmtree(self._place, ignore_errors=True)

    def models(self, *, words: bool) -> Models:
        """Return the models, with the real recogniser or its stand-in."""
        if words not in self._models:
            self._models[words] = opened(self._results, words=words, voices=self.voices)
        return self._models[words]

    @contextmanager
    def memory(self, recordings: Sequence[Recording], *, words: bool = True) -> Iterator[Memory]:
        """Remember recordings in one memory, for as long as it is looked at."""
        with remembered(self._place / "m.m3desk", recordings, self.models(words=words)) as memory:
            yield memory

    def heard(self, *recordings: Recording, words: bool = True) -> HearingResult:
        """Return what a memory of these recordings says."""
        key = (*(r.name for r in recordings), str(words))
        if key not in self._found:
            with self.memory(recordings, words=words) as memory:
                self._found[key] = found(memory, recordings)
        return self._found[key]

    def single_speakers(self) -> dict[str, dict[str, list[Path]]]:
        """Return set → speaker → files, of this side."""
        if self.calibrating:
            files = material.calibration_files()
            return {name: {w: p for w, p in files.items() if w.startswith(name + "/")} for name in sorted({w.split("/")[0] for w in files})}
        return {name: material.validation_files(name) for name in division.VALIDATION_SETS}


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


def _worst_tenth(values: Sequence[float]) -> float | None:
    """Return the mean of the lowest tenth."""
    return _mean(sorted(values)[: max(1, len(values) // 10)])


def _both(what: str, found: Mapping[str, Any], precision: float, recall: float) -> list[Goal]:
    return [(f"{what}: precision", found["precision"], ">=", precision), (f"{what}: recall", found["recall"], ">=", recall)]


# ---------------------------------------------------------------- rows


def sets(bench: Bench) -> dict[str, Any]:
    """Each set of single utterances joined to one talk, and the talks that really were."""
    rows: dict[str, Any] = {}
    for name, files in bench.single_speakers().items():
        if len(files) > 1:
            rows[name] = summary(bench.heard(material.talk(name, files)))
    for path in SMALL if bench.calibrating else TALKS:
        recording = material.recording(path)
        rows[recording.name] = summary(bench.heard(recording))
    goals = [g for name, row in rows.items() for g in _both(f"{name}, ≥ 1 s", row["pairs"], 0.98, 0.90)]
    return {"goals": goals, "sets": rows}


def conversations(bench: Bench, make: Maker = conversation, count: int | None = None) -> Iterator[Conversation]:
    """Yield the simulated conversations of a side."""
    files = bench.single_speakers()
    takes: dict[str, list[Sound]] = {}
    groups: dict[str, str] = {}
    for name, speakers in files.items():
        takes |= material.takes(speakers, bench.models(words=False))
        groups |= dict.fromkeys(speakers, name)
    groups = {who: name for who, name in groups.items() if takes.get(who)}
    for number in range(bench.conversations if count is None else count):
        yield make(number, SEEDS[bench.calibrating], takes, groups)


def simulated(bench: Bench) -> dict[str, Any]:
    """Simulated conversations; a stand-in writes their words."""
    return _figures(bench, "simulated", conversations(bench))


def ceiling(bench: Bench) -> dict[str, Any]:
    """The same conversations with their turns of a second and more given: what the voice model allows, by the ratio that joins."""
    made = list(conversations(bench))
    voices = bench.models(words=False).voice_vectors
    assert voices is not None
    rows: dict[str, dict[str, float | None]] = {}
    goals: list[Goal] = []
    for join in (0.0, 1.0, 2.0, 3.0, 4.0):
        scores = [pairwise(_with_given_turns(c, voices, join)) for c in made]
        row: dict[str, float | None] = {}
        for which in ("precision", "recall"):
            values = [v for f in scores if (v := f[which]) is not None]
            row |= {which: _mean(values), f"{which}, worst tenth": _worst_tenth(values)}
        rows[f"{join:g}"] = row
        goals += _both(f"joined from {join:g} on", row, 0.98, 0.90)
    return {"goals": goals, "by ratio": rows}


def _with_given_turns(c: Conversation, voices: VoiceEmbedder, join: float) -> list[LabelledObservation]:
    """Return the turns of which a second or more is said alone, each with its voice."""
    spans = [(round(a * SAMPLE_RATE), min(len(c.sound), round(b * SAMPLE_RATE)), who) for a, b, who in c.turns]
    alone = [(without([(a, b)], [(x, y) for x, y, other in spans if other != who]), who) for a, b, who in spans]
    alone = [(t, who) for t, who in alone if sum(b - a for a, b in t) >= SAMPLE_RATE]
    found = voices_of(c.sound, [t for t, _ in alone], voices, join)
    return [LabelledObservation(who, str(k)) for (_, who), k in zip(alone, found, strict=True)]


def rooms_heard(bench: Bench) -> dict[str, Any]:
    """Simulated meetings heard from afar, interviews, films cut fast, and montages: a tenth as many of each as of conversations."""
    rows = {
        name: _figures(bench, name, conversations(bench, make, max(1, bench.conversations // 10))) for name, make in rooms.MAKERS.items()
    }
    goals: list[Goal] = [(f"{name}: {g[0]}", g[1], g[2], g[3]) for name, row in rows.items() for g in row.pop("goals")]
    return {"goals": goals, **rows}


def _figures(bench: Bench, kind: str, made: Iterator[Conversation]) -> dict[str, Any]:
    rows = []
    for c in made:
        one = bench.heard(material.spoken(f"{kind}_{c.number}", c.sound, c.turns, c.cuts), words=False)
        der = rates(one)
        rows.append({
            "number": c.number, "told": c.told, "speakers": one.speakers[0], "pairs": pairs(one), "mixed": mixed_share(one),
            "short": wrongly_given(one.judged, one.short), "der": der["der"], "parts": der["der_parts"],
            "open": sum(1 for j in one.long if j.person is None),
        })  # fmt: skip
    goals: list[Goal] = []
    for which, mean, worst in (("precision", 0.98, 0.93), ("recall", 0.90, 0.75)):
        values = [r["pairs"][which] for r in rows if r["pairs"][which] is not None]
        goals += [(f"{which}, mean", _mean(values), ">=", mean), (f"{which}, worst tenth", _worst_tenth(values), ">=", worst)]
    short, wrong = (sum(r["short"][k] for r in rows) for k in ("short", "wrong"))
    right = sum(1 for r in rows if r["speakers"][0] == r["speakers"][1])
    together = {k: sum(r["pairs"][k] for r in rows) for k in ("pairs_found", "pairs_true")}
    return {
        "goals": goals, "der": _mean([r["der"] for r in rows if r["der"] is not None]), "short": _share(wrong, short),
        "counted_right": _share(right, len(rows)), "mixed": _mean([r["mixed"] for r in rows if r["mixed"] is not None]), **together,
        "conversations": rows,
    }  # fmt: skip


def fast_cut(bench: Bench) -> dict[str, Any]:
    """Material that is cut fast: all pairs of utterances of a file together, and the short ones."""
    every, rows, short, wrong = HearingResult(), {}, 0, 0
    for path in FAST:
        recording = material.recording(path)
        one = bench.heard(recording)
        rows[recording.name] = summary(one)
        # People and sources of different files are different here: each file is a memory of its own.
        every.judged += [
            replace(j, true=f"{recording.name} {j.true}", person=j.person and f"{recording.name} {j.person}") for j in one.judged
        ]
        short, wrong = short + rows[recording.name]["short"]["short"], wrong + rows[recording.name]["short"]["wrong"]
    items = [replace(j.item, found=f"{j.true.split()[0]} {j.item.found}") for j in every.long]
    goals: list[Goal] = []
    for name, row in rows.items():
        if row["pairs"]["pairs_true"]:
            goals += _both(f"{name}, ≥ 1 s", row["pairs"], 0.98, 0.85)
    together = pairwise(items)
    return {
        "goals": [*_both("all, ≥ 1 s", together, 0.98, 0.85), *goals,
                  ("shorter ones given to a wrong person", _share(wrong, short), "<=", 0.02)],
        "all": together, "short": [wrong, short], "files": rows,
    }  # fmt: skip


def meetings(bench: Bench) -> dict[str, Any]:
    """Diarization error over meetings and talks, overlap counted; what is missed by cause; and the error if no voice were mistaken."""
    paths = [r for r in division.CALIBRATION_RECORDINGS if "katie" not in r] if bench.calibrating else [*MEETINGS, *TALKS]
    recordings = [material.recording(path) for path in paths]
    every, ami = HearingResult(), HearingResult()
    for recording in recordings:
        one = bench.heard(recording)
        for to in (every, ami) if "ami" in str(recording.path) else (every,):
            to.judged += one.judged
            to.der += one.der
            to.speakers += one.speakers
    all_, meeting = rates(every), rates(ami)
    goals: list[Goal] = [
        ("AMI: error rate, 0.25 s collar", meeting["der"], "<=", 0.20), ("AMI: without collar", meeting["der_no_collar"], "<=", 0.30),
        ("all: error rate, 0.25 s collar", all_["der"], "<=", 0.20), ("all: without collar", all_["der_no_collar"], "<=", 0.30),
        ("recordings of several speakers in which none was found", float(sum(1 for _, n in every.speakers if n == 0)), "==", 0),
    ]  # fmt: skip
    best = {name: error_rates(with_true_voices(heard)) for name, heard in (("all", every), ("ami", ami))}
    return {
        "goals": goals, "all": all_, "ami": meeting, "missed": {"all": missed_by_cause(every), "ami": missed_by_cause(ami)},
        "with true voices": {name: {k: one[k] for k in ("der", "der_no_collar")} for name, one in best.items()},
    }  # fmt: skip


def across(bench: Bench) -> dict[str, Any]:
    """The same voices in two files: before and after a scripted user has answered ten questions."""
    rows: dict[str, Any] = {}
    groups: dict[str, list[Recording]] = {}
    for name, files in bench.single_speakers().items():
        files = {who: paths for who, paths in files.items() if len(paths) > 1}
        if len(files) > 1:
            groups[name] = [material.talk(name, files, part) for part in (0, 1)]
    if bench.calibrating:
        made = conversations(bench, rooms.cuts, FILMS)
        groups["films"] = [material.spoken(f"film_{c.number}", c.sound, c.turns, c.cuts) for c in made]
        groups["ami"] = [material.recording(r) for r in division.CALIBRATION_RECORDINGS if "ami_30s" in r]
    else:
        sources = [p for p in FAST if p not in (REEL, COLLAGE) and "debate" not in p]
        groups["collage"] = [material.recording(p) for p in (COLLAGE, *sources)] + material.drama()
    before_, after_ = [], []
    for name, recordings in groups.items():
        with bench.memory(recordings, words=name in ("ami", "collage")) as memory:
            before = found(memory, recordings)
            told = answer(memory, before, recordings)
            after = found(memory, recordings)
        rows[name] = {"before": pairs(before, across=True), "after": pairs(after, across=True), "answers": told}
        before_.append(rows[name]["before"])
        after_.append(rows[name]["after"])
    goals: list[Goal] = []
    for what, found_, least in (("", before_, 0.60), (" after ten answers", after_, 0.80)):
        goals += [
            (f"precision{what}, mean of sets", _mean([f["precision"] for f in found_ if f["precision"] is not None]), ">=", 0.98),
            (f"recall{what}, mean of sets", _mean([f["recall"] for f in found_ if f["recall"] is not None]), ">=", least),
        ]
    return {"goals": goals, "sets": rows}


def answer(memory: Memory, before: HearingResult, recordings: Sequence[Recording]) -> dict[str, int]:
    """Answer the most useful questions about who is the same, as somebody would who knows the truth. Return what was answered."""
    told = {"yes": 0, "no": 0, "other kinds passed over": 0}
    passed: set[str] = set()
    while told["yes"] + told["no"] < ANSWERS:
        asked = next((s for s in memory.suggestions() if s.key not in passed), None)
        if asked is None:
            break
        owner = _owners(found(memory, recordings))
        if asked.kind != "same" or len({p for p in asked.people if p in owner}) < 2:
            told["other kinds passed over"] += 1
            passed.add(asked.key)
            continue
        same = len({owner[p] for p in asked.people}) == 1
        memory.correct("accept" if same else "reject", _number(asked))
        told["yes" if same else "no"] += 1
    return told


def _number(asked: Suggestion) -> dict[str, Any]:
    return {"n": asked.n}


def _owners(found: HearingResult) -> dict[str, str]:
    """Return person → who most of them is."""
    seconds: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for j in found.judged:
        if j.person:
            seconds[j.person][j.true] += j.utterance.end - j.utterance.start
    return {p: max(sorted(true), key=lambda t, true=true: true[t]) for p, true in seconds.items()}  # type: ignore[misc]


def counts(bench: Bench) -> dict[str, Any]:
    """Speakers counted right: on short recordings of several, and on the simulated conversations."""
    paths = SMALL if bench.calibrating else (*TALKS, *(p for p in FAST if p not in (REEL, COLLAGE) and "hyland" not in p))
    rows = {}
    for path in paths:
        recording = material.recording(path)
        rows[recording.name] = bench.heard(recording).speakers[0]
    made = [tuple(r["speakers"]) for r in simulated(bench)["conversations"]]
    off = [abs(a - b) for a, b in [*rows.values(), *made]]
    real = [abs(a - b) for a, b in rows.values()]
    goals: list[Goal] = [
        ("recordings: counted right", _share(real.count(0), len(real)), ">=", 0.90), ("recordings: off by at most", max(real), "<=", 1),
        ("with the simulated: counted right", _share(off.count(0), len(off)), ">=", 0.90), ("with the simulated: off by at most",
        max(off), "<=", 1),
    ]  # fmt: skip
    return {"goals": goals, "recordings": rows, "off": {str(n): off.count(n) for n in sorted(set(off))}}


def links(bench: Bench) -> dict[str, Any]:
    """Links of faces and voices on the reel and the collage, by the installed program."""
    with Workshop(bench.kept) as work:
        rows = {"reel": reel_links(work)["links"]}
        memory = work.memory("collage", data(*COLLAGE.split("/")))
        rows["collage"] = work.report(memory, data("video2", "collage", "collage.timeline.json"))["links"]
    right, possible, wrong = (sum(r[k] for r in rows.values()) for k in ("right", "possible", "wrong"))
    goals: list[Goal] = [("wrong links", wrong, "==", 0), ("people linked of those that can be", _share(right, possible), ">=", 0.75)]
    return {"goals": goals, "links": rows}


def dubbed(bench: Bench) -> dict[str, Any]:
    """Clips of people who speak, with the sound of another and with their own; silent people with somebody's speech over them."""
    found = dubbing.measured("calibration" if bench.calibrating else "validation", bench.models(words=True))
    own = found["own"]
    goals: list[Goal] = [
        (f"clips with another's sound that link a face, of {found['dubbed']['clips']}", found["dubbed"]["linked"], "==", 0),
        (f"silent clips with speech over them that do, of {found['narrated']['clips']}", found["narrated"]["linked"], "==", 0),
        (f"clips with their own sound that do, of {own['clips']}", _share(own["linked"], own["clips"]), ">=", 0.75),
    ]
    return {"goals": goals, **found}


def lips(bench: Bench) -> dict[str, Any]:
    """How far mouths follow their own sound and that of others, each speaker left out of the fit."""
    found = lips_map.measured(bench.models(words=True))
    own, others = ([r["evidence"] for r in found[k].values()] for k in ("own", "others"))
    goals: list[Goal] = [
        (f"own sound in step, of {len(own)}", _share(sum(e >= IN_STEP for e in own), len(own)), ">=", 0.75),
        (f"others' in step, of {len(others)}", _share(sum(e >= IN_STEP for e in others), len(others)), "<=", 0.02),
        ("fit of all speakers: most that it differs from the program's", found["off"], "<=", 0.01),
    ]
    return {"goals": goals, **found}


Row = Callable[[Bench], dict[str, Any]]
ROWS: dict[str, Row] = {
    "sets": sets, "simulated": simulated, "ceiling": ceiling, "rooms": rooms_heard, "fast-cut": fast_cut, "meetings": meetings,
    "across": across, "counts": counts, "links": links, "dubbed": dubbed,
}  # fmt: skip
CALIBRATION: dict[str, Row] = {n: ROWS[n] for n in ("sets", "simulated", "ceiling", "rooms", "meetings", "across", "counts", "dubbed")} | {
    "lips": lips
}
"""The rows that can be measured on the calibration side."""
