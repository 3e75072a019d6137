"""Only regular files are opened; anything else is refused in one clear line."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from m3desk.errors import ImportProblem, SourceMissing, SourceUnreadable
from m3desk.regular import check_regular, is_regular, open_regular, read_regular, read_text

posix = pytest.mark.skipif(sys.platform == "win32", reason="named pipes, sockets and devices of POSIX")


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    with open_regular(tmp_path / "a") as file:
        assert file.read() == b"abc"
    assert check_regular(tmp_path / "a").st_size == 3 and is_regular(tmp_path / "a")
    assert read_regular(tmp_path / "a", 3) == b"abc"


def test_a_link_to_a_file_is_the_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "b").symlink_to("a")
    assert read_regular(tmp_path / "b", 10) == b"abc"


@posix
@pytest.mark.timeout(10)
def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "film.mp4")
    (tmp_path / "link.mp4").symlink_to("film.mp4")
    for name in ("film.mp4", "link.mp4"):
        with pytest.raises(SourceUnreadable, match="a named pipe, not a file") as caught:
            open_regular(tmp_path / name)
        assert "\n" not in caught.value.line() and caught.value.hint
        assert not is_regular(tmp_path / name)


@posix
@pytest.mark.timeout(10)
def test_a_file_that_becomes_a_named_pipe_in_between_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "x")
    (tmp_path / "y").touch()
    was = (tmp_path / "y").stat()
    monkeypatch.setattr(os, "stat", lambda path, *a, **k: was)
    with pytest.raises(SourceUnreadable, match="a named pipe"):
        open_regular(tmp_path / "x")


@posix
def test_sockets_devices_and_folders_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as ear:
        ear.bind("s")
        for path, words in (("s", "a socket"), ("/dev/zero", "a device"), (".", "a folder")):
            with pytest.raises(ImportProblem, match=f"is {words}, not a file"):
                check_regular(path, problem=ImportProblem)


def test_no_file_and_names_that_no_file_can_have_are_missing(tmp_path: Path) -> None:
    for name in ("no", "a\0b", "\ud800"):
        with pytest.raises(SourceMissing, match="There is no file"):
            open_regular(tmp_path / name)
        assert not is_regular(tmp_path / name)
    (tmp_path / "a").touch()
    with pytest.raises(SourceMissing):
        open_regular(tmp_path / "a" / "b")
    with pytest.raises(SourceUnreadable, match="cannot be read"):
        open_regular(tmp_path / ("x" * 5000))


def test_a_file_without_read_permission_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"abc")

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(SourceUnreadable, match="You may not read"):
        open_regular(tmp_path / "a")


def test_too_much_and_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfabc")
    (tmp_path / "b").write_bytes(b"\xff\xfe")
    assert read_text(tmp_path / "a", 10) == "abc"
    with pytest.raises(ImportProblem, match="larger than"):
        read_text(tmp_path / "a", 3, ImportProblem)
    with pytest.raises(ImportProblem, match="not a text file"):
        read_text(tmp_path / "b", 3, ImportProblem)
