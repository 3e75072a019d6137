"""An export holds the whole memory in the documented form; import makes the same memory of it."""

from __future__ import annotations

import copy
import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from m3desk.errors import ImportProblem, UsageError
from m3desk.interop import doctor, exports, imports
from m3desk.store.memory import Memory
from tests.store.invented import clips, remember, source

KEYS = {
    "sources": {"id", "uri", "duration", "width", "height", "fps", "started_at", "sha256"},
    "clips": {"id", "source", "index", "start", "end", "state", "error"},
    "face_tracks": {"id", "clip", "start", "end", "boxes", "score", "quality", "node", "person", "set_aside", "replaces",
        "continues"},
    "utterances": {"id", "clip", "start", "end", "text", "words", "language", "confidence", "node", "person", "set_aside", "replaces"},
    "objects": {"clip", "start", "end", "label", "score", "box"},
    "texts_on_screen": {"clip", "start", "end", "text", "score", "box"},
    "nodes": {
        "id", "type", "content", "weight", "clip", "start", "end", "people", "spans", "citations", "topic", "valid_until", "pinned",
        "quoted", "model", "extra_data",
    },
    "edges": {"a", "b", "weight", "kind"},
    "people": {"id", "name", "name_state", "suggested_names", "aliases", "faces", "voices", "ignored"},
    "equivalences": {"a", "b", "face", "voice", "weight", "votes", "accepted"},
    "bindings": {"observation", "node", "score", "runner_up", "margin", "by", "at", "sequence", "superseded"},
    "constraints": {"kind", "a", "b", "by", "state"},
    "journal": {"step", "sequence", "kind", "args", "anchor", "at", "by", "why", "undone"},
}  # fmt: skip
"""What contract.md promises of each list."""


@pytest.fixture
def memory(tmp_path: Path):
    with Memory.create(tmp_path / "m.m3desk") as made:
        for name in ("a", "b"):
            kept = made.add_source(source(name))
            made.plan_clips(kept.id, clips(kept.id, 2), fps=5.0)
            for clip in made.next_clips(kept.id):
                remember(made, clip, (1, 2 + clip.index))
        made.correct("name", {"person": "1", "name": "Ann Lee"})
        made.correct("assign", {"observations": ["s1.c1.f1"], "person": None, "name": "Bob"})
        made.correct("edit", {"node": "episodic_5", "text": "Ann Lee & Person 2 <meet>"})
        made.correct("delete", {"node": "episodic_8"})
        made.undo()
        made.add_chat({"question": "who?", "answer": "Ann"})
        yield made


def test_every_promised_key_is_there(memory: Memory) -> None:
    document = exports.export_json(memory)
    assert (document["format"], document["version"]) == ("m3desk", 1)
    for name, keys in KEYS.items():
        assert document[name], name
        assert all(keys <= row.keys() for row in document[name]), name
    assert json.loads(json.dumps(document)) == document  # nothing but what JSON holds
    track = document["face_tracks"][0]
    assert track["boxes"][1][0] == 0.2 and len(track["boxes"][0]) == 5 and track["person"] == "person_1"
    node = next(n for n in document["nodes"] if n["id"] == "episodic_5")
    assert [node["content"][s["start"] : s["end"]] for s in node["spans"]] == ["someone", "someone"]
    assert set(node["spans"][0]) == {"start", "end", "observations", "node", "person"} and node["extra_data"]["clips"] == ["s1.c0"]
    assert set(document["equivalences"][0]["votes"][0]) == {"clip", "by", "weight", "sequence", "at"} and node["at"]  # when it was learned


@pytest.mark.parametrize("with_media", [False, True])
def test_export_import_export_is_the_same(memory: Memory, tmp_path: Path, with_media: bool) -> None:
    path = tmp_path / "x.json"
    exports.export(memory, path, with_media=with_media)
    with Memory.create(tmp_path / "again.m3desk") as again:
        report = imports.write(imports.load(path), again)
        assert report["clips"] == 4 and (report["embeddings"] > 0) == with_media
        assert exports.same_memory(exports.export_json(memory), exports.export_json(again)) == []
        assert doctor.check(again)["ok"]
        crop = memory.tracks("s1")[0].track.crops[0]
        assert again.media(crop) == (memory.media(crop) if with_media else None)
        again.undo(3)
        assert again.person("person_1").name is None
        other = again.add_source(source("c"))
        again.plan_clips(other.id, clips(other.id, 1), fps=5.0)
        remember(again, again.next_clips("s3")[0], (1,))
        assert (again.tracks("s3")[0].person == "person_1") == with_media  # without embeddings nobody can be recognised


def test_media_never_take_the_place_of_somebody_elses_folder(memory: Memory, tmp_path: Path) -> None:
    path, folder = tmp_path / "x.json", tmp_path / "x.media"
    folder.mkdir()
    exports.export(memory, path, with_media=True)  # an empty one is nobody's
    exports.export(memory, path, with_media=True, overwrite=True)  # and one of an earlier export is ours
    before = path.read_bytes()
    (folder / "embeddings.f32").unlink()
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match="no export"):
        exports.export(memory, path, with_media=True, overwrite=True)
    assert (folder / "thesis.tex").read_text() == "years of work" and path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.m3desk", "x.json", "x.media"]


