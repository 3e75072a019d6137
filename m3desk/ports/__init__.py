"""The engine's interfaces: small Protocols that plugins, the store and the engine's process implement."""

from __future__ import annotations

from m3desk.ports.clips import ClipMedia, ClipView, Cluster, Frame, KnowledgeWriter, MemoryWriter, Models, Prepared, Waiting
from m3desk.ports.desk import Desk
from m3desk.ports.memory import FoundClip, FoundNode, Reader
from m3desk.ports.models import (
    SAMPLE_RATE,
    DetectedFace,
    DetectedObject,
    FaceDetector,
    FaceEmbedder,
    LanguageModel,
    Message,
    ObjectDetector,
    Picture,
    ReadText,
    RecognisedWord,
    Sound,
    SpeechRecogniser,
    SpeechSegmentation,
    TextEmbedder,
    TextReader,
    Transcript,
    VoiceActivity,
    VoiceEmbedder,
)

__all__ = [
    "SAMPLE_RATE",
    "ClipMedia",
    "ClipView",
    "Cluster",
    "Desk",
    "DetectedFace",
    "DetectedObject",
    "FaceDetector",
    "FaceEmbedder",
    "FoundClip",
    "FoundNode",
    "Frame",
    "KnowledgeWriter",
    "LanguageModel",
    "MemoryWriter",
    "Message",
    "Models",
    "ObjectDetector",
    "Picture",
    "Prepared",
    "ReadText",
    "Reader",
    "RecognisedWord",
    "Sound",
    "SpeechRecogniser",
    "SpeechSegmentation",
    "TextEmbedder",
    "TextReader",
    "Transcript",
    "VoiceActivity",
    "VoiceEmbedder",
    "Waiting",
]
