"""A button at the end of a row of controls, whose menu has those that a narrow row has no room for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QPushButton, QSlider, QToolButton, QWidget

from m3desk_ui.look import plain, theme

Control = QToolButton | QPushButton | QComboBox | QSlider
SHARES = (0, 25, 50, 75, 100)
"""Percent of a slider's range that the menu offers."""


class MoreButton(QToolButton):
    """Hides controls of its row, the last ones first, while the row is too narrow for all; its menu has the hidden ones in the row's order.

    The row's least width is then that without these controls; `spare` pixels more are left to the others while one of these is on show. A
    control that the program hides itself may not be among them. Of a combo box the menu has the entries, of a slider some values.
    """

    def __init__(self, row: QWidget, buttons: Sequence[Control], *, spare: int = 0) -> None:
        super().__init__(row)
        self._row, self._buttons, self._spare = row, tuple(buttons), spare
        self._made: list[QMenu] = []
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

    def hidden(self) -> list[Control]:
        """Return the controls that are in the menu now."""
        layout, hidden = self._row.layout(), [b for b in self._buttons if b.isHidden()]
        return sorted(hidden, key=layout.indexOf) if layout is not None else hidden

    def whole(self) -> int:
        """Return the width at which the row has room for all buttons."""
        layout = self._row.layout()
        return self._least_row() + self._spare + sum(_wide(b) + (layout.spacing() if layout is not None else 0) for b in self._buttons)

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
        gaps = [item.spacerItem() for i in range(layout.count()) if (item := layout.itemAt(i)) is not None]
        fixed += [gap.sizeHint().width() for gap in gaps if gap is not None]
        return sum(fixed) + margins.left() + margins.right()

    def _fit(self) -> None:
        layout = self._row.layout()
        if not isinstance(layout, QHBoxLayout):
            return
        own, least = self.sizeHint().width() + layout.spacing(), self._least_row()
        self._row.setMinimumWidth(least + own)
        room = self._row.width() - least - self._spare
        wide = [_wide(b) + layout.spacing() for b in self._buttons]
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
        for old in self._made:
            old.deleteLater()
        self._made.clear()
        for button in self.hidden():
            if isinstance(button, QComboBox):
                texts = [button.itemText(i) for i in range(button.count())]
                self._offer(button, texts, button.setCurrentIndex, button.currentIndex())
                continue
            if isinstance(button, QSlider):
                self._offer_values(button)
                continue
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

    def _offer_values(self, slider: QSlider) -> None:
        values = [slider.minimum() + share * (slider.maximum() - slider.minimum()) // 100 for share in SHARES]
        nearest = min(range(len(values)), key=lambda i: abs(values[i] - slider.value()))
        self._offer(slider, [f"{share} %" for share in SHARES], lambda i: slider.setValue(values[i]), nearest)

    def _offer(self, control: Control, texts: Sequence[str], choose: Callable[[int], object], chosen: int) -> None:
        """Put a menu of what a control can be set to into the menu."""
        inner = QMenu(plain.entry(control.accessibleName()), self.menu())
        inner.setEnabled(control.isEnabled())
        for number, text in enumerate(texts):
            action = QAction(plain.entry(text), inner, checkable=True, checked=number == chosen)
            action.triggered.connect(lambda _on=False, number=number: choose(number))
            inner.addAction(action)
        self.menu().addMenu(inner)
        self._made.append(inner)


def _wide(control: Control) -> int:
    """Return the pixels that a control takes."""
    return control.minimumWidth() if control.minimumWidth() == control.maximumWidth() else control.sizeHint().width()


def _least(widget: QWidget) -> int:
    return widget.minimumWidth() or widget.minimumSizeHint().width()
