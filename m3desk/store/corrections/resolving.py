"""Resolves a correction: turns the arguments a user gave into the arguments the journal keeps, so that replaying it gives the same result.

Arguments as given (persons by any reference; ids as exported) and, after `=`, what is resolved and written to the journal:

    name      person, name (None takes the name away)
    assign    observations, person | None and name  = bindings {observation: node}, nodes [ids made], person
    merge     keep, others
    distinct  a, b (persons, or nodes)              = births {node: person} where two nodes were one from birth
    split     person, observations | clip, name     = bindings, nodes, person (the new one), cannot [[new, old]]
    exclude   observations, person                  = bindings, nodes, cannot [[new, person]]
    set-aside observations
    link      face, voice (node ids)
    unlink    face, voice                           = births {voice: new person} where it was born in the face's person
    ignore    person, ignored
    reject    person, name (a suggested name)
    add       text, topic, person, clip             = memory
    edit      memory, text                          = spans [[start, end, [observations]]]
    delete    memory
    pin       memory, pinned
    revert    step, also (True: what rests on it too) = also [steps], leaves [steps that rest on it and stay]

`observation` and `node` are accepted for `observations` and `memory`.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from m3desk.domain.bookmark import bookmark_id
from m3desk.domain.editing import Lesson, Sample
from m3desk.domain.ids import node_type, numbered, observation_type
from m3desk.domain.log import Log, in_force, undone_steps
from m3desk.domain.memory import Sentence, Span, Topic
from m3desk.domain.people import Person
from m3desk.domain.sentences import State
from m3desk.domain.tags import TAG, untag
from m3desk.errors import CorrectionError
from m3desk.store import commits, reading, rows

Args = dict[str, Any]
DB = sqlite3.Connection


@dataclass(slots=True)
class Context:
    """What resolving a correction uses: the open transaction, the state before it, the new step's numbers and date.

    `births`: node → the person it is born in by the corrections in force (`fold.born_in`).
    `sample`: of a face that is added; `lessons`: the files a person is enrolled from (`superseding` and `enrolling` beside this).
    """

    db: DB
    state: State
    births: Mapping[str, str]
    sequence: int
    step: int
    at: str = ""
    sample: Sample | None = None
    lessons: tuple[Lesson, ...] = ()

    def person(self, ref: Any) -> Person:
        if not isinstance(ref, str) or not ref.strip():
            raise CorrectionError("a person is missing.", "Give an id such as person_3, a number or a name.")
        return reading.person(self.db, ref)

    def exact(self, ref: str) -> str:
        """Return a person id as given where it is one (an alias stays what it is), else the id of the person found."""
        person = self.person(ref)
        bare = ref.strip().casefold()
        return bare if bare in person.aliases else person.id

    def observations(self, args: Args) -> list[str]:
        given = args.get("observations", args.get("observation"))
        ids = [given] if isinstance(given, str) else [str(o) for o in given or ()]
        if not ids:
            raise CorrectionError("no observation is given.", "Give ids such as s1.c0.f2 (a face track) or s1.c0.u1 (speech).")
        for id_ in ids:
            if parts := self.state.who.evidence.successors.get(id_):
                raise CorrectionError(f"{id_} was superseded.", f"Now there is {', '.join(parts)}.")
            if id_ not in self.state.who.held:
                raise CorrectionError(f"there is no observation {id_}.", "See: m3desk people show PERSON.")
        return list(dict.fromkeys(ids))

    def memory(self, args: Args) -> str:
        id_ = str(args.get("memory", args.get("node", "")))
        node = self.state.nodes.get(id_)
        if node is None or node.type not in ("episodic", "semantic") or node.deleted:
            raise CorrectionError(f"there is no memory {id_ or '(none given)'}.", "See: m3desk memories list.")
        return id_

    def new_node(self, type_: str, person: str, observation: str) -> str:
        """Create a face or voice node of a person for an observation; this step is its origin."""
        seen = next(r for t in ("face_track", "utterance") for r in self.db.execute(f"SELECT * FROM {t} WHERE id = ?", (observation,)))
        return commits.new_node(
            self.db, type_, self.sequence, person=person, step=self.step, clip=seen["clip"], source=seen["source"], start=seen["start"],
            end=seen["end"], model="user",
        )  # fmt: skip


_TEXTS = frozenset((
    "person", "keep", "name", "a", "b", "other", "memory", "node", "text", "topic", "clip", "face", "voice", "observation", "language",
    "bookmark", "source",
))  # fmt: skip
_LISTS = frozenset(("observations", "others"))


def checked(kind: str, args: Mapping[str, Any]) -> Args:
    """Return args as they came. Raises CorrectionError if one has a type that no correction accepts."""
    for key, value in args.items():
        texts = [value] if key in _TEXTS else list(value) if key in _LISTS and isinstance(value, (list, tuple)) else []
        wrong = key in _LISTS and not isinstance(value, (str, list, tuple, type(None)))
        if wrong or any(not isinstance(t, (str, type(None))) or (t and not plain(t)) for t in texts):
            raise CorrectionError(f"{kind}: {key} can't be read.", "See: m3desk --help.")
    return dict(args)


def plain(text: str) -> bool:
    """Return whether SQLite can keep a text (a lone surrogate, which a terminal may pass on, is none)."""
    return len(text) <= 100_000 and text.encode("utf-8", "replace").decode() == text


# ---------------------------------------------------------------- the kinds: args as given → args as kept


def _name(context: Context, args: Args) -> Args:
    person = context.person(args.get("person"))
    name = clean(args.get("name"))
    if name == person.name:
        raise CorrectionError(f"{person.shown} is called that already." if name else f"{person.shown} has no name.")
    return {"person": person.id, "name": name}


def clean(name: Any) -> str | None:
    text = " ".join(str(name).split()) if name is not None else ""
    if len(text) > 200:
        raise CorrectionError("that name is too long.", "Use at most 200 characters.")
    if TAG.search(text) or re.fullmatch(r"(person|character|face|voice)[ _]?\d+", text.casefold()) or text.isdigit():
        raise CorrectionError(f"{text} can't be a name: it would be read as somebody's number.", "Choose another.")
    return text or None


def _assign(context: Context, args: Args) -> Args:
    ids = context.observations(args)
    name = clean(args.get("name"))
    if args.get("person") and not args.get("new"):
        person = context.person(args["person"]).id
        if all((h := context.state.who.held[o]).person == person and h.step is not None for o in ids):
            raise CorrectionError(f"you said that already: it is {context.person(person).shown}.")
        return {"observations": ids, "person": person, "name": None, **bind_to(context, ids, person)}
    staying = [_staying(context, "", old, ids) for old in dict.fromkeys(context.state.who.held[o].person for o in ids) if old]
    person = commits.new_person(context.db)
    cannot = [[person, b] for persons in staying for b in persons]
    return {"observations": ids, "person": person, "name": name, **({"cannot": cannot} if cannot else {}), **bind_to(context, ids, person)}


def _staying(context: Context, kept: str, person: str, going: list[str]) -> list[str]:
    """Return the persons whose nodes stay with a person, `kept` first: votes had joined them, and the new person gets a cannot-link to
    each.
    """
    who, gone = context.state.who, set(going)
    stay = {n for n in who.members.get(person, ()) if any(o not in gone for o in who.owned.get(n, ()))}
    found = sorted({context.births[n] for n in stay if n in context.births}, key=lambda p: (p != kept, numbered(p)))
    return found or [kept or person]


def bind_to(context: Context, ids: list[str], person: str) -> Args:
    """Bind observations to nodes created in a person (no vote can move these); create one if there is none of their type."""
    who = context.state.who
    bindings: dict[str, str] = {}
    made: list[str] = []
    first: dict[str, str] = {}  # type → the node
    for id_ in reversed(who.members.get(person, ())):
        if who.nodes[id_].person == person:
            first[who.nodes[id_].type] = id_
    for o in ids:
        type_ = observation_type(o)
        if type_ not in first:
            first[type_] = context.new_node(type_, person, o)
            made.append(first[type_])
        bindings[o] = first[type_]
    return {"bindings": bindings, "nodes": made}


def _merge(context: Context, args: Args) -> Args:
    others = args.get("others", args.get("other"))
    keep = context.person(args.get("keep"))
    ids = list(dict.fromkeys(context.person(o).id for o in ([others] if isinstance(others, str) else others or ())))
    if not ids:
        raise CorrectionError("merge needs somebody to merge with.")
    if keep.id in ids:
        raise CorrectionError(f"{keep.shown} can't be merged with themselves.", "They may be one person already; see: m3desk people list.")
    return {"keep": keep.id, "others": ids}


def _distinct(context: Context, args: Args) -> Args:
    refs = str(args.get("a", args.get("person", ""))), str(args.get("b", args.get("other", "")))
    nodes = [context.state.who.nodes.get(r) for r in refs]
    a, b = (str(n.person) if n is not None and n.person else context.exact(r) for n, r in zip(nodes, refs, strict=True))
    if a != b:
        return {"a": a, "b": b}
    second = nodes[1]
    if second is None or refs[0] == refs[1]:
        raise CorrectionError("that is one person.", "Use split to separate their observations, or name two of their nodes.")
    # Two nodes created in one person (by a user): the second gets a new person.
    new = commits.new_person(context.db)
    return {"a": a, "b": new, "births": {second.id: new}}


def _split(context: Context, args: Args) -> Args:
    person = context.person(args.get("person"))
    mine = context.state.who.of_person(person.id)
    ids = [o for o in mine if o.startswith(f"{args['clip']}.")] if args.get("clip") else context.observations(args)
    if wrong := [o for o in ids if context.state.who.held[o].person != person.id]:
        raise CorrectionError(f"{', '.join(wrong)} is not {person.shown}'s.", "See: m3desk people show.")
    if not ids or len(ids) == len(mine):
        raise CorrectionError(f"that would leave nothing of {person.shown} on one side.", "Choose some of the observations.")
    staying = _staying(context, person.id, person.id, ids)
    new = commits.new_person(context.db)
    sides: Args = {"cannot": [[new, b] for b in [*staying, *(w for w in _cannot_links(context, person.id) if w not in staying)]]}
    if len(staying) > 1:  # also if votes joined them only through what is split off
        sides["must"] = [[staying[0], b] for b in staying[1:]]
    return {"observations": ids, "person": new, "name": clean(args.get("name")), "of": person.id, **sides, **bind_to(context, ids, new)}


def _cannot_links(context: Context, person: str) -> list[str]:
    """Return the persons that a user's cannot-links separate from a person; the split-off person inherits these constraints."""
    who = context.state.who
    found: dict[str, None] = {}
    for c in who.every_constraint():
        if c.kind == "cannot" and c.state == "kept":
            for a, b in ((c.a, c.b), (c.b, c.a)):
                if who.canonical.get(a) == person and b in who.canonical:
                    found[b] = None
    return list(found)


