"""Removes a forgotten person from text: masks names, deletes chats, empties steps of the journal."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from m3desk.domain.evidence import Floats
from m3desk.store import rows

DB = sqlite3.Connection

BLOT = "█"

TELLING = 20
"""Code points from which words identify a person: "thank you" does not."""

SCRUBBED = "scrubbed: it touched somebody who was forgotten"


@dataclass(slots=True)
class Traces:
    """Everything by which a memory identifies a person: ids, names, words, media, and embeddings of face and voice by model.

    `intervals`: (source, start, end) of their observations, microseconds. `told`: sentences to delete. `former`: ids in the journal from
    before a source was re-memorized. `spared`: names that other persons have, too, which stay. `mixed`: observation → observations that
    replace it and belong to another person, which stay. `telling`: words that nobody else says. Kept in main memory only.
    """

    persons: set[str] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)
    observations: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)
    names: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    media: set[str] = field(default_factory=set)
    vectors: dict[tuple[str, str], Floats] = field(default_factory=dict)
    intervals: list[tuple[str, int, int]] = field(default_factory=list)
    former: set[str] = field(default_factory=set)
    spared: list[str] = field(default_factory=list)
    mixed: dict[str, set[str]] = field(default_factory=dict)
    telling: list[str] = field(default_factory=list)

    @property
    def ids(self) -> set[str]:
        return self.persons | self.nodes | self.observations | self.told | self.former

    def mention(self) -> Mention | None:
        """Return a matcher for their names, and only theirs."""
        return mention(self.names, self.spared)


class Mention:
    """Finds names in texts, except inside a name in `spared`, which belongs to another person."""

    def __init__(self, names: str, spared: str) -> None:
        self._names = re.compile(f"(?:{spared})|({names})" if spared else f"({names})")

    def search(self, text: str) -> bool:
        return any(m[1] is not None for m in self._names.finditer(text))

    def blot(self, text: str) -> str:
        """Mask names; the length does not change, so offsets stay valid."""
        return self._names.sub(lambda m: m[0] if m[1] is None else BLOT * len(m[0]), text)


def chats(db: DB, found: Traces) -> int:
    """Delete chats that name the person, cite deleted sentences, or repeat their words."""
    pattern = found.mention()
    gone = []
    for r in db.execute("SELECT id, body FROM chat"):
        text = json.dumps(json.loads(r["body"]), ensure_ascii=False)
        ids = set(re.findall(r"[a-z]+_\d+|s\d+\.c\d+\.[fu]\w+", text))
        said = any(len(w) >= TELLING and w in text for w in found.words)
        if ids & found.ids or said or (pattern and pattern.search(text)):
            gone.append((r["id"],))
    db.executemany("DELETE FROM chat WHERE id = ?", gone)
    return len(gone)


def mention(names: Iterable[str], spared: Iterable[str] = ()) -> Mention | None:
    """Return what finds names: whole ones in any case, their single words where they are written with a capital (and nobody in `spared`
    shares them).
    """
    kept = sorted(set(spared), key=lambda n: (-len(n), n))
    shared = {t.casefold() for n in kept for t in re.findall(r"\w+", n)}
    parts: list[str] = []
    for name in names:
        parts.append(_whole(name))
        for token in re.findall(r"\w{3,}", name):
            if token[0].isupper() and token != name and token.casefold() not in shared:
                parts.append(rf"(?<!\w){re.escape(token)}(?!\w)")
    return Mention("|".join(parts), "|".join(map(_whole, kept))) if parts else None


def _whole(name: str) -> str:
    bounded = rf"(?<!\w){re.escape(name)}(?!\w)" if name.isascii() else re.escape(name)
    return f"(?i:{bounded})"


def blot(db: DB, found: Traces) -> int:
    """Mask their names in what others say, in text on screen and in sentences that stay; lengths do not change, so offsets stay valid."""
    pattern = found.mention()
    if pattern is None:
        return 0
    out, count = pattern.blot, 0
    for r in db.execute("SELECT id, text, words, audio FROM utterance").fetchall():
        if r["id"] in found.observations or out(r["text"]) == r["text"]:
            continue
        words = _blotted_words(json.loads(r["words"]), r["text"], out(r["text"]))
        # The sound says the name too, so it can't stay.
        db.execute("UPDATE utterance SET text = ?, words = ?, audio = NULL WHERE id = ?", (out(r["text"]), rows.dump(words), r["id"]))
        found.media |= {r["audio"]} - {None}
        count += 1
    for table, key, column in (("text_on_screen", "id", "text"), ("node", "id", "content"), ("node", "id", "quoted")):
        for row in db.execute(f"SELECT {key}, {column} FROM {table} WHERE {column} IS NOT NULL").fetchall():
            if out(row[1]) != row[1]:
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (out(row[1]), row[0]))
                if table == "node":
                    db.execute("DELETE FROM embedding WHERE owner = ?1 OR owner GLOB ?1 || '@*'", (row[0],))
                count += 1
    for row in db.execute("SELECT id, name, words, evidence FROM heard_name").fetchall():
        if pattern.search(row["name"]):
            db.execute("DELETE FROM heard_name WHERE id = ?", (row["id"],))
        else:
            db.execute("UPDATE heard_name SET words = ?, evidence = ? WHERE id = ?", (out(row["words"]), out(row["evidence"]), row["id"]))
    return count


def _blotted_words(words: Sequence[Sequence[Any]], text: str, blotted: str) -> list[list[Any]]:
    """Return the words of a text, each masked if that part of the text is; words not found in the text are masked, too."""
    made, place = [], 0
    for start, end, word in words:
        at = text.find(word.strip(), place)
        place = at + len(word.strip()) if at >= 0 else place
        hit = at < 0 or BLOT in blotted[at:place]
        made.append([start, end, BLOT * len(word) if hit else word])
    return made


# ---------------------------------------------------------------- the journal


REQUIRED: Mapping[str, tuple[str, ...]] = {
    "name": ("person",), "assign": ("bindings",), "merge": ("keep", "others"), "distinct": ("a", "b"), "split": ("bindings",),
    "exclude": ("bindings",), "set-aside": ("observations",), "link": ("face", "voice"), "unlink": ("face", "voice"),
    "ignore": ("person",), "enroll": ("person",), "add": ("memory",), "edit": ("memory",), "delete": ("memory",), "pin": ("memory",),
    "bookmark": ("bookmark",), "unbookmark": ("bookmark",),
    "split-at": ("observations",), "bounds": ("observations",), "words": ("observations",), "add-face": ("made",),
}  # fmt: skip
"""The args that a step of each kind needs, if it had them, to keep a meaning after the forgotten data is removed from it."""


OTHERS = ("person", "nodes", "bindings", "births", "must", "cannot")
"""The args of any step that the fold uses."""


def touches(args: Any, anchor: Any, text: str, found: Traces) -> bool:
    """Return whether a step is about the person, names them or repeats their words."""
    pattern = found.mention()
    whole = json.dumps([args, anchor, text], ensure_ascii=False)
    ids = set(re.findall(r"[a-z]+_\d+|s\d+\.c\d+\.[fu]\w*", whole))
    return bool(ids & found.ids) or bool(pattern and pattern.search(whole)) or _repeats(whole, found)


def _repeats(document: str, found: Traces) -> bool:
    """Return whether a JSON document repeats words that only they said."""
    return any(json.dumps(w, ensure_ascii=False)[1:-1] in document for w in found.telling)


def scrub(db: DB, found: Traces) -> None:
    """Remove the forgotten data from every step; steps without a meaning then are emptied."""
    pattern = found.mention()
    for r in db.execute("SELECT * FROM journal").fetchall():
        args, anchor = json.loads(r["args"]), json.loads(r["anchor"])
        if not touches(args, anchor, f"{r['text']} {r['why'] or ''}", found):
            continue
        left = _without(args, found.ids, pattern) or {}
        if args.get("person") and "person" not in left:  # it may still decide on observations, but no longer names their person
            left = {k: v for k, v in left.items() if k not in ("name", "nodes")}
        kind = left.get("as", r["kind"])
        spoken = [o for s in args.get("spans", ()) for o in s[2]]
        means = not set(spoken) & found.ids and all(left.get(k) or not args.get(k) for k in REQUIRED.get(kind, ())) and kind != "reject"
        means = means and not (kind == "bookmark" and _repeats(rows.dump(left), found))  # a name is masked, their words are not
        kind = r["kind"]
        if not means:
            # What it decides on other persons stays in force: bindings, names, must-links and cannot-links.
            names = bool(left.get("person") and left.get("name")) and left.get("as", kind) in ("assign", "split", "enroll")
            kind = "name" if names else "forget"
            left = {k: left[k] for k in (*OTHERS, *(("name",) if names else ())) if left.get(k)} if r["kind"] != "reject" else {}
            left = left if left.keys() - {"person"} else {}
        db.execute(
            "UPDATE journal SET kind = ?, args = ?, anchor = ?, why = NULL, text = ? WHERE step = ?",
            (kind, rows.dump({**left, "scrubbed": True}), rows.dump(_anchor(anchor, found, pattern) if left else {}), SCRUBBED, r["step"]),
        )


_GONE = object()


def _without(value: Any, ids: Collection[str], pattern: Mention | None) -> Any:
    """Return JSON without these ids, None where nothing is left; a pair of `must` or `cannot` that lost one side goes whole."""
    kept = _kept(value, ids, pattern)
    return None if kept is _GONE else kept


def _kept(value: Any, ids: Collection[str], pattern: Mention | None, pairs: bool = False) -> Any:
    if isinstance(value, str):
        if value in ids:
            return _GONE
        return pattern.blot(value) if pattern else value
    if isinstance(value, list):
        left = [k for v in value if (k := _kept(v, ids, pattern, pairs)) is not _GONE]
        pair = pairs and all(isinstance(v, str) for v in value)
        return _GONE if len(left) < len(value) and (pair or not left) else left
    if isinstance(value, dict):
        left_of = {k: _kept(v, ids, pattern, k in ("must", "cannot")) for k, v in value.items() if k not in ids}
        return {k: left for k, left in left_of.items() if left is not _GONE}
    return value


def _anchor(anchor: dict[str, Any], found: Traces, pattern: Mention | None) -> dict[str, Any]:
    """Return an anchor without places where the person was, and without words that name them."""
    kept: dict[str, Any] = {}
    for key, value in anchor.items():
        if key in ("observations", "memories"):
            kept[key] = [_blotted(v, pattern) for v in value if not _names_gone(v, found)]
        elif key == "people":
            kept[key] = {p: [o for o in v if not _names_gone(o, found)] for p, v in value.items() if p not in found.ids}
        else:
            kept[key] = _without(value, found.ids, pattern)
    return kept


def _names_gone(value: Any, found: Traces) -> bool:
    if not isinstance(value, dict):
        return False
    said = json.dumps([value.get("words", ""), value.get("text", "")], ensure_ascii=False)
    cited = any(_names_gone(c, found) for c in value.get("citations", ()))
    return value.get("id") in found.ids or cited or _repeats(said, found)


def _blotted(value: Any, pattern: Mention | None) -> Any:
    return _without(value, (), pattern)
