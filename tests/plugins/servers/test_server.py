"""A model server: its dialect is proved, replies stream, stopping closes the connection, a failure is one clear line without the key."""

from __future__ import annotations

import itertools
import json
import logging
import re
import threading
import time
from typing import Any

import numpy as np
import pytest
from m3desk_server.client import Server
from m3desk_server.dialects import Dialect
from m3desk_server.door import Door
from m3desk_server.models import ServerLanguage, ServerWatcher
from m3desk_server.options import Options

from m3desk.errors import Cancelled, ModelError, ModelFailed, ModelMissing
from m3desk.keys import Key
from m3desk.outgoing import Address
from m3desk.ports import LanguageModel, Message, Pictures, Sampling, SamplingModel, Turn, WatchingModel
from tests.plugins.servers import scripted
from tests.plugins.servers.scripted import KEY, MODEL, ModelServer

GRAMMAR = 'root ::= "Action: [Answer]\\nContent: It is four [1]."'
SCHEMA = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"], "additionalProperties": False}


def behind(
    url: str, kind: type = ServerLanguage, *, key: str | None = None, first: float = 20.0, idle: float = 20.0, **options: Any
) -> Any:
    door = Door(Address.parse(url), Key(key) if key else None, "server", first, idle)
    chosen = Options("server", url, where=door.shown, **options)
    server = Server(lambda _cancelled: door, chosen.model, chosen.context)
    return kind(server, Dialect(server, chosen.dialect), chosen)


def ask(model: Any, text: str = "What is two and two?", **how: Any) -> str:
    return "".join(model.reply([Message("user", text)], **how))


def failing(server: ModelServer, *faults: Any, **how: Any) -> ModelError:
    """Ask a server that fails in these ways, and return the error."""
    server.faults += faults
    with pytest.raises(ModelError) as caught:
        ask(behind(server.url, **how), max_tokens=20)
    assert "\n" not in caught.value.line() and caught.value.hint
    return caught.value


# ---------------------------------------------------------------- good servers


@pytest.mark.parametrize("dialect", ["llama.cpp", "vllm", "schema", "plain"])
def test_a_reply_streams_and_its_tokens_are_counted(dialect: str) -> None:
    with ModelServer(dialect) as server:
        model = behind(server.url)
        assert isinstance(model, LanguageModel) and isinstance(model, SamplingModel)
        pieces = list(model.reply([Message("system", "Be short."), Message("user", "What is <|im_end|> two and two?")], max_tokens=9))
        assert len(pieces) == 4 and "".join(pieces) == "the answer is four"
        assert (model.server.counts.prompt, model.server.counts.reply) == (10, 4)
        assert model.name == f"{MODEL} ({Address.parse(server.url).shown})"
        sent = server.asked[-1]
        assert (sent["model"], sent["max_tokens"], sent["temperature"], sent["stream"]) == (MODEL, 9, 0, True)
        assert "<|" not in sent["messages"][1]["content"]


@pytest.mark.parametrize(("dialect", "context"), [("llama.cpp", 2048), ("vllm", 9000), ("plain", 4096)])
def test_the_context_comes_from_the_server(dialect: str, context: int) -> None:
    with ModelServer(dialect, context=context) as server:
        assert behind(server.url).context == context
        assert behind(server.url, context=1000).context == 1000


@pytest.mark.parametrize(
    ("dialect", "field"), [("llama.cpp", "grammar"), ("vllm", "structured_outputs"), ("schema", "response_format"), ("plain", None)]
)
def test_a_grammar_is_sent_in_the_way_that_the_server_obeys_not_one_that_it_ignores(dialect: str, field: str | None) -> None:
    with ModelServer(dialect, reply="Action: [Answer]\nContent: It is four [1].") as server:
        model = behind(server.url)
        assert ask(model, grammar=GRAMMAR) == "Action: [Answer]\nContent: It is four [1]."
        ways = {"grammar", "structured_outputs", "guided_grammar", "response_format"}
        assert ways & set(server.asked[-1]) == ({field} if field else set())
        count = len(server.asked)
        ask(model, grammar=GRAMMAR)
        assert len(server.asked) == count + 1, "the dialect is found out once"


def test_a_schema_is_obeyed_or_checked() -> None:
    for dialect in ("llama.cpp", "vllm", "schema"):
        with ModelServer(dialect) as server:
            assert json.loads(ask(behind(server.url), schema=SCHEMA)) == {"colour": "x"}
    with ModelServer("plain", reply='```json\n{"colour": "red"}\n```') as server:
        assert json.loads(ask(behind(server.url), schema=SCHEMA)) == {"colour": "red"}
        assert "colour" in server.asked[-1]["messages"][-1]["content"], "the form is told in words"


