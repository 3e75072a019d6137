"""Real speech in a memory that changes between its two voice models: everybody stays who they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from m3desk_cpu.ge2e import Ge2e

from m3desk.app import App
from m3desk.bench.voices.material import sound_of
from tests.engine.two_voice_models import new_memory, remember, speakers

WHO = ("1688", "1998", "2033", "2414", "2609", "3005")
"""Speakers of LibriSpeech (calibration)."""


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    with new_memory(tmp_path, monkeypatch) as opened:
        yield opened


@pytest.mark.data
def test_six_readers_stay_six_people_by_the_second_model_and_back(app: App, shared_data: Path) -> None:
    files = {who: sorted((shared_data / "speech" / "librispeech_speakers" / who).glob("*.flac")) for who in WHO}
    remember(app, [[sound_of(files[who][n])[:96_000] for who in WHO] for n in range(3)])
    before = speakers(app)
    assert len(set(before.values())) == 6 and all(before[f"s1.c{n}.u{k}"] == before[f"s1.c0.u{k}"] for n in range(3) for k in range(6))
    embedded, found = app.reembed("ge2e", switch=True)
    assert embedded == 18 and (found.model, found.moved, found.people) == (Ge2e.name, (), (6, 6)) and speakers(app) == before
    remember(app, [[sound_of(files[who][3])[:96_000] for who in WHO]])
    assert all(speakers(app)[f"s2.c0.u{k}"] == before[f"s1.c0.u{k}"] for k in range(6))
    app.reembed("campplus", switch=True)
    after = speakers(app)
    assert len(set(after.values())) == 6 and all(after[f"s2.c0.u{k}"] == before[f"s1.c0.u{k}"] for k in range(6))
