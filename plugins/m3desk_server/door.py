"""Where a server is and how it is spoken to: address, key, time-outs."""

from __future__ import annotations

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
    def start(self) -> str:
        """Return what to do where nobody answers."""
        if self.backend == "server":
            here = f"{self.address.origin}{self.address.path}"
            return f"Start it, or set its address: {self.setting('url', 'URL')} (now {here})"
        return "It was started by M3Desk: see m3desk backends list, and its log."
