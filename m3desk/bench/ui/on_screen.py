"""Runs a part of the window in a process of its own, on a virtual screen where there is no other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from m3desk.bench.material import RunFailed
from m3desk.bench.window import screen

PROGRAM = """
import json, os, sys
from importlib import import_module
if __name__ == "__main__":
    found = getattr(import_module(sys.argv[1]), sys.argv[2])(*json.loads(sys.argv[3]))
    print(json.dumps(found), flush=True)
    os._exit(0)
"""


def run(module: str, function: str, *args: Any) -> Any:
    """Return what a function of the window's code returns there. Raises RunFailed, FileNotFoundError without Xvfb."""
    with tempfile.TemporaryDirectory(prefix="m3desk-ui-") as folder:
        env = {**os.environ, "M3DESK_DATA": f"{folder}/data", "M3DESK_CONFIG": f"{folder}/config.toml"}
        xvfb = None
        if not env.get("DISPLAY") and env.get("QT_QPA_PLATFORM") in (None, "", "offscreen"):
            xvfb, env["DISPLAY"] = screen()
            env["QT_QPA_PLATFORM"] = "xcb"
        try:
            command = [sys.executable, "-c", PROGRAM, module, function, json.dumps(args)]
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        finally:
            if xvfb is not None:
                xvfb.terminate()
    if done.returncode or not done.stdout.strip():
        raise RunFailed(f"{module}.{function}", done.returncode, done.stderr[-500:])
    return json.loads(done.stdout.splitlines()[-1])
