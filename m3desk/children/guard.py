"""Stands between the program and a model process: ends the process with all its workers when the program is gone, however it ended.

Run by path: `python -I -S guard.py '{"record": …, "life": …, "grace": …, "log": …, "about": …}' COMMAND …`. The program holds the
writing end of the pipe `life` (a file descriptor; on Windows a handle): when it closes, by exit, crash or SIGKILL, the process group gets
SIGTERM and, after `grace` seconds (`GONE`, if the program has ended), SIGKILL. On Linux the guard also adopts workers that left the group,
and the kernel ends the process if the guard itself is killed. It exits with the code of the process, 128 + N for signal N, or 127 if the
process could not be started.

`record` is a JSON file that says which processes there are, for `orphans.py`; it is deleted when all have ended. Imports the standard
library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

NOT_STARTED = 127
LOG_BYTES = 16_000_000
"""A log that grew larger is cut to its last `LOG_KEPT` bytes."""
LOG_KEPT = 1_000_000

GONE = 1.5
"""Seconds between SIGTERM and SIGKILL at most, once the program itself is gone: on a busy machine a longer `grace` took more than 5 s."""

_POLL = 0.2
_KILL_SECONDS = 5.0


def started(pid: int) -> str | None:
    """Return what tells a process from any later one with the same id: its start time; None if it does not run (or is a zombie)."""
    if sys.platform == "linux":
        try:
            fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
            boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        except OSError:
            return None
        return None if fields[0] in "ZX" else f"{boot}:{fields[19]}"
    if sys.platform == "win32":
        return _started_on_windows(pid)
    told = subprocess.run(["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout.split()
    return " ".join(told[1:]) if told and not told[0].startswith("Z") else None


def group_members(group: int) -> list[int]:
    """Return the ids of the running processes of a process group (on Windows: none, a job object holds them)."""
    return [pid for pid, _parent, of in _processes() if of == group]


def descendants(of: int) -> list[int]:
    """Return the ids of the running processes that descend from a process."""
    children: Callable[[int], list[int]] = _children
    if not Path(f"/proc/{of}/task/{of}/children").exists():  # not Linux, or a kernel built without it
        known: dict[int, list[int]] = {}
        for pid, parent, _group in _processes():
            known.setdefault(parent, []).append(pid)
        children = lambda pid: known.get(pid, [])  # noqa: E731
    found: list[int] = []
    waiting = [of]
    while waiting:
        new = children(waiting.pop())
        found += new
        waiting += new
    return found


def _children(of: int) -> list[int]:
    """Return the running children of a process on Linux: a few reads, where looking through all processes takes 20 ms of the processor."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{of}/task"):  # noqa: PTH208
            with contextlib.suppress(OSError):
                found += map(int, Path(f"/proc/{of}/task/{task}/children").read_text("ascii").split())
    return [pid for pid in found if started(pid) is not None]


