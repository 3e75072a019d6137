"""The graph's controls: the bar with search, filters and buttons above it, and the legend below, which also filters."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QMenu,
    QSizePolicy,
    QSlider,
    QToolButton,
    QWidget,
    QWidgetAction,
)

from m3desk_ui.graph import style
from m3desk_ui.look import plain, theme


class GraphBar(QWidget):
    """`wished`: a filter changed; `typed`: what stands in the search; `hit`: a node id chosen among the hits."""

    wished = Signal()
    typed = Signal(str)
    hit = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 4, 6, 4)
        row.setSpacing(3)
        self.search = QLineEdit(self)
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumWidth(110)
        self.search.textEdited.connect(self.typed)
        self.search.returnPressed.connect(lambda: self.hit.emit(self.hits[0]) if self.hits else None)
        self.hits: list[str] = []
        self._texts = QStringListModel(self)
        completer = QCompleter(self._texts, self)
        completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        completer.setMaxVisibleItems(12)
        popup = QListView()
        completer.setPopup(popup)
        # one height for all rows: the popup is measured by its first, and Chinese is taller
        popup.setStyleSheet("QListView { border: 1px solid palette(mid); } QListView::item { min-height: 24px; padding: 0 4px; }")
        completer.activated.connect(self._chosen)
        self.search.setCompleter(completer)
        row.addWidget(self.search, 1)
        self.everything = self._button("mdi6.graph-outline", checkable=True)
        self.everything.toggled.connect(lambda _on: self.wished.emit())
        self.filter = self._button("mdi6.filter-variant")
        self.filter.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.filter.setMenu(self._filter_menu())
        self.fit = self._button("mdi6.fit-to-page-outline")
        self.arrange = self._button("mdi6.auto-fix")
        self.as_list = self._button("mdi6.format-list-bulleted", checkable=True)
        self.export = self._button("mdi6.image-outline")
        for button in (self.everything, self.filter, self.fit, self.arrange, self.as_list, self.export):
            row.addWidget(button)

    def _button(self, icon: str, *, checkable: bool = False) -> QToolButton:
        button = QToolButton(self)
        button.setAutoRaise(True)
        button.setCheckable(checkable)
        button.setProperty("icon_name", icon)
        return button

    def _filter_menu(self) -> QMenu:
        menu = QMenu(self)
        box = QWidget(menu)
        form = QFormLayout(box)
        self.person = QComboBox(box)
        self.person.setMinimumWidth(160)
        self.person.currentIndexChanged.connect(lambda _row: self.wished.emit())
        self.weight = QSlider(Qt.Orientation.Horizontal, box)
        self.weight.setRange(0, 10)
        self.weight.valueChanged.connect(self._weighed)
        self.least = plain.Label(parent=box)
        self.least.setMinimumWidth(self.fontMetrics().horizontalAdvance("≥ 10 "))
        row = QHBoxLayout()
        row.addWidget(self.weight, 1)
        row.addWidget(self.least)
        self._words = plain.Label(parent=box), plain.Label(parent=box)
        form.addRow(self._words[0], self.person)
        form.addRow(self._words[1], row)
        action = QWidgetAction(menu)
        action.setDefaultWidget(box)
        menu.addAction(action)
        return menu

    def dress(self) -> None:
        """Set every text and icon."""
        self.search.setPlaceholderText(self.tr("Find in the graph"))
        self.search.setAccessibleName(self.tr("Find in the graph"))
        tips = {
            self.everything: self.tr("Show everything, not only the strongest memories"),
            self.filter: self.tr("Filter by person and weight"),
            self.fit: self.tr("Fit to view (Ctrl+0)"),
            self.arrange: self.tr("Rearrange (pinned nodes stay)"),
            self.as_list: self.tr("Also show as a list"),
            self.export: self.tr("Save as a picture (PNG)"),
        }
        for button, tip in tips.items():
            plain.tip(button, tip)
            button.setAccessibleName(tip)
            button.setIcon(theme.icon(button.property("icon_name")))
        self._words[0].setText(self.tr("Only about"))
        self._words[1].setText(self.tr("Minimum weight"))
        self.weight.setAccessibleName(self.tr("Minimum weight"))
        if self.person.count():
            self.person.setItemText(0, self.tr("everybody"))
        self._say_weight()

    def _weighed(self, _value: int) -> None:
        self._say_weight()
        self.wished.emit()

    def _say_weight(self) -> None:
        self.least.setText(f"≥ {self.weight.value()}" if self.weight.value() else self.tr("all"))

    def show_people(self, people: Sequence[tuple[str, str]]) -> None:
        """Offer these (id, name) to filter by, and keep the choice."""
        now = [(self.person.itemData(i), self.person.itemText(i)) for i in range(1, self.person.count())]
        if now == [(id_, plain.line(name, 40)) for id_, name in people] and self.person.count():
            return
        chosen = self.person.currentData()
        self.person.blockSignals(True)
        self.person.clear()
        self.person.addItem(self.tr("everybody"), None)
        for id_, name in people:
            self.person.addItem(plain.line(name, 40), id_)
        self.person.setCurrentIndex(max(0, self.person.findData(chosen)))
        self.person.blockSignals(False)

    def show_hits(self, hits: Sequence[tuple[str, str]]) -> None:
        """Offer these (id, text) under the search."""
        self.hits = [id_ for id_, _ in hits]
        self._texts.setStringList([plain.line(text) for _, text in hits])

    def _chosen(self, text: str) -> None:
        rows = self._texts.stringList()
        if text in rows:
            self.hit.emit(self.hits[rows.index(text)])

    def reset(self) -> None:
        """Reset all filters without emitting signals."""
        for widget in (self.everything, self.person, self.weight):
            widget.blockSignals(True)
        self.everything.setChecked(False)
        self.person.setCurrentIndex(0)
        self.weight.setValue(0)
        for widget in (self.everything, self.person, self.weight):
            widget.blockSignals(False)
        self._say_weight()


class Legend(QWidget):
    """A sign and a word for each kind that is there; clicking one hides its nodes."""

    wished = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        # the dock may be narrower than the words: then the signs stand alone
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 2, 6, 3)
        row.setSpacing(2)
        self.chips: dict[str, QToolButton] = {}
        for kind in style.KINDS:
            chip = QToolButton(self)
            chip.setAutoRaise(True)
            chip.setCheckable(True)
            chip.setChecked(True)
            chip.toggled.connect(lambda _on: self.wished.emit())
            self.chips[kind.name] = chip
            row.addWidget(chip)
        row.addStretch(1)

    def dress(self) -> None:
        """Set every text and sign."""
        for name, chip in self.chips.items():
            text = style.kind_text(name)
            chip.setIcon(QIcon(style.shape_pixmap(name, 16, self.devicePixelRatioF())))
            chip.setText(text)
            chip.setAccessibleName(text)
            plain.tip(chip, self.tr("Show or hide: %1").replace("%1", text))
        self._fit()

    def show_kinds(self, present: Collection[str]) -> None:
        """Show the chips of these kinds."""
        for name, chip in self.chips.items():
            chip.setVisible(name in present)
        self._fit()

    def kinds(self) -> frozenset[str] | None:
        """Return the kinds that are on, None for all."""
        on = frozenset(name for name, chip in self.chips.items() if chip.isChecked())
        return None if len(on) == len(self.chips) else on

    def reset(self) -> None:
        """Show all kinds again without emitting signals."""
        for chip in self.chips.values():
            chip.blockSignals(True)
            chip.setChecked(True)
            chip.blockSignals(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        shown = [chip for chip in self.chips.values() if not chip.isHidden()]
        words = sum(self.fontMetrics().horizontalAdvance(chip.text()) + 44 for chip in shown)
        beside = Qt.ToolButtonStyle.ToolButtonTextBesideIcon if words < self.width() else Qt.ToolButtonStyle.ToolButtonIconOnly
        for chip in self.chips.values():
            chip.setToolButtonStyle(beside)
