"""Hostile exports: a small memory's `.json` with wrong types and sizes, dangling references, unexpected files beside it."""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from m3desk.bench.hostile import invented
from m3desk.bench.hostile.case import Case
from m3desk.domain.ids import observation_type
from m3desk.interop import exports
from m3desk.store.memory import Memory

ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1, 0.5, 1e300, -1e300, float("nan"), float("inf"), 10**30, 2**63, "", "x", "\ud800", "\x00\x1b[2J", "s9.c9.f9",
    "face_77", "person_77", "s1.c0", [], {}, [[]], [None], {"a": {}}, "9" * 300, "x" * 200_000, "null", "[1,", "{}", "[]",
    [["s1.c0.f0"]], "../../etc/passwd", "done", "forget",
)  # fmt: skip
"""Values that may be put in the place of any other."""

NUMBER = "4" * 400


def exported(folder: Path) -> dict[str, Any]:
    """Return the export of a small memory, made in `folder`, that holds a bit of everything; its media folder lies beside `good.json`."""
    with Memory.open(invented.make(folder / "good.m3desk"), write=True) as memory:
        seen = [b.observation for b in memory.bindings()]
        told = memory.memories()
        memory.correct("edit", {"memory": told[0].id, "text": "<person_1> sits down"})
        memory.correct("pin", {"memory": told[1].id})
        memory.correct("words", {"observation": next(o for o in seen if observation_type(o) == "voice"), "text": "hello there you"})
        memory.correct("set-aside", {"observations": [seen[-1]]})
        memory.undo()
        one, other = [p.id for p in memory.people()][:2]
        memory.correct("merge", {"keep": one, "others": [other]})
        memory.correct("split", {"person": one, "observations": [seen[0]]})
        exports.export(memory, folder / "good.json", with_media=True)
    document: dict[str, Any] = json.loads((folder / "good.json").read_text("utf-8"))
    return document


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in a document."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield (*path, key)
        yield from places(part, (*path, key))


def put(document: Any, path: tuple[Any, ...], value: Any) -> None:
    """Put a value in its place."""
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = value


