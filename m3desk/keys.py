"""Keys of model servers: kept in the system's keyring, one for each server; never in a file of ours, a message or a log.

A key of the keyring belongs to scheme, host and port, so that another address never gets it. `M3DESK_SERVER_KEY` is used before the
keyring, for whichever address is configured.
"""

from __future__ import annotations

import os
from typing import Any

from m3desk.errors import M3DeskError, UsageError

VARIABLE = "M3DESK_SERVER_KEY"
SERVICE = "m3desk server"
LONGEST = 4_096


class Key:
    """A secret that shows itself only to `value()`: its text is “(key)” in messages, logs and tracebacks."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        """Raises UsageError if it can't be sent in a header."""
        if not value or len(value) > LONGEST or not value.isascii() or not value.isprintable() or " " in value:
            raise UsageError("this is no key: it is empty, too long, or holds a space or an unusual character.", "Copy it again.")
        self._value = value

    def value(self) -> str:
        return self._value

    def hidden(self, text: str) -> str:
        """Return a text without the key."""
        return text.replace(self._value, "(key)")

    def __repr__(self) -> str:
        return "(key)"

    __str__ = __repr__

    def __reduce__(self) -> Any:
        raise TypeError("a key is not stored")


def of_variable() -> bool:
    """Return whether the variable holds a key."""
    return bool(os.environ.get(VARIABLE, "").strip())


def get(origin: str) -> Key | None:
    """Return the key of a server (`Address.origin`), None if there is none. Raises UsageError, M3DeskError."""
    if of_variable():
        return Key(os.environ[VARIABLE].strip())
    keyring = _keyring()
    if keyring is None:
        return None
    try:
        found = keyring.get_password(SERVICE, origin)
    except Exception:  # Each system's keyring raises errors of its own; without one there is simply no key.
        return None
    return Key(found) if found else None


def store(origin: str, key: Key) -> None:
    """Keep the key of a server in the system's keyring. Raises M3DeskError with what to do where there is none."""
    keyring = _keyring()
    if keyring is None:
        raise M3DeskError(
            "keys are kept in the system's keyring, whose library is not installed.",
            f"pip install 'm3desk[server]', or set the variable {VARIABLE} instead.",
        )
    try:
        keyring.set_password(SERVICE, origin, key.value())
    except Exception as error:
        raise M3DeskError(
            f"this system's keyring does not take the key ({type(error).__name__}).", f"Unlock it, or set the variable {VARIABLE} instead."
        ) from None  # What the library says could hold the key.


def remove(origin: str) -> bool:
    """Remove the key of a server from the keyring; return whether there was one. Raises M3DeskError."""
    keyring = _keyring()
    try:
        if keyring is None or keyring.get_password(SERVICE, origin) is None:
            return False
        keyring.delete_password(SERVICE, origin)
    except Exception as error:
        raise M3DeskError(f"this system's keyring can't be used ({type(error).__name__}).", "Unlock it.") from None
    return True


def _keyring() -> Any | None:
    """Return the library, or None: it is an extra, because on Linux it brings a cryptography library."""
    try:
        import keyring
    except ImportError:
        return None
    return keyring
