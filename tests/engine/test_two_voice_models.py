"""A memory changes between two real voice models: each compares its own vectors only, nobody changes, and one can switch back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from m3desk_cpu.ge2e import Ge2e
from m3desk_cpu.voices import CamPlus, CamPlusRectified

from m3desk import backends
from m3desk.app import App, embedding
from m3desk.domain import identity
from m3desk.errors import ModelMissing
from m3desk.ports import Sound
from tests.engine.two_voice_models import entry_points, invented, new_memory, remember, speakers


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    with new_memory(tmp_path, monkeypatch) as opened:
        yield opened


def said(*who: str, seed: int = 0) -> list[Sound]:
    return [invented(w, 3.4, seed * 10 + n) for n, w in enumerate(who)]


def model_of(app: App) -> str:
    with app.reader() as reader:
        return reader.settings()["voice_vectors"]


def dimensions(app: App, model: str) -> set[int]:
    """Return the lengths of the rows in the galleries of a model."""
    with app.reader() as reader:
        return {g.vectors.shape[1] for g in reader.galleries("voice", model)}


def test_a_memory_is_moved_to_the_second_model_and_back(app: App) -> None:
    remember(app, [said("low", "high"), said("high", "low", seed=1), said("low", seed=2)])
    before = speakers(app)
    assert len(set(before.values())) == 2 and before["s1.c0.u0"] == before["s1.c1.u1"] == before["s1.c2.u0"] != before["s1.c0.u1"]

    embedded, shown = app.reembed("ge2e")
    assert embedded == 5 and shown.moved == () and shown.people == (2, 2) and model_of(app) == CamPlus.name

    embedded, found = app.reembed("ge2e", switch=True)
    assert embedded == 0, "the vectors of the preview are kept"
    assert (found.model, found.moved, found.constraints["broken"]) == (Ge2e.name, (), 0)
    assert model_of(app) == Ge2e.name and speakers(app) == before
    assert dimensions(app, Ge2e.name) == {256} and dimensions(app, CamPlus.name) == {192}

    app.reembed("campplus", switch=True)
    assert model_of(app) == CamPlus.name and speakers(app) == before
    with app.reader() as reader:
        assert [b.by for b in reader.bindings("s1.c1.u0")] == [CamPlus.name, Ge2e.name, CamPlus.name]
        assert reader.integrity() == []


def test_a_memory_of_the_rectified_vectors_goes_on_with_them_until_it_is_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with new_memory(tmp_path, monkeypatch, voices="campplus-rectified") as app:
        remember(app, [said("low", "high"), said("high", "low", seed=1)])
        before = speakers(app)
        assert before["s1.c0.u0"] == before["s1.c1.u1"] != before["s1.c0.u1"]
    with new_memory(tmp_path, monkeypatch) as app:
        assert model_of(app) == CamPlusRectified.name
        remember(app, [said("low", seed=2)])
        assert speakers(app)["s2.c0.u0"] == before["s1.c0.u0"]
        with app.reader() as reader:
            assert all(g.vectors.min() == 0 for g in reader.galleries("voice", CamPlusRectified.name))
        before = speakers(app)
        embedded, found = app.reembed("campplus", switch=True)
        assert embedded == 4, "of the clip that was added the profile's vectors were kept beside"
        assert found.moved == () and model_of(app) == CamPlus.name and speakers(app) == before


def test_a_new_clip_is_compared_by_the_memorys_model_alone_whatever_the_profile_says(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(app, [said("low", "high")])
    app.reembed("ge2e", switch=True)
    compared: list[tuple[int, int]] = []
    plain = identity.similarities

    def watched(candidates, galleries, rule):  # type: ignore[no-untyped-def]
        compared.extend((c.vectors.shape[1], g.vectors.shape[1]) for c in candidates for g in galleries)
        return plain(candidates, galleries, rule)

    monkeypatch.setattr(identity, "similarities", watched)
    remember(app, [said("high", "low", seed=1)])
    who = speakers(app)
    assert who["s2.c0.u0"] == who["s1.c0.u1"] and who["s2.c0.u1"] == who["s1.c0.u0"] and len(set(who.values())) == 2
    assert set(compared) == {(256, 256)}
    app.reembed("campplus", switch=True)
    assert speakers(app) == who, "the profile's vectors of the new clip were kept beside"


def test_vectors_of_two_models_are_never_compared(app: App) -> None:
    remember(app, [said("low")])
    app.reembed("ge2e")
    with app.reader() as reader:
        (mine,), (theirs,) = (reader.galleries("voice", name) for name in (CamPlus.name, Ge2e.name))
    candidate = identity.Candidate(("o",), mine.vectors, 3_000_000)
    assert identity.similarities([candidate], [theirs], identity.calibration(Ge2e.name, "voice")).tolist() == [[-1.0]]
    assert identity.match([candidate], [theirs], [], identity.calibration(Ge2e.name, "voice")) == [identity.Match(None, None, None, None)]


def test_a_memory_whose_voice_model_is_not_installed_says_what_to_do_and_that_helps(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(app, [said("low", "high")])
    app.reembed("ge2e", switch=True)
    before = speakers(app)
    for module in (backends, embedding):
        monkeypatch.setattr(module, "available", lambda port: {n: e for n, e in entry_points(port).items() if n == "campplus"})
    with pytest.raises(ModelMissing) as refused:
        app.answering.models_in_use("voice_vectors")
    assert f"recognises voices with the model {Ge2e.name}, which is not installed" in refused.value.line()
    assert "m3desk reembed MODEL --switch" in refused.value.line()
    with pytest.raises(ModelMissing):
        remember(app, [said("low", seed=1)])
    app.reembed("campplus", switch=True)
    remember(app, [said("low", seed=1)])
    assert speakers(app)["s2.c0.u0"] == before["s1.c0.u0"]
