"""Installs and removes backends: each has a virtual environment of its own in the user's data folder, removed as a whole.

A backend's folder holds `environment/`, `state.json`, and while it is installed `wheels/` (what was downloaded) and `temporary/`. First
everything is downloaded, then installed without the network; so what was interrupted goes on where it stopped, and an environment that was
half installed is made anew. Only wheels are taken: nothing is built, and no package's own program runs while it is installed.
"""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol

from m3desk import paths, private
from m3desk.children import orphans
from m3desk.children.child import Child, end_orphans_once
from m3desk.children.recipes import Recipe, Variant, recipe, recipes
from m3desk.errors import BackendMissing, Cancelled, DownloadError, M3DeskError
from m3desk.locks import FileLock, Locked

VENV = ("-m", "venv")


def pip(interpreter: Path) -> list[str]:
    """Return the command of an environment's pip."""
    return [str(interpreter), "-I", "-u", "-m", "pip"]


_SPARE = 200_000_000
_REMOVED = ".removed-"


class Progress(Protocol):
    """Receives what is done: `step` in words, bytes `done` of `total`."""

    def __call__(self, step: str, done: int, total: int) -> None: ...


class Busy(M3DeskError):
    """A backend is in use, or being installed or removed."""


@dataclass(frozen=True, slots=True)
class State:
    """A backend on this machine.

    `state`: `missing`, `busy` (being installed or removed now), `interrupted`, `ready`, `outdated` (installed with other pins), `damaged`
    (its interpreter does not run any more), or `own` (its packages are in M3Desk's own environment: an extra).
    """

    name: str
    state: str
    variant: str
    installed: int
    """Bytes, as measured at its installation; 0 if it is not installed."""
    path: str | None
    used_by: tuple[str, ...]


def folder(name: str = "") -> Path:
    """Return the folder of a backend, or of all."""
    return paths.backends_dir() / name if name else paths.backends_dir()


# ---------------------------------------------------------------- what is here


def python(name: str) -> Path:
    """Return the interpreter that has a backend's packages: its environment's, or this one's. Raises BackendMissing."""
    one = recipe(name)
    if _noted(name).get("state") == "ready":
        own = _interpreter(name)
        if own.exists():
            return own
        raise BackendMissing(f"The backend {name} is damaged: {own} is not there.", f"Install it again: m3desk backends install {name}.")
    if _is_own(one):
        return Path(sys.executable)
    size = f"{one.variant().installed / 1e9:.1f} GB"
    hint = f"Install it ({size}): m3desk backends install {name}, or pip install 'm3desk[{name}]'."
    raise BackendMissing(f"The backend {name} is not installed.", hint)


def chosen_python(name: str, own: object = "") -> Path:
    """Return the interpreter for a backend: the user's own (its setting `python`: a file, or a command), or `python(name)`'s.

    Raises BackendMissing.
    """
    if not isinstance(own, str) or not own.strip():
        return python(name)
    found = shutil.which(str(Path(own.strip()).expanduser()))
    if found is None:
        raise BackendMissing(f"there is no interpreter {own.strip()}.", f"Set it: m3desk config set backends.{name}.python FILE")
    return Path(found)


def installed(name: str) -> bool:
    """Return whether a backend can be started."""
    try:
        python(name)
    except BackendMissing:
        return False
    return True


def changes() -> tuple[tuple[str, int], ...]:
    """Return a value that changes whenever a backend is installed or removed, by whichever program."""
    found = []
    with contextlib.suppress(OSError):
        for file in folder().glob("*/state.json"):
            with contextlib.suppress(OSError):
                found.append((file.parent.name, file.stat().st_mtime_ns))
    return tuple(sorted(found))


def state(name: str) -> State:
    """Return how a backend is on this machine. Raises UsageError for an unknown one."""
    one = recipe(name)
    noted = _noted(name)
    variant = one.variant(None)
    with contextlib.suppress(M3DeskError):
        variant = one.variant(noted.get("variant"))
    here = folder(name).is_dir()
    if here and _is_locked(name):
        now = "busy"
    elif noted.get("state") == "ready":
        now = "ready" if _runs(_interpreter(name)) else "damaged"
        if now == "ready" and noted.get("packages") != list(variant.pins):
            now = "outdated"
    elif here and any(folder(name).iterdir()):
        now = "interrupted"
    else:
        now = "own" if _is_own(one) else "missing"
    there = now in ("ready", "outdated", "damaged")
    path = str(folder(name)) if here else os.path.dirname(os.path.dirname(sys.executable)) if now == "own" else None  # noqa: PTH120
    return State(name, now, variant.name, int(noted.get("bytes") or 0) if there else 0, path, tuple(users(name)))


