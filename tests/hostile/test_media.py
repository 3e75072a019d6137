"""Damaged copies of small films are read as far as they go or refused; each kind of hostile file ends in a try of the benchmark."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from m3desk.bench.hostile import films, media
from m3desk.bench.hostile.measuring import clear
from m3desk.bench.hostile.running import Runner, left, wrong
from m3desk.errors import SourceError
from m3desk.media import photo
from m3desk.media.cutter import FileClip, plan
from m3desk.media.file import probe, readable_until


@pytest.mark.timeout(60)
def test_damaged_films_are_read_as_far_as_they_go_or_refused_in_a_line(tmp_path: Path) -> None:
    chance = random.Random(7)
    whole = films.films(tmp_path)
    read = 0
    for number in range(64):
        film = whole[number % len(whole)]
        done, data = films.damaged(film.read_bytes(), whole[0].read_bytes(), chance)
        file = tmp_path / f"{number}{film.suffix}"
        file.write_bytes(data)
        try:
            source = replace(probe(file), id="s1")
            clips = plan(source, readable=readable_until(file, source.duration or 0))
            for clip in clips[:3]:
                given = FileClip(source, clip, str(file), 1.0)
                assert all(f.picture.shape[2] == 3 for f in given.frames()), done
                assert given.sound().dtype == "float32"
            assert len(clips) <= 130, done  # an hour: a still picture may be held so long
            read += 1
        except SourceError as error:
            assert "\n" not in error.line() and error.hint, (done, error)
    assert 10 < read < 64


@pytest.mark.timeout(60)
def test_damaged_photos_are_read_or_refused_in_a_line(tmp_path: Path) -> None:
    chance = random.Random(7)
    read = refused = 0
    for number, whole in enumerate(films.photos(tmp_path) * 10):
        _, data = films.damaged(whole.read_bytes(), b"", chance)
        file = tmp_path / f"{number}{whole.suffix}"
        file.write_bytes(data)
        try:
            assert photo.read(file).ndim == 3
            read += 1
        except SourceError as error:
            assert "\n" not in error.line()
            refused += 1
    assert min(read, refused) > 3, "both are tried"


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_few_tries_of_the_benchmark_go_well(tmp_path: Path) -> None:
    (tmp_path / "media").mkdir()
    with Runner(tmp_path / "runner") as runner:
        for case in islice(media.cases(tmp_path / "media", random.Random(11)), 2):
            outcome = runner.run(case)
            assert wrong(case, outcome) + left(case, outcome, runner, checked=False) == [], (case, outcome)
            clear(case)
