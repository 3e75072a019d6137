"""Forgetting a person: removes their data, keeps it from being stored again, and searches the memory to prove that nothing is left."""
