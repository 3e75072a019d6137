"""Lets a model answer: piece by piece, within a schema or a grammar, until it is cancelled."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from .asking import Asked
from .checks import positions_checked
from .loading import Opened, Refused
from .room import Room

_ENDS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<end_of_turn>", "<end_of_utterance>", "</s>", "<eos>", "<|return|>", "<turn|>")
"""Tokens by which models end their turn: some checkpoints do not name theirs, and would write until nothing is left."""

_CONTROL = re.compile(r"[\x00-\x1f]")
"""What JSON allows in no string, but xgrammar does in those of a largest length."""


@dataclass
class Measured:
    """What a reply took. `first`: seconds until its first token; `rest`: from there to its last. `peak`: bytes, 0 if unknown."""

    prompt: int
    tokens: int
    first: float
    rest: float
    peak: int

    def told(self) -> dict[str, Any]:
        return asdict(self)


def reply(
    opened: Opened,
    asked: Asked,
    room: Room,
    *,
    schema: dict[str, Any] | None = None,
    grammar: str | None = None,
    max_tokens: int,
    at_least: int = 0,
    cancelled: Callable[[], bool] = lambda: False,
    piece: Callable[[str], None] = lambda _text: None,
) -> Measured:
    """Generate at temperature 0 and hand on each piece of the reply. Raises Refused, and what torch raises."""
    torch = opened.torch
    from transformers import GenerationConfig, StoppingCriteriaList

    ends = end_tokens(opened)
    constrained = [_constraint(opened, schema, grammar, ends)] if schema is not None or grammar is not None else []
    pieces = _Pieces(opened.tokenizer, piece if schema is None else lambda text: piece(_CONTROL.sub(" ", text)))
    stop = _stop(torch, cancelled)
    inputs = asked.inputs.to(opened.device)
    inputs = {k: v.to(opened.model.dtype) if hasattr(v, "is_floating_point") and v.is_floating_point() else v for k, v in inputs.items()}
    configured = GenerationConfig(
        max_new_tokens=max_tokens,
        min_new_tokens=at_least or None,
        do_sample=False,
        eos_token_id=ends,
        pad_token_id=opened.tokenizer.pad_token_id if opened.tokenizer.pad_token_id is not None else ends[0],
        bos_token_id=opened.tokenizer.bos_token_id,
    )
    before = room.before()
    began = time.perf_counter()
    with torch.inference_mode(), positions_checked(opened, asked.given):
        opened.model.generate(
            **inputs,
            **asked.options,
            generation_config=configured,
            logits_processor=constrained,
            stopping_criteria=StoppingCriteriaList([stop]),
            streamer=pieces,
        )
    ended = time.perf_counter()
    first = pieces.began or ended
    peak = room.after(before, asked.tokens + pieces.count)
    return Measured(asked.tokens, pieces.count, first - began, ended - first, peak)


def end_tokens(opened: Opened) -> list[int]:
    """Return every token that ends a turn: the checkpoint's, the tokenizer's, and the usual ones that this vocabulary has."""
    found: set[int] = set()
    for named in (opened.model.generation_config.eos_token_id, opened.tokenizer.eos_token_id):
        found |= set(named if isinstance(named, list | tuple) else [named] if named is not None else [])
    known = opened.tokenizer.get_vocab()
    found |= {known[mark] for mark in _ENDS if mark in known}
    if not found:
        raise Refused("the model has no token that ends its reply.", "Choose another model.")
    return sorted(found)


def _constraint(opened: Opened, schema: dict[str, Any] | None, grammar: str | None, ends: list[int]) -> Any:
    try:
        import xgrammar
        from xgrammar.contrib.hf import LogitsProcessor
    except ImportError as error:
        raise Refused(
            f"replies in a fixed form need xgrammar ({error}).", "Install the backend again: m3desk backends install transformers."
        ) from error
    compiler = getattr(opened, "_compiler", None)
    if compiler is None:
        width = opened.model.get_output_embeddings().weight.shape[0]
        told = xgrammar.TokenizerInfo.from_huggingface(opened.tokenizer, vocab_size=width, stop_token_ids=ends)
        compiler = opened._compiler = xgrammar.GrammarCompiler(told)  # type: ignore[attr-defined]
    try:
        if schema is not None:
            compiled = compiler.compile_json_schema(json.dumps(schema), any_whitespace=False)
        else:
            compiled = compiler.compile_grammar(grammar)
    except (RuntimeError, ValueError) as error:
        raise Refused(f"the form of the reply cannot be kept: {str(error).splitlines()[-1] if str(error) else error}.") from error
    return LogitsProcessor(compiled)


class _Pieces:
    """Hands on a reply as soon as its letters are whole: a letter may be made of several tokens."""

    def __init__(self, tokenizer: Any, piece: Callable[[str], None]) -> None:
        self._tokenizer = tokenizer
        self._piece = piece
        self._tokens: list[int] = []
        self._from = self._told = 0
        self.began = 0.0
        self.count = -1  # the prompt comes first

    def put(self, value: Any) -> None:
        self.count += 1
        if not self.count:
            return
        if self.count == 1:
            self.began = time.perf_counter()
        self._tokens += value.flatten().tolist()
        self._tell(at_end=False)

    def end(self) -> None:
        self._tell(at_end=True)

    def _tell(self, *, at_end: bool) -> None:
        # From a token that was told already: some tokenizers leave out the space before a first word.
        before = self._decoded(self._tokens[self._from : self._told])
        text = self._decoded(self._tokens[self._from :])
        if len(text) > len(before) and (at_end or not text.endswith("\ufffd")):
            self._piece(text[len(before) :])
            self._from, self._told = self._told, len(self._tokens)

    def _decoded(self, tokens: list[int]) -> str:
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True))


def _stop(torch: Any, cancelled: Callable[[], bool]) -> Any:
    from transformers import StoppingCriteria

    class Stop(StoppingCriteria):  # type: ignore[misc]
        def __call__(self, ids: Any, _scores: Any, **_: Any) -> Any:
            return torch.full((ids.shape[0],), cancelled(), dtype=torch.bool, device=ids.device)

    return Stop()
