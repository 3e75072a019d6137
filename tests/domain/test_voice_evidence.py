"""What a likeness of voices says: more where more was heard, and enough to be somebody, to be joined, to be asked about."""

from __future__ import annotations

import numpy as np
import pytest

from m3desk.domain.calibration import EVEN_VOICES, EVIDENCE, calibration
from m3desk.domain.consolidation import overwhelming, similar_pairs
from m3desk.domain.evidence import Floats
from m3desk.domain.identity import Candidate, Gallery, match

SECOND = 1_000_000


def at(cosine: float) -> Floats:
    """Return a unit row of this cosine to (1, 0, 0)."""
    return np.array([[cosine, np.sqrt(1 - cosine**2), 0]], np.float32)


def voice(cosine: float, seconds: float, number: int = 1) -> Gallery:
    return Gallery(f"voice_{number}", f"person_{number}", at(cosine), round(seconds * SECOND))


def asking(seconds: float) -> Candidate:
    return Candidate(("s1.c0.u0",), at(1.0), round(seconds * SECOND))


def test_a_greater_likeness_says_more_and_the_same_of_long_speech_less() -> None:
    ratios = [float(EVIDENCE.ratio(c, 3.0, 8.0)) for c in np.linspace(-0.2, 1.0, 13)]
    assert ratios == sorted(ratios)
    assert EVIDENCE.ratio(0.4, 1.0, 1.0) > EVIDENCE.ratio(0.4, 8.0, 8.0), "one person's words are less alike than one person's minutes"
    assert EVIDENCE.ratio(0.5, 2.0, 5.0) == EVIDENCE.ratio(0.5, 5.0, 2.0)


@pytest.mark.parametrize("seconds", [0.7, 1.5, 4.0, 60.0])
def test_what_a_ratio_needs_gives_that_ratio(seconds: float) -> None:
    assert EVIDENCE.ratio(EVIDENCE.needed(6.0, seconds, 3.0), seconds, 3.0) == pytest.approx(6.0, abs=1e-4)
    assert EVIDENCE.lead(2.0, seconds, 3.0) == pytest.approx(
        EVIDENCE.needed(6.0, seconds, 3.0) - EVIDENCE.needed(4.0, seconds, 3.0), abs=1e-5
    )


def test_the_model_that_ships_is_compared_by_evidence_and_the_one_before_as_before() -> None:
    assert calibration("campplus-zh-en-w16-n1", "voice") is EVEN_VOICES
    assert calibration("campplus-zh-en-w16", "voice").evidence is None


def test_more_likeness_is_needed_of_long_speech() -> None:
    cosine = EVEN_VOICES.needed(EVEN_VOICES.join, 2 * SECOND, 2 * SECOND) + 0.01
    assert match([asking(2)], [voice(cosine, 2)], [], EVEN_VOICES)[0].node == "voice_1"
    assert match([asking(8)], [voice(cosine, 8)], [], EVEN_VOICES)[0].node is None


def test_two_who_are_nearly_as_alike_are_a_doubt() -> None:
    cosine = EVEN_VOICES.needed(EVEN_VOICES.join, 4 * SECOND, 8 * SECOND) + 0.05
    near = cosine - 0.5 * EVEN_VOICES.lead(EVEN_VOICES.ahead, 4 * SECOND, 8 * SECOND)
    other = Gallery("voice_2", "person_2", np.array([[near, 0, np.sqrt(1 - near**2)]], np.float32), 8 * SECOND)
    assert match([asking(4)], [voice(cosine, 8), other], [], EVEN_VOICES)[0].node is None
    assert match([asking(4)], [voice(cosine, 8)], [], EVEN_VOICES)[0].node == "voice_1"


def test_nodes_are_joined_only_by_overwhelming_evidence() -> None:
    sure = EVEN_VOICES.needed(EVEN_VOICES.surely, 10 * SECOND, 10 * SECOND) + 0.01
    for cosine, joined in ((sure, True), (sure - 0.1, False)):
        pair = [voice(1.0, 10), voice(cosine, 10, 2)]
        found = similar_pairs(pair, EVEN_VOICES)
        assert bool(overwhelming(found, {g.node: g for g in pair}, EVEN_VOICES)) == joined
        assert found[0].certainty > 0.5, "what is not joined is asked about"
    short = [voice(1.0, 2), voice(0.99, 2, 2)]
    assert not overwhelming(similar_pairs(short, EVEN_VOICES), {g.node: g for g in short}, EVEN_VOICES), "2 s are too little to be sure by"
