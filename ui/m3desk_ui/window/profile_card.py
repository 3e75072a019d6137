"""What choosing a model profile means, in the settings dialog: whether it fits this machine, what it downloads, what leaves the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget
from shiboken6 import isValid

from m3desk.errors import sentence_of
from m3desk_ui.hub import services
from m3desk_ui.look import plain, texts, theme

if TYPE_CHECKING:
    from m3desk_ui.hub.bridge import Hub


def facts() -> dict[str, Any]:
    """Return what `m3desk doctor` tells (blocking, seconds). Raises M3DeskError."""
    return services.doctor()


def devices(told: dict[str, Any]) -> str:
    """Return the graphics cards with their free memory and driver, and what the engines see, in a line."""
    size = QCoreApplication.translate("ProfileCard", "%1 (%2 of %3 free, driver %4)")
    found = []
    for card in told.get("gpus") or ():
        line = size.replace("%4", str(card.get("driver", "?"))).replace("%3", texts.megabytes(int(card.get("memory_bytes") or 0)))
        line = line.replace("%2", texts.megabytes(int(card.get("memory_free_bytes") or 0)))
        found.append(line.replace("%1", str(card.get("name", "?"))))
    found = found or [QCoreApplication.translate("ProfileCard", "No graphics card is seen")]
    sees = QCoreApplication.translate("ProfileCard", "%1 sees: %2")
    engines: dict[str, list[str]] = {}
    for seen in told.get("engines") or ():
        engines.setdefault(str(seen.get("engine", "?")), []).append(str(seen.get("name", "?")))
    return " · ".join([*found, *(sees.replace("%1", name).replace("%2", ", ".join(names)) for name, names in engines.items())])


def verdict(row: dict[str, Any]) -> str:
    """Return whether a profile fits this machine, in words; why not, and the next smaller one."""
    short = row.get("short")
    if not short:
        if row.get("fits") is False:
            return str(row.get("reason") or "")
        text = QCoreApplication.translate("ProfileCard", "Fits this machine.")
        if row.get("turns"):
            turns = "Its models take turns on the graphics card, because they do not fit on it together."
            text = f"{text} {QCoreApplication.translate('ProfileCard', turns)}"
        return text
    lines = {
        "card": QCoreApplication.translate("ProfileCard", "It needs a graphics card with %1, and none is seen."),
        "card-size": QCoreApplication.translate("ProfileCard", "It needs %1 on one graphics card; %3 has %2."),
        "card-free": QCoreApplication.translate(
            "ProfileCard", "It needs %1 on the graphics card; of %3, %2 are free now. End what uses it."
        ),
        "memory": QCoreApplication.translate("ProfileCard", "It needs %1 of memory; %2 are free now."),
    }
    line = lines.get(str(short.get("what")), "")
    if short.get("what") == "card" and short.get("on"):
        line = QCoreApplication.translate("ProfileCard", "It needs a graphics card, and the installed build of %3 sees none.")
    line = line.replace("%1", texts.megabytes(int(short.get("needed") or 0))).replace("%2", texts.megabytes(int(short.get("has") or 0)))
    line = line.replace("%3", str(short.get("on") or ""))
    smaller = QCoreApplication.translate("ProfileCard", "The next smaller choice is %1.").replace("%1", str(row.get("smaller") or ""))
    head = QCoreApplication.translate("ProfileCard", "Does not fit this machine.")
    return f"{head} {line} {smaller}" if row.get("smaller") else f"{head} {line}"


class ProfileCard(QWidget):
    """`show_profile` says what a profile means; `wanted` asks for another one; `ready`: this machine was looked at."""

    wanted = Signal(str)
    ready = Signal()

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self._rows: dict[str, dict[str, Any]] | None = None
        self._failure = ""
        self._shown = ""
        self._smaller = ""
        self.fits = plain.Label(parent=self)
        self.downloads = plain.Label(parent=self)
        self.leaves = plain.Label(parent=self)
        self.smaller = QPushButton(self)
        self.smaller.clicked.connect(lambda: self.wanted.emit(self._smaller))
        self.models = QPushButton(self.tr("Models …"), self)
        plain.tip(self.models, self.tr("Download what is not here yet"))
        self.models.clicked.connect(self._models)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        for label in (self.fits, self.downloads, self.leaves):
            label.setProperty("muted", True)
            label.setWordWrap(True)
            column.addWidget(label)
        buttons = QHBoxLayout()
        buttons.addWidget(self.smaller)
        buttons.addWidget(self.models)
        buttons.addStretch(1)
        column.addLayout(buttons)
        self.smaller.hide()
        self.models.hide()
        hub.work(lambda: facts(), self._take, self._failed)

    def _take(self, told: dict[str, Any]) -> None:
        if not isValid(self):
            return
        self._rows = {str(row.get("name")): row for row in told.get("profiles") or ()}
        self.show_profile(self._shown)
        self.ready.emit()

    def _failed(self, error: Exception) -> None:
        if isValid(self):
            self._failure = sentence_of(error)
            self._take({})

    def refusal(self, name: str) -> str:
        """Return why a profile can't be chosen on this machine, in words; "" if it can, or is not known yet."""
        row = (self._rows or {}).get(name)
        return verdict(row) if row is not None and row.get("fits") is False else ""

    def show_profile(self, name: str, *, leaves: bool = False) -> None:
        """Say what a profile means. `leaves`: something leaves the machine with it, which is told elsewhere."""
        self._shown = name
        row = (self._rows or {}).get(name)
        good = row is None or row.get("fits") is not False
        self._smaller = "" if good else self._next(str((row or {}).get("smaller") or ""))
        missing = (row or {}).get("downloads") or []
        if self._rows is None:
            self.fits.setText(self.tr("Checking this machine …"))
        elif row is None:
            self.fits.setText(self.tr("Could not check this machine: %1").replace("%1", self._failure) if self._failure else "")
        else:
            self.fits.setText(verdict(row))
        c = theme.colours()
        self.fits.setStyleSheet("" if good else f"color: {c.bad};")
        self.downloads.setText(self._to_download(missing) if row is not None else "")
        self.leaves.setText("" if leaves else self.tr("Nothing leaves this machine."))
        for label in (self.fits, self.downloads, self.leaves):
            label.setVisible(bool(label.text()))
        self.smaller.setText(plain.entry(self.tr("Choose %1").replace("%1", self._smaller)))
        self.smaller.setVisible(bool(self._smaller))
        self.models.setVisible(good and bool(missing))

    def _to_download(self, missing: list[dict[str, Any]]) -> str:
        if not missing:
            return self.tr("Nothing needs to be downloaded.")
        one = self.tr("%1 (%2)")
        listed = [one.replace("%2", texts.megabytes(int(m.get("bytes") or 0))).replace("%1", str(m.get("name"))) for m in missing]
        return self.tr("To download: %1.").replace("%1", ", ".join(listed))

    def _next(self, name: str) -> str:
        """Return the next smaller profile that fits."""
        rows, seen = self._rows or {}, set()
        while name and name not in seen and rows.get(name, {}).get("fits") is False:
            seen.add(name)
            name = str(rows[name].get("smaller") or "")
        return name if name in rows else ""

    def _models(self) -> None:
        from m3desk_ui.window.models_dialog import ModelsDialog

        dialog = ModelsDialog(self.hub, self.window())
        dialog.finished.connect(self.look_again)
        dialog.open()

    def look_again(self) -> None:
        """Look at this machine again: something may have been downloaded."""
        self.hub.work(lambda: facts(), self._take, self._failed)
