"""Every action of the window with its menu, shortcut and tip; F1 lists them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHeaderView, QMenu, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from m3desk import config
from m3desk_ui.look import plain
from m3desk_ui.look.search_field import SearchField
from m3desk_ui.timeline import marking

if TYPE_CHECKING:
    from m3desk_ui.window.main_window import MainWindow


class Actions:
    """Builds the menu bar of a MainWindow; keeps the actions by name in `all`."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window
        self.all: dict[str, QAction] = {}
        self.menus: list[tuple[str, QMenu]] = []
        self.build()

    def _menu(self, title: str) -> QMenu:
        menu = self.window.menuBar().addMenu(title)
        self.menus.append((re.sub(r"\(&.\)|&", "", title), menu))
        return menu

    def _add(
        self,
        menu: QMenu,
        name: str,
        text: str,
        act: Callable[[], object],
        keys: str | QKeySequence.StandardKey = "",
        *,
        checkable: bool = False,
    ) -> QAction:
        action = QAction(text, self.window)
        if keys:
            action.setShortcut(QKeySequence(keys))
        action.setCheckable(checkable)
        action.triggered.connect(lambda _checked=False: act())
        menu.addAction(action)
        self.all[name] = action
        return action

    def build(self) -> None:
        """Fill the menu bar (again, after a change of language)."""
        self.keep_shortcuts(False)
        self.window.menuBar().clear()
        self.menus.clear()
        self.all.clear()
        self._file()
        self._edit()
        self._play()
        self._live()
        self._memory()
        self._people()
        self._view()
        self._help()
        self.enable(self.window.hub.desk is not None)

    def enable(self, memory_open: bool) -> None:
        """Disable actions that need an open memory while none is open."""
        for name in ("add", "folder", "export", "export_subtitles", "close", "find", "ask", "pause", "retry", "play", "back", "on",
                     "step_back", "step_on", "faster", "slower", "mute", "play_anywhere",
                     "zoom_in", "zoom_out", "zoom_off", "boxes", "subtitles", "history", "search", "problems",
                     "bookmark", "bookmark_note", "next_bookmark", "last_bookmark", "bookmarks",
                     "teach", "voices", "walls", "scorecard", "forget_person"):  # fmt: skip
            if name in self.all:
                self.all[name].setEnabled(memory_open)
        for action in self.window.dock_area.actions():
            action.setEnabled(memory_open)
        for name in ("layout_explore", "layout_live", "layout_people"):
            self.all[name].setEnabled(memory_open)
        self.enable_undo()
        self.enable_trail()
        self.enable_live()

    def enable_trail(self) -> None:
        """Grey Back and Forward where there is nothing to go to."""
        self.all["go_back"].setEnabled(self.window.can_step(back=True))
        self.all["go_on"].setEnabled(self.window.can_step(back=False))

    def enable_live(self) -> None:
        """Grey what needs a live source while none runs, and say what its key does next."""
        translate, session, memory_open = QCoreApplication.translate, self.window.live.session, self.window.hub.desk is not None
        self.all["live_toggle"].setText(
            translate("Actions", "Stop the live source") if session.running else translate("Actions", "Start with the last devices")
        )
        self.all["live_pause"].setText(
            translate("Actions", "Continue recording") if session.paused else translate("Actions", "Pause: stop the devices")
        )
        for name in ("live_pause", "live_edge", "live_forget"):
            self.all[name].setEnabled(session.running)
        self.all["live_start"].setEnabled(not session.running)
        for name in ("watch", "retention", "forget_span"):
            self.all[name].setEnabled(memory_open)

    def keep_shortcuts(self, bare: bool) -> None:
        """Let the shortcuts go on working while the menu bar is hidden: Qt asks only actions of what is on the screen."""
        for action in self.all.values():
            if action.shortcutContext() == Qt.ShortcutContext.WindowShortcut:
                (self.window.addAction if bare else self.window.removeAction)(action)

    def enable_undo(self) -> None:
        """Grey undo and redo while there is no correction that they would take."""
        self.all["undo"].setEnabled(self.window.hub.can_undo)
        self.all["redo"].setEnabled(self.window.hub.can_redo)

    def _file(self) -> None:
        w, translate = self.window, QCoreApplication.translate
        m = self._menu(translate("Actions", "&File"))
        self._add(m, "open_video", translate("Actions", "Open a video…"), w.choose_video, QKeySequence.StandardKey.Open)
        self._add(m, "open_memory", translate("Actions", "Open a memory…"), w.choose_memory, "Ctrl+Shift+O")
        chosen = self._add(m, "import", translate("Actions", "Import a memory…"), w.choose_import, "Ctrl+I")
        plain.tip(
            chosen, translate("Actions", "A .json of M3Desk's export, or a .pkl.gz of M3-Agent; you can also drop it onto the window")
        )
        self.recent = m.addMenu(translate("Actions", "Recent memories"))
        self.recent.aboutToShow.connect(self._fill_recent)
        self._add(m, "demo", translate("Actions", "Try the demo"), w.try_demo)
        m.addSeparator()
        self._add(m, "add", translate("Actions", "Add videos to this memory…"), w.add_videos, "Ctrl+Shift+A")
        self._add(m, "folder", translate("Actions", "Add a folder…"), w.add_folder)
        every = self._add(
            m, "export", translate("Actions", "Export…"), lambda: w.export("html"), "Ctrl+Shift+E"
        )  # a line of text takes Ctrl+E
        plain.tip(every, translate("Actions", "A report, subtitles, a table, a graph, who speaks when, or the whole memory"))
        self._add(m, "export_subtitles", translate("Actions", "Export subtitles with names…"), lambda: w.export("srt"))
        m.addSeparator()
        self._add(m, "models", translate("Actions", "Models…"), w.show_models)
        self._add(m, "settings", translate("Actions", "Settings…"), w.show_settings, "Ctrl+,")
        m.addSeparator()
        self._add(m, "close", translate("Actions", "Close the memory"), w.close_memory, "Ctrl+W")
        self._add(m, "quit", translate("Actions", "Quit"), w.close, QKeySequence.StandardKey.Quit)

    def _fill_recent(self) -> None:
        self.recent.clear()
        for memory in config.recent_memories():
            self.recent.addAction(plain.entry(memory), partial(self.window.open_memory, memory))
        if self.recent.isEmpty():
            self.recent.addAction(QCoreApplication.translate("Actions", "None yet")).setEnabled(False)

    def _edit(self) -> None:
        w, translate = self.window, QCoreApplication.translate
        m = self._menu(translate("Actions", "&Edit"))
        self._add(m, "undo", translate("Actions", "Undo the last correction"), w.hub.undo, QKeySequence.StandardKey.Undo)
        self._add(m, "redo", translate("Actions", "Redo"), w.hub.redo, "Ctrl+Shift+Z")
        self._add(m, "history", translate("Actions", "History of corrections…"), w.show_history, "Ctrl+H")
        m.addSeparator()
        search = self._add(m, "search", translate("Actions", "Search everywhere…"), w.search_everywhere, "Ctrl+K")
        plain.tip(
            search,
            translate("Actions", "People, memories, words spoken, bookmarks, clips and actions; or who is in a picture or a recording"),
        )
        self._add(m, "find", translate("Actions", "Find in memories"), w.find_memories, QKeySequence.StandardKey.Find)
        self._add(m, "ask", translate("Actions", "Ask a question"), w.ask, "Ctrl+L")
        m.addSeparator()
        mark = self._add(m, "bookmark", translate("Actions", "Bookmark this moment"), lambda: marking.add(w.hub), "B")
        plain.tip(mark, translate("Actions", "The moment that the picture shows, or the span that is chosen on the timeline"))
        self._add(m, "bookmark_note", translate("Actions", "Bookmark with a note…"), lambda: marking.add_with_note(w.hub, w), "Ctrl+D")
        self._add(m, "next_bookmark", translate("Actions", "Next bookmark"), w.timeline.to_bookmark, "N")
        self._add(m, "last_bookmark", translate("Actions", "Previous bookmark"), lambda: w.timeline.to_bookmark(back=True), "Shift+N")
        self._add(m, "bookmarks", translate("Actions", "Bookmarks…"), w.show_bookmarks, "Ctrl+Shift+B")
        for name in ("bookmark", "next_bookmark", "last_bookmark"):  # letters: only where the picture or the timeline has the focus
            self.all[name].setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            for widget in (w.video.canvas, w.timeline_focus):
                widget.addAction(self.all[name])

    def _play(self) -> None:
        w, translate, t = self.window, QCoreApplication.translate, self.window.video.transport
        m = self._menu(translate("Actions", "&Play"))
        near = [w.video.canvas, w.timeline_focus]
        self._add(m, "play", translate("Actions", "Play or pause"), w.video.toggle, "Space")
        self._add(m, "back", translate("Actions", "Back 5 seconds"), lambda: t.skipped.emit(-5_000_000), "Left")
        self._add(m, "on", translate("Actions", "Forward 5 seconds"), lambda: t.skipped.emit(5_000_000), "Right")
        self._add(m, "step_back", translate("Actions", "One frame back"), lambda: w.video.step(-1), ",")
        self._add(m, "step_on", translate("Actions", "One frame forward"), lambda: w.video.step(1), ".")
        # Only where the picture or the timeline has the focus: elsewhere these keys type, press buttons and walk lists.
        for name in ("play", "back", "on", "step_back", "step_on"):
            action = self.all[name]
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            for widget in near:
                widget.addAction(action)
        self.all["play"].setShortcuts([QKeySequence("Space"), QKeySequence("K")])
        self._add(m, "play_anywhere", translate("Actions", "Play or pause from anywhere"), w.video.toggle, "Ctrl+Space")
        m.addSeparator()
        self._add(m, "slower", translate("Actions", "Slower"), lambda: t.change_speed(-1), "Ctrl+[")
        self._add(m, "faster", translate("Actions", "Faster"), lambda: t.change_speed(1), "Ctrl+]")
        self._add(m, "mute", translate("Actions", "Mute"), t.mute.click, "Ctrl+M")
        m.addSeparator()
        for name, text, act, key in (
            ("zoom_in", translate("Actions", "Enlarge the picture"), lambda: w.video.canvas.zoom(1.5), "+"),
            ("zoom_out", translate("Actions", "Show more of the picture"), lambda: w.video.canvas.zoom(1 / 1.5), "-"),
            ("zoom_off", translate("Actions", "Show the whole picture"), lambda: w.video.canvas.zoom_to(1.0), "0"),
        ):
            action = self._add(m, name, text, act, key)  # the timeline has these keys for itself
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            w.video.canvas.addAction(action)
        self.all["zoom_in"].setShortcuts([QKeySequence("+"), QKeySequence("=")])
        m.addSeparator()
        boxes = self._add(m, "boxes", translate("Actions", "Show faces"), w.toggle_boxes, "Ctrl+B", checkable=True)
        boxes.setChecked(w.video.canvas.overlay)
        lines = self._add(m, "subtitles", translate("Actions", "Show subtitles"), w.toggle_subtitles, "Ctrl+T", checkable=True)
        lines.setChecked(w.video.canvas.subtitles)

    def _live(self) -> None:
        w, translate = self.window, QCoreApplication.translate
        m = self._menu(translate("Actions", "&Live"))
        start = self._add(m, "live_start", translate("Actions", "Use camera and microphone…"), w.live.show_start, "Ctrl+Shift+L")
        plain.tip(start, translate("Actions", "Choose and test devices or an address, and what is kept"))
        one = self._add(m, "live_toggle", "", w.live.toggle, "F9")
        plain.tip(one, translate("Actions", "One key starts and stops; the first time it asks for the devices"))
        pause = self._add(m, "live_pause", "", w.live.toggle_pause, "F8")
        plain.tip(pause, translate("Actions", "Camera and microphone are closed until you continue"))
        edge = self._add(m, "live_edge", translate("Actions", "Go to the live edge"), w.live.show_edge, "F7")
        plain.tip(edge, translate("Actions", "From a moment in the recording back to what happens now"))
        m.addSeparator()
        forget = self._add(m, "live_forget", translate("Actions", "Forget the last 5 minutes…"), w.live.forget, "Ctrl+Shift+Backspace")
        plain.tip(forget, translate("Actions", "Shows first what would be deleted"))
        watch = self._add(m, "watch", translate("Actions", "Watch for…"), w.live.show_watch, "Ctrl+Shift+W")
        plain.tip(watch, translate("Actions", "Tell me when a person appears, a word is said or an object is seen"))

    def _memory(self) -> None:
        w, translate = self.window, QCoreApplication.translate
        m = self._menu(translate("Actions", "&Memorizing"))
        pause = self._add(m, "pause", translate("Actions", "Pause memorizing"), w.toggle_pause, "Ctrl+P", checkable=True)
        plain.tip(pause, translate("Actions", "The video plays on; memorizing waits"))
        self._add(m, "retry", translate("Actions", "Retry failed sources"), w.retry_failed)
        problems = self._add(m, "problems", translate("Actions", "Problems…"), w.show_problems, "Ctrl+Shift+K")
        plain.tip(problems, translate("Actions", "Checks the memory and lists what looks wrong, each with what mends it"))
        m.addSeparator()
        span = self._add(m, "forget_span", translate("Actions", "Forget the chosen span…"), w.live.forget_span)
        plain.tip(span, translate("Actions", "The span that is selected on the timeline; shows first what would be deleted"))
        old = self._add(m, "retention", translate("Actions", "Delete old recordings…"), w.live.show_retention)
        plain.tip(old, translate("Actions", "Recordings of live sources older than some hours or days; shows first which"))

    def _people(self) -> None:
        w, translate = self.window, QCoreApplication.translate
        m = self._menu(translate("Actions", "Pe&ople"))
        teach = self._add(m, "teach", translate("Actions", "Teach a person…"), lambda: w.about_people("teach"))
        plain.tip(teach, translate("Actions", "From photos of a face or recordings of a voice; recognised from then on"))
        voice = self._add(m, "voices", translate("Actions", "Face and voice of a person…"), lambda: w.about_people("join_voice"))
        plain.tip(voice, translate("Actions", "What joins the selected person's face and voice; separate or join them"))
        apart = self._add(m, "walls", translate("Actions", "Who is kept apart…"), w.show_kept_apart)
        plain.tip(apart, translate("Actions", "The people whom your corrections keep apart; take one of these back"))
        m.addSeparator()
        card = self._add(m, "scorecard", translate("Actions", "How right is this memory?…"), w.show_scorecard)
        plain.tip(card, translate("Actions", "Answer 20 pairs, or choose a truth file: how many people are told apart rightly"))
        m.addSeparator()
        forget = self._add(m, "forget_person", translate("Actions", "Forget a person…"), lambda: w.about_people("forget"))
        plain.tip(forget, translate("Actions", "The selected person, or one whom you choose; shows first what would be deleted"))

    def _view(self) -> None:
        w, translate = self.window, QCoreApplication.translate
        m = self._menu(translate("Actions", "&View"))
        back = self._add(m, "go_back", translate("Actions", "Back"), lambda: w.step_selection(back=True), "Alt+Left")
        plain.tip(back, translate("Actions", "To what was selected before; in the graph, to what it showed before"))
        self._add(m, "go_on", translate("Actions", "Forward"), lambda: w.step_selection(back=False), "Alt+Right")
        m.addSeparator()
        self._add(m, "layout_explore", translate("Actions", "Layout: Explore"), lambda: w.dock_area.use_layout("explore"), "Ctrl+1")
        self._add(m, "layout_live", translate("Actions", "Layout: Live"), lambda: w.dock_area.use_layout("live"), "Ctrl+2")
        self._add(m, "layout_people", translate("Actions", "Layout: People"), lambda: w.dock_area.use_layout("people"), "Ctrl+3")
        self._add(m, "layout_reset", translate("Actions", "Reset this layout"), w.dock_area.reset_layout)
        m.addSeparator()
        on = self._add(m, "next_area", translate("Actions", "Next area of the window"), lambda: w.step_area(back=False), "F6")
        plain.tip(on, translate("Actions", "The focus goes to the picture, or to the next view"))
        self._add(m, "last_area", translate("Actions", "Previous area of the window"), lambda: w.step_area(back=True), "Shift+F6")
        for action in w.dock_area.actions():
            m.addAction(action)
        m.addSeparator()
        self._choice(
            m,
            translate("Actions", "Theme"),
            "theme",
            (
                ("system", translate("Actions", "Same as the system")),
                ("light", translate("Actions", "Light")),
                ("dark", translate("Actions", "Dark")),
            ),
        )
        self._choice(
            m,
            translate("Actions", "Language"),
            "language",
            (("system", translate("Actions", "Same as the system")), ("en", "English"), ("zh", "简体中文")),
        )
        self._add(m, "full", translate("Actions", "Full screen"), w.toggle_full_screen, "F11", checkable=True)

    def _choice(self, menu: QMenu, title: str, key: str, options: tuple[tuple[str, str], ...]) -> None:
        sub = menu.addMenu(title)
        group = QActionGroup(self.window)
        for value, text in options:
            action = QAction(text, self.window)
            action.setCheckable(True)
            action.setChecked(self.window.setting(key) == value)
            action.triggered.connect(lambda _c=False, v=value: self.window.apply_settings({key: v}))
            group.addAction(action)
            sub.addAction(action)

    def _help(self) -> None:
        w, translate = self.window, QCoreApplication.translate
        m = self._menu(translate("Actions", "&Help"))
        self._add(m, "shortcuts", translate("Actions", "Actions and shortcuts"), lambda: ShortcutList(self, w).exec(), "F1")
        self._add(m, "about", translate("Actions", "About M3Desk"), w.about)


