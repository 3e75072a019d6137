"""The dialog that starts a live source: devices or an address, with a preview, what is kept, bystander mode and disk budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from m3desk.errors import M3DeskError, sentence_of
from m3desk_ui.live.choices import DEFAULT_HOURS, GIGABYTE, Choices
from m3desk_ui.live.light import Meter
from m3desk_ui.live.newest import NewestPicture, Preview
from m3desk_ui.live.trying import Trial
from m3desk_ui.look import plain, theme
from m3desk_ui.look.numbers import WholeNumber

if TYPE_CHECKING:
    from m3desk.domain.live import Device, Keep
    from m3desk_ui.hub.bridge import Hub
    from m3desk_ui.hub.services import Services

PATIENCE_MS = 8000
"""How long a device may take to deliver its first picture or sound before the dialog says that it does not answer."""
SETTLE_MS = 400
"""After a change of the devices, the test waits so long for further changes."""


class TrialPicture(QWidget):
    """Shows a picture, or a text where there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.image: QImage | None = None
        self.text = ""
        self.setMinimumSize(320, 180)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(self.tr("Preview"))

    def show_picture(self, image: QImage, _at: int = 0, _size: tuple[int, int] = (0, 0)) -> None:
        self.image = image
        self.update()

    def say(self, text: str) -> None:
        """Show a text instead of a picture."""
        self.image, self.text = None, text
        self.setAccessibleDescription(text)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        p = QPainter(self)
        p.fillRect(self.rect(), QColor("#0b0d10"))
        if self.image is not None and self.image.width():
            scale = min(self.width() / self.image.width(), self.height() / self.image.height())
            w, h = self.image.width() * scale, self.image.height() * scale
            p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            p.drawImage(QRectF((self.width() - w) / 2, (self.height() - h) / 2, w, h), self.image)
        elif self.text:
            p.setPen(QColor("#c8cdd6"))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            p.drawText(QRectF(self.rect()).adjusted(16, 8, -16, -8), flags, plain.breakable(plain.paragraph(self.text, plain.TIP)))
        p.end()


