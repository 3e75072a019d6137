"""On-screen captions: groups lines of text that belong together, and finds the one face that they name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import Box, FaceTrack, TextOnScreen
from m3desk.domain.geometry import overlap, share_of_smaller

LEAST_SCORE = 0.6


@dataclass(frozen=True, slots=True)
class Caption:
    """Lines read together, top first; `text` joins them with a space."""

    lines: tuple[TextOnScreen, ...]
    start: int
    end: int

    @property
    def text(self) -> str:
        return " ".join(line.text.strip() for line in self.lines)

    @property
    def box(self) -> Box:
        left = min(t.box[0] for t in self.lines)
        top = min(t.box[1] for t in self.lines)
        right = max(t.box[0] + t.box[2] for t in self.lines)
        bottom = max(t.box[1] + t.box[3] for t in self.lines)
        return left, top, right - left, bottom - top


def group(texts: Sequence[TextOnScreen]) -> list[Caption]:
    """Join lines that stand one below another (or side by side) at the same time; in order of appearance, then from the top."""
    readable = [t for t in texts if t.score >= LEAST_SCORE and worth_reading(t.text)]
    readable.sort(key=lambda t: (t.start, t.box[1], t.box[0], t.text))
    groups: list[list[TextOnScreen]] = []
    for text in readable:
        home = next((g for g in groups if any(_together(text, other) for other in g)), None)
        if home is None:
            groups.append([text])
        else:
            home.append(text)
    captions = [Caption(tuple(_in_reading_order(_once(g))), min(t.start for t in g), max(t.end for t in g)) for g in groups]
    return sorted(captions, key=lambda c: (c.start, c.box[1], c.text))


def _once(lines: Sequence[TextOnScreen]) -> list[TextOnScreen]:
    """Leave out repeated readings of a line: the same text in the same place; the longer one is kept."""
    kept: list[TextOnScreen] = []
    for line in sorted(lines, key=lambda t: (-len(t.text), -t.score, t.start)):
        if not any(same_text(line.text, k.text) and share_of_smaller(line.box, k.box) >= 0.5 for k in kept):
            kept.append(line)
    return kept


def _in_reading_order(lines: Sequence[TextOnScreen]) -> list[TextOnScreen]:
    """Order lines from the top; lines at the same height from the left."""
    rows: list[list[TextOnScreen]] = []
    for line in sorted(lines, key=lambda t: (t.box[1] + t.box[3] / 2, t.box[0])):
        middle = line.box[1] + line.box[3] / 2
        if rows and middle < rows[-1][0].box[1] + 0.8 * rows[-1][0].box[3]:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda t: t.box[0])]


def worth_reading(text: str) -> bool:
    """Return whether a text is more than a stray mark: two letters or digits at least."""
    return sum(c.isalnum() for c in text) >= 2


def same_text(a: str, b: str) -> bool:
    """Return whether two readings are of the same text (readings of one caption differ by a letter now and then)."""
    x, y = ("".join(c for c in t.casefold() if c.isalnum()) for t in (a, b))
    if not x or not y:
        return x == y
    return x == y or SequenceMatcher(None, x, y, autojunk=False).ratio() >= 0.8


def _together(a: TextOnScreen, b: TextOnScreen) -> bool:
    if abs(a.start - b.start) > 2 * MICROSECOND or a.start >= b.end or b.start >= a.end:
        return False
    height = max(a.box[3], b.box[3], 1.0)
    gap_y = max(a.box[1], b.box[1]) - min(a.box[1] + a.box[3], b.box[1] + b.box[3])
    gap_x = max(a.box[0], b.box[0]) - min(a.box[0] + a.box[2], b.box[0] + b.box[2])
    below = gap_y < 1.0 * height and gap_x < 0
    beside = gap_y < -0.5 * min(a.box[3], b.box[3]) and gap_x < 1.5 * height
    return below or beside


def captioned(caption: Caption, faces: Sequence[FaceTrack]) -> FaceTrack | None:
    """Return the one face that a caption can only belong to, None where there is any doubt.

    That is the only face (cluster) in view while the caption is shown, with the caption starting no higher than the face's
    middle; or, among several, the only one that the caption stands right under.
    """
    seconds: dict[int, int] = {}
    track_of: dict[int, FaceTrack] = {}
    for face in faces:
        shared = overlap((face.start, face.end), (caption.start, caption.end))
        if shared > 0:
            seconds[face.cluster] = seconds.get(face.cluster, 0) + shared
            so_far = track_of.get(face.cluster)
            if so_far is None or shared > overlap((so_far.start, so_far.end), (caption.start, caption.end)):
                track_of[face.cluster] = face
    if not seconds:
        return None
    if len(seconds) == 1:
        face = next(iter(track_of.values()))
        enough = sum(seconds.values()) >= 0.5 * min(caption.end - caption.start, 3 * MICROSECOND)
        return face if enough and caption.box[1] > _middle_y(face) else None
    under = [f for f in track_of.values() if _stands_under(caption.box, f)]
    return under[0] if len(under) == 1 and _alone_under(under[0], track_of.values(), caption) else None


def _middle_y(face: FaceTrack) -> float:
    box = face.boxes[len(face.boxes) // 2]
    return box.y + box.height / 2


def _stands_under(box: Box, face: FaceTrack) -> bool:
    b = face.boxes[len(face.boxes) // 2]
    middle = box[0] + box[2] / 2
    return b.x - 0.5 * b.width < middle < b.x + 1.5 * b.width and box[1] > b.y + b.height / 2 and box[2] < 5 * b.width


def _alone_under(face: FaceTrack, faces: Iterable[FaceTrack], caption: Caption) -> bool:
    """Return whether no other face's column touches the caption's."""
    left, right = caption.box[0], caption.box[0] + caption.box[2]
    for other in faces:
        if other.cluster == face.cluster:
            continue
        b = other.boxes[len(other.boxes) // 2]
        if b.x < right and left < b.x + b.width:
            return False
    return True
