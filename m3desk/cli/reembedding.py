"""`reembed`: shows how another face or voice model would change a memory, and switches to it."""

from __future__ import annotations

from typing import Any

from m3desk.calibrated import thresholds
from m3desk.cli.opening import App
from m3desk.cli.output import Follower, Out
from m3desk.cli.work import existing
from m3desk.domain.plural import many
from m3desk.store.rebinding import Reembedded


def reembed(options: Any, out: Out) -> int:
    existing(options.memory)
    with Follower(out) as follow, App(options.memory, emit=follow) as app:
        embedded, found = app.reembed(options.model, switch=options.switch)
        with app.reader() as reader:
            strangers = sum(kind == found.kind and model != found.model for kind, model in reader.unwanted())
    if strangers:
        who = many(strangers, "person who is", "people who are")
        out.warn(f"{who} never to be remembered can't be left out by {found.model}: only another model knows them.")
    if not thresholds(found.model, found.kind).measured:
        out.warn(
            f"the thresholds of {found.model} were not measured: cautious ones are used, so one person may become several. "
            f"Merging them by hand stays in force (m3desk people merge). To measure them: m3desk calibrate {options.model} FOLDER."
        )
    out.result(as_json(found, embedded, options.switch), lines(found, embedded, options.switch))
    return 1 if found.constraints["broken"] else 0


def as_json(found: Reembedded, embedded: int, switched: bool) -> dict[str, Any]:
    """Return the effect of a model change in the form that `reembed --json` prints."""
    return {
        "model": found.model,
        "kind": found.kind,
        "embedded": embedded,
        "switched": switched,
        "calibrated": thresholds(found.model, found.kind).measured,
        "changes": [
            {"observation": m.observation, "node": list(m.node), "person": list(m.person)} for m in found.moved
        ],
        "pairs": {"joined": found.joined, "parted": found.parted, "kept": found.kept},
        "never_again_unknown": found.unknown,
        "people": {"before": found.people[0], "after": found.people[1]},
        "constraints": {
            **found.constraints,
            "touched": [{"step": c.step, "kind": c.kind, "a": c.a, "b": c.b, "before": c.state, "after": s} for c, s in found.touched],
        },
    }  # fmt: skip


def lines(found: Reembedded, embedded: int, switched: bool) -> list[str]:
    """Return the effect of a model change as readable lines."""
    what = "face tracks" if found.kind == "face" else "utterances"
    said = [f"{embedded} {what} embedded with {found.model}; the old vectors are kept."] if embedded else []
    verb = "" if switched else "would "
    change = "changed" if switched else "change"
    said += [
        f"{len(found.moved)} {what} {verb}{change} node or person; {many(found.people[0], 'person', 'people')} "
        f"{'became' if switched else 'would become'} {found.people[1]}.",
        f"Pairs of {what}: {found.joined} {'were' if switched else 'would be'} merged, {found.parted} "
        f"{'were' if switched else 'would be'} split, {found.kept} stay together.",
    ]
    said += [f"  {m.observation}: {m.person[0] or 'nobody'} → {m.person[1] or 'nobody'}" for m in found.moved if m.person[0] != m.person[1]]
    total = sum(found.constraints.values())
    said.append(f"{found.constraints['broken']} of {total} constraints broken; {len(found.touched)} touched.")
    if found.unknown:
        said.append(
            f"{many(found.unknown, 'person who is', 'people who are')} never to be remembered again would be remembered: only "
            "another model knows them."
        )
    said += [f"  step {c.step}: {c.kind} {c.a} {c.b} was {c.state}, is {s}" for c, s in found.touched]
    said.append(f"{found.model} is in use now." if switched else "Nothing was changed; to use it from now on: --switch.")
    return said
