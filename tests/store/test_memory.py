"""A memory on disk: clips are whole or absent, one writer at a time, readers see snapshots."""

from __future__ import annotations

import errno
import multiprocessing
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from m3desk.domain.clip import Clip
from m3desk.domain.memory import Decision, Draft, Sentence, Span
from m3desk.errors import MemoryBusy, MemoryDamaged, MemoryMissing, MemoryProblem, MemoryTooNew, ModelFailed, UsageError
from m3desk.store import place, schema
from m3desk.store.forgetting.scrubbing import Traces
from m3desk.store.memory import Memory
from tests.store.invented import AT, MODELS, clips, remember, seen, source, text_vectors


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.create(tmp_path / "m.m3desk") as made:
        kept = made.add_source(source())
        made.plan_clips(kept.id, clips(kept.id), fps=5.0)
        yield made


def test_a_face_that_returns_is_the_same_person_and_a_stranger_is_not(memory: Memory) -> None:
    for clip, people in zip(memory.next_clips("s1"), [(1, 2), (1, 3), (2,)], strict=True):
        remember(memory, clip, people)
    assert [(p.id, p.clips) for p in memory.people()] == [
        ("person_1", ("s1.c0", "s1.c1")), ("person_2", ("s1.c0", "s1.c2")), ("person_5", ("s1.c1",)),
    ]  # fmt: skip
    assert [s.shown for s in memory.memories(clip="s1.c2")] == ["Person 2 appears", "Person 2 says: “We drink <person_9> tea.”"]


def test_two_faces_of_one_frame_are_two_people_however_similar(memory: Memory) -> None:
    remember(memory, memory.next_clips("s1")[0], (1,))
    remember(memory, memory.next_clips("s1")[0], (1, 1))
    rows = memory.tracks("s1", 30_000_000)
    assert len({r.person for r in rows}) == 2 and "person_1" in {r.person for r in rows}


def test_words_that_look_like_tags_refer_to_nobody(memory: Memory) -> None:
    remember(memory, memory.next_clips("s1")[0], (1,))
    said = memory.memories()[1]
    assert said.people == ("person_1",) and said.tagged.startswith("<person_1> says") and "<person_9> tea" in said.shown


def test_a_clip_that_fails_halfway_leaves_no_trace(memory: Memory) -> None:
    clip = memory.next_clips("s1")[0]
    before = memory.version()
    perceived, draft = seen(clip, (1,))
    bad = replace(draft, sentences=(*draft.sentences, Sentence("someone", "episodic", 0, 1, (Span(0, 99, ("s1.c0.f0",)),))))
    with pytest.raises(ModelFailed):
        memory.commit_episodic(clip, perceived, bad, models=MODELS, at=AT)
    assert memory.version() == before and memory.people() == [] and memory.memories() == [] and memory.tracks("s1") == []
    assert memory.clip("s1.c0").state == "queued" and memory.integrity() == []
    remember(memory, clip, (1,))
    assert memory.people()[0].id == "person_1"


def test_committing_a_clip_twice_changes_nothing(memory: Memory) -> None:
    clip = memory.next_clips("s1")[0]
    first = remember(memory, clip, (1,))
    version = memory.version()
    assert remember(memory, clip, (1, 2)) == first and memory.version() == version


def test_evidence_comes_back_as_it_was_perceived(memory: Memory) -> None:
    clip = memory.next_clips("s1")[0]
    perceived, _ = seen(clip, (1, 2))
    remember(memory, clip, (1, 2))
    back = memory.perceived(clip.id)
    assert back is not None
    assert (back.faces, back.utterances, back.objects, back.texts) == (
        perceived.faces,
        perceived.utterances,
        perceived.objects,
        perceived.texts,
    )
    assert (back.cannot_link, back.cuts, back.scene, back.thumbnail) == (
        perceived.cannot_link,
        perceived.cuts,
        perceived.scene,
        perceived.thumbnail,
    )
    assert all(np.array_equal(back.vectors[o], perceived.vectors[o]) for o in perceived.vectors)
    assert memory.media(perceived.faces[0].crops[0]) == perceived.media[perceived.faces[0].crops[0]]
    assert memory.perceived("s1.c1") is None and memory.heard_until("s1.c1") == 12_000_000 and memory.heard_until("s1.c0") is None


