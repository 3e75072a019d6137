"""Calibrate voices inside one recording, on the calibration side of the division: the space they are compared in, and the evidence.

    python tests/perception/calibrate_voices.py [--model NAME] [--write]

300 simulated scenes: pieces of 0.5 to 8 s of three to five single speakers (`bench.voices.division.SPEAKERS`; copies at 0.88 and 1.13 of
the speed count as further people), each scene with one echo, noise or line; pieces of the calibration recordings are as they are. From
them come the mean of voices and the directions in which one person's vectors differ (d and d × d numbers, shrunk), and the weights of
`domain.calibration.Evidence`, by ratios of sets that were left out of the statistics. Prints, for raw cosines and for several amounts of
shrinkage, what is found of the same voice and let through of strangers in each set left out. `--write` puts the statistics into
resources/models. No vector of a person leaves this program.

`--model`: a backend other than the default. Of all but `FIRST` the cosines that are as strict as those of `FIRST` are printed besides.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from m3desk import backends
from m3desk.bench.voices import cached_models, division, material, simulated
from m3desk.domain.calibration import RECTIFIED, Evidence, calibration
from m3desk.domain.geometry import without
from m3desk.paths import resources
from m3desk.ports import SAMPLE_RATE, Models

SCENES = 300
SHRUNK = 0.8
"""Share of the within-speaker covariance that is replaced by its mean variance. Cost of the ratios at .6, .8, .95 and 1: .381, .383, .390
and .398; the fewer numbers are fitted to 30 people, the better they hold for others."""

PENALTY = 1e-4
TRIALS = 1500
"""Pairs of each set."""

FIRST = "campplus-rectified"
"""The model whose cosines were chosen by looking at pairs; those of others are as strict."""

Rows = dict[str, Any]


def pieces(models: Models) -> Rows:
    """Return raw vectors of pieces with speaker (at a speed), speaker, take, seconds and scene."""
    assert models.voice_vectors is not None
    random = np.random.default_rng(11)
    takes = material.takes(material.calibration_files(), models)
    spoken = {(who, speed): [simulated.faster(t, speed) for t in mine] for who, mine in takes.items() for speed in simulated.SPEEDS}
    found: list[tuple[Any, ...]] = []
    for scene in range(SCENES):
        sound, spans = _scene(random, spoken)
        rows = models.voice_vectors.embed([sound[a:b] for a, b, _, _ in spans])
        for (a, b, (who, speed), take), row in zip(spans, rows, strict=True):
            found.append((f"{who}@{speed}", who, f"{who} {take}", (b - a) / SAMPLE_RATE, f"scene {scene}", row))
    for path in division.CALIBRATION_RECORDINGS:
        if "katie" in path:
            continue
        recording = material.recording(path)
        sound = material.sound_of(recording.path)
        prefix = "ami" if "ami_30s" in path else recording.name
        for who, turns in _alone(recording).items():
            name = f"{prefix}/{who}"
            for turn in (t for t in turns for _ in range(1 + (t[1] - t[0]) // SAMPLE_RATE)):
                if (part := _part(random, sound[turn[0] : turn[1]])) is not None:
                    row = models.voice_vectors.embed([part])[0]
                    found.append((name, name, f"{recording.name} {turn[0]}", len(part) / SAMPLE_RATE, recording.name, row))
    columns = list(zip(*found, strict=True))
    return {n: np.array(c) for n, c in zip(("who", "base", "take", "seconds", "scene", "vectors"), columns, strict=True)}


def _scene(random: np.random.Generator, spoken: Any) -> tuple[Any, list[tuple[int, int, Any, int]]]:
    """Return a sound in which some people speak in turn, and its pieces: start, end, who, which take. Half are of one set's speakers."""
    count, pool = int(random.integers(3, 6)), sorted(spoken)
    if random.random() < 0.5:
        name = str(random.choice(sorted({who.split("/")[0] for who, _ in pool})))
        pool = [k for k in pool if k[0].split("/")[0] == name]
    people: list[Any] = []
    for i in random.permutation(len(pool)):
        if len(people) < count and all(pool[i][0] != p[0] for p in people):
            people.append(pool[i])
    order = [p for p in people for _ in range(int(random.integers(2, 5)))]
    parts, spans, at = [], [], 0
    for i in random.permutation(len(order)):
        take = int(random.integers(len(spoken[order[i]])))
        if (part := _part(random, spoken[order[i]][take])) is None:
            continue
        piece = np.asarray(part, float)
        piece = piece * (0.05 / max(1e-4, float(np.sqrt(np.mean(piece**2))))) * 10 ** (random.uniform(-9, 3) / 20)
        spans.append((at, at + len(piece), order[i], take))
        parts += [piece, np.zeros(SAMPLE_RATE // 5)]
        at += len(piece) + SAMPLE_RATE // 5
    sound = simulated.worsened(random, np.concatenate(parts), [])
    return np.asarray(sound * (10 ** (random.uniform(-25, -3) / 20) / max(1e-6, np.abs(sound).max())), np.float32), spans


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
        spans = without([(t.start, t.end)], [(o.start, o.end) for o in recording.truth.turns if o.person != t.person])
        found.setdefault(t.person, []).extend((round(a * 0.016), round(b * 0.016)) for a, b in spans)
    return found


def statistics(rows: Rows, chosen: Any, shrunk: float) -> tuple[Any, Any]:
    """Return the mean of voices, and the matrix after which one person's vectors differ alike in all directions."""
    vectors, who = rows["vectors"][chosen].astype(float), rows["who"][chosen]
    means = {w: vectors[who == w].mean(0) for w in sorted(set(who))}
    rest = np.concatenate([vectors[who == w] - m for w, m in means.items()])
    covariance = rest.T @ rest / len(rest)
    covariance = (1 - shrunk) * covariance + shrunk * np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    return np.mean(list(means.values()), 0), np.linalg.cholesky(np.linalg.inv(covariance)) * np.sqrt(np.trace(covariance) / len(covariance))


def trials(rows: Rows, chosen: Any, random: np.random.Generator) -> list[tuple[Any, Any, float]]:
    """Return pairs of sides of one scene (places of pieces) and 1 for one person. A side is one piece, or two to four."""
    who, base, take, scene = (rows[n] for n in ("who", "base", "take", "scene"))
    scenes: dict[str, dict[str, list[int]]] = {}
    for n in np.flatnonzero(chosen).tolist():
        scenes.setdefault(str(scene[n]), {}).setdefault(str(who[n]), []).append(n)
    names = sorted(scenes)
    found: list[tuple[Any, Any, float]] = []
    for _ in range(20 * TRIALS):
        pool = scenes[names[int(random.integers(len(names)))]]
        people = sorted(pool)
        a = people[int(random.integers(len(people)))]
        b = a if random.random() < 0.5 else people[int(random.integers(len(people)))]
        mine, other = pool[a], pool[b]
        if len(found) == TRIALS or (a != b and base[mine[0]] == base[other[0]]):
            continue
        sides = [
            random.choice(p, min(len(p), 1 if random.random() < 0.6 else int(random.integers(2, 5))), replace=False) for p in (mine, other)
        ]
        if a == b:
            sides[1] = np.array([n for n in sides[1] if take[n] not in set(take[sides[0]])], int)
        if len(sides[1]):
            found.append((sides[0], sides[1], float(a == b)))
    return found


def across(rows: Rows, chosen: Any, random: np.random.Generator) -> list[tuple[Any, Any, float]]:
    """Return pairs of sides of different scenes: up to four pieces of one scene, and of each of one to three others."""
    who, base, take, scene = (rows[n] for n in ("who", "base", "take", "scene"))
    scenes: dict[str, dict[str, list[int]]] = {}
    for n in np.flatnonzero(chosen).tolist():
        scenes.setdefault(str(who[n]), {}).setdefault(str(scene[n]), []).append(n)
    people = sorted(scenes)
    found: list[tuple[Any, Any, float]] = []
    for _ in range(40 * TRIALS):
        if len(found) == TRIALS:
            break
        a = people[int(random.integers(len(people)))]
        b = a if random.random() < 0.5 else people[int(random.integers(len(people)))]
        here = str(random.choice(sorted(scenes[a])))
        there = [s for s in sorted(scenes[b]) if s != here]
        if not there or (a != b and base[scenes[a][here][0]] == base[scenes[b][there[0]][0]]):
            continue
        one = random.permutation(scenes[a][here])[: int(random.integers(1, 5))]
        rest = [
            n
            for s in random.permutation(there)[: int(random.integers(1, 4))]
            for n in random.permutation(scenes[b][str(s)])[: int(random.integers(1, 5))]
        ]
        two = np.array([n for n in rest if a != b or take[n] not in set(take[one])], int)
        if len(two):
            found.append((one, two, float(a == b)))
    return found


def compared(rows: Rows, pairs: Any, mean: Any, matrix: Any, *, weighted: bool = True) -> Any:
    """Return the columns of `Evidence` of pairs. `weighted`: longer pieces count more, as inside a clip; those of a gallery count alike."""
    found = []
    for sides in pairs:
        vectors, seconds = [], []
        for s in sides[:2]:
            weight = np.minimum(rows["seconds"][s], 8) if weighted else np.ones(len(s))
            moved = ((rows["vectors"][s] * weight[:, None]).sum(0)).astype(float)
            moved = (moved / np.linalg.norm(moved) - mean) @ matrix
            vectors.append(moved / np.linalg.norm(moved))
            seconds.append(float(rows["seconds"][s].sum()))
        found.append(Evidence.columns(float(vectors[0] @ vectors[1]), *sorted(seconds)))
    return np.stack(found)


def fitted(x: Any, y: Any) -> Any:
    """Return the weights of a logistic regression, both kinds of pairs counting the same."""
    weight = np.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    w, ridge = np.zeros(x.shape[1]), PENALTY * np.diag([0.0] + [1.0] * (x.shape[1] - 1))
    for _ in range(80):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -40, 40)))
        slope = x.T @ (weight * (p - y)) / len(y) + ridge @ w
        w = w - np.linalg.solve((x * (weight * p * (1 - p))[:, None]).T @ x / len(y) + ridge + 1e-9 * np.eye(len(w)), slope)
    return w


