"""The sources dock: memorized and queued sources with order, state and progress; drop, pause, cancel, retry, locate, remove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QMimeData, QModelIndex, QPersistentModelIndex, QPoint, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QListView,
    QMenu,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from m3desk.domain.clip import clock
from m3desk.errors import as_sentence
from m3desk_ui.hub.following import Following, Read
from m3desk_ui.look import plain, texts, theme
from m3desk_ui.memory.order import number
from m3desk_ui.window import files

if TYPE_CHECKING:
    from m3desk import events
    from m3desk.domain.changed import Changed
    from m3desk.domain.clip import Clip, Source
    from m3desk.domain.correction import Effect
    from m3desk.ports import Desk, Reader
    from m3desk_ui.hub.bridge import Hub

Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole
HEIGHT = 62
VIDEO_FILTER = (
    "*.mp4 *.mkv *.mov *.avi *.webm *.m4v *.mpg *.mpeg *.ts *.mts *.wmv *.flv *.ogv *.3gp *.wav *.mp3 *.flac *.ogg *.opus *.m4a *.aac"
)


@dataclass(frozen=True, slots=True)
class Row:
    """A source with how far it is. `done`: microseconds memorized; `waiting`: whether it can still be moved in the queue.

    `picture`: of the first clip that has one, `pictured`. `states`: clip id → its length, and whether it is memorized (True), lost (False)
    or still to come (None).
    """

    source: Source
    picture: str | None
    pictured: str
    states: Mapping[str, tuple[int, bool | None]]
    there: bool
    done: int = 0
    failed: int = 0

    @classmethod
    def of(cls, source: Source, picture: tuple[str, str] | None, states: Mapping[str, tuple[int, bool | None]], there: bool) -> Row:
        """Return a row, summed up."""
        kept = sum(length for length, state in states.values() if state)
        clip, media = picture or ("", None)
        return cls(source, media, clip, states, there, kept, sum(state is False for _, state in states.values()))

    @property
    def waiting(self) -> bool:
        return self.source.state == "queued"


class _Rows(QAbstractListModel):
    moved = Signal(str, int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == ROW:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return plain.line(f"{Path(row.source.uri).name}, {texts.source_state(row.source.state)}")
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain.tip_text(f"{row.source.uri}\n{row.source.error or ''}".strip())
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if index.isValid() and self.rows[index.row()].waiting:
            flags |= Qt.ItemFlag.ItemIsDragEnabled
        return flags if index.isValid() else flags | Qt.ItemFlag.ItemIsDropEnabled

    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        return ["application/x-m3desk-source"]

    def mimeData(self, indexes: Any) -> QMimeData:
        data = QMimeData()
        data.setData("application/x-m3desk-source", self.rows[indexes[0].row()].source.id.encode())
        return data

    def dropMimeData(self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index) -> bool:
        if not data.hasFormat("application/x-m3desk-source"):
            return False
        id_ = bytes(data.data("application/x-m3desk-source").data()).decode()
        before = self.rows[: row if row >= 0 else len(self.rows)]
        self.moved.emit(id_, sum(r.waiting and r.source.id != id_ for r in before))
        return False  # the engine decides the order; we read it again

    def show(self, rows: list[Row]) -> None:
        if [r.source.id for r in rows] == [r.source.id for r in self.rows] and rows:
            self.rows = rows
            self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
            return
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()


class _Paint(QStyledItemDelegate):
    def __init__(self, hub: Hub, view: QListView) -> None:
        super().__init__(view)
        self._hub, self._view = hub, view
        self.progress: dict[str, events.Progress] = {}
        self.paused = False

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(200, HEIGHT)

    def paint(self, p: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: Row = index.data(ROW)
        c = theme.colours()
        p.save()
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        r = QRectF(option.rect)
        if option.state & QStyle.StateFlag.State_Selected:
            p.fillRect(r, QColor(c.raised))
            p.fillRect(QRectF(r.x(), r.y(), 3, r.height()), QColor(c.accent))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            p.fillRect(r, QColor(c.window))
        ratio = self._view.devicePixelRatioF()
        thumb = QRectF(r.x() + 10, r.y() + 8, 80, 45)
        pixmap = self._hub.pictures.get(row.picture, round(80 * ratio), round(45 * ratio))
        if pixmap is not None:
            p.drawPixmap(thumb, pixmap, QRectF(pixmap.rect()))
        else:
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(QColor(c.raised))
            p.drawRoundedRect(thumb, 4, 4)
            theme.icon("mdi6.waveform" if row.source.width is None else "mdi6.movie-outline", c.muted).paint(
                p, thumb.adjusted(28, 10, -28, -10).toRect()
            )
        left, width = thumb.right() + 10, r.right() - thumb.right() - 20
        bold = QFont(self._view.font())
        bold.setBold(True)
        p.setFont(bold)
        p.setPen(QColor(c.text))
        name = QFontMetricsF(bold).elidedText(plain.line(Path(row.source.uri).name), Qt.TextElideMode.ElideMiddle, width)
        p.drawText(QRectF(left, r.y() + 6, width, 18), Qt.AlignmentFlag.AlignVCenter, name)
        p.setFont(self._view.font())
        text, colour = self._line(row)
        p.setPen(QColor(colour))
        p.drawText(
            QRectF(left, r.y() + 24, width, 18),
            Qt.AlignmentFlag.AlignVCenter,
            QFontMetricsF(p.font()).elidedText(text, Qt.TextElideMode.ElideRight, width),
        )
        part = row.done / row.source.duration if row.source.duration else 0.0
        if row.source.state in ("working", "paused", "partial", "cancelled") or 0 < part < 1:
            news = self.progress.get(row.source.id)
            if news is not None and news.total:
                part = max(part, news.done / news.total)
            bar = QRectF(left, r.y() + 47, width, 5)
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(QColor(c.raised if not option.state & QStyle.StateFlag.State_Selected else c.line))
            p.drawRoundedRect(bar, 2.5, 2.5)
            p.setBrush(QColor(c.accent if row.source.state == "working" and not self.paused else c.muted))
            p.drawRoundedRect(QRectF(bar.x(), bar.y(), bar.width() * min(1.0, part), 5), 2.5, 2.5)
        p.restore()

    def _line(self, row: Row) -> tuple[str, str]:
        c = theme.colours()
        s = row.source
        if s.state == "failed" and s.error:
            return plain.line(as_sentence(s.error)), c.bad
        state = "paused" if self.paused and s.state == "working" else s.state
        parts = [texts.source_state(state)]
        colour = {"done": c.good, "working": c.accent, "failed": c.bad, "partial": c.warn}.get(state, c.muted)
        if s.duration:
            parts.append(clock(s.duration))
        news = self.progress.get(s.id)
        if state == "working" and news is not None:
            parts.append(texts.stage(news.stage))
            if news.left is not None:
                parts.append(self.tr("%1 left").replace("%1", texts.duration(round(news.left * 1e6))))
        if row.failed:
            parts.append(self.tr("1 clip failed") if row.failed == 1 else self.tr("%1 clips failed").replace("%1", str(row.failed)))
        if not row.there:
            parts.append(self.tr("file not found"))
            colour = c.warn
        return " · ".join(parts), colour


class SourcesView(QWidget):
    """The sources of the open memory."""

    add_wanted = Signal()
    dropped = Signal(list)

    @property
    def at_work(self) -> bool:
        """Return whether a source is not memorized to its end yet."""
        return any(row.source.state in ("working", "queued", "paused") for row in self.model.rows)

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._paused = False
        self._rows: list[Row] = []
        self._to_locate = ""
        self.setAcceptDrops(True)
        self.model = _Rows(self)
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setAccessibleName(self.tr("Sources"))
        self.list.setMouseTracking(True)
        self.list.setUniformItemSizes(True)
        self.list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.paint = _Paint(hub, self.list)
        self.list.setItemDelegate(self.paint)
        self.list.customContextMenuRequested.connect(self._menu)
        self.list.activated.connect(lambda i: self._watch(i.data(ROW)))
        self.list.clicked.connect(lambda i: hub.selection.select("source", i.data(ROW).source.id))
        self.model.moved.connect(self._move)
        self.add = QPushButton(self.tr("Add…"))
        plain.tip(self.add, self.tr("Memorize more videos or sound files"))
        self.add.clicked.connect(self.add_wanted)
        self.folder = QPushButton(self.tr("Folder…"))
        plain.tip(self.folder, self.tr("Memorize every video of a folder, in name order"))
        self.folder.clicked.connect(self._choose_folder)
        self.pause = QToolButton()
        self.pause.setCheckable(True)
        self.pause.clicked.connect(self.set_paused)
        self.more = QToolButton()
        plain.tip(self.more, self.tr("What can be done with the selected source"))
        self.more.setAccessibleName(self.tr("Actions on the selected source"))
        self.more.clicked.connect(self._menu_of_selected)
        row = QHBoxLayout()
        row.setContentsMargins(8, 6, 8, 6)
        self.add.setMinimumWidth(40)
        self.folder.setMinimumWidth(40)
        row.addWidget(self.add)
        row.addWidget(self.folder)
        row.addStretch(1)
        row.addWidget(self.pause)
        row.addWidget(self.more)
        self._empty = plain.Label(self.tr("Drop videos or a folder here."))
        self._empty.setProperty("muted", True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(self._empty, 1)
        column.addWidget(self.list, 1)
        self.list.hide()
        self.following = Following(
            hub, "sources", load=lambda: read_rows, show=self._take, patch=self._changed, apply=self._patch, parent=self
        )
        hub.opened.connect(lambda _p: self._opened())
        hub.source_changed.connect(lambda _event: self._order())
        hub.engine_ready.connect(lambda _event: self._pause_again())
        hub.progress.connect(self._progress)
        hub.pictures.ready.connect(lambda _m: self.list.viewport().update())
        hub.themed.connect(self.retheme)
        self.retheme()
        if hub.desk is not None:
            self.following.restart()

    def retheme(self) -> None:
        self.add.setIcon(theme.icon("mdi6.plus"))
        self.folder.setIcon(theme.icon("mdi6.folder-plus-outline"))
        self.more.setIcon(theme.icon("mdi6.dots-vertical"))
        self._show_paused()

    def _show_paused(self) -> None:
        text = self.tr("Resume memorizing") if self._paused else self.tr("Pause memorizing")
        self.pause.setIcon(theme.icon("mdi6.play-circle-outline" if self._paused else "mdi6.pause-circle-outline"))
        plain.tip(self.pause, text)
        self.pause.setAccessibleName(text)
        self.pause.setChecked(self._paused)
        self.paint.paused = self._paused
        self.list.viewport().update()

    def set_paused(self, paused: bool) -> None:
        """Pause or resume the engine's work."""
        self._paused = paused
        if self._hub.desk is not None:
            self._hub.desk.pause(paused)
        self._show_paused()

    def _pause_again(self) -> None:
        """Pause a restarted engine again: it does not know the state of the previous one."""
        if self._paused:
            self.set_paused(True)

    def _opened(self) -> None:
        self._paused = False
        self._to_locate = ""
        self.paint.progress.clear()
        self._show_paused()
        self._take([])
        self.following.restart()

    @staticmethod
    def _changed(changed: Changed) -> Read[Part] | None:
        return (lambda reader: read_part(reader, changed)) if changed.sources or changed.clips else None

    def _patch(self, part: Part) -> None:
        if any(r.pictured in part.gone for r in self._rows):  # then any other clip's picture may be the first
            self.following.restart()
            return
        rows = patched({r.source.id: r for r in self._rows}, part)
        if rows != self._rows:
            self._take(rows)

    def _take(self, rows: list[Row]) -> None:
        self._rows = rows
        self._order()
        if self._to_locate and any(r.source.id == self._to_locate for r in rows):
            QTimer.singleShot(0, self, lambda source=self._to_locate: self.locate_source(source))
            self._to_locate = ""

    def _order(self) -> None:
        """Sort the rows; waiting sources are in the order of the queue."""
        desk = self._hub.desk
        if desk is not None and sum(r.waiting for r in self._rows) > 1:
            self._hub.when(desk.queue(), lambda ids: self._show(in_queue_order(self._rows, ids)), lambda _error: self._show(self._rows))
        else:
            self._show(self._rows)

    def _show(self, rows: list[Row]) -> None:
        self.model.show(rows)
        self.list.setVisible(bool(rows))
        self._empty.setVisible(not rows)

    def _progress(self, event: events.Progress) -> None:
        self.paint.progress[event.source] = event
        self.list.viewport().update()

    # ------------------------------------------------------------ acting

    def selected(self) -> Row | None:
        index = self.list.currentIndex()
        return index.data(ROW) if index.isValid() else (self.model.rows[0] if len(self.model.rows) == 1 else None)

    def _watch(self, row: Row) -> None:
        self._hub.selection.play(row.source.id, 0)

    def _move(self, source: str, to: int) -> None:
        if self._hub.desk is not None:
            self._hub.desk.move(source, to)
            self._order()

    def _menu_of_selected(self) -> None:
        row = self.selected()
        if row is not None:
            self.actions_menu(row).exec(self.more.mapToGlobal(QPoint(0, self.more.height())))

    def _menu(self, point: QPoint) -> None:
        index = self.list.indexAt(point)
        if index.isValid():
            self.actions_menu(index.data(ROW)).exec(self.list.viewport().mapToGlobal(point))

    def actions_menu(self, row: Row) -> QMenu:
        """Return what can be done with a source; what can't is greyed, not hidden."""
        menu, s = QMenu(self), row.source
        menu.addAction(self.tr("Watch"), lambda: self._watch(row)).setEnabled(row.there and s.state != "failed")
        menu.addSeparator()
        menu.addAction(self.tr("Memorize next"), lambda: self._move(s.id, 0)).setEnabled(row.waiting)
        menu.addAction(self.tr("Cancel"), lambda: self._cancel(s.id)).setEnabled(s.state in ("queued", "working", "paused"))
        retry = menu.addAction(self.tr("Retry"), lambda: self._retry(s.id))
        retry.setEnabled(s.state in ("failed", "cancelled", "partial") or row.failed > 0)
        menu.addSeparator()
        menu.addAction(self.tr("Locate folder…") if is_recorded(row.source) else self.tr("Locate file…"), lambda: self.locate(row))
        menu.addAction(self.tr("Remove…"), lambda: self.remove(row))
        return menu

    def _cancel(self, source: str) -> None:
        if self._hub.desk is not None:
            self._hub.desk.cancel(source)

    def _retry(self, source: str) -> None:
        if self._hub.desk is not None:
            self._hub.desk.retry(source)

    def locate_source(self, source: str) -> None:
        """Ask for the file of a source, as its menu does: once the list has it, if it was not read yet."""
        row = next((r for r in self._rows if r.source.id == source), None)
        self._to_locate = source if row is None else ""
        if row is not None:
            self.locate(row)

    def locate(self, row: Row) -> None:
        """Ask for the new path of a moved file, or the folder of a recording; the engine checks that it is the same."""
        head = plain.title(self.tr("Where is %1 now?").replace("%1", plain.line(Path(row.source.uri).name, plain.ENTRY)))
        near = str(Path(row.source.uri).parent)
        if is_recorded(row.source):
            path = QFileDialog.getExistingDirectory(self, head, near)
        else:
            path, _ = QFileDialog.getOpenFileName(self, head, near)
        if path and self._hub.desk is not None:
            self._hub.when(self._hub.desk.relink(row.source.id, path))

    def remove(self, row: Row) -> None:
        """Show what depends on a source, then remove it if the user confirms."""
        desk = self._hub.desk
        if desk is not None:
            self._hub.when(desk.remove_source(row.source.id, dry_run=True), lambda effect: self._confirm_removal(desk, row, effect))

    def _confirm_removal(self, desk: Desk, row: Row, effect: Effect) -> None:
        question = self.tr("Remove %1 from this memory?").replace("%1", plain.line(Path(row.source.uri).name))
        stays = self.tr("The file itself stays where it is. This can't be undone.")
        if Path(row.source.uri).parent == Path(self._hub.path).absolute() / "recordings":  # as the store decides (`store.recordings`)
            stays = self.tr("Its recording is deleted, too. This can't be undone.")
        more = effect.text + "\n\n" + stays
        sure = self._hub.desk is desk and plain.sure(self, self.tr("Remove a source"), question, more, self.tr("Remove"))
        if sure and self._hub.desk is desk:  # another memory, which may have been opened meanwhile, has a source of this id too
            self._hub.when(desk.remove_source(row.source.id))

    def _choose_folder(self) -> None:
        path = QFileDialog.getExistingDirectory(self, self.tr("Memorize the videos of a folder"))
        if path:
            self.dropped.emit([path])

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()

    def dropEvent(self, event: QDropEvent) -> None:
        dropped = [u.toLocalFile() for u in event.mimeData().urls() if u.isLocalFile()]
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        if dropped:
            self.dropped.emit(dropped)


