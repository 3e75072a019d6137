"""Clips written again by another writer: nothing in force changes until the user chooses, and what they decided stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from m3desk.app import App
from m3desk.app.rewriting import Rewritten, chosen
from m3desk.cli import main
from m3desk.domain.clip import Clip, Source
from m3desk.errors import CorrectionError, UsageError
from m3desk.work import Options
from tests.engine.made import drawn_talk
from tests.memorization.watched.made import ScriptedWatcher, reply
from tests.memorization.watched.test_remembered import WATCHED, app_at

SECOND = reply((0, 3, "<face_1> carries a cello."), knowledge=["<face_1> plays the cello."])


def texts(app, clip="s1.c0"):
    with app.reader() as reader:
        return [s.text for s in reader.memories(clip=clip)]


def by_rules(folder: Path, *replies: str):
    """A memory written by rules, and a model that gives these replies."""
    app = app_at(folder, ScriptedWatcher(list(replies)))
    app.work.add([drawn_talk(folder / "talk")], Options(clip_seconds=5, end=5_000_000, writer="rules"))
    app.work.run()
    return app


def test_a_rewritten_clip_shows_both_writers_until_the_user_chooses_and_can_be_undone(tmp_path: Path) -> None:
    with by_rules(tmp_path, WATCHED) as app:
        before = texts(app)
        assert app.rewrite(["s1.c0"], "scripted").clips == ("s1.c0",)
        assert texts(app) == before, "nothing in force changes"
        with app.reader() as reader:
            (version,) = reader.versions()
            people = reader.people()
        assert version.writer == "watched by scripted: scripted-1, prompt watch-1"
        assert any("violin" in s for s in version.shown) and any(s.startswith("Person") for s in version.shown)
        effect = app.correct("choose", {"clip": "s1.c0"}, dry_run=True)
        assert "takes the version “watched by scripted" in effect.text and texts(app) == before
        app.correct("choose", {"clip": "s1.c0"})
        now = texts(app)
        assert any("violin" in t for t in now) and [t for t in now if "“" in t] == [t for t in before if "“" in t]
        assert not any("from the start" in t or "in view" in t for t in now)
        with app.reader() as reader:
            assert reader.people() == people, "who is who does not change"
            assert reader.versions() == []
        assert app.check()["ok"]
        app.undo()
        assert texts(app) == before and app.check()["ok"]
        app.redo()
        assert texts(app) == now and app.check()["ok"]
        with pytest.raises(CorrectionError, match="no other sentences"):
            app.correct("choose", {"clip": "s1.c0"})
        app.rewrite(["s1.c0"], "rules")
        app.correct("choose", {"clip": "s1.c0"})
        assert sorted(texts(app)) == sorted(before) and app.check()["ok"]


def test_what_the_user_decided_on_and_what_knowledge_rests_on_stays(tmp_path: Path) -> None:
    with by_rules(tmp_path, WATCHED, SECOND) as app:
        with app.reader() as reader:
            pinned, edited, *_ = (s for s in reader.memories(kind="episodic") if s.event != "says")
        app.correct("pin", {"memory": pinned.id})
        app.correct("edit", {"memory": edited.id, "text": "A man comes in."})
        app.correct("add", {"text": "I filmed this.", "clip": "s1.c0"})
        app.rewrite(["s1.c0"], "scripted")
        app.correct("choose", {"clip": "s1.c0"})
        kept = texts(app)
        assert {pinned.text, "A man comes in.", "I filmed this."} < set(kept) and any("violin" in t for t in kept)
        app.rewrite(["s1.c0"], "scripted")
        app.correct("choose", {"clip": "s1.c0"})
        kept = texts(app)
        assert not any("violin" in t for t in kept), "what an earlier model wrote is replaced, its knowledge too"
        assert sum("cello" in t for t in kept) == 2 and {"A man comes in.", "I filmed this."} < set(kept)
        assert app.check()["ok"]


def test_a_clip_that_can_not_be_written_again_stays_as_it_is(tmp_path: Path) -> None:
    with by_rules(tmp_path, "no", "no", WATCHED) as app:
        before = texts(app)
        done = app.rewrite(["s1.c0"], "scripted")
        assert done.clips == () and "no usable reply" in done.failed["s1.c0"] and texts(app) == before
        with pytest.raises(UsageError, match="no writer"):
            app.rewrite(["s1.c0"], "nobody")
        (tmp_path / "talk.mkv").unlink()
        with pytest.raises(UsageError, match="is not there"):
            app.rewrite(["s1.c0"], "scripted")
        assert app.rewrite(["s1.c0"], "rules").clips == ("s1.c0",), "rules need no file"


def test_forgetting_takes_versions_and_what_an_undone_choice_wrote(tmp_path: Path) -> None:
    with by_rules(tmp_path, WATCHED, SECOND) as app:
        app.rewrite(["s1.c0"], "scripted")
        app.correct("choose", {"clip": "s1.c0"})
        app.undo()
        app.rewrite(["s1.c0"], "scripted")
        with app.reader() as reader:
            people = [p.id for p in reader.people()]
        for person in people:
            assert not app.forget(person)["findings"]
        with app.reader() as reader:
            assert reader.versions() == []
        assert b"violin" not in (tmp_path / "m.m3desk" / "memory.sqlite").read_bytes() and app.check()["ok"]


def test_a_removed_source_takes_its_versions_and_a_rebuilt_one_is_as_its_run_wrote_it(tmp_path: Path) -> None:
    with by_rules(tmp_path, WATCHED) as app:
        before = texts(app)
        app.rewrite(["s1.c0"], "scripted")
        app.correct("choose", {"clip": "s1.c0"})
        app.work.add([tmp_path / "talk.mkv"], Options(clip_seconds=5, end=5_000_000, writer="rules", rebuild=True))
        app.work.run()
        assert texts(app, "s2.c0") == before and app.check()["ok"]
        app.rewrite(["s2.c0"], "rules")
        app.work.remove("s2")
        with app.reader() as reader:
            assert reader.versions() == []


def test_the_command_says_how_to_go_on_only_if_a_clip_was_written_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with by_rules(tmp_path):
        pass
    memory = str(tmp_path / "m.m3desk")
    assert main(["rewrite", memory, "--writer", "rules"]) == 0
    assert "Use them" in capsys.readouterr().out
    monkeypatch.setattr(App, "rewrite", lambda *_: Rewritten((), {"s1.c0": "The model does not see."}))
    assert main(["rewrite", memory, "--writer", "rules"]) == 1
    said = capsys.readouterr()
    assert "Use them" not in said.out and "does not see" in said.err


def test_clips_are_named_by_numbers_ids_and_ranges() -> None:
    def source(n: int) -> Source:
        return Source(f"s{n}", "f", 1, 1, 1, 1.0, True, None)

    clips = [Clip(f"s1.c{i}", "s1", i, i, i + 1, "done" if i != 3 else "failed") for i in range(5)]
    assert chosen(None, [source(1)], clips) == ["s1.c0", "s1.c1", "s1.c2", "s1.c4"]
    assert chosen("0-2, s1.c4", [source(1)], clips) == ["s1.c0", "s1.c1", "s1.c2", "s1.c4"]
    assert chosen("s1.c2-s1.c0", [source(1)], clips) == ["s1.c0", "s1.c1", "s1.c2"]
    assert chosen("s2", [source(1), source(2)], [*clips, Clip("s2.c0", "s2", 0, 0, 1, "episodic")]) == ["s2.c0"]
    assert chosen("1-9", [source(1)], clips) == ["s1.c1", "s1.c2", "s1.c4"], "a range beyond the last clip ends there"
    for wrong in ("3", "9", "7-9", "x", "0-", "1;2", "s1.c1-s9.c1"):
        with pytest.raises(UsageError, match="names no memorized clip"):
            chosen(wrong, [source(1)], clips)
    with pytest.raises(UsageError):
        chosen("0", [source(1), source(2)], clips)


def test_the_command_shows_both_sides_takes_and_drops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with by_rules(tmp_path, WATCHED) as app:
        app.rewrite(["s1.c0"], "scripted")
    memory = str(tmp_path / "m.m3desk")
    assert main(["rewrite", memory, "--show", "--json"]) == 0
    (side,) = json.loads(capsys.readouterr().out)
    assert side["clip"] == "s1.c0" and {s["writer"] for s in side["now"]} == {"composed-6"}
    assert any("violin" in s["text"] and s["writer"].startswith("watched by scripted") for s in side["new"])
    assert main(["rewrite", memory, "--show"]) == 0
    assert "watched by scripted: scripted-1, prompt watch-1" in capsys.readouterr().out
    assert main(["rewrite", memory, "--drop"]) == 0
    assert main(["rewrite", memory, "--show"]) == 2
    assert "no clip was written again" in capsys.readouterr().err
