"""The diarization error rate of small talks, by values worked out by hand."""

from __future__ import annotations

import sys

import pytest

from m3desk.errors import BackendMissing
from m3desk.evaluation.diarization import Diarization, error_rates

S = 1_000_000


def heard(
    true: list[tuple[float, float, str]], found: list[tuple[float, float, str]], source: str = "a", until: float = 20.0, **more: object
) -> Diarization:
    def segments(rows: list[tuple[float, float, str]]) -> tuple[tuple[int, int, str], ...]:
        return tuple((round(a * S), round(b * S), who) for a, b, who in rows)

    return Diarization(source, segments(true), segments(found), ((0, round(until * S)),), **more)  # type: ignore[arg-type]


def test_whoever_is_found_by_another_name_is_right() -> None:
    rates = error_rates([heard([(0, 10, "Ann"), (10, 20, "Bob")], [(0, 10, "person_2"), (10, 20, "person_1")])])
    assert rates["der"] == rates["der_no_collar"] == rates["der_one_naming"] == 0.0


def test_what_is_missed_is_counted_outside_the_collar() -> None:
    # Without a collar 5 of 10 s are missed. With it 0.25 to 9.75 s count: 4.75 of 9.5 s.
    rates = error_rates([heard([(0, 10, "Ann")], [(0, 5, "p")])])
    assert rates["der_no_collar"] == 0.5 and rates["der"] == 0.5
    assert rates["der_parts_no_collar"] == {"false_alarm": 0.0, "missed": 0.5, "confusion": 0.0, "seconds": 10.0}
    assert rates["der_parts"]["seconds"] == 9.5


def test_a_border_a_little_off_costs_nothing_within_the_collar() -> None:
    rates = error_rates([heard([(2, 10, "Ann")], [(2.2, 10.2, "p")])])
    assert rates["der"] == 0.0 and rates["der_no_collar"] == round(0.4 / 8, 4)


def test_overlapping_speech_counts_twice() -> None:
    # 10 s of Ann and 2 s of Bob over her: 12 s of speech, Bob's 2 missed.
    rates = error_rates([heard([(0, 10, "Ann"), (4, 6, "Bob")], [(0, 10, "p")])])
    assert rates["der_no_collar"] == round(2 / 12, 4)
    # With the collar 0.25–3.75, 4.25–5.75 and 6.25–9.75 s count: 8.5 s of Ann and 1.5 of Bob.
    assert rates["der"] == round(1.5 / 10, 4)


def test_two_people_taken_for_one_are_confused() -> None:
    rates = error_rates([heard([(0, 6, "Ann"), (6, 10, "Bob")], [(0, 10, "p")])])
    assert rates["der_parts_no_collar"]["confusion"] == 0.4
    assert rates["der_files"] == [{"source": "a", "der": rates["der"], "der_no_collar": 0.4, "speakers": 2, "speakers_found": 1}]


def test_speech_where_nobody_speaks_is_a_false_alarm() -> None:
    assert error_rates([heard([(0, 10, "Ann")], [(0, 10, "p"), (12, 14, "q")])])["der_parts_no_collar"]["false_alarm"] == 0.2


def test_one_naming_for_all_sources_sees_a_person_found_anew_in_each() -> None:
    rates = error_rates([heard([(0, 10, "Ann")], [(0, 10, "p")], "a"), heard([(0, 10, "Ann")], [(0, 10, "q")], "b")])
    assert rates["der"] == 0.0 and rates["der_one_naming"] == 0.5


def test_sources_count_by_their_seconds() -> None:
    rates = error_rates([heard([(0, 18, "Ann")], [(0, 18, "p")], "a"), heard([(0, 2, "Ann")], [], "b")])
    assert rates["der_no_collar"] == 0.1 and [f["der_no_collar"] for f in rates["der_files"]] == [0.0, 1.0]


def test_speech_given_to_nobody_is_no_speaker() -> None:
    rates = error_rates([heard([(0, 10, "Ann")], [(0, 8, "p"), (8, 10, "u1")], nobody=frozenset({"u1"}))])
    assert rates["der_files"][0]["speakers_found"] == 1 and rates["der_no_collar"] == 0.2


def test_where_nobody_speaks_and_nothing_is_found_there_is_no_rate() -> None:
    assert error_rates([heard([], [])])["der"] is None


def test_without_the_library_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyannote.metrics.diarization", None)
    with pytest.raises(BackendMissing, match=r"pyannote\.metrics") as caught:
        error_rates([heard([(0, 1, "Ann")], [])])
    assert "m3desk[evaluate]" in caught.value.hint
