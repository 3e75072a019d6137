"""The requirements for every backend that processes pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from m3desk_cpu.faces import ALIGNED, SFace, YuNet
from m3desk_cpu.objects import SsdMobileNet
from m3desk_cpu.screen_text import RapidOcr

from m3desk.paths import resources
from m3desk.ports import DetectedFace, FaceDetector, FaceEmbedder, ObjectDetector, Picture, TextReader

SHIPPED = resources() / "models"

BACKENDS: dict[str, tuple[Any, Callable[[Path], Any]]] = {
    "yunet": (FaceDetector, lambda _: YuNet(SHIPPED / "face_detection_yunet_2023mar.onnx", 1)),
    "sface": (FaceEmbedder, lambda _: SFace(SHIPPED / "sface_w16.onnx", 1)),
    "ssd-mobilenet-v2": (ObjectDetector, lambda weights: SsdMobileNet(weights / "ssd-mobilenet-v2", 1)),
    "rapidocr": (TextReader, lambda _: RapidOcr(1)),
}


@pytest.fixture(scope="module", params=[pytest.param(n, marks=pytest.mark.models if n.startswith("ssd") else ()) for n in BACKENDS])
def backend(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    port, make = BACKENDS[request.param]
    weights = request.getfixturevalue("weights") if request.param.startswith("ssd") else Path()
    return port, make(weights)


def use(backend: Any, picture: Picture) -> Any:
    if isinstance(backend, FaceEmbedder):
        return backend.embed(picture, [DetectedFace((0, 0, 112, 112), 0.9, ALIGNED)]).tolist()
    if isinstance(backend, TextReader):
        return backend.read(picture)
    return [(f.box, f.score) for f in backend.detect(picture)]


def test_it_answers_its_port_and_has_a_name_with_a_version(backend: tuple[Any, Any]) -> None:
    port, made = backend
    assert isinstance(made, port)
    assert any(c.isdigit() for c in made.name)


def test_same_picture_same_answer_whatever_came_between(backend: tuple[Any, Any]) -> None:
    _, made = backend
    random = np.random.default_rng(3)
    one = random.integers(0, 255, (240, 320, 3), dtype=np.uint8)
    other = random.integers(0, 255, (180, 200, 3), dtype=np.uint8)
    first = use(made, one)
    use(made, other)
    assert use(made, one) == first


def test_the_picture_is_left_as_it_was(backend: tuple[Any, Any]) -> None:
    _, made = backend
    picture = np.random.default_rng(4).integers(0, 255, (240, 320, 3), dtype=np.uint8)
    before = picture.copy()
    use(made, picture)
    assert (picture == before).all()
