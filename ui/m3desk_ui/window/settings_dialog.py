"""The settings dialog: one field for each setting of `m3desk.config`, written when changed."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QFrame,
    QLineEdit,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from m3desk import config, outgoing, paths
from m3desk.errors import M3DeskError, sentence_of
from m3desk_ui.look import plain, texts, theme
from m3desk_ui.look.numbers import DecimalNumber, WholeNumber
from m3desk_ui.window.profile_card import ProfileCard
from m3desk_ui.window.server_fields import ServerFields

if TYPE_CHECKING:
    from m3desk_ui.hub.bridge import Hub

TITLE_BAR = 60
"""Pixels of a screen's height that the dialog leaves free: its own title bar, and a panel of the desktop."""
WRITERS = tuple(sorted(e.name for e in entry_points(group="m3desk.watcher")))
"""Installed memory writers that are models. Reading them takes long on a slow disk; this module is imported in a thread."""
HOURS = ("24", "168", "720")
"""Hours that recordings may be kept, to choose from."""
ORDER = (
    "language",
    "theme",
    "memory_language",
    "profile",
    "writer",
    "clip_seconds",
    "fps",
    "threads",
    "semantic",
    "keep_recordings",
    "recording_gb",
)


def title(name: str) -> str:
    """Return a setting's name as people read it."""
    names = {
        "language": QCoreApplication.translate("SettingsDialog", "Language of the app"),
        "theme": QCoreApplication.translate("SettingsDialog", "Theme"),
        "memory_language": QCoreApplication.translate("SettingsDialog", "Language of memories"),
        "profile": QCoreApplication.translate("SettingsDialog", "Model profile"),
        "clip_seconds": QCoreApplication.translate("SettingsDialog", "Length of a clip"),
        "fps": QCoreApplication.translate("SettingsDialog", "Pictures analysed"),
        "threads": QCoreApplication.translate("SettingsDialog", "Threads"),
        "semantic": QCoreApplication.translate("SettingsDialog", "Knowledge"),
        "writer": QCoreApplication.translate("SettingsDialog", "Writer of memories"),
        "keep_recordings": QCoreApplication.translate("SettingsDialog", "Keep recordings"),
        "recording_gb": QCoreApplication.translate("SettingsDialog", "Disk budget"),
    }
    return names.get(name, name.replace("_", " "))


def explained(name: str) -> str:
    """Return what a setting does, in a line."""
    lines = {
        "memory_language": QCoreApplication.translate("SettingsDialog", "Applies to memories written from now on."),
        "profile": QCoreApplication.translate("SettingsDialog", "You can define your own profiles in the settings file."),
        "clip_seconds": QCoreApplication.translate("SettingsDialog", "An existing memory keeps its clip length."),
        "fps": QCoreApplication.translate("SettingsDialog", "More pictures find faces that appear briefly, but take longer."),
        "threads": QCoreApplication.translate("SettingsDialog", "0 = the number of cores, at most 4."),
        "semantic": QCoreApplication.translate("SettingsDialog", "Needs the language model."),
        "writer": QCoreApplication.translate("SettingsDialog", "Rules, or a model that watches the clips."),
        "keep_recordings": QCoreApplication.translate("SettingsDialog", "Of live sources: camera, microphone, network cameras."),
        "recording_gb": QCoreApplication.translate("SettingsDialog", "Of one live source; 0 = no limit but the disk."),
    }
    return lines.get(name, "")


def word(value: str) -> str:
    """Return a choice as people read it."""
    words = {
        "system": QCoreApplication.translate("SettingsDialog", "Same as the system"),
        "light": QCoreApplication.translate("SettingsDialog", "Light"),
        "dark": QCoreApplication.translate("SettingsDialog", "Dark"),
        "scene": QCoreApplication.translate("SettingsDialog", "As spoken in the video"),
        "en": "English",
        "zh": "简体中文",
        "always": QCoreApplication.translate("SettingsDialog", "Always"),
        "remembered": QCoreApplication.translate("SettingsDialog", "Until they are memorized"),
        "rules": QCoreApplication.translate("SettingsDialog", "Rules, without a model"),
        "embedded": QCoreApplication.translate("SettingsDialog", "Built in (this machine's processor)"),
        "laptop-vision": QCoreApplication.translate("SettingsDialog", "laptop-vision: a small model sees clips, on the processor"),
        "gpu-8": QCoreApplication.translate("SettingsDialog", "gpu-8: small models on a graphics card of 8 GB"),
        "gpu-24": QCoreApplication.translate("SettingsDialog", "gpu-24: M3-Agent's model watches, on a card of 24 GB"),
        "gpu-48": QCoreApplication.translate("SettingsDialog", "gpu-48: both of M3-Agent's models, on a card of 48 GB"),
        "gpu-80": QCoreApplication.translate("SettingsDialog", "gpu-80: both of M3-Agent's models, in 8 bit, on a card of 80 GB"),
        "server": QCoreApplication.translate("SettingsDialog", "Questions and knowledge by a model server"),
    }
    if value.isdigit():
        return QCoreApplication.translate("SettingsDialog", "%1 hours").replace("%1", value)
    return words.get(value, value)


