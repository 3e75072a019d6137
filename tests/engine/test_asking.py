"""Questions to an open memory: each sees the last commit, reads nothing again, and a thread updates the search state."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from m3desk import events
from m3desk.app import App, answering
from m3desk.control.snapshots import Snapshot
from m3desk.samples import proof
from m3desk.store.records import Records
from tests.control.made import BagOfWords, Scripted
from tests.store.invented import clips, remember, source


class WordsAlone:
    """Backends that have nothing but a text model of hashed words."""

    problem = None

    def get(self, port: str) -> Any:
        return BagOfWords() if port == "text_vectors" else None

    def replacing(self, _settings: Mapping[str, str]) -> dict[str, str]:
        return {}


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    with App(tmp_path / "m.m3desk", backends=WordsAlone()) as opened:  # type: ignore[arg-type]
        opened.write(lambda m: m.plan_clips(m.add_source(source()).id, clips("s1"), fps=5.0))
        commit(opened, (1, 2))
        yield opened


def commit(app: App, people: tuple[int, ...]) -> None:
    app.write(lambda m: remember(m, m.next_clips("s1")[0], people))
    app.embed_lacking()


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list to which every reading of a whole memory adds its ids (None: all)."""
    seen: list[Any] = []
    plain = Records.outlines

    def outlines(self: Records, ids: Any = None) -> Any:
        seen.append(ids)
        return plain(self, ids)

    monkeypatch.setattr(Records, "outlines", outlines)
    return seen


def test_the_first_question_reads_all_and_later_ones_only_what_changed(app: App, readings: list[Any]) -> None:
    first = app.answering.search_nodes("We drink tea")
    assert first and readings == [None]
    list(app.answering.ask("Who appears?"))
    assert app.answering.search_nodes("We drink tea") == first and readings == [None], "the chat that was kept is nothing to search"
    app.correct("name", {"person": "person_1", "name": "Zoe"})
    assert "Zoe" in app.answering.search_nodes("Zoe tea", kinds=["episodic"])[0].content
    commit(app, (1, 3))
    assert {f.clip for f in app.answering.search_nodes("drink tea", k=50, kinds=["episodic"])} == {"s1.c0", "s1.c1"}
    assert None not in readings[1:] and all(len(ids) < 20 for ids in readings[1:])


