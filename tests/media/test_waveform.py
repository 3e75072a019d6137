"""The waveform of a sound: its peaks at their times, silence where nothing may be told."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from m3desk.errors import Cancelled, SourceMissing
from m3desk.media import waveform


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """Four seconds: silence, a loud tone, silence, a quiet tone."""
    rate = 16_000
    tone = np.sin(np.arange(rate) * 2 * np.pi * 400 / rate)
    samples = np.concatenate([tone * 0, tone * 0.9, tone * 0, tone * 0.05])
    place = tmp_path / "s.wav"
    with wave.open(str(place), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes((samples * 32767).astype("<i2").tobytes())
    return place


def test_peaks_are_where_the_sound_is(sound: Path) -> None:
    found = waveform.peaks(sound)
    assert abs(len(found) - 400) <= 2
    quiet, loud, quiet_again, low = (found[a + 5 : a + 95] for a in (0, 100, 200, 300))
    assert quiet.max() < 8 and quiet_again.max() < 8
    assert loud.min() > 225 and 45 < low.min() <= low.max() < 70  # the square root: 0.05 is a fifth of full scale


def test_of_a_span_that_was_forgotten_nothing_is_told(sound: Path) -> None:
    found = waveform.peaks(sound, [(1_000_000, 1_504_000)])
    assert found[100:151].max() == 0 and found[152:195].min() > 225


def test_it_ends_when_the_memory_is_closed_and_where_no_file_is(sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waveform, "_AT_ONCE", 1)
    with pytest.raises(Cancelled):
        waveform.peaks(sound, go_on=lambda: False)
    with pytest.raises(SourceMissing):
        waveform.peaks(sound.with_name("none.wav"))
