"""Object detection on the CPU: SSD-MobileNet v2 with the 80 classes of COCO (OpenCV)."""

from __future__ import annotations

import threading
from pathlib import Path

from m3desk.errors import ModelFailed
from m3desk.ports import DetectedObject, Picture
from m3desk_cpu.runtimes import need, opencv

_NAMES = (
    "-,person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,-,stop sign,parking meter,"
    "bench,bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,-,backpack,umbrella,-,-,handbag,tie,suitcase,frisbee,"
    "skis,snowboard,sports ball,kite,baseball bat,baseball glove,skateboard,surfboard,tennis racket,bottle,-,wine glass,cup,"
    "fork,knife,spoon,bowl,banana,apple,sandwich,orange,broccoli,carrot,hot dog,pizza,donut,cake,chair,couch,potted plant,"
    "bed,-,dining table,-,-,toilet,-,tv,laptop,mouse,remote,keyboard,cell phone,microwave,oven,toaster,sink,refrigerator,-,"
    "book,clock,vase,scissors,teddy bear,hair drier,toothbrush"
)

COCO = tuple(_NAMES.split(","))
"""Names of the class numbers 1–90; `-` marks the ten that COCO never used (TensorFlow models, mscoco_label_map.pbtxt)."""


class SsdMobileNet:
    """Finds objects. `score`: minimum score of returned objects."""

    name = "ssd-mobilenet-v2-coco-2018"

    def __init__(self, folder: Path, threads: int = 1, score: float = 0.4) -> None:
        self._cv2 = opencv(threads)
        self._score = score
        self._lock = threading.Lock()
        graph = need(Path(folder) / "frozen_inference_graph.pb", self.name)
        text = need(Path(folder) / "ssd_mobilenet_v2_coco_2018_03_29.pbtxt", self.name)
        try:
            self._net = self._cv2.dnn.readNetFromTensorflow(str(graph), str(text))
        except self._cv2.error as e:
            raise ModelFailed(f"The object detector does not open: {e}", "Check it: m3desk models verify") from e

    def detect(self, picture: Picture) -> list[DetectedObject]:
        height, width = picture.shape[:2]
        try:
            with self._lock:
                self._net.setInput(self._cv2.dnn.blobFromImage(picture, size=(300, 300), swapRB=True))
                rows = self._net.forward()[0, 0]
        except self._cv2.error as e:
            raise ModelFailed(f"Finding objects failed: {e}") from e
        found = []
        for _, number, score, left, top, right, bottom in rows.tolist():
            label = COCO[int(number)] if 0 < int(number) < len(COCO) else "-"
            if score < self._score or label == "-":
                continue
            x, y = max(0.0, left * width), max(0.0, top * height)
            box = (x, y, min(width, right * width) - x, min(height, bottom * height) - y)
            if box[2] > 0 and box[3] > 0:
                found.append(DetectedObject(label, float(score), box))
        return sorted(found, key=lambda o: (-o.score, o.label, o.box))
