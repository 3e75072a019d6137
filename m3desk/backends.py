"""Chooses the plugin that implements a port: found by entry point, imported only if chosen, opened on first use.

The group of an entry point is the port (`m3desk.faces`), its name is the one used in profiles (`yunet`), its object is a factory:
`maker(weights, threads) -> backend`, where `weights(name)` gives the path of verified weights or raises ModelMissing.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import fields
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from m3desk import config, outgoing, presets
from m3desk.children import environments
from m3desk.children.child import end_orphans_once
from m3desk.domain.visible import shortened
from m3desk.errors import BackendMissing, ModelError, ModelMissing, UsageError
from m3desk.ports import Models

Weights = Callable[[str], Path]

PORTS = tuple(f.name for f in fields(Models) if f.name != "missing")

EMBEDDED: dict[str, str] = {
    "faces": "yunet",
    "face_vectors": "sface",
    "speech_activity": "silero",
    "speech_segmentation": "pyannote-segmentation",
    "voice_vectors": "campplus",
    "speech": "whisper-base",
    "objects": "ssd-mobilenet-v2",
    "screen_text": "rapidocr",
    "text_vectors": "use" if sys.platform == "win32" else "e5-small",
    "language": "llama-cpp",
}
"""The default profile: a backend's name for each port it fills. The memory writer of this profile is the engine's own."""

OLDER: dict[str, dict[str, str]] = {"voice_vectors": {"campplus-zh-en-w16": "campplus"}}
"""Port → a model that M3Desk used first, by its own name → the backend that replaces it. Memories made with it go on with it."""

PROFILES: dict[str, dict[str, str]] = {
    "embedded": EMBEDDED,
    **{name: {**EMBEDDED, **preset.ports} for name, preset in presets.presets().items()},
    outgoing.SERVER: {**EMBEDDED, "language": "server"},
}


def profile(name: str) -> dict[str, str]:
    """Return a profile's backends by port: one of ours, or the user's own from the settings. Raises UsageError."""
    known = {**PROFILES, **config.profiles()}
    if name not in known:
        raise UsageError(f"there is no profile “{shortened(name)}”.", f"There are: {', '.join(known)}.")
    return known[name]


def profile_or_why(name: str) -> dict[str, str] | UsageError:
    """Return a profile, or the error that explains why there is none, so that work without models goes on."""
    try:
        return profile(name)
    except UsageError as error:
        return UsageError(f"{error} {error.hint}", "Choose one: m3desk config set profile NAME.")


def available(port: str) -> dict[str, EntryPoint]:
    """Return the installed backends of a port by name, without importing them."""
    return {e.name: e for e in entry_points(group=f"m3desk.{port}")}


class Backends:
    """The backends of one profile, each opened once on first use. Thread-safe."""

    def __init__(
        self,
        weights: Weights,
        *,
        profile: Mapping[str, str] | UsageError = EMBEDDED,
        threads: int = 2,
        on_load: Callable[[str, bool], None] | None = None,
    ) -> None:
        """Take a profile, or the error that is raised when a backend is needed.

        `on_load(name, done)` is called when a backend starts to open and when it is open.
        """
        self._weights = weights
        self.problem = profile if isinstance(profile, UsageError) else None
        self._profile = {} if isinstance(profile, UsageError) else dict(profile)
        self._threads = threads
        self._on_load = on_load or (lambda _name, _done: None)
        self._open: dict[str, Any] = {}
        self._others: dict[tuple[str, str], Any] = {}
        self._missing: dict[str, str] = {}
        self._seen: dict[str, object] = {}  # which backends were installed when a port was missing
        self._locks = {port: threading.Lock() for port in PORTS}
        end_orphans_once()

    def chosen(self, port: str) -> str | None:
        """Return the name of the profile's backend of a port; None if it has none."""
        return self._profile.get(port)

    def get(self, port: str) -> Any | None:
        """Open the backend of a port; None if the profile has none or it can't be used (see `missing`). Raises UsageError."""
        if self.problem is not None:
            raise self.problem
        with self._locks[port]:
            if port in self._missing and self._seen.get(port) != (now := environments.changes()):
                self._seen[port] = now
                del self._missing[port]
            if port in self._open or port in self._missing or port not in self._profile:
                return self._open.get(port)
            name = self._profile[port]
            self._on_load(name, False)
            try:
                self._open[port] = self._make(port, name)
            except ModelError as error:
                self._missing[port] = error.line()
                self._seen[port] = environments.changes()
            finally:
                self._on_load(name, True)
            return self._open.get(port)

    def _make(self, port: str, name: str) -> Any:
        found = available(port)
        if name not in found:
            there = ", ".join(sorted(found)) or "none"
            raise BackendMissing(f"no backend “{name}” for {port} is installed (there are: {there}).", "Check the profile in the settings.")
        try:
            maker = found[name].load()
        except ImportError as error:
            raise BackendMissing(f"the backend “{name}” needs a library that is not installed ({error}).", _extra(found[name])) from error
        return maker(self._weights, self._threads)

    def of_model(self, port: str, model: str) -> Any:
        """Open the backend of a port whose model has this name: the profile's own, or another that is installed.

        Raises ModelMissing, with the reasons, where none has it: vectors of two models can't be compared.
        """
        mine = self.get(port)
        if mine is not None and mine.name == model:
            return mine
        reasons = []
        for name in sorted(available(port)):
            if name == self._profile.get(port):
                continue
            try:
                opened = self.named(port, name)
            except ModelError as error:
                reasons.append(f"{name}: {error.line()}")
                continue
            if opened.name == model:
                return opened
        kind = port.removesuffix("_vectors")
        raise ModelMissing(
            f"this memory recognises {kind}s with the model {model}, which is not installed"
            + (f" ({'; '.join(reasons)})" if reasons else "")
            + ".",
            "Download it, or use another model from now on: m3desk reembed MODEL --switch.",
        )

    def instead(self, models: Models, settings: Mapping[str, str]) -> dict[str, Any]:
        """Return port → backend for the ports where a memory's `settings` name another face or voice model. Raises ModelMissing."""
        found: dict[str, Any] = {}
        if (used := settings.get("face_vectors")) and models.face_vectors is not None and used != models.face_vectors.name:
            found["face_vectors"] = self.of_model("face_vectors", used)
        if (used := settings.get("voice_vectors")) and models.voice_vectors is not None and used != models.voice_vectors.name:
            found["voice_vectors"] = self.of_model("voice_vectors", used)
        return found

    def replacing(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Return port → the backend that replaces the older model which a memory's `settings` name. Opens nothing.

        Only where the profile uses that backend for new memories and it is installed; a model that a user chose is never an older one.
        """
        found = {port: by for port, models in OLDER.items() if (by := models.get(settings.get(port, "")))}
        return {port: by for port, by in found.items() if by == self.chosen(port) and by in available(port)}

    def named(self, port: str, name: str) -> Any:
        """Open an installed backend by its name, even if it is not in the profile. Raises ModelError."""
        if self._profile.get(port) == name and (mine := self.get(port)) is not None:
            return mine
        with self._locks[port]:
            if (port, name) not in self._others:
                self._others[port, name] = self._make(port, name)
            return self._others[port, name]

    def replace(self, port: str, backend: Any) -> None:
        """Use this object as the backend of a port from now on (for tests and benchmarks)."""
        self._open[port] = backend

    def forget_missing(self) -> None:
        """Retry backends that could not be opened on their next use (weights may have been downloaded since)."""
        self._missing.clear()

    @property
    def missing(self) -> dict[str, str]:
        """For each port whose backend could not be opened: what is wrong and what to do about it."""
        return dict(self._missing)

    def models(self, *ports: str) -> Models:
        """Open these ports (default: all ports of the profile) and return the models."""
        chosen = {port: self.get(port) for port in (ports or PORTS)}
        return Models(**chosen, missing=self.missing)


def _extra(entry: EntryPoint) -> str:
    distribution = entry.dist.name if entry.dist else "m3desk"
    extras = entry.extras
    return f"Install it: pip install '{distribution}[{','.join(extras)}]'." if extras else f"Install it again: pip install {distribution}."
