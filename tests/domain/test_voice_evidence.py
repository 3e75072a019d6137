"""Log-likelihood ratios of voices: they rise with the similarity, and mean more the more was heard."""

from __future__ import annotations

import numpy as np

from m3desk.domain.calibration import EVIDENCE, RECTIFIED, calibration


def test_more_similar_voices_are_more_likely_one_whatever_their_length() -> None:
    for seconds, others in ((0.5, 0.5), (0.7, 4.0), (3.0, 8.0), (16.0, 600.0)):
        ratios = [float(EVIDENCE.ratio(c, seconds, others)) for c in np.linspace(-0.2, 1.0, 13)]
        assert ratios == sorted(ratios)


def test_the_same_low_similarity_says_more_against_one_person_where_more_was_heard() -> None:
    assert EVIDENCE.ratio(0.2, 1.0, 1.0) > EVIDENCE.ratio(0.2, 8.0, 8.0)
    assert EVIDENCE.ratio(0.9, 1.0, 1.0) < EVIDENCE.ratio(0.9, 1.0, 8.0)


def test_the_order_of_the_two_does_not_matter_and_minutes_count_like_the_longest_that_was_measured() -> None:
    assert EVIDENCE.ratio(0.5, 2.0, 5.0) == EVIDENCE.ratio(0.5, 5.0, 2.0)
    assert EVIDENCE.ratio(0.5, 2.0, 16.0) == EVIDENCE.ratio(0.5, 2.0, 500.0)


def test_the_model_that_ships_has_evidence_and_statistics_and_an_unknown_one_neither() -> None:
    assert (
        calibration("campplus-zh-en-linear-w16", "voice").evidence is EVIDENCE and calibration("campplus-zh-en-linear-w16", "voice").within
    )
    assert calibration("campplus-zh-en-w16", "voice") is RECTIFIED and RECTIFIED.evidence != EVIDENCE
    assert calibration("nobody-knows-it", "voice").evidence is None and calibration("nobody-knows-it", "voice").within is None
    for name in ("ecapa-voxceleb", "nobody-knows-it"):
        rule = calibration(name, "voice")
        low, high = (float(rule.comparison().ratio(rule.equal_odds + d, 3.0, 3.0)) for d in (-0.01, 0.01))
        assert low < 0 < high
