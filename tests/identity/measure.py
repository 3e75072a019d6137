"""Print who-is-who figures of ready-made memories: python -m tests.identity.measure FOLDER [NAME …]

FOLDER holds some of reel, webrtc, ami, obama, hamilton, katie and others .m3desk (by `m3desk memorize`, or again by
tests.identity.replay). Truths are those of ../shared/data, or NAME.rttm beside NAME.m3desk. The product's own way to these figures is
`m3desk bench identity`; this one makes no memory, so that a change of binding is measured in seconds.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

from m3desk.bench.identity_material import Workshop, boxes, webrtc_on_the_reel
from m3desk.evaluation.identity import evaluate
from m3desk.evaluation.truth import read_truths
from m3desk.store.memory import Memory

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def truths(name: str, folder: Path, work: Workshop) -> list[list[Path]]:
    """Return the truths a memory is measured by, one list a line of figures."""
    timeline = DATA / "video/reel/reel_shared.timeline.json"
    known = {
        "reel": [[timeline], [timeline, boxes(work, "reel_shared.mp4", webrtc_on_the_reel())]],
        "webrtc": [[DATA / "video/webrtc_two_men/boxes.json"]],
        "ami": [[DATA / "speech/ami_30s/ami.rttm"]],
        "obama": [[boxes(work, "obama_speech.mp4")]],
        "hamilton": [[boxes(work, "short_hamilton_clip.mp4")]],
    }
    own = folder / f"{name}.rttm"
    return known.get(name, [[own]] if own.is_file() else [])


def line(kind: str, of: dict[str, Any]) -> str:
    """Return one line of figures for faces or voices."""
    pairs, across = of["pairwise"], of["across_sources"]
    text = (
        f"{kind} P {_figure(pairs['precision'])} R {_figure(pairs['recall'])} · {of['labelled']} of {of['true_people']} people, "
        f"{of['unassigned']} open, {_figure(of['fragmentation'])} nodes a person"
    )
    if across:
        text += f" · across files P {_figure(across['precision'])} R {_figure(across['recall'])}"
    return text + (f" · DER {_figure(of['der'])}" if of.get("der") is not None else "")


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def measure(name: str, memory: Memory, folder: Path, work: Workshop) -> None:
    for paths in truths(name, folder, work):
        report = evaluate(memory, read_truths(paths))
        title = f"{name}{' with boxes' if len(paths) > 1 else ''}"
        for kind in ("faces", "voices"):
            if report[kind]["labelled"]:
                print(f"{title:16} {line(kind, report[kind])}")
        split = {p["true"]: p["people"] for p in report["people"] if len(p["people"]) > 1}
        taken = Counter(person for p in report["people"] for person in p["people"])
        shared = [q for q, count in taken.items() if count > 1]
        if split or shared:
            print(f"{'':16} split: {split or 'nobody'}; more than one in: {shared or 'nobody'}")
    if not truths(name, folder, work):
        for source in memory.sources():
            said = Counter(r.shown for r in memory.speech(source.id))
            seen = Counter(r.shown for r in memory.tracks(source.id))
            print(f"{name:16} {Path(source.uri).name}: speaks {dict(said)}, seen {dict(seen)}")
    surely = [(e.a, e.b) for e in memory.equivalences() if any(by.startswith("consolidation") for _, by, _ in e.votes)]
    if surely:
        print(f"{'':16} found to be one afterwards: {surely}")


def main(folder: Path, names: list[str]) -> None:
    with Workshop() as work:
        for path in sorted(folder.glob("*.m3desk")):
            if not names or path.stem in names:
                with Memory.open(path) as memory:
                    measure(path.stem, memory, folder, work)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
