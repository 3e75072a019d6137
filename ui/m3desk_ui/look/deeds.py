"""Says what a correction did, or would do, as a person would, in the window's language: from the one line in which the engine tells it.

The engine's lines are those of `store.corrections.effects` and `domain.questions`; a line of another form stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from PySide6.QtCore import QCoreApplication

from m3desk_ui.look import texts

Steps = Mapping[int, str]
"""Number of a correction → the engine's line about it."""

_THINGS = r"(?:the (?:face|utterance) at [\d:]+|\d+ (?:faces?|utterances?)(?: and \d+ utterances?)?)"
_COUNTS = re.compile(r" \((?P<counts>[^()]*(?:reassigned|differently)[^()]*)\)")
_ONE = re.compile(r"the (face|utterance) at ([\d:]+)")
_MANY = re.compile(r"(\d+) (face|utterance|memor)\w*")


def tr(text: str, *parts: str) -> str:
    said = QCoreApplication.translate("Deeds", text)
    for number, part in reversed(list(enumerate(parts, 1))):
        said = said.replace(f"%{number}", part)
    return said


def done(line: str, steps: Steps | None = None) -> str:
    """Return what a correction did. `steps`: what is known of others that the line names by number."""
    head, counts, tail = _parted(line)
    said = _deed(head, steps or {})
    counts = _further(head, counts)
    if counts:
        said = tr("%1 (%2)", said, change(counts))
    for warning in tail:
        said = tr("%1; %2", said, _warning(warning, steps or {}))
    return said


def _further(head: str, counts: str) -> str:
    """Return the counts without what the deed has just counted: "takes 2 faces from Ann (2 faces are reassigned, 3 memories …)"."""
    moved = re.match(rf"(?:takes|gives|moves) ({_THINGS}) (?:from|to) ", head)
    return re.sub(rf"^{re.escape(moved[1])} (?:is|are) reassigned(?:, |$)", "", counts) if moved else counts


def would(line: str, steps: Steps | None = None) -> str:
    """Return what a correction would change, without the deed itself; a line without changes as a whole."""
    head, counts, tail = _parted(line)
    if rested := re.search(r"; ((?:step \d+(?:, )?)+ rested on it)", head):
        tail = [rested[1], *tail]
    parts = ([change(counts)] if counts else []) + [_warning(warning, steps or {}) for warning in tail]
    if parts:
        return "; ".join(parts)
    return done(line, steps) if _deed(head, steps or {}) == head else tr("nothing else")


def change(line: str) -> str:
    """Return what changes, in the form of a question's effect: "joins 12 faces, 9 memories read differently"."""
    return tr("%1, %2", *(_changed(p) for p in line.split(", ", 1))) if ", " in line else _changed(line)


def _parted(line: str) -> tuple[str, str, list[str]]:
    """Return the deed, the counts in brackets, and what follows by semicolons."""
    found = list(_COUNTS.finditer(line))
    if not found:
        head, *tail = re.split(r"; (?=overrides step |they are seen |they speak |step \d+)", line)
        return head, "", tail
    last = found[0]
    tail = [t for t in re.split(r"; (?=overrides step |they are seen |they speak )", line[last.end() :]) if t]
    return line[: last.start()], last["counts"], tail


def things(line: str) -> str:
    """Return observations in words: "the face at 00:07", "2 faces and 1 utterance"."""
    if one := _ONE.fullmatch(line):
        return tr("the face at %1", one[2]) if one[1] == "face" else tr("the utterance at %1", one[2])
    if " and " in line:
        return tr("%1 and %2", *(things(part) for part in line.split(" and ", 1)))
    if many := _MANY.fullmatch(line):
        one_of = {"face": "1 face", "utterance": "1 utterance", "memor": "1 memory"}
        more = {"face": "%1 faces", "utterance": "%1 utterances", "memor": "%1 memories"}
        return tr(one_of[many[2]]) if many[1] == "1" else tr(more[many[2]], many[1])
    return line


def _people(line: str) -> str:
    """Return "Person 3, Person 4" in the window's language."""
    names = [texts.person(name) for name in line.split(", ")]
    return names[0] if len(names) == 1 else tr("%1 and %2", ", ".join(names[:-1]), names[-1])


