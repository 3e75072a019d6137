"""Measure search: `python tests/control/measure_locomo.py ../shared/data/memory/locomo/locomo7.json [e5|use|none] [conversations]`.

Prints recall of the evidence turns among the 5 and 10 best sentences (category 5 left out, as in models.md 5b). Each turn is a memory
"someone says: …" of a confirmed person. Takes about four minutes for all seven with e5 on two cores.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from m3desk.control.search import Search
from m3desk.control.snapshots import Snapshot
from m3desk.store.index.words import words
from tests.control.made import MadeReader, person


class Conversation(MadeReader):
    """A conversation as a memory, with the vectors of one text model."""

    def __init__(self, turns: list[tuple[str, str, str]], text_vectors: object) -> None:
        names = sorted({who for _, who, _ in turns})
        super().__init__(*(person(n, name) for n, name in enumerate(names, 1)), clips=len(turns) // 30 + 1)
        for at, (_, who, text) in enumerate(turns):
            self.hear(names.index(who) + 1, text, at, at + 0.9)
        self.turn = {s.id: turn for s, (turn, _, _) in zip(self._sentences, turns, strict=True)}
        self.rows = text_vectors.embed([s.text for s in self._sentences]) if text_vectors else None

    def vectors(self, kind: str, model: str) -> tuple[list[str], object]:
        return [s.id for s in self._sentences], self.rows


def turns_of(conversation: dict) -> list[tuple[str, str, str]]:
    sessions = sorted((k for k in conversation if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k[8:]))
    caption = " [shows {}]"
    return [
        (u["dia_id"], u["speaker"], u["text"] + (caption.format(u["blip_caption"]) if u.get("blip_caption") else ""))
        for k in sessions
        for u in conversation[k]
    ]


def main() -> None:
    file, model, count = sys.argv[1], (sys.argv[2:] or ["e5"])[0], int((sys.argv[3:] or ["7"])[0])
    from m3desk_cpu.text_vectors import E5Small, UniversalSentence

    text_vectors = {"e5": lambda: E5Small(2), "use": lambda: UniversalSentence(2), "none": lambda: None}[model]()
    at_5 = at_10 = asked = seconds = 0.0
    for row in json.loads(Path(file).read_text("utf-8"))[:count]:
        reader = Conversation(turns_of(row["conversation"]), text_vectors)
        there = set(reader.turn.values())
        known = Snapshot.read(reader, words, text_vectors.name if text_vectors else "")
        search = Search(reader, known, text_vectors, known)
        for q in row["qa"]:
            evidence = {e for part in q.get("evidence", ()) for e in re.split(r"[;,\s]+", part)} & there
            if q["category"] == 5 or not evidence:
                continue
            begun = time.monotonic()
            found = [reader.turn[h.sentence.id] for h in search.hits(search.read(q["question"]), 10)]
            seconds += time.monotonic() - begun
            at_5 += len(set(found[:5]) & evidence) / len(evidence)
            at_10 += len(set(found) & evidence) / len(evidence)
            asked += 1
        print(
            f"{model}: {asked:.0f} questions, recall@5 {at_5 / asked:.3f}, recall@10 {at_10 / asked:.3f}, {1000 * seconds / asked:.0f} ms",
            flush=True,
        )


if __name__ == "__main__":
    main()
