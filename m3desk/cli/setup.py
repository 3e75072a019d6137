"""`models`, `config`, `doctor`, `devices`, `bench`: manages weights and settings, describes this machine, runs benchmarks."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from typing import Any

from m3desk import config, licences, machine, models, outgoing
from m3desk.app import profile
from m3desk.cli.output import Out, prompt, table, terminal, told
from m3desk.domain.visible import visible
from m3desk.errors import M3DeskError, UsageError


def size(count: int) -> str:
    """Format a number of bytes, in megabytes of 10⁶."""
    return f"{count / 1e6:.1f} MB" if count < 1e9 else f"{count / 1e9:.2f} GB"


def models_(options: Any, out: Out) -> int:
    match options.action:
        case "list":
            rows = models.rows()
            shown = [(r["name"], r["version"], size(r["bytes"]), r["licence"], r["state"], r["path"] or "") for r in rows]
            out.result(rows, table(shown, ("model", "version", "size", "licence", "state", "where")))
            return 0
        case "pull":
            return _pull(options, out)
        case "verify":
            problems = models.verify()
            out.result({"ok": not problems, "problems": problems}, problems or ["All model files are complete and undamaged."])
            return 1 if problems else 0
        case _:
            if not options.names:
                raise UsageError("models remove needs a name.", "See m3desk models list.")
            for name in options.names:
                models.remove(name)
            out.result(options.names, [f"Removed {', '.join(options.names)}."])
            return 0


def _pull(options: Any, out: Out) -> int:
    plan = models.plan_pull(names=options.names, profile=options.profile, llm=options.llm)
    if options.demo and "demo" not in options.names:
        plan = [*plan, *models.plan_pull(names=["demo"])]
    if not plan:
        out.result([], ["Everything is already installed."])
        return 0
    for entry in plan:
        known = f"sha256 {entry.sha256[:12]}…" if entry.verified else "not verified by us: its sha256 is recorded at the first download"
        out.line(f"{entry.name} {entry.version}: {size(entry.bytes)}, {entry.licence}, {known}")
    out.line(f"To download: {size(sum(e.bytes for e in plan))}, into {models.folder()}")
    if sys.stdin.isatty() and not options.yes and (prompt("Download? [Y/n] ") or "").lower() not in ("", "y", "yes"):
        out.line("Nothing was downloaded.")
        return 0
    for entry in plan:
        _accept(entry, options.accept_licence, out)
    models.pull(names=[e.reference for e in plan], progress=_Bar(out))
    out.result([e.name for e in plan], [f"Downloaded and verified: {', '.join(e.name for e in plan)}"])
    return 0


def _accept(entry: models.ModelEntry, given: bool, out: Out) -> None:
    """Show a model's terms and keep on file that they were accepted. Raises UsageError where they are not."""
    if entry.accepted:
        return
    told(f"{entry.name}: {entry.terms}")
    if not given:
        if not sys.stdin.isatty():
            raise UsageError(f"{entry.name} has terms that you must accept.", "Without a terminal it needs --accept-licence.")
        if (prompt("Do you accept this? Type yes: ") or "").lower() != "yes":
            raise UsageError(f"{entry.name} was not downloaded: its terms were not accepted.")
    licences.accept(entry.name, entry.terms)


class _Bar:
    """Progress of a download: one line per model on plain output, a running percentage on a terminal."""

    def __init__(self, out: Out) -> None:
        self._out, self._last = out, ""

    def __call__(self, name: str, done: int, total: int, state: str = "working", error: str | None = None) -> None:
        # What went wrong is raised as well, and said once, by who catches it.
        text = f"{name}: {state}" if state != "working" else f"{name}: {100 * done // max(total, 1)} %"
        if sys.stderr.isatty() and not self._out.json:
            print(f"\r{visible(text):<60}", end="\n" if state != "working" else "", file=terminal(), flush=True)
        elif state != "working" and text != self._last:
            self._out.line(text)
        self._last = text


