"""Answers a question: up to five rounds of think → search or answer; every sentence is cited, or the answer is "not in this memory".

`answer` yields typed steps, which the window, the commands and tests consume. Questions of fact (who appears, who says what, what is on
the screen) are answered from the evidence; else a language model answers from numbered memory lines, and each of its sentences is
checked against the lines it cites; without a model the best-supported memories are quoted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from m3desk.control.citing import Part, citations, marked, moment_of
from m3desk.control.facts import read_facts, resolved
from m3desk.control.follow_up import Chat, follow_up, refers_back
from m3desk.control.presence import Answer, seconds_lacking
from m3desk.control.query import Note, ParsedQuestion, fitting, names_of, overlap
from m3desk.control.quoting import absent, quote, quoted, scene, supported, wants_all
from m3desk.control.reply import Reply, cast_of, grammar, named, numbered, opening, prompts, question_of, read_reply, sentences_of
from m3desk.control.search import Before, Hit, Search
from m3desk.control.times import TimeSpan
from m3desk.control.wording import say
from m3desk.domain.clip import clock, seconds
from m3desk.domain.ids import person_id
from m3desk.domain.memory import StoredSentence
from m3desk.domain.tags import sentence_case
from m3desk.errors import Cancelled, ModelError
from m3desk.events import AskDone, AskRound, AskText
from m3desk.ports import LanguageModel, Message

Event = AskRound | AskText | AskDone

LINES = 8
"""Memory lines the model is shown first; at about 100 tokens a second on two cores each costs a third of a second."""

MORE = 5
"""Lines that each further search adds."""

READ = "read from the evidence"
QUOTED = "quoting"
"""The `model` of answers that no language model wrote."""

CHECKED = 0.7
"""Share of a sentence's significant words that the lines it cites must contain; below it the sentence is dropped."""


TELLING_SPEECH = (None, "says", "text", "silence", "listens")
"""The events of sentences that can answer a question about what is said; what is seen answers none."""


def answer(
    question: str,
    search: Search,
    language: LanguageModel | None,
    *,
    ask: str = "",
    rounds: int = 5,
    span: tuple[str, int, int] | None = None,
    before: Before | None = None,
    chats: Callable[[], Sequence[Chat]] = tuple,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Event]:
    """Answer a question, step by step; the last step is AskDone. Raises Cancelled when `cancelled` becomes true.

    `span`: (source, start, end) in microseconds limits the question. `before`: (source, last known clip). `chats`: returns what was asked
    before, the oldest first; called if the question refers back.
    """
    begun = time.monotonic()
    asked, instead = _read(question, search, TimeSpan(*span) if span else None, chats)
    if not asked.spans and (lacking := next((n for n in asked.notes if n.kind == "no_clip"), None)) is not None:
        yield from _give(ask, Answer((Part(say("no_clip", asked.language, note=lacking.text)),), found=False), search, READ, begun)
        return
    asked = resolved(asked, search, before)
    composed = read_facts(asked, search, before)
    if composed is not None and asked.sexed and not asked.people:
        asked = replace(asked, notes=(*asked.notes, Note("sexed", say("sexed", asked.language))))
    if composed is not None and not composed.found and instead is not None:
        asked, composed = instead, read_facts(instead, search, before)
    if composed is not None:
        yield _round(
            ask, 1, question, [m.node or m.clip for p in composed.parts for m in p.moments], [p.text.strip() for p in composed.parts], begun
        )
        yield from _give(ask, _with_notes(composed, asked, search), search, READ, begun)
        return
    hits = _first(asked, search, before)
    yield _round(ask, 1, question, [h.sentence.id for h in hits], [_shown(h.sentence) for h in hits], begun)
    if cancelled():
        raise Cancelled("stopped.")
    if language is None or (not hits and wants_all(asked, search)):
        composed = quote(asked, hits, search)
        if asked.negated and composed.found:
            asked = replace(asked, notes=(*asked.notes, Note("negated", say("not_considered", asked.language))))
        yield from _give(ask, _with_notes(composed, asked, search), search, QUOTED, begun, quoted=True)
        return
    if not supported(hits, asked, search, worth_asking=True):
        yield from _give(ask, _with_notes(absent(asked, search, hits), asked, search), search, READ, begun)
        return
    try:
        yield from _converse(ask, asked, hits, search, language, rounds, before, cancelled, begun)
    except ModelError as error:
        composed = quote(asked, hits, search, instead=True)
        yield from _give(ask, _with_notes(composed, asked, search), search, QUOTED, begun, quoted=True, problem=error.line())


