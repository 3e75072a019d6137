"""The effect of a correction as one line of text: faces, utterances and memories that change, and earlier steps it overrides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from m3desk.domain.bookmark import bookmark_id
from m3desk.domain.clip import clock
from m3desk.domain.correction import Effect
from m3desk.domain.fold import cannot_links_between
from m3desk.domain.geometry import overlap
from m3desk.domain.ids import numbered, observation_type, source_of
from m3desk.domain.log import Log, ObservationRow
from m3desk.domain.plural import many
from m3desk.domain.projection.projection import Delta, Rebuilt
from m3desk.domain.sentences import State

Args = Mapping[str, Any]
QUOTED = 60
"""Code points of somebody's words that an effect repeats."""


def effect(delta: Delta | Rebuilt, kind: str, args: Args, step: int, log: Log) -> Effect:
    """Return the effect of a step. `log`: with the step; `args` as they are kept."""
    before, after, changed = delta.before, delta.after, delta.tables()
    moved = [o for o in changed["held"] if _whose(before, o) != _whose(after, o)]
    told = [n for n in changed["nodes"] if n.startswith(("episodic", "semantic")) and _face_of(before, n) != _face_of(after, n)]
    people = {h.person for o in moved for s in (before, after) if (h := s.who.held.get(o)) is not None and h.person}
    people |= {p for p, (old, new) in changed["people"].items() if old and new and old.shown != new.shown}
    if args.get("person") in after.who.people:
        people.add(args["person"])
    text = _verb(before, after, kind, args, step) + _counts(before, after, moved, told)
    if kind not in ("undo", "redo"):
        text += "".join(f"; {w}" for w in (*_evidence(delta, moved, log), *_overridden(changed["constraints"], step, log)))
    ordered = tuple(sorted(people, key=numbered))
    return Effect(text, ordered, tuple(sorted(moved, key=lambda o: (source_of(o), o))), tuple(sorted(told)), step)


def _whose(state: State, observation: str) -> tuple[str | None, bool] | None:
    held = state.who.held.get(observation)
    return None if held is None else (held.person, held.set_aside)


def _face_of(state: State, node: str) -> tuple[Any, ...]:
    n = state.nodes.get(node)
    return (None,) if n is None else (n.shown, n.deleted, n.pinned, n.people, n.stale)


def _counts(before: State, after: State, moved: list[str], told: list[str]) -> str:
    """Return "(12 faces and 3 utterances are reassigned, 9 memories read differently, 2 of them need rewriting)"."""
    both = [o for o in moved if o in before.who.held and o in after.who.held]
    faces = sum(observation_type(o) == "face" for o in both)
    voices = len(both) - faces
    parts = []
    if both:
        named = [many(n, *w) for n, w in ((faces, ("face", "faces")), (voices, ("utterance", "utterances"))) if n]
        parts.append(f"{' and '.join(named)} {'is' if len(both) == 1 else 'are'} reassigned")
    if told:
        text = f"{many(len(told), 'memory reads', 'memories read')} differently"
        stale = sum(n in after.nodes and after.nodes[n].stale and not (n in before.nodes and before.nodes[n].stale) for n in told)
        needs = "needs" if stale == 1 else "need"
        if stale == len(told):
            text += f" and {needs} rewriting"
        parts.append(text)
        if 0 < stale < len(told):
            parts.append(f"{stale} of them {needs} rewriting")
    return f" ({', '.join(parts)})" if parts else ""


# ---------------------------------------------------------------- warnings and overridden steps


def _evidence(delta: Delta | Rebuilt, moved: Iterable[str], log: Log) -> Iterable[str]:
    """Warn if observations of one person have a cannot-link (`Perceived.cannot_link`): it may be a mistake."""
    before, after = delta.before, delta.after
    pairs = (pair for a, b in delta.cannot_links(moved) for pair in cannot_links_between(a, b, after.who.evidence))
    known = {(a, b) for a, b in pairs if _one_person(after, a, b) and not _one_person(before, a, b)}
    first = min(((_together_at(log, a, b), (a, b)) for a, b in known if a in log.observations and b in log.observations), default=None)
    if first is not None:
        (_, at), (a, b) = first
        yield f"{_how(log.observations[a], log.observations[b])} at {clock(at)}"


def _how(a: ObservationRow, b: ObservationRow) -> str:
    if a.type == "face":
        return "they are seen together in one frame"
    return "they speak at the same time" if overlap((a.start, a.end), (b.start, b.end)) else "the lips of two people move with their speech"


def _one_person(state: State, a: str, b: str) -> bool:
    """Return whether two observations belong to the same person."""
    one, two = state.who.held.get(a), state.who.held.get(b)
    return one is not None and two is not None and bool(one.person) and one.person == two.person


def _together_at(log: Log, a: str, b: str) -> tuple[str, int]:
    return source_of(a), max(log.observations[a].start, log.observations[b].start)


def _overridden(changed: Mapping[int, tuple[Any, Any]], step: int, log: Log) -> Iterable[str]:
    """Return the earlier steps of the user that are overridden: "overrides step 12 of Tuesday 17 November (keeps Ann and Bob apart)"."""
    lost = set()
    for number, (old, new) in changed.items():
        held = {(c.kind, c.a, c.b) for c in old or () if c.state == "kept"}
        if number != step and any(c.state == "overridden" and (c.kind, c.a, c.b) in held for c in new or ()):
            lost.add(number)
    for earlier in (s for s in log.steps if s.step in lost):
        yield f"overrides step {earlier.step}{_day(earlier.at)} ({earlier.text.split(' (')[0].split(';')[0]})"


