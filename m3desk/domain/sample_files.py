"""Tells by its name whether a file that a person is searched by is a picture or a recording."""

from __future__ import annotations

PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff")


def is_picture(path: str) -> bool:
    """Return whether a file is called as pictures are; everything else is taken for a recording."""
    return path.lower().endswith(PICTURES)
