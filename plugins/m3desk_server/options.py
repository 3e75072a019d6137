"""The user's settings of a backend of this plugin: `[backends.server]`, `[backends.vllm]`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from m3desk import config, keys, outgoing
from m3desk.errors import UsageError
from m3desk_server.door import Door


@dataclass(frozen=True, slots=True)
class Options:
    """`model`: its name at the server (`vllm`: a folder). `pictures`: how many of a clip are sent. `sees`, `hears`: None to find out.

    `video`: send pictures that follow each other as one video. `seconds`: until an answer must begin. `where`: the host, as it is shown.
    `at_once`: most requests at the same time; 0: as many as the server says.
    `arguments`, `python`: of vLLM: further arguments of its server, and the interpreter that has it, if it is the user's own.
    `prompts`: a folder of the user's own, which the memory writer reads. `style`: how a clip is shown, "m3-agent" or "" (ours); None: as
    the model was trained.
    """

    backend: str
    url: str = ""
    model: str = ""
    context: int = 0
    pictures: int = 8
    dialect: str = ""
    sees: bool | None = None
    hears: bool | None = None
    video: bool = False
    seconds: int = 180
    arguments: tuple[str, ...] = ()
    python: str = ""
    prompts: str = ""
    style: str | None = None
    at_once: int = 0
    where: str = ""

    def door(self) -> Door:
        """Return where the server is, with its key. Raises UsageError if no address is set."""
        if not self.url:
            raise UsageError("no address of a model server is set.", f"Set it: {outgoing.EXAMPLE}")
        address = outgoing.Address.parse(self.url)
        return Door(address, keys.get(address.origin), self.backend, first=float(self.seconds))


STYLES = ("", "m3-agent")

_SHARED = frozenset({"model", "context", "pictures", "dialect", "sees", "hears", "video", "seconds", "prompts", "style", "at_once"})
_KNOWN = {"server": _SHARED | {"url"}, "vllm": _SHARED | {"arguments", "python"}}
_NUMBERS = {"context": (0, 10_000_000), "pictures": (1, 768), "seconds": (1, 36_000), "at_once": (0, 64)}


def options(backend: str) -> Options:
    """Read a backend's settings. Raises UsageError for one that it doesn't have or whose value can't be used."""
    table = config.backend_options(backend)
    if "key" in table:
        raise UsageError(
            f"[backends.{backend}] holds a key: keys are not kept in files.", f"Delete it there, then: m3desk backends key {backend}"
        )
    known = _KNOWN[backend]
    if unknown := sorted(set(table) - known):
        raise UsageError(f"[backends.{backend}] has no setting “{unknown[0]}”.", f"There are: {', '.join(sorted(known))}.")
    found = Options(backend, **{name: _value(backend, name, value) for name, value in table.items()})
    return replace(found, where=outgoing.Address.parse(found.url).shown if found.url else backend)


def _value(backend: str, name: str, value: Any) -> Any:
    def wrong(what: str) -> UsageError:
        return UsageError(f"the setting backends.{backend}.{name} must be {what}.", f"m3desk config set backends.{backend}.{name} VALUE")

    if name in _NUMBERS:
        low, high = _NUMBERS[name]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise wrong(f"a whole number from {low} to {high}")
        return value
    if name in ("sees", "hears", "video"):
        if not isinstance(value, bool):
            raise wrong("true or false")
        return value
    if name == "style":
        if value not in STYLES:
            raise wrong(" or ".join(f"“{style}”" for style in STYLES))
        return value
    if name == "arguments":
        words = value.split() if isinstance(value, str) else value
        if not isinstance(words, list) or not all(isinstance(w, str) for w in words):
            raise wrong("a list of words")
        return tuple(words)
    if not isinstance(value, str):
        raise wrong("a word")
    return value.strip()
