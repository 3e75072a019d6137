"""Runs commands in a sandbox where every address leads to this program, and records lookups, connections and written files.

A process of its own (`python -m m3desk.bench.watched`, its order as JSON on stdin) enters namespaces of the Linux kernel: a network of
nothing but loopback, to which every address is routed; a user's home, temporary folders and name resolution of its own. Needs no program
but Python, and no right but that to make a user namespace (or root).
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_NEW_NS, _NEW_USER, _NEW_NET = 0x20000, 0x10000000, 0x40000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
FRESH = ("/tmp", "/var/tmp", "/dev/shm", "/run")
"""Folders anybody may write to: replaced by empty ones while the commands run (and so is the home of who runs them)."""
ANSWER = {1: "198.51.100.7", 28: "2001:db8::7"}
"""What every name is said to be, by type of record: addresses that documentation may use, and nobody has."""


@dataclass
class SideEffects:
    """What was noticed, in order. `written`: files that are there afterwards, beside those that may be."""

    lookups: list[str] = field(default_factory=list)
    connections: list[str] = field(default_factory=list)
    loopback: list[str] = field(default_factory=list)
    """Connections of the program with itself on this machine (the language model's server listens on 127.0.0.1)."""
    written: list[str] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    """Of each command its words, exit status, seconds, and the end of what it said."""


# ---------------------------------------------------------------- from outside


def watch(
    commands: Sequence[Sequence[str] | dict[str, Any]],
    folder: Path,
    *,
    env: dict[str, str],
    own: Sequence[str] = (),
    keep: Sequence[Path] = (),
) -> SideEffects:
    """Run commands one after another in `folder`/work and return what they did. `own`: folders below `folder` they may write to.

    A command is its words, or {"words", "until": a file that must be there, "stop": seconds after which it is asked to end, "env"}.
    `keep`: folders they need though they lie in one that is replaced. Raises OSError where namespaces can't be made here.
    """
    order = {
        "commands": [c if isinstance(c, dict) else {"words": list(c)} for c in commands],
        "folder": str(folder),
        "env": env,
        "own": list(own),
        "keep": [str(p) for p in (folder, *keep)],
    }
    done = subprocess.run(
        [sys.executable, "-m", "m3desk.bench.watched"], input=json.dumps(order), capture_output=True, text=True, check=False
    )
    if done.returncode == 77:
        raise OSError(done.stderr.strip())
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-2000:])
    return SideEffects(**json.loads(done.stdout))


# ---------------------------------------------------------------- inside


def _enter() -> None:
    """Enter new network, mount and (without root) user namespaces. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    flags = _NEW_NET | _NEW_NS | (0 if user == 0 else _NEW_USER)
    if libc.unshare(flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"namespaces can't be made here: {os.strerror(number)}")
    if user != 0:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    try:
        _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
    except OSError as error:
        raise OSError(error.errno, "folders can't be replaced here, since the root folder is no mount of its own (a chroot)") from error


def _mount(source: str, target: str, kind: str | None, flags: int = 0) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), target.encode(), kind.encode() if kind else None, ctypes.c_ulong(flags), None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{target} can't be mounted: {os.strerror(number)}")


def _replace(place: Path, keep: Sequence[str]) -> None:
    """Put an empty folder in the place of one, in which only `keep` can still be seen."""
    inside = [k for k in dict.fromkeys(str(Path(k).resolve()) for k in keep) if Path(k).is_relative_to(place.resolve())]
    inside = [k for k in inside if not any(k != o and Path(k).is_relative_to(o) for o in inside)]
    if str(place.resolve()) in inside:
        return
    opened = [(k, os.open(k, os.O_PATH)) for k in inside]
    _mount("tmpfs", str(place), "tmpfs")
    place.chmod(0o1777)
    for path, number in opened:
        Path(path).mkdir(parents=True, exist_ok=True)
        _mount(f"/proc/self/fd/{number}", path, None, _MS_BIND | _MS_REC)
        os.close(number)


def _resolver() -> None:
    """Let names be asked of this program only, through the system's own resolver."""
    settings = Path("/etc/resolv.conf").resolve()
    text = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"
    if settings.is_relative_to("/run"):
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(text)
        return
    for path, content in ((settings, text), (Path("/etc/nsswitch.conf"), "hosts: files dns\n")):
        if path.is_file():
            mine = Path("/run") / path.name
            mine.write_text(content)
            _mount(str(mine), str(path), None, _MS_BIND)


