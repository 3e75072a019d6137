"""Formats states, durations, sizes and other values in the window's language."""

from __future__ import annotations

import re

from PySide6.QtCore import QCoreApplication, QLocale

from m3desk.domain.clip import MICROSECOND, clock
from m3desk.domain.equivalence import SAME_NAME, WRITER
from m3desk.domain.ids import is_person, numbered
from m3desk.outgoing import Leaving

__all__ = ["clock", "duration", "kind", "megabytes", "precise_clock", "presence", "source_state", "speed", "stage", "topic"]


def precise_clock(at: int) -> str:
    """Return a time with tenths: `01:30.4`."""
    return f"{clock(at)}.{max(0, at) // 100_000 % 10}"


def duration(microseconds: int) -> str:
    """Format a duration: `8 s`, `3 min 20 s`, `1 h 5 min`."""
    total = round(max(0, microseconds) / MICROSECOND)
    if total < 60:
        return QCoreApplication.translate("Texts", "%1 s").replace("%1", str(total))
    if total < 3600:
        return QCoreApplication.translate("Texts", "%1 min %2 s").replace("%1", str(total // 60)).replace("%2", str(total % 60))
    return QCoreApplication.translate("Texts", "%1 h %2 min").replace("%1", str(total // 3600)).replace("%2", str(total % 3600 // 60))


def presence(microseconds: int) -> str:
    """Format how long somebody is seen or heard: of who was there at all, no "0 s"."""
    return duration(max(MICROSECOND, microseconds) if microseconds else 0)


def megabytes(size: int) -> str:
    """Format a size (1.1 GB) in the window's language."""
    return QLocale().formattedDataSize(size, 1, QLocale.DataSizeFormat.DataSizeSIFormat)


def speed(rate: float) -> str:
    """Return a rate: `1.8×`."""
    return f"{rate:.1f}×"


def source_state(state: str) -> str:
    """Return the state of a source or clip in words."""
    words = {
        "queued": QCoreApplication.translate("Texts", "waiting"),
        "working": QCoreApplication.translate("Texts", "being memorized"),
        "paused": QCoreApplication.translate("Texts", "paused"),
        "done": QCoreApplication.translate("Texts", "memorized"),
        "episodic": QCoreApplication.translate("Texts", "memorized, no knowledge yet"),
        "partial": QCoreApplication.translate("Texts", "partly memorized"),
        "failed": QCoreApplication.translate("Texts", "failed"),
        "cancelled": QCoreApplication.translate("Texts", "cancelled"),
        "skipped": QCoreApplication.translate("Texts", "skipped"),
    }
    return words.get(state, state)


def stage(name: str) -> str:
    """Return a stage of the work in words."""
    words = {
        "watching": QCoreApplication.translate("Texts", "watching and listening"),
        "written": QCoreApplication.translate("Texts", "memories written"),
        "knowledge": QCoreApplication.translate("Texts", "writing knowledge"),
        "embedding": QCoreApplication.translate("Texts", "re-embedding"),
        "rebinding": QCoreApplication.translate("Texts", "recognizing everybody again"),
        "rebuilding": QCoreApplication.translate("Texts", "rebuilding the memory's tables"),
        "reading": QCoreApplication.translate("Texts", "reading the file"),
        "importing": QCoreApplication.translate("Texts", "writing the memory"),
    }
    return words.get(name, name)


def kind(name: str) -> str:
    """Return a kind of node or memory in words."""
    words = {
        "face": QCoreApplication.translate("Texts", "face"),
        "voice": QCoreApplication.translate("Texts", "voice"),
        "episodic": QCoreApplication.translate("Texts", "event"),
        "semantic": QCoreApplication.translate("Texts", "knowledge"),
        "object": QCoreApplication.translate("Texts", "object"),
        "place": QCoreApplication.translate("Texts", "place"),
        "person": QCoreApplication.translate("Texts", "person"),
    }
    return words.get(name, name)


def processor(told: str) -> str:
    """Return "CPU, 2 threads" (the engine's) or "NAME, 2 cores" (doctor's) in words."""
    found = re.fullmatch(r"(.*), (\d+) (threads|cores)", told)
    if found is None:
        return told
    counted = (
        QCoreApplication.translate("Texts", "%1 threads")
        if found.group(3) == "threads"
        else QCoreApplication.translate("Texts", "%1 cores")
    )
    return QCoreApplication.translate("Texts", "%1, %2").replace("%2", counted.replace("%1", found.group(2))).replace("%1", found.group(1))


def profile(name: str, reason: str) -> str:
    """Return a set of models and what it lacks, as doctor tells them, in words; what doctor says otherwise stays as it is."""
    shown = {"embedded": QCoreApplication.translate("Texts", "embedded"), "server": QCoreApplication.translate("Texts", "server")}.get(
        name, name
    )
    missing = re.fullmatch(r"weights are missing \((.*)\): (m3desk .*)", reason)
    if missing:
        text = QCoreApplication.translate("Texts", "weights are missing (%1): %2")
        reason = text.replace("%2", missing.group(2)).replace("%1", missing.group(1))
    reasons = {
        "without the language model it answers by quoting: m3desk models pull --llm": QCoreApplication.translate(
            "Texts", "answers quote memories until the language model is there (File → Models)"
        ),
    }
    return (
        QCoreApplication.translate("Texts", "%1: %2").replace("%1", shown).replace("%2", reasons.get(reason, reason)) if reason else shown
    )


def loading(said: str) -> str:
    """Return what a model says while it loads in words, where it waits for the graphics card; a log's line stays as it is."""
    lines = (
        (
            r"waiting for (.*) to finish: both do not fit on the graphics card",
            QCoreApplication.translate("Texts", "waiting for %1 to finish: both do not fit on the graphics card"),
        ),
        (
            r"(.*) is unloaded: both do not fit on the graphics card",
            QCoreApplication.translate("Texts", "%1 is unloaded: both do not fit on the graphics card"),
        ),
    )
    return next((text.replace("%1", found[1]) for form, text in lines if (found := re.fullmatch(form, said))), said)


def model(name: str) -> str:
    """Return what a backend of the embedded profile is for, with its name; others by their name alone."""
    translate = QCoreApplication.translate
    words = {
        "yunet": translate("Texts", "the face detector"),
        "sface": translate("Texts", "face recognition"),
        "silero": translate("Texts", "the speech detector"),
        "pyannote-segmentation": translate("Texts", "the speech detector"),
        "campplus": translate("Texts", "voice recognition"),
        "whisper-base": translate("Texts", "speech recognition"),
        "ssd-mobilenet-v2": translate("Texts", "the object detector"),
        "rapidocr": translate("Texts", "text recognition"),
        "e5-small": translate("Texts", "search by meaning"),
        "use": translate("Texts", "search by meaning"),
        "llama-cpp": translate("Texts", "the language model"),
        "llama-vision": translate("Texts", "the vision model"),
    }
    return translate("Texts", "%1 (%2)").replace("%1", words[name]).replace("%2", name) if name in words else name


def leaves(what: Leaving) -> str:
    """Return in a few words what goes to another machine."""
    both = QCoreApplication.translate("Texts", "Questions and clips go to %1")
    clips = QCoreApplication.translate("Texts", "Clips go to %1")
    questions = QCoreApplication.translate("Texts", "Questions go to %1")
    return (both if what.questions and what.clips else clips if what.clips else questions).replace("%1", what.host)


def leaving(what: Leaving) -> list[str]:
    """Return in full what goes to another machine."""
    lines = []
    if what.questions:
        text = QCoreApplication.translate(
            "Texts",
            "Questions go to %1: each with the sentences found for it and the names in them; for knowledge, what people say in each clip.",
        )
        lines.append(text.replace("%1", what.host))
    if what.clips:
        text = QCoreApplication.translate(
            "Texts", "Clips go to %1: pictures, cut-out faces, what is said, the sound where the server takes sound, and earlier sentences."
        )
        lines.append(text.replace("%1", what.host))
    if not what.encrypted:
        lines.append(QCoreApplication.translate("Texts", "They go unencrypted (http): whoever is between can read them."))
    return lines


def not_encrypted(folder: bool = False) -> str:
    """Return the warning that memories are not encrypted; about one memory, with `folder`."""
    if folder:
        return QCoreApplication.translate(
            "Texts", "Memories are not encrypted. Anyone who can read this folder can read names, faces and speech in it."
        )
    return QCoreApplication.translate(
        "Texts", "Memories are not encrypted. Anyone who can read a memory's folder can read names, faces and speech in it."
    )


def alias(name: str) -> str:
    """Return another name of a person in words: one who was merged into somebody is "Person 2", not the id person_2."""
    if is_person(name):
        return QCoreApplication.translate("Texts", "Person %1").replace("%1", str(numbered(name)))
    return name


def person(shown: str) -> str:
    """Return what somebody is called in the window's language: only who has no name, "Person 3", is called otherwise there."""
    found = re.fullmatch(r"Person (\d+)", shown)
    return QCoreApplication.translate("Texts", "Person %1").replace("%1", found.group(1)) if found else shown


def moment(source: str, at: int) -> str:
    """Return a time of one of several sources in words. `at`: microseconds."""
    told = QCoreApplication.translate("Texts", "video %1, %2")
    return told.replace("%2", clock(at)).replace("%1", source.removeprefix("s"))


def vote(by: str) -> str:
    """Return in words why a face and a voice, or two nodes, are taken for one person. `by`: as `domain.equivalence` has it."""
    translate = QCoreApplication.translate
    words = {
        "lips": translate("Texts", "the lips move with the voice"),
        "lips in step": translate("Texts", "the lips move with the voice"),
        "lips in turn": translate("Texts", "the mouth moves when it is this voice's turn"),
        "in turn": translate("Texts", "the mouth moves when it is this voice's turn"),
        "alone in view": translate("Texts", "alone in view while the voice speaks"),
        "mouth still": translate("Texts", "the mouth is still while the voice speaks"),
        SAME_NAME: translate("Texts", "the same name is heard or read of both"),
    }
    if by.startswith(WRITER):
        return translate("Texts", "the model that wrote the memories says so")
    if by.startswith("m3-agent"):
        return translate("Texts", "the imported graph says so")
    if by.startswith("consolidation"):
        return translate("Texts", "the two are much alike")
    return words.get(by, by)


def topic(name: str | None) -> str:
    """Return a topic of knowledge in words."""
    words = {
        "attribute": QCoreApplication.translate("Texts", "traits"),
        "relationship": QCoreApplication.translate("Texts", "relationships"),
        "habit": QCoreApplication.translate("Texts", "habits"),
        "plot": QCoreApplication.translate("Texts", "what happened"),
        "general": QCoreApplication.translate("Texts", "general"),
    }
    return words.get(name or "general", name or "")
