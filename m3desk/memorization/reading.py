"""Sentences about text on screen, each with its role: who a caption introduces, a title, subtitles, a banner, other writing.

A text is told once, a caption that introduces somebody once in two clips. Left out: what is cut off at the picture's edge, the rest of a
sentence, misread lines, readings of moments, marks in a corner that never change, and subtitles whose words are told as speech anyway.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import groupby

from m3desk.domain.clear_speech import CLEARLY
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import TextOnScreen, Utterance
from m3desk.memorization import captions, names, presence, subtitled
from m3desk.memorization.candidates import CandidateSentence
from m3desk.memorization.captions import Caption
from m3desk.memorization.phrases import Who, say
from m3desk.ports import ClipView

SURE = 0.9
"""Recognition score of each line that is told. In calibration every line below it is misread."""

EXACT = 0.95
"""Recognition score of a subtitle that is taken for what was said."""

BRIEF = MICROSECOND
"""A text that is read for less than this is told only if its score is near 1, and is no title."""

EDGE = 0.004
"""Of the picture's width: a line that begins or ends this near its side goes on outside of it."""

CROWD = 6
"""More lines than this that don't come and go together are a background of letters (a wall, a poster), no caption."""

FRAGMENT = 12
"""Letters under which a low text that begins in lower case is a mark ("web-m"), no subtitle."""

SPOKEN = 0.6
"""How alike a text and what is said at the same time must be to be its subtitle."""

LOW = 0.72
"""Subtitles and banners stand below this part of the picture's height."""

LONGEST = 200
MOST_SUBTITLES = 8


def as_subtitled(view: ClipView) -> ClipView:
    """Return the view with the speech spelled as the clip's subtitles write it."""
    p = view.perceived
    width, height = presence.picture_size(view.source, p)
    low = [c for c in _captions(p.texts, width) if c.box[1] >= LOW * height and not _named(c)]
    # Line by line: of two lines one may be a translation, or no subtitle.
    low = [Caption((t,), t.start, t.end) for c in low for t in c.lines if t.score >= EXACT]
    spelled = [
        u if u.text == heard.text else replace(u, confidence=max(u.confidence, CLEARLY))
        for u, heard in zip(subtitled.corrected(p.utterances, low), p.utterances, strict=True)
    ]
    return replace(view, perceived=replace(p, utterances=tuple(spelled))) if low else view


