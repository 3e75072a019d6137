"""Tells by its name what a file is: a picture or a recording to search a person by, or a memory to import."""

from __future__ import annotations

PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff")
GRAPHS = (".pkl", ".pkl.gz", ".pickle", ".pickle.gz")
"""Endings of the graphs of M3-Agent."""
IMPORTED = (*GRAPHS, ".json")


def is_picture(path: str) -> bool:
    """Return whether a file is called as pictures are; everything else is taken for a recording."""
    return path.lower().endswith(PICTURES)


def is_graph(path: str) -> bool:
    """Return whether a file is called as the graphs of M3-Agent are."""
    return path.lower().endswith(GRAPHS)


def is_import(path: str) -> bool:
    """Return whether a file is called as those are from which a memory is imported."""
    return path.lower().endswith(IMPORTED)
