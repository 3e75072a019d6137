"""Names heard or read, as suggestions with their evidence: who introduces themselves, who is addressed, whom a caption names.

A name found here is never more than a suggestion; only a person's word confirms one. Speech and text on screen are data: a
caption that gives orders is a caption.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from m3desk.domain.clear_speech import is_unclear
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.evidence import Perceived, Utterance
from m3desk.domain.memory import HeardName
from m3desk.domain.naming import plausible
from m3desk.memorization import captions
from m3desk.memorization.name_words import (
    DEMONYM_ENDINGS,
    NOT_A_NAME,
    PARTICLES,
    ROLES,
    ROLES_ONLY,
    ROLES_ZH,
    SURNAMES_TOO,
    SURNAMES_ZH,
    WORDS_ZH,
)

_WORD = r"[A-ZÀ-ÖØ-Þ][\w'’\-]*\.?"
_NAME = rf"{_WORD}(?:\s+(?:(?:{'|'.join(sorted(PARTICLES))})\s+)?{_WORD}){{0,2}}"
_ROLE = rf"(?:(?:{'|'.join(sorted((ROLES - {'with', 'of', 'and'}) | {'just', 'still'}, key=lambda r: (-len(r), r)))})\.?\s+){{0,3}}"
"""What may stand between "I'm" and a name: "your host", never "not" or "here with"."""

_INTRODUCED = (
    # (pattern, score with one word, score with two or three)
    (re.compile(rf"\b[Mm]y name(?:'s|’s| is)\s+({_NAME})"), 0.8, 0.9),
    (re.compile(rf"\b(?:[Tt]hey|[Pp]eople|[Yy]ou can) call me\s+({_NAME})"), 0.7, 0.8),
    (re.compile(rf"\bI(?:'m|’m| am)\s+{_ROLE}({_NAME})"), 0.55, 0.75),
    (re.compile(rf"\b[Tt]his is\s+({_NAME})\s+(?:speaking|reporting|here|with|for|from|at|in)\b"), 0.7, 0.85),
    (re.compile(rf"\b(?:[Hh]i|[Hh]ello|[Hh]ey)(?: there| everyone| everybody| all)?[,.!]?\s+this is\s+({_NAME})"), 0.5, 0.7),
    (re.compile(rf"(?:^|[.!?]\s+)({_NAME}),?\s+(?:reporting|speaking)\b"), 0.5, 0.7),
)
_ADDRESSED = (
    re.compile(rf"\b(?:[Tt]hanks|[Tt]hank you)(?: so much| very much)?,?\s+({_NAME})(?=[,.!?]|$)"),
    re.compile(
        rf"\b(?:[Hh]i|[Hh]ello|[Hh]ey|[Gg]ood (?:morning|evening|afternoon)|[Gg]oodbye|[Bb]ye|[Ww]elcome),?\s+({_NAME})(?=[,.!?]|$)"
    ),
    re.compile(
        rf"\b(?:[Oo]ver to you|[Bb]ack to you|[Gg]ood to (?:see|have) you|[Nn]ice to (?:see|meet|have) you|[Ww]elcome (?:back|to the show)"
        rf"|[Tt]hank(?:s| you) for (?:coming|joining us|being here|having me)),\s+({_NAME})(?=[,.!?]|$)"
    ),
    re.compile(rf"(?:^|[.!?]\s+)({_WORD}),\s+(?:what|how|why|do|did|can|could|would|will|are|is|you|please|tell|thank|thanks|welcome)\b"),
)
_HAN = r"[\u4e00-\u9fff]"
_INTRODUCED_ZH = (
    (re.compile(rf"我(?:的名字)?叫(?:做)?({_HAN}{{2,4}}?)(?=[，。,.!！?？\s、]|$|今年|来自|是)"), 0.85),
    (re.compile(rf"我的名字是({_HAN}{{2,4}}?)(?=[，。,.!！?？\s、]|$|今年|来自)"), 0.85),
    (re.compile(rf"我是(?:主持人|记者|主播|老师|医生)?({_HAN}{{2,3}}?)(?=[，。,.!！?？\s、]|$|今年|来自)"), 0.6),
)
_ROLE_ZH = "(?:先生|女士|老师|教授|主任|博士|医生|同学)?"
_ADDRESSED_ZH = (
    re.compile(rf"(?:谢谢您|谢谢你|谢谢|感谢|你好|您好|再见|欢迎)[，,]?({_HAN}{{2,4}}?){_ROLE_ZH}(?=[，。,.!！?？\s、]|$)"),
    re.compile(rf"(?:^|[，。,.!！?？\s])({_HAN}{{2,4}}?){_ROLE_ZH}[，,](?:你|您|请|谢谢|感谢|欢迎)"),
)

_WITH_ROLE, _WITH_ROLE_LINE, _BARE, _FIRST_NAME = 0.8, 0.75, 0.5, 0.5
_ADDRESS_SCORE = 0.35
_AGREED = 0.15
"""What a caption's score gains where speech says nearly the same."""

