"""The status bar: what the engine is doing, how far, how fast, on what device, and how far behind the picture it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QStatusBar, QToolButton, QWidget

from m3desk.domain.clip import clock
from m3desk_ui.hub.following import Following, Read
from m3desk_ui.live import words
from m3desk_ui.live.light import Light
from m3desk_ui.look import plain, texts, theme

if TYPE_CHECKING:
    from m3desk import events
    from m3desk.domain.changed import Changed
    from m3desk.domain.log import ObservationType
    from m3desk.outgoing import Leaving
    from m3desk.ports import Reader
    from m3desk_ui.hub.bridge import Hub
    from m3desk_ui.live.session import LiveSession

QUIET_MS = 6000
"""Without news of progress for so long, the line falls back to what the memory holds."""


class Status(QStatusBar):
    """Left: the work and its bar. Right: the live source, seconds behind, knowledge pending, device and models."""

    def __init__(self, hub: Hub, live: LiveSession | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub, self._live = hub, live
        self.setAccessibleName(self.tr("Status"))
        self.setSizeGripEnabled(False)
        self._work = plain.Count()
        self._bar = QProgressBar()
        self._bar.setRange(0, 1000)
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(140)
        self._bar.hide()
        left = QWidget()
        row = QHBoxLayout(left)
        row.setContentsMargins(8, 0, 0, 0)
        row.addWidget(self._bar)
        row.addWidget(self._work)
        self._cancel = QToolButton()
        self._cancel.setText(self.tr("Cancel"))
        self._cancel.setAutoRaise(True)
        self._cancel.setAccessibleName(self.tr("Cancel this work"))
        plain.tip(self._cancel, self.tr("Stop this; what is done is kept, and it can be continued later"))
        self._cancel.clicked.connect(self._cancel_work)
        self._cancel.hide()
        row.addWidget(self._cancel)
        left.setMinimumHeight(self._cancel.sizeHint().height())  # when the button comes and goes, the picture stays where it is
        self._stop: Callable[[], object] | None = None
        self.addWidget(left)
        self._behind, self._knowledge, self._models, self._older, self._device = (plain.Brief() for _ in range(5))
        right = QWidget()
        line = QHBoxLayout(right)
        line.setContentsMargins(0, 0, 12, 0)
        line.setSpacing(18)
        self._leaves = plain.Brief()
        self._leaves.setStyleSheet(f"color: {theme.colours().warn};")
        self._leaves.hide()
        line.addWidget(self._leaves)
        for label in (self._behind, self._knowledge, self._models, self._older, self._device):
            label.setProperty("muted", True)
            line.addWidget(label)
        self.addPermanentWidget(right)
        self._older.hide()
        self._light = Light()
        self._live_text = plain.Brief()
        for widget in (self._light, self._live_text):
            line.insertWidget(line.indexOf(self._behind), widget)
            widget.hide()
        if live is not None:
            live.began.connect(self._show_live)
            live.status_changed.connect(self._show_live)
        self._no_language = ""
        self._leaving: Leaving | None = None
        self._loading: list[str] = []
        self._progress: events.Progress | None = None
        self._working: set[str] = set()
        self._quiet = QTimer(self)
        self._quiet.setSingleShot(True)
        self._quiet.setInterval(QUIET_MS)
        self._quiet.timeout.connect(self._rest)
        hub.progress.connect(self._on_progress)
        hub.engine_ready.connect(self._on_ready)
        hub.engine_lost.connect(self._on_lost)
        hub.loading.connect(self._on_loading)
        hub.leaves.connect(self._on_leaves)
        hub.downloading.connect(self._on_downloading)
        hub.evidence_seen.connect(self._on_evidence)
        hub.source_changed.connect(self._on_source)
        self._clips: dict[str, str] = {}
        self._people: set[str] = set()
        self.following = Following(
            hub, "status", load=lambda: read_counts, show=self._take, patch=self._changed, apply=self._patch, parent=self
        )
        hub.opened.connect(self._on_opened)
        hub.selection.watching.connect(self._on_watching)
        if hub.desk is not None:
            self.following.restart()

    def _show_live(self) -> None:
        """Show the live source in short, while one runs."""
        live = self._live
        running = live is not None and live.running
        self._light.setVisible(running)
        self._live_text.setVisible(running)
        if live is not None and running:
            light = words.light(live.status, engine=live.answers)
            self._light.show_light(light.colour, light.text)
            self._live_text.setText(words.short(live.status, engine=live.answers))
            plain.tip(self._live_text, words.given_up(live.status.given_up) if live.status is not None else "")

    def _on_opened(self, path: str) -> None:
        self._progress = None
        self._working.clear()
        self._loading.clear()
        self._bar.hide()
        self._offer_cancel(None)
        for label in (self._behind, self._knowledge, self._models, self._older, self._device):
            label.clear()
        self._work.setText(self.tr("Opening the memory …") if path else "")
        self._clips, self._people, self._no_language = {}, set(), ""
        self.following.restart()

    def _on_ready(self, event: events.EngineReady) -> None:
        self._device.setText(texts.processor(event.device))
        here = self.tr("Profile “%1”") if event.leaves else self.tr("Profile “%1”; nothing leaves this machine")
        plain.tip(self._device, here.replace("%1", event.profile))
        self._leaving = event.leaves
        self._show_leaves()
        self._no_language = event.no_language
        how = self.tr("Download one in the chat or under “Models”; clips get their knowledge then.")
        plain.tip(self._knowledge, how if event.no_language else "")
        self._tell_counts()
        needed = {name: what for name, what in event.missing.items() if name != event.no_language}  # the chat offers that one
        self._models.setText(self.tr("models missing: %1").replace("%1", str(len(needed))) if needed else "")
        plain.tip(self._models, "\n".join(f"{name}: {what}" for name, what in needed.items()))
        self._show_older(event.older)

    def _show_older(self, older: Mapping[ObservationType, str]) -> None:
        """Show that the memory has an older model than new memories use, and in the tooltip how it is moved to theirs."""
        names = {"face": self.tr("older face model"), "voice": self.tr("older voice model")}
        self._older.setText(" · ".join(names[kind] for kind in older))
        self._older.setVisible(bool(older))
        how = self.tr("New memories use a newer model. To move this one to it, close it and run: %1")
        ask = self.tr("Without --switch the command only shows what would change. The command is also under “Problems”.")
        plain.tip(self._older, "\n".join([*(how.replace("%1", command) for command in older.values()), ask]) if older else "")

    def _on_leaves(self, event: events.Leaves) -> None:
        """Show that the clips of a source go to another machine, too."""
        before, now = self._leaving, event.leaving
        self._leaving = replace(now, questions=now.questions or (before is not None and before.questions))
        self._show_leaves()

    def _show_leaves(self) -> None:
        """Show what goes to another machine, for as long as it does."""
        self._leaves.setVisible(self._leaving is not None)
        self._leaves.setText(texts.leaves(self._leaving) if self._leaving else "")
        plain.tip(self._leaves, "\n".join(texts.leaving(self._leaving)) if self._leaving else "")

    def _on_lost(self, event: events.EngineLost) -> None:
        self._working.clear()
        self._loading.clear()
        self._device.setText(self.tr("engine is restarting") if event.restarting else self.tr("engine stopped"))
        self._rest()

    def _on_loading(self, event: events.ModelLoading) -> None:
        if event.done:
            self._loading = [n for n in self._loading if n != event.name]
        elif event.name not in self._loading:
            self._loading.append(event.name)
        if self._loading:
            self._work.setText(
                self.tr("Loading %1 …").replace("%1", texts.model(self._loading[-1]))
                + (f" {texts.loading(event.said)}" if event.said else "")
            )
        elif self._progress is not None:
            self._on_progress(self._progress)
        else:
            self._tell_counts()

    def _on_downloading(self, event: events.Downloading) -> None:
        if event.state == "working" and event.total:
            self._show(
                self.tr("Downloading %1: %2 of %3")
                .replace("%1", event.name)
                .replace("%2", texts.megabytes(event.done))
                .replace("%3", texts.megabytes(event.total)),
                event.done / event.total,
            )
            self._offer_cancel(None if self._hub.desk is None else self._hub.desk.stop_pulling)
        else:
            if event.state == "done" and event.name == self._no_language:
                self._no_language = ""
                plain.tip(self._knowledge, "")
            self._rest()

    def _on_source(self, event: Any) -> None:
        """Remember the source being memorized: a long clip sends no events for a while but is still work."""
        state = getattr(event, "state", "queued")
        if state == "working":
            self._working.add(event.source)
        elif event.source in self._working:
            self._working.discard(event.source)
            self._quiet.start()

    def _on_evidence(self, event: events.EvidenceSeen) -> None:
        """Show the progress within a clip by the time of the last faces."""
        seen = max((face[0] for face in event.faces), default=0)
        if self._progress is not None and self._progress.source == event.source and seen > self._progress.done:
            self._on_progress(replace(self._progress, done=min(seen, self._progress.total or seen)))

    def _on_progress(self, event: events.Progress) -> None:
        self._progress = event
        parts = [texts.stage(event.stage).capitalize()]
        if not event.source:  # work on the whole memory
            parts += [f"{100 * event.done // event.total} %"] if event.total else []
        elif event.stage == "knowledge":  # counted in clips
            parts.append(self.tr("%1 of %2 clips").replace("%1", str(event.done)).replace("%2", str(event.total)))
        elif event.total:
            parts.append(f"{clock(event.done)} / {clock(event.total)}")
        if event.rate and event.stage != "knowledge":
            parts.append(self.tr("%1 real time").replace("%1", texts.speed(event.rate)))
        if event.left is not None:
            parts.append(self.tr("%1 left").replace("%1", texts.duration(round(event.left * 1e6))))
        self._show(" · ".join(parts), event.done / event.total if event.total else 0.0)
        desk, source = self._hub.desk, event.source
        self._offer_cancel((lambda: desk.cancel(source)) if desk is not None and source in self._working else None)
        self._tell_behind()

    def _cancel_work(self) -> None:
        if self._stop is not None:
            self._stop()
        self._offer_cancel(None)

    def _offer_cancel(self, stop: Callable[[], object] | None) -> None:
        """Offer to stop the work that is shown, if it can be stopped."""
        self._stop = stop
        self._cancel.setVisible(stop is not None)

    def _show(self, text: str, part: float) -> None:
        self._work.setText(text)
        self._bar.setValue(round(1000 * min(1.0, part)))
        self._bar.setAccessibleName(self.tr("Progress"))
        self._bar.show()
        self._quiet.start()

    def _rest(self) -> None:
        if self._working and self._progress is not None:
            return
        self._bar.hide()
        self._offer_cancel(None)
        self._progress = None
        self._behind.clear()
        self._work.clear()
        self._tell_counts()

    def _on_watching(self, source: str, at: int) -> None:
        self._tell_behind()

    def _tell_behind(self) -> None:
        """Show how far memorizing is behind the picture, if both are on one source."""
        source, at = self._hub.selection.at
        if self._progress is None or self._progress.source != source or self._progress.stage == "knowledge":
            self._behind.clear()
            return
        behind = at - self._progress.done
        self._behind.setText(
            self.tr("%1 behind playback").replace("%1", texts.duration(behind)) if behind > 500_000 else self.tr("ahead of playback")
        )

    def _changed(self, changed: Changed) -> Read[Part] | None:
        return (lambda reader: read_part(reader, changed)) if changed.clips or changed.people else None

    def _take(self, counts: tuple[dict[str, str], set[str]]) -> None:
        self._clips, self._people = counts
        self._tell_counts()

    def _patch(self, part: Part) -> None:
        for clip in part.clips - part.states.keys():
            self._clips.pop(clip, None)
        self._clips.update(part.states)
        self._people = self._people - part.people | part.there
        self._tell_counts()

    def _tell_counts(self) -> None:
        """Show the counts of the memory and what is still waiting."""
        if self._hub.desk is None:
            self._work.clear()
            return
        states = Counter(self._clips.values())
        clips, waiting, knowledge, people = states["episodic"] + states["done"], states["queued"], states["episodic"], len(self._people)
        if self._no_language:
            self._knowledge.setText(self.tr("no language model: no knowledge is written"))
        else:
            self._knowledge.setText(self.tr("clips without knowledge yet: %1").replace("%1", str(knowledge)) if knowledge else "")
        if not self._bar.isVisible() and not self._loading:
            if clips:
                text = self.tr("clips memorized: %1 · people: %2").replace("%1", str(clips)).replace("%2", str(people))
                if waiting:
                    text += " · " + self.tr("waiting: %1").replace("%1", str(waiting))
            else:
                text = self.tr("Nothing memorized yet")
            self._work.setText(text)


@dataclass(frozen=True, slots=True)
class Part:
    """What changed: ids of clips and the states of those that are there; ids of people and those of them that are there, not hidden."""

    clips: frozenset[str]
    states: Mapping[str, str]
    people: frozenset[str]
    there: set[str]


def read_counts(reader: Reader) -> tuple[dict[str, str], set[str]]:
    """Return clip → state, and the ids of people who are not hidden (in the reading thread)."""
    return {c.id: c.state for c in reader.clips()}, {p.id for p in reader.people() if not p.ignored}


def read_part(reader: Reader, changed: Changed) -> Part:
    """Read what a commit changed of the counts."""
    states = {c.id: c.state for c in reader.clips_of(changed.clips)} if changed.clips else {}
    people = {p.id for p in reader.people_of(changed.people) if not p.ignored} if changed.people else set()
    return Part(changed.clips, states, changed.people, people)
