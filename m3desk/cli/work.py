"""`memorize`, `sources`, `import`, `export`, `check`: creates, transfers and checks memories."""

from __future__ import annotations

import contextlib
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from m3desk import config
from m3desk.app import importing
from m3desk.cli.opening import App, warn
from m3desk.cli.output import Follower, Out, confirm, exact, table
from m3desk.cli.parser import moment
from m3desk.domain.clip import clock, seconds
from m3desk.domain.plural import many
from m3desk.domain.sample_files import is_graph
from m3desk.errors import Cancelled, M3DeskError, MemoryMissing, UsageError
from m3desk.media import excerpt
from m3desk.media.capture.address import check_spelling, is_live
from m3desk.media.file import is_there
from m3desk.store import place
from m3desk.work import Options, readable


def existing(path: str) -> str:
    """Return `path` if it is a memory. Raises MemoryMissing, or MemoryDamaged if files of a memory are there but no database."""
    place.check_file(Path(path))
    if not (Path(path) / place.FILE).is_file():
        raise MemoryMissing(f"there is no memory at {path}.", f"Check the path, or make one: m3desk memorize VIDEO -m {shlex.quote(path)}")
    return path


def memorize(options: Any, out: Out) -> int:
    if any(is_live(source) for source in options.sources):
        from m3desk.cli import live

        return live.memorize(options, out)
    if options.clip_seconds is not None and not 5 <= options.clip_seconds <= 300:
        raise UsageError(f"a clip of {options.clip_seconds:g} s can't be.", "Give --clip-seconds between 5 and 300.")
    if options.fps is not None and not 0.2 <= options.fps <= 30:
        raise UsageError(f"{options.fps:g} pictures a second can't be.", "Give --fps between 0.2 and 30.")
    how = Options(
        clip_seconds=options.clip_seconds,
        fps=options.fps,
        start=moment(options.start) if options.start else 0,
        end=moment(options.end) if options.end else None,
        semantic=not options.no_semantic,
        rebuild=options.rebuild,
        language=options.language,
        writer=options.writer,
    )
    if options.bystanders:
        raise UsageError("--bystanders is for live sources.", "Of a file, single people can be forgotten: m3desk people forget.")
    for source in options.sources:
        check_spelling(source)
    readable(options.sources)  # nothing is made for a source that can't be used
    new = not Path(options.memory).exists()
    settings = config.Settings.load()
    if options.profile:
        settings = replace(settings, profile=options.profile)
    with Follower(out) as follow, App(options.memory, emit=follow, settings=settings) as app:
        try:
            app.watching.start()
            ids = app.work.add(options.sources, how)
            tally = app.work.run()
            app.look_again()
        except M3DeskError:
            if new:
                app.discard_if_empty()
            raise
        concluded = app.work.conclude(options.language) if how.semantic else 0
        with app.reader() as reader:
            report = _report(reader, ids, tally, concluded)
        if new and not tally.committed:
            app.discard_if_empty()
    return _say(report, options.memory, out)


def _report(reader: Any, ids: list[str], tally: Any, concluded: int) -> dict[str, Any]:
    clips = reader.clips()
    states = {state: sum(c.state == state for c in clips) for state in ("queued", "episodic", "done", "failed", "skipped")}
    people = reader.people()
    return {
        "sources": [
            {"id": s.id, "uri": s.uri, "state": s.state, "error": s.error, "clips": sum(c.source == s.id for c in clips)}
            for s in reader.sources()
        ],
        "memorized": ids,
        "clips": states,
        "problems": [{"clip": c.id, "state": c.state, "error": c.error} for c in clips if c.state in ("failed", "skipped")],
        "people": len(people),
        "memories": {kind: len(reader.memories(kind=kind)) for kind in ("episodic", "semantic")},
        "committed": tally.committed,
        "concluded": concluded,
        "seconds": round(tally.seconds, 3),
        "real_time": round(tally.covered / tally.seconds, 3) if tally.seconds else None,
    }