class StartDialog(QDialog):
    """`chosen` tells the choices, and whether they go into a new memory, once the tested devices are closed again."""

    chosen = Signal(object, bool)

    def __init__(self, hub: Hub, services: Services, last: Choices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub, self.services, self.last = hub, services, last
        self.setWindowTitle(self.tr("Use camera and microphone"))
        self.resize(860, 480)
        self._trial: Trial | None = None
        self._newest: NewestPicture | None = None
        self._looked = False
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(self.test)
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE_MS)
        self._patience.timeout.connect(self._no_answer)
        self._build()
        self._show_last()
        self.look()

    # ------------------------------------------------------------ what is on it

    def _build(self) -> None:
        self.devices = QRadioButton(self.tr("Devices of this machine"))
        self.camera = self._combo(self.tr("Camera"))
        self.microphone = self._combo(self.tr("Microphone"))
        self.from_address = QRadioButton(self.tr("An address"))
        self.address = QLineEdit()
        self.address.setAccessibleName(self.tr("Address of a camera stream"))
        self.address.setPlaceholderText("rtsp://…   http://…   file:/…/film.mp4?live")
        plain.tip(self.address, self.tr("A network camera (rtsp, http), or a file that is delivered as if it were live (file:PATH?live)"))
        self.found = plain.Label()
        self.found.setWordWrap(True)
        self.found.setProperty("muted", True)
        self.keep = self._combo(self.tr("Keep the recording"))
        self.keep.addItem(self.tr("Always"), "always")
        self.keep.addItem(self.tr("For some hours"), "hours")
        self.keep.addItem(self.tr("Until it is remembered"), "until remembered")
        self.hours = WholeNumber()
        self.hours.setRange(1, 24 * 365)
        self.hours.setValue(DEFAULT_HOURS)
        self.hours.setSuffix(self.tr(" h"))
        self.hours.setAccessibleName(self.tr("Hours that the recording is kept"))
        self.keep.currentIndexChanged.connect(lambda _i: self.hours.setEnabled(self.keep.currentData() == "hours"))
        self.budget = WholeNumber()
        self.budget.setRange(0, 100_000)
        self.budget.setSuffix(self.tr(" GB"))
        self.budget.setSpecialValueText(self.tr("no limit"))
        self.budget.setAccessibleName(self.tr("Disk budget"))
        plain.tip(self.budget, self.tr("Recording warns before it has used this much, and then stops; it never fills the disk"))
        self.bystanders = QCheckBox(self.tr("Blur unknown people (bystander mode)"))
        plain.tip(
            self.bystanders,
            self.tr("Faces that this memory does not know are blurred in the picture and in the recording until you approve them"),
        )
        self.where = self._combo(self.tr("Memory"))
        self._fill_memories()
        keeping = QHBoxLayout()
        keeping.addWidget(self.keep, 1)
        keeping.addWidget(self.hours)
        form = QFormLayout()
        form.setVerticalSpacing(9)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow(self.devices)
        form.addRow(self._label(self.tr("Camera"), self.camera), self.camera)
        form.addRow(self._label(self.tr("Microphone"), self.microphone), self.microphone)
        form.addRow(self.found)
        form.addRow(self.from_address)
        form.addRow(self.address)
        form.addRow(self._label(self.tr("Memory"), self.where), self.where)
        form.addRow(self._label(self.tr("Keep the recording"), self.keep), keeping)
        form.addRow(self._label(self.tr("Disk budget"), self.budget), self.budget)
        form.addRow(self.bystanders)
        self.picture = TrialPicture()
        self.meter = Meter()
        self.heard = plain.Label()
        self.heard.setWordWrap(True)
        self.heard.setProperty("muted", True)
        self.again = QPushButton(self.tr("Test"))
        plain.tip(self.again, self.tr("Open what is chosen and show what it delivers; nothing is recorded"))
        self.again.clicked.connect(self.test)
        self.refresh_ = QPushButton(self.tr("Look for devices again"))
        self.refresh_.clicked.connect(self.look)
        self.problem = plain.Label()
        self.problem.setWordWrap(True)
        self.problem.setStyleSheet(f"color: {theme.colours().bad};")
        self.problem.hide()
        tests = QHBoxLayout()
        tests.addWidget(self.again)
        tests.addWidget(self.refresh_)
        tests.addStretch(1)
        right = QVBoxLayout()
        right.addWidget(self.picture, 1)
        right.addWidget(self.meter)
        right.addWidget(self.heard)
        right.addLayout(tests)
        left = QVBoxLayout()
        left.addLayout(form)
        left.addStretch(1)
        both = QHBoxLayout()
        both.setSpacing(18)
        both.addLayout(left, 1)
        both.addLayout(right, 1)
        ends = QDialogButtonBox()
        self.start = ends.addButton(self.tr("Start"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.start.setProperty("primary", True)
        ends.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        ends.accepted.connect(self.begin)
        ends.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 14)
        column.setSpacing(12)
        column.addLayout(both, 1)
        column.addWidget(self.problem)
        column.addWidget(ends)
        for combo in (self.camera, self.microphone):
            combo.activated.connect(lambda _i: self.devices.setChecked(True))
            combo.currentIndexChanged.connect(lambda _i: self._changed())
        self.address.textEdited.connect(lambda _t: self.from_address.setChecked(True))
        self.address.textEdited.connect(self.problem.hide)  # it told of the address before
        self.devices.toggled.connect(lambda _on: self._changed())

    def _combo(self, name: str) -> QComboBox:
        combo = QComboBox()
        combo.setAccessibleName(name)
        combo.setMinimumWidth(190)
        return combo

    def _label(self, text: str, of: QWidget) -> plain.Label:
        label = plain.Label(text)
        label.setBuddy(of)
        return label

    def _fill_memories(self) -> None:
        if self.hub.desk is not None:
            name = self.hub.path.rstrip("/").rsplit("/", 1)[-1].removesuffix(".m3desk")
            self.where.addItem(plain.line(self.tr("%1 (open now)").replace("%1", name), plain.ENTRY), False)
        self.where.addItem(self.tr("A new memory"), True)
        self.where.setEnabled(self.where.count() > 1)

    def _show_last(self) -> None:
        last = self.last
        kind = last.keep if isinstance(last.keep, str) else "hours"
        self.keep.setCurrentIndex(max(0, self.keep.findData(kind)))
        self.hours.setEnabled(kind == "hours")
        if not isinstance(last.keep, str):
            self.hours.setValue(round(last.keep))
        self.budget.setValue(0 if last.budget is None else max(1, round(last.budget / GIGABYTE)))
        self.bystanders.setChecked(last.bystanders)
        if last.address and not last.address.startswith(("camera:", "mic:")):
            self.address.setText(plain.line(last.address, 2000))
            self.from_address.setChecked(True)
        else:
            self.devices.setChecked(True)

    # ------------------------------------------------------------ devices

    def look(self) -> None:
        """Look for devices, in a process of its own."""
        self.found.setText(self.tr("Looking for cameras and microphones …"))
        self.refresh_.setEnabled(False)
        self.hub.work(self.services.devices, self._show_devices, self._not_found)

    def _not_found(self, error: Exception) -> None:
        self._show_devices([])
        self.found.setText(sentence_of(error))

    def _show_devices(self, devices: list[Device]) -> None:
        before = "" if not self._looked else self._devices_address()
        wanted = (before or self.last.address).split("+")
        for combo, kind, none in (
            (self.camera, "camera", self.tr("No camera")),
            (self.microphone, "microphone", self.tr("No microphone")),
        ):
            combo.blockSignals(True)
            combo.clear()
            ours = [d for d in devices if d.kind == kind]
            for device in ours:
                combo.addItem(plain.line(device.name or device.id, plain.ENTRY), address_of(device))
                combo.setItemData(combo.count() - 1, plain.tip_text("\n".join(device.formats)), Qt.ItemDataRole.ToolTipRole)
            combo.addItem(none, "")
            place = next((i for i in range(combo.count()) if combo.itemData(i) and combo.itemData(i) in wanted), None)
            known = [w for w in wanted if w.startswith(("camera:", "mic:"))]
            combo.setCurrentIndex(place if place is not None else combo.count() - 1 if known and ours else 0)
            combo.setEnabled(bool(ours))
            combo.blockSignals(False)
        self._looked = True
        self.refresh_.setEnabled(True)
        self.devices.setEnabled(bool(devices))
        if devices:
            self.found.setText("")
        else:
            self.found.setText(
                self.tr("No camera or microphone was found. Connect one and look again, or give the address of a camera stream below.")
            )
            self.from_address.setChecked(True)
        self._changed()

    def _devices_address(self) -> str:
        return "+".join(part for part in (self.camera.currentData(), self.microphone.currentData()) if part)

    def chosen_address(self) -> str:
        """Return the address as it is chosen now, "" for none."""
        return self.address.text().strip() if self.from_address.isChecked() else self._devices_address()

    def _changed(self) -> None:
        """Test what is chosen now; an address only where the user asks for it, because it is still being typed."""
        self.problem.hide()
        self._stop_test()
        if self.from_address.isChecked():
            self.picture.say(self.tr("“Test” shows what this address delivers."))
        elif self._devices_address():
            self.picture.say(self.tr("Opening the devices …"))
            self._settle.start()
        else:
            self.picture.say(self.tr("Nothing is chosen."))

    # ------------------------------------------------------------ the test

    def test(self) -> None:
        """Open what is chosen in a process of its own, and show what it delivers."""
        self._stop_test()
        address = self.chosen_address()
        if not address:
            self.picture.say(self.tr("Nothing is chosen."))
            return
        self.picture.say(self.tr("Opening …"))
        self.heard.setText(self.tr("Only a test: nothing is recorded."))
        self._trial = Trial(self.services.try_command, address, self)
        self._trial.told.connect(self._told)
        self._trial.over.connect(self._over)
        self._patience.start()

    def _stop_test(self, then: Callable[[], None] | None = None) -> None:
        self._settle.stop()
        self._patience.stop()
        if self._newest is not None:
            self._newest.close()
            self._newest.deleteLater()
            self._newest = None
        self.meter.set_level(None)
        self.heard.setText("")
        trial, self._trial = self._trial, None
        if trial is not None:
            trial.close(then)
            trial.deleteLater()
        elif then is not None:
            then()

    def _told(self, report: dict[str, Any]) -> None:
        kind = report.get("kind") or report.get("report")
        if name := report.get("preview"):
            self._attach(str(name))
        if kind == "started":
            self._patience.stop()
            parts = []
            if report.get("width"):
                parts.append(f"{report['width']}×{report['height']}")
            if report.get("fps"):
                parts.append(self.tr("%1 pictures per second").replace("%1", f"{float(report['fps']):.3g}"))
            if not report.get("width"):
                self.picture.say(self.tr("Sound only"))
            parts.append(self.tr("only a test: nothing is recorded"))
            self.heard.setText(" · ".join(parts))
        elif kind == "level":
            self._patience.stop()
            level = report.get("level")
            self.meter.set_level(float(level) if isinstance(level, int | float) else None)
        elif kind == "problem":
            self._patience.stop()
            self._failed(f"{report.get('message', '')} {report.get('hint', '')}")
        elif kind == "device" and report.get("message"):
            self.heard.setText(str(report["message"]))

    def _attach(self, name: str) -> None:
        if self._newest is None:
            attach = self.services.attach_preview

            def open_() -> Preview:
                return attach(name)

            self._newest = NewestPicture(open_, self.picture.show_picture, self)
            ratio = self.devicePixelRatioF()
            self._newest.fit(round(self.picture.width() * ratio), round(self.picture.height() * ratio))

    def _over(self, words: str) -> None:
        self._patience.stop()
        self.meter.set_level(None)
        if words or self.picture.image is None:
            self._failed(words)

    def _failed(self, words: str) -> None:
        self.picture.say(plain.line(words.strip() or self.tr("The device delivers nothing."), 2 * plain.LINE))

    def _no_answer(self) -> None:
        if self.picture.image is None:
            self.picture.say(self.tr("The device does not answer. Another program may be using it; the rest of M3Desk goes on."))

    # ------------------------------------------------------------ start

    def choices(self) -> Choices:
        """Return what is chosen. Raises UsageError for an address that is none."""
        from m3desk.media.capture.address import LiveAddress

        kind = self.keep.currentData()
        keep: Keep = float(self.hours.value()) if kind == "hours" else kind
        budget = self.budget.value() * GIGABYTE or None
        return Choices(str(LiveAddress.parse(self.chosen_address())), keep, self.bystanders.isChecked(), budget)

    def begin(self) -> None:
        """Close the tested devices and tell what was chosen; a wrong address is said, and nothing closes."""
        try:
            choices = self.choices()
        except M3DeskError as error:
            self.problem.setText(sentence_of(error))
            self.problem.show()
            return
        new = bool(self.where.currentData())
        self.start.setEnabled(False)
        self._stop_test(lambda: self.hub.later(lambda: self._begun(choices, new)))

    def _begun(self, choices: Choices, new: bool) -> None:
        self.accept()
        self.chosen.emit(choices, new)

    def done(self, code: int) -> None:
        self._stop_test()
        super().done(code)


def address_of(device: Device) -> str:
    """Return the part of an address that names a device."""
    prefix = "camera:" if device.kind == "camera" else "mic:"
    return device.id if device.id.startswith(prefix) else prefix + device.id
