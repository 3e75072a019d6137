"""A face or voice model is measured on people whom the user knows: as strict as the shipped one; thresholds and counts are kept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest

from m3desk import calibrated
from m3desk.cli import calibrating, main
from m3desk.domain.calibration import ARCFACE, FACES, VOICES, calibration
from m3desk.domain.measuring import Move, Pairs, moved
from m3desk.errors import ModelFailed, ModelMissing, UsageError
from m3desk.ports import SAMPLE_RATE, Models
from m3desk.samples import measuring
from m3desk.work import Options
from tests.engine.made import drawn_talk
from tests.memorization.watched.test_remembered import app_at
from tests.perception.invented import ColourEmbedder
from tests.perception.invented_speech import Octaves
from tests.samples.patterns import Corner, Fields, folder_of, photo

NAME = "arcface-somebodys-0a1b2c3d"
SHIPPED = Models(faces=Corner(), face_vectors=Fields("sface-test"))


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("M3DESK_DATA", str(tmp_path / "data"))
    calibrated.forget_read()
    yield
    calibrated.forget_read()


def invented(seed: int = 1, *, gain: float = 1.0, offset: float = 0.0) -> Pairs:
    """Similarities of pairs: the model's are the reference's, times `gain`, plus `offset`, and some noise."""
    random = np.random.default_rng(seed)
    one = np.arange(6_000) < 600
    reference = np.where(one, random.normal(0.75, 0.08, 6_000), random.normal(0.3, 0.08, 6_000)).clip(-0.9, 0.98)
    model = (reference * gain + offset + random.normal(0, 0.005, 6_000)).clip(-0.95, 0.995)
    return Pairs(reference, model, one)


@pytest.mark.parametrize("type_", ["face", "voice"])
@pytest.mark.parametrize(("gain", "offset"), [(1.0, 0.0), (0.5, 0.4), (0.8, -0.1)])
def test_thresholds_are_moved_to_where_the_model_is_as_strict(type_: Any, gain: float, offset: float) -> None:
    rule = FACES if type_ == "face" else VOICES
    found = moved(rule, type_, *[invented(gain=gain, offset=offset)] * 2)
    for name in ("accept", "carried", "similar", "equal_odds", "split_below", "sure"):
        assert getattr(found, name) == pytest.approx(getattr(rule, name) * gain + offset, abs=0.05), name
    assert found.margin == pytest.approx(rule.margin * gain, rel=0.1)
    assert found.least == rule.least and found.whole == rule.whole and found.sound == rule.sound
    assert found.measured and found.across is None and found.within is None
    assert (found.accept_long, found.asked is None) == (None, rule.asked is None)
    if type_ == "voice":
        comparison = found.comparison()
        assert comparison.ratio(found.equal_odds, 2.0, 2.0) == pytest.approx(0.0, abs=0.05)


def test_a_model_measured_beside_itself_gets_the_same_thresholds() -> None:
    pairs = invented()
    found = moved(FACES, "face", *[replace(pairs, model=pairs.reference)] * 2)
    assert (found.accept, found.margin, found.sure) == pytest.approx((FACES.accept, FACES.margin, FACES.sure), abs=0.002)


def test_the_map_rises_and_ends_below_one() -> None:
    move = Move.of(invented(gain=0.5, offset=0.45))
    levels = [move.level(float(c)) for c in np.linspace(-0.2, 0.99, 120)]
    assert levels == sorted(levels) and levels[-1] < 1


def test_photos_of_people_are_measured_and_only_thresholds_and_counts_are_kept(tmp_path: Path) -> None:
    model, material = Fields(NAME, by=1.0), measuring.Material()
    measuring.from_folder(folder_of(tmp_path / "people", 10, 4), "face", SHIPPED, model, material)
    assert (len(material.numbers), len({s.of for s in material.samples})) == (10, 40)
    assert material.left_out == {"several faces": 1, "no face": 1, "can't be used": 1}
    found = measuring.measured(material, "face", "sface-test", NAME)
    assert (found.material["people"], found.material["files"]) == (10, 40)
    assert found.rule.accept == pytest.approx((FACES.accept + 1) / 2, abs=0.05), "the truth: every cosine c became (c + 1) / 2"
    assert found.material["different_accepted"] <= found.material["different_accepted_by_reference"] + 0.005
    assert found.material["same_accepted"] == pytest.approx(found.material["same_accepted_by_reference"], abs=0.1)
    assert calibrated.thresholds(NAME, "face") is ARCFACE
    file = calibrated.keep(found)
    assert calibrated.thresholds(NAME, "face") == found.rule and calibrated.calibrated(NAME, "face") == found.rule
    assert calibrated.thresholds(NAME + "9", "face") is ARCFACE, "another file of weights is another model"
    assert [m.document() for m in calibrated.all_own()] == [found.document()]
    kept = file.read_text("utf-8")
    assert "Secret" not in kept and str(tmp_path) not in kept and max(len(line) for line in kept.splitlines()) < 100
    assert file.stat().st_mode & 0o077 == 0 or not hasattr(__import__("os"), "geteuid")
    assert calibrated.remove(NAME) and not calibrated.remove(NAME)
    assert calibrated.thresholds(NAME, "face") is ARCFACE


def test_too_little_is_refused_with_what_is_needed(tmp_path: Path) -> None:
    material = measuring.Material()
    measuring.from_folder(folder_of(tmp_path / "people", 3, 4), "face", SHIPPED, Fields(NAME), material)
    with pytest.raises(UsageError, match="3 people, 18 pairs of files of one person") as caught:
        measuring.measured(material, "face", "sface-test", NAME)
    assert "8 people" in caught.value.hint
    assert "Left out: 1 file (can't be used), 1 file (no face), 1 file (several faces)." in caught.value.hint
    with pytest.raises(UsageError, match="no folder"):
        measuring.from_folder(tmp_path / "nowhere", "face", SHIPPED, Fields(NAME), material)


def test_a_folder_of_which_nothing_can_be_used_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "flat").mkdir()
    for number in range(3):
        cv2.imwrite(str(tmp_path / "flat" / f"{number}.png"), photo(number, 0))
    material = measuring.Material()
    measuring.from_folder(tmp_path / "flat", "face", SHIPPED, Fields(NAME), material)
    with pytest.raises(UsageError, match="0 people, 0 pairs of files of one person, 0 pairs of two") as caught:
        measuring.measured(material, "face", "sface-test", NAME)
    assert "3 files (in no person's folder)" in caught.value.hint
    with pytest.raises(UsageError, match="0 people"):
        measuring.measured(measuring.Material(), "voice", "campplus-test", NAME)


def test_folders_of_one_name_are_one_person(tmp_path: Path) -> None:
    material = measuring.Material()
    for place in ("before", "after"):
        measuring.from_folder(folder_of(tmp_path / place, 5, 4), "face", SHIPPED, Fields(NAME), material)
    assert len(material.numbers) == 5 and material.person(" secret NAME 3 ") == 4
    with pytest.raises(UsageError, match="5 people"):
        measuring.measured(material, "face", "sface-test", NAME)


def test_a_model_that_tells_nobody_apart_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    for fill in (0.125, np.nan):
        model, material = SimpleNamespace(name=NAME, dimension=64), measuring.Material()
        model.embed = lambda _picture, faces, fill=fill: np.full((len(faces), 64), fill, np.float32)
        measuring.from_folder(folder_of(tmp_path / f"people {fill}", 9, 3), "face", SHIPPED, model, material)
        with pytest.raises(ModelFailed, match="does not tell these people apart"):
            measuring.measured(material, "face", "sface-test", NAME)


def test_of_too_many_samples_all_kinds_of_copies_are_compared_and_always_the_same() -> None:
    kinds, count = 4, 2 * measuring.MOST_SAMPLES
    one = np.ones((1, 1), np.float32)
    material = measuring.Material([measuring.Sample(1, str(i), one, one) for i in range(count)])
    used = material.used()
    assert len(used) == measuring.MOST_SAMPLES and used == material.used()
    shares = [sum(int(s.of) % kinds == kind for s in used) / len(used) for kind in range(kinds)]
    assert shares == pytest.approx([1 / kinds] * kinds, abs=0.05)


def test_named_people_of_a_memory_are_material_and_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def person(id_: str, state: str, ignored: bool = False) -> Any:
        return SimpleNamespace(id=id_, name="Ann", name_state=state, ignored=ignored)

    def track(id_: str, of: str, aside: bool = False) -> Any:
        return SimpleNamespace(person=of, set_aside=aside, track=SimpleNamespace(id=id_))

    people = [person("person_1", "confirmed"), person("person_2", "suggested"), person("person_3", "confirmed", True)]
    rows = [track("s1.c0.f0", "person_1"), track("s1.c0.f1", "person_2"), track("s1.c1.f0", "person_3"), track("s1.c2.f0", "person_1")]
    rows += [track("s1.c3.f0", "person_1", aside=True), track("s1.c4.f9", "person_1")]
    monkeypatch.setattr(measuring, "rows_of", lambda o, _media, _model: None if o.id.endswith("f9") else np.ones((1, 2)))
    reader: Any = SimpleNamespace(
        people=lambda: people, sources=lambda: [SimpleNamespace(id="s1")], tracks=lambda _source: rows, media=lambda _id: None
    )
    material = measuring.Material()
    measuring.from_memory(reader, "face", SHIPPED, Fields(NAME), material)
    assert [(s.person, s.of) for s in material.samples] == [(1, "s1.c0"), (1, "s1.c2")]
    assert material.person("ann") == 1, "a folder of that name is the same person's"
    assert material.left_out == {"nothing is stored of it": 1}


def test_a_real_memory_gives_the_stored_crops_of_those_who_have_names(tmp_path: Path) -> None:
    with app_at(tmp_path, None) as app:
        app.work.add([drawn_talk(tmp_path / "talk", 12)], Options(clip_seconds=3, writer="rules"))
        app.work.run()
        models = Models(face_vectors=ColourEmbedder(), voice_vectors=Octaves())

        def found(kind: Any, model: Any) -> measuring.Material:
            with app.reader() as reader:
                measuring.from_memory(reader, kind, models, model, material := measuring.Material())
            return material

        assert found("face", ColourEmbedder()).samples == []
        with app.reader() as reader:
            people = [p for p in reader.people() if p.faces]
        for person, name in zip(people, ("Ann", "Bob"), strict=True):
            app.correct("name", {"person": person.id, "name": name})
        faces = found("face", ColourEmbedder())
        assert len(faces.numbers) == 2 and {s.of for s in faces.samples} == {f"s1.c{i}" for i in range(4)}
        assert all(len(s.reference) == len(s.model) > 0 for s in faces.samples)
        assert found("voice", Octaves()).numbers == {}, "what is said is shorter than a second, and nobody's"


def test_recordings_are_cut_into_pieces_as_long_as_utterances_are() -> None:
    def seconds(length: float) -> list[float]:
        return [len(p) / SAMPLE_RATE for p in measuring.pieces(np.zeros(round(length * SAMPLE_RATE), np.float32))]

    assert seconds(12) == [1.5, 3, 8] and seconds(3.1) == [1.5, 3] and seconds(1.6) == [1.5] and seconds(1.2) == [1.2]
    assert seconds(0.8) == []


def test_what_m3desk_measured_is_never_replaced_by_a_file(tmp_path: Path) -> None:
    ours = calibration("sface-2021dec-w16", "face")
    bad = calibrated.Measured("sface-2021dec-w16", "face", replace(ours, accept=0.1), "x", {}, "now")
    calibrated.keep(bad)
    assert calibrated.thresholds("sface-2021dec-w16", "face") is ours


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(form=2),
        lambda d: d.update(model="arcface-another"),
        lambda d: d.update(kind="voice"),
        lambda d: d["thresholds"].update(accept=float("nan")),
        lambda d: d["thresholds"].update(accept=0.0),
        lambda d: d["thresholds"].update(accept=True),
        lambda d: d["thresholds"].update(accept=10**400),
        lambda d: d["thresholds"].update(accept=7.0),
        lambda d: d["thresholds"].update(similar=1.5),
        lambda d: d["thresholds"].update(margin=-1),
        lambda d: d["thresholds"].update(whole=1),
        lambda d: d["thresholds"].update(doubt=[1]),
        lambda d: d["thresholds"].update(evidence=[1, 2]),
        lambda d: d["thresholds"].pop("sure"),
        lambda d: d.update(thresholds=[]),
        lambda d: d.update(material=7),
    ],
)
def test_a_file_that_can_not_be_used_is_as_if_it_was_not_there(change: Any) -> None:
    rule = replace(ARCFACE, accept=0.3, measured=True)
    file = calibrated.keep(calibrated.Measured(NAME, "face", rule, "sface", {"people": 9}, "now"))
    assert calibrated.thresholds(NAME, "face") == rule
    document = json.loads(file.read_text())
    change(document)
    file.write_text(json.dumps(document))
    calibrated.forget_read()
    assert calibrated.thresholds(NAME, "face") is ARCFACE
    file.write_text("[" * 100_000)
    calibrated.forget_read()
    assert calibrated.thresholds(NAME, "face") is ARCFACE and calibrated.all_own() == []


def test_the_command_measures_keeps_shows_and_removes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Opened:
        def __init__(self, *_: Any, **_how: Any) -> None: ...

        def named(self, _port: str, name: str) -> Any:
            if name == "buffalo-l":
                raise ModelMissing("its weights are not here.", "Download them.")
            return Fields(NAME if name == "auraface" else "dlib-resnet-test", by=1.0)

        def models(self, *_ports: str) -> Models:
            return SHIPPED

        def get(self, _port: str) -> Any:
            return SHIPPED.face_vectors

    monkeypatch.setattr(calibrating, "Backends", Opened)
    monkeypatch.setattr(
        calibrating, "available", lambda port: {"auraface": 1, "buffalo-l": 1, "dlib-resnet": 1, "sface": 1} if port[0] == "f" else {}
    )
    people = str(folder_of(tmp_path / "people", 9, 4))
    assert main(["calibrate", "auraface", people, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["model"], told["kept"], told["material"]["people"]) == (NAME, True, 9) and told["left_out"]["no face"] == 1
    assert calibrated.thresholds(NAME, "face").measured
    assert main(["calibrate", "auraface", people]) == 0
    said = capsys.readouterr().out
    assert "9 people, 36 files" in said and "accept" in said and "(was 0.42)" in said and "Secret" not in said
    assert main(["calibrate", "dlib-resnet", people]) == 0
    assert "Nothing was kept" in capsys.readouterr().out and len(calibrated.all_own()) == 1
    assert main(["calibrate", "auraface", "--remove"]) == 0 and calibrated.all_own() == []
    assert main(["calibrate", "auraface", people]) == 0 and len(calibrated.all_own()) == 1
    assert main(["calibrate", NAME, "--remove"]) == 0 and calibrated.all_own() == [], "by its full name, where its weights are gone"
    capsys.readouterr()
    assert main(["calibrate", "buffalo-l", "--remove"]) == 1
    assert "Give the full name" in capsys.readouterr().err
    for words, wrong in (
        (["sface", people], "other models are measured by. Choose another: auraface, buffalo-l, dlib-resnet."),
        (["nobody", people], "no face or voice"),
        (["auraface"], "nothing"),
    ):
        assert main(["calibrate", *words]) == 2
        assert wrong in capsys.readouterr().err