_REPLY = 6 * MICROSECOND
"""Who is addressed answers within this, or has spoken until then."""


@dataclass(frozen=True, slots=True)
class Read:
    """A name in a caption, in ordinary capitals, with how sure that it is one."""

    name: str
    score: float


def heard(perceived: Perceived) -> tuple[HeardName, ...]:
    """Return the names of one clip, in time order. Where speech recognition mishears a name that a caption spells, the caption is right.

    In speech that is not heard clearly only such a name counts.
    """
    read = list(_captions(perceived))
    unclear = {u.id for u in perceived.utterances if is_unclear(u)}
    spoken: list[HeardName] = []
    for name in _spoken(perceived.utterances):
        spelled = next((c for c in read if sounds_like(c.name, name.name)), None)
        if spelled is None:
            if name.evidence not in unclear:
                spoken.append(name)
            continue
        spoken.append(replace(name, name=spelled.name, score=round(max(name.score, spelled.score), 3)))
        if name.by == "introduced":
            at = read.index(spelled)
            read[at] = replace(spelled, score=round(min(0.95, spelled.score + _AGREED), 3))
    kept = [replace(n, name=clean) for n in (*read, *spoken) if (clean := plausible(n.name))]
    return tuple(sorted(kept, key=lambda n: (n.at, n.by, n.name, n.observation)))


# ---------------------------------------------------------------- read on screen


def _captions(perceived: Perceived) -> Iterable[HeardName]:
    for caption in captions.group(perceived.texts):
        found = in_caption(caption.text, tuple(t.text for t in caption.lines))
        face = captions.captioned(caption, perceived.faces) if found else None
        if found and face:
            evidence = f"screen:{caption.start}-{caption.end}"
            yield HeardName(face.id, found.name, found.score, "caption", evidence, caption.text, caption.start)


def in_caption(text: str, lines: Sequence[str] = ()) -> Read | None:
    """Return the one name in a caption, or None: "Host JEFF STEEN", "Jeff Steen | Host", 「主持人 张伟」.

    Dates, organisations, headlines ("President Obama Statement on Iran") and orders are not names.
    """
    parts = [p.strip() for line in (lines or (text,)) for p in re.split(r"\s*[|•·—–,;:/，、：]\s*|\s+-\s+", line) if p.strip()]
    candidates = [(p, found) for p in parts if (found := _name_in(p))]
    if not candidates:
        return _first_name(lines)
    if len({c[1].name for c in candidates}) != 1 or len(text) > 90:
        return None
    part, found = candidates[0]
    rest = [p for p in parts if p != part]
    if found.score >= _WITH_ROLE or not rest:
        return found
    if any(_is_role(p) for p in rest):
        return Read(found.name, max(found.score, _WITH_ROLE_LINE))
    return found if len(rest) <= 1 and len(text) < 60 else None