def test_knowledge_by_rule_is_stored_once_a_clip_and_leaves_the_models_part_open(memory: Memory) -> None:
    for clip in memory.next_clips("s1"):
        remember(memory, clip, (1,))
    waiting = memory.to_rule()
    assert [c.id for c in waiting] == [c.id for c in memory.to_conclude()]
    first = waiting[0]
    told = Sentence("someone is a nurse", "semantic", first.start, first.end, (Span(0, 7, (f"{first.id}.f0",)),), topic="attribute")
    done = memory.commit_semantic(first, Draft((told,), model="ruled-1"), [Decision("add")], ruled=True, at=AT)
    assert done.state == "episodic" and [memory.sentence(i).text for i in done.sentences] == ["someone is a nurse"]
    assert memory.clip(first.id).state == "episodic" and first.id in [c.id for c in memory.to_conclude()]
    assert [c.id for c in memory.to_rule()] == [c.id for c in waiting[1:]]
    memory.commit_semantic(first, Draft(), (), at=AT)
    assert memory.clip(first.id).state == "done" and len(memory.memories(kind="semantic")) == 1


def test_knowledge_is_added_reinforced_and_contradicted(memory: Memory) -> None:
    for clip, people in zip(memory.next_clips("s1"), [(1,), (1,), (1,)], strict=True):
        remember(memory, clip, people)

    def conclude(clip: Clip, text: str, kind: str, target: str | None = None) -> tuple[str, ...]:
        told = Sentence(
            text,
            "semantic",
            clip.start,
            clip.end,
            (Span(0, 7, (f"{clip.id}.f0",)),),
            (f"{clip.id}.u0",),
            topic="habit",
            rests_on=("episodic_3",),
        )
        draft = Draft((told,), model="qwen 1")
        return memory.commit_semantic(
            clip,
            draft,
            [Decision(kind, target)],
            text_vectors=text_vectors(draft),
            text_model="e5 1",
            at=AT,  # type: ignore[arg-type]
        ).sentences

    first, second, third = memory.to_conclude()
    (tea,) = conclude(first, "someone likes tea", "add")
    assert [s.id for s, _ in memory.candidates(Sentence("someone likes tea", "semantic", 0, 1, (Span(0, 7, ("s1.c1.f0",)),)), "s1")] == [
        tea
    ]
    assert memory.candidates(Sentence("tea is green", "semantic", 0, 1), "s1") == []
    assert conclude(second, "someone likes tea", "reinforce", tea) == (tea,)
    assert (memory.sentence(tea).weight, memory.node(tea).extra["clips"]) == (2.0, ["s1.c0", "s1.c1"])
    coffee, old = conclude(third, "someone hates tea", "contradict", tea)
    assert old == tea and memory.sentence(tea).weight == 1.0 and memory.sentence(tea).valid_until == "s1.c2"
    kinds = {(e.a, e.b, e.kind) for e in memory.graph().edges}
    assert (coffee, tea, "contradicts") in kinds and (tea, "episodic_3", "derived_from") in kinds
    assert memory.to_conclude() == [] and {c.state for c in memory.clips()} == {"done"}


def test_an_earlier_state_shows_only_what_was_known(memory: Memory) -> None:
    for clip, people in zip(memory.next_clips("s1"), [(1,), (1, 2), (3,)], strict=True):
        remember(memory, clip, people)
    with Memory.open(memory.path, before=("s1", 0)) as early:
        assert [p.id for p in early.people()] == ["person_1"] and early.people()[0].clips == ("s1.c0",)
        assert {s.clip for s in early.memories()} == {"s1.c0"} and len(early.tracks("s1")) == 1 and len(early.clips()) == 1
    with Memory.open(memory.path, before=("s1", -1)) as nothing:
        assert nothing.people() == [] and nothing.memories() == [] and nothing.graph().nodes == ()
    assert {s.clip for s in memory.memories(before=("s1", 1))} == {"s1.c0", "s1.c1"}


def test_there_is_one_writer_and_any_number_of_readers(memory: Memory) -> None:
    with pytest.raises(MemoryBusy):
        Memory.open(memory.path, write=True)
    with Memory.open(memory.path) as one, Memory.open(memory.path) as two:
        remember(memory, memory.next_clips("s1")[0], (1,))
        assert one.version() == two.version() == memory.version() and len(one.people()) == 1
        with pytest.raises(UsageError):
            one.add_chat({})


