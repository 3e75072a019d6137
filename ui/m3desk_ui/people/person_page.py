"""The person page: knowledge about the person, their moments, faces and speech, each linked to the video."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QPixmap
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from m3desk.domain.clip import clock
from m3desk.domain.ids import is_person, source_of
from m3desk_ui.hub.following import Following, Read
from m3desk_ui.look import links, plain, texts, theme
from m3desk_ui.people import person_menu
from m3desk_ui.people.activity_plot import ActivityPlot
from m3desk_ui.people.page_reading import Part, PersonDetails, patched, read_page, read_part
from m3desk_ui.people.people_list import NAME, fallback_head, initial
from m3desk_ui.people.person_picker import PersonPicker, everybody, likely_first, name_person
from m3desk_ui.people.relations import RelationsView
from m3desk_ui.people.split_board import SplitBoard
from m3desk_ui.people.sureness import Sureness

if TYPE_CHECKING:
    from m3desk.domain.changed import Changed
    from m3desk.domain.memory import StoredSentence
    from m3desk.domain.people import Person
    from m3desk_ui.hub.bridge import Hub

FACE = 84
MOST_FACES = 400
FEW = 3
"""Merged people that are listed by number; of more only how many they are is told."""
CONSENT = 2000
"""Characters of a note on consent."""
PLACE = Qt.ItemDataRole.UserRole
"""(source, microseconds) of an item."""
OBSERVATION = Qt.ItemDataRole.UserRole + 1


class PersonPage(QWidget):
    """Shows one person; `back` asks for the list."""

    back = Signal()
    merge_wanted = Signal(str)

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self.person_id = ""
        self.page: PersonDetails | None = None
        self._plot: ActivityPlot | None = None
        self._thumbnails: dict[str, str] = {}
        self._build()
        self.following = Following(
            hub, "person page", load=self._load, show=self._fill, patch=self._changed, apply=self._patch,
            failed=lambda _gone: self.back.emit(), parent=self,
        )  # fmt: skip
        hub.opened.connect(self._forget)

    def _build(self) -> None:
        self.to_list = self._button(self.back.emit)
        self.portrait = plain.Label(parent=self)
        self.portrait.setFixedSize(72, 72)
        self.name = QLineEdit(self)
        self.name.editingFinished.connect(self._rename)
        self.consent = QLineEdit(self)
        self.consent.setMaxLength(CONSENT)
        self.consent.editingFinished.connect(self._keep_consent)
        self.times = plain.Label(parent=self)
        self.times.setProperty("muted", True)
        self.times.setWordWrap(True)
        self.suggested = plain.RichLabel(self)
        self.suggested.setWordWrap(True)
        self.suggested.linkActivated.connect(self._confirm)
        self.first = self._button(self._play_first)
        self.ask = self._button(self._ask)
        self.merge = self._button(lambda: self.merge_wanted.emit(self.person_id))
        self.graph = self._button(self._show_in_graph)
        buttons = QHBoxLayout()
        buttons.addWidget(self.to_list)
        buttons.addStretch(1)
        self.split = self._button(self._split_off)
        self.more = self._button(self._show_more)
        for button in (self.first, self.ask, self.graph, self.merge, self.split, self.more):
            buttons.addWidget(button)
        words = QVBoxLayout()
        words.setSpacing(3)
        words.addWidget(self.name)
        words.addWidget(self.times)
        self.sureness = Sureness(self.hub, self)
        words.addWidget(self.sureness)
        words.addWidget(self.suggested)
        words.addWidget(self.consent)
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(self.portrait, 0, Qt.AlignmentFlag.AlignTop)
        head.addLayout(words, 1)
        self.known = plain.Page(self)
        self.known.anchorClicked.connect(lambda url: links.follow(self.hub, url))
        self.moments = self._icons(QSize(128, 72))
        self.faces = self._icons(QSize(FACE, FACE))
        self.faces.setSelectionMode(QListWidget.SelectionMode.ExtendedSelection)
        self.faces.itemSelectionChanged.connect(self._chosen)
        self.faces.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.faces.customContextMenuRequested.connect(self._face_menu)
        self.voices = plain.Page(self)
        self.voices.anchorClicked.connect(lambda url: links.follow(self.hub, url))
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.relations = RelationsView(self.hub, self)
        self.relations.picked.connect(lambda person: self.hub.selection.select("person", person))
        self.relations.picked.connect(self.show_person)
        for widget in (self.known, self.relations, self.moments, self.faces, self.voices):
            self.tabs.addTab(widget, "")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(8, 4, 8, 0)
        self._column.addLayout(buttons)
        self._column.addLayout(head)
        self._column.addWidget(self.tabs, 1)

    def _button(self, do: Callable[[], object]) -> QToolButton:
        button = QToolButton(self)
        button.clicked.connect(lambda: do())
        return button

    def _icons(self, size: QSize) -> QListWidget:
        view = QListWidget(self)
        view.setViewMode(QListWidget.ViewMode.IconMode)
        view.setIconSize(size)
        view.setResizeMode(QListWidget.ResizeMode.Adjust)
        view.setMovement(QListWidget.Movement.Static)
        view.setSpacing(6)
        view.setUniformItemSizes(True)
        view.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        view.itemClicked.connect(self._clicked)
        view.itemActivated.connect(self._clicked)
        return view

    def dress(self) -> None:
        """Set texts, icons and colours."""
        for button, icon, tip in (
            (self.to_list, "mdi6.arrow-left", self.tr("Back to all people")),
            (self.first, "mdi6.play", self.tr("Play the first moment")),
            (self.ask, "mdi6.chat-question-outline", self.tr("Ask about this person")),
            (self.graph, "mdi6.graph-outline", self.tr("Show in the graph")),
            (self.merge, "mdi6.account-multiple-plus-outline", self.tr("Same person as…")),
            (self.more, "mdi6.dots-vertical", self.tr("More about this person")),
            (self.split, "mdi6.call-split", self.tr("Several people? Separate them (or split off the selected faces)")),
        ):
            button.setIcon(theme.icon(icon))
            plain.tip(button, tip)
            button.setAccessibleName(tip)
        self.tabs.tabBar().setAccessibleName(self.tr("Parts of the page"))
        self.tabs.setAccessibleName(self.tr("Parts of the page"))
        for widget, name in (
            (self.known, self.tr("Knowledge")),
            (self.moments, self.tr("Moments")),
            (self.faces, self.tr("Faces")),
            (self.voices, self.tr("Speech")),
        ):
            widget.setAccessibleName(name)
        self.name.setAccessibleName(self.tr("Name"))
        self.name.setPlaceholderText(self.tr("Who is this?"))
        self.consent.setAccessibleName(self.tr("Consent"))
        self.consent.setPlaceholderText(self.tr("Note on consent"))
        plain.tip(self.consent, self.tr("What this person agreed to, and when, for your own records; removed when the person is forgotten"))
        self.relations.dress()
        self.sureness.dress()
        if self.page is not None:
            page, self.page = self.page, None
            self._fill(page)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Name the person by F2, as in the list."""
        if event.key() == Qt.Key.Key_F2 and not event.modifiers():
            self.name.setFocus()
            self.name.selectAll()
        else:
            super().keyPressEvent(event)

    # ------------------------------------------------------------ reading

    def _load(self) -> Read[PersonDetails]:
        ref = self.person_id
        return lambda reader: read_page(reader, ref)

    def show_person(self, person: str) -> None:
        """Show somebody from now on."""
        if person != self.person_id:
            self._clear()
        self.person_id = person
        self.following.restart()

    def _clear(self) -> None:
        self.page = None  # first: what is being typed is of nobody now
        self.name.clear()
        self.consent.clear()
        self.times.clear()
        self.suggested.clear()
        self.sureness.forget()

    def _forget(self, _path: str) -> None:
        """Drop what is shown of another memory, before the page is hidden: its editors would write to the one that is open now."""
        self._thumbnails.clear()
        self.person_id = ""
        self._clear()

    def leave(self) -> None:
        """Stop following: the page is hidden."""
        self.following.stop()

    def _changed(self, changed: Changed) -> Read[Part] | None:
        if self.page is None or not (changed.people or changed.nodes or changed.observations or changed.sources):
            return None
        id_ = self.page.person.id
        return lambda reader: read_part(reader, id_, changed)

    def _patch(self, part: Part) -> None:
        if self.page is None:
            return
        if part.person is not None and part.person.id != self.page.person.id:  # somebody else's now
            self.following.restart()
        elif (now := patched(self.page, part)) is not self.page:
            self._fill(now)

    def _fill(self, page: PersonDetails) -> None:
        """Show a page; unchanged parts are not touched."""
        old, self.page = self.page, page
        person = page.person
        self.person_id = person.id
        self._show_person(person)
        self._show_consent(page.consent)
        if old is None or (old.tracks, old.speech, old.durations) != (page.tracks, page.speech, page.durations):
            self._show_plot(page)
            self._show_moments(page)
        if old is None or (old.person.id, old.tracks, old.speech) != (person.id, page.tracks, page.speech):
            self.sureness.read(person.id, page.tracks, page.speech)
        if old is None or old.memories != page.memories:
            self._show_known(page)
            self.relations.read(person.id, page.memories)
        if old is None or old.tracks != page.tracks:
            self._show_faces(page)
        if old is None or (old.speech, old.person.shown) != (page.speech, person.shown):
            self._show_voices(page)
        self._chosen()
        titles = (
            self.tr("Knowledge (%1)").replace("%1", str(len(page.memories))),
            self.tr("With (%1)").replace("%1", str(len({p for m in page.memories for p in m.people} - {person.id}))),
            self.tr("Moments (%1)").replace("%1", str(self.moments.count())),
            self.tr("Faces (%1)").replace("%1", str(len(page.tracks))),
            self.tr("Speech (%1)").replace("%1", str(len(page.speech))),
        )
        for tab, title in enumerate(titles):
            self.tabs.setTabText(tab, title)

    def _show_person(self, person: Person) -> None:
        if not self.name.hasFocus():
            self.name.setText(self._name_shown())
            asked = self.tr("Name of %1").replace("%1", plain.line(person.shown, plain.ENTRY))
            self.name.setPlaceholderText(asked if person.name is None else self.tr("Who is this?"))
        parts = [self.tr("Person %1").replace("%1", str(person.number))] if person.name else []
        if person.screen_time:
            parts.append(self.tr("seen for %1").replace("%1", texts.presence(person.screen_time)))
        if person.speech_time:
            parts.append(self.tr("speaks for %1").replace("%1", texts.presence(person.speech_time)))
        count = len(person.clips)
        parts.append(self.tr("in 1 clip") if count == 1 else self.tr("in %1 clips").replace("%1", str(count)))
        numbers = [a for a in person.aliases if is_person(a)]
        shown = [a for a in person.aliases if a not in numbers] + (numbers if len(numbers) <= FEW else [])
        if shown:
            parts.append(self.tr("also %1").replace("%1", ", ".join(plain.line(texts.alias(a), plain.ENTRY) for a in shown[:20])))
        if len(numbers) > FEW:
            parts.append(self.tr("joined from %1 people").replace("%1", str(len(numbers) + 1)))
        plain.tip(self.times, ", ".join(texts.alias(a) for a in person.aliases))
        self.times.setText(" · ".join(parts))
        self._show_suggested(person)
        self._show_portrait(person)

    def _show_consent(self, note: str) -> None:
        if not self.consent.hasFocus():
            self.consent.setText(plain.line(note, CONSENT))

    def _keep_consent(self) -> None:
        """Keep the note as it was typed."""
        page, note = self.page, self.consent.text().strip()
        if page is None or self.hub.desk is None or note == plain.line(page.consent, CONSENT):
            return
        self.page = replace(page, consent=note)
        self.hub.when(self.hub.desk.set_consent(page.person.id, note), failed=self._not_kept)

    def _not_kept(self, error: Exception) -> None:
        self.hub.tell(error)
        self.following.restart()

    def _show_suggested(self, person: Person) -> None:
        if person.name_state != "suggested" or not person.suggested_names:
            self.suggested.setVisible(False)
            return
        best = person.suggested_names[0]
        heard = self.tr("heard or read")
        why = f" {plain.html(heard)}: “{plain.html(best.words, plain.LINE)}”" if best.words else ""
        name = plain.html(plain.line(best.name))
        yes, no = self.tr("Yes"), self.tr("No")
        self.suggested.setText(
            f"<b>{name}?</b>{why}<br><a href='yes'>{plain.html(yes)}, {name}</a> &nbsp;·&nbsp; <a href='no'>{plain.html(no)}</a>"
        )
        self.suggested.setVisible(True)

    def _confirm(self, answer: str) -> None:
        if self.page is None:
            return
        name = self.page.person.suggested_names[0].name
        self.hub.correct("name" if answer == "yes" else "reject", {"person": self.person_id, "name": name})

    def _show_portrait(self, person: Person) -> None:
        ratio = self.devicePixelRatioF()

        def put(pixmap: QPixmap) -> None:
            from m3desk_ui.graph.style import round_picture

            cut = round_picture(pixmap, round(72 * ratio), True)
            cut.setDevicePixelRatio(ratio)
            self.portrait.setPixmap(cut)

        self.portrait.setPixmap(fallback_head(person.id, initial(person), 72, ratio))
        here = self.hub.pictures.get(person.portrait, round(72 * ratio), then=put)
        if here is not None:
            put(here)

    def _show_plot(self, page: PersonDetails) -> None:
        if self._plot is None:
            self._plot = ActivityPlot(self)
            self._plot.picked.connect(self.hub.selection.play)
            self._column.insertWidget(2, self._plot)
        seen = [(source_of(r.track.id), r.track.start, r.track.end) for r in page.tracks if not r.set_aside]
        said = [(source_of(r.utterance.id), r.utterance.start, r.utterance.end) for r in page.speech if not r.set_aside]
        self._plot.show_times(seen, said, page.durations, theme.person_colour(page.person.id).name())

    def _show_known(self, page: PersonDetails) -> None:
        by_topic: dict[str, list[StoredSentence]] = {}
        for m in page.memories:
            if m.kind == "semantic":
                by_topic.setdefault(m.topic or "general", []).append(m)
        parts = []
        for topic, rows in by_topic.items():
            rows.sort(key=lambda m: (-m.weight, m.start))
            parts.append(f"<h4>{plain.html(texts.topic(topic).capitalize())}</h4>")
            parts += [self._line(m, strength=True) for m in rows]
        happened = [m for m in page.memories if m.kind == "episodic"]
        if happened:
            heading = self.tr("Events")
            parts.append(f"<h4>{plain.html(heading)}</h4>")
            parts += [self._line(m) for m in happened[:300]]
            if len(happened) > 300:
                more = self.tr("… and %1 more in the memories table").replace("%1", str(len(happened) - 300))
                parts.append(f"<p>{plain.html(more)}</p>")
        if not parts:
            nothing = self.tr("Nothing is known yet.")
            parts.append(f"<p>{plain.html(nothing)}</p>")
        self._set_html(self.known, "".join(parts))

    def _line(self, m: StoredSentence, *, strength: bool = False) -> str:
        weight = f" <span style='color:{theme.colours().muted}'>×{m.weight:g}</span>" if strength and m.weight > 1 else ""
        over = self.tr("no longer true")
        ended = f" <span style='color:{theme.colours().muted}'>({plain.html(over)})</span>" if m.valid_until else ""
        as_text = f"color:{theme.colours().text};text-decoration:none"
        words = f'<a style="{as_text}" href="{links.href("node", m.id)}">{plain.html(m.shown)}</a>'
        return f"<p style='margin:3px 0'>{links.moment(m.source, m.start)}&nbsp; {words}{weight}{ended}</p>"

    def _set_html(self, browser: plain.Page, html: str) -> None:
        """Replace a text and keep the scroll position."""
        if browser.property("shown") == html:
            return
        browser.setProperty("shown", html)
        bar = browser.verticalScrollBar()
        at = bar.value()
        browser.show_html(html)
        bar.setValue(at)

    def _show_moments(self, page: PersonDetails) -> None:
        """Show a picture for each of the person's clips, at their first moment there: their face, or the clip's if they are only heard."""
        firsts: dict[str, tuple[str, int]] = {}
        faces: dict[str, str] = {}
        for r in page.tracks:
            if r.track.crops and (r.track.clip not in faces or r.track.start < firsts[r.track.clip][1]):
                faces[r.track.clip] = r.track.crops[0]
            if r.track.clip not in firsts or r.track.start < firsts[r.track.clip][1]:
                firsts[r.track.clip] = (source_of(r.track.id), r.track.start)
        for row in page.speech:
            if row.utterance.clip not in firsts or row.utterance.start < firsts[row.utterance.clip][1]:
                firsts[row.utterance.clip] = (source_of(row.utterance.id), row.utterance.start)
        rows = sorted(firsts.items(), key=lambda item: item[1])
        cells = [(clock(at), faces.get(clip) or self._thumbnails.get(clip), (source, at), clip) for clip, (source, at) in rows]
        self._fill_icons(self.moments, cells)
        lacking = [clip for clip, _ in rows if clip not in faces and clip not in self._thumbnails]

        def put(pictures: dict[str, str]) -> None:
            self._thumbnails |= dict.fromkeys(lacking, "") | pictures
            for row in range(self.moments.count()):
                item = self.moments.item(row)
                if item.data(OBSERVATION) in lacking:
                    self._picture(item, self._thumbnails[item.data(OBSERVATION)], 128, 72)

        if lacking:
            self.hub.read("person moments", lambda reader: reader.thumbnails(lacking), put)

    def _show_faces(self, page: PersonDetails) -> None:
        """Show a crop of each track, the least certain first, so that errors are seen at once."""
        rows = sorted(page.tracks, key=lambda r: (r.set_aside, r.track.quality * r.track.score))[:MOST_FACES]
        cells = []
        for r in rows:
            text = clock(r.track.start) + (" ⊘" if r.set_aside else "")
            cells.append((text, r.track.crops[0] if r.track.crops else None, (source_of(r.track.id), r.track.start), r.track.id))
        self._fill_icons(self.faces, cells)

    def _fill_icons(self, view: QListWidget, cells: list[tuple[str, str | None, tuple[str, int], str]]) -> None:
        """Show these cells in order; existing ones keep their pictures."""
        wanted = {id_ for _, _, _, id_ in cells}
        for row in reversed(range(view.count())):
            if view.item(row).data(OBSERVATION) not in wanted:
                view.takeItem(row)
        size = view.iconSize()
        blank = QPixmap(size)
        blank.fill(Qt.GlobalColor.transparent)
        there = {view.item(row).data(OBSERVATION): view.item(row) for row in range(view.count())}
        for row, (text, media, place, id_) in enumerate(cells):
            item = there.get(id_)
            if item is None:
                item = QListWidgetItem(QIcon(blank), text)
                item.setData(OBSERVATION, id_)
                view.insertItem(row, item)
                self._picture(item, media, size.width(), size.height())
            elif view.item(row) is not item:
                view.insertItem(row, view.takeItem(view.row(item)))
            if item.data(PLACE) != place or item.text() != text:
                item.setText(text)
                item.setData(PLACE, place)
                plain.tip(item, self.tr("Play %1").replace("%1", clock(place[1])))

    def _picture(self, item: QListWidgetItem, media: str | None, width: int, height: int) -> None:
        import shiboken6

        ratio = self.devicePixelRatioF()

        def put(pixmap: QPixmap) -> None:
            if shiboken6.isValid(item):
                item.setIcon(QIcon(pixmap))

        here = self.hub.pictures.get(media, round(width * ratio), round(height * ratio), then=put)
        if here is not None:
            put(here)

    def _show_voices(self, page: PersonDetails) -> None:
        rows = []
        talks = self.tr("(speech not understood)")
        for r in page.speech[:500]:
            when = links.moment(source_of(r.utterance.id), r.utterance.start)
            not_them = links.link(
                self.tr("not %1").replace("%1", plain.line(page.person.shown, 30)), "exclude", r.utterance.id, page.person.id
            )
            not_speech = links.link(self.tr("not speech"), "aside", r.utterance.id)
            why = links.link(self.tr("why"), "observation", r.utterance.id)
            small = f"<span style='font-size:small'>{not_them} · {not_speech} · {why}</span>"
            rows.append(f"<p style='margin:3px 0'>{when}&nbsp; {plain.html(r.utterance.text or talks)} &nbsp;{small}</p>")
        never = self.tr("Never heard speaking.")
        self._set_html(self.voices, "".join(rows) or f"<p>{plain.html(never)}</p>")

    # ------------------------------------------------------------ acting

    def _clicked(self, item: QListWidgetItem) -> None:
        source, at = item.data(PLACE)
        self.hub.selection.play(source, at)

    def _face_menu(self, where: QPoint) -> None:
        item = self.faces.itemAt(where)
        if item is None or self.page is None:
            return
        observation = item.data(OBSERVATION)
        menu = QMenu(self)
        menu.addAction(self.tr("Play"), lambda: self._clicked(item))
        menu.addAction(self.tr("Show in the inspector"), lambda: self._inspect(observation))
        menu.addSeparator()
        chosen = self.chosen_faces() if item.isSelected() else [observation]
        not_them = plain.entry(self.tr("Not %1").replace("%1", self.page.person.shown))
        menu.addAction(self.tr("This is…"), lambda: self._assign(chosen))
        menu.addAction(not_them, lambda: self.hub.correct("exclude", {"observations": chosen, "person": self.person_id}))
        menu.addAction(self.tr("Not a face"), lambda: self.hub.correct("set-aside", {"observations": chosen}))
        if 0 < len(chosen) < self.faces.count():
            menu.addAction(self.tr("Two people: split off the selected ones"), self._split_off)
        why = plain.entry(self.tr("Why %1?").replace("%1", self.page.person.called))
        menu.addAction(why, lambda: self._inspect(observation))
        menu.popup(self.faces.viewport().mapToGlobal(where))

    def chosen_faces(self) -> list[str]:
        """Return the face tracks that are selected, in the order shown."""
        rows = [self.faces.item(i) for i in range(self.faces.count())]
        return [r.data(OBSERVATION) for r in rows if r.isSelected()]

    def _chosen(self) -> None:
        self.split.setEnabled(self.page is not None and len(self.page.tracks) + len(self.page.speech) > 1)

    def _split_off(self) -> None:
        """Split the selected faces off as another person; where none, or all, are selected, let the user sort faces and voices."""
        chosen = self.chosen_faces()
        if self.page is None:
            return
        if chosen and len(chosen) < len(self.page.tracks) + len(self.page.speech):
            self.hub.correct("split", {"person": self.person_id, "observations": chosen})
        else:
            self.board = SplitBoard(self.hub, self.person_id, self)
            self.board.show()

    def _assign(self, observations: list[str]) -> None:
        """Ask whose faces these are: somebody known, or a new name."""

        def ask(people: list[Person], likely: set[str]) -> None:
            picker = PersonPicker(self.hub, self.tr("This is…"), self.tr("Who is this?"), people, self, new=True, likely=likely)
            picker.accepted.connect(lambda: self._picked(picker, observations))
            picker.open()

        likely_first(self.hub, self.person_id, ask)

    def _picked(self, picker: PersonPicker, observations: list[str]) -> None:
        person, name = picker.person(), picker.new_name()
        if person is not None or name:
            chosen = {"person": person.id if person is not None else None, "name": name or None}
            self.hub.correct("assign", {"observations": observations, **chosen})

    def _inspect(self, observation: str) -> None:
        self.hub.selection.select("observation", observation)
        self.hub.selection.wanted.emit("inspector")

    def _rename(self) -> None:
        text = self.name.text().strip()
        if self.page is not None and text and text not in (self.page.person.name, self._name_shown()):
            person = self.person_id
            self.hub.read("people of a name", everybody, lambda people: name_person(self.hub, people, person, text, self))

    def _name_shown(self) -> str:
        """Return the name as the editor shows it: control characters as visible signs."""
        return plain.line(self.page.person.name or "", NAME) if self.page is not None else ""

    def more_menu(self) -> QMenu:
        """Return what else can be done with the person."""
        menu = QMenu(self)
        person_menu.fill(menu, self.hub, self.person_id, self)
        return menu

    def _show_more(self) -> None:
        if self.page is not None:
            self.more_menu().popup(self.more.mapToGlobal(QPoint(0, self.more.height())))

    def _play_first(self) -> None:
        if self.page is not None and self.page.person.first_seen is not None:
            self.hub.selection.play(*self.page.person.first_seen)

    def _show_in_graph(self) -> None:
        self.hub.selection.select("person", self.person_id)
        self.hub.selection.wanted.emit("graph")

    def _ask(self) -> None:
        if self.page is not None:
            self.ask_about(self.page.person)

    def ask_about(self, person: Person) -> None:
        """Put a question about this person into the chat's box."""
        self.hub.selection.asked_about.emit(self.tr("What is known about %1?").replace("%1", person.called))
        self.hub.selection.wanted.emit("chat")
