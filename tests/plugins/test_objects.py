"""Object detection (SSD-MobileNet)."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from m3desk_cpu.objects import COCO, SsdMobileNet

from m3desk.errors import ModelMissing


def test_class_numbers_have_their_coco_names() -> None:
    assert [COCO[i] for i in (1, 3, 18, 47, 51, 67, 73, 90)] == [
        "person",
        "car",
        "dog",
        "cup",
        "bowl",
        "dining table",
        "laptop",
        "toothbrush",
    ]
    assert len([n for n in COCO if n != "-"]) == 80


def test_missing_weights_say_how_to_download_them(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing) as said:
        SsdMobileNet(tmp_path, 1)
    assert "models pull" in said.value.hint


@pytest.mark.models
def test_an_empty_picture_holds_nothing(weights: Path) -> None:
    assert SsdMobileNet(weights / "ssd-mobilenet-v2", 1).detect(np.full((360, 640, 3), 128, np.uint8)) == []


@pytest.mark.models
@pytest.mark.data
def test_a_portrait_holds_a_person_within_the_picture(weights: Path, shared_data: Path) -> None:
    photo = cv2.imread(str(shared_data / "faces" / "azure_family" / "Family1-Dad1.jpg"))
    found = SsdMobileNet(weights / "ssd-mobilenet-v2", 1).detect(photo)
    assert found[0].label == "person"
    x, y, w, h = found[0].box
    assert x >= 0 and y >= 0 and x + w <= photo.shape[1] + 1e-3 and y + h <= photo.shape[0] + 1e-3
