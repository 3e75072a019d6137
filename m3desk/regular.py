"""Opens files that a user names: regular files only, never a FIFO or device.

Opening a FIFO waits for a writer, reading a device may never end, and both can have side effects. So the type is checked first
(`stat`), the file is opened without blocking, and the open file is checked again, because the name may point elsewhere by then.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from m3desk.errors import M3DeskError, SourceMissing, SourceUnreadable

_FLAGS = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"):  # each system has some of these
    _FLAGS |= getattr(os, _name, 0)

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)

Problem = type[M3DeskError]


def open_regular(path: str | Path, problem: Problem = SourceUnreadable, missing: Problem = SourceMissing) -> BinaryIO:
    """Open a regular file for reading bytes; never blocks.

    Raises `missing` if there is no such file, `problem` if it is not a regular file (folder, named pipe, device …) or not readable.
    """
    try:
        _must_be_regular(path, Path(path).stat().st_mode, problem)
        handle = os.open(path, _FLAGS)
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have (a zero byte, half a surrogate pair)
        raise _said(path, error, problem, missing) from error
    try:
        _must_be_regular(path, os.fstat(handle).st_mode, problem)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def check_regular(path: str | Path, problem: Problem = SourceUnreadable, missing: Problem = SourceMissing) -> os.stat_result:
    """Return the `stat` of a readable regular file. Raises as `open_regular` does."""
    with open_regular(path, problem, missing) as file:
        return os.fstat(file.fileno())


def is_regular(path: str | Path) -> bool:
    """Return whether a regular file exists, without opening it; False for invalid names."""
    try:
        return stat.S_ISREG(Path(path).stat().st_mode)
    except (OSError, ValueError):
        return False


def read_regular(path: str | Path, limit: int, problem: Problem = SourceUnreadable, missing: Problem = SourceMissing) -> bytes:
    """Return a file's content. Raises as `open_regular` does, and `problem` for more than `limit` bytes."""
    with open_regular(path, problem, missing) as file:
        try:
            content = file.read(limit + 1)
        except OSError as error:
            raise _said(path, error, problem, missing) from error
    if len(content) > limit:
        raise problem(f"{Path(path).name} is larger than {limit / 1e6:,.0f} MB.", "Give a smaller file.")
    return content


def read_text(path: str | Path, limit: int, problem: Problem = SourceUnreadable, missing: Problem = SourceMissing) -> str:
    """Return a file's UTF-8 text without its byte order mark. Raises as `read_regular` does, and `problem` if it is not UTF-8."""
    content = read_regular(path, limit, problem, missing)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise problem(f"{Path(path).name} is not a text file (UTF-8).", "Check that you gave the right file.") from error


def check_name(path: str | Path, problem: Problem = SourceUnreadable) -> None:
    """Raise `problem` for a path that is not valid UTF-8: databases and JSON can't store it, though Linux allows it."""
    whole = str(Path(path).absolute())
    try:
        whole.encode()
    except UnicodeEncodeError as error:
        shown = whole.encode("utf-8", "backslashreplace").decode()
        raise problem(f"The name of {shown} is not UTF-8.", "Rename it (or its folder), and give it again.") from error


def _must_be_regular(path: str | Path, mode: int, problem: Problem) -> None:
    if stat.S_ISREG(mode):
        return
    kind = next((words for test, words in _KINDS if test(mode)), "something else")
    hint = "Name the folder's files one by one." if stat.S_ISDIR(mode) else "Copy its output into a file, and use that file."
    raise problem(f"{path} is {kind}, not a file.", hint)


def _said(path: str | Path, error: Exception, problem: Problem, missing: Problem) -> M3DeskError:
    if isinstance(error, ValueError):
        return missing(f"There is no file {str(path)!r}: the name is not valid.", "Check the path and its spelling.")
    number = getattr(error, "errno", None)
    if number in (errno.ENOENT, errno.ENOTDIR):
        return missing(f"There is no file {path}.", "Check the path and its spelling.")
    if number in (errno.EACCES, errno.EPERM):
        return problem(f"You may not read {path}.", "Ask its owner, or change its permissions.")
    return problem(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.", "Check the path and the disk.")
