"""The argument parser of the command line, exactly as `contract.md` defines it."""

from __future__ import annotations

import argparse
import errno
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from m3desk import __version__
from m3desk.cli.output import error
from m3desk.domain.clip import MICROSECOND
from m3desk.domain.visible import shortened
from m3desk.errors import UsageError


def moment(text: str) -> int:
    """Return `90`, `1:30`, `00:01:30` or `1.5` as microseconds. Raises UsageError."""
    if not re.fullmatch(r"(?:[0-9]{1,7}:){0,2}[0-9]{1,7}(?:\.[0-9]{1,9})?", text.strip()):
        raise UsageError(f"“{shortened(text)}” is not a time.", "Write 90, 1:30, 00:01:30 or 1.5.")
    total = 0.0
    for part in text.strip().split(":"):
        total = total * 60 + float(part)
    return round(total * MICROSECOND)


def before(text: str) -> tuple[str | None, int | None, int]:
    """Return `[s1@]T`, `clip:ID` or `clip:N` as (source or None, clip index or None, microseconds); −1 means nothing is known."""
    if text.startswith("clip:"):
        found = re.fullmatch(r"(?:(s[0-9]{1,9})\.c)?(-?[0-9]{1,9})", text[5:])
        if not found:
            raise UsageError(f"“{shortened(text)}” names no clip.", "Write clip:s1.c12, or clip:12 where there is one source.")
        return found[1], int(found[2]), 0
    if text.strip() == "-1":
        return None, -1, 0
    source, _, at = text.rpartition("@")
    return source or None, None, moment(at)


def positive(text: str) -> int:
    """Return a whole number from 1 on. Raises ArgumentTypeError."""
    if not re.fullmatch(r"[0-9]{1,9}", text.strip()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"“{shortened(text)}” is not a whole number from 1 on")
    return int(text)


def number(text: str) -> float:
    """Return a decimal number between −1,000,000 and 1,000,000. Raises ArgumentTypeError."""
    if not re.fullmatch(r"[+-]?([0-9]{1,6}(\.[0-9]{0,9})?|\.[0-9]{1,9})", text.strip()):
        raise argparse.ArgumentTypeError(f"“{shortened(text)}” is not a number such as 2.5")
    return float(text)


def place(text: str) -> str:
    """Return a valid path; it need not exist. Raises ArgumentTypeError."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name of a file or folder is missing")
    try:
        os.lstat(text)
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError) or error.errno in (errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL):
            why = getattr(error, "strerror", None) or "no file has such a name"
            raise argparse.ArgumentTypeError(f"“{shortened(text)}” can't be used ({why})") from error
    return text


LIVE = "camera:0, mic:default, camera:0+mic:default, rtsp://…, http://…, file:PATH?live"


def _memory(p: argparse.ArgumentParser, required: bool = True) -> None:
    default = os.environ.get("M3DESK_MEMORY") or None
    p.add_argument(
        "-m", "--memory", type=place, default=default, required=required and default is None, help="the memory folder (or $M3DESK_MEMORY)"
    )


def _json(p: argparse.ArgumentParser) -> None:
    p.add_argument("--json", action="store_true", help="print one JSON document on stdout")


def _manners(p: argparse.ArgumentParser, top: bool = False) -> None:
    hide: Any = None if top else argparse.SUPPRESS
    p.add_argument("-v", "--verbose", action="count", default=0 if top else hide, help="say more (twice: everything)")
    p.add_argument("-q", "--quiet", action="store_true", default=False if top else hide, help="say only results and errors")
    p.add_argument("--debug", action="store_true", default=False if top else hide, help="on a fault, print the traceback")


def _change(p: argparse.ArgumentParser) -> None:
    p.add_argument("--dry-run", action="store_true", help="print the effect, change nothing")
    p.add_argument("--why", metavar="TEXT", help="a note kept in the journal")


def _lazy(module: str, name: str) -> Callable[[Any, Any], int]:
    """Return a command that imports its module when it runs: `--help` and `--version` stay quick."""

    def run(options: Any, out: Any) -> int:
        from importlib import import_module

        result: int = getattr(import_module(f"m3desk.cli.{module}"), name)(options, out)
        return result

    return run


class Grammar(argparse.ArgumentParser):
    """A parser whose errors are one line that points to `--help`."""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2."""
        error(f"{message}. See {self.prog} --help.")
        sys.exit(UsageError.exit_code)


