"""The first page: open a video or a memory, try the demo, go back to a recent memory; and what this machine can do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QImage, QPixmap
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from m3desk import config
from m3desk_ui.look import plain, texts, theme
from m3desk_ui.look.pictures import decode
from m3desk_ui.window.window_state import picture_of

if TYPE_CHECKING:
    from m3desk import events
    from m3desk_ui.hub.bridge import Hub

TILE = QSize(176, 99)


class _Choice(QPushButton):
    """A large button: icon, title, and one line of explanation."""

    def __init__(self, title: str, more: str) -> None:
        super().__init__()
        self.setMinimumSize(230, 96)
        self.setAccessibleName(title)
        self.setAccessibleDescription(more)
        self.icon_label, self.title, self.more = plain.Label(), plain.Label(title), plain.Label(more)
        self.title.setProperty("heading", True)
        self.more.setProperty("muted", True)
        self.more.setWordWrap(True)
        for label in (self.title, self.more):
            label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        for label in (self.icon_label, self.title, self.more):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        text = QVBoxLayout()
        text.addWidget(self.title)
        text.addWidget(self.more)
        text.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 12, 14, 12)
        row.setSpacing(12)
        row.addWidget(self.icon_label, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(text, 1)


class StartPage(QWidget):
    """Says what the user chose; knows no engine."""

    open_video = Signal()
    open_memory = Signal()
    try_demo = Signal()
    use_live = Signal()
    recent_chosen = Signal(str)

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        title = plain.Label(self.tr("What would you like to remember?"))
        title.setProperty("title", True)
        lead = plain.Label(
            self.tr("M3Desk watches a video with you, notes who appears, what they say and what happens, and answers questions about it.")
            + " "
            + self.tr("Everything runs on this machine.")
        )
        lead.setWordWrap(True)
        lead.setProperty("muted", True)
        for label in (title, lead):
            label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.video = _Choice(
            self.tr("Open a video"), self.tr("Plays at once, and is memorized while you watch. You can also drop files or a folder here.")
        )
        self.live = _Choice(
            self.tr("Use camera and microphone"),
            self.tr("Remembered as it happens: names on the picture, answers about a minute ago. Network cameras too."),
        )
        self.memory = _Choice(
            self.tr("Open a memory"),
            self.tr("A folder whose name ends in .m3desk. To import a .json or .pkl.gz file, drop it here or press Ctrl+I."),
        )
        self.demo = _Choice(self.tr("Try the demo"), self.tr("A short public-domain White House speech (downloaded once, less than 1 MB)"))
        self.video.clicked.connect(self.open_video)
        self.memory.clicked.connect(self.open_memory)
        self.demo.clicked.connect(self.try_demo)
        self.live.clicked.connect(self.use_live)
        grid = QGridLayout()
        grid.setSpacing(12)
        for i, choice in enumerate((self.video, self.live, self.memory, self.demo)):
            grid.addWidget(choice, i // 2, i % 2)
        self.private = plain.Label(texts.not_encrypted())
        self.private.setWordWrap(True)
        self.private.setProperty("muted", True)
        self.private.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._private_icon = plain.Label()
        private = QHBoxLayout()
        private.setContentsMargins(2, 0, 0, 0)
        private.addWidget(self._private_icon)
        private.addWidget(self.private, 1)
        self.downloading = QProgressBar()
        self.downloading.setTextVisible(False)
        self.downloading.hide()
        self.recent_title = plain.Label(self.tr("Recent memories"))
        self.recent_title.setProperty("heading", True)
        self.recent = QListWidget()
        self.recent.setAccessibleName(self.tr("Recent memories"))
        self.recent.setViewMode(QListWidget.ViewMode.IconMode)
        self.recent.setIconSize(TILE)
        self.recent.setGridSize(QSize(TILE.width() + 18, TILE.height() + 34))
        self.recent.setMovement(QListWidget.Movement.Static)
        self.recent.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.recent.setWordWrap(False)
        self.recent.setStyleSheet("QListWidget { background: transparent; }")
        self.recent.setMinimumHeight(TILE.height() + 48)
        self.recent.itemActivated.connect(lambda item: self.recent_chosen.emit(item.data(Qt.ItemDataRole.UserRole)))
        self.recent.itemClicked.connect(lambda item: self.recent_chosen.emit(item.data(Qt.ItemDataRole.UserRole)))
        self.strip = QFrame()
        self.strip.setProperty("card", True)
        self.machine = plain.Label(self.tr("Checking what this machine can do …"))
        self.machine.setWordWrap(True)
        self.machine.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.strip.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._machine_icon = plain.Label()
        strip = QHBoxLayout(self.strip)
        strip.setContentsMargins(12, 8, 12, 8)
        strip.addWidget(self._machine_icon)
        strip.addWidget(self.machine, 1)
        inner = QWidget()
        inner.setMaximumWidth(860)
        column = QVBoxLayout(inner)
        column.setContentsMargins(28, 24, 28, 20)
        column.setSpacing(12)
        column.addWidget(title)
        column.addWidget(lead)
        column.addSpacing(8)
        column.addLayout(grid)
        column.addLayout(private)
        column.addWidget(self.downloading)
        column.addWidget(self.strip)
        column.addSpacing(10)
        column.addWidget(self.recent_title)
        column.addWidget(self.recent, 3)
        column.addStretch(1)
        outer = QHBoxLayout(self)
        outer.addStretch(1)
        outer.addWidget(inner, 8)
        outer.addStretch(1)
        hub.downloading.connect(self._downloading)
        hub.themed.connect(self.retheme)
        self.retheme()

    def retheme(self) -> None:
        c = theme.colours()
        for choice, name in ((self.video, "play-box-outline"), (self.live, "webcam"), (self.memory, "brain"), (self.demo, "bank-outline")):
            colour = c.accent if choice.isEnabled() else c.muted
            choice.icon_label.setPixmap(theme.icon(f"mdi6.{name}", colour).pixmap(30, 30))
        self._machine_icon.setPixmap(theme.icon("mdi6.laptop", c.muted).pixmap(22, 22))
        self._private_icon.setPixmap(theme.icon("mdi6.lock-open-outline", c.muted).pixmap(18, 18))

    def refresh(self) -> None:
        """Read the recent memories and their pictures in a thread."""

        def look() -> list[tuple[str, QImage | None]]:
            found = []
            for m in config.recent_memories():
                place = picture_of(m)
                data = place.read_bytes() if place.is_file() else None
                found.append((m, decode(data, TILE.width(), TILE.height())))
            return found

        self._hub.work(look, self._show_recent)

    def _show_recent(self, found: list[tuple[str, QImage | None]]) -> None:
        self.recent.clear()
        for memory, image in found:
            name = Path(memory).name.removesuffix(".m3desk")
            pixmap = QPixmap.fromImage(image) if image is not None else self._blank()
            shown = self.fontMetrics().elidedText(plain.line(name), Qt.TextElideMode.ElideMiddle, TILE.width())
            item = QListWidgetItem(QIcon(pixmap), shown)
            item.setData(Qt.ItemDataRole.UserRole, memory)
            plain.tip(item, memory)
            self.recent.addItem(item)
        rows = -(-len(found) // max(1, self.recent.width() // self.recent.gridSize().width()))
        self.recent.setMaximumHeight(min(2, max(1, rows)) * self.recent.gridSize().height() + 12)
        self.recent.setVisible(bool(found))
        self.recent_title.setVisible(bool(found))

    def _blank(self) -> QPixmap:
        pixmap = QPixmap(TILE)
        pixmap.fill(Qt.GlobalColor.transparent)
        from PySide6.QtGui import QColor, QPainter

        p = QPainter(pixmap)
        p.fillRect(pixmap.rect(), QColor(theme.colours().raised))
        theme.icon("mdi6.brain", theme.colours().muted).paint(p, pixmap.rect().adjusted(60, 25, -60, -25))
        p.end()
        return pixmap

    # ------------------------------------------------------------ this machine

    def show_machine(self, facts: dict[str, Any]) -> None:
        """Say what `doctor` found, as it was measured, not guessed."""
        ready = [p for p in facts.get("profiles", []) if p.get("ready")]
        parts = [", ".join(texts.profile(p["name"], p.get("reason", "")) for p in ready)] if ready else []
        if not ready:
            reasons = "; ".join(texts.profile(p["name"], p.get("reason", "")) for p in facts.get("profiles", [])[:1])
            parts.append(self.tr("Models are missing (%1). Download them in the Models dialog.").replace("%1", reasons or "—"))
        parts.append(texts.processor(str(facts.get("cpu", ""))))
        if facts.get("memory_bytes"):
            parts.append(self.tr("%1 of memory").replace("%1", texts.megabytes(int(facts["memory_bytes"]))))
        gpus = [self._card(g) if isinstance(g, dict) else str(g) for g in facts.get("gpus", [])]
        parts.append(", ".join(gpus) if gpus else self.tr("no GPU found"))
        self.machine.setText(" · ".join(p for p in parts if p))

    def _card(self, card: dict[str, Any]) -> str:
        """Return a graphics card with the memory that is free on it now."""
        name, free = str(card.get("name", "?")), card.get("memory_free_bytes")
        return self.tr("%1 (%2 free)").replace("%2", texts.megabytes(int(free))).replace("%1", name) if free is not None else name

    def machine_unknown(self, error: Exception) -> None:
        self.machine.setText(self.tr("Could not check this machine: %1").replace("%1", str(error)))

    def _downloading(self, event: events.Downloading) -> None:
        self.downloading.setVisible(event.state == "working")
        self.downloading.setRange(0, 1000 if event.total else 0)
        if event.total:
            self.downloading.setValue(round(1000 * event.done / event.total))
