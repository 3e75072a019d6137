"""Backends are found by entry point, opened once, and their absence is a reason, not a crash."""

from pathlib import Path

import pytest

from m3desk.backends import EMBEDDED, Backends, available
from m3desk.errors import ModelMissing


def test_every_backend_of_the_embedded_profile_is_installed():
    for port, name in EMBEDDED.items():
        assert name in available(port), port


def test_a_missing_weight_is_told_with_what_to_do_and_asked_again_after_a_download():
    here = {"there": False}

    def weights(name: str) -> Path:
        if not here["there"]:
            raise ModelMissing(f"{name} is not on this machine.", "Download it: m3desk models pull.")
        return Path("/nowhere")

    backends = Backends(weights, profile={"faces": "yunet"})
    assert backends.get("faces") is None
    assert "models pull" in backends.missing["faces"]
    assert backends.models("faces").missing["faces"] == backends.missing["faces"]
    backends.forget_missing()
    assert backends.missing == {}


def test_an_unknown_backend_names_those_that_are_there():
    backends = Backends(lambda name: Path(name), profile={"faces": "nobody"})
    assert backends.get("faces") is None
    assert "yunet" in backends.missing["faces"]


def test_a_port_the_profile_leaves_out_is_simply_absent():
    backends = Backends(lambda name: Path(name), profile={})
    assert backends.get("language") is None
    assert backends.missing == {}


@pytest.mark.parametrize("port", ["faces", "speech", "language"])
def test_listing_backends_imports_nothing(port: str):
    import subprocess
    import sys

    heavy = "cv2", "onnxruntime", "xllamacpp"
    code = f"import sys; from m3desk.backends import available; available({port!r}); sys.exit(any(m in sys.modules for m in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_an_earlier_run_left_running_is_ended_when_models_are_first_wanted(tmp_path, monkeypatch):
    import json
    import subprocess
    import sys

    from m3desk.children import child, orphans
    from m3desk.children.guard import started

    monkeypatch.setenv("M3DESK_DATA", str(tmp_path))
    monkeypatch.setattr(child, "_done", set())
    left = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"], start_new_session=True)
    gone = [left.pid, "an earlier boot:1"]
    ours = [left.pid, started(left.pid)]
    orphans.new_record("r").write_text(json.dumps({"name": "vllm", "program": gone, "guard": gone, "process": ours, "members": [ours]}))
    Backends(lambda name: Path(name), profile={})
    assert left.wait(30) != 0 and list(orphans.folder().iterdir()) == []


def test_a_backend_that_is_installed_meanwhile_is_used_at_its_next_use(tmp_path, monkeypatch):
    from m3desk import backends
    from m3desk.errors import BackendMissing

    monkeypatch.setenv("M3DESK_BACKENDS", str(tmp_path))

    class Entry:
        @staticmethod
        def load():
            def make(_weights, _threads):
                if not (tmp_path / "tiny" / "state.json").exists():
                    raise BackendMissing("The backend tiny is not installed.", "Install it.")
                return "a model"

            return make

    monkeypatch.setattr(backends, "available", lambda _port: {"tiny": Entry})
    made = Backends(lambda name: Path(name), profile={"language": "tiny"})
    assert made.get("language") is None and "not installed" in made.missing["language"]
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "state.json").write_text("{}")
    assert made.get("language") == "a model" and made.missing == {}
