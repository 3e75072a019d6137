"""Model weights: the catalogue (resources/models.toml), what is installed, and how the rest is downloaded and verified."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import shutil
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from m3desk import licences, paths, repositories
from m3desk.errors import Cancelled, DownloadError, M3DeskError, ModelMissing, UsageError
from m3desk.fetch import Advance, Fetcher, digest
from m3desk.locks import FileLock, Locked

_MARK = ".verified.json"
_RECORD = ".recorded.json"
_CACHE = ".fetching"

# Room for one archive in use beside what is written, and for the file system.
_SPARE_BYTES = 150_000_000


class DownloadProgress(Protocol):
    """Receives the download progress of a model in bytes. `state`: "working", "done", "failed"."""

    def __call__(self, name: str, done: int, total: int, state: str = "working", error: str | None = None) -> None: ...


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model. `sources`: alternatives in order of preference, each a tuple of references whose contents are joined.

    `sha256` is "" for a file that we could not verify, until its first download, which records both; `bytes` is about its size till then.
    """

    name: str
    bytes: int
    sha256: str
    sources: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One model. `profile`: "embedded", "llm" or "demo". `shipped`: part of every installation, never downloaded.

    `terms`: what the user must accept first, such as “for research only”; "" for nothing. `verified`: its sha256 is known to us.
    `repository`, `commit`: of a model that is a whole repository on the hub, whose files are known from the first download on; `about`: its
    size in bytes till then.
    """

    name: str
    title: str
    version: str
    profile: str
    licence: str
    origin: str
    files: tuple[ModelFile, ...]
    shipped: bool = False
    terms: str = ""
    verified: bool = True
    repository: str = ""
    commit: str = ""
    about: int = 0

    @property
    def bytes(self) -> int:
        return sum(f.bytes for f in self.files) if self.files else self.about

    @property
    def sha256(self) -> str:
        """The sha256 of its largest file."""
        return max(self.files, key=lambda f: f.bytes).sha256 if self.files else ""

    @property
    def folder(self) -> Path:
        return paths.resources() / "models" if self.shipped else folder() / self.name

    @property
    def reference(self) -> str:
        """How `pull` is told of it: its name, or its repository and commit if it is not in the catalogue."""
        return f"{self.repository}@{self.commit}" if self.profile == "own" else self.name

    @property
    def command(self) -> str:
        """The command that downloads it."""
        return {"embedded": "m3desk models pull", "llm": "m3desk models pull --llm"}.get(
            self.profile, f"m3desk models pull {self.reference}"
        )

    @property
    def accepted(self) -> bool:
        """Whether the user accepted its terms, if it has any."""
        return licences.accepted(self.name, self.terms)


def folder() -> Path:
    """Return the folder of a model's downloaded weights."""
    return paths.models_dir()


def catalogue() -> tuple[ModelEntry, ...]:
    """Return every model that models.toml lists, in its order; what it leaves open as the first download recorded it."""
    listed = tuple(_as_known(m) for m in _listed())
    return (*listed, *_own({m.name for m in listed}))


def _as_known(model: ModelEntry) -> ModelEntry:
    """Return a model with what its first download recorded."""
    if model.repository and (listing := repositories.kept(model.folder)) is not None:
        files = tuple(ModelFile(name, size, sha256, ((listing.address(name),),)) for name, size, sha256 in listing.files)
        model = replace(model, files=files, commit=listing.commit)
    return model if model.verified else replace(model, files=_recorded(model))


def _own(known: set[str]) -> Iterator[ModelEntry]:
    """Yield the repositories that the user downloaded by themselves."""
    for file in sorted(folder().glob(f"*/{repositories.LISTING}")):
        if file.parent.name not in known and (listing := repositories.kept(file.parent)) is not None:
            yield _as_known(_of_repository(listing.repository, listing.commit, listing.licence))


def _of_repository(repository: str, commit: str, licence: str) -> ModelEntry:
    name = repositories.folder_name(repository, commit)
    origin = f"https://huggingface.co/{repository}"
    return ModelEntry(
        name, f"{repository}, chosen by you", commit[:7], "own", licence, origin, (), verified=False, repository=repository, commit=commit
    )


