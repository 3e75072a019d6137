"""A file that is replaced, grown, truncated or deleted while it is memorized: detected, reported in one line, nothing of it is used."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import pytest

from m3desk import events
from m3desk.app import App
from m3desk.config import Settings
from m3desk.errors import SourceChanged, SourceMissing
from m3desk.media.unchanged import HashedFile
from m3desk.work import Options

sys.path.insert(0, str(Path(__file__).parent))
from made import talking_signs
from test_resuming import run

PERCEIVING = 'profile = "quick"\n[profiles.quick]\nfaces = "yunet"\nface_vectors = "sface"\nspeech_activity = "silero"\n'


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return talking_signs(tmp_path_factory.mktemp("film") / "signs.mkv", seconds=20, rate=5)


@pytest.fixture
def place(tmp_path: Path, film: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "quick.toml").write_text(PERCEIVING)
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "quick.toml"))
    shutil.copy(film, tmp_path / "a.mkv")
    return tmp_path


def memorize(place: Path, meddle: Callable[[Path], None], after: str = "s1.c0") -> tuple[Any, list[Any], list[Any]]:
    """Memorize `a.mkv` in clips of 5 s, and meddle with it when a clip was committed; return source, clips and error notices."""
    file = place / "a.mkv"
    notices = []

    def emit(event: Any) -> None:
        if isinstance(event, events.ClipCommitted) and event.clip == after:
            meddle(file)
        if isinstance(event, events.Notice) and event.level == "error":
            notices.append(event)

    with App(str(place / "m.m3desk"), emit=emit, settings=Settings.load()) as app:
        app.work.add([file], Options(clip_seconds=5))
        app.work.run()
        with app.reader() as reader:
            return reader.sources()[0], list(reader.clips()), notices


def replaced(file: Path) -> None:
    talking_signs(file.with_name("b.mkv"), seconds=12, width=160, height=96)
    file.with_name("b.mkv").replace(file)


def grown(file: Path) -> None:
    with file.open("ab") as stream:
        stream.write(bytes(1000))


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 3)


def in_place(file: Path) -> None:
    before = file.stat()
    content = bytearray(file.read_bytes())
    content[len(content) // 2 :] = bytes(len(content) - len(content) // 2)
    with file.open("r+b") as stream:
        stream.write(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.slow
@pytest.mark.parametrize("meddle", [replaced, grown, cut, in_place, Path.unlink])
def test_what_is_read_after_a_change_is_not_believed(place: Path, meddle: Callable[[Path], None]) -> None:
    source, clips, notices = memorize(place, meddle)
    assert [c.state for c in clips] == ["episodic"] + ["failed"] * 3
    assert source.state == "failed" and source.error
    assert len(notices) == 1 and "\n" not in notices[0].text
    assert all(c.error == source.error for c in clips[1:])


@pytest.mark.slow
def test_a_change_after_the_last_clip_was_read_is_noticed_and_what_is_committed_stays(place: Path) -> None:
    source, clips, notices = memorize(place, grown, after="s1.c3")
    assert [c.state for c in clips] == ["episodic"] * 4
    assert source.state == "failed" and len(notices) == 1


@pytest.mark.slow
def test_the_same_file_put_back_is_gone_on_with(place: Path, film: Path) -> None:
    memorize(place, replaced)
    shutil.copy(film, place / "a.mkv")
    source, clips, notices = memorize(place, lambda _file: None)
    assert [c.state for c in clips] == ["episodic"] * 4 and source.state == "done" and not notices


@pytest.mark.slow
@pytest.mark.parametrize(
    "harmless", [Path.touch, lambda file: file.chmod(0o400), lambda file: shutil.copy(shutil.move(file, f"{file}~"), file)]
)
def test_other_times_modes_and_an_equal_copy_are_no_change(place: Path, harmless: Callable[[Path], Any]) -> None:
    source, clips, notices = memorize(place, harmless)
    assert [c.state for c in clips] == ["episodic"] * 4 and source.state == "done" and not notices


def test_a_clip_none_of_whose_pictures_can_be_read_is_not_one_in_which_nobody_is(place: Path) -> None:
    file = place / "a.mkv"
    content = bytearray(file.read_bytes())
    with av.open(str(file)) as container:
        packets = [(p.pos, p.size, float(p.pts * p.time_base)) for p in container.demux(video=0) if p.pts is not None and p.size]
    for at, size, time in packets:
        if 8 < time < 22:
            found = content.find(b"\0\0\1\xb6", at)
            content[found : at + size] = b"\xff" * (at + size - found)
    file.write_bytes(bytes(content))
    _, clips, _ = memorize(place, lambda _file: None)
    assert [c.state for c in clips][:1] == ["episodic"]
    with App(str(place / "m.m3desk"), write=False) as app, app.reader() as reader:
        told = {m.clip: m.text for m in reader.memories(kind="episodic")}
    assert clips[2].state == "skipped" and "none of its pictures can be read" in (clips[2].error or "")
    assert clips[2].id not in told and clips[0].id in told


@pytest.mark.slow
def test_a_command_ends_with_one_clear_line(place: Path) -> None:
    shutil.rmtree(place / "m.m3desk", ignore_errors=True)
    code = (
        "import sys, threading, time, pathlib\n"
        "from m3desk import pipeline, cli\n"
        "give = pipeline.Memorizer.remember\n"
        "def meddle(self, source, clip, *rest):\n"
        "    found = give(self, source, clip, *rest)\n"
        "    pathlib.Path(source.uri).write_bytes(b'another film') if clip.index == 0 else None\n"
        "    return found\n"
        "pipeline.Memorizer.remember = meddle\n"
        "sys.exit(cli.main(sys.argv[1:]))\n"
    )
    words = [
        sys.executable,
        "-c",
        code,
        "memorize",
        str(place / "a.mkv"),
        "-m",
        str(place / "m.m3desk"),
        "--no-semantic",
        "--clip-seconds",
        "5",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1 and "has changed since memorizing started" in done.stderr
    assert run("check", "-m", place / "m.m3desk").returncode == 0


def test_a_watched_file(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"abc")
    watched = HashedFile(file)
    watched.look()
    file.write_bytes(b"abd")
    with pytest.raises(SourceChanged, match="has changed since"):
        watched.look()
    file.write_bytes(b"abc")
    watched.look()
    watched.prove()
    file.unlink()
    with pytest.raises(SourceMissing, match="no longer exists"):
        watched.look()
    with pytest.raises(SourceMissing, match="There is no file"):
        HashedFile(file)
