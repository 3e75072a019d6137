"""Compare rules for voices inside one clip, on the calibration side of the division.

    python tests/perception/sweep_voices.py [alike] [NAME=VALUE[,NAME=VALUE…]…]
    python tests/perception/sweep_voices.py spread [NAME…]

Each argument is one setting of constants of `perception.speakers` (seconds for what is samples there); without any, the constants as they
are. Prints, by kind of clip: pairwise precision / recall of turns of 1 s and more; shorter turns, those given to a wrong person, those
nobody's; error rate = missed + false + confused (overlap counted, no collar); voices of 1.5 s and more beyond the people.

`alike`: more conversations, among more people: copies of each speaker at .88 and 1.13 of the speed count as further people, whose voices
are alike. The speakers of calibration are so different that hardly two of them are mistaken for each other; with the copies they are
mistaken about as often as strangers of validation are.

`spread`: cross-validation of each constant (`GRID`) over speakers, who are divided into `FOLDS` groups with scenes of their own. Prints
for each group the value that the scenes of the others would choose; then, on the group left out, the score with these values and with
the constant as it is.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from m3desk.bench.voices import cached_models, division, material, rooms, simulated
from m3desk.domain.geometry import overlap
from m3desk.evaluation.diarization import Diarization, error_rates
from m3desk.perception import speakers
from m3desk.perception.lines import common
from m3desk.perception.turns import SpeechSegment, Turn, faint, speech_segments, with_faint
from m3desk.perception.voice_tracks import Segmented, segmented
from m3desk.perception.voices import SURE
from m3desk.ports import SAMPLE_RATE, Models, Sound

SEED, CONVERSATIONS, ALIKE, ROOMS = 7, 12, 40, 12
CLIP = 30 * SAMPLE_RATE
FOLDS = 3
GRID = {
    "JOIN": (1.0, 1.5, 2.0, 2.5, 3.0), "CHANGE": (-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0), "GIVEN": (-3.0, -2.0, -1.0, 0.0, 1.0),
    "AHEAD": (1.0, 1.5, 2.0, 3.0, 4.0), "ONE_TRACK": (0.5, 1.0, 1.5, 2.0, 2.5), "BESIDE": (0.0, 0.5, 1.0, 1.5, 2.0),
    "CUT": (-2.0, -1.0, 0.0, 1.0, 2.0), "OVER_CUT": (0.0, 0.5, 0.9, 1.5, 2.0), "CORE": (0.6, 0.8, 1.0, 1.25, 1.5),
    "PAUSE": (0.2, 0.25, 0.3, 0.4, 0.5), "BREATH": (0.4, 0.55, 0.7, 0.9, 1.2), "MURMUR": (0.4, 0.5, 0.6, 0.8, 1.0),
}  # fmt: skip
"""Values that are tried of each constant (log-likelihood ratios; seconds)."""


@dataclass(frozen=True, slots=True)
class Clip:
    """`turns`: start, end (samples), who."""

    kind: str
    sound: Sound
    turns: tuple[tuple[int, int, str], ...]
    spoken: tuple[SpeechSegment, ...]
    tracks: Segmented
    cuts: tuple[int, ...]


def made(
    models: Models, fold: int = 0, folds: int = 1, alike: bool = False
) -> Iterator[tuple[str, Sound, list[tuple[float, float, str]], tuple[float, ...]]]:
    """Yield kind, sound, turns and cuts (seconds) of everything, or of one group of speakers and recordings."""
    for path in [p for p in division.CALIBRATION_RECORDINGS if "katie" not in p][fold::folds]:
        recording = material.recording(path)
        turns = [(t.start / 1e6, t.end / 1e6, t.person) for t in recording.truth.turns]
        yield "meetings" if "ami" in path else "talks", material.sound_of(recording.path), turns, ()
    takes = material.takes(material.calibration_files(), models)
    if alike:
        takes = {f"{who}@{speed}": [simulated.faster(t, speed) for t in said] for who, said in takes.items() for speed in simulated.SPEEDS}
    names = sorted(who for who, said in takes.items() if said)[fold::folds]
    groups = {who: who.split("/")[0] if folds == 1 else "all" for who in names}
    for number in range(ALIKE if alike else CONVERSATIONS if folds == 1 else CONVERSATIONS // 2):
        c = simulated.conversation(number, SEED, takes, groups)
        yield "simulated", c.sound, list(c.turns), c.cuts
    for name, make in rooms.MAKERS.items():
        for number in range(ROOMS if folds == 1 else ROOMS // 3):
            c = make(number, SEED, takes, groups)
            yield f"simulated {name}", c.sound, list(c.turns), c.cuts


def clips(models: Models, fold: int = 0, folds: int = 1, alike: bool = False) -> Iterator[Clip]:
    """Yield the clips of everything, or of one group of speakers, as they are heard (`voices.hear`)."""
    assert models.speech_activity is not None and models.speech_segmentation is not None
    for kind, sound, turns, cuts in made(models, fold, folds, alike):
        for first in range(0, max(1, len(sound) - CLIP // 10), CLIP):
            last = len(sound) if len(sound) - first < CLIP * 11 // 10 else first + CLIP
            part = sound[first:last]
            spans = [(max(0, round(a * SAMPLE_RATE) - first), min(last, round(b * SAMPLE_RATE)) - first, who) for a, b, who in turns]
            activity, hop = models.speech_activity.probabilities(part), models.speech_activity.hop
            tracks = segmented(part, faint(part, activity, hop), models.speech_segmentation)
            spoken = with_faint(part, speech_segments(part, activity, hop), tracks.heard, activity, hop)
            sure = tuple(s for s in spoken if s.sureness >= SURE or common([(s.start, s.end)], tracks.heard))
            shots = tuple(n for c in cuts if first < (n := round(c * SAMPLE_RATE)) < last)
            yield Clip(kind, part, tuple(s for s in spans if s[1] > s[0]), sure, tracks, tuple(n - first for n in shots))


def figures(clip: Clip, turns: Sequence[Turn]) -> dict[str, Any]:
    """Return counts of one clip."""
    who: list[tuple[Turn, str]] = []
    for t in turns:
        shares: Counter[str] = Counter()
        for a, b, person in clip.turns:
            shares[person] += overlap((t.start, t.end), (a, b))
        if shares and 3 * (t.end - t.start) <= 10 * max(shares.values()):
            who.append((t, max(sorted(shares), key=lambda p, shares=shares: shares[p])))  # type: ignore[misc]
    owner: dict[int, Counter[str]] = defaultdict(Counter)
    for t, person in who:
        owner[t.voice][person] += t.end - t.start
    turns_of = Counter(t.voice for t, _ in who)
    long = [(t.voice, person) for t, person in who if t.end - t.start >= SAMPLE_RATE]
    pairs = [(a[0] == b[0], a[1] == b[1]) for a, b in combinations(long, 2)]
    short = [(t.voice, person) for t, person in who if t.end - t.start < SAMPLE_RATE]
    us = 1e6 / SAMPLE_RATE
    rates = error_rates([
        Diarization(
            "clip", tuple((round(a * us), round(b * us), p) for a, b, p in clip.turns),
            tuple((round(t.start * us), round(t.end * us), str(t.voice)) for t in turns), ((0, round(len(clip.sound) * us)),), frozenset(),
        )
    ])  # fmt: skip
    length = Counter({k: sum(c.values()) for k, c in owner.items()})
    people = Counter({p: sum(b - a for a, b, q in clip.turns if q == p) for p in {p for *_, p in clip.turns}})
    return {
        "found": sum(f for f, _ in pairs), "true": sum(t for _, t in pairs), "right": sum(f and t for f, t in pairs), "short": len(short),
        "wrong": sum(turns_of[k] > 1 and owner[k].most_common(1)[0][0] != p for k, p in short),
        "nobody": sum(turns_of[k] == 1 for k, _ in short), "der": rates["der_no_collar"], "seconds": sum(people.values()) / SAMPLE_RATE,
        "beyond": sum(n >= 1.5 * SAMPLE_RATE for n in length.values()) - sum(n >= SAMPLE_RATE for n in people.values()),
    }  # fmt: skip


def told(rows: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """Yield a line for each kind, and one for all."""
    for kind in [*dict.fromkeys(k for k, _ in rows), "all"]:
        mine = [f for k, f in rows if kind in (k, "all")]
        total = {n: sum(f[n] for f in mine) for n in ("found", "true", "right", "short", "wrong", "nobody", "seconds")}
        rate = sum((f["der"] or 0) * f["seconds"] for f in mine) / max(1e-9, total["seconds"])
        beyond = np.mean([f["beyond"] for f in mine])
        yield (
            f"  {kind:20} {total['right'] / max(1, total['found']):.3f} / {total['right'] / max(1, total['true']):.3f}   "
            f"short {total['short']}, wrong {total['wrong']}, nobody's {total['nobody']}   error {rate:.3f}   voices beyond {beyond:+.2f}"
        )


def score(rows: Sequence[dict[str, Any]]) -> float:
    """Return pairwise F 0.5 of turns of 1 s and more: precision counts four times, for joining two voices is worse than splitting one."""
    right, found, true = (sum(r[k] for r in rows) for k in ("right", "found", "true"))
    return 1.25 * right / max(1e-9, 0.25 * true + found)


def run(heard: Sequence[Clip], models: Models, setting: Mapping[str, float]) -> list[tuple[str, dict[str, Any]]]:
    """Return kind and figures of each clip with some constants set otherwise."""
    assert models.voice_vectors is not None
    before = {name: getattr(speakers, name) for name in setting}
    try:
        for name, value in setting.items():
            setattr(speakers, name, round(value * SAMPLE_RATE) if isinstance(before[name], int) else value)
        return [
            (c.kind, figures(c, speakers.who_speaks(c.sound, c.spoken, models.speech_segmentation, models.voice_vectors, c.tracks, c.cuts)))
            for c in heard
        ]
    finally:
        for name, value in before.items():
            setattr(speakers, name, value)


def spread(models: Models, names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each constant."""
    groups = [list(clips(models, fold, FOLDS)) for fold in range(FOLDS)]
    now = [[f for _, f in run(g, models, {})] for g in groups]
    yield f"{sum(map(len, groups))} clips in {FOLDS} groups of speakers; F 0.5 of each as it is: {[round(score(g), 3) for g in now]}"
    for name in names or GRID:
        tried = {v: [[f for _, f in run(g, models, {name: v})] for g in groups] for v in GRID[name]}
        chosen = [max(GRID[name], key=lambda v, out=out: _others(tried[v], out)) for out in range(FOLDS)]  # type: ignore[misc]
        left_out = [score(tried[v][out]) for out, v in enumerate(chosen)]
        everywhere = {v: round(score([f for g in found for f in g]), 3) for v, found in tried.items()}
        yield (
            f"{name:10} chosen without each group {chosen}, spread {np.std(chosen):.2f}; on the group left out "
            f"{np.mean(left_out):.3f}, as it is {np.mean([score(g) for g in now]):.3f}; all {everywhere}"
        )


def _others(groups: Sequence[Sequence[dict[str, Any]]], out: int) -> float:
    return score([f for n, g in enumerate(groups) if n != out for f in g])


def main(words: Sequence[str]) -> None:
    models = cached_models.opened(cached_models.ResultCache(cached_models.folder() / "kept.sqlite"), words=False)
    if words and words[0] == "spread":
        for line in spread(models, words[1:]):
            print(line, flush=True)
        return
    alike, words = "alike" in words, [w for w in words if w != "alike"]
    heard = list(clips(models, alike=alike))
    for setting in words or [""]:
        print(setting or "as it is")
        values = {name: float(value) for name, value in (part.split("=") for part in setting.split(",") if part)}
        print("\n".join(told(run(heard, models, values))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
