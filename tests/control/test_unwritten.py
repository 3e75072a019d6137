"""Questions about a live source whose last clips are not memorized yet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from m3desk.control import loop
from m3desk.control.search import Search
from m3desk.control.snapshots import SnapshotCache
from m3desk.control.unwritten import unmemorized_from, with_unwritten, without_ids
from m3desk.domain.live import Heard, Seen, Unmemorized
from m3desk.events import AskDone, AskRound
from m3desk.store.index.words import words
from tests.control.made import BagOfWords, MadeReader, S, person


class Live:
    """A memory of a live source: one clip is memorized, the next waits, and more was recorded."""

    def __init__(self, *heard: Heard, seen: tuple[Seen, ...] = (), source: str = "s1") -> None:
        made = MadeReader(person(1, "Ann"), person(2), clips=2)
        made._sources = [replace(s, state="live") for s in made._sources]
        made._clips[1] = replace(made._clips[1], state="queued")
        made.see(1, 2, 20)
        made.hear(1, "the harvest was good", 5, 8)
        self.made, self.cache, self.bag = made, SnapshotCache(words), BagOfWords()
        known = self.cache.snapshot(made, self.bag.name)  # type: ignore[arg-type]
        self.plain = Search(made, known, self.bag, known, self.cache)  # type: ignore[arg-type]
        self.search = with_unwritten(self.cache, self.plain, Unmemorized(source, 30 * S, 70 * S, heard, seen), self.bag)

    def ask(self, question: str) -> tuple[AskDone, list[AskRound]]:
        told = [without_ids(e) for e in loop.answer(question, self.search, None)]
        return told[-1], [e for e in told if isinstance(e, AskRound)]


TRAIN = Heard("s1", 61 * S, 64 * S, "the train leaves at nine", "person_1", "Anna")


def test_words_of_somebody_known_are_found_cited_and_told_under_their_name() -> None:
    live = Live(TRAIN)
    done, rounds = live.ask("What did Ann just say?")
    assert done.found and done.answer == "Ann says: “the train leaves at nine” [01:01]"
    assert [(c.clip, c.start, c.end, c.node) for c in done.citations] == [("s1.c2", 61 * S, 64 * S, None)]
    assert all(not r.startswith("live") for step in rounds for r in step.results)
    done, _ = live.ask("When does the train leave?")
    assert done.found and "nine" in done.answer and done.citations


def test_only_chinese_words_are_told_in_chinese() -> None:
    for text, lead in (("看火车 nine", "说"), ("the train 🚆 leaves", "Ann says"), ("기차 nine", "Ann says")):
        sentence = Live(replace(TRAIN, text=text)).search.reader.sentence("live_1")
        assert lead in sentence.shown and sentence.language == ("zh" if lead == "说" else "en")


def test_what_happened_in_the_last_seconds_is_told_from_the_words() -> None:
    live = Live(TRAIN, Heard("s1", 66 * S, 68 * S, "hurry up", None))
    done, _ = live.ask("What happened in the last 20 seconds?")
    assert "the train leaves at nine" in done.answer and "Somebody says: “hurry up”" in done.answer and "harvest" not in done.answer


def test_who_is_in_view_counts_those_who_are_named_on_the_picture() -> None:
    live = Live(seen=(Seen("s1", 62 * S, 69 * S, "person_2"), Seen("s1", 62 * S, 63 * S, "person_99")))
    done, _ = live.ask("Who was here in the last 20 seconds?")
    assert "Person 2" in done.answer and "Ann" not in done.answer


def test_words_wait_in_the_clip_that_they_will_be_part_of() -> None:
    done, _ = Live(replace(TRAIN, start=40 * S, end=42 * S)).ask("What did Ann say last?")
    assert [c.clip for c in done.citations] == ["s1.c1"]
    assert unmemorized_from(Live().plain, "s1") == 30 * S


def test_later_questions_and_commits_know_nothing_of_it() -> None:
    live = Live(TRAIN)
    assert live.search is not live.plain and Live().search is not None
    now = live.cache.snapshot(live.made, live.bag.name)  # type: ignore[arg-type]
    assert now.table.size == 2 and now.by_words(words("train"), 5) == []
    live.made.hear(1, "good night", 20, 22)
    live.cache.drop()
    later = live.cache.snapshot(live.made, live.bag.name)  # type: ignore[arg-type]
    assert later.table.size == 3


def test_a_source_that_is_not_in_the_memory_changes_nothing() -> None:
    live = Live(replace(TRAIN, source="s9"), source="s9")
    assert live.search is live.plain


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        ("What was just said?", "Not in this memory so far: nobody is heard speaking. The last 40 seconds are not memorized yet."),
        ("Who is in view right now?", "Not in this memory so far: nobody's face is seen. The last 40 seconds are not memorized yet."),
        ("What does Person 2 say?", "Person 2 is not heard saying anything. The last 40 seconds are not memorized yet."),
        ("Is there a giraffe?", "“giraffe”. The last 40 seconds are not memorized yet."),
        ("What just happened?", "The last 40 seconds are not memorized yet."),
        ("What happened 5 seconds ago?", "The last 40 seconds are not memorized yet."),
        ("刚才说了什么？", "到目前为止，这段记忆里没有听到任何人说话。最后40秒还没有记录。"),
    ],
)
def test_that_nothing_is_known_is_said_of_what_is_memorized_only(question: str, holds: str) -> None:
    done, _ = Live().ask(question)
    assert not done.found and holds in done.answer and "ends at" not in done.answer


def test_of_a_time_that_is_memorized_the_last_seconds_are_not_spoken_of() -> None:
    done, _ = Live().ask("Who speaks before 0:04?")
    assert not done.found and "not memorized" not in done.answer and "so far" not in done.answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who just spoke?", "Somebody speaks, but it is not known so far who: “hurry up” [01:06]"),
        ("刚才谁在说话？", "到目前为止，有人说话，但不知道是谁：“hurry up” [01:06]"),
        ("What was just said?", "Somebody says: “hurry up” [01:06]"),
    ],
)
def test_words_of_somebody_unknown_are_no_silence(question: str, answer: str) -> None:
    done, _ = Live(Heard("s1", 66 * S, 68 * S, "hurry up", None)).ask(question)
    assert done.found and done.answer == answer


def test_what_is_found_so_far_is_told_as_before() -> None:
    done, _ = Live().ask("Who speaks?")
    assert done.answer == "One person speaks so far: Ann [00:05]."
