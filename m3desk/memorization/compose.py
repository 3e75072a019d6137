"""The built-in memory writer: composes a clip's episodic sentences from its evidence by rules, and adds nothing that is not in it.

Must not know: the store, any model. The same evidence gives the same sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from m3desk.domain.clip import MICROSECOND
from m3desk.domain.memory import Draft, Sentence, Vote
from m3desk.memorization import names, scenery, speaking
from m3desk.memorization.candidates import CandidateSentence
from m3desk.memorization.people import people
from m3desk.memorization.phrases import Who, say, writing_language
from m3desk.memorization.reading import as_subtitled, texts
from m3desk.memorization.telling import CLEAR, QuotedSpeech, told
from m3desk.ports import ClipView

MOST = 20
"""Most sentences of a clip; above that the least important are left out."""

REMARK = 10
"""Letters of a remark ("Yeah, okay.") that a full clip can do without."""

CLEAR_CROSSTALK = 0.75
"""Confidence of the words of several people at once from which they are quoted: recognition mixes them."""

LONG_SILENCE = 12 * MICROSECOND

_NO_SPACES = "\u0e00-\u0eff\u2e80-\ua4cf\uf900-\ufaff"
_WORD_ALONE = re.compile(rf"([^\W{_NO_SPACES}]+|[{_NO_SPACES}]{{1,2}})[,，]")
"""One word and a comma; of scripts without spaces between words (Chinese, Japanese, Thai) two characters at most."""

_ORDER = {
    "scene": 0, "present": 0, "appears": 1, "returns": 1, "shown": 1, "text": 2, "object": 3, "says": 4, "listens": 5, "moves": 6,
    "leaves": 7, "silence": 8,
}  # fmt: skip


@dataclass
class ComposedWriter:
    """Writes what the evidence says: who appears, stays, returns and leaves, who says what, what is in view and on screen.

    `only`: the events to tell of ("says", "text"), where a model tells the rest; None: all.
    """

    only: frozenset[str] | None = None
    name: str = field(default="composed-6", init=False)

    def write(self, view: ClipView, cancelled: Callable[[], bool] = lambda: False) -> Draft:
        """Compose a clip's sentences, votes and names; in milliseconds, so `cancelled` is not asked."""
        p = view.perceived
        language = language_of(view)
        votes, heard = speaking.votes(p, view.clip.end), names.heard(p)
        spelled = as_subtitled(view)
        items = [*people(view, language, votes), *speech(spelled, language), *texts(spelled, language), *scenery.things(view, language)]
        items = _without_fillers([i for i in items if not i.known] or items, view, votes)
        items += _quiet(view, language, items)
        if self.only is not None:
            items = [i for i in items if i.event in self.only]
        sentences = tuple(_sentence(i, language) for i in _chosen(items))
        return Draft(sentences, (*votes, *speaking.same_name(votes, heard, p)), heard, model=self.name)


def language_of(view: ClipView) -> str:
    """Return the language that a clip is written in: the wanted one, else that of the clip's speech, or of the clip before."""
    spoken = view.perceived.utterances or (view.previous.utterances if view.previous else ())
    return writing_language(view.language, [(u.language, u.text) for u in spoken])


def _sentence(item: CandidateSentence, language: str) -> Sentence:
    mentioned = (o for s in item.line.spans for o in s.observations)
    return Sentence(
        text=item.line.text,
        kind="episodic",
        start=item.start,
        end=max(item.end, item.start),
        spans=item.line.spans,
        citations=tuple(dict.fromkeys([*mentioned, *item.citations])),
        entities=item.entities,
        quoted=item.line.quoted,
        language=language,
        event=item.event,
    )


def _chosen(items: Sequence[CandidateSentence]) -> list[CandidateSentence]:
    """Return the most important sentences in time order; of much speech, short remarks are left out first."""
    kept = sorted(
        items, key=lambda i: (i.rank, -sum(b - a for a, b in i.line.quoted) if i.event == "says" else -1000, i.start, i.line.text)
    )
    kept = kept[:MOST]
    return sorted(kept, key=lambda i: (i.start, _ORDER.get(i.event, 8), i.line.text))


