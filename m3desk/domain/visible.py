"""Makes text from outside safe to show: characters that control a terminal, break a line or change its direction are escaped.

Names, sentences, file names and words of a screen come from outside. On a terminal an ESC in them can recolour, retitle or rewrite what is
shown, and a bidirectional control can make a text read as another (CVE-2021-42574). In a language model's chat they can end a turn.
"""

from __future__ import annotations

import json
import re
from typing import Any

STEERING = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # C0, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional controls
    "\u2028\u2029"  # line and paragraph separators
    "\ud800-\udfff]"  # halves of a surrogate pair: file names that are not UTF-8
)
"""Every character that is never shown as it is."""

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str, keep: str = "") -> str:
    r"""Return a text whose steering characters are written out (`\x1b`, `\u202e`, `\n`), but for those in `keep`."""
    return STEERING.sub(lambda found: found.group() if found.group() in keep else _written(found.group()), text)


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def plain(text: str) -> str:
    r"""Return a text for a file of another format: spaces for tabs and newlines, other control characters written out (`\x1b`).

    Bidirectional controls stay: Arabic and Hebrew need them, and a file is no terminal.
    """
    return _CONTROL.sub(lambda found: " " if found.group().isspace() else _written(found.group()), text)


def without_chat_tokens(text: str) -> str:
    """Return text with "<|im_start|>" and similar tokens neutralized: a model's server reads them as control tokens of the chat."""
    return text.replace("<|", "< |").replace("|>", "| >").replace("\0", " ")


def shortened(text: str, most: int = 200) -> str:
    """Return a text with its middle left out where it is longer than `most` characters."""
    return text if len(text) <= most else f"{text[: most * 2 // 3]} … {text[-most // 3 :]}"


def as_json(document: Any, indent: int | None = 1) -> str:
    r"""Return a document as JSON in which steering characters are written `\u202e`: the same document, and safe to print."""
    written = json.dumps(document, ensure_ascii=False, indent=indent)
    return STEERING.sub(lambda found: found.group() if found.group() == "\n" else f"\\u{ord(found.group()):04x}", written)


def _written(character: str) -> str:
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
