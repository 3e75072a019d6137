"""The address of a live source: camera, microphone, network stream, or a file that is delivered at real time."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from m3desk.errors import UsageError

Kind = Literal["devices", "stream", "file"]

SCHEMES = ("rtsp", "rtsps", "http", "https")
_HINT = "Write camera:0, mic:default, camera:0+mic:default, rtsp://HOST/PATH, http://HOST/PATH or file:PATH?live."
_SECRET = re.compile(r"pass|pwd|psw|secret|token|key|auth|sig|user|usr|login", re.IGNORECASE)
_IN_PATH = re.compile(rf"((?:{_SECRET.pattern})[a-z]*)=.*?(?=$|[/&;,?]|[^a-z0-9][a-z0-9]+=)", re.IGNORECASE)
_MASK = "***"


@dataclass(frozen=True, slots=True)
class LiveAddress:
    """A parsed address. `camera`: number, device path or name; `microphone`: name or "default"; `url` may contain credentials."""

    kind: Kind
    camera: str | None = None
    microphone: str | None = None
    url: str | None = None
    path: Path | None = None
    loop: bool = False

    @classmethod
    def parse(cls, text: str) -> LiveAddress:
        """Parse an address. Raises UsageError."""
        scheme, colon, rest = text.strip().partition(":")
        scheme = scheme.lower()
        if not colon or not rest:
            raise UsageError(f"{shown(text)!r} is not the address of a live source.", _HINT)
        if scheme in SCHEMES:
            return cls._stream(text.strip())
        if scheme == "file":
            return cls._file(rest)
        if scheme in ("camera", "mic"):
            return cls._devices(text.strip())
        raise UsageError(f"{shown(text)!r} is not the address of a live source.", _HINT)

    @classmethod
    def _stream(cls, text: str) -> LiveAddress:
        try:
            parts = urlsplit(text)
            host, _ = parts.hostname, parts.port
            if _torn(parts):
                raise ValueError("password")
        except ValueError as error:
            if "@" in text:
                raise UsageError(
                    f"{shown(text)} is not a valid address.", "In a password write / as %2F, # as %23 and ? as %3F."
                ) from error
            raise UsageError(f"{shown(text)} is not a valid address.", "Check its host and port.") from error
        if not host:
            raise UsageError(f"{shown(text)} has no host.", _HINT)
        if any(ord(letter) < 33 for letter in text):
            raise UsageError("An address must not contain spaces.", "Write a space as %20.")
        return cls("stream", url=parts.scheme.lower() + text[len(parts.scheme) :])

    @classmethod
    def _file(cls, rest: str) -> LiveAddress:
        path, question, query = rest.rpartition("?")
        options = set(query.split("&")) if question else set()
        if "live" not in options or not path or options - {"live", "loop"}:
            raise UsageError(
                f"file:{rest} is not a live source.", "Write file:PATH?live or file:PATH?live&loop; give a file without file: to play it."
            )
        return cls("file", path=Path(path).expanduser().absolute(), loop="loop" in options)

    @classmethod
    def _devices(cls, text: str) -> LiveAddress:
        camera: str | None = None
        microphone: str | None = None
        for part in re.split(r"\+(?=(?:camera|mic):)", text, flags=re.IGNORECASE):
            scheme, _, name = part.partition(":")
            name = name.strip()
            if not name:
                raise UsageError(f"{part} names no device.", "List the devices with: m3desk devices.")
            if scheme.lower() == "camera" and camera is None:
                camera = name
            elif scheme.lower() == "mic" and microphone is None:
                microphone = name
            else:
                raise UsageError(f"{text} names more than one {scheme.lower()}.", "Give one camera and one microphone at most.")
        return cls("devices", camera=camera, microphone=microphone)

    def __str__(self) -> str:
        """Return the canonical form; it may contain credentials: never show, log or store it, use `shown`."""
        if self.kind == "stream":
            return self.url or ""
        if self.kind == "file":
            return f"file:{self.path}?live" + ("&loop" if self.loop else "")
        parts = [f"camera:{self.camera}"] if self.camera is not None else []
        return "+".join([*parts, *([f"mic:{self.microphone}"] if self.microphone is not None else [])])

    def __repr__(self) -> str:
        return f"LiveAddress({self.shown()!r})"

    def shown(self) -> str:
        """Return the address without credentials."""
        return shown(str(self))


def is_live(text: str) -> bool:
    """Return whether a source's name is the address of a live source rather than of a file; the address may still be invalid."""
    scheme, colon, rest = text.strip().partition(":")
    if not colon:
        return False
    scheme = scheme.lower()
    if scheme in ("camera", "mic"):
        return True
    if scheme in SCHEMES:
        return rest.startswith("//")
    return scheme == "file" and bool(re.search(r"\?(.*&)?live(&.*)?$", rest))


def check_spelling(text: str) -> None:
    """Raise UsageError if a source's name is no file and looks like a live address that is misspelt."""
    if is_live(text) or os.path.lexists(text):
        return
    path, question, options = text.rpartition("?")
    if question and "live" in options.split("&") and os.path.lexists(path):
        raise UsageError(f"{shown(text)} is not the address of a live source.", f"Write file:{path}?{options}.")
    if re.match(r"[A-Za-z]{2,}:", text):  # a single letter is a drive of Windows
        raise UsageError(f"{shown(text)} is neither a file nor the address of a live source.", _HINT)


def shown(text: str) -> str:
    """Return a text without the credentials of a URL that it is or starts with: user, password and secret parameters are masked."""
    text = text.strip()
    scheme, colon, rest = text.partition(":")
    if not colon or not scheme.isalnum() or (not rest.startswith("//") and scheme.lower() not in SCHEMES):
        return text
    if not rest.startswith("//"):
        return f"{scheme.lower()}:{_MASK}@{rest.rpartition('@')[2]}" if "@" in rest else text
    try:
        parts = urlsplit(text)
    except ValueError:
        return f"{scheme.lower()}://{_MASK}"
    if _torn(parts):
        return f"{scheme.lower()}://{_MASK}@{text.rpartition('@')[2]}"
    place = parts.netloc.rpartition("@")[2]
    if "@" in parts.netloc:
        place = f"{_MASK}@{place}"
    query = parts.query
    if query:
        pairs = parse_qsl(query, keep_blank_values=True)
        query = "&".join(f"{name}={_MASK if _SECRET.search(name) else value}" for name, value in pairs) if pairs else _MASK
    return urlunsplit((parts.scheme.lower(), place, _IN_PATH.sub(rf"\1={_MASK}", parts.path), query, ""))


def _torn(parts: SplitResult) -> bool:
    """Return whether a password seems to hold the end of the host's name (/, # or ?), so that a part of it is in the path."""
    return "@" not in parts.netloc and ":" in parts.netloc and "@" in f"{parts.path}{parts.query}{parts.fragment}"
