"""Every error that M3Desk raises on purpose: each says what is wrong and gives a hint what to do.

M3DeskError
├── UsageError            the command or its arguments are wrong (exit 2)
├── SourceError           a video or sound file cannot be used
│   ├── SourceMissing     there is no such file
│   ├── SourceUnreadable  not a video or sound file, empty, or broken from the first byte
│   └── SourceChanged     the file is not the one that was memorized
├── MemoryProblem         a memory folder cannot be used
│   ├── MemoryMissing     there is no memory there
│   ├── MemoryBusy        another M3Desk is writing to it
│   ├── MemoryTooNew      written by a newer M3Desk
│   └── MemoryDamaged     the database itself cannot be read
├── ModelError            a model cannot be used
│   ├── ModelMissing      its weights are not on this machine
│   ├── BackendMissing    the library that runs it is not installed
│   └── ModelFailed       it ran and failed
├── DownloadError         weights or the demo clip could not be downloaded or verified
├── CorrectionError       a correction cannot be applied (unknown person, conflict, nothing to undo)
├── ImportProblem         a file to import is not what it says, or is hostile
│   └── WrongFile         it is a file of another kind
└── Cancelled             the user stopped it (exit 130 for Ctrl-C)
"""

from __future__ import annotations


class M3DeskError(Exception):
    """An error for the user: what is wrong (`str(error)`), what to do (`hint`), and the exit code of the command (`exit_code`)."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def line(self) -> str:
        """Return the one line a command prints: what was wrong and what to do."""
        return f"{self} {self.hint}".strip() if self.hint else str(self)


class UsageError(M3DeskError):
    exit_code = 2


class SourceError(M3DeskError):
    pass


class SourceMissing(SourceError):
    pass


class SourceUnreadable(SourceError):
    pass


class SourceChanged(SourceError):
    pass


class MemoryProblem(M3DeskError):
    pass


class FileLeft(MemoryProblem):
    """What was asked for is done, but a file that told of it can't be deleted."""


class MemoryMissing(MemoryProblem):
    pass


class MemoryBusy(MemoryProblem):
    pass


class MemoryTooNew(MemoryProblem):
    pass


class MemoryDamaged(MemoryProblem):
    pass


class ModelError(M3DeskError):
    pass


class ModelMissing(ModelError):
    pass


class BackendMissing(ModelError):
    pass


class ModelFailed(ModelError):
    pass


class DownloadError(M3DeskError):
    pass


class CorrectionError(M3DeskError):
    pass


class ImportProblem(M3DeskError):
    pass


class WrongFile(ImportProblem):
    pass


class Cancelled(M3DeskError):
    exit_code = 130


def is_slip(error: M3DeskError) -> bool:
    """Return whether what a user typed or chose can't be: then there is nothing to report to the developers."""
    return isinstance(error, (CorrectionError, UsageError, SourceMissing, MemoryMissing, MemoryBusy, WrongFile))


def line_of(error: BaseException) -> str:
    """Return the one line that tells the user of any error: with its hint, if it has one."""
    return error.line() if isinstance(error, M3DeskError) else str(error)


_BEGINS = frozenset([
    "a", "an", "another", "both", "clip", "fewer", "it", "its", "memories", "no", "nobody", "node", "none", "nothing", "one", "only",
    "replies", "several", "step", "stopped", "stopped.", "stopped;", "suggestion", "that", "the", "there", "this", "too", "two",
    "videos", "what", "you",
])  # fmt: skip
"""Words in small letters that messages begin with; any other in small letters is a name, of a file or a command."""


def as_sentence(message: str) -> str:
    """Return a message as it stands alone, in a window: messages are written to follow "m3desk: " in a terminal."""
    return message[:1].upper() + message[1:] if message.partition(" ")[0] in _BEGINS else message


def sentence_of(error: BaseException) -> str:
    """Return the one line that tells of any error (`line_of`) as it stands alone."""
    return as_sentence(line_of(error))
