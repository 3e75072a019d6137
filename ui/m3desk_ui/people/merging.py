"""Asks whether several people are one person, and merges them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from m3desk_ui.look import deeds, plain
from m3desk_ui.people.person_picker import BothFaces

if TYPE_CHECKING:
    from m3desk.domain.correction import Effect
    from m3desk.domain.people import Person
    from m3desk_ui.hub.bridge import Hub

FACES_MOST = 6
"""People whose faces are shown in the question."""
KEPT_MOST = 3
"""Names that are offered to be kept."""


def ask(hub: Hub, parent: QWidget, people: Sequence[str]) -> None:
    """Preview what merging these persons changes, then ask with their faces; nothing is merged without an answer."""
    hub.read("graph merge", lambda reader: reader.people_of(people), lambda found: _preview(hub, parent, found))


def _preview(hub: Hub, parent: QWidget, found: list[Person]) -> None:
    desk = hub.desk
    if desk is None or len(found) < 2:
        return
    order = sorted(found, key=lambda p: (p.name is None, -(p.screen_time + p.speech_time), p.number))

    def previewed(effect: Effect) -> None:
        if hub.desk is desk:  # no other memory was opened meanwhile
            confirm(hub, parent, order, effect)

    hub.when(desk.correct("merge", _args(order, order[0]), dry_run=True), previewed)


def confirm(hub: Hub, parent: QWidget, people: Sequence[Person], effect: Effect) -> BothFaces:
    """Ask, with faces and with what merging changes; offer to keep the first, or one of those who have a name. Return the question."""
    translate = QCoreApplication.translate
    if len(people) == 2:
        first, second = (plain.line(p.shown, plain.ENTRY) for p in people)
        text = translate("Merging", "Are %1 and %2 one person?").replace("%2", second).replace("%1", first)
    else:
        text = translate("Merging", "Are these %1 people one person?").replace("%1", str(len(people)))
    more = translate("Merging", "This changes: %1. You can undo it.").replace("%1", deeds.would(effect.text))
    if len(people) > FACES_MOST:
        names = ", ".join(plain.line(p.shown, 30) for p in people[FACES_MOST:])
        more = translate("Merging", "Also: %1").replace("%1", names) + "\n" + more
    box = BothFaces(hub, translate("Merging", "Same person"), text, people[:FACES_MOST], parent, more)
    named = [p for p in people if p.name is not None]
    for keep in named[:KEPT_MOST] if len(named) > 1 else people[:1]:
        label = translate("Merging", "Yes, keep “%1”").replace("%1", plain.line(keep.shown, plain.ENTRY))
        box.answer(label, lambda keep=keep: hub.correct("merge", _args(people, keep)))  # type: ignore[misc]
    box.open()
    return box


def _args(people: Sequence[Person], keep: Person) -> dict[str, Any]:
    return {"keep": keep.id, "others": [p.id for p in people if p.id != keep.id]}
