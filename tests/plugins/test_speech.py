"""Whisper on a CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from m3desk_cpu.speech import Whisper, circling

from m3desk.errors import ModelFailed, ModelMissing
from m3desk.ports import Sound, SpeechRecogniser
from tests.plugins.test_voices import read


@pytest.fixture(scope="module")
def whisper(weights: Path) -> Whisper:
    return Whisper(weights / "whisper-base", 2)


@pytest.fixture(scope="module")
def kennedy(shared_data: Path) -> Sound:
    return read(shared_data / "speech" / "jfk" / "jfk.flac")


@pytest.mark.models
@pytest.mark.data
def test_it_writes_down_what_is_said_with_times(whisper: Whisper, kennedy: Sound, shared_data: Path) -> None:
    assert isinstance(whisper, SpeechRecogniser)
    heard = whisper.transcribe(kennedy)
    truth = json.dumps(json.loads((shared_data / "speech/jfk/transcript.json").read_text())).lower()
    words = ["".join(c for c in w.text.lower() if c.isalnum()) for w in heard.words]
    assert heard.language == "en" and heard.language_probability > 0.8 and heard.no_speech < 0.5
    assert sum(w in truth for w in words) >= 20 and len(words) == 22
    assert all(0 <= w.start <= w.end <= len(kennedy) / 16000 for w in heard.words)
    assert all(a.start <= b.start for a, b in zip(heard.words, heard.words[1:], strict=False))
    assert heard == whisper.transcribe(kennedy.copy())


@pytest.mark.models
@pytest.mark.data
def test_a_given_language_is_taken(whisper: Whisper, kennedy: Sound) -> None:
    heard = whisper.transcribe(kennedy[:48000], "en")
    assert heard.language == "en" and heard.language_probability == 1.0


@pytest.mark.models
@pytest.mark.data
def test_sound_longer_than_a_window_is_heard_to_its_end(whisper: Whisper, kennedy: Sound) -> None:
    heard = whisper.transcribe(np.concatenate([kennedy] * 3 + [np.zeros(16000, np.float32)]))
    assert len(heard.words) >= 60 and heard.words[-1].end > 29
    assert all(a.start <= b.start + 0.5 for a, b in zip(heard.words, heard.words[1:], strict=False))


@pytest.mark.slow
@pytest.mark.models
def test_noise_does_not_go_on_for_ever(whisper: Whisper) -> None:
    noise = np.random.default_rng(2).standard_normal(80000).astype(np.float32) * 0.05
    assert len(whisper.transcribe(noise).words) < 30


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_sounds_of_many_lengths_take_no_memory_for_ever(whisper: Whisper, weights: Path) -> None:
    growth = (
        "import numpy as np, psutil; from m3desk_cpu.speech import Whisper; whisper = Whisper({!r}, 2)\n"
        "def after(lengths):\n"
        "    for n in lengths: whisper._model.encode(np.zeros((80, n), np.float32))\n"
        "    return psutil.Process().memory_info().rss\n"
        "before = after([900, 300, 900, 300]); print((after(range(303, 403, 4)) - before) / 1e6)"
    )  # 25 lengths; oneDNN's own cache takes 1 MB of each
    folder = str(weights / "whisper-base")
    told = subprocess.run([sys.executable, "-c", growth.format(folder)], capture_output=True, text=True, check=True).stdout
    assert float(told) < 15


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="GNU's OpenMP")
@pytest.mark.parametrize(("users", "waiting"), [(None, "PASSIVE"), ("active", "ACTIVE")])
def test_its_threads_sleep_while_they_wait_unless_the_user_says_otherwise(users: str | None, waiting: str) -> None:
    code = "import os, m3desk_cpu.speech as s; s._library(); print(os.environ.get('OMP_WAIT_POLICY'))"
    env = {k: v for k, v in os.environ.items() if k != "OMP_WAIT_POLICY"} | ({"OMP_WAIT_POLICY": users} if users else {})
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env | {"OMP_DISPLAY_ENV": "true"}, check=True)
    assert f"OMP_WAIT_POLICY = '{waiting}'" in done.stderr  # what OpenMP read as it was loaded
    assert done.stdout.strip() == str(users), "the variable is as it was before"


def test_circling_measures_repetition() -> None:
    assert circling("I'm sorry, " * 30) > 2.4
    assert circling("The child almost hurt the small dog, and then it ran away across the field.") < 2.4
    assert circling("no no") == 0


def test_missing_weights_say_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelMissing) as missing:
        Whisper(tmp_path, 1)
    assert "model.bin" in str(missing.value) and "m3desk models pull" in missing.value.hint


def test_broken_weights_say_what_to_do(tmp_path: Path) -> None:
    for name in ("config.json", "model.bin", "tokenizer.json", "vocabulary.txt"):
        (tmp_path / name).write_bytes(b"{}")
    with pytest.raises(ModelFailed) as failed:
        Whisper(tmp_path, 1)
    assert failed.value.hint
