"""Reads a thing for the inspector and describes it in words and links (in the reading thread, without widgets)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QCoreApplication

from m3desk.domain.appearance import going_way
from m3desk.domain.clip import clock
from m3desk.domain.ids import clip_of, is_person, source_of
from m3desk.errors import M3DeskError
from m3desk_ui.graph.style import kind_singular
from m3desk_ui.look import links, texts
from m3desk_ui.look.plain import html
from m3desk_ui.memory.order import in_time, sentences
from m3desk_ui.people.relations import counted, read_relations

if TYPE_CHECKING:
    from m3desk.domain.changed import Changed
    from m3desk.domain.clip import Clip
    from m3desk.domain.evidence import ObjectSeen, TextOnScreen
    from m3desk.domain.memory import StoredSentence
    from m3desk.domain.people import Binding, Person, SpeechRow, TrackRow


TOGETHER = 12
"""People with whom a person is most remembered."""


class Row(NamedTuple):
    """One row of a list: what it says (html), the moment it is of, a picture (media id) and where a click on the picture leads."""

    html: str
    at: tuple[str, int] | None = None
    picture: str | None = None
    address: str = ""


@dataclass(slots=True)
class Inspected:
    """What was read about a thing. `facts`: (label, html); `lists`: (heading, rows); `pictures`: (media id, address)."""

    title: str
    what: str = ""
    facts: list[tuple[str, str]] = field(default_factory=list)
    details: list[tuple[str, str]] = field(default_factory=list)
    """Facts for who looks closer, such as ids, models and scores: folded away."""
    lists: list[tuple[str, list[Row]]] = field(default_factory=list)
    pictures: list[tuple[str, str]] = field(default_factory=list)
    sound: str | None = None
    play: tuple[str, int] | None = None
    rests: set[str] = field(default_factory=set)
    """Ids of all that is told of, or linked to: where none of them changed, this did not."""
    whose: str = ""
    """The clip or person whose sentences are listed, if any are."""
    memories: tuple[StoredSentence, ...] = ()
    """All sentences about a person."""
    clips: tuple[Clip, ...] = ()
    """All clips of a source."""
    bound: str = ""
    """The observation of which the engine is asked why it is bound to its person."""


def labels() -> dict[str, str]:
    """Return the inspector's words in the language of the window (thread-safe, as Qt's translate is)."""
    return {
        "when": QCoreApplication.translate("Inspector", "When"),
        "who": QCoreApplication.translate("Inspector", "Who"),
        "weight": QCoreApplication.translate("Inspector", "Weight"),
        "from": QCoreApplication.translate("Inspector", "From"),
        "clip": QCoreApplication.translate("Inspector", "Clip"),
        "model": QCoreApplication.translate("Inspector", "Written by"),
        "rests": QCoreApplication.translate("Inspector", "Based on"),
        "linked": QCoreApplication.translate("Inspector", "Linked to"),
        "also": QCoreApplication.translate("Inspector", "Also called"),
        "seen": QCoreApplication.translate("Inspector", "Seen"),
        "speaks": QCoreApplication.translate("Inspector", "Speaks"),
        "known": QCoreApplication.translate("Inspector", "Known"),
        "topic": QCoreApplication.translate("Inspector", "Topic"),
        "score": QCoreApplication.translate("Inspector", "Confidence"),
        "decided": QCoreApplication.translate("Inspector", "Decided by"),
        "faces": QCoreApplication.translate("Inspector", "Faces"),
        "voices": QCoreApplication.translate("Inspector", "Voices"),
        "language": QCoreApplication.translate("Inspector", "Language"),
        "runner_up": QCoreApplication.translate("Inspector", "Runner-up"),
        "memories": QCoreApplication.translate("Inspector", "Memories"),
        "together": QCoreApplication.translate("Inspector", "Together with"),
        "things": QCoreApplication.translate("Inspector", "In view"),
        "screen": QCoreApplication.translate("Inspector", "On screen"),
        "user": QCoreApplication.translate("Inspector", "you"),
        "maybe": QCoreApplication.translate("Inspector", "Maybe"),
        "nobody": QCoreApplication.translate("Inspector", "nobody yet"),
        "ended": QCoreApplication.translate("Inspector", "No longer true since"),
        "pinned": QCoreApplication.translate("Inspector", "pinned"),
        "face track": QCoreApplication.translate("Inspector", "Face in the picture"),
        "speech": QCoreApplication.translate("Inspector", "Speech"),
        "clip_": QCoreApplication.translate("Inspector", "Clip"),
        "source_": QCoreApplication.translate("Inspector", "Source"),
        "length": QCoreApplication.translate("Inspector", "Length"),
        "size": QCoreApplication.translate("Inspector", "Picture"),
        "state": QCoreApplication.translate("Inspector", "State"),
        "why": QCoreApplication.translate("Inspector", "Why"),
        "merged": QCoreApplication.translate("Inspector", "Joined from"),
        "id": QCoreApplication.translate("Inspector", "Id"),
        "whole_clip": QCoreApplication.translate("Inspector", "the whole clip"),
    }


def read_thing(reader: Any, kind: str, id_: str) -> Inspected:
    """Return the description of a thing. Raises KeyError or M3DeskError if it no longer exists."""
    return Words().read(reader, kind, id_)


def reread(reader: Any, kind: str, id_: str, old: Inspected, changed: Changed) -> Inspected | None:
    """Return the description of a thing after a change; None if it is unchanged. Raises as `read_thing`."""
    ids = changed.people | changed.nodes | changed.observations | changed.clips | changed.sources
    concerned = not old.rests.isdisjoint(ids) or any(e[0] in old.rests or e[1] in old.rests for e in changed.edges)
    if not concerned and old.whose and (told := sentences(changed)):
        concerned = any(old.whose in (m.clip, *m.people) for m in reader.memories_of(told))
    return Words(old, changed).read(reader, kind, id_) if concerned else None


class Words:
    """One reading of one thing."""

    def __init__(self, old: Inspected | None = None, changed: Changed | None = None) -> None:
        """`old`, `changed`: the last result, and what changed since; then only that is read."""
        self.t = labels()
        self.old, self.changed = old, changed
        self.rests: set[str] = set()

    def read(self, reader: Any, kind: str, id_: str) -> Inspected:
        """Return what there is to say of a thing. Raises KeyError or CorrectionError where it is gone."""
        found = self._read(reader, kind, id_)
        found.rests |= self.rests | {id_}
        return found

    def _read(self, reader: Any, kind: str, id_: str) -> Inspected:
        if kind == "person":
            return self._person(reader, reader.person(id_))
        if kind == "observation":
            return self._observation(reader, id_)
        if kind == "clip":
            return self._clip(reader, id_)
        if kind == "source":
            return self._source(reader, id_)
        if is_person(id_):
            return self._person(reader, reader.person(id_))
        row = reader.node(id_)
        if row.type in ("episodic", "semantic"):
            return self._sentence(reader, reader.sentence(id_))
        return self._node(reader, id_)

    def _people(self, reader: Any, ids: Sequence[str]) -> str:
        self.rests |= set(ids)
        names = {p.id: p.shown for p in reader.people_of(ids)} if ids else {}
        return " ".join(links.chip(names.get(p, p), "person", p) for p in ids)

    def _where(self, reader: Any, source: str | None) -> str:
        self.rests |= {source} if source else set()
        file = next((s.uri.rsplit("/", 1)[-1] for s in reader.sources() if s.id == source), source or "")
        return links.link(file, "source", source) if source else ""

    def _sentence(self, reader: Any, s: StoredSentence) -> Inspected:
        found = Inspected(s.shown, kind_singular(s.kind), play=(s.source, s.start))
        found.facts = [
            (self.t["when"], links.moment(s.source, s.start, s.end)),
            (self.t["who"], self._people(reader, s.people)),
            (self.t["topic"], html(texts.topic(s.topic)) if s.topic else ""),
            (self.t["ended"], html(s.valid_until or "")),
            (self.t["from"], self._where(reader, s.source)),
            ("", html(self.t["pinned"]) if s.pinned else ""),
        ]
        found.details = [
            (self.t["weight"], f"{s.weight:g}"),
            (self.t["clip"], links.link(s.clip, "clip", s.clip)),
            (self.t["model"], html(s.model)),
            (self.t["id"], html(s.id)),
        ]
        rests = [self._observation_line(reader, o, found) for o in s.citations]
        if not s.citations:
            rests = [Row(html(self.t["whole_clip"]), (s.source, s.start))]
        found.lists = [(self.t["rests"], rests), (self.t["linked"], self._linked(reader, s.id))]
        return found

    def _observation_line(self, reader: Any, id_: str, found: Inspected) -> Row:
        """Return a row for a piece of evidence, with its face."""
        self.rests.add(id_)
        row = track_row(reader, id_) or speech_row(reader, id_)
        if row is None:
            return self._thing_line(reader, id_)
        self.rests |= {row.person} if row.person else set()
        if hasattr(row, "track"):
            crop = row.track.crops[0] if row.track.crops else None
            what = self.t["face track"] if not row.shown else f"{self.t['face track']}: {row.shown}"
            return Row(links.quiet(what, "observation", id_), (source_of(id_), row.track.start), crop, links.href("observation", id_))
        found.sound = found.sound or row.utterance.audio
        said = f"“{row.utterance.text}”" if row.utterance.text else self.t["speech"]
        words = f"{html(row.shown)}: {links.quiet(said, 'observation', id_)}" if row.shown else links.quiet(said, "observation", id_)
        return Row(words, (source_of(id_), row.utterance.start))

    def _thing_line(self, reader: Any, id_: str) -> Row:
        try:
            return Row(links.quiet(reader.node(id_).content or id_, "node", id_))
        except (LookupError, M3DeskError):
            return Row(html(id_))

    def _linked(self, reader: Any, id_: str, most: int = 30) -> list[Row]:
        lines = []
        edges = sorted(reader.neighbours(id_), key=lambda e: (-e.weight, e.a, e.b, e.kind))[:most]
        others = [edge.b if edge.a == id_ else edge.a for edge in edges]
        rows = {row.id: row for row in reader.nodes_of(others)} if others else {}
        for row in (rows[other] for other in others if other in rows):
            self.rests |= {row.id, *((row.person,) if row.person else ())}
            kind = kind_singular(row.type)
            if row.type in ("face", "voice"):
                whose = self._called(reader, row.person)
                lines.append(
                    Row(links.quiet(f"{kind}: {whose}" if whose else kind, "node", row.id), None, row.picture, links.href("node", row.id))
                )
            else:
                at = (row.source, row.start) if row.source and row.start is not None else None
                lines.append(Row(f"{html(kind)}: {links.quiet(row.content or row.label, 'node', row.id)}", at))
        return lines

    @staticmethod
    def _called(reader: Any, person: str | None) -> str:
        return next((p.shown for p in reader.people_of((person,))), "") if person else ""

    def _person(self, reader: Any, p: Person) -> Inspected:
        found = Inspected(p.shown, f"{kind_singular('person')} {p.number}", play=p.first_seen)
        if p.portrait:
            found.pictures.append((p.portrait, links.href("play", *p.first_seen) if p.first_seen else links.href("person", p.id)))
        maybe = " · ".join(f"{html(s.name)} “{html(s.words)}”" for s in p.suggested_names[:3] if s.name != p.name)
        found.facts = [
            (self.t["maybe"], maybe),
            (self.t["also"], html(", ".join(a for a in p.aliases if not is_person(a)))),
            (self.t["seen"], texts.presence(p.screen_time) if p.screen_time else ""),
            (self.t["speaks"], texts.presence(p.speech_time) if p.speech_time else ""),
            (self.t["when"], " … ".join(links.moment(*at) for at in (p.first_seen, p.last_seen) if at)),
        ]
        found.details = [
            (self.t["faces"], ", ".join(links.link(n, "node", n) for n in p.faces)),
            (self.t["voices"], ", ".join(links.link(n, "node", n) for n in p.voices)),
            (self.t["merged"], html(", ".join(texts.alias(a) for a in p.aliases if is_person(a)))),
            (self.t["id"], html(p.id)),
        ]
        self.rests |= {p.id, *p.faces, *p.voices}
        found.whose = p.id
        memories = found.memories = self._about(reader, p.id)
        self.rests |= {m.id for m in memories}
        together, told = self._together(reader, p.id, memories)
        by_topic: dict[str, list[StoredSentence]] = {}
        for m in sorted((m for m in memories if m.kind == "semantic" and m.id not in told), key=lambda m: -m.weight):
            by_topic.setdefault(m.topic or "general", []).append(m)
        lived = [m for m in memories if m.kind == "episodic"][:20]
        found.lists = [
            (self.t["together"], together),
            *((f"{self.t['known']}: {texts.topic(topic)}", [self._memory_line(m) for m in rows]) for topic, rows in by_topic.items()),
            (self.t["memories"], [self._memory_line(m) for m in lived]),
        ]
        return found

    def _together(self, reader: Any, person: str, memories: Sequence[StoredSentence]) -> tuple[list[Row], set[str]]:
        """Return with whom a person is remembered, each followed by what is known of the two; and the ids of those sentences."""
        _, relations = read_relations(reader, person, memories)
        rows: list[Row] = []
        told: set[str] = set()
        for relation in relations[:TOGETHER]:
            other = relation.person
            self.rests.add(other.id)
            who = f"{links.chip(other.shown, 'person', other.id)} {html(counted(relation))}"
            rows.append(Row(who, None, other.portrait, links.href("person", other.id)))
            rows += [self._memory_line(m) for m in relation.known if m.id not in told]
            told |= {m.id for m in relation.known}
        return rows, told

    def _about(self, reader: Any, person: str) -> tuple[StoredSentence, ...]:
        """Return the sentences about a person."""
        if self.old is None or self.changed is None or self.old.whose != person:
            return tuple(reader.memories(person=person))
        told = sentences(self.changed)
        new = [m for m in reader.memories_of(told) if person in m.people] if told else []
        return tuple(sorted((*(m for m in self.old.memories if m.id not in told), *new), key=in_time))

    def _memory_line(self, m: StoredSentence) -> Row:
        return Row(links.quiet(m.shown, "node", m.id), (m.source, m.start))

    def _node(self, reader: Any, id_: str) -> Inspected:
        row = reader.node(id_)
        play = (row.source, row.start) if row.source and row.start is not None else None
        found = Inspected(row.label or row.content, kind_singular(row.type), play=play)
        if row.picture:
            found.pictures.append((row.picture, links.href("play", *play) if play else links.href("node", id_)))
        found.facts = [
            (self.t["who"], self._people(reader, (row.person,) if row.person else row.people)),
            (self.t["when"], links.moment(row.source, row.start, row.end)),
            (self.t["from"], self._where(reader, row.source)),
        ]
        found.details = [(self.t["weight"], f"{row.weight:g}"), (self.t["id"], html(id_))]
        if row.type in ("face", "voice"):
            bound = [b for b in reader.bindings(node=id_) if b.superseded is None]
            lines = [self._observation_line(reader, b.observation, found) for b in bound[:60]]
            found.lists.append((self.t["rests"], lines))
        found.lists.append((self.t["linked"], self._linked(reader, id_)))
        return found

    def _observation(self, reader: Any, id_: str) -> Inspected:
        source = source_of(id_)
        track, said = track_row(reader, id_), speech_row(reader, id_)
        if track is not None:
            t = track.track
            found = Inspected(track.shown or self.t["nobody"], self.t["face track"], play=(source, t.start))
            found.pictures = [(crop, links.href("play", source, t.start)) for crop in t.crops[:6]]
            found.facts = [
                (self.t["who"], self._people(reader, (track.person,)) if track.person else ""),
                (self.t["when"], links.moment(source, t.start, t.end)),
            ]
            found.details = [(self.t["score"], f"{t.score:.0%}")]
        elif said is not None:
            u = said.utterance
            found = Inspected(f"“{u.text}”", self.t["speech"], play=(source, u.start), sound=u.audio)
            found.facts = [
                (self.t["who"], self._people(reader, (said.person,)) if said.person else html(self.t["nobody"])),
                (self.t["when"], links.moment(source, u.start, u.end)),
            ]
            found.details = [(self.t["language"], html(u.language or "")), (self.t["score"], f"{u.confidence:.0%}")]
        else:
            raise KeyError(id_)
        found.facts.append((self.t["from"], self._where(reader, source)))
        found.details += [(self.t["clip"], links.link(clip_of(id_), "clip", clip_of(id_))), (self.t["id"], html(id_))]
        found.whose = clip_of(id_)
        self.rests.add(found.whose)
        found.bound = id_
        found.details += self._binding_facts([b for b in reader.bindings(id_) if b.superseded is None])
        cites = [m for m in reader.memories(clip=clip_of(id_)) if id_ in m.citations or any(id_ in s.observations for s in m.spans)]
        self.rests |= {m.id for m in cites}
        found.lists = [(self.t["memories"], [self._memory_line(m) for m in cites])]
        return found

    def _binding_facts(self, bindings: list[Binding]) -> list[tuple[str, str]]:
        facts = []
        for b in bindings[-1:]:
            by = self.t["user"] if b.by == "user" else b.by
            score = f" ({b.score:.2f})" if b.score is not None else ""
            facts.append((self.t["decided"], html(by + score)))
            if b.runner_up:
                margin = f" (−{b.margin:.2f})" if b.margin is not None else ""
                facts.append((self.t["runner_up"], links.link(b.runner_up, "node", b.runner_up) + margin))
        return facts

    def _clip(self, reader: Any, id_: str) -> Inspected:
        clip = next(iter(reader.clips_of((id_,))), None)
        if clip is None:
            raise KeyError(id_)
        found = Inspected(f"{clock(clip.start)}–{clock(clip.end)}", self.t["clip_"], play=(clip.source, clip.start))
        media = reader.thumbnail(id_)
        if media:
            found.pictures.append((media, links.href("play", clip.source, clip.start)))
        found.facts = [(self.t["state"], html(texts.source_state(clip.state))), (self.t["from"], self._where(reader, clip.source))]
        memories = reader.memories(clip=id_)
        found.whose = id_
        self.rests |= {m.id for m in memories}
        found.lists = [
            (self.t["memories"], [self._memory_line(m) for m in memories]),
            (self.t["things"], _labels(reader.objects(clip.source, clip.start, clip.end), id_)),
            (self.t["screen"], _texts(reader.texts(clip.source, clip.start, clip.end), id_)),
        ]
        return found

    def _clips(self, reader: Any, source: str) -> tuple[Clip, ...]:
        if self.old is None or self.changed is None:
            return tuple(reader.clips(source))
        ids = self.changed.clips
        new = [c for c in reader.clips_of(ids) if c.source == source] if ids else []
        return tuple(sorted((*(c for c in self.old.clips if c.id not in ids), *new), key=lambda c: c.index))

    def _source(self, reader: Any, id_: str) -> Inspected:
        source = next((s for s in reader.sources() if s.id == id_), None)
        if source is None:  # what somebody was taught from is no video
            raise KeyError(id_)
        found = Inspected(source.uri.rsplit("/", 1)[-1], self.t["source_"], play=(id_, 0))
        size = f"{source.width} × {source.height}" if source.width else ""
        found.facts = [
            (self.t["from"], html(source.uri)),
            (self.t["length"], texts.duration(source.duration) if source.duration else ""),
            (self.t["size"], size),
            (self.t["state"], html(texts.source_state(source.state)) + (f": {html(source.error)}" if source.error else "")),
        ]
        found.clips = self._clips(reader, id_)
        self.rests |= {c.id for c in found.clips}
        clips = [
            Row(links.quiet(f"{clock(c.start)}–{clock(c.end)}", "clip", c.id) + f" {html(texts.source_state(c.state))}")
            for c in found.clips[:200]
        ]
        found.lists = [(self.t["clip_"], clips)]
        return found


def track_row(reader: Any, id_: str) -> TrackRow | None:
    return next(iter(reader.tracks_of((id_,))), None)


def speech_row(reader: Any, id_: str) -> SpeechRow | None:
    return next(iter(reader.speech_of((id_,))), None)


def _labels(objects: Sequence[ObjectSeen], clip: str) -> list[Row]:
    return [Row(html(o.label), (source_of(clip), o.start)) for o in objects if o.clip == clip and going_way(o.label) is None]


def _texts(rows: Sequence[TextOnScreen], clip: str) -> list[Row]:
    return [Row(f"“{html(t.text)}”", (source_of(clip), t.start)) for t in rows if t.clip == clip]
