"""The entry points of the embedded backends: one factory function each. Cheap to import; models load inside the factories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Weights = Callable[[str], Path]


def yunet(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.faces import YuNet

    return YuNet(weights("yunet"), 1)


def sface(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.faces import SFace

    return SFace(weights("sface"), 1)


def dlib_resnet(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.dlib_faces import DlibFaces

    return DlibFaces(weights("dlib-resnet"), 1)


def auraface(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.arcface import ArcFace

    return ArcFace(weights("auraface") / "glintr100.onnx", 1)


def buffalo_l(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.arcface import ArcFace

    return ArcFace(weights("buffalo-l") / "w600k_r50.onnx", 1)


def silero(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.voices import Silero

    return Silero(1)


def pyannote_segmentation(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.voices import Segmentation

    return Segmentation(weights("pyannote-segmentation"), 1)


def campplus(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.voices import CamPlus

    return CamPlus(weights("campplus"), 1)


def campplus_rectified(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.voices import CamPlusRectified

    return CamPlusRectified(weights("campplus"), 1)


def ge2e(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.ge2e import Ge2e

    return Ge2e(weights("ge2e"), 1)


def whisper_base(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.speech import Whisper

    return Whisper(weights("whisper-base"), threads)


def ssd_mobilenet(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.objects import SsdMobileNet

    return SsdMobileNet(weights("ssd-mobilenet-v2"), 1)


def rapidocr(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.screen_text import RapidOcr

    return RapidOcr(threads)


def e5_small(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.text_vectors import E5Small

    return E5Small(threads)


def universal_sentence(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.text_vectors import UniversalSentence

    return UniversalSentence(threads)


def llama_cpp(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.language import opened

    return opened(weights, threads)


def llama_vision(weights: Weights, threads: int) -> Any:
    from m3desk_cpu.vision import opened

    return opened(weights, threads)


def llama_devices() -> list[dict[str, Any]]:
    from m3desk_cpu.language import devices

    return devices()
