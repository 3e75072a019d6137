"""Semantic memories from a clip's episodic sentences: drafted by a small language model, kept only where the sentences bear them out.

The model sees the sentences numbered, with people as `<person_3>`, and must cite. A fact is kept if it cites sentences that are
there, speaks of no one else than they do, uses their words, and neither copies nor guesses. What was said or stood on screen is
read as words between quotation marks; tags and orders in it mean nothing.
Must not know: the store, which language model it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from m3desk import paths
from m3desk.domain.memory import TOPICS, Draft, Sentence, StoredSentence, Topic
from m3desk.domain.tags import TAG, untag
from m3desk.errors import Cancelled
from m3desk.memorization.grounds import grounded
from m3desk.ports import LanguageModel, Message

MOST_FACTS = 3
MOST_TOKENS = 150
"""Of a reply: three facts of some forty tokens."""

MOST_NOTES = 14
"""Sentences given to the model; with some thirty tokens each a prompt of four seconds on two cores."""

FEWEST_WORDS = 12
"""Words (or a fifth more Chinese characters) a person must say in a clip before there is anything to conclude."""

TALKATIVE = ("says", "text")
"""Events that may tell something lasting; the rest is about the picture and holds for the moment."""


class LlmKnowledgeWriter:
    """Answers ports.KnowledgeWriter with any ports.LanguageModel."""

    def __init__(self, language_model: LanguageModel, prompts: Path | None = None) -> None:
        """`prompts`: the folder of `knowledge.en.txt` and `knowledge.zh.txt`; the shipped one by default."""
        self._model = language_model
        self._prompts = prompts or paths.resources() / "prompts"
        self.name = f"knowledge-1 {language_model.name}"

    def conclude(
        self,
        sentences: Sequence[StoredSentence],
        *,
        known: Sequence[StoredSentence] = (),
        language: str | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Draft:
        """Return what the sentences of one clip teach, each with `rests_on`. Raises Cancelled, ModelError."""
        written = _language(sentences, language)
        drafts = list(_by_rule(sentences, written))
        notes = _notes(sentences)
        dropped = 0
        if notes:
            reply = self._ask(notes, written, cancelled)
            for fact in facts(reply, len(notes)):
                sentence = _sentence(fact, [notes[n - 1] for n in fact.because], written)
                if sentence is None or any(_same(sentence, d) for d in drafts):
                    dropped += 1
                else:
                    drafts.append(sentence)
        drafts.sort(key=lambda s: (s.start, s.end))
        return Draft(tuple(drafts), model=self.name, notes={"dropped": str(dropped)} if dropped else {})

    def _ask(self, notes: Sequence[StoredSentence], language: str, cancelled: Callable[[], bool]) -> str:
        lines = "\n".join(f"{i}. {note_text(s)}" for i, s in enumerate(notes, 1))
        messages = [*prompt(self._prompts / f"knowledge.{language}.txt"), Message("user", lines)]
        tags = sorted({t for s in notes for t in speakers(s)}, key=lambda t: int(TAG.fullmatch(t)[1].rsplit("_", 1)[1]))  # type: ignore[index]
        pieces: list[str] = []
        for piece in self._model.reply(messages, grammar=grammar(len(notes), tags), max_tokens=MOST_TOKENS, cancelled=cancelled):
            pieces.append(piece)
            if cancelled():
                raise Cancelled("stopped.", "What was committed stays; run the same command to go on.")
        return "".join(pieces)


@cache
def prompt(path: Path) -> tuple[Message, ...]:
    """Read a prompt file: messages after lines `=== system`, `=== user`, `=== assistant`."""
    parts = re.split(r"^=== (system|user|assistant)\n", path.read_text(encoding="utf-8"), flags=re.M)[1:]
    return tuple(Message(role, text.strip()) for role, text in zip(parts[::2], parts[1::2], strict=True))


def grammar(notes: int, tags: Sequence[str]) -> str:
    """Return the GBNF grammar of a reply: `none`, or up to three lines `[2,4] habit: …` whose tags were given."""
    number = " | ".join(f'"{n}"' for n in range(notes, 0, -1))
    tag = " | ".join(f'"{t}"' for t in tags) or '"someone"'
    topic = " | ".join(f'"{t}"' for t in TOPICS)
    return (
        f'root ::= "none" | fact ("\\n" fact){{0,{MOST_FACTS - 1}}}\n'
        'fact ::= "[" number ("," number){0,2} "] " topic ": " text{2,160}\n'
        f'number ::= {number}\ntopic ::= {topic}\ntext ::= tag | [^<>\\n“”"\\[\\]]\ntag ::= {tag}\n'
    )


# ---------------------------------------------------------------- what the model is shown


def _language(sentences: Sequence[StoredSentence], wanted: str | None) -> str:
    if wanted:
        return "zh" if wanted.lower().startswith("zh") else "en"
    return "zh" if sum(s.language == "zh" for s in sentences) * 2 > len(sentences) else "en"


def _notes(sentences: Sequence[StoredSentence]) -> list[StoredSentence]:
    """Return the sentences worth showing: what talkative people say and what stands on screen; () where there is nothing to conclude."""
    amount: dict[str, float] = {}
    for s in sentences:
        if s.event == "says" and s.people:
            amount[s.people[0]] = amount.get(s.people[0], 0) + _words(s)
    enough = {p for p, words in amount.items() if words >= FEWEST_WORDS}
    if not enough:
        return []
    shown = [s for s in sentences if s.event in TALKATIVE and not s.stale and (s.event == "text" or (s.people and s.people[0] in enough))]
    return sorted(sorted(shown, key=lambda s: (-_words(s), s.start, s.id))[:MOST_NOTES], key=lambda s: (s.start, s.id))


def _words(sentence: StoredSentence) -> float:
    """Return how many words are quoted; a Chinese character counts as 0.8 of one."""
    said = " ".join(sentence.text[a:b] for a, b in sentence.quoted)
    han = sum("\u4e00" <= c <= "\u9fff" for c in said)
    return han * 0.8 + len(re.sub(r"[\u4e00-\u9fff]", " ", said).split())


def note_text(sentence: StoredSentence) -> str:
    """Return a sentence as the model reads it: tags for people, and nothing in its quotes that looks like a tag or a new line."""
    tags = tags_of(sentence)
    pieces: list[str] = []
    at = 0
    for span, tag in tags:
        pieces += [sentence.text[at : span[0]], tag or sentence.text[span[0] : span[1]]]
        at = span[1]
    pieces.append(sentence.text[at:])
    # The stored text has its quotes where `quoted` says; only there can these characters come from outside.
    text = "".join(pieces)
    for a, b in sentence.quoted:
        raw = sentence.text[a:b]
        text = text.replace(raw, inert(raw))
    return text


def inert(quoted: str) -> str:
    """Return quoted words with what could pass for a tag, a quotation mark or a line of the prompt made harmless."""
    return " ".join(quoted.translate({ord("<"): "‹", ord(">"): "›", ord("“"): "'", ord("”"): "'", ord("["): "(", ord("]"): ")"}).split())


def tags_of(sentence: StoredSentence) -> list[tuple[tuple[int, int], str | None]]:
    """Return each span's place with the tag that stands for it in `tagged`, None where nobody is known."""
    found: list[tuple[tuple[int, int], str | None]] = []
    shift = 0
    for span in sorted(sentence.spans, key=lambda s: s.start):
        match = TAG.match(sentence.tagged, span.start + shift)
        found.append(((span.start, span.end), match[0] if match else None))
        if match:
            shift += len(match[0]) - (span.end - span.start)
    return found