def _changed(line: str) -> str:
    """Return one part of an effect."""
    patterns: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
        (rf"({_THINGS}) (?:is|are) reassigned(?:, (.+))?", lambda m: _listed(tr("%1 reassigned", things(m[1])), m[2])),
        (r"(\d+ memor\w+) reads? differently and needs? rewriting", lambda m: tr("%1 read differently and need rewriting", things(m[1]))),
        (r"(\d+ memor\w+) reads? differently(?:, (.+))?", lambda m: _listed(tr("%1 read differently", things(m[1])), m[2])),
        (r"(\d+) of them needs? rewriting", lambda m: tr("%1 of them need rewriting", m[1])),
        (rf"joins ({_THINGS})", lambda m: tr("joins %1", things(m[1]))),
        (rf"names ({_THINGS})", lambda m: tr("names %1", things(m[1]))),
        (rf"gives ({_THINGS}) to somebody new", lambda m: tr("gives %1 to somebody new", things(m[1]))),
        (rf"adds ({_THINGS}) to (.+)", lambda m: tr("adds %1 to %2", things(m[1]), texts.person(m[2]))),
    )  # fmt: skip
    return _first(line, patterns)


def _listed(first: str, rest: str | None) -> str:
    return tr("%1, %2", first, change(rest)) if rest else first


def _warning(line: str, steps: Steps) -> str:
    patterns: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
        (r"they are seen together in one frame at ([\d:]+)", lambda m: tr("they are seen together in one picture at %1", m[1])),
        (r"they speak at the same time at ([\d:]+)", lambda m: tr("they speak at the same time at %1", m[1])),
        (
            r"the lips of two people move with their speech at ([\d:]+)",
            lambda m: tr("the lips of two people move with their speech at %1", m[1]),
        ),
        (r"overrides step \d+(?: of [^(]*)? ?\((.*)\)", lambda m: tr("this changes an earlier correction: %1", _deed(m[1].strip(), steps))),
        (r"(step \d+(?:, step \d+)*) rested on it", lambda m: tr("it was the basis of: %1", _earlier(m[1], steps))),
    )
    return _first(line, patterns)


def _earlier(line: str, steps: Steps) -> str:
    """Return corrections that are named by number in words."""
    return "; ".join(
        _deed(_parted(steps[int(n)])[0], steps) if int(n) in steps else tr("a later correction") for n in re.findall(r"\d+", line)
    )


def _first(line: str, patterns: tuple[tuple[str, Callable[[re.Match[str]], str]], ...]) -> str:
    for pattern, say in patterns:
        if found := re.fullmatch(pattern, line, re.DOTALL):
            return say(found)
    return line


