"""The child's side of the `transformers` backend: runs by path in an environment of its own (standard library, numpy, torch, transformers).

Imports nothing of M3Desk: the environment has none of it. `main.py` starts it.
"""
