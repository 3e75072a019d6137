"""`evaluate`: measures the accuracy of a memory against ground truth."""

from __future__ import annotations

from typing import Any

from m3desk.cli.opening import App
from m3desk.cli.output import Out, table
from m3desk.cli.work import existing
from m3desk.evaluation import identity
from m3desk.evaluation.truth import read_truths, read_uem


def evaluate(options: Any, out: Out) -> int:
    """Measure a memory's people; `identity` is the only measure so far."""
    memory = existing(options.memory)
    truth = read_truths(options.truth)
    uem = read_uem([options.uem] if options.uem else [])
    with App(memory, write=False) as app, app.reader() as reader, reader.snapshot():
        report = identity.evaluate(reader, truth, uem, options.source)
    out.result(report, lines(report))
    return 0


def lines(report: dict[str, Any]) -> list[str]:
    """Return a report as readable lines."""
    told = []
    for key, what, many in (("faces", "face tracks", "face nodes"), ("voices", "utterances", "voice nodes")):
        r = report[key]
        if not r["labelled"]:
            told.append(f"{key}: none has a true person")
            continue
        told.append(
            f"{key}: pairwise precision {share(r['pairwise']['precision'])}, recall {share(r['pairwise']['recall'])};"
            f" B-cubed {share(r['bcubed']['precision'])}, {share(r['bcubed']['recall'])}"
        )
        told.append(
            f"  {r['labelled']} {what} of {r['true_people']} people ({r['unlabelled']} more without a true person);"
            f" {number(r['fragmentation'])} {many} and {number(r['people_per_person'])} people for each"
        )
        if across := r["across_sources"]:
            told.append(f"  across files: pairwise precision {share(across['precision'])}, recall {share(across['recall'])}")
    voices = report["voices"]
    if voices["der"] is not None:
        parts = voices["der_parts"]
        told.append(
            f"diarization error rate: {share(voices['der'])} with a collar of 0.25 s (missed {share(parts['missed'])},"
            f" false alarm {share(parts['false_alarm'])}, confused {share(parts['confusion'])}), {share(voices['der_no_collar'])} without"
            + ("; the truth gives whole scenes, pauses included" if voices["rough"] else "")
        )
        for f in voices["der_files"] if len(voices["der_files"]) > 1 else ():
            told.append(f"  {f['source']}: {share(f['der'])}, {f['speakers_found']} speakers found of {f['speakers']}")
    linked, sentences = report["links"], report["attribution_detail"]["sentences"]
    if linked["possible"]:
        unjudged = f", {linked['unjudged']} links that can't be judged" if linked["unjudged"] else ""
        told.append(f"links: right for {linked['right']} of {linked['possible']} people, {linked['wrong']} wrong{unjudged}")
        told += [
            f"  wrong: {w['face']} of {w['face_of']} with {w['voice']} of {w['voice_of']} in {w['person']}" for w in linked["wrong_links"]
        ]
    if sentences["accuracy"] is not None:
        told.append(f"sentences that name the right person: {share(sentences['accuracy'])} of {sentences['right'] + sentences['wrong']}")
    rows = [
        (p["true"], p["person"] or "-", ", ".join(p["people"]), ", ".join(p["face_nodes"]), ", ".join(p["voice_nodes"]))
        for p in report["people"]
    ]
    return [*told, "", *table(rows, ("in truth", "stands for", "people", "face nodes", "voice nodes"))] if rows else told


def share(value: float | None) -> str:
    """Format a fraction between 0 and 1."""
    return "-" if value is None else f"{value:.1%}" if value < 1 else "100 %"


def number(value: float | None) -> str:
    """Format a mean."""
    return "-" if value is None else f"{value:.2f}"
