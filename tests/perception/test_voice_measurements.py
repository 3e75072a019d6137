"""The programs that measure and calibrate voices: they judge by the rules of the program and leave nothing behind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from m3desk.bench.voices.hearing import Judged
from m3desk.domain.calibration import VOICES, Space
from m3desk.domain.evidence import Utterance
from m3desk.domain.questions.splits import outlier
from m3desk.perception import speakers
from m3desk.ports import Models
from tests.perception import calibrate_voices, outlier_voices, sweep_voices
from tests.perception.invented_speech import Octaves


def test_constants_are_as_before_after_a_sweep_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("stopped")

    before = speakers.JOIN, speakers.CORE
    monkeypatch.setattr(speakers, "who_speaks", fails)
    clip = sweep_voices.Clip("kind", np.zeros(16_000, np.float32), (), (), None, ())  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="stopped"):
        sweep_voices.run([clip], Models(voice_vectors=Octaves()), {"JOIN": 9.0, "CORE": 0.1})
    assert before == (speakers.JOIN, speakers.CORE)


def test_the_question_is_measured_as_the_program_asks_it() -> None:
    rule = replace(VOICES, space=Space(np.zeros(16, np.float32), np.eye(16, dtype=np.float32)))
    dice, S = np.random.default_rng(8), 1_000_000
    rows = [r / np.linalg.norm(r) for r in (dice.normal(size=(4, 1, 16)) + 1).astype(np.float32)]
    ids = ("s1.c0.u0", "s1.c0.u1", "s2.c0.u0", "s2.c0.u1")
    said = [Utterance(id_, id_[:5], 0, (n + 1) * S, "x", (), "en", 0.9, None, 0) for n, id_ in enumerate(ids)]
    voice = [(Judged(u, "Ann" if n else "Bob", "person_1", 0), r) for n, (u, r) in enumerate(zip(said, rows, strict=True))]
    by_ratio, by_similarity = (
        outlier(rows, ["s1", "s1", "s2", "s2"], [1.0, 2.0, 3.0, 4.0], r) for r in (rule, replace(rule, evidence=None))
    )
    assert list(outlier_voices.asked(voice, rule)) == [(p, place == 0) for place, p in (by_ratio, by_similarity)]


def test_thresholds_of_another_model_let_through_as_many_strangers() -> None:
    dice = np.random.default_rng(3)
    people = [v / np.linalg.norm(v) for v in dice.normal(size=(20, 12))]
    who = np.repeat(np.arange(20), 6)

    def rows(noise: float) -> calibrate_voices.Rows:
        vectors = np.stack([people[w] + noise * dice.normal(size=12) for w in who])
        return {"vectors": vectors / np.linalg.norm(vectors, axis=1, keepdims=True), "seconds": np.full(len(who), 2.0)}

    first, second = rows(0.1), rows(0.3)
    pairs = [(np.array([a]), np.array([b]), float(who[a] == who[b])) for a in range(0, 120, 2) for b in range(1, 120, 2)]
    (cosine,) = calibrate_voices.as_strict(first, second, pairs, [0.5], of_means=False)
    strangers = [p for p in pairs if not p[2]]
    through = [float(np.mean(calibrate_voices._cosines(r, strangers, of_means=False) >= c)) for r, c in ((first, 0.5), (second, cosine))]
    assert through[0] > 0.01 and abs(through[0] - through[1]) < 0.005
    (above,) = calibrate_voices.as_strict(first, first, pairs, [0.999], of_means=False)
    assert above >= calibrate_voices._cosines(first, strangers, of_means=False).max()
