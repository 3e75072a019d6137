"""The address, model and key of the user's model server, in the settings dialog. The key goes to the system's keyring by the command."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFormLayout, QLineEdit, QWidget

from m3desk import config, outgoing
from m3desk.errors import M3DeskError, sentence_of
from m3desk_ui.hub.services import command_line
from m3desk_ui.look import plain

if TYPE_CHECKING:
    from m3desk_ui.hub.bridge import Hub


def keep_key(key: str) -> None:
    """Hand a key to `m3desk backends key server` by its standard input (blocking). Raises M3DeskError with its message if it fails."""
    done = subprocess.run(command_line("backends", "key", outgoing.SERVER), input=f"{key}\n", capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise M3DeskError(lines[-1].removeprefix("m3desk: ") if lines else f"exit {done.returncode}")


class ServerFields(QWidget):
    """What is written in `[backends.server]` of the settings, and a key that is never shown."""

    def __init__(self, hub: Hub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub = hub
        self.address, self.model, self.key = QLineEdit(self), QLineEdit(self), QLineEdit(self)
        self.address.setPlaceholderText("http://127.0.0.1:8080/v1")
        self.model.setPlaceholderText(self.tr("the only one it has"))
        self.key.setPlaceholderText(self.tr("unchanged; kept in the system's keyring"))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        form = QFormLayout(self)
        form.setContentsMargins(0, 4, 0, 0)
        for text, field in ((self.tr("Address"), self.address), (self.tr("Its model"), self.model), (self.tr("Key"), self.key)):
            label = plain.Label(text, self)
            label.setBuddy(field)
            field.setAccessibleName(text)
            form.addRow(label, field)
        self._before: dict[str, str] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read the settings. Raises M3DeskError."""
        options = config.own_options(outgoing.SERVER)
        self._before = {name: str(options.get(name, "")) for name in ("url", "model")}
        self.address.setText(self._before["url"])
        self.model.setText(self._before["model"])

    def typed(self) -> outgoing.Address | None:
        """Return the address as it is typed; None if nothing is. Raises UsageError if it can't be read."""
        text = self.address.text().strip()
        return outgoing.Address.parse(text) if text else None

    def save(self) -> bool:
        """Write what changed; return whether anything did. Raises M3DeskError; a key that the keyring does not take is told later."""
        self.typed()
        changed = False
        for name, field in (("url", self.address), ("model", self.model)):
            if (text := field.text().strip()) != self._before[name]:
                config.set_backend_option(outgoing.SERVER, name, text)
                self._before[name] = text
                changed = True
        if key := self.key.text().strip():
            self.key.clear()
            hub, kept = self.hub, self.tr("The key is in the system's keyring.")
            hub.work(
                lambda: keep_key(key),
                lambda _none: hub.notice.emit("info", kept, "", ""),
                lambda error: hub.notice.emit("error", sentence_of(error), "", ""),
            )
        return changed