def _say(report: dict[str, Any], memory: str, out: Out) -> int:
    failed = []
    for source in (s for s in report["sources"] if s["id"] in report["memorized"]):
        lost = [p for p in report["problems"] if p["clip"].startswith(source["id"] + ".")]
        if source["state"] == "failed":
            why = lost[0]["error"] if lost and len(lost) == source["clips"] else source["error"]
            failed.append(why if why.startswith(source["uri"]) else f"{source['uri']} could not be memorized: {why}")
        elif lost:
            out.warn(f"{many(len(lost), 'clip')} of {source['uri']} could not be memorized: {lost[0]['error']}")
    for line in failed[:-1]:
        out.warn(line)
    if failed:
        raise M3DeskError(failed[-1])
    counts = report["clips"]
    pace = f", seen and heard in {report['seconds']:.0f} s ({report['real_time']:.1f}× real time)" if report["real_time"] else ""
    lines = [
        f"{many(sum(counts.values()), 'clip')} ({', '.join(f'{n} {s}' for s, n in counts.items() if n)}){pace}",
        f"{many(report['people'], 'person', 'people')}, {report['memories']['episodic']} episodic and "
        f"{report['memories']['semantic']} semantic memories",
        f'Ask: m3desk ask -m {shlex.quote(memory)} "who appears?"',
    ]
    out.result(report, lines)
    return 0


def sources(options: Any, out: Out) -> int:
    existing(options.memory)
    if options.action == "list":
        with App(options.memory, write=False) as app, app.reader() as reader:
            rows = reader.sources()
        document = [
            {
                "id": s.id,
                "uri": s.uri,
                "duration": None if s.duration is None else seconds(s.duration),
                "state": s.state,
                "sha256": s.sha256,
                "error": s.error,
            }
            for s in rows
        ]
        lines = table([(s.id, s.state, clock(s.duration or 0), _place(s.uri)) for s in rows], ("id", "state", "length", "file"))
        out.result(document, lines)
        return 0
    if not options.source or (options.action == "relink" and not options.file):
        raise UsageError(
            f"sources {options.action} needs a source" + (" and a file." if options.action == "relink" else "."),
            "For example: sources relink s1 FILE -m M.",
        )
    with App(options.memory) as app:
        if options.action == "relink":
            app.work.relink(options.source, options.file)
            out.result({"id": options.source, "uri": options.file}, [f"{options.source} is now {options.file}"])
            return 0
        effect = app.work.remove(options.source, dry_run=True)
        out.line(effect.text)
        confirm(f"Remove {options.source} from this memory?", options.yes)
        effect = app.work.remove(options.source)
        out.result({"text": effect.text, "people": effect.people, "memories": effect.memories}, [f"Removed {options.source}."])
    return 0


def _place(uri: str) -> str:
    return uri if is_there(uri) else f"{uri} (not there; m3desk sources relink)"


def import_(options: Any, out: Out) -> int:
    path = Path(options.file)
    importing.check(path)
    graph = App.read_graph(path) if is_graph(path.name) else None  # all is read and checked before a memory is made for it
    found = graph or App.read_export(path)
    new = not Path(options.memory).exists()
    with App(options.memory) as app:
        try:
            report = app.import_read(found)
        except M3DeskError:
            if new:
                app.discard_if_empty()
            raise
        if graph:
            _of_graph(report, options.memory, out)
        try:
            app.embed_lacking()
        except KeyboardInterrupt:
            place_ = shlex.quote(str(options.memory))
            raise Cancelled(
                "stopped; the import is whole, and is found by words.",
                f"The app makes the rest searchable by meaning: m3desk open {place_}",
            ) from None
    lines = [f"Imported {report['clips']} clips, {report['people']} people, {report['memories']} memories into {options.memory}."]
    out.result(report, lines)
    return 0


