"""A sound server for benchmarks, so that a machine without a sound device has a microphone."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

SILENT = "module-null-sink sink_name=null"
"""A microphone that hears what is played, which is nothing."""


class SoundServer:
    """A PulseAudio of its own. Enter it: programs that are started then use it."""

    def __init__(self, place: Path, microphone: str = SILENT) -> None:
        """`microphone`: the PulseAudio module that is it, with its arguments."""
        self._place, self._microphone = place, microphone
        self._process: subprocess.Popen[bytes] | None = None
        self._before = {name: os.environ.get(name) for name in ("PULSE_SERVER", "XDG_RUNTIME_DIR", "HOME")}

    def __enter__(self) -> SoundServer:
        self._place.mkdir(parents=True)
        os.environ.update(PULSE_SERVER=f"unix:{self._place}/socket", XDG_RUNTIME_DIR=str(self._place))
        self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        for name, value in self._before.items():
            os.environ.pop(name, None) if value is None else os.environ.__setitem__(name, value)

    def restart(self) -> None:
        """Kill it; start it again 3 s later."""
        self._end()
        time.sleep(3.0)
        self._begin()

    def _begin(self) -> None:
        (self._place / "socket").unlink(missing_ok=True)
        load = [self._microphone, f"module-native-protocol-unix socket={self._place}/socket auth-anonymous=1"]
        command = ["pulseaudio", "-n", "--exit-idle-time=-1", "--use-pid-file=no", *(f"-L{one}" for one in load)]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": str(self._place)})
        end = time.monotonic() + 10
        while subprocess.run(["pactl", "info"], capture_output=True).returncode and time.monotonic() < end:
            time.sleep(0.1)

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
