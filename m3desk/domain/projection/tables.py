"""Dictionaries and indexes that remember their previous values, to give the changes (delta) or to roll them back."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
I = TypeVar("I", bound=Hashable)  # noqa: E741

_NOTHING: Any = object()


class Table(dict[K, V]):
    """A dictionary whose values are never changed in place. `_was`: changed key → its value at the last `Tables.settle`."""

    __slots__ = ("_was",)

    def __init__(self) -> None:
        super().__init__()
        self._was: dict[K, Any] = {}

    def put(self, key: K, value: V) -> bool:
        """Set a value; return whether that changes anything."""
        old = self.get(key, _NOTHING)
        if old is not _NOTHING and (old is value or old == value):
            return False
        self._was.setdefault(key, old)
        self[key] = value
        return True

    def drop(self, key: K) -> bool:
        """Remove a key; return whether it was there."""
        if key not in self:
            return False
        self._was.setdefault(key, self[key])
        del self[key]
        return True

    def changed(self) -> dict[K, tuple[V | None, V | None]]:
        """Return key → (old value, new value) of every key that changed; None where there was or is no value."""
        found: dict[K, tuple[V | None, V | None]] = {}
        for key, old in self._was.items():
            new = self.get(key, _NOTHING)
            if old is not new and (old is _NOTHING or new is _NOTHING or old != new):
                found[key] = None if old is _NOTHING else old, None if new is _NOTHING else new
        return found

    def before(self) -> Mapping[K, V]:
        """Return the table as it was at the last `settle`; valid until the next change."""
        return PreviousTable(self, self._was)

    def settle(self) -> None:
        self._was.clear()

    def back(self) -> None:
        for key, old in self._was.items():
            if old is _NOTHING:
                self.pop(key, None)
            else:
                self[key] = old
        self._was.clear()


class PreviousTable(Mapping[K, V]):
    """A table as it was before some of its keys changed."""

    def __init__(self, now: Mapping[K, V], was: Mapping[K, Any]) -> None:
        self._now, self._was = now, was

    def __getitem__(self, key: K) -> V:
        if key not in self._was:
            return self._now[key]
        old: V = self._was[key]
        if old is _NOTHING:
            raise KeyError(key)
        return old

    def __iter__(self) -> Iterator[K]:
        yield from (k for k in self._now if k not in self._was)
        yield from (k for k, old in self._was.items() if old is not _NOTHING)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class SetsByKey(Generic[K, I]):
    """Sets by key."""

    __slots__ = ("_sets", "_trail")

    def __init__(self) -> None:
        self._sets: dict[K, set[I]] = {}
        self._trail: list[tuple[K, I, bool]] = []

    def __getitem__(self, key: K) -> Collection[I]:
        return self._sets.get(key, ())

    def get(self, key: K, default: Collection[I] = ()) -> Collection[I]:
        return self._sets.get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self._sets

    def add(self, key: K, item: I) -> bool:
        """Add an item; return whether it was not there."""
        held = self._sets.get(key)
        if held is None:
            held = self._sets[key] = set()
        elif item in held:
            return False
        held.add(item)
        self._trail.append((key, item, True))
        return True

    def remove(self, key: K, item: I) -> bool:
        """Remove an item; return whether it was there."""
        held = self._sets.get(key)
        if held is None or item not in held:
            return False
        held.discard(item)
        if not held:
            del self._sets[key]
        self._trail.append((key, item, False))
        return True

    def settle(self) -> None:
        self._trail.clear()

    def back(self) -> None:
        for key, item, added in reversed(self._trail):
            if added:
                self._sets[key].discard(item)
                if not self._sets[key]:
                    del self._sets[key]
            else:
                self._sets.setdefault(key, set()).add(item)
        self._trail.clear()


class Tables:
    """All tables of a projection, which are settled and rolled back together."""

    def __init__(self) -> None:
        self._pages: list[Table[Any, Any] | SetsByKey[Any, Any]] = []

    def table(self) -> Table[Any, Any]:
        """Add a table."""
        made: Table[Any, Any] = Table()
        self._pages.append(made)
        return made

    def index(self) -> SetsByKey[Any, Any]:
        """Add an index."""
        made: SetsByKey[Any, Any] = SetsByKey()
        self._pages.append(made)
        return made

    def settle(self) -> None:
        """Take the present values as the old ones from now on."""
        for page in self._pages:
            page.settle()

    def back(self) -> None:
        """Roll back every change since `settle`."""
        for page in self._pages:
            page.back()
