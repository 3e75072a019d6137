"""How a server is told to keep to a form: found by asking for a word that nobody would say, never by trusting a field's name.

vLLM ignores llama.cpp's `grammar`, and llama.cpp ignores vLLM's `structured_outputs`: both answer 200 with unconstrained text. So each way
is tried, and counts only where the word comes back.
"""

from __future__ import annotations

import json
import logging
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from m3desk.children.waiting import held
from m3desk.errors import ModelFailed, UsageError
from m3desk_server.client import Server
from m3desk_server.connection import CutOff, Unreachable
from m3desk_server.refusals import Refused
from m3desk_server.streams import Told

log = logging.getLogger(__name__)

Fields = Callable[[str], dict[str, Any]]

GRAMMARS: dict[str, Fields] = {
    "llama.cpp": lambda grammar: {"grammar": grammar},
    "vllm": lambda grammar: {"structured_outputs": {"grammar": grammar}},
    "old vllm": lambda grammar: {"guided_grammar": grammar},
}
"""The fields of a request that hold a GBNF grammar, by dialect."""

NAMES = ("", *GRAMMARS, "schema", "plain")
"""What the setting `dialect` may be; "": found out. `schema`: only JSON schemas; `plain`: nothing, replies are checked."""

UNKNOWN_FORM = frozenset({400, 422, 500, 501})
"""How servers refuse a form that they can't keep to."""

TOKENS = 24


def schema_field(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": dict(schema)}}}


@dataclass(slots=True)
class Dialect:
    """What one server obeys, found out at the first need. `chosen`: the user's setting, "" to find out."""

    server: Server
    chosen: str = ""
    _grammar: str | None = None
    _schema: bool | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        if self.chosen not in NAMES:
            raise UsageError(
                f"there is no dialect “{self.chosen[:40]}”.", f"There are: {', '.join(NAMES[1:])}; without the setting it is found out."
            )

    def grammar(self, cancelled: Callable[[], bool]) -> Fields | None:
        """Return how a grammar is sent, None where no way is obeyed. Raises Cancelled, ModelError."""
        if self.chosen:
            return GRAMMARS.get(self.chosen)
        with held(self._lock, cancelled):
            return self._found_grammar(cancelled)

    def _found_grammar(self, cancelled: Callable[[], bool]) -> Fields | None:
        if self._grammar is None:
            hint = self.server.known(cancelled).kind
            order = sorted(GRAMMARS, key=lambda name: name != hint)
            word = _word()
            found = (n for n in order if self._obeyed(GRAMMARS[n](f'root ::= "{word}"'), lambda text: text.strip() == word, cancelled))
            self._grammar = next(found, "")
            log.info("grammars: %s", self._grammar or "not obeyed")
        return GRAMMARS.get(self._grammar)

    def schema(self, cancelled: Callable[[], bool]) -> bool:
        """Return whether JSON schemas are obeyed. Raises Cancelled, ModelError."""
        if self.chosen:
            return self.chosen != "plain"
        with held(self._lock, cancelled):
            return self._found_schema(cancelled)

    def _found_schema(self, cancelled: Callable[[], bool]) -> bool:
        if self._schema is None:
            word = _word()
            wanted = {"word": word}
            schema = {
                "type": "object",
                "properties": {"word": {"type": "string", "enum": [word]}},
                "required": ["word"],
                "additionalProperties": False,
            }
            self._schema = self._obeyed(schema_field(schema), lambda text: _document(text) == wanted, cancelled)
            log.info("schemas: %s", "obeyed" if self._schema else "not obeyed")
        return self._schema

    def _obeyed(self, fields: dict[str, Any], good: Callable[[str], bool], cancelled: Callable[[], bool]) -> bool:
        """Ask for a word in one way, and return whether it came back. A refusal of the way is a no; other failures are raised.

        Some servers fail with 500 at a way that they don't know: it is a no only if the same request without it is answered.
        """
        told = Told()
        asked = [{"role": "user", "content": "Say hello. Reply in JSON if you are asked to."}]
        try:
            said = "".join(self.server.reply(asked, max_tokens=TOKENS * 3, cancelled=cancelled, told=told, **fields))
        except Refused as error:
            if error.status not in UNKNOWN_FORM:
                raise
            if error.status == 500:
                for _ in self.server.reply(asked, max_tokens=1, cancelled=cancelled):
                    pass
            return False
        except (CutOff, Unreachable):
            raise
        except ModelFailed:
            return False  # it thought on, or answered in another way
        return good(said)


def _word() -> str:
    return "".join(secrets.choice("bdfgkmpvwz") for _ in range(8))


def _document(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