def parser() -> argparse.ArgumentParser:
    """Return the parser of every command; each sets `run(options, out) -> exit status`."""
    top = Grammar(
        prog="m3desk", description="Watch videos and build, explore, question and correct an M3-Agent memory of them, on your own machine."
    )
    top.add_argument("--version", action="version", version=f"m3desk {__version__}")
    _manners(top, top=True)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, text: str, run: tuple[str, str], group: Any = commands) -> argparse.ArgumentParser:
        p: argparse.ArgumentParser = group.add_parser(name, help=text, description=text)
        _manners(p)
        p.set_defaults(run=_lazy(*run))
        return p

    _app_commands(command)
    _memory_commands(command)
    _people_commands(command, commands)
    _watch_commands(command, commands)
    _machine_commands(command, commands)
    return top


def options_last(top: argparse.ArgumentParser, arguments: Sequence[str]) -> list[str]:
    """Return the arguments with each command's options (and their values) after its positional arguments.

    argparse closes an optional positional (`search nodes [TEXT]`) as soon as an option comes, and then rejects the text after it
    (bpo-15112, fixed in Python 3.13); `contract.md` writes options first.
    """
    words: list[str] = []
    options: list[str] = []
    named = 0
    parser, rest = top, list(arguments)
    while rest:
        here = rest.pop(0)
        if here == "--":
            return [*words[:named], *options, here, *words[named:], *rest]  # what follows is words, also where it looks like options
        if not here.startswith("-") or here == "-" or re.match(r"-\d", here):
            words.append(here)
            found = _command(parser, here)
            if found is not parser:
                parser, named = found, len(words)
            continue
        options.append(here)
        action = parser._option_string_actions.get(here)
        takes = action is not None and action.nargs != 0
        if takes and rest and (action.nargs is None or not rest[0].startswith("-")):  # type: ignore[union-attr]
            options.append(rest.pop(0))
        while takes and rest and action.nargs == "+" and not rest[0].startswith("-"):  # type: ignore[union-attr]
            options.append(rest.pop(0))
    return [*words, *options]


def _command(parser: argparse.ArgumentParser, word: str) -> argparse.ArgumentParser:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) and word in action.choices:
            found: argparse.ArgumentParser = action.choices[word]
            return found
    return parser


def _app_commands(command: Any) -> None:
    p = command("open", "Open the app: its start page, or a memory.", ("window", "open_"))
    p.add_argument("memory", nargs="?", type=place, help="a memory folder")
    p = command("play", "Play a file, or show a live source, in the app while it is memorized.", ("window", "play"))
    p.add_argument("source", type=place, help=f"a video or sound file, or live: {LIVE}")
    _memory(p, required=False)
    p.add_argument("--no-audio", action="store_true", help="live: without the microphone")
    p = command(
        "memorize", "Build the memory of files or of a live source, without a window; an interrupted run resumes.", ("work", "memorize")
    )
    p.add_argument("sources", nargs="+", type=place, metavar="SOURCE", help=f"video or sound files, folders of them, or live: {LIVE}")
    _memory(p)
    _json(p)
    p.add_argument("--profile", help="which set of backends (default: the settings')")
    p.add_argument("--clip-seconds", type=number, help="length of a clip (default 30)")
    p.add_argument("--fps", type=number, help="pictures analysed per second (default 5)")
    p.add_argument("--start", metavar="T", help="begin here: 90, 1:30, 00:01:30")
    p.add_argument("--end", metavar="T", help="end here (live: stop recording then)")
    p.add_argument("--language", help="language of the sentences: en, zh (default: the scene's)")
    p.add_argument("--writer", metavar="NAME", help="who writes what happens: rules, or a model that watches (default: the settings')")
    p.add_argument("--no-semantic", action="store_true", help="evidence and episodic memories only")
    p.add_argument("--rebuild", action="store_true", help="re-memorize a changed (or known) file")
    p.add_argument("--no-audio", action="store_true", help="live: without the microphone")
    p.add_argument("--keep", metavar="always|remembered|HOURS", help="live: how long the recording is kept (default: the settings')")
    p.add_argument("--bystanders", action="store_true", help="live: blur and do not store faces of people without a note on their consent")


