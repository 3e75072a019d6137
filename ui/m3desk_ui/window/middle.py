"""The middle of the window: pages, and notices over them, so that a notice never moves the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from m3desk_ui.window.notice_bar import NoticeBar


class Middle(QWidget):
    """`reading`: pages of text, which make room for a notice instead of being covered."""

    def __init__(self, pages: QStackedWidget, notices: NoticeBar, reading: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pages, self._notices, self._reading = pages, notices, reading
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(pages, 1)
        notices.setParent(self)
        notices.hide()
        notices.installEventFilter(self)
        pages.currentChanged.connect(lambda _i: self._place())

    def add_below(self, widget: QWidget) -> None:
        """Put a widget below the pages."""
        self._column.addWidget(widget)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Show, QEvent.Type.Hide, QEvent.Type.LayoutRequest):
            self._place()
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        bar = self._notices
        shown = not bar.isHidden()
        height = 0
        if shown:
            height = bar.heightForWidth(self.width()) if bar.hasHeightForWidth() else bar.sizeHint().height()
        bar.setGeometry(0, 0, self.width(), height)
        bar.raise_()
        top = height if self._pages.currentWidget() is self._reading else 0
        if self._column.contentsMargins().top() != top:
            self._column.setContentsMargins(0, top, 0, 0)
