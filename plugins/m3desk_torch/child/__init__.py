"""What runs by path in the backends' own environments: the `transformers` backend (standard library, numpy, torch, transformers), and one
file each for the insightface package (`insightface_pack.py`) and speechbrain's ECAPA-TDNN (`ecapa.py`).

Imports nothing of M3Desk: the environment has none of it. `main.py` starts it.
"""