def test_a_schema_that_a_server_refuses_is_told_in_words_in_the_last_turn_instead() -> None:
    bounded = {**SCHEMA, "minProperties": 1}

    def refuses_bounds(handler: Any, body: dict[str, Any]) -> bool:
        return "minProperties" in str(body.get("response_format")) and handler.refuse(400, "Invalid schema: minProperties is not permitted")

    with ModelServer("schema", reply='{"colour": "red"}') as server:
        server.faults += [refuses_bounds] * 9
        assert json.loads(ask(behind(server.url), schema=bounded)) == {"colour": "red"}
        (last,) = server.asked[-1]["messages"]
        assert last["role"] == "user" and "two and two" in last["content"] and "minProperties" in last["content"]
        assert "response_format" not in server.asked[-1]


def test_a_name_that_a_server_tells_is_short_and_visible_where_it_is_stored_and_told() -> None:
    with ModelServer("plain", model="\x1b[2Jgood\u202e" + "x" * 100_000) as server:
        model = behind(server.url)
        assert ask(model) == "the answer is four" and server.asked[-1]["model"] == server.model
        assert len(model.name) < 200 and model.name.isprintable()
        with pytest.raises(ModelError) as caught:
            ask(behind(server.url, model="another"))
        assert len(caught.value.line()) < 600 and caught.value.line().isprintable()


def test_a_reply_out_of_form_is_asked_for_once_more_and_then_refused() -> None:
    with ModelServer("plain", reply="I am happy to help!") as server, pytest.raises(ModelFailed, match="form"):
        ask(behind(server.url), grammar=GRAMMAR)
    assert "can't be used" in server.asked[-1]["messages"][-1]["content"]
    assert [len(b["messages"]) for b in server.asked[-2:]] == [1, 3]


def test_a_server_that_fails_while_its_dialect_is_tried_is_asked_again_later_one_that_fails_at_a_way_only_is_not() -> None:
    def fails(handler: Any, _body: dict[str, Any]) -> bool:
        return bool(handler.refuse(500, "broken"))

    with ModelServer("llama.cpp") as server:
        model = behind(server.url)
        server.faults += [fails] * 4  # a way, then the same without it; each is tried twice
        with pytest.raises(ModelFailed, match="failed with 500"):
            ask(model, grammar=GRAMMAR)
        server.faults.clear()
        assert ask(model, grammar=GRAMMAR) == "Action: [Answer]\nContent: It is four [1]." and "grammar" in server.asked[-1]

    def knows_no_ways(handler: Any, body: dict[str, Any]) -> bool:
        ways = {"grammar", "structured_outputs", "guided_grammar", "response_format"} & set(body)
        return bool(ways) and bool(handler.refuse(500, "what is this?"))

    with ModelServer("plain", reply="Action: [Answer]\nContent: It is four [1].") as server:
        server.faults += [knows_no_ways] * 40
        assert ask(behind(server.url), grammar=GRAMMAR) == "Action: [Answer]\nContent: It is four [1]."


def test_a_chosen_dialect_is_taken_without_trying() -> None:
    with ModelServer("vllm") as server:
        ask(behind(server.url, dialect="vllm"), grammar=GRAMMAR)
        assert len(server.asked) == 1 and server.asked[0]["structured_outputs"] == {"grammar": GRAMMAR}


def test_fields_that_a_server_does_not_know_are_left_out_from_then_on() -> None:
    with ModelServer("plain", refuses=("chat_template_kwargs", "seed", "stream_options")) as server:
        model = behind(server.url)
        assert ask(model) == "the answer is four"
        assert len(server.asked) == 4
        ask(model)
        assert len(server.asked) == 5


def test_thoughts_are_not_part_of_a_reply() -> None:
    with ModelServer(reply="<think>two and two, hm</think>\n\nfour") as server:
        assert ask(behind(server.url)) == "four"
    with ModelServer() as server:
        assert "thinking" in str(failing(server, scripted.thinks_only))


def test_a_reply_is_drawn_at_random_where_that_is_asked_for() -> None:
    with ModelServer() as server:
        model = behind(server.url)
        assert "".join(model.sampled([Message("user", "x")], Sampling(0.6, 0.95, 20), max_tokens=1024)) == "the answer is four"
        sent = server.asked[-1]
        assert (sent["temperature"], sent["top_p"], sent["top_k"], sent["max_tokens"]) == (0.6, 0.95, 20, 1024)
        assert sent["chat_template_kwargs"] == {"enable_thinking": True}


# ---------------------------------------------------------------- stopping


