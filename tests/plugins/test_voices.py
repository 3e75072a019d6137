"""Silero and CAM++ on a CPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from m3desk_cpu.voices import CamPlus, CamPlusRectified, Segmentation, Silero, fbank, mel_bands, repeated

from m3desk.errors import ModelFailed, ModelMissing
from m3desk.paths import resources
from m3desk.ports import Sound, SpeechSegmentation, VoiceActivity, VoiceEmbedder

CAMPLUS = resources() / "models" / "campplus_zh_en_linear_w16.onnx"
SEGMENTATION = resources() / "models" / "pyannote_seg3.onnx"


@pytest.fixture(scope="module")
def silero() -> Silero:
    return Silero(1)


@pytest.fixture(scope="module")
def campplus() -> CamPlus:
    return CamPlus(CAMPLUS, 1)


@pytest.fixture(scope="module")
def segmentation() -> Segmentation:
    return Segmentation(SEGMENTATION, 1)


def read(path: Path) -> Sound:
    import av

    with av.open(str(path)) as container:
        resampler = av.AudioResampler("flt", "mono", 16000)
        frames = [f for frame in container.decode(audio=0) for f in resampler.resample(frame)]
    return np.concatenate([f.to_ndarray()[0] for f in frames]).astype(np.float32)


def test_they_answer_their_ports(silero: Silero, segmentation: Segmentation, campplus: CamPlus) -> None:
    assert isinstance(silero, VoiceActivity) and isinstance(campplus, VoiceEmbedder) and isinstance(segmentation, SpeechSegmentation)


@pytest.mark.parametrize("samples", [0, 100, 16000, 160000])
def test_a_segmentation_tells_who_speaks_in_each_row_of_its_window(segmentation: Segmentation, samples: int) -> None:
    sound = np.random.default_rng(0).standard_normal(samples).astype(np.float32) * 0.01
    chances = segmentation.segment(sound)
    assert chances.shape == (segmentation.rows, len(segmentation.classes)) and chances.dtype == np.float32
    assert np.allclose(chances.sum(1), 1, atol=1e-3) and np.array_equal(chances, segmentation.segment(sound))
    assert segmentation.lead + segmentation.rows * segmentation.hop <= segmentation.window


@pytest.mark.data
def test_two_who_talk_over_each_other_are_told_apart(segmentation: Segmentation, shared_data: Path) -> None:
    sound = read(shared_data / "speech" / "pyannote_sample" / "sample.wav")[20 * 16000 : 30 * 16000]
    chosen = np.argmax(segmentation.segment(sound), axis=1)
    who = {
        second: set(segmentation.classes[chosen[round((second - 20) * 16000 / segmentation.hop)]]) for second in (20.7, 25.0, 28.2, 29.5)
    }
    assert len(who[20.7]) == len(who[25.0]) == 1 and who[20.7] == who[29.5] != who[25.0]
    assert who[28.2] == who[20.7] | who[25.0]


@pytest.mark.parametrize("samples", [0, 1, 511, 512, 513, 16000])
def test_every_hop_has_a_probability(silero: Silero, samples: int) -> None:
    p = silero.probabilities(np.zeros(samples, np.float32))
    assert p.shape == (-(-samples // 512),) and p.dtype == np.float32
    assert np.all((p >= 0) & (p <= 1))


def test_silero_starts_anew_with_each_sound(silero: Silero) -> None:
    sound = np.random.default_rng(0).standard_normal(32000).astype(np.float32) * 0.1
    first = silero.probabilities(sound)
    silero.probabilities(np.ones(5000, np.float32))
    assert np.array_equal(first, silero.probabilities(sound))


def test_silero_does_not_take_noise_and_silence_for_speech(silero: Silero) -> None:
    noise = np.random.default_rng(0).standard_normal(160000).astype(np.float32) * 0.1
    assert silero.probabilities(np.zeros(160000, np.float32)).max() < 0.2
    assert np.mean(silero.probabilities(noise) > 0.35) < 0.01


def test_mel_bands_cover_all_but_the_edges() -> None:
    bands = mel_bands()
    assert bands.shape == (257, 80) and np.all(bands.sum(0) > 0) and not bands[-1].any()


def test_features_are_mean_free_and_every_10_ms() -> None:
    features = fbank(np.random.default_rng(0).standard_normal(16000).astype(np.float32))
    assert features.shape == (98, 80) and features.dtype == np.float32
    assert np.abs(features.mean(0)).max() < 1e-4
    assert fbank(np.zeros(10, np.float32)).shape == (1, 80)


def test_voice_vectors_are_unit_rows_and_do_not_depend_on_their_neighbours(campplus: CamPlus) -> None:
    random = np.random.default_rng(0)
    sounds = [random.standard_normal(n).astype(np.float32) * 0.1 for n in (24000, 8000, 24000, 40000)]
    rows = campplus.embed(sounds)
    assert rows.shape == (4, 192) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.allclose(rows[2], campplus.embed([sounds[2]])[0], atol=1e-4)
    assert np.array_equal(rows, campplus.embed(sounds))
    assert campplus.embed([]).shape == (0, 192)


def test_half_of_a_vector_is_negative_and_the_model_of_older_memories_sets_that_to_zero(campplus: CamPlus) -> None:
    """3D-Speaker trained CAM++ without an activation function after the last layer."""
    sounds = [np.random.default_rng(n).standard_normal(48000).astype(np.float32) * 0.1 for n in range(4)]
    rows, older = campplus.embed(sounds), CamPlusRectified(CAMPLUS, 1)
    assert 0.3 < (rows < 0).mean() < 0.7
    half = np.maximum(rows, 0)
    assert np.allclose(older.embed(sounds), half / np.linalg.norm(half, axis=1, keepdims=True), atol=1e-6)
    assert older.name != campplus.name


def test_a_short_sound_is_repeated_to_three_seconds_but_not_for_the_model_of_older_memories(campplus: CamPlus) -> None:
    short = np.random.default_rng(5).standard_normal(20000).astype(np.float32) * 0.1
    rows = campplus.embed([short, np.tile(short, 3), np.tile(short, 4)])
    assert np.allclose(rows[0], rows[1], atol=1e-5) and not np.allclose(rows[1], rows[2], atol=1e-3)
    long = np.tile(short, 3)[: 3 * 16000]
    assert len(repeated(long, 3 * 16000)) == len(long) and len(repeated(long[:-1], 3 * 16000)) == 2 * (len(long) - 1)
    assert len(repeated(short[:0], 3 * 16000)) == 0
    older = CamPlusRectified(CAMPLUS, 1)
    assert not np.allclose(*older.embed([short, np.tile(short, 3)]), atol=1e-3)


@pytest.mark.data
def test_one_speaker_is_more_similar_than_two(campplus: CamPlus, shared_data: Path) -> None:
    folder = shared_data / "speech" / "librispeech_speakers"
    rows = {s: campplus.embed([read(f)[:64000] for f in sorted((folder / s).glob("*.flac"))[:3]]) for s in ("1688", "1998", "2033")}
    for s, mine in rows.items():
        assert (mine @ mine.T).min() > campplus.same
        for other, theirs in rows.items():
            if other != s:
                assert (mine @ theirs.T).mean() < campplus.same - 0.1 and (mine @ theirs.T).max() < (mine @ mine.T).min()


@pytest.mark.data
def test_silero_finds_the_speech_of_a_recording(silero: Silero, shared_data: Path) -> None:
    sound = read(shared_data / "speech" / "falcon" / "test.wav")
    p = silero.probabilities(sound)
    assert np.mean(p[round(6.4 / 0.032) : round(11.0 / 0.032)] > 0.35) > 0.85
    assert np.mean(p[round(4.2 / 0.032) : round(6.0 / 0.032)] > 0.35) < 0.1


def test_missing_and_broken_weights_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing) as missing:
        CamPlus(tmp_path / "none.onnx", 1)
    with pytest.raises(ModelMissing):
        Segmentation(tmp_path / "none.onnx", 1)
    assert missing.value.hint
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"not a model")
    with pytest.raises(ModelFailed) as failed:
        CamPlus(broken, 1)
    assert failed.value.hint
