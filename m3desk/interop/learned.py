"""Finds when each item of an export was learned: the commit that wrote it, and its date."""

from __future__ import annotations

from typing import Any


class Learned:
    """Sequence number and date of the commit that wrote each item, from the log's rows."""

    def __init__(self, log: dict[str, Any]) -> None:
        commits = _rows(log["commits"])
        self._at: dict[int, str] = {r["sequence"]: r["at"] for r in commits}
        self._clip: dict[str, int] = {r["clip"]: r["sequence"] for r in commits if r["kind"] == "clip-episodic"}
        self._node: dict[str, int] = {r["id"]: r["sequence"] for r in _rows(log["node"])}
        self._name: dict[tuple[str, str], int] = {}
        for r in _rows(log["heard_name"]):
            self._name.setdefault((r["name"].casefold(), r["evidence"]), r["sequence"])

    def node(self, id_: str) -> dict[str, Any]:
        return self._said(self._node.get(id_))

    def clip(self, id_: str) -> dict[str, Any]:
        return self._said(self._clip.get(id_))

    def name(self, name: str, evidence: tuple[str, ...]) -> dict[str, Any]:
        """Return when a name was first heard."""
        return self._said(min((s for e in evidence if (s := self._name.get((name.casefold(), e))) is not None), default=None))

    def _said(self, sequence: int | None) -> dict[str, Any]:
        return {"sequence": sequence, "at": self._at.get(sequence or 0)}


def _rows(table: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