def mutated(document: dict[str, Any], chance: random.Random, all_: list[tuple[Any, ...]]) -> tuple[str, dict[str, Any]]:
    """Return a copy with a few values changed, left out, doubled or swapped, and what was done."""
    made, done = copy.deepcopy(document), []
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        path = chance.choice(all_)
        where = made
        try:
            for key in path[:-1]:
                where = where[key]
            old = where[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took it away
        what = chance.randrange(6)
        if what == 0:
            del where[path[-1]]
            done.append(f"{path} left out")
        elif what == 1 and isinstance(where, list):
            where.insert(path[-1], copy.deepcopy(old))
            done.append(f"{path} twice")
        elif what == 2 and isinstance(old, str) and old[:1] in "[{":
            where[path[-1]] = _inside(old, chance)
            done.append(f"{path} changed within")
        elif what == 3:
            other = chance.choice(all_)
            try:
                value: Any = document
                for key in other:
                    value = value[key]
            except (KeyError, IndexError, TypeError):
                continue
            where[path[-1]] = copy.deepcopy(value)
            done.append(f"{path} = what is at {other}")
        else:
            where[path[-1]] = chance.choice(ODD)
            done.append(f"{path} = {str(where[path[-1]])[:30]!r}")
    return "; ".join(done)[:300], made


def _inside(text: str, chance: random.Random) -> str:
    """Change a value within a cell that holds JSON."""
    try:
        value = json.loads(text)
    except ValueError:  # an earlier change
        return text
    if inner := list(places(value)):
        put(value, chance.choice(inner), chance.choice(ODD))
    return json.dumps(value)


def absurd(document: dict[str, Any]) -> dict[str, Callable[[], str]]:
    """Return texts by name: the cases that were reported, and bombs."""

    def changed(*path: Any, to: Any) -> Callable[[], str]:
        def make() -> str:
            made = copy.deepcopy(document)
            put(made, path, to)
            return json.dumps(made)

        return make

    whole = json.dumps(document)
    return {
        "nodes are a text": changed("nodes", to="x"),
        "people are a number": changed("people", to=7),
        "an end without end": changed("clips", 0, "end", to=float("inf")),
        "an end before the start": changed("clips", 0, "end", to=-5.0),
        "a text as quality": changed("face_tracks", 0, "quality", to="good"),
        "a number of 400 digits": lambda: whole.replace('"quality": 0.8', f'"quality": {NUMBER}', 1),
        "an index of 400 digits": lambda: whole.replace('"index": 0', f'"index": {NUMBER}', 1),
        "half a letter": changed("utterances", 0, "text", to="\ud800"),
        "a text of 3 MB": changed("utterances", 0, "text", to="x" * 3_000_000),
        "a million boxes": changed("face_tracks", 0, "boxes", to=[[0.0, 1, 1, 1, 1]] * 1_000_001),
        "lists in lists": lambda: "[" * 100_000 + "]" * 100_000,
        "lists in a chat": changed("chats", to=[{"a": json.loads("[" * 300 + "]" * 300)}]),
        "ten million lists": lambda: whole[:-1] + ', "x": [' + "[]," * 10_000_000 + "[]]}",
        "ten million numbers": lambda: whole[:-1] + ', "x": [' + "1," * 10_000_000 + "1]}",
        "two versions": lambda: whole.replace('"version": 1', '"version": 1e3', 1),
        "a byte order mark": lambda: "\ufeff" + whole,
        "nothing": lambda: "",
        "another document": lambda: '{"format": "m3desk", "version": 1}',
        "an observation in its own place": changed("face_tracks", 0, "replaces", to=document["face_tracks"][0]["id"]),
        "a counter behind": changed("log", "meta", "last_node", to="1"),
    }


def cases(folder: Path, chance: random.Random) -> Iterator[Case]:
    """Write hostile exports into `folder` without end: first those with a name, in an order by chance, then changed copies."""
    folder.mkdir(parents=True, exist_ok=True)
    document = exported(folder)
    all_ = [p for p in places(document) if p[0] in ("sources", "clips", "face_tracks", "utterances", "objects", "log", "chats")]
    every = list(places(document))
    named = list(absurd(document).items())
    chance.shuffle(named)
    count = 0
    for name, make in named:
        yield _case(folder, count, name, make())
        count += 1
    while True:
        if chance.random() < 0.15:
            yield _beside(folder, count, document, chance)
        elif chance.random() < 0.1:
            text = bytearray(json.dumps(document), "utf-8")
            for _ in range(chance.choice((1, 3, 20))):
                text[chance.randrange(len(text))] = chance.randrange(256)
            yield _case(folder, count, "damaged bytes", bytes(text))
        else:
            name, made = mutated(document, chance, chance.choice((all_, all_, every)))
            yield _case(folder, count, name, json.dumps(made))
        count += 1


def _case(folder: Path, count: int, name: str, text: str | bytes) -> Case:
    path = folder / f"export {count}.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    memory = folder / f"export {count}.m3desk"
    return Case("json", f"{count}: {name}", ("import", str(path), "-m", str(memory)), memory)


def _beside(folder: Path, count: int, document: dict[str, Any], chance: random.Random) -> Case:
    """Write a good export with something unexpected in its media folder."""
    beside = folder / f"export {count}.media"
    shutil.rmtree(beside, ignore_errors=True)
    shutil.copytree(folder / "good.media", beside)
    index = beside / "embeddings.json"
    crop = next(p for p in sorted(beside.iterdir()) if p.suffix == ".jpg")
    what = chance.randrange(9)
    if what == 0:
        rows = json.loads(index.read_text("utf-8"))
        inner = list(places(rows))
        put(rows, chance.choice(inner), chance.choice(ODD))
        index.write_text(json.dumps(rows), "utf-8", errors="replace")
    elif what == 1:
        (beside / "embeddings.f32").write_bytes((beside / "embeddings.f32").read_bytes()[: chance.randrange(2_000)])
    elif what == 2:
        (beside / "embeddings.f32").write_bytes(b"\xff" * (beside / "embeddings.f32").stat().st_size)
    elif what == 3:
        (beside / "embeddings.f32").unlink()
    elif what == 4:
        crop.write_bytes(b"another picture")
    else:
        target = chance.choice((crop, index, beside / "embeddings.f32"))
        target.unlink()
        if what == 5:
            target.symlink_to("/etc/passwd")
        elif what == 6:
            target.symlink_to(folder / "nowhere")
        elif what == 7 and hasattr(os, "mkfifo"):
            os.mkfifo(target)
        else:
            target.mkdir()
    return _case(folder, count, f"beside it: {what}", json.dumps(document))
