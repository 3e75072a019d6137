"""Puts citation marks such as "[00:53]" into an answer: each part of an answer names the moments that support it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from m3desk.domain.clip import clock
from m3desk.domain.memory import StoredSentence
from m3desk.events import Citation

MOST_MARKS = 3
"""Marks after one part of an answer; more are not read."""


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """A time span of a clip (microseconds of its source) and the node that describes it."""

    clip: str
    source: str
    start: int
    end: int
    node: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an answer, including spaces and punctuation around it, and the moments that support it."""

    text: str
    moments: tuple[CitedSpan, ...] = ()


def moment_of(s: StoredSentence) -> CitedSpan:
    """Return the moment that a sentence describes."""
    return CitedSpan(s.clip, s.source, s.start, s.end, s.id)


def mark(moment: CitedSpan, several: bool) -> str:
    """Return the citation mark of a moment; it names the source if there are several."""
    return f"[{moment.source} {clock(moment.start)}]" if several else f"[{clock(moment.start)}]"


def marked(part: Part, several: bool) -> str:
    """Return a part's text with its marks, placed before a final full stop."""
    marks = list(dict.fromkeys(mark(m, several) for m in part.moments[:MOST_MARKS]))
    if not marks:
        return part.text
    body = part.text.rstrip()
    stop = body[-1] if body.endswith((".", "。")) and not body.endswith(("..", "…")) else ""
    tail = part.text[len(body) :]
    return f"{body[: len(body) - len(stop)].rstrip()} {' '.join(marks)}{stop}{tail}"


def citations(parts: Sequence[Part], several: bool) -> tuple[Citation, ...]:
    """Return the cited moments in the order of their marks, each once."""
    found: dict[tuple[str, int, int, str | None], Citation] = {}
    for part in parts:
        for m in part.moments[:MOST_MARKS]:
            found.setdefault((m.source, m.start, m.end, m.node), Citation(m.clip, m.source, m.start, m.end, m.node, mark(m, several)))
    return tuple(found.values())


def listed(items: Sequence[Part], language: str) -> list[Part]:
    """Return items as a list in the given language: "a, b and c", 「a、b和c」."""
    comma, last = ("、", "和") if language == "zh" else (", ", " and ")
    if language != "zh" and any(len(i.text) > 40 for i in items):
        comma = last = "; "
    out = []
    for n, item in enumerate(items):
        before = "" if n == 0 else last if n == len(items) - 1 else comma
        out.append(Part(before + item.text, item.moments))
    return out
