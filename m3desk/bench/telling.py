"""Measures what memories tell: the share of hand-written facts that are told, and of sentences that are true and say something.

Facts and judgments are texts of the tests (`tests/memorization/facts`); the films are the shared material.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from m3desk.bench.identity_material import Workshop
from m3desk.bench.material import data, timed
from m3desk.bench.told_facts import FACTS, PARTS, FilmTruth, keyed, read_facts, read_judgments, sentences, telling
from m3desk.errors import UsageError

GOAL_RIGHT = 0.95


def measure(args: Sequence[str]) -> dict[str, Any]:
    """Measure all films, or those whose file or part (`calibration`, `validation`, `unseen`) is named.

    `--keep DIR`: memories stay there and are used again. Raises FileNotFoundError outside a checkout or without the material, UsageError
    for an unknown film.
    """
    words = list(args)
    at = words.index("--keep") if "--keep" in words else -1
    kept = None
    if at >= 0:
        if at + 1 >= len(words):
            raise UsageError("--keep needs a folder.", "For example: m3desk bench telling --keep /tmp/told")
        kept = Path(words.pop(at + 1))
    asked = [w for w in words if not w.startswith("--")]
    films = read_facts((FACTS / "told.txt").read_text("utf-8"))
    judged = read_judgments((FACTS / "judged.txt").read_text("utf-8"))
    if unknown := [w for w in asked if not any(w in (f.stem, f.part) for f in films)]:
        raise UsageError(f"there is no film “{unknown[0]}”.", f"There are: {', '.join(f.stem for f in films)}.")
    chosen = [f for f in films if not asked or f.stem in asked or f.part in asked]
    with Workshop(kept) as work:
        rows = [_film(film, work, judged) for film in chosen]
    parts = {p: _total([r for r in rows if r["part"] == p]) for p in PARTS if any(r["part"] == p for r in rows)}
    total = _total(rows)
    return {"ok": total["unjudged"] == 0 and total["right"] >= GOAL_RIGHT, "all": total, **parts, "films": rows}


def _film(film: FilmTruth, work: Workshop, judged: dict[tuple[str, str], str]) -> dict[str, Any]:
    memory = work.memory(film.stem, data(*film.path.split("/")), semantic=True)
    target = work.folder / f"{film.stem}.json"
    timed(["export", "-m", str(memory), "-o", str(target), "-q", "--force"])
    told = sentences(json.loads(target.read_text("utf-8")), film)
    verdicts = [(judged.get((film.stem, key), "empty" if " #" in key else "unjudged"), key) for key, _ in keyed(told)]
    missing = [f for f in film.facts if telling(f, told) is None]
    return {
        "film": film.stem,
        "part": film.part,
        "facts": len(film.facts),
        "told": len(film.facts) - len(missing),
        "kinds": {k: [n - sum(f.kind == k for f in missing), n] for k, n in Counter(f.kind for f in film.facts).items()},
        "sentences": len(told),
        **{v: sum(verdict == v for verdict, _ in verdicts) for v in ("true", "false", "empty", "unjudged")},
        "wrong": [f"{verdict}: {key}" for verdict, key in verdicts if verdict != "true"],
        "missing": [f"{f.start:g}-{f.end:g} {f.kind}: {f.text}" for f in missing],
    }


def _total(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    sums = {k: sum(r[k] for r in rows) for k in ("facts", "told", "sentences", "true", "false", "empty", "unjudged")}
    kinds: dict[str, list[int]] = {}
    for row in rows:
        for kind, (told, of) in row["kinds"].items():
            so_far = kinds.setdefault(kind, [0, 0])
            kinds[kind] = [so_far[0] + told, so_far[1] + of]
    judged = sums["sentences"] - sums["unjudged"]
    return {
        **sums,
        "share_told": round(sums["told"] / max(1, sums["facts"]), 3),
        "right": round(sums["true"] / max(1, judged), 3),
        "kinds": kinds,
    }


def lines(report: dict[str, Any]) -> list[str]:
    """Return the shares, part by part and film by film, then what is not told and what is not true or says nothing."""
    found = []
    for name in ("all", *PARTS):
        if t := report.get(name):
            kinds = ", ".join(f"{k} {a}/{b}" for k, (a, b) in sorted(t["kinds"].items()))
            found.append(
                f"{name}: facts told {t['told']} of {t['facts']} ({t['share_told']:.1%}); sentences true and meaningful {t['true']} of "
                f"{t['sentences'] - t['unjudged']} ({t['right']:.1%}), false {t['false']}, empty {t['empty']}, not judged {t['unjudged']}"
            )
            found.append(f"  {kinds}")
    for r in report["films"]:
        found.append(f"{r['film']} ({r['part']}): facts {r['told']} of {r['facts']}, sentences {r['true']} of {r['sentences']}")
        found += [f"  {w}" for w in r["wrong"]] + [f"  not told: {m}" for m in r["missing"]]
    return found
