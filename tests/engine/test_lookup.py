"""Search by picture or sound finds people of the memory, and nobody for a stranger."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from m3desk.app import App
from m3desk.ports import FoundNode
from m3desk.samples.given import NoFace

sys.path.insert(0, str(Path(__file__).parent))
from made import shipped_models
from test_resuming import run


@pytest.fixture(scope="module")
def obama(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("obama")
    video = shutil.copy(shared_data / "video" / "obama" / "obama_speech.mp4", folder)
    done = run("memorize", video, "-m", folder / "o.m3desk", "--no-semantic", "-q", config=shipped_models(folder))
    assert done.returncode == 0, done.stderr
    return folder / "o.m3desk"


PHOTOS = {"obama": "obama", "biden": "biden", "rose_leslie": "img1"}


def line(found: FoundNode) -> list[str]:
    """Return how a line of the command begins: the score and the node."""
    return [f"{found.score:.2f}", found.id]


def found(memory: Path, photo: Path) -> list[str]:
    done = run("search", "nodes", "-m", memory, "--image", photo, "-q")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()


@pytest.mark.data
def test_a_photo_finds_its_person_and_strangers_find_nobody(obama: Path, shared_data: Path):
    photos = shared_data / "faces" / "knn" / "train"
    one = found(obama, photos / "obama" / "obama.jpg")
    other = found(obama, photos / "biden" / "biden.jpg")
    assert len(one) == len(other) == 1
    assert one[0].split()[1] != other[0].split()[1], "two people, two nodes"
    assert found(obama, photos / "rose_leslie" / "img1.jpg") == ["Nothing found."]
    # `m3desk bench identity` asks this way, in one process.
    with App(obama, write=False) as app:
        asked = {who: app.answering.search_image(photos / who / f"{name}.jpg") for who, name in PHOTOS.items()}
    assert {who: [line(f) for f in nodes] for who, nodes in asked.items()} == {
        "obama": [one[0].split()[:2]], "biden": [other[0].split()[:2]], "rose_leslie": []
    }  # fmt: skip


@pytest.mark.data
def test_a_picture_without_a_face_says_so(obama: Path, tmp_path: Path):
    import cv2
    import numpy as np

    cv2.imwrite(str(tmp_path / "grey.png"), np.full((200, 200, 3), 128, np.uint8))
    done = run("search", "nodes", "-m", obama, "--image", tmp_path / "grey.png")
    assert done.returncode == 1
    assert "no face" in done.stderr
    with App(obama, write=False) as app, pytest.raises(NoFace):
        app.answering.search_image(tmp_path / "grey.png")
