"""GBNF grammars as regular expressions: for servers that know only JSON schemas (`pattern`), and to check replies that nothing constrained.

Only what the engine's grammars use; a grammar that refers to itself has no such pattern. The patterns keep to what Python, ECMAScript and
the servers' own translators share: groups, classes, counts; no look-ahead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_RULE = re.compile(r"^\s*([A-Za-z][\w-]*)\s*::=", re.M)
_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)|(?P<literal>"(?:\\.|[^"\\])*")|(?P<class>\[\^?(?:\\.|[^\]\\])*\])"""
    r"""|(?P<count>[*+?]|\{\d+(?:,\d*)?\})|(?P<mark>[|().])|(?P<name>[A-Za-z][\w-]*)""",
    re.S,
)
_SPECIAL = frozenset("\\.^$*+?()[]{}|/")
_SHORT = {"n": "\n", "r": "\r", "t": "\t"}
DEEPEST = 20


def pattern_of(grammar: str) -> str | None:
    """Return the regular expression of a whole reply, None for a grammar that has none or isn't understood."""
    found = list(_RULE.finditer(grammar))
    ends = [*(m.start() for m in found), len(grammar)][1:]
    rules = {m[1]: grammar[m.end() : end] for m, end in zip(found, ends, strict=True)}
    try:
        return f"({_expanded('root', rules, ())})"
    except (KeyError, ValueError):
        return None


def _expanded(name: str, rules: Mapping[str, str], above: tuple[str, ...]) -> str:
    if name in above or len(above) > DEEPEST:
        raise ValueError("it refers to itself")
    pieces, at, text = [], 0, rules[name]
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise ValueError("not understood")
        at = token.end()
        match token.lastgroup:
            case "literal":
                literal = "".join(_escaped(c) for c, _ in _characters(token["literal"][1:-1]))
                pieces.append(literal if len(literal) == 1 else f"({literal})" if literal else "()")
            case "class":
                pieces.append(_class(token["class"]))
            case "count":
                pieces.append(token["count"])
            case "mark":
                pieces.append(r"[^\n]" if token["mark"] == "." else token["mark"])
            case "name":
                pieces.append(f"({_expanded(token['name'], rules, (*above, name))})")
    return "".join(pieces)


def _characters(text: str) -> list[tuple[str, bool]]:
    """Return the characters of a literal or class, and whether each was escaped."""
    found, at = [], 0
    while at < len(text):
        if text[at] != "\\":
            found.append((text[at], False))
            at += 1
            continue
        kind = text[at + 1]
        digits = {"x": 2, "u": 4, "U": 8}.get(kind, 0)
        found.append((chr(int(text[at + 2 : at + 2 + digits], 16)) if digits else _SHORT.get(kind, kind), True))
        at += 2 + digits
    return found


def _escaped(character: str, special: frozenset[str] = _SPECIAL) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
    return named or (f"\\{character}" if character in special else character)


_IN_CLASS = frozenset("\\]^[-")


def _class(token: str) -> str:
    inside = token[1:-1]
    negated = inside.startswith("^")
    pieces = ["-" if c == "-" and not escaped else _escaped(c, _IN_CLASS) for c, escaped in _characters(inside[1:] if negated else inside)]
    return f"[{'^' if negated else ''}{''.join(pieces)}]"


# ---------------------------------------------------------------- one string in a JSON object, for servers that know only schemas

FIELD = "reply"


def schema_of(pattern: str) -> dict[str, Any]:
    """Return the schema of an object with one string that keeps to a pattern."""
    return {
        "type": "object",
        "properties": {FIELD: {"type": "string", "pattern": f"^{pattern}$"}},
        "required": [FIELD],
        "additionalProperties": False,
    }


_BARE = re.compile(r'\s*\{\s*"' + FIELD + r'"\s*:\s*"(.*)"\s*\}\s*', re.S)


def unwrapped(text: str) -> str:
    """Return the string in such an object, also where its quotes were not escaped; a text that is none stays."""
    try:
        document = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        found = _BARE.fullmatch(text)
        return found[1] if found else text
    value = document.get(FIELD) if isinstance(document, dict) else None
    return value if isinstance(value, str) else text


# ---------------------------------------------------------------- checking what nothing constrained


def bare(text: str) -> str:
    """Return a reply without the fence of Markdown around it."""
    found = re.fullmatch(r"\s*```[a-z]*\n(.*?)\n?```\s*", text, re.S)
    return found[1] if found else text.strip()


def fault(text: str, pattern: str | None, schema: Mapping[str, Any] | None) -> str:
    """Return what is wrong with a reply's form, "" if nothing is (or nothing can be said)."""
    if pattern is not None:
        return "" if re.fullmatch(pattern, text, re.S) else "it does not have the form that was asked for"
    if schema is None:
        return ""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return "it is not a JSON document"
    return _misfit(document, schema)


_KINDS: dict[str, type | tuple[type, ...]] = {
    "object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)
}  # fmt: skip


def _misfit(document: Any, schema: Mapping[str, Any], at: str = "the reply") -> str:
    """Return where a document doesn't fit a schema: types, required keys, choices; other rules are the caller's to check."""
    kind = schema.get("type")
    if isinstance(kind, str) and kind in _KINDS and not isinstance(document, _KINDS[kind]):
        return f"{at} is not of the type {kind}"
    if "enum" in schema and document not in schema["enum"]:
        return f"{at} is none of the values allowed"
    if isinstance(document, dict):
        for name in schema.get("required", ()):
            if name not in document:
                return f"{at} lacks “{name}”"
        for name, inner in schema.get("properties", {}).items():
            if name in document and (wrong := _misfit(document[name], inner, f"“{name}”")):
                return wrong
    if isinstance(document, list) and isinstance(schema.get("items"), dict):
        for item in document:
            if wrong := _misfit(item, schema["items"], f"an item of {at}"):
                return wrong
    return ""
