"""Question answering: rounds of search over a memory, then an answer with citations."""
