"""`people`, `observations`, `memories`, `undo`, `redo`, `revert`, `journal`: lists and corrects people and memories."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from m3desk.cli.asking import open_as_of
from m3desk.cli.opening import App
from m3desk.cli.output import Out, span, table
from m3desk.cli.parser import moment
from m3desk.cli.work import existing
from m3desk.domain.clip import clock, seconds
from m3desk.domain.correction import Effect
from m3desk.domain.ids import clip_id
from m3desk.domain.memory import StoredSentence
from m3desk.domain.people import Person
from m3desk.domain.plural import many
from m3desk.errors import CorrectionError, UsageError
from m3desk.interop.exports import bookmark_json

STALE = "  (stale: its evidence was corrected)"


def person_json(p: Person) -> dict[str, Any]:
    """Return a person in the form that `people list --json` prints."""
    return {
        "id": p.id,
        "name": p.name,
        "name_state": p.name_state,
        "suggested_names": [{"name": s.name, "score": s.score, "evidence": list(s.evidence)} for s in p.suggested_names],
        "aliases": list(p.aliases),
        "faces": list(p.faces),
        "voices": list(p.voices),
        "first_seen": seconds(p.first_seen[1]) if p.first_seen else None,
        "last_seen": seconds(p.last_seen[1]) if p.last_seen else None,
        "screen_seconds": seconds(p.screen_time),
        "speech_seconds": seconds(p.speech_time),
        "clips": list(p.clips),
        "ignored": p.ignored,
    }


def sentence_json(s: StoredSentence) -> dict[str, Any]:
    """Return a sentence in the form that `memories list --json` prints."""
    return {
        "id": s.id,
        "type": s.kind,
        "content": s.shown,
        "clip": s.clip,
        "source": s.source,
        "start": seconds(s.start),
        "end": seconds(s.end),
        "weight": s.weight,
        "people": list(s.people),
        "citations": list(s.citations),
        "topic": s.topic,
        "valid_until": s.valid_until,
        "pinned": s.pinned,
        "stale": s.stale,
    }


def people(options: Any, out: Out) -> int:
    if options.action == "enroll":
        return _enroll(options, out)
    existing(options.memory)
    if options.action == "list":
        return _list(options, out)
    if options.action == "show":
        return _show(options, out)
    kind, args = _correction(options)
    with App(options.memory) as app:
        return _tell(app.correct(kind, args, why=options.why, dry_run=options.dry_run), options.dry_run, out)


def _correction(options: Any) -> tuple[str, dict[str, Any]]:
    match options.action:
        case "name":
            if not options.name.strip():
                raise UsageError("a name can't be empty.")
            return "name", {"person": options.person, "name": options.name.strip()}
        case "assign":
            if options.new is not None:
                return "assign", {"observations": options.observations, "person": None, "name": options.new or None}
            if len(options.observations) < 2:
                raise UsageError(
                    "assign needs observations and a person.", "For example: people assign s1.c0.f2 person_3, or … s1.c0.f2 --new Carol."
                )
            return "assign", {"observations": options.observations[:-1], "person": options.observations[-1], "name": None}
        case "merge":
            return "merge", {"keep": options.keep, "others": options.others}
        case "distinct":
            return "distinct", {"a": options.person, "b": options.other}
        case "split":
            taken = _split(options)
            if options.suggestion is not None and not options.name:  # accepted, both sides keep their nodes and stay whole
                return "accept", {"n": options.suggestion}
            return "split", taken
        case "link" | "unlink":
            return options.action, {"face": options.face, "voice": options.voice}
        case "ignore":
            return "ignore", {"person": options.person, "ignored": not options.show}
        case "exclude":
            return "exclude", {"observation": options.observation, "person": options.person}
        case _:
            return "set-aside", {"observation": options.observation}


def _split(options: Any) -> dict[str, Any]:
    """Return the observations to split off: those named, those of a clip, or the second side of a suggestion."""
    chosen = [n for n in ("observations", "clip", "suggestion") if getattr(options, n) is not None]
    if len(chosen) != 1:
        raise UsageError("split needs the observations to split off.", "Give one of --observations OBS…, --clip C or --suggestion N.")
    taken: dict[str, Any] = {"person": options.person, "name": options.name}
    if options.clip is not None:
        return taken | {"clip": _clip(options.clip, options.memory)}
    if options.suggestion is None:
        return taken | {"observations": options.observations}
    with App(options.memory, write=False) as app, app.reader() as reader:
        found = next((s for s in reader.suggestions() if s.n == options.suggestion), None)
        if found is None or found.kind != "two_people":
            what = f"suggestion {options.suggestion} is about something else" if found else f"there is no suggestion {options.suggestion}"
            raise UsageError(f"{what}.", "See: m3desk people suggestions.")
        if reader.person(options.person).id not in {reader.person(p).id for p in found.people}:
            raise UsageError(f"suggestion {options.suggestion} is not about {options.person}.", "See: m3desk people suggestions.")
    return taken | {"observations": list(found.groups[1])}


def _clip(text: str, memory: str) -> str:
    """Return `clip:s1.c12`, `s1.c12` or, if there is one source, `clip:12` as a clip's id."""
    bare = text.strip().removeprefix("clip:")
    if not bare.isdigit():
        return bare
    with App(memory, write=False) as app, app.reader() as reader:
        sources = reader.sources()
    if len(sources) != 1:
        raise UsageError(f"clip {bare} of which source? This memory has {len(sources)}.", "For example s1.c2.")
    return clip_id(sources[0].id, int(bare))


