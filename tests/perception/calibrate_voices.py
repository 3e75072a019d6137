"""Calibrate voices on the calibration side of the division: what vectors are compared in, and how likely a likeness is one person's.

    python tests/perception/calibrate_voices.py [--write]

Pieces of 0.5 to 8 s of single speakers (`bench.voices.division.SPEAKERS`; copies at 0.88 and 1.13 of the speed count as further people)
are worsened as the simulated conversations are; pieces of the calibration recordings are as they are. From them come, cross-validated
over speakers in five folds: the mean of voices and the directions in which one person's vectors differ (a mean and a matrix of 192 × 192,
shrunk), and the weights of `domain.calibration.Evidence`. Prints the weights with their spread over folds and the costs of log-likelihood
ratios; `--write` puts the statistics into resources/models, `--validation` says what they are worth there. No vector of a person leaves
this program.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from m3desk.bench.voices import division, kept, material, simulated
from m3desk.domain.calibration import Evidence
from m3desk.paths import resources
from m3desk.ports import SAMPLE_RATE, Models

SPEEDS = (0.88, 1.0, 1.13)
PIECES = 60
"""Of each speaker at each speed."""

SHRUNK = 0.6
"""Share of the within-speaker covariance that is replaced by its mean variance. Cost of the ratios at .3, .6, .8: .190, .158, .169."""

PENALTY = 1e-5
FOLDS = 5
Rows = dict[str, Any]


def pieces(models: Models) -> Rows:
    """Return raw vectors of pieces with their speakers, takes, seconds and conditions."""
    assert models.voice_vectors is not None
    random = np.random.default_rng(5)
    found: list[tuple[str, str, str, float, str, Any]] = []
    for who, takes in material.takes(material.calibration_files(), models).items():
        for speed in SPEEDS:
            spoken = [_faster(t, speed) for t in takes]
            for _ in range(PIECES):
                n = int(random.integers(len(spoken)))
                if (sound := _part(random, spoken[n])) is None:
                    continue
                told: list[str] = []
                worse = simulated.worsened(random, np.asarray(sound, np.float64), told)
                worse = np.asarray(worse * (10 ** (random.uniform(-25, -3) / 20) / max(1e-6, np.abs(worse).max())), np.float32)
                row = models.voice_vectors.embed([worse])[0]
                name = who if speed == 1 else f"{who}@{speed}"
                found.append((name, who, f"{who} {n}", len(worse) / SAMPLE_RATE, "+".join(told) or "clean", row))
    for path in division.CALIBRATION_RECORDINGS:
        if "katie" in path:
            continue
        recording = material.recording(path)
        sound = material.sound_of(recording.path)
        prefix = "ami" if "ami_30s" in path else recording.name
        for who, turns in _alone(recording).items():
            for n, turn in enumerate(t for t in turns for _ in range(1 + (t[1] - t[0]) // SAMPLE_RATE)):
                if (part := _part(random, sound[turn[0] : turn[1]])) is not None:
                    row = models.voice_vectors.embed([part])[0]
                    name = f"{prefix}/{who}"
                    found.append((name, name, f"{recording.name} {turn[0]} {n}", len(part) / SAMPLE_RATE, recording.name, row))
    columns = list(zip(*found, strict=True))
    names = ("who", "base", "take", "seconds", "condition")
    return {name: np.array(column) for name, column in zip(names, columns, strict=False)} | {"vectors": np.stack(columns[5])}


def _part(random: np.random.Generator, sound: Any) -> Any | None:
    length = min(len(sound), int(SAMPLE_RATE * np.exp(random.uniform(np.log(0.5), np.log(8)))))
    if length < SAMPLE_RATE // 2:
        return None
    start = int(random.integers(len(sound) - length + 1))
    return sound[start : start + length]


def _alone(recording: material.Recording) -> dict[str, list[tuple[int, int]]]:
    """Return speaker → samples where nobody else speaks."""
    found: dict[str, list[tuple[int, int]]] = {}
    for t in recording.truth.turns:
        spans = [(t.start, t.end)]
        for o in recording.truth.turns:
            if o.person != t.person:
                spans = [(a, b) for x, y in spans for a, b in ((x, min(y, o.start)), (max(x, o.end), y)) if b > a]
        found.setdefault(t.person, []).extend((round(a * 0.016), round(b * 0.016)) for a, b in spans)
    return found


def _faster(sound: Any, speed: float) -> Any:
    if speed == 1:
        return sound
    return np.interp(np.arange(int(len(sound) / speed)) * speed, np.arange(len(sound)), sound).astype(np.float32)


def statistics(rows: Rows, chosen: Any) -> tuple[Any, Any]:
    """Return the mean of voices, and the matrix after which one person's vectors differ alike in all directions."""
    vectors, who = rows["vectors"][chosen], rows["who"][chosen]
    means = {w: vectors[who == w].mean(0) for w in sorted(set(who))}
    centre = np.mean(list(means.values()), 0)
    rest = np.concatenate([vectors[who == w] - m for w, m in means.items()])
    within = rest.T @ rest / len(rest)
    within = (1 - SHRUNK) * within + SHRUNK * np.trace(within) / len(within) * np.eye(len(within))
    return centre, np.linalg.cholesky(np.linalg.inv(within)) * np.sqrt(np.trace(within) / len(within))


