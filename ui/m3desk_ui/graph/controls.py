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
    QListView,
    QMenu,
    QPushButton,
    QSizePolicy,
    QSlider,
    QToolButton,
    QWidget,
    QWidgetAction,
)

from m3desk_ui.graph import style
from m3desk_ui.look import plain, texts, theme
from m3desk_ui.look.more_button import MoreButton
from m3desk_ui.look.search_field import SearchField

STEPS = 1000
"""Steps of the sliders of time."""


class GraphBar(QWidget):
    """`wished`: a filter changed; `typed`: what stands in the search; `hit`: a node id chosen among the hits."""

    wished = Signal()
    typed = Signal(str)
    hit = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lengths: dict[str, int] = {}
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 4, 6, 4)
        row.setSpacing(2)
        self.back = self._button("mdi6.arrow-left")
        self.forward = self._button("mdi6.arrow-right")
        row.addWidget(self.back)
        row.addWidget(self.forward)
        self.search = SearchField(self)
        self.search.setMinimumWidth(90)
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
        self.filter = self._button("mdi6.filter-variant", checkable=True)
        self.filter.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.filter.setMenu(self._filter_menu())
        self.fit = self._button("mdi6.fit-to-page-outline")
        self.arrange = self._button("mdi6.auto-fix")
        self.map = self._button("mdi6.map-outline", checkable=True)
        self.map.setChecked(True)
        self.as_list = self._button("mdi6.format-list-bulleted", checkable=True)
        self.past = self._button("mdi6.history")
        self.export = self._button("mdi6.image-outline")
        for button in (self.past, self.export):
            button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
            button.setMenu(QMenu(self))
        for button in (self.everything, self.filter, self.fit, self.arrange, self.map, self.as_list, self.past, self.export):
            row.addWidget(button)
        self.more = MoreButton(self, (self.everything, self.fit, self.arrange, self.map, self.as_list, self.past, self.export))
        row.addWidget(self.more)

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
        self.person.currentIndexChanged.connect(lambda _row: self._timed())
        self.weight = QSlider(Qt.Orientation.Horizontal, box)
        self.weight.setRange(0, 10)
        self.weight.valueChanged.connect(self._weighed)
        self.least = plain.Label(parent=box)
        self.least.setMinimumWidth(self.fontMetrics().horizontalAdvance("≥ 10 "))
        row = QHBoxLayout()
        row.addWidget(self.weight, 1)
        row.addWidget(self.least)
        self._words: tuple[plain.Label, ...] = (plain.Label(parent=box), plain.Label(parent=box))
        self.source = QComboBox(box)
        self.source.setMinimumWidth(160)
        self.source.currentIndexChanged.connect(lambda _row: self._timed())
        self.times = QSlider(Qt.Orientation.Horizontal, box), QSlider(Qt.Orientation.Horizontal, box)
        self.said = plain.Label(parent=box), plain.Label(parent=box)
        ends = []
        for slider, said in zip(self.times, self.said, strict=True):
            slider.setRange(0, STEPS)
            slider.valueChanged.connect(lambda _value: self._timed())
            said.setMinimumWidth(self.fontMetrics().horizontalAdvance("00:00:00 "))
            line = QHBoxLayout()
            line.addWidget(slider, 1)
            line.addWidget(said)
            ends.append(line)
        self.times[1].setValue(STEPS)
        self._words += plain.Label(parent=box), plain.Label(parent=box), plain.Label(parent=box)
        self.clear = QPushButton(box)
        self.clear.clicked.connect(self._clear)
        form.addRow(self._words[0], self.person)
        form.addRow(self._words[1], row)
        form.addRow(self._words[2], self.source)
        for words, line in zip(self._words[3:], ends, strict=True):
            form.addRow(words, line)
        form.addRow(self.clear)
        action = QWidgetAction(menu)
        action.setDefaultWidget(box)
        menu.addAction(action)
        return menu

    def dress(self) -> None:
        """Set every text and icon."""
        self.search.say(self.tr("Find in the graph"), short=self.tr("Find"))
        tips = {
            self.everything: self.tr("Show everything, not only the strongest memories"),
            self.back: self.tr("Back (Alt+Left)"),
            self.forward: self.tr("Forward (Alt+Right)"),
            self.filter: self.tr("Filter by person, weight, video and time"),
            self.map: self.tr("Mini-map (O)"),
            self.past: self.tr("Earlier states"),
            self.fit: self.tr("Fit to view (Ctrl+0)"),
            self.arrange: self.tr("Rearrange (pinned nodes stay)"),
            self.as_list: self.tr("Also show as a list"),
            self.export: self.tr("Save what is on show"),
        }
        for button, tip in tips.items():
            plain.tip(button, tip)
            button.setAccessibleName(tip)
            button.setIcon(theme.icon(button.property("icon_name")))
        self.more.dress()
        self._words[0].setText(self.tr("Only about"))
        self._words[1].setText(self.tr("Minimum weight"))
        self._words[2].setText(self.tr("Video"))
        self._words[3].setText(self.tr("From"))
        self._words[4].setText(self.tr("To"))
        self.person.setAccessibleName(self.tr("Only about"))
        self.source.setAccessibleName(self.tr("Video"))
        self.times[0].setAccessibleName(self.tr("From"))
        self.times[1].setAccessibleName(self.tr("To"))
        self.clear.setText(self.tr("Clear all filters"))
        if self.source.count():
            self.source.setItemText(0, self.tr("all videos"))
        self.weight.setAccessibleName(self.tr("Minimum weight"))
        if self.person.count():
            self.person.setItemText(0, self.tr("everybody"))
        self._say_weight()
        self._say_times()

    def _weighed(self, _value: int) -> None:
        self._say_weight()
        self._say_times()
        self.wished.emit()

    def _say_weight(self) -> None:
        self.least.setText(f"≥ {self.weight.value()}" if self.weight.value() else self.tr("all"))

    def _timed(self) -> None:
        self._say_times()
        self.wished.emit()

    def _length(self) -> int:
        """Return the length of the chosen source, or of the longest, in microseconds."""
        chosen = self.source.currentData()
        return max((length for id_, length in self._lengths.items() if chosen in (None, id_)), default=0)

    def span(self) -> tuple[int, int] | None:
        """Return the time that is filtered by, in microseconds; None for all."""
        low, high = (slider.value() for slider in self.times)
        if (low, high) == (0, STEPS):
            return None
        length = self._length()
        return length * min(low, high) // STEPS, length * max(low, high) // STEPS + (1 if max(low, high) == STEPS else 0)

    def _say_times(self) -> None:
        for slider, said in zip(self.times, self.said, strict=True):
            said.setText(texts.clock(self._length() * slider.value() // STEPS))
        active = self.person.currentIndex() > 0 or self.weight.value() or self.source.currentIndex() > 0 or self.span() is not None
        self.filter.setProperty("active", bool(active))
        self.filter.setChecked(bool(active))

    def show_sources(self, sources: Sequence[tuple[str, str, int]]) -> None:
        """Offer these (id, name, length in microseconds) to filter by, and keep the choice."""
        self._lengths = {id_: length for id_, _, length in sources}
        chosen = self.source.currentData()
        self.source.blockSignals(True)
        self.source.clear()
        self.source.addItem(self.tr("all videos"), None)
        for id_, name, _ in sources:
            self.source.addItem(plain.line(name, 40), id_)
        self.source.setCurrentIndex(max(0, self.source.findData(chosen)))
        self.source.blockSignals(False)
        self._say_times()

    def _clear(self) -> None:
        self.reset(everything=self.everything.isChecked())
        self.wished.emit()

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

    def reset(self, *, everything: bool = False) -> None:
        """Reset all filters without emitting signals."""
        self.put(everything, None, 0.0, None, None)

    def put(self, everything: bool, person: str | None, weight: float, source: str | None, span: tuple[int, int] | None) -> None:
        """Set all filters without emitting signals."""
        widgets = (self.everything, self.person, self.weight, self.source, *self.times)
        for widget in widgets:
            widget.blockSignals(True)
        self.everything.setChecked(everything)
        self.person.setCurrentIndex(max(0, self.person.findData(person)))
        self.weight.setValue(round(weight))
        self.source.setCurrentIndex(max(0, self.source.findData(source)))
        length = max(self._length(), 1)
        for slider, at in zip(self.times, span or (0, length), strict=True):
            slider.setValue(min(STEPS, -(-at * STEPS // length)))
        for widget in widgets:
            widget.blockSignals(False)
        self._say_weight()
        self._say_times()


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
        self.put(None)

    def put(self, kinds: frozenset[str] | None) -> None:
        """Show these kinds (None: all) without emitting signals."""
        for name, chip in self.chips.items():
            chip.blockSignals(True)
            chip.setChecked(kinds is None or name in kinds)
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
