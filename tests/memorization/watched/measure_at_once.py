"""Measure what asking about several clips at the same time saves: clips written again by a scripted server that takes a fixed time.

    python tests/memorization/watched/measure_at_once.py [--clips 24] [--seconds 2]

The server answers each request after so many seconds, however many come together, as one with continuous batching and room does at best;
the film is drawn and small, so that what is measured is the waiting. Prints seconds by the clock, and whether all wrote the same.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any

from m3desk_server.models import ServerWatcher

from m3desk.app import App
from m3desk.backends import Backends
from m3desk.config import Settings
from m3desk.work import Options
from tests.engine.fakes import FakeBackends
from tests.engine.made import drawn_talk
from tests.memorization.watched.made import reply
from tests.plugins.servers.scripted import ModelServer
from tests.plugins.servers.test_server import behind

WIDTHS = (1, 2, 4, 8)


class Slow(ModelServer):
    """Answers after a fixed time, by what it is asked alone."""

    seconds = 2.0

    def answer(self, body: dict[str, Any]) -> str:
        time.sleep(self.seconds)
        return reply((0, 2, f"<face_1> carries box {zlib.crc32(str(body['messages']).encode()) % 1_000_000}."))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    Slow.seconds = options.seconds
    with tempfile.TemporaryDirectory() as folder, Slow("plain") as server:
        found = Backends(lambda name: Path(name), profile={"watcher": "scripted"})
        for port, fake in FakeBackends().all.items():
            found.replace(port, fake)
        app = App(Path(folder) / "m.m3desk", settings=Settings.defaults(), backends=found, emit=lambda _event: None)
        with app:
            app.work.add([drawn_talk(Path(folder) / "talk", options.clips * 2)], Options(clip_seconds=2, writer="rules"))
            app.work.run()
            with app.reader() as reader:
                clips = [c.id for c in reader.clips()]
            wrote = []
            for width in WIDTHS:
                model = behind(server.url, ServerWatcher, at_once=width, sees=True, hears=False, dialect="plain", pictures=4)
                model.prepare()
                found.replace("watcher", model)
                began = time.monotonic()
                done = app.rewrite(clips, "scripted")
                spent = time.monotonic() - began
                assert len(done.clips) == len(clips), done.failed
                with app.reader() as reader:
                    wrote.append([(v.clip, v.sentences) for v in reader.versions()])
                print(f"{width} at once: {len(clips)} clips in {spent:.1f} s, {spent / len(clips):.2f} s a clip", flush=True)
            print("all wrote the same:", all(w == wrote[0] for w in wrote))


if __name__ == "__main__":
    main()
