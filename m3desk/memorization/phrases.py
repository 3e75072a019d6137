"""The sentence templates of the built-in memory writer, in English and Chinese, and how a template is filled in.

A slot `{who}` takes people, each written as the language's neutral placeholder under a span; `{said}` takes words spoken or read,
kept between quotation marks as quoted (`{saids}`: several); every other slot takes plain words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from m3desk.domain.clear_speech import MARKS
from m3desk.domain.memory import PLACEHOLDER, Span
from m3desk.memorization.things import listed

LANGUAGES = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Who:
    """One person of a sentence: the observations that show them, and perhaps where in the picture ("left", "middle", "right")."""

    observations: tuple[str, ...]
    where: str | None = None


@dataclass(frozen=True, slots=True)
class FilledPhrase:
    """A sentence filled in. `quoted`: code-point ranges of words that were said or read."""

    text: str
    spans: tuple[Span, ...]
    quoted: tuple[tuple[int, int], ...]


# key → English for one person, English for several, Chinese (where it differs: for one|for several).
_TEMPLATES: dict[str, tuple[str, str, str]] = {
    "from_start": ("{who} is in view from the start{how}.", "{who} are in view from the start{how}.", "一开始，{who}就在画面中{how}。"),
    "still": ("{who} is still in view.", "{who} are still in view.", "{who}仍在画面中。"),
    "throughout_still": (
        "{who} is still in view, the whole time.",
        "{who} are still in view together, the whole time.",
        "{who}仍一直在画面中。|{who}仍一直同在画面中。",
    ),
    "throughout": (
        "The whole time, {who} is in view{how}.",
        "{who} are in view together the whole time.",
        "{who}一直在画面中{how}。|{who}一直同在画面中。",
    ),
    "seen": ("{who} is seen{how}.", "", "画面中出现{who}{how}。"),
    "seen_for": ("{who} is seen{how} for {count} seconds.", "", "{who}在画面中出现{count}秒{how}。"),
    "together": ("", "{who} are seen together.", "{who}一同出现在画面中。"),
    "one_after_another": ("", "{Count} people are shown one after another: {who}.", "画面中先后出现{count}个人：{who}。"),
    "many_after_another": (
        "",
        "{Count} people are shown one after another, among them {who}.",
        "画面中先后出现{count}个人，其中有{who}。",
    ),
    "many_in_all": ("", "{Count} people are seen, among them {who}.", "画面中出现{count}个人，其中有{who}。"),
    "seen_in_all": ("", "{Count} people are seen: {who}.", "画面中出现{count}个人：{who}。"),
    "appears": ("{who} comes into view{how}.", "{who} come into view{how}.", "{who}进入画面{how}。"),
    "joins": (
        "{who} comes into view and joins {others}.",
        "{who} come into view and join {others}.",
        "{who}进入画面，来到{others}身边。",
    ),
    "returns": (
        "{who}, last seen at {when}, is back{how}.",
        "{who}, last seen at {when}, are back.",
        "上次出现在{when}的{who}再次出现{how}。",
    ),
    "turns_back": ("{who} is back in view after a moment.", "", "{who}片刻后又回到画面中。"),
    "in_turn": (
        "",
        "{Count} people are shown one after another, each of them speaking: {who}.",
        "画面中先后出现{count}个人，每个人都在说话：{who}。",
    ),
    "alternates": ("", "The picture goes back and forth between {who}.", "画面在{who}之间来回切换。"),
    "known": (
        "{who}, known from before, comes into view{how}.",
        "{who}, known from before, come into view.",
        "以前见过的{who}出现在画面中{how}。",
    ),
    "wears": ("{who} is dressed in {what}.", "{who} are dressed in {what}.", "{who}穿着{what}。"),
    "listens": ("{who} keeps silent while {others} speaks.", "", "{others}说话时，{who}没有说话。"),
    "many": ("", "{Count} people are in view: {who}.", "画面中有{count}个人：{who}。"),
    "crowd": ("", "{Count} people are in view, among them {who}.", "画面中有{count}个人，其中有{who}。"),
    "leaves_left": ("{who} leaves the picture to the left.", "{who} leave the picture to the left.", "{who}从左侧离开画面。"),
    "leaves_right": ("{who} leaves the picture to the right.", "{who} leave the picture to the right.", "{who}从右侧离开画面。"),
    "rises_out": (
        "{who} rises out of view, as if standing up.",
        "{who} rise out of view, as if standing up.",
        "{who}向上移出画面，像是站了起来。",
    ),
    "sinks_in": (
        "{who} sinks into view from above, as if sitting down.",
        "{who} sink into view from above, as if sitting down.",
        "{who}从上方回到画面中，像是坐了下来。",
    ),
    "sat": ("{who} seems to sit until {when}.", "{who} seem to sit until {when}.", "{when}之前，{who}似乎坐着。"),
    "moves": ("{who} moves from the {origin} to the {goal} of the picture.", "", "{who}从画面{origin}移到{goal}。"),
    "closer": ("{who} comes closer to the camera.", "", "{who}走近镜头。"),
    "farther": ("{who} moves away from the camera.", "", "{who}远离镜头。"),
    "raises": ("{who} raises a hand.", "", "{who}举起手。"),
    "rises": ("{who} rises, as if standing up.", "{who} rise, as if standing up.", "{who}的位置升高，像是站了起来。"),
    "sinks": ("{who} sinks, as if sitting down.", "{who} sink, as if sitting down.", "{who}的位置降低，像是坐了下来。"),
    "says": ("{who} says: “{said}”", "", "{who}说：“{said}”"),
    "says_unclear": (f"{{who}} says{MARKS['en']}{{said}}”", "", f"{{who}}{MARKS['zh']}{{said}}”"),
    "goes_on": ("{who} goes on: “{said}”", "", "{who}继续说：“{said}”"),
    "at_once_unclear": ("Several people speak at once.", "", "几个人同时说话。"),
    "at_once": ("Several people speak at once: “{said}”", "", "几个人同时说话：“{said}”"),
    "writing": ("The text “{said}” can be read.", "", "画面上可以读到“{said}”。"),
    "writings": ("These texts can be read: {saids}.", "", "画面上可以读到这些文字：{saids}。"),
    "title": ("The title “{said}” is shown.", "", "画面上出现标题“{said}”。"),
    "titles": ("These titles are shown: {saids}.", "", "画面上出现这些标题：{saids}。"),
    "banner": ("A banner reads “{said}”.", "", "画面下方的横幅写着“{said}”。"),
    "banners": ("Banners read {saids}.", "", "画面下方的横幅写着{saids}。"),
    "subtitle": ("The subtitle reads “{said}”.", "", "字幕是“{said}”。"),
    "subtitles": ("The subtitles read {saids}.", "", "字幕依次是{saids}。"),
    "caption": ("A caption introduces {who}: “{said}”.", "", "画面上以字幕“{said}”介绍{who}。"),
    "things": ("In view: {what}.", "", "画面中可以看到{what}。"),
    "things_outdoors": ("Outdoors, {what} can be seen.", "", "室外可以看到{what}。"),
    "things_indoors": ("Indoors, {what} can be seen.", "", "室内可以看到{what}。"),
    "pictured": ("{What}, or a picture or figure of one, can be seen.", "", "画面中可以看到{what}，也可能是图画或模型。"),
    "thing_enters": ("{What} comes into view.", "{What} come into view.", "{what}进入画面。"),
    "with": ("{who} is seen with {what}.", "", "{who}身边有{what}。"),
    "wears_glasses": ("{who} wears glasses.", "{who} wear glasses.", "{who}戴着眼镜。"),
    "wears_tie": ("{who} wears a tie.", "", "{who}系着领带。"),
    "wears_backpack": ("{who} carries a backpack.", "", "{who}背着背包。"),
    "faceless_one": ("A person{how} is in view{where}, their face not readable.", "", "画面{where}有一个{how}人，看不清脸。"),
    "faceless_some": ("Several people are in view, their faces not readable.", "", "画面中有好几个人，看不清脸。"),
    "faceless_many": (
        "At least {count} people are in view at once, their faces not readable.",
        "",
        "画面中同时至少有{count}个人，看不清脸。",
    ),
    "faceless": ("{Count} people are in view, their faces not readable.", "", "画面中有{count}个人，看不清脸。"),
    "faceless_one_enters": (
        "A person{how} comes into view{where}, their face not readable.",
        "",
        "有一个{how}人进入画面{where}，看不清脸。",
    ),
    "faceless_enters": ("{Count} people come into view, their faces not readable.", "", "有{count}个人进入画面，看不清脸。"),
    "another_one": ("Another person{how} is in view{where}, their face not readable.", "", "画面{where}还有一个{how}人，看不清脸。"),
    "goes_left": ("A person{how} goes from the right to the left of the picture.", "", "一个{how}人从画面右侧走到左侧。"),
    "goes_right": ("A person{how} goes from the left to the right of the picture.", "", "一个{how}人从画面左侧走到右侧。"),
    "goes_out_left": ("A person{how} leaves the picture to the left.", "", "一个{how}人从左侧离开画面。"),
    "goes_out_right": ("A person{how} leaves the picture to the right.", "", "一个{how}人从右侧离开画面。"),
    "another": ("{Count} more people are in view, their faces not readable.", "", "画面中还有{count}个人，看不清脸。"),
    "knows_about": ("{who} talks about {what}.", "", "{who}谈到{what}。"),
    "knows_is": ("{who} is {what}.", "", "{who}是{what}。"),
    "knows_lives": ("{who} lives in {what}.", "", "{who}住在{what}。"),
    "knows_has": ("{who} has {what}.", "", "{who}有{what}。"),
    "knows_wants": ("{who} wants {what}.", "", "{who}想要{what}。"),
    "knows_caption": ("{who} is introduced on screen as “{said}”.", "", "{who}的字幕是“{said}”。"),
    "knows_introduced": ("{who} gives their name as “{said}”.", "", "{who}自称“{said}”。"),
    "knows_together": ("", "{who} are seen together.", "{who}一起出现。"),
    "knows_talk": ("", "{who} talk with each other.", "{who}互相交谈。"),
    "no_sound": ("The film has no sound.", "", "影片没有声音。"),
    "silent": ("Nobody speaks.", "", "没有人说话。"),
    "silent_for": ("Nobody speaks for {count} seconds.", "", "有{count}秒没有人说话。"),
    "dark": ("The picture is dark.", "", "画面很暗。"),
    "nobody": ("Nobody can be recognised and nobody speaks.", "", "认不出任何人，也没有人说话。"),
    "nobody_seen": ("Nobody can be recognised.", "", "认不出任何人。"),
    "no_picture_no_speech": ("There is no picture and nobody speaks.", "", "没有画面，也没有人说话。"),
}

WORDS: dict[str, tuple[str, str]] = {
    "close": (", close up", "，是近景"),
    "far": (", at a distance", "，距离较远"),
    "alone": (" alone", "，独自一人"),
    "speaks": (", and speaks", "，并在说话"),
    "left": ("left", "左侧"),
    "middle": ("middle", "中间"),
    "right": ("right", "右侧"),
    "others": ("others", "其他人"),
    "at_left": (" on the left", "左侧"),
    "at_middle": (" in the middle", "中间"),
    "at_right": (" on the right", "右侧"),
    "distant": (", far off", "远处"),
}

_COLOURS = {
    "dark": ("dark clothes", "深色衣服"), "white": ("white", "白色衣服"), "grey": ("grey", "灰色衣服"), "orange": ("orange", "橙色衣服"),
    "yellow": ("yellow", "黄色衣服"), "pink": ("pink", "粉色衣服"), "red": ("red", "红色衣服"), "dark red": ("dark red", "深红色衣服"),
    "green": ("green", "绿色衣服"), "dark green": ("dark green", "深绿色衣服"), "blue": ("blue", "蓝色衣服"),
    "dark blue": ("dark blue", "深蓝色衣服"), "purple": ("purple", "紫色衣服"), "dark purple": ("dark purple", "深紫色衣服"),
}  # fmt: skip

_WHERE = {"left": (" on the left", "左侧的"), "middle": (" in the middle", "中间的"), "right": (" on the right", "右侧的")}
_SLOT = re.compile(r"\{(\w+)\}")


def word(key: str, language: str) -> str:
    """Return a word that fills a slot, in the language."""
    return WORDS[key][_column(language)]


def clothes(colour: str, language: str, *, bare: bool = False) -> str:
    """Return clothes of a colour as words after a verb (`bare`), else as a part added to a sentence."""
    what = _COLOURS[colour][_column(language)]
    return what if bare else f"，穿着{what}" if language == "zh" else f", in {what}"


def dressed(colour: str, language: str) -> str:
    """Return clothes of a colour as words beside a noun: " in red" after it, "穿着红色衣服的" before it."""
    what = _COLOURS[colour][_column(language)]
    return f"穿着{what}的" if language == "zh" else f" in {what}"


def say(
    key: str, language: str, *, who: Sequence[Who] = (), others: Sequence[Who] = (), said: Sequence[str] = (), **words: str
) -> FilledPhrase:
    """Fill in a whole sentence; its form depends on how many people it speaks of."""
    one, several, chinese = _TEMPLATES[key]
    if language == "zh":
        one, _, several = chinese.partition("|")
    template = (several or one) if len(who) > 1 else one
    return fill(template, language, {"who": who, "others": others}, said, words)


def fill(template: str, language: str, people: Mapping[str, Sequence[Who]], said: Sequence[str], words: Mapping[str, str]) -> FilledPhrase:
    """Fill in a template. Raises KeyError when a slot has nothing to stand in it."""
    parts: list[str] = []
    spans: list[Span] = []
    quoted: list[tuple[int, int]] = []
    at = 0

    def put(text: str) -> None:
        nonlocal at
        parts.append(text)
        at += len(text)

    for i, piece in enumerate(_SLOT.split(template)):
        if i % 2 == 0:
            put(piece)
        elif piece in people:
            for text, one in _people(people[piece], language):
                if one is None:
                    put(text)
                    continue
                shown = text[0].upper() + text[1:] if at == 0 else text
                spans.append(Span(at, at + len(shown), one.observations))
                put(shown)
        elif piece == "said":
            quoted.append((at, at + len(said[0])))
            put(said[0])
        elif piece == "saids":
            for n, text in enumerate(said):
                put("“" if not n else "、“" if language == "zh" else ", “")
                quoted.append((at, at + len(text)))
                put(text + "”")
        elif piece[0].isupper():
            value = words[piece.lower()]
            put(value[0].upper() + value[1:])
        else:
            put(words.get(piece, "") if piece in ("how", "where") else words[piece])
    return FilledPhrase("".join(parts), tuple(spans), tuple(quoted))


def _people(people: Sequence[Who], language: str) -> list[tuple[str, Who | None]]:
    """Return the pieces of a list of people: placeholders with whom they stand for, and the words between."""
    pieces: list[tuple[str, Who | None]] = []
    chinese = language == "zh"
    for i, one in enumerate(people):
        if i:
            last = i == len(people) - 1
            pieces.append((("和" if last else "、") if chinese else (" and " if last else ", "), None))
        where = _WHERE[one.where][_column(language)] if one.where else ""
        if where and chinese:
            pieces.append((where, None))
        pieces.append((PLACEHOLDER["zh" if chinese else "en"], one))
        if where and not chinese:
            pieces.append((where, None))
    return pieces


def _column(language: str) -> int:
    return 1 if language == "zh" else 0


def writing_language(wanted: str | None, spoken: Sequence[tuple[str | None, str]]) -> str:
    """Return the language to write in: the wanted one, else the one most is said in (language, words), else English.

    Only English and Chinese can be written; anything else is written in English with its quotes as they were said.
    """
    if wanted:
        return "zh" if wanted.lower().startswith("zh") else "en"
    amount = {"zh": 0, "en": 0}
    for language, words in spoken:
        # A Chinese character carries about as much as 2.5 letters of English.
        amount["zh" if language == "zh" else "en"] += len(words) * 5 if language == "zh" else len(words) * 2
    return "zh" if amount["zh"] > amount["en"] else "en"


__all__ = ["LANGUAGES", "FilledPhrase", "Who", "fill", "listed", "say", "word", "writing_language"]
