"""The calibrations of embedding models: those measured here (`domain.calibration`), with their statistics, and those measured by the user.

The user's are small files under the data folder, one a model, by its full name (which holds the fingerprint of its weights); they hold
thresholds and counts, no vectors and no names. They are read once a process, so that no open memory is compared by two rules.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from m3desk import paths, private
from m3desk.domain.calibration import FACE_DEFAULT, VOICE_DEFAULT, Calibration, Evidence, Space, calibration
from m3desk.domain.log import ObservationType
from m3desk.errors import ModelMissing

log = logging.getLogger(__name__)

FORM = 1
_OPTIONAL = ("accept_long", "several", "carried", "similar", "sure", "split_below", "asked")
_NUMBERS = ("accept", "margin", "several_margin", "blurred", "faint", "carried_margin", "equal_odds", "sound", "asked_margin")
_WHOLE = ("least", "born", "long")


@dataclass(frozen=True, slots=True)
class Measured:
    """A calibration that the user measured. `reference`: the model whose thresholds were moved. `material`: what it was measured on.

    `material`: counts: people, files, pairs of one person and of two, and what share of either reaches `accept` by both models.
    """

    model: str
    kind: ObservationType
    rule: Calibration
    reference: str
    material: Mapping[str, float]
    at: str

    def summary(self) -> dict[str, Any]:
        """Return what is told of it: its model and kind, `accept`, when and beside which model it was measured, and the counts."""
        return {
            "model": self.model, "kind": self.kind, "accept": self.rule.accept, "reference": self.reference, "at": self.at, **self.material
        }  # fmt: skip

    def document(self) -> dict[str, Any]:
        """Return what its file holds."""
        values = asdict(replace(self.rule, space=None, evidence=None, across=None))
        kept = {name: values[name] for name in (*_NUMBERS, *_OPTIONAL, *_WHOLE, "whole", "doubt")}
        kept["evidence"] = list(self.rule.evidence.weights) if self.rule.evidence is not None else None
        return {
            "form": FORM, "model": self.model, "kind": self.kind, "reference": self.reference, "at": self.at,
            "material": dict(self.material), "thresholds": kept,
        }  # fmt: skip


@cache
def thresholds(model: str, type_: ObservationType) -> Calibration:
    """Return the calibration of a model, without the statistics of its space: ours, else the user's own, else cautious values."""
    ours = calibration(model, type_)
    if ours.measured:
        return ours
    return found.rule if (found := own(model, type_)) is not None else ours


@cache
def calibrated(model: str, type_: ObservationType) -> Calibration:
    """Return the calibration of a model with the space that its vectors are compared in, if it has one. Raises ModelMissing."""
    rule = thresholds(model, type_)
    return rule if rule.within is None else replace(rule, space=_space(rule.within))


@cache
def _space(name: str) -> Space:
    try:
        table = np.load(paths.resources() / "models" / name, allow_pickle=False).astype(np.float32)
    except (OSError, ValueError) as e:
        raise ModelMissing(f"the statistics of voices can't be read ({name}): {e}", "Install M3Desk again.") from e
    return Space(table[0], table[1:])


# ---------------------------------------------------------------- measured by the user


def folder() -> Path:
    """Return the folder of the user's calibrations."""
    return paths.data_dir() / "calibrations"


def file_of(model: str) -> Path:
    """Return the file of a model's calibration: its name in harmless letters, with a hash of the whole name."""
    short = re.sub(r"[^A-Za-z0-9._-]+", "_", model)[:60].strip(".") or "model"
    return folder() / f"{short}-{hashlib.sha256(model.encode()).hexdigest()[:8]}.json"


def own(model: str, type_: ObservationType) -> Measured | None:
    """Return what the user measured of a model; None if nothing, or if its file can't be used (that is logged)."""
    found = _read(file_of(model))
    return found if found is not None and (found.model, found.kind) == (model, type_) else None


def all_own() -> list[Measured]:
    """Return all calibrations that the user measured, by the names of their models."""
    found = (_read(file) for file in sorted(folder().glob("*.json")))
    return sorted((m for m in found if m is not None), key=lambda m: m.model)


def keep(measured: Measured) -> Path:
    """Keep a calibration, in place of an older one of the model; used from the next start of a process on. Raises OSError."""
    private.folder(folder())
    file = file_of(measured.model)
    half = file.with_suffix(".part")
    private.write(half, json.dumps(measured.document(), indent=1).encode())
    half.replace(file)
    forget_read()
    return file


def remove(model: str) -> bool:
    """Remove the user's calibration of a model; return whether there was one. Raises OSError."""
    file = file_of(model)
    there = file.is_file()
    file.unlink(missing_ok=True)
    forget_read()
    return there


def forget_read() -> None:
    """Read the files again at the next use (after one was written in this process)."""
    thresholds.cache_clear()
    calibrated.cache_clear()


def _read(file: Path) -> Measured | None:
    try:
        document = json.loads(file.read_text("utf-8"))
        return _measured(document)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        log.warning("the calibration %s can't be used: %s", file.name, error)
        return None


def _measured(document: Any) -> Measured:
    """Check a document and return what it holds. Raises ValueError, KeyError, TypeError, OverflowError."""
    if not isinstance(document, dict) or document["form"] != FORM or document["kind"] not in ("face", "voice"):
        raise ValueError("it is of another version, or no calibration")
    kind: ObservationType = document["kind"]
    given = document["thresholds"]
    changed: dict[str, Any] = {name: _number(given[name]) for name in _NUMBERS}
    changed |= {name: None if given[name] is None else _number(given[name], 1.0) for name in _OPTIONAL}
    changed |= {name: int(_number(given[name], 3_600e6)) for name in _WHOLE}
    if not isinstance(given["whole"], bool) or not all(isinstance(document[n], str) for n in ("model", "reference", "at")):
        raise ValueError("a value is of the wrong kind")
    doubt, weights = given["doubt"], given["evidence"]
    if doubt is not None:
        level, scale = doubt
        changed["doubt"] = (_number(level), _number(scale))
    if weights is not None:
        a, b, c, d, e, f = (_number(w, 1e4) for w in weights)
        changed["evidence"] = Evidence((a, b, c, d, e, f))
    rule = replace(FACE_DEFAULT if kind == "face" else VOICE_DEFAULT, **changed, whole=given["whole"], measured=True)
    if not 0 < rule.accept < 1 or rule.margin < 0:
        raise ValueError("everybody would be one person, or nobody known again")
    counts = {str(name): _number(value, 1e12) for name, value in dict(document["material"]).items()}
    return Measured(document["model"], kind, rule, document["reference"], counts, document["at"])


def _number(value: Any, most: float = 1e3) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or abs(value) > most:
        raise ValueError(f"not a number that can be used: {value!r:.40}")
    return float(value)


__all__ = [
    "Measured", "all_own", "calibrated", "file_of", "folder", "forget_read", "keep", "own", "remove", "thresholds",
]  # fmt: skip
