"""The HTML report is one file that loads and runs nothing, whatever stands in the memory's texts and pictures."""

from __future__ import annotations

import base64
import re
import socket
from html.parser import HTMLParser
from pathlib import Path

import pytest

from m3desk.domain.bookmark import Bookmark
from m3desk.interop import report
from tests.ui.fakes import FakeReader, World

EVIL = "</title></style><script>alert(1)</script><img src=http://x.invalid/ onerror=alert(1)>\u202eevil\x1b[2J"
TAGS = frozenset(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "input",
        "p",
        "label",
        "header",
        "h1",
        "h2",
        "h3",
        "main",
        "section",
        "div",
        "img",
        "svg",
        "text",
        "rect",
        "table",
        "tr",
        "td",
        "span",
        "bdi",
    ]
)


class Parsed(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


class Shown(FakeReader):
    def everybody(self):
        return self.people()


def page(world: World) -> str:
    reader = Shown(world)
    return report.page(reader, reader.sources()[:1])


def test_a_report_shows_people_with_faces_a_time_line_and_memories_with_times() -> None:
    world = World(extra_nodes=0)
    text = page(world)
    parsed = Parsed(text)
    assert "meeting in the kitchen.mp4" in parsed.text and "李梅" in parsed.text
    pictures = [base64.b64decode((a["src"] or "").partition("base64,")[2]) for tag, a in parsed.tags if tag == "img"]
    assert world.media["thumb.c0"] in pictures and any(world.media[name] in pictures for name in world.media if name.startswith("crop.p0"))
    assert sum(tag == "rect" for tag, _ in parsed.tags) > 8
    assert re.search(r"<td class=time>00:02</td><td class=kind>Ann</td>", text)
    assert {"People", "人物", "Time line", "时间线", "Knowledge", "知识"} <= set(parsed.text)


def test_a_report_tells_the_bookmarks_of_its_sources_with_times_and_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = [
        Bookmark("bookmark_1", "s1", 90_000_000, 90_000_000, "the <b>vase</b> falls", "2026-11-22T10:00:00Z", "user"),
        Bookmark("bookmark_2", "s1", 100_000_000, 130_000_000, "", "2026-11-22T10:00:00Z", "user"),
        Bookmark("bookmark_3", "s2", 5_000_000, 5_000_000, "of another film", "2026-11-22T10:00:00Z", "user"),
    ]
    assert "Bookmarks" not in Parsed(page(World(extra_nodes=0))).text
    monkeypatch.setattr(FakeReader, "bookmarks", lambda _self: marks)
    text = page(World(extra_nodes=0))
    assert {"Bookmarks", "书签"} <= set(Parsed(text).text)
    assert "<td class=time>01:30</td><td class=text dir=auto>the &lt;b&gt;vase&lt;/b&gt; falls</td>" in text
    assert "01:40 – 02:10" in text and "of another film" not in text


def test_a_report_is_made_without_the_network_and_refers_to_nothing_outside_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_how: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    parsed = Parsed(page(World(extra_nodes=0)))
    addresses = [v for _, a in parsed.tags for k, v in a.items() if k in ("src", "href", "action", "srcset", "data", "xlink:href")]
    assert addresses and all((v or "").startswith("data:image/") for v in addresses)
    policy = next(a["content"] for tag, a in parsed.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in (policy or "") and "script" not in (policy or "")
    assert "url(" not in report.STYLE and "@import" not in report.STYLE


def test_no_text_of_a_memory_becomes_a_part_of_the_page() -> None:
    from dataclasses import replace

    world = World(extra_nodes=0)
    world.sources[0] = replace(world.sources[0], uri="/videos/" + EVIL.replace("/", "\u2215"))
    world.people = [replace(p, shown=EVIL, name=EVIL, aliases=(EVIL,)) for p in world.people]
    world.sentences = [replace(s, shown=EVIL) for s in world.sentences]
    world.speech = [replace(r, shown=EVIL, utterance=replace(r.utterance, text=EVIL)) for r in world.speech]
    text = page(world)
    parsed = Parsed(text)
    assert {tag for tag, _ in parsed.tags} <= TAGS
    assert not [k for _, a in parsed.tags for k in a if k.startswith("on")]
    assert "\x1b" not in text and "<script" not in text
    assert "alert(1)" in text, "the words are there, as words"
    assert all(part.count("<bdi>") == part.count("</bdi>") for part in text.splitlines())


def test_what_is_no_picture_is_left_out() -> None:
    assert report.picture(b'<svg onload="alert(1)">', "Ann") == ""
    assert report.picture(None, "Ann") == "" and report.picture(b"\xff\xd8\xff" + bytes(report.MOST_BYTES), "Ann") == ""
    assert 'alt="&lt;b&gt;&quot;"' in report.picture(b"\xff\xd8\xff\xe0", '<b>"')


def test_a_memory_of_nobody_has_a_report_too(tmp_path: Path) -> None:
    world = World(extra_nodes=0)
    world.people, world.tracks, world.speech, world.sentences = [], [], [], []
    assert "Nobody yet." in page(world)