class ShortcutList(QDialog):
    """All actions with their shortcuts, filtered as you type; Enter runs one."""

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Actions and shortcuts"))
        self.resize(560, 620)
        self.search = SearchField()
        self.search.say(self.tr("Find an action"))
        self.search.textChanged.connect(self._filter)
        self.tree = QTreeWidget()
        self.tree.setAccessibleName(self.tr("Actions and shortcuts"))
        self.tree.setHeaderLabels([self.tr("Action"), self.tr("Shortcut")])
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.tree.setRootIsDecorated(False)
        for title, menu in actions.menus:
            top = QTreeWidgetItem(self.tree, [title])
            font = top.font(0)
            font.setBold(True)
            top.setFont(0, font)
            for action in menu.actions():
                if action.text() and action.menu() is None:
                    keys = " · ".join(k.toString(QKeySequence.SequenceFormat.NativeText) for k in action.shortcuts())
                    item = QTreeWidgetItem(top, [action.text().replace("&", ""), keys])
                    item.setData(0, Qt.ItemDataRole.UserRole, action)
        self._hints()
        self.tree.expandAll()
        self.tree.itemActivated.connect(self._do)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self.search)
        column.addWidget(self.tree, 1)
        column.addWidget(buttons)

    def _hints(self) -> None:
        top = QTreeWidgetItem(self.tree, [self.tr("With the mouse")])
        font = top.font(0)
        font.setBold(True)
        top.setFont(0, font)
        for what, how in (
            (self.tr("Say who a face is"), self.tr("click it in the picture")),
            (self.tr("Say who a moving face is"), self.tr("point at it, then click there: it may have moved on")),
            (self.tr("Enlarge the picture"), self.tr("Ctrl + wheel; then drag to move it")),
            (self.tr("Zoom the timeline"), self.tr("wheel")),
            (self.tr("Scroll through the people of the timeline"), self.tr("wheel over their names or lanes; Ctrl + wheel zooms there")),
            (self.tr("Move along the timeline"), self.tr("Shift + wheel, or drag with the middle button")),
            (self.tr("Ask or search only in a time span"), self.tr("drag on the timeline, or [ and ] at its start and end")),
            (self.tr("Go to a word"), self.tr("click it in the transcript")),
            (self.tr("Say who speaks"), self.tr("click the speaker's name")),
        ):
            QTreeWidgetItem(top, [what, how])

    def _filter(self, text: str) -> None:
        for i in range(self.tree.topLevelItemCount()):
            top = self.tree.topLevelItem(i)
            shown = 0
            for item in [top.child(k) for k in range(top.childCount())]:  # type: ignore[union-attr]
                hide = text.lower() not in item.text(0).lower()  # type: ignore[union-attr]
                item.setHidden(hide)  # type: ignore[union-attr]
                shown += not hide
            top.setHidden(shown == 0)  # type: ignore[union-attr]

    def _do(self, item: QTreeWidgetItem) -> None:
        action = item.data(0, Qt.ItemDataRole.UserRole)
        if isinstance(action, QAction) and action.isEnabled():
            self.accept()
            action.trigger()