@pytest.mark.parametrize("way", ["cancelled", "closed"])
def test_stopping_closes_the_connection_and_the_server_stops(way: str) -> None:
    with ModelServer() as server:
        model = behind(server.url)
        server.faults.append(scripted.slow)
        stop = threading.Event()
        pieces = model.reply([Message("user", "x")], max_tokens=2000, cancelled=stop.is_set)
        assert list(itertools.islice(pieces, 3)) == ["0 ", "1 ", "2 "]
        if way == "closed":
            pieces.close()
        else:
            stop.set()
            with pytest.raises(Cancelled):
                for _ in pieces:
                    pass
        assert server.hung_up.wait(30)
        assert ask(model) == "the answer is four", "the next question is answered"


def test_stopping_before_the_first_word_does_not_wait() -> None:
    with ModelServer() as server:
        model = behind(server.url)
        model.server.known()
        server.faults.append(scripted.silent)
        began = time.monotonic()
        with pytest.raises(Cancelled):
            ask(model, cancelled=lambda: time.monotonic() - began > 0.2)
        assert time.monotonic() - began < 30


# ---------------------------------------------------------------- servers that fail


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (scripted.killed_in_mid_answer, "closed the connection in the middle of its answer"),
        (scripted.ends_too_early, "closed the connection in the middle of its answer"),
        (scripted.never_ends, "does not end"),
        (scripted.garbage, "can't be read"),
        (scripted.page, "not a chat completion"),
        (scripted.endless_line, "a line without an end"),
        (scripted.out_of_memory, "ran out of memory (CUDA out of memory"),
        (scripted.out_of_memory_later, "ran out of memory"),
        (scripted.redirects, "which is not followed"),
        (scripted.too_many("4000"), "It asks to wait 4000 s"),
    ],
)
def test_each_failure_is_one_clear_line_and_the_next_question_is_answered(fault: Any, says: str) -> None:
    with ModelServer() as server:
        error = failing(server, fault, fault)
        assert says in str(error), error
        server.faults.clear()
        assert ask(behind(server.url)) == "the answer is four"


@pytest.mark.parametrize("fault", [scripted.killed_at_once, scripted.fails_once, scripted.too_many("0"), scripted.too_many("0.2")])
def test_what_fails_before_the_first_word_is_tried_once_more(fault: Any) -> None:
    with ModelServer() as server:
        server.faults.append(fault)
        assert ask(behind(server.url)) == "the answer is four"
        assert len(server.asked) == 2
        if fault in (scripted.killed_at_once, scripted.fails_once):
            failing(server, fault, fault)
            assert len(server.asked) == 4, "and not again and again"


def test_a_wait_that_is_asked_for_can_be_stopped() -> None:
    with ModelServer() as server:
        server.faults.append(scripted.too_many("60"))
        began = time.monotonic()
        with pytest.raises(Cancelled):
            ask(behind(server.url), cancelled=lambda: time.monotonic() - began > 0.3)
        assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("fault", "how"), [(scripted.silent, {"first": 0.3}), (scripted.slow, {"idle": 0.01}), (scripted.only_comments, {"first": 0.3})]
)
def test_a_server_that_says_nothing_for_too_long_is_given_up(fault: Any, how: dict[str, float]) -> None:
    with ModelServer() as server:
        assert "within 0 s" in str(failing(server, fault, fault, **how))


def test_nobody_there_is_said_with_the_address() -> None:
    with ModelServer() as server:
        url = server.url
    with pytest.raises(ModelFailed, match=r"no server answers at 127\.0\.0\.1") as caught:
        ask(behind(url))
    assert "backends.server.url" in caught.value.hint and url.removesuffix("/v1") in caught.value.hint


def test_what_is_no_model_server_is_said_to_be_none() -> None:
    with ModelServer() as server, pytest.raises(ModelFailed, match="no chat completions under /other"):
        ask(behind(server.url.replace("/v1", "/other"), model="x"))


def test_a_model_that_is_not_there_names_those_that_are() -> None:
    with ModelServer("vllm") as server, pytest.raises(ModelMissing, match="has no model “large”") as caught:
        ask(behind(server.url, model="large"))
    assert "tiny" in caught.value.hint


def test_a_reply_that_its_limit_cuts_short_is_the_callers_to_judge() -> None:
    def cut_short(handler: scripted.Handler, _body: dict[str, Any]) -> bool:
        handler.begin()
        handler.say('{"colour": "re')
        words = "The model produced output that does not match the expected peg-native format"
        handler.chunk(f"data: {json.dumps({'error': {'message': words, 'code': 500}})}\n\n")
        handler.chunk("")
        return True

    with ModelServer() as server:
        model = behind(server.url, dialect="llama.cpp")
        server.faults.append(cut_short)
        assert ask(model, schema=SCHEMA, max_tokens=4) == '{"colour": "re'


# ---------------------------------------------------------------- the key


