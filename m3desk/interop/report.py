"""Writes a memory as one self-contained HTML page in English and Chinese: people with faces, a time line, and bookmarks, memories and words
with times.

Every text of a memory is foreign: it is escaped, and the page's own policy lets it load nothing and run no script, so that a text that
slipped through could do nothing either.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from m3desk.domain.bookmark import Bookmark
from m3desk.domain.clip import Clip, Source, clock
from m3desk.domain.memory import StoredSentence
from m3desk.domain.people import Person, PresenceSpan
from m3desk.domain.visible import plain
from m3desk.ports import Reader

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
FACES = 10
"""Faces of a person in the strip, from different clips."""
THUMBNAILS = 60
"""Pictures of a source's clips, evenly chosen."""
LANES = 12
"""People on a time line, by the time that they are there."""
WIDTH = 1000
LANE = 22
MARGIN = 170
"""Units of the time line's drawing: its width, a lane's height, and the room for names."""
COLOURS = ("#2f6fde", "#c2410c", "#15803d", "#9333ea", "#b45309", "#0e7490", "#be185d", "#4d7c0f")
KINDS = ((b"\xff\xd8\xff", "jpeg"), (b"\x89PNG\r\n\x1a\n", "png"), (b"RIFF", "webp"))
MOST_BYTES = 400_000
"""A picture that is larger is left out: crops and thumbnails of ours are far below."""

STYLE = """
:root { color-scheme: light dark; --line: #8885; --muted: #666; }
@media (prefers-color-scheme: dark) { :root { --muted: #aaa; } body { background: #15181c; color: #e8eaed; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.2rem; border-bottom: 1px solid var(--line); }
.muted, td.time, td.kind { color: var(--muted); } td.time { white-space: nowrap; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; width: 100%; } td, th { padding: .25rem .6rem; text-align: start; vertical-align: top; }
tr + tr td { border-top: 1px solid var(--line); } td.text, h1, h3 { overflow-wrap: anywhere; }
.person { display: flex; gap: 1rem; align-items: flex-start; margin: 1.1rem 0; } .person h3 { margin: 0; }
.person > img, .none { width: 84px; height: 84px; border-radius: 50%; object-fit: cover; flex: none; }
.none { background: #8883; } .strip { display: flex; flex-wrap: wrap; gap: 4px; margin: .4rem 0; }
.strip img { height: 56px; border-radius: 4px; } .pictures img { height: 64px; }
svg { width: 100%; height: auto; font: 13px system-ui, sans-serif; }
svg text { fill: currentColor; } .language { float: inline-end; } #en:checked ~ * .zh, #zh:checked ~ * .en { display: none; }
@media print { .language { display: none; } }
"""


class Showable(Reader, Protocol):
    """What the page reads of a memory beyond `ports.Reader`."""

    def everybody(self) -> list[Person]: ...


def page(reader: Showable, sources: Sequence[Source]) -> str:
    """Return the page of these sources of a memory."""
    here = {s.id for s in sources}
    spans = {s.id: reader.presence([c.id for c in reader.clips(s.id)]) for s in sources}
    there = {span.person for rows in spans.values() for span in rows}
    people = [p for p in reader.everybody() if p.clips and not p.ignored and (p.id in there or len(reader.sources()) == len(sources))]
    people.sort(key=lambda p: -(p.screen_time + p.speech_time))
    title = ", ".join(_name(s) for s in sources)
    out = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n',
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(POLICY)}">\n',
        '<meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width">\n',
        f"<title>{html.escape(plain(title))}</title>\n<style>{STYLE}</style></head><body>\n",
        '<input type="radio" name="language" id="en" class="language" checked aria-label="English">',
        '<input type="radio" name="language" id="zh" class="language" aria-label="中文">',
        '<p class="language"><label for="en">English</label> · <label for="zh" lang="zh">中文</label></p>\n',
        f"<header><h1>{safe(title)}</h1>\n<p class=muted>",
        both(
            "What M3Desk remembers of this. It may be wrong: check what matters in the video.",
            "M3Desk 对此内容的记忆。可能有误：重要内容请对照视频核实。",
        ),
        "</p></header>\n<main>\n",
        *_people(reader, people, here),
    ]
    for s in sources:
        out += _timeline(reader, s, spans[s.id], people)
    out += _bookmarks([b for b in reader.bookmarks() if b.source in here], sources)
    out += _memories(
        [m for m in reader.memories() if m.source in here or (m.source is None and len(here) == len(reader.sources()))], sources
    )
    out += _speech(reader, sources)
    return "".join([*out, "</main></body></html>\n"])


