"""The programs that measure voices: they judge by the rules of the program and leave nothing behind."""

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
from tests.perception import outlier_voices, sweep_voices
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
