"""Rules of *watch for*: when a person appears, a word is said or an object is seen; and what they found in this session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from m3desk.domain.clip import clock
from m3desk_ui.look import plain, theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from m3desk.domain.live import WatchKind, WatchRule
    from m3desk.domain.people import Person
    from m3desk.events import WatchHit
    from m3desk.ports import Reader
    from m3desk_ui.hub.bridge import Hub

ICONS = {"person": "mdi6.account", "word": "mdi6.format-quote-close", "object": "mdi6.cube-outline"}
RULE = Qt.ItemDataRole.UserRole


class WatchDialog(QDialog):
    """A list of rules with a line to add one, and the hits so far; a hit is a link to its moment."""

    def __init__(self, hub: Hub, hits: Sequence[WatchHit], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self._people: dict[str, str] = {}
        self._names: list[str] = []
        self.setWindowTitle(self.tr("Watch for"))
        self.resize(520, 460)
        lead = plain.Label(self.tr("A notice appears as soon as one of these is seen or heard. The rules are kept with this memory."))
        lead.setWordWrap(True)
        lead.setProperty("muted", True)
        self.kind = QComboBox()
        self.kind.setAccessibleName(self.tr("Kind of rule"))
        for kind, text in (
            ("person", self.tr("A person appears")),
            ("word", self.tr("A word is said")),
            ("object", self.tr("An object is seen")),
        ):
            self.kind.addItem(text, kind)
        self.value = QComboBox()
        self.value.setEditable(True)
        self.value.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.value.setAccessibleName(self.tr("Who or what to watch for"))
        self._edit = QLineEdit()
        self.value.setLineEdit(self._edit)
        self._edit.returnPressed.connect(self.add)
        self.add_button = QPushButton(self.tr("Add"))
        self.add_button.setAutoDefault(False)
        self.add_button.clicked.connect(self.add)
        row = QHBoxLayout()
        row.addWidget(self.kind)
        row.addWidget(self.value, 1)
        row.addWidget(self.add_button)
        self.problem = plain.Label()
        self.problem.setWordWrap(True)
        self.problem.setStyleSheet(f"color: {theme.colours().bad};")
        self.problem.hide()
        self.remove_button = QPushButton(self.tr("Remove"))
        self.rules = QListWidget()
        self.rules.setAccessibleName(self.tr("Rules"))
        self.rules.itemSelectionChanged.connect(lambda: self.remove_button.setEnabled(bool(self.rules.selectedItems())))
        self.remove_button.setAutoDefault(False)
        self.remove_button.setEnabled(False)
        self.remove_button.clicked.connect(self.remove)
        below = QHBoxLayout()
        below.addStretch(1)
        below.addWidget(self.remove_button)
        heading = plain.Label(self.tr("Found since this memory was opened"))
        heading.setProperty("heading", True)
        self.hits = QListWidget()
        self.hits.setAccessibleName(self.tr("Found since this memory was opened"))
        self.hits.itemActivated.connect(self._go)
        self.hits.itemClicked.connect(self._go)
        ends = QDialogButtonBox()
        close = ends.addButton(self.tr("Close"), QDialogButtonBox.ButtonRole.RejectRole)
        close.setAutoDefault(False)
        ends.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 14)
        column.addWidget(lead)
        column.addLayout(row)
        column.addWidget(self.problem)
        column.addWidget(self.rules, 2)
        column.addLayout(below)
        column.addWidget(heading)
        column.addWidget(self.hits, 1)
        column.addWidget(ends)
        self.kind.currentIndexChanged.connect(lambda _i: self._offer())
        for hit in hits:
            self._show_hit(hit)
        hub.live.connect(self._live)
        hub.read("watch.people", _people, self._take_people)
        self.refresh()

    def refresh(self) -> None:
        """Read the rules."""
        self.hub.read("watch.rules", lambda reader: reader.watches(), self._show)

    def _show(self, rules: list[WatchRule]) -> None:
        self.rules.clear()
        for rule in rules:
            item = QListWidgetItem(theme.icon(ICONS[rule.kind]), plain.line(self.sentence(rule.kind, rule.label or rule.value)))
            item.setData(RULE, rule.id)
            self.rules.addItem(item)
        self.remove_button.setEnabled(False)

    def sentence(self, kind: WatchKind, label: str) -> str:
        """Return a rule as a sentence."""
        return {
            "person": self.tr("when %1 appears"),
            "word": self.tr("when somebody says “%1”"),
            "object": self.tr("when this is seen: %1"),
        }[kind].replace("%1", plain.line(label, plain.ENTRY))

    def _take_people(self, people: list[Person]) -> None:
        for p in people:
            for name in (p.shown, p.called, p.name, f"Person {p.number}", *p.aliases):
                if name:
                    self._people.setdefault(name.casefold(), p.id)
        self._names = [p.shown for p in people]
        self._offer()

    def _offer(self) -> None:
        """Offer the people of this memory; words and objects are typed."""
        typed = self.value.currentText()
        names = self._names if self.kind.currentData() == "person" else []
        self.value.clear()
        for name in names:
            self.value.addItem(plain.line(name, plain.ENTRY))
        completer = QCompleter([plain.line(name, plain.ENTRY) for name in names], self.value)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.value.setCompleter(completer)
        self.value.setCurrentText(typed)
        hints = {"person": self.tr("a name"), "word": self.tr("a word, such as “budget”"), "object": self.tr("an object, such as “cup”")}
        self._edit.setPlaceholderText(hints[self.kind.currentData()])

    def add(self) -> None:
        """Add what is typed; a name that nobody has is said, and nothing is added."""
        kind, text = self.kind.currentData(), self.value.currentText().strip()
        self.problem.hide()
        if not text or self.hub.desk is None:
            self._complain(self.tr("Type what to watch for first."))
            self.value.setFocus()
            return
        value = text
        if kind == "person":
            found = self._people.get(text.casefold())
            if found is None:
                self._complain(self.tr("Nobody in this memory is called %1.").replace("%1", plain.line(text, plain.ENTRY)))
                return
            value = found
        self.value.setCurrentText("")
        self.hub.when(self.hub.desk.add_watch(kind, value, text), lambda _r: self.refresh(), lambda e: self._complain(str(e)))

    def _complain(self, text: str) -> None:
        self.problem.setText(text)
        self.problem.show()

    def remove(self) -> None:
        """Remove the selected rule."""
        for item in self.rules.selectedItems():
            if self.hub.desk is not None:
                self.hub.when(self.hub.desk.remove_watch(item.data(RULE)), lambda _n: self.refresh())

    def keyPressEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        if event.key() == Qt.Key.Key_Delete and self.rules.hasFocus():
            self.remove()
        else:
            super().keyPressEvent(event)

    # ------------------------------------------------------------ what was found

    def _live(self, event: object) -> None:
        from m3desk.events import WatchHit

        if isinstance(event, WatchHit):
            self._show_hit(event)

    def _show_hit(self, hit: WatchHit) -> None:
        item = QListWidgetItem(theme.icon(ICONS[hit.kind]), f"{clock(hit.at)}  {plain.line(hit.text)}")
        item.setData(RULE, (hit.source, hit.at))
        plain.tip(item, self.tr("Play this moment"))
        self.hits.insertItem(0, item)

    def _go(self, item: QListWidgetItem) -> None:
        self.hub.selection.play(*item.data(RULE))


def _people(reader: Reader) -> list[Person]:
    return sorted((p for p in reader.people() if not p.ignored), key=lambda p: (p.name is None, -p.screen_time - p.speech_time))