def safe(text: str) -> str:
    """Return a foreign text as it may stand between tags; nothing in it acts, not even on the direction of what follows."""
    return f"<bdi>{html.escape(plain(text))}</bdi>" if _turns(text) else html.escape(plain(text))


def _turns(text: str) -> bool:
    return any("\u0590" <= c <= "\u08ff" or c in "\u200f\u202a\u202b\u202d\u202e\u2066\u2067\u2068" for c in text)


def both(english: str, chinese: str) -> str:
    """Return a text of the page in both languages, of which one is shown."""
    return f'<span class="en">{english}</span><span class="zh" lang="zh">{chinese}</span>'


def picture(data: bytes | None, words: str) -> str:
    """Return a stored picture as part of the page; nothing where it is missing, too large or of another kind than pictures are."""
    kind = next((name for begins, name in KINDS if data is not None and data.startswith(begins)), None)
    if data is None or kind is None or len(data) > MOST_BYTES:
        return ""
    return f'<img alt="{html.escape(plain(words))}" src="data:image/{kind};base64,{base64.b64encode(data).decode()}">'


def _name(source: Source) -> str:
    return Path(source.uri.replace("\\", "/")).name or source.id


def _called(person: str) -> str:
    """Return a person's name; who has none, "Person 3", is called otherwise in Chinese."""
    number = person.removeprefix("Person ")
    return both(f"Person {number}", f"人物 {number}") if person.startswith("Person ") and number.isdecimal() else safe(person)


def _people(reader: Showable, people: Sequence[Person], sources: set[str]) -> Iterator[str]:
    yield f"<h2>{both('People', '人物')}</h2>\n"
    if not people:
        yield f"<p>{both('Nobody yet.', '暂无人物。')}</p>\n"
    crops: dict[str, list[str]] = {}
    for source in sources:
        for row in reader.tracks(source):
            if row.person and row.track.crops and not row.set_aside:
                crops.setdefault(row.person, []).append(row.track.crops[0])
    for p in people:
        head = picture(reader.media(p.portrait) if p.portrait else None, p.shown) or '<div class="none"></div>'
        chosen = _spread(list(dict.fromkeys(crops.get(p.id, []))), FACES)
        strip = "".join(picture(reader.media(crop), p.shown) for crop in chosen)
        times = both(
            f"on screen {clock(p.screen_time)} · speaking {clock(p.speech_time)} · clips: {len(p.clips)}",
            f"出现 {clock(p.screen_time)} · 说话 {clock(p.speech_time)} · 片段数：{len(p.clips)}",
        )
        also = f" ({', '.join(safe(a) for a in p.aliases)})" if p.aliases else ""
        sure = "" if p.name_state != "suggested" else both(" – name not confirmed", " – 姓名未确认")
        yield (
            f'<section class="person">{head}<div><h3>{_called(p.shown)}{also}{sure}</h3><p class=muted>{times}</p>'
            f'<div class="strip">{strip}</div></div></section>\n'
        )


