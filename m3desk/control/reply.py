"""The language model's prompt and reply: numbered memory lines, people as `<character_N>`, the output grammar, and the reply parser.

Words that were said or read in a video are only content for the model: tags, brackets and line breaks in them are neutralized first.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from m3desk.domain.clip import clock
from m3desk.domain.memory import PLACEHOLDER, StoredSentence
from m3desk.domain.people import Person
from m3desk.domain.tags import sentence_case
from m3desk.paths import resources
from m3desk.ports import Message

ABSENT = "NOT IN MEMORY"
LONGEST = 240
"""Code points of a line that the model is shown: 12 lines, the examples and the reply fit in 4,096 tokens, in Chinese too."""

_TAG = re.compile(r"<(?:person|character)_(\d+)>")
_HARMLESS = str.maketrans({"<": "‹", ">": "›", "[": "(", "]": ")", "\n": " ", "\r": " ", "\u2028": " ", "\u2029": " ", "\0": " "})


@dataclass(frozen=True, slots=True)
class Reply:
    """One turn of the model. `text`: the query or the answer; None if the model says that the memory does not hold it."""

    action: Literal["search", "answer"]
    text: str | None


@cache
def prompts() -> Mapping[str, Any]:
    """Return the shipped prompts for question answering."""
    return tomllib.loads((resources() / "prompts" / "control.toml").read_text("utf-8"))


# ---------------------------------------------------------------- to the model


def harmless(text: str) -> str:
    """Return text from a video or a user without anything that looks like a tag, a citation or a line break."""
    return " ".join(re.sub(r"(?i)\baction\s*:", "action -", text.translate(_HARMLESS)).split()).replace(ABSENT, ABSENT.lower())


def line_of(s: StoredSentence, longest: int = LONGEST) -> str:
    """Return a sentence for the model: `<character_N>` in its spans, everything else neutralized.

    Tags come only from the stored spans: a tag that somebody said or that was on a screen stays plain words.
    """
    pieces: list[str] = []
    at = place = 0
    tagged = s.tagged
    for span in sorted(s.spans, key=lambda x: x.start):
        if span.start < at:
            continue
        before = s.text[at : span.start]
        match = _TAG.match(tagged, place + len(before))
        word = s.text[span.start : span.end]
        pieces += [harmless_inside(before), f"<character_{match[1]}>" if match else harmless_inside(word)]
        place += len(before) + (len(match[0]) if match else len(word))
        at = span.end
    pieces.append(harmless_inside(s.text[at:]))
    text = " ".join("".join(pieces).split())
    return text if len(text) <= longest else _shortened(text, longest)


def harmless_inside(text: str) -> str:
    """Return a piece of a sentence neutralized, keeping the spaces at its ends."""
    body = harmless(text)
    return f"{' ' if text[:1].isspace() else ''}{body}{' ' if body and text[-1:].isspace() else ''}"


def _shortened(text: str, longest: int) -> str:
    cut = text[:longest]
    return cut[: cut.rfind("<")] + "…" if cut.rfind("<") > cut.rfind(">") else cut + "…"


def question_of(text: str, names: Mapping[str, int]) -> str:
    """Return a question for the model: names as `<character_N>` (`names`: written name → number), the rest neutralized."""
    pieces, at = [], 0
    pattern = "|".join(re.escape(n) for n in sorted(names, key=len, reverse=True))
    for match in re.finditer(pattern, text) if pattern else ():
        pieces += [harmless_inside(text[at : match.start()]), f"<character_{names[match[0]]}>"]
        at = match.end()
    return "".join([*pieces, harmless_inside(text[at:])]).strip()


def numbered(sentences: Sequence[StoredSentence], first: int) -> str:
    """Return sentences as memory lines, numbered from `first`."""
    return "\n".join(f"[{n}] ({clock(s.start)}) {line_of(s)}" for n, s in enumerate(sentences, first))


def opening(lines: str, cast: str, question: str) -> list[Message]:
    """Return the first messages: instructions, examples, and the question with the memories found for it."""
    shown = prompts()
    messages = [Message("system", shown["system"].strip())]
    for shot in shown["shots"]:
        messages += [Message("user", shot["user"].strip()), Message("assistant", shot["assistant"].strip())]
    return [*messages, Message("user", f"Memory:\n{lines}\n{cast}\nQuestion: {question}")]


def cast_of(people: Sequence[Person]) -> str:
    """Return the list of named people (or with a suggested name) for the model; "" if there are none."""
    known = []
    for p in people:
        if p.name and p.name_state == "confirmed":
            known.append(f"<character_{p.number}> is called {harmless(p.name)}.")
        elif p.suggested_names:
            known.append(f"<character_{p.number}> was introduced as {harmless(p.suggested_names[0].name)}.")
    return "\n".join(known[:12]) + "\n" if known else ""


def grammar(lines: int, *, search: bool, language: str = "en") -> str:
    """Return the GBNF of a reply that may cite lines 1 … `lines`. Sentences of a Chinese answer start in Chinese or with a person."""
    ways = ["answer", "search"] if search else ["answer"]
    words = r"[^\[\]\n]{2,280}" if language != "zh" else r'("<character_" [0-9]{1,4} ">")? [\u4e00-\u9fff] [^\[\]\n]{1,140}'
    number = " | ".join(f'"{n}"' for n in range(lines, 0, -1))
    return "\n".join((
        f"root ::= {' | '.join(ways)}",
        r'search ::= "Action: [Search]\nContent: " query',
        r"query ::= [^\[\]\n]{2,120}",
        rf'answer ::= "Action: [Answer]\nContent: " ("{ABSENT}" | sentence (" " sentence){{0,3}})',
        r'sentence ::= words " " cite cite? cite? ("." | "。")',
        f"words ::= {words}",
        r'cite ::= "[" number "]"',
        f"number ::= {number}",
    ))  # fmt: skip


# ---------------------------------------------------------------- from the model

_FORM = re.compile(r"\s*(?:.*</think>)?\s*Action:\s*\[?(Search|Answer)\]?\s*Content:\s*(.*)", re.IGNORECASE | re.DOTALL)
_CITED = re.compile(r"(?:\[\d+\]\s*)+")


def read_reply(text: str) -> Reply:
    """Parse a turn. One that can't be parsed counts as a search with an empty query, as in the original."""
    match = _FORM.match(text)
    if match is None:
        return Reply("search", "")
    content = " ".join(match[2].split())
    if match[1].lower() == "search":
        return Reply("search", content)
    return Reply("answer", None if ABSENT in content or not content else content)


def sentences_of(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    """Split an answer into its sentences, each with the line numbers it cites."""
    found: list[tuple[str, tuple[int, ...]]] = []
    at = 0
    for match in _CITED.finditer(answer):
        body = answer[at : match.start()].lstrip(" .。;；,，")
        if body.strip():
            found.append((body.strip(), tuple(int(n) for n in re.findall(r"\d+", match[0]))))
        at = match.end()
    if rest := answer[at:].strip(" .。"):
        found.append((rest, ()))
    return found


def named(text: str, people: Sequence[Person], language: str) -> str:
    """Return a model's sentence for the user: tags replaced by names, as they were typed; an unknown tag becomes the neutral word."""
    shown = {p.number: p.shown for p in people}
    nobody = PLACEHOLDER.get(language, PLACEHOLDER["en"])

    def name(tag: re.Match[str]) -> str:
        return shown.get(int(tag[1])) or (nobody if tag.start() else sentence_case(nobody))

    return re.sub(r"<?\bcharacter[_ ](\d+)\b>?", name, text, flags=re.IGNORECASE)
