"""Starts the window: shows it first (within 2 s), then loads the rest."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Before Qt and before any thread: PySide looks at each module that is imported, and pydantic's then fail in a thread while another thread
# imports them too ("cannot import name 'import_string' from partially initialized module"); seen twice when a memory was opened.
import m3desk.domain.shape  # noqa: F401  # isort: skip

from PySide6.QtCore import QLibraryInfo, QLocale, QTimer, QTranslator
from PySide6.QtGui import QFont, QFontInfo, QIcon
from PySide6.QtWidgets import QApplication

from m3desk import config, logs, paths, private
from m3desk.errors import M3DeskError
from m3desk_ui.hub.services import Services, real
from m3desk_ui.look import theme
from m3desk_ui.window.main_window import MainWindow
from m3desk_ui.window.window_state import WindowState

if TYPE_CHECKING:
    from m3desk_ui.hub.stall_probe import StallProbe

CHINESE = ("Noto Sans CJK SC", "Source Han Sans SC", "WenQuanYi Micro Hei", "Microsoft YaHei UI", "PingFang SC")
"""Families of Chinese characters on Linux, Windows and macOS."""

QT_LACKS = ("&Look in:", "Files of &type:", "Folder")
"""Texts of Qt's file dialog that its own Chinese catalogue has in an older wording only: ours has them."""

_translators: list[QTranslator] = []


def use_language(app: QApplication, language: str) -> None:
    """Set the language of the texts: "en", "zh", or "system" (the system's, if there is a translation)."""
    for old in _translators:
        app.removeTranslator(old)
    _translators.clear()
    wanted = QLocale.system().name() if language in ("", "system") else language
    if wanted.startswith("zh"):
        QLocale.setDefault(QLocale("zh_CN"))
        places = (
            (str(paths.resources() / "translations"), "m3desk_zh_CN"),
            (QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath), "qtbase_zh_CN"),
        )
        for folder, name in places:
            translator = QTranslator(app)
            if translator.load(name, folder):
                app.installTranslator(translator)
                _translators.append(translator)
    else:
        QLocale.setDefault(QLocale("en") if language == "en" else QLocale.system())


def make_app(arguments: list[str] | None = None) -> QApplication:
    """Return the QApplication (created once), with its name and a font that has Chinese characters."""
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    app = QApplication(arguments or ["m3desk"])
    app.setApplicationName("m3desk")
    app.setApplicationDisplayName("")
    app.setDesktopFileName("m3desk")
    font = with_chinese(app.font())
    app.setFont(font)
    app.setWindowIcon(QIcon(str(paths.resources() / "icons" / "m3desk.svg")))
    return app


def with_chinese(font: QFont) -> QFont:
    """Return the font with named Chinese fallbacks: left to itself, fontconfig mixes weights and Japanese forms into Chinese.

    The font's own family is resolved first: in a list, Qt passes over a generic name such as "Sans Serif" and draws Latin with a fallback.
    """
    found = QFont(font)
    found.setFamilies([QFontInfo(font).family(), *font.families(), *CHINESE])
    return found


def run(*, memory: str | None = None, source: str | None = None, services: Services | None = None, state: WindowState | None = None) -> int:
    """Show the window (on a memory, or playing a source, or its start page) until it is closed; return the exit code.

    The caller has checked that a display can be opened: a set but dead DISPLAY makes Qt abort, not raise.
    """
    sys.setswitchinterval(0.001)  # other threads give the interpreter back within 1 ms instead of 5
    app = make_app()
    state = state or WindowState()
    look, language = _settings()
    theme.apply(app, look)
    use_language(app, language)
    window = MainWindow(services or real(), state)
    if memory is not None or source is not None:
        window.expect_memory()
    probe = _probe(window)
    window.show()
    QTimer.singleShot(0, window, lambda: _after_show(window, memory, source))
    app.styleHints().colorSchemeChanged.connect(lambda _scheme: _follow_system(window))
    interrupted = _take_care(window)
    code = app.exec()
    if probe is not None:
        probe.write()
    return 130 if interrupted else code


def _follow_system(window: MainWindow) -> None:
    if _settings()[0] == "system":
        window.apply_settings({"theme": "system"})


def _take_care(window: MainWindow) -> list[int]:
    """Handle exceptions and Ctrl-C: an unexpected exception is logged and shown with a report, and the window stays open; Ctrl-C closes it.

    Returns a list that contains the signal once one was received.
    """
    with contextlib.suppress(OSError):
        private.folder(paths.log_dir())
        logging.basicConfig(
            filename=private.file(paths.log_dir() / "window.log"),
            level=logging.INFO,
            format="%(asctime)s %(name)s %(levelname)s %(message)s",
        )
        logs.one_line()

    def fault(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if isinstance(error, Exception):
            window.hub.later(lambda: window.hub.tell(error))
        else:
            sys.__excepthook__(kind, error, trace)

    sys.excepthook = fault
    threading.excepthook = lambda args: fault(args.exc_type, args.exc_value or RuntimeError("unknown"), args.exc_traceback)
    interrupted: list[int] = []

    def stop(number: int, _frame: Any) -> None:
        interrupted.append(number)
        window.close()

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, stop)
        signal.signal(signal.SIGTERM, stop)
        look = QTimer(window)  # Python sees signals only while it runs: let it, twice a second
        look.timeout.connect(lambda: None)
        look.start(500)
    return interrupted


def _settings() -> tuple[str, str]:
    """Return theme and language; an unreadable settings file must not prevent the window from opening."""
    try:
        return str(config.get_value("theme")), str(config.get_value("language"))
    except M3DeskError:
        return "system", "system"


def _after_show(window: MainWindow, memory: str | None, source: str | None) -> None:
    if source is not None:
        window.open_video(source, memory)
    elif memory is not None:
        window.open_memory(memory)
    else:
        window.start.refresh()
    window.dock_area.load_rest()
    if source is None and memory is None:
        # The look at the machine starts a process; the window's own views come first.
        QTimer.singleShot(
            1500, window, lambda: window.hub.work(window.services.doctor, window.start.show_machine, window.start.machine_unknown)
        )
    for milliseconds in (2500, 8000):
        QTimer.singleShot(milliseconds, window, _freeze)


def _freeze() -> None:
    """Exclude loaded modules from garbage collection: a full collection over them costs the window tens of milliseconds.

    No collection is run first: it would take that long itself (134 ms measured), and little of it is garbage.
    """
    gc.freeze()


def _probe(window: MainWindow) -> StallProbe | None:
    place = os.environ.get("M3DESK_STALL_LOG")
    if not place:
        return None
    from m3desk_ui.hub.stall_probe import StallProbe

    return StallProbe(Path(place), window)
