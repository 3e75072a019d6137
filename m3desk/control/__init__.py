"""How a question is answered: rounds of search over a memory, then a cited answer."""
