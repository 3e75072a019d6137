"""Messages of errors: written to follow "m3desk: " in a terminal, and shown as sentences in a window."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from m3desk import errors
from m3desk.errors import MemoryMissing, as_sentence, sentence_of

ROOT = Path(__file__).resolve().parents[1]
NAMES = frozenset([
    "assign", "backends", "backends.", "bench", "bits", "bookmarks", "bystander", "config", "dlib", "dlib's", "enroll", "exit",
    "faster-whisper", "faster-whisper,", "file:", "keys", "live_names", "merge", "models", "multilingual-e5-small", "parity",
    "rewrite", "scale_filter", "scale_lancedb", "scale_opening", "scale_search", "scale_window", "search", "split", "xllamacpp",
])  # fmt: skip
"""Words in small letters that messages begin with and that a window does not capitalise: commands, libraries, and what is numbered."""


def beginnings() -> Iterator[tuple[str, str]]:
    """Return where and with which word each message begins that is written in the code."""
    kinds = {name for name, it in vars(errors).items() if isinstance(it, type) and issubclass(it, errors.M3DeskError)}
    for folder in ("m3desk", "plugins", "ui"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(call, ast.Call) and call.args and getattr(call.func, "id", getattr(call.func, "attr", "")) in kinds:
                    for text in _texts(call.args[0]):
                        yield f"{path.relative_to(ROOT)}:{call.lineno}", text.partition(" ")[0]


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
        yield str(node.values[0].value)
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body)
        yield from _texts(node.orelse)


def test_in_a_window_a_message_begins_with_a_capital_and_a_name_stays_as_it_is() -> None:
    assert as_sentence("there is no memory at x.") == "There is no memory at x."
    assert as_sentence("film.mp4 is empty.") == "film.mp4 is empty." and as_sentence("m3desk is busy.") == "m3desk is busy."
    assert sentence_of(MemoryMissing("it is gone.", "Make another.")) == "It is gone. Make another."
    assert as_sentence("") == ""


def test_what_no_message_may_begin_with_is_a_word_that_a_window_leaves_small() -> None:
    found = list(beginnings())
    assert len(found) > 300
    assert not [(where, word) for where, word in found if word[:1].islower() and as_sentence(word) == word and word not in NAMES]
