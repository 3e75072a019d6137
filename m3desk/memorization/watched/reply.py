"""Reads the reply of a model that watches: JSON, checked sentence by sentence, turned into sentences with spans and opinions.

What can't be read is an `Unreadable` with the fault in words. What can be read is kept as far as it is usable: a tag that was not given
is plain text, a time outside of the clip means the whole clip, what addresses a machine or repeats the instructions is left out. Both
forms of reply are read whatever the style: ours, and M3-Agent's lists of sentences.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from m3desk.domain.clip import MICROSECOND, Clip
from m3desk.domain.equivalence import WRITER
from m3desk.domain.evidence import Perceived
from m3desk.domain.memory import Sentence, Topic, Vote
from m3desk.domain.tags import TAG, untag
from m3desk.memorization.grounds import gives_orders
from m3desk.memorization.watched.request import EVENTS, KNOWLEDGE, SAME, TOPICS, Request

OPINION = 0.5
"""Weight of an opinion that a face and a voice are one person; how far it counts: domain.equivalence.OPINIONS."""

LONGEST = 400
"""Letters of a sentence; a longer one is divided at its full stops, and what is still longer is left out."""

MOST_LETTERS = 24_000
"""Letters of a reply; it is stopped there."""

_EVENTS = ("events", "video_description", "video_descriptions", "episodic_memory", "episodic_memories")
_KNOWLEDGE = ("knowledge", "high_level_conclusions", "high_level_conclusion", "semantic_memory", "semantic_memories")

_SAME = re.compile(r"^\W*equivalence\s*[:：]\s*(<\w+>)\W+(<\w+>)\W*$", re.I)
_TO_MACHINES = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all|any|every|your|the|these|those|previous|prior|everything)\b.{0,40}"
    r"\b(?:instructions?|prompts?|rules|orders|above|before|told)\b|\bsystem prompt\b|\byou are now\b|\bas an ai\b|\blanguage model\b|"
    r"<\|\w+\|>|\bequivalence\s*[:：]|忽略.{0,8}(?:指令|指示|命令|要求)|系统提示|等价\s*[:：]",
    re.I,
)
_OF_ITSELF = re.compile(
    r"^(?:I|I'm|I am|I can(?:'t|not)|As an AI|Sorry|Here (?:is|are)|Sure|Note)\b(?! ?[.])|^(?:我(?:无法|不能|是)|抱歉|对不起|好的)", re.I
)
_QUOTES = re.compile(r"“[^“”]*”|「[^「」]*」|『[^『』]*』|\"[^\"]*\"|«[^«»]*»")
_CLOCK = re.compile(r"(?:(\d{1,2}):)?(\d{1,3}):(\d{2}(?:\.\d+)?)")


class Unreadable(Exception):
    """A reply that gives no memory; `str` is the fault, as the model and the user are told it."""


@dataclass(slots=True)
class Reply:
    """What a reply says. `left_out`: why → how many of its sentences were not kept. `wrong_language`: most of it is in another one."""

    sentences: tuple[Sentence, ...] = ()
    votes: tuple[Vote, ...] = ()
    left_out: dict[str, int] = field(default_factory=dict)
    wrong_language: bool = False


def read(reply: str, asked: Request, clip: Clip, perceived: Perceived, model: str) -> Reply:
    """Read a reply. Raises Unreadable. `model`: the name that is stored with the sentences and the votes."""
    document = _document(reply)
    events, knowledge = _entries(document, _EVENTS), _entries(document, _KNOWLEDGE)
    if events is None:
        raise Unreadable(f"it has no list “{_EVENTS[0]}”.")
    reader = _Reader(asked, clip, perceived, model)
    found = Reply()
    told = reader.sentences(events, "episodic", EVENTS, found)
    known = reader.sentences(knowledge or (), "semantic", KNOWLEDGE, found)
    if not told:
        why = f" ({', '.join(found.left_out)})" if found.left_out else ""
        raise Unreadable(f"it has no sentence about the clip that can be used{why}.")
    found.sentences = (*told, *known)
    found.votes = reader.votes(document, [*events, *(knowledge or ())], found)
    letters = "".join(s.text for s in found.sentences)
    chinese = sum("\u4e00" <= c <= "\u9fff" for c in letters) * 3 > len(letters)
    found.wrong_language = chinese != (asked.language == "zh")
    return found


# ---------------------------------------------------------------- the document


def _document(reply: str) -> Mapping[str, Any]:
    """Return the JSON object of a reply, without thinking, code marks and words around it. Raises Unreadable."""
    text = reply.rpartition("</think>")[2].strip()
    if not text:
        raise Unreadable("it is empty.")
    if "{" not in text:
        raise Unreadable("it holds no JSON object.")
    decoder = json.JSONDecoder(parse_constant=_no_number)
    fault = ""
    # Words before the object may hold a brace: the first place that reads as an object with one of our lists counts.
    for at in [m.start() for m in re.finditer(r"\{", text)][:20]:
        try:
            value, _ = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            cut = error.pos >= len(text) - 2 or "Unterminated" in error.msg
            fault = fault or ("its JSON was cut off." if cut else f"it is not JSON ({error.msg}, at letter {error.pos - at}).")
            continue
        except (ValueError, RecursionError) as error:
            fault = fault or f"it is not JSON ({type(error).__name__})."
            continue
        if isinstance(value, dict) and any(key in value for key in (*_EVENTS, *_KNOWLEDGE)):
            return value
        fault = fault or f"it has no list “{_EVENTS[0]}”."
    raise Unreadable(fault)


def _no_number(name: str) -> float:
    return math.nan


def _entries(document: Mapping[str, Any], names: Sequence[str]) -> list[Any] | None:
    """Return the list under the first of some names, None if there is none. Raises Unreadable for something else there."""
    for name in names:
        if name in document:
            value = document[name]
            if isinstance(value, str):
                return [value]
            if not isinstance(value, list):
                raise Unreadable(f"“{name}” is not a list.")
            return value
    return None


# ---------------------------------------------------------------- its sentences


class _Reader:
    def __init__(self, asked: Request, clip: Clip, perceived: Perceived, model: str) -> None:
        self._asked, self._clip, self._perceived, self._model = asked, clip, perceived, model
        self._ordered = any(gives_orders(words) or TAG.search(words) for words in asked.scene)
        self._instructions = _bare(asked.instructions)
        self._seen: set[str] = set()

    def sentences(self, entries: Sequence[Any], kind: str, most: int, found: Reply) -> list[Sentence]:
        """Return the usable sentences of a list, in order of time; count the others in `found`."""
        kept: list[Sentence] = []
        for entry in entries:
            for text, start, end, topic in self._read(entry):
                why = self._unusable(text)
                if why is None and len(kept) >= most:
                    why = "too many"
                if why is not None:
                    found.left_out[why] = found.left_out.get(why, 0) + 1
                elif why is None and (bare := _bare(text)) not in self._seen:
                    self._seen.add(bare)
                    kept.append(self._sentence(text, kind, start, end, topic))
        return sorted(kept, key=lambda s: (s.start, s.end)) if kind == "episodic" else kept

    def _read(self, entry: Any) -> Iterator[tuple[str, int, int, Topic]]:
        """Yield (text, start, end, topic) of an entry: a sentence, or an object with one; a long one is divided."""
        fields = entry if isinstance(entry, dict) else {"text": entry}
        text = next((fields[k] for k in ("text", "sentence", "event", "content", "description") if isinstance(fields.get(k), str)), None)
        if text is None:
            return
        start, end = self._span(fields)
        topic: Topic = t if (t := fields.get("topic")) in TOPICS else "general"
        clean = " ".join(_plain(text).split()).lstrip("-*•· ").strip()
        if len(clean) <= LONGEST:
            yield clean, start, end, topic
            return
        for piece in re.split(r"(?<=[.!?])\s+|(?<=[。！？])", clean):
            yield piece.strip(), start, end, topic

    def _span(self, fields: Mapping[str, Any]) -> tuple[int, int]:
        """Return when an event is (microseconds): the whole clip where its times are missing or outside of the clip."""
        whole = self._clip.start, self._clip.end
        start = _seconds(next((fields[k] for k in ("from", "start", "start_time") if k in fields), None))
        end = _seconds(next((fields[k] for k in ("to", "end", "end_time") if k in fields), None))
        if start is None or end is None:
            return whole
        length = (self._clip.end - self._clip.start) / MICROSECOND
        if not (0 <= start <= end <= length + 1 and start < length):
            return whole
        begins = self._clip.start + round(start * MICROSECOND)
        return begins, min(self._clip.end, max(begins, self._clip.start + round(end * MICROSECOND)))

    def _unusable(self, text: str) -> str | None:
        """Return why a sentence is left out; None if it is kept."""
        unquoted = _QUOTES.sub(" ", text)
        if sum(c.isalpha() for c in unquoted) < 2:
            return "without words"
        if len(text) > LONGEST:
            return "too long"
        if _SAME.match(text):
            return "opinions"
        if _TO_MACHINES.search(unquoted) or (self._ordered and gives_orders(TAG.sub(" ", unquoted))):
            return "addressed to a machine"
        if _OF_ITSELF.match(unquoted.strip()):
            return "about the model itself"
        if len(bare := _bare(text)) >= 12 and bare in self._instructions:
            return "repeats the instructions"
        return None

    def _sentence(self, text: str, kind: Any, start: int, end: int, topic: Topic) -> Sentence:
        quoted = _merged([m.span() for m in _QUOTES.finditer(text)] + list(self._of_scene(text)))
        given = {tag: self._there(observations, start, end) for tag, observations in self._asked.tags.items()}
        language = "zh" if sum("\u4e00" <= c <= "\u9fff" for c in text) * 3 > len(text) else "en"
        stored, spans, moved = untag(text, given, language, quoted)
        words = " " + re.sub(r"[^\w]+", " ", stored.casefold()) + " "
        things = dict.fromkeys(o.label for o in self._perceived.objects if f" {o.label.casefold()} " in words)
        return Sentence(
            text=stored,
            kind=kind,
            start=start,
            end=end,
            spans=spans,
            citations=tuple(dict.fromkeys(o for s in spans for o in s.observations)),
            entities=tuple(things),
            quoted=moved,
            language=language,
            topic=topic if kind == "semantic" else None,
            model=self._model,
        )

    def _of_scene(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where a sentence repeats, word for word, what was said or read."""
        low = text.casefold()
        for words in self._asked.scene:
            piece = " ".join(words.split()).casefold()
            at = low.find(piece) if len(piece) >= 8 and len(low) == len(text) else -1
            if at >= 0:
                yield at, at + len(piece)

    def _there(self, observations: Sequence[str], start: int, end: int) -> tuple[str, ...]:
        """Return those of a tag's observations that are there at a time; all if none is."""
        now = tuple(o for o in observations if (seen := self._perceived.observation(o)).start < end and start < seen.end)
        return now or tuple(observations)

    # ------------------------------------------------------------ opinions

    def votes(self, document: Mapping[str, Any], entries: Iterable[Any], found: Reply) -> tuple[Vote, ...]:
        """Return an opinion for each face and voice that the model takes for one person; none where a voice gets several faces, or the
        scene itself speaks of tags or gives orders.
        """
        pairs: dict[tuple[str, str], None] = {}
        listed = document.get("same_person")
        for entry in listed if isinstance(listed, list) else ():
            ends = [entry.get("face"), entry.get("voice")] if isinstance(entry, dict) else entry
            if isinstance(ends, list) and len(ends) == 2 and all(isinstance(e, str) for e in ends):
                pairs[_pair(*ends)] = None
        for entry in entries:
            if isinstance(entry, str) and (match := _SAME.match(entry.strip())):
                pairs[_pair(match[1], match[2])] = None
        good = [(f, v) for f, v in pairs if f.startswith("<face_") and v.startswith("<voice_") and {f, v} <= self._asked.tags.keys()]
        good = [(f, v) for f, v in good if sum(w == v for _, w in good) == 1][:SAME]
        if good and self._ordered:
            found.left_out["opinions in a scene that gives orders"] = len(good)
            return ()
        return tuple(v for f, v_ in good if (v := self._vote(f, v_)) is not None)

    def _vote(self, face: str, voice: str) -> Vote | None:
        """Return the vote for a face and a voice: of the longest observation of each; None for a voice too short to be recognised."""
        tracks = [t for t in self._perceived.faces if t.id in self._asked.tags[face]]
        said = [u for u in self._perceived.utterances if u.id in self._asked.tags[voice] and u.embeddable and not u.overlapped]
        if not tracks or not said:
            return None
        longest = max(tracks, key=lambda t: t.end - t.start), max(said, key=lambda u: u.end - u.start)
        return Vote(longest[0].id, longest[1].id, f"{WRITER}{self._model}", OPINION)


def _pair(a: str, b: str) -> tuple[str, str]:
    a, b = (t if t.startswith("<") else f"<{t}>" for t in (a.strip(), b.strip()))
    return (b, a) if a.startswith("<voice_") else (a, b)


def _plain(text: str) -> str:
    """Return a text without characters that can't be stored or seen (half letters, zero bytes)."""
    return "".join(c for c in text.encode("utf-8", "ignore").decode() if c.isprintable() or c.isspace())


def _bare(text: str) -> str:
    """Return the letters and digits of a text, to compare it."""
    return "".join(c for c in text.casefold() if c.isalnum())


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for a, b in sorted(ranges):
        if merged and a <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(b, merged[-1][1])
        else:
            merged.append((a, b))
    return merged


def _seconds(value: Any) -> float | None:
    """Return a time as a model writes it: seconds, or MM:SS; None for what is no time."""
    if isinstance(value, str) and (match := _CLOCK.fullmatch(value.strip())):
        return int(match[1] or 0) * 3600 + int(match[2]) * 60 + float(match[3])
    try:
        number = float(value) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