def _all_addresses_here() -> None:
    """Bring the loopback device up and route every address of both kinds to it."""
    import fcntl  # Windows has none, and may import this module

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        fcntl.ioctl(asked, 0x8914, struct.pack("16sh22x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: IFF_UP, IFF_RUNNING
    device = socket.if_nametoindex("lo")
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
        groups = struct.pack("HH4s", 8, 1, socket.inet_aton("224.0.0.0"))
        for family, length, kind, to in ((socket.AF_INET, 0, 2, b""), (socket.AF_INET6, 0, 2, b""), (socket.AF_INET, 4, 1, groups)):
            # RTM_NEWROUTE, in the table of local addresses (255): everything (length 0) is an address of this machine (scope host, type
            # local), groups such as mDNS's are reached by this device (scope link, type unicast).
            scope = 254 if kind == 2 else 253
            body = struct.pack("BBBBBBBBI", family, length, 0, 0, 255, 4, scope, kind, 0) + to + struct.pack("HHi", 8, 4, device)
            kernel.send(struct.pack("IHHII", 16 + len(body), 24, 0x1 | 0x4 | 0x400, 1, 0) + body)
            answer = kernel.recv(4096)
            failed = -struct.unpack_from("i", answer, 16)[0]
            if failed and family == socket.AF_INET:
                raise OSError(failed, f"no route can be made: {os.strerror(failed)}")


class _Ears:
    """Hears every packet of the loopback device, answers every name, and takes what is sent to the ports of the web."""

    def __init__(self, seen: SideEffects) -> None:
        self._seen = seen
        packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        packets.bind(("lo", 0))
        names = _bound(socket.SOCK_DGRAM, 53)
        for target, opened in ((self._packets, packets), (self._names, names)):
            threading.Thread(target=target, args=(opened,), daemon=True).start()
        for port in (80, 443):
            threading.Thread(target=self._web, args=(_bound(socket.SOCK_STREAM, port),), daemon=True).start()

    def _packets(self, packets: socket.socket) -> None:
        while True:
            data, about = packets.recvfrom(256)
            if about[2] == 4:  # going out; each comes in once more
                with contextlib.suppress(struct.error, IndexError, ValueError):
                    self._packet(data[14:])

    def _packet(self, data: bytes) -> None:
        if data[0] >> 4 == 4:
            start, protocol, source, target = (data[0] & 15) * 4, data[9], data[12:16], data[16:20]
            names = [socket.inet_ntoa(a) for a in (source, target)]
        else:
            start, protocol, source, target = 40, data[6], data[8:24], data[24:40]
            names = [socket.inet_ntop(socket.AF_INET6, a) for a in (source, target)]
        if protocol == 6:
            flags = data[start + 13]
            if flags & 0x12 != 0x02:  # the first packet of a connection: SYN without ACK
                return
        elif protocol == 17:
            if struct.unpack_from("!H", data, start)[0] == 53:
                return
        elif protocol not in (1, 58) or data[start] not in (8, 128):  # of the kernel's own messages, only a ping that was asked for
            return
        port = struct.unpack_from("!H", data, start + 2)[0] if protocol in (6, 17) else 0
        if port == 53:
            if protocol == 6 or not names[1].startswith("127."):
                self._seen.lookups.append(f"(at {names[1]})")
            return
        kind = {6: "TCP", 17: "UDP"}.get(protocol, "ping")
        mine = names[1].startswith("127.") or names[1] == "::1"
        (self._seen.loopback if mine else self._seen.connections).append(f"{kind} {names[1]}:{port}")

    def _names(self, asked: socket.socket) -> None:
        while True:
            question, who = asked.recvfrom(4096)
            labels, at = [], 12
            with contextlib.suppress(IndexError):
                while question[at]:
                    labels.append(question[at + 1 : at + 1 + question[at]].decode("ascii", "replace"))
                    at += question[at] + 1
                kind = struct.unpack_from("!H", question, at + 1)[0]
                self._seen.lookups.append(".".join(labels))
                given = ANSWER.get(kind)
                packed = socket.inet_pton(socket.AF_INET if kind == 1 else socket.AF_INET6, given) if given else b""
                record = struct.pack("!HHHIH", 0xC00C, kind, 1, 60, len(packed)) + packed if given else b""
                head = question[:2] + struct.pack("!HHHHH", 0x8180, 1, 1 if given else 0, 0, 0)
                asked.sendto(head + question[12 : at + 5] + record, who)

    def _web(self, door: socket.socket) -> None:
        while True:
            guest, _ = door.accept()
            threading.Thread(target=_listen_to, args=(guest,), daemon=True).start()


def _listen_to(guest: socket.socket) -> None:
    guest.settimeout(5)
    with guest, contextlib.suppress(OSError):
        while guest.recv(4096):
            pass


def _bound(kind: int, port: int) -> socket.socket:
    opened = socket.socket(socket.AF_INET6, kind)
    opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    opened.bind(("::", port))
    if kind == socket.SOCK_STREAM:
        opened.listen()
    return opened


def _run(command: dict[str, Any], folder: Path, env: dict[str, str]) -> dict[str, Any]:
    """Run one command to its end, or until its file is there and its seconds are over."""
    began = time.monotonic()
    said = folder / "said"
    with said.open("wb") as out:
        process = subprocess.Popen(
            command["words"], cwd=folder / "work", env={**env, **command.get("env", {})}, stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
        stop, until = command.get("stop"), command.get("until")
        while process.poll() is None and time.monotonic() - began < 300:
            if stop is not None and time.monotonic() - began > stop and (until is None or (folder / "work" / until).exists()):
                process.send_signal(signal.SIGTERM)
                stop = None
            time.sleep(0.05)
        process.kill()
    words = command["words"]
    text = said.read_text("utf-8", "replace")
    said.unlink()
    return {"words": words, "status": process.wait(), "seconds": round(time.monotonic() - began, 1), "said": text[-2000:]}


def _files(folder: Path) -> Iterator[str]:
    for place, folders, files in os.walk(folder, followlinks=False):
        folders[:] = [f for f in folders if not os.path.ismount(Path(place) / f)]
        yield from (str(Path(place) / f) for f in files)


def _inside(order: dict[str, Any]) -> SideEffects:
    folder, seen = Path(order["folder"]).resolve(), SideEffects()
    _enter()
    needed = [
        *order["keep"],
        sys.prefix,
        sys.base_prefix,
        str(Path(__file__).resolve().parents[2]),
        *(p for p in sys.path if Path(p).is_dir()),
    ]
    places = []
    for place in (*map(Path, FRESH), Path.home()):
        if place.is_dir() and not place.is_symlink() and place != Path(place.anchor):
            _replace(place, needed)
            places.append(place)
    for part in ("home", "tmp", "work"):
        (folder / part).mkdir(exist_ok=True)
    _resolver()
    _all_addresses_here()
    ears = _Ears(seen)
    places.append(Path(sys.prefix))  # where a library may want to keep what it fetches
    before = {f for place in places for f in _files(place)}
    shared = ("PATH", "PYTHONPATH", "LANG", "LD_LIBRARY_PATH", "COVERAGE_PROCESS_START")
    env = {name: os.environ[name] for name in shared if name in os.environ}
    env |= {"HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp"), "PYTHONDONTWRITEBYTECODE": "1", **order["env"]}
    for command in order["commands"]:
        seen.runs.append(_run(command, folder, env))
    time.sleep(0.3)  # packets on their way to the ears
    del ears
    allowed = [folder / part for part in ("work", *order["own"])]
    seen.written = sorted(
        f
        for f in ({g for place in (*places, folder) for g in _files(place)} - before)
        if not f.endswith(".pyc") and not any(Path(f).is_relative_to(a) for a in allowed)
    )
    return seen


if __name__ == "__main__":
    received = json.load(sys.stdin)
    try:
        noticed = _inside(received)
    except OSError as reason:
        print(reason.strerror or reason, file=sys.stderr)
        sys.exit(77)
    print(json.dumps(noticed.__dict__))
