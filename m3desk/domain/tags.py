"""Converts sentences between their stored form (placeholders and spans), the shown form (names) and the form for models (tags).

Offsets are Unicode code points. What was said or read on screen (`quoted`) is never replaced and never read for tags.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from m3desk.domain.memory import PLACEHOLDER, Span

TAG = re.compile(r"<((?:person|character|face|voice)_\d+)>")
"""Tags that models write: `<person_3>`, M3-Agent's `<character_3>`, `<face_7>`, `<voice_9>`."""


def placeholder(language: str) -> str:
    """Return the word that stands for a person in sentences of a language."""
    return PLACEHOLDER.get(language.split("-")[0].lower(), PLACEHOLDER["en"])


def render(text: str, spans: Sequence[Span], word: Callable[[Span], str | None]) -> str:
    """Return the sentence with `word(span)` in place of each span; None leaves the placeholder.

    It begins with an upper-case letter, or with a word as it was given: names are written as they were typed.
    """
    pieces, at = [], 0
    for span in sorted(spans, key=lambda s: s.start) if len(spans) > 1 else spans:
        if span.start < at:
            continue
        given = word(span)
        if at == 0:
            pieces.append(sentence_case(text[: span.start]))
        else:
            pieces.append(text[at : span.start])
        if given is None:
            given = text[span.start : span.end] if span.start else sentence_case(text[: span.end])
        pieces.append(given)
        at = span.end
    return "".join(pieces) + text[at:] if at else sentence_case(text)


def sentence_case(text: str) -> str:
    """Return the text with its first letter upper-case."""
    first = text[:1]
    upper = first.upper()
    return text if first == upper else upper + text[1:]


def untag(
    text: str, given: Mapping[str, Sequence[str]], language: str = "en", quoted: Sequence[tuple[int, int]] = ()
) -> tuple[str, tuple[Span, ...], tuple[tuple[int, int], ...]]:
    """Turn tagged text into stored text, its spans, and `quoted` moved along.

    `given`: tag (with brackets) → observations, as the model was given them for this very clip. A tag that was not given, or that
    stands in a quoted part, stays as it is and means nothing.
    """
    word = placeholder(language)
    pieces: list[str] = []
    spans: list[Span] = []
    shifts: list[tuple[int, int]] = []
    at = length = 0
    for match in TAG.finditer(text):
        observations = given.get(match.group(0))
        if not observations or any(a < match.end() and match.start() < b for a, b in quoted):
            continue
        pieces += [text[at : match.start()], word]
        length += match.start() - at
        spans.append(Span(length, length + len(word), tuple(observations)))
        length += len(word)
        at = match.end()
        shifts.append((match.end(), length - match.end()))
    pieces.append(text[at:])

    def moved(offset: int) -> int:
        return offset + next((shift for end, shift in reversed(shifts) if end <= offset), 0)

    return "".join(pieces), tuple(spans), tuple((moved(a), moved(b)) for a, b in quoted)
