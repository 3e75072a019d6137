"""`rewrite`: has clips written again by another writer, shows the sentences of both side by side, and takes or drops the new ones."""

from __future__ import annotations

import shlex
from dataclasses import replace
from textwrap import wrap
from typing import Any

from m3desk import config
from m3desk.app.rewriting import chosen
from m3desk.cli.opening import App
from m3desk.cli.output import Follower, Out
from m3desk.cli.work import existing
from m3desk.domain.clip import clock
from m3desk.domain.plural import many
from m3desk.errors import UsageError

WIDTH = 58
"""Letters of a column."""


def rewrite(options: Any, out: Out) -> int:
    memory = shlex.quote(existing(options.memory))
    settings = config.Settings.load()
    settings = replace(settings, writer=options.writer) if options.writer else settings
    with Follower(out) as follow, App(options.memory, emit=follow, settings=settings, write=not options.show) as app:
        with app.reader() as reader:
            clips = chosen(options.clips, reader.sources(), reader.clips())
            waiting = [v for v in reader.versions() if v.clip in clips]
            sides = [_sides(reader, v) for v in waiting] if options.show else []
        if options.writer:
            done = app.rewrite(clips, options.writer, options.language, lambda clip, n, all_: out.line(f"{clip} ({n + 1} of {all_})"))
            for clip, why in done.failed.items():
                out.warn(f"{clip}: {why}")
            together = f" (up to {done.at_once} at a time)" if done.at_once > 1 else ""
            lines = [f"{many(len(done.clips), 'clip')} written again{together}; nothing in force was changed."]
            if done.clips:
                lines += [f"Compare: m3desk rewrite {memory} --show", f"Use them: m3desk rewrite {memory} --take"]
            out.result({"rewritten": list(done.clips), "failed": dict(done.failed), "at_once": done.at_once}, lines)
            return 0 if done.clips else 1
        if not waiting:
            raise UsageError("no clip was written again.", f"First: m3desk rewrite {memory} --writer NAME")
        if options.show:
            out.result(sides, [line for side in sides for line in _lines(side)])
            return 0
        if options.drop:
            dropped = [v.clip for v in waiting if app.drop_version(v.clip)]
            out.result({"dropped": dropped}, [f"Removed what was written again of {many(len(dropped), 'clip')}."])
            return 0
        effects = [app.correct("choose", {"clip": v.clip}) for v in waiting]
        app.embed_lacking()
        document = [{"step": e.step, "text": e.text, "memories": list(e.memories)} for e in effects]
        out.result(document, [*(f"{e.step}: {e.text}" for e in effects), "Take it back: m3desk undo."])
    return 0


def _sides(reader: Any, version: Any) -> dict[str, Any]:
    now = [s for s in reader.memories(clip=version.clip) if s.clip == version.clip]
    return {
        "clip": version.clip,
        "now": [{"kind": s.kind, "start": s.start / 1e6, "writer": s.model, "text": s.shown} for s in now],
        "writer": version.writer,
        "written": version.at,
        "new": [
            {"kind": s.kind, "start": s.start / 1e6, "writer": s.model, "text": shown}
            for s, shown in zip(version.sentences, version.shown, strict=True)
        ],
    }


def _lines(side: dict[str, Any]) -> list[str]:
    """Return the sentences of both writers in two columns."""
    writers = ", ".join(dict.fromkeys(s["writer"] for s in side["now"]))
    left, right = [writers, ""], [side["writer"], ""]
    for column, told in ((left, side["now"]), (right, side["new"])):
        for s in told:
            column += wrap(f"{clock(round(s['start'] * 1e6))} {'(knows) ' if s['kind'] == 'semantic' else ''}{s['text']}", WIDTH)
    tall = max(len(left), len(right))
    pairs = zip(left + [""] * (tall - len(left)), right + [""] * (tall - len(right)), strict=True)
    return [side["clip"], *(f"  {a:{WIDTH}}  {b}".rstrip() for a, b in pairs), ""]
