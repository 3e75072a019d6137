"""A memory, its copies and all our files outside of it are readable by their user only, whatever the umask."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from m3desk import config, paths, private
from m3desk.store.index.vectors import VectorIndex
from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, source

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes mean nothing here")


@pytest.fixture(autouse=True)
def open_to_all() -> Iterator[None]:
    old = os.umask(0)
    yield
    os.umask(old)


def open_to_others(folder: Path) -> list[str]:
    """Return what in a folder, itself included, others may read or enter."""
    return [str(p) for p in (folder, *folder.rglob("*")) if not p.is_symlink() and p.stat().st_mode & 0o077]


def made(folder: Path) -> Path:
    with Memory.open_or_create(folder) as memory:
        kept = memory.add_source(source())
        memory.plan_clips(kept.id, clips(kept.id), fps=5.0)
        for clip in memory.next_clips("s1")[:2]:
            remember(memory, clip, (1, 2))
        assert (folder / "memory.sqlite-wal").is_file()
        assert open_to_others(folder) == []
        with memory.snapshot() as db:
            VectorIndex(folder / "vectors").sync(db, "e5 1")
    return folder


@pytest.mark.slow
def test_all_of_a_new_memory_is_its_users_alone(tmp_path: Path) -> None:
    folder = made(tmp_path / "new" / "m.m3desk")
    assert list((folder / "backup").iterdir()) and list((folder / "vectors").rglob("*.lance"))
    assert open_to_others(folder) == [] and not (tmp_path / "new").stat().st_mode & 0o077


@pytest.mark.slow
@pytest.mark.parametrize("write", [True, False])
def test_an_older_memory_is_closed_when_it_is_opened(tmp_path: Path, write: bool) -> None:
    folder = made(tmp_path / "m.m3desk")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    Memory.open(folder, write=write).close()
    assert open_to_others(folder) == []


def test_in_a_folder_that_holds_other_folders_only_our_parts_are_closed(tmp_path: Path) -> None:
    (tmp_path / "home" / "films").mkdir(parents=True)
    folder = made_beside(tmp_path / "home")
    assert (tmp_path / "home").stat().st_mode & 0o055 and (tmp_path / "home" / "films").stat().st_mode & 0o055
    assert not any((folder / name).stat().st_mode & 0o077 for name in ("memory.sqlite", "media", "backup"))


def test_a_memory_in_a_folder_of_films_leaves_the_films_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "films"
    folder.mkdir(mode=0o755)
    (folder / "film.mp4").write_bytes(b"film")
    (folder / "film.mp4").chmod(0o664)
    made_beside(folder)
    assert (folder.stat().st_mode & 0o777, (folder / "film.mp4").stat().st_mode & 0o777) == (0o755, 0o664)
    assert not any((folder / name).stat().st_mode & 0o077 for name in ("memory.sqlite", "writer.lock", "media", "backup"))


def test_where_modes_can_not_be_changed_an_opening_does_not_walk_through_the_media(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path / "m.m3desk")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o777)
    looked: list[Path] = []
    monkeypatch.setattr(Path, "chmod", lambda path, _mode: looked.append(path))  # exFAT, a share: no error, and nothing changes
    Memory.open(folder).close()
    assert not any(p.is_relative_to(folder / "media") and p != folder / "media" for p in looked)


def made_beside(folder: Path) -> Path:
    with Memory.open_or_create(folder) as memory:
        kept = memory.add_source(source())
        memory.plan_clips(kept.id, clips(kept.id), fps=5.0)
        remember(memory, memory.next_clips("s1")[0], (1,))
    for name in ("media", "backup"):
        (folder / name).chmod(0o755)
    Memory.open(folder).close()
    return folder


def test_what_may_not_be_changed_keeps_nobody_from_their_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path / "m.m3desk")
    folder.chmod(0o755)

    def refused(self: Path, mode: int, **how: object) -> None:
        raise PermissionError(1, "not yours", str(self))

    monkeypatch.setattr(Path, "chmod", refused)
    with Memory.open(folder, write=True) as memory:
        assert len(memory.people()) == 2


def test_a_link_is_not_followed_and_a_shared_folder_stays_shared(tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("somebody's")
    folder = made(tmp_path / "m.m3desk")
    (folder / "media" / "link").symlink_to(other)
    folder.chmod(0o755)
    Memory.open(folder).close()
    assert stat.S_IMODE(other.stat().st_mode) == 0o666
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o777)
    shared.chmod(0o1777)
    private.close(shared)
    assert stat.S_IMODE(shared.stat().st_mode) == 0o1777


def test_a_pipe_in_the_place_of_a_log_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "engine.log")
    done = threading.Event()

    def try_it() -> None:
        with pytest.raises(OSError):
            private.file(tmp_path / "engine.log")
        done.set()

    threading.Thread(target=try_it, daemon=True).start()
    assert done.wait(30)


def test_settings_caches_and_logs_are_closed_new_or_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("M3DESK_CONFIG", str(tmp_path / "settings" / "config.toml"))
    config.set_value("language", "zh")
    config.remember_memory(tmp_path)
    with paths.temporary("index") as folder:
        assert Path(folder).is_relative_to(tmp_path / "data")
    assert open_to_others(tmp_path / "data") == [] and open_to_others(tmp_path / "settings") == []
    for folder in (paths.recent_dir(), paths.log_dir(), paths.data_dir() / "memories"):
        folder.mkdir()
        (folder / "old").write_text("old")
    for path in [*(tmp_path / "data").rglob("*"), *(tmp_path / "settings").rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    (tmp_path / "data").chmod(0o755)
    paths.close_own()
    assert open_to_others(tmp_path / "data") == []
    assert not any(p.stat().st_mode & 0o077 for p in (tmp_path / "settings").iterdir())


def test_a_data_folder_that_holds_other_things_keeps_them_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "shared"))
    for name in ("photos", "recent", "log"):
        (tmp_path / "shared" / name).mkdir(parents=True, mode=0o755)
        (tmp_path / "shared" / name / "file").write_text("x")
        for path in (tmp_path / "shared", tmp_path / "shared" / name):
            path.chmod(0o755)
    paths.close_own()
    modes = {p.name: p.stat().st_mode & 0o777 for p in (tmp_path / "shared", *(tmp_path / "shared").iterdir())}
    assert modes == {"shared": 0o755, "photos": 0o755, "recent": 0o700, "log": 0o700}