@pytest.mark.parametrize("first_writes", [True, False])
def test_two_who_open_a_memory_of_an_older_format_at_once_wait_for_its_upgrade(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, first_writes: bool
) -> None:
    memory.close()
    db = sqlite3.connect(Path(memory.path) / "memory.sqlite")
    db.executescript(f"DROP INDEX draft_clip; PRAGMA user_version = {schema.VERSION - 1};")
    db.close()
    upgrading, migrate = threading.Event(), schema.migrate

    def slowly(*given: Any) -> None:
        upgrading.set()
        time.sleep(0.5)
        migrate(*given)
        time.sleep(0.3)  # upgraded, and the lock is still held

    monkeypatch.setattr(schema, "migrate", slowly)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(Memory.open, memory.path, write=first_writes)
        assert upgrading.wait(30)
        second = Memory.open(memory.path, write=not first_writes)
        for one in (second, first.result(30)):
            assert one.sources()
            one.close()


def test_a_reader_keeps_its_snapshot_while_a_clip_is_committed(memory: Memory) -> None:
    with Memory.open(memory.path) as reader, reader.snapshot():
        before = reader.version()
        remember(memory, memory.next_clips("s1")[0], (1,))
        assert reader.version() == before and reader.people() == []


def test_what_is_no_memory_is_refused_clearly(tmp_path: Path) -> None:
    with pytest.raises(MemoryMissing):
        Memory.open(tmp_path / "none.m3desk")
    Memory.create(tmp_path / "new.m3desk").close()
    db = sqlite3.connect(tmp_path / "new.m3desk" / "memory.sqlite")
    db.execute("PRAGMA user_version = 99")
    db.close()
    for write in (False, True):
        with pytest.raises(MemoryTooNew):
            Memory.open(tmp_path / "new.m3desk", write=write)
    (tmp_path / "bad.m3desk").mkdir()
    (tmp_path / "bad.m3desk" / "memory.sqlite").write_bytes(b"this is no database, however long it may be" * 50)
    for write in (False, True):
        with pytest.raises(MemoryDamaged):
            Memory.open(tmp_path / "bad.m3desk", write=write)


def _write_until_killed(path: str) -> None:
    with Memory.open_or_create(path) as memory:
        kept = memory.add_source(source(seconds=3000))
        memory.plan_clips(kept.id, clips(kept.id, 100), fps=5.0)
        for clip in memory.next_clips(kept.id):
            remember(memory, clip, (clip.index % 4, (clip.index + 1) % 4))


@pytest.mark.slow
def test_a_killed_writer_leaves_whole_clips_and_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "m.m3desk"
    for target in (2, 5, 9):
        child = multiprocessing.get_context("spawn").Process(target=_write_until_killed, args=(str(path),))
        child.start()
        while child.is_alive() and _committed(path) < target:
            time.sleep(0.01)
        assert child.is_alive()
        child.kill()
        child.join()
        assert child.exitcode == -signal.SIGKILL, "it had ended before"
        with Memory.open_or_create(path) as memory:
            assert memory.integrity() == [] and _committed(path) >= target
            for clip in memory.clips():
                assert (memory.perceived(clip.id) is not None) == (clip.state == "episodic") == bool(memory.memories(clip=clip.id))


def _committed(path: Path) -> int:
    try:
        with Memory.open(path) as reader:
            return sum(c.state == "episodic" for c in reader.clips())
    except (MemoryMissing, MemoryDamaged, MemoryBusy):  # the file is being made
        return 0


def test_the_same_content_is_one_source_and_a_moved_file_is_found_again(memory: Memory) -> None:
    again = memory.add_source(replace(source(), uri="/elsewhere/a.mp4"))
    assert again.id == "s1" and again.uri == "/elsewhere/a.mp4" and len(memory.sources()) == 1
    other = memory.add_source(source("b"))
    assert other.id == "s2"
    remember(memory, memory.next_clips("s1")[0], (1,))
    with pytest.raises(UsageError):
        memory.plan_clips("s1", [Clip("s1.c0", "s1", 0, 0, 5_000_000)])


