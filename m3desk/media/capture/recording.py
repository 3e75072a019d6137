"""A recording on disk: a folder of short MPEG-TS segments on one continuous time line, playable after a crash.

```
recording.json    what it is (About): written when it starts and when it ends
segments.jsonl    the journal: a line for each closed segment, and for each change afterwards; only ever appended to
000001.ts …       the segments; the newest may still grow
```
Times are microseconds from the start of the session, over all segments; pauses, lost capture and erased spans are gaps. The segment that
no line of the journal names is the one that is being written, or was when the recorder died: it is found by reading it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from m3desk import private
from m3desk.domain.live import Keep
from m3desk.errors import SourceError, SourceMissing, SourceUnreadable
from m3desk.locks import FileLock
from m3desk.media.capture.transport import PACKET, Scanner, without
from m3desk.regular import open_regular, read_regular

FORMAT = 1
ABOUT = "recording.json"
JOURNAL = "segments.jsonl"
LOCK = "lock"
CHANGING = "changing"
"""Locked while segments are erased or dropped: two who do that at once would delete each other's new files."""

_SEGMENT = re.compile(r"(\d{6,})(?:-(\d+))?\.ts")
_MOST_ABOUT = 100_000
_MOST_JOURNAL = 256 << 20
_HINT = "It is damaged, or was written by a newer M3Desk."


@dataclass(frozen=True, slots=True)
class About:
    """What a recording is. `address`: without credentials. `started_at`: ISO 8601 with zone. `fps`: the source's nominal rate.

    `width`, `height`: pixels of its pictures, which never change within a recording; None without pictures. `rate`: samples a second of
    its sound, None without sound. `keep`: "always", "until remembered", or hours. `ended_at`, `reason`: None while it is being written,
    and after a crash until `Recording.close`.
    """

    id: str
    address: str
    started_at: str
    width: int | None = None
    height: int | None = None
    fps: float | None = None
    rate: int | None = None
    keep: Keep = "always"
    ended_at: str | None = None
    reason: str | None = None

    @property
    def has_pictures(self) -> bool:
        return self.width is not None

    @property
    def has_sound(self) -> bool:
        return self.rate is not None


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment: [start, end) microseconds, and (time, byte offset) where decoding of its pictures and of its sound can start."""

    name: str
    start: int
    end: int
    bytes: int
    pictures: tuple[tuple[int, int], ...] = ()
    sounds: tuple[tuple[int, int], ...] = ()

    @property
    def number(self) -> int:
        """Return the segment's number; an erased span leaves it unchanged."""
        found = _SEGMENT.fullmatch(self.name)
        return int(found[1]) if found else 0


@dataclass(slots=True)
class _Journal:
    """The folded journal: segments by name, and what was erased."""

    segments: dict[str, Segment] = field(default_factory=dict)
    erased: list[tuple[int, int]] = field(default_factory=list)
    last: int = 0
    read: int = 0
    ordered: tuple[Segment, ...] | None = None

    def in_order(self) -> tuple[Segment, ...]:
        """Return the closed segments in time order."""
        if self.ordered is None:
            self.ordered = tuple(sorted(self.segments.values(), key=lambda s: s.number))
        return self.ordered


def is_recording(path: str | Path) -> bool:
    """Return whether a path is the folder of a recording; False for invalid names."""
    try:
        return (Path(path) / ABOUT).is_file()
    except (OSError, ValueError):
        return False


