"""A scripted model server on loopback: speaks llama.cpp's or vLLM's dialect, or misbehaves as told. Standard library only."""

from __future__ import annotations

import base64
import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-secret-3141592653"
MODEL = "tiny"


class ModelServer:
    """Answers every question with `reply`, streamed word by word. A way of misbehaving is a function that gets the handler and the request.

    `dialect`: vllm, llama.cpp, schema or plain: which constraint is obeyed; the others are ignored without a word.
    """

    def __init__(self, dialect: str = "llama.cpp", **more: Any) -> None:
        self.dialect, self.reply = dialect, more.pop("reply", "the answer is four")
        self.key, self.sees, self.context = more.pop("key", None), more.pop("sees", True), more.pop("context", 4096)
        self.slots: int = more.pop("slots", 1)
        self.refuses: tuple[str, ...] = more.pop("refuses", ())
        self.faults: list[Callable[[Handler, dict[str, Any]], bool]] = more.pop("faults", [])
        port, self.model = more.pop("port", 0), more.pop("model", MODEL)
        assert not more, more
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.hung_up = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", port), type("Bound", (Handler,), {"script": self}))
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> ModelServer:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer(self, body: dict[str, Any]) -> str:
        """Return what a constrained model says: the only thing allowed; else the reply of the script."""
        grammar = {
            "llama.cpp": body.get("grammar"),
            "vllm": (body.get("structured_outputs") or {}).get("grammar"),
        }.get(self.dialect)
        if grammar:
            word = re.fullmatch(r'root ::= "(\w+)"', grammar)
            return word[1] if word else "Action: [Answer]\nContent: It is four [1]."
        schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
        if schema and self.dialect != "plain":
            return json.dumps({name: _value(inner) for name, inner in schema["properties"].items()})
        return self.reply