def in_queue_order(rows: list[Row], queue: list[str]) -> list[Row]:
    """Put the queued sources after the others, in queue order."""
    place = {id_: i for i, id_ in enumerate(queue)}
    return sorted(rows, key=lambda r: (r.waiting, place.get(r.source.id, len(place)) if r.waiting else 0))


@dataclass(frozen=True, slots=True)
class Part:
    """What changed: all sources (they are few), their clips that changed with their pictures, and which files are where they were."""

    sources: Sequence[Source]
    gone: frozenset[str]
    clips: Sequence[Clip]
    pictures: dict[str, str]
    there: dict[str, bool]


def read_rows(reader: Reader) -> list[Row]:
    """Read the sources with how far each is (in the reading thread: it looks whether files are there)."""
    rows = []
    for s in reader.sources():
        clips = reader.clips(s.id)
        picture = next(((c.id, m) for c in clips if _kept(c) and (m := reader.thumbnail(c.id))), None)
        rows.append(Row.of(s, picture, {c.id: (c.end - c.start, _kept(c)) for c in clips}, is_there(s)))
    return rows


def read_part(reader: Reader, changed: Changed) -> Part:
    """Read what a commit changed of the sources."""
    sources = reader.sources()
    clips = reader.clips_of(changed.clips) if changed.clips else []
    pictures = reader.thumbnails([c.id for c in clips if _kept(c)]) if clips else {}
    touched = [s for s in sources if s.id in changed.sources]
    return Part(sources, changed.clips - {c.id for c in clips}, clips, pictures, {s.id: is_there(s) for s in touched})