def test_parity_mode_answers_by_the_protocol_of_the_original(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    done = list(app.answering.ask("How many people appear?", mode="parity"))[-1]
    assert "parity mode needs a language model" in done.error
    model = Scripted("Action: [Search]\nContent: tea", "Action: [Answer]\nContent: Four.")
    monkeypatch.setattr(WordsAlone, "get", lambda _, port: {"language": model, "text_vectors": BagOfWords()}.get(port))
    done = list(app.answering.ask("How many people appear?", mode="parity"))[-1]
    assert (done.answer, done.model) == ("Four.", model.name) and "Searched knowledge" in model.asked[0][-1].text
    with app.reader() as reader:
        assert [chat["answer"] for chat in reader.chats()] == ["Four."]
    assert "Two" in list(app.answering.ask("How many people appear?"))[-1].answer, "the full mode reads the evidence"


def test_the_newest_chats_are_read_the_oldest_first(app: App) -> None:
    for question in ("Who appears?", "Who speaks?", "What is said?"):
        list(app.answering.ask(question))
    with app.reader() as reader:
        assert [chat["question"] for chat in reader.chats(2)] == ["Who speaks?", "What is said?"] and len(reader.chats()) == 3


def test_an_answer_that_was_being_given_while_somebody_was_forgotten_is_not_kept(app: App) -> None:
    app.correct("name", {"person": "person_1", "name": "Zoe"})
    asked = app.answering.ask("Who says “We drink tea”?")
    told: list[Any] = []
    for event in asked:
        told.append(event)
        if isinstance(event, events.AskDone):
            assert "Zoe" in event.answer
            app.write(lambda m: m.forget("person_1", "forget", proof.tighten))
    with app.reader() as reader:
        assert reader.chats() == []
    list(app.answering.ask("Who appears?"))
    with app.reader() as reader:
        assert len(reader.chats()) == 1


def test_what_the_evidence_answers_follows_a_correction_and_a_clip(app: App) -> None:
    def told(question: str) -> str:
        return str(list(app.answering.ask(question))[-1].answer)

    assert told("How many people appear?").startswith("Two")
    commit(app, (1, 3))
    assert told("How many people appear?").startswith("Three")
    app.correct("merge", {"keep": "person_1", "others": ["person_2"]})
    assert told("How many people appear?").startswith("Two")
    app.undo()
    assert told("How many people appear?").startswith("Three")


def test_earlier_states_are_read_separately_and_leave_the_cache_alone(app: App, readings: list[Any]) -> None:
    commit(app, (1, 3))
    now = app.answering.search_nodes("drink tea", k=50)
    then = app.answering.search_nodes("drink tea", k=50, before=("s1", 0))
    assert {f.clip for f in then} == {"s1.c0"} and len(now) > len(then)
    assert app.answering.search_nodes("drink tea", k=50, before=("s1", -1)) == []
    believed = app.answering.search_nodes("drink tea", k=50, believed_at="2026-11-21T23:00")
    assert [f.id for f in believed] == [f.id for f in now] and readings.count(None) == 4
    assert app.answering.search_nodes("drink tea", k=50) == now and readings.count(None) == 4


def test_a_thread_reads_after_each_commit_so_that_a_question_need_not(app: App, readings: list[Any]) -> None:
    app.keep_up()
    version = app.write(Records.version)
    assert _soon(lambda: app.searching.cache.version == version)
    commit(app, (1, 3))
    version = app.write(Records.version)
    assert _soon(lambda: app.searching.cache.version == version)
    known = len(readings)
    assert app.answering.search_nodes("We drink tea") and len(readings) == known


def test_a_memory_that_another_process_writes_is_searched_as_it_is(app: App) -> None:
    with App(app.path, write=False, backends=WordsAlone()) as other:  # type: ignore[arg-type]
        before = other.answering.search_nodes("drink tea", k=50)
        commit(app, (1, 3))
        assert len(other.answering.search_nodes("drink tea", k=50)) > len(before)


def test_a_very_large_memory_keeps_its_vectors_in_a_file_and_finds_the_same(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = app.answering.search_nodes("We drink tea", k=50)
    app.searching.cache.drop()
    monkeypatch.setattr("m3desk.control.nearest.IN_MEMORY", 3)
    assert app.answering.search_nodes("We drink tea", k=50) == expected
    rows = app.searching.cache.snapshot(app.reader(), BagOfWords.name).nearest.rows
    assert rows.room is not None and isinstance(rows.data.base, object) and type(rows.data.base).__name__ in ("memmap", "mmap")
    commit(app, (1, 3))
    with app.reader() as reader:
        assert app.answering.search_nodes("We drink tea", k=50) == _fresh(app, reader)
    assert not [p for p in Path(app.path).iterdir() if p.suffix not in (".sqlite", ".lock", ".sqlite-wal", ".sqlite-shm") and p.is_file()]


def _fresh(app: App, reader: Records) -> Any:
    from m3desk.control.search import Search
    from m3desk.store.index.words import words

    anew = Snapshot.read(reader, words, BagOfWords.name)
    return Search(reader, anew, BagOfWords(), anew).nodes("We drink tea", k=50)


def _soon(holds: Any, seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_questions_that_are_stopped_before_during_and_after_their_answer_leave_nothing_behind(app: App) -> None:
    app.answering.stop_asking("early")
    told = list(app.answering.ask("Tell me about the tea.", ask="early"))
    assert told[-1].answer == "" or not told[-1].found or told[-1].error
    for n in range(200):
        list(app.answering.ask("Who appears?", ask=f"q{n}")) if n < 2 else None
        app.answering.stop_asking(f"q{n}")
    assert app.answering._asks == {} and len(app.answering._stopped) <= answering.EARLY


def test_a_follow_up_is_about_what_the_memory_was_asked_last(app: App) -> None:
    first = ask(app, "Who speaks first?")
    then = ask(app, "And what does she say?")
    assert then.found and "“She” is read as " in then.answer and then.citations[0].start == first.citations[0].start


def ask(app: App, question: str) -> events.AskDone:
    *_, done = app.answering.ask(question)
    assert isinstance(done, events.AskDone)
    return done
