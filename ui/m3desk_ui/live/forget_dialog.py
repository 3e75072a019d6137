"""Asks before a span of time is forgotten, and shows what would go; Cancel is the default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QVBoxLayout, QWidget

from m3desk.domain.clip import clock
from m3desk.errors import sentence_of
from m3desk_ui.look import plain
from m3desk_ui.look.danger_button import DangerButton
from m3desk_ui.look.numbers import WholeNumber

if TYPE_CHECKING:
    from m3desk.domain.live import SpanForgotten
    from m3desk_ui.hub.bridge import Hub

SETTLE_MS = 250
MOST_NAMES = 12


class ForgetDialog(QDialog):
    """Forgets the last minutes of the live source, or a `span` (source, start, end) of any source."""

    def __init__(self, hub: Hub, *, minutes: int = 5, span: tuple[str, int, int] | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hub, self.span = hub, span
        self._number = self._shown = 0
        self.setMinimumWidth(460)
        self.setWindowTitle(self.tr("Forget a span of time") if span else self.tr("Forget the last minutes"))
        self.minutes = WholeNumber()
        self.minutes.setRange(1, 24 * 60)
        self.minutes.setValue(max(1, minutes))
        self.minutes.setSuffix(self.tr(" min"))
        self.minutes.setAccessibleName(self.tr("Minutes to forget"))
        ask = self.tr("Forget what was recorded and memorized in the last")
        if span is not None:
            ask = (
                self.tr("Forget what was recorded and memorized from %1 to %2?").replace("%2", clock(span[2])).replace("%1", clock(span[1]))
            )
        self.question = plain.Label(ask)
        self.question.setProperty("heading", True)
        self.question.setWordWrap(span is not None)
        top = QHBoxLayout()
        top.addWidget(self.question)
        if span is None:
            self.question.setBuddy(self.minutes)
            top.addWidget(self.minutes)
            top.addStretch(1)
        self.effect = plain.Label()
        self.effect.setWordWrap(True)
        self.effect.setMinimumHeight(self.fontMetrics().lineSpacing() * 5)
        self.effect.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        final = plain.Label(self.tr("This can't be undone. Afterwards every file of the memory is searched for what is left of it."))
        final.setWordWrap(True)
        final.setProperty("muted", True)
        ends = QDialogButtonBox(self)
        self.go = DangerButton(self.tr("Forget"))
        self.go.setEnabled(False)
        ends.addButton(self.go, QDialogButtonBox.ButtonRole.DestructiveRole)
        self.cancel = ends.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        self.cancel.setDefault(True)
        self.go.clicked.connect(self.forget)
        ends.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 14)
        column.setSpacing(12)
        column.addLayout(top)
        column.addWidget(self.effect)
        column.addWidget(final)
        column.addWidget(ends)
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(self.preview)
        self.minutes.valueChanged.connect(lambda _v: self._changed())
        for before, after in ((self.minutes, self.go), (self.go, self.cancel)):
            self.setTabOrder(before, after)
        self.cancel.setFocus()
        self.preview()

    def _changed(self) -> None:
        if self.minutes.value() == self._shown:
            return
        self.go.setEnabled(False)
        self._settle.start()

    def preview(self) -> None:
        """Ask the engine what would go."""
        if self.hub.desk is None:
            return
        self._number += 1
        number, self._shown = self._number, self.minutes.value()
        self.effect.setText(self.tr("Checking what would be deleted …"))
        self.go.setEnabled(False)
        self.hub.when(self._call(dry_run=True), lambda found: self._show(number, found), lambda error: self._failed(number, error))

    def _call(self, *, dry_run: bool):  # type: ignore[no-untyped-def]
        desk = self.hub.desk
        assert desk is not None
        if self.span is not None:
            return desk.forget_span(*self.span, dry_run=dry_run)
        return desk.forget_recent(self.minutes.value() * 60, dry_run=dry_run)

    def _show(self, number: int, found: SpanForgotten) -> None:
        if number != self._number:
            return
        people = found.people
        self.effect.setText(self._words(found, []))
        if people:
            self.hub.read(
                "forget.people",
                lambda reader: [p.shown for p in reader.people_of(people)],
                lambda names: self.effect.setText(self._words(found, names)) if number == self._number else None,
            )
        self.go.setEnabled(True)

    def _words(self, found: SpanForgotten, names: list[str]) -> str:
        """Return what would go, one line each."""
        lines = [self.tr("From %1 to %2 this would be deleted:").replace("%2", clock(found.end)).replace("%1", clock(found.start))]
        if found.recording:
            lines.append("• " + self.tr("the recording of this time"))
        for count, text in (
            (found.observations, self.tr("faces and utterances: %1")),
            (found.sentences, self.tr("memories: %1")),
            (found.chats, self.tr("questions whose answer cites this time: %1")),
            (found.bookmarks, self.tr("bookmarks with their notes: %1")),
        ):
            if count:
                lines.append("• " + text.replace("%1", str(count)))
        if found.people:
            told = ", ".join(plain.line(n, plain.ENTRY) for n in names[:MOST_NAMES]) or str(len(found.people))
            lines.append("• " + self.tr("people who appear nowhere else: %1").replace("%1", told))
        if len(lines) == 1:
            return self.tr("Nothing of this time is memorized yet.")
        return "\n".join(lines)

    def _failed(self, number: int, error: Exception) -> None:
        if number == self._number:
            self.effect.setText(sentence_of(error))

    def forget(self) -> None:
        """Forget, and tell what the search found afterwards."""
        hub = self.hub
        forgotten, left = (
            self.tr("Forgotten. The search over all files found nothing of it."),
            self.tr("Not everything could be deleted: %1"),
        )

        def done(found: SpanForgotten) -> None:
            if found.found:
                hub.notice.emit("error", left.replace("%1", "; ".join(found.found[:5])), "", "")
            else:
                hub.notice.emit("info", forgotten, "", "")

        hub.when(self._call(dry_run=False), done)
        self.accept()