def _memory_commands(command: Any) -> None:
    p = command("sources", "List, remove or relink what was memorized.", ("work", "sources"))
    p.add_argument("action", choices=("list", "remove", "relink"))
    p.add_argument("source", nargs="?", help="its id, such as s1")
    p.add_argument("file", nargs="?", type=place, help="relink: where the file is now")
    _memory(p)
    _json(p)
    p.add_argument("--yes", action="store_true", help="remove without asking")
    p = command("ask", "Ask one question; the answer cites the memory.", ("asking", "ask"))
    p.add_argument("question")
    _memory(p)
    _json(p)
    p.add_argument("--before", metavar="[s1@]T|clip:ID", help="hide what was learned later")
    p.add_argument("--believed-at", metavar="ISO", help="answer from what was believed at a date, corrections included")
    p.add_argument("--mode", choices=("full", "parity"), default="full", help="parity: by the protocol of the original's control")
    p = command("search", "Search single memories (nodes) or clips.", ("asking", "search"))
    p.add_argument("what", choices=("nodes", "clips"))
    p.add_argument("text", nargs="?")
    _memory(p)
    _json(p)
    p.add_argument("--image", type=place, metavar="F", help="nodes: each face in a picture is a query")
    p.add_argument("--audio", type=place, metavar="F", help="nodes: a voice is a query")
    p.add_argument("-k", type=positive, help="how many (nodes 20, clips 2)")
    p.add_argument("--kind", help="nodes: face,voice,episodic,semantic,object,place")
    p.add_argument("--before", metavar="[s1@]T|clip:ID")
    p.add_argument("--believed-at", metavar="ISO", help="what was believed at a date, such as 2026-11-21T13:00")
    p = command("memories", "List, add, edit, delete, pin or rewrite sentences.", ("mending", "memories"))
    p.add_argument("action", choices=("list", "add", "edit", "delete", "pin", "rewrite"))
    p.add_argument("args", nargs="*")
    p.add_argument("--stale", action="store_true", help="list, rewrite: those whose evidence was corrected since")
    _memory(p)
    _json(p)
    _change(p)
    p = command("bookmarks", "List, add, edit or remove bookmarks and their notes.", ("mending", "bookmarks"))
    p.add_argument("action", choices=("list", "add", "edit", "remove"))
    p.add_argument("args", nargs="*", help="add T [NOTE], edit N NOTE, remove N")
    p.add_argument("--source", help="add, list: where there are several")
    p.add_argument("--to", metavar="T", type=moment, help="add, edit: the end of a span")
    _memory(p)
    _json(p)
    _change(p)
    p = command("rewrite", "Have clips written again by another writer, compare both, and choose.", ("rewriting", "rewrite"))
    p.add_argument("memory", type=place, help="a memory folder")
    p.add_argument("--clips", metavar="RANGE", help="3, 0-5, s1.c3, s1.c0-s1.c5, s1 (default: all; for the others: those written again)")
    how = p.add_mutually_exclusive_group(required=True)
    how.add_argument("--writer", metavar="NAME", help="write them again: rules, or a model that watches; nothing in force changes")
    how.add_argument("--show", action="store_true", help="the sentences of both writers side by side")
    how.add_argument(
        "--take", action="store_true", help="use the new ones; what a correction or knowledge rests on stays; undo takes it back"
    )
    how.add_argument("--drop", action="store_true", help="remove the new ones")
    p.add_argument("--language", help="language of the sentences: en, zh (default: the scene's)")
    _json(p)
    for name, text in (("undo", "Undo corrections."), ("redo", "Redo corrections that were undone.")):
        p = command(name, text, ("mending", name))
        p.add_argument("count", nargs="?", type=positive, default=1, metavar="N", help="how many steps (default 1)")
        _memory(p)
        _json(p)
    p = command("revert", "Append the inverse of an older correction.", ("mending", "revert"))
    p.add_argument("step", type=positive)
    p.add_argument("--with-dependents", action="store_true", help="also revert the later steps that depend on it")
    _memory(p)
    _json(p)
    _change(p)
    p = command("journal", "Show every correction: who, when, why.", ("mending", "journal"))
    _memory(p)
    _json(p)
    p = command("import", "Import an M3-Agent graph or an export of M3Desk into an empty memory.", ("work", "import_"))
    p.add_argument("file", type=place, help=".pkl or .pkl.gz of M3-Agent, .json of m3desk export")
    _memory(p)
    p = command("export", "Write a memory in another format.", ("work", "export"))
    _memory(p)
    p.add_argument("-o", "--output", type=place, required=True, metavar="FILE|-")
    p.add_argument("--format", help="json graphml rttm vtt srt csv html (default: by the file's extension)")
    p.add_argument("--source", help="which source, if there are several")
    p.add_argument("--clip", metavar="SOURCE", help="a span of this source (such as s1) as a video: -o with .mp4, .mov or .mkv")
    p.add_argument("--from", dest="from_", metavar="T", help="with --clip: from here: 90, 1:30, 00:01:30")
    p.add_argument("--to", metavar="T", help="with --clip: to here")
    p.add_argument("--with-media", action="store_true", help="json: crops, speech and embeddings in a folder beside it")
    p.add_argument("--force", "--yes", action="store_true", help="overwrite an existing file, without asking")
    p = command("forget", "Forget a span of a source for good, its recording included, and prove it.", ("live", "forget"))
    _memory(p)
    _json(p)
    p.add_argument("--last", metavar="5m", help="what was recorded in the last seconds, minutes or hours: 30s, 5m, 1h")
    p.add_argument("--source", help="a source, such as s1")
    p.add_argument("--from", dest="from_", metavar="T", help="from here: 90, 1:30, 00:01:30")
    p.add_argument("--to", metavar="T", help="to here")
    p.add_argument("--dry-run", action="store_true", help="print what would go, change nothing")
    p.add_argument("--yes", action="store_true", help="do not ask")
    p = command("retention", "Delete recordings of live sources that are older than they are kept.", ("live", "retention"))
    _memory(p)
    _json(p)
    p.add_argument("--hours", type=number, metavar="N", help="what is older than this (default: what each recording says)")
    p.add_argument("--dry-run", action="store_true", help="print what would go, change nothing")
    p.add_argument("--yes", action="store_true", help="do not ask")
    p = command("check", "Check a memory's integrity, index, constraints and graph.", ("work", "check"))
    _memory(p)
    _json(p)
    p.add_argument("--repair", action="store_true", help="rebuild what can be rebuilt")
    p.add_argument("--restore", action="store_true", help="replace a damaged database with its last good copy; the damaged one is kept")
    p.add_argument("--yes", action="store_true", help="restore without asking")


