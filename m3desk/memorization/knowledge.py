"""Semantic memories from a clip's episodic sentences: drafted by a small language model, kept only if the sentences support them.

The model reads what one person said and fills in what they talk about, are, have and want; whole sentences are made here, so that
it can neither invent people nor mix them up. An answer is kept if its words are those of the sentences it rests on, and (for what
somebody is, has or wants) if they say it of themselves. What needs no model is in `ruled.py`, and is not written again here.
Must not know: the store, which language model it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from m3desk import paths
from m3desk.children.at_once import at_once
from m3desk.domain.clear_speech import is_marked
from m3desk.domain.memory import Draft, Sentence, StoredSentence, Topic
from m3desk.domain.tags import TAG
from m3desk.errors import Cancelled, ModelFailed
from m3desk.memorization import names
from m3desk.memorization.grounds import gives_orders, grounded, own_slots, stated, trimmed
from m3desk.memorization.phrases import FilledPhrase, Who, say
from m3desk.ports import LanguageModel, Message

MOST_SPEAKERS = 4
"""People of a clip whose words the model reads, those who say most; two seconds each on two cores."""

MOST_TOKENS = 28
"""Of a reply, for each slot; what is cut off there is trimmed."""

MOST_WORDS = 120
"""Of one person's words in a clip, those shown to the model (the longest sentences first): a second and a half of reading."""

FEWEST_WORDS = 10
"""Words a person must say in a clip before the model is asked about them."""

SLOTS: dict[str, Topic] = {"about": "plot", "is": "attribute", "lives": "attribute", "has": "attribute", "wants": "attribute"}
"""What is filled in of one person's words, by the model or (what they plainly state) by rule, and the topic of the fact."""

NOTHING = frozenset({"none", "n/a", "nothing", "unknown", "无", "没有", "不知道"})


