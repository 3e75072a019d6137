"""A model that answers several requests at once: what is written is what one at a time would have written, in the order of the clips."""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from m3desk.app import App
from m3desk.errors import Cancelled
from m3desk.ports import SeveralAtOnce, WatchingModel
from m3desk.work import Options
from tests.engine.made import drawn_talk
from tests.memorization.watched.made import reply, texts
from tests.memorization.watched.test_remembered import app_at

CLIPS, LENGTH = 8, 3


class Several:
    """A model whose replies follow from what it is asked alone; the later a request of a group comes, the earlier it is answered."""

    name, context, hears, watches_video, most_pictures = "several-1", 32_768, False, False, 2

    def __init__(self, at_once: int, *, reverse: bool = False) -> None:
        """`reverse`: the first `at_once` are answered once all have come, the last of them first."""
        self.at_once, self.reverse = at_once, reverse
        self.ended: set[int] = set()
        self.lock = threading.Lock()
        self.came: list[str] = []
        self.answered: list[str] = []
        self.now = self.most = 0
        self.bad: set[int] = set()
        self.before: Any = lambda _number: None

    def watch(self, turns: Any, *, schema: Any = None, max_tokens: int = 1024, cancelled: Any = lambda: False) -> Iterator[str]:
        asked = texts(turns)
        with self.lock:
            number, self.now = len(self.came), self.now + 1
            self.most = max(self.most, self.now)
            self.came.append(asked)
        try:
            self.before(number)
            until = time.monotonic() + (30 if self.reverse else 0.06 * (self.at_once - number % self.at_once))
            while time.monotonic() < until and not (self.reverse and self._in_turn(number)):
                if cancelled():
                    raise Cancelled("stopped.")
                time.sleep(0.005)
            word = "".join("bdfgkmpt"[int(d)] for d in f"{zlib.crc32(asked.encode()):o}")
            if number in self.bad or (self.bad and "can't be used" in asked):
                yield "nothing of use"
            else:
                yield reply(
                    (0, 2, f"<face_1> carries a {word}."), (1, 3, "A parrot sits on the piano."), knowledge=["<face_1> drinks tea."]
                )
            with self.lock:
                self.answered.append(asked)
        finally:
            with self.lock:
                self.now -= 1
                self.ended.add(number)

    def _in_turn(self, number: int) -> bool:
        later = range(number + 1, self.at_once)
        return number >= self.at_once or (len(self.came) >= self.at_once and self.ended.issuperset(later))


def memorized(folder: Path, model: Any, writer: str = "rules") -> App:
    app = app_at(folder, model)
    film = drawn_talk(folder / "talk", CLIPS * LENGTH)
    app.work.add([film], Options(clip_seconds=LENGTH, writer=writer))
    app.work.run()
    return app


def written(app: App) -> list[Any]:
    with app.reader() as reader:
        return [(v.clip, v.writer, v.sentences, v.shown) for v in reader.versions()]


def rewritten(folder: Path, model: Several, **how: Any) -> tuple[list[Any], Any]:
    folder.mkdir()
    with memorized(folder, model) as app:
        model.came.clear()
        with app.reader() as reader:
            clips = [c.id for c in reader.clips()]
        assert len(clips) == CLIPS
        done = app.rewrite(clips, "scripted", **how)
        assert app.check()["ok"]
        return written(app), done


def test_what_is_written_again_does_not_depend_on_how_many_clips_are_asked_about_at_once(tmp_path: Path) -> None:
    one, four = Several(1), Several(4, reverse=True)
    assert isinstance(four, WatchingModel) and isinstance(four, SeveralAtOnce)
    told: list[tuple[str, int, int]] = []
    expected, first = rewritten(tmp_path / "one", one)
    found, second = rewritten(tmp_path / "four", four, told=lambda *what: told.append(what))
    assert (one.most, four.most) == (1, 4)
    assert sorted(four.came) == sorted(one.came), "each is asked just the same"
    assert four.answered != four.came, "answered out of order"
    assert (
        found == expected
        and (first.at_once, second) == (1, replace(first, at_once=4))
        and list(second.clips) == [f"s1.c{i}" for i in range(CLIPS)]
    )
    assert len({s.text for _, _, sentences, _ in found for s in sentences if "carries" in s.text}) > 1
    assert told == [(f"s1.c{i}", i, CLIPS) for i in range(CLIPS)]


def test_a_clip_that_fails_fails_alone(tmp_path: Path) -> None:
    model = Several(4)
    model.bad = {2}
    found, done = rewritten(tmp_path / "four", model)
    assert len(done.failed) == 1 and "no usable reply" in next(iter(done.failed.values()))
    assert [clip for clip, *_ in found] == list(done.clips) and len(done.clips) == CLIPS - 1


def test_a_stop_ends_all_requests_and_keeps_what_was_written(tmp_path: Path) -> None:
    model = Several(4)
    with memorized(tmp_path, model) as app:
        with app.reader() as reader:
            clips = [c.id for c in reader.clips()]

        def stopped(number: int) -> None:
            if number == 6:
                app._closing.set()

        model.before = stopped
        with pytest.raises(Cancelled):
            app.rewrite(clips, "scripted")
        assert model.now == 0 and not [t for t in threading.enumerate() if t.name == "asks a model"]
        kept = [clip for clip, *_ in written(app)]
        assert kept == clips[: len(kept)] and len(kept) < CLIPS
        app._closing.clear()


def test_normal_memorizing_asks_about_one_clip_at_a_time(tmp_path: Path) -> None:
    model = Several(4)
    with memorized(tmp_path, model, "scripted"):
        assert model.most == 1 and len(model.came) == CLIPS
