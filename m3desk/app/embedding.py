"""Embeds what an open memory has no embeddings of: edited or imported sentences, and faces and voices for another model."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from m3desk.app import long_work
from m3desk.backends import Backends, available
from m3desk.domain.evidence import Floats
from m3desk.domain.log import ObservationType
from m3desk.errors import UsageError
from m3desk.samples import reembedding
from m3desk.store.memory import now
from m3desk.store.rebinding import Reembedded
from m3desk.store.recomputing import Recomputed
from m3desk.store.records import Records
from m3desk.writer import Write

PART = 256
"""Sentences, faces or voices embedded per commit: a large import (20 ms a sentence) that is interrupted continues where it stopped."""


class EmbeddingMemory(Protocol):
    """An open memory with its models."""

    backends: Backends
    emit: Callable[[Any], None]

    @property
    def write(self) -> Write: ...
    def reader(self) -> Records: ...
    def closing(self) -> bool: ...


class OpenMemory(Protocol):
    """An open memory, perhaps for reading only."""

    path: str
    backends: Backends

    def reader(self) -> Records: ...


def lacking_sentences(memory: EmbeddingMemory) -> int:
    """Embed the sentences that have no vector of the active text model (edited or imported ones); return their number.

    If interrupted, what was embedded is kept.
    """
    if memory.backends.problem is not None:  # found by their words until the settings are mended
        return 0
    embedder = memory.backends.get("text_vectors")
    lacking = memory.write(lambda m: m.lacking_vectors(embedder.name)) if embedder else []
    if embedder and lacking:
        of_text: dict[str, list[str]] = {}  # what was said twice is embedded once
        for node, text in lacking:
            of_text.setdefault(text, []).append(node)
        texts = list(of_text)
        for at in range(0, len(texts), PART):
            part = texts[at : at + PART]
            rows = np.repeat(embedder.embed(part), [len(of_text[text]) for text in part], axis=0)
            nodes = [node for text in part for node in of_text[text]]
            memory.write(lambda m, n=nodes, r=rows: m.store_vectors("text", embedder.name, n, r))  # type: ignore[misc]
    return len(lacking)


def reembed(memory: EmbeddingMemory, name: str, *, switch: bool) -> tuple[int, Reembedded]:
    """Embed the stored faces or voices with another model and keep the old vectors; return their number and what would change.

    `name`: as in `models list`. `switch`: use it from now on. Raises ModelMissing, BackendMissing, UsageError.
    """
    port = next((p for p in reembedding.PORTS if name in available(p)), None)
    if port is None:
        known = ", ".join(n for p in reembedding.PORTS for n in available(p))
        raise UsageError(f"there is no face or voice model “{name}”.", f"There are: {known}.")
    backend = memory.backends.named(port, name)
    kind = _kind(port)
    tried: dict[str, bool] = {}  # observation → whether something is stored that could be embedded
    rebind = long_work.going(memory, "rebinding")

    def embed() -> None:
        _embed_stored(memory, kind, backend, tried)

    def bind(reader: Records) -> tuple[Reembedded, Recomputed | None]:
        found, state = reader.rebound(kind, backend.name, now(), rebind)
        new = any(o.id not in tried for o in reader.lacking_rows(kind, backend.name))
        return found, None if new else state

    if switch:
        found = long_work.commit_beside(memory, bind, embed)
    else:
        embed()
        with memory.reader() as reader:
            found, _ = bind(reader)
    return sum(tried.values()), found


def older_models(memory: OpenMemory) -> dict[ObservationType, str]:
    """Return the kinds that the memory recognises with an older model than new memories use → the command that moves it to theirs."""
    with memory.reader() as reader:
        replaced = memory.backends.replacing(reader.settings())
    return {_kind(port): shlex.join(["m3desk", "reembed", by, "-m", memory.path, "--switch"]) for port, by in replaced.items()}


def findings(memory: OpenMemory) -> list[dict[str, Any]]:
    """Return a finding for `m3desk check` (see `interop.doctor`) for each older model."""
    text = "this memory recognises {}s with an older model than new memories use"
    return [
        {"kind": "older model", "people": [], "nodes": [], "text": text.format(kind), "fix": command}
        for kind, command in older_models(memory).items()
    ]


def _kind(port: str) -> ObservationType:
    return "face" if port == "face_vectors" else "voice"


def _embed_stored(memory: EmbeddingMemory, kind: ObservationType, backend: Any, tried: dict[str, bool]) -> None:
    """Embed the stored faces or voices that this model has no embeddings of, but for those in `tried`; if interrupted, most are kept."""
    tell = long_work.going(memory, "embedding")
    with memory.reader() as reader:
        lacking = [o for o in reader.lacking_rows(kind, backend.name) if o.id not in tried]
        for at in range(0, len(lacking), PART):
            part: dict[str, Floats] = {}
            for done, observation in enumerate(lacking[at : at + PART], at):
                tell(done, len(lacking))
                rows = reembedding.rows_of(observation, reader.media, backend)
                tried[observation.id] = rows is not None
                if rows is not None:
                    part[observation.id] = rows
            memory.write(lambda m, part=part: m.store_vectors(kind, backend.name, list(part), list(part.values())))  # type: ignore[misc]
