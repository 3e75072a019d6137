"""Model repositories on a hub (huggingface.co, or `HF_ENDPOINT`): which files belong to a model, at a pinned commit, and the user's token.

Only weights that hold no code are listed, and the JSON and text files beside them; nothing else is ever downloaded. A listing is asked for
once, before the first download, and kept in the model's folder: from then on the model is these files.
"""

from __future__ import annotations

import json
import os
import re
import urllib.parse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from m3desk.errors import DownloadError, UsageError

LISTING = ".repository.json"

WANTED = re.compile(r"\.(safetensors|gguf|json|jinja)$|(^|/)(merges|vocab|added_tokens|LICENSE|NOTICE)(\.txt)?$")
"""Safetensors and GGUF hold numbers only. `.bin`, `.ckpt`, `.py`, `.yaml` may run code when they are loaded."""

MOST_FILES, MOST_BYTES = 2_000, 2_000_000_000_000
_NAME = re.compile(r"[A-Za-z0-9_][\w.+-]*(/[A-Za-z0-9_][\w.+-]*)*")
_REPOSITORY = re.compile(r"([A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95})@([0-9a-f]{40})")


@dataclass(frozen=True, slots=True)
class Listing:
    """A repository at a commit. `files`: name, bytes and sha256 of each ("" where the hub tells none: small files)."""

    repository: str
    commit: str
    licence: str
    files: tuple[tuple[str, int, str], ...]

    def address(self, name: str) -> str:
        """Return where a file of it is downloaded: at its commit, so that it can't change."""
        return f"{hub()}/{self.repository}/resolve/{self.commit}/{urllib.parse.quote(name)}"


def hub() -> str:
    """Return the hub's address."""
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")


def token(url: str) -> str | None:
    """Return the user's token for an address of the hub (`HF_TOKEN`, or the file that the hub's own tool keeps it in); None for any other.

    It goes to the hub alone, and only encrypted or to this machine itself.
    """
    at, ours = urllib.parse.urlsplit(url), urllib.parse.urlsplit(hub())
    if (at.scheme, at.netloc) != (ours.scheme, ours.netloc) or not (
        at.scheme == "https" or at.hostname in ("127.0.0.1", "localhost", "::1")
    ):
        return None
    if given := os.environ.get("HF_TOKEN"):
        return given.strip() or None
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "huggingface"
    try:
        return (Path(os.environ.get("HF_TOKEN_PATH") or Path(home) / "token")).read_text("utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def parsed(name: str) -> tuple[str, str] | None:
    """Return repository and commit of a name such as `org/name@COMMIT`; None for the name of a model. Raises UsageError."""
    if "/" not in name:
        return None
    found = _REPOSITORY.fullmatch(name)
    if found is None:
        raise UsageError(
            f"“{name[:120]}” names no repository.", "Write ORG/NAME@COMMIT, the commit with its 40 digits (on the hub: “History”)."
        )
    return found[1], found[2]


def listing_address(repository: str, commit: str) -> str:
    """Return the address that tells the files of a repository; of a commit that is known by its first digits only: of the newest."""
    return f"{hub()}/api/models/{repository}/revision/{commit if len(commit) == 40 else 'main'}?blobs=true"


def read_listing(answer: str, repository: str, commit: str) -> Listing:
    """Read the hub's answer. Raises DownloadError if it can't be used, or the newest commit is another one."""
    try:
        told: dict[str, Any] = json.loads(answer)
        at = str(told["sha"])
        files = tuple(
            (str(s["rfilename"]), int(s.get("size") or 0), str((s.get("lfs") or {}).get("sha256") or ""))
            for s in told["siblings"]
            if WANTED.search(str(s["rfilename"]))
        )
        licence = str((told.get("cardData") or {}).get("license") or "not stated")[:60]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DownloadError(f"{repository}: the hub's answer can't be read ({type(error).__name__}).") from error
    if not re.fullmatch(r"[0-9a-f]{40}", at) or not at.startswith(commit):
        raise DownloadError(
            f"{repository}: the version {commit[:7]} that M3Desk names is not its newest any more ({at[:7]}).",
            f"Look at what changed, then name the one you want: m3desk models pull {repository}@COMMIT",
        )
    listing = Listing(repository, at, licence, files)
    if fault := _fault(listing):
        raise DownloadError(f"{repository}: {fault}.", "It can't be downloaded.")
    return listing


def _fault(listing: Listing) -> str:
    names = [name for name, _, _ in listing.files]
    if not any(name.endswith((".safetensors", ".gguf")) for name in names):
        return "it holds no weights as safetensors or GGUF, the two forms that can hold no program"
    if len(names) > MOST_FILES or sum(size for _, size, _ in listing.files) > MOST_BYTES:
        return "it is larger than any model"
    wrong = next((n for n in names if not _NAME.fullmatch(n) or ".." in n.split("/") or len(n) > 200), None)
    return f"the file name “{wrong[:60]}” is not safe" if wrong is not None else ""


def keep(listing: Listing, folder: Path) -> None:
    """Keep a listing in the model's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {"repository": listing.repository, "commit": listing.commit, "licence": listing.licence, "files": listing.files}
    (folder / LISTING).write_text(json.dumps(told), "utf-8")


def kept(folder: Path) -> Listing | None:
    """Return the listing of a model's folder; None where there is none that can be used."""
    try:
        told = json.loads((folder / LISTING).read_text("utf-8"))
        files = tuple((str(name), int(size), str(sha256)) for name, size, sha256 in told["files"])
        listing = Listing(str(told["repository"]), str(told["commit"]), str(told["licence"]), files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return None if _fault(listing) else listing


def folder_name(repository: str, commit: str) -> str:
    """Return the name of a model that is not in the catalogue."""
    return f"{repository.replace('/', '--')}-{commit[:7]}"