def _name_in(part: str) -> Read | None:
    if re.search(_HAN, part):
        return _chinese_name_in(part)
    # "Jane Doe (D) New York" and "Bob Roe R": what follows the name's bracket or party letter is not the name.
    words = re.split(r"[(\[]", part.replace("’", "'"))[0].split()
    if len(words) > 2 and words[-1] in ("D", "R", "I"):
        words = words[:-1]
    stripped = _without_roles(words)
    had_role = len(stripped) < len(words)
    if stripped and _plain(stripped[-1]) in ROLES_ONLY:
        return None
    if not 2 <= len([w for w in stripped if w.lower() not in PARTICLES]) <= 3 or len(stripped) > 4:
        return None
    inner = range(1, len(stripped) - 1)
    if not all(_name_word(w, i == len(stripped) - 1) or (w.lower() in PARTICLES and i in inner) for i, w in enumerate(stripped)):
        return None
    name = " ".join(_capitals(w) for w in stripped)
    bare = _BARE if len(stripped) == 2 else _BARE - 0.1
    return Read(name, _WITH_ROLE if had_role else bare)


def _first_name(lines: Sequence[str]) -> Read | None:
    """Return the one word that stands alone above what somebody does: "OMAR" over "Software Engineer"."""
    if len(lines) < 2 or len(lines) > 4:
        return None
    name, *rest = (line.strip() for line in lines)
    does = re.findall(r"[a-z]+", " ".join(rest).lower())
    plain = len(name) >= 3 and _name_word(name) and _plain(name) not in ROLES and not name.lower().endswith(DEMONYM_ENDINGS)
    return Read(_capitals(name), _FIRST_NAME) if plain and any(w in ROLES_ONLY for w in does) else None


def _without_roles(words: Sequence[str]) -> list[str]:
    left = list(words)
    while left and _plain(left[0]) in ROLES:
        left.pop(0)
    while len(left) > 2 and _plain(left[-1]) in ROLES:  # "Larry King" keeps his name
        left.pop()
    return left


def _is_role(part: str) -> bool:
    words = [_plain(w) for w in part.split()]
    return any(w in ROLES for w in words) or any(r in part for r in ROLES_ZH)


def _plain(word: str) -> str:
    return word.strip(".,:;()[]\"'").lower()


def _name_word(word: str, last: bool = False) -> bool:
    letters = word.strip(".")
    if not letters or not letters[0].isupper() or not all(c.isalpha() or c in "'-" for c in letters):
        return False
    if not (
        letters.isupper()
        or letters[1:].islower()
        or re.fullmatch(r"(?:Mc|Mac|O'|D'|De|Di|La|Le|Van|Von)[A-Z][a-z]+|[A-Z][a-z]+(?:-[A-Z][a-z]+)+", letters)
    ):
        return False
    plain = letters.lower()
    return (plain not in NOT_A_NAME or (last and plain in SURNAMES_TOO)) and (len(letters) > 1 or word.endswith(".") or len(word) == 1)


def _capitals(word: str) -> str:
    """Return "STEEN" as "Steen", "MCDONALD" as "McDonald"; a word in mixed case stays as it is written."""
    if word.lower() in PARTICLES:
        return word.lower()
    if not word.isupper() or len(word.strip(".")) == 1:
        return word
    parts = re.split(r"([\-'])", word)
    joined = "".join(p.capitalize() for p in parts)
    return re.sub(r"^Mc([a-z])", lambda m: "Mc" + m[1].upper(), joined)


def _chinese_name_in(part: str) -> Read | None:
    text = part.replace("·", " ")
    role = next((r for r in ROLES_ZH if r in text), None)
    rest = text.replace(role, " ").split() if role else text.split()
    if len(rest) == 1 and _chinese_name(rest[0]):
        return Read(rest[0], _WITH_ROLE if role else 0.4)
    return None


def _chinese_name(text: str) -> bool:
    if not re.fullmatch(rf"{_HAN}{{2,4}}", text) or any(w in text for w in WORDS_ZH):
        return False
    if text[:2] in SURNAMES_ZH:
        return len(text) >= 3
    return text[0] in SURNAMES_ZH and len(text) <= 3


# ---------------------------------------------------------------- heard in speech


