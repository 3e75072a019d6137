"""Grammars as patterns, and the form of replies that nothing constrained."""

from __future__ import annotations

import json
import re

import pytest
from m3desk_server.patterns import bare, fault, pattern_of, schema_of, unwrapped

from m3desk.control.reply import grammar


@pytest.mark.parametrize(
    ("rules", "good", "bad"),
    [
        ('root ::= "yes" | "no"', ["yes", "no"], ["maybe", "yesno", ""]),
        ('root ::= [a-c]{2,3} "." # a comment', ["ab.", "abc."], ["a.", "abcd.", "abx."]),
        ('root ::= word (" " word)*\nword ::= [^ \\n]+', ["a b", "a"], ["a\nb", " "]),
        ('root ::= "(" "\\"" [0-9]? "\\n" "]"', ['("1\n]', '("\n]'], ['("12\n]']),
        ('root ::= ("(" | "a.b") [\\u4e00-\\u9fff]', ["(一", "a.b一"], ["axb一", "(x"]),
    ],
)
def test_a_grammar_and_its_pattern_allow_the_same(rules: str, good: list[str], bad: list[str]) -> None:
    pattern = pattern_of(rules)
    assert pattern is not None and "(?" not in pattern
    assert all(re.fullmatch(pattern, text) for text in good)
    assert not any(re.fullmatch(pattern, text) for text in bad)


@pytest.mark.parametrize("rules", ['root ::= "(" root? ")"', "root ::= missing", "no grammar", 'root ::= "a" ~'])
def test_what_has_no_pattern_has_none(rules: str) -> None:
    assert pattern_of(rules) is None


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_grammar_of_answers_has_a_pattern(language: str) -> None:
    pattern = pattern_of(grammar(12, search=True, language=language))
    assert pattern is not None
    said = "It is on the shelf" if language == "en" else "红色的杯子在架子上"
    assert fault(f"Action: [Answer]\nContent: {said} [12].", pattern, None) == ""
    assert fault("Action: [Search]\nContent: red mug", pattern, None) == ""
    assert fault(f"Action: [Answer]\nContent: {said} [13].", pattern, None)
    assert fault("I think it is on the shelf.", pattern, None)


def test_a_string_in_an_object_is_unwrapped_also_where_its_quotes_are_bare() -> None:
    pattern = pattern_of('root ::= "say \\"" [a-z]+ "\\"\\n"')
    assert pattern is not None
    schema = schema_of(pattern)
    assert schema["properties"]["reply"]["pattern"].startswith("^")
    assert unwrapped(json.dumps({"reply": 'say "hi"\n'})) == 'say "hi"\n'
    assert unwrapped('{"reply": "say "hi"\n"}') == 'say "hi"\n'
    assert unwrapped("plain") == "plain"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('{"a": ["x"], "b": 1}', ""),
        ('{"a": ["x"]}', "lacks “b”"),
        ('{"a": "x", "b": 1}', "“a” is not of the type array"),
        ('{"a": [1], "b": 1}', "an item"),
        ('{"a": [], "b": 1', "not a JSON document"),
        ("[" * 100_000, "not a JSON document"),
    ],
)
def test_a_document_is_checked_against_its_schema(text: str, wrong: str) -> None:
    schema = {
        "type": "object",
        "required": ["a", "b"],
        "properties": {"a": {"type": "array", "items": {"type": "string"}}, "b": {"type": "integer"}},
    }
    found = fault(text, None, schema)
    assert (wrong in found) if wrong else found == ""


def test_a_fence_around_a_reply_is_taken_off() -> None:
    assert bare('```json\n{"a": 1}\n```') == '{"a": 1}' and bare(" x ") == "x"
