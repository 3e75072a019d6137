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
