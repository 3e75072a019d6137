"""Make a memory again from the evidence of another: binding, votes, names and sentences by today's code, in seconds, without any model.

    python -m tests.identity.replay BASE.m3desk NEW.m3desk

Pictures and sounds are not copied; the new memory's `media` points to those of the base, which must stay where it is.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from m3desk.domain.clip import Clip, Source
from m3desk.domain.evidence import Perceived
from m3desk.memorization.compose import ComposedWriter
from m3desk.pipeline import RECENT
from m3desk.ports import ClipView, MemoryWriter
from m3desk.store.memory import Memory


def evidence(base: Path, sources: Iterable[str] | None = None) -> list[tuple[Source, Clip, Perceived, dict[str, str], str]]:
    """Return what each clip of a memory was committed with, in order of commit: source, clip, evidence, models, date."""
    found = []
    wanted = None if sources is None else set(sources)
    with Memory.open(base) as memory, memory.snapshot() as db:
        by_id = {s.id: s for s in memory.sources()}
        for row in db.execute("SELECT * FROM commits WHERE kind = 'clip-episodic' ORDER BY sequence"):
            perceived = memory.perceived(row["clip"]) if wanted is None or row["clip"].split(".")[0] in wanted else None
            if perceived is not None:
                clip = memory.clip(row["clip"])
                found.append((by_id[clip.source], clip, perceived, json.loads(row["models"]), row["at"]))
    return found


def replay(
    base: Path,
    new: Path,
    *,
    writer: MemoryWriter | None = None,
    change: Callable[[Perceived], Perceived] = lambda p: p,
    sources: Iterable[str] | None = None,
    media: bool = True,
) -> None:
    """Make `new` (replaced if it is there) by committing every clip of `base` again with the binding, votes and writer of now.

    `writer`: ComposedWriter unless given. `change`: edits a clip's evidence first (other clusters, other vectors). `sources`: only these,
    which keep their ids' order but are numbered from s1 again, so give all or the first ones. No semantic memories, no text vectors.
    """
    writer = writer or ComposedWriter()
    if new.exists():
        shutil.rmtree(new)
    clips = evidence(base, sources)
    with Memory.create(new) as memory:
        if media and (base / "media").is_dir():
            shutil.rmtree(new / "media", ignore_errors=True)
            (new / "media").symlink_to((base / "media").resolve(), target_is_directory=True)
        for source in dict.fromkeys(s for s, *_ in clips):
            added = memory.add_source(source)
            if added.id != source.id:
                raise ValueError(f"{source.id} of {base} became {added.id}")
            memory.plan_clips(source.id, [_queued(c) for s, c, *_ in clips if s.id == source.id])
        earlier: dict[str, Perceived] = {}
        for source, clip, seen, models, at in clips:
            perceived = change(seen)
            earlier[clip.id] = perceived
            view = ClipView(
                clip=clip,
                source=source,
                perceived=perceived,
                clusters=memory.match(perceived, models),
                recent=memory.recent(clip, RECENT),
                previous=earlier.get(f"{clip.source}.c{clip.index - 1}"),
                language=None,
                media=None,
            )
            draft = writer.write(view, lambda: False)
            memory.commit_episodic(clip, perceived, draft, models=models, at=at)


def _queued(clip: Clip) -> Clip:
    return Clip(clip.id, clip.source, clip.index, clip.start, clip.end)


if __name__ == "__main__":
    began = time.monotonic()
    replay(Path(sys.argv[1]), Path(sys.argv[2]))
    with Memory.open(Path(sys.argv[2])) as made:
        people = made.people()
        print(f"{len(made.clips())} clips, {len(people)} people, {time.monotonic() - began:.1f} s")
