"""The user's settings: type, default and allowed values of each, stored as TOML (`m3desk config path` prints the file's path).

Secrets are not stored here: they come from the environment or the system's keyring. Unknown keys and tables in the file are kept.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from m3desk import paths, presets, private
from m3desk.errors import UsageError


def cores() -> int:
    """Return how many processor cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1


def default_threads() -> int:
    """Return the number of threads for a model: the cores, at most 4; small models gain nothing from more (`models.md`)."""
    return max(1, min(4, cores()))


@dataclass(frozen=True, slots=True)
class Key:
    """One setting. The type is that of `default`; `choices`: the allowed words; `low`, `high`: the allowed range."""

    name: str
    default: str | int | float | bool
    text: str
    choices: tuple[str, ...] = ()
    low: float = float("-inf")
    high: float = float("inf")

    def parse(self, value: Any) -> str | int | float | bool:
        """Convert a value, from the command line or TOML, to the setting's type. Raises UsageError."""
        kind = type(self.default)
        try:
            if kind is bool:
                parsed: str | int | float | bool = _boolean(value)
            elif isinstance(value, bool):
                raise ValueError
            else:
                parsed = kind(value)
                if isinstance(parsed, int) and parsed != float(value):
                    raise ValueError
        except (TypeError, ValueError, OverflowError):
            words = {bool: "true or false", int: "a whole number", float: "a number"}.get(kind, "a word")
            raise UsageError(f"“{_few(value)}” does not fit the setting {self.name}.", f"It is {words}: {self.text}") from None
        if self.choices and parsed not in self.choices:
            raise UsageError(f"“{_few(value)}” does not fit the setting {self.name}.", f"Choose one of: {', '.join(self.choices)}.")
        if isinstance(parsed, int | float) and not self.low <= parsed <= self.high:
            raise UsageError(f"“{_few(value)}” does not fit the setting {self.name}.", f"It lies between {self.low:g} and {self.high:g}.")
        return parsed


def _few(value: Any) -> str:
    """Return a value for quoting in an error message, cut to one line."""
    text = str(value)
    return text if len(text) <= 100 else f"{text[:100]}…"


def _boolean(value: Any) -> bool:
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if isinstance(value, bool):
        return value
    if str(value).lower() not in words:
        raise ValueError
    return words[str(value).lower()]


KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        Key(
            "profile",
            "embedded",
            "the set of models that work: embedded, laptop-vision, gpu-8, gpu-24, gpu-48, gpu-80, server, or yours of [profiles]",
        ),
        Key("clip_seconds", 30.0, "length of a clip in seconds; a memory keeps the one it began with", low=5, high=300),
        Key("fps", 5.0, "pictures looked at each second", low=0.5, high=30),
        Key("threads", 0, "threads of each model; 0: as many as there are cores, at most 4", low=0, high=64),
        Key("memory_language", "scene", "language of new memories; scene: the one that is spoken", choices=("scene", "en", "zh")),
        Key("writer", "rules", "who writes what happens: rules, or an installed model that watches the clips (such as server)"),
        Key("semantic", True, "write knowledge too, not only what happened (needs the language model)"),
        Key("keep_recordings", "always", "how long recordings of live sources are kept: always, remembered, or a number of hours"),
        Key("recording_gb", 50.0, "gigabytes that the recording of a live source may have; 0: no limit but the disk", low=0, high=100_000),
        Key("language", "system", "language of the window", choices=("system", "en", "zh")),
        Key("theme", "system", "look of the window", choices=("system", "light", "dark")),
    )
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The current settings. `threads` is resolved (never 0); `memory_language` None means the language of the scene."""

    profile: str
    clip_seconds: float
    fps: float
    threads: int
    memory_language: str | None
    writer: str
    semantic: bool
    keep_recordings: str
    recording_gb: float
    language: str
    theme: str

    @classmethod
    def load(cls) -> Settings:
        """Read the settings file; missing settings get their defaults. Raises UsageError if the file is invalid."""
        return cls._of(values())

    @classmethod
    def defaults(cls) -> Settings:
        """Return the default settings."""
        return cls._of({name: key.default for name, key in KEYS.items()})

    @classmethod
    def _of(cls, found: dict[str, Any]) -> Settings:
        found["threads"] = found["threads"] or default_threads()
        found["memory_language"] = None if found["memory_language"] == "scene" else found["memory_language"]
        return cls(**{f.name: found[f.name] for f in fields(cls)})


def values() -> dict[str, Any]:
    """Return every setting by name, from the file or the defaults. Raises UsageError if the file is invalid."""
    file = _read()
    return {name: _value(key, file) for name, key in KEYS.items()}


def get_value(name: str) -> Any:
    """Return one setting. Raises UsageError if the name is unknown."""
    return _value(_key(name), _read())


def _value(key: Key, file: Mapping[str, Any]) -> Any:
    if key.name not in file:
        return key.default
    try:
        return key.parse(file[key.name])
    except UsageError as error:
        fits = f"Mend it: m3desk config set {key.name} {_word(key.default)}."
        raise UsageError(f"In {paths.config_file()}: {error} {error.hint}", fits) from error


def set_value(name: str, value: Any) -> None:
    """Change one setting in the file and keep all other lines. Raises UsageError."""
    key = _key(name)
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    file, given = paths.config_file(), key.parse(value)
    _read()  # a file that is broken is not written to
    try:
        text = file.read_bytes().decode("utf-8-sig") if file.is_file() else ""
        written = tomlkit.parse(text)
        if isinstance(written.get(key.name), Mapping):
            raise ValueError("a table stands where a value should")
        written[key.name] = given
        changed = tomlkit.dumps(written)
        if tomllib.loads(changed) != {**tomllib.loads(text), key.name: given}:
            raise ValueError("the other settings would change")
    except (TOMLKitError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{key.name} can't be changed in {file}: it is written there in another way.", "Change it there by hand."
        ) from error
    _write(file, changed)


def set_backend_option(backend: str, option: str, value: Any) -> None:
    """Change one setting of a backend (`[backends.NAME]`) in the file and keep all other lines. Raises UsageError.

    Words become what TOML has for them: true, false, whole numbers, else text. A key is refused: it is kept in the keyring.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    for word in (backend, option):
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,40}", word):
            raise UsageError(f"“{_few(word)}” names no setting of a backend.", "For example: m3desk config set backends.server.model NAME")
    if option in ("key", "api_key", "token"):
        raise UsageError("keys are not kept in files.", f"m3desk backends key {backend}")
    file, given = paths.config_file(), _parsed(str(value))
    before = _read()
    try:
        text = file.read_bytes().decode("utf-8-sig") if file.is_file() else ""
        written = tomlkit.parse(text)
        tables = written.setdefault("backends", tomlkit.table(is_super_table=True))
        tables.setdefault(backend, tomlkit.table())[option] = given
        changed = tomlkit.dumps(written)
        wanted = {**before, "backends": {**before.get("backends", {}), backend: {**_own_options(backend, before), option: given}}}
        if tomllib.loads(changed) != wanted:
            raise ValueError("the other settings would change")
    except (TOMLKitError, ValueError, RecursionError, TypeError, AttributeError) as error:
        raise UsageError(
            f"backends.{backend}.{option} can't be changed in {file}: it is written there in another way.", "Change it there by hand."
        ) from error
    _write(file, changed)


