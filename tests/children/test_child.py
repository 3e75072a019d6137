"""What is said when a model process does not start, crashes, or runs out of memory."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from m3desk.children import child as children
from m3desk.children.causes import failure
from m3desk.children.child import Child, free_port, log_file
from m3desk.errors import BackendMissing, Cancelled, ModelFailed
from tests.children.processes import until


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path))
    children._done.clear()
    return tmp_path


def _python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def test_a_process_that_ends_while_it_starts_is_told_with_its_last_lines() -> None:
    child = Child("vllm", _python("import sys; print('loading', flush=True); sys.exit('RuntimeError: Failed to infer device type')"))
    with pytest.raises(ModelFailed, match=r"vllm ended while it started: there is no usable GPU driver.*loading ⏎ RuntimeError") as told:
        child.wait_ready(lambda: False)
    assert "nvidia-smi" in told.value.hint


def test_a_program_that_is_not_there_is_a_missing_backend() -> None:
    with pytest.raises(BackendMissing, match=r"could not be started.*cannot be started: No such file") as told:
        Child("vllm", ["/nowhere/python"]).wait_ready(lambda: False)
    assert told.value.hint == "Install it again: m3desk backends install vllm."


def test_a_port_that_is_taken_is_told() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        child = Child("vllm", _python(f"import socket; socket.create_server(('127.0.0.1', {port}))"), port=port)
        with pytest.raises(ModelFailed, match="its port is taken by another program"):
            child.wait_ready(lambda: False)
        assert free_port() != port


def test_a_start_that_takes_too_long_or_is_stopped_ends_the_process() -> None:
    slow = Child("vllm", _python("import time; print('still loading', flush=True); time.sleep(600)"), grace=0.1)
    lines: list[str] = []
    assert until(lambda: "still loading" in "".join(slow.log_tail()), 30.0)
    with pytest.raises(ModelFailed, match=r"did not start within 1 s\. Its last lines: still loading"):
        slow.wait_ready(lambda: False, seconds=0.5 + 0.3, told=lines.append)
    assert not slow.alive and "still loading" in lines
    stopped = Child("vllm", _python("import time; time.sleep(600)"), grace=0.1)
    with pytest.raises(Cancelled):
        stopped.wait_ready(lambda: False, cancelled=lambda: True)
    assert not stopped.alive


def test_a_process_gets_neither_keys_nor_pythons_variables_of_this_program(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "PYTHONPATH",
        "VIRTUAL_ENV",
        "M3DESK_SERVER_KEY",
        "OPENAI_API_KEY",
        "HF_TOKEN",
        "ONEDNN_PRIMITIVE_CACHE_CAPACITY",
        "QT_QPA_PLATFORM",
        "PYTHONDONTWRITEBYTECODE",
    ):
        monkeypatch.setenv(name, "secret")
    with Child(
        "x", _python("import os; print(sorted(k for k, v in os.environ.items() if v == 'secret'), os.environ['MINE'])"), env={"MINE": "1"}
    ) as child:
        assert child.ended.wait(30)
        assert child.log_tail(1) == ["[] 1"]


def test_the_tail_is_of_this_run_only_and_the_log_is_private(data: Path) -> None:
    for word in ("first", "second"):
        with Child("x", _python(f"print('{word}')")) as child:
            assert child.ended.wait(30) and child.code == 0
            assert child.log_tail() == [word]
    assert b"first" in log_file("x").read_bytes() and log_file("x").parent == data / "log"
    if sys.platform != "win32":
        assert log_file("x").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "not enough memory on the GPU"),
        ("ValueError: No available memory for the cache blocks.", "not enough memory on the GPU"),
        (
            "ValueError: Free memory on device cuda:0 (3.1/8.0 GiB) on startup is less than desired GPU memory utilization",
            "memory on the GPU",
        ),
        ("RuntimeError: Found no NVIDIA driver on your system.", "no usable GPU driver"),
        ("ImportError: libcuda.so.1: cannot open shared object file", "no usable GPU driver"),
        ("OSError: [Errno 98] Address already in use", "port is taken"),
        ("RuntimeError: [enforce fail] DefaultCPUAllocator: can't allocate memory", "there is not enough memory"),
        ("ModuleNotFoundError: No module named 'vllm'", "a library is missing"),
        ("OSError: [Errno 28] No space left on device", "the disk is full"),
        ("safetensors_rust.SafetensorError: Error while deserializing header", "files of its model are damaged"),
        ("Repo id must use alphanumeric chars", "not where they are expected"),
    ],
)
def test_a_known_cause_is_said_in_plain_words(line: str, said: str) -> None:
    error = failure("vllm", 1, ["before", line])
    assert said in str(error) and line[:40] in str(error) and error.hint


def test_an_unknown_cause_is_the_exit_code_or_the_signal() -> None:
    assert "exit code 3" in str(failure("vllm", 3, []))
    assert "crashed (signal 11)" in str(failure("vllm", 139, []))
    assert "memory ran out" in str(failure("vllm", 137, []))
    assert "\x1b" not in str(failure("vllm", 1, ["\x1b[31mred\x1b[0m"]))