def _exclude(context: Context, args: Args) -> Args:
    person = context.person(args.get("person"))
    ids = context.observations(args)
    if wrong := [o for o in ids if context.state.who.held[o].person != person.id]:
        raise CorrectionError(f"{', '.join(wrong)} is not bound to {person.shown}.")
    staying = _staying(context, person.id, person.id, ids)
    new = commits.new_person(context.db)
    cannot = [[new, b] for b in staying]
    return {"observations": ids, "person": new, "not": person.id, "cannot": cannot, **bind_to(context, ids, new)}


def _set_aside(context: Context, args: Args) -> Args:
    ids = context.observations(args)
    if all(context.state.who.held[o].set_aside for o in ids):
        raise CorrectionError("that is set aside already.")
    return {"observations": ids}


def _pair(context: Context, args: Args) -> tuple[str, str]:
    who = context.state.who
    face, voice = str(args.get("face", "")), str(args.get("voice", ""))
    if node_type(face) == "voice" and node_type(voice) == "face":
        face, voice = voice, face
    for id_, type_ in ((face, "face"), (voice, "voice")):
        if id_ not in who.nodes or who.nodes[id_].type != type_:
            raise CorrectionError(f"there is no {type_} node {id_ or '(none given)'}.", "See: m3desk people list.")
    return face, voice


