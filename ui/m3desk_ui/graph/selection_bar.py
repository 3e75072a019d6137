"""A strip over the graph while several nodes are selected: how many, and what can be done with them."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from m3desk_ui.look import plain

INSET = 8


class SelectionBar(QFrame):
    """`wanted` carries the key of a command: "m" merge, "t" path, "e" expand, "clear"."""

    wanted = Signal(str)

    def __init__(self, canvas: QWidget) -> None:
        super().__init__(canvas)
        self.setAutoFillBackground(True)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.count = plain.Label()
        self.buttons: dict[str, QPushButton] = {}
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 3, 4, 3)
        row.addWidget(self.count)
        for key in ("m", "t", "e", "clear"):
            button = QPushButton(self)
            button.setFlat(True)
            button.clicked.connect(lambda _on=False, key=key: self.wanted.emit(key))
            self.buttons[key] = button
            row.addWidget(button)
        self._number = self._people = 0
        self.dress()
        self.hide()

    def dress(self) -> None:
        """Set every text."""
        self.setAccessibleName(self.tr("Selected nodes"))
        words = {"m": self.tr("Merge (M)"), "t": self.tr("Path (T)"), "e": self.tr("Expand (E)"), "clear": self.tr("Clear (Esc)")}
        tips = {
            "m": self.tr("Ask whether the selected people are one person"),
            "t": self.tr("Show a shortest path between the two"),
            "e": self.tr("Show all that they are linked to"),
            "clear": self.tr("Select nothing"),
        }
        for key, button in self.buttons.items():
            button.setText(words[key])
            plain.tip(button, tips[key])
        self.tell(self._number, self._people)

    def tell(self, number: int, people: int) -> None:
        """Show how many nodes are selected, and how many people among them; nothing for fewer than two."""
        self._number, self._people = number, people
        self.count.setText(self.tr("%1 selected").replace("%1", str(number)))
        self.buttons["m"].setEnabled(people >= 2)
        self.buttons["t"].setEnabled(number == 2)
        self.setVisible(number >= 2)
        self.adjustSize()
        self.move(INSET, INSET)
        self.raise_()
