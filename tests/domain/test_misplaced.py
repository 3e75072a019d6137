"""A clip's clusters that were taken apart, as its sentences see them."""

from __future__ import annotations

from m3desk.domain.evidence import FaceTrack, Perceived, Utterance
from m3desk.domain.misplaced import regrouped


def test_a_cluster_taken_apart_is_two_in_what_sentences_are_written_from() -> None:
    faces = tuple(FaceTrack(f"s1.c0.f{k}", "s1.c0", k, k + 1, (), 0.9, 0.9, cluster=c) for k, c in enumerate((0, 1, 0, 0)))
    said = tuple(Utterance(f"s1.c0.u{k}", "s1.c0", k, k + 1, "tea", (), "en", 0.9, cluster=c) for k, c in enumerate((0, 0)))
    groups = [("s1.c0.f0", "s1.c0.f3"), ("s1.c0.f1",), ("s1.c0.f2",), ("s1.c0.u0",), ("s1.c0.u1",)]
    told = regrouped(Perceived("s1.c0", faces, said), groups)
    assert [t.cluster for t in told.faces] == [0, 1, 2, 0]
    assert [u.cluster for u in told.utterances] == [0, 3]
    same = Perceived("s1.c0", faces, said)
    assert regrouped(same, [("s1.c0.f0", "s1.c0.f2", "s1.c0.f3"), ("s1.c0.f1",), ("s1.c0.u0", "s1.c0.u1")]) == same
