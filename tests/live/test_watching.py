"""Watch for: one notice when a person comes, a word is said, an object is seen."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from m3desk import events
from m3desk.app import App
from m3desk.domain.live import LiveFace, WatchRule
from m3desk.live.watching import Rules, says
from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, source

S = 1_000_000
ANN, BUDGET = WatchRule(1, "person", "person_1", "Ann"), WatchRule(2, "word", "budget", "budget")


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("The Budgets are tight.", "budget", True),
        ("a budgetary question", "budget", False),
        ("a budgie", "budget", False),
        ("we meet at noon", "meeting", True),
        ("The final budget, please.", "final budget", True),
        ("budget final", "final budget", False),
        ("Straße", "STRASSE", True),
        ("我们讨论预算吧", "预算", True),
        ("我们讨论天气", "预算", False),
        ("anything", ".*", False),
        ("(a+)+$", "a", True),
        ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "(a+)+$", False),
        ("", "budget", False),
    ],
)
def test_words_are_compared_by_their_stems_and_never_as_patterns(text: str, wanted: str, found: bool) -> None:
    assert says(text, wanted) is found


def test_a_long_text_is_searched_at_once() -> None:
    began = time.process_time()
    assert not says("a " * 50_000 + "b", "a a a a a a a a c")
    assert time.process_time() - began < 20


def test_one_notice_an_occurrence() -> None:
    rules = Rules()
    rules.set([ANN, BUDGET])
    seen = [len(rules.person("s1", at * S, "person_1", speaks=False)) for at in (1, 2, 10, 40, 60, 95, 130)]
    assert seen == [1, 0, 0, 0, 0, 1, 1]  # 10 → 40 s is still the cool-down of 30 s
    assert rules.person("s2", 1 * S, "person_1", speaks=False) and not rules.person("s1", 1 * S, "person_2", speaks=False)


def test_what_a_live_clip_told_is_not_told_again_by_its_commit() -> None:
    rules = Rules()
    rules.set([BUDGET])
    assert rules.words("s1", 100 * S, "the budget")[0].text == "“budget” was said: the budget"
    assert rules.words("s1", 160 * S, "the budget again")
    assert not rules.words("s1", 101 * S, "the budget")  # from the clip's commit, a little later
    assert rules.words("s1", 40 * S, "a budget that live subtitles did not hear")


def test_a_rule_that_was_removed_tells_nothing() -> None:
    rules = Rules()
    rules.set([ANN])
    rules.set([])
    assert not rules.some and rules.person("s1", 0, "person_1", speaks=True) == []


# ---------------------------------------------------------------- with a memory


class Heard(list[events.WatchHit]):
    """The hits that an engine told of."""

    def __init__(self) -> None:
        super().__init__()
        self.more = threading.Condition()

    def __call__(self, event: object) -> None:
        if isinstance(event, events.WatchHit):
            with self.more:
                self.append(event)
                self.more.notify_all()

    def wait(self, count: int) -> list[tuple[int, str, int]]:
        with self.more:
            assert self.more.wait_for(lambda: len(self) >= count, 30), list(self)
            return [(h.rule, h.text, h.at // S) for h in self]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A memory in which person 1 and person 2 are in clip 0; clips 1 and 2 are still to come."""
    with Memory.create(tmp_path / "m.m3desk") as made:
        made.plan_clips(made.add_source(source()).id, clips("s1"), fps=5.0)
        remember(made, made.next_clips("s1")[0], (1, 2))
    return tmp_path / "m.m3desk"


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def app(place: Path, heard: Heard) -> Iterator[App]:
    with App(place, emit=heard) as opened:
        yield opened


def until_read(app: App) -> None:
    """Wait until the rules were read."""
    until = time.monotonic() + 30
    while not app.watching._rules.some and time.monotonic() < until:
        time.sleep(0.01)


def test_a_committed_clip_is_evaluated_once(app: App, heard: Heard) -> None:
    assert app.add_watch("person", "1").label == "Ann?"
    app.add_watch("object", "cups", "the cup")
    app.watching.start()
    until_read(app)
    app.write(lambda m: remember(m, m.next_clips("s1")[0], (1, 3)))
    app.write(lambda m: remember(m, m.next_clips("s1")[0], (1,)))  # within 30 s of the last time
    until = time.monotonic() + 30
    while app.watching._clips and time.monotonic() < until:
        time.sleep(0.01)
    assert heard.wait(2) == [(1, "Ann? is here", 30), (2, "the cup is seen", 30)]


