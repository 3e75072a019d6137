"""Twelve questions on three videos, asked through `m3desk ask`: right answers, right citations, and refusal of unanswerable ones."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from m3desk.backends import EMBEDDED
from m3desk.bench.material import data, output, timed


@dataclass(frozen=True, slots=True)
class BenchQuestion:
    """`right`: a pattern the answer must match (None: the memory can't know). `when`: seconds, one citation must overlap."""

    video: tuple[str, ...]
    text: str
    right: str | None
    when: tuple[float, float] | None = None


MIE, OBAMA, REEL = ("video", "mie", "sample-video.mp4"), ("video", "obama", "obama_speech.mp4"), ("video", "reel", "reel_shared.mp4")

QUESTIONS = (
    BenchQuestion(MIE, "What name is written on the screen?", r"(?i)jeff\s*steen", (0, 9.1)),
    BenchQuestion(MIE, "Who appears?", r"(?i)jeff\s*steen|person \d", (0, 9.1)),
    BenchQuestion(MIE, "What does the host say?", r"(?i)\w+.*\w+", (0, 9.1)),
    BenchQuestion(MIE, "What is the dog's name?", None),
    BenchQuestion(OBAMA, "What is said about Iran?", r"(?i)nuclear|iran|deal", (0, 8.8)),
    BenchQuestion(OBAMA, "How many people are in view?", r"(?i)\b(two|2)\b", (0, 8.8)),
    BenchQuestion(OBAMA, "What does the text on the screen say?", r"(?i)president|statement|iran|july|white ?house", (0, 8.8)),
    BenchQuestion(OBAMA, "What did they have for breakfast?", None),
    BenchQuestion(REEL, "When does somebody say “lay blue at x four now”?", r"(?i)00:(18|19|20|21)|\b(18|19|20)\b|lay blue", (18, 21.1)),
    BenchQuestion(REEL, "Who says “set blue in a one again”?", r"(?i)person \d+|someone|\?", (80.8, 83.9)),
    BenchQuestion(REEL, "Which name is in the caption at the beginning?", r"(?i)jeff\s*steen", (0, 9.1)),
    BenchQuestion(REEL, "Which colour is the elephant?", None),
)


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Ask all twelve; without `--llm` the language model is left out and answers are quotes."""
    folder = Path(tempfile.mkdtemp(prefix="m3desk-questions-"))
    env = {} if "--llm" in args else {"M3DESK_CONFIG": str(_without_llm(folder))}
    memories: dict[tuple[str, ...], str] = {}
    rows = []
    try:
        for question in QUESTIONS:
            if question.video not in memories:
                memories[question.video] = str(folder / f"{len(memories)}.m3desk")
                flags = [] if "--llm" in args else ["--no-semantic"]
                timed(["memorize", str(data(*question.video)), "-m", memories[question.video], "-q", *flags], env=env)
            rows.append(_ask(question, memories[question.video], env))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    right = sum(r["right"] for r in rows)
    return {
        "right": right,
        "cited": sum(bool(r["cited"]) for r in rows),
        "refused": sum(r["absent"] and r["right"] for r in rows),
        "of": len(rows),
        "questions": rows,
    }


def _without_llm(folder: Path) -> Path:
    """Return settings whose profile is the embedded one less its language model."""
    file = folder / "quoting.toml"
    backends = "".join(f'{port} = "{name}"\n' for port, name in EMBEDDED.items() if port != "language")
    file.write_text(f'profile = "quoting"\n[profiles.quoting]\n{backends}', encoding="utf-8")
    return file


def _ask(question: BenchQuestion, memory: str, env: dict[str, str]) -> dict[str, Any]:
    reply = output("ask", "-m", memory, question.text, env={**os.environ, **env})
    absent = question.right is None
    right = not reply["found"] if absent else bool(reply["found"] and re.search(question.right or "", reply["answer"]))
    cited = None
    if question.when is not None:
        low, high = question.when
        cited = any(c["start"] < high and c["end"] > low for c in reply["citations"])
    return {
        "video": question.video[-1],
        "question": question.text,
        "answer": reply["answer"],
        "found": reply["found"],
        "absent": absent,
        "right": right,
        "cited": cited,
        "rounds": len(reply["rounds"]),
        "model": reply["model"],
        "seconds": reply["seconds"],
    }
