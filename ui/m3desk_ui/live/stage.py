"""Everything of live capture in the main window: starts, pauses and stops it, and switches between the live edge and the recording."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication

from m3desk import events
from m3desk.domain.clip import clock
from m3desk.domain.live import AT_ITS_END
from m3desk.errors import M3DeskError
from m3desk_ui.live import choices
from m3desk_ui.live.bar import LiveBar
from m3desk_ui.live.faults import Faults
from m3desk_ui.live.forget_dialog import ForgetDialog
from m3desk_ui.live.session import LiveSession
from m3desk_ui.live.view import LiveView

if TYPE_CHECKING:
    from m3desk.ports import Desk
    from m3desk_ui.live.choices import Choices
    from m3desk_ui.window.main_window import MainWindow

FACTOR, LARGEST, STEP = 1.15, 3.0, 0.5
"""Letters in the layout for demos, as parts of the usual ones in a window of `SMALL`; they grow with the window, by steps of points."""
SMALL = (1280, 720)
FIT_MS = 150
"""The window's size must rest so long before the letters follow it."""
HITS = 200
"""Hits of watch rules that are kept for the list."""


class LiveStage(QObject):
    """`view`: the page with the newest picture; `bar`: below it, and below the player while the user is back in the recording."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.window, self.hub = window, window.hub
        self.session = LiveSession(self.hub, self)
        self.view = LiveView(self.hub, self.session, window.services.attach_preview)
        self.bar = LiveBar(self.session)
        self.bar.hide()
        self.faults = Faults(self.hub, self.session, self)
        self.hits: deque[events.WatchHit] = deque(maxlen=HITS)
        self._starting = False
        self._recorded = False
        self._made = ""  # the new memory that the live source was started in
        self._fit = QTimer(self, singleShot=True, interval=FIT_MS)
        self._fit.timeout.connect(self.fit_texts)
        bar, session = self.bar, self.session
        bar.pause_wanted.connect(self.toggle_pause)
        bar.stop_wanted.connect(self.stop)
        bar.edge_wanted.connect(self.show_edge)
        bar.forget_wanted.connect(self.forget)
        bar.approve_wanted.connect(self.approve)
        bar.watch_wanted.connect(self.show_watch)
        self.view.approve_wanted.connect(self.approve)
        self.view.full_screen.connect(window.toggle_full_screen)
        self._told_end = ""
        session.began.connect(self._began)
        session.ended.connect(self._ended)
        session.status_changed.connect(self._status)
        self.hub.live.connect(self._live)
        self.hub.opened.connect(lambda _path: self._opened())
        self.hub.selection.seek.connect(self._sought)
        self.hub.themed.connect(bar.dress)
        window.video.edge_reached.connect(self.show_edge)

    # ------------------------------------------------------------ start and stop

    def toggle(self) -> None:
        """Start with the last choices, or stop; without last choices, ask."""
        if self.session.running:
            self.stop()
            return
        last = choices.read(self.window.state)
        if last.address:
            self.start(last, new=self.hub.desk is None)
        else:
            self.show_start()

    def show_start(self) -> None:
        """Open the dialog for devices, address and what is kept."""
        from m3desk_ui.live.start_dialog import StartDialog

        dialog = StartDialog(self.hub, self.window.services, choices.read(self.window.state), self.window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(lambda chosen, new: self.start(chosen, new=new))
        dialog.open()

    def start(self, chosen: Choices, *, new: bool, memory: str | None = None) -> None:
        """Start a live source: in the open memory, in `memory`, or in a new one."""
        if self._starting or self.session.running:
            return
        try:
            choices.write(self.window.state, chosen)
        except (M3DeskError, OSError) as error:
            self.hub.tell(error)
        self._starting = True

        def begin(desk: Desk) -> None:
            self.session.blurred = chosen.bystanders
            self._made = self.hub.path if made else ""
            self.view.canvas.set_note(self.tr("Starting …"))
            self.window.pages.setCurrentWidget(self.view)
            self.window.dock_area.use_layout("live", chosen=False)
            future = desk.start_live(chosen.address, keep=chosen.keep, bystanders=chosen.bystanders, budget_bytes=chosen.budget)
            self.hub.when(future, lambda _source: self._done(), self._not_started)

        made = memory is None and (new or self.hub.desk is None)
        if memory is not None:
            self.window.open_memory(memory, begin)
        elif not made and self.hub.desk is not None:
            begin(self.hub.desk)
        else:
            self.hub.work(
                lambda: self.window.services.default_memory(chosen.address),
                lambda place: self.window.open_memory(place, begin),
                self._not_started,
            )

    def _done(self) -> None:
        self._starting = False

    def _not_started(self, error: Exception) -> None:
        self._starting = False
        self.view.canvas.set_note("")
        if not self.session.running:
            self._show_player()
        self.hub.tell(error)

    def toggle_pause(self) -> None:
        """Close the devices, or open them again."""
        if self.hub.desk is not None and self.session.running:
            self._wait(self.hub.desk.pause_live(not self.session.paused))

    def stop(self) -> None:
        """End the live source; what is recorded is memorized to its end."""
        if self.hub.desk is not None and self.session.running:
            self._wait(self.hub.desk.stop_live())

    def _wait(self, future: Future[Any] | None) -> None:
        if future is not None:
            self.hub.when(future)

    # ------------------------------------------------------------ what happens

    def _began(self) -> None:
        self._starting = False
        self.window.notices.withdraw(self._told_end)
        self.bar.refresh()
        self.bar.show()
        self.bar.set_back(False)
        self.window.pages.setCurrentWidget(self.view)
        self.window.actions_.enable_live()

    def _ended(self, source: str, reason: str) -> None:
        focus = QApplication.focusWidget()
        here = focus is not None and (self.bar.isAncestorOf(focus) or self.view.isAncestorOf(focus))
        self.bar.hide()
        if reason and not self._recorded and self._made == self.hub.path:  # the notice of what went wrong stays; the memory holds nothing
            empty, self._made = self._made, ""
            self.window.close_memory()
            self.hub.work(lambda: self.window.services.discard(empty), lambda _gone: self.window.start.refresh(), lambda _error: None)
            return
        self._show_player(source)
        if here and self.window.pages.currentWidget() is self.window.video:  # Qt would give the focus to the next view
            self.window.video.canvas.setFocus()
        self.window.actions_.enable_live()
        if reason:
            hint = self.tr("What was recorded is kept, and is memorized to its end.")
            at_its_end = reason == AT_ITS_END
            self._told_end = self.tr("The live source ended.") if at_its_end else self.tr("The live source ended: %1").replace("%1", reason)
            self.hub.notice.emit("info" if at_its_end else "warning", self._told_end, hint, "")

    def _status(self) -> None:
        self._recorded = self._recorded or self.session.recorded > 0
        self.window.video.grow(self.session.source, self.session.recorded)
        if not self.session.running and self.bar.isVisible():  # another memory was opened
            self.bar.hide()
            self._show_player()
        self.window.actions_.enable_live()

    def _opened(self) -> None:
        self._starting = self._starting and self.hub.desk is not None
        self._recorded = False
        self.window.dock_area.use_chosen()
        self.hits.clear()
        self.bar.hide()

    def _live(self, event: Any) -> None:
        if not isinstance(event, events.WatchHit):
            return
        self.hits.append(event)
        source, at = event.source, event.at
        text = f"{event.text} · {clock(at)}"
        self.hub.offer.emit(text, self.tr("Show"), lambda: self.hub.selection.play(source, at))

    # ------------------------------------------------------------ edge and recording

    def _show_player(self, source: str = "") -> None:
        if self.window.pages.currentWidget() is self.view and self.hub.desk is not None:
            self.window.pages.setCurrentWidget(self.window.video)
            if source:
                self.window.video.go(source, 0, False)

    def _sought(self, _source: str, _at: int, _play: bool) -> None:
        """Show the ordinary player: the user goes to another moment."""
        if self.window.pages.currentWidget() is self.view:
            self.window.pages.setCurrentWidget(self.window.video)
        self.bar.set_back(self.session.running)

    def show_edge(self) -> None:
        """Go back to what happens now; the player pauses."""
        if self.session.running:
            self.window.video.pause()
            self.window.pages.setCurrentWidget(self.view)
            self.bar.set_back(False)
            self.view.canvas.setFocus()

    # ------------------------------------------------------------ forgetting, approving, watching

    def forget(self, minutes: int = 5) -> None:
        """Ask before the last minutes are forgotten."""
        if self.hub.desk is not None:
            self._open(ForgetDialog(self.hub, minutes=minutes or 5, parent=self.window))

    def forget_span(self) -> None:
        """Ask before the span that is chosen on the timeline is forgotten."""
        span = self.hub.selection.chosen_span
        if self.hub.desk is None:
            return
        if span is None:
            hint = self.tr("Drag on the timeline, then choose this again.")
            self.hub.notice.emit("info", self.tr("No span is chosen."), hint, "")
            return
        self._open(ForgetDialog(self.hub, span=span, parent=self.window))

    def approve(self, track: str) -> None:
        """Show a person who was blurred until now, and remember them; then offer to name them."""

        def approved(person: str) -> None:
            self.hub.offer.emit(
                self.tr("This person is shown and remembered from now on."), self.tr("Name…"), lambda: self._page_of(person)
            )

        if self.hub.desk is not None:
            self.hub.when(self.hub.desk.approve(track), approved)

    def _page_of(self, person: str) -> None:
        self.window.dock_area.bring_forward("people")
        self.hub.selection.select("person", person)

    def show_watch(self) -> None:
        """Open the list of watch rules."""
        from m3desk_ui.live.watch_dialog import WatchDialog

        if self.hub.desk is not None:
            dialog = WatchDialog(self.hub, self.hits, self.window)
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.show()

    def show_retention(self) -> None:
        """Open the dialog that deletes old recordings."""
        from m3desk_ui.live.retention_dialog import RetentionDialog

        if self.hub.desk is not None:
            self._open(RetentionDialog(self.hub, self.window))

    def fit_texts_soon(self) -> None:
        """Fit the letters once the window's size rests."""
        self._fit.start()

    def fit_texts(self) -> None:
        """In the layout for demos, let the letters of graph, chat and bar grow with the window; elsewhere they are as usual."""
        window = self.window
        factor = 1.0
        if window.dock_area.layout == "live" and self.hub.desk is not None:
            factor = FACTOR * min(LARGEST, max(1.0, min(window.width() / SMALL[0], window.height() / SMALL[1])))
        points = round(window.font().pointSizeF() * factor / STEP) * STEP
        sheet = (
            f"* {{ font-size: {points:g}pt; }}" if factor > 1 else ""
        )  # a font would not reach the widgets inside: they have style sheets
        for view in (window.dock_area.views.get("graph"), window.dock_area.views.get("chat")):
            if view is not None and view.styleSheet() != sheet:
                view.setStyleSheet(sheet)
        self.bar.set_letters(points if factor > 1 else 0.0)

    def _open(self, dialog: Any) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def shut_down(self) -> None:
        """Stop fetching pictures, when the window is closed."""
        self.view.detach()