def test_live_evidence_is_evaluated_at_once_and_only_sure_faces_count(app: App, heard: Heard) -> None:
    app.add_watch("person", "1", "Ann")
    app.add_watch("word", "budget")
    app.watching.start()
    until_read(app)
    doubtful, sure = (LiveFace("live1", 0, 0, 9, 9, "person_1", "Ann", sure) for sure in (False, True))
    app.emit(events.LiveFaces("s2", 1 * S, (doubtful,)))
    app.emit(events.LiveWords("s2", 2 * S, 3 * S, "the budg", None, "", False, final=False))
    assert not heard
    app.emit(events.LiveFaces("s2", 4 * S, (sure,)))
    app.emit(events.LiveFaces("s2", 5 * S, (sure,)))
    app.emit(events.LiveWords("s2", 2 * S, 5 * S, "the budgets are tight", None, "", False, final=True))
    assert heard.wait(2) == [(1, "Ann is here", 4), (2, "“budget” was said: the budgets are tight", 2)]


def test_rules_and_consent_survive_and_are_exported(app: App, place: Path, tmp_path: Path) -> None:
    from m3desk.interop import imports

    app.add_watch("person", "person_2")
    app.add_watch("word", "budget", "money")
    app.remove_watch(1)
    assert app.add_watch("word", "Budget") == WatchRule(2, "word", "budget", "money")  # the same, once
    assert app.add_watch("object", "dog").id == 3  # numbers are never used twice
    app.set_consent("person_2", "agreed on 3 May")
    app.close()
    with App(place) as again:
        assert [(r.id, r.kind, r.value, r.label) for r in again.watches()] == [(2, "word", "budget", "money"), (3, "object", "dog", "dog")]
        again.export(tmp_path / "e.json")
        with again.reader() as reader:
            assert not any(k.startswith(("watch", "consent")) for k in reader.settings())
    with App(tmp_path / "other.m3desk") as other:
        other.import_read(imports.load(tmp_path / "e.json"))
        assert [r.id for r in other.watches()] == [2, 3]
        with other.reader() as reader:
            assert reader.consents() == {"person_2": "agreed on 3 May"}


def test_a_merged_person_keeps_rules_and_consents(app: App) -> None:
    app.add_watch("person", "person_2")
    app.set_consent("person_1", "by mail")
    app.set_consent("person_2", "in person")
    app.correct("merge", {"keep": "person_1", "others": ["person_2"]})
    assert [r.value for r in app.watches()] == ["person_1"]
    with app.reader() as reader:
        assert reader.consents() == {"person_1": "by mail\nin person"}
    app.set_consent("person_1", "")
    with app.reader() as reader:
        assert reader.consents() == {}


@pytest.mark.slow
def test_forgetting_a_person_removes_their_rules_and_consent(app: App) -> None:
    app.correct("name", {"person": "person_1", "name": "Grace Hopper"})
    app.add_watch("person", "person_1")
    app.add_watch("word", "grace hopper")
    app.add_watch("word", "budget")
    app.set_consent("person_1", "agreed")
    app.set_consent("person_2", "agreed, told by Grace Hopper")
    report = app.forget("person_1")
    assert report["findings"] == []
    assert [r.value for r in app.watches()] == ["budget"]
    with app.reader() as reader:
        assert reader.consents() == {"person_2": "agreed, told by ████████████"}


def test_rules_are_typed_as_commands(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from m3desk import cli

    def typed(*line: str) -> str:
        assert cli.main([*line, "-m", str(place)]) == 0
        return capsys.readouterr().out

    assert typed("watch", "list") == "No rules yet.\n"
    assert typed("watch", "add", "person", "person_1") == "rule 1 watches for the person Ann?.\n"
    typed("watch", "add", "word", "budget")
    assert "budget" in typed("watch", "list")
    typed("watch", "remove", "1")
    assert "Ann" not in typed("watch", "list")
    assert cli.main(["watch", "remove", "9", "-m", str(place)]) == 2
    assert cli.main(["watch", "add", "person", "nobody", "-m", str(place)]) != 0
    capsys.readouterr()
    assert typed("people", "consent", "person_1", "agreed on 3 May") == "Ann?: agreed on 3 May\n"
    assert "consent: agreed on 3 May" in typed("people", "show", "person_1")
    assert typed("people", "consent", "person_1", "--remove") == "Ann?: no note on consent.\n"
