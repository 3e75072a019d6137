"""Bystander mode with the real models: the search by which forgetting is proven finds nothing of an unknown face."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from m3desk_cpu.faces import SFace, YuNet

from m3desk.app import App
from m3desk.domain.clip import Clip
from m3desk.domain.evidence import Perceived
from m3desk.domain.memory import Draft
from m3desk.live.bystanders import Veil
from m3desk.live.recognition import VEIL
from m3desk.media.capture import reports
from m3desk.media.capture.address import LiveAddress
from m3desk.media.capture.preview import Preview
from m3desk.media.capture.recorder import Recorder
from m3desk.media.cutter import FileClip, plan
from m3desk.media.file import probe
from m3desk.media.streams import open_media
from m3desk.paths import resources
from m3desk.perception.faces import see
from m3desk.perception.sightings import faces_of
from m3desk.ports import Models, Picture
from m3desk.samples import proof

pytestmark = [pytest.mark.data, pytest.mark.slow]
SECONDS = 3


@pytest.fixture(scope="module")
def models() -> Models:
    folder = resources() / "models"
    return Models(faces=YuNet(folder / "face_detection_yunet_2023mar.onnx", 1), face_vectors=SFace(folder / "sface_w16.onnx", 1))


def pictures(path: Path) -> Iterator[tuple[int, Picture]]:
    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            if frame.time is None or frame.time >= SECONDS:
                return
            yield round(frame.time * 1e6), np.asarray(frame.to_ndarray(format="bgr24"), np.uint8)


def recorded(veiled: list[tuple[int, Picture]], path: Path) -> Path:
    """Encode pictures as the recorder does: H.264, in their time."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=25, options={"preset": "ultrafast", "crf": "23"})
        stream.height, stream.width = (n // 2 * 2 for n in veiled[0][1].shape[:2])
        stream.pix_fmt = "yuv420p"
        for _, picture in veiled:
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture[: stream.height, : stream.width]), format="bgr24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


@pytest.mark.parametrize("film", ["hdtf/RD_Radio2_000.mp4", "webrtc_two_men/vp9_webrtc_2.webm"])
def test_nothing_of_an_unknown_face_is_left_anywhere(film: str, shared_data: Path, models: Models, tmp_path: Path) -> None:
    assert models.faces is not None and models.face_vectors is not None
    given = shared_data / "video" / film
    veil = Veil(str(tmp_path), models.faces, models.face_vectors)
    veiled, rows, count = [], [], 0
    for at, picture in pictures(given):
        if count % 10 == 0:
            rows += [row for _, row in faces_of(picture, models.faces, models.face_vectors)]
        count += 1
        veiled += veil.put(at, picture)
    veiled += veil.finish()
    assert len(veiled) == count and len(rows) >= 5
    vectors = {("face", models.face_vectors.name): np.stack(rows)}

    # Every picture of the recording.
    path = recorded(veiled, tmp_path / "recording.mp4")
    there = [(f"{n}.jpg", cv2.imencode(".jpg", p)[1].tobytes()) for n, (_, p) in enumerate(pictures(path))]
    assert proof.look(there, vectors, models).found == ()
    # The same search finds them in the film itself.
    first = next(pictures(given))[1]
    assert proof.look([("first.jpg", cv2.imencode(".jpg", first)[1].tobytes())], vectors, models).found == ("first.jpg",)

    # What is remembered of it: crops, the clip's picture, vectors.
    with App(tmp_path / "m.m3desk") as app:
        source = app.write(lambda m: m.add_source(probe(path)))
        app.write(lambda m: m.plan_clips(source.id, plan(source), fps=5.0))
        app.write(lambda m: m.hide_bystanders(source.id))
        clip: Clip = app.write(lambda m: m.next_clips(source.id))[0]
        found = see(FileClip(source, clip, str(path)), models)
        assert proof.look(found.media.items(), vectors, models).found == ()
        perceived = Perceived(
            clip.id, found.faces, vectors=found.vectors, media=found.media, cannot_link=found.cannot_link, thumbnail=found.thumbnail
        )
        names = {"face_vectors": models.face_vectors.name}
        app.write(lambda m: m.commit_episodic(clip, m.prepare(clip, perceived, {}, 6).perceived, Draft(), models=names))
        with app.reader() as reader:
            assert reader.tracks(source.id) == [] and reader.vectors("face", models.face_vectors.name)[0] == []
            kept = [(p.name, p.read_bytes()) for p in (Path(app.path) / "media").rglob("*.jpg")]
        assert proof.look(kept, vectors, models).found == ()


def test_the_recorder_records_nobody_who_was_not_approved(shared_data: Path, models: Models, tmp_path: Path) -> None:
    assert models.faces is not None and models.face_vectors is not None
    film = shared_data / "video" / "hdtf" / "RD_Radio2_000.mp4"
    rows = [r for n, (_, p) in enumerate(pictures(film)) if n % 10 == 0 for _, r in faces_of(p, models.faces, models.face_vectors)]
    (tmp_path / "veil").mkdir()
    ended: list[reports.Report] = []
    recorder = Recorder(
        tmp_path / "r", LiveAddress.parse(f"file:{film}?live"), ended.append, transform=VEIL, argument=str(tmp_path / "veil")
    )
    recorder.start()
    preview, shown = Preview.attach(recorder.preview), []
    try:
        while not recorder.wait(0.5):
            if (got := preview.newest()) is not None:
                shown.append(got[1])
    finally:
        preview.close()
        recorder.stop()
    assert isinstance(ended[-1], reports.Ended) and ended[-1].error is None
    recorded = [p for n, (_, p) in enumerate(all_pictures(tmp_path / "r")) if n % 4 == 0]
    assert len(recorded) >= 30 and shown
    there = [(f"{n}.jpg", cv2.imencode(".jpg", p)[1].tobytes()) for n, p in enumerate([*recorded, *shown])]
    assert proof.look(there, {("face", models.face_vectors.name): np.stack(rows)}, models).found == ()


def all_pictures(recording: Path) -> Iterator[tuple[int, Picture]]:
    with open_media(str(recording)) as opened:
        for packet in opened.packets("picture"):
            for frame in packet.decode():
                yield opened.time(packet.stream, frame.pts), np.asarray(frame.to_ndarray(format="bgr24"), np.uint8)
