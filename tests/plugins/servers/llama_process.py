"""llama.cpp's own server as a process: llama_process.py MODEL PROJECTOR KEY; prints its address, runs until its input closes."""

import sys

import xllamacpp

p = xllamacpp.CommonParams()
p.model.path, p.mmproj.path = sys.argv[1], sys.argv[2]
p.n_ctx, p.n_parallel, p.verbosity, p.warmup, p.cache_ram_mib, p.mmproj_use_gpu = 4096, 1, -1, False, 0, False
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1
p.api_keys, p.endpoint_slots = [sys.argv[3]], True
server = xllamacpp.Server(p)
print(server.listening_address, flush=True)
sys.stdin.read()
