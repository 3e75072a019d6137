"""Says what a check found, in the window's language and without ids that only programs need: from the lines of `interop.doctor`.

A line of another form stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication

from m3desk.domain.ids import clip_index
from m3desk_ui.look import deeds, texts


def found(line: str) -> str:
    """Return a finding in words."""
    for pattern, say in _PATTERNS:
        if hit := re.fullmatch(pattern, line, re.DOTALL):
            return say(hit)
    return deeds.done(line)


def _say(text: str, *parts: str) -> str:
    said = QCoreApplication.translate("Findings", text)
    for number, part in reversed(list(enumerate(parts, 1))):
        said = said.replace(f"%{number}", part)
    return said


def _clip(id_: str) -> str:
    """Return what a clip is called: by its number in its source."""
    return _say("clip %1", str(clip_index(id_) + 1))


def _crowd(hit: re.Match[str]) -> str:
    said = _say("%1 has %2 faces and %3 voices", texts.person(hit[1]), hit[2], hit[3])
    return _say("%1; one face and one voice are joined by little evidence (%2)", said, hit[4]) if hit[4] else said


_PATTERNS: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (r"(.+) has (\d+) faces and (\d+) voices(?:; the weakest link is \S+ \((.+)\))?", _crowd),
    (
        r"\S+ and \S+ are one person by votes of (\S+), but in (\d+) clips sentences speak of them as two",
        lambda m: _say("A face and a voice are taken for one person, but sentences of %1 clips speak of two", m[2]),
    ),
    (r"(.+) is known from (s\d+\.c\d+) alone", lambda m: _say("%1 is known from %2 alone", texts.person(m[1]), _clip(m[2]))),
    (r"nothing speaks of (face|voice)_\S+", lambda m: _say("Nothing speaks of this %1", texts.kind(m[1]))),
    (r"\S+ names (<.+>), which refers to nobody", lambda m: _say("A memory names %1, which refers to nobody", m[1])),
    (
        r"(s\d+\.c\d+) was memorized after (s\d+\.c\d+): its (\d+) conclusions may rest on later clips",
        lambda m: _say("%1 was memorized after %2: its conclusions (%3) may rest on later clips", _clip(m[1]), _clip(m[2]), m[3]),
    ),
    (r"\S+ speaks of a face that is nobody's", lambda _m: _say("A memory speaks of a face that is nobody's")),
    (
        r"this memory recognises (face|voice)s with an older model than new memories use",
        lambda m: (
            _say("This memory recognises voices with an older model than new memories use")
            if m[1] == "voice"
            else _say("This memory recognises faces with an older model than new memories use")
        ),
    ),
    (
        r"forgetting was begun and is not finished: .*",
        lambda _m: _say("Forgetting was begun and is not finished: traces of what was forgotten may be left in this memory's files"),
    ),
)