def test_removing_a_source_says_first_what_goes_and_keeps_the_rest(memory: Memory) -> None:
    other = memory.add_source(source("b"))
    memory.plan_clips(other.id, clips(other.id, 1), fps=5.0)
    remember(memory, memory.next_clips("s1")[0], (1,))
    remember(memory, memory.next_clips("s2")[0], (1, 2))
    version = memory.version()
    effect = memory.remove_source("s1", dry_run=True)
    assert memory.version() == version and "1 clips" not in effect.text and len(effect.observations) == 2 and effect.people == ()
    memory.remove_source("s1")
    assert [s.id for s in memory.sources()] == ["s2"] and {p.clips for p in memory.people()} == {("s2.c0",)}
    assert len(memory.people()) == 2 and memory.integrity() == []
    memory.remove_source("s2")
    assert memory.people() == [] and memory.graph().nodes == () and memory.integrity() == []


def conclude(memory: Memory, clip: Clip, text: str, kind: str = "add", target: str | None = None) -> str:
    """Commit one semantic sentence about whoever shows a face first in a clip; return the node that it added or touched."""
    told = Sentence(text, "semantic", clip.start, clip.end, (Span(0, 7, (f"{clip.id}.f0",)),), (f"{clip.id}.u0",), topic="habit")
    draft = Draft((told,), model="qwen 1")
    decided = [Decision(kind, target)]  # type: ignore[arg-type]
    return memory.commit_semantic(clip, draft, decided, text_vectors=text_vectors(draft), text_model="e5 1", at=AT).sentences[0]


def test_knowledge_that_another_source_supports_outlives_the_source_that_told_it_first(memory: Memory) -> None:
    other = memory.add_source(source("b"))
    memory.plan_clips(other.id, clips(other.id, 1), fps=5.0)
    first, second, last = memory.clip("s1.c0"), memory.clip("s1.c1"), memory.clip("s2.c0")
    for clip, people in ((first, (1,)), (second, (1,)), (last, (2, 1))):
        remember(memory, clip, people)
    tea, milk = conclude(memory, first, "someone likes tea"), conclude(memory, second, "someone likes milk")
    conclude(memory, last, "someone likes tea", "reinforce", tea)
    assert milk in memory.remove_source("s1", dry_run=True).memories and tea not in memory.remove_source("s1", dry_run=True).memories
    memory.remove_source("s1")
    kept = memory.sentence(tea)
    assert (kept.source, kept.clip, kept.weight, kept.shown) == ("s2", "s2.c0", 1.0, "Person 1 likes tea")
    assert kept.citations == ("s2.c0.u0", "s2.c0.f1") and kept.spans[0].observations == ("s2.c0.f1",) and kept.start < kept.end
    assert [s.id for s in memory.memories(kind="semantic")] == [tea] and memory.integrity() == []
    memory.remove_source("s2")
    assert memory.memories() == [] and memory.integrity() == []