def _enroll(options: Any, out: Out) -> int:
    new = not Path(options.memory).exists()
    app = App(options.memory)
    try:
        effect = app.correct("enroll", {"name": options.name, "files": options.files}, why=options.why, dry_run=options.dry_run)
    finally:
        if new:
            app.discard_if_empty()
        app.close()
    return _tell(effect, options.dry_run, out)


def observations(options: Any, out: Out) -> int:
    """Correct observations: each verb writes new observations that supersede old ones."""
    existing(options.memory)
    match options.action:
        case "split-at":
            args: dict[str, Any] = {"observation": options.observation, "at": moment(options.at)}
        case "bounds":
            args = {"observation": options.observation, "start": moment(options.start), "end": moment(options.end)}
        case "words":
            args = {"observation": options.observation, "text": options.text}
        case _:
            box = [options.x, options.y, options.width, options.height]
            args = {"clip": _clip(options.clip, options.memory), "at": moment(options.at), "box": box}
    with App(options.memory) as app:
        return _tell(app.correct(options.action, args, why=options.why, dry_run=options.dry_run), options.dry_run, out)


def _tell(effect: Effect, dry_run: bool, out: Out) -> int:
    document = {**asdict(effect), "dry_run": dry_run}
    out.result(document, [("Would: " if dry_run else "") + effect.text])
    return 0


def _list(options: Any, out: Out) -> int:
    with App(options.memory, write=False) as app, open_as_of(options, app, out) as reader:
        everybody = reader.people()
    rows = [
        (
            p.id,
            p.shown + (" (hidden)" if p.ignored else ""),
            f"{seconds(p.screen_time):.1f} s",
            f"{seconds(p.speech_time):.1f} s",
            str(len(p.clips)),
            ", ".join((*p.faces, *p.voices)),
        )
        for p in everybody
    ]
    lines = table(rows, ("id", "name", "on screen", "speaking", "clips", "nodes")) if rows else ["Nobody yet."]
    out.result([person_json(p) for p in everybody], lines)
    return 0


def _show(options: Any, out: Out) -> int:
    with App(options.memory, write=False) as app, open_as_of(options, app, out) as reader:
        p = reader.person(options.person)
        known = reader.memories(person=p.id)
        bound = [b for b in reader.bindings() if b.superseded is None and b.node in (*p.faces, *p.voices)]
        consent = reader.consents().get(p.id)
        taught = list(dict.fromkeys(e.uri for e in reader.enrolments() if e.person == p.id))
    document = {
        **person_json(p),
        "memories": [sentence_json(s) for s in known],
        "observations": [b.observation for b in bound],
        "taught_from": taught,
        "consent": consent,
    }
    lines = [f"{p.shown} ({p.id})" + (f", also {', '.join(p.aliases)}" if p.aliases else "")]
    if p.suggested_names and p.name_state == "suggested":
        lines += [f"  perhaps {s.name} ({s.score:.2f}): “{s.words}”" for s in p.suggested_names]
    lines.append(f"  on screen {seconds(p.screen_time):.1f} s, speaking {seconds(p.speech_time):.1f} s, {many(len(p.clips), 'clip')}")
    lines.append(f"  observations: {' '.join(b.observation for b in bound)}")
    if consent:
        lines.append(f"  consent: {consent}")
    if taught:
        lines.append(f"  taught from {', '.join(taught)}")
    lines += [f"  {s.id:<14} {span(s.start, s.end)} {s.shown}{STALE if s.stale else ''}" for s in known]
    out.result(document, lines)
    return 0


