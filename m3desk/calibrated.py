"""The calibrations of embedding models with the statistics that belong to them, read from the shipped resources."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from m3desk.domain.calibration import Calibration, Space, calibration
from m3desk.domain.log import ObservationType
from m3desk.errors import ModelMissing
from m3desk.paths import resources


@cache
def calibrated(model: str, type_: ObservationType) -> Calibration:
    """Return the calibration of a model with the space that its vectors are compared in, if it has one. Raises ModelMissing."""
    rule = calibration(model, type_)
    return rule if rule.within is None else replace(rule, space=_space(rule.within))


@cache
def _space(name: str) -> Space:
    try:
        table = np.load(resources() / "models" / name, allow_pickle=False).astype(np.float32)
    except (OSError, ValueError) as e:
        raise ModelMissing(f"the statistics of voices can't be read ({name}): {e}", "Install M3Desk again.") from e
    return Space(table[0], table[1:])