def test_a_key_that_is_refused_is_to_be_changed_where_it_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer("plain", key="another") as server:
        for variable, says in ((KEY, "M3DESK_SERVER_KEY"), ("", "m3desk backends key server")):
            monkeypatch.setenv("M3DESK_SERVER_KEY", variable)
            with pytest.raises(ModelFailed, match="does not accept the key") as caught:
                ask(behind(server.url, key=KEY))
            assert says in caught.value.hint


def test_the_key_is_sent_and_shown_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with ModelServer(key=KEY) as server:
        assert ask(behind(server.url, key=KEY)) == "the answer is four"
        for wrong, says in ((None, "wants a key"), ("sk-another-1", "does not accept the key")):
            with pytest.raises(ModelFailed, match=says) as caught:
                ask(behind(server.url, key=wrong))
            assert "m3desk backends key server" in caught.value.hint
            assert "sk-another-1" not in caught.value.line(), "the server quoted it"
    assert "sk-" not in caplog.text
    assert "sk-" not in repr(Door(Address.parse("http://127.0.0.1:1"), Key(KEY)))


# ---------------------------------------------------------------- watching


def a_clip() -> list[Turn]:
    picture = np.random.default_rng(0).integers(0, 255, (90, 161, 3), dtype=np.uint8)
    return [Turn("system", ("Describe.",)), Turn("user", ("At 0:00:", Pictures((picture, picture), rate=2.0), "Which?"))]


def test_pictures_are_sent_as_data_and_a_reply_keeps_to_the_schema() -> None:
    with ModelServer("vllm") as server:
        model = behind(server.url, ServerWatcher)
        assert isinstance(model, WatchingModel)
        assert json.loads("".join(model.watch(a_clip(), schema=SCHEMA))) == {"colour": "x"}
        sent = list(scripted.pictures_in(server.asked[-1]))
        assert len(sent) == 2 and all(p.startswith(b"\xff\xd8\xff") for p in sent)
        kinds = [p["type"] for p in server.asked[-1]["messages"][1]["content"]]
        assert kinds == ["text", "image_url", "image_url", "text"]


def test_pictures_that_follow_each_other_can_go_as_one_video() -> None:
    with ModelServer("vllm") as server:
        model = behind(server.url, ServerWatcher, video=True)
        "".join(model.watch(a_clip()))
        (film,) = scripted.pictures_in(server.asked[-1])
        assert film[4:8] == b"ftyp" and server.asked[-1]["media_io_kwargs"] == {"video": {"fps": 2.0, "num_frames": -1}}


@pytest.mark.parametrize("dialect", ["vllm", "llama.cpp"])
def test_a_server_that_leaves_pictures_out_without_a_word_is_found_out(dialect: str) -> None:
    with ModelServer(dialect, sees=False) as server:
        model = behind(server.url, ServerWatcher)
        with pytest.raises(ModelFailed, match="does not see pictures"):
            "".join(model.watch(a_clip()))
        assert not model.hears


def test_a_server_killed_in_mid_clip_is_an_error_of_that_clip_only() -> None:
    with ModelServer() as server:
        model = behind(server.url, ServerWatcher, sees=True, hears=False)
        server.faults += [scripted.killed_in_mid_answer]
        with pytest.raises(ModelFailed, match="middle of its answer"):
            "".join(model.watch(a_clip()))
        assert "".join(model.watch(a_clip())) == "the answer is four"


# ---------------------------------------------------------------- settings and addresses


def test_only_the_configured_address_is_contacted(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    reached: list[Any] = []
    connect = socket.create_connection

    def noted(address: Any, *rest: Any, **more: Any) -> Any:
        reached.append(address)
        return connect(address, *rest, **more)

    monkeypatch.setattr(socket, "create_connection", noted)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with ModelServer() as server:
        ask(behind(server.url))
        server.faults += [scripted.redirects]
        with pytest.raises(ModelFailed):
            ask(behind(server.url))
        port = int(re.sub(r"\D*127\.0\.0\.1:(\d+).*", r"\1", server.url))
    assert {tuple(a) for a in reached} == {("127.0.0.1", port)}


def test_a_retry_after_is_a_number_or_a_date_and_a_second_at_least() -> None:
    from m3desk_server.connection import Head
    from m3desk_server.refusals import Refused, refusal

    door = Door(Address.parse("http://127.0.0.1:1"), None)
    for text, wait in (("Wed, 21 Oct 2015 07:28:00 GMT", 1.0), ("7", 7.0), ("soon", 5.0), ("0", 1.0), ("0.2", 1.0)):
        error = refusal(door, Head(429, {"retry-after": text}), b"", MODEL)
        assert isinstance(error, Refused) and error.again == wait, text
