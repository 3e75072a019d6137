"""A recording is on disk at once, is read like any other file, survives a crash, and forgets what it is told to forget."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from m3desk.domain.clip import Clip
from m3desk.errors import SourceChanged, SourceMissing, SourceUnreadable
from m3desk.media.capture.recording import JOURNAL, Recording, is_recording
from m3desk.media.capture.transport import PACKET, PICTURE_PID, SOUND_PID, ZERO, starts
from m3desk.media.capture.writing import RATE, RecordingWriter
from m3desk.media.cutter import FileClip, plan
from m3desk.media.file import fingerprint, is_there, probe
from m3desk.media.player import Player, PlayerState
from m3desk.media.trial import tried
from m3desk.media.unchanged import HashedFile

from ..conftest import HEIGHT, WIDTH, number_of, tone
from .conftest import ABOUT, feed

Recorded = Callable[..., Path]
SECOND = 1_000_000


def clip_of(folder: Path, start: float, end: float) -> FileClip:
    source = replace(probe(folder), id="s1")
    return FileClip(source, Clip("c", "s1", 0, round(start * SECOND), round(end * SECOND)), str(folder), overrun=0)


def shown(clip: FileClip) -> list[tuple[int, int]]:
    return [(frame.at, number_of(frame.picture)) for frame in clip.frames()]


def test_a_recording_is_a_source_like_a_file(recorded: Recorded) -> None:
    folder = recorded(24)
    source = probe(folder)
    assert (source.width, source.height, source.fps, source.has_audio) == (WIDTH, HEIGHT, 25.0, True)
    assert source.started_at == ABOUT.started_at
    assert source.duration is not None
    assert abs(source.duration - 24 * SECOND) < 60_000
    assert tried(folder) == source
    assert is_there(folder)
    assert [s.name for s in Recording.open(folder).segments()] == ["000001.ts", "000002.ts", "000003.ts"]
    assert [c.end for c in plan(replace(source, id="s1"), 10.0)][:2] == [10 * SECOND, 20 * SECOND]


def test_each_clip_of_a_recording_has_the_pictures_and_the_sound_of_its_time(recorded: Recorded) -> None:
    folder = recorded(24)
    for start, end in ((0.0, 2.0), (9.0, 11.0), (13.4, 15.2), (21.0, 24.0)):
        clip = clip_of(folder, start, end)
        assert all(number == at // 40_000 for at, number in shown(clip))
        assert len(shown(clip)) == round((end - start) * 5)
        heard, wanted = clip.sound(), tone(end - start, 16_000, start)
        assert abs(len(heard) - len(wanted)) < 1000
        both = min(len(heard), len(wanted))
        best = max(range(-400, 401), key=lambda shift: float(np.dot(np.roll(heard[:both], shift), wanted[:both])))
        assert abs(best) <= 2, "sound is where it was recorded, within 0.1 ms"


@pytest.mark.slow
def test_decoding_a_clip_again_gives_the_same_bits_wherever_it_lies(recorded: Recorded) -> None:
    folder = recorded(24)
    one, two = clip_of(folder, 12.2, 14.0), clip_of(folder, 12.2, 14.0)
    assert all(np.array_equal(a.picture, b.picture) for a, b in zip(one.frames(), two.frames(), strict=True))
    assert np.array_equal(one.sound(), two.sound())
    longer = clip_of(folder, 8.0, 14.0)  # decoded from another place
    assert np.array_equal(longer.sound()[-16_000:], one.sound()[-16_000:])


def test_the_concatenated_segments_are_one_valid_stream(recorded: Recorded, tmp_path: Path) -> None:
    folder = recorded(24)
    whole = tmp_path / "whole.ts"
    whole.write_bytes(b"".join((folder / s.name).read_bytes() for s in Recording.open(folder).segments()))
    with av.open(str(whole)) as container:
        assert sum(1 for _ in container.decode(video=0)) == 24 * 25
    with av.open(str(folder / "000002.ts")) as container:  # and each can be read by itself
        assert sum(1 for _ in container.decode(video=0)) >= 10 * 25


def test_the_player_plays_a_recording_and_finds_each_picture(recorded: Recorded) -> None:
    folder = recorded(14)
    found: list[int] = []
    states: list[PlayerState] = []
    player = Player(lambda frame: found.append(number_of(frame.picture)), states.append)
    try:
        player.open(folder)
        for at in (11.0, 3.0, 13.5, 0.0):
            player.seek(round(at * SECOND))
            for _ in range(200):
                if found and found[-1] == int(at * 25):
                    break
                player._thread.join(0.02)
            assert found[-1] == int(at * 25)
        assert player.state.error is None
        assert abs(player.duration - 14 * SECOND) < 60_000
    finally:
        player.close()


def test_what_a_crash_leaves_is_read_to_its_last_packet_and_closed_later(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r1", ABOUT)
    feed(writer, 0, 13)
    writer.abandon()
    last = tmp_path / "r1" / "000002.ts"
    with last.open("ab") as file:
        file.write(b"\x47\x01\x00 cut short")
    with (tmp_path / "r1" / JOURNAL).open("ab") as file:
        file.write(b'{"segments":[{"na')
    recording = Recording.open(tmp_path / "r1")
    assert not recording.ended
    assert recording.end > 12.8 * SECOND
    assert shown(clip_of(tmp_path / "r1", 12.0, 12.8))[-1][1] == 315
    recording.close("2026-11-22T11:00:00+00:00", "the recorder was ended")
    assert recording.ended
    assert last.stat().st_size % PACKET == 0
    assert [s.name for s in Recording.open(tmp_path / "r1").segments()] == ["000001.ts", "000002.ts"]
    assert not Recording.open(tmp_path / "r1").damaged()


def test_a_recording_continues_in_a_new_segment_after_a_gap(tmp_path: Path) -> None:
    first = RecordingWriter(tmp_path / "r1", ABOUT)
    feed(first, 0, 3)
    first.abandon()
    Recording.open(tmp_path / "r1").close("2026-11-22T11:00:00+00:00", "died")
    second = RecordingWriter(tmp_path / "r1", ABOUT)
    feed(second, 8, 10)
    second.close()
    assert [s.name for s in Recording.open(tmp_path / "r1").segments()] == ["000001.ts", "000002.ts"]
    numbers = shown(clip_of(tmp_path / "r1", 0, 10))
    assert [n for at, n in numbers if at >= 8 * SECOND] == [200, 205, 210, 215, 220, 225, 230, 235, 240, 245]
    assert [at for at, _ in numbers if 4 * SECOND < at < 8 * SECOND] == [], "a gap shows nothing"
    heard = clip_of(tmp_path / "r1", 2, 9).sound()
    assert len(heard) == 7 * 16_000
    assert not heard[17_000 : 6 * 16_000 - 1000].any()
    assert heard[6 * 16_000 + 1000 :].any()


@pytest.mark.slow
def test_pictures_that_stop_end_and_the_sound_goes_on(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r1", ABOUT)
    feed(writer, 0, 4)
    feed(writer, 4, 30, pictures=False)
    feed(writer, 30, 34)
    writer.close()
    numbers = shown(clip_of(tmp_path / "r1", 2, 32))
    assert {n for at, n in numbers if at > 5 * SECOND} == {750, 755, 760, 765, 770, 775, 780, 785, 790, 795}
    assert clip_of(tmp_path / "r1", 20, 21).sound().std() > 0.1
    assert len(Recording.open(tmp_path / "r1").segments()) >= 3


def test_a_recording_of_sound_alone_and_one_of_pictures_alone(recorded: Recorded) -> None:
    heard = recorded(12, replace(ABOUT, width=None, height=None, fps=None), "sound")
    assert probe(heard).width is None
    assert len(Recording.open(heard).segments()) == 2
    assert clip_of(heard, 9, 11).sound().std() > 0.1
    seen = recorded(12, replace(ABOUT, rate=None), "pictures")
    assert not probe(seen).has_audio
    assert len(shown(clip_of(seen, 9, 11))) == 10


def test_erasing_a_span_removes_it_from_every_file_and_leaves_the_rest(recorded: Recorded) -> None:
    folder = recorded(34)
    before = fingerprint(folder)
    recording = Recording.open(folder)
    watched = HashedFile(folder)
    total = recording.bytes
    assert recording.erase(8 * SECOND, 25 * SECOND) > 0
    assert sorted(f.name for f in folder.glob("*.ts")) == ["000001-1.ts", "000003-1.ts", "000004.ts"]
    assert recording.bytes < total
    seen = {number for file in folder.glob("*.ts") for number in _numbers_in(file)}
    assert not seen & set(range(200, 625))
    assert set(range(200)) <= seen
    assert set(range(675, 850)) <= seen, "at most 2 s go with it, until the next key frame"
    assert not clip_of(folder, 8.1, 24.9).sound()[800:].any()
    assert shown(clip_of(folder, 28, 30))[0][1] == 700
    assert fingerprint(folder) != before
    with pytest.raises(SourceChanged):
        watched.look()
    assert Recording.open(folder).erased == ((8 * SECOND, 25 * SECOND),)


def _numbers_in(file: Path) -> list[int]:
    with av.open(str(file)) as container:
        return [number_of(frame.to_ndarray(format="bgr24")) for frame in container.decode(video=0)]


def test_an_erasure_that_a_crash_interrupted_is_not_begun_or_complete(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = recorded(24)
    recording = Recording.open(folder)

    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Recording, "append", crash)
        with pytest.raises(KeyboardInterrupt):
            recording.erase(5 * SECOND, 15 * SECOND)
    assert len(shown(clip_of(folder, 0, 24))) == 120, "nothing is gone, and what was prepared is not read"
    with monkeypatch.context() as patched:
        patched.setattr(Recording, "_delete", crash)
        with pytest.raises(KeyboardInterrupt):
            recording.erase(5 * SECOND, 15 * SECOND)
    assert (folder / "000001.ts").exists()
    Recording.open(folder).drop_before(0)
    assert not (folder / "000001.ts").exists(), "the next change completes it"
    assert len(shown(clip_of(folder, 0, 5))) == 25


def test_erasing_and_dropping_at_the_same_time_lose_nothing_else(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = recorded(24)
    append, others = Recording.append, []

    def appended(recording: Recording, **line: Any) -> None:
        if not others:  # the new files are written, the journal does not name them yet
            others.append(threading.Thread(target=lambda: Recording.open(folder).drop_before(1)))
            others[0].start()
            others[0].join(0.3)
        append(recording, **line)

    monkeypatch.setattr(Recording, "append", appended)
    Recording.open(folder).erase(5 * SECOND, 15 * SECOND)
    others[0].join(30)
    assert Recording.open(folder).damaged() == ()
    assert len(shown(clip_of(folder, 0, 5))) == 25


@pytest.mark.slow
def test_dropping_the_oldest_part_keeps_the_times_of_the_rest(recorded: Recorded) -> None:
    folder = recorded(34)
    before = fingerprint(folder)
    recording = Recording.open(folder)
    assert [s.name for s in recording.drop_before(21 * SECOND)] == ["000001.ts", "000002.ts"]
    assert [s.name for s in recording.segments()] == ["000003.ts", "000004.ts"]
    assert recording.start >= 19 * SECOND
    assert shown(clip_of(folder, 23, 24)) == [(at, at // 40_000) for at in range(23 * SECOND, 24 * SECOND, 200_000)]
    assert shown(clip_of(folder, 3, 4)) == []
    assert probe(folder).duration == recording.end
    assert fingerprint(folder) == before, "what is there has not changed"


def test_a_growing_recording_is_no_changed_source(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "r1", ABOUT)
    feed(writer, 0, 3)
    watched = HashedFile(tmp_path / "r1")
    feed(writer, 3, 13)
    watched.look()
    writer.close()
    watched.look()
    shutil.rmtree(tmp_path / "r1")
    with pytest.raises(SourceMissing):
        watched.look()


def test_a_folder_that_is_no_recording_or_a_damaged_one_is_refused(recorded: Recorded, tmp_path: Path) -> None:
    assert not is_recording(tmp_path)
    folder = recorded(2)
    (folder / "recording.json").write_text(json.dumps({"format": 9}))
    with pytest.raises(SourceUnreadable):
        probe(folder)
    (folder / "recording.json").write_text("{")
    with pytest.raises(SourceUnreadable):
        tried(folder)
    empty = RecordingWriter(tmp_path / "empty", ABOUT)
    with pytest.raises(SourceUnreadable, match="Nothing is recorded"):
        probe(tmp_path / "empty")
    empty.close()


def test_a_journal_that_names_other_files_reaches_none(recorded: Recorded, tmp_path: Path) -> None:
    folder = recorded(2)
    secret = tmp_path / "secret.ts"
    secret.write_bytes(b"x" * 1000)
    line = {"segments": [{"name": "../secret.ts", "start": 0, "end": 9, "bytes": 1000, "pictures": [], "sounds": []}]}
    with (folder / JOURNAL).open("a") as file:
        file.write(json.dumps(line) + "\n")
    assert [s.name for s in Recording.open(folder).segments()] == ["000001.ts"]
    Recording.open(folder).erase(0, 100 * SECOND)
    assert secret.exists()


def _recorded_sound(folder: Path, given: np.ndarray) -> np.ndarray:
    """Return given sound (48 kHz) as a recording of it is decoded, of the same length."""
    writer = RecordingWriter(folder, replace(ABOUT, width=None, height=None, fps=None))
    writer.sound(0, given)
    writer.close()
    with av.open(str(folder / "000001.ts")) as container:
        pieces = [(f.pts * f.time_base, f.to_ndarray()[0]) for f in container.decode(audio=0)]
    first = round((pieces[0][0] - ZERO) * RATE)
    found = np.concatenate([p for _, p in pieces])
    return found[-first : len(given) - first] if first < 0 else np.pad(found, (first, 0))[: len(given)]


def test_recorded_speech_is_like_what_was_heard(tmp_path: Path) -> None:
    """Vowels that rise and fall, and the noise of a room: both with little above 3 kHz. The quicker coder is also the truer one."""
    at = np.arange(4 * RATE) / RATE
    pitch = np.cumsum(120 + 20 * np.sin(2 * np.pi * 0.7 * at)) / RATE
    voice = sum(np.sin(2 * np.pi * n * pitch) / n**2 for n in range(1, 13)) * np.clip(np.sin(2 * np.pi * 2 * at), 0, None)
    spectrum = np.fft.rfft(np.random.default_rng(1).standard_normal(len(at)))
    room = np.fft.irfft(spectrum / (1 + (np.fft.rfftfreq(len(at), 1 / RATE) / 3000) ** 4), len(at))
    given = np.asarray(0.1 * voice + 1e-3 * room, np.float32)
    found = _recorded_sound(tmp_path / "r", given)
    middle = slice(RATE // 2, len(found) - RATE // 2)
    noise = np.sum((found[middle] - given[: len(found)][middle]) ** 2)
    assert 10 * np.log10(np.sum(given[: len(found)][middle] ** 2) / noise) > 40


def test_the_structure_of_a_recording_is_read_alike_in_few_and_in_many_packets(recorded: Recorded) -> None:
    data = (recorded(3) / "000001.ts").read_bytes()
    whole = starts(data)
    assert len(whole) > 100 and {pid for _, pid, _, _ in whole} == {PICTURE_PID, SOUND_PID}
    for packets in (1, 3, 7):
        pieces = range(0, len(data), packets * PACKET)
        assert [(at + o, *rest) for at in pieces for o, *rest in starts(data[at : at + packets * PACKET])] == whole
