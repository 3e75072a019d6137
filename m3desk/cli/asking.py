"""`ask` and `search`: questions to a memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from m3desk import events
from m3desk.cli.opening import App
from m3desk.cli.output import Out, span, told
from m3desk.cli.parser import before
from m3desk.cli.work import existing
from m3desk.control.loop import as_json
from m3desk.control.query import fitting
from m3desk.domain.clip import seconds
from m3desk.domain.plural import many
from m3desk.errors import M3DeskError, MemoryProblem, UsageError
from m3desk.ports import FoundClip, FoundNode
from m3desk.store.records import Records

KINDS = ("face", "voice", "episodic", "semantic", "object", "place")


def known_before(options: Any, app: App) -> tuple[str, int] | None:
    """Return `--before` as (source, index of the last known clip; −1 = none). None without the option."""
    if options.before is None:
        return None
    source, index, at = before(options.before)
    with app.reader() as reader:
        sources = [s.id for s in reader.sources()]
        if source is None:
            if len(sources) != 1 and index != -1:
                raise UsageError(
                    f"--before needs a source: this memory has {len(sources)}.", "For example --before s1@1:30 or --before clip:s1.c2."
                )
            source = sources[0] if sources else "s1"
        if source not in sources and sources:
            raise UsageError(f"there is no source {source} here.", f"There are: {', '.join(sources)}.")
        known = [c.index for c in reader.clips(source)]
        if index is not None:
            if index != -1 and index not in known:
                raise UsageError(f"{source} has no clip {index}.", f"It has clips 0 to {max(known, default=0)}.")
            return source, index
        done = [c.index for c in reader.clips(source) if c.end <= at]
    return source, max(done, default=-1)


def at_a_date(options: Any, app: App, out: Out) -> str | None:
    """Return `--believed-at`, checked; warn if the memory was still empty then. None without the option."""
    if options.believed_at is None:
        return None
    with app.reader(believed_at=options.believed_at) as reader:
        if reader.as_of is not None and reader.as_of.empty:
            began = reader.as_of.began
            out.warn(f"nothing was believed yet at {options.believed_at}: this memory " + (f"begins at {began}." if began else "is empty."))
    return str(options.believed_at)


def open_as_of(options: Any, app: App, out: Out) -> Records:
    """Return a reader of the state selected by `--before` and `--believed-at` (both may be given)."""
    return app.reader(before=known_before(options, app), believed_at=at_a_date(options, app, out))


def ask(options: Any, out: Out) -> int:
    existing(options.memory)
    fitting(options.question)
    if not options.question.strip():
        raise UsageError("the question is empty.", 'For example: m3desk ask -m M "who appears?"')
    rounds: list[events.AskRound] = []
    done: events.AskDone | None = None
    with App(options.memory, write=False) if options.believed_at is not None else _open_for_chat(options.memory) as app:
        believed_at = at_a_date(options, app, out)
        if (leaving := app.leaves()) is not None and leaving.questions and not out.json and not out.quiet:
            told(f"  {leaving.short()}")
        for event in app.answering.ask(options.question, before=known_before(options, app), believed_at=believed_at, mode=options.mode):
            if isinstance(event, events.AskRound):
                rounds.append(event)
                if event.action == "search" and not out.json and not out.quiet:
                    told(f"  searched “{event.query}” → {many(len(event.results), 'memory')}")
            elif isinstance(event, events.AskDone):
                done = event
    if done is None or done.error:
        raise M3DeskError(done.error if done and done.error else "no answer came.")
    if done.problem:
        out.warn(f"The language model did not answer, so memories are quoted: {done.problem}")
    lines = done.answer.splitlines()  # a list of several lines stays one
    for citation in done.citations:
        lines.append(f"  {citation.mark} {citation.source} {span(citation.start, citation.end)} {citation.node or ''}".rstrip())
    out.result(as_json(done, rounds), lines)
    return 0


def _open_for_chat(memory: str) -> App:
    """Open a memory for writing, to store the chat; if it can't be written to now, open it for reading and store nothing."""
    try:
        return App(memory)
    except MemoryProblem:
        return App(memory, write=False)


def search(options: Any, out: Out) -> int:
    existing(options.memory)
    fitting(options.text or "")
    if not options.text and not options.image and not options.audio:
        raise UsageError("search needs words, --image or --audio.", 'For example: m3desk search nodes -m M "red mug"')
    with App(options.memory, write=False) as app:
        cut, date = known_before(options, app), at_a_date(options, app, out)
        if options.what == "clips":
            _print_clips(app.answering.search_clips(options.text or "", k=options.k or 2, before=cut, believed_at=date), out)
            return 0
        kinds = tuple(options.kind.split(",")) if options.kind else None
        if wrong := [k for k in kinds or () if k not in KINDS]:
            raise UsageError(f"there is no kind “{wrong[0]}”.", f"There are: {', '.join(KINDS)}.")
        k = options.k or 20
        if options.image or options.audio:
            path = Path(options.image or options.audio)
            found = (
                app.answering.search_image(path, k=k, before=cut, believed_at=date)
                if options.image
                else app.answering.search_audio(path, k=k, before=cut, believed_at=date)
            )
        else:
            found = app.answering.search_nodes(options.text, k=k, kinds=kinds, before=cut, believed_at=date)
        _print_nodes(found, out)
    return 0


def _print_nodes(found: list[FoundNode], out: Out) -> None:
    out.result(
        [node_json(f) for f in found],
        [f"{f.score:.2f} {f.id:<14} {span(f.start, f.end)} {f.content}  ({f.why})" for f in found] or ["Nothing found."],
    )


def _print_clips(found: list[FoundClip], out: Out) -> None:
    document = [
        {
            "clip": c.clip, "source": c.source, "start": seconds(c.start), "end": seconds(c.end), "score": round(c.score, 4),
            "memories": [{"id": m.id, "type": m.type, "content": m.content} for m in c.memories],
        }
        for c in found
    ]  # fmt: skip
    lines = []
    for c in found:
        lines.append(f"{c.score:.2f} {c.clip} {span(c.start, c.end)}")
        lines += [f"     {m.content}" for m in c.memories]
    out.result(document, lines or ["Nothing found."])


def node_json(f: FoundNode) -> dict[str, Any]:
    """Return a found node in the form that `search nodes --json` prints."""
    return {
        "id": f.id, "type": f.type, "content": f.content, "score": round(f.score, 4), "why": f.why, "clip": f.clip, "source": f.source,
        "start": None if f.start is None else seconds(f.start), "end": None if f.end is None else seconds(f.end), "people": list(f.people),
    }  # fmt: skip
