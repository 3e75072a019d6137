"""What the window is told of decisions about people: walls, links of a face and a voice, how sure a person is, the scorecard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from m3desk.app import App, judging
from m3desk.bench.hostile.made_graphs import kitchen, pickled
from m3desk.domain.calibration import calibration
from m3desk.domain.questions.scorecard import OwnedObservation, belonging, card
from m3desk.errors import CorrectionError, M3DeskError
from tests.engine.test_asking import WordsAlone
from tests.store.invented import clips, direction, remember, source


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    with App(tmp_path / "m.m3desk", backends=WordsAlone()) as opened:  # type: ignore[arg-type]
        opened.write(lambda m: m.plan_clips(m.add_source(source(seconds=300)).id, clips("s1", 10), fps=5.0))
        for people in ((1, 2), (1, 3), (3, 2)):
            opened.write(lambda m, people=people: remember(m, m.next_clips("s1")[0], people))  # type: ignore[misc]
        yield opened


def test_a_wall_is_listed_with_its_step_and_goes_when_it_is_taken_back(app: App) -> None:
    a, b = (p.id for p in app.reader().people()[:2])
    step = app.correct("distinct", {"a": a, "b": b}, why="twins").step
    (wall,) = judging.walls(app.reader())
    assert (wall.step, {wall.a, wall.b}, wall.why, wall.state) == (step, {a, b}, "twins", "kept") and "apart" in wall.text
    app.revert(wall.step)
    assert judging.walls(app.reader()) == []


def test_the_pairs_of_a_scorecard_are_drawn_and_scored(app: App) -> None:
    pairs = judging.pairs(app.reader(), 6)
    assert pairs and all(a < b for a, b in pairs)
    score = judging.score(app.reader(), dict.fromkeys(pairs, True))
    assert score.answered == len(pairs) and score.recall is not None


def test_how_sure_a_person_is_comes_from_all_pairs_of_their_own(app: App) -> None:
    with app.reader() as reader:
        person = next(p for p in reader.people() if len(p.clips) > 1)
        found = judging.belonging_of(reader, person.id)
        assert found.pairs > 0 and found.probability is not None and 0 <= found.probability <= 1
        mine = {b.observation for b in reader.bindings() if b.node in (*person.faces, *person.voices)}
        assert {o for o, _ in found.least} <= mine
        with pytest.raises(CorrectionError):
            judging.belonging_of(reader, "person_99")


def test_one_face_of_another_makes_a_person_less_sure_and_is_named() -> None:
    def rows(strange: bool) -> list[OwnedObservation]:
        who = [1, 1, 1, 1, 1, 2 if strange else 1]
        return [OwnedObservation(f"s1.c{k}.f0", "face", "p", direction(w, 0.2, k, 64, 5)[0]) for k, w in enumerate(who)]

    rules = {"face": calibration("sface 2021dec", "face")}
    one, other = (belonging(card(rows(strange), rules)) for strange in (False, True))  # type: ignore[arg-type]
    assert one.probability is not None and other.probability is not None
    assert one.probability > 0.9 > other.probability and other.least[0][0] == "s1.c5.f0"
    assert belonging(card(rows(False)[:1], rules)).probability is None  # type: ignore[arg-type]


def test_links_say_who_voted(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.pkl"
    path.write_bytes(pickled(kitchen(), 4))
    with App(tmp_path / "k.m3desk", backends=WordsAlone()) as app:  # type: ignore[arg-type]
        app.import_file(path)
        with app.reader() as reader:
            person = next(p for p in reader.people() if p.faces and p.voices)
            (link,) = [x for x in judging.links_of(reader, person.id) if x.joined]
            assert link.face in person.faces and link.voice in person.voices and link.by and link.weight > 0
            assert judging.belonging_of(reader, person.id).probability is None  # its vectors are of no model here


def test_a_file_that_is_no_truth_is_refused(app: App, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(M3DeskError), app.reader() as reader:
        judging.evaluate(reader, [str(tmp_path / "notes.txt")])
