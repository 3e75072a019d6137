"""`people suggestions`, `accept`, `reject`, `why`, `scorecard`: identity questions, their reasons, and measured accuracy."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from m3desk import paths
from m3desk.cli.opening import App
from m3desk.cli.output import Out, prompt, span, table, told
from m3desk.cli.work import existing
from m3desk.domain.ids import source_of
from m3desk.domain.plural import many
from m3desk.domain.questions.scorecard import Answers, Interval, Score, draw, estimate
from m3desk.domain.questions.types import Suggestion, Verdict
from m3desk.errors import M3DeskError, UsageError
from m3desk.evaluation.labelling import by_source, faces, speaker
from m3desk.evaluation.truth import MOST_BYTES, read_truth
from m3desk.regular import read_text

ASK = "Answer on a terminal, or give --answers FILE: a truth (RTTM, timeline JSON), or the pairs of --json with true or false as `same`."


def people(options: Any, out: Out) -> int:
    existing(options.memory)
    if options.action in ("accept", "reject"):
        with App(options.memory) as app:
            effect = app.correct(options.action, {"n": options.number}, why=options.why, dry_run=options.dry_run)
        out.result({**asdict(effect), "dry_run": options.dry_run}, [("Would: " if options.dry_run else "") + effect.text])
        return 0
    with App(options.memory, write=False) as app, app.reader() as reader:
        match options.action:
            case "suggestions":
                found = reader.suggestions()[: max(0, options.k)]
                out.result([suggestion_json(s) for s in found], _questions(found))
            case "why":
                verdict = reader.why(options.observation)
                out.result(verdict_json(verdict), _reasons(verdict, {p.id: p.shown for p in reader.everybody()}))
            case _:
                return _scorecard(reader, options, out)
    return 0


# ---------------------------------------------------------------- suggestions and reasons


def suggestion_json(s: Suggestion) -> dict[str, Any]:
    """Return a suggestion in the form that `people suggestions --json` prints."""
    return {
        "n": s.n,
        "kind": s.kind,
        "people": list(s.people),
        "observations": list(s.observations),
        "score": s.score,
        "effect": s.effect,
        "question": s.question,
        "groups": [list(g) for g in s.groups],
        "name": s.name,
        "worth": s.worth,
    }


def verdict_json(v: Verdict) -> dict[str, Any]:
    """Return a verdict in the form that `people why --json` prints."""
    return {
        "observation": v.observation,
        "node": v.node,
        "person": v.person,
        "score": v.score,
        "runner_up": v.runner_up,
        "margin": v.margin,
        "votes": [asdict(r) for r in v.votes],
        "flips": v.flips,
        "by": v.by,
    }


def _questions(found: Sequence[Suggestion]) -> list[str]:
    if not found:
        return ["Nothing to ask."]
    rows = [(str(s.n), f"{s.score:.0%}", s.question, s.effect, " / ".join(" ".join(g[:3]) for g in s.groups)) for s in found]
    return [*table(rows, ("n", "likely", "question", "yes", "look at")), "Answer with: m3desk people accept N, or reject N."]


def _reasons(v: Verdict, shown: Mapping[str, str]) -> list[str]:
    whose = shown.get(v.person, v.person) if v.person else "nobody's"
    lines = [f"{v.observation} is {whose}" + (f" ({v.node})" if v.node else "") + f", decided by {v.by}"]
    if v.score is not None:
        rival = f"; runner-up {shown.get(v.runner_up, v.runner_up)}, {v.margin:.2f} lower" if v.runner_up and v.margin is not None else ""
        lines.append(f"  similarity {v.score:.2f}{rival}")
    elif v.runner_up:
        lines.append(f"  nothing else to compare it with; the runner-up would be {shown.get(v.runner_up, v.runner_up)}")
    lines += [f"  {r.weight:5.2f}  {r.text}" for r in v.votes] or ["  no votes"]
    if v.flips:
        lines.append(f"  Without {v.flips} the result would be different.")
    return lines


# ---------------------------------------------------------------- scorecard


def _scorecard(reader: Any, options: Any, out: Out) -> int:
    if options.pairs < 1:
        raise UsageError("a scorecard needs at least one pair.", "For example --pairs 20.")
    answers: Answers | None = None
    only: set[str] | None = None
    labels: dict[str, str] = {}
    if options.answers:
        answers = _read_answers(Path(options.answers))
        if answers is None:
            labels = _labels(reader, Path(options.answers))
            only = set(labels)
    of = reader.scorecard(only)
    pairs = draw(of, options.pairs)
    if not pairs:
        raise UsageError("there is nothing to compare: this memory has no two faces, and no two utterances, of somebody.")
    if answers is not None:
        known = {(min(a, b), max(a, b)): same for (a, b), same in answers.items()}
        score = estimate(of, known)
        if not score.answered:
            raise UsageError(f"{options.answers} answers no pair of this memory.", "Print the pairs with --json and fill in `same`.")
        return _tell(score, {p: known.get(p) for p in dict.fromkeys((*known, *pairs))}, out)
    if labels:
        answers = {(a, b): labels[a] == labels[b] for a, b in pairs}
    elif sys.stdin.isatty() and not out.json:
        answers = _asked(reader, pairs)
    else:
        if out.json:
            out.result({"precision": None, "recall": None, "pairs": [{"a": a, "b": b, "same": None} for a, b in pairs]}, ())
        raise UsageError(f"{many(len(pairs), 'pair waits', 'pairs wait')} for an answer.", ASK)
    return _tell(estimate(of, answers), {p: answers.get(p) for p in pairs}, out)


def _tell(score: Score, pairs: Mapping[tuple[str, str], bool | None], out: Out) -> int:
    document = {
        "precision": list(score.precision) if score.precision else None,
        "recall": list(score.recall) if score.recall else None,
        "pairs": [{"a": a, "b": b, "same": same} for (a, b), same in pairs.items()],
        "answered": score.answered,
    }
    lines = [
        f"Precision: of the pairs assigned to one person, {_share(score.precision)} are one person.",
        f"Recall: of the pairs that are one person, {_share(score.recall)} are assigned to one person.",
        f"({many(score.answered, 'pair')} answered; 95 % interval)",
    ]
    out.result(document, lines)
    return 0


def _share(interval: Interval | None) -> str:
    if interval is None:
        return "an unknown share"
    low, value, high = interval
    return f"{value:.1%} ({low:.1%} to {high:.1%})"


def _read_answers(path: Path) -> Answers | None:
    """Return the answers in a JSON list of pairs (or in a scorecard's output), None if the file is something else."""
    text = read_text(path, MOST_BYTES, M3DeskError, M3DeskError)
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise M3DeskError(f"{path.name} is broken JSON (line {error.lineno}).", ASK) from error
    except RecursionError as error:
        raise M3DeskError(f"{path.name} is nested too deeply to be answers.", ASK) from error
    rows = document.get("pairs") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        return None
    try:
        return {(str(r["a"]), str(r["b"])): r["same"] for r in rows if r["same"] is not None and isinstance(r["same"], bool)}
    except (KeyError, TypeError) as error:
        raise M3DeskError(f"{path.name} is no list of pairs.", 'Each is {"a": OBS, "b": OBS, "same": true, false or null}.') from error


def _labels(reader: Any, path: Path) -> dict[str, str]:
    """Return observation → true person for the face tracks and utterances that a truth file labels."""
    sources = reader.sources()
    found: dict[str, str] = {}
    for id_, local in by_source(read_truth(path), sources).items():
        found |= faces([r.track for r in reader.tracks(id_)], local)
        for row in reader.speech(id_):
            if who := speaker(row.utterance, local):
                found[row.utterance.id] = who
    return found


def _asked(reader: Any, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bool]:
    """Ask pair by pair on the terminal; pictures and sounds are in a temporary folder, deleted after the last answer."""
    rows = {r.track.id: r.track for s in reader.sources() for r in reader.tracks(s.id)}
    heard = {r.utterance.id: r.utterance for s in reader.sources() for r in reader.speech(s.id)}
    answers: dict[tuple[str, str], bool] = {}
    with paths.temporary("scorecard") as folder:
        for number, (a, b) in enumerate(pairs, 1):
            for id_ in (a, b):
                of = rows.get(id_) or heard[id_]
                media = (rows[id_].crops or (None,))[0] if id_ in rows else heard[id_].audio
                content = reader.media(media) if media else None
                place = Path(folder) / f"{id_}{Path(media or '').suffix}"
                if content is not None:
                    place.write_bytes(content)
                said = f" “{of.text}”" if id_ in heard else ""
                told(f"  {id_} {source_of(id_)} {span(of.start, of.end)}{said}" + (f" {place}" if content else ""))
            typed = prompt(f"{number}/{len(pairs)} one person? [y/n/?] ")
            if typed is None:
                break
            if typed.lower() in ("y", "yes", "n", "no"):
                answers[a, b] = typed.lower().startswith("y")
    return answers