class LlmKnowledgeWriter:
    """Answers ports.KnowledgeWriter with any ports.LanguageModel."""

    def __init__(self, language_model: LanguageModel, prompts: Path | None = None) -> None:
        """`prompts`: the folder of `knowledge.en.txt` and `knowledge.zh.txt`; the shipped one by default."""
        self._model = language_model
        self._prompts = prompts or paths.resources() / "prompts"
        self.name = f"knowledge-1 {language_model.name}"

    @property
    def at_once(self) -> int:
        """Return how many clips it may be asked about at the same time."""
        return at_once(self._model)

    def conclude(
        self,
        sentences: Sequence[StoredSentence],
        *,
        known: Sequence[StoredSentence] = (),
        language: str | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Draft:
        """Return the semantic sentences that follow from those of one clip, each with `rests_on`. Raises Cancelled, ModelError."""
        usable = [s for s in sentences if s.kind == "episodic" and not s.stale]
        written = writing_language(usable, language)
        drafts: list[Sentence] = []
        dropped = 0
        for speech in speeches(usable):
            kept, refused = self._conclude(speech, written, cancelled)
            drafts += kept
            dropped += refused
        drafts.sort(key=lambda s: (s.start, s.end, s.text))
        return Draft(tuple(drafts), model=self.name, notes={"dropped": str(dropped)} if dropped else {})

    def _conclude(self, speech: PersonSpeech, language: str, cancelled: Callable[[], bool]) -> tuple[list[Sentence], int]:
        """Return the supported facts from one person's words, and the number of unsupported ones."""
        kept: list[Sentence] = []
        refused = 0
        known = {slot for slot, what in stated(speech.words).items() if bears_out(slot, what, speech)}
        asked = self._ask(speech, language, cancelled) if amount(speech.words) >= FEWEST_WORDS else {}
        for slot, what in asked.items():
            if slot in known:
                continue
            sentences = bears_out(slot, what, speech)
            if not sentences:
                refused += 1
                continue
            line = say(f"knows_{slot}", language, who=[Who(speech.observations)], what=what)
            kept.append(semantic(line, SLOTS[slot], sentences, language))
        return kept, refused

    def _ask(self, speech: PersonSpeech, language: str, cancelled: Callable[[], bool]) -> dict[str, str]:
        spoken_in = "zh" if _han(speech.words) * 2 > len(speech.words) else language
        messages = [*prompt(self._prompts / f"knowledge.{spoken_in}.txt"), Message("user", f"“{inert(speech.words)}”")]
        slots = ["about", *own_slots(speech.words)]
        pieces: list[str] = []
        for piece in self._model.reply(messages, grammar=grammar(slots), max_tokens=MOST_TOKENS * len(slots), cancelled=cancelled):
            pieces.append(piece)
            if cancelled():
                raise Cancelled("stopped.", "What was committed is kept; run the same command to continue.")
        reply = "".join(pieces)
        if not reply.strip():
            raise ModelFailed(f"{self._model.name} gave an empty reply.", "It is tried again next time.")
        return answers(reply)


@cache
def prompt(path: Path) -> tuple[Message, ...]:
    """Read a prompt file: messages after lines `=== system`, `=== user`, `=== assistant`."""
    parts = re.split(r"^=== (system|user|assistant)\n", path.read_text(encoding="utf-8"), flags=re.M)[1:]
    return tuple(Message(role, text.strip()) for role, text in zip(parts[::2], parts[1::2], strict=True))


def grammar(slots: Sequence[str]) -> str:
    """Return the GBNF grammar of a reply: one line a slot, without tags, quotation marks or brackets."""
    lines = ' "\\n" '.join(f'"{slot}: " words' for slot in slots)
    return f'root ::= {lines}\nwords ::= [^\\n<>“”"\\[\\]{{}}]+\n'


def answers(reply: str) -> dict[str, str]:
    """Read a reply: slot → words, without those that say nothing or were cut off (a last line without its slot's end)."""
    found: dict[str, str] = {}
    for line in reply.split("\n"):
        slot, _, words = line.partition(":")
        # Asked for one slot only, the model may go on with the next one on the same line.
        words = trimmed(re.split(rf"[\s,;，；]+(?:{'|'.join(SLOTS)})\s*:", " ".join(words.split()))[0])
        if slot.strip() in SLOTS and words and words.casefold() not in NOTHING and len(words) <= 120:
            found.setdefault(slot.strip(), words)
    return found


# ---------------------------------------------------------------- what the model is shown


@dataclass(frozen=True, slots=True)
class PersonSpeech:
    """What one person says in a clip. `sentences`: those that quote it, and captions shown with them; `words`: all of it together."""

    tag: str
    sentences: tuple[StoredSentence, ...]
    captions: tuple[StoredSentence, ...]
    words: str
    observations: tuple[str, ...]


def writing_language(sentences: Sequence[StoredSentence], wanted: str | None) -> str:
    """Return "zh" or "en": the wanted one, else that of most sentences."""
    if wanted:
        return "zh" if wanted.lower().startswith("zh") else "en"
    return "zh" if sum(s.language == "zh" for s in sentences) * 2 > len(sentences) else "en"


def speeches(sentences: Sequence[StoredSentence]) -> list[PersonSpeech]:
    """Return the words of those who say enough, in the order in which they begin to speak.

    Words that give orders, or are not heard clearly, are left out.
    """
    said: dict[str, list[StoredSentence]] = {}
    shown: dict[str, list[StoredSentence]] = {}
    for s in sentences:
        tags = speakers(s)
        if len(tags) != 1 or not s.quoted:
            continue
        if s.event == "says" and not gives_orders(quote(s)) and not is_marked(s.text, s.quoted):
            said.setdefault(tags[0], []).append(s)
        elif s.event == "text":
            shown.setdefault(tags[0], []).append(s)
    found = []
    for tag, told in said.items():
        chosen = _longest(told)
        words = " ".join(quote(s) for s in chosen)
        if amount(words) >= FEWEST_WORDS or stated(words):
            found.append(PersonSpeech(tag, tuple(chosen), tuple(shown.get(tag, ())), words, observations_of(chosen, tag)))
    most = sorted(found, key=lambda s: (-amount(s.words), s.sentences[0].start))[:MOST_SPEAKERS]
    return sorted(most, key=lambda s: (s.sentences[0].start, s.tag))


def _longest(sentences: Sequence[StoredSentence]) -> list[StoredSentence]:
    """Return the sentences that say most, up to MOST_WORDS, in their order."""
    chosen: list[StoredSentence] = []
    room = float(MOST_WORDS)
    for s in sorted(sentences, key=lambda s: (-amount(quote(s)), s.start)):
        if not chosen or amount(quote(s)) <= room:
            chosen.append(s)
            room -= amount(quote(s))
    return sorted(chosen, key=lambda s: (s.start, s.id))


def quote(sentence: StoredSentence) -> str:
    """Return what a sentence quotes."""
    return " ".join(sentence.text[a:b] for a, b in sentence.quoted)


def amount(words: str) -> float:
    """Return how many words a text has; a Chinese character counts as 0.7 of one."""
    return _han(words) * 0.7 + len(re.sub(r"[\u4e00-\u9fff]", " ", words).split())


def _han(text: str) -> int:
    return sum("\u4e00" <= c <= "\u9fff" for c in text)


def inert(quoted: str) -> str:
    """Return quoted words with what could pass for a tag, a quotation mark or a line of the prompt made harmless."""
    return " ".join(quoted.translate({ord("<"): "‹", ord(">"): "›", ord("“"): "'", ord("”"): "'", ord("["): "(", ord("]"): ")"}).split())


def tags_of(sentence: StoredSentence) -> list[str | None]:
    """Return the tag that stands for each span in `tagged`, in order; None where nobody is known. Tags in quotes are not spans."""
    found: list[str | None] = []
    shift = 0
    for span in sorted(sentence.spans, key=lambda s: s.start):
        match = TAG.match(sentence.tagged, span.start + shift)
        found.append(match[0] if match else None)
        if match:
            shift += len(match[0]) - (span.end - span.start)
    return found


def speakers(sentence: StoredSentence) -> list[str]:
    """Return the tags of the people whom a sentence speaks of, each once, never those in its quotes."""
    return list(dict.fromkeys(tag for tag in tags_of(sentence) if tag))


def observations_of(sentences: Iterable[StoredSentence], tag: str) -> tuple[str, ...]:
    """Return the observations that the sentences' spans rest on for one person."""
    return tuple(
        dict.fromkeys(
            observation
            for s in sentences
            for span, own in zip(sorted(s.spans, key=lambda s: s.start), tags_of(s), strict=True)
            if own == tag
            for observation in span.observations
        )
    )


# ---------------------------------------------------------------- what holds


def bears_out(slot: str, what: str, speech: PersonSpeech) -> list[StoredSentence]:
    """Return the sentences that support a filled-in slot, [] if none do.

    Those are the fewest, longest first, whose words carry it; what somebody is, has or wants must be said of themselves, and a
    name is no attribute (names are suggested apart, and no sentence holds one).
    """
    if any(names.sounds_like(name, what) for s in speech.sentences for name, _ in names.introduced(quote(s))):
        return []
    for s in speech.sentences:
        if grounded(what, quote(s), slot):
            return [s]
    everything = [*speech.sentences, *speech.captions]
    if slot == "about" and grounded(what, " ".join(quote(s) for s in everything)):
        return everything
    return []


def semantic(line: FilledPhrase, topic: Topic, rests_on: Sequence[StoredSentence], language: str) -> Sentence:
    """Return a semantic sentence that rests on episodic ones: their time, what they cite, the things it names."""
    mentioned = (o for s in line.spans for o in s.observations)
    words = line.text.casefold()
    return Sentence(
        text=line.text,
        kind="semantic",
        start=min(s.start for s in rests_on),
        end=max(s.end for s in rests_on),
        spans=line.spans,
        citations=tuple(dict.fromkeys([*mentioned, *(c for s in rests_on for c in s.citations)])),
        entities=tuple(dict.fromkeys(e for s in rests_on for e in s.entities if e.casefold() in words)),
        quoted=line.quoted,
        language=language,
        topic=topic,
        rests_on=tuple(s.id for s in rests_on),
    )