def speakers(sentence: StoredSentence) -> list[str]:
    """Return the tags of the people whom a sentence speaks of, never those in its quotes."""
    return [tag for _, tag in tags_of(sentence) if tag]


# ---------------------------------------------------------------- what becomes of its reply


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of a reply. `because`: numbers of notes, from 1."""

    because: tuple[int, ...]
    topic: Topic
    text: str


_FACT = re.compile(r"^\[(\d+(?:\s*,\s*\d+)*)\]\s*(\w+)\s*[:：]\s*(.+)$", re.M)


def facts(reply: str, notes: int) -> list[Fact]:
    """Read a reply's lines; a line that cites no given note, or is cut off in the middle (no full stop), is left out."""
    found: list[Fact] = []
    for match in _FACT.finditer(reply):
        because = tuple(dict.fromkeys(int(n) for n in match[1].split(",")))
        topic = next((t for t in TOPICS if t == match[2]), None)
        text = " ".join(match[3].split())
        if topic and all(1 <= n <= notes for n in because) and text.endswith((".", "。", "!", "！")):
            found.append(Fact(because, topic, text))
    return found[:MOST_FACTS]


def _sentence(fact: Fact, rests_on: Sequence[StoredSentence], language: str) -> Sentence | None:
    """Return the fact as a sentence where its notes bear it out, else None."""
    given = _observations(rests_on)
    if any(m[0] not in given for m in TAG.finditer(fact.text)) or not TAG.search(fact.text):
        return None
    if not grounded(fact.text, [note_text(s) for s in rests_on], language):
        return None
    text, spans, _ = untag(fact.text, given, language)
    if spans and spans[0].start == 0 and language != "zh":
        text = text[0].upper() + text[1:]
    return _semantic(text, language, fact.topic, rests_on, spans=spans)


def _semantic(text: str, language: str, topic: Topic, rests_on: Sequence[StoredSentence], **more: object) -> Sentence:
    spans = more.get("spans", ())
    mentioned = [o for s in spans for o in s.observations]  # type: ignore[attr-defined]
    words = text.casefold()
    return Sentence(
        text=text,
        kind="semantic",
        start=min(s.start for s in rests_on),
        end=max(s.end for s in rests_on),
        citations=tuple(dict.fromkeys([*mentioned, *(c for s in rests_on for c in s.citations)])),
        entities=tuple(dict.fromkeys(e for s in rests_on for e in s.entities if e.casefold() in words)),
        language=language,
        topic=topic,
        rests_on=tuple(s.id for s in rests_on),
        **more,  # type: ignore[arg-type]
    )


def _observations(sentences: Iterable[StoredSentence]) -> dict[str, tuple[str, ...]]:
    """Return tag → the observations that the sentences' spans rest on for that person."""
    given: dict[str, list[str]] = {}
    for sentence in sentences:
        spans = sorted(sentence.spans, key=lambda s: s.start)
        for span, (_, tag) in zip(spans, tags_of(sentence), strict=True):
            if tag:
                given.setdefault(tag, []).extend(span.observations)
    return {tag: tuple(dict.fromkeys(o)) for tag, o in given.items()}


def _same(a: Sentence, b: Sentence) -> bool:
    return a.text.casefold() == b.text.casefold() and [s.observations for s in a.spans] == [s.observations for s in b.spans]


def _by_rule(sentences: Sequence[StoredSentence], language: str) -> Iterable[Sentence]:
    return ()


__all__ = ["LlmKnowledgeWriter"]