def _recorded(model: ModelEntry) -> tuple[ModelFile, ...]:
    try:
        noted = json.loads((model.folder / _RECORD).read_text("utf-8"))
        known = {str(name): (int(size), str(sha256)) for name, (size, sha256) in noted.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        known = {}
    return tuple(f if f.sha256 or f.name not in known else replace(f, bytes=known[f.name][0], sha256=known[f.name][1]) for f in model.files)


def _record(model: ModelEntry, f: ModelFile, size: int, sha256: str) -> None:
    """Keep what the first download of a file gave: later it is verified against that."""
    noted = {g.name: [g.bytes, g.sha256] for g in _recorded(model) if g.sha256 and g.name != f.name}
    (model.folder / _RECORD).write_text(json.dumps({**noted, f.name: [size, sha256]}), "utf-8")


@cache
def _listed() -> tuple[ModelEntry, ...]:
    return tuple(
        ModelEntry(
            m["name"],
            m["title"],
            m["version"],
            m["profile"],
            m["licence"],
            m["origin"],
            files=tuple(ModelFile(f["name"], f["bytes"], f["sha256"], tuple(map(tuple, f.get("sources", ())))) for f in m.get("file", ())),
            shipped=m.get("shipped", False),
            terms=m.get("terms", ""),
            verified="file" in m and all(f["sha256"] for f in m["file"]),
            repository=m.get("repository", ""),
            commit=m.get("commit", ""),
            about=m.get("bytes", 0),
        )
        for m in _toml()["model"]
    )


@cache
def _toml() -> dict[str, Any]:
    with (paths.resources() / "models.toml").open("rb") as stream:
        return tomllib.load(stream)


def entry(name: str) -> ModelEntry:
    """Return a model by its name, or a repository by `ORG/NAME@COMMIT`. Raises UsageError when there is none."""
    given = repositories.parsed(name)
    wanted = repositories.folder_name(*given) if given is not None else name
    for m in catalogue():
        if m.name == wanted:
            return m
    if given is not None:
        return _of_repository(*given, "not known before its files are")
    raise UsageError(f"There is no model “{name}”.", f"There are: {', '.join(m.name for m in catalogue())}.")


# ---------------------------------------------------------------- what is here


def state(model: ModelEntry) -> str:
    """Return "shipped", "ready", "incomplete" (part of it is here), "damaged" (a wrong size) or "missing", by file sizes only."""
    if not model.files:
        return "missing"
    sizes = [_size(model.folder / f.name) if f.sha256 else None for f in model.files]
    if any(size not in (None, f.bytes) for size, f in zip(sizes, model.files, strict=True)):
        return "damaged"
    if None not in sizes:
        return "shipped" if model.shipped else "ready"
    begun = any(size is not None for size in sizes) or any((folder() / _CACHE / model.name).glob("*"))
    return "incomplete" if begun else "missing"


def _size(file: Path) -> int | None:
    try:
        return file.stat().st_size
    except OSError:
        return None


def rows() -> list[dict[str, Any]]:
    """Return the rows of `m3desk models list --json` (contract.md); `path` is None for what is not installed.

    `calibrated`: what the user measured of it (`calibrated.Measured.summary`), None if nothing. The name of such a model ends with the
    first 8 digits of its file's sha256.
    """
    from m3desk import calibrated  # not at the top: it imports numpy, which nothing else here needs

    listed = []
    own = calibrated.all_own()
    for m in catalogue():
        now = state(m)
        place = str(m.folder / m.files[0].name if m.shipped else m.folder) if now in ("shipped", "ready") else None
        listed.append(
            {
                "name": m.name,
                "version": m.version,
                "profile": m.profile,
                "bytes": m.bytes,
                "licence": m.licence,
                "sha256": m.sha256,
                "state": now,
                "path": place,
                "title": m.title,
                "origin": m.origin,
                "verified": m.verified,
                "terms": m.terms,
                "accepted": m.accepted,
                "calibrated": next((c.summary() for c in own for f in m.files if f.sha256 and c.model.endswith(f"-{f.sha256[:8]}")), None),
                "files": [{"name": f.name, "bytes": f.bytes, "sha256": f.sha256} for f in m.files],
            }
        )
    return listed


def weights(name: str) -> Path:
    """Return the path of a model's verified weights: the file of a shipped model, else its folder.

    A file is hashed on first use, and again when its size or modification time changes.
    Raises ModelMissing if it is missing or damaged, UsageError if the model is unknown.
    """
    model = entry(name)
    now = state(model)
    if now in ("missing", "incomplete"):
        how_much = f"{model.bytes / 1e6:.0f} MB"
        raise ModelMissing(f"The weights of {name} are not on this machine ({how_much}).", f"Download them: {model.command}")
    if not model.accepted:
        raise ModelMissing(f"The licence of {name} was not accepted on this machine.", f"Read and accept it: {model.command}")
    wrong = _wrong_files(model)
    if wrong:
        again = f"Remove and download it again: m3desk models remove {name}, then {model.command}"
        hint = "Install M3Desk again." if model.shipped else again
        raise ModelMissing(f"The weights of {name} are damaged: {', '.join(wrong)}.", hint)
    return model.folder / model.files[0].name if model.shipped else model.folder


_checked: dict[Path, tuple[int, int, str]] = {}


def _wrong_files(model: ModelEntry, afresh: bool = False) -> list[str]:
    """Return the names of files that differ from models.toml; `afresh`: hash again what was hashed before."""
    mark = model.folder / _MARK
    known: dict[str, Any] = {}
    if not model.shipped and not afresh:
        with contextlib.suppress(OSError, ValueError):
            known = json.loads(mark.read_text("utf-8"))
    wrong: list[str] = []
    seen: dict[str, list[Any]] = {}
    for f in model.files:
        file = model.folder / f.name
        if not f.sha256:  # never downloaded here
            wrong.append(f.name)
            continue
        try:
            stat = file.stat()
            stamp: list[Any] = [stat.st_size, stat.st_mtime_ns, f.sha256]
            good = stat.st_size == f.bytes and (known.get(f.name) == stamp or (not afresh and _checked.get(file) == tuple(stamp)))
            good = good or (stat.st_size == f.bytes and digest(file) == f.sha256)
        except OSError:
            good = False
        if good:
            seen[f.name] = stamp
            _checked[file] = (stamp[0], stamp[1], stamp[2])
        else:
            wrong.append(f.name)
    if not model.shipped and seen != known:
        with contextlib.suppress(OSError):  # a folder that can't be written only means hashing again
            mark.write_text(json.dumps(seen), "utf-8")
    return wrong


def verify() -> list[str]:
    """Hash all installed weights and return the problems, one line each; models that were never downloaded are no problem."""
    problems = []
    for m in catalogue():
        now = state(m)
        if now == "missing":
            if m.shipped:
                problems.append(f"{m.name}: its file is missing from the installation. Install M3Desk again.")
        elif now == "incomplete":
            problems.append(f"{m.name}: partly downloaded. Download the rest: {m.command}")
        elif wrong := _wrong_files(m, afresh=True):
            fix = "Install M3Desk again." if m.shipped else f"m3desk models remove {m.name}, then {m.command}"
            problems.append(f"{m.name}: {', '.join(wrong)} is damaged (sha256 differs). {fix}")
    return problems


def remove(name: str) -> None:
    """Delete downloaded weights. Raises UsageError for a shipped model, ModelMissing when there is nothing to delete."""
    model = entry(name)
    if model.shipped:
        raise UsageError(f"{name} is part of M3Desk and cannot be removed.", "Downloaded models can: see m3desk models list.")
    there = [place for place in (model.folder, folder() / _CACHE / name) if place.exists()]
    if not there:
        raise ModelMissing(f"{name} is not installed.", "See m3desk models list.")
    for place in there:
        shutil.rmtree(place)


# ---------------------------------------------------------------- downloading


def plan_pull(names: Sequence[str] = (), profile: str | None = None, llm: bool = False) -> list[ModelEntry]:
    """Return the missing ones of the named models, or of a profile's (default: embedded; `llm`: the language model too).

    Raises UsageError for an unknown name or profile.
    """
    if names:
        chosen = [entry(name) for name in dict.fromkeys(names)]
    else:
        wanted = profile or "embedded"
        sets = {m.profile for m in catalogue()}
        if wanted not in sets:
            raise UsageError(f"No weights belong to the profile “{wanted}”.", f"There are weights for: {', '.join(sorted(sets))}.")
        chosen = [m for m in catalogue() if m.profile == wanted]
    if llm:
        chosen += [m for m in catalogue() if m.profile == "llm" and m not in chosen]
    return [m for m in chosen if not m.shipped and state(m) != "ready"]


def pull(
    names: Sequence[str] = (),
    *,
    profile: str | None = None,
    llm: bool = False,
    progress: DownloadProgress = lambda *_args, **_more: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[str]:
    """Download, join and verify the models that `plan_pull` lists; return their names. An interrupted run is continued.

    Raises DownloadError if all sources of a model fail or the disk is full, Cancelled, UsageError (also for terms not accepted yet).
    """
    needed = plan_pull(names, profile, llm)
    for model in needed:
        if not model.accepted:
            raise UsageError(f"{model.name}: {model.terms}", f"To accept this: m3desk models pull {model.name} --accept-licence.")
    if not needed:
        return []
    with _alone():
        needed = [_with_files(model, cancelled) for model in needed]
        _check_room(needed)
        for model in needed:
            _pull_one(model, progress, cancelled)
    return [m.name for m in needed]


def _with_files(model: ModelEntry, cancelled: Callable[[], bool]) -> ModelEntry:
    """Return a model with the files of its repository, asked for now if they are not known yet. Raises DownloadError, Cancelled."""
    if not model.repository or model.files:
        return model
    fetcher = Fetcher(folder() / _CACHE / model.name, cancelled, {}, _dead)
    told = fetcher.text(repositories.listing_address(model.repository, model.commit))
    listing = repositories.read_listing(told, model.repository, model.commit)
    try:
        repositories.keep(listing, model.folder)
    except OSError as error:
        raise DownloadError(f"{model.folder} cannot be written ({error.strerror}).", "Check permissions, or set M3DESK_MODELS.") from error
    return _as_known(replace(model, licence=listing.licence) if model.profile == "own" else model)


def _check_room(needed: Sequence[ModelEntry]) -> None:
    missing = sum(f.bytes for m in needed for f in m.files if _size(m.folder / f.name) != f.bytes)
    begun = sum(f.stat().st_size for m in needed for f in (folder() / _CACHE / m.name).rglob("*.joined*") if f.suffix != ".steps")
    wanted = max(0, missing - begun) + _SPARE_BYTES
    place = folder()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < wanted:
        raise DownloadError(
            f"Not enough disk space for the weights: {wanted / 1e9:.2f} GB are needed in {folder()}, {free / 1e9:.2f} GB are free.",
            "Free disk space, or choose another folder with M3DESK_MODELS.",
        )


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Hold the download lock. Raises DownloadError if another M3Desk holds it."""
    place = folder() / _CACHE
    try:
        place.mkdir(parents=True, exist_ok=True)
        lock = FileLock(place / "lock")
    except Locked as error:
        raise DownloadError("Another M3Desk is downloading weights.", "Wait until it is done.") from error
    except OSError as error:
        raise DownloadError(f"{place} cannot be written ({error.strerror}).", "Check permissions, or set M3DESK_MODELS.") from error
    with lock:
        yield


def _pull_one(model: ModelEntry, progress: DownloadProgress, cancelled: Callable[[], bool]) -> None:
    pinned = {name: (p["bytes"], p["sha256"]) for name, p in _toml().get("package", {}).items()}
    fetcher = Fetcher(folder() / _CACHE / model.name, cancelled, pinned, _dead)
    wrong = _wrong_files(model)
    missing = [f for f in model.files if f.name in wrong]
    report = _Report(model, progress, done=model.bytes - sum(f.bytes for f in missing))
    try:
        model.folder.mkdir(parents=True, exist_ok=True)
        alone = [f for f in missing if not _is_plain(f)]
        _pull_several(model, [f for f in missing if _is_plain(f)], fetcher, report)
        for i, f in enumerate(alone):
            later = {reference.partition("#")[0] for g in alone[i + 1 :] for source in g.sources for reference in source}
            _pull_file(model, f, fetcher, report, later)
    except OSError as error:
        failure = DownloadError(
            f"{error.filename or folder()} cannot be written ({error.strerror or error}).", "Make room or check permissions."
        )
        progress(model.name, report.done, model.bytes, "failed", failure.line())
        raise failure from error
    except M3DeskError as error:
        progress(model.name, report.done, model.bytes, "failed", error.line())
        raise
    shutil.rmtree(fetcher.cache, ignore_errors=True)
    _wrong_files(entry(model.name))  # leaves the mark, so that the first use needs no hashing
    progress(model.name, model.bytes, model.bytes, "done")


_SEVERAL = 4
"""Files downloaded at a time: one connection rarely fills the line."""


def _is_plain(f: ModelFile) -> bool:
    """Return whether a file is no part of an archive, which several files may share."""
    return all(len(source) == 1 and "#" not in source[0] for source in f.sources)


def _pull_several(model: ModelEntry, files: Sequence[ModelFile], fetcher: Fetcher, report: _Report) -> None:
    """Download files, several at a time; when one fails the others stop, too, and keep what they have."""
    stop = threading.Event()
    asked = fetcher.cancelled
    shared = replace(fetcher, cancelled=lambda: stop.is_set() or asked())
    with ThreadPoolExecutor(min(_SEVERAL, max(1, len(files))), thread_name_prefix="download") as pool:
        waiting = [pool.submit(_pull_file, model, f, shared, report, set()) for f in files]
        try:
            for done in as_completed(waiting):
                done.result()
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


_dead: dict[str, str] = {}
"""Hosts that did not answer in this process: asked once, not once a file."""


def _pull_file(model: ModelEntry, f: ModelFile, fetcher: Fetcher, report: _Report, later: set[str]) -> None:
    """Download one file from the first source that gives the right bytes, and move it into place atomically."""
    reasons: list[str] = []
    for number, source in enumerate(f.sources):
        joined = fetcher.cache / f"{f.name}.{number}.joined"
        try:
            limit = f.bytes if f.sha256 else 2 * f.bytes
            _join(source, joined, limit, fetcher, lambda share: report.tell(f.name, round(share * f.bytes)), later)
            came = digest(joined, fetcher.cancelled)
            if not f.sha256:
                with _recording:
                    _record(model, f, joined.stat().st_size, came)
            elif came != f.sha256:
                joined.unlink()
                _steps(joined).unlink(missing_ok=True)
                raise DownloadError(f"{source[0]}: the bytes are not those expected (sha256 differs), so they were deleted.")
            target = model.folder / f.name
            target.parent.mkdir(parents=True, exist_ok=True)
            joined.replace(target)
            stat = target.stat()
            _checked[target] = stat.st_size, stat.st_mtime_ns, came  # hashed once is enough
            for rest in (fetcher.cache / f.name).parent.glob(f"{glob.escape(Path(f.name).name)}.*"):
                rest.unlink()
            report.tell(f.name, f.bytes)
            return
        except Cancelled:
            raise
        except DownloadError as error:
            reasons.append(str(error))
    raise DownloadError(
        f"{model.name}: {f.name} could not be downloaded. {' '.join(reasons)}",
        f"Check the network (proxy, certificates) and repeat: {model.command}. What was downloaded is kept.",
    )


_recording = threading.Lock()


def _steps(joined: Path) -> Path:
    return joined.with_name(joined.name + ".steps")


def _join(source: Sequence[str], joined: Path, limit: int, fetcher: Fetcher, share: Callable[[float], None], later: set[str]) -> None:
    """Write the parts of a source one after another and record progress after each; an archive is deleted when fully used.

    `limit`: the size of the file in bytes; a source that gives more is rejected at once.
    """
    joined.parent.mkdir(parents=True, exist_ok=True)
    parts, size = 0, 0
    with contextlib.suppress(OSError, ValueError):
        parts, size = json.loads(_steps(joined).read_text("utf-8"))
    if (_size(joined) or 0) < size or parts > len(source):
        parts, size = 0, 0
    if len(source) == 1 and "#" not in source[0]:
        fetcher.download(source[0], joined, advance=lambda done, total: share(done / max(total, done, 1)), limit=limit)
        return
    with joined.open("r+b" if joined.is_file() else "w+b") as out:
        out.truncate(size)
        out.seek(size)
        for number in range(parts, len(source)):
            so_far: Advance = lambda done, total, n=number: share((n + done / max(total, done, 1)) / len(source))  # type: ignore[misc] # noqa: E731
            fetcher.fetch(source[number], out, limit - out.tell(), so_far)
            out.flush()
            os.fsync(out.fileno())
            _steps(joined).write_text(json.dumps([number + 1, out.tell()]), "utf-8")
            address = source[number].partition("#")[0]
            if address not in later:
                fetcher.cached(address).unlink(missing_ok=True)


class _Report:
    """Reports the progress of one model, at most a few times a second. Thread-safe."""

    def __init__(self, model: ModelEntry, progress: DownloadProgress, done: int) -> None:
        self._before = done
        self._files: dict[str, int] = {}
        self._lock = threading.Lock()
        self._model, self._progress, self._last = model, progress, 0.0

    @property
    def done(self) -> int:
        return min(self._before + sum(self._files.values()), self._model.bytes)

    def tell(self, file: str, here: int) -> None:
        with self._lock:
            self._files[file] = here
            now = time.monotonic()
            if now - self._last >= 0.2:
                self._last = now
                self._progress(self._model.name, self.done, self._model.bytes)
