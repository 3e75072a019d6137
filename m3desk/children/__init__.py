"""Model processes: started under a small guard that ends them whenever the program ends, spoken to over a pipe or loopback.

`guard.py` and `worker_side.py` are run by path in other interpreters and import the standard library only.
"""
