"""Embeds what an open memory has no embeddings of: edited or imported sentences, and faces and voices for another model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from m3desk import events
from m3desk.backends import Backends, available
from m3desk.domain.evidence import Floats
from m3desk.domain.log import ObservationType
from m3desk.errors import UsageError
from m3desk.samples import reembedding
from m3desk.store.memory import now
from m3desk.store.rebinding import Reembedded
from m3desk.store.records import Records
from m3desk.writer import Write

PART = 256
"""Sentences embedded per commit: a large import (20 ms a sentence) that is interrupted continues where it stopped."""


class EmbeddingMemory(Protocol):
    """An open memory with its models."""

    backends: Backends
    emit: Callable[[Any], None]

    @property
    def write(self) -> Write: ...
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
    kind: ObservationType = "face" if port == "face_vectors" else "voice"
    found: dict[str, Floats] = {}
    lacking = memory.write(lambda m: m.lacking_rows(kind, backend.name))
    with memory.reader() as reader:
        for done, observation in enumerate(lacking):
            if (rows := reembedding.rows_of(observation, reader.media, backend)) is not None:
                found[observation.id] = rows
            if done % 20 == 19:
                memory.emit(events.Progress("", observation.clip, "embedding", done + 1, len(lacking), None, None))
    if found:
        memory.write(lambda m: m.store_vectors(kind, backend.name, list(found), list(found.values())))
    return len(found), memory.write(lambda m: m.reembed(kind, backend.name, dry_run=not switch, at=now()))