def cost(ratios: Any, one: Any) -> float:
    """Return the cost of log-likelihood ratios, bits (0 is perfect, 1 says nothing)."""
    return float(0.5 * (np.log2(1 + np.exp(-ratios[one == 1])).mean() + np.log2(1 + np.exp(ratios[one == 0])).mean()))


def folds(rows: Rows) -> Any:
    """Return the set of each piece that is left out together; LibriSpeech in three parts, small recordings as one."""
    libri = sorted({b for b in rows["base"] if b.startswith("librispeech")})
    small = {"sample": "small", "test": "small", "diarizationExample": "small", "jfk": "customspeech_wer"}
    names = [f"librispeech {libri.index(b) // 2}" if b in libri else b.split("/")[0] for b in rows["base"]]
    return np.array([small.get(n, n) for n in names])


def told(what: str, rows: Rows, fold: Any, pairs: dict[str, Any], amounts: Sequence[float | None], *, weighted: bool) -> None:
    """Print what is found of the same voice and let through of strangers in each set left out, and the weights of all."""
    names = list(pairs)
    true = {f: np.array([p[2] for p in pairs[f]]) for f in names}
    for shrunk in amounts:
        columns = {}
        for f in names:
            d = rows["vectors"].shape[1]
            space = (np.zeros(d), np.eye(d)) if shrunk is None else statistics(rows, fold != f, shrunk)
            columns[f] = compared(rows, pairs[f], *space, weighted=weighted)
        print(f"{what}:", "raw cosines" if shrunk is None else f"shrunk by {shrunk}")
        weights, figures = [], []
        for f in names:
            rest = [g for g in names if g != f]
            weights.append(fitted(np.concatenate([columns[g] for g in rest]), np.concatenate([true[g] for g in rest])))
            ratios, long = columns[f] @ weights[-1], columns[f][:, 2] >= np.log(1.5)
            share = [float(np.mean(ratios[long & (true[f] == one)] > 3)) for one in (1, 0)]
            figures.append((cost(ratios, true[f]), *share))
            print(f"  without {f}: cost {figures[-1][0]:.3f}; found / let through at 3, from 1.5 s on: {share[0]:.3f} / {share[1]:.4f}")
        print("  mean of sets:", [round(float(m), 4) for m in np.mean(figures, 0)])
        final = fitted(np.concatenate([columns[f] for f in names]), np.concatenate([true[f] for f in names]))
        print("  weights", [round(float(w), 3) for w in final], "spread", [round(float(s), 3) for s in np.std(weights, 0)])


