"""Names the colours of pixels by the nearest centroid of the ISCC-NBS system.

Source: K. L. Kelly and D. B. Judd, "Color: Universal Language and Dictionary of Names", National Bureau of Standards, Special Publication
440, 1976. Of its 267 centroids those are told whose name is one plain word with or without "dark"; skin, wood and sand have the others
(brown, pale, greyish, yellowish pink …).
"""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from m3desk.domain.appearance import COLOURS
from m3desk.ports import Picture

_CENTROIDS = {
    "dark": """111111 222222 202830 1a2421 291e29 2e1d21 202428 28201c 25241d 242124 1e2321 282022 36454f 3e322c 3a4b47 363527 31362b 50404d
        543d3f 43302e 483c32 252440 422518 403d21 3b3121 2b3d26 4b3621 1c352d 002a29 002e3b""",
    "white": "f2f3f4 e9e9ed eae3e1 dfede8 e8e3e5",
    "red": "be0032 bc3f4a 841b2d ab4e52 aa381e",
    "dark red": "5c0923 722f37 3f1728 56070c",
    "orange": "f38400 fd943f ed872d e25822",
    "yellow": "f3c300 fada5e d4af37 f8de7e dcd300 e9e450 beb72e eae679",
    "green": "8db600 7e9f2e 467129 27a64c 83d37d 44944a 679267 00622d 008856 3eb489 007959 3b7861 6aab8e",
    "dark green": "00543d 1b4d3e 355e3b 003118 173620",
    "blue": "00a1c2 4997d0 0067a5 70a3cc 436b95 30267a 6c79b8 545aa7 4e5180",
    "dark blue": "00416a 00304e 272458",
    "purple": "9065ca 7e73b8 604e97 604e81 9a4eae d399e6 875692 86608e 602f6b 870074 9e4f88 702963",
    "dark purple": "32174d 2f2140 401a4c 301934 563c5c 54194e 5d3954",
    "pink": "e68fac de6fa1 efbbcc ffc8d6 ce4676",
    "": """ffb5ba ea9399 e4717a f9ccca dea5a4 c08081 ead8d7 c4aead c1b6b3 ad8884 905d5d 8f817f 5c504f ffb7a5 f99379 f4c2c2 d9a6a9 c48379
        ecd5c5 c7ada3 c2ac99 d9603b cb6d51 9e4732 b4745e 882d17 a87c6d 79443b 977f73 674c47 be6516 fab57f d99058 ae6938 80461b 593319
        a67b5b 6f4e37 958070 635147 8e8279 5b504f f6a600 ffc14f eaa221 c98500 fbc97f e3a857 be8a3d fad6a5 996515 654522 c19a6b 826644
        ae9b82 7e6d5a af8d13 c9ae5d ab9144 f3e5ab c2b280 a18f60 f0ead6 bfb8a5 967117 6c541e 9b9400 b9b459 98943e ebe8a4 b9b57d 867e36
        665d1e 8c8767 5b5842 8a8776 57554c bdda57 c9dc89 8a9a5b dadfb7 8f9779 404f00 232f00 4a5d23 515744 b6e5af 93c592 8ed1b2 c7e6d7
        8da399 5e716a b2beb5 7d8984 4e5755 008882 00a693 007a74 00443f 96ded1 66ada4 317873 004b49 0085a1 239eba 007791 2e8495 9cd1dc
        66aabc 367588 004958 a1caf1 bcd4e6 91a3b0 536878 b4bcc0 81878b 51585e b3bce2 8791bf c0c8e1 8c92ac 4c516d dcd0ff 8c82b6 c4c3dd
        9690ab 554c69 d5badb b695c0 d6cadd aa98a9 796878 bfb9bd 8b8589 5d555b b784a7 915c83 aa8a9e 836479 d597ae c17e91 e8ccd7 c3a6b1
        b3446c 78184a 54133b 38152c 341731 3e1d1e a8516e 673147 af868e 915f6d b9b8b5 848482 555555""",
}
"""Colour → its centroids (sRGB); "": those that are not told. Of a colour with "dark" in its name NBS says dark, very dark or very deep;
blackish and dark greyish ones of any hue are "dark"."""

_STEPS = 32
"""Levels of each channel in the table of names."""


def colour_indices(pixels: Picture) -> NDArray[np.int64]:
    """Return for each pixel (…, 3) BGR 1 + the index of its colour in COLOURS, 0 for none of them."""
    levels = pixels.astype(np.int64) * _STEPS // 256
    return _table()[levels[..., 0], levels[..., 1], levels[..., 2]]


@cache
def _table() -> NDArray[np.int64]:
    """Return (32, 32, 32) indices by blue, green and red."""
    middles = ((np.arange(_STEPS) + 0.5) * 256 / _STEPS).astype(np.float32)
    grid = np.stack(np.meshgrid(middles, middles, middles, indexing="ij"), axis=-1).reshape(-1, 3)
    rows = [(colour, code) for colour, codes in _CENTROIDS.items() for code in codes.split()]
    centroids = lab(np.array([[[int(code[i : i + 2], 16) for i in (4, 2, 0)] for _, code in rows]], np.float32))[0]
    values = np.array([COLOURS.index(colour) + 1 if colour else 0 for colour, _ in rows], np.int64)
    nearest = [np.argmin(((part[:, None] - centroids) ** 2).sum(-1), axis=1) for part in np.array_split(lab(grid[None])[0], _STEPS)]
    return np.asarray(values[np.concatenate(nearest)].reshape(_STEPS, _STEPS, _STEPS), np.int64)


def lab(picture: Picture | NDArray[np.float32]) -> NDArray[np.float32]:
    """Return CIE L*a*b* of a picture: (height, width, 3) BGR, 0–255."""
    return np.asarray(cv2.cvtColor(picture.astype(np.float32) / 255, cv2.COLOR_BGR2Lab), np.float32)
