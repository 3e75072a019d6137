"""The same forty replies, from a scripted multimodal server over loopback: client, pictures, streaming and the writer together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from m3desk_server.models import ServerWatcher

from m3desk.errors import ModelFailed
from m3desk.memorization.watched.writer import WatchedWriter
from tests.memorization.watched.made import GOOD, two_people
from tests.memorization.watched.replies import CASES
from tests.memorization.watched.test_replies import check_sound, of_model
from tests.plugins.servers.scripted import ModelServer
from tests.plugins.servers.test_server import behind


class Watching(ModelServer):
    """Obeys schemas when it is tried out (or, as `plain`, nothing), and then answers requests about a clip from a script."""

    def __init__(self, dialect: str) -> None:
        super().__init__(dialect)
        self.script: list[str] = []
        self.clips = 0

    def answer(self, body: dict[str, Any]) -> str:
        if "Tags you may use" not in str(body):
            return super().answer(body)
        self.clips += 1
        return self.script[min(self.clips, len(self.script)) - 1]


@pytest.fixture(scope="module", params=["vllm", "plain"])
def server(request: Any) -> Iterator[Watching]:
    with Watching(request.param) as server:
        yield server


@pytest.fixture(scope="module")
def model(server: Watching) -> Any:
    return behind(server.url, ServerWatcher, sees=True, hears=False)


@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_a_server_that_says_so_is_handled_the_same(server: Watching, model: Any, case: Any) -> None:
    seen = two_people(**case.scene)
    server.clips = 0
    server.script = [case.reply] if case.outcome == "kept" else [case.reply, case.reply if case.outcome == "failed" else GOOD]
    if case.outcome == "failed":
        with pytest.raises(ModelFailed, match="no usable reply"):
            WatchedWriter(model, "server").write(seen)
        assert server.clips == 2
        return
    draft = WatchedWriter(model, "server").write(seen)
    assert server.clips == (1 if case.outcome == "kept" else 2), "a reply goes back once, by the writer"
    told = of_model(draft)
    for words in case.told:
        assert any(words in s.text for s in told), (words, [s.text for s in told])
    assert sum(v.by.startswith("writer ") for v in draft.votes) == case.votes
    assert all("watched by server: " in s.model for s in told)
    check_sound(draft, seen)
