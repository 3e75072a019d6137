"""The microphone, by PortAudio (sounddevice, imported when it is used only)."""

from __future__ import annotations

import contextlib
import queue
import time
from typing import Any

import av
import numpy as np

from m3desk.domain.live import DeviceKind
from m3desk.media.capture.clock import Alignment
from m3desk.media.capture.inputs import CaptureError, Form, Taking

LOST_SECONDS = 2.0
"""Seconds without any sound after which a microphone is taken to be lost: a working one delivers silence as well."""

_LATENCY = 0.1
_MOST_WAITED = 0.3
_BUSY = (-9985,)  # paDeviceUnavailable
_HINT = "Choose another one (m3desk devices), or check the system's sound settings."


class MicrophoneInput:
    """A microphone by name (or a part of it), number, or "default"."""

    kinds: tuple[DeviceKind, ...] = ("microphone",)
    ends = False

    def __init__(self, name: str, library: Any = None) -> None:
        """`library`: sounddevice; tests pass their own."""
        self._name = name
        self._library = library
        self._stream: Any = None
        self._rate = 48_000
        self._blocks: queue.SimpleQueue[tuple[Any, float, float]] = queue.SimpleQueue()

    def open(self) -> Form:
        device = self._device()
        sounds = self._sounds()
        try:
            about = sounds.query_devices(device, "input")
            self._rate = int(about["default_samplerate"]) or 48_000
            channels = min(2, max(1, int(about["max_input_channels"])))
            self._blocks = queue.SimpleQueue()
            self._stream = sounds.InputStream(
                device=device, samplerate=self._rate, channels=channels, dtype="float32", latency=_LATENCY, callback=self._heard
            )
            self._stream.start()
        except Exception as error:  # PortAudioError, ValueError: whatever the library stumbles over, there is no sound
            self.close()
            raise self._failed(error) from None
        return Form(False, True, name=str(about["name"]))

    def _sounds(self) -> Any:
        """Return the library, with the list of devices read anew: PortAudio reads it once."""
        if self._library is None:
            try:
                import sounddevice
            except (ImportError, OSError) as error:
                hint = "Install it (Debian: libportaudio2)."
                raise CaptureError("The sound library PortAudio is missing.", hint=hint, lasting=True) from error
            self._library = sounddevice
        with contextlib.suppress(Exception):
            self._library._terminate()
            self._library._initialize()
        return self._library

    def _device(self) -> int | str | None:
        if self._name == "default":
            return None
        return int(self._name) if self._name.isdigit() else self._name

    def _heard(self, block: Any, frames: int, when: Any, status: Any) -> None:
        """Take a block (called by PortAudio). The driver's estimate of how long ago its first sample was heard is much more regular than
        the calls, but not always there.
        """
        waited = getattr(when, "currentTime", 0.0) - getattr(when, "inputBufferAdcTime", 0.0)
        known = getattr(when, "inputBufferAdcTime", 0.0) > 0 and 0.0 <= waited < _MOST_WAITED
        self._blocks.put((block.copy(), waited if known else frames / self._rate, time.monotonic()))

    def run(self, taking: Taking) -> None:
        alignment = Alignment()
        count = 0
        came = time.monotonic()
        while not taking.stopped.is_set():
            try:
                block, waited, arrived = self._blocks.get(timeout=0.2)
            except queue.Empty:
                if time.monotonic() - came > LOST_SECONDS:
                    raise CaptureError(f"The microphone {self._name} delivers nothing any more.", "lost", _HINT) from None
                continue
            came = time.monotonic()
            stamp = round(count * 1_000_000 / self._rate)
            count += len(block)
            alignment.note(stamp, taking.clock() - round((came - arrived + waited) * 1_000_000))
            samples = np.ascontiguousarray(block.mean(axis=1, dtype=np.float32)[None])
            frame = av.AudioFrame.from_ndarray(samples, format="flt", layout="mono")
            frame.sample_rate = self._rate
            taking.sound(alignment.at(stamp), frame)

    def close(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            with contextlib.suppress(Exception):
                stream.abort()
            with contextlib.suppress(Exception):
                stream.close()

    def _failed(self, error: Exception) -> CaptureError:
        if isinstance(error, CaptureError):
            return error
        code = error.args[1] if len(error.args) > 1 else None
        if code in _BUSY:
            return CaptureError(f"The microphone {self._name} is used by another program.", "busy", "Close the other program.")
        text = str(error.args[0]) if error.args else type(error).__name__
        return CaptureError(f"The microphone {self._name} cannot be opened: {text.splitlines()[0]}.", "lost", _HINT)