def _day(at: str) -> str:
    try:
        when = datetime.fromisoformat(at)
    except ValueError:  # an import may carry anything
        return ""
    return f" of {when:%A} {when.day} {when:%B}"


# ---------------------------------------------------------------- the kinds of steps


def _verb(before: State, after: State, kind: str, args: Args, step: int) -> str:
    def shown(id_: str) -> str:
        state = before if id_ in before.who.people else after
        return state.who.people[id_].shown if id_ in state.who.people else id_

    def of_node(id_: str) -> str:
        return shown(before.who.person_of.get(id_, id_))

    if "says" in args:
        return str(args["says"])
    things = _things(after, args.get("observations", ()))
    match kind:
        case "name":
            return f"names {shown(args['person'])} “{args['name']}”" if args["name"] else f"removes the name of {shown(args['person'])}"
        case "assign":
            return f"gives {things} to {args['name'] or shown(args['person'])}"
        case "merge":
            called = _names(before, args) or _goes_by(after, args)
            return f"merges {', '.join(shown(o) for o in args['others'])} into {shown(args['keep'])}{called}"
        case "distinct":
            return f"keeps {shown(args['a'])} and {shown(args['b'])} apart"
        case "split":
            return f"moves {things} from {shown(args['of'])} to {args['name'] or shown(args['person'])}"
        case "exclude":
            return f"says that {things} {'is' if len(args['observations']) == 1 else 'are'} not {shown(args['not'])}"
        case "set-aside":
            return f"sets {things} aside"
        case "link" | "unlink":
            return f"{kind}s a face of {of_node(args['face'])} and a voice of {of_node(args['voice'])}"
        case "ignore":
            return f"{'hides' if args['ignored'] else 'shows'} {shown(args['person'])}"
        case "reject":
            return f"does not call {shown(args['person'])} “{args['name']}”"
        case "revert":
            also = f", and with it {', '.join(f'step {n}' for n in args['also'])}" if args.get("also") else ""
            leaves = f"; {', '.join(f'step {n}' for n in args['leaves'])} rested on it" if args["leaves"] else ""
            return f"takes back step {args['step']}{also}{leaves}"
        case "undo" | "redo":
            return kind
        case "bookmark":
            return _bookmarked(args, step)
        case "unbookmark":
            return f"removes a bookmark at {clock(args['at'])}"
        case "split-at" | "bounds" | "words" | "add-face" | "enroll":
            return _observed(before, after, kind, args, things)
        case _:
            return f"{kind}s {_memory(before, after, args['memory'])}"


def _bookmarked(args: Args, step: int) -> str:
    """Return what a step says of a bookmark: "adds a bookmark at 01:23: “the vase falls”"."""
    note = args.get("text") or ""
    words = note if len(note) <= QUOTED else note[: QUOTED - 1] + "…"
    added = args["bookmark"] == bookmark_id(step)
    return f"{'adds' if added else 'changes'} a bookmark at {clock(args['start'])}" + (f": “{words}”" if words else "")


def _things(state: State, observations: Sequence[str]) -> str:
    """Return observations in words: "the face at 00:07", "2 faces and 1 utterance"."""
    seen = state.who.evidence.seen
    if len(observations) == 1 and observations[0] in seen:
        one = seen[observations[0]]
        return f"the {'face' if one.type == 'face' else 'utterance'} at {clock(one.start)}"
    faces = sum(observation_type(o) == "face" for o in observations)
    named = [many(n, what) for n, what in ((faces, "face"), (len(observations) - faces, "utterance")) if n]
    return " and ".join(named)


def _memory(before: State, after: State, id_: str) -> str:
    """Return a sentence in words, by its first person and time; its own words may be what is taken out of it."""
    told = before.nodes.get(id_) or after.nodes.get(id_)
    if told is None:
        return "a memory"
    about = [after.who.people[p].shown for p in told.people if p in after.who.people]
    return f"a memory about {about[0]}" if about else "a memory"


def _goes_by(after: State, args: Args) -> str:
    """Return which number unnamed people keep, if that is not the one that was to be kept."""
    now = after.who.canonical.get(args["keep"], args["keep"])
    return "" if now == args["keep"] or now not in after.who.people else f", known as {after.who.people[now].shown} from now on"


def _names(before: State, args: Args) -> str:
    """Return which name is kept if both have one."""
    kept = before.who.people[args["keep"]].name
    others = [n for o in args["others"] if (n := before.who.people[o].name) and n != kept]
    return f", who stays {kept}; {' and '.join(others)} becomes an alias" if kept and others else ""


def _observed(before: State, after: State, kind: str, args: Args, things: str) -> str:
    match kind:
        case "split-at":
            return f"splits {things} in two at {clock(args['at'])}"
        case "bounds":
            return f"lets {things} last from {args['start'] / 1e6:.2f} to {args['end'] / 1e6:.2f} s"
        case "words" if "reworded" not in args:
            return f"confirms the words of {things}"
        case "words":
            words = args["text"] if len(args["text"]) <= QUOTED else args["text"][: QUOTED - 1] + "…"
            return f"corrects the words of {things} to “{words}”"
        case "add-face":
            held = after.who.held.get(args.get("made", [""])[0])
            whose = f", recognized as {after.who.people[held.person].shown}" if held and held.person else ""
            return f"adds a face at {clock(args['at'])}{whose}"
        case _:
            earlier = before.who.people.get(args["person"])
            known = f"who is {earlier.shown if earlier else 'known'}" if args.get("known") else "somebody new"
            return "; ".join([f"teaches {args['name']}, {known}, from {many(len(args.get('files', ())), 'file')}", *args.get("notes", ())])
