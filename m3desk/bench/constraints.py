"""Counts broken constraints: twenty scripted corrections of all kinds, then three more files, then another face model."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from m3desk.bench.material import command, data, output
from m3desk.domain.ids import observation_type

FIRST = ("grid/bbaf2n.mpg", "grid/brbk7n.mpg", "grid/lbax4n.mpg", "grid/pwij3p.mpg", "webrtc_two_men/vp9_webrtc_2.webm")
LATER = ("grid/id2_vcd_swwp2s.mpg", "grid/lwbsza.mpg", "webrtc_two_men/vp9_webrtc_4.webm")
CORRECTIONS = 20


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Memorize, correct, memorize on, re-embed with `MODEL` (default dlib-resnet) and switch; count what the corrections demand.

    `--keep DIR`: leave the memory there. The script takes whom it finds in the order of their ids; it knows no names of files.
    """
    keep = Path(args[args.index("--keep") + 1]) if "--keep" in args else None
    named = [a for i, a in enumerate(args) if not a.startswith("--") and (i == 0 or args[i - 1] != "--keep")]
    folder = keep or Path(tempfile.mkdtemp(prefix="m3desk-constraints-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return _measure(folder / "constraints.m3desk", named[0] if named else "dlib-resnet")
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def _measure(memory: Path, model: str) -> dict[str, Any]:
    began = time.monotonic()
    _memorize(memory, FIRST)
    steps, refused = _correct(memory)
    stages = {"corrected": _constraints(memory)}
    before = _decided(memory)
    _memorize(memory, LATER)
    stages["three more files"] = _constraints(memory)
    change = output("reembed", model, "-m", str(memory), "--switch")
    stages[f"{model} in use"] = _constraints(memory)
    _memorize(memory, ("grid/sbia1a.mpg",))
    stages["one more file, by that model"] = _constraints(memory)
    after = _decided(memory)
    lost = sorted(o for o, told in before.items() if after.get(o) != told)
    sound = output("check", "-m", str(memory))["ok"]
    broken = max(s["broken"] for s in stages.values())
    return {
        "ok": sound and not broken and not lost,
        "corrections": dict(Counter(steps)),
        "refused": refused,
        "constraints": stages,
        "broken": broken,
        "decided_observations": len(before),
        "decided_otherwise_now": lost,
        "model_change": {k: change[k] if k != "changes" else len(change[k]) for k in ("embedded", "changes", "pairs", "people")},
        "check": sound,
        "seconds": round(time.monotonic() - began, 1),
    }


def _memorize(memory: Path, files: Sequence[str]) -> None:
    paths = [str(data("video", *f.split("/"))) for f in files]
    subprocess.run(command("memorize", *paths, "-m", str(memory), "--no-semantic", "-q"), check=True, capture_output=True)


def _constraints(memory: Path) -> dict[str, int]:
    found: dict[str, int] = output("check", "-m", str(memory))["constraints"]
    return found


def _decided(memory: Path) -> dict[str, tuple[str | None, bool]]:
    """Return what a person decided of observations, as an export tells it: observation → (node, set aside)."""
    document = _export(memory)
    mine = {b["observation"] for b in document["bindings"] if b["by"] == "user" and b["superseded"] is None}
    return {
        o["id"]: (o["node"], o["set_aside"])
        for o in (*document["face_tracks"], *document["utterances"])
        if o["id"] in mine or o["set_aside"]
    }  # fmt: skip


def _export(memory: Path) -> dict[str, Any]:
    done = subprocess.run(command("export", "-m", str(memory), "-o", "-", "--format", "json"), check=True, capture_output=True, text=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


# ---------------------------------------------------------------- the script


def _correct(memory: Path) -> tuple[list[str], list[str]]:
    """Give corrections until twenty were taken; return their words, and what was refused."""
    taken: list[str] = []
    refused: list[str] = []
    for step in _script(memory):
        if len(taken) == CORRECTIONS:
            break
        try:
            words = [str(w) for w in step(_Look(_export(memory)))]
            output(*words, "-m", str(memory))
        except (RuntimeError, IndexError, StopIteration) as error:
            refused.append(str(error).strip().splitlines()[-1] if str(error) else "nothing to choose from")
            continue
        taken.append(" ".join(words[:2] if words[0] in ("people", "observations", "memories") else words[:1]))
    return taken, refused


Step = Callable[["_Look"], Sequence[Any]]


class _Look:
    """The data that the script decides from: an export, which is all that is visible from outside."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        observed = [*document["face_tracks"], *document["utterances"]]
        self.of: dict[str, list[str]] = {p["id"]: [o["id"] for o in observed if o["person"] == p["id"]] for p in document["people"]}
        self.seen = [p for p in document["people"] if self.faces(p)]
        self.both = [p for p in document["people"] if p["faces"] and p["voices"]]
        self.heard = [p for p in document["people"] if p["voices"] and not p["faces"] and self.of[p["id"]]]
        self.most = max(self.seen, key=lambda p: len(self.faces(p)))
        self.speech = [u for u in document["utterances"] if u["person"] and u["end"] - u["start"] > 1.2]
        self.told = [n["id"] for n in document["nodes"] if n["type"] == "episodic"]

    def faces(self, person: dict[str, Any]) -> list[str]:
        """Return the face tracks of a person."""
        return [o for o in self.of[person["id"]] if observation_type(o) == "face"]


def _suggestion(memory: Path) -> int:
    n: int = output("people", "suggestions", "-m", str(memory))[0]["n"]
    return n


def _script(memory: Path) -> list[Step]:
    """Return the corrections; each is worded when its turn comes, from what the memory says then."""
    photo = data("faces", "knn", "train", "obama", "obama.jpg")
    return [
        lambda x: ("people", "name", x.seen[0]["id"], "Anna"),
        lambda x: ("people", "name", x.seen[1]["id"], "Bob"),
        lambda x: ("people", "merge", x.seen[2]["id"], x.seen[3]["id"]),
        lambda x: ("people", "distinct", x.seen[0]["id"], x.seen[1]["id"]),
        lambda x: ("people", "unlink", x.both[0]["faces"][0], x.both[0]["voices"][0]),
        lambda x: ("people", "link", x.seen[1]["faces"][0], x.heard[0]["voices"][0]),
        lambda x: ("people", "split", x.most["id"], "--observations", x.faces(x.most)[-1], "--name", "Carol"),
        lambda x: ("people", "assign", x.faces(x.most)[0], "--new", "Dan"),
        lambda x: ("people", "assign", x.faces(x.seen[-1])[0], "Anna"),
        lambda x: ("people", "exclude", x.faces(x.most)[0], x.most["id"]),
        lambda x: ("people", "set-aside", x.faces(x.most)[-1]),
        lambda x: ("people", "set-aside", x.speech[-1]["id"]),
        lambda x: ("observations", "words", x.speech[0]["id"], "These are other words."),
        lambda x: ("observations", "split-at", x.speech[1]["id"], f"{(x.speech[1]['start'] + x.speech[1]['end']) / 2:.3f}"),
        lambda x: ("observations", "bounds", x.speech[2]["id"], f"{x.speech[2]['start']:.3f}", f"{x.speech[2]['end'] - 0.2:.3f}"),
        lambda x: ("observations", "add-face", "s1.c0", "1.0", 1, 1, 40, 40),
        lambda x: ("people", "enroll", "Barack", photo),
        lambda x: ("people", "ignore", x.seen[-1]["id"]),
        lambda x: ("memories", "delete", x.told[0]),
        lambda x: ("memories", "edit", x.told[1], "Anna waves."),
        lambda x: ("people", "reject", _suggestion(memory)),
        lambda x: ("memories", "pin", x.told[2]),
        lambda x: ("memories", "add", "Bob likes tea."),
        lambda x: ("people", "name", "Anna", "Anne"),
        lambda x: ("people", "distinct", "Carol", "Dan"),
    ]


def lines(report: dict[str, Any]) -> list[str]:
    """Return the report as people read it."""
    done: dict[str, int] = report["corrections"]
    said = [f"{sum(done.values())} corrections: " + ", ".join(f"{k} ×{n}" if n > 1 else k for k, n in done.items())]
    said += [f"  refused: {r}" for r in report["refused"]]
    for stage, counts in report["constraints"].items():
        said.append(f"{stage}: " + ", ".join(f"{n} {state}" for state, n in counts.items()))
    said.append(f"broken constraints: {report['broken']} (goal 0)")
    said.append(f"{report['decided_observations']} observations decided by a person, {len(report['decided_otherwise_now'])} otherwise now")
    return [*said, f"check: {'nothing wrong' if report['check'] else 'something is wrong'} · {report['seconds']} s"]
