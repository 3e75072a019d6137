"""The faces and voices of one person: what joined them, separated or joined by hand; another person's voice can be chosen for the face."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QSize, Qt
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHeaderView, QPushButton, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget
from shiboken6 import isValid

from m3desk.domain.clip import clock
from m3desk.domain.ids import source_of
from m3desk_ui.look import plain, texts, theme
from m3desk_ui.people.person_picker import PersonPicker, everybody

if TYPE_CHECKING:
    from m3desk.domain.insight import VoiceLink
    from m3desk.domain.people import Person
    from m3desk_ui.hub.bridge import Hub

ROW = Qt.ItemDataRole.UserRole
FACE = 40
WORDS = 3
"""Utterances of a voice that its tooltip quotes; the row shows the longest."""


@dataclass(frozen=True, slots=True)
class Row:
    """A face and a voice with what they are called, the face's picture, and the voice's longest utterance: (source, µs, words)."""

    link: VoiceLink
    face_of: str
    voice_of: str
    picture: str | None
    said: tuple[str, int, str] | None
    more: tuple[str, ...] = ()


class VoiceLinks(QDialog):
    """Lists the pairs of a face and a voice that have to do with one person. Does not block the window: a pair can be played."""

    def __init__(self, hub: Hub, person: Person, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.hub, self.person = hub, person
        self._asked = 0
        shown = plain.line(texts.person(person.shown), plain.ENTRY)
        self.setWindowTitle(plain.title(self.tr("Face and voice of %1").replace("%1", shown)))
        self.resize(760, 380)
        self.rows = QTreeWidget()
        self.rows.setRootIsDecorated(False)
        self.rows.setWordWrap(True)
        self.rows.setIconSize(QSize(FACE, FACE))
        self.rows.setHeaderLabels([self.tr("Face"), self.tr("Voice"), self.tr("What speaks for it"), self.tr("Now")])
        self.rows.setAccessibleName(self.tr("Faces and voices"))
        for column, mode in enumerate(
            (
                QHeaderView.ResizeMode.ResizeToContents,
                QHeaderView.ResizeMode.Stretch,
                QHeaderView.ResizeMode.Stretch,
                QHeaderView.ResizeMode.ResizeToContents,
            )
        ):
            self.rows.header().setSectionResizeMode(column, mode)
        self.rows.header().setStretchLastSection(False)
        self.rows.currentItemChanged.connect(lambda *_: self._enable())
        self.rows.itemActivated.connect(lambda *_: self.play())
        self.none = plain.Label()
        self.none.setWordWrap(True)
        self.none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.none.setProperty("muted", True)
        self.none.hide()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.listen = QPushButton(self.tr("Play"))
        plain.tip(self.listen, self.tr("Play the voice beside the moving face (Enter)"))
        self.listen.clicked.connect(self.play)
        self.toggle = QPushButton()
        self.toggle.clicked.connect(self.change)
        self.other = QPushButton(self.tr("Another voice…"))
        plain.tip(self.other, self.tr("Choose the person whose voice belongs to this face"))
        self.other.clicked.connect(self.choose)
        for button in (self.listen, self.toggle, self.other):
            button.setAutoDefault(False)
            buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        close = buttons.button(QDialogButtonBox.StandardButton.Close)
        close.setAutoDefault(False)  # Enter in the list plays, and must not close as well
        close.setDefault(False)
        buttons.rejected.connect(self.reject)
        column_ = QVBoxLayout(self)
        for widget in (self.rows, self.none, buttons):
            column_.addWidget(widget, 0 if widget is buttons else 1)
        hub.opened.connect(self.reject)
        hub.corrected.connect(self._corrected)  # a method, not a function: it ends with the dialog
        self._enable()
        self.read()

    def _corrected(self, _event: object) -> None:
        if self.isVisible():
            self.read()

    def read(self) -> None:
        """Ask the engine for the pairs, then read what they look and sound like."""
        desk = self.hub.desk
        if desk is None:
            return
        self._asked += 1
        asked = self._asked

        def found(pairs: list[VoiceLink]) -> None:
            if isValid(self) and asked == self._asked:
                self.hub.read(f"voice links {self.person.id}", lambda reader: read_rows(reader, pairs), self._show)

        def gone(_error: Exception) -> None:  # merged into somebody, or forgotten
            if isValid(self):
                self.reject()

        self.hub.when(desk.links_of(self.person.id), found, gone)

    def _show(self, rows: Sequence[Row]) -> None:
        if not isValid(self):
            return
        kept = self._current()
        self.rows.clear()
        for row in rows:
            said = f"{clock(row.said[1])} “{plain.line(row.said[2], plain.ENTRY)}”" if row.said else ""
            voice = plain.line(texts.person(row.voice_of), plain.ENTRY) + (f"  {said}" if said else "")
            state = self.tr("one person") if row.link.joined else self.tr("not joined")
            item = QTreeWidgetItem([plain.line(texts.person(row.face_of), plain.ENTRY), voice, plain.line(evidence(row.link)), state])
            item.setData(0, ROW, row)
            item.setData(1, Qt.ItemDataRole.ToolTipRole, plain.tip_text("\n".join(row.more)))
            item.setData(2, Qt.ItemDataRole.ToolTipRole, plain.tip_text(evidence(row.link)))
            item.setIcon(0, theme.icon("mdi6.face-man-outline"))
            item.setIcon(1, theme.icon("mdi6.account-voice"))
            self._picture(item, row.picture)
            self.rows.addTopLevelItem(item)
            if kept is not None and (row.link.face, row.link.voice) == (kept.link.face, kept.link.voice):
                self.rows.setCurrentItem(item)
        first = self.rows.topLevelItem(0)
        if self.rows.currentItem() is None and first is not None:
            self.rows.setCurrentItem(first)
        self.rows.setVisible(bool(rows))
        self.none.setVisible(not rows)
        self.none.setText(
            self.tr("No face and no voice of theirs was ever seen to go together.")
            if self.person.faces
            else self.tr("Only a voice is known of them; no face was seen to go with it.")
        )
        self._enable()

    def _picture(self, item: QTreeWidgetItem, media: str | None) -> None:
        if media is None:
            return
        ratio = self.devicePixelRatioF()

        def put(pixmap: QPixmap) -> None:
            if isValid(self) and isValid(item):
                item.setIcon(0, QIcon(pixmap))

        here = self.hub.pictures.get(media, round(FACE * ratio), then=put)
        if here is not None:
            put(here)

    def _current(self) -> Row | None:
        item = self.rows.currentItem()
        row: Row | None = None if item is None else item.data(0, ROW)
        return row

    def _enable(self) -> None:
        row = self._current()
        self.listen.setEnabled(row is not None and row.said is not None)
        self.toggle.setEnabled(row is not None)
        joined = row is None or row.link.joined
        self.toggle.setText(self.tr("Not their voice") if joined else self.tr("This is their voice"))
        plain.tip(
            self.toggle,
            self.tr("Separate this face and this voice; can be undone") if joined else self.tr("Join this face and voice; can be undone"),
        )
        self.other.setEnabled(bool(self.person.faces))

    # ------------------------------------------------------------ acting

    def play(self) -> None:
        """Play the voice's longest utterance, in the video."""
        row = self._current()
        if row is not None and row.said is not None:
            self.hub.selection.play(row.said[0], row.said[1])

    def change(self) -> None:
        """Separate the chosen pair, or join it."""
        row = self._current()
        if row is not None:
            self.hub.correct("unlink" if row.link.joined else "link", {"face": row.link.face, "voice": row.link.voice})

    def choose(self) -> None:
        """Let the user choose whose voice belongs to the face of this person."""
        question = self.tr("Whose voice belongs to %1?").replace("%1", plain.line(texts.person(self.person.shown), plain.ENTRY))

        def choose(people: list[Person]) -> None:
            heard = [p for p in people if p.voices and p.id != self.person.id]
            picker = PersonPicker(self.hub, self.tr("Another voice"), question, heard, self)
            picker.accepted.connect(lambda: self._picked(picker))
            picker.open()

        self.hub.read("people to choose", everybody, choose)

    def _picked(self, picker: PersonPicker) -> None:
        person = picker.person()
        if person is not None and person.voices and self.person.faces:
            self.hub.correct("link", {"face": self.person.faces[0], "voice": person.voices[0]})


