"""An export is validated completely before anything is written: one line with the path of the wrong value, and no memory."""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from m3desk import cli
from m3desk.bench.hostile import documents
from m3desk.errors import ImportProblem, WrongFile, is_slip
from m3desk.interop import doctor, exports, imports
from m3desk.store.memory import Memory


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A folder with `good.json` and `good.media`, and the document."""
    folder = tmp_path_factory.mktemp("export")
    return folder, documents.exported(folder)


TOLD = {
    "an end without end": "is damaged",
    "an end before the start": r"clips\[0\]\.end: it is before the start",
    "a text as quality": r"face_tracks\[0\]\.quality: a number was expected, not text",
    "a number of 400 digits": r"face_tracks\[0\]\.quality: ",
    "an index of 400 digits": r"clips\[0\]\.index: ",
    "half a letter": r"utterances\[0\]\.text: .*half a letter",
    "a text of 3 MB": r"utterances\[0\]\.text: a text of at most",
    "lists in lists": "is not an export of M3Desk",
    "lists in a chat": r"chats\[0\]: is nested too deeply",
    "ten million lists": "far more values",
    "two versions": "format version",
    "nothing": "is not an export of M3Desk",
    "another document": "lacks sources",
    "an observation in its own place": "in its own place",
    "a counter behind": r"log\.meta\.last_node",
}


@pytest.mark.parametrize("name", TOLD)
def test_the_first_wrong_value_is_named_and_nothing_is_written(
    made: tuple[Path, dict[str, Any]], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(documents.absurd(made[1])[name]().encode("utf-8", "surrogatepass"))
    with pytest.raises(ImportProblem, match=TOLD[name]):
        imports.load(path)
    assert cli.main(["import", str(path), "-m", str(tmp_path / "new.m3desk")]) == 1
    assert capsys.readouterr().err.count("\n") == 1 and [p.name for p in tmp_path.iterdir()] == ["x.json"]


@pytest.mark.parametrize("key", ["nodes", "edges", "people", "equivalences", "bindings", "constraints", "enrolments", "journal"])
def test_lists_that_are_made_anew_may_hold_anything(made: tuple[Path, dict[str, Any]], tmp_path: Path, key: str) -> None:
    bad = copy.deepcopy(made[1])
    bad[key] = "x"
    (tmp_path / "x.json").write_text(json.dumps(bad))
    with Memory.create(tmp_path / "m.m3desk") as memory:
        assert imports.write(imports.load(tmp_path / "x.json"), memory)["memories"] == len(memory.memories())
        assert doctor.check(memory)["ok"]


def test_an_export_of_an_older_version_comes_back(made: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    older = copy.deepcopy(made[1])
    for table in ("renamed", "tombstone", "unwanted"):
        del older["log"][table]
    (tmp_path / "x.json").write_text(json.dumps(older))
    with Memory.create(tmp_path / "m.m3desk") as memory:
        imports.write(imports.load(tmp_path / "x.json"), memory)
        assert exports.same_memory(exports.export_json(memory), made[1]) == []


def reference(table: str, column: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(d: dict[str, Any]) -> None:
        part = d["log"][table]
        part["rows"][0][part["columns"].index(column)] = value

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (reference("span", "node", "episodic_99"), r"log\.span\.rows\[0\]\.node: there is no node episodic_99"),
        (reference("binding", "node", "face_99"), r"log\.binding\.rows\[0\]\.node: there is no node"),
        (reference("binding", "observation", "s1.c0.f77"), r"log\.binding\.rows\[0\]\.observation: there is no observation"),
        (reference("binding", "sequence", 999), r"log\.binding\.rows\[0\]\.sequence: there is no commit 999"),
        (reference("vote", "weight", "much"), r"log\.vote\.rows\[0\]\.weight: a number was expected, not text"),
        (reference("journal", "kind", "dance"), r"log\.journal\.rows\[0\]\.kind: “dance” is none of"),
        (reference("journal", "args", "{}"), r"log\.journal\.rows\[0\]\.args: the step “name” lacks person"),
        (reference("journal", "args", '{"person": 3, "name": "A"}'), r"log\.journal\.rows\[0\]\.args: person: "),
        (reference("journal", "args", '{"person":'), r"log\.journal\.rows\[0\]\.args: broken JSON"),
        (lambda d: d["clips"][0].update(source="s7"), r"clips\[0\]\.source: there is no source s7"),
        (lambda d: d["face_tracks"][0].update(clip="s1.c9"), r"face_tracks\[0\]\.clip: there is no clip"),
        (lambda d: d["face_tracks"].append(d["face_tracks"][0]), r"face_tracks\[\d+\]\.id: s1\.c0\.f0 is there twice"),
        (lambda d: d["sources"][0].update(id="../s1"), r"sources\[0\]\.id: “../s1” is no id of this kind"),
        (lambda d: d["log"].update(clip=3), r"log\.clip: an object was expected, not a number"),
        (lambda d: d["utterances"][0].pop("words"), r"utterances\[0\]: words is missing"),
        (lambda d: d["log"]["face_track_sequence"].popitem(), r"log\.face_track_sequence: s1\..* is missing"),
    ],
)
def test_references_go_to_something(
    made: tuple[Path, dict[str, Any]], tmp_path: Path, change: Callable[[dict[str, Any]], None], told: str
) -> None:
    bad = copy.deepcopy(made[1])
    change(bad)
    (tmp_path / "x.json").write_text(json.dumps(bad))
    with pytest.raises(ImportProblem, match=told):
        imports.load(tmp_path / "x.json")


def test_what_only_the_fold_can_refuse_is_rolled_back_with_its_media(made: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    export = imports.load(made[0] / "good.json")
    log = copy.deepcopy(export.parts["log"])
    at = log["journal"]["columns"].index("args")
    log["journal"]["rows"][0][at] = "{}"  # as if nobody had looked
    with Memory.create(tmp_path / "m.m3desk") as memory:
        with pytest.raises(ImportProblem, match="does not fit together"):
            memory.restore(**{**export.parts, "log": log})
        assert not memory.sources() and not list((tmp_path / "m.m3desk").rglob("*.jpg"))
        imports.write(export, memory)
        assert doctor.check(memory)["ok"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("what", ["link", "pipe", "folder", "another", "short", "no numbers", "odd index", "no index"])
def test_unexpected_files_beside_an_export_are_refused_at_once(made: tuple[Path, dict[str, Any]], tmp_path: Path, what: str) -> None:
    shutil.copy(made[0] / "good.json", tmp_path / "good.json")
    beside = tmp_path / "good.media"
    shutil.copytree(made[0] / "good.media", beside)
    crop, numbers, index = next(beside.glob("*.jpg")), beside / "embeddings.f32", beside / "embeddings.json"
    if what in ("link", "pipe", "folder"):
        crop.unlink()
        {"link": lambda: crop.symlink_to(numbers), "pipe": lambda: os.mkfifo(crop), "folder": crop.mkdir}[what]()
    elif what == "another":
        crop.write_bytes(b"another picture")
    elif what == "short":
        numbers.write_bytes(numbers.read_bytes()[:100])
    elif what == "no numbers":
        numbers.write_bytes(b"\xff" * numbers.stat().st_size)
    elif what == "odd index":
        index.write_text('[{"owner": 3}]')
    else:
        index.unlink()
        index.symlink_to("/nowhere")
    with pytest.raises(ImportProblem) as told:
        imports.load(tmp_path / "good.json")
    assert "\n" not in told.value.line()


def test_a_pipe_or_device_in_the_place_of_an_export_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "x.json")
    os.mkfifo(tmp_path / "x.pkl")
    for name in ("x.json", "x.pkl"):
        assert cli.main(["import", str(tmp_path / name), "-m", str(tmp_path / "m")]) == 1
        assert "named pipe" in capsys.readouterr().err and not (tmp_path / "m").exists()


@pytest.mark.slow
def test_changed_exports_are_refused_or_imported_whole(tmp_path: Path) -> None:
    """A few of the generator of `m3desk bench hostile`, without a process each."""
    outcomes = {"refused": 0, "imported": 0}
    for count, case in enumerate(documents.cases(tmp_path, random.Random(11))):
        if count < 21:
            continue  # those with a name are tried above
        if count > 50:
            break
        folder = tmp_path / f"{count}.m3desk"
        with Memory.create(folder) as memory:
            try:
                imports.write(imports.load(Path(case.arguments[1])), memory)
                outcomes["imported"] += 1
                assert doctor.check(memory)["ok"], case.name
            except ImportProblem as problem:
                outcomes["refused"] += 1
                assert "\n" not in problem.line() and not memory.sources(), case.name
    assert min(outcomes.values()) >= 3


@pytest.mark.parametrize("text", ["milk, eggs\n", "[1, 2]", '{"format": "other"', ""])
def test_a_file_of_another_kind_is_told_in_plain_words_with_where_exports_come_from(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(WrongFile) as told:
        imports.load(tmp_path / "bad.json")
    assert told.value.line() == "bad.json is not an export of M3Desk. Give a .json that File > Export or `m3desk export` wrote."
    assert is_slip(told.value), "nothing to report to the developers"


def test_an_export_that_was_cut_off_is_called_damaged(made: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    whole = (made[0] / "good.json").read_text()
    (tmp_path / "half.json").write_text(whole[: len(whole) // 2])
    with pytest.raises(ImportProblem, match=r"half\.json is damaged: it was cut off") as told:
        imports.load(tmp_path / "half.json")
    assert not is_slip(told.value)
