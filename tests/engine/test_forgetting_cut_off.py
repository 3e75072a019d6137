"""An interrupted forgetting is finished when the memory is opened next, inside and outside of the memory."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from m3desk import config, events, outside, paths, private
from m3desk.app import App
from m3desk.bench import small_memory
from m3desk.bench.traces import Marks, marks, traces
from m3desk.cli import main
from m3desk.ports import Models
from m3desk.store import backups, checking, files
from m3desk.store.forgetting import pending, scrubbing
from m3desk.store.memory import Memory

GRACE = small_memory.NAMES[0]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A memory in use, with all that lies outside of it; no models at hand."""
    monkeypatch.setattr(App, "models_in_use", lambda *_: Models())
    monkeypatch.setattr(App, "embed_lacking", lambda *_: 0)
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "run" / "data"))
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "run" / "config.toml"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    place = tmp_path / "run" / "m.m3desk"
    small_memory.make(place)
    config.remember_memory(place)
    with Memory.open(place) as memory:
        thumbnail, track = memory.media(memory.thumbnail("s1.c0") or "") or b"", memory.media(memory.tracks("s1")[0].track.crops[0]) or b""
    for path, content in (
        (paths.recent_picture(place), thumbnail),
        (paths.recent_dir() / "0123456789abcdef.jpg", track),  # of a memory that was moved since
        (paths.log_dir() / "engine.log", f"the question 'where is {GRACE}?' failed\nanother line\n".encode()),
        (paths.temporary_dir() / "index-999999999-abc" / "said.txt", small_memory.SAYS[0].encode()),
        (tmp_path / "tmp" / "m3desk-sound-abcd_123" / "s.flac", b"of an earlier version"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    yield place


def known(place: Path) -> Marks:
    with Memory.open(place) as memory:
        return marks(memory, GRACE)


def left(place: Path, of: Marks) -> list[str]:
    return traces(of, (place.parent,))


def test_nothing_is_left_inside_or_outside_of_the_memory(place: Path) -> None:
    of = known(place)
    assert left(place, of)
    with App(place) as app:
        report = app.forget(GRACE)
        assert app.write(lambda m: m.begun()) == []
    assert report["findings"] == [] and report["removed"]["pictures_outside"] == 2 and report["removed"]["log_lines"] == 1
    assert left(place, of) == [] and not (place.parent.parent / "tmp" / "m3desk-sound-abcd_123").exists()
    assert (paths.log_dir() / "engine.log").read_text() == "another line\n"
    assert len(backups.copies(place)) == 1  # a new one, of what is left


def test_other_memories_keep_their_pictures_and_running_processes_what_they_use(place: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.m3desk"
    other.mkdir()
    config.remember_memory(other)
    paths.recent_picture(other).write_bytes(b"somebody else")
    with paths.temporary("sound") as folder:
        (Path(folder) / "a.flac").write_bytes(b"a sound of somebody else")
        with App(place) as app:
            app.forget(GRACE)
        assert (Path(folder) / "a.flac").exists()
    assert paths.recent_picture(other).exists() and config.recent_memories() == [str(other), str(place)]


def moments(place: Path, monkeypatch: pytest.MonkeyPatch, to: Path) -> list[Path]:
    """Forget somebody, and keep the folder as it is before and after every step: as a kill there would leave it."""
    kept: list[Path] = []

    def watched(owner: Any, name: str) -> None:
        real: Callable[..., Any] = getattr(owner, name)

        def step(*args: Any, **how: Any) -> Any:
            for when in ("before", "after"):
                if when == "after":
                    done = real(*args, **how)
                kept.append(to / f"{len(kept):02d} {when} {name}")
                shutil.copytree(place.parent, kept[-1])
            return done

        monkeypatch.setattr(owner, name, step)

    with App(place) as app, monkeypatch.context() as patched:
        monkeypatch = patched  # type: ignore[assignment]
        for owner, name in (
            (pending, "write"), (backups, "drop"), (checking, "drop_index"), (files, "sweep"), (Memory, "clean"), (outside, "forget"),
            (Memory, "forgotten"), (pending, "remove"), (backups, "keep"),
        ):  # fmt: skip
            watched(owner, name)
        app.forget(GRACE)
    return kept


@pytest.mark.slow
def test_whenever_it_is_cut_off_the_next_opening_finishes_it(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of, told = known(place), 0
    for moment in moments(place, monkeypatch, tmp_path / "kills"):
        shutil.rmtree(place.parent)
        moment.rename(place.parent)
        heard: list[Any] = []
        begun = bool(pending.marks(place))
        with App(place, emit=heard.append) as app:
            names = {p.name for p in app.write(lambda m: m.people())}
            assert app.check()["ok"], moment.name
        if GRACE in names:
            assert moment.name == "00 before write"
            continue
        assert left(place, of) == [], moment.name
        assert bool(app.finished) == begun
        told += any(isinstance(e, events.Notice) and "finished now" in e.text for e in heard)
    assert told >= 8


@pytest.mark.slow
@pytest.mark.parametrize("command", [["check", "--repair"], ["people", "list"]])
def test_check_says_that_it_is_not_finished_and_every_other_opening_finishes_it(
    command: list[str], place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    of = known(place)
    cut_off(place, monkeypatch)
    assert main(["check", "-m", str(place), "--json"]) == 1
    said = capsys.readouterr()
    assert [f["fix"] for f in json.loads(said.out)["findings"] if f["kind"] == "forgetting"] == ["m3desk check --repair"]
    assert "check --repair" in said.err
    assert left(place, of)
    assert main([*command, "-m", str(place)]) == 0
    assert "finished now" in capsys.readouterr().err and left(place, of) == []


@pytest.mark.slow
def test_forgetting_somebody_who_is_gone_finishes_it_and_says_so(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    of = known(place)
    cut_off(place, monkeypatch)
    assert main(["people", "forget", GRACE, "-m", str(place), "--yes"]) == 1  # without models, pictures were not looked at
    said = capsys.readouterr()
    assert f"nobody here is called “{GRACE}” now" in said.err and "if you meant somebody else" in said.err
    assert "0 findings" in said.out and "finished now" in said.err and left(place, of) == []
    assert main(["people", "forget", GRACE, "-m", str(place), "--yes"]) == 1
    assert "forgotten already" in capsys.readouterr().err


def cut_off(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a memory as a kill right after the commit would."""

    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Memory, "scrub", killed)
        with pytest.raises(Killed), App(place) as app:
            app.forget(GRACE)


def begun(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Leave a memory as a kill right before the commit would; return the mark."""
    cut_off(place, monkeypatch)
    (mark,) = pending.marks(place)
    document = json.loads(mark.read_text("utf-8"))
    mark.write_text(json.dumps({**document, "at": "2026-11-22T01:02:03.004+00:00"}), "utf-8")
    return mark


@pytest.mark.slow
def test_what_was_begun_and_then_done_anew_by_hand_is_finished(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of = known(place)
    mark = begun(place, monkeypatch)
    with App(place) as app:
        assert app.finished[0]["findings"] == []
    assert not mark.exists() and left(place, of) == []


def test_somebody_else_who_has_the_number_by_now_is_not_forgotten(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory.open(place) as memory:
        others = [r.track.id for r in memory.tracks("s1") if r.person not in (None, memory.person(GRACE).id)]
        before = {p.id for p in memory.people()}
        gone = memory.person(GRACE).id
    with Memory.open(place, write=True) as memory:
        mark = pending.Pending(
            gone, "forget", "2026-11-22T01:02:03.004+00:00", False, "", known=scrubbing.Traces({gone}, observations=set(others))
        )
        pending.write(place, mark)
    heard: list[Any] = []
    with App(place, emit=heard.append):
        pass
    with Memory.open(place) as memory:
        assert {p.id for p in memory.people()} == before
    assert any("people forget" in e.hint for e in heard if isinstance(e, events.Notice))


@pytest.mark.slow
def test_a_fault_while_it_is_finished_keeps_nobody_from_their_memory(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ValueError("shapes differ")

    cut_off(place, monkeypatch)
    heard: list[Any] = []
    with monkeypatch.context() as patched:
        patched.setattr("m3desk.samples.proof.look", fails)
        with App(place, emit=heard.append) as app, app.reader() as reader:
            assert reader.people()
    assert any("shapes differ" in e.hint for e in heard if isinstance(e, events.Notice)) and pending.marks(place)
    with App(place) as app:
        assert app.finished[0]["findings"] == [] and not pending.marks(place)


def test_a_mark_that_does_not_read_is_scrubbed_without_knowing_whom(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of = known(place)
    cut_off(place, monkeypatch)
    (mark,) = pending.marks(place)
    mark.write_text(mark.read_text()[:200], "utf-8")
    with App(place):
        pass
    assert pending.marks(place) == [] and traces(of, (place,)) == []


@pytest.mark.slow
def test_while_something_is_left_the_mark_stays_and_says_what(place: Path) -> None:
    (place / "note.txt").write_text(f"{GRACE} called", "utf-8")
    with App(place) as app:
        assert app.forget(GRACE)["findings"] == ["file note.txt: their name"]
    heard: list[Any] = []
    with App(place, emit=heard.append):
        pass
    assert any("note.txt" in e.hint for e in heard if isinstance(e, events.Notice)) and not backups.copies(place)
    (place / "note.txt").unlink()
    with App(place) as app:
        assert app.write(lambda m: m.begun()) == [] and app.finished[0]["findings"] == []


def test_a_waveform_that_cannot_be_deleted_is_named_and_the_mark_stays(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unlink = Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path.suffix == ".peaks":
            raise PermissionError(13, "Permission denied", str(path))
        unlink(path, missing_ok)

    (place / "waveforms").mkdir(exist_ok=True)
    (place / "waveforms" / "s1-a.peaks").write_bytes(b"x")
    with App(place) as app:
        with monkeypatch.context() as patched:
            patched.setattr(Path, "unlink", refuse)
            report = app.forget(GRACE)
        assert report["findings"] == ["file waveforms/s1-a.peaks: can't be deleted, and may tell of them"]
        assert len(app.write(lambda m: m.begun())) == 1
    with App(place) as app:  # finishes it
        assert app.write(lambda m: m.begun()) == []
    assert not (place / "waveforms" / "s1-a.peaks").exists()


def test_a_forgetting_that_fails_leaves_no_mark(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> None:
        if path.is_file():
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched, App(place) as app:
        patched.setattr(private, "settle", full)
        with pytest.raises(Exception, match="full"):
            app.forget(GRACE)
    assert list(place.glob("forgetting*")) == []
    with Memory.open(place) as memory:
        assert memory.person(GRACE).name == GRACE and memory.integrity() == []