def patched(rows: Mapping[str, Row], part: Part) -> list[Row]:
    """Return the rows after a change; those it does not concern are the same objects."""
    by_source: dict[str, dict[str, tuple[int, bool | None]]] = {}
    for c in part.clips:
        by_source.setdefault(c.source, {})[c.id] = (c.end - c.start, _kept(c))
    found = []
    for source in part.sources:
        old, new = rows.get(source.id), by_source.get(source.id, {})
        gone = [c for c in part.gone if c.startswith(f"{source.id}.")]
        there = part.there.get(source.id, old.there if old is not None else True)
        if old is not None and not new and not gone and (old.source, old.there) == (source, there):
            found.append(old)
            continue
        states = {**(old.states if old is not None else {}), **new}
        for clip in gone:
            states.pop(clip, None)
        pictures = {c: part.pictures[c] for c in new if c in part.pictures}
        if old is not None and old.picture is not None:
            pictures.setdefault(old.pictured, old.picture)
        first = min(pictures, key=number, default=None)
        found.append(Row.of(source, None if first is None else (first, pictures[first]), states, there))
    return found


def _kept(clip: Clip) -> bool | None:
    return True if clip.state in ("episodic", "done") else False if clip.state in ("failed", "skipped") else None


def is_recorded(source: Source) -> bool:
    """Return whether a source is the recording of a live source, which is a folder: it has no ending, also where it is gone."""
    path = Path(source.uri)
    return source.state == "live" or files.is_file(path / "recording.json") or not (path.suffix or files.is_file(path))


def is_there(source: Source) -> bool:
    """Return whether a source has something to play: a file, a recording (whose folder is empty as it begins), or an address."""
    return source.state == "live" or "://" in source.uri or files.is_playable(source.uri)
