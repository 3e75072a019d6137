"""Enrolled people are recognised in later clips; their samples are no video source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from m3desk.domain.clip import Source
from m3desk.domain.editing import Lesson, Sample
from m3desk.domain.evidence import media_id
from m3desk.errors import CorrectionError, UsageError
from m3desk.interop import exports, imports
from m3desk.store.memory import Memory
from tests.store.invented import MODELS, S, clips, direction, remember, source


def photo(who: int, name: str = "a") -> Lesson:
    """Return what a photo of an invented person teaches."""
    crop = f"photo of {who} {name}".encode()
    sample = Sample(MODELS["face_vectors"], direction(who, 0.2, who + 77, 128, 1)[:1], (media_id(crop, ".jpg"),), (((1.0, 2.0),) * 5,), 0.9,
                    media={media_id(crop, ".jpg"): crop})  # fmt: skip
    file = Source("", f"/photos/{who}{name}.jpg", None, 640, 480, None, False, (name * 64)[:63] + str(who), None, 1000)
    return Lesson(file, sample, face=(100.0, 100.0, 80.0, 90.0))


def recording(who: int) -> Lesson:
    sound = f"voice of {who}".encode()
    sample = Sample(MODELS["voice_vectors"], direction(who, 0.2, who + 78, 192, 2), audio=media_id(sound, ".flac"),
                    media={media_id(sound, ".flac"): sound})  # fmt: skip
    return Lesson(Source("", f"/voices/{who}.wav", 9 * S, None, None, None, True, "v" * 63 + str(who), None, 1000), sample, duration=9 * S)


@pytest.fixture
def memory(tmp_path: Path):
    """An empty memory with a source whose clips wait."""
    with Memory.create(tmp_path / "m.m3desk") as made:
        yield made


def planned(memory: Memory) -> Memory:
    memory.plan_clips(memory.add_source(source()).id, clips(memory.sources()[0].id), fps=5.0)
    return memory


def test_somebody_taught_in_an_empty_memory_is_whom_later_clips_show(memory: Memory) -> None:
    would = memory.correct("enroll", {"name": "Ann"}, lessons=[photo(1), recording(1)], dry_run=True)
    assert "somebody new" in would.text and memory.everybody() == [] and not memory.can_undo()
    memory.correct("enroll", {"name": "Ann"}, lessons=[photo(1), recording(1)])
    memory.correct("enroll", {"name": "Bob"}, lessons=[photo(2)])
    ann = memory.person("Ann")
    assert (ann.name_state, ann.clips, ann.screen_time, ann.first_seen) == ("confirmed", (), 0, None) and ann.portrait
    assert [e.uri for e in memory.enrolments()] == ["/photos/1a.jpg", "/voices/1.wav", "/photos/2a.jpg"]
    assert memory.sources() == [] and memory.clips() == [] and memory.integrity() == []
    planned(memory)
    for clip in memory.next_clips(memory.sources()[0].id)[:2]:
        remember(memory, clip, (1, 2))
    assert {r.shown for r in memory.tracks(memory.sources()[0].id)} == {"Ann", "Bob"}
    assert {r.shown for r in memory.speech(memory.sources()[0].id)} == {"Ann", "Bob"}
    assert len([p for p in memory.people() if p.clips]) == 2 and {c.state for c in memory.constraints()} == {"kept"}
    with Memory.open(memory.folder, before=(memory.sources()[0].id, -1)) as reader:
        assert {p.name for p in reader.everybody()} == {"Ann", "Bob"}  # today's corrections stay


def test_somebody_who_is_known_and_has_no_name_is_who_is_taught(memory: Memory) -> None:
    planned(memory)
    for clip in memory.next_clips("s1")[:2]:
        remember(memory, clip, (1, 2))
    before = {k: v for k, v in exports.export_json(memory).items() if k not in ("log", "journal")}
    effect = memory.correct("enroll", {"name": "Bob"}, lessons=[photo(2)])
    assert "who is Person 2" in effect.text and memory.person("Bob").id == "person_2" and effect.memories
    assert memory.tracks("s1")[1].shown == "Bob"
    memory.undo()
    assert {k: v for k, v in exports.export_json(memory).items() if k not in ("log", "journal")} == before
    memory.redo()
    assert memory.person("Bob").id == "person_2" and memory.integrity() == []


def test_the_person_with_the_name_is_enrolled_and_similarity_to_another_named_person_is_reported(memory: Memory) -> None:
    planned(memory)
    remember(memory, memory.next_clips("s1")[0], (1, 2))
    memory.correct("name", {"person": "person_1", "name": "Ann"})
    effect = memory.correct("enroll", {"name": "Zoe"}, lessons=[photo(1)])
    assert "somebody new" in effect.text and "is like Ann" in effect.text and memory.person("person_1").name == "Ann"
    memory.undo()
    effect = memory.correct("enroll", {"name": "ann"}, lessons=[photo(2)])
    assert "who is Ann" in effect.text and "is like Person 2" in effect.text


def test_what_cannot_be_taught_is_refused(memory: Memory) -> None:
    memory.correct("enroll", {"name": "Ann"}, lessons=[photo(1)])
    log = memory.raw_log()
    for name, lessons in (("Ann", [photo(1)]), ("Bob", []), ("", [photo(2)]), (None, [photo(2)]), ("person_7", [photo(2)])):
        with pytest.raises(CorrectionError):
            memory.correct("enroll", {"name": name}, lessons=lessons)
    with pytest.raises(CorrectionError, match="taught from"):
        memory.correct("split-at", {"observation": "s1.c0.f_1a", "at": 100_000})
    with pytest.raises(UsageError, match="taught from"):
        memory.remove_source("s1")
    assert memory.raw_log() == log


def test_a_file_that_somebody_is_taught_from_may_be_memorized_too_and_a_re_run_finds_the_person(memory: Memory) -> None:
    lesson = recording(1)
    memory.correct("enroll", {"name": "Ann"}, lessons=[lesson])
    kept = memory.add_source(Source("", lesson.file.uri, 90 * S, 640, 360, 25.0, True, lesson.file.sha256, None, 1000))
    assert kept.id != "s1"
    memory.plan_clips(kept.id, clips(kept.id), fps=5.0)
    remember(memory, memory.next_clips(kept.id)[0], (1,))
    assert memory.speech(kept.id)[0].shown == "Ann"
    memory.remove_source(kept.id)
    again = memory.add_source(Source("", lesson.file.uri, 90 * S, 640, 360, 25.0, True, lesson.file.sha256, None, 1000))
    memory.plan_clips(again.id, clips(again.id), fps=5.0)
    remember(memory, memory.next_clips(again.id)[0], (1,))
    assert memory.speech(again.id)[0].shown == "Ann" and {c.state for c in memory.constraints()} == {"kept"}


def test_an_export_carries_who_was_taught_and_from_what(memory: Memory, tmp_path: Path) -> None:
    planned(memory)
    remember(memory, memory.next_clips("s1")[0], (1, 2))
    memory.correct("enroll", {"name": "Ann"}, lessons=[photo(1), recording(1)])
    memory.correct("enroll", {"name": "Dan"}, lessons=[photo(4)])
    memory.undo()
    path = tmp_path / "out.json"
    exports.export(memory, path, with_media=True)
    document = json.loads(path.read_text())
    assert [e["uri"] for e in document["enrolments"]] == ["/photos/1a.jpg", "/voices/1.wav"]
    assert [s["id"] for s in document["sources"]] == ["s1"] and {t["clip"] for t in document["face_tracks"]} == {"s1.c0"}
    with Memory.create(tmp_path / "again.m3desk") as again:
        imports.write(imports.load(path), again)
        assert exports.same_memory(document, exports.export_json(again)) == [] and again.integrity() == []
        again.redo()
        assert again.person("Dan").name == "Dan" and again.media(again.person("Dan").portrait or "")
