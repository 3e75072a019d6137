"""The main window: the video in the centre, docks around it, three layouts; opens memories and accepts dropped files."""

from __future__ import annotations

import contextlib
import importlib
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QFrame,
    QMainWindow,
    QMessageBox,
    QScrollArea,
    QStackedWidget,
    QWidget,
)
from shiboken6 import isValid

from m3desk import __version__, config, paths, private
from m3desk.domain.ids import clip_id
from m3desk.domain.sample_files import is_import, is_picture
from m3desk.errors import DownloadError, M3DeskError
from m3desk.events import Damaged
from m3desk.media.capture.address import is_live
from m3desk_ui.hub.bridge import Hub
from m3desk_ui.hub.selection_trail import SelectionTrail
from m3desk_ui.live import choices
from m3desk_ui.live.stage import LiveStage
from m3desk_ui.look import plain, texts, theme
from m3desk_ui.look.enter_presses import EnterPresses
from m3desk_ui.look.focus_ring import FocusRing
from m3desk_ui.look.on_show import is_on_show
from m3desk_ui.look.play_keys import plays
from m3desk_ui.memory.sources_view import VIDEO_FILTER, SourcesView
from m3desk_ui.timeline.view import TimelineView
from m3desk_ui.video.transcript_view import TranscriptView
from m3desk_ui.video.video_view import VideoView
from m3desk_ui.window import areas, files, importing, restoring
from m3desk_ui.window.actions import Actions
from m3desk_ui.window.docks import Docks
from m3desk_ui.window.full_screen import DockShares, FullScreen
from m3desk_ui.window.middle import Middle
from m3desk_ui.window.notice_bar import NoticeBar
from m3desk_ui.window.search_palette import SearchPalette
from m3desk_ui.window.start_page import StartPage
from m3desk_ui.window.status import Status
from m3desk_ui.window.window_state import WindowState, picture_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from m3desk.ports import Desk, Reader
    from m3desk_ui.hub.services import Services

MOST_STOPS = 500
"""More widgets that take the focus than a window has."""


