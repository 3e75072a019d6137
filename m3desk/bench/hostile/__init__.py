"""Hostile input, made from a seed: what a user may be given, or an attacker may send, as commands of the program.

Each generator module (`measuring.KINDS`) has `cases(folder, chance) -> Iterator[Case]`: it writes its files into `folder` and never ends
(the caller stops). `tests/hostile` runs a few of each in the test suite; `m3desk bench hostile` runs many.
"""

from m3desk.bench.hostile.measuring import lines, measure

__all__ = ["lines", "measure"]
