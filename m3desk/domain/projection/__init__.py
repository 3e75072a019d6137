"""The projection: the present state of a memory, updated incrementally. `domain.fold` and `domain.sentences` are its reference."""
