"""`backends`: lists, installs and removes the backends that have an environment of their own."""

from __future__ import annotations

import getpass
import sys
import time
from typing import Any

from m3desk import keys, outgoing
from m3desk.children import environments
from m3desk.children.recipes import recipe
from m3desk.cli.output import Out, confirm, prompt, table, terminal, told
from m3desk.cli.setup import size
from m3desk.domain.visible import shortened, visible
from m3desk.errors import Cancelled, UsageError

_STATES = {
    "missing": "not installed",
    "busy": "being installed or removed",
    "interrupted": "installing was interrupted",
    "ready": "ready",
    "outdated": "ready, but of other versions: install it again",
    "damaged": "damaged: install it again",
    "own": "ready (in M3Desk's own environment)",
}


def backends(options: Any, out: Out) -> int:
    match options.action:
        case "list":
            return _list(out)
        case "key":
            return _key(options, out)
        case "install":
            return _install(_named(options), options, out)
        case _:
            return _remove(_named(options), options, out)


def _named(options: Any) -> str:
    if options.name is None:
        raise UsageError(f"backends {options.action} needs a name.", "See m3desk backends list.")
    return str(recipe(options.name).name)


def _key(options: Any, out: Out) -> int:
    """Keep or remove the key of the configured server; it is typed unseen or read from standard input, never an argument."""
    if options.name not in (None, outgoing.SERVER):
        raise UsageError(f"“{shortened(options.name)}” has no key.", "There is one for: server.")
    address = outgoing.server()
    if address is None:
        raise UsageError("no address of a model server is set.", f"Set it first: {outgoing.EXAMPLE}")
    if options.delete:
        there = keys.remove(address.origin)
        out.result({"server": address.origin, "key": False}, [f"The key of {address.shown} {'was removed' if there else 'was not there'}."])
        return 0
    typed = getpass.getpass(f"Key of {address.shown} (not shown): ") if sys.stdin.isatty() else sys.stdin.readline(keys.LONGEST + 2)
    keys.store(address.origin, keys.Key(typed.strip()))
    lines = [f"The key of {address.shown} is in the system's keyring."]
    if not address.encrypted and not address.local:
        lines.append("It is sent unencrypted (http): whoever is between can read it.")
    out.result({"server": address.origin, "key": True}, lines)
    return 0


def _list(out: Out) -> int:
    rows = environments.rows()
    shown = [(r["name"], _STATES[r["state"]], size(r["download_bytes"]), size(r["installed_bytes"]), r["variant"], r["adds"]) for r in rows]
    lines = table(shown, ("backend", "state", "download", "on disk", "for", "what it adds"))
    used = [f"{r['name']} is in use by {', '.join(r['used_by'])}" for r in rows if r["used_by"]]
    out.result(rows, [*lines, *used, f"in {environments.folder()}"])
    return 0


def _install(name: str, options: Any, out: Out) -> int:
    one = recipe(name)
    now = environments.state(name)
    variant = one.variant(options.variant or (now.variant if now.state == "interrupted" else None))
    if now.state == "ready" and now.variant == variant.name:
        out.result(_row(name), [f"{name} is already installed: {now.path}"])
        return 0
    out.line(f"{one.title}: {one.adds}.")
    out.line(f"Packages: {', '.join(variant.pins)} and what they need")
    out.line(f"Licences: {'; '.join(one.licences)}")
    kind = {"cpu": " (without an NVIDIA card)", "usual": ""}.get(variant.name, f" ({variant.name})")
    out.line(
        f"Size{kind}: about {size(variant.download)} to download, {size(variant.installed)} on disk, into {environments.folder(name)}"
        + (f"; {variant.measured}" if variant.measured else "")
    )
    if now.state == "interrupted":
        out.line("It goes on where it was interrupted.")
    if not options.yes:
        if not sys.stdin.isatty():
            raise UsageError(f"Installing {name} downloads about {size(variant.download)}.", "Without a terminal it needs --yes.")
        if (prompt("Install? [Y/n] ") or "").lower() not in ("", "y", "yes"):
            out.line("Nothing was installed.")
            return 0
    began = time.monotonic()
    bar = _Bar(out, name)
    try:
        done = environments.install(name, variant=variant.name, index=options.index, progress=bar)
    except KeyboardInterrupt:
        hint = f"Go on: m3desk backends install {name}. Or remove it: m3desk backends remove {name}."
        raise Cancelled(f"Installing {name} was stopped; what was downloaded is kept.", hint) from None
    finally:
        bar.end()
    took = time.monotonic() - began
    out.result(_row(name), [f"Installed {name}: {size(done.installed)} in {took:.0f} s, in {done.path}"])
    return 0


def _remove(name: str, options: Any, out: Out) -> int:
    now = environments.state(name)
    if now.path is None or now.state == "own":
        away = " It is an extra of M3Desk's own environment: use pip there." if now.state == "own" else ""
        out.result({"removed": False, "name": name}, [f"{name} is not installed.{away}"])
        return 0
    confirm(
        f"Remove {name} ({size(now.installed)}) from {now.path}? It can be installed again; memories are not changed.",
        options.yes,
        lost=False,
    )
    gone = environments.remove(name)
    out.result({"removed": gone, "name": name}, [f"Removed {name}."])
    return 0


def _row(name: str) -> dict[str, Any]:
    return next(r for r in environments.rows() if r["name"] == name)


class _Bar:
    """Progress of an installation: a running line on a terminal, elsewhere a line every 5 % and every new step."""

    def __init__(self, out: Out, name: str) -> None:
        self._out, self._name, self._last = out, name, ("", -1)
        self._moving = sys.stderr.isatty() and not out.json and not out.quiet

    def __call__(self, step: str, done: int, total: int) -> None:
        share = 100 * done // max(total, 1)
        text = f"{self._name}: {share} %, {step}"
        if self._moving:
            print(f"\r{visible(text)[:100]:<100}", end="", file=terminal(), flush=True)
        elif not self._out.quiet and (step.partition(":")[0], share // 5) != self._last:
            told(text)
        self._last = (step.partition(":")[0], share // 5)

    def end(self) -> None:
        """Leave the running line."""
        if self._moving and self._last[0]:
            print(file=terminal(), flush=True)


__all__ = ["backends"]
