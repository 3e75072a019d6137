"""Tables that remember their previous values."""

from __future__ import annotations

from m3desk.domain.projection.tables import Tables


def test_a_table_tells_what_changed_and_takes_it_back() -> None:
    tables = Tables()
    table = tables.table()
    table.put("a", 1)
    table.put("b", 2)
    tables.settle()
    table.put("a", 3)
    table.put("a", 4)
    table.drop("b")
    table.put("c", 5)
    assert table.changed() == {"a": (1, 4), "b": (2, None), "c": (None, 5)}
    assert dict(table.before()) == {"a": 1, "b": 2} and table == {"a": 4, "c": 5}
    tables.back()
    assert table == {"a": 1, "b": 2} and table.changed() == {}


def test_a_value_that_comes_back_is_no_change() -> None:
    tables = Tables()
    table = tables.table()
    table.put("a", 1)
    tables.settle()
    assert not table.put("a", 1)
    table.drop("a")
    table.put("a", 1)
    table.put("b", 2)
    table.drop("b")
    assert table.changed() == {}


def test_an_index_takes_back_what_was_added_and_removed_in_turn() -> None:
    tables = Tables()
    index = tables.index()
    index.add("a", 1)
    tables.settle()
    assert not index.add("a", 1) and not index.remove("b", 1)
    index.remove("a", 1)
    index.add("a", 2)
    index.add("a", 1)
    index.add("b", 3)
    assert set(index["a"]) == {1, 2} and "b" in index
    tables.back()
    assert set(index["a"]) == {1} and "b" not in index and not index["b"]