class Recording:
    """A recording, which may still be growing. Cheap to open; each call reads what changed. Not thread-safe: open one per thread."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        self._about: tuple[int, About] | None = None
        self._journal = _Journal()
        self._open: tuple[str, Scanner] | None = None

    @classmethod
    def open(cls, folder: str | Path) -> Recording:
        """Open a recording. Raises SourceMissing, SourceUnreadable."""
        recording = cls(folder)
        _ = recording.about
        recording._read_journal()
        return recording

    # ------------------------------------------------------------ what it is

    @property
    def about(self) -> About:
        """What the recording is. Raises SourceMissing, SourceUnreadable."""
        file = self.folder / ABOUT
        try:
            changed = file.stat().st_mtime_ns
        except OSError as error:
            raise SourceMissing(f"There is no recording in {self.folder}.", "It was moved or deleted.") from error
        if self._about is None or self._about[0] != changed:
            try:
                found = json.loads(read_regular(file, _MOST_ABOUT))
                if found.pop("format") != FORMAT:
                    raise ValueError("format")
                self._about = changed, About(**found)
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise SourceUnreadable(f"{file} is not the description of a recording.", _HINT) from error
        return self._about[1]

    @property
    def ended(self) -> bool:
        """Whether the recording was closed; False while it grows and after a crash until `close`."""
        return self.about.ended_at is not None

    def has_begun(self) -> bool:
        """Return whether there is something to read, or it ended without; False while there is no recording yet."""
        try:
            return bool(self.segments()) or self.ended
        except SourceError:
            return False

    def segments(self) -> tuple[Segment, ...]:
        """Return the segments in time order; the last may still be growing."""
        self._read_journal()
        found = self._journal.in_order()
        last = self._open_segment()
        return (*found, last) if last is not None else found

    @property
    def end(self) -> int:
        """Microseconds recorded so far: the end of the last picture or piece of sound."""
        return max((s.end for s in self.segments()), default=0)

    @property
    def start(self) -> int:
        """Time of the first picture or piece of sound that is still there; later than 0 after `drop_before`."""
        return min((s.start for s in self.segments()), default=0)

    @property
    def bytes(self) -> int:
        """Size of all segments."""
        return sum(s.bytes for s in self.segments())

    @property
    def erased(self) -> tuple[tuple[int, int], ...]:
        """The spans that were erased, in the order of erasing; microseconds."""
        self._read_journal()
        return tuple(self._journal.erased)

    def fingerprint(self) -> str:
        """Return a SHA-256 that names the content: growing and `drop_before` leave it unchanged, `erase` changes it."""
        content = json.dumps([self.about.id, self.erased])
        return hashlib.sha256(content.encode()).hexdigest()

    def damaged(self) -> tuple[str, ...]:
        """Return the names of closed segments that are missing or have another size than the journal says."""
        self._read_journal()
        wrong = []
        for segment in self._journal.segments.values():
            try:
                if (self.folder / segment.name).stat().st_size != segment.bytes:
                    wrong.append(segment.name)
            except OSError:
                wrong.append(segment.name)
        return tuple(sorted(wrong))

    def _read_journal(self) -> None:
        """Read the lines that were appended since the last call."""
        file = self.folder / JOURNAL
        try:
            size = file.stat().st_size
        except OSError:
            return
        if size < self._journal.read:
            self._journal = _Journal()
        if size == self._journal.read:
            return
        with open_regular(file) as stream:
            stream.seek(self._journal.read)
            content = stream.read(_MOST_JOURNAL)
        whole = content.rfind(b"\n") + 1  # what follows is being written, or was cut short by a crash
        for line in content[:whole].splitlines():
            with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
                self._fold(self._journal, json.loads(line))
        self._journal.read += whole
        self._journal.ordered = None

    @staticmethod
    def _fold(journal: _Journal, line: dict[str, Any]) -> None:
        for name in line.get("removed", ()):
            journal.segments.pop(name, None)
        for told in line.get("segments", ()):
            segment = _segment(told)
            journal.segments[segment.name] = segment
            journal.last = max(journal.last, segment.number)
        if "erased" in line:
            start, end = line["erased"]
            journal.erased.append((int(start), int(end)))

    def _open_segment(self) -> Segment | None:
        """Return the segment that is being written, or was when the recorder died; None if there is none."""
        number = self._journal.last + 1
        name = f"{number:06d}.ts"
        file = self.folder / name
        try:
            with file.open("rb") as stream:
                if self._open is None or self._open[0] != name:
                    about = self.about
                    self._open = name, Scanner(round(1_000_000 / about.fps) if about.fps else 40_000)
                scanner = self._open[1]
                stream.seek(scanner.scanned + len(scanner.rest))
                scanner.feed(stream.read())
        except OSError:
            return None
        if scanner.start is None or scanner.end is None:
            return None
        return Segment(name, scanner.start, scanner.end, scanner.scanned, tuple(scanner.pictures), tuple(scanner.sounds))

    # ------------------------------------------------------------ changes

    def append(self, **line: Any) -> None:
        """Append a line to the journal, durable when it returns. Raises OSError."""
        content = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        with FileLock(self.folder / LOCK, wait=True), open(self.folder / JOURNAL, "ab", opener=private.opener) as file:
            if file.tell() and not _ends_a_line(self.folder / JOURNAL):
                content = b"\n" + content  # a line that was cut short by a crash
            file.write(content)
            file.flush()
            os.fsync(file.fileno())

    def describe(self, about: About) -> None:
        """Write what the recording is, atomically. Raises OSError."""
        file = self.folder / ABOUT
        part = file.with_suffix(".part")
        private.write(part, json.dumps({"format": FORMAT, **asdict(about)}, indent=1).encode())
        private.settle(part)
        part.replace(file)
        private.settle(self.folder)
        self._about = None

    def close(self, ended_at: str, reason: str) -> None:
        """Close a recording whose recorder has ended, however it ended. Raises OSError."""
        self.adopt()
        if not self.ended:
            self.describe(replace(self.about, ended_at=ended_at, reason=reason))

    def adopt(self) -> None:
        """Put the segment that a dead recorder left into the journal; nobody may be writing to it. Raises OSError."""
        self._read_journal()
        last = self._open_segment()
        if last is not None:
            os.truncate(self.folder / last.name, last.bytes)  # a packet that was cut short
            self.append(segments=[asdict(last)])
        else:
            with contextlib.suppress(OSError):
                (self.folder / f"{self._journal.last + 1:06d}.ts").unlink()

    def erase(self, start: int, end: int) -> int:
        """Erase [start, end) microseconds from closed segments for good; return the bytes that were removed.

        Whole segments are deleted, the two at the borders rewritten; up to 2 s of pictures after `end` go too, until the next key frame.
        After a crash it is as if never begun, or complete. The segment that is being written is not touched: have the recorder close it
        first (its command `key`). Raises OSError.
        """
        with FileLock(self.folder / CHANGING, wait=True):
            self._tidy()
            removed, added, gone = [], [], 0
            for segment in self._closed():
                if segment.end <= start or segment.start >= end:
                    continue
                removed.append(segment.name)
                gone += segment.bytes
                rest = self._rewritten(segment, start, end)
                if rest is not None:
                    added.append(asdict(rest))
                    gone -= rest.bytes
            self.append(removed=removed, segments=added, erased=[start, end])
            self._delete(removed)
            return gone

    def drop_before(self, at: int) -> tuple[Segment, ...]:
        """Delete the closed segments that end by `at` microseconds; return them, in time order. Raises OSError."""
        with FileLock(self.folder / CHANGING, wait=True):
            self._tidy()
            old = [s for s in self._closed() if s.end <= at]
            if old:
                self.append(removed=[s.name for s in old])
                self._delete([s.name for s in old])
            return tuple(old)

    def _closed(self) -> Iterator[Segment]:
        self._read_journal()
        return iter(self._journal.in_order())

    def _rewritten(self, segment: Segment, start: int, end: int) -> Segment | None:
        """Write what is left of a segment to a new file; None if nothing is left."""
        left = without((self.folder / segment.name).read_bytes(), start, end)
        about = self.about
        scanner = Scanner(round(1_000_000 / about.fps) if about.fps else 40_000)
        scanner.feed(left)
        if scanner.start is None or scanner.end is None:
            return None
        name = _next_version(segment.name)
        private.write(self.folder / name, left)
        private.settle(self.folder / name)
        return Segment(name, scanner.start, scanner.end, len(left), tuple(scanner.pictures), tuple(scanner.sounds))

    def tidy(self) -> None:
        """Delete what a change that a crash interrupted has left: forgotten pictures may be in it. Raises OSError."""
        with FileLock(self.folder / CHANGING, wait=True):
            self._tidy()

    def _tidy(self) -> None:
        """Delete segments that no line of the journal names any more: those of a change that a crash interrupted."""
        self._read_journal()
        for file in self.folder.iterdir():
            found = _SEGMENT.fullmatch(file.name)
            if found and file.name not in self._journal.segments and (found[2] or int(found[1]) <= self._journal.last):
                file.unlink(missing_ok=True)

    def _delete(self, names: list[str]) -> None:
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                (self.folder / name).unlink()
        private.settle(self.folder)
        self._read_journal()


def _segment(told: dict[str, Any]) -> Segment:
    if not _SEGMENT.fullmatch(told["name"]):
        raise ValueError(told["name"])
    points = {kind: tuple((int(a), int(b)) for a, b in told[kind]) for kind in ("pictures", "sounds")}
    return Segment(told["name"], int(told["start"]), int(told["end"]), int(told["bytes"]), points["pictures"], points["sounds"])


def _next_version(name: str) -> str:
    found = _SEGMENT.fullmatch(name)
    assert found is not None
    return f"{found[1]}-{int(found[2] or 0) + 1}.ts"


def _ends_a_line(file: Path) -> bool:
    with file.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"


__all__ = ["ABOUT", "JOURNAL", "PACKET", "About", "Recording", "Segment", "is_recording"]
