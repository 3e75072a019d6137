"""Makes the README's pictures from the demo clip: the real window, the real engine, on whatever display there is.

usage: xvfb-run -a -s "-screen 0 1600x1000x24" python packaging/screenshots.py [FOLDER] [--zh]
"""

from __future__ import annotations

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

from m3desk import models

QUESTION = "What does the text on the screen say?"


def main() -> int:
    """Play the demo clip until its memory is done, ask one question, and save the window."""
    folder = Path(next((a for a in sys.argv[1:] if not a.startswith("-")), "packaging/screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    demo = models.weights("demo") / "obama_speech.mp4"
    with tempfile.TemporaryDirectory(prefix="m3desk-shots-") as scratch:
        os.environ["M3DESK_MODELS"] = str(models.folder())  # before the data folder moves away from it
        os.environ["M3DESK_DATA"] = scratch
        return _shoot(str(demo), str(Path(scratch) / "demo.m3desk"), folder)


def _shoot(video: str, memory: str, folder: Path) -> int:
    shown = main_window.MainWindow.show
    suffix = "-zh" if "--zh" in sys.argv else ""
    state = WindowState()
    if suffix:
        state.put("language", "zh_CN")

    def show(window: main_window.MainWindow) -> None:
        shown(window)
        window.resize(1560, 960)
        _scripts.append(_Script(window, folder, suffix))  # PySide keeps no reference to what a timer calls
        _scripts[-1].start()

    main_window.MainWindow.show = show  # type: ignore[method-assign]
    return launch.run(memory=memory, source=video, services=real(), state=state)


_scripts: list[_Script] = []


class _Script:
    """Steps that wait for something to be so, then act; gives up after four minutes."""

    def __init__(self, window: main_window.MainWindow, folder: Path, suffix: str) -> None:
        self.window, self.folder, self.suffix = window, folder, suffix
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
        if not self.steps or time.monotonic() - self.began > 150:
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


if __name__ == "__main__":
    sys.exit(main())