def _processes() -> Iterator[tuple[int, int, int]]:
    """Yield (process, parent, group) of the running processes."""
    if sys.platform == "win32":
        return
    if sys.platform == "linux":
        for name in os.listdir("/proc"):  # noqa: PTH208 - 300 names a second, several times
            if name.isascii() and name.isdigit():
                with contextlib.suppress(OSError):
                    fields = Path(f"/proc/{name}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
                    if fields[0] not in "ZX":
                        yield int(name), int(fields[1]), int(fields[2])
        return
    told = subprocess.run(["/bin/ps", "-axo", "pid=,ppid=,pgid=,stat="], capture_output=True, text=True, check=False).stdout
    for line in told.splitlines():
        pid, parent, group, state = line.split(None, 3)
        if not state.startswith("Z"):
            yield int(pid), int(parent), int(group)


class Guard:
    """One guarded process."""

    def __init__(self, settings: dict[str, Any], command: list[str]) -> None:
        self.record = Path(settings["record"])
        self.log = settings.get("log")
        self.grace = float(settings["grace"])
        self.about = settings["about"]
        self.gone = threading.Event()
        self._program = os.getppid()
        self._life = _opened(settings["life"])
        self._noted: Any = None
        for asked in (signal.SIGTERM, signal.SIGINT):
            signal.signal(asked, lambda *_: self.gone.set())
        if sys.platform == "linux":
            _prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: what leaves the group is adopted by the guard
        elif sys.platform == "win32":
            _end_children_with_this_process()
        self._note(None)
        self.child = self._start(command)
        self._note(self.child.pid)

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        if sys.platform == "win32":
            return subprocess.Popen(command)
        return subprocess.Popen(
            command, start_new_session=True, preexec_fn=partial(_as_child, os.getpid())
        )  # the guard has one thread here

    def run(self) -> int:
        """Wait until the process or the program ends, end what is left, and return the exit code."""
        threading.Thread(target=self._watch, daemon=True).start()
        for number in (0, 1):  # only the process keeps them, so that its pipes close with it
            if number != self._life:
                with contextlib.suppress(OSError):
                    os.close(number)
        code: int | None = None
        next_note = 0.0
        while code is None and not self.gone.wait(_POLL):
            code = self._reaped()
            if time.monotonic() >= next_note:
                self._note(self.child.pid)
                self._cut_log()
                next_note = time.monotonic() + 2.0
        code = self._end(code)
        with contextlib.suppress(OSError):
            self.record.unlink()
        return code if code >= 0 else 128 - code

    def _watch(self) -> None:
        with contextlib.suppress(OSError):
            while os.read(self._life, 1024):
                pass
        self.gone.set()

    def _reaped(self) -> int | None:
        """Take note of processes that ended; return the exit code of the guarded one if it is among them, negative for a signal."""
        if sys.platform == "win32":
            return self.child.poll()
        found: int | None = None
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                if pid == self.child.pid:
                    found = os.waitstatus_to_exitcode(status)
        return found

    def _end(self, code: int | None) -> int:
        """End everything that the process left, by SIGTERM, then SIGKILL; return the exit code."""
        if sys.platform == "win32":
            if code is None:
                self.child.terminate()
                return self.child.wait()
            return code
        for asked, seconds in ((signal.SIGTERM, self.grace), (signal.SIGKILL, _KILL_SECONDS)):
            began = time.monotonic()
            with contextlib.suppress(OSError):
                os.killpg(self.child.pid, asked)  # at once, before anybody is looked for
            first = True
            while not self._alone(left := self._left()):
                for pid in left:  # those that left the group, once; with SIGKILL whatever was forked meanwhile, too
                    with contextlib.suppress(OSError):
                        if asked == signal.SIGKILL or (first and os.getpgid(pid) != self.child.pid):
                            os.kill(pid, asked)
                first = False
                orphan = asked == signal.SIGTERM and os.getppid() != self._program
                if time.monotonic() >= began + (min(GONE, seconds) if orphan else seconds):
                    break
                time.sleep(0.05)
                code = code if (reaped := self._reaped()) is None else reaped
        if code is None:
            code = self._reaped()
        return -signal.SIGKILL if code is None else code

    def _alone(self, left: list[int]) -> bool:
        """Return whether nothing is left, where `_left` found these.

        On Linux only the kernel's word counts that the guard has no child any more: a process that ended while the list was read is not in
        it, and its workers, which the guard adopts at that moment, are not yet in it.
        """
        if left or sys.platform != "linux":
            return not left
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return True
        return False

    def _left(self) -> list[int]:
        """Return what runs of the process: on Linux all that descends from the guard, which adopts what loses its parent."""
        return descendants(os.getpid()) if sys.platform == "linux" else group_members(self.child.pid)

    def _note(self, pid: int | None) -> None:
        """Write the record, if it changed: who guards, which process, and every process of it with its start time."""
        members = [] if pid is None else sorted({pid, *self._left()})
        said = {
            **self.about,
            "guard": [os.getpid(), started(os.getpid())],
            "process": None if pid is None else [pid, started(pid)],
            "members": [[one, started(one)] for one in members],
        }
        if said != self._noted:
            with contextlib.suppress(OSError):  # a full disk: the guard works without
                new = self.record.with_suffix(".new")
                new.write_text(json.dumps(said), "utf-8")
                new.replace(self.record)
                self._noted = said

    def _cut_log(self) -> None:
        if not self.log:
            return
        with contextlib.suppress(OSError), Path(self.log).open("r+b") as log:
            if log.seek(0, os.SEEK_END) > LOG_BYTES:
                log.seek(-LOG_KEPT, os.SEEK_END)
                kept = log.read()
                log.truncate(0)
                log.seek(0)
                log.write(b"(cut here)\n" + kept)


def _opened(life: int) -> int:
    """Return the file descriptor of the pipe whose end means that the program is gone."""
    if sys.platform == "win32":
        import msvcrt

        return msvcrt.open_osfhandle(life, os.O_RDONLY)
    os.set_inheritable(life, False)
    return life


def _as_child(of: int) -> None:
    """Run in the process between fork and exec: it ends with the guard, and is the first to go where memory runs out."""
    if sys.platform == "linux":
        _prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG: of the thread that starts it, which is the guard's main thread
        if os.getppid() != of:  # it ended before
            os._exit(1)
        with contextlib.suppress(OSError), Path("/proc/self/oom_score_adj").open("w") as adjustment:
            adjustment.write("500")


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _started_on_windows(pid: int) -> str | None:
    if sys.platform != "win32":
        return None
    import ctypes
    from ctypes import wintypes

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.OpenProcess.restype = wintypes.HANDLE
    handle = kernel.OpenProcess(0x1000, False, pid)  # PROCESS_QUERY_LIMITED_INFORMATION
    if not handle:
        return None
    try:
        code = wintypes.DWORD()
        times = [wintypes.FILETIME() for _ in range(4)]
        kernel.GetExitCodeProcess(wintypes.HANDLE(handle), ctypes.byref(code))
        kernel.GetProcessTimes(wintypes.HANDLE(handle), *map(ctypes.byref, times))
        return str(times[0].dwHighDateTime << 32 | times[0].dwLowDateTime) if code.value == 259 else None  # STILL_ACTIVE
    finally:
        kernel.CloseHandle(wintypes.HANDLE(handle))


def _end_children_with_this_process() -> None:
    """Put this process into a job object that ends all its processes when its last handle closes (Windows; written, not yet run there)."""
    if sys.platform != "win32":
        return
    import ctypes
    from ctypes import wintypes

    class Basic(ctypes.Structure):
        _fields_ = [
            ("times", ctypes.c_int64 * 2),
            ("flags", wintypes.DWORD),
            ("set", ctypes.c_size_t * 2),
            ("active", wintypes.DWORD),
            ("affinity", ctypes.c_size_t),
            ("classes", wintypes.DWORD * 2),
        ]

    class Extended(ctypes.Structure):
        _fields_ = [("basic", Basic), ("io", ctypes.c_uint64 * 6), ("memory", ctypes.c_size_t * 4)]

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.CreateJobObjectW.restype = wintypes.HANDLE
    kernel.GetCurrentProcess.restype = wintypes.HANDLE
    job = wintypes.HANDLE(kernel.CreateJobObjectW(None, None))
    limits = Extended()
    limits.basic.flags = 0x2000  # JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
    kernel.SetInformationJobObject(job, 9, ctypes.byref(limits), ctypes.sizeof(limits))  # JobObjectExtendedLimitInformation
    kernel.AssignProcessToJobObject(job, wintypes.HANDLE(kernel.GetCurrentProcess()))


def main() -> int:
    try:
        guard = Guard(json.loads(sys.argv[1]), sys.argv[2:])
    except OSError as error:
        print(f"{sys.argv[2] if len(sys.argv) > 2 else 'the program'} cannot be started: {error.strerror or error}", file=sys.stderr)
        with contextlib.suppress(OSError, ValueError):
            Path(json.loads(sys.argv[1])["record"]).unlink()
        return NOT_STARTED
    return guard.run()


if __name__ == "__main__":
    sys.exit(main())