def test_where_a_removed_source_lay_is_no_difference(memory: Memory) -> None:
    memory.remove_source("s2")
    a = exports.export_json(memory)
    b = copy.deepcopy(a)
    (key,) = (k for k in b["log"]["meta"] if k.startswith("removed_"))
    b["log"]["meta"][key] = "/elsewhere/b.mp4"
    assert exports.same_memory(a, b) == []


def test_differences_are_found_and_dates_and_paths_are_none(memory: Memory) -> None:
    a = exports.export_json(memory)
    b = copy.deepcopy(a)
    b["sources"][0]["uri"] = "/elsewhere"
    b["bindings"][0]["at"] = b["journal"][0]["at"] = "2000-01-01"
    for row in b["log"]["commits"]["rows"]:
        row[b["log"]["commits"]["columns"].index("at")] = "2000-01-01"
    assert exports.same_memory(a, b) == []
    b["log"]["vote"]["rows"][0][4] = 0.25
    b["people"][0]["name"] = "Eve"
    del b["edges"][-1]
    assert len(exports.same_memory(a, b)) == 3


def test_import_refuses_what_is_no_export_and_writes_nothing(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    document = exports.export_json(memory)

    def broken(change: object) -> None:
        bad = copy.deepcopy(document)
        change(bad)  # type: ignore[operator]
        path.write_text(json.dumps(bad))
        with Memory.open_or_create(tmp_path / "e.m3desk") as empty:
            with pytest.raises(ImportProblem):
                imports.write(imports.load(path), empty)
            assert empty.sources() == [] and empty.graph().nodes == ()

    for key in ("sources", "log", "utterances"):
        broken(lambda d, key=key: d.pop(key))
    broken(lambda d: d.update(format="other"))
    broken(lambda d: d.update(version=99))
    broken(lambda d: d["face_tracks"].pop())
    broken(lambda d: d["log"]["node"]["rows"].pop(0))
    broken(lambda d: d["face_tracks"][0].update(crops=["../../etc/passwd"]))
    broken(lambda d: d["clips"][0].pop("start"))
    broken(lambda d: d["log"]["node"]["rows"][0].__setitem__(0, {"no": "id"}))
    broken(lambda d: d["log"]["node"]["rows"][0].__setitem__(1, 2**70))
    path.write_text("[1, 2")
    with Memory.open_or_create(tmp_path / "e.m3desk") as empty, pytest.raises(ImportProblem):
        imports.write(imports.load(path), empty)
    exports.export(memory, path, overwrite=True)
    with pytest.raises(ImportProblem):
        imports.write(imports.load(path), memory)


def test_rttm_names_speakers_without_spaces(memory: Memory, tmp_path: Path) -> None:
    exports.export(memory, tmp_path / "x.rttm")
    lines = (tmp_path / "x.rttm").read_text().splitlines()
    assert lines[0] == "SPEAKER a 1 1.000 4.000 <NA> <NA> Ann_Lee <NA> <NA>" and len(lines) == 8
    assert {line.split()[1] for line in lines} == {"a", "b"}


def test_an_export_tells_whether_a_film_has_speech(memory: Memory, tmp_path: Path) -> None:
    for ending in ("srt", "vtt", "rttm"):
        assert exports.export(memory, tmp_path / f"a.{ending}", source="s1")
    for row in memory.speech("s1"):
        memory.correct("set-aside", {"observations": [row.utterance.id]})
    for ending in ("srt", "vtt", "rttm"):
        assert not exports.export(memory, tmp_path / f"b.{ending}", source="s1"), ending
    assert exports.export(memory, tmp_path / "b.csv")


def test_subtitles_need_one_source_and_say_who_speaks(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        exports.export(memory, tmp_path / "x.vtt")
    exports.export(memory, tmp_path / "x.vtt", source="s1")
    exports.export(memory, tmp_path / "x.srt", source="s1")
    vtt, srt = (tmp_path / "x.vtt").read_text(), (tmp_path / "x.srt").read_text()
    assert vtt.startswith("WEBVTT\n\n") and "00:00:01.000 --> 00:00:05.000\n<v Ann Lee>We drink &lt;person_9&gt; tea." in vtt
    assert srt.startswith("1\n00:00:01,000 --> 00:00:05,000\nAnn Lee: We drink <person_9> tea.\n")


def test_other_programs_can_read_graph_table_and_page(memory: Memory, tmp_path: Path) -> None:
    for ending in ("graphml", "csv", "html"):
        exports.export(memory, tmp_path / f"x.{ending}")
    tree = ElementTree.parse(tmp_path / "x.graphml").getroot()
    name = "{http://graphml.graphdrawing.org/xmlns}"
    assert len(list(tree.iter(name + "node"))) == len(memory.graph().nodes) and len(list(tree.iter(name + "edge"))) == len(
        memory.graph().edges
    )
    rows = list(csv.reader(io.StringIO((tmp_path / "x.csv").read_text())))
    assert len(rows) == 1 + len(memory.memories())
    assert "Ann Lee &amp; Person 2 &lt;meet&gt;" in (tmp_path / "x.html").read_text()
    with pytest.raises(UsageError):
        exports.export(memory, tmp_path / "x.docx")
