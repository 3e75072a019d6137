"""Evidence made by hand for the tests of the memory writer: faces, speech, things and texts of one clip. Times in seconds."""

from __future__ import annotations

from m3desk.domain.clip import MICROSECOND, Clip, Source
from m3desk.domain.evidence import FaceTrack, ObjectSeen, Perceived, TextOnScreen, TimedBox, Utterance, Word
from m3desk.domain.memory import StoredSentence
from m3desk.domain.tags import render
from m3desk.ports import ClipView, Cluster

WIDTH, HEIGHT = 640, 360


def us(seconds: float) -> int:
    return round(seconds * MICROSECOND)


def face(number, start, end, *, cluster=None, x=280.0, y=100.0, size=80.0, to=None, clip="s1.c0", motion=None, continues=None):
    """A face track, five boxes a second; `to`: where it is at the end (x, y, size)."""
    x2, y2, size2 = to or (x, y, size)
    count = max(2, round((end - start) * 5))
    boxes = []
    for i in range(count):
        part = i / (count - 1)
        side = size + (size2 - size) * part
        boxes.append(TimedBox(us(start + (end - start) * part), x + (x2 - x) * part, y + (y2 - y) * part, side, side))
    moved = tuple(motion(b.at / MICROSECOND) for b in boxes) if motion else ()
    return FaceTrack(
        f"{clip}.f{number}", clip, us(start), us(end), tuple(boxes), 0.9, 0.8,
        cluster=number if cluster is None else cluster, motion=moved, continues=continues,
    )  # fmt: skip


def speech(number, start, end, text, *, cluster=0, language="en", overlapped=False, clip="s1.c0"):
    pieces = list(text) if language == "zh" else text.split()
    step = (end - start) / max(1, len(pieces))
    words = tuple(Word(us(start + i * step), us(start + (i + 1) * step), w) for i, w in enumerate(pieces))
    return Utterance(f"{clip}.u{number}", clip, us(start), us(end), text, words, language, 0.9, cluster=cluster, overlapped=overlapped)


def thing(label, start, end, *, box=(400.0, 250.0, 60.0, 60.0), score=0.9, clip="s1.c0"):
    return ObjectSeen(clip, us(start), us(end), label, score, box)


def writing(text, start, end, *, box=(200.0, 300.0, 200.0, 24.0), score=0.95, clip="s1.c0"):
    return TextOnScreen(clip, us(start), us(end), text, score, box)


def view(
    *,
    faces=(),
    utterances=(),
    objects=(),
    texts=(),
    cuts=(),
    clusters=(),
    previous=None,
    index=0,
    language=None,
    sound=True,
    start=0,
    end=30,
):
    clip = f"s1.c{index}"
    source = Source("s1", "film.mp4", us(120), WIDTH, HEIGHT, 25.0, sound, None)
    perceived = Perceived(clip, tuple(faces), tuple(utterances), tuple(objects), tuple(texts), cuts=tuple(us(c) for c in cuts))
    return ClipView(
        Clip(clip, "s1", index, us(start), us(end)), source, perceived, clusters=tuple(clusters), previous=previous, language=language
    )


def seen_before(observation, last=None):
    return Cluster("<face_0>", (observation,), True, None if last is None else us(last))


def stored(sentence, people, id_="n1", *, clip="s1.c0"):
    """A drafted sentence as the store would give it back; `people`: a person id for each span."""
    tags = dict(zip(sorted(sentence.spans, key=lambda s: s.start), people, strict=True))
    tagged = render(sentence.text, sentence.spans, lambda s: f"<{tags[s]}>")
    shown = render(sentence.text, sentence.spans, lambda s: tags[s].replace("person_", "Person "))
    return StoredSentence(
        id_, sentence.kind, sentence.text, shown, tagged, clip, "s1", sentence.start, sentence.end, 1.0,
        people=tuple(dict.fromkeys(people)), citations=sentence.citations, spans=sentence.spans, topic=sentence.topic,
        quoted=sentence.quoted, event=sentence.event, language=sentence.language, entities=sentence.entities,
    )  # fmt: skip