def applied(vectors: Any, centre: Any, matrix: Any) -> Any:
    moved = (vectors - centre) @ matrix
    return moved / np.linalg.norm(moved, axis=-1, keepdims=True)


def trials(rows: Rows, chosen: Any, space: Any, random: np.random.Generator, count: int) -> Any:
    """Return (n, 4): cosine, seconds of the shorter and the longer side, 1 for one person. A side is one piece, or two to six."""
    places = np.flatnonzero(chosen)
    who, condition, take, base, seconds = (rows[n] for n in ("who", "condition", "take", "base", "seconds"))
    speakers = {c: sorted(set(who[places[condition[places] == c]])) for c in sorted(set(condition[places]))}
    of: dict[tuple[str, str], Any] = {
        (w, c): places[(who[places] == w) & (condition[places] == c)] for c, ws in speakers.items() for w in ws
    }
    whole = {w: places[who[places] == w] for w in sorted(set(who[places]))}
    alike = [c for c, ws in speakers.items() if len(ws) > 1]
    found = []
    while len(found) < count:
        # In half of all trials both sides were recorded alike, as in one clip.
        c = str(random.choice(alike)) if random.random() < 0.5 else None
        names = speakers[c] if c is not None else sorted(whole)
        a = str(random.choice(names))
        b = a if random.random() < 0.5 else str(random.choice(names))
        sides = []
        for w in (a, b):
            pool = of[w, c] if c is not None else whole[w]
            sides.append(random.choice(pool, min(len(pool), 1 if random.random() < 0.6 else int(random.integers(2, 7))), replace=False))
        one = a == b
        if not one and base[sides[0][0]] == base[sides[1][0]]:
            continue
        if one:
            sides[1] = np.array([n for n in sides[1] if take[n] not in set(take[sides[0]])], int)
            if not len(sides[1]):
                continue
        means = [(space[s] * seconds[s][:, None]).sum(0) for s in sides]
        x, y = (m / np.linalg.norm(m) for m in means)
        lengths = sorted(float(seconds[s].sum()) for s in sides)
        found.append((float(x @ y), *lengths, float(one)))
    return np.array(found)


def fitted(found: Any) -> Any:
    """Return the weights of a logistic regression, both kinds of trials counting the same."""
    x, y = Evidence.columns(found[:, 0], found[:, 1], found[:, 2]), found[:, 3]
    weight = np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    w, ridge = np.zeros(x.shape[1]), PENALTY * np.diag([0.0] + [1.0] * (x.shape[1] - 1))
    for _ in range(60):
        p = 1 / (1 + np.exp(-x @ w))
        slope = x.T @ (weight * (p - y)) / len(y) + ridge @ w
        w = w - np.linalg.solve((x * (weight * p * (1 - p))[:, None]).T @ x / len(y) + ridge + 1e-9 * np.eye(len(w)), slope)
    return w


def cost(ratios: Any, one: Any) -> float:
    """Return the cost of log-likelihood ratios, bits (0 is perfect, 1 says nothing)."""
    return float(0.5 * (np.log2(1 + np.exp(-ratios[one == 1])).mean() + np.log2(1 + np.exp(ratios[one == 0])).mean()))