def _link(context: Context, args: Args) -> Args:
    face, voice = _pair(context, args)
    return {"face": face, "voice": voice}


def _unlink(context: Context, args: Args) -> Args:
    face, voice = _pair(context, args)
    who = context.state.who
    if who.person_of[face] != who.person_of[voice]:
        raise CorrectionError(f"{face} and {voice} are not one person.")
    kept: Args = {"face": face, "voice": voice}
    if who.nodes[face].person == who.nodes[voice].person:
        new = commits.new_person(context.db)
        kept |= {"births": {voice: new}, "cannot": [[new, str(who.nodes[face].person)]]}
    return kept


def _ignore(context: Context, args: Args) -> Args:
    return {"person": context.person(args.get("person")).id, "ignored": bool(args.get("ignored", True))}


def _reject(context: Context, args: Args) -> Args:
    if "name" not in args:
        raise CorrectionError("only suggested names can be rejected so far.", "Give person and name.")
    person = context.person(args.get("person"))
    if not any(s.name.casefold() == str(args["name"]).casefold() for s in person.suggested_names):
        raise CorrectionError(f"{args['name']} is not suggested for {person.shown}.")
    return {"person": person.id, "name": str(args["name"])}


def _read_text(context: Context, args: Args, language: str) -> tuple[str, tuple[Span, ...]]:
    """Turn what a user typed into stored text and spans: `<person_3>`, "Person 3" and the names of people become references."""
    text = " ".join(str(args.get("text", "")).split())
    if not text:
        raise CorrectionError("a memory needs words.", "To remove one, delete it.")
    people = [p for p in context.state.who.people.values() if p.clips]
    words = sorted(((w, p.id) for p in people for w in {p.shown, p.name or "", f"Person {p.number}"} if w), key=lambda w: (-len(w[0]), w))
    for word, id_ in words:
        edge = r"(?<![\w<])", r"(?![\w>])"
        bounded = word if not word.isascii() else edge[0] + re.escape(word) + edge[1]
        text = re.sub(bounded if word.isascii() else re.escape(word), f"<{id_}>", text)
    given: dict[str, list[str]] = {}
    for tag in TAG.findall(text):
        person = reading.person(context.db, tag) if tag.startswith(("person", "character")) else None
        if person is not None:
            given[f"<{tag}>"] = best_observations(context.state, person.id)
    stored, spans, _ = untag(text, given, language)
    return stored, spans


