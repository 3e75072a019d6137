"""The newest picture of a live source: scaled in its own thread, copied by the window."""

from __future__ import annotations

import numpy as np
import pytest
from m3desk_ui.live.newest import LARGEST, NewestPicture
from m3desk_ui.video.picture_canvas import PictureCanvas
from PySide6.QtGui import QImage


class Camera:
    """A preview of one picture."""

    def __init__(self, width: int, height: int) -> None:
        self.picture = np.full((height, width, 3), 90, np.uint8)

    def newest(self) -> tuple[int, np.ndarray]:
        return 7, self.picture

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("captured", "room", "expected"),
    [
        ((640, 360), (1000, 700), (1000, 562)),
        ((1280, 720), (1000, 700), (1000, 562)),
        ((640, 360), (9000, 9000), (LARGEST, LARGEST * 9 // 16)),
        ((3840, 2160), (9000, 9000), (3840, 2160)),
    ],
)
def test_a_picture_comes_in_the_size_in_which_it_is_painted(qtbot, captured, room, expected):
    came = []
    newest = NewestPicture(lambda: Camera(*captured), lambda *found: came.append(found))
    newest.fit(*room)
    qtbot.waitUntil(lambda: bool(came) and (came[-1][0].width(), came[-1][0].height()) == expected, timeout=30_000)
    newest.close()
    assert came[-1][1:] == (7, captured)


def test_a_picture_of_the_painted_size_is_copied_not_scaled(qtbot):
    canvas = PictureCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(321, 200)
    pixels = np.random.default_rng(1).integers(0, 255, (181, 321, 4), np.uint8)
    pixels[..., 3] = 255
    image = QImage(pixels.data, 321, 181, 321 * 4, QImage.Format.Format_RGB32)
    canvas.show_frame(image, 0)
    shown = canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    painted = np.frombuffer(shown.constBits(), np.uint8).reshape(shown.height(), -1, 4)[:, :321]
    top = round((200 - 181) / 2)
    assert any(np.array_equal(painted[y : y + 181, :, :3], pixels[..., :3]) for y in (top - 1, top, top + 1))