def _read(
    question: str, search: Search, span: TimeSpan | None, chats: Callable[[], Sequence[Chat]]
) -> tuple[ParsedQuestion, ParsedQuestion | None]:
    """Parse a question, one that refers back with what was asked before; and what to ask instead if it finds nothing."""
    if not refers_back(fitting(question)):
        return search.read(question, span), None
    put = follow_up(question, chats(), search.people, search.sources, search.known.names)
    both = overlap(put.span, span) if put.span and span else put.span or span
    ways = [
        replace(read_, follows=way.follows, without=way.without, notes=(*way.notes, *read_.notes))
        for way in (put, put.instead)
        if way is not None and (read_ := search.read(way.question, both or span))
    ]
    return ways[0], ways[1] if len(ways) > 1 else None


def _first(asked: ParsedQuestion, search: Search, before: Before | None) -> list[Hit]:
    """Return the hits of the question itself; for "what happens", the scenes in order."""
    if wants_all(asked, search):
        nodes = [m.node for p in scene(asked, search).parts for m in p.moments]
        told = [s for n in nodes if n and (s := search.sentence(n)) is not None and search.visible(s, before)]
        return [Hit(s, 1.0, why=["in order"]) for s in told]
    if asked.order and asked.people and not search.telling(asked.plain):
        return [Hit(s, 1.0, why=["in order"]) for s in islice(search.in_time(asked, before), LINES)]
    speech = asked.intent in ("says", "who_says", "who_speaks")
    hits = search.hits(asked, 3 * LINES if speech or asked.follows else LINES, before=before)
    fit = [h for h in hits if not (search.precedes(h.sentence, asked) or (speech and h.sentence.event not in TELLING_SPEECH))]
    if asked.intent == "says" and asked.speakers:  # what others say is no answer
        fit = [h for h in fit if not set(asked.speakers).isdisjoint(h.sentence.people)]
    return fit[:LINES]


# ---------------------------------------------------------------- with a language model


def _converse(
    ask: str,
    asked: ParsedQuestion,
    hits: Sequence[Hit],
    search: Search,
    language: LanguageModel,
    rounds: int,
    before: Before | None,
    cancelled: Callable[[], bool],
    begun: float,
) -> Iterator[Event]:
    """Let the model search and answer. Memory lines keep their numbers over all rounds."""
    lines = sorted((h.sentence for h in hits), key=lambda s: (s.source, s.start, s.id))
    names = {n: p.number for p in search.people for n in (p.shown, *names_of(p))} | {person_id(p.number): p.number for p in search.people}
    people = [p for p in search.people if p.id in asked.people or any(p.id in s.people for s in lines)]
    messages = opening(numbered(lines, 1), cast_of(people), question_of(asked.text, names))
    fresh = True
    for number in range(2, rounds + 1):
        started = time.monotonic()
        may_search = fresh and number < rounds
        parts: list[Part] = []
        written = ""
        for written in _reply(language, messages, grammar(len(lines), search=may_search, language=asked.language), cancelled):
            for part in _checked(written, lines, asked, search)[len(parts) :]:
                piece = marked(part, len(search.sources) > 1)
                parts.append(part)
                yield AskText(ask, piece)
        reply = read_reply(written)
        if reply.action == "search" and may_search:
            more = _more(reply, lines, search, before)
            yield _round(
                ask,
                number,
                named(reply.text or "", search.people, asked.language),
                [s.id for s in more],
                [_shown(s) for s in more],
                started,
            )
            messages += _next(written, more, len(lines), last=number + 1 >= rounds or not more)
            lines += more
            fresh = bool(more)
            continue
        yield AskRound(ask, number, "answer", "", (), (), time.monotonic() - started)
        if not parts:
            yield from _give(ask, _with_notes(_fallen_back(reply, asked, hits, search), asked, search), search, language.name, begun)
        else:
            yield from _give(ask, _with_notes(Answer(tuple(parts)), asked, search), search, language.name, begun, said=len(parts))
        return
    yield from _give(ask, _with_notes(absent(asked, search, hits), asked, search), search, language.name, begun)