def test_a_full_disk_is_called_a_full_disk_and_loses_nothing(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(memory, memory.next_clips("s1")[0], (1,))
    pages = memory._db.execute("PRAGMA page_count").fetchone()[0]
    memory._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(MemoryProblem, match="is full") as full:
        for n in range(2000):
            memory.add_chat({"question": "why? " * 200, "n": n})
    assert not isinstance(full.value, MemoryDamaged) and "Nothing is lost" in full.value.hint
    memory._db.execute("PRAGMA max_page_count = 1000000")

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("m3desk.store.files.os.fsync", no_room)
        with pytest.raises(MemoryProblem, match="is full"):
            remember(memory, memory.next_clips("s1")[0], (2,))
    assert memory.integrity() == [] and memory.clip("s1.c1").state == "queued"
    remember(memory, memory.next_clips("s1")[0], (2,))
    assert memory.clip("s1.c1").state == "episodic" and len(memory.people()) == 2


def test_a_locked_memory_is_busy_and_never_read_as_one_that_stands_still(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("m3desk.store.opening.WAIT", 0.05)
    path = memory.path
    memory.close()
    db = sqlite3.connect(Path(path) / "memory.sqlite", isolation_level=None)
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("BEGIN EXCLUSIVE")
    try:
        for write in (False, True):
            with pytest.raises(MemoryBusy):
                Memory.open(path, write=write).people()
    finally:
        db.close()


def test_a_settings_list_holds_settings_alone(memory: Memory) -> None:
    memory.set_setting("clip_seconds", "30.0")
    memory.remove_source("s1")
    assert memory.settings() == {"clip_seconds": "30.0"}


def test_a_new_sentence_is_compared_with_those_about_the_same_people_and_things(memory: Memory) -> None:
    for clip, people in zip(memory.next_clips("s1"), [(1,), (2,), (1, 2)], strict=True):
        remember(memory, clip, people)
    told = [conclude(memory, memory.clip(f"s1.c{i}"), f"someone likes {what}") for i, what in enumerate(("tea", "milk"))]
    both = (Span(0, 7, ("s1.c2.f0",)), Span(12, 19, ("s1.c2.f1",)))
    draft = Draft((Sentence("someone and someone share a cup", "semantic", 0, 1, both, entities=("cup",)),), model="qwen 1")
    memory.commit_semantic(memory.clip("s1.c2"), draft, [Decision("add")], text_vectors=text_vectors(draft), text_model="e5 1", at=AT)

    def found(*spans: Span, things: tuple[str, ...] = ()) -> list[str]:
        return [s.text for s, _ in memory.candidates(Sentence("x" * 20, "semantic", 0, 1, spans, entities=things), "s1")]

    assert found(both[0]) == ["someone likes tea"] and found(both[1]) == ["someone likes milk"] and len(told) == 2
    assert found(*both) == [] and found(*both, things=("cup",)) == [draft.sentences[0].text]
    assert found(both[0], things=("cup",)) == [] and found() == []


def test_speech_too_short_to_tell_a_voice_by_is_nobodys(memory: Memory) -> None:
    clip = memory.next_clips("s1")[0]
    perceived, draft = seen(clip, (1,))
    short = replace(perceived.utterances[0], end=perceived.utterances[0].start + 400_000, embeddable=False)
    told = tuple(s for s in draft.sentences if s.event == "says")
    heard = replace(perceived, utterances=(short,), faces=(), cannot_link=frozenset())
    says = Draft((replace(told[0], spans=(Span(0, 7, (short.id,)),)),), model="r")
    memory.commit_episodic(clip, heard, says, models=MODELS, at=AT)
    assert memory.speech("s1")[0].person is None and memory.people() == []
    assert memory.memories()[0].shown.startswith("Someone says") and memory.integrity() == []


def test_vectors_follow_the_text_in_force(memory: Memory) -> None:
    remember(memory, memory.next_clips("s1")[0], (1,))
    ids, rows = memory.vectors("text")
    assert ids == [s.id for s in sorted(memory.memories(), key=lambda s: int(s.id.split("_")[1]))] and rows.shape == (2, 16)
    memory.correct("edit", {"memory": ids[0], "text": "Person 1 walks in"})
    assert memory.lacking_vectors("e5 1") == [(ids[0], "someone walks in")] and memory.vectors("text")[0] == ids[1:]
    memory.store_vectors("text", "e5 1", [ids[0]], np.ones((1, 16), np.float32))
    assert memory.lacking_vectors("e5 1") == [] and memory.vectors("text")[1][0, 0] == 1.0
    memory.undo()
    assert np.array_equal(memory.vectors("text")[1], rows)


def test_check_finds_and_mends_a_table_that_is_not_what_the_log_says(memory: Memory) -> None:
    remember(memory, memory.next_clips("s1")[0], (1,))
    with memory.writing(folds=False) as db:
        db.execute("UPDATE now_node SET shown = 'Nobody appears' WHERE id = 'episodic_3'")
    memory.forget_fold()
    assert len(memory.integrity()) == 1
    (memory.folder / "media" / "zz").mkdir()
    (memory.folder / "media" / "zz" / "zzz.jpg").write_bytes(b"left by a clip that was interrupted")
    memory.repair()
    assert memory.integrity() == [] and not (memory.folder / "media" / "zz" / "zzz.jpg").exists()


@pytest.mark.parametrize("look", ["open", "examine", "prove"])
def test_looking_at_a_memory_keeps_its_writers_locks(memory: Memory, look: str) -> None:
    if look == "open":
        Memory.open(memory.folder).close()
    elif look == "examine":
        assert place.examine(memory.folder) is None
    else:
        memory.prove_forgotten(Traces())
    elsewhere = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('SELECT count(*) FROM meta').fetchall(); db.close()"
    subprocess.run([sys.executable, "-c", elsewhere, str(memory.folder / "memory.sqlite")], check=True)
    memory.set_setting("committed", "later")
    read = f"import sqlite3; db = sqlite3.connect({str(memory.folder / 'memory.sqlite')!r}); print(*db.execute('SELECT key FROM meta'))"
    assert "committed" in subprocess.run([sys.executable, "-c", read], check=True, capture_output=True, text=True).stdout