def _cosines(rows: Rows, pairs: Sequence[tuple[Any, Any, float]], *, of_means: bool) -> Any:
    """Return the (n,) mean cosine of all rows of one side with all of the other, or the cosine of their means, of sides of 1 s and more."""
    found = []
    for a, b, _ in pairs:
        one, two = rows["vectors"][a].astype(float).mean(0), rows["vectors"][b].astype(float).mean(0)
        found.append(float(one @ two) / (float(np.linalg.norm(one) * np.linalg.norm(two)) if of_means else 1.0))
    return np.array(found)


def as_strict(
    first: Rows, second: Rows, pairs: Sequence[tuple[Any, Any, float]], cosines: Sequence[float], *, of_means: bool
) -> list[float]:
    """Return the cosines of the second model that let through as many strangers as these of the first; pairs as of `across`.

    Above the most similar strangers: the cosine that misses as many pairs of one person, but none that lets a stranger through.
    """
    long = [p for p in pairs if all(first["seconds"][side].max() >= 1 for side in p[:2])]
    one = np.array([same for *_, same in long]) == 1
    before, after = (_cosines(rows, long, of_means=of_means) for rows in (first, second))
    found = []
    for c in cosines:
        through = float(np.mean(before[~one] >= c))
        strict = float(np.quantile(after[~one], 1 - through))
        found.append(strict if through else max(strict, float(np.quantile(after[one], np.mean(before[one] < c)))))
    return found


