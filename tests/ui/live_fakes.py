"""The live part of the fake desk: rules of *watch for*, and notes on consent."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from m3desk.domain.live import WatchKind, WatchRule


def done(value: Any) -> Future[Any]:
    """Return a future that is done."""
    future: Future[Any] = Future()
    if isinstance(value, Exception):
        future.set_exception(value)
    else:
        future.set_result(value)
    return future


class LiveWorld:
    """What a memory keeps of live use."""

    def __init__(self) -> None:
        self.rules: list[WatchRule] = []
        self.notes: dict[str, str] = {}


class LiveCalls:
    """What `ports.Desk` says of watch rules and consent: each call is noted."""

    fail: dict[str, Exception]
    world: LiveWorld

    def _note(self, name: str, *args: Any, **kw: Any) -> None:
        raise NotImplementedError

    def add_watch(self, kind: WatchKind, value: str, label: str = "") -> Future[WatchRule]:
        self._note("add_watch", kind, value, label)
        rules = self.world.rules
        rules.append(WatchRule(len(rules) + 1, kind, value, label))
        return done(self.fail.get("add_watch") or rules[-1])

    def remove_watch(self, rule: int) -> Future[None]:
        self._note("remove_watch", rule)
        self.world.rules = [r for r in self.world.rules if r.id != rule]
        return done(None)

    def set_consent(self, person: str, note: str) -> Future[None]:
        self._note("set_consent", person, note)
        if note:
            self.world.notes[person] = note
        else:
            self.world.notes.pop(person, None)
        return done(self.fail.get("set_consent"))