def texts(view: ClipView, language: str) -> list[CandidateSentence]:
    """Return the candidate sentences about a clip's text on screen."""
    p = view.perceived
    width, height = presence.picture_size(view.source, p)
    there = [part for c in _captions(p.texts, width) for part in _parted(c, p.utterances, height) if _begins(part, height)]
    subtitles = [c for c in there if _is_subtitle(c, p.utterances, height)]
    before = captions.group(view.previous.texts) if view.previous else []
    still = [c.text for c in before if c.end >= view.clip.start - 3 * MICROSECOND or _named(c)]
    items = _subtitles(subtitles, p.utterances, language)
    told: list[Caption] = []
    plain: list[Caption] = []
    for caption in there:
        known = any(captions.same_text(caption.text, t.text) for t in told) or any(captions.same_text(caption.text, t) for t in still)
        if caption in subtitles or known or _is_mark(caption, view, width, height):
            continue
        told.append(caption)
        face = captions.captioned(caption, p.faces) if _named(caption) else None
        if face:
            line = say("caption", language, who=[Who((face.id,))], said=[_short(caption.text)])
            items.append(CandidateSentence(caption.start, caption.end, line, "text", 0))
        else:
            plain.append(caption)
    for (_, key), same in groupby(plain, key=lambda c: (c.start // MICROSECOND, _role(c, view, width, height))):
        together = list(same)[:5]
        line = say(key + ("s" if len(together) > 1 else ""), language, said=[_short(c.text) for c in together])
        items.append(CandidateSentence(together[0].start, max(c.end for c in together), line, "text", 1))
    return items


def _captions(found: Sequence[TextOnScreen], width: float) -> list[Caption]:
    clear = [t for t in found if t.score >= SURE and not _cut_off(t, width) and t.end - t.start > 0]
    return [c for c in captions.group(clear) if _plausible(c)]


def _parted(caption: Caption, utterances: Sequence[Utterance], height: float) -> list[Caption]:
    """Return a text that stands with the words that are spoken apart from them: a notice beside a subtitle is none."""
    spoken = [t for t in caption.lines if t.box[1] >= LOW * height and _said(t.text, caption, utterances) >= SPOKEN]
    if not spoken or len(spoken) == len(caption.lines) or _named(caption):
        return [caption]
    rest = captions.group([t for t in caption.lines if t not in spoken])
    return [Caption(tuple(spoken), min(t.start for t in spoken), max(t.end for t in spoken)), *(c for c in rest if _plausible(c))]


def _begins(caption: Caption, height: float) -> bool:
    """Return whether a text is read from its beginning: in lower case only subtitles begin, else it is the rest of something, or a mark."""
    letters = [c for c in caption.text if c.isalpha()]
    return not letters or not letters[0].islower() or (caption.box[1] >= LOW * height and len(letters) >= FRAGMENT)


def _named(caption: Caption) -> bool:
    return names.in_caption(caption.text, tuple(t.text for t in caption.lines)) is not None


def _cut_off(text: TextOnScreen, width: float) -> bool:
    return text.box[0] <= EDGE * width or text.box[0] + text.box[2] >= (1 - EDGE) * width


def _plausible(caption: Caption) -> bool:
    """Return whether a reading is words: well recognised, not of one moment, not a crowd of letters, not only marks and single letters."""
    if caption.end - caption.start < BRIEF and max(t.score for t in caption.lines) < 0.98:
        return False
    if len(caption.lines) > CROWD and max(t.start for t in caption.lines) - min(t.start for t in caption.lines) > MICROSECOND:
        return False
    letters = [c for c in caption.text if c.isalpha()]
    han = sum("\u4e00" <= c <= "\u9fff" for c in letters)
    if han >= 2:
        return True
    words = re.findall(r"[^\W\d_]{3,}", caption.text)
    return bool(words) and 2 * sum(map(len, words)) >= len(letters) and any(re.search(r"[aeiouyAEIOUYà-öø-ÿ]", w) for w in words)


def _is_mark(caption: Caption, view: ClipView, width: float, height: float) -> bool:
    """Return whether a text is a small mark that stays in a corner through the whole clip: a channel's logo, a watermark."""
    left, top, wide, high = caption.box
    stays = caption.end - caption.start >= 0.8 * (view.clip.end - view.clip.start)
    corner = (left < 0.3 * width or left + wide > 0.7 * width) and (top < 0.25 * height or top + high > 0.75 * height)
    return stays and corner and wide < 0.2 * width and caption.end - caption.start >= 10 * MICROSECOND


def _is_subtitle(caption: Caption, utterances: Sequence[Utterance], height: float) -> bool:
    """Return whether a text gives the words that are spoken: they are heard at that time."""
    if caption.box[1] < LOW * height or _named(caption):
        return False
    return _said(caption.text, caption, utterances) >= SPOKEN


def _said(text: str, caption: Caption, utterances: Sequence[Utterance]) -> float:
    """Return how much of a text is heard within two seconds of it, 0–1."""
    near = " ".join(u.text for u in utterances if u.start < caption.end + 2 * MICROSECOND and u.end > caption.start - 2 * MICROSECOND)
    a, b = _letters(text), _letters(near)
    if not a or not b:
        return 0.0
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    least = 2 if any("\u4e00" <= c <= "\u9fff" for c in a) else 4  # letters that match by chance say nothing
    return sum(m.size for m in blocks if m.size >= least) / len(a)


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def _subtitles(found: Sequence[Caption], utterances: Sequence[Utterance], language: str) -> list[CandidateSentence]:
    """Tell together the subtitles of a clip that speech recognition did not hear as they are written."""
    unheard: list[Caption] = []
    for caption in found:
        again = any(captions.same_text(caption.text, c.text) for c in unheard)
        if not again and _said(caption.text, caption, utterances) < 0.999:
            unheard.append(caption)
    if not unheard:
        return []
    line = say("subtitle" if len(unheard) == 1 else "subtitles", language, said=[_short(c.text) for c in unheard[:MOST_SUBTITLES]])
    return [CandidateSentence(unheard[0].start, max(c.end for c in unheard), line, "text", 1)]


def _role(caption: Caption, view: ClipView, width: float, height: float) -> str:
    """Return what a text is: a "title" (it fills a picture without people), a "banner" (wide, low, below people), else "text"."""
    left, top, wide, _ = caption.box
    during = [f for f in view.perceived.faces if f.start < caption.end and f.end > caption.start]
    people = [o for o in view.perceived.objects if o.label == "person" and o.start < caption.end and o.end > caption.start]
    central = abs(left + wide / 2 - width / 2) < 0.15 * width
    if not during and not people and central and wide > 0.2 * width and caption.end - caption.start >= BRIEF:
        return "title"
    if during and top > LOW * height and wide > 0.4 * width and not caption.text[:1].islower():
        return "banner"
    return "writing"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