def _reply(language: LanguageModel, messages: Sequence[Message], rules: str, cancelled: Callable[[], bool]) -> Iterator[str]:
    """Yield the growing reply text."""
    written = ""
    for piece in language.reply(messages, grammar=rules, max_tokens=220, cancelled=cancelled):
        written += piece
        yield written


def _more(reply: Reply, lines: Sequence[StoredSentence], search: Search, before: Before | None) -> list[StoredSentence]:
    if not reply.text:
        return []
    asked = search.read(reply.text)
    hits = search.hits(asked, MORE, before=before, skip={s.id for s in lines})
    # Only what has to do with the query: each line costs a third of a second, and a small model searches on as long as it is fed.
    return sorted((h.sentence for h in supported(hits, asked, search)), key=lambda s: (s.source, s.start, s.id))


def _next(written: str, more: Sequence[StoredSentence], shown: int, last: bool) -> list[Message]:
    texts = prompts()
    found = f"Memory:\n{numbered(more, shown + 1)}" if more else str(texts["nothing"])
    return [Message("assistant", written.strip()), Message("user", f"{found}\n\n{texts['last']}" if last else found)]


def _checked(written: str, lines: Sequence[StoredSentence], asked: ParsedQuestion, search: Search) -> list[Part]:
    """Return the finished sentences of an answer that the lines they cite (or other lines shown) support, with their moments."""
    reply = read_reply(written)
    if reply.action != "answer" or reply.text is None:
        return []
    parts: list[Part] = []
    for text, cited in sentences_of(reply.text):
        if not cited:
            continue
        given = [lines[n - 1] for n in cited if 0 < n <= len(lines)]
        borne = [s for s in given if _bears(s, text, asked, search)] or sorted(
            (s for s in lines if _bears(s, text, asked, search)), key=lambda s: -_share(s, text, asked, search)
        )[:1]
        if borne and _speaks_of(text, search) <= {*asked.people, *(p for s in borne for p in s.people)}:
            body = named(sentence_case(text), search.people, asked.language).rstrip(" .。")
            end = "。" if asked.language == "zh" else "."
            parts.append(
                Part(("" if not parts or asked.language == "zh" else " ") + body + end, tuple(moment_of(s) for s in dict.fromkeys(borne)))
            )
    return parts


def _bears(s: StoredSentence, text: str, asked: ParsedQuestion, search: Search) -> bool:
    """Return whether a line supports a sentence: it contains most of the words that the sentence adds, and all of its numbers."""
    if (s.language == "zh") != (asked.language == "zh"):
        return True
    if any(ch.isdigit() for ch in _bare(text)) and not _numbers(text) <= _numbers(s.text) | _numbers(clock(s.start)) | _numbers(asked.text):
        return False
    return _share(s, text, asked, search) >= CHECKED


def _speaks_of(text: str, search: Search) -> set[str]:
    """Return the persons whose tags a model's sentence contains."""
    return {p.id for p in search.people if f"<character_{p.number}>" in text}


def _share(s: StoredSentence, text: str, asked: ParsedQuestion, search: Search) -> float:
    held = set(search.telling(f"{s.text} {' '.join(s.entities)}"))
    words = search.telling(_bare(text))
    added = [w for w in words if w not in set(search.telling(asked.plain))] or words
    return sum(w in held for w in added) / len(added) if added else 1.0


