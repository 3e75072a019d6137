"""GE2E on a CPU: its features are those it was trained with, and it tells real voices apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from m3desk_cpu.entry import ge2e
from m3desk_cpu.ge2e import FRAME, PART, SHORT, Ge2e, _parts, mel_bands, mel_power

from m3desk import models
from m3desk.calibrated import calibrated
from m3desk.domain.calibration import calibration
from m3desk.errors import ModelMissing
from m3desk.ports import SAMPLE_RATE, VoiceEmbedder
from tests.engine.two_voice_models import entry_points, invented
from tests.plugins.test_voices import read


@pytest.fixture(scope="module")
def model() -> Ge2e:
    return ge2e(models.weights, 1)


def test_it_answers_its_port_and_is_found_by_its_name(model: Ge2e) -> None:
    assert isinstance(model, VoiceEmbedder) and entry_points("voice_vectors")["ge2e"].load() is ge2e


def test_mel_bands_are_librosas() -> None:
    bands = mel_bands()
    assert bands.shape == (FRAME // 2 + 1, 40) and np.all(bands.sum(0) > 0)
    # librosa 0.11: filters.mel(sr=16000, n_fft=400, n_mels=40), rows 0, 20 and 39: place and height of the peak.
    assert [(int(b.argmax()), round(float(b.max()), 6)) for b in bands.T[[0, 20, 39]]] == [(2, 0.012405), (44, 0.007192), (185, 0.001725)]


def test_a_frame_is_the_power_every_10_ms_around_its_middle() -> None:
    sound = np.zeros(SAMPLE_RATE, np.float32)
    sound[8000] = 1.0
    power = mel_power(sound)
    assert power.shape == (101, 40) and np.flatnonzero(power.sum(1) > 1e-9).tolist() == [49, 50, 51]
    assert np.allclose(power[50], mel_bands().sum(0), rtol=1e-4), "a click in the middle of a window has power 1 at all frequencies"
    assert np.allclose(mel_power(2 * sound), 4 * power, rtol=1e-4)


@pytest.mark.parametrize(("seconds", "parts"), [(0.5, 1), (1.6, 1), (1.68, 1), (1.8, 2), (3.2, 3), (8.0, 9)])
def test_a_sound_is_embedded_in_parts_of_what_it_was_trained_on(seconds: float, parts: int) -> None:
    made = _parts(np.ones(round(seconds * SAMPLE_RATE), np.float32))
    assert len(made) == parts and {len(p) for p in made} == ({PART} if seconds >= 1.6 else {round(seconds * 100) + 1})
    assert SHORT > PART


def test_vectors_are_unit_rows_and_depend_on_no_neighbour_and_no_level(model: Ge2e) -> None:
    sounds = [invented(who, seconds, 1) for who, seconds in (("low", 1.5), ("high", 0.5), ("low", 4.0), ("high", 1.5))]
    rows = model.embed(sounds)
    assert rows.shape == (4, 256) and rows.dtype == np.float32 and np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.array_equal(rows, model.embed(sounds))
    assert np.allclose(rows[2], model.embed([sounds[2]])[0], atol=1e-4)
    assert np.allclose(rows, model.embed([s * np.float32(0.05) for s in sounds]), atol=1e-4)
    assert model.embed([]).shape == (0, 256) and np.isfinite(model.embed([np.zeros(0, np.float32), np.zeros(9000, np.float32)])).all()


def test_its_thresholds_are_its_own_and_measured() -> None:
    rule = calibrated(Ge2e.name, "voice")
    assert rule.measured and rule.space is not None and rule.space.matrix.shape == (256, 256)
    assert rule.accept > max(calibration(n, "voice").accept for n in ("campplus-zh-en-linear-w16", "campplus-zh-en-w16"))


def test_missing_weights_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing) as missing:
        Ge2e(tmp_path / "none.onnx")
    assert missing.value.hint


@pytest.mark.data
def test_one_speaker_is_more_similar_than_two(model: Ge2e, shared_data: Path) -> None:
    folder = shared_data / "speech" / "librispeech_speakers"
    rows = {s: model.embed([read(f)[:64000] for f in sorted((folder / s).glob("*.flac"))[:3]]) for s in ("1688", "1998", "2033")}
    for s, mine in rows.items():
        assert all((mine @ theirs.T).max() < (mine @ mine.T).min() for other, theirs in rows.items() if other != s)