def rows() -> list[dict[str, Any]]:
    """Return what `m3desk backends list --json` prints: what each backend is and adds, its sizes and licences, and its state here."""
    listed = []
    for one in recipes():
        now = state(one.name)
        variant = one.variant(now.variant)
        what = {"title": one.title, "adds": one.adds, "licences": list(one.licences), "packages": list(variant.pins)}
        sizes = {"download_bytes": variant.download, "installed_bytes": now.installed or variant.installed, "measured": variant.measured}
        listed.append({**asdict(now), "used_by": list(now.used_by), **what, **sizes})
    return listed


def users(name: str) -> list[str]:
    """Return the programs that use a backend now, as “m3desk memorize film.mp4 (process 123)”."""
    return [f"{_command(pid)} (process {pid})" for pid in orphans.used_by(name)]


def _command(pid: int) -> str:
    if pid == os.getpid():
        return "this M3Desk"
    try:
        import psutil

        words = psutil.Process(pid).cmdline()
    except (ImportError, OSError, ValueError, psutil.Error):
        return "M3Desk"
    known = next(
        (k for k, word in enumerate(words) if Path(word).name in ("m3desk", "m3desk.exe") or word.endswith("m3desk/__main__.py")), None
    )
    return " ".join(("m3desk", *words[known + 1 : known + 3])) if known is not None else "M3Desk"


def _is_own(one: Recipe) -> bool:
    """Return whether this interpreter has the backend's packages (without importing them)."""
    try:
        return all(importlib.util.find_spec(module) is not None for module in one.imports)
    except (ImportError, ValueError):
        return False


def _interpreter(name: str) -> Path:
    inside = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    return folder(name).joinpath("environment", *inside)


def _runs(interpreter: Path) -> bool:
    return interpreter.exists()


