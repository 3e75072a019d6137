"""`people forget`: shows what would be removed and what can't be reached, asks, removes, and prints the proof."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from m3desk.cli.opening import App
from m3desk.cli.output import Out, confirm
from m3desk.cli.work import existing
from m3desk.domain.plural import many
from m3desk.domain.visible import shortened, visible
from m3desk.errors import CorrectionError
from m3desk.media.capture.recording import is_recording
from m3desk.store.forgetting.removing import How

NAME = 60
"""Most characters of a name in a question."""

CHOICES = (
    "options: (none) forget; they may reappear as a new person · --spans also remove everything else remembered while they were present · "
    "--sources also remove the sources · --never-again keep one template, to leave them out in future"
)


def people(options: Any, out: Out) -> int:
    """Forget a person. Exit status 1 if the proof finds traces."""
    existing(options.memory)
    how: How = "spans" if options.spans else "never" if options.never_again else "forget"
    with App(options.memory) as app:
        try:
            plan = app.may_forget(options.person, how)
        except CorrectionError as error:
            if app.finished:  # by this opening; somebody who is gone has no name to be called by, so this may be another person's
                out.warn(
                    f"nobody here is called “{shortened(options.person)}” now. What follows is the report of the earlier forgetting; "
                    "if you meant somebody else, check the name."
                )
                return _tell(app.finished[-1], options, out)
            raise CorrectionError(
                f"{error}".rstrip(".") + ": never there, or forgotten already (whoever was forgotten leaves no name).", error.hint
            ) from error
        gone = app.sources_of(plan) if options.sources else []
        along = [f"  also {text}" for text in gone]
        if options.dry_run:
            document = {
                "effect": plan.effect.text,
                "removed": dict(plan.counts),
                "still_shown_by": list(plan.sources),
                "sources": gone,
                "dry_run": True,
            }
            out.result(document, ["Would: " + plan.effect.text, *along, *_still(plan.sources, options.sources), CHOICES])
            return 0
        if not options.yes:
            for line in (plan.effect.text, *along, *_still(plan.sources, options.sources), CHOICES):
                out.line(line)
        with app.reader() as reader:
            shown = reader.person(options.person).shown
        confirm(f"Forget {visible(shortened(shown, NAME))} for good?", options.yes)
        report = app.forget(options.person, how, sources=options.sources)
    return _tell(report, options, out)


def _tell(report: dict[str, Any], options: Any, out: Out) -> int:
    searched = report["searched"]
    lines = [
        report["effect"],
        f"Searched {many(searched['tables'], 'table')} ({many(searched['cells'], 'cell')}), {many(searched['index_rows'], 'index row')}, "
        f"{many(searched['files'], 'file')} ({searched['bytes'] / 1e6:.1f} MB), {many(searched['pictures'], 'picture')} and "
        f"{many(searched['sounds'], 'sound')}: "
        + ("nothing of them is left." if report["clean"] else f"{many(len(report['findings']), 'finding')}."),
        *(f"  left: {f}" for f in (*report["findings"], *report["not_searched"])),
        *(
            f"  looks or sounds alike: {a['observation']}, kept as {a['person'] or 'nobody'}'s; if it is them, forget that person too"
            for a in report["look_alikes"]
        ),
        *_still(report["still_shown_by"], options.sources),
        f"Scope: {report['scope']}.",
    ]
    out.result(report, lines)
    return 0 if report["clean"] else 1


def _still(sources: Any, removed: bool) -> list[str]:
    """`removed`: the sources go as well; then a user's own file stays where it is, and a recording is deleted."""
    if not removed:
        return [f"  still shown or heard in: {uri}" for uri in sources]
    return [f"  the file itself stays: {uri}" for uri in sources if Path(uri).exists() and not is_recording(uri)]
