"""The present state of a memory, kept up to date row by row; `domain.fold` and `domain.sentences` say what it must be."""