def config_(options: Any, out: Out) -> int:
    from m3desk import paths

    if options.action == "path":
        out.result(str(paths.config_file()), [str(paths.config_file())])
        return 0
    if options.action == "set":
        if options.key is None or options.value is None:
            raise UsageError("config set needs a key and a value.", "For example: m3desk config set language zh.")
        if (named := _of_backend(options.key)) is not None:
            if named == (outgoing.SERVER, "url"):
                outgoing.Address.parse(options.value)
            config.set_backend_option(*named, options.value)
            out.result({options.key: config.backend_options(named[0])[named[1]]}, [f"{options.key} = {options.value}", *_leaves(named)])
            return 0
        if options.key == "profile":
            profile(options.value)  # a name of nothing would stop every command that opens a model
            if why := machine.refusal(options.value):
                raise UsageError(f"the profile {options.value} can't run on this machine: {why}.", "m3desk doctor tells which can.")
        config.set_value(options.key, options.value)
        told = _leaves((options.key, "")) if options.key in ("profile", "writer") else []
        out.result({options.key: config.get_value(options.key)}, [f"{options.key} = {options.value}", *told])
        return 0
    if options.key is not None and (named := _of_backend(options.key)) is not None:
        table = config.backend_options(named[0])
        if named[1] not in table:
            raise UsageError(f"{options.key} is not set.", f"Set it: m3desk config set {options.key} VALUE")
        out.result(table[named[1]], [str(table[named[1]])])
        return 0
    if options.key is not None:
        value = config.get_value(options.key)
        out.result(value, [str(value)])
        return 0
    values = config.values()
    out.result(values, [f"{key} = {value}" for key, value in values.items()])
    return 0


def _of_backend(key: str) -> tuple[str, str] | None:
    """Return backend and option of a key such as `backends.server.url`; None for other settings."""
    words = key.split(".")
    return (words[1], words[2]) if len(words) == 3 and words[0] == "backends" else None


def _leaves(changed: tuple[str, str]) -> list[str]:
    """Return what leaves this machine by a setting that was changed: told where it is chosen."""
    if changed == (outgoing.SERVER, "url"):
        address = outgoing.server()
        if address is None or address.local:
            return []
        told = outgoing.Leaving(address.shown, True, True, address.encrypted)
        return [f"Where the profile or the memory writer “{outgoing.SERVER}” is chosen:", *told.lines()]
    leaving = outgoing.of_profile(config.get_value("profile"), config.get_value("writer"))
    return leaving.lines() if leaving is not None else []


def doctor(options: Any, out: Out) -> int:
    report = machine.doctor()
    lines = [
        f"{key}: {value if isinstance(value, str | int) else json.dumps(value, ensure_ascii=False)}"
        for key, value in report.items()
        if key != "profiles"
    ]
    lines += [f"profile {p['name']}: {'ready' if p['ready'] else p['reason']}" for p in report["profiles"]]
    out.result(report, lines)
    return 0


def devices(options: Any, out: Out) -> int:
    from m3desk.media.capture.devices import devices as found

    listed = found(options.test)
    rows = [{key: value for key, value in asdict(d).items() if options.test or key != "test"} for d in listed]
    if not listed:
        out.result(rows, ["No camera and no microphone was found. Connect one, or use rtsp://… or file:PATH?live."])
        return 0
    states = {None: "", True: "works", False: "does not work"}
    shown = [(d.kind, d.id, d.name, ", ".join(d.formats[:3]), f"{states[d.ok]} {d.test}".strip()) for d in listed]
    out.result(rows, table(shown, ("kind", "address", "name", "formats", "test")))
    return 0


def _bench_words(options: Any) -> list[str]:
    """Return a benchmark's arguments: its positional ones, then the options that are set."""
    named = [
        w
        for name in ("keep", "seed", "tries", "minutes")
        if (value := getattr(options, name)) is not None
        for w in (f"--{name}", str(value))
    ]
    flags = [f"--{name.replace('_', '-')}" for name in ("llm", "random_weights", "tiny") if getattr(options, name)]
    return [*options.args, *flags, *named]


def bench(options: Any, out: Out) -> int:
    from m3desk import bench as benches

    if options.name is None:
        out.result([{"name": n, "text": t} for n, t in benches.names().items()], [f"{n:<10} {t}" for n, t in benches.names().items()])
        return 0
    if options.name not in benches.names():
        raise UsageError(f"there is no benchmark “{options.name}”.", f"There are: {', '.join(benches.names())}.")
    try:
        report = benches.run(options.name, _bench_words(options))
    except subprocess.CalledProcessError as error:
        said = (error.stderr or b"").decode("utf-8", "replace") if isinstance(error.stderr, bytes) else error.stderr or ""
        last = said.strip().splitlines()[-1:] or [f"status {error.returncode}"]
        raise M3DeskError(f"a program run by the benchmark {options.name} failed: {last[0]}") from error
    except FileNotFoundError as error:
        raise M3DeskError(
            f"the benchmark's material is not here: {error.filename}.", "It lies in ../shared/data beside the checkout."
        ) from error
    out.result(report, benches.lines(options.name, report))
    return 0 if report.get("ok", True) else 1
