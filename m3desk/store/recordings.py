"""The folders of a memory's recordings: deleted with their source, as a whole or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = "recordings"
"""The folder of a memory in which the recordings of its live sources are."""

_REMOVED = ".removed"


def is_ours(memory: Path, uri: str) -> bool:
    """Return whether a path is that of a recording which this memory keeps, never a file of the user."""
    folder = Path(uri)
    return bool(uri) and folder.absolute().parent == (memory / FOLDER).absolute() and folder.is_dir()


@contextmanager
def deleting(memory: Path, uri: str) -> Iterator[Callable[[], None]]:
    """Put a recording aside, and give the function that deletes it; if that is not called, it is put back.

    Does nothing for a path outside of this memory's recordings: a file of the user.
    """
    folder = Path(uri)
    if not is_ours(memory, uri):
        yield lambda: None
        return
    aside = folder.with_name(folder.name + _REMOVED)
    folder.rename(aside)
    deleted = False

    def delete() -> None:
        nonlocal deleted
        deleted = True
        shutil.rmtree(aside, ignore_errors=True)

    try:
        yield delete
    finally:
        if not deleted:
            aside.rename(folder)


def tidy(memory: Path, uris: Collection[str]) -> None:
    """Delete what was put aside and has no source any more, and put back what has one (`uris`: of the sources)."""
    for aside in sorted((memory / FOLDER).glob("*" + _REMOVED)):
        folder = aside.with_name(aside.name.removesuffix(_REMOVED))
        if str(folder.absolute()) in uris:
            aside.rename(folder)
        else:
            shutil.rmtree(aside, ignore_errors=True)