def _people_commands(command: Any, commands: Any) -> None:
    people = commands.add_parser("people", help="List, show, name and correct people.", description="List, show, name and correct people.")
    actions = people.add_subparsers(dest="action", metavar="ACTION", required=True)

    def verb(name: str, text: str, change: bool = True, module: str = "mending") -> argparse.ArgumentParser:
        p: argparse.ArgumentParser = command(name, text, (module, "people"), actions)
        _memory(p)
        _json(p)
        if change:
            _change(p)
        return p

    p = verb("list", "Everybody in this memory.", change=False)
    p.add_argument("--before", metavar="[s1@]T|clip:ID", help="hide what was learned later")
    p.add_argument("--believed-at", metavar="ISO", help="as believed at a date")
    p = verb("show", "One person: knowledge, names, and where they are seen and heard.", change=False)
    p.add_argument("person")
    p.add_argument("--before", metavar="[s1@]T|clip:ID", help="hide what was learned later")
    p.add_argument("--believed-at", metavar="ISO", help="as believed at a date")
    _whole_people(verb)
    _observed(verb)
    _weighed(verb)
    observations = commands.add_parser(
        "observations", help="Correct what was seen and heard.", description="Correct what was seen and heard."
    )
    _observations(command, observations.add_subparsers(dest="action", metavar="ACTION", required=True))


