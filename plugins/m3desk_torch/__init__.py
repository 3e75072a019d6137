"""Backends that need torch, each in an environment of its own: this package is the program's side, which imports no model library.

`child/` holds what runs in the environments.
"""
