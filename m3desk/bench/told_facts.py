"""The hand-written facts and judgments of `bench telling`: read from the tests' texts, and matched with a memory's sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NEAR = 2.0
"""Seconds that a sentence may lie beside a fact's time: a sentence about a cut begins at it."""

FACTS = Path(__file__).resolve().parents[2] / "tests" / "memorization" / "facts"

PARTS = ("calibration", "validation", "unseen")
"""Parts of the films: rules are chosen with the first only; the kinds of faults were counted in the second; the third was measured last."""

_WINDOW = re.compile(r"([\d.]+)-([\d.]+)(?: (<|>)(\.\d+)| (voice))?$")


@dataclass(frozen=True, slots=True)
class Window:
    """When and where a person is seen, or (`voice`) heard. `side`: "<" or ">" the share `at` of the picture's width, "" anywhere."""

    start: float
    end: float
    side: str = ""
    at: float = 0.0
    voice: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a person sees or hears. `needs`: groups of words or @labels; a sentence must hold one of each group."""

    start: float
    end: float
    kind: str
    text: str
    needs: tuple[tuple[str, ...], ...]


@dataclass
class FilmTruth:
    """What is true of one film. `part`: one of PARTS."""

    path: str
    part: str
    people: dict[str, list[Window]] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)

    @property
    def stem(self) -> str:
        return Path(self.path).stem


@dataclass(frozen=True, slots=True)
class ToldSentence:
    """A sentence of a memory. `labels`: the people it speaks of; `shown`: its text with their labels as «label»."""

    start: float
    end: float
    shown: str
    labels: frozenset[str]
    kind: str


def read_facts(text: str) -> list[FilmTruth]:
    """Read the facts, film by film. Raises ValueError for a line that is neither a film, a person nor a fact."""
    films: list[FilmTruth] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            if line.startswith("file "):
                _, path, part = line.split()
                films.append(FilmTruth(path, part))
            elif line.startswith("who "):
                label, windows = line.removeprefix("who ").split(" = ")
                films[-1].people[label] = [_window(w) for w in windows.split(";")]
            else:
                times, kind, said, needs = line.split(" | ")
                start, end = times.split("-")
                films[-1].facts.append(Fact(float(start), float(end), kind, said, _groups(needs)))
        except (ValueError, IndexError) as error:
            raise ValueError(f"line {number}: {error}") from error
    return films


def _groups(needs: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(w.replace("_", " ").casefold() if w[0] != "@" else w for w in group.split("|")) for group in needs.split())


def _window(text: str) -> Window:
    match = _WINDOW.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"no window: {text}")
    return Window(float(match[1]), float(match[2]), match[3] or "", float(match[4] or 0), bool(match[5]))


def read_judgments(text: str) -> dict[tuple[str, str], str]:
    """Read judgments: (film's stem, sentence) → "true", "false" or "empty"."""
    found: dict[tuple[str, str], str] = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            verdict, stem, sentence = line.split("\t")
            found[stem, sentence] = verdict
    return found


# ---------------------------------------------------------------- a memory's sentences


def sentences(document: Mapping[str, Any], film: FilmTruth) -> list[ToldSentence]:
    """Return the sentences of an exported memory in time order, the people in them named by the film's labels."""
    labels = _labels(document, film)
    people = _people(document, labels)
    told = []
    for node in document["nodes"]:
        if node["type"] in ("episodic", "semantic"):
            spans = sorted(node["spans"], key=lambda s: s["start"])
            named = [_label(s, labels, people) for s in spans]
            shown, at = "", 0
            for span, label in zip(spans, named, strict=True):
                shown += node["content"][at : span["start"]] + f"«{label or '?'}»"
                at = span["end"]
            shown += node["content"][at:]
            told.append(ToldSentence(node["start"] or 0.0, node["end"] or 0.0, shown, frozenset(n for n in named if n), node["type"]))
    return sorted(told, key=lambda t: (t.start, t.shown))


def _labels(document: Mapping[str, Any], film: FilmTruth) -> dict[str, str]:
    """Return whom each observation shows: the person in whose windows more than half of it lies."""
    width = float(document["sources"][0]["width"] or 1)
    found: dict[str, str] = {}
    for observations, voice in ((document["face_tracks"], False), (document["utterances"], True)):
        for o in observations:
            shares = {label: _share(o, windows, width, voice) for label, windows in film.people.items()}
            best = max(shares, key=lambda k: shares[k], default="")
            if best and shares[best] > 0.5:
                found[o["id"]] = best
    return found


def _share(observation: Mapping[str, Any], windows: Iterable[Window], width: float, voice: bool) -> float:
    start, end = observation["start"], max(observation["end"], observation["start"] + 0.01)
    if voice:
        shared = sum(max(0.0, min(end, w.end) - max(start, w.start)) for w in windows if w.voice)
        return float(shared / (end - start))
    boxes = observation["boxes"]
    inside = sum(any(_holds(w, box, width) for w in windows if not w.voice) for box in boxes)
    return inside / max(1, len(boxes))


def _holds(window: Window, box: Sequence[float], width: float) -> bool:
    at, middle = box[0], (box[1] + box[3] / 2) / width
    beside = not window.side or (middle < window.at) == (window.side == "<")
    return beside and window.start - 0.1 <= at <= window.end + 0.1


def _people(document: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, str]:
    """Return whom each person of the memory is: whose observations most of its labelled ones are."""
    counts: dict[str, Counter[str]] = {}
    for o in (*document["face_tracks"], *document["utterances"]):
        if o["id"] in labels and o["person"]:
            counts.setdefault(o["person"], Counter())[labels[o["id"]]] += 1
    return {person: sorted(c.items(), key=lambda kv: (-kv[1], kv[0]))[0][0] for person, c in counts.items()}


def _label(span: Mapping[str, Any], labels: Mapping[str, str], people: Mapping[str, str]) -> str | None:
    own = Counter(labels[o] for o in span["observations"] if o in labels)
    return own.most_common(1)[0][0] if own else people.get(span.get("person") or "")


def telling(fact: Fact, told: Sequence[ToldSentence]) -> ToldSentence | None:
    """Return the first sentence that tells a fact, None if none does."""
    return next((t for t in told if t.start < fact.end + NEAR and t.end > fact.start - NEAR and _tells(fact, t)), None)


def _tells(fact: Fact, sentence: ToldSentence) -> bool:
    words = re.sub(r"«[^»]*»", "", sentence.shown).casefold()
    return all(any(w[1:] in sentence.labels if w.startswith("@") else w in words for w in group) for group in fact.needs)


def keyed(told: Sequence[ToldSentence]) -> list[tuple[str, ToldSentence]]:
    """Return each sentence with the text that its judgment is found by: a repeated one as "… #2"."""
    seen: Counter[str] = Counter()
    found = []
    for t in told:
        seen[t.shown] += 1
        found.append((t.shown if seen[t.shown] == 1 else f"{t.shown} #{seen[t.shown]}", t))
    return found