def _without_fillers(items: Sequence[CandidateSentence], view: ClipView, votes: Sequence[Vote]) -> list[CandidateSentence]:
    """Leave out fillers whose people other sentences speak of, also by their voice where a vote links it."""
    cluster: dict[str, tuple[str, int]] = {f.id: ("face", f.cluster) for f in view.perceived.faces}
    cluster |= {u.id: ("voice", u.cluster) for u in view.perceived.utterances}
    linked = {cluster[v.b]: cluster[v.a] for v in votes if v.weight > 0 and v.a in cluster and v.b in cluster}

    def of(item: CandidateSentence) -> set[tuple[str, int]]:
        own = {cluster[o] for s in item.line.spans for o in s.observations if o in cluster}
        return own | {linked[c] for c in own if c in linked}

    spoken_of = {c for i in items if not i.filler for c in of(i)}
    return [i for i in items if not i.filler or not of(i) <= spoken_of]


# ---------------------------------------------------------------- who says what


def speech(view: ClipView, language: str) -> list[CandidateSentence]:
    """Return the candidate sentences that quote a clip's speech."""
    items: list[CandidateSentence] = []
    before: QuotedSpeech | None = None
    confidence = {u.id: u.confidence for u in view.perceived.utterances}
    for one in told([u for u in speaking.crosstalk(view.perceived, view.clip) if u.confidence >= CLEAR]):
        if _WORD_ALONE.fullmatch(one.text):
            continue  # of a sentence that nobody finishes
        rank = 0 if len(one.text) > REMARK else 2
        if one.cluster == speaking.NOBODY:
            clear = all(confidence[u] >= CLEAR_CROSSTALK for u in one.utterances)
            line = say("at_once", language, said=[one.text]) if clear else say("at_once_unclear", language)
            items.append(CandidateSentence(one.start, one.end, line, "says" if clear else "shown", rank, one.utterances))
            continue
        on = before is not None and before.cluster == one.cluster and one.start - before.end < 10 * MICROSECOND
        line = say("says_unclear" if one.unclear else "goes_on" if on else "says", language, who=[Who(one.utterances)], said=[one.text])
        items.append(CandidateSentence(one.start, one.end, line, "says", rank))
        before = one
    return items


# ---------------------------------------------------------------- what does not happen


def _quiet(view: ClipView, language: str, items: Sequence[CandidateSentence]) -> list[CandidateSentence]:
    """Mention silence (once while it lasts), a film without sound, a dark picture, and a clip without anything else."""
    clip, p = view.clip, view.perceived
    quiet: list[CandidateSentence] = []
    spoken = sorted((u.start, u.end) for u in p.utterances)
    picture = view.source.width is not None
    silent_before = view.previous is not None and not view.previous.utterances
    if not view.source.has_audio:
        if clip.index == 0:
            quiet.append(CandidateSentence(clip.start, clip.end, say("no_sound", language), "silence", 1))
    elif not spoken and items and not silent_before:
        quiet.append(CandidateSentence(clip.start, clip.end, say("silent", language), "silence", 1))
    elif spoken:
        quiet += [
            CandidateSentence(a, b, say("silent_for", language, count=str((b - a) // MICROSECOND)), "silence", 2)
            for a, b in _gaps(spoken, clip.start, clip.end)
            if b - a >= LONG_SILENCE
        ]
    if picture and p.scene.get("brightness", 1.0) < 0.06:
        quiet.append(CandidateSentence(clip.start, clip.end, say("dark", language), "scene", 2))
    if not items:
        key = "nobody" if picture and view.source.has_audio else "nobody_seen" if picture else "no_picture_no_speech"
        quiet.append(CandidateSentence(clip.start, clip.end, say(key, language), "silence", 0))
    return quiet


def _gaps(spans: Sequence[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Return what spans (sorted) leave free of [start, end)."""
    free, at = [], start
    for a, b in spans:
        if a > at:
            free.append((at, a))
        at = max(at, b)
    return [*free, (at, end)] if end > at else free


__all__ = ["ComposedWriter", "speech", "texts"]