def _bare(text: str) -> str:
    """Return a sentence without person tags."""
    return text.replace("<character_", "<").translate(str.maketrans("<>", "  ")) if "<" not in text else _untagged(text)


def _untagged(text: str) -> str:
    out, at = "", 0
    while (start := text.find("<", at)) >= 0 and (end := text.find(">", start)) >= 0:
        out, at = out + text[at:start] + " ", end + 1
    return out + text[at:]


def _numbers(text: str) -> set[str]:
    bare = _bare(text)
    return {run.lstrip("0") or "0" for run in "".join(c if c.isdigit() else " " for c in bare).split()}


def _fallen_back(reply: Reply, asked: ParsedQuestion, hits: Sequence[Hit], search: Search) -> Answer:
    """Return the fallback if no sentence of the model's answer is supported: quotes if words support them, else "not in this memory"."""
    good = [h.sentence for h in supported(hits, asked, search) if h.cover >= 0.75]
    if reply.text is None or reply.action == "search" or not good:
        return absent(asked, search, hits)
    return Answer((Part(say("nearest", asked.language)), *quoted(good[:2])))


# ---------------------------------------------------------------- what is given out


def _give(
    ask: str,
    composed: Answer,
    search: Search,
    model: str,
    begun: float,
    *,
    quoted: bool = False,
    said: int = 0,
    problem: str = "",
) -> Iterator[Event]:
    """Yield the rest of an answer's text and AskDone. `said`: number of parts already yielded."""
    several = len(search.sources) > 1
    pieces = [marked(p, several) for p in composed.parts]
    for piece in pieces[said:]:
        yield AskText(ask, piece)
    text = "".join(pieces).strip()
    seconds_ = time.monotonic() - begun
    yield AskDone(ask, text, composed.found, citations(composed.parts, several), model, seconds_, quoted=quoted, problem=problem)


def _with_notes(composed: Answer, asked: ParsedQuestion, search: Search) -> Answer:
    """Append to an answer what it assumes ("clip 12 is read as s2.c12"); where it found nothing, what is not memorized yet."""
    more = [Part(f"\n({note.text})") for note in asked.notes]
    if not composed.found and (n := seconds_lacking(asked, search)):
        more.insert(0, Part(say("not_memorized" if n > 1 else "not_memorized_one", asked.language, n=n)))
    if not more or not composed.parts:
        return Answer((*composed.parts, *more), composed.found)
    last = replace(composed.parts[-1], text=composed.parts[-1].text.rstrip())
    return Answer((*composed.parts[:-1], last, *more), composed.found)


def _round(ask: str, number: int, query: str, results: Sequence[str], shown: Sequence[str], started: float) -> AskRound:
    return AskRound(ask, number, "search", query, tuple(dict.fromkeys(results)), tuple(shown), time.monotonic() - started)


def _shown(s: StoredSentence) -> str:
    return f"{clock(s.start)} {s.shown}"


def as_json(done: AskDone, rounds: Sequence[AskRound]) -> dict[str, Any]:
    """Return an answer in the form that `ask --json` prints."""
    cited = [{"clip": c.clip, "source": c.source, "start": seconds(c.start), "end": seconds(c.end), "node": c.node} for c in done.citations]
    steps = [{"action": r.action, "query": r.query, "results": list(r.results), "seconds": round(r.seconds, 3)} for r in rounds]
    return {
        "answer": done.answer,
        "found": done.found,
        "citations": cited,
        "rounds": steps,
        "model": done.model,
        "seconds": round(done.seconds, 3),
        **({"problem": done.problem} if done.problem else {}),
    }


def as_chat(question: str, rounds: Sequence[AskRound], done: AskDone, at: str) -> dict[str, Any]:
    """Return a question with its answer and rounds in the form that a memory stores."""
    marks = [c.mark for c in done.citations]
    basis = {"said": [c.said for c in done.citations], "called": dict(done.called)}
    return {"question": question, "at": at, "quoted": done.quoted, "marks": marks, **basis, **as_json(done, rounds)}