def memories(options: Any, out: Out) -> int:
    existing(options.memory)
    if options.action == "list":
        with App(options.memory, write=False) as app, app.reader() as reader:
            sentences = [s for s in reader.memories() if s.stale or not options.stale]
        rows = [
            f"{s.id:<14} {s.source} {span(s.start, s.end)} {s.shown}"
            + (f"  ({s.topic}, ×{s.weight:g})" if s.topic else "")
            + (STALE if s.stale else "")
            for s in sentences
        ]
        out.result([sentence_json(s) for s in sentences], rows or ["No memories yet."])
        return 0
    if options.action == "rewrite":
        return _rewrite(options, out)
    needs = {"add": 1, "edit": 2, "delete": 1, "pin": 1}[options.action]
    if len(options.args) != needs:
        raise UsageError(
            f"memories {options.action} needs {'a memory and its text' if needs == 2 else 'one argument'}.", "See m3desk memories --help."
        )
    args = {"add": lambda a: {"text": a[0]}, "edit": lambda a: {"node": a[0], "text": a[1]}}.get(options.action, lambda a: {"node": a[0]})(
        options.args
    )
    with App(options.memory) as app:
        effect = app.correct(options.action, args, why=options.why, dry_run=options.dry_run)
        if options.action in ("add", "edit") and not options.dry_run:
            app.embed_lacking()
    return _tell(effect, options.dry_run, out)


def bookmarks(options: Any, out: Out) -> int:
    existing(options.memory)
    if options.action == "list":
        with App(options.memory, write=False) as app, app.reader() as reader:
            found = [b for b in reader.bookmarks() if options.source in (None, b.source)]
        lines = table(
            [
                [b.id.removeprefix("bookmark_"), b.source or "removed", span(b.start, b.end if b.end > b.start else None), b.note]
                for b in found
            ],
            ("n", "source", "time", "note"),
        )
        out.result([bookmark_json(b) for b in found], lines if found else ["No bookmarks yet."])
        return 0
    given, args = options.args, dict[str, Any]()
    if len(given) not in {"add": (1, 2), "edit": (2,), "remove": (1,)}[options.action]:
        raise UsageError(f"bookmarks {options.action} takes other arguments.", "See m3desk bookmarks --help.")
    with App(options.memory) as app:
        if options.action == "add":
            with app.reader() as reader:
                sources = [s.id for s in reader.sources()]
            if options.source is None and len(sources) != 1:
                raise UsageError("there are several sources." if sources else "there is no source.", "Name one: --source s1.")
            args = {"source": options.source or sources[0], "start": moment(given[0]), "text": " ".join(given[1:])}
        elif options.action == "edit":
            args = {"bookmark": given[0], "text": given[1]}
        else:
            args = {"bookmark": given[0]}
        if options.to is not None and options.action != "remove":
            args["end"] = options.to
        kind = "unbookmark" if options.action == "remove" else "bookmark"
        effect = app.correct(kind, args, why=options.why, dry_run=options.dry_run)
    return _tell(effect, options.dry_run, out)


def _rewrite(options: Any, out: Out) -> int:
    """Update sentences that quote corrected words; each update is an edit that undo reverts."""
    if bool(options.args) == options.stale:
        raise UsageError("rewrite needs memories, or --stale for all stale ones.", "For example: m3desk memories rewrite --stale.")
    with App(options.memory) as app:
        with app.reader() as reader:
            stale = [s.id for s in reader.memories() if s.stale]
        done, left = [], []
        for id_ in options.args or stale:
            try:
                done.append(app.correct("rewrite", {"memory": id_}, why=options.why, dry_run=options.dry_run))
            except CorrectionError as error:
                if not options.stale:
                    raise
                left.append((id_, error))
        if done and not options.dry_run:
            app.embed_lacking()
    would = "Would: " if options.dry_run else ""
    lines = [would + e.text for e in done] + [f"{id_} is not changed: {error}" for id_, error in left]
    document = {"rewritten": [asdict(e) for e in done], "left": [id_ for id_, _ in left], "dry_run": options.dry_run}
    out.result(document, lines or ["Nothing is stale."])
    return 0


def undo(options: Any, out: Out) -> int:
    with App(existing(options.memory)) as app:
        return _tell(app.undo(options.count), False, out)


def redo(options: Any, out: Out) -> int:
    with App(existing(options.memory)) as app:
        return _tell(app.redo(options.count), False, out)


def revert(options: Any, out: Out) -> int:
    with App(existing(options.memory)) as app:
        args = {"step": options.step, "also": options.with_dependents}
        return _tell(app.correct("revert", args, why=options.why, dry_run=options.dry_run), options.dry_run, out)


def journal(options: Any, out: Out) -> int:
    with App(existing(options.memory), write=False) as app, app.reader() as reader:
        steps = reader.journal()
    lines = [
        f"{s.step:>4}  {s.at[:19]}  {s.by}  {'(undone) ' if s.undone else ''}{s.kind}: {s.text}" + (f" — {s.why}" if s.why else "")
        for s in steps
    ]
    out.result([asdict(s) for s in steps], lines or ["No corrections yet."])
    return 0


__all__ = ["clock", "journal", "memories", "observations", "people", "person_json", "redo", "revert", "sentence_json", "undo"]