def main(words: Sequence[str]) -> None:
    model = words[words.index("--model") + 1] if "--model" in words else backends.EMBEDDED["voice_vectors"]
    cache = cached_models.ResultCache(cached_models.folder() / "kept.sqlite")
    models = cached_models.opened(cache, words=False, voices=model)
    assert models.voice_vectors is not None
    rows = pieces(models)
    fold = folds(rows)
    names = sorted(set(fold))
    random = np.random.default_rng(1)
    inside = {f: trials(rows, fold == f, random) for f in names}
    told("inside a recording", rows, fold, inside, (None, 1.0, 0.95, 0.8, 0.6), weighted=True)
    between = {f: across(rows, fold == f, random) for f in names}
    told(
        "of two recordings",
        rows,
        fold,
        {f: p for f, p in between.items() if {one for *_, one in p} == {0.0, 1.0}},
        (None, 0.8),
        weighted=False,
    )
    if model != FIRST:
        usual = pieces(cached_models.opened(cache, words=False, voices=FIRST))
        every = [p for mine in between.values() for p in mine]
        for names in (("accept", "several", "carried"), ("similar", "equal_odds", "sure", "split_below")):
            strict = as_strict(usual, rows, every, [getattr(RECTIFIED, n) for n in names], of_means="similar" in names)
            print(f"as strict as those of {FIRST}:", {n: round(c, 3) for n, c in zip(names, strict, strict=True)})
    if "--write" in words:
        within = calibration(models.voice_vectors.name, "voice").within
        assert within is not None, "this model has no statistics in domain/calibration.py"
        mean, matrix = statistics(rows, np.ones(len(fold), bool), SHRUNK)
        np.save(resources() / "models" / within, np.concatenate([mean[None], matrix]).astype(np.float16))


if __name__ == "__main__":
    main(sys.argv[1:])