def told(ratios: Any, found: Any) -> list[str]:
    """Return, by the length of the shorter side, what thresholds of 2, 4 and 6 find of the same and let through of others."""
    lines = []
    for low, high in ((0.5, 1.0), (1.0, 1.5), (1.5, 2.5), (2.5, 4.0), (4.0, 60.0)):
        mine = (found[:, 1] >= low) & (found[:, 1] < high)
        one = found[:, 3] == 1
        shares = [f"{t}: {np.mean(ratios[mine & one] > t):.3f} / {np.mean(ratios[mine & ~one] > t):.4f}" for t in (2, 4, 6)]
        lines.append(
            f"  {low}-{high} s ({mine.sum()}): cost {cost(ratios[mine], found[mine, 3]):.3f}; found / let through at {', '.join(shares)}"
        )
    return lines


def fold(rows: Rows) -> Any:
    """Return the fold of each piece; speakers of one recording are in one, since they share it."""
    groups = [b.split("/")[0] if "librispeech" not in b and "speechbrain" not in b else b for b in rows["base"]]
    names = sorted(set(groups))
    return np.array([names.index(g) % FOLDS for g in groups])


def validation(models: Models, weights: Any, centre: Any, matrix: Any) -> None:
    """Print what the ratios are worth on each validation set, whole utterances as they are; nothing is chosen by it."""
    assert models.voice_vectors is not None
    for name in division.VALIDATION_SETS:
        takes = material.takes(material.validation_files(name), models)
        spoken = [(who, t) for who, mine in sorted(takes.items()) for t in mine if len(t) >= SAMPLE_RATE // 2]
        space = applied(np.stack([models.voice_vectors.embed([t])[0] for _, t in spoken]), centre, matrix)
        seconds, who = np.array([len(t) / SAMPLE_RATE for _, t in spoken]), np.array([w for w, _ in spoken])
        i, j = np.triu_indices(len(spoken), 1)
        found = np.stack(
            [(space[i] * space[j]).sum(1), np.minimum(seconds[i], seconds[j]), np.maximum(seconds[i], seconds[j]), who[i] == who[j]], 1
        )
        ratios = Evidence.columns(found[:, 0], found[:, 1], found[:, 2]) @ weights
        print(f"{name}: {len(spoken)} utterances, cost {cost(ratios, found[:, 3]):.3f}", *told(ratios, found), sep="\n")


def main(words: Sequence[str]) -> None:
    results = kept.Kept(kept.folder() / "kept.sqlite")
    models = kept.opened(results, words=False, raw=True)
    rows = pieces(models)
    random = np.random.default_rng(1)
    folds = fold(rows)
    parts = []
    for f in range(FOLDS):
        space = applied(rows["vectors"], *statistics(rows, folds != f))
        parts.append(trials(rows, folds == f, space, random, 6000))
    weights = [fitted(np.concatenate([p for g, p in enumerate(parts) if g != f])) for f in range(FOLDS)]
    held = [Evidence.columns(*p[:, :3].T) @ w for p, w in zip(parts, weights, strict=True)]
    for f, (r, p) in enumerate(zip(held, parts, strict=True)):
        print(f"fold {f}: {sorted(set(rows['base'][folds == f]))}", *told(r, p), sep="\n")
    costs = [cost(r, p[:, 3]) for r, p in zip(held, parts, strict=True)]
    print(f"{len(rows['who'])} pieces; cost held out {np.mean(costs):.3f}, by fold {[round(c, 3) for c in costs]}")
    print(*told(np.concatenate(held), np.concatenate(parts)), sep="\n")
    final = fitted(np.concatenate(parts))
    print("weights", [round(float(w), 3) for w in final], "spread", [round(float(s), 3) for s in np.std(weights, 0)])
    centre, matrix = statistics(rows, np.ones(len(folds), bool))
    if "--write" in words:
        np.save(resources() / "models" / "campplus_within.npy", np.concatenate([centre[None], matrix]).astype(np.float16))
    if "--validation" in words:
        validation(models, final, centre, matrix)


if __name__ == "__main__":
    main(sys.argv[1:])
