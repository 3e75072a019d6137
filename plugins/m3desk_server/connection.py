"""One HTTP request on a connection of its own: to the configured address only, with limits, and it can be stopped at any moment.

Python's own `http.client`: it follows no redirect, reads no proxy, cookie or password file, and needs no dependency; another thread can cut
its socket, which ends a request at once. (httpx, BSD, would bring five packages and read proxies and ~/.netrc unless told not to.)
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from m3desk.errors import Cancelled, ModelFailed
from m3desk_server.door import Door

CONNECT_SECONDS = 10.0
LOOK = 0.05
"""Seconds between looks at `cancelled` while nothing comes."""
LONGEST_LINE = 1_000_000
LONGEST_BODY = 8_000_000
"""Bytes of a line of a stream, and of a body that is read whole: more is not a reply of a model."""
WAITING_LINES = 1_000
"""Lines of a stream that may wait to be read; more hold up the server."""


class Unreachable(ModelFailed):
    """Nothing was received: it can be tried again."""


class CutOff(ModelFailed):
    """The connection ended in the middle of an answer."""


@dataclass(frozen=True, slots=True)
class Head:
    """Status and headers (names in lower case) of a response."""

    status: int
    headers: Mapping[str, str]

    @property
    def kind(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().casefold()


class Request:
    """A request that has been sent, or is being sent. Close it, or use it in a `with` block."""

    def __init__(self, door: Door, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None) -> None:
        """Begin to send; `path` is absolute. Raises nothing: see `head`."""
        self._door = door
        self._sent = (method, path, body, dict(headers))
        self._came: queue.Queue[Head | bytes | Exception | None] = queue.Queue(WAITING_LINES)
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._thread = threading.Thread(target=self._work, name="server request", daemon=True)
        self._thread.start()

    def __enter__(self) -> Request:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Cut the connection: the server stops working on the request."""
        self._closed.set()
        with self._lock:
            if self._socket is not None:
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    # ------------------------------------------------------------ the side of the caller

    def head(self, seconds: float, cancelled: Callable[[], bool]) -> Head:
        """Wait for status and headers. Raises Cancelled, Unreachable."""
        item = self._next(seconds, cancelled, "did not answer")
        if not isinstance(item, Head):
            raise Unreachable(f"{self._door.shown} closed the connection without an answer.", "Is the server still running? See its log.")
        return item

    def lines(self, idle: Callable[[], float], cancelled: Callable[[], bool]) -> Iterator[bytes]:
        """Yield the lines of the body; `idle`: seconds that the next may take. Raises Cancelled, CutOff."""
        while True:
            item = self._next(idle(), cancelled, "sent nothing more")
            if item is None:
                return
            if isinstance(item, bytes):
                yield item

    def body(self, seconds: float, cancelled: Callable[[], bool]) -> bytes:
        """Return the whole body. Raises Cancelled, CutOff, ModelFailed if it is too long."""
        until, found, size = time.monotonic() + seconds, [], 0
        for line in self.lines(lambda: until - time.monotonic(), cancelled):
            found.append(line)
            size += len(line)
            if size > LONGEST_BODY:
                raise ModelFailed(
                    f"{self._door.shown} sent more than {LONGEST_BODY // 1_000_000} MB in one answer.", "Is it a model server?"
                )
        return b"".join(found)

    def _next(self, seconds: float, cancelled: Callable[[], bool], what: str) -> Head | bytes | None:
        until = time.monotonic() + seconds
        while True:
            if cancelled():
                raise Cancelled("stopped.")
            left = until - time.monotonic()
            try:
                item = self._came.get(timeout=max(0.001, min(LOOK, left)))
            except queue.Empty:
                if left <= 0:
                    raise Unreachable(
                        f"{self._door.shown} {what} within {max(0.0, seconds):.0f} s.",
                        f"It may be loading or busy; give it longer: {self._door.setting('seconds', '600')}",
                    ) from None
                continue
            if isinstance(item, Exception):
                raise item
            return item

    # ------------------------------------------------------------ the thread that sends and reads

    def _work(self) -> None:
        try:
            self._exchange()
            self._put(None)
        except ModelFailed as error:
            self._put(error)
        except Exception as error:
            self._put(_told(error, self._door))

    def _put(self, item: Head | bytes | Exception | None) -> None:
        while not self._closed.is_set():
            with contextlib.suppress(queue.Full):
                self._came.put(item, timeout=LOOK)
                return

    def _exchange(self) -> None:
        address = self._door.address
        context = ssl.create_default_context() if address.encrypted else None
        link: http.client.HTTPConnection = (
            http.client.HTTPSConnection(address.host, address.port, timeout=CONNECT_SECONDS, context=context)
            if address.encrypted
            else http.client.HTTPConnection(address.host, address.port, timeout=CONNECT_SECONDS)
        )
        try:
            link.connect()
            self._keep(link.sock)
            method, path, body, headers = self._sent
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                # A server may refuse before it has read everything: its answer says why.
                link.request(method, path, body, headers)
            response = link.getresponse()
            self._put(Head(response.status, {k.casefold(): v for k, v in response.getheaders()}))
            self._read(response)
        finally:
            with self._lock:
                self._socket = None
            link.close()

    def _keep(self, made: socket.socket) -> None:
        """Remember the socket, so that `close` can cut it. Raises ModelFailed if a name of this machine led elsewhere."""
        if self._door.address.local and not ipaddress.ip_address(made.getpeername()[0]).is_loopback:
            raise ModelFailed(f"{self._door.address.host} is not this machine here.", "Write 127.0.0.1 in the server's address.")
        made.settimeout(None)  # The caller watches the time, and cuts the connection.
        with self._lock:
            self._socket = made
        if self._closed.is_set():
            made.close()

    def _read(self, response: http.client.HTTPResponse) -> None:
        while not self._closed.is_set():
            try:
                line = response.readline(LONGEST_LINE)
            except (http.client.HTTPException, OSError, ValueError) as error:
                raise _cut(self._door) from error
            if not line:
                if response.length:  # fewer bytes than announced: http.client tells of it only where all is read at once
                    raise _cut(self._door)
                return
            if len(line) >= LONGEST_LINE:
                raise ModelFailed(f"{self._door.shown} sent a line without an end.", "Is it a model server?")
            self._put(line)