def _value(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if "pattern" in schema:
        return "Action: [Answer]\nContent: It is four [1]."
    return {"array": [], "object": {}, "integer": 0}.get(schema.get("type", ""), "x")


class Handler(BaseHTTPRequestHandler):
    script: ModelServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def send(self, status: int, document: Any, **headers: str) -> None:
        content = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def refuse(self, status: int, words: str, **headers: str) -> bool:
        self.send(status, {"error": {"message": words, "type": "x_error"}}, **headers)
        return True

    def _let_in(self) -> bool:
        self.script.paths.append(self.path)
        if self.script.key is None or self.headers.get("Authorization") == f"Bearer {self.script.key}":
            return True
        self.refuse(401, f"Incorrect API key provided: {self.headers.get('Authorization')}")
        return False

    def do_GET(self) -> None:
        if self.path == "/health":
            self.send(200, b"")
            return
        if not self._let_in():
            return
        script = self.script
        match self.path:
            case "/v1/models":
                entry: dict[str, Any] = {
                    "id": script.model,
                    "object": "model",
                    "owned_by": {"llama.cpp": "llamacpp"}.get(script.dialect, script.dialect),
                }
                if script.dialect == "vllm":
                    entry["max_model_len"] = script.context
                self.send(200, {"object": "list", "data": [entry]})
            case "/props" if script.dialect == "llama.cpp":
                self.send(
                    200,
                    {
                        "default_generation_settings": {"n_ctx": script.context},
                        "total_slots": script.slots,
                        "modalities": {"vision": script.sees, "audio": False},
                    },
                )
            case _:
                self.refuse(404, "not found")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self._let_in():
            return
        script = self.script
        script.asked.append(body)
        if self.path != "/v1/chat/completions":
            self.refuse(404, "not found")
            return
        if script.faults and script.faults.pop(0)(self, body):
            return
        for name in script.refuses:
            if name in body:
                self.refuse(400, f"Unrecognized request argument supplied: {name}")
                return
        tokens = _tokens(body)
        if not script.sees and tokens > 10_000:
            tokens %= 10_000  # leaves pictures out without a word
        self.stream(script.answer(body)[: 40 * body.get("max_tokens", 1 << 20)], tokens)

    def begin(self, kind: str = "text/event-stream") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, text: str) -> None:
        content = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))
        self.wfile.flush()

    def say(self, text: str, **more: Any) -> None:
        self.chunk(f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': text}, 'finish_reason': None} | more]})}\n\n")

    def stream(self, text: str, tokens: int = 10) -> None:
        self.begin()
        for word in re.findall(r"\S+\s*", text):
            self.say(word)
        self.say("", finish_reason="stop")
        usage = {"prompt_tokens": tokens, "completion_tokens": len(text.split())}
        self.chunk(f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n")
        self.chunk("data: [DONE]\n\n")
        self.chunk("")

    def cut(self) -> bool:
        """Close the connection as a killed process does: by a reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True
        return True


def _tokens(body: dict[str, Any]) -> int:
    """Count a prompt's tokens: 10,000 for each picture, one a word."""
    count = 0
    for message in body["messages"]:
        content = message["content"]
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if part["type"] == "text":
                count += len(part["text"].split())
            else:
                count += 10_000
    return count


def pictures_in(body: dict[str, Any]) -> Iterator[bytes]:
    """Yield the pictures and videos of a request."""
    for message in body["messages"]:
        for part in message["content"] if isinstance(message["content"], list) else ():
            for kind in ("image_url", "video_url"):
                if part["type"] == kind:
                    yield base64.b64decode(part[kind]["url"].partition("base64,")[2])


# ---------------------------------------------------------------- ways of misbehaving; each gets the handler and the request


def killed_at_once(handler: Handler, _body: dict[str, Any]) -> bool:
    return handler.cut()


def killed_in_mid_answer(handler: Handler, _body: dict[str, Any]) -> bool:
    handler.begin()
    handler.say("the answer ")
    return handler.cut()


def ends_too_early(handler: Handler, _body: dict[str, Any]) -> bool:
    handler.begin()
    handler.say("the answer ")
    handler.chunk("")
    return True


def silent(handler: Handler, _body: dict[str, Any]) -> bool:
    time.sleep(60)
    handler.close_connection = True
    return True


def never_ends(handler: Handler, _body: dict[str, Any]) -> bool:
    handler.begin()
    try:
        while True:
            handler.say("on and on ")
    except OSError:
        handler.script.hung_up.set()
    handler.close_connection = True
    return True


def slow(handler: Handler, _body: dict[str, Any]) -> bool:
    """Say a word every 50 ms, and note when nobody listens any more."""
    handler.begin()
    try:
        for number in range(400):
            handler.say(f"{number} ")
            time.sleep(0.05)
    except OSError:
        handler.script.hung_up.set()
    handler.close_connection = True
    return True


def only_comments(handler: Handler, _body: dict[str, Any]) -> bool:
    handler.begin()
    try:
        for _ in range(100):
            handler.chunk(": still here\n\n")
            time.sleep(0.05)
    except OSError:
        handler.script.hung_up.set()
    handler.close_connection = True
    return True


def garbage(handler: Handler, _body: dict[str, Any]) -> bool:
    handler.begin()
    handler.chunk("data: {not json\n\n")
    handler.chunk("")
    return True


def page(handler: Handler, _body: dict[str, Any]) -> bool:
    handler.send(200, b"<html><title>Sign in</title></html>", Content_Type="text/html")
    return True


def endless_line(handler: Handler, _body: dict[str, Any]) -> bool:
    handler.begin()
    try:
        for _ in range(40):
            handler.chunk("x" * 100_000)
    except OSError:
        handler.script.hung_up.set()
    handler.close_connection = True
    return True


def out_of_memory(handler: Handler, _body: dict[str, Any]) -> bool:
    return handler.refuse(500, "CUDA out of memory. Tried to allocate 2.00 GiB")


def out_of_memory_later(handler: Handler, _body: dict[str, Any]) -> bool:
    handler.begin()
    handler.say("the ")
    handler.chunk(f"data: {json.dumps({'error': {'message': 'CUDA out of memory.', 'code': 500}})}\n\n")
    handler.chunk("")
    return True


def redirects(handler: Handler, _body: dict[str, Any]) -> bool:
    handler.send(307, b"", Location="http://127.0.0.1:9/elsewhere")
    return True


def fails_once(handler: Handler, _body: dict[str, Any]) -> bool:
    return handler.refuse(503, "loading model")


def too_many(seconds: str) -> Callable[[Handler, dict[str, Any]], bool]:
    return lambda handler, _body: handler.refuse(429, "Rate limit reached", Retry_After=seconds)


def thinks_only(handler: Handler, _body: dict[str, Any]) -> bool:
    handler.begin()
    handler.chunk(f"data: {json.dumps({'choices': [{'delta': {'reasoning': 'hm ' * 20}, 'finish_reason': 'length'}]})}\n\n")
    handler.chunk("data: [DONE]\n\n")
    handler.chunk("")
    return True
