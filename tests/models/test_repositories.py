"""Repositories of a hub on loopback: folders, pinned commits, several files at a time, resuming, tokens, and nothing that holds code."""

from __future__ import annotations

import hashlib
import http.server
import json
import re
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from m3desk import fetch, models, paths, repositories
from m3desk.cli import main
from m3desk.errors import Cancelled, DownloadError, UsageError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "config.json": b'{"model_type": "tiny"}',
    "model-00001-of-00002.safetensors": bytes(range(256)) * 2_000,
    "model-00002-of-00002.safetensors": bytes(reversed(range(256))) * 1_000,
    "processor/preprocessor_config.json": b"{}",
    "merges.txt": b"a b",
    "modeling_tiny.py": b"raise SystemExit",
    "pytorch_model.bin": b"pickled",
    "hyperparams.yaml": b"!new:os.system",
}
TAKEN = sorted(name for name in FILES if name.endswith((".safetensors", ".json", "merges.txt")))


class Hub(http.server.ThreadingHTTPServer):
    """Answers as a hub; `elsewhere`: the address of the host that holds its files."""

    daemon_threads = True

    def __init__(self, token: str | None = None, elsewhere: str = "") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.token, self.elsewhere = dict(FILES), token, elsewhere
        self.sha, self.slow, self.cut = COMMIT, 0.0, 0
        self.seen: list[tuple[str, str | None, str | None]] = []
        self.now, self.most, self.lock = 0, 0, threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        hub, path = self.server, unquote(urlsplit(self.path).path)
        authorization, wanted = self.headers.get("Authorization"), self.headers.get("Range")
        hub.seen.append((path, authorization, wanted))
        if hub.token and authorization != f"Bearer {hub.token}":
            return self.send_error(401)
        if path.startswith("/api/models/"):
            told = [{"rfilename": n, "size": len(b), **self.lfs(n, b)} for n, b in hub.files.items()]
            return self.say(json.dumps({"sha": hub.sha, "cardData": {"license": "apache-2.0"}, "siblings": told}).encode())
        if "/resolve/" in path and hub.elsewhere:
            self.send_response(302)
            self.send_header("Location", hub.elsewhere + path)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        found = re.fullmatch(rf"/org/tiny/resolve/{COMMIT}/(.+)", path)
        if found is None or found[1] not in hub.files:
            return self.send_error(404)
        with hub.lock:
            hub.now += 1
            hub.most = max(hub.most, hub.now)
        time.sleep(hub.slow)
        self.say(hub.files[found[1]], int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0)
        with hub.lock:
            hub.now -= 1
        return None

    @staticmethod
    def lfs(name: str, content: bytes) -> dict[str, object]:
        return {"lfs": {"sha256": hashlib.sha256(content).hexdigest()}} if name.endswith(".safetensors") else {}

    def say(self, content: bytes, start: int = 0) -> None:
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        cut, self.server.cut = (self.server.cut, 0) if len(content) > 300_000 else (0, self.server.cut)
        self.wfile.write(content[start:cut] if cut else content[start:])


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Hub]]:
    """Return a function that starts a hub and makes a catalogue whose one model is its repository."""
    monkeypatch.setattr(fetch, "_certificates", lambda: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    monkeypatch.setattr(paths, "resources", lambda: tmp_path)
    monkeypatch.setattr(models, "_dead", {})
    monkeypatch.setenv("M3DESK_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    for name in ("HF_TOKEN", "HF_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    started: list[Hub] = []

    def start(*given: object, endpoint: bool = True, **more: object) -> Hub:
        started.append(Hub(*given, **more))  # type: ignore[arg-type]
        if endpoint:
            monkeypatch.setenv("HF_ENDPOINT", started[-1].url)
        (tmp_path / "models.toml").write_text(
            '[[model]]\nname = "tiny"\ntitle = "T"\nversion = "0123456"\nprofile = "extra"\nlicence = "Apache-2.0"\norigin = "x"\n'
            f'repository = "org/tiny"\ncommit = "{COMMIT[:7]}"\nbytes = 800000\n'
        )
        models._listed.cache_clear()
        models._toml.cache_clear()
        return started[-1]

    yield start
    for one in started:
        one.shutdown()
        one.server_close()
    models._listed.cache_clear()
    models._toml.cache_clear()


def got() -> list[str]:
    place = models.folder() / "tiny"
    return sorted(f.relative_to(place).as_posix() for f in place.rglob("*") if f.is_file() and not f.name.startswith("."))


def test_a_repository_is_downloaded_at_its_commit_without_what_may_hold_code(
    hub: Callable[..., Hub], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = hub()
    site.slow = 0.05
    before = models.entry("tiny")
    assert (models.state(before), before.bytes, before.verified, models.rows()[0]["sha256"]) == ("missing", 800_000, False, "")
    hashed: list[int] = []
    monkeypatch.setattr(models, "digest", lambda file, *more: (hashed.append(file.stat().st_size), fetch.digest(file, *more))[1])
    assert models.pull(["tiny"]) == ["tiny"]
    assert got() == TAKEN and site.most in (2, 3, 4)
    assert sum(hashed) == sum(len(FILES[n]) for n in TAKEN)
    assert all(models.weights("tiny").joinpath(n).read_bytes() == FILES[n] for n in TAKEN)
    assert sum(hashed) == sum(len(FILES[n]) for n in TAKEN)  # hashed once
    assert all(f"/resolve/{COMMIT}/" in path for path, _, _ in site.seen if "resolve" in path)
    assert models.pull(["tiny"]) == [] and models.entry("tiny").commit == COMMIT
    (models.folder() / "tiny" / "merges.txt").write_bytes(b"a c")
    assert "merges.txt" in models.verify()[0]


def test_a_broken_connection_and_a_stopped_download_go_on_where_they_ended(hub: Callable[..., Hub]) -> None:
    site = hub()
    site.cut = 100_000
    models.pull(["tiny"])
    assert "bytes=100000-" in [wanted for _, _, wanted in site.seen] and got() == TAKEN
    models.remove("tiny")
    with pytest.raises(Cancelled):
        models.pull(["tiny"], cancelled=lambda: any("00001" in path for path, _, _ in site.seen[-8:]))
    models.pull(["tiny"])
    assert got() == TAKEN


def test_wrong_bytes_of_the_right_size_are_refused(hub: Callable[..., Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    site = hub()
    monkeypatch.setattr(Handler, "lfs", staticmethod(lambda name, content: {"lfs": {"sha256": "0" * 64}} if "00001" in name else {}))
    with pytest.raises(DownloadError, match="sha256 differs"):
        models.pull(["tiny"])
    assert site.files and "model-00001-of-00002.safetensors" not in got()


def test_another_version_than_the_pinned_one_is_refused_and_can_be_named(
    hub: Callable[..., Hub], capsys: pytest.CaptureFixture[str]
) -> None:
    site = hub()
    site.sha = "f" * 40
    with pytest.raises(DownloadError, match="not its newest any more"):
        models.pull(["tiny"])
    site.sha = COMMIT
    assert main(["models", "pull", f"org/tiny@{COMMIT}", "--yes"]) == 0
    assert "not verified by us" in capsys.readouterr().out
    mine = models.entry("org--tiny-0123456")
    assert (models.state(mine), mine.profile, mine.licence) == ("ready", "own", "apache-2.0")
    assert models.weights(f"org/tiny@{COMMIT}") == models.folder() / "org--tiny-0123456"
    for wrong in ("org/tiny", "org/tiny@main", f"../x@{COMMIT}"):
        with pytest.raises(UsageError, match="names no repository"):
            models.pull([wrong])


def test_the_users_token_goes_to_the_hub_only(hub: Callable[..., Hub], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store = hub(endpoint=False)
    site = hub(token="secret", elsewhere=store.url)
    with pytest.raises(DownloadError, match="HF_TOKEN"):
        models.pull(["tiny"])
    monkeypatch.setenv("HF_TOKEN", "secret")
    models.pull(["tiny"])
    assert got() == TAKEN and {a for _, a, _ in site.seen if a} == {"Bearer secret"}
    assert store.seen and not [a for _, a, _ in store.seen if a]
    assert not [f for f in (tmp_path / "models").rglob("*") if f.is_file() and b"secret" in f.read_bytes()]
    monkeypatch.delenv("HF_TOKEN")
    (tmp_path / "hub").mkdir()
    (tmp_path / "hub" / "token").write_text("kept\n")
    assert repositories.token(site.url + "/x") == "kept"
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example")
    assert repositories.token("https://hub.example/x") == "kept"
    assert repositories.token("http://hub.example/x") is None and repositories.token("https://other.example/x") is None


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"../evil.safetensors": b"x"}, "not safe"),
        ({"/etc/evil.json": b"x", "a.gguf": b"x"}, "not safe"),
        ({"model.bin": b"x", "config.json": b"{}"}, "no weights as safetensors or GGUF"),
    ],
)
def test_names_that_lead_out_of_the_folder_and_weights_that_may_hold_code_are_refused(
    hub: Callable[..., Hub], files: dict[str, bytes], says: str
) -> None:
    hub().files = files
    with pytest.raises(DownloadError, match=says):
        models.pull(["tiny"])
    assert got() == []


def test_an_answer_of_nonsense_and_a_full_disk_are_said(hub: Callable[..., Hub], monkeypatch: pytest.MonkeyPatch) -> None:
    site = hub()
    site.sha = "no commit"
    with pytest.raises(DownloadError):
        models.pull(["tiny"])
    site.sha = COMMIT
    monkeypatch.setattr(models.shutil, "disk_usage", lambda _place: type("Usage", (), {"free": 1_000})())
    with pytest.raises(DownloadError, match="Not enough disk space"):
        models.pull(["tiny"])
    assert not [path for path, _, _ in site.seen if "resolve" in path]
