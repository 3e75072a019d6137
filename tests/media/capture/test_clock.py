"""Time stamps of sources are mapped to one clock: jitter, drift, late packets and jumps move nothing that is right."""

from __future__ import annotations

import av
import numpy as np
import pytest

from m3desk.media.capture.clock import Alignment
from m3desk.media.capture.sounds import SoundTrack

SECOND = 1_000_000


def test_jitter_and_late_packets_move_nothing() -> None:
    alignment, chance = Alignment(), np.random.default_rng(1)
    errors = []
    for k in range(3000):
        true = k * 40_000
        late = 900_000 if k % 400 == 399 else 0
        alignment.note(true + 7_000_000, true + 5_000 + int(chance.exponential(4_000)) + late)
        errors.append(alignment.at(true + 7_000_000) - true)
    assert max(errors[100:]) - min(errors[100:]) < 3_000


@pytest.mark.parametrize("jump", [-5 * SECOND, 5 * SECOND])
def test_stamps_that_jump_are_followed(jump: int) -> None:
    alignment = Alignment()
    for k in range(1500):
        true = k * 40_000
        stamp = true + (jump if k >= 500 else 0)
        alignment.note(stamp, true + 5_000)
    assert abs(alignment.at(1499 * 40_000 + jump) - 1499 * 40_000) < 10_000


def test_what_was_mapped_while_a_busy_machine_was_late_is_put_right_soon() -> None:
    """A second of sound is lost, so that stamps are a second behind; what comes after it waits in a queue for 4 s."""
    alignment, error = Alignment(), 0
    for true in range(0, 30 * SECOND, 20_000):
        lost = SECOND if true >= 10 * SECOND else 0
        waits = 400_000 if 10 * SECOND <= true < 14 * SECOND else 5_000
        alignment.note(true - lost, true + waits)
        error = alignment.at(true - lost) - true
        assert true < 23 * SECOND or abs(error) < 50_000, (true, error)


def captured(rate: int, drift: float, seconds: int = 60) -> tuple[list[float], int]:
    """Return the errors (milliseconds) of clicks at each second of a source whose clock is wrong by `drift`, and the breaks."""
    chance = np.random.default_rng(1)
    true_rate = rate * (1 + drift)
    signal = np.zeros(int(seconds * true_rate), np.float32)
    for k in range(1, seconds):
        signal[int(k * true_rate) :][: rate // 1000] = 1
    track, alignment, block = SoundTrack(), Alignment(), rate // 50
    whole = np.zeros((seconds + 2) * 48_000, np.float32)
    due, breaks = None, 0
    for start in range(0, len(signal) - block, block):
        stamp = round(start / rate * SECOND)
        alignment.note(stamp, round(start / true_rate * SECOND + chance.exponential(4_000)))
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(signal[start : start + block][None]), format="flt", layout="mono")
        frame.sample_rate = rate
        for at, samples in track.push(alignment.at(stamp), frame):
            index = round(at * 0.048)
            breaks += due is not None and abs(index - due) > 1
            due = index + len(samples)
            whole[index:due] = samples
    errors = []
    for k in range(5, seconds - 1):
        near = whole[k * 48_000 - 4800 : k * 48_000 + 4800]
        errors.append((int(np.argmax(near > 0.5)) - 4800) / 48)
    return errors, breaks


@pytest.mark.parametrize(("rate", "drift"), [(48_000, 0.0), (44_100, 0.0003), (16_000, -0.0003)])
def test_a_sound_card_whose_clock_drifts_stays_with_the_pictures(rate: int, drift: float) -> None:
    errors, breaks = captured(rate, drift)
    assert max(map(abs, errors)) < 8, "milliseconds; goal 40"
    assert breaks <= 1


def test_a_hole_in_the_sound_is_a_gap_and_a_small_one_is_silence() -> None:
    track = SoundTrack()
    found: list[tuple[int, int]] = []

    def push(at: int) -> None:
        frame = av.AudioFrame.from_ndarray(np.ones((1, 960), np.float32), format="flt", layout="mono")
        frame.sample_rate = 48_000
        found.extend((when, len(samples)) for when, samples in track.push(at, frame))

    for k in range(50):
        push(k * 20_000)
    for k in range(60, 100):  # 0.2 s are missing
        push(k * 20_000)
    push(5 * SECOND)
    found.extend((when, len(samples)) for when, samples in track.finish())
    assert abs(found[-1][0] - 5 * SECOND) < 1000
    before = [f for f in found if f[0] < 3 * SECOND]
    assert abs(sum(n for _, n in before) - 2 * 48_000) < 2000
