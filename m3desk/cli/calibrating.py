"""`calibrate`: measures the thresholds of a face or voice model on the user's own labelled material."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from m3desk import calibrated, config, events, models
from m3desk.backends import EMBEDDED, Backends, available
from m3desk.cli.opening import App
from m3desk.cli.output import Follower, Out
from m3desk.cli.work import existing
from m3desk.domain.calibration import calibration
from m3desk.domain.log import ObservationType
from m3desk.domain.plural import many
from m3desk.errors import ModelMissing, UsageError
from m3desk.samples import measuring
from m3desk.samples.reembedding import PORTS

SHOWN = ("accept", "margin", "several", "carried", "similar", "equal_odds", "sure", "split_below", "asked")


def calibrate(options: Any, out: Out) -> int:
    if options.remove and calibrated.remove(options.model):
        return _removed(options.model, out)
    port = next((p for p in PORTS if options.model in available(p)), None)
    if port is None:
        known = ", ".join(n for p in PORTS for n in available(p) if n != EMBEDDED[p])
        raise UsageError(f"there is no face or voice model “{options.model}”.", f"There are: {known}.")
    kind: ObservationType = "face" if port == "face_vectors" else "voice"
    if options.model == EMBEDDED[port]:
        others = ", ".join(n for n in available(port) if n != options.model)
        raise UsageError(f"{options.model} is what other models are measured by.", f"Choose another: {others}.")
    backends = Backends(models.weights, profile=EMBEDDED, threads=config.Settings.load().threads)
    try:
        model = backends.named(port, options.model)
    except ModelMissing as error:
        if not options.remove:
            raise
        hint = "Give the full name, which m3desk doctor shows under calibrations: m3desk calibrate FULL-NAME --remove"
        raise ModelMissing(f"the weights of {options.model} are not here, so its full name is not known.", hint) from error
    if options.remove:
        return _removed(model.name, out, calibrated.remove(model.name))
    if not options.folders and not options.of_memory:
        raise UsageError("nothing to measure on was given.", f"m3desk calibrate {options.model} FOLDER, with a folder for each person.")
    material = measuring.Material()
    shipped = backends.models("faces", "speech_activity", "speech_segmentation", port)
    with Follower(out) as follow:

        def told(done: int, total: int) -> None:
            follow(events.Progress("", "", "embedding", done, total, None, None))

        for folder in options.folders:
            measuring.from_folder(Path(folder), kind, shipped, model, material, told)
    if options.of_memory:
        with App(existing(options.of_memory), write=False) as app, app.reader() as reader:
            measuring.from_memory(reader, kind, shipped, model, material)
    found = measuring.measured(material, kind, backends.get(port).name, model.name)  # type: ignore[union-attr]
    ours = calibration(model.name, kind)
    file = None if ours.measured else calibrated.keep(found)
    out.result(
        {**found.document(), "left_out": dict(material.left_out), "kept": file is not None, "before": _values(ours)},
        _lines(found, ours, material, options.model),
    )
    return 0


def _removed(model: str, out: Out, there: bool = True) -> int:
    out.result({"model": model, "removed": there}, [f"{'Removed the' if there else 'There was no'} calibration of {model}."])
    return 0


def _values(rule: Any) -> dict[str, float]:
    return {name: value for name in SHOWN if (value := getattr(rule, name)) is not None}


def _lines(found: calibrated.Measured, ours: Any, material: measuring.Material, name: str) -> list[str]:
    """Return what was measured in words."""
    m = found.material
    lines = [
        f"{found.model}, beside {found.reference}: {many(int(m['people']), 'person', 'people')}, {many(int(m['files']), 'file')}; "
        f"{int(m['same_pairs']):,} pairs of one person, {int(m['different_pairs']):,} of two.",
        *([f"  left out: {material.left_out_in_words()}"] if material.left_out else []),
        f"One person taken for one: {m['same_accepted']:.1%} of pairs (by {found.reference} {m['same_accepted_by_reference']:.1%});",
        f"two people taken for one: {m['different_accepted']:.2%} ({m['different_accepted_by_reference']:.2%}). Leads decide besides.",
    ]
    old = _values(ours)
    lines += [f"  {n}: {v:g}" + (f" (was {old[n]:g})" if n in old else "") for n, v in _values(found.rule).items()]
    if ours.measured:
        return [*lines, "Nothing was kept: its thresholds were measured by M3Desk on more than this, and stay."]
    return [
        *lines,
        "Kept: thresholds and counts, no vectors and no names. Used from the next start on (m3desk doctor shows it).",
        f"A memory that uses the model already is bound anew by: m3desk reembed {name} -m M --switch. Take it back: "
        f"m3desk calibrate {name} --remove",
    ]