def _spread(rows: list[str], most: int) -> list[str]:
    """Return at most so many of them, evenly chosen."""
    return rows if len(rows) <= most else [rows[i * len(rows) // most] for i in range(most)]


def _timeline(reader: Showable, source: Source, rows: Sequence[PresenceSpan], people: Sequence[Person]) -> Iterator[str]:
    """Draw who is on screen (thin) and who speaks (thick) over time, below pictures of the clips."""
    clips = reader.clips(source.id)
    end = max([source.duration or 0, *(c.end for c in clips)], default=0)
    yield f"<h2>{both('Time line', '时间线')}: {safe(_name(source))}</h2>\n"
    yield '<div class="strip pictures">' + "".join(_thumbnails(reader, clips)) + "</div>\n"
    shown = [p for p in people if any(s.person == p.id for s in rows)][:LANES]
    if not shown or end <= 0:
        return
    height = LANE * len(shown) + LANE
    yield f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Time line / 时间线">\n'
    for n, p in enumerate(shown):
        y, colour = LANE * n, COLOURS[n % len(COLOURS)]
        label = p.shown if len(p.shown) <= 20 else p.shown[:19] + "…"
        yield f'<text x="0" y="{y + 15}">{html.escape(plain(label))}</text>'
        for s in rows:
            if s.person == p.id:
                x = MARGIN + (WIDTH - MARGIN) * s.start / end
                wide = max(1.0, (WIDTH - MARGIN) * (s.end - s.start) / end)
                top, tall = (y + 3, 9) if s.heard else (y + 14, 4)
                what = "speaks / 说话" if s.heard else "on screen / 出现"
                yield (
                    f'<rect x="{x:.1f}" y="{top}" width="{wide:.1f}" height="{tall}" fill="{colour}">'
                    f"<title>{html.escape(plain(p.shown))}: {what} {clock(s.start)} – {clock(s.end)}</title></rect>"
                )
    for k in range(5):
        x = MARGIN + (WIDTH - MARGIN) * k / 4
        anchor = "end" if k == 4 else "middle" if k else "start"
        yield f'<text x="{x:.0f}" y="{height - 5}" text-anchor="{anchor}">{clock(end * k // 4)}</text>'
    yield "</svg>\n<p class=muted>" + both("Thick: speaks. Thin: on screen.", "粗线：说话。细线：出现在画面中。") + "</p>\n"


def _thumbnails(reader: Showable, clips: Sequence[Clip]) -> Iterator[str]:
    media = reader.thumbnails([c.id for c in clips])
    at = {c.id: clock(c.start) for c in clips}
    for clip in _spread([c.id for c in clips if c.id in media], THUMBNAILS):
        yield picture(reader.media(media[clip]), at[clip])


def _bookmarks(bookmarks: Sequence[Bookmark], sources: Sequence[Source]) -> Iterator[str]:
    if bookmarks:
        yield f"<h2>{both('Bookmarks', '书签')}</h2>\n<table>\n"
        for b in bookmarks:
            until = f" – {clock(b.end)}" if b.end > b.start else ""
            yield f"<tr><td class=time>{_when(b.source, b.start, sources)}{until}</td><td class=text dir=auto>{safe(b.note)}</td></tr>\n"
        yield "</table>\n"


def _memories(memories: Sequence[StoredSentence], sources: Sequence[Source]) -> Iterator[str]:
    for kind, title in (("semantic", both("Knowledge", "知识")), ("episodic", both("What happened", "发生了什么"))):
        rows = [m for m in memories if m.kind == kind]
        if rows:
            yield f"<h2>{title}</h2>\n<table>\n"
            for m in rows:
                yield f"<tr><td class=time>{_when(m.source, m.start, sources)}</td><td class=text dir=auto>{safe(m.shown)}</td></tr>\n"
            yield "</table>\n"


def _speech(reader: Showable, sources: Sequence[Source]) -> Iterator[str]:
    said = [(s.id, row) for s in sources for row in reader.speech(s.id) if row.utterance.text and not row.set_aside]
    if said:
        yield f"<h2>{both('Words spoken', '说过的话')}</h2>\n<table>\n"
        for source, row in said:
            u = row.utterance
            who = _called(row.shown) if row.shown else "–"
            yield (
                f"<tr><td class=time>{_when(source, u.start, sources)}</td><td class=kind>{who}</td>"
                f"<td class=text dir=auto>{safe(u.text)}</td></tr>\n"
            )
        yield "</table>\n"


def _when(source: str | None, at: int | None, sources: Sequence[Source]) -> str:
    if at is None:
        return ""
    number = next((n for n, s in enumerate(sources, 1) if s.id == source), 0)
    return f"{clock(at)} ({number})" if len(sources) > 1 and number else clock(at)
