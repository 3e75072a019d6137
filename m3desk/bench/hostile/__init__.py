"""Fuzzing with hostile input from a seed: generates files and command lines that an attacker could send, and runs the program on them.

Each generator module (`measuring.KINDS`) has `cases(folder, chance) -> Iterator[Case]`: it writes its files into `folder` and never ends
(the caller stops). `tests/hostile` runs a few of each in the test suite; `m3desk bench hostile` runs many.
"""

from m3desk.bench.hostile.measuring import lines, measure

__all__ = ["lines", "measure"]