def _parsed(text: str) -> str | int | bool:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,9}", text) else text


def profiles() -> dict[str, dict[str, str]]:
    """Return the user's own profiles: name → port → backend (`[profiles.mine]` with lines such as `faces = "yunet"`)."""
    tables = _read().get("profiles", {})
    if not isinstance(tables, Mapping) or not all(isinstance(t, Mapping) for t in tables.values()):
        raise UsageError(
            f"[profiles] in {paths.config_file()} is not a set of tables.", 'Write [profiles.mine] and lines such as faces = "yunet".'
        )
    return {str(name): {str(port): str(backend) for port, backend in table.items()} for name, table in tables.items()}


def offered_profiles() -> tuple[str, ...]:
    """Return the profiles that M3Desk offers for larger machines, smallest first (resources/profiles.toml)."""
    return tuple(presets.presets())


def graphics_need(port: str) -> int:
    """Return the bytes that the model of a port needs on a graphics card, as the profile in use says; 0 where it says nothing."""
    return presets.need(_read().get("profile"), port)


def backend_options(name: str) -> dict[str, Any]:
    """Return a backend's settings: the user's, such as `[backends.server]` with `url = "http://…"`, over those of the profile in use.

    A model that the user chose is not mixed with the profile's settings. Raises UsageError if the file is invalid.
    """
    file = _read()
    own = _own_options(name, file)
    return own if "model" in own else {**presets.options(file.get("profile"), name), **own}


def own_options(name: str) -> dict[str, Any]:
    """Return what the user set for a backend; {} if nothing. Raises UsageError if the file is invalid."""
    return _own_options(name, _read())


def _own_options(name: str, file: Mapping[str, Any]) -> dict[str, Any]:
    tables = file.get("backends", {})
    if not isinstance(tables, Mapping) or not isinstance(tables.get(name, {}), Mapping):
        raise UsageError(
            f"[backends.{name}] in {paths.config_file()} is not a table.", f'Write [backends.{name}] and lines such as url = "http://…".'
        )
    return dict(tables.get(name, {}))


def recent_memories() -> list[str]:
    """Return the recently opened memories that still exist, newest first."""
    try:
        listed = json.loads(_recent_file().read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return [str(p) for p in listed if _is_there(str(p))] if isinstance(listed, list) else []


def _is_there(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # a name that no folder can have
        return False


def remember_memory(path: str | Path, keep: int = 12) -> None:
    """Put a memory first in the list of recent ones."""
    opened = str(Path(path).absolute())
    listed = [opened, *(p for p in recent_memories() if p != opened)][:keep]
    _write(_recent_file(), json.dumps(listed, ensure_ascii=False, indent=1))


def _recent_file() -> Path:
    return paths.recent_file()


def _key(name: str) -> Key:
    if name not in KEYS:
        raise UsageError(f"There is no setting “{name}”.", f"There are: {', '.join(KEYS)}.")
    return KEYS[name]


def _read() -> dict[str, Any]:
    file = paths.config_file()
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n"))  # some editors begin files with a mark
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        why = _few(error)
        raise UsageError(f"The settings file {file} is not TOML ({why}).", "Mend it, or delete it to start from the defaults.") from error
    except OSError as error:
        if file.is_dir():
            hint = (
                f"Set M3DESK_CONFIG to a file, such as {file / 'config.toml'}." if "M3DESK_CONFIG" in os.environ else "Remove the folder."
            )
            raise UsageError(f"The settings file {file} is a folder.", hint) from error
        raise UsageError(f"The settings file {file} cannot be read ({error.strerror}).", "Check its permissions.") from error


def _write(file: Path, text: str) -> None:
    """Write a file atomically."""
    try:
        if not file.parent.exists():
            private.folder(file.parent)
        new = file.with_name(f"{file.name}.{os.getpid()}.new")
        private.write(new, text.encode("utf-8"))
        new.replace(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written ({error.strerror}).", "Check its permissions, or set M3DESK_CONFIG.") from error


def _word(value: str | int | float | bool) -> str:
    """Return a value as it is written on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)
