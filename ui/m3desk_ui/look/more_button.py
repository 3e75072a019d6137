"""A button at the end of a row of buttons, whose menu has those that a narrow row has no room for."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QToolButton, QWidget

from m3desk_ui.look import plain, theme


class MoreButton(QToolButton):
    """Hides buttons of its row, the last ones first, while the row is too narrow for all; its menu presses the hidden ones.

    The row's least width is then that without these buttons. A button that the program hides itself may not be among them.
    """

    def __init__(self, row: QWidget, buttons: Sequence[QToolButton | QPushButton]) -> None:
        super().__init__(row)
        self._row, self._buttons = row, tuple(buttons)
        self.setAutoRaise(True)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setMenu(QMenu(self))
        self.menu().aboutToShow.connect(self._fill)
        self.hide()
        row.installEventFilter(self)
        row.setMinimumWidth(1)  # the layout's own would not let the row become narrow; `least` follows in `_fit`

    def dress(self) -> None:
        """Set the words and the icon."""
        self.setIcon(theme.icon("mdi6.dots-horizontal"))
        self.setAccessibleName(self.tr("More"))
        plain.tip(self, self.tr("More"))
        self._fit()

    def hidden(self) -> list[QToolButton | QPushButton]:
        """Return the buttons that are in the menu now."""
        return [b for b in self._buttons if b.isHidden()]

    def whole(self) -> int:
        """Return the width at which the row has room for all buttons."""
        layout = self._row.layout()
        return self._least_row() + sum(b.sizeHint().width() + (layout.spacing() if layout is not None else 0) for b in self._buttons)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show):
            self._fit()
        return False

    def _least_row(self) -> int:
        """Return the width that the row needs without these buttons and this one."""
        layout = self._row.layout()
        if not isinstance(layout, QHBoxLayout):
            return 0
        items = [w for i in range(layout.count()) if (item := layout.itemAt(i)) is not None and (w := item.widget()) is not None]
        margins = layout.contentsMargins()
        fixed = [_least(w) + layout.spacing() for w in items if w is not self and w not in self._buttons and not w.isHidden()]
        return sum(fixed) + margins.left() + margins.right()

    def _fit(self) -> None:
        layout = self._row.layout()
        if not isinstance(layout, QHBoxLayout):
            return
        own, least = self.sizeHint().width() + layout.spacing(), self._least_row()
        self._row.setMinimumWidth(least + own)
        room = self._row.width() - least
        wide = [b.sizeHint().width() + layout.spacing() for b in self._buttons]
        shown = len(wide)
        if sum(wide) > room:
            while shown and sum(wide[:shown]) + own > room:
                shown -= 1
        focused = next((b for b in self._buttons[shown:] if b.hasFocus()), None)
        for place, button in enumerate(self._buttons):
            button.setVisible(place < shown)
        self.setVisible(shown < len(wide))
        if focused is not None:
            self.setFocus()

    def _fill(self) -> None:
        menu = self.menu()
        menu.clear()
        for button in self.hidden():
            if (inner := button.menu()) is not None:
                inner.aboutToShow.emit()  # some are filled only then
                action = menu.addMenu(inner)
            else:
                action = menu.addAction("", button.click)
                action.setCheckable(button.isCheckable())
                action.setChecked(button.isChecked())
            action.setText(plain.entry(button.accessibleName()))
            action.setIcon(button.icon())
            action.setEnabled(button.isEnabled())


def _least(widget: QWidget) -> int:
    return widget.minimumWidth() or widget.minimumSizeHint().width()
