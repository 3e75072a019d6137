"""Print which voices a memory gives to which faces, right or wrong, why the others stay open, and every sentence on the wrong person.

    python -m tests.memorization.measure_links BASE.m3desk [TRUTH.json …] [--as-is]

The base's evidence is bound, voted on and told again with the code of now (tests/identity/replay.py), unless `--as-is`. Without a truth the
reel's is taken, with boxes for scenes of several people (found by a detector, grouped by place, checked by eye).
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from m3desk.bench.material import data
from m3desk.domain.clip import MICROSECOND, Clip
from m3desk.domain.evidence import Perceived
from m3desk.evaluation.identity import evaluate
from m3desk.evaluation.truth import Sight, Truth, read_truth, read_truths
from m3desk.memorization import speaking
from m3desk.store.memory import Memory
from tests.identity.replay import replay

TIMELINE = ("video", "reel", "reel_shared.timeline.json")
REEL = "reel_shared.mp4"

BOXES = (
    # seconds, person, (x, y, width, height) in pixels of the reel
    (53.2, "obama", (332, 39, 63, 86)), (56.6, "obama", (346, 44, 66, 87)), (60.8, "obama", (351, 40, 69, 89)),
    (53.2, "biden", (174, 82, 50, 70)), (56.6, "biden", (181, 73, 52, 72)), (60.8, "biden", (184, 80, 52, 73)),
    (61.8, "debate1_left", (138, 61, 76, 98)), (65.8, "debate1_left", (163, 65, 78, 92)),
    (61.8, "debate1_right", (417, 61, 78, 103)), (65.8, "debate1_right", (415, 49, 80, 106)),
    (96.0, "lin-manuel-miranda", (525, 47, 43, 55)), (98.6, "lin-manuel-miranda", (145, 55, 79, 108)),
    (100.8, "lin-manuel-miranda", (200, 17, 86, 115)),
    (33.2, "man_A", (238, 144, 63, 86)), (43.2, "man_A", (245, 137, 61, 79)),
    (33.2, "man_B", (480, 137, 107, 144)), (43.2, "man_B", (505, 112, 91, 116)),
    (113.0, "man_A", (94, 148, 44, 56)), (116.4, "man_A", (83, 74, 46, 56)), (120.0, "man_A", (119, 149, 44, 56)),
    (134.8, "man_A", (113, 146, 38, 48)), (150.0, "man_A", (134, 143, 45, 58)),
    (113.0, "man_B", (353, 154, 44, 56)), (116.4, "man_B", (313, 77, 49, 60)), (120.0, "man_B", (356, 138, 39, 56)),
    (128.0, "man_B", (398, 90, 25, 37)), (139.0, "man_B", (283, 76, 22, 32)), (150.0, "man_B", (302, 63, 35, 43)),
)  # fmt: skip


def reel_truth() -> Truth:
    """Return the reel's timeline with a box or more for each person of the scenes that show several."""
    truth = read_truth(data(*TIMELINE))
    boxes = tuple(Sight(REEL, round(t * MICROSECOND), round(t * MICROSECOND), who, tuple(map(float, box))) for t, who, box in BOXES)  # type: ignore[arg-type]
    return Truth(truth.turns, truth.sights + boxes, truth.unclear, truth.spoken, truth.seen, truth.heard, truth.rough)


def why_open(memory: Memory) -> Iterator[str]:
    """Yield a line for each voice that belongs to no face: what each face in view while it spoke had going for and against it."""
    held = memory.state().who
    for person in memory.people():
        if not person.voices or person.faces:
            continue
        yield f"{person.shown} ({', '.join(person.voices)}): {person.speech_time / MICROSECOND:.1f} s of speech"
        for clip in (memory.clip(c) for c in person.clips):
            perceived = memory.perceived(clip.id)
            if perceived is None:
                continue
            clusters = {u.cluster for u in perceived.utterances if (h := held.held.get(u.id)) and h.node in person.voices}
            for cluster in sorted(clusters):
                yield from _reasons(clip, perceived, cluster)


def _reasons(clip: Clip, perceived: Perceived, cluster: int) -> Iterator[str]:
    for line in speaking.explain(perceived, clip.end, cluster):
        yield f"    {clip.id}: {line}"


def elsewhere(memory: Memory, of: dict[str, str]) -> Iterator[str]:
    """Yield the sentences of the reel's scenes with several speakers that give their words to somebody who is not in them."""
    scenes = json.loads(data(*TIMELINE).read_text())["timeline"]
    for s in memory.memories(kind="episodic"):
        middle = (s.start + s.end) / 2 / MICROSECOND
        scene = next((c for c in scenes if c["start"] <= middle < c["end"]), None)
        if scene and len(scene["speakers"]) > 1 and s.event == "says" and memory.source(s.source).uri.endswith(REEL):
            yield from (f"{p} (truly {of[p]}): {s.shown}" for p in s.people if p in of and of[p] not in scene["persons"])


def report(memory: Memory, truth: Truth) -> None:
    """Print everything about one memory."""
    found = evaluate(memory, truth)
    links = found["links"]
    wrong = {(w["face"], w["voice"]): w for w in links["wrong_links"]}
    of = {p["person"]: p["true"] for p in found["people"]}
    print("links:")
    for e in memory.equivalences():
        verdict = "linked" if e.accepted else "open"
        if (e.face, e.voice) in wrong:
            w = wrong[e.face or "", e.voice or ""]
            verdict = f"WRONG: {w['face_of']} with the voice of {w['voice_of']}"
        who = of.get(memory.state().who.person_of[e.a], "?")
        votes = ", ".join(f"{by} {weight} in {clip}" for clip, by, weight in e.votes)
        print(f"  {e.face} + {e.voice} ({who}): {verdict}; {votes}")
    print(
        f"right {links['right']} of {links['possible']}, wrong {links['wrong']}, unjudged {links['unjudged']}; missing {links['missing']}"
    )
    print("open voices:")
    for line in why_open(memory):
        print("  " + line)
    for line in elsewhere(memory, of):
        print("  of somebody of another scene: " + line)
    told = found["attribution_detail"]
    print("attribution:", told["sentences"], told["spans"])
    for w in told["wrong"]:
        print(f"  wrong: {w['person']} (truly {w['true']}): {memory.sentence(w['node']).shown}")


def main(arguments: Sequence[str]) -> None:
    """Measure one memory."""
    paths = [a for a in arguments if not a.startswith("--")]
    base, truth = Path(paths[0]), read_truths(paths[1:]) if len(paths) > 1 else reel_truth()
    if "--as-is" in arguments:
        with Memory.open(base) as memory:
            report(memory, truth)
        return
    with tempfile.TemporaryDirectory() as folder:
        replay(base, Path(folder) / "again.m3desk")
        with Memory.open(Path(folder) / "again.m3desk") as memory:
            report(memory, truth)


if __name__ == "__main__":
    main(sys.argv[1:])