def _whole_people(verb: Any) -> None:
    """Add the verbs for whole persons."""
    p = verb("name", "Confirm a person's name.")
    p.add_argument("person")
    p.add_argument("name")
    p = verb(
        "merge",
        "Merge people who are the same person. The result keeps the confirmed name; of two names KEEP's; without names the older number.",
    )
    p.add_argument("keep")
    p.add_argument("others", nargs="+")
    p = verb("distinct", "State that two people are different persons.")
    p.add_argument("person")
    p.add_argument("other")
    p = verb("split", "Split a person in two.")
    p.add_argument("person")
    p.add_argument("--observations", nargs="+", action="extend", metavar="OBS", help="these become another person")
    p.add_argument("--clip", help="what was seen and heard in this clip becomes another person")
    p.add_argument("--suggestion", type=positive, metavar="N", help="as suggested: see people suggestions")
    p.add_argument("--name", help="the new person's name")
    for name, text in (
        ("link", "State that a face and a voice belong to one person."),
        ("unlink", "State that a face and a voice belong to different persons."),
    ):
        p = verb(name, text)
        p.add_argument("face", help="a face node, such as face_3")
        p.add_argument("voice", help="a voice node, such as voice_5")
    p = verb("ignore", "Hide a bystander (or show them again).")
    p.add_argument("person")
    p.add_argument("--show", action="store_true", help="no longer hide them")
    p = verb("forget", "Permanently remove everything derived from a person, and prove it.", module="forgetting")
    p.add_argument("person")
    how = p.add_mutually_exclusive_group()
    how.add_argument("--sources", action="store_true", help="also remove the sources that show them")
    how.add_argument("--spans", action="store_true", help="also remove everything else remembered while they were present")
    how.add_argument("--never-again", action="store_true", help="keep one template, to recognise and never remember them again")
    p.add_argument("--yes", action="store_true", help="do not ask")
    p = verb("consent", "Keep a note on a person's consent, or remove it.", change=False, module="watching")
    p.add_argument("person")
    p.add_argument("note", nargs="?", help="such as “agreed on 3 May, by mail”; without it, the note is shown")
    p.add_argument("--remove", action="store_true", help="remove the note")
    p = verb("enroll", "Enrol a person by name from photos and recordings.")
    p.add_argument("name")
    p.add_argument("files", nargs="+", type=place, metavar="FILE")


def _observed(verb: Any) -> None:
    """Add the verbs for single observations."""
    p = verb("assign", "Assign observations to a person.")
    p.add_argument("observations", nargs="+", metavar="OBS… P", help="observation ids, then the person (or --new)")
    p.add_argument("--new", nargs="?", const="", metavar="NAME", help="a new person")
    p = verb("exclude", "State that an observation is not this person.")
    p.add_argument("observation")
    p.add_argument("person")
    verb("set-aside", "State that an observation is not a face, or not speech.").add_argument("observation")


def _weighed(verb: Any) -> None:
    """Add suggestions, reasons and the scorecard."""
    p = verb("suggestions", "List identity questions for you to decide, most useful first.", change=False, module="suggesting")
    p.add_argument("-k", type=positive, default=20, help="how many (default 20)")
    for name, text in (("accept", "Apply a suggestion."), ("reject", "Reject a suggestion.")):
        verb(name, text, module="suggesting").add_argument("number", type=positive, metavar="N")
    verb("why", "Explain why an observation is assigned to its person.", change=False, module="suggesting").add_argument("observation")
    p = verb("scorecard", "Ask about 20 pairs, then estimate the accuracy of this memory's identities.", change=False, module="suggesting")
    p.add_argument("--answers", type=place, metavar="FILE", help="a truth file (RTTM, timeline JSON) or a JSON list of pairs with `same`")
    p.add_argument("--pairs", type=positive, default=20, help="how many pairs (default 20)")


def _observations(command: Any, actions: Any) -> None:
    def verb(name: str, text: str) -> argparse.ArgumentParser:
        p: argparse.ArgumentParser = command(name, text, ("mending", "observations"), actions)
        _memory(p)
        _json(p)
        _change(p)
        return p

    p = verb("split-at", "Split a face track or an utterance at a time.")
    p.add_argument("observation")
    p.add_argument("at", metavar="T")
    p = verb("bounds", "Change the start and end of an utterance.")
    p.add_argument("observation")
    p.add_argument("start", metavar="T")
    p.add_argument("end", metavar="T")
    p = verb("words", "Change the words of an utterance; the same words confirm those that were not heard clearly.")
    p.add_argument("observation")
    p.add_argument("text")
    p = verb("add-face", "Add a face that was missed: a box in pixels of the frame as displayed.")
    p.add_argument("clip")
    p.add_argument("at", metavar="T")
    for side in ("x", "y", "width", "height"):
        p.add_argument(side, type=number)


def _watch_commands(command: Any, commands: Any) -> None:
    watch = commands.add_parser("watch", help="Be told when a person comes, a word is said or an object is seen.")
    actions = watch.add_subparsers(dest="action", metavar="ACTION", required=True)

    def verb(name: str, text: str) -> argparse.ArgumentParser:
        p: argparse.ArgumentParser = command(name, text, ("watching", "watch"), actions)
        _memory(p)
        _json(p)
        return p

    p = verb("add", "Add a rule; it is kept with the memory.")
    p.add_argument("kind", choices=("person", "word", "object"))
    p.add_argument("value", help="a person, a word or a few words, or an object such as “dog”")
    p.add_argument("--label", default="", help="what notices call it")
    verb("list", "Show the rules.")
    p = verb("remove", "Remove a rule.")
    p.add_argument("rule", type=positive, help="its number")


