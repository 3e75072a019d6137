"""What is kept of the last minutes of a live source until its clips are memorized."""

from __future__ import annotations

from m3desk.domain.live import Heard, LiveFace, Seen
from m3desk.events import LiveFaces, LiveStarted, LiveWords
from m3desk.live.newest import KEPT, Newest

S = 1_000_000


def _face(person: str | None) -> LiveFace:
    return LiveFace("t1", 0, 0, 9, 9, person)


def test_the_last_words_of_an_utterance_replace_its_earlier_ones_and_words_are_found_by_their_middle() -> None:
    newest = Newest()
    newest.saw(LiveWords("s1", 4 * S, 6 * S, "we", None))
    newest.saw(LiveWords("s1", 4 * S, 8 * S, "we drink tea", "person_1", "Ann"))
    newest.saw(LiveWords("s1", 9 * S, 10 * S, ""))
    ann = Heard("s1", 4 * S, 8 * S, "we drink tea", "person_1", "Ann")
    assert newest.since("s1", 6 * S)[0] == [ann] and newest.since("s1", 6 * S + 1)[0] == [] == newest.since("s2", 0)[0]


def test_somebody_known_who_is_lost_for_a_moment_stays_in_view() -> None:
    newest = Newest()
    for at in (1, 2, 3, 9):
        newest.saw(LiveFaces("s1", at * S, (_face("person_1"), _face(None))))
    assert newest.since("s1", 2 * S)[1] == [Seen("s1", 2 * S, 3 * S, "person_1"), Seen("s1", 9 * S, 9 * S + 1, "person_1")]


def test_what_is_older_than_ten_minutes_or_of_another_source_is_dropped() -> None:
    newest = Newest()
    newest.saw(LiveWords("s1", 0, S, "old"))
    newest.saw(LiveFaces("s1", 0, (_face("person_1"),)))
    newest.saw(LiveWords("s1", KEPT, KEPT + S, "new"))
    newest.saw(LiveFaces("s1", KEPT + S, (_face("person_1"),)))
    heard, seen = newest.since("s1", 0)
    assert [h.text for h in heard] == ["new"] and [s.start for s in seen] == [KEPT + S]
    newest.saw(LiveStarted("s2", "camera:0", ""))
    assert newest.since("s1", 0) == ([], [])
