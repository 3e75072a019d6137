"""Where a server is and how it is spoken to: address, key, time-outs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from m3desk.keys import Key
from m3desk.outgoing import Address


@dataclass(frozen=True, slots=True)
class Door:
    """`backend`: whose settings these are (`server`, `vllm`). `first`: seconds until an answer begins; `idle`: until it goes on."""

    address: Address
    key: Key | None
    backend: str = "server"
    first: float = 180.0
    idle: float = 60.0

    @property
    def shown(self) -> str:
        return self.address.shown

    def setting(self, option: str, value: str) -> str:
        """Return the command that changes one of this backend's settings."""
        return f"m3desk config set backends.{self.backend}.{option} {value}"

    @property
    def another(self) -> str:
        """Return what to do where what answers is no model server."""
        if self.backend == "server":
            return f"Is it a model server? If not, set another address: {self.setting('url', 'URL')}"
        return "It was started by M3Desk: see its log."

    @property
    def start(self) -> str:
        """Return what to do where nobody answers."""
        if self.backend == "server":
            here = f"{self.address.origin}{self.address.path}"
            return f"Start it, or set its address: {self.setting('url', 'URL')} (now {here})"
        return "It was started by M3Desk: see m3desk backends list, and its log."


KEPT_SECONDS = 60.0
"""How long a door is kept: the keyring is not asked at every request, and a key that was removed is not used for long."""


class KeptDoor:
    """A door that is opened again when it is old, or when the server did not accept its key."""

    def __init__(self, opened: Callable[[], Door]) -> None:
        self._opened = opened
        self._door: Door | None = None
        self._since = 0.0

    def __call__(self, _cancelled: Callable[[], bool] = lambda: False) -> Door:
        now = time.monotonic()
        if self._door is None or now - self._since > KEPT_SECONDS:
            self._door, self._since = self._opened(), now
        return self._door

    def forget(self) -> None:
        """Open it again at the next request."""
        self._door = None