def _of_graph(report: dict[str, Any], memory: str, out: Out) -> None:
    for warning in report["warnings"]:
        out.warn(warning + ".")
    out.line(
        f"{report['nodes']} nodes, {report['edges']} edges, {report['votes']} votes of {report['equivalences']} equivalences, "
        f"{report['crops']} pictures. What looks wrong in it: m3desk check -m {shlex.quote(memory)}"
    )
    out.line(f"Making {report['memories']} sentences searchable by meaning…")


def export(options: Any, out: Out) -> int:
    existing(options.memory)
    if options.clip is None and (options.from_ or options.to):
        raise UsageError("--from and --to are for a span of a source.", "Say of which source: --clip s1.")
    if options.clip is not None:
        return _export_clip(options, out)
    taken = App.would_replace(options.output, with_media=options.with_media)
    if taken:
        confirm(f"Overwrite {' and '.join(map(str, taken))}?", options.force, option="--force")
    how = {"format_": options.format, "source": options.source, "with_media": options.with_media}
    with App(options.memory, write=False) as app:
        holds = app.export(options.output, overwrite=True, stdout=exact(), **how)
    if options.output != "-":
        out.line(f"Wrote {options.output}." if holds else f"Wrote {options.output}, but it is empty: no speech is known.")
    return 0


def _export_clip(options: Any, out: Out) -> int:
    """Write a span of a source as a video file."""
    if options.from_ is None or options.to is None:
        raise UsageError("a clip needs its start and its end.", "Give both: --from 1:30 --to 2:00.")
    start, end = moment(options.from_), moment(options.to)
    excerpt.check(start, end, Path(options.output))
    taken = App.would_replace(options.output)
    if taken:
        confirm(f"Overwrite {' and '.join(map(str, taken))}?", options.force, option="--force")
    with App(options.memory, write=False) as app:
        done = app.export_clip(options.output, options.clip, start, end)
    how = (
        "copied without loss" if done.copied else "encoded again, because its borders are not at key frames or the file is of another kind"
    )
    out.line(f"Wrote {options.output}: {seconds(done.length):.1f} s, {how}.")
    return 0


def check(options: Any, out: Out) -> int:
    if options.restore:
        _restore(options, out)
    memory = existing(options.memory)
    with contextlib.ExitStack() as stack:
        emit = stack.enter_context(Follower(out)) if options.repair else warn
        app = stack.enter_context(App(memory, write=options.repair, finish=False, emit=emit))  # it reports what is not finished
        report = app.check(repair=options.repair)
    lines = []
    if report["ok"]:
        lines = ["Sound. Worth a look:" if report["findings"] else "Nothing wrong."]
    lines += [f"integrity: {p}" for p in report["integrity"]] + [f"index: {p}" for p in report["index"]]
    lines += [f"{f['kind']}: {f['text']}" + (f"  → {f['fix']}" if f.get("fix") else "") for f in report["findings"]]
    lines += [f"waiting: step {w['step']}, {w['text']}  → memorize what it speaks of, or {w['fix']}" for w in report["waiting"]]
    constraints = report["constraints"]
    lines.append(f"constraints: {constraints['broken']} of {sum(constraints.values())} broken")
    out.result(report, lines)
    return 0 if report["ok"] else 1


def _restore(options: Any, out: Out) -> None:
    """Replace a damaged database with its last good copy, after asking. Raises UsageError if nothing is damaged."""
    wrong = place.examine(Path(options.memory))
    if wrong is None:
        raise UsageError(f"nothing is wrong with the database of {options.memory}.", "So there is nothing to restore.")
    out.line(wrong.text)
    if wrong.copy:
        confirm(f"Put the copy of {wrong.copy} in its place? What was memorized or corrected later is not in it.", options.yes, lost=False)
    aside = Path(options.memory) / "damaged"
    before = set(aside.glob("*"))
    taken = App.restore(options.memory)
    kept = f" The damaged file is kept in {aside}." if set(aside.glob("*")) - before else ""
    out.line(f"The copy of {taken} is in place.{kept}")


__all__ = ["check", "existing", "export", "import_", "memorize", "sources"]