def _spoken(utterances: Sequence[Utterance]) -> Iterable[HeardName]:
    ordered = sorted(utterances, key=lambda u: (u.start, u.id))
    for u in ordered:
        told: set[str] = set()
        for name, score in introduced(u.text):
            if name not in told:
                told.add(name)
                yield HeardName(u.id, name, score, "introduced", u.id, u.text, u.start)
        for name in addressed(u.text):
            other = _other_party(u, ordered)
            if other and name not in told:
                told.add(name)
                yield HeardName(other.id, name, _ADDRESS_SCORE, "addressed", u.id, u.text, u.start)


def introduced(text: str) -> list[tuple[str, float]]:
    """Return the names by which a speaker calls themselves, with scores, in order."""
    found: list[tuple[int, str, float]] = []
    for pattern, single, several in _INTRODUCED:
        for match in pattern.finditer(text):
            name = _spoken_name(match[1])
            if name:
                found.append((match.start(1), name, several if " " in name else single))
    for pattern_zh, score in _INTRODUCED_ZH:
        found += [(m.start(1), m[1], score) for m in pattern_zh.finditer(text) if _chinese_name(m[1])]
    best: dict[str, tuple[int, float]] = {}
    for at, name, score in found:
        if name not in best or score > best[name][1]:
            best[name] = (at, score)
    return [(name, score) for name, (_, score) in sorted(best.items(), key=lambda kv: kv[1][0])]


def addressed(text: str) -> list[str]:
    """Return the names by which a speaker calls somebody else, in order."""
    found = [(m.start(1), name) for p in _ADDRESSED for m in p.finditer(text) if (name := _spoken_name(m[1]))]
    found += [(m.start(1), m[1]) for p in _ADDRESSED_ZH for m in p.finditer(text) if _chinese_name(m[1])]
    return list(dict.fromkeys(name for _, name in sorted(found)))


def _spoken_name(text: str) -> str | None:
    """Return a name as it was heard, cut before the first word that can't be part of one; None where nothing is left."""
    words: list[str] = []
    for word in text.replace("’", "'").split():
        plain = word.removesuffix("'s").strip(".")
        if word.lower() in PARTICLES and words:
            words.append(word)
            continue
        if _plain(plain) in ROLES and not words:
            continue
        if not _name_word(plain) or len(plain) < 2 or plain.isupper() or (not words and plain.lower().endswith(DEMONYM_ENDINGS)):
            break
        words.append(plain)
        if word.endswith((".", "'s")):
            break
    while words and words[-1].lower() in PARTICLES:
        words.pop()
    return " ".join(words) or None


def _other_party(speaker: Utterance, utterances: Sequence[Utterance]) -> Utterance | None:
    """Return the utterance of whom a speaker can only have addressed, None where there is any doubt.

    That is who speaks both before and after, or the only other voice of the clip where it speaks right before or after (within _REPLY).
    Of three who talk in turn it is not told who is meant, and a voice in another scene is nobody's partner.
    """
    others = [u for u in utterances if u.cluster != speaker.cluster]
    before = max(
        (u for u in others if u.start < speaker.start and speaker.start - u.end < _REPLY), key=lambda u: (u.end, u.id), default=None
    )
    after = min(
        (u for u in others if u.start >= speaker.start and u.start - speaker.end < _REPLY), key=lambda u: (u.start, u.id), default=None
    )
    near = [u for u in (after, before) if u]
    if len({u.cluster for u in near}) != 1:
        return None
    return near[0] if len(near) == 2 or len({u.cluster for u in others}) == 1 else None


def sounds_like(a: str, b: str) -> bool:
    """Return whether two spellings may be one name: "Jeff Steam" and "Jeff Steen"; a first name alone fits its full name."""
    x, y = a.casefold().split(), b.casefold().split()
    if len(x) == len(y):
        whole = SequenceMatcher(None, " ".join(x), " ".join(y), autojunk=False).ratio()
        return whole >= 0.75 and all(SequenceMatcher(None, p, q, autojunk=False).ratio() >= 0.5 for p, q in zip(x, y, strict=True))
    short, long = sorted((x, y), key=len)
    return len(short) == 1 and short[0] in (long[0], long[-1])