def best_observations(state: State, person: str, limit: int = 3) -> list[str]:
    """Return a few observations that represent a person: the first of each node, faces first."""
    nodes = [n for n in state.who.members.get(person, ()) if state.who.owned.get(n)]
    return [state.who.of_node(n)[0] for n in sorted(nodes, key=lambda n: (not n.startswith("face"), numbered(n)))[:limit]]


def _add(context: Context, args: Args) -> Args:
    text, spans = _read_text(context, args, args.get("language", "en"))
    clip = reading.clip(context.db, args["clip"]) if args.get("clip") else None
    topic: Topic = args.get("topic") or "general"
    told = Sentence(
        text=text, kind="semantic", start=clip.start if clip else 0, end=clip.end if clip else 0, spans=spans, topic=topic,
        language=args.get("language", "en"),
    )  # fmt: skip
    id_ = commits.write_sentence(context.db, clip, told, "user", context.sequence, context.step)
    return {"memory": id_, "text": text, "clip": clip.id if clip else None}


def _edit(context: Context, args: Args) -> Args:
    id_ = context.memory(args)
    row = context.db.execute("SELECT language FROM node WHERE id = ?", (id_,)).fetchone()
    text, spans = _read_text(context, args, row[0] or "en")
    if text == context.state.nodes[id_].text and spans == context.state.nodes[id_].spans:
        raise CorrectionError("that is what it says already.")
    return {"memory": id_, "text": text, "spans": [[s.start, s.end, list(s.observations)] for s in spans]}


def _delete(context: Context, args: Args) -> Args:
    return {"memory": context.memory(args)}


def _pin(context: Context, args: Args) -> Args:
    return {"memory": context.memory(args), "pinned": bool(args.get("pinned", True))}


def _revert(context: Context, args: Args) -> Args:
    number = args.get("step")
    if not isinstance(number, int):
        raise CorrectionError("the number of a step is missing.", "See: m3desk journal.")
    log = rows.full_log_of_steps(context.db)
    if not any(s.step == number for s in log.steps):
        raise CorrectionError(f"there is no step {number}.", "See: m3desk journal.")
    if any(s.step == number and s.kind == "forget" for s in log.steps):
        raise CorrectionError(f"step {number} forgot somebody for good: that can't be taken back.", "See: m3desk journal.")
    if number in undone_steps(log):
        raise CorrectionError(f"step {number} is taken back already.", "See: m3desk journal.")
    resting = _dependents(log, number)
    return {"step": number, "also": resting, "leaves": []} if args.get("also") else {"step": number, "leaves": resting}


def _dependents(log: Log, number: int) -> list[int]:
    """Return later steps in force that depend on what a step made (a person, nodes, a sentence)."""
    steps = {s.step: s for s in in_force(log)}
    args, people = steps[number].args, steps[number].anchor.get("people", {})
    made = {
        *args.get("nodes", ()),
        *args.get("made", ()),
        *([args["person"]] if args.get("nodes") and args["person"] not in people else ()),
        *([args["memory"]] if steps[number].kind == "add" else ()),
        *args.get("told", ()),
        *([args["bookmark"]] if args.get("bookmark") == bookmark_id(number) else ()),
    }
    return [n for n, s in steps.items() if n > number and made & set(_ids(s.args))]


def _ids(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for v in (*value, *value.values()) if isinstance(value, dict) else value:
            yield from _ids(v)


RESOLVE: Mapping[str, Callable[[Context, Args], Args]] = {
    "name": _name, "assign": _assign, "merge": _merge, "distinct": _distinct, "split": _split, "exclude": _exclude, "set-aside": _set_aside,
    "link": _link, "unlink": _unlink, "ignore": _ignore, "reject": _reject, "add": _add, "edit": _edit, "delete": _delete, "pin": _pin,
    "revert": _revert,
}  # fmt: skip
