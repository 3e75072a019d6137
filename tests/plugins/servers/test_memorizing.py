"""A server that watches and answers, in the whole pipeline: killed in mid-clip and in mid-answer nothing is lost, and the app goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from m3desk_server.models import ServerLanguage, ServerWatcher

from m3desk.app import App
from m3desk.backends import Backends
from m3desk.config import Settings
from m3desk.errors import ModelError, ModelFailed, ModelMissing
from m3desk.events import AskDone, Progress
from m3desk.work import Options
from tests.engine.fakes import FakeBackends
from tests.engine.made import drawn_talk
from tests.memorization.watched.made import reply
from tests.plugins.servers import scripted
from tests.plugins.servers.scripted import KEY, ModelServer
from tests.plugins.servers.test_server import behind

WATCHED = reply(
    (0, 3, "<face_1> carries a violin across the room."),
    (3, 5, "A parrot sits on the piano."),
    knowledge=[{"text": "<face_1> plays the violin.", "topic": "attribute"}],
)


def app_at(folder: Path, url: str, emitted: list[Any], sees: bool | None = True) -> App:
    found = Backends(lambda name: Path(name), profile={"watcher": "server", "language": "server"})
    watcher = behind(url, ServerWatcher, key=KEY, sees=sees, hears=False, dialect="plain", pictures=4)
    language = behind(url, ServerLanguage, key=KEY, dialect="llama.cpp")
    for port, fake in {**FakeBackends().all, "watcher": watcher, "language": language}.items():
        found.replace(port, fake)
    return App(folder / "m.m3desk", settings=Settings.defaults(), backends=found, emit=emitted.append)


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (scripted.killed_in_mid_answer, "closed the connection in the middle of its answer"),
        (scripted.out_of_memory, "ran out of memory"),
        (scripted.garbage, "can't be read"),
    ],
)
def test_a_clip_that_the_server_fails_at_is_kept_and_told_later(tmp_path: Path, fault: Any, says: str) -> None:
    emitted: list[Any] = []
    with ModelServer("plain", reply=WATCHED, key=KEY) as server, app_at(tmp_path, server.url, emitted) as app:
        server.faults += [fault, fault]
        app.work.add([drawn_talk(tmp_path / "talk")], Options(clip_seconds=5, end=5_000_000))
        app.work.run()
        with app.reader() as reader:
            (clip,) = reader.clips()
            assert clip.state == "failed" and says in (clip.error or "") and reader.memories() == []
        server.faults.clear()
        app.work.retry("s1")
        app.work.run()
        assert app.check()["ok"]
        with app.reader() as reader:
            assert [c.state for c in reader.clips()] == ["episodic"]
            (violin,) = (s for s in reader.memories(kind="episodic") if "violin" in s.text)
            assert violin.model is not None and violin.model.startswith("watched by server: tiny (127.0.0.1:")
        app.embed_lacking()
        server.dialect = "llama.cpp"
        server.faults += [scripted.killed_in_mid_answer]
        (failed,) = (e for e in app.answering.ask("Why is the parrot on the piano?") if isinstance(e, AskDone))
        assert failed.quoted and "closed the connection" in failed.problem and "parrot" in failed.answer
        assert failed.answer.startswith("The language model did not answer")
        (done,) = (e for e in app.answering.ask("Why is the parrot on the piano?") if isinstance(e, AskDone))
        assert not done.problem and done.model.startswith("tiny (")
    assert not [path for path in (tmp_path / "m.m3desk").rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    ("key", "dialect", "kind", "says"),
    [
        (KEY, "llama.cpp", ModelMissing, "does not see pictures"),
        (KEY, "plain", ModelMissing, "does not see pictures"),
        ("another", "plain", ModelFailed, "does not accept the key"),
    ],
)
def test_a_writer_that_can_t_work_is_found_out_before_anything_is_perceived(
    tmp_path: Path, key: str, dialect: str, kind: type[ModelError], says: str
) -> None:
    emitted: list[Any] = []
    with ModelServer(dialect, reply=WATCHED, key=key, sees=False) as server, app_at(tmp_path, server.url, emitted, None) as app:
        app.work.add([drawn_talk(tmp_path / "talk")], Options(clip_seconds=5, end=5_000_000))
        with pytest.raises(kind, match=says):
            app.work.run()
        assert not [e for e in emitted if isinstance(e, Progress)]
        with app.reader() as reader:
            assert [c.state for c in reader.clips()] == ["queued"]
        server.sees, server.key = True, KEY
        app.backends.replace("watcher", behind(server.url, ServerWatcher, key=KEY, hears=False, dialect="plain", pictures=4))
        app.work.retry("s1")
        app.work.run()
        with app.reader() as reader:
            assert [c.state for c in reader.clips()] == ["episodic"]
