"""Hostile texts in a memory (names, sentences, file names, screen texts), printed by every command and written by every export."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from m3desk.bench.hostile.case import Case
from m3desk.bench.hostile.invented import make

MARKS = (
    "\x1b[31m",
    "\x1b]0;owned\x07",
    "\x1b]52;c;ZWNobw==\x07",
    "\x1bP+q\x1b\\",
    "\x9b31m",
    "\x90",
    "\x08\x08\x08",
    "\r",
    "\x7f",
    "\x00",
    "\x85",
    "\u202e",
    "\u2066",
    "\u2069",
    "\u200f",
    "\u061c",
    "\u2028",
    "\u2029",
    "\u200b",
    "\ufeff",
    "\U000e0041",
    "\x0b",
    "\x0c",
    "\x1c",
)
"""Characters that steer a terminal or turn a text."""

WORDS = (
    "Ann",
    '=HYPERLINK("http://127.0.0.1")',
    "+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "[red]Ann[/red]",
    "[/]",
    "<b>Ann</b>",
    "<img src='/etc/passwd'>",
    "--> 00:00",
    "\n\n00:01 --> 00:02\nhi",
    "]]>",
    "<!--",
    "&amp;",
    "Ann Lee",
    "Ann\nLee",
    '"Ann"',
    "a,b;c",
    "{\\an8}x",
    "$(id)",
    "'; rm -rf ~ #",
    "m3desk people forget 1",
    "%s%d{0}",
    "../../x",
    "语言",
    "🏳️\u200d🌈",
    "e\u0301" * 40,
    "Ann" * 60,
    "SPEAKER x 1 0 1",
    "person_9",
    "<person_9>",
    "NaN",
)

FORMATS = ("json", "graphml", "rttm", "vtt", "srt", "csv", "html")

PRINTING = (
    ("people", "list"),
    ("people", "show", "person_1"),
    ("people", "show", "person_3"),
    ("people", "suggestions"),
    ("people", "why", "s1.c0.f0"),
    ("people", "why", "s1.c0.u1"),
    ("people", "scorecard"),
    ("people", "forget", "person_1", "--dry-run"),
    ("people", "forget", "person_2"),
    ("people", "forget", "person_2", "--yes"),
    ("people", "merge", "person_1", "person_2"),
    ("people", "merge", "person_1", "person_2", "--dry-run"),
    ("people", "ignore", "person_1"),
    ("people", "distinct", "person_1", "person_2"),
    ("people", "split", "person_1", "--clip", "s1.c1"),
    ("people", "assign", "s1.c0.f0", "person_2"),
    ("people", "set-aside", "s1.c0.f0"),
    ("sources", "list"),
    ("sources", "remove", "s1"),
    ("sources", "remove", "s1", "--yes"),
    ("memories", "list"),
    ("memories", "delete", "episodic_5"),
    ("memories", "rewrite", "--stale"),
    ("journal",),
    ("undo", "2"),
    ("revert", "1"),
    ("check",),
    ("check", "--repair"),
    ("ask", "who appears?"),
    ("ask", "what is said?"),
    ("search", "nodes", "tea"),
    ("search", "clips", "appears"),
    ("observations", "split-at", "s1.c0.u0", "3"),
    ("config", "get"),
    ("doctor",),
    ("models", "list"),
    ("bench",),
    ("config", "path"),
)


def cases(folder: Path, chance: random.Random) -> Iterator[Case]:
    """Give every printing command and every format in turn, each over a memory whose words are hostile in another way."""
    lines = [*PRINTING, *(("export", "--format", f, "-o", to) for f in FORMATS for to in ("-", "FILE"))]
    chance.shuffle(lines)
    memory = folder / "0.m3desk"
    for number in count():
        words = lines[number % len(lines)]
        memory = folder / f"{number}.m3desk"
        make(memory, lambda place: text(place, chance), named=chance.random() < 0.8)
        out = folder / f"{number}{chance.choice(MARKS).replace(chr(0), '')}.out"
        arguments = [str(out) if w == "FILE" else w for w in words]
        if words[0] in ("people", "ask", "search", "memories", "observations") and chance.random() < 0.4:
            arguments[-1] = text("name", chance)
        if words[0] not in ("config", "doctor", "models", "bench"):
            arguments += ["-m", str(memory)]
        if words[0] != "export" and chance.random() < 0.25:
            arguments.append("--json")
        name = f"{number} {' '.join(words[:2])}"
        yield Case("text", name, tuple(arguments), memory, False, (memory, out), document="-" in arguments)
        shutil.rmtree(memory, ignore_errors=True)


def text(place: str, chance: random.Random) -> str:
    """Return a text for a place: words with marks in them. In a file name nothing that no file name holds."""
    parts = [chance.choice(WORDS) for _ in range(chance.choice((1, 1, 2, 3)))]
    for _ in range(chance.choice((0, 1, 2, 5))):
        parts.insert(chance.randrange(len(parts) + 1), chance.choice(MARKS))
    found = chance.choice(("", " ")).join(parts)[:180].replace("\x00", "")
    return found.replace("/", "_") if place == "uri" else (found.strip() or "Ann") if place == "name" else found
