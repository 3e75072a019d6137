"""What is seen and heard within a span of time is read by an index, whatever else the source holds."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from m3desk.bench import scale_window
from m3desk.store import reading
from m3desk.store.memory import Memory

READS = ("tracks", "speech", "objects", "texts")


@pytest.mark.parametrize("name", READS)
def test_a_span_of_time_gives_the_rows_that_reach_into_it(tmp_path: Path, name: str) -> None:
    scale_window.grow(tmp_path / "m.m3desk", 6)
    with Memory.open(tmp_path / "m.m3desk", write=True) as memory:
        db, dice = memory._db, random.Random(3)
        for id_ in range(40):
            start = dice.randrange(180)
            times = start, start + dice.choice((0, 1, 5, 90))
            for table, what in (("object_seen", "label"), ("text_on_screen", "text")):
                db.execute(f"INSERT INTO {table} VALUES (?, 1, 's1', 's1.c0', ?, ?, '{what}', 1, '[0, 0, 1, 1]')", (id_, *times))
        tables = dict(zip(READS, ("face_track", "utterance", "object_seen", "text_on_screen"), strict=True))
        every = {r["id"]: (r["start"], r["end"]) for r in db.execute(f"SELECT * FROM {tables[name]}")}
        read = getattr(reading, name)
        for _ in range(200):
            unit = 1 if name in ("objects", "texts") else 1_000_000
            start, end = (dice.choice((None, dice.randrange(-5, 190) * unit)) for _ in range(2))
            found = [getattr(r, "track", getattr(r, "utterance", r)) for r in read(db, "s1", start, end)]
            spans = sorted(s for s in every.values() if (start is None or s[1] > start) and (end is None or s[0] < end))
            assert sorted((o.start, o.end) for o in found) == spans
        assert read(db, "s2", 0, 10) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", READS)
def test_reading_the_last_moments_takes_no_longer_in_a_long_source(tmp_path: Path, name: str) -> None:
    steps = {}
    for count in (3, 30):
        path = tmp_path / f"{count}.m3desk"
        scale_window.grow(path, count)
        with Memory.open(path, write=True) as memory:
            for clip in memory.clips("s1")[:count]:
                for table in ("object_seen", "text_on_screen"):
                    row = (clip.id, clip.start, clip.end)
                    memory._db.execute(f"INSERT INTO {table} VALUES (NULL, 1, 's1', ?, ?, ?, 'x', 1, '[0, 0, 1, 1]')", row)
            last = memory.clips("s1")[count - 1]
            done = [0]
            memory._db.set_progress_handler(lambda done=done: done.__setitem__(0, done[0] + 1), 1)
            getattr(memory, name)("s1", last.start, last.end)
            memory._db.set_progress_handler(None, 0)
            steps[count] = done[0]
    assert steps[30] <= 1.5 * steps[3], steps