def _deed(line: str, steps: Steps) -> str:
    """Return the deed itself in the past tense."""
    p = texts.person
    patterns: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
        (r"undo", lambda _m: tr("Undone")),
        (r"redo", lambda _m: tr("Done again")),
        (r"names (.+)\? “\1”", lambda m: tr("Confirmed the name “%1”", m[1])),  # it was suggested
        (r"names (.+?) “(.*)”", lambda m: tr("Named %1 “%2”", p(m[1]), m[2])),
        (r"removes the name of (.+)", lambda m: tr("Removed the name of %1", p(m[1]))),
        (rf"gives ({_THINGS}) to (.+)", lambda m: tr("Gave %1 to %2", things(m[1]), p(m[2]))),
        (r"merges (.+?) into (.+?), who stays (.+?); (.+) becomes an alias",
         lambda m: tr("Merged %1 into %2, who keeps that name; %3 is another name now", _people(m[1]), p(m[3]), m[4])),
        (r"merges (.+?) into (.+?), known as (.+) from now on", lambda m: tr("Merged %1 and %2", _people(m[1]), p(m[3]))),
        (r"merges (.+?) into (.+)", lambda m: tr("Merged %1 into %2", _people(m[1]), p(m[2]))),
        (r"keeps (.+?) and (.+) apart", lambda m: tr("Noted that %1 and %2 are two people", p(m[1]), p(m[2]))),
        (rf"moves ({_THINGS}) from (.+?) to (.+)", lambda m: tr("Moved %1 from %2 to %3", things(m[1]), p(m[2]), p(m[3]))),
        (rf"takes ({_THINGS}) from (.+)", lambda m: tr("Gave %1 of %2 to somebody new", things(m[1]), p(m[2]))),
        (r"says that (the \w+ at [\d:]+) (?:is|are) not (.+)", lambda m: tr("Noted that %1 is not %2", things(m[1]), p(m[2]))),
        (rf"says that ({_THINGS}) (?:is|are) not (.+)", lambda m: tr("Noted that %1 are not %2", things(m[1]), p(m[2]))),
        (rf"sets ({_THINGS}) aside", lambda m: tr("Set %1 aside", things(m[1]))),
        (r"links a face of (.+?) and a voice of (.+)", lambda m: tr("Joined the face of %1 and the voice of %2", p(m[1]), p(m[2]))),
        (r"unlinks a face of (.+?) and a voice of (.+)", lambda m: tr("Separated the face of %1 from the voice of %2", p(m[1]), p(m[2]))),
        (r"hides (.+)", lambda m: tr("Hid %1", p(m[1]))),
        (r"shows (.+)", lambda m: tr("Showed %1 again", p(m[1]))),
        (r"does not call (.+?) “(.*)”", lambda m: tr("Noted that %1 is not called “%2”", p(m[1]), m[2])),
        (r"takes back step (\d+)(?:, and with it ((?:step \d+(?:, )?)+))?(?:; ((?:step \d+(?:, )?)+) rested on it)?",
         lambda m: _taken_back(m, steps)),
        (rf"splits ({_THINGS}) in two at ([\d:]+)", lambda m: tr("Split %1 in two at %2", things(m[1]), m[2])),
        (rf"lets ({_THINGS}) last from ([\d.]+) to ([\d.]+) s", lambda m: tr("Set the time of %1 to %2–%3 s", things(m[1]), m[2], m[3])),
        (rf"confirms the words of ({_THINGS})", lambda m: tr("Confirmed the words of %1", things(m[1]))),
        (rf"corrects the words of ({_THINGS}) to “(.*)”", lambda m: tr("Corrected the words of %1 to “%2”", things(m[1]), m[2])),
        (r"adds a face at ([\d:]+), recognized as (.+)", lambda m: tr("Added a face at %1, recognized as %2", m[1], p(m[2]))),
        (r"adds a face at ([\d:]+)", lambda m: tr("Added a face at %1", m[1])),
        (r"teaches (.+?), who is (.+?), from (\d+) files?(.*)", lambda m: _taught(tr("Taught %1 from %2 files", m[1], m[3]), m[4])),
        (r"teaches (.+?), somebody new, from (\d+) files?(.*)",
         lambda m: _taught(tr("Taught %1, who is new, from %2 files", m[1], m[2]), m[3])),
        (r"takes the version “(.*)” of (\S+)", lambda m: tr("Took the version “%1” of clip %2", m[1], m[2])),
        (r"adds a bookmark at ([\d:]+): “(.*)”", lambda m: tr("Added a bookmark at %1: “%2”", m[1], m[2])),
        (r"adds a bookmark at ([\d:]+)", lambda m: tr("Added a bookmark at %1", m[1])),
        (r"changes a bookmark at ([\d:]+)(?:: “(.*)”)?",
         lambda m: tr("Changed a bookmark at %1: “%2”", m[1], m[2]) if m[2] else tr("Changed a bookmark at %1", m[1])),
        (r"removes a bookmark at ([\d:]+)", lambda m: tr("Removed a bookmark at %1", m[1])),
        (r"(add|edit|rewrite|delete|pin)s a memory(?: about (.+))?", lambda m: _memory(m[1], m[2])),
    )  # fmt: skip
    return _first(line, patterns)


def _taken_back(found: re.Match[str], steps: Steps) -> str:
    said = tr("Taken back: %1", _earlier(found[1], steps) if int(found[1]) in steps else tr("a correction"))
    if found[2]:
        said = tr("%1; %2", said, tr("with it: %1", _earlier(found[2], steps)))
    if found[3]:
        said = tr("%1; %2", said, tr("it was the basis of: %1", _earlier(found[3], steps)))
    return said


def _taught(said: str, notes: str) -> str:
    """Add what else was noticed: "; the face is like Person 3’s (0.61): if they are one person, merge them"."""
    for note in filter(None, notes.split("; ")):
        like = re.fullmatch(r"the (face|voice) is like (.+)’s \(([\d.]+)\): if they are one person, merge them", note)
        if like is not None:
            what = tr("the face is like that of %1; if they are one person, merge them", texts.person(like[2]))
            heard = tr("the voice is like that of %1; if they are one person, merge them", texts.person(like[2]))
            said = tr("%1; %2", said, what if like[1] == "face" else heard)
    return said


def _memory(kind: str, about: str | None) -> str:
    said = {
        "add": tr("Added a memory"), "edit": tr("Edited a memory"), "rewrite": tr("Rewrote a memory"), "delete": tr("Deleted a memory"),
        "pin": tr("Pinned or unpinned a memory"),
    }[kind]  # fmt: skip
    return tr("%1 about %2", said, texts.person(about)) if about else said
