"""Keeps a view in sync with the memory: it reads everything once, then only the rows that each commit changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from PySide6.QtCore import QEvent, QObject, QTimer

from m3desk.domain.changed import Changed
from m3desk_ui.look.on_show import is_on_show

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from m3desk_ui.hub.bridge import Hub

W = TypeVar("W")
P = TypeVar("P")
Read = Callable[[Any], W]
"""What the reading thread does with its Reader."""

AGAIN_MS = 300
"""A view that can take no news now (an editor is open) is asked again after this."""


class Following(QObject, Generic[W, P]):
    """Keeps one view in sync with the open memory.

    `load()` and `patch(changed)` are called on the GUI thread, where they copy the view state they need, and return a function for the
    reading thread: the first reads everything shown, the second only the changed rows. `show` and `apply` take the results. A view has
    one read at a time; changes that come meanwhile are merged and read next. Everything is read again only when another memory is
    opened, when a change is too large to list, and by `restart` (another filter).
    """

    def __init__(
        self,
        hub: Hub,
        key: str,
        *,
        load: Callable[[], Read[W]],
        show: Callable[[W], None],
        patch: Callable[[Changed], Read[P] | None],
        apply: Callable[[P], None],
        busy: Callable[[], bool] = lambda: False,
        failed: Callable[[Exception], None] | None = None,
        idle: QWidget | None = None,
        parent: QObject | None = None,
    ) -> None:
        """`patch` returns None for a change that does not concern the view. `busy`: whether the view can't be updated now.

        `idle`: a view that reads nothing while it is behind another dock or closed, and catches up when it is shown.
        """
        super().__init__(parent)
        self._hub, self._key = hub, key
        self._load, self._show, self._patch, self._apply = load, show, patch, apply
        self._busy, self._told = busy, failed
        self._reading = self._loaded = self._missed = False
        self._due: Changed | None = None
        self._later = QTimer(self, singleShot=True)
        self._later.timeout.connect(self.go_on)
        self._idle, self._asleep = idle, False
        if idle is not None:
            idle.installEventFilter(self)
        hub.changed.connect(self._changed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and watched is self._idle and (self._asleep or self._due is not None):
            self._later.start(0)  # a dock that comes to the front is painted, but neither shown nor moved
        return False

    def _is_hidden(self) -> bool:
        """Return whether the view is in a window, but not to be seen. (Qt keeps a dock behind another visible, beside the window.)"""
        return self._idle is not None and self._idle.window() is not self._idle and not is_on_show(self._idle)

    @property
    def at_rest(self) -> bool:
        """Return whether no read is running or pending."""
        return not self._reading and self._due is None

    @property
    def loaded(self) -> bool:
        """Return whether everything was read once since the memory was opened (or since `restart`)."""
        return self._loaded

    def restart(self) -> None:
        """Read everything again."""
        self._due, self._loaded, self._missed = None, False, False
        self._asleep = self._is_hidden()
        if self._asleep:
            self._reading = False
            self._hub.drop_read(self._key)
            return
        self._reading = self._hub.desk is not None
        self._hub.read(self._key, self._load(), self._loaded_now, self._failed)

    def stop(self) -> None:
        """Stop following until `restart`."""
        self._due, self._loaded, self._reading, self._asleep = None, False, False, False
        self._later.stop()
        self._hub.drop_read(self._key)

    def _changed(self, changed: Changed) -> None:
        if self._reading or self._loaded:
            self._due = changed if self._due is None else self._due.then(changed)
            self.go_on()

    def go_on(self) -> None:
        """Start the pending read, if the view can be updated now."""
        if self._is_hidden():
            return
        if self._asleep:
            self.restart()
        if self._reading or self._due is None:
            return
        if self._busy():
            self._later.start(AGAIN_MS)
            return
        changed, self._due = self._due, None
        if changed.whole or self._missed:
            self.restart()
        elif (read := self._patch(changed)) is not None:
            self._reading = True
            self._hub.read(self._key, self._hub.shared(changed, read), self._patched, self._failed)

    def _loaded_now(self, found: W) -> None:
        self._reading, self._loaded = False, True
        self._take(self._show, found)

    def _patched(self, found: P) -> None:
        self._reading = False
        self._take(self._apply, found)

    def _take(self, show: Callable[[Any], None], found: Any) -> None:
        self._missed = True  # if the view fails, it reads everything with the next change
        show(found)
        self._missed = False
        self.go_on()

    def _failed(self, error: Exception) -> None:
        """Report the error, and read everything with the next change, because this one's rows were not read."""
        self._reading, self._loaded, self._missed = False, True, True
        (self._told or self._hub.tell)(error)
        self.go_on()  # with what came meanwhile
