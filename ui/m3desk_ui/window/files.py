"""Checks files that the user names, and asks where to write a file without overwriting another."""

from __future__ import annotations

import contextlib
import re
import stat
from pathlib import Path

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from m3desk.errors import MemoryProblem
from m3desk_ui.look import plain


def is_file(path: str | Path) -> bool:
    """Return whether a regular file exists; False for invalid names."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def is_playable(path: str | Path) -> bool:
    """Return whether a regular file exists, or the recording of a live source (a folder)."""
    return is_file(path) or is_file(Path(path) / "recording.json")


def check_name(path: str) -> None:
    """Raise MemoryProblem for a folder name that is not UTF-8 or too long."""
    name = plain.line(path, 2 * plain.ENTRY)
    try:
        path.encode()
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            if not stat.S_ISDIR(Path(path).stat().st_mode):
                raise MemoryProblem(f"{name} is a file.", "A memory is a folder NAME.m3desk that holds memory.sqlite.")
    except UnicodeEncodeError as error:
        raise MemoryProblem(f"The name of {name} is not UTF-8.", "Rename it (or its folder), and open it again.") from error
    except (OSError, ValueError) as error:
        raise MemoryProblem(f"There is no memory {name}.", "Check the path and its spelling.") from error


def is_memory(folder: str | Path) -> bool:
    """Return whether a folder is a memory, even a damaged one."""
    place = Path(folder)
    try:
        return is_file(place / "memory.sqlite") or (place.suffix == ".m3desk" and place.is_dir() and any(place.iterdir()))
    except (OSError, ValueError):
        return False


def memory_around(path: str | Path) -> Path | None:
    """Return the memory folder that contains (or is) a path, with links resolved; None if there is none."""
    try:
        place = Path(path).resolve()
        return next((p for p in (place, *place.parents) if p.suffix == ".m3desk" or (p / "memory.sqlite").exists()), None)
    except (OSError, ValueError, RuntimeError):
        return None


def where_to_write(parent: QWidget, head: str, suggested: str, kinds: str) -> str | None:
    """Ask the user where to write a file; None if cancelled.

    Nothing may be written into a memory folder, where it could overwrite the memory's own files. An existing file is replaced only after
    confirmation. A name without one of the extensions gets that of the chosen type.
    """
    asked, kind = QFileDialog.getSaveFileName(parent, plain.title(head), suggested, kinds, options=QFileDialog.Option.DontConfirmOverwrite)
    if not asked:
        return None
    path = Path(asked)
    endings = re.findall(r"\*(\.\w+)", kinds)
    if endings and path.suffix.lower() not in endings:
        path = Path(asked + next(iter(re.findall(r"\*(\.\w+)", kind)), endings[0]))
    memory = memory_around(path)
    if memory is not None:
        text = QCoreApplication.translate("Files", "%1 is inside a memory.").replace("%1", plain.line(path, 2 * plain.ENTRY))
        more = QCoreApplication.translate("Files", "The folder %1 belongs to M3Desk. Choose a place outside of it.")
        box = plain.box(parent, QMessageBox.Icon.Warning, head, text, more.replace("%1", plain.line(memory, 2 * plain.ENTRY)))
        box.addButton(QMessageBox.StandardButton.Ok)
        box.exec()
        return None
    if path.exists() or path.is_symlink():
        text = QCoreApplication.translate("Files", "Replace %1?").replace("%1", plain.line(path.name, 2 * plain.ENTRY))
        more = QCoreApplication.translate("Files", "A file with this name exists in %1. Its content will be lost.")
        more = more.replace("%1", plain.line(path.parent, 2 * plain.ENTRY))
        if not plain.sure(parent, head, text, more, QCoreApplication.translate("Files", "Replace")):
            return None
    return str(path)
