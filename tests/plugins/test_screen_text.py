"""Text recognition (RapidOCR)."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
import rapidocr.main
import requests
from m3desk_cpu.screen_text import RapidOcr
from PIL import Image, ImageDraw, ImageFont

from m3desk.errors import ModelFailed


@pytest.fixture(scope="module")
def reader() -> RapidOcr:
    return RapidOcr(1)


def page(*lines: str) -> np.ndarray:
    picture = np.full((360, 640, 3), 240, np.uint8)
    for i, line in enumerate(lines):
        cv2.putText(picture, line, (40, 100 + 120 * i), cv2.FONT_HERSHEY_SIMPLEX, 1.5, (0, 0, 0), 3)
    return picture


def test_lines_are_read_from_top_to_bottom(reader: RapidOcr) -> None:
    found = reader.read(page("Gate B12 at 14:35", "Host JEFF STEEN"))
    assert [t.text.replace(" ", "") for t in found] == ["GateB12at14:35", "HostJEFFSTEEN"]
    assert all(t.score > 0.9 for t in found)


def test_boxes_are_in_pixels_of_the_picture_given(reader: RapidOcr) -> None:
    large = cv2.resize(page("Gate B12 at 14:35"), (1920, 1080))
    (text,) = reader.read(large)
    x, y, w, h = text.box
    assert 80 < x < 150 and 130 < y < 210 and 1100 < w < 1500 and 100 < h < 220


def test_a_page_without_text_has_none(reader: RapidOcr) -> None:
    assert reader.read(page()) == []


def test_chinese_is_read(reader: RapidOcr) -> None:
    font = Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")
    if not font.is_file():
        pytest.skip("no font with Chinese characters is here")
    picture = Image.new("RGB", (640, 200), "white")
    ImageDraw.Draw(picture).text((40, 70), "今天天气很好", fill="black", font=ImageFont.truetype(str(font), 48))
    (text,) = reader.read(np.array(picture)[:, :, ::-1].copy())
    assert text.text == "今天天气很好"


@pytest.mark.parametrize("state", ["missing", "damaged"])
def test_a_weight_file_that_is_missing_or_damaged_is_an_error_and_never_a_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    asked: list[str] = []

    def get(url: str, **_: object) -> None:
        asked.append(url)
        raise requests.ConnectionError

    monkeypatch.setattr(requests, "get", get)
    monkeypatch.setattr(rapidocr.main, "root_dir", tmp_path)
    (tmp_path / "models").mkdir()
    if state == "damaged":
        for file in (Path(rapidocr.__file__).parent / "models").glob("*.onnx"):
            (tmp_path / "models" / file.name).write_bytes(file.read_bytes()[:-1] + b"?")
    with pytest.raises(ModelFailed, match="missing or damaged"):
        RapidOcr(1)
    assert asked == []
