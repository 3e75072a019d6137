"""What is seen of people beside who they are: clothes of a plain colour, glasses, a raised hand, where a body goes.

Kept among the things in view.
"""

from __future__ import annotations

from m3desk.domain.evidence import Box

COLOURS = (
    "dark", "white", "red", "dark red", "orange", "yellow", "green", "dark green", "blue", "dark blue", "purple", "dark purple", "pink",
    "grey",
)  # fmt: skip

RAISED_HAND = "raised hand"

GLASSES = "glasses"


GOING = {"left": "going left", "right": "going right", "out left": "going out left", "out right": "going out right"}
"""Where somebody goes → the label of it."""


def going_label(way: str) -> str:
    """Return the label of somebody who goes that way."""
    return GOING[way]


def going_way(label: str) -> str | None:
    """Return where somebody goes if a label is one of these, else None."""
    return next((way for way, one in GOING.items() if one == label), None)


def clothing_label(colour: str) -> str:
    """Return the label of clothes of a colour."""
    return f"{colour} clothing"


def clothing_colour(label: str) -> str | None:
    """Return the colour if a label is one of clothes, else None."""
    colour, _, what = label.rpartition(" ")
    return colour if what == "clothing" and colour in COLOURS else None


def of_a_person(label: str) -> bool:
    """Return whether a label is of these: it belongs to a face or a body, and is no thing by itself."""
    return label in (RAISED_HAND, GLASSES, *GOING.values()) or clothing_colour(label) is not None


def read_at(face: tuple[int, int], label: str, start: int, end: int) -> bool:
    """Return whether clothes or a gesture were read at a face with this span: for all of it, or a raised hand within it."""
    return (start, end) == face or (label == RAISED_HAND and face[0] <= start and end <= face[1])


def chest_below(face: Box) -> Box:
    """Return where the clothes of a face's owner are looked for: between collar and chest."""
    x, y, w, h = face
    return x - 0.4 * w, y + 1.5 * h, 1.8 * w, h


def beside_head(face: Box) -> tuple[Box, Box]:
    """Return where a raised hand is looked for: left and right of a head, from above it to the chin."""
    x, y, w, h = face
    return (x - 1.9 * w, y - 1.3 * h, 1.65 * w, 2.1 * h), (x + 1.25 * w, y - 1.3 * h, 1.65 * w, 2.1 * h)