def evidence(link: VoiceLink) -> str:
    """Return what speaks for a pair, in words, the strongest first."""
    parts = [f"{texts.vote(by)} ({weight:.1f})" for by, weight in link.by]
    return "; ".join(parts) or QCoreApplication.translate("VoiceLinks", "nothing but your word")


def read_rows(reader: Any, pairs: Sequence[VoiceLink]) -> list[Row]:
    """Read what pairs of a face and a voice look and sound like (in the reading thread)."""
    nodes = {n.id: n for n in reader.nodes_of({n for p in pairs for n in (p.face, p.voice)})}
    names = {p.id: p.shown for p in reader.people_of({p for n in nodes.values() for p in n.people})}

    def called(node: str) -> str:
        people = nodes[node].people if node in nodes else ()
        return names.get(people[0], people[0]) if people else node

    heard = {v: [b.observation for b in reader.bindings(node=v) if b.superseded is None] for v in {p.voice for p in pairs}}
    speech = {v: reader.speech_of(observations) for v, observations in heard.items()}
    rows = []
    for pair in pairs:
        said = sorted((r.utterance for r in speech[pair.voice] if r.utterance.text), key=lambda u: -len(u.text))[:WORDS]
        first = (source_of(said[0].id), said[0].start, said[0].text) if said else None
        face = nodes.get(pair.face)
        quotes = tuple(f"{clock(u.start)} {u.text}" for u in said)
        rows.append(Row(pair, called(pair.face), called(pair.voice), face.picture if face is not None else None, first, quotes))
    return rows


def ask(hub: Hub, person: str, parent: QWidget) -> None:
    """Open the list of a person."""

    def read(found: list[Person]) -> None:
        if found:
            VoiceLinks(hub, found[0], parent).show()

    hub.read("voices of a person", lambda reader: reader.people_of((person,)), read)
