"""Makes the README's pictures from the demo clip: the real window, the real engine, on whatever display there is.

usage: xvfb-run -a -s "-screen 0 1600x1000x24" python packaging/screenshots.py [FOLDER] [--zh]
       xvfb-run -a -s "-screen 0 1920x1080x24" python packaging/screenshots.py [FOLDER] [--zh] --live [--name NAME] [FILE]

With --live, FILE (else the demo clip) is delivered as a live source in a loop; who is heard most is called NAME after the first clip. The
layout for demos is saved at 1280×720 and 1920×1080, light and dark.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from m3desk_ui import launch
from m3desk_ui.chat.view import ChatView
from m3desk_ui.hub.services import real
from m3desk_ui.window import main_window
from m3desk_ui.window.window_state import WindowState
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from m3desk import config, events, models

QUESTION = "What does the text on the screen say?"


LIVE_QUESTION = "Who appears?"
SIZES = ((1280, 720), (1920, 1080))


def main() -> int:
    """Play the demo clip until its memory is done, ask one question, and save the window; or show a live source."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("packaging/screenshots"))
    parser.add_argument("file", nargs="?", type=Path, help="with --live: the film that is delivered")
    parser.add_argument("--zh", action="store_true", help="the window in Chinese")
    parser.add_argument("--live", action="store_true", help="the layout for demos, beside a live source")
    parser.add_argument("--name", default="Barack Obama", help="with --live: what the person heard most is called")
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    demo = options.file.absolute() if options.file else models.weights("demo") / "obama_speech.mp4"
    with tempfile.TemporaryDirectory(prefix="m3desk-shots-") as scratch:
        os.environ["M3DESK_MODELS"] = str(models.folder())  # before the data folder moves away from it
        os.environ["M3DESK_DATA"] = scratch
        os.environ["M3DESK_CONFIG"] = str(Path(scratch) / "config.toml")
        if options.zh:
            config.set_value("language", "zh")
        source = f"file:{demo}?live&loop" if options.live else str(demo)
        return _shoot(source, str(Path(scratch) / "demo.m3desk"), options)


def _shoot(source: str, memory: str, options: argparse.Namespace) -> int:
    shown = main_window.MainWindow.show

    def show(window: main_window.MainWindow) -> None:
        shown(window)
        window.resize(*((1280, 720) if options.live else (1560, 960)))
        kind = _LiveScript if options.live else _Script
        _scripts.append(kind(window, options.folder, "-zh" if options.zh else "", options.name))  # PySide keeps no reference to it
        _scripts[-1].start()

    main_window.MainWindow.show = show  # type: ignore[method-assign]
    return launch.run(memory=memory, source=source, services=real(), state=WindowState())


_scripts: list[_Script] = []


class _Script:
    """Steps that wait for something to be so, then act; gives up after some minutes."""

    patience = 150.0

    def __init__(self, window: main_window.MainWindow, folder: Path, suffix: str, name: str) -> None:
        self.window, self.folder, self.suffix, self.name = window, folder, suffix, name
        self.began = time.monotonic()
        self.steps: list[tuple[Callable[[], bool], Callable[[], None]]] = [
            (lambda: self._passed(6), lambda: self._save("growing")),
            (self._memorized, self._ask),
            (self._answered, lambda: None),
            (lambda: self._waited(3), lambda: self._save("window")),
        ]
        self.timer = QTimer(window)
        self.timer.timeout.connect(self._tick)
        self.since = time.monotonic()

    def start(self) -> None:
        self.timer.start(500)

    def _tick(self) -> None:
        if not self.steps or time.monotonic() - self.began > self.patience:
            if self.steps:
                sys.stderr.write(f"gave up: {len(self.steps)} steps were left\n")
            self.timer.stop()
            self.window.close()
            return
        ready, act = self.steps[0]
        if ready():
            act()
            self.steps.pop(0)
            self.since = time.monotonic()

    def _passed(self, seconds: float) -> bool:
        return time.monotonic() - self.began > seconds

    def _waited(self, seconds: float) -> bool:
        return time.monotonic() - self.since > seconds

    def _read(self, query: Callable[[object], bool]) -> bool:
        desk = self.window.hub.desk
        if desk is None:
            return False
        try:
            with desk.reader() as reader:  # a script may read on the GUI thread; the window never does
                return query(reader)
        except Exception:
            return False

    def _memorized(self) -> bool:
        return self._read(lambda r: bool(r.clips()) and all(c.state in ("episodic", "done") for c in r.clips()))  # type: ignore[attr-defined]

    def _ask(self) -> None:
        chat = self.window.findChild(ChatView)
        if chat is not None:
            chat.ask(QUESTION)

    def _answered(self) -> bool:
        return self._read(lambda r: bool(r.chats()))  # type: ignore[attr-defined]

    def _save(self, name: str) -> None:
        screen = QApplication.primaryScreen()
        screen.grabWindow(int(self.window.winId())).save(str(self.folder / f"{name}{self.suffix}.png"))


class _LiveScript(_Script):
    """The layout for demos in each size and theme, once a name and words are on the picture and a question is answered."""

    patience = 420.0

    def __init__(self, window: main_window.MainWindow, folder: Path, suffix: str, name: str) -> None:
        super().__init__(window, folder, suffix, name)
        self._named = False
        self._answers = 0
        window.hub.happened.connect(self._hear)
        self.steps = [
            (lambda: self._read(lambda r: any(p.screen_time for p in r.people())), self._name),  # type: ignore[attr-defined]
            (lambda: self._named and self._waited(2), lambda: self._ask_live()),
            (lambda: self._answers > 0, lambda: None),
        ]
        for theme in ("light", "dark"):
            for size in SIZES:
                self.steps.append((lambda: True, lambda theme=theme, size=size: self._dress(theme, size)))  # type: ignore[misc]
                self.steps.append(
                    (
                        lambda: self._waited(2.5) and self._on_picture(),
                        lambda theme=theme, size=size: self._save(f"live-{size[0]}x{size[1]}-{theme}"),  # type: ignore[misc]
                    )
                )

    def _hear(self, event: object) -> None:
        self._answers += isinstance(event, events.AskDone)

    def _name(self) -> None:
        """Name the person who is heard most."""

        def most(reader: object) -> str:
            return str(max(reader.people(), key=lambda p: (p.speech_time, p.screen_time)).id)  # type: ignore[attr-defined]

        def name(person: str) -> None:
            self.window.hub.correct("name", {"person": person, "name": self.name}, quiet=True)
            self._named = True

        self.window.hub.read("screenshots", most, name)

    def _ask_live(self) -> None:
        chat = self.window.findChild(ChatView)
        if chat is not None:
            chat.ask(LIVE_QUESTION)

    def _dress(self, theme: str, size: tuple[int, int]) -> None:
        self.window.apply_settings({"theme": theme})
        self.window.resize(*size)
        self.window.move(0, 0)
        self.window.notices.dismiss()

    def _on_picture(self) -> bool:
        """Return whether a name is on the picture and words are below it, or the wait for them is over."""
        canvas = self.window.live.view.canvas
        return (any(box.name for box in canvas.boxes()) and bool(canvas.said())) or self._waited(40)

    def _save(self, name: str) -> None:
        self.window.grab().save(str(self.folder / f"{name}{self.suffix}.png"))


if __name__ == "__main__":
    sys.exit(main())