class SettingsDialog(QDialog):
    """`changed` tells what is new ({name: value}); it is written already."""

    changed = Signal(dict)

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self.fields: dict[str, QWidget] = {}
        self.setWindowTitle(self.tr("Settings"))
        self.setMinimumWidth(500)
        self._form = QFormLayout()
        self._form.setVerticalSpacing(12)
        self._form.setHorizontalSpacing(16)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.problem = plain.Label(parent=self)
        self.problem.setWordWrap(True)
        self.problem.setStyleSheet(f"color: {theme.colours().bad};")
        self.problem.hide()
        where = plain.Label(self.tr("Stored in %1").replace("%1", str(paths.config_file())), self)
        where.setProperty("muted", True)
        where.setWordWrap(True)
        where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        ends = QDialogButtonBox(self)
        save = ends.addButton(self.tr("Save"), QDialogButtonBox.ButtonRole.AcceptRole)
        save.setProperty("primary", True)
        ends.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        ends.accepted.connect(self.save)
        ends.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 14)
        column.setSpacing(14)
        self.card = ProfileCard(hub, self)
        self.card.wanted.connect(self._choose_profile)
        self.leaving = plain.Label(parent=self)
        self.leaving.setWordWrap(True)
        self.leaving.setStyleSheet(f"color: {theme.colours().warn};")
        self.leaving.hide()
        inner = QWidget(self)
        inner_column = QVBoxLayout(inner)
        inner_column.setContentsMargins(0, 0, 8, 0)
        inner_column.setSpacing(14)
        inner_column.addLayout(self._form)
        inner_column.addWidget(where)
        if hub.path:
            inner_column.addWidget(self._memory(hub.path))
        inner_column.addStretch(1)
        area = QScrollArea(self)  # all fields are higher than a small screen
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(inner)
        column.addWidget(area, 1)
        column.addWidget(self.leaving)
        column.addWidget(self.problem)
        column.addWidget(ends)
        self._before: dict[str, Any] = {}
        self.refresh()
        wanted = inner.sizeHint()
        area.setMinimumWidth(wanted.width() + area.verticalScrollBar().sizeHint().width())
        whole = wanted.height() + ends.sizeHint().height() + 3 * column.spacing() + 30
        self.resize(self.minimumSizeHint().width(), min(whole, self.screen().availableGeometry().height() - TITLE_BAR))
        next(iter(self.fields.values())).setFocus()  # else Save has it, and Tab begins at the end

    def _memory(self, path: str) -> QWidget:
        """Return the facts about the open memory: where it is stored, and who can read it."""
        card = QFrame(self)
        card.setProperty("card", True)
        head = plain.Label(self.tr("This memory"), card)
        head.setProperty("heading", True)
        place = plain.Label(path, card, most=4 * plain.LINE)
        place.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.private = plain.Label(texts.not_encrypted(folder=True), card)
        column = QVBoxLayout(card)
        column.setSpacing(4)
        column.addWidget(head)
        for label in (place, self.private):
            label.setProperty("muted", True)
            label.setWordWrap(True)
            column.addWidget(label)
        return card

    def refresh(self) -> None:
        """Read the settings file (a few hundred bytes) into the fields."""
        try:
            self._before = config.values()
        except M3DeskError as error:
            self._complain(error)
            self._before = {name: key.default for name, key in config.KEYS.items()}
        self.card.setParent(self)  # out of the row that is removed
        self.server: ServerFields | None = None
        while self._form.rowCount():
            self._form.removeRow(0)
        self.fields = {}
        names = [n for n in ORDER if n in config.KEYS] + [n for n in config.KEYS if n not in ORDER]
        for name in names:
            field = self._field(config.KEYS[name], self._before[name])
            field.setAccessibleName(title(name))
            plain.tip(field, config.KEYS[name].text)
            self.fields[name] = field
            label = plain.Label(title(name), self)
            label.setBuddy(field)
            if not explained(name):
                self._form.addRow(label, field)
                continue
            line = plain.Label(explained(name), self)
            line.setProperty("muted", True)
            both = QVBoxLayout()
            both.setSpacing(2)
            both.addWidget(field)
            both.addWidget(line)
            if name == "profile":
                both.addWidget(self.card)
                self.server = self._server()
            self._form.addRow(label, both)
            if name == "writer" and self.server is not None:
                self._form.addRow(plain.Label(self.tr("Model server"), self), self.server)
        self._tell_leaving()

    def _server(self) -> ServerFields | None:
        """Return the fields of the user's server; None if the settings file can't be read, which is said."""
        try:
            made = ServerFields(self.hub, self)
        except M3DeskError as error:
            self._complain(error)
            return None
        made.address.textChanged.connect(self._tell_leaving)
        return made

    def _field(self, key: config.Key, value: Any) -> QWidget:
        choices = key.choices
        own_profiles = set(self._profiles()) if key.name == "profile" else set()
        if key.name == "profile":
            choices = tuple(dict.fromkeys(("embedded", *config.offered_profiles(), outgoing.SERVER, *sorted(own_profiles), str(value))))
        if key.name == "writer":
            choices = tuple(dict.fromkeys(("rules", *WRITERS, str(value))))
        if key.name == "keep_recordings":
            choices = tuple(dict.fromkeys(("always", "remembered", *HOURS, str(value))))
        if choices:
            box = QComboBox(self)
            for choice in choices:
                own = choice in own_profiles or (key.name == "writer" and choice != "rules")
                box.addItem(plain.line(choice if own else word(choice), plain.ENTRY), choice)
            box.setCurrentIndex(max(0, box.findData(value)))
            if key.name in ("profile", "writer"):
                box.currentIndexChanged.connect(self._tell_leaving)
            return box
        if isinstance(key.default, bool):
            tick = QCheckBox(self.tr("Also write general knowledge, not only events"), self)
            tick.setChecked(bool(value))
            return tick
        if isinstance(key.default, int):
            whole = WholeNumber(self)
            whole.setRange(int(max(key.low, -(2**31))), int(min(key.high, 2**31 - 1)))
            whole.setValue(int(value))
            return whole
        if isinstance(key.default, float):
            number = DecimalNumber(self)
            number.setDecimals(1)
            number.setRange(max(key.low, -1e9), min(key.high, 1e9))
            number.setValue(float(value))
            number.setSuffix(self._unit(key.name))
            return number
        return QLineEdit(str(value), self)

    def _tell_leaving(self) -> None:
        """Say what the profile that is chosen means, and what would leave this machine with it and the memory writer."""
        lines: list[str] = []
        writer = str(self.value("writer")) if "writer" in self.fields else str(self._before.get("writer", ""))
        profile = str(self.value("profile"))
        used = outgoing.SERVER in (profile, writer)
        goes = used
        try:
            if self.server is not None:
                self._form.setRowVisible(self.server, used)
            typed = self.server.typed() if self.server is not None and used else None
            found = outgoing.of_profile(profile, writer, typed)
            goes = found is not None or (used and typed is None)
            if found is not None:
                lines = texts.leaving(found)
            elif used and typed is None:
                lines = [self.tr("Type the address of a model server.")]
        except M3DeskError as error:
            lines = [sentence_of(error)]
        self.leaving.setText("\n".join(lines))
        self.leaving.setVisible(bool(lines))
        if "profile" in self.fields:
            self.card.show_profile(str(self.value("profile")), leaves=goes)

    def _choose_profile(self, name: str) -> None:
        box = self.fields["profile"]
        if isinstance(box, QComboBox):
            box.setCurrentIndex(max(0, box.findData(name)))

    def _unit(self, name: str) -> str:
        return {"clip_seconds": self.tr(" s"), "fps": self.tr(" per second"), "recording_gb": self.tr(" GB")}.get(name, "")

    def _profiles(self) -> list[str]:
        try:
            return list(config.profiles())
        except M3DeskError as error:
            self._complain(error)
            return []

    def value(self, name: str) -> Any:
        """Return what a field holds."""
        field = self.fields[name]
        if isinstance(field, QComboBox):
            return field.currentData()
        if isinstance(field, QCheckBox):
            return field.isChecked()
        if isinstance(field, QSpinBox | QDoubleSpinBox):
            return field.value()
        return field.text().strip() if isinstance(field, QLineEdit) else None

    def save(self) -> None:
        """Write what changed, tell it, and close; a value that does not fit is said and nothing closes."""
        new = {name: self.value(name) for name in self.fields if self.value(name) != self._before.get(name)}
        done: dict[str, Any] = {}
        moved = False
        if "profile" in new and (why := self.card.refusal(str(new["profile"]))):
            self.problem.setText(why)
            self.problem.show()
            return
        try:
            if self.server is not None and not self.server.isHidden() and self.server.save():
                moved = True
            for name, value in new.items():
                config.set_value(name, value)
                done[name] = value
        except (M3DeskError, OSError) as error:
            self._complain(error)
            return
        finally:
            if done:
                self._before.update(done)
                self.changed.emit(done)
        later = {"profile", "writer", "fps", "threads", "memory_language", "clip_seconds", "semantic"} & set(done)
        if later or moved:
            self.hub.notice.emit("info", self.tr("Settings for memorizing take effect when a memory is opened again."), "", "")
        self.accept()

    def _complain(self, error: Exception) -> None:
        self.problem.setText(sentence_of(error))
        self.problem.show()
