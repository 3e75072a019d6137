"""Has other writers write clips again: their sentences are kept beside those in force until the user chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from m3desk import memory_writer
from m3desk.children.at_once import at_once, in_order
from m3desk.domain.clip import Clip, Source
from m3desk.domain.memory import Draft
from m3desk.errors import ModelFailed, UsageError
from m3desk.media.file import is_there
from m3desk.memorization.compose import ComposedWriter
from m3desk.pipeline import RECENT
from m3desk.ports import ClipMedia, ClipView, MemoryWriter
from m3desk.store.memory import Memory
from m3desk.store.records import Records
from m3desk.work import Work

T = TypeVar("T")


class RewritableMemory(Protocol):
    """The part of `App` that rewriting needs."""

    work: Work
    backends: Any
    settings: Any

    def reader(self) -> Records: ...
    def write(self, change: Callable[[Memory], T]) -> T: ...


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What came of it: the clips that have a version now, why others have none, and how many at most were asked about at the same time."""

    clips: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    at_once: int = 1


def rewrite(
    memory: RewritableMemory,
    clips: Sequence[str],
    writer: str,
    language: str | None = None,
    stop: Callable[[], bool] = lambda: False,
    told: Callable[[str, int, int], None] = lambda _clip, _done, _all: None,
) -> Rewritten:
    """Have clips written again; those with a version of the same writer too. What is in force does not change.

    A writer that can is asked about several clips at the same time: what it is given comes from what is stored alone. Versions are stored
    in the order of `clips`, one that fails fails alone.
    `told(clip, number, all)`: called before each clip is begun; `number`: of those begun before it. Raises UsageError,
    Cancelled (what was written is kept), or what went wrong with a source's file or with opening the model; a clip that the model can't
    write is among the failed.
    """
    memory_writer.check(writer, memory.backends)
    opened: MemoryWriter = ComposedWriter() if writer == memory_writer.RULES else memory_writer.opened(writer, memory.backends)
    checked: set[str] = set()
    done: list[str] = []
    failed: dict[str, str] = {}

    def begun() -> Iterator[_Given]:
        for number, id_ in enumerate(clips):
            told(id_, number, len(clips))
            yield _given(memory, id_, opened, language, checked)

    def written(given: _Given, stopped: Callable[[], bool]) -> Draft:
        media = given.decode(given.view.clip) if given.decode is not None else None
        draft = opened.write(replace(given.view, media=media), lambda: stopped() or stop())
        return replace(draft, model=draft.model or opened.name)

    widest = 1

    def most() -> int:
        nonlocal widest
        now = at_once(opened)
        widest = max(widest, min(now, len(clips)))
        return now

    with closing(in_order(begun(), written, most)) as answers:
        for given, answer in answers:
            clip = given.view.clip
            try:
                draft = answer.result()
            except ModelFailed as error:
                failed[clip.id] = error.line()
                continue
            if memory.write(partial(_offered, clip, draft, given.forgettings)):
                done.append(clip.id)
            else:
                failed[clip.id] = "something was forgotten meanwhile; write it again."
    return Rewritten(tuple(done), failed, widest)


@dataclass(frozen=True, slots=True)
class _Given:
    """What a writer is given about a clip; nothing of it depends on what is written again of other clips."""

    view: ClipView
    forgettings: int
    decode: Callable[[Clip], ClipMedia] | None


def _given(memory: RewritableMemory, id_: str, writer: MemoryWriter, language: str | None, checked: set[str]) -> _Given:
    with memory.reader() as reader:
        forgettings = reader.forgettings()
        clip, source = reader.clip(id_), reader.source(reader.clip(id_).source)
        known = reader.rewritable(clip, RECENT)
    watches = not isinstance(writer, ComposedWriter)
    if watches and source.id not in checked:
        if not is_there(source.uri):
            raise UsageError(
                f"{source.uri} is not there: a model can't watch it.", f"Say where it is: m3desk sources relink {source.id} FILE."
            )
        memory.work.check_file(source)
        checked.add(source.id)
    view = ClipView(
        clip=clip,
        source=source,
        perceived=known.grouped,
        clusters=known.clusters,
        recent=known.recent,
        previous=known.previous,
        language=language or memory.settings.memory_language,
    )
    return _Given(view, forgettings, memory.work.decoder(source) if watches else None)


def _offered(clip: Clip, draft: Draft, forgettings: int, memory: Memory) -> bool:
    return memory.offer(clip, draft, forgettings=forgettings)


def chosen(ranges: str | None, sources: Sequence[Source], clips: Iterable[Clip]) -> list[str]:
    """Return the memorized clips that words such as `3`, `0-5`, `s1.c3`, `s2` or `s1.c0-s1.c4,s2` name; all for None. Raises UsageError."""
    there = [c for c in clips if c.state in ("episodic", "done")]
    if not ranges:
        return [c.id for c in there]
    found: dict[str, None] = {}
    for word in ranges.split(","):
        first, dash, last = (part.strip() for part in word.partition("-"))
        one = [c.id for c in there if _named(c, first, sources)]
        if dash and len(sources) == 1 and last.isdecimal() and (until := [c for c in there if c.index <= int(last)]):
            last = str(max(c.index for c in until))  # 0-5 of a shorter film: as far as it goes
        other = [c.id for c in there if _named(c, last, sources)] if dash else one
        if not one or not other:
            raise UsageError(
                f"“{word.strip()[:40]}” names no memorized clip.", "Write 3, 0-5, s1.c3, s1.c0-s1.c5 or s1; see: m3desk sources."
            )
        ids = [c.id for c in there]
        span = ids[ids.index(one[0]) : ids.index(other[-1]) + 1] or ids[ids.index(other[0]) : ids.index(one[-1]) + 1]
        found |= dict.fromkeys(span)
    return list(found)


def _named(clip: Clip, word: str, sources: Sequence[Source]) -> bool:
    return word in (clip.id, clip.source) or (len(sources) == 1 and word == str(clip.index))


__all__ = ["Rewritten", "chosen", "rewrite"]