class MainWindow(QMainWindow):
    """The main window; shows one memory at a time. `services` opens memories and creates players."""

    def __init__(self, services: Services, state: WindowState) -> None:
        super().__init__()
        self.services, self.state = services, state
        self.hub = Hub(self)
        self.trail = SelectionTrail(self.hub.selection, self)
        self._opening = ""
        self._openings = 0
        self._arranged = False
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(True)
        self.setDockOptions(self.dockOptions() | QMainWindow.DockOption.GroupedDragging)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, self._tabs_on_top())
        self.start = StartPage(self.hub)
        self.video = VideoView(self.hub, services.make_player)
        self.notices = NoticeBar(self.hub)
        self.pages = QStackedWidget()
        self.front = QScrollArea()  # the first page is taller than a small window's video needs to be
        self.front.setWidgetResizable(True)
        self.front.setFrameShape(QFrame.Shape.NoFrame)
        self.front.setAccessibleName(self.tr("Start page"))
        self.front.setWidget(self.start)
        self.pages.addWidget(self.front)
        self.pages.addWidget(self.video)
        self.live = LiveStage(self)
        self.pages.addWidget(self.live.view)
        middle = Middle(self.pages, self.notices, self.front)
        middle.add_below(self.live.bar)
        self.setCentralWidget(middle)
        self.timeline = TimelineView(self.hub)
        self.transcript = TranscriptView(self.hub)
        self.sources = SourcesView(self.hub)
        self.timeline_focus = self.timeline.canvas
        self.timeline.bookmarks_wanted.connect(self.show_bookmarks)
        self.dock_area = Docks(self, self.hub, state, {"timeline": self.timeline, "transcript": self.transcript, "sources": self.sources})
        self.docks = self.dock_area.all
        self._status = Status(self.hub, self.live.session)
        self.setStatusBar(self._status)
        self.actions_ = Actions(self)
        self.importing = importing.Importing(self)
        self.full = FullScreen(self)
        self._shares = DockShares(self)
        self._ring = FocusRing(self)
        self._enter = EnterPresses(self)
        self.palette_: SearchPalette | None = None
        self._refused: list[str] = []  # what was told of dropped files
        self._connect()
        self._title()
        self.dock_area.show(False)
        with contextlib.suppress(ValueError):
            speed, volume, muted = state.text("playing").split()
            self.video.transport.restore(float(speed), int(volume), muted == "1")
        geometry = state.bytes("geometry")
        if geometry is None or not self.restoreGeometry(geometry):
            self.resize(1440, 900)

    @staticmethod
    def _tabs_on_top() -> Any:
        from PySide6.QtWidgets import QTabWidget

        return QTabWidget.TabPosition.North

    def _connect(self) -> None:
        self.start.open_video.connect(self.choose_video)
        self.start.open_memory.connect(self.choose_memory)
        self.start.use_live.connect(self.live.show_start)
        self.start.try_demo.connect(self.try_demo)
        self.start.recent_chosen.connect(self.open_memory)
        self.sources.add_wanted.connect(self.add_videos)
        self.sources.dropped.connect(self.take_files)
        self.video.full_screen.connect(self.toggle_full_screen)
        self.video.locate.clicked.connect(self.locate_video)
        self.hub.selection.wanted.connect(self.dock_area.bring_forward)
        self.hub.selection.toggled.connect(self.video.toggle)
        self.hub.selection.asked_about.connect(lambda _q: self.dock_area.bring_forward("chat"))
        self.trail.moved.connect(self.actions_.enable_trail)
        self.hub.opened.connect(lambda _path: self.trail.clear())
        self.hub.corrected.connect(lambda _e: self.actions_.enable_undo())
        self.hub.engine_ready.connect(lambda _e: self.actions_.enable_undo())
        self.hub.clip_committed.connect(lambda _e: self._keep_picture())
        self.hub.engine_ready.connect(lambda _e: self._keep_picture())  # forgetting somebody takes the old one away

    # ------------------------------------------------------------ opening

    def open_memory(self, path: str, then: Callable[[Desk], None] | None = None) -> None:
        """Open a memory (created if missing), and call a function once its engine is started."""
        path = str(Path(path).absolute())
        if path == self.hub.path and self.hub.desk is not None:
            self._opening = ""
            self._openings += 1
            if then is not None:
                then(self.hub.desk)
            return
        if path == self._opening and then is None:
            return
        self._leave()
        self._opening = path
        self._openings += 1
        opening = self._openings
        self.pages.setCurrentWidget(self.video)

        def start() -> tuple[Desk | Damaged, bool]:
            files.check_name(path)
            if (wrong := self.services.damage(path)) is not None:
                return wrong, False
            new = not files.is_file(Path(path) / "memory.sqlite")
            return self.services.open_desk(path), new

        def made(found: tuple[Desk | Damaged, bool]) -> None:
            desk, new = found
            if opening != self._openings:  # another was opened meanwhile, or none is wanted any more
                if not isinstance(desk, Damaged):
                    threading.Thread(target=desk.close, name="closing", daemon=True).start()
            elif isinstance(desk, Damaged):
                self._opening = ""
                self.close_memory()
                restoring.offer(self, desk, lambda: self.open_memory(path, then))
            else:
                self.show_desk(desk, path, then, new=new)

        self.hub.work(start, made, lambda error: self._not_opened(error) if opening == self._openings else None)

    def expect_memory(self) -> None:
        """Arrange the docks before the window is first shown, if a memory opens at once: later the change would be visible."""
        self.pages.setCurrentWidget(self.video)
        self.dock_area.show(True)
        self._arranged = True

    def show_imported(self, desk: Desk, path: str, told: Sequence[Any]) -> None:
        """Show a memory that was imported while another, or none, was open. `told`: what its engine told when it began."""
        self._leave()
        self._openings += 1
        self.show_desk(desk, str(Path(path).absolute()), told=told)

    def show_desk(
        self, desk: Desk, path: str, then: Callable[[Desk], None] | None = None, *, new: bool = False, told: Sequence[Any] = ()
    ) -> None:
        """Show the memory of a started desk."""
        self._opening = ""
        self.hub.open(desk, path, new=new, told=told)
        self.pages.setCurrentWidget(self.video)
        if not self._arranged:
            self.dock_area.show(True)
        self._arranged = False
        self.actions_.enable(True)
        config.remember_memory(path)
        self._title()
        self.video.canvas.setFocus()
        if new:
            where = self.tr("This new memory is stored in %1.").replace("%1", plain.line(path))
            self.hub.notice.emit("info", where, texts.not_encrypted(folder=True), "")
        if then is not None:
            then(desk)
        else:
            source, at = self.state.position(path)
            if source:
                self.video.start_at(source, at)

    def _not_opened(self, error: Exception) -> None:
        self._opening = ""
        self.hub.tell(error)
        self.close_memory()

    def close_memory(self) -> None:
        """Go back to the start page."""
        self._opening = ""
        self._openings += 1
        self._leave()
        self.hub.open(None)
        self.dock_area.show(False)
        self.actions_.enable(False)
        self.pages.setCurrentWidget(self.front)
        self.start.refresh()
        self._title()

    def _leave(self) -> None:
        """Save the window state of the open memory."""
        self.full.leave()
        if self.hub.desk is None:
            return
        self.dock_area.keep_layout()
        source, at = self.hub.selection.at
        if source:
            self.state.watched(self.hub.path, source, at)
        self.video.close_player()

    def open_video(self, path: str, memory: str | None = None) -> None:
        """Play a video at once and memorize it into its own memory; or start a live source, if `path` is the address of one."""
        if is_live(path):
            self.live.start(replace(choices.read(self.state), address=path), new=memory is None, memory=memory)
            return

        def go(memory_: str) -> None:
            self.open_memory(memory_, lambda desk: self._memorize(desk, [path], play=True))

        if memory is not None:
            go(memory)
        else:
            self.hub.work(lambda: self.services.default_memory(path), go)

    def _memorize(self, desk: Desk, videos: Sequence[str], play: bool) -> None:
        """Queue videos one after the other, so that one that cannot be read does not hold up the others; play the first that can."""
        for text in self._refused:
            self.notices.withdraw(text)
        self._refused = []
        waiting = list(videos)
        playing = not play
        if not playing and waiting and files.is_file(waiting[0]):  # at once, before the engine has looked at it
            playing = True
            self.video.open_path(waiting[0])

        def following() -> None:
            if waiting and self.hub.desk is desk:
                video = waiting.pop(0)
                self.hub.when(desk.memorize([video]), lambda _ids: queued(video), lambda error: refused(video, error))

        def queued(video: str) -> None:
            nonlocal playing
            if not playing and files.is_file(video):
                playing = True
                self.video.open_path(video)
            following()

        def refused(video: str, error: Exception) -> None:
            nonlocal playing
            playing = playing and (not play or self.video.path != video)
            self._refused.append(str(error))
            self.hub.tell(error)
            following()

        following()

    def take_files(self, dropped: Sequence[str]) -> None:
        """Handle dropped files: open or import a memory, search people by a picture, or memorize videos (into the open memory, else a
        new one)."""
        memories = [f for f in dropped if f.rstrip("/").endswith(".m3desk")]
        if memories:
            self.open_known(memories[0])
            return
        if not dropped:
            return
        if any(is_import(f) for f in dropped):
            self._import(dropped)
            return
        if self.hub.desk is not None and all(is_picture(f) for f in dropped):
            self.search_everywhere(dropped[0])
        elif self.hub.desk is not None:
            self._memorize(self.hub.desk, dropped, play=not self.video.path)
        else:
            first = dropped[0]
            self.hub.work(
                lambda: self.services.default_memory(first),
                lambda m: self.open_memory(m, lambda desk: self._memorize(desk, dropped, play=True)),
            )

    def _import(self, dropped: Sequence[str]) -> None:
        """Import the first file that holds a memory; the one video beside it is taken for its video."""
        file = next(f for f in dropped if is_import(f))
        others = [f for f in dropped if f != file]
        video = others[0] if len(others) == 1 and not is_import(others[0]) else ""
        if others and not video:
            only = self.tr("Only %1 is imported. Drop the other files when it is open.").replace(
                "%1", plain.line(Path(file).name, plain.ENTRY)
            )
            self.hub.notice.emit("info", only, "", "")
        self.importing.start(file, video)

    def try_demo(self) -> None:
        """Download the demo clip if missing, then play and memorize it."""
        self.start.demo.setEnabled(False)
        memory = paths.data_dir() / "memories" / "demo.m3desk"

        def download(desk: Desk) -> None:
            self.hub.notice.emit("info", self.tr("Downloading the demo clip …"), "", "")
            self.hub.when(desk.pull(names=["demo"]), lambda _n: self.hub.when(desk.models(), lambda rows: play(desk, rows), failed), failed)

        def play(desk: Desk, rows: list[dict[str, Any]]) -> None:
            self.start.demo.setEnabled(True)
            self.notices.dismiss()
            place = next((Path(r["path"]) for r in rows if r["name"] == "demo" and r.get("path")), None)
            clips = [place] if place is not None and place.is_file() else sorted(place.glob("*.mp4")) if place is not None else []
            if not clips:
                failed(DownloadError(self.tr("The demo clip is not installed."), self.tr("Download it with “m3desk models pull”.")))
                return
            self._memorize(desk, [str(clips[0])], play=True)

        def failed(error: Exception) -> None:
            self.start.demo.setEnabled(True)
            self.hub.tell(error)

        private.folder(memory.parent)
        self.open_memory(str(memory), download)

    def _keep_picture(self) -> None:
        """Save a small picture of this memory for the start page (in the reading thread)."""
        place = picture_of(self.hub.path)

        def keep(reader: Reader) -> None:
            if place.exists():
                return
            first = [clip_id(source.id, n) for source in reader.sources()[:1] for n in range(3)]
            for picture in reader.thumbnails(first).values():
                if data := reader.media(picture):
                    private.folder(place.parent)
                    private.write(place, data)
                    return

        self.hub.read("recent.picture", keep, lambda _none: None, lambda _error: None)

    # ------------------------------------------------------------ actions

    def choose_video(self) -> None:
        chosen, _ = QFileDialog.getOpenFileNames(self, self.tr("Open a video"), self.state.text("folder"), self._filter())
        if chosen:
            self.state.put("folder", str(Path(chosen[0]).parent))
            if self.hub.desk is None:
                self.take_files(chosen)
            else:
                self.open_video(chosen[0])

    def choose_import(self) -> None:
        """Let the user choose a file to import: an export of M3Desk, or a graph of M3-Agent."""
        head = self.tr("Import a memory (.json of an export, .pkl.gz of M3-Agent)")
        chosen, _ = QFileDialog.getOpenFileName(self, head, self.state.text("folder"), importing.filter_of_files())
        if chosen:
            self.state.put("folder", str(Path(chosen).parent))
            self.importing.start(chosen)

    def locate_video(self) -> None:
        """Ask where the video of the source on show is now."""
        self.sources.locate_source(self.video.source)

    def add_videos(self) -> None:
        chosen, _ = QFileDialog.getOpenFileNames(self, self.tr("Memorize more videos"), self.state.text("folder"), self._filter())
        if chosen:
            self.state.put("folder", str(Path(chosen[0]).parent))
            self.take_files(chosen)

    def add_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, self.tr("Memorize the videos of a folder"), self.state.text("folder"))
        if folder:
            self.take_files([folder])

    def _filter(self) -> str:
        return self.tr("Video and sound") + f" ({VIDEO_FILTER});;" + self.tr("All files") + " (*)"

    def choose_memory(self) -> None:
        folder = QFileDialog.getExistingDirectory(
            self, self.tr("Open a memory (a folder whose name ends in .m3desk)"), self.state.text("folder")
        )
        if folder:
            self.open_known(folder)

    def open_known(self, folder: str) -> None:
        """Open an existing memory, even a damaged one; a wrong name must not create an empty one."""
        if not files.is_memory(folder):
            hint = self.tr("A memory is a folder NAME.m3desk that holds memory.sqlite.")
            self.hub.notice.emit(
                "warning", self.tr("%1 is not a memory.").replace("%1", plain.line(Path(folder).name, 2 * plain.ENTRY)), hint, ""
            )
            return
        self.open_memory(folder)

    def export(self, ending: str) -> None:
        """Let the user choose a file and its format, of which the one with this ending is offered first."""
        desk = self.hub.desk
        name = str(Path(self.hub.path).with_suffix(""))
        every = [
            (self.tr("Report"), "html"),
            (self.tr("Subtitles with names"), "srt"),
            (self.tr("Subtitles with names for web pages"), "vtt"),
            (self.tr("Table of memories"), "csv"),
            (self.tr("Graph for other programs"), "graphml"),
            (self.tr("Who speaks when"), "rttm"),
            (self.tr("Whole memory, to import it elsewhere"), "json"),
        ]
        every.sort(key=lambda kind: kind[1] != ending)
        kinds = ";;".join(f"{what} (*.{end})" for what, end in every)
        path = files.where_to_write(self, self.tr("Export"), f"{name}.{ending}", kinds)
        if path is not None and desk is not None:
            source = self.video.source if Path(path).suffix in (".vtt", ".srt", ".rttm") else None
            done = self.tr("Exported to %1").replace("%1", path)
            empty = self.tr("%1 is empty: no speech is known.").replace("%1", path)
            waiting = self.tr("It holds what is memorized so far.") if self.sources.at_work else ""

            def told(holds: bool) -> None:
                self.hub.notice.emit("info" if holds else "warning", done if holds else empty, waiting, "")

            self.hub.when(desk.export(path, None, source), told)

    def show_models(self) -> None:
        self._dialog("window.models_dialog", "ModelsDialog")

    def show_settings(self) -> None:
        self._dialog("window.settings_dialog", "SettingsDialog")

    def show_history(self) -> None:
        """Show the corrections beside the window, which stays usable."""
        self._dialog("window.history_dialog", "HistoryDialog", modal=False)

    def show_bookmarks(self) -> None:
        """Show the list of bookmarks beside the window, which stays usable."""
        self._dialog("timeline.bookmarks_dialog", "BookmarksDialog", modal=False)

    def show_problems(self) -> None:
        """Show what a check of the memory finds, beside the window."""
        self._dialog("window.problems_dialog", "ProblemsDialog", modal=False)

    def show_kept_apart(self) -> None:
        """Show whom corrections keep apart, beside the window."""
        self._dialog("people.kept_apart", "KeptApart", modal=False)

    def show_scorecard(self) -> None:
        """Ask some pairs and say how right the memory is, beside the window."""
        self._dialog("people.scorecard", "Scorecard", modal=False)

    def about_people(self, act: str) -> None:
        """Do something with the selected person: a function of `people.person_menu`."""
        self.hub.work(lambda: importlib.import_module("m3desk_ui.people.person_menu"), lambda menu: getattr(menu, act)(self.hub, self))

    def search_everywhere(self, sample: str = "") -> None:
        """Open the search over the whole window; `sample`: a picture or recording to search people by."""
        if self.hub.desk is None:
            return
        if self.palette_ is None or not isValid(self.palette_):
            rows = [(title, a) for title, menu in self.actions_.menus for a in menu.actions() if a.text() and a.menu() is None]
            self.palette_ = SearchPalette(self.hub, rows, self)
            self.palette_.went_to_person.connect(lambda: areas.focus(self.dock_area.views["people"]))
            place = self.mapToGlobal(self.rect().topLeft())
            self.palette_.move(place.x() + max(0, (self.width() - self.palette_.width()) // 2), place.y() + 40)
        self.palette_.show()
        self.palette_.raise_()
        self.palette_.activateWindow()
        self.palette_.search.setFocus()
        if sample:
            self.palette_.search_file(sample)

    def _graph_in_use(self) -> Any:
        """Return the graph's view while it has the focus: Back and Forward step through what it showed then."""
        graph, focus = self.dock_area.views.get("graph"), QApplication.focusWidget()
        return graph if graph is not None and focus is not None and graph.isAncestorOf(focus) else None

    def can_step(self, *, back: bool) -> bool:
        """Return whether Back (or Forward) leads anywhere, in the selections or in the graph."""
        graph = self.dock_area.views.get("graph")
        return self.hub.desk is not None and (graph is not None or self.trail.can_go[0 if back else 1])

    def step_selection(self, *, back: bool) -> None:
        """Select what was selected before (or after that); with the focus in the graph, show what it showed."""
        graph = self._graph_in_use()
        if graph is not None and graph.trail.can_go[0 if back else 1]:
            graph.go(back=back)
        else:
            self.trail.go(back=back)

    def _dialog(self, module: str, cls: str, modal: bool = True) -> None:
        def show(found: Any) -> None:
            dialog = getattr(found, cls)(self.hub, parent=self)
            if hasattr(dialog, "changed"):
                dialog.changed.connect(self.apply_settings)
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            if modal:
                dialog.open()
            else:
                dialog.show()

        self.hub.work(lambda: importlib.import_module(f"m3desk_ui.{module}"), show)

    def find_memories(self) -> None:
        self.dock_area.bring_forward("memories")

    def ask(self) -> None:
        self.dock_area.bring_forward("chat")

    def toggle_boxes(self) -> None:
        self.video.canvas.overlay = self.actions_.all["boxes"].isChecked()
        self.video.canvas.update()

    def toggle_subtitles(self) -> None:
        self.video.canvas.subtitles = self.actions_.all["subtitles"].isChecked()
        self.video.canvas.update()

    def toggle_pause(self) -> None:
        self.sources.set_paused(self.actions_.all["pause"].isChecked())

    def retry_failed(self) -> None:
        desk = self.hub.desk
        if desk is not None:
            for row in self.sources.model.rows:
                if row.failed or row.source.state in ("failed", "partial"):
                    desk.retry(row.source.id)

    def toggle_full_screen(self) -> None:
        self.full.toggle()

    def dress_full_screen(self) -> None:
        """Show what full screen shows in this layout."""
        self.full.dress()

    def about(self) -> None:
        text = self.tr(
            "Plays videos and builds a memory of them that you can explore, question and correct. Nothing leaves this machine. Apache-2.0."
        )
        box = plain.box(self, QMessageBox.Icon.Information, self.tr("About M3Desk"), f"M3Desk {__version__}", text)
        box.addButton(QMessageBox.StandardButton.Ok)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    # ------------------------------------------------------------ settings

    def setting(self, key: str) -> str:
        """Return a setting of the window: "theme" (system, light, dark) or "language" (system, en, zh)."""
        return str(config.get_value(key))

    def apply_settings(self, changed: dict[str, Any]) -> None:
        """Save changed settings and apply them at once."""
        from m3desk_ui import launch

        try:
            for key, value in changed.items():
                if config.get_value(key) != value:
                    config.set_value(key, value)
        except M3DeskError as error:
            self.hub.tell(error)
            return
        app = QApplication.instance()
        if isinstance(app, QApplication):
            if "theme" in changed:
                theme.apply(app, self.setting("theme"))
            if "language" in changed:
                launch.use_language(app, self.setting("language"))
                self.hub.notice.emit("info", self.tr("Restart M3Desk to apply the language everywhere."), "", "")
        self._retheme()

    def _retheme(self) -> None:
        self.video.transport.retheme()
        for name, dock in self.docks.items():
            dock.setWindowTitle(self.dock_area.title_of(name))
        self.actions_.build()
        self.dress_full_screen()
        self.hub.themed.emit()

    def _title(self) -> None:
        name = Path(self.hub.path).name.removesuffix(".m3desk") if self.hub.path else ""
        self.setWindowTitle(plain.title(f"{plain.line(name, 2 * plain.ENTRY)} — M3Desk") if name else "M3Desk")

    # ------------------------------------------------------------ files dropped, closing

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.setDropAction(Qt.DropAction.CopyAction)  # a file manager that proposes a move must not delete the file
            event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        dropped = [u.toLocalFile() for u in event.mimeData().urls() if u.isLocalFile()]
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self.take_files(dropped)

    def step_area(self, *, back: bool) -> None:
        """Give the focus to the next (previous) area of the window: the picture, or a view."""
        page = self.pages.currentWidget()
        views = (self.dock_area.views[name] for name, dock in self.docks.items() if name in self.dock_area.views and dock.isVisible())
        area = areas.next_area([*([] if page is None else [page]), *views], self, back=back)
        if area is not None:
            self._ring.moving(True)
            areas.focus(area)
            self._ring.moving(False)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus by Tab, never into a dock that lies behind another: Qt calls its widgets visible."""
        self._ring.moving(True)
        try:
            first = QApplication.focusWidget()
            moved = super().focusNextPrevChild(forward)
            for _ in range(MOST_STOPS):
                now = QApplication.focusWidget()
                if not moved or now is None or now is first or not self._is_behind(now):
                    break
                moved = super().focusNextPrevChild(forward)
            return moved
        finally:
            self._ring.moving(False)

    def _is_behind(self, widget: QWidget) -> bool:
        if widget.parentWidget() is self and not widget.geometry().intersects(self.rect()):
            return True  # Qt keeps bars of tabs that no docks need any more beside the window
        dock = next((d for d in self.docks.values() if d.isAncestorOf(widget)), None)
        return dock is not None and not is_on_show(dock)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.isFullScreen():
            self.toggle_full_screen()
        elif plays(event) and self.hub.desk is not None and self.pages.currentWidget() is self.video:
            self.video.toggle()  # nothing that has the focus uses the key
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.live.fit_texts_soon()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._leave()
        self.state.put("geometry", self.saveGeometry())
        t = self.video.transport
        self.state.put("playing", f"{t.speed_now():g} {round(100 * t.volume_now())} {int(t.muted())}")
        self.state.save()
        self.hide()
        QCoreApplication.processEvents()
        self.video.close_player()
        self.importing.shut_down()
        self.live.shut_down()
        for view in self.dock_area.views.values():
            stop = getattr(view, "shut_down", None)
            if stop is not None:
                stop()
        self.hub.close()
        event.accept()
