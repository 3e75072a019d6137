"""Persons as they are shown: names given and heard, totals of their observations, hidden or not. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from m3desk.domain.correction import Step
from m3desk.domain.identities import Identities
from m3desk.domain.ids import numbered, source_id
from m3desk.domain.log import Log, NameHeard, ObservationRow
from m3desk.domain.naming import plausible, whose
from m3desk.domain.people import NameState, Person, SuggestedName, marked
from m3desk.domain.tally import Tally

SHOWN_FROM = 0.4
"""Summed score from which a heard name is shown ("Jeff Steen?")."""


def names_given(steps: Iterable[Step]) -> dict[str, str | None]:
    """Return person id → the name a user gave it."""
    names: dict[str, str | None] = {}
    for step in steps:
        if step.kind == "name" or (step.args.get("name") and step.kind in ("assign", "split", "enroll")):
            names[step.args["person"]] = step.args["name"]
    return names


def add_people(log: Log, state: Identities, steps: list[Step]) -> None:
    """Compute the persons of a state from its members, names and observations."""
    names = names_given(steps)
    ignored, rejected = ignored_people(steps), rejected_names(steps, state.canonical)
    seen: dict[str, list[ObservationRow]] = defaultdict(list)
    for id_, held in state.held.items():
        if held.person:
            seen[held.person].append(log.observations[id_])
    heard = _heard(log, state, rejected, names)
    others: dict[str, list[str]] = defaultdict(list)
    for alias, id_ in state.canonical.items():
        if alias != id_:
            others[id_].append(alias)
    for id_ in sorted(state.members, key=numbered):
        tally = Tally.of(seen.get(id_, ()), state.evidence.enrolled)
        state.people[id_] = person(state, id_, names, others.get(id_, ()), ignored, heard.get(id_, ()), tally)


def ignored_people(steps: Iterable[Step]) -> dict[str, bool]:
    """Return person id → whether a user hides them."""
    return {s.args["person"]: bool(s.args.get("ignored", True)) for s in steps if s.kind == "ignore"}


def rejected_names(steps: Iterable[Step], canonical: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return (person, name) that a user refused."""
    refused = [s.args for s in steps if s.kind == "reject" and "name" in s.args]
    return {(canonical.get(args["person"], ""), args["name"].casefold()) for args in refused}


def person(
    state: Identities,
    id_: str,
    names: Mapping[str, str | None],
    others: Sequence[str],
    ignored: Mapping[str, bool],
    suggested: Sequence[SuggestedName],
    tally: Tally,
) -> Person:
    """Return a person. `others`: further ids of this person; `tally`: totals of its observations; `suggested`: best first."""
    aliases = sorted(others, key=numbered)
    name = names.get(id_)
    aliases += [n for a in list(aliases) if (n := names.get(a)) and n != name]
    heard = [h for h in suggested if name is None or h.name.casefold() != name.casefold()]
    best = heard[0] if heard and heard[0].score >= SHOWN_FROM else None
    status: NameState = "confirmed" if name else "suggested" if best else "none"
    return Person(
        id=id_,
        number=numbered(id_),
        name=name,
        name_state=status,
        shown=name or (marked(best.name) if best else f"Person {numbered(id_)}"),
        suggested_names=tuple(heard),
        aliases=tuple(aliases),
        faces=tuple(n for n in state.members[id_] if state.nodes[n].type == "face"),
        voices=tuple(n for n in state.members[id_] if state.nodes[n].type == "voice"),
        first_seen=(source_id(tally.first[0]), tally.first[1]) if tally.first else None,
        last_seen=(source_id(tally.last[0]), tally.last[1]) if tally.last else None,
        screen_time=tally.screen_time,
        speech_time=tally.speech_time,
        clips=tally.clips,
        ignored=any(ignored.get(p, False) for p in (id_, *others)),
        portrait=tally.picture,
    )


def _heard(log: Log, state: Identities, rejected: set[tuple[str, str]], given: Mapping[str, str | None]) -> dict[str, list[SuggestedName]]:
    """Return person → suggested names, best first; spellings that differ only in case are one name. `given`: names by users.

    Words that can't be a name are left out, and so is a name by which several persons are addressed (domain.naming).
    """
    tally: dict[tuple[str, str], list[tuple[str, NameHeard]]] = defaultdict(list)
    for h in log.names:
        held = state.held.get(state.evidence.follow(h.observation, h.at, h.at + 1))
        name = plausible(h.name)
        if held and held.person and name and (held.person, name.casefold()) not in rejected:
            tally[held.person, name.casefold()].append((name, h))
    theirs = whose({key: [(h.by, h.score) for _, h in rows] for key, rows in tally.items()}, confirmed_names(given, state.canonical))
    found: dict[str, list[SuggestedName]] = defaultdict(list)
    for (person, key), rows in tally.items():
        if (person, key) in theirs:
            found[person].append(suggested_name(rows))
    for names in found.values():
        names.sort(key=lambda n: (-n.score, n.name))
    return found


def confirmed_names(given: Mapping[str, str | None], canonical: Mapping[str, str]) -> dict[str, str]:
    """Return person, as they are called now → the name a user gave them."""
    return {canonical.get(p, p): n for p, n in given.items() if n}


def suggested_name(rows: Sequence[tuple[str, NameHeard]]) -> SuggestedName:
    """Return the suggested name of one person from all (spelling, where it was heard)."""
    spelling = max(Counter(n for n, _ in rows).items(), key=lambda c: (c[1], c[0]))[0]
    score = round(min(1.0, sum(min(1.0, max(0.0, h.score)) for _, h in rows)), 6)
    return SuggestedName(spelling, score, tuple(dict.fromkeys(h.evidence for _, h in rows)), rows[0][1].words)
