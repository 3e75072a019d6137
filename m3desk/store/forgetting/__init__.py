"""Forgetting a person: what is removed, what may not be stored again, and the search that proves it."""