def _noted(name: str) -> dict[str, Any]:
    try:
        noted = json.loads((folder(name) / "state.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return noted if isinstance(noted, dict) else {}


# ---------------------------------------------------------------- installing


def install(
    name: str,
    *,
    variant: str | None = None,
    index: str | None = None,
    progress: Progress = lambda _step, _done, _total: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> State:
    """Install a backend, or go on where an earlier try stopped. `index`: instead of the variant's own; "none": without one.

    Raises DownloadError (what is downloaded is kept for the next try), M3DeskError (no room: nothing is left), Busy, Cancelled, UsageError.
    """
    one = recipe(name)
    chosen = one.variant(variant or _noted(name).get("variant"))
    if one.systems and sys.platform not in one.systems:
        raise BackendMissing(
            f"The backend {name} runs on {', '.join(one.systems)} only.", "Use it on another machine, by the backend server."
        )
    end_orphans_once()
    with _locked(name):
        clear_removed()
        noted = _noted(name)
        if noted.get("state") == "ready":
            if noted.get("packages") == list(chosen.pins) and _runs(_interpreter(name)):
                return state(name)
            _refuse_if_used(name)
            _throw_away(folder(name))
        if noted.get("variant") not in (None, chosen.name) or noted.get("packages") not in (None, list(chosen.pins)):
            _throw_away(folder(name))
        _check_room(one, chosen)
        try:
            _Installation(one, chosen, index, progress, cancelled).run()
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                _full(name)
            raise DownloadError(
                f"{folder(name)} cannot be written ({error.strerror or error}).", "Check permissions, or set M3DESK_BACKENDS."
            ) from error
    return state(name)


class _Installation:
    """One try to install a backend."""

    def __init__(self, one: Recipe, variant: Variant, index: str | None, progress: Progress, cancelled: Callable[[], bool]) -> None:
        self.one, self.variant, self.progress, self.cancelled = one, variant, progress, cancelled
        self.index = variant.index if index is None else ("" if index == "none" else index)
        self.place = private.folder(folder(one.name))
        self.wheels = self.place / "wheels"
        self.temporary = self.place / "temporary"
        self.environment = self.place / "environment"
        self.began = time.monotonic()
        self._far = 0

    def run(self) -> None:
        if self._left_at() != "downloading" or not self.environment.is_dir():
            shutil.rmtree(self.environment, ignore_errors=True)
            self._note("preparing")
            self._make_environment()
        shutil.rmtree(self.temporary, ignore_errors=True)
        for made in (self.wheels, self.temporary):
            made.mkdir(exist_ok=True)
        self._note("downloading")
        if self.index:
            _answers(self.index)
        more = ["--extra-index-url", self.index] if self.index else []
        fetch = ["download", "--only-binary", ":all:", "--no-cache-dir", "-d", str(self.wheels), *more]
        local = ["install", "--no-index", "--find-links", str(self.wheels), "--no-compile", "--no-cache-dir"]
        sets = [(self.variant.packages, []), (self.variant.alone, ["--no-deps"])]
        for packages, option in sets:
            if packages:
                self._pip("downloading", [*fetch, *option, *packages])
        self._note("installing")
        for packages, option in sets:
            if packages:
                self._pip("installing", [*local, *option, *packages])
        if self.variant.without:
            self._pip("installing", ["uninstall", "--yes", *self.variant.without])
        for pattern in self.variant.strip:
            for file in self.environment.glob(f"**/site-packages/{pattern}"):
                file.unlink()
        self._note("checking")
        self._check()
        downloaded = _size(self.wheels)
        for done_with in (self.wheels, self.temporary):
            shutil.rmtree(done_with, ignore_errors=True)
        self._note("ready", bytes=_size(self.place), downloaded=downloaded, seconds=round(time.monotonic() - self.began))

    def _left_at(self) -> str:
        return str(_noted(self.one.name).get("state") or "")

    def _note(self, now: str, **more: Any) -> None:
        said = {
            "state": now,
            "variant": self.variant.name,
            "packages": list(self.variant.pins),
            "python": sys.version.split()[0],
            **more,
        }
        new = self.place / "state.json.new"
        private.write(new, json.dumps(said, indent=1).encode())
        new.replace(self.place / "state.json")

    def _make_environment(self) -> None:
        self.progress("preparing", 0, self._total())
        base = str(getattr(sys, "_base_executable", None) or sys.executable)
        code, said = self._child([base, "-I", *VENV, str(self.environment)], "preparing")
        if code:
            self._failed_if_full(said)
            last = next((line for line in reversed(said) if line.strip()), f"exit code {code}")
            needs = "On Debian and Ubuntu: apt install python3-venv." if "ensurepip" in " ".join(said) else ""
            raise M3DeskError(f"A Python environment can't be made in {self.place}: {last}", needs)

    def _pip(self, step: str, words: Sequence[str]) -> None:
        options = ["--disable-pip-version-check", "--no-input"]
        code, said = self._child([*pip(_interpreter(self.one.name)), *options, *words], step)
        if not code:
            return
        self._failed_if_full(said)
        errors = [line.strip() for line in said if line.strip().startswith(("ERROR", "error"))] or [
            line.strip() for line in said if line.strip()
        ]
        what = " ".join(errors[-2:]).replace("ERROR: ", "")[:400] or f"exit code {code}"
        again, away = (f"m3desk backends {word} {self.one.name}" for word in ("install", "remove"))
        hint = f"What was downloaded is kept. Go on: {again}. Or remove it: {away}."
        raise DownloadError(f"The backend {self.one.name} could not be installed: {what}", hint)

    def _child(self, command: Sequence[str], step: str) -> tuple[int, list[str]]:
        """Run a command under a guard, with progress; return its exit code and its last lines. Raises Cancelled."""
        env = {"TMPDIR": str(self.temporary), "TEMP": str(self.temporary), "TMP": str(self.temporary)} if step != "preparing" else {}
        child = Child(f"install-{self.one.name}", command, env=env, grace=3.0)
        try:
            looked = 0.0
            while not child.ended.wait(0.2):
                if self.cancelled():
                    raise Cancelled(
                        f"Installing {self.one.name} was stopped; what was downloaded is kept.",
                        f"Go on: m3desk backends install {self.one.name}. Or remove it: m3desk backends remove {self.one.name}.",
                    )
                if time.monotonic() - looked > 1.0:
                    looked = time.monotonic()
                    self._far = max(self._far, min(_size(self.place), self._total() - 1))  # what is thrown away was work, too
                    self.progress(f"{step}: {_what(child.log_tail(1))}", self._far, self._total())
        except BaseException:
            child.stop()
            raise
        return child.code or 0, child.log_tail(40)

    def _total(self) -> int:
        return self.variant.download + self.variant.installed

    def _failed_if_full(self, said: Sequence[str]) -> None:
        if any("No space left on device" in line or "Errno 28" in line or "Disk quota exceeded" in line for line in said):
            _full(self.one.name)

    def _check(self) -> None:
        """Import what must load, in the environment: else what is installed is of no use."""
        self._far = self._total() - 1
        self.progress("checking", self._far, self._total())
        words = "; ".join(f"import {module}" for module in self.one.imports)
        code, said = self._child([str(_interpreter(self.one.name)), "-I", "-c", words], "checking")
        if code:
            self._failed_if_full(said)
            last = next((line.strip() for line in reversed(said) if line.strip()), f"exit code {code}")
            self._note("interrupted")
            raise M3DeskError(f"The backend {self.one.name} is installed but does not load: {last[:300]}", f"See {paths.log_dir()}.")


def _answers(index: str) -> None:
    """Raise DownloadError where an index can't be reached: pip would try it again and again for each package."""
    import urllib.parse
    import urllib.request  # heavy, and every start of the program imports this module

    parts = urllib.parse.urlsplit(index)
    if not parts.hostname or urllib.request.getproxies().get(parts.scheme):
        return
    try:
        socket.create_connection((parts.hostname, parts.port or (80 if parts.scheme == "http" else 443)), 10).close()
    except OSError as error:
        hint = "Check the network, or name another: --index URL. With --index none, PyTorch may come with CUDA, several gigabytes."
        raise DownloadError(f"The package index {parts.hostname} does not answer ({error.strerror or error}).", hint) from error


def _what(lines: Sequence[str]) -> str:
    """Return pip's last line in a few words."""
    line = (lines[-1] if lines else "").strip()
    words = line.split()
    if line.startswith("Downloading") and len(words) > 1:
        return " ".join([words[1].rsplit("/", 1)[-1].split("-")[0], *words[2:4]])
    if line.startswith("Collecting") and len(words) > 1:
        return words[1]
    return line[:60]


def _check_room(one: Recipe, variant: Variant) -> None:
    """Raise M3DeskError where the disk has no room for what is still to come."""
    place = folder()
    while not place.exists() and place != place.parent:
        place = place.parent
    needed = max(0, variant.download + variant.installed + _SPARE - _size(folder(one.name)))
    free = shutil.disk_usage(place).free
    if free < needed:
        raise M3DeskError(
            f"The backend {one.name} needs {needed / 1e9:.1f} GB while it is installed; {folder()} has {free / 1e9:.1f} GB free.",
            "Make room, or choose another folder with M3DESK_BACKENDS.",
        )


def _full(name: str) -> NoReturn:
    _throw_away(folder(name))
    raise M3DeskError(
        f"The disk became full while {name} was installed; what was there of it is removed.",
        "Make room, or choose another folder with M3DESK_BACKENDS.",
    )


# ---------------------------------------------------------------- removing


def remove(name: str) -> bool:
    """Remove a backend with all that belongs to it; return whether there was anything. Raises Busy, UsageError, M3DeskError."""
    recipe(name)
    end_orphans_once()
    with _locked(name):
        _refuse_if_used(name)
        clear_removed()
        there = folder(name).is_dir()
        _throw_away(folder(name))
        return there


def _refuse_if_used(name: str) -> None:
    if using := users(name):
        raise Busy(f"The backend {name} is in use by {', '.join(using)}.", "Close it first, then try again.")


def _throw_away(place: Path) -> None:
    """Remove a folder at once for everybody (by another name), then its files."""
    if not place.is_dir():
        return
    away = place.with_name(f"{_REMOVED}{place.name}-{os.getpid()}-{time.monotonic_ns()}")
    try:
        place.replace(away)
    except OSError as error:
        raise Busy(
            f"{place} can't be removed ({error.strerror}).", "A program may have a file of it open; close it and try again."
        ) from error
    shutil.rmtree(away, ignore_errors=True)
    with contextlib.suppress(OSError):
        if away.exists():
            raise M3DeskError(f"Some files of {away} could not be removed.", "They are tried again at the next install or remove.")


def clear_removed() -> None:
    """Remove what an interrupted removal left."""
    with contextlib.suppress(OSError):
        for old in folder().glob(f"{_REMOVED}*"):
            shutil.rmtree(old, ignore_errors=True)


# ---------------------------------------------------------------- locks, sizes


@contextlib.contextmanager
def _locked(name: str) -> Any:
    """Hold a backend for installing or removing. Raises Busy if somebody else does."""
    try:
        lock = FileLock(private.folder(folder()) / f".{name}.lock")
    except Locked:
        raise Busy(f"The backend {name} is being installed or removed by another M3Desk.", "Wait until it has finished.") from None
    except OSError as error:
        raise DownloadError(f"{folder()} cannot be written ({error.strerror}).", "Check permissions, or set M3DESK_BACKENDS.") from error
    with lock:
        yield


def _is_locked(name: str) -> bool:
    file = folder() / f".{name}.lock"
    if not file.exists():
        return False
    try:
        FileLock(file).release()
    except (Locked, OSError):
        return True
    return False


def _size(place: Path) -> int:
    """Return the bytes of a folder's files, as the disk holds them; what vanishes meanwhile counts nothing."""
    total = 0
    waiting = [str(place)]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
    return total


__all__ = [
    "Busy",
    "Progress",
    "State",
    "changes",
    "clear_removed",
    "folder",
    "install",
    "installed",
    "python",
    "remove",
    "rows",
    "state",
    "users",
]
