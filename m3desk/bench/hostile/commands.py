"""Hostile command lines: every command and option with invalid or extreme values, on a synthetic memory."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
from collections.abc import Iterator
from importlib import import_module
from itertools import count
from pathlib import Path

from m3desk.bench.hostile.case import PERCEIVING, Case
from m3desk.bench.hostile.invented import make
from m3desk.bench.hostile.values import DATES, DIGITS, IDS, NUMBERS, SETTINGS, TEXTS, TIMES, TRUTHS

BENCH_SAFE = ("importing", "identity", "constraints", "fused", "hostile", "kills", "profile", "speed", "reel", "window", "questions")

SKIP = frozenset({("models", "pull"), ("bench",)})
"""What would use the network or take minutes: never run, but for the cases written out below."""


def cases(folder: Path, chance: random.Random) -> Iterator[Case]:
    """Give command lines without end: options and words of each command in turn, a third of them hostile, now and then all."""
    first = make(folder / "first.m3desk")
    places = _places(folder)
    # The grammar is asked of the program, which stands above the benchmarks.
    verbs = list(_verbs(import_module("m3desk.cli.parser").parser()))
    for number in count():
        words, grammar = verbs[number % len(verbs)] if number < 2 * len(verbs) else chance.choice(verbs)
        memory = folder / f"{number}.m3desk"
        shutil.copytree(first, memory)
        files = [memory]
        arguments = _arguments(words, grammar, memory, places, files, folder / f"{number}", chance)
        settings = chance.choice(SETTINGS) if chance.random() < 0.12 else PERCEIVING.encode()
        name, line = f"{number} {' '.join(words)}", tuple(arguments)
        yield Case("command", name, line, memory, False, tuple(files), settings, {"M3DESK_BENCH_DATA": str(folder / "absent")}, "-" in line)


def _verbs(grammar: argparse.ArgumentParser, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    for action in grammar._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, under in action.choices.items():
                yield from _verbs(under, (*before, name))
            return
    first = next((a for a in grammar._actions if not a.option_strings and a.choices), None)
    for choice in first.choices if first is not None and first.choices else (None,):
        words = before if choice is None else (*before, str(choice))
        if words not in SKIP and before not in SKIP:
            yield words, grammar
    if before == ("bench",):
        yield from (((*before, name), grammar) for name in BENCH_SAFE)


def _places(folder: Path) -> list[str]:
    """Return paths that are no ordinary file: folders, devices, pipes, loops, names that can't be."""
    (folder / "dir").mkdir()
    (folder / "empty").touch()
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "broken").symlink_to(folder / "absent")
    (folder / "words.txt").write_text("tea\n" * 100)
    (folder / "picture.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(100))
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "fifo")
    names = (
        "dir",
        "empty",
        "loop",
        "broken",
        "words.txt",
        "picture.jpg",
        "fifo",
        "absent",
        "a" * 5000,
        "a/" * 3000,
        "\x1b[31m.mp4",
        "\u202e4pm.exe",
        "语.mp4",
    )
    odd = (
        "",
        ".",
        "..",
        "/",
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/stdin",
        "/proc/self/mem",
        "~",
        "-",
        "http://127.0.0.1:9/x",
        "file:x?live",
        "camera:0",
    )
    return [*(str(folder / n) for n in names), *odd, os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.mp4")]


def _arguments(
    words: tuple[str, ...],
    grammar: argparse.ArgumentParser,
    memory: Path,
    places: list[str],
    files: list[Path],
    own: Path,
    chance: random.Random,
) -> list[str]:
    """Return a command line: what the command needs, some of what it may be given, each value hostile by chance."""
    hostile = chance.choice((0.03, 0.15, 0.4, 0.9))
    found = list(words)
    positional = [a for a in grammar._actions if not a.option_strings]
    options = [a for a in grammar._actions if a.option_strings and a.dest not in ("help", "debug")]
    for action in positional[1 if positional and positional[0].choices else 0 :]:
        if words[0] == "bench":
            found += chance.choice((("",), ("x",), (DIGITS,), ("-1",), ("\x1b[31m",), ("/dev/zero",), ("nan",), ("--", "-x")))
            continue
        if action.nargs == "?" and chance.random() < 0.3:
            continue
        many = chance.choice((0, 1, 1, 2, 3, 40)) if action.nargs == "*" else chance.choice((1, 1, 2, 3)) if action.nargs == "+" else 1
        found += [_value(action, places, files, own, hostile, memory, chance) for _ in range(many)]
    for action in options:
        needed = action.required or action.dest == "memory"
        if not needed and chance.random() > 0.35:
            continue
        name = chance.choice(action.option_strings)
        if action.dest == "memory":
            value = chance.choice(places) if chance.random() < 0.08 else str(memory)
            found += [name, value]
        elif action.nargs == 0:
            found.append(name)
        else:
            value = _value(action, places, files, own, hostile, memory, chance)
            found += [f"{name}={value}"] if name.startswith("--") and chance.random() < 0.5 else [name, value]
    if chance.random() < 0.05:
        found.insert(chance.randrange(len(found) + 1), chance.choice(TEXTS + NUMBERS))
    return [a.replace("\x00", "") for a in found]


def _value(
    action: argparse.Action, places: list[str], files: list[Path], own: Path, hostile: float, memory: Path, chance: random.Random
) -> str:
    """Return a value for an argument: of its own kind, or, by chance, of any."""
    if chance.random() < hostile / 2:
        return chance.choice(chance.choice((NUMBERS, TIMES, DATES, IDS, TEXTS, places)))
    kind = action.dest
    if action.choices and chance.random() > hostile:
        return str(chance.choice(list(action.choices)))
    if kind in ("step", "number", "count", "k", "pairs", "suggestion", "clip_seconds", "fps", "x", "y", "width", "height", "seed", "tries"):
        return chance.choice(NUMBERS)
    if kind in ("at", "start", "end", "before"):
        return chance.choice(TIMES)
    if kind == "believed_at":
        return chance.choice(DATES)
    if kind in ("truth", "answers", "uem", "file", "files", "image", "audio", "sources", "source") and chance.random() < 0.6:
        if kind in ("truth", "answers", "uem") or chance.random() < 0.3:
            file = own.with_name(f"{own.name}-{len(files)}{chance.choice(('.json', '.rttm', '.txt', '.pkl', '.mp4', ''))}")
            file.write_bytes(chance.choice(TRUTHS))
            files.append(file)
            return str(file)
        return chance.choice(places)
    if kind in ("output", "keep"):
        ending = chance.choice((".json", ".graphml", ".rttm", ".vtt", ".srt", ".csv", ".html", "", ".exe", ".JSON"))
        mine = own.with_name(f"{own.name}-out{ending}")
        files += [mine, mine.with_name(mine.stem + ".media"), mine.with_name(mine.name + ".part")]
        return chance.choice((str(mine), str(mine), "-", "-", str(memory / "memory.sqlite"), str(memory), chance.choice(places)))
    if kind in ("name", "text", "question", "why", "new", "value", "key", "language", "kind", "format", "profile", "model"):
        return chance.choice((*TEXTS, json.dumps(chance.choice(IDS))))
    return chance.choice(IDS)