def _machine_commands(command: Any, commands: Any) -> None:
    p = command("models", "List, download, verify or remove model weights.", ("setup", "models_"))
    p.add_argument("action", choices=("list", "pull", "verify", "remove"))
    p.add_argument("names", nargs="*", metavar="NAME")
    p.add_argument("--profile", default="embedded")
    p.add_argument("--llm", action="store_true", help="also the language model (about 1.1 GB)")
    p.add_argument("--demo", action="store_true", help="also the demo clip")
    p.add_argument("--yes", action="store_true", help="download without asking")
    p.add_argument("--accept-licence", action="store_true", help="accept the terms of models that have some; kept on file")
    _json(p)
    p = command("backends", "List, install or remove backends that have an environment of their own.", ("backends", "backends"))
    p.add_argument(
        "action", choices=("list", "install", "remove", "key"), help="key: keep the key of a model server in the system's keyring"
    )
    p.add_argument("name", nargs="?", metavar="NAME")
    p.add_argument("--delete", action="store_true", help="key: remove it from the keyring")
    p.add_argument("--variant", help="another variant than that for this machine: usual or cpu")
    p.add_argument("--index", metavar="URL", help="a package index besides the usual one, instead of the variant's own; none: without one")
    p.add_argument("--yes", action="store_true", help="install or remove without asking")
    _json(p)
    p = command("config", "Show or change settings.", ("setup", "config_"))
    p.add_argument("action", choices=("get", "set", "path"))
    p.add_argument("key", nargs="?")
    p.add_argument("value", nargs="?")
    _json(p)
    p = command("doctor", "Show what this machine can run.", ("setup", "doctor"))
    _json(p)
    p = command("devices", "List cameras and microphones.", ("setup", "devices"))
    p.add_argument("--test", action="store_true", help="open each for 2 s: size and rate of its pictures, loudness of its sound")
    _json(p)
    p = command("evaluate", "Measure a memory against ground truth.", ("evaluating", "evaluate"))
    p.add_argument("what", choices=("identity",))
    p.add_argument(
        "--truth",
        action="append",
        type=place,
        required=True,
        metavar="FILE",
        help="RTTM, timeline JSON, boxes or segments; may be repeated",
    )
    p.add_argument("--source", help="the source of a truth file that names no file")
    p.add_argument("--uem", type=place, metavar="FILE", help="which parts of the files are labelled")
    _memory(p)
    _json(p)
    p = command("reembed", "Embed stored crops and speech with another model; the old vectors are kept.", ("reembedding", "reembed"))
    p.add_argument("model", help="the name of a face or voice model: see m3desk models list")
    _memory(p)
    _json(p)
    p.add_argument("--switch", action="store_true", help="use it from now on (without: only show what would change)")
    p = command("calibrate", "Measure the thresholds of a face or voice model on people whom you know.", ("calibrating", "calibrate"))
    p.add_argument("model", help="the name of a face or voice model: see m3desk models list")
    p.add_argument("folders", nargs="*", type=place, metavar="FOLDER", help="with a folder of photos or recordings for each person")
    p.add_argument("--of-memory", type=place, metavar="M", help="also the people of a memory who have names that you gave or confirmed")
    p.add_argument("--remove", action="store_true", help="remove what was measured of the model (also by its full name in m3desk doctor)")
    _json(p)
    p = command("bench", "Run the project's benchmarks.", ("setup", "bench"))
    p.add_argument("name", nargs="?", help="one benchmark; without it, list them")
    p.add_argument("args", nargs="*", help="arguments of the benchmark")
    p.add_argument("--llm", action="store_true", help="with the language model")
    p.add_argument(
        "--keep",
        type=place,
        metavar="DIR",
        help="identity: keep its memories there, and use those that are there; hostile: what went wrong",
    )
    p.add_argument(
        "--seed", type=positive, metavar="N", help="hostile: the same tries for the same number (default 1); live: the same moments to kill"
    )
    p.add_argument("--minutes", type=number, metavar="N", help="live: how long (default 3)")
    p.add_argument("--random-weights", action="store_true", help="gpu: models of real architectures that nobody trained")
    p.add_argument("--tiny", action="store_true", help="gpu: tiny ones, on the processor")
    p.add_argument("--tries", type=positive, metavar="N", help="hostile: end after so many instead")
    _json(p)
