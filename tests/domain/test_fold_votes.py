"""Votes by similarity belong to the model that cast them: after a switch to another model they no longer join nodes."""

from __future__ import annotations

from m3desk.domain.fold import identities
from m3desk.domain.log import Birth, Bound, Log, ObservationRow, Voted


def log(*by: str) -> Log:
    """Two faces of clip 0, bound to nodes of their own by each of these models in turn; the first one finds the nodes similar."""
    made = Log()
    for n in (1, 2):
        made.add([
            ObservationRow(f"s1.c0.f{n}", "face", "s1.c0", n, n + 1, 0.9, None, None, 1),
            Birth(f"face_{n}", n, "face", "", f"person_{n}", "s1.c0", n, n + 1, 1),
        ])  # fmt: skip
    for sequence, model in enumerate(by, 1):
        made.add(Bound(f"s1.c0.f{n}", f"face_{n}", 0.9, None, None, model, "2026-11-21", sequence) for n in (1, 2))
    made.add([Voted("s1.c0.f1", "s1.c0.f2", f"consolidation {by[0]}", 1.0, "s1.c0", 1)])
    return made


def test_two_nodes_that_a_model_finds_similar_are_one_person_as_long_as_that_model_is_used() -> None:
    assert identities(log("sface 1")).members == {"person_1": ["face_1", "face_2"]}
    assert identities(log("sface 1", "dlib 1")).members == {"person_1": ["face_1"], "person_2": ["face_2"]}
    assert identities(log("sface 1", "dlib 1", "sface 1")).members == {"person_1": ["face_1", "face_2"]}
