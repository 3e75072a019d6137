"""Rules with one place: ids, file locks, overlap of boxes, alignment, linkage, FLAC decoding, changes of settings, stems.

A search for words: code that does the same in other words is not found. The embedding of faces and voices is tried in
tests/samples/test_one_rule.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PLACES = {
    "domain/ids.py": (
        r"""\.r?(?:split|partition)\(["'](?:_|\.c|\.f|\.u)["']""",  # takes an id apart
        r"""\{[\w.]+\}\.[cfu]\{""",  # writes the id of a clip or an observation
        r"""["'](?:person|face|voice)_\{""",
    ),
    "locks.py": (r"\bfcntl\.(?:flock|lockf)\b", r"\bmsvcrt\.locking\b", r"\bportalocker\b"),
    "domain/geometry.py": (
        r"\bdef _?similarity_transform",
        r"\bcv2\.estimateAffine\w*\(",
        r"min\((\w)\[0\] \+ \1\[2\], (\w)\[0\] \+ \2\[2\]\)",
    ),
    "domain/linkage.py": (r"\bdef _?average_linkage", r"\b(?:scipy|sklearn)\.cluster\b"),
    "media/streams.py": (r"""["']r["'], format=["']flac["']""",),  # decodes a stored snippet
    "config.py": (r"\btomlkit\b",),
    "domain/stemming.py": (r"\bsnowballstemmer\b", r"\bdef _?stem\(word"),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_rule_has_one_place(place: str) -> None:
    patterns = [re.compile(p) for p in PLACES[place]]
    assert any(p.search((ROOT / "m3desk" / place).read_text("utf-8")) for p in patterns)
    elsewhere = [
        f"{file.relative_to(ROOT)}:{number}"
        for folder in ("m3desk", "ui", "plugins")
        for file in sorted((ROOT / folder).rglob("*.py"))
        if file != ROOT / "m3desk" / place
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if any(p.search(line) for p in patterns)
    ]
    assert elsewhere == []
