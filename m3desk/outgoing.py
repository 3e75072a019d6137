"""What leaves this machine, and to whom: the address of a model server, and the words that tell it. Contacts nothing.

A backend may speak to a server of the user's choice (`[backends.server]` in the settings). What it sends there is told where it is chosen
(`m3desk config set`, the settings dialog) and shown while it is used (the window's status bar, `m3desk ask`, `m3desk memorize`).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from m3desk import config
from m3desk.errors import UsageError

SERVER = "server"
"""The backend that speaks to a server of the user's choice; no other backend sends anything away."""

EXAMPLE = "m3desk config set backends.server.url http://127.0.0.1:8000/v1"

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]{0,252})")


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server: `scheme` http or https, `host` without brackets, `path` without a slash at its end."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read `http://HOST[:PORT][/PATH]`; without a path it is /v1. Raises UsageError, which never repeats a password."""
        try:
            parts = urlsplit(text.strip())
            host, port = (parts.hostname or "").casefold(), parts.port
        except ValueError as error:
            raise UsageError("the server's address can't be read.", f"For example: {EXAMPLE}") from error
        if parts.username is not None or parts.password is not None:
            raise UsageError(
                "the server's address holds a user name or password.", "Leave it out; a key is set by: m3desk backends key server"
            )
        if parts.scheme not in _PORTS or not host or parts.query or parts.fragment or not (_numeric(host) or _HOST.fullmatch(host)):
            raise UsageError("the server's address is not http://HOST:PORT/v1 or https://HOST/v1.", f"For example: {EXAMPLE}")
        path = parts.path.rstrip("/")
        if not re.fullmatch(r"[\w./~-]*", path, re.ASCII):
            raise UsageError("the path of the server's address holds unusual characters.", f"For example: {EXAMPLE}")
        return cls(parts.scheme, host, port or _PORTS[parts.scheme], path or "/v1")

    @property
    def local(self) -> bool:
        """Whether it is this machine: a loopback address, or the name localhost."""
        number = _numeric(self.host)
        return self.host == "localhost" or (number is not None and number.is_loopback)

    @property
    def encrypted(self) -> bool:
        return self.scheme == "https"

    @property
    def shown(self) -> str:
        """Return host and port, the port only where it is unusual."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Return scheme, host and port: what a key belongs to."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def _numeric(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def of_profile(name: str, writer: str = "", address: Address | None = None) -> Leaving | None:
    """Return what leaves this machine with a profile, ours or the user's own, and a memory writer. Raises UsageError.

    `address`: of the server, if it is not the one of the settings.
    """
    own = config.profiles()
    return leaving(own.get(name) or ({"language": SERVER} if name == SERVER else {}), writer, address)


@dataclass(frozen=True, slots=True)
class Leaving:
    """What goes to a host that is not this machine. `questions`: questions and sentences; `clips`: pictures, faces and speech of clips."""

    host: str
    questions: bool
    clips: bool
    encrypted: bool

    def short(self) -> str:
        """Return one line for a status bar or the terminal."""
        what = "Questions and clips go" if self.questions and self.clips else "Clips go" if self.clips else "Questions go"
        return f"{what} to {self.host}"

    def lines(self) -> list[str]:
        """Return what leaves this machine, in full, for where it is chosen."""
        told = []
        if self.questions:
            told.append(
                f"Questions go to {self.host}: each question with the sentences found for it and the names in them; and, where knowledge is"
                " written, what people say in each clip."
            )
        if self.clips:
            told.append(
                f"Clips go to {self.host}: pictures of each clip, cut-out faces, what is said, its sound where the server takes sound, and"
                " sentences about the clips before it."
            )
        if not self.encrypted:
            told.append("They go unencrypted (http): whoever is between can read them.")
        return told


def server() -> Address | None:
    """Return the address of the user's server, None if none is set. Raises UsageError if it can't be read."""
    url = config.backend_options(SERVER).get("url")
    return Address.parse(str(url)) if url else None


def leaving(ports: Mapping[str, str], writer: str = "", address: Address | None = None) -> Leaving | None:
    """Return what leaves this machine with these backends (port → backend) and this memory writer; None: nothing does.

    `writer`: "" or `rules`: the profile's, if it has a model that watches. Raises UsageError if the server's address can't be read.
    """
    questions = ports.get("language") == SERVER
    clips = (ports.get("watcher", "") if writer in ("", "rules") else writer) == SERVER
    address = (address or server()) if questions or clips else None
    if address is None or address.local:
        return None
    return Leaving(address.shown, questions, clips, address.encrypted)
