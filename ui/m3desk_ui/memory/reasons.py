"""Says why a face or words are taken for somebody's, with the faces and words that voted: from the engine's verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication

from m3desk.domain.ids import observation_type, source_of
from m3desk_ui.look import links, texts
from m3desk_ui.look.plain import html
from m3desk_ui.memory.inspector_words import Row, speech_row, track_row

if TYPE_CHECKING:
    from m3desk.domain.questions.types import Reason, Verdict

_DECIDED = re.compile(r"user (?P<how>set aside|decided) so on (?P<day>[\d-]+) \(step \d+(?:: (?P<why>.*))?\)")
MOST = 8
"""Votes that are shown."""


def reasons(reader: Any, verdict: Verdict) -> list[Row]:
    """Return the votes for a verdict, who was the next best, and the one without which it would be another (in the reading thread)."""
    rows = [_vote(reader, verdict, vote) for vote in verdict.votes[:MOST]]
    if verdict.runner_up:
        name = next((p.shown for p in reader.people_of((verdict.runner_up,))), verdict.runner_up)
        words = html(_tr("Second best:")) + " " + links.chip(name, "person", verdict.runner_up)
        rows.append(Row(words + (f" {html(_margin(verdict.margin))}" if verdict.margin is not None else "")))
    if verdict.flips:
        words = html(_tr("Without this one, the result would be somebody else")) + " "
        rows.append(_of(reader, verdict.flips, words + links.chip(_tr("set it aside"), "aside", verdict.flips)))
    return rows


def _tr(text: str) -> str:
    return QCoreApplication.translate("Inspector", text)


def _margin(margin: float) -> str:
    return QCoreApplication.translate("Inspector", "(%1 less)").replace("%1", f"{margin:.2f}")


def _decided(told: str) -> str:
    """Return who decided something, and when, from the engine's line: "user decided so on 2026-11-20 (step 4: her sister)"."""
    found = _DECIDED.fullmatch(told)
    if found is None:
        return told
    said = _tr("You set it aside on %1") if found["how"] == "set aside" else _tr("You decided so on %1")
    return said.replace("%1", found["day"]) + (f": {found['why']}" if found["why"] else "")


def _vote(reader: Any, verdict: Verdict, vote: Reason) -> Row:
    """Return a vote in words, with the face or the words that it rests on."""
    other = vote.observation
    if other is None:
        return Row(html(_decided(vote.text)))
    face = observation_type(verdict.observation) == "face"
    translate = QCoreApplication.translate
    said = {
        "likeness": translate("Inspector", "Looks like this face") if face else translate("Inspector", "Sounds like this voice"),
        "cluster": translate("Inspector", "Too little to tell by itself; goes with this one of the same moment"),
    }.get(vote.kind)
    if said is None:
        by = vote.text.partition(":")[0]
        words = texts.vote(by)
        if words == by:
            return _of(reader, other, html(vote.text))
        said = words[:1].upper() + words[1:]
    strength = f" ({vote.weight:.2f})" if vote.kind == "likeness" else ""
    return _of(reader, other, links.quiet(said + strength, "observation", other))


def _of(reader: Any, observation: str, words: str) -> Row:
    """Return a row with the picture or the words of an observation."""
    if (track := track_row(reader, observation)) is not None:
        crop = track.track.crops[0] if track.track.crops else None
        return Row(words, (source_of(observation), track.track.start), crop, links.href("observation", observation))
    if (said := speech_row(reader, observation)) is not None:
        quote = f": “{html(said.utterance.text)}”" if said.utterance.text else ""
        return Row(words + quote, (source_of(observation), said.utterance.start))
    return Row(words)
