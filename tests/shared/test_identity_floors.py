"""Identity accuracy on the shared material, by the rows of `m3desk bench identity`: a change that makes it worse fails here.

The memories are made once for all tests (about four minutes on two cores).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from m3desk.bench import identity
from m3desk.bench.identity_material import Workshop

# Each a little under (or over) what was reached on 21 November 2026; the goals of issue 3 stand in m3desk/bench/identity.py.
FLOORS: dict[tuple[str, str], tuple[str, float]] = {
    ("reel-faces", "faces: pairwise precision"): (">=", 0.995),
    ("reel-faces", "faces: pairwise recall"): (">=", 0.95),
    ("reel-voices", "voices: pairwise precision"): (">=", 0.99),
    ("reel-voices", "voices: pairwise recall"): (">=", 0.70),
    ("reel-links", "wrong links"): ("<=", 0),
    ("reel-links", "people rightly linked"): (">=", 10),
    ("attribution", "reel: sentences that name the right person"): (">=", 0.95),
    ("attribution", "webrtc: sentences that name the right person"): (">=", 0.95),
    ("webrtc", "people for each man, at most"): ("<=", 1),
    ("webrtc", "people who hold tracks of both"): ("<=", 0),
    ("webrtc", "timed boxes without a track"): ("<=", 2),
    ("photos", "photos that found somebody who is not on them"): ("<=", 0),
    ("photos", "obama and biden: share of whole-face photos with the right person first"): (">=", 1.0),
    ("ami", "diarization error rate, 0.25 s collar"): ("<=", 0.24),
    ("ami", "pairwise precision across files"): (">=", 0.97),  # of the three or four pairs that are found none is wrong
    ("small", "mean diarization error rate"): ("<=", 0.03),
    ("small", "speaker counts wrong"): ("<=", 0),
}

Figures = Callable[[str], dict[str, float | None]]


@pytest.fixture(scope="session")
def figures(shared_data: Path, weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Figures]:
    """Return what a row of the benchmark measures: name of the figure → figure. Each row is measured once."""
    measured: dict[str, dict[str, float | None]] = {}
    with Workshop(tmp_path_factory.mktemp("identity")) as work:

        def of(row: str) -> dict[str, float | None]:
            if row not in measured:
                measured[row] = {what: figure for what, figure, *_ in identity.ROWS[row](work)["goals"]}
            return measured[row]

        yield of


@pytest.mark.data
@pytest.mark.models
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("row", "what"), FLOORS)
def test_no_figure_falls_below_what_was_reached(figures: Figures, row: str, what: str) -> None:
    figure, (way, floor) = figures(row)[what], FLOORS[row, what]
    assert figure is not None and (figure >= floor if way == ">=" else figure <= floor), f"{what}: {figure}, no longer {way} {floor}"