def _cut(door: Door) -> CutOff:
    return CutOff(
        f"{door.shown} closed the connection in the middle of its answer.",
        "Is the server still running? See its log; what was committed is kept.",
    )


def _told(error: Exception, door: Door) -> ModelFailed:
    """Return what a failed exchange means."""
    address, start = door.address, door.start
    match error:
        case ssl.SSLCertVerificationError():
            return ModelFailed(
                f"the certificate of {address.shown} is not trusted ({error.verify_message}).", "Nothing was sent. Check the address."
            )
        case ssl.SSLError():
            return ModelFailed(
                f"{address.shown} does not speak TLS ({error.reason or 'no handshake'}).", "Write http:// if it is a server without TLS."
            )
        case socket.gaierror():
            return Unreachable(f"there is no machine {address.host}: its name can't be resolved.", start)
        case ConnectionRefusedError():
            return Unreachable(f"no server answers at {address.shown}.", start)
        case TimeoutError():
            return Unreachable(f"{address.shown} can't be reached: no connection within {CONNECT_SECONDS:.0f} s.", start)
        case http.client.RemoteDisconnected() | ConnectionResetError() | BrokenPipeError():
            return Unreachable(f"{address.shown} closed the connection without an answer.", "Is the server still running? See its log.")
        case http.client.HTTPException() | ValueError():
            return ModelFailed(f"what answers at {address.shown} is not an HTTP server.", start)
        case OSError():
            return Unreachable(f"{address.shown} can't be reached ({error.strerror or type(error).__name__}).", start)
        case _:
            return ModelFailed(f"the request to {address.shown} failed ({type(error).__name__}).", start)
